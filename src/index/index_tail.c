/*
 * Answers about mailboxes and ids from the tables and the lines after them.
 *
 * A line in the tables costs a transaction; a line in memory costs its decoding.
 * So the tables take lines in only when there are many, and until then this file
 * keeps what the lines say over the tables: the last state of each message, and
 * of the agents asked for the unread messages in order.
 *
 * It holds for one state of the tables.  When another process took lines in, it
 * starts again from there.
 */
#include "index/index_db.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "facts/message.h"
#include "facts/sequence.h"
#include "store/lines.h"

/*
 * Bytes of lines that are kept over the tables.  A process that starts reads all of them, so it
 * prefers to take many in; one that lives has read most of them.  Above TAIL_BYTES_HELD even those
 * who hold the change lock take them in.
 */
enum { TAIL_BYTES_FRESH = 32 << 10, TAIL_BYTES = 512 << 10, TAIL_BYTES_HELD = 2 << 20 };

/* Rows of a mailbox read at once, and in all; agents; messages. */
enum { BOX_ROWS = 128, BOX_ROWS_MAX = 4096, BOXES_MAX = 32, LATE_MAX = 16384 };

/* So often the tables may change under a question. */
enum { MOVES_MAX = 8 };

/* A message: its state now, and whether it is unread in the tables. */
struct rg_late {
	struct roger_str id, issue, from, to;
	struct rg_entry at; /* its last line */
	int64_t leased_until_ms;
	bool read, archived;
	bool was_unread;
	int64_t accepted_seq, accepted_epoch; /* by one of the lines; 0: none */
};

struct slot {
	uint64_t hash;
	struct rg_late *late;
};

struct lates {
	struct rg_late **items;
	size_t count;
};

/* The unread messages of an agent, oldest first; those read since stay in it. */
struct rg_box {
	struct roger_str agent;
	struct lates old, fresh; /* in the tables; first seen in a line after them */
	size_t old_read;	 /* so many of old, at its beginning, are read now */
	size_t fresh_read;
	int64_t loaded; /* old holds those up to this position */
	int64_t unread;
};

void rg_index_tail_drop(struct rg_index *index)
{
	struct rg_index_tail *tail = &index->tail;

	if (tail->memory)
		rg_table_deinit(&tail->states);
	rg_arena_free(tail->memory);
	rg_arena_free(tail->scratch);
	*tail = (struct rg_index_tail){ 0 };
}

static int begin(struct rg_index *index, struct roger_err *err)
{
	const struct rg_index_progress *progress = &index->progress;
	struct rg_index_tail *tail = &index->tail;

	rg_index_tail_drop(index);
	tail->memory = rg_arena_new();
	if (!tail->memory)
		return rg_fail_memory(err);
	rg_table_init(&tail->states, sizeof(struct slot));
	tail->scratch = rg_arena_new();
	tail->from = tail->to = (uint64_t)progress->offset;
	tail->lines = progress->lines;
	tail->last_offset = progress->last_offset;
	tail->last_length = progress->last_length;
	tail->last_hash = progress->last_hash;
	return tail->scratch ? ROGER_OK : rg_fail_memory(err);
}

uint64_t rg_index_seen(const struct rg_index *index)
{
	const uint64_t end = rg_index_end(index);

	return index->tail.memory && index->tail.to > end ? index->tail.to : end;
}

/* ---------------------------------------------------------------- tables -- */

/* Read the tables, which must be those that the lines were read after.  Until finish(). */
static int look(struct rg_index *index, struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	int r;

	if (tail->looking)
		return ROGER_OK;
	r = rg_index_run_one(index, RG_SQL_BEGIN, err);
	if (r < 0)
		return r;
	tail->looking = true;
	r = rg_index_load(index, err);
	if (r == ROGER_OK && rg_index_end(index) == tail->from)
		return ROGER_OK;
	tail->moved = !index->damaged;
	return r < 0 ? r : rg_fail(err, ROGER_ETIMEOUT, 0, "index '%s' was updated", index->name);
}

static void finish(struct rg_index *index)
{
	if (index->tail.looking && index->db && !sqlite3_get_autocommit(index->db))
		(void)rg_index_run_one(index, RG_SQL_END, NULL);
	index->tail.looking = false;
}

