/* Streams of events: a thread reads what is new, and the loop sends it to each client. */
#include "serve/serve.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "data/json.h"
#include "data/record.h"

enum {
	STREAMS_MAX = 64,
	UNSENT_MAX = 32 << 10, /* beyond these bytes nothing is read for a stream */
	STUCK_MS = 30 * 1000,  /* a stream that takes nothing for so long is dropped */
	QUIET_MS = 15 * 1000,
	PAGE = 50,
	WATCH_MS = 200,
	LOOK_MS = 1000, /* how often to read logs, and other programs' lines */
};

/* The place of a stream: after this message, and this entry of the activity log. */
struct cursor {
	char message[300];
	int64_t line;
	bool begun;    /* it continues from this place; else from what is newest */
	bool deep;     /* entries of the log are wanted, too */
	uint64_t from; /* the messages after that one start at this byte; 0: not known */
};

struct serve_stream {
	struct serve_stream *next;
	struct serve *serve;
	struct evhttp_request *http; /* NULL: the stream has ended */
	struct event *gone;
	struct cursor cursor;
	char own[RG_NAME_CHARS_MAX + 1]; /* only mail from or for this name is shown; "": all */
	bool reading, again;		 /* a thread is reading for it; it is to read once more */
	bool deep;			 /* the log is to be read, too */
	int64_t said_ms;
};

/* ------------------------------------------------------------------ cursors -- */

/* Print "45.msg-1".  There is no line end or blank in it, whatever the id holds. */
static void print_cursor(const struct cursor *cursor, struct rg_buf *out)
{
	rg_buf_printf(out, "%lld.", (long long)cursor->line);
	rg_buf_add_escaped(out, RG_IN_ADDRESS, rg_str(cursor->message));
}

static bool read_cursor(const char *text, struct cursor *ret)
{
	const char *dot = strchr(text, '.');
	char *message;

	if (!dot || !rg_str_number((struct roger_str){ text, (size_t)(dot - text) }, &ret->line))
		return false;
	message = evhttp_uridecode(dot + 1, 0, NULL);
	if (!message || strlen(message) >= sizeof ret->message) {
		free(message);
		return false;
	}
	memcpy(ret->message, message, strlen(message) + 1);
	free(message);
	ret->begun = true;
	return true;
}

/* --------------------------------------------------------- on a thread: reading -- */

struct reading {
	struct cursor cursor;
	struct rg_buf *out;
	const char *source;
	bool more;
	struct roger_str own;
};

/* Begin a CloudEvent without content, up to its data. */
static void begin_event(struct reading *reading, const char *kind, struct roger_str id,
			int64_t at_ms)
{
	struct rg_buf *out = reading->out;
	char time[40];

	rg_buf_add_text(out, "id: ");
	print_cursor(&reading->cursor, out);
	rg_buf_printf(out, "\nevent: %s\ndata: {\"specversion\":\"1.0\",\"type\":\"roger.%s\"",
		      kind, kind);
	rg_json_add_member(out, "source", rg_str(reading->source));
	rg_json_add_member(out, "id", id);
	rg_clock_print_utc(at_ms, time);
	rg_json_add_member(out, "time", rg_str(time));
	rg_json_add_key(out, RG_STR("data"));
	rg_buf_add_char(out, '{');
}

static void end_event(struct reading *reading)
{
	rg_buf_add_text(reading->out, "}}\n\n");
}

static void add_member(struct reading *reading, const char *name, struct roger_str value)
{
	if (value.length)
		rg_json_add_member(reading->out, name, value);
}

/* Tell which message it is, never its content. */
static void add_message(struct reading *reading, const struct roger_message *message)
{
	snprintf(reading->cursor.message, sizeof reading->cursor.message, "%.*s",
		 RG_STR_ARGS(message->id));
	if (reading->own.length && !rg_name_has_part(reading->own, message))
		return;
	begin_event(reading, "message", message->id, message->created_at_ms);
	add_member(reading, "from", message->from);
	add_member(reading, "to", message->to);
	add_member(reading, "issue", message->issue);
	add_member(reading, "type", rg_str(rg_type_names[message->type]));
	add_member(reading, "key", message->key);
	add_member(reading, "reply_to", message->reply_to);
	rg_buf_printf(reading->out, ",\"seq\":%lld", (long long)message->seq);
	end_event(reading);
}

static void add_activity(struct reading *reading, const struct roger_activity *activity)
{
	char id[32];

	reading->cursor.line = activity->line;
	if (reading->own.length)
		return;
	snprintf(id, sizeof id, "%lld", (long long)activity->line);
	begin_event(reading, "activity", rg_str(id), activity->at_ms);
	add_member(reading, "task", activity->task);
	add_member(reading, "type", rg_str(rg_action_names[activity->type]));
	add_member(reading, "status", rg_str(rg_status_names[activity->status]));
	end_event(reading);
}

