/*
 * What roger-mcp.h promises to a program: what may be registered and what not,
 * with words that say why; JSON as a handler sees it; a handler that is removed
 * while it runs; threads that tell of changes while the server answers; that
 * roger_mcp_stop() ends it from anywhere.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <roger-mcp.h>

static struct roger_mcp_server *server_new(void)
{
	const struct roger_mcp_options options = { .name = "test", .version = "1" };
	struct roger_mcp_server *server = roger_mcp_server_new(&options);

	assert_non_null(server);
	return server;
}

static void nothing(struct roger_mcp_call *call, void *data)
{
	(void)call;
	(void)data;
}

static void a_server_has_a_name(void **state)
{
	(void)state;
	assert_null(roger_mcp_server_new(NULL));
	assert_null(roger_mcp_server_new(&(struct roger_mcp_options){ .name = "x" }));
	assert_null(roger_mcp_server_new(&(struct roger_mcp_options){ .version = "1" }));
	assert_null(roger_mcp_server_free(NULL));
}

static int add_tool(struct roger_mcp_server *server, struct roger_mcp_tool tool,
		    struct roger_mcp_err *err)
{
	return roger_mcp_add_tool(server, &tool, err);
}

#define ADD(...) add_tool(server, (struct roger_mcp_tool){ __VA_ARGS__ }, &err)

static void tools_are_checked(void **state)
{
	struct roger_mcp_server *server = server_new();
	struct roger_mcp_err err = { 0 };

	(void)state;
	assert_int_equal(ADD(.name = "a", .call = nothing), ROGER_MCP_OK);
	assert_int_equal(ADD(.name = "a", .call = nothing), ROGER_MCP_EUSAGE);
	assert_string_equal(err.message, "'a' is there already");
	assert_int_equal(ADD(.name = "b"), ROGER_MCP_EUSAGE);
	assert_int_equal(ADD(.name = "", .call = nothing), ROGER_MCP_EDATA);
	assert_int_equal(ADD(.name = "a b", .call = nothing), ROGER_MCP_EDATA);
	assert_int_equal(ADD(.name = NULL, .call = nothing), ROGER_MCP_EDATA);
	assert_int_equal(ADD(.name = "c", .call = nothing, .input_schema = "{"), ROGER_MCP_EDATA);
	assert_non_null(strstr(err.message, "'inputSchema'"));
	assert_int_equal(ADD(.name = "c", .call = nothing, .input_schema = "{}"), ROGER_MCP_EDATA);
	assert_int_equal(ADD(.name = "c", .call = nothing, .meta = "[]"), ROGER_MCP_EDATA);
	assert_string_equal(err.message, "'_meta': expected an object of JSON");
	assert_int_equal(ADD(.name = "c", .call = nothing, .icons = "{}"), ROGER_MCP_EDATA);
	assert_int_equal(ADD(.name = "c", .call = nothing, .output_schema = "x"), ROGER_MCP_EDATA);
	assert_int_equal(add_tool(server, (struct roger_mcp_tool){ 0 }, NULL), ROGER_MCP_EDATA);
	assert_int_equal(roger_mcp_remove_tool(server, "a"), ROGER_MCP_OK);
	assert_int_equal(roger_mcp_remove_tool(server, "a"), ROGER_MCP_ENOENT);
	roger_mcp_server_free(server);
}

static void resources_and_prompts_are_checked(void **state)
{
	struct roger_mcp_server *server = server_new();
	const struct roger_mcp_argument nameless = { 0 };
	struct roger_mcp_resource resource = { .uri = "a:b", .name = "x", .read = nothing };
	struct roger_mcp_prompt prompt = { .name = "p", .get = nothing };

	(void)state;
	assert_int_equal(roger_mcp_add_resource(server, &resource, NULL), ROGER_MCP_OK);
	assert_int_equal(roger_mcp_add_resource(server, &resource, NULL), ROGER_MCP_EUSAGE);
	resource.uri = "a:{b";
	assert_int_equal(roger_mcp_add_resource(server, &resource, NULL), ROGER_MCP_EDATA);
	resource.uri = "a:{b}";
	assert_int_equal(roger_mcp_add_resource(server, &resource, NULL), ROGER_MCP_OK);
	resource.name = NULL;
	assert_int_equal(roger_mcp_add_resource(server, &resource, NULL), ROGER_MCP_EUSAGE);
	assert_int_equal(roger_mcp_remove_resource(server, "a:{b}"), ROGER_MCP_OK);
	assert_int_equal(roger_mcp_remove_resource(server, "a:{b}"), ROGER_MCP_ENOENT);
	assert_int_equal(roger_mcp_remove_resource(server, "a:b"), ROGER_MCP_OK);

	assert_int_equal(roger_mcp_add_prompt(server, &prompt, NULL), ROGER_MCP_OK);
	prompt.name = "q";
	prompt.arguments = &nameless;
	prompt.argument_count = 1;
	assert_int_equal(roger_mcp_add_prompt(server, &prompt, NULL), ROGER_MCP_EDATA);
	assert_int_equal(roger_mcp_remove_prompt(server, "p"), ROGER_MCP_OK);
	assert_int_equal(roger_mcp_remove_prompt(server, "q"), ROGER_MCP_ENOENT);
	roger_mcp_server_free(server);
}

/* ---------------------------------------------------- a server that runs -- */

