/*
 * A server: its loop's thread reads, dispatches, runs short handlers and writes.
 *
 * Blocking handlers have threads of their own, which write their messages into the client's stream
 * and wake the loop.  No write blocks: a client that does not read is not read from, and what
 * changed meanwhile is sent once.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/limits.h"
#include "mcp.h"

/* ---------------------------------------------------------- revisions -- */

static const char *const revisions[] = { "",	       "2024-11-05", "2025-03-26",
					 "2025-06-18", "2025-11-25", "2026-07-28" };

const char *rg_mcp_revision_name(enum rg_mcp_revision revision)
{
	return revisions[revision];
}

enum rg_mcp_revision rg_mcp_revision_of(struct roger_str name)
{
	int revision;

	for (revision = RG_MCP_2026_07_28; revision > RG_MCP_NONE; revision--)
		if (rg_str_is(name, revisions[revision]))
			break;
	return revision;
}

/* ------------------------------------------------------------- server -- */

int rg_mcp_tell(const struct roger_err *from, struct roger_mcp_err *err)
{
	if (err) {
		err->code = from->code;
		snprintf(err->message, sizeof err->message, "%s", from->message);
	}
	return from->code;
}

static void set_defaults(struct roger_mcp_options *options)
{
	if (options->page_items == 0)
		options->page_items = 100;
	if (options->threads_max == 0)
		options->threads_max = 16;
	if (options->calls_max == 0)
		options->calls_max = 256;
	if (options->message_bytes_max == 0)
		options->message_bytes_max = 4 << 20;
	if (options->list_ttl_ms == 0)
		options->list_ttl_ms = 5 * 60 * 1000;
	if (options->list_ttl_ms < 0)
		options->list_ttl_ms = 0;
	if (options->state_ttl_ms == 0)
		options->state_ttl_ms = 10 * 60 * 1000;
}

/* Copy a text, which may be NULL; false: out of memory. */
static bool keep_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

struct roger_mcp_server *roger_mcp_server_new(const struct roger_mcp_options *options)
{
	struct roger_mcp_server *server;
	pthread_condattr_t clock;

	if (!options || !options->name || !options->version)
		return NULL;
	server = calloc(1, sizeof *server);
	if (!server)
		return NULL;
	pthread_mutex_init(&server->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&server->changed, &clock);
	pthread_condattr_destroy(&clock);
	server->options = *options;
	set_defaults(&server->options);
	server->work_end = &server->work;
	server->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->stop_event < 0 || !keep_text(options->name, &server->name) ||
	    !keep_text(options->version, &server->version) ||
	    !keep_text(options->title, &server->title) ||
	    !keep_text(options->instructions, &server->instructions) ||
	    !keep_text(options->late_ms ? options->late_words : NULL, &server->late_words) ||
	    rg_random(server->secret, sizeof server->secret, NULL) < 0)
		return roger_mcp_server_free(server);
	return server;
}

void roger_mcp_set_instructions(struct roger_mcp_server *server, roger_mcp_instruct *instruct,
				void *data)
{
	server->instruct = instruct;
	server->instruct_data = data;
}

void roger_mcp_on_listening(struct roger_mcp_server *server, void (*listening)(void *data),
			    void *data)
{
	server->listening = listening;
	server->listening_data = data;
}

void roger_mcp_stop(struct roger_mcp_server *server)
{
	atomic_store(&server->stopping, true);
	eventfd_write(server->stop_event, 1);
}

/* -------------------------------------------------------------- peers -- */

struct rg_mcp_peer *rg_mcp_peer_new_locked(struct roger_mcp_server *server, const char *caller)
{
	struct rg_mcp_peer *peer = calloc(1, sizeof *peer);

	if (!peer)
		return NULL;
	if (!keep_text(caller, &peer->caller)) {
		free(peer);
		return NULL;
	}
	peer->server = server;
	peer->users = 1;
	peer->log_level = RG_MCP_NO_LOG;
	peer->next = server->peers;
	server->peers = peer;
	return peer;
}

