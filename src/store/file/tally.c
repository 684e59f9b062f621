#include "store/file/tally.h"

static uint64_t mailbox_of(const struct roger_message *message)
{
	return rg_count_hash(RG_COUNT_MAILBOX, message->issue_id, message->to_phase);
}

static uint64_t issue_of(const struct roger_message *message)
{
	return rg_count_hash(RG_COUNT_ISSUE, message->issue_id, RG_STR(""));
}

static uint64_t key_of(const struct roger_message *message)
{
	return rg_count_hash(RG_COUNT_KEY, message->from_phase, message->idempotent_key);
}

static void move_count(struct rg_control *control, uint64_t hash, int64_t by)
{
	uint64_t count = rg_control_find_count(control, hash);

	if (by < 0 && count < (uint64_t)-by)
		count = 0;
	else
		count += (uint64_t)by;
	rg_control_put_count(control, hash, count);
}

static void move_unread(struct rg_control *control, struct roger_str name, int by)
{
	struct rg_agent agent;

	(void)!rg_control_find_agent(control, name, &agent);
	if (by > 0 ? agent.unread < RG_CONTROL_MAYBE : agent.unread > 0)
		agent.unread += (uint32_t)by;
	rg_control_put_agent(control, name, &agent);
}

void rg_tally_know(struct rg_control *control, struct roger_str name)
{
	struct rg_agent agent;

	if (!rg_control_find_agent(control, name, &agent))
		rg_control_put_agent(control, name, &agent);
}

/* A foreign line is data: it cannot open a session, and counts only in the one in force. */
static void raise_number(struct rg_control *control, const struct roger_message *message, bool own)
{
	struct rg_agent sender;

	if (!rg_control_find_agent(control, message->from_phase, &sender))
		rg_control_put_agent(control, message->from_phase, &sender);
	if (message->epoch > rg_control_epoch(control)) {
		if (!own)
			return;
		rg_control_set_epoch(control, message->epoch);
	}
	if (message->epoch < sender.epoch ||
	    (message->epoch == sender.epoch && message->seq <= sender.seq))
		return;
	sender.epoch = message->epoch;
	sender.seq = message->seq;
	rg_control_put_agent(control, message->from_phase, &sender);
}

void rg_tally_number(struct rg_control *control, const struct roger_message *message)
{
	raise_number(control, message, true);
}

void rg_tally_add(struct rg_control *control, const struct roger_message *message)
{
	move_count(control, mailbox_of(message), 1);
	move_count(control, issue_of(message), 1);
	if (message->idempotent_key.length)
		move_count(control, key_of(message), 1);
	if (!message->read)
		move_unread(control, message->to_phase, 1);
}

void rg_tally_undo(struct rg_control *control, const struct roger_message *message)
{
	move_count(control, mailbox_of(message), -1);
	move_count(control, issue_of(message), -1);
	if (message->idempotent_key.length)
		move_count(control, key_of(message), -1);
	if (!message->read)
		move_unread(control, message->to_phase, -1);
}

/* A line may be a new message or a new state of one: it is counted as new, which is never too low.
 */
bool rg_tally_adopt(void *context, struct rg_control *control, struct roger_str line, bool own)
{
	struct roger_message message;
	struct rg_arena *arena;
	struct rg_json *json;
	bool room;
	int r;

	(void)context;
	/* Out of memory is like out of room: the line does not count as known. */
	arena = rg_arena_new();
	if (!arena)
		return false;
	r = rg_message_read(line, &json, arena, &message, NULL);
	room = r != ROGER_ENOMEM;
	if (r == ROGER_OK) {
		room = rg_control_has_room(control, RG_TALLY_AGENTS, RG_TALLY_COUNTS);
		if (room) {
			rg_tally_know(control, message.to_phase);
			raise_number(control, &message, own);
			rg_tally_add(control, &message);
		}
		rg_json_free(json);
	}
	rg_arena_free(arena);
	return room;
}

void rg_tally_change(struct rg_control *control, const struct roger_message *before,
		     const struct roger_message *after)
{
	if (!before->read && (after->read || after->archived_at_ms))
		move_unread(control, before->to_phase, -1);
	if (before->read && !after->read && !after->archived_at_ms)
		move_unread(control, after->to_phase, 1);
	if (after->archived_at_ms) {
		move_count(control, mailbox_of(before), -1);
		move_count(control, issue_of(before), -1);
	}
}

int64_t rg_tally_next_number(struct rg_control *control, struct roger_str sender)
{
	int64_t epoch = rg_control_epoch(control);
	struct rg_agent agent;

	(void)!rg_control_find_agent(control, sender, &agent);
	if (agent.epoch != epoch) {
		agent.epoch = epoch;
		agent.seq = 0;
	}
	agent.seq++;
	rg_control_put_agent(control, sender, &agent);
	return agent.seq;
}

int64_t rg_tally_mailbox(struct rg_control *control, const struct roger_message *message)
{
	return (int64_t)rg_control_find_count(control, mailbox_of(message));
}

int64_t rg_tally_issue(struct rg_control *control, const struct roger_message *message)
{
	return (int64_t)rg_control_find_count(control, issue_of(message));
}

bool rg_tally_knows_key(struct rg_control *control, const struct roger_message *message)
{
	return rg_control_find_count(control, key_of(message)) > 0;
}
