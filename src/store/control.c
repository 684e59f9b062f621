#include "store/control.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "store/file.h"
#include "store/process.h"

#define MAGIC "rogerctl"

/* Of a fresh file: small enough for a small disk, see rg_control_grow(). */
enum { AGENTS_FIRST = 32, COUNTS_FIRST = 512 };

enum { OTHERS_MAX = 8, OTHERS_LOOK_MS = 50 };

struct rg_control {
	int folder;
	char name[256];
	struct rg_control_page *page;
	size_t size;
	struct rg_agent_slot *agents;
	struct rg_count_slot *counts;
};

/* ----------------------------------------------------------- the file -- */

static size_t size_of(size_t agents, size_t counts)
{
	return sizeof(struct rg_control_page) + agents * sizeof(struct rg_agent_slot) +
	       counts * sizeof(struct rg_count_slot);
}

void rg_control_boot_id(char to[RG_BOOT_ID_BYTES])
{
	struct rg_buf text;
	bool found;

	rg_buf_init(&text, 8192);
	memset(to, 0, RG_BOOT_ID_BYTES);
	if (rg_file_read_all("/proc/sys/kernel/random/boot_id", 100, &text, &found, NULL) ==
		    ROGER_OK &&
	    found && text.length > 36)
		memcpy(to, text.data, 36);
	rg_buf_deinit(&text);
}

static struct rg_control_page fresh_page(const struct rg_file_facts *journal, size_t agents,
					 size_t counts)
{
	struct rg_control_page page = {
		.version = RG_CONTROL_VERSION,
		.journal_device = journal->device,
		.journal_inode = journal->inode,
		.agent_capacity = (uint32_t)agents,
		.count_capacity = (uint32_t)counts,
		.epoch = 1,
	};

	memcpy(page.magic, MAGIC, sizeof page.magic);
	rg_control_boot_id(page.boot_id);
	return page;
}

static bool is_power_of_two(uint32_t n)
{
	return n && (n & (n - 1)) == 0;
}

/* Is the journal at least as long as the page says?  Asked in this order: writers are at work. */
static bool reaches(const struct rg_control_page *page, int journal_file)
{
	uint64_t appended = atomic_load(&page->appended);
	struct rg_file_facts journal;

	return rg_file_facts(journal_file, "messages.jsonl", &journal, NULL) == ROGER_OK &&
	       (uint64_t)journal.size >= appended;
}

/* Does the page speak of this boot, this journal and this file? */
static bool valid(const struct rg_control_page *page, const struct rg_file_facts *file,
		  const struct rg_file_facts *journal)
{
	char boot_id[RG_BOOT_ID_BYTES];

	if (memcmp(page->magic, MAGIC, sizeof page->magic) != 0 ||
	    page->version != RG_CONTROL_VERSION)
		return false;
	if (page->journal_device != journal->device || page->journal_inode != journal->inode)
		return false;
	if (!is_power_of_two(page->agent_capacity) || !is_power_of_two(page->count_capacity) ||
	    size_of(page->agent_capacity, page->count_capacity) != (size_t)file->size)
		return false;
	/* More of them than it has room for would make it grow without end. */
	if (atomic_load(&page->agents_used) > page->agent_capacity ||
	    atomic_load(&page->counts_used) > page->count_capacity)
		return false;
	if (rg_control_retired(page))
		return false;
	rg_control_boot_id(boot_id);
	return boot_id[0] && memcmp(boot_id, page->boot_id, sizeof boot_id) == 0;
}

static void use_map(struct rg_control *control, void *map, size_t size)
{
	control->page = map;
	control->size = size;
	control->agents = (struct rg_agent_slot *)(control->page + 1);
	control->counts = (struct rg_count_slot *)(control->agents + control->page->agent_capacity);
}

/* Map the file where it is there and valid; *ret_mapped says whether it was. */
static int map_valid(struct rg_control *control, int journal_file, bool *ret_mapped,
		     struct roger_err *err)
{
	struct rg_file_facts journal;
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	struct rg_file_facts facts;
	void *map;
	int r;

	*ret_mapped = false;
	r = rg_file_facts(journal_file, "messages.jsonl", &journal, err);
	if (r == ROGER_OK)
		r = rg_file_open(control->folder, control->name, RG_FILE_CHANGE, &file, err);
	if (r < 0 || file == RG_NO_FILE)
		return r;
	r = rg_file_facts(file, control->name, &facts, err);
	if (r < 0)
		return r;
	if ((size_t)facts.size < sizeof(struct rg_control_page))
		return ROGER_OK;
	r = rg_file_map(file, (size_t)facts.size, control->name, &map, err);
	if (r < 0)
		return r;
	if (!valid(map, &facts, &journal) || !reaches(map, journal_file)) {
		rg_file_unmap(map, (size_t)facts.size);
		return ROGER_OK;
	}
	use_map(control, map, (size_t)facts.size);
	*ret_mapped = true;
	return ROGER_OK;
}

