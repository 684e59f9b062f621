/*
 * Messages read from the journal at the places that the index gives.  If the two
 * disagree, the index is wrong: it is rebuilt and asked again.
 */
#include "index/index_db.h"

#include "facts/message.h"

/* Is the entry's line within the journal?  Others may have read more than our rg_index_end(). */
static bool may_stand(const struct rg_index *index, const struct rg_entry *entry)
{
	struct rg_log_file messages = rg_store_messages;
	bool there;

	return index->store->ops->stat(index->store, &messages, &there, NULL) < 0 ||
	       (entry->length <= RG_LINE_BYTES_MAX && entry->offset <= messages.size &&
		entry->length <= messages.size - entry->offset);
}

static struct rg_entry entry_of(const int64_t columns[RG_ENTRY_COLUMNS])
{
	return (struct rg_entry){
		.position = columns[0],
		.line = columns[1],
		.offset = (uint64_t)columns[2],
		.length = (size_t)columns[3],
		.hashed = true,
		.hash = (uint64_t)columns[4],
		.first = { (uint64_t)columns[5], (size_t)columns[6] },
	};
}

struct rg_entry rg_index_entry(sqlite3_stmt *row)
{
	int64_t columns[RG_ENTRY_COLUMNS];
	int i;

	for (i = 0; i < RG_ENTRY_COLUMNS; i++)
		columns[i] = sqlite3_column_int64(row, i);
	return entry_of(columns);
}

int rg_index_living(struct rg_index *index, struct roger_str id, struct rg_entry *ret_entry,
		    struct roger_err *err)
{
	int64_t found[RG_ENTRY_COLUMNS];
	bool there;
	int r = rg_index_look_up(index, RG_SQL_STATE_GET, found, RG_ENTRY_COLUMNS, &there, err, "t",
				 id);

	*ret_entry = entry_of(found);
	return r;
}

int rg_index_find_first(struct rg_index *index, struct roger_str id, struct rg_entry *ret_first,
			struct roger_err *err)
{
	int tries = 0, r;

	/* Ask in one transaction, so that a message that is archived meanwhile is not missed. */
	do {
		r = rg_index_run_one(index, RG_SQL_BEGIN, err);
		if (r == ROGER_OK)
			r = rg_index_first_of_all(index, id, ret_first, err);
		rg_index_finish(index);
	} while (rg_index_heals(index, &tries, &r, err));
	return r;
}

int rg_index_follow_first(struct rg_index *index, const struct rg_entry *entry,
			  struct rg_place later, struct rg_arena *arena,
			  struct roger_message *message, struct rg_rewrites *ret_rewrites,
			  struct roger_err *err)
{
	return rg_later_read(index->store, (uint64_t)index->progress.key, entry->first, later,
			     arena, message, ret_rewrites, err);
}

/* May the first line of the message have more than this later line? */
static bool may_differ(const struct rg_index *index, const struct rg_entry *entry,
		       const struct roger_message *message)
{
	return entry->line != entry->position &&
	       !(entry->hashed && entry->hash == rg_index_hash(index, message));
}

/* A later line of another program need not say that its message was acknowledged: the line that
 * said so counts. */
static int keep_outcome(struct rg_index *index, const struct rg_entry *entry,
			struct rg_arena *arena, struct roger_message *message,
			struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = RG_LINE_BYTES_MAX + 1 };
	struct roger_message acked;
	struct roger_str text;
	int64_t place[2];
	bool there;
	int r = rg_index_look_up(index, RG_SQL_ACK_GET, place, 2, &there, err, "i",
				 entry->position);

	if (r < 0 || !there)
		return r;
	r = rg_store_read_line(index->store, (uint64_t)place[0], (size_t)place[1], &line, err);
	if (r < 0)
		return r;
	if (!rg_arena_copy(arena, rg_buf_str(&line), &text))
		return rg_fail_memory(err);
	r = rg_message_read_within(text, arena, &acked, err);
	if (r < 0)
		return r;
	message->acked_at_ms = acked.acked_at_ms;
	message->ack_outcome = acked.ack_outcome;
	message->ack_note = acked.ack_note;
	return ROGER_OK;
}

int rg_index_read_message(struct rg_index *index, const struct rg_entry *entry,
			  struct rg_arena *arena, struct roger_message *ret_message,
			  struct roger_err *err)
{
	struct rg_rewrites rewrites = { .count = 0 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = RG_LINE_BYTES_MAX + 1 };
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	int r;