struct served {
	struct roger_mcp_server *server;
	int theirs;
	FILE *ours;
	pthread_t thread;
	int result;
};

static void *serve(void *argument)
{
	struct served *served = argument;

	served->result =
		roger_mcp_serve_stdio(served->server, served->theirs, served->theirs, NULL);
	return NULL;
}

static void start(struct served *served)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	served->theirs = pair[0];
	served->ours = fdopen(pair[1], "r+");
	assert_non_null(served->ours);
	setvbuf(served->ours, NULL, _IOLBF, 0);
	assert_int_equal(pthread_create(&served->thread, NULL, serve, served), 0);
}

static void finish(struct served *served)
{
	pthread_join(served->thread, NULL);
	assert_int_equal(served->result, ROGER_MCP_OK);
	fclose(served->ours);
	close(served->theirs);
	roger_mcp_server_free(served->server);
}

static void say(struct served *served, const char *line)
{
	assert_true(send(fileno(served->ours), line, strlen(line), MSG_NOSIGNAL) > 0);
	assert_true(send(fileno(served->ours), "\n", 1, MSG_NOSIGNAL) > 0);
}

/* The next line that holds this. */
static const char *hear(struct served *served, const char *what)
{
	static char line[8192];

	do
		assert_non_null(fgets(line, sizeof line, served->ours));
	while (!strstr(line, what));
	return line;
}

#define META                                                                                       \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* All that the accessors say of one object. */
static void look(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *arguments = roger_mcp_arguments(call), *value = NULL;
	const char *key = NULL;
	size_t i = 0, count = 0;

	(void)data;
	while (roger_mcp_next(arguments, &i, &key, &value))
		count++;
	assert_int_equal(count, 6);
	assert_string_equal(key, "list");
	assert_int_equal(roger_mcp_kind_of(value), ROGER_MCP_ARRAY);
	for (i = 0, count = 0;
	     roger_mcp_next(roger_mcp_member(arguments, "list"), &i, NULL, &value);)
		count += (size_t)roger_mcp_int_of(value, 0);
	assert_int_equal(count, 6);
	assert_string_equal(roger_mcp_argument_text(call, "text", "?"), "x");
	assert_string_equal(roger_mcp_argument_text(call, "int", "?"), "?");
	assert_null(roger_mcp_argument_text(call, "none", NULL));
	assert_int_equal(roger_mcp_int_of(roger_mcp_member(arguments, "int"), 0), 10);
	assert_int_equal(roger_mcp_int_of(roger_mcp_member(arguments, "number"), -1), -1);
	assert_true(roger_mcp_number_of(roger_mcp_member(arguments, "number"), 0) == 2.5);
	assert_true(roger_mcp_bool_of(roger_mcp_member(arguments, "bool"), false));
	assert_true(roger_mcp_bool_of(NULL, true));
	assert_false(roger_mcp_bool_of(NULL, false));
	assert_int_equal(roger_mcp_kind_of(NULL), ROGER_MCP_NULL);
	assert_int_equal(roger_mcp_kind_of(roger_mcp_member(arguments, "null")), ROGER_MCP_NULL);
	assert_non_null(roger_mcp_member(arguments, "null"));
	assert_string_equal(roger_mcp_json_of(call, roger_mcp_member(arguments, "list")),
			    "[1,2,3]");
	assert_string_equal(roger_mcp_name(call), "look");
	assert_null(roger_mcp_variable(call, "x"));
	assert_false(roger_mcp_cancelled(call));
	roger_mcp_add_text(call, "bad \xff");
}

