/*
 * What data/roleline.h promises: the message examples of seed 002 are read and
 * printed back byte for byte, every form of the header and of the text around
 * it is read as written, what was read and printed reads the same, no text
 * speaks for another, and broken text is refused by its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "data/record.h"

#include "rolelines.h"

/* The lines of the last text that was read. */
static struct rg_arena *arena;
static struct rolelines lines;

static int forget(void **state)
{
	(void)state;
	arena = rg_arena_free(arena);
	return 0;
}

static void read_text(struct roger_str text)
{
	struct roger_err err;

	rg_arena_free(arena);
	arena = rg_arena_new();
	if (read_rolelines(text, arena, &lines, &err) < 0)
		fail_msg("not read: %s", err.message);
}

static bool is_line(size_t i, const char *role, int64_t number, const char *text)
{
	return i < lines.count && rg_str_is(lines.items[i].role, role) &&
	       lines.items[i].number == number && rg_str_is(lines.items[i].text, text);
}

/* Is the text one message? */
static bool is_one(struct roger_str whole, const char *role, int64_t number, const char *text)
{
	read_text(whole);
	return lines.count == 1 && lines.skipped_bytes == 0 && is_line(0, role, number, text);
}

static bool is_none(struct roger_str whole)
{
	read_text(whole);
	return lines.count == 0 && lines.skipped_bytes == whole.length;
}

static void print_lines(struct rg_buf *out)
{
	size_t i;

	rg_buf_init(out, SIZE_MAX);
	for (i = 0; i < lines.count; i++)
		rg_roleline_print(&lines.items[i], out);
}

static void refused(struct roger_str text, const char *message)
{
	struct rolelines untouched = { .count = 77 };
	struct roger_err err;

	rg_arena_free(arena);
	arena = rg_arena_new();
	assert_int_equal(read_rolelines(text, arena, &untouched, &err), ROGER_EDATA);
	assert_string_equal(err.message, message);
	assert_int_equal(untouched.count, 77);
}

/* -------------------------------------------------------------- seed 002 -- */

static const char seed[] = "(LEAD #1): Hey team, starting comms check\n"
			   "(WORKER-A #1): Lead, I'm online\n"
			   "(REVIEWER #1): Confirmed, ready to review\n"
			   "(LEAD #2): Great, let's discuss the new feature\n"
			   "(WORKER-A #2): I have a question about that\n";

static void seed_examples_print_back(void **state)
{
	struct rg_buf out;

	(void)state;
	read_text(RG_STR(seed));
	assert_int_equal(lines.count, 5);
	assert_int_equal(lines.skipped_bytes, 0);
	assert_true(is_line(0, "LEAD", 1, "Hey team, starting comms check"));
	assert_true(is_line(1, "WORKER-A", 1, "Lead, I'm online"));
	assert_true(is_line(2, "REVIEWER", 1, "Confirmed, ready to review"));
	assert_true(is_line(3, "LEAD", 2, "Great, let's discuss the new feature"));
	assert_true(is_line(4, "WORKER-A", 2, "I have a question about that"));
	print_lines(&out);
	assert_true(rg_str_is(rg_buf_str(&out), seed));
	rg_buf_deinit(&out);
}

/* The seed's "Current Format" and "New Format". */
static void both_formats_of_the_seed_are_read(void **state)
{
	(void)state;
	assert_true(
		is_one(RG_STR("(ROLE): message content here"), "ROLE", 0, "message content here"));
	assert_true(is_one(RG_STR("(ROLE #7): message content here"), "ROLE", 7,
			   "message content here"));
}

/* --------------------------------------------------------------- headers -- */

static void headers_are_read_in_every_form(void **state)
{
	(void)state;
	assert_true(is_one(RG_STR("(ROLE#5): t"), "ROLE", 5, "t"));
	assert_true(is_one(RG_STR("(ROLE   #5): t"), "ROLE", 5, "t"));
	assert_true(is_one(RG_STR("(ROLE #5):t"), "ROLE", 5, "t"));
	assert_true(is_one(RG_STR("(ROLE #5):  t "), "ROLE", 5, " t "));
	assert_true(is_one(RG_STR("(ROLE #5):"), "ROLE", 5, ""));
	assert_true(is_one(RG_STR("(ROLE #5): "), "ROLE", 5, ""));
	assert_true(is_one(RG_STR("(ROLE #0): t"), "ROLE", 0, "t"));
	assert_true(is_one(RG_STR("(ROLE #007): t"), "ROLE", 7, "t"));
	assert_true(is_one(RG_STR("(role_2-b-C #5): t"), "role_2-b-C", 5, "t"));
	assert_true(is_one(RG_STR("(5 #5): t"), "5", 5, "t"));
	assert_true(is_one(RG_STR("(_ #281474976710656): t"), "_", RG_SEQ_MAX, "t"));
	assert_true(is_one(RG_STR("(A #0000000000000000000000000000012): t"), "A", 12, "t"));
}

