/*
 * What store/control.h promises: a control file holds for one boot and one
 * journal and is made anew when it speaks of another, is damaged or short, or
 * knows more than the journal holds; everyone maps the same one; the tally
 * keeps its figures, and growing keeps them, the numbers, the tail and the
 * locks that are held for long, while the old file says that it is retired.
 */
#include "folder.h"

#include <signal.h>
#include <sys/mman.h>

#include "base/id.h"
#include "store/control.h"

#define NAME "messages.control"

struct fixture {
	struct folder folder;
	int journal;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	folder_make(&fixture->folder);
	folder_append_text(&fixture->folder, "messages.jsonl", "0123456789\n");
	fixture->journal =
		openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);
	*state = fixture;
	return fixture->journal < 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->journal);
	folder_remove(&fixture->folder);
	free(fixture);
	return 0;
}

static struct rg_control *open_control(const struct fixture *fixture)
{
	struct rg_control *control = NULL;
	struct roger_err err;

	if (rg_control_open(fixture->folder.open, NAME, fixture->journal, &control, &err) < 0)
		fail_msg("%s", err.message);
	return control;
}

/* Leave a mark, so that it can be told whether the file was made anew. */
static void mark(const struct fixture *fixture)
{
	struct rg_control *control = open_control(fixture);
	const struct rg_agent agent = { .seq = 42 };

	rg_control_put_agent(control, RG_STR("marked"), &agent);
	rg_control_set_epoch(control, 7);
	rg_control_close(control);
}

static bool is_marked(const struct fixture *fixture)
{
	struct rg_control *control = open_control(fixture);
	struct rg_agent agent;
	bool found = rg_control_find_agent(control, RG_STR("marked"), &agent),
	     marked = found && agent.seq == 42 && rg_control_epoch(control) == 7;

	if (!marked) {
		assert_false(found);
		assert_int_equal(rg_control_epoch(control), 1);
		assert_int_equal(rg_control_appended(control), 0);
	}
	rg_control_close(control);
	return marked;
}

static void overwrite(const struct fixture *fixture, size_t at, const void *data, size_t length)
{
	int file = openat(fixture->folder.open, NAME, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(file, data, length, (off_t)at), length);
	close(file);
}

/* ------------------------------------------------------------ validity -- */

static void a_fresh_one_is_whole_and_private(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture);
	struct rg_named_agent agent;
	struct stat facts;
	size_t i = 0;

	assert_int_equal(fstatat(fixture->folder.open, NAME, &facts, 0), 0);
	assert_int_equal(facts.st_mode & 0777, 0600);
	/* Written out, so that no access to the map asks the disk for room. */
	assert_true(facts.st_blocks * 512 >= facts.st_size);
	assert_false(rg_control_next_agent(control, &i, &agent));
	assert_true(rg_control_has_room(control, 2, 3));
	rg_control_close(control);
}

static void one_that_fits_is_kept(void **state)
{
	mark(*state);
	assert_true(is_marked(*state));
	assert_true(is_marked(*state));
}

static void one_of_another_boot_is_made_anew(void **state)
{
	mark(*state);
	overwrite(*state, offsetof(struct rg_control_page, boot_id), "0123", 4);
	assert_false(is_marked(*state));
}

