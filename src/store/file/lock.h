/*
 * lock - a lock in shared memory that no dead process can keep.
 *
 * One 64-bit word, part of our file format (never a pthread mutex, whose
 * layout belongs to a C library):
 *
 *     bits  0-21  process id of the owner, 0: free
 *     bits 22-30  tag of the owner's pid namespace
 *     bit  31     somebody sleeps on the low half (a futex)
 *     bits 32-63  when the owner opened its handle, in boot ticks (10 ms)
 *
 * The ticks tell an owner from a later process of the same id: the owner is
 * dead when no such process lives or when it was started after those ticks.
 * An owner of another pid namespace cannot be looked at; its lock is taken
 * over once the wait is used up.
 */
#ifndef RG_LOCK_H
#define RG_LOCK_H

#include <stdatomic.h>

#include "base/str.h"

struct rg_lock {
	_Atomic uint64_t word;
};

/* The owner half that this process writes into locks; made once per handle. */
uint64_t rg_lock_owner(void);

/* Wait at most wait_ms; ROGER_ETIMEOUT names what and the holder. */
RG_CHECKED int rg_lock_take(struct rg_lock *lock, uint64_t owner, int64_t wait_ms, const char *what,
			    struct roger_err *err);

/*
 * The same, but *ret_gone becomes true, and the lock is not taken, once gone()
 * says so: then it is elsewhere, and who holds it here may never give it back.
 * advice follows "which" in the error: what the holder does, and what to do.
 */
#define RG_LOCK_STANDS_STILL "does not go on; look at it, then try again"
typedef bool rg_lock_gone(void *context);
RG_CHECKED int rg_lock_take_unless(struct rg_lock *lock, uint64_t owner, int64_t wait_ms,
				   rg_lock_gone *gone, void *context, bool *ret_gone,
				   const char *what, const char *advice, struct roger_err *err);

/*
 * From a handler of a signal: this process is to end, so no wait for another
 * one goes on; ROGER_ETIMEOUT.  What is free is taken still.
 */
void rg_lock_interrupt(void);
bool rg_lock_interrupted(void);

/* Take it if it is free or its owner is dead (looked for only when check is set). */
bool rg_lock_try(struct rg_lock *lock, uint64_t owner, bool check);

/* Let it go; nothing happens when it was taken over meanwhile. */
void rg_lock_release(struct rg_lock *lock, uint64_t owner);

/* Is it held by a live process?  By this handle? */
bool rg_lock_held(struct rg_lock *lock, uint64_t looker);
bool rg_lock_mine(struct rg_lock *lock, uint64_t owner);

/*
 * Sleep while *word is seen, up to wait_ms; false: so long.  Wake so many of
 * those who sleep with one of these bits.  Shared between processes.
 */
#define RG_SLEEP_ANY UINT32_MAX
#define RG_WAKE_ALL INT32_MAX
bool rg_lock_sleep(_Atomic uint32_t *word, uint32_t seen, int64_t wait_ms, uint32_t bits);
void rg_lock_wake(_Atomic uint32_t *word, int32_t count, uint32_t bits);

#endif
