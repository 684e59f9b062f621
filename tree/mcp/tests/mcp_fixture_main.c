/*
 * mcp_fixture - serves the fixture; see mcp_fixture.c.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp_fixture.h"

static struct roger_mcp_server *server;

static void on_signal(int signal)
{
	(void)signal;
	roger_mcp_stop(server);
}

static void *stop_at_end_of_input(void *argument)
{
	char ignored[64];

	(void)argument;
	while (read(0, ignored, sizeof ignored) > 0)
		;
	roger_mcp_stop(server);
	return NULL;
}

static int serve_http(int port, bool with_token, struct roger_mcp_err *err)
{
	static const struct roger_mcp_token token = { "fixture-token-0123", "ann" };
	struct roger_mcp_http_options options = { .port = (uint16_t)port };
	struct roger_mcp_http *http = NULL;
	pthread_t thread;
	int r;

	if (with_token) {
		options.tokens = &token;
		options.token_count = 1;
	}
	options.keep_alive_ms = 1000;
	r = roger_mcp_http_open(server, &options, &http, err);
	if (r < 0)
		return r;
	printf("http://127.0.0.1:%u/mcp\n", roger_mcp_http_port(http));
	fflush(stdout);
	r = pthread_create(&thread, NULL, stop_at_end_of_input, NULL) ? -71 : 0;
	if (r == 0) {
		r = roger_mcp_http_run(http, err);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	roger_mcp_http_close(http);
	return r;
}

int main(int count, char **arguments)
{
	bool http = count > 1 && strcmp(arguments[1], "--http") == 0;
	bool with_token = count > 3 && strcmp(arguments[3], "--token") == 0;
	struct roger_mcp_options options = { 0 };
	struct roger_mcp_err err = { 0 };
	const char *items = getenv("MCP_FIXTURE_PAGE");
	int r;

	options.page_items = items ? (size_t)atoi(items) : 0;
	server = mcp_fixture_new(&options);
	if (!server)
		return 71;
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	if (http)
		r = serve_http(count > 2 ? atoi(arguments[2]) : 0, with_token, &err);
	else
		r = roger_mcp_serve_stdio(server, 0, 1, &err);
	if (r < 0)
		fprintf(stderr, "mcp_fixture: %s\n", err.message);
	roger_mcp_server_free(server);
	return -r;
}
