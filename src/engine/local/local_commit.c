/* A transaction of the local engine: staged lines, one append, one sync. */
#include "engine/local/local_engine.h"

#include <stdlib.h>

#include "store/lines.h"

enum { CHANGE_WAIT_MS = RG_LOCK_WAIT_MS, TRIES_MAX = 100, STATE_PAUSE_NS = 100000000 };

int rg_local_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int r;

	rg_local_rollback(engine);
	if (!exclusive)
		return ROGER_OK;
	rg_local_look_at_damage(local);
	r = rg_journal_take(local->journal, RG_LOCK_CHANGE, CHANGE_WAIT_MS, err);
	local->exclusive = r == ROGER_OK;
	local->has_looked = false;
	return r;
}

static void end_exclusive(struct rg_local *local)
{
	if (local->exclusive)
		rg_journal_release(local->journal, RG_LOCK_CHANGE);
	local->exclusive = false;
}

void rg_local_rollback(struct rg_engine *engine)
{
	struct rg_local *local = rg_local_of(engine);

	local->staged_count = 0;
	rg_buf_clear(&local->text);
	end_exclusive(local);
}

/* ------------------------------------------------------------- staging -- */

static struct rg_staged *stage(struct rg_local *local)
{
	size_t capacity = local->staged_capacity ? local->staged_capacity * 2 : 8;
	struct rg_staged *grown;

	if (local->staged_count == local->staged_capacity) {
		grown = realloc(local->staged, capacity * sizeof *grown);
		if (!grown)
			return NULL;
		local->staged = grown;
		local->staged_capacity = capacity;
	}
	local->staged[local->staged_count] = (struct rg_staged){ 0 };
	return &local->staged[local->staged_count++];
}

/* All of the line but its number is made before the lock is taken. */
static int print(struct rg_local *local, struct rg_staged *staged,
		 const struct roger_message *message, struct roger_err *err)
{
	staged->from = local->text.length;
	rg_message_print(message, &local->text, &staged->number_at);
	staged->to = local->text.length;
	if (local->text.failed)
		return rg_fail_memory(err);
	/* The number and the chain are still to come. */
	if (staged->to - staged->from > RG_LINE_BYTES_MAX - 200)
		return rg_fail_member(err, ROGER_EDATA, "content",
				      "content: with its metadata and written as JSON it takes "
				      "more than %d bytes",
				      RG_LINE_BYTES_MAX - 200);
	return ROGER_OK;
}

int rg_local_add(struct rg_engine *engine, struct roger_message *message, bool new_number,
		 struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_staged *staged = stage(local);

	if (!staged)
		return rg_fail_memory(err);
	rg_assert(message->seq == 0 && (new_number || local->staged_count > 1));
	staged->added = message;
	staged->new_number = new_number;
	return print(local, staged, message, err);
}

int rg_local_bring(struct rg_engine *engine, struct roger_message *message, int64_t number,
		   struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_staged *staged = stage(local);

	if (!staged)
		return rg_fail_memory(err);
	rg_assert(local->exclusive && message->seq == 0 && message->via.length);
	staged->added = message;
	staged->brought = true;
	staged->number = number;
	return print(local, staged, message, err);
}

int rg_local_change(struct rg_engine *engine, const struct roger_message *before,
		    const struct roger_message *after, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_staged *staged = stage(local);
	int r;

	if (!staged)
		return rg_fail_memory(err);
	rg_assert(local->exclusive);
	staged->before = *before;
	staged->after = *after;
	r = print(local, staged, after, err);
	staged->number_at = SIZE_MAX; /* a foreign message without a number stays without */
	return r;
}

int rg_local_archive(struct rg_engine *engine, const struct roger_message *message,
		     struct roger_err *err)
{
	struct roger_message before = *message;

	rg_assert(message->archived_at_ms > 0);
	before.archived_at_ms = 0;
	return rg_local_change(engine, &before, message, err);
}

/* ---------------------------------------------------- under the append lock -- */

