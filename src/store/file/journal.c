/*
 * Appends and group commit.
 *
 * The leader of a sync first waits, for up to a third of a sync's time, for the writers that the
 * last sync covered, since they append again at once.  Then it wakes everybody: waking only those
 * that were covered makes two groups that take turns (8 processes: 1.2 times fewer messages).
 * Tried and left: a ring in shared memory from which the leader writes for all (0.9x, one process
 * copies what two could have).
 *
 * After a failed fdatasync() the kernel may mark the pages clean, so a later one proves nothing:
 * everyone who waited gets ROGER_EIO, and what it should have covered is remembered.
 *
 * The length comes from lseek(), since after a look at a file's times the next write makes its
 * inode dirty.  Where the last line is read before an append, reading one byte more shows the end
 * instead. The leader of a sync checks that the file still has its name.
 */
#include "store/file/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/file.h"
#include "data/json.h"
#include "store/chain.h"

/* The append lock is released between pieces of a long adoption. */
enum { ADOPT_BYTES_MAX = 4 << 20 };

/* A reader does not wait longer for a writer that makes no progress. */
enum { READER_WAIT_MS = 200 };

/* The end of the journal that is read to check it; more where this is one long line. */
enum { LAST_BYTES = 4096 };

/* How often to check whether the control file was replaced or damaged while mapped. */
enum { PLACE_LOOK_MS = 100, PLACES_MAX = 100 };

/* More bytes than that behind the chain before the last are not read again in that time. */
enum { FAR_BYTES = 1 << 20 };

struct rg_journal {
	int folder;
	int file;
	char name[256];
	char control_name[256];
	uint64_t owner;
	struct rg_control *control; /* NULL: read-only */
	const char *unwritable;	    /* the file that made it so */
	int why_errno;		    /* errno that explains why */
	int64_t wait_ms;	    /* for the lock, and for a sync */
	uint32_t owed;		    /* locks to release in a control file that is not mapped yet */
	rg_journal_adopt *adopt;
	rg_witness_source *source;
	void *context;	    /* for both callbacks */
	int64_t looked_ns;  /* when the control file's name was last checked */
	int64_t checked_ns; /* when the last line was last checked */
	int64_t far_ns;	    /* when far more was read for that, which ends at far_end */
	uint64_t far_end;
	int64_t others_until_ns; /* until when another build, which was met, is waited for */

	/* Set while the append lock is held: */
	bool appending;
	bool shrunk; /* the file is shorter than what was appended */
	struct rg_buf out;
	size_t line_start;
	size_t last_start;   /* of the last line in out */
	uint64_t line_count; /* in out */
	uint64_t chain;	     /* after the lines in out */
	uint64_t out_end;    /* where out ends in the journal; 0: it is not written */
	bool more;	     /* the next sync covers earlier writes, too: keep the two below */
	uint32_t failures_seen;
	uint64_t generation_seen;
};

static struct rg_control_page *page_of(const struct rg_journal *journal)
{
	return rg_control_page(journal->control);
}

/* ------------------------------------------------------------- opening -- */

/* Open the file for appending; create it if it is missing. */
static int open_to_append(struct rg_journal *journal, struct roger_err *err)
{
	int r;

	r = rg_file_open(journal->folder, journal->name, RG_FILE_APPEND, &journal->file, err);
	if (r < 0 || journal->file != RG_NO_FILE)
		return r;
	r = rg_file_open(journal->folder, journal->name, RG_FILE_CREATE_APPEND, &journal->file,
			 err);
	return r == ROGER_OK ? rg_file_sync_folder(journal->folder, journal->name, err) : r;
}

static bool only_readable(int system_errno)
{
	return system_errno == EROFS || system_errno == EACCES || system_errno == EPERM;
}

static int reopen_control(struct rg_journal *journal, struct roger_err *err);

/* Without permission to write, or space for a control file, a handle can still read. */
static int open_journal(struct rg_journal *journal, struct roger_err *err)
{
	struct roger_err refused = { 0 };
	int r;

	journal->unwritable = journal->name;
	r = open_to_append(journal, &refused);
	if (r == ROGER_OK) {
		journal->unwritable = journal->control_name;
		r = reopen_control(journal, &refused);
	}
	journal->why_errno = refused.system_errno;
	if (r == ROGER_OK || (journal->file != RG_NO_FILE && rg_is_full(journal->why_errno)))
		return ROGER_OK;
	if (journal->file == RG_NO_FILE || only_readable(journal->why_errno)) {
		journal->file = rg_file_close(journal->file);
		return rg_file_open(journal->folder, journal->name, RG_FILE_READ, &journal->file,
				    err);
	}
	if (err)
		*err = refused;
	return r;
}

/* The byte of the journal, far beyond its end, that a writing handle keeps locked: other
 * containers have no other evidence that it lives. */
static int64_t presence_byte(uint64_t owner)
{
	return RG_CONTROL_PRESENCE + (int64_t)(owner * UINT64_C(0x9E3779B97F4A7C15) >> 10);
}

int rg_journal_open(int folder, const char *name, const char *control_name, rg_journal_adopt *adopt,
		    rg_witness_source *source, void *context, struct rg_journal **ret_journal,
		    struct roger_err *err)
{
	struct rg_journal *journal = calloc(1, sizeof *journal);
	int r;

	if (!journal)
		return rg_fail_memory(err);
	journal->adopt = adopt;
	journal->source = source;
	journal->context = context;
	journal->folder = folder;
	journal->file = RG_NO_FILE;
	journal->wait_ms = RG_LOCK_WAIT_MS;
	snprintf(journal->name, sizeof journal->name, "%s", name);
	snprintf(journal->control_name, sizeof journal->control_name, "%s", control_name);
	rg_buf_init(&journal->out, SIZE_MAX);
	journal->owner = rg_lock_owner();
	r = open_journal(journal, err);
	if (r < 0) {
		rg_journal_close(journal);
		return r;
	}
	*ret_journal = journal;
	return ROGER_OK;
}

struct rg_journal *rg_journal_close(struct rg_journal *journal)
{
	if (!journal)
		return NULL;
	if (journal->owed)
		(void)!reopen_control(journal, NULL);
	rg_control_leave_lost(journal->control);
	rg_control_close(journal->control);
	rg_file_close(journal->file);
	rg_buf_deinit(&journal->out);
	free(journal);
	return NULL;
}

