/*
 * What store/file/lock.h promises: one owner at a time, whatever processes want the
 * lock; no lock outlives its process, be it dead, a zombie, or another one of
 * the same id; a living owner that does not go on is waited for and named, and
 * no longer than asked; an owner that cannot be looked at is outwaited.
 */
#include "folder.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "store/file/lock.h"
#include "host/process.h"

struct shared {
	struct rg_lock lock;
	_Atomic uint32_t word;
	_Atomic uint32_t inside;
	_Atomic uint32_t broken;
	uint64_t count;
	int pipe[2];
};

/* Take a lock that stays where it is, from an owner who is seen here. */
static int take_lock(struct rg_lock *lock, uint64_t owner, int64_t wait_ms, const char *what,
		     struct roger_err *err)
{
	bool gone;

	return rg_lock_take_unless(lock, owner, wait_ms, NULL, NULL, NULL, &gone, what,
				   RG_LOCK_STANDS_STILL, err);
}

static int setup(void **state)
{
	struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(shared != MAP_FAILED);
	assert_int_equal(pipe(shared->pipe), 0);
	*state = shared;
	return 0;
}

static int teardown(void **state)
{
	struct shared *shared = *state;

	close(shared->pipe[0]);
	close(shared->pipe[1]);
	munmap(shared, sizeof *shared);
	return 0;
}

static void say(struct shared *shared)
{
	if (write(shared->pipe[1], "x", 1) != 1)
		_exit(99);
}

static void hear(struct shared *shared)
{
	char c;

	assert_int_equal(read(shared->pipe[0], &c, 1), 1);
}

/* Who this process is; made once, like a handle does. */
static uint64_t me(void)
{
	static uint64_t owner;

	if ((owner & 0x3fffff) != (uint64_t)getpid())
		owner = rg_lock_owner();
	return owner;
}

static int take(struct shared *shared, int64_t wait_ms, struct roger_err *err)
{
	return take_lock(&shared->lock, me(), wait_ms, "the thing", err);
}

/* A child that takes the lock and then ends, stops or waits to be killed. */
static int take_and_exit(void *context)
{
	return take(context, 1000, NULL) == ROGER_OK ? 0 : 1;
}

static int take_and_stop(void *context)
{
	if (take(context, 1000, NULL) < 0)
		return 1;
	say(context);
	raise(SIGSTOP);
	rg_lock_release(&((struct shared *)context)->lock, me());
	return 0;
}

/* Until it is a zombie: told without asking for its status. */
static void wait_for_end(pid_t child)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

static void wait_for_stop(pid_t child)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
}

static void a_free_lock_is_taken_and_given_back(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me();

	assert_false(rg_lock_held(&shared->lock, owner));
	assert_int_equal(take(shared, 0, NULL), ROGER_OK);
	assert_true(rg_lock_held(&shared->lock, owner));
	assert_true(rg_lock_mine(&shared->lock, atomic_load(&shared->lock.word)));
	assert_false(rg_lock_try(&shared->lock, owner, true));
	rg_lock_release(&shared->lock, me());
	assert_int_equal(shared->lock.word, 0);
	assert_true(rg_lock_try(&shared->lock, owner, false));
	assert_true(rg_lock_mine(&shared->lock, owner));
	assert_false(rg_lock_mine(&shared->lock, owner + 1));
	/* Who has lost it cannot give away what is another's now. */
	rg_lock_release(&shared->lock, owner + 1);
	assert_true(rg_lock_mine(&shared->lock, owner));
	rg_lock_release(&shared->lock, me());
}

static void a_dead_owner_has_lost_it(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me();

	assert_int_equal(process_join(process_fork(take_and_exit, shared)), 0);
	assert_true(shared->lock.word != 0);
	assert_false(rg_lock_held(&shared->lock, owner));
	assert_false(rg_lock_try(&shared->lock, owner, false));
	assert_true(rg_lock_try(&shared->lock, owner, true));
	assert_true(rg_lock_mine(&shared->lock, owner));
}

