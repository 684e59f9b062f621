/* attempt: waiting for a reading, giving up, dead letters, and leases that wear out. */
#include "ops/keys/attempt.h"

#include <stdio.h>

#include "ops/keys/breaker.h"
#include "ops/tools/trust.h"
#include "facts/message.h"
#include "host/program.h"

/* How many attempts a look at the send log settles at most. */
enum { OVERDUE_MAX = 500 };

/* -------------------------------------------------------------- one key -- */

/* Does the log know an attempt of it?  Of one that waits to be read there may be no line yet. */
static bool is_sent(const struct rg_key_use *use, const struct roger_message *message)
{
	bool sent = message->confirm_by_ms > 0;
	size_t i;

	for (i = 0; i < use->line_count && !sent; i++)
		sent = rg_str_equal(use->lines[i].message, message->id);
	return sent;
}

/* Put a message back into the cycle in which the log says it was delivered, which is final. */
static void put_back(struct rg_key_use *use, struct roger_message *message)
{
	const struct roger_attempt *line, *said = NULL;

	for (line = use->lines; line < use->lines + use->line_count; line++) {
		if (line->outcome != ROGER_DELIVERED || !rg_str_equal(line->message, message->id))
			continue;
		if (rg_str_equal(line->cycle, message->cycle))
			return;
		said = line;
	}
	if (!said)
		return;
	message->cycle = said->cycle;
	use->moved |= rg_str_equal(said->cycle, use->cycle.id);
}

int rg_key_look_up(struct roger *roger, struct roger_str sender, struct roger_str key,
		   struct rg_arena *arena, struct rg_key_use *ret_use, struct roger_err *err)
{
	const struct rg_log_query lines = { .log = RG_LOG_SENDS, .owner = sender, .key = key };
	const struct rg_query messages = { .key = key, .from = sender, .anywhere = true };
	struct rg_records records = { 0 };
	struct roger_message *items;
	size_t count = 0, i;
	int r;

	r = rg_cycle_all(roger, arena, &ret_use->cycles, err);
	if (r < 0)
		return r;
	ret_use->cycle = ret_use->cycles.items[ret_use->cycles.count - 1];
	r = rg_engine_find(roger->engine, &messages, arena, &ret_use->messages, err);
	if (r == ROGER_OK)
		r = rg_records_read(roger, &lines, arena, &records, err);
	ret_use->lines = records.attempts;
	ret_use->line_count = records.count;
	if (r < 0)
		return r;
	/* Another program's line with the key is data, and does not answer for what was sent. */
	items = (struct roger_message *)(uintptr_t)ret_use->messages.items;
	for (i = 0; i < ret_use->messages.count; i++)
		if (is_sent(ret_use, &items[i]))
			items[count++] = items[i];
	for (i = 0; i < count; i++)
		put_back(ret_use, &items[i]);
	ret_use->messages.count = count ? count : ret_use->messages.count;
	return ROGER_OK;
}

const struct roger_message *rg_key_message(const struct rg_key_use *use, struct roger_str target)
{
	size_t i;

	for (i = use->messages.count; i > 0; i--)
		if (rg_str_equal(use->messages.items[i - 1].to, target))
			return &use->messages.items[i - 1];
	return NULL;
}

int rg_key_judge(struct roger *roger, const struct rg_key_use *use, struct roger_str key,
		 struct roger_str target, struct rg_arena *arena,
		 enum rg_sendlog_answer *ret_answer, struct rg_key_history *ret_history,
		 int64_t *ret_due_ms, struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	const struct rg_sendlog_rules rules = { config->attempts_max, config->retry_after_ms,
						config->retry_cycles };
	int r;

	r = rg_key_history(use->lines, use->line_count, key, target, ret_history, arena, err);
	if (r < 0)
		return r;
	ret_history->cycle = use->cycle.number;
	if (ret_history->last)
		ret_history->last_cycle = rg_cycle_number(&use->cycles, ret_history->last->cycle);
	*ret_answer = rg_sendlog_judge(ret_history, &rules, rg_clock_ms(), ret_due_ms);
	return ROGER_OK;
}

/* ----------------------------------------------------------- confirming -- */

static int begin_one(struct roger *roger, const struct roger_message *message, int64_t ended,
		     struct roger_str cycle, int64_t within_ms, struct roger_err *err)
{
	struct roger_message after = *message;

	rg_assert(message->id.length && ended >= 0);
	rg_assert(rg_engine_is_exclusive(roger->engine));
	if (after.read || after.archived_at_ms || (after.attempt > ended && after.confirm_by_ms))
		return ROGER_OK;
	/* An attempt without a deadline is begun again: nobody knows whether it is on disk. */
	after.attempt = ended + 1;
	after.cycle = cycle;
	after.confirm_by_ms = within_ms ? rg_clock_ms() + within_ms : 0;
	return rg_engine_change(roger->engine, message, &after, err);
}