	r = rg_store_read_line(index->store, entry->offset, entry->length, &line, err);
	if (r == ROGER_OK)
		r = rg_message_read(rg_buf_str(&line), &json, arena, ret_message, err);
	if (r == ROGER_OK && may_differ(index, entry, ret_message))
		r = rg_index_follow_first(index, entry,
					  (struct rg_place){ entry->offset, entry->length }, arena,
					  ret_message, &rewrites, err);
	if (r == ROGER_OK && entry->line != entry->position && !ret_message->chain.length &&
	    !ret_message->acked_at_ms)
		r = keep_outcome(index, entry, arena, ret_message, err);
	if (r == ROGER_OK && rg_altered_has(&index->altered, 0, entry->offset))
		rg_message_as_sent(ret_message);
	if (r == ROGER_EDATA || (r < 0 && !may_stand(index, entry)))
		rg_index_doubt(index);
	if (r == ROGER_OK && !rg_record_keep(&rg_message_record, ret_message, arena))
		r = rg_fail_memory(err);
	/* Rewrites are recorded by the tables, which do not have this line yet. */
	index->tail.strange |= rewrites.count && entry->offset >= rg_index_end(index);
	ret_message->position = entry->position;
	ret_message->line = entry->line;
	ret_message->byte = (int64_t)entry->offset;
	return r;
}

/* Does the line match the query?  SQLite does not detect all damage, and a wrong index must not
 * deliver mail to the wrong agent. */
static bool answers_query(const struct rg_query *query, const struct roger_message *message)
{
	/* The id is compared only if one was asked for, to save comparing each line with all. */
	return (query->id_count != 1 || rg_str_equal(query->ids[0], message->id)) &&
	       rg_index_is_or_any(query->to, message->to) &&
	       rg_index_is_or_any(query->from, message->from) &&
	       rg_index_is_or_any(query->issue, message->issue) &&
	       !(query->unread && message->read) && !(query->read && !message->read);
}

/* Read the messages; of one cycle if the query names it. */
static int read_messages(struct rg_index *index, const struct rg_entries *entries,
			 const struct rg_query *query, struct rg_arena *arena,
			 struct roger_message_list *ret_messages, struct roger_err *err)
{
	struct roger_message *items = rg_arena_get(arena, entries->count * sizeof *items);
	size_t i, count = 0;
	int r;

	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < entries->count; i++) {
		r = rg_index_read_message(index, &entries->items[i], arena, &items[count], err);
		if (r < 0)
			return r;
		if (!answers_query(query, &items[count]))
			return rg_index_wrong(index, items[count].id, err);
		if (rg_index_is_or_any(query->cycle, items[count].cycle))
			count++;
	}
	*ret_messages = (struct roger_message_list){ items, count };
	return ROGER_OK;
}

int rg_index_messages(struct rg_index *index, const struct rg_query *query, struct rg_arena *arena,
		      struct roger_message_list *ret_messages, int64_t *ret_total,
		      struct roger_err *err)
{
	struct rg_entries entries;
	int tries = 0, r;

	do {
		r = rg_index_find(index, query, arena, &entries, ret_total, err);
		if (r == ROGER_OK)
			r = read_messages(index, &entries, query, arena, ret_messages, err);
	} while (rg_index_heals(index, &tries, &r, err));
	return r;
}

int rg_index_answer(struct rg_index *index, struct rg_index_reach reach,
		    const struct rg_query *query, struct rg_arena *arena,
		    struct roger_message_list *ret_messages, int64_t *ret_total,
		    struct roger_err *err)
{
	struct rg_entries entries;
	int tries = 0, r;
	bool over;

	do {
		r = rg_index_tail_answer(index, reach, query, arena, ret_messages ? &entries : NULL,
					 ret_total, &over, err);
		if (r == ROGER_OK && over && ret_messages)
			r = read_messages(index, &entries, query, arena, ret_messages, err);
	} while (rg_index_heals(index, &tries, &r, err));
	if (r == ROGER_OK && !over)
		r = rg_index_refresh(index, reach.end, err);
	if (r < 0 || over)
		return r;
	return ret_messages ? rg_index_messages(index, query, arena, ret_messages, ret_total, err)
			    : rg_index_count(index, query, ret_total, err);
}
