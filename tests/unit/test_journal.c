/*
 * What store/file/journal.h promises: lines come whole and in order, each with a
 * chain that fits; what another program wrote is adopted once and never
 * overwritten; a torn end is fenced off, one of ours as spoilt; a line that
 * slips in under our hands costs nobody theirs; nobody believes a sync that
 * failed, and no dead leader holds a sync up.
 */
#include "folder.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "store/file/journal.h"
#include "store/file/lines.h"

#define NAME "messages.jsonl"

/* What was adopted, as one text: line|line|, those whose chain fits as (body)| */
struct adopted {
	struct rg_buf text;
	int refusals; /* so often: no room */
};

struct fixture {
	struct folder folder;
	struct adopted adopted;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	folder_make(&fixture->folder);
	rg_buf_init(&fixture->adopted.text, SIZE_MAX);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	rg_buf_deinit(&fixture->adopted.text);
	folder_remove(&fixture->folder);
	free(fixture);
	return 0;
}

static bool adopt(void *context, struct rg_control *control, struct roger_str line, bool own)
{
	struct adopted *adopted = context;
	struct roger_str body;
	uint64_t stated;

	if (adopted->refusals > 0) {
		adopted->refusals--;
		return false;
	}
	(void)control;
	if (own && rg_chain_split(line, &stated, &body))
		rg_buf_printf(&adopted->text, "(%.*s)|", RG_STR_ARGS(body));
	else
		rg_buf_printf(&adopted->text, "%.*s|", RG_STR_ARGS(line));
	return true;
}

static struct rg_journal *open_journal(struct fixture *fixture)
{
	struct rg_journal *journal = NULL;
	struct roger_err err;

	if (rg_journal_open(fixture->folder.open, NAME, "messages.control", true, adopt,
			    &fixture->adopted, &journal, &err) < 0)
		fail_msg("%s", err.message);
	return journal;
}

static void expect_adopted(struct fixture *fixture, const char *expected)
{
	rg_buf_add(&fixture->adopted.text, "", 1);
	assert_string_equal(fixture->adopted.text.data, expected);
	rg_buf_clear(&fixture->adopted.text);
}

static void lock(struct rg_journal *journal)
{
	struct roger_err err;

	if (rg_journal_lock(journal, 0, 0, &err) < 0)
		fail_msg("%s", err.message);
}

static void add_line(struct rg_journal *journal, const char *body)
{
	rg_buf_add_text(rg_journal_line(journal), body);
	rg_journal_end_line(journal);
}

static uint64_t append_unsynced(struct rg_journal *journal, const char *body)
{
	uint64_t end = 0;

	lock(journal);
	add_line(journal, body);
	assert_int_equal(rg_journal_write(journal, &end, NULL), ROGER_OK);
	rg_journal_unlock(journal);
	return end;
}

static void append(struct rg_journal *journal, const char *body)
{
	uint64_t end = append_unsynced(journal, body);

	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
}

static void foreign(const struct fixture *fixture, const char *text)
{
	folder_append_text(&fixture->folder, NAME, text);
}

static uint64_t settled(struct rg_journal *journal)
{
	uint64_t end = 0;
	struct roger_err err;

	if (rg_journal_settle(journal, &end, &err) < 0)
		fail_msg("%s", err.message);
	return end;
}

/*
 * The lines of the file: those whose chain fits without it and as (body), all
 * others as they are; expected has them with | behind each.
 */
static void expect_lines(struct fixture *fixture, const char *expected)
{
	int file = openat(fixture->folder.open, NAME, O_RDONLY | O_CLOEXEC);
	struct rg_chain chain = { 0 };
	struct roger_str body;
	struct rg_lines lines;
	struct rg_line line;
	struct rg_buf text;
	uint64_t stated;
	bool found, own;

	rg_buf_init(&text, SIZE_MAX);
	rg_lines_init(&lines, file, 0, folder_size(&fixture->folder, NAME));
	while (rg_lines_next(&lines, &line, &found, NULL) == ROGER_OK && found) {
		assert_int_equal(rg_chain_step(file, &line, &chain, &own, NULL), ROGER_OK);
		if (own && rg_chain_split(line.text, &stated, &body))
			rg_buf_printf(&text, "(%.*s)|", RG_STR_ARGS(body));
		else
			rg_buf_printf(&text, "%.*s|", RG_STR_ARGS(line.text));
	}
	rg_buf_add(&text, "", 1);
	assert_string_equal(text.data, expected);
	rg_buf_deinit(&text);
	rg_lines_deinit(&lines);
	close(file);
}

/* As after a restart of the machine. */
static void forget_control(const struct fixture *fixture)
{
	assert_int_equal(unlinkat(fixture->folder.open, "messages.control", 0), 0);
}

/* ----------------------------------------------------------- appending -- */

