/* The check of send logs: tables in memory for the lines, and a SELECT for each rule. */
#include "index/index_sends.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "base/id.h"

#define PLACE "log, line, byte, length, own"
#define DELIVERED "outcome = 1"
#define TIMED_OUT "outcome = 2 AND NOT pending"

_Static_assert(ROGER_DELIVERED == 1 && ROGER_TIMEOUT == 2, "as the SELECTs say");

/* Texts are hashes, 0: no text.  `sent` has, by entry, what follows from a message.  The facts of
 * an entry that was not delivered are its payload only.  Columns have a type, since SQLite would
 * not look up others in an index. */
static const char tables[] =
	"CREATE TABLE cycle(seq INTEGER PRIMARY KEY, " PLACE ", id INT, number INT);"
	"CREATE TABLE sent(entry INTEGER PRIMARY KEY, message INT, payload INT, facts INT,"
	" cycle INT, offset INT, delivers INT, demanded INT, second INT);"
	"CREATE TABLE begun(target INT, attempt INT, PRIMARY KEY(target, attempt)) WITHOUT ROWID;"
	"CREATE TABLE letter(seq INTEGER PRIMARY KEY, " PLACE ", id INT, filed_as INT,"
	" message INT, payload INT, cycle INT, stored INT);"
	"CREATE TABLE entry(seq INTEGER PRIMARY KEY, " PLACE ", right INT, id INT, target INT,"
	" attempt INT, outcome INT, pending INT, max_attempts INT, message INT, facts INT,"
	" cycle INT, named INT);"
	/* Entries whose letter is nowhere, and the first of each message without any. */
	"CREATE VIEW unnamed AS SELECT seq, message, named FROM marked WHERE named"
	" AND named NOT IN (SELECT id FROM letter UNION SELECT filed_as FROM letter);"
	"CREATE VIEW lost AS SELECT min(seq) seq, message, named FROM unnamed"
	" WHERE message AND message NOT IN (SELECT message FROM letter) GROUP BY message;"
	/* Each attempt: when it was begun, and what its last line says. */
	"CREATE VIEW attempt AS SELECT e.target, a.began, e.seq, e.id, " TIMED_OUT " late"
	" FROM (SELECT min(seq) began, max(seq) last FROM again GROUP BY id) a"
	" JOIN entry e ON e.seq = a.last WHERE e.target IN (SELECT target FROM again "
	"WHERE " TIMED_OUT ")";

/* Tables made when all lines are there: entries that differ from their message, that have a mark,
 * or whose target was tried again.  They are few, so most rules read few rows. */
static const char views[] =
	"DROP TABLE IF EXISTS differing; DROP TABLE IF EXISTS marked; DROP TABLE IF EXISTS again;"
	"CREATE INDEX IF NOT EXISTS entry_id ON entry(id, outcome, facts);"
	"CREATE TABLE differing AS SELECT e.seq, s.facts <> e.facts differs, NOT delivers unread"
	" FROM entry e LEFT JOIN sent s ON s.entry = e.id WHERE " DELIVERED
	" AND (s.facts IS NOT e.facts OR NOT delivers);"
	"CREATE TABLE marked AS SELECT * FROM entry WHERE NOT right OR named OR"
	" cycle NOT IN (SELECT id FROM cycle);"
	"CREATE TABLE again AS SELECT * FROM entry WHERE target IN"
	" (SELECT target FROM entry WHERE attempt > 1 OR NOT " DELIVERED ");"
	"CREATE INDEX again_target ON again(target, attempt)";

/* A new attempt whose number is not the next one; begun: was the attempt before it begun? */
#define AFTER_GAP(begun)                                                                           \
	"SELECT " PLACE " FROM again e WHERE attempt > 1 AND NOT EXISTS (SELECT 1 FROM again p"    \
	" WHERE p.target = e.target AND p.attempt >= e.attempt - 1 AND p.seq < e.seq)"             \
	" AND NOT EXISTS (SELECT 1 FROM entry p WHERE p.id = e.id AND p.seq < e.seq)"              \
	" AND " begun " (SELECT 1 FROM begun b WHERE b.target = e.target"                          \
	" AND b.attempt = e.attempt - 1)"

