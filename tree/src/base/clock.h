/*
 * clock - the only place that reads clocks.
 */
#ifndef RG_CLOCK_H
#define RG_CLOCK_H

#include "base/str.h"

/* Milliseconds since 1970 UTC. */
int64_t rg_clock_ms(void);

/* Nanoseconds of a clock that only goes forward; for spans. */
int64_t rg_clock_monotonic_ns(void);

/* Hundredths of a second since the machine started, the unit of process start times in /proc. */
uint32_t rg_clock_boot_ticks(void);

void rg_clock_sleep(int64_t ms);

/* Give up the processor to another process. */
void rg_clock_yield(void);

/* "2026-02-16T05:25:00.123Z" at to, which has room for 32. */
void rg_clock_print_utc(int64_t ms, char *to);

/*
 * Read an instant: RFC 3339 with any offset, a date, a span back from now
 * ("2h", "3d"), or ms since 1970: 0, or at least 10^11.
 */
bool rg_clock_read(struct roger_str text, int64_t now_ms, int64_t *ret_ms);

/* RFC 3339 and nothing else: date, time with seconds, offset; from 1970 to 9999. */
bool rg_clock_read_rfc3339(struct roger_str text, int64_t *ret_ms);

/* A span for people at to, which has room for 32: "250ms", "4.2s", "3m 5s", "2h 10m", "3d 4h". */
void rg_clock_print_span(int64_t ms, char *to);

/* A span: "250ms", "10s", "5m", "2h", "3d"; a bare number counts seconds. */
bool rg_clock_read_span(struct roger_str text, int64_t *ret_ms);

#endif