static int see_number(struct rg_index *index, sqlite3_stmt *get, int64_t *ret_number,
		      struct roger_err *err)
{
	int step = sqlite3_step(get);

	*ret_number = step == SQLITE_ROW ? sqlite3_column_int64(get, 0) : 0;
	sqlite3_reset(get);
	return step == SQLITE_ROW || step == SQLITE_DONE ? ROGER_OK
							 : rg_index_fail(index, "look up", err);
}

/* ---------------------------------------------------------------- states -- */

/* The state of an id; NULL: not read yet. */
static struct rg_late *late_of(struct rg_index *index, struct roger_str id)
{
	const struct slot *slot =
		rg_table_find(&index->tail.states, rg_hash(0, id.data, id.length));

	if (slot && !rg_str_equal(slot->late->id, id))
		index->tail.strange = true;
	return slot ? slot->late : NULL;
}

static int add_late(struct rg_index *index, const struct rg_late *late, struct rg_late **ret_late,
		    struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	struct rg_late *kept = rg_arena_get(tail->memory, sizeof *kept);
	struct slot *slot;
	bool is_new;

	if (!kept)
		return rg_fail_memory(err);
	*kept = *late;
	if (!rg_arena_copy(tail->memory, late->id, &kept->id) ||
	    !rg_arena_copy(tail->memory, late->issue, &kept->issue) ||
	    !rg_arena_copy(tail->memory, late->from, &kept->from) ||
	    !rg_arena_copy(tail->memory, late->to, &kept->to))
		return rg_fail_memory(err);
	slot = rg_table_put(&tail->states, rg_hash(0, late->id.data, late->id.length), &is_new);
	if (!slot)
		return rg_fail_memory(err);
	slot->late = kept;
	*ret_late = kept;
	return ROGER_OK;
}

/* A row of RG_SQL_STATE_GET or RG_SQL_BOX_GET. */
static int add_row(struct rg_index *index, sqlite3_stmt *row, struct rg_late **ret_late,
		   struct roger_err *err)
{
	struct rg_late late = {
		.id = rg_index_column(row, 4),
		.issue = rg_index_column(row, 5),
		.from = rg_index_column(row, 6),
		.to = rg_index_column(row, 7),
		.read = sqlite3_column_int(row, 8),
		.leased_until_ms = sqlite3_column_int64(row, 9),
	};
	int r;

	late.was_unread = !late.read;
	*ret_late = late_of(index, late.id);
	if (*ret_late)
		return ROGER_OK;
	late.at.position = sqlite3_column_int64(row, 0);
	r = rg_index_lines_find(index, sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2),
				rg_index_bytes(row, 3), &late.at, err);
	return r < 0 ? r : add_late(index, &late, ret_late, err);
}

/* The highest id of roger's form in the tables: what is above it is new. */
static int learn_newest(struct rg_index *index, struct roger_err *err)
{
	sqlite3_stmt *get = rg_index_statement(index, RG_SQL_NEWEST_GET, err);
	int step;
	bool kept;

	if (!get)
		return ROGER_EIO;
	step = sqlite3_step(get);
	kept = step != SQLITE_ROW ||
	       rg_arena_copy(index->tail.memory, rg_index_column(get, 0), &index->tail.newest);
	sqlite3_reset(get);
	if (step != SQLITE_ROW)
		return rg_index_fail(index, "look up", err);
	index->tail.newest_known = kept;
	return kept ? ROGER_OK : rg_fail_memory(err);
}

static bool is_above(struct roger_str id, struct roger_str newest)
{
	static const char form[] = "msg-";
	size_t shorter = id.length < newest.length ? id.length : newest.length;
	int order;

	if (id.length < sizeof form || memcmp(id.data, form, sizeof form - 1) != 0)
		return false;
	order = shorter ? memcmp(id.data, newest.data, shorter) : 0;
	return order > 0 || (order == 0 && id.length > newest.length);
}

static int look_up(struct rg_index *index, struct roger_str id, struct rg_late **ret_late,
		   struct roger_err *err)
{
	sqlite3_stmt *get = rg_index_statement(index, RG_SQL_STATE_GET, err);
	int step, r = ROGER_OK;

