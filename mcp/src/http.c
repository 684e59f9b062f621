/* The HTTP transport: opening and running it, and the checks of each request. */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sign.h"
#include "headers.h"
#include "http.h"

enum {
	TICK_MS = 1000,
	/* A connection without a request or an answer is closed after this. */
	IDLE_SECONDS = 120,
	HEADER_BYTES_MAX = 16 << 10,
	HEADERS_MAX = 100,
};

/* -------------------------------------------------------- every request -- */

/* The owner of the caller's token; "": no tokens are needed; NULL: not known. */
static const char *caller_of(const struct roger_mcp_http *http, struct evhttp_request *request)
{
	const char *header = rg_http_header(request, "Authorization"), *found = NULL;
	size_t i;

	if (http->options.token_count == 0)
		return "";
	if (!header || evutil_ascii_strncasecmp(header, "Bearer ", 7) != 0)
		return NULL;
	/* Compare with all tokens, so that the time says nothing. */
	for (i = 0; i < http->options.token_count; i++)
		if (rg_same_secret(rg_str(header + 7), rg_str(http->options.tokens[i].token)))
			found = http->options.tokens[i].owner;
	return found;
}

/* Read the head as it came; false: it has too many headers. */
static bool read_head(struct evhttp_request *request, struct rg_http_field fields[HEADERS_MAX],
		      struct rg_http_head *ret)
{
	const unsigned with_body = EVHTTP_REQ_POST | EVHTTP_REQ_PUT | EVHTTP_REQ_PATCH;
	struct evkeyval *header;

	*ret = (struct rg_http_head){ request->major,
				      request->minor,
				      evhttp_request_get_uri(request),
				      fields,
				      0,
				      !(evhttp_request_get_command(request) & with_body) };
	TAILQ_FOREACH(header, evhttp_request_get_input_headers(request), next)
	{
		if (ret->count == HEADERS_MAX)
			return false;
		fields[ret->count++] = (struct rg_http_field){ header->key, header->value };
	}
	return true;
}

/* The fault of a head; NULL: none.  After 400, the rest of the connection is not read. */
static const char *fault_of(struct roger_mcp_http *http, struct evhttp_request *request,
			    int *ret_status)
{
	const struct roger_mcp_http_options *options = &http->options;
	const struct rg_http_allowed allowed = { options->hosts, options->origins,
						 options->host_count, options->origin_count };
	struct rg_http_field fields[HEADERS_MAX];
	struct rg_http_head head;
	const char *fault;

	*ret_status = 400;
	fault = read_head(request, fields, &head) ? rg_http_head_fault(&head) : "too many headers";
	if (fault)
		return fault;
	*ret_status = 403;
	return rg_http_head_foreign(&head, &allowed);
}

/* Does the request come from an allowed place, to our path?  False: it was refused. */
static bool passes_gate(struct roger_mcp_http *http, struct evhttp_request *request)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL, *fault;
	int status;

	fault = fault_of(http, request, &status);
	if (fault) {
		rg_http_set_header(request, "Connection", "close");
		rg_http_refuse(request, status, fault);
	} else if (!path || strcmp(path, http->path) != 0)
		rg_http_refuse(request, 404, "no such path");
	else
		return true;
	return false;
}

/* Is there room for the request?  False: it was refused. */
static bool has_room(struct roger_mcp_http *http, struct evhttp_request *request)
{
	if (http->answer_count >= http->options.connections_max)
		rg_http_refuse(request, 503, "too many open requests; try again later");
	else if (evbuffer_get_length(evhttp_request_get_input_buffer(request)) >
		 http->server->options.message_bytes_max)
		rg_http_refuse(request, 413, "the message is too long");
	else
		return true;
	return false;
}

void roger_mcp_http_take(struct roger_mcp_http *http, struct evhttp_request *request,
			 const char *caller)
{
	if (!has_room(http, request))
		return;
	rg_mcp_lock(http->server);
	http->awake = true;
	rg_mcp_unlock(http->server);
	switch (evhttp_request_get_command(request)) {
	case EVHTTP_REQ_POST:
		rg_http_on_post(http, request, caller);
		break;
	case EVHTTP_REQ_GET:
		rg_http_on_get(http, request, caller);
		break;
	case EVHTTP_REQ_DELETE:
		rg_http_on_delete(http, request, caller);
		break;
	default:
		rg_http_set_header(request, "Allow", "POST, GET, DELETE");
		rg_http_refuse(request, 405, "expected POST");
	}
	rg_http_drain(http);
}

