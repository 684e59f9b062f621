/*
 * recover: one attempt to get the result of a run that did not arrive.
 *
 * The attempt is counted first, so that a killed one counts, too. Then, without a lock, it looks
 * through the mailbox, runs the configured command or asks the child. What was found is delivered
 * and written down last.
 */
#include "ops/runs/run_document.h"

#include "ops/tools/trust.h"
#include "host/program.h"
#include "facts/message.h"

static const char escalated[] = "escalated", reached_nobody[] = "escalation refused";

/* An attempt, and its outcome. */
struct attempt {
	struct roger *roger;
	struct rg_arena *arena;
	struct roger_str source;   /* the one asked for, or "" */
	struct roger_str found_by; /* source of the result; "": there is none */
	struct roger_str message_id;
	bool read;		/* the owner has read it already */
	struct roger_str noted; /* recovery_action of the document, after an escalation */
	struct rg_buf note;
};

/* ----------------------------------------------------------------- steps -- */

static int look_in_mailbox(struct attempt *attempt, const struct rg_run_document *document,
			   struct roger_err *err)
{
	const struct roger_message *message;
	int r;

	r = rg_run_find_result(attempt->roger, document, attempt->arena, &message, err);
	if (r < 0)
		return r;
	rg_buf_add_text(&attempt->note,
			message ? "the mailbox holds a result" : "no result in the mailbox");
	if (!message)
		return ROGER_OK;
	attempt->found_by = RG_STR("history_fetch");
	attempt->message_id = message->id;
	attempt->read = message->read;
	return ROGER_OK;
}

/* Deliver what the command printed as the result, unless the text cannot be a message. */
static int deliver_output(struct attempt *attempt, const struct rg_run_document *document,
			  struct roger_str text, struct roger_err *err)
{
	const struct rg_config *config = attempt->roger->workspace->config;
	struct roger_str untold;
	int r;

	rg_assert(document->run.owner.length > 0);
	text = rg_str_without_end(text, "\n");
	if (rg_message_check_content(text, config->content_chars_max, NULL) < 0) {
		rg_buf_add_text(&attempt->note, ", but what it printed cannot be a message");
		return ROGER_OK;
	}
	r = rg_run_deliver(attempt->roger, &document->run, text, RG_STR(""), attempt->arena,
			   &attempt->message_id, &untold, err);
	if (r < 0)
		return r;
	if (untold.length)
		rg_buf_printf(&attempt->note, "; %.*s", RG_STR_ARGS(untold));
	/* The text was not stored anywhere: the next attempt runs the command again. */
	if (!attempt->message_id.length)
		return ROGER_OK;
	attempt->found_by = RG_STR("recovery_command");
	return ROGER_OK;
}

static int run_command(struct attempt *attempt, const struct rg_run_document *document,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf output = { .maximum = SIZE_MAX };
	const struct rg_config *config = attempt->roger->workspace->config;
	struct rg_program program = {
		.words = config->recovery_command,
		.input = document->text,
		.timeout_ms = config->recovery_command_timeout_ms,
		.output_bytes_most = RG_COMMAND_OUTPUT_BYTES_MAX,
	};
	struct rg_program_result result;
	bool may;
	int r;

	if (!config->recovery_command.count || !document->run.owner.length)
		return ROGER_OK;
	r = rg_trust_may_run(attempt->roger, "watchdog.recovery_command", config->recovery_command,
			     &program, attempt->arena, &may, err);
	if (r == ROGER_OK && !may)
		rg_buf_add_text(&attempt->note, "; the command was left out: it is not trusted");
	if (r < 0 || !may)
		return r;
	r = rg_program_run(&program, &output, &result, err);
	if (r < 0)
		return r;
	rg_buf_add_text(&attempt->note, "; the command ended with ");
	rg_program_describe(&program, &result, &attempt->note);
	if (result.end != RG_PROGRAM_EXITED || result.status != 0)
		return ROGER_OK;
	if (result.cut)
		rg_buf_add_text(&attempt->note, ", but printed too much");
	return result.cut ? ROGER_OK : deliver_output(attempt, document, rg_buf_str(&output), err);
}

