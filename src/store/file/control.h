/*
 * control - what the processes at work on one journal share, in memory.
 *
 * messages.control is mapped by everyone: the locks, how far the journal is
 * appended and synced, and the tally.  It is derived and holds for one boot and
 * one journal; when either differs, or it is missing or damaged, it is made
 * anew and the journal is read again from its start.  It is written out in
 * full before it is mapped, since touching a hole of a mapped file on a full
 * disk is a SIGBUS.  When the tally outgrows it, a larger one is renamed over
 * it and the old one is retired: whoever has that mapped opens it again.
 *
 * Anything may be written into a file.  So the fixed part, the tail, the synced
 * offset and each slot carry sums; what contradicts itself makes the handle
 * unsound (rg_control_sound()), and the file is retired and made anew.  A file
 * that is cut short while it is mapped is a SIGBUS: see rg_control_mend().
 *
 * The tally never says no when the answer is yes.  For an agent it holds the
 * last number (exact) and how many messages may be unread (or fewer are); for
 * an issue, and an issue and recipient, how many messages there may be (or
 * fewer are); for a key, that it may be known; for an agent and a message, that
 * a look of the agent at it is in the activity log.  Counting happens before the
 * append, so a killed writer leaves it too high, never too low; whoever has
 * counted exactly with the index sets it right.
 */
#ifndef RG_CONTROL_H
#define RG_CONTROL_H

#include "host/process.h"
#include "store/file/lock.h"

#include "base/limits.h"

/* What follows is a file format: see docs/FORMAT.md before changing it. */
#define RG_CONTROL_VERSION 5

/* Where the journal ends, the chain and the epoch there.  Two of them, one is in force. */
struct rg_tail {
	uint64_t appended; /* bytes that belong to whole, known lines */
	uint64_t chain;
	int64_t epoch;
	uint64_t sum;
};

struct rg_agent_slot {
	_Atomic uint32_t length; /* of name; 0: free */
	_Atomic uint32_t unread; /* at most so many */
	_Atomic int64_t epoch;	 /* that seq counts in */
	_Atomic int64_t seq;
	char name[RG_NAME_CHARS_MAX];
	_Atomic uint64_t sum;
};

struct rg_count_slot {
	_Atomic uint64_t hash; /* 0: free */
	_Atomic uint64_t word; /* the count, and a sum in its upper half */
};

struct rg_control_page {
	char magic[8];
	uint32_t version;
	_Atomic uint32_t retired;
	char boot_id[40]; /* rg_boot_id() */
	uint64_t journal_device;
	uint64_t journal_inode;
	uint32_t agent_capacity; /* powers of two */
	uint32_t count_capacity;
	/* What stands before this is the same in every version. */
	uint64_t generation; /* drawn when it was made; a larger file keeps it */
	uint64_t found;	     /* bytes of the journal then: what was stored before is among them */
	uint64_t on_disk;    /* so many of them were written in another boot */
	uint64_t sum;	     /* over all of the above but retired */

	struct rg_lock append_lock; /* who appends */
	struct rg_lock sync_lock;   /* who leads a sync */
	struct rg_lock change_lock; /* who changes the state of messages */
	struct rg_lock index_lock;  /* who brings the index up to date */
	struct rg_lock state_lock;  /* who writes message-state.json */
	struct rg_lock record_lock; /* who writes logs and run documents */

	_Alignas(64) _Atomic uint32_t tail_in_force; /* 0 or 1; changed under append_lock */
	_Atomic uint32_t agents_used;
	_Atomic uint32_t counts_used;
	_Atomic uint32_t prepared; /* 1: the epoch was taken from message-state.json */
	struct {
		_Atomic uint64_t appended, chain;
		_Atomic int64_t epoch;
		_Atomic uint64_t sum;
	} tails[2]; /* each a struct rg_tail, read while it may be written: its sum tells */
	_Atomic uint64_t appends;	/* how often the tail moved */
	_Atomic uint64_t adoptions;	/* lines of roger's that nobody had published */
	_Atomic uint64_t state_wanted;	/* message-state.json: numbers given */
	_Atomic uint64_t state_written; /* and those it holds */
	_Atomic uint64_t seen_wanted;	/* the same for what was accepted */
	_Atomic uint64_t seen_written;
	_Atomic uint64_t logged; /* the send logs hold all keyed messages before this byte */

