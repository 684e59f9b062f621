/* The document of a run: read and judged, and changed under the record lock. */
#include "ops/runs/run_document.h"

#include "ops/caller.h"
#include "ops/runs/run_list.h"
#include "ops/runs/run_process.h"

struct rg_watchdog_rules rg_run_rules(const struct roger *roger)
{
	const struct rg_config *config = roger->workspace->config;

	return (struct rg_watchdog_rules){
		.recoveries_max = config->recoveries_max,
		.recovery_cooldown_ms = config->recovery_cooldown_ms,
		.extensions_max = config->extensions_max,
		.extension_ms_max = RG_EXTENSION_MS_MAX,
	};
}

void rg_run_judge(const struct roger *roger, struct rg_run_document *document, int64_t now_ms,
		  struct rg_arena *arena)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf reason = { .maximum = SIZE_MAX };
	const struct rg_watchdog_rules rules = rg_run_rules(roger);
	struct roger_run *run = &document->run;

	run->status = (int)rg_watchdog_judge(&document->receipts, &rules, now_ms);
	run->outcome = (int)rg_run_outcome(run, &document->receipts);
	rg_watchdog_explain(run, &document->receipts, &rules, (enum roger_run_status)run->status,
			    &reason);
	if (reason.failed || !rg_str_equal(rg_buf_str(&reason), run->status_reason))
		run->status_reason = rg_arena_take(arena, &reason);
}

/* Decode a document, without the status and reason that rg_run_judge() sets. */
static int decode_document(struct roger_str text, struct rg_arena *arena,
			   struct rg_run_document *ret_document, struct roger_err *err)
{
	struct rg_run_document document = { .text = text };
	struct rg_receipts *receipts = &document.receipts;
	struct rg_json *json;
	bool kept;
	int r;

	r = rg_run_read(text, &json, arena, &document.run, receipts, err);
	if (r < 0)
		return r;
	kept = rg_record_keep(&rg_run_record, &document.run, arena);
	rg_json_free(json);
	if (!kept)
		return rg_fail_memory(err);
	document.stored = (enum roger_run_status)document.run.status;
	/* Add evidence that no document has: is anybody still working on the run? */
	if (!receipts->completed_ms && !receipts->child_ended && !document.run.exit.length &&
	    rg_run_hands(&document.run) == RG_HANDS_LOST)
		receipts->child_ended = receipts->child_lost = true;
	*ret_document = document;
	return ROGER_OK;
}

int rg_run_decode(const struct roger *roger, struct roger_str text, int64_t now_ms,
		  struct rg_arena *arena, struct rg_run_document *ret_document,
		  struct roger_err *err)
{
	int r = decode_document(text, arena, ret_document, err);

	if (r == ROGER_OK)
		rg_run_judge(roger, ret_document, now_ms, arena);
	return r;
}

int rg_run_check_left(const struct roger_run *run, struct roger_err *err)
{
	if (run->exit.length || rg_run_hands(run) != RG_HANDS_HELD)
		return ROGER_OK;
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "run '%.*s' is at work, and process %lld, which watches it, would not find "
		       "it again: move once it has ended, or stop that first",
		       RG_STR_ARGS(run->run), (long long)run->runner_pid);
}

/* ----------------------------------------------------------------- heirs -- */

static struct roger_str heir_of(const struct roger_retired_list *retired, struct roger_str name)
{
	struct roger_str heir = rg_retired_heir(retired, name);

	return heir.length ? heir : RG_STR(RG_PERSON);
}

bool rg_run_is_for_owner(const struct roger_retired_list *retired, const struct roger_run *run,
			 struct roger_str to)
{
	return !run->owner.length || rg_str_equal(to, run->owner) ||
	       rg_str_equal(heir_of(retired, to), heir_of(retired, run->owner));
}

void rg_run_inherit(const struct roger *roger, const struct roger_retired_list *retired,
		    struct rg_run_document *document, int64_t now_ms, struct rg_arena *arena)
{
	struct roger_run *run = &document->run;
	const struct roger_retired *former = rg_retired_find(retired, run->owner);

	if (document->receipts.forwarded || !former)
		return;
	document->former = run->owner;
	document->former_until_ms = former->at_ms;
	run->owner = heir_of(retired, run->owner);
	rg_run_judge(roger, document, now_ms, arena);
}

static int inherit_run(struct roger *roger, struct rg_run_document *document, int64_t now_ms,
		       struct rg_arena *arena, struct roger_err *err)
{
	struct roger_retired_list retired;
	int r;

	if (!document->run.owner.length)
		return ROGER_OK;
	r = rg_engine_retired(roger->engine, arena, &retired, err);
	if (r == ROGER_OK)
		rg_run_inherit(roger, &retired, document, now_ms, arena);
	return r;
}

/* Once the run has ended, note its heir for readers; the document keeps naming the first owner. */
static void note_heir(struct rg_run_edit *edit, struct roger_str former,
		      const struct roger_run *before)
{
	const struct roger_run *run = edit->run;

	if (former.length && !(rg_str_equal(before->completed_at, run->completed_at) &&
			       rg_str_equal(before->exit, run->exit)))
		rg_run_note(edit, "%.*s has retired: what comes of it goes to %.*s",
			    RG_STR_ARGS(former), RG_STR_ARGS(run->owner));
}

