/* A transaction: staged lines, one append, one sync. */
#include "engine/inside.h"

#include <stdlib.h>

#include "facts/message.h"

enum { TRIES_MAX = 100, CHECKPOINT_EACH = 16 };

int rg_engine_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err)
{
	rg_engine_rollback(engine);
	return exclusive ? rg_engine_begin_change(engine, NULL, err) : ROGER_OK;
}

int rg_engine_begin_change(struct rg_engine *engine, const struct rg_query *query,
			   struct roger_err *err)
{
	int r;

	rg_assert(!rg_store_took(engine->store, RG_LOCK_RECORDS));
	rg_engine_rollback(engine);
	rg_engine_examine_damage(engine);
	/* Update the index now, since others wait while this process has the lock. */
	if (rg_store_writable(engine->store))
		rg_index_follow(engine->index, rg_store_head(engine->store).end,
				rg_engine_may_have_retired(engine) ? NULL : query);
	r = rg_store_take(engine->store, RG_LOCK_CHANGE, RG_LOCK_WAIT_MS, err);
	engine->exclusive = r == ROGER_OK;
	engine->has_looked = false;
	return r;
}

static void end_exclusive(struct rg_engine *engine)
{
	if (engine->exclusive)
		rg_store_release(engine->store, RG_LOCK_CHANGE);
	engine->exclusive = false;
}

void rg_engine_leave_sync(struct rg_engine *engine)
{
	engine->leaves_sync = engine->store->files;
}

void rg_engine_gather(struct rg_engine *engine)
{
	engine->gathers = engine->store->files;
}

void rg_engine_rollback(struct rg_engine *engine)
{
	engine->staged_count = 0;
	engine->leaves_sync = false;
	rg_buf_clear(&engine->text);
	end_exclusive(engine);
}

bool rg_engine_is_exclusive(const struct rg_engine *engine)
{
	return engine->exclusive;
}

bool rg_engine_took_records(const struct rg_engine *engine)
{
	return rg_store_took(engine->store, RG_LOCK_RECORDS);
}

/* ------------------------------------------------------------- staging -- */

static struct rg_staged *stage_line(struct rg_engine *engine)
{
	size_t capacity = engine->staged_capacity ? engine->staged_capacity * 2 : 8;
	struct rg_staged *grown;

	if (engine->staged_count == engine->staged_capacity) {
		grown = realloc(engine->staged, capacity * sizeof *grown);
		if (!grown)
			return NULL;
		engine->staged = grown;
		engine->staged_capacity = capacity;
	}
	engine->staged[engine->staged_count] = (struct rg_staged){ 0 };
	return &engine->staged[engine->staged_count++];
}

/* Print the line without its number, before the lock is taken. */
static int print_staged(struct rg_engine *engine, struct rg_staged *staged,
			const struct roger_message *message, struct roger_err *err)
{
	/* Leave space for the number and the chain, and before that for what becomes of it. */
	const size_t most =
		RG_LINE_BYTES_MAX - 200 - (staged->added ? (size_t)RG_STATE_BYTES_MAX : 0);

	staged->from = engine->text.length;
	rg_message_print(message, &engine->text, &staged->number_at);
	staged->to = engine->text.length;
	if (engine->text.failed)
		return rg_fail_memory(err);
	if (staged->to - staged->from > most)
		return rg_fail_member(err, ROGER_EDATA, "content",
				      "content: with its metadata and written as JSON it takes "
				      "more than %zu bytes",
				      most);
	return ROGER_OK;
}

int rg_engine_add(struct rg_engine *engine, struct roger_message *message, bool new_number,
		  struct roger_err *err)
{
	struct rg_staged *staged = stage_line(engine);

	if (!staged)
		return rg_fail_memory(err);
	rg_assert(message->seq == 0 && (new_number || engine->staged_count > 1));
	staged->added = message;
	staged->new_number = new_number;
	return print_staged(engine, staged, message, err);
}

int rg_engine_bring(struct rg_engine *engine, struct roger_message *message, int64_t number,
		    struct roger_err *err)
{
	struct rg_staged *staged = stage_line(engine);

