/* Reading lines of the journal into the tables. */
#include "index/index_db.h"

#include <stdarg.h>

#include "base/id.h"
#include "store/decoder.h"
#include "facts/message.h"
#include "facts/person.h"

/* How many lines of the journal a row of spans is of. */
enum { SPAN_LINES = 1024 };

/* An earlier state of a message, from the tables. */
struct known {
	struct rg_entry first;
	bool read;
	int64_t bytes; /* of its text and metadata */
};

static void bind_values(sqlite3_stmt *statement, const char *kinds, va_list *values)
{
	int place;

	for (place = 1; *kinds; kinds++, place++) {
		if (*kinds == 'i') {
			sqlite3_bind_int64(statement, place, va_arg(*values, int64_t));
		} else if (*kinds == 'm') {
			rg_index_bind_message(statement, place,
					      va_arg(*values, const struct roger_message *));
			place += RG_MESSAGE_PLACES - 1;
		} else if (*kinds == 'n') {
			rg_index_bind_number(statement, place, va_arg(*values, int64_t));
		} else if (*kinds == 's') {
			rg_index_bind_text(statement, place, va_arg(*values, struct roger_str));
		} else {
			rg_index_bind(statement, place, va_arg(*values, struct roger_str));
		}
	}
}

int rg_index_put(struct rg_index *index, enum rg_statement which, struct roger_err *err,
		 const char *kinds, ...)
{
	sqlite3_stmt *statement = rg_index_statement(index, which, err);
	va_list values;

	if (!statement)
		return ROGER_EIO;
	va_start(values, kinds);
	bind_values(statement, kinds, &values);
	va_end(values);
	return rg_index_step(index, statement, err);
}

int rg_index_look_up(struct rg_index *index, enum rg_statement which, int64_t *ret_numbers,
		     int count, bool *ret_there, struct roger_err *err, const char *kinds, ...)
{
	sqlite3_stmt *statement = rg_index_statement(index, which, err);
	va_list values;
	int step, i;

	*ret_there = false;
	if (!statement)
		return ROGER_EIO;
	va_start(values, kinds);
	bind_values(statement, kinds, &values);
	va_end(values);
	step = sqlite3_step(statement);
	*ret_there = step == SQLITE_ROW;
	for (i = 0; i < count; i++)
		ret_numbers[i] = *ret_there ? sqlite3_column_int64(statement, i) : 0;
	sqlite3_reset(statement);
	return step == SQLITE_ROW || step == SQLITE_DONE ? ROGER_OK
							 : rg_index_fail(index, "look up", err);
}

/* -------------------------------------------------------------- deltas -- */

/* Return the delta of these names.  Out of memory: a spare one; flush_deltas() fails then. */
static struct rg_delta *delta_of(struct rg_deltas *deltas, struct roger_str first,
				 struct roger_str second, enum rg_delta_kind kind)
{
	const uint64_t hash =
		rg_hash(rg_hash(kind, first.data, first.length), second.data, second.length);
	struct rg_delta *delta;
	bool fresh;

	rg_assert(first.length > 0);
	if (!deltas->memory) {
		deltas->memory = rg_arena_new();
		rg_table_init(&deltas->table, sizeof *delta);
	}
	delta = deltas->memory ? rg_table_put(&deltas->table, hash, &fresh) : NULL;
	if (!delta || (fresh && (!rg_arena_copy(deltas->memory, first, &delta->first) ||
				 !rg_arena_copy(deltas->memory, second, &delta->second)))) {
		deltas->failed = true;
		return &deltas->lost;
	}
	delta->kind = kind;
	return delta;
}

/* Take the higher number of the later epoch. */
static void raise_number(struct rg_delta *delta, int64_t epoch, int64_t seq)
{
	if (epoch > delta->epoch || (epoch == delta->epoch && seq > delta->seq)) {
		delta->epoch = epoch;
		delta->seq = seq;
	}
}

static void count_sender(struct rg_index *index, const struct roger_message *message)
{
	struct rg_delta *from = delta_of(&index->deltas, message->from, RG_STR(""), RG_DELTA_AGENT);

	from->sent++;
	raise_number(from, message->epoch, message->seq);
	if (message->created_at_ms > from->last_sent_at_ms)
		from->last_sent_at_ms = message->created_at_ms;
}

