/*
 * complete, forward, extend, settle: receipts of a run that come after its dispatch.
 *
 * A result is delivered before its receipt is written, under a key of the run,
 * so that a caller who was killed in between can repeat both, and it is delivered once.
 */
#include "ops/runs/run_list.h"
#include "facts/person.h"
#include "ops/caller.h"
#include "ops/note.h"

/* -------------------------------------------------------------- complete -- */

struct completion {
	struct roger *roger;
	struct rg_arena *arena;
	const struct roger_complete_request *request;
	struct rg_run_document document;
	struct roger_str source;
	struct roger_str child_exit; /* "": not known */
	struct roger_str text;	     /* the result; "": there is none, or a message has it */
	struct roger_str again;	     /* the message that nobody can read, and that is sent again */
	struct roger_str message_id; /* has the result; "": none has */
	bool failed;		     /* it ended, and no result came of it */
	struct roger_str ended;	     /* if it failed: "exit 3"; */
	struct roger_str told_by;    /* the message that its owner got; */
	struct roger_str untold;     /* or why it got none */
	bool tried;		     /* it was tried to deliver the result */
	struct roger_str foreign;    /* sender of a message that is not the child's */
};

static int read_request(struct completion *completion, struct roger_err *err)
{
	const struct roger_complete_request *request = completion->request;
	bool result = request->result.length || request->message.length;
	int64_t status;

	if (request->result.length && request->message.length)
		return rg_fail_member(err, ROGER_EUSAGE, "message",
				      "give result or message, not both");
	if (request->failed && result)
		return rg_fail_member(err, ROGER_EUSAGE, "failed",
				      "failed: a run that has a result has not failed");
	if (request->exit.length && (!rg_str_number(request->exit, &status) || status > 255))
		return rg_fail_member(err, ROGER_EDATA, "exit",
				      "exit: expected an exit status from 0 to 255");
	if (request->failed && !request->exit.length)
		completion->child_exit = RG_STR("failed");
	completion->failed |=
		completion->child_exit.length && !rg_str_is(completion->child_exit, "0") && !result;
	completion->ended =
		rg_arena_text(completion->arena, "%s%.*s", request->exit.length ? "exit " : "",
			      RG_STR_ARGS(completion->child_exit));
	return ROGER_OK;
}

/* A completion whose result could not be delivered may get it later. */
static bool lacks_result(const struct completion *completion, const struct roger_run *run)
{
	return (completion->text.length || completion->request->message.length) &&
	       rg_str_equal(run->result_message, completion->again) && !run->forwarded;
}

/* Is this the child itself, under its own name or that of the run? */
static bool is_child(const struct roger_run *run, struct roger_str name)
{
	return rg_str_equal(name, run->child) || rg_str_equal(name, run->run);
}

/* Note who completed the run in the child's place, and what became of the result. */
static void note_completion(const struct completion *completion, struct rg_run_edit *edit)
{
	const struct rg_caller *caller = &completion->roger->caller;
	const struct rg_ran *ran = rg_ran(completion->roger);
	const struct roger_str agent = completion->request->agent,
			       by = agent.length ? agent : RG_STR("a person");
	struct rg_buf note = { .maximum = SIZE_MAX };
	struct roger_str text;

	if (edit->by.length)
		rg_buf_printf(&note, "completed%.*s", RG_STR_ARGS(edit->by));
	else if (!is_child(edit->run, agent) && caller->how == RG_BY_SOCKET)
		rg_buf_printf(&note, "completed by %.*s (%.*s)", RG_STR_ARGS(by),
			      RG_STR_ARGS(caller->login));
	else if (!is_child(edit->run, agent))
		rg_buf_printf(&note, "completed by %.*s (uid %lld%s%s%s%s)", RG_STR_ARGS(by),
			      (long long)ran->uid, ran->parent[0] ? ", " : "", ran->parent,
			      ran->terminal[0] ? ", " : "", ran->terminal);
	if (completion->foreign.length)
		rg_buf_printf(&note, "%sthe result is message %.*s, from %.*s",
			      note.length ? "; " : "", RG_STR_ARGS(completion->message_id),
			      RG_STR_ARGS(completion->foreign));
	if (!completion->failed && completion->untold.length)
		rg_buf_printf(&note, "%sits owner did not get the result: %.*s",
			      note.length ? "; " : "", RG_STR_ARGS(completion->untold));
	text = rg_arena_take(edit->arena, &note);
	if (text.length)
		rg_run_note(edit, "%.*s", RG_STR_ARGS(text));
}

