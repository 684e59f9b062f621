#include "store/file/control.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "host/file.h"
#include "host/process.h"

#define MAGIC "rogerctl"

/* Sizes of a new file: small enough for a small disk; rg_control_grow() enlarges it. */
enum { AGENTS_FIRST = 32, COUNTS_FIRST = 512 };

enum { OTHERS_MAX = 8, OTHERS_LOOK_MS = 50 };

/* A reader without the lock may meet a change in progress: it retries this often. */
enum { LOOKS_MAX = 100 };

/* The bytes before the checksum, and the bytes that are the same in every version. */
enum {
	HEAD_BYTES = offsetof(struct rg_control_page, sum),
	COMMON_BYTES = offsetof(struct rg_control_page, generation),
};

/* A send asks some six times for two agents: the hashes of names that were asked for last. */
enum { HASHED_NAMES = 4 };
struct hashed_name {
	char name[RG_NAME_CHARS_MAX];
	size_t length;
	uint64_t hash;
};

/* A file as it is mapped in this process, once for all handles that use it. */
struct map {
	struct rg_control_page *page;
	size_t size;
	uint64_t device;
	uint64_t inode;
	int users;
	atomic_bool lost; /* the map is only memory: rg_control_mend() */
	struct map *next;
};

struct rg_control {
	int folder;
	char name[256];
	struct map *map;
	struct rg_control_page *page;	/* of the map */
	unsigned char head[HEAD_BYTES]; /* as it was when the file was found valid */
	uint64_t generation;
	size_t agent_capacity;
	size_t count_capacity;
	struct rg_agent_slot *agents;
	struct rg_count_slot *counts;
	bool held;    /* this handle has append_lock, so nobody else changes a slot or the tail */
	bool damaged; /* a checksum is wrong */
	int looks;    /* retries of one iteration by rg_control_next_agent(), over all slots */
	struct hashed_name hashed[HASHED_NAMES];
	rg_witness_source *source;
	void *context; /* for source */
};

/* ---------------------------------------------------------------- sums -- */

/* A fast checksum, no protection against intent: who can write the file can write any checksum. */
static uint64_t mix_sum(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 29;
}

/* Copy the head, but with 0 as the retired mark, its only part that may change. */
static void copy_head(unsigned char to[HEAD_BYTES], const void *page)
{
	const size_t mark = offsetof(struct rg_control_page, retired), behind = mark + 4;

	memset(to, 0, HEAD_BYTES);
	memcpy(to, page, mark);
	memcpy(to + behind, (const unsigned char *)page + behind, HEAD_BYTES - behind);
}

/* The checksum of the head; never 0 for zero bytes. */
static uint64_t sum_of_head(const void *page)
{
	unsigned char head[HEAD_BYTES];

	copy_head(head, page);
	return rg_hash(RG_CONTROL_VERSION, head, sizeof head);
}

static uint64_t sum_of_tail(uint64_t generation, const struct rg_tail *tail)
{
	uint64_t sum = mix_sum(mix_sum(generation, tail->appended), tail->lines);

	return mix_sum(mix_sum(sum, tail->chain), (uint64_t)tail->epoch) | 1;
}

static uint64_t sum_of_synced(uint64_t generation, uint64_t synced)
{
	return mix_sum(~generation, synced) | 1;
}

static uint64_t sum_of_witness(uint64_t generation, struct rg_witness witness)
{
	return mix_sum(mix_sum(mix_sum(~generation, witness.end), witness.chain), witness.chained) |
	       1;
}

/* Most slots are free, and their empty names are not hashed. */
static uint64_t hash_of_name(const char *name, size_t length)
{
	return length ? rg_hash(0, name, length) : 0;
}

/* Like hash_of_name(), of a name that is likely asked for again. */
static uint64_t hash_once(struct rg_control *control, struct roger_str name)
{
	const size_t last = name.length - 1;
	struct hashed_name *known;

	if (!name.length || name.length > sizeof known->name)
		return hash_of_name(name.data, name.length);
	known = &control->hashed[((unsigned char)name.data[last] + last) % HASHED_NAMES];
	if (known->length != name.length || memcmp(known->name, name.data, name.length) != 0) {
		known->length = name.length;
		known->hash = hash_of_name(name.data, name.length);
		memcpy(known->name, name.data, name.length);
	}
	return known->hash;
}

/* Free slots have checksums too; otherwise zeroed bytes would make a used key look new.  hash: of
 * the name, which has that length. */
static uint64_t sum_of_agent(uint64_t generation, size_t at, uint64_t hash, size_t length,
			     const struct rg_agent *agent)
{
	uint64_t sum = mix_sum(generation, at);

	if (length)
		sum = mix_sum(mix_sum(sum, hash), (uint64_t)agent->unread << 32 | length);
	return mix_sum(mix_sum(sum, (uint64_t)agent->epoch), (uint64_t)agent->seq) | 1;
}

static uint64_t word_of_count(uint64_t generation, size_t at, uint64_t hash, uint32_t count)
{
	uint64_t sum = mix_sum(mix_sum(mix_sum(generation, ~(uint64_t)at), hash), count);

	return ((sum | UINT64_C(1) << 32) & ~(uint64_t)UINT32_MAX) | count;
}

/* The seconds of a clock that all processes of this boot share. */
static uint32_t boot_seconds(void)
{
	return (uint32_t)(rg_clock_monotonic_ns() / 1000000000);
}

/* ----------------------------------------------------------- the file -- */

static size_t size_of(size_t agents, size_t counts)
{
	return sizeof(struct rg_control_page) + agents * sizeof(struct rg_agent_slot) +
	       counts * sizeof(struct rg_count_slot);
}

/* Without a boot id, no control file may be judged to be of another boot. */
static int get_boot_id(char to[RG_BOOT_ID_BYTES], struct roger_err *err)
{
	rg_boot_id(to);
	if (to[0])
		return ROGER_OK;
	/* Too many open files are no fault of /proc. */
	if (errno == EMFILE || errno == ENFILE)
		return rg_fail(err, ROGER_EIO, errno, "open /proc/sys/kernel/random/boot_id");
	return rg_fail(err, ROGER_EIO, 0,
		       "cannot read /proc/sys/kernel/random/boot_id: mount /proc");
}

static bool is_power_of_two(uint32_t n)
{
	return n && (n & (n - 1)) == 0;
}

static struct rg_tail load_tail(const struct rg_control_page *page, uint32_t which)
{
	return (struct rg_tail){
		.appended =
			atomic_load_explicit(&page->tails[which].appended, memory_order_relaxed),
		.lines = atomic_load_explicit(&page->tails[which].lines, memory_order_relaxed),
		.chain = atomic_load_explicit(&page->tails[which].chain, memory_order_relaxed),
		.epoch = atomic_load_explicit(&page->tails[which].epoch, memory_order_relaxed),
		.sum = atomic_load_explicit(&page->tails[which].sum, memory_order_relaxed),
	};
}

static void store_tail(struct rg_control_page *page, uint32_t which, const struct rg_tail *tail)
{
	atomic_store_explicit(&page->tails[which].appended, tail->appended, memory_order_relaxed);
	atomic_store_explicit(&page->tails[which].lines, tail->lines, memory_order_relaxed);
	atomic_store_explicit(&page->tails[which].chain, tail->chain, memory_order_relaxed);
	atomic_store_explicit(&page->tails[which].epoch, tail->epoch, memory_order_relaxed);
	atomic_store_explicit(&page->tails[which].sum, tail->sum, memory_order_relaxed);
}