static void one_of_another_journal_is_made_anew(void **state)
{
	struct fixture *fixture = *state;

	mark(fixture);
	folder_append_text(&fixture->folder, "other.jsonl", "0123456789\n");
	close(fixture->journal);
	fixture->journal =
		openat(fixture->folder.open, "other.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);
	assert_false(is_marked(fixture));
}

static void one_that_knows_more_than_the_journal_is_made_anew(void **state)
{
	static const uint64_t appended[] = { 10, 11, 12, UINT64_MAX };
	struct fixture *fixture = *state;
	struct rg_control *control;
	size_t i;

	for (i = 0; i < 4; i++) {
		mark(fixture);
		control = open_control(fixture);
		rg_control_set_end(control, appended[i], 0);
		rg_control_close(control);
		if (appended[i] <= 11)
			assert_true(is_marked(fixture));
		else
			assert_false(is_marked(fixture));
	}
}

/* Every byte of what is looked at when it is opened. */
static void a_damaged_head_is_made_anew(void **state)
{
	static const size_t parts[][2] = {
		{ offsetof(struct rg_control_page, magic), 8 },
		{ offsetof(struct rg_control_page, version), 4 },
		{ offsetof(struct rg_control_page, retired), 4 },
		{ offsetof(struct rg_control_page, journal_device), 8 },
		{ offsetof(struct rg_control_page, journal_inode), 8 },
		{ offsetof(struct rg_control_page, agent_capacity), 4 },
		{ offsetof(struct rg_control_page, count_capacity), 4 },
		{ offsetof(struct rg_control_page, generation), 32 },
	};
	struct fixture *fixture = *state;
	size_t i, at;
	char byte;
	int file;

	for (i = 0; i < sizeof parts / sizeof *parts; i++) {
		for (at = parts[i][0]; at < parts[i][0] + parts[i][1]; at++) {
			mark(fixture);
			file = openat(fixture->folder.open, NAME, O_RDWR | O_CLOEXEC);
			assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
			byte ^= 0x11;
			assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
			close(file);
			if (is_marked(fixture))
				fail_msg("byte %zu does not matter", at);
		}
	}
}

static void one_of_another_length_is_made_anew(void **state)
{
	struct fixture *fixture = *state;
	size_t whole, lengths[7], i;

	mark(fixture);
	whole = folder_size(&fixture->folder, NAME);
	lengths[0] = 0;
	lengths[1] = 1;
	lengths[2] = sizeof(struct rg_control_page) - 1;
	lengths[3] = sizeof(struct rg_control_page);
	lengths[4] = whole - 1;
	lengths[5] = whole + 1;
	lengths[6] = whole * 2;
	for (i = 0; i < 7; i++) {
		int file = openat(fixture->folder.open, NAME, O_RDWR | O_CLOEXEC);

		assert_int_equal(ftruncate(file, (off_t)lengths[i]), 0);
		close(file);
		assert_false(is_marked(fixture));
		assert_int_equal(folder_size(&fixture->folder, NAME), whole);
		mark(fixture);
	}
}

/* The file as the last boot left it. */
static void put_into_another_boot(const struct fixture *fixture)
{
	unsigned char head[offsetof(struct rg_control_page, sum)];
	char *all = folder_read(&fixture->folder, NAME);
	uint64_t sum;

	memcpy(head, all, sizeof head);
	free(all);
	head[offsetof(struct rg_control_page, boot_id)] ^= 1;
	sum = rg_hash(RG_CONTROL_VERSION, head, sizeof head);
	overwrite(fixture, 0, head, sizeof head);
	overwrite(fixture, sizeof head, &sum, sizeof sum);
}

/* What was read after a start of the machine came from disk; of anything else nobody knows. */
static void what_another_boot_left_is_on_disk(void **state)
{
	const struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture);

	assert_int_equal(rg_control_synced(control), 0);
	assert_int_equal(rg_control_page(control)->found, 11);
	rg_control_set_end(control, 8, 0);
	rg_control_close(control);
	put_into_another_boot(fixture);
	control = open_control(fixture);
	assert_int_equal(rg_control_appended(control), 0);
	assert_int_equal(rg_control_synced(control), 8);
	assert_int_equal(rg_control_page(control)->found, 11);
	rg_control_close(control);

	overwrite(fixture, 0, "x", 1);
	control = open_control(fixture);
	assert_int_equal(rg_control_synced(control), 0);
	rg_control_close(control);
}

/* --------------------------------------------------- while it is mapped -- */