/* Load the document of this run as it stands, without judging it. */
static int find_document(struct roger *roger, struct roger_str run_id, struct rg_arena *arena,
			 struct rg_run_document *ret_document, struct roger_err *err)
{
	struct roger_str near = { "", 0 }, text;
	struct roger_err inner = { 0 };
	int r;

	r = rg_engine_run_find(roger->engine, run_id, arena, &text, err);
	if (r < 0)
		return r;
	/* Nor does who sees only its own learn whether there is such a run of others. */
	if (!text.data && roger->caller.own)
		return rg_fail_member(err, ROGER_ENOENT, "run", "no run '%.*s' of '%.*s'",
				      RG_STR_ARGS(run_id), RG_STR_ARGS(roger->caller.name));
	if (!text.data)
		near = rg_run_near(roger, run_id, arena);
	if (!text.data)
		return rg_fail_member(err, ROGER_ENOENT, "run",
				      "no run '%.*s'%s%.*s%s `roger runs` lists them",
				      RG_STR_ARGS(run_id), near.length ? "; did you mean '" : "",
				      RG_STR_ARGS(near), near.length ? "'?" : ";");
	r = decode_document(text, arena, ret_document, &inner);
	if (r == ROGER_OK && !rg_str_equal(ret_document->run.run, run_id))
		r = rg_fail_member(&inner, ROGER_EDATA, "runId",
				   "runId: it is that of another run");
	if (r < 0)
		return rg_fail_member(err, (enum roger_code)r, inner.member,
				      "the document of run '%.*s' is not valid and was left alone: "
				      "%s",
				      RG_STR_ARGS(run_id), inner.message);
	return ROGER_OK;
}

int rg_run_load(struct roger *roger, struct roger_str run_id, struct rg_arena *arena,
		struct rg_run_document *ret_document, struct roger_err *err)
{
	int r;

	r = find_document(roger, run_id, arena, ret_document, err);
	/* Perhaps the end was written down between the reading and the look at processes. */
	if (r == ROGER_OK && ret_document->receipts.child_lost)
		r = find_document(roger, run_id, arena, ret_document, err);
	if (r < 0)
		return r;
	rg_run_judge(roger, ret_document, rg_clock_ms(), arena);
	return inherit_run(roger, ret_document, rg_clock_ms(), arena, err);
}

int rg_run_put(struct roger *roger, const struct roger_run *run, struct roger_str before,
	       struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const int bytes_max = before.data ? RG_RUN_BYTES_MAX : RG_RUN_NEW_BYTES_MAX;
	struct rg_receipts receipts;
	int r;

	rg_assert(rg_engine_took_records(roger->engine));
	/* Check that what is written can be read again. */
	r = rg_run_receipts(run, &receipts, err);
	if (r < 0)
		return r;
	rg_run_print(run, &text);
	if (text.failed || rg_arena_failed(arena))
		return rg_fail_memory(err);
	if (text.length > (size_t)bytes_max)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "the document of run '%.*s' would be larger than %d bytes",
			       RG_STR_ARGS(run->run), bytes_max);
	r = rg_engine_run_put(roger->engine, run->run, before, rg_buf_str(&text), err);
	return r < 0 ? r : rg_kept(rg_arena_copy(arena, rg_buf_str(&text), ret_text), err);
}

int rg_run_may_change(const struct roger *roger, const struct roger_run *run, struct roger_err *err)
{
	return rg_caller_may_change(roger, "run", "run", run->run, run->owner, run->child, err);
}

struct rg_run_edit rg_run_begin_edit(const struct roger *roger, struct roger_run *run,
				     struct rg_receipts *receipts, struct rg_arena *arena)
{
	return (struct rg_run_edit){
		.run = run,
		.receipts = receipts,
		.rules = rg_run_rules(roger),
		.now_ms = rg_clock_ms(),
		.by = rg_arena_text(arena, RG_BY_WHOM, RG_BY_WHOM_ARGS(roger)),
		.arena = arena,
	};
}

static int update_document(struct roger *roger, struct roger_str run_id, rg_run_change *change,
			   void *context, struct rg_arena *arena, struct rg_run_document *document,
			   bool *ret_changed, struct roger_err *err)
{
	struct roger_run *run = &document->run, before;
	struct rg_run_edit edit;
	struct roger_str heir;
	int r;

	rg_assert(rg_engine_took_records(roger->engine));
	r = find_document(roger, run_id, arena, document, err);
	if (r < 0)
		return r;
	edit = rg_run_begin_edit(roger, run, &document->receipts, arena);
	before = *run;
	r = inherit_run(roger, document, edit.now_ms, arena, err);
	if (r < 0)
		return r;
	/* This judgement is for readers; what is written is judged below. */
	run->status = before.status;
	run->status_reason = before.status_reason;
	run->outcome = before.outcome;
	if (document->receipts.child_lost)
		rg_run_lose_child(&edit);
	if (change)
		r = rg_run_may_change(roger, run, err);
	if (change && r == ROGER_OK)
		r = change(context, &edit, err);
	if (r < 0)
		return r;
	note_heir(&edit, document->former, &before);
	if (run->exit.length && !before.exit.length)
		rg_run_ended(&edit);
	rg_run_restate(&edit);
	*ret_changed = edit.changed;
	if (!edit.changed)
		return ROGER_OK;
	heir = run->owner;
	run->owner = before.owner;
	r = rg_run_put(roger, run, document->text, arena, &document->text, err);
	run->owner = heir;
	return r;
}

