/* The gate that each request must pass, the caller, and what each path does. */
#include "serve/serve.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/id.h"

/* From Linux 6.5; the system's headers may be older. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* ----------------------------------------------------------------- answers -- */

void serve_set_header(struct evhttp_request *request, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(request), name, value);
}

const char *serve_header(struct evhttp_request *request, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(request), name);
}

bool serve_is_look(struct evhttp_request *request)
{
	return evhttp_request_get_command(request) & (EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
}

void serve_reply(struct evhttp_request *request, int status)
{
	struct evbuffer *body = evhttp_request_get_output_buffer(request);
	size_t size = evbuffer_get_length(body);
	char length[24];

	/* evhttp would send the body, and no length of it. */
	if (size && evhttp_request_get_command(request) == EVHTTP_REQ_HEAD) {
		snprintf(length, sizeof length, "%zu", size);
		serve_set_header(request, "Content-Length", length);
		evbuffer_drain(body, size);
	}
	evhttp_send_reply(request, status, rg_http_reason(status), NULL);
}

void serve_send(struct evhttp_request *request, struct serve_answer *answer)
{
	char note[120];
	struct evbuffer *body = evhttp_request_get_output_buffer(request);

	if (answer->body.failed)
		answer->status = 503;
	else
		evbuffer_add(body, answer->body.data, answer->body.length);
	if (answer->type && answer->status != 304)
		serve_set_header(request, "Content-Type", answer->type);
	serve_set_header(request, "X-Content-Type-Options", "nosniff");
	serve_set_header(request, "Cache-Control", *answer->etag ? "no-cache" : "no-store");
	if (*answer->etag)
		serve_set_header(request, "ETag", answer->etag);
	if (answer->replayed)
		serve_set_header(request, "Idempotent-Replayed", "true");
	if (answer->old) {
		snprintf(note, sizeof note, "%s is called %s now", answer->old->was,
			 answer->old->name);
		serve_set_header(request, "Roger-Note", note);
	}
	if (answer->status == 503)
		serve_set_header(request, "Retry-After", "1");
	if (answer->closes &&
	    !evhttp_find_header(evhttp_request_get_output_headers(request), "Connection"))
		serve_set_header(request, "Connection", "close");
	if (evhttp_request_get_connection(request))
		serve_reply(request, answer->status);
	else
		serve_head_refuse(request, answer->status);
	rg_buf_deinit(&answer->body);
}

void serve_refuse(struct evhttp_request *request, int status, const char *kind, bool closes,
		  const char *format, ...)
{
	struct serve_answer answer = { .closes = closes, .body = { .maximum = SIZE_MAX } };
	struct roger_err err = { 0 };
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(err.message, sizeof err.message, format, arguments);
	va_end(arguments);
	serve_problem(&answer, status, 0, kind, &err);
	serve_send(request, &answer);
}

/* -------------------------------------------------------------------- gate -- */

/* Read the head as it came; false: it has too many headers. */
static bool read_head(struct evhttp_request *request, struct rg_http_field fields[SERVE_FIELDS_MAX],
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
		if (ret->count == SERVE_FIELDS_MAX)
			return false;
		fields[ret->count++] = (struct rg_http_field){ header->key, header->value };
	}
	return true;
}

/* Does another user hold the other end of a unix socket?  Asked until it is known to be ours. */
static bool is_stranger(struct serve_connection *connection)
{
	socklen_t length = sizeof(struct ucred);
	struct ucred peer;

	if (!connection->own_user)
		connection->own_user = getsockopt(bufferevent_getfd(connection->buffer), SOL_SOCKET,
						  SO_PEERCRED, &peer, &length) == 0 &&
				       peer.uid == geteuid();
	return !connection->own_user;
}

/*
 * Find the agent that the process at the other end of a unix socket was started as.  A descriptor
 * holds the process: if it is alive afterwards, its id was not used again.
 */
static void look_who(struct evhttp_request *request, char to[RG_NAME_CHARS_MAX + 1])
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
	socklen_t length = sizeof(struct ucred), held_length = sizeof(int);
	struct pollfd held = { .fd = -1, .events = POLLIN };
	struct ucred peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &held.fd, &held_length) < 0)
		return;
	if (!rg_observe_process(peer.pid, to, RG_NAME_CHARS_MAX + 1) || poll(&held, 1, 0) != 0)
		*to = '\0';
	close(held.fd);
}