static void whoever_writes_over_it_is_found_out(void **state)
{
	const struct fixture *fixture = *state;
	struct rg_control *control;
	size_t at;

	for (at = 0; at < offsetof(struct rg_control_page, sum); at++) {
		control = open_control(fixture);
		assert_true(rg_control_sound(control));
		((unsigned char *)rg_control_page(control))[at] ^= 0x40;
		if (rg_control_sound(control))
			fail_msg("byte %zu does not matter", at);
		rg_control_close(control);
	}
}

static void a_tail_that_does_not_fit_is_not_believed(void **state)
{
	struct rg_control *control;
	struct rg_tail tail;
	size_t at;

	for (at = 0; at < sizeof tail; at++) {
		control = open_control(*state);
		rg_control_set_end(control, 11, 77);
		((unsigned char *)&rg_control_page(control)->tails[1])[at] ^= 0x04;
		assert_false(rg_control_tail(control, &tail));
		assert_false(rg_control_sound(control));
		rg_control_retire(control);
		rg_control_close(control);
	}
}

static void what_is_synced_needs_its_sum(void **state)
{
	struct rg_control *control = open_control(*state);
	struct rg_control_page *page = rg_control_page(control);

	rg_control_set_synced(control, 11);
	assert_int_equal(rg_control_synced(control), 11);
	atomic_store(&page->synced, 9999);
	assert_int_equal(rg_control_synced(control), 0);
	rg_control_set_synced(control, 11);
	atomic_store(&page->synced_sum, 0);
	assert_int_equal(rg_control_synced(control), 0);
	rg_control_close(control);
}

/* With the tables of agents and counts in it, byte by byte: never less than was counted. */
static void a_slot_that_does_not_fit_says_maybe(void **state)
{
	const uint64_t key = rg_count_hash(RG_COUNT_KEY, RG_STR("a"), RG_STR("k"));
	struct rg_agent agent = { .unread = 3, .epoch = 1, .seq = 9 };
	struct rg_control *control = open_control(*state);
	unsigned char *slots = (unsigned char *)(rg_control_page(control) + 1);
	size_t size = folder_size(&((struct fixture *)*state)->folder, NAME) -
		      sizeof(struct rg_control_page);
	size_t found = 0, at;
	bool there;

	rg_control_put_agent(control, RG_STR("a"), &agent);
	rg_control_put_count(control, key, 1);
	assert_int_equal(rg_control_count_damaged(control), 0);
	for (at = 0; at < size; at++) {
		slots[at] ^= 0x20;
		there = rg_control_find_agent(control, RG_STR("a"), &agent);
		assert_true(there && agent.unread >= 3);
		assert_true(rg_control_find_count(control, key) >= 1);
		found += rg_control_count_damaged(control);
		slots[at] ^= 0x20;
	}
	/* All but what belongs to names that nobody has. */
	assert_true(found >= 28 * 32 + 512 * 16);
	assert_true(rg_control_sound(control));
	/* Nobody else is at work on it: then it is damage. */
	memset(slots, 0, size);
	rg_control_hold(control, true);
	assert_int_equal(rg_control_find_count(control, key), RG_CONTROL_MAYBE);
	assert_false(rg_control_sound(control));
	rg_control_retire(control);
	rg_control_close(control);
}

static void another_file_under_its_name_is_seen(void **state)
{
	const struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture);

	assert_true(rg_control_in_place(control));
	assert_int_equal(renameat(fixture->folder.open, NAME, fixture->folder.open, "away"), 0);
	assert_false(rg_control_in_place(control));
	assert_int_equal(renameat(fixture->folder.open, "away", fixture->folder.open, NAME), 0);
	assert_true(rg_control_in_place(control));
	rg_control_close(control);
}

static void mend(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (!rg_control_mend(info->si_addr))
		_exit(99);
}

static void a_file_that_was_cut_short_is_only_retired(void **state)
{
	struct sigaction action = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO }, before;
	const struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture);
	struct rg_agent agent;
	int file = openat(fixture->folder.open, NAME, O_RDWR | O_CLOEXEC);

	assert_false(rg_control_mend(&action));
	sigaction(SIGBUS, &action, &before);
	assert_int_equal(ftruncate(file, 0), 0);
	close(file);
	assert_true(rg_control_find_agent(control, RG_STR("a"), &agent));
	assert_false(rg_control_sound(control));
	assert_true(rg_control_retired(rg_control_page(control)));
	rg_control_close(control);
	assert_false(is_marked(fixture));
	sigaction(SIGBUS, &before, NULL);
}