static const struct {
	const char *what, *select;
} rules[RG_SENDS_RULES] = {
	[RG_SENDS_ID] = { "its id does not match its members",
			  "SELECT " PLACE " FROM marked WHERE NOT right" },
	[RG_SENDS_PAYLOAD] = { "checksum, length or message id differ from the message",
			       "SELECT " PLACE " FROM entry JOIN differing USING(seq) WHERE differs"
			       " UNION SELECT " PLACE " FROM again e JOIN sent s USING(message)"
			       " WHERE NOT " DELIVERED " AND s.payload <> e.facts"
			       " UNION SELECT " PLACE " FROM letter l JOIN sent s USING(message)"
			       " WHERE s.payload <> l.payload" },
	[RG_SENDS_NO_MESSAGE] = { "the journal holds no such attempt of a message",
				  "SELECT " PLACE " FROM entry JOIN differing USING(seq)"
				  " WHERE differs IS NULL UNION ALL SELECT " PLACE " FROM letter"
				  " WHERE stored AND message NOT IN (SELECT message FROM sent)" },
	[RG_SENDS_NOT_READ] = { "delivered, but the journal has no evidence of that",
				"SELECT " PLACE
				" FROM entry JOIN differing USING(seq) WHERE unread" },
	[RG_SENDS_GAP] = { "the attempt before it is missing", AFTER_GAP("NOT EXISTS") },
	[RG_SENDS_TAKEN_BACK] = { "the attempt was delivered before; that is final",
				  "SELECT " PLACE " FROM again e WHERE NOT " DELIVERED
				  " AND (SELECT " DELIVERED " FROM entry p WHERE p.id = e.id"
				  " AND p.seq < e.seq ORDER BY p.seq DESC LIMIT 1)" },
	[RG_SENDS_NO_LETTER] = { "it names a dead letter that does not exist",
				 "SELECT " PLACE " FROM entry JOIN unnamed u USING(seq)"
				 " WHERE u.named NOT IN (SELECT named FROM lost)" },
	[RG_SENDS_NO_CYCLE] = { "its cycle was never opened",
				"SELECT " PLACE " FROM marked WHERE cycle"
				" AND cycle NOT IN (SELECT id FROM cycle)"
				" UNION ALL SELECT " PLACE " FROM letter WHERE cycle"
				" AND cycle NOT IN (SELECT id FROM cycle)" },
	[RG_SENDS_SECOND_LETTER] = { "the message has another dead letter already",
				     "SELECT " PLACE " FROM letter l WHERE id <>"
				     " (SELECT id FROM letter f WHERE f.message = l.message"
				     " ORDER BY seq LIMIT 1)" },
	[RG_SENDS_CYCLE_ORDER] = { "its id was used before, or its number is not the next one",
				   "SELECT " PLACE " FROM cycle c WHERE line AND (number <> 1 +"
				   " (SELECT max(number) FROM cycle p WHERE p.seq < c.seq)"
				   " OR id IN (SELECT id FROM cycle p WHERE p.seq < c.seq))" },
	[RG_SENDS_UNSETTLED] = { "the attempt before it has no recorded outcome",
				 AFTER_GAP("EXISTS") },
	[RG_SENDS_KEY_TWICE] = { "another program's message, with the key of one before it",
				 "SELECT 0, 0, second, 0, 0 FROM sent WHERE second" },
	[RG_SENDS_LETTER_LOST] = { "its dead letter is gone",
				   "SELECT " PLACE " FROM entry JOIN lost USING(seq)" },
	[RG_SENDS_MISSING] = { "there is no entry that says it was delivered",
			       "SELECT 0, 0, offset, 0, 1 FROM sent WHERE demanded AND cycle IN"
			       " (SELECT id FROM cycle WHERE number >"
			       " (SELECT max(number) FROM cycle) - ?1)"
			       " AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.id = sent.entry"
			       " AND " DELIVERED ")" },
	/* Counts the timeouts in a row, after the last attempt that ended otherwise. */
	[RG_SENDS_GIVEN_UP] = { "the last allowed attempt timed out, but there is no dead letter",
				"SELECT " PLACE " FROM (SELECT seq, max(began), count(*) timeouts"
				" FROM (SELECT *, max(iif(late, 0, began)) OVER (PARTITION BY"
				" target) broken FROM attempt) WHERE began > broken"
				" GROUP BY target) JOIN entry USING(seq) WHERE max_attempts > 0 "
				"AND timeouts >= max_attempts"
				" AND id IN (SELECT entry FROM sent)"
				" AND message NOT IN (SELECT message FROM letter)"
				" AND message NOT IN (SELECT message FROM lost)" },
};