enum check { PASSED, KEY_MAYBE, MAILBOX_MAYBE, ISSUE_MAYBE };

/*
 * Count what is added and look at keys and limits as the figures rise.  When
 * one does not pass, all is as before and *ret_which says which.
 */
static enum check count_added(struct rg_local *local, bool keys_checked, size_t *ret_which)
{
	const struct rg_config *config = local->workspace->config;
	struct rg_control *control = rg_journal_control(local->journal);
	enum check check = PASSED;
	size_t i;

	for (i = 0; i < local->staged_count && check == PASSED; i++) {
		const struct rg_staged *staged = &local->staged[i];
		const struct roger_message *message = staged->added;

		if (!message)
			continue;
		if (message->idempotent_key.length && (staged->new_number || staged->brought) &&
		    !(keys_checked && staged->key_is_new) && rg_tally_knows_key(control, message)) {
			check = KEY_MAYBE;
			break;
		}
		rg_tally_add(control, message);
		if (rg_tally_mailbox(control, message) > config->messages_per_issue_phase_max)
			check = MAILBOX_MAYBE;
		else if (rg_tally_issue(control, message) > config->messages_per_issue_max)
			check = ISSUE_MAYBE;
	}
	if (check == PASSED)
		return PASSED;
	*ret_which = check == KEY_MAYBE ? i : i - 1;
	while (i > 0)
		if (local->staged[--i].added)
			rg_tally_undo(control, local->staged[i].added);
	return check;
}

static int give_numbers(struct rg_local *local, struct roger_err *err)
{
	struct rg_control *control = rg_journal_control(local->journal);
	int64_t epoch = rg_control_epoch(control), seq = 0;
	struct roger_message *message;
	size_t i;

	for (i = 0; i < local->staged_count; i++) {
		message = local->staged[i].added;
		if (!message)
			continue;
		rg_tally_know(control, message->to_phase);
		if (local->staged[i].brought) {
			message->seq = local->staged[i].number;
			message->epoch = message->seq ? epoch : 0;
			rg_tally_number(control, message);
			continue;
		}
		if (local->staged[i].new_number)
			seq = rg_tally_next_number(control, message->from_phase);
		if (seq > RG_SEQ_MAX)
			return rg_fail(err, ROGER_EREFUSED, 0,
				       "the sender's numbers are used up; `roger session new` "
				       "starts afresh");
		message->seq = seq;
		message->epoch = epoch;
	}
	return ROGER_OK;
}

static void compose(struct rg_local *local)
{
	const struct rg_staged *staged;
	struct rg_buf *out;
	size_t i, cut;

	for (i = 0; i < local->staged_count; i++) {
		staged = &local->staged[i];
		out = rg_journal_line(local->journal);
		cut = staged->number_at == SIZE_MAX ? staged->to : staged->number_at;
		rg_buf_add(out, local->text.data + staged->from, cut - staged->from);
		if (cut != staged->to || staged->number_at != SIZE_MAX) {
			if (staged->added->seq)
				rg_message_print_number(staged->added->seq, staged->added->epoch,
							out);
			rg_buf_add(out, local->text.data + cut, staged->to - cut);
		}
		rg_journal_end_line(local->journal);
	}
}

static void count_changes(struct rg_local *local)
{
	struct rg_control *control = rg_journal_control(local->journal);
	size_t i;

	for (i = 0; i < local->staged_count; i++)
		if (!local->staged[i].added)
			rg_tally_change(control, &local->staged[i].before, &local->staged[i].after);
}

/* Number, write; the figures are counted already. */
static int append(struct rg_local *local, uint64_t *ret_end, struct roger_err *err)
{
	uint64_t start = rg_journal_end(local->journal);
	int r;

	r = give_numbers(local, err);
	if (r < 0)
		return r;
	compose(local);
	r = rg_journal_write(local->journal, ret_end, err);
	if (r < 0 || !*ret_end)
		return r;
	count_changes(local);
	if (!rg_local_has_sends(local))
		rg_local_pass_over(local, start, *ret_end);
	return ROGER_OK;
}

