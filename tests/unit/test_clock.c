/*
 * What base/clock.h promises: instants are read with any offset, or in the local
 * zone, and printed in UTC, spans are exact, and what is no time, or lies outside 1970 to 9999, is
 * refused and leaves the answer alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"

enum { NOW_MS = 100000000 };

static int64_t instant(const char *text)
{
	int64_t ms;

	return rg_clock_read(rg_str(text), NOW_MS, &ms) ? -1 : ms;
}

static int64_t span(const char *text)
{
	int64_t ms;

	return rg_clock_read_span(rg_str(text), &ms) ? ms : -1;
}

static void reads_instants(void **state)
{
	(void)state;
	assert_int_equal(instant("1970-01-01"), 0);
	assert_int_equal(instant("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(instant("2026-02-16T05:25:00Z"), 1771219500000);
	assert_int_equal(instant("2026-02-16T05:25Z"), 1771219500000);
	assert_int_equal(instant("2026-02-16 05:25:00z"), 1771219500000);
	assert_int_equal(instant("2026-02-16T05:25:00.5Z"), 1771219500500);
	assert_int_equal(instant("2026-02-16T05:25:00.123456789Z"), 1771219500123);
	assert_int_equal(instant("2000-02-29"), 951782400000);
	assert_int_equal(instant("9999-12-31T23:59:59.999Z"), RG_TIME_MS_MAX);
}

/* Under a rule for the zone, so that no file of the machine is needed. */
static int64_t in_zone(const char *zone, int64_t now_ms, const char *text)
{
	int64_t ms = -1;

	setenv("TZ", zone, 1);
	if (rg_clock_read(rg_str(text), now_ms, &ms))
		ms = -1;
	setenv("TZ", "UTC", 1);
	return ms;
}

static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";
/* Its days of change begin at 01:00, and have 23:00 to 24:00 twice before them. */
static const char midnight[] = "<-03>3<-02>,M11.1.0/0,M2.3.0/0";

/* 2026-11-22T21:00:00Z, a winter's day of 22:00 in Berlin. */
static const int64_t WINTER_MS = 1795381200000;