/* Look once for each connection. */
static void observe_client(struct serve *serve, struct evhttp_request *request,
			   struct serve_caller *caller)
{
	struct serve_connection *connection = serve_connection_of(serve, request);

	if (!connection)
		return;
	if (!connection->observed_once)
		look_who(request, connection->observed);
	connection->observed_once = true;
	if (!*connection->observed)
		return;
	snprintf(caller->observed, sizeof caller->observed, "%s", connection->observed);
	snprintf(caller->login, sizeof caller->login, "socket, observed %s", connection->observed);
}

/* The fault of a head; NULL: none. */
static const char *fault_of(const struct serve_connection *connection,
			    struct evhttp_request *request,
			    struct rg_http_field fields[SERVE_FIELDS_MAX],
			    struct rg_http_head *ret_head)
{
	if (connection->raw.state == RG_RAW_ODD)
		return "expected lines that end with CR LF, none of them folded, and chunks with "
		       "plain sizes";
	if (!read_head(request, fields, ret_head))
		return "too many headers";
	return rg_http_head_fault(ret_head);
}

/* Check a request before any path is looked at; false: it was refused. */
static bool passes_gate(struct serve_door *door, struct serve_connection *connection,
			struct evhttp_request *request)
{
	const struct rg_http_allowed allowed = { door->serve->hosts, NULL,
						 door->serve->options->behind_proxy.count, 0 };
	struct rg_http_field fields[SERVE_FIELDS_MAX];
	struct rg_http_head head;
	const char *fault;

	fault = fault_of(connection, request, fields, &head);
	if (fault) {
		serve_refuse(request, 400, "head", true, "%s", fault);
		return false;
	}
	/* PATCH is the last one that evhttp has a name for. */
	if (evhttp_request_get_command(request) > EVHTTP_REQ_PATCH) {
		serve_refuse(request, 501, "method", true, "expected a method of HTTP");
		return false;
	}
	fault = rg_http_head_foreign(&head, &allowed);
	if (!fault && door->local && is_stranger(connection))
		fault = "this socket is another user's";
	if (fault)
		serve_refuse(request, 403, "foreign", true, "%s", fault);
	return !fault;
}

static const char bearer[] = "Bearer ";

static bool is_bearer(const char *said)
{
	return said && evutil_ascii_strncasecmp(said, bearer, sizeof bearer - 1) == 0;
}

/* Find the caller; false: not known, or *ret_fault says why a login is not enough. */
static bool find_caller(const struct serve_door *door, struct evhttp_request *request,
			struct serve_caller *ret, const char **ret_fault)
{
	const char *said = serve_header(request, "Authorization");

	*ret_fault = NULL;
	*ret = (struct serve_caller){ RG_BY_SOCKET, RG_ADMINISTER, .login = "socket" };
	if (door->local)
		return true;
	if (said)
		return is_bearer(said) &&
		       serve_token_find(door->serve, SERVE_TOKEN, said + sizeof bearer - 1, ret);
	return serve_login_find(door, request, ret, ret_fault);
}

/* Refuse a token.  A revoked one looks like one that never was; with serve NULL, so does a
 * workspace that is not here. */
static void refuse_token(struct serve *serve, struct evhttp_request *request)
{
	const char *said = serve_header(request, "Authorization"), *fault;

	if (!is_bearer(said))
		fault = "no token came: expected the header 'Authorization: Bearer TOKEN'";
	else if (serve && serve_token_is_expired(serve, said + sizeof bearer - 1))
		fault = "this token has expired";
	else
		fault = "this token is not known here: it is wrong, or was revoked";
	serve_set_header(request, "WWW-Authenticate", "Bearer");
	serve_refuse(request, 401, "token", false,
		     "%s; `roger token new NAME` on the server's machine makes one", fault);
}

bool serve_find_home(const struct serve *serve, struct stat *ret)
{
	char path[4200];

	snprintf(path, sizeof path, "%s/.roger", serve->workspace);
	return stat(path, ret) == 0;
}

