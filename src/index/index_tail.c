/*
 * Answers about mailboxes and ids from the tables and the lines after them.
 *
 * A line in the tables costs a transaction; a line in memory costs its decoding.
 * So the tables take lines in only when there are many, and until then this file
 * keeps what the lines say over the tables: the last state of each message, and
 * of the agents asked for the unread messages in order (index_mail.c).
 *
 * What it keeps holds for one state of the tables.  When another process took lines in, it starts
 * again from there.
 */
#include "index/index_tail.h"

#include "base/id.h"
#include "facts/message.h"
#include "store/chain.h"
#include "store/tally.h"

/*
 * Bytes of lines that are kept over the tables.  A process that starts reads all of them, so it has
 * the tables take them in early; one that lives, later: of mail that comes each ms 99 of 100 then
 * wait 3 ms at most (11 with 512 KiB). Above TAIL_BYTES_HELD even holders of the change lock do so.
 */
enum { ALONE_BYTES_MAX = 64 << 10 };
enum { TAIL_BYTES_FRESH = 32 << 10, TAIL_BYTES = 64 << 10, TAIL_BYTES_HELD = 2 << 20 };

/* How often the tables may change under a question before they answer it. */
enum { MOVES_MAX = 8 };

/* The most mailboxes and messages that are kept. */
enum { BOXES_MAX = 32, LATE_MAX = 16384 };

void rg_index_tail_drop(struct rg_index *index)
{
	struct rg_index_tail *tail = &index->tail;

	if (tail->memory)
		rg_table_deinit(&tail->states);
	rg_arena_free(tail->memory);
	rg_arena_free(tail->scratch);
	*tail = (struct rg_index_tail){ 0 };
}

/* Forget the lines that are kept, and start again where the tables end. */
static int begin_tail(struct rg_index *index, struct roger_err *err)
{
	const struct rg_index_progress *progress = &index->progress;
	struct rg_index_tail *tail = &index->tail;

	rg_index_tail_drop(index);
	tail->memory = rg_arena_new();
	if (!tail->memory)
		return rg_fail_memory(err);
	rg_table_init(&tail->states, sizeof(struct rg_late_slot));
	tail->scratch = rg_arena_new();
	tail->from = tail->to = (uint64_t)progress->offset;
	tail->lines = progress->lines;
	tail->turn = index->store->turn;
	tail->last_offset = progress->last_offset;
	tail->last_length = progress->last_length;
	tail->last_hash = progress->last_hash;
	return rg_kept(tail->scratch, err);
}

uint64_t rg_index_seen(const struct rg_index *index)
{
	const uint64_t end = rg_index_end(index);

	return index->tail.memory && index->tail.to > end ? index->tail.to : end;
}

/* ---------------------------------------------------------------- tables -- */

