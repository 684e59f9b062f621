/*
 * log_import: entries that other tools wrote.
 *
 * The text is judged line by line before anything is written; a bad line is
 * reported and stops nothing.  What fits is then appended in one write:
 * importing a text twice adds its entries twice.
 */
#include "ops/op.h"

#include "facts/activity.h"

enum { BAD_LINES_MAX = 1000, TELL_LINES = 4096 };

struct import {
	struct roger *roger;
	const struct roger_log_import_request *request;
	struct roger_log_import_reply *reply;
	struct rg_buf *lines; /* as the log will hold them */
};

static int note_bad(struct import *import, int64_t line, const struct roger_err *why,
		    struct roger_err *err)
{
	struct roger_log_import_reply *reply = import->reply;
	struct roger_bad_line *bad;

	reply->bad++;
	if (reply->lines.count == BAD_LINES_MAX)
		return ROGER_OK;
	bad = rg_arena_push(reply->memory, &reply->lines.items, &reply->lines.count, sizeof *bad);
	if (!bad || !rg_arena_copy(reply->memory, rg_str(why->message), &bad->what))
		return rg_fail_memory(err);
	bad->line = line;
	bad->file = RG_STR("");
	return ROGER_OK;
}

static int take_line(struct import *import, struct roger_str line, int64_t number,
		     struct rg_arena *arena, struct roger_err *err)
{
	struct roger_activity entry;
	struct roger_err why = { 0 };
	int r;

	rg_arena_reset(arena);
	r = rg_activity_check_null(line, arena, &why);
	if (r == ROGER_OK)
		r = rg_kind_take(RG_LOG_ACTIVITY, line, arena, &entry, &why);
	if (r == ROGER_OK)
		r = rg_activity_print(&entry, import->lines, &why);
	if (r == ROGER_EDATA)
		return note_bad(import, number, &why, err);
	if (r < 0)
		return rg_fail_memory(err);
	import->reply->imported++;
	return ROGER_OK;
}

static int report_progress(const struct import *import, size_t done, struct roger_err *err)
{
	const struct roger *roger = import->roger;

	if (!roger->tell || roger->tell(roger->tell_context, "import", (int64_t)done,
					(int64_t)import->request->text.length))
		return ROGER_OK;
	return rg_fail(err, ROGER_EREFUSED, 0, "stopped; nothing was imported");
}

static int take_text(struct import *import, struct rg_arena *arena, struct roger_err *err)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct roger_str text = import->request->text, line;
	const char *newline;
	int64_t number = 1;
	size_t at = 0, blanks;
	int r = ROGER_OK;

	if (text.length >= 3 && memcmp(text.data, mark, 3) == 0)
		at = 3;
	for (; at < text.length && r == ROGER_OK; number++) {
		newline = memchr(text.data + at, '\n', text.length - at);
		line.data = text.data + at;
		line.length = newline ? (size_t)(newline - line.data) : text.length - at;
		at += line.length + 1;
		for (blanks = 0; blanks < line.length && memchr(" \t\r", line.data[blanks], 3);)
			blanks++;
		if (blanks < line.length)
			r = take_line(import, line, number, arena, err);
		if (r == ROGER_OK && number % TELL_LINES == 0)
			r = report_progress(import, at, err);
	}
	return r;
}

int rg_verb_log_import(struct roger *roger, const struct roger_log_import_request *request,
		       struct roger_log_import_reply *reply, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf lines = { .maximum = SIZE_MAX };
	struct import import = {
		.roger = roger, .request = request, .reply = reply, .lines = &lines
	};
	int r;

	if (request->text.length > RG_IMPORT_BYTES_MAX)
		return rg_fail_member(err, ROGER_EDATA, "text", "text: expected at most %d bytes",
				      RG_IMPORT_BYTES_MAX);
	arena = rg_arena_new();
	if (!arena)
		return rg_fail_memory(err);
	r = take_text(&import, arena, err);
	if (r < 0 || request->dry_run || !lines.length)
		return r;
	r = rg_engine_records_begin(roger->engine, err);
	if (r < 0)
		return r;
	r = rg_engine_log_append(roger->engine, RG_LOG_ACTIVITY, RG_STR(""), rg_buf_str(&lines),
				 true, err);
	rg_engine_records_end(roger->engine);
	return r;
}