static int put_file(struct rg_control *control, const struct rg_control_page *page,
		    const struct rg_agent_slot *agents, const struct rg_count_slot *counts,
		    struct roger_err *err)
{
	struct rg_buf text;
	int r;

	rg_buf_init(&text, SIZE_MAX);
	rg_buf_add(&text, page, sizeof *page);
	rg_buf_add(&text, agents, page->agent_capacity * sizeof *agents);
	rg_buf_add(&text, counts, page->count_capacity * sizeof *counts);
	r = text.failed ? rg_fail_memory(err)
			: rg_file_replace(control->folder, control->name, rg_buf_str(&text), false,
					  err);
	rg_buf_deinit(&text);
	return r;
}

static int put_fresh(struct rg_control *control, int journal_file, struct roger_err *err)
{
	struct rg_agent_slot *agents = calloc(AGENTS_FIRST, sizeof *agents);
	struct rg_count_slot *counts = calloc(COUNTS_FIRST, sizeof *counts);
	struct rg_file_facts journal;
	struct rg_control_page page;
	int r;

	r = agents && counts ? rg_file_facts(journal_file, "messages.jsonl", &journal, err)
			     : rg_fail_memory(err);
	if (r == ROGER_OK) {
		page = fresh_page(&journal, AGENTS_FIRST, COUNTS_FIRST);
		r = put_file(control, &page, agents, counts, err);
	}
	free(agents);
	free(counts);
	return r;
}

/* Is it the file of another build, in force in this boot for this journal? */
static bool is_of_another_build(struct rg_control *control, const struct rg_file_facts *journal,
				uint64_t *ret_inode)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	struct rg_file_facts facts;
	struct rg_control_page page;
	char boot_id[RG_BOOT_ID_BYTES];
	size_t got = 0;

	if (rg_file_open(control->folder, control->name, RG_FILE_READ, &file, NULL) < 0 ||
	    file == RG_NO_FILE || rg_file_facts(file, control->name, &facts, NULL) < 0 ||
	    rg_file_read_at(file, &page, sizeof page, 0, &got, NULL) < 0 || got < sizeof page)
		return false;
	*ret_inode = facts.inode;
	rg_control_boot_id(boot_id);
	/* What stands before the locks is the same in every version. */
	return memcmp(page.magic, MAGIC, sizeof page.magic) == 0 &&
	       page.version != RG_CONTROL_VERSION && !page.retired &&
	       page.journal_device == journal->device && page.journal_inode == journal->inode &&
	       memcmp(boot_id, page.boot_id, sizeof boot_id) == 0;
}

/*
 * Two layouts would be two append locks.  So nothing is put in the place of a file
 * that a living process of another build works with: it is waited for, and named.
 */
static int await_other_builds(struct rg_control *control, int journal_file, struct roger_err *err)
{
	int64_t ids[OTHERS_MAX], until_ns = rg_clock_monotonic_ns() + RG_LOCK_WAIT_MS * 1000000LL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf named = { .maximum = 200 };
	struct rg_file_facts journal;
	uint64_t inode;
	size_t count, i;
	int r;

	for (;;) {
		r = rg_file_facts(journal_file, "messages.jsonl", &journal, err);
		if (r < 0 || !is_of_another_build(control, &journal, &inode))
			return r;
		count = rg_process_find_mapping(inode, control->name, ids, OTHERS_MAX);
		if (!count)
			return ROGER_OK;
		if (rg_clock_monotonic_ns() >= until_ns)
			break;
		rg_clock_sleep(OTHERS_LOOK_MS);
	}
	for (i = 0; i < count; i++)
		rg_buf_printf(&named, "%s%lld", i ? ", " : "", (long long)ids[i]);
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "another version of roger is at work here: end process%s %.*s first",
		       count == 1 ? "" : "es", RG_STR_ARGS(rg_buf_str(&named)));
}

/* Make it anew; the system's lock on the journal keeps two from doing so at once. */
static int replace_invalid(struct rg_control *control, int journal_file, struct roger_err *err)
{
	bool mapped = false;
	int r;

	r = await_other_builds(control, journal_file, err);
	if (r == ROGER_OK)
		r = rg_file_lock(journal_file, "messages.jsonl", RG_LOCK_WAIT_MS, err);
	if (r < 0)
		return r;
	r = map_valid(control, journal_file, &mapped, err);
	if (r == ROGER_OK && !mapped) {
		r = put_fresh(control, journal_file, err);
		if (r == ROGER_OK)
			r = map_valid(control, journal_file, &mapped, err);
		if (r == ROGER_OK && !mapped)
			r = rg_fail(err, ROGER_EIO, 0,
				    "'%s' does not hold what was written to it, or the boot id "
				    "cannot be read",
				    control->name);
	}
	rg_file_unlock(journal_file);
	return r;
}

