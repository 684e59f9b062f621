/*
 * Making the table of events: what happened, a row for each, from the line that
 * proves it.
 *
 * Rows are made when a question first needs them, in the order of each journal; how
 * far each was read is in event_files.  A row is the same whichever journal was read first:
 * where two journals tell the same of a message, what they say decides which one counts, not their
 * order. An event is closed here by the line that settles it. What time alone makes true is no row.
 */
#include "index/index_db.h"

#include <stdio.h>

#include "base/id.h"
#include "facts/message.h"
#include "facts/note.h"
#include "facts/person.h"
#include "facts/sendlog.h"
#include "facts/sentence.h"
#include "store/chain.h"
#include "store/decoder.h"

enum { WAIT_MS = 120000 };

static const char tables[] =
	"CREATE TABLE event_files(file INTEGER PRIMARY KEY, offset INTEGER NOT NULL,"
	" lines INTEGER NOT NULL, last_offset INTEGER NOT NULL, last_length INTEGER NOT NULL,"
	" last_hash INTEGER NOT NULL, shown TEXT NOT NULL);"
	/* A line that is not an entry gets a row, too: its log is negative, its detail the reason.
	 */
	/* The columns that report reads come first: SQLite reads up to the last one asked for. */
	"CREATE TABLE event(position INTEGER PRIMARY KEY, log INTEGER NOT NULL,"
	" kind INTEGER NOT NULL, at INTEGER NOT NULL, flags INTEGER NOT NULL, of INTEGER,"
	" since INTEGER, byte INTEGER NOT NULL, actor TEXT, peer TEXT, number INTEGER,"
	" outcome INTEGER, before INTEGER, message TEXT, id TEXT, detail TEXT, open INTEGER,"
	" line INTEGER NOT NULL, file INTEGER, length INTEGER, sum INTEGER, bytes INTEGER,"
	" words TEXT, task TEXT, key TEXT, cycle TEXT, state TEXT, type TEXT, evidence TEXT,"
	" step TEXT);"
	"CREATE INDEX event_of ON event(of) WHERE of IS NOT NULL;"
	"CREATE INDEX event_open ON event(kind) WHERE open = 1 AND log <> 0;"
	/* Rows of a log in order of position, with which every index ends. */
	"CREATE INDEX event_log ON event(log) WHERE log <> 0;"
	"CREATE INDEX event_at ON event(log, at) WHERE log <> 0;"
	"CREATE INDEX event_counted ON event(at) WHERE " RG_ROW_IS_COUNTED ";"
	"CREATE INDEX event_unsent ON event(outcome, at) WHERE log = 3 AND " RG_ROW_IS_UNSENT ";"
	"CREATE INDEX event_file ON event(file) WHERE log = 3;"
	"CREATE INDEX event_task ON event(log, task, at) WHERE task IS NOT NULL;"
	"CREATE INDEX event_actor ON event(log, actor) WHERE log <> 0;"
	"CREATE INDEX event_id ON event(id) WHERE id IS NOT NULL;"
	"CREATE INDEX event_key ON event(key) WHERE log <> 0 AND key IS NOT NULL;"
	"CREATE INDEX event_peer ON event(log, peer, at) WHERE log <> 0 AND peer IS NOT NULL;"
	"CREATE INDEX event_message ON event(message) WHERE message IS NOT NULL;"
	"CREATE INDEX event_step ON event(step, actor) WHERE step IS NOT NULL;";

/* One journal that is read into the table. */
struct intake {
	struct rg_index *index;
	struct rg_log_file file;
	struct rg_arena *arena; /* for one line */
	int64_t size;
	int64_t number; /* the file's in event_files: hash of its name */
	int64_t offset, lines;
	int64_t last_offset, last_length, last_hash; /* the last line read, of a log */
	int64_t byte;				     /* offset of the current line */
	struct rg_table lives;	 /* struct known: messages whose lines were read last */
	struct rg_arena *memory; /* their texts */
	struct rg_buf words;	 /* what one line says */
	bool fresh;		 /* the table was empty: no note names a message yet */
	struct rg_chain chain;
	bool doubt_known; /* the line in doubt is known to be altered */
};

/* A row to be added; the members that all rows of a line share come from the intake. */
struct row {
	int kind, log, flags;
	int64_t at_ms, of, number, outcome, before, since_ms, bytes;
	bool open;
	struct roger_str detail, words, texts[RG_COLUMNS];
	const struct rg_line *text; /* a row that gives the text of its line */
};

/* Add a row.  One of a message names its file only if it is from a note. */
static int add_row(struct intake *intake, const struct row *row, struct roger_err *err)
{
	const int64_t file = row->of && !(row->flags & RG_ROW_NOTE) ? 0 : intake->number;
	const struct roger_str *texts = row->texts;

	rg_assert(intake->lines > 0);
	_Static_assert(RG_COLUMNS == 11, "as many are put");
	return rg_index_put(intake->index, RG_SQL_EVENT_ADD, err, "iiiiinnsnnnnnnisnnsssssssssss",
			    (int64_t)row->kind, row->at_ms, intake->lines, intake->byte,
			    (int64_t)row->flags, row->number, (int64_t)row->open, row->detail, file,
			    row->since_ms, row->outcome, row->before, row->bytes, row->of,
			    (int64_t)row->log, row->words,
			    row->text ? (int64_t)row->text->length : INT64_C(0),
			    row->text ? rg_index_text_sum(row->text->text) : INT64_C(0), texts[0],
			    texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], texts[7],
			    texts[8], texts[9], texts[10]);
}

/* -------------------------------------------------- the life of a message -- */