static void lines_stand_as_they_were_composed(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct stat facts;
	uint64_t end;

	append(journal, "{\"a\":1");
	lock(journal);
	add_line(journal, "{\"a\":2");
	add_line(journal, "{\"a\":3");
	assert_int_equal(rg_journal_write(journal, &end, NULL), ROGER_OK);
	rg_journal_unlock(journal);
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
	assert_int_equal(end, folder_size(&((struct fixture *)*state)->folder, NAME));
	assert_int_equal(settled(journal), end);
	expect_lines(*state, "({\"a\":1)|({\"a\":2)|({\"a\":3)|");
	assert_int_equal(fstat(rg_journal_file(journal), &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0600);
	rg_journal_close(journal);
	/* Nobody adopts what was written under everybody's eyes. */
	expect_adopted(*state, "");
}

static void what_is_not_written_is_not_there(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	append(journal, "{\"a\":1");
	lock(journal);
	add_line(journal, "{\"lost\":1");
	rg_journal_unlock(journal);
	append(journal, "{\"a\":2");
	rg_journal_close(journal);
	expect_lines(*state, "({\"a\":1)|({\"a\":2)|");
}

static void handles_share_one_end(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);

	append(one, "{\"a\":1");
	append(two, "{\"a\":2");
	append(one, "{\"a\":3");
	assert_int_equal(settled(one), settled(two));
	expect_lines(*state, "({\"a\":1)|({\"a\":2)|({\"a\":3)|");
	expect_adopted(*state, "");
	rg_journal_close(one);
	rg_journal_close(two);
}

static void a_new_control_file_adopts_all(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	append(journal, "{\"a\":1");
	foreign(*state, "foreign\n");
	append(journal, "{\"a\":2");
	rg_journal_close(journal);
	expect_adopted(*state, "foreign|");
	forget_control(*state);
	journal = open_journal(*state);
	append(journal, "{\"a\":3");
	rg_journal_close(journal);
	expect_lines(*state, "({\"a\":1)|foreign|({\"a\":2)|({\"a\":3)|");
	expect_adopted(*state, "({\"a\":1)|foreign|({\"a\":2)|");
}

/* --------------------------------------------------- adopting, fencing -- */

static void foreign_lines_are_adopted_once_and_in_order(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);

	foreign(*state, "f1\nf2\n\n");
	assert_int_equal(settled(two), 7);
	expect_adopted(*state, "f1|f2||");
	assert_int_equal(settled(one), 7);
	append(one, "{\"a\":1");
	foreign(*state, "f3\r\n");
	append(two, "{\"a\":2");
	expect_adopted(*state, "f3\r|");
	expect_lines(*state, "f1|f2||({\"a\":1)|f3\r|({\"a\":2)|");
	rg_journal_close(one);
	rg_journal_close(two);
}

static void a_torn_foreign_end_is_fenced_by_the_next_append(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end;

	append(journal, "{\"a\":1");
	end = settled(journal);
	foreign(*state, "f1\ntor");
	/* Looking does not write. */
	assert_int_equal(settled(journal), end + 3);
	assert_int_equal(folder_size(&((struct fixture *)*state)->folder, NAME), end + 6);
	append(journal, "{\"a\":2");
	expect_lines(*state, "({\"a\":1)|f1|tor|({\"a\":2)|");
	expect_adopted(*state, "f1|");
	rg_journal_close(journal);
}

/* Its writer was never told that it is there: so it must not come to life. */
static void a_torn_line_of_ours_is_spoilt(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	size_t before, after, length;
	char expected[300];
	char *whole;
	int file;

	append(journal, "{\"a\":1");
	before = folder_size(&fixture->folder, NAME);
	append(journal, "{\"torn\":1");
	after = folder_size(&fixture->folder, NAME);
	rg_journal_close(journal);
	whole = folder_read(&fixture->folder, NAME);

	for (length = before + 1; length < after; length++) {
		file = openat(fixture->folder.open, NAME, O_RDWR | O_CLOEXEC | O_TRUNC);
		assert_int_equal(write(file, whole, length), length);
		close(file);
		forget_control(fixture);
		journal = open_journal(fixture);
		rg_buf_clear(&fixture->adopted.text);
		append(journal, "{\"a\":2");
		rg_journal_close(journal);
		snprintf(expected, sizeof expected, "({\"a\":1)|%.*s%s|({\"a\":2)|",
			 (int)(length - before), whole + before,
			 length == after - 1 ? " torn" : "");
		expect_lines(fixture, expected);
	}
	free(whole);
}

static void no_room_is_made_while_adopting(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);

	foreign(fixture, "f1\nf2\nf3\n");
	fixture->adopted.refusals = 1;
	assert_int_equal(settled(journal), 9);
	expect_adopted(fixture, "f1|f2|f3|");
	append(journal, "{\"a\":1");
	expect_lines(fixture, "f1|f2|f3|({\"a\":1)|");
	rg_journal_close(journal);
}

static void long_adoptions_give_the_lock_back(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	char *line = malloc(100001);
	int i;

	memset(line, 'x', 100000);
	line[99999] = '\n';
	line[100000] = '\0';
	for (i = 0; i < 120; i++)
		foreign(fixture, line);
	foreign(fixture, "end");
	append(journal, "{\"a\":1");
	assert_int_equal(fixture->adopted.text.length, 120 * 100000);
	rg_journal_close(journal);
	free(line);
}

/* ------------------------------------------------- under the writer's hands -- */

static void a_line_that_slips_in_is_kept_beside_ours(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end;

	append(journal, "{\"a\":1");
	lock(journal);
	add_line(journal, "{\"a\":2");
	foreign(*state, "slipped\n");
	assert_int_equal(rg_journal_write(journal, &end, NULL), ROGER_OK);
	rg_journal_unlock(journal);
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
	assert_int_equal(end, folder_size(&((struct fixture *)*state)->folder, NAME));
	append(journal, "{\"a\":3");
	rg_buf_add(&((struct fixture *)*state)->adopted.text, "", 1);
	assert_memory_equal(((struct fixture *)*state)->adopted.text.data,
			    "slipped|{\"a\":2,\"chain\":", 23);
	rg_journal_close(journal);
}