	_Alignas(64) _Atomic uint32_t wake; /* futex: bumped after every sync */
	_Atomic uint32_t failures;	    /* syncs that went wrong */
	_Atomic uint64_t lost_from; /* bytes that a sync which went wrong should have covered */
	_Atomic uint64_t lost_to;
	_Atomic uint64_t synced;
	_Atomic uint64_t synced_sum; /* counts only with this: rg_control_synced() */
	_Atomic uint64_t synced_appends;
	_Atomic uint32_t groups[2]; /* appends that the last two syncs covered */
	_Atomic uint32_t sync_ns;   /* how long a sync takes, smoothed */
	struct rg_lock bridge_lock; /* who takes in trigger files */
	_Atomic uint64_t
		covering; /* end of the last sync begun, times 2; plus 1 every other time */
	_Atomic uint64_t witness_end; /* struct rg_witness; counts only with its sum */
	_Atomic uint64_t witness_chain;
	_Atomic uint64_t witness_sum;
	_Atomic uint32_t witness_chained;
	_Atomic uint32_t broken;  /* enum rg_broken */
	_Atomic uint32_t damages; /* entries of damage.jsonl that nobody has accepted */
	_Atomic uint32_t damaged; /* 1: there are entries: keys may be known to the logs alone */
	_Atomic uint64_t
		listed; /* the send logs hold all messages without a key before this byte */
};

/*
 * What somebody wrote down after a sync: so many bytes of the journal were on
 * disk, and the chain behind them.
 */
struct rg_witness {
	uint64_t end; /* 0: nobody says so */
	uint64_t chain;
	bool chained; /* the chain is known, too */
};

/* What came out when the journal was compared with its witness. */
enum rg_broken {
	RG_BROKEN_NOT,
	RG_BROKEN_DIFFERS, /* other bytes stand there; nobody has looked which */
	RG_BROKEN_SHORTER, /* less than that; nobody has noted it */
	RG_BROKEN_CLOSED,  /* noted: nothing is appended until a person has accepted it */
	RG_BROKEN_LINE,	   /* noted: lines were altered, and mail goes on */
};

/* Asked for while a control file is made anew: what others keep of the journal. */
typedef void rg_witness_source(void *context, struct rg_witness *ret_witness);

/*
 * What the bytes of a control file are to a journal in this boot.  Reads nothing
 * else, so any bytes may be asked about.
 */
struct rg_file_facts;
enum rg_control_kind {
	RG_CONTROL_INVALID,
	RG_CONTROL_HOLDS,
	RG_CONTROL_OTHER_BOOT,	/* sound, of this journal, but the machine was started since */
	RG_CONTROL_OTHER_BUILD, /* in force in this boot for this journal, in another version */
};
enum rg_control_kind rg_control_judge(const void *bytes, size_t size,
				      const struct rg_file_facts *journal,
				      const char boot_id[RG_BOOT_ID_BYTES]);

struct rg_control; /* one process's view */

/*
 * Map the control file of a journal, made anew where needed; then source, unless
 * it is NULL, is asked.  journal is its open descriptor, folder the one both are in.
 */
RG_CHECKED int rg_control_open(int folder, const char *name, int journal, rg_witness_source *source,
			       void *context, struct rg_control **ret_control,
			       struct roger_err *err);
struct rg_control *rg_control_close(struct rg_control *control);

struct rg_control_page *rg_control_page(struct rg_control *control);

/* Drawn when the file was made; a larger one that took its place has the same. */
uint64_t rg_control_generation(const struct rg_control *control);

/*
 * In a handler of SIGBUS: a file that was cut short is no longer behind the map
 * that holds this address.  Memory that says "retired" takes its place, so that
 * the library goes on with another file.  false: no map of ours.
 */
bool rg_control_mend(const void *address);

