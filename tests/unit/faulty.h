/*
 * faulty - files that go wrong: one call of host/file.h fails, or somebody else
 * does something just before it.  A clock that goes when it is told to, and then
 * nobody sleeps.
 *
 * tests/meson.build links a test that includes this so that the library's calls
 * of these come here.
 */
#ifndef TEST_FAULTY_H
#define TEST_FAULTY_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "host/file.h"
#include "store/file/control.h"

static struct {
	const char *call;		  /* NULL: any of them */
	long left;			  /* calls that go well before; -1: all */
	long times;			  /* calls that go wrong then */
	int error;			  /* and how */
	void (*meanwhile)(void *context); /* what is done before it; without error it goes well */
	void *context;
	bool busy; /* with that */
	bool hit;  /* did it come to that? */
} faulty = { .left = -1 };

static long faulty_maps; /* mapped and not unmapped */

/* What the clock says, long before now, so that nobody sleeps; 0: the time. */
static int64_t faulty_now_ns;
static int64_t faulty_yield_ns; /* what each yield takes then */
static int64_t faulty_look_ns;	/* and each look at the clock */

static inline void faulty_end(void)
{
	memset(&faulty, 0, sizeof faulty);
	faulty.left = -1;
}

/* After so many of these calls, so many go wrong. */
static inline void faulty_begin(const char *call, long left, long times, int error)
{
	faulty_end();
	faulty.call = call;
	faulty.left = left;
	faulty.times = times;
	faulty.error = error;
}

/* After so many of these calls, this is done before the next. */
static inline void faulty_meanwhile(const char *call, long left, void (*act)(void *), void *context)
{
	faulty_begin(call, left, 1, 0);
	faulty.meanwhile = act;
	faulty.context = context;
}

enum { FAULTY_COUNTED = 1 << 20 };

/* How often it is called; NULL: any of them.  It goes well. */
static inline void faulty_count(const char *call)
{
	faulty_begin(call, FAULTY_COUNTED, 0, 0);
}

static inline long faulty_counted(void)
{
	return FAULTY_COUNTED - faulty.left;
}

static bool faulty_is(const char *call)
{
	if (faulty.busy || faulty.left < 0 || (faulty.call && strcmp(call, faulty.call) != 0))
		return false;
	if (faulty.left > 0) {
		faulty.left--;
		return false;
	}
	if (faulty.times <= 0)
		return false;
	faulty.times--;
	faulty.hit = true;
	if (!faulty.meanwhile)
		return true;
	faulty.busy = true;
	faulty.meanwhile(faulty.context);
	faulty.busy = false;
	return faulty.error != 0;
}

#define FAULTY(name, params, args)                                                                 \
	int __real_rg_file_##name params;                                                          \
	int __wrap_rg_file_##name params;                                                          \
	int __wrap_rg_file_##name params                                                           \
	{                                                                                          \
		return faulty_is(#name) ? rg_fail(err, ROGER_EIO, faulty.error, "faulty")          \
					: __real_rg_file_##name args;                              \
	}

FAULTY(open, (int folder, const char *name, enum rg_file_way way, int *file, struct roger_err *err),
       (folder, name, way, file, err))
FAULTY(open_facts,
       (int folder, const char *name, enum rg_file_way way, int *file, struct rg_file_facts *facts,
	struct roger_err *err),
       (folder, name, way, file, facts, err))
FAULTY(facts, (int file, const char *name, struct rg_file_facts *facts, struct roger_err *err),
       (file, name, facts, err))
FAULTY(look, (int folder, const char *name, struct rg_file_facts *facts, struct roger_err *err),
       (folder, name, facts, err))
FAULTY(size, (int file, const char *name, uint64_t *size, struct roger_err *err),
       (file, name, size, err))
FAULTY(write, (int file, const void *data, size_t length, const char *name, struct roger_err *err),
       (file, data, length, name, err))
FAULTY(tell, (int file, const char *name, uint64_t *offset, struct roger_err *err),
       (file, name, offset, err))
FAULTY(sync, (int file, const char *name, struct roger_err *err), (file, name, err))
FAULTY(sync_folder, (int folder, const char *name, struct roger_err *err), (folder, name, err))
FAULTY(replace,
       (int folder, const char *name, struct roger_str text, bool durable, struct roger_err *err),
       (folder, name, text, durable, err))
FAULTY(lock, (int file, const char *name, int64_t wait_ms, struct roger_err *err),
       (file, name, wait_ms, err))

/* Instead of an error: a byte less than there is. */
enum { FAULTY_SHORT = -1 };

/* Both are "read_at". */
#define FAULTY_READ(name)                                                                          \
	int __real_rg_file_##name(int file, void *to, size_t length, int64_t offset, size_t *got,  \
				  struct roger_err *err);                                          \
	int __wrap_rg_file_##name(int file, void *to, size_t length, int64_t offset, size_t *got,  \
				  struct roger_err *err);                                          \
	int __wrap_rg_file_##name(int file, void *to, size_t length, int64_t offset, size_t *got,  \
				  struct roger_err *err)                                           \
	{                                                                                          \
		const bool is = faulty_is("read_at"), is_short = faulty.error == FAULTY_SHORT;     \
                                                                                                   \
		return is && !is_short                                                             \
			       ? rg_fail(err, ROGER_EIO, faulty.error, "faulty")                   \
			       : __real_rg_file_##name(file, to, length - is, offset, got, err);   \
	}