static void reads_local_times(void **state)
{
	static const struct {
		const char *text, *utc;
	} times[] = {
		{ "now", "2026-11-22T21:00:00Z" },
		{ "today", "2026-11-21T23:00:00Z" },
		{ "yesterday", "2026-11-20T23:00:00Z" },
		{ "Yesterday 10:00", "2026-11-21T09:00:00Z" },
		{ "tomorrow 9:30", "2026-11-23T08:30:00Z" },
		{ "today 23:30", "2026-11-22T22:30:00Z" },
		{ "10:00", "2026-11-22T09:00:00Z" },
		{ "9:05:06.7", "2026-11-22T08:05:06.7Z" },
		{ "23:59", "2026-11-22T22:59:00Z" },
		{ "2026-11-22", "2026-11-21T23:00:00Z" },
		{ "2026-11-22 10:00", "2026-11-22T09:00:00Z" },
		{ "2026-11-22T10:00:00", "2026-11-22T09:00:00Z" },
		{ "2026-07-01 10:00", "2026-07-01T08:00:00Z" },
		{ "2026-11-22 10:00Z", "2026-11-22T10:00:00Z" },
		{ "2026-11-22 10:00:00 +0530", "2026-11-22T04:30:00Z" },
		{ "2026-11-22 10:00:00 UTC", "2026-11-22T10:00:00Z" },
		{ "2h ago", "2026-11-22T19:00:00Z" },
		{ "1h30m", "2026-11-22T19:30:00Z" },
		{ "2 days ago", "2026-11-20T21:00:00Z" },
		{ "1 week 1 day Ago", "2026-11-14T21:00:00Z" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof times / sizeof *times; i++)
		if (in_zone(berlin, WINTER_MS, times[i].text) != instant(times[i].utc))
			fail_msg("'%s' is not %s", times[i].text, times[i].utc);
	/* The day is the local one: here it is the 23rd already. */
	assert_int_equal(in_zone("<+14>-14", WINTER_MS, "yesterday"),
			 instant("2026-11-21T10:00:00Z"));
	assert_int_equal(in_zone("<+0545>-5:45", WINTER_MS, "10:00"),
			 instant("2026-11-23T04:15:00Z"));
}

/* On the last Sunday of March 02:00 to 03:00 is skipped, on October's it comes twice. */
static void knows_when_clocks_change(void **state)
{
	int64_t spring = instant("2026-03-29T12:00:00Z"), autumn = instant("2026-10-25T12:00:00Z");

	(void)state;
	assert_int_equal(in_zone(berlin, spring, "1:59"), instant("2026-03-29T00:59:00Z"));
	assert_int_equal(in_zone(berlin, spring, "3:00"), instant("2026-03-29T01:00:00Z"));
	assert_int_equal(in_zone(berlin, spring, "2:00"), -1);
	assert_int_equal(in_zone(berlin, spring, "2026-03-29 02:59"), -1);
	assert_int_equal(in_zone(berlin, autumn, "1:59"), instant("2026-10-24T23:59:00Z"));
	assert_int_equal(in_zone(berlin, autumn, "3:00"), instant("2026-10-25T02:00:00Z"));
	assert_int_equal(in_zone(berlin, autumn, "2:30"), -1);
	assert_int_equal(in_zone(berlin, autumn, "2:30+02:00"), instant("2026-10-25T00:30:00Z"));
	/* Whole days have a beginning. */
	assert_int_equal(in_zone(berlin, spring, "today"), instant("2026-03-28T23:00:00Z"));
	assert_int_equal(in_zone(berlin, autumn, "today"), instant("2026-10-24T22:00:00Z"));
	assert_int_equal(in_zone(berlin, autumn, "tomorrow"), instant("2026-10-25T23:00:00Z"));
	assert_int_equal(in_zone(midnight, 0, "2018-11-04"), instant("2018-11-04T03:00:00Z"));
	assert_int_equal(in_zone(midnight, 0, "2018-11-04 00:30"), -1);
	assert_int_equal(in_zone(midnight, 0, "2018-02-18"), instant("2018-02-18T03:00:00Z"));
	assert_int_equal(in_zone(midnight, 0, "2018-02-17 23:30"), -1);
}

static void says_what_is_wrong(void **state)
{
	int64_t ms;

	(void)state;
	assert_ptr_equal(rg_clock_read(RG_STR("soon"), 0, &ms), rg_clock_forms);
	setenv("TZ", berlin, 1);
	assert_non_null(strstr(rg_clock_read(RG_STR("2026-10-25 2:30"), 0, &ms), "twice"));
	assert_non_null(strstr(rg_clock_read(RG_STR("2026-03-29 2:30"), 0, &ms), "skipped"));
	setenv("TZ", "UTC", 1);
}

/* The files of the seeds have one form. */
static void reads_rfc3339_strictly(void **state)
{
	static const char *const bad[] = { "2026-02-16",
					   "2026-02-16 05:25:00Z",
					   "2026-02-16T05:25Z",
					   "2026-02-16T05:25:00",
					   "2026-02-16T05:25:00 Z",
					   "2026-02-16T05:25:00UTC",
					   "2026-02-16T05:25:00+0100",
					   "2026-02-16T5:25:00Z",
					   "now",
					   "2h",
					   "1771219500123",
					   "" };
	int64_t ms = 7;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		if (rg_clock_read_rfc3339(rg_str(bad[i]), &ms))
			fail_msg("'%s' was read", bad[i]);
	assert_int_equal(ms, 7);
	assert_true(rg_clock_read_rfc3339(RG_STR("2026-02-16t06:25:00.5+01:00"), &ms));
	assert_int_equal(ms, 1771219500500);
}

/* What roger prints can be typed: no more is lost than was not printed. */
static void reads_printed_spans(void **state)
{
	static const int64_t spans[] = { 0, 250, 4290, 185000, 7859999, 274320000, RG_TIME_MS_MAX };
	char text[32];
	int64_t ms;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof spans / sizeof *spans; i++) {
		rg_clock_print_span(spans[i], text);
		ms = span(text);
		assert_true(ms >= 0 && ms <= spans[i] && spans[i] - ms < 3600000);
	}
}

