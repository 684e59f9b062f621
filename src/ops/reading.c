#include "ops/reading.h"

bool rg_reading_got(struct rg_reading *reading, int r)
{
	/* A later failure has replaced the message in err, so its code replaces the first one. */
	if (r < 0)
		reading->r = r;
	return reading->r == ROGER_OK;
}

struct roger_message_list rg_read_messages(struct rg_reading *reading, const struct rg_query *query)
{
	struct roger_message_list found = { 0 };

	if (reading->r == ROGER_OK)
		reading->r = rg_engine_find(reading->roger->engine, query, reading->arena, &found,
					    reading->err);
	return found;
}

struct rg_records rg_read_records(struct rg_reading *reading, const struct rg_log_query *query)
{
	struct rg_records found = { 0 };

	if (reading->r == ROGER_OK)
		reading->r = rg_records_read(reading->roger, query, reading->arena, &found,
					     reading->err);
	return reading->r == ROGER_OK ? found : (struct rg_records){ 0 };
}

struct rg_log_entries rg_read_entries(struct rg_reading *reading, const struct rg_log_query *query)
{
	struct rg_log_entries found = { 0 };

	if (reading->r == ROGER_OK)
		reading->r = rg_engine_log_find(reading->roger->engine, query, reading->arena,
						&found, reading->err);
	return found;
}

void rg_history_keep(struct rg_history *history, const struct rg_event *event)
{
	struct rg_arena *arena = history->arena;
	struct rg_event kept = *event;

	if (rg_record_keep(&rg_event_record, &kept.said, arena) &&
	    rg_arena_copy(arena, event->id, &kept.id) &&
	    rg_arena_copy(arena, event->to, &kept.to) &&
	    rg_arena_copy(arena, event->text, &kept.text))
		(void)!rg_arena_append(arena, &history->items, &history->count, &kept, sizeof kept);
}

static int keep_row(void *history_, const struct rg_event *row, struct roger_err *err)
{
	struct rg_history *history = history_;

	(void)err;
	if (row)
		rg_history_keep(history, row);
	else
		history->count = 0;
	return ROGER_OK;
}

struct rg_history rg_read_rows(struct rg_reading *reading, const struct rg_log_query *query)
{
	struct rg_history rows = { .arena = reading->arena };

	if (reading->r == ROGER_OK)
		reading->r = rg_engine_rows(reading->roger->engine, query, keep_row, &rows,
					    reading->err);
	return rows;
}