/* Has a larger one taken its place?  Looked at in one order with the locks that go over. */
static inline bool rg_control_retired(const struct rg_control_page *page)
{
	return atomic_load(&page->retired) != 0;
}

/* Not retired, and all that was looked at agrees with itself. */
bool rg_control_sound(const struct rg_control *control);

/* Is it the file of its name still, and whole?  An error: that cannot be told. */
RG_CHECKED int rg_control_look(const struct rg_control *control, bool *ret_in_place,
			       struct roger_err *err);

/* Nobody is to go on with it. */
void rg_control_retire(struct rg_control *control);

/* Whoever holds append_lock says so: only then does what contradicts itself mean damage. */
void rg_control_hold(struct rg_control *control, bool held);

/* The tail in force; false when it contradicts itself, which makes the handle unsound. */
bool rg_control_tail(struct rg_control *control, struct rg_tail *ret_tail);

/* How far lines are known; 0: unknown. */
uint64_t rg_control_appended(struct rg_control *control);

/* A new tail goes to the spare place and into force with one store.  Under append_lock. */
void rg_control_set_end(struct rg_control *control, uint64_t appended, uint64_t chain);
void rg_control_set_epoch(struct rg_control *control, int64_t epoch);

/* The epoch in force; 1 where it cannot be told. */
int64_t rg_control_epoch(struct rg_control *control);

/* How far the journal is on disk for sure.  Moved under sync_lock. */
uint64_t rg_control_synced(const struct rg_control *control);
void rg_control_set_synced(struct rg_control *control, uint64_t synced);

/* What the journal must hold, and what is so now: nothing in doubt may be a witness. */
struct rg_witness rg_control_witness(const struct rg_control *control);
void rg_control_set_witness(struct rg_control *control, struct rg_witness witness);
struct rg_witness rg_control_testify(struct rg_control *control);

/* How far the send logs were carried on; 0 where it cannot be told. */
uint64_t rg_control_logged(struct rg_control *control);

/* Is there room for so many more agents and counts?  Under append_lock. */
bool rg_control_has_room(struct rg_control *control, size_t agents, size_t counts);

/*
 * Put a control file with room for so many more in place of this one, and
 * retire this one.  Under append_lock of this one and the system's lock on the
 * journal; the holder then releases both and opens again.  The long-held locks go over as they are
 * held: whoever takes or releases one looks whether the file was retired meanwhile.
 */
RG_CHECKED int rg_control_grow(struct rg_control *control, size_t agents, size_t counts,
			       struct roger_err *err);

struct rg_agent {
	uint32_t unread; /* at most so many */
	int64_t epoch;
	int64_t seq;
};

/* Where a slot contradicts itself, there is no telling: then there may be as much as this. */
#define RG_CONTROL_MAYBE UINT32_MAX

/* An agent; false where there is none.  Needs no lock. */
bool rg_control_find_agent(struct rg_control *control, struct roger_str name,
			   struct rg_agent *ret_agent);

/* Remember it, as a new one where there is none.  Under append_lock, with room. */
void rg_control_put_agent(struct rg_control *control, struct roger_str name,
			  const struct rg_agent *agent);

/* Agents one by one, in no order: start with i = 0; false at the end. */
struct rg_named_agent {
	char name[RG_NAME_CHARS_MAX];
	size_t length;
	struct rg_agent agent;
};
bool rg_control_next_agent(struct rg_control *control, size_t *i, struct rg_named_agent *ret_agent);

/* What a count is about; parts are names. */
enum rg_count { RG_COUNT_ISSUE, RG_COUNT_MAILBOX, RG_COUNT_KEY, RG_COUNT_SHOWN };
uint64_t rg_count_hash(enum rg_count kind, struct roger_str first, struct roger_str second);

/* What was counted; 0: nothing.  Needs no lock. */
uint64_t rg_control_find_count(struct rg_control *control, uint64_t hash);

/* Remember it.  Under append_lock, with room where it is new. */
void rg_control_put_count(struct rg_control *control, uint64_t hash, uint64_t count);

/* Slots that contradict themselves; under append_lock. */
size_t rg_control_count_damaged(struct rg_control *control);

#endif
