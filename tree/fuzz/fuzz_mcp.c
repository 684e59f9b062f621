/*
 * Any bytes as the standard input of the MCP fixture server.  It ends, well, and
 * all it says is one JSON object a line: a message of JSON-RPC 2.0 that is an
 * answer, an error with a code and words, or a note or question of our own.
 *
 * The loop of stdio.c runs as it is; only its descriptors are memory, since 25
 * system calls took longer than the server does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../mcp/tests/mcp_fixture.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No descriptors of this process: whatever is not below fails with EBADF. */
enum { MEMORY_INPUT = 1 << 20, MEMORY_OUTPUT, MEMORY_WAKE };

/* Read at a time, so that a line comes in several pieces. */
enum { MEMORY_PIECE = 500 };

static struct roger_str to_read;
static char said[1 << 20];
static size_t said_bytes; /* also what did not fit */
static atomic_bool woken;

static ssize_t memory_read(int file, void *to, size_t room)
{
	size_t count = to_read.length < MEMORY_PIECE ? to_read.length : MEMORY_PIECE;

	rg_assert(file == MEMORY_INPUT && room >= count);
	if (count)
		memcpy(to, to_read.data, count);
	to_read.data += count;
	to_read.length -= count;
	return (ssize_t)count;
}

static ssize_t memory_write(int file, const void *from, size_t count)
{
	size_t room = said_bytes < sizeof said ? sizeof said - said_bytes : 0;

	rg_assert(file == MEMORY_OUTPUT);
	memcpy(said + sizeof said - room, from, count < room ? count : room);
	said_bytes += count;
	return (ssize_t)count;
}

/* There is always something to read or room to write, so nothing has to wait. */
static int memory_poll(struct pollfd *watched, nfds_t count, int timeout_ms)
{
	int ready = 0;
	nfds_t i;

	for (i = 0; i < count; i++) {
		watched[i].revents = 0;
		if (watched[i].fd == MEMORY_INPUT || watched[i].fd == MEMORY_OUTPUT ||
		    (watched[i].fd == MEMORY_WAKE && atomic_load(&woken)))
			watched[i].revents = watched[i].events;
		ready += watched[i].revents != 0;
	}
	rg_assert(ready || timeout_ms >= 0);
	return ready;
}

static int memory_wake(bool wake)
{
	atomic_store(&woken, wake);
	return 0;
}

#define rg_buf_room(buffer, bytes) rg_buf_room(buffer, MEMORY_PIECE)
#define read memory_read
#define write memory_write
#define poll memory_poll
#define eventfd(value, flags) MEMORY_WAKE
#define eventfd_write(file, value) memory_wake(true)
#define eventfd_read(file, value) ((void)(value), memory_wake(false))
#define close(file) ((void)(file))
#include "../mcp/src/stdio.c"

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

static void check_output(void)
{
	struct roger_str rest = { said, said_bytes < sizeof said ? said_bytes : sizeof said };
	const char *end;

	while (rest.length) {
		end = memchr(rest.data, '\n', rest.length);
		if (!end && said_bytes > sizeof said)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_mcp_server *server = server_as_made();
	int r;

	to_read = (struct roger_str){ (const char *)data, size };
	said_bytes = 0;
	r = roger_mcp_serve_stdio(server, MEMORY_INPUT, MEMORY_OUTPUT, NULL);
	rg_assert(r == ROGER_MCP_OK && !to_read.length);
	check_output();
	return 0;
}
