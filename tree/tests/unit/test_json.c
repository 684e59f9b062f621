/*
 * What data/json.h promises: JSON is read strictly (members that come twice,
 * deep nesting, what follows the value and broken UTF-8 are refused, and the
 * error never tells content), numbers keep their digits, and every string that
 * is written reads back as itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "data/json.h"

static struct rg_json *read_text(struct roger_str text)
{
	struct rg_json *json = NULL;
	struct roger_err err;

	if (rg_json_read(text, &json, &err) < 0)
		fail_msg("not read: %s", err.message);
	return json;
}

static bool refused(struct roger_str text)
{
	struct rg_json *json = NULL;
	struct roger_err err = { 0 };
	int r = rg_json_read(text, &json, &err);

	if (r == ROGER_OK)
		rg_json_free(json);
	return r == ROGER_EDATA && err.code == ROGER_EDATA && err.message[0] && !json;
}

static bool prints(const char *text, const char *expected)
{
	struct rg_json *json = read_text(rg_str(text));
	struct rg_buf out;
	bool same;

	rg_buf_init(&out, SIZE_MAX);
	rg_json_print(rg_json_root(json), &out);
	same = !out.failed && rg_str_is(rg_buf_str(&out), expected);
	rg_buf_deinit(&out);
	rg_json_free(json);
	return same;
}

static void prints_what_it_read(void **state)
{
	(void)state;
	assert_true(prints("null", "null"));
	assert_true(prints(" [ true , false ] \n", "[true,false]"));
	assert_true(prints("{\"b\": 1, \"a\": {\"c\": []}}", "{\"b\":1,\"a\":{\"c\":[]}}"));
	assert_true(prints("\"\\u00fc\\n\\/\"", "\"\xc3\xbc\\n/\""));
	assert_true(prints("\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""));
}

/* What roger does not understand leaves as it came. */
static void numbers_keep_their_digits(void **state)
{
	static const char *const numbers[] = { "0",
					       "-0",
					       "1.0",
					       "1e400",
					       "-1E-5",
					       "3.141592653589793238462643383279502884",
					       "123456789012345678901234567890",
					       "18446744073709551616" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		assert_true(prints(numbers[i], numbers[i]));
}

static int64_t whole(const char *text)
{
	struct rg_json *json = read_text(rg_str(text));
	int64_t number = -99;
	bool is_whole = rg_json_int(rg_json_root(json), &number);

	rg_json_free(json);
	return is_whole ? number : -99;
}

static void reads_whole_numbers_only(void **state)
{
	(void)state;
	assert_int_equal(whole("0"), 0);
	assert_int_equal(whole("-5"), -5);
	assert_int_equal(whole("1736328000000"), 1736328000000);
	assert_int_equal(whole("9223372036854775807"), INT64_MAX);
	assert_int_equal(whole("9223372036854775808"), -99);
	assert_int_equal(whole("123456789012345678901234567890"), -99);
	assert_int_equal(whole("1.0"), -99);
	assert_int_equal(whole("1e3"), -99);
	assert_int_equal(whole("\"1\""), -99);
	assert_int_equal(whole("true"), -99);
	assert_int_equal(whole("null"), -99);
	assert_int_equal(whole("[1]"), -99);
}

static void refuses_what_is_no_json(void **state)
{
	(void)state;
	assert_true(refused(RG_STR("")));
	assert_true(refused((struct roger_str){ NULL, 0 }));
	assert_true(refused(RG_STR(" \n")));
	assert_true(refused(RG_STR("{\"a\":1} x")));
	assert_true(refused(RG_STR("{}{}")));
	assert_true(refused(RG_STR("{\"a\":1,}")));
	assert_true(refused(RG_STR("[1,]")));
	assert_true(refused(RG_STR("{a:1}")));
	assert_true(refused(RG_STR("{'a':1}")));
	assert_true(refused(RG_STR("// no\n1")));
	assert_true(refused(RG_STR("NaN")));
	assert_true(refused(RG_STR("-Infinity")));
	assert_true(refused(RG_STR("01")));
	assert_true(refused(RG_STR("+1")));
	assert_true(refused(RG_STR("\"torn")));
	assert_true(refused(RG_STR("{\"a\":")));
	assert_true(refused(RG_STR("\xef\xbb\xbf{}")));
	assert_true(refused(RG_STR("\xff\xfe{\0}\0")));
}

static void refuses_broken_text(void **state)
{
	(void)state;
	assert_true(refused(RG_STR("\"a\0b\"")));
	assert_true(refused(RG_STR("{}\0")));
	assert_true(refused(RG_STR("\"\xff\"")));
	assert_true(refused(RG_STR("\"\xc0\x80\"")));
	assert_true(refused(RG_STR("\"\xed\xa0\x80\"")));
	assert_true(refused(RG_STR("{\"\xe6\x97\":1}")));
	assert_true(refused(RG_STR("\"\\ud800\"")));
	assert_true(refused(RG_STR("\"\\udc00\\ud800\"")));
	assert_true(refused(RG_STR("\"line\nbreak\"")));
	assert_true(refused(RG_STR("\"\\x41\"")));
}

/* ---------------------------------------------------------------- twice -- */

static void refuses_members_that_come_twice(void **state)
{
	(void)state;
	assert_true(refused(RG_STR("{\"read\":false,\"read\":true}")));
	assert_true(refused(RG_STR("{\"a\":1,\"b\":2,\"\\u0061\":3}")));
	assert_true(refused(RG_STR("{\"\":1,\"\":2}")));
	assert_true(refused(RG_STR("[{\"a\":{\"b\":[{\"c\":1,\"c\":1}]}}]")));
	rg_json_free(read_text(RG_STR("{\"a\":{\"a\":{\"a\":1}},\"A\":1,\"a\\u0000\":1}")));
}

/* Members m0, m1, ... in another order, and one more at the end. */
static void many_members(struct rg_buf *text, int count, int last)
{
	int i;

	rg_buf_clear(text);
	for (i = 0; i < count; i++)
		rg_buf_printf(text, "%s\"m%d\":%d", i ? "," : "{", (i * 101) % count, i);
	rg_buf_printf(text, ",\"m%d\":0}", last);
}

/* Many members are compared in another way than few. */
static void refuses_twice_among_many(void **state)
{
	struct rg_buf text;
	int count, twice;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	for (count = 20; count < 30; count++) {
		many_members(&text, count, count);
		rg_json_free(read_text(rg_buf_str(&text)));
		for (twice = 0; twice < count; twice++) {
			many_members(&text, count, twice);
			assert_true(refused(rg_buf_str(&text)));
		}
	}
	rg_buf_deinit(&text);
}

static void nested(struct rg_buf *text, int depth, char open, char close)
{
	int i;

	for (i = 0; i < depth; i++) {
		rg_buf_add_char(text, open);
		if (open == '{')
			rg_buf_add_text(text, "\"a\":");
	}
	rg_buf_add_char(text, '1');
	for (i = 0; i < depth; i++)
		rg_buf_add_char(text, close);
}

static void bounds_depth(void **state)
{
	struct rg_buf text;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	nested(&text, RG_JSON_DEPTH_MAX, '[', ']');
	rg_json_free(read_text(rg_buf_str(&text)));
	rg_buf_clear(&text);
	nested(&text, RG_JSON_DEPTH_MAX, '{', '}');
	rg_json_free(read_text(rg_buf_str(&text)));

	rg_buf_clear(&text);
	nested(&text, RG_JSON_DEPTH_MAX + 1, '[', ']');
	assert_true(refused(rg_buf_str(&text)));
	rg_buf_clear(&text);
	nested(&text, RG_JSON_DEPTH_MAX + 1, '{', '}');
	assert_true(refused(rg_buf_str(&text)));
	rg_buf_clear(&text);
	nested(&text, 1000000, '[', ']');
	assert_true(refused(rg_buf_str(&text)));
	rg_buf_deinit(&text);
}

/* A marker stands in for content at every place an error could copy it from. */
static void errors_tell_no_content(void **state)
{
	static const char *const texts[] = {
		"{\"content\":\"MARKER\",}",
		"\"MARKER",
		"\"MARKER\" MARKER",
		"[\"MARKER\",MARKER]",
		"\"MARKER\xff\"",
		"{\"a\":\"MARKER\",\"a\":\"MARKER\"}",
		"{\"a\":\"MARKER\"}{\"a\":\"MARKER\"}",
	};
	struct rg_json *json;
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_equal(rg_json_read(rg_str(texts[i]), &json, &err), ROGER_EDATA);
		assert_null(strstr(err.message, "MARKER"));
	}
}

