#include "engine/local/tally.h"

static struct rg_count_slot *slot_of(struct rg_control *control, enum rg_count kind,
				     struct roger_str first, struct roger_str second)
{
	return rg_control_count(control, rg_count_hash(kind, first, second));
}

static struct rg_count_slot *mailbox_slot(struct rg_control *control,
					  const struct roger_message *message)
{
	return slot_of(control, RG_COUNT_MAILBOX, message->issue_id, message->to_phase);
}

static struct rg_count_slot *issue_slot(struct rg_control *control,
					const struct roger_message *message)
{
	return slot_of(control, RG_COUNT_ISSUE, message->issue_id, RG_STR(""));
}

static void move_count(struct rg_count_slot *slot, int64_t by)
{
	uint64_t count = atomic_load_explicit(&slot->count, memory_order_relaxed);

	if (by < 0 && count < (uint64_t)-by)
		count = 0;
	else
		count += (uint64_t)by;
	atomic_store_explicit(&slot->count, count, memory_order_relaxed);
}

static void move_unread(struct rg_agent_slot *slot, int by)
{
	uint32_t unread = atomic_load_explicit(&slot->unread, memory_order_relaxed);

	if (by > 0 || unread > 0)
		atomic_store_explicit(&slot->unread, unread + (uint32_t)by, memory_order_release);
}

/* A foreign line is data: it cannot open a session, and counts only in the one in force. */
static void raise_number(struct rg_control *control, const struct roger_message *message, bool own)
{
	struct rg_agent_slot *sender = rg_control_agent(control, message->from_phase);
	struct rg_control_page *page = rg_control_page(control);

	if (message->epoch > atomic_load(&page->epoch)) {
		if (!own)
			return;
		atomic_store(&page->epoch, message->epoch);
	}
	if (message->epoch > sender->epoch) {
		sender->epoch = message->epoch;
		sender->seq = message->seq;
	} else if (message->epoch == sender->epoch && message->seq > sender->seq) {
		sender->seq = message->seq;
	}
}

void rg_tally_number(struct rg_control *control, const struct roger_message *message)
{
	raise_number(control, message, true);
}

void rg_tally_add(struct rg_control *control, const struct roger_message *message)
{
	move_count(mailbox_slot(control, message), 1);
	move_count(issue_slot(control, message), 1);
	if (message->idempotent_key.length)
		move_count(slot_of(control, RG_COUNT_KEY, message->from_phase,
				   message->idempotent_key),
			   1);
	if (!message->read)
		move_unread(rg_control_agent(control, message->to_phase), 1);
}

void rg_tally_undo(struct rg_control *control, const struct roger_message *message)
{
	move_count(mailbox_slot(control, message), -1);
	move_count(issue_slot(control, message), -1);
	if (message->idempotent_key.length)
		move_count(slot_of(control, RG_COUNT_KEY, message->from_phase,
				   message->idempotent_key),
			   -1);
	if (!message->read)
		move_unread(rg_control_agent(control, message->to_phase), -1);
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
			rg_control_agent(control, message.to_phase);
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
		move_unread(rg_control_agent(control, before->to_phase), -1);
	if (before->read && !after->read && !after->archived_at_ms)
		move_unread(rg_control_agent(control, after->to_phase), 1);
	if (after->archived_at_ms) {
		move_count(mailbox_slot(control, before), -1);
		move_count(issue_slot(control, before), -1);
	}
}

int64_t rg_tally_next_number(struct rg_control *control, struct roger_str sender)
{
	struct rg_agent_slot *slot = rg_control_agent(control, sender);
	int64_t epoch = atomic_load(&rg_control_page(control)->epoch);

	if (slot->epoch != epoch) {
		slot->epoch = epoch;
		slot->seq = 0;
	}
	return ++slot->seq;
}

int64_t rg_tally_mailbox(struct rg_control *control, const struct roger_message *message)
{
	return (int64_t)mailbox_slot(control, message)->count;
}

int64_t rg_tally_issue(struct rg_control *control, const struct roger_message *message)
{
	return (int64_t)issue_slot(control, message)->count;
}

bool rg_tally_knows_key(struct rg_control *control, const struct roger_message *message)
{
	struct rg_count_slot *slot = rg_control_find_count(
		control, rg_count_hash(RG_COUNT_KEY, message->from_phase, message->idempotent_key));

	return slot && slot->count > 0;
}
