/*
 * What data/json_edit.h promises: an edit changes its place and not a byte
 * more, in every layout that people write; done twice it is done once; cut
 * takes away what set and add put there; what is no JSON is refused by its
 * line, and nothing is ever read beyond the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "data/json_edit.h"

enum way { SET, ADD, CUT };

struct edit_case {
	enum way way;
	const char *before;
	const char *path; /* names with a slash between them */
	const char *value;
	const char *mark;
	const char *after;
};

static const struct edit_case cases[] = {
	/* Empty ones, and those not there. */
	{ SET, "", "a", "1", "", "{\n  \"a\": 1\n}\n" },
	{ SET, " \n\n", "a", "1", "", "{\n  \"a\": 1\n}\n" },
	{ SET, "{}", "a", "1", "", "{\n  \"a\": 1\n}" },
	{ SET, "{ }\n", "a/b", "1", "", "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n" },
	{ SET, "{\n}\n", "a", "{\"b\": [1]}", "", "{\n  \"a\": {\"b\": [1]}\n}\n" },
	{ ADD, "", "a/b", "{\"c\":\"m\"}", "m",
	  "{\n  \"a\": {\n    \"b\": [\n      {\"c\":\"m\"}\n    ]\n  }\n}\n" },
	/* Before what is there: its indent, its line ends. */
	{ SET, "{\n\t\"x\": 1\n}\n", "a", "2", "", "{\n\t\"a\": 2,\n\t\"x\": 1\n}\n" },
	{ SET, "{\n    \"x\": 1\n}\n", "a/b", "2", "",
	  "{\n    \"a\": {\n      \"b\": 2\n    },\n    \"x\": 1\n}\n" },
	{ SET, "{\r\n  \"x\": 1\r\n}\r\n", "a", "2", "",
	  "{\r\n  \"a\": 2,\r\n  \"x\": 1\r\n}\r\n" },
	{ SET, "{\r\n  \"x\": {}\r\n}\r\n", "x/b", "2", "",
	  "{\r\n  \"x\": {\r\n    \"b\": 2\r\n  }\r\n}\r\n" },
	{ SET, "{\"x\": 1}", "a/b", "[1]", "", "{\"a\": {\"b\": [1]}, \"x\": 1}" },
	{ SET, "\xef\xbb\xbf{\n  \"x\": 1\n}\n", "a", "2", "",
	  "\xef\xbb\xbf{\n  \"a\": 2,\n  \"x\": 1\n}\n" },
	{ SET, "{\n  \"a\": {\n    \"x\": {}\n  },\n  \"z\": 0\n}\n", "a/b", "1", "",
	  "{\n  \"a\": {\n    \"b\": 1,\n    \"x\": {}\n  },\n  \"z\": 0\n}\n" },
	{ SET, "{\n  \"a\": {},\n  \"z\": 0\n}\n", "a/b", "1", "",
	  "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"z\": 0\n}\n" },
	/* Comments, and commas at the end. */
	{ SET, "// {\n{ // here\n  \"x\": 1, // \"a\": 3\n  /* , } */\n}\n", "a", "2", "",
	  "// {\n{ // here\n  \"a\": 2,\n  \"x\": 1, // \"a\": 3\n  /* , } */\n}\n" },
	{ SET, "{\n  // nothing\n}\n", "a", "2", "", "{\n  \"a\": 2\n  // nothing\n}\n" },
	{ SET, "{ // nothing\n}\n", "a", "2", "", "{\n  \"a\": 2 // nothing\n}\n" },
	{ SET, "{\n  /* one */ \"x\": 1,\n}\n", "a", "2", "",
	  "{\n  /* one */ \"a\": 2, \"x\": 1,\n}\n" },
	{ SET, "{\"x\": 1 /* a, b */,}", "a", "2", "", "{\"a\": 2, \"x\": 1 /* a, b */,}" },
	{ SET, "// x\r{\r\"x\": 1}", "a", "2", "", "// x\r{\r\"a\": 2, \"x\": 1}" },
	/* In place of what is there, and only then. */
	{ SET, "{\n  \"a\": 1, \"z\": 2\n}\n", "a", "3", "", "{\n  \"a\": 3, \"z\": 2\n}\n" },
	{ SET, "{\"a\": { \"b\" : [ 1,2 ] } }", "a", "{\"b\":[1,2]}", "",
	  "{\"a\": { \"b\" : [ 1,2 ] } }" },
	{ SET, "{\"a\": \"x y\"}", "a", "\"xy\"", "", "{\"a\": \"xy\"}" },
	{ SET, "{\"a\": \"x\\\" y\"}", "a", "\"x\\\" y\"", "", "{\"a\": \"x\\\" y\"}" },
	{ SET, "{\"a/b\": 1, \"a\\\"\": 2}", "a", "3", "", "{\"a\": 3, \"a/b\": 1, \"a\\\"\": 2}" },
	/* Names that need escapes, and some that have them without need. */
	{ SET, "{\"x\": 1}", "a\"b\\c", "2", "", "{\"a\\\"b\\\\c\": 2, \"x\": 1}" },
	{ SET, "{\"a\\\"b\": {}}", "a\"b/c", "2", "", "{\"a\\\"b\": {\n  \"c\": 2\n}}" },
	{ SET, "{\"\\u0061\": 1}", "a", "2", "", "{\"\\u0061\": 2}" },
	/* Elements. */
	{ ADD, "{\"a\": []}", "a", "\"m\"", "m", "{\"a\": [\n  \"m\"\n]}" },
	{ ADD, "{\"a\": [\"x\"]}", "a", "\"m\"", "m", "{\"a\": [\"m\", \"x\"]}" },
	{ ADD, "{\"a\": [\"x\", \"m 1\", \"y\"]}", "a", "\"m 2\"", "m",
	  "{\"a\": [\"x\", \"m 2\", \"y\"]}" },
	{ ADD, "{\"a\": [\"m\"]}", "a", "\"m\"", "m", "{\"a\": [\"m\"]}" },
	{ ADD, "{\n  \"a\": [\n    {\n      \"x\": 1\n    }\n  ]\n}\n", "a", "{\"y\":\"m\"}", "m",
	  "{\n  \"a\": [\n    {\"y\":\"m\"},\n    {\n      \"x\": 1\n    }\n  ]\n}\n" },
	/* Away again. */
	{ CUT, "{\n  \"x\": 1,\n  \"a\": 2\n}\n", "a", NULL, "", "{\n  \"x\": 1\n}\n" },
	{ CUT, "{\n  \"a\": 2,\n  \"x\": 1\n}\n", "a", NULL, "", "{\n  \"x\": 1\n}\n" },
	{ CUT, "{\n  \"a\": 2\n}\n", "a", NULL, "", "{}\n" },
	{ CUT, "{\n  \"a\": 2\n}\n", "b", NULL, "", "{\n  \"a\": 2\n}\n" },
	{ CUT, "{\n  \"a\": 2\n}\n", "a/b", NULL, "", NULL },
	{ CUT, "{\"a\": [\"x\", \"m\", \"y\"]}", "a", NULL, "m", "{\"a\": [\"x\", \"y\"]}" },
	{ CUT, "{\"a\": [\"m\"]}", "a", NULL, "m", "{\"a\": []}" },
	{ CUT, "", "a", NULL, "", "" },
	/* What is refused. */
	{ SET, "[]", "a", "1", "", NULL },
	{ SET, "{\"a\": 1", "a", "1", "", NULL },
	{ SET, "{\"a\": 1} x", "a", "1", "", NULL },
	{ SET, "{\"a\" 1}", "a", "1", "", NULL },
	{ SET, "{\"a\": }", "a", "1", "", NULL },
	{ SET, "{\"x\": 1 \"a\": 2}", "a", "1", "", NULL },
	{ SET, "{,}", "a", "1", "", NULL },
	{ SET, "{\"x\": \"y}", "a", "1", "", NULL },
	{ SET, "{ /* }", "a", "1", "", NULL },
	{ SET, "{\"a\": []}", "a/b", "1", "", NULL },
	{ SET, "{\"a\": \"{\"}", "a/b", "1", "", NULL },
	{ ADD, "{\"a\": {}}", "a", "1", "m", NULL },
	{ SET, "{\"a\": 1, \"a\": 2}", "a", "3", "", NULL },
	{ ADD, "{\"a\": {}, \"x\": {\"a\": 1}, \"\\u0061\": {}}", "a/b", "1", "m", NULL },
};

