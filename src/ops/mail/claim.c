/*
 * claim, ack, nack: several workers on one inbox.
 *
 * A claim is a lease: until it ends nobody else gets the message.  ack accepts the message (read)
 * and says what came of it, even if it was read before; to say something else later is a
 * correction, which only the one who acknowledged it may make.  nack gives the message back at
 * once.  A lease that runs out gives it back by itself, unless it was the last that
 * claims.max_attempts allows: then the message is a dead letter.  Either all of the ids change, or
 * none.
 */
#include "ops/caller.h"
#include "ops/keys/attempt.h"
#include "ops/mail/send.h"

#include "facts/message.h"
#include "facts/person.h"
#include "facts/retirement.h"

static struct roger_str worker_of(struct roger_str worker, struct roger_str agent)
{
	return worker.length ? worker : agent;
}

/* Stage after[i] for every found message and commit. */
static int store_changed(struct roger *roger, const struct roger_message_list *found,
			 struct roger_message *after, struct roger_err *err)
{
	struct rg_outcome outcome;
	size_t i;
	int r;

	rg_assert(rg_engine_is_exclusive(roger->engine));
	for (i = 0; i < found->count; i++) {
		if (rg_str_equal(found->items[i].claimed_by, after[i].claimed_by) &&
		    found->items[i].claimed_until_ms == after[i].claimed_until_ms &&
		    found->items[i].read == after[i].read &&
		    found->items[i].ack_outcome == after[i].ack_outcome &&
		    rg_str_equal(found->items[i].ack_note, after[i].ack_note))
			continue;
		r = rg_engine_change(roger->engine, &found->items[i], &after[i], err);
		if (r < 0)
			return r;
	}
	return rg_engine_commit(roger->engine, &outcome, err);
}

static struct roger_message *copy_messages(const struct roger_message_list *found,
					   struct rg_arena *arena)
{
	struct roger_message *copy = rg_arena_get(arena, found->count * sizeof *copy);

	if (copy && found->count)
		memcpy(copy, found->items, found->count * sizeof *copy);
	return copy;
}

/* ----------------------------------------------------------------- claim -- */

static int claim_found(struct roger *roger, const void *request_, void *reply_, struct rg_due *due,
		       struct roger_err *err)
{
	const struct roger_claim_request *request = request_;
	struct roger_messages_reply *reply = reply_;
	int64_t now_ms = rg_clock_ms(), longest_ms = roger->workspace->config->lease_ms_max,
		usual_ms = longest_ms < RG_LEASE_MS ? longest_ms : RG_LEASE_MS,
		lease_ms = request->lease_ms ? request->lease_ms : usual_ms;
	const struct rg_query query = {
		.unread = true,
		.to = request->agent,
		.gets = true,
		.issue = request->issue,
		.free_at_ms = now_ms,
		.limit = request->limit ? request->limit : 1,
	};
	struct roger_message_list found;
	struct roger_message *after;
	size_t i;
	int r;

	rg_assert(rg_engine_is_exclusive(roger->engine));
	r = rg_engine_find(roger->engine, &query, reply->memory, &found, err);
	if (r == ROGER_OK)
		r = rg_attempt_drop_due(roger, &found, reply->memory, due, err);
	if (r < 0)
		return r;
	after = copy_messages(&found, reply->memory);
	if (!after)
		return rg_fail_memory(err);
	for (i = 0; i < found.count; i++) {
		after[i].leases++;
		after[i].claimed_by = worker_of(request->worker, request->agent);
		after[i].claimed_until_ms = now_ms + lease_ms;
		after[i].claimed_at_ms = now_ms;
	}
	reply->messages = (struct roger_message_list){ after, found.count };
	/* A lease that is lost in a crash counts as run out, so it need not be synced. */
	if (roger->caller.how == RG_BY_FILES)
		rg_engine_leave_sync(roger->engine);
	return store_changed(roger, &found, after, err);
}

/* Copy the reply's texts, which are the request's: that may not live as long. */
static int own_texts(struct roger_messages_reply *reply, struct roger_err *err)
{
	return rg_kept(rg_record_keep(&rg_messages_reply_record, reply, reply->memory), err);
}

static int check_and_claim(struct roger *roger, const void *request_, void *reply_,
			   struct roger_err *err)
{
	const struct roger_claim_request *request = request_;
	struct roger_messages_reply *reply = reply_;
	int64_t longest_ms = roger->workspace->config->lease_ms_max;
	char longest[32];
	int r;

	rg_clock_print_span(longest_ms, longest);
	if (request->lease_ms < 0 || request->lease_ms > longest_ms)
		return rg_fail_member(err, ROGER_EDATA, "lease",
				      "lease: expected at most %s (claims.max_lease)", longest);
	r = rg_attempt_take(roger, request->agent, claim_found, request, reply, &reply->messages,
			    err);
	return r < 0 ? r : own_texts(reply, err);
}

