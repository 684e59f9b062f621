/*
 * dead_letters, redeliver, stale: messages that were given up (seed 000).
 *
 * A dead letter is never removed.  Redelivering makes one more attempt of the same
 * message, or gives it back where its leases expired; a late reading by its recipient is told by
 * the message itself.
 */
#include "ops/caller.h"
#include "ops/keys/attempt.h"
#include "facts/retirement.h"

/* ------------------------------------------------------------- listing -- */

static bool is_asked(const struct roger_dead_letters_request *request,
		     const struct roger_dead_letter *letter)
{
	if (request->status && rg_dead_letter_counts_as(letter) != request->status)
		return false;
	return !request->ids.count || rg_str_among(request->ids, letter->id) ||
	       rg_str_among(request->ids, letter->filed_as);
}

int rg_verb_dead_letters(struct roger *roger, const struct roger_dead_letters_request *request,
			 struct roger_dead_letters_reply *reply, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS,
					    .owner = request->from,
					    .target = request->to,
					    .task = request->task,
					    .cycle = request->cycle,
					    .states = true };
	struct rg_reading reading = { roger, reply->memory, err, ROGER_OK };
	const struct rg_records found = rg_read_letters(&reading, &query);
	struct roger_cycle current = { 0 };
	size_t kept = 0, i;

	if (!rg_reading_got(&reading, rg_cycle_current(roger, reply->memory, &current, err)))
		return reading.r;
	for (i = 0; i < found.count; i++)
		if (is_asked(request, &found.letters[i]))
			found.letters[kept++] = found.letters[i];
	if (kept == 0 && request->ids.count)
		return rg_fail_member(err, ROGER_ENOENT, "ids",
				      "no dead letter '%.*s'; `roger dead` lists them",
				      RG_STR_ARGS(request->ids.items[0]));
	reply->dead_letters = (struct roger_dead_letter_list){ found.letters, kept };
	reply->cycle = current.id;
	return rg_dead_letters_of_cycle(roger, current.id, reply->memory, &reply->in_cycle,
					&reply->alarm, err);
}

/* ------------------------------------------------------------ changing -- */

/* Print the reason, and who gave it. */
static int print_note(const struct roger *roger, struct roger_str reason, struct rg_arena *arena,
		      struct roger_str *ret, struct roger_err *err)
{
	const bool both = roger->caller.name.length && reason.length;

	if (!rg_arena_print(arena, ret, "%.*s%s" RG_BY_WHOM, RG_STR_ARGS(reason), both ? ";" : "",
			    RG_BY_WHOM_ARGS(roger)))
		return rg_fail_memory(err);
	if (rg_str_begins(*ret, " "))
		*ret = (struct roger_str){ ret->data + 1, ret->length - 1 };
	return ROGER_OK;
}

static int find_one(struct roger *roger, struct roger_str id, struct rg_arena *arena,
		    struct roger_dead_letter *ret_letter, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS, .id = id, .states = true };
	struct rg_reading reading = { roger, arena, err, ROGER_OK };
	const struct rg_records found = rg_read_letters(&reading, &query);

	if (reading.r < 0)
		return reading.r;
	if (found.count == 0)
		return rg_fail_member(err, ROGER_ENOENT, "id",
				      "no dead letter '%.*s'; `roger dead` lists them",
				      RG_STR_ARGS(id));
	*ret_letter = found.letters[0];
	return ROGER_OK;
}

/* Find a letter that the caller may change: only its sender may, or the sender's successor. */
static int find_own(struct roger *roger, struct roger_str id, struct rg_arena *arena,
		    struct roger_dead_letter *ret_letter, struct roger_err *err)
{
	struct roger_retired_list retired;
	int r = find_one(roger, id, arena, ret_letter, err);

	if (r == ROGER_OK)
		r = rg_engine_retired(roger->engine, arena, &retired, err);
	return r < 0 ? r
		     : rg_caller_may_change(roger, "id", "dead letter", ret_letter->id,
					    ret_letter->from,
					    rg_retired_heir(&retired, ret_letter->from), err);
}

static int refuse_read(const struct roger_dead_letter *letter, struct roger_err *err)
{
	rg_assert(letter->delivered_at_ms > 0);
	return rg_fail_member(err, ROGER_EREFUSED, "id", "'%.*s' has read message '%.*s' meanwhile",
			      RG_STR_ARGS(letter->to), RG_STR_ARGS(letter->message));
}

/* Write the letter, as it is under the lock, with another status. */
static int change_letter(struct roger *roger, struct roger_str id,
			 enum roger_dead_letter_status status, struct roger_str reason,
			 struct roger_dead_letters_reply *reply, struct roger_err *err)
{
	struct roger_str note = { "", 0 };
	struct roger_dead_letter *letter = rg_arena_get(reply->memory, sizeof *letter);
	int64_t delivered_at_ms;
	bool same;
	int r;