static void on_request(struct evhttp_request *request, void *argument)
{
	struct roger_mcp_http *http = argument;
	const char *caller;

	if (!passes_gate(http, request))
		return;
	caller = caller_of(http, request);
	if (caller) {
		roger_mcp_http_take(http, request, caller);
		return;
	}
	rg_http_set_header(request, "WWW-Authenticate", "Bearer");
	rg_http_refuse(request, 401,
		       "expected the header 'Authorization: Bearer TOKEN' with a token of this "
		       "server");
}

/* ------------------------------------------------------ opening, running -- */

/* Can only this machine reach the address? */
static bool is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int check_options(const struct roger_mcp_http_options *options, struct roger_err *err)
{
	size_t i;

	if (options->path && (options->path[0] != '/' || strlen(options->path) > 120))
		return rg_fail(err, ROGER_EUSAGE, 0, "a path starts with '/' and is short");
	for (i = 0; i < options->token_count; i++)
		if (!options->tokens[i].token || strlen(options->tokens[i].token) < 16 ||
		    !options->tokens[i].owner || !*options->tokens[i].owner)
			return rg_fail(err, ROGER_EUSAGE, 0,
				       "a token has 16 characters or more, and an owner");
	if (!options->address || is_loopback(options->address))
		return ROGER_OK;
	if (!options->allow_remote || options->token_count == 0)
		return rg_fail(
			err, ROGER_EUSAGE, 0,
			"address '%s' is not the loopback: that needs allow_remote, and tokens",
			options->address);
	return ROGER_OK;
}

/* There are no more descriptors: new clients wait until the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *http)
{
	(void)http;
	evconnlistener_disable(listener);
}

static int bind_socket(struct roger_mcp_http *http, struct roger_err *err)
{
	const char *address = http->options.address ? http->options.address : "127.0.0.1";
	struct evhttp_bound_socket *bound;
	struct sockaddr_storage name = { 0 };
	socklen_t length = sizeof name;

	bound = evhttp_bind_socket_with_handle(http->evhttp, address, http->options.port);
	if (!bound)
		return rg_fail(err, ROGER_EIO, errno, "listen on '%s' port %u", address,
			       http->options.port);
	if (getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&name, &length) < 0)
		return rg_fail(err, ROGER_EIO, errno, "find the port");
	http->listener = evhttp_bound_socket_get_listener(bound);
	evconnlistener_set_error_cb(http->listener, on_accept_error);
	http->port =
		ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&name)->sin6_port
						 : ((struct sockaddr_in *)(void *)&name)->sin_port);
	return ROGER_OK;
}

static void on_stop(evutil_socket_t fd, short what, void *argument)
{
	struct roger_mcp_http *http = argument;

	(void)fd;
	(void)what;
	event_base_loopbreak(http->base);
}

/* Add our events to the loop, whoever owns it. */
static bool prepare_loop(struct roger_mcp_http *http)
{
	const struct timeval tick = { TICK_MS / 1000, TICK_MS % 1000 * 1000 };

	http->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!http->base || http->wake < 0)
		return false;
	http->woken =
		event_new(http->base, http->wake, EV_READ | EV_PERSIST, rg_http_on_woken, http);
	http->tick = event_new(http->base, -1, EV_PERSIST, rg_http_on_tick, http);
	return http->woken && http->tick && event_add(http->woken, NULL) == 0 &&
	       event_add(http->tick, &tick) == 0;
}

static bool prepare_http(struct roger_mcp_http *http)
{
	http->base = event_base_new();
	http->evhttp = http->base ? evhttp_new(http->base) : NULL;
	if (!http->evhttp || !prepare_loop(http))
		return false;
	evhttp_set_allowed_methods(http->evhttp, EVHTTP_REQ_POST | EVHTTP_REQ_GET |
							 EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS |
							 EVHTTP_REQ_PUT | EVHTTP_REQ_PATCH);
	evhttp_set_max_headers_size(http->evhttp, HEADER_BYTES_MAX);
	evhttp_set_max_body_size(http->evhttp, (ssize_t)http->server->options.message_bytes_max);
	evhttp_set_timeout(http->evhttp, IDLE_SECONDS);
	evhttp_set_gencb(http->evhttp, on_request, http);
	http->stopped = event_new(http->base, http->server->stop_event, EV_READ, on_stop, http);
	return http->stopped && event_add(http->stopped, NULL) == 0;
}