	if (!get)
		return ROGER_EIO;
	rg_index_bind(get, 1, id);
	step = sqlite3_step(get);
	if (step == SQLITE_ROW)
		r = add_row(index, get, ret_late, err);
	else if (step != SQLITE_DONE)
		r = rg_index_fail(index, "look up an id", err);
	sqlite3_reset(get);
	return r;
}

/* The state of an id, also from the tables.  NULL: they have none, or (*ret_archived) it is final.
 */
static int find_late(struct rg_index *index, struct roger_str id, struct rg_late **ret_late,
		     bool *ret_archived, struct roger_err *err)
{
	int r = ROGER_OK;

	*ret_archived = false;
	*ret_late = late_of(index, id);
	if (*ret_late)
		return ROGER_OK;
	if (!index->tail.newest_known) {
		r = look(index, err);
		if (r == ROGER_OK)
			r = learn_newest(index, err);
	}
	if (r < 0 || is_above(id, index->tail.newest))
		return r;
	r = look(index, err);
	if (r == ROGER_OK)
		r = rg_index_is_archived(index, id, ret_archived, err);
	return r < 0 || *ret_archived ? r : look_up(index, id, ret_late, err);
}

/* ----------------------------------------------------------------- boxes -- */

static bool is_unread(const struct rg_late *late)
{
	return !late->read && !late->archived;
}

static int push(struct rg_index *index, struct lates *list, struct rg_late *late,
		struct roger_err *err)
{
	struct rg_late **place =
		rg_arena_push(index->tail.memory, &list->items, &list->count, sizeof *place);

	if (!place)
		return rg_fail_memory(err);
	*place = late;
	return ROGER_OK;
}

static struct rg_box *known_box(const struct rg_index *index, struct roger_str agent)
{
	size_t i;

	for (i = 0; i < index->tail.box_count; i++)
		if (rg_str_equal(index->tail.boxes[i]->agent, agent))
			return index->tail.boxes[i];
	return NULL;
}

static bool is_or_any(struct roger_str wanted, struct roger_str is)
{
	return !wanted.length || rg_str_equal(wanted, is);
}

static bool is_asked(const struct rg_query *query, const struct rg_late *late)
{
	return is_or_any(query->to, late->to) && is_or_any(query->issue, late->issue) &&
	       is_or_any(query->from, late->from);
}

/* How many more unread messages of this kind there are than in the tables. */
static int64_t count_since(const struct rg_index *index, const struct rg_query *query)
{
	const struct slot *slot;
	int64_t more = 0;
	size_t i = 0;

	while ((slot = rg_table_next(&index->tail.states, &i)))
		if (is_asked(query, slot->late))
			more += is_unread(slot->late) - slot->late->was_unread;
	return more;
}

/* Unread messages of an agent, without a box. */
static int count_agent(struct rg_index *index, struct roger_str agent, int64_t *ret_unread,
		       struct roger_err *err)
{
	const struct rg_query query = { .to = agent };
	sqlite3_stmt *get;
	int r = look(index, err);

	if (r < 0)
		return r;
	get = rg_index_statement(index, RG_SQL_UNREAD_GET, err);
	if (!get)
		return ROGER_EIO;
	rg_index_bind(get, 1, agent);
	r = see_number(index, get, ret_unread, err);
	*ret_unread += count_since(index, &query);
	return r;
}

static int make_box(struct rg_index *index, struct roger_str agent, struct rg_box **ret_box,
		    struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	struct rg_box *box = rg_arena_get(tail->memory, sizeof *box), **place;
	size_t i;
	int r;

	if (!box || !rg_arena_copy(tail->memory, agent, &box->agent))
		return rg_fail_memory(err);
	r = count_agent(index, agent, &box->unread, err);
	for (i = 0; r == ROGER_OK && i < tail->fresh_count; i++)
		if (rg_str_equal(tail->fresh[i]->to, agent))
			r = push(index, &box->fresh, tail->fresh[i], err);
	if (r < 0)
		return r;
	place = rg_arena_push(tail->memory, &tail->boxes, &tail->box_count, sizeof *place);
	if (!place)
		return rg_fail_memory(err);
	*ret_box = *place = box;
	return ROGER_OK;
}

