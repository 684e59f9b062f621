/* doctor: every rule over the whole workspace, and repair of what is derived. */
#include <stdio.h>
#include <stdlib.h>

#include "ops/runs/run_list.h"
#include "ops/tools/setup.h"
#include "facts/damage.h"

struct examining {
	struct roger *roger;
	struct roger_doctor_reply *reply;
	struct rg_arena *arena;
	struct rg_run_list list;
	struct rg_wanted *wanted; /* result and evidence of each document, in turn */
	struct {
		struct roger_breach *items;
		size_t count;
	} breaches;
	bool fix;
	bool lost; /* somebody has accepted that messages are gone */
};

/* ------------------------------------------------------------------ runs -- */

static int load_runs(struct examining *examining, struct roger_err *err)
{
	const struct roger_run *run;
	size_t i;
	int r;

	r = rg_run_list_load(examining->roger, false, examining->arena, &examining->list, err);
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

static int tell_run(struct examining *examining, struct roger_str file,
		    enum roger_severity severity, bool fixed, struct roger_str what,
		    struct roger_err *err)
{
	struct roger_breach *breach;

	examining->reply->damage += severity == ROGER_DAMAGE;
	examining->reply->notes += severity == ROGER_NOTE;
	examining->reply->fixed += fixed;
	breach = rg_arena_push(examining->arena, &examining->breaches.items,
			       &examining->breaches.count, sizeof *breach);
	if (!breach ||
	    !rg_arena_print(examining->arena, &breach->file,
			    "state/subagent-delivery-watchdog/%.*s", RG_STR_ARGS(file)) ||
	    !rg_arena_copy(examining->arena, what, &breach->what))
		return rg_fail_memory(err);
	breach->kind = ROGER_BREACH_RUN;
	breach->severity = (int)severity;
	breach->fixed = fixed;
	return ROGER_OK;
}

/* A status that time has overtaken; sweep writes it, and so may we. */
static int tell_stale(struct examining *examining, const struct rg_run_document *document,
		      struct roger_err *err)
{
	struct rg_run_document after;
	char what[120];
	bool changed = false;
	int r = ROGER_OK;

	if ((int)document->stored == document->run.status)
		return ROGER_OK;
	if (examining->fix)
		r = rg_run_update(examining->roger, document->run.run, NULL, NULL, examining->arena,
				  &after, &changed, err);
	/* Somebody else was faster. */
	if (r == ROGER_ETIMEOUT)
		r = ROGER_OK;
	if (r < 0)
		return r;
	snprintf(what, sizeof what, "it says %s, and its evidence by now %s",
		 rg_run_statuses[document->stored], rg_run_statuses[document->run.status]);
	r = tell_run(examining, document->file, ROGER_NOTE, changed, rg_str(what), err);
	if (r == ROGER_OK)
		examining->breaches.items[examining->breaches.count - 1].fixable = true;
	return r;
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
		r = tell_run(examining, document->file, severity, false,
			     RG_STR("resultMessageId names no message"), err);
	if (r == ROGER_OK && evidence->id.length && !evidence->found)
		r = tell_run(examining, document->file, severity, false,
			     RG_STR("forwardEvidence names no message"), err);
	else if (r == ROGER_OK && evidence->id.length && !evidence->read)
		r = rg_run_answered_by(examining->roger, run, evidence->id, examining->arena,
				       &answers, err);
	if (r == ROGER_OK && evidence->found && !evidence->read && !answers)
		r = tell_run(examining, document->file, severity, false,
			     RG_STR("forwardEvidence names a message that nobody read"), err);
	if (r == ROGER_OK && run->forwarded && !evidence->id.length)
		r = tell_run(examining, document->file, ROGER_NOTE, false,
			     RG_STR("forwarded, by its word alone: it names no evidence"), err);
	return r;
}

static int judge_runs(struct examining *examining, struct roger_err *err)
{
	const struct roger_run_trouble *trouble;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < examining->list.count && r == ROGER_OK; i++) {
		r = tell_evidence(examining, &examining->list.documents[i],
				  &examining->wanted[2 * i], &examining->wanted[2 * i + 1], err);
		if (r == ROGER_OK)
			r = tell_stale(examining, &examining->list.documents[i], err);
	}
	for (i = 0; i < examining->list.troubles.count && r == ROGER_OK; i++) {
		trouble = &examining->list.troubles.items[i];
		r = tell_run(examining, trouble->file, ROGER_DAMAGE, false, trouble->what, err);
	}
	examining->reply->runs = (int64_t)(examining->list.count + examining->list.troubles.count);
	return r;
}