static void a_zombie_has_lost_it(void **state)
{
	struct shared *shared = *state;
	pid_t child = process_fork(take_and_exit, shared);

	wait_for_end(child);
	assert_int_equal(kill(child, 0), 0);
	assert_false(rg_lock_held(&shared->lock, me()));
	assert_int_equal(take(shared, 1000, NULL), ROGER_OK);
	assert_int_equal(process_join(child), 0);
}

static void a_killed_owner_loses_it_while_others_wait(void **state)
{
	struct shared *shared = *state;
	pid_t child = process_fork(take_and_stop, shared);
	int64_t began;

	hear(shared);
	wait_for_stop(child);
	assert_int_equal(kill(child, SIGKILL), 0);
	began = rg_clock_monotonic_ns();
	assert_int_equal(take(shared, 10000, NULL), ROGER_OK);
	assert_true(rg_clock_monotonic_ns() - began < INT64_C(2000000000));
	assert_int_equal(process_join(child), 128 + SIGKILL);
}

static void a_stopped_owner_is_named_after_a_bounded_wait(void **state)
{
	struct shared *shared = *state;
	pid_t child = process_fork(take_and_stop, shared);
	struct roger_err err = { 0 };
	int64_t began, took;
	char number[32];

	hear(shared);
	wait_for_stop(child);
	began = rg_clock_monotonic_ns();
	assert_int_equal(take(shared, 150, &err), ROGER_ETIMEOUT);
	took = rg_clock_monotonic_ns() - began;
	assert_true(took >= INT64_C(150000000) && took < INT64_C(2000000000));
	snprintf(number, sizeof number, "process %d", (int)child);
	assert_non_null(strstr(err.message, number));
	assert_non_null(strstr(err.message, "the thing"));
	assert_true(rg_lock_held(&shared->lock, me()));
	assert_false(rg_lock_try(&shared->lock, me(), true));

	/* Once it goes on, it gives the lock back and wakes who sleeps. */
	assert_int_equal(kill(child, SIGCONT), 0);
	assert_int_equal(take(shared, 10000, NULL), ROGER_OK);
	assert_int_equal(process_join(child), 0);
}

/* Same process id, but it was started after the lock was taken. */
static void a_later_process_of_the_same_id_is_another(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me(), before = owner - (UINT64_C(100000) << 32);

	shared->lock.word = before;
	assert_false(rg_lock_held(&shared->lock, owner));
	assert_int_equal(take(shared, 1000, NULL), ROGER_OK);
	/* The clock of ticks goes round. */
	shared->lock.word = (owner & UINT32_MAX) | ((owner >> 32) + 5) << 32;
	assert_true(rg_lock_held(&shared->lock, owner));
}

static void an_owner_elsewhere_is_outwaited(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me();
	int64_t began = rg_clock_monotonic_ns();

	shared->lock.word = owner ^ (UINT64_C(1) << 22);
	assert_true(rg_lock_held(&shared->lock, owner));
	assert_false(rg_lock_try(&shared->lock, owner, true));
	assert_int_equal(take_lock(&shared->lock, owner, 100, "the thing", NULL), ROGER_OK);
	assert_true(rg_clock_monotonic_ns() - began >= INT64_C(100000000));
	assert_true(rg_lock_mine(&shared->lock, owner));
}

static bool says_so(void *context, uint64_t owner)
{
	return owner == *(uint64_t *)context;
}

/* As a paused container is, of which only a lock of the system tells. */
static void an_owner_elsewhere_that_lives_keeps_it(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me(), other = owner ^ (UINT64_C(1) << 22);
	struct roger_err err;
	char message[200];
	bool gone;

	shared->lock.word = other;
	snprintf(message, sizeof message,
		 "the thing is held by process %d of another container, which sleeps", getpid());
	assert_int_equal(rg_lock_take_unless(&shared->lock, owner, 10, NULL, says_so, &other, &gone,
					     "the thing", "sleeps", &err),
			 ROGER_ETIMEOUT);
	assert_string_equal(err.message, message);
	other = 0;
	assert_int_equal(rg_lock_take_unless(&shared->lock, owner, 10, NULL, says_so, &other, &gone,
					     "the thing", "sleeps", &err),
			 ROGER_OK);
}