	if (!letter)
		return rg_fail_memory(err);
	r = rg_engine_records_begin(roger->engine, err);
	if (r < 0)
		return r;
	r = find_own(roger, id, reply->memory, letter, err);
	if (r == ROGER_OK)
		r = print_note(roger, reason, reply->memory, &note, err);
	if (r == ROGER_OK && status == ROGER_STALE && letter->delivered_at_ms)
		r = refuse_read(letter, err);
	/* To mark it as stale once more changes nothing. */
	same = r == ROGER_OK && status == ROGER_STALE && letter->status == (int)status &&
	       (!reason.length || rg_str_equal(note, letter->note));
	if (r == ROGER_OK && !same) {
		delivered_at_ms = letter->delivered_at_ms;
		letter->status = status;
		letter->updated_at_ms = rg_clock_ms();
		letter->delivered_at_ms = 0;
		if (note.length)
			letter->note = note;
		r = rg_records_write(roger, RG_LOG_DEAD_LETTERS, RG_STR(""), letter, 1, err);
		letter->delivered_at_ms = delivered_at_ms;
	}
	rg_engine_records_end(roger->engine);
	reply->dead_letters = (struct roger_dead_letter_list){ letter, 1 };
	return r;
}

int rg_verb_stale(struct roger *roger, const struct roger_stale_request *request,
		  struct roger_dead_letters_reply *reply, struct roger_err *err)
{
	return change_letter(roger, request->id, ROGER_STALE, request->reason, reply, err);
}

/* Settle an attempt that nobody waits for; *ret_ended: the number of the last that is over. */
static int settle_attempt(struct roger *roger, const struct roger_message *message,
			  struct rg_arena *arena, int64_t *ret_ended, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .owner = message->from,
					    .message = message->id };
	const int64_t attempt = message->attempt ? message->attempt : 1;
	struct rg_records lines;
	bool settled, unused;
	size_t i;
	int r;

	rg_assert(!message->read);
	r = rg_records_read(roger, &query, arena, &lines, err);
	if (r == ROGER_OK)
		r = rg_attempt_settle(roger, message, lines.attempts, lines.count, arena, &settled,
				      &unused, err);
	if (r < 0)
		return r;
	/* Leave an attempt that somebody else has begun. */
	*ret_ended = rg_attempt_under_way(message) ? attempt - 1 : attempt;
	for (i = 0; i < lines.count; i++)
		if (!lines.attempts[i].pending && lines.attempts[i].attempt > *ret_ended)
			*ret_ended = lines.attempts[i].attempt;
	return ROGER_OK;
}

/* Can it be redelivered?  *ret_worn: it died for its leases, so no attempt is made. */
static int check_deliverable(struct roger *roger, const struct roger_dead_letter *letter,
			     struct rg_arena *arena, int64_t *ret_ended, bool *ret_worn,
			     struct roger_err *err)
{
	struct roger_message_list found;
	int r;

	if (letter->delivered_at_ms)
		return refuse_read(letter, err);
	r = rg_engine_find_ids(roger->engine, &letter->message, 1, arena, &found, err);
	if (r == ROGER_OK && (found.count == 0 || found.items[0].archived_at_ms))
		return rg_fail_member(err, ROGER_EREFUSED, "id",
				      "message '%.*s' is no longer in the mailbox; send it again",
				      RG_STR_ARGS(letter->message));
	if (r < 0)
		return r;
	if (found.items[0].read)
		return rg_fail_member(err, ROGER_EREFUSED, "id",
				      "message '%.*s' is over: '" RG_PERSON
				      "' acknowledged it in place of '%.*s'; send it again",
				      RG_STR_ARGS(letter->message), RG_STR_ARGS(letter->to));
	*ret_worn = found.items[0].dead_at_ms || rg_str_is(letter->cause, RG_CAUSE_LEASES);
	return *ret_worn ? ROGER_OK : settle_attempt(roger, &found.items[0], arena, ret_ended, err);
}

/* The attempt is begun before the letter says so: a kill in between leaves one attempt more. */
int rg_verb_redeliver(struct roger *roger, const struct roger_redeliver_request *request,
		      struct roger_dead_letters_reply *reply, struct roger_err *err)
{
	int64_t within_ms = request->within_ms ? request->within_ms
					       : roger->workspace->config->confirm_within_ms;
	struct roger_dead_letter letter;
	struct roger_cycle cycle;
	int64_t ended = 0;
	bool worn = false;
	int r;

	r = find_own(roger, request->id, reply->memory, &letter, err);
	if (r == ROGER_OK)
		r = check_deliverable(roger, &letter, reply->memory, &ended, &worn, err);
	/* Put it back into the mailbox before the letter says so. */
	if (r == ROGER_OK && worn) {
		r = rg_attempt_put_back(roger, &letter.message, reply->memory, err);
		return r < 0 ? r
			     : change_letter(roger, request->id, ROGER_REDELIVERED, request->reason,
					     reply, err);
	}
	if (r == ROGER_OK)
		r = rg_cycle_begin(roger, reply->memory, &cycle, err);
	if (r == ROGER_OK)
		r = rg_attempt_begin(roger, &letter.message, &ended, 1, cycle.id, within_ms,
				     reply->memory, err);
	if (r == ROGER_OK)
		r = change_letter(roger, request->id, ROGER_REDELIVERED, request->reason, reply,
				  err);
	if (r == ROGER_OK)
		r = rg_attempt_confirm(roger, &letter.message, 1, within_ms, reply->memory, err);
	if (r < 0)
		return r;
	/* Read the letter again, with when its message was read. */
	r = find_one(roger, request->id, reply->memory, &letter, err);
	if (r == ROGER_OK)
		*(struct roger_dead_letter *)(uintptr_t)reply->dead_letters.items = letter;
	return r;
}
