/*
 * What store/file/control.h promises: a control file holds for one boot and one
 * journal and is made anew when it speaks of another, is damaged or short, or
 * knows more than the journal holds; everyone maps the same one; the tally
 * keeps its figures, and growing keeps them, the numbers, the tail and the
 * locks that are held for long, while the old file says that it is retired.  A
 * file that cannot be looked at is an error, and another build's stays.
 */
#include "faulty.h"
#include "folder.h"
#include "harsh.h"

#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "base/id.h"
#include "store/file/control.h"
#include "host/file.h"

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

	faulty_end();
	faulty_now_ns = faulty_maps = 0;
	close(fixture->journal);
	folder_remove(&fixture->folder);
	free(fixture);
	return 0;
}

static struct rg_control *open_named(const struct fixture *fixture, const char *name)
{
	struct rg_control *control = NULL;
	struct roger_err err;

	if (rg_control_open(fixture->folder.open, name, fixture->journal, NULL, NULL, NULL,
			    &control, &err) < 0)
		fail_msg("%s", err.message);
	/* As under the append lock. */
	rg_control_hold(control, true);
	return control;
}

static struct rg_control *open_control(const struct fixture *fixture)
{
	return open_named(fixture, NAME);
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
	const struct rg_count_slot *counts;
	uint64_t generation;
	struct stat facts;
	size_t i = 0;

	assert_int_equal(fstatat(fixture->folder.open, NAME, &facts, 0), 0);
	assert_int_equal(facts.st_mode & 0777, 0600);
	/* Written out, so that no access to the map asks the disk for room. */
	assert_true(facts.st_blocks * 512 >= facts.st_size);
	assert_false(rg_control_next_agent(control, &i, &agent));
	assert_true(rg_control_has_room(control, 2, 3));
	counts = (struct rg_count_slot *)((struct rg_agent_slot *)(rg_control_page(control) + 1) +
					  32);
	for (i = 0; i < 512; i++)
		assert_int_equal(counts[i].word & UINT32_MAX, 0);
	generation = rg_control_generation(control);
	rg_control_retire(control);
	rg_control_close(control);
	control = open_control(fixture);
	assert_true(rg_control_generation(control) != generation);
	rg_control_close(control);
}

static void a_boot_is_known_by_what_the_system_says(void **state)
{
	char boot_id[RG_BOOT_ID_BYTES], expected[RG_BOOT_ID_BYTES] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	(void)state;
	assert_non_null(file);
	assert_int_equal(fread(expected, 1, 36, file), 36);
	fclose(file);
	memset(boot_id, 'x', sizeof boot_id);
	rg_boot_id(boot_id);
	assert_memory_equal(boot_id, expected, sizeof boot_id);
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

static void one_that_knows_more_than_the_journal_is_made_anew_with_its_numbers(void **state)
{
	static const uint64_t appended[] = { 10, 11, 12, UINT64_MAX };
	const struct rg_agent unread = { .unread = 3, .epoch = 7, .seq = 5 };
	struct fixture *fixture = *state;
	struct rg_control *control;
	struct rg_agent agent;
	size_t i;

	for (i = 0; i < 4; i++) {
		mark(fixture);
		control = open_control(fixture);
		rg_control_put_agent(control, RG_STR("reader"), &unread);
		rg_control_put_count(control, 1234, 2);
		rg_control_set_end(control, appended[i], 0, 1, true);
		rg_control_close(control);
		assert_true(is_marked(fixture));
		control = open_control(fixture);
		assert_true(rg_control_find_agent(control, RG_STR("reader"), &agent));
		assert_int_equal(agent.seq, 5);
		assert_int_equal(agent.epoch, 7);
		assert_int_equal(agent.unread, appended[i] <= 11 ? 3 : 0);
		assert_int_equal(rg_control_find_count(control, 1234), appended[i] <= 11 ? 2 : 0);
		assert_int_equal(rg_control_appended(control), appended[i] <= 11 ? appended[i] : 0);
		assert_int_equal(rg_control_count_damaged(control), 0);
		rg_control_close(control);
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
	rg_control_set_end(control, 8, 0, 1, true);
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
		rg_control_set_end(control, 11, 77, 1, true);
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
		rg_control_hold(control, false);
		there = rg_control_find_agent(control, RG_STR("a"), &agent);
		assert_true(there && agent.unread >= 3);
		assert_true(rg_control_find_count(control, key) >= 1);
		rg_control_hold(control, true);
		found += rg_control_count_damaged(control);
		slots[at] ^= 0x20;
	}
	/* All but what belongs to names that nobody has. */
	assert_true(found >= 28 * 32 + 512 * 16);
	assert_true(rg_control_sound(control));
	/* Nobody else is at work on it: then it is damage. */
	memset(slots, 0, size);
	assert_int_equal(rg_control_find_count(control, key), RG_FIGURE_MAYBE);
	assert_false(rg_control_sound(control));
	rg_control_retire(control);
	rg_control_close(control);
}

static void another_file_under_its_name_is_seen(void **state)
{
	const struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture);
	size_t length;
	char *copy;

	assert_true(in_place(control));
	assert_int_equal(renameat(fixture->folder.open, NAME, fixture->folder.open, "away"), 0);
	assert_false(in_place(control));
	assert_int_equal(renameat(fixture->folder.open, "away", fixture->folder.open, NAME), 0);
	assert_true(in_place(control));
	/* One of its length, and one of its own that grew. */
	folder_append_text(&fixture->folder, NAME, "x");
	assert_false(in_place(control));
	rg_control_close(control);
	rg_control_close(open_control(fixture));
	control = open_control(fixture);
	copy = folder_read(&fixture->folder, NAME);
	length = folder_size(&fixture->folder, NAME);
	assert_int_equal(renameat(fixture->folder.open, NAME, fixture->folder.open, "away"), 0);
	folder_append(&fixture->folder, NAME, copy, length);
	assert_false(in_place(control));
	free(copy);
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
	assert_int_equal(rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL, NULL,
					 NULL, &control, &err),
			 ROGER_EREFUSED);
	assert_int_equal(unlinkat(fixture->folder.open, NAME, AT_REMOVEDIR), 0);
	folder_append_text(&fixture->folder, "target", "precious");
	assert_int_equal(symlinkat("target", fixture->folder.open, NAME), 0);
	assert_int_equal(rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL, NULL,
					 NULL, &control, &err),
			 ROGER_EREFUSED);
	assert_int_equal(folder_size(&fixture->folder, "target"), 8);
	assert_int_equal(unlinkat(fixture->folder.open, NAME, 0), 0);
	assert_int_equal(mkfifoat(fixture->folder.open, NAME, 0600), 0);
	assert_int_equal(rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL, NULL,
					 NULL, &control, &err),
			 ROGER_EREFUSED);
}

static int open_and_count(void *context)
{
	struct rg_control *control = NULL;
	struct fixture *fixture = context;
	int journal = openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);

	if (rg_control_open(fixture->folder.open, NAME, journal, NULL, NULL, NULL, &control, NULL) <
	    0)
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

/* ------------------------------------------------- as docs/FORMAT.md says -- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ (x >> 29);
}

enum { PLACES = 2 };

/* A whole file, with tables of two places each. */
struct described {
	struct rg_control_page page;
	struct rg_agent_slot agents[PLACES];
	struct rg_count_slot counts[PLACES];
};

/* Without what aligns the next one. */
enum {
	DESCRIBED_BYTES = offsetof(struct described, counts) + PLACES * sizeof(struct rg_count_slot)
};

static uint64_t described_draw; /* another generation, and other sums */

static void describe_head(const struct fixture *fixture, struct described *all)
{
	struct stat journal;

	assert_int_equal(fstat(fixture->journal, &journal), 0);
	memcpy(all->page.magic, "rogerctl", 8);
	all->page.version = 7;
	rg_boot_id(all->page.boot_id);
	all->page.journal_device = journal.st_dev;
	all->page.journal_inode = journal.st_ino;
	all->page.agent_capacity = PLACES;
	all->page.count_capacity = PLACES;
	all->page.generation = UINT64_C(0x0123456789abcdef) + described_draw;
	all->page.found = 7;
	all->page.on_disk = 5;
}

