/* Functions that a handler calls: to read its request, and to write its answer. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base64.h"
#include "mcp.h"
#include "schema.h"

/* --------------------------------------------------- what it asks for -- */

const struct roger_mcp_value *roger_mcp_arguments(const struct roger_mcp_call *call)
{
	return (const struct roger_mcp_value *)call->arguments;
}

const char *roger_mcp_argument_text(const struct roger_mcp_call *call, const char *name,
				    const char *otherwise)
{
	return roger_mcp_text_of(roger_mcp_member(roger_mcp_arguments(call), name), otherwise);
}

const char *roger_mcp_name(const struct roger_mcp_call *call)
{
	return call->name.data;
}

const char *roger_mcp_variable(const struct roger_mcp_call *call, const char *name)
{
	size_t i;

	for (i = 0; i < call->names.count; i++)
		if (rg_str_is(call->names.name[i], name))
			return call->names.value[i].data;
	return NULL;
}

const char *roger_mcp_completed_name(const struct roger_mcp_call *call)
{
	return call->completed_name.data;
}

const char *roger_mcp_completed_text(const struct roger_mcp_call *call)
{
	return call->completed_text.data;
}

const struct roger_mcp_value *roger_mcp_meta(const struct roger_mcp_call *call)
{
	return (const struct roger_mcp_value *)call->meta;
}

const char *roger_mcp_caller(const struct roger_mcp_call *call)
{
	return call->caller;
}

const char *roger_mcp_client_name(const struct roger_mcp_call *call)
{
	return call->client_name;
}

const char *roger_mcp_client_version(const struct roger_mcp_call *call)
{
	return call->client_version;
}

const char *roger_mcp_revision(const struct roger_mcp_call *call)
{
	return rg_mcp_revision_name(call->revision);
}

bool roger_mcp_client_can(const struct roger_mcp_call *call, const char *capability)
{
	return rg_json_kind(rg_json_member(call->capabilities, capability)) == RG_JSON_OBJECT;
}

/* --------------------------------------------------- what it answers -- */

/* Begin an item of the content; for a prompt, inside a message. */
static struct rg_buf *open_item(struct roger_mcp_call *call)
{
	rg_mcp_open(&call->content, NULL, '{');
	if (call->answer == RG_MCP_GET_PROMPT) {
		rg_mcp_put_text(&call->content, "role", call->role);
		rg_mcp_open(&call->content, "content", '{');
	}
	return &call->content;
}

static void close_item(struct roger_mcp_call *call)
{
	if (call->answer == RG_MCP_GET_PROMPT)
		rg_mcp_close(&call->content, '}');
	rg_mcp_close(&call->content, '}');
}

static void put_bytes(struct rg_buf *out, const char *key, const void *data, size_t size)
{
	rg_json_add_key(out, rg_str(key));
	rg_buf_add_char(out, '"');
	rg_base64_add(out, data, size);
	rg_buf_add_char(out, '"');
}

/* A text must be UTF-8: else it would break the whole answer. */
static bool is_text(struct roger_mcp_call *call, const char *text)
{
	size_t chars;

	if (text && rg_utf8_count(rg_str(text), &chars))
		return true;
	roger_mcp_refuse(call, RG_MCP_INTERNAL, "the answer is no valid UTF-8");
	return false;
}

void roger_mcp_add_text(struct roger_mcp_call *call, const char *text)
{
	struct rg_buf *out;

	if (!is_text(call, text))
		return;
	if (call->answer == RG_MCP_READ) {
		roger_mcp_add_resource_text(call, NULL, NULL, text);
		return;
	}
	out = open_item(call);
	rg_mcp_put_text(out, "type", "text");
	rg_mcp_put_text(out, "text", text);
	close_item(call);
}

RG_PRINTF(2, 0)
static void print_text(struct rg_buf *out, const char *format, va_list arguments)
{
	va_list again;
	int length;
	char *room;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	room = length < 0 ? NULL : rg_buf_room(out, (size_t)length + 1);
	if (room)
		vsnprintf(room, (size_t)length + 1, format, again);
	va_end(again);
}

void roger_mcp_printf(struct roger_mcp_call *call, const char *format, ...)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_MCP_UNSENT_BYTES_MAX };
	va_list arguments;

	va_start(arguments, format);
	print_text(&text, format, arguments);
	va_end(arguments);
	roger_mcp_add_text(call, text.failed ? "" : text.data);
}

static void add_bytes(struct roger_mcp_call *call, const char *type, const char *mime_type,
		      const void *data, size_t size)
{
	struct rg_buf *out;

	if (call->answer == RG_MCP_READ) {
		roger_mcp_add_resource_blob(call, NULL, mime_type, data, size);
		return;
	}
	out = open_item(call);
	rg_mcp_put_text(out, "type", type);
	put_bytes(out, "data", data, size);
	rg_mcp_put_text(out, "mimeType", mime_type);
	close_item(call);
}