/* The next row of a mailbox. */
static int add_old(struct rg_index *index, struct rg_box *box, sqlite3_stmt *row,
		   struct roger_err *err)
{
	struct rg_late *late;
	int r = add_row(index, row, &late, err);

	if (r < 0)
		return r;
	if (!late->was_unread || !rg_str_equal(late->to, box->agent))
		return rg_index_wrong(index, late->id, err);
	box->loaded = late->at.position;
	return push(index, &box->old, late, err);
}

static int load_more(struct rg_index *index, struct rg_box *box, struct roger_err *err)
{
	int step = SQLITE_DONE, r = look(index, err);
	size_t before = box->old.count;
	sqlite3_stmt *get;

	if (r < 0)
		return r;
	get = rg_index_statement(index, RG_SQL_BOX_GET, err);
	if (!get)
		return ROGER_EIO;
	rg_index_bind(get, 1, box->agent);
	sqlite3_bind_int64(get, 2, box->loaded);
	sqlite3_bind_int64(get, 3, BOX_ROWS);
	while (r == ROGER_OK && (step = sqlite3_step(get)) == SQLITE_ROW)
		r = add_old(index, box, get, err);
	if (r == ROGER_OK && step != SQLITE_DONE)
		r = rg_index_fail(index, "read a mailbox", err);
	sqlite3_reset(get);
	if (box->old.count - before < BOX_ROWS)
		box->loaded = INT64_MAX;
	return r;
}

/* ----------------------------------------------------------------- lines -- */

static void set_state(struct rg_index *index, struct rg_late *late,
		      const struct roger_message *message, const struct rg_line *line)
{
	struct rg_box *box = known_box(index, late->to);
	bool was = is_unread(late);

	late->at.line = message->archived_at_ms ? 0 : index->tail.lines;
	late->at.offset = line->offset;
	late->at.length = line->length;
	late->read = message->read;
	late->archived = message->archived_at_ms != 0;
	late->leased_until_ms = message->claimed_by.length || message->confirm_by_ms
					? message->claimed_until_ms
					: 0;
	if (box)
		box->unread += is_unread(late) - was;
}

static int add_fresh(struct rg_index *index, const struct roger_message *message,
		     struct rg_late **ret_late, struct roger_err *err)
{
	const struct rg_late late = { .id = message->id,
				      .issue = message->issue_id,
				      .from = message->from_phase,
				      .to = message->to_phase,
				      .at = { .position = index->tail.lines },
				      .read = true };
	struct rg_box *box = known_box(index, late.to);
	struct lates fresh = { index->tail.fresh, index->tail.fresh_count };
	int r;

	r = add_late(index, &late, ret_late, err);
	if (r == ROGER_OK)
		r = push(index, &fresh, *ret_late, err);
	if (r == ROGER_OK && box)
		r = push(index, &box->fresh, *ret_late, err);
	index->tail.fresh = fresh.items;
	index->tail.fresh_count = fresh.count;
	return r;
}

/* Only other programs write a state that moves a message, or makes it unread again. */
static bool is_usual(const struct rg_late *late, const struct roger_message *message)
{
	return rg_str_equal(late->to, message->to_phase) &&
	       rg_str_equal(late->issue, message->issue_id) &&
	       rg_str_equal(late->from, message->from_phase) && (message->read || !late->read);
}

static int take_message(struct rg_index *index, const struct roger_message *message,
			const struct rg_line *line, struct roger_err *err)
{
	struct rg_late *late;
	bool archived, accepted;
	int r;

	r = find_late(index, message->id, &late, &archived, err);
	if (r < 0 || archived || (late && late->archived))
		return r;
	accepted = message->read && !message->archived_at_ms && (!late || !late->read);
	if (late && !is_usual(late, message))
		index->tail.strange = true;
	else if (!late)
		r = add_fresh(index, message, &late, err);
	if (r < 0)
		return r;
	set_state(index, late, message, line);
	if (accepted) {
		late->accepted_seq = message->seq;
		late->accepted_epoch = message->epoch;
	}
	return ROGER_OK;
}

