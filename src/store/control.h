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

#include "store/lock.h"

#include "base/limits.h"

/* What follows is a file format: see docs/FORMAT.md before changing it. */
#define RG_CONTROL_VERSION 4

/* Where the journal ends, and the chain there.  Two of them, one is in force. */
struct rg_tail {
	uint64_t appended; /* bytes that belong to whole, known lines */
	uint64_t chain;
};

struct rg_agent_slot {
	_Atomic uint32_t length; /* of name; 0: free.  Set last, with release. */
	_Atomic uint32_t unread; /* at most so many */
	_Atomic int64_t epoch;	 /* that seq counts in */
	_Atomic int64_t seq;
	char name[RG_NAME_CHARS_MAX];
};

struct rg_count_slot {
	_Atomic uint64_t hash; /* 0: free */
	_Atomic uint64_t count;
};

struct rg_control_page {
	char magic[8];
	uint32_t version;
	_Atomic uint32_t retired;
	char boot_id[40]; /* rg_control_boot_id() */
	uint64_t journal_device;
	uint64_t journal_inode;
	uint32_t agent_capacity; /* powers of two */
	uint32_t count_capacity;

	struct rg_lock append_lock; /* who appends */
	struct rg_lock sync_lock;   /* who leads a sync */
	struct rg_lock change_lock; /* who changes the state of messages */
	struct rg_lock index_lock;  /* who brings the index up to date */
	struct rg_lock state_lock;  /* who writes message-state.json */
	struct rg_lock record_lock; /* who writes logs and run documents */

	_Alignas(64) _Atomic uint32_t tail_in_force; /* 0 or 1; changed under append_lock */
	_Atomic uint32_t agents_used;
	_Atomic uint32_t counts_used;
	struct rg_tail tails[2];
	_Atomic uint64_t appended; /* of the tail in force, for those without the lock */
	_Atomic uint64_t appends;  /* how often it moved */
	_Atomic int64_t epoch;
	_Atomic uint32_t prepared;	/* 1: the epoch was taken from message-state.json */
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
	_Atomic uint64_t synced_appends;
	_Atomic uint32_t groups[2]; /* appends that the last two syncs covered */
	_Atomic uint32_t sync_ns;   /* how long a sync takes, smoothed */
	struct rg_lock bridge_lock; /* who takes in trigger files */
	_Atomic uint64_t
		covering; /* end of the last sync begun, times 2; plus 1 every other time */
};

/* This start of the machine, as text; "" where the system does not tell. */
enum { RG_BOOT_ID_BYTES = 40 };
void rg_control_boot_id(char to[RG_BOOT_ID_BYTES]);

struct rg_control; /* one process's view */

/*
 * Map the control file of a journal, made anew where needed.  journal is its
 * open descriptor, folder the one both are in.
 */
RG_CHECKED int rg_control_open(int folder, const char *name, int journal,
			       struct rg_control **ret_control, struct roger_err *err);
struct rg_control *rg_control_close(struct rg_control *control);

struct rg_control_page *rg_control_page(struct rg_control *control);

/* Has a larger one taken its place?  Looked at in one order with the locks that go over. */
static inline bool rg_control_retired(const struct rg_control_page *page)
{
	return atomic_load(&page->retired) != 0;
}

/* Is there room for so many more agents and counts?  Under append_lock. */
bool rg_control_has_room(struct rg_control *control, size_t agents, size_t counts);

/*
 * Put a control file with room for so many more in place of this one, and
 * retire this one.  Under append_lock of this one, whose holder then releases
 * it and opens again.  The long-held locks go over as they are held: whoever
 * takes or releases one looks whether the file was retired meanwhile.
 */
RG_CHECKED int rg_control_grow(struct rg_control *control, int journal, size_t agents,
			       size_t counts, struct roger_err *err);

/* The slot of an agent; NULL where there is none.  Needs no lock. */
struct rg_agent_slot *rg_control_find_agent(struct rg_control *control, struct roger_str name);

/* The same, made where there is none.  Under append_lock, with room. */
struct rg_agent_slot *rg_control_agent(struct rg_control *control, struct roger_str name);

/* Agents one by one, in no order: start with i = 0; NULL at the end. */
struct rg_agent_slot *rg_control_next_agent(struct rg_control *control, size_t *i);

/* What a count is about; parts are names. */
enum rg_count { RG_COUNT_ISSUE, RG_COUNT_MAILBOX, RG_COUNT_KEY, RG_COUNT_SHOWN };
uint64_t rg_count_hash(enum rg_count kind, struct roger_str first, struct roger_str second);

/* The slot of a count; NULL: never counted.  Needs no lock. */
struct rg_count_slot *rg_control_find_count(struct rg_control *control, uint64_t hash);

/* The same, made where there is none.  Under append_lock, with room. */
struct rg_count_slot *rg_control_count(struct rg_control *control, uint64_t hash);

#endif
