#include "ops/care/merge.h"

#include "engine/move.h"
#include "facts/message.h"
#include "ops/records.h"
#include "ops/runs/run_list.h"

enum { BATCH = 200, TRIES_MAX = 5 };

struct merge {
	struct roger *from, *to;
	struct roger_move_reply *reply;
	int64_t unkeyed, other_runs, unread;
};

static void tell_count(struct merge *merge, int64_t count, const char *what)
{
	if (count)
		rg_arena_note(merge->reply->memory, &merge->reply->notes, "%lld %s",
			      (long long)count, what);
}

/* --------------------------------------------------------------- messages -- */

/* Find the messages of a batch that the target has already. */
static int look_at_batch(struct merge *merge, const struct roger_message *batch, size_t count,
			 struct rg_arena *arena, struct roger_message_list *ret_there,
			 struct roger_err *err)
{
	struct roger_str *ids = rg_arena_get(arena, count * sizeof *ids);
	size_t i;

	for (i = 0; ids && i < count; i++)
		ids[i] = batch[i].id;
	return ids ? rg_engine_find_ids(merge->to->engine, ids, count, arena, ret_there, err)
		   : rg_fail_memory(err);
}

/* Copy a message without what holds only in its old workspace: number, place, proof, archive. */
static struct roger_message copy_of(const struct roger_message *message)
{
	struct roger_message copy = *message;

	copy.seq = copy.epoch = copy.position = copy.line = copy.byte = copy.archived_at_ms = 0;
	copy.chain = copy.proved = copy.archive_reason = (struct roger_str){ "", 0 };
	copy.altered = 0;
	return copy;
}

/* Take away a key that another message has in the target. */
static void drop_key(struct merge *merge, struct roger_message *copies, size_t count,
		     const struct roger_message *which)
{
	const struct roger_str from = which->from, key = which->key;
	size_t i;

	for (i = 0; i < count; i++)
		if (rg_str_equal(copies[i].from, from) && rg_str_equal(copies[i].key, key)) {
			copies[i].key = copies[i].cycle = (struct roger_str){ "", 0 };
			copies[i].attempt = copies[i].confirm_by_ms = copies[i].retry_within_ms = 0;
			merge->unkeyed++;
		}
}

static int add_batch(struct merge *merge, const struct roger_message *batch, size_t count,
		     struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message *copies = rg_arena_get(arena, count * sizeof *copies);
	struct rg_outcome outcome = { .verdict = RG_KEY_KNOWN };
	struct roger_message_list there;
	size_t i, added = 0;
	int r = copies ? look_at_batch(merge, batch, count, arena, &there, err)
		       : rg_fail_memory(err);

	for (i = 0; r == ROGER_OK && i < count; i++)
		if (!rg_messages_find(&there, batch[i].id)) {
			copies[added] = copy_of(&batch[i]);
			/* Until the commit, line says: it is of the same send as the one before. */
			copies[added].line =
				added && rg_message_same_send(&batch[i], &batch[i - 1]);
			added++;
		}
	while (r == ROGER_OK && added && outcome.verdict == RG_KEY_KNOWN) {
		r = rg_engine_begin(merge->to->engine, false, err);
		for (i = 0; r == ROGER_OK && i < added; i++)
			r = rg_engine_add(merge->to->engine, &copies[i], !copies[i].line, err);
		if (r == ROGER_OK)
			r = rg_engine_commit(merge->to->engine, &outcome, err);
		if (r == ROGER_OK && outcome.verdict == RG_KEY_KNOWN)
			drop_key(merge, copies, added, outcome.which);
	}
	if (r < 0)
		return r;
	if (added && outcome.verdict != RG_COMMITTED)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "with what is to be taken in, issue '%.*s' would have more messages "
			       "than size_limits allows: archive there, or raise it; the same move "
			       "again goes on",
			       RG_STR_ARGS(outcome.which->issue));
	merge->reply->messages += (int64_t)added;
	return ROGER_OK;
}

/* Archive the messages of a batch that were archived in their old workspace. */
static int archive_batch(struct merge *merge, const struct roger_message *batch, size_t count,
			 struct rg_arena *arena, struct roger_err *err)
{
	struct rg_engine *engine = merge->to->engine;
	struct roger_message_list there;
	const struct roger_message *was;
	struct rg_outcome outcome;
	struct roger_message after;
	size_t i;
	int r = rg_engine_begin(engine, true, err);

	if (r == ROGER_OK)
		r = look_at_batch(merge, batch, count, arena, &there, err);
	for (i = 0; r == ROGER_OK && i < there.count; i++) {
		was = rg_messages_find(&(struct roger_message_list){ batch, count },
				       there.items[i].id);
		merge->unread += was->read && !there.items[i].read;
		if (!was->archived_at_ms || there.items[i].archived_at_ms)
			continue;
		after = there.items[i];
		after.archived_at_ms = was->archived_at_ms;
		after.archive_reason = was->archive_reason;
		r = rg_engine_archive(engine, &after, err);
	}
	if (r == ROGER_OK)
		r = rg_engine_commit(engine, &outcome, err);
	rg_engine_rollback(engine);
	return r;
}

