/*
 * hurry - preloaded into a program of shared parts: its clock goes 60 times as fast, so that
 * what has a minute has a second.  What it sleeps goes as it is.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 60, NS = 1000000000 };

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static long long first;
	long long now;

	if (syscall(SYS_clock_gettime, clock, ret) != 0)
		return -1;
	if (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE)
		return 0;
	now = (long long)ret->tv_sec * NS + ret->tv_nsec;
	if (!first)
		first = now;
	now = first + (now - first) * TIMES;
	ret->tv_sec = now / NS;
	ret->tv_nsec = now % NS;
	return 0;
}
