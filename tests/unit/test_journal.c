/*
 * What store/file/journal.h promises: lines come whole and in order, each with a
 * chain that fits; what another program wrote is adopted once and never
 * overwritten; a torn end is fenced off, one of ours as spoilt; a line that
 * slips in under our hands costs nobody theirs; nobody believes a sync that
 * failed, and no dead leader holds a sync up.
 */
#include "faulty.h"
#include "folder.h"
#include "harsh.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

#include "base/id.h"
#include "store/file/journal.h"
#include "store/chain.h"
#include "store/store.h"

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

	faulty_end();
	faulty_now_ns = faulty_yield_ns = faulty_look_ns = faulty_maps = 0;
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

	if (rg_journal_open(fixture->folder.open, NAME, "messages.control", adopt, NULL,
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
	const struct rg_bytes bytes = rg_bytes_of_file(file);
	struct roger_str body;
	struct rg_lines lines;
	struct rg_line line;
	struct rg_buf text;
	uint64_t stated;
	bool found, own;

	rg_buf_init(&text, SIZE_MAX);
	rg_lines_init(&lines, &bytes, 0, folder_size(&fixture->folder, NAME));
	while (rg_lines_next(&lines, &line, &found, NULL) == ROGER_OK && found) {
		assert_int_equal(rg_chain_step(&bytes, &line, &chain, &own, NULL), ROGER_OK);
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

/* However many lines of other programs are last: one look for a chain, one from the previous tail.
 */
static void many_foreign_lines_cost_a_check_no_more(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	bool fits = false;
	int i;

	for (i = 0; i < 3000; i++)
		foreign(*state,
			"a line of another program, which roger takes in and never wrote, and "
			"which carries no chain\n");
	assert_true(settled(journal) > 200000);
	faulty_count("read_at");
	assert_int_equal(rg_journal_check_end(journal, &fits, NULL), ROGER_OK);
	assert_in_range(faulty_counted(), 1, 2);
	faulty_end();
	assert_true(fits);
	rg_journal_close(journal);
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
	faulty_count("size");
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), ROGER_EDATA);
	assert_true(faulty_counted() <= 3);
	assert_non_null(strstr(err.message, "lines are missing"));
	assert_int_equal(rg_journal_settle(journal, &end, NULL), ROGER_OK);
	assert_int_equal(end, 0);
	rg_journal_close(journal);
	/* Once somebody has accepted that, it goes on with what is left. */
	journal = open_journal(*state);
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), ROGER_EDATA);
	rg_control_set_witness(rg_journal_control(journal), (struct rg_witness){ 0 });
	rg_control_page(rg_journal_control(journal))->shared.broken = RG_BROKEN_NOT;
	append(journal, "{\"a\":2");
	rg_journal_close(journal);
	expect_lines(*state, "{\"a\":|({\"a\":2)|");
}