static void what_is_no_file_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *control;
	struct roger_err err;

	assert_int_equal(mkdirat(fixture->folder.open, NAME, 0700), 0);
	assert_int_equal(
		rg_control_open(fixture->folder.open, NAME, fixture->journal, &control, &err),
		ROGER_EREFUSED);
	assert_int_equal(unlinkat(fixture->folder.open, NAME, AT_REMOVEDIR), 0);
	folder_append_text(&fixture->folder, "target", "precious");
	assert_int_equal(symlinkat("target", fixture->folder.open, NAME), 0);
	assert_int_equal(
		rg_control_open(fixture->folder.open, NAME, fixture->journal, &control, &err),
		ROGER_EREFUSED);
	assert_int_equal(folder_size(&fixture->folder, "target"), 8);
	assert_int_equal(unlinkat(fixture->folder.open, NAME, 0), 0);
	assert_int_equal(mkfifoat(fixture->folder.open, NAME, 0600), 0);
	assert_int_equal(
		rg_control_open(fixture->folder.open, NAME, fixture->journal, &control, &err),
		ROGER_EREFUSED);
}

static int open_and_count(void *context)
{
	struct rg_control *control = NULL;
	struct fixture *fixture = context;
	int journal = openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);

	if (rg_control_open(fixture->folder.open, NAME, journal, &control, NULL) < 0)
		return 1;
	atomic_fetch_add(&rg_control_page(control)->appends, 1);
	rg_control_close(control);
	return 0;
}

static void all_who_open_at_once_map_the_same(void **state)
{
	struct rg_control *control;
	pid_t children[8];
	int round, i;

	for (round = 0; round < 20; round++) {
		mark(*state);
		overwrite(*state, 0, "x", 1);
		for (i = 0; i < 8; i++)
			children[i] = process_fork(open_and_count, *state);
		for (i = 0; i < 8; i++)
			assert_int_equal(process_join(children[i]), 0);
		control = open_control(*state);
		assert_int_equal(atomic_load(&rg_control_page(control)->appends), 8);
		rg_control_close(control);
	}
}

/* --------------------------------------------------------------- tally -- */

static struct roger_str name_of(int i)
{
	static char name[RG_NAME_CHARS_MAX + 1];

	/* Of all lengths, many with a common start. */
	snprintf(name, sizeof name, "agent-%d-%.*s", i, i % 100,
		 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		 "xxxxxxxxxxxxxxxxxxx");
	return rg_str(name);
}

static void names_and_counts_have_places_of_their_own(void **state)
{
	struct rg_control *control = open_control(*state);
	struct rg_named_agent each;
	struct rg_agent agent = { 0 };
	size_t seen = 0, at = 0;
	uint64_t hash;
	int i;

	assert_false(rg_control_find_agent(control, RG_STR("nobody"), &agent));
	for (i = 0; i < 20; i++) {
		agent.seq = i + 1;
		rg_control_put_agent(control, name_of(i), &agent);
	}
	for (i = 0; i < 20; i++) {
		assert_true(rg_control_find_agent(control, name_of(i), &agent));
		assert_int_equal(agent.seq, i + 1);
	}
	while (rg_control_next_agent(control, &at, &each))
		seen++;
	assert_int_equal(seen, 20);
	for (i = 0; i < 300; i++) {
		hash = rg_count_hash(RG_COUNT_KEY, name_of(i), RG_STR("k"));
		assert_int_equal(rg_control_find_count(control, hash), 0);
		rg_control_put_count(control, hash, (uint64_t)i);
	}
	for (i = 0; i < 300; i++) {
		hash = rg_count_hash(RG_COUNT_KEY, name_of(i), RG_STR("k"));
		assert_int_equal(rg_control_find_count(control, hash), i);
	}
	rg_control_close(control);
}

