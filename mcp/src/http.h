/*
 * http - inside of the HTTP transport: requests that wait for answers, and sessions.
 *
 * One thread owns the event loop and everything of libevent.  Other threads write
 * messages into a stream, put it on the list of ready ones, and wake the loop.  A
 * request gets JSON if there is only its answer, or a stream of events if there
 * is more, or if it takes long.
 *
 *     http.c            opening, running, who is let in
 *     http_answer.c     answers and streams of events
 *     http_session.c    sessions; POST, GET and DELETE
 */
#ifndef RG_MCP_HTTP_H
#define RG_MCP_HTTP_H

#include <event2/event.h>
#include <event2/http.h>

#include "mcp.h"

enum { RG_HTTP_SESSION_DIGITS = 32 };

/* The answer to one request. */
struct rg_http_answer {
	struct rg_mcp_stream stream; /* first: the last one to need it frees the answer */
	struct rg_http_answer *next, *next_ready;
	struct roger_mcp_http *http;
	struct evhttp_request *request; /* NULL: it is answered or gone */
	struct event *gone;		/* watches for the client hanging up */
	bool is_ready, started;
	int64_t said_ms;
};

/* A client that made a handshake. */
struct rg_http_session {
	struct rg_http_session *next;
	struct rg_mcp_peer *peer;
	int64_t used_ms;
	char id[RG_HTTP_SESSION_DIGITS + 1];
};

struct roger_mcp_http {
	struct roger_mcp_server *server;
	struct roger_mcp_http_options options;
	struct event_base *base;
	struct evhttp *evhttp;
	struct evconnlistener *listener;
	struct event *woken, *stopped, *tick;
	int wake;
	uint16_t port;
	char path[128];
	struct rg_http_answer *answers;
	size_t answer_count;
	struct rg_http_answer *ready; /* guarded by the server's lock */
	bool awake;		      /* guarded, too: the loop will look at the list anyway */
	bool mounted;		      /* the loop belongs to the caller */
	struct rg_http_session *sessions;
	size_t session_count;
};

/* ------------------------------------------------------------ answers -- */

/* Make an answer, which holds the peer; NULL: out of memory. */
struct rg_http_answer *rg_http_answer_new(struct roger_mcp_http *http, struct rg_mcp_peer *peer);

/* Answer this request from now on. */
void rg_http_attach(struct rg_http_answer *answer, struct evhttp_request *request);

/* Release the request, which is answered or gone. */
void rg_http_forget(struct rg_http_answer *answer);

/* Send each message as an event from now on; false: the answer is there already, alone. */
bool rg_http_start_events(struct rg_http_answer *answer);
void rg_http_send_chunk(struct rg_http_answer *answer, const char *data, size_t length);

/* Send what the ready streams hold. */
void rg_http_drain(struct roger_mcp_http *http);

/* Send a whole answer that needs no stream, or an error that belongs to no request of MCP. */
void rg_http_reply(struct evhttp_request *request, int status, const char *data, size_t length);
void rg_http_refuse(struct evhttp_request *request, int status, const char *words);

void rg_http_set_header(struct evhttp_request *request, const char *name, const char *value);
const char *rg_http_header(const void *request, const char *name);

/* Callbacks of the loop: another thread has written a message; a tick has passed. */
void rg_http_on_woken(evutil_socket_t fd, short what, void *http);
void rg_http_on_tick(evutil_socket_t fd, short what, void *http);

/* ----------------------------------------------------------- requests -- */

/* End everything that waits for an answer. */
void rg_http_answer_all(struct roger_mcp_http *http);

void rg_http_session_free(struct roger_mcp_http *http, struct rg_http_session *session);
void rg_http_on_post(struct roger_mcp_http *http, struct evhttp_request *request,
		     const char *caller);
void rg_http_on_get(struct roger_mcp_http *http, struct evhttp_request *request,
		    const char *caller);
void rg_http_on_delete(struct roger_mcp_http *http, struct evhttp_request *request,
		       const char *caller);

#endif