/* Is there a line that is this body and some chain? */
static bool has_line(struct fixture *fixture, const char *body)
{
	char *text = folder_read(&fixture->folder, NAME), *at;
	char start[64];
	bool found;

	snprintf(start, sizeof start, "\n%s,\"chain\":\"", body);
	at = strstr(text, start);
	found = at && at[strlen(start) + 16] == '"';
	free(text);
	return found;
}

/* Half a line of another program: ours must still stand on a line of its own, or not be
 * acknowledged. */
static void half_a_line_that_slips_in_spoils_nothing_acknowledged(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end;
	int r;

	append(journal, "{\"a\":1");
	lock(journal);
	add_line(journal, "{\"a\":2");
	add_line(journal, "{\"a\":3");
	foreign(*state, "half");
	r = rg_journal_write(journal, &end, NULL);
	rg_journal_unlock(journal);
	if (r == ROGER_OK)
		r = rg_journal_sync(journal, end, NULL);
	if (r == ROGER_OK) {
		assert_true(has_line(*state, "{\"a\":2"));
		assert_true(has_line(*state, "{\"a\":3"));
	}
	append(journal, "{\"a\":4");
	assert_true(has_line(*state, "{\"a\":4"));
	rg_journal_close(journal);
}

static void a_journal_that_became_shorter_takes_no_line(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct roger_err err = { 0 };
	uint64_t end;

	append(journal, "{\"a\":1");
	assert_int_equal(ftruncate(rg_journal_file(journal), 5), 0);
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), ROGER_EDATA);
	assert_non_null(strstr(err.message, "lines are missing"));
	assert_int_equal(rg_journal_settle(journal, &end, NULL), ROGER_OK);
	assert_int_equal(end, 0);
	rg_journal_close(journal);
	/* Once somebody has accepted that, it goes on with what is left. */
	journal = open_journal(*state);
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), ROGER_EDATA);
	rg_control_set_witness(rg_journal_control(journal), (struct rg_witness){ 0 });
	rg_control_page(rg_journal_control(journal))->broken = RG_BROKEN_NOT;
	append(journal, "{\"a\":2");
	rg_journal_close(journal);
	expect_lines(*state, "{\"a\":|({\"a\":2)|");
}

static void expect_moved(int r, const struct roger_err *err)
{
	assert_int_equal(r, ROGER_EIO);
	assert_non_null(strstr(err->message, "took the place"));
}

static void another_file_under_its_name_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	struct roger_err err;
	uint64_t end;

	append(journal, "{\"a\":1");
	assert_int_equal(unlinkat(fixture->folder.open, NAME, 0), 0);
	end = append_unsynced(journal, "{\"a\":2");
	expect_moved(rg_journal_sync(journal, end, &err), &err);
	foreign(fixture, "new\n");
	expect_moved(rg_journal_lock(journal, 0, 0, &err), &err);
	rg_journal_close(journal);
	expect_lines(fixture, "new|");
}

/* ------------------------------------------------------------- syncing -- */

static struct rg_control_page *page_of(struct rg_journal *journal)
{
	return rg_control_page(rg_journal_control(journal));
}

static void one_sync_serves_all_before_it(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t first = append_unsynced(one, "{\"a\":1"),
		 second = append_unsynced(two, "{\"a\":2");
	uint32_t wake = rg_journal_wake_count(one);

	assert_true(atomic_load(&page_of(one)->synced) < first);
	assert_int_equal(rg_journal_sync(two, second, NULL), ROGER_OK);
	assert_true(rg_journal_wake_count(one) != wake);
	assert_int_equal(atomic_load(&page_of(one)->synced), second);
	wake = rg_journal_wake_count(one);
	assert_int_equal(rg_journal_sync(one, first, NULL), ROGER_OK);
	assert_int_equal(rg_journal_wake_count(one), wake);
	rg_journal_close(one);
	rg_journal_close(two);
}

/* Whoever's sync failed: what was written before it may be lost, whatever a later sync says. */
static void a_failed_sync_is_believed_by_nobody(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t end = append_unsynced(one, "{\"a\":1");
	struct roger_err err = { 0 };

	atomic_fetch_add(&page_of(two)->failures, 1);
	append(two, "{\"a\":2");
	assert_true(atomic_load(&page_of(one)->synced) >= end);
	assert_int_equal(rg_journal_sync(one, end, &err), ROGER_EIO);
	assert_non_null(strstr(err.message, "same key"));
	/* What comes afterwards is another matter. */
	append(one, "{\"a\":3");
	rg_journal_close(one);
	rg_journal_close(two);
}

static int lead_and_die(void *context)
{
	struct rg_journal *journal = open_journal(context);

	append_unsynced(journal, "{\"dead\":1");
	if (!rg_lock_try(&page_of(journal)->sync_lock, rg_lock_owner(), false))
		return 1;
	raise(SIGKILL);
	return 0;
}

static void a_dead_leader_holds_nobody_up(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	assert_int_equal(process_join(process_fork(lead_and_die, *state)), 128 + SIGKILL);
	append(journal, "{\"a\":1");
	assert_int_equal(settled(journal), folder_size(&((struct fixture *)*state)->folder, NAME));
	expect_lines(*state, "({\"dead\":1)|({\"a\":1)|");
	rg_journal_close(journal);
}

static int append_and_die(void *context)
{
	struct rg_journal *journal = open_journal(context);

	append_unsynced(journal, "{\"dead\":1");
	raise(SIGKILL);
	return 0;
}

