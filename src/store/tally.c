#include "store/tally.h"

uint64_t rg_tally_box(struct roger_str issue, struct roger_str to)
{
	return rg_count_hash(to.length ? RG_COUNT_MAILBOX : RG_COUNT_ISSUE, issue, to);
}

static uint64_t mailbox_of(const struct roger_message *message)
{
	return rg_tally_box(message->issue, message->to);
}

static uint64_t issue_of(const struct roger_message *message)
{
	return rg_tally_box(message->issue, RG_STR(""));
}

static uint64_t key_of(const struct roger_message *message)
{
	return rg_count_hash(RG_COUNT_KEY, message->from, message->key);
}

int64_t rg_tally_epoch(struct rg_store *store)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_SESSION };
	struct rg_figure session;

	return store->ops->figure(store, &key, &session) ? session.epoch : 0;
}

void rg_tally_set_epoch(struct rg_store *store, int64_t epoch)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_SESSION };
	const struct rg_figure session = { .epoch = epoch };

	store->ops->put_figure(store, &key, &session);
}

bool rg_tally_knows_agent(struct rg_store *store, struct roger_str name)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_NAME, .name = name };
	struct rg_figure agent;

	return store->ops->figure(store, &key, &agent);
}

bool rg_tally_find_agent(struct rg_store *store, struct roger_str name, struct rg_figure *ret_agent)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_AGENT, .name = name };

	return store->ops->figure(store, &key, ret_agent);
}

void rg_tally_put_agent(struct rg_store *store, struct roger_str name,
			const struct rg_figure *agent)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_AGENT, .name = name };

	store->ops->put_figure(store, &key, agent);
}

uint64_t rg_tally_count(struct rg_store *store, uint64_t hash)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_COUNT, .hash = hash };
	struct rg_figure figure;

	return store->ops->figure(store, &key, &figure) ? figure.count : 0;
}

void rg_tally_put_count(struct rg_store *store, uint64_t hash, uint64_t count)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_COUNT, .hash = hash };
	const struct rg_figure figure = { .count = count };

	store->ops->put_figure(store, &key, &figure);
}

static int64_t move_count(struct rg_store *store, uint64_t hash, int64_t by)
{
	uint64_t count = rg_tally_count(store, hash);

	if (by < 0 && count < (uint64_t)-by)
		count = 0;
	else
		count += (uint64_t)by;
	rg_tally_put_count(store, hash, count);
	return (int64_t)count;
}

/* Change an agent's unread count.  A change by 0 makes the agent known. */
static void move_unread(struct rg_store *store, struct roger_str name, int by)
{
	struct rg_figure agent;

	if (!rg_tally_find_agent(store, name, &agent))
		agent = (struct rg_figure){ 0 };
	if (by > 0 ? agent.count < UINT32_MAX : agent.count > 0)
		agent.count += (uint64_t)(int64_t)by;
	rg_tally_put_agent(store, name, &agent);
}

/* Remember a sender's number.  A foreign line starts no epoch, and counts in the current one. */
static void raise_number(struct rg_store *store, struct roger_str name, int64_t epoch, int64_t seq,
			 bool own)
{
	struct rg_figure sender;

	if (!rg_tally_find_agent(store, name, &sender)) {
		sender = (struct rg_figure){ 0 };
		rg_tally_put_agent(store, name, &sender);
	}
	if (epoch > rg_tally_epoch(store)) {
		if (!own)
			return;
		rg_tally_set_epoch(store, epoch);
	}
	if (epoch < sender.epoch || (epoch == sender.epoch && seq <= sender.seq))
		return;
	sender.epoch = epoch;
	sender.seq = seq;
	rg_tally_put_agent(store, name, &sender);
}

void rg_tally_number(struct rg_store *store, struct roger_str sender, int64_t epoch, int64_t seq)
{
	raise_number(store, sender, epoch, seq, true);
}

struct rg_tally_counts rg_tally_add(struct rg_store *store, const struct roger_message *message)
{
	struct rg_tally_counts counts = { 0 };

	counts.mailbox = move_count(store, mailbox_of(message), 1);
	counts.issue = move_count(store, issue_of(message), 1);
	if (message->key.length)
		move_count(store, key_of(message), 1);
	move_unread(store, message->to, !message->read);
	return counts;
}

void rg_tally_undo(struct rg_store *store, const struct roger_message *message)
{
	move_count(store, mailbox_of(message), -1);
	move_count(store, issue_of(message), -1);
	if (message->key.length)
		move_count(store, key_of(message), -1);
	if (!message->read)
		move_unread(store, message->to, -1);
}

/* Count the line as a new message, though it may be a new state of one: so no count is too low. */
bool rg_tally_adopt(struct rg_store *store, struct roger_str line, bool own)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	int r;

	r = arena ? rg_message_read_within(line, arena, &message, NULL) : ROGER_ENOMEM;
	if (r == ROGER_OK) {
		raise_number(store, message.from, message.epoch, message.seq, own);
		rg_tally_add(store, &message);
	}
	rg_arena_free(arena);
	return r != ROGER_ENOMEM;
}

void rg_tally_change(struct rg_store *store, const struct roger_message *before,
		     const struct roger_message *after)
{
	if (!before->read && (after->read || after->archived_at_ms))
		move_unread(store, before->to, -1);
	if (before->read && !after->read && !after->archived_at_ms)
		move_unread(store, after->to, 1);
	if (after->archived_at_ms) {
		move_count(store, mailbox_of(before), -1);
		move_count(store, issue_of(before), -1);
	}
}

int64_t rg_tally_next_number(struct rg_store *store, struct roger_str sender, int64_t epoch)
{
	struct rg_figure agent;

	if (!rg_tally_find_agent(store, sender, &agent))
		agent = (struct rg_figure){ 0 };
	if (agent.epoch != epoch) {
		agent.epoch = epoch;
		agent.seq = 0;
	}
	agent.seq++;
	rg_tally_put_agent(store, sender, &agent);
	return agent.seq;
}

bool rg_tally_knows_key(struct rg_store *store, const struct roger_message *message)
{
	return rg_tally_count(store, key_of(message)) > 0;
}