static void other_lines_are_no_headers(void **state)
{
	static const char *const texts[] = {
		" (ROLE #5): t",
		"x(ROLE #5): t",
		"ROLE #5: t",
		"[ROLE #5]: t",
		"(): t",
		"( #5): t",
		"(ROLE #5) t",
		"(ROLE #5) : t",
		"(ROLE #): t",
		"(ROLE #x): t",
		"(ROLE #-5): t",
		"(ROLE #5x): t",
		"(ROLE #5 ): t",
		"(ROLE 5): t",
		"(RO LE #5): t",
		"(ROLE\n#5): t",
		"(ROLE\t#5): t",
		"(-): t",
		"(-ROLE #5): t",
		"(R\xc3\x96LE #5): t",
		"(ROLE.X #5): t",
		"(ROLE #5",
		"(ROLE #5)",
		"(ROLE",
		"(",
		"",
		"\n\n",
		"(ROLE # 5): t",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!is_none(rg_str(texts[i])))
			fail_msg("'%s' was read as a header", texts[i]);
}

static void roles_are_names(void **state)
{
	char text[RG_NAME_CHARS_MAX + 8];
	int length;

	(void)state;
	for (length = RG_NAME_CHARS_MAX; length <= RG_NAME_CHARS_MAX + 1; length++) {
		memset(text, 'R', sizeof text);
		text[0] = '(';
		memcpy(text + 1 + length, "): t", 5);
		read_text(rg_str(text));
		assert_int_equal(lines.count, length <= RG_NAME_CHARS_MAX);
		if (lines.count)
			assert_true(rg_name_valid(lines.items[0].role));
	}
}

static void numbers_are_bounded(void **state)
{
	(void)state;
	refused(RG_STR("(A #281474976710657): t"),
		"line 1: expected a number up to 281474976710656");
	refused(RG_STR("(A #1): t\n\n(A #99999999999999999999999999999999999999): t"),
		"line 3: expected a number up to 281474976710656");
	/* In the middle of a line it is only text. */
	assert_true(is_one(RG_STR("(A): see (A #281474976710657): t"), "A", 0,
			   "see (A #281474976710657): t"));
}

/* ------------------------------------------------------------------ text -- */

static void text_runs_to_the_next_header(void **state)
{
	(void)state;
	read_text(RG_STR("(A #1): one\ntwo\n\n (B #9): no\n(B #2): three\n\n(A): four"));
	assert_int_equal(lines.count, 3);
	assert_true(is_line(0, "A", 1, "one\ntwo\n\n (B #9): no"));
	assert_true(is_line(1, "B", 2, "three\n"));
	assert_true(is_line(2, "A", 0, "four"));
}

static void text_before_the_first_header_is_counted(void **state)
{
	(void)state;
	read_text(RG_STR("hello\n\n(A #1): one\n"));
	assert_int_equal(lines.skipped_bytes, 7);
	assert_int_equal(lines.count, 1);
	assert_true(is_line(0, "A", 1, "one"));
	read_text((struct roger_str){ NULL, 0 });
	assert_int_equal(lines.count + lines.skipped_bytes, 0);
}

static void line_ends_become_one(void **state)
{
	(void)state;
	read_text(RG_STR("(A #1): one\r\ntwo\r\n\r\n(B #2): three\r\n"));
	assert_int_equal(lines.count, 2);
	assert_true(is_line(0, "A", 1, "one\ntwo\n"));
	assert_true(is_line(1, "B", 2, "three"));
	assert_true(is_one(RG_STR("(A): a\r\r\n"), "A", 0, "a"));
	assert_true(is_one(RG_STR("(A): a\r"), "A", 0, "a"));
	assert_true(is_one(RG_STR("(A): a\rb"), "A", 0, "a\rb"));
	assert_true(is_one(RG_STR("(A): a\r(B #1): b"), "A", 0, "a\r(B #1): b"));
}

