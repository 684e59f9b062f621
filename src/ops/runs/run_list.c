/* runs: every run, judged now, and the documents that are not as they should be. */
#include "ops/runs/run_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"
#include "facts/person.h"
#include "ops/runs/run_process.h"

/* So many messages are asked for at once. */
enum { PIECE = 20 };

/* One more trouble; what may be NULL when memory is short. */
static int add_trouble(struct rg_run_list *list, struct rg_arena *arena,
		       const struct rg_run_text *text, struct roger_str run_id, const char *what,
		       struct roger_err *err)
{
	struct roger_run_trouble *trouble;

	trouble =
		rg_arena_push(arena, &list->troubles.items, &list->troubles.count, sizeof *trouble);
	if (!trouble || !rg_arena_copy(arena, rg_str(what), &trouble->what))
		return rg_fail_memory(err);
	trouble->file = text->file;
	trouble->run = run_id;
	trouble->invalid = true;
	return ROGER_OK;
}

/* A document under another name than roger gives it would not be found by its run. */
static bool stands_elsewhere(const struct rg_run_text *text, const struct roger_run *run,
			     char expected[RG_FILE_NAME_BYTES])
{
	rg_workspace_file_name(run->run, ".json", expected);
	return text->file.length && !rg_str_is(text->file, expected);
}

/* What seems lost was perhaps written down between our reading and our looking. */
static int look_again(struct roger *roger, int64_t now_ms, struct rg_arena *arena,
		      struct rg_run_document *document, struct roger_err *err)
{
	struct roger_str text;
	int r;

	r = rg_engine_run_find(roger->engine, document->run.run, arena, &text, err);
	if (r < 0 || !text.data || rg_str_equal(text, document->text))
		return r;
	return rg_run_decode(roger, text, now_ms, arena, document, err);
}

static int add_document(struct roger *roger, struct rg_run_list *list,
			const struct rg_run_text *text, int64_t now_ms, struct rg_arena *arena,
			struct roger_err *err)
{
	const struct roger_str nobody = { "", 0 };
	char expected[RG_FILE_NAME_BYTES], what[RG_FILE_NAME_BYTES + 80];
	struct rg_run_document *document = &list->documents[list->count];
	struct roger_err inner = { 0 };
	int r;