static int nudge_owner(struct attempt *attempt, const struct rg_run_document *document,
		       struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	struct roger_str text, id, untold;
	int r;

	if (!run->owner.length || !rg_run_may_be_told(attempt->roger, run))
		return ROGER_OK;
	text = rg_arena_text(
		attempt->arena,
		"Run %.*s was expected by %.*s and nothing has come. If it is done, say so: roger "
		"complete %.*s --result '...'. If it needs longer: roger runs extend %.*s --by "
		"10m.",
		RG_STR_ARGS(run->run), RG_STR_ARGS(run->expected_by), RG_STR_ARGS(run->run),
		RG_STR_ARGS(run->run));
	/* A rule that forbids it does not end the attempt. */
	r = rg_run_notify(attempt->roger, run, run->child, "run-nudge",
			  document->receipts.recoveries, text, attempt->arena, &id, &untold, err);
	rg_buf_printf(&attempt->note, "; a reminder to the child%s",
		      untold.length ? " was refused" : "");
	return r;
}

/* --------------------------------------------------------------- receipts -- */

static int count_attempt(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	int r = rg_run_recover(edit, RG_STR("looking for a result"), err);

	(void)context;
	if (r == ROGER_OK)
		rg_run_note_caller(edit, "recovery begun");
	return r;
}

static int conclude_attempt(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	struct attempt *attempt = context;
	const struct roger_str note = rg_arena_take(edit->arena, &attempt->note);
	const bool found = attempt->found_by.length;
	int r;

	rg_assert(edit->receipts->recoveries > 0);
	edit->changed = true;
	edit->run->recovery_action =
		found ? RG_STR("found a result") : RG_STR("looked for a result");
	rg_run_note(edit, "recovery attempt %lld: %.*s", (long long)edit->receipts->recoveries,
		    RG_STR_ARGS(note));
	/* The result may have come by itself meanwhile, which is as good. */
	if (!found || edit->receipts->completed_ms)
		return ROGER_OK;
	r = rg_run_complete(edit, attempt->source.length ? attempt->source : attempt->found_by,
			    err);
	if (r < 0)
		return r;
	edit->run->result_message = attempt->message_id;
	return attempt->read ? rg_run_forward(edit, attempt->message_id, err) : ROGER_OK;
}

int rg_run_attempt(struct roger *roger, struct roger_str run_id, struct roger_str source,
		   struct rg_arena *arena, struct rg_run_document *ret_document,
		   struct roger_err *err)
{
	struct attempt attempt = { .roger = roger, .arena = arena, .source = source };
	bool changed;
	int r;

	rg_buf_init(&attempt.note, 4096);
	r = rg_run_update(roger, run_id, count_attempt, &attempt, arena, ret_document, &changed,
			  err);
	if (r == ROGER_OK)
		r = look_in_mailbox(&attempt, ret_document, err);
	if (r == ROGER_OK && !attempt.found_by.length)
		r = run_command(&attempt, ret_document, err);
	if (r == ROGER_OK && !attempt.found_by.length)
		r = nudge_owner(&attempt, ret_document, err);
	if (r == ROGER_OK)
		r = rg_run_update(roger, run_id, conclude_attempt, &attempt, arena, ret_document,
				  &changed, err);
	rg_buf_deinit(&attempt.note);
	if (r == ROGER_OK && rg_run_wants_escalation(roger, ret_document))
		r = rg_run_escalate(roger, run_id, arena, ret_document, err);
	return r;
}

/* ------------------------------------------------------------ escalation -- */

bool rg_run_is_escalated(const struct roger_run *run)
{
	return rg_str_is(run->recovery_action, escalated);
}

