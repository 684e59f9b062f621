/*
 * The lock of the mapped file, between threads that share one mapping, so that
 * a thread sanitizer sees what it orders: plain memory that is only touched
 * under the lock, and a word that sleepers wait for.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/file/lock.h"

enum { THREADS = 8, TURNS = 4000 };

static struct {
	struct rg_lock lock;
	_Atomic uint32_t wake;
	uint64_t counter; /* plain: only the lock orders it */
	uint64_t mirror;
} shared;

/* Take a lock that stays where it is, from an owner who is seen here. */
static int take_lock(struct rg_lock *lock, uint64_t owner, int64_t wait_ms, const char *what,
		     struct roger_err *err)
{
	bool gone;

	return rg_lock_take_unless(lock, owner, wait_ms, NULL, NULL, NULL, &gone, what,
				   RG_LOCK_STANDS_STILL, err);
}

static void take_turn(uint64_t owner)
{
	struct roger_err err;

	if (take_lock(&shared.lock, owner, 60000, "the lock", &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	if (shared.counter != shared.mirror) {
		fprintf(stderr, "two held the lock at once\n");
		exit(1);
	}
	shared.counter++;
	shared.mirror++;
	rg_lock_release(&shared.lock, owner);
}

static void *work(void *context)
{
	uint64_t owner = *(const uint64_t *)context;
	int i;

	for (i = 0; i < TURNS; i++) {
		take_turn(owner);
		if (i % 64 == 0) {
			atomic_fetch_add(&shared.wake, 1);
			rg_lock_wake(&shared.wake, RG_WAKE_ALL);
		}
		if (i % 97 == 0)
			rg_lock_sleep(&shared.wake, atomic_load(&shared.wake), 1);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uint64_t owner = rg_lock_owner();
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &owner) != 0)
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%llu turns\n", (unsigned long long)shared.counter);
	return shared.counter == (uint64_t)THREADS * TURNS ? 0 : 1;
}