int rg_control_open(int folder, const char *name, int journal_file, struct rg_control **ret_control,
		    struct roger_err *err)
{
	struct rg_control *control = calloc(1, sizeof *control);
	bool mapped = false;
	int r;

	if (!control)
		return rg_fail_memory(err);
	control->folder = folder;
	snprintf(control->name, sizeof control->name, "%s", name);

	r = map_valid(control, journal_file, &mapped, err);
	if (r == ROGER_OK && !mapped)
		r = replace_invalid(control, journal_file, err);
	if (r < 0) {
		rg_control_close(control);
		return r;
	}
	*ret_control = control;
	return ROGER_OK;
}

struct rg_control *rg_control_close(struct rg_control *control)
{
	if (!control)
		return NULL;
	rg_file_unmap(control->page, control->size);
	free(control);
	return NULL;
}

struct rg_control_page *rg_control_page(struct rg_control *control)
{
	return control->page;
}

/* ------------------------------------------------------------- growing -- */

/* Open addressing stays quick up to three quarters. */
static bool fits(size_t used, size_t more, size_t capacity)
{
	return used + more <= capacity / 4 * 3;
}

bool rg_control_has_room(struct rg_control *control, size_t agents, size_t counts)
{
	const struct rg_control_page *page = control->page;

	return fits(atomic_load(&page->agents_used), agents, page->agent_capacity) &&
	       fits(atomic_load(&page->counts_used), counts, page->count_capacity);
}

static size_t capacity_for(size_t used, size_t more, size_t capacity)
{
	while (!fits(used, more, capacity))
		capacity *= 2;
	return capacity;
}

static struct rg_agent_slot *agent_place(struct rg_agent_slot *agents, size_t capacity,
					 struct roger_str name);
static struct rg_count_slot *count_place(struct rg_count_slot *counts, size_t capacity,
					 uint64_t hash);

static void move_slots(const struct rg_control *control, struct rg_agent_slot *agents,
		       size_t agent_capacity, struct rg_count_slot *counts, size_t count_capacity)
{
	size_t i;

	/* A length that no name has is damage. */
	for (i = 0; i < control->page->agent_capacity; i++)
		if (control->agents[i].length && control->agents[i].length <= RG_NAME_CHARS_MAX)
			memcpy(agent_place(agents, agent_capacity,
					   (struct roger_str){ control->agents[i].name,
							       control->agents[i].length }),
			       &control->agents[i], sizeof *agents);
	for (i = 0; i < control->page->count_capacity; i++)
		if (control->counts[i].hash)
			memcpy(count_place(counts, count_capacity, control->counts[i].hash),
			       &control->counts[i], sizeof *counts);
}

/*
 * Others are at work on it: each word is taken as it stands at one moment, and
 * none of them before the file was retired.
 */
static void copy_words(const struct rg_control_page *from, struct rg_control_page *to)
{
	const _Atomic uint64_t *words = (const _Atomic uint64_t *)from;
	size_t i;

	_Static_assert(sizeof *from % sizeof *words == 0, "the page is made of words");
	for (i = 0; i < sizeof *from / sizeof *words; i++)
		((uint64_t *)to)[i] = atomic_load(&words[i]);
}

/* The page of the larger file: all of the old one but the locks of one moment. */
static void copy_page(const struct rg_control_page *from, struct rg_control_page *to, size_t agents,
		      size_t counts)
{
	copy_words(from, to);
	to->append_lock.word = 0;
	to->sync_lock.word = 0;
	to->retired = 0;
	to->agent_capacity = (uint32_t)agents;
	to->count_capacity = (uint32_t)counts;
}

/* The old file is retired before its locks are copied, so that a release is seen here or there. */
static int put_larger(struct rg_control *control, struct rg_agent_slot *agents,
		      size_t agent_capacity, struct rg_count_slot *counts, size_t count_capacity,
		      struct roger_err *err)
{
	struct rg_control_page *page = control->page, larger;
	int r;

	atomic_store(&page->retired, 1);
	move_slots(control, agents, agent_capacity, counts, count_capacity);
	copy_page(page, &larger, agent_capacity, count_capacity);
	r = put_file(control, &larger, agents, counts, err);
	if (r < 0)
		atomic_store(&page->retired, 0);
	atomic_fetch_add(&page->wake, 1);
	rg_lock_wake(&page->wake, RG_WAKE_ALL, RG_SLEEP_ANY);
	return r;
}

