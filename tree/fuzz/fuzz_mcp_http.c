/*
 * Any bytes as what a client writes to the HTTP server, over a real connection,
 * with the loop run by hand.  What comes back is an answer of HTTP with a status
 * that the server gives; nobody without the token, and nobody who names another
 * host, gets more than a refusal; and when the client is gone, nothing of it is kept.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "http.h"

#define TOKEN "fuzz-token-0123456789"

enum { STEPS_MAX = 16 };

static struct roger_mcp_http *open_server(void)
{
	static const struct roger_mcp_token token = { TOKEN, "al" };
	struct roger_mcp_options options = { .name = "fuzz",
					     .version = "1",
					     .message_bytes_max = 4096 };
	struct roger_mcp_http_options http_options = { .tokens = &token,
						       .token_count = 1,
						       .sessions_max = 4 };
	struct roger_mcp_server *server = NULL;
	static struct roger_mcp_http *http;
	struct roger_mcp_err err;

	if (http)
		return http;
	server = roger_mcp_server_new(&options);
	rg_assert(server);
	rg_assert(roger_mcp_http_open(server, &http_options, &http, &err) == ROGER_MCP_OK);
	return http;
}

/* It is closed by a reset, so that no port has to rest afterwards. */
static int connect_to(struct roger_mcp_http *http)
{
	const struct linger reset = { 1, 0 };
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(roger_mcp_http_port(http)),
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	rg_assert(client >= 0);
	rg_assert(setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0);
	rg_assert(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
	return client;
}

/* What is answered by the time that the loop has nothing more to do. */
static struct roger_str converse(struct roger_mcp_http *http, int client, char *to, size_t size)
{
	struct roger_str answer = { to, 0 };
	ssize_t got;
	int i;

	to[size] = '\0';
	for (i = 0; i < STEPS_MAX && answer.length < size; i++) {
		event_base_loop(http->base, EVLOOP_NONBLOCK);
		got = recv(client, to + answer.length, size - answer.length, MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			break;
		if (got < 0 && (answer.length || i > 2))
			break;
		answer.length += got > 0 ? (size_t)got : 0;
	}
	return answer;
}

static bool holds(struct roger_str text, const char *word)
{
	size_t i, length = strlen(word);

	for (i = 0; i + length <= text.length; i++)
		if (!strncasecmp(text.data + i, word, length))
			return true;
	return false;
}

static void check_answer(struct roger_str sent, struct roger_str answer)
{
	static const int statuses[] = { 100, 200, 202, 400, 401, 403, 404, 405,
					406, 409, 413, 415, 417, 501, 503 };
	const char *blank;
	size_t i;
	int status;

	if (!answer.length)
		return;
	rg_assert(answer.length > 12 && !memcmp(answer.data, "HTTP/", 5));
	/* The version may be whatever the client said. */
	blank = memchr(answer.data, ' ', answer.length);
	rg_assert(blank);
	status = atoi(blank);
	for (i = 0; i < sizeof statuses / sizeof *statuses && statuses[i] != status;)
		i++;
	rg_assert(i < sizeof statuses / sizeof *statuses);
	if (status != 200 && status != 202)
		return;
	rg_assert(holds(sent, TOKEN));
	rg_assert(holds(sent, "localhost") || holds(sent, "127.0.0.1") || holds(sent, "[::1]"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str sent = { (const char *)data, size };
	struct roger_mcp_http *http = open_server();
	int client = connect_to(http), i;
	char answer[4096];

	if (size)
		rg_assert(send(client, data, size, MSG_NOSIGNAL) == (ssize_t)size);
	check_answer(sent, converse(http, client, answer, sizeof answer - 1));
	close(client);
	for (i = 0; i < STEPS_MAX && (i < 2 || http->answer_count); i++)
		event_base_loop(http->base, EVLOOP_NONBLOCK);
	rg_assert(http->answer_count == 0 && http->session_count <= 4);
	return 0;
}