	if (text->trouble.length)
		return add_trouble(list, arena, text, nobody, text->trouble.data, err);
	r = rg_run_decode(roger, text->text, now_ms, arena, document, &inner);
	if (r == ROGER_OK && document->receipts.child_lost)
		r = look_again(roger, now_ms, arena, document, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		return add_trouble(list, arena, text, nobody, inner.message, err);
	if (stands_elsewhere(text, &document->run, expected)) {
		snprintf(what, sizeof what, "runId: a run of that name is in %s", expected);
		return add_trouble(list, arena, text, document->run.run, what, err);
	}
	document->file = text->file;
	list->count++;
	return ROGER_OK;
}

/* -------------------------------------------------------------- forwards -- */

/* What its owner reads and acknowledges of it: its result, else the notice of its failure. */
static struct roger_str word_of(const struct roger_run *run)
{
	return run->result_message.length ? run->result_message : run->failure_message;
}

/* Whoever wrote so by hand: roger names the message that was read. */
static bool claims_forward(const struct roger_run *run)
{
	return run->forwarded && !run->evidence.length && run->result_message.length;
}

static bool waits_for_reader(const struct rg_run_document *document)
{
	return claims_forward(&document->run) || document->run.status == ROGER_RUN_NOT_FORWARDED ||
	       (word_of(&document->run).length && rg_run_wants_settling(&document->run));
}

static const struct roger_message *find_word(const struct roger_message_list *messages,
					     const struct roger_run *run)
{
	size_t i;

	for (i = 0; i < messages->count; i++)
		if (rg_str_equal(messages->items[i].id, word_of(run)))
			return &messages->items[i];
	return NULL;
}

/* Nobody can read the result where it is: say why, and what helps. */
static int note_stranded(struct rg_run_document *document, const struct roger_message *message,
			 const char *why, struct rg_arena *arena, struct roger_err *err)
{
	struct roger_run *run = &document->run;

	if (!rg_arena_print(arena, &document->way_out, "roger %s %.*s%s",
			    message ? "complete" : "dismiss", RG_STR_ARGS(run->run),
			    message ? "" : " --reason TEXT"))
		return rg_fail_memory(err);
	if (!why)
		return ROGER_OK;
	return rg_arena_print(arena, &run->why, "its result %s", why) &&
			       rg_arena_print(
				       arena, &run->status_reason,
				       "Finished (%.*s); %.*s has not read the result: message "
				       "%.*s %s. `roger complete %.*s%s` sends it again.",
				       RG_STR_ARGS(run->source), RG_STR_ARGS(run->owner),
				       RG_STR_ARGS(run->result_message), why, RG_STR_ARGS(run->run),
				       message ? "" : " --result TEXT")
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

/* An owner that acknowledged a failure as done has dealt with it; so has a person in its place,
 * with a result, too, which the owner will not get any more. */
static int note_settled(struct rg_run_document *document, const struct roger_message *message,
			struct rg_arena *arena, struct roger_err *err)
{
	const bool in_place = rg_message_in_place(message);
	char instant[32];

	if (message->ack_outcome != ROGER_ACK_DONE || document->run.settled_at.length ||
	    !(rg_run_wants_settling(&document->run) ||
	      (in_place && document->run.status == ROGER_RUN_NOT_FORWARDED)))
		return ROGER_OK;
	rg_clock_print_utc(message->acked_at_ms, instant);
	document->run.settled_by = in_place ? RG_STR(RG_PERSON) : message->to;
	document->receipts.settled = true;
	document->settled_by_word = !in_place;
	return rg_arena_copy(arena, rg_str(instant), &document->run.settled_at)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

/* The mailbox knows better than a document what was read. */
static int note_contradiction(struct roger *roger, struct rg_run_document *document,
			      const struct roger_message *message, struct rg_arena *arena,
			      struct roger_err *err)
{
	struct roger_run *run = &document->run;
	int r;

	if (!message || message->read || message->archived_at_ms)
		return ROGER_OK;
	run->forwarded = document->receipts.forwarded = false;
	r = rg_run_judge(roger, document, rg_clock_ms(), arena, err);
	if (r < 0)
		return r;
	if (!rg_arena_print(arena, &run->status_reason,
			    "%.*s has not read the result, message %.*s, though the run's document "
			    "says so.",
			    RG_STR_ARGS(run->owner), RG_STR_ARGS(message->id)))
		return rg_fail_memory(err);
	run->why = run->status_reason;
	return ROGER_OK;
}

/* What became of the message that its owner is to read; NULL: there is none. */
static int note_word(struct roger *roger, const struct roger_retired_list *retired,
		     struct rg_run_document *document, const struct roger_message *message,
		     struct rg_arena *arena, struct roger_err *err)
{
	const bool done = document->run.status == ROGER_RUN_NOT_FORWARDED,
		   sent = document->run.result_message.length > 0;
	const char *why = rg_run_why_stranded(retired, &document->run, message);
	int r;

	if (claims_forward(&document->run))
		return note_contradiction(roger, document, message, arena, err);
	/* A failure that came before a result without a message stays settled. */
	r = message && message->read && (!why || rg_message_in_place(message))
		    ? note_settled(document, message, arena, err)
		    : ROGER_OK;
	if (r == ROGER_OK && done && (why || !sent))
		return note_stranded(document, message, sent ? why : NULL, arena, err);
	return r == ROGER_OK && done && message->read
		       ? rg_run_note_forward(roger, document, rg_clock_ms(), arena, err)
		       : r;
}

static int note_words(struct roger *roger, const struct roger_retired_list *retired,
		      struct rg_run_document *const *waiting, size_t count, struct rg_arena *arena,
		      struct roger_err *err)
{
	struct roger_str ids[PIECE];
	const struct rg_query query = { .ids = ids, .id_count = count, .anywhere = true };
	struct roger_message_list found;
	size_t i;
	int r;

	for (i = 0; i < count; i++)
		ids[i] = word_of(&waiting[i]->run);
	r = rg_engine_find(roger->engine, &query, arena, &found, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = note_word(roger, retired, waiting[i], find_word(&found, &waiting[i]->run),
			      arena, err);
	return r;
}

/*
 * A result that its owner has read was forwarded, and a failure that it acknowledged as done is
 * settled, whether or not anybody wrote that down yet.
 * Look whether results were read that documents do not say so of: they then are
 * judged as forwarded, by the message that was read (forward_seen).
 */
int rg_run_look_for_readers(struct roger *roger, struct rg_run_document *documents, size_t count,
			    struct rg_arena *arena, struct roger_err *err)
{
	struct rg_run_document *waiting[PIECE];
	struct roger_retired_list retired;
	int64_t now_ms = rg_clock_ms();
	size_t found = 0, i;
	int r;

	r = count ? rg_engine_retired(roger->engine, arena, &retired, err) : ROGER_OK;
	for (i = 0; i < count && r == ROGER_OK; i++) {
		r = rg_run_inherit(roger, &retired, &documents[i], now_ms, arena, err);
		if (r < 0 || !waits_for_reader(&documents[i]))
			continue;
		waiting[found++] = &documents[i];
		if (found == PIECE) {
			r = note_words(roger, &retired, waiting, found, arena, err);
			found = 0;
		}
	}
	return r == ROGER_OK && found ? note_words(roger, &retired, waiting, found, arena, err) : r;
}

static int compare(const void *a, const void *b)
{
	const struct rg_run_document *x = a, *y = b;
	int64_t earlier = x->receipts.dispatched_ms, later = y->receipts.dispatched_ms;

	if (earlier != later)
		return earlier < later ? -1 : 1;
	return strcmp(x->file.data, y->file.data);
}

int rg_run_list_load(struct roger *roger, bool readers, struct rg_arena *arena,
		     struct rg_run_list *ret_list, struct roger_err *err)
{
	struct rg_run_list list = { 0 };
	struct rg_run_texts texts;
	int64_t now_ms = rg_clock_ms();
	size_t i;
	int r;

	r = rg_engine_runs(roger->engine, arena, &texts, err);
	if (r < 0)
		return r;
	rg_engine_look_for_runs(roger->engine, texts.count);
	list.documents = rg_arena_get(arena, (texts.count + 1) * sizeof *list.documents);
	if (!list.documents)
		return rg_fail_memory(err);
	for (i = 0; i < texts.count; i++) {
		r = add_document(roger, &list, &texts.items[i], now_ms, arena, err);
		if (r < 0)
			return r;
		if (roger->tell && i % 1000 == 999)
			roger->tell(roger->tell_context, "runs runs", (int64_t)i,
				    (int64_t)texts.count);
	}
	if (readers)
		r = rg_run_look_for_readers(roger, list.documents, list.count, arena, err);
	if (r < 0)
		return r;
	qsort(list.documents, list.count, sizeof *list.documents, compare);
	*ret_list = list;
	return ROGER_OK;
}

/* ------------------------------------------------------------------ verb -- */

static bool is_wanted(const struct roger_runs_request *request, const struct roger_run *run)
{
	return (!request->status || request->status == run->status) &&
	       (!request->issue.length || rg_str_equal(request->issue, run->issue));
}

/* Of another container's run nobody here knows whether it goes on. */
static int note_unseen(struct rg_run_list *list, const struct rg_run_document *document,
		       struct roger_runs_reply *reply, struct roger_err *err)
{
	const struct rg_run_text text = { .file = document->file };
	int r = ROGER_OK;

	if (!document->receipts.completed_ms && !document->run.exit.length &&
	    rg_run_hands(&document->run) == RG_HANDS_UNKNOWN) {
		r = add_trouble(list, reply->memory, &text, document->run.run,
				"its processes cannot be seen from here (another container?)", err);
		if (r == ROGER_OK)
			list->troubles.items[list->troubles.count - 1].invalid = false;
	}
	reply->troubles =
		(struct roger_run_trouble_list){ list->troubles.items, list->troubles.count };
	return r;
}

static int list_all(struct roger *roger, const struct roger_runs_request *request,
		    struct roger_runs_reply *reply, struct roger_err *err)
{
	struct rg_run_list list;
	struct roger_run *runs;
	size_t i;
	int r;

	r = rg_run_list_load(roger, true, reply->memory, &list, err);
	if (r < 0)
		return r;
	runs = rg_arena_get(reply->memory, (list.count + 1) * sizeof *runs);
	if (!runs)
		return rg_fail_memory(err);
	reply->runs.items = runs;
	for (i = 0; i < list.count && r == ROGER_OK; i++) {
		if (!is_wanted(request, &list.documents[i].run))
			continue;
		runs[reply->runs.count] = list.documents[i].run;
		r = rg_run_add_words(&runs[reply->runs.count++], reply->memory, err);
		if (r == ROGER_OK)
			r = note_unseen(&list, &list.documents[i], reply, err);
	}
	reply->troubles =
		(struct roger_run_trouble_list){ list.troubles.items, list.troubles.count };
	return r;
}

static int show_one(struct roger *roger, const struct roger_runs_request *request,
		    struct roger_runs_reply *reply, struct roger_err *err)
{
	struct rg_run_document document;
	struct rg_run_list list = { 0 };
	int r;

	r = rg_run_load(roger, request->run, reply->memory, &document, err);
	if (r == ROGER_OK)
		r = rg_run_look_for_readers(roger, &document, 1, reply->memory, err);
	if (r == ROGER_OK)
		r = note_unseen(&list, &document, reply, err);
	if (r == ROGER_OK)
		r = rg_run_add_output(roger, &document.run, reply->memory, err);
	return r < 0 ? r : rg_run_reply(reply, &document, err);
}

struct roger_str rg_run_near(struct roger *roger, struct roger_str run_id, struct rg_arena *arena)
{
	struct rg_nearest nearest = { { "", 0 }, SIZE_MAX };
	struct rg_run_list list;
	size_t i;

	if (rg_run_list_load(roger, false, arena, &list, NULL) < 0)
		return nearest.word;
	for (i = 0; i < list.count; i++)
		rg_nearest_look(&nearest, run_id, list.documents[i].run.run);
	return nearest.word;
}

bool rg_run_trouble_seen(const struct roger_run_trouble *trouble, struct rg_arena *arena,
			 struct roger_str *ret_file, struct roger_str *ret_sha256)
{
	char sha256[65];

	rg_sha256_hex(trouble->what, sha256);
	return rg_arena_print(arena, ret_file, RG_RUNS_SHOWN "/%.*s", RG_STR_ARGS(trouble->file)) &&
	       rg_arena_copy(arena, rg_str(sha256), ret_sha256);
}

int rg_verb_runs(struct roger *roger, const struct roger_runs_request *request,
		 struct roger_runs_reply *reply, struct roger_err *err)
{
	return request->run.length ? show_one(roger, request, reply, err)
				   : list_all(roger, request, reply, err);
}