static struct roger_strs split(const char *path, struct roger_str *items)
{
	struct roger_strs strs = { items, 0 };
	const char *end;

	for (;; path = end + 1) {
		end = strchr(path, '/');
		items[strs.count++] =
			end ? (struct roger_str){ path, (size_t)(end - path) } : rg_str(path);
		if (!end)
			return strs;
	}
}

static int make_edit(const struct edit_case *one, struct roger_str text, struct rg_arena *arena,
		     struct rg_json_edit *edit, struct roger_err *err)
{
	struct roger_str items[8];
	struct roger_strs path = split(one->path, items);
	struct rg_json_spot spot;
	int r;

	r = rg_json_spot_find(text, &path, rg_str(one->mark), &spot, err);
	if (r < 0)
		return r;
	if (one->way != CUT)
		return rg_json_spot_put(&spot, rg_str(one->value), arena, edit, err);
	*edit = rg_json_spot_cut(&spot);
	return ROGER_OK;
}

/* On memory of exactly that size with its NUL, so that a sanitizer sees a step too far. */
static void check(const struct edit_case *one, const char *before, const char *after)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_buf out = { .maximum = SIZE_MAX };
	char *exact = malloc(strlen(before) + 1);
	struct roger_str text = { exact, strlen(before) };
	struct rg_json_edit edit;
	struct roger_err err;
	int r;

	memcpy(exact, before, text.length + 1);
	r = make_edit(one, text, arena, &edit, &err);
	if (!after) {
		assert_int_equal(r, ROGER_EDATA);
		assert_non_null(strstr(err.message, "line "));
	} else {
		if (r < 0)
			fail_msg("%s: %s", before, err.message);
		rg_json_edit_apply(text, &edit, &out);
		rg_buf_add_char(&out, 0);
		assert_string_equal(out.data, after);
	}
	rg_buf_deinit(&out);
	free(exact);
	rg_arena_free(arena);
}

