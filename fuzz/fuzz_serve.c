/*
 * Any bytes as what a client writes to roger serve, over a real connection to its socket
 * or to its TCP port, with the loop run by hand.  The first byte chooses which, and how
 * the bytes are cut.  What comes back is answers of HTTP, each with a status that the
 * server gives; as many as a strict reader of its own (below) finds requests, and a
 * refusal behind them: nothing is smuggled.  Nobody without a token gets
 * anything over TCP, and nobody who names another host; when the client is gone, nothing
 * of it is kept.
 */
int roger_main(int count, char **words);
#define main roger_main
#include "../src/cli/main.c"
#undef main
#include "../src/serve/server.c"

#include <arpa/inet.h>
#include <ctype.h>
#include <event2/buffer.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/id.h"
#include "base/sign.h"
#include "fuzz.h"

#define TOKEN "roger-fuzz-token-0123456789"

enum { STEPS_MAX = 400, QUIET_STEPS = 3, ANSWER_BYTES = 1 << 20, REQUESTS_MAX = 64 };

/* ------------------------------------------------------------------ the server -- */

static struct serve server = { .host = &server, .wake = -1 };

static void write_token(const char *workspace)
{
	char folder[4096], path[4200], hash[RG_DIGEST_DIGITS + 1], line[300];
	int length;

	rg_assert(serve_own_folder(false, folder, NULL) == ROGER_OK);
	rg_sha256_hex(rg_str(TOKEN), hash);
	length = snprintf(line, sizeof line,
			  "{\"name\":\"al\",\"right\":\"act\",\"created_at\":1,"
			  "\"expires_at\":4000000000000,\"sha256\":\"%s\"}\n",
			  hash);
	snprintf(path, sizeof path, "%s/%016llx.tokens", folder,
		 (unsigned long long)rg_hash(1, workspace, strlen(workspace)));
	fuzz_put(AT_FDCWD, path, line, (size_t)length);
}

static void open_server(void)
{
	static struct rg_serve_request options;
	static struct roger_init_request init;
	static char socket_path[300], workspace[300];
	struct roger_init_reply reply;

	snprintf(socket_path, sizeof socket_path, "%s/s", fuzz_folder());
	snprintf(workspace, sizeof workspace, "%s/w", fuzz_folder());
	setenv("XDG_STATE_HOME", fuzz_folder(), 1);
	umask(077);
	signal(SIGPIPE, SIG_IGN);
	rg_assert(mkdir(workspace, 0700) == 0);
	init.path = rg_str(workspace);
	rg_assert(roger_init(&init, &reply, NULL) == ROGER_OK);
	roger_reply_free(&reply);
	write_token(workspace);
	options.socket = rg_str(socket_path);
	options.listen = RG_STR("127.0.0.1:0");
	server.options = &options;
	server.workspace = workspace;
	rg_assert(take_hosts(&server, NULL) == ROGER_OK && prepare_host(&server, NULL) == ROGER_OK);
	rg_assert(serve_listen(&server, workspace, NULL) == ROGER_OK);
	/* What it does by itself is no part of an answer. */
	event_del(server.tick);
}

/* TCP is closed by a reset, so that no port has to rest afterwards. */
static int connect_to(bool tcp)
{
	const struct linger reset = { 1, 0 };
	struct sockaddr_in there = { .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)server.port),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	int client = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	rg_assert(client >= 0);
	snprintf(here.sun_path, sizeof here.sun_path, "%s", server.socket_path);
	if (tcp)
		rg_assert(setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0);
	rg_assert(connect(client,
			  tcp ? (const struct sockaddr *)&there : (const struct sockaddr *)&here,
			  tcp ? sizeof there : sizeof here) == 0);
	return client;
}

/* What is answered by the time that all work is done. */
static size_t listen_to(int client, char *to, size_t size)
{
	size_t got = 0;
	int step, quiet = 0;
	ssize_t more;

	for (step = 0; step < STEPS_MAX && quiet < QUIET_STEPS && got < size; step++) {
		event_base_loop(server.base, EVLOOP_NONBLOCK);
		more = recv(client, to + got, size - got, MSG_DONTWAIT);
		if (more == 0 || (more < 0 && errno != EAGAIN))
			break;
		got += more > 0 ? (size_t)more : 0;
		quiet = more > 0 || server.job_count ? 0 : quiet + 1;
		if (server.job_count)
			rg_clock_sleep(0);
	}
	return got;
}

/* ------------------------------------------------------------ the strict reader -- */

/* Whole requests of bytes, as RFC 9112 has them and nothing beside it. */
struct reader {
	const char *at, *end;
	size_t count;
	size_t ours, allowed; /* of these, with a host of ours; with the token, too */
};