/* Did roger write the line?  The chain that it states is kept for the next one. */
static bool is_own(struct rg_index_tail *tail, struct roger_str line)
{
	const uint64_t before = tail->chain;
	const bool chained = tail->chained;
	struct roger_str body;

	tail->chained = rg_chain_split(line, &tail->chain, &body);
	return chained && tail->chained && rg_chain_over(before, body) == tail->chain;
}

/* What roger wrote is skimmed: workers of one mailbox read each other's lines. */
static int read_line(struct rg_index *index, struct roger_str line,
		     struct roger_message *ret_message)
{
	if (is_own(&index->tail, line) && rg_message_skim(line, ret_message))
		return ROGER_OK;
	rg_arena_reset(index->tail.scratch);
	return rg_message_read_within(line, index->tail.scratch, ret_message, NULL);
}

static void keep_last(struct rg_index_tail *tail, const struct rg_line *line)
{
	tail->to = line->offset + line->length + 1;
	tail->last_offset = (int64_t)line->offset;
	tail->last_length = line->too_long ? 0 : (int64_t)line->length;
}

static int take_line(struct rg_index *index, const struct rg_line *line, struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	struct roger_message message;
	int read;

	tail->lines++;
	keep_last(tail, line);
	read = read_line(index, line->text, &message);
	if (read == ROGER_ENOMEM)
		return rg_fail_memory(err);
	return read == ROGER_OK ? take_message(index, &message, line, err) : ROGER_OK;
}

static int64_t hash_of(const struct rg_line *line)
{
	return (int64_t)rg_hash(0, line->text.data, line->text.length);
}

/* The last line that was read, again: *ret_same false: the journal has another one. */
static int take_last(struct rg_index *index, struct rg_lines *lines, bool *ret_same,
		     struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	struct rg_line line;
	int r;

	*ret_same = true;
	if (!tail->to)
		return ROGER_OK;
	r = rg_lines_next(lines, &line, ret_same, err);
	if (r == ROGER_OK && *ret_same)
		*ret_same =
			lines->at == tail->to &&
			(int64_t)rg_hash(0, line.text.data, line.text.length) == tail->last_hash;
	return r;
}

static int take_lines(struct rg_index *index, uint64_t end, bool *ret_same, struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(index->store, &rg_store_messages);
	struct rg_lines lines;
	struct rg_line line;
	bool found;
	int r;

	rg_lines_init(&lines, &bytes, (uint64_t)index->tail.last_offset, end);
	r = take_last(index, &lines, ret_same, err);
	found = *ret_same;
	while (r == ROGER_OK && found && !index->tail.strange) {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r == ROGER_OK && found)
			r = take_line(index, &line, err);
		if (r == ROGER_OK && found && lines.at >= end)
			index->tail.last_hash = hash_of(&line);
	}
	rg_lines_deinit(&lines);
	/* Not all of it was read. */
	if (r < 0 || index->tail.to < end)
		index->tail.strange = *ret_same;
	return r;
}

/* ------------------------------------------------------------- following -- */

static bool holds(const struct rg_index *index)
{
	const struct rg_index_tail *tail = &index->tail;

	return tail->memory && tail->from == rg_index_end(index) && !tail->moved &&
	       !tail->strange && tail->states.count < LATE_MAX && tail->box_count < BOXES_MAX;
}

/* Are there so many lines that the tables should take them in? */
static bool is_long(const struct rg_index *index, struct rg_index_reach reach)
{
	const uint64_t from = index->tail.from;
	const uint64_t most = reach.held	       ? TAIL_BYTES_HELD
			      : index->tail.to == from ? TAIL_BYTES_FRESH
						       : TAIL_BYTES;

	return reach.end > from &&
	       (reach.end - from > most || (!reach.held && rg_index_is_old(index)));
}

/* The tables take the lines in; unless there are very many, not while another process does so. */
static int take_in(struct rg_index *index, struct rg_index_reach reach, struct roger_err *err)
{
	struct roger_err why = { 0 };
	int r;

	if (reach.end - index->tail.from > TAIL_BYTES_HELD)
		return rg_index_refresh(index, reach.end, err);
	r = rg_index_try_refresh(index, reach.end, &why);
	if (r == ROGER_ETIMEOUT)
		return ROGER_OK;
	if (r < 0 && err)
		*err = why;
	return r;
}