int rg_journal_file(const struct rg_journal *journal)
{
	return journal->file;
}

bool rg_journal_writable(const struct rg_journal *journal)
{
	return journal->control != NULL;
}

static struct rg_lock *lock_of(struct rg_control_page *page, enum rg_store_lock which)
{
	switch (which) {
	case RG_LOCK_CHANGE:
		return &page->change_lock;
	case RG_LOCK_INDEX:
		return &page->index_lock;
	case RG_LOCK_STATE:
		return &page->state_lock;
	case RG_LOCK_RECORDS:
		return &page->record_lock;
	case RG_LOCK_BRIDGE:
		return &page->bridge_lock;
	case RG_LOCK_CHECKPOINT:
		return &page->checkpoint_lock;
	case RG_LOCK_APPEND:
	case RG_LOCK_WAKE:
		break;
	}
	rg_assert(!"such a lock");
}

/* Release the locks that were given up while the larger control file could not be mapped. */
static void pay_owed(struct rg_journal *journal)
{
	enum rg_store_lock which;

	for (which = RG_LOCK_CHANGE; journal->owed >> which; which++)
		if (journal->owed >> which & 1)
			rg_lock_release(lock_of(page_of(journal), which), journal->owner);
	if (!rg_control_retired(page_of(journal)))
		journal->owed = 0;
}

/* Map the larger control file that replaced ours. */
static int reopen_control(struct rg_journal *journal, struct roger_err *err)
{
	struct rg_file_facts folder;
	struct rg_control *control;
	bool present;
	int r;

	rg_control_leave_lost(journal->control);
	r = rg_control_open(journal->folder, journal->control_name, journal->file, journal->source,
			    journal->context, &journal->others_until_ns, &control, err);
	if (r == ROGER_ECREATE &&
	    rg_file_examine(journal->folder, ".", &folder, NULL) == ROGER_OK && !folder.links)
		return rg_fail(err, ROGER_EENGINE, 0,
			       "the workspace was removed while open; start this program again");
	if (r < 0)
		return r;
	/* If the byte cannot be locked, others wait for this handle's locks, and then take them
	 * over. */
	(void)!rg_file_lock_byte(journal->file, presence_byte(journal->owner), journal->name,
				 &present, NULL);
	rg_control_close(journal->control);
	journal->control = control;
	journal->looked_ns = rg_clock_monotonic_ns();
	pay_owed(journal);
	return ROGER_OK;
}

/* A handle that only reads because the disk was full writes again once there is space. */
static int need_control(struct rg_journal *journal, struct roger_err *err)
{
	if (journal->control)
		return ROGER_OK;
	if (journal->unwritable == journal->control_name && rg_is_full(journal->why_errno))
		return reopen_control(journal, err);
	return rg_fail(err, ROGER_EIO, journal->why_errno, "'%s' cannot be written",
		       journal->unwritable);
}

void rg_journal_leave_lost(struct rg_journal *journal)
{
	if (!rg_control_leave_lost(journal->control))
		return;
	journal->control = rg_control_close(journal->control);
	journal->why_errno = ENOSPC;
}

/* Is our control file the one everybody uses?  It may have been overwritten, or have lost its
 * name at most PLACE_LOOK_MS ago. */
static bool is_current(struct rg_journal *journal)
{
	bool in_place;
	int64_t now;

	if (!rg_control_sound(journal->control))
		return false;
	now = rg_clock_monotonic_ns();
	if (now - journal->looked_ns < (int64_t)PLACE_LOOK_MS * 1000000)
		return true;
	/* If the file was replaced, the next call checks again, in order to follow it. */
	if (rg_control_look(journal->control, &in_place, NULL) == ROGER_OK && !in_place)
		return false;
	journal->looked_ns = now;
	return true;
}

static int follow_control(struct rg_journal *journal, struct roger_err *err)
{
	/* The map stays while we hold the append lock. */
	if (journal->appending || is_current(journal))
		return ROGER_OK;
	rg_control_retire(journal->control);
	return reopen_control(journal, err);
}

struct rg_control *rg_journal_control(struct rg_journal *journal)
{
	/* On failure the retired control file stays: its figures are right, but old. */
	if (journal->control)
		(void)!follow_control(journal, NULL);
	return journal->control;
}

/* Does an owner in another pid namespace live? */
static bool owner_lives(void *context, uint64_t owner)
{
	const struct rg_journal *journal = context;

	return rg_file_bytes_locked(journal->file, presence_byte(owner), 1);
}

/* Was the control file replaced, in which this process waits for a lock? */
static bool is_gone(void *context)
{
	struct rg_journal *journal = context;

	return !is_current(journal);
}

/* ------------------------------------------------------------ the tail -- */

uint64_t rg_journal_end(const struct rg_journal *journal)
{
	return rg_control_appended(journal->control);
}

/* The chain after end, computed over the lines from `from` on, before which it is `chain`. */
static int chain_at(struct rg_journal *journal, uint64_t from, uint64_t chain, uint64_t end,
		    uint64_t *ret_chain, struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of_file(journal->file);

	rg_assert(from <= end);
	*ret_chain = chain;
	return rg_chain_over_lines(&bytes, from, end, ret_chain, err);
}

/* Continue the chain over the whole lines in bytes. */
static int chain_over(struct rg_journal *journal, struct roger_str bytes, uint64_t *chain,
		      struct roger_err *err)
{
	const struct rg_bytes file = rg_bytes_of_file(journal->file);
	struct rg_chain behind = { .value = *chain };
	struct rg_line line = { 0 };
	const char *newline;
	bool own;
	int r = ROGER_OK;

	while (r == ROGER_OK && (newline = rg_str_find(bytes, '\n'))) {
		line.length = (size_t)(newline - bytes.data);
		line.text = (struct roger_str){ bytes.data, line.length };
		r = rg_chain_step(&file, &line, &behind, &own, err);
		bytes.data += line.length + 1;
		bytes.length -= line.length + 1;
	}
	*chain = behind.value;
	return r;
}

/* The chain after end, from the chains stated in the last bytes before it; reads more if these are
 * one long line. */