static void expect_moved(int r, const struct roger_err *err)
{
	assert_int_equal(r, ROGER_EIO);
	assert_string_equal(err->message, "another file took the place of 'messages.jsonl'; open "
					  "the workspace again");
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

static struct rg_control_page *page_of(struct rg_journal *journal);

/* Does the control file say that a sync which should have covered this byte failed? */
static bool is_lost(struct rg_journal *journal, uint64_t offset)
{
	const struct rg_head head = { .lost_from = page_of(journal)->lost_from,
				      .lost_to = page_of(journal)->lost_to };

	return rg_head_lost(&head, offset);
}

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

/* A sync that is for several writes: one that failed between them is one that failed. */
static void a_failed_sync_between_gathered_lines_is_no_less_believed(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t end;

	append_unsynced(one, "{\"a\":1");
	atomic_fetch_add(&page_of(two)->failures, 1);
	rg_journal_gather(one, true);
	end = append_unsynced(one, "{\"a\":2");
	assert_int_equal(rg_journal_sync(one, end, NULL), ROGER_EIO);
	rg_journal_gather(one, false);
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
		const struct rg_bytes bytes = rg_bytes_of_file(rg_journal_file(journal));
		struct rg_chain chain = { 0 };
		struct rg_lines reader;
		struct rg_line line;
		bool found, own;

		rg_lines_init(&reader, &bytes, 0, settled(journal));
		while (rg_lines_next(&reader, &line, &found, NULL) == ROGER_OK && found) {
			assert_int_equal(rg_chain_step(&bytes, &line, &chain, &own, NULL),
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
	assert_non_null(strstr(err.message, ", which makes no progress; check it"));
	rg_journal_release(one, RG_LOCK_RECORDS);

	assert_int_equal(rg_journal_take(one, RG_LOCK_BRIDGE, 1000, NULL), ROGER_OK);
	assert_int_equal(rg_journal_take(two, RG_LOCK_BRIDGE, 50, &err), ROGER_ETIMEOUT);
	assert_non_null(strstr(err.message, "the bridge lock is held by process "));
	assert_non_null(strstr(err.message, ", which is taking in trigger files; stop it first"));
	rg_journal_release(one, RG_LOCK_BRIDGE);
	rg_journal_close(one);
	rg_journal_close(two);
}

static void locks_held_for_long_go_over_into_a_larger_file(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	enum rg_store_lock which;

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
	enum rg_store_lock which;
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
	if (rg_journal_open(fixture->folder.open, NAME, "messages.control", adopt, NULL,
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
	assert_false(is_lost(journal, start));
	expect_lines(fixture, "({\"a\":1)|({\"a\":2)|({\"a\":3)|({\"a\":4)|");
	rg_journal_close(journal);
	rg_journal_close(other);
}

/* Each of the long locks has its own name. */
static void every_lock_has_its_name(void **state)
{
	static const char *const names[] = { "the message lock", "the index lock",
					     "the lock of message-state.json", "the log lock",
					     "the bridge lock" };
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	struct roger_err err;
	char start[100];
	int which, other;

	for (which = RG_LOCK_CHANGE; which <= RG_LOCK_BRIDGE; which++) {
		assert_int_equal(rg_journal_take(one, (enum rg_store_lock)which, 1000, NULL),
				 ROGER_OK);
		for (other = RG_LOCK_CHANGE; other <= RG_LOCK_BRIDGE; other++) {
			assert_int_equal(rg_journal_holds(one, (enum rg_store_lock)other),
					 other == which);
			assert_int_equal(rg_journal_try(two, (enum rg_store_lock)other),
					 other != which);
			assert_int_equal(rg_journal_holds(two, (enum rg_store_lock)other),
					 other != which);
			if (other != which)
				rg_journal_release(two, (enum rg_store_lock)other);
			assert_false(rg_journal_holds(two, (enum rg_store_lock)other));
		}
		assert_int_equal(rg_journal_take(two, (enum rg_store_lock)which, 0, &err),
				 ROGER_ETIMEOUT);
		snprintf(start, sizeof start, "%s is held by process %d, which ", names[which],
			 (int)getpid());
		assert_memory_equal(err.message, start, strlen(start));
		rg_journal_release(one, (enum rg_store_lock)which);
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
	int before = lowest_free_file();

	assert_null(rg_journal_close(NULL));
	assert_int_equal(mkdirat(fixture->folder.open, "folder", 0700), 0);
	assert_true(rg_journal_open(fixture->folder.open, NAME, "folder", adopt, NULL,
				    &fixture->adopted, &journal, &err) < 0);
	assert_non_null(strstr(err.message, "folder"));
	assert_null(journal);
	memset(&err, 0, sizeof err);
	assert_true(rg_journal_open(fixture->folder.open, "folder", "messages.control", adopt, NULL,
				    &fixture->adopted, &journal, &err) < 0);
	assert_non_null(strstr(err.message, "folder"));
	assert_true(rg_journal_open(fixture->folder.open, "folder", "messages.control", adopt, NULL,
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
static void give_back_without_files(struct rg_journal *journal, enum rg_store_lock which)
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
	assert_false(is_lost(one, sure - 1));
	assert_true(is_lost(one, sure));
	assert_true(is_lost(two, failed - 1));
	assert_false(is_lost(one, failed));

	append(two, "{\"a\":4");
	later = rg_journal_end(two);
	assert_true(is_lost(one, sure));
	assert_false(is_lost(one, later - 1));
	/* What goes wrong next adds to it. */
	again = fail_to_sync(two, "{\"a\":5");
	assert_true(is_lost(one, sure));
	assert_true(is_lost(one, again - 1));
	assert_false(is_lost(one, again));
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

	assert_false(is_lost(journal, 0));
	atomic_store(&page->lost_from, 10);
	atomic_store(&page->lost_to, 20);
	for (offset = 0; offset < 30; offset++)
		assert_int_equal(is_lost(journal, offset), offset >= 10 && offset < 20);
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
	faulty_count("lock");
	assert_int_equal(settled(journal), rg_journal_end(journal));
	assert_int_equal(faulty_counted(), 0);
	/* Who appends looks at the last line, and so that it is the last. */
	faulty_count("read_at");
	lock(journal);
	assert_int_equal(faulty_counted(), 1);
	rg_journal_unlock(journal);
	faulty_count("size");
	lock(journal);
	assert_int_equal(faulty_counted(), 0);
	rg_journal_unlock(journal);
	assert_int_equal(rg_journal_wake_count(journal), wake);
	assert_int_equal(rg_journal_check_name(journal, NULL), ROGER_OK);
	/* A byte behind it is seen. */
	foreign(*state, "x");
	faulty_count("size");
	lock(journal);
	assert_in_range(faulty_counted(), 1, 2);
	rg_journal_unlock(journal);
	expect_lines(*state, "({\"a\":1)|x|");
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
		if (rg_journal_open(fixture->folder.open, name, "messages.control", adopt, NULL,
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
		rg_journal_close(journal);
	}
	return strcmp(err.message, "'25' cannot be written: Permission denied") ? 102 : 0;
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

/* ------------------------------------------------------------- opening -- */

static const struct fixture *scarce_fixture;

static int open_without_memory(struct rg_arena *arena, struct roger_err *err)
{
	struct rg_journal *journal = NULL;
	int r;

	(void)arena;
	(void)!unlinkat(scarce_fixture->folder.open, "messages.control", 0);
	r = rg_journal_open(scarce_fixture->folder.open, NAME, "messages.control", adopt, NULL,
			    NULL, &journal, err);
	assert_true((journal != NULL) == (r == ROGER_OK));
	rg_journal_close(journal);
	return r;
}

static void opening_without_memory_is_an_error(void **state)
{
	scarce_fixture = *state;
	scarce_everywhere(open_without_memory);
	assert_int_equal(faulty_maps, 0);
}

/* What one call of those that open a journal does to it, when it fails in such a way. */
enum opened { WRITABLE, READ_ONLY, FOR_READING, REFUSED };
static const struct opening {
	const char *call;
	int error;
	enum opened opened;
} openings[] = {
	{ "tell", EIO, WRITABLE },
	{ "open", ENOSPC, FOR_READING },
	{ "open", EROFS, FOR_READING },
	{ "open", EIO, FOR_READING },
	{ "sync_folder", EIO, REFUSED },
	{ "sync_folder", EROFS, FOR_READING },
	{ "open_facts", EROFS, FOR_READING },
	{ "open_facts", EACCES, FOR_READING },
	{ "open_facts", EPERM, FOR_READING },
	{ "open_facts", EIO, REFUSED },
	{ "open_facts", 0, REFUSED },
	{ "replace", EACCES, FOR_READING },
	{ "replace", ENOSPC, READ_ONLY },
	{ "replace", EDQUOT, READ_ONLY },
	{ "lock", ENOSPC, READ_ONLY },
	{ "map", EIO, REFUSED },
};

/* Its lines can be read; a writer gets an error that names the file and the reason. */
static void expect_read_only(struct rg_journal *journal, const struct opening *opening)
{
	const bool made = strcmp(opening->call, "open") && strcmp(opening->call, "sync_folder");
	char expected[200];
	struct roger_err err;

	snprintf(expected, sizeof expected, "'%s' cannot be written: %s",
		 made ? "messages.control" : NAME, strerror(opening->error));
	if (opening->opened == READ_ONLY)
		snprintf(expected, sizeof expected, "faulty: %s", strerror(opening->error));
	faulty_begin(opening->call, 0, opening->opened == READ_ONLY ? 3 : 0, opening->error);
	assert_false(rg_journal_writable(journal));
	assert_int_equal(fcntl(rg_journal_file(journal), F_GETFL) & O_ACCMODE,
			 opening->opened == READ_ONLY ? O_RDWR : O_RDONLY);
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), ROGER_EIO);
	assert_string_equal(err.message, expected);
	assert_int_equal(rg_journal_take(journal, RG_LOCK_STATE, 0, &err), ROGER_EIO);
	assert_string_equal(err.message, expected);
	assert_false(rg_journal_try(journal, RG_LOCK_STATE));
	assert_int_equal(settled(journal), 0);
	/* Once there is space, it is written again. */
	assert_int_equal(rg_journal_lock(journal, 0, 0, NULL),
			 opening->opened == READ_ONLY ? ROGER_OK : ROGER_EIO);
	if (rg_journal_writable(journal))
		rg_journal_unlock(journal);
}

/* A reader does without what it may not write, or what the disk has no room for. */
static void what_cannot_be_written_is_read(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal;
	struct roger_err err;
	int before = lowest_free_file(), r;
	size_t i;

	for (i = 0; i < sizeof openings / sizeof *openings; i++) {
		(void)!unlinkat(fixture->folder.open, NAME, 0);
		(void)!unlinkat(fixture->folder.open, "messages.control", 0);
		if (strcmp(openings[i].call, "open") == 0)
			foreign(fixture, "");
		faulty_begin(openings[i].call, 0, 1, openings[i].error);
		memset(&err, 'x', sizeof err);
		journal = NULL;
		r = rg_journal_open(fixture->folder.open, NAME, "messages.control", adopt, NULL,
				    &fixture->adopted, &journal, &err);
		assert_int_equal(faulty.hit, openings[i].opened != WRITABLE);
		assert_int_equal(r, openings[i].opened == REFUSED ? ROGER_EIO : ROGER_OK);
		if (r < 0)
			assert_memory_equal(err.message, "faulty", 6);
		else
			assert_int_equal(err.message[0], 'x');
		assert_int_equal(faulty_maps, openings[i].opened == WRITABLE);
		if (openings[i].opened == WRITABLE)
			assert_true(rg_journal_writable(journal));
		else if (r == ROGER_OK)
			expect_read_only(journal, &openings[i]);
		rg_journal_close(journal);
		assert_int_equal(lowest_free_file(), before);
	}
	/* Nobody has to ask why. */
	faulty_begin("map", 0, 1, EIO);
	assert_int_equal(rg_journal_open(fixture->folder.open, NAME, "messages.control", adopt,
					 NULL, NULL, &journal, NULL),
			 ROGER_EIO);
}

/* Its name is made durable when it is made, and not again. */
static void a_new_name_is_synced_once(void **state)
{
	int i;

	for (i = 0; i < 2; i++) {
		faulty_count("sync_folder");
		rg_journal_close(open_journal(*state));
		assert_int_equal(faulty_counted(), i == 0);
	}
}

/* Closing opens nothing, and leaves nothing mapped. */
static void closing_is_only_that(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	append(journal, "{\"a\":1");
	assert_int_equal(faulty_maps, 1);
	faulty_count("open_facts");
	rg_journal_close(journal);
	assert_int_equal(faulty_counted(), 0);
	assert_int_equal(faulty_maps, 0);
}

/* ----------------------------------------------- another control file -- */

enum { MS = 1000000 };

/* The same bytes in another file, which then has its name. */
static void replace_control(void *context)
{
	const struct fixture *fixture = context;
	size_t size = folder_size(&fixture->folder, "messages.control");
	char *all = folder_read(&fixture->folder, "messages.control");

	folder_append(&fixture->folder, "other", all, size);
	free(all);
	assert_int_equal(
		renameat(fixture->folder.open, "other", fixture->folder.open, "messages.control"),
		0);
}

/* It is looked for every 100 ms, and then nobody goes on with the old one. */
static void another_control_file_is_looked_for(void **state)
{
	struct rg_journal *journal, *other;
	struct rg_control *control;
	struct rg_control_page *old;

	faulty_now_ns = INT64_C(5000) * MS;
	journal = open_journal(*state);
	other = open_journal(*state);
	faulty_count("look");
	control = rg_journal_control(journal);
	assert_int_equal(faulty_counted(), 0);
	old = rg_control_page(rg_journal_control(other));
	replace_control(*state);
	faulty_now_ns += 100 * MS - 1;
	assert_ptr_equal(rg_journal_control(journal), control);
	assert_false(in_place(control));
	assert_false(rg_control_retired(old));
	faulty_now_ns++;
	control = rg_journal_control(journal);
	assert_true(in_place(control));
	assert_true(rg_control_retired(old));
	assert_int_equal(faulty_maps, 2);

	/* The next look is after that time, too. */
	faulty_count("look");
	faulty_now_ns += 100 * MS - 1;
	assert_ptr_equal(rg_journal_control(journal), control);
	assert_int_equal(faulty_counted(), 0);
	faulty_now_ns++;
	assert_ptr_equal(rg_journal_control(journal), control);
	assert_ptr_equal(rg_journal_control(journal), control);
	assert_int_equal(faulty_counted(), 1);
	faulty_now_ns = 0;
	rg_journal_close(journal);
	rg_journal_close(other);
}

/* Who appends goes on with what it has. */
static void nothing_is_followed_while_appending(void **state)
{
	struct rg_journal *journal;
	struct rg_control *control;

	faulty_now_ns = INT64_C(5000) * MS;
	journal = open_journal(*state);
	lock(journal);
	control = rg_journal_control(journal);
	replace_control(*state);
	faulty_now_ns += 200 * MS;
	assert_ptr_equal(rg_journal_control(journal), control);
	rg_control_page(control)->found++;
	assert_ptr_equal(rg_journal_control(journal), control);
	assert_false(rg_control_retired(rg_control_page(control)));
	rg_journal_unlock(journal);
	assert_true(in_place(rg_journal_control(journal)));
	rg_journal_close(journal);
}

/* Whoever needs the new one is told that it cannot be had; who only looks has the old one. */
static void one_that_cannot_be_followed_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	struct rg_control *control = rg_journal_control(journal);
	struct roger_err err;
	uint64_t end = append_unsynced(journal, "{\"a\":1"), unused;

	rg_control_retire(control);
	faulty_begin("open_facts", 0, 100, EIO);
	assert_ptr_equal(rg_journal_control(journal), control);
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), ROGER_EIO);
	assert_string_equal(err.message, "faulty: Input/output error");
	assert_int_equal(rg_journal_take(journal, RG_LOCK_STATE, 0, NULL), ROGER_EIO);
	assert_int_equal(rg_journal_settle(journal, &unused, NULL), ROGER_EIO);
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_EIO);
	faulty_end();
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
	assert_int_equal(settled(journal), end);
	/* Also where nothing seems to be new. */
	rg_control_retire(rg_journal_control(journal));
	faulty_begin("open_facts", 0, 100, EIO);
	assert_int_equal(rg_journal_settle(journal, &unused, NULL), ROGER_EIO);
	rg_journal_close(journal);
	assert_int_equal(faulty_maps, 0);
}

static void grow_beside(void *context)
{
	struct rg_journal *journal = context;

	grow_more(journal);
}

/* The file in which it was given back may be replaced at that moment: then it is owed still. */
static void what_is_owed_is_owed_until_it_is_given_back(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);

	assert_int_equal(rg_journal_take(one, RG_LOCK_CHANGE, 1000, NULL), ROGER_OK);
	grow_more(two);
	give_back_without_files(one, RG_LOCK_CHANGE);
	faulty_meanwhile("unmap", 0, grow_beside, two);
	assert_non_null(rg_journal_control(one));
	assert_true(faulty.hit);
	assert_false(rg_journal_try(two, RG_LOCK_CHANGE));
	assert_non_null(rg_journal_control(one));
	assert_true(rg_journal_try(two, RG_LOCK_CHANGE));
	rg_journal_release(two, RG_LOCK_CHANGE);
	faulty_count("open_facts");
	rg_journal_close(one);
	assert_int_equal(faulty_counted(), 0);
	rg_journal_close(two);
}

/* ------------------------------------------------------ what it must be -- */

/* Write over what stands there, of the same length. */
static void alter(const struct fixture *fixture, uint64_t at, const char *text)
{
	int file = openat(fixture->folder.open, NAME, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(file, text, strlen(text), (off_t)at), strlen(text));
	close(file);
}

static bool end_fits(struct rg_journal *journal)
{
	struct roger_err err;
	bool fits;

	if (rg_journal_check_end(journal, &fits, &err) < 0)
		fail_msg("%s", err.message);
	return fits;
}

static void append_long(struct rg_journal *journal, size_t length)
{
	char *body = malloc(length + 1);

	memset(body, 'x', length);
	body[length] = '\0';
	append(journal, body);
	free(body);
}

enum { CHAIN_AND_NEWLINE = RG_CHAIN_BYTES + 1 };

/* A journal of its own for each row of a table. */
static void forget_all(const struct fixture *fixture)
{
	(void)!unlinkat(fixture->folder.open, NAME, 0);
	(void)!unlinkat(fixture->folder.open, "messages.control", 0);
}

/* From the last line but one that ends within the last 4096 bytes; the last one is looked at. */
static void the_last_line_fits_its_chain(void **state)
{
	static const struct {
		size_t first, before, last; /* with their newlines */
		long reads;
	} table[] = {
		{ 100, 100, 100, 2 },	  { 0, 30, 100, 2 },	    { 0, 30, 4066, 2 },
		{ 0, 30, 4067, 2 },	  { 600000, 100, 4066, 2 }, { 600000, 100, 4067, 4 },
		{ 600000, 100, 5000, 4 }, { 600000, 9000, 100, 2 }, { 600000, 100, 9000, 4 },
		{ 600000, 30, 4066, 2 },
	};
	struct fixture *fixture = *state;
	struct rg_journal *journal;
	struct rg_witness witness;
	uint64_t end;
	size_t i;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		journal = open_journal(fixture);
		assert_true(end_fits(journal));
		if (table[i].first)
			append_long(journal, table[i].first - CHAIN_AND_NEWLINE);
		append_long(journal, table[i].before - CHAIN_AND_NEWLINE);
		append_long(journal, table[i].last - CHAIN_AND_NEWLINE);
		end = rg_journal_end(journal);
		assert_int_equal(end, table[i].first + table[i].before + table[i].last);
		faulty_count("read_at");
		assert_true(end_fits(journal));
		assert_in_range(faulty_counted(), 1, table[i].reads);
		assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_NOT);
		alter(fixture, end - table[i].last, "y");
		assert_false(end_fits(journal));
		assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_DIFFERS);
		witness = rg_control_witness(rg_journal_control(journal));
		assert_int_equal(witness.end, end);
		assert_true(witness.chained && witness.chain != 0);
		rg_journal_close(journal);
		forget_all(fixture);
	}
}