/* Set the exit status.  It is reported once, and may come after the result. */
static int set_exit(const struct completion *completion, struct rg_run_edit *edit,
		    struct roger_err *err)
{
	struct roger_str said = completion->child_exit, was = edit->run->exit;

	if (!said.length || rg_str_equal(said, was))
		return ROGER_OK;
	if (edit->run->forwarded)
		return rg_fail_member(err, ROGER_EREFUSED, "exit",
				      "run '%.*s' is over: its result was forwarded",
				      RG_STR_ARGS(edit->run->run));
	if (was.length && !rg_str_is(was, "lost"))
		return rg_fail_member(err, ROGER_EREFUSED, "exit",
				      "the child of run '%.*s' has already ended (%.*s)",
				      RG_STR_ARGS(edit->run->run), RG_STR_ARGS(was));
	edit->run->exit = said;
	edit->changed = true;
	return ROGER_OK;
}

static int change_completion(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	const struct completion *completion = context;
	struct roger_run *run = edit->run;
	int r;

	if (completion->failed) {
		r = rg_run_end_child(edit, completion->child_exit, err);
		if (r < 0 || !edit->changed)
			return r;
		run->failure_message = completion->told_by;
		rg_run_note_end(edit, completion->ended, completion->told_by, completion->untold);
		note_completion(completion, edit);
		return ROGER_OK;
	}
	r = rg_run_complete(edit, completion->source, err);
	if (r == ROGER_OK)
		r = set_exit(completion, edit, err);
	if (r < 0)
		return r;
	if (lacks_result(completion, run) &&
	    !(completion->tried && rg_str_equal(run->result_message, completion->message_id))) {
		edit->changed = true;
		/* If the owner got none, a message for a person is better than nothing. */
		if (completion->message_id.length)
			run->result_message = completion->message_id;
	}
	if (edit->changed)
		note_completion(completion, edit);
	return ROGER_OK;
}

/* Check that a message that was named as the result is for the owner, and from the child. */
static int check_message(struct completion *completion, struct roger_err *err)
{
	const struct roger_str id = completion->request->message;
	const struct roger_run *run = &completion->document.run;
	struct roger_retired_list retired;
	const struct roger_message *message = NULL;
	int r;

	r = rg_engine_retired(completion->roger->engine, completion->arena, &retired, err);
	if (r == ROGER_OK)
		r = rg_run_message(completion->roger, id, completion->arena, &message, err);
	if (r < 0)
		return r;
	if (!message)
		return rg_fail_member(err, ROGER_ENOENT, "message", "no message '%.*s'",
				      RG_STR_ARGS(id));
	if (!rg_run_is_for_owner(&retired, run, message->to))
		return rg_fail_member(err, ROGER_EREFUSED, "message",
				      "message '%.*s' is for '%.*s', but the result of run '%.*s' "
				      "is for '%.*s'",
				      RG_STR_ARGS(id), RG_STR_ARGS(message->to),
				      RG_STR_ARGS(run->run), RG_STR_ARGS(run->owner));
	if (rg_run_is_child(completion->roger, run, message->from))
		return ROGER_OK;
	completion->foreign = message->from;
	/* A result speaks for the child, so only a person may accept another's; a run that names no
	 * child may have its result from anybody. */
	if (!completion->request->agent.length || rg_config_is_person(completion->request->agent) ||
	    rg_str_equal(run->child, run->run))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, "message",
			      "message '%.*s' is from '%.*s', but the child of run '%.*s' is "
			      "'%.*s'",
			      RG_STR_ARGS(id), RG_STR_ARGS(message->from), RG_STR_ARGS(run->run),
			      RG_STR_ARGS(run->child));
}

