/*
 * Ids as people type them mean what a resolver that looks at every message says: by id, NAME#N,
 * NAME#N@E, @last and pieces of ids, with and without a caller, for one message and for several,
 * living and archived.  And a run and a dead letter are found by a piece.
 *
 * It plays fixed seeds, on each store by turns; a seed that fails is named.
 */
#include "scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 12, STEPS = 60, WORDS = 150, ANSWERS_MAX = 4000 };

static struct scene scene;
static uint64_t seed, drawn;

static unsigned draw(unsigned below)
{
	drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(drawn >> 33) % below;
}

static const char *const agents[] = { "plan", "bob", "eve", "a-b/c@d" };
enum { AGENTS = sizeof agents / sizeof *agents };

/* -------------------------------------------------------------- a history -- */

static int64_t epoch;
static const struct roger_message *all[ANSWERS_MAX]; /* in the order of the journal */
static size_t count;

static void send_some(void)
{
	struct roger_str to[AGENTS - 1];
	struct roger_send_request items[40] = { 0 };
	struct roger_send_many_request request = { .items = { items, 1 + draw(40) } };
	const unsigned from = draw(AGENTS);
	struct roger_send_many_reply reply;
	struct roger_err err;
	size_t i;

	for (i = 0; i < AGENTS - 1; i++)
		to[i] = rg_str(agents[(from + 1 + i) % AGENTS]);
	for (i = 0; i < request.items.count; i++)
		items[i] = (struct roger_send_request){ .from = rg_str(agents[from]),
							.to = { to, 1 + draw(AGENTS - 1) },
							.issue = rg_str(draw(2) ? "app" : "lib"),
							.content = RG_STR("x"),
							.new_ = true };
	if (roger_send_many(scene.roger, &request, &reply, &err) == ROGER_OK)
		roger_reply_free(&reply);
}

/* What comes in over an edge has numbers of its own. */
static void bring_some(void)
{
	struct roger_str to = rg_str(agents[draw(AGENTS)]);
	char text[64];
	struct roger_ingest_request request = { .to = { &to, 1 } };
	struct roger_bridge_reply reply;
	struct roger_err err;

	snprintf(text, sizeof text, "(plan #%u): x\n(plan): y\n", 1 + draw(300));
	request.text = rg_str(text);
	if (roger_ingest(scene.roger, &request, &reply, &err) == ROGER_OK)
		roger_reply_free(&reply);
}

static void archive_some(void)
{
	struct roger_list_request list = { .limit = 1 + draw(30), .newest = draw(2) };
	struct roger_archive_request request = { .unread = true };
	struct roger_messages_reply found;
	struct roger_str ids[30];
	struct roger_archive_reply reply;
	struct roger_err err;

	assert_int_equal(roger_list(scene.roger, &list, &found, &err), ROGER_OK);
	for (; request.ids.count < found.messages.count; request.ids.count++)
		ids[request.ids.count] = found.messages.items[request.ids.count].id;
	request.ids.items = ids;
	if (request.ids.count && roger_archive(scene.roger, &request, &reply, &err) == ROGER_OK)
		roger_reply_free(&reply);
	roger_reply_free(&found);
}

static void play(void)
{
	const struct roger_session_request fresh = { .new_ = true };
	struct roger_session_reply session;
	int step;

	for (step = 0; step < STEPS; step++) {
		if (draw(3))
			send_some();
		else if (draw(2))
			bring_some();
		else if (draw(3))
			archive_some();
		else if (roger_session(scene.roger, &fresh, &session, NULL) == ROGER_OK)
			roger_reply_free(&session);
	}
}

static int compare(const void *a, const void *b)
{
	const struct roger_message *x = *(const struct roger_message *const *)a;
	const struct roger_message *y = *(const struct roger_message *const *)b;

	return (x->position > y->position) - (x->position < y->position);
}