/* A reader that shows a message has it on disk first. */
static void a_reader_syncs_what_a_dead_writer_left(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end;

	assert_int_equal(process_join(process_fork(append_and_die, *state)), 128 + SIGKILL);
	assert_int_equal(atomic_load(&page_of(journal)->synced), 0);
	end = settled(journal);
	assert_int_equal(end, folder_size(&((struct fixture *)*state)->folder, NAME));
	assert_int_equal(atomic_load(&page_of(journal)->synced), end);
	rg_journal_close(journal);
}

enum { PROCESSES = 8, EACH = 200 };

static int append_many(void *context)
{
	struct rg_journal *journal = open_journal(context);
	char body[64];
	int i;

	for (i = 0; i < EACH; i++) {
		snprintf(body, sizeof body, "{\"p\":%d,\"i\":%d", (int)getpid(), i);
		append(journal, body);
	}
	rg_journal_close(journal);
	return 0;
}

static void many_writers_lose_nothing(void **state)
{
	struct fixture *fixture = *state;
	pid_t children[PROCESSES];
	char *text, *at;
	int lines = 0, i;

	for (i = 0; i < PROCESSES; i++)
		children[i] = process_fork(append_many, fixture);
	for (i = 0; i < PROCESSES; i++)
		assert_int_equal(process_join(children[i]), 0);
	text = folder_read(&fixture->folder, NAME);
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	free(text);
	assert_int_equal(lines, PROCESSES * EACH);
	/* One chain through all of them. */
	{
		struct rg_journal *journal = open_journal(fixture);
		struct rg_chain chain = { 0 };
		struct rg_lines reader;
		struct rg_line line;
		bool found, own;

		rg_lines_init(&reader, rg_journal_file(journal), 0, settled(journal));
		while (rg_lines_next(&reader, &line, &found, NULL) == ROGER_OK && found) {
			assert_int_equal(
				rg_chain_step(rg_journal_file(journal), &line, &chain, &own, NULL),
				ROGER_OK);
			assert_true(own);
		}
		rg_lines_deinit(&reader);
		rg_journal_close(journal);
	}
}

/* ---------------------------------------------------- locks, following -- */

static void grow(struct rg_journal *journal)
{
	assert_int_equal(rg_journal_lock(journal, 1000, 1000, NULL), ROGER_OK);
	rg_journal_unlock(journal);
}

/* Again, whatever room there is. */
static void grow_more(struct rg_journal *journal)
{
	const struct rg_control_page *page = page_of(journal);

	assert_int_equal(rg_journal_lock(journal, page->agent_capacity, page->count_capacity, NULL),
			 ROGER_OK);
	rg_journal_unlock(journal);
}

static void who_waits_is_told_what_the_holder_does(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	struct roger_err err = { 0 };

	assert_int_equal(rg_journal_take(one, RG_LOCK_RECORDS, 1000, NULL), ROGER_OK);
	assert_int_equal(rg_journal_take(two, RG_LOCK_RECORDS, 50, &err), ROGER_ETIMEOUT);
	assert_non_null(strstr(err.message, ", which does not go on; look at it"));
	rg_journal_release(one, RG_LOCK_RECORDS);

	assert_int_equal(rg_journal_take(one, RG_LOCK_BRIDGE, 1000, NULL), ROGER_OK);
	assert_int_equal(rg_journal_take(two, RG_LOCK_BRIDGE, 50, &err), ROGER_ETIMEOUT);
	assert_non_null(strstr(err.message, "the bridge is held by process "));
	assert_non_null(strstr(err.message, ", which takes in what comes; stop that one first"));
	rg_journal_release(one, RG_LOCK_BRIDGE);
	rg_journal_close(one);
	rg_journal_close(two);
}

static void locks_held_for_long_go_over_into_a_larger_file(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	enum rg_journal_lock which;

	for (which = RG_LOCK_CHANGE; which <= RG_LOCK_STATE; which++) {
		assert_int_equal(rg_journal_take(one, which, 1000, NULL), ROGER_OK);
		grow_more(two);
		assert_false(rg_journal_try(two, which));
		assert_int_equal(rg_journal_take(two, which, 50, NULL), ROGER_ETIMEOUT);
		rg_journal_release(one, which);
		assert_int_equal(rg_journal_take(two, which, 1000, NULL), ROGER_OK);
		rg_journal_release(two, which);
	}
	append(one, "{\"a\":1");
	append(two, "{\"a\":2");
	expect_lines(*state, "({\"a\":1)|({\"a\":2)|");
	rg_journal_close(one);
	rg_journal_close(two);
}

struct waiter {
	struct rg_journal *journal;
	enum rg_journal_lock which;
	int r;
};

static void *wait_for_lock(void *context)
{
	struct waiter *waiter = context;

	waiter->r = rg_journal_take(waiter->journal, waiter->which, 5000, NULL);
	return NULL;
}

/* Its holder has moved on and gives it back in the new file only. */
static void who_waits_for_a_lock_follows_it(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state),
			  *three = open_journal(*state);
	struct waiter waiter = { .journal = two };
	pthread_t thread;

	for (waiter.which = RG_LOCK_CHANGE; waiter.which <= RG_LOCK_STATE; waiter.which++) {
		struct rg_control_page *page = page_of(three);

		assert_int_equal(rg_journal_take(one, waiter.which, 1000, NULL), ROGER_OK);
		assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, &waiter), 0);
		/* Bit 31: somebody sleeps on it. */
		while (!((&page->append_lock)[2 + waiter.which].word & UINT64_C(1) << 31))
			sched_yield();
		grow_more(three);
		append(one, "{\"a\":1");
		rg_journal_release(one, waiter.which);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(waiter.r, ROGER_OK);
		assert_false(rg_journal_try(one, waiter.which));
		rg_journal_release(two, waiter.which);
		assert_true(rg_journal_try(one, waiter.which));
		rg_journal_release(one, waiter.which);
	}
	rg_journal_close(one);
	rg_journal_close(two);
	rg_journal_close(three);
}

