#include "store/damages.h"

#include <stdlib.h>

#include "base/id.h"
#include "facts/log_kinds.h"
#include "store/lines.h"

const struct roger_damage *rg_damages_find(const struct roger_damage *items, size_t count,
					   struct roger_str id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rg_str_equal(items[i].id, id))
			return &items[i];
	return NULL;
}

int rg_damages_put(struct rg_damages *damages, const struct roger_damage *damage,
		   struct roger_err *err)
{
	const struct roger_damage *known =
		rg_damages_find(damages->items, damages->count, damage->id);
	struct roger_damage *place = known ? &damages->items[known - damages->items]
					   : rg_arena_push(damages->arena, &damages->items,
							   &damages->count, sizeof *place);

	rg_assert(damages->arena != NULL);
	if (!place)
		return rg_fail_memory(err);
	*place = *damage;
	return ROGER_OK;
}

static int take_line(struct rg_damages *damages, const struct rg_line *line, struct roger_err *err)
{
	union rg_log_record record;
	int r = line->too_long ? ROGER_EDATA
			       : rg_log_kind_read(RG_LOG_DAMAGE, line->text, damages->arena,
						  &record, NULL);

	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	return r == ROGER_OK ? rg_damages_put(damages, &record.damage, err) : ROGER_OK;
}

static int take_file(struct rg_damages *damages, struct rg_store *store, struct rg_log_file *file,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit) struct rg_lines lines = { 0 };
	struct rg_line line;
	bool found;
	int r = store->ops->stat(store, file, &found, err);

	if (r < 0 || !found)
		return r;
	lines = rg_lines_of(store, file, 0, file->size);
	while (r == ROGER_OK && (r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK &&
	       found)
		r = take_line(damages, &line, err);
	return r;
}

int rg_damages_read(struct rg_store *store, struct rg_arena *arena,
		    struct roger_damage_list *ret_damages, struct roger_err *err)
{
	struct rg_damages damages = { .arena = arena };
	struct rg_log_files files = { 0 };
	int r = store->ops->list(store, RG_LOG_DAMAGE, RG_STR(""), arena, &files, err);

	/* There is no log until damage has been recorded. */
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
	struct rg_shared *shared = rg_store_shared(store);

	return !shared || !atomic_load(&shared->prepared) || atomic_load(&shared->damaged);
}

uint64_t rg_altered_file(const struct rg_log_file *journal)
{
	return journal->log == RG_LOG_MESSAGES
		       ? 0
		       : rg_hash(0, journal->shown.data, journal->shown.length);
}

static int compare_lines(const void *a, const void *b)
{
	const struct rg_altered_line *first = a, *second = b;

	if (first->file != second->file)
		return first->file > second->file ? 1 : -1;
	return (first->start > second->start) - (first->start < second->start);
}

static bool is_damaged(const struct roger_damage_list *damages, enum rg_log log)
{
	size_t i;

	for (i = 0; i < damages->count && !rg_log_kind_has(log, damages->items[i].file); i++)
		continue;
	return i < damages->count;
}

/* Add the line of a damage, unless it cannot be read or is no longer as it was found. */
static int add_altered(struct rg_store *store, const struct roger_damage *damage,
		       const struct rg_log_files *journals, struct rg_arena *arena,
		       struct rg_altered *altered, struct roger_err *err)
{
	struct rg_log_file *journal = rg_log_files_find(journals, damage->file);
	struct rg_altered_line line;
	bool there = false;

	rg_assert(damage->line > 0 && damage->kind == ROGER_DAMAGE_ALTERED);
	if (!journal || store->ops->stat(store, journal, &there, NULL) < 0 || !there ||
	    !rg_damage_stands(store, journal, damage))
		return ROGER_OK;
	line = (struct rg_altered_line){ rg_altered_file(journal), (uint64_t)damage->byte };
	return rg_kept(rg_arena_append(arena, &altered->lines, &altered->count, &line, sizeof line),
		       err);
}

int rg_altered_of(struct rg_store *store, const struct roger_damage_list *damages,
		  struct rg_arena *arena, struct rg_altered *ret_altered, struct roger_err *err)
{
	struct rg_log_files journals = { 0 };
	const struct roger_damage *damage;
	int log, r = ROGER_OK;
	size_t i;

	*ret_altered = (struct rg_altered){ 0 };
	for (log = 0; log < RG_LOGS; log++)
		if (rg_log_kinds[log].chained && log != RG_LOG_DAMAGE &&
		    is_damaged(damages, (enum rg_log)log))
			(void)!store->ops->list(store, (enum rg_log)log, RG_STR(""), arena,
						&journals, NULL);
	for (i = 0; i < damages->count && r == ROGER_OK; i++) {
		damage = &damages->items[i];
		if (damage->kind == ROGER_DAMAGE_ALTERED && damage->line)
			r = add_altered(store, damage, &journals, arena, ret_altered, err);
	}
	if (r < 0 || !ret_altered->count)
		return r;
	qsort(ret_altered->lines, ret_altered->count, sizeof *ret_altered->lines, compare_lines);
	ret_altered->mark =
		rg_hash(1, ret_altered->lines, ret_altered->count * sizeof *ret_altered->lines);
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

bool rg_altered_has(const struct rg_altered *altered, uint64_t file, uint64_t start)
{
	const struct rg_altered_line line = { file, start };

	return altered->count &&
	       bsearch(&line, altered->lines, altered->count, sizeof line, compare_lines);
}