static void *say_and_sleep(void *context)
{
	say(context);
	pause();
	return NULL;
}

/* The first thread of a process is gone, others live: it shows as a zombie and is none. */
static int leave_a_thread(void *context)
{
	pthread_t thread;

	if (take(context, 1000, NULL) < 0 ||
	    pthread_create(&thread, NULL, say_and_sleep, context) != 0)
		return 1;
	pthread_exit(NULL);
}

static void a_process_whose_first_thread_ended_lives(void **state)
{
	struct shared *shared = *state;
	pid_t child = process_fork(leave_a_thread, shared);
	struct timespec moment = { 0, 50000000 };

	hear(shared);
	nanosleep(&moment, NULL); /* nothing tells when the first thread is gone */
	assert_true(rg_lock_held(&shared->lock, me()));
	assert_int_equal(take(shared, 50, NULL), ROGER_ETIMEOUT);
	kill(child, SIGKILL);
	assert_int_equal(process_join(child), 128 + SIGKILL);
	assert_int_equal(take(shared, 1000, NULL), ROGER_OK);
}

enum { PROCESSES = 8, ROUNDS = 20000 };

static int count_up(void *context)
{
	struct shared *shared = context;
	uint64_t owner = me();
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (take_lock(&shared->lock, owner, 20000, "the count", NULL) < 0)
			return 1;
		shared->count++;
		rg_lock_release(&shared->lock, owner);
	}
	return 0;
}

static void one_owner_at_a_time(void **state)
{
	struct shared *shared = *state;
	pid_t children[PROCESSES];
	int i;

	for (i = 0; i < PROCESSES; i++)
		children[i] = process_fork(count_up, shared);
	for (i = 0; i < PROCESSES; i++)
		assert_int_equal(process_join(children[i]), 0);
	assert_int_equal(shared->count, PROCESSES * ROUNDS);
	assert_int_equal(shared->lock.word, 0);
}

/* Nobody else may be inside; whoever was killed there is not. */
static int go_in_and_out(void *context)
{
	struct shared *shared = context;
	uint64_t owner = me();
	uint32_t here = (uint32_t)getpid();

	for (;;) {
		if (take_lock(&shared->lock, owner, 20000, "the room", NULL) < 0)
			return 1;
		atomic_store(&shared->inside, here);
		shared->count++;
		if (atomic_load(&shared->inside) != here)
			atomic_fetch_add(&shared->broken, 1);
		rg_lock_release(&shared->lock, owner);
	}
}

static void no_kill_keeps_it_or_opens_it_to_two(void **state)
{
	struct shared *shared = *state;
	struct timespec moment = { 0, 0 };
	pid_t children[PROCESSES];
	uint64_t before;
	int i;

	srand(7);
	for (i = 0; i < PROCESSES; i++)
		children[i] = process_fork(go_in_and_out, shared);
	for (i = 0; i < 150; i++) {
		moment.tv_nsec = rand() % 2000000;
		nanosleep(&moment, NULL);
		kill(children[i % PROCESSES], SIGKILL);
		assert_int_equal(process_join(children[i % PROCESSES]), 128 + SIGKILL);
		children[i % PROCESSES] = process_fork(go_in_and_out, shared);
	}
	before = shared->count;
	assert_int_equal(take(shared, 10000, NULL), ROGER_OK);
	rg_lock_release(&shared->lock, me());
	assert_true(before > 0);
	for (i = 0; i < PROCESSES; i++) {
		kill(children[i], SIGKILL);
		assert_int_equal(process_join(children[i]), 128 + SIGKILL);
	}
	assert_int_equal(shared->broken, 0);
	assert_int_equal(take(shared, 1000, NULL), ROGER_OK);
}

static int sleep_on_word(void *context)
{
	struct shared *shared = context;

	say(shared);
	while (atomic_load(&shared->word) == 0)
		rg_lock_sleep(&shared->word, 0, 20000);
	return 0;
}