static void hashes_tell_kinds_and_parts_apart(void **state)
{
	(void)state;
	assert_true(rg_count_hash(RG_COUNT_ISSUE, RG_STR("a"), RG_STR("")) !=
		    rg_count_hash(RG_COUNT_MAILBOX, RG_STR("a"), RG_STR("")));
	assert_true(rg_count_hash(RG_COUNT_MAILBOX, RG_STR("ab"), RG_STR("c")) !=
		    rg_count_hash(RG_COUNT_MAILBOX, RG_STR("a"), RG_STR("bc")));
	assert_true(rg_count_hash(RG_COUNT_MAILBOX, RG_STR("a"), RG_STR("b")) !=
		    rg_count_hash(RG_COUNT_MAILBOX, RG_STR("b"), RG_STR("a")));
}

/* ------------------------------------------------------------- growing -- */

static void check_grown(struct rg_control *control, uint64_t owner)
{
	struct rg_control_page *page = rg_control_page(control);
	struct rg_tail tail;
	int i;

	for (i = 0; i < 24; i++) {
		struct rg_agent agent;

		assert_true(rg_control_find_agent(control, name_of(i), &agent));
		assert_int_equal(agent.seq, 100 + i);
		assert_int_equal(agent.unread, i);
	}
	for (i = 0; i < 380; i++)
		assert_int_equal(
			rg_control_find_count(
				control, rg_count_hash(RG_COUNT_ISSUE, name_of(i), RG_STR(""))),
			i);
	assert_true(rg_control_tail(control, &tail));
	assert_int_equal(tail.epoch, 9);
	assert_int_equal(tail.appended, 11);
	assert_int_equal(tail.chain, 77);
	assert_int_equal(rg_control_synced(control), 10);
	assert_int_equal(atomic_load(&page->appends), 3);
	assert_true(rg_lock_mine(&page->change_lock, owner));
	assert_true(rg_lock_mine(&page->index_lock, owner));
	assert_true(rg_lock_mine(&page->state_lock, owner));
	assert_int_equal(page->append_lock.word, 0);
	assert_int_equal(page->sync_lock.word, 0);
	assert_false(rg_control_retired(page));
}

static void fill(struct rg_control *control, uint64_t owner)
{
	struct rg_control_page *page = rg_control_page(control);
	int i;

	for (i = 0; i < 24; i++) {
		struct rg_agent agent = { .seq = 100 + i, .unread = (uint32_t)i };

		rg_control_put_agent(control, name_of(i), &agent);
	}
	for (i = 0; i < 380; i++)
		rg_control_put_count(control, rg_count_hash(RG_COUNT_ISSUE, name_of(i), RG_STR("")),
				     (uint64_t)i);
	rg_control_set_epoch(control, 9);
	rg_control_set_end(control, 11, 77);
	rg_control_set_synced(control, 10);
	atomic_store(&page->appends, 3);
	assert_true(rg_lock_try(&page->append_lock, owner, false));
	assert_true(rg_lock_try(&page->change_lock, owner, false));
	assert_true(rg_lock_try(&page->index_lock, owner, false));
	assert_true(rg_lock_try(&page->state_lock, owner, false));
}

static void growing_keeps_figures_and_held_locks(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture), *grown;
	uint64_t owner = rg_lock_owner();
	size_t before = folder_size(&fixture->folder, NAME);
	uint32_t wake;

	fill(control, owner);
	assert_false(rg_control_has_room(control, 1, 0));
	assert_false(rg_control_has_room(control, 0, 5));
	wake = atomic_load(&rg_control_page(control)->wake);
	assert_int_equal(rg_control_grow(control, 1000, 5, NULL), ROGER_OK);
	assert_true(rg_control_retired(rg_control_page(control)));
	assert_true(atomic_load(&rg_control_page(control)->wake) != wake);
	rg_control_close(control);

	grown = open_control(fixture);
	check_grown(grown, owner);
	assert_true(rg_control_has_room(grown, 1000, 5));
	assert_true(folder_size(&fixture->folder, NAME) > before);
	rg_control_close(grown);
	/* Opened again, it is the same. */
	grown = open_control(fixture);
	check_grown(grown, owner);
	rg_control_close(grown);
}

