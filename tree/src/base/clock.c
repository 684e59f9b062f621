#include "base/clock.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/limits.h"

/* A bare number is ms since 1970, and no less than this, which is in 1973. */
static const int64_t BARE_MS_LEAST = 100000000000;

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

static char *put(char *to, int64_t number, int digits, char after)
{
	int i;

	for (i = digits - 1; i >= 0; i--, number /= 10)
		to[i] = (char)('0' + number % 10);
	to[digits] = after;
	return to + digits + 1;
}

/* By hand: every send prints one, and gmtime_r() with snprintf() takes ten times as long.  Years
 * of this count begin in March, so that a leap day is the last day of its year. */
void rg_clock_print_utc(int64_t ms, char *to)
{
	const int64_t days = ms / 86400000 + 719468, century = days / 146097;
	int64_t day, year, month;

	if (ms < 0 || ms > RG_TIME_MS_MAX) {
		snprintf(to, 32, "%lld", (long long)ms);
		return;
	}
	day = days % 146097;
	year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	day -= year * 365 + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	month += month < 10 ? 3 : -9;
	to = put(to, century * 400 + year + (month <= 2), 4, '-');
	to = put(to, month, 2, '-');
	to = put(to, day + 1, 2, 'T');
	to = put(to, ms / 3600000 % 24, 2, ':');
	to = put(to, ms / 60000 % 60, 2, ':');
	to = put(to, ms / 1000 % 60, 2, '.');
	*put(to, ms % 1000, 3, 'Z') = '\0';
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

/*
 * Match text from *at against a pattern, in which N matches a digit and any other
 * character itself.  Each run of digits is a number and goes to the next of ret, which are 0.
 */
static bool take(struct roger_str text, size_t *at, const char *pattern, int *ret)
{
	for (; *pattern; pattern++) {
		char c = *at < text.length ? text.data[(*at)++] : 0;

		if (*pattern != 'N' ? c != *pattern : c < '0' || c > '9')
			return false;
		if (*pattern != 'N')
			continue;
		*ret = *ret * 10 + (c - '0');
		ret += pattern[1] != 'N';
	}
	return true;
}

/* "Z", "+hh:mm", "-hh:mm" at the end: seconds to take away. */
static bool read_offset(struct roger_str text, size_t at, int64_t *ret_seconds)
{
	int parts[2] = { 0 };
	char sign = at < text.length ? text.data[at] : 0;

	if (sign == 'Z' || sign == 'z')
		return ++at == text.length;
	if ((sign != '+' && sign != '-') ||
	    !take(text, &at, sign == '+' ? "+NN:NN" : "-NN:NN", parts))
		return false;
	*ret_seconds = (parts[0] * 3600 + parts[1] * 60) * (sign == '-' ? -1 : 1);
	return parts[0] < 24 && parts[1] < 60 && at == text.length;
}

/* ".123", of which no more than milliseconds count. */
static bool read_fraction(struct roger_str text, size_t *at, int64_t *ret_ms)
{
	size_t start = *at + 1;
	int64_t scale = 100;

	if (*at >= text.length || text.data[*at] != '.')
		return true;
	for (*at = start; *at < text.length && text.data[*at] >= '0' && text.data[*at] <= '9';
	     ++*at) {
		*ret_ms += (text.data[*at] - '0') * scale;
		scale /= 10;
	}
	return *at > start;
}

static bool read_instant(struct roger_str text, int64_t *ret_ms)
{
	int date[3] = { 0 }, time[3] = { 0 };
	int64_t ms = 0, offset = 0;
	struct tm day = { 0 };
	size_t at = 0;

	if (!take(text, &at, "NNNN-NN-NN", date))
		return false;
	if (at < text.length) {
		if (!memchr("Tt ", text.data[at++], 3) || !take(text, &at, "NN:NN", time))
			return false;
		if (at < text.length && text.data[at] == ':' &&
		    (!take(text, &at, ":NN", &time[2]) || !read_fraction(text, &at, &ms)))
			return false;
		if (!read_offset(text, at, &offset))
			return false;
	}
	day.tm_year = date[0] - 1900;
	day.tm_mon = date[1] - 1;
	day.tm_mday = date[2];
	*ret_ms = (timegm(&day) + time[0] * 3600 + time[1] * 60 + time[2] - offset) * 1000 + ms;
	/* timegm() turns a day that does not exist into another one. */
	return day.tm_mon == date[1] - 1 && day.tm_mday == date[2] && time[0] < 24 &&
	       time[1] < 60 && time[2] <= 60;
}

bool rg_clock_read_rfc3339(struct roger_str text, int64_t *ret_ms)
{
	enum { T = 10, SECONDS = 16 };
	int64_t ms;

	/* read_instant() also takes a date alone, a blank for the T, and no seconds. */
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

	if (rg_str_number(text, &ms)) {
		/* Hours or days without their letter, or seconds. */
		if (ms > 0 && ms < BARE_MS_LEAST)
			return false;
	} else if (!read_instant(text, &ms)) {
		if (!rg_clock_read_span(text, &span))
			return false;
		ms = now_ms > span ? now_ms - span : 0;
	}
	if (ms < 0 || ms > RG_TIME_MS_MAX)
		return false;
	*ret_ms = ms;
	return true;
}
