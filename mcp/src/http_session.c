/* Sessions over HTTP, and the methods POST, GET and DELETE. */
#include <event2/buffer.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/sign.h"
#include "headers.h"
#include "http.h"

/* ----------------------------------------------------------- sessions -- */

/* End an answer with another one than was asked for. */
static void end_answer(struct rg_http_answer *answer, int status, const char *words)
{
	struct evhttp_request *request = answer->request;
	bool started = answer->started;

	rg_http_forget(answer);
	if (started)
		evhttp_send_reply_end(request);
	else
		rg_http_refuse(request, status, words);
}

void rg_http_answer_all(struct roger_mcp_http *http)
{
	while (http->answers)
		end_answer(http->answers, 503, "the server ends; try again later");
}

void rg_http_session_free(struct roger_mcp_http *http, struct rg_http_session *session)
{
	struct rg_http_session **place;
	struct rg_http_answer *answer, *next;

	for (place = &http->sessions; *place != session; place = &(*place)->next)
		;
	*place = session->next;
	http->session_count--;
	for (answer = http->answers; answer; answer = next) {
		next = answer->next;
		if (answer->stream.peer == session->peer)
			end_answer(answer, 404, "the session has ended");
	}
	rg_mcp_lock(http->server);
	rg_mcp_peer_release_locked(session->peer);
	rg_mcp_unlock(http->server);
	free(session);
}

/* Drop the session that was unused for longest, if one is not in use; false: none. */
static bool drop_oldest(struct roger_mcp_http *http)
{
	struct rg_http_session *session, *oldest = NULL;

	rg_mcp_lock(http->server);
	for (session = http->sessions; session; session = session->next)
		if (session->peer->users == 1 && (!oldest || session->used_ms < oldest->used_ms))
			oldest = session;
	rg_mcp_unlock(http->server);
	if (oldest)
		rg_http_session_free(http, oldest);
	return oldest != NULL;
}

static struct rg_http_session *session_new(struct roger_mcp_http *http, const char *caller)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[RG_HTTP_SESSION_DIGITS / 2];
	struct rg_http_session *session;
	size_t i;

	if (http->session_count >= http->options.sessions_max && !drop_oldest(http))
		return NULL;
	session = calloc(1, sizeof *session);
	if (!session || rg_random(random, sizeof random, NULL) < 0) {
		free(session);
		return NULL;
	}
	for (i = 0; i < sizeof random; i++) {
		session->id[2 * i] = digits[random[i] >> 4];
		session->id[2 * i + 1] = digits[random[i] & 15];
	}
	session->used_ms = rg_clock_ms();
	rg_mcp_lock(http->server);
	session->peer = rg_mcp_peer_new_locked(http->server, caller);
	rg_mcp_unlock(http->server);
	if (!session->peer) {
		free(session);
		return NULL;
	}
	session->next = http->sessions;
	http->sessions = session;
	http->session_count++;
	return session;
}

/* Find the session that the request names, if it is the caller's; NULL: it was refused. */
static struct rg_http_session *find_session(struct roger_mcp_http *http,
					    struct evhttp_request *request, const char *caller)
{
	const char *id = rg_http_header(request, "Mcp-Session-Id");
	struct rg_http_session *session;

	if (!id) {
		rg_http_refuse(
			request, 400,
			"expected the header 'Mcp-Session-Id' of an 'initialize', or a request of "
			"2026-07-28");
		return NULL;
	}
	for (session = http->sessions; session; session = session->next)
		if (rg_same_secret(rg_str(session->id), rg_str(id)) &&
		    strcmp(session->peer->caller, caller) == 0) {
			session->used_ms = rg_clock_ms();
			return session;
		}
	rg_http_refuse(request, 404, "no such session; begin with 'initialize'");
	return NULL;
}

/* --------------------------------------------------------------- POST -- */

