/*
 * Messages about a run: its result, and those that the watchdog sends.
 *
 * People read why one is refused, so err is never NULL where something is sent.
 */
#include "ops/runs/run_document.h"
#include "ops/caller.h"

#include "facts/message.h"
#include "facts/person.h"

static bool is_agent(const struct roger *roger, struct roger_str name)
{
	return rg_name_valid(name) && !rg_config_is_person(name) &&
	       !rg_config_reserves_sender(roger->workspace->config, name);
}

struct roger_str rg_run_sender(const struct roger *roger, const struct roger_run *run)
{
	struct roger_str name = run->child;

	if (rg_str_equal(name, run->run) || rg_str_equal(name, run->owner) ||
	    !is_agent(roger, name))
		name = RG_STR("run");
	/* The name may belong to a group, or be the owner's. */
	return rg_str_equal(name, run->owner) || !is_agent(roger, name) ? RG_STR("roger") : name;
}

bool rg_run_may_speak(const struct roger *roger, const struct roger_run *run)
{
	const struct roger_str sender = rg_run_sender(roger, run);

	return rg_caller_is(roger, sender) || !rg_str_equal(sender, run->child);
}

bool rg_run_may_be_told(const struct roger *roger, const struct roger_run *run)
{
	struct roger_str child = run->child;

	return !rg_str_equal(child, run->owner) && is_agent(roger, child) &&
	       rg_engine_knows(roger->engine, child);
}

/* Was it sent before, in any cycle?  A result with another text is not the same one. */
static int find_sent(struct roger *roger, const struct roger_send_request *request,
		     struct rg_arena *arena, struct roger_str *ret_id, struct roger_err *err)
{
	const struct rg_query query = { .from = request->from,
					.key = request->key,
					.anywhere = true };
	struct roger_message_list found;
	int r;

	r = rg_engine_find(roger->engine, &query, arena, &found, err);
	if (r < 0)
		return r;
	*ret_id = found.count ? found.items[0].id : (struct roger_str){ "", 0 };
	if (found.count && request->type == ROGER_RESULT &&
	    !rg_str_equal(found.items[0].content, request->content))
		return rg_fail_member(err, ROGER_EREFUSED, "result",
				      "result: message '%.*s' delivered another one already",
				      RG_STR_ARGS(*ret_id));
	return ROGER_OK;
}

static int send_once(struct roger *roger, const struct roger_send_request *request,
		     struct rg_arena *arena, struct roger_str *ret_id, struct roger_err *err)
{
	struct roger_send_reply reply;
	int r;

	r = find_sent(roger, request, arena, ret_id, err);
	if (r < 0 || ret_id->length)
		return r;
	rg_assert(!roger->own_mail);
	roger->own_mail = true;
	r = rg_op_call(&rg_op_send, roger, request, &reply, err);
	roger->own_mail = false;
	if (r == ROGER_OK) {
		r = rg_kept(rg_arena_copy(arena, reply.messages.items[0].id, ret_id), err);
		rg_arena_free(reply.memory);
	}
	/* Another process may have delivered it in this moment. */
	if (r == ROGER_EREFUSED && find_sent(roger, request, arena, ret_id, NULL) == ROGER_OK &&
	    ret_id->length)
		r = ROGER_OK;
	return r;
}

/* Send to a person; if the issue is full, in an issue of the run's own. */
static int send_to_person(struct roger *roger, const struct roger_run *run,
			  const struct roger_send_request *request, struct rg_arena *arena,
			  struct roger_str *ret_id, struct roger_err *err)
{
	struct roger_send_request apart = *request;
	int r;

	apart.issue = run->run;
	apart.key = rg_arena_text(arena, "%.*s:apart", RG_STR_ARGS(request->key));
	if (rg_arena_failed(arena))
		return rg_fail_memory(err);
	r = find_sent(roger, &apart, arena, ret_id, err);
	if (r < 0 || ret_id->length)
		return r;
	r = send_once(roger, request, arena, ret_id, err);
	return r == ROGER_EREFUSED && strcmp(err->member, "result") != 0
		       ? send_once(roger, &apart, arena, ret_id, err)
		       : r;
}

