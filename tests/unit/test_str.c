/*
 * What base/str.h promises: UTF-8 is judged as Unicode does, lengths count
 * characters, numbers are read and printed exactly, a buffer never passes its
 * maximum and stays failed once it did; and that an error is always one line
 * of whole characters (base/err.h), whatever went into it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/str.h"

/* ---------------------------------------------------------------- UTF-8 -- */

static bool counts(struct roger_str text, size_t expected)
{
	size_t chars = SIZE_MAX;

	return rg_utf8_count(text, &chars) && chars == expected;
}

static bool refused(struct roger_str text)
{
	size_t chars = 7;

	return !rg_utf8_count(text, &chars) && chars == 7;
}

static void counts_characters(void **state)
{
	(void)state;
	assert_true(counts(RG_STR(""), 0));
	assert_true(counts((struct roger_str){ NULL, 0 }, 0));
	assert_true(counts(RG_STR("plain"), 5));
	assert_true(counts(RG_STR("exactly eight by"), 16));
	assert_true(counts(RG_STR("gr\xc3\xbc\xc3\x9f"), 4));
	assert_true(counts(RG_STR("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"), 3));
	assert_true(counts(RG_STR("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"), 3));
	assert_true(counts(RG_STR("\xef\xbb\xbf"), 1));
	assert_true(counts(RG_STR("\xf4\x8f\xbf\xbf\xef\xbf\xbf"), 2));
}

static void refuses_what_is_no_utf8(void **state)
{
	(void)state;
	assert_true(refused(RG_STR("\x80")));
	assert_true(refused(RG_STR("\xff\xfe")));
	assert_true(refused(RG_STR("\xc0\x80")));	  /* NUL, too long */
	assert_true(refused(RG_STR("\xe0\x9f\xbf")));	  /* U+07FF, too long */
	assert_true(refused(RG_STR("\xf0\x8f\xbf\xbf"))); /* U+FFFF, too long */
	assert_true(refused(RG_STR("\xed\xa0\x80")));	  /* a surrogate */
	assert_true(refused(RG_STR("\xf4\x90\x80\x80"))); /* beyond U+10FFFF */
	assert_true(refused(RG_STR("\xf8\x88\x80\x80\x80")));
	assert_true(refused(RG_STR("cut \xe6\x97")));
	assert_true(refused(RG_STR("\xc3(")));
}

/* The quick path reads eight bytes at a time: a bad one must be seen at each place. */
static void finds_a_bad_byte_anywhere(void **state)
{
	static const char bad[] = { '\0', '\x80', '\xff' };
	char text[40];
	size_t at, length, i;

	(void)state;
	for (length = 1; length <= sizeof text; length++) {
		for (at = 0; at < length; at++) {
			for (i = 0; i < sizeof bad; i++) {
				memset(text, 'a', sizeof text);
				assert_true(counts((struct roger_str){ text, length }, length));
				text[at] = bad[i];
				assert_true(refused((struct roger_str){ text, length }));
			}
		}
	}
}

/* Every code point, written by the rules of Unicode, is read as itself. */
static void reads_every_code_point(void **state)
{
	char text[4];
	size_t length;
	uint32_t c, read;

	(void)state;
	for (c = 1; c <= 0x10ffff; c++) {
		if (c < 0x80)
			length = 1, text[0] = (char)c;
		else if (c < 0x800)
			length = 2, text[0] = (char)(0xc0 | c >> 6);
		else if (c < 0x10000)
			length = 3, text[0] = (char)(0xe0 | c >> 12);
		else
			length = 4, text[0] = (char)(0xf0 | c >> 18);
		if (length > 1)
			text[length - 1] = (char)(0x80 | (c & 0x3f));
		if (length > 2)
			text[length - 2] = (char)(0x80 | (c >> 6 & 0x3f));
		if (length > 3)
			text[length - 3] = (char)(0x80 | (c >> 12 & 0x3f));

		if (c >= 0xd800 && c <= 0xdfff) {
			assert_int_equal(rg_utf8_next(text, length, &read), 0);
			continue;
		}
		assert_int_equal(rg_utf8_next(text, length, &read), length);
		assert_int_equal(read, c);
		assert_int_equal(rg_utf8_next(text, length - 1, &read), 0);
	}
}

/* -------------------------------------------------------------- numbers -- */