/* The name of a member is foreign text too: an error stays one printable line. */
static void errors_stay_one_line(void **state)
{
	struct rg_json *json;
	struct roger_err err;

	(void)state;
	assert_int_equal(
		rg_json_read(RG_STR("{\"\\n\\u001b[2J\":1,\"\\n\\u001b[2J\":2}"), &json, &err),
		ROGER_EDATA);
	assert_null(strpbrk(err.message, "\n\x1b"));
}

/* ----------------------------------------------------------------- walk -- */

static void walks_in_order(void **state)
{
	struct rg_json *json =
		read_text(RG_STR("{\"a\":[1,[2,3],{\"x\":4}],\"b\":{},\"c\":\"t\"}"));
	const struct rg_value *root = rg_json_root(json), *value = NULL, *item = NULL;
	struct roger_str key, none;
	size_t i = 0, j = 0;

	(void)state;
	assert_true(rg_json_next(root, &i, &key, &value) && rg_str_is(key, "a"));
	assert_int_equal(rg_json_kind(value), RG_JSON_ARRAY);
	assert_true(rg_json_next(value, &j, &none, &item) && rg_json_kind(item) == RG_JSON_NUMBER);
	assert_true(rg_json_next(value, &j, &none, &item) && rg_json_kind(item) == RG_JSON_ARRAY);
	assert_true(rg_json_next(value, &j, &none, &item) && rg_json_kind(item) == RG_JSON_OBJECT);
	assert_false(rg_json_next(value, &j, &none, &item));

	assert_true(rg_json_next(root, &i, &key, &value) && rg_str_is(key, "b"));
	j = 0;
	assert_false(rg_json_next(value, &j, &none, &item));
	assert_true(rg_json_next(root, &i, &key, &value) && rg_str_is(key, "c"));
	assert_true(rg_str_is(rg_json_str(value), "t"));
	assert_false(rg_json_next(root, &i, &key, &value));

	assert_ptr_equal(rg_json_member(root, "c"), value);
	assert_null(rg_json_member(root, "d"));
	assert_null(rg_json_member(value, "c"));
	rg_json_free(json);
}

