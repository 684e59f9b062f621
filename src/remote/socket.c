/*
 * socket - a request over a unix socket, or to a port of this machine: no TLS, no proxy.
 *
 * The server is roger's, so its answers are read as it writes them: a head, then a body of a
 * stated length.  Anything else is a broken answer.  In HTTP/1.0 nothing comes in chunks, and the
 * lines of a stream come as they are.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/remote.h"

enum { HEAD_BYTES_MAX = 64 << 10, READ_BYTES = 16 << 10 };
enum { TELL_MS = 500, CONNECT_MS = 5000, QUEUE_MS = 20 };

struct line_in {
	int fd;
	struct rg_buf in; /* what was read of an answer, or of a stream */
};

/* -------------------------------------------------------------- connecting -- */

static int connect_to(const struct sockaddr *address, socklen_t length, int64_t wait_ms)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int64_t until_ms = rg_clock_monotonic_ms() + wait_ms;
	struct pollfd ready = { fd, POLLOUT, 0 };
	socklen_t size = sizeof errno;
	int error;

	if (fd < 0)
		return fd;
	/* A unix socket whose queue is full says EAGAIN, and no event tells when it has room. */
	while ((error = connect(fd, address, length) == 0 ? 0 : errno) == EAGAIN &&
	       rg_clock_monotonic_ms() < until_ms && !remote_is_interrupted())
		rg_clock_sleep(QUEUE_MS);
	if (error == EAGAIN || (error == EINPROGRESS && poll(&ready, 1, (int)wait_ms) <= 0))
		error = ETIMEDOUT;
	else if (error == EINPROGRESS)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* Connect within this time, and within CONNECT_MS. */
static int connect_place(const struct remote_place *place, int64_t wait_ms)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST };
	struct addrinfo *found = NULL;
	char host[256];
	int fd = -1;

	wait_ms = wait_ms < CONNECT_MS ? wait_ms : CONNECT_MS;
	if (*place->socket) {
		memcpy(local.sun_path, place->socket, sizeof local.sun_path);
		return connect_to((const struct sockaddr *)&local, sizeof local, wait_ms);
	}
	/* localhost needs no look-up, which a static program cannot do. */
	snprintf(host, sizeof host, "%s",
		 strcmp(place->host, "localhost") == 0 ? "127.0.0.1"
		 : strcmp(place->host, "[::1]") == 0   ? "::1"
						       : place->host);
	if (getaddrinfo(host, place->port, &hints, &found) != 0) {
		errno = EINVAL;
		return -1;
	}
	fd = connect_to(found->ai_addr, found->ai_addrlen, wait_ms);
	freeaddrinfo(found);
	return fd;
}

static void *open_line(const struct remote *remote)
{
	struct line_in *line = calloc(1, sizeof *line);

	(void)remote;
	if (line) {
		line->fd = -1;
		rg_buf_init(&line->in, SIZE_MAX);
	}
	return line;
}

static void hang_up(struct line_in *line)
{
	if (line->fd >= 0)
		close(line->fd);
	line->fd = -1;
	rg_buf_clear(&line->in);
}

static void close_line(void *line_)
{
	struct line_in *line = line_;

	hang_up(line);
	rg_buf_deinit(&line->in);
	free(line);
}

/* --------------------------------------------------------- sending, reading -- */

/* Wait for the socket; false: interrupted, or no time is left. */
static bool wait_for(const struct remote *remote, int fd, short what, int64_t until_ms)
{
	struct pollfd ready = { fd, what, 0 };
	int64_t left_ms;

	for (;;) {
		left_ms = until_ms - rg_clock_monotonic_ms();
		if (left_ms <= 0 || remote_is_interrupted())
			return false;
		if (poll(&ready, 1, (int)(left_ms < TELL_MS ? left_ms : TELL_MS)) > 0)
			return true;
		if (remote->tell &&
		    !remote->tell(remote->tell_context, "wait for the server", 0, 0))
			return false;
	}
}