/* Send a message about the run: once for each verb and number, by any caller. */
static int send_about(struct roger *roger, const struct roger_run *run, struct roger_str to,
		      int type, const char *verb, int64_t number, struct roger_str content,
		      struct rg_arena *arena, struct roger_str *ret_id, struct roger_err *err)
{
	struct rg_buf metadata = { .maximum = SIZE_MAX };
	char task[RG_FILE_NAME_BYTES];
	struct roger_send_request request = { .to = { &to, 1 },
					      .content = content,
					      .issue = run->issue,
					      .type = type,
					      .new_ = true };

	rg_assert(number >= 0);
	rg_buf_add_char(&metadata, '{');
	rg_json_add_member(&metadata, "run", run->run);
	rg_buf_add_char(&metadata, '}');
	request.metadata = rg_arena_take(arena, &metadata);
	/* The key is task:verb:number; the task is encoded, so that it has no colon. */
	rg_workspace_file_name(run->run, "", task);
	request.key = rg_arena_text(arena, "%s:%s:%lld", task, verb, (long long)number);
	request.from = type == ROGER_RESULT ? rg_run_sender(roger, run) : RG_STR("roger");
	/* Nothing is sent of which a part may be missing. */
	if (rg_arena_failed(arena))
		return rg_fail_memory(err);
	return rg_config_is_person(to) ? send_to_person(roger, run, &request, arena, ret_id, err)
				       : send_once(roger, &request, arena, ret_id, err);
}

static int64_t number_of(struct roger_str text)
{
	return (int64_t)(rg_hash(0, text.data, text.length) >> 1);
}

int rg_run_deliver(struct roger *roger, const struct roger_run *run, struct roger_str content,
		   struct roger_str again, struct rg_arena *arena, struct roger_str *ret_id,
		   struct roger_str *ret_untold, struct roger_err *err)
{
	const int64_t number = again.length ? number_of(again) : 1;
	const int64_t numbers[] = { number, number, number_of(content) };
	struct roger_str why;
	int r = ROGER_EREFUSED;
	size_t i;

	*ret_untold = (struct roger_str){ "", 0 };
	/* Send under the key of the run; the second try finds what another process sent in this
	 * moment.  If a text that never arrived took that key, send under one of this text. */
	for (i = 0; i < 3 && (!i || (r == ROGER_EREFUSED && !strcmp(err->member, "key"))); i++)
		r = send_about(roger, run, run->owner, ROGER_RESULT, "run-result", numbers[i],
			       content, arena, ret_id, err);
	if (r != ROGER_EREFUSED || strcmp(err->member, "result") == 0)
		return r;
	why = rg_arena_str(arena, rg_str(err->message));
	/* Keep it for a person; its key is made of the text, so that each text is kept once. */
	r = send_about(roger, run, RG_STR(RG_PERSON), ROGER_RESULT, "run-kept", numbers[2], content,
		       arena, ret_id, err);
	if (r < 0 && r != ROGER_EREFUSED)
		return r;
	if (r < 0)
		*ret_id = (struct roger_str){ "", 0 };
	*ret_untold = rg_arena_text(arena, "%.*s; %s%.*s", RG_STR_ARGS(why),
				    r < 0 ? "it is kept nowhere"
					  : "it is kept for '" RG_PERSON "' in message ",
				    RG_STR_ARGS(*ret_id));
	return ROGER_OK;
}

int rg_run_notify(struct roger *roger, const struct roger_run *run, struct roger_str to,
		  const char *verb, int64_t number, struct roger_str content,
		  struct rg_arena *arena, struct roger_str *ret_id, struct roger_str *ret_untold,
		  struct roger_err *err)
{
	int r;

	*ret_id = *ret_untold = (struct roger_str){ "", 0 };
	r = send_about(roger, run, to, ROGER_CONTEXT, verb, number, content, arena, ret_id, err);
	/* If a text that never arrived took that key, send under one of this text. */
	if (r == ROGER_EREFUSED && strcmp(err->member, "key") == 0)
		r = send_about(roger, run, to, ROGER_CONTEXT, verb, number_of(content), content,
			       arena, ret_id, err);
	if (r != ROGER_EREFUSED && r != ROGER_EDATA)
		return r;
	*ret_untold = rg_arena_str(arena, rg_str(err->message));
	return ROGER_OK;
}

