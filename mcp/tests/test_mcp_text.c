/*
 * What mcp/base64.h, mcp/uri.h, mcp/headers.h and mcp/wire.h promise: bytes come
 * back as they were and bad base64 does not; which uris a template stands for;
 * which hosts and origins are ours; which headers agree with the body; what is a
 * message of JSON-RPC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base64.h"
#include "headers.h"
#include "uri.h"
#include "wire.h"

static void base64_comes_back(void **state)
{
	unsigned char bytes[300];
	struct rg_buf text, back;
	size_t length, i;

	(void)state;
	for (i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 167 + 13);
	rg_buf_init(&text, SIZE_MAX);
	rg_buf_init(&back, SIZE_MAX);
	for (length = 0; length <= sizeof bytes; length++) {
		rg_buf_clear(&text);
		rg_buf_clear(&back);
		rg_base64_add(&text, bytes, length);
		assert_int_equal(text.length, (length + 2) / 3 * 4);
		assert_true(rg_base64_read(rg_buf_str(&text), &back));
		assert_int_equal(back.length, length);
		assert_memory_equal(back.data, bytes, length);
	}
	rg_buf_clear(&text);
	rg_base64_add(&text, "Hello", 5);
	assert_true(rg_str_is(rg_buf_str(&text), "SGVsbG8="));
	rg_buf_deinit(&text);
	rg_buf_deinit(&back);
}

static void bad_base64_is_refused(void **state)
{
	static const char *const bad[] = { "SGVsbG8",  "SGVsbG8==", "SGVs!!!bG8=", "=",
					   "====",     "A===",	    "AB==CD==",	   "SGVsbG9=",
					   "SGVsbG8 ", "SG\nVs",    "AB=C" };
	struct rg_buf out;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		rg_buf_init(&out, SIZE_MAX);
		assert_false(rg_base64_read(rg_str(bad[i]), &out));
		rg_buf_deinit(&out);
	}
}

/* "name=value name=value", or "no". */
static const char *match(const char *template, const char *uri)
{
	static char told[256];
	struct rg_arena *arena = rg_arena_new();
	struct rg_uri_names names;
	size_t i, at = 0;

	snprintf(told, sizeof told, "no");
	if (rg_uri_match(rg_str(template), rg_str(uri), arena, &names)) {
		told[0] = 0;
		for (i = 0; i < names.count; i++)
			at += (size_t)snprintf(told + at, sizeof told - at, "%s%.*s=%.*s",
					       i ? " " : "", RG_STR_ARGS(names.name[i]),
					       RG_STR_ARGS(names.value[i]));
	}
	rg_arena_free(arena);
	return told;
}

static void templates_match(void **state)
{
	(void)state;
	assert_string_equal(match("a://b/{x}", "a://b/c"), "x=c");
	assert_string_equal(match("a://b/{x}", "a://b/c%20d%2fe"), "x=c d/e");
	assert_string_equal(match("a://b/{x}", "a://b/\xc3\xa4:@-._~"), "x=\xc3\xa4:@-._~");
	assert_string_equal(match("a://{x}/d/{y}", "a://1/d/2"), "x=1 y=2");
	assert_string_equal(match("a://{x}-{y}", "a://1-2-3"), "x=1 y=2-3");
	assert_string_equal(match("a://b", "a://b"), "");
	assert_string_equal(match("a://b/{x}", "a://b/"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/c/d"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/c?d"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/c#d"), "no");
	assert_string_equal(match("a://b/{x}/y", "a://b/c/z"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/%"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/%4"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/%gg"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/%00"), "no");
	assert_string_equal(match("a://b/{x}", "a://b/%ff"), "no");
	assert_string_equal(match("a://b/{x}", "A://b/c"), "no");
	assert_string_equal(match("a://b/{x}", ""), "no");
}

static void templates_are_checked(void **state)
{
	static const char *const good[] = { "a:b", "a://b/{x}", "a://{x}/{y_2}", "a:{X}" };
	static const char *const bad[] = {
		"",	   "ab",      "a:{x}{y}", "a:{x}/{x}",
		"a:{",	   "a:{}",    "a:{x",	  "a:}",
		"a:{x y}", "a:{x-y}", "a:\xff",	  "a:{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}"
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good / sizeof *good; i++)
		assert_int_equal(rg_uri_check(rg_str(good[i]), NULL), ROGER_OK);
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rg_uri_check(rg_str(bad[i]), NULL), ROGER_EDATA);
}

/* The id and form of a message, or the code of the error. */
static const char *read_as(const char *text)
{
	static char told[128];
	static const char *const forms[] = { "request", "notification", "response" };
	struct rg_arena *arena = rg_arena_new();
	struct rg_mcp_message message;
	struct roger_err err = { 0 };
	int code = rg_mcp_read(rg_str(text), arena, &message, &err);

	if (code < 0)
		snprintf(told, sizeof told, "%d %.*s", code, RG_STR_ARGS(message.id));
	else
		snprintf(told, sizeof told, "%s %.*s", forms[message.form],
			 RG_STR_ARGS(message.id));
	rg_arena_free(arena);
	return told;
}

static void messages_are_read(void **state)
{
	static const char *const cases[][2] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}", "request 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"x\"}",
		  "request \"a\\\"b\"" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"x\"}", "request \"\"" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"x\",\"params\":{}}", "request -7" },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", "notification " },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "response 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", "response 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1e3,\"method\":\"x\"}", "-32600 " },
		{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"x\"}", "-32600 " },
		{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"x\"}", "-32600 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", "-32600 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":null}", "-32600 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\u0000\"}", "-32600 1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\\\u0000\"}", "request 1" },
		{ "", "-32700 " },
		{ "{", "-32700 " },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(read_as(cases[i][0]), cases[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_comes_back), cmocka_unit_test(bad_base64_is_refused),
		cmocka_unit_test(templates_match),   cmocka_unit_test(templates_are_checked),
		cmocka_unit_test(messages_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