/* If there is no mail, note that nobody knows the name, which may be a slip. */
int rg_verb_claim(struct roger *roger, const struct roger_claim_request *request,
		  struct roger_messages_reply *reply, struct roger_err *err)
{
	int r = check_and_claim(roger, request, reply, err);

	return r < 0 || reply->messages.count
		       ? r
		       : rg_send_note_reader(roger, reply->memory, request->agent, &reply->notes,
					     err);
}

/* ------------------------------------------------------------- ack, nack -- */

/* Is the message for the agent, or for one that it took over from? */
static int check_recipient(struct roger *roger, const struct roger_ack_request *request,
			   const struct roger_message *message, struct rg_arena *arena,
			   struct roger_err *err)
{
	struct roger_retired_list retired;
	int r;

	if (rg_str_equal(message->to, request->agent))
		return ROGER_OK;
	r = rg_engine_retired(roger->engine, arena, &retired, err);
	if (r < 0 || rg_str_equal(rg_retired_owner(&retired, message->to), request->agent))
		return r;
	return rg_fail_member(
		err, ROGER_EREFUSED, "ids", "message '%.*s' is for '%.*s', not for '%.*s'",
		RG_STR_ARGS(message->id), RG_STR_ARGS(message->to), RG_STR_ARGS(request->agent));
}

static int check_ids(struct roger *roger, const struct roger_ack_request *request,
		     const struct roger_message_list *found, struct rg_arena *arena,
		     struct roger_err *err)
{
	const struct roger_message *message;
	size_t i;
	int r;

	for (i = 0; i < request->ids.count; i++) {
		message = rg_messages_find(found, request->ids.items[i]);
		if (!message)
			return rg_fail_member(err, ROGER_ENOENT, "ids", "no message '%.*s'",
					      RG_STR_ARGS(request->ids.items[i]));
		r = check_recipient(roger, request, message, arena, err);
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}

struct instant {
	const struct roger *roger;
	int64_t ms;
	int64_t lease_ms_max;
};

/* May this worker decide about the message? */
static int check_lease(const struct roger_ack_request *request, const struct roger_message *message,
		       const struct instant *now, struct roger_err *err)
{
	rg_assert(!message->read);
	if (!rg_message_withheld(message, worker_of(request->worker, request->agent),
				 request->agent, now->ms, now->lease_ms_max))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, "ids", "message '%.*s' is claimed by '%.*s'",
			      RG_STR_ARGS(message->id), RG_STR_ARGS(message->claimed_by));
}

static int refuse_archived(const struct roger_message *message, struct roger_err *err)
{
	char when[32];

	rg_assert(message->archived_at_ms > 0);
	rg_clock_print_utc(message->archived_at_ms, when);
	return rg_fail_member(err, ROGER_EREFUSED, "ids", "message '%.*s' was archived%s, %s",
			      RG_STR_ARGS(message->id), message->read ? "" : " unread", when);
}

/* Only who acknowledged a message may correct that: a worker that lost its lease is too late. */
static int check_acked(const struct roger_ack_request *request, const struct roger_message *message,
		       struct roger_err *err)
{
	struct roger_str by = worker_of(message->claimed_by, message->to);
	char when[32];

	if (!message->acked_at_ms || rg_str_equal(by, worker_of(request->worker, request->agent)))
		return ROGER_OK;
	rg_clock_print_utc(message->acked_at_ms, when);
	return rg_fail_member(err, ROGER_EREFUSED, "ids",
			      "message '%.*s' was acknowledged as %s by '%.*s', %s",
			      RG_STR_ARGS(message->id), rg_ack_outcome_names[message->ack_outcome],
			      RG_STR_ARGS(by), when);
}

/* The outcome that is asked for; done, if none is given. */
static int outcome_of(const struct roger_ack_request *request)
{
	return request->outcome ? request->outcome : ROGER_ACK_DONE;
}

static int ack_one(const struct roger_ack_request *request, struct roger_message *message,
		   const struct instant *now, struct roger_err *err)
{
	struct roger_str worker = worker_of(request->worker, request->agent);
	const bool in_place = rg_str_is(worker, RG_PERSON) && !rg_str_is(request->agent, RG_PERSON);
	int r = check_acked(request, message, err);

	if (r < 0)
		return r;
	/* To say the same again changes nothing. */
	if (message->ack_outcome == outcome_of(request) &&
	    rg_str_equal(message->ack_note, request->note))
		return ROGER_OK;
	if (message->archived_at_ms)
		return refuse_archived(message, err);
	r = message->read ? ROGER_OK : check_lease(request, message, now, err);
	if (r < 0)
		return r;
	if (!message->read && !in_place)
		message->read_by = rg_message_reader(message, request->agent);
	/* A correction does not make it read by the agent: both instants stay equal
	 * (facts/person.h). */
	if (!message->read || rg_message_in_place(message))
		message->read_at_ms = now->ms;
	message->read = true;
	/* Keep the worker's name: it says who acknowledged the message. */
	message->claimed_by =
		rg_str_equal(worker, message->to) ? (struct roger_str){ "", 0 } : worker;
	message->claimed_until_ms = 0;
	message->claimed_at_ms = message->claimed_by.length ? message->claimed_at_ms : 0;
	message->acked_at_ms = now->ms;
	message->ack_outcome = outcome_of(request);
	message->ack_note = request->note;
	message->notice_due =
		outcome_of(request) != ROGER_ACK_DONE && rg_notice_may(now->roger, message);
	return ROGER_OK;
}