bool serve_is_elsewhere(const struct serve *serve)
{
	struct stat now;

	return !serve_find_home(serve, &now) || now.st_dev != serve->home.st_dev ||
	       now.st_ino != serve->home.st_ino;
}

static void refuse_elsewhere(struct evhttp_request *request)
{
	struct serve_answer answer = { .body = { .maximum = SIZE_MAX } };
	struct roger_err err;

	rg_fail(&err, ROGER_EENGINE, 0,
		"the workspace of this server was removed, moved or made anew: start the server "
		"again");
	serve_fail(&answer, ROGER_EENGINE, &err);
	serve_send(request, &answer);
}

/* Find the caller; false: the request was refused. */
static bool identify_caller(const struct serve_door *door, struct evhttp_request *request,
			    struct serve_caller *ret)
{
	const char *fault;

	if (serve_is_elsewhere(door->serve)) {
		refuse_elsewhere(request);
		return false;
	}
	if (find_caller(door, request, ret, &fault)) {
		serve_use_note(door->serve, request, ret);
		return true;
	}
	if (fault) {
		serve_refuse(request, 403, "foreign", false, "%s", fault);
		return false;
	}
	refuse_token(door->serve, request);
	return false;
}

bool serve_is_known(struct serve *serve, struct evhttp_request *request)
{
	const struct serve_connection *connection = serve_connection_of(serve, request);
	struct serve_caller caller;
	const char *fault;

	return connection &&
	       find_caller(connection->door->serve == serve ? connection->door : &serve->gate,
			   request, &caller, &fault) &&
	       !serve_is_elsewhere(serve);
}

/* ------------------------------------------------------------------- verbs -- */

static bool has_type(struct evhttp_request *request, const char *type)
{
	const char *said = serve_header(request, "Content-Type");
	size_t length = said ? strcspn(said, "; \t") : 0;

	return length == strlen(type) && evutil_ascii_strncasecmp(said, type, length) == 0;
}

/* A verb that writes needs POST, any other GET or HEAD; false: the request was refused. */
static bool fits_method(struct evhttp_request *request, bool writes)
{
	if (writes ? evhttp_request_get_command(request) != EVHTTP_REQ_POST
		   : !serve_is_look(request)) {
		serve_set_header(request, "Allow", writes ? "POST" : "GET, HEAD");
		serve_refuse(request, 405, "method", false, "expected %s here",
			     writes ? "POST" : "GET");
		return false;
	}
	/* Only JSON is taken: a form of another site cannot send it unasked. */
	if (!writes || has_type(request, "application/json"))
		return true;
	serve_refuse(request, 415, "type", false,
		     "expected the header 'Content-Type: application/json'");
	return false;
}

static bool check_right(const struct serve_caller *caller, const struct roger_op *verb,
			struct evhttp_request *request)
{
	if (caller->right >= rg_right_of(verb))
		return true;
	serve_refuse(request, 403, "right", false, "this token may %s; '%s' needs one that may %s",
		     rg_right_names[caller->right], verb->name, rg_right_names[rg_right_of(verb)]);
	return false;
}

/* What is asked: the body of a verb that writes, or the query. */
static struct roger_str asked_of(const struct serve_job *job, struct evhttp_request *request)
{
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
	struct evbuffer *body = evhttp_request_get_input_buffer(request);

	if (job->verb->flags & ROGER_WRITES)
		return (struct roger_str){ (const char *)evbuffer_pullup(body, -1),
					   evbuffer_get_length(body) };
	return rg_str(query ? query : "");
}

/* Read the verb's request from the query, or from the body. */
static int read_request(struct serve_job *job, struct evhttp_request *request,
			struct roger_err *err)
{
	const bool writes = job->verb->flags & ROGER_WRITES;
	const struct roger_str asked = asked_of(job, request);
	int r;

	if (asked.length && !asked.data)
		return rg_fail_memory(err);
	if (!writes && evbuffer_get_length(evhttp_request_get_input_buffer(request)))
		return rg_fail(err, ROGER_EUSAGE, 0, "expected no body with GET");
	if (writes && evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request)))
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "expected no query with POST: the request is the body");
	r = writes ? serve_read_body(job, asked, err) : serve_read_query(job, asked.data, err);
	if (r == ROGER_OK)
		r = serve_finish_request(job, serve_header(request, "Idempotency-Key"), err);
	return r;
}

