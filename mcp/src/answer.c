/* Running a handler, asking the client on its behalf, and sending its answer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "mcp.h"
#include "schema.h"

/* ------------------------------------------------------------- asking -- */

static const char *capability_of(const char *method)
{
	if (strcmp(method, "elicitation/create") == 0)
		return "elicitation";
	if (strcmp(method, "sampling/createMessage") == 0)
		return "sampling";
	return strcmp(method, "roots/list") == 0 ? "roots" : NULL;
}

static const struct rg_value *answer_to(const struct roger_mcp_call *call, const char *key)
{
	const struct rg_value *answer = rg_json_member(call->input_responses, key);
	const struct rg_mcp_ask *ask;

	for (ask = call->answered; ask; ask = ask->next)
		if (strcmp(ask->key, key) == 0)
			answer = ask->answer;
	return rg_json_kind(answer) == RG_JSON_OBJECT ? answer : NULL;
}

/* Note a question of the handler, once; false: it cannot be asked. */
static bool remember_ask(struct roger_mcp_call *call, const char *key, const char *method,
			 const char *params)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_mcp_ask **end, *ask;
	struct roger_str own_key, own_method;

	if (rg_mcp_compact(params ? params : "{}", RG_JSON_OBJECT, &text, NULL) < 0)
		return false;
	for (end = &call->asks; *end; end = &(*end)->next)
		if (strcmp((*end)->key, key) == 0)
			return true;
	ask = rg_arena_get(call->arena, sizeof *ask);
	if (!ask || !rg_arena_copy(call->arena, rg_str(key), &own_key) ||
	    !rg_arena_copy(call->arena, rg_str(method), &own_method) ||
	    !rg_arena_copy(call->arena, rg_buf_str(&text), &ask->params))
		return false;
	ask->key = own_key.data;
	ask->method = own_method.data;
	*end = ask;
	return true;
}

const struct roger_mcp_value *roger_mcp_ask(struct roger_mcp_call *call, const char *key,
					    const char *method, const char *params)
{
	const struct rg_value *answer = answer_to(call, key);
	const char *capability = capability_of(method);

	if (answer)
		return (const struct roger_mcp_value *)answer;
	if (!capability || call->answer == RG_MCP_COMPLETE)
		roger_mcp_refuse(call, RG_MCP_INTERNAL, "a client cannot be asked that");
	else if (!roger_mcp_client_can(call, capability))
		call->missing_capability = capability;
	else if (!remember_ask(call, key, method, params))
		roger_mcp_refuse(call, RG_MCP_INTERNAL, "the question to the client is no JSON");
	return NULL;
}

void roger_mcp_keep(struct roger_mcp_call *call, const char *state)
{
	struct roger_str copy;

	if (rg_arena_copy(call->arena, rg_str(state), &copy))
		call->keep = copy.data;
	else
		roger_mcp_refuse(call, RG_MCP_INTERNAL, "out of memory");
}

const char *roger_mcp_kept(const struct roger_mcp_call *call)
{
	return call->kept;
}

/* ---------------------------------------------------------- answering -- */

void rg_mcp_put_head(struct rg_buf *out, struct roger_str id)
{
	rg_buf_add_char(out, '{');
	rg_mcp_put_text(out, "jsonrpc", "2.0");
	/* An id that could not be read is left out, as MCP demands. */
	if (id.length)
		rg_mcp_put_json(out, "id", id);
}

void rg_mcp_put_error(struct rg_buf *out, int code, struct roger_str words, struct roger_str data)
{
	rg_mcp_open(out, "error", '{');
	rg_mcp_put_int(out, "code", code);
	rg_mcp_put_str(out, "message", words);
	if (data.length)
		rg_mcp_put_json(out, "data", data);
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
}

int rg_mcp_status_of(enum rg_mcp_revision revision, int code)
{
	if (code == RG_MCP_BAD_JSON || code == RG_MCP_BAD_REQUEST || code == RG_MCP_BAD_HEADER ||
	    code == RG_MCP_NO_CAPABILITY || code == RG_MCP_NO_VERSION)
		return 400;
	return code == RG_MCP_NO_METHOD && rg_mcp_is_modern(revision) ? 404 : 200;
}

void rg_mcp_put_server(struct roger_mcp_server *server, struct rg_buf *out)
{
	rg_mcp_open(out, "io.modelcontextprotocol/serverInfo", '{');
	rg_mcp_put_text(out, "name", server->name);
	rg_mcp_put_text(out, "title", server->title);
	rg_mcp_put_text(out, "version", server->version);
	rg_mcp_close(out, '}');
}

void rg_mcp_put_cache(struct rg_buf *out, int64_t ttl_ms, bool shared)
{
	rg_mcp_put_int(out, "ttlMs", ttl_ms);
	rg_mcp_put_text(out, "cacheScope", shared ? "public" : "private");
}

