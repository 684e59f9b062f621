/* term: the line that says how far long work is; what cli_say() prints and leaves out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/term.h"

static void says(const char *what, int64_t from, int64_t done, int64_t total, int64_t elapsed_ms,
		 const char *expected)
{
	const struct cli_work work = { what, from, done, total, elapsed_ms * 1000000 };
	char words[CLI_PROGRESS_BYTES];

	cli_progress_words(&work, words);
	assert_string_equal(words, expected);
}

static void counts_have_their_unit(void **state)
{
	(void)state;
	says("search messages", 0, 1200000, 3000000, 3000,
	     "search: 1.2M of 3.0M messages, 400k/s, 5 s left");
	says("search messages", 0, 1000, 1000000, 1000,
	     "search: 1.0k of 1.0M messages, 1.0k/s, 16 min left");
	says("cleanup issues", 0, 3, 12, 1500, "cleanup: 3 of 12 issues, 2/s, 5 s left");
}

static void bytes_have_none(void **state)
{
	(void)state;
	says("verify", 0, 312000000, 1200000000, 3000,
	     "verify: 312 MB of 1.2 GB, 104 MB/s, 9 s left");
	says("index", 0, 999, 1000, 1000, "index: 999 B of 1.0 kB, 999 B/s, 1 s left");
}

/* The rate is of this work, not of what was there before it. */
static void what_was_done_before_is_no_rate(void **state)
{
	(void)state;
	says("search messages", 900, 1000, 1200, 1000,
	     "search: 1.0k of 1.2k messages, 100/s, 3 s left");
}

static void without_a_rate_nothing_is_left(void **state)
{
	(void)state;
	says("index", 500, 500, 1000, 2000, "index: 500 B of 1.0 kB, 0 B/s");
	says("index", 0, 500, 1000, 0, "index: 500 B of 1.0 kB, 0 B/s");
}

/* Print all of it, with a text after the sections, which must find its own argument. */
static void prints(struct roger_str name, int64_t line, const char *word, const char *expected)
{
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };

	assert_true(cli_page_begin(&page));
	cli_say_to(page.to, "a%(, %t%)%(%S line %d (byte %d)%.%)%( %s!%t%)%4d %*t|", name, CLI_RED,
		   line, (int64_t)7, word, RG_STR("end"), (int64_t)5, 4, RG_STR("x\033"));
	assert_true(cli_page_end(&page));
	assert_string_equal(page.text, expected);
}

/* The style before it does not count; what is left out takes its arguments along. */
static void a_section_needs_its_first_thing(void **state)
{
	(void)state;
	prints(RG_STR(""), 0, "", "a   5 x<U+001B>|");
	prints(RG_STR("n"), 0, "", "a, n   5 x<U+001B>|");
	prints(RG_STR(""), 3, "", "a line 3 (byte 7)   5 x<U+001B>|");
	prints(RG_STR("n"), 3, "w", "a, n line 3 (byte 7) w!end   5 x<U+001B>|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_have_their_unit),
		cmocka_unit_test(bytes_have_none),
		cmocka_unit_test(what_was_done_before_is_no_rate),
		cmocka_unit_test(without_a_rate_nothing_is_left),
		cmocka_unit_test(a_section_needs_its_first_thing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