static struct roger_mcp_http *http_new(struct roger_mcp_server *server,
				       const struct roger_mcp_http_options *options)
{
	struct roger_mcp_http *http = calloc(1, sizeof *http);

	if (!http)
		return NULL;
	http->server = server;
	http->options = *options;
	http->wake = -1;
	snprintf(http->path, sizeof http->path, "%s", options->path ? options->path : "/mcp");
	if (http->options.sessions_max == 0)
		http->options.sessions_max = 256;
	if (http->options.connections_max == 0)
		http->options.connections_max = 512;
	if (http->options.keep_alive_ms == 0)
		http->options.keep_alive_ms = 15000;
	return http;
}

int roger_mcp_http_open(struct roger_mcp_server *server,
			const struct roger_mcp_http_options *options,
			struct roger_mcp_http **ret_http, struct roger_mcp_err *err)
{
	static const struct roger_mcp_http_options defaults;
	struct roger_mcp_http *http;
	struct roger_err inner = { 0 };

	options = options ? options : &defaults;
	if (check_options(options, &inner) < 0)
		return rg_mcp_tell(&inner, err);
	http = http_new(server, options);
	if (!http) {
		rg_fail_memory(&inner);
		return rg_mcp_tell(&inner, err);
	}
	if (!prepare_http(http))
		rg_fail(&inner, ROGER_EIO, errno, "prepare for HTTP");
	if (inner.code || bind_socket(http, &inner) < 0) {
		roger_mcp_http_close(http);
		return rg_mcp_tell(&inner, err);
	}
	*ret_http = http;
	return ROGER_MCP_OK;
}

int roger_mcp_http_mount(struct roger_mcp_server *server, struct event_base *base,
			 const struct roger_mcp_http_options *options,
			 struct roger_mcp_http **ret_http, struct roger_mcp_err *err)
{
	static const struct roger_mcp_http_options defaults;
	struct roger_mcp_http *http = http_new(server, options ? options : &defaults);
	struct roger_err inner = { 0 };

	if (!http) {
		rg_fail_memory(&inner);
		return rg_mcp_tell(&inner, err);
	}
	http->mounted = true;
	http->base = base;
	if (!prepare_loop(http)) {
		rg_fail(&inner, ROGER_EIO, errno, "prepare for HTTP");
		roger_mcp_http_close(http);
		return rg_mcp_tell(&inner, err);
	}
	*ret_http = http;
	return ROGER_MCP_OK;
}

uint16_t roger_mcp_http_port(const struct roger_mcp_http *http)
{
	return http->port;
}

/* Send listeners their last answers. */
static void end_listeners(struct roger_mcp_http *http)
{
	rg_mcp_lock(http->server);
	rg_mcp_end_listeners_locked(http->server);
	rg_mcp_unlock(http->server);
	rg_http_drain(http);
}

/* Give them a moment to read these. */
static void say_goodbye(struct roger_mcp_http *http)
{
	int i;

	end_listeners(http);
	for (i = 0; i < 4; i++)
		event_base_loop(http->base, EVLOOP_NONBLOCK);
}

int roger_mcp_http_run(struct roger_mcp_http *http, struct roger_mcp_err *err)
{
	struct roger_err inner = { 0 };
	sigset_t pipe, before;
	int r;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	r = event_base_dispatch(http->base);
	if (r == 0)
		say_goodbye(http);
	sigtimedwait(&pipe, NULL, &(const struct timespec){ 0 });
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		return ROGER_MCP_OK;
	rg_fail(&inner, ROGER_EIO, errno, "wait for requests");
	return rg_mcp_tell(&inner, err);
}

static void drop_ready(struct roger_mcp_http *http)
{
	struct rg_http_answer *answer;

	rg_mcp_lock(http->server);
	while ((answer = http->ready)) {
		http->ready = answer->next_ready;
		answer->is_ready = false;
		rg_mcp_stream_release_locked(&answer->stream);
	}
	rg_mcp_unlock(http->server);
}

struct roger_mcp_http *roger_mcp_http_close(struct roger_mcp_http *http)
{
	if (!http)
		return NULL;
	if (http->mounted) {
		end_listeners(http);
		rg_http_answer_all(http);
	}
	while (http->answers)
		rg_http_forget(http->answers);
	while (http->sessions)
		rg_http_session_free(http, http->sessions);
	drop_ready(http);
	if (http->evhttp)
		evhttp_free(http->evhttp);
	rg_mcp_lock(http->server);
	rg_mcp_wait_idle_locked(http->server, NULL);
	rg_mcp_unlock(http->server);
	if (http->woken)
		event_free(http->woken);
	if (http->stopped)
		event_free(http->stopped);
	if (http->tick)
		event_free(http->tick);
	if (http->base && !http->mounted)
		event_base_free(http->base);
	if (http->wake >= 0)
		close(http->wake);
	free(http);
	return NULL;
}