void serve_give_key(struct serve_job *job)
{
	const struct serve_tried tried = { .key = job->given_key,
					   .body = asked_of(job, job->http) };
	uint64_t random[2];

	if (rg_random(random, sizeof random, NULL) < 0)
		return;
	snprintf(job->given_key, sizeof job->given_key, "server-%016" PRIx64 "%016" PRIx64,
		 random[0], random[1]);
	serve_replay_find(job->serve, &job->caller, job->verb, &tried, &job->replay);
}

/* Is this key new?  False: the request was answered from what is known of its first try. */
static bool is_first(struct serve_job *job, const struct serve_caller *caller,
		     struct evhttp_request *request)
{
	const bool writes = job->verb->flags & ROGER_WRITES;
	const char *since = serve_header(request, "Roger-Tried");
	struct serve_tried tried = { .key = serve_header(request, "Idempotency-Key"),
				     .body = asked_of(job, request) };
	struct serve_answer *answer = &job->answer;
	struct serve_replay *replay;
	struct roger_err err;

	if (!tried.key || !(writes || job->pool == SERVE_SLOW))
		return true;
	if (since && !rg_str_number(rg_str(since), &tried.since_ms))
		tried.since_ms = 0;
	switch (serve_replay_find(job->serve, caller, job->verb, &tried, &replay)) {
	case SERVE_TRY_NEW:
		job->replay = replay;
		serve_replay_name(job, caller, &tried);
		return true;
	case SERVE_TRY_DONE:
		serve_replay_answer(replay, answer);
		if (!writes)
			serve_replay_done(job->serve, replay, NULL);
		break;
	case SERVE_TRY_UNDER_WAY:
		serve_say_under_way(job->serve, replay, answer);
		break;
	case SERVE_TRY_OTHER:
		rg_fail_member(&err, ROGER_EREFUSED, "key",
			       "key: it was used for another request a while ago");
		serve_problem(answer, 422, ROGER_EREFUSED, "refused", &err);
		break;
	case SERVE_TRY_FORGOTTEN:
		rg_fail(&err, ROGER_ETIMEOUT, 0,
			"it is not known whether this was done: the server was started, or forgot, "
			"since it was first asked");
		serve_problem(answer, 503, ROGER_ETIMEOUT, "retry", &err);
		break;
	}
	serve_send(request, answer);
	serve_job_free(job);
	return false;
}

/* ------------------------------------------------------------------- paths -- */

static void answer_text(struct evhttp_request *request, void (*print)(struct rg_buf *out))
{
	struct serve_answer answer = { 200, "application/json", .body = { .maximum = SIZE_MAX } };

	print(&answer.body);
	serve_send(request, &answer);
}

/* The loop is alive. */
static void print_health(struct rg_buf *out)
{
	rg_buf_add_text(out, "{\"ok\":true}\n");
}

static void start_job(struct serve *serve, struct evhttp_request *request, const char *verb,
		      void (*work)(struct serve_job *job, struct roger *roger),
		      void (*finish)(struct serve_job *job))
{
	struct serve_job *job = serve_job_new(serve, serve_find_verb(rg_str(verb)), request);

	if (!job)
		return;
	job->work = work;
	job->finish = finish;
	serve_job_begin(job);
}

/* The workspace answers. */
static void read_ready(struct serve_job *job, struct roger *roger)
{
	serve_call(job, roger);
	if (job->answer.status != 200)
		return;
	rg_buf_clear(&job->answer.body);
	print_health(&job->answer.body);
}

static void on_ready(struct serve *serve, struct evhttp_request *request,
		     const struct serve_caller *caller)
{
	(void)caller;
	start_job(serve, request, "count", read_ready, NULL);
}

static void on_metrics(struct serve *serve, struct evhttp_request *request,
		       const struct serve_caller *caller)
{
	(void)caller;
	start_job(serve, request, "status", serve_read_metrics, serve_finish_metrics);
}

