/* runs: every run, judged now, and the documents that are not as they should be. */
#include "ops/runs/run_list.h"

#include <stdlib.h>

#include "base/id.h"
#include "base/nearest.h"
#include "base/table.h"
#include "facts/message.h"
#include "facts/person.h"
#include "ops/runs/run_process.h"

bool rg_run_has(const struct roger_run *run, unsigned members, struct roger_str name)
{
	return (members & RG_RUN_ITSELF && rg_str_equal(run->run, name)) ||
	       (members & RG_RUN_TASK && rg_str_equal(run->task, name)) ||
	       (members & RG_RUN_ISSUE && rg_str_equal(run->issue, name)) ||
	       (members & RG_RUN_OWNER && rg_str_equal(run->owner, name)) ||
	       (members & RG_RUN_CHILD && rg_str_equal(run->child, name));
}

void rg_run_add_trouble(struct roger_run_trouble_list *list,
			const struct roger_run_trouble *trouble, struct rg_arena *arena)
{
	struct roger_run_trouble kept = *trouble;

	kept.what = rg_arena_str(arena, trouble->what);
	(void)!rg_arena_append(arena, &list->items, &list->count, &kept, sizeof kept);
}

/* Read the document again: perhaps the end was written down before we looked at the processes. */
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
	struct roger_run_trouble trouble = {
		.file = text->file, .run = RG_STR(""), .what = text->trouble, .invalid = true
	};
	struct rg_run_document document = { 0 };
	char expected[RG_FILE_NAME_BYTES];
	struct roger_err inner = { 0 };
	int r = ROGER_OK;

	if (!trouble.what.length)
		r = rg_run_decode(roger, text->text, now_ms, arena, &document, &inner);
	if (r == ROGER_OK && document.receipts.child_lost)
		r = look_again(roger, now_ms, arena, &document, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		trouble.what = rg_str(inner.message);
	/* Under another name than roger gives it, the run would not be found. */
	rg_workspace_file_name(document.run.run, ".json", expected);
	if (!trouble.what.length && text->file.length && !rg_str_is(text->file, expected)) {
		trouble.run = document.run.run;
		trouble.what = rg_arena_text(arena, "runId: a run of that name is in %s", expected);
	}
	if (trouble.what.length) {
		rg_run_add_trouble(&list->troubles, &trouble, arena);
		return ROGER_OK;
	}
	document.file = text->file;
	document.stamp = text->stamp;
	list->documents[list->count++] = document;
	return ROGER_OK;
}

/* ---------------------------------------------------------------- closed -- */

/* Up to this many documents are always read. */
enum { FEW = 64 };

/* A list being made, with the closed runs that the index has. */
struct listing {
	struct roger *roger;
	const struct rg_run_wish *wish;
	struct rg_arena *arena;
	struct rg_table places; /* struct place, for each row */
	struct rg_closed_runs rows, news;
	bool loaded;  /* the rows were read */
	size_t asked; /* documents listed before that */
};

struct place {
	uint64_t file;
	const struct rg_closed_run *row;
	bool there; /* its document is there */
};

static uint64_t hash_of(struct roger_str file)
{
	return rg_hash(0, file.data, file.length);
}

static int load_rows(struct listing *listing, struct roger_err *err)
{
	struct place *place;
	bool fresh;
	size_t i;
	int r = rg_engine_closed_runs(listing->roger->engine, listing->arena, &listing->rows, err);

	listing->loaded = true;
	for (i = 0; r == ROGER_OK && i < listing->rows.count; i++) {
		place = rg_table_put(&listing->places, listing->rows.items[i].file, &fresh);
		if (!place)
			return rg_fail_memory(err);
		place->row = &listing->rows.items[i];
	}
	return r;
}

/* Find the row of this version of a document; NULL: none. */
static const struct rg_closed_run *find_row(const struct listing *listing, struct roger_str file,
					    uint64_t stamp)
{
	const struct place *place = rg_table_find(&listing->places, hash_of(file));

	return place && stamp && place->row->stamp == stamp ? place->row : NULL;
}

/* Must the document be read?  The store calls this, perhaps with a lock, so it only decides. */
static bool wants_text(void *context, struct roger_str file, uint64_t stamp)
{
	struct listing *listing = context;
	const struct rg_run_wish *wish = listing->wish;
	const struct rg_closed_run *row;

	if (wish->whole)
		return true;
	if (!listing->loaded)
		return listing->asked++ < FEW;
	row = find_row(listing, file, stamp);
	return !row || rg_run_has(&row->run, wish->members, wish->name);
}