	if (!staged)
		return rg_fail_memory(err);
	rg_assert(engine->exclusive && message->seq == 0 && message->via.length);
	staged->added = message;
	staged->brought = true;
	staged->number = number;
	return print_staged(engine, staged, message, err);
}

int rg_engine_change(struct rg_engine *engine, const struct roger_message *before,
		     const struct roger_message *after, struct roger_err *err)
{
	struct rg_staged *staged = stage_line(engine);
	int r;

	rg_assert(rg_str_equal(before->id, after->id));
	if (!staged)
		return rg_fail_memory(err);
	rg_assert(engine->exclusive);
	staged->before = *before;
	staged->after = *after;
	r = print_staged(engine, staged, after, err);
	staged->number_at = SIZE_MAX; /* a foreign message without a number gets none */
	return r;
}

int rg_engine_archive(struct rg_engine *engine, const struct roger_message *message,
		      struct roger_err *err)
{
	struct roger_message before = *message;

	rg_assert(message->archived_at_ms > 0);
	before.archived_at_ms = 0;
	return rg_engine_change(engine, &before, message, err);
}

/* ---------------------------------------------------- under the append lock -- */

/* Count the new messages, and check keys and limits as the figures rise.  Returns RG_COMMITTED, or
 * what may refuse message *ret_which; then nothing is counted. */
static enum rg_verdict count_added(struct rg_engine *engine, bool keys_checked, size_t *ret_which)
{
	const struct rg_config *config = engine->workspace->config;
	struct rg_store *store = engine->store;
	struct rg_tally_counts there;
	enum rg_verdict maybe = RG_COMMITTED;
	size_t i;

	rg_assert(rg_store_took(engine->store, RG_LOCK_APPEND));
	for (i = 0; i < engine->staged_count && maybe == RG_COMMITTED; i++) {
		const struct rg_staged *staged = &engine->staged[i];
		const struct roger_message *message = staged->added;

		if (!message)
			continue;
		if (message->key.length &&
		    (staged->new_number || staged->brought || message->attempt > 1) &&
		    !(keys_checked && staged->key_is_new) && rg_tally_knows_key(store, message)) {
			maybe = RG_KEY_KNOWN;
			break;
		}
		there = rg_tally_add(store, message);
		if (there.mailbox > config->messages_per_issue_phase_max)
			maybe = RG_OVER_MAILBOX;
		else if (there.issue > config->messages_per_issue_max)
			maybe = RG_OVER_ISSUE;
	}
	if (maybe == RG_COMMITTED)
		return maybe;
	*ret_which = maybe == RG_KEY_KNOWN ? i : i - 1;
	while (i > 0)
		if (engine->staged[--i].added)
			rg_tally_undo(store, engine->staged[i].added);
	return maybe;
}

static int give_numbers(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_store *store = engine->store;
	int64_t epoch = rg_tally_epoch(store), seq = 0;
	struct roger_message *message;
	size_t i;

	rg_assert(rg_store_took(engine->store, RG_LOCK_APPEND));
	for (i = 0; i < engine->staged_count; i++) {
		message = engine->staged[i].added;
		if (!message)
			continue;
		if (engine->staged[i].brought) {
			message->seq = engine->staged[i].number;
			message->epoch = message->seq ? epoch : 0;
			rg_tally_number(store, message->from, message->epoch, message->seq);
			continue;
		}
		if (engine->staged[i].new_number)
			seq = rg_tally_next_number(store, message->from, epoch);
		if (seq > RG_SEQ_MAX)
			return rg_fail(err, ROGER_EREFUSED, 0,
				       "the sender has no numbers left; `roger agents session new` "
				       "starts again at 1");
		message->seq = seq;
		message->epoch = epoch;
	}
	return ROGER_OK;
}