int rg_attempt_begin(struct roger *roger, const struct roger_str *ids, const int64_t *ended,
		     size_t count, struct roger_str cycle, int64_t within_ms,
		     struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message_list messages = { 0 };
	struct rg_outcome outcome;
	size_t i, k;
	int r;

	rg_assert(count > 0);
	r = rg_engine_begin(roger->engine, true, err);
	if (r == ROGER_OK)
		r = rg_engine_find_ids(roger->engine, ids, count, arena, &messages, err);
	for (i = 0; i < messages.count; i++)
		for (k = 0; k < count && r == ROGER_OK; k++)
			if (rg_str_equal(messages.items[i].id, ids[k]))
				r = begin_one(roger, &messages.items[i], ended[k], cycle, within_ms,
					      err);
	if (r == ROGER_OK)
		r = rg_engine_commit(roger->engine, &outcome, err);
	rg_engine_rollback(roger->engine);
	return r;
}

static bool is_waited_for(const struct roger_message *message)
{
	return message->confirm_by_ms > 0 && !message->read;
}

/* Is a message still unread, and until when is it waited for?  For an archived one, no longer. */
static bool any_waiting(const struct roger_message_list *messages, int64_t *ret_until_ms)
{
	bool waiting = false;
	size_t i;

	*ret_until_ms = 0;
	for (i = 0; i < messages->count; i++) {
		if (!is_waited_for(&messages->items[i]))
			continue;
		waiting = true;
		if (messages->items[i].confirm_by_ms > *ret_until_ms &&
		    !messages->items[i].archived_at_ms)
			*ret_until_ms = messages->items[i].confirm_by_ms;
	}
	return waiting;
}

/* Fail if a person acknowledged in the recipient's place: that ends the wait, unread. */
static int refuse_in_place(const struct roger_message_list *messages, struct roger_err *err)
{
	const struct roger_message *message = messages->items;

	for (; message < messages->items + messages->count; message++)
		if (rg_message_in_place(message))
			return rg_fail(err, ROGER_EREFUSED, 0,
				       "'%.*s' has not read message '%.*s': '" RG_PERSON
				       "' acknowledged it in its place",
				       RG_STR_ARGS(message->to), RG_STR_ARGS(message->id));
	return ROGER_OK;
}

/*
 * Wait until the messages are read, but no longer than asked for now: the deadline in a message may
 * be from an earlier send, or from a clock that was set back since.
 */
static int wait_until_read(struct roger *roger, const struct roger_str *ids, size_t count,
			   int64_t within_ms, bool *ret_read, struct roger_err *err)
{
	int64_t end_ns = rg_clock_monotonic_ns() + within_ms * 1000000, until_ms = 0, left_ms;
	struct roger_message_list messages;
	struct rg_arena *arena;
	uint32_t mark;
	int r;

	rg_assert(count > 0 && within_ms > 0);
	for (;;) {
		arena = rg_arena_new();
		if (!arena)
			return rg_fail_memory(err);
		mark = rg_engine_wake_count(roger->engine);
		r = rg_engine_find_ids(roger->engine, ids, count, arena, &messages, err);
		*ret_read = r == ROGER_OK && !any_waiting(&messages, &until_ms);
		if (*ret_read)
			r = refuse_in_place(&messages, err);
		rg_arena_free(arena);
		left_ms = until_ms - rg_clock_ms();
		if (left_ms > (end_ns - rg_clock_monotonic_ns()) / 1000000)
			left_ms = (end_ns - rg_clock_monotonic_ns() + 999999) / 1000000;
		if (r < 0 || *ret_read || left_ms <= 0)
			return r;
		rg_engine_sleep(roger->engine, mark, left_ms);
	}
}

/* ---------------------------------------------------------- dead letters -- */

bool rg_attempt_under_way(const struct roger_message *message)
{
	return !message->archived_at_ms && message->confirm_by_ms > rg_clock_ms() &&
	       message->created_at_ms <= rg_clock_ms();
}

/* Is the letter still undelivered: not marked as stale, not read after all, and no further attempt
 * is under way? */
static bool is_open(const struct roger_dead_letter *letter, const struct roger_message *message)
{
	if (letter->status == ROGER_STALE || message->read)
		return false;
	if (letter->status == ROGER_UNDELIVERED || message->archived_at_ms)
		return letter->status == ROGER_UNDELIVERED;
	return rg_str_is(letter->cause, RG_CAUSE_LEASES) ? message->dead_at_ms > 0
							 : !rg_attempt_under_way(message);
}

/* Update the letter by its message; NULL: the message is not known. */
static void follow_message(struct roger_dead_letter *letter, const struct roger_message *message)
{
	if (!message)
		return;
	if (rg_message_was_read(message))
		letter->delivered_at_ms = message->read_at_ms;
	else if (is_open(letter, message))
		letter->status = ROGER_UNDELIVERED;
	/* A person has acknowledged it in place of the recipient. */
	else if (message->read)
		letter->status = ROGER_STALE;
}

struct rg_records rg_read_letters(struct rg_reading *reading, const struct rg_log_query *query)
{
	enum { AT_ONCE = 250 };
	const struct rg_records found = rg_read_records(reading, query);
	struct roger_str ids[AT_ONCE];
	struct rg_query by_id = { .ids = ids, .anywhere = true };
	struct roger_message_list messages;
	size_t from, i;

