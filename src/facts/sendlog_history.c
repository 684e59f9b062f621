#include "facts/sendlog_history.h"

#include "base/id.h"

struct cycle {
	uint64_t hash;
	int64_t number;
};

/* An entry that follows from a line of the journal. */
struct expected {
	uint64_t hash;	/* hash of its id */
	uint64_t facts; /* hash of payload and message */
	uint64_t offset;
	uint64_t marks; /* flags DELIVERS, DEMANDED, SAID */
};
enum { DELIVERS = 1, DEMANDED = 2, SAID = 4 };

struct payload {
	uint64_t hash; /* hash of the message id */
	uint64_t facts;
};

/* By message: its letter; by name of a letter: that it exists. */
struct letter {
	uint64_t hash;
	uint64_t id;
};

struct entry {
	uint64_t hash;	/* hash of its id */
	uint64_t place; /* which attempt of the target, from 0 */
	uint64_t outcome;
};

/* timeouts: one bit per attempt, the first is the lowest. */
struct target {
	uint64_t hash;
	uint64_t message; /* hash of the last attempt's message id */
	int64_t line;	  /* of the last attempt, in this log: */
	uint32_t log;
	uint32_t timeouts;
	uint32_t last; /* highest number */
	uint16_t count;
	uint8_t max_attempts;
	bool waited; /* the last attempt had to be read in time */
};
enum { ATTEMPTS_SEEN = 32 };

/* In the order of enum rg_sendlog_fault. */
const char *const rg_sendlog_fault_texts[] = {
	"its id does not match its members",
	"checksum, length or message id differ from the message",
	"the journal holds no such attempt of a message",
	"delivered, but the journal has no evidence of that",
	"the attempt before it is missing",
	"the attempt was delivered before; that is final",
	"it names a dead letter that does not exist",
	"its cycle was never opened",
	"the message has another dead letter already",
	"its id was used before, or its number is not the next one",
	"the attempt before it has no recorded outcome",
	"its dead letter is gone",
	NULL
};

int rg_sendlog_history_init(struct rg_sendlog_history *history, int64_t cycles_kept,
			    struct roger_err *err)
{
	const struct roger_cycle first = { .id = RG_STR(RG_FIRST_CYCLE), .number = 1 };
	unsigned unused;

	*history = (struct rg_sendlog_history){ .cycles_kept = cycles_kept };
	rg_table_init(&history->cycles, sizeof(struct cycle));
	rg_table_init(&history->expected, sizeof(struct expected));
	rg_table_init(&history->payloads, sizeof(struct payload));
	rg_table_init(&history->letters, sizeof(struct letter));
	rg_table_init(&history->entries, sizeof(struct entry));
	rg_table_init(&history->targets, sizeof(struct target));
	history->arena = rg_arena_new();
	if (!history->arena)
		return rg_fail_memory(err);
	return rg_sendlog_history_cycle(history, &first, &unused, err);
}

void rg_sendlog_history_deinit(struct rg_sendlog_history *history)
{
	rg_table_deinit(&history->cycles);
	rg_table_deinit(&history->expected);
	rg_table_deinit(&history->payloads);
	rg_table_deinit(&history->letters);
	rg_table_deinit(&history->entries);
	rg_table_deinit(&history->targets);
	rg_arena_free(history->arena);
}

/* ---------------------------------------------------------------- hashes -- */

/* Keeps hashes of different things apart. */
enum what { ID, TARGET, BEGUN, MESSAGE_LETTER, LETTER_NAME };

static uint64_t hash_of(enum what what, struct roger_str text)
{
	return rg_hash((uint64_t)what, text.data, text.length);
}

static uint64_t target_of(const struct roger_attempt *attempt)
{
	uint64_t hash = hash_of(TARGET, attempt->from);

	hash = rg_hash(hash, attempt->to.data, attempt->to.length);
	return rg_hash(hash, attempt->key.data, attempt->key.length);
}

static uint64_t begun_of(uint64_t target, int64_t attempt)
{
	return rg_hash(target ^ BEGUN, &attempt, sizeof attempt);
}

static uint64_t payload_of(struct roger_str sha256, int64_t bytes)
{
	return rg_hash((uint64_t)bytes, sha256.data, sha256.length);
}

