#include "ops/proof/records.h"

#include <stdlib.h>

int rg_records_decode(struct roger_str text, const struct roger_record *type,
		      struct rg_arena *arena, void *record, struct roger_err *err)
{
	struct rg_json *json;
	int r;

	r = rg_json_read(text, &json, err);
	if (r < 0)
		return r;
	r = rg_record_decode(type, rg_json_root(json), record, arena, err);
	if (r == ROGER_OK && !rg_record_keep(type, record, arena))
		r = rg_fail_memory(err);
	rg_json_free(json);
	return r;
}

int rg_records_read(struct roger *roger, const struct rg_log_query *query,
		    const struct roger_record *type, struct rg_arena *arena, void **ret_items,
		    size_t *ret_count, struct roger_err *err)
{
	struct rg_log_entries entries;
	char *items;
	size_t i;
	int r;

	r = rg_engine_log_find(roger->engine, query, arena, &entries, err);
	if (r < 0)
		return r;
	items = rg_arena_get(arena, entries.count * type->size);
	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < entries.count && r == ROGER_OK; i++)
		r = rg_records_decode(entries.items[i].text, type, arena, items + i * type->size,
				      err);
	*ret_items = items;
	*ret_count = entries.count;
	return r;
}

int rg_records_states(void *items, size_t item_size, size_t *count, struct roger_err *err)
{
	size_t capacity = 16, kept = 0, i, at;
	struct roger_str *id, *other;
	char *base = items;
	size_t *table; /* places of ids that were seen, plus one */

	while (capacity < 2 * *count)
		capacity *= 2;
	table = calloc(capacity, sizeof *table);
	if (!table)
		return rg_fail_memory(err);
	for (i = 0; i < *count; i++) {
		id = (struct roger_str *)(void *)(base + i * item_size);
		for (at = (size_t)rg_hash(0, id->data, id->length) & (capacity - 1); table[at];
		     at = (at + 1) & (capacity - 1)) {
			other = (struct roger_str *)(void *)(base + (table[at] - 1) * item_size);
			if (rg_str_equal(*id, *other))
				break;
		}
		if (!table[at])
			table[at] = ++kept;
		memmove(base + (table[at] - 1) * item_size, base + i * item_size, item_size);
	}
	free(table);
	*count = kept;
	return ROGER_OK;
}

int rg_records_write(struct roger *roger, enum rg_log log, struct roger_str owner,
		     const struct roger_record *type, const void *items, size_t count, bool durable,
		     struct roger_err *err)
{
	struct rg_buf text;
	size_t i;
	int r;

	rg_buf_init(&text, SIZE_MAX);
	for (i = 0; i < count; i++) {
		rg_record_encode(type, (const char *)items + i * type->size, &text);
		rg_buf_add_char(&text, '\n');
	}
	r = text.failed ? rg_fail_memory(err)
			: rg_engine_log_append(roger->engine, log, owner, rg_buf_str(&text),
					       durable, err);
	rg_buf_deinit(&text);
	return r;
}

/* ---------------------------------------------------------------- cycles -- */

int rg_cycle_all(struct roger *roger, struct rg_arena *arena, struct roger_cycles *ret_cycles,
		 struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_CYCLES };
	struct roger_cycle *all;
	void *opened;
	size_t count;
	int r;

	r = rg_records_read(roger, &query, &rg_cycle_record, arena, &opened, &count, err);
	if (r < 0)
		return r;
	all = rg_arena_get(arena, (count + 1) * sizeof *all);
	if (!all)
		return rg_fail_memory(err);
	all[0] = (struct roger_cycle){ .id = RG_STR(RG_FIRST_CYCLE), .number = 1 };
	if (count)
		memcpy(all + 1, opened, count * sizeof *all);
	*ret_cycles = (struct roger_cycles){ all, count + 1 };
	return ROGER_OK;
}

int rg_cycle_current(struct roger *roger, struct rg_arena *arena, struct roger_cycle *ret_cycle,
		     struct roger_err *err)
{
	struct roger_cycles all;
	struct roger_str text;
	int r;

	r = rg_engine_log_last(roger->engine, RG_LOG_CYCLES, arena, &text, err);
	if (r < 0)
		return r;
	*ret_cycle = (struct roger_cycle){ .id = RG_STR(RG_FIRST_CYCLE), .number = 1 };
	if (!text.length ||
	    rg_records_decode(text, &rg_cycle_record, arena, ret_cycle, NULL) == ROGER_OK)
		return ROGER_OK;
	/* Something else stands at the end. */
	r = rg_cycle_all(roger, arena, &all, err);
	if (r == ROGER_OK)
		*ret_cycle = all.items[all.count - 1];
	return r;
}

int64_t rg_cycle_number(const struct roger_cycles *cycles, struct roger_str id)
{
	size_t i;

	for (i = cycles->count; i > 0; i--)
		if (rg_str_equal(cycles->items[i - 1].id, id))
			return cycles->items[i - 1].number;
	return 0;
}