int rg_index_tail_look(struct rg_index *index, struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	int r;

	rg_assert(!tail->alone);
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

static void finish_look(struct rg_index *index)
{
	if (index->tail.looking)
		rg_index_finish(index);
	index->tail.looking = false;
}

/* ---------------------------------------------------------------- states -- */

/* Find the state of a message; NULL: not read yet. */
static struct rg_late *late_of(struct rg_index *index, struct roger_str id)
{
	const struct rg_late_slot *slot =
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
	struct rg_late_slot *slot;
	bool is_new;

	rg_assert(tail->memory && late->id.length);
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

int rg_index_tail_add(struct rg_index *index, sqlite3_stmt *row, struct rg_late **ret_late,
		      struct roger_err *err)
{
	const int more = RG_ENTRY_COLUMNS;
	struct rg_late late = {
		.at = rg_index_entry(row),
		.id = rg_index_column(row, more),
		.issue = rg_index_column(row, more + 1),
		.from = rg_index_column(row, more + 2),
		.to = rg_index_column(row, more + 3),
		.read = sqlite3_column_int(row, more + 4),
		.leased_until_ms = sqlite3_column_int64(row, more + 5),
		.seq = sqlite3_column_int64(row, more + 6),
		.epoch = sqlite3_column_int64(row, more + 7),
	};

	late.was_unread = !late.read;
	*ret_late = late_of(index, late.id);
	return *ret_late ? ROGER_OK : add_late(index, &late, ret_late, err);
}

int rg_index_tail_state(struct rg_index *index, struct roger_str id, struct rg_late **ret_late,
			bool *ret_archived, struct roger_err *err)
{
	struct rg_entry archived = { 0 };
	sqlite3_stmt *get;
	int step, r;

	*ret_archived = false;
	*ret_late = late_of(index, id);
	if (*ret_late || index->tail.alone)
		return ROGER_OK;
	r = rg_index_tail_look(index, err);
	if (r == ROGER_OK)
		r = rg_index_first_line(index, id, true, &archived, err);
	*ret_archived = archived.position > 0;
	if (r < 0 || *ret_archived)
		return r;
	get = rg_index_statement(index, RG_SQL_STATE_GET, err);
	if (!get)
		return ROGER_EIO;
	rg_index_bind(get, 1, id);
	step = sqlite3_step(get);
	if (step == SQLITE_ROW)
		r = rg_index_tail_add(index, get, ret_late, err);
	else if (step != SQLITE_DONE)
		r = rg_index_fail(index, "look up an id", err);
	sqlite3_reset(get);
	return r;
}

/* ----------------------------------------------------------------- lines -- */

static void set_state(struct rg_index *index, struct rg_late *late,
		      const struct roger_message *message, const struct rg_line *line)
{
	struct rg_box *box = rg_index_box(index, late->to);
	bool was = rg_late_unread(late);

	late->at.line = message->archived_at_ms ? 0 : index->tail.lines;
	late->at.offset = line->offset;
	late->at.length = line->length;
	late->read = message->read;
	late->archived = message->archived_at_ms != 0;
	late->leased_until_ms =
		message->claimed_by.length || message->confirm_by_ms || message->dead_at_ms
			? rg_index_leased_until(message)
			: 0;
	if (box)
		box->unread += rg_late_unread(late) - was;
}

static int add_fresh(struct rg_index *index, const struct roger_message *message, bool skimmed,
		     const struct rg_line *line, struct rg_late **ret_late, struct roger_err *err)
{
	const struct rg_late late = { .id = message->id,
				      .issue = message->issue,
				      .from = message->from,
				      .to = message->to,
				      .seq = message->seq,
				      .epoch = message->epoch,
				      .at = { .position = index->tail.lines,
					      .hashed = !skimmed,
					      .hash = skimmed ? 0 : rg_index_hash(index, message),
					      .first = { line->offset, line->length } },
				      .read = true };
	struct rg_box *box = rg_index_box(index, late.to);
	int r;

	r = add_late(index, &late, ret_late, err);
	if (r == ROGER_OK)
		r = rg_index_box_push(index, &index->tail.fresh, *ret_late, err);
	if (r == ROGER_OK && box)
		r = rg_index_box_push(index, &box->fresh, *ret_late, err);
	return r;
}

/* May roger have written it?  Only other programs move a message, or make it unread again. */
static bool is_usual(const struct rg_late *late, const struct roger_message *message)
{
	return rg_str_equal(late->to, message->to) && rg_str_equal(late->issue, message->issue) &&
	       rg_str_equal(late->from, message->from) && late->seq == message->seq &&
	       late->epoch == message->epoch && (message->read || !late->read);
}

/* Complete another program's line by the first one, whose members it may lack.  A line that
 * rewrites the first one is left to the tables. */
static int follow_first(struct rg_index *index, const struct rg_late *late,
			const struct rg_line *line, struct roger_message *message,
			struct roger_err *err)
{
	const struct rg_place place = { line->offset, line->length };
	struct rg_rewrites rewrites;
	int r;

	if (late->at.hashed && rg_index_hash(index, message) == late->at.hash)
		return ROGER_OK;
	index->tail.strange |= index->tail.alone;
	if (index->tail.strange)
		return ROGER_OK;
	r = rg_index_tail_look(index, err);
	if (r == ROGER_OK)
		r = rg_index_follow_first(index, &late->at, place, index->tail.scratch, message,
					  &rewrites, err);
	index->tail.strange |= r == ROGER_OK && rewrites.count;
	return r;
}

static int take_message(struct rg_index *index, struct roger_message *message, bool skimmed,
			const struct rg_line *line, struct roger_err *err)
{
	struct rg_late *late;
	bool archived;
	int r;

	r = rg_index_tail_state(index, message->id, &late, &archived, err);
	if (r < 0 || archived || (late && late->archived))
		return r;
	/* A later state of a message that was sent before these lines. */
	if (!late && index->tail.alone && !rg_message_is_as_sent(message))
		return ROGER_OK;
	/* Another program's line need not say what the tables know. */
	index->tail.strange |= late && !skimmed && !message->chain.length;
	if (late && !skimmed)
		r = follow_first(index, late, line, message, err);
	if (r < 0)
		return r;
	if (late && !is_usual(late, message))
		index->tail.strange = true;
	else if (!late)
		r = add_fresh(index, message, skimmed, line, &late, err);
	if (r < 0)
		return r;
	set_state(index, late, message, line);
	return ROGER_OK;
}

/* Did roger write the line?  The chain that it states is kept for the next one. */
static bool is_own(struct rg_index_tail *tail, struct roger_str line)
{
	const uint64_t before = tail->chain;
	const bool chained = tail->chained;
	struct roger_str body;

	tail->chained = rg_chain_split(line, &tail->chain, &body);
	return chained && tail->chained && rg_chain_fits(before, body, tail->chain);
}

/* Read a line; one of roger's is only skimmed, since workers of one mailbox read each other's. */
static int read_line(struct rg_index *index, struct roger_str line,
		     struct roger_message *ret_message, bool *ret_skimmed)
{
	*ret_skimmed = (index->tail.alone || is_own(&index->tail, line)) &&
		       rg_message_skim(line, ret_message);
	if (*ret_skimmed)
		return ROGER_OK;
	rg_arena_reset(index->tail.scratch);
	return rg_message_read_within(line, index->tail.scratch, ret_message, NULL);
}

static int take_line(struct rg_index *index, const struct rg_line *line, struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	struct roger_message message;
	bool skimmed;
	int read;

	rg_assert(line->offset == tail->to);
	tail->lines++;
	tail->to = line->offset + line->length + 1;
	tail->last_offset = (int64_t)line->offset;
	tail->last_length = line->too_long ? 0 : (int64_t)line->length;
	/* Skip lines without the agent's name as roger writes it: here all lines are roger's. */
	if (tail->only.length && !rg_str_find_part(line->text, tail->only))
		return ROGER_OK;
	read = read_line(index, line->text, &message, &skimmed);
	if (read == ROGER_ENOMEM)
		return rg_fail_memory(err);
	return read == ROGER_OK ? take_message(index, &message, skimmed, line, err) : ROGER_OK;
}

static int64_t hash_of(const struct rg_line *line)
{
	return (int64_t)rg_hash(0, line->text.data, line->text.length);
}

/* Read the last line once more; *ret_same false: the journal has another one there. */
static int take_last(struct rg_index *index, struct rg_lines *lines, bool *ret_same,
		     struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	struct rg_line line;
	int r;

	*ret_same = true;
	if (tail->to == (uint64_t)tail->last_offset)
		return ROGER_OK;
	r = rg_lines_next(lines, &line, ret_same, err);
	if (r == ROGER_OK && *ret_same)
		*ret_same = lines->at == tail->to && hash_of(&line) == tail->last_hash;
	return r;
}

static int take_lines(struct rg_index *index, uint64_t end, bool *ret_same, struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(index->store, &rg_store_messages,
					    (uint64_t)index->tail.last_offset, end);
	struct rg_line line;
	bool found;
	int r;

	rg_assert(index->tail.memory && end > index->tail.to);
	r = take_last(index, &lines, ret_same, err);
	found = *ret_same;
	while (r == ROGER_OK && found && !index->tail.strange) {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r == ROGER_OK && found)
			r = take_line(index, &line, err);
		if (r == ROGER_OK && found && lines.at >= end)
			index->tail.last_hash = hash_of(&line);
	}
	/* Not all lines were read. */
	if (r < 0 || index->tail.to < end)
		index->tail.strange = *ret_same;
	return r;
}

/* ------------------------------------------------------------- following -- */

static bool holds_tail(const struct rg_index *index)
{
	const struct rg_index_tail *tail = &index->tail;

	return tail->memory && tail->turn == index->store->turn &&
	       (tail->alone || tail->from == rg_index_end(index)) && !tail->moved &&
	       !tail->strange && tail->states.count < LATE_MAX && tail->box_count < BOXES_MAX;
}

/* Are there enough lines for the tables to take them in? */
static bool is_long(const struct rg_index *index, struct rg_index_reach reach)
{
	const uint64_t from = index->tail.from;
	const uint64_t most = reach.held	       ? TAIL_BYTES_HELD
			      : index->tail.to == from ? TAIL_BYTES_FRESH
						       : TAIL_BYTES;

	return reach.end > from && reach.end - from > most;
}

/* Let the tables take the lines in; unless there are very many, not while another process does. */
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
static bool journal_continues(struct rg_index *index)
{
	const struct rg_index_tail *tail = &index->tail;
	int64_t hash = 0;

	return rg_index_hash_line(index, tail->last_offset, tail->last_length, &hash, NULL) ==
		       ROGER_OK &&
	       hash == tail->last_hash;
}

/* Read the lines up to the end that were not read yet. */
static int read_on(struct rg_index *index, uint64_t end, bool *ret_same, struct roger_err *err)
{
	*ret_same = true;
	return end > index->tail.to ? take_lines(index, end, ret_same, err) : ROGER_OK;
}

int rg_index_tail_follow(struct rg_index *index, struct rg_index_reach reach, bool *ret_over,
			 struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	bool same = true;
	int r = ROGER_OK;

	*ret_over = false;
	if (tail->alone)
		rg_index_tail_drop(index);
	/* A holder of the lock has just looked at the file. */
	if (!(reach.held && holds_tail(index)) && !rg_index_is_open(index))
		return ROGER_OK;
	if (!holds_tail(index))
		r = begin_tail(index, err);
	if (r == ROGER_OK && is_long(index, reach)) {
		r = take_in(index, reach, err);
		if (r == ROGER_OK && index->in_memory)
			return ROGER_OK;
		if (r == ROGER_OK && !holds_tail(index))
			r = begin_tail(index, err);
	}
	if (r == ROGER_OK)
		r = read_on(index, reach.end, &same, err);
	/* The journal was cut, or replaced. */
	if (r == ROGER_OK && (!same || (reach.end < tail->to && !journal_continues(index)))) {
		r = begin_tail(index, err);
		if (r == ROGER_OK)
			r = read_on(index, reach.end, &same, err);
		same = same && journal_continues(index);
		/* The tables are of another journal, too. */
		if (r == ROGER_OK && !same) {
			finish_look(index);
			rg_index_leave(index);
		}
	}
	*ret_over = same && !tail->strange;
	return r;
}

/* Find the first line start in the last bytes of the journal; ROGER_ENOENT: it is further back. */
static int find_start(struct rg_index *index, const struct rg_head *head, uint64_t bytes,
		      struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	const uint64_t own = atomic_load(&head->shared->own_from),
		       back = head->end > bytes ? head->end - bytes : 0,
		       /* Include the newline before it. */
		from = back > own ? back
		       : own	  ? own - 1
				  : 0;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = ALONE_BYTES_MAX + 1 };
	const char *at, *end;
	int r = rg_store_read_line(index->store, from, (size_t)(head->end - from), &text, err);

	rg_assert(head->shared && head->end);
	if (r < 0)
		return r;
	at = text.data;
	end = at + text.length;
	if (from)
		at = memchr(at, '\n', text.length);
	at += at && from;
	if (!at || at == end)
		return ROGER_ENOENT;
	tail->from = tail->to = head->end - (uint64_t)(end - at);
	tail->last_offset = (int64_t)tail->from;
	for (tail->lines = (int64_t)head->lines; at && at < end; at += at != NULL, tail->lines--)
		at = memchr(at, '\n', (size_t)(end - at));
	return at ? ROGER_OK : ROGER_ENOENT;
}