/* Report a failure at once.  (The last words of a `roger run` come with its end.) */
static int tell_failure(struct completion *completion, struct roger_err *err)
{
	const struct roger_run *run = &completion->document.run;
	const bool stated = completion->request->exit.length > 0;
	struct roger_str text;

	if (!run->owner.length)
		return ROGER_OK;
	text = rg_arena_text(completion->arena,
			     "Run %.*s failed%s%.*s%s: no result will come by itself. Once that is "
			     "dealt with, ack this, or `roger dismiss %.*s --reason TEXT`.",
			     RG_STR_ARGS(run->run), stated ? " (" : "",
			     RG_STR_ARGS(stated ? completion->ended : RG_STR("")),
			     stated ? ")" : "", RG_STR_ARGS(run->run));
	return rg_run_notify(completion->roger, run, run->owner, "run-failed", 1, text,
			     completion->arena, &completion->told_by, &completion->untold, err);
}

static int deliver_result(struct completion *completion, struct roger_err *err)
{
	const struct roger_complete_request *request = completion->request;
	const struct roger_run *run = &completion->document.run;
	struct roger *roger = completion->roger;

	completion->tried = true;
	if (completion->failed)
		return tell_failure(completion, err);
	completion->message_id = request->message;
	if (request->message.length)
		return check_message(completion, err);
	if (!lacks_result(completion, run))
		return ROGER_OK;
	/* A result is sent in the child's name, so the caller must be allowed to speak as the
	 * child.  Its own text, which nobody could read, is sent again without this check. */
	if (request->result.length && !rg_run_may_speak(roger, run))
		return rg_fail_member(
			err, ROGER_EREFUSED, "result",
			"result: it would come from '%.*s', who is not '%.*s'; give --failed, "
			"or with --message what '%.*s' sent",
			RG_STR_ARGS(run->child), RG_STR_ARGS(roger->caller.name),
			RG_STR_ARGS(run->child));
	if (!run->owner.length)
		return rg_fail_member(err, ROGER_EREFUSED, "result",
				      "result: run '%.*s' has no owner to deliver to; send the "
				      "result, and give its id with --message",
				      RG_STR_ARGS(run->run));
	return rg_run_deliver(roger, run, completion->text, completion->again, completion->arena,
			      &completion->message_id, &completion->untold, err);
}

/* If the owner cannot read the result where it is, prepare to send it again. */
static int find_stranded(struct completion *completion, struct roger_err *err)
{
	const struct roger_run *run = &completion->document.run;
	const struct roger_message *message = NULL;
	struct roger_retired_list retired;
	int r;

	if (!run->result_message.length || run->forwarded || completion->failed)
		return ROGER_OK;
	r = rg_engine_retired(completion->roger->engine, completion->arena, &retired, err);
	if (r == ROGER_OK)
		r = rg_run_message(completion->roger, run->result_message, completion->arena,
				   &message, err);
	if (r < 0 || !rg_run_why_stranded(&retired, run, message))
		return r;
	completion->again = run->result_message;
	/* How it is known that the run ended stays as it is. */
	if (run->source.length && !completion->request->source.length)
		completion->source = run->source;
	if (message && !completion->text.length && !completion->request->message.length)
		completion->text = message->content;
	return ROGER_OK;
}

/* Refuse another result, which would be lost without a word; the same one does no harm. */
static int check_same(const struct completion *completion, struct roger_err *err)
{
	const struct roger_complete_request *request = completion->request;
	const struct roger_str told = completion->document.run.result_message;
	const char *member = request->result.length ? "result" : "message";
	const struct roger_message *message = NULL;
	bool same;
	int r;

	if (!told.length || (!request->result.length && !request->message.length) ||
	    lacks_result(completion, &completion->document.run))
		return ROGER_OK;
	r = rg_run_message(completion->roger, told, completion->arena, &message, err);
	if (r < 0)
		return r;
	same = request->result.length ? !message || rg_str_equal(message->content, request->result)
				      : rg_str_equal(told, request->message);
	return same ? ROGER_OK
		    : rg_fail_member(err, ROGER_EREFUSED, member,
				     "%s: message '%.*s' delivered another one already", member,
				     RG_STR_ARGS(told));
}

