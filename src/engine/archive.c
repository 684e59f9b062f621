/* messages_archive/<issue>.jsonl and cleanup_metrics.jsonl: append-only, by whoever holds the
 * change lock. */
#include "engine/inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/file.h"
#include "store/file/lines.h"
#include "facts/message.h"

#define ARCHIVE_FOLDER "messages_archive"

/* A crash between the archive and the journal leaves the last batch in both: so far back ids are
 * compared. */
enum { LOOK_BACK_BYTES = 4 << 20 };

static int open_archive_folder(struct rg_engine *engine, int *ret_folder, struct roger_err *err)
{
	bool made;
	int r;

	r = rg_file_make_folder(engine->workspace->data, ARCHIVE_FOLDER, &made, err);
	if (r < 0)
		return r;
	r = rg_file_open_folder(engine->workspace->data, ARCHIVE_FOLDER, ret_folder, err);
	if (r == ROGER_OK && *ret_folder == RG_NO_FILE)
		return rg_fail(err, ROGER_ECREATE, 0, "'%s' went away", ARCHIVE_FOLDER);
	return r;
}

/* Open a file of lines to add to; *ret_size is its length. */
static int open_lines(int folder, const char *name, int *ret_file, int64_t *ret_size,
		      struct roger_err *err)
{
	struct rg_file_facts facts;
	int r;

	r = rg_file_open(folder, name, RG_FILE_APPEND, ret_file, err);
	if (r == ROGER_OK && *ret_file == RG_NO_FILE) {
		r = rg_file_open(folder, name, RG_FILE_CREATE_APPEND, ret_file, err);
		if (r == ROGER_OK)
			r = rg_file_sync_folder(folder, name, err);
	}
	if (r == ROGER_OK)
		r = rg_file_facts(*ret_file, name, &facts, err);
	if (r < 0)
		return r;
	*ret_size = facts.size;
	return ROGER_OK;
}

/* A torn end is closed off first, whatever it was. */
static int start_on_new_line(int file, int64_t size, struct rg_buf *out, struct roger_err *err)
{
	char last;
	size_t got;
	int r;

	if (size == 0)
		return ROGER_OK;
	r = rg_file_read_at(file, &last, 1, size - 1, &got, err);
	if (r == ROGER_OK && got == 1 && last != '\n')
		rg_buf_add_char(out, '\n');
	return r;
}

static int append_lines(int file, const char *name, int64_t size, struct roger_str lines,
			struct roger_err *err)
{
	struct rg_buf out;
	int r;

	rg_buf_init(&out, SIZE_MAX);
	r = start_on_new_line(file, size, &out, err);
	rg_buf_add_str(&out, lines);
	if (r == ROGER_OK && out.failed)
		r = rg_fail_memory(err);
	if (r == ROGER_OK && out.length)
		r = rg_file_write(file, out.data, out.length, name, err);
	if (r == ROGER_OK)
		r = rg_file_sync(file, name, err);
	rg_buf_deinit(&out);
	return r;
}

/* How the line of a staged message starts, up to and with its id. */
static struct roger_str head_of(const struct rg_engine *engine, const struct rg_staged *staged)
{
	static const char after_id[] = ",\"issue_id\":";
	const char *line = engine->text.data + staged->from;
	const char *end = memmem(line, staged->to - staged->from, after_id, sizeof after_id - 1);

	return (struct roger_str){ line, end ? (size_t)(end - line) : staged->to - staged->from };
}

static void mark_line(const struct rg_engine *engine, struct roger_str line,
		      const struct rg_staged *staged, size_t count, bool *there)
{
	struct roger_str head;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!staged[i].after.archived_at_ms || there[i])
			continue;
		head = head_of(engine, &staged[i]);
		there[i] = line.length > head.length && line.data[head.length] == ',' &&
			   memcmp(line.data, head.data, head.length) == 0;
	}
}

/* An unfinished end may lack no more than its newline: then it counts. */
static int mark_end(const struct rg_engine *engine, int file, uint64_t from, int64_t size,
		    const struct rg_staged *staged, size_t count, bool *there,
		    struct roger_err *err)
{
	size_t length = (size_t)((uint64_t)size - from), got = 0;
	struct rg_json *json;
	struct rg_buf rest;
	int r = ROGER_OK;
	char *room;

	if (length == 0 || length > RG_LINE_BYTES_MAX)
		return ROGER_OK;
	rg_buf_init(&rest, RG_LINE_BYTES_MAX);
	room = rg_buf_room(&rest, length);
	r = room ? rg_file_read_at(file, room, length, (int64_t)from, &got, err)
		 : rg_fail_memory(err);
	rest.length = got;
	if (r == ROGER_OK && rg_json_read(rg_buf_str(&rest), &json, NULL) == ROGER_OK) {
		mark_line(engine, rg_buf_str(&rest), staged, count, there);
		rg_json_free(json);
	}
	rg_buf_deinit(&rest);
	return r;
}

