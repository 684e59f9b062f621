/*
 * inbox, receive: an agent's unread mail, first in, first out.
 *
 * inbox looks and changes no message; receive hands over and marks read, so what
 * it returns is durably the caller's: two of them never get the same message.
 */
#include "ops/mail/look.h"
#include "ops/keys/attempt.h"
#include "ops/mail/send.h"

#include "facts/message.h"

enum { INBOX_LIMIT = 50 };

static struct rg_query query_of(const struct roger_inbox_request *request, int64_t free_at_ms)
{
	return (struct rg_query){
		.unread = true,
		.to = request->agent,
		.gets = true,
		.issue = request->issue,
		.from = request->from,
		.free_at_ms = free_at_ms,
		.limit = request->limit ? request->limit : INBOX_LIMIT,
	};
}

/* Count the unread mail.  This also corrects the figure by which an empty inbox is known
 * quickly. */
static int count_unread(struct roger *roger, const struct roger_inbox_request *request,
			int64_t *ret_unread, struct roger_err *err)
{
	const struct rg_query all = { .unread = true, .to = request->agent, .gets = true };
	struct rg_query asked = query_of(request, 0);
	int r = rg_engine_count(roger->engine, &all, ret_unread, err);

	if (r < 0 || (!request->issue.length && !request->from.length))
		return r;
	asked.limit = 0;
	return rg_engine_count(roger->engine, &asked, ret_unread, err);
}

/* Leave out messages that were shown before; returns how many are left. */
static size_t keep_fresh(struct roger *roger, struct roger_str agent,
			 const struct roger_message_list *from, struct roger_message *to,
			 size_t most)
{
	size_t count = 0, i;

	for (i = 0; i < from->count && count < most; i++)
		if (!rg_engine_shown(roger->engine, agent, from->items[i].id))
			to[count++] = from->items[i];
	return count;
}

/* Look page by page, since most messages may have been shown. */
static int find_fresh(struct roger *roger, const struct rg_query *wanted,
		      struct roger_inbox_reply *reply, struct roger_err *err)
{
	size_t most = (size_t)wanted->limit, count = 0;
	struct roger_message *fresh = rg_arena_get(reply->memory, most * sizeof *fresh);
	struct rg_query query = *wanted;
	struct roger_message_list page;
	int r = rg_kept(fresh, err);

	query.limit = RG_PAGE_MAX;
	while (r == ROGER_OK && count < most) {
		r = rg_engine_find(roger->engine, &query, reply->memory, &page, err);
		if (r < 0 || !page.count)
			break;
		count += keep_fresh(roger, query.to, &page, fresh + count, most - count);
		query.after = page.items[page.count - 1].position;
		if (page.count < (size_t)query.limit)
			break;
	}
	reply->messages = (struct roger_message_list){ fresh, count };
	return r;
}

static int find_mail(struct roger *roger, const struct roger_inbox_request *request,
		     struct roger_inbox_reply *reply, struct roger_err *err)
{
	const struct rg_query query = query_of(request, 0);
	bool may;
	int r = rg_engine_may_have_mail(roger->engine, request->agent, &may, err);

	if (r < 0 || !may)
		return r;
	r = request->fresh ? find_fresh(roger, &query, reply, err)
			   : rg_engine_find_page(roger->engine, &query, reply->memory,
						 &reply->messages, &reply->unread, err);
	/* There may be mail in other issues. */
	if (r == ROGER_OK && (request->fresh || !reply->unread))
		r = count_unread(roger, request, &reply->unread, err);
	if (r == ROGER_OK && !request->unnoted)
		rg_look_note(roger, request->agent, request->person, &reply->messages);
	return r;
}

/*
 * Find and mark messages in one transaction, in the reply, too.  The rest is counted before the
 * commit: so nobody waits for the index to take in the new lines, which the next readers take in
 * together.
 */
static int take_mail(struct roger *roger, const void *request_, void *reply_, struct rg_due *due,
		     struct roger_err *err)
{
	const struct roger_inbox_request *request = request_;
	struct roger_inbox_reply *reply = reply_;
	const struct rg_query query = query_of(request, rg_clock_ms());
	struct roger_message_list found;
	struct roger_str agent;
	struct rg_outcome outcome;
	struct roger_message *after;
	size_t i;
	int r;