static void sum_described(struct described *all)
{
	uint32_t which = all->page.tail_in_force & 1;
	uint64_t g = all->page.generation, sum;

	all->page.sum = rg_hash(7, all, 104);
	sum = mix(mix(g, all->page.tails[which].appended), all->page.tails[which].lines);
	sum = mix(sum, all->page.tails[which].chain);
	all->page.tails[which].sum = mix(sum, (uint64_t)all->page.tails[which].epoch) | 1;
	all->page.synced_sum = mix(~g, all->page.synced) | 1;
	sum = mix(mix(~g, all->page.witness_end), all->page.witness_chain);
	all->page.witness_sum = mix(sum, all->page.witness_chained) | 1;
}

/* Agent "aa" and a count; *ret_at is the place of the agent, the count has the first one. */
static void describe(const struct fixture *fixture, struct described *all, uint64_t *ret_at)
{
	uint64_t at = rg_hash(0, "aa", 2) % PLACES, g, hash = UINT64_C(0x1122334455667788);
	uint64_t up = UINT64_C(1) << 32, low = up - 1;

	memset(all, 0, sizeof *all);
	describe_head(fixture, all);
	g = all->page.generation;
	all->page.tail_in_force = 1;
	all->page.tails[1].appended = 11;
	all->page.tails[1].lines = 1;
	all->page.tails[1].chain = 77;
	all->page.tails[1].epoch = 9;
	all->page.synced = 10;
	all->page.witness_end = 6;
	all->page.witness_chain = 66;
	all->page.witness_chained = 1;
	sum_described(all);
	all->agents[at] = (struct rg_agent_slot){ 2, 3, 9, 42, "aa", 0 };
	all->agents[at].sum =
		mix(mix(mix(mix(mix(g, at), rg_hash(0, "aa", 2)), 3 * up + 2), 9), 42) | 1;
	all->agents[!at].sum = mix(mix(mix(g, !at), 0), 0) | 1;
	all->counts[0].hash = hash;
	all->counts[0].word = ((mix(mix(mix(g, ~UINT64_C(0)), hash), 5) | up) & ~low) | 5;
	all->counts[1].word = (mix(mix(mix(g, ~UINT64_C(1)), 0), 0) | up) & ~low;
	*ret_at = at;
}

static void put(const struct fixture *fixture, const struct described *all)
{
	(void)!unlinkat(fixture->folder.open, NAME, 0);
	folder_append(&fixture->folder, NAME, all, DESCRIBED_BYTES);
}

static void check_described(void **state)
{
	struct rg_named_agent each = { .length = 0 };
	struct rg_witness witness;
	struct rg_control *control;
	struct described all;
	struct rg_agent agent;
	struct rg_tail tail;
	uint64_t at;
	size_t place;

	describe(*state, &all, &at);
	put(*state, &all);
	control = open_control(*state);
	assert_int_equal(rg_control_generation(control), all.page.generation);
	assert_int_equal(rg_control_page(control)->found, 7);
	assert_true(rg_control_tail(control, &tail));
	assert_int_equal(tail.appended, 11);
	assert_int_equal(tail.chain, 77);
	assert_int_equal(tail.epoch, 9);
	assert_int_equal(rg_control_synced(control), 10);
	witness = rg_control_witness(control);
	assert_true(witness.end == 6 && witness.chain == 66 && witness.chained);
	assert_true(rg_control_find_agent(control, RG_STR("aa"), &agent));
	assert_true(agent.unread == 3 && agent.epoch == 9 && agent.seq == 42);
	assert_false(rg_control_find_agent(control, RG_STR("ab"), &agent));
	assert_int_equal(rg_control_find_count(control, UINT64_C(0x1122334455667788)), 5);
	assert_int_equal(rg_control_find_count(control, 3), 0);
	assert_int_equal(rg_control_count_damaged(control), 0);
	place = 0;
	assert_true(rg_control_next_agent(control, &place, &each));
	assert_int_equal(place, at + 1);
	assert_int_equal(each.length, 2);
	assert_memory_equal(each.name, "aa", 2);
	assert_false(rg_control_next_agent(control, &place, &each));
	assert_int_equal(rg_count_hash(RG_COUNT_ISSUE, RG_STR("a"), RG_STR("")),
			 rg_hash(rg_hash(1, "a", 1), "", 0));
	assert_int_equal(rg_count_hash(RG_COUNT_SHOWN, RG_STR("a"), RG_STR("bc")),
			 rg_hash(rg_hash(4, "a", 1), "bc", 2));
	rg_control_close(control);
}

/* Two builds of one version work side by side, so each sum is the same in both. */
static void one_is_read_as_it_is_described(void **state)
{
	for (described_draw = 1; described_draw <= 16; described_draw++)
		check_described(state);
	described_draw = 0;
}

/* Each is whole but for one thing, and has the right sums. */
static void what_is_judged_is_all_of_it(void **state)
{
	const struct fixture *fixture = *state;
	char boot_id[RG_BOOT_ID_BYTES], nowhere[RG_BOOT_ID_BYTES] = "";
	char elsewhere[RG_BOOT_ID_BYTES] = "x";
	struct rg_file_facts journal;
	const size_t whole = DESCRIBED_BYTES;
	const size_t common = offsetof(struct rg_control_page, generation);
	struct described all, good;
	uint64_t at;
	size_t size, i;
	static const struct {
		uint32_t agents, counts;
		bool holds;
	} capacities[] = {
		{ 2, 2, true },	 { 1, 1, true },   { 4, 8, true },  { 3, 2, false },
		{ 2, 3, false }, { 0, 16, false }, { 2, 0, false }, { 6, 2, false },
	};

	rg_boot_id(boot_id);
	describe(fixture, &good, &at);
	assert_int_equal(rg_file_facts(fixture->journal, "j", &journal, NULL), ROGER_OK);
	for (i = 0; i < sizeof capacities / sizeof *capacities; i++) {
		all = good;
		all.page.agent_capacity = capacities[i].agents;
		all.page.count_capacity = capacities[i].counts;
		sum_described(&all);
		size = sizeof all.page + capacities[i].agents * sizeof *all.agents +
		       capacities[i].counts * sizeof *all.counts;
		assert_int_equal(rg_control_judge(&all, size, &journal, boot_id),
				 capacities[i].holds ? RG_CONTROL_HOLDS : RG_CONTROL_INVALID);
		assert_int_equal(rg_control_judge(&all, size + 1, &journal, boot_id),
				 RG_CONTROL_INVALID);
	}
	assert_int_equal(rg_control_judge(&good, whole, &journal, elsewhere),
			 RG_CONTROL_OTHER_BOOT);
	assert_int_equal(rg_control_judge(&good, whole, &journal, nowhere), RG_CONTROL_INVALID);
	assert_int_equal(rg_control_judge(&good, whole - 1, &journal, boot_id), RG_CONTROL_INVALID);
	all = good;
	memset(all.page.boot_id, 0, sizeof all.page.boot_id);
	sum_described(&all);
	assert_int_equal(rg_control_judge(&all, whole, &journal, nowhere), RG_CONTROL_INVALID);

	all = good;
	all.page.boot_id[RG_BOOT_ID_BYTES - 1] = 1;
	sum_described(&all);
	assert_int_equal(rg_control_judge(&all, whole, &journal, boot_id), RG_CONTROL_OTHER_BOOT);
	memcpy(all.page.boot_id, elsewhere, sizeof elsewhere);
	sum_described(&all);
	assert_int_equal(rg_control_judge(&all, whole, &journal, elsewhere), RG_CONTROL_HOLDS);
	for (i = 0; i < 3; i++) {
		all = good;
		all.page.magic[7] ^= i == 0;
		all.page.journal_device += i == 1;
		all.page.journal_inode += i == 2;
		sum_described(&all);
		assert_int_equal(rg_control_judge(&all, whole, &journal, boot_id),
				 RG_CONTROL_INVALID);
	}

	all = good;
	all.page.version = 8;
	assert_int_equal(rg_control_judge(&all, common, &journal, boot_id), RG_CONTROL_OTHER_BUILD);
	assert_int_equal(rg_control_judge(&all, common - 1, &journal, boot_id), RG_CONTROL_INVALID);
	assert_int_equal(rg_control_judge(&all, whole, &journal, elsewhere), RG_CONTROL_INVALID);
	assert_int_equal(rg_control_judge(&all, whole, &journal, nowhere), RG_CONTROL_INVALID);
	all.page.retired = 1;
	assert_int_equal(rg_control_judge(&all, whole, &journal, boot_id), RG_CONTROL_INVALID);
	all.page.retired = 0;
	all.page.journal_inode++;
	assert_int_equal(rg_control_judge(&all, whole, &journal, boot_id), RG_CONTROL_INVALID);

	for (i = 0; i < 4; i++) {
		all = good;
		all.page.tail_in_force = (uint32_t)i;
		assert_int_equal(rg_control_judge(&all, whole, &journal, boot_id),
				 i & 1 ? RG_CONTROL_HOLDS : RG_CONTROL_INVALID);
	}
	for (i = 0; i < 3; i++) {
		all = good;
		all.page.tails[1].epoch = (int64_t)i - 1;
		sum_described(&all);
		assert_int_equal(rg_control_judge(&all, whole, &journal, boot_id),
				 i == 2 ? RG_CONTROL_HOLDS : RG_CONTROL_INVALID);
	}
}