static void reads_numbers_exactly(void **state)
{
	int64_t number = -1;

	(void)state;
	assert_true(rg_str_number(RG_STR("0"), &number) && number == 0);
	assert_true(rg_str_number(RG_STR("007"), &number) && number == 7);
	assert_true(rg_str_number(RG_STR("9223372036854775807"), &number) && number == INT64_MAX);

	number = -1;
	assert_false(rg_str_number(RG_STR("9223372036854775808"), &number));
	assert_false(rg_str_number(RG_STR("99999999999999999999999999"), &number));
	assert_false(rg_str_number(RG_STR(""), &number));
	assert_false(rg_str_number(RG_STR("-1"), &number));
	assert_false(rg_str_number(RG_STR("+1"), &number));
	assert_false(rg_str_number(RG_STR(" 1"), &number));
	assert_false(rg_str_number(RG_STR("1 "), &number));
	assert_false(rg_str_number(RG_STR("1e3"), &number));
	assert_false(rg_str_number(RG_STR("0x10"), &number));
	assert_false(rg_str_number(RG_STR("1\0"), &number));
	assert_int_equal(number, -1);
}

static void prints_numbers_exactly(void **state)
{
	static const int64_t numbers[] = { 0, 7, -7, 10, 1736328000000, INT64_MAX, INT64_MIN };
	char printed[21], expected[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		printed[rg_print_int(printed, numbers[i])] = '\0';
		snprintf(expected, sizeof expected, "%lld", (long long)numbers[i]);
		assert_string_equal(printed, expected);
	}
}

/* --------------------------------------------------------------- buffer -- */

static void buffer_grows_by_every_way(void **state)
{
	struct rg_buf buf;

	(void)state;
	rg_buf_init(&buf, 1000);
	assert_true(rg_str_is(rg_buf_str(&buf), ""));
	rg_buf_add(&buf, NULL, 0);
	rg_buf_add_str(&buf, RG_STR("a\0b"));
	rg_buf_add_text(&buf, "-c");
	rg_buf_add_char(&buf, '-');
	rg_buf_add_int(&buf, -12);
	rg_buf_printf(&buf, "-%s-%d", "d", 34);
	assert_false(buf.failed);
	assert_true(rg_str_equal(rg_buf_str(&buf), RG_STR("a\0b-c--12-d-34")));
	rg_buf_deinit(&buf);
}

static void buffer_keeps_what_it_held(void **state)
{
	struct rg_buf buf;
	size_t i;

	(void)state;
	rg_buf_init(&buf, 100000);
	for (i = 0; i < 100000; i++)
		rg_buf_add_char(&buf, (char)(i % 251));
	assert_false(buf.failed);
	assert_int_equal(buf.length, 100000);
	for (i = 0; i < buf.length; i++)
		assert_int_equal((unsigned char)buf.data[i], i % 251);
	rg_buf_add_char(&buf, 'x');
	assert_true(buf.failed);
	assert_int_equal(buf.length, 100000);
	rg_buf_deinit(&buf);
}

static void buffer_stays_failed(void **state)
{
	struct rg_buf buf;

	(void)state;
	rg_buf_init(&buf, 600);
	rg_buf_add_text(&buf, "kept");
	assert_null(rg_buf_room(&buf, SIZE_MAX));
	assert_true(buf.failed);
	rg_buf_add_text(&buf, "lost");
	rg_buf_printf(&buf, "%d", 1);
	assert_true(rg_str_is(rg_buf_str(&buf), "kept"));

	rg_buf_clear(&buf);
	rg_buf_add_text(&buf, "again");
	assert_false(buf.failed);
	assert_true(rg_str_is(rg_buf_str(&buf), "again"));
	rg_buf_deinit(&buf);
}

static void buffer_without_room_holds_nothing(void **state)
{
	struct rg_buf buf;

	(void)state;
	rg_buf_init(&buf, 0);
	rg_buf_add_char(&buf, 'x');
	assert_true(buf.failed);
	assert_true(rg_str_is(rg_buf_str(&buf), ""));
	rg_buf_deinit(&buf);

	rg_buf_init(&buf, SIZE_MAX);
	assert_null(rg_buf_room(&buf, SIZE_MAX - 1));
	assert_true(buf.failed);
	rg_buf_deinit(&buf);
}

/* ---------------------------------------------------------------- errors -- */