static int chain_at_end(struct rg_journal *journal, uint64_t end, uint64_t *ret_chain,
			struct roger_err *err)
{
	enum { LAST_BYTES_MAX = 16 << 20 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf bytes = { .maximum = LAST_BYTES_MAX };
	size_t length, got, at, last;
	struct rg_tail before;
	char *room;
	int r;

	*ret_chain = 0;
	for (last = LAST_BYTES; last <= LAST_BYTES_MAX; last *= 16) {
		length = end > last ? last : (size_t)end;
		at = 0;
		room = rg_buf_room(&bytes, length);
		if (!room)
			return rg_fail_memory(err);
		r = rg_file_read_at(journal->file, room, length, (int64_t)(end - length), &got,
				    err);
		if (r < 0)
			return r;
		/* Find the chain of the last line but one, which the last line is hashed with. */
		if ((got &&
		     rg_chain_find_last((struct roger_str){ room, got - 1 }, ret_chain, &at)) ||
		    length == end)
			return chain_over(journal, (struct roger_str){ room + at, got - at },
					  ret_chain, err);
		/* Many lines of other programs: the previous tail is nearer than the last chain. */
		if (rg_control_previous_tail(journal->control, &before) && before.appended < end)
			return chain_at(journal, before.appended, before.chain, end, ret_chain,
					err);
	}
	return chain_at(journal, 0, 0, end, ret_chain, err);
}

/* Lines before the known end were changed; the next reader examines how. */
static void suspect_lines(struct rg_journal *journal)
{
	struct rg_tail tail;

	if (atomic_load(&page_of(journal)->shared.broken) != RG_BROKEN_NOT)
		return;
	(void)!rg_control_tail(journal->control, &tail);
	rg_control_set_witness(journal->control,
			       (struct rg_witness){ tail.appended, tail.chain, true });
	atomic_store(&page_of(journal)->shared.broken, RG_BROKEN_DIFFERS);
}

/* Is the last line as this handle wrote it, or does the chain go on from the tail before it?
 * Reads the line and one byte more.  *ret_ends: the file seems to end there.  *ret_goes_on
 * false: look further back. */
static int goes_on(struct rg_journal *journal, bool *ret_goes_on, bool *ret_ends,
		   struct roger_err *err)
{
	size_t length = journal->out.length - journal->last_start, got;
	struct rg_tail tail = { 0 }, before;
	char bytes[LAST_BYTES + 1];
	bool own;
	int r;

	*ret_goes_on = *ret_ends = false;
	(void)!rg_control_tail(journal->control, &tail);
	own = tail.appended && journal->out_end == tail.appended && journal->chain == tail.chain &&
	      length <= LAST_BYTES;
	before.appended = tail.appended - length;
	if (!own &&
	    (!rg_control_previous_tail(journal->control, &before) ||
	     before.appended >= tail.appended || tail.appended - before.appended > LAST_BYTES))
		return ROGER_OK;
	length = (size_t)(tail.appended - before.appended);
	r = rg_file_read_some(journal->file, bytes, length + 1, (int64_t)before.appended, &got,
			      err);
	if (r < 0 || got < length || bytes[length - 1] != '\n')
		return r;
	*ret_ends = got == length;
	if (!own)
		r = chain_over(journal, (struct roger_str){ bytes, length }, &before.chain, err);
	*ret_goes_on = own ? !memcmp(bytes, journal->out.data + journal->last_start, length)
			   : r == ROGER_OK && before.chain == tail.chain;
	if (*ret_goes_on)
		journal->checked_ns = rg_clock_monotonic_ns();
	return r;
}

int rg_journal_check_end(struct rg_journal *journal, bool *ret_fits, struct roger_err *err)
{
	struct rg_tail tail, before = { 0 };
	uint64_t chain;
	bool ends;
	int r;

	*ret_fits = true;
	journal->checked_ns = rg_clock_monotonic_ns();
	if (!rg_control_tail(journal->control, &tail) || !tail.appended)
		return ROGER_OK;
	r = goes_on(journal, ret_fits, &ends, err);
	if (r < 0 || *ret_fits)
		return r;
	*ret_fits = true;
	/* Whoever only reads need not read megabytes again and again. */
	if (!journal->appending && journal->far_end == tail.appended &&
	    journal->checked_ns - journal->far_ns < (int64_t)PLACE_LOOK_MS * 1000000)
		return ROGER_OK;
	r = chain_at_end(journal, tail.appended, &chain, err);
	/* A stated chain need not be the one that was continued: compute it over the whole file. */
	if (r == ROGER_OK && chain != tail.chain)
		r = chain_at(journal, 0, 0, tail.appended, &chain, err);
	(void)!rg_control_previous_tail(journal->control, &before);
	journal->far_end = tail.appended - before.appended > FAR_BYTES ? tail.appended : 0;
	journal->far_ns = journal->checked_ns;
	if (r < 0 || chain == tail.chain)
		return r;
	*ret_fits = false;
	suspect_lines(journal);
	return ROGER_OK;
}

enum adopted { ADOPTED_ALL, ADOPTED_SOME, ADOPTED_NEEDS_ROOM };

/* Compare with the witness: at its end there must be a line end, with its chain. */
static void compare_witness(struct rg_journal *journal, const struct rg_witness *witness,
			    uint64_t before, uint64_t behind, uint64_t chain)
{
	if (before >= witness->end || behind < witness->end ||
	    (behind == witness->end && (!witness->chained || chain == witness->chain)))
		return;
	if (atomic_load(&page_of(journal)->shared.broken) == RG_BROKEN_NOT)
		atomic_store(&page_of(journal)->shared.broken, RG_BROKEN_DIFFERS);
}

/* Adopt whole lines up to size; progress is kept even if it stops early. */
static int adopt_lines(struct rg_journal *journal, uint64_t size, enum adopted *ret_how,
		       struct roger_err *err)
{
	const struct rg_bytes file = rg_bytes_of_file(journal->file);
	struct rg_tail tail, before;
	struct rg_chain chain = { 0 };
	struct rg_witness witness;
	struct rg_lines lines;
	struct rg_line line;
	bool found = false, own;
	uint64_t start, pause_at, count = 0;
	int r;