/* The journal has 11 bytes. */
static void what_another_boot_knew_is_bounded(void **state)
{
	static const struct {
		uint64_t appended;
		bool damaged;
		uint64_t on_disk;
	} table[] = { { 0, false, 0 },	 { 10, false, 10 },	    { 11, false, 11 },
		      { 12, false, 11 }, { UINT64_MAX, false, 11 }, { 10, true, 0 } };
	struct rg_control *control;
	struct described all;
	uint64_t at;
	size_t i;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		describe(*state, &all, &at);
		all.page.boot_id[0] ^= 1;
		all.page.tails[1].appended = table[i].appended;
		sum_described(&all);
		all.page.tails[1].sum ^= table[i].damaged ? 2 : 0;
		put(*state, &all);
		control = open_control(*state);
		assert_int_equal(rg_control_page(control)->on_disk, table[i].on_disk);
		assert_int_equal(rg_control_synced(control), table[i].on_disk);
		assert_int_equal(rg_control_appended(control), 0);
		assert_true(rg_control_generation(control) != all.page.generation);
		rg_control_close(control);
	}
}

static void a_damaged_tail_is_not_mended_by_writing(void **state)
{
	struct rg_control *control = open_control(*state), *again = open_control(*state);
	struct rg_control_page *page = rg_control_page(control);
	struct rg_tail tail;

	rg_control_set_epoch(control, 5);
	rg_control_set_end(control, 11, 77, 1, true);
	assert_int_equal(page->appends, 1);
	page->tails[page->tail_in_force].chain++;
	rg_control_set_end(control, 10, 66, 1, true);
	assert_int_equal(page->appends, 1);
	assert_false(rg_control_tail(again, &tail));
	rg_control_set_epoch(control, 6);
	assert_false(rg_control_tail(again, &tail));
	assert_true(tail.appended == 0 && tail.epoch == 1 && tail.chain == 0);
	assert_int_equal(rg_control_appended(control), 0);
	assert_int_equal(rg_control_epoch(control), 1);
	page->shared.logged = 1;
	assert_int_equal(rg_control_logged(control), 0);
	assert_false(rg_control_sound(again));
	rg_control_close(again);
	rg_control_close(control);
}

/* Who is killed before the new one is in force leaves that. */
static void a_new_tail_leaves_the_old_one_whole(void **state)
{
	struct rg_control *control = open_control(*state);
	struct rg_control_page *page = rg_control_page(control);
	struct rg_tail tail;
	uint32_t i, was;

	for (i = 1; i <= 6; i++) {
		was = page->tail_in_force;
		rg_control_set_end(control, i, i * 10, 1, true);
		assert_int_equal(page->tail_in_force, !was);
		if (i < 2)
			continue;
		page->tail_in_force = was;
		assert_true(rg_control_tail(control, &tail));
		assert_int_equal(tail.appended, i - 1);
		assert_int_equal(tail.chain, (i - 1) * 10);
		page->tail_in_force = !was;
		assert_int_equal(rg_control_appended(control), i);
	}
	assert_int_equal(page->appends, 6);
	rg_control_close(control);
}

static void offsets_are_believed_within_bounds(void **state)
{
	struct rg_control *control;
	struct described all;
	uint64_t at;

	describe(*state, &all, &at);
	put(*state, &all);
	control = open_control(*state);
	for (at = 0; at <= 11; at++) {
		rg_control_set_synced(control, at);
		assert_int_equal(rg_control_synced(control), at < 5 ? 5 : at);
	}
	for (at = 0; at <= 13; at++) {
		rg_control_page(control)->shared.logged = at;
		assert_int_equal(rg_control_logged(control), at <= 11 ? at : 0);
	}
	rg_control_close(control);
}

static void only_the_map_of_an_address_is_mended(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 }, { 1, 2, 0 } };
	static const char *const names[] = { NAME, "second.control", "third.control" };
	struct fixture *fixture = *state;
	size_t size, round;
	struct rg_control *controls[3], *control;
	char *start;
	int i, k;

	rg_control_close(open_control(fixture));
	size = folder_size(&fixture->folder, NAME);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 3; i++)
			controls[i] = open_named(fixture, names[i]);
		for (i = 0; i < 3; i++) {
			control = controls[orders[round][i]];
			start = (char *)rg_control_page(control);
			/* Its last byte, or its first. */
			assert_true(rg_control_mend(start + (round % 2 ? 0 : size - 1)));
			assert_true(rg_control_retired(rg_control_page(control)));
			assert_int_equal(rg_control_page(control)->version, 0);
			assert_false(rg_control_sound(control));
			for (k = i + 1; k < 3; k++)
				assert_true(rg_control_sound(controls[orders[round][k]]));
			rg_control_close(control);
			assert_false(rg_control_mend(start));
		}
	}
	control = open_control(fixture);
	start = (char *)rg_control_page(control);
	assert_false(rg_control_mend(start - 1));
	assert_false(rg_control_mend(start + size));
	assert_true(rg_control_sound(control));
	rg_control_close(control);
	assert_null(rg_control_close(NULL));
}

