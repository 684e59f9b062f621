/*
 * lock - a lock in shared memory that a dead process cannot keep.
 *
 * One 64-bit word, part of the file format (so not a pthread mutex, whose layout
 * belongs to the C library):
 *
 *     bits  0-21  process id of the owner, 0: free
 *     bits 22-30  tag of the owner's rg_file_own_namespace()
 *     bit  31     somebody sleeps on the lower half (a futex)
 *     bits 32-63  when the owner opened its handle, in boot ticks (10 ms)
 *
 * The ticks tell the owner from a later process with the same id: the owner is
 * dead if no such process lives, or if it started after those ticks.  An owner in
 * another pid or time namespace cannot be seen; when the wait times out, its lock is taken over
 * unless there is other evidence that it lives.
 */
#ifndef RG_LOCK_H
#define RG_LOCK_H

#include <stdatomic.h>

#include "base/str.h"

struct rg_lock {
	_Atomic uint64_t word;
};

/* The owner half of a lock word for this process; it differs for each handle. */
uint64_t rg_lock_owner(void);

/* Wait at most wait_ms.  ROGER_ETIMEOUT: the error names what, and the holder.  Stop with *ret_gone
 * set when gone() returns true: the lock has moved elsewhere.  lives() is asked about an owner that
 * cannot be seen.  Both may be NULL.  advice follows "which" in the error: what the holder does,
 * and what to do. */
#define RG_LOCK_STANDS_STILL "makes no progress; check it, then try again"
typedef bool rg_lock_gone(void *context);
typedef bool rg_lock_lives(void *context, uint64_t owner);
RG_CHECKED int rg_lock_take_unless(struct rg_lock *lock, uint64_t owner, int64_t wait_ms,
				   rg_lock_gone *gone, rg_lock_lives *lives, void *context,
				   bool *ret_gone, const char *what, const char *advice,
				   struct roger_err *err);

/* For a signal handler: the process is ending, so every wait ends with ROGER_ETIMEOUT.  Free locks
 * can still be taken. */
void rg_lock_interrupt(void);
bool rg_lock_interrupted(void);

/* Take the lock if it is free or its owner is dead (checked only if check is set). */
bool rg_lock_try(struct rg_lock *lock, uint64_t owner, bool check);

/* Release the lock; does nothing if somebody took it over. */
void rg_lock_release(struct rg_lock *lock, uint64_t owner);

/* Does a live process hold the lock?  Does this handle? */
bool rg_lock_held(struct rg_lock *lock, uint64_t looker);
bool rg_lock_mine(struct rg_lock *lock, uint64_t owner);

/* Sleep while *word is seen; false after wait_ms.  Wake at most count sleepers.  Works between
 * processes. */
#define RG_WAKE_ALL INT32_MAX
bool rg_lock_sleep(_Atomic uint32_t *word, uint32_t seen, int64_t wait_ms);
void rg_lock_wake(_Atomic uint32_t *word, int32_t count);

#endif