static void test_cases(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		check(&cases[i], cases[i].before, cases[i].after);
		if (cases[i].after && cases[i].way != CUT) /* once is enough */
			check(&cases[i], cases[i].after, cases[i].after);
	}
}

/* Every beginning of a text is refused or edited; never read beyond. */
static void test_torn(void **state)
{
	size_t i, length;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++)
		for (length = 0; length < strlen(cases[i].before); length++) {
			char *exact = malloc(length + 1);
			struct roger_str start = { exact, length };
			struct rg_arena *arena = rg_arena_new();
			struct rg_json_edit edit;
			struct roger_err err;

			memcpy(exact, cases[i].before, length);
			exact[length] = '\0';
			if (make_edit(&cases[i], start, arena, &edit, &err) == ROGER_OK)
				assert_true(edit.offset + edit.length <= length);
			free(exact);
			rg_arena_free(arena);
		}
}

static void test_depth(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str item = RG_STR("a");
	struct roger_strs path = { &item, 1 };
	struct rg_json_spot spot;
	struct roger_err err;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++)
		rg_buf_add_text(&text, "{\"a\":[");
	rg_buf_add_char(&text, '\0');
	text.length--;
	assert_int_equal(rg_json_spot_find(rg_buf_str(&text), &path, RG_STR(""), &spot, &err),
			 ROGER_EDATA);
	assert_non_null(strstr(err.message, "not JSON"));
	rg_buf_deinit(&text);
	rg_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