static bool read_tail_at(const struct rg_control_page *page, uint32_t which, uint64_t generation,
			 struct rg_tail *ret_tail)
{
	*ret_tail = load_tail(page, which);
	return ret_tail->sum == sum_of_tail(generation, ret_tail) && ret_tail->epoch > 0;
}

/* Read the current tail; false: its checksum is wrong. */
static bool read_tail(const struct rg_control_page *page, uint64_t generation,
		      struct rg_tail *ret_tail)
{
	uint32_t which = atomic_load_explicit(&page->tail_in_force, memory_order_acquire) & 1;

	return read_tail_at(page, which, generation, ret_tail);
}

static bool is_of_journal(const struct rg_control_page *page, const struct rg_file_facts *journal)
{
	return memcmp(page->magic, MAGIC, sizeof page->magic) == 0 && !rg_control_retired(page) &&
	       page->journal_device == journal->device && page->journal_inode == journal->inode;
}

/* Does the head fit its sum, and the size of its file? */
static bool is_head_sound(const struct rg_control_page *page, uint64_t size)
{
	return page->sum == sum_of_head(page) && is_power_of_two(page->agent_capacity) &&
	       is_power_of_two(page->count_capacity) &&
	       size_of(page->agent_capacity, page->count_capacity) == size;
}

enum rg_control_kind rg_control_judge(const void *bytes, size_t size,
				      const struct rg_file_facts *journal,
				      const char boot_id[RG_BOOT_ID_BYTES])
{
	const struct rg_control_page *page = bytes;
	struct rg_tail tail;
	bool this_boot;

	if (size < COMMON_BYTES || !is_of_journal(page, journal))
		return RG_CONTROL_INVALID;
	this_boot = boot_id[0] && memcmp(boot_id, page->boot_id, RG_BOOT_ID_BYTES) == 0;
	if (page->version != RG_CONTROL_VERSION)
		return this_boot ? RG_CONTROL_OTHER_BUILD : RG_CONTROL_INVALID;
	if (size < sizeof *page || !is_head_sound(page, size))
		return RG_CONTROL_INVALID;
	if (!this_boot)
		return boot_id[0] ? RG_CONTROL_OTHER_BOOT : RG_CONTROL_INVALID;
	return read_tail(page, page->generation, &tail) ? RG_CONTROL_HOLDS : RG_CONTROL_INVALID;
}

/* ---------------------------------------------------------------- maps -- */

/* All maps of this process.  No map is touched while holding this lock. */
static struct map *maps;
static atomic_flag maps_lock = ATOMIC_FLAG_INIT;

static void lock_maps(void)
{
	while (atomic_flag_test_and_set_explicit(&maps_lock, memory_order_acquire))
		rg_clock_yield();
}

static void unlock_maps(void)
{
	atomic_flag_clear_explicit(&maps_lock, memory_order_release);
}

/* Find the map of a file that another handle has; NULL if no handle has it. */
static struct map *share_map(const struct rg_file_facts *file)
{
	struct map *map;

	lock_maps();
	for (map = maps; map; map = map->next)
		if (map->inode == file->inode && map->device == file->device &&
		    map->size == (size_t)file->size && !atomic_load(&map->lost))
			break;
	if (map)
		map->users++;
	unlock_maps();
	return map;
}

/* Map a file.  It is in the list before it is first touched. */
static int make_map(int fd, const struct rg_file_facts *file, const char *name,
		    struct map **ret_map, struct roger_err *err)
{
	struct map *map = malloc(sizeof *map);
	void *page;
	int r = map ? rg_file_map(fd, (size_t)file->size, name, &page, err) : rg_fail_memory(err);

	if (r < 0) {
		free(map);
		return r;
	}
	*map = (struct map){ .page = page,
			     .size = (size_t)file->size,
			     .device = file->device,
			     .inode = file->inode,
			     .users = 1 };
	lock_maps();
	map->next = maps;
	maps = map;
	unlock_maps();
	*ret_map = map;
	return ROGER_OK;
}

static void drop_map(struct rg_control *control)
{
	struct map *map = control->map, **at;

	control->map = NULL;
	control->page = NULL;
	if (!map)
		return;
	lock_maps();
	if (--map->users) {
		unlock_maps();
		return;
	}
	for (at = &maps; *at != map; at = &(*at)->next)
		continue;
	*at = map->next;
	unlock_maps();
	rg_file_unmap(map->page, map->size);
	free(map);
}

static bool is_in(const struct map *map, const void *address)
{
	uintptr_t at = (uintptr_t)address, start = (uintptr_t)map->page;

	return at >= start && at - start < map->size;
}

bool rg_control_mend(const void *address)
{
	struct map *map;
	bool ours;

	lock_maps();
	for (map = maps; map && !is_in(map, address); map = map->next)
		continue;
	ours = map && rg_file_map_zeros(map->page, map->size);
	if (ours) {
		atomic_store(&map->lost, true);
		atomic_store(&map->page->retired, 1);
	}
	unlock_maps();
	return ours;
}

static void use_map(struct rg_control *control, struct map *map)
{
	struct rg_control_page *page = map->page;

	control->map = map;
	control->page = page;
	copy_head(control->head, page);
	control->generation = page->generation;
	control->agent_capacity = page->agent_capacity;
	control->count_capacity = page->count_capacity;
	control->agents = (struct rg_agent_slot *)(page + 1);
	control->counts = (struct rg_count_slot *)(control->agents + control->agent_capacity);
}

/* Is the mapped file valid, and the journal at least as long as the tail says?  The tail is read
 * first, since writers are at work.  The map is judged, not the file: the map is what is used. */
static int judge_map(struct rg_control *control, int journal_file, bool *ret_holds,
		     struct roger_err *err)
{
	char boot_id[RG_BOOT_ID_BYTES];
	struct rg_file_facts journal;
	struct rg_tail tail;
	bool known = read_tail(control->page, control->generation, &tail);
	int r;

	r = rg_file_facts(journal_file, "messages.jsonl", &journal, err);
	if (r == ROGER_OK)
		r = get_boot_id(boot_id, err);
	if (r < 0)
		return r;
	/* use_map() copied the head: if the file changed since, the handle is unsound. */
	*ret_holds = known && (uint64_t)journal.size >= tail.appended &&
		     rg_control_judge(control->page, control->map->size, &journal, boot_id) ==
			     RG_CONTROL_HOLDS &&
		     rg_control_sound(control);
	return ROGER_OK;
}

/* Where pages are copied on write, a full disk raises SIGBUS for a file that is whole.  So a byte
 * that never changes is written to the map; where that is lost, a write to the file says why. */
static int check_space(struct rg_control *control, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r;

	*(volatile char *)control->page->magic = (char)control->head[0];
	if (!atomic_load(&control->map->lost))
		return ROGER_OK;
	r = rg_file_open(control->folder, control->name, RG_FILE_CHANGE, &file, err);
	if (r < 0 || file == RG_NO_FILE)
		return r;
	return rg_file_write(file, control->head, 1, control->name, err);
}

