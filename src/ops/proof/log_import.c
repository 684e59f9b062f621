/*
 * log_import: entries that other tools wrote.
 *
 * The text is judged line by line before anything is written; a bad line is
 * reported and stops nothing.  The good lines are then appended in one write:
 * importing a text twice adds its entries twice.
 */
#include "ops/note.h"
#include "ops/records.h"

#include "facts/activity.h"

enum { TELL_LINES = 4096 };

struct import {
	struct roger *roger;
	const struct roger_log_import_request *request;
	struct roger_log_import_reply *reply;
	struct rg_buf *lines; /* as the log will hold them */
};

static int take_line(struct import *import, struct roger_str line, int64_t number,
		     struct rg_arena *arena, struct roger_err *err)
{
	struct roger_activity entry;
	struct roger_err why = { 0 };
	int r;

	rg_arena_reset(arena);
	r = rg_activity_check_null(line, arena, &why);
	if (r == ROGER_OK)
		r = rg_log_kind_read_words(RG_LOG_ACTIVITY, line, arena, &entry, &why);
	if (r == ROGER_OK)
		r = rg_activity_print(&entry, import->lines, &why);
	import->reply->bad += r == ROGER_EDATA;
	import->reply->imported += r == ROGER_OK;
	if (r == ROGER_EDATA)
		return rg_records_add_bad(import->reply->memory, &import->reply->lines, RG_STR(""),
					  number, rg_str(why.message), err);
	return rg_kept(r == ROGER_OK, err);
}

static int take_text(struct import *import, struct rg_arena *arena, struct roger_err *err)
{
	const struct roger_str text = import->request->text;
	const struct roger *roger = import->roger;
	const size_t length = text.length, mark = rg_str_mark(text);
	struct roger_str rest = { text.data + mark, length - mark }, line;
	int64_t number = 1;
	int r = ROGER_OK;

	for (; r == ROGER_OK && rg_str_next_line(&rest, &line); number++) {
		if (rg_str_without_end(line, " \t\r").length)
			r = take_line(import, line, number, arena, err);
		if (r == ROGER_OK && number % TELL_LINES == 0 && roger->tell &&
		    !roger->tell(roger->tell_context, "import", (int64_t)(length - rest.length),
				 (int64_t)length))
			r = rg_fail(err, ROGER_EREFUSED, 0, "stopped; nothing was imported");
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
	return r < 0 || request->dry_run || !lines.length
		       ? r
		       : rg_note_append(roger, rg_buf_str(&lines), true, err);
}