/* What was found out before stays as it is. */
static void what_was_noted_is_not_suspected_again(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	append(journal, "{\"a\":1");
	page_of(journal)->shared.broken = RG_BROKEN_LINE;
	alter(*state, 2, "x");
	assert_false(end_fits(journal));
	assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_LINE);
	assert_int_equal(rg_control_witness(rg_journal_control(journal)).end, 0);
	rg_journal_close(journal);
}

static void damage_tail(void *context)
{
	struct rg_control_page *page = page_of(context);

	page->tails[page->tail_in_force].sum ^= 2;
}

/* A line that another program copied states a chain that did not go on: all lines are looked at. */
static void put_a_copy_between(struct fixture *fixture, struct rg_journal *journal)
{
	uint64_t before = rg_journal_end(journal);
	char *text;

	append(journal, "{\"a\":1");
	text = folder_read(&fixture->folder, NAME);
	foreign(fixture, text + before);
	free(text);
	append(journal, "{\"a\":2");
}

static void a_copied_line_is_no_reason_to_doubt(void **state)
{
	struct rg_journal *journal = open_journal(*state), *other;

	put_a_copy_between(*state, journal);
	assert_true(end_fits(journal));
	/* Without a tail before this one, the chain that a line states is all there is. */
	rg_control_hold(rg_journal_control(journal), true);
	rg_control_set_epoch(rg_journal_control(journal), 1);
	rg_control_hold(rg_journal_control(journal), false);
	assert_true(end_fits(journal));
	assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_NOT);
	alter(*state, 2, "x");
	/* The last line is as this handle wrote it; another one has only the chain. */
	assert_true(end_fits(journal));
	other = open_journal(*state);
	assert_false(end_fits(other));
	rg_journal_close(other);
	rg_journal_close(journal);
}

/* The first of a group looks for all of it; whoever appends behind it does not, unless it is long
 * ago. */
static void the_last_line_is_checked_once_a_group(void **state)
{
	struct rg_journal *journal = open_journal(*state), *other = open_journal(*state);
	uint64_t end;

	append(journal, "{\"a\":1");
	append_unsynced(other, "{\"a\":2");
	end = rg_journal_end(journal);
	alter(*state, end - 12, "x");
	append_unsynced(other, "{\"a\":3");
	assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_NOT);
	assert_int_equal(rg_journal_sync(other, rg_journal_end(other), NULL), ROGER_OK);
	end = rg_journal_end(journal);
	alter(*state, end - 12, "x");
	assert_int_equal(rg_journal_lock(journal, 0, 0, NULL), ROGER_EDATA);
	assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_DIFFERS);
	rg_journal_close(journal);
	rg_journal_close(other);
}

static void what_cannot_be_looked_at_is_no_damage(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct roger_err err;
	long left = -1;
	bool fits;
	int r, i;

	/* More than is read at once. */
	for (i = 0; i < 300; i++)
		append_long(journal, 1000);
	put_a_copy_between(*state, journal);
	do {
		faulty_begin("read_at", ++left, 1, EIO);
		r = rg_journal_check_end(journal, &fits, &err);
		assert_int_equal(r, faulty.hit ? ROGER_EIO : ROGER_OK);
		assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_NOT);
	} while (faulty.hit);
	/* Nothing is known of it. */
	damage_tail(journal);
	assert_true(end_fits(journal));
	assert_true(left >= 1);
	rg_journal_close(journal);
}

/* ------------------------------------------------------------- witnesses -- */

static struct rg_witness witnessed;

static void bear_witness(void *context, struct rg_witness *ret_witness)
{
	(void)context;
	*ret_witness = witnessed;
}

static struct rg_journal *open_with_witness(struct fixture *fixture)
{
	struct rg_journal *journal = NULL;

	assert_int_equal(rg_journal_open(fixture->folder.open, NAME, "messages.control", adopt,
					 bear_witness, &fixture->adopted, &journal, NULL),
			 ROGER_OK);
	return journal;
}

static const char missing[] = "'messages.jsonl' is not the journal that roger wrote: lines are "
			      "missing, or it is another file; nothing is appended until a person "
			      "checks it (`roger status`) and runs `roger dismiss messages.jsonl "
			      "--reason TEXT`";

/* Lines are taken in all the same; nothing is added. */
static void expect_broken(struct rg_journal *journal, uint32_t broken)
{
	struct roger_err err;
	bool closed = broken != RG_BROKEN_NOT && broken != RG_BROKEN_LINE;

	(void)settled(journal);
	assert_int_equal(page_of(journal)->shared.broken, broken);
	assert_int_equal(rg_journal_lock(journal, 0, 0, &err), closed ? ROGER_EDATA : ROGER_OK);
	assert_int_equal(page_of(journal)->shared.broken, broken);
	if (closed)
		assert_string_equal(err.message, missing);
	else
		rg_journal_unlock(journal);
}

static void lines_are_compared_with_their_witness(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	struct rg_tail tails[3];
	size_t i;

	for (i = 0; i < 3; i++) {
		append(journal, "{\"a\":1");
		assert_true(rg_control_tail(rg_journal_control(journal), &tails[i]));
	}
	rg_journal_close(journal);

	const struct {
		struct rg_witness witness;
		uint32_t before, after;
	} table[] = {
		{ { 0, 0, false }, RG_BROKEN_NOT, RG_BROKEN_NOT },
		{ { tails[0].appended, tails[0].chain, true }, RG_BROKEN_NOT, RG_BROKEN_NOT },
		{ { tails[1].appended, tails[1].chain, true }, RG_BROKEN_NOT, RG_BROKEN_NOT },
		{ { tails[1].appended, 1, true }, RG_BROKEN_NOT, RG_BROKEN_DIFFERS },
		{ { tails[1].appended, 1, true }, RG_BROKEN_LINE, RG_BROKEN_LINE },
		{ { tails[1].appended, 1, false }, RG_BROKEN_NOT, RG_BROKEN_NOT },
		{ { tails[1].appended - 1, 0, false }, RG_BROKEN_NOT, RG_BROKEN_DIFFERS },
		{ { tails[1].appended + 1, 0, false }, RG_BROKEN_NOT, RG_BROKEN_DIFFERS },
		{ { 1, 0, false }, RG_BROKEN_NOT, RG_BROKEN_DIFFERS },
		{ { tails[2].appended, tails[2].chain, true }, RG_BROKEN_NOT, RG_BROKEN_NOT },
		{ { tails[2].appended, 1, true }, RG_BROKEN_CLOSED, RG_BROKEN_CLOSED },
		{ { tails[2].appended + 1, 0, false }, RG_BROKEN_NOT, RG_BROKEN_SHORTER },
		{ { tails[2].appended + 1, 0, false }, RG_BROKEN_LINE, RG_BROKEN_LINE },
	};
	for (i = 0; i < sizeof table / sizeof *table; i++) {
		forget_control(fixture);
		witnessed = table[i].witness;
		journal = open_with_witness(fixture);
		page_of(journal)->shared.broken = table[i].before;
		expect_broken(journal, table[i].after);
		assert_int_equal(atomic_load(&page_of(journal)->adoptions), 3);
		rg_journal_close(journal);
	}
}

/* ------------------------------------------------------ what looks like ours -- */

#define CHAIN_MEMBER ",\"chain\":\"0123456789abcdef\"}"

static const struct {
	const char *text;
	bool own, torn;
} looks[] = {
	{ "", false, false },
	{ "{\"a\":1" CHAIN_MEMBER, true, false },
	{ "{" CHAIN_MEMBER, true, false },
	{ CHAIN_MEMBER, false, false },
	{ "{\"a\":1,\"chain\":x0123456789abcdef\"}", false, false },
	{ "{\"a\":1,\"chain\":\"0123456789abcdef\"x", true, false },
	{ "{\"a\":1,\"chain\":\"0123456789abc torn", false, true },
	{ "{\"a\":1" CHAIN_MEMBER " torn", false, true },
	{ "{\"id\":\"msg-1,\"chain\":\"0123456789abcde\"}", true, false },
	{ "{\"id\":\"msg-1,\"chain\":\"0123456789abcdef0\"}", true, false },
	{ "{\"id\":\"msg-1,\"chain\":\"0123456789abcde\"x", false, false },
	{ "{\"id\":\"msg-1,\"chain\":\"0123456789abcde}}", false, false },
	{ "{\"id\":\"msg-1,\"chain\":\"0123456789abcde}\"", false, false },
	{ "{\"id\":\"msgX1,\"chain\":\"0123456789abcde\"}", false, false },
	{ "{\"a\":1,\"chain\":\"0123456789abcde\"}", false, false },
	{ "torn", false, false },
	{ " torn", false, true },
	{ "xtorn", false, false },
	{ "x torm", false, false },
	{ "x torn", false, true },
};

static void lines_of_ours_are_told_by_their_ends(void **state)
{
	struct roger_str line;
	size_t i;
	char *text;

	(void)state;
	for (i = 0; i < sizeof looks / sizeof *looks; i++) {
		/* Without anything behind it. */
		line = rg_str(looks[i].text);
		text = malloc(line.length + 1);
		memset(text, 'n', line.length + 1);
		memcpy(text, line.data, line.length);
		line.data = text;
		if (rg_line_looks_own(line) != looks[i].own ||
		    rg_line_is_torn(line) != looks[i].torn)
			fail_msg("%s", looks[i].text);
		free(text);
	}
}