/* Map the file if it exists and is valid; *ret_mapped says whether. */
static int map_valid(struct rg_control *control, int journal_file, bool *ret_mapped,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	struct rg_file_facts facts;
	struct map *map;
	int r = ROGER_OK;

	*ret_mapped = false;
	r = rg_file_open_facts(control->folder, control->name, RG_FILE_CHANGE, &file, &facts, err);
	if (r < 0 || file == RG_NO_FILE)
		return r;
	if ((size_t)facts.size < sizeof(struct rg_control_page))
		return ROGER_OK;
	map = share_map(&facts);
	if (!map)
		r = make_map(file, &facts, control->name, &map, err);
	if (r < 0)
		return r;
	use_map(control, map);
	r = judge_map(control, journal_file, ret_mapped, err);
	if (r < 0 || !*ret_mapped)
		drop_map(control);
	return r;
}

/* ------------------------------------------------------------ rebuilding -- */

/* The file that was found under the name, as far as it is needed to judge it. */
struct found {
	enum rg_control_kind kind;
	struct rg_control_page page; /* unset if it is invalid */
	uint64_t inode;
};

static int look_at_file(const struct rg_control *control, const struct rg_file_facts *journal,
			struct found *ret_found, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	char boot_id[RG_BOOT_ID_BYTES];
	struct rg_file_facts facts;
	size_t got;
	int r;

	ret_found->kind = RG_CONTROL_INVALID;
	r = rg_file_open_facts(control->folder, control->name, RG_FILE_READ, &file, &facts, err);
	if (r < 0 || file == RG_NO_FILE)
		return r;
	r = rg_file_read_at(file, &ret_found->page, sizeof ret_found->page, 0, &got, err);
	if (r == ROGER_OK)
		r = get_boot_id(boot_id, err);
	if (r < 0 || got < sizeof ret_found->page)
		return r;
	ret_found->inode = facts.inode;
	ret_found->kind = rg_control_judge(&ret_found->page, (size_t)facts.size, journal, boot_id);
	return ROGER_OK;
}

/* How many bytes of this journal are from before this boot: these were read back from disk. */
static uint64_t left_by_other_boot(const struct found *found, const struct rg_file_facts *journal)
{
	struct rg_tail tail;

	if (found->kind != RG_CONTROL_OTHER_BOOT ||
	    !read_tail(&found->page, found->page.generation, &tail))
		return 0;
	return tail.appended < (uint64_t)journal->size ? tail.appended : (uint64_t)journal->size;
}

/* How much of the file is known to be on disk, as a witness; none after a failed sync. */
static struct rg_witness make_witness(const struct rg_control_page *page, uint64_t generation)
{
	struct rg_witness witness = { 0 };
	struct rg_tail tail;
	uint64_t synced = atomic_load(&page->synced);

	if (page->failures || !read_tail(page, generation, &tail) ||
	    page->synced_sum != sum_of_synced(generation, synced) || synced > tail.appended)
		return witness;
	witness.end = synced;
	witness.chained = synced == tail.appended;
	if (witness.chained)
		witness.chain = tail.chain;
	return witness;
}

/* The witness with the highest end, which covers the others. */
static struct rg_witness find_witness(struct rg_control *control, const struct found *found)
{
	struct rg_witness witness = { 0 }, other = { 0 };

	if (found->kind == RG_CONTROL_HOLDS || found->kind == RG_CONTROL_OTHER_BOOT)
		witness = make_witness(&found->page, found->page.generation);
	if (control->source)
		control->source(control->context, &other);
	if (other.end > witness.end || (other.end == witness.end && other.chained))
		witness = other;
	return witness;
}

static void put_witness(struct rg_control_page *page, struct rg_witness witness)
{
	page->witness_end = witness.end;
	page->witness_chain = witness.chain;
	page->witness_chained = witness.chained;
	page->witness_sum = sum_of_witness(page->generation, witness);
}

/* A control file in memory. */
struct image {
	size_t size;
	struct rg_control_page *page; /* also the start of the whole block; NULL: out of memory */
	struct rg_agent_slot *agents;
	struct rg_count_slot *counts;
};

static struct image make_image(size_t agents, size_t counts)
{
	struct image image = { .size = size_of(agents, counts) };

	image.page = calloc(1, image.size);
	if (image.page) {
		image.page->agent_capacity = (uint32_t)agents;
		image.page->count_capacity = (uint32_t)counts;
		image.agents = (struct rg_agent_slot *)(image.page + 1);
		image.counts = (struct rg_count_slot *)(image.agents + agents);
	}
	return image;
}

static int fill_page(const struct found *found, const struct rg_file_facts *journal,
		     struct rg_control_page *page, struct roger_err *err)
{
	int r;

	memcpy(page->magic, MAGIC, sizeof page->magic);
	page->version = RG_CONTROL_VERSION;
	page->journal_device = journal->device;
	page->journal_inode = journal->inode;
	page->found = (uint64_t)journal->size;
	page->on_disk = left_by_other_boot(found, journal);
	page->checkpoint_at = boot_seconds();
	r = get_boot_id(page->boot_id, err);
	return r < 0 ? r : rg_random(&page->generation, sizeof page->generation, err);
}

static void sum_page(struct rg_control_page *page)
{
	struct rg_tail tail;
	uint32_t i;

	page->sum = sum_of_head(page);
	for (i = 0; i < 2; i++) {
		tail = load_tail(page, i);
		page->tails[i].sum = sum_of_tail(page->generation, &tail);
	}
}

/* Set the checksums of all slots, free ones too. */
static void sum_slots(uint64_t generation, const struct image *image)
{
	struct rg_agent_slot *slot;
	struct rg_agent agent;
	size_t i;

	for (i = 0; i < image->page->agent_capacity; i++) {
		slot = &image->agents[i];
		agent = (struct rg_agent){ slot->unread, slot->epoch, slot->seq };
		slot->sum = sum_of_agent(generation, i, hash_of_name(slot->name, slot->length),
					 slot->length, &agent);
	}
	for (i = 0; i < image->page->count_capacity; i++)
		image->counts[i].word = word_of_count(generation, i, image->counts[i].hash,
						      (uint32_t)image->counts[i].word);
}

static int put_file(struct rg_control *control, const struct image *image, struct roger_err *err)
{
	const struct roger_str text = { (const char *)image->page, image->size };

	return rg_file_replace(control->folder, control->name, text, false, err);
}

static struct image load_numbers(const struct rg_control *control, const struct found *found,
				 uint64_t journal_size);
static struct image load_checkpoint(const struct rg_control *control, int journal_file,
				    uint64_t size);

static int put_fresh(struct rg_control *control, int journal_file,
		     const struct rg_file_facts *journal, const struct found *found,
		     struct roger_err *err)
{
	struct image image = load_numbers(control, found, (uint64_t)journal->size);
	int r;

	if (!image.page)
		image = load_checkpoint(control, journal_file, (uint64_t)journal->size);
	if (!image.page) {
		image = make_image(AGENTS_FIRST, COUNTS_FIRST);
		if (!image.page)
			return rg_fail_memory(err);
		image.page->tails[0].epoch = 1;
	}
	r = fill_page(found, journal, image.page, err);
	if (r == ROGER_OK) {
		put_witness(image.page, find_witness(control, found));
		sum_page(image.page);
		sum_slots(image.page->generation, &image);
		r = put_file(control, &image, err);
	}
	free(image.page);
	return r;
}