static void count_recipient(struct rg_index *index, struct roger_str name, int received, int unread)
{
	struct rg_delta *to = delta_of(&index->deltas, name, RG_STR(""), RG_DELTA_AGENT);

	to->received += received;
	to->unread += unread;
}

/* Raise the number that the recipient accepted from the sender, or that came in over an edge. */
static void raise_mark(struct rg_index *index, const struct roger_message *message,
		       enum rg_delta_kind kind)
{
	rg_assert(kind == RG_DELTA_SEEN || kind == RG_DELTA_EDGE);
	if (message->seq)
		raise_number(delta_of(&index->deltas, message->to, message->from, kind),
			     message->epoch, message->seq);
}

static void note_seen(struct rg_index *index, const struct roger_message *message)
{
	struct rg_delta *reader;

	if (!rg_message_read_itself(message))
		return;
	raise_mark(index, message, RG_DELTA_SEEN);
	/* A mark of another program is no look. */
	if (!message->chain.length)
		return;
	reader = delta_of(&index->deltas, message->to, RG_STR(""), RG_DELTA_AGENT);
	if (message->read_at_ms > reader->last_read_at_ms)
		reader->last_read_at_ms = message->read_at_ms;
}

static void count_in_issue(struct rg_index *index, const struct roger_message *message, int by,
			   int unread, int64_t bytes)
{
	struct rg_delta *in = delta_of(&index->deltas, message->issue, RG_STR(""), RG_DELTA_ISSUE);

	in->types[message->type] += by;
	in->unread += unread;
	in->bytes += by * bytes;
}

/* Widen the span of a new message: a question by time or type reads only spans that may have some.
 */
static void note_span(struct rg_index *index, const struct roger_message *message, int64_t position)
{
	const int64_t first = position - position % SPAN_LINES, at_ms = message->created_at_ms;
	const struct roger_str bytes = { (const char *)&first, sizeof first };
	struct rg_delta *span = delta_of(&index->deltas, bytes, RG_STR(""), RG_DELTA_SPAN);

	if (!span->last || at_ms < span->oldest_ms)
		span->oldest_ms = at_ms;
	if (at_ms > span->newest_ms)
		span->newest_ms = at_ms;
	span->last = position;
	span->types[message->type] = 1;
}

static int flush_span(struct rg_index *index, const struct rg_delta *span, struct roger_err *err)
{
	int64_t types = 0;
	int i;

	for (i = ROGER_CONTEXT; i <= ROGER_DATA; i++)
		types |= span->types[i] << i;
	return rg_index_put(index, RG_SQL_SPAN_ADD, err, "iiiii",
			    span->last - span->last % SPAN_LINES, span->last, span->oldest_ms,
			    span->newest_ms, types);
}

static int flush_deltas(struct rg_index *index, struct roger_err *err)
{
	const struct rg_delta *delta;
	const int64_t *types;
	size_t i = 0;
	int r = rg_kept(!index->deltas.failed, err);

	rg_assert(!sqlite3_get_autocommit(index->db));
	while (r == ROGER_OK && (delta = rg_table_next(&index->deltas.table, &i))) {
		types = delta->types;
		if (delta->kind == RG_DELTA_AGENT)
			r = rg_index_put(index, RG_SQL_AGENT_ADD, err, "tiiiiiii", delta->first,
					 delta->sent, delta->received, delta->unread, delta->epoch,
					 delta->seq, delta->last_sent_at_ms,
					 delta->last_read_at_ms);
		else if (delta->kind == RG_DELTA_ISSUE)
			r = rg_index_put(index, RG_SQL_ISSUE_ADD, err, "tiiiiii", delta->first,
					 types[ROGER_CONTEXT], types[ROGER_RESULT],
					 types[ROGER_DECISION], types[ROGER_DATA], delta->unread,
					 delta->bytes);
		else if (delta->kind == RG_DELTA_SPAN)
			r = flush_span(index, delta, err);
		else
			r = rg_index_put(
				index,
				delta->kind == RG_DELTA_EDGE ? RG_SQL_EDGE_ADD : RG_SQL_SEEN_ADD,
				err, "ttii", delta->first, delta->second, delta->epoch, delta->seq);
	}
	return r;
}

/* ---------------------------------------------------------------- rows -- */

/* Has it a row in leases: is a notice due, or is it unread and leased, dead or to be confirmed? */
static bool is_pending(const struct roger_message *message)
{
	return message->notice_due ||
	       (!message->read &&
		(message->claimed_by.length || message->confirm_by_ms || message->dead_at_ms));
}

