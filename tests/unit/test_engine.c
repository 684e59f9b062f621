/*
 * What the local engine promises when many are at it at once, handles of one
 * process and processes: limits are exact, a key is sent once, no message is
 * handed to two, what was acknowledged is seen by whoever asks next, numbers
 * rise without a gap, and what leaves the index stands in the archive, once.
 */
#include "place.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/str.h"
#include "ops/op.h"

enum { CROWD = 8, IDS_MAX = 4000 };

/* What children tell: in memory that they share. */
struct told {
	_Atomic int ok, refused, other, duplicates, next_id;
	_Atomic int start;
	struct roger_err why; /* of one of the others */
	char ids[IDS_MAX][64];
};

struct scene {
	struct place place;
	struct told *told;
	int me;
};

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	place_make(&scene->place);
	scene->told = mmap(NULL, sizeof *scene->told, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*state = scene;
	return scene->told == MAP_FAILED;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	munmap(scene->told, sizeof *scene->told);
	place_remove(&scene->place);
	free(scene);
	return 0;
}

static void tell_other(struct scene *scene, const struct roger_err *err)
{
	if (atomic_fetch_add(&scene->told->other, 1) == 0)
		scene->told->why = *err;
}

static void check_no_other(const struct scene *scene)
{
	if (scene->told->other)
		fail_msg("%d failed: %s", scene->told->other, scene->told->why.message);
}

/* ---------------------------------------------------------------- crowds -- */

typedef void part(struct scene *scene, struct roger *roger);

static pid_t start_child(struct scene *scene, int me, part *work)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child > 0)
		return child;
	scene->me = me;
	{
		struct roger *roger = NULL;

		if (roger_open(scene->place.root, &roger, NULL) < 0)
			_exit(99);
		while (!atomic_load(&scene->told->start))
			usleep(100);
		work(scene, roger);
		roger_close(roger);
	}
	_exit(0);
}

static void join(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* All at once, each a process with a handle of its own. */
static void as_processes(struct scene *scene, part *work)
{
	pid_t children[CROWD];
	int i;

	for (i = 0; i < CROWD; i++)
		children[i] = start_child(scene, i, work);
	atomic_store(&scene->told->start, 1);
	for (i = 0; i < CROWD; i++)
		join(children[i]);
}

struct thread {
	pthread_t thread;
	struct scene scene;
	part *work;
};

static void *run_thread(void *context)
{
	struct thread *thread = context;
	struct roger *roger = NULL;

	if (roger_open(thread->scene.place.root, &roger, NULL) == ROGER_OK)
		thread->work(&thread->scene, roger);
	else
		atomic_fetch_add(&thread->scene.told->other, 1);
	roger_close(roger);
	return NULL;
}

/* The same with threads of one process. */
static void as_threads(struct scene *scene, part *work)
{
	struct thread threads[CROWD];
	int i;

	for (i = 0; i < CROWD; i++) {
		threads[i] = (struct thread){ .scene = *scene, .work = work };
		threads[i].scene.me = i;
		assert_int_equal(pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]),
				 0);
	}
	for (i = 0; i < CROWD; i++)
		assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
}

static void tell(struct scene *scene, int r)
{
	if (r == ROGER_OK)
		atomic_fetch_add(&scene->told->ok, 1);
	else if (r == ROGER_EREFUSED)
		atomic_fetch_add(&scene->told->refused, 1);
	else
		atomic_fetch_add(&scene->told->other, 1);
}

static void tell_id(struct scene *scene, const char *id)
{
	int at = atomic_fetch_add(&scene->told->next_id, 1);

	rg_assert(at < IDS_MAX);
	snprintf(scene->told->ids[at], sizeof scene->told->ids[at], "%s", id);
}