static int name_others(const int64_t *ids, size_t count, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf named = { .maximum = 200 };
	size_t i;

	if (count && !ids[0])
		rg_buf_add_text(&named, " (in a process that cannot be seen from here");
	for (i = 0; i < count && ids[0]; i++)
		rg_buf_printf(&named, "%s%lld",
			      i		   ? ", "
			      : count == 1 ? " (process "
					   : " (processes ",
			      (long long)ids[i]);
	return rg_fail(
		err, ROGER_EREFUSED, 0,
		"another version of roger is at work in this workspace%.*s%s; stop it, then try "
		"again",
		RG_STR_ARGS(rg_buf_str(&named)), count ? ")" : "");
}

int rg_control_fail_other_build(struct roger_err *err)
{
	return name_others(NULL, 0, err);
}

/* Set or clear the retired mark in another build's file, with what stands before it. */
static int mark_retired(struct rg_control *control, struct rg_control_page *page, bool retired,
			struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r = rg_file_open(control->folder, control->name, RG_FILE_CHANGE, &file, err);

	atomic_store(&page->retired, retired);
	return r < 0 || file == RG_NO_FILE
		       ? r
		       : rg_file_write(file, page, offsetof(struct rg_control_page, boot_id),
				       control->name, err);
}

/* Other processes that have the file mapped; id 0: one that cannot be seen from here. */
static size_t find_others(const struct rg_control *control, uint64_t inode, int journal_file,
			  int64_t *ids)
{
	const size_t count = rg_process_find_mapping(inode, control->name, ids, OTHERS_MAX);
	const int64_t after = RG_CONTROL_PRESENCE + RG_CONTROL_PRESENCES;

	if (count || !(rg_file_bytes_locked(journal_file, RG_CONTROL_PRESENCES,
					    RG_CONTROL_PRESENCE - RG_CONTROL_PRESENCES) ||
		       rg_file_bytes_locked(journal_file, after, INT64_MAX - after)))
		return count;
	ids[0] = 0;
	return 1;
}

/*
 * Two layouts would mean two append locks, so a file that a living process of another build uses
 * is not replaced.  Its users are looked for again after it was retired: whoever maps it later
 * sees the mark and waits for the lock on the journal, which is held here.
 */
static int replace_other_build(struct rg_control *control, struct found *found, int journal_file,
			       int64_t *ids, size_t *ret_count, struct roger_err *err)
{
	int r;

	*ret_count = find_others(control, found->inode, journal_file, ids);
	if (*ret_count)
		return ROGER_OK;
	r = mark_retired(control, &found->page, true, err);
	if (r < 0)
		return r;
	*ret_count = find_others(control, found->inode, journal_file, ids);
	return *ret_count ? mark_retired(control, &found->page, false, err) : ROGER_OK;
}

/* Map or replace it.  Needs the system's lock.  *ret_others: processes of another build at work. */
static int map_or_replace(struct rg_control *control, int journal_file, int64_t *ids,
			  size_t *ret_others, struct roger_err *err)
{
	struct rg_file_facts journal;
	struct found found;
	bool mapped = false;
	int r;

	*ret_others = 0;
	r = map_valid(control, journal_file, &mapped, err);
	if (r < 0 || mapped)
		return r;
	r = rg_file_facts(journal_file, "messages.jsonl", &journal, err);
	if (r == ROGER_OK)
		r = look_at_file(control, &journal, &found, err);
	if (r == ROGER_OK && found.kind == RG_CONTROL_OTHER_BUILD)
		r = replace_other_build(control, &found, journal_file, ids, ret_others, err);
	if (r < 0 || *ret_others)
		return r;
	r = put_fresh(control, journal_file, &journal, &found, err);
	if (r == ROGER_OK)
		r = map_valid(control, journal_file, &mapped, err);
	if (r == ROGER_OK && !mapped)
		r = rg_fail(err, ROGER_EIO, 0, "'%s' does not contain what was just written to it",
			    control->name);
	return r;
}

/* Until when to wait for another build.  The first wait decides, also for calls that follow
 * soon. */
static int64_t wait_until(int64_t *until_ns)
{
	const int64_t wait_ns = RG_LOCK_WAIT_MS * INT64_C(1000000),
		      now_ns = rg_clock_monotonic_ns();

	if (!*until_ns || now_ns >= *until_ns + wait_ns)
		*until_ns = now_ns + wait_ns;
	return *until_ns;
}

/* Lock the journal.  If that takes too long, the control file tells whether another build holds
 * it. */
static int lock_journal(struct rg_control *control, int journal_file, int64_t *until_ns,
			struct roger_err *err)
{
	static const char name[] = "messages.jsonl";
	struct rg_file_facts journal;
	struct found found;
	int64_t left_ns;
	int r = rg_file_lock(journal_file, name, 0, err);

	if (r != ROGER_ETIMEOUT)
		return r;
	left_ns = wait_until(until_ns) - rg_clock_monotonic_ns();
	r = rg_file_lock(journal_file, name, left_ns > 0 ? left_ns / 1000000 : 0, err);
	if (r == ROGER_ETIMEOUT && rg_file_facts(journal_file, name, &journal, NULL) == ROGER_OK &&
	    look_at_file(control, &journal, &found, NULL) == ROGER_OK &&
	    found.kind == RG_CONTROL_OTHER_BUILD)
		return rg_control_fail_other_build(err);
	return r;
}

/* Rebuild the file; the system's lock on the journal keeps two processes from doing so at once. */
static int replace_invalid(struct rg_control *control, int journal_file, int64_t *until_ns,
			   struct roger_err *err)
{
	const int64_t before_ns = *until_ns;
	int64_t ids[OTHERS_MAX];
	bool met = false;
	size_t others;
	int r;

	for (;;) {
		r = lock_journal(control, journal_file, until_ns, err);
		if (r < 0)
			return r;
		r = map_or_replace(control, journal_file, ids, &others, err);
		rg_file_unlock(journal_file);
		if (!others && !met)
			*until_ns = before_ns;
		if (r < 0 || !others)
			return r;
		met = true;
		if (wait_until(until_ns) <= rg_clock_monotonic_ns() || rg_lock_interrupted())
			return name_others(ids, others, err);
		rg_clock_sleep(OTHERS_LOOK_MS);
	}
}

int rg_control_open(int folder, const char *name, int journal_file, rg_witness_source *source,
		    void *context, int64_t *until_ns, struct rg_control **ret_control,
		    struct roger_err *err)
{
	struct rg_control *control = calloc(1, sizeof *control);
	int64_t alone_ns = 0;
	bool mapped = false;
	int r;

	if (!control)
		return rg_fail_memory(err);
	control->folder = folder;
	control->source = source;
	control->context = context;
	snprintf(control->name, sizeof control->name, "%s", name);

	r = map_valid(control, journal_file, &mapped, err);
	if (r == ROGER_OK && !mapped)
		r = replace_invalid(control, journal_file, until_ns ? until_ns : &alone_ns, err);
	if (r == ROGER_OK && rg_file_is_tight(journal_file))
		r = check_space(control, err);
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
	drop_map(control);
	free(control);
	return NULL;
}

struct rg_control_page *rg_control_page(struct rg_control *control)
{
	return control->page;
}

uint64_t rg_control_generation(const struct rg_control *control)
{
	return control->generation;
}

/* ------------------------------------------------------ is it right yet? -- */

static uint64_t word_at(const unsigned char *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof word);
	return word;
}