static void scalars_have_nothing_to_walk(void **state)
{
	struct rg_json *json = read_text(RG_STR("[\"text\",17,null,true,false]"));
	const struct rg_value *item = NULL, *inner = NULL;
	struct roger_str key;
	size_t i = 0, j;

	(void)state;
	while (rg_json_next(rg_json_root(json), &i, &key, &item)) {
		j = 0;
		assert_false(rg_json_kind(item) >= RG_JSON_ARRAY);
		if (rg_json_next(item, &j, &key, &inner))
			fail_msg("%s holds something", rg_json_kind_name(rg_json_kind(item)));
	}
	rg_json_free(json);
}

/* -------------------------------------------------------------- writing -- */

static void check_string(struct roger_str text)
{
	struct rg_json *json;
	struct rg_buf out;

	rg_buf_init(&out, SIZE_MAX);
	rg_json_add_string(&out, text);
	assert_false(out.failed);
	assert_null(memchr(out.data, '\n', out.length));
	json = read_text(rg_buf_str(&out));
	assert_true(rg_str_equal(rg_json_str(rg_json_root(json)), text));
	rg_json_free(json);
	rg_buf_deinit(&out);
}

static void strings_read_back_as_themselves(void **state)
{
	char text[33];
	size_t at, c;

	(void)state;
	check_string(RG_STR(""));
	check_string(RG_STR("\"\\/\b\f\n\r\t"));
	check_string(RG_STR("gr\xc3\xbc\xc3\x9f \xf0\x9f\x92\xbb \xe2\x80\xa8"));
	for (c = 0; c < 0x80; c++) {
		for (at = 0; at < sizeof text; at++) {
			memset(text, 'a', sizeof text);
			text[at] = (char)c;
			check_string((struct roger_str){ text, sizeof text });
			check_string((struct roger_str){ text, at + 1 });
		}
	}
}

static void keys_get_commas_where_due(void **state)
{
	struct rg_buf out;

	(void)state;
	rg_buf_init(&out, SIZE_MAX);
	rg_buf_add_char(&out, '{');
	rg_json_add_key(&out, RG_STR("a"));
	rg_buf_add_char(&out, '{');
	rg_json_add_key(&out, RG_STR("b\"{"));
	rg_buf_add_text(&out, "1}");
	rg_json_add_key(&out, RG_STR("c"));
	rg_buf_add_text(&out, "2}");
	assert_true(rg_str_is(rg_buf_str(&out), "{\"a\":{\"b\\\"{\":1},\"c\":2}"));
	rg_buf_deinit(&out);
}

static void free_takes_nothing(void **state)
{
	struct rg_json *json = read_text(RG_STR("1"));

	(void)state;
	assert_null(rg_json_free(NULL));
	rg_json_freep(&json);
	assert_null(json);
	rg_json_freep(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_what_it_read),
		cmocka_unit_test(numbers_keep_their_digits),
		cmocka_unit_test(reads_whole_numbers_only),
		cmocka_unit_test(refuses_what_is_no_json),
		cmocka_unit_test(refuses_broken_text),
		cmocka_unit_test(refuses_members_that_come_twice),
		cmocka_unit_test(refuses_twice_among_many),
		cmocka_unit_test(bounds_depth),
		cmocka_unit_test(errors_tell_no_content),
		cmocka_unit_test(errors_stay_one_line),
		cmocka_unit_test(walks_in_order),
		cmocka_unit_test(scalars_have_nothing_to_walk),
		cmocka_unit_test(strings_read_back_as_themselves),
		cmocka_unit_test(keys_get_commas_where_due),
		cmocka_unit_test(free_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