	for (from = 0; from < found.count; from += by_id.id_count) {
		by_id.id_count = found.count - from < AT_ONCE ? found.count - from : AT_ONCE;
		for (i = 0; i < by_id.id_count; i++)
			ids[i] = found.letters[from + i].message;
		messages = rg_read_messages(reading, &by_id);
		for (i = 0; i < by_id.id_count; i++)
			follow_message(&found.letters[from + i],
				       rg_messages_find(&messages, ids[i]));
	}
	return found;
}

/* Find the dead letter of a message, which has one at most. */
static int find_letter(struct roger *roger, struct roger_str message, struct rg_arena *arena,
		       struct roger_dead_letter *ret_letter, bool *ret_found, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS,
					    .message = message,
					    .states = true };
	struct rg_records found;
	int r = rg_records_read(roger, &query, arena, &found, err);

	*ret_found = r == ROGER_OK && found.count;
	if (*ret_found)
		*ret_letter = found.letters[0];
	return r;
}

/* Is this a name that the task system may give: one line of text, without control characters? */
static bool is_task_name(struct roger_str text)
{
	size_t chars, i;

	if (!text.length || !rg_utf8_count(text, &chars) || chars > RG_NAME_CHARS_MAX)
		return false;
	for (i = 0; i < text.length; i++)
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			return false;
	return true;
}

/* Run the configured command with the letter; *ret_name: the name that it printed, or "". */
static int file_letter(struct roger *roger, const struct roger_dead_letter *letter,
		       struct rg_arena *arena, struct roger_str *ret_name, struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	struct rg_program program = { .words = config->dead_letter_command,
				      .timeout_ms = config->dead_letter_timeout_ms,
				      .output_bytes_most = 4096 };
	struct rg_program_result result;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf input = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf output = { .maximum = SIZE_MAX };
	struct roger_str name;
	bool may = false;
	int r = ROGER_OK;

	*ret_name = (struct roger_str){ "", 0 };
	if (program.words.count)
		r = rg_trust_may_run(roger, "dead_letters.command", program.words, &program, arena,
				     &may, err);
	if (r < 0 || !may)
		return r;
	rg_record_encode(&rg_dead_letter_record, letter, &input);
	rg_buf_add_char(&input, '\n');
	program.input = rg_buf_str(&input);
	r = rg_program_run(&program, &output, &result, NULL);
	if (r == ROGER_OK && result.end == RG_PROGRAM_EXITED && result.status == 0) {
		name = rg_str_without_end(rg_str_first_line(rg_buf_str(&output)), " \r\t");
		if (is_task_name(name) && !rg_arena_copy(arena, name, ret_name))
			r = ROGER_ENOMEM;
	}
	return r == ROGER_ENOMEM ? rg_fail_memory(err) : ROGER_OK;
}

/* A timeout, or another failure, on its way into the log. */
struct giving_up {
	struct roger_attempt attempt;
	struct roger_dead_letter letter;
	int64_t timeouts; /* in a row, with this one; 0: not known */
	bool dead;	  /* it gets a dead letter */
	bool was_dead;	  /* it has one already */
	bool worn;	  /* it died for its leases: no entry of an attempt names the letter */
	bool written;	  /* another waiter has written the entry, or begun the next attempt */
};

/* Find the last line of the attempt; settled: the last one with an outcome.  NULL: none, as after a
 * purge. */
static const struct roger_attempt *last_line(const struct roger_attempt *lines, size_t count,
					     struct roger_str id, bool settled)
{
	while (count-- > 0)
		if (rg_str_equal(lines[count].id, id) && !(settled && lines[count].pending))
			return &lines[count];
	return NULL;
}

/* Find out whether the attempt is in the log; if not, whether this timeout was the last allowed. */
static int judge_attempt(struct roger *roger, struct giving_up *giving_up, struct rg_arena *arena,
			 struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	const struct roger_attempt *attempt = &giving_up->attempt;
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .owner = attempt->from,
					    .key = attempt->key };
	const struct roger_attempt *settled;
	struct rg_key_history history;
	struct rg_records known;
	int r;

	rg_assert(rg_engine_took_records(roger->engine));
	r = rg_records_read(roger, &query, arena, &known, err);
	if (r < 0)
		return r;
	settled = last_line(known.attempts, known.count, attempt->id, true);
	giving_up->written = settled != NULL;
	if (settled)
		giving_up->attempt = *settled;
	if (settled || attempt->outcome != ROGER_TIMEOUT)
		return ROGER_OK;
	known.attempts[known.count++] = *attempt;
	r = rg_key_history(known.attempts, known.count, attempt->key, attempt->to, &history, arena,
			   err);
	giving_up->timeouts = history.timeouts;
	if (r < 0 || history.timeouts < config->attempts_max)
		return r;
	r = find_letter(roger, attempt->message, arena, &giving_up->letter, &giving_up->was_dead,
			err);
	if (r < 0 || giving_up->was_dead)
		return r;
	giving_up->dead = true;
	r = rg_sendlog_letter(attempt, history.timeouts, arena, &giving_up->letter, err);
	giving_up->attempt.dead_letter_task = giving_up->letter.id;
	return r;
}