/* One instant, told in three places of the world. */
static void compares_offsets(void **state)
{
	(void)state;
	assert_int_equal(instant("2026-02-16T06:25:00+01:00"), instant("2026-02-16T05:25:00Z"));
	assert_int_equal(instant("2026-02-15T23:55:00-05:30"), instant("2026-02-16T05:25:00Z"));
	assert_int_equal(instant("2026-02-16T05:25:00-00:00"), instant("2026-02-16T05:25:00Z"));
}

static void refuses_what_is_no_instant(void **state)
{
	static const char *const bad[] = {
		"",
		"T",
		"2026-2-16",
		"2026-13-01",
		"2026-00-01",
		"2026-01-00",
		"2026-02-29",
		"2100-02-29",
		"2026-02-16T",
		"2026-02-16T05",
		"nowadays",
		"soon",
		"yesterday ",
		"yesterdays",
		"yesterday10:00",
		"today 25:00",
		"today 9",
		"monday",
		"10:",
		"1:2",
		":00",
		"10:00:",
		"10:00:30.",
		"24:00",
		"2026-02-29 10:00",
		"2026-02-16 Z",
		"2026-02-16Z",
		"2026-02-16T05:25:00  Z",
		"2026-02-16T05:25:00 CET",
		"2026-02-16T05:25:00+0:100",
		"2026-02-16T05:25:00+010",
		"2 days before",
		"2days ago ",
		" ago",
		"ago",
		"1M ago",
		"2026-02-16T24:00:00Z",
		"2026-02-16T05:60:00Z",
		"2026-02-16T05:25:61Z",
		"2026-02-16T05:25:00.Z",
		"2026-02-16T05:25.5Z",
		"2026-02-16T05:25:00Zx",
		"2026-02-16T05:25:00+24:00",
		"2026-02-16T05:25:00+01",
		"1969-12-31",
		"1969-12-31T23:59:59Z",
		"0000-01-01",
		"1970-01-01T00:00:00+00:01",
		"9999-12-31T23:59:59.999-00:01",
		"99999999999999999",
		"+5",
		"-5",
		"5x",
		"5",
		"24",
		"1771219500",
		"99999999999",
		"2h ",
		" 2h",
	};
	int64_t ms = 7;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		if (!rg_clock_read(rg_str(bad[i]), NOW_MS, &ms))
			fail_msg("'%s' was read", bad[i]);
	assert_non_null(rg_clock_read((struct roger_str){ NULL, 0 }, NOW_MS, &ms));
	assert_int_equal(ms, 7);
}

static void reads_what_was_printed(void **state)
{
	char text[32];
	int64_t ms;

	(void)state;
	rg_clock_print_utc(1771219500123, text);
	assert_string_equal(text, "2026-02-16T05:25:00.123Z");
	rg_clock_print_utc(RG_TIME_MS_MAX, text);
	assert_string_equal(text, "9999-12-31T23:59:59.999Z");
	for (ms = 0; ms <= RG_TIME_MS_MAX; ms += INT64_C(86399999) * 97) {
		rg_clock_print_utc(ms, text);
		assert_int_equal(instant(text), ms);
	}
}

/* A date that cannot be is still something to look at, and stays within its room. */
static void prints_the_impossible_as_a_number(void **state)
{
	char text[32];

	(void)state;
	rg_clock_print_utc(-1, text);
	assert_string_equal(text, "-1");
	rg_clock_print_utc(INT64_MIN, text);
	assert_string_equal(text, "-9223372036854775808");
	rg_clock_print_utc(RG_TIME_MS_MAX + 1, text);
	assert_string_equal(text, "253402300800000");
}

