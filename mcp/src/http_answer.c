/* Answers over HTTP: JSON, or a stream of events. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "data/http_head.h"
#include "http.h"

/* Start a stream after this time: a client that waits for the first byte gives up at some time. */
enum { PATIENCE_MS = 5000 };

static void ready_locked(struct rg_mcp_stream *stream)
{
	struct rg_http_answer *answer = (struct rg_http_answer *)stream;
	struct roger_mcp_http *http = answer->http;

	if (answer->is_ready)
		return;
	answer->is_ready = true;
	answer->next_ready = http->ready;
	http->ready = answer;
	/* The loop holds a reference to each stream on its list. */
	stream->users++;
	if (!http->awake)
		eventfd_write(http->wake, 1);
}

/* Release the request, which is answered or gone. */
void rg_http_forget(struct rg_http_answer *answer)
{
	struct roger_mcp_http *http = answer->http;
	struct evhttp_connection *connection;
	struct rg_http_answer **place;

	connection = evhttp_request_get_connection(answer->request);
	if (connection)
		evhttp_connection_set_closecb(connection, NULL, NULL);
	answer->request = NULL;
	if (answer->gone)
		event_free(answer->gone);
	answer->gone = NULL;
	for (place = &http->answers; *place != answer; place = &(*place)->next)
		;
	*place = answer->next;
	http->answer_count--;
	rg_mcp_lock(http->server);
	rg_mcp_stream_close_locked(&answer->stream);
	rg_mcp_stream_release_locked(&answer->stream);
	rg_mcp_unlock(http->server);
}

static void on_closed(struct evhttp_connection *connection, void *argument)
{
	struct rg_http_answer *answer = argument;
	struct evhttp_request *request = answer->request;

	(void)connection;
	rg_http_forget(answer);
	/* A request that has lost its connection already is ours to free. */
	if (!evhttp_request_get_connection(request))
		evhttp_request_free(request);
}

/* A client cancels by hanging up. */
static void on_gone(evutil_socket_t fd, short what, void *argument)
{
	struct rg_http_answer *answer = argument;
	struct evhttp_connection *connection = evhttp_request_get_connection(answer->request);

	(void)fd;
	(void)what;
	rg_http_forget(answer);
	evhttp_connection_free(connection);
}

/* The answer holds the peer from now on. */
struct rg_http_answer *rg_http_answer_new(struct roger_mcp_http *http, struct rg_mcp_peer *peer)
{
	struct rg_http_answer *answer = calloc(1, sizeof *answer);

	if (!answer)
		return NULL;
	answer->http = http;
	answer->said_ms = rg_clock_ms();
	answer->stream.ready_locked = ready_locked;
	answer->stream.framed = true;
	rg_mcp_lock(http->server);
	rg_mcp_stream_init_locked(&answer->stream, peer);
	rg_mcp_unlock(http->server);
	return answer;
}

void rg_http_attach(struct rg_http_answer *answer, struct evhttp_request *request)
{
	struct roger_mcp_http *http = answer->http;
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	struct bufferevent *buffer = evhttp_connection_get_bufferevent(connection);

	answer->request = request;
	answer->next = http->answers;
	http->answers = answer;
	http->answer_count++;
	evhttp_connection_set_closecb(connection, on_closed, answer);
	answer->gone = event_new(http->base, bufferevent_getfd(buffer), EV_CLOSED, on_gone, answer);
	if (answer->gone)
		event_add(answer->gone, NULL);
}

void rg_http_set_header(struct evhttp_request *request, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(request), name, value);
}

/* Send each message as an event from now on; false: the answer is there already, alone. */
bool rg_http_start_events(struct rg_http_answer *answer)
{
	bool plain;

	rg_mcp_lock(answer->http->server);
	plain = answer->stream.plain;
	answer->stream.status = plain ? answer->stream.status : HTTP_OK;
	rg_mcp_unlock(answer->http->server);
	if (plain)
		return false;
	rg_http_set_header(answer->request, "Content-Type", "text/event-stream");
	rg_http_set_header(answer->request, "Cache-Control", "no-store");
	rg_http_set_header(answer->request, "X-Accel-Buffering", "no");
	evhttp_send_reply_start(answer->request, HTTP_OK, "OK");
	answer->started = true;
	return true;
}

void rg_http_send_chunk(struct rg_http_answer *answer, const char *data, size_t length)
{
	struct evbuffer *chunk = evbuffer_new();

	if (chunk && evbuffer_add(chunk, data, length) == 0)
		evhttp_send_reply_chunk(answer->request, chunk);
	if (chunk)
		evbuffer_free(chunk);
	answer->said_ms = rg_clock_ms();
}