/* What its writer may have meant to be a whole line stays one. */
static void rests_of_ours_are_spoilt(void **state)
{
	static const struct {
		const char *rest;
		bool own;
	} table[] = {
		{ "{\"id\":\"msg", false },
		{ "{\"id\":\"msg-", true },
		{ "{\"id\":\"msg-1\",\"x\":1", true },
		{ "{\"id\":\"msg-1\",\"x\":1}", false },
		{ "{\"id\":\"msg-1\"" CHAIN_MEMBER, false },
		{ "{\"x\":1", false },
		{ "{\"x\":1" CHAIN_MEMBER, false },
		{ "{\"x\"" CHAIN_MEMBER, true },
	};
	struct fixture *fixture = *state;
	struct rg_journal *journal;
	char expected[200];
	size_t i;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		journal = open_journal(fixture);
		append(journal, "{\"a\":1");
		foreign(fixture, table[i].rest);
		append(journal, "{\"a\":2");
		snprintf(expected, sizeof expected, "({\"a\":1)|%s%s|({\"a\":2)|", table[i].rest,
			 table[i].own ? " torn" : "");
		expect_lines(fixture, expected);
		rg_journal_close(journal);
		forget_all(fixture);
	}
}

/* A line of ours is no longer than the longest. */
static void a_rest_of_ours_is_no_longer_than_a_line(void **state)
{
	static char rest[RG_LINE_BYTES_MAX + 1];
	struct fixture *fixture = *state;
	struct rg_journal *journal;
	uint64_t before;
	int more;

	memset(rest, 'x', sizeof rest);
	memcpy(rest, "{\"id\":\"msg-", 11);
	for (more = 0; more < 2; more++) {
		journal = open_journal(fixture);
		append(journal, "{\"a\":1");
		before = rg_journal_end(journal);
		folder_append(&fixture->folder, NAME, rest, (size_t)(RG_LINE_BYTES_MAX + more));
		lock(journal);
		rg_journal_unlock(journal);
		assert_int_equal(rg_journal_end(journal) - before,
				 more ? RG_LINE_BYTES_MAX + 1 + 1
				      : RG_LINE_BYTES_MAX + (int)strlen(" torn\n"));
		rg_journal_close(journal);
		forget_all(fixture);
	}
}

/* Somebody goes on with the unfinished line, just before it is closed off. */
static void finish_the_line(void *context)
{
	foreign(context, "n2\n");
}

static void a_line_that_is_finished_meanwhile_is_kept(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	foreign(*state, "tor");
	faulty_meanwhile("write", 0, finish_the_line, *state);
	append(journal, "{\"a\":1");
	assert_true(faulty.hit);
	expect_lines(*state, "torn2||({\"a\":1)|");
	expect_adopted(*state, "torn2||");
	rg_journal_close(journal);
}

/* ------------------------------------------------------------ adopting -- */

/* So many agents and counts are in use; one line is refused once.  Does it grow? */
static void room_for_one_line_is_made(void **state)
{
	static const struct {
		uint32_t agents, counts, agent_capacity, count_capacity;
	} table[] = {
		{ 22, 381, 32, 512 },
		{ 23, 381, 64, 512 },
		{ 22, 382, 32, 1024 },
	};
	struct fixture *fixture = *state;
	struct rg_journal *journal;
	struct rg_control *control;
	char name[16];
	uint32_t i, k;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		journal = open_journal(fixture);
		control = rg_journal_control(journal);
		rg_control_hold(control, true);
		for (k = 0; k < table[i].agents; k++) {
			snprintf(name, sizeof name, "a%u", k);
			rg_control_put_agent(control, rg_str(name), &(struct rg_agent){ .seq = 1 });
		}
		for (k = 1; k <= table[i].counts; k++)
			rg_control_put_count(control, k, 1);
		rg_control_hold(control, false);
		foreign(fixture, "f1\n");
		fixture->adopted.refusals = 1;
		assert_int_equal(settled(journal), 3);
		assert_int_equal(fixture->adopted.refusals, 0);
		assert_int_equal(page_of(journal)->agent_capacity, table[i].agent_capacity);
		assert_int_equal(page_of(journal)->count_capacity, table[i].count_capacity);
		rg_journal_close(journal);
		forget_all(fixture);
	}
}

/* Of what nobody had published only that counts which roger wrote; looking at a rest changes
 * nothing. */
static void adoptions_are_counted(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t appends;

	append(journal, "{\"a\":1");
	append(journal, "{\"a\":2");
	foreign(*state, "foreign\n");
	rg_journal_close(journal);
	forget_control(*state);
	journal = open_journal(*state);
	(void)settled(journal);
	assert_int_equal(atomic_load(&page_of(journal)->adoptions), 2);
	foreign(*state, "rest");
	appends = page_of(journal)->appends;
	(void)settled(journal);
	assert_int_equal(page_of(journal)->appends, appends);
	rg_journal_close(journal);
}

/* Four million bytes at a time. */
static void the_lock_is_given_back_between_pieces(void **state)
{
	enum { LINE = 1 << 20, NEWLINE = LINE - 1 };
	struct rg_journal *journal = open_journal(*state);
	char *line = malloc(LINE + 1);
	int i;

	memset(line, 'x', LINE);
	line[NEWLINE] = '\n';
	line[LINE] = '\0';
	for (i = 0; i < 9; i++)
		foreign(*state, line);
	free(line);
	rg_journal_close(journal);
	for (i = 0; i < 2; i++) {
		forget_control(*state);
		journal = open_journal(*state);
		faulty_count(i ? "replace" : "lock");
		lock(journal);
		assert_int_equal(faulty_counted(), i ? 0 : 3);
		rg_journal_unlock(journal);
		rg_journal_close(journal);
	}
}

/* --------------------------------------------------- under the append lock -- */

/* Is there a line with this end before one that begins so? */
static bool has_end(struct fixture *fixture, const char *end, const char *start)
{
	char *text = folder_read(&fixture->folder, NAME), both[100];
	bool has;

	snprintf(both, sizeof both, "%s\n%s", end, start);
	has = strstr(text, both) != NULL;
	free(text);
	return has;
}

static bool system_lock_is_free(const struct fixture *fixture)
{
	int file = openat(fixture->folder.open, NAME, O_RDWR | O_CLOEXEC);
	bool is_free = flock(file, LOCK_EX | LOCK_NB) == 0;

	close(file);
	return is_free;
}

/* The one in the control file, and the system's; both are given back. */
static void both_locks_are_held(void **state)
{
	struct rg_journal *journal = open_journal(*state), *other = open_journal(*state);
	struct rg_agent_slot *agents = (struct rg_agent_slot *)(page_of(journal) + 1);
	struct rg_agent agent;

	lock(journal);
	assert_false(system_lock_is_free(*state));
	assert_true(rg_lock_held(&page_of(journal)->append_lock, rg_lock_owner()));
	rg_journal_unlock(journal);
	assert_true(system_lock_is_free(*state));
	assert_false(rg_lock_held(&page_of(journal)->append_lock, rg_lock_owner()));
	/* Where the system refuses it. */
	faulty_begin("lock", 0, 1, EIO);
	assert_int_equal(rg_journal_lock(journal, 0, 0, NULL), ROGER_EIO);
	assert_true(rg_journal_lock_soon(other, 0));
	rg_journal_unlock(other);
	/* Only under it does what contradicts itself mean damage. */
	agents[0].sum ^= 4;
	agents[rg_hash(0, "a", 1) & 31].sum ^= 4;
	(void)rg_control_find_agent(rg_journal_control(journal), RG_STR("a"), &agent);
	assert_true(rg_control_sound(rg_journal_control(journal)));
	lock(journal);
	(void)rg_control_find_agent(rg_journal_control(journal), RG_STR("a"), &agent);
	assert_false(rg_control_sound(rg_journal_control(journal)));
	rg_journal_unlock(journal);
	rg_journal_close(journal);
	rg_journal_close(other);
}

static const char all_the_time[] = "another program keeps changing 'messages.control'; stop it, "
				   "then try again";

static void retire_it(void *context)
{
	struct rg_journal *journal = context;

	page_of(journal)->retired = 1;
}

/* Somebody retires it just before both locks are held. */
static void what_is_retired_meanwhile_is_left(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	faulty_meanwhile("lock", 0, retire_it, journal);
	lock(journal);
	assert_true(faulty.hit);
	assert_true(rg_control_sound(rg_journal_control(journal)));
	rg_journal_unlock(journal);
	rg_journal_close(journal);
}

/* Who waits for the append lock of a file that was replaced goes over to the other one. */
static void who_waits_to_append_follows(void **state)
{
	struct rg_control_page *page;
	struct rg_journal *journal;

	faulty_now_ns = faulty_look_ns = MS;
	journal = open_journal(*state);
	page = page_of(journal);
	replace_control(*state);
	assert_true(rg_lock_try(&page->append_lock, rg_lock_owner(), false));
	lock(journal);
	assert_true(in_place(rg_journal_control(journal)));
	rg_journal_unlock(journal);
	rg_journal_close(journal);
}

struct beside {
	const struct fixture *fixture;
	struct rg_journal *other;
};

static void take_all_in(void *context)
{
	const struct beside *beside = context;

	(void)settled(beside->other);
	alter(beside->fixture, rg_journal_end(beside->other) - 1, "x");
}

/* Another took in what there was, and somebody wrote over its end: who only reads leaves it. */
static void who_reads_and_finds_nothing_left_writes_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct beside beside = { fixture, open_journal(fixture) };
	struct rg_journal *journal;
	size_t size;

	faulty_now_ns = faulty_look_ns = 200 * MS;
	journal = open_journal(fixture);
	append(journal, "{\"a\":1");
	foreign(fixture, "foreign\n");
	size = folder_size(&fixture->folder, NAME);
	faulty_meanwhile("look", 1, take_all_in, &beside);
	assert_int_equal(settled(journal), size);
	assert_true(faulty.hit);
	assert_int_equal(folder_size(&fixture->folder, NAME), size);
	assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_NOT);
	rg_journal_close(journal);
	rg_journal_close(beside.other);
}

/* What another file has taken the name of is not read any more, and nothing of it is taken in. */
static void what_was_moved_away_is_not_read(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	struct roger_err err;
	uint64_t end;
	int file;

	append(journal, "{\"a\":1");
	page_of(journal)->failures = 1;
	file = openat(fixture->folder.open, NAME, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(unlinkat(fixture->folder.open, NAME, 0), 0);
	assert_int_equal(write(file, "foreign\n", 8), 8);
	close(file);
	expect_moved(rg_journal_settle(journal, &end, &err), &err);
	expect_adopted(fixture, "");
	rg_journal_close(journal);
}

/* The last line was altered, and more was written behind it. */
static void what_was_altered_is_noted_before_more_is_taken_in(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);

	append(journal, "{\"a\":1");
	alter(fixture, 2, "x");
	foreign(fixture, "rest");
	expect_broken(journal, RG_BROKEN_DIFFERS);
	/* A person has accepted it: the rest is closed off, and is not ours. */
	page_of(journal)->shared.broken = RG_BROKEN_LINE;
	append(journal, "{\"a\":2");
	assert_true(has_end(fixture, "\nrest", "{\"a\":2"));
	rg_journal_close(journal);
}