/* Paths that are no verbs. */
static const struct path {
	const char *name;
	enum { IS_READ, IS_POSTED, IS_ANY } method;
	bool open; /* needs no token: nothing of the workspace is in it */
	/* Print what everybody gets; NULL: answer. */
	void (*print)(struct rg_buf *out);
	void (*answer)(struct serve *serve, struct evhttp_request *request,
		       const struct serve_caller *caller);
} paths[] = {
	{ "/login", IS_POSTED, true, NULL, serve_on_login },
	{ "/logout", IS_POSTED, true, NULL, serve_on_logout },
	{ "/healthz", IS_READ, true, print_health, NULL },
	{ "/readyz", IS_READ, true, NULL, on_ready },
	{ "/openapi.json", IS_READ, true, serve_print_openapi, NULL },
	{ "/metrics", IS_READ, false, NULL, on_metrics },
	{ "/v1/events", IS_READ, false, NULL, serve_on_events },
	{ "/v1/session", IS_READ, false, NULL, serve_on_session },
	{ "/mcp", IS_ANY, false, NULL, serve_on_mcp },
};

/* In "/v1/messages/ID", a verb, and its member that is the rest of the path. */
static const struct {
	const char *path, *verb;
	unsigned flag;
} things[] = {
	{ "messages/", "show", ROGER_ID },
	{ "threads/", "thread", ROGER_ID },
	{ "runs/", "runs", ROGER_RUN },
};

/* What the path of a request leads to: a row of paths, else below "/v1/" a verb, else the page. */
struct target {
	const struct path *path;
	bool api;			 /* below "/v1/" */
	const char *rest;		 /* what follows there */
	const struct roger_op *verb;	 /* NULL: no verb has that name */
	const struct roger_field *place; /* its member that is the rest; NULL: none */
};

static struct target find_target(const struct serve_door *door, struct evhttp_request *request,
				 const char *path)
{
	struct target target = { .api = strncmp(path, "/v1/", 4) == 0, .rest = path + 4 };
	size_t i, length;

	for (i = 0; i < sizeof paths / sizeof *paths && !target.path; i++)
		if (strcmp(path, paths[i].name) == 0)
			target.path = &paths[i];
	/* The page wants a host of its own, so there is no login at a guest.  A POST to the path
	 * of the session is the verb. */
	if (target.path &&
	    ((target.path->method == IS_POSTED && door->serve != door->serve->host) ||
	     (target.path->answer == serve_on_session && !serve_is_look(request))))
		target.path = NULL;
	if (target.path || !target.api)
		return target;
	for (i = 0; i < sizeof things / sizeof *things; i++) {
		length = strlen(things[i].path);
		if (strncmp(target.rest, things[i].path, length) != 0)
			continue;
		target.rest += length;
		target.verb = serve_find_verb(rg_str(things[i].verb));
		target.place = rg_find_flag(target.verb->request, things[i].flag);
		return target;
	}
	target.verb = serve_find_verb(rg_str(target.rest));
	return target;
}

/* Find the workspace of the path, and what follows its name; NULL: the request was refused. */
static struct serve_door *find_door(struct serve_door *door, struct evhttp_request *request,
				    const char **ret_path)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;

	*ret_path = path ? path : "";
	door = serve_guest_door(door, ret_path);
	if (!door)
		refuse_token(NULL, request);
	return door;
}

/* Identify the caller, unless anybody may ask, and check the method and the caller's right.  False:
 * the request was refused. */
static bool may_pass(const struct serve_door *door, struct evhttp_request *request,
		     const struct target *target, struct serve_caller *ret)
{
	const struct path *path = target->path;
	const bool writes = target->verb && (target->verb->flags & ROGER_WRITES);

	if (path && path->method != IS_ANY && !fits_method(request, path->method == IS_POSTED))
		return false;
	if (path && path->open)
		return true;
	if (!identify_caller(door, request, ret))
		return false;
	if (!target->verb)
		return true;
	return fits_method(request, writes) && check_right(ret, target->verb, request);
}