/* A POST: its message, and its sender. */
struct post {
	struct roger_mcp_http *http;
	struct evhttp_request *request;
	const char *caller;
	struct rg_arena *arena;
	struct rg_mcp_message message;
	struct rg_mcp_headers headers;
	bool modern, events_taken;
};

static void drop_arena(struct post *post)
{
	rg_mcp_lock(post->http->server);
	rg_mcp_arena_free_locked(post->http->server, post->arena);
	rg_mcp_unlock(post->http->server);
	post->arena = NULL;
}

/* Take a message that needs no answer, for this peer. */
static void take_note(struct post *post, struct rg_mcp_peer *peer)
{
	struct rg_http_answer *nowhere = rg_http_answer_new(post->http, peer);

	if (!nowhere) {
		drop_arena(post);
		rg_http_refuse(post->request, 503, "out of memory");
		return;
	}
	rg_mcp_lock(post->http->server);
	nowhere->stream.closed = true;
	rg_mcp_unlock(post->http->server);
	rg_mcp_dispatch(&nowhere->stream, &post->message, post->arena, &post->headers);
	rg_mcp_lock(post->http->server);
	rg_mcp_stream_release_locked(&nowhere->stream);
	rg_mcp_unlock(post->http->server);
	rg_http_reply(post->request, 202, NULL, 0);
}

static void take_request(struct post *post, struct rg_mcp_peer *peer)
{
	struct rg_http_answer *answer = rg_http_answer_new(post->http, peer);

	if (!answer) {
		drop_arena(post);
		rg_http_refuse(post->request, 503, "out of memory");
		return;
	}
	answer->stream.one_only = !post->events_taken;
	rg_http_attach(answer, post->request);
	rg_mcp_dispatch(&answer->stream, &post->message, post->arena, &post->headers);
}

/* Take a request, or a message that needs no answer. */
static void take_message(struct post *post, struct rg_mcp_peer *peer)
{
	if (post->message.form == RG_MCP_REQUEST)
		take_request(post, peer);
	else
		take_note(post, peer);
}

static void post_modern(struct post *post)
{
	struct rg_mcp_peer *peer;

	if (!post->events_taken && rg_str_is(post->message.method, "subscriptions/listen")) {
		drop_arena(post);
		rg_http_refuse(post->request, 406,
			       "expected 'text/event-stream' in the header 'Accept'");
		return;
	}
	rg_mcp_lock(post->http->server);
	peer = rg_mcp_peer_new_locked(post->http->server, post->caller);
	rg_mcp_unlock(post->http->server);
	if (!peer) {
		drop_arena(post);
		rg_http_refuse(post->request, 503, "out of memory");
		return;
	}
	take_message(post, peer);
	rg_mcp_lock(post->http->server);
	rg_mcp_peer_release_locked(peer);
	rg_mcp_unlock(post->http->server);
}

static void post_initialize(struct post *post)
{
	struct rg_http_session *session = session_new(post->http, post->caller);

	if (!session) {
		drop_arena(post);
		rg_http_refuse(post->request, 503, "too many sessions; try again later");
		return;
	}
	rg_http_set_header(post->request, "Mcp-Session-Id", session->id);
	take_request(post, session->peer);
	if (session->peer->revision != RG_MCP_NONE)
		return;
	/* It was rejected, so there is no session: only the answer is sent. */
	evhttp_remove_header(evhttp_request_get_output_headers(post->request), "Mcp-Session-Id");
	rg_http_drain(post->http);
	rg_http_session_free(post->http, session);
}

static void post_legacy(struct post *post)
{
	struct rg_http_session *session;

	if (rg_str_is(post->message.method, "initialize") && post->message.form == RG_MCP_REQUEST) {
		post_initialize(post);
		return;
	}
	session = find_session(post->http, post->request, post->caller);
	if (session)
		take_message(post, session->peer);
	else
		drop_arena(post);
}

static bool is_json(const char *type)
{
	size_t length = type ? strcspn(type, "; \t") : 0;

	return length == 16 && evutil_ascii_strncasecmp(type, "application/json", 16) == 0;
}