static uint64_t facts_of(const struct roger_attempt *attempt)
{
	uint64_t hash = payload_of(attempt->payload_sha256, attempt->payload_bytes);

	hash = rg_hash(hash, attempt->message.data, attempt->message.length);
	return rg_hash(hash, &attempt->payload_chars, sizeof attempt->payload_chars);
}

/* ---------------------------------------------------------------- cycles -- */

int rg_sendlog_history_cycle(struct rg_sendlog_history *history, const struct roger_cycle *cycle,
			     unsigned *ret_faults, struct roger_err *err)
{
	struct cycle *entry;
	bool fresh;

	entry = rg_table_put(&history->cycles, hash_of(ID, cycle->id), &fresh);
	if (!entry)
		return rg_fail_memory(err);
	*ret_faults = fresh && cycle->number == history->cycle + 1 ? 0 : RG_SENDLOG_CYCLE_ORDER;
	entry->number = cycle->number;
	if (cycle->number > history->cycle)
		history->cycle = cycle->number;
	return ROGER_OK;
}

/* Entries of this cycle must be there: purge keeps it. */
static bool is_kept(const struct rg_sendlog_history *history, struct roger_str cycle)
{
	const struct cycle *entry = rg_table_find(&history->cycles, hash_of(ID, cycle));

	return entry && entry->number > history->cycle - history->cycles_kept;
}

/* -------------------------------------------------------------- messages -- */

static int note_payload(struct rg_sendlog_history *history, const struct roger_attempt *attempt,
			struct roger_err *err)
{
	struct payload *payload;
	bool fresh;

	payload = rg_table_put(&history->payloads, hash_of(ID, attempt->message), &fresh);
	if (!payload)
		return rg_fail_memory(err);
	payload->facts = payload_of(attempt->payload_sha256, attempt->payload_bytes);
	return ROGER_OK;
}

static int note_begun(struct rg_sendlog_history *history, const struct roger_attempt *attempt,
		      struct roger_err *err)
{
	bool fresh;

	return rg_table_put(&history->letters, begun_of(target_of(attempt), attempt->attempt),
			    &fresh)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

int rg_sendlog_history_message(struct rg_sendlog_history *history,
			       const struct roger_message *message, uint64_t offset, bool demanded,
			       struct roger_err *err)
{
	struct roger_attempt attempt;
	struct expected *expected;
	int64_t unused;
	bool fresh;
	int r;

	rg_arena_reset(history->arena);
	r = rg_sendlog_entry(message, 0, ROGER_DELIVERED, 0, history->arena, &attempt, err);
	if (r == ROGER_OK)
		r = note_payload(history, &attempt, err);
	/* Of one without a key only a letter may tell, for its leases. */
	if (r == ROGER_OK && (!message->key.length || !message->cycle.length))
		return ROGER_OK;
	/* Only these messages can have a second attempt. */
	if (r == ROGER_OK && (message->confirm_by_ms || message->attempt > 1))
		r = note_begun(history, &attempt, err);
	if (r < 0)
		return r;
	expected = rg_table_put(&history->expected, hash_of(ID, attempt.id), &fresh);
	if (!expected)
		return rg_fail_memory(err);
	if (fresh)
		expected->facts = facts_of(&attempt);
	if (!rg_sendlog_delivers(message, &unused))
		return ROGER_OK;
	expected->offset = offset;
	expected->marks |= DELIVERS;
	if (demanded && is_kept(history, attempt.cycle))
		expected->marks |= DEMANDED;
	return ROGER_OK;
}

/* --------------------------------------------------------------- letters -- */

static int name_letter(struct rg_sendlog_history *history, struct roger_str name,
		       struct roger_err *err)
{
	bool fresh;