static void sleepers_on_a_word_are_all_woken(void **state)
{
	struct shared *shared = *state;
	pid_t children[PROCESSES];
	int64_t began;
	int i;

	for (i = 0; i < PROCESSES; i++)
		children[i] = process_fork(sleep_on_word, shared);
	for (i = 0; i < PROCESSES; i++)
		hear(shared);
	began = rg_clock_monotonic_ns();
	atomic_store(&shared->word, 1);
	rg_lock_wake(&shared->word, RG_WAKE_ALL);
	for (i = 0; i < PROCESSES; i++)
		assert_int_equal(process_join(children[i]), 0);
	assert_true(rg_clock_monotonic_ns() - began < INT64_C(10000000000));
	/* A word that has moved already is not slept on. */
	rg_lock_sleep(&shared->word, 0, 20000);
}

static int sleep_once(void *context)
{
	struct shared *shared = context;

	say(shared);
	return rg_lock_sleep(&shared->word, 0, 20000) ? 0 : 1;
}

/* The word stays, so that only a wake ends a sleep: given one at a time until both are up. */
static void a_wake_ends_a_sleep(void **state)
{
	struct shared *shared = *state;
	int left = 2, status;

	process_fork(sleep_once, shared);
	process_fork(sleep_once, shared);
	hear(shared);
	hear(shared);
	while (left) {
		if (waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			left--;
		}
		rg_lock_wake(&shared->word, 1);
		rg_clock_sleep(1);
	}
}

/* ----------------------------------------------------------------- the word -- */

enum { OWNERS = 3000 };
#define SLEEPERS (UINT64_C(1) << 31)

/* Process, namespace and ticks, as lock.h has them. */
static void an_owner_says_who_and_since_when(void **state)
{
	uint64_t owner, before = rg_lock_owner();
	uint32_t first = (uint32_t)(before >> 32), last = first;
	struct stat space;
	int i;

	(void)state;
	assert_int_equal(stat("/proc/self/ns/pid", &space), 0);
	for (i = 1; i < OWNERS; i++) {
		owner = rg_lock_owner();
		assert_int_equal(owner & 0x3fffff, getpid());
		assert_int_equal(owner >> 22 & 0x1ff, (uint64_t)space.st_ino & 0x1ff);
		assert_int_equal(owner & SLEEPERS, 0);
		/* Later than the one before, and no later than need be. */
		last = (uint32_t)(owner >> 32);
		assert_true((int32_t)(last - (uint32_t)(before >> 32)) > 0);
		before = owner;
	}
	assert_true(last - first == OWNERS - 1 || (int32_t)(last - rg_clock_boot_ticks()) <= 0);
	assert_true((int32_t)(first - rg_clock_boot_ticks()) < 100);
}

enum { THREADS = 4, MANY_OWNERS = 5000 };

static pthread_barrier_t all_there;

static void *make_owners(void *context)
{
	uint64_t *owners = context;
	int i;

	pthread_barrier_wait(&all_there);
	for (i = 0; i < MANY_OWNERS; i++)
		owners[i] = rg_lock_owner();
	return NULL;
}

static int compare_owners(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* In a child: so many owners are ahead of the clock. */
static int make_owners_in_threads(void *context)
{
	static uint64_t owners[THREADS * MANY_OWNERS];
	pthread_t threads[THREADS];
	int i;

	(void)context;
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, make_owners, &owners[i * MANY_OWNERS]) != 0)
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	qsort(owners, THREADS * MANY_OWNERS, sizeof *owners, compare_owners);
	for (i = 1; i < THREADS * MANY_OWNERS; i++)
		if (owners[i - 1] == owners[i])
			return 2;
	return 0;
}

static void threads_are_owners_of_their_own(void **state)
{
	assert_int_equal(process_join(process_fork(make_owners_in_threads, *state)), 0);
}

/* Also one that was started after the lock was taken; its /proc may say otherwise (qemu). */
static void *look_from_a_later_thread(void *context)
{
	struct shared *shared = context;
	uint64_t owner = rg_lock_owner();

	shared->broken =
		!rg_lock_held(&shared->lock, owner) || rg_lock_try(&shared->lock, owner, true);
	return NULL;
}