	r = rg_engine_find_page(roger->engine, &query, reply->memory, &found, &reply->unread, err);
	/* There may be mail in other issues. */
	if (r == ROGER_OK && !reply->unread)
		r = count_unread(roger, request, &reply->unread, err);
	if (r == ROGER_OK)
		r = rg_attempt_drop_due(roger, &found, reply->memory, due, err);
	if (r < 0)
		return r;
	reply->unread -= (int64_t)found.count;
	after = rg_arena_get(reply->memory, found.count * sizeof *after);
	if (!after || !rg_arena_copy(reply->memory, request->agent, &agent))
		return rg_fail_memory(err);
	for (i = 0; i < found.count; i++) {
		after[i] = found.items[i];
		after[i].read = true;
		after[i].read_at_ms = rg_clock_ms();
		after[i].read_by = rg_message_reader(&found.items[i], agent);
		/* Keep the name of the worker whose lease expired: its claim is found by that. */
		after[i].claimed_until_ms = 0;
		r = rg_engine_change(roger->engine, &found.items[i], &after[i], err);
		if (r < 0)
			return r;
	}
	reply->messages = (struct roger_message_list){ after, found.count };
	return rg_engine_commit(roger->engine, &outcome, err);
}

static int take_or_wait(struct roger *roger, const struct roger_inbox_request *request,
			struct roger_inbox_reply *reply, struct roger_err *err)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + request->wait_ms * 1000000;
	struct roger_message found;
	int64_t left_ms;
	int r = ROGER_OK;

	while (r == ROGER_OK) {
		/* A client that has hung up takes nothing. */
		if (request->wait_ms && roger->tell &&
		    !roger->tell(roger->tell_context, "wait", 0, 0))
			return count_unread(roger, request, &reply->unread, err);
		r = rg_attempt_take(roger, request->agent, take_mail, request, reply,
				    &reply->messages, err);
		left_ms = (until_ns - rg_clock_monotonic_ns()) / 1000000;
		if (r < 0 || reply->messages.count || left_ms <= 0)
			break;
		r = rg_engine_wait(roger->engine, request->agent, request->issue, request->from,
				   left_ms, reply->memory, &found, err);
	}
	return r;
}

/* If there is no mail, note that nobody knows the name, which may be a slip. */
static int note_stranger(struct roger *roger, const struct roger_inbox_request *request,
			 struct roger_inbox_reply *reply, struct roger_err *err)
{
	if (reply->messages.count || request->fresh)
		return ROGER_OK;
	return rg_send_note_reader(roger, reply->memory, request->agent, &reply->notes, err);
}

int rg_verb_inbox(struct roger *roger, const struct roger_inbox_request *request,
		  struct roger_inbox_reply *reply, struct roger_err *err)
{
	int r = find_mail(roger, request, reply, err);

	return r < 0 ? r : note_stranger(roger, request, reply, err);
}

static bool has_others(struct roger_str agent, const struct roger_message_list *messages)
{
	size_t i = 0;

	while (i < messages->count && !rg_message_reader(&messages->items[i], agent).length)
		i++;
	return i < messages->count;
}

int rg_verb_receive(struct roger *roger, const struct roger_inbox_request *request,
		    struct roger_inbox_reply *reply, struct roger_err *err)
{
	int r = take_or_wait(roger, request, reply, err);

	/* Lines of another agent's mail do not show that this agent looked, so note it. */
	if (r == ROGER_OK && has_others(request->agent, &reply->messages))
		rg_look_note(roger, request->agent, false, &reply->messages);
	return r < 0 ? r : note_stranger(roger, request, reply, err);
}

int rg_verb_looked(struct roger *roger, const struct roger_looked_request *request,
		   struct roger_looked_reply *reply, struct roger_err *err)
{
	const struct rg_query query = { .ids = request->ids.items,
					.id_count = request->ids.count,
					.to = request->agent,
					.gets = true };
	struct roger_message_list found;
	int r;

	r = rg_engine_find(roger->engine, &query, reply->memory, &found, err);
	if (r == ROGER_OK && !found.count)
		return rg_fail_member(err, ROGER_ENOENT, "ids",
				      "none of these is a message to '%.*s'",
				      RG_STR_ARGS(request->agent));
	if (r < 0)
		return r;
	rg_look_note(roger, request->agent, false, &found);
	/* The messages were shown, even if notes are off or could not be written. */
	rg_engine_note_shown(roger->engine, request->agent, request->ids.items, request->ids.count,
			     true);
	reply->looked = (int64_t)found.count;
	return ROGER_OK;
}