/* What the rows so far say of a message. */
struct life {
	int64_t of;
	bool known, held, read, handed, archived;
	bool acked, noted;		  /* an acknowledgement is known; from a note only */
	int64_t at_ms;			  /* time of its last row */
	struct roger_str worker;	  /* holder of its last lease */
	int64_t claimed_ms, until_ms;	  /* when the lease began, 0: not known; when it ends */
	int64_t claim;			  /* row of the lease while it is in force */
	int64_t acked_at_ms, outcome;	  /* its last acknowledgement */
	int64_t look, look_ms;		  /* the row of its first look; 0: none */
	bool look_undated, look_noted;	  /* its time is not known; the row is of a note */
	int64_t due, due_ms, due_attempt; /* the row of its deadline to be read; 0: none */
};

/* Update the life by one more row of its message. */
static int add_to_life(struct life *life, int64_t position, const struct row *row,
		       struct rg_arena *memory)
{
	if (row->kind == ROGER_EVENT_LOOKED || row->flags & RG_ROW_LOOK) {
		life->look = position;
		life->look_ms = row->at_ms;
		life->look_undated = row->flags & RG_ROW_UNDATED;
		life->look_noted = row->flags & RG_ROW_NOTE;
	}
	life->acked |= row->kind == ROGER_EVENT_ACKNOWLEDGED;
	life->noted |= row->kind == ROGER_EVENT_ACKNOWLEDGED && row->flags & RG_ROW_NOTE;
	if (row->kind == ROGER_EVENT_DUE) {
		life->due = position;
		life->due_ms = row->at_ms;
		life->due_attempt = row->number;
	}
	if (row->flags & RG_ROW_NOTE || row->kind == ROGER_EVENT_DUE)
		return ROGER_OK;
	life->known = true;
	life->at_ms = row->at_ms;
	switch (row->kind) {
	case ROGER_EVENT_CLAIMED:
		life->held = true;
		life->claim = position;
		life->claimed_ms = row->flags & RG_ROW_UNDATED ? 0 : row->at_ms;
		life->until_ms = row->number;
		if (!rg_arena_copy(memory, row->texts[RG_COLUMN_OWNER], &life->worker))
			return ROGER_ENOMEM;
		break;
	case ROGER_EVENT_RETURNED:
		life->held = false;
		life->until_ms = row->at_ms;
		break;
	case ROGER_EVENT_LEASE_EXPIRED:
		life->held = false;
		life->until_ms = 0;
		break;
	case ROGER_EVENT_HANDED:
		life->handed = true;
		break;
	case ROGER_EVENT_READ:
		life->read = !(row->flags & RG_ROW_REPEAT);
		life->held = false;
		break;
	case ROGER_EVENT_ACKNOWLEDGED:
		life->read |= (row->flags & RG_ROW_IN_PLACE) != 0;
		life->acked_at_ms = row->at_ms;
		life->outcome = row->number;
		life->noted = false;
		break;
	case ROGER_EVENT_ARCHIVED:
		life->archived = true;
		break;
	default:
		break;
	}
	return ROGER_OK;
}

static int load_life(struct intake *intake, struct life *life, struct roger_err *err)
{
	sqlite3_stmt *get = rg_index_statement(intake->index, RG_SQL_EVENT_OF, err);
	struct row row;
	int step, r = ROGER_OK;

	if (!get)
		return ROGER_EIO;
	sqlite3_bind_int64(get, 1, life->of);
	while (r == ROGER_OK && (step = sqlite3_step(get)) == SQLITE_ROW) {
		row = (struct row){ .kind = sqlite3_column_int(get, 1),
				    .at_ms = sqlite3_column_int64(get, 2),
				    .number = sqlite3_column_int64(get, 3),
				    .flags = sqlite3_column_int(get, 4),
				    .texts = { [RG_COLUMN_OWNER] = rg_index_column(get, 5) } };
		if (add_to_life(life, sqlite3_column_int64(get, 0), &row, intake->memory) < 0)
			r = rg_fail_memory(err);
	}
	if (r == ROGER_OK && step != SQLITE_DONE)
		r = rg_index_fail(intake->index, "look up events", err);
	sqlite3_reset(get);
	return r;
}

/*
 * Is this the first look at the message?  A look whose time is known comes before one whose time is
 * not, then the earlier one, then that of the message's own line.  The row of the other look is
 * taken back.
 */
static int take_look(struct intake *intake, const struct life *life, int64_t at_ms, int flags,
		     bool *ret_first, struct roger_err *err)
{
	const bool undated = flags & RG_ROW_UNDATED;

	*ret_first = !life->look || (life->look_undated && !undated);
	if (life->look && life->look_undated == undated)
		*ret_first = at_ms < life->look_ms ||
			     (at_ms == life->look_ms && life->look_noted && !(flags & RG_ROW_NOTE));
	if (!*ret_first || !life->look)
		return ROGER_OK;
	return rg_index_put(intake->index,
			    life->look_noted ? RG_SQL_EVENT_DROP : RG_SQL_EVENT_UNLOOK, err, "i",
			    life->look);
}

/* Add a row of a message.  If its time is not known, it gets that of the row before. */
static int add_dated(struct intake *intake, struct life *life, struct row *row,
		     struct roger_err *err)
{
	int r;

	row->of = life->of;
	if (!row->at_ms) {
		row->at_ms = life->at_ms;
		row->flags |= RG_ROW_UNDATED;
	}
	r = add_row(intake, row, err);
	if (r == ROGER_OK && add_to_life(life, sqlite3_last_insert_rowid(intake->index->db), row,
					 intake->memory) < 0)
		r = rg_fail_memory(err);
	return r;
}

/* Add a row of an agent that claims or reads the message, and so looks at it.  A mark of another
 * program is no look, nor is a reading by an agent that was handed the text. */
static int add_taking(struct intake *intake, struct life *life, struct row *taking,
		      struct roger_err *err)
{
	const int64_t at_ms = taking->at_ms ? taking->at_ms : life->at_ms;
	const int flags = taking->flags | (taking->at_ms ? 0 : RG_ROW_UNDATED);
	bool first = false;
	int r = ROGER_OK;