static void handles_of_one_file_share_its_map(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *one = open_control(fixture), *two = open_control(fixture), *later;
	struct rg_control_page *page = rg_control_page(one);

	assert_ptr_equal(page, rg_control_page(two));
	rg_control_close(one);
	/* The other one still has it. */
	assert_true(rg_control_sound(two));
	one = open_control(fixture);
	assert_ptr_equal(page, rg_control_page(one));
	/* The map is lost to both; who opens the file later gets another. */
	assert_true(rg_control_mend(page));
	assert_false(rg_control_sound(one));
	assert_false(rg_control_sound(two));
	later = open_control(fixture);
	assert_ptr_not_equal(page, rg_control_page(later));
	assert_true(rg_control_sound(later));
	rg_control_close(one);
	rg_control_close(two);
	assert_true(rg_control_sound(later));
	rg_control_close(later);
	assert_false(rg_control_mend(page));
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

static struct roger_str same_length(int i)
{
	static char name[16];

	snprintf(name, sizeof name, "n%03d", i);
	return rg_str(name);
}

/* Each the start of those that were put before it. */
static struct roger_str shorter_and_shorter(int i)
{
	static const char all[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

	return rg_str(all + i);
}

/* A name whose own place is the one behind the only one that is left. */
static struct roger_str far_from_its_place(struct rg_control *control)
{
	const struct rg_agent_slot *agents = (struct rg_agent_slot *)(rg_control_page(control) + 1);
	size_t left = 0;
	int i = 0;

	while (agents[left].length)
		left++;
	while ((rg_hash(0, same_length(i).data, 4) & 31) != ((left + 1) & 31))
		i++;
	return same_length(i);
}

/* Places round the end of the tables, and none left. */
static void tables_are_used_to_the_last_place(void **state)
{
	struct rg_control *control = open_control(*state);
	struct rg_agent agent = { 0 };
	struct roger_str far;
	uint64_t hash;
	int i;

	for (i = 0; i < 31; i++) {
		agent = (struct rg_agent){ .seq = i, .epoch = 3, .unread = 1 };
		rg_control_put_agent(control, shorter_and_shorter(i), &agent);
	}
	far = far_from_its_place(control);
	assert_false(rg_control_find_agent(control, far, &agent));
	rg_control_put_agent(control, far, &(struct rg_agent){ .seq = 31 });
	assert_true(rg_control_find_agent(control, far, &agent));
	assert_int_equal(agent.seq, 31);
	for (i = 0; i < 31; i++) {
		assert_true(rg_control_find_agent(control, shorter_and_shorter(i), &agent));
		assert_int_equal(agent.seq, i);
	}
	assert_false(rg_control_find_agent(control, RG_STR("y"), &agent));
	assert_int_equal(agent.unread, 0);
	/* All want the last place. */
	for (hash = 511, i = 0; i < 512; i++, hash += 512)
		rg_control_put_count(control, hash, (uint64_t)i);
	for (hash = 511, i = 0; i < 512; i++, hash += 512)
		assert_int_equal(rg_control_find_count(control, hash), i);
	assert_int_equal(rg_control_page(control)->agents_used, 32);
	assert_int_equal(rg_control_page(control)->counts_used, 512);
	assert_int_equal(rg_control_count_damaged(control), 0);
	assert_int_equal(rg_control_find_count(control, hash), RG_FIGURE_MAYBE);
	assert_true(rg_control_sound(control));
	rg_control_put_count(control, hash, 1);
	assert_false(rg_control_sound(control));
	rg_control_close(control);
	control = open_control(*state);
	rg_control_put_agent(control, same_length(32), &agent);
	assert_false(rg_control_sound(control));
	rg_control_close(control);
}

/* Of 32 agents and 512 counts three quarters, and each counts once. */
static void room_is_told_to_the_last_place(void **state)
{
	static const char longest[RG_NAME_CHARS_MAX + 1] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
							   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
							   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
							   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	struct rg_control *control = open_control(*state);
	struct rg_agent agent = { .seq = 1 };
	int i;

	assert_true(rg_control_has_room(control, 24, 384));
	assert_false(rg_control_has_room(control, 25, 384));
	assert_false(rg_control_has_room(control, 24, 385));
	for (i = 0; i < 3; i++) {
		agent.seq++;
		rg_control_put_agent(control, rg_str(longest), &agent);
		rg_control_put_count(control, 5, (uint64_t)i);
	}
	assert_true(rg_control_has_room(control, 23, 383));
	assert_false(rg_control_has_room(control, 24, 383));
	assert_false(rg_control_has_room(control, 23, 384));
	assert_true(rg_control_find_agent(control, rg_str(longest), &agent));
	assert_int_equal(agent.seq, 4);
	assert_int_equal(rg_control_find_count(control, 5), 2);
	rg_control_close(control);
}

static void counts_are_bounded(void **state)
{
	static const uint64_t table[][2] = {
		{ RG_FIGURE_MAYBE - 1, RG_FIGURE_MAYBE - 1 },
		{ RG_FIGURE_MAYBE, RG_FIGURE_MAYBE },
		{ UINT64_C(1) << 32, RG_FIGURE_MAYBE },
		{ UINT64_MAX, RG_FIGURE_MAYBE },
		{ 0, 0 },
	};
	struct rg_control *control = open_control(*state);
	size_t i;

	for (i = 0; i < 5; i++) {
		rg_control_put_count(control, 77, table[i][0]);
		assert_int_equal(rg_control_find_count(control, 77), table[i][1]);
	}
	rg_control_close(control);
}

/* For others it may be a change that somebody is in the middle of. */
static void damage_is_told_by_who_holds_the_lock(void **state)
{
	struct rg_agent agent = { .seq = 1 };
	struct rg_control *control;
	struct rg_named_agent each;
	struct rg_agent_slot *agents;
	struct rg_count_slot *counts;
	size_t at, seen;
	int what, held, i;

	for (what = 0; what < 3; what++) {
		for (held = 0; held < 2; held++) {
			control = open_control(*state);
			agents = (struct rg_agent_slot *)(rg_control_page(control) + 1);
			counts = (struct rg_count_slot *)(agents + 32);
			for (i = 0; i < 24; i++)
				rg_control_put_agent(control, same_length(i), &agent);
			rg_control_put_count(control, 7, 1);
			at = rg_hash(0, same_length(4).data, 4) & 31;
			agents[at].sum ^= what != 1 ? 8 : 0;
			counts[7].word ^= what == 1 ? UINT64_C(1) << 40 : 0;
			rg_control_hold(control, held);
			if (what == 0)
				assert_true(
					rg_control_find_agent(control, same_length(4), &agent) &&
					agent.unread == RG_FIGURE_MAYBE);
			if (what == 1)
				assert_int_equal(rg_control_find_count(control, 7),
						 RG_FIGURE_MAYBE);
			for (at = 0, seen = 0;
			     what == 2 && rg_control_next_agent(control, &at, &each);)
				seen++;
			assert_true(what != 2 || (seen == 23 && at == 32));
			assert_int_equal(rg_control_sound(control), !held);
			rg_control_hold(control, true);
			assert_int_equal(rg_control_count_damaged(control), 1);
			/* What was found out once stays so. */
			rg_control_hold(control, false);
			(void)rg_control_find_agent(control, same_length(4), &agent);
			(void)rg_control_find_count(control, 7);
			assert_int_equal(rg_control_sound(control), !held);
			rg_control_retire(control);
			rg_control_close(control);
			agent = (struct rg_agent){ .seq = 1 };
		}
	}
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
	assert_int_equal(page->agents_used, 24);
	assert_int_equal(page->counts_used, 380);
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
	rg_control_set_end(control, 11, 77, 1, true);
	rg_control_set_synced(control, 10);
	atomic_store(&page->appends, 3);
	assert_true(rg_lock_try(&page->append_lock, owner, false));
	assert_true(rg_lock_try(&page->sync_lock, owner, false));
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
	/* Figures like these are counted anew. */
	rg_control_page(control)->agents_used = 3;
	rg_control_page(control)->counts_used = 7;
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

struct sleeper {
	struct rg_control_page *page;
	int ready[2];
};

static int sleep_on_wake(void *context)
{
	struct sleeper *sleeper = context;
	uint32_t seen = atomic_load(&sleeper->page->wake);

	if (write(sleeper->ready[1], "x", 1) != 1)
		return 2;
	return rg_lock_sleep(&sleeper->page->wake, seen, 60000) ? 0 : 1;
}

/* Whoever waits for a sync looks at the new file at once. */
static void who_sleeps_is_woken_when_it_is_retired(void **state)
{
	struct rg_control *control;
	struct sleeper sleeper;
	pid_t children[2];
	uint32_t wake;
	char byte;
	int how, i;

	assert_int_equal(pipe(sleeper.ready), 0);
	for (how = 0; how < 2; how++) {
		control = open_control(*state);
		sleeper.page = rg_control_page(control);
		for (i = 0; i < 2; i++) {
			children[i] = process_fork(sleep_on_wake, &sleeper);
			assert_int_equal(read(sleeper.ready[0], &byte, 1), 1);
			process_wait_for_sleep(children[i]);
		}
		wake = atomic_load(&sleeper.page->wake);
		if (how == 0)
			rg_control_retire(control);
		else
			assert_int_equal(rg_control_grow(control, 100, 0, NULL), ROGER_OK);
		assert_true(rg_control_retired(sleeper.page));
		assert_true(atomic_load(&sleeper.page->wake) != wake);
		for (i = 0; i < 2; i++)
			assert_int_equal(process_join(children[i]), 0);
		rg_control_close(control);
	}
	close(sleeper.ready[0]);
	close(sleeper.ready[1]);
}

static void growing_that_fails_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *control = open_control(fixture);
	uint64_t owner = rg_lock_owner();
	char spare[RG_SPARE_BYTES];

	fill(control, owner);
	/* Something stands where the new file would be written. */
	rg_file_spare(NAME, spare);
	assert_int_equal(mkdirat(fixture->folder.open, spare, 0700), 0);
	assert_true(rg_control_grow(control, 1000, 5, NULL) < 0);
	assert_false(rg_control_retired(rg_control_page(control)));
	rg_lock_release(&rg_control_page(control)->append_lock, owner);
	rg_lock_release(&rg_control_page(control)->sync_lock, owner);
	check_grown(control, owner);
	rg_control_close(control);
}

static void growing_makes_room_and_no_more(void **state)
{
	static const struct {
		size_t agents, counts;
		uint32_t agent_capacity, count_capacity;
	} table[] = {
		{ 0, 0, 32, 512 },    { 24, 384, 32, 512 },   { 25, 0, 64, 512 },
		{ 0, 385, 32, 1024 }, { 97, 769, 256, 2048 },
	};
	struct rg_control *control;
	struct rg_control_page *page;
	uint64_t generation;
	size_t i;

	for (i = 0; i < 5; i++) {
		control = open_control(*state);
		generation = rg_control_generation(control);
		assert_int_equal(rg_control_grow(control, table[i].agents, table[i].counts, NULL),
				 ROGER_OK);
		assert_true(rg_control_retired(rg_control_page(control)));
		rg_control_close(control);
		control = open_control(*state);
		page = rg_control_page(control);
		assert_int_equal(page->agent_capacity, table[i].agent_capacity);
		assert_int_equal(page->count_capacity, table[i].count_capacity);
		assert_int_equal(page->agents_used, 0);
		assert_int_equal(page->counts_used, 0);
		assert_int_equal(rg_control_generation(control), generation);
		assert_int_equal(rg_control_count_damaged(control), 0);
		rg_control_retire(control);
		rg_control_close(control);
	}
}

/* Nothing that contradicts itself goes over into a file that agrees with itself. */
static void growing_what_is_damaged_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *control;
	struct rg_agent_slot *agents;
	struct rg_count_slot *counts;
	size_t before;
	int i;

	for (i = 0; i < 32 + 512 + 2; i++) {
		control = open_control(fixture);
		agents = (struct rg_agent_slot *)(rg_control_page(control) + 1);
		counts = (struct rg_count_slot *)(agents + 32);
		before = folder_size(&fixture->folder, NAME);
		if (i < 32)
			agents[i].sum ^= 16;
		else if (i < 32 + 512)
			counts[i - 32].word ^= 1;
		else
			rg_control_page(control)->found += i == 32 + 512;
		if (i == 32 + 512 + 1)
			rg_control_put_agent(control, RG_STR("a"), &(struct rg_agent){ .seq = 1 });
		assert_int_equal(rg_control_grow(control, 100, 1000, NULL), ROGER_OK);
		if (i <= 32 + 512) {
			assert_false(rg_control_sound(control));
			assert_false(rg_control_retired(rg_control_page(control)));
			assert_int_equal(folder_size(&fixture->folder, NAME), before);
		} else {
			assert_true(folder_size(&fixture->folder, NAME) > before);
		}
		rg_control_retire(control);
		rg_control_close(control);
	}
}

static const struct fixture *scarce_fixture;

static int open_without_memory(struct rg_arena *arena, struct roger_err *err)
{
	const struct fixture *fixture = scarce_fixture;
	struct rg_control *control = NULL;
	int file = openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_CLOEXEC), r;

	(void)arena;
	(void)!unlinkat(fixture->folder.open, NAME, 0);
	r = rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL, NULL, NULL,
			    &control, err);
	assert_true((control != NULL) == (r == ROGER_OK));
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	close(file);
	rg_control_close(control);
	return r;
}