static void a_sync_follows_into_a_larger_file(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t end = append_unsynced(one, "{\"a\":1");

	grow(two);
	assert_int_equal(rg_journal_sync(one, end, NULL), ROGER_OK);
	assert_int_equal(settled(two), end);
	rg_journal_close(one);
	rg_journal_close(two);
}

/* ------------------------------------------------------------- reading -- */

static int read_only(void *context)
{
	struct fixture *fixture = context;
	struct rg_journal *journal = NULL;
	uint64_t end;

	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 77;
	if (rg_journal_open(fixture->folder.open, NAME, "messages.control", false, adopt,
			    &fixture->adopted, &journal, NULL) < 0)
		return 1;
	if (rg_journal_writable(journal) || rg_journal_settle(journal, &end, NULL) < 0 || end != 6)
		return 2;
	if (rg_journal_lock(journal, 0, 0, NULL) != ROGER_EIO)
		return 3;
	rg_journal_close(journal);
	return 0;
}

static void who_may_only_read_reads_whole_lines(void **state)
{
	struct fixture *fixture = *state;

	foreign(fixture, "one\n2\nunfinished");
	assert_int_equal(fchmodat(fixture->folder.open, NAME, 0644, 0), 0);
	assert_int_equal(fchmod(fixture->folder.open, 0755), 0);
	if (geteuid() != 0)
		skip();
	assert_int_equal(process_join(process_fork(read_only, fixture)), 0);
}

static void bytes_are_read_where_they_stand(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct rg_buf text;

	foreign(*state, "0123456789\n");
	rg_buf_init(&text, SIZE_MAX);
	assert_int_equal(rg_journal_read(journal, 3, 4, &text, NULL), ROGER_OK);
	assert_true(rg_str_is(rg_buf_str(&text), "3456"));
	assert_int_equal(rg_journal_read(journal, 8, 4, &text, NULL), ROGER_EIO);
	rg_buf_deinit(&text);
	rg_journal_close(journal);
}

static void nothing_counts_in_a_file_that_was_moved_away(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture), *other = open_journal(fixture);
	struct roger_err err;
	uint64_t start, end, ours;

	append(journal, "{\"a\":1");
	start = settled(journal);
	assert_int_equal(renameat(fixture->folder.open, NAME, fixture->folder.open, "moved"), 0);
	/* Nobody takes what is there for what it was. */
	expect_moved(rg_journal_settle(journal, &end, &err), &err);
	end = append_unsynced(other, "{\"a\":2");
	ours = append_unsynced(journal, "{\"a\":3");
	expect_moved(rg_journal_sync(journal, ours, &err), &err);
	/* Nor for who waited along. */
	assert_int_equal(rg_journal_sync(other, end, &err), ROGER_EIO);
	/* From now on nothing goes there.  Who refuses holds no lock. */
	expect_moved(rg_journal_lock(journal, 0, 0, &err), &err);
	foreign(fixture, "one\n");
	expect_moved(rg_journal_lock(other, 0, 0, &err), &err);

	/* The disk held what it was given: nothing has to be written anew. */
	assert_int_equal(renameat(fixture->folder.open, "moved", fixture->folder.open, NAME), 0);
	append(journal, "{\"a\":4");
	assert_false(rg_journal_lost(journal, start));
	expect_lines(fixture, "({\"a\":1)|({\"a\":2)|({\"a\":3)|({\"a\":4)|");
	rg_journal_close(journal);
	rg_journal_close(other);
}

/* Each of the long locks is one of its own, known by its name. */
static void every_lock_has_its_name(void **state)
{
	static const char *const names[] = { "the right to change messages", "the index",
					     "message-state.json", "the logs", "the bridge" };
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	struct roger_err err;
	char start[100];
	int which, other;

	for (which = RG_LOCK_CHANGE; which <= RG_LOCK_BRIDGE; which++) {
		assert_int_equal(rg_journal_take(one, (enum rg_journal_lock)which, 1000, NULL),
				 ROGER_OK);
		for (other = RG_LOCK_CHANGE; other <= RG_LOCK_BRIDGE; other++) {
			assert_int_equal(rg_journal_holds(one, (enum rg_journal_lock)other),
					 other == which);
			assert_int_equal(rg_journal_try(two, (enum rg_journal_lock)other),
					 other != which);
			assert_int_equal(rg_journal_holds(two, (enum rg_journal_lock)other),
					 other != which);
			if (other != which)
				rg_journal_release(two, (enum rg_journal_lock)other);
			assert_false(rg_journal_holds(two, (enum rg_journal_lock)other));
		}
		assert_int_equal(rg_journal_take(two, (enum rg_journal_lock)which, 0, &err),
				 ROGER_ETIMEOUT);
		snprintf(start, sizeof start, "%s is held by process %d, which ", names[which],
			 (int)getpid());
		assert_memory_equal(err.message, start, strlen(start));
		rg_journal_release(one, (enum rg_journal_lock)which);
	}
	rg_journal_close(one);
	rg_journal_close(two);
}

static int lowest_free_file(void)
{
	int file = dup(STDIN_FILENO);

	close(file);
	return file;
}

