/* What each target makes of plain text, of its own marks, of what is harmful and of what is no
 * text. */
#include "base/escape.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

static void expect(enum rg_target target, struct roger_str text, const char *expected)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = 4096 };

	rg_buf_add_escaped(&out, target, text);
	rg_buf_add_char(&out, '\0');
	assert_false(out.failed);
	assert_string_equal(out.data, expected);
}

static void test_plain(void **state)
{
	enum rg_target target;

	(void)state;
	for (target = RG_IN_ADDRESS; target <= RG_IN_SIGHT; target++) {
		expect(target, RG_STR(""), "");
		expect(target, RG_STR("app-42.x:y@z"), "app-42.x:y@z");
	}
}

static void test_marks(void **state)
{
	(void)state;
	expect(RG_IN_ADDRESS, RG_STR("a/b %\n\xc3\xa9"), "a%2Fb%20%25%0A%C3%A9");
	expect(RG_IN_SCRIPT, RG_STR("{\"a\":\"</b>&\xc3\xa9\"}"),
	       "{\"a\":\"\\u003c/b\\u003e\\u0026\xc3\xa9\"}");
	expect(RG_IN_MERMAID, RG_STR("a#1; \xc3\xa9"), "a#35;1#59; #233;");
}

static void test_harm(void **state)
{
	/* An override, a tag of an astral plane, an escape. */
	const struct roger_str text = RG_STR("a\xe2\x80\xae\xf3\xa0\x81\x81\033[");

	(void)state;
	expect(RG_IN_LINE, text, "a<U+202E><U+E0041><U+001B>[");
	expect(RG_IN_LINES, text, "a<U+202E><U+E0041><U+001B>[");
	expect(RG_IN_SIGHT, text, "a<U+202E><U+E0041><U+001B>[");
	expect(RG_IN_MERMAID, text, "a#65533;#65533;#65533;#91;");
	expect(RG_IN_JSON, RG_STR("a\xe2\x80\xae\xf3\xa0\x81\x81\n"), "a\\u202e\\udb40\\udc41\n");
	/* A joiner is part of a word, and cannot be seen. */
	expect(RG_IN_LINE, RG_STR("a\xe2\x80\x8d"), "a\xe2\x80\x8d");
	expect(RG_IN_SIGHT, RG_STR("a\xe2\x80\x8d"), "a<U+200D>");
}

static void test_lines(void **state)
{
	(void)state;
	expect(RG_IN_LINES, RG_STR("a\r\nb\rc\td\n\r\n"), "a\nb<U+000D>c\td\n\n");
	expect(RG_IN_LINE, RG_STR("a\nb\t\xe2\x80\xa8"), "a<U+000A>b<U+0009><U+2028>");
}

static void test_no_text(void **state)
{
	(void)state;
	expect(RG_IN_LINE, RG_STR("a\xff\xc3"), "a<FF><C3>");
	expect(RG_IN_MERMAID, RG_STR("\xff"), "#65533;");
	expect(RG_IN_ADDRESS, RG_STR("\xff"), "%FF");
	expect(RG_IN_JSON, RG_STR("\xff<"), "\xff<");
}

static void expect_typed(struct roger_str word, const char *expected)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = 4096 };

	rg_buf_add_typed_word(&out, word);
	rg_buf_add_char(&out, '\0');
	assert_string_equal(out.data, expected);
}

/* A word that can be seen is quoted for any sh; what cannot be typed is spelt. */
static void test_typed(void **state)
{
	(void)state;
	expect_typed(RG_STR(""), "''");
	expect_typed(RG_STR("a/b.c"), "a/b.c");
	expect_typed(RG_STR("it's \\ \xc3\xa9"), "'it'\\''s \\ \xc3\xa9'");
	expect_typed(RG_STR("\xe2\x80\xae"), "$'\\342\\200\\256'");
	expect_typed(RG_STR("it's\n\\\xff\xc3\xa9\xe2\x80\x8d"),
		     "$'it\\047s\\012\\134\\377\\303\\251\\342\\200\\215'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	cmocka_unit_test(test_marks),
		cmocka_unit_test(test_harm),	cmocka_unit_test(test_lines),
		cmocka_unit_test(test_no_text), cmocka_unit_test(test_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