/*
 * Will lists and figures say the same of the run until its document is changed, whatever is read,
 * whoever retires or ends, and however much time passes?
 */
static bool is_closed(const struct rg_run_document *document)
{
	const struct roger_run *run = &document->run;

	if (document->forward_seen || document->settled_by_word ||
	    (int)document->stored != run->status || rg_run_wants_settling(run))
		return false;
	if (document->receipts.forwarded)
		return document->receipts.completed_ms &&
		       (run->evidence.length || !run->result_message.length);
	return run->status == ROGER_RUN_BLOCKED && rg_run_end_is_known(run);
}

static struct rg_closed_run *new_row(struct listing *listing, uint64_t file)
{
	struct rg_closed_run *row = rg_arena_push(listing->arena, &listing->news.items,
						  &listing->news.count, sizeof *row);

	if (row)
		*row = (struct rg_closed_run){ .file = file };
	return row;
}

/* If the text is newer than the stamp, the next list finds another stamp and ignores this row. */
static bool add_closed(struct listing *listing, const struct rg_run_document *document)
{
	struct rg_closed_run *row;

	if (!document->stamp || !is_closed(document) ||
	    find_row(listing, document->file, document->stamp))
		return true;
	row = new_row(listing, hash_of(document->file));
	if (!row)
		return false;
	row->stamp = document->stamp;
	row->receipts = document->receipts;
	row->run = document->run;
	if (document->former.length)
		row->run.owner = document->former;
	return true;
}

/* Store the new rows, and delete those whose documents are gone. */
static int keep_rows(struct listing *listing, const struct rg_run_list *list, struct roger_err *err)
{
	const struct place *place;
	bool kept = true;
	size_t i;

	for (i = 0; i < list->count && kept; i++)
		kept = add_closed(listing, &list->documents[i]);
	for (i = 0; kept && (place = rg_table_next(&listing->places, &i));)
		kept = place->there || new_row(listing, place->file);
	kept = kept && !rg_arena_failed(listing->arena);
	if (kept && listing->news.count)
		rg_engine_keep_closed_runs(listing->roger->engine, &listing->news);
	return rg_kept(kept, err);
}

/* -------------------------------------------------------------- forwards -- */

/* The message that the owner reads and acknowledges: the result, else the notice of failure. */
static struct roger_str word_of(const struct roger_run *run)
{
	return run->result_message.length ? run->result_message : run->failure_message;
}

/* Did somebody write by hand that it was forwarded?  roger names the message that was read. */
static bool claims_forward(const struct roger_run *run)
{
	return run->forwarded && !run->evidence.length && run->result_message.length;
}

static bool waits_for_reader(const struct rg_run_document *document)
{
	return claims_forward(&document->run) || document->run.status == ROGER_RUN_NOT_FORWARDED ||
	       (word_of(&document->run).length && rg_run_wants_settling(&document->run));
}

/* Nobody can read the result where it is: say why, and what helps. */
static void note_stranded(struct rg_run_document *document, const struct roger_message *message,
			  const char *why, struct rg_arena *arena)
{
	struct roger_run *run = &document->run;

	document->way_out =
		rg_arena_text(arena, "roger %s %.*s%s", message ? "complete" : "dismiss",
			      RG_STR_ARGS(run->run), message ? "" : " --reason TEXT");
	if (!why)
		return;
	run->why = rg_arena_text(arena, "its result %s", why);
	run->status_reason = rg_arena_text(
		arena,
		"Finished (%.*s); %.*s has not read the result: message %.*s %s. `roger complete "
		"%.*s%s` sends it again.",
		RG_STR_ARGS(run->source), RG_STR_ARGS(run->owner), RG_STR_ARGS(run->result_message),
		why, RG_STR_ARGS(run->run), message ? "" : " --result TEXT");
}

/* An owner that acknowledged a failure as done has dealt with it; so has a person in its place,
 * with a result, too, which the owner will not get any more. */
static void note_settled(struct rg_run_document *document, const struct roger_message *message,
			 struct rg_arena *arena)
{
	const bool in_place = rg_message_in_place(message);

	if (message->ack_outcome != ROGER_ACK_DONE || document->run.settled_at.length ||
	    !(rg_run_wants_settling(&document->run) ||
	      (in_place && document->run.status == ROGER_RUN_NOT_FORWARDED)))
		return;
	document->run.settled_by = in_place ? RG_STR(RG_PERSON) : message->to;
	document->run.settled_at = rg_run_instant(message->acked_at_ms, arena);
	document->receipts.settled = true;
	document->settled_by_word = !in_place;
}