static void opening_without_memory_is_an_error(void **state)
{
	scarce_fixture = *state;
	scarce_everywhere(open_without_memory);
}

static void growing_without_memory_changes_nothing(void **state)
{
	const struct fixture *fixture = *state;
	struct rg_control *control;
	struct roger_err err;
	long pieces;
	int r, once;

	for (once = 0; once < 2; once++) {
		mark(fixture);
		for (r = ROGER_ENOMEM, pieces = 0; r < 0; pieces++) {
			control = open_control(fixture);
			scarce_once = once;
			scarce_refused = false;
			scarce_left = pieces;
			r = rg_control_grow(control, 100, 1000, &err);
			scarce_left = -1;
			assert_int_equal(r, scarce_refused ? ROGER_ENOMEM : ROGER_OK);
			assert_int_equal(rg_control_sound(control), r < 0);
			assert_int_equal(in_place(control), r < 0);
			rg_control_close(control);
			assert_true(is_marked(fixture));
		}
		scarce_once = false;
		assert_true(pieces > 1);
		overwrite(fixture, 0, "x", 1);
	}
}

/* And leaves nothing locked behind. */
static void one_that_cannot_be_made_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct rg_control *control = NULL;
	char spare[RG_SPARE_BYTES];
	int file = openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_CLOEXEC);

	assert_true(rg_control_open(fixture->folder.open, NAME, -1, NULL, NULL, NULL, &control,
				    NULL) < 0);
	rg_file_spare(NAME, spare);
	assert_int_equal(mkdirat(fixture->folder.open, spare, 0700), 0);
	assert_true(rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL, NULL, NULL,
				    &control, NULL) < 0);
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(file, LOCK_UN), 0);
	assert_int_equal(unlinkat(fixture->folder.open, spare, AT_REMOVEDIR), 0);
	control = open_control(fixture);
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	close(file);
	rg_control_close(control);
	assert_int_equal(
		rg_control_open(fixture->folder.open, NAME, -1, NULL, NULL, NULL, &control, NULL),
		ROGER_EIO);
}

/* Maps the file, says so, and stays until it is told to end, or until somebody wants to open it. */
struct other {
	const struct fixture *fixture;
	int ready[2], end[2];
	bool until_wanted;
};

/* Has another process the journal locked, as who replaces a control file has? */
static bool is_wanted(const struct other *other)
{
	int file = openat(other->fixture->folder.open, "messages.jsonl", O_RDWR | O_CLOEXEC);
	bool wanted = flock(file, LOCK_EX | LOCK_NB) < 0;

	close(file);
	return wanted;
}

static int work_with_it(void *context)
{
	struct other *other = context;
	int file = openat(other->fixture->folder.open, NAME, O_RDWR | O_CLOEXEC);
	void *map = mmap(NULL, sizeof(struct rg_control_page), PROT_READ | PROT_WRITE, MAP_SHARED,
			 file, 0);
	char byte = 0;
	int turn;

	close(other->end[1]);
	if (map == MAP_FAILED || write(other->ready[1], &byte, 1) != 1)
		return 1;
	/* Twice, with a pause between: it looks again. */
	for (turn = 0; other->until_wanted && turn < 3; turn++)
		while (is_wanted(other) != (turn != 1))
			sched_yield();
	return other->until_wanted ? 0 : read(other->end[0], &byte, 1) != 0;
}

static void start_other(struct other *other, pid_t *children, int count)
{
	uint32_t version = RG_CONTROL_VERSION - 1;
	char byte;
	int i;

	mark(other->fixture);
	overwrite(other->fixture, offsetof(struct rg_control_page, version), &version,
		  sizeof version);
	assert_int_equal(pipe(other->ready), 0);
	assert_int_equal(pipe(other->end), 0);
	for (i = 0; i < count; i++)
		children[i] = process_fork(work_with_it, other);
	for (i = 0; i < count; i++)
		assert_int_equal(read(other->ready[0], &byte, 1), 1);
}

static void end_other(struct other *other, const pid_t *children, int count)
{
	int i;

	close(other->end[0]);
	close(other->end[1]);
	for (i = 0; i < count; i++)
		assert_int_equal(process_join(children[i]), 0);
	close(other->ready[0]);
	close(other->ready[1]);
}

struct attempt {
	const struct fixture *fixture;
	const char *expected;
	bool stopped;
};

/* In a process that was told to stop: it looks once, and does not wait. */
static int open_while_stopped(void *context)
{
	const struct attempt *attempt = context;
	struct rg_control *control = NULL;
	struct roger_err err = { 0 };

	if (attempt->stopped)
		rg_lock_interrupt();
	if (rg_control_open(attempt->fixture->folder.open, NAME, attempt->fixture->journal, NULL,
			    NULL, NULL, &control, &err) != ROGER_EREFUSED)
		return 1;
	return strcmp(err.message, attempt->expected) == 0 ? 0 : 2;
}

