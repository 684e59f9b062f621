/*
 * notice: roger tells the sender, once, that its message was rejected, is blocked, or died.
 *
 * The message's line is on disk first, and says that a notice is due. The notice has a key made of
 * the message, so it is sent once, whichever process is killed; then a line of the message says
 * that no notice is due. A notice that cannot be sent now (a full mailbox) stays due.
 */
#include "ops/keys/attempt.h"
#include "facts/retirement.h"
#include "facts/message.h"
#include "facts/person.h"

/* "run" is the child of a run that names none, and reads nothing. */
bool rg_notice_may(const struct roger *roger, const struct roger_message *message)
{
	return !rg_config_reserves_sender(roger->workspace->config, message->from) &&
	       !rg_str_equal(message->from, message->to) &&
	       !rg_str_equal(message->from, RG_STR("run"));
}

static void print_content(const struct roger_message *message, bool note, struct rg_buf *out)
{
	const bool refused = message->ack_outcome == ROGER_ACK_REJECTED;

	if (message->read)
		rg_buf_printf(out, "%.*s %s ",
			      RG_STR_ARGS(rg_message_in_place(message) ? RG_STR(RG_PERSON)
					  : message->read_by.length    ? message->read_by
								       : message->to),
			      refused ? "rejected" : "is blocked on");
	rg_buf_printf(out, "%.*s#%lld", RG_STR_ARGS(message->from), (long long)message->seq);
	if (!message->read && message->dead_at_ms)
		rg_buf_printf(out, " to %.*s is a dead letter: %lld leases of it expired",
			      RG_STR_ARGS(message->to), (long long)message->leases);
	else if (!message->read)
		rg_buf_printf(out, " to %.*s is a dead letter: not read in time",
			      RG_STR_ARGS(message->to));
	else if (note && message->ack_note.length)
		rg_buf_printf(out, ": %.*s", RG_STR_ARGS(message->ack_note));
}

/* Find the reader of the notice: the sender; if it retired, its successor, else a person. */
static int find_reader(struct roger *roger, struct roger_str from, struct rg_arena *arena,
		       struct roger_str *ret_to)
{
	struct roger_retired_list retired;
	int r = rg_engine_retired(roger->engine, arena, &retired, NULL);

	*ret_to = from;
	if (r == ROGER_OK && rg_retired_find(&retired, from)) {
		*ret_to = rg_retired_heir(&retired, from);
		*ret_to = ret_to->length ? *ret_to : RG_STR(RG_PERSON);
	}
	return r;
}

/* Send the notice.  A dry run comes first, since each refusal goes into the send log. */
static int send_notice(struct roger *roger, struct roger_send_request *request)
{
	struct roger_send_reply reply;
	int i, r = ROGER_OK;

	rg_assert(!roger->own_mail);
	for (i = 0; i < 2 && r == ROGER_OK; i++) {
		request->dry_run = i == 0;
		roger->own_mail = true;
		r = rg_op_call(&rg_op_send, roger, request, &reply, NULL);
		roger->own_mail = false;
		if (r == ROGER_OK)
			rg_arena_free(reply.memory);
	}
	return r;
}

/* Was the notice sent?  The send log knows, even if the notice's line was damaged since. */
static int was_sent(struct roger *roger, struct roger_str key, struct rg_arena *arena,
		    bool *ret_sent)
{
	const struct rg_log_query log = {
		.log = RG_LOG_SENDS, .owner = RG_STR("roger"), .key = key, .states = true
	};
	struct rg_records lines;
	size_t i;
	int r = rg_records_read(roger, &log, arena, &lines, NULL);

	for (*ret_sent = false, i = 0; r == ROGER_OK && i < lines.count; i++)
		*ret_sent |=
			lines.attempts[i].outcome == ROGER_DELIVERED && !lines.attempts[i].pending;
	return r;
}

static int tell_sender(struct roger *roger, const struct roger_message *message,
		       struct rg_arena *arena)
{
	struct roger_str to;
	struct roger_send_request request = { .from = RG_STR("roger"),
					      .to = { &to, 1 },
					      .issue = message->issue,
					      .type = ROGER_CONTEXT,
					      .reply_to = message->id,
					      .new_ = true };
	bool sent;
	int note, r;

	rg_assert(message->notice_due);
	if (!rg_arena_print(arena, &request.key, "%.*s:notice:1", RG_STR_ARGS(message->id)))
		return ROGER_ENOMEM;
	r = was_sent(roger, request.key, arena, &sent);
	if (r == ROGER_OK && !sent)
		r = find_reader(roger, message->from, arena, &to);
	if (r < 0 || sent)
		return r;
	/* A note may be too long for a message. */
	for (note = 1, r = ROGER_EDATA; note >= 0 && r == ROGER_EDATA; note--) {
		RG_CLEANUP(rg_buf_deinit) struct rg_buf content = { .maximum = SIZE_MAX };

		print_content(message, note, &content);
		if (content.failed)
			return ROGER_ENOMEM;
		request.content = rg_buf_str(&content);
		r = send_notice(roger, &request);
	}
	return r;
}

int rg_notice_send(struct roger *roger, const struct roger_message *message)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	int r = arena ? tell_sender(roger, message, arena) : ROGER_ENOMEM;

	return r < 0 ? r : rg_attempt_told(roger, &message->id, arena, NULL);
}