/* What can as well be left undone asks for no room for an agent. */
static void soon_is_not_a_reason_to_grow(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct rg_control *control = rg_journal_control(journal);
	char name[16];
	int i;

	rg_control_hold(control, true);
	for (i = 0; i < 24; i++) {
		snprintf(name, sizeof name, "a%d", i);
		rg_control_put_agent(control, rg_str(name), &(struct rg_agent){ .seq = 1 });
	}
	assert_true(rg_journal_lock_soon(journal, 0));
	rg_journal_unlock(journal);
	rg_control_hold(control, true);
	for (i = 1; i <= 384; i++)
		rg_control_put_count(control, (uint64_t)i, 1);
	rg_control_hold(control, false);
	/* Nor does who only reads. */
	foreign(*state, "foreign\n");
	(void)settled(journal);
	assert_int_equal(page_of(journal)->agent_capacity, 32);
	assert_int_equal(page_of(journal)->count_capacity, 512);
	rg_journal_close(journal);
}

static void damage_it(void *context)
{
	struct rg_journal *journal = context;

	page_of(journal)->found++;
}

/* Whatever was found out with it: it is made anew, a hundred times. */
static void what_is_damaged_under_the_lock_is_made_anew(void **state)
{
	static const long times[] = { 1, 99, 100 };
	struct rg_journal *journal = open_journal(*state);
	struct roger_err err;
	size_t i;
	int r;

	/* Longer than the quick look reads. */
	append_long(journal, 5000);
	for (i = 0; i < 3; i++) {
		faulty_meanwhile("size", 0, damage_it, journal);
		faulty.times = times[i];
		faulty.error = i == 0 ? EIO : 0;
		memset(&err, 0, sizeof err);
		r = rg_journal_lock(journal, 0, 0, &err);
		assert_true(faulty.hit);
		faulty_end();
		assert_int_equal(r, times[i] < 100 ? ROGER_OK : ROGER_ETIMEOUT);
		if (r == ROGER_OK)
			rg_journal_unlock(journal);
		else
			assert_string_equal(err.message, all_the_time);
		assert_true(system_lock_is_free(*state));
		append_long(journal, 5000);
	}
	rg_journal_close(journal);
}

/* The newline of the last line was written over. */
static void an_end_without_its_newline_is_noted_and_closed_off(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	struct rg_witness witness;
	struct rg_tail tail;
	uint64_t end;

	append(journal, "{\"a\":1");
	append(journal, "{\"a\":2");
	end = rg_journal_end(journal);
	assert_true(rg_control_tail(rg_journal_control(journal), &tail));
	alter(fixture, end - 1, "x");
	/* Who reads does not look. */
	assert_int_equal(settled(journal), end);
	assert_int_equal(page_of(journal)->shared.broken, RG_BROKEN_NOT);
	assert_int_equal(rg_journal_lock(journal, 0, 0, NULL), ROGER_EDATA);
	expect_broken(journal, RG_BROKEN_DIFFERS);
	witness = rg_control_witness(rg_journal_control(journal));
	assert_true(witness.end == end && witness.chain == tail.chain && witness.chained);
	/* A person has accepted it. */
	page_of(journal)->shared.broken = RG_BROKEN_LINE;
	assert_int_equal(rg_journal_lock(journal, 100, 1000, NULL), ROGER_OK);
	assert_true(rg_control_has_room(rg_journal_control(journal), 100, 1000));
	rg_journal_unlock(journal);
	append(journal, "{\"a\":3");
	assert_int_equal(rg_journal_end(journal), folder_size(&fixture->folder, NAME));
	assert_true(has_end(fixture, "x torn", "{\"a\":3"));
	rg_journal_close(journal);
	forget_control(fixture);
	journal = open_journal(fixture);
	(void)settled(journal);
	/* One chain over all of them: of three lines the second is no longer of ours. */
	assert_int_equal(atomic_load(&page_of(journal)->adoptions), 2);
	rg_journal_close(journal);
}

/* ------------------------------------------------------------ one by one -- */

/* What is tried with a journal; what goes wrong is an error, and nothing stays held. */
struct walk {
	void (*prepare)(struct fixture *fixture, struct rg_journal *journal);
	int (*act)(struct rg_journal *journal, struct roger_err *err);
	long step; /* over calls; 0: none is left out */
};

static int act_append(struct rg_journal *journal, struct roger_err *err)
{
	uint64_t end;
	int r = rg_journal_lock(journal, 0, 0, err);

	if (r < 0)
		return r;
	add_line(journal, "{\"new\":1");
	r = rg_journal_write(journal, &end, err);
	rg_journal_unlock(journal);
	return r == ROGER_OK ? rg_journal_sync(journal, end, err) : r;
}

static int act_settle(struct rg_journal *journal, struct roger_err *err)
{
	uint64_t end;

	return rg_journal_settle(journal, &end, err);
}

static void prepare_nothing(struct fixture *fixture, struct rg_journal *journal)
{
	(void)fixture;
	append(journal, "{\"a\":1");
}

static void prepare_foreign(struct fixture *fixture, struct rg_journal *journal)
{
	put_a_copy_between(fixture, journal);
	foreign(fixture, "foreign\n{\"id\":\"msg-torn");
}

static void prepare_long(struct fixture *fixture, struct rg_journal *journal)
{
	char *text = malloc(RG_LINE_BYTES_MAX + 3);

	append(journal, "{\"a\":1");
	memset(text, 'x', RG_LINE_BYTES_MAX + 2);
	text[RG_LINE_BYTES_MAX + 1] = '\n';
	text[RG_LINE_BYTES_MAX + 2] = '\0';
	foreign(fixture, text);
	free(text);
}

/* More than is read at once. */
static void prepare_much(struct fixture *fixture, struct rg_journal *journal)
{
	char line[1001];
	int i;

	append(journal, "{\"a\":1");
	memset(line, 'x', 1000);
	line[999] = '\n';
	line[1000] = '\0';
	for (i = 0; i < 300; i++)
		foreign(fixture, line);
}

/* A person has accepted that it was written over. */
static void prepare_open_end(struct fixture *fixture, struct rg_journal *journal)
{
	append(journal, "{\"a\":1");
	alter(fixture, rg_journal_end(journal) - 1, "x");
	page_of(journal)->shared.broken = RG_BROKEN_LINE;
}

static void prepare_room(struct fixture *fixture, struct rg_journal *journal)
{
	append(journal, "{\"a\":1");
	foreign(fixture, "foreign\n");
	fixture->adopted.refusals = 1;
}

static const struct walk walks[] = {
	{ prepare_much, act_append, 0 },    { prepare_nothing, act_append, 0 },
	{ prepare_foreign, act_append, 0 }, { prepare_open_end, act_append, 0 },
	{ prepare_room, act_append, 0 },    { prepare_nothing, act_settle, 0 },
	{ prepare_foreign, act_settle, 0 }, { prepare_room, act_settle, 0 },
};

/* Of its many reads not each one. */
static const struct walk long_walk = { prepare_long, act_append, 30 };

static const char *const walked_calls[] = { "open_facts", "facts", "size",    "read_at", "write",
					    "tell",	  "sync",  "replace", "lock",	 "map" };

/* Calls of one kind, until there is none any more. */
static void walk_calls(struct fixture *fixture, const struct walk *walk, const char *call)
{
	struct rg_journal *journal, *other;
	struct roger_err err = { 0 };
	int before = lowest_free_file(), r;
	long left = -1;

	do {
		journal = open_journal(fixture);
		walk->prepare(fixture, journal);
		left += 1 + walk->step;
		faulty_begin(call, left, 1, EIO);
		r = walk->act(journal, &err);
		if (r != (faulty.hit ? ROGER_EIO : ROGER_OK))
			fail_msg("%s %ld of walk %d: %d", call, left, (int)(walk - walks), r);
		if (r < 0 && strcmp(err.message, "faulty: Input/output error") != 0)
			assert_string_equal(
				err.message,
				"cannot read /proc/sys/kernel/random/boot_id: mount /proc");
		faulty.left = -1;
		assert_true(system_lock_is_free(fixture));
		other = open_journal(fixture);
		append(other, "{\"other\":1");
		append(journal, "{\"same\":1");
		assert_int_equal(settled(journal), folder_size(&fixture->folder, NAME));
		assert_true(end_fits(journal));
		rg_journal_close(other);
		rg_journal_close(journal);
		assert_int_equal(faulty_maps, 0);
		assert_int_equal(lowest_free_file(), before);
		fixture->adopted.refusals = 0;
		forget_all(fixture);
	} while (faulty.hit);
}

static void each_call_that_fails_is_an_error(void **state)
{
	size_t i, k;

	for (i = 0; i < sizeof walks / sizeof *walks; i++)
		for (k = 0; k < sizeof walked_calls / sizeof *walked_calls; k++)
			walk_calls(*state, &walks[i], walked_calls[k]);
	walk_calls(*state, &long_walk, "read_at");
}

/* --------------------------------------------------------------- writing -- */

/* Numbers and keys may come of what is wrong: nothing is written. */
static void nothing_is_written_beside_a_damaged_file(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end = 7;

	lock(journal);
	add_line(journal, "{\"a\":1");
	damage_it(journal);
	assert_int_equal(rg_journal_write(journal, &end, NULL), ROGER_OK);
	assert_int_equal(end, 0);
	rg_journal_unlock(journal);
	assert_int_equal(folder_size(&((struct fixture *)*state)->folder, NAME), 0);
	append(journal, "{\"a\":2");
	rg_journal_close(journal);
	expect_lines(*state, "({\"a\":2)|");
}

static const char may_be_lost[] = "sync 'messages.jsonl': what was just written may not be on "
				  "disk; send again with the same key: Input/output error";