/* Page by page, as a list is read. */
static void add_all(struct roger_messages_reply *pages, bool archived)
{
	struct roger_list_request request = { .archived = archived };
	size_t page, i;

	for (page = 0; page < 8; page++) {
		assert_int_equal(roger_list(scene.roger, &request, &pages[page], NULL), ROGER_OK);
		for (i = 0; i < pages[page].messages.count && count < ANSWERS_MAX; i++)
			all[count++] = &pages[page].messages.items[i];
		request.after = pages[page].next;
		if (!pages[page].more)
			break;
	}
}

/* ------------------------------------------------------------ a naive look -- */

struct answer {
	const struct roger_message *items[ANSWERS_MAX];
	size_t count;
	enum roger_code code;
};

static bool is_numbered(const struct roger_message *message, const char *word)
{
	char name[300];

	if (!message->seq)
		return false;
	snprintf(name, sizeof name, "%s#%lld@%lld", message->from.data, (long long)message->seq,
		 (long long)message->epoch);
	if (strcmp(name, word) == 0)
		return true;
	*strrchr(name, '@') = '\0';
	return message->epoch == epoch && strcmp(name, word) == 0;
}

static bool fits(const struct roger_message *message, const char *word, int how)
{
	return how == 0 ? rg_str_is(message->id, word)
	       : how == 1
		       ? is_numbered(message, word)
		       : !strchr(word, '#') && strlen(word) >= 4 && strstr(message->id.data, word);
}

static bool is_one_send(const struct answer *answer)
{
	const struct roger_message *first = answer->items[0], *other;
	size_t i;

	for (i = 1; i < answer->count; i++) {
		other = answer->items[i];
		if (!other->seq || other->seq != first->seq || other->epoch != first->epoch ||
		    !rg_str_equal(other->from, first->from))
			return false;
	}
	return true;
}

static void look_for_last(const char *caller, struct answer *answer)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!*caller || rg_str_is(all[i]->from, caller) || rg_str_is(all[i]->to, caller)) {
			answer->items[0] = all[i];
			answer->count = 1;
		}
}

/* Several: the only one to the caller, all copies of one send where that is wanted, or none. */
static void decide(const char *caller, bool copies, int how, struct answer *answer)
{
	const struct roger_message *mine = NULL;
	size_t of_caller = 0, i;

	for (i = 0; i < answer->count; i++)
		if (how < 2 && *caller && rg_str_is(answer->items[i]->to, caller)) {
			mine = answer->items[i];
			of_caller++;
		}
	answer->code = answer->count ? ROGER_OK : ROGER_ENOENT;
	if (of_caller == 1) {
		answer->items[0] = mine;
		answer->count = 1;
	} else if (answer->count > 1 &&
		   !(copies && is_one_send(answer) && (how < 2 || answer->count <= 10))) {
		answer->code = ROGER_EUSAGE;
	}
}

static void look(const char *word, const char *caller, bool copies, struct answer *answer)
{
	int how;
	size_t i;

	answer->count = 0;
	if (strcmp(word, "@last") == 0)
		look_for_last(caller, answer);
	for (how = 0; how < 3 && !answer->count; how++)
		for (i = 0; i < count; i++)
			if (fits(all[i], word, how))
				answer->items[answer->count++] = all[i];
	decide(caller, copies, how - 1, answer);
}

/* -------------------------------------------------------------- the same -- */

static void draw_word(char word[400])
{
	static const char *const hostile[] = { "#",	"plan#", "plan#99999999999999999999",
					       "%",	"_",	 "____",
					       "%%%%%", "",	 "plan#0",
					       "@last", "msg-",	 "plan#1@",
					       "#1",	"----" };
	const struct roger_message *some = all[draw((unsigned)count)];
	unsigned from, length;

	switch (draw(6)) {
	case 0:
		snprintf(word, 400, "%s", hostile[draw(sizeof hostile / sizeof *hostile)]);
		return;
	case 1:
		snprintf(word, 400, "%s", some->id.data);
		return;
	case 2:
		from = draw((unsigned)some->id.length);
		length = 1 + draw((unsigned)some->id.length - from);
		snprintf(word, 400, "%.*s", (int)length, some->id.data + from);
		return;
	case 3:
		snprintf(word, 400, "%s#%lld@%lld", some->from.data, (long long)some->seq,
			 (long long)some->epoch);
		return;
	default:
		snprintf(word, 400, "%s#%u", agents[draw(AGENTS)], draw(2) ? draw(40) : draw(900));
	}
}