/* Print a staged line, with its number, for the store; false: there are no more lines. */
static bool compose_line(void *context, size_t line, struct rg_buf *out)
{
	const struct rg_engine *engine = context;
	const struct rg_staged *staged;
	size_t cut;

	rg_assert(line <= engine->staged_count);
	if (line == engine->staged_count)
		return false;
	staged = &engine->staged[line];
	cut = staged->number_at == SIZE_MAX ? staged->to : staged->number_at;
	rg_buf_add(out, engine->text.data + staged->from, cut - staged->from);
	if (staged->number_at != SIZE_MAX) {
		if (staged->added->seq)
			rg_message_print_number(staged->added->seq, staged->added->epoch, out);
		rg_buf_add(out, engine->text.data + cut, staged->to - cut);
	}
	return true;
}

/* Tell readers without the index that lines before end may not be first lines of messages. */
static void announce_as_later(struct rg_engine *engine, uint64_t end)
{
	struct rg_shared *shared = rg_store_shared(engine->store);

	rg_assert(rg_store_took(engine->store, RG_LOCK_APPEND));
	if (shared)
		atomic_store(&shared->own_from, end);
}

/* Announce staged changes that look like new messages.  Numbers and chains make lines longer. */
static void announce_changes(struct rg_engine *engine, uint64_t end)
{
	enum { MORE_BYTES = 128 };
	size_t i;

	for (i = 0; i < engine->staged_count; i++)
		if (!engine->staged[i].added && rg_message_is_as_sent(&engine->staged[i].after))
			announce_as_later(engine, end + engine->text.length +
							  engine->staged_count * MORE_BYTES);
}

/* Number and write the lines; they are counted already. */
static int append_numbered(struct rg_engine *engine, const struct rg_head *before,
			   uint64_t *ret_end, struct roger_err *err)
{
	uint64_t start = before->end;
	size_t i;
	int r;

	rg_assert(rg_store_took(engine->store, RG_LOCK_APPEND));
	engine->left = engine->leaves_sync && before->synced == before->end;
	announce_changes(engine, before->end);
	r = give_numbers(engine, err);
	if (r == ROGER_OK)
		r = engine->store->ops->append(engine->store, compose_line, engine, ret_end, err);
	if (r < 0 || !*ret_end)
		return r;
	for (i = 0; i < engine->staged_count; i++)
		if (!engine->staged[i].added)
			rg_tally_change(engine->store, &engine->staged[i].before,
					&engine->staged[i].after);
	atomic_fetch_add(&before->shared->state_wanted, 1);
	/* Nothing up to there concerns the send logs. */
	if (!rg_engine_has_sends(engine))
		atomic_compare_exchange_strong(&before->shared->logged, &start, *ret_end);
	return ROGER_OK;
}

/* ------------------------------------------------------ when figures say maybe -- */

/* Count the messages, up to and with `which`, that are added to the same mailbox or issue. */
static int64_t added_alike(const struct rg_engine *engine, size_t which, bool whole_issue)
{
	const struct roger_message *message = engine->staged[which].added, *other;
	int64_t alike = 0;
	size_t i;

	rg_assert(which < engine->staged_count && message);
	for (i = 0; i <= which; i++) {
		other = engine->staged[i].added;
		if (other && rg_str_equal(other->issue, message->issue) &&
		    (whole_issue || rg_str_equal(other->to, message->to)))
			alike++;
	}
	return alike;
}

/* Read everything appended into the index, synced or not: an exact count must be complete. */
static int refresh_to_end(struct rg_engine *engine, struct roger_err *err)
{
	uint64_t end;
	int r;

	rg_assert(!rg_store_took(engine->store, RG_LOCK_APPEND));
	r = rg_store_begin(engine->store, 0, 0, err);
	if (r < 0)
		return r;
	end = rg_store_head(engine->store).end;
	rg_store_release(engine->store, RG_LOCK_APPEND);
	return rg_index_refresh(engine->index, end, err);
}