	if (!name.length || rg_table_put(&history->letters, hash_of(LETTER_NAME, name), &fresh))
		return ROGER_OK;
	return rg_fail_memory(err);
}

static unsigned judge_letter(const struct rg_sendlog_history *history,
			     const struct roger_dead_letter *letter)
{
	const struct payload *payload =
		rg_table_find(&history->payloads, hash_of(ID, letter->message));

	if (!payload)
		return RG_SENDLOG_NO_MESSAGE;
	return payload->facts == payload_of(letter->payload_sha256, letter->payload_bytes)
		       ? 0
		       : RG_SENDLOG_PAYLOAD_WRONG;
}

int rg_sendlog_history_letter(struct rg_sendlog_history *history,
			      const struct roger_dead_letter *letter, unsigned *ret_faults,
			      struct roger_err *err)
{
	uint64_t id = hash_of(ID, letter->id);
	struct letter *of_message;
	bool fresh;
	int r;

	*ret_faults = judge_letter(history, letter);
	if (letter->cycle.length && !rg_table_find(&history->cycles, hash_of(ID, letter->cycle)))
		*ret_faults |= RG_SENDLOG_NO_CYCLE;
	of_message =
		rg_table_put(&history->letters, hash_of(MESSAGE_LETTER, letter->message), &fresh);
	if (!of_message)
		return rg_fail_memory(err);
	if (fresh || !of_message->id)
		of_message->id = id;
	else if (of_message->id != id)
		*ret_faults |= RG_SENDLOG_SECOND_LETTER;
	r = name_letter(history, letter->id, err);
	return r < 0 ? r : name_letter(history, letter->filed_as, err);
}

/* --------------------------------------------------------------- entries -- */

/* A message that was not stored is in no journal. */
static unsigned judge_undelivered(const struct rg_sendlog_history *history,
				  const struct roger_attempt *attempt)
{
	const struct payload *payload =
		rg_table_find(&history->payloads, hash_of(ID, attempt->message));

	return payload && payload->facts !=
				       payload_of(attempt->payload_sha256, attempt->payload_bytes)
		       ? RG_SENDLOG_PAYLOAD_WRONG
		       : 0;
}

/* Compare with what the journal says. */
static unsigned judge_delivered(const struct roger_attempt *attempt, struct expected *expected)
{
	unsigned faults = 0;

	if (!expected)
		return RG_SENDLOG_NO_MESSAGE;
	if (expected->facts != facts_of(attempt))
		faults |= RG_SENDLOG_PAYLOAD_WRONG;
	if (!(expected->marks & DELIVERS))
		faults |= RG_SENDLOG_NOT_READ;
	expected->marks |= SAID;
	return faults;
}

/* Check the number of an attempt that is new. */
static unsigned judge_number(const struct rg_sendlog_history *history, uint64_t hash,
			     const struct target *target, const struct roger_attempt *attempt)
{
	if (attempt->attempt <= (int64_t)target->last + 1)
		return 0;
	return rg_table_find(&history->letters, begun_of(hash, attempt->attempt - 1))
		       ? RG_SENDLOG_UNSETTLED
		       : RG_SENDLOG_GAP;
}

static void note_outcome(struct target *target, const struct entry *entry,
			 const struct roger_attempt *attempt)
{
	uint32_t bit = entry->place < ATTEMPTS_SEEN ? UINT32_C(1) << entry->place : 0;

	target->timeouts &= ~bit;
	if (attempt->outcome == ROGER_TIMEOUT && !attempt->pending)
		target->timeouts |= bit;
	if (attempt->attempt > target->last && attempt->attempt <= UINT32_MAX)
		target->last = (uint32_t)attempt->attempt;
}

static int take_attempt(struct rg_sendlog_history *history, const struct roger_attempt *attempt,
			uint64_t id, uint32_t log, int64_t line, bool waited, unsigned *faults,
			struct roger_err *err)
{
	uint64_t hash = target_of(attempt);
	struct target *target;
	struct entry *entry;
	bool fresh;

