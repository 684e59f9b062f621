#include "store/damages.h"

#include <stdlib.h>

#include "base/id.h"
#include "facts/kinds.h"
#include "store/lines.h"

size_t rg_damages_find(const struct roger_damage *items, size_t count, struct roger_str id)
{
	size_t i;

	for (i = 0; i < count && !rg_str_equal(items[i].id, id); i++)
		continue;
	return i;
}

int rg_damages_put(struct rg_damages *damages, const struct roger_damage *damage,
		   struct roger_err *err)
{
	size_t at = rg_damages_find(damages->items, damages->count, damage->id);
	struct roger_damage *place = at < damages->count
					     ? &damages->items[at]
					     : rg_arena_push(damages->arena, &damages->items,
							     &damages->count, sizeof *place);

	if (!place)
		return rg_fail_memory(err);
	*place = *damage;
	return ROGER_OK;
}

static int take_line(struct rg_damages *damages, const struct rg_line *line, struct roger_err *err)
{
	union rg_log_record record;
	int r = line->too_long
			? ROGER_EDATA
			: rg_kind_read(RG_LOG_DAMAGE, line->text, damages->arena, &record, NULL);

	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	return r == ROGER_OK ? rg_damages_put(damages, &record.damage, err) : ROGER_OK;
}

static int take_file(struct rg_damages *damages, struct rg_store *store, struct rg_log_file *file,
		     struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(store, file);
	struct rg_lines lines;
	struct rg_line line;
	bool found;
	int r = store->ops->stat(store, file, &found, err);

	if (r < 0 || !found)
		return r;
	rg_lines_init(&lines, &bytes, 0, file->size);
	do {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r == ROGER_OK && found)
			r = take_line(damages, &line, err);
	} while (r == ROGER_OK && found);
	rg_lines_deinit(&lines);
	return r;
}

int rg_damages_read(struct rg_store *store, struct rg_arena *arena,
		    struct roger_damage_list *ret_damages, struct roger_err *err)
{
	struct rg_damages damages = { .arena = arena };
	struct rg_log_files files = { 0 };
	int r = store->ops->list(store, RG_LOG_DAMAGE, RG_STR(""), arena, &files, err);

	/* What could not be noted has no log. */
	if (r == ROGER_OK && files.count)
		r = take_file(&damages, store, files.items, err);
	*ret_damages = (struct roger_damage_list){ damages.items, damages.count };
	return r;
}

bool rg_damage_stands(struct rg_store *store, const struct rg_log_file *journal,
		      const struct roger_damage *damage)
{
	const struct rg_bytes bytes = rg_bytes_of(store, journal);
	char digits[RG_DIGEST_DIGITS + 1];

	return rg_digest_bytes(&bytes, damage->byte, damage->bytes, digits) &&
	       rg_str_is(damage->sha256, digits);
}

bool rg_damages_may_be(struct rg_store *store)
{
	struct rg_shared *shared = rg_store_head(store).shared;

	return !shared || !atomic_load(&shared->prepared) || atomic_load(&shared->damaged);
}

static int compare_starts(const void *a, const void *b)
{
	const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

int rg_altered_of(struct rg_store *store, const struct roger_damage_list *damages,
		  struct rg_arena *arena, struct rg_altered *ret_altered, struct roger_err *err)
{
	struct rg_log_files files = { 0 };
	const struct roger_damage *damage;
	uint64_t *start;
	size_t i;

	*ret_altered = (struct rg_altered){ 0 };
	/* What cannot be read tells of no line. */
	if (!damages->count ||
	    store->ops->list(store, RG_LOG_MESSAGES, RG_STR(""), arena, &files, NULL) < 0)
		return ROGER_OK;
	for (i = 0; i < damages->count && files.count; i++) {
		damage = &damages->items[i];
		if (damage->kind != ROGER_DAMAGE_ALTERED || !damage->line ||
		    !rg_str_equal(damage->file, files.items[0].shown) ||
		    !rg_damage_stands(store, &rg_store_messages, damage))
			continue;
		start = rg_arena_push(arena, &ret_altered->starts, &ret_altered->count,
				      sizeof *start);
		if (!start)
			return rg_fail_memory(err);
		*start = (uint64_t)damage->byte;
	}
	if (!ret_altered->count)
		return ROGER_OK;
	qsort(ret_altered->starts, ret_altered->count, sizeof *start, compare_starts);
	ret_altered->mark = rg_hash(1, ret_altered->starts, ret_altered->count * sizeof *start);
	return ROGER_OK;
}

int rg_altered_load(struct rg_store *store, struct rg_altered *altered, struct roger_err *err)
{
	struct roger_damage_list damages;
	struct rg_arena *memory;
	int r;

	rg_altered_deinit(altered);
	if (!rg_damages_may_be(store))
		return ROGER_OK;
	memory = rg_arena_new();
	if (!memory)
		return rg_fail_memory(err);
	r = rg_damages_read(store, memory, &damages, NULL) == ROGER_OK
		    ? rg_altered_of(store, &damages, memory, altered, err)
		    : ROGER_OK;
	altered->memory = memory;
	return r;
}

void rg_altered_deinit(struct rg_altered *altered)
{
	rg_arena_free(altered->memory);
	*altered = (struct rg_altered){ 0 };
}

bool rg_altered_has(const struct rg_altered *altered, uint64_t start)
{
	return altered->count &&
	       bsearch(&start, altered->starts, altered->count, sizeof start, compare_starts);
}