static int nack_one(const struct roger_ack_request *request, struct roger_message *message,
		    const struct instant *now, struct roger_err *err)
{
	int r;

	if (message->read)
		return rg_fail_member(err, ROGER_EREFUSED, "ids", "message '%.*s' is read already",
				      RG_STR_ARGS(message->id));
	if (message->archived_at_ms)
		return refuse_archived(message, err);
	r = check_lease(request, message, now, err);
	if (r < 0)
		return r;
	/*
	 * Keep the worker's name: so the line is a new state and not a new message.  Without a
	 * lease there is nothing to give back, and a repeated nack changes nothing.
	 */
	if (rg_message_claimed(message, now->ms, now->lease_ms_max)) {
		message->claimed_until_ms = now->ms;
		message->leases -= message->leases > 0;
	}
	return ROGER_OK;
}

typedef int decide(const struct roger_ack_request *request, struct roger_message *message,
		   const struct instant *now, struct roger_err *err);

/* Decide about all messages, unless one is overdue: then it is settled first (due). */
static int decide_all(struct roger *roger, const struct roger_ack_request *request,
		      struct roger_messages_reply *reply, decide *one, struct rg_due *due,
		      struct roger_err *err)
{
	const struct instant now = { roger, rg_clock_ms(), roger->workspace->config->lease_ms_max };
	struct roger_message_list found, left;
	struct roger_message *after;
	size_t i;
	int r;

	rg_assert(rg_engine_is_exclusive(roger->engine));
	r = rg_engine_find_ids(roger->engine, request->ids.items, request->ids.count, reply->memory,
			       &found, err);
	if (r == ROGER_OK)
		r = check_ids(roger, request, &found, reply->memory, err);
	left = found;
	if (r == ROGER_OK && !due->settled)
		r = rg_attempt_drop_due(roger, &left, reply->memory, due, err);
	if (r < 0 || due->ids.count)
		return r;
	after = copy_messages(&found, reply->memory);
	if (!after)
		return rg_fail_memory(err);
	for (i = 0; i < found.count && r == ROGER_OK; i++)
		r = one(request, &after[i], &now, err);
	if (r < 0)
		return r;
	reply->messages = (struct roger_message_list){ after, found.count };
	return store_changed(roger, &found, after, err);
}

static int run_decision(struct roger *roger, const void *request_, void *reply_, decide *one,
			struct roger_err *err)
{
	struct roger_ack_request said = *(const struct roger_ack_request *)request_;
	const struct roger_ack_request *request = &said;
	const struct rg_query those = { .ids = said.ids.items,
					.id_count = said.ids.count,
					.anywhere = true };
	struct rg_due due = { .settled = false };
	int r;

	/* A person who acts for the agent is named as the worker; it does not count as read by
	 * the agent. */
	if (rg_caller_stands_in(roger, said.agent))
		said.worker = RG_STR(RG_PERSON);
	do {
		due.ids.count = 0;
		r = rg_engine_begin_change(roger->engine, &those, err);
		if (r == ROGER_OK)
			r = decide_all(roger, request, reply_, one, &due, err);
		rg_engine_rollback(roger->engine);
		if (r == ROGER_OK)
			r = rg_attempt_settle_due(roger, &due, true, err);
	} while (r == ROGER_OK && due.ids.count);
	return r < 0 ? r : own_texts(reply_, err);
}

int rg_verb_ack(struct roger *roger, const struct roger_ack_request *request,
		struct roger_messages_reply *reply, struct roger_err *err)
{
	struct roger_message *messages;
	size_t i;
	int r = run_decision(roger, request, reply, ack_one, err);

	messages = (struct roger_message *)(uintptr_t)reply->messages.items;
	/* If a sender cannot get its notice now, the ack is valid: the notice comes later. */
	for (i = 0; r == ROGER_OK && i < reply->messages.count; i++)
		if (messages[i].notice_due && rg_notice_send(roger, &messages[i]) == ROGER_OK)
			messages[i].notice_due = false;
	return r;
}

int rg_verb_nack(struct roger *roger, const struct roger_ack_request *request,
		 struct roger_messages_reply *reply, struct roger_err *err)
{
	return run_decision(roger, request, reply, nack_one, err);
}