static int list_messages(struct reading *reading, struct roger *roger, struct roger_err *err)
{
	const struct roger_list_request request = { .after = rg_str(reading->cursor.message),
						    .limit = PAGE,
						    .anywhere = true };
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	size_t i;
	int r;

	r = roger_list(roger, &request, &reply, err);
	for (i = 0; r == ROGER_OK && i < reply.messages.count; i++)
		add_message(reading, &reply.messages.items[i]);
	reading->more |= r == ROGER_OK && reply.more;
	if (reply.more)
		reading->cursor.from = 0;
	return r;
}

/* Read from the end of the journal if that is enough: the tables take longer than a send. */
static int read_messages(struct reading *reading, struct roger *roger, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_message_list list;
	bool known;
	size_t first = 0, i;
	int r = arena ? rg_read_new(roger, &reading->cursor.from, arena, &list, &known, err)
		      : rg_fail_memory(err);

	if (r < 0)
		return r;
	if (!known)
		return list_messages(reading, roger, err);
	/* The tables may have been ahead of that byte: skip up to the cursor's message. */
	for (i = 0; i < list.count; i++)
		if (rg_str_is(list.items[i].id, reading->cursor.message))
			first = i + 1;
	for (i = first; i < list.count; i++)
		add_message(reading, &list.items[i]);
	return ROGER_OK;
}

/* Find the newest message, archived or not. */
static int find_newest(struct reading *reading, struct roger *roger, struct roger_err *err)
{
	const struct roger_list_request request = { .newest = true, .limit = 1, .anywhere = true };
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	int r;

	r = roger_list(roger, &request, &reply, err);
	if (r == ROGER_OK && reply.messages.count)
		snprintf(reading->cursor.message, sizeof reading->cursor.message, "%.*s",
			 RG_STR_ARGS(reply.messages.items[0].id));
	return r;
}

/* Read entries from the one at the cursor on.  ENOENT: that one is not there any more. */
static int read_activity(struct reading *reading, struct roger *roger, struct roger_err *err)
{
	const int64_t line = reading->cursor.line;
	const struct roger_activity_request request = { .after = line ? line - 1 : 0,
							.limit = PAGE };
	RG_CLEANUP(roger_reply_free) struct roger_activity_reply reply = { 0 };
	size_t i;
	int r;

	r = roger_activity(roger, &request, &reply, err);
	if (r < 0)
		return r;
	if (line && (!reply.activities.count || reply.activities.items[0].line != line))
		return ROGER_ENOENT;
	for (i = line != 0; i < reply.activities.count; i++)
		add_activity(reading, &reply.activities.items[i]);
	reading->more |= reply.more;
	return ROGER_OK;
}

/* Begin at what is newest; a client that comes again continues from the id of this event. */
static int begin_stream(struct reading *reading, struct roger *roger, const char *kind,
			struct roger_err *err)
{
	const struct roger_activity_request newest = { .newest = true, .limit = 1 };
	RG_CLEANUP(roger_reply_free) struct roger_activity_reply reply = { 0 };
	int r;

	reading->cursor = (struct cursor){ .deep = true };
	r = find_newest(reading, roger, err);
	if (r == ROGER_OK)
		r = roger_activity(roger, &newest, &reply, err);
	if (r == ROGER_OK && reply.activities.count)
		reading->cursor.line = reply.activities.items[0].line;
	reading->cursor.begun = true;
	rg_buf_add_text(reading->out, "retry: 1000\nid: ");
	print_cursor(&reading->cursor, reading->out);
	rg_buf_printf(reading->out, "\nevent: %s\ndata: {}\n\n", kind);
	return r;
}

static void read_events(struct serve_job *job, struct roger *roger)
{
	struct reading reading = { *(struct cursor *)job->request, &job->answer.body,
				   job->serve->workspace, false,
				   rg_str(((struct serve_stream *)job->context)->own) };
	struct roger_err err = { 0 };
	int r;

	if (!reading.cursor.begun)
		r = begin_stream(&reading, roger, "open", &err);
	else
		r = read_messages(&reading, roger, &err);
	if (r == ROGER_OK && reading.cursor.deep)
		r = read_activity(&reading, roger, &err);
	/* The cursor's place is not there any more: the client must read everything again. */
	if (r == ROGER_ENOENT)
		r = begin_stream(&reading, roger, "reset", &err);
	job->answer.status = r;
	job->answer.replayed = reading.more;
	memcpy(job->request, &reading.cursor, sizeof reading.cursor);
}