int rg_run_message(struct roger *roger, struct roger_str id, struct rg_arena *arena,
		   const struct roger_message **ret_message, struct roger_err *err)
{
	struct roger_message_list found;
	int r = rg_engine_find_ids(roger->engine, &id, 1, arena, &found, err);

	if (r < 0)
		return r;
	*ret_message = found.count ? &found.items[0] : NULL;
	return ROGER_OK;
}

/* ------------------------------------------------------- finding a result -- */

static bool names_run(struct roger_str metadata, struct roger_str run_id)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *value;

	if (metadata.length == 0 || rg_json_read(metadata, &json, NULL) < 0)
		return false;
	value = rg_json_member(rg_json_root(json), "run");
	return value && rg_json_kind(value) == RG_JSON_STRING &&
	       rg_str_equal(rg_json_str(value), run_id);
}

/* Do its metadata or its key name the run? */
static bool is_about(const struct roger_run *run, const struct roger_message *message)
{
	const struct roger_str key = message->key;

	return names_run(message->metadata, run->run) ||
	       (key.length > run->run.length && key.data[run->run.length] == ':' &&
		memcmp(key.data, run->run.data, run->run.length) == 0);
}

bool rg_run_carries_result(const struct roger_run *run, const struct roger_message *message)
{
	return run->result_message.length ? rg_str_equal(message->id, run->result_message)
					  : message->type == ROGER_RESULT && is_about(run, message);
}

const char *rg_run_why_stranded(const struct roger_retired_list *retired,
				const struct roger_run *run, const struct roger_message *message)
{
	if (!message)
		return "was deleted";
	if (!rg_run_is_for_owner(retired, run, message->to))
		return "is not for its owner";
	if (rg_message_in_place(message))
		return "was acknowledged in its owner's place";
	return message->archived_at_ms && !message->read ? "was archived unread" : NULL;
}

int rg_run_answered_by(struct roger *roger, const struct roger_run *run, struct roger_str id,
		       struct rg_arena *arena, bool *ret_answers, struct roger_err *err)
{
	const struct roger_message *reply = NULL, *result = NULL;
	struct roger_retired_list retired;
	int r;

	r = rg_engine_retired(roger->engine, arena, &retired, err);
	if (r == ROGER_OK)
		r = rg_run_message(roger, id, arena, &reply, err);
	if (r == ROGER_OK && reply && reply->reply_to.length && run->owner.length &&
	    rg_run_is_for_owner(&retired, run, reply->from))
		r = rg_run_message(roger, reply->reply_to, arena, &result, err);
	*ret_answers = r == ROGER_OK && result && rg_run_carries_result(run, result);
	return r;
}

bool rg_run_is_child(const struct roger *roger, const struct roger_run *run, struct roger_str name)
{
	return rg_str_equal(name, run->child) || rg_str_equal(name, run->run) ||
	       rg_str_equal(name, rg_run_sender(roger, run));
}

/* Find the last message about the run; if it names no child, from any sender. */
static int find_result(struct roger *roger, const struct rg_run_document *document,
		       struct roger_str to, struct rg_arena *arena,
		       const struct roger_message **ret_message, struct roger_err *err)
{
	const struct rg_query query = { .type = ROGER_RESULT,
					.to = to,
					.since_ms = document->receipts.dispatched_ms,
					.anywhere = true };
	const struct roger_run *run = &document->run;
	const bool any = rg_str_equal(run->child, run->run);
	struct roger_message_list found = { 0 };
	const struct roger_message *message;
	size_t i;
	int r = rg_engine_find(roger->engine, &query, arena, &found, err);

	*ret_message = NULL;
	for (i = found.count; r == ROGER_OK && i > 0 && !*ret_message; i--) {
		message = &found.items[i - 1];
		if (is_about(run, message) && (any || rg_run_is_child(roger, run, message->from)))
			*ret_message = message;
	}
	return r;
}

int rg_run_find_result(struct roger *roger, const struct rg_run_document *document,
		       struct rg_arena *arena, const struct roger_message **ret_message,
		       struct roger_err *err)
{
	int r = find_result(roger, document, document->run.owner, arena, ret_message, err);

	return r < 0 || *ret_message || !document->former.length
		       ? r
		       : find_result(roger, document, document->former, arena, ret_message, err);
}