/* What cannot be opened is an error, for readers, too; and nothing of it stays open. */
static void what_cannot_be_opened_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = NULL;
	struct roger_err err;
	int before = lowest_free_file(), writable;

	assert_null(rg_journal_close(NULL));
	assert_int_equal(mkdirat(fixture->folder.open, "folder", 0700), 0);
	for (writable = 0; writable < 2; writable++) {
		memset(&err, 0, sizeof err);
		assert_true(rg_journal_open(fixture->folder.open, NAME, "folder", writable, adopt,
					    &fixture->adopted, &journal, &err) < 0);
		assert_non_null(strstr(err.message, "folder"));
		assert_null(journal);
	}
	memset(&err, 0, sizeof err);
	assert_true(rg_journal_open(fixture->folder.open, "folder", "messages.control", true, adopt,
				    &fixture->adopted, &journal, &err) < 0);
	assert_non_null(strstr(err.message, "folder"));
	assert_true(rg_journal_open(fixture->folder.open, "folder", "messages.control", true, adopt,
				    &fixture->adopted, &journal, NULL) < 0);
	assert_int_equal(lowest_free_file(), before);
	rg_journal_close(open_journal(fixture));
	assert_int_equal(lowest_free_file(), before);
}

/* Whose control file was replaced is shown the new one when it asks. */
static void who_asks_is_shown_the_larger_file(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t agents = page_of(one)->agent_capacity;

	grow_more(two);
	assert_true(page_of(two)->agent_capacity > agents);
	assert_int_equal(page_of(one)->agent_capacity, page_of(two)->agent_capacity);
	rg_journal_close(one);
	rg_journal_close(two);
}

/* A process that may open no more files, for a moment. */
static void give_back_without_files(struct rg_journal *journal, enum rg_journal_lock which)
{
	struct rlimit limit, none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rg_journal_release(journal, which);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Given back is given back, though the larger file could not be opened then; nothing else is. */
static void what_is_owed_is_given_back_later(void **state)
{
	struct rg_journal *one, *two = open_journal(*state);
	int closes;

	for (closes = 0; closes < 2; closes++) {
		one = open_journal(*state);
		assert_int_equal(rg_journal_take(one, RG_LOCK_INDEX, 1000, NULL), ROGER_OK);
		assert_int_equal(rg_journal_take(one, RG_LOCK_STATE, 1000, NULL), ROGER_OK);
		grow_more(two);
		give_back_without_files(one, RG_LOCK_STATE);
		assert_false(rg_journal_try(two, RG_LOCK_STATE));
		if (closes)
			one = rg_journal_close(one);
		else
			assert_non_null(rg_journal_control(one));
		assert_true(rg_journal_try(two, RG_LOCK_STATE));
		rg_journal_release(two, RG_LOCK_STATE);
		if (one) {
			assert_true(rg_journal_holds(one, RG_LOCK_INDEX));
			assert_false(rg_journal_try(two, RG_LOCK_INDEX));
			rg_journal_release(one, RG_LOCK_INDEX);
		}
		rg_journal_close(one);
	}
	rg_journal_close(two);
}

/* Under the append lock: nobody else, room for all that was asked for, and nothing left over. */
static void what_holds_under_the_append_lock(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *one = open_journal(fixture), *two = open_journal(fixture);
	size_t agents = page_of(one)->agent_capacity + 1, counts = page_of(one)->count_capacity + 1;

	foreign(fixture, "one\ntwo\nthr");
	assert_int_equal(rg_journal_lock(one, agents, counts, NULL), ROGER_OK);
	assert_true(rg_control_has_room(rg_journal_control(one), agents, counts));
	assert_int_equal(rg_journal_end(one), folder_size(&fixture->folder, NAME));
	assert_int_equal(rg_journal_end(one), strlen("one\ntwo\nthr\n"));
	assert_false(rg_journal_lock_soon(two, 0));
	rg_journal_unlock(one);
	assert_true(rg_journal_lock_soon(two, 0));
	rg_journal_unlock(two);
	rg_journal_close(one);
	rg_journal_close(two);
	expect_adopted(fixture, "one|two|");
}

/* An end without a newline that is longer than any line. */
static void a_very_long_torn_end_is_fenced(void **state)
{
	static char text[RG_LINE_BYTES_MAX + 2];
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);

	memset(text, 'x', sizeof text);
	folder_append(&fixture->folder, NAME, text, sizeof text);
	append(journal, "{\"a\":1");
	expect_adopted(fixture, "");
	assert_true(folder_size(&fixture->folder, NAME) > sizeof text);
	rg_journal_close(journal);
	forget_control(fixture);
	journal = open_journal(fixture);
	assert_int_equal(settled(journal), folder_size(&fixture->folder, NAME));
	expect_adopted(fixture, "({\"a\":1)|");
	rg_journal_close(journal);
}

/* Append, and sync what cannot be synced: a pipe in place of the file. */
static uint64_t fail_to_sync(struct rg_journal *journal, const char *body)
{
	uint64_t end = append_unsynced(journal, body);
	int file = rg_journal_file(journal), save = dup(file), ends[2];
	struct roger_err err;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], file), file);
	assert_int_equal(rg_journal_sync(journal, end, &err), ROGER_EIO);
	assert_non_null(strstr(err.message, NAME));
	assert_int_equal(dup2(save, file), file);
	close(save);
	close(ends[0]);
	close(ends[1]);
	return end;
}

/* From what was synced before to what the failed one should have covered, and no later sync helps.
 */