void roger_mcp_add_image(struct roger_mcp_call *call, const char *mime_type, const void *data,
			 size_t size)
{
	add_bytes(call, "image", mime_type, data, size);
}

void roger_mcp_add_audio(struct roger_mcp_call *call, const char *mime_type, const void *data,
			 size_t size)
{
	add_bytes(call, "audio", mime_type, data, size);
}

/* Begin a resource, up to its content; a read needs nothing around it. */
static struct rg_buf *open_resource(struct roger_mcp_call *call, const char *uri,
				    const char *mime_type)
{
	struct rg_buf *out = open_item(call);

	if (call->answer != RG_MCP_READ) {
		rg_mcp_put_text(out, "type", "resource");
		rg_mcp_open(out, "resource", '{');
	}
	rg_mcp_put_str(out, "uri", uri ? rg_str(uri) : call->name);
	rg_mcp_put_text(out, "mimeType", mime_type ? mime_type : call->item->mime_type);
	return out;
}

static void close_resource(struct roger_mcp_call *call)
{
	if (call->answer != RG_MCP_READ)
		rg_mcp_close(&call->content, '}');
	close_item(call);
}

void roger_mcp_add_resource_text(struct roger_mcp_call *call, const char *uri,
				 const char *mime_type, const char *text)
{
	if (!is_text(call, text))
		return;
	rg_mcp_put_text(open_resource(call, uri, mime_type), "text", text);
	close_resource(call);
}

void roger_mcp_add_resource_blob(struct roger_mcp_call *call, const char *uri,
				 const char *mime_type, const void *data, size_t size)
{
	put_bytes(open_resource(call, uri, mime_type), "blob", data, size);
	close_resource(call);
}

void roger_mcp_add_link(struct roger_mcp_call *call, const char *uri, const char *name,
			const char *mime_type)
{
	struct rg_buf *out;

	if (!is_text(call, uri) || !is_text(call, name))
		return;
	out = open_item(call);
	rg_mcp_put_text(out, "type", "resource_link");
	rg_mcp_put_text(out, "uri", uri);
	rg_mcp_put_text(out, "name", name);
	rg_mcp_put_text(out, "mimeType", mime_type);
	close_item(call);
}

void roger_mcp_set_role(struct roger_mcp_call *call, const char *role)
{
	call->role = strcmp(role, "assistant") == 0 ? "assistant" : "user";
}

void roger_mcp_set_structured(struct roger_mcp_call *call, const char *json)
{
	struct roger_err err;
	RG_CLEANUP(rg_json_freep) struct rg_json *read = NULL;

	rg_buf_clear(&call->structured);
	if (rg_json_read(rg_str(json), &read, &err) < 0) {
		roger_mcp_refuse(call, RG_MCP_INTERNAL, "the structured answer is no JSON");
		return;
	}
	rg_json_print(rg_json_root(read), &call->structured);
}

void roger_mcp_set_cache(struct roger_mcp_call *call, int64_t ttl_ms, bool shared)
{
	call->ttl_ms = ttl_ms < 0 ? 0 : ttl_ms;
	call->shared = shared;
}

void roger_mcp_add_completion(struct roger_mcp_call *call, const char *value)
{
	if (call->answer != RG_MCP_COMPLETE || !is_text(call, value))
		return;
	if (call->completion_count++ >= RG_MCP_COMPLETIONS_MAX)
		return;
	rg_mcp_next_item(&call->content);
	rg_json_add_string(&call->content, rg_str(value));
}

void rg_mcp_call_refuse(struct roger_mcp_call *call, int code, struct roger_str words)
{
	size_t chars;

	call->error_code = code;
	if (!rg_utf8_count(words, &chars))
		words = RG_STR("an error whose words are no valid UTF-8");
	if (!rg_arena_copy(call->arena, words, &call->error_words))
		call->error_words = RG_STR("out of memory");
}

void roger_mcp_refuse(struct roger_mcp_call *call, int code, const char *message)
{
	rg_mcp_call_refuse(call, code, rg_str(message));
}

void roger_mcp_not_found(struct roger_mcp_call *call)
{
	rg_mcp_call_refuse(
		call, rg_mcp_is_modern(call->revision) ? RG_MCP_BAD_PARAMS : RG_MCP_NO_RESOURCE,
		RG_STR("resource not found"));
}

void rg_mcp_call_clear(struct roger_mcp_call *call)
{
	rg_buf_clear(&call->content);
	rg_buf_add_char(&call->content, '[');
	rg_buf_clear(&call->structured);
	call->completion_count = 0;
}