/* A line up to CR LF, without NULs, CRs and LFs; NULL: there is none. */
static const char *line_end(const struct reader *reader, const char *from)
{
	const char *c;

	for (c = from; c + 1 < reader->end; c++) {
		if (c[0] == '\r' && c[1] == '\n')
			return c;
		if (c[0] == '\0' || c[0] == '\n' || c[0] == '\r')
			return NULL;
	}
	return NULL;
}

static bool is_method(const char *from, const char *end, bool *ret_body)
{
	static const char *const methods[] = { "POST ",	  "PUT ",     "PATCH ", "GET ",
					       "DELETE ", "OPTIONS ", "HEAD ",	"TRACE " };
	size_t i;

	for (i = 0; i < sizeof methods / sizeof *methods; i++)
		if ((size_t)(end - from) > strlen(methods[i]) &&
		    !memcmp(from, methods[i], strlen(methods[i]))) {
			*ret_body = i < 3;
			return from[strlen(methods[i])] == '/';
		}
	return false;
}

struct found {
	bool body, host, ours, chunked, has_length, token;
	int64_t length;
};

static bool take_request_line(struct reader *reader, struct found *found)
{
	const char *end = line_end(reader, reader->at), *version;

	if (!end || end - reader->at < 14 || !is_method(reader->at, end, &found->body))
		return false;
	version = end - 9;
	if (memcmp(version, " HTTP/1.", 8) || (version[8] != '0' && version[8] != '1') ||
	    memchr(strchr(reader->at, '/'), ' ', (size_t)(version - strchr(reader->at, '/'))))
		return false;
	reader->at = end + 2;
	return true;
}

static bool is_name(const char *from, const char *end, const char *name)
{
	return (size_t)(end - from) == strlen(name) &&
	       !strncasecmp(from, name, (size_t)(end - from));
}

static bool is_ours(struct roger_str host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	size_t i, length;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		length = strlen(names[i]);
		if (host.length >= length && !strncasecmp(host.data, names[i], length))
			return host.length == length || host.data[length] == ':';
	}
	return false;
}

static bool take_value(struct found *found, const char *name, const char *colon,
		       struct roger_str value)
{
	bool known;

	if (is_name(name, colon, "host")) {
		known = found->host;
		found->host = true;
		found->ours = is_ours(value);
		return !known;
	}
	if (is_name(name, colon, "authorization") && value.length == 7 + sizeof TOKEN - 1)
		found->token |= !memcmp(value.data + 7, TOKEN, sizeof TOKEN - 1);
	if (is_name(name, colon, "content-length")) {
		known = found->has_length;
		found->has_length = true;
		return !known && value.length < 16 && rg_str_number(value, &found->length);
	}
	if (is_name(name, colon, "transfer-encoding")) {
		known = found->chunked;
		found->chunked = true;
		return !known && value.length == 7 && !strncasecmp(value.data, "chunked", 7);
	}
	return true;
}