enum add { ADD_CYCLE, ADD_SENT, ADD_BEGUN, ADD_LETTER, ADD_ENTRY, ADDS };
static const char *const adds[ADDS] = {
	[ADD_CYCLE] = "INSERT INTO cycle VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	/* The first line says what the message is, and the last one that delivers, where. */
	[ADD_SENT] =
		"INSERT INTO sent VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0) ON CONFLICT DO UPDATE"
		" SET second = iif(excluded.message = message, second, excluded.offset),"
		" offset = iif(excluded.delivers, excluded.offset, offset),"
		" delivers = delivers | excluded.delivers,"
		" demanded = demanded | excluded.demanded",
	[ADD_BEGUN] = "INSERT OR IGNORE INTO begun VALUES(?1, ?2)",
	[ADD_LETTER] = "INSERT INTO letter VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		       " ?11)",
	[ADD_ENTRY] = ("INSERT INTO entry VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		       " ?11, ?12, ?13, ?14, ?15, ?16)"),
};

struct rg_sends_check {
	sqlite3 *db;
	sqlite3_stmt *adds[ADDS];
	struct rg_arena *arena; /* for one line */
	int64_t cycles_kept;
};

const char *rg_sends_rule(enum rg_sends_rule rule)
{
	return rules[rule].what;
}

static int fail_check(const struct rg_sends_check *check, struct roger_err *err)
{
	const int code = sqlite3_errcode(check->db);

	return code == SQLITE_NOMEM ? rg_fail_memory(err)
				    : rg_fail(err, ROGER_EIO, 0, "check the send logs: %s",
					      sqlite3_errstr(code));
}

static int add_row(struct rg_sends_check *check, enum add which, const int64_t *values, int count,
		   struct roger_err *err)
{
	sqlite3_stmt *statement = check->adds[which];
	int i;

	for (i = 0; i < count; i++)
		sqlite3_bind_int64(statement, i + 1, values[i]);
	sqlite3_step(statement);
	return sqlite3_reset(statement) == SQLITE_OK ? ROGER_OK : fail_check(check, err);
}
#define ADD(check, which, values, err)                                                             \
	add_row(check, which, values, (int)(sizeof(values) / sizeof *(values)), err)

