/*
 * What mcp/schema.h promises: every keyword of the list accepts and refuses what
 * JSON Schema 2020-12 says, with a sentence that names the member and what was
 * expected; other keywords say nothing; schemas that are none are refused; no
 * schema, however it turns on itself, takes for ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "schema.h"

/* "" where the value fits, else the sentence. */
static const char *judge(const char *schema_text, const char *value_text)
{
	static struct roger_err err;
	struct rg_json *schema = NULL, *value = NULL;
	int r;

	assert_int_equal(rg_json_read(rg_str(schema_text), &schema, NULL), ROGER_OK);
	assert_int_equal(rg_json_read(rg_str(value_text), &value, NULL), ROGER_OK);
	r = rg_schema_accept(rg_json_root(schema), rg_json_root(value), false, &err);
	rg_json_free(schema);
	rg_json_free(value);
	return r < 0 ? err.message : "";
}

/* A schema, a value, the sentence. */
static void check_all(const char *const (*cases)[3], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		print_message("# %s %s\n", cases[i][0], cases[i][1]);
		assert_string_equal(judge(cases[i][0], cases[i][1]), cases[i][2]);
	}
}

#define CHECK_ALL(cases) check_all(cases, sizeof cases / sizeof *cases)

static void types_are_kept(void **state)
{
	static const char *const kinds[] = { "null",   "boolean", "number", "integer",
					     "string", "array",	  "object" };
	static const char *const values[] = { "null", "true", "false", "1",  "1.0",
					      "1e2",  "1.5",  "\"x\"", "[]", "{}" };
	/* Which kinds take which value. */
	static const char *const taken[] = {
		"1000000", "0100000", "0100000", "0011000", "0011000",
		"0011000", "0010000", "0000100", "0000010", "0000001"
	};
	char schema[64];
	size_t kind, value;

	(void)state;
	for (kind = 0; kind < 7; kind++)
		for (value = 0; value < 10; value++) {
			snprintf(schema, sizeof schema, "{\"type\":\"%s\"}", kinds[kind]);
			assert_int_equal(judge(schema, values[value])[0] == 0,
					 taken[value][kind] == '1');
		}
	assert_string_equal(judge("{\"type\":[\"string\",\"null\"]}", "null"), "");
	assert_string_equal(judge("{\"type\":[\"string\",\"integer\"]}", "[]"),
			    "the value is an array; expected a string or an integer");
	assert_string_equal(judge("{}", "[1]"), "");
	assert_string_equal(judge("true", "[1]"), "");
	assert_string_equal(judge("false", "[1]"), "the value must not be there");
}

/* An object of two texts and nothing else. */
#define CLOSED(required)                                                                           \
	"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}},\"required\":"  \
	"[" required "],\"additionalProperties\":false}"

