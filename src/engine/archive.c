/* messages_archive/<issue>.jsonl: append-only, written under the change lock. */
#include "engine/inside.h"

#include "base/table.h"
#include "facts/message.h"

/* A crash between writing the archive and the journal leaves the last batch in both, so this much
 * of the archive's end is searched for ids that are there already. */
enum { LOOK_BACK_BYTES = 4 << 20 };

/* A staged message, identified by the start of its line. */
struct staged_head {
	uint64_t hash;
	uint64_t there;
};

static struct roger_str text_of(const struct rg_engine *engine, const struct rg_staged *staged)
{
	return (struct roger_str){ engine->text.data + staged->from, staged->to - staged->from };
}

/* A line that starts like roger's but was cut off does not count. */
static bool is_whole(struct roger_str line)
{
	union rg_log_record record;
	struct rg_arena *arena = rg_arena_new();
	bool whole = arena && rg_kind_read(RG_LOG_ARCHIVE, line, arena, &record, NULL) == ROGER_OK;

	rg_arena_free(arena);
	return whole;
}

/* Mark the staged messages that the end of the archive already has. */
static int look_back(struct rg_engine *engine, struct rg_log_file *archive, struct rg_table *heads,
		     struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(engine->store, archive);
	struct staged_head *head;
	struct rg_lines lines;
	struct rg_line line;
	uint64_t hash;
	bool found;
	int r;

	r = engine->store->ops->stat(engine->store, archive, &found, err);
	if (r < 0)
		return r;
	rg_lines_init(&lines, &bytes,
		      archive->size > LOOK_BACK_BYTES ? archive->size - LOOK_BACK_BYTES : 0,
		      archive->size);
	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found)
		if (rg_archive_head(line.text, &hash) && (head = rg_table_find(heads, hash)))
			head->there |= is_whole(line.text);
	rg_lines_deinit(&lines);
	return r;
}

static bool is_of(const struct rg_staged *staged, struct roger_str issue)
{
	return staged->after.archived_at_ms && rg_str_equal(staged->after.issue_id, issue);
}

static int note_heads(const struct rg_engine *engine, const struct rg_staged *staged, size_t count,
		      struct rg_table *heads, struct roger_err *err)
{
	uint64_t hash;
	bool fresh;
	size_t i;

	for (i = 0; i < count; i++)
		if (is_of(&staged[i], staged->after.issue_id) &&
		    rg_archive_head(text_of(engine, &staged[i]), &hash) &&
		    !rg_table_put(heads, hash, &fresh))
			return rg_fail_memory(err);
	return ROGER_OK;
}

/* Print all staged messages of the first one's issue, except those that are in the archive. */
static void print_issue(const struct rg_engine *engine, const struct rg_staged *staged,
			size_t count, const struct rg_table *heads, struct rg_buf *out)
{
	const struct staged_head *head;
	uint64_t hash;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!is_of(&staged[i], staged->after.issue_id))
			continue;
		head = rg_archive_head(text_of(engine, &staged[i]), &hash)
			       ? rg_table_find(heads, hash)
			       : NULL;
		if (head && head->there)
			continue;
		rg_buf_add_str(out, text_of(engine, &staged[i]));
		rg_buf_add_text(out, "}\n");
	}
}

static int put_issue(struct rg_engine *engine, const struct rg_staged *staged, size_t count,
		     struct rg_arena *arena, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	const struct roger_str issue = staged->after.issue_id;
	struct rg_log_files files = { 0 };
	struct rg_table heads;
	int r;

	rg_table_init(&heads, sizeof(struct staged_head));
	/* Create it and close off a torn last line, which may lack no more than its newline. */
	r = rg_engine_log_add(engine, RG_LOG_ARCHIVE, issue, RG_STR(""), false, err);
	if (r == ROGER_OK)
		r = engine->store->ops->list(engine->store, RG_LOG_ARCHIVE, issue, arena, &files,
					     err);
	if (r == ROGER_OK)
		r = note_heads(engine, staged, count, &heads, err);
	if (r == ROGER_OK)
		r = look_back(engine, files.items, &heads, err);
	print_issue(engine, staged, count, &heads, &out);
	if (r == ROGER_OK && out.failed)
		r = rg_fail_memory(err);
	/* Even with nothing to add: the writer of what is there may have died before its sync. */
	if (r == ROGER_OK)
		r = rg_engine_log_add(engine, RG_LOG_ARCHIVE, issue, rg_buf_str(&out), true, err);
	rg_table_deinit(&heads);
	return r;
}

int rg_engine_put_archive(struct rg_engine *engine, const struct rg_staged *staged, size_t count,
			  struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	int r = arena ? ROGER_OK : rg_fail_memory(err);
	size_t i, k;

	for (i = 0; i < count && r == ROGER_OK; i++) {
		for (k = 0; k < i && !is_of(&staged[k], staged[i].after.issue_id);)
			k++;
		if (staged[i].after.archived_at_ms && k == i)
			r = put_issue(engine, staged + i, count - i, arena, err);
	}
	rg_arena_free(arena);
	return r;
}

int rg_engine_line_at(struct rg_engine *engine, uint64_t offset, struct rg_arena *arena,
		      struct roger_str *ret_text, struct roger_message *ret_message,
		      struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(engine->store, &rg_store_messages);
	struct rg_lines lines;
	struct rg_line line;
	bool found;
	int r;

	rg_lines_init(&lines, &bytes, offset, UINT64_MAX);
	r = rg_lines_next(&lines, &line, &found, err);
	if (r == ROGER_OK && !found)
		r = rg_fail(err, ROGER_EIO, 0, "the journal became shorter while it was read");
	if (r == ROGER_OK && !rg_arena_copy(arena, line.text, ret_text))
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = rg_message_read_within(*ret_text, arena, ret_message, err);
	rg_lines_deinit(&lines);
	return r;
}

int rg_engine_archive_again(struct rg_engine *engine, uint64_t offset, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf again = { .maximum = SIZE_MAX };
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	struct roger_str line, body;
	uint64_t chain;
	int r;

	r = arena ? rg_engine_line_at(engine, offset, arena, &line, &message, err)
		  : rg_fail_memory(err);
	if (r == ROGER_OK && !rg_chain_split(line, &chain, &body))
		r = rg_fail(err, ROGER_EIO, 0, "the journal changed while it was read");
	if (r == ROGER_OK) {
		rg_buf_add_str(&again, body);
		rg_buf_add_text(&again, "}\n");
		r = again.failed ? rg_fail_memory(err)
				 : rg_engine_log_add(engine, RG_LOG_ARCHIVE, message.issue_id,
						     rg_buf_str(&again), true, err);
	}
	rg_arena_free(arena);
	return r;
}