static int begin_check(struct rg_sends_check *check, struct roger_err *err)
{
	const struct roger_cycle first = { .id = RG_STR(RG_FIRST_CYCLE), .number = 1 };
	const struct rg_sends_place none = { 0 };
	int i;

	if (sqlite3_open_v2(":memory:", &check->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK ||
	    sqlite3_exec(check->db,
			 "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
			 " PRAGMA temp_store = MEMORY; BEGIN",
			 NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(check->db, tables, NULL, NULL, NULL) != SQLITE_OK)
		return fail_check(check, err);
	for (i = 0; i < ADDS; i++)
		if (sqlite3_prepare_v2(check->db, adds[i], -1, &check->adds[i], NULL) != SQLITE_OK)
			return fail_check(check, err);
	return rg_sends_check_cycle(check, &first, &none, err);
}

int rg_sends_check_new(int64_t cycles_kept, struct rg_sends_check **ret_check,
		       struct roger_err *err)
{
	struct rg_sends_check *check = calloc(1, sizeof *check);
	int r;

	if (!check)
		return rg_fail_memory(err);
	check->cycles_kept = cycles_kept;
	check->arena = rg_arena_new();
	r = check->arena ? begin_check(check, err) : rg_fail_memory(err);
	if (r < 0)
		check = rg_sends_check_free(check);
	*ret_check = check;
	return r;
}

struct rg_sends_check *rg_sends_check_free(struct rg_sends_check *check)
{
	int i;

	if (!check)
		return NULL;
	for (i = 0; i < ADDS; i++)
		sqlite3_finalize(check->adds[i]);
	sqlite3_close(check->db);
	rg_arena_free(check->arena);
	free(check);
	return NULL;
}

/* ---------------------------------------------------------------- hashes -- */

static int64_t hash_of(struct roger_str text)
{
	return text.length ? (int64_t)rg_hash(1, text.data, text.length) : 0;
}

static int64_t target_of(const struct roger_attempt *attempt)
{
	uint64_t hash = rg_hash(2, attempt->from.data, attempt->from.length);

	hash = rg_hash(hash, attempt->to.data, attempt->to.length);
	return (int64_t)rg_hash(hash, attempt->key.data, attempt->key.length);
}

static int64_t payload_of(struct roger_str sha256, int64_t bytes)
{
	return (int64_t)rg_hash((uint64_t)bytes, sha256.data, sha256.length);
}

static int64_t facts_of(const struct roger_attempt *attempt, int64_t payload)
{
	uint64_t hash = rg_hash((uint64_t)payload, attempt->message.data, attempt->message.length);

	return (int64_t)rg_hash(hash, &attempt->payload_chars, sizeof attempt->payload_chars);
}

/* ----------------------------------------------------------------- lines -- */

#define VALUES_OF(place) (place)->log, (place)->line, (place)->byte, (place)->length, (place)->own

int rg_sends_check_cycle(struct rg_sends_check *check, const struct roger_cycle *cycle,
			 const struct rg_sends_place *place, struct roger_err *err)
{
	const int64_t values[] = { VALUES_OF(place), hash_of(cycle->id), cycle->number };

	return ADD(check, ADD_CYCLE, values, err);
}

int rg_sends_check_message(struct rg_sends_check *check, const struct roger_message *message,
			   uint64_t offset, bool demanded, struct roger_err *err)
{
	/* Of a message without a key only a dead letter may tell, after its leases. */
	const bool keyed = message->key.length && message->cycle.length;
	struct roger_attempt attempt;
	int64_t unused, payload;
	bool delivers;
	int r;

	rg_arena_reset(check->arena);
	r = rg_sendlog_entry(message, 0, ROGER_DELIVERED, 0, check->arena, &attempt, err);
	if (r < 0)
		return r;
	payload = payload_of(attempt.payload_sha256, attempt.payload_bytes);
	delivers = keyed && rg_sendlog_told(message, &unused) == RG_TOLD_DELIVERED;
	/* Only these messages can have a second attempt. */
	if (keyed && (message->confirm_by_ms || message->attempt > 1)) {
		const int64_t begun[] = { target_of(&attempt), attempt.attempt };

		r = ADD(check, ADD_BEGUN, begun, err);
	}
	const int64_t sent[] = { hash_of(keyed ? attempt.id : attempt.message),
				 hash_of(attempt.message),
				 payload,
				 facts_of(&attempt, payload),
				 hash_of(attempt.cycle),
				 (int64_t)offset,
				 delivers,
				 delivers && demanded };

	return r < 0 ? r : ADD(check, ADD_SENT, sent, err);
}

int rg_sends_check_letter(struct rg_sends_check *check, const struct roger_dead_letter *letter,
			  const struct rg_sends_place *place, struct roger_err *err)
{
	const int64_t values[] = { VALUES_OF(place),
				   hash_of(letter->id),
				   hash_of(letter->filed_as),
				   hash_of(letter->message),
				   payload_of(letter->payload_sha256, letter->payload_bytes),
				   hash_of(letter->cycle),
				   !rg_str_is(letter->cause, RG_CAUSE_NO_SYNC) &&
					   !rg_str_is(letter->cause, RG_CAUSE_NO_TIME) };

	return ADD(check, ADD_LETTER, values, err);
}

int rg_sends_check_entry(struct rg_sends_check *check, const struct roger_attempt *entry,
			 const struct rg_sends_place *place, struct roger_err *err)
{
	const int64_t payload = payload_of(entry->payload_sha256, entry->payload_bytes);
	const bool plain = rg_sendlog_is_plain(entry);
	char right_id[RG_SENDLOG_ID_BYTES];

	/* Compute the id from the entry's members, whatever id it claims. */
	if (!rg_sendlog_id(entry, right_id))
		return rg_fail_memory(err);
	/* Of a message without a key the entry repeats the line, if its id is right. */
	if (plain && rg_str_is(entry->id, right_id))
		return ROGER_OK;
	const int64_t values[] = { VALUES_OF(place),
				   rg_str_is(entry->id, right_id),
				   hash_of(rg_str(right_id)),
				   target_of(entry),
				   entry->attempt,
				   (int64_t)entry->outcome,
				   entry->pending,
				   entry->max_attempts,
				   hash_of(entry->message),
				   entry->outcome == ROGER_DELIVERED ? facts_of(entry, payload)
								     : payload,
				   hash_of(entry->cycle),
				   hash_of(entry->dead_letter_task) };

	/* The rest of a plain entry stays NULL, so that no other rule sees it. */
	return add_row(check, ADD_ENTRY, values, plain ? 6 : (int)(sizeof values / sizeof *values),
		       err);
}

/* ----------------------------------------------------------------- rules -- */

static int judge_rule(struct rg_sends_check *check, enum rg_sends_rule rule, rg_sends_see *see,
		      void *context, struct roger_err *err)
{
	struct rg_sends_place place;
	sqlite3_stmt *get;
	char sql[1200];
	int step, r = ROGER_OK;

	sqlite3_snprintf(sizeof sql, sql, "SELECT * FROM (%s) ORDER BY 1, 2", rules[rule].select);
	if (sqlite3_prepare_v2(check->db, sql, -1, &get, NULL) != SQLITE_OK)
		return fail_check(check, err);
	sqlite3_bind_int64(get, 1, check->cycles_kept);
	while (r == ROGER_OK && (step = sqlite3_step(get)) == SQLITE_ROW) {
		place = (struct rg_sends_place){ sqlite3_column_int64(get, 0),
						 sqlite3_column_int64(get, 1),
						 sqlite3_column_int64(get, 2),
						 sqlite3_column_int64(get, 3),
						 sqlite3_column_int(get, 4) };
		r = see(context, rule, &place, err);
	}
	if (r == ROGER_OK && step != SQLITE_DONE)
		r = fail_check(check, err);
	sqlite3_finalize(get);
	return r;
}

int rg_sends_check_all(struct rg_sends_check *check, bool all, rg_sends_see *see, void *context,
		       struct roger_err *err)
{
	const int end = all ? RG_SENDS_RULES : RG_SENDS_MISSING;
	int i, r = ROGER_OK;

	if (sqlite3_exec(check->db, views, NULL, NULL, NULL) != SQLITE_OK)
		return fail_check(check, err);
	for (i = 0; i < end && r == ROGER_OK; i++)
		r = judge_rule(check, (enum rg_sends_rule)i, see, context, err);
	return r;
}
