#include "base/clock.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/limits.h"

static int64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t rg_clock_ms(void)
{
	return read_clock_ns(CLOCK_REALTIME) / 1000000;
}

int64_t rg_clock_monotonic_ns(void)
{
	return read_clock_ns(CLOCK_MONOTONIC);
}

uint32_t rg_clock_boot_ticks(void)
{
	return (uint32_t)(read_clock_ns(CLOCK_BOOTTIME) / 10000000);
}

void rg_clock_sleep(int64_t ms)
{
	const struct timespec span = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&span, NULL);
}

void rg_clock_yield(void)
{
	sched_yield();
}

/* Days since 1970-01-01 of a date of the Gregorian calendar, and back. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t era, year_of_era, day_of_year;

	year -= month <= 2;
	era = (year >= 0 ? year : year - 399) / 400;
	year_of_era = year - era * 400;
	day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

void rg_clock_print_utc(int64_t ms, char *to)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	if (ms < 0 || ms > RG_TIME_MS_MAX || !gmtime_r(&seconds, &tm)) {
		snprintf(to, 32, "%lld", (long long)ms);
		return;
	}
	snprintf(to, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
		 (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
		 (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100,
		 (unsigned)tm.tm_sec % 100, (unsigned)(ms % 1000));
}

void rg_clock_print_span(int64_t ms, char *to)
{
	long long seconds = ms / 1000, minutes = seconds / 60, hours = minutes / 60;

	if (ms < 1000)
		snprintf(to, 32, "%lldms", (long long)ms);
	else if (minutes == 0)
		snprintf(to, 32, "%lld.%llds", seconds, (long long)ms % 1000 / 100);
	else if (hours == 0)
		snprintf(to, 32, "%lldm %llds", minutes, seconds % 60);
	else if (hours < 48)
		snprintf(to, 32, "%lldh %lldm", hours, minutes % 60);
	else
		snprintf(to, 32, "%lldd %lldh", hours / 24, hours % 24);
}

/* Exactly count digits at *at. */
static bool digits(struct roger_str text, size_t *at, size_t count, int64_t *ret)
{
	if (text.length - *at < count ||
	    !rg_str_number((struct roger_str){ text.data + *at, count }, ret))
		return false;
	*at += count;
	return true;
}

static bool mark(struct roger_str text, size_t *at, char c)
{
	if (*at >= text.length || text.data[*at] != c)
		return false;
	(*at)++;
	return true;
}

/* "Z", "+hh:mm", "-hh:mm": seconds to take away. */
static bool read_offset(struct roger_str text, size_t *at, int64_t *ret_seconds)
{
	int64_t hours, minutes;
	bool behind;

	if (mark(text, at, 'Z') || mark(text, at, 'z')) {
		*ret_seconds = 0;
		return true;
	}
	behind = mark(text, at, '-');
	if (!behind && !mark(text, at, '+'))
		return false;
	if (!digits(text, at, 2, &hours) || !mark(text, at, ':') || !digits(text, at, 2, &minutes))
		return false;
	if (hours > 23 || minutes > 59)
		return false;
	*ret_seconds = (hours * 3600 + minutes * 60) * (behind ? -1 : 1);
	return true;
}

/* ".123", of which no more than milliseconds count. */
static bool read_fraction(struct roger_str text, size_t *at, int64_t *ret_ms)
{
	int64_t scale = 100;
	size_t start;

	*ret_ms = 0;
	if (!mark(text, at, '.'))
		return true;
	start = *at;
	for (; *at < text.length && text.data[*at] >= '0' && text.data[*at] <= '9'; (*at)++) {
		*ret_ms += (text.data[*at] - '0') * scale;
		scale /= 10;
	}
	return *at > start;
}

static bool read_instant(struct roger_str text, int64_t *ret_ms)
{
	static const int days_in[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t year, month, day, hour = 0, minute = 0, second = 0, ms = 0, offset = 0;
	bool leap;
	size_t at = 0;

	if (!digits(text, &at, 4, &year) || !mark(text, &at, '-') ||
	    !digits(text, &at, 2, &month) || !mark(text, &at, '-') || !digits(text, &at, 2, &day))
		return false;

	if (at < text.length) {
		if (!mark(text, &at, 'T') && !mark(text, &at, 't') && !mark(text, &at, ' '))
			return false;
		if (!digits(text, &at, 2, &hour) || !mark(text, &at, ':') ||
		    !digits(text, &at, 2, &minute))
			return false;
		if (mark(text, &at, ':') &&
		    (!digits(text, &at, 2, &second) || !read_fraction(text, &at, &ms)))
			return false;
		if (!read_offset(text, &at, &offset) || at != text.length)
			return false;
	}

	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60 ||
	    day > days_in[month - 1] + (month == 2 && leap))
		return false;
	*ret_ms =
		(days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset) *
			1000 +
		ms;
	return true;
}

bool rg_clock_read_rfc3339(struct roger_str text, int64_t *ret_ms)
{
	enum { T = 10, SECONDS = 16 };
	int64_t ms;

	/* What else read_instant() takes: no time, a blank for the T, no seconds. */
	if (text.length < sizeof "2026-02-16T05:25:00Z" - 1 ||
	    (text.data[T] != 'T' && text.data[T] != 't') || text.data[SECONDS] != ':' ||
	    !read_instant(text, &ms) || ms < 0 || ms > RG_TIME_MS_MAX)
		return false;
	*ret_ms = ms;
	return true;
}

bool rg_clock_read_span(struct roger_str text, int64_t *ret_ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = { { "ms", 1 },	{ "s", 1000 },	   { "m", 60000 },
		      { "h", 3600000 }, { "d", 86400000 }, { "", 1000 } };
	size_t length = 0, i;
	int64_t number, span;

	while (length < text.length && text.data[length] >= '0' && text.data[length] <= '9')
		length++;
	if (!rg_str_number((struct roger_str){ text.data, length }, &number))
		return false;
	for (i = 0; i < sizeof units / sizeof *units; i++)
		if (rg_str_is((struct roger_str){ text.data + length, text.length - length },
			      units[i].unit))
			break;
	if (i == sizeof units / sizeof *units ||
	    __builtin_mul_overflow(number, units[i].ms, &span) || span > RG_TIME_MS_MAX)
		return false;
	*ret_ms = span;
	return true;
}

bool rg_clock_read(struct roger_str text, int64_t now_ms, int64_t *ret_ms)
{
	int64_t ms, span;

	if (!rg_str_number(text, &ms) && !read_instant(text, &ms)) {
		if (!rg_clock_read_span(text, &span))
			return false;
		ms = now_ms > span ? now_ms - span : 0;
	}
	if (ms < 0 || ms > RG_TIME_MS_MAX)
		return false;
	*ret_ms = ms;
	return true;
}