static void error_is_one_line_of_characters(void **state)
{
	struct roger_err err;
	char name[600];
	size_t chars, i;

	(void)state;
	assert_int_equal(
		rg_fail(&err, ROGER_EIO, 2, "open '%s'", "a\nb\x1b[31m\xc2\x9b\xff\xc3\xbc"),
		ROGER_EIO);
	assert_string_equal(err.message, "open 'a?b?[31m???\xc3\xbc': No such file or directory");
	assert_int_equal(err.code, ROGER_EIO);
	assert_int_equal(err.system_errno, 2);

	for (i = 0; i + 1 < sizeof name; i += 3)
		memcpy(name + i, "\xe6\x97\xa5", 3);
	name[sizeof name - 1] = '\0';
	for (i = 0; i < 3; i++) {
		rg_fail(&err, ROGER_EIO, 0, "%.*s%s", (int)i, "ab", name);
		assert_true(rg_utf8_count(rg_str(err.message), &chars));
	}
	/* A long name loses its middle, and the reason stays. */
	memset(name, 'x', sizeof name - 1);
	rg_fail(&err, ROGER_EIO, 2, "open '%s/end'", name);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	assert_memory_equal(err.message, "open 'xxx", 9);
	assert_non_null(strstr(err.message, "xxx...xxx"));
	assert_non_null(strstr(err.message, "xxx/end': No such file or directory"));
	memset(name + 450, '\0', 1);
	rg_fail(&err, ROGER_EIO, 0, "open '%s' now", name);
	assert_int_equal(strlen(err.message), 461);
	rg_fail(&err, ROGER_EIO, 0, "open '%s' nowxx", name);
	assert_null(strstr(err.message, "..."));
	rg_fail(&err, ROGER_EIO, 0, "open '%s' nowxxx", name);
	assert_non_null(strstr(err.message, "..."));
	assert_int_equal(rg_fail(NULL, ROGER_EDATA, 0, "nobody listens"), ROGER_EDATA);
}

static void cuts_whole_characters(void **state)
{
	/* One, two, three and four bytes. */
	static const size_t fits[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };
	const struct roger_str text = RG_STR("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof fits / sizeof *fits; i++)
		assert_int_equal(rg_str_first(text, i).length, fits[i]);
	assert_ptr_equal(rg_str_first(text, 3).data, text.data);
	assert_int_equal(rg_str_first(RG_STR(""), 4).length, 0);
}

static void leaves_out_an_end(void **state)
{
	(void)state;
	assert_int_equal(rg_str_without_end(RG_STR(" a b \r\n"), " \r\n").length, 4);
	assert_int_equal(rg_str_without_end(RG_STR("a \n"), "\n").length, 2);
	assert_int_equal(rg_str_without_end(RG_STR("\n\n"), "\n").length, 0);
	assert_int_equal(rg_str_without_end(RG_STR("a\0\n"), "\n").length, 2);
	assert_int_equal(rg_str_without_end(RG_STR("a\0"), " \n").length, 2);
}

static void takes_lines_off_a_text(void **state)
{
	struct roger_str rest = RG_STR("one\n\nlast"), line;

	(void)state;
	assert_true(rg_str_is(rg_str_first_line(rest), "one"));
	assert_true(rg_str_is(rg_str_first_line(RG_STR("one")), "one"));
	assert_true(rg_str_next_line(&rest, &line) && rg_str_is(line, "one"));
	assert_true(rg_str_next_line(&rest, &line) && rg_str_is(line, ""));
	assert_true(rg_str_next_line(&rest, &line) && rg_str_is(line, "last"));
	assert_false(rg_str_next_line(&rest, &line));
	rest = rg_str(NULL);
	assert_false(rg_str_next_line(&rest, &line));
	rest = RG_STR("ended\n");
	assert_true(rg_str_next_line(&rest, &line) && rg_str_is(line, "ended"));
	assert_false(rg_str_next_line(&rest, &line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_characters),
		cmocka_unit_test(leaves_out_an_end),
		cmocka_unit_test(refuses_what_is_no_utf8),
		cmocka_unit_test(finds_a_bad_byte_anywhere),
		cmocka_unit_test(reads_every_code_point),
		cmocka_unit_test(reads_numbers_exactly),
		cmocka_unit_test(prints_numbers_exactly),
		cmocka_unit_test(buffer_grows_by_every_way),
		cmocka_unit_test(buffer_keeps_what_it_held),
		cmocka_unit_test(buffer_stays_failed),
		cmocka_unit_test(buffer_without_room_holds_nothing),
		cmocka_unit_test(error_is_one_line_of_characters),
		cmocka_unit_test(cuts_whole_characters),
		cmocka_unit_test(takes_lines_off_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
