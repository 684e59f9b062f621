/*
 * calls - a call of a tool of `roger mcp` beside the library call it makes:
 * calls ROGER WORKSPACE TURNS.
 *
 * By turns, so that both see the same machine: a look into the inbox of an
 * agent, and a send.  A call goes to the server over a pipe and its answer
 * comes back over another, as with every client.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roger.h>

#include "lanes.h"

enum { ANSWER_BYTES = 1 << 20 };

struct server {
	pid_t pid;
	int to, from;
	char *answer;
};

static const struct roger_str agent = { "agent-1", 7 }, other = { "agent-2", 7 },
			      text = { "the schema is in docs/schema.md, have a look", 44 };

static void start(struct server *server, const char *program, const char *workspace)
{
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0)
		bench_die("pipe");
	server->pid = fork();
	if (server->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(program, program, "mcp", "--workspace", workspace, "--as", "agent-1",
		      (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	server->to = in[1];
	server->from = out[0];
	server->answer = malloc(ANSWER_BYTES);
}

/* One line there, one line back. */
static void ask(struct server *server, const char *line)
{
	size_t length = 0;
	ssize_t got;

	if (write(server->to, line, strlen(line)) != (ssize_t)strlen(line))
		bench_die("the server does not read");
	do {
		got = read(server->from, server->answer + length, ANSWER_BYTES - 1 - length);
		if (got <= 0)
			bench_die("the server does not answer");
		length += (size_t)got;
	} while (server->answer[length - 1] != '\n');
	server->answer[length] = '\0';
	if (strstr(server->answer, "\"isError\":true") || strstr(server->answer, "\"error\":"))
		bench_die("the server refuses: %s", server->answer);
}

static void look(struct roger *roger)
{
	const struct roger_inbox_request request = { .agent = agent, .limit = 10 };
	struct roger_inbox_reply reply;
	struct roger_err err;

	if (roger_inbox(roger, &request, &reply, &err) < 0)
		bench_die("inbox: %s", err.message);
	roger_reply_free(&reply);
}

static void send(struct roger *roger)
{
	const struct roger_send_request request = { .from = agent,
						    .to = { &other, 1 },
						    .content = text };
	struct roger_send_reply reply;
	struct roger_err err;

	if (roger_send(roger, &request, &reply, &err) < 0)
		bench_die("send: %s", err.message);
	roger_reply_free(&reply);
}

static void fill(struct roger *roger)
{
	const struct roger_send_request request = { .from = other,
						    .to = { &agent, 1 },
						    .content = text };
	struct roger_send_reply reply;
	struct roger_err err;
	int i;

	for (i = 0; i < 10; i++) {
		if (roger_send(roger, &request, &reply, &err) < 0)
			bench_die("send: %s", err.message);
		roger_reply_free(&reply);
	}
}

int main(int argc, char **argv)
{
	static const char hello[] =
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
		"\"name\":\"bench\",\"version\":\"1\"}}}\n";
	static const char look_line[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"inbox\",\"arguments\":{\"limit\":10}}}\n";
	static const char send_line[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"send\",\"arguments\":{\"to\":[\"agent-2\"],\"content\":\"the schema is in "
		"docs/schema.md, have a look\"}}}\n";
	static const char ping_line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
	uint32_t *spans[5];
	struct server server;
	struct roger *roger;
	struct roger_err err;
	size_t turns, turn, i;
	int64_t at[6];

	if (argc != 4)
		bench_die("usage: calls ROGER WORKSPACE TURNS");
	turns = bench_number(argv[3]);
	for (i = 0; i < 5; i++)
		spans[i] = calloc(turns, sizeof *spans[i]);
	if (roger_open(argv[2], &roger, &err) < 0)
		bench_die("open: %s", err.message);
	fill(roger);
	start(&server, argv[1], argv[2]);
	ask(&server, hello);
	for (turn = 0; turn < turns; turn++) {
		at[0] = bench_now_ns();
		look(roger);
		at[1] = bench_now_ns();
		ask(&server, look_line);
		at[2] = bench_now_ns();
		send(roger);
		at[3] = bench_now_ns();
		ask(&server, send_line);
		at[4] = bench_now_ns();
		ask(&server, ping_line);
		at[5] = bench_now_ns();
		for (i = 0; i < 5; i++)
			spans[i][turn] = (uint32_t)(at[i + 1] - at[i]);
	}
	bench_print_spans("look", spans[0], turns);
	bench_print_spans("look_call", spans[1], turns);
	bench_print_spans("send", spans[2], turns);
	bench_print_spans("send_call", spans[3], turns);
	bench_print_spans("ping", spans[4], turns);
	close(server.to);
	waitpid(server.pid, NULL, 0);
	roger_close(roger);
	return 0;
}