/* What slips in before our lines, and what becomes of ours. */
static void what_slips_in_is_told_apart(void **state)
{
	static const struct {
		const char *first, *text;
		int refusals;
		const char *call; /* that fails */
		long left;
		int r;
	} table[] = {
		{ "{\"a\":1", "slipped\n", 0, "", 0, ROGER_OK },
		{ "{\"a\":1", "half", 0, "", 0, ROGER_ETIMEOUT },
		{ NULL, "half", 0, "", 0, ROGER_ETIMEOUT },
		{ NULL, "slipped\n", 0, "", 0, ROGER_OK },
		{ "{\"a\":1", "slipped\n", 1, "", 0, ROGER_ETIMEOUT },
		{ "{\"a\":1", "slipped\n", 0, "write", 0, ROGER_EIO },
		{ "{\"a\":1", "slipped\n", 0, "tell", 0, ROGER_EIO },
		{ "{\"a\":1", "slipped\n", 0, "read_at", 0, ROGER_EIO },
		{ "{\"a\":1", "slipped\n", 0, "read_at", 1, ROGER_EIO },
		{ "{\"a\":1", "slipped\n", 1, "read_at", 1, ROGER_EIO },
	};
	struct fixture *fixture = *state;
	struct rg_journal *journal;
	struct roger_err err;
	uint64_t end;
	size_t i;
	int r;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		journal = open_journal(fixture);
		if (table[i].first)
			append(journal, table[i].first);
		lock(journal);
		add_line(journal, "{\"a\":2");
		foreign(fixture, table[i].text);
		fixture->adopted.refusals = table[i].refusals;
		faulty_begin(table[i].call, table[i].left, 1, EIO);
		r = rg_journal_write(journal, &end, &err);
		fixture->adopted.refusals = 0;
		assert_int_equal(r, table[i].r == ROGER_ETIMEOUT ? ROGER_EIO : table[i].r);
		if (r == ROGER_OK)
			assert_int_equal(end, rg_journal_end(journal));
		else
			assert_string_equal(err.message, table[i].r == ROGER_EIO
								 ? "faulty: Input/output error"
								 : may_be_lost);
		rg_journal_unlock(journal);
		rg_journal_close(journal);
		forget_all(fixture);
	}
}

/* More than is taken in at once. */
static void much_that_slips_in_is_taken_in(void **state)
{
	enum { MUCH = 9 << 20 };
	struct rg_journal *journal = open_journal(*state);
	char *text = malloc(MUCH + 1);
	uint64_t end;
	int i;

	memset(text, 'x', MUCH);
	for (i = 1; i <= 9; i++)
		text[(i << 20) - 1] = '\n';
	text[MUCH] = '\0';
	lock(journal);
	add_line(journal, "{\"a\":2");
	foreign(*state, text);
	free(text);
	assert_int_equal(rg_journal_write(journal, &end, NULL), ROGER_OK);
	assert_int_equal(rg_journal_end(journal), end);
	rg_journal_unlock(journal);
	rg_journal_close(journal);
}

/* The control file is damaged after that: what stands apart is there all the same. */
static void what_stands_apart_needs_no_control_file(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end;
	int i;

	for (i = 0; i < 2; i++) {
		lock(journal);
		add_line(journal, "{\"a\":1");
		foreign(*state, i ? "half" : "slipped\n");
		faulty_meanwhile("tell", 0, damage_tail, journal);
		assert_int_equal(rg_journal_write(journal, &end, NULL), i ? ROGER_EIO : ROGER_OK);
		assert_int_equal(end, folder_size(&((struct fixture *)*state)->folder, NAME));
		rg_journal_unlock(journal);
	}
	rg_journal_close(journal);
}

/* All was cut off meanwhile: ours begin where the file begins. */
static void what_begins_the_file_stands_apart(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end;

	append(journal, "{\"a\":1");
	lock(journal);
	add_line(journal, "{\"a\":2,\"b\":3");
	assert_int_equal(ftruncate(rg_journal_file(journal), 0), 0);
	assert_int_equal(rg_journal_write(journal, &end, NULL), ROGER_OK);
	assert_int_equal(end, folder_size(&((struct fixture *)*state)->folder, NAME));
	rg_journal_unlock(journal);
	rg_journal_close(journal);
}

/* --------------------------------------------------------- group commit -- */

struct company {
	struct rg_journal *journal;
	int left; /* that write along, one in each yield */
	long yields;
};

static void append_beside(void *context)
{
	struct company *company = context;

	company->yields++;
	if (company->left-- > 0)
		append_unsynced(company->journal, "{\"beside\":1");
}

/* Whom the last sync covered, and who had appended when it ended, is waited for, a third of a sync,
 * and at most of 10 ms. */
static void company_is_waited_for(void **state)
{
	static const struct {
		uint32_t groups[2], sync_ns;
		int64_t yield_ns;
		int beside; /* others who append, one in each yield */
		long yields;
	} table[] = {
		{ { 0, 0 }, 9000, 1000, 0, 0 },	       { { 1, 0 }, 9000, 1000, 0, 0 },
		{ { 2, 0 }, 9000, 1000, 0, 3 },	       { { 0, 2 }, 9000, 1000, 0, 3 },
		{ { 1, 2 }, 9002, 1000, 0, 3 },	       { { 2, 1 }, 9003, 1000, 0, 4 },
		{ { 3, 0 }, 9000, 1000, 2, 2 },	       { { 0, 3 }, 9000, 1000, 1, 3 },
		{ { 2, 0 }, 10000000, 1111111, 0, 3 }, { { 2, 0 }, 30000000, 1111111, 0, 3 },
		{ { 2, 0 }, 9999999, 1111111, 0, 3 },  { { 3, 2 }, 30000, 1000, 4, 4 },
		{ { 1, 1 }, 9000, 1000, 0, 3 },
	};
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	struct rg_control_page *page = page_of(one);
	struct company company;
	uint64_t end;
	size_t i;

	append(one, "{\"a\":1");
	for (i = 0; i < sizeof table / sizeof *table; i++) {
		end = append_unsynced(one, "{\"a\":2");
		page->groups[0] = table[i].groups[0];
		page->groups[1] = table[i].groups[1];
		page->sync_ns = table[i].sync_ns;
		company = (struct company){ two, table[i].beside, 0 };
		faulty_now_ns = MS;
		faulty_yield_ns = table[i].yield_ns;
		faulty_meanwhile("yield", 0, append_beside, &company);
		faulty.times = FAULTY_COUNTED;
		assert_int_equal(rg_journal_sync(one, end, NULL), ROGER_OK);
		assert_int_equal(company.yields, table[i].yields);
		faulty_now_ns = 0;
		faulty_end();
	}
	rg_journal_close(one);
	rg_journal_close(two);
}

static int64_t sync_takes_ns;

/* With an append of another every other time. */
static void take_time(void *context)
{
	struct company *company = context;

	if (company->left++ % 2)
		append_unsynced(company->journal, "{\"beside\":1");
	faulty_now_ns += sync_takes_ns;
}

/* How long a sync takes, smoothed; how many appends it covered, and how many were left at its end.
 */
static void a_sync_leaves_its_figures(void **state)
{
	static const struct {
		int64_t takes_ns;
		uint32_t before, after;
	} table[] = {
		{ 5000, 0, 5000 },
		{ 5000, 13000, 12000 },
		{ 10000000, 0, 10000000 },
		{ 10000001, 0, 10000000 },
		{ INT64_C(1) << 33, 0, 10000000 },
		{ 2000000, 10000000, 9000000 },
		{ 8, 1, 1 },
		{ 0, 8, 7 },
	};
	struct rg_journal *journal = open_journal(*state);
	struct rg_control_page *page = page_of(journal);
	struct company company = { .journal = open_journal(*state) };
	uint64_t end = 0;
	size_t i, k;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		for (k = i % 2; k <= i; k++)
			end = append_unsynced(journal, "{\"a\":1");
		page->sync_ns = table[i].before;
		sync_takes_ns = table[i].takes_ns;
		faulty_now_ns = MS;
		faulty_yield_ns = 100000000;
		faulty_meanwhile("sync", 0, take_time, &company);
		assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
		faulty_now_ns = 0;
		assert_int_equal(page->sync_ns, table[i].after);
		/* In an even round one was left over from the round before. */
		assert_int_equal(page->groups[0], i % 2 ? i : i + 1 + (i > 0));
		assert_int_equal(page->groups[1], i % 2);
		assert_int_equal(page->synced_appends, page->appends - i % 2);
	}
	rg_journal_close(company.journal);
	rg_journal_close(journal);
}

static void who_waits_is_woken_by_each_sync(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct rg_control_page *page = page_of(journal);
	uint64_t end, i;
	uint32_t wake;

	/* Nobody sleeps. */
	end = append_unsynced(journal, "{\"a\":1");
	faulty_sleeps[0] = '\0';
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
	assert_string_equal(faulty_sleeps, "");
	page->sleepers = 1;
	for (i = 1; i <= 4; i++) {
		end = append_unsynced(journal, "{\"a\":1");
		wake = page->wake;
		faulty_sleeps[0] = '\0';
		assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
		assert_int_equal(page->wake, wake + 1);
		assert_string_equal(faulty_sleeps, "wake -1|");
		assert_int_equal(page->sync_lock.word, 0);
	}
	/* And when it failed. */
	end = append_unsynced(journal, "{\"a\":1");
	faulty_sleeps[0] = '\0';
	faulty_begin("sync", 0, 1, EIO);
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_EIO);
	assert_string_equal(faulty_sleeps, "wake -1|");
	assert_int_equal(page->failures, 1);
	assert_int_equal(page->lost_to, end);
	/* What is unsure becomes no less by that. */
	end = append_unsynced(journal, "{\"a\":1");
	page->lost_to = end + 1;
	faulty_begin("sync", 0, 1, EIO);
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_EIO);
	assert_int_equal(page->lost_to, end + 1);
	rg_journal_close(journal);
}

struct leader {
	struct rg_journal *journal;
	uint64_t end, owner;
	long naps; /* it lets go after so many */
};

static void lead_on(void *context)
{
	struct leader *leader = context;
	struct rg_control_page *page = page_of(leader->journal);

	if (--leader->naps)
		return;
	rg_control_set_synced(rg_journal_control(leader->journal), leader->end);
	rg_lock_release(&page->sync_lock, leader->owner);
}

static void who_waits_sleeps_while_another_leads(void **state)
{
	struct rg_journal *journal = open_journal(*state), *other = open_journal(*state);
	struct rg_control_page *page = page_of(journal);
	struct leader leader = { .journal = other, .owner = rg_lock_owner(), .naps = 2 };

	leader.end = append_unsynced(journal, "{\"a\":1");
	assert_true(rg_lock_try(&page->sync_lock, leader.owner, false));
	faulty_now_ns = MS;
	faulty_meanwhile("sleep", 0, lead_on, &leader);
	faulty.times = 2;
	faulty_sleeps[0] = '\0';
	assert_int_equal(rg_journal_sync(journal, leader.end, NULL), ROGER_OK);
	assert_string_equal(faulty_sleeps, "sleep 20|sleep 20|");
	faulty_now_ns = 0;
	rg_journal_close(journal);
	rg_journal_close(other);
}