/* Return when an instant passed, whoever notices it later; if the clock was set back, now. */
static int64_t since_when(int64_t at_ms)
{
	const int64_t now_ms = rg_clock_ms();

	return at_ms && at_ms < now_ms ? at_ms : now_ms;
}

/* Write the entry, and before it the dead letter that it names. */
static int write_timeout(struct roger *roger, const struct giving_up *giving_up,
			 struct roger_err *err)
{
	int r = ROGER_OK;

	rg_assert(rg_engine_took_records(roger->engine));
	if (giving_up->dead)
		r = rg_records_write(roger, RG_LOG_DEAD_LETTERS, RG_STR(""), &giving_up->letter, 1,
				     err);
	return r < 0 || giving_up->worn
		       ? r
		       : rg_records_write(roger, RG_LOG_SENDS, giving_up->attempt.from,
					  &giving_up->attempt, 1, err);
}

/* Write the entry of an attempt, and its dead letter if it was the last one; nothing, if whoever
 * sends with the same key has recorded it already or is about to. */
static int write_entry(struct roger *roger, const struct roger_message *message,
		       enum roger_attempt_outcome outcome, int64_t at_ms, const char *cause,
		       struct giving_up *giving_up, struct rg_arena *arena, struct roger_err *err)
{
	int r = rg_sendlog_entry(message, roger->workspace->config->attempts_max, outcome, at_ms,
				 arena, &giving_up->attempt, err);

	if (r < 0)
		return r;
	giving_up->attempt.cause = rg_str(cause);
	if (!giving_up->written)
		r = judge_attempt(roger, giving_up, arena, err);
	return r < 0 || giving_up->written ? r : write_timeout(roger, giving_up, err);
}

/* Write the entry of a message that was not read in time: a timeout, or an error if it was archived
 * before, since nobody can read it then. */
static int write_unread(struct roger *roger, const struct roger_message *message,
			struct giving_up *giving_up, struct rg_arena *arena, struct roger_err *err)
{
	const int64_t by_ms = message->confirm_by_ms, archived_ms = message->archived_at_ms;
	const bool archived = archived_ms && archived_ms <= by_ms;

	giving_up->written = rg_attempt_under_way(message);
	return write_entry(roger, message, archived ? ROGER_ERROR : ROGER_TIMEOUT,
			   since_when(archived ? archived_ms : by_ms),
			   archived ? RG_CAUSE_ARCHIVED : RG_CAUSE_LATE, giving_up, arena, err);
}

/* Take the record lock, so that two processes that give up at once write one letter. */
static int give_up_one(struct roger *roger, const struct roger_str *id, struct rg_arena *arena,
		       struct giving_up *giving_up, bool *ret_late, struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	struct roger_message_list found;
	int r = rg_engine_records_hold(roger->engine, &held, err);

	if (r == ROGER_OK)
		r = rg_engine_find_ids(roger->engine, id, 1, arena, &found, err);
	*ret_late = r == ROGER_OK && found.count && is_waited_for(&found.items[0]);
	return *ret_late ? write_unread(roger, &found.items[0], giving_up, arena, err) : r;
}

/* Read letter and entry again: they may have changed meanwhile, and that must stay. */
static int take_states(struct roger *roger, struct giving_up *giving_up, struct rg_arena *arena,
		       struct roger_err *err)
{
	const struct rg_log_query letter = { .log = RG_LOG_DEAD_LETTERS,
					     .id = giving_up->letter.id,
					     .states = true };
	const struct rg_log_query attempt = { .log = RG_LOG_SENDS,
					      .owner = giving_up->attempt.from,
					      .id = giving_up->attempt.id,
					      .states = true };
	struct rg_records found;
	int r;

	rg_assert(rg_engine_took_records(roger->engine));
	r = rg_records_read(roger, &letter, arena, &found, err);
	if (r == ROGER_OK && found.count)
		giving_up->letter = found.letters[0];
	if (r == ROGER_OK)
		r = rg_records_read(roger, &attempt, arena, &found, err);
	if (r == ROGER_OK && found.count)
		giving_up->attempt = found.attempts[0];
	return r;
}

/* Write the task system's name for the letter into the letter and the entry. */
static int note_filed(struct roger *roger, struct giving_up *giving_up, struct roger_str name,
		      struct rg_arena *arena, struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	int r = rg_engine_records_hold(roger->engine, &held, err);

	rg_assert(giving_up->dead);
	if (r == ROGER_OK)
		r = take_states(roger, giving_up, arena, err);
	if (r < 0)
		return r;
	giving_up->letter.filed_as = name;
	giving_up->attempt.dead_letter_task = name;
	return write_timeout(roger, giving_up, err);
}

static int file_and_note(struct roger *roger, struct giving_up *giving_up, struct rg_arena *arena,
			 struct roger_err *err)
{
	struct roger_str name;
	int r;

	if (!giving_up->dead)
		return ROGER_OK;
	r = file_letter(roger, &giving_up->letter, arena, &name, err);
	return r == ROGER_OK && name.length ? note_filed(roger, giving_up, name, arena, err) : r;
}

