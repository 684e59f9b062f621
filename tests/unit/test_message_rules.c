/*
 * What a line of a journal may say of its message: each rule holds for what roger
 * wrote, what other programs wrote is taken as it comes, and agents, pairs and
 * numbers are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "harsh.h"
#include "facts/message.h"
#include "facts/message_rules.h"

/* Messages by id, as the one keeps them who reads the journal. */
struct state {
	struct roger_str id;
	struct rg_message_before before;
};

struct scene {
	struct rg_message_rules rules;
	struct state states[64];
	size_t count;
};

static void set_up(struct scene *scene)
{
	rg_message_rules_init(&scene->rules);
	scene->count = 0;
}

static void tear_down(struct scene *scene)
{
	rg_message_rules_deinit(&scene->rules);
}

static struct state *state_in(struct scene *scene, struct roger_str id)
{
	size_t i;

	for (i = 0; i < scene->count && !rg_str_equal(scene->states[i].id, id); i++)
		continue;
	return &scene->states[i];
}

static struct roger_message message(const char *id, int64_t seq)
{
	return (struct roger_message){ .id = rg_str(id),
				       .issue = RG_STR("app"),
				       .from = RG_STR("ann"),
				       .to = RG_STR("bob"),
				       .pass = 1,
				       .content = RG_STR("hello"),
				       .created_at_ms = 1000,
				       .seq = seq,
				       .epoch = 1 };
}

/* Does the last line have what another program wrote?  Its contradiction is repeated by roger. */
static bool stays_foreign(bool foreign, const struct roger_message *taken, bool own)
{
	return !own || (foreign && taken->read != (taken->read_at_ms > 0));
}

static unsigned take_as(struct scene *scene, struct roger_message taken, bool own)
{
	struct state *state = state_in(scene, taken.id), *parent = state_in(scene, taken.reply_to);
	struct rg_message_before before = { 0 };
	unsigned faults;

	if (state < scene->states + scene->count)
		before = state->before;
	before.answered = parent < scene->states + scene->count;
	assert_int_equal(rg_message_rules_take(&scene->rules, &before, &taken, own, &faults, NULL),
			 ROGER_OK);
	scene->count += !before.known;
	state->id = taken.id;
	if (!before.archived)
		state->before = (struct rg_message_before){ .known = true,
							    .read = taken.read,
							    .archived = taken.archived_at_ms > 0,
							    .foreign = stays_foreign(before.foreign,
										     &taken, own) };
	return faults;
}

static unsigned take(struct scene *scene, struct roger_message taken)
{
	return take_as(scene, taken, true);
}

static struct roger_message read_at(struct roger_message taken, int64_t ms)
{
	taken.read = true;
	taken.read_at_ms = ms;
	return taken;
}

static struct roger_message archived(struct roger_message taken)
{
	taken.archived_at_ms = 3000;
	return taken;
}

static void a_life_without_faults(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 1), three = message("3", 2);
	struct scene scene;

	(void)state;
	set_up(&scene);
	two.to = RG_STR("carol");
	three.reply_to = RG_STR("1");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, two), 0);
	assert_int_equal(take(&scene, three), 0);
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take(&scene, archived(read_at(one, 2000))), 0);
	tear_down(&scene);
}

/* Two files of one sender may be taken in another order than they were written in. */
static void numbers_of_an_edge_may_cross(void **state)
{
	struct roger_message early = message("2", 2), late = message("1", 3),
			     next = message("3", 4);
	struct scene scene;

	(void)state;
	set_up(&scene);
	early.via = late.via = RG_STR("bridge");
	early.to = RG_STR("eve");
	assert_int_equal(take(&scene, late), 0);
	assert_int_equal(take(&scene, early), 0);
	assert_int_equal(take(&scene, next), 0);
	early.via = RG_STR("");
	early.id = RG_STR("4");
	assert_int_equal(take(&scene, early), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(scene.rules.edges.pairs.count, 2);
	assert_int_equal(scene.rules.edges.numbers, 5);
	tear_down(&scene);
}

static void every_fault(void **state)
{
	struct roger_message one = message("1", 5), back = message("2", 4), same = message("3", 5),
			     late = message("4", 9), gone = message("5", 10);
	struct scene scene;

	(void)state;
	set_up(&scene);
	late.epoch = 0;
	gone.reply_to = RG_STR("nobody");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, back), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, same), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, late), RG_MESSAGE_EPOCH_BACK);
	assert_int_equal(take(&scene, gone), RG_MESSAGE_ANSWERS_NONE);
	assert_int_equal(take(&scene, read_at(back, 0)), RG_MESSAGE_READ_WHEN);
	assert_int_equal(take(&scene, read_at(same, 999)), RG_MESSAGE_READ_EARLY);
	assert_int_equal(take(&scene, same), RG_MESSAGE_UNREAD_AGAIN);
	assert_int_equal(take(&scene, archived(read_at(late, 2000))), 0);
	assert_int_equal(take(&scene, read_at(late, 2000)), RG_MESSAGE_AFTER_ARCHIVE);
	tear_down(&scene);
}