	rg_assert(journal->appending);
	*ret_how = ADOPTED_ALL;
	if (!rg_control_tail(journal->control, &tail))
		return ROGER_OK;
	witness = rg_control_witness(journal->control);
	chain.value = tail.chain;
	start = tail.appended;
	before = tail;
	pause_at = tail.appended + ADOPT_BYTES_MAX;
	rg_lines_init(&lines, &file, tail.appended, size);
	do {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r < 0 || !found)
			break;
		struct rg_chain behind = chain;

		r = rg_chain_step(&file, &line, &behind, &own, err);
		if (r < 0)
			break;
		if (!line.too_long &&
		    !journal->adopt(journal->context, journal->control, line.text, own)) {
			*ret_how = ADOPTED_NEEDS_ROOM;
			break;
		}
		before.appended = tail.appended;
		before.chain = chain.value;
		count++;
		chain = behind;
		compare_witness(journal, &witness, tail.appended, lines.at, chain.value);
		tail.appended = lines.at;
		if (own)
			atomic_fetch_add_explicit(&page_of(journal)->adoptions, 1,
						  memory_order_relaxed);
	} while (tail.appended < pause_at);
	if (found && *ret_how == ADOPTED_ALL)
		*ret_how = ADOPTED_SOME;
	rg_lines_deinit(&lines);
	/* The previous tail becomes the one before the last line: checking that is cheap. */
	if (before.appended != start)
		rg_control_set_end(journal->control, before.appended, before.chain, count - 1,
				   false);
	if (tail.appended != start)
		rg_control_set_end(journal->control, tail.appended, chain.value, 1, false);
	return r;
}

/* Is this a foreign message that only lacks its newline?  Its writer may consider it complete. */
static bool is_foreign_whole(const struct rg_tail *tail, struct roger_str text)
{
	struct rg_json *json = NULL;
	struct roger_str body;
	uint64_t stated;
	bool whole;

	if (rg_chain_split(text, &stated, &body) && rg_chain_fits(tail->chain, body, stated))
		return false;
	whole = rg_json_read(text, &json, NULL) == ROGER_OK;
	rg_json_free(json);
	return whole;
}

/* Is the unfinished end a whole line of another program, or a part of one of roger's, whose
 * writer never reported it as stored? */
static int examine_rest(struct rg_journal *journal, const struct rg_tail *tail, uint64_t size,
			bool *ret_whole, bool *ret_own, struct roger_err *err)
{
	struct rg_buf text;
	int r;

	*ret_whole = *ret_own = false;
	if (size - tail->appended > RG_LINE_BYTES_MAX)
		return ROGER_OK;
	rg_buf_init(&text, RG_LINE_BYTES_MAX);
	r = rg_journal_read(journal, tail->appended, (size_t)(size - tail->appended), &text, err);
	*ret_whole = r == ROGER_OK && is_foreign_whole(tail, rg_buf_str(&text));
	*ret_own = !*ret_whole &&
		   (rg_line_begins_own(rg_buf_str(&text)) || rg_line_ends_own(rg_buf_str(&text)));
	rg_buf_deinit(&text);
	return r;
}

/* Close off an unfinished end so that the next line starts on its own.  An unacknowledged line of
 * roger's becomes unreadable: its sender was told that it failed. */
static int fence_end(struct rg_journal *journal, uint64_t size, struct roger_err *err)
{
	const struct rg_bytes file = rg_bytes_of_file(journal->file);
	struct rg_tail tail;
	struct roger_str mark;
	bool whole, own;
	uint64_t end;
	int r;

	rg_assert(journal->appending);
	if (!rg_control_tail(journal->control, &tail))
		return ROGER_OK;
	r = examine_rest(journal, &tail, size, &whole, &own, err);
	if (r < 0)
		return r;
	mark = own ? RG_STR(" torn\n") : RG_STR("\n");
	r = rg_file_write(journal->file, mark.data, mark.length, journal->name, err);
	if (r < 0)
		return r;
	r = rg_file_tell(journal->file, journal->name, &end, err);
	/* Another program wrote meanwhile: examine the end again.  A whole line is adopted. */
	if (r < 0 || whole || end != size + mark.length)
		return r;
	r = rg_chain_over_bytes(&file, tail.appended, end, &tail.chain, err);
	if (r < 0)
		return r;
	rg_control_set_end(journal->control, end, tail.chain, 1, false);
	return ROGER_OK;
}

/* ----------------------------------------------------------- appending -- */

int rg_journal_check_name(const struct rg_journal *journal, struct roger_err *err)
{
	const struct rg_control_page *page = page_of(journal);

	if (rg_file_is(journal->folder, journal->name, page->journal_device, page->journal_inode))
		return ROGER_OK;
	return rg_fail(err, ROGER_EIO, 0,
		       "another file took the place of '%s'; open the workspace again",
		       journal->name);
}

static int fail_again(struct rg_journal *journal, struct roger_err *err)
{
	if (journal->others_until_ns)
		return rg_control_fail_other_build(err);
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "another program keeps changing '%s'; stop it, then try again",
		       journal->control_name);
}

void rg_journal_unlock(struct rg_journal *journal)
{
	journal->appending = false;
	rg_control_hold(journal->control, false);
	rg_file_unlock(journal->file);
	rg_lock_release(&page_of(journal)->append_lock, journal->owner);
}

/* Take two locks: the one in the control file is fair and wakes waiters; the system's lock on
 * the journal works even if the control file was overwritten or replaced. */
static int take_both(struct rg_journal *journal, int64_t wait_ms, bool *ret_gone,
		     struct roger_err *err)
{
	int r;

	r = rg_lock_take_unless(&page_of(journal)->append_lock, journal->owner, wait_ms, is_gone,
				owner_lives, journal, ret_gone, "the end of the journal",
				RG_LOCK_STANDS_STILL, err);
	if (r < 0 || *ret_gone)
		return r;
	r = rg_file_lock(journal->file, journal->name, wait_ms, err);
	if (r < 0) {
		rg_lock_release(&page_of(journal)->append_lock, journal->owner);
		return r;
	}
	journal->appending = true;
	rg_control_hold(journal->control, true);
	return ROGER_OK;
}