/* Compare word by word: a send does this some 24 times, and musl's memcmp() goes byte by byte. */
static bool head_is_same(const struct rg_control *control)
{
	enum { VERSION = offsetof(struct rg_control_page, version), BOOT = VERSION + 8 };
	const unsigned char *page = (const unsigned char *)control->page;
	uint64_t differ = word_at(page, 0) ^ word_at(control->head, 0);
	uint32_t version, known;
	size_t at;

	_Static_assert(VERSION == 8 && BOOT == offsetof(struct rg_control_page, boot_id) &&
			       HEAD_BYTES % 8 == 0,
		       "words, but for the mark behind the version");
	memcpy(&version, page + VERSION, sizeof version);
	memcpy(&known, control->head + VERSION, sizeof known);
	differ |= version ^ known;
	for (at = BOOT; at < HEAD_BYTES; at += sizeof differ)
		differ |= word_at(page, at) ^ word_at(control->head, at);
	return differ == 0;
}

bool rg_control_sound(const struct rg_control *control)
{
	return !control->damaged && !rg_control_retired(control->page) && head_is_same(control);
}

int rg_control_look(const struct rg_control *control, bool *ret_in_place, struct roger_err *err)
{
	struct rg_file_facts facts;
	int r = rg_file_look(control->folder, control->name, &facts, err);

	*ret_in_place = r == ROGER_OK && facts.kind && facts.device == control->map->device &&
			facts.inode == control->map->inode &&
			(uint64_t)facts.size == control->map->size;
	/* The name belongs to something else, so the file is not in place. */
	return r == ROGER_EREFUSED ? ROGER_OK : r;
}

bool rg_control_leave_lost(struct rg_control *control)
{
	bool in_place;

	if (!control || !atomic_load(&control->map->lost))
		return false;
	if (rg_control_look(control, &in_place, NULL) == ROGER_OK && in_place)
		(void)!rg_file_remove(control->folder, control->name, NULL);
	return true;
}

void rg_control_retire(struct rg_control *control)
{
	struct rg_control_page *page = control->page;

	atomic_store(&page->retired, 1);
	atomic_fetch_add(&page->wake, 1);
	rg_lock_wake(&page->wake, RG_WAKE_ALL);
}

void rg_control_hold(struct rg_control *control, bool held)
{
	control->held = held;
}

/* A wrong checksum may be a change in progress; the lock holder sees none, so it never retries. */
static bool look_again(const struct rg_control *control, int *looks)
{
	if (control->held || ++*looks >= LOOKS_MAX)
		return false;
	rg_clock_yield();
	return true;
}

bool rg_control_tail(struct rg_control *control, struct rg_tail *ret_tail)
{
	int looks = 0;

	do {
		if (read_tail(control->page, control->generation, ret_tail))
			return true;
	} while (look_again(control, &looks));
	control->damaged = true;
	*ret_tail = (struct rg_tail){ .epoch = 1 };
	return false;
}

bool rg_control_previous_tail(const struct rg_control *control, struct rg_tail *ret_tail)
{
	const struct rg_control_page *page = control->page;

	return read_tail_at(page, !(atomic_load(&page->tail_in_force) & 1), control->generation,
			    ret_tail);
}

uint64_t rg_control_appended(struct rg_control *control)
{
	struct rg_tail tail;

	return rg_control_tail(control, &tail) ? tail.appended : 0;
}

static void set_tail(struct rg_control *control, struct rg_tail tail)
{
	struct rg_control_page *page = control->page;
	uint32_t spare = !(atomic_load_explicit(&page->tail_in_force, memory_order_relaxed) & 1);

	tail.sum = sum_of_tail(control->generation, &tail);
	store_tail(page, spare, &tail);
	atomic_store_explicit(&page->tail_in_force, spare, memory_order_release);
}

void rg_control_set_end(struct rg_control *control, uint64_t appended, uint64_t chain,
			uint64_t lines, bool own)
{
	struct rg_tail tail;

	rg_assert(control->held);
	if (!rg_control_tail(control, &tail))
		return;
	if (!own)
		atomic_store(&control->page->shared.own_from, appended);
	tail.appended = appended;
	tail.lines += lines;
	tail.chain = chain;
	set_tail(control, tail);
	atomic_fetch_add_explicit(&control->page->appends, 1, memory_order_relaxed);
}

void rg_control_set_epoch(struct rg_control *control, int64_t epoch)
{
	struct rg_tail tail;

	rg_assert(control->held);
	if (!rg_control_tail(control, &tail))
		return;
	tail.epoch = epoch;
	set_tail(control, tail);
}

int64_t rg_control_epoch(struct rg_control *control)
{
	struct rg_tail tail;

	(void)!rg_control_tail(control, &tail);
	return tail.epoch;
}

/* The offset and its checksum are two words: between two writes, or if one is damaged, report
 * less. The cost is one more sync. */
uint64_t rg_control_synced(const struct rg_control *control)
{
	const struct rg_control_page *page = control->page;
	uint64_t synced = atomic_load(&page->synced);

	if (synced <= page->on_disk ||
	    atomic_load(&page->synced_sum) != sum_of_synced(control->generation, synced))
		return page->on_disk;
	return synced;
}

void rg_control_set_synced(struct rg_control *control, uint64_t synced)
{
	atomic_store(&control->page->synced, synced);
	atomic_store(&control->page->synced_sum, sum_of_synced(control->generation, synced));
}

struct rg_witness rg_control_witness(const struct rg_control *control)
{
	const struct rg_control_page *page = control->page;
	struct rg_witness witness = { page->witness_end, page->witness_chain,
				      page->witness_chained };

	if (page->witness_sum != sum_of_witness(control->generation, witness))
		witness = (struct rg_witness){ 0 };
	return witness;
}

void rg_control_set_witness(struct rg_control *control, struct rg_witness witness)
{
	put_witness(control->page, witness);
}

struct rg_witness rg_control_testify(struct rg_control *control)
{
	return make_witness(control->page, control->generation);
}

uint64_t rg_control_logged(struct rg_control *control)
{
	uint64_t logged = atomic_load(&control->page->shared.logged);

	return logged <= rg_control_appended(control) ? logged : 0;
}

/* ------------------------------------------------------------- growing -- */

/* Open addressing stays fast up to three quarters full. */
static bool fits_table(size_t used, size_t more, size_t capacity)
{
	return used + more <= capacity / 4 * 3;
}

bool rg_control_has_room(struct rg_control *control, size_t agents, size_t counts)
{
	const struct rg_control_page *page = control->page;

	rg_assert(control->held);
	return fits_table(atomic_load(&page->agents_used), agents, control->agent_capacity) &&
	       fits_table(atomic_load(&page->counts_used), counts, control->count_capacity);
}

static size_t capacity_for(size_t used, size_t more, size_t capacity)
{
	while (!fits_table(used, more, capacity))
		capacity *= 2;
	return capacity;
}

static size_t count_used(const struct rg_control *control, size_t *ret_counts)
{
	size_t agents = 0, i;

	*ret_counts = 0;
	for (i = 0; i < control->agent_capacity; i++)
		agents += control->agents[i].length != 0;
	for (i = 0; i < control->count_capacity; i++)
		*ret_counts += control->counts[i].hash != 0;
	return agents;
}

/* The checksum is written last: a writer killed before that leaves a damaged slot, and the file is
 * rebuilt. */