static void reads_spans(void **state)
{
	(void)state;
	assert_int_equal(span("0"), 0);
	assert_int_equal(span("250ms"), 250);
	assert_int_equal(span("10s"), 10000);
	assert_int_equal(span("10"), 10000);
	assert_int_equal(span("5m"), 300000);
	assert_int_equal(span("2h"), 7200000);
	assert_int_equal(span("3d"), 259200000);
	assert_int_equal(span("90s"), 90000);
	assert_int_equal(span("1h30m"), 5400000);
	assert_int_equal(span("1h 30m"), 5400000);
	assert_int_equal(span("1w"), 604800000);
	assert_int_equal(span("2 days"), 172800000);
	assert_int_equal(span("2 Days 1 hour 3 mins 4 secs 5ms"), 176584005);
	assert_int_equal(span("1 week 1 day"), 691200000);
	assert_int_equal(span("1.5h"), 5400000);
	assert_int_equal(span("0.25 s"), 250);
	assert_int_equal(span("4.2s"), 4200);
	assert_int_equal(span("0.0004s"), 0);
}

static void refuses_what_is_no_span(void **state)
{
	static const char *const bad[] = { "",
					   "s",
					   "-1s",
					   "1H",
					   "1M",
					   "1mo",
					   "1 year",
					   "1.h",
					   ".5h",
					   "1.5",
					   "1s ",
					   " 1s",
					   "1  s",
					   "1s  1ms",
					   "1h30",
					   "30m1h",
					   "1h1h",
					   "1m 1min",
					   "10 ",
					   "h1",
					   "2913844w 99999999999999h",
					   "1msx",
					   "9223372036854775807d",
					   "9223372036854775807",
					   "99999999999999999999ms" };
	int64_t ms = 7;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		if (rg_clock_read_span(rg_str(bad[i]), &ms))
			fail_msg("'%s' was read", bad[i]);
	assert_int_equal(ms, 7);
}

static void looks_back_from_now(void **state)
{
	(void)state;
	assert_int_equal(instant("10s"), NOW_MS - 10000);
	assert_int_equal(instant("1h"), NOW_MS - 3600000);
	assert_int_equal(instant("99d"), 0);
	assert_int_equal(instant("1736328000000"), 1736328000000);
	assert_int_equal(instant("100000000000"), 100000000000);
	assert_int_equal(instant("0"), 0);
}

static void clocks_move_forward(void **state)
{
	int64_t before_ns = rg_clock_monotonic_ns();

	(void)state;
	assert_true(rg_clock_ms() > 1700000000000);
	assert_true(rg_clock_monotonic_ns() >= before_ns);
}

static void spans_for_people(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} spans[] = {
		{ 0, "0ms" },		{ 999, "999ms" },
		{ 1000, "1.0s" },	{ 59999, "59.9s" },
		{ 60000, "1m 0s" },	{ 3599999, "59m 59s" },
		{ 3600000, "1h 0m" },	{ 172799999, "47h 59m" },
		{ 172800000, "2d 0h" }, { INT64_MAX, "106751991167d 7h" },
	};
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof spans / sizeof *spans; i++) {
		rg_clock_print_span(spans[i].ms, text);
		assert_string_equal(text, spans[i].text);
	}
}

/* What is stored of it is read again, and 0 would mean that it is not known. */
static void the_clock_shows_what_can_be_stored(void **state)
{
	(void)state;
	rg_clock_follow(-1000);
	assert_int_equal(rg_clock_ms(), 1);
	rg_clock_follow(RG_TIME_MS_MAX + 100000);
	assert_int_equal(rg_clock_ms(), RG_TIME_MS_MAX);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_for_people),
		cmocka_unit_test(reads_instants),
		cmocka_unit_test(compares_offsets),
		cmocka_unit_test(reads_local_times),
		cmocka_unit_test(knows_when_clocks_change),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(reads_rfc3339_strictly),
		cmocka_unit_test(reads_printed_spans),
		cmocka_unit_test(refuses_what_is_no_instant),
		cmocka_unit_test(reads_what_was_printed),
		cmocka_unit_test(prints_the_impossible_as_a_number),
		cmocka_unit_test(reads_spans),
		cmocka_unit_test(refuses_what_is_no_span),
		cmocka_unit_test(looks_back_from_now),
		cmocka_unit_test(clocks_move_forward),
		cmocka_unit_test(the_clock_shows_what_can_be_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