static int64_t count(struct roger *roger, struct roger_list_request request)
{
	struct roger_count_reply reply;
	struct roger_err err;
	int64_t n;

	if (roger_count(roger, &request, &reply, &err) < 0)
		fail_msg("count: %s", err.message);
	n = reply.count;
	roger_reply_free(&reply);
	return n;
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int different_ids(struct told *told)
{
	int n = atomic_load(&told->next_id), different = 0, i;

	qsort(told->ids, (size_t)n, sizeof *told->ids, compare_ids);
	for (i = 0; i < n; i++)
		different += i == 0 || strcmp(told->ids[i], told->ids[i - 1]) != 0;
	return different;
}

static void check_verify(struct roger *roger)
{
	struct roger_verify_request request = { 0 };
	struct roger_verify_reply reply;

	assert_int_equal(roger_verify(roger, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.damaged, 0);
	assert_int_equal(reply.strays, 0);
	roger_reply_free(&reply);
}

/* ---------------------------------------------------------------- limits -- */

static void send_ten_to_bob(struct scene *scene, struct roger *roger)
{
	char me[16];
	int i;

	snprintf(me, sizeof me, "s%d", scene->me);
	for (i = 0; i < 10; i++)
		tell(scene, place_send(roger, me, "bob", "i", "text", "", NULL));
}

static void check_mailbox_limit(struct scene *scene)
{
	struct roger *roger = place_open(&scene->place);

	assert_int_equal(scene->told->other, 0);
	assert_int_equal(scene->told->ok, 20);
	assert_int_equal(scene->told->refused, 60);
	assert_int_equal(count(roger, (struct roger_list_request){ .issue = RG_STR("i"),
								   .to = RG_STR("bob") }),
			 20);
	check_verify(roger);
	roger_close(roger);
}

static void the_limit_of_a_mailbox_is_exact(void **state)
{
	struct scene *scene = *state;

	place_configure(&scene->place, "size_limits:\n  max_messages_per_issue_phase: 20\n");
	as_processes(scene, send_ten_to_bob);
	check_mailbox_limit(scene);
}

static void the_limit_holds_for_threads_too(void **state)
{
	struct scene *scene = *state;

	place_configure(&scene->place, "size_limits:\n  max_messages_per_issue_phase: 20\n");
	as_threads(scene, send_ten_to_bob);
	check_mailbox_limit(scene);
}

static void send_ten_around(struct scene *scene, struct roger *roger)
{
	char me[16], to[16];
	int i;

	snprintf(me, sizeof me, "s%d", scene->me);
	for (i = 0; i < 10; i++) {
		snprintf(to, sizeof to, "r%d", (scene->me + i) % 10);
		tell(scene, place_send(roger, me, to, "i", "text", "", NULL));
	}
}

static void the_limit_of_an_issue_is_exact(void **state)
{
	struct scene *scene = *state;
	struct roger *roger;

	place_configure(
		&scene->place,
		"size_limits:\n  max_messages_per_issue_phase: 20\n  max_messages_per_issue: 33\n");
	as_processes(scene, send_ten_around);
	assert_int_equal(scene->told->other, 0);
	assert_int_equal(scene->told->ok, 33);
	assert_int_equal(scene->told->refused, 47);
	roger = place_open(&scene->place);
	assert_int_equal(count(roger, (struct roger_list_request){ .issue = RG_STR("i") }), 33);
	roger_close(roger);
}

static void send_and_receive(struct scene *scene, struct roger *roger)
{
	struct roger_inbox_request request = { .agent = RG_STR("bob"), .limit = 10 };
	struct roger_inbox_reply reply;
	char me[16];
	int i;

	snprintf(me, sizeof me, "s%d", scene->me);
	for (i = 0; i < 30; i++) {
		tell(scene, place_send(roger, me, "bob", "i", "text", "", NULL));
		if (i % 3 == 0 && roger_receive(roger, &request, &reply, NULL) == ROGER_OK)
			roger_reply_free(&reply);
	}
}

static int lines_of(const struct place *place, const char *name)
{
	char path[200];
	FILE *file;
	int lines = 0, c;

	snprintf(path, sizeof path, "%s/.roger/%s", place->root, name);
	file = fopen(path, "r");
	while (file && (c = fgetc(file)) != EOF)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

/* Room is made by archiving what was read: never too much is there, and nothing goes missing. */
static void room_is_made_and_nothing_goes_missing(void **state)
{
	struct scene *scene = *state;
	struct roger *roger;
	int64_t living, archived;

	place_configure(&scene->place, "size_limits:\n  max_messages_per_issue_phase: 15\n");
	as_processes(scene, send_and_receive);
	assert_int_equal(scene->told->other, 0);
	roger = place_open(&scene->place);
	living = count(roger, (struct roger_list_request){ .issue = RG_STR("i") });
	archived =
		count(roger, (struct roger_list_request){ .issue = RG_STR("i"), .archived = true });
	assert_true(living <= 15);
	assert_int_equal(living + archived, scene->told->ok);
	assert_int_equal(lines_of(&scene->place, "messages_archive/i.jsonl"), archived);
	check_verify(roger);
	roger_close(roger);
}

/* ------------------------------------------------------- the archive's end -- */

static char *read_text(const struct place *place, const char *name)
{
	char path[200], *text = calloc(1, 100000);
	FILE *file;

	snprintf(path, sizeof path, "%s/.roger/%s", place->root, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_in_range(fread(text, 1, 99999, file), 1, 99998);
	fclose(file);
	return text;
}

/* What a writer leaves that was killed before the message left the index: the n-th line of the
 * journal.  Returns where. */
static long leave_in_archive(const struct place *place, int n)
{
	char *journal = read_text(place, "messages.jsonl"), *line = journal, path[200];
	FILE *file;
	long at;

	while (n--)
		line = strchr(line, '\n') + 1;
	snprintf(path, sizeof path, "%s/.roger/messages_archive/i.jsonl", place->root);
	file = fopen(path, "a");
	fseek(file, 0, SEEK_END);
	at = ftell(file);
	fprintf(file, "%.*s\n", (int)strcspn(line, "\n"), line);
	fclose(file);
	free(journal);
	return at;
}

static void archive_nth(struct roger *roger, const struct place *place, int n)
{
	char *journal = read_text(place, "messages.jsonl"), *line = journal;
	struct roger_archive_reply reply;
	struct roger_str id;
	struct roger_archive_request request = { .ids = { &id, 1 }, .unread = true };
	struct roger_err err;

	while (n--)
		line = strchr(line, '\n') + 1;
	id = (struct roger_str){ line + 7, strcspn(line + 7, "\"") };
	if (roger_archive(roger, &request, &reply, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(reply.archived, 1);
	roger_reply_free(&reply);
	free(journal);
}

/* A handle that archives again looks only at what was added since, and at what it saw before it
 * believes it. */
static void what_was_left_in_the_archive_is_not_added_twice(void **state)
{
	struct scene *scene = *state;
	const struct place *place = &scene->place;
	struct roger *roger = place_open(place);
	char path[200];
	long at;
	int file, i;

	for (i = 0; i < 4; i++)
		assert_int_equal(place_send(roger, "amy", "bob", "i", "text", "", NULL), ROGER_OK);
	archive_nth(roger, place, 0);
	leave_in_archive(place, 1);
	archive_nth(roger, place, 1);
	assert_int_equal(lines_of(place, "messages_archive/i.jsonl"), 2);
	/* Seen along with another, then written over. */
	at = leave_in_archive(place, 2);
	archive_nth(roger, place, 3);
	snprintf(path, sizeof path, "%s/.roger/messages_archive/i.jsonl", place->root);
	file = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(file, "xxxxx", 5, at), 5);
	close(file);
	archive_nth(roger, place, 2);
	assert_int_equal(lines_of(place, "messages_archive/i.jsonl"), 5);
	roger_close(roger);
}

/* ------------------------------------------------------------------ keys -- */

static void send_keys(struct scene *scene, struct roger *roger)
{
	struct roger_str to = RG_STR("bob");
	char key[32];
	int i;

	for (i = 0; i < 50; i++) {
		struct roger_send_request request = { .from = RG_STR("ann"),
						      .to = { &to, 1 },
						      .issue = RG_STR("i"),
						      .content = RG_STR("same") };
		struct roger_send_reply reply;
		int r;

		snprintf(key, sizeof key, "t:v:%d", i);
		request.key = str(key);
		r = roger_send(roger, &request, &reply, NULL);
		tell(scene, r);
		if (r < 0)
			continue;
		atomic_fetch_add(&scene->told->duplicates, reply.duplicate);
		tell_id(scene, reply.messages.items[0].id.data);
		roger_reply_free(&reply);
	}
}

static void check_keys(struct scene *scene)
{
	struct roger *roger = place_open(&scene->place);

	assert_int_equal(scene->told->ok, CROWD * 50);
	assert_int_equal(scene->told->duplicates, (CROWD - 1) * 50);
	assert_int_equal(different_ids(scene->told), 50);
	assert_int_equal(count(roger, (struct roger_list_request){ 0 }), 50);
	assert_int_equal(lines_of(&scene->place, "messages.jsonl"), 50);
	roger_close(roger);
}

static void a_key_is_sent_once_by_racing_processes(void **state)
{
	as_processes(*state, send_keys);
	check_keys(*state);
}

static void a_key_is_sent_once_by_racing_threads(void **state)
{
	as_threads(*state, send_keys);
	check_keys(*state);
}

/* Others open the file of that name, and there the message is not. */
static void a_key_is_not_answered_from_a_file_that_was_moved_away(void **state)
{
	struct scene *scene = *state;
	struct roger *roger = place_open(&scene->place);
	char moved[160], first[64], again[64];

	snprintf(moved, sizeof moved, "%s.moved", scene->place.journal);
	assert_int_equal(place_send(roger, "ann", "bob", "i", "text", "t:v:c", first), ROGER_OK);
	assert_int_equal(rename(scene->place.journal, moved), 0);
	assert_int_equal(place_send(roger, "ann", "bob", "i", "text", "t:v:c", NULL), ROGER_EIO);
	place_append(&scene->place, "", 0);
	assert_int_equal(place_send(roger, "ann", "bob", "i", "text", "t:v:c", NULL), ROGER_EIO);
	assert_int_equal(rename(moved, scene->place.journal), 0);
	assert_int_equal(place_send(roger, "ann", "bob", "i", "text", "t:v:c", again), ROGER_OK);
	assert_string_equal(again, first);
	assert_int_equal(lines_of(&scene->place, "messages.jsonl"), 1);
	roger_close(roger);
}

/* Somebody removes the control file, and with it a lock that is held: whoever took it goes on as it
 * does in the old one. */
static void a_lock_that_went_with_its_file_is_still_taken(void **state)
{
	struct scene *scene = *state;
	struct roger *roger = place_open(&scene->place), *other = place_open(&scene->place);
	struct rg_engine *held = NULL;
	struct roger_err err = { 0 };
	char control[160];

	snprintf(control, sizeof control, "%s/.roger/messages.control", scene->place.root);
	assert_int_equal(place_send(other, "ann", "bob", "i", "text", "t:v:1", NULL), ROGER_OK);
	assert_int_equal(rg_engine_records_hold(roger->engine, &held, &err), ROGER_OK);
	assert_int_equal(unlink(control), 0);
	/* Where the control file is, is looked at every tenth of a second. */
	usleep(200000);
	assert_int_equal(place_send(other, "ann", "bob", "i", "text", "t:v:2", NULL), ROGER_OK);
	assert_int_equal(rg_engine_bring_sends_up(roger->engine, true, &err), ROGER_OK);
	assert_true(rg_engine_took_records(roger->engine));
	rg_engine_records_endp(&held);
	roger_close(other);
	roger_close(roger);
}

/* What a seal and a backup are of: a log that is purged after it was measured is neither left out
 * nor read as it was. */
static void a_log_that_is_purged_meanwhile_is_not_left_out(void **state)
{
	const struct roger_cycle_request next = { .new_ = true };
	const struct roger_purge_request all = { 0 };
	struct scene *scene = *state;
	struct roger *roger = place_open(&scene->place), *other = place_open(&scene->place);
	struct rg_arena *arena = rg_arena_new();
	struct roger_cycle_reply cycle;
	struct roger_purge_reply purge;
	struct roger_err err = { 0 };
	struct rg_log_files files;
	struct rg_digests digests;
	char room[16];
	size_t got;
	int i, r;

	assert_int_equal(place_send(other, "ann", "bob", "i", "text", "t:v:c", NULL), ROGER_OK);
	assert_int_equal(place_send(other, "amy", "bob", "i", "text", "t:v:c", NULL), ROGER_OK);
	assert_int_equal(
		rg_engine_measure(roger->engine, RG_MEASURED_ALL, arena, &files, NULL, &err),
		ROGER_OK);
	for (i = 0; i < 3; i++) {
		assert_int_equal(roger_cycle(other, &next, &cycle, &err), ROGER_OK);
		roger_reply_free(&cycle);
	}
	assert_int_equal(roger_purge(other, &all, &purge, &err), ROGER_OK);
	assert_int_equal(purge.purged, 2);
	roger_reply_free(&purge);

	/* It is found out by its name, and when it has to be opened again after another one. */
	assert_int_equal(rg_engine_digests_of(roger->engine, &files, arena, &digests, &err),
			 ROGER_ETIMEOUT);
	assert_true(rg_str_ends(rg_str(err.message), "was replaced while it was read; try again"));
	for (i = 0; i < 3; i++)
		r = rg_engine_copy(roger->engine,
				   rg_log_files_find(&files, i % 2 ? RG_STR("send-log/ann.jsonl")
								   : RG_STR("send-log/amy.jsonl")),
				   0, room, sizeof room, &got, &err);
	assert_int_equal(r, ROGER_ETIMEOUT);
	rg_arena_free(arena);
	roger_close(other);
	roger_close(roger);
}

/* -------------------------------------------------------- handing over -- */

enum { MAIL = 300 };

static void fill_mailbox(struct scene *scene)
{
	struct roger *roger = place_open(&scene->place);
	char issue[32];
	int i;

	for (i = 0; i < MAIL; i++) {
		snprintf(issue, sizeof issue, "i%d", i / 50);
		assert_int_equal(place_send(roger, "ann", "bob", issue, "work", "", NULL),
				 ROGER_OK);
	}
	roger_close(roger);
}

static void receive_all(struct scene *scene, struct roger *roger)
{
	struct roger_inbox_request request = { .agent = RG_STR("bob"), .limit = 1 + scene->me % 3 };
	struct roger_inbox_reply reply;
	struct roger_err err;
	size_t n = 1, i;

	while (n) {
		if (roger_receive(roger, &request, &reply, &err) < 0) {
			tell_other(scene, &err);
			return;
		}
		n = reply.messages.count;
		for (i = 0; i < n; i++)
			tell_id(scene, reply.messages.items[i].id.data);
		roger_reply_free(&reply);
	}
}

static void claim_all(struct scene *scene, struct roger *roger)
{
	struct roger_claim_request request = { .agent = RG_STR("bob"), .limit = 1 + scene->me % 3 };
	struct roger_messages_reply reply, acked;
	struct roger_err err;
	char me[16];
	size_t n = 1, i;

	snprintf(me, sizeof me, "w%d", scene->me);
	request.worker = str(me);
	while (n) {
		if (roger_claim(roger, &request, &reply, &err) < 0) {
			tell_other(scene, &err);
			return;
		}
		n = reply.messages.count;
		for (i = 0; i < n; i++) {
			struct roger_ack_request ack = { .agent = RG_STR("bob"),
							 .worker = str(me),
							 .ids = { &reply.messages.items[i].id,
								  1 } };

			tell_id(scene, reply.messages.items[i].id.data);
			if (roger_ack(roger, &ack, &acked, &err) < 0)
				tell_other(scene, &err);
			else
				roger_reply_free(&acked);
		}
		roger_reply_free(&reply);
	}
}

static void check_shared_out(struct scene *scene)
{
	struct roger *roger = place_open(&scene->place);

	check_no_other(scene);
	assert_int_equal(scene->told->next_id, MAIL);
	assert_int_equal(different_ids(scene->told), MAIL);
	assert_int_equal(count(roger, (struct roger_list_request){ .unread = true }), 0);
	roger_close(roger);
}

static void receivers_share_no_message(void **state)
{
	fill_mailbox(*state);
	as_processes(*state, receive_all);
	check_shared_out(*state);
}

static void claimers_share_no_message(void **state)
{
	fill_mailbox(*state);
	as_processes(*state, claim_all);
	check_shared_out(*state);
}

static void receivers_in_threads_share_no_message(void **state)
{
	fill_mailbox(*state);
	as_threads(*state, receive_all);
	check_shared_out(*state);
}

/* ---------------------------------------------------------- freshness -- */

/* Tells each message once it is acknowledged. */
static void send_and_tell(struct scene *scene, struct roger *roger)
{
	char me[16], issue[32], id[64];
	int i;

	snprintf(me, sizeof me, "s%d", scene->me);
	for (i = 0; i < 100; i++) {
		snprintf(issue, sizeof issue, "i%d", scene->me);
		if (place_send(roger, me, i % 2 ? "bob" : "eve", issue, "text", "", id) == ROGER_OK)
			atomic_fetch_add(&scene->told->ok, 1);
	}
}

/* While others send: what was acknowledged before the question is in the answer. */
static void whoever_asks_next_sees_it(void **state)
{
	struct scene *scene = *state;
	pid_t children[CROWD];
	struct roger *kept = place_open(&scene->place), *fresh;
	int before, i;

	for (i = 0; i < CROWD; i++)
		children[i] = start_child(scene, i, send_and_tell);
	atomic_store(&scene->told->start, 1);
	do {
		before = atomic_load(&scene->told->ok);
		assert_true(count(kept, (struct roger_list_request){ 0 }) >= before);
		before = atomic_load(&scene->told->ok);
		fresh = place_open(&scene->place);
		assert_true(count(fresh, (struct roger_list_request){ 0 }) >= before);
		roger_close(fresh);
	} while (before < CROWD * 100);
	for (i = 0; i < CROWD; i++)
		join(children[i]);
	assert_int_equal(count(kept, (struct roger_list_request){ 0 }), CROWD * 100);
	roger_close(kept);
}

/* One sender, many processes: every number once, in the order of the file. */
static void send_as_one(struct scene *scene, struct roger *roger)
{
	char issue[32];
	int i;

	snprintf(issue, sizeof issue, "i%d", scene->me);
	for (i = 0; i < 50; i++)
		tell(scene, place_send(roger, "one", "bob", issue, "text", "", NULL));
}

static void numbers_rise_without_a_gap(void **state)
{
	struct scene *scene = *state;
	struct roger_list_request request = { .limit = 1000 };
	struct roger_messages_reply reply;
	struct roger *roger;
	size_t i;

	as_processes(scene, send_as_one);
	assert_int_equal(scene->told->ok, CROWD * 50);
	roger = place_open(&scene->place);
	assert_int_equal(roger_list(roger, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.messages.count, CROWD * 50);
	for (i = 0; i < reply.messages.count; i++)
		assert_int_equal(reply.messages.items[i].seq, i + 1);
	roger_reply_free(&reply);
	check_verify(roger);
	roger_close(roger);
}

/* Many agents, issues and keys, so that the control file grows while all are at work. */
static void send_wide(struct scene *scene, struct roger *roger)
{
	char from[32], to[32], issue[32], key[32];
	int i;

	for (i = 0; i < 100; i++) {
		snprintf(from, sizeof from, "from-%d-%d", scene->me, i);
		snprintf(to, sizeof to, "to-%d-%d", scene->me, i);
		snprintf(issue, sizeof issue, "issue-%d-%d", scene->me, i);
		snprintf(key, sizeof key, "t:v:%d-%d", scene->me, i);
		tell(scene, place_send(roger, from, to, issue, "text", key, NULL));
	}
}

static void growing_in_the_middle_loses_nothing(void **state)
{
	struct scene *scene = *state;
	struct roger *roger;

	as_processes(scene, send_wide);
	assert_int_equal(scene->told->ok, CROWD * 100);
	roger = place_open(&scene->place);
	assert_int_equal(count(roger, (struct roger_list_request){ 0 }), CROWD * 100);
	assert_int_equal(count(roger, (struct roger_list_request){ .to = RG_STR("to-7-99"),
								   .unread = true }),
			 1);
	check_verify(roger);
	roger_close(roger);
}

/* A handle that stays open says what happened to its files, and what to do. */
static void a_workspace_that_was_removed_is_named(void **state)
{
	const struct roger_inbox_request request = { .agent = RG_STR("bob") };
	struct scene *scene = *state;
	struct roger *roger = place_open(&scene->place);
	struct roger_inbox_reply reply;
	struct roger_err err = { 0 };

	assert_int_equal(place_send(roger, "amy", "bob", "app", "text", "", NULL), ROGER_OK);
	place_remove(&scene->place);
	/* Where the control file is, is looked at every tenth of a second. */
	usleep(200000);
	assert_int_equal(roger_inbox(roger, &request, &reply, &err), ROGER_EENGINE);
	assert_string_equal(err.message,
			    "the workspace was removed while open; start this program again");
	assert_int_equal(place_send(roger, "amy", "bob", "app", "lost", "", NULL), ROGER_EENGINE);
	roger_close(roger);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_limit_of_a_mailbox_is_exact),
		TEST(the_limit_holds_for_threads_too),
		TEST(the_limit_of_an_issue_is_exact),
		TEST(room_is_made_and_nothing_goes_missing),
		TEST(what_was_left_in_the_archive_is_not_added_twice),
		TEST(a_key_is_sent_once_by_racing_processes),
		TEST(a_key_is_sent_once_by_racing_threads),
		TEST(a_key_is_not_answered_from_a_file_that_was_moved_away),
		TEST(a_lock_that_went_with_its_file_is_still_taken),
		TEST(a_log_that_is_purged_meanwhile_is_not_left_out),
		TEST(receivers_share_no_message),
		TEST(claimers_share_no_message),
		TEST(receivers_in_threads_share_no_message),
		TEST(whoever_asks_next_sees_it),
		TEST(numbers_rise_without_a_gap),
		TEST(growing_in_the_middle_loses_nothing),
		TEST(a_workspace_that_was_removed_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