/* ------------------------------------------------------ when figures say maybe -- */

static int exact_count(struct rg_local *local, const struct roger_message *message,
		       bool whole_issue, int64_t *ret_count, struct roger_err *err)
{
	struct rg_query query = { .issue = message->issue_id };
	int tries = 0, r;

	if (!whole_issue)
		query.to = message->to_phase;
	do
		r = rg_index_count(local->index, &query, ret_count, err);
	while (rg_local_mended(local, &tries, &r, err));
	return r;
}

/* What this transaction adds to the same mailbox or issue, up to and with which. */
static int64_t added_alike(const struct rg_local *local, size_t which, bool whole_issue)
{
	const struct roger_message *message = local->staged[which].added, *other;
	int64_t alike = 0;
	size_t i;

	for (i = 0; i <= which; i++) {
		other = local->staged[i].added;
		if (other && rg_str_equal(other->issue_id, message->issue_id) &&
		    (whole_issue || rg_str_equal(other->to_phase, message->to_phase)))
			alike++;
	}
	return alike;
}

/* Put the exact number into the tally, unless something came since the index was asked. */
static int correct_count(struct rg_local *local, const struct roger_message *message,
			 bool whole_issue, int64_t exact, struct roger_err *err)
{
	uint64_t hash =
		whole_issue ? rg_count_hash(RG_COUNT_ISSUE, message->issue_id, RG_STR(""))
			    : rg_count_hash(RG_COUNT_MAILBOX, message->issue_id, message->to_phase);
	int r;

	r = rg_journal_lock(local->journal, 0, 1, err);
	if (r < 0)
		return r;
	if (rg_journal_end(local->journal) == rg_index_end(local->index))
		rg_control_put_count(rg_journal_control(local->journal), hash, (uint64_t)exact);
	rg_journal_unlock(local->journal);
	return ROGER_OK;
}

/* Everything appended, without waiting for its sync: what is counted must be complete. */
static int refresh_to_end(struct rg_local *local, struct roger_err *err)
{
	uint64_t end;
	int r;

	r = rg_journal_lock(local->journal, 0, 0, err);
	if (r < 0)
		return r;
	end = rg_journal_end(local->journal);
	rg_journal_unlock(local->journal);
	return rg_index_refresh(local->index, end, err);
}

static int settle_limit(struct rg_local *local, size_t which, bool whole_issue,
			struct rg_outcome *ret_outcome, struct roger_err *err)
{
	const struct rg_config *config = local->workspace->config;
	const struct roger_message *message = local->staged[which].added;
	int64_t limit =
		whole_issue ? config->messages_per_issue_max : config->messages_per_issue_phase_max;
	int64_t exact;
	int r;

	r = refresh_to_end(local, err);
	if (r == ROGER_OK)
		r = exact_count(local, message, whole_issue, &exact, err);
	if (r < 0)
		return r;
	if (exact + added_alike(local, which, whole_issue) > limit) {
		*ret_outcome = (struct rg_outcome){ whole_issue ? RG_OVER_ISSUE : RG_OVER_MAILBOX,
						    message, exact };
		return ROGER_OK;
	}
	return correct_count(local, message, whole_issue, exact, err);
}

/* The journal has grown: what was asked about keys is old. */
static void forget_keys(struct rg_local *local)
{
	size_t i;

	for (i = 0; i < local->staged_count; i++)
		local->staged[i].key_is_new = false;
}

/* One line anew, as it is but for its chain. */
static int append_again(struct rg_local *local, const struct rg_entry *entry, uint64_t *ret_end,
			struct roger_err *err)
{
	struct roger_str body;
	struct rg_buf line;
	uint64_t unused;
	int r;

