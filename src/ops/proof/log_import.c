/*
 * log_import: entries that other tools wrote.
 *
 * The text is judged line by line before the log is looked at; a bad line is
 * told and stops nothing.  A line that the log holds already is left out, as
 * often as it holds it, so that importing a file twice is importing it once.
 */
#include "ops/op.h"

#include <stdlib.h>

#include "facts/activity.h"

enum { BAD_LINES_MAX = 1000, TELL_LINES = 4096, PAGE = 10000, WRITE_BYTES = 4 << 20 };

/* An entry of the text, as the log would hold it. */
struct item {
	uint64_t hash;
	size_t start, length;
	bool known;
};

struct import {
	struct roger *roger;
	const struct roger_log_import_request *request;
	struct roger_log_import_reply *reply;
	struct rg_buf lines; /* the texts of the items, one behind the other */
	struct {
		struct item *items;
		size_t count;
	} items;
	struct {
		uint64_t *items;
		size_t count;
	} there; /* hashes of what the log holds */
	struct {
		struct roger_bad_line *items;
		size_t count;
	} bad;
	struct rg_arena *arena; /* of items and hashes */
};

static int note_bad(struct import *import, int64_t line, const struct roger_err *why,
		    struct roger_err *err)
{
	struct roger_bad_line *bad;

	import->reply->bad++;
	if (import->bad.count == BAD_LINES_MAX)
		return ROGER_OK;
	bad = rg_arena_push(import->reply->memory, &import->bad.items, &import->bad.count,
			    sizeof *bad);
	if (!bad || !rg_arena_copy(import->reply->memory, rg_str(why->message), &bad->what))
		return rg_fail_memory(err);
	bad->line = line;
	bad->file = RG_STR("");
	import->reply->lines = (struct roger_bad_line_list){ import->bad.items, import->bad.count };
	return ROGER_OK;
}

/* The line as the log would hold it, behind what out holds. */
static int normalize(struct roger_str line, bool strict, struct rg_buf *out, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_activity entry;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_activity_check_null(line, arena, err);
	if (r == ROGER_OK)
		r = rg_kind_take(RG_LOG_ACTIVITY, line, arena, &entry, err);
	if (r == ROGER_OK && strict)
		r = rg_activity_check_strict(&entry, err);
	if (r == ROGER_OK)
		r = rg_activity_print(&entry, out, err);
	rg_arena_free(arena);
	return r;
}

static int take_line(struct import *import, struct roger_str line, int64_t number,
		     struct roger_err *err)
{
	size_t start = import->lines.length;
	struct roger_err why;
	struct item *item;
	int r;

	r = normalize(line, import->request->strict, &import->lines, &why);
	if (r == ROGER_EDATA)
		return note_bad(import, number, &why, err);
	item = r < 0 ? NULL
		     : rg_arena_push(import->arena, &import->items.items, &import->items.count,
				     sizeof *item);
	if (!item)
		return rg_fail_memory(err);
	*item = (struct item){ .start = start, .length = import->lines.length - start };
	item->hash = rg_hash(0, import->lines.data + start, item->length);
	return ROGER_OK;
}

static bool is_blank(struct roger_str line)
{
	size_t i;

	for (i = 0; i < line.length; i++)
		if (!strchr(" \t\r", line.data[i]))
			return false;
	return true;
}

static int tell(const struct import *import, size_t done, struct roger_err *err)
{
	const struct roger *roger = import->roger;

	if (!roger->tell || roger->tell(roger->tell_context, "import", (int64_t)done,
					(int64_t)import->request->text.length))
		return ROGER_OK;
	return rg_fail(err, ROGER_EREFUSED, 0, "stopped; nothing was imported");
}

static int take_text(struct import *import, struct roger_err *err)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct roger_str text = import->request->text, line;
	const char *newline;
	int64_t number = 1;
	size_t at = 0;
	int r = ROGER_OK;

	if (text.length >= 3 && memcmp(text.data, mark, 3) == 0)
		at = 3;
	for (; at < text.length && r == ROGER_OK; number++) {
		newline = memchr(text.data + at, '\n', text.length - at);
		line.data = text.data + at;
		line.length = newline ? (size_t)(newline - line.data) : text.length - at;
		at += line.length + 1;
		if (!is_blank(line))
			r = take_line(import, line, number, err);
		if (r == ROGER_OK && number % TELL_LINES == 0)
			r = tell(import, at, err);
	}
	return r;
}