void rg_mcp_call_fail(struct roger_mcp_call *call, const char *words)
{
	if (call->answer != RG_MCP_TOOL_CALL) {
		rg_mcp_call_refuse(call, RG_MCP_INTERNAL, rg_str(words));
		return;
	}
	rg_mcp_call_clear(call);
	call->is_error = true;
	roger_mcp_add_text(call, words);
}

void roger_mcp_fail(struct roger_mcp_call *call, const char *format, ...)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_MCP_UNSENT_BYTES_MAX };
	va_list arguments;

	va_start(arguments, format);
	print_text(&text, format, arguments);
	va_end(arguments);
	rg_mcp_call_fail(call, text.failed || !text.data ? "out of memory" : text.data);
}

/* ----------------------------------------------------- while it lasts -- */

/* Begin a notification of the call, which goes where its answer goes. */
static struct rg_buf *open_note_locked(struct roger_mcp_call *call, const char *method)
{
	struct rg_buf *out = NULL;

	if (!atomic_load(&call->cancelled))
		out = rg_mcp_begin_locked(call->stream, false);
	if (!out)
		return NULL;
	rg_buf_add_char(out, '{');
	rg_mcp_put_text(out, "jsonrpc", "2.0");
	rg_mcp_put_text(out, "method", method);
	rg_mcp_open(out, "params", '{');
	return out;
}

static void close_note_locked(struct roger_mcp_call *call, struct rg_buf *out)
{
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
	rg_mcp_end_locked(call->stream, RG_STR(""), false, 200);
}

static void put_number(struct rg_buf *out, const char *key, double number)
{
	rg_json_add_key(out, rg_str(key));
	rg_buf_printf(out, "%.15g", number);
}

static bool progress_is_due(struct roger_mcp_call *call, double progress, double total)
{
	int64_t now = rg_clock_monotonic_ns();
	bool complete = total > 0 && progress >= total;

	if (call->progress_token.length == 0 || !isfinite(progress) || !isfinite(total))
		return false;
	if (call->progressed && progress <= call->progress)
		return false;
	if (call->progressed && !complete &&
	    now - call->progress_ns < RG_MCP_PROGRESS_GAP_MS * INT64_C(1000000))
		return false;
	call->progressed = true;
	call->progress = progress;
	call->progress_ns = now;
	return true;
}

void roger_mcp_progress(struct roger_mcp_call *call, double progress, double total,
			const char *message)
{
	struct rg_buf *out;
	size_t chars;

	if (!progress_is_due(call, progress, total))
		return;
	rg_mcp_lock(call->server);
	out = open_note_locked(call, "notifications/progress");
	if (out) {
		rg_mcp_put_json(out, "progressToken", call->progress_token);
		put_number(out, "progress", progress);
		if (total > 0)
			put_number(out, "total", total);
		if (message && rg_utf8_count(rg_str(message), &chars) &&
		    call->revision >= RG_MCP_2025_03_26)
			rg_mcp_put_text(out, "message", message);
		close_note_locked(call, out);
	}
	rg_mcp_unlock(call->server);
}

int rg_mcp_level_of(struct roger_str level)
{
	static const char *const levels[] = { "debug", "info",	   "notice", "warning",
					      "error", "critical", "alert",  "emergency" };
	int i;

	for (i = 0; i < 8; i++)
		if (rg_str_is(level, levels[i]))
			return i;
	return -1;
}

void roger_mcp_log(struct roger_mcp_call *call, const char *level, const char *logger,
		   const char *text)
{
	int value = rg_mcp_level_of(rg_str(level)), least;
	struct rg_buf *out;
	size_t chars;

	if (!call->server->options.logging || value < 0 || !rg_utf8_count(rg_str(text), &chars))
		return;
	rg_mcp_lock(call->server);
	least = rg_mcp_is_modern(call->revision) ? call->log_level : call->peer->log_level;
	out = value < least ? NULL : open_note_locked(call, "notifications/message");
	if (out) {
		rg_mcp_put_text(out, "level", level);
		rg_mcp_put_text(out, "logger", logger);
		rg_mcp_put_text(out, "data", text);
		close_note_locked(call, out);
	}
	rg_mcp_unlock(call->server);
}

bool roger_mcp_cancelled(const struct roger_mcp_call *call)
{
	return atomic_load(&call->cancelled);
}

bool roger_mcp_sleep(struct roger_mcp_call *call, int64_t ms)
{
	int64_t until = rg_clock_monotonic_ns() + (ms < 0 ? 0 : ms) * 1000000;
	const struct timespec at = { until / 1000000000, until % 1000000000 };
	bool cancelled;

	rg_mcp_lock(call->server);
	while (!atomic_load(&call->cancelled))
		if (pthread_cond_timedwait(&call->server->changed, &call->server->lock, &at) != 0)
			break;
	cancelled = atomic_load(&call->cancelled);
	rg_mcp_unlock(call->server);
	return cancelled;
}
