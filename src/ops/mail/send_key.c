/* Judge a send by its key: known, timed out, used up, to be confirmed. */
#include "ops/mail/send.h"

#include <stdio.h>

#include "facts/message.h"

/* ---------------------------------------------------------------- keys -- */

/* Make the key <task>:<verb>:<current cycle>, if these are given instead of a key. */
static int make_key(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	const struct roger_send_request *request = draft->request;

	if (request->key.length || !request->task.length || !request->verb.length)
		return rg_fail_member(err, ROGER_EUSAGE, "key",
				      "key: expected a key, or a task and a verb to make one of");
	if (memchr(request->task.data, ':', request->task.length) ||
	    memchr(request->verb.data, ':', request->verb.length))
		return rg_fail_member(err, ROGER_EDATA, "task",
				      "task and verb: expected no ':', it separates the two");
	return rg_kept(rg_arena_print(sending->arena, &draft->key, "%.*s:%.*s:%.*s",
				      RG_STR_ARGS(request->task), RG_STR_ARGS(request->verb),
				      RG_STR_ARGS(draft->cycle)),
		       err);
}

static void note_form(struct rg_sending *sending, struct rg_draft *draft)
{
	struct roger_strs *notes = &draft->reply->notes;
	struct rg_key parts;

	rg_assert(draft->key.length > 0);
	if (!rg_key_split(draft->key, &parts))
		rg_arena_note(sending->arena, notes,
			      "the key is not of the form task:verb:cycle; used as given");
	else if (!rg_key_verb_stable(parts.verb))
		rg_arena_note(sending->arena, notes,
			      "the verb '%.*s' of the key is none of status-update, "
			      "blocker-update, escalation, finding-report and dead-letter",
			      RG_STR_ARGS(rg_str_first(parts.verb, 60)));
}

int rg_send_check_key(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	const struct roger_send_request *request = draft->request;
	struct roger_cycle cycle;
	int r;

	draft->key = request->key;
	if (!request->key.length && !request->task.length && !request->verb.length)
		return ROGER_OK;
	r = request->dry_run ? rg_cycle_current(sending->roger, sending->arena, &cycle, err)
			     : rg_cycle_begin(sending->roger, sending->arena, &cycle, err);
	if (r < 0)
		return r;
	draft->cycle = cycle.id;
	if (request->task.length || request->verb.length)
		r = make_key(sending, draft, err);
	if (r == ROGER_OK)
		r = rg_message_check_key(draft->key, err);
	if (r == ROGER_OK)
		note_form(sending, draft);
	return r;
}

int rg_send_check_confirm(const struct rg_draft *draft, struct roger_err *err)
{
	const struct roger_send_request *request = draft->request;

	if (request->within_ms < 0 || request->within_ms > RG_LEASE_MS_MAX)
		return rg_fail_member(err, ROGER_EDATA, "within",
				      "within: expected at most 7 days");
	if (request->confirm != ROGER_CONFIRM_READ) {
		if (!request->within_ms && !request->retry)
			return ROGER_OK;
		return rg_fail_member(err, ROGER_EUSAGE, "confirm",
				      "confirm: within and retry go with --confirm read");
	}
	if (!draft->key.length)
		return rg_fail_member(err, ROGER_EUSAGE, "confirm",
				      "confirm: to confirm reading needs a key, so that the next "
				      "attempt is the same message");
	return ROGER_OK;
}

int64_t rg_send_within(const struct rg_sending *sending, const struct rg_draft *draft)
{
	return draft->request->within_ms ? draft->request->within_ms
					 : sending->roger->workspace->config->confirm_within_ms;
}

/* ---------------------------------------------------------- a known key -- */

/* Find the text with this checksum: as it is, or with one newline more or less. */
static int find_text(struct rg_sending *sending, struct roger_str text, struct roger_str sum,
		     struct roger_str *ret_text, bool *ret_found, struct roger_err *err)
{
	struct roger_str texts[3] = { text, text };
	char hex[RG_SHA256_HEX_BYTES];
	size_t i;