static int compare_numbers(const void *a, const void *b)
{
	const pid_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* A second append lock would number messages twice: defects T8. */
static void one_that_another_build_works_with_is_left(void **state)
{
	enum { NAMED = 8 };
	static const int counts[] = { 1, 2, NAMED + 1 };
	const struct fixture *fixture = *state;
	struct other other = { .fixture = fixture };
	char expected[400], *before, *after;
	struct attempt attempt = { fixture, expected, true };
	pid_t children[NAMED + 1];
	size_t round, at;
	int i;

	for (round = 0; round < 3; round++) {
		start_other(&other, children, counts[round]);
		/* /proc lists them by number, and numbers start again after the highest. */
		qsort(children, (size_t)counts[round], sizeof *children, compare_numbers);
		before = folder_read(&fixture->folder, NAME);
		at = (size_t)snprintf(expected, sizeof expected,
				      "another version of roger is at work in this workspace "
				      "(process%s",
				      round ? "es" : "");
		for (i = 0; i < counts[round] && i < NAMED; i++)
			at += (size_t)snprintf(expected + at, sizeof expected - at, "%s %d",
					       i ? "," : "", (int)children[i]);
		snprintf(expected + at, sizeof expected - at, "); stop it, then try again");
		assert_int_equal(process_join(process_fork(open_while_stopped, &attempt)), 0);
		after = folder_read(&fixture->folder, NAME);
		assert_memory_equal(before, after, sizeof(struct rg_control_page));
		free(before);
		free(after);
		end_other(&other, children, counts[round]);
		assert_false(is_marked(fixture));
	}
}

/* In another container: nobody has it mapped that /proc shows, but its byte is locked. */
static void one_of_another_build_that_cannot_be_seen_keeps_it(void **state)
{
	const struct fixture *fixture = *state;
	struct attempt attempt = {
		fixture,
		"another version of roger is at work in this workspace (in a "
		"process that cannot be seen from here); stop it, then try again",
		true
	};
	uint32_t version = RG_CONTROL_VERSION - 1;
	struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int file = openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_CLOEXEC), round;

	for (round = -1; round <= 1; round += 2) {
		mark(fixture);
		overwrite(fixture, offsetof(struct rg_control_page, version), &version,
			  sizeof version);
		byte.l_start = (RG_CONTROL_VERSION + round) * RG_CONTROL_PRESENCES + 5;
		assert_int_equal(fcntl(file, F_OFD_SETLK, &byte), 0);
		assert_int_equal(process_join(process_fork(open_while_stopped, &attempt)), 0);
		byte.l_type = F_UNLCK;
		assert_int_equal(fcntl(file, F_OFD_SETLK, &byte), 0);
		byte.l_type = F_WRLCK;
	}
	/* Those of this version do not count. */
	byte.l_start = RG_CONTROL_PRESENCE;
	assert_int_equal(fcntl(file, F_OFD_SETLK, &byte), 0);
	rg_control_close(open_control(fixture));
	assert_false(is_marked(fixture));
	close(file);
}

static void the_end_of_another_build_is_waited_for(void **state)
{
	const struct fixture *fixture = *state;
	struct other other = { .fixture = fixture, .until_wanted = true };
	pid_t child;

	start_other(&other, &child, 1);
	assert_false(is_marked(fixture));
	end_other(&other, &child, 1);
}

/* Who maps the file of the other build after that sees that it is no longer in force. */
static void one_that_another_build_left_is_retired(void **state)
{
	const struct fixture *fixture = *state;
	struct other other = { .fixture = fixture };
	uint32_t retired = 0;
	int left;

	start_other(&other, NULL, 0);
	left = openat(fixture->folder.open, NAME, O_RDONLY | O_CLOEXEC);
	assert_false(is_marked(fixture));
	assert_int_equal(
		pread(left, &retired, sizeof retired, offsetof(struct rg_control_page, retired)),
		sizeof retired);
	assert_int_equal(retired, 1);
	close(left);
	end_other(&other, NULL, 0);
}

/* ----------------------------------------------------- files that go wrong -- */

static void leave_nothing(const struct fixture *fixture)
{
	(void)!unlinkat(fixture->folder.open, NAME, 0);
}

static void leave_another_boot(const struct fixture *fixture)
{
	mark(fixture);
	put_into_another_boot(fixture);
}

static void leave_another_build(const struct fixture *fixture)
{
	uint32_t version = RG_CONTROL_VERSION - 1;

	mark(fixture);
	overwrite(fixture, offsetof(struct rg_control_page, version), &version, sizeof version);
}

static void leave_damage(const struct fixture *fixture)
{
	mark(fixture);
	overwrite(fixture, 0, "x", 1);
}

static int lowest_free_file(void)
{
	int file = dup(STDIN_FILENO);

	close(file);
	return file;
}

/* One call fails; then nothing is open, mapped or locked, and what was there is there still. */
static void open_with_one_that_fails(const struct fixture *fixture, const char *call, long left,
				     int error)
{
	int file = openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_CLOEXEC), r;
	int before = lowest_free_file();
	struct rg_control *control = NULL;
	struct roger_err err = { 0 };
	bool hit;

	faulty_begin(call, left, 1, error);
	r = rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL, NULL, NULL,
			    &control, &err);
	hit = faulty.hit;
	faulty_end();
	faulty.hit = hit;
	/* A checkpoint that cannot be opened is none: the third one. */
	if (hit && r == ROGER_OK && left > 1 && strcmp(call, "open_facts") == 0)
		hit = false;
	if (r != (hit ? ROGER_EIO : ROGER_OK) && error != FAULTY_SHORT)
		fail_msg("%s %ld: %d %s", call, left, r, err.message);
	if (r < 0 && strcmp(err.message, "faulty: Input/output error") != 0)
		assert_string_equal(err.message,
				    "cannot read /proc/sys/kernel/random/boot_id: mount /proc");
	assert_true((control != NULL) == (r == ROGER_OK));
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	rg_control_close(control);
	assert_int_equal(faulty_maps, 0);
	assert_int_equal(lowest_free_file(), before);
	close(file);
}

/* Nobody who could not look says that there is nothing: it would be the second append lock. */
static void each_call_that_fails_is_an_error(void **state)
{
	static void (*const leave[])(const struct fixture *) = {
		mark, leave_nothing, leave_another_boot, leave_another_build, leave_damage
	};
	static const char *const calls[] = { "open",	"open_facts", "facts", "read_at",
					     "replace", "lock",	      "map" };
	const struct fixture *fixture = *state;
	size_t i, k;
	long left;
	int is_short;

	for (i = 0; i < sizeof leave / sizeof *leave; i++) {
		for (k = 0; k < sizeof calls / sizeof *calls; k++) {
			for (is_short = 0; is_short < 1 + (k == 3); is_short++) {
				left = -1;
				do {
					leave_nothing(fixture);
					leave[i](fixture);
					open_with_one_that_fails(fixture, calls[k], ++left,
								 is_short ? FAULTY_SHORT : EIO);
				} while (faulty.hit);
			}
		}
	}
}

/* The boot cannot be told: then a control file in force stays what it is. */
static void who_cannot_tell_the_boot_replaces_nothing(void **state)
{
	const struct fixture *fixture = *state;
	static const int errors[] = { EIO, FAULTY_SHORT };
	char boot_id[RG_BOOT_ID_BYTES], none[RG_BOOT_ID_BYTES] = "";
	struct rg_control *control = NULL;
	struct roger_err err;
	size_t i;

	mark(fixture);
	for (i = 0; i < 3; i++) {
		faulty_begin(i < 2 ? "read_at" : "open", 0, 1, i < 2 ? errors[i] : EIO);
		assert_int_equal(rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL,
						 NULL, NULL, &control, &err),
				 ROGER_EIO);
		assert_true(faulty.hit);
		assert_string_equal(err.message,
				    "cannot read /proc/sys/kernel/random/boot_id: mount /proc");
		assert_true(is_marked(fixture));
		faulty_begin(i < 2 ? "read_at" : "open", 0, 1, i < 2 ? errors[i] : EIO);
		memset(boot_id, 'x', sizeof boot_id);
		rg_boot_id(boot_id);
		assert_memory_equal(boot_id, none, sizeof none);
	}
}

/* After 8 MiB at once, after ten seconds 1 MiB is enough; and a quarter of a large file, at least.
 */