int rg_dead_letters_of_cycle(struct roger *roger, struct roger_str cycle, struct rg_arena *arena,
			     int64_t *ret_count, bool *ret_alarm, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS,
					    .cycle = cycle,
					    .states = true };
	const int64_t limit = roger->workspace->config->dead_letter_alarm;
	struct rg_records letters;
	int r = rg_records_read(roger, &query, arena, &letters, err);

	*ret_count = (int64_t)letters.count;
	*ret_alarm = limit && *ret_count > limit;
	return r;
}

static int tell_timeout(struct roger *roger, const struct giving_up *giving_up,
			struct rg_arena *arena, struct roger_err *err)
{
	const struct roger_attempt *attempt = &giving_up->attempt;
	const int64_t number = giving_up->timeouts ? giving_up->timeouts : attempt->attempt;
	int64_t letters = 0;
	char alarm[80] = "";
	bool many;
	int r;

	if (attempt->outcome == ROGER_ERROR)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "message '%.*s' was archived before '%.*s' had read it; use another "
			       "key to send it again",
			       RG_STR_ARGS(attempt->message), RG_STR_ARGS(attempt->to));
	/* The message was a dead letter already: the key's own attempts are used up. */
	if (!attempt->dead_letter_task.length &&
	    (giving_up->was_dead || number > attempt->max_attempts))
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "'%.*s' did not read message '%.*s' in time (attempt %lld); `roger "
			       "why %.*s` says what it waits for",
			       RG_STR_ARGS(attempt->to), RG_STR_ARGS(attempt->message),
			       (long long)number, RG_STR_ARGS(attempt->message));
	if (!attempt->dead_letter_task.length)
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "'%.*s' did not read message '%.*s' in time (attempt %lld of %lld); "
			       "safe to send again with the same key",
			       RG_STR_ARGS(attempt->to), RG_STR_ARGS(attempt->message),
			       (long long)number, (long long)attempt->max_attempts);
	r = rg_dead_letters_of_cycle(roger, attempt->cycle, arena, &letters, &many, err);
	if (r < 0)
		return r;
	if (many)
		snprintf(alarm, sizeof alarm, "; alarm: %lld dead letters in this cycle",
			 (long long)letters);
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "'%.*s' did not read message '%.*s' in %lld attempt%s: it is dead letter "
		       "'%.*s'%s%s",
		       RG_STR_ARGS(attempt->to), RG_STR_ARGS(attempt->message), (long long)number,
		       rg_plural(number), RG_STR_ARGS(attempt->dead_letter_task), alarm,
		       roger->untold[0] ? "; its command was left out, see `roger trust`" : "");
}

/* Is the code one with which give_up() reports what came of the message, not its own failure? */
static bool is_told(int r)
{
	return r == ROGER_ETIMEOUT || r == ROGER_EREFUSED;
}

/* Give up waiting for a message; *ret_late: it was late, *ret_dead: it became a dead letter now. */
static int give_up(struct roger *roger, const struct roger_str *id, struct rg_arena *arena,
		   bool *ret_late, bool *ret_dead, struct roger_err *err)
{
	struct giving_up giving_up = { 0 };
	int r;

	r = give_up_one(roger, id, arena, &giving_up, ret_late, err);
	*ret_dead = giving_up.dead;
	if (r < 0 || !*ret_late)
		return r;
	r = file_and_note(roger, &giving_up, arena, err);
	return r < 0 ? r : tell_timeout(roger, &giving_up, arena, err);
}

int rg_attempt_settle(struct roger *roger, const struct roger_message *message,
		      const struct roger_attempt *lines, size_t count, struct rg_arena *arena,
		      bool *ret_settled, bool *ret_dead, struct roger_err *err)
{
	struct roger_attempt begun;
	bool late;
	int r;

	rg_assert(!rg_engine_took_records(roger->engine));
	*ret_settled = *ret_dead = false;
	if (!is_waited_for(message) || rg_attempt_under_way(message))
		return ROGER_OK;
	r = rg_sendlog_entry(message, 1, ROGER_TIMEOUT, 0, arena, &begun, err);
	if (r < 0 || !last_line(lines, count, begun.id, false) ||
	    last_line(lines, count, begun.id, true))
		return r;
	r = give_up(roger, &message->id, arena, &late, ret_dead, err);
	*ret_settled = r == ROGER_OK || (is_told(r) && late);
	return *ret_settled ? ROGER_OK : r;
}

/* ---------------------------------------------------------------- leases -- */

static bool is_worn(const struct roger *roger, const struct roger_message *message)
{
	const struct rg_config *config = roger->workspace->config;

	return rg_message_worn(message, rg_clock_ms(), config->lease_ms_max, config->leases_max);
}

int rg_attempt_drop_due(struct roger *roger, struct roger_message_list *found,
			struct rg_arena *arena, struct rg_due *due, struct roger_err *err)
{
	struct roger_message *left = rg_arena_get(arena, found->count * sizeof *left);
	struct roger_str *ids = rg_arena_get(arena, found->count * sizeof *ids);
	bool late, any = false;
	size_t i, count = 0;