	rg_assert(taking->kind == ROGER_EVENT_CLAIMED || taking->kind == ROGER_EVENT_READ);
	if (!(taking->flags & (RG_ROW_FOREIGN | RG_ROW_HANDED)))
		r = take_look(intake, life, at_ms, flags, &first, err);
	taking->flags |= first ? RG_ROW_LOOK : 0;
	return r < 0 ? r : add_dated(intake, life, taking, err);
}

/* Did roger itself send the message, without a key?  Storing it is its only attempt. */
static bool is_plain(const struct roger_message *first)
{
	return !first->key.length && first->seq && first->chain.length && !first->via.length &&
	       !first->read && !first->claimed_by.length && !first->archived_at_ms;
}

static int add_stored(struct intake *intake, struct life *life, const struct roger_message *message,
		      struct roger_err *err)
{
	struct row row = { .kind = ROGER_EVENT_SENT,
			   .at_ms = message->created_at_ms,
			   .flags = is_plain(message) ? RG_ROW_PLAIN : 0,
			   .number = message->seq,
			   .outcome = message->pass > 1 ? message->pass : 0,
			   .before = message->epoch,
			   .bytes = (int64_t)message->content.length,
			   .detail = message->reply_to,
			   .texts = { [RG_COLUMN_OWNER] = message->from,
				      [RG_COLUMN_TARGET] = message->to,
				      [RG_COLUMN_KEY] = message->key } };

	return life->known ? ROGER_OK : add_dated(intake, life, &row, err);
}

/* Does nobody get the message any more? */
static bool is_over(const struct roger_message *after)
{
	return after->read || after->archived_at_ms || after->dead_at_ms;
}

/* Was it claimed again before its lease was over?  An agent that takes over does that. */
static bool is_taken(const struct life *life, const struct roger_message *after)
{
	return !is_over(after) && after->claimed_at_ms && life->claimed_ms &&
	       after->claimed_at_ms != life->claimed_ms && after->claimed_at_ms < life->until_ms;
}

/* End a lease: it was given back, taken over, or not renewed.  A reading in time gets no row. */
static int end_lease(struct intake *intake, struct life *life, const struct roger_message *after,
		     struct roger_err *err)
{
	const bool done = is_over(after), taken = is_taken(life, after),
		   returned = !done && !taken && rg_str_equal(life->worker, after->claimed_by) &&
			      after->claimed_until_ms < life->until_ms;
	const int64_t end_ms = after->read	       ? after->read_at_ms
			       : after->archived_at_ms ? after->archived_at_ms
						       : after->dead_at_ms;
	struct row row = {
		.kind = returned || taken ? ROGER_EVENT_RETURNED : ROGER_EVENT_LEASE_EXPIRED,
		.at_ms = returned ? after->claimed_until_ms
			 : taken  ? after->claimed_at_ms
				  : life->until_ms,
		.texts = { [RG_COLUMN_OWNER] = taken ? after->claimed_by : life->worker }
	};
	int r;

	rg_assert(life->held);
	if (taken && !rg_arena_print(intake->arena, &row.detail, "taken over from %.*s",
				     RG_STR_ARGS(life->worker)))
		return rg_fail_memory(err);
	r = rg_index_put(intake->index, RG_SQL_EVENT_CLOSE, err, "i", life->claim);
	return r < 0 || (done && end_ms < life->until_ms) ? r : add_dated(intake, life, &row, err);
}

static int add_lease(struct intake *intake, struct life *life, const struct roger_message *after,
		     bool foreign, struct roger_err *err)
{
	const bool taken = life->held && is_taken(life, after), done = is_over(after),
		   same = life->known && !taken && rg_str_equal(life->worker, after->claimed_by),
		   again = same && life->until_ms == after->claimed_until_ms,
		   shorter = same && life->until_ms > after->claimed_until_ms;
	struct row row = {
		.kind = ROGER_EVENT_CLAIMED,
		.at_ms = after->claimed_at_ms,
		.since_ms = after->created_at_ms,
		.number = after->claimed_until_ms,
		.flags = foreign ? RG_ROW_FOREIGN : 0,
		.open = true,
		.texts = { [RG_COLUMN_OWNER] = after->claimed_by, [RG_COLUMN_TARGET] = after->to }
	};
	int r = ROGER_OK;

	if (life->held && (done || !again))
		r = end_lease(intake, life, after, err);
	if (r < 0 || done || again || shorter || !after->claimed_by.length)
		return r;
	return add_taking(intake, life, &row, err);
}

static int add_reading(struct intake *intake, struct life *life, const struct roger_message *after,
		       bool foreign, struct roger_err *err)
{
	struct row row = { .kind = ROGER_EVENT_READ,
			   .at_ms = after->read_at_ms,
			   .since_ms = after->created_at_ms };

	/* An agent that took over reads the message in another one's mailbox. */
	if (after->read_by.length && !foreign)
		row.texts[RG_COLUMN_TARGET] = after->to;
	row.texts[RG_COLUMN_OWNER] =
		row.texts[RG_COLUMN_TARGET].length ? after->read_by : after->to;
	row.flags = foreign ? RG_ROW_FOREIGN : after->handed_at_ms ? RG_ROW_HANDED : 0;
	return !after->read || life->read || rg_message_in_place(after)
		       ? ROGER_OK
		       : add_taking(intake, life, &row, err);
}

/* Print what an acknowledgement says; false: out of memory. */
static bool print_outcome(const struct life *before, const struct roger_message *after,
			  bool foreign, struct rg_arena *arena, struct roger_str *ret)
{
	const char *outcome =
		after->ack_outcome ? rg_ack_outcome_names[after->ack_outcome] : "by ack";
	const char *by = foreign ? ", written by another program" : "";

	if (rg_message_in_place(after))
		return rg_arena_print(arena, ret, "%s, in place of %.*s, who did not read it",
				      outcome, RG_STR_ARGS(after->to));
	if (!before->outcome || !after->ack_outcome)
		return rg_arena_print(arena, ret, "%s%s", outcome, by);
	if (before->outcome == after->ack_outcome)
		return rg_arena_print(arena, ret, "%s, again%s", outcome, by);
	return rg_arena_print(arena, ret, "%s, corrects %s%s", outcome,
			      rg_ack_outcome_names[before->outcome], by);
}