static int take_messages(struct merge *merge, struct roger_err *err)
{
	const struct rg_query everything = { .anywhere = true };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_message_list list = { 0 };
	size_t at, count;
	int r = arena ? rg_engine_find(merge->from->engine, &everything, arena, &list, err)
		      : rg_fail_memory(err);

	merge->unread = 0;
	for (at = 0; r == ROGER_OK && at < list.count; at += count) {
		count = list.count - at < BATCH ? list.count - at : BATCH;
		/* The messages of one send have one number, so they stay in one batch. */
		while (at + count < list.count &&
		       rg_message_same_send(&list.items[at + count - 1], &list.items[at + count]))
			count++;
		r = add_batch(merge, list.items + at, count, arena, err);
		if (r == ROGER_OK)
			r = archive_batch(merge, list.items + at, count, arena, err);
	}
	return r;
}

/* ------------------------------------------------------------------- runs -- */

/* Load the runs of the old workspace, none of which may be at work. */
static int load_runs(struct merge *merge, struct rg_run_list *ret_runs, struct roger_err *err)
{
	size_t i;
	int r = rg_run_list_load(merge->from, (struct rg_run_wish){ .whole = true },
				 merge->reply->memory, ret_runs, err);

	for (i = 0; r == ROGER_OK && i < ret_runs->count; i++)
		r = rg_run_check_left(&ret_runs->documents[i].run, err);
	return r;
}

static int take_run(struct merge *merge, const struct rg_run_document *document,
		    struct roger_err *err)
{
	struct rg_engine *engine = merge->to->engine;
	union rg_log_record record;
	struct roger_str there;
	bool found;
	int r = rg_engine_records_begin(engine, err);

	if (r < 0)
		return r;
	r = rg_engine_run_find(engine, document->run.run, merge->reply->memory, &there, err);
	if (r == ROGER_OK && !there.data) {
		r = rg_run_find_output(merge->from, document->run.run, merge->reply->memory,
				       &record, &found, err);
		/* Copy the last output of its program, too. */
		if (found)
			r = rg_records_write(merge->to, RG_LOG_OUTPUTS, RG_STR(""), &record.output,
					     1, err);
		if (r == ROGER_OK)
			r = rg_engine_run_put(engine, document->run.run, there, document->text,
					      err);
		merge->reply->runs += r == ROGER_OK;
	} else if (r == ROGER_OK && !rg_str_equal(there, document->text)) {
		merge->other_runs++;
	}
	rg_engine_records_end(engine);
	return r;
}

/* ------------------------------------------------------------------ whole -- */

/* Keep a backup in .roger/merged/ of the target, which is not deleted with a worktree. */
static int keep_backup(struct merge *merge, struct roger_err *err)
{
	struct roger_backup_reply backup = { .memory = merge->reply->memory };
	struct roger_backup_request request = { 0 };
	char folder[4200];
	int r = rg_workspace_merged(merge->to->workspace, folder, err);

	if (r < 0)
		return r;
	merge->reply->kept = rg_arena_text(merge->reply->memory, "%s/%lld.tar", folder,
					   (long long)rg_clock_ms());
	request.file = merge->reply->kept;
	return rg_verb_backup(merge->from, &request, &backup, err);
}

/* Try once.  *ret_left false: somebody added to the old workspace meanwhile. */
static int try_merge(struct merge *merge, struct roger_str place, bool *ret_left,
		     struct roger_err *err)
{
	struct rg_engine *from = merge->from->engine;
	struct rg_log_files files;
	struct rg_run_list runs;
	size_t i;
	int r;

	/* From here on nobody claims, reads or acknowledges in the old workspace. */
	r = rg_engine_begin(from, true, err);
	if (r == ROGER_OK)
		r = load_runs(merge, &runs, err);
	/* Messages are taken twice, so that the second time, which counts, is short. */
	if (r == ROGER_OK)
		r = take_messages(merge, err);
	if (r == ROGER_OK)
		r = rg_engine_measure(from, RG_MEASURED_ALL, merge->reply->memory, &files, NULL,
				      err);
	if (r == ROGER_OK)
		r = keep_backup(merge, err);
	if (r == ROGER_OK)
		r = take_messages(merge, err);
	if (r == ROGER_OK)
		r = load_runs(merge, &runs, err);
	for (i = 0; r == ROGER_OK && i < runs.count; i++)
		r = take_run(merge, &runs.documents[i], err);
	return r == ROGER_OK ? rg_engine_leave(from, &files, place, ret_left, err) : r;
}

int rg_merge(struct roger *from, struct roger *to, struct roger_str place,
	     struct roger_move_reply *reply, struct roger_err *err)
{
	struct merge merge = { .from = from, .to = to, .reply = reply };
	const char *root = from->workspace->root;
	bool left = false;
	int tries, r = ROGER_OK;

	/* The target is trusted, so mail of an untrusted workspace would be shown there. */
	if (*rg_workspace_distrust(from->workspace))
		return rg_fail(
			err, ROGER_EREFUSED, 0,
			"the workspace in '%.1000s' is not trusted, so its mail is not taken "
			"in; if it is yours, run `roger trust --workspace .roger` there",
			root);

	for (tries = 0; r == ROGER_OK && !left && tries < TRIES_MAX; tries++) {
		r = try_merge(&merge, place, &left, err);
		rg_engine_rollback(from->engine);
	}
	if (r == ROGER_OK && !left)
		r = rg_fail(err, ROGER_ETIMEOUT, 0,
			    "somebody keeps writing there; end that, and the same move goes on");
	tell_count(&merge, merge.unkeyed,
		   "of the messages have lost their key: another message has it here");
	tell_count(&merge, merge.unread,
		   "of the messages were here already, unread, and read there");
	tell_count(&merge, merge.other_runs,
		   "of the runs are only in the backup: other runs have their ids here");
	return r;
}
