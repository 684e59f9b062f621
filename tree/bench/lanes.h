/*
 * lanes - the same work done turn by turn in several processes at once.
 *
 * Every lane is a process of its own.  All are opened first and then start
 * together; each turn is timed.  Whatever goes wrong ends the program: a
 * figure that is half an error is none.
 */
#ifndef BENCH_LANES_H
#define BENCH_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bench_work {
	void *(*open)(unsigned lane, const void *context);
	void (*turn)(void *self);
	void (*close)(void *self);
};

/* Ways of doing it, by their names; a list ends with one that has none. */
struct bench_way {
	const char *name;
	struct bench_work work;
};
const struct bench_work *bench_find_way(const struct bench_way *ways, const char *name);

struct bench_limits {
	unsigned lanes;
	double seconds;
	size_t turns_max; /* of each lane; 0: as many as fit the time */
};

/* Run, then print "turns N seconds S p50_us P p99_us Q" of all lanes together. */
void bench_lanes_run(const struct bench_work *work, const void *context,
		     struct bench_limits limits);

int64_t bench_now_ns(void);
void bench_pause_us(long us);

/* Memory, zeroed, that processes started later share. */
void *bench_shared(size_t size);

/* Fork; the child, in which 0 comes back, does not outlive us. */
pid_t bench_start_child(void);

/* Print "NAME.p50_us P NAME.p99_us Q" of some spans, which it sorts. */
void bench_print_spans(const char *name, uint32_t *spans_ns, size_t count);

_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Arguments that are numbers. */
uint64_t bench_number(const char *text);
double bench_seconds(const char *text);

#endif