	rg_buf_init(&line, RG_LINE_BYTES_MAX + 1);
	r = rg_journal_read(local->journal, entry->offset, entry->length, &line, err);
	if (r == ROGER_OK)
		r = rg_journal_lock(local->journal, 0, 0, err);
	if (r == ROGER_OK) {
		if (!rg_chain_split(rg_buf_str(&line), &unused, &body))
			body = (struct roger_str){ line.data, line.length ? line.length - 1 : 0 };
		rg_buf_add_str(rg_journal_line(local->journal), body);
		rg_journal_end_line(local->journal);
		r = rg_journal_write(local->journal, ret_end, err);
		rg_journal_unlock(local->journal);
		if (r == ROGER_OK && !*ret_end)
			r = rg_fail(err, ROGER_ETIMEOUT, 0,
				    "the control file was made anew meanwhile; try again");
	}
	rg_buf_deinit(&line);
	return r;
}

/*
 * The first result of a key is about to be given again.  Where its sync went
 * wrong, it is made durable now, by lines that a new sync covers.
 */
static int secure_first_result(struct rg_local *local, const struct rg_query *key,
			       struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_entries entries;
	uint64_t end = 0;
	size_t i;
	int tries = 0, r;

	if (!arena)
		return rg_fail_memory(err);
	do
		r = rg_index_find(local->index, key, arena, &entries, err);
	while (rg_local_mended(local, &tries, &r, err));
	for (i = 0; r == ROGER_OK && i < entries.count; i++)
		if (rg_journal_lost(local->journal, entries.items[i].offset))
			r = append_again(local, &entries.items[i], &end, err);
	if (r == ROGER_OK && end)
		r = rg_journal_sync(local->journal, end, err);
	rg_arena_free(arena);
	return r;
}

/* Was the key used in the cycle of the message? */
static int find_key(struct rg_local *local, const struct rg_query *query, bool *ret_known,
		    struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_messages found = { 0 };
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_local_find_known(local, query, arena, &found, err);
	*ret_known = found.count > 0;
	rg_arena_free(arena);
	return r;
}

/* *ret_end: up to there the key is known not to be. */
static int settle_key(struct rg_local *local, size_t which, struct rg_outcome *ret_outcome,
		      uint64_t *ret_end, struct roger_err *err)
{
	const struct roger_message *message = local->staged[which].added;
	const struct rg_query query = { .key = message->idempotent_key,
					.cycle = message->cycle_id,
					.from = message->from_phase,
					.anywhere = true };
	bool known = false;
	int r;

	r = refresh_to_end(local, err);
	if (r == ROGER_OK)
		r = find_key(local, &query, &known, err);
	if (r < 0)
		return r;
	if (*ret_end != rg_index_end(local->index))
		forget_keys(local);
	*ret_end = rg_index_end(local->index);
	local->staged[which].key_is_new = true;
	if (!known)
		return ROGER_OK;
	r = rg_journal_check_name(local->journal, err);
	if (r < 0)
		return r;
	*ret_outcome = (struct rg_outcome){ .verdict = RG_KEY_KNOWN, .which = message };
	return secure_first_result(local, &query, err);
}

static size_t count_adds(const struct rg_local *local)
{
	size_t adds = 0, i;

	for (i = 0; i < local->staged_count; i++)
		adds += local->staged[i].added != NULL;
	return adds;
}

/*
 * The lock can be lost with the control file, and then two change messages at
 * once.  Each sees what the other appended, since nobody had published it there.
 */
static bool still_alone(struct rg_local *local)
{
	return rg_journal_holds(local->journal, RG_LOCK_CHANGE) &&
	       (!local->has_looked || local->adoptions == rg_journal_adoptions(local->journal));
}

/* One try: appended (*ret_end set), an outcome, or neither: try again. */
static int try_append(struct rg_local *local, uint64_t *keys_checked_to,
		      struct rg_outcome *ret_outcome, uint64_t *ret_end, struct roger_err *err)
{
	size_t adds = count_adds(local), which = 0;
	enum check check;
	int r;