static void growing_that_fails_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture);
	uint64_t owner = rg_lock_owner();
	char spare[64];

	fill(control, owner);
	/* Something stands where the new file would be written. */
	snprintf(spare, sizeof spare, NAME ".new-%d", (int)getpid());
	assert_int_equal(mkdirat(fixture->folder.open, spare, 0700), 0);
	assert_true(rg_control_grow(control, 1000, 5, NULL) < 0);
	assert_false(rg_control_retired(rg_control_page(control)));
	rg_lock_release(&rg_control_page(control)->append_lock, owner);
	check_grown(control, owner);
	rg_control_close(control);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Maps the file, says so, and stays until it is told to end. */
struct other {
	const struct fixture *fixture;
	int ready[2], end[2];
};

static int work_with_it(void *context)
{
	struct other *other = context;
	int file = openat(other->fixture->folder.open, NAME, O_RDWR | O_CLOEXEC);
	void *map = mmap(NULL, sizeof(struct rg_control_page), PROT_READ | PROT_WRITE, MAP_SHARED,
			 file, 0);
	char byte = 0;

	close(other->end[1]);
	if (map == MAP_FAILED || write(other->ready[1], &byte, 1) != 1)
		return 1;
	return read(other->end[0], &byte, 1) != 0;
}

/* A second append lock would number messages twice: defects T8. */
static void one_that_another_build_works_with_is_left(void **state)
{
	const struct fixture *fixture = *state;
	struct other other = { .fixture = fixture };
	struct rg_control *control = NULL;
	struct roger_err err = { 0 };
	uint32_t version = RG_CONTROL_VERSION - 1;
	char byte, digits[24];
	pid_t child;

	mark(fixture);
	overwrite(fixture, offsetof(struct rg_control_page, version), &version, sizeof version);
	assert_int_equal(pipe(other.ready), 0);
	assert_int_equal(pipe(other.end), 0);
	child = process_fork(work_with_it, &other);
	assert_int_equal(read(other.ready[0], &byte, 1), 1);
	assert_int_equal(
		rg_control_open(fixture->folder.open, NAME, fixture->journal, &control, &err),
		ROGER_EREFUSED);
	snprintf(digits, sizeof digits, "process %d ", (int)child);
	assert_non_null(strstr(err.message, digits));
	close(other.end[0]);
	close(other.end[1]);
	assert_int_equal(process_join(child), 0);
	assert_false(is_marked(fixture));
	close(other.ready[0]);
	close(other.ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fresh_one_is_whole_and_private),
		TEST(one_that_fits_is_kept),
		TEST(one_of_another_boot_is_made_anew),
		TEST(one_of_another_journal_is_made_anew),
		TEST(one_that_knows_more_than_the_journal_is_made_anew),
		TEST(a_damaged_head_is_made_anew),
		TEST(one_of_another_length_is_made_anew),
		TEST(what_another_boot_left_is_on_disk),
		TEST(whoever_writes_over_it_is_found_out),
		TEST(a_tail_that_does_not_fit_is_not_believed),
		TEST(what_is_synced_needs_its_sum),
		TEST(a_slot_that_does_not_fit_says_maybe),
		TEST(another_file_under_its_name_is_seen),
		TEST(a_file_that_was_cut_short_is_only_retired),
		TEST(what_is_no_file_is_refused),
		TEST(all_who_open_at_once_map_the_same),
		TEST(names_and_counts_have_places_of_their_own),
		TEST(hashes_tell_kinds_and_parts_apart),
		TEST(growing_keeps_figures_and_held_locks),
		TEST(growing_that_fails_changes_nothing),
		TEST(one_that_another_build_works_with_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