/* The mailbox knows better than a document what was read. */
static void note_contradiction(struct roger *roger, struct rg_run_document *document,
			       const struct roger_message *message, struct rg_arena *arena)
{
	struct roger_run *run = &document->run;

	if (!message || message->read || message->archived_at_ms)
		return;
	run->forwarded = document->receipts.forwarded = false;
	rg_run_judge(roger, document, rg_clock_ms(), arena);
	run->why = run->status_reason = rg_arena_text(
		arena,
		"%.*s has not read the result, message %.*s, though the run's document says so.",
		RG_STR_ARGS(run->owner), RG_STR_ARGS(message->id));
}

/* Was it read before the retirement, or in its millisecond without a successor being named? */
static bool was_read_before(const struct roger_message *message, int64_t retired_ms)
{
	return message->read_at_ms < retired_ms ||
	       (message->read_at_ms == retired_ms && !message->read_by.length);
}

/*
 * Give the run back to its former owner if that read the result before it retired, or if the result
 * waits in a mailbox that nobody took over.
 */
static void note_mailbox(struct roger *roger, const struct roger_retired_list *retired,
			 struct rg_run_document *document, const struct roger_message *message,
			 struct rg_arena *arena)
{
	const struct roger_str former = document->former;
	struct roger_run *run = &document->run;

	if (!former.length || !message || !rg_str_equal(message->to, former) ||
	    run->status != ROGER_RUN_NOT_FORWARDED ||
	    (message->read ? !was_read_before(message, document->former_until_ms)
			   : !rg_str_equal(rg_retired_owner(retired, former), former)))
		return;
	run->owner = former;
	rg_run_judge(roger, document, rg_clock_ms(), arena);
	if (!message->read)
		run->why = rg_arena_text(arena,
					 "%.*s retired without having read it; `roger list "
					 "--unread --to %.*s` shows it",
					 RG_STR_ARGS(former), RG_STR_ARGS(former));
}

/* Judge what became of the message that the owner is to read; NULL: there is none. */
static void note_word(struct roger *roger, const struct roger_retired_list *retired,
		      struct rg_run_document *document, const struct roger_message *message,
		      struct rg_arena *arena)
{
	struct roger_run *run = &document->run;
	const bool done = run->status == ROGER_RUN_NOT_FORWARDED,
		   sent = run->result_message.length > 0;
	struct rg_run_edit edit = { .run = run, .receipts = &document->receipts };
	const char *why = rg_run_why_stranded(retired, run, message);

	note_mailbox(roger, retired, document, message, arena);
	if (claims_forward(run)) {
		note_contradiction(roger, document, message, arena);
		return;
	}
	/* A failure that came before a result without a message stays settled. */
	if (message && message->read && (!why || rg_message_in_place(message)))
		note_settled(document, message, arena);
	if (done && (why || !sent)) {
		note_stranded(document, message, sent ? why : NULL, arena);
	} else if (done && message->read) {
		/* Judge the run as forwarded, since its result was read; nothing is written. */
		document->forward_seen =
			rg_run_forward(&edit, run->result_message, NULL) == ROGER_OK &&
			edit.changed;
		rg_run_judge(roger, document, rg_clock_ms(), arena);
	}
}

/*
 * A result that the owner has read was forwarded, and a failure that it acknowledged as done is
 * settled, whether or not a document says so yet. This looks for such messages, and judges their
 * runs by them (forward_seen).
 */
int rg_run_look_for_readers(struct roger *roger, struct rg_run_document *documents, size_t count,
			    struct rg_arena *arena, struct roger_err *err)
{
	const struct roger_message *word = NULL;
	struct roger_retired_list retired;
	int64_t now_ms = rg_clock_ms();
	size_t i;
	int r;

	r = count ? rg_engine_retired(roger->engine, arena, &retired, err) : ROGER_OK;
	for (i = 0; i < count && r == ROGER_OK; i++) {
		rg_run_inherit(roger, &retired, &documents[i], now_ms, arena);
		if (!waits_for_reader(&documents[i]))
			continue;
		r = rg_run_message(roger, word_of(&documents[i].run), arena, &word, err);
		if (r == ROGER_OK)
			note_word(roger, &retired, &documents[i], word, arena);
	}
	return r;
}