	target = rg_table_put(&history->targets, hash, &fresh);
	entry = rg_table_put(&history->entries, id, &fresh);
	if (!target || !entry)
		return rg_fail_memory(err);
	if (fresh) {
		*faults |= judge_number(history, hash, target, attempt);
		entry->place = target->count;
		target->count += target->count < UINT16_MAX;
	} else if (entry->outcome == ROGER_DELIVERED && attempt->outcome != ROGER_DELIVERED) {
		*faults |= RG_SENDLOG_TAKEN_BACK;
	}
	entry->outcome = (uint64_t)attempt->outcome;
	note_outcome(target, entry, attempt);
	if (entry->place + 1 < target->count)
		return ROGER_OK;
	target->message = hash_of(MESSAGE_LETTER, attempt->message);
	target->max_attempts = attempt->max_attempts > 0 && attempt->max_attempts <= UINT8_MAX
				       ? (uint8_t)attempt->max_attempts
				       : 0;
	target->line = line;
	target->log = log;
	target->waited = waited;
	return ROGER_OK;
}

/* Of the letters that are named, is it there?  One that is lost counts from then on. */
static int judge_name(struct rg_sendlog_history *history, const struct roger_attempt *attempt,
		      unsigned *faults, struct roger_err *err)
{
	bool fresh = false;

	if (!attempt->dead_letter_task.length ||
	    rg_table_find(&history->letters, hash_of(LETTER_NAME, attempt->dead_letter_task)))
		return ROGER_OK;
	if (attempt->message.length &&
	    !rg_table_put(&history->letters, hash_of(MESSAGE_LETTER, attempt->message), &fresh))
		return rg_fail_memory(err);
	*faults |= fresh ? RG_SENDLOG_LETTER_LOST : RG_SENDLOG_NO_LETTER;
	return fresh ? name_letter(history, attempt->dead_letter_task, err) : ROGER_OK;
}

int rg_sendlog_history_entry(struct rg_sendlog_history *history,
			     const struct roger_attempt *attempt, uint32_t log, int64_t line,
			     unsigned *ret_faults, struct roger_err *err)
{
	char right_id[RG_SENDLOG_ID_BYTES];
	struct expected *expected;
	uint64_t id;
	int r;

	/* Compute the id from its members, whatever id it claims. */
	if (!rg_sendlog_id(attempt, right_id))
		return rg_fail_memory(err);
	/* Of a message without a key its own line says all there is. */
	if (rg_sendlog_is_plain(attempt)) {
		*ret_faults = rg_str_is(attempt->id, right_id) ? 0 : RG_SENDLOG_ID_WRONG;
		return ROGER_OK;
	}
	id = hash_of(ID, rg_str(right_id));
	expected = rg_table_find(&history->expected, id);
	*ret_faults = attempt->outcome == ROGER_DELIVERED ? judge_delivered(attempt, expected)
							  : judge_undelivered(history, attempt);
	if (!rg_str_is(attempt->id, right_id))
		*ret_faults |= RG_SENDLOG_ID_WRONG;
	if (attempt->cycle.length && !rg_table_find(&history->cycles, hash_of(ID, attempt->cycle)))
		*ret_faults |= RG_SENDLOG_NO_CYCLE;
	r = judge_name(history, attempt, ret_faults, err);
	return r < 0 ? r
		     : take_attempt(history, attempt, id, log, line, expected != NULL, ret_faults,
				    err);
}

/* ---------------------------------------------------------------- asking -- */

bool rg_sendlog_history_next_missing(const struct rg_sendlog_history *history, size_t *i,
				     uint64_t *ret_offset)
{
	const struct expected *expected;

	while ((expected = rg_table_next(&history->expected, i)))
		if ((expected->marks & DEMANDED) && !(expected->marks & SAID)) {
			*ret_offset = expected->offset;
			return true;
		}
	return false;
}

/* The number of consecutive timeouts at the end. */
static unsigned timeouts_of(const struct target *target)
{
	unsigned timeouts = 0, i;

	if (target->count > ATTEMPTS_SEEN)
		return 0;
	for (i = target->count; i > 0 && (target->timeouts >> (i - 1) & 1); i--)
		timeouts++;
	return timeouts;
}

bool rg_sendlog_history_next_given_up(const struct rg_sendlog_history *history, size_t *i,
				      uint32_t *ret_log, int64_t *ret_line)
{
	const struct target *target;

	while ((target = rg_table_next(&history->targets, i))) {
		if (!target->waited || !target->max_attempts ||
		    timeouts_of(target) < target->max_attempts ||
		    rg_table_find(&history->letters, target->message))
			continue;
		*ret_log = target->log;
		*ret_line = target->line;
		return true;
	}
	return false;
}
