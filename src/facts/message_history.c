#include "facts/message_history.h"

#include "base/id.h"
#include "facts/person.h"

/* What is known about a message, in 24 bytes. */
struct known {
	uint64_t hash; /* of its id */
	int64_t row;   /* its share of the sum of rows until it is archived */
	uint64_t facts;
};

/* facts, from the top: 22 bits of its text's hash, 2 unused, 37 bits of its line, 3 flags. */
enum { READ = 1, ARCHIVED = 2, FOREIGN = 4, LINE_AT = 3 };
#define LINE_MASK ((UINT64_C(1) << 37) - 1)
#define TEXT_MASK (~UINT64_C(0) << 42)

const char *const rg_message_sum_names[RG_MESSAGE_SUMS] = {
	"lines read",
	"lines that are no messages",
	"rows of messages",
	"unread rows of messages",
	"rows of mailbox",
	"positions in mailbox, added up",
	"rows of archived",
	"positions in archived, added up",
	"rows of keys",
	"rows of replies",
	"messages sent, by agents",
	"messages received, by agents",
	"messages unread, by agents",
	"rows of last_seen",
	"numbers in last_seen, added up",
	"rows of edges",
	"numbers in edges, added up",
	"messages, by issues",
};

/* In the order of enum rg_message_fault. */
const char *const rg_message_fault_texts[] = {
	"its id belongs to another message",
	"unread, though the message was read before",
	"the message was archived before, which is final",
	"its number is not higher than those its sender used before",
	"its session had ended",
	"read and read_at contradict each other",
	"read before it was sent, according to the clocks of sender and reader",
	"reply_to names no message before it",
	NULL
};

void rg_message_history_init(struct rg_message_history *history)
{
	*history = (struct rg_message_history){ 0 };
	rg_table_init(&history->messages, sizeof(struct known));
	rg_table_init(&history->agents, sizeof(struct rg_message_agent));
	rg_table_init(&history->seen, sizeof(struct rg_message_seen));
	rg_table_init(&history->edges, sizeof(struct rg_message_seen));
	rg_buf_init(&history->scratch, SIZE_MAX);
}

void rg_message_history_deinit(struct rg_message_history *history)
{
	rg_table_deinit(&history->messages);
	rg_table_deinit(&history->agents);
	rg_table_deinit(&history->seen);
	rg_table_deinit(&history->edges);
	rg_buf_deinit(&history->scratch);
}

/* ---------------------------------------------------------------- hashes -- */

static uint64_t hash_of(struct roger_str text)
{
	return rg_hash(0, text.data, text.length);
}

static uint64_t pair_of(struct roger_str reader, struct roger_str sender)
{
	return rg_hash(hash_of(reader), sender.data, sender.length);
}

static void add_text(struct rg_buf *to, struct roger_str text)
{
	rg_buf_add(to, &text.length, sizeof text.length);
	rg_buf_add_str(to, text);
}

uint64_t rg_message_text(struct rg_buf *scratch, const struct roger_message *message)
{
	const int64_t numbers[] = { message->pass, message->type, message->created_at_ms };

	rg_buf_clear(scratch);
	add_text(scratch, message->id);
	add_text(scratch, message->issue);
	add_text(scratch, message->from);
	add_text(scratch, message->to);
	add_text(scratch, message->content);
	add_text(scratch, message->metadata);
	rg_buf_add(scratch, numbers, sizeof numbers);
	return rg_hash(1, scratch->data, scratch->failed ? 0 : scratch->length);
}

static int64_t row_of(uint64_t text, const struct roger_message *message)
{
	const int64_t state[] = { message->read, message->read_at_ms };

	return (int64_t)rg_hash(text, state, sizeof state);
}

int64_t rg_message_row(struct rg_buf *scratch, const struct roger_message *message)
{
	return row_of(rg_message_text(scratch, message), message);
}

static int64_t line_of(const struct known *known)
{
	return (int64_t)(known->facts >> LINE_AT & LINE_MASK);
}

/* Sums of hashes may overflow. */
static void add_row(int64_t *sum, int64_t row, bool minus)
{
	*sum = (int64_t)(minus ? (uint64_t)*sum - (uint64_t)row : (uint64_t)*sum + (uint64_t)row);
}