int rg_verb_complete(struct roger *roger, const struct roger_complete_request *request,
		     struct roger_runs_reply *reply, struct roger_err *err)
{
	struct completion completion = {
		.roger = roger,
		.arena = reply->memory,
		.request = request,
		.source = request->source.length ? request->source : RG_STR("completion_event"),
		.child_exit = request->exit,
		.text = request->result,
		.failed = request->failed,
	};
	struct rg_run_document *document = &completion.document;
	bool changed;
	int r;

	r = read_request(&completion, err);
	if (r == ROGER_OK)
		r = rg_run_load(roger, request->run, reply->memory, document, err);
	if (r == ROGER_OK)
		r = find_stranded(&completion, err);
	/* Nothing is sent for a receipt that will be refused. */
	if (r == ROGER_OK)
		r = rg_run_try(roger, change_completion, &completion, document, reply->memory,
			       &changed, err);
	if (r == ROGER_OK)
		r = check_same(&completion, err);
	if (r == ROGER_OK && changed)
		r = deliver_result(&completion, err);
	if (r == ROGER_OK)
		r = rg_run_update(roger, request->run, change_completion, &completion,
				  reply->memory, document, &reply->changed, err);
	if (r < 0)
		return r;
	if (completion.text.length && completion.untold.length && !completion.message_id.length)
		return rg_fail_member(err, ROGER_EREFUSED, "result",
				      "the end of run '%.*s' is recorded, but not its result: %.*s",
				      RG_STR_ARGS(request->run), RG_STR_ARGS(completion.untold));
	if (completion.untold.length)
		rg_arena_note(reply->memory, &reply->notes,
			      "could not be reported to its owner: %.*s",
			      RG_STR_ARGS(completion.untold));
	/* Nobody can have read what was just sent, and a server may sync it after this. */
	if (!changed || request->message.length)
		r = rg_run_look_for_readers(roger, document, 1, reply->memory, err);
	return r < 0 ? r : rg_run_reply(reply, document, err);
}

/* Change a run, and answer with it. */
static int change_run(struct roger *roger, struct roger_str run_id, rg_run_change *change,
		      void *context, struct roger_runs_reply *reply, struct roger_err *err)
{
	struct rg_run_document document;
	int r = rg_run_update(roger, run_id, change, context, reply->memory, &document,
			      &reply->changed, err);

	if (r == ROGER_OK)
		r = rg_run_look_for_readers(roger, &document, 1, reply->memory, err);
	return r < 0 ? r : rg_run_reply(reply, &document, err);
}

/* --------------------------------------------------------------- forward -- */

static int refuse_evidence(const struct roger_run *run, struct roger_str id, const char *what,
			   struct roger_str who, struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EREFUSED, "evidence",
			      "run '%.*s' is not confirmed as forwarded: message '%.*s' %s '%.*s'",
			      RG_STR_ARGS(run->run), RG_STR_ARGS(id), what, RG_STR_ARGS(who));
}

static int check_evidence(struct roger *roger, const struct rg_run_document *document,
			  struct roger_str id, struct rg_arena *arena, struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	struct roger_retired_list retired;
	const struct roger_message *message;
	bool answers;
	int r;

	if (id.length == 0)
		return rg_fail_member(err, ROGER_EREFUSED, "evidence",
				      "evidence: no message is known to hold the result of run "
				      "'%.*s'; `roger complete %.*s --message ID` names it",
				      RG_STR_ARGS(run->run), RG_STR_ARGS(run->run));
	r = rg_run_message(roger, id, arena, &message, err);
	if (r < 0)
		return r;
	if (!message)
		return rg_fail_member(err, ROGER_ENOENT, "evidence", "no message '%.*s'",
				      RG_STR_ARGS(id));
	r = rg_run_answered_by(roger, run, id, arena, &answers, err);
	if (r == ROGER_OK)
		r = rg_engine_retired(roger->engine, arena, &retired, err);
	if (r < 0 || answers)
		return r;
	if (!rg_run_is_for_owner(&retired, run, message->to))
		return refuse_evidence(run, id, "is not for", run->owner, err);
	if (!rg_run_carries_result(run, message))
		return refuse_evidence(run, id, "does not carry the result of", run->run, err);
	if (message->created_at_ms < document->receipts.dispatched_ms)
		return refuse_evidence(run, id, "is older than the dispatch of", run->run, err);
	if (!rg_message_was_read(message))
		return refuse_evidence(run, id, "was not yet read by", message->to, err);
	return ROGER_OK;
}