	texts[1].length -= text.length && text.data[text.length - 1] == '\n';
	if (!rg_arena_print(sending->arena, &texts[2], "%.*s\n", RG_STR_ARGS(text)))
		return rg_fail_memory(err);
	*ret_found = false;
	for (i = 0; i < 3 && !*ret_found; i++) {
		rg_sha256_hex(texts[i], hex);
		*ret_found = rg_str_is(sum, hex);
		*ret_text = texts[i];
	}
	return ROGER_OK;
}

/* Is it the same message?  A stored one is compared; for one that was not stored, its checksum. */
static int check_same(struct rg_sending *sending, struct rg_draft *draft,
		      const struct rg_key_use *use, const struct roger_attempt *last,
		      struct roger_str *ret_text, struct roger_err *err)
{
	const struct roger_message *stored = rg_key_message(use, last->to);
	const struct roger_message_list first = { stored, 1 };
	const char *difference = "text";
	bool found = false;
	int r;

	if (stored && rg_str_equal(stored->id, last->message)) {
		if (draft->to.count == 1)
			difference = rg_send_difference(sending, draft, &first);
		else if (rg_send_same_text(stored->content, draft->request->content))
			difference = NULL;
		return difference ? rg_send_conflict(draft, stored->id, last->to, difference, err)
				  : ROGER_OK;
	}
	r = find_text(sending, draft->request->content, last->payload_sha256, ret_text, &found,
		      err);
	return r < 0 || found ? r : rg_send_conflict(draft, last->id, last->to, "text", err);
}

static int refuse_used_up(struct rg_sending *sending, const struct rg_draft *draft,
			  const struct rg_key_history *history, struct roger_err *err)
{
	struct roger_dead_letter letter;
	int r;

	rg_assert(history->last != NULL);
	r = rg_attempt_used_up(sending->roger, history->last, history->timeouts, sending->arena,
			       &letter, err);
	return r < 0 ? r
		     : rg_fail_member(err, ROGER_EREFUSED, "key",
				      "key: '%.*s' used up its %lld attempt%s: it is dead letter "
				      "'%.*s'; `roger dead redeliver` tries once more",
				      RG_STR_ARGS(draft->key), (long long)letter.attempts,
				      rg_plural(letter.attempts), RG_STR_ARGS(letter.id));
}

static int refuse_key(struct rg_sending *sending, const struct rg_draft *draft,
		      const struct rg_key_history *history, enum rg_sendlog_answer answer,
		      int64_t due_ms, struct roger_err *err)
{
	const struct roger_attempt *last = history->last;
	char due[40];

	rg_assert(last && answer != RG_SEND_NEW);
	if (answer == RG_SEND_USED_UP)
		return refuse_used_up(sending, draft, history, err);
	if (answer == RG_SEND_SKIP)
		return rg_fail_member(err, ROGER_EREFUSED, "key",
				      "key: '%.*s' was already refused in this cycle (%.*s); use "
				      "another key, or open a new cycle",
				      RG_STR_ARGS(draft->key), RG_STR_ARGS(last->cause));
	if (due_ms)
		rg_clock_print_utc(due_ms, (char *)mempcpy(due, "at ", 3));
	else
		snprintf(due, sizeof due, "in a later cycle");
	return rg_fail_member(err, ROGER_ETIMEOUT, "key",
			      "key: '%.*s' timed out; its next attempt is due %s",
			      RG_STR_ARGS(draft->key), due);
}

/* Settle attempts that somebody began and did not finish. */
static int settle_begun(struct rg_sending *sending, const struct rg_draft *draft,
			const struct rg_key_use *use, bool *ret_settled, struct roger_err *err)
{
	const struct roger_message *message;
	bool settled, unused;
	size_t i;
	int r = ROGER_OK;

	*ret_settled = false;
	for (i = 0; i < draft->to.count && r == ROGER_OK; i++) {
		message = rg_key_message(use, draft->to.items[i]);
		if (!message)
			continue;
		r = rg_attempt_settle(sending->roger, message, use->lines, use->line_count,
				      sending->arena, &settled, &unused, err);
		*ret_settled |= r == ROGER_OK && settled;
	}
	return r;
}

