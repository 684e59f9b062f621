/* messages_archive/<issue>.jsonl: append-only, written under the change lock. */
#include "engine/inside.h"

#include "facts/message.h"

/* A crash between writing the archive and the journal leaves the last batch in both, so this much
 * of the archive's end is searched for ids that are there already. */
enum { LOOK_BACK_BYTES = 4 << 20 };

/* The handle remembers up to this many lines, so that the next look reads only new ones; twice what
 * is looked back at, and at most 1 MiB for each handle of a server. */
enum { SEEN_MAX = 1 << 15 };

/* Where the last line with this start is. */
struct seen_line {
	uint64_t hash;
	uint64_t offset;
};

static struct roger_str text_of(const struct rg_engine *engine, const struct rg_staged *staged)
{
	return (struct roger_str){ engine->text.data + staged->from, staged->to - staged->from };
}

/* Note the lines at the end of the archive. */
static int look_back(struct rg_engine *engine, struct rg_log_file *archive, struct roger_err *err)
{
	struct rg_archive_seen *seen = &engine->archive_seen;
	struct seen_line *place;
	RG_CLEANUP(rg_lines_deinit) struct rg_lines lines = { 0 };
	struct rg_line line;
	uint64_t hash;
	bool found;
	int r;

	r = engine->store->ops->stat(engine->store, archive, &found, err);
	if (r < 0)
		return r;
	if (!seen->lines.entry_size || seen->inode != archive->inode ||
	    seen->device != archive->device || archive->size < seen->to ||
	    seen->lines.count > SEEN_MAX) {
		rg_table_deinit(&seen->lines);
		rg_table_init(&seen->lines, sizeof *place);
		seen->device = archive->device;
		seen->inode = archive->inode;
		seen->to = archive->size > LOOK_BACK_BYTES ? archive->size - LOOK_BACK_BYTES : 0;
	}
	lines = rg_lines_of(engine->store, archive, seen->to, archive->size);
	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found) {
		if (!rg_archive_head(line.text, &hash))
			continue;
		place = rg_table_put(&seen->lines, hash, &found);
		if (!place)
			return rg_fail_memory(err);
		place->offset = line.offset;
	}
	if (r == ROGER_OK)
		seen->to = lines.at;
	return r;
}

/* Does the archive have a whole line with this start?  A line that was cut off, or changed since,
 * does not count. */
static int look_at(struct rg_engine *engine, const struct rg_log_file *archive, uint64_t hash,
		   bool *ret_there, struct roger_err *err)
{
	const struct seen_line *seen = rg_table_find(&engine->archive_seen.lines, hash);
	RG_CLEANUP(rg_lines_deinit) struct rg_lines lines = { 0 };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	union rg_log_record record;
	struct rg_line line;
	uint64_t there;
	int r;

	*ret_there = false;
	if (!seen)
		return ROGER_OK;
	lines = rg_lines_of(engine->store, archive, seen->offset, archive->size);
	r = rg_lines_next(&lines, &line, ret_there, err);
	if (r < 0 || !*ret_there)
		return r;
	arena = rg_arena_new();
	*ret_there = arena && rg_archive_head(line.text, &there) && there == hash &&
		     rg_log_kind_read(RG_LOG_ARCHIVE, line.text, arena, &record, NULL) == ROGER_OK;
	return ROGER_OK;
}

static bool is_of(const struct rg_staged *staged, struct roger_str issue)
{
	return staged->after.archived_at_ms && rg_str_equal(staged->after.issue, issue);
}

/* Print all staged messages of the issue, except those that are in the archive. */
static int print_issue(struct rg_engine *engine, const struct rg_log_file *archive,
		       struct roger_str issue, struct rg_buf *out, struct roger_err *err)
{
	const struct rg_staged *staged = engine->staged, *end = staged + engine->staged_count;
	bool there;
	uint64_t hash;
	int r = ROGER_OK;

	for (; staged < end && r == ROGER_OK; staged++) {
		if (!is_of(staged, issue))
			continue;
		there = false;
		if (rg_archive_head(text_of(engine, staged), &hash))
			r = look_at(engine, archive, hash, &there, err);
		if (r < 0 || there)
			continue;
		rg_buf_add_str(out, text_of(engine, staged));
		rg_buf_add_text(out, "}\n");
	}
	return r < 0 || !out->failed ? r : rg_fail_memory(err);
}

static int put_issue(struct rg_engine *engine, struct roger_str issue, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files = { 0 };
	int r = rg_kept(arena, err);

	rg_assert(engine->exclusive);
	/* Create it and close off a torn last line, which may lack no more than its newline. */
	if (r == ROGER_OK)
		r = rg_engine_log_add(engine, RG_LOG_ARCHIVE, issue, RG_STR(""), false, err);
	if (r == ROGER_OK)
		r = engine->store->ops->list(engine->store, RG_LOG_ARCHIVE, issue, arena, &files,
					     err);
	if (r == ROGER_OK)
		r = look_back(engine, files.items, err);
	if (r == ROGER_OK)
		r = print_issue(engine, files.items, issue, &out, err);
	/* Sync even with nothing to add: the writer of the lines may have died before its sync. */
	if (r == ROGER_OK)
		r = rg_engine_log_add(engine, RG_LOG_ARCHIVE, issue, rg_buf_str(&out), true, err);
	return r;
}

int rg_engine_put_archive(struct rg_engine *engine, struct roger_err *err)
{
	const struct rg_staged *staged = engine->staged;
	size_t i, k;
	int r = ROGER_OK;

	for (i = 0; i < engine->staged_count && r == ROGER_OK; i++) {
		if (!staged[i].after.archived_at_ms)
			continue;
		for (k = 0; !is_of(&staged[k], staged[i].after.issue);)
			k++;
		if (k == i)
			r = put_issue(engine, staged[i].after.issue, err);
	}
	return r;
}

int rg_engine_line_at(struct rg_engine *engine, uint64_t offset, struct rg_arena *arena,
		      struct roger_str *ret_text, struct roger_message *ret_message,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(engine->store, &rg_store_messages, offset, UINT64_MAX);
	struct rg_line line;
	bool found;
	int r = rg_lines_next(&lines, &line, &found, err);

	if (r < 0)
		return r;
	if (!found)
		return rg_bytes_fail_short(&lines.bytes, err);
	if (!rg_arena_copy(arena, line.text, ret_text))
		return rg_fail_memory(err);
	return rg_message_read_within(*ret_text, arena, ret_message, err);
}

int rg_engine_archive_again(struct rg_engine *engine, uint64_t offset, bool own,
			    struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf again = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	struct roger_str line, body;
	size_t number_at;
	uint64_t chain;
	int r;

	r = arena ? rg_engine_line_at(engine, offset, arena, &line, &message, err)
		  : rg_fail_memory(err);
	if (r < 0)
		return r;
	if (!own)
		rg_message_print(&message, &again, &number_at);
	else if (rg_chain_split(line, &chain, &body))
		rg_buf_add_str(&again, body);
	else
		return rg_fail(err, ROGER_EIO, 0, "the journal changed while it was read");
	rg_buf_add_text(&again, "}\n");
	return again.failed ? rg_fail_memory(err)
			    : rg_engine_log_add(engine, RG_LOG_ARCHIVE, message.issue,
						rg_buf_str(&again), true, err);
}
