/*
 * What base/clock.h promises: instants are read with any offset and printed in
 * UTC, spans are exact, and what is no time, or lies outside 1970 to 9999, is
 * refused and leaves the answer alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"

enum { NOW_MS = 100000000 };

static int64_t instant(const char *text)
{
	int64_t ms;

	return rg_clock_read(rg_str(text), NOW_MS, &ms) ? ms : -1;
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
		"now",
		"2026-2-16",
		"2026-13-01",
		"2026-00-01",
		"2026-01-00",
		"2026-02-29",
		"2100-02-29",
		"2026-02-16T",
		"2026-02-16T05",
		"2026-02-16T05:25:00",
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
		if (rg_clock_read(rg_str(bad[i]), NOW_MS, &ms))
			fail_msg("'%s' was read", bad[i]);
	assert_false(rg_clock_read((struct roger_str){ NULL, 0 }, NOW_MS, &ms));
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
}

static void refuses_what_is_no_span(void **state)
{
	static const char *const bad[] = { "",
					   "s",
					   "-1s",
					   "1.5h",
					   "1w",
					   "1H",
					   "1 s",
					   "1s ",
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_for_people),
		cmocka_unit_test(reads_instants),
		cmocka_unit_test(compares_offsets),
		cmocka_unit_test(refuses_what_is_no_instant),
		cmocka_unit_test(reads_what_was_printed),
		cmocka_unit_test(prints_the_impossible_as_a_number),
		cmocka_unit_test(reads_spans),
		cmocka_unit_test(refuses_what_is_no_span),
		cmocka_unit_test(looks_back_from_now),
		cmocka_unit_test(clocks_move_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
