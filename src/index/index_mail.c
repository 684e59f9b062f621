/*
 * Questions about a mailbox, or about ids, answered from the tables and from the lines after them,
 * which say more or otherwise.
 *
 * A line costs the tables tens of writes, so a process keeps in memory what the lines after them
 * say: the state of each message, and the unread ones (a box) of each agent that it was asked for.
 * A receive of a process that lives asks SQLite nothing. The boxes hold for one state of the
 * tables: when another process took lines in, they are made again.
 */
#include "index/index_tail.h"

#include <stdlib.h>

/* How many rows of a mailbox are read at once, and kept at most; with how many unread messages the
 * tables find those of one issue sooner. */
enum { BOX_ROWS = 128, BOX_ROWS_MAX = 4096, LARGE_BOX = 512 };

/* ----------------------------------------------------------------- boxes -- */

int rg_index_box_push(struct rg_index *index, struct rg_lates *list, struct rg_late *late,
		      struct roger_err *err)
{
	return rg_kept(
		rg_arena_append(index->tail.memory, &list->items, &list->count, &late, sizeof late),
		err);
}

struct rg_box *rg_index_box(const struct rg_index *index, struct roger_str agent)
{
	size_t i;

	for (i = 0; i < index->tail.box_count; i++)
		if (rg_str_equal(index->tail.boxes[i]->agent, agent))
			return index->tail.boxes[i];
	return NULL;
}

static bool is_asked(const struct rg_query *query, const struct rg_late *late)
{
	return rg_index_is_or_any(query->to, late->to) &&
	       rg_index_is_or_any(query->issue, late->issue) &&
	       rg_index_is_or_any(query->from, late->from);
}

/* Count how many more unread messages fit the query than are in the tables. */
static int64_t count_since(const struct rg_index *index, const struct rg_query *query)
{
	const struct rg_late_slot *slot;
	int64_t more = 0;
	size_t i = 0;

	while ((slot = rg_table_next(&index->tail.states, &i)))
		if (is_asked(query, slot->late))
			more += rg_late_unread(slot->late) - slot->late->was_unread;
	return more;
}

/* Count the unread messages of an agent without a box. */
static int count_agent(struct rg_index *index, struct roger_str agent, int64_t *ret_unread,
		       struct roger_err *err)
{
	const struct rg_query query = { .to = agent };
	bool there;
	int r = rg_index_tail_look(index, err);

	if (r == ROGER_OK)
		r = rg_index_look_up(index, RG_SQL_UNREAD_GET, ret_unread, 1, &there, err, "t",
				     agent);
	if (r == ROGER_OK)
		*ret_unread += count_since(index, &query);
	return r;
}

static int make_box(struct rg_index *index, struct roger_str agent, struct rg_box **ret_box,
		    struct roger_err *err)
{
	struct rg_index_tail *tail = &index->tail;
	struct rg_box *box = rg_arena_get(tail->memory, sizeof *box);
	size_t i;
	int r;

	if (!box || !rg_arena_copy(tail->memory, agent, &box->agent))
		return rg_fail_memory(err);
	box->loaded = tail->alone ? INT64_MAX : 0;
	r = tail->alone ? ROGER_OK : count_agent(index, agent, &box->unread, err);
	for (i = 0; r == ROGER_OK && i < tail->fresh.count; i++)
		if (rg_str_equal(tail->fresh.items[i]->to, agent)) {
			box->unread += tail->alone && rg_late_unread(tail->fresh.items[i]);
			r = rg_index_box_push(index, &box->fresh, tail->fresh.items[i], err);
		}
	if (r < 0)
		return r;
	if (!rg_arena_append(tail->memory, &tail->boxes, &tail->box_count, &box, sizeof box))
		return rg_fail_memory(err);
	*ret_box = box;
	return ROGER_OK;
}

/* Add the next row of a mailbox in the tables to its box. */
static int add_old(struct rg_index *index, struct rg_box *box, sqlite3_stmt *row,
		   struct roger_err *err)
{
	struct rg_late *late;
	int r = rg_index_tail_add(index, row, &late, err);

	if (r < 0)
		return r;
	if (!late->was_unread || !rg_str_equal(late->to, box->agent))
		return rg_index_wrong(index, late->id, err);
	box->loaded = late->at.position;
	return rg_index_box_push(index, &box->old, late, err);
}