static int take_append_lock(struct rg_journal *journal, int64_t wait_ms, struct roger_err *err)
{
	bool gone, in_place;
	int tries, r;

	for (tries = 0; tries < PLACES_MAX; tries++) {
		r = follow_control(journal, err);
		if (r == ROGER_OK)
			r = take_both(journal, wait_ms, &gone, err);
		if (r < 0)
			return r;
		if (gone)
			continue;
		/* A process that replaces the control file holds the system's lock, even an
		 * older version, which does not take it to append.  Look each time: two readers
		 * under the locks of two files would both get the same mail. */
		in_place = false;
		if (rg_control_sound(journal->control))
			r = rg_control_look(journal->control, &in_place, err);
		if (r == ROGER_OK && in_place)
			return ROGER_OK;
		journal->looked_ns = 0;
		rg_journal_unlock(journal);
		if (r < 0)
			return r;
	}
	return fail_again(journal, err);
}

/* Is the byte before end a newline? */
static int is_line_end(struct rg_journal *journal, uint64_t end, bool *ret_is,
		       struct roger_err *err)
{
	char last = '\n';
	size_t got;
	int r = ROGER_OK;

	if (end)
		r = rg_file_read_at(journal->file, &last, 1, (int64_t)end - 1, &got, err);
	*ret_is = last == '\n';
	return r;
}

/* The last newline was overwritten, and this is recorded: close the line off and continue the
 * chain over what is there. */
static int close_off(struct rg_journal *journal, uint64_t size, struct roger_err *err)
{
	const struct roger_str mark = RG_STR(" torn\n");
	uint64_t chain;
	int r;

	rg_assert(journal->appending);
	r = rg_file_write(journal->file, mark.data, mark.length, journal->name, err);
	if (r == ROGER_OK)
		r = chain_at(journal, 0, 0, size + mark.length, &chain, err);
	if (r == ROGER_OK)
		rg_control_set_end(journal->control, size + mark.length, chain, 1, false);
	return r;
}

/* After adopting: does the journal match what was on disk?  If not, append nothing. */
static int check_witness(struct rg_journal *journal, bool writing, struct roger_err *err)
{
	struct rg_control_page *page = page_of(journal);
	uint32_t broken = atomic_load(&page->shared.broken);

	rg_assert(journal->appending);
	if (broken == RG_BROKEN_NOT &&
	    rg_control_witness(journal->control).end > rg_journal_end(journal)) {
		broken = RG_BROKEN_SHORTER;
		atomic_store(&page->shared.broken, broken);
	}
	if (!writing || broken == RG_BROKEN_NOT || broken == RG_BROKEN_LINE)
		return ROGER_OK;
	return rg_fail(
		err, ROGER_EDATA, 0,
		"'%s' is not the journal that roger wrote: lines are missing, or it is "
		"another file; nothing is appended until a person checks it (`roger status`) "
		"and runs `roger dismiss %s --reason TEXT`",
		journal->name, journal->name);
}

/* Is the last line one of a group that waits for its sync, and was the end checked just now? */
static bool is_in_group(const struct rg_journal *journal, uint64_t end)
{
	return rg_control_synced(journal->control) < end &&
	       rg_clock_monotonic_ns() - journal->checked_ns < (int64_t)PLACE_LOOK_MS * 1000000;
}

/* One try under the lock.  *ret_again: adoption took long; let others run, then try again. */
static int prepare_append(struct rg_journal *journal, size_t agents, size_t counts, bool fencing,
			  bool *ret_again, struct roger_err *err)
{
	enum adopted how;
	bool fits = true, whole = false, ends = false;
	uint64_t end = rg_journal_end(journal), size = end;
	int r = ROGER_OK;

	rg_assert(journal->appending);
	*ret_again = false;
	/* After a failed sync, write only if the file still has the journal's name. */
	if (fencing && atomic_load(&page_of(journal)->failures))
		r = rg_journal_check_name(journal, err);
	/* The next line's chain covers the line before it: this is the last chance to check that
	 * one.  The first writer of a group checks for the whole group. */
	if (r == ROGER_OK && fencing && !is_in_group(journal, size))
		r = goes_on(journal, &whole, &ends, err);
	whole &= ends;
	if (r == ROGER_OK && !whole)
		r = rg_file_size(journal->file, journal->name, &size, err);
	if (r < 0)
		return r;
	/* The file was cut: a rebuilt control file has its earlier length from the witness. */
	if (size < end) {
		journal->shrunk = true;
		return ROGER_OK;
	}
	if (size > end) {
		/* A file that was overwritten may also have grown. */
		r = rg_journal_check_end(journal, &fits, err);
		if (r == ROGER_OK)
			r = adopt_lines(journal, size, &how, err);
		if (r < 0)
			return r;
		end = rg_journal_end(journal);
		*ret_again = how != ADOPTED_ALL;
		if (how == ADOPTED_NEEDS_ROOM)
			return rg_control_grow(journal->control, 2, 3, err);
		if (how == ADOPTED_SOME)
			return ROGER_OK;
	}
	if (fencing && !whole && size == end && !is_in_group(journal, size))
		r = rg_journal_check_end(journal, &fits, err);
	/* An altered last line that still ends with a newline need not be closed off. */
	if (r == ROGER_OK && !fits && size == end)
		r = is_line_end(journal, size, &fits, err);
	if (r == ROGER_OK)
		r = check_witness(journal, fencing, err);
	if (r < 0)
		return r;
	if (!fits && size == end) {
		*ret_again = true;
		return close_off(journal, size, err);
	}
	if (fencing && size > end) {
		*ret_again = true;
		return fence_end(journal, size, err);
	}
	if (!rg_control_has_room(journal->control, agents, counts)) {
		*ret_again = true;
		return rg_control_grow(journal->control, agents, counts, err);
	}
	return ROGER_OK;
}

static int lock_tail(struct rg_journal *journal, size_t agents, size_t counts, bool fencing,
		     int64_t wait_ms, struct roger_err *err)
{
	bool again;
	int tries = 0, r;

	rg_assert(journal->control);
	do {
		r = take_append_lock(journal, wait_ms, err);
		if (r < 0)
			return r;
		r = prepare_append(journal, agents, counts, fencing, &again, err);
		/* The control file may have caused the error. */
		if (!rg_control_sound(journal->control) || journal->shrunk) {
			again = true;
			r = ++tries < PLACES_MAX ? ROGER_OK : fail_again(journal, err);
		}
		if (r < 0 || again)
			rg_journal_unlock(journal);
		if (r == ROGER_OK && journal->shrunk)
			r = reopen_control(journal, err);
		journal->shrunk = false;
	} while (r == ROGER_OK && again);
	return r;
}

