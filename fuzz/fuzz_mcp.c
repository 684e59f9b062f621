/*
 * Any bytes as the standard input of the MCP fixture server.  It ends, well, and
 * all it says is one JSON object a line: a message of JSON-RPC 2.0 that is an
 * answer, an error with a code and words, or a note or question of our own.
 */
#include <roger-mcp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../mcp/tests/mcp_fixture.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct rg_value *error)
{
	int64_t code;

	rg_assert(rg_json_int(rg_json_member(error, "code"), &code));
	rg_assert(rg_json_kind(rg_json_member(error, "message")) == RG_JSON_STRING);
}

static void check_line(struct roger_str line)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *root, *result, *error, *method;
	int r = rg_json_read(line, &json, NULL);

	rg_assert(r == ROGER_OK);
	root = rg_json_root(json);
	rg_assert(rg_str_is(rg_json_str(rg_json_member(root, "jsonrpc")), "2.0"));
	result = rg_json_member(root, "result");
	error = rg_json_member(root, "error");
	method = rg_json_member(root, "method");
	rg_assert(!!result + !!error + !!method == 1);
	if (error)
		check_error(error);
	if (result)
		rg_assert(rg_json_kind(result) == RG_JSON_OBJECT && rg_json_member(root, "id"));
}

static void check_output(int output)
{
	static char text[1 << 20];
	ssize_t length = pread(output, text, sizeof text, 0);
	struct roger_str rest = { text, (size_t)length };
	const char *end;

	rg_assert(length >= 0);
	while (rest.length) {
		end = memchr(rest.data, '\n', rest.length);
		/* There may be more than fits. */
		if (!end && rest.data + rest.length == text + sizeof text)
			break;
		rg_assert(end);
		check_line((struct roger_str){ rest.data, (size_t)(end - rest.data) });
		rest.length -= (size_t)(end - rest.data) + 1;
		rest.data = end + 1;
	}
}

/*
 * One server for all inputs, each a client of its own: to make it takes ten times
 * as long as to serve it.  What an input may have added is taken away again.
 */
static struct roger_mcp_server *server_as_made(void)
{
	static struct roger_mcp_server *server;
	struct roger_mcp_options options = { .message_bytes_max = 1024, .calls_max = 8 };

	if (!server)
		server = mcp_fixture_new(&options);
	rg_assert(server);
	(void)roger_mcp_remove_tool(server, "test_dynamic");
	(void)roger_mcp_remove_prompt(server, "test_dynamic_prompt");
	return server;
}

/* An empty file in memory, the same every time. */
static int empty(int *file)
{
	if (*file < 0)
		*file = memfd_create("stream", MFD_CLOEXEC);
	rg_assert(*file >= 0 && ftruncate(*file, 0) == 0 && lseek(*file, 0, SEEK_SET) == 0);
	return *file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_mcp_server *server = server_as_made();
	static int input = -1, output = -1;
	int r;

	rg_assert(write(empty(&input), data, size) == (ssize_t)size);
	rg_assert(lseek(input, 0, SEEK_SET) == 0);
	r = roger_mcp_serve_stdio(server, input, empty(&output), NULL);
	rg_assert(r == ROGER_MCP_OK);
	check_output(output);
	return 0;
}