static bool send_all(const struct remote *remote, int fd, struct roger_str bytes, int64_t until_ms)
{
	ssize_t sent;

	while (bytes.length) {
		sent = send(fd, bytes.data, bytes.length, MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (sent < 0 && !wait_for(remote, fd, POLLOUT, until_ms))
			return false;
		bytes.data += sent > 0 ? sent : 0;
		bytes.length -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

/* Read more bytes; false: there are none, and will be none. */
static bool read_more(const struct remote *remote, struct line_in *line, int64_t until_ms)
{
	char *room = rg_buf_room(&line->in, READ_BYTES);
	ssize_t got;

	while (room) {
		got = recv(line->fd, room, READ_BYTES, 0);
		line->in.length += got > 0 ? (size_t)got : 0;
		if (got >= 0)
			return got > 0;
		if ((errno != EAGAIN && errno != EINTR) || !remote ||
		    !wait_for(remote, line->fd, POLLIN, until_ms))
			return false;
	}
	return false;
}

/* ------------------------------------------------------------------ asking -- */

static bool print_head(const struct remote *remote, const struct remote_request *request,
		       struct rg_buf *out)
{
	const struct remote_place *place = remote->place;

	rg_buf_printf(out,
		      "%s %s%s HTTP/1.0\r\nHost: %s%s%s\r\nUser-Agent: roger/" ROGER_VERSION
		      "\r\nAccept: application/json\r\nConnection: keep-alive\r\n",
		      request->body.data ? "POST" : "GET", place->path, request->path,
		      *place->socket ? "localhost" : place->host, *place->socket ? "" : ":",
		      *place->socket ? "" : place->port);
	if (*place->token)
		rg_buf_printf(out, "Authorization: Bearer %s\r\n", place->token);
	if (request->body.data)
		rg_buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			      request->body.length);
	if (request->key)
		rg_buf_printf(out, "Idempotency-Key: %s\r\n", request->key);
	if (request->key && request->since_ms)
		rg_buf_printf(out, "Roger-Tried: %lld\r\n", (long long)request->since_ms);
	rg_buf_add_text(out, "\r\n");
	rg_buf_add_str(out, request->body);
	return !out->failed;
}

/* Read the head and the body; false: the answer broke off, or is too long. */
static bool read_answer(const struct remote *remote, struct line_in *line,
			struct remote_answer *answer, int64_t until_ms)
{
	struct roger_str head, text;
	size_t from, length = 0;
	bool keeps = false;
	const char *end;

	do
		if (line->in.length > HEAD_BYTES_MAX || !read_more(remote, line, until_ms))
			return false;
	while (!(end = rg_str_find_part(rg_buf_str(&line->in), rg_str("\r\n\r\n"))));
	head = (struct roger_str){ line->in.data, (size_t)(end - line->in.data) };
	from = head.length + 4;
	if (head.length < 12 || strncmp(head.data, "HTTP/1.", 7) != 0)
		return false;
	answer->status = strtol(head.data + 9, NULL, 10);
	answer->sized = answer->status == 204 || answer->status == 304;
	while (rg_str_next_line(&head, &text)) {
		if (strncasecmp(text.data, "content-length:", 15) == 0) {
			answer->sized = true;
			length = strtoul(text.data + 15, NULL, 10);
		}
		keeps |= strncasecmp(text.data, "connection: keep-alive", 22) == 0;
	}
	answer->too_long = length > REMOTE_ANSWER_BYTES_MAX;
	if (!answer->sized || answer->too_long)
		return false;
	while (line->in.length - from < length)
		if (!read_more(remote, line, until_ms))
			return false;
	rg_buf_add(&answer->body, line->in.data + from, length);
	answer->too_long = answer->body.failed;
	if (!keeps)
		hang_up(line);
	return !answer->too_long;
}

static enum remote_outcome fail_here(const struct remote *remote, int error, struct roger_err *err)
{
	const char *name = remote->place->name;

	if (remote->here && (error == ENOENT || error == ECONNREFUSED))
		rg_fail_member(
			err, ROGER_EENGINE, "server",
			"this workspace is in PostgreSQL, and no `roger serve` of it runs on "
			"this machine: start one (`roger serve`, or as a service: "
			"docs/SERVE.md), or name one of another machine in ROGER_SERVER");
	else if (error == ENOENT || error == ECONNREFUSED)
		rg_fail(err, ROGER_ETIMEOUT, 0,
			"%.200s: nobody answers at this address; check it, and that the server "
			"runs",
			name);
	else
		rg_fail(err, ROGER_ETIMEOUT, error, "%.200s: connect", name);
	return REMOTE_UNSENT;
}

static enum remote_outcome fail_broken(const struct remote *remote,
				       const struct remote_answer *answer, int64_t until_ms,
				       struct roger_err *err)
{
	rg_fail(err, ROGER_ETIMEOUT, 0,
		rg_clock_monotonic_ms() >= until_ms ? "%.200s: no answer in time; check the server"
		: answer->status		    ? "%.200s: its answer broke off"
				 : "%.200s: it closed the connection without an answer",
		remote->place->name);
	return REMOTE_BROKEN;
}

static enum remote_outcome ask_over_socket(struct remote *remote,
					   const struct remote_request *request,
					   struct remote_answer *answer, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	const int64_t until_ms = rg_clock_monotonic_ms() + request->within_ms;
	struct line_in *line = remote->connection;
	char byte;

	if (!print_head(remote, request, &out)) {
		rg_fail_memory(err);
		return REMOTE_NEVER;
	}
	/* A connection that was idle may have been closed. */
	if (line->fd >= 0 && recv(line->fd, &byte, 1, MSG_PEEK) >= 0)
		hang_up(line);
	if (line->fd < 0)
		line->fd = connect_place(remote->place, request->within_ms);
	if (line->fd < 0)
		return fail_here(remote, errno, err);
	rg_buf_clear(&line->in);
	/* A refusal may come before everything was sent. */
	(void)send_all(remote, line->fd, rg_buf_str(&out), until_ms);
	if (read_answer(remote, line, answer, until_ms))
		return REMOTE_ANSWERED;
	hang_up(line);
	return fail_broken(remote, answer, until_ms, err);
}

/* ----------------------------------------------------------------- streams -- */

static void *begin_stream(struct remote *remote, const char *last)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	const struct remote_request request = { .path = "/v1/events" };
	struct line_in *line = open_line(remote);

	if (!line)
		return NULL;
	if (print_head(remote, &request, &out) && *last) {
		out.length -= 2;
		rg_buf_printf(&out, "%s\r\n\r\n", last);
	}
	line->fd = connect_place(remote->place, CONNECT_MS);
	if (line->fd >= 0 && !out.failed &&
	    send_all(remote, line->fd, rg_buf_str(&out), rg_clock_monotonic_ms() + CONNECT_MS))
		return line;
	close_line(line);
	return NULL;
}

/* A head, or an error, has no line that means anything in a stream. */
static bool step_stream(void *line_, struct remote_watch *watch, int64_t wait_ms)
{
	struct line_in *line = line_;
	struct pollfd ready = { line->fd, POLLIN, 0 };

	if (poll(&ready, 1, (int)wait_ms) <= 0)
		return true;
	rg_buf_clear(&line->in);
	if (!read_more(NULL, line, 0))
		return false;
	remote_watch_take(watch, line->in.data, line->in.length);
	return true;
}

const struct remote_wire remote_socket_wire = { open_line,    close_line,  ask_over_socket,
						begin_stream, step_stream, close_line };