/* Does the journal still have the last line that was read? */
static bool continues(struct rg_index *index)
{
	const struct rg_index_tail *tail = &index->tail;
	int64_t hash = 0;

	return rg_index_hash_line(index, tail->last_offset, tail->last_length, &hash, NULL) ==
		       ROGER_OK &&
	       hash == tail->last_hash;
}

/* Read up to the end, as far as that is needed. */
static int read_on(struct rg_index *index, uint64_t end, bool *ret_same, struct roger_err *err)
{
	*ret_same = true;
	return end > index->tail.to ? take_lines(index, end, ret_same, err) : ROGER_OK;
}

/* *ret_over false: the tables must answer. */
static int follow(struct rg_index *index, struct rg_index_reach reach, bool *ret_over,
		  struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	bool same = true;
	int r = ROGER_OK;

	*ret_over = false;
	/* Who holds the lock has just looked at the file. */
	if (!(reach.held && holds(index)) && !rg_index_is_open(index))
		return ROGER_OK;
	if (!holds(index))
		r = begin(index, err);
	if (r == ROGER_OK && is_long(index, reach)) {
		r = take_in(index, reach, err);
		if (r == ROGER_OK && index->in_memory)
			return ROGER_OK;
		if (r == ROGER_OK && !holds(index))
			r = begin(index, err);
	}
	if (r == ROGER_OK)
		r = read_on(index, reach.end, &same, err);
	/* Cut, or replaced. */
	if (r == ROGER_OK && (!same || (reach.end < tail->to && !continues(index)))) {
		r = begin(index, err);
		if (r == ROGER_OK)
			r = read_on(index, reach.end, &same, err);
		same = same && continues(index);
	}
	*ret_over = same && !tail->strange;
	return r;
}

/* After an attempt: did the tables change under it?  Then it is made again. */
static bool again(struct rg_index *index, int *tries, int *r, bool *over)
{
	const struct rg_index_tail *tail = &index->tail;
	bool moved = tail->moved || (*over && (!tail->memory || tail->from != rg_index_end(index)));

	finish(index);
	if (*r == ROGER_OK && tail->strange)
		*over = false;
	if (!moved)
		return false;
	*over = false;
	*r = ROGER_OK;
	return ++*tries < MOVES_MAX;
}

void rg_index_follow(struct rg_index *index, uint64_t end)
{
	const struct rg_index_reach reach = { .end = end };
	bool over;
	int tries = 0, r;

	do
		r = follow(index, reach, &over, NULL);
	while (again(index, &tries, &r, &over));
	if (r == ROGER_OK && !over)
		(void)!rg_index_refresh(index, end, NULL);
}

/* --------------------------------------------------------------- answers -- */

static bool is_plain(const struct rg_query *query)
{
	return !query->read && !query->archived && !query->type && !query->run_counter &&
	       !query->since_ms && !query->until_ms && !query->key.length &&
	       !query->thread.length && !query->text.length && !query->newest && !query->after;
}

static bool is_mailbox(const struct rg_query *query)
{
	return is_plain(query) && query->unread && query->to.length && !query->id_count;
}

static bool is_leased(const struct rg_index *index, const struct rg_late *late, int64_t at_ms)
{
	return at_ms && late->leased_until_ms > at_ms &&
	       (!index->lease_ms_max || late->leased_until_ms - at_ms <= index->lease_ms_max);
}

static bool fits(const struct rg_index *index, const struct rg_query *query,
		 const struct rg_late *late)
{
	return is_asked(query, late) && !(query->unread && late->read) &&
	       (late->archived ? query->anywhere : !is_leased(index, late, query->free_at_ms));
}

/* An answer being collected. */
struct answer {
	struct rg_index *index;
	const struct rg_query *query;
	struct rg_arena *arena;
	struct {
		struct rg_entry *items;
		size_t count;
	} entries;
};

