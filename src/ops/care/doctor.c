/* doctor: check every rule for the whole workspace, and repair derived files. */
#include <stdlib.h>

#include "ops/runs/run_list.h"
#include "ops/tools/setup.h"
#include "facts/damage.h"

struct examining {
	struct roger *roger;
	struct roger_doctor_reply *reply;
	struct rg_arena *arena;
	struct rg_run_list list;
	struct rg_wanted *wanted; /* for each document its result, then its evidence */
	bool fix;
	bool lost; /* a person has accepted that messages are gone */
};

/* ------------------------------------------------------------------ runs -- */

static int load_runs(struct examining *examining, struct roger_err *err)
{
	const struct roger_run *run;
	size_t i;
	int r;

	r = rg_run_list_load(examining->roger, (struct rg_run_wish){ .whole = true },
			     examining->arena, &examining->list, err);
	if (r < 0)
		return r;
	examining->wanted = rg_arena_get(examining->arena, (2 * examining->list.count + 1) *
								   sizeof *examining->wanted);
	if (!examining->wanted)
		return rg_fail_memory(err);
	for (i = 0; i < examining->list.count; i++) {
		run = &examining->list.documents[i].run;
		examining->wanted[2 * i].id = run->result_message;
		examining->wanted[2 * i + 1].id = run->evidence;
	}
	return ROGER_OK;
}

static struct roger_str show_run(const struct examining *examining, struct roger_str file)
{
	return rg_arena_text(examining->arena, RG_RUNS_SHOWN "/%.*s", RG_STR_ARGS(file));
}

/* Report a breach of a run; found.fixable and found.fixed must be set. */
static void add_run_breach(struct examining *examining, struct roger_str file,
			   struct roger_breach found)
{
	struct roger_doctor_reply *reply = examining->reply;

	found.kind = ROGER_BREACH_RUN;
	reply->damaged += found.severity == ROGER_DAMAGE;
	reply->left += found.severity == ROGER_DAMAGE;
	reply->notes += found.severity == ROGER_NOTE;
	reply->fixed += found.fixed;
	found.file = show_run(examining, file);
	(void)!rg_arena_append(examining->arena, &reply->breaches.items, &reply->breaches.count,
			       &found, sizeof found);
}

static void tell_run(struct examining *examining, struct roger_str file,
		     enum roger_severity severity, const char *what)
{
	add_run_breach(examining, file,
		       (struct roger_breach){ .severity = (int)severity, .what = rg_str(what) });
}

/* Report a status that is out of date; sweep writes the new one, and so does --fix. */
static int tell_stale(struct examining *examining, const struct rg_run_document *document,
		      struct roger_err *err)
{
	struct roger_breach stale = { .severity = ROGER_NOTE, .fixable = true };
	struct rg_run_document after;
	int r = ROGER_OK;

	if ((int)document->stored == document->run.status)
		return ROGER_OK;
	if (examining->fix)
		r = rg_run_update(examining->roger, document->run.run, NULL, NULL, examining->arena,
				  &after, &stale.fixed, err);
	/* On ROGER_ETIMEOUT another process was faster. */
	if (r < 0 && r != ROGER_ETIMEOUT)
		return r;
	stale.what = rg_arena_text(examining->arena, "it says %s, and its evidence by now %s",
				   rg_run_status_names[document->stored],
				   rg_run_status_names[document->run.status]);
	add_run_breach(examining, document->file, stale);
	return ROGER_OK;
}

static int tell_evidence(struct examining *examining, const struct rg_run_document *document,
			 const struct rg_wanted *result, const struct rg_wanted *evidence,
			 struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	enum roger_severity severity = examining->lost ? ROGER_NOTE : ROGER_DAMAGE;
	bool answers = false;
	int r = ROGER_OK;

	if (result->id.length && !result->found)
		tell_run(examining, document->file, severity, "resultMessageId names no message");
	if (evidence->id.length && !evidence->found)
		tell_run(examining, document->file, severity, "forwardEvidence names no message");
	else if (evidence->id.length && !evidence->read)
		r = rg_run_answered_by(examining->roger, run, evidence->id, examining->arena,
				       &answers, err);
	if (r < 0)
		return r;
	if (evidence->found && !evidence->read && !answers)
		tell_run(examining, document->file, severity,
			 "forwardEvidence names a message that nobody read");
	if (run->forwarded && !evidence->id.length)
		tell_run(examining, document->file, ROGER_NOTE,
			 "forwarded, by its word alone: it names no evidence");
	return ROGER_OK;
}