static void an_epoch_starts_numbers_over(void **state)
{
	struct roger_message fresh = message("2", 1), foreign = message("3", 1);
	struct scene scene;

	(void)state;
	set_up(&scene);
	fresh.epoch = 2;
	foreign.epoch = 7;
	assert_int_equal(take(&scene, message("1", 100)), 0);
	assert_int_equal(take(&scene, fresh), 0);
	/* Nobody else opens a session. */
	assert_int_equal(take_as(&scene, foreign, false), 0);
	assert_int_equal(scene.rules.epoch, 2);
	assert_int_equal(take(&scene, message("4", 101)), RG_MESSAGE_EPOCH_BACK);
	tear_down(&scene);
}

static void others_may_write_what_they_like(void **state)
{
	struct roger_message one = message("1", 5), two = message("2", 4);
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take_as(&scene, one, false), 0);
	/* Roger may not have seen that yet. */
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take_as(&scene, two, false), 0);
	/* Its number counts. */
	assert_int_equal(take_as(&scene, message("3", 50), false), 0);
	assert_int_equal(take(&scene, message("4", 50)), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, message("5", 51)), 0);
	tear_down(&scene);
}

static void what_lives_is_counted(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 2), three = message("3", 3);
	struct scene scene;

	(void)state;
	set_up(&scene);
	two.key = RG_STR("a:b:c");
	three.reply_to = RG_STR("1");
	take(&scene, one);
	take(&scene, two);
	take(&scene, three);
	take(&scene, read_at(one, 2000));
	take(&scene, archived(read_at(one, 2000)));
	assert_int_equal(scene.rules.keys, 1);
	assert_int_equal(scene.rules.replies, 1);
	assert_int_equal(scene.rules.seen.pairs.count, 1);
	assert_int_equal(scene.rules.seen.numbers, 1);
	assert_int_equal(rg_message_rules_agent(&scene.rules, RG_STR("bob"))->unread, 2);
	assert_int_equal(rg_message_rules_agent(&scene.rules, RG_STR("ann"))->seq, 3);
	tear_down(&scene);
}

/* --------------------------------------------------------- random journals -- */

/* A journal, and the rules over it said the slow way: by looking at all lines again. */
enum { LINES_MAX = 24, SENDERS = 3 };
static const char *const names[] = { "ann", "bob", "carol", "dan" };

struct line {
	struct roger_message message;
	bool own;
};

struct journal {
	struct line lines[LINES_MAX];
	size_t count;
	/* What numbers are judged by. */
	int64_t epoch;
	struct current {
		struct roger_message last; /* that was counted */
		int64_t seq, epoch;
		const char *first_to, *last_to;
	} current[SENDERS];
};

static unsigned drawn = 1;

static int draw(int below)
{
	drawn = drawn * 1103515245 + 12345;
	return (int)((drawn >> 16) % (unsigned)below);
}

/* The first line of the id; NULL: none yet. */
static const struct line *first_of(const struct journal *journal, struct roger_str id)
{
	size_t i;

	for (i = 0; i < journal->count; i++)
		if (rg_str_equal(journal->lines[i].message.id, id))
			return &journal->lines[i];
	return NULL;
}

/* The last line that counts: the one that archived it, or else the last. */
static const struct line *state_of(const struct journal *journal, struct roger_str id)
{
	const struct line *found = NULL;
	size_t i;

	for (i = 0; i < journal->count; i++)
		if (rg_str_equal(journal->lines[i].message.id, id) &&
		    !(found && found->message.archived_at_ms))
			found = &journal->lines[i];
	return found;
}

static bool same_send(const struct roger_message *a, const struct roger_message *b)
{
	return rg_str_equal(a->issue, b->issue) && a->created_at_ms == b->created_at_ms &&
	       a->type == b->type && a->pass == b->pass && a->content.length == b->content.length;
}