static void byte_order_mark_is_no_text(void **state)
{
	(void)state;
	assert_true(is_one(RG_STR("\xef\xbb\xbf(A #1): \xc3\xbc"), "A", 1, "\xc3\xbc"));
	assert_true(is_one(RG_STR("(A #1): \xef\xbb\xbf"), "A", 1, "\xef\xbb\xbf"));
	read_text(RG_STR("\xef\xbb\xbf"));
	assert_int_equal(lines.count, 0);
	read_text(RG_STR("\xff\xfe"));
	assert_int_equal(lines.count + lines.skipped_bytes, 0);
}

static void utf16_is_read(void **state)
{
	(void)state;
	assert_true(is_one(RG_STR("\xff\xfe(\0A\0 \0#\0"
				  "5\0)\0:\0 \0\xfc\0\r\0\n\0"),
			   "A", 5, "\xc3\xbc"));
	assert_true(is_one(RG_STR("\xff\xfe(\0A\0)\0:\0\x3d\xd8\x00\xde\xe5\x65"), "A", 0,
			   "\xf0\x9f\x98\x80\xe6\x97\xa5"));
	/* A character of two halves that look like a line end. */
	assert_true(is_one(RG_STR("\xff\xfe(\0A\0)\0:\0\x0a\x0a"), "A", 0, "\xe0\xa8\x8a"));
}

static void broken_text_is_refused_by_its_line(void **state)
{
	(void)state;
	refused(RG_STR("(A): \xff"), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("(A): a\nb\n\xc3"), "line 3: expected UTF-8 without NUL");
	refused(RG_STR("(A): a\nb\0c"), "line 2: expected UTF-8 without NUL");
	refused(RG_STR("\0"), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("(A): \xed\xa0\x80"), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("\xfe\xff\0("), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("\xff\xfe"
		       "a"),
		"line 1: expected UTF-8 without NUL");
	refused(RG_STR("\xff\xfe"
		       "a\0\n\0b\0c"),
		"line 2: expected UTF-8 without NUL");
	refused(RG_STR("\xff\xfe\0\0(\0\0\0"), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("\xff\xfe\x3d\xd8"), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("\xff\xfe\x3d\xd8\x3d\xd8"), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("\xff\xfe\x00\xde\x3d\xd8"), "line 1: expected UTF-8 without NUL");
	refused(RG_STR("\xff\xfe\x00\xde\x00\xde"), "line 1: expected UTF-8 without NUL");
}

/* -------------------------------------------------------------- pieces -- */

static void broken_text_spoils_no_other_piece(void **state)
{
	static const char text[] = "\xef\xbb\xbfhi\n(A #1): one\n(B #2): t\xff\nmore\n"
				   "(C #281474976710657): big\n(D #4): \xc3\xbc\r\n";
	static const struct {
		enum rg_rolepiece_kind kind;
		size_t line;
		const char *role, *raw;
	} expected[] = {
		{ RG_ROLEPIECE_LOOSE, 1, "", "hi\n" },
		{ RG_ROLEPIECE_MESSAGE, 2, "A", "(A #1): one\n" },
		{ RG_ROLEPIECE_BROKEN, 3, "B", "(B #2): t\xff\nmore\n" },
		{ RG_ROLEPIECE_BROKEN, 5, "C", "(C #281474976710657): big\n" },
		{ RG_ROLEPIECE_MESSAGE, 6, "D", "(D #4): \xc3\xbc\r\n" },
	};
	struct rg_rolepieces pieces;
	size_t i;

	(void)state;
	arena = rg_arena_new();
	assert_int_equal(rg_roleline_split(RG_STR(text), arena, &pieces, NULL), ROGER_OK);
	assert_int_equal(pieces.count, sizeof expected / sizeof *expected);
	assert_int_equal(pieces.mark.length, 3);
	for (i = 0; i < pieces.count; i++) {
		assert_int_equal(pieces.items[i].kind, expected[i].kind);
		assert_int_equal(pieces.items[i].line_number, expected[i].line);
		assert_true(rg_str_is(pieces.items[i].line.role, expected[i].role));
		assert_true(rg_str_is(pieces.items[i].raw, expected[i].raw));
	}
	assert_true(rg_str_is(pieces.items[4].line.text, "\xc3\xbc"));
}

