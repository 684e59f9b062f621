/*
 * group - the bare scheme that roger's sends are measured against: append under a
 * lock, and one of the waiting writers syncs for all who have written by then.
 *
 * No numbers, no chain, no checks: what it reaches is the floor of this disk and
 * these processors.  The struct lies in memory that all writers share.
 */
#ifndef BENCH_GROUP_H
#define BENCH_GROUP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct bench_group {
	atomic_uint lock, leading;
	atomic_uint wake; /* counts syncs; who waits for one sleeps on it */
	_Atomic uint64_t appends, synced;
	uint64_t last[2]; /* appends that the last two syncs covered */
	int64_t sync_ns;
};

/* Append, and return when it is on disk. */
void bench_group_write(struct bench_group *group, int file, const char *data, size_t length);

#endif