static void a_checkpoint_is_due_after_work(void **state)
{
	enum { MIB = 1 << 20 };
	struct rg_control *control = open_control(*state);

	faulty_now_ns = INT64_C(5000000000);
	rg_control_note_checkpoint(control, 100);
	rg_control_set_end(control, 100 + 8 * MIB - 1, 1, 1, true);
	assert_false(rg_control_checkpoint_due(control));
	rg_control_set_end(control, 100 + 8 * MIB, 1, 1, true);
	assert_true(rg_control_checkpoint_due(control));
	rg_control_note_checkpoint(control, 100 + 7 * MIB);
	faulty_now_ns += INT64_C(9000000000);
	assert_false(rg_control_checkpoint_due(control));
	faulty_now_ns += INT64_C(1000000000);
	assert_true(rg_control_checkpoint_due(control));
	rg_control_note_checkpoint(control, 101 + 7 * MIB);
	faulty_now_ns += INT64_C(99000000000);
	assert_false(rg_control_checkpoint_due(control));
	rg_control_set_end(control, 50, 1, 1, true);
	assert_false(rg_control_checkpoint_due(control));
	rg_control_set_end(control, 101 + 11 * MIB - 1, 1, 1, true);
	assert_int_equal(rg_control_grow(control, 0, (16 * MIB - 1) / 16 / 4 * 3, NULL), ROGER_OK);
	rg_control_close(control);
	control = open_control(*state);
	assert_false(rg_control_checkpoint_due(control));
	rg_control_set_end(control, 101 + 12 * MIB, 1, 1, true);
	assert_true(rg_control_checkpoint_due(control));
	rg_control_close(control);
}

/* Else the chain of a journal that only other programs wrote would be computed from its start. */
static void a_checkpoint_keeps_the_tail_before(void **state)
{
	const struct fixture *fixture = *state;
	char name[RG_CHECKPOINT_NAME_BYTES];
	struct rg_control *control = open_control(fixture);
	struct rg_tail before;
	uint64_t end, needs;
	int file;

	assert_int_equal(ftruncate(fixture->journal, 20), 0);
	rg_control_set_end(control, 10, 7, 1, true);
	rg_control_set_end(control, 20, 8, 1, true);
	rg_control_checkpoint_name(NAME, name);
	file = openat(fixture->folder.open, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(rg_control_write_checkpoint(control, fixture->journal, 0, file, name, &end,
						     &needs, NULL),
			 ROGER_OK);
	close(file);
	rg_control_close(control);
	leave_nothing(fixture);
	control = open_control(fixture);
	assert_int_equal(rg_control_appended(control), 20);
	assert_true(rg_control_previous_tail(control, &before));
	assert_int_equal(before.appended, 10);
	assert_int_equal(before.chain, 7);
	rg_control_close(control);
}

/* As often as it says; who holds the lock looks once. */
static void what_contradicts_itself_is_looked_at_again(void **state)
{
	struct rg_control *control = open_control(*state);
	struct rg_control_page *page = rg_control_page(control);
	struct rg_named_agent each;
	struct rg_agent agent;
	struct rg_tail tail;
	int held, i;
	size_t at;

	memset(page + 1, 0, 32 * sizeof(struct rg_agent_slot));
	page->tails[page->tail_in_force].sum ^= 2;
	for (held = 0; held < 2; held++) {
		rg_control_hold(control, held);
		faulty_count("yield");
		assert_false(rg_control_tail(control, &tail));
		assert_int_equal(faulty_counted(), held ? 0 : 99);
		faulty_count("yield");
		(void)rg_control_find_agent(control, RG_STR("a"), &agent);
		assert_int_equal(faulty_counted(), held ? 0 : 99);
		/* At all slots together, in each walk. */
		for (i = 0; i < 2; i++) {
			at = 0;
			faulty_count("yield");
			assert_false(rg_control_next_agent(control, &at, &each));
			assert_int_equal(faulty_counted(), held ? 0 : 99);
		}
	}
	rg_control_retire(control);
	rg_control_close(control);
}

/* Nor is a file whose place cannot be looked at still the one of its name. */
static void a_place_that_cannot_be_seen_is_another(void **state)
{
	struct rg_control *control = open_control(*state);

	faulty_begin("look", 0, 1, EIO);
	assert_false(in_place(control));
	assert_true(in_place(control));
	leave_nothing(*state);
	assert_false(in_place(control));
	rg_control_close(control);
	assert_int_equal(faulty_maps, 0);
}

/* ----------------------------------------------------------- another build -- */

struct late {
	struct other other;
	pid_t child;
};

/* It maps the file after the first look, and before the second. */
static void come_late(void *context)
{
	struct late *late = context;
	char byte;

	late->child = process_fork(work_with_it, &late->other);
	assert_int_equal(read(late->other.ready[0], &byte, 1), 1);
}

static int open_between(void *context)
{
	struct late *late = context;
	struct rg_control *control = NULL;
	struct roger_err err = { 0 };
	char expected[200];
	int r;

	rg_lock_interrupt();
	faulty_meanwhile("write", 0, come_late, late);
	r = rg_control_open(late->other.fixture->folder.open, NAME, late->other.fixture->journal,
			    NULL, NULL, NULL, &control, &err);
	snprintf(expected, sizeof expected,
		 "another version of roger is at work in this workspace (process %d); stop it, "
		 "then try again",
		 (int)late->child);
	kill(late->child, SIGKILL);
	(void)process_join(late->child);
	if (!faulty.hit || r != ROGER_EREFUSED || faulty_maps != 0)
		return 1;
	return strcmp(err.message, expected) == 0 ? 0 : 2;
}

static void another_build_that_comes_between_is_left(void **state)
{
	const struct fixture *fixture = *state;
	struct late late = { .other = { .fixture = fixture } };
	char *before, *after;

	start_other(&late.other, NULL, 0);
	before = folder_read(&fixture->folder, NAME);
	assert_int_equal(process_join(process_fork(open_between, &late)), 0);
	after = folder_read(&fixture->folder, NAME);
	assert_memory_equal(before, after, folder_size(&fixture->folder, NAME));
	free(before);
	free(after);
	end_other(&late.other, NULL, 0);
}

static void cut_it_short(void *context)
{
	const struct fixture *fixture = context;
	int file = openat(fixture->folder.open, NAME, O_RDWR | O_TRUNC | O_CLOEXEC);

	assert_true(file >= 0);
	close(file);
}

/* Before it is marked as retired, so the mark is all that it has then. */
static void another_build_whose_file_is_cut_short_is_replaced(void **state)
{
	struct fixture *fixture = *state;

	leave_another_build(fixture);
	faulty_meanwhile("write", 0, cut_it_short, fixture);
	rg_control_close(open_control(fixture));
	assert_true(faulty.hit);
	assert_false(is_marked(fixture));
}

static int open_until(const struct fixture *fixture, int64_t *until_ns)
{
	struct rg_control *control = NULL;
	int r = rg_control_open(fixture->folder.open, NAME, fixture->journal, NULL, NULL, until_ns,
				&control, NULL);

	rg_control_close(control);
	return r;
}

/* Ten seconds, and a look every 50 ms; a caller that opens again waits no more. */
static void another_build_is_not_waited_for_for_ever(void **state)
{
	enum { LOOKS = 10000 / 50 + 1 };
	const struct fixture *fixture = *state;
	struct other other = { .fixture = fixture };
	int64_t until_ns = 0;
	pid_t child;

	start_other(&other, &child, 1);
	faulty_now_ns = 1;
	faulty_count("lock");
	assert_int_equal(open_until(fixture, &until_ns), ROGER_EREFUSED);
	assert_int_equal(faulty_counted(), LOOKS);
	assert_int_equal(open_until(fixture, &until_ns), ROGER_EREFUSED);
	assert_int_equal(open_until(fixture, &until_ns), ROGER_EREFUSED);
	assert_int_equal(faulty_counted(), LOOKS + 2);
	/* Much later it is met anew. */
	faulty_now_ns += INT64_C(3600) * 1000000000;
	assert_int_equal(open_until(fixture, &until_ns), ROGER_EREFUSED);
	assert_int_equal(faulty_counted(), LOOKS + 2 + LOOKS);
	assert_int_equal(faulty_maps, 0);
	end_other(&other, &child, 1);
}

/* Who holds the journal's lock for ten seconds is another build if the control file is one's. */
static void a_lock_that_another_build_keeps_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	struct other other = { .fixture = fixture };
	int64_t until_ns = 0;
	int held = openat(fixture->folder.open, "messages.jsonl", O_RDWR | O_CLOEXEC);

	assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
	faulty_now_ns = 1;
	assert_int_equal(open_until(fixture, &until_ns), ROGER_ETIMEOUT);
	assert_int_equal(open_until(fixture, &until_ns), ROGER_ETIMEOUT);
	assert_in_range(faulty_now_ns, INT64_C(10000000000), INT64_C(10100000000));
	assert_int_equal(flock(held, LOCK_UN), 0);
	start_other(&other, NULL, 0);
	assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(open_until(fixture, &until_ns), ROGER_EREFUSED);
	assert_in_range(faulty_now_ns, INT64_C(10000000000), INT64_C(10100000000));
	assert_int_equal(flock(held, LOCK_UN), 0);
	assert_int_equal(open_until(fixture, &until_ns), ROGER_OK);
	close(held);
	end_other(&other, NULL, 0);
}