int rg_control_grow(struct rg_control *control, int journal, size_t agents, size_t counts,
		    struct roger_err *err)
{
	struct rg_control_page *page = control->page;
	size_t agent_capacity = capacity_for(page->agents_used, agents, page->agent_capacity);
	size_t count_capacity = capacity_for(page->counts_used, counts, page->count_capacity);
	struct rg_agent_slot *agent_slots = calloc(agent_capacity, sizeof *agent_slots);
	struct rg_count_slot *count_slots = calloc(count_capacity, sizeof *count_slots);
	int r;

	r = agent_slots && count_slots
		    ? rg_file_lock(journal, "messages.jsonl", RG_LOCK_WAIT_MS, err)
		    : rg_fail_memory(err);
	if (r == ROGER_OK) {
		r = put_larger(control, agent_slots, agent_capacity, count_slots, count_capacity,
			       err);
		rg_file_unlock(journal);
	}
	free(agent_slots);
	free(count_slots);
	return r;
}

/* --------------------------------------------------------------- tally -- */

/* The slot that holds the name, or the free one where it belongs; NULL: neither. */
static struct rg_agent_slot *agent_place(struct rg_agent_slot *agents, size_t capacity,
					 struct roger_str name)
{
	size_t at = rg_hash(0, name.data, name.length) & (capacity - 1), tries;
	uint32_t length;

	for (tries = 0; tries < capacity; tries++, at = (at + 1) & (capacity - 1)) {
		length = atomic_load_explicit(&agents[at].length, memory_order_acquire);
		if (length == 0 ||
		    (length == name.length && memcmp(agents[at].name, name.data, length) == 0))
			return &agents[at];
	}
	return NULL;
}

static struct rg_count_slot *count_place(struct rg_count_slot *counts, size_t capacity,
					 uint64_t hash)
{
	size_t at = hash & (capacity - 1), tries;
	uint64_t there;

	for (tries = 0; tries < capacity; tries++, at = (at + 1) & (capacity - 1)) {
		there = atomic_load_explicit(&counts[at].hash, memory_order_acquire);
		if (there == 0 || there == hash)
			return &counts[at];
	}
	return NULL;
}

struct rg_agent_slot *rg_control_find_agent(struct rg_control *control, struct roger_str name)
{
	struct rg_agent_slot *slot =
		agent_place(control->agents, control->page->agent_capacity, name);

	return slot && atomic_load_explicit(&slot->length, memory_order_acquire) ? slot : NULL;
}

struct rg_agent_slot *rg_control_agent(struct rg_control *control, struct roger_str name)
{
	struct rg_agent_slot *slot =
		agent_place(control->agents, control->page->agent_capacity, name);

	rg_assert(slot && name.length > 0 && name.length <= sizeof slot->name);
	if (slot->length == 0) {
		memcpy(slot->name, name.data, name.length);
		atomic_fetch_add(&control->page->agents_used, 1);
		atomic_store_explicit(&slot->length, (uint32_t)name.length, memory_order_release);
	}
	return slot;
}

struct rg_agent_slot *rg_control_next_agent(struct rg_control *control, size_t *i)
{
	struct rg_agent_slot *slot;
	uint32_t length;

	while (*i < control->page->agent_capacity) {
		slot = &control->agents[(*i)++];
		length = atomic_load_explicit(&slot->length, memory_order_acquire);
		if (length > 0 && length <= sizeof slot->name)
			return slot;
	}
	return NULL;
}

uint64_t rg_count_hash(enum rg_count kind, struct roger_str first, struct roger_str second)
{
	uint64_t hash = rg_hash(rg_hash((uint64_t)kind + 1, first.data, first.length), second.data,
				second.length);

	return hash ? hash : 1;
}

struct rg_count_slot *rg_control_find_count(struct rg_control *control, uint64_t hash)
{
	struct rg_count_slot *slot =
		count_place(control->counts, control->page->count_capacity, hash);

	return slot && atomic_load_explicit(&slot->hash, memory_order_acquire) == hash ? slot
										       : NULL;
}

struct rg_count_slot *rg_control_count(struct rg_control *control, uint64_t hash)
{
	struct rg_count_slot *slot =
		count_place(control->counts, control->page->count_capacity, hash);

	rg_assert(slot != NULL);
	if (slot->hash == 0) {
		atomic_fetch_add(&control->page->counts_used, 1);
		atomic_store_explicit(&slot->hash, hash, memory_order_release);
	}
	return slot;
}