/*
 * Add an acknowledgement.  Lines of older programs do not say when it was: a message that was read
 * under a lease in force was acknowledged by the worker.
 */
static int add_outcome(struct intake *intake, struct life *life, const struct life *before,
		       const struct roger_message *after, bool held, bool foreign,
		       struct roger_err *err)
{
	/* A message that was handed over is read when its agent says so, whoever claimed it. */
	const bool by_worker = held && !foreign && after->read && !after->read_by.length &&
			       !after->handed_at_ms && before->until_ms > after->read_at_ms &&
			       before->claimed_ms <= after->read_at_ms,
		   again = before->acked_at_ms == after->acked_at_ms &&
			   before->outcome == after->ack_outcome;
	struct row row = { .kind = ROGER_EVENT_ACKNOWLEDGED,
			   .at_ms = after->acked_at_ms ? after->acked_at_ms : after->read_at_ms,
			   .number = after->ack_outcome };
	int r;

	if (after->acked_at_ms ? again : !by_worker)
		return ROGER_OK;
	row.flags = (foreign ? RG_ROW_FOREIGN : 0) |
		    (rg_message_in_place(after) ? RG_ROW_IN_PLACE : 0) |
		    (before->acked && !before->noted ? RG_ROW_REPEAT : 0);
	row.texts[RG_COLUMN_OWNER] = after->claimed_by.length ? after->claimed_by
				     : by_worker	      ? before->worker
							      : after->to;
	if (!print_outcome(before, after, foreign, intake->arena, &row.detail))
		return rg_fail_memory(err);
	/* The line now says what only a note said before. */
	r = before->noted ? rg_index_put(intake->index, RG_SQL_EVENT_UNTRUE, err, "ii", life->of,
					 (int64_t)ROGER_EVENT_ACKNOWLEDGED)
			  : ROGER_OK;
	return r < 0 ? r : add_dated(intake, life, &row, err);
}

/* Set the deadline of an unread message: that of its last attempt. */
static int add_due(struct intake *intake, struct life *life, const struct roger_message *after,
		   struct roger_err *err)
{
	const bool waits = after->confirm_by_ms && !after->read && !after->archived_at_ms;
	struct row row = { .kind = ROGER_EVENT_DUE,
			   .at_ms = after->confirm_by_ms,
			   .number = after->attempt ? after->attempt : 1 };
	int r = ROGER_OK;

	if (waits && life->due_ms == row.at_ms && life->due_attempt == row.number)
		return ROGER_OK;
	if (life->due)
		r = rg_index_put(intake->index, RG_SQL_EVENT_DROP, err, "i", life->due);
	life->due = life->due_ms = 0;
	return r < 0 || !waits ? r : add_dated(intake, life, &row, err);
}

/* Add the rows for what a line changes in the state of its message. */
static int add_state(struct intake *intake, struct life *life, const struct roger_message *after,
		     struct roger_err *err)
{
	const bool foreign = !after->chain.length, held = life->held;
	struct life before;
	int r = ROGER_OK;

	/* Archived is final: later lines are history. */
	if (life->archived)
		return ROGER_OK;
	/* Another program may take a reading back: it is history then, and the next one counts. */
	if (life->read && !after->read && !after->archived_at_ms) {
		life->read = false;
		r = rg_index_put(intake->index, RG_SQL_EVENT_UNREAD, err, "ii", life->of,
				 (int64_t)ROGER_EVENT_READ);
	}
	/* A message that is read has no open dead letter. */
	if (r == ROGER_OK && after->read && (!life->read || after->archived_at_ms))
		r = rg_index_put(intake->index, RG_SQL_EVENT_CLOSE_LETTER, err, "t", after->id);
	if (r == ROGER_OK)
		r = add_stored(intake, life, after, err);
	before = *life;
	if (r == ROGER_OK)
		r = add_lease(intake, life, after, foreign, err);
	if (r == ROGER_OK && after->handed_at_ms && !life->handed)
		r = add_dated(
			intake, life,
			&(struct row){ .kind = ROGER_EVENT_HANDED, .at_ms = after->handed_at_ms },
			err);
	if (r == ROGER_OK)
		r = add_reading(intake, life, after, foreign, err);
	if (r == ROGER_OK)
		r = add_outcome(intake, life, &before, after, held, foreign, err);
	if (r == ROGER_OK)
		r = add_due(intake, life, after, err);
	if (r == ROGER_OK && after->archived_at_ms)
		r = add_dated(intake, life,
			      &(struct row){ .kind = ROGER_EVENT_ARCHIVED,
					     .at_ms = after->archived_at_ms },
			      err);
	return r;
}

/* A message whose lines were read lately, so that its next line needs no look-up. */
struct known {
	uint64_t id; /* hash of its id */
	struct rg_entry first;
	struct life life;
};

enum { KNOWN_MAX = 1 << 16 };

/* Find a message, or look it up; *ret_known NULL: none of that id begins here or before. */
static int know_message(struct intake *intake, struct roger_str id, struct rg_place place,
			struct known **ret_known, struct roger_err *err)
{
	const uint64_t hash = rg_hash((uint64_t)intake->index->progress.key, id.data, id.length);
	struct rg_entry first = { .position = intake->lines, .first = place };
	struct known *known = rg_table_find(&intake->lives, hash);
	bool fresh = true, is_first;
	int64_t first_hash = 0;
	int r;

