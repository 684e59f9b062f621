#include "store/file/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "host/file.h"
#include "host/process.h"

#define PID_BITS 22
#define PID_MASK ((UINT64_C(1) << PID_BITS) - 1)
#define TAG_MASK (UINT64_C(0x1ff) << PID_BITS)
#define WAITERS (UINT64_C(1) << 31)

/* A holder that lost the processor gets it back a few times before we sleep. */
enum { SPINS = 200, YIELDS = 3 };

/* On a machine of 32 bits the plain call takes an instant of 32 bits. */
#ifndef SYS_futex_time64
#define SYS_futex_time64 SYS_futex
#endif

static long call_futex(_Atomic uint32_t *word, int operation, uint32_t value,
		       const struct timespec *until)
{
	return syscall(SYS_futex_time64, word, operation, value, until, NULL,
		       FUTEX_BITSET_MATCH_ANY);
}

/* The futex is the lower half; the layout assumes a little-endian machine. */
static _Atomic uint32_t *low_half(struct rg_lock *lock)
{
	return (_Atomic uint32_t *)&lock->word;
}

/* Ticks that differ for each handle in a process; a few ticks too many do not matter. */
static uint32_t own_ticks(void)
{
	static _Atomic uint32_t last;
	uint32_t before = atomic_load(&last), ticks = rg_clock_boot_ticks(), own;

	do
		own = (int32_t)(ticks - before) > 0 ? ticks : before + 1;
	while (!atomic_compare_exchange_weak(&last, &before, own));
	return own;
}

/* The owner word of this process's first handle; after a fork, that of its parent's. */
static _Atomic uint64_t first_owner;

uint64_t rg_lock_owner(void)
{
	/* Without /proc the tag is 0, which is right for a single namespace. */
	uint64_t space = rg_file_own_namespace(), before = atomic_load(&first_owner);
	uint64_t owner = ((uint64_t)getpid() & PID_MASK) | (space << PID_BITS & TAG_MASK) |
			 (uint64_t)own_ticks() << 32;

	if ((before ^ owner) & PID_MASK)
		atomic_compare_exchange_strong(&first_owner, &before, owner);
	return owner;
}

/* Does a handle of this process own the lock?  Answered without /proc, which is not reliable
 * everywhere: under qemu a thread sees its own start time as that of the process. */
static bool is_own(uint64_t word)
{
	uint64_t first = atomic_load(&first_owner);

	return (word & PID_MASK) == ((uint64_t)getpid() & PID_MASK) &&
	       !((word ^ first) & (PID_MASK | TAG_MASK)) &&
	       (int32_t)((uint32_t)(word >> 32) - (uint32_t)(first >> 32)) >= 0;
}

bool rg_lock_sleep(_Atomic uint32_t *word, uint32_t seen, int64_t wait_ms)
{
	int64_t until_ns = rg_clock_monotonic_ns() + wait_ms * 1000000;
	struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };

	/* FUTEX_WAIT_BITSET takes an instant; FUTEX_WAIT would take a span. */
	return call_futex(word, FUTEX_WAIT_BITSET, seen, &until) == 0 || errno != ETIMEDOUT;
}

void rg_lock_wake(_Atomic uint32_t *word, int32_t count)
{
	rg_assert(count > 0);
	call_futex(word, FUTEX_WAKE, (uint32_t)count, NULL);
}

enum fate { ALIVE, DEAD, UNKNOWN };

static enum fate fate_of(uint64_t word, uint64_t looker)
{
	pid_t pid = (pid_t)(word & PID_MASK);
	struct rg_process_look look;
	uint32_t start;

	if ((word & TAG_MASK) != (looker & TAG_MASK))
		return UNKNOWN;
	if (is_own(word))
		return ALIVE;
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return DEAD;
	if (!rg_process_look(pid, &look))
		return ALIVE;
	/* The owner was killed, but its parent has not reaped it yet. */
	if (rg_process_is_zombie(&look))
		return DEAD;
	/* Is this a later process with the same id? */
	start = (uint32_t)((uint64_t)look.start * 100 / (unsigned long)sysconf(_SC_CLK_TCK));
	return (int32_t)(start - (uint32_t)(word >> 32)) > 1 ? DEAD : ALIVE;
}

/* Take the lock.  The taker then checks whether the file was retired; that load must not be
 * reordered before this. */
static bool take_from(struct rg_lock *lock, uint64_t seen, uint64_t owner)
{
	rg_assert(owner && seen != owner);
	return atomic_compare_exchange_strong_explicit(&lock->word, &seen, owner,
						       memory_order_seq_cst, memory_order_relaxed);
}

