#include "base/clock.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/limits.h"

_Static_assert(sizeof(time_t) == sizeof(int64_t), "instants end in 9999: build with _TIME_BITS=64");

/* The least bare number that means ms since 1970 (in 1973); a smaller one looks like a span. */
static const int64_t BARE_MS_LEAST = 100000000000;

static int64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

enum { FOLLOW_MS = 100 };
static _Atomic int64_t ahead_ms;

/* Of a clock before 1970 or after 9999, the nearest instant that can be stored; 0 means none. */
int64_t rg_clock_ms(void)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_REALTIME, &now);
	ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + ahead_ms;
	return ms < 1 ? 1 : ms > RG_TIME_MS_MAX ? RG_TIME_MS_MAX : ms;
}

void rg_clock_follow(int64_t now_ms)
{
	const int64_t differs_ms = now_ms - rg_clock_ms();

	/* A smaller difference is only the time that the answer took on its way. */
	if (differs_ms > FOLLOW_MS || differs_ms < -FOLLOW_MS)
		ahead_ms += differs_ms;
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

static char *print_number(char *to, int64_t number, int digits, char after)
{
	int i;

	for (i = digits - 1; i >= 0; i--, number /= 10)
		to[i] = (char)('0' + number % 10);
	to[digits] = after;
	return to + digits + 1;
}

/* Every send prints one, and gmtime_r() with snprintf() takes ten times as long.  Years begin in
 * March here, so that a leap day is the last day of its year. */
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
	to = print_number(to, century * 400 + year + (month <= 2), 4, '-');
	to = print_number(to, month, 2, '-');
	to = print_number(to, day + 1, 2, 'T');
	to = print_number(to, ms / 3600000 % 24, 2, ':');
	to = print_number(to, ms / 60000 % 60, 2, ':');
	to = print_number(to, ms / 1000 % 60, 2, '.');
	*print_number(to, ms % 1000, 3, 'Z') = '\0';
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
 * Match text from *at against a pattern, in which N matches a digit and any other character
 * itself.  Each run of digits is a number and goes to the next item of ret, which must be 0.
 */
static bool match_pattern(struct roger_str text, size_t *at, const char *pattern, int *ret)
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

/*
 * Read the offset at the end, in seconds to subtract: "Z", "+hh:mm", "-hh:mm"; loosely also as git
 * and date print it: " +0100", " UTC".
 */
static bool read_offset(struct roger_str text, size_t at, bool loosely, int64_t *ret_seconds)
{
	int parts[2] = { 0 };
	char sign;
	size_t i;

	if (loosely && at < text.length && text.data[at] == ' ')
		at++;
	if (loosely && rg_str_is((struct roger_str){ text.data + at, text.length - at }, "UTC"))
		return true;
	sign = at < text.length ? text.data[at++] : 0;
	if (sign == 'Z' || sign == 'z')
		return at == text.length;
	if ((sign != '+' && sign != '-') || !match_pattern(text, &at, "NN", &parts[0]))
		return false;
	i = loosely && at < text.length && text.data[at] != ':';
	if (!match_pattern(text, &at, &":NN"[i], &parts[1]))
		return false;
	*ret_seconds = (parts[0] * 3600 + parts[1] * 60) * (sign == '-' ? -1 : 1);
	return parts[0] < 24 && parts[1] < 60 && at == text.length;
}

/* Read a fraction such as ".123", if there is one, in parts of `whole`; finer digits are
 * dropped. */
static bool read_fraction(struct roger_str text, size_t *at, int64_t whole, int64_t *ret)
{
	size_t start = *at + 1;

	if (*at >= text.length || text.data[*at] != '.')
		return true;
	for (*at = start; *at < text.length && text.data[*at] >= '0' && text.data[*at] <= '9';
	     ++*at) {
		whole /= 10;
		*ret += (text.data[*at] - '0') * whole;
	}
	return *at > start;
}

/* A date and a time of day as written, before a time zone is applied. */
struct wall {
	int date[3], time[3];
	int64_t ms;
};

/* The seconds since 1970 of this wall time in UTC; false: there is no such day or time. */
static bool wall_seconds(const struct wall *wall, int64_t *ret)
{
	struct tm day = { .tm_year = wall->date[0] - 1900,
			  .tm_mon = wall->date[1] - 1,
			  .tm_mday = wall->date[2] };

	*ret = timegm(&day) + wall->time[0] * 3600 + wall->time[1] * 60 + wall->time[2];
	/* timegm() turns a day that does not exist into another one. */
	return day.tm_mon == wall->date[1] - 1 && day.tm_mday == wall->date[2] &&
	       wall->time[0] < 24 && wall->time[1] < 60 && wall->time[2] <= 60;
}

/* Every reader ends here.  False: not an instant that roger can store. */
static bool keep_ms(int64_t seconds, int64_t ms, int64_t *ret_ms)
{
	ms += seconds * 1000;
	if (ms < 0 || ms > RG_TIME_MS_MAX)
		return false;
	*ret_ms = ms;
	return true;
}

bool rg_clock_read_rfc3339(struct roger_str text, int64_t *ret_ms)
{
	struct wall wall = { 0 };
	int64_t seconds, offset = 0;
	size_t at = 0;

	return match_pattern(text, &at, "NNNN-NN-NN", wall.date) && at < text.length &&
	       memchr("Tt", text.data[at++], 2) &&
	       match_pattern(text, &at, "NN:NN:NN", wall.time) &&
	       read_fraction(text, &at, 1000, &wall.ms) && read_offset(text, at, false, &offset) &&
	       wall_seconds(&wall, &seconds) && keep_ms(seconds - offset, wall.ms, ret_ms);
}

/* ----------------------------------------------------- as people write -- */

const char rg_clock_forms[] = "a time such as 10:00, yesterday 10:00, 2026-11-22 10:00, "
			      "2026-11-22T10:00:00Z, or 2h for 2 hours ago";
const char rg_clock_span_forms[] = "a span such as 500ms, 90s, 1h30m, 2 days or 1w";

/* Compare words in any case, "2 Days"; one letter must be exact, since 1M could mean a month. */
static bool is_word(struct roger_str text, const char *word)
{
	size_t length = strlen(word);

	return text.length == length &&
	       (length == 1 ? *text.data == *word : !strncasecmp(text.data, word, length));
}

/* The ms of a unit; 0: there is no such unit. */
static int64_t unit_ms(struct roger_str word)
{
	static const struct {
		const char *names[3];
		int64_t ms;
	} units[] = {
		{ { "ms", "ms", "ms" }, 1 },	     { { "s", "sec", "second" }, 1000 },
		{ { "m", "min", "minute" }, 60000 }, { { "h", "hr", "hour" }, 3600000 },
		{ { "d", "day", "day" }, 86400000 }, { { "w", "week", "week" }, 604800000 },
	};
	size_t i, k;

	if (word.length > 2 && (word.data[word.length - 1] | ' ') == 's')
		word.length--;
	for (i = 0; i < sizeof units / sizeof *units; i++)
		for (k = 0; k < 3; k++)
			if (is_word(word, units[i].names[k]))
				return units[i].ms;
	return 0;
}

static size_t count_while(struct roger_str text, size_t at, int (*is)(int))
{
	size_t start = at;

	while (at < text.length && is((unsigned char)text.data[at]))
		at++;
	return at - start;
}

/* Read a number and its unit at *at, such as "1.5 hours", in ms.  A bare number that is the
 * whole text counts seconds. */
static bool take_part(struct roger_str text, size_t *at, int64_t *ret_ms, int64_t *ret_unit)
{
	struct roger_str number = { text.data + *at, count_while(text, *at, isdigit) };
	int64_t whole, share = 0;
	size_t end;

	*at += number.length;
	if (!rg_str_number(number, &whole) || !read_fraction(text, at, 1000000000, &share))
		return false;
	*at += *at < text.length && text.data[*at] == ' ';
	end = *at + count_while(text, *at, isalpha);
	*ret_unit = end == *at ? number.length == text.length ? 1000 : 0
			       : unit_ms((struct roger_str){ text.data + *at, end - *at });
	*at = end;
	if (!*ret_unit || __builtin_mul_overflow(whole, *ret_unit, ret_ms))
		return false;
	return !__builtin_add_overflow(*ret_ms, share * *ret_unit / 1000000000, ret_ms);
}

bool rg_clock_read_span(struct roger_str text, int64_t *ret_ms)
{
	int64_t sum = 0, part, unit, last = INT64_MAX;
	size_t at = 0;

	if (!text.length || text.data[text.length - 1] == ' ')
		return false;
	do {
		if (!take_part(text, &at, &part, &unit) || unit >= last ||
		    __builtin_add_overflow(sum, part, &sum) || sum > RG_TIME_MS_MAX)
			return false;
		last = unit;
		at += at < text.length && text.data[at] == ' ';
	} while (at < text.length);
	*ret_ms = sum;
	return true;
}

/* Read "yesterday", "today", "tomorrow" or YYYY-MM-DD, and move *at past it. */
static bool take_date(struct roger_str text, size_t *at, int64_t now_ms, int date[3])
{
	static const char *const words[] = { "yesterday", "today", "tomorrow" };
	struct roger_str word = { text.data, count_while(text, 0, isalpha) };
	const time_t now = now_ms / 1000;
	struct tm day;
	int i;

	for (i = 0; i < 3 && !is_word(word, words[i]); i++)
		continue;
	/* A time without a date is one of today. */
	if (word.length == 0 && text.length > 2 && (text.data[1] == ':' || text.data[2] == ':'))
		i = 1;
	if (i == 3)
		return match_pattern(text, at, "NNNN-NN-NN", date);
	localtime_r(&now, &day);
	day.tm_mday += i - 1;
	timegm(&day);
	date[0] = day.tm_year + 1900, date[1] = day.tm_mon + 1, date[2] = day.tm_mday;
	*at = word.length;
	return true;
}

/* Read a time of day: "10:00", " 10:00", "T9:30:15.5". */
static bool take_time(struct roger_str text, size_t *at, struct wall *wall)
{
	if (*at && !memchr("Tt ", text.data[(*at)++], 3))
		return false;
	if (!match_pattern(text, at,
			   *at + 1 < text.length && text.data[*at + 1] == ':' ? "N:NN" : "NN:NN",
			   wall->time))
		return false;
	return *at == text.length || text.data[*at] != ':' ||
	       (match_pattern(text, at, ":NN", &wall->time[2]) &&
		read_fraction(text, at, 1000, &wall->ms));
}

static int64_t offset_at(int64_t seconds)
{
	const time_t when = seconds;
	struct tm local;

	localtime_r(&when, &local);
	return local.tm_gmtoff;
}

/*
 * The instant when a local clock shows this wall time.  Where the clock goes forward there is
 * none, and where it goes back there are two; this happens at most once in two days.  A day
 * without a time begins with its first second.  NULL: done, else what was expected.
 */
static const char *from_local(int64_t wall, bool whole_day, int64_t *ret)
{
	enum { DAY = 86400 };
	int64_t before = offset_at(wall - DAY), after = offset_at(wall + DAY);
	bool first = offset_at(wall - before) == before, second = offset_at(wall - after) == after;

	*ret = wall - (first || !second ? before : after);
	if (before == after || whole_day || first != second)
		return NULL;
	return first ? "a time that comes once: when the clock goes back, this one comes twice; "
		       "add "
		       "an offset such as +01:00"
		     : "a time that there is: this one is skipped when the clock goes forward";
}

static const char *read_date(struct roger_str text, int64_t now_ms, int64_t *ret_ms)
{
	struct wall wall = { 0 };
	int64_t seconds, offset = 0;
	const char *wrong = NULL;
	bool whole_day;
	size_t at = 0;

	if (!take_date(text, &at, now_ms, wall.date))
		return rg_clock_forms;
	whole_day = at == text.length;
	if (!whole_day && !take_time(text, &at, &wall))
		return rg_clock_forms;
	if (!wall_seconds(&wall, &seconds))
		return rg_clock_forms;
	if (at == text.length)
		wrong = from_local(seconds, whole_day, &seconds);
	else if (!read_offset(text, at, true, &offset))
		return rg_clock_forms;
	if (wrong)
		return wrong;
	return keep_ms(seconds - offset, wall.ms, ret_ms) ? NULL : rg_clock_forms;
}

/* Read "2h", "2 days ago" or "now". */
static bool read_ago(struct roger_str text, int64_t now_ms, int64_t *ret_ms)
{
	static const char ago[] = " ago";
	const size_t length = sizeof ago - 1;
	int64_t span = 0;

	if (text.length > length && !strncasecmp(text.data + text.length - length, ago, length))
		text.length -= length;
	if (!is_word(text, "now") && !rg_clock_read_span(text, &span))
		return false;
	*ret_ms = now_ms > span ? now_ms - span : 0;
	return true;
}

const char *rg_clock_read(struct roger_str text, int64_t now_ms, int64_t *ret_ms)
{
	int64_t ms;

	tzset();
	if (!rg_str_number(text, &ms))
		return read_ago(text, now_ms, ret_ms) ? NULL : read_date(text, now_ms, ret_ms);
	/* A smaller number is rather hours or days without their letter, or seconds. */
	if (ms > 0 && ms < BARE_MS_LEAST)
		return rg_clock_forms;
	return keep_ms(0, ms, ret_ms) ? NULL : rg_clock_forms;
}