	r = rg_local_prepare_epoch(local, err);
	if (r == ROGER_OK)
		r = rg_journal_lock(local->journal, RG_TALLY_AGENTS * local->staged_count,
				    RG_TALLY_COUNTS * local->staged_count, err);
	/* Where nobody has looked yet what is damaged, it may be a line, and mail goes on. */
	if (r == ROGER_EDATA && rg_local_look_at_damage(local))
		return ROGER_OK;
	if (r < 0)
		return r;
	/* Another one took its place since: its epoch is looked at first. */
	if (!rg_local_prepared(local)) {
		rg_journal_unlock(local->journal);
		return ROGER_OK;
	}
	if (local->exclusive && !still_alone(local)) {
		rg_journal_unlock(local->journal);
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "another process was given the right to change messages meanwhile; "
			       "try again");
	}
	check = adds ? count_added(local, *keys_checked_to == rg_journal_end(local->journal),
				   &which)
		     : PASSED;
	if (check == PASSED)
		r = append(local, ret_end, err);
	rg_journal_unlock(local->journal);

	switch (check) {
	case PASSED:
		return r;
	case KEY_MAYBE:
		return settle_key(local, which, ret_outcome, keys_checked_to, err);
	case MAILBOX_MAYBE:
		return settle_limit(local, which, false, ret_outcome, err);
	case ISSUE_MAYBE:
		return settle_limit(local, which, true, ret_outcome, err);
	}
	return r;
}

static int append_staged(struct rg_local *local, struct rg_outcome *ret_outcome, uint64_t *ret_end,
			 struct roger_err *err)
{
	uint64_t keys_checked_to = UINT64_MAX;
	int tries, r;

	*ret_end = 0;
	for (tries = 0; tries < TRIES_MAX; tries++) {
		r = try_append(local, &keys_checked_to, ret_outcome, ret_end, err);
		if (r < 0 || *ret_end || ret_outcome->verdict != RG_COMMITTED)
			return r;
	}
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "too much comes to the same issue at once; try again");
}

/* Copies in the archive are durable before a message leaves. */
static int archive_first(struct rg_local *local, struct roger_err *err)
{
	size_t i;

	for (i = 0; i < local->staged_count; i++)
		if (!local->staged[i].added && local->staged[i].after.archived_at_ms)
			return rg_local_put_archive(local, local->staged, local->staged_count, err);
	return ROGER_OK;
}

static bool any_seen(const struct rg_local *local)
{
	size_t i;

	for (i = 0; i < local->staged_count; i++)
		if (!local->staged[i].added && !local->staged[i].before.read &&
		    local->staged[i].after.read)
			return true;
	return false;
}

/* It was written, but nobody can say whether it is on disk: then a plain send again makes two of
 * it. */
static int tell_unsure(const struct rg_local *local, int r, struct roger_err *err)
{
	const struct roger_message *first = NULL;
	struct roger_err why;
	size_t i;

	for (i = local->staged_count; i > 0; i--)
		if (local->staged[i - 1].added)
			first = local->staged[i - 1].added;
	if (!first || !err)
		return r;
	why = *err;
	return rg_fail(err, r, why.system_errno, "%s; it may be stored all the same: %.*s%s",
		       why.message, RG_STR_ARGS(first->id),
		       count_adds(local) > 1 ? " and those after it" : "");
}

int rg_local_commit(struct rg_engine *engine, struct rg_outcome *ret_outcome, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_outcome outcome = { .verdict = RG_COMMITTED };
	uint64_t end = 0;
	int r = ROGER_OK;

	if (local->staged_count) {
		r = archive_first(local, err);
		if (r == ROGER_OK)
			r = append_staged(local, &outcome, &end, err);
	}
	/* The next one to change something need not wait for our sync: it syncs what it saw. */
	end_exclusive(local);
	if (r == ROGER_OK && end) {
		rg_local_want_state(local, any_seen(local));
		r = rg_journal_sync(local->journal, end, err);
		if (r == ROGER_ETIMEOUT)
			r = tell_unsure(local, r, err);
		if (r == ROGER_OK && rg_local_has_sends(local))
			rg_local_log_sends(local, end);
		rg_local_save_state(local, false);
	}
	if (r == ROGER_OK)
		*ret_outcome = outcome;
	rg_local_rollback(engine);
	return r;
}
