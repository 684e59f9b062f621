/*
 * Connections: evhttp does not tell of one that has no request yet, so each one's buffer is
 * watched.
 */
#include "serve/serve.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* When evhttp frees a connection, it takes its callbacks off the buffer. */
static bool is_over(const struct serve_connection *connection)
{
	bufferevent_data_cb read, write;
	bufferevent_event_cb event;

	bufferevent_getcb(connection->buffer, &read, &write, &event, NULL);
	return !read && !write && !event;
}

/* Close a connection: evhttp sees the end, and frees it. */
void serve_hang_up(struct serve_connection *connection)
{
	connection->leaving = true;
	shutdown(bufferevent_getfd(connection->buffer), SHUT_RDWR);
}

static void forget_bytes(struct serve_connection *connection)
{
	connection->door->serve->bytes -= connection->bytes;
	connection->bytes = 0;
}

/* Keep a head until it is whole, or too long; it is judged then. */
static void keep_head(struct serve_connection *connection, const struct evbuffer_iovec *part)
{
	size_t room = SERVE_HEAD_BYTES_MAX - connection->head.length;

	if (connection->judged)
		return;
	rg_buf_add(&connection->head, part->iov_base, part->iov_len < room ? part->iov_len : room);
	if (connection->raw.state <= RG_RAW_LINE_END && part->iov_len < room)
		return;
	connection->judged = true;
	serve_head_judge(connection);
}

/* Look at the bytes in the buffer from a place on. */
static void scan_input(struct serve_connection *connection, struct evbuffer *input, size_t from)
{
	struct evbuffer_iovec part;
	struct evbuffer_ptr place;

	if (evbuffer_ptr_set(input, &place, from, EVBUFFER_PTR_SET) < 0)
		return;
	while (evbuffer_peek(input, -1, &place, &part, 1) > 0) {
		rg_http_raw_take(&connection->raw, part.iov_base, part.iov_len);
		keep_head(connection, &part);
		if (!connection->refused &&
		    connection->raw.chunks > connection->door->body_bytes_max)
			serve_head_judge(connection);
		if (connection->refused)
			return;
		if (evbuffer_ptr_set(input, &place, part.iov_len, EVBUFFER_PTR_ADD) < 0)
			return;
	}
}

/* Throw away what follows a refusal; a client that sends too much will not read the answer. */
static void throw_away(struct serve_connection *connection, struct evbuffer *input)
{
	forget_bytes(connection);
	connection->seen_ms = rg_clock_monotonic_ms();
	connection->thrown += evbuffer_get_length(input);
	evbuffer_drain(input, evbuffer_get_length(input));
	if (connection->thrown > SERVE_BODY_BYTES_MAX_TCP)
		serve_hang_up(connection);
}

/* More of a request has come in; its first byte starts its time. */
static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *argument)
{
	struct serve_connection *connection = argument;
	struct serve *serve = connection->door->serve;

	if (!info->n_added)
		return;
	if (connection->refused) {
		throw_away(connection, input);
		return;
	}
	scan_input(connection, input, evbuffer_get_length(input) - info->n_added);
	connection->seen_ms = rg_clock_monotonic_ms();
	if (!connection->began_ms)
		connection->began_ms = connection->seen_ms;
	connection->bytes += info->n_added;
	serve->bytes += info->n_added;
	/* A request with few bytes on the way may finish, which makes room. */
	if (is_over(connection) ||
	    (serve->bytes > SERVE_BODIES_BYTES_MAX && connection->bytes > SERVE_HEAD_BYTES_MAX))
		serve_hang_up(connection);
}

/*
 * Free the connections that have ended.  That closes their descriptors, which evhttp must not:
 * another connection would get the number while this buffer still has events.
 */
static void reap_connections(struct serve *serve)
{
	struct serve_connection **place = &serve->connections, *connection;

	while ((connection = *place)) {
		if (!is_over(connection)) {
			place = &connection->next;
			continue;
		}
		*place = connection->next;
		forget_bytes(connection);
		evbuffer_remove_cb(bufferevent_get_input(connection->buffer), on_input, connection);
		bufferevent_decref(connection->buffer);
		rg_buf_deinit(&connection->head);
		free(connection);
		serve->connection_count--;
	}
}

/* Close the connection that was idle for longest, so that idle ones keep nobody out. */
static void make_room(struct serve *serve)
{
	struct serve_connection *connection, *oldest = NULL;

	for (connection = serve->connections; connection; connection = connection->next)
		if (!connection->busy && !connection->leaving &&
		    (!oldest || connection->seen_ms <= oldest->seen_ms))
			oldest = connection;
	if (oldest)
		serve_hang_up(oldest);
}