/* Was the file reported already, as a link or something else that is not a regular file? */
static bool is_told(const struct examining *examining, struct roger_str file)
{
	const struct roger_breach_list *told = &examining->reply->breaches;
	const struct roger_str shown = show_run(examining, file);
	size_t i;

	for (i = 0; i < told->count; i++)
		if (told->items[i].kind == ROGER_BREACH_PLACE &&
		    told->items[i].severity == ROGER_DAMAGE &&
		    rg_str_equal(told->items[i].file, shown))
			return true;
	return false;
}

static int judge_runs(struct examining *examining, struct roger_err *err)
{
	const struct roger_run_trouble *troubles = examining->list.troubles.items;
	struct roger_strs differ;
	size_t i;
	int r = rg_run_list_check_index(examining->roger, &examining->list, examining->arena,
					&differ, err);

	for (i = 0; r == ROGER_OK && i < differ.count; i++)
		tell_run(examining, differ.items[i], ROGER_DAMAGE,
			 "the index says otherwise; `roger doctor rebuild` makes it again");
	for (i = 0; i < examining->list.count && r == ROGER_OK; i++) {
		r = tell_evidence(examining, &examining->list.documents[i],
				  &examining->wanted[2 * i], &examining->wanted[2 * i + 1], err);
		if (r == ROGER_OK)
			r = tell_stale(examining, &examining->list.documents[i], err);
	}
	for (i = 0; i < examining->list.troubles.count && r == ROGER_OK; i++)
		if (!is_told(examining, troubles[i].file))
			tell_run(examining, troubles[i].file, ROGER_DAMAGE, troubles[i].what.data);
	examining->reply->runs = (int64_t)(examining->list.count + examining->list.troubles.count);
	return r;
}

/* ------------------------------------------------------------------- all -- */

/* Order breaches: the worst first, then by file and line. */
static int compare_breaches(const void *a, const void *b)
{
	const struct roger_breach *x = a, *y = b;
	int order;

	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	order = strcmp(x->file.data, y->file.data);
	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->what.data, y->what.data);
}

int rg_verb_doctor(struct roger *roger, const struct roger_doctor_request *request,
		   struct roger_doctor_reply *reply, struct roger_err *err)
{
	struct examining examining = {
		.roger = roger, .reply = reply, .arena = reply->memory, .fix = request->fix
	};
	struct rg_doctor_wish wish = { .fix = request->fix };
	struct roger_damage_list damages = { 0 };
	/* A tool reads the settings of the worktree that it runs in. */
	const struct rg_workspace *workspace = roger->workspace;
	const char *tree = workspace->tree.base[0] ? workspace->tree.base : workspace->root;
	size_t i;
	int r;

	/* Documents are read before the journal, so that it has the messages that they name. */
	r = load_runs(&examining, err);
	if (r < 0)
		return r;
	wish.wanted = examining.wanted;
	wish.wanted_count = 2 * examining.list.count;
	r = rg_engine_doctor(roger->engine, &wish, reply->memory, reply, err);
	if (r == ROGER_OK)
		r = rg_engine_damages(roger->engine, reply->memory, &damages, err);
	examining.lost = rg_damages_accepted(&damages, workspace->config->jsonl_file);
	if (r == ROGER_OK)
		r = judge_runs(&examining, err);
	if (r < 0)
		return r;
	if (reply->breaches.count)
		qsort((void *)(uintptr_t)reply->breaches.items, reply->breaches.count,
		      sizeof *reply->breaches.items, compare_breaches);
	r = rg_op_place(roger, reply->memory, &reply->store, &reply->served_by, &reply->standby,
			err);
	/* Links are tried last, when the files that they use are in order. */
	if (r == ROGER_OK)
		r = rg_setup_try(tree, reply->memory, &reply->links, err);
	for (i = 0; r == ROGER_OK && i < reply->links.count; i++)
		reply->broken_links += !reply->links.items[i].works;
	return r;
}