static void what_a_failed_sync_leaves_unsure(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t sure, along, failed, later, again;

	append(one, "{\"a\":1");
	sure = rg_journal_end(one);
	along = append_unsynced(two, "{\"a\":2");
	failed = fail_to_sync(one, "{\"a\":3");
	assert_int_equal(rg_journal_sync(two, along, NULL), ROGER_EIO);
	assert_false(rg_journal_lost(one, sure - 1));
	assert_true(rg_journal_lost(one, sure));
	assert_true(rg_journal_lost(two, failed - 1));
	assert_false(rg_journal_lost(one, failed));

	append(two, "{\"a\":4");
	later = rg_journal_end(two);
	assert_true(rg_journal_lost(one, sure));
	assert_false(rg_journal_lost(one, later - 1));
	/* What goes wrong next adds to it. */
	again = fail_to_sync(two, "{\"a\":5");
	assert_true(rg_journal_lost(one, sure));
	assert_true(rg_journal_lost(one, again - 1));
	assert_false(rg_journal_lost(one, again));
	append(one, "{\"a\":6");
	rg_journal_close(one);
	rg_journal_close(two);
}

/* From the last byte that was surely synced up to the end that was to be. */
static void which_bytes_may_be_lost(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct rg_control_page *page = page_of(journal);
	uint64_t offset;

	assert_false(rg_journal_lost(journal, 0));
	atomic_store(&page->lost_from, 10);
	atomic_store(&page->lost_to, 20);
	for (offset = 0; offset < 30; offset++)
		assert_int_equal(rg_journal_lost(journal, offset), offset >= 10 && offset < 20);
	rg_journal_close(journal);
}

/* Where nothing new stands, there is nothing to sync. */
static void nothing_new_needs_no_sync(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint32_t wake;

	append(journal, "{\"a\":1");
	wake = rg_journal_wake_count(journal);
	assert_int_equal(rg_journal_sync(journal, 0, NULL), ROGER_OK);
	assert_int_equal(settled(journal), rg_journal_end(journal));
	assert_int_equal(rg_journal_wake_count(journal), wake);
	assert_int_equal(rg_journal_check_name(journal, NULL), ROGER_OK);
	rg_journal_close(journal);
}

/* A line that found no memory is not written, nor is what came before it. */
static void a_line_without_memory_is_not_written(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	struct roger_err err;
	uint64_t end;

	lock(journal);
	rg_journal_line(journal)->maximum = 40;
	add_line(journal, "{\"a\":1");
	assert_false(rg_journal_line(journal)->failed);
	add_line(journal, "{\"a\":2");
	assert_true(rg_journal_line(journal)->failed);
	rg_journal_end_line(journal);
	assert_int_equal(rg_journal_write(journal, &end, &err), ROGER_ENOMEM);
	assert_string_equal(err.message, "out of memory");
	rg_journal_unlock(journal);
	assert_int_equal(folder_size(&fixture->folder, NAME), 0);
	rg_journal_line(journal)->maximum = SIZE_MAX;
	append(journal, "{\"a\":3");
	expect_lines(fixture, "({\"a\":3)|");
	rg_journal_close(journal);
}

static void what_cannot_be_read_is_said(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct roger_err err;
	struct rg_buf text;

	foreign(*state, "0123456789\n");
	rg_buf_init(&text, 12);
	rg_buf_add_text(&text, "<");
	assert_int_equal(rg_journal_read(journal, 9, 3, &text, &err), ROGER_EIO);
	assert_string_equal(err.message, "'messages.jsonl' ends before byte 12");
	assert_int_equal(rg_journal_read(journal, 9, 2, &text, &err), ROGER_OK);
	assert_true(rg_str_is(rg_buf_str(&text), "<9\n"));
	assert_int_equal(rg_journal_read(journal, 0, 10, &text, &err), ROGER_ENOMEM);
	assert_true(rg_str_is(rg_buf_str(&text), "<9\n"));
	rg_buf_deinit(&text);
	rg_journal_close(journal);
}

/* Where the last newline stands in a file of so many bytes; -1: nowhere. */
static const struct {
	int size, newline;
} lengths[] = {
	{ 0, -1 },	{ 1, -1 },	{ 1, 0 },	{ 2, 0 },	{ 4095, -1 },
	{ 4095, 0 },	{ 4095, 4094 }, { 4096, -1 },	{ 4096, 0 },	{ 4096, 4095 },
	{ 4096, 4094 }, { 4097, -1 },	{ 4097, 0 },	{ 4097, 1 },	{ 4097, 4096 },
	{ 8192, -1 },	{ 8192, 4095 }, { 8192, 4096 }, { 8192, 0 },	{ 8193, 0 },
	{ 8193, 1 },	{ 8193, 4096 }, { 8193, 4097 }, { 8193, 8191 }, { 20000, 5000 },
};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static int read_every_length(void *context)
{
	struct fixture *fixture = context;
	struct rg_journal *journal;
	struct roger_err err;
	uint64_t end;
	char name[16];
	int i;

	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 77;
	for (i = 0; i <= LENGTHS; i++) {
		snprintf(name, sizeof name, "%d", i);
		/* A writer is told so. */
		if (rg_journal_open(fixture->folder.open, name, "messages.control", true, adopt,
				    &fixture->adopted, &journal, NULL) == ROGER_OK)
			return 99;
		if (rg_journal_open(fixture->folder.open, name, "messages.control", false, adopt,
				    &fixture->adopted, &journal, NULL) < 0)
			return 100;
		end = UINT64_MAX;
		/* The last of them is not there. */
		if (rg_journal_settle(journal, &end, NULL) < 0 ||
		    end != (i < LENGTHS ? (uint64_t)(lengths[i].newline + 1) : 0))
			return i + 1;
		if (rg_journal_control(journal) || rg_journal_wake_count(journal) != 0 ||
		    rg_journal_try(journal, RG_LOCK_INDEX) || rg_journal_lock_soon(journal, 0) ||
		    rg_journal_take(journal, RG_LOCK_INDEX, 0, &err) != ROGER_EIO)
			return 101;
		rg_journal_sleep(journal, 0, 20000);
		rg_journal_close(journal);
	}
	return strcmp(err.message, "'25' can only be read: Permission denied") ? 102 : 0;
}