struct bufferevent *serve_connection_new(struct event_base *base, void *door_)
{
	struct serve_connection *connection = calloc(1, sizeof *connection);
	struct serve_door *door = door_;
	struct serve *serve = door->serve;
	struct bufferevent *buffer = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	if (!connection || !buffer) {
		free(connection);
		return buffer;
	}
	reap_connections(serve);
	if (serve->connection_count >= SERVE_CONNECTIONS_MAX)
		make_room(serve);
	*connection = (struct serve_connection){ .next = serve->connections,
						 .door = door,
						 .serve = serve,
						 .buffer = buffer,
						 .opened_ms = rg_clock_monotonic_ms() };
	connection->seen_ms = connection->opened_ms;
	rg_buf_init(&connection->head, SERVE_HEAD_KEPT_MAX);
	bufferevent_incref(buffer);
	evbuffer_add_cb(bufferevent_get_input(buffer), on_input, connection);
	serve->connections = connection;
	serve->connection_count++;
	return buffer;
}

struct serve_connection *serve_connection_of(struct serve *serve, struct evhttp_request *request)
{
	struct evhttp_connection *one = evhttp_request_get_connection(request);
	struct bufferevent *buffer = evhttp_connection_get_bufferevent(one);
	struct serve_connection *connection = serve->connections;

	while (connection && connection->buffer != buffer)
		connection = connection->next;
	return connection || serve == serve->host ? connection
						  : serve_connection_of(serve->host, request);
}

static bool has_option(const struct evkeyvalq *headers, const char *option)
{
	const char *said = evhttp_find_header(headers, "Connection");

	return said && evutil_ascii_strcasecmp(said, option) == 0;
}

/* Does evhttp close the connection after this answer?  Then nothing more is read from it. */
static bool is_last(struct evhttp_request *request)
{
	const struct evkeyvalq *asked = evhttp_request_get_input_headers(request);

	return has_option(evhttp_request_get_output_headers(request), "close") ||
	       has_option(asked, "close") ||
	       (request->minor == 0 && !has_option(asked, "keep-alive"));
}

/* The request was answered: what comes now is the next one. */
static void on_answered(struct evhttp_request *request, void *connection_)
{
	struct serve_connection *connection = connection_;
	struct evbuffer *input = bufferevent_get_input(connection->buffer);

	if (connection->mcp_began_ns)
		serve_count_mcp(connection->serve, evhttp_request_get_response_code(request),
				connection->mcp_began_ns);
	connection->mcp_began_ns = 0;
	connection->raw = (struct rg_http_raw){ 0 };
	connection->judged = is_last(request);
	rg_buf_clear(&connection->head);
	scan_input(connection, input, 0);
	forget_bytes(connection);
	connection->busy = false;
	connection->seen_ms = rg_clock_monotonic_ms();
	connection->began_ms = 0;
	if (evbuffer_get_length(input))
		connection->began_ms = connection->seen_ms;
}

bool serve_is_crowded;

void serve_connection_begin(struct serve_connection *connection, struct evhttp_request *request)
{
	connection->busy = true;
	/* Who asks again and again on one connection must not keep others out for long. */
	if (serve_is_crowded && rg_clock_monotonic_ms() - connection->opened_ms > SERVE_TICK_MS)
		serve_set_header(request, "Connection", "close");
	evhttp_request_set_on_complete_cb(request, on_answered, connection);
}

void serve_connections_tick(struct serve *serve)
{
	struct serve_connection *connection;
	int64_t now = rg_clock_monotonic_ms(), idle_ms;
	int spare;

	reap_connections(serve);
	/* If no descriptors are left, or were, close idle connections, except those that have just
	 * come. */
	spare = dup(serve->wake);
	idle_ms = spare < 0 || serve_is_crowded ? SERVE_TICK_MS / 10 : SERVE_IDLE_MS;
	close(spare);
	for (connection = serve->connections; connection; connection = connection->next) {
		if (connection->busy)
			continue;
		if (connection->refused && now - connection->seen_ms > SERVE_TICK_MS)
			serve_hang_up(connection);
		else if (connection->began_ms ? now - connection->began_ms > SERVE_REQUEST_MS
					      : now - connection->seen_ms > idle_ms)
			serve_hang_up(connection);
	}
}

void serve_connections_goodbye(struct serve *serve)
{
	struct serve_connection *connection;

	reap_connections(serve);
	for (connection = serve->connections; connection; connection = connection->next)
		if (!connection->busy &&
		    !evbuffer_get_length(bufferevent_get_output(connection->buffer)))
			serve_hang_up(connection);
}

void serve_connections_end(struct serve *serve)
{
	reap_connections(serve);
	rg_assert(!serve->connections);
}