/* ------------------------------------------------------------- witnesses -- */

/* The journal has 11 bytes, and so many of them are known; chain 77. */
static const struct {
	uint64_t appended, synced;
	uint32_t failures;
	uint64_t tail_sum, synced_sum; /* changes of them */
	struct rg_witness witness;
} testimonies[] = {
	{ 11, 11, 0, 0, 0, { 11, 77, true } }, { 11, 10, 0, 0, 0, { 10, 0, false } },
	{ 11, 0, 0, 0, 0, { 0, 0, false } },   { 11, 12, 0, 0, 0, { 0, 0, false } },
	{ 11, 11, 1, 0, 0, { 0, 0, false } },  { 11, 11, 0, 2, 0, { 0, 0, false } },
	{ 11, 11, 0, 0, 2, { 0, 0, false } },  { 12, 12, 0, 0, 0, { 12, 77, true } },
};

static void put_testimony(const struct fixture *fixture, size_t i, bool other_boot)
{
	struct described all;
	uint64_t at;

	describe(fixture, &all, &at);
	all.page.boot_id[0] ^= other_boot;
	all.page.tails[1].appended = testimonies[i].appended;
	all.page.synced = testimonies[i].synced;
	all.page.failures = testimonies[i].failures;
	sum_described(&all);
	all.page.tails[1].sum ^= testimonies[i].tail_sum;
	all.page.synced_sum ^= testimonies[i].synced_sum;
	put(fixture, &all);
}

static void expect_witness(struct rg_witness witness, struct rg_witness expected)
{
	assert_int_equal(witness.end, expected.end);
	assert_int_equal(witness.chain, expected.chain);
	assert_int_equal(witness.chained, expected.chained);
}

/* What is in force, and what was left of another boot; where it knows more than the journal has. */
static void what_was_synced_is_testified(void **state)
{
	const struct rg_witness none = { 0 }, kept = { 6, 66, true };
	struct rg_control *control;
	size_t i;

	for (i = 0; i < sizeof testimonies / sizeof *testimonies; i++) {
		put_testimony(*state, i, true);
		control = open_control(*state);
		expect_witness(rg_control_witness(control), testimonies[i].witness);
		rg_control_close(control);
		put_testimony(*state, i, false);
		control = open_control(*state);
		if (testimonies[i].tail_sum || testimonies[i].appended > 11) {
			expect_witness(rg_control_witness(control), testimonies[i].witness);
		} else {
			expect_witness(rg_control_witness(control), kept);
			expect_witness(rg_control_testify(control), testimonies[i].witness);
		}
		rg_control_close(control);
	}
	/* Nothing of what is no control file. */
	put_testimony(*state, 0, true);
	overwrite(*state, 0, "x", 1);
	control = open_control(*state);
	expect_witness(rg_control_witness(control), none);
	rg_control_close(control);
}

static void testify(void *context, struct rg_witness *ret_witness)
{
	*ret_witness = *(struct rg_witness *)context;
}

/* The one that says most. */
static void others_are_asked_when_it_is_made(void **state)
{
	const struct fixture *fixture = *state;
	static const struct {
		size_t testimony;
		struct rg_witness other, witness;
	} table[] = {
		{ 1, { 9, 5, true }, { 10, 0, false } },
		{ 1, { 10, 5, true }, { 10, 5, true } },
		{ 0, { 11, 5, false }, { 11, 77, true } },
		{ 0, { 12, 5, false }, { 12, 5, false } },
		{ 1, { 11, 5, true }, { 11, 5, true } },
		{ 0, { 0, 0, false }, { 11, 77, true } },
	};
	struct rg_control *control;
	struct rg_witness other;
	size_t i;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		put_testimony(fixture, table[i].testimony, true);
		other = table[i].other;
		assert_int_equal(rg_control_open(fixture->folder.open, NAME, fixture->journal,
						 testify, &other, NULL, &control, NULL),
				 ROGER_OK);
		expect_witness(rg_control_witness(control), table[i].witness);
		rg_control_close(control);
	}
}

/* It counts only with its sum. */
static void a_witness_that_does_not_fit_is_none(void **state)
{
	const struct rg_witness none = { 0 }, witness = { 11, 77, true };
	struct rg_control *control = open_control(*state);
	struct rg_control_page *page = rg_control_page(control);
	int i;

	for (i = 0; i < 5; i++) {
		rg_control_set_witness(control, witness);
		expect_witness(rg_control_witness(control), witness);
		page->witness_end += i == 0;
		page->witness_chain += i == 1;
		page->witness_chained -= i == 2;
		page->witness_sum ^= i == 3 ? 2 : 0;
		page->witness_sum ^= i == 4 ? 1 : 0;
		expect_witness(rg_control_witness(control), none);
	}
	rg_control_close(control);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fresh_one_is_whole_and_private),
		TEST(a_boot_is_known_by_what_the_system_says),
		TEST(one_that_fits_is_kept),
		TEST(one_of_another_boot_is_made_anew),
		TEST(one_of_another_journal_is_made_anew),
		TEST(one_that_knows_more_than_the_journal_is_made_anew_with_its_numbers),
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
		TEST(who_sleeps_is_woken_when_it_is_retired),
		TEST(one_that_another_build_works_with_is_left),
		TEST(one_of_another_build_that_cannot_be_seen_keeps_it),
		TEST(the_end_of_another_build_is_waited_for),
		TEST(one_that_another_build_left_is_retired),
		TEST(one_is_read_as_it_is_described),
		TEST(what_is_judged_is_all_of_it),
		TEST(what_another_boot_knew_is_bounded),
		TEST(a_damaged_tail_is_not_mended_by_writing),
		TEST(a_new_tail_leaves_the_old_one_whole),
		TEST(offsets_are_believed_within_bounds),
		TEST(only_the_map_of_an_address_is_mended),
		TEST(handles_of_one_file_share_its_map),
		TEST(tables_are_used_to_the_last_place),
		TEST(room_is_told_to_the_last_place),
		TEST(growing_makes_room_and_no_more),
		TEST(growing_what_is_damaged_is_refused),
		TEST(damage_is_told_by_who_holds_the_lock),
		TEST(counts_are_bounded),
		TEST(opening_without_memory_is_an_error),
		TEST(growing_without_memory_changes_nothing),
		TEST(one_that_cannot_be_made_is_an_error),
		TEST(each_call_that_fails_is_an_error),
		TEST(who_cannot_tell_the_boot_replaces_nothing),
		TEST(a_checkpoint_is_due_after_work),
		TEST(a_checkpoint_keeps_the_tail_before),
		TEST(what_contradicts_itself_is_looked_at_again),
		TEST(a_place_that_cannot_be_seen_is_another),
		TEST(another_build_that_comes_between_is_left),
		TEST(another_build_whose_file_is_cut_short_is_replaced),
		TEST(another_build_is_not_waited_for_for_ever),
		TEST(a_lock_that_another_build_keeps_is_refused),
		TEST(what_was_synced_is_testified),
		TEST(others_are_asked_when_it_is_made),
		TEST(a_witness_that_does_not_fit_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