/* Without a control file: up to the last newline, wherever that is. */
static void every_length_is_read_without_writing(void **state)
{
	struct fixture *fixture = *state;
	char name[16], *text;
	int i;

	if (geteuid() != 0)
		skip();
	for (i = 0; i < LENGTHS; i++) {
		snprintf(name, sizeof name, "%d", i);
		text = malloc((size_t)lengths[i].size + 1);
		memset(text, 'x', (size_t)lengths[i].size + 1);
		if (lengths[i].newline >= 0)
			text[lengths[i].newline] = '\n';
		folder_append(&fixture->folder, name, text, (size_t)lengths[i].size);
		assert_int_equal(fchmodat(fixture->folder.open, name, 0644, 0), 0);
		free(text);
	}
	assert_int_equal(fchmod(fixture->folder.open, 0755), 0);
	assert_int_equal(process_join(process_fork(read_every_length, fixture)), 0);
}

/* How much this process has read so far. */
static long long bytes_read(void)
{
	long long count = -1;
	FILE *io = fopen("/proc/self/io", "r");

	assert_non_null(io);
	assert_int_equal(fscanf(io, "rchar: %lld", &count), 1);
	fclose(io);
	return count;
}

/* The last lines are checked at every look: that costs what they are long, however long the rest
 * is. */
static void the_last_line_is_checked_without_the_others(void **state)
{
	static const int longer[] = { 10, 5000, 70000, 10 };
	struct rg_journal *journal = open_journal(*state);
	char *text = calloc(1, 100001);
	long long before;
	bool fits = false;
	size_t i;

	memset(text, 'x', 100000);
	for (i = 0; i < 100; i++)
		append_unsynced(journal, text);
	for (i = 0; i < sizeof longer / sizeof *longer; i++) {
		text[longer[i]] = 0;
		append_unsynced(journal, text);
		text[longer[i]] = 'x';
		before = bytes_read();
		assert_int_equal(rg_journal_check_end(journal, &fits, NULL), ROGER_OK);
		assert_true(fits);
		assert_true(bytes_read() - before < 2 << 20);
	}
	free(text);
	rg_journal_close(journal);
}

/* What is added covers the line before it, so that one is looked at first. */
static void a_changed_last_line_is_noticed_before_it_is_covered(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	struct roger_err err;
	int file;

	append(journal, "{\"id\":\"msg-1\"");
	append(journal, "{\"id\":\"msg-2\"");
	file = openat(fixture->folder.open, NAME, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(file, "3", 1, (off_t)rg_journal_end(journal) / 2 + 11), 1);
	close(file);
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), ROGER_EDATA);
	rg_journal_close(journal);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_stand_as_they_were_composed),
		TEST(what_is_not_written_is_not_there),
		TEST(handles_share_one_end),
		TEST(a_new_control_file_adopts_all),
		TEST(foreign_lines_are_adopted_once_and_in_order),
		TEST(a_torn_foreign_end_is_fenced_by_the_next_append),
		TEST(a_torn_line_of_ours_is_spoilt),
		TEST(no_room_is_made_while_adopting),
		TEST(long_adoptions_give_the_lock_back),
		TEST(a_line_that_slips_in_is_kept_beside_ours),
		TEST(half_a_line_that_slips_in_spoils_nothing_acknowledged),
		TEST(a_journal_that_became_shorter_takes_no_line),
		TEST(another_file_under_its_name_is_an_error),
		TEST(one_sync_serves_all_before_it),
		TEST(a_failed_sync_is_believed_by_nobody),
		TEST(a_dead_leader_holds_nobody_up),
		TEST(a_reader_syncs_what_a_dead_writer_left),
		TEST(many_writers_lose_nothing),
		TEST(who_waits_is_told_what_the_holder_does),
		TEST(locks_held_for_long_go_over_into_a_larger_file),
		TEST(who_waits_for_a_lock_follows_it),
		TEST(a_sync_follows_into_a_larger_file),
		TEST(who_may_only_read_reads_whole_lines),
		TEST(bytes_are_read_where_they_stand),
		TEST(nothing_counts_in_a_file_that_was_moved_away),
		TEST(every_lock_has_its_name),
		TEST(what_cannot_be_opened_is_an_error),
		TEST(who_asks_is_shown_the_larger_file),
		TEST(what_is_owed_is_given_back_later),
		TEST(what_holds_under_the_append_lock),
		TEST(a_very_long_torn_end_is_fenced),
		TEST(what_a_failed_sync_leaves_unsure),
		TEST(which_bytes_may_be_lost),
		TEST(nothing_new_needs_no_sync),
		TEST(a_line_without_memory_is_not_written),
		TEST(what_cannot_be_read_is_said),
		TEST(every_length_is_read_without_writing),
		TEST(the_last_line_is_checked_without_the_others),
		TEST(a_changed_last_line_is_noticed_before_it_is_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