/* The next attempt at a message that was never stored keeps its id and text. */
static void take_over(struct rg_draft *draft, size_t which, const struct roger_attempt *last,
		      struct roger_str text)
{
	rg_assert(which < draft->to.count);
	draft->messages[which].content = text;
	if (last->message.length)
		draft->messages[which].id = last->message;
	draft->messages[which].attempt = last->attempt + 1;
}

/* Stored messages whose next attempt begins. */
struct again {
	struct roger_str *ids;
	int64_t *ended; /* numbers of the attempts that timed out */
	size_t count;
};

static int check_there(const struct roger_message_list *messages, struct roger_err *err)
{
	size_t i;

	if (messages->count == 0)
		return rg_fail(err, ROGER_ENOENT, 0, "the message of the key was removed");
	for (i = 0; i < messages->count; i++)
		if (messages->items[i].archived_at_ms && !messages->items[i].read)
			return rg_fail_member(err, ROGER_EREFUSED, "key",
					      "key: its message '%.*s' was archived unread; use "
					      "another key to send it again",
					      RG_STR_ARGS(messages->items[i].id));
	return ROGER_OK;
}

/* Begin the next attempts; without confirmation they need only be stored, and are. */
static int begin_again(struct rg_sending *sending, struct rg_draft *draft,
		       const struct again *again, struct roger_err *err)
{
	const bool confirm = draft->request->confirm == ROGER_CONFIRM_READ;
	struct roger_message_list first;
	int r;

	rg_assert(again->count > 0);
	r = rg_attempt_begin(sending->roger, again->ids, again->ended, again->count, draft->cycle,
			     confirm ? rg_send_within(sending, draft) : 0, sending->arena, err);
	if (r == ROGER_OK)
		r = rg_engine_find_ids(sending->roger->engine, again->ids, again->count,
				       sending->arena, &first, err);
	if (r == ROGER_OK)
		r = check_there(&first, err);
	if (r < 0)
		return r;
	draft->settled = draft->again = true;
	return rg_send_fill_reply(sending, draft, first.items, first.count, err);
}

/* Does the message say the same as the attempt's entry? */
static bool is_of(const struct roger_message *message, const struct rg_draft *draft,
		  const struct roger_attempt *last)
{
	return rg_str_equal(message->from, draft->from) && rg_str_equal(message->to, last->to) &&
	       rg_str_equal(message->key, draft->key) && rg_str_equal(message->cycle, last->cycle);
}

/* Refuse a message whose line was damaged or is gone: nobody gets it, and the key stays used. */
static int check_lost(struct rg_sending *sending, const struct rg_draft *draft,
		      const struct roger_attempt *last, struct roger_err *err)
{
	struct roger_message_list found;
	int r;

	/* The message may have been stored since the messages were looked up. */
	r = rg_engine_find_ids(sending->roger->engine, &last->message, 1, sending->arena, &found,
			       err);
	if (r < 0 || (found.count && is_of(&found.items[0], draft, last)))
		return r;
	return rg_fail_member(err, ROGER_EREFUSED, "key",
			      "key: '%.*s' was used for message '%.*s', whose line is damaged or "
			      "gone (`roger status`); to send it again, use another key",
			      RG_STR_ARGS(draft->key), RG_STR_ARGS(last->message));
}

/* Was a copy to this recipient refused under the key? */
static bool was_refused(const struct rg_key_use *use, struct roger_str target)
{
	size_t i;

	for (i = 0; i < use->line_count; i++)
		if (use->lines[i].outcome == ROGER_ERROR && rg_str_equal(use->lines[i].to, target))
			return true;
	return false;
}

/* If the key stored some copies before, send only those that were refused. */
static void keep_refused(struct rg_draft *draft, const struct rg_key_use *use)
{
	bool refused = false, stored = false;
	size_t i;

	for (i = 0; i < draft->to.count; i++)
		refused |= was_refused(use, draft->to.items[i]);
	for (i = 0; i < use->messages.count; i++)
		stored |= rg_str_equal(use->messages.items[i].cycle, draft->cycle);
	draft->some_again = refused && stored;
	for (i = draft->to.count; draft->some_again && i > 0; i--)
		if (draft->to.count > 1 && draft->messages[i - 1].attempt < 2)
			rg_send_drop(draft, i - 1);
}