static int lock_append(struct rg_journal *journal, size_t agents, size_t counts, int64_t wait_ms,
		       struct roger_err *err)
{
	struct rg_tail tail;
	int r = need_control(journal, err);

	if (r == ROGER_OK)
		r = lock_tail(journal, agents, counts, true, wait_ms, err);
	if (r < 0)
		return r;
	rg_buf_clear(&journal->out);
	journal->out_end = 0;
	journal->line_start = 0;
	journal->line_count = 0;
	(void)!rg_control_tail(journal->control, &tail);
	journal->chain = tail.chain;
	return ROGER_OK;
}

int rg_journal_lock(struct rg_journal *journal, size_t agents, size_t counts, struct roger_err *err)
{
	return lock_append(journal, agents, counts, journal->wait_ms, err);
}

void rg_journal_hurry(struct rg_journal *journal, int64_t wait_ms)
{
	journal->wait_ms = wait_ms;
}

bool rg_journal_lock_soon(struct rg_journal *journal, size_t counts)
{
	return lock_append(journal, 0, counts, READER_WAIT_MS, NULL) == ROGER_OK;
}

struct rg_buf *rg_journal_line(struct rg_journal *journal)
{
	return &journal->out;
}

void rg_journal_end_line(struct rg_journal *journal)
{
	struct roger_str body;

	rg_assert(journal->appending);
	if (journal->out.failed)
		return;
	body = (struct roger_str){ journal->out.data + journal->line_start,
				   journal->out.length - journal->line_start };
	journal->chain = rg_chain_over(journal->chain, body);
	rg_chain_print(journal->chain, &journal->out);
	rg_buf_add_char(&journal->out, '\n');
	journal->last_start = journal->line_start;
	journal->line_start = journal->out.length;
	journal->line_count++;
}

static int fail_lost(const struct rg_journal *journal, struct roger_err *err)
{
	return rg_fail(
		err, ROGER_EIO, EIO,
		"sync '%s': what was just written may not be on disk; send again with the same key",
		journal->name);
}

/* Did our lines start on a new line, or after half a line of another program? */
static int check_apart(struct rg_journal *journal, uint64_t start, struct roger_err *err)
{
	bool apart;
	int r = is_line_end(journal, start, &apart, err);

	return r < 0 || apart ? r : fail_lost(journal, err);
}

void rg_journal_gather(struct rg_journal *journal, bool more)
{
	journal->more = more;
}

int rg_journal_write(struct rg_journal *journal, uint64_t *ret_end, struct roger_err *err)
{
	struct rg_control_page *page = page_of(journal);
	uint64_t expected = rg_journal_end(journal) + journal->out.length, size;
	uint64_t adoptions = atomic_load(&page->adoptions), adopted;
	enum adopted how;
	int r;

	rg_assert(journal->appending);
	if (journal->out.failed)
		return rg_fail_memory(err);
	/* Check once more: the numbers and keys to be written may come from damaged figures. */
	*ret_end = 0;
	if (!rg_control_sound(journal->control))
		return ROGER_OK;
	if (!journal->more) {
		journal->generation_seen = rg_control_generation(journal->control);
		journal->failures_seen = atomic_load(&page->failures);
	}
	r = rg_file_write(journal->file, journal->out.data, journal->out.length, journal->name,
			  err);
	if (r < 0)
		return r;
	r = rg_file_tell(journal->file, journal->name, &size, err);
	if (r < 0)
		return r;
	if (size == expected) {
		rg_control_set_end(journal->control, expected, journal->chain, journal->line_count,
				   true);
		journal->out_end = expected;
		*ret_end = expected;
		return ROGER_OK;
	}

	/* Another program's line came first: adopt both as they are. */
	do
		r = adopt_lines(journal, size, &how, err);
	while (r == ROGER_OK && how == ADOPTED_SOME);
	/* Our own lines are no sign of a second writer. */
	adopted = atomic_load(&page->adoptions) - adoptions;
	atomic_fetch_sub(&page->adoptions,
			 adopted < journal->line_count ? adopted : journal->line_count);
	if (r == ROGER_OK)
		r = check_apart(journal, size - journal->out.length, err);
	if (r == ROGER_OK && rg_control_sound(journal->control) && rg_journal_end(journal) < size)
		r = fail_lost(journal, err);
	*ret_end = size;
	return r;
}

/* -------------------------------------------------------- group commit -- */

enum { SYNC_NS_MAX = 10000000 };

/* Wait briefly for the writers that the last sync covered, or that had appended by its end, to
 * save them a sync of their own. */
static void wait_for_company(struct rg_control_page *page)
{
	uint64_t before = atomic_load(&page->synced_appends);
	uint32_t company = page->groups[0] + page->groups[1];
	int64_t until;

	if (atomic_load(&page->appends) - before >= company)
		return;
	until = atomic_load(&page->sync_ns);
	until = rg_clock_monotonic_ns() + (until < SYNC_NS_MAX ? until : SYNC_NS_MAX) / 3;
	while (atomic_load(&page->appends) - before < company && rg_clock_monotonic_ns() < until)
		rg_clock_yield();
}

static void note_group(struct rg_control_page *page, uint64_t appends, int64_t took_ns)
{
	uint32_t smoothed = atomic_load(&page->sync_ns);
	uint64_t before = atomic_exchange(&page->synced_appends, appends);

	page->groups[0] = (uint32_t)(appends - before);
	page->groups[1] = (uint32_t)(atomic_load(&page->appends) - appends);
	if (took_ns > SYNC_NS_MAX)
		took_ns = SYNC_NS_MAX;
	page->sync_ns = smoothed ? (smoothed * 7 + (uint32_t)took_ns) / 8 : (uint32_t)took_ns;
}

/*
 * Wake everybody: those that the sync covered append again, and one of the others leads.  Release
 * the sync lock before changing the word: a process that sees the word changed and the lock still
 * held would sleep through the wake.
 */
