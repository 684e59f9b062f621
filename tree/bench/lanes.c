#include "lanes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Turns of a lane whose span is kept; further ones take the place of the oldest. */
enum { SPANS_MAX = 1 << 17 };

struct lane {
	uint64_t turns;
	int64_t end_ns;
	uint32_t spans_ns[SPANS_MAX];
};

/* Seen by all lanes. */
struct field {
	atomic_uint ready;
	_Atomic int64_t start_ns; /* 0: not yet */
	struct lane lanes[];
};

void bench_die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

uint64_t bench_number(const char *text)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (!*text || *end)
		bench_die("'%s' is not a number", text);
	return number;
}

double bench_seconds(const char *text)
{
	char *end;
	double number = strtod(text, &end);

	if (!*text || *end || number < 0)
		bench_die("'%s' is not a number of seconds", text);
	return number;
}

int64_t bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_pause_us(long us)
{
	struct timespec span = { 0, us * 1000 };

	nanosleep(&span, NULL);
}

pid_t bench_start_child(void)
{
	pid_t child = fork();

	if (child < 0)
		bench_die("fork: %s", strerror(errno));
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

/* -------------------------------------------------------------- figures -- */

static int compare(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

static double quantile_us(const uint32_t *sorted_ns, size_t count, double part)
{
	return count ? sorted_ns[(size_t)(part * (double)(count - 1))] / 1000.0 : 0;
}

void bench_print_spans(const char *name, uint32_t *spans_ns, size_t count)
{
	const char *dot = *name ? "." : "";

	qsort(spans_ns, count, sizeof *spans_ns, compare);
	printf("%s%sp50_us %.2f %s%sp99_us %.2f\n", name, dot, quantile_us(spans_ns, count, 0.50),
	       name, dot, quantile_us(spans_ns, count, 0.99));
}

static size_t kept(const struct lane *lane)
{
	return lane->turns < SPANS_MAX ? lane->turns : SPANS_MAX;
}

static void print_field(const struct field *field, unsigned lane_count)
{
	uint64_t turns = 0;
	int64_t end_ns = 0;
	size_t count = 0, i;
	uint32_t *all;

	for (i = 0; i < lane_count; i++)
		count += kept(&field->lanes[i]);
	all = malloc((count + 1) * sizeof *all);
	if (!all)
		bench_die("out of memory");
	count = 0;
	for (i = 0; i < lane_count; i++) {
		const struct lane *lane = &field->lanes[i];

		memcpy(all + count, lane->spans_ns, kept(lane) * sizeof *all);
		count += kept(lane);
		turns += lane->turns;
		if (lane->end_ns > end_ns)
			end_ns = lane->end_ns;
	}
	printf("turns %llu seconds %.6f ", (unsigned long long)turns,
	       (double)(end_ns - field->start_ns) / 1e9);
	bench_print_spans("", all, count);
	free(all);
}

/* ---------------------------------------------------------------- lanes -- */

static void run_lane(const struct bench_work *work, const void *context,
		     const struct bench_limits *limits, struct field *field, unsigned number)
{
	struct lane *lane = &field->lanes[number];
	void *self = work->open(number, context);
	int64_t now_ns, before_ns, until_ns;

	/* The pages are touched before the clock runs. */
	memset(lane->spans_ns, 0, sizeof lane->spans_ns);
	atomic_fetch_add(&field->ready, 1);
	while (!field->start_ns)
		bench_pause_us(100);

	until_ns = field->start_ns + (int64_t)(limits->seconds * 1e9);
	now_ns = bench_now_ns();
	do {
		before_ns = now_ns;
		work->turn(self);
		now_ns = bench_now_ns();
		lane->spans_ns[lane->turns++ % SPANS_MAX] = (uint32_t)(now_ns - before_ns);
	} while (now_ns < until_ns && lane->turns != limits->turns_max);
	lane->end_ns = now_ns;
	work->close(self);
}

static void start_lanes(const struct bench_work *work, const void *context,
			const struct bench_limits *limits, struct field *field)
{
	unsigned i;

	for (i = 0; i < limits->lanes; i++) {
		if (bench_start_child() == 0) {
			run_lane(work, context, limits, field, i);
			_exit(0);
		}
	}
}

/* A lane that fails leaves the others waiting for the start: they end with us. */
static bool reap_one(int flags)
{
	int status;
	pid_t child = waitpid(-1, &status, flags);

	if (child <= 0)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		bench_die("a lane failed");
	return true;
}

const struct bench_work *bench_find_way(const struct bench_way *ways, const char *name)
{
	for (; ways->name; ways++)
		if (strcmp(ways->name, name) == 0)
			return &ways->work;
	bench_die("there is no way '%s'", name);
}

void *bench_shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		bench_die("mmap: %s", strerror(errno));
	return memory;
}

void bench_lanes_run(const struct bench_work *work, const void *context, struct bench_limits limits)
{
	size_t size = sizeof(struct field) + limits.lanes * sizeof(struct lane);
	struct field *field;

	field = bench_shared(size);
	fflush(stdout);
	start_lanes(work, context, &limits, field);
	while (field->ready < limits.lanes) {
		reap_one(WNOHANG);
		bench_pause_us(500);
	}
	/* Those that were ready first are asleep by now, like the rest. */
	bench_pause_us(2000);
	field->start_ns = bench_now_ns();
	while (reap_one(0))
		;
	print_field(field, limits.lanes);
	munmap(field, size);
}