void rg_mcp_peer_release_locked(struct rg_mcp_peer *peer)
{
	struct rg_mcp_peer **place;

	if (--peer->users > 0)
		return;
	for (place = &peer->server->peers; *place != peer; place = &(*place)->next)
		;
	*place = peer->next;
	rg_mcp_wishes_deinit(&peer->wishes);
	rg_json_free(peer->capabilities);
	free(peer->client_name);
	free(peer->client_version);
	free(peer->caller);
	free(peer);
}

/* ------------------------------------------------------------ streams -- */

void rg_mcp_stream_init_locked(struct rg_mcp_stream *stream, struct rg_mcp_peer *peer)
{
	stream->peer = peer;
	peer->users++;
	stream->users = 1;
	rg_buf_init(&stream->out, RG_MCP_UNSENT_BYTES_MAX);
}

void rg_mcp_stream_release_locked(struct rg_mcp_stream *stream)
{
	if (--stream->users > 0)
		return;
	rg_buf_deinit(&stream->out);
	rg_mcp_peer_release_locked(stream->peer);
	free(stream);
}

void rg_mcp_stream_close_locked(struct rg_mcp_stream *stream)
{
	struct roger_mcp_server *server = stream->peer->server;
	struct rg_mcp_listener *listener, *next;
	struct roger_mcp_call *call, *after;

	if (stream->closed)
		return;
	stream->closed = true;
	rg_buf_deinit(&stream->out);
	if (stream->peer->stream == stream)
		stream->peer->stream = NULL;
	for (listener = server->listeners; listener; listener = next) {
		next = listener->next;
		if (listener->stream == stream)
			rg_mcp_listener_end_locked(server, listener, false);
	}
	/* Cancelling a call may end it, but no other call. */
	for (call = server->calls; call; call = after) {
		after = call->next;
		if (call->stream == stream)
			rg_mcp_call_cancel_locked(call);
	}
}

/* An event of HTTP has a frame; an answer that stands alone has none. */
static void open_frame(struct rg_mcp_stream *stream)
{
	if (stream->framed && !stream->plain)
		rg_buf_add_text(&stream->out, "event: message\ndata: ");
}

static void close_frame(struct rg_mcp_stream *stream)
{
	if (!stream->framed)
		rg_buf_add_char(&stream->out, '\n');
	else if (!stream->plain)
		rg_buf_add_text(&stream->out, "\n\n");
}

struct rg_buf *rg_mcp_begin_locked(struct rg_mcp_stream *stream, bool last)
{
	if (stream->closed || stream->ended || (stream->one_only && !last))
		return NULL;
	stream->mark = stream->out.length;
	stream->plain |= stream->framed && last && stream->out.length == 0 && stream->status == 0;
	open_frame(stream);
	return &stream->out;
}

/* A message did not fit: take it back, and tell whoever waits for an answer. */
static void take_back(struct rg_mcp_stream *stream, struct roger_str id)
{
	stream->out.length = stream->mark;
	stream->out.failed = false;
	if (id.length == 0)
		return;
	open_frame(stream);
	rg_mcp_put_head(&stream->out, id);
	rg_mcp_put_error(&stream->out, RG_MCP_INTERNAL,
			 RG_STR("the answer does not fit into memory"), RG_STR(""));
	close_frame(stream);
	/* If not even that fits, the transport finds the stream failed; what it holds is whole. */
	if (stream->out.failed)
		stream->out.length = stream->mark;
}

void rg_mcp_end_locked(struct rg_mcp_stream *stream, struct roger_str id, bool last, int status)
{
	close_frame(stream);
	if (stream->out.failed)
		take_back(stream, id);
	if (stream->framed && last)
		stream->ended = true;
	if (stream->status == 0)
		stream->status = status;
	stream->ready_locked(stream);
}

/* ------------------------------------------------------------ threads -- */

/* A thread for blocking handlers; it lives as long as the server. */
struct rg_mcp_thread {
	struct rg_mcp_thread *next;
	struct roger_mcp_server *server;
	pthread_t id;
};