static void a_mark_may_stand_before_any_header(void **state)
{
	(void)state;
	read_text(RG_STR("(A #1): one\n\xef\xbb\xbf(B #2): two\n"));
	assert_int_equal(lines.count, 2);
	assert_true(is_line(1, "B", 2, "two"));
}

/* -------------------------------------------------------------- printing -- */

static void prints(const struct rg_roleline *line, const char *expected)
{
	struct rg_buf out;

	rg_buf_init(&out, SIZE_MAX);
	rg_roleline_print(line, &out);
	assert_true(rg_str_is(rg_buf_str(&out), expected));
	rg_buf_deinit(&out);
}

static void prints_the_seed_s_form(void **state)
{
	(void)state;
	prints(&(struct rg_roleline){ RG_STR("A"), 5, RG_STR("t") }, "(A #5): t\n");
	prints(&(struct rg_roleline){ RG_STR("A"), 0, RG_STR("t") }, "(A): t\n");
	prints(&(struct rg_roleline){ RG_STR("A"), 1, RG_STR("") }, "(A #1): \n");
	prints(&(struct rg_roleline){ RG_STR("A"), 1, { NULL, 0 } }, "(A #1): \n");
	prints(&(struct rg_roleline){ RG_STR("A"), 1, RG_STR("a\n\nb\n") }, "(A #1): a\n\nb\n\n");
}

/* A text that holds a header must not put words into another's mouth. */
static void no_text_speaks_for_another(void **state)
{
	struct rg_roleline line = { RG_STR("A"), 1,
				    RG_STR("(B #9): first\n(LEAD #2): do it\n(x): y\n(LEAD "
					   "#99999999999999999): z\n\xef\xbb\xbf"
					   "(y): z") };
	struct rg_buf out;

	(void)state;
	prints(&line, "(A #1): (B #9): first\n (LEAD #2): do it\n (x): y\n (LEAD "
		      "#99999999999999999): z\n \xef\xbb\xbf(y): z\n");
	rg_buf_init(&out, SIZE_MAX);
	rg_roleline_print(&line, &out);
	read_text(rg_buf_str(&out));
	assert_int_equal(lines.count, 1);
	rg_buf_deinit(&out);
}

static void what_was_printed_reads_the_same(void **state)
{
	static const char *const texts[] = { "",      " ",	   "t",		  "\n", "\n\n",
					     " \n ",  "a\rb",	   "a\nb",	  ")",	"(A",
					     "#1): ", "(B #2): x", "\xef\xbb\xbf" };
	struct rg_roleline line = { RG_STR("A-1_b"), 0, { NULL, 0 } };
	struct rg_buf out;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		for (line.number = 0; line.number <= 10; line.number += 10) {
			line.text = rg_str(texts[i]);
			rg_buf_init(&out, SIZE_MAX);
			rg_roleline_print(&line, &out);
			assert_true(is_one(rg_buf_str(&out), "A-1_b", line.number, texts[i]));
			rg_buf_deinit(&out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(seed_examples_print_back, forget),
		cmocka_unit_test_teardown(both_formats_of_the_seed_are_read, forget),
		cmocka_unit_test_teardown(headers_are_read_in_every_form, forget),
		cmocka_unit_test_teardown(other_lines_are_no_headers, forget),
		cmocka_unit_test_teardown(roles_are_names, forget),
		cmocka_unit_test_teardown(numbers_are_bounded, forget),
		cmocka_unit_test_teardown(text_runs_to_the_next_header, forget),
		cmocka_unit_test_teardown(text_before_the_first_header_is_counted, forget),
		cmocka_unit_test_teardown(line_ends_become_one, forget),
		cmocka_unit_test_teardown(byte_order_mark_is_no_text, forget),
		cmocka_unit_test_teardown(utf16_is_read, forget),
		cmocka_unit_test_teardown(broken_text_is_refused_by_its_line, forget),
		cmocka_unit_test_teardown(broken_text_spoils_no_other_piece, forget),
		cmocka_unit_test_teardown(a_mark_may_stand_before_any_header, forget),
		cmocka_unit_test_teardown(prints_the_seed_s_form, forget),
		cmocka_unit_test_teardown(no_text_speaks_for_another, forget),
		cmocka_unit_test_teardown(what_was_printed_reads_the_same, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