static int compare_runs(const void *a, const void *b)
{
	const struct rg_run_document *x = a, *y = b;
	int64_t earlier = x->receipts.dispatched_ms, later = y->receipts.dispatched_ms;

	if (earlier != later)
		return earlier < later ? -1 : 1;
	return strcmp(x->file.data, y->file.data);
}

/* Does the row say what the document does? */
static bool says_the_same(const struct rg_closed_run *row, const struct rg_run_document *document)
{
	const struct rg_receipts *a = &row->receipts, *b = &document->receipts;
	const struct roger_run *run = &document->run;

	return is_closed(document) && a->dispatched_ms == b->dispatched_ms &&
	       a->expected_by_ms == b->expected_by_ms && a->completed_ms == b->completed_ms &&
	       a->recoveries == b->recoveries && a->forwarded == b->forwarded &&
	       row->run.status == run->status && row->run.outcome == run->outcome &&
	       rg_str_equal(row->run.run, run->run) && rg_str_equal(row->run.owner, run->owner) &&
	       rg_str_equal(row->run.child, run->child) &&
	       rg_str_equal(row->run.issue, run->issue) && rg_str_equal(row->run.task, run->task) &&
	       rg_str_equal(row->run.settled_at, run->settled_at);
}

int rg_run_list_check_index(struct roger *roger, const struct rg_run_list *list,
			    struct rg_arena *arena, struct roger_strs *ret_files,
			    struct roger_err *err)
{
	struct listing listing = { .roger = roger, .arena = arena };
	const struct rg_closed_run *row;
	size_t i;
	int r;

	*ret_files = (struct roger_strs){ 0 };
	rg_table_init(&listing.places, sizeof(struct place));
	r = load_rows(&listing, err);
	for (i = 0; i < list->count && r == ROGER_OK; i++) {
		row = find_row(&listing, list->documents[i].file, list->documents[i].stamp);
		if (row && !says_the_same(row, &list->documents[i]) &&
		    !rg_arena_add(arena, ret_files, list->documents[i].file))
			r = rg_fail_memory(err);
	}
	rg_table_deinit(&listing.places);
	return r;
}

/* Add a document from its row; false: its text was read, so that is used. */
static bool take_brief(struct listing *listing, struct rg_run_list *list,
		       const struct rg_run_text *text)
{
	struct rg_run_document *document = &list->documents[list->count];
	struct place *place = rg_table_find(&listing->places, hash_of(text->file));

	if (place)
		place->there = true;
	if (text->text.data || text->trouble.length)
		return false;
	*document =
		(struct rg_run_document){ .file = text->file,
					  .stamp = text->stamp,
					  .brief = true,
					  .run = place->row->run,
					  .receipts = place->row->receipts,
					  .stored = (enum roger_run_status)place->row->run.status };
	list->count++;
	return true;
}

static int take_documents(struct listing *listing, const struct rg_run_texts *texts,
			  struct rg_run_list *list, struct roger_err *err)
{
	struct roger *roger = listing->roger;
	const int64_t now_ms = rg_clock_ms();
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < texts->count && r == ROGER_OK; i++) {
		if (!take_brief(listing, list, &texts->items[i]))
			r = add_document(roger, list, &texts->items[i], now_ms, listing->arena,
					 err);
		if (roger->tell && i % 1000 == 999)
			roger->tell(roger->tell_context, "runs runs", (int64_t)i,
				    (int64_t)texts->count);
	}
	return r;
}

int rg_run_list_load(struct roger *roger, struct rg_run_wish wish, struct rg_arena *arena,
		     struct rg_run_list *ret_list, struct roger_err *err)
{
	struct listing listing = { .roger = roger, .wish = &wish, .arena = arena };
	struct rg_run_list list = { 0 };
	struct rg_run_texts texts;
	int r;

	rg_table_init(&listing.places, sizeof(struct place));
	r = rg_engine_runs(roger->engine, wants_text, &listing, arena, &texts, err);
	if (r == ROGER_OK && listing.asked > FEW)
		r = load_rows(&listing, err);
	if (r == ROGER_OK && listing.loaded)
		r = rg_engine_runs(roger->engine, wants_text, &listing, arena, &texts, err);
	if (r == ROGER_OK)
		rg_engine_look_for_runs(roger->engine, texts.count);
	list.documents =
		r < 0 ? NULL : rg_arena_get(arena, (texts.count + 1) * sizeof *list.documents);
	if (r == ROGER_OK)
		r = list.documents ? take_documents(&listing, &texts, &list, err)
				   : rg_fail_memory(err);
	if (r == ROGER_OK && wish.readers)
		r = rg_run_look_for_readers(roger, list.documents, list.count, arena, err);
	if (r == ROGER_OK && wish.readers && listing.loaded)
		r = keep_rows(&listing, &list, err);
	rg_table_deinit(&listing.places);
	if (r == ROGER_OK)
		r = rg_kept(!rg_arena_failed(arena), err);
	if (r < 0)
		return r;
	qsort(list.documents, list.count, sizeof *list.documents, compare_runs);
	*ret_list = list;
	return ROGER_OK;
}