	rg_assert(intake->lines > 0);
	*ret_known = known;
	if (known)
		return ROGER_OK;
	if (intake->lives.count >= KNOWN_MAX) {
		rg_table_deinit(&intake->lives);
		rg_table_init(&intake->lives, sizeof *known);
		rg_arena_reset(intake->memory);
	}
	r = rg_index_look_up(intake->index, RG_SQL_MESSAGE_AT, &first_hash, 1, &is_first, err, "i",
			     intake->lines);
	first.hash = (uint64_t)first_hash;
	if (r == ROGER_OK && !is_first)
		r = rg_index_first_of_all(intake->index, id, &first, err);
	if (r < 0 || !first.position || first.position > intake->lines)
		return r;
	known = rg_table_put(&intake->lives, hash, &fresh);
	if (!known)
		return rg_fail_memory(err);
	known->first = first;
	known->life = (struct life){ .of = first.position, .worker = { "", 0 } };
	*ret_known = known;
	return is_first && intake->fresh ? ROGER_OK : load_life(intake, &known->life, err);
}

static int take_message(struct intake *intake, const struct rg_decoded *decoded,
			struct roger_err *err)
{
	const struct rg_place place = { decoded->line.offset, decoded->line.length };
	const struct roger_message *said = &decoded->message;
	struct rg_index *index = intake->index;
	struct roger_message message = *said;
	struct rg_rewrites unused;
	struct known *known;
	int r = know_message(intake, said->id, place, &known, err);

	if (r < 0 || !known)
		return r;
	if (decoded->altered && intake->lines != known->first.position)
		return ROGER_OK;
	if (intake->lines != known->first.position &&
	    rg_index_hash(index, said) != known->first.hash)
		r = rg_index_follow_first(index, &known->first, place, intake->arena, &message,
					  &unused, err);
	return r < 0 ? r : add_state(intake, &known->life, &message, err);
}

/* Check the chain.  A new altered line sets saw_altered: the asker finds it, and asks again. */
static int check_chain(struct intake *intake, const struct rg_bytes *bytes,
		       const struct rg_line *line, bool altered, struct roger_err *err)
{
	bool own;
	int r = rg_chain_step(bytes, line, &intake->chain, &own, err);

	intake->index->store->saw_altered |= intake->chain.damaged && !intake->doubt_known;
	if (r == ROGER_OK && !own)
		intake->doubt_known = altered;
	return r;
}

/* Count a line, and tell how far the file was read. */
static int count_line(struct intake *intake, uint64_t offset, struct roger_err *err)
{
	if (intake->lines++ % 8192 ||
	    rg_index_report_progress(intake->index, "history", (int64_t)offset, intake->size))
		return ROGER_OK;
	return rg_fail(err, ROGER_EREFUSED, 0, "stopped");
}

static int take_messages(struct intake *intake, struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(intake->index->store, &rg_store_messages);
	const struct rg_decoded *decoded;
	struct rg_decoder *decoder;
	int r;

	r = rg_decoder_open(&bytes, (uint64_t)intake->offset, (uint64_t)intake->size,
			    &intake->index->altered, &decoder, err);
	if (r < 0)
		return r;
	r = rg_chain_find(&bytes, (uint64_t)intake->offset, &intake->chain, err);
	while (r == ROGER_OK && (r = rg_decoder_next(decoder, &decoded, err)) == ROGER_OK &&
	       decoded) {
		rg_arena_reset(intake->arena);
		r = count_line(intake, decoded->line.offset, err);
		if (r < 0)
			break;
		intake->byte = (int64_t)decoded->line.offset;
		intake->offset = (int64_t)(decoded->line.offset + decoded->line.length + 1);
		r = check_chain(intake, &bytes, &decoded->line, decoded->altered, err);
		if (r == ROGER_OK && decoded->is_message)
			r = take_message(intake, decoded, err);
		if (r < 0)
			break;
	}
	rg_decoder_close(decoder);
	return r;
}

/* ------------------------------------------------------------------ logs -- */

/* Add what a note says about each of its messages: that it was shown, or acknowledged. */
static int take_noted(struct intake *intake, const struct rg_note *note, struct roger_err *err)
{
	const bool looked = note->kind == RG_NOTE_LOOKED;
	struct row row = { .kind = looked ? ROGER_EVENT_LOOKED : ROGER_EVENT_ACKNOWLEDGED,
			   .at_ms = note->entry.at_ms,
			   .flags = RG_ROW_NOTE,
			   .texts = { [RG_COLUMN_OWNER] = note->agent } };
	int64_t state[2]; /* read, stored */
	struct rg_entry first;
	struct life life;
	bool there, wanted;
	size_t i;
	int r = ROGER_OK;

	rg_assert(looked || note->kind == RG_NOTE_ACKNOWLEDGED);
	for (i = 0; i < note->ids.count && r == ROGER_OK; i++) {
		r = rg_index_first_of_all(intake->index, note->ids.items[i], &first, err);
		if (r < 0 || !first.position)
			continue;
		life = (struct life){ .of = first.position, .worker = { "", 0 } };
		r = load_life(intake, &life, err);
		row.of = first.position;
		if (r == ROGER_OK)
			r = rg_index_look_up(intake->index, RG_SQL_MESSAGE_STATE, state, 2, &there,
					     err, "t", note->ids.items[i]);
		row.since_ms = r == ROGER_OK ? state[1] : 0;
		wanted = !life.acked;
		if (r == ROGER_OK && looked)
			r = take_look(intake, &life, row.at_ms, row.flags, &wanted, err);
		if (r == ROGER_OK && wanted)
			r = add_row(intake, &row, err);
	}
	return r;
}