/* ------------------------------------------------------------ on the loop's -- */

static void free_stream(struct serve_stream *stream)
{
	struct serve_stream **place = &stream->serve->streams;

	while (*place != stream)
		place = &(*place)->next;
	*place = stream->next;
	stream->serve->stream_count--;
	free(stream);
}

/* Take the stream off its connection: the client is gone, or is to come again. */
static void leave_stream(struct serve_stream *stream)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(stream->http);

	if (connection)
		evhttp_connection_set_closecb(connection, NULL, NULL);
	if (stream->gone)
		event_free(stream->gone);
	stream->gone = NULL;
	stream->http = NULL;
	if (!stream->reading)
		free_stream(stream);
}

static void on_closed(struct evhttp_connection *connection, void *stream_)
{
	struct serve_stream *stream = stream_;
	struct evhttp_request *request = stream->http;

	(void)connection;
	leave_stream(stream);
	/* A request that has lost its connection already is ours to free. */
	if (!evhttp_request_get_connection(request))
		evhttp_request_free(request);
}

static void drop_stream(struct serve_stream *stream)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(stream->http);

	leave_stream(stream);
	if (connection)
		evhttp_connection_free(connection);
}

static void on_gone(evutil_socket_t fd, short what, void *stream)
{
	(void)fd;
	(void)what;
	drop_stream(stream);
}

static size_t unsent_bytes(const struct serve_stream *stream)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(stream->http);

	return evbuffer_get_length(
		bufferevent_get_output(evhttp_connection_get_bufferevent(connection)));
}

static void send_chunk(struct serve_stream *stream, const char *data, size_t length)
{
	struct evbuffer *chunk = evbuffer_new();

	if (chunk && evbuffer_add(chunk, data, length) == 0)
		evhttp_send_reply_chunk(stream->http, chunk);
	if (chunk)
		evbuffer_free(chunk);
	stream->said_ms = rg_clock_monotonic_ms();
}

static void read_for_stream(struct serve_stream *stream);

static void on_read(struct serve_job *job)
{
	struct serve_stream *stream = job->context;
	bool good = job->answer.status == ROGER_OK && !job->answer.body.failed;

	stream->reading = false;
	if (!stream->http) {
		free_stream(stream);
		return;
	}
	if (!good) {
		drop_stream(stream);
		return;
	}
	memcpy(&stream->cursor, job->request, sizeof stream->cursor);
	stream->again |= job->answer.replayed;
	stream->deep |= job->answer.replayed && stream->cursor.deep;
	if (job->answer.body.length)
		send_chunk(stream, job->answer.body.data, job->answer.body.length);
	if (stream->again)
		read_for_stream(stream);
}

/* Let a thread read what is new, unless the client has not taken what there was. */
static void read_for_stream(struct serve_stream *stream)
{
	static const struct roger_record place = { .size = sizeof(struct cursor) };
	static const struct roger_op verb = { .request = &place };
	struct serve_job *job;

	stream->again = true;
	if (!stream->http || stream->reading || unsent_bytes(stream) > UNSENT_MAX)
		return;
	job = serve_job_new(stream->serve, &verb, NULL);
	if (!job)
		return;
	stream->cursor.deep = stream->deep;
	memcpy(job->request, &stream->cursor, sizeof stream->cursor);
	job->context = stream;
	job->work = read_events;
	job->finish = on_read;
	if (!serve_job_start(job)) {
		serve_job_free(job);
		return;
	}
	stream->reading = true;
	stream->again = stream->deep = false;
}

static void end_stream(struct serve_stream *stream)
{
	struct evhttp_request *request = stream->http;

	leave_stream(stream);
	evhttp_send_reply_end(request);
}

/* End the stream if its token or login was revoked, or has expired. */
static bool may_go_on(struct serve_stream *stream)
{
	if (serve_is_known(stream->serve, stream->http))
		return true;
	end_stream(stream);
	return false;
}

void serve_streams_look(struct serve *serve, bool deep)
{
	struct serve_stream *stream, *next;

	for (stream = serve->streams; stream; stream = next) {
		next = stream->next;
		stream->deep |= deep;
		if (stream->http && may_go_on(stream))
			read_for_stream(stream);
	}
}