static unsigned expected_number_fault(struct journal *journal, const struct roger_message *taken,
				      bool own)
{
	size_t sender =
		(size_t)(taken->from.data == names[1]) + 2 * (size_t)(taken->from.data == names[2]);
	struct current *current = &journal->current[sender];
	unsigned fault = 0;

	if (!taken->seq || (!own && taken->epoch > journal->epoch))
		return 0;
	if (taken->epoch < journal->epoch)
		return own && !rg_message_is_later(taken) ? RG_MESSAGE_EPOCH_BACK : 0;
	journal->epoch = taken->epoch;
	if (taken->epoch > current->epoch || taken->seq > current->seq) {
		current->seq = taken->seq;
		current->epoch = taken->epoch;
		current->first_to = taken->to.data;
	} else if (!own || taken->via.length) {
		return 0;
	} else if (taken->seq < current->seq || !same_send(taken, &current->last) ||
		   taken->to.data == current->first_to || taken->to.data == current->last_to) {
		/* A state that no message begins with follows a line that is lost. */
		fault = rg_message_is_later(taken) ? 0 : RG_MESSAGE_NUMBER_BACK;
	}
	current->last = *taken;
	current->last_to = taken->to.data;
	return fault;
}

static unsigned expected_change_fault(const struct line *state, const struct roger_message *taken)
{
	if (!state->own)
		return 0;
	if (state->message.archived_at_ms)
		return RG_MESSAGE_AFTER_ARCHIVE;
	return state->message.read && !taken->read ? RG_MESSAGE_UNREAD_AGAIN : 0;
}

static unsigned expected_faults(struct journal *journal, const struct roger_message *taken,
				bool own)
{
	const struct line *state = state_of(journal, taken->id);
	unsigned faults = 0;

	if (taken->read != (taken->read_at_ms != 0))
		faults |= own && state && !state->own ? 0 : RG_MESSAGE_READ_WHEN;
	else if (taken->read && taken->read_at_ms < taken->created_at_ms)
		faults |= RG_MESSAGE_READ_EARLY;
	if (taken->reply_to.length && !first_of(journal, taken->reply_to))
		faults |= RG_MESSAGE_ANSWERS_NONE;
	if (!state)
		return faults | expected_number_fault(journal, taken, own);
	return faults | (own ? expected_change_fault(state, taken) : 0);
}

/* Does this line of the journal make its reader see the number? */
static bool is_reading(const struct journal *journal, size_t which)
{
	const struct roger_message *message = &journal->lines[which].message;
	struct journal before = *journal;
	const struct line *state;

	before.count = which;
	state = state_of(&before, message->id);
	return message->read && !message->archived_at_ms &&
	       !(state && (state->message.read || state->message.archived_at_ms));
}

/* The highest number of a pair among lines that were read, or that came in; *pairs counts. */
static void add_highest(const struct journal *journal, const char *reader, const char *sender,
			bool of_edges, int64_t *pairs, int64_t *numbers)
{
	struct rg_message_seen seen = { 0 };
	const struct roger_message *message;
	bool found = false;
	size_t i;

	for (i = 0; i < journal->count; i++) {
		message = &journal->lines[i].message;
		if (message->to.data != reader || message->from.data != sender || !message->seq ||
		    !(of_edges ? message->via.length &&
					 first_of(journal, message->id) == &journal->lines[i]
			       : is_reading(journal, i)))
			continue;
		found = true;
		if (message->epoch > seen.epoch ||
		    (message->epoch == seen.epoch && message->seq > seen.seq)) {
			seen.epoch = message->epoch;
			seen.seq = message->seq;
		}
	}
	*pairs += found;
	*numbers += seen.seq;
}

static void check_pairs(const struct journal *journal, const struct rg_message_rules *rules)
{
	int64_t seen_pairs = 0, seen_numbers = 0, edge_pairs = 0, edge_numbers = 0;
	size_t reader, sender;

	for (reader = 0; reader < 4; reader++)
		for (sender = 0; sender < SENDERS; sender++) {
			add_highest(journal, names[reader], names[sender], false, &seen_pairs,
				    &seen_numbers);
			add_highest(journal, names[reader], names[sender], true, &edge_pairs,
				    &edge_numbers);
		}
	assert_int_equal(rules->seen.pairs.count, seen_pairs);
	assert_int_equal(rules->seen.numbers, seen_numbers);
	assert_int_equal(rules->edges.pairs.count, edge_pairs);
	assert_int_equal(rules->edges.numbers, edge_numbers);
}

static void check_counts(const struct journal *journal, const struct rg_message_rules *rules)
{
	int64_t keys = 0, replies = 0;
	size_t i;

	for (i = 0; i < journal->count; i++) {
		if (first_of(journal, journal->lines[i].message.id) != &journal->lines[i])
			continue;
		keys += journal->lines[i].message.key.length != 0;
		replies += journal->lines[i].message.reply_to.length != 0;
	}
	assert_int_equal(rules->keys, keys);
	assert_int_equal(rules->replies, replies);
	assert_int_equal(rules->epoch, journal->epoch);
}

