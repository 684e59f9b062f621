/* unicode: what is shown as harmful is exactly that, and how wide characters are. */
#include "base/unicode.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool is_within(uint32_t c, uint32_t first, uint32_t last)
{
	return c >= first && c <= last;
}

/* Every code point there is: C0, C1, bidirectional controls of a range, tags and variation
 * selectors. */
static void harmful_is_what_steers(void **state)
{
	uint32_t c;

	(void)state;
	for (c = 0; c <= 0x10ffff; c++)
		assert_int_equal(rg_char_is_harmful(c), c < 0x20 || is_within(c, 0x7f, 0x9f) ||
								is_within(c, 0x202a, 0x202e) ||
								is_within(c, 0x2066, 0x2069) ||
								is_within(c, 0xe0000, 0xe0fff));
}

static void unseen_are_controls_formats_and_separators(void **state)
{
	static const uint32_t unseen[] = { 0,	   0x1b,   0x7f,    0x9b,    0xad,   0x61c,  0x180e,
					   0x200b, 0x200d, 0x200e,  0x2028,  0x2029, 0x202e, 0x2060,
					   0xfeff, 0xfff9, 0x110bd, 0xe0001, 0xe0041 };
	static const uint32_t seen[] = {
		' ', 'a', '~', 0xa0, 0xe9, 0x300, 0x3042, 0xfe0f, 0x1f468
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof unseen / sizeof *unseen; i++)
		assert_true(rg_char_is_unseen(unseen[i]));
	for (i = 0; i < sizeof seen / sizeof *seen; i++)
		assert_false(rg_char_is_unseen(seen[i]));
}

static void columns(void **state)
{
	(void)state;
	assert_int_equal(rg_char_columns('a'), 1);
	assert_int_equal(rg_char_columns(0xe9), 1);
	assert_int_equal(rg_char_columns(0x301), 0);
	assert_int_equal(rg_char_columns(0x200d), 0);
	assert_int_equal(rg_char_columns(0x65e5), 2);
	assert_int_equal(rg_char_columns(0x1f468), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(harmful_is_what_steers),
		cmocka_unit_test(unseen_are_controls_formats_and_separators),
		cmocka_unit_test(columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