/* Mark those of the staged messages that the end of the archive holds already. */
static int look_back(const struct rg_engine *engine, int file, int64_t size,
		     const struct rg_staged *staged, size_t count, bool *there,
		     struct roger_err *err)
{
	uint64_t from = size > LOOK_BACK_BYTES ? (uint64_t)size - LOOK_BACK_BYTES : 0;
	struct rg_lines lines;
	struct rg_line line;
	bool found;
	int r;

	rg_lines_init(&lines, file, from, (uint64_t)size);
	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found)
		mark_line(engine, line.text, staged, count, there);
	if (r == ROGER_OK)
		r = mark_end(engine, file, lines.at, size, staged, count, there, err);
	rg_lines_deinit(&lines);
	return r;
}

/* All of the staged ones that belong to the issue of the first. */
static int put_issue(struct rg_engine *engine, int folder, const struct rg_staged *staged,
		     size_t count, bool *done, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	char name[RG_FILE_NAME_BYTES];
	struct rg_buf out;
	int64_t size = 0;
	bool *there;
	size_t i;
	int r;

	there = calloc(count, sizeof *there);
	if (!there)
		return rg_fail_memory(err);
	rg_buf_init(&out, SIZE_MAX);
	rg_workspace_file_name(staged->after.issue_id, ".jsonl", name);
	r = open_lines(folder, name, &file, &size, err);
	if (r == ROGER_OK)
		r = look_back(engine, file, size, staged, count, there, err);
	for (i = 0; i < count && r == ROGER_OK; i++) {
		if (!staged[i].after.archived_at_ms ||
		    !rg_str_equal(staged[i].after.issue_id, staged->after.issue_id))
			continue;
		done[i] = true;
		if (there[i])
			continue;
		rg_buf_add(&out, engine->text.data + staged[i].from, staged[i].to - staged[i].from);
		rg_buf_add_text(&out, "}\n");
	}
	if (r == ROGER_OK && out.failed)
		r = rg_fail_memory(err);
	/* Even with nothing to add: who left what is there may have died before the sync. */
	if (r == ROGER_OK)
		r = append_lines(file, name, size, rg_buf_str(&out), err);
	rg_buf_deinit(&out);
	free(there);
	return r;
}

int rg_engine_put_archive(struct rg_engine *engine, const struct rg_staged *staged, size_t count,
			  struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	bool *done = calloc(count, sizeof *done);
	size_t i;
	int r;

	if (!done)
		return rg_fail_memory(err);
	r = open_archive_folder(engine, &folder, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		if (staged[i].after.archived_at_ms && !done[i])
			r = put_issue(engine, folder, staged + i, count - i, done + i, err);
	free(done);
	return r;
}

/* A line of the journal without its chain, to the end of its issue's file. */
static int put_again(struct rg_engine *engine, struct roger_str body, struct roger_str issue,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	char name[RG_FILE_NAME_BYTES];
	int64_t size = 0;
	int r;

	rg_workspace_file_name(issue, ".jsonl", name);
	rg_buf_add_str(&line, body);
	rg_buf_add_text(&line, "}\n");
	r = line.failed ? rg_fail_memory(err) : open_archive_folder(engine, &folder, err);
	if (r == ROGER_OK)
		r = open_lines(folder, name, &file, &size, err);
	return r < 0 ? r : append_lines(file, name, size, rg_buf_str(&line), err);
}

int rg_engine_archive_again(struct rg_engine *engine, uint64_t offset, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	struct roger_str body;
	struct rg_lines lines;
	struct rg_line line;
	uint64_t chain;
	bool found;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	rg_lines_init(&lines, rg_journal_file(engine->journal), offset, UINT64_MAX);
	r = rg_lines_next(&lines, &line, &found, err);
	if (r == ROGER_OK && (!found || !rg_chain_split(line.text, &chain, &body)))
		r = rg_fail(err, ROGER_EIO, 0, "the journal changed while it was read");
	if (r == ROGER_OK)
		r = rg_message_read_within(line.text, arena, &message, err);
	if (r == ROGER_OK)
		r = put_again(engine, body, message.issue_id, err);
	rg_lines_deinit(&lines);
	rg_arena_free(arena);
	return r;
}

int rg_engine_note_cleanup(struct rg_engine *engine, struct roger_str line, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int64_t size;
	int r;

	r = open_lines(engine->workspace->data, "cleanup_metrics.jsonl", &file, &size, err);
	if (r == ROGER_OK)
		r = append_lines(file, "cleanup_metrics.jsonl", size, line, err);
	engine->stored += r == ROGER_OK;
	return r;
}