/* Record until when an unread message is leased, and until when it must be read. */
static int set_lease(struct rg_index *index, const struct roger_message *message, int64_t position,
		     struct roger_err *err)
{
	if (!is_pending(message))
		return rg_index_put(index, RG_SQL_LEASE_DROP, err, "i", position);
	return rg_index_put(index, RG_SQL_LEASE_SET, err, "itiii", position, message->claimed_by,
			    rg_index_leased_until(message), message->confirm_by_ms,
			    (int64_t)message->notice_due);
}

static int note_ack(struct rg_index *index, const struct roger_message *message, int64_t position,
		    const struct rg_line *line, struct roger_err *err)
{
	return message->acked_at_ms ? rg_index_put(index, RG_SQL_ACK_ADD, err, "iii", position,
						   (int64_t)line->offset, (int64_t)line->length)
				    : ROGER_OK;
}

/* Add the members that few messages have; each has its own table. */
static int add_links(struct rg_index *index, const struct roger_message *message, int64_t position,
		     const struct rg_line *line, struct roger_err *err)
{
	int r = ROGER_OK;

	if (message->key.length)
		r = rg_index_put(index, RG_SQL_KEY_ADD, err, "tti", message->from, message->key,
				 position);
	if (r == ROGER_OK && message->reply_to.length)
		r = rg_index_put(index, RG_SQL_REPLY_ADD, err, "tti", message->reply_to,
				 message->id, position);
	if (r == ROGER_OK && is_pending(message))
		r = set_lease(index, message, position, err);
	return r == ROGER_OK ? note_ack(index, message, position, line, err) : r;
}

static int change_known(struct rg_index *index, const struct known *known,
			const struct roger_message *message, const struct rg_line *line,
			struct roger_err *err)
{
	const int64_t position = known->first.position;
	const bool turned = known->read != message->read;
	int r = rg_index_put(index, RG_SQL_LINE_SET, err, "iiii", position, index->progress.lines,
			     (int64_t)line->offset, (int64_t)line->length);

	rg_assert(!message->archived_at_ms);
	if (r == ROGER_OK && turned) {
		count_recipient(index, message->to, 0, message->read ? -1 : 1);
		count_in_issue(index, message, 0, message->read ? -1 : 1, 0);
		note_seen(index, message);
		r = rg_index_put(index, RG_SQL_READ_SET, err, "ii", position,
				 (int64_t)message->read);
	}
	if (r == ROGER_OK)
		r = note_ack(index, message, position, line, err);
	return r == ROGER_OK ? set_lease(index, message, position, err) : r;
}

static int add_archived(struct rg_index *index, const struct roger_message *message,
			const struct rg_entry *first, const struct rg_line *line,
			struct roger_err *err)
{
	rg_assert(message->archived_at_ms > 0);
	index->progress.archived++;
	return rg_index_put(index, RG_SQL_ARCHIVED_ADD, err, "imiiiiiii", first->position, message,
			    (int64_t)message->read, message->created_at_ms, (int64_t)line->offset,
			    (int64_t)line->length, (int64_t)first->hash,
			    (int64_t)first->first.offset, (int64_t)first->first.length);
}

static int archive_known(struct rg_index *index, const struct known *known,
			 const struct roger_message *message, const struct rg_line *line,
			 struct roger_err *err)
{
	int r;

	count_recipient(index, message->to, 0, -!known->read);
	count_in_issue(index, message, -1, -!known->read, known->bytes);
	r = rg_index_put(index, RG_SQL_MESSAGE_DROP, err, "i", known->first.position);
	if (r == ROGER_OK)
		r = rg_index_put(index, RG_SQL_LEASE_DROP, err, "i", known->first.position);
	return r == ROGER_OK ? add_archived(index, message, &known->first, line, err) : r;
}

/* Make an entry of the columns with which MESSAGE_GET and ARCHIVED_HAS begin. */
static struct rg_entry first_of(const int64_t found[4])
{
	const struct rg_place first = { (uint64_t)found[2], (size_t)found[3] };

	return (struct rg_entry){ .position = found[0],
				  .offset = first.offset,
				  .length = first.length,
				  .hashed = true,
				  .hash = (uint64_t)found[1],
				  .first = first };
}