/* Judge the key by the send log before anything is stored.  Delivered keys are the engine's to
 * find. */
static int look_back(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	struct again again = {
		.ids = rg_arena_get(sending->arena, draft->to.count * sizeof *again.ids),
		.ended = rg_arena_get(sending->arena, draft->to.count * sizeof *again.ended),
	};
	const struct roger_message *stored;
	struct rg_key_history history;
	enum rg_sendlog_answer answer;
	struct rg_key_use use = { 0 };
	struct roger_str text = draft->request->content;
	bool settled, is_stored;
	int64_t due_ms;
	size_t i;
	int r;

	rg_assert(draft->key.length && !draft->settled);
	if (!again.ids || !again.ended)
		return rg_fail_memory(err);
	do {
		r = rg_key_look_up(sending->roger, draft->from, draft->key, sending->arena, &use,
				   err);
		if (r == ROGER_OK)
			r = settle_begun(sending, draft, &use, &settled, err);
	} while (r == ROGER_OK && settled);

	for (i = 0; i < draft->to.count && r == ROGER_OK; i++) {
		r = rg_key_judge(sending->roger, &use, draft->key, draft->to.items[i],
				 sending->arena, &answer, &history, &due_ms, err);
		if (r < 0 || answer == RG_SEND_NEW)
			continue;
		/* A send that was refused before it was tried need not be repeated as it was. */
		if (answer != RG_SEND_AGAIN || history.last->message.length)
			r = check_same(sending, draft, &use, history.last, &text, err);
		stored = rg_key_message(&use, draft->to.items[i]);
		is_stored = stored && rg_str_equal(stored->id, history.last->message);
		if (r == ROGER_OK && answer == RG_SEND_SKIP &&
		    history.last->outcome == ROGER_DELIVERED && !stored)
			r = check_lost(sending, draft, history.last, err);
		if (r < 0 || (answer == RG_SEND_SKIP && history.last->outcome == ROGER_DELIVERED))
			continue;
		/* A message that was never stored cannot be redelivered: its sender may go on
		 * trying. */
		if (answer != RG_SEND_AGAIN && (answer != RG_SEND_USED_UP || is_stored))
			return refuse_key(sending, draft, &history, answer, due_ms, err);
		if (is_stored) {
			again.ids[again.count] = stored->id;
			again.ended[again.count++] = history.last->attempt;
		} else {
			take_over(draft, i, history.last, text);
		}
	}
	if (r == ROGER_OK && use.moved && !again.count)
		return rg_send_use_first(sending, draft, err);
	if (r == ROGER_OK && !again.count)
		keep_refused(draft, &use);
	return r < 0 || !again.count ? r : begin_again(sending, draft, &again, err);
}

/* Log an attempt that was refused, as an error; not if the key stored something. */
static void note_refused(struct rg_sending *sending, const struct rg_draft *draft,
			 const struct rg_key_use *use, struct roger_str target)
{
	struct roger_message message = { .from = draft->from,
					 .to = target,
					 .content = draft->request->content,
					 .key = draft->key,
					 .cycle = draft->cycle,
					 .attempt = 1 };
	struct rg_key_history history;
	enum rg_sendlog_answer answer;
	int64_t due_ms;

	rg_assert(draft->cause && draft->key.length);
	if (!rg_name_valid(target) ||
	    rg_config_reserves(sending->roger->workspace->config, target) ||
	    rg_key_judge(sending->roger, use, draft->key, target, sending->arena, &answer, &history,
			 &due_ms, NULL) < 0 ||
	    (answer != RG_SEND_NEW && answer != RG_SEND_AGAIN))
		return;
	/* In another cycle than one that has ended, it is the first attempt, as if it were
	 * stored. */
	if (history.last &&
	    (answer == RG_SEND_AGAIN || rg_str_equal(history.last->cycle, draft->cycle)))
		message.attempt = history.last->attempt + 1;
	rg_attempt_failed(sending->roger, &message, 1, ROGER_ERROR, draft->cause);
}