static void check_agents(const struct journal *journal, const struct rg_message_rules *rules)
{
	const struct rg_message_agent *agent;
	const struct roger_message *message;
	int64_t unread;
	size_t i, k;

	for (k = 0; k < 4; k++) {
		unread = 0;
		for (i = 0; i < journal->count; i++) {
			message = &journal->lines[i].message;
			if (first_of(journal, message->id) != &journal->lines[i] ||
			    message->to.data != names[k])
				continue;
			message = &state_of(journal, message->id)->message;
			unread += !message->archived_at_ms && !message->read;
		}
		agent = rg_message_rules_agent(rules, rg_str(names[k]));
		assert_int_equal(agent ? agent->unread : 0, unread);
		if (k < SENDERS) {
			assert_int_equal(agent ? agent->seq : 0, journal->current[k].seq);
			assert_int_equal(agent ? agent->epoch : 0, journal->current[k].epoch);
		}
	}
}

/* An id has one sender, one recipient and one number; all else is as it comes. */
static struct roger_message draw_message(void)
{
	static const char *const ids[] = { "1", "2", "3", "4", "5", "6", "7", "8" };
	int id = draw(8);
	struct roger_message drawn_message = {
		.id = rg_str(ids[id]),
		.issue = RG_STR("app"),
		.from = rg_str(names[id % 2 + (id == 7)]),
		.to = rg_str(names[1 + id % 3]),
		.pass = 1,
		.type = ROGER_CONTEXT,
		.content = rg_str(draw(8) ? "hello" : "hallo"),
		.created_at_ms = 2,
		.seq = draw(5) ? 1 + draw(3) : 0,
		.epoch = draw(4) ? 1 : draw(4),
		.key = rg_str(draw(2) ? "k" : ""),
		.reply_to = rg_str(draw(4) ? "" : ids[draw(8)]),
		.via = rg_str(draw(4) ? "" : "edge"),
		.read = draw(2),
		.archived_at_ms = draw(6) ? 0 : 1,
	};

	drawn_message.read_at_ms = draw(6) ? (drawn_message.read ? 1 + draw(3) : 0) : draw(2);
	switch (draw(12)) {
	case 0:
		drawn_message.pass = 2;
		break;
	case 1:
		drawn_message.type = ROGER_DATA;
		break;
	case 2:
		drawn_message.created_at_ms = 3;
		break;
	case 3:
		drawn_message.issue = RG_STR("other");
		break;
	}
	return drawn_message;
}

static void one_journal(void)
{
	struct journal journal = { 0 };
	const struct line *state;
	struct roger_message taken;
	struct scene scene;
	unsigned faults;
	bool own;

	set_up(&scene);
	while (journal.count < LINES_MAX) {
		taken = draw_message();
		own = draw(5) > 0;
		faults = expected_faults(&journal, &taken, own);
		assert_int_equal(take_as(&scene, taken, own), faults);
		state = state_of(&journal, taken.id);
		own = !stays_foreign(state && !state->own, &taken, own);
		journal.lines[journal.count++] = (struct line){ taken, own };
		check_counts(&journal, &scene.rules);
		check_agents(&journal, &scene.rules);
		check_pairs(&journal, &scene.rules);
	}
	tear_down(&scene);
}

static void random_journals(void **state)
{
	int round;

	(void)state;
	for (round = 0; round < 400; round++)
		one_journal();
}

/* --------------------------------------------------------------------- rest -- */

/* One number goes to each recipient once, whatever else was sent to in between. */
static void a_number_goes_to_each_once(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 1), again = message("3", 1),
			     last = message("4", 1);
	struct scene scene;

	(void)state;
	set_up(&scene);
	two.to = last.to = RG_STR("carol");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, two), 0);
	assert_int_equal(take(&scene, again), RG_MESSAGE_NUMBER_BACK);
	again.id = RG_STR("5");
	again.to = RG_STR("dan");
	assert_int_equal(take(&scene, again), 0);
	again.id = RG_STR("6");
	assert_int_equal(take(&scene, again), RG_MESSAGE_NUMBER_BACK);
	tear_down(&scene);
}

static int64_t row_of(struct rg_buf *scratch, const struct roger_message *message)
{
	return rg_message_row_hash(rg_message_text_hash(scratch, message), message);
}