static int load_more(struct rg_index *index, struct rg_box *box, struct roger_err *err)
{
	int step = SQLITE_DONE, r = rg_index_tail_look(index, err);
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

/* --------------------------------------------------------------- answers -- */

/* Does the query only ask what is known of messages in the lines after the tables? */
static bool is_plain(const struct rg_query *query)
{
	return rg_query_by(query) < RG_BY_OTHER && !query->newest;
}

static bool is_leased(const struct rg_index *index, const struct rg_late *late, int64_t at_ms)
{
	return at_ms && late->leased_until_ms > at_ms &&
	       (late->leased_until_ms == INT64_MAX ||
		late->leased_until_ms <= rg_index_lease_end_max(index, at_ms));
}

static bool fits_query(const struct rg_index *index, const struct rg_query *query,
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

static int add_found(struct answer *answer, const struct rg_entry *entry, struct roger_err *err)
{
	return rg_kept(rg_arena_append(answer->arena, &answer->entries.items,
				       &answer->entries.count, entry, sizeof *entry),
		       err);
}

static bool is_full(const struct answer *answer)
{
	return answer->query->limit && answer->entries.count >= (size_t)answer->query->limit;
}

/* Add the unread messages from item *i on; *read moves past those at the start that are read. */
static int add_from(struct answer *answer, const struct rg_lates *list, size_t *read, size_t *i,
		    struct roger_err *err)
{
	int r = ROGER_OK;

	while (*read < list->count && !rg_late_unread(list->items[*read]))
		++*read;
	if (*i < *read)
		*i = *read;
	for (; r == ROGER_OK && *i < list->count && !is_full(answer); ++*i)
		if (rg_late_unread(list->items[*i]) &&
		    fits_query(answer->index, answer->query, list->items[*i]))
			r = add_found(answer, &list->items[*i]->at, err);
	return r;
}

/* Find unread messages in the agent's box; *ret_over false: too many to keep. */
static int find_in_box(struct answer *answer, bool *ret_over, struct roger_err *err)
{
	struct rg_box *box = rg_index_box(answer->index, answer->query->to);
	size_t i = 0;
	int r = ROGER_OK;

	if (!box)
		r = make_box(answer->index, answer->query->to, &box, err);
	if (r == ROGER_OK && answer->index->tail.alone)
		*ret_over = rg_index_tail_has_all(answer->index, box);
	else if (r == ROGER_OK && answer->query->issue.length && box->loaded < INT64_MAX)
		*ret_over = box->unread < LARGE_BOX;
	if (r < 0 || !*ret_over)
		return r;
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

/* Add a message that the tables have as archived. */
static int add_archived(struct answer *answer, struct roger_str id, struct roger_err *err)
{
	struct rg_query query = *answer->query;
	struct rg_entries found;
	int r;

	query.ids = &id;
	query.id_count = 1;
	query.anywhere = false;
	query.archived = true;
	r = rg_index_find(answer->index, &query, answer->arena, &found, NULL, err);
	return r < 0 || !found.count ? r : add_found(answer, &found.items[0], err);
}

static int find_ids(struct answer *answer, bool *ret_over, struct roger_err *err)
{
	const struct rg_query *query = answer->query;
	struct rg_late *late;
	bool archived;
	int r = ROGER_OK;
	size_t i;

	for (i = 0; r == ROGER_OK && *ret_over && i < query->id_count; i++) {
		if (rg_str_among((struct roger_strs){ query->ids, i }, query->ids[i]))
			continue;
		r = rg_index_tail_state(answer->index, query->ids[i], &late, &archived, err);
		*ret_over = !answer->index->tail.alone || (late && !late->archived);
		if (r == ROGER_OK && archived && query->anywhere)
			r = add_archived(answer, query->ids[i], err);
		else if (r == ROGER_OK && late && fits_query(answer->index, query, late))
			r = add_found(answer, &late->at, err);
	}
	if (r == ROGER_OK && answer->entries.count > 1)
		qsort(answer->entries.items, answer->entries.count, sizeof(struct rg_entry),
		      rg_index_compare_positions);
	if (query->limit && answer->entries.count > (size_t)query->limit)
		answer->entries.count = (size_t)query->limit;
	return r;
}

static int64_t count_in(const struct rg_lates *list, size_t read, const struct rg_query *query)
{
	int64_t count = 0;
	size_t i;

	for (i = read; i < list->count; i++)
		count += rg_late_unread(list->items[i]) && is_asked(query, list->items[i]);
	return count;
}

/* Count unread messages of an issue or a sender: those in the tables, and those since. */
static int count_some(struct rg_index *index, const struct rg_query *query, int64_t *ret_count,
		      struct roger_err *err)
{
	const struct rg_query all = {
		.unread = true, .to = query->to, .issue = query->issue, .from = query->from
	};
	const struct rg_box *box = rg_index_box(index, query->to);
	int64_t since;
	int r;

	if (box && box->loaded == INT64_MAX) {
		*ret_count = count_in(&box->old, box->old_read, query) +
			     count_in(&box->fresh, box->fresh_read, query);
		return ROGER_OK;
	}
	since = count_since(index, &all);
	r = rg_index_tail_look(index, err);
	if (r == ROGER_OK)
		r = rg_index_count(index, &all, ret_count, err);
	*ret_count += since;
	return r;
}

static int count_unread(struct rg_index *index, const struct rg_query *query, int64_t *ret_count,
			bool *ret_over, struct roger_err *err)
{
	struct rg_box *box = rg_index_box(index, query->to);
	int r = box || !index->tail.alone ? ROGER_OK : make_box(index, query->to, &box, err);

	if (r == ROGER_OK && index->tail.alone)
		*ret_over = rg_index_tail_has_all(index, box);
	if (r < 0 || !*ret_over)
		return r;
	if (query->issue.length || query->from.length)
		return count_some(index, query, ret_count, err);
	if (!box)
		return count_agent(index, query->to, ret_count, err);
	*ret_count = box->unread;
	return ROGER_OK;
}

/* Answer from the lines that are kept.  Without the answer's arena, only count. */
static int ask_mail(struct answer *answer, int64_t *ret_number, bool *ret_over,
		    struct roger_err *err)
{
	const struct rg_query *query = answer->query;
	int r;

	if (!answer->arena)
		return count_unread(answer->index, query, ret_number, ret_over, err);
	answer->entries.items = NULL;
	answer->entries.count = 0;
	r = query->id_count ? find_ids(answer, ret_over, err) : find_in_box(answer, ret_over, err);
	if (r < 0 || !*ret_over || !ret_number)
		return r;
	*ret_number = (int64_t)answer->entries.count;
	return query->free_at_ms || is_full(answer)
		       ? count_unread(answer->index, query, ret_number, ret_over, err)
		       : ROGER_OK;
}

/* Answer without tables, from the end of the journal, reading further back until it is enough. */
static int ask_alone(struct answer *answer, uint64_t end, int64_t *ret_number, bool *ret_over,
		     struct roger_err *err)
{
	uint64_t bytes = RG_ALONE_BYTES;
	int r;

	do {
		r = rg_index_tail_alone(answer->index, end, bytes, answer->query, ret_over, err);
		if (r < 0 || !*ret_over)
			return r;
		r = ask_mail(answer, ret_number, ret_over, err);
		bytes *= 4;
	} while (r == ROGER_OK && !*ret_over);
	return r;
}

/* Read on from the tables and, unless only that is wanted (no query), answer.  *ret_over false:
 * only the tables can answer, up to date. */
static int ask_over_tables(struct answer *answer, struct rg_index_reach reach, int64_t *ret_number,
			   bool *ret_over, struct roger_err *err)
{
	int tries = 0, r;

	do {
		r = rg_index_tail_follow(answer->index, reach, ret_over, err);
		if (r == ROGER_OK && *ret_over && answer->query)
			r = ask_mail(answer, ret_number, ret_over, err);
	} while (rg_index_tail_again(answer->index, &tries, &r, ret_over));
	return r;
}

/* Can kept lines answer the query?  Of a mailbox they give a page, or the number of all. */
static bool can_answer(const struct rg_query *query, bool counts, bool totals)
{
	if (!is_plain(query))
		return false;
	if (query->unread && query->to.length && !query->id_count)
		return counts ? !query->free_at_ms : query->limit != 0;
	return !counts && query->id_count && !totals;
}

int rg_index_tail_answer(struct rg_index *index, struct rg_index_reach reach,
			 const struct rg_query *query, struct rg_arena *arena,
			 struct rg_entries *ret_entries, int64_t *ret_number, bool *ret_over,
			 struct roger_err *err)
{
	struct answer answer = { .index = index,
				 .query = query,
				 .arena = ret_entries ? arena : NULL };
	const bool asked = can_answer(query, !ret_entries, ret_number != NULL);
	int r = ROGER_OK;

	*ret_over = false;
	if (asked)
		r = ask_alone(&answer, reach.end, ret_number, ret_over, err);
	if (r == ROGER_OK && asked && !*ret_over)
		r = ask_over_tables(&answer, reach, ret_number, ret_over, err);
	if (ret_entries)
		*ret_entries = (struct rg_entries){ answer.entries.items, answer.entries.count };
	return r;
}

void rg_index_follow(struct rg_index *index, uint64_t end, const struct rg_query *query)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = query ? rg_arena_new() : NULL;
	struct answer answer = { .index = index, .query = query, .arena = arena };
	const struct rg_index_reach reach = { .end = end };
	bool over = false;

	if (arena && can_answer(query, false, false) &&
	    ask_alone(&answer, end, NULL, &over, NULL) == ROGER_OK && over)
		return;
	answer.query = NULL;
	if (ask_over_tables(&answer, reach, NULL, &over, NULL) == ROGER_OK && !over)
		(void)!rg_index_refresh(index, end, NULL);
}