/* Nobody waits for ever for a leader that lives; after so long it is named. */
static void a_leader_that_does_not_go_on_is_named(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	struct rg_control_page *page = page_of(journal);
	uint64_t owner = rg_lock_owner(), end = append_unsynced(journal, "{\"a\":1");
	char expected[200];
	struct roger_err err;
	int64_t began;

	snprintf(
		expected, sizeof expected,
		"the sync of the journal is held by process %d, which makes no progress; check it, "
		"then try again",
		(int)getpid());
	assert_true(rg_lock_try(&page->sync_lock, owner, false));
	faulty_now_ns = began = MS;
	assert_int_equal(rg_journal_sync(journal, end, &err), ROGER_ETIMEOUT);
	assert_string_equal(err.message, expected);
	assert_in_range(faulty_now_ns - began, INT64_C(10000) * MS + 1, INT64_C(10060) * MS);
	faulty_now_ns = 0;
	rg_lock_release(&page->sync_lock, owner);
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
	rg_journal_close(journal);
}

static int sync_while_stopped(void *context)
{
	struct rg_journal *journal = open_journal(context);
	uint64_t end = append_unsynced(journal, "{\"a\":1");
	struct roger_err err;

	if (!rg_lock_try(&page_of(journal)->sync_lock, rg_lock_owner(), false))
		return 1;
	faulty_now_ns = MS;
	rg_lock_interrupt();
	faulty_sleeps[0] = '\0';
	if (rg_journal_sync(journal, end, &err) != ROGER_ETIMEOUT ||
	    strcmp(err.message, "stopped while waiting for the sync of the journal") != 0)
		return 2;
	return strcmp(faulty_sleeps, "sleep 20|") != 0 ? 3 : 0;
}

/* Who is to end waits once, and no longer. */
static void who_was_stopped_waits_for_no_leader(void **state)
{
	assert_int_equal(process_join(process_fork(sync_while_stopped, *state)), 0);
}

/* The control file was made anew since: it is synced by whoever wrote it. */
static void who_wrote_before_a_new_control_file_syncs(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	uint64_t end = append_unsynced(journal, "{\"a\":1");
	struct roger_err err;
	int i;

	for (i = 0; i < 4; i++) {
		rg_control_retire(rg_journal_control(journal));
		(void)rg_journal_control(journal);
		rg_control_set_synced(rg_journal_control(journal), UINT64_MAX);
		faulty_count("sync");
		if (i == 1)
			faulty_begin("sync", 0, 1, EIO);
		if (i == 3)
			assert_int_equal(unlinkat(fixture->folder.open, NAME, 0), 0);
		assert_int_equal(rg_journal_sync(journal, end, &err), i % 2 ? ROGER_EIO : ROGER_OK);
		if (i % 2 == 0)
			assert_int_equal(faulty_counted(), 1);
		if (i == 3)
			expect_moved(ROGER_EIO, &err);
	}
	rg_journal_close(journal);
}

/* A sync that fails while a larger control file takes the place of ours is noted in that one, too.
 */
static void a_failure_is_noted_in_the_larger_file(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t end = append_unsynced(one, "{\"a\":1"), later = append_unsynced(two, "{\"a\":2");

	faulty_meanwhile("sync", 0, grow_beside, two);
	faulty.error = EIO;
	assert_int_equal(rg_journal_sync(one, end, NULL), ROGER_EIO);
	faulty_end();
	assert_int_equal(page_of(two)->failures, 1);
	assert_int_equal(page_of(two)->lost_to, later);
	assert_int_equal(rg_journal_sync(two, later, NULL), ROGER_EIO);
	rg_journal_close(one);
	rg_journal_close(two);
}

/* Nor is one noted that did not happen. */
static void a_sync_that_goes_well_meanwhile_is_no_failure(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	uint64_t end = append_unsynced(one, "{\"a\":1");

	faulty_meanwhile("sync", 0, grow_beside, two);
	assert_int_equal(rg_journal_sync(one, end, NULL), ROGER_OK);
	assert_int_equal(page_of(two)->failures, 0);
	rg_journal_close(one);
	rg_journal_close(two);
}

static void sync_it(void *context)
{
	struct rg_control *control = rg_journal_control(context);

	rg_control_set_synced(control, rg_control_appended(control));
}

static void fail_it(void *context)
{
	page_of(context)->failures++;
}

static void fail_and_damage_it(void *context)
{
	struct rg_control_page *page = page_of(context);

	page->failures++;
	page->found++;
}

/*
 * What another does between two looks: the clock is asked for another control file, and before it
 * is led.
 */
static void what_another_did_meanwhile_counts(void **state)
{
	static const struct {
		void (*act)(void *context);
		long left;
		int r;
	} table[] = {
		{ sync_it, 1, ROGER_OK },
		{ fail_it, 1, ROGER_EIO },
		{ fail_it, 0, ROGER_EIO },
		{ fail_and_damage_it, 0, ROGER_OK },
	};
	struct rg_journal *journal, *other;
	struct rg_control_page *page;
	uint64_t end, synced;
	size_t i;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		journal = open_journal(*state);
		other = open_journal(*state);
		page = page_of(other);
		end = append_unsynced(journal, "{\"a\":1");
		synced = page->synced_appends;
		faulty_meanwhile("clock", table[i].left, table[i].act, other);
		assert_int_equal(rg_journal_sync(journal, end, NULL), table[i].r);
		assert_true(faulty.hit);
		/* It led no sync of its own. */
		assert_int_equal(page->synced_appends, synced);
		assert_int_equal(page->sync_lock.word, 0);
		rg_journal_close(journal);
		rg_journal_close(other);
		forget_all(*state);
	}
}

/* Of a leader that cannot be looked at the lead is taken over. */
static void a_leader_elsewhere_is_not_waited_for_for_ever(void **state)
{
	struct rg_journal *journal = open_journal(*state);
	uint64_t end = append_unsynced(journal, "{\"a\":1");

	page_of(journal)->sync_lock.word = rg_lock_owner() ^ 1 << 22;
	faulty_now_ns = MS;
	assert_int_equal(rg_journal_sync(journal, end, NULL), ROGER_OK);
	assert_true(faulty_now_ns > INT64_C(10000) * MS);
	assert_int_equal(page_of(journal)->sync_lock.word, 0);
	rg_journal_close(journal);
}

/* --------------------------------------------------------------- settling -- */

/* Without a control file, what cannot be read is an error, too. */
static void who_only_reads_is_told_what_goes_wrong(void **state)
{
	static const char *const calls[] = { "size", "read_at" };
	struct rg_journal *journal;
	uint64_t end;
	size_t i;

	faulty_begin("open_facts", 0, 1, EROFS);
	journal = open_journal(*state);
	foreign(*state, "foreign\nrest");
	for (i = 0; i < 2; i++) {
		faulty_begin(calls[i], 0, 1, EIO);
		assert_int_equal(rg_journal_settle(journal, &end, NULL), ROGER_EIO);
		assert_int_equal(settled(journal), strlen("foreign\n"));
	}
	rg_journal_close(journal);
}

/* As on a full Btrfs: a lock cannot be released in the file, nor can what follows it be made. */
static void a_lock_in_a_lost_file_holds_nobody_up(void **state)
{
	struct rg_journal *writer = open_journal(*state), *other = open_journal(*state);
	uint64_t end;

	append(writer, "{\"a\":1");
	assert_int_equal(rg_journal_lock(writer, 0, 0, NULL), ROGER_OK);
	assert_true(rg_control_mend(page_of(writer)));
	rg_journal_unlock(writer);
	faulty_begin("open", 0, 1, ENOSPC);
	assert_int_equal(rg_journal_settle(writer, &end, NULL), ROGER_OK);
	assert_int_equal(end, folder_size(&((struct fixture *)*state)->folder, NAME));
	rg_journal_close(writer);
	rg_journal_hurry(other, 2000);
	append(other, "{\"b\":2");
	rg_journal_close(other);
}

/* Somebody keeps the append lock: whole lines are read all the same, and synced where need be. */
static void nobody_waits_long_for_a_writer(void **state)
{
	static const struct {
		int64_t synced;	  /* of the end of the last whole line */
		const char *call; /* that fails */
		long syncs;
	} table[] = { { -1, NULL, 1 },
		      { 0, NULL, 0 },
		      { 1, NULL, 0 },
		      { -1, "sync", 0 },
		      { -1, "read_at", 0 } };
	struct rg_journal *writer = open_journal(*state), *reader = open_journal(*state);
	uint64_t owner = rg_lock_owner(), end, shown = 0;
	size_t i;
	int r;

	append(writer, "{\"a\":1");
	foreign(*state, "one\ntwo\nrest");
	end = folder_size(&((struct fixture *)*state)->folder, NAME) - strlen("rest");
	assert_true(rg_lock_try(&page_of(writer)->append_lock, owner, false));
	faulty_now_ns = faulty_look_ns = MS;
	for (i = 0; i < sizeof table / sizeof *table; i++) {
		rg_control_set_synced(rg_journal_control(writer),
				      (uint64_t)((int64_t)end + table[i].synced));
		if (table[i].call)
			faulty_begin(table[i].call, 0, 1, EIO);
		else
			faulty_count("sync");
		r = rg_journal_settle(reader, &shown, NULL);
		assert_int_equal(r, table[i].call ? ROGER_EIO : ROGER_OK);
		if (table[i].call)
			continue;
		assert_int_equal(shown, end);
		assert_int_equal(faulty_counted(), table[i].syncs);
	}
	rg_lock_release(&page_of(writer)->append_lock, owner);
	expect_adopted(*state, "");
	rg_journal_close(writer);
	rg_journal_close(reader);
}

/* Another syncs: what it has not finished is not shown. */
static void what_another_syncs_is_not_shown_yet(void **state)
{
	struct rg_journal *writer = open_journal(*state), *reader = open_journal(*state);
	uint64_t sure, owner = rg_lock_owner();

	append(writer, "{\"a\":1");
	sure = rg_journal_end(writer);
	append_unsynced(writer, "{\"a\":2");
	assert_true(rg_lock_try(&page_of(reader)->sync_lock, owner, false));
	faulty_count("sync");
	assert_int_equal(settled(reader), sure);
	assert_int_equal(faulty_counted(), 0);
	rg_lock_release(&page_of(reader)->sync_lock, owner);
	rg_journal_close(writer);
	rg_journal_close(reader);
}