bool rg_run_wants_escalation(const struct roger *roger, const struct rg_run_document *document)
{
	const struct rg_watchdog_rules rules = rg_run_rules(roger);
	const struct roger_run *run = &document->run;
	int64_t from_ms;

	/* A run has one notice: perhaps its failure was told when it ended. */
	if (run->status != ROGER_RUN_BLOCKED || !run->owner.length || run->settled_at.length ||
	    rg_run_is_escalated(run) || run->failure_message.length)
		return false;
	return rg_run_end_is_known(run) ||
	       rg_watchdog_recovery(&document->receipts, &rules, rg_clock_ms(), &from_ms) ==
		       RG_RECOVERY_USED_UP;
}

static int change_escalation(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	struct attempt *attempt = context;

	(void)err;
	/* Each sweep tries it again, but it is noted once. */
	edit->changed = !rg_str_equal(edit->run->recovery_action, attempt->noted);
	if (!edit->changed)
		return ROGER_OK;
	edit->run->recovery_action = attempt->noted;
	rg_run_note(edit, "%.*s", RG_STR_ARGS(rg_buf_str(&attempt->note)));
	return ROGER_OK;
}

/* Tell the owner; if a rule forbids that, as when its mailbox is full, tell a person. */
static int tell_of_block(struct attempt *attempt, const struct rg_run_document *document,
			 struct roger_str text, struct roger_err *err)
{
	const struct roger_str tellable[] = { document->run.owner, RG_STR(RG_PERSON) };
	const char *const verbs[] = { "run-escalation", "run-escalation-person" };
	struct roger_str id = { "", 0 }, untold;
	int r = ROGER_OK;
	size_t i;

	for (i = 0; r == ROGER_OK && !id.length && i < 2; i++) {
		r = rg_run_notify(attempt->roger, &document->run, tellable[i], verbs[i],
				  document->receipts.recoveries, text, attempt->arena, &id, &untold,
				  err);
		if (r == ROGER_OK)
			rg_buf_printf(&attempt->note, "%s%s to %.*s%s%.*s", i ? "; " : "",
				      id.length ? escalated : "could not be escalated",
				      RG_STR_ARGS(tellable[i]), id.length ? "" : ": ",
				      RG_STR_ARGS(untold));
	}
	attempt->noted = rg_str(id.length ? escalated : reached_nobody);
	return r;
}

int rg_run_escalate(struct roger *roger, struct roger_str run_id, struct rg_arena *arena,
		    struct rg_run_document *ret_document, struct roger_err *err)
{
	struct attempt attempt = { .roger = roger, .arena = arena };
	const struct roger_run *run = &ret_document->run;
	struct roger_str text;
	bool changed;
	int r;

	r = rg_run_load(roger, run_id, arena, ret_document, err);
	if (r < 0)
		return r;
	rg_run_add_words(&ret_document->run, arena);
	text = rg_arena_text(
		arena, "Run %.*s needs you: %.*s%s%.*s. `roger runs %.*s` shows what was tried.",
		RG_STR_ARGS(run->run), RG_STR_ARGS(run->words), run->why.length ? "; " : "",
		RG_STR_ARGS(run->why), RG_STR_ARGS(run->run));
	rg_buf_init(&attempt.note, 4096);
	r = tell_of_block(&attempt, ret_document, text, err);
	if (r == ROGER_OK)
		r = rg_run_update(roger, run_id, change_escalation, &attempt, arena, ret_document,
				  &changed, err);
	rg_buf_deinit(&attempt.note);
	return r;
}

/* ------------------------------------------------------------------ verb -- */

int rg_verb_recover(struct roger *roger, const struct roger_recover_request *request,
		    struct roger_runs_reply *reply, struct roger_err *err)
{
	struct rg_run_document document;
	int r;

	r = rg_run_attempt(roger, request->run, request->source, reply->memory, &document, err);
	reply->changed = true;
	if (r == ROGER_OK)
		r = rg_run_reply(reply, &document, err);
	return r < 0 ? r : rg_trust_tell(roger, reply->memory, &reply->notes, err);
}