static int add(struct answer *answer, const struct rg_entry *entry, struct roger_err *err)
{
	struct rg_entry *place = rg_arena_push(answer->arena, &answer->entries.items,
					       &answer->entries.count, sizeof *place);

	if (!place)
		return rg_fail_memory(err);
	*place = *entry;
	return ROGER_OK;
}

static bool is_full(const struct answer *answer)
{
	return answer->query->limit && answer->entries.count >= (size_t)answer->query->limit;
}

/* From item *i on; *read moves past what is read at the beginning. */
static int add_from(struct answer *answer, const struct lates *list, size_t *read, size_t *i,
		    struct roger_err *err)
{
	int r = ROGER_OK;

	while (*read < list->count && !is_unread(list->items[*read]))
		++*read;
	if (*i < *read)
		*i = *read;
	for (; r == ROGER_OK && *i < list->count && !is_full(answer); ++*i)
		if (is_unread(list->items[*i]) &&
		    fits(answer->index, answer->query, list->items[*i]))
			r = add(answer, &list->items[*i]->at, err);
	return r;
}

/* *ret_over false: too many to keep. */
static int find_in_box(struct answer *answer, bool *ret_over, struct roger_err *err)
{
	struct rg_box *box = known_box(answer->index, answer->query->to);
	size_t i = 0;
	int r = ROGER_OK;

	if (!box)
		r = make_box(answer->index, answer->query->to, &box, err);
	if (r == ROGER_OK)
		r = add_from(answer, &box->old, &box->old_read, &i, err);
	while (r == ROGER_OK && !is_full(answer) && box->loaded < INT64_MAX) {
		*ret_over = box->old.count - box->old_read < BOX_ROWS_MAX;
		if (!*ret_over)
			return ROGER_OK;
		r = load_more(answer->index, box, err);
		if (r == ROGER_OK)
			r = add_from(answer, &box->old, &box->old_read, &i, err);
	}
	i = 0;
	return r < 0 ? r : add_from(answer, &box->fresh, &box->fresh_read, &i, err);
}