/* Archived is final: later lines with this id are history. */
int rg_index_first_line(struct rg_index *index, struct roger_str id, bool archived,
			struct rg_entry *ret_first, struct roger_err *err)
{
	int64_t found[4] = { 0 };
	bool there;
	int r = ROGER_OK;

	if (!archived || index->progress.archived)
		r = rg_index_look_up(index, archived ? RG_SQL_ARCHIVED_HAS : RG_SQL_MESSAGE_GET,
				     found, 4, &there, err, "t", id);
	*ret_first = first_of(found);
	return r;
}

int rg_index_first_of_all(struct rg_index *index, struct roger_str id, struct rg_entry *ret_first,
			  struct roger_err *err)
{
	int r = rg_index_first_line(index, id, false, ret_first, err);

	return r == ROGER_OK && !ret_first->position
		       ? rg_index_first_line(index, id, true, ret_first, err)
		       : r;
}

/* ---------------------------------------------------------- later lines -- */

/* A later line of a message, completed by its first line. */
struct later {
	struct rg_arena *arena; /* NULL: the line has all that the first one has */
	struct roger_message message;
	struct rg_rewrites rewrites;
};

/* Give the line's message the members of its first line, and record what the line rewrites. */
static int follow_first(struct rg_index *index, const struct rg_entry *first,
			const struct roger_message *message, const struct rg_line *line,
			struct later *later, struct roger_err *err)
{
	const struct rg_rewrites *rewrites = &later->rewrites;
	size_t i;
	int r;

	*later = (struct later){ .message = *message };
	if (rg_index_hash(index, message) == first->hash)
		return ROGER_OK;
	later->arena = rg_arena_new();
	if (!later->arena)
		return rg_fail_memory(err);
	r = rg_index_follow_first(index, first, (struct rg_place){ line->offset, line->length },
				  later->arena, &later->message, &later->rewrites, err);
	for (i = 0; r == ROGER_OK && i < rewrites->count; i++) {
		r = rg_index_put(index, RG_SQL_REWRITE_ADD, err, "itiii", first->position,
				 rg_str(rewrites->items[i].member),
				 (int64_t)rewrites->items[i].value, index->progress.lines,
				 (int64_t)line->offset);
		index->progress.rewrites += sqlite3_changes(index->db);
	}
	return r;
}

/* Change or archive a message that the tables have; *ret_known false: they have none of that id. */
static int use_known(struct rg_index *index, const struct roger_message *message,
		     const struct rg_line *line, bool *ret_known, struct roger_err *err)
{
	int64_t found[6];
	struct later later;
	struct known known;
	int r = rg_index_look_up(index, RG_SQL_MESSAGE_GET, found, 6, ret_known, err, "t",
				 message->id);

	if (!*ret_known)
		return r;
	known = (struct known){ first_of(found), found[4], found[5] };
	r = follow_first(index, &known.first, message, line, &later, err);
	if (r == ROGER_OK)
		r = later.message.archived_at_ms
			    ? archive_known(index, &known, &later.message, line, err)
			    : change_known(index, &known, &later.message, line, err);
	rg_arena_free(later.arena);
	return r;
}

/* Is the line probably a later state of a message?  Then look it up before adding it.  A foreign
 * journal that is read from its start may begin with any state. */
static bool is_later_state(const struct rg_index *index, const struct roger_message *message)
{
	return message->archived_at_ms ||
	       (!index->bulk && (message->read || message->claimed_by.length));
}

/* Add a new message; one that was archived and never seen live counts as sent and received. */
static int take_new(struct rg_index *index, const struct roger_message *message,
		    const struct rg_line *line, bool *ret_added, struct roger_err *err)
{
	const int64_t position = index->progress.lines;
	const struct rg_entry first = { .position = position,
					.hash = rg_index_hash(index, message),
					.first = { line->offset, line->length } };
	const bool lives = !message->archived_at_ms, unread = lives && !message->read;
	const int64_t bytes = rg_message_bytes(message);
	int r;

	if (!lives)
		r = add_archived(index, message, &first, line, err);
	else
		r = rg_index_put(index, RG_SQL_MESSAGE_ADD, err, "imiiiiiiii", position, message,
				 (int64_t)first.hash, (int64_t)message->read,
				 message->created_at_ms, message->seq, message->epoch,
				 (int64_t)line->offset, (int64_t)line->length, bytes);
	*ret_added = sqlite3_changes(index->db) > 0;
	if (r < 0 || !*ret_added)
		return r;
	index->progress.strange += !rg_id_is_own(message->id);
	count_in_issue(index, message, lives, unread, bytes);
	count_sender(index, message);
	count_recipient(index, message->to, 1, unread);
	if (message->via.length)
		raise_mark(index, message, RG_DELTA_EDGE);
	note_span(index, message, position);
	if (lives)
		note_seen(index, message);
	return add_links(index, message, position, line, err);
}

