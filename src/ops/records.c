#include "ops/records.h"

#include "base/table.h"

/* An id that was seen, and the index of its record. */
struct seen {
	uint64_t hash;
	size_t place;
};

int rg_records_states(enum rg_log log, struct rg_records *records, struct roger_err *err)
{
	const size_t size = rg_log_kinds[log].record->size;
	char *base = records->items;
	struct roger_str id;
	struct rg_table table;
	struct seen *seen;
	size_t kept = 0, i;
	bool fresh;

	rg_table_init(&table, sizeof *seen);
	for (i = 0; i < records->count; i++) {
		memcpy(&id, base + i * size, sizeof id);
		seen = rg_table_put(&table, rg_hash(0, id.data, id.length), &fresh);
		if (!seen)
			break;
		if (fresh)
			seen->place = kept++;
		memmove(base + seen->place * size, base + i * size, size);
	}
	rg_table_deinit(&table);
	if (i < records->count)
		return rg_fail_memory(err);
	records->count = kept;
	return ROGER_OK;
}

int rg_records_read(struct roger *roger, const struct rg_log_query *query, struct rg_arena *arena,
		    struct rg_records *ret_records, struct roger_err *err)
{
	const struct roger_record *type = rg_log_kinds[query->log].record;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *texts = rg_arena_new();
	RG_CLEANUP(rg_arena_freep) struct rg_arena *scratch = rg_arena_new();
	const bool reverse = query->newest && query->states;
	struct rg_log_entries entries = { 0 };
	union rg_log_record record;
	size_t i, at;
	int r = texts && scratch ? rg_engine_log_find(roger->engine, query, texts, &entries, err)
				 : rg_fail_memory(err);

	*ret_records = (struct rg_records){ .count = entries.count, .lines = entries.count };
	/* With room for one more. */
	ret_records->items = rg_arena_get(arena, (entries.count + 1) * type->size);
	if (r == ROGER_OK)
		r = rg_kept(ret_records->items, err);
	for (i = 0; i < entries.count && r == ROGER_OK; i++) {
		rg_arena_reset(scratch);
		at = reverse ? entries.count - 1 - i : i;
		r = rg_log_kind_read(query->log, entries.items[at].text, scratch, &record, err);
		if (r == ROGER_OK)
			r = rg_kept(rg_record_keep(type, &record, arena), err);
		memcpy((char *)ret_records->items + i * type->size, &record, type->size);
	}
	return r == ROGER_OK && query->states ? rg_records_states(query->log, ret_records, err) : r;
}

int rg_records_write(struct roger *roger, enum rg_log log, struct roger_str owner,
		     const void *items, size_t count, struct roger_err *err)
{
	const struct roger_record *type = rg_log_kinds[log].record;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	size_t i;

	rg_assert(count && rg_engine_took_records(roger->engine));
	for (i = 0; i < count; i++) {
		rg_record_encode(type, (const char *)items + i * type->size, &text);
		rg_buf_add_char(&text, '\n');
	}
	return text.failed ? rg_fail_memory(err)
			   : rg_engine_log_append(roger->engine, log, owner, rg_buf_str(&text),
						  true, err);
}

int rg_records_add_bad(struct rg_arena *arena, struct roger_bad_line_list *lines,
		       struct roger_str file, int64_t line, struct roger_str what,
		       struct roger_err *err)
{
	enum { BAD_LINES_MAX = 1000 };
	struct roger_bad_line *bad;

	if (lines->count == BAD_LINES_MAX)
		return ROGER_OK;
	bad = rg_arena_push(arena, &lines->items, &lines->count, sizeof *bad);
	if (!bad)
		return rg_fail_memory(err);
	bad->file = file;
	bad->line = line;
	return rg_kept(rg_arena_copy(arena, what, &bad->what), err);
}

/* ---------------------------------------------------------------- cycles -- */

int rg_cycle_all(struct roger *roger, struct rg_arena *arena, struct roger_cycle_list *ret_cycles,
		 struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_CYCLES };
	struct rg_records opened;
	struct roger_cycle *all;
	int r;

	r = rg_records_read(roger, &query, arena, &opened, err);
	if (r < 0)
		return r;
	all = rg_arena_get(arena, (opened.count + 1) * sizeof *all);
	if (!all)
		return rg_fail_memory(err);
	all[0] = (struct roger_cycle){ .id = RG_STR(RG_FIRST_CYCLE), .number = 1 };
	if (opened.count)
		memcpy(all + 1, opened.cycles, opened.count * sizeof *all);
	*ret_cycles = (struct roger_cycle_list){ all, opened.count + 1 };
	return ROGER_OK;
}

int rg_cycle_current(struct roger *roger, struct rg_arena *arena, struct roger_cycle *ret_cycle,
		     struct roger_err *err)
{
	union rg_log_record record;
	struct roger_cycle_list all;
	struct roger_str text;
	int r;

	r = rg_engine_log_last(roger->engine, RG_LOG_CYCLES, arena, &text, err);
	if (r < 0)
		return r;
	*ret_cycle = (struct roger_cycle){ .id = RG_STR(RG_FIRST_CYCLE), .number = 1 };
	if (!text.length)
		return ROGER_OK;
	if (rg_log_kind_read(RG_LOG_CYCLES, text, arena, &record, NULL) == ROGER_OK) {
		*ret_cycle = record.cycle;
		return ROGER_OK;
	}
	/* The last line is no cycle, so look at all. */
	r = rg_cycle_all(roger, arena, &all, err);
	if (r == ROGER_OK)
		*ret_cycle = all.items[all.count - 1];
	return r;
}

int64_t rg_cycle_number(const struct roger_cycle_list *cycles, struct roger_str id)
{
	size_t i;

	for (i = cycles->count; i > 0; i--)
		if (rg_str_equal(cycles->items[i - 1].id, id))
			return cycles->items[i - 1].number;
	return 0;
}