/* Is it known of each line at this end of the journal whether it is the first of its message?  It
 * is if roger announced them all, and no sync failed. */
static bool is_announced(const struct rg_head *head, uint64_t end)
{
	return head->shared && head->lines && head->end == end && !head->lost_to &&
	       !atomic_load(&head->shared->damaged) &&
	       atomic_load(&head->shared->broken) == RG_BROKEN_NOT &&
	       atomic_load(&head->shared->own_from) < end;
}

/* May the kept lines answer the query?  Lines that were read for one agent answer for that agent,
 * and perhaps, at the first try, for ids. */
static bool may_serve(const struct rg_index_tail *tail, const struct rg_query *query, bool first)
{
	struct roger_str agent;

	if (!tail->only.length || (query->id_count && first))
		return true;
	agent = (struct roger_str){ tail->only.data + 1, tail->only.length - 2 };
	return !query->id_count && rg_str_equal(query->to, agent);
}

int rg_index_tail_alone(struct rg_index *index, uint64_t end, uint64_t bytes,
			const struct rg_query *query, bool *ret_over, struct roger_err *err)
{
	const struct rg_head head = rg_store_head(index->store);
	const bool first = bytes == RG_ALONE_BYTES;
	struct rg_index_tail *tail = &index->tail;
	bool same = true;
	int r = ROGER_OK;

	*ret_over = false;
	/* With a database only the tables can tell whether it lost what this machine has seen. */
	if (index->db || index->store->elsewhere || bytes > ALONE_BYTES_MAX ||
	    !is_announced(&head, end))
		return ROGER_OK;
	if (!tail->alone || !holds_tail(index) || end - tail->from < bytes ||
	    end - tail->from > TAIL_BYTES || tail->from < atomic_load(&head.shared->own_from) ||
	    !may_serve(tail, query, first)) {
		r = begin_tail(index, err);
		/* Further back, skip the lines of other agents. */
		if (r == ROGER_OK && !first && !query->id_count &&
		    !rg_arena_print(tail->memory, &tail->only, "\"%.*s\"", RG_STR_ARGS(query->to)))
			r = rg_fail_memory(err);
		if (r == ROGER_OK)
			r = find_start(index, &head, bytes, err);
		tail->alone = true;
	}
	if (r == ROGER_OK)
		r = read_on(index, end, &same, err);
	*ret_over = r == ROGER_OK && same && !tail->strange && tail->to == end;
	if (!*ret_over)
		rg_index_tail_drop(index);
	return r == ROGER_ENOENT ? ROGER_OK : r;
}

bool rg_index_tail_has_all(const struct rg_index *index, const struct rg_box *box)
{
	const uint64_t end = rg_store_head(index->store).end;
	struct rg_figure agent;

	/* The figure is never too low, if nothing was appended meanwhile. */
	return end == index->tail.to && rg_tally_find_agent(index->store, box->agent, &agent) &&
	       (int64_t)agent.count == box->unread && rg_store_head(index->store).end == end;
}

bool rg_index_tail_again(struct rg_index *index, int *tries, int *r, bool *over)
{
	const struct rg_index_tail *tail = &index->tail;
	bool moved = tail->moved || (*over && (!tail->memory || tail->from != rg_index_end(index)));

	finish_look(index);
	if (*r == ROGER_OK && tail->strange)
		*over = false;
	if (!moved)
		return false;
	*over = false;
	*r = ROGER_OK;
	return ++*tries < MOVES_MAX;
}