static bool put_agent(uint64_t generation, struct rg_agent_slot *agents, size_t capacity,
		      struct roger_str name, uint64_t hash, const struct rg_agent *agent,
		      bool *ret_new)
{
	size_t at = hash & (capacity - 1), tries;
	struct rg_agent_slot *slot;

	rg_assert(name.length > 0 && name.length <= sizeof slot->name);
	for (tries = 0; tries < capacity; tries++, at = (at + 1) & (capacity - 1)) {
		slot = &agents[at];
		*ret_new = slot->length == 0;
		if (!*ret_new && (slot->length != name.length ||
				  memcmp(slot->name, name.data, name.length) != 0))
			continue;
		if (*ret_new)
			memcpy(slot->name, name.data, name.length);
		atomic_store_explicit(&slot->length, (uint32_t)name.length, memory_order_release);
		atomic_store_explicit(&slot->unread, agent->unread, memory_order_relaxed);
		atomic_store_explicit(&slot->epoch, agent->epoch, memory_order_relaxed);
		atomic_store_explicit(&slot->seq, agent->seq, memory_order_relaxed);
		atomic_store_explicit(&slot->sum,
				      sum_of_agent(generation, at, hash, name.length, agent),
				      memory_order_release);
		return true;
	}
	return false;
}

static bool put_count(uint64_t generation, struct rg_count_slot *counts, size_t capacity,
		      uint64_t hash, uint32_t count, bool *ret_new)
{
	size_t at = hash & (capacity - 1), tries;
	struct rg_count_slot *slot;

	rg_assert(hash && !(capacity & (capacity - 1)));
	for (tries = 0; tries < capacity; tries++, at = (at + 1) & (capacity - 1)) {
		slot = &counts[at];
		*ret_new = slot->hash == 0;
		if (!*ret_new && slot->hash != hash)
			continue;
		atomic_store_explicit(&slot->hash, hash, memory_order_release);
		atomic_store_explicit(&slot->word, word_of_count(generation, at, hash, count),
				      memory_order_release);
		return true;
	}
	return false;
}

/* Read a slot once; false: its checksum is wrong.  hash: of the wanted name. */
static bool look_for_agent(const struct rg_control *control, size_t at, struct roger_str wanted,
			   uint64_t hash, struct rg_named_agent *ret_agent)
{
	const struct rg_agent_slot *slot = &control->agents[at];
	const size_t length = atomic_load_explicit(&slot->length, memory_order_acquire);
	uint64_t sum;

	ret_agent->length = length;
	ret_agent->agent = (struct rg_agent){ slot->unread, slot->epoch, slot->seq };
	sum = atomic_load_explicit(&slot->sum, memory_order_acquire);
	if (length > sizeof ret_agent->name)
		return false;
	ret_agent->wanted = rg_str_equal(wanted, (struct roger_str){ slot->name, length });
	if (!ret_agent->wanted) {
		memcpy(ret_agent->name, slot->name, length);
		hash = hash_of_name(ret_agent->name, length);
	}
	return sum == sum_of_agent(control->generation, at, hash, length, &ret_agent->agent);
}

/* Copy all slots into the larger tables; false: a slot holds impossible values. */
static bool move_slots(const struct rg_control *control, const struct image *to)
{
	struct rg_named_agent agent;
	bool is_new, well = true;
	uint64_t hash, word;
	size_t i;

	for (i = 0; well && i < control->agent_capacity; i++)
		well = look_for_agent(control, i, RG_STR(""), 0, &agent) &&
		       (!agent.length ||
			put_agent(control->generation, to->agents, to->page->agent_capacity,
				  (struct roger_str){ agent.name, agent.length },
				  hash_of_name(agent.name, agent.length), &agent.agent, &is_new));
	for (i = 0; well && i < control->count_capacity; i++) {
		hash = control->counts[i].hash;
		word = control->counts[i].word;
		well = word == word_of_count(control->generation, i, hash, (uint32_t)word) &&
		       (!hash ||
			put_count(control->generation, to->counts, to->page->count_capacity, hash,
				  (uint32_t)word, &is_new));
	}
	return well;
}

/* Others change it meanwhile: copy each word atomically, after the file was retired. */
static void copy_words(const struct rg_control_page *from, struct rg_control_page *to)
{
	const _Atomic uint64_t *words = (const _Atomic uint64_t *)from;
	size_t i;

	_Static_assert(sizeof *from % sizeof *words == 0, "the page is made of words");
	for (i = 0; i < sizeof *from / sizeof *words; i++)
		((uint64_t *)to)[i] = atomic_load(&words[i]);
}

/* Copy the old page into the larger file, except the short-held locks. */
static void copy_page(const struct rg_control_page *from, struct rg_control_page *to)
{
	const uint32_t agents = to->agent_capacity, counts = to->count_capacity;

	copy_words(from, to);
	to->append_lock.word = 0;
	to->sync_lock.word = 0;
	to->retired = 0;
	to->sleepers = 0;
	to->agent_capacity = agents;
	to->count_capacity = counts;
	to->sum = sum_of_head(to);
}

/* Retire the old file before copying its locks, so that a release is seen in one of the two. */
static int put_larger(struct rg_control *control, const struct image *larger, struct roger_err *err)
{
	struct rg_control_page *page = control->page;
	size_t counts;
	int r;

	rg_assert(control->held);
	sum_slots(control->generation, larger);
	if (!rg_control_sound(control) || !move_slots(control, larger)) {
		control->damaged = true;
		return ROGER_OK;
	}
	atomic_store(&page->retired, 1);
	copy_page(page, larger->page);
	larger->page->agents_used = (uint32_t)count_used(control, &counts);
	larger->page->counts_used = (uint32_t)counts;
	r = put_file(control, larger, err);
	if (r < 0)
		atomic_store(&page->retired, 0);
	atomic_fetch_add(&page->wake, 1);
	rg_lock_wake(&page->wake, RG_WAKE_ALL);
	return r;
}

/* Also needs the system's lock on the journal, which every appender holds. */
int rg_control_grow(struct rg_control *control, size_t agents, size_t counts, struct roger_err *err)
{
	size_t counts_used, agents_used = count_used(control, &counts_used);
	struct image larger =
		make_image(capacity_for(agents_used, agents, control->agent_capacity),
			   capacity_for(counts_used, counts, control->count_capacity));
	int r = larger.page ? put_larger(control, &larger, err) : rg_fail_memory(err);

	rg_assert(control->held);
	free(larger.page);
	return r;
}

/* --------------------------------------------------------------- tally -- */

/* Like look_for_agent(), but retry while a change may be in progress. */
static bool see_agent(struct rg_control *control, size_t at, struct roger_str wanted, uint64_t hash,
		      int *looks, struct rg_named_agent *ret_agent)
{
	do {
		if (look_for_agent(control, at, wanted, hash, ret_agent))
			return true;
	} while (look_again(control, looks));
	control->damaged = control->damaged || control->held;
	return false;
}

bool rg_control_find_agent(struct rg_control *control, struct roger_str name,
			   struct rg_agent *ret_agent)
{
	const uint64_t hash = hash_once(control, name);
	size_t mask = control->agent_capacity - 1, tries, at = hash & mask;
	struct rg_named_agent found;
	int looks = 0;

	*ret_agent = (struct rg_agent){ .unread = RG_FIGURE_MAYBE };
	for (tries = 0; tries <= mask; tries++, at = (at + 1) & mask) {
		if (!see_agent(control, at, name, hash, &looks, &found))
			return true;
		if (!found.length)
			break;
		if (found.wanted) {
			*ret_agent = found.agent;
			return true;
		}
	}
	*ret_agent = (struct rg_agent){ 0 };
	return false;
}