/* Print {"uri":...} for a missing resource, or {"requiredCapabilities":...}. */
static void put_data(const struct roger_mcp_call *call, struct rg_buf *out)
{
	if (call->error_code == RG_MCP_NO_CAPABILITY && call->missing_capability) {
		rg_buf_add_char(out, '{');
		rg_mcp_open(out, "requiredCapabilities", '{');
		rg_mcp_open(out, call->missing_capability, '{');
		rg_buf_add_text(out, "}}}");
	} else if (call->answer == RG_MCP_READ) {
		rg_buf_add_char(out, '{');
		rg_mcp_put_str(out, "uri", call->name);
		rg_buf_add_char(out, '}');
	}
}

static void answer_error_locked(struct roger_mcp_call *call)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf data = { .maximum = SIZE_MAX };
	struct rg_buf *out = rg_mcp_begin_locked(call->stream, true);

	if (!out)
		return;
	put_data(call, &data);
	rg_mcp_put_head(out, call->message.id);
	rg_mcp_put_error(out, call->error_code, call->error_words,
			 data.failed ? RG_STR("") : rg_buf_str(&data));
	rg_mcp_end_locked(call->stream, call->message.id, true,
			  rg_mcp_status_of(call->revision, call->error_code));
}

static void put_tool_result(struct roger_mcp_call *call, struct rg_buf *out)
{
	bool object = call->structured.length && call->structured.data[0] == '{';

	rg_buf_add_char(&call->content, ']');
	rg_mcp_put_buf(out, "content", &call->content);
	/* Up to 2025-11-25 it must be an object. */
	if (call->structured.length && (object || rg_mcp_is_modern(call->revision)))
		rg_mcp_put_buf(out, "structuredContent", &call->structured);
	if (call->is_error)
		rg_mcp_put_bool(out, "isError", true);
}

static void put_completion(struct roger_mcp_call *call, struct rg_buf *out)
{
	rg_buf_add_char(&call->content, ']');
	rg_mcp_open(out, "completion", '{');
	rg_mcp_put_buf(out, "values", &call->content);
	rg_mcp_put_int(out, "total", (int64_t)call->completion_count);
	rg_mcp_put_bool(out, "hasMore", call->completion_count > RG_MCP_COMPLETIONS_MAX);
	rg_mcp_close(out, '}');
}

static void put_result(struct roger_mcp_call *call, struct rg_buf *out)
{
	switch (call->answer) {
	case RG_MCP_TOOL_CALL:
		put_tool_result(call, out);
		break;
	case RG_MCP_READ:
		rg_buf_add_char(&call->content, ']');
		rg_mcp_put_buf(out, "contents", &call->content);
		if (rg_mcp_is_modern(call->revision))
			rg_mcp_put_cache(out, call->ttl_ms, call->shared);
		break;
	case RG_MCP_GET_PROMPT:
		rg_buf_add_char(&call->content, ']');
		rg_mcp_put_buf(out, "messages", &call->content);
		break;
	case RG_MCP_COMPLETE:
		put_completion(call, out);
		break;
	}
}

static void put_questions(struct roger_mcp_call *call, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf sealed = { .maximum = RG_MCP_UNSENT_BYTES_MAX };
	const struct rg_mcp_ask *ask;

	rg_mcp_open(out, "inputRequests", '{');
	for (ask = call->asks; ask; ask = ask->next) {
		rg_mcp_open(out, ask->key, '{');
		rg_mcp_put_text(out, "method", ask->method);
		rg_mcp_put_json(out, "params", ask->params);
		rg_mcp_close(out, '}');
	}
	rg_mcp_close(out, '}');
	if (!call->keep)
		return;
	rg_mcp_seal(call, call->keep, rg_clock_ms(), &sealed);
	rg_mcp_put_str(out, "requestState", rg_buf_str(&sealed));
	out->failed |= sealed.failed;
}

static void answer_result_locked(struct roger_mcp_call *call)
{
	struct rg_buf *out = rg_mcp_begin_locked(call->stream, true);

	if (!out)
		return;
	rg_mcp_put_head(out, call->message.id);
	rg_mcp_open(out, "result", '{');
	if (rg_mcp_is_modern(call->revision))
		rg_mcp_put_text(out, "resultType", call->asks ? "input_required" : "complete");
	if (call->asks)
		put_questions(call, out);
	else
		put_result(call, out);
	if (rg_mcp_is_modern(call->revision)) {
		rg_mcp_open(out, "_meta", '{');
		rg_mcp_put_server(call->server, out);
		rg_mcp_close(out, '}');
	}
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
	rg_mcp_end_locked(call->stream, call->message.id, true, 200);
}