int rg_run_update(struct roger *roger, struct roger_str run_id, rg_run_change *change,
		  void *context, struct rg_arena *arena, struct rg_run_document *ret_document,
		  bool *ret_changed, struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	int r = rg_engine_records_hold(roger->engine, &held, err);

	return r < 0 ? r
		     : update_document(roger, run_id, change, context, arena, ret_document,
				       ret_changed, err);
}

int rg_run_update_soon(struct roger *roger, struct roger_str run_id, rg_run_change *change,
		       void *context, struct rg_arena *arena, struct roger_err *err)
{
	struct rg_run_document document;
	bool changed;
	int r;

	r = rg_engine_records_begin_soon(roger->engine, err);
	if (r < 0)
		return r;
	r = update_document(roger, run_id, change, context, arena, &document, &changed, err);
	rg_engine_records_end(roger->engine);
	return r;
}

int rg_run_try(const struct roger *roger, rg_run_change *change, void *context,
	       const struct rg_run_document *document, struct rg_arena *arena, bool *ret_changed,
	       struct roger_err *err)
{
	struct rg_run_document copy = *document;
	struct rg_run_edit edit = rg_run_begin_edit(roger, &copy.run, &copy.receipts, arena);
	int r = rg_run_may_change(roger, &copy.run, err);

	/* An update first writes that the child is gone. */
	if (copy.receipts.child_lost)
		rg_run_lose_child(&edit);
	if (r == ROGER_OK)
		r = change(context, &edit, err);
	*ret_changed = edit.changed;
	return r;
}

void rg_run_note_caller(struct rg_run_edit *edit, const char *what)
{
	if (edit->by.length)
		rg_run_note(edit, "%s%.*s", what, RG_STR_ARGS(edit->by));
}

void rg_run_note_end(struct rg_run_edit *edit, struct roger_str ended, struct roger_str told_by,
		     struct roger_str untold)
{
	const char *what = untold.length    ? "; could not be reported to its owner: "
			   : told_by.length ? "; reported to its owner in "
					    : "";

	rg_run_note_once(edit, rg_arena_text(edit->arena, "the child ended: %.*s%s%.*s",
					     RG_STR_ARGS(ended), what,
					     RG_STR_ARGS(untold.length ? untold : told_by)));
}

void rg_run_add_words(struct roger_run *run, struct rg_arena *arena)
{
	struct rg_buf words = { .maximum = SIZE_MAX }, why = words;

	rg_run_print_words(run, rg_clock_ms(), &words);
	run->words = rg_arena_take(arena, &words);
	if (run->why.length)
		return;
	rg_run_print_why(run, &why);
	run->why = rg_arena_take(arena, &why);
}

int rg_run_find_output(struct roger *roger, struct roger_str run_id, struct rg_arena *arena,
		       union rg_log_record *ret_record, bool *ret_found, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_OUTPUTS, .id = run_id, .newest = true, .limit = 1
	};
	struct rg_log_entries found;
	int r = rg_engine_log_find(roger->engine, &query, arena, &found, err);

	*ret_found = r == ROGER_OK && found.count &&
		     rg_log_kind_read(RG_LOG_OUTPUTS, found.items[0].text, arena, ret_record,
				      NULL) == ROGER_OK;
	return r;
}

int rg_run_add_output(struct roger *roger, struct roger_run *run, struct rg_arena *arena,
		      struct roger_err *err)
{
	union rg_log_record record;
	bool found;
	int r = rg_run_find_output(roger, run->run, arena, &record, &found, err);

	if (!found)
		return r;
	run->command = record.output.command;
	run->duration_ms = record.output.duration_ms;
	run->stdout_lines = record.output.stdout_lines;
	run->stderr_lines = record.output.stderr_lines;
	run->not_kept = record.output.not_kept;
	return r;
}

int rg_run_reply(struct roger_runs_reply *reply, const struct rg_run_document *document,
		 struct roger_err *err)
{
	struct roger_run *run = rg_arena_get(reply->memory, sizeof *run);

	if (!run)
		return rg_fail_memory(err);
	*run = document->run;
	/* Some texts of the run belong to the request, which may not live as long. */
	if (!rg_record_keep(&rg_run_record, run, reply->memory))
		return rg_fail_memory(err);
	reply->runs = (struct roger_run_list){ run, 1 };
	rg_run_add_words(run, reply->memory);
	return ROGER_OK;
}