static void call_verb(struct serve *serve, const struct target *target,
		      const struct serve_caller *caller, struct evhttp_request *request)
{
	const char *known = serve_header(request, "If-None-Match");
	const char *seen = serve_header(request, "If-Match");
	const struct roger_op *verb = target->verb;
	struct roger_err err = { 0 };
	struct serve_job *job;
	char *id = NULL;
	int r = ROGER_OK;

	job = serve_job_new(serve, verb, request);
	if (!job)
		return;
	job->tagged = target->place;
	job->caller = *caller;
	if (caller->how == RG_BY_SOCKET && (verb->flags & ROGER_WRITES))
		observe_client(serve, request, &job->caller);
	snprintf(job->if_match, sizeof job->if_match, "%s", seen ? seen : "");
	snprintf(job->if_none_match, sizeof job->if_none_match, "%s", known ? known : "");
	if (target->place) {
		id = evhttp_uridecode(target->rest, 0, NULL);
		r = id ? rg_record_set(target->place, rg_str(id), 0, job->request, job->arena, &err)
		       : rg_fail_memory(&err);
		free(id);
	}
	if (r == ROGER_OK)
		r = read_request(job, request, &err);
	if (r < 0)
		serve_job_fail(job, r, &err);
	else if (is_first(job, caller, request))
		serve_job_begin(job);
}

static void route_request(struct serve_door *door, struct serve_connection *connection,
			  struct evhttp_request *request)
{
	struct serve_caller caller = { 0 };
	struct target target;
	const char *path;

	door = find_door(door, request, &path);
	if (!door)
		return;
	connection->serve = door->serve;
	target = find_target(door, request, path);
	if (!target.path && !target.api) {
		/* The page holds no data, so it needs no token. */
		if (door->serve != door->serve->host || !serve_is_look(request) ||
		    !serve_on_page(door->serve, request, path))
			serve_refuse(request, 404, "path", false, "no such path");
		return;
	}
	if (!may_pass(door, request, &target, &caller))
		return;
	if (target.path && target.path->print)
		answer_text(request, target.path->print);
	else if (target.path)
		target.path->answer(door->serve, request, &caller);
	else if (target.verb)
		call_verb(door->serve, &target, &caller, request);
	else
		serve_refuse(request, 404, "path", false, "no verb '%.64s' here", target.rest);
}

/* A login is short, and comes from a client that has no token yet. */
static bool fits_login(struct evhttp_request *request)
{
	const char *length = serve_header(request, "Content-Length");
	int64_t bytes;

	if (length && rg_str_number(rg_str(length), &bytes) && bytes <= SERVE_LOGIN_BYTES_MAX)
		return true;
	serve_refuse(request, 422, "data", true, "expected a key and nothing else");
	return false;
}

void serve_refuse_length(const struct serve_connection *connection, struct evhttp_request *request)
{
	serve_refuse(request, 413, "length", true, "expected a body of at most %d MiB",
		     (int)(connection->door->body_bytes_max >> 20));
}

static void check_length(const struct serve_connection *connection, struct evhttp_request *request)
{
	const char *length = serve_header(request, "Content-Length");
	int64_t bytes;

	if (length && rg_str_number(rg_str(length), &bytes) &&
	    bytes > (int64_t)connection->door->body_bytes_max)
		serve_refuse_length(connection, request);
}

void serve_admit(struct serve_connection *connection, struct evhttp_request *request)
{
	struct serve_door *door = connection->door;
	struct serve_caller caller;
	struct target target;
	const char *path;

	if (!passes_gate(door, connection, request))
		return;
	if (door->local) {
		check_length(connection, request);
		return;
	}
	door = find_door(door, request, &path);
	if (!door)
		return;
	target = find_target(door, request, path);
	if (target.path && target.path->method == IS_POSTED)
		fits_login(request);
	else if (may_pass(door, request, &target, &caller))
		check_length(connection, request);
}

void serve_on_request(struct evhttp_request *request, void *door_)
{
	struct serve_door *door = door_;
	struct serve_connection *connection = serve_connection_of(door->serve, request);

	if (!connection) {
		serve_refuse(request, 503, "memory", true, "out of memory; try again");
		return;
	}
	serve_connection_begin(connection, request);
	/* After CONNECT, evhttp would go on whatever the answer is. */
	if (evhttp_request_get_command(request) == EVHTTP_REQ_CONNECT)
		serve_hang_up(connection);
	if (passes_gate(door, connection, request))
		route_request(door, connection, request);
}