/* Count exactly, by the index: over the limit is an outcome; otherwise correct the figure. */
static int resolve_limit(struct rg_engine *engine, size_t which, bool whole_issue,
			 struct rg_outcome *ret_outcome, struct roger_err *err)
{
	const struct rg_config *config = engine->workspace->config;
	const struct roger_message *message = engine->staged[which].added;
	const struct rg_query query = { .issue = message->issue,
					.to = whole_issue ? RG_STR("") : message->to };
	int64_t limit =
		whole_issue ? config->messages_per_issue_max : config->messages_per_issue_phase_max;
	int64_t exact;
	int r;

	r = refresh_to_end(engine, err);
	if (r == ROGER_OK)
		r = rg_index_count(engine->index, &query, &exact, err);
	if (r < 0)
		return r;
	if (exact + added_alike(engine, which, whole_issue) > limit) {
		*ret_outcome = (struct rg_outcome){ whole_issue ? RG_OVER_ISSUE : RG_OVER_MAILBOX,
						    message, exact };
		return ROGER_OK;
	}
	/* Store the exact count as the figure, unless the journal has grown since the index was
	 * asked. */
	r = rg_store_begin(engine->store, 0, 1, err);
	if (r < 0)
		return r;
	if (rg_store_head(engine->store).end == rg_index_end(engine->index))
		rg_tally_put_count(engine->store, rg_tally_box(query.issue, query.to),
				   (uint64_t)exact);
	rg_store_release(engine->store, RG_LOCK_APPEND);
	return ROGER_OK;
}

static bool compose_one(void *context, size_t line, struct rg_buf *out)
{
	const struct roger_str *body = context;

	if (line == 0)
		rg_buf_add_str(out, *body);
	return line == 0;
}

/* Append a line again, unchanged but for its chain. */
static int append_again(struct rg_engine *engine, const struct rg_entry *entry, uint64_t *ret_end,
			struct roger_err *err)
{
	struct rg_store *store = engine->store;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = RG_LINE_BYTES_MAX + 1 };
	struct roger_str body;
	uint64_t unused;
	int r;

	rg_assert(!rg_store_took(engine->store, RG_LOCK_APPEND));
	r = rg_store_read_line(store, entry->offset, entry->length, &line, err);
	if (r == ROGER_OK)
		r = rg_store_begin(store, 0, 0, err);
	if (r < 0)
		return r;
	if (!rg_chain_split(rg_buf_str(&line), &unused, &body))
		body = (struct roger_str){ line.data, line.length ? line.length - 1 : 0 };
	announce_as_later(engine, rg_store_head(store).end + line.length);
	r = store->ops->append(store, compose_one, &body, ret_end, err);
	rg_store_release(store, RG_LOCK_APPEND);
	if (r == ROGER_OK && !*ret_end)
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "the control file was rebuilt meanwhile; try again");
	return r;
}

/* Make the first result of a key durable, since it is returned again: append its lines once more if
 * their sync failed. */
static int secure_first_result(struct rg_engine *engine, const struct rg_query *key,
			       struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_head head = rg_store_head(engine->store);
	struct rg_entries entries;
	uint64_t end = 0;
	size_t i;
	int r = rg_index_find(engine->index, key, arena, &entries, NULL, err);

	for (i = 0; r == ROGER_OK && i < entries.count; i++)
		if (rg_head_lost(&head, entries.items[i].offset))
			r = append_again(engine, &entries.items[i], &end, err);
	if (r == ROGER_OK && end)
		r = engine->store->ops->sync(engine->store, NULL, end, err);
	return r;
}