void serve_streams_tick(struct serve *serve)
{
	struct serve_stream *stream, *next;
	int64_t now = rg_clock_monotonic_ms();

	for (stream = serve->streams; stream; stream = next) {
		next = stream->next;
		if (!stream->http || !may_go_on(stream))
			continue;
		if (unsent_bytes(stream) > UNSENT_MAX) {
			if (now - stream->said_ms > STUCK_MS)
				drop_stream(stream);
			continue;
		}
		if (now - stream->said_ms > QUIET_MS)
			send_chunk(stream, ": still here\n\n", 14);
		if (stream->again)
			read_for_stream(stream);
	}
}

void serve_streams_end(struct serve *serve)
{
	struct serve_stream *stream, *next;

	for (stream = serve->streams; stream; stream = next) {
		next = stream->next;
		if (stream->http)
			end_stream(stream);
	}
}

/* ------------------------------------------------------------- what wakes it -- */

static bool has_streams(struct serve *serve, bool sleep)
{
	bool any;

	pthread_mutex_lock(&serve->lock);
	while (sleep && !serve->watched && !serve->ending)
		pthread_cond_wait(&serve->watch, &serve->lock);
	any = serve->watched && !serve->ending;
	pthread_mutex_unlock(&serve->lock);
	return any;
}

static void tell_changed(struct serve *serve, bool deep)
{
	pthread_mutex_lock(&serve->lock);
	serve->changed = true;
	serve->changed_deep |= deep;
	pthread_mutex_unlock(&serve->lock);
	eventfd_write(serve->wake, 1);
}

/* Sleep until something is stored, while there are streams.  A note comes after its message, so
 * the log is read when no more messages come, or after a while. */
static void *watch_workspace(void *serve_)
{
	struct serve *serve = serve_;
	struct roger *roger = NULL;
	int64_t looked_ms = 0, now;
	bool changed, notes = false, deep;
	uint32_t mark = 0;

	while (has_streams(serve, true)) {
		if (!roger && roger_open(serve->workspace, &roger, NULL) < 0) {
			rg_clock_sleep(LOOK_MS);
			continue;
		}
		changed = roger_watch(roger, &mark, WATCH_MS);
		notes |= changed;
		now = rg_clock_monotonic_ms();
		deep = now - looked_ms >= (notes ? WATCH_MS : LOOK_MS);
		if (deep) {
			looked_ms = now;
			notes = false;
		}
		if (changed || deep)
			tell_changed(serve, deep);
	}
	roger_close(roger);
	return NULL;
}

void serve_streams_watched(struct serve *serve)
{
	pthread_mutex_lock(&serve->lock);
	serve->watched = serve->stream_count;
	pthread_cond_signal(&serve->watch);
	if (serve->watched && !serve->watching)
		serve->watching = serve_start_thread(watch_workspace, serve);
	pthread_mutex_unlock(&serve->lock);
}

void serve_on_events(struct serve *serve, struct evhttp_request *request,
		     const struct serve_caller *caller)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	const char *last = serve_header(request, "Last-Event-ID");
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
	struct serve_answer no_events = { 200, "text/event-stream" };
	struct serve_stream *stream;

	if (evhttp_request_get_command(request) == EVHTTP_REQ_HEAD) {
		serve_send(request, &no_events);
		return;
	}
	stream = calloc(1, sizeof *stream);
	if (!last && query && strncmp(query, "since=", 6) == 0)
		last = query + 6;
	if (!stream || serve->stream_count >= STREAMS_MAX) {
		free(stream);
		serve_refuse(request, 503, "streams", false,
			     "there are %d streams of events already; try again", STREAMS_MAX);
		return;
	}
	if (last && *last && !read_cursor(last, &stream->cursor)) {
		free(stream);
		serve_refuse(request, 400, "usage", false,
			     "expected an id of an event of this server in 'Last-Event-ID'");
		return;
	}
	stream->serve = serve;
	stream->deep = true;
	stream->http = request;
	snprintf(stream->own, sizeof stream->own, "%s", caller->own ? caller->name : "");
	stream->said_ms = rg_clock_monotonic_ms();
	stream->next = serve->streams;
	serve->streams = stream;
	serve->stream_count++;
	evhttp_connection_set_closecb(connection, on_closed, stream);
	stream->gone = event_new(serve->base,
				 bufferevent_getfd(evhttp_connection_get_bufferevent(connection)),
				 EV_CLOSED, on_gone, stream);
	if (stream->gone)
		event_add(stream->gone, NULL);
	serve_set_header(request, "Content-Type", "text/event-stream");
	serve_set_header(request, "Cache-Control", "no-store");
	serve_set_header(request, "X-Content-Type-Options", "nosniff");
	serve_set_header(request, "X-Accel-Buffering", "no");
	evhttp_send_reply_start(request, 200, "OK");
	serve_streams_watched(serve);
	read_for_stream(stream);
}