void rg_http_reply(struct evhttp_request *request, int status, const char *data, size_t length)
{
	struct evbuffer *body = length ? evbuffer_new() : NULL;

	if (body) {
		rg_http_set_header(request, "Content-Type", "application/json");
		evbuffer_add(body, data, length);
	}
	evhttp_send_reply(request, status, rg_http_reason(status), body);
	if (body)
		evbuffer_free(body);
}

/* Answer with an error that belongs to no request of MCP. */
void rg_http_refuse(struct evhttp_request *request, int status, const char *words)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	rg_mcp_put_head(&text, RG_STR(""));
	rg_mcp_put_error(&text, RG_MCP_BAD_REQUEST, rg_str(words), RG_STR(""));
	rg_http_reply(request, status, text.data, text.length);
}

/* Send events of a stream. */
static void send_events(struct rg_http_answer *answer, const struct rg_buf *out, bool ended)
{
	struct evhttp_request *request = answer->request;

	if (!answer->started)
		rg_http_start_events(answer);
	if (out->length)
		rg_http_send_chunk(answer, out->data, out->length);
	if (!ended)
		return;
	rg_http_forget(answer);
	evhttp_send_reply_end(request);
}

static void send_answer(struct rg_http_answer *answer, const struct rg_buf *out, int status)
{
	struct evhttp_request *request = answer->request;

	rg_http_forget(answer);
	rg_http_reply(request, status, out->data, out->length);
}

static size_t unsent_bytes(const struct rg_http_answer *answer)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(answer->request);

	return evbuffer_get_length(
		bufferevent_get_output(evhttp_connection_get_bufferevent(connection)));
}

/* Send what the stream holds, unless the client does not read. */
static void drain_one(struct roger_mcp_http *http, struct rg_http_answer *answer)
{
	struct rg_buf out;
	bool ended, plain;
	int status;

	if (!answer->request)
		return;
	rg_mcp_lock(http->server);
	answer->stream.backlog = unsent_bytes(answer);
	if (answer->stream.backlog > RG_MCP_BACKLOG_BYTES && !answer->stream.ended) {
		rg_mcp_unlock(http->server);
		return;
	}
	out = answer->stream.out;
	ended = answer->stream.ended;
	plain = answer->stream.plain;
	status = answer->stream.status;
	rg_buf_init(&answer->stream.out, RG_MCP_UNSENT_BYTES_MAX);
	rg_mcp_catch_up_locked(&answer->stream);
	rg_mcp_unlock(http->server);
	if (plain)
		send_answer(answer, &out, status);
	else if (out.length || ended)
		send_events(answer, &out, ended);
	rg_buf_deinit(&out);
}

void rg_http_drain(struct roger_mcp_http *http)
{
	struct rg_http_answer *answer;

	for (;;) {
		rg_mcp_lock(http->server);
		answer = http->ready;
		if (!answer) {
			http->awake = false;
			rg_mcp_unlock(http->server);
			return;
		}
		http->ready = answer->next_ready;
		answer->is_ready = false;
		rg_mcp_unlock(http->server);
		drain_one(http, answer);
		rg_mcp_lock(http->server);
		rg_mcp_stream_release_locked(&answer->stream);
		rg_mcp_unlock(http->server);
	}
}

void rg_http_on_woken(evutil_socket_t fd, short what, void *argument)
{
	struct roger_mcp_http *http = argument;
	eventfd_t ignored;

	(void)what;
	eventfd_read(fd, &ignored);
	rg_http_drain(http);
}

/* Send signs of life, and try again to send to clients that did not read. */
void rg_http_on_tick(evutil_socket_t fd, short what, void *argument)
{
	struct roger_mcp_http *http = argument;
	struct rg_http_answer *answer, *next;
	int64_t now = rg_clock_ms(), quiet;

	(void)fd;
	(void)what;
	if (http->listener)
		evconnlistener_enable(http->listener);
	rg_mcp_answer_late(http->server);
	for (answer = http->answers; answer; answer = next) {
		next = answer->next;
		quiet = now - answer->said_ms;
		if (!answer->started && !answer->stream.one_only && quiet >= PATIENCE_MS)
			rg_http_start_events(answer);
		if (answer->started && quiet >= http->options.keep_alive_ms &&
		    unsent_bytes(answer) < RG_MCP_BACKLOG_BYTES)
			rg_http_send_chunk(answer, ": still here\n\n", 14);
		drain_one(http, answer);
	}
}

const char *rg_http_header(const void *request, const char *name)
{
	return evhttp_find_header(
		evhttp_request_get_input_headers((struct evhttp_request *)(uintptr_t)request),
		name);
}