static void a_later_thread_leaves_it_to_its_owner(void **state)
{
	struct shared *shared = *state;
	uint32_t taken = (uint32_t)(me() >> 32);
	pthread_t thread;

	assert_int_equal(take(shared, 0, NULL), ROGER_OK);
	while ((int32_t)(rg_clock_boot_ticks() - taken) < 10)
		rg_clock_yield();
	assert_int_equal(pthread_create(&thread, NULL, look_from_a_later_thread, shared), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(shared->broken, 0);
	rg_lock_release(&shared->lock, me());
}

/* A process is the owner when it was there when the handle was opened, give or take a tick. */
static void an_owner_is_as_old_as_its_handle(void **state)
{
	struct shared *shared = *state;
	uint64_t low = me() & UINT32_MAX, start;
	struct rg_process_look look;
	int late;

	assert_true(rg_process_look(getpid(), &look));
	start = (uint64_t)look.start * 100 / (uint64_t)sysconf(_SC_CLK_TCK);
	for (late = -3; late <= 3; late++) {
		shared->lock.word = low | (uint64_t)(uint32_t)(start - (uint64_t)late) << 32;
		assert_int_equal(rg_lock_held(&shared->lock, me()), late <= 1);
	}
}

/* A process of somebody else lives, though it may not be sent a signal. */
static int look_at_others(void *context)
{
	struct shared *shared = context;
	uint64_t owner = me();

	/* Where nobody else can be had, there is nothing to see. */
	if ((geteuid() == 0 && setuid(65534) < 0) || kill(1, 0) == 0)
		return 0;
	shared->lock.word = (owner & ~UINT64_C(0x3fffff)) | 1;
	if (!rg_lock_held(&shared->lock, owner) || rg_lock_try(&shared->lock, owner, true))
		return 3;
	return rg_process_lives(1) ? 0 : 4;
}

static void processes_of_others_live(void **state)
{
	assert_int_equal(process_join(process_fork(look_at_others, *state)), 0);
}

static void which_processes_live(void **state)
{
	pid_t child = process_fork(take_and_exit, *state);

	assert_int_equal(process_join(child), 0);
	assert_false(rg_process_lives(child));
	assert_true(rg_process_lives(getpid()));
	/* What an earlier call found is not what this one finds. */
	errno = ESRCH;
	assert_true(rg_process_lives(getpid()));
	((struct shared *)*state)->lock.word = me();
	errno = ESRCH;
	assert_true(rg_lock_held(&((struct shared *)*state)->lock, me()));
	assert_false(rg_process_lives(0));
	assert_false(rg_process_lives(-1));
	assert_false(rg_process_lives(-getpid()));
	assert_false(rg_process_lives(INT32_MAX));
	assert_false(rg_process_lives((INT64_C(1) << 32) + getpid()));
	assert_false(rg_process_lives(INT64_MIN));
}

/* A lock that was taken over, or waited for, wakes one more when it is given back. */
static void who_may_have_slept_is_woken(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me();
	pid_t child;

	assert_int_equal(process_join(process_fork(take_and_exit, shared)), 0);
	assert_true(rg_lock_try(&shared->lock, owner, true));
	assert_int_equal(shared->lock.word, owner | SLEEPERS);
	rg_lock_release(&shared->lock, owner);
	assert_int_equal(shared->lock.word, 0);

	assert_int_equal(process_join(process_fork(take_and_exit, shared)), 0);
	assert_int_equal(take(shared, 1000, NULL), ROGER_OK);
	assert_int_equal(shared->lock.word, owner | SLEEPERS);
	rg_lock_release(&shared->lock, owner);

	/* One that was free all the time wakes nobody. */
	assert_int_equal(take(shared, 0, NULL), ROGER_OK);
	assert_int_equal(shared->lock.word, owner);
	rg_lock_release(&shared->lock, owner);

	child = process_fork(take_and_stop, shared);
	hear(shared);
	wait_for_stop(child);
	assert_int_equal(take(shared, 50, NULL), ROGER_ETIMEOUT);
	assert_true(shared->lock.word & SLEEPERS);
	kill(child, SIGCONT);
	assert_int_equal(process_join(child), 0);
}

static void the_error_names_holder_and_advice(void **state)
{
	struct shared *shared = *state;
	pid_t child = process_fork(take_and_stop, shared);
	struct roger_err err = { 0 };
	char message[200];
	bool gone = true;

	hear(shared);
	wait_for_stop(child);
	snprintf(message, sizeof message,
		 "the thing is held by process %d, which makes no progress; check it, then try "
		 "again",
		 (int)child);
	assert_int_equal(take(shared, 0, &err), ROGER_ETIMEOUT);
	assert_string_equal(err.message, message);
	snprintf(message, sizeof message, "the other is held by process %d, which sleeps",
		 (int)child);
	assert_int_equal(rg_lock_take_unless(&shared->lock, me(), 0, NULL, NULL, NULL, &gone,
					     "the other", "sleeps", &err),
			 ROGER_ETIMEOUT);
	assert_string_equal(err.message, message);
	assert_false(gone);
	kill(child, SIGKILL);
	assert_int_equal(process_join(child), 128 + SIGKILL);
}

static bool is_set(void *context)
{
	return atomic_load((_Atomic uint32_t *)context) != 0;
}

/* What is elsewhere now is not waited for, and not taken here. */
static void a_lock_that_is_elsewhere(void **state)
{
	struct shared *shared = *state;
	pid_t child = process_fork(take_and_stop, shared);
	uint64_t before;
	bool gone = false;

	hear(shared);
	wait_for_stop(child);
	before = shared->lock.word;
	atomic_store(&shared->word, 1);
	assert_int_equal(rg_lock_take_unless(&shared->lock, me(), 10000, is_set, NULL,
					     &shared->word, &gone, "the thing", "sleeps", NULL),
			 ROGER_OK);
	assert_true(gone);
	assert_int_equal(shared->lock.word & ~SLEEPERS, before & ~SLEEPERS);
	atomic_store(&shared->word, 0);
	assert_int_equal(rg_lock_take_unless(&shared->lock, me(), 0, is_set, NULL, &shared->word,
					     &gone, "the thing", "sleeps", NULL),
			 ROGER_ETIMEOUT);
	assert_false(gone);
	kill(child, SIGKILL);
	assert_int_equal(process_join(child), 128 + SIGKILL);
	assert_int_equal(rg_lock_take_unless(&shared->lock, me(), 1000, is_set, NULL, &shared->word,
					     &gone, "the thing", "sleeps", NULL),
			 ROGER_OK);
	assert_false(gone);
	assert_true(rg_lock_mine(&shared->lock, me()));
	/* A free one is here, whatever was said before. */
	rg_lock_release(&shared->lock, me());
	gone = true;
	assert_int_equal(rg_lock_take_unless(&shared->lock, me(), 0, is_set, NULL, &shared->word,
					     &gone, "the thing", "sleeps", NULL),
			 ROGER_OK);
	assert_false(gone);
}

/* Whoever changes the word, so many times, while another is about to wait for it. */
struct change {
	struct shared *shared;
	uint64_t to[2]; /* in turn */
	int times, calls;
};

static bool change_word(void *context)
{
	struct change *change = context;

	if (change->calls++ < change->times)
		atomic_store(&change->shared->lock.word, change->to[change->calls & 1]);
	return change->calls >= 100;
}

static int take_changing(struct change *change, bool *ret_gone)
{
	return rg_lock_take_unless(&change->shared->lock, me(), 0, change_word, NULL, change,
				   ret_gone, "the thing", "sleeps", NULL);
}

/* The wait is one for the lock, and not for each of its owners. */
static void a_wait_ends_though_the_owner_changes(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me() | SLEEPERS, other = (me() + (UINT64_C(1) << 32)) | SLEEPERS;
	struct change change = { shared, { owner, other }, 200, 0 };
	bool gone;

	shared->lock.word = owner;
	assert_int_equal(take_changing(&change, &gone), ROGER_ETIMEOUT);
	assert_false(gone);
	assert_int_equal(change.calls, 1);
}

/* Each whom nobody has told yet that somebody sleeps is told. */
static void a_new_owner_is_told_before_the_sleep(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me(), other = me() + (UINT64_C(1) << 32);
	struct change change = { shared, { owner, other }, 3, 0 };
	bool gone;

	shared->lock.word = owner;
	assert_int_equal(take_changing(&change, &gone), ROGER_ETIMEOUT);
	assert_int_equal(change.calls, 4);
	assert_int_equal(shared->lock.word, other | SLEEPERS);
}

/* Who died after another died in its place is not taken for one who lives. */
static void a_dead_owner_after_a_dead_owner(void **state)
{
	struct shared *shared = *state;
	uint64_t later = UINT64_C(1) << 32;
	struct change change = { .shared = shared, .times = 1 };
	bool gone;

	assert_int_equal(process_join(process_fork(take_and_exit, shared)), 0);
	shared->lock.word |= SLEEPERS;
	change.to[0] = change.to[1] = shared->lock.word + later;
	assert_int_equal(take_changing(&change, &gone), ROGER_OK);
	assert_int_equal(change.calls, 2);
	assert_true(rg_lock_mine(&shared->lock, me()));
}

static int wait_while_stopped(void *context)
{
	struct shared *shared = context;
	struct roger_err err = { 0 };

	if (rg_lock_interrupted())
		return 1;
	rg_lock_interrupt();
	if (!rg_lock_interrupted())
		return 2;
	if (take(shared, 20000, &err) != ROGER_ETIMEOUT)
		return 3;
	if (strcmp(err.message, "stopped while waiting for the thing") != 0)
		return 4;
	/* A free one is no wait. */
	atomic_store(&shared->lock.word, 0);
	return take(shared, 0, NULL) == ROGER_OK ? 0 : 5;
}

static void who_is_told_to_stop_does_not_wait(void **state)
{
	struct shared *shared = *state;

	assert_int_equal(take(shared, 0, NULL), ROGER_OK);
	assert_int_equal(process_join(process_fork(wait_while_stopped, shared)), 0);
	assert_false(rg_lock_interrupted());
}

/* ------------------------------------------------------------------ sleeping -- */

static long raw_futex(const void *word, int operation, uint32_t value, int64_t wait_ms)
{
	struct timespec wait = { wait_ms / 1000, wait_ms % 1000 * 1000000 };

	return syscall(SYS_futex, word, operation, value, operation == FUTEX_WAIT ? &wait : NULL,
		       NULL, 0);
}

/* In a child, with the word of the lock as it was when that was begun: 0 where it was woken. */
static int sleep_on_lock(void *context)
{
	struct shared *shared = context;
	uint32_t seen = (uint32_t)atomic_load(&shared->lock.word);

	say(shared);
	return raw_futex(&shared->lock.word, FUTEX_WAIT, seen, 20000) == 0 ? 0 : errno;
}

/* Giving it back wakes one of those who sleep on it; who is not its owner wakes nobody. */
static void giving_back_wakes_one(void **state)
{
	struct shared *shared = *state;
	uint64_t owner = me();
	pid_t children[2];
	int i;

	shared->lock.word = owner | SLEEPERS;
	for (i = 0; i < 2; i++) {
		children[i] = process_fork(sleep_on_lock, shared);
		hear(shared);
		process_wait_for_sleep(children[i]);
	}
	rg_lock_release(&shared->lock, owner + (UINT64_C(1) << 32));
	assert_int_equal(shared->lock.word, owner | SLEEPERS);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
	rg_lock_release(&shared->lock, owner);
	assert_int_equal(shared->lock.word, 0);
	/* The other one sleeps on. */
	assert_int_equal(raw_futex(&shared->lock.word, FUTEX_WAKE, 9, 0), 1);
	for (i = 0; i < 2; i++)
		assert_int_equal(process_join(children[i]), 0);
}

/* Who waits for the lock sleeps on the low half of its word, and not somewhere else. */
static void who_waits_sleeps_on_the_word(void **state)
{
	struct shared *shared = *state;
	pid_t child;

	assert_int_equal(take(shared, 0, NULL), ROGER_OK);
	child = process_fork(take_and_exit, shared);
	while (raw_futex(&shared->lock.word, FUTEX_WAKE, 1, 0) != 1)
		assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	assert_true(shared->lock.word & SLEEPERS);
	rg_lock_release(&shared->lock, me());
	assert_int_equal(process_join(child), 0);
}

static int take_at_once(void *context)
{
	return take(context, 0, NULL) == ROGER_OK ? 0 : 1;
}

/* Who has used up its wait, and finds the lock free then, gets it all the same. */
static void a_free_lock_is_never_refused(void **state)
{
	struct shared *shared = *state;
	int round, got = 1;
	pid_t child;

	/* The moment to give it back in is 20 ms long, and the machine may be busy. */
	for (round = 0; round < 500 && got != 0; round++) {
		shared->lock.word = me();
		child = process_fork(take_at_once, shared);
		process_wait_for_sleep(child);
		rg_lock_release(&shared->lock, me());
		got = process_join(child);
	}
	assert_int_equal(got, 0);
}

static int sleep_until_woken(void *context)
{
	struct shared *shared = context;

	say(shared);
	/* Of a time before, which is not this sleep's. */
	errno = ETIMEDOUT;
	return rg_lock_sleep(&shared->word, 0, 20000) ? 0 : 1;
}

static void a_sleep_says_how_it_ended(void **state)
{
	struct shared *shared = *state;
	int64_t began = rg_clock_monotonic_ns();
	pid_t children[2];
	int status, left = 2, i;

	assert_false(rg_lock_sleep(&shared->word, 0, 30));
	assert_true(rg_clock_monotonic_ns() - began >= 30000000);
	assert_false(rg_lock_sleep(&shared->word, 0, 0));
	assert_true(rg_lock_sleep(&shared->word, 1, 20000));
	for (i = 0; i < 2; i++) {
		children[i] = process_fork(sleep_until_woken, shared);
		hear(shared);
		process_wait_for_sleep(children[i]);
	}
	/* One at a time. */
	rg_lock_wake(&shared->word, 1);
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_int_equal(status, 0);
	for (i = 0; i < 2; i++)
		left -= waitpid(children[i], NULL, WNOHANG) != 0;
	assert_int_equal(left, 1);
	rg_lock_wake(&shared->word, 1);
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_free_lock_is_taken_and_given_back),
		TEST(an_owner_says_who_and_since_when),
		TEST(threads_are_owners_of_their_own),
		TEST(a_later_thread_leaves_it_to_its_owner),
		TEST(an_owner_is_as_old_as_its_handle),
		TEST(which_processes_live),
		TEST(processes_of_others_live),
		TEST(who_may_have_slept_is_woken),
		TEST(the_error_names_holder_and_advice),
		TEST(a_lock_that_is_elsewhere),
		TEST(a_wait_ends_though_the_owner_changes),
		TEST(a_new_owner_is_told_before_the_sleep),
		TEST(a_dead_owner_after_a_dead_owner),
		TEST(who_is_told_to_stop_does_not_wait),
		TEST(giving_back_wakes_one),
		TEST(who_waits_sleeps_on_the_word),
		TEST(a_free_lock_is_never_refused),
		TEST(a_sleep_says_how_it_ended),
		TEST(a_dead_owner_has_lost_it),
		TEST(a_zombie_has_lost_it),
		TEST(a_killed_owner_loses_it_while_others_wait),
		TEST(a_stopped_owner_is_named_after_a_bounded_wait),
		TEST(a_later_process_of_the_same_id_is_another),
		TEST(an_owner_elsewhere_is_outwaited),
		TEST(an_owner_elsewhere_that_lives_keeps_it),
		TEST(a_process_whose_first_thread_ended_lives),
		TEST(one_owner_at_a_time),
		TEST(no_kill_keeps_it_or_opens_it_to_two),
		TEST(sleepers_on_a_word_are_all_woken),
		TEST(a_wake_ends_a_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