/* Does another log tell the same?  It does of what succeeded, and of a send that timed out. */
static bool is_echo(const struct rg_note *note)
{
	switch ((enum rg_note_kind)note->kind) {
	case RG_NOTE_SENT:
		return !note->duplicates && (!note->failure || note->failure == RG_FAILURE_RETRY);
	case RG_NOTE_READ:
	case RG_NOTE_CLAIMED:
	case RG_NOTE_ACKNOWLEDGED:
	case RG_NOTE_RECORDED:
		return !note->duplicates && !note->failure;
	case RG_NOTE_FOREIGN:
	case RG_NOTE_VERB:
	case RG_NOTE_LOOKED:
	case RG_NOTE_WOKEN:
	case RG_NOTE_ARRIVED:
	case RG_NOTE_RAN:
		break;
	}
	return false;
}

static int take_note(struct intake *intake, const struct roger_activity *entry, struct row *row,
		     struct rg_buf *words, struct roger_err *err)
{
	struct rg_note note;
	int r = rg_note_of(entry, intake->arena, &note, err);

	if (r < 0)
		return r;
	rg_say_note(&note, words);
	row->kind = note.kind == RG_NOTE_WOKEN	  ? ROGER_EVENT_WAKE
		    : note.kind == RG_NOTE_LOOKED ? ROGER_EVENT_LOOKED
						  : ROGER_EVENT_ACTIVITY;
	row->number = note.kind == RG_NOTE_WOKEN ? note.attempt : note.duplicates;
	row->before = note.kind == RG_NOTE_WOKEN ? note.position : 0;
	row->outcome = note.kind == RG_NOTE_WOKEN ? (int)note.entry.status : 0;
	row->flags |= is_echo(&note) ? RG_ROW_ECHO : 0;
	if (note.kind == RG_NOTE_SENT && note.failure == RG_FAILURE_KEY)
		row->flags |= RG_ROW_CONFLICT;
	if (note.failure == RG_FAILURE_OTHER && !note.entry.evidence.length &&
	    rg_str_begins(note.entry.message, "skipped: "))
		row->flags |= RG_ROW_SKIPPED;
	if (note.kind == RG_NOTE_WOKEN || note.duplicates ||
	    row->flags & (RG_ROW_CONFLICT | RG_ROW_SKIPPED))
		row->flags |= RG_ROW_COUNTED;
	if (note.count == 1 && note.ids.count == 1)
		row->texts[RG_COLUMN_MESSAGE] = note.ids.items[0];
	if (note.failure || (note.kind != RG_NOTE_LOOKED && note.kind != RG_NOTE_ACKNOWLEDGED))
		return ROGER_OK;
	return take_noted(intake, &note, err);
}

/* Return the kind of an attempt's line; again: an earlier line settled the attempt. */
static enum roger_event_kind kind_of_attempt(const struct roger_attempt *attempt, bool again)
{
	if (attempt->pending)
		return ROGER_EVENT_ATTEMPTED;
	if (attempt->outcome == ROGER_DELIVERED)
		return again ? ROGER_EVENT_LATE : ROGER_EVENT_DELIVERED;
	return attempt->outcome == ROGER_TIMEOUT ? ROGER_EVENT_TIMEOUT : ROGER_EVENT_REFUSED;
}

static int take_attempt(struct intake *intake, const struct roger_attempt *attempt, struct row *row,
			struct rg_buf *words, struct roger_err *err)
{
	int64_t before[2] = { 0 }; /* outcome and time of the line of this id before */
	bool there;
	int r = rg_index_look_up(intake->index, RG_SQL_EVENT_BEFORE, before, 2, &there, err, "ti",
				 row->texts[RG_COLUMN_ID], (int64_t)row->log);

	row->before = before[0];
	row->since_ms = before[1];
	row->outcome = attempt->pending ? RG_ATTEMPT_PENDING : attempt->outcome;
	row->kind = kind_of_attempt(attempt, row->before && row->before <= ROGER_ERROR);
	row->number = attempt->attempt;
	row->detail = attempt->cause;
	row->bytes = attempt->payload_bytes;
	row->texts[RG_COLUMN_CITATION] = attempt->dead_letter_task;
	row->open = row->kind == ROGER_EVENT_REFUSED;
	rg_say_attempt(attempt, (enum roger_event_kind)row->kind, words);
	if (row->before == row->outcome)
		row->flags |= RG_ROW_REPEAT;
	if (rg_sendlog_is_plain(attempt))
		row->flags |= RG_ROW_PLAIN;
	return r;
}

/* Give the row of a dead letter the words of the letter's last line. */
static int say_given_up(struct intake *intake, const struct roger_dead_letter *letter,
			struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = RG_LINE_BYTES_MAX };
	struct roger_dead_letter last = *letter;

	last.status = ROGER_UNDELIVERED;
	rg_say_letter(&last, &words);
	return words.failed ? rg_fail_memory(err)
			    : rg_index_put(intake->index, RG_SQL_EVENT_SAY, err, "tit", letter->id,
					   (int64_t)ROGER_EVENT_DEAD_LETTER, rg_buf_str(&words));
}

/* Add damage, or its acceptance.  The last line of a place is its state. */
static int take_damage(struct intake *intake, const struct roger_damage *damage, struct row *row,
		       struct rg_buf *words, struct roger_err *err)
{
	int r = rg_index_put(intake->index, RG_SQL_EVENT_FORGET, err, "ti", damage->id,
			     (int64_t)row->log);

	row->kind = ROGER_EVENT_DAMAGED;
	row->number = damage->line;
	row->texts[RG_COLUMN_CITATION] = damage->file;
	row->open = !damage->accepted_at_ms;
	rg_say_damage(damage, false, words);
	if (r < 0 || row->open)
		return r;
	row->words = rg_buf_str(words);
	r = add_row(intake, row, err);
	row->kind = ROGER_EVENT_ACCEPTED;
	row->at_ms = damage->accepted_at_ms;
	row->texts[RG_COLUMN_OWNER] = damage->accepted_by;
	rg_buf_clear(words);
	rg_say_damage(damage, true, words);
	return r;
}