struct rg_run_list rg_read_runs(struct rg_reading *reading, struct rg_run_wish wish)
{
	struct rg_run_list list = { 0 };

	rg_reading_got(reading,
		       rg_run_list_load(reading->roger, wish, reading->arena, &list, reading->err));
	return list;
}

/* ------------------------------------------------------------------ verb -- */

/* Report a run of another container: nobody here can see whether it is at work. */
static void note_unseen(struct roger_run_trouble_list *list, const struct rg_run_document *document,
			struct rg_arena *arena)
{
	const struct roger_run_trouble trouble = {
		.file = document->file,
		.run = document->run.run,
		.what = RG_STR("its processes cannot be seen from here (another container?)"),
	};

	if (!document->receipts.completed_ms && !document->run.exit.length &&
	    rg_run_hands(&document->run) == RG_HANDS_UNKNOWN)
		rg_run_add_trouble(list, &trouble, arena);
}

static int list_runs(struct roger *roger, const struct roger_runs_request *request,
		     struct roger_runs_reply *reply, struct roger_err *err)
{
	const struct roger_run *run;
	struct rg_run_list list;
	struct roger_run *runs;
	size_t i;
	int r;

	r = rg_run_list_load(roger, (struct rg_run_wish){ .readers = true, .whole = true },
			     reply->memory, &list, err);
	if (r < 0)
		return r;
	runs = rg_arena_get(reply->memory, (list.count + 1) * sizeof *runs);
	if (!runs)
		return rg_fail_memory(err);
	reply->runs.items = runs;
	for (i = 0; i < list.count; i++) {
		run = &list.documents[i].run;
		if ((request->status && request->status != run->status &&
		     !(request->status == ROGER_RUN_BLOCKED && rg_run_failed(run))) ||
		    (request->issue.length && !rg_str_equal(request->issue, run->issue)))
			continue;
		runs[reply->runs.count] = *run;
		rg_run_add_words(&runs[reply->runs.count++], reply->memory);
		note_unseen(&list.troubles, &list.documents[i], reply->memory);
	}
	reply->troubles = list.troubles;
	return ROGER_OK;
}

struct roger_str rg_run_near(struct roger *roger, struct roger_str run_id, struct rg_arena *arena)
{
	struct roger_str nearest = { "", 0 };
	struct rg_run_list list;
	size_t i;

	if (rg_run_list_load(roger, (struct rg_run_wish){ 0 }, arena, &list, NULL) < 0)
		return nearest;
	for (i = 0; i < list.count; i++)
		rg_nearest_look(&nearest, run_id, list.documents[i].run.run);
	return nearest;
}

void rg_run_trouble_identify(const struct roger_run_trouble *trouble, struct rg_arena *arena,
			     struct roger_str *ret_file, struct roger_str *ret_sha256)
{
	char sha256[65];

	rg_sha256_hex(trouble->what, sha256);
	*ret_file = rg_arena_text(arena, RG_RUNS_SHOWN "/%.*s", RG_STR_ARGS(trouble->file));
	*ret_sha256 = rg_arena_str(arena, rg_str(sha256));
}

int rg_verb_runs(struct roger *roger, const struct roger_runs_request *request,
		 struct roger_runs_reply *reply, struct roger_err *err)
{
	struct rg_run_document document;
	int r;

	if (!request->run.length)
		return list_runs(roger, request, reply, err);
	r = rg_run_load(roger, request->run, reply->memory, &document, err);
	if (r == ROGER_OK)
		r = rg_run_look_for_readers(roger, &document, 1, reply->memory, err);
	if (r == ROGER_OK)
		note_unseen(&reply->troubles, &document, reply->memory);
	if (r == ROGER_OK)
		r = rg_run_add_output(roger, &document.run, reply->memory, err);
	return r < 0 ? r : rg_run_reply(reply, &document, err);
}