/* All that the seed's table holds of a message tells it from another; lengths do, too. */
static void every_member_counts(void **state)
{
	const struct roger_message plain = {
		.id = RG_STR("ab"),
		.issue = RG_STR("c"),
		.from = RG_STR("d"),
		.to = RG_STR("e"),
		.content = RG_STR("f"),
		.metadata = RG_STR("{}"),
		.created_at_ms = 1,
		.pass = 1,
		.type = 1,
	};
	struct roger_message others[10];
	struct rg_buf scratch;
	size_t i, k;

	(void)state;
	for (i = 0; i < 10; i++)
		others[i] = plain;
	others[1].id = RG_STR("a");
	others[1].issue = RG_STR("bc");
	others[2].issue = RG_STR("x");
	others[3].from = RG_STR("x");
	others[4].to = RG_STR("x");
	others[5].content = RG_STR("x");
	others[6].metadata = RG_STR("{ }");
	others[7].created_at_ms = 2;
	others[8].pass = 2;
	others[9].type = 2;
	rg_buf_init(&scratch, SIZE_MAX);
	for (i = 0; i < 10; i++)
		for (k = 0; k < i; k++) {
			assert_true(rg_message_text_hash(&scratch, &others[i]) !=
				    rg_message_text_hash(&scratch, &others[k]));
		}
	others[1] = others[2] = others[3] = plain;
	others[1].read = true;
	others[2].read_at_ms = 5;
	others[3].id = RG_STR("xx");
	for (i = 1; i < 4; i++)
		assert_true(row_of(&scratch, &others[i]) != row_of(&scratch, &plain));
	rg_buf_deinit(&scratch);
}

static int take_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message read = read_at(message("1", 1), 2000), edge = message("2", 2);
	struct rg_message_before before = { 0 };
	struct rg_message_rules rules;
	unsigned faults;
	int r;

	(void)arena;
	edge.via = RG_STR("bridge");
	rg_message_rules_init(&rules);
	r = rg_message_rules_take(&rules, &before, &read, true, &faults, err);
	if (r == ROGER_OK)
		r = rg_message_rules_take(&rules, &before, &edge, true, &faults, err);
	rg_message_rules_deinit(&rules);
	return r;
}

/* So many agents that the next but one, or the next, needs a larger table. */
static void fill(struct rg_message_rules *rules, int agents)
{
	struct rg_message_before before = { 0 };
	struct roger_message one = message("1", 1);
	unsigned faults;
	char name[16];
	int i;

	rg_message_rules_init(rules);
	assert_int_equal(rg_message_rules_take(rules, &before, &one, true, &faults, NULL),
			 ROGER_OK);
	for (i = 2; i < agents; i++) {
		snprintf(name, sizeof name, "n%d", i);
		one.id = one.to = rg_str(name);
		assert_int_equal(rg_message_rules_take(rules, &before, &one, true, &faults, NULL),
				 ROGER_OK);
	}
}

static int take_into_full(int agents, bool known, struct roger_message taken, struct roger_err *err)
{
	struct rg_message_before before = { .known = known };
	struct rg_message_rules rules;
	long left = scarce_left;
	unsigned faults;
	int r;

	scarce_left = -1;
	fill(&rules, agents);
	scarce_left = left;
	r = rg_message_rules_take(&rules, &before, &taken, true, &faults, err);
	scarce_left = -1;
	rg_message_rules_deinit(&rules);
	return r;
}

static int add_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message taken = message("another", 0);

	(void)arena;
	taken.from = RG_STR("new");
	taken.to = RG_STR("newer");
	return take_into_full(767, false, taken, err);
}

static int change_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message taken = message("1", 1);

	(void)arena;
	taken.to = RG_STR("newer");
	return take_into_full(768, true, taken, err);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(take_scarcely);
	scarce_everywhere(add_scarcely);
	scarce_everywhere(change_scarcely);
}

static void every_fault_has_words(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < RG_MESSAGE_FAULTS; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(rg_message_fault_texts[i],
						rg_message_fault_texts[k]);
	assert_null(rg_message_fault_texts[RG_MESSAGE_FAULTS]);
	assert_string_equal(rg_message_fault_texts[0],
			    "unread, though the message was read before");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_life_without_faults),
		cmocka_unit_test(numbers_of_an_edge_may_cross),
		cmocka_unit_test(every_fault),
		cmocka_unit_test(an_epoch_starts_numbers_over),
		cmocka_unit_test(others_may_write_what_they_like),
		cmocka_unit_test(what_lives_is_counted),
		cmocka_unit_test(random_journals),
		cmocka_unit_test(a_number_goes_to_each_once),
		cmocka_unit_test(every_member_counts),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(every_fault_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