void rg_control_put_agent(struct rg_control *control, struct roger_str name,
			  const struct rg_agent *agent)
{
	bool is_new = false;

	rg_assert(control->held);
	if (!put_agent(control->generation, control->agents, control->agent_capacity, name,
		       hash_once(control, name), agent, &is_new))
		control->damaged = true;
	else if (is_new)
		atomic_fetch_add(&control->page->agents_used, 1);
}

bool rg_control_next_agent(struct rg_control *control, size_t *i, struct rg_named_agent *ret_agent)
{
	/* Retries are counted over all slots: a yield for each could take minutes. */
	if (*i == 0)
		control->looks = 0;
	while (*i < control->agent_capacity)
		if (see_agent(control, (*i)++, RG_STR(""), 0, &control->looks, ret_agent) &&
		    ret_agent->length)
			return true;
	return false;
}

/* Read a slot once; false: its checksum is wrong. */
static bool look_at_count(const struct rg_control *control, size_t at, uint64_t *ret_hash,
			  uint32_t *ret_count)
{
	const struct rg_count_slot *slot = &control->counts[at];
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

	*ret_hash = atomic_load_explicit(&slot->hash, memory_order_acquire);
	*ret_count = (uint32_t)word;
	return word == word_of_count(control->generation, at, *ret_hash, *ret_count);
}

static bool see_count(struct rg_control *control, size_t at, uint64_t *ret_hash,
		      uint32_t *ret_count)
{
	int looks = 0;

	do {
		if (look_at_count(control, at, ret_hash, ret_count))
			return true;
	} while (look_again(control, &looks));
	control->damaged = control->damaged || control->held;
	return false;
}

uint64_t rg_control_find_count(struct rg_control *control, uint64_t hash)
{
	size_t mask = control->count_capacity - 1, at = hash & mask, tries;
	uint64_t there;
	uint32_t count;

	for (tries = 0; tries <= mask; tries++, at = (at + 1) & mask) {
		if (!see_count(control, at, &there, &count))
			return RG_FIGURE_MAYBE;
		if (there == 0)
			return 0;
		if (there == hash)
			return count;
	}
	return RG_FIGURE_MAYBE;
}

void rg_control_put_count(struct rg_control *control, uint64_t hash, uint64_t count)
{
	bool is_new = false;

	rg_assert(control->held);
	if (count > RG_FIGURE_MAYBE)
		count = RG_FIGURE_MAYBE;
	if (!put_count(control->generation, control->counts, control->count_capacity, hash,
		       (uint32_t)count, &is_new))
		control->damaged = true;
	else if (is_new)
		atomic_fetch_add(&control->page->counts_used, 1);
}

size_t rg_control_count_damaged(struct rg_control *control)
{
	struct rg_named_agent agent;
	size_t damaged = 0, i;
	uint64_t hash;
	uint32_t count;

	rg_assert(control->held);
	for (i = 0; i < control->agent_capacity; i++)
		damaged += !look_for_agent(control, i, RG_STR(""), 0, &agent);
	for (i = 0; i < control->count_capacity; i++)
		damaged += !look_at_count(control, i, &hash, &count);
	return damaged;
}

/* ---------------------------------------------------------- checkpoints -- */

#define CHECKPOINT_MAGIC "rogerckp"

enum { CHECKPOINT_SECONDS = 10, CHECKPOINT_LAST_BYTES = 65536, CHECKPOINT_PIECE_BYTES = 65536 };
static const uint64_t checkpoint_least = 1 << 20, checkpoint_most = 8 << 20;

void rg_control_checkpoint_name(const char *name, char to[RG_CHECKPOINT_NAME_BYTES])
{
	const char *dot = strrchr(name, '.');

	snprintf(to, RG_CHECKPOINT_NAME_BYTES, "%.*s.checkpoint",
		 dot ? (int)(dot - name) : (int)strlen(name), name);
}

/* Hash the last bytes.  They hold a chain, so the hash covers all lines before, too. */
static bool hash_end(int journal_file, uint64_t end, uint64_t *ret_hash)
{
	const size_t length = end < CHECKPOINT_LAST_BYTES ? (size_t)end : CHECKPOINT_LAST_BYTES;
	char *bytes = malloc(length + 1);
	size_t got = 0;
	bool well;

	well = bytes &&
	       rg_file_read_at(journal_file, bytes, length, (int64_t)(end - length), &got, NULL) ==
		       ROGER_OK &&
	       got == length;
	if (well)
		*ret_hash = rg_hash(end, bytes, length);
	free(bytes);
	return well;
}

/* Is the checkpoint's page whole, and made for this journal? */
static bool is_of_checkpoint(const struct rg_control_page *page, uint64_t size, int journal_file,
			     uint64_t journal_size, struct rg_tail *ret_tail)
{
	uint64_t hash;

	return memcmp(page->magic, CHECKPOINT_MAGIC, sizeof page->magic) == 0 &&
	       page->version == RG_CONTROL_VERSION && is_head_sound(page, size) &&
	       read_tail(page, page->generation, ret_tail) && ret_tail->appended <= journal_size &&
	       hash_end(journal_file, ret_tail->appended, &hash) && hash == page->found;
}

/* Count the slots in use; false: a slot does not fit its sum, or the tables are too full. */
static bool check_slots(const struct image *image, uint64_t generation, uint32_t *ret_agents,
			uint32_t *ret_counts)
{
	const struct rg_control_page *page = image->page;
	const struct rg_control view = { .generation = generation,
					 .agents = image->agents,
					 .counts = image->counts };
	struct rg_named_agent agent;
	uint64_t hash;
	uint32_t count;
	size_t i;

	*ret_agents = *ret_counts = 0;
	for (i = 0; i < page->agent_capacity; i++) {
		if (!look_for_agent(&view, i, RG_STR(""), 0, &agent))
			return false;
		*ret_agents += agent.length != 0;
	}
	for (i = 0; i < page->count_capacity; i++) {
		if (!look_at_count(&view, i, &hash, &count))
			return false;
		*ret_counts += hash != 0;
	}
	return fits_table(*ret_agents, 0, page->agent_capacity) &&
	       fits_table(*ret_counts, 0, page->count_capacity);
}

/* Turn a checkpoint's page into a new one that knows what the checkpoint did, and nothing else. */
static void begin_after(struct rg_control_page *page, const struct rg_tail *tail,
			const struct rg_tail *before, uint64_t carried, uint32_t agents,
			uint32_t counts)
{
	struct rg_control_page after = { .agent_capacity = page->agent_capacity,
					 .count_capacity = page->count_capacity,
					 .agents_used = agents,
					 .counts_used = counts,
					 .checkpoint_end = tail->appended };

	after.shared.carried = carried;
	after.shared.own_from = tail->appended;
	store_tail(&after, 0, tail);
	store_tail(&after, 1, before);
	*page = after;
}

/* Read the tables behind a page; no page: they do not fit their sums. */
static struct image read_tables(int file, const struct rg_control_page *page, uint32_t *ret_agents,
				uint32_t *ret_counts)
{
	struct image image = make_image(page->agent_capacity, page->count_capacity);
	size_t got = 0;

	if (image.page && (rg_file_read_at(file, image.agents, image.size - sizeof *page,
					   sizeof *page, &got, NULL) < 0 ||
			   got < image.size - sizeof *page ||
			   !check_slots(&image, page->generation, ret_agents, ret_counts))) {
		free(image.page);
		image.page = NULL;
	}
	return image;
}