static void end_lead(struct rg_journal *journal)
{
	struct rg_control_page *page = page_of(journal);

	rg_lock_release(&page->sync_lock, journal->owner);
	atomic_fetch_add(&page->wake, 1);
	if (atomic_load(&page->sleepers))
		rg_lock_wake(&page->wake, RG_WAKE_ALL);
}

/* A sleeper is counted before it looks at the word, so it either sees the change or is woken. */
static bool sleep_until_woken(struct rg_control_page *page, uint32_t seen, int64_t wait_ms)
{
	bool woken;

	atomic_fetch_add(&page->sleepers, 1);
	woken = rg_lock_sleep(&page->wake, seen, wait_ms);
	atomic_fetch_sub(&page->sleepers, 1);
	return woken;
}

/* Bytes from the last good sync up to end may be lost. */
static void note_lost(struct rg_control *control, uint64_t end)
{
	struct rg_control_page *page = rg_control_page(control);

	if (atomic_load(&page->lost_to) == 0)
		atomic_store(&page->lost_from, rg_control_synced(control));
	if (end > atomic_load(&page->lost_to))
		atomic_store(&page->lost_to, end);
}

/* Sync for everyone; needs the sync lock. */
static int lead_sync(struct rg_journal *journal, struct roger_err *err)
{
	struct rg_control_page *page = page_of(journal);
	uint64_t appends, end;
	int64_t start;
	int r;

	wait_for_company(page);
	appends = atomic_load(&page->appends);
	end = rg_journal_end(journal);
	start = rg_clock_monotonic_ns();
	r = rg_file_sync(journal->file, journal->name, err);
	/* Bytes that were not on disk may never be: no waiter may trust the next sync for them. */
	if (r < 0)
		note_lost(journal->control, end);
	else
		r = rg_journal_check_name(journal, err);
	if (r < 0) {
		atomic_fetch_add(&page->failures, 1);
		return r;
	}
	note_group(page, appends, rg_clock_monotonic_ns() - start);
	rg_control_set_synced(journal->control, end);
	return ROGER_OK;
}

enum synced { SYNCED, NOT_YET, LOST };

/* Order matters: a failure is counted before a later sync moves the synced offset. */
static enum synced judge_sync(const struct rg_journal *journal, uint64_t end,
			      uint32_t failures_seen)
{
	bool covered = rg_control_synced(journal->control) >= end;

	if (atomic_load(&page_of(journal)->failures) != failures_seen)
		return LOST;
	return covered ? SYNCED : NOT_YET;
}

/* A larger control file may have been created just before the failure was recorded in ours. */
static void note_failure_in_larger(struct rg_journal *journal)
{
	struct rg_control_page *page;

	while (rg_control_retired(page_of(journal)) && reopen_control(journal, NULL) == ROGER_OK) {
		page = page_of(journal);
		note_lost(journal->control, rg_journal_end(journal));
		atomic_fetch_add(&page->failures, 1);
	}
}

/* Sync if it is still needed.  Needs the sync lock, and releases it. */
static int lead_once(struct rg_journal *journal, uint64_t end, uint32_t failures_seen,
		     struct roger_err *err)
{
	int r = judge_sync(journal, end, failures_seen) == NOT_YET ? lead_sync(journal, err)
								   : ROGER_OK;

	end_lead(journal);
	if (r < 0)
		note_failure_in_larger(journal);
	return r;
}

/* Take the sync lock now, or fail with an error that names the leader. */
static int take_lead(struct rg_journal *journal, struct roger_err *err)
{
	bool gone;

	return rg_lock_take_unless(&page_of(journal)->sync_lock, journal->owner, 0, NULL,
				   owner_lives, journal, &gone, "the sync of the journal",
				   RG_LOCK_STANDS_STILL, err);
}

static int sync_until(struct rg_journal *journal, uint64_t end, uint32_t failures_seen,
		      uint64_t generation, struct roger_err *err)
{
	struct rg_control_page *page;
	int64_t until = 0, now;
	bool in_vain = false, late;
	uint32_t wake;
	int r;

	for (;;) {
		r = follow_control(journal, err);
		if (r < 0)
			return r;
		page = page_of(journal);
		/* The control file was rebuilt since we wrote, and knows of no sync that failed
		 * meanwhile; but the system tells every process that has the journal open. */
		if (rg_control_generation(journal->control) != generation) {
			r = rg_file_sync(journal->file, journal->name, err);
			return r == ROGER_OK ? rg_journal_check_name(journal, err) : r;
		}
		wake = atomic_load(&page->wake);
		switch (judge_sync(journal, end, failures_seen)) {
		case SYNCED:
			return ROGER_OK;
		case LOST:
			if (!rg_control_sound(journal->control))
				continue;
			return fail_lost(journal, err);
		case NOT_YET:
			break;
		}
		now = rg_clock_monotonic_ns();
		until = until ? until : now + journal->wait_ms * 1000000;
		late = now > until || (in_vain && rg_lock_interrupted());
		r = late ? take_lead(journal, err) : ROGER_OK;
		if (r < 0)
			return r;
		if (late || rg_lock_try(&page->sync_lock, journal->owner, in_vain)) {
			r = lead_once(journal, end, failures_seen, err);
			if (r < 0)
				return r;
			continue;
		}
		/* Look for a dead leader only after a wait timed out. */
		in_vain = !sleep_until_woken(page, wake, RG_LEADER_CHECK_MS);
	}
}

int rg_journal_sync(struct rg_journal *journal, uint64_t end, struct roger_err *err)
{
	rg_assert(journal->control);
	return sync_until(journal, end, journal->failures_seen, journal->generation_seen, err);
}

/* ------------------------------------------------------------- reading -- */

/* Without a control file, *ret_end is behind the last newline. */
static int settle_read_only(struct rg_journal *journal, uint64_t *ret_end, struct roger_err *err)
{
	char piece[4096];
	uint64_t size, from;
	size_t got;
	int r;

	r = rg_file_size(journal->file, journal->name, &size, err);
	if (r < 0)
		return r;
	while (size > 0) {
		from = size > sizeof piece ? size - sizeof piece : 0;
		r = rg_file_read_at(journal->file, piece, (size_t)(size - from), (int64_t)from,
				    &got, err);
		if (r < 0)
			return r;
		while (got > 0 && piece[got - 1] != '\n')
			got--;
		size = from + got;
		if (got)
			break;
	}
	*ret_end = size;
	return ROGER_OK;
}