static int take_message(struct rg_index *index, const struct roger_message *message,
			const struct rg_line *line, struct roger_err *err)
{
	struct rg_entry archived;
	struct later later;
	bool taken = false;
	int r = rg_index_first_line(index, message->id, true, &archived, err);

	if (archived.position) {
		r = follow_first(index, &archived, message, line, &later, err);
		rg_arena_free(later.arena);
		return r;
	}
	if (r == ROGER_OK && is_later_state(index, message))
		r = use_known(index, message, line, &taken, err);
	if (r == ROGER_OK && !taken)
		r = take_new(index, message, line, &taken, err);
	if (r == ROGER_OK && !taken)
		r = use_known(index, message, line, &taken, err);
	return r;
}

/* Of an altered line, only take that there is a message, if none of its id is known: nobody must
 * miss a message. */
static int take_altered(struct rg_index *index, const struct roger_message *message,
			const struct rg_line *line, struct roger_err *err)
{
	struct rg_entry archived;
	bool added;
	int r = rg_index_first_line(index, message->id, true, &archived, err);

	return r < 0 || archived.position ? r : take_new(index, message, line, &added, err);
}

static int take_line(struct rg_index *index, const struct rg_decoded *decoded,
		     struct roger_err *err)
{
	struct rg_index_progress *progress = &index->progress;
	const struct rg_line *line = &decoded->line;

	rg_assert((int64_t)line->offset == progress->offset);
	progress->lines++;
	progress->offset = (int64_t)(line->offset + line->length + 1);
	progress->last_offset = (int64_t)line->offset;
	progress->last_length = line->too_long ? 0 : (int64_t)line->length;
	if (decoded->is_message)
		return decoded->altered ? take_altered(index, &decoded->message, line, err)
					: take_message(index, &decoded->message, line, err);
	/* A torn line is known to be unfinished, and no stray. */
	progress->strays += !decoded->torn;
	return ROGER_OK;
}

/* --------------------------------------------------------------- lines -- */

static int take_lines(struct rg_index *index, struct rg_decoder *decoder, uint64_t end,
		      struct roger_err *err)
{
	const struct rg_decoded *decoded;
	int r;

	while ((r = rg_decoder_next(decoder, &decoded, err)) == ROGER_OK && decoded) {
		if (index->progress.lines % 8192 == 0 &&
		    !rg_index_report_progress(index, "index", (int64_t)decoded->line.offset,
					      (int64_t)end))
			return rg_fail(err, ROGER_EREFUSED, 0, "stopped");
		r = take_line(index, decoded, err);
		if (r < 0)
			break;
	}
	return r;
}

int rg_index_ingest(struct rg_index *index, uint64_t end, struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(index->store, &rg_store_messages);
	struct rg_index_progress *progress = &index->progress;
	struct rg_decoder *decoder;
	int r;

	rg_assert(!sqlite3_get_autocommit(index->db));
	r = rg_decoder_open(&bytes, rg_index_end(index), end, &index->altered, &decoder, err);
	if (r < 0)
		return r;
	progress->altered = (int64_t)index->altered.mark;
	r = take_lines(index, decoder, end, err);
	rg_decoder_close(decoder);
	if (r == ROGER_OK)
		r = flush_deltas(index, err);
	if (r == ROGER_OK)
		r = rg_index_last_hash(index, &progress->last_hash, err);
	if (r == ROGER_OK) {
		index->vfs.pages.next_reach = (uint64_t)progress->offset;
		r = rg_index_put(index, RG_SQL_PROGRESS_SET, err, "iiiiiiiiiii", progress->offset,
				 progress->lines, progress->strays, progress->archived,
				 progress->last_offset, progress->last_length, progress->last_hash,
				 progress->search_to, progress->rewrites, progress->altered,
				 progress->strange);
	}
	rg_table_deinit(&index->deltas.table);
	rg_arena_free(index->deltas.memory);
	index->deltas = (struct rg_deltas){ 0 };
	return r;
}