/* --------------------------------------------------------------- numbers -- */

static struct rg_message_agent *agent_of(struct rg_message_history *history, struct roger_str name)
{
	bool fresh;

	return rg_table_put(&history->agents, hash_of(name), &fresh);
}

/* Messages of one send share their number and go to different agents. */
static bool shares_number(const struct rg_message_agent *sender, uint64_t same_send, uint64_t to)
{
	return sender->same_send == same_send && to != sender->to_first && to != sender->to_last;
}

static unsigned judge_number(struct rg_message_history *history, struct rg_message_agent *sender,
			     const struct roger_message *message, bool own)
{
	const int64_t shared[] = { message->created_at_ms, message->type, message->pass,
				   (int64_t)message->content.length };
	uint64_t same_send = rg_hash(hash_of(message->issue), shared, sizeof shared),
		 to = hash_of(message->to);
	unsigned faults = 0;

	if (!message->seq)
		return 0;
	if (message->epoch > history->epoch && !own)
		return 0;
	if (message->epoch < history->epoch)
		return own ? RG_MESSAGE_EPOCH_BACK : 0;
	history->epoch = message->epoch;
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

/* Raise the reader's number of the sender; *count and *numbers are the table's sums. */
static int raise_mark(struct rg_table *table, const struct roger_message *message, int64_t *count,
		      int64_t *numbers, struct roger_err *err)
{
	struct rg_message_seen *seen;
	bool fresh;

	if (!message->seq)
		return ROGER_OK;
	seen = rg_table_put(table, pair_of(message->to, message->from), &fresh);
	if (!seen)
		return rg_fail_memory(err);
	*count += fresh;
	if (message->epoch > seen->epoch ||
	    (message->epoch == seen->epoch && message->seq > seen->seq)) {
		*numbers += message->seq - seen->seq;
		seen->epoch = message->epoch;
		seen->seq = message->seq;
	}
	return ROGER_OK;
}

static int note_seen(struct rg_message_history *history, const struct roger_message *message,
		     struct roger_err *err)
{
	if (!rg_message_read_itself(message))
		return ROGER_OK;
	return raise_mark(&history->seen, message, &history->sums.seen, &history->sums.seen_numbers,
			  err);
}

static int note_edge(struct rg_message_history *history, const struct roger_message *message,
		     struct roger_err *err)
{
	if (!message->via.length)
		return ROGER_OK;
	return raise_mark(&history->edges, message, &history->sums.edges,
			  &history->sums.edge_numbers, err);
}

/* ---------------------------------------------------------------- states -- */

static void move_unread(struct rg_message_history *history, struct rg_message_agent *to,
			int64_t line, int by)
{
	to->unread += by;
	history->sums.unread += by;
	history->sums.agents_unread += by;
	history->sums.mailbox += by;
	history->sums.mailbox_positions += by * line;
}

/* A message is added, or archived. */
static void move_living(struct rg_message_history *history, struct rg_message_agent *to,
			const struct known *known, int by)
{
	history->sums.messages += by;
	history->sums.in_issues += by;
	add_row(&history->sums.rows, known->row, by < 0);
	if (!(known->facts & READ))
		move_unread(history, to, line_of(known), by);
}

static void enter(struct rg_message_history *history, struct rg_message_agent *to,
		  struct known *known, const struct roger_message *message, uint64_t text, bool own)
{
	int64_t line = line_of(known);

	known->facts = (text & TEXT_MASK) | (uint64_t)line << LINE_AT | (message->read ? READ : 0) |
		       (message->archived_at_ms ? ARCHIVED : 0) | (own ? 0 : FOREIGN);
	if (message->archived_at_ms) {
		history->sums.archived++;
		history->sums.archived_positions += line;
		return;
	}
	known->row = row_of(text, message);
	move_living(history, to, known, 1);
}

static unsigned judge_reading(const struct roger_message *message)
{
	if (message->read != (message->read_at_ms > 0))
		return RG_MESSAGE_READ_WHEN;
	return message->read && message->read_at_ms < message->created_at_ms ? RG_MESSAGE_READ_EARLY
									     : 0;
}

static unsigned judge_change(const struct known *known, const struct roger_message *message,
			     uint64_t text)
{
	unsigned faults = 0;

	/* If another program wrote in between, roger may not have seen that line. */
	if (known->facts & FOREIGN)
		return 0;
	if ((known->facts & TEXT_MASK) != (text & TEXT_MASK))
		faults |= RG_MESSAGE_ID_TAKEN;
	if (known->facts & ARCHIVED)
		faults |= RG_MESSAGE_AFTER_ARCHIVE;
	else if ((known->facts & READ) && !message->read)
		faults |= RG_MESSAGE_UNREAD_AGAIN;
	return faults;
}

static unsigned judge_reply(const struct rg_message_history *history,
			    const struct roger_message *message)
{
	if (!message->reply_to.length ||
	    rg_table_find(&history->messages, hash_of(message->reply_to)))
		return 0;
	return RG_MESSAGE_ANSWERS_NONE;
}

static int add_new(struct rg_message_history *history, struct known *known,
		   const struct roger_message *message, int64_t line, uint64_t text, bool own,
		   struct rg_message_step *step, struct roger_err *err)
{
	struct rg_message_agent *sender = agent_of(history, message->from), *to;
	int r;

	if (!sender)
		return rg_fail_memory(err);
	step->added = true;
	step->faults |= judge_number(history, sender, message, own);
	to = agent_of(history, message->to);
	if (!to)
		return rg_fail_memory(err);
	known->facts = (uint64_t)line << LINE_AT;
	enter(history, to, known, message, text, own);
	history->sums.sent++;
	history->sums.received++;
	history->sums.keys += message->key.length > 0;
	history->sums.replies += message->reply_to.length > 0;
	r = note_edge(history, message, err);
	if (r < 0)
		return r;
	return message->read && !message->archived_at_ms ? note_seen(history, message, err)
							 : ROGER_OK;
}

static int change(struct rg_message_history *history, struct known *known,
		  const struct roger_message *message, uint64_t text, bool own,
		  struct rg_message_step *step, struct roger_err *err)
{
	struct rg_message_agent *to = agent_of(history, message->to);
	bool was_read = known->facts & READ;

	if (!to)
		return rg_fail_memory(err);
	if (own)
		step->faults |= judge_change(known, message, text);
	/* Archived is final: later lines with this id are history. */
	if (known->facts & ARCHIVED)
		return ROGER_OK;
	step->left = message->archived_at_ms > 0;
	move_living(history, to, known, -1);
	enter(history, to, known, message, text, own);
	return message->read && !was_read && !step->left ? note_seen(history, message, err)
							 : ROGER_OK;
}

int rg_message_history_take(struct rg_message_history *history, const struct roger_message *message,
			    int64_t line, bool own, struct rg_message_step *ret_step,
			    struct roger_err *err)
{
	uint64_t text = rg_message_text(&history->scratch, message);
	struct known *known;
	bool fresh;

	if (history->scratch.failed)
		return rg_fail_memory(err);
	*ret_step = (struct rg_message_step){ .faults = judge_reading(message) |
							judge_reply(history, message) };
	known = rg_table_put(&history->messages, hash_of(message->id), &fresh);
	if (!known)
		return rg_fail_memory(err);
	return fresh ? add_new(history, known, message, line, text, own, ret_step, err)
		     : change(history, known, message, text, own, ret_step, err);
}

/* ---------------------------------------------------------------- asking -- */

bool rg_message_history_find(const struct rg_message_history *history, struct roger_str id,
			     struct rg_message_known *ret_known)
{
	const struct known *known = rg_table_find(&history->messages, hash_of(id));

	if (known)
		*ret_known = (struct rg_message_known){ line_of(known), known->facts & READ,
							known->facts & ARCHIVED };
	return known != NULL;
}

const struct rg_message_agent *rg_message_history_agent(const struct rg_message_history *history,
							struct roger_str name)
{
	return rg_table_find(&history->agents, hash_of(name));
}

const struct rg_message_seen *rg_message_history_seen(const struct rg_message_history *history,
						      struct roger_str reader,
						      struct roger_str sender)
{
	return rg_table_find(&history->seen, pair_of(reader, sender));
}