int rg_run_change_forward(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	return rg_run_forward(edit, *(const struct roger_str *)context, err);
}

/* Change the run to forwarded, and note who said so. */
static int change_forward(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	int r = rg_run_change_forward(context, edit, err);

	if (r == ROGER_OK && edit->changed)
		rg_run_note_caller(edit, "forwarded");
	return r;
}

int rg_verb_forward(struct roger *roger, const struct roger_forward_request *request,
		    struct roger_runs_reply *reply, struct roger_err *err)
{
	struct rg_run_document document;
	struct roger_str evidence;
	bool changed;
	int r;

	r = rg_run_load(roger, request->run, reply->memory, &document, err);
	if (r < 0)
		return r;
	evidence = request->evidence.length ? request->evidence : document.run.result_message;
	r = rg_run_try(roger, change_forward, &evidence, &document, reply->memory, &changed, err);
	if (r == ROGER_OK && changed)
		r = check_evidence(roger, &document, evidence, reply->memory, err);
	return r < 0 ? r : change_run(roger, request->run, change_forward, &evidence, reply, err);
}

/* ---------------------------------------------------------------- extend -- */

static int change_extension(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	const struct roger_extend_request *request = context;
	const struct roger_str was = rg_run_instant(edit->receipts->expected_by_ms, edit->arena);
	int r = rg_run_extend(edit, request->by_ms, err);

	if (r == ROGER_OK)
		rg_run_note(edit, "extended to %.*s from %.*s, %lld of %lld%.*s%s%.*s",
			    RG_STR_ARGS(edit->run->expected_by), RG_STR_ARGS(was),
			    (long long)edit->run->extensions, (long long)edit->rules.extensions_max,
			    RG_STR_ARGS(edit->by), request->reason.length ? ": " : "",
			    RG_STR_ARGS(request->reason));
	return r;
}

int rg_verb_extend(struct roger *roger, const struct roger_extend_request *request,
		   struct roger_runs_reply *reply, struct roger_err *err)
{
	return change_run(roger, request->run, change_extension, (void *)(uintptr_t)request, reply,
			  err);
}

/* ---------------------------------------------------------------- settle -- */

struct settlement {
	const struct roger_settle_request *request;
	bool stranded; /* nobody can read its result */
	bool by_files; /* nobody has proved who the caller is */
};

static int change_settlement(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	const struct settlement *settlement = context;
	const struct roger_settle_request *request = settlement->request;
	const struct roger_str by = request->agent.length ? request->agent : RG_STR("a person");
	const struct roger_run *run = edit->run;
	int r;

	if (request->agent.length && run->owner.length &&
	    !rg_str_equal(request->agent, run->owner) && !rg_config_is_person(request->agent) &&
	    settlement->by_files)
		return rg_fail_member(err, ROGER_EREFUSED, "agent",
				      "run '%.*s' is for '%.*s' to dismiss, or for a person",
				      RG_STR_ARGS(run->run), RG_STR_ARGS(run->owner));
	r = rg_run_settle_failure(edit, settlement->stranded, request->agent, err);
	if (r < 0 || !edit->changed)
		return r;
	rg_run_note(edit, "settled%s%.*s: %.*s", edit->by.length ? "" : " by ",
		    RG_STR_ARGS(edit->by.length ? edit->by : by), RG_STR_ARGS(request->reason));
	return ROGER_OK;
}

int rg_verb_settle(struct roger *roger, const struct roger_settle_request *request,
		   struct roger_runs_reply *reply, struct roger_err *err)
{
	struct settlement settlement = { .request = request,
					 .by_files = roger->caller.how == RG_BY_FILES };
	struct rg_run_document document;
	int r = rg_run_load(roger, request->run, reply->memory, &document, err);

	if (r == ROGER_OK)
		r = rg_run_look_for_readers(roger, &document, 1, reply->memory, err);
	if (r < 0)
		return r;
	settlement.stranded = document.way_out.length > 0;
	return change_run(roger, request->run, change_settlement, &settlement, reply, err);
}