/* Log a refused send without a key under its id, which is nowhere but in the log. */
static void note_plain_refused(struct rg_sending *sending, const struct rg_draft *draft,
			       struct roger_str target)
{
	struct roger_message message = { .from = draft->from,
					 .to = target,
					 .issue = draft->request->issue.length
							  ? draft->request->issue
							  : RG_STR("general"),
					 .content = draft->request->content };

	rg_assert(draft->cause && !draft->key.length);
	if (!rg_name_valid(target) || !rg_name_valid(message.issue) ||
	    rg_config_reserves(sending->roger->workspace->config, target) ||
	    rg_op_new_id(sending->roger, sending->now_ms, sending->arena, &message.id, NULL) < 0)
		return;
	rg_attempt_failed(sending->roger, &message, 1, ROGER_ERROR, draft->cause);
}

/* Who was refused: one recipient, all that were named, or the retired members of a group. */
static struct roger_strs refused_to(struct rg_sending *sending, const struct rg_draft *draft)
{
	const struct roger_left_out_list *skipped = &draft->reply->skipped;
	struct roger_strs names = { 0 };
	size_t i;

	if (draft->stranger.length)
		return (struct roger_strs){ &draft->stranger, 1 };
	if (!skipped->count)
		return draft->request->to;
	for (i = 0; i < skipped->count; i++)
		if (rg_retired_find(&sending->retired, skipped->items[i].to) &&
		    !rg_arena_add(sending->arena, &names, skipped->items[i].to))
			break;
	return names;
}

void rg_send_refused(struct rg_sending *sending, struct rg_draft *draft)
{
	const struct roger_strs to = refused_to(sending, draft);
	struct rg_key_use use = { 0 };
	size_t i;

	if (!draft->cause || draft->request->dry_run || rg_send_check_key(sending, draft, NULL) < 0)
		return;
	for (i = 0; i < to.count && !draft->key.length; i++)
		note_plain_refused(sending, draft, to.items[i]);
	if (!draft->key.length ||
	    rg_key_look_up(sending->roger, draft->from, draft->key, sending->arena, &use, NULL) < 0)
		return;
	for (i = 0; i < to.count; i++)
		note_refused(sending, draft, &use, to.items[i]);
}

static void note_unsure(struct roger *roger, const struct roger_message *messages, size_t count,
			int code)
{
	if (code == ROGER_EIO || code == ROGER_ETIMEOUT)
		rg_attempt_failed(roger, messages, count, ROGER_TIMEOUT,
				  code == ROGER_EIO ? RG_CAUSE_NO_SYNC : RG_CAUSE_NO_TIME);
}

/* Note for each recipient of a refused request what had no room, which need not be its mailbox. */
static void note_no_room(struct roger *roger, const struct rg_draft *draft)
{
	const struct roger_message *messages = draft->messages;
	size_t i;

	if (!draft->full.length)
		rg_attempt_failed(roger, messages, draft->to.count, ROGER_ERROR,
				  RG_CAUSE_ISSUE_FULL);
	for (i = 0; draft->full.length && i < draft->to.count; i++)
		rg_attempt_failed(roger, &messages[i], 1, ROGER_ERROR,
				  rg_str_equal(draft->full, messages[i].to) ? RG_CAUSE_FULL
									    : RG_CAUSE_OTHER_FULL);
}

void rg_send_failed(struct rg_sending *sending, int code)
{
	const struct rg_draft *draft;
	size_t i;

	for (i = 0; i < sending->count; i++) {
		draft = &sending->drafts[i];
		if (draft->settled)
			continue;
		rg_attempt_failed(sending->roger, draft->refused, draft->refused_count, ROGER_ERROR,
				  RG_CAUSE_FULL);
		if (draft->no_room)
			note_no_room(sending->roger, draft);
		else
			note_unsure(sending->roger, draft->messages, draft->to.count, code);
	}
}