/* Without the append lock, read whole lines as they are; nothing is adopted. */
static int settle_alone(struct rg_journal *journal, uint64_t *ret_end, struct roger_err *err)
{
	int r = settle_read_only(journal, ret_end, err);

	if (r == ROGER_OK && *ret_end > rg_control_synced(journal->control))
		r = rg_file_sync(journal->file, journal->name, err);
	return r;
}

/* Sync lines that nobody else syncs; *ret_end: the synced end.  Lines older than the control
 * file are included: they may have been acknowledged before. */
static int settle_synced(struct rg_journal *journal, uint64_t *ret_end, struct roger_err *err)
{
	struct rg_control_page *page = page_of(journal);
	uint64_t end = rg_journal_end(journal), found = page->found;
	uint32_t failures = atomic_load(&page->failures);
	int r = ROGER_OK;

	if (rg_control_synced(journal->control) < end &&
	    !rg_lock_held(&page->sync_lock, journal->owner))
		/* A killed writer or another program left the lines. */
		r = sync_until(journal, end, failures, rg_control_generation(journal->control),
			       err);
	if (r < 0)
		return r;
	*ret_end = rg_control_synced(journal->control);
	if (*ret_end >= end || *ret_end >= found)
		return ROGER_OK;
	*ret_end = end;
	return rg_file_sync(journal->file, journal->name, err);
}

int rg_journal_settle(struct rg_journal *journal, uint64_t *ret_end, struct roger_err *err)
{
	uint64_t size;
	int r;

	if (journal->file == RG_NO_FILE) {
		*ret_end = 0;
		return ROGER_OK;
	}
	if (need_control(journal, NULL) < 0)
		return settle_read_only(journal, ret_end, err);
	r = follow_control(journal, err);
	if (r < 0 && rg_control_leave_lost(journal->control))
		return settle_read_only(journal, ret_end, err);
	/* The file may have been moved away since this handle was opened: then stop reading it. */
	if (r == ROGER_OK)
		r = rg_journal_check_name(journal, err);
	if (r == ROGER_OK)
		r = rg_file_size(journal->file, journal->name, &size, err);
	if (r < 0)
		return r;
	if (size != rg_journal_end(journal)) {
		r = lock_tail(journal, 0, 0, false, READER_WAIT_MS, err);
		if (r == ROGER_ETIMEOUT)
			return settle_alone(journal, ret_end, err);
		if (r < 0)
			return r;
		rg_journal_unlock(journal);
	}
	return settle_synced(journal, ret_end, err);
}

uint32_t rg_journal_wake_count(struct rg_journal *journal)
{
	return journal->control ? atomic_load(&page_of(journal)->wake) : 0;
}

void rg_journal_sleep(struct rg_journal *journal, uint32_t seen, int64_t wait_ms)
{
	rg_assert(journal->control);
	sleep_until_woken(page_of(journal), seen, wait_ms);
}

int rg_journal_read(struct rg_journal *journal, uint64_t offset, size_t length, struct rg_buf *out,
		    struct roger_err *err)
{
	char *room = rg_buf_room(out, length);
	size_t got;
	int r;

	if (!room)
		return rg_fail_memory(err);
	r = rg_file_read_at(journal->file, room, length, (int64_t)offset, &got, err);
	if (r < 0)
		return r;
	if (got < length)
		return rg_fail(err, ROGER_EIO, 0, "'%s' ends before byte %llu", journal->name,
			       (unsigned long long)(offset + length));
	out->length += got;
	return ROGER_OK;
}

/* ------------------------------------------------------ the other locks -- */

int rg_journal_take(struct rg_journal *journal, enum rg_store_lock which, int64_t wait_ms,
		    struct roger_err *err)
{
	static const char *const names[] = { "the message lock", "the index lock",
					     "the lock of message-state.json", "the log lock",
					     "the bridge lock" };
	/* A bridge rightly keeps its lock for as long as it runs. */
	const char *advice = which == RG_LOCK_BRIDGE
				     ? "is taking in trigger files; stop it first, or let it work"
				     : RG_LOCK_STANDS_STILL;
	struct rg_control_page *page;
	int tries, r;
	bool gone;

	rg_assert(which < sizeof names / sizeof *names);
	r = need_control(journal, err);
	for (tries = 0; tries < PLACES_MAX; tries++) {
		if (r == ROGER_OK)
			r = follow_control(journal, err);
		if (r < 0)
			return r;
		page = page_of(journal);
		r = rg_lock_take_unless(lock_of(page, which), journal->owner, wait_ms, is_gone,
					owner_lives, journal, &gone, names[which], advice, err);
		if (r == ROGER_OK && gone)
			continue;
		if (r < 0)
			return r;
		journal->owed &= ~(1u << which);
		if (rg_control_sound(journal->control))
			return ROGER_OK;
		rg_journal_release(journal, which);
	}
	return fail_again(journal, err);
}

bool rg_journal_try(struct rg_journal *journal, enum rg_store_lock which)
{
	if (!journal->control ||
	    !rg_lock_try(lock_of(page_of(journal), which), journal->owner, true))
		return false;
	journal->owed &= ~(1u << which);
	if (rg_control_sound(journal->control))
		return true;
	rg_journal_release(journal, which);
	return false;
}

bool rg_journal_holds(struct rg_journal *journal, enum rg_store_lock which)
{
	rg_assert(journal->control);
	return rg_lock_mine(lock_of(page_of(journal), which), journal->owner);
}

/* The lock may have moved to a larger control file meanwhile, and from there to the next. */
void rg_journal_release(struct rg_journal *journal, enum rg_store_lock which)
{
	int tries;

	rg_assert(journal->control);
	for (tries = 0; tries < PLACES_MAX; tries++) {
		rg_lock_release(lock_of(page_of(journal), which), journal->owner);
		if (rg_control_sound(journal->control))
			return;
		rg_control_retire(journal->control);
		if (reopen_control(journal, NULL) < 0)
			break;
	}
	journal->owed |= 1u << which;
}