FAULTY_READ(read_at)
FAULTY_READ(read_some)

int __real_rg_file_map(int file, size_t size, const char *name, void **map, struct roger_err *err);
int __wrap_rg_file_map(int file, size_t size, const char *name, void **map, struct roger_err *err);
int __wrap_rg_file_map(int file, size_t size, const char *name, void **map, struct roger_err *err)
{
	int r = faulty_is("map") ? rg_fail(err, ROGER_EIO, faulty.error, "faulty")
				 : __real_rg_file_map(file, size, name, map, err);

	faulty_maps += r == ROGER_OK;
	return r;
}

void __real_rg_file_unmap(void *map, size_t size);
void __wrap_rg_file_unmap(void *map, size_t size);
void __wrap_rg_file_unmap(void *map, size_t size)
{
	faulty_maps -= map != NULL;
	__real_rg_file_unmap(map, size);
	(void)faulty_is("unmap");
}

int64_t __real_rg_clock_monotonic_ns(void);
int64_t __wrap_rg_clock_monotonic_ns(void);
int64_t __wrap_rg_clock_monotonic_ns(void)
{
	(void)faulty_is("clock");
	if (!faulty_now_ns)
		return __real_rg_clock_monotonic_ns();
	return faulty_now_ns += faulty_look_ns;
}

void __real_rg_clock_yield(void);
void __wrap_rg_clock_yield(void);
void __wrap_rg_clock_yield(void)
{
	faulty_now_ns += faulty_now_ns ? faulty_yield_ns : 0;
	(void)faulty_is("yield");
	__real_rg_clock_yield();
}

void __real_rg_clock_sleep(int64_t ms);
void __wrap_rg_clock_sleep(int64_t ms);
void __wrap_rg_clock_sleep(int64_t ms)
{
	if (faulty_now_ns)
		faulty_now_ns += ms * 1000000;
	else
		__real_rg_clock_sleep(ms);
}

/* ---------------------------------------------------------------- sleep -- */

/* Who was to sleep and to be woken: "sleep MS|wake COUNT|". */
static char faulty_sleeps[1000];

static void faulty_note(const char *what, long count)
{
	size_t length = strlen(faulty_sleeps);

	snprintf(faulty_sleeps + length, sizeof faulty_sleeps - length, "%s %ld|", what, count);
}

bool __real_rg_lock_sleep(_Atomic uint32_t *word, uint32_t seen, int64_t wait_ms);
bool __wrap_rg_lock_sleep(_Atomic uint32_t *word, uint32_t seen, int64_t wait_ms);
bool __wrap_rg_lock_sleep(_Atomic uint32_t *word, uint32_t seen, int64_t wait_ms)
{
	faulty_note("sleep", (long)wait_ms);
	(void)faulty_is("sleep");
	if (!faulty_now_ns)
		return __real_rg_lock_sleep(word, seen, wait_ms);
	faulty_now_ns += wait_ms * 1000000;
	return atomic_load(word) != seen;
}

void __real_rg_lock_wake(_Atomic uint32_t *word, int32_t count);
void __wrap_rg_lock_wake(_Atomic uint32_t *word, int32_t count);
void __wrap_rg_lock_wake(_Atomic uint32_t *word, int32_t count)
{
	faulty_note("wake", count == RG_WAKE_ALL ? -1 : count);
	__real_rg_lock_wake(word, count);
}

/* Is it the file of its name, as far as can be told? */
static inline bool in_place(const struct rg_control *control)
{
	bool is = false;

	return rg_control_look(control, &is, NULL) == ROGER_OK && is;
}

#endif