static void end_locked(struct roger_mcp_call *call)
{
	struct roger_mcp_server *server = call->server;
	struct roger_mcp_call **place;

	for (place = &server->calls; *place != call; place = &(*place)->next)
		;
	*place = call->next;
	server->call_count--;
	rg_buf_deinit(&call->content);
	rg_buf_deinit(&call->structured);
	rg_mcp_item_release_locked(call->item);
	rg_mcp_stream_release_locked(call->stream);
	rg_mcp_peer_release_locked(call->peer);
	/* This frees the call, too, which is in its arena. */
	rg_mcp_arena_free_locked(server, call->arena);
	pthread_cond_broadcast(&server->changed);
}

/* Legacy: questions are requests of our own, on the stream of the call. */
static void send_questions_locked(struct roger_mcp_call *call)
{
	struct rg_mcp_ask *ask;
	struct rg_buf *out;

	call->asking = true;
	for (ask = call->asks; ask; ask = ask->next) {
		snprintf(ask->id, sizeof ask->id, "\"ask-%llu\"",
			 (unsigned long long)++call->server->last_ask);
		out = rg_mcp_begin_locked(call->stream, false);
		if (!out)
			continue;
		rg_mcp_put_head(out, rg_str(ask->id));
		rg_mcp_put_text(out, "method", ask->method);
		rg_mcp_put_json(out, "params", ask->params);
		rg_mcp_close(out, '}');
		rg_mcp_end_locked(call->stream, RG_STR(""), false, 200);
	}
}

/* A structured answer must match its schema, and older clients want it as text. */
static void check_structured(struct roger_mcp_call *call)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_err err = { 0 };

	if (call->answer != RG_MCP_TOOL_CALL || call->is_error)
		return;
	if (call->structured.length && call->content.length == 1) {
		rg_buf_add_char(&call->structured, 0);
		if (!call->structured.failed) {
			roger_mcp_add_text(call, call->structured.data);
			call->structured.length--;
		}
	}
	if (!call->item->output_schema)
		return;
	if (call->structured.length == 0 ||
	    rg_json_read(rg_buf_str(&call->structured), &json, &err) < 0)
		rg_mcp_call_fail(call,
				 "the tool gave no structured answer, though it declares one");
	else if (rg_schema_accept(rg_json_root(call->item->output_schema), rg_json_root(json),
				  false, &err) < 0)
		roger_mcp_fail(call, "the tool's answer does not keep its own schema: %s",
			       err.message);
}

static void miss_capability(struct roger_mcp_call *call)
{
	if (rg_mcp_is_modern(call->revision))
		rg_mcp_call_refuse(
			call, RG_MCP_NO_CAPABILITY,
			RG_STR("the client has not declared a capability that this needs"));
	else
		roger_mcp_fail(call, "this needs a client that supports '%s', which yours does not",
			       call->missing_capability);
}

/* The handler has returned: answer the call. */
static void answer_locked(struct roger_mcp_call *call)
{
	if (call->error_code == 0 && call->missing_capability)
		miss_capability(call);
	if (call->error_code == 0 && !call->asks)
		check_structured(call);
	if (call->asks && ++call->rounds > RG_MCP_ROUNDS_MAX)
		rg_mcp_call_refuse(call, RG_MCP_INTERNAL, RG_STR("asked the client too often"));
	if (call->content.failed || call->structured.failed)
		rg_mcp_call_refuse(call, RG_MCP_INTERNAL, RG_STR("the answer is too long"));

	if (atomic_load(&call->cancelled)) {
		end_locked(call);
		return;
	}
	if (call->error_code == 0 && call->asks && !rg_mcp_is_modern(call->revision) &&
	    !call->is_error) {
		send_questions_locked(call);
		return;
	}
	if (call->is_error)
		call->asks = NULL;
	if (call->error_code)
		answer_error_locked(call);
	else
		answer_result_locked(call);
	end_locked(call);
}

void roger_mcp_defer(struct roger_mcp_call *call)
{
	rg_mcp_lock(call->server);
	call->deferred = true;
	rg_mcp_unlock(call->server);
}

void roger_mcp_finish(struct roger_mcp_call *call)
{
	struct roger_mcp_server *server = call->server;

	rg_mcp_lock(server);
	call->finished = true;
	if (call->returned)
		answer_locked(call);
	rg_mcp_unlock(server);
}

void rg_mcp_call_run(struct roger_mcp_call *call)
{
	struct roger_mcp_server *server = call->server;

	if (!atomic_load(&call->cancelled))
		call->handler(call, call->item->data);
	rg_mcp_lock(server);
	call->returned = true;
	if (!call->deferred || call->finished)
		answer_locked(call);
	rg_mcp_unlock(server);
}