/* ------------------------------------------------------------------- all -- */

/* The worst first; in one file as it goes on. */
static int compare(const void *a, const void *b)
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

static int reply_breaches(struct examining *examining, struct roger_err *err)
{
	struct roger_doctor_reply *reply = examining->reply;
	const struct roger_breaches *from = &reply->breaches;
	struct roger_breach *place;
	size_t i;

	for (i = 0; i < from->count; i++) {
		place = rg_arena_push(examining->arena, &examining->breaches.items,
				      &examining->breaches.count, sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		*place = from->items[i];
	}
	if (examining->breaches.count)
		qsort(examining->breaches.items, examining->breaches.count,
		      sizeof *examining->breaches.items, compare);
	reply->breaches =
		(struct roger_breaches){ examining->breaches.items, examining->breaches.count };
	reply->left = reply->repairable - reply->fixed;
	for (i = 0; i < reply->breaches.count; i++)
		reply->left += reply->breaches.items[i].fixed &&
			       reply->breaches.items[i].severity == ROGER_NOTE;
	reply->left = reply->damage + (reply->left > 0 ? reply->left : 0);
	return ROGER_OK;
}

static int look_for_lost(struct examining *examining, struct roger_err *err)
{
	const struct rg_config *config = examining->roger->workspace->config;
	struct roger_damages damages;
	int r;

	r = rg_engine_damages(examining->roger->engine, examining->arena, &damages, err);
	examining->lost = rg_damages_accepted(&damages, config->jsonl_file);
	return r;
}

/* Last, when everything that they look at is in order. */
static int try_links(struct roger *roger, struct roger_doctor_reply *reply, struct roger_err *err)
{
	size_t i;
	int r = rg_setup_try(roger->workspace->root, reply->memory, &reply->links, err);

	for (i = 0; r == ROGER_OK && i < reply->links.count; i++)
		reply->broken_links += !reply->links.items[i].works;
	return r;
}

/* status knows of damage that is recorded; what cannot be was found all the same. */
static void note_damage(struct roger *roger, struct rg_arena *arena)
{
	struct roger_verify_reply found = { .memory = arena };

	if (rg_engine_verify(roger->engine, arena, &found, NULL) == ROGER_OK)
		(void)!rg_engine_note_findings(roger->engine, &found, arena, NULL);
}

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_doctor_request *request = request_;
	struct roger_doctor_reply *reply = reply_;
	struct examining examining = {
		.roger = roger, .reply = reply, .arena = reply->memory, .fix = request->fix
	};
	struct rg_doctor_wish wish = { .fix = request->fix };
	int r;

	/* Documents before the journal: what they speak of is in it by then. */
	r = load_runs(&examining, err);
	if (r < 0)
		return r;
	wish.wanted = examining.wanted;
	wish.wanted_count = 2 * examining.list.count;
	r = rg_engine_doctor(roger->engine, &wish, reply->memory, reply, err);
	if (r == ROGER_OK)
		r = look_for_lost(&examining, err);
	if (r == ROGER_OK)
		r = judge_runs(&examining, err);
	if (r == ROGER_OK)
		r = reply_breaches(&examining, err);
	if (r == ROGER_OK && reply->damage)
		note_damage(roger, reply->memory);
	return r < 0 ? r : try_links(roger, reply, err);
}

static const struct roger_field request_fields[] = {
	{ "fix", ROGER_BOOL, offsetof(struct roger_doctor_request, fix), 0, NULL, NULL,
	  "repair derived files: index, send log entries, file modes" },
	RG_END,
};
static const struct roger_record request_record = { "doctor", sizeof(struct roger_doctor_request),
						    request_fields };

static const char *const kinds[] = { "chain",	 "shape",	"message", "limit",
				     "index",	 "state",	"archive", "control",
				     "send_log", "dead_letter", "cycle",   "run",
				     "mode",	 "place",	"seal",	   NULL };