/* Ask the index whether a key was used before; *ret_end: if not, it is unused up to here. */
static int resolve_key(struct rg_engine *engine, size_t which, struct rg_outcome *ret_outcome,
		       uint64_t *ret_end, struct roger_err *err)
{
	const struct roger_message *message = engine->staged[which].added;
	/* A later attempt goes to one recipient alone. */
	const struct rg_query query = { .key = message->key,
					.cycle = message->cycle,
					.from = message->from,
					.to = message->attempt > 1 ? message->to
								   : (struct roger_str){ "", 0 },
					.anywhere = true };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_message_list found;
	uint64_t settled;
	size_t i;
	int r = arena ? refresh_to_end(engine, err) : rg_fail_memory(err);

	rg_assert(message && message->key.length);
	if (r == ROGER_OK)
		r = rg_index_messages(engine->index, &query, arena, &found, NULL, err);
	if (r < 0)
		return r;
	/* If the journal has grown, earlier answers about keys are out of date. */
	for (i = 0; *ret_end != rg_index_end(engine->index) && i < engine->staged_count; i++)
		engine->staged[i].key_is_new = false;
	*ret_end = rg_index_end(engine->index);
	engine->staged[which].key_is_new = true;
	if (!found.count)
		return ROGER_OK;
	/* Check that the journal's file still has its name: other processes open that one. */
	r = rg_engine_settle(engine, &settled, err);
	if (r < 0)
		return r;
	*ret_outcome = (struct rg_outcome){ .verdict = RG_KEY_KNOWN, .which = message };
	return secure_first_result(engine, &query, arena, err);
}

static size_t count_adds(const struct rg_engine *engine)
{
	size_t adds = 0, i;

	for (i = 0; i < engine->staged_count; i++)
		adds += engine->staged[i].added != NULL;
	return adds;
}

/* The lock can be lost with the control file; then two processes change messages at once.  Each
 * detects the other's lines, because nobody announced them in its own control file. */
static bool still_alone(struct rg_engine *engine)
{
	rg_assert(engine->exclusive);
	return rg_store_holds(engine->store, RG_LOCK_CHANGE) &&
	       (!engine->has_looked || engine->adoptions == rg_store_head(engine->store).adoptions);
}

/* Try once: lines were appended (*ret_end set), there is an outcome, or neither: try again. */
static int try_append(struct rg_engine *engine, uint64_t *keys_checked_to,
		      struct rg_outcome *ret_outcome, uint64_t *ret_end, struct roger_err *err)
{
	enum rg_verdict maybe;
	struct rg_head before;
	size_t which = 0;
	int r;

	rg_assert(engine->staged_count && !rg_store_took(engine->store, RG_LOCK_APPEND));
	r = rg_engine_prepare_epoch(engine, true, err);
	if (r == ROGER_OK)
		r = rg_store_begin(engine->store, RG_TALLY_AGENTS * engine->staged_count,
				   RG_TALLY_COUNTS * engine->staged_count, err);
	/* New damage is examined first: if only a line was altered, mail continues. */
	if (r == ROGER_EDATA && rg_engine_examine_damage(engine))
		return ROGER_OK;
	if (r == ROGER_EDATA && rg_engine_has_unexamined(engine))
		return rg_fail(err, ROGER_EIO, 0, "nothing is stored: %s", engine->trouble.message);
	if (r < 0)
		return r;
	/* The control file was replaced: load the epoch into the new one first. */
	if (!rg_engine_prepared(engine)) {
		rg_store_release(engine->store, RG_LOCK_APPEND);
		return ROGER_OK;
	}
	if (engine->exclusive && !still_alone(engine)) {
		rg_store_release(engine->store, RG_LOCK_APPEND);
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "another process took over the message lock; "
			       "try again");
	}
	before = rg_store_head(engine->store);
	maybe = count_added(engine, *keys_checked_to == before.end, &which);
	if (maybe == RG_COMMITTED)
		r = append_numbered(engine, &before, ret_end, err);
	rg_store_release(engine->store, RG_LOCK_APPEND);
	if (r < 0 || *ret_end)
		return r;

	if (maybe == RG_KEY_KNOWN)
		return resolve_key(engine, which, ret_outcome, keys_checked_to, err);
	return maybe == RG_COMMITTED
		       ? r
		       : resolve_limit(engine, which, maybe == RG_OVER_ISSUE, ret_outcome, err);
}

static int append_staged(struct rg_engine *engine, struct rg_outcome *ret_outcome,
			 uint64_t *ret_end, struct roger_err *err)
{
	uint64_t keys_checked_to = UINT64_MAX;
	int tries, r;

	*ret_end = 0;
	for (tries = 0; tries < TRIES_MAX; tries++) {
		r = try_append(engine, &keys_checked_to, ret_outcome, ret_end, err);
		if (r < 0 || *ret_end || ret_outcome->verdict != RG_COMMITTED)
			return r;
	}
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "too many messages arrive in this issue at once; try again");
}