static int add_hash(struct import *import, struct roger_str text, struct rg_buf *line,
		    struct roger_err *err)
{
	uint64_t *hash;
	int r;

	rg_buf_clear(line);
	r = normalize(text, false, line, err);
	if (r < 0)
		return r == ROGER_EDATA ? ROGER_OK : r;
	hash = rg_arena_push(import->arena, &import->there.items, &import->there.count,
			     sizeof *hash);
	if (!hash)
		return rg_fail_memory(err);
	*hash = rg_hash(0, line->data, line->length);
	return ROGER_OK;
}

/* A page of the log; *after is where the next one starts, 0 at the end. */
static int hash_page(struct import *import, int64_t *after, struct rg_arena *arena,
		     struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .after = *after,
					    .limit = PAGE };
	struct rg_log_entries entries;
	struct rg_buf line;
	size_t i;
	int r;

	r = rg_engine_log_find(import->roger->engine, &query, arena, &entries, err);
	if (r < 0)
		return r;
	rg_buf_init(&line, SIZE_MAX);
	for (i = 0; i < entries.count && r == ROGER_OK; i++)
		r = add_hash(import, entries.items[i].text, &line, err);
	rg_buf_deinit(&line);
	*after = entries.count == PAGE ? entries.items[PAGE - 1].position : 0;
	return r;
}

static int hash_log(struct import *import, struct roger_err *err)
{
	struct rg_arena *arena;
	int64_t after = 0;
	int r;

	do {
		arena = rg_arena_new();
		if (!arena)
			return rg_fail_memory(err);
		r = hash_page(import, &after, arena, err);
		rg_arena_free(arena);
	} while (r == ROGER_OK && after);
	return r;
}

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int compare_starts(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* What stands in the log so often is known so often; the rest is new. */
static void find_known(struct import *import)
{
	struct item *items = import->items.items;
	const uint64_t *there = import->there.items;
	size_t i = 0, k = 0;

	if (import->there.count == 0 || import->items.count == 0)
		return;
	qsort(import->there.items, import->there.count, sizeof *there, compare_hashes);
	qsort(items, import->items.count, sizeof *items, compare_items);
	while (i < import->items.count && k < import->there.count) {
		if (items[i].hash == there[k]) {
			items[i++].known = true;
			k++;
		} else if (items[i].hash < there[k]) {
			i++;
		} else {
			k++;
		}
	}
	qsort(items, import->items.count, sizeof *items, compare_starts);
}

/* Neighbours that are new go out in one write. */
static int write_new(struct import *import, struct roger_err *err)
{
	const struct item *item = import->items.items, *end;
	struct roger_str lines;
	int r = ROGER_OK;

	if (import->items.count == 0)
		return ROGER_OK;
	end = item + import->items.count;
	while (item < end && r == ROGER_OK) {
		import->reply->known += item->known;
		if (item->known) {
			item++;
			continue;
		}
		lines = (struct roger_str){ import->lines.data + item->start, 0 };
		for (; item < end && !item->known && lines.length < WRITE_BYTES; item++) {
			lines.length += item->length;
			import->reply->imported++;
		}
		if (!import->request->dry_run)
			r = rg_engine_log_append(import->roger->engine, RG_LOG_ACTIVITY, RG_STR(""),
						 lines, true, err);
	}
	return r;
}

static int add_new(struct import *import, struct roger_err *err)
{
	int r;

	r = rg_engine_records_begin(import->roger->engine, err);
	if (r < 0)
		return r;
	r = hash_log(import, err);
	if (r == ROGER_OK) {
		find_known(import);
		r = write_new(import, err);
	}
	rg_engine_records_end(import->roger->engine);
	return r;
}

int rg_verb_log_import(struct roger *roger, const struct roger_log_import_request *request,
		       struct roger_log_import_reply *reply, struct roger_err *err)
{
	struct import import = {
		.roger = roger, .request = request, .reply = reply, .arena = rg_arena_new()
	};
	int r;

	if (!import.arena)
		return rg_fail_memory(err);
	if (request->text.length > RG_IMPORT_BYTES_MAX) {
		rg_arena_free(import.arena);
		return rg_fail_member(err, ROGER_EDATA, "text", "text: expected at most %d bytes",
				      RG_IMPORT_BYTES_MAX);
	}
	rg_buf_init(&import.lines, SIZE_MAX);
	r = take_text(&import, err);
	if (r == ROGER_OK)
		r = add_new(&import, err);
	rg_buf_deinit(&import.lines);
	rg_arena_free(import.arena);
	return r;
}