/* If the journal was cut since the file was in use, load the numbers that were given from it: they
 * may stand nowhere else. */
static struct image load_numbers(const struct rg_control *control, const struct found *found,
				 uint64_t journal_size)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	const struct rg_control_page *page = &found->page;
	struct image image = { 0 };
	uint32_t agents, counts;
	struct rg_tail tail;
	size_t i;

	if ((found->kind != RG_CONTROL_HOLDS && found->kind != RG_CONTROL_OTHER_BOOT) ||
	    !read_tail(page, page->generation, &tail) || tail.appended <= journal_size ||
	    rg_file_open(control->folder, control->name, RG_FILE_READ, &file, NULL) < 0 ||
	    file == RG_NO_FILE)
		return image;
	image = read_tables(file, page, &agents, &counts);
	if (!image.page)
		return image;
	for (i = 0; i < page->agent_capacity; i++)
		image.agents[i].unread = 0;
	memset(image.counts, 0, page->count_capacity * sizeof *image.counts);
	begin_after(image.page, &(struct rg_tail){ .epoch = tail.epoch }, &(struct rg_tail){ 0 }, 0,
		    agents, 0);
	return image;
}

/* Load the checkpoint.  No page: none can be used, and the journal is read from its start. */
static struct image load_checkpoint(const struct rg_control *control, int journal_file,
				    uint64_t journal_size)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	char name[RG_CHECKPOINT_NAME_BYTES];
	struct image image = { 0 };
	struct rg_control_page page;
	struct rg_file_facts facts;
	struct rg_tail tail, before;
	uint32_t agents, counts;
	size_t got = 0;

	rg_control_checkpoint_name(control->name, name);
	if (rg_file_open_facts(control->folder, name, RG_FILE_READ, &file, &facts, NULL) < 0 ||
	    file == RG_NO_FILE || rg_file_read_at(file, &page, sizeof page, 0, &got, NULL) < 0 ||
	    got < sizeof page ||
	    !is_of_checkpoint(&page, (uint64_t)facts.size, journal_file, journal_size, &tail))
		return image;
	if (!read_tail_at(&page, 1, page.generation, &before))
		before = (struct rg_tail){ 0 };
	image = read_tables(file, &page, &agents, &counts);
	if (image.page)
		begin_after(image.page, &tail, &before, page.on_disk, agents, counts);
	return image;
}

bool rg_control_checkpoint_due(struct rg_control *control)
{
	const struct rg_control_page *page = control->page;
	uint64_t end = atomic_load(&page->checkpoint_end), appended = rg_control_appended(control);
	/* A large table costs as much to copy, so more must have been written. */
	uint64_t least = control->map->size / 4 > checkpoint_least ? control->map->size / 4
								   : checkpoint_least;

	return appended > end && appended - end >= least &&
	       (appended - end >= checkpoint_most ||
		boot_seconds() - atomic_load(&page->checkpoint_at) >= CHECKPOINT_SECONDS);
}

void rg_control_note_checkpoint(struct rg_control *control, uint64_t end)
{
	atomic_store(&control->page->checkpoint_end, end);
	atomic_store(&control->page->checkpoint_at, boot_seconds());
}

static bool add_agent(struct rg_control *control, uint64_t generation, size_t at,
		      struct rg_buf *out)
{
	struct rg_agent_slot slot = { 0 };
	struct rg_named_agent agent;
	int looks = 0;

	if (!see_agent(control, at, RG_STR(""), 0, &looks, &agent))
		return false;
	memcpy(slot.name, agent.name, agent.length);
	slot.length = (uint32_t)agent.length;
	slot.unread = agent.agent.unread;
	slot.epoch = agent.agent.epoch;
	slot.seq = agent.agent.seq;
	slot.sum = sum_of_agent(generation, at, hash_of_name(slot.name, agent.length), agent.length,
				&agent.agent);
	rg_buf_add(out, &slot, sizeof slot);
	return true;
}

static bool add_count(struct rg_control *control, uint64_t generation, size_t at,
		      struct rg_buf *out)
{
	struct rg_count_slot slot;
	uint32_t count;
	uint64_t hash;

	if (!see_count(control, at, &hash, &count))
		return false;
	slot.hash = hash;
	slot.word = word_of_count(generation, at, hash, count);
	rg_buf_add(out, &slot, sizeof slot);
	return true;
}

static int write_slots(struct rg_control *control, uint64_t generation, int file, const char *name,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	const size_t agents = control->agent_capacity, slots = agents + control->count_capacity;
	bool well = true;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < slots && well && r == ROGER_OK; i++) {
		well = i < agents ? add_agent(control, generation, i, &out)
				  : add_count(control, generation, i - agents, &out);
		if (out.length < CHECKPOINT_PIECE_BYTES && i + 1 < slots)
			continue;
		r = out.failed ? rg_fail_memory(err)
			       : rg_file_write(file, out.data, out.length, name, err);
		rg_buf_clear(&out);
	}
	return well ? r
		    : rg_fail(err, ROGER_EIO, 0, "'%s' changes too fast, or is damaged",
			      control->name);
}

/* Take the journal's end first: what is counted later belongs to lines after it. */
static int compose_checkpoint(struct rg_control *control, int journal_file,
			      struct rg_control_page *ret_page, struct roger_err *err)
{
	struct rg_control_page page = { .version = RG_CONTROL_VERSION,
					.agent_capacity = (uint32_t)control->agent_capacity,
					.count_capacity = (uint32_t)control->count_capacity };
	struct rg_tail tail, before;

	if (!rg_control_tail(control, &tail) || !hash_end(journal_file, tail.appended, &page.found))
		return rg_fail(err, ROGER_EIO, 0, "'%s' cannot be read", control->name);
	memcpy(page.magic, CHECKPOINT_MAGIC, sizeof page.magic);
	store_tail(&page, 0, &tail);
	/* Where only other programs wrote last, the chain at the end is computed from this tail. */
	if (rg_control_previous_tail(control, &before) && before.appended < tail.appended)
		store_tail(&page, 1, &before);
	*ret_page = page;
	return rg_random(&ret_page->generation, sizeof ret_page->generation, err);
}

uint64_t rg_control_carried(struct rg_control *control)
{
	uint64_t logged = rg_control_logged(control);

	return logged ? logged : atomic_load(&control->page->shared.carried);
}

int rg_control_write_checkpoint(struct rg_control *control, int journal_file, uint64_t carried,
				int file, const char *name, uint64_t *ret_end, uint64_t *ret_needs,
				struct roger_err *err)
{
	struct rg_control_page page;
	int r;

	r = compose_checkpoint(control, journal_file, &page, err);
	if (r < 0)
		return r;
	page.on_disk = carried;
	sum_page(&page);
	*ret_end = page.tails[0].appended;
	r = rg_file_write(file, &page, sizeof page, name, err);
	if (r == ROGER_OK)
		r = write_slots(control, page.generation, file, name, err);
	*ret_needs = rg_control_appended(control);
	if (r == ROGER_OK && (!rg_control_sound(control) || control->page->failures))
		r = rg_fail(err, ROGER_EIO, 0, "'%s' was replaced, or a sync failed",
			    control->name);
	return r;
}
