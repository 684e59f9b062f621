/* scan: the id of a message that is not read, wherever it stands and however it comes in pieces. */
#include "scan.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* In pieces of each length. */
static void finds(const char *text, const char *id)
{
	size_t length = strlen(text), piece, at;

	for (piece = 1; piece <= length; piece++) {
		struct rg_mcp_scan scan = { .depth = 0 };

		for (at = 0; at < length; at += piece)
			rg_mcp_scan_feed(&scan, (struct roger_str){ text + at, length - at < piece
										       ? length - at
										       : piece });
		assert_true(rg_str_is(rg_mcp_scan_id(&scan), id));
	}
}

static void the_outermost_id_is_found(void **state)
{
	(void)state;
	finds("{\"id\":7,\"method\":\"ping\"}", "7");
	finds("{\"params\":{\"id\":1,\"x\":[{\"id\":2}]},\"id\":\"a\"}", "\"a\"");
	finds("{\"x\":\"\\\\\\\",\\\"id\\\":9,{[\",\"id\" : -3 }", "-3");
	finds("{\"id\":\"with \\\" and \\\\\",\"x\":1}", "\"with \\\" and \\\\\"");
	finds("{\"x\":\"id\",\"y\":{},\"id\":\"\"}", "\"\"");
	finds("{\"notid\":1,\"id2\":2,\"id\":3}", "3");
}

static void no_id_is_guessed(void **state)
{
	(void)state;
	finds("{\"x\":{\"id\":1}}", "");
	finds("[{\"id\":1}]", "");
	finds("{\"id\":1,\"id\":2}", "");
	finds("{\"id\":[1],\"x\":2}", "");
	finds("{\"id\":12", "");
	finds("{\"id\":1}{\"id\":2}", "");
	finds("\"id\":1,", "");
	finds("}}}", "");
}

static void a_long_id_is_none(void **state)
{
	struct rg_mcp_scan scan = { .depth = 0 };
	int i;

	(void)state;
	rg_mcp_scan_feed(&scan, RG_STR("{\"id\":\""));
	for (i = 0; i < RG_MCP_ID_BYTES_MAX; i++)
		rg_mcp_scan_feed(&scan, RG_STR("x"));
	rg_mcp_scan_feed(&scan, RG_STR("\"}"));
	assert_int_equal(rg_mcp_scan_id(&scan).length, 0);
}

static void form_is_known(void **state)
{
	struct rg_mcp_scan call = { .depth = 0 }, answer = { .depth = 0 };

	(void)state;
	rg_mcp_scan_feed(&call, RG_STR("{\"method\":\"x\",\"params\":{\"result\":1}"));
	assert_true(call.has_method && !call.has_answer);
	rg_mcp_scan_feed(&answer, RG_STR("{\"result\":{\"method\":1}"));
	assert_true(answer.has_answer && !answer.has_method);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outermost_id_is_found),
		cmocka_unit_test(no_id_is_guessed),
		cmocka_unit_test(a_long_id_is_none),
		cmocka_unit_test(form_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