/* The lines were written but may not be on disk: without an idempotency key, sending again may
 * store them twice. */
static int tell_unsure(const struct rg_engine *engine, int r, struct roger_err *err)
{
	const struct roger_message *first = NULL;
	struct roger_err why;
	size_t i;

	rg_assert(r < 0);
	for (i = engine->staged_count; i > 0; i--)
		if (engine->staged[i - 1].added)
			first = engine->staged[i - 1].added;
	if (!first || !err)
		return r;
	why = *err;
	return rg_fail(err, r, why.system_errno, "%s; it may still be stored: %.*s%s", why.message,
		       RG_STR_ARGS(first->id), count_adds(engine) > 1 ? " and those after it" : "");
}

/* Record that another program wrote a line just before ours.  If that fails, `verify` reports the
 * line as inserted. */
static void note_beside(struct rg_engine *engine, uint64_t end)
{
	struct rg_log_file file = rg_store_messages;

	file.shown = engine->workspace->config->jsonl_file;
	file.end = end;
	(void)!rg_engine_note_gap(engine, &file, engine->store->beside_line,
				  engine->store->beside_byte, RG_STR("roger"),
				  RG_STR("another program wrote it at the same moment"), NULL);
	engine->store->beside_line = 0;
}

int rg_engine_gathered(struct rg_engine *engine, struct roger_err *err)
{
	int r = ROGER_OK;

	if (engine->store->gathered) {
		r = engine->store->ops->sync(engine->store, NULL, engine->store->gathered, err);
		if (r == ROGER_OK && engine->gathered_sends)
			rg_engine_log_sends(engine, engine->store->gathered);
		rg_engine_save_state(engine, false);
	}
	engine->store->gathered = 0;
	engine->gathers = engine->gathered_sends = false;
	return r;
}

int rg_engine_commit(struct rg_engine *engine, struct rg_outcome *ret_outcome,
		     struct roger_err *err)
{
	struct rg_outcome outcome = { .verdict = RG_COMMITTED };
	uint64_t end = 0;
	bool stored = false, gathered;
	int r = ROGER_OK;

	rg_assert(!rg_store_took(engine->store, RG_LOCK_RECORDS));
	if (engine->staged_count) {
		/* The copies in the archive must be durable before the journal drops a message. */
		r = rg_engine_put_archive(engine, err);
		if (r == ROGER_OK)
			r = append_staged(engine, &outcome, &end, err);
	}
	/* The next transaction need not wait for this sync: it syncs what it saw. */
	end_exclusive(engine);
	if (engine->store->beside_line)
		note_beside(engine, end);
	if (r == ROGER_OK && end) {
		rg_engine_note_accepted(engine);
		gathered = engine->gathers && count_adds(engine) == engine->staged_count;
		if (gathered) {
			engine->store->gathered = end;
			engine->gathered_sends |= rg_engine_has_sends(engine);
		} else if (!engine->left) {
			r = engine->store->ops->sync(engine->store, NULL, end, err);
		}
		if (r == ROGER_ETIMEOUT)
			r = tell_unsure(engine, r, err);
		if (r == ROGER_OK && !gathered && rg_engine_has_sends(engine))
			rg_engine_log_sends(engine, end);
		if (!gathered)
			rg_engine_save_state(engine, false);
	}
	if (r == ROGER_OK) {
		*ret_outcome = outcome;
		stored = outcome.verdict == RG_COMMITTED && engine->staged_count;
		engine->stored += stored;
		engine->changed += stored ? engine->staged_count : 0;
	}
	rg_engine_rollback(engine);
	/* A handle that writes little makes its checkpoint when it closes, after the answer. */
	if (stored && engine->stored % CHECKPOINT_EACH == CHECKPOINT_EACH - 1)
		rg_engine_checkpoint(engine, false);
	return r;
}