static void a_handler_sees_its_call(void **state)
{
	struct served served = { .server = server_new() };
	const struct roger_mcp_tool tool = { .name = "look",
					     .call = look,
					     .input_schema = "{\"type\":\"object\"}" };

	(void)state;
	assert_int_equal(roger_mcp_add_tool(served.server, &tool, NULL), ROGER_MCP_OK);
	start(&served);
	say(&served,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"look\","
	    "\"arguments\":{\"text\":\"x\",\"int\":1e1,\"number\":2.5,\"bool\":true,\"null\":null,"
	    "\"list\":[1,2,3]}," META "}}");
	/* What is no text spoils the answer, and is an error. */
	assert_non_null(strstr(hear(&served, "\"id\":1"), "no valid UTF-8"));
	shutdown(fileno(served.ours), SHUT_WR);
	finish(&served);
}

static void remove_myself(struct roger_mcp_call *call, void *data)
{
	roger_mcp_remove_tool(data, roger_mcp_name(call));
	roger_mcp_add_text(call, "done");
}

static void a_tool_may_go_while_it_runs(void **state)
{
	struct served served = { .server = server_new() };
	struct roger_mcp_tool tool = { .name = "go", .call = remove_myself };

	(void)state;
	tool.data = served.server;
	assert_int_equal(roger_mcp_add_tool(served.server, &tool, NULL), ROGER_MCP_OK);
	start(&served);
	say(&served, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
		     "call\",\"params\":{\"name\":\"go\"," META "}}");
	assert_non_null(strstr(hear(&served, "\"id\":1"), "done"));
	say(&served, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
		     "call\",\"params\":{\"name\":\"go\"," META "}}");
	assert_non_null(strstr(hear(&served, "\"id\":2"), "unknown tool"));
	shutdown(fileno(served.ours), SHUT_WR);
	finish(&served);
}

enum { CHANGES = 2000 };

static void *change(void *argument)
{
	struct roger_mcp_server *server = argument;
	const struct roger_mcp_tool tool = { .name = "now_and_then", .call = nothing };
	int i;

	for (i = 0; i < CHANGES; i++) {
		roger_mcp_resource_updated(server, "a:b");
		if (roger_mcp_remove_tool(server, "now_and_then") != ROGER_MCP_OK)
			roger_mcp_add_tool(server, &tool, NULL);
	}
	return NULL;
}

static void wait_a_bit(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_text(call, roger_mcp_sleep(call, 2) ? "cancelled" : "slept");
}

/* Under a thread sanitizer this is the proof of the one lock. */
static void threads_may_tell_while_it_answers(void **state)
{
	struct served served = { .server = server_new() };
	const struct roger_mcp_resource resource = { .uri = "a:b", .name = "x", .read = nothing };
	const struct roger_mcp_tool tool = { .name = "wait",
					     .call = wait_a_bit,
					     .flags = ROGER_MCP_BLOCKING };
	pthread_t threads[3];
	char line[256];
	int i, slept = 0;

	(void)state;
	assert_int_equal(roger_mcp_add_resource(served.server, &resource, NULL), ROGER_MCP_OK);
	assert_int_equal(roger_mcp_add_tool(served.server, &tool, NULL), ROGER_MCP_OK);
	start(&served);
	say(&served,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"L\",\"method\":\"subscriptions/listen\",\"params\":{"
	    "\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"a:b\"]}"
	    "," META "}}");
	hear(&served, "acknowledged");
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, change, served.server), 0);
	for (i = 0; i < 100; i++) {
		snprintf(line, sizeof line,
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/"
			 "call\",\"params\":{\"name\":\"wait\"," META "}}",
			 i);
		say(&served, line);
	}
	while (slept < 100)
		slept += strstr(hear(&served, "\"result\""), "slept") != NULL;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	roger_mcp_stop(served.server);
	hear(&served, "\"resultType\":\"complete\"");
	finish(&served);
}

static void stop_ends_it(void **state)
{
	struct served served = { .server = server_new() };

	(void)state;
	start(&served);
	roger_mcp_stop(served.server);
	finish(&served);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_has_a_name),
		cmocka_unit_test(tools_are_checked),
		cmocka_unit_test(resources_and_prompts_are_checked),
		cmocka_unit_test(a_handler_sees_its_call),
		cmocka_unit_test(a_tool_may_go_while_it_runs),
		cmocka_unit_test(threads_may_tell_while_it_answers),
		cmocka_unit_test(stop_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