static void refuse_unreadable(struct post *post, int code, const char *words)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	rg_mcp_put_head(&text, post->message.id);
	rg_mcp_put_error(&text, code, rg_str(words), RG_STR(""));
	drop_arena(post);
	rg_http_reply(post->request, 400, text.data, text.length);
}

void rg_http_on_post(struct roger_mcp_http *http, struct evhttp_request *request,
		     const char *caller)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	const char *accept = rg_http_header(request, "Accept");
	struct post post = { .http = http, .request = request, .caller = caller };
	struct roger_err err = { 0 };
	struct roger_str text = { NULL, evbuffer_get_length(body) };
	int code;

	if (!is_json(rg_http_header(request, "Content-Type"))) {
		rg_http_refuse(request, 415,
			       "expected 'application/json' in the header 'Content-Type'");
		return;
	}
	if (!rg_http_accepts(accept, "application/json")) {
		rg_http_refuse(request, 406,
			       "expected 'application/json' and 'text/event-stream' in the header "
			       "'Accept'");
		return;
	}
	text.data = text.length ? (const char *)evbuffer_pullup(body, -1) : "";
	post.arena = rg_mcp_arena_new(http->server);
	if (!text.data || !post.arena) {
		drop_arena(&post);
		rg_http_refuse(request, 503, "out of memory");
		return;
	}
	post.events_taken = rg_http_accepts(accept, "text/event-stream");
	post.headers = (struct rg_mcp_headers){ rg_http_header(request, "MCP-Protocol-Version"),
						rg_http_header(request, "Mcp-Method"),
						rg_http_header(request, "Mcp-Name"), rg_http_header,
						request };
	code = rg_mcp_read(text, post.arena, &post.message, &err);
	if (code < 0)
		refuse_unreadable(&post, code, err.message);
	else if (rg_mcp_speaks_modern(&post.message, &post.headers))
		post_modern(&post);
	else
		post_legacy(&post);
}

/* ----------------------------------------------------- GET and DELETE -- */

/* Find the session of a request that needs one; NULL: it was refused. */
static struct rg_http_session *find_named_session(struct roger_mcp_http *http,
						  struct evhttp_request *request,
						  const char *caller)
{
	if (rg_http_header(request, "Mcp-Session-Id"))
		return find_session(http, request, caller);
	rg_http_set_header(request, "Allow", "POST");
	rg_http_refuse(request, 405, "expected POST");
	return NULL;
}

/* Open the stream for messages that belong to no request, for a client with a session. */
void rg_http_on_get(struct roger_mcp_http *http, struct evhttp_request *request, const char *caller)
{
	struct rg_http_session *session;
	struct rg_http_answer *answer;

	session = find_named_session(http, request, caller);
	if (!session)
		return;
	if (!rg_http_header(request, "Accept") ||
	    !rg_http_accepts(rg_http_header(request, "Accept"), "text/event-stream")) {
		rg_http_refuse(request, 406, "expected 'text/event-stream' in the header 'Accept'");
		return;
	}
	if (session->peer->stream) {
		rg_http_refuse(request, 409, "this session has a stream already");
		return;
	}
	answer = rg_http_answer_new(http, session->peer);
	if (!answer) {
		rg_http_refuse(request, 503, "out of memory");
		return;
	}
	rg_http_attach(answer, request);
	rg_http_start_events(answer);
	rg_http_send_chunk(answer, ": hello\n\n", 9);
	rg_mcp_lock(http->server);
	session->peer->stream = &answer->stream;
	answer->stream.late = true;
	rg_mcp_catch_up_locked(&answer->stream);
	rg_mcp_unlock(http->server);
}

void rg_http_on_delete(struct roger_mcp_http *http, struct evhttp_request *request,
		       const char *caller)
{
	struct rg_http_session *session;

	session = find_named_session(http, request, caller);
	if (!session)
		return;
	rg_http_session_free(http, session);
	rg_http_reply(request, 200, NULL, 0);
}
