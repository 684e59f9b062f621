/*
 * clock - the only place that reads clocks.
 */
#ifndef RG_CLOCK_H
#define RG_CLOCK_H

#include "base/str.h"

/* Milliseconds since 1970 UTC. */
int64_t rg_clock_ms(void);

/* From now on rg_clock_ms() follows the clock of a server, on which it is now_ms. */
void rg_clock_follow(int64_t now_ms);

/* Nanoseconds of a clock that only goes forward; for spans. */
int64_t rg_clock_monotonic_ns(void);
static inline int64_t rg_clock_monotonic_ms(void)
{
	return rg_clock_monotonic_ns() / 1000000;
}

/* Hundredths of a second since the machine started, the unit of process start times in /proc. */
uint32_t rg_clock_boot_ticks(void);

void rg_clock_sleep(int64_t ms);

/* Give up the processor to another process. */
void rg_clock_yield(void);

/* "2026-02-16T05:25:00.123Z" at to, which has room for 32. */
void rg_clock_print_utc(int64_t ms, char *to);

/*
 * Read an instant as people write it: RFC 3339 with any offset; a date, a time of day or both
 * in the local time zone, the date also as yesterday, today or tomorrow; a span back from now
 * ("2h", "2 days ago"); now; or ms since 1970: 0, or at least 10^11.  NULL: done, else what
 * was expected.
 */
RG_CHECKED const char *rg_clock_read(struct roger_str text, int64_t now_ms, int64_t *ret_ms);

/* RFC 3339 and nothing else: date, time with seconds, offset; from 1970 to 9999. */
bool rg_clock_read_rfc3339(struct roger_str text, int64_t *ret_ms);

/* A span for people at to, which has room for 32: "250ms", "4.2s", "3m 5s", "2h 10m", "3d 4h". */
void rg_clock_print_span(int64_t ms, char *to);

/*
 * A span: "250ms", "90s", "1h30m", "2 days", "1.5h", "1w", each unit once and the largest
 * first; a bare number counts seconds.
 */
bool rg_clock_read_span(struct roger_str text, int64_t *ret_ms);

/* What rg_clock_read() and rg_clock_read_span() accept, for error messages. */
extern const char rg_clock_forms[], rg_clock_span_forms[];

#endif