static void compare_show(const char *word, const char *caller)
{
	struct roger_str one = rg_str(word);
	const struct roger_show_request request = { { &one, 1 }, rg_str(caller) };
	static struct answer answer;
	struct roger_messages_reply reply;
	struct roger_err err = { 0 };
	int r = roger_show(scene.roger, &request, &reply, &err);
	size_t i;

	look(word, caller, true, &answer);
	if (r != (int)answer.code)
		fail_msg("seed %llu: show '%s' as '%s': %d (%s), expected %d for %zu",
			 (unsigned long long)seed, word, caller, r, err.message, answer.code,
			 answer.count);
	if (r < 0)
		return;
	if (reply.messages.count != answer.count)
		fail_msg("seed %llu: show '%s' as '%s' gives %zu, expected %zu",
			 (unsigned long long)seed, word, caller, reply.messages.count,
			 answer.count);
	for (i = 0; i < answer.count; i++)
		assert_string_equal(reply.messages.items[i].id.data, answer.items[i]->id.data);
	roger_reply_free(&reply);
}

static void compare_thread(const char *word, const char *caller)
{
	const struct roger_thread_request request = { rg_str(word), rg_str(caller) };
	static struct answer answer;
	struct roger_messages_reply reply;
	struct roger_err err = { 0 };
	int r = roger_thread(scene.roger, &request, &reply, &err);

	look(word, caller, false, &answer);
	if (!*word)
		answer.code = ROGER_EUSAGE;
	if (r != (int)answer.code)
		fail_msg("seed %llu: thread '%s' as '%s': %d (%s), expected %d for %zu",
			 (unsigned long long)seed, word, caller, r, err.message, answer.code,
			 answer.count);
	if (r < 0)
		return;
	assert_int_equal(reply.messages.count, 1);
	assert_string_equal(reply.messages.items[0].id.data, answer.items[0]->id.data);
	roger_reply_free(&reply);
}

static void open_scene(const struct scene_store *store)
{
	drawn = seed;
	scene_open(&scene, store,
		   "size_limits:\n  max_messages_per_issue_phase: 100000\n"
		   "  max_messages_per_issue: 100000\n");
}

static int close_scene(void **state)
{
	(void)state;
	scene_close(&scene);
	return 0;
}

static void what_is_typed_is_what_a_look_at_all_finds(void **state)
{
	static struct roger_messages_reply pages[2][8];
	const struct roger_session_request asked = { 0 };
	struct roger_session_reply session;
	const char *caller;
	char word[400];
	size_t i;
	int tries;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		open_scene(&scene_stores[seed % 2]);
		play();
		assert_int_equal(roger_session(scene.roger, &asked, &session, NULL), ROGER_OK);
		epoch = session.epoch;
		roger_reply_free(&session);
		count = 0;
		add_all(pages[0], false);
		add_all(pages[1], true);
		qsort(all, count, sizeof *all, compare);
		assert_true(count > 200);
		for (tries = 0; tries < WORDS; tries++) {
			draw_word(word);
			caller = draw(2) ? "" : agents[draw(AGENTS)];
			compare_show(word, caller);
			compare_thread(word, caller);
		}
		for (i = 0; i < 16; i++)
			roger_reply_free(&pages[i / 8][i % 8]);
		scene_close(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_is_typed_is_what_a_look_at_all_finds, close_scene),
	};

	unsetenv("ROGER_WORKSPACE");
	setenv("ROGER_AGENT", "tester", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