/* Add a dead letter.  Its line again, with the name that the task system gave it, is the same
 * event. A redelivery opens it again. */
static int take_letter(struct intake *intake, const struct roger_dead_letter *letter,
		       struct row *row, struct rg_buf *words, struct roger_err *err)
{
	static const int kinds[] = { [ROGER_UNDELIVERED] = ROGER_EVENT_DEAD_LETTER,
				     [ROGER_REDELIVERED] = ROGER_EVENT_REDELIVERED,
				     [ROGER_STALE] = ROGER_EVENT_STALE };
	struct rg_index *index = intake->index;
	int64_t read = 0;
	bool there, known;
	int r = rg_index_look_up(index, RG_SQL_EVENT_BEFORE, NULL, 0, &there, err, "ti",
				 row->texts[RG_COLUMN_ID], (int64_t)row->log);

	row->kind = kinds[letter->status];
	row->bytes = letter->payload_bytes;
	row->since_ms = letter->status == ROGER_UNDELIVERED ? 0 : letter->updated_at_ms;
	rg_say_letter(letter, words);
	if (r == ROGER_OK && there)
		r = say_given_up(intake, letter, err);
	if (r == ROGER_OK)
		r = rg_index_look_up(index, RG_SQL_MESSAGE_STATE, &read, 1, &known, err, "t",
				     letter->message);
	if (r < 0)
		return r;
	if (letter->status == ROGER_STALE)
		return rg_index_put(index, RG_SQL_EVENT_CLOSE_DEAD, err, "t", letter->id);
	if (letter->status == ROGER_REDELIVERED)
		return read ? ROGER_OK
			    : rg_index_put(index, RG_SQL_EVENT_REOPEN, err, "ti", letter->id,
					   (int64_t)ROGER_EVENT_DEAD_LETTER);
	row->flags |= there ? RG_ROW_REPEAT : 0;
	row->open = !there && !read;
	return ROGER_OK;
}

static int take_entry(struct intake *intake, const struct rg_line *line, struct roger_err *err)
{
	struct row row = { .log = (int)intake->file.log, .text = line };
	struct rg_buf *words = &intake->words;
	union rg_log_record record;
	struct rg_columns columns = { 0 };
	struct roger_err why = { 0 };
	int r;

	rg_assert(intake->file.log != RG_LOG_MESSAGES);
	r = line->too_long
		    ? rg_fail(&why, ROGER_EDATA, 0, "longer than %d bytes", RG_LINE_BYTES_MAX)
		    : rg_log_kind_read(intake->file.log, line->text, intake->arena, &record, &why);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0) {
		row.log = ~row.log;
		row.text = NULL;
		row.detail = rg_str(why.message);
		return add_row(intake, &row, err);
	}
	rg_buf_clear(words);
	rg_log_kind_columns(intake->file.log, &record, intake->arena, &columns);
	row.at_ms = columns.at_ms;
	memcpy(row.texts, columns.texts, sizeof row.texts);
	switch (intake->file.log) {
	case RG_LOG_ACTIVITY:
		r = take_note(intake, &record.activity, &row, words, err);
		break;
	case RG_LOG_SENDS:
		r = take_attempt(intake, &record.attempt, &row, words, err);
		break;
	case RG_LOG_DEAD_LETTERS:
		r = take_letter(intake, &record.letter, &row, words, err);
		break;
	case RG_LOG_CYCLES:
		row.kind = ROGER_EVENT_CYCLE;
		row.texts[RG_COLUMN_OWNER] = record.cycle.opened_by;
		rg_buf_printf(words, "cycle %.*s", RG_STR_ARGS(record.cycle.id));
		break;
	case RG_LOG_RETIRED:
		row.kind = ROGER_EVENT_RETIREMENT;
		rg_say_retirement(&record.retirement, words);
		break;
	case RG_LOG_DAMAGE:
		r = take_damage(intake, &record.damage, &row, words, err);
		break;
	default:
		break;
	}
	row.words = rg_buf_str(words);
	if (words->failed)
		return rg_fail_memory(err);
	return r < 0 ? r : add_row(intake, &row, err);
}

static int take_entries(struct intake *intake, struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(intake->index->store, &intake->file,
					    (uint64_t)intake->offset, (uint64_t)intake->size);
	const uint64_t number = rg_altered_file(&intake->file);
	struct rg_line line;
	bool found = true, altered;
	int r = rg_chain_find(&lines.bytes, (uint64_t)intake->offset, &intake->chain, err);

	while (r == ROGER_OK && (r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK &&
	       found) {
		rg_arena_reset(intake->arena);
		rg_arena_reset(intake->memory);
		r = count_line(intake, line.offset, err);
		if (r < 0)
			break;
		intake->byte = intake->last_offset = (int64_t)line.offset;
		intake->last_length = (int64_t)line.length;
		intake->last_hash = (int64_t)rg_hash(0, line.text.data, line.text.length);
		altered = rg_altered_has(&intake->index->altered, number, line.offset);
		r = check_chain(intake, &lines.bytes, &line, altered, err);
		if (r == ROGER_OK && !altered)
			r = take_entry(intake, &line, err);
	}
	intake->offset = (int64_t)lines.at;
	return r;
}

/* ----------------------------------------------------------------- files -- */

/* Is the last line that was read unchanged? */
static bool still_same(struct intake *intake)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_LINE_BYTES_MAX };
	size_t length = (size_t)intake->last_length, got;
	struct rg_store *store = intake->index->store;
	char *room;

	/* The tables have checked the messages already. */
	if (intake->offset == 0 || intake->file.log == RG_LOG_MESSAGES)
		return true;
	if (intake->size < intake->offset)
		return false;
	room = rg_buf_room(&text, length);
	return room &&
	       store->ops->read(store, &intake->file, (uint64_t)intake->last_offset, room, length,
				&got, NULL) == ROGER_OK &&
	       (int64_t)rg_hash(0, room, got) == intake->last_hash;
}