	rg_assert(rg_engine_is_exclusive(roger->engine));
	if (!left || !ids)
		return rg_fail_memory(err);
	due->ids = (struct roger_strs){ ids, 0 };
	for (i = 0; i < found->count; i++) {
		/* If the clock was set back since, nobody knows whether it is late. */
		late = !due->settled && rg_sendlog_begins(&found->items[i]) &&
		       found->items[i].confirm_by_ms <= rg_clock_ms();
		any |= late;
		if (late || is_worn(roger, &found->items[i]))
			ids[due->ids.count++] = found->items[i].id;
		else
			left[count++] = found->items[i];
	}
	*found = (struct roger_message_list){ left, any ? 0 : count };
	return ROGER_OK;
}

/* Write the letter of a message that died for its leases: a new one, or again the one it has. */
static int write_worn(struct roger *roger, const struct roger_message *message,
		      struct giving_up *giving_up, struct rg_arena *arena, struct roger_err *err)
{
	struct roger_dead_letter *letter = &giving_up->letter;
	struct roger_message said = *message;
	struct roger_cycle cycle;
	int r;

	rg_assert(rg_engine_took_records(roger->engine));
	r = find_letter(roger, message->id, arena, letter, &giving_up->was_dead, err);
	if (r == ROGER_OK)
		r = rg_cycle_current(roger, arena, &cycle, err);
	if (r == ROGER_OK && !message->key.length)
		r = rg_sendlog_plain(message, cycle.id, arena, &said, err);
	said.cycle = said.cycle.length ? said.cycle : cycle.id;
	if (r == ROGER_OK)
		r = rg_sendlog_entry(&said, 1, ROGER_TIMEOUT, since_when(message->claimed_until_ms),
				     arena, &giving_up->attempt, err);
	if (r < 0 || (giving_up->was_dead && letter->status == ROGER_STALE))
		return r;
	giving_up->attempt.cause = RG_STR(RG_CAUSE_LEASES);
	giving_up->dead = !giving_up->was_dead;
	if (giving_up->dead)
		r = rg_sendlog_letter(&giving_up->attempt, message->leases, arena, letter, err);
	else
		letter->updated_at_ms = giving_up->attempt.at_ms;
	letter->status = ROGER_UNDELIVERED;
	letter->cause = giving_up->attempt.cause;
	letter->attempts = message->leases;
	return r < 0 ? r : rg_records_write(roger, RG_LOG_DEAD_LETTERS, RG_STR(""), letter, 1, err);
}

enum change { DIE, PUT_BACK, TELL, TOLD };

/* Change the message; false: there is nothing to change any more. */
static bool change_message(const struct roger *roger, enum change what,
			   struct roger_message *message)
{
	switch (what) {
	case DIE:
		if (!is_worn(roger, message))
			return false;
		message->dead_at_ms = since_when(message->claimed_until_ms);
		message->notice_due = rg_notice_may(roger, message);
		return true;
	case PUT_BACK:
		if (!message->dead_at_ms)
			return false;
		message->claimed_by = RG_STR("");
		message->claimed_until_ms = message->claimed_at_ms = message->dead_at_ms = 0;
		message->leases = 0;
		message->notice_due = false;
		return true;
	case TELL:
	case TOLD:
		break;
	}
	if (message->archived_at_ms || message->notice_due == (what == TELL) ||
	    (what == TELL && (message->read || !rg_notice_may(roger, message))))
		return false;
	message->notice_due = what == TELL;
	return true;
}

/* Change the line of a message; needs no lock. */
static int change_line(struct roger *roger, const struct roger_str *id, enum change what,
		       struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message_list found;
	struct rg_outcome outcome;
	struct roger_message after;
	int r;

	rg_assert(!rg_engine_took_records(roger->engine));
	r = rg_engine_begin(roger->engine, true, err);
	if (r == ROGER_OK)
		r = rg_engine_find_ids(roger->engine, id, 1, arena, &found, err);
	if (r == ROGER_OK && found.count) {
		after = *found.items;
		if (change_message(roger, what, &after)) {
			r = rg_engine_change(roger->engine, found.items, &after, err);
			if (r == ROGER_OK)
				r = rg_engine_commit(roger->engine, &outcome, err);
		}
	}
	rg_engine_rollback(roger->engine);
	return r;
}

int rg_attempt_told(struct roger *roger, const struct roger_str *id, struct rg_arena *arena,
		    struct roger_err *err)
{
	return change_line(roger, id, TOLD, arena, err);
}

/* Send the notice that is due of this message; what cannot be sent stays due. */
static void send_due(struct roger *roger, const struct roger_str *id, struct rg_arena *arena)
{
	struct roger_message_list found;

	rg_assert(!rg_engine_took_records(roger->engine));
	if (rg_engine_find_ids(roger->engine, id, 1, arena, &found, NULL) == ROGER_OK &&
	    found.count && found.items->notice_due)
		(void)!rg_notice_send(roger, found.items);
}