void rg_mcp_call_start_locked(struct roger_mcp_call *call)
{
	struct roger_mcp_server *server = call->server;

	call->deferred = call->returned = call->finished = false;
	call->began_ns = rg_clock_monotonic_ns();
	if (call->item->flags & ROGER_MCP_BLOCKING) {
		if (rg_mcp_work_locked(server, call))
			return;
		rg_mcp_call_refuse(call, RG_MCP_INTERNAL,
				   RG_STR("no thread is to be had; try again"));
		answer_locked(call);
		return;
	}
	rg_mcp_unlock(server);
	rg_mcp_call_run(call);
	rg_mcp_lock(server);
}

void rg_mcp_call_cancel_locked(struct roger_mcp_call *call)
{
	if (atomic_exchange(&call->cancelled, true))
		return;
	if (call->asking)
		end_locked(call);
	else
		pthread_cond_broadcast(&call->server->changed);
}

void roger_mcp_not_late(struct roger_mcp_call *call)
{
	rg_mcp_lock(call->server);
	call->began_ns = rg_clock_monotonic_ns();
	rg_mcp_unlock(call->server);
}

/* Answer for a handler that takes too long.  It may still write its own answer, so make another. */
static void answer_for_locked(const struct roger_mcp_call *call)
{
	struct roger_mcp_call told = { .server = call->server,
				       .stream = call->stream,
				       .item = call->item,
				       .message = call->message,
				       .revision = call->revision,
				       .answer = call->answer,
				       .name = call->name,
				       .content.maximum = RG_MCP_UNSENT_BYTES_MAX,
				       .error_words = rg_str(call->server->late_words),
				       .is_error = true };

	if (call->answer == RG_MCP_TOOL_CALL) {
		rg_mcp_call_clear(&told);
		roger_mcp_add_text(&told, call->server->late_words);
		answer_result_locked(&told);
	} else {
		told.error_code = RG_MCP_INTERNAL;
		answer_error_locked(&told);
	}
	rg_buf_deinit(&told.content);
}

void rg_mcp_answer_late(struct roger_mcp_server *server)
{
	const int64_t since_ns =
		rg_clock_monotonic_ns() - server->options.late_ms * INT64_C(1000000);
	struct roger_mcp_call *call;

	rg_mcp_lock(server);
	for (call = server->late_words ? server->calls : NULL; call; call = call->next)
		if (call->began_ns < since_ns && !call->asking && !atomic_load(&call->cancelled)) {
			answer_for_locked(call);
			rg_mcp_call_cancel_locked(call);
		}
	rg_mcp_unlock(server);
}

/* --------------------------------------------- legacy: client's answers -- */

static struct rg_mcp_ask *find_ask_locked(struct rg_mcp_peer *peer, struct roger_str id,
					  struct roger_mcp_call **ret_call)
{
	struct roger_mcp_call *call;
	struct rg_mcp_ask *ask;

	for (call = peer->server->calls; call; call = call->next)
		for (ask = call->asks; ask; ask = ask->next)
			if (call->peer == peer && call->asking && rg_str_is(id, ask->id)) {
				*ret_call = call;
				return ask;
			}
	return NULL;
}

static bool all_answered(const struct roger_mcp_call *call)
{
	const struct rg_mcp_ask *ask;

	for (ask = call->asks; ask; ask = ask->next)
		if (!ask->answer && !ask->refused)
			return false;
	return true;
}

static void take_answer(struct roger_mcp_call *call, struct rg_mcp_ask *ask,
			const struct rg_value *result)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const struct rg_json *json;

	if (rg_json_kind(result) == RG_JSON_OBJECT)
		rg_json_print(result, &text);
	if (text.length && !text.failed &&
	    rg_json_read_within(rg_buf_str(&text), call->arena, &json, NULL) == ROGER_OK)
		ask->answer = rg_json_root(json);
	else
		ask->refused = true;
}

void rg_mcp_call_answered_locked(struct rg_mcp_peer *peer, const struct rg_mcp_message *message)
{
	struct roger_mcp_call *call = NULL;
	struct rg_mcp_ask *ask = find_ask_locked(peer, message->id, &call);

	if (!ask || ask->answer || ask->refused)
		return;
	take_answer(call, ask, message->result);
	if (!all_answered(call))
		return;
	call->asking = false;
	for (ask = call->asks; ask && !ask->refused; ask = ask->next)
		;
	call->answered = call->asks;
	call->asks = NULL;
	call->kept = call->keep;
	call->keep = NULL;
	rg_mcp_call_clear(call);
	if (!ask) {
		rg_mcp_call_start_locked(call);
		return;
	}
	roger_mcp_fail(call, "the client did not answer '%s'", ask->method);
	answer_locked(call);
}