/* Load how far the file was read; *ret_behind: it has more, or its last line has changed. */
static int look_at_log(struct intake *intake, bool *ret_behind, struct roger_err *err)
{
	const struct roger_str name = intake->file.shown;
	struct rg_store *store = intake->index->store;
	int64_t found[5] = { 0 };
	bool there;
	int r = ROGER_OK;

	if (intake->file.log != RG_LOG_MESSAGES)
		r = store->ops->stat(store, &intake->file, &there, err);
	else
		intake->file.size = rg_index_end(intake->index);
	intake->number = (int64_t)rg_hash(0, name.data, name.length);
	if (r == ROGER_OK)
		r = rg_index_look_up(intake->index, RG_SQL_EVENT_FILE_GET, found, 5, &there, err,
				     "i", intake->number);
	intake->offset = found[0];
	intake->lines = found[1];
	intake->last_offset = found[2];
	intake->last_length = found[3];
	intake->last_hash = found[4];
	intake->size = (int64_t)intake->file.size;
	if (intake->file.limited && intake->size > (int64_t)intake->file.most)
		intake->size = intake->offset > (int64_t)intake->file.most
				       ? intake->offset
				       : (int64_t)intake->file.most;
	if (r == ROGER_OK && intake->file.log == RG_LOG_MESSAGES)
		*ret_behind = intake->size > intake->offset;
	else if (r == ROGER_OK)
		*ret_behind = intake->size != intake->offset || !still_same(intake);
	return r;
}

/* Delete the file's rows.  Notes also decided rows of messages, so with notes all begins again. */
static int forget_file(struct intake *intake, bool *ret_anew, struct roger_err *err)
{
	struct rg_index *index = intake->index;
	const int log = (int)intake->file.log;
	char sql[200];

	rg_assert(!sqlite3_get_autocommit(intake->index->db));
	*ret_anew = log == RG_LOG_ACTIVITY || log == RG_LOG_MESSAGES;
	if (*ret_anew)
		return rg_index_run(index, "DELETE FROM event; DELETE FROM event_files", err);
	snprintf(sql, sizeof sql,
		 "DELETE FROM event WHERE log = %d AND file = %lld; "
		 "DELETE FROM event WHERE log = %d AND file = %lld",
		 log, (long long)intake->number, ~log, (long long)intake->number);
	intake->offset = intake->lines = 0;
	return rg_index_run(index, sql, err);
}

static int take_file(struct rg_index *index, const struct rg_log_file *file, bool *ret_anew,
		     struct roger_err *err)
{
	struct intake intake = { .index = index,
				 .file = *file,
				 .words.maximum = RG_LINE_BYTES_MAX };
	bool behind = false, filled;
	int r = look_at_log(&intake, &behind, err);

	if (r < 0 || !behind)
		return r;
	if (!still_same(&intake))
		r = forget_file(&intake, ret_anew, err);
	if (r < 0 || *ret_anew)
		return r;
	intake.arena = rg_arena_new();
	intake.memory = rg_arena_new();
	rg_table_init(&intake.lives, sizeof(struct known));
	r = intake.arena && intake.memory
		    ? rg_index_look_up(index, RG_SQL_EVENT_LAST, NULL, 0, &filled, err, "")
		    : rg_fail_memory(err);
	intake.fresh = r == ROGER_OK && !filled;
	if (r == ROGER_OK)
		r = file->log == RG_LOG_MESSAGES ? take_messages(&intake, err)
						 : take_entries(&intake, err);
	if (r == ROGER_OK)
		r = rg_index_put(index, RG_SQL_EVENT_FILE_SET, err, "iiiiiit", intake.number,
				 intake.offset, intake.lines, intake.last_offset,
				 intake.last_length, intake.last_hash, file->shown);
	rg_buf_deinit(&intake.words);
	rg_table_deinit(&intake.lives);
	rg_arena_free(intake.memory);
	rg_arena_free(intake.arena);
	return r;
}

static bool knows_events(struct rg_index *index)
{
	return sqlite3_table_column_metadata(index->db, NULL, "event", NULL, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

/* SQLite notices that another handle changed the schema only when a statement runs. */
bool rg_index_has_events(struct rg_index *index)
{
	return knows_events(index) ||
	       (sqlite3_exec(index->db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL) ==
			SQLITE_OK &&
		knows_events(index));
}

/* Needs no lock. */
bool rg_index_knows_events(struct rg_index *index, const struct rg_log_files *files)
{
	bool behind;
	size_t i;

	if (!rg_index_has_events(index))
		return false;
	for (i = 0; i < files->count; i++) {
		struct intake intake = { .index = index, .file = files->items[i] };

		behind = true;
		if (look_at_log(&intake, &behind, NULL) < 0 || behind)
			return false;
	}
	return true;
}

int rg_index_take_events(struct rg_index *index, const struct rg_log_files *files,
			 struct roger_err *err)
{
	bool anew = false;
	size_t i;
	int r;

	rg_assert(!sqlite3_get_autocommit(index->db));
	r = rg_index_has_events(index) ? ROGER_OK : rg_index_run(index, tables, err);
	for (i = 0; i < files->count && r == ROGER_OK; i++) {
		r = take_file(index, &files->items[i], &anew, err);
		if (anew)
			i = SIZE_MAX;
		anew = false;
	}
	return r;
}

static int take_files(struct rg_index *index, const void *files, struct roger_err *err)
{
	return rg_index_take_events(index, files, err);
}

int rg_index_refresh_events(struct rg_index *index, const struct rg_log_files *files,
			    struct roger_err *err)
{
	return rg_index_knows_events(index, files)
		       ? ROGER_OK
		       : rg_index_write(index, index->serving ? 0 : WAIT_MS, take_files, files,
					err);
}