static int compare_positions(const void *a, const void *b)
{
	const struct rg_entry *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static bool named_before(const struct rg_query *query, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (rg_str_equal(query->ids[i], query->ids[at]))
			return true;
	return false;
}

/* Of what is archived in the tables, they say where it is. */
static int add_archived(struct answer *answer, struct roger_str id, struct roger_err *err)
{
	struct rg_query query = *answer->query;
	struct rg_entries found;
	int r;

	query.ids = &id;
	query.id_count = 1;
	query.anywhere = false;
	query.archived = true;
	r = rg_index_find(answer->index, &query, answer->arena, &found, err);
	return r < 0 || !found.count ? r : add(answer, &found.items[0], err);
}

static int find_ids(struct answer *answer, struct roger_err *err)
{
	const struct rg_query *query = answer->query;
	struct rg_late *late;
	bool archived;
	int r = ROGER_OK;
	size_t i;

	for (i = 0; r == ROGER_OK && i < query->id_count; i++) {
		if (named_before(query, i))
			continue;
		r = find_late(answer->index, query->ids[i], &late, &archived, err);
		if (r == ROGER_OK && archived && query->anywhere)
			r = add_archived(answer, query->ids[i], err);
		else if (r == ROGER_OK && late && fits(answer->index, query, late))
			r = add(answer, &late->at, err);
	}
	if (r == ROGER_OK && answer->entries.count > 1)
		qsort(answer->entries.items, answer->entries.count, sizeof(struct rg_entry),
		      compare_positions);
	if (query->limit && answer->entries.count > (size_t)query->limit)
		answer->entries.count = (size_t)query->limit;
	return r;
}

static int64_t count_in(const struct lates *list, size_t read, const struct rg_query *query)
{
	int64_t count = 0;
	size_t i;

	for (i = read; i < list->count; i++)
		count += is_unread(list->items[i]) && is_asked(query, list->items[i]);
	return count;
}

/* Those of an issue or a sender: in the tables, and what is more since. */
static int count_some(struct rg_index *index, const struct rg_query *query, int64_t *ret_count,
		      struct roger_err *err)
{
	const struct rg_query all = {
		.unread = true, .to = query->to, .issue = query->issue, .from = query->from
	};
	const struct rg_box *box = known_box(index, query->to);
	int64_t since;
	int r;

	if (box && box->loaded == INT64_MAX) {
		*ret_count = count_in(&box->old, box->old_read, query) +
			     count_in(&box->fresh, box->fresh_read, query);
		return ROGER_OK;
	}
	since = count_since(index, &all);
	r = look(index, err);
	if (r == ROGER_OK)
		r = rg_index_count(index, &all, ret_count, err);
	*ret_count += since;
	return r;
}

static int count_unread(struct rg_index *index, const struct rg_query *query, int64_t *ret_count,
			struct roger_err *err)
{
	const struct rg_box *box = known_box(index, query->to);

	if (query->issue.length || query->from.length)
		return count_some(index, query, ret_count, err);
	if (!box)
		return count_agent(index, query->to, ret_count, err);
	*ret_count = box->unread;
	return ROGER_OK;
}

static int find(struct answer *answer, int64_t *ret_total, bool *ret_over, struct roger_err *err)
{
	const struct rg_query *query = answer->query;
	int r = query->id_count ? find_ids(answer, err) : find_in_box(answer, ret_over, err);

	if (r < 0 || !*ret_over || !ret_total)
		return r;
	*ret_total = (int64_t)answer->entries.count;
	return query->free_at_ms || is_full(answer)
		       ? count_unread(answer->index, query, ret_total, err)
		       : ROGER_OK;
}

int rg_index_tail_find(struct rg_index *index, struct rg_index_reach reach,
		       const struct rg_query *query, struct rg_arena *arena,
		       struct rg_entries *ret_entries, int64_t *ret_total, bool *ret_over,
		       struct roger_err *err)
{
	struct answer answer;
	int tries = 0, r;

	*ret_over = false;
	if (!(is_mailbox(query) && query->limit) &&
	    !(is_plain(query) && query->id_count && !ret_total))
		return ROGER_OK;
	do {
		answer = (struct answer){ .index = index, .query = query, .arena = arena };
		r = follow(index, reach, ret_over, err);
		if (r == ROGER_OK && *ret_over)
			r = find(&answer, ret_total, ret_over, err);
	} while (again(index, &tries, &r, ret_over));
	*ret_entries = (struct rg_entries){ answer.entries.items, answer.entries.count };
	return r;
}

int rg_index_tail_count(struct rg_index *index, struct rg_index_reach reach,
			const struct rg_query *query, int64_t *ret_count, bool *ret_over,
			struct roger_err *err)
{
	int tries = 0, r;

	*ret_over = false;
	if (!is_mailbox(query) || query->free_at_ms)
		return ROGER_OK;
	do {
		r = follow(index, reach, ret_over, err);
		if (r == ROGER_OK && *ret_over)
			r = count_unread(index, query, ret_count, err);
	} while (again(index, &tries, &r, ret_over));
	return r;
}

static int add_accepted(struct rg_index *index, int64_t epoch, struct rg_sequence *sequence,
			struct roger_err *err)
{
	const struct slot *slot;
	int r = ROGER_OK;
	size_t i = 0;

	while (r == ROGER_OK && (slot = rg_table_next(&index->tail.states, &i)))
		if (slot->late->accepted_seq && slot->late->accepted_epoch == epoch)
			r = rg_sequence_see(sequence, slot->late->to, slot->late->from,
					    slot->late->accepted_seq, err);
	return r;
}

int rg_index_sequence(struct rg_index *index, struct rg_index_reach reach, int64_t epoch,
		      struct rg_sequence *sequence, struct roger_err *err)
{
	int tries = 0, r;
	bool over;

	do {
		r = follow(index, reach, &over, err);
		if (r == ROGER_OK && over)
			r = add_accepted(index, epoch, sequence, err);
		if (r == ROGER_OK && over)
			r = look(index, err);
		if (r == ROGER_OK && over)
			r = rg_index_table_sequence(index, epoch, sequence, err);
	} while (again(index, &tries, &r, &over));
	if (r < 0 || over)
		return r;
	r = rg_index_refresh(index, reach.end, err);
	return r < 0 ? r : rg_index_table_sequence(index, epoch, sequence, err);
}