/* What was there when the control file was made may have been acknowledged before. */
static void what_was_found_is_shown(void **state)
{
	struct fixture *fixture = *state;
	struct rg_journal *journal = open_journal(fixture);
	uint64_t end, owner = rg_lock_owner(), shown;

	append(journal, "{\"a\":1");
	append(journal, "{\"a\":2");
	end = rg_journal_end(journal);
	rg_journal_close(journal);
	forget_control(fixture);
	journal = open_journal(fixture);
	assert_true(rg_lock_try(&page_of(journal)->sync_lock, owner, false));
	faulty_count("sync");
	assert_int_equal(settled(journal), end);
	assert_int_equal(faulty_counted(), 1);
	faulty_begin("sync", 0, 1, EIO);
	assert_int_equal(rg_journal_settle(journal, &shown, NULL), ROGER_EIO);
	/* More than was found is synced: what came since is not shown. */
	rg_control_set_synced(rg_journal_control(journal), end);
	append_unsynced(journal, "{\"a\":3");
	faulty_count("sync");
	assert_int_equal(settled(journal), end);
	assert_int_equal(faulty_counted(), 0);
	/* Less than that: all is. */
	rg_control_set_synced(rg_journal_control(journal), end - 1);
	assert_int_equal(settled(journal), rg_journal_end(journal));
	assert_int_equal(faulty_counted(), 1);
	rg_lock_release(&page_of(journal)->sync_lock, owner);
	rg_journal_close(journal);
}

/* An unfinished end that was found is never synced; what stands before it is, once. */
static void a_rest_that_was_found_is_not_synced_again(void **state)
{
	struct rg_journal *journal;

	foreign(*state, "foreign\nrest");
	journal = open_journal(*state);
	assert_int_equal(settled(journal), strlen("foreign\n"));
	faulty_count("sync");
	assert_int_equal(settled(journal), strlen("foreign\n"));
	assert_int_equal(faulty_counted(), 0);
	rg_journal_close(journal);
}

static void a_sleep_lasts_as_long_as_was_said(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	append(journal, "{\"a\":1");
	faulty_sleeps[0] = '\0';
	faulty_now_ns = 1;
	rg_journal_sleep(journal, rg_journal_wake_count(journal), 20000);
	assert_string_equal(faulty_sleeps, "sleep 20000|");
	faulty_now_ns = 0;
	rg_journal_close(journal);
}

/* ------------------------------------------------------- the long locks -- */

/* The file is replaced while its lock is taken: the lock of the new one is taken. */
static void a_lock_is_taken_where_all_take_it(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);

	damage_it(one);
	assert_int_equal(rg_journal_take(one, RG_LOCK_STATE, 0, NULL), ROGER_OK);
	assert_true(rg_journal_holds(one, RG_LOCK_STATE));
	assert_false(rg_journal_try(two, RG_LOCK_STATE) && rg_journal_control(two) &&
		     rg_journal_holds(two, RG_LOCK_STATE));
	rg_journal_release(one, RG_LOCK_STATE);
	damage_it(one);
	/* Who only tries, tries again another time. */
	assert_false(rg_journal_try(one, RG_LOCK_STATE));
	assert_true(rg_journal_try(one, RG_LOCK_STATE));
	assert_true(rg_journal_holds(one, RG_LOCK_STATE));
	rg_journal_release(one, RG_LOCK_STATE);
	assert_false(rg_journal_holds(one, RG_LOCK_STATE));
	rg_journal_close(one);
	rg_journal_close(two);
}

/* Its file was replaced by a rename, and its holder there never gives it back. */
static void who_waits_for_a_lock_goes_where_the_file_is(void **state)
{
	struct rg_control_page *page;
	struct rg_journal *journal;

	faulty_now_ns = faulty_look_ns = MS;
	journal = open_journal(*state);
	page = page_of(journal);
	replace_control(*state);
	assert_true(rg_lock_try(&page->state_lock, rg_lock_owner(), false));
	assert_int_equal(rg_journal_take(journal, RG_LOCK_STATE, 5000, NULL), ROGER_OK);
	assert_true(rg_journal_holds(journal, RG_LOCK_STATE));
	assert_true(in_place(rg_journal_control(journal)));
	rg_journal_close(journal);
}

/* It is damaged between the look and the lock: then the lock counts for nothing, and is not kept.
 */
static void a_lock_in_a_damaged_file_is_given_back(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	struct rg_control_page *old = page_of(two);

	faulty_meanwhile("clock", 0, damage_it, one);
	assert_int_equal(rg_journal_take(one, RG_LOCK_STATE, 0, NULL), ROGER_OK);
	assert_true(faulty.hit);
	assert_true(rg_journal_holds(one, RG_LOCK_STATE));
	assert_true(rg_control_sound(rg_journal_control(one)));
	assert_int_equal(old->state_lock.word, 0);
	rg_journal_close(one);
	rg_journal_close(two);
}

/* Nobody else may go on with a file in which one has found damage. */
static void who_gives_back_a_lock_retires_what_is_damaged(void **state)
{
	struct rg_journal *one = open_journal(*state), *two = open_journal(*state);
	struct rg_control_page *old = page_of(two);
	struct rg_agent agent;

	assert_int_equal(rg_journal_take(one, RG_LOCK_STATE, 0, NULL), ROGER_OK);
	memset(old + 1, 0, 32 * sizeof(struct rg_agent_slot));
	lock(one);
	(void)rg_control_find_agent(rg_journal_control(one), RG_STR("a"), &agent);
	rg_journal_unlock(one);
	rg_journal_release(one, RG_LOCK_STATE);
	assert_true(rg_control_retired(old));
	assert_true(rg_journal_try(one, RG_LOCK_STATE));
	rg_journal_close(one);
	rg_journal_close(two);
}

static int take_and_die(void *context)
{
	struct rg_journal *journal = open_journal(context);

	if (!rg_journal_try(journal, RG_LOCK_STATE))
		return 1;
	raise(SIGKILL);
	return 0;
}

static void a_lock_of_the_dead_is_taken_at_once(void **state)
{
	struct rg_journal *journal = open_journal(*state);

	assert_int_equal(process_join(process_fork(take_and_die, *state)), 128 + SIGKILL);
	assert_true(rg_journal_try(journal, RG_LOCK_STATE));
	rg_journal_close(journal);
}

/* Growing went wrong, and the file is in force again: what is taken there is owed no more. */
static void what_is_taken_again_is_not_owed(void **state)
{
	struct rg_journal *one, *two = open_journal(*state);
	int how;

	for (how = 0; how < 2; how++) {
		one = open_journal(*state);
		assert_int_equal(rg_journal_take(one, RG_LOCK_CHANGE, 0, NULL), ROGER_OK);
		assert_int_equal(rg_journal_take(one, RG_LOCK_STATE, 0, NULL), ROGER_OK);
		page_of(one)->retired = 1;
		faulty_begin("open_facts", 0, FAULTY_COUNTED, EIO);
		rg_journal_release(one, RG_LOCK_CHANGE);
		assert_int_equal(faulty.times, FAULTY_COUNTED - 1);
		rg_journal_release(one, RG_LOCK_STATE);
		page_of(two)->retired = 0;
		faulty_end();
		if (how == 0)
			assert_int_equal(rg_journal_take(one, RG_LOCK_STATE, 0, NULL), ROGER_OK);
		else
			assert_true(rg_journal_try(one, RG_LOCK_STATE));
		assert_true(rg_journal_try(two, RG_LOCK_CHANGE));
		grow_more(two);
		assert_non_null(rg_journal_control(one));
		assert_true(rg_journal_holds(one, RG_LOCK_STATE));
		assert_false(rg_journal_try(two, RG_LOCK_STATE));
		assert_true(rg_journal_holds(two, RG_LOCK_CHANGE));
		rg_journal_release(two, RG_LOCK_CHANGE);
		rg_journal_release(one, RG_LOCK_STATE);
		rg_journal_close(one);
	}
	rg_journal_close(two);
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
		TEST(many_foreign_lines_cost_a_check_no_more),
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
		TEST(a_failed_sync_between_gathered_lines_is_no_less_believed),
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
		TEST(opening_without_memory_is_an_error),
		TEST(what_cannot_be_written_is_read),
		TEST(a_new_name_is_synced_once),
		TEST(closing_is_only_that),
		TEST(another_control_file_is_looked_for),
		TEST(nothing_is_followed_while_appending),
		TEST(one_that_cannot_be_followed_is_an_error),
		TEST(what_is_owed_is_owed_until_it_is_given_back),
		TEST(the_last_line_fits_its_chain),
		TEST(what_was_noted_is_not_suspected_again),
		TEST(a_copied_line_is_no_reason_to_doubt),
		TEST(the_last_line_is_checked_once_a_group),
		TEST(what_cannot_be_looked_at_is_no_damage),
		TEST(lines_are_compared_with_their_witness),
		TEST(lines_of_ours_are_told_by_their_ends),
		TEST(rests_of_ours_are_spoilt),
		TEST(a_rest_of_ours_is_no_longer_than_a_line),
		TEST(a_line_that_is_finished_meanwhile_is_kept),
		TEST(room_for_one_line_is_made),
		TEST(adoptions_are_counted),
		TEST(the_lock_is_given_back_between_pieces),
		TEST(both_locks_are_held),
		TEST(what_is_damaged_under_the_lock_is_made_anew),
		TEST(an_end_without_its_newline_is_noted_and_closed_off),
		TEST(each_call_that_fails_is_an_error),
		TEST(nothing_is_written_beside_a_damaged_file),
		TEST(what_slips_in_is_told_apart),
		TEST(company_is_waited_for),
		TEST(a_sync_leaves_its_figures),
		TEST(who_waits_is_woken_by_each_sync),
		TEST(who_waits_sleeps_while_another_leads),
		TEST(a_leader_that_does_not_go_on_is_named),
		TEST(who_was_stopped_waits_for_no_leader),
		TEST(who_wrote_before_a_new_control_file_syncs),
		TEST(a_failure_is_noted_in_the_larger_file),
		TEST(a_lock_in_a_lost_file_holds_nobody_up),
		TEST(nobody_waits_long_for_a_writer),
		TEST(what_another_syncs_is_not_shown_yet),
		TEST(what_was_found_is_shown),
		TEST(a_sleep_lasts_as_long_as_was_said),
		TEST(a_lock_is_taken_where_all_take_it),
		TEST(a_rest_that_was_found_is_not_synced_again),
		TEST(who_waits_for_a_lock_goes_where_the_file_is),
		TEST(a_lock_in_a_damaged_file_is_given_back),
		TEST(who_gives_back_a_lock_retires_what_is_damaged),
		TEST(a_lock_of_the_dead_is_taken_at_once),
		TEST(what_is_taken_again_is_not_owed),
		TEST(a_sync_that_goes_well_meanwhile_is_no_failure),
		TEST(what_another_did_meanwhile_counts),
		TEST(a_leader_elsewhere_is_not_waited_for_for_ever),
		TEST(who_only_reads_is_told_what_goes_wrong),
		TEST(what_is_retired_meanwhile_is_left),
		TEST(who_waits_to_append_follows),
		TEST(who_reads_and_finds_nothing_left_writes_nothing),
		TEST(what_was_moved_away_is_not_read),
		TEST(what_was_altered_is_noted_before_more_is_taken_in),
		TEST(soon_is_not_a_reason_to_grow),
		TEST(much_that_slips_in_is_taken_in),
		TEST(what_stands_apart_needs_no_control_file),
		TEST(what_begins_the_file_stands_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