bool rg_lock_try(struct rg_lock *lock, uint64_t owner, bool check)
{
	uint64_t seen = atomic_load_explicit(&lock->word, memory_order_relaxed);

	rg_assert(owner && !(owner & WAITERS));
	if (seen == 0)
		return take_from(lock, 0, owner);
	return check && fate_of(seen, owner) == DEAD && take_from(lock, seen, owner | WAITERS);
}

bool rg_lock_held(struct rg_lock *lock, uint64_t looker)
{
	uint64_t seen = atomic_load_explicit(&lock->word, memory_order_relaxed);

	return seen != 0 && fate_of(seen, looker) != DEAD;
}

static void relax_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool spin_for(struct rg_lock *lock, uint64_t owner)
{
	int yields, i;

	for (yields = 0;; yields++) {
		for (i = 0; i < SPINS; i++) {
			if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
			    take_from(lock, 0, owner))
				return true;
			relax_cpu();
		}
		if (yields == YIELDS)
			return false;
		rg_clock_yield();
	}
}

/* Mark the lock as having a sleeper; *seen follows the word.  False: the word has changed. */
static bool announce_waiter(struct rg_lock *lock, uint64_t *seen)
{
	if (!(*seen & WAITERS) &&
	    !atomic_compare_exchange_strong_explicit(&lock->word, seen, *seen | WAITERS,
						     memory_order_relaxed, memory_order_relaxed))
		return false;
	*seen |= WAITERS;
	return true;
}

static int give_up(uint64_t seen, uint64_t owner, const char *what, const char *advice,
		   struct roger_err *err)
{
	return rg_fail(err, ROGER_ETIMEOUT, 0, "%s is held by process %d%s, which %s", what,
		       (int)(seen & PID_MASK),
		       (seen ^ owner) & TAG_MASK ? " of another container" : "", advice);
}

/* Take a dead owner's lock at once; that of an unseen owner when the wait times out. */
static bool take_over(struct rg_lock *lock, uint64_t seen, uint64_t owner, bool waited,
		      rg_lock_lives *lives, void *context, enum fate *ret_fate)
{
	*ret_fate = fate_of(seen, owner);
	if (*ret_fate == UNKNOWN && waited && lives && lives(context, seen & ~WAITERS))
		*ret_fate = ALIVE;
	if (*ret_fate == ALIVE || (*ret_fate == UNKNOWN && !waited))
		return false;
	return take_from(lock, seen, owner | WAITERS);
}

static atomic_bool interrupted;

void rg_lock_interrupt(void)
{
	atomic_store(&interrupted, true);
}

bool rg_lock_interrupted(void)
{
	return atomic_load(&interrupted);
}

int rg_lock_take_unless(struct rg_lock *lock, uint64_t owner, int64_t wait_ms, rg_lock_gone *gone,
			rg_lock_lives *lives, void *context, bool *ret_gone, const char *what,
			const char *advice, struct roger_err *err)
{
	int64_t until;
	uint64_t seen, now;
	enum fate fate;
	bool waited;

	*ret_gone = false;
	if (spin_for(lock, owner))
		return ROGER_OK;
	until = rg_clock_monotonic_ns() + wait_ms * 1000000;

	for (;;) {
		seen = atomic_load_explicit(&lock->word, memory_order_relaxed);
		if (seen == 0) {
			/* Others may still sleep: keep the mark, so that our release wakes one. */
			if (take_from(lock, 0, owner | WAITERS))
				return ROGER_OK;
			continue;
		}
		*ret_gone = gone && gone(context);
		if (*ret_gone)
			return ROGER_OK;
		if (rg_lock_interrupted())
			return rg_fail(err, ROGER_ETIMEOUT, 0, "stopped while waiting for %s",
				       what);
		if (!announce_waiter(lock, &seen))
			continue;
		rg_lock_sleep(low_half(lock), (uint32_t)seen, RG_LEADER_CHECK_MS);

		waited = rg_clock_monotonic_ns() >= until;
		now = atomic_load_explicit(&lock->word, memory_order_relaxed);
		/* Take a free lock even if the time is up. */
		if (now == 0 || (!waited && now != seen))
			continue;
		if (take_over(lock, seen, owner, waited, lives, context, &fate))
			return ROGER_OK;
		if (waited && fate == ALIVE)
			return give_up(seen, owner, what, advice, err);
	}
}

bool rg_lock_mine(struct rg_lock *lock, uint64_t owner)
{
	return (atomic_load(&lock->word) & ~WAITERS) == owner;
}

void rg_lock_release(struct rg_lock *lock, uint64_t owner)
{
	uint64_t was = atomic_load(&lock->word);

	rg_assert(owner && !(owner & WAITERS));
	do {
		if ((was & ~WAITERS) != owner)
			return;
	} while (!atomic_compare_exchange_weak(&lock->word, &was, 0));
	if (was & WAITERS)
		rg_lock_wake(low_half(lock), 1);
}
