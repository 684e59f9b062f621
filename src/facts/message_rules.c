#include "facts/message_rules.h"

#include "base/id.h"
#include "facts/person.h"

/* In the order of enum rg_message_fault. */
const char *const rg_message_fault_texts[] = {
	"unread, though the message was read before",
	"the message was archived before, which is final",
	"its number is not higher than those its sender used before",
	"its session had ended",
	"read and read_at contradict each other",
	"read before it was sent, according to the clocks of sender and reader",
	"reply_to names no message before it",
	NULL
};

void rg_message_rules_init(struct rg_message_rules *rules)
{
	*rules = (struct rg_message_rules){ 0 };
	rg_table_init(&rules->agents, sizeof(struct rg_message_agent));
	rg_table_init(&rules->seen.pairs, sizeof(struct rg_message_seen));
	rg_table_init(&rules->edges.pairs, sizeof(struct rg_message_seen));
}

void rg_message_rules_deinit(struct rg_message_rules *rules)
{
	rg_table_deinit(&rules->agents);
	rg_table_deinit(&rules->seen.pairs);
	rg_table_deinit(&rules->edges.pairs);
}

static uint64_t hash_of(struct roger_str text)
{
	return rg_hash(0, text.data, text.length);
}

static uint64_t pair_of(struct roger_str reader, struct roger_str sender)
{
	return rg_hash(hash_of(reader), sender.data, sender.length);
}

static struct rg_message_agent *agent_of(struct rg_message_rules *rules, struct roger_str name)
{
	bool fresh;

	return rg_table_put(&rules->agents, hash_of(name), &fresh);
}

/* Messages of one send share their number and go to different agents. */
static bool shares_number(const struct rg_message_agent *sender, uint64_t same_send, uint64_t to)
{
	return sender->same_send == same_send && to != sender->to_first && to != sender->to_last;
}

static unsigned judge_number(struct rg_message_rules *rules, struct rg_message_agent *sender,
			     const struct roger_message *message, bool own)
{
	const int64_t shared[] = { message->created_at_ms, message->type, message->pass,
				   (int64_t)message->content.length };
	uint64_t same_send = rg_hash(hash_of(message->issue), shared, sizeof shared),
		 to = hash_of(message->to);
	unsigned faults = 0;

	if (!message->seq)
		return 0;
	if (message->epoch > rules->epoch && !own)
		return 0;
	if (message->epoch < rules->epoch)
		return own ? RG_MESSAGE_EPOCH_BACK : 0;
	rules->epoch = message->epoch;
	if (message->epoch > sender->epoch || message->seq > sender->seq) {
		sender->seq = message->seq;
		sender->epoch = message->epoch;
		sender->to_first = to;
	} else if (!own || message->via.length) {
		/* A sender's messages may overtake each other on the way to several readers. */
		return 0;
	} else if (message->seq < sender->seq || !shares_number(sender, same_send, to)) {
		faults = RG_MESSAGE_NUMBER_BACK;
	}
	sender->same_send = same_send;
	sender->to_last = to;
	return faults;
}

static unsigned judge_state(const struct rg_message_before *before,
			    const struct roger_message *message, bool own)
{
	unsigned faults = 0;

	/* Roger repeats what another program's line says of the reading. */
	if (message->read != (message->read_at_ms > 0))
		faults |= own && before->foreign ? 0 : RG_MESSAGE_READ_WHEN;
	else if (message->read && message->read_at_ms < message->created_at_ms)
		faults |= RG_MESSAGE_READ_EARLY;
	if (message->reply_to.length && !before->answered)
		faults |= RG_MESSAGE_ANSWERS_NONE;
	/* If another program wrote in between, roger may not have seen that line. */
	if (!own || !before->known || before->foreign)
		return faults;
	if (before->archived)
		return faults | RG_MESSAGE_AFTER_ARCHIVE;
	return before->read && !message->read ? faults | RG_MESSAGE_UNREAD_AGAIN : faults;
}

/* Raise the reader's number of the sender. */
static int raise_mark(struct rg_message_marks *marks, const struct roger_message *message,
		      struct roger_err *err)
{
	struct rg_message_seen *seen;
	bool fresh;

	if (!message->seq)
		return ROGER_OK;
	seen = rg_table_put(&marks->pairs, pair_of(message->to, message->from), &fresh);
	if (!seen)
		return rg_fail_memory(err);
	if (message->epoch > seen->epoch ||
	    (message->epoch == seen->epoch && message->seq > seen->seq)) {
		marks->numbers += message->seq - seen->seq;
		seen->epoch = message->epoch;
		seen->seq = message->seq;
	}
	return ROGER_OK;
}

static int take_new(struct rg_message_rules *rules, const struct roger_message *message, bool own,
		    unsigned *faults, struct roger_err *err)
{
	struct rg_message_agent *sender = agent_of(rules, message->from);
	unsigned number;

	if (!sender)
		return rg_fail_memory(err);
	number = judge_number(rules, sender, message, own);
	*faults |= rg_message_is_later(message) ? 0 : number;
	rules->keys += message->key.length > 0;
	rules->replies += message->reply_to.length > 0;
	return message->via.length ? raise_mark(&rules->edges, message, err) : ROGER_OK;
}

int rg_message_rules_take(struct rg_message_rules *rules, const struct rg_message_before *before,
			  const struct roger_message *message, bool own, unsigned *ret_faults,
			  struct roger_err *err)
{
	const bool lives = !before->archived && !message->archived_at_ms;
	struct rg_message_agent *to;
	int r = ROGER_OK;

	*ret_faults = judge_state(before, message, own);
	if (!before->known)
		r = take_new(rules, message, own, ret_faults, err);
	if (r < 0)
		return r;
	to = agent_of(rules, message->to);
	if (!to)
		return rg_fail_memory(err);
	to->unread += lives && !message->read;
	to->unread -= before->known && !before->archived && !before->read;
	return lives && message->read && !before->read && rg_message_read_itself(message)
		       ? raise_mark(&rules->seen, message, err)
		       : ROGER_OK;
}

const struct rg_message_agent *rg_message_rules_agent(const struct rg_message_rules *rules,
						      struct roger_str name)
{
	return rg_table_find(&rules->agents, hash_of(name));
}