static void members_are_kept(void **state)
{
	static const char *const cases[][3] = {
		{ "{\"required\":[\"a\"]}", "{\"a\":null}", "" },
		{ "{\"required\":[\"a\"]}", "{\"b\":1}", "'a' is missing; expected a value" },
		/* What is missing may be there under another name. */
		{ CLOSED("\"a\""), "{\"text\":\"x\"}", "'text' is not known; did you mean 'a'?" },
		{ CLOSED("\"a\""), "{\"text\":1}", "'a' is missing; expected a string" },
		{ CLOSED("\"a\",\"b\""), "{\"text\":\"x\"}", "'a' is missing; expected a string" },
		{ CLOSED("\"a\""), "{\"text\":\"x\",\"more\":1}",
		  "'text' is not known; known are a, b" },
		{ "{\"required\":[\"a\"]}", "[]", "" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"who\"}},"
		  "\"required\":[\"a\"]}",
		  "{}", "'a' is missing; expected a string (who)" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[\"b\",\"c\"]}},"
		  "\"required\":[\"a\"]}",
		  "{}", "'a' is missing; expected a string of [\"b\",\"c\"]" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}",
		  "'a' is a number; expected a string" },
		{ "{\"properties\":{\"a\":{\"properties\":{\"b\":{\"items\":{\"type\":\"string\"}}}"
		  "}}}",
		  "{\"a\":{\"b\":[\"x\",2]}}", "'a.b[1]' is a number; expected a string" },
		{ "{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"a\":1}", "" },
		{ "{\"properties\":{\"name\":true},\"additionalProperties\":false}", "{\"nmae\":1}",
		  "'nmae' is not known; did you mean 'name'?" },
		{ "{\"properties\":{\"one\":true,\"two\":true},\"additionalProperties\":false}",
		  "{\"something\":1}", "'something' is not known; known are one, two" },
		{ "{\"additionalProperties\":false}", "{\"x\":1}",
		  "'x' is not known; leave it out" },
		{ "{\"additionalProperties\":{\"type\":\"integer\"}}", "{\"x\":\"1\"}",
		  "'x' is a string; expected an integer" },
		{ "{\"additionalProperties\":true}", "{\"x\":1}", "" },
		{ "{\"properties\":{\"x\":false}}", "{\"x\":1}", "'x' must not be there" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void values_are_kept(void **state)
{
	static const char *const cases[][3] = {
		{ "{\"enum\":[\"a\",1,null]}", "\"a\"", "" },
		{ "{\"enum\":[\"a\",1,null]}", "1.0", "" },
		{ "{\"enum\":[\"a\",1,null]}", "\"b\"",
		  "the value is none of these: \"a\", 1, null" },
		{ "{\"enum\":[{\"a\":1}]}", "{\"a\":1}", "" },
		{ "{\"const\":5}", "5", "" },
		{ "{\"const\":5}", "6", "the value is not what it must be: 5" },
		{ "{\"minimum\":1}", "0", "the value is too small; expected 1 or more" },
		{ "{\"minimum\":1}", "1", "" },
		{ "{\"minimum\":1}", "\"0\"", "" },
		{ "{\"maximum\":2.5}", "2.6", "the value is too large; expected 2.5 or less" },
		{ "{\"exclusiveMinimum\":1}", "1", "the value is too small; expected more than 1" },
		{ "{\"exclusiveMaximum\":1}", "1", "the value is too large; expected less than 1" },
		{ "{\"minLength\":1}", "\"\"", "the value is empty; expected some text" },
		{ "{\"minLength\":3}", "\"ab\"", "the value has 2 characters; expected 3 or more" },
		{ "{\"maxLength\":2}", "\"\xc3\xa4\xf0\x9f\x90\xb8\"", "" },
		{ "{\"maxLength\":1}", "\"\xc3\xa4\xf0\x9f\x90\xb8\"",
		  "the value has 2 characters; expected 1 at most" },
		{ "{\"minItems\":1}", "[]", "the value has 0 items; expected 1 or more" },
		{ "{\"maxItems\":1}", "[1,2]", "the value has 2 items; expected 1 at most" },
		{ "{\"items\":{\"type\":\"string\"}}", "[\"a\",null]",
		  "'[1]' is null; expected a string" },
		{ "{\"pattern\":\"^x$\",\"format\":\"email\",\"x-mcp-header\":\"A\"}", "\"y\"",
		  "" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void forms_are_kept(void **state)
{
	static const char *const cases[][3] = {
		{ "{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "2", "" },
		{ "{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "4",
		  "the value is too large; expected 3 or less" },
		{ "{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":3}]}", "\"x\"", "" },
		{ "{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":3}]}", "1",
		  "the value fits none of the forms it may have (anyOf)" },
		{ "{\"oneOf\":[{\"minimum\":1},{\"minimum\":3}]}", "2", "" },
		{ "{\"oneOf\":[{\"minimum\":1},{\"minimum\":3}]}", "4",
		  "the value must fit exactly one of the forms it may have (oneOf)" },
		{ "{\"not\":{\"type\":\"string\"}}", "1", "" },
		{ "{\"not\":{\"type\":\"string\"}}", "\"x\"",
		  "the value has a form it must not have (not)" },
		{ "{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},\"else\":{"
		  "\"required\":[\"c\"]}}",
		  "{\"a\":1}", "'b' is missing; expected a value" },
		{ "{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},\"else\":{"
		  "\"required\":[\"c\"]}}",
		  "{}", "'c' is missing; expected a value" },
		{ "{\"if\":{\"required\":[\"a\"]}}", "{}", "" },
		{ "{\"$defs\":{\"n\":{\"type\":\"integer\"}},\"properties\":{\"a\":{\"$ref\":\"#/"
		  "$defs/n\"}}}",
		  "{\"a\":\"x\"}", "'a' is a string; expected an integer" },
		{ "{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"additionalProperties\":false}",
		  "{\"a\":{\"a\":{\"b\":1}}}", "'a.a.b' is not known; known are a" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void it_ends(void **state)
{
	static const char twist[] = "{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/"
				    "a\"},{\"$ref\":\"#/$defs/a\"}]}},"
				    "\"$ref\":\"#/$defs/a\"}";

	(void)state;
	assert_int_not_equal(judge("{\"$ref\":\"#\"}", "1")[0], 0);
	assert_int_not_equal(judge(twist, "1")[0], 0);
	assert_int_not_equal(judge("{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1")[0], 0);
}

static const char *refused(const char *text)
{
	static struct roger_err err;
	struct rg_json *schema = NULL;
	int r;

	assert_int_equal(rg_json_read(rg_str(text), &schema, NULL), ROGER_OK);
	r = rg_schema_check(rg_json_root(schema), &err);
	rg_json_free(schema);
	return r < 0 ? err.message : "";
}

static void schemas_are_checked(void **state)
{
	static const char *const bad[] = {
		"[]",
		"{}",
		"{\"type\":\"string\"}",
		"{\"type\":[\"object\"]}",
		"{\"type\":\"object\",\"properties\":{\"a\":1}}",
		"{\"type\":\"object\",\"items\":[]}",
		"{\"type\":\"object\",\"allOf\":[1]}",
		"{\"type\":\"object\",\"$ref\":\"#/$defs/none\"}",
		"{\"type\":\"object\",\"$ref\":\"https://example.com/schema\"}",
		"{\"type\":\"object\",\"$ref\":\"#/\"}",
		"{\"type\":\"object\",\"if\":\"x\"}",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_not_equal(refused(bad[i])[0], 0);
	assert_string_equal(refused("{\"type\":\"object\"}"), "");
	assert_string_equal(
		refused("{\"type\":\"object\",\"additionalProperties\":true,\"properties\":"
			"{\"a\":{\"$ref\":\"#\"},\"b\":false}}"),
		"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_kept),  cmocka_unit_test(members_are_kept),
		cmocka_unit_test(values_are_kept), cmocka_unit_test(forms_are_kept),
		cmocka_unit_test(it_ends),	   cmocka_unit_test(schemas_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