static const char *const severities[] = { "damage", "repairable", "note", NULL };

#define AT(member) offsetof(struct roger_breach, member)
static const struct roger_field breach_fields[] = {
	{ "severity", ROGER_ENUM, AT(severity), ROGER_REQUIRED, severities, NULL,
	  "a note is no breach" },
	{ "kind", ROGER_ENUM, AT(kind), ROGER_REQUIRED, kinds, NULL, "what it is about" },
	{ "file", ROGER_TEXT, AT(file), ROGER_REQUIRED, NULL, NULL, "from the data folder" },
	{ "line", ROGER_INT, AT(line), ROGER_REQUIRED, NULL, NULL, "from 1; 0: the whole file" },
	{ "byte", ROGER_INT, AT(byte), ROGER_REQUIRED, NULL, NULL, "where the line starts" },
	{ "what", ROGER_TEXT, AT(what), ROGER_REQUIRED, NULL, NULL, "in words" },
	{ "fixable", ROGER_BOOL, AT(fixable), ROGER_REQUIRED, NULL, NULL, "--fix mends it" },
	{ "fixed", ROGER_BOOL, AT(fixed), ROGER_REQUIRED, NULL, NULL, "and did" },
	RG_END,
};
#undef AT
static const struct roger_record breach_record = { "breach", sizeof(struct roger_breach),
						   breach_fields };

#define AT(member) offsetof(struct roger_link, member)
static const struct roger_field link_fields[] = {
	{ "tool", ROGER_TEXT, AT(tool), ROGER_REQUIRED, NULL, NULL, "claude, codex..." },
	{ "file", ROGER_TEXT, AT(file), ROGER_REQUIRED, NULL, NULL, "where it stands" },
	{ "what", ROGER_TEXT, AT(what), ROGER_REQUIRED, NULL, NULL, "the server, or a hook" },
	{ "works", ROGER_BOOL, AT(works), ROGER_REQUIRED, NULL, NULL, "tried, as the tool would" },
	{ "trouble", ROGER_TEXT, AT(trouble), ROGER_SPARE, NULL, NULL, "if not: what happened" },
	RG_END,
};
#undef AT
static const struct roger_record link_record = { "link", sizeof(struct roger_link), link_fields };

#define AT(member) offsetof(struct roger_doctor_reply, member)
static const struct roger_field reply_fields[] = {
	{ "breaches", ROGER_RECORDS, AT(breaches), 0, NULL, &breach_record,
	  "the worst first; at most 1,000 of each severity" },
	{ "damaged", ROGER_INT, AT(damage), 0, NULL, NULL, "breaches that nothing can mend" },
	{ "repairable", ROGER_INT, AT(repairable), 0, NULL, NULL, "breaches that --fix mends" },
	{ "notes", ROGER_INT, AT(notes), 0, NULL, NULL, "to be known, and no breaches" },
	{ "fixed", ROGER_INT, AT(fixed), 0, NULL, NULL, "mended now" },
	{ "left", ROGER_INT, AT(left), 0, NULL, NULL, "breaches that still stand" },
	{ "bytes", ROGER_INT, AT(bytes), 0, NULL, NULL, "of journals gone through" },
	{ "lines", ROGER_INT, AT(lines), 0, NULL, NULL, "of these" },
	{ "messages", ROGER_INT, AT(messages), 0, NULL, NULL, "lines that hold one" },
	{ "attempts", ROGER_INT, AT(attempts), 0, NULL, NULL, "lines of send logs" },
	{ "runs", ROGER_INT, AT(runs), 0, NULL, NULL, "documents" },
	{ "links", ROGER_RECORDS, AT(links), 0, NULL, &link_record, "to agents' tools" },
	{ "broken_links", ROGER_INT, AT(broken_links), 0, NULL, NULL, "of these" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "examined", sizeof(struct roger_doctor_reply),
						  reply_fields };

const struct roger_op rg_op_doctor = {
	.name = "doctor",
	.summary = "check the whole workspace, and repair derived files",
	.examples = "roger doctor\nroger doctor --fix\nroger doctor --json\n",
	.flags = ROGER_WRITES | ROGER_ADMINISTERS,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