/* Write the letter of a worn message, and then its line.  After a kill in between it is done again,
 * and the letter is found. */
static int wear_out(struct roger *roger, const struct roger_str *id, struct rg_arena *arena,
		    struct roger_err *err)
{
	struct giving_up giving_up = { .worn = true };
	struct roger_message_list found;
	bool worn = false;
	int r;

	r = rg_engine_records_begin(roger->engine, err);
	if (r < 0)
		return r;
	r = rg_engine_find_ids(roger->engine, id, 1, arena, &found, err);
	worn = r == ROGER_OK && found.count && is_worn(roger, found.items);
	if (worn)
		r = write_worn(roger, found.items, &giving_up, arena, err);
	rg_engine_records_end(roger->engine);
	if (r == ROGER_OK && worn)
		r = change_line(roger, id, DIE, arena, err);
	if (r == ROGER_OK && worn)
		send_due(roger, id, arena);
	return r < 0 || !worn ? r : file_and_note(roger, &giving_up, arena, err);
}

/* Settle an attempt whose message was late, and send its sender the notice that is due. */
static int settle_late(struct roger *roger, const struct roger_message *message,
		       struct rg_arena *arena, struct roger_err *err)
{
	struct rg_log_query query = { .log = RG_LOG_SENDS,
				      .owner = message->from,
				      .message = message->id };
	struct rg_records lines;
	bool settled = false, dead = false;
	int r = rg_records_read(roger, &query, arena, &lines, err);

	if (r == ROGER_OK)
		r = rg_attempt_settle(roger, message, lines.attempts, lines.count, arena, &settled,
				      &dead, err);
	if (r == ROGER_OK && dead)
		r = change_line(roger, &message->id, TELL, arena, err);
	if (r == ROGER_OK && settled)
		send_due(roger, &message->id, arena);
	return r;
}

/* Settle what is due of a message.  A late attempt that cannot be settled must not keep others from
 * their mail; but a dead letter that cannot be written is an error: the message would be found
 * again and again. */
static int settle_one(struct roger *roger, const struct roger_message *message,
		      struct rg_arena *arena, struct roger_err *err)
{
	int r = ROGER_OK;

	if (is_worn(roger, message))
		r = wear_out(roger, &message->id, arena, err);
	else if (message->notice_due)
		send_due(roger, &message->id, arena);
	return r < 0 || !rg_sendlog_begins(message) ||
			       settle_late(roger, message, arena, NULL) != ROGER_ENOMEM
		       ? r
		       : rg_fail_memory(err);
}

int rg_attempt_settle_due(struct roger *roger, struct rg_due *due, bool best_effort,
			  struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	struct roger_message_list found = { 0 };
	size_t i;
	int r;

	if (!due->ids.count)
		return ROGER_OK;
	arena = rg_arena_new();
	r = arena ? rg_engine_find_ids(roger->engine, due->ids.items, due->ids.count, arena, &found,
				       err)
		  : rg_fail_memory(err);
	for (i = 0; i < found.count && r == ROGER_OK; i++)
		r = settle_one(roger, &found.items[i], arena, best_effort ? NULL : err);
	due->settled = true;
	return best_effort ? ROGER_OK : r;
}

int rg_attempt_take(struct roger *roger, struct roger_str agent, rg_attempt_taking *take,
		    const void *request, void *reply, const struct roger_message_list *taken,
		    struct roger_err *err)
{
	const struct rg_query first = { .unread = true, .to = agent, .limit = 1 };
	struct rg_due due = { .settled = false };
	bool may;
	int r = rg_engine_may_have_mail(roger->engine, agent, &may, err);

	if (r < 0 || !may)
		return r;
	do {
		due.ids.count = 0;
		r = rg_engine_begin_change(roger->engine, &first, err);
		if (r == ROGER_OK)
			r = take(roger, request, reply, &due, err);
		rg_engine_rollback(roger->engine);
		if (r == ROGER_OK)
			r = rg_attempt_settle_due(roger, &due, taken->count > 0, err);
	} while (r == ROGER_OK && due.ids.count && !taken->count);
	return r;
}

int rg_attempt_put_back(struct roger *roger, const struct roger_str *id, struct rg_arena *arena,
			struct roger_err *err)
{
	return change_line(roger, id, PUT_BACK, arena, err);
}

/* ------------------------------------------------------------ confirming -- */

int rg_attempt_confirm(struct roger *roger, const struct roger_str *ids, size_t count,
		       int64_t within_ms, struct rg_arena *arena, struct roger_err *err)
{
	char words[sizeof err->message];
	bool read = false, late, dead;
	int r, result = ROGER_OK;
	size_t i, told = 0;

	rg_assert(count > 0);
	r = wait_until_read(roger, ids, count, within_ms, &read, err);
	for (i = 0; r == ROGER_OK && !read && i < count; i++) {
		r = give_up(roger, &ids[i], arena, &late, &dead, err);
		/* A late message does not keep the others from being written down. */
		if (is_told(r) && late) {
			result = r;
			r = ROGER_OK;
			told++;
		}
	}
	if (r < 0 || told < 2 || !err)
		return r < 0 ? r : result;
	snprintf(words, sizeof words, "%s", err->message);
	return rg_fail(err, (enum roger_code)result, 0, "%s; %zu recipients did not", words, told);
}

