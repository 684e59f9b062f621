/*
 * The transport over standard input and output: one loop, which waits for input, room in the
 * output, a thread with a message, or the end.
 *
 * It never blocks in a write, so a client that does not read can still cancel; and it does not
 * read from one that lets answers pile up.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "mcp.h"
#include "scan.h"

enum { READ_BYTES = 1 << 16 };

enum sink { SINK_PIPE, SINK_SOCKET, SINK_FILE };

struct loop {
	struct rg_mcp_stream stream; /* first: the last one to need it frees the loop */
	struct roger_mcp_server *server;
	int input, output, wake;
	enum sink sink;
	bool asleep;   /* guarded by the lock: a writer must wake the loop */
	bool ended;    /* the input has ended */
	bool skipping; /* in a line that is too long, which is scanned and not kept */
	struct rg_mcp_scan scan;
	struct rg_buf in;
	size_t looked; /* the first bytes, known to hold no newline */
	struct rg_buf sending;
	size_t sent;
	bool failed; /* a message did not fit into memory */
};

static void ready_locked(struct rg_mcp_stream *stream)
{
	struct loop *loop = (struct loop *)stream;

	if (loop->asleep)
		eventfd_write(loop->wake, 1);
}

/* ------------------------------------------------------------- output -- */

/* Write as many bytes as go without waiting; < 0: nobody reads any more. */
static ssize_t write_some(struct loop *loop, const char *data, size_t length)
{
	struct pollfd room = { .fd = loop->output, .events = POLLOUT };

	if (loop->sink == SINK_SOCKET)
		return send(loop->output, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	/* If a pipe has room, it has room for this much. */
	if (loop->sink == SINK_PIPE && length > PIPE_BUF)
		length = PIPE_BUF;
	if (poll(&room, 1, 0) < 1) {
		errno = EAGAIN;
		return -1;
	}
	return write(loop->output, data, length);
}

/* Take bytes to send from the stream; false: there are none. */
static bool take_output(struct loop *loop)
{
	struct rg_buf empty;

	rg_mcp_lock(loop->server);
	if (loop->sent == loop->sending.length) {
		empty = loop->sending;
		rg_buf_clear(&empty);
		loop->sending = loop->stream.out;
		loop->stream.out = empty;
		loop->stream.out.maximum = RG_MCP_UNSENT_BYTES_MAX;
		loop->sent = 0;
	}
	loop->stream.backlog = loop->sending.length - loop->sent;
	rg_mcp_catch_up_locked(&loop->stream);
	loop->failed |= loop->sending.failed || loop->stream.out.failed;
	rg_mcp_unlock(loop->server);
	return loop->stream.backlog > 0;
}

/* Give back the memory of a large buffer. */
static void shrink_buffer(struct rg_buf *buf)
{
	if (buf->capacity > READ_BYTES && buf->length == 0)
		rg_buf_deinit(buf);
	buf->maximum = RG_MCP_UNSENT_BYTES_MAX;
}

/* Send what there is, as far as it goes; false: nobody reads any more. */
static bool flush_output(struct loop *loop)
{
	ssize_t done;

	while (take_output(loop)) {
		if (loop->failed)
			return false;
		done = write_some(loop, loop->sending.data + loop->sent,
				  loop->sending.length - loop->sent);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		loop->sent += (size_t)done;
		if (loop->sent == loop->sending.length) {
			loop->sent = 0;
			rg_buf_clear(&loop->sending);
			shrink_buffer(&loop->sending);
		}
	}
	return !loop->failed;
}

/* -------------------------------------------------------------- input -- */

static void take_message(struct loop *loop, struct roger_str line)
{
	struct rg_arena *arena;
	struct rg_mcp_message message = { .id = { "", 0 } };
	struct roger_err err = { 0 };
	int code;

	while (line.length && strchr(" \t\r", line.data[line.length - 1]))
		line.length--;
	if (line.length == 0)
		return;
	arena = rg_mcp_arena_new(loop->server);
	if (!arena) {
		rg_mcp_answer_unreadable(&loop->stream, &message, RG_MCP_INTERNAL, "out of memory");
		return;
	}
	code = rg_mcp_read(line, arena, &message, &err);
	if (code == ROGER_OK) {
		rg_mcp_dispatch(&loop->stream, &message, arena, NULL);
		return;
	}
	rg_mcp_answer_unreadable(&loop->stream, &message, code, err.message);
	rg_mcp_lock(loop->server);
	rg_mcp_arena_free_locked(loop->server, arena);
	rg_mcp_unlock(loop->server);
}

/* Scan more of a line that is too long. */
static void skip_piece(struct loop *loop, struct roger_str piece)
{
	if (!loop->skipping)
		loop->scan = (struct rg_mcp_scan){ .depth = 0 };
	loop->skipping = true;
	rg_mcp_scan_feed(&loop->scan, piece);
}

/* Answer a line that was too long, at its end. */
static void take_too_long(struct loop *loop)
{
	struct rg_mcp_message message = { .id = { "", 0 } };
	struct rg_arena *arena = rg_mcp_arena_new(loop->server);
	struct roger_err err;

	loop->skipping = false;
	if (arena)
		rg_mcp_read_scanned(&loop->scan, arena, &message);
	rg_fail(&err, ROGER_EDATA, 0,
		"the message is longer than %zu bytes, the most that is read; nothing was done",
		loop->server->options.message_bytes_max);
	rg_mcp_answer_unreadable(&loop->stream, &message, RG_MCP_BAD_REQUEST, err.message);
	rg_mcp_lock(loop->server);
	rg_mcp_arena_free_locked(loop->server, arena);
	rg_mcp_unlock(loop->server);
}

/* Take each whole line of the input. */
static void take_lines(struct loop *loop)
{
	struct roger_str line;
	size_t start = 0;
	char *end;

	while (!atomic_load(&loop->server->stopping)) {
		end = memchr(loop->in.data + loop->looked, '\n', loop->in.length - loop->looked);
		if (!end)
			break;
		line = (struct roger_str){ loop->in.data + start, 0 };
		line.length = (size_t)(end - line.data);
		start += line.length + 1;
		loop->looked = start;
		if (loop->skipping || line.length > loop->server->options.message_bytes_max) {
			skip_piece(loop, line);
			take_too_long(loop);
		} else {
			take_message(loop, line);
		}
	}
	memmove(loop->in.data, loop->in.data + start, loop->in.length - start);
	loop->in.length -= start;
	loop->looked = loop->in.length;
	if (loop->skipping || loop->in.length > loop->server->options.message_bytes_max) {
		skip_piece(loop, rg_buf_str(&loop->in));
		loop->in.length = loop->looked = 0;
	}
	if (loop->in.capacity > 2 * READ_BYTES && loop->in.length == 0) {
		rg_buf_deinit(&loop->in);
		loop->in.maximum = SIZE_MAX;
	}
}

/* The text behind the last newline is a message, too. */
static void take_rest(struct loop *loop)
{
	const struct roger_str line = rg_buf_str(&loop->in);

	loop->ended = true;
	if (loop->skipping)
		take_too_long(loop);
	else if (line.length)
		take_message(loop, line);
	loop->in.length = 0;
}

static int read_some(struct loop *loop, struct roger_mcp_err *err)
{
	char *room = rg_buf_room(&loop->in, READ_BYTES);
	struct roger_err inner;
	ssize_t got;

	if (!room) {
		/* Without memory for a line of this length, scan it. */
		skip_piece(loop, rg_buf_str(&loop->in));
		loop->in.failed = false;
		loop->in.length = loop->looked = 0;
		return ROGER_MCP_OK;
	}
	got = read(loop->input, room, READ_BYTES);
	if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return ROGER_MCP_OK;
	/* A terminal or a socket that breaks counts as ended. */
	if (got < 0 && errno != EIO && errno != ECONNRESET) {
		rg_fail(&inner, ROGER_EIO, errno, "read messages");
		return rg_mcp_tell(&inner, err);
	}
	if (got <= 0) {
		take_rest(loop);
		return ROGER_MCP_OK;
	}
	loop->in.length += (size_t)got;
	take_lines(loop);
	return ROGER_MCP_OK;
}

/* --------------------------------------------------------------- loop -- */

enum { INPUT, WAKE, STOP, OUTPUT, WATCHED };

/* Wait until there is something to do; watched says what. */
static void wait_for(struct loop *loop, bool blocked, struct pollfd watched[WATCHED])
{
	eventfd_t ignored;
	bool crowded;

	rg_mcp_lock(loop->server);
	loop->asleep = true;
	if (loop->stream.out.length && !blocked)
		eventfd_write(loop->wake, 1);
	crowded = loop->stream.out.length + loop->stream.backlog > RG_MCP_BACKLOG_BYTES;
	rg_mcp_unlock(loop->server);

	watched[INPUT] = (struct pollfd){ .fd = crowded ? -1 : loop->input, .events = POLLIN };
	watched[WAKE] = (struct pollfd){ .fd = loop->wake, .events = POLLIN };
	watched[STOP] = (struct pollfd){ .fd = loop->server->stop_event, .events = POLLIN };
	/* Even without events, poll() tells that the other end is gone. */
	watched[OUTPUT] = (struct pollfd){ .fd = loop->output, .events = blocked ? POLLOUT : 0 };
	poll(watched, WATCHED, -1);

	rg_mcp_lock(loop->server);
	loop->asleep = false;
	rg_mcp_unlock(loop->server);
	if (watched[WAKE].revents)
		eventfd_read(loop->wake, &ignored);
}

static int serve_loop(struct loop *loop, struct roger_mcp_err *err)
{
	struct pollfd watched[WATCHED];
	int r = ROGER_MCP_OK;

	while (!loop->ended && !atomic_load(&loop->server->stopping)) {
		wait_for(loop, loop->stream.backlog > 0, watched);
		if (watched[INPUT].revents)
			r = read_some(loop, err);
		if (r < 0 || !flush_output(loop))
			break;
		if (watched[OUTPUT].revents & (POLLERR | POLLNVAL))
			break;
	}
	return r;
}

/* Send the last messages to a client that reads, and close the stream. */
static void end_loop(struct loop *loop)
{
	struct roger_mcp_server *server = loop->server;
	struct roger_mcp_call *call, *next;
	struct pollfd room = { .fd = loop->output, .events = POLLOUT };

	rg_mcp_lock(server);
	if (atomic_load(&server->stopping))
		rg_mcp_end_listeners_locked(server);
	for (call = server->calls; call; call = next) {
		next = call->next;
		if (call->stream == &loop->stream)
			rg_mcp_call_cancel_locked(call);
	}
	rg_mcp_unlock(server);
	while (flush_output(loop) && loop->stream.backlog > 0)
		if (poll(&room, 1, 1000) < 1 || room.revents & (POLLERR | POLLNVAL))
			break;
	rg_mcp_lock(server);
	rg_mcp_stream_close_locked(&loop->stream);
	rg_mcp_wait_idle_locked(server, loop->stream.peer);
	rg_mcp_unlock(server);
}

static enum sink sink_of(int output)
{
	struct stat facts = { 0 };

	if (fstat(output, &facts) < 0 || S_ISFIFO(facts.st_mode))
		return SINK_PIPE;
	return S_ISSOCK(facts.st_mode) ? SINK_SOCKET : SINK_FILE;
}

/* NULL: out of memory, or of descriptors. */
static struct loop *loop_new(struct roger_mcp_server *server, int input, int output)
{
	struct loop *loop = calloc(1, sizeof *loop);
	struct rg_mcp_peer *peer;

	if (!loop)
		return NULL;
	loop->server = server;
	loop->input = input;
	loop->output = output;
	loop->sink = sink_of(output);
	loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	loop->stream.ready_locked = ready_locked;
	rg_buf_init(&loop->in, SIZE_MAX);
	rg_buf_init(&loop->sending, RG_MCP_UNSENT_BYTES_MAX);
	rg_mcp_lock(server);
	peer = loop->wake < 0 ? NULL : rg_mcp_peer_new_locked(server, "");
	if (peer) {
		rg_mcp_stream_init_locked(&loop->stream, peer);
		peer->stream = &loop->stream;
		rg_mcp_peer_release_locked(peer);
	}
	rg_mcp_unlock(server);
	if (peer)
		return loop;
	if (loop->wake >= 0)
		close(loop->wake);
	free(loop);
	return NULL;
}

static void loop_free(struct loop *loop)
{
	struct roger_mcp_server *server = loop->server;

	close(loop->wake);
	rg_buf_deinit(&loop->in);
	rg_buf_deinit(&loop->sending);
	rg_mcp_lock(server);
	rg_mcp_stream_release_locked(&loop->stream);
	rg_mcp_unlock(server);
}

int roger_mcp_serve_stdio(struct roger_mcp_server *server, int input, int output,
			  struct roger_mcp_err *err)
{
	struct loop *loop = loop_new(server, input, output);
	struct roger_err inner;
	sigset_t pipe, before;
	int r;

	if (!loop) {
		rg_fail_memory(&inner);
		return rg_mcp_tell(&inner, err);
	}
	/* A closed output shows in write(), and must not end the program. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	r = serve_loop(loop, err);
	end_loop(loop);
	loop_free(loop);
	sigtimedwait(&pipe, NULL, &(const struct timespec){ 0 });
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}