/* Keep what an entry of the send log needs. */
static bool keep_sent(struct roger *roger, const struct roger_message *message)
{
	struct roger_message kept = { .attempt = message->attempt };
	struct rg_arena *arena = roger->sent_memory;

	rg_assert(arena != NULL);
	return rg_arena_copy(arena, message->id, &kept.id) &&
	       rg_arena_copy(arena, message->from, &kept.from) &&
	       rg_arena_copy(arena, message->to, &kept.to) &&
	       rg_arena_copy(arena, message->key, &kept.key) &&
	       rg_arena_copy(arena, message->cycle, &kept.cycle) &&
	       rg_arena_copy(arena, message->content, &kept.content) &&
	       rg_arena_append(arena, &roger->sent, &roger->sent_count, &kept, sizeof kept);
}

void rg_send_keep(struct rg_sending *sending)
{
	struct roger *roger = sending->roger;
	const struct rg_draft *draft;
	size_t i, k;

	if (roger->gathers && !roger->sent_memory)
		roger->sent_memory = rg_arena_new();
	for (i = 0; roger->gathers && roger->sent_memory && i < sending->count; i++) {
		draft = &sending->drafts[i];
		for (k = 0; draft->key.length && !draft->settled && k < draft->to.count; k++)
			if (!keep_sent(roger, &draft->messages[k]))
				return;
	}
}

void rg_send_gathered(struct roger *roger, int code)
{
	size_t i;

	for (i = 0; i < roger->sent_count; i++)
		note_unsure(roger, &roger->sent[i], 1, code);
	roger->sent_memory = rg_arena_free(roger->sent_memory);
	roger->sent = NULL;
	roger->sent_count = 0;
}

int rg_send_look_back(struct rg_sending *sending, struct roger_err *err)
{
	struct rg_draft *draft;
	size_t i, k;
	int r = ROGER_OK;

	for (i = 0; i < sending->count && r == ROGER_OK; i++) {
		draft = &sending->drafts[i];
		if (!draft->key.length || draft->settled)
			continue;
		if (rg_engine_may_know_key(sending->roger->engine, draft->from, draft->key))
			r = look_back(sending, draft, err);
		for (k = 0; draft->request->confirm == ROGER_CONFIRM_READ && r == ROGER_OK &&
			    !draft->again && k < draft->to.count;
		     k++)
			r = rg_attempt_check_breaker(sending->roger, &draft->messages[k],
						     sending->arena, err);
	}
	return r;
}

/* ------------------------------------------------------------ confirming -- */

static int confirm_once(struct rg_sending *sending, const struct rg_draft *draft,
			struct roger_err *err)
{
	const struct roger_receipt_list *receipts = &draft->reply->messages;
	struct roger_str *ids = rg_arena_get(sending->arena, receipts->count * sizeof *ids);
	size_t i;

	if (!ids)
		return rg_fail_memory(err);
	for (i = 0; i < receipts->count; i++)
		ids[i] = receipts->items[i].id;
	return rg_attempt_confirm(sending->roger, ids, receipts->count,
				  rg_send_within(sending, draft), sending->arena, err);
}

/* Wait for retries here?  Else a sweep makes them, by what the message's line says. */
static bool waits_for_retries(const struct roger *roger)
{
	return !roger->tell || roger->tell(roger->tell_context, "retry", 0, 0);
}

/* Wait until the message is read.  With --retry the next attempts follow, each when it is due. */
int rg_send_confirm(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	const struct rg_config *config = sending->roger->workspace->config;
	int64_t attempt;
	int r;

	rg_assert(draft->request->confirm == ROGER_CONFIRM_READ);
	r = confirm_once(sending, draft, err);
	for (attempt = 1; r == ROGER_ETIMEOUT && draft->request->retry && !config->retry_cycles &&
			  attempt < config->attempts_max && waits_for_retries(sending->roger);
	     attempt++) {
		rg_clock_sleep(config->retry_after_ms);
		draft->settled = false;
		r = look_back(sending, draft, err);
		if (r == ROGER_OK)
			r = confirm_once(sending, draft, err);
	}
	return r;
}