enum { STACK_BYTES = 1 << 20 };

static void *work_on_calls(void *argument)
{
	struct rg_mcp_thread *thread = argument;
	struct roger_mcp_server *server = thread->server;
	struct roger_mcp_call *call;

	rg_mcp_lock(server);
	for (;;) {
		server->idle_count++;
		while (!server->work && !server->threads_end)
			pthread_cond_wait(&server->changed, &server->lock);
		server->idle_count--;
		call = server->work;
		if (!call)
			break;
		server->work = call->next_work;
		if (!server->work)
			server->work_end = &server->work;
		rg_mcp_unlock(server);
		rg_mcp_call_run(call);
		rg_mcp_lock(server);
	}
	rg_mcp_unlock(server);
	return NULL;
}

static bool start_thread(struct roger_mcp_server *server)
{
	struct rg_mcp_thread *thread = calloc(1, sizeof *thread);
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	if (!thread)
		return false;
	thread->server = server;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* Signals are handled by the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread->id, &attributes, work_on_calls, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error) {
		free(thread);
		return false;
	}
	thread->next = server->threads;
	server->threads = thread;
	server->thread_count++;
	return true;
}

bool rg_mcp_work_locked(struct roger_mcp_server *server, struct roger_mcp_call *call)
{
	size_t waiting = 0;
	struct roger_mcp_call *other;

	for (other = server->work; other; other = other->next_work)
		waiting++;
	if (waiting >= server->idle_count && server->thread_count < server->options.threads_max &&
	    !start_thread(server) && server->thread_count == 0)
		return false;
	call->next_work = NULL;
	*server->work_end = call;
	server->work_end = &call->next_work;
	pthread_cond_broadcast(&server->changed);
	return true;
}

static void end_threads(struct roger_mcp_server *server)
{
	struct rg_mcp_thread *thread;

	rg_mcp_lock(server);
	server->threads_end = true;
	pthread_cond_broadcast(&server->changed);
	rg_mcp_unlock(server);
	while ((thread = server->threads)) {
		server->threads = thread->next;
		pthread_join(thread->id, NULL);
		free(thread);
	}
}

void rg_mcp_wait_idle_locked(struct roger_mcp_server *server, const struct rg_mcp_peer *peer)
{
	const struct roger_mcp_call *call = server->calls;

	while (call) {
		if (peer && call->peer != peer) {
			call = call->next;
			continue;
		}
		pthread_cond_wait(&server->changed, &server->lock);
		call = server->calls;
	}
}

struct roger_mcp_server *roger_mcp_server_free(struct roger_mcp_server *server)
{
	if (!server)
		return NULL;
	end_threads(server);
	rg_mcp_catalogue_free(server);
	rg_arena_free(server->spare);
	if (server->stop_event >= 0)
		close(server->stop_event);
	free(server->name);
	free(server->version);
	free(server->title);
	free(server->instructions);
	free(server->late_words);
	memset(server->secret, 0, sizeof server->secret);
	pthread_cond_destroy(&server->changed);
	pthread_mutex_destroy(&server->lock);
	free(server);
	return NULL;
}

/* ------------------------------------------------------------- arenas -- */

/* An arena that grew beyond this for a large message is not kept. */
enum { SPARE_BYTES_MAX = 1 << 18 };

struct rg_arena *rg_mcp_arena_new(struct roger_mcp_server *server)
{
	struct rg_arena *arena;

	rg_mcp_lock(server);
	arena = server->spare;
	server->spare = NULL;
	rg_mcp_unlock(server);
	return arena ? arena : rg_arena_new();
}

void rg_mcp_arena_free_locked(struct roger_mcp_server *server, struct rg_arena *arena)
{
	if (!arena)
		return;
	rg_arena_reset(arena);
	if (server->spare || rg_arena_held(arena) > SPARE_BYTES_MAX) {
		rg_arena_free(arena);
		return;
	}
	server->spare = arena;
}