static bool take_field(const char *from, const char *end, struct found *found)
{
	const char *colon = memchr(from, ':', (size_t)(end - from)), *c;
	struct roger_str value;

	if (!colon || colon == from)
		return false;
	for (c = from; c < colon; c++)
		if (!isalnum((unsigned char)*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	value = (struct roger_str){ colon + 1, (size_t)(end - colon - 1) };
	while (value.length && strchr(" \t", value.data[0])) {
		value.data++;
		value.length--;
	}
	while (value.length && strchr(" \t", value.data[value.length - 1]))
		value.length--;
	return take_value(found, from, colon, value);
}

static bool take_fields(struct reader *reader, struct found *found)
{
	const char *end;

	for (;; reader->at = end + 2) {
		end = line_end(reader, reader->at);
		if (!end)
			return false;
		if (end == reader->at)
			break;
		if (!take_field(reader->at, end, found))
			return false;
	}
	reader->at += 2;
	return found->host && !(found->chunked && found->has_length) &&
	       (found->body || (!found->chunked && !found->length));
}

static bool take_chunks(struct reader *reader)
{
	const char *end;
	int64_t size;
	char digits[16];

	do {
		end = line_end(reader, reader->at);
		if (!end || end == reader->at || end - reader->at > 12)
			return false;
		snprintf(digits, sizeof digits, "%.*s", (int)(end - reader->at), reader->at);
		if (strspn(digits, "0123456789abcdefABCDEF") != strlen(digits))
			return false;
		size = strtoll(digits, NULL, 16);
		reader->at = end + 2;
		if (size > reader->end - reader->at - 2)
			return false;
		reader->at += size;
		if (reader->at[0] != '\r' || reader->at[1] != '\n')
			return false;
		reader->at += 2;
	} while (size);
	return true;
}

static bool take_request(struct reader *reader)
{
	struct found found = { 0 };

	if (!take_request_line(reader, &found) || !take_fields(reader, &found))
		return false;
	if (found.chunked && !take_chunks(reader))
		return false;
	if (found.length > reader->end - reader->at)
		return false;
	reader->at += found.length;
	reader->count++;
	reader->ours += found.ours;
	reader->allowed += found.ours && found.token;
	return true;
}

/* ------------------------------------------------------------------ the answers -- */

struct answers {
	size_t count, good; /* all but 100; those that are no refusals */
	int statuses[REQUESTS_MAX];
};

static int status_of_line(const char *text)
{
	static const int statuses[] = { 100, 200, 202, 304, 400, 401, 403, 404, 405, 406, 409,
					412, 413, 414, 415, 417, 422, 431, 500, 501, 503, 507 };
	int status = atoi(text);
	size_t i;

	for (i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i] == status)
			return status;
	return 0;
}

/* Status lines; bodies are ours, in JSON or events, and never have one in them. */
static void count_answers(const char *text, size_t length, struct answers *answers)
{
	const char *at = text, *end = text + length;
	int status;

	while ((at = memmem(at, (size_t)(end - at), "HTTP/1.", 7))) {
		at += 7;
		if (end - at < 6 || at[1] != ' ' ||
		    (at - 7 > text && at[-8] != '\n' && at[-8] != '}'))
			continue;
		status = status_of_line(at + 2);
		rg_assert(status);
		if (status == 100)
			continue;
		rg_assert(answers->count < REQUESTS_MAX);
		answers->statuses[answers->count++] = status;
		answers->good += status < 400;
	}
}

/* ---------------------------------------------------------------------- the run -- */

/* The server may be in no hurry to read: it answers one request after the other. */
static void say_in_pieces(int client, const char *data, size_t size, size_t piece)
{
	size_t at = 0, length;
	ssize_t sent;
	int step = 0;

	while (at < size && step < STEPS_MAX) {
		length = size - at < piece ? size - at : piece;
		sent = send(client, data + at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EAGAIN)
			return;
		at += sent > 0 ? (size_t)sent : 0;
		step += sent < 0;
		if (piece < size || sent < 0)
			event_base_loop(server.base, EVLOOP_NONBLOCK);
		if (sent < 0)
			rg_clock_sleep(1);
	}
}

static bool is_open(const char *sent, size_t size)
{
	return memmem(sent, size, "/healthz", 8) || memmem(sent, size, "/readyz", 7) ||
	       memmem(sent, size, "/openapi.json", 13);
}

static void check(const char *sent, size_t size, const struct answers *answers, bool tcp)
{
	struct reader reader = { sent, sent + size, 0, 0, 0 };
	size_t i;

	while (reader.at < reader.end && take_request(&reader))
		;
	/* To a head whose first line is folded libevent says twice that it is a bad one. */
	rg_assert(answers->count <= reader.count + 2);
	for (i = reader.count; i < answers->count; i++)
		rg_assert(answers->statuses[i] >= 400);
	rg_assert(answers->good <= reader.ours);
	if (tcp && !is_open(sent, size))
		rg_assert(answers->good <= reader.allowed);
}

/* Only who waits in a verb, which it may for a minute, still has its connection. */
static void check_kept(void)
{
	const struct serve_connection *connection = server.connections;
	size_t kept = 0;

	for (; connection; connection = connection->next)
		kept++;
	rg_assert(kept <= server.job_count && kept == server.connection_count);
	rg_assert(!server.stream_count && (kept || !server.bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t pieces[] = { SIZE_MAX, 1, 7, 100 };
	static char said[ANSWER_BYTES + 1];
	struct answers answers = { 0 };
	const char *sent = (const char *)data + 1;
	bool tcp;
	int client, i;

	if (!size || size > 16 << 10)
		return 0;
	if (!server.base)
		open_server();
	tcp = data[0] & 1;
	client = connect_to(tcp);
	say_in_pieces(client, sent, size - 1, pieces[data[0] >> 1 & 3]);
	count_answers(said, listen_to(client, said, ANSWER_BYTES), &answers);
	check(sent, size - 1, &answers, tcp);
	close(client);
	for (i = 0; i < STEPS_MAX && (server.connections || server.job_count); i++) {
		event_base_loop(server.base, EVLOOP_NONBLOCK);
		serve_connections_tick(&server);
		if (i > QUIET_STEPS)
			rg_clock_sleep(1);
	}
	check_kept();
	return 0;
}