void rg_attempt_settle_overdue(struct roger *roger)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_due due = { .settled = false };

	/* If nothing can be written, the attempts stay pending, which is still true. */
	if (arena && rg_engine_overdue(roger->engine, rg_clock_ms(), true, OVERDUE_MAX, arena,
				       &due.ids, NULL) == ROGER_OK)
		(void)!rg_attempt_settle_due(roger, &due, true, NULL);
}

int rg_attempt_used_up(struct roger *roger, const struct roger_attempt *last, int64_t attempts,
		       struct rg_arena *arena, struct roger_dead_letter *ret_letter,
		       struct roger_err *err)
{
	struct giving_up giving_up = { .attempt = *last };
	const bool named = last->dead_letter_task.length > 0;
	int r;

	r = rg_engine_records_begin(roger->engine, err);
	if (r < 0)
		return r;
	r = find_letter(roger, last->message, arena, &giving_up.letter, &giving_up.was_dead, err);
	if (r == ROGER_OK && !giving_up.was_dead) {
		giving_up.dead = true;
		r = rg_sendlog_letter(last, attempts, arena, &giving_up.letter, err);
		if (!named)
			giving_up.attempt.dead_letter_task = giving_up.letter.id;
		if (r == ROGER_OK)
			r = write_timeout(roger, &giving_up, err);
	}
	rg_engine_records_end(roger->engine);
	/* A letter with a name is in the task system already. */
	if (r == ROGER_OK && !named)
		r = file_and_note(roger, &giving_up, arena, err);
	*ret_letter = giving_up.letter;
	return r;
}

/* ------------------------------------------------------------- failures -- */

static int note_failures(struct roger *roger, const struct roger_message *messages, size_t count,
			 enum roger_attempt_outcome outcome, const char *cause,
			 struct rg_arena *arena)
{
	struct giving_up *giving_up = rg_arena_get(arena, count * sizeof *giving_up);
	size_t i;
	int r;

	rg_assert(count > 0 && messages[0].key.length);
	if (!giving_up)
		return ROGER_ENOMEM;
	r = rg_engine_note_key(roger->engine, messages[0].from, messages[0].key, NULL);
	if (r == ROGER_OK)
		r = rg_engine_records_begin(roger->engine, NULL);
	if (r < 0)
		return r;
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = write_entry(roger, &messages[i], outcome, rg_clock_ms(), cause, &giving_up[i],
				arena, NULL);
	rg_engine_records_end(roger->engine);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = file_and_note(roger, &giving_up[i], arena, NULL);
	return r;
}

/* Note failures of messages without a key.  Nobody repeats these, so no entry is looked for. */
static int note_plain(struct roger *roger, const struct roger_message *messages, size_t count,
		      const char *cause, struct rg_arena *arena)
{
	struct roger_attempt *attempts = rg_arena_get(arena, count * sizeof *attempts);
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	struct roger_message plain;
	struct roger_cycle cycle;
	size_t i;
	int r;

	rg_assert(count > 0 && !messages[0].key.length);
	if (!attempts)
		return ROGER_ENOMEM;
	r = rg_cycle_current(roger, arena, &cycle, NULL);
	for (i = 0; i < count && r == ROGER_OK; i++) {
		r = rg_sendlog_plain(&messages[i], cycle.id, arena, &plain, NULL);
		if (r == ROGER_OK)
			r = rg_sendlog_entry(&plain, 1, ROGER_ERROR, rg_clock_ms(), arena,
					     &attempts[i], NULL);
		attempts[i].cause = rg_str(cause);
	}
	if (r == ROGER_OK)
		r = rg_engine_records_hold(roger->engine, &held, NULL);
	return r < 0 ? r
		     : rg_records_write(roger, RG_LOG_SENDS, messages[0].from, attempts, count,
					NULL);
}

void rg_attempt_failed(struct roger *roger, const struct roger_message *messages, size_t count,
		       enum roger_attempt_outcome outcome, const char *cause)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();

	if (arena && count && !messages[0].key.length && outcome == ROGER_ERROR)
		(void)!note_plain(roger, messages, count, cause, arena);
	else if (arena && count && messages[0].key.length)
		(void)!note_failures(roger, messages, count, outcome, cause, arena);
}

int rg_attempt_check_breaker(struct roger *roger, const struct roger_message *message,
			     struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	struct rg_reading reading = { roger, arena, err, ROGER_OK };
	char until[32];
	int64_t until_ms;

	if (!config->breaker_failures ||
	    !rg_breaker_is_open(&reading, message->from, message->to, &until_ms))
		return reading.r;
	rg_attempt_failed(roger, message, 1, ROGER_ERROR, RG_CAUSE_BREAKER);
	rg_clock_print_utc(until_ms, until);
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "'%.*s' read none of the last %lld attempts in time: --confirm read is "
		       "refused until %s (circuit breaker)",
		       RG_STR_ARGS(message->to), (long long)config->breaker_failures, until);
}
