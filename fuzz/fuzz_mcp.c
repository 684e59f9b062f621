/*
 * Any bytes as the standard input of the MCP fixture server.  It ends, well, and
 * all it says is one JSON object a line: a message of JSON-RPC 2.0 that is an
 * answer, an error with a code and words, or a note or question of our own.
 */
#include <roger-mcp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/clients/mcp_fixture.h"
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
	off_t length = lseek(output, 0, SEEK_END);
	const char *text, *end;
	struct roger_str rest;

	rg_assert(length >= 0);
	if (length == 0)
		return;
	text = mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, output, 0);
	rg_assert(text != MAP_FAILED);
	rest = (struct roger_str){ text, (size_t)length };
	while (rest.length) {
		end = memchr(rest.data, '\n', rest.length);
		rg_assert(end);
		check_line((struct roger_str){ rest.data, (size_t)(end - rest.data) });
		rest.length -= (size_t)(end - rest.data) + 1;
		rest.data = end + 1;
	}
	munmap((void *)(uintptr_t)text, (size_t)length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_mcp_options options = { .message_bytes_max = 8192, .calls_max = 8 };
	struct roger_mcp_server *server = mcp_fixture_new(&options);
	int input = memfd_create("input", MFD_CLOEXEC),
	    output = memfd_create("output", MFD_CLOEXEC);
	int r;

	rg_assert(server && input >= 0 && output >= 0);
	rg_assert(write(input, data, size) == (ssize_t)size && lseek(input, 0, SEEK_SET) == 0);
	r = roger_mcp_serve_stdio(server, input, output, NULL);
	rg_assert(r == ROGER_MCP_OK);
	check_output(output);
	close(input);
	close(output);
	roger_mcp_server_free(server);
	return 0;
}
