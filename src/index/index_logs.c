/*
 * The logs in the index: their entries, and the columns they are found by.
 *
 * The index remembers how far it has read each file, and the last line; a file
 * that was replaced is read from its start.  The first query creates the tables.
 */
#include "index/index_db.h"

#include "base/id.h"
#include "store/lines.h"

enum { STRAYS_MAX = 1000, WAIT_MS = 120000 };

/* In the order of enum rg_column. */
#define COLUMNS "id, owner, task, key, target, message, cycle, state, kind, citation, step"

static const char tables[] =
	"CREATE TABLE IF NOT EXISTS log_files(file INTEGER PRIMARY KEY, offset INTEGER NOT NULL,"
	" lines INTEGER NOT NULL, last_offset INTEGER NOT NULL, last_length INTEGER NOT NULL,"
	" last_hash INTEGER NOT NULL, shown TEXT NOT NULL);"
	/* A line that is not an entry has a negative log, and the reason as text. */
	"CREATE TABLE IF NOT EXISTS log_entries(position INTEGER PRIMARY KEY,"
	" log INTEGER NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,"
	" at INTEGER NOT NULL, text TEXT NOT NULL, " COLUMNS ");"
	"CREATE INDEX IF NOT EXISTS log_entries_file ON log_entries(file);"
	/* In the order of position, which every index ends in. */
	"CREATE INDEX IF NOT EXISTS log_entries_log ON log_entries(log);"
	"CREATE INDEX IF NOT EXISTS log_entries_at ON log_entries(log, at);"
	"CREATE INDEX IF NOT EXISTS log_entries_task ON log_entries(log, task);"
	"CREATE INDEX IF NOT EXISTS log_entries_owner ON log_entries(log, owner);"
	"CREATE INDEX IF NOT EXISTS log_entries_id ON log_entries(id) WHERE id IS NOT NULL;"
	"CREATE INDEX IF NOT EXISTS log_entries_key ON log_entries(key) WHERE key IS NOT NULL;"
	"CREATE INDEX IF NOT EXISTS log_entries_target ON log_entries(target, position) WHERE "
	"target IS NOT NULL;"
	"CREATE INDEX IF NOT EXISTS log_entries_message ON log_entries(message) WHERE message IS "
	"NOT NULL;"
	"CREATE INDEX IF NOT EXISTS log_entries_step ON log_entries(owner, step) WHERE step IS NOT "
	"NULL;";

/* -------------------------------------------------------------- taking in -- */

/* One file being read into the tables. */
struct intake {
	struct rg_index *index;
	struct rg_log_file file;
	struct rg_arena *arena; /* for one line */
	int64_t size;
	int64_t number; /* of the file in log_files: hash of its name */
	int64_t offset, lines, last_offset, last_length, last_hash;
	sqlite3_stmt *add;
};

static int prepare(struct rg_index *index, const char *sql, sqlite3_stmt **ret,
		   struct roger_err *err)
{
	if (sqlite3_prepare_v2(index->db, sql, -1, ret, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask for logs", err);
	return ROGER_OK;
}

static int add_entry(struct intake *intake, bool stray, struct roger_str text,
		     const struct rg_columns *columns, struct roger_err *err)
{
	sqlite3_stmt *add = intake->add;
	int log = (int)intake->file.log, i;

	sqlite3_bind_int(add, 1, stray ? ~log : log);
	sqlite3_bind_int64(add, 2, intake->number);
	sqlite3_bind_int64(add, 3, intake->lines);
	sqlite3_bind_int64(add, 4, columns->at_ms);
	rg_index_bind(add, 5, text);
	for (i = 0; i < RG_COLUMNS; i++)
		if (columns->texts[i].length)
			rg_index_bind(add, 6 + i, columns->texts[i]);
		else
			sqlite3_bind_null(add, 6 + i);
	return rg_index_step(intake->index, add, err);
}

static int take_line(struct intake *intake, const struct rg_line *line, struct roger_err *err)
{
	struct rg_columns columns = { 0 };
	union rg_log_record record;
	struct roger_err why = { 0 };
	int r;

	rg_arena_reset(intake->arena);
	intake->lines++;
	intake->last_offset = (int64_t)line->offset;
	intake->last_length = (int64_t)line->length;
	intake->last_hash = (int64_t)rg_hash(0, line->text.data, line->text.length);
	r = line->too_long
		    ? rg_fail(&why, ROGER_EDATA, 0, "longer than %d bytes", RG_LINE_BYTES_MAX)
		    : rg_kind_read(intake->file.log, line->text, intake->arena, &record, &why);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		return add_entry(intake, true, rg_str(why.message), &columns, err);
	rg_kind_columns(intake->file.log, &record, intake->arena, &columns);
	return add_entry(intake, false, line->text, &columns, err);
}

static int take_lines(struct intake *intake, struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(intake->index->store, &intake->file);
	struct rg_lines lines;
	struct rg_line line;
	bool found = true;
	int r;

	rg_lines_init(&lines, &bytes, (uint64_t)intake->offset, (uint64_t)intake->size);
	do {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r == ROGER_OK && found)
			r = take_line(intake, &line, err);
	} while (r == ROGER_OK && found);
	intake->offset = (int64_t)lines.at;
	rg_lines_deinit(&lines);
	return r;
}

static int save_file(struct intake *intake, struct roger_err *err)
{
	const struct rg_log_file *file = &intake->file;
	const int64_t numbers[] = { intake->number,	 intake->offset,      intake->lines,
				    intake->last_offset, intake->last_length, intake->last_hash };
	sqlite3_stmt *save;
	int r, i;

	r = prepare(intake->index, "INSERT OR REPLACE INTO log_files VALUES (?,?,?,?,?,?,?)", &save,
		    err);
	if (r < 0)
		return r;
	for (i = 0; i < 6; i++)
		sqlite3_bind_int64(save, i + 1, numbers[i]);
	rg_index_bind(save, 7, file->shown);
	r = rg_index_step(intake->index, save, err);
	sqlite3_finalize(save);
	return r;
}

static int load_file(struct intake *intake, struct roger_err *err)
{
	const struct roger_str name = intake->file.shown;
	sqlite3_stmt *get;
	int r;

	r = prepare(intake->index,
		    "SELECT offset, lines, last_offset, last_length, last_hash FROM log_files"
		    " WHERE file = ?",
		    &get, err);
	if (r < 0)
		return r;
	intake->number = (int64_t)rg_hash(0, name.data, name.length);
	sqlite3_bind_int64(get, 1, intake->number);
	if (sqlite3_step(get) == SQLITE_ROW) {
		intake->offset = sqlite3_column_int64(get, 0);
		intake->lines = sqlite3_column_int64(get, 1);
		intake->last_offset = sqlite3_column_int64(get, 2);
		intake->last_length = sqlite3_column_int64(get, 3);
		intake->last_hash = sqlite3_column_int64(get, 4);
	}
	sqlite3_finalize(get);
	return ROGER_OK;
}

/* Is the last line that was read unchanged? */
static bool still_same(struct intake *intake)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_LINE_BYTES_MAX + 1 };
	size_t length = (size_t)intake->last_length, got;
	struct rg_store *store = intake->index->store;
	char *room;

	if (intake->offset == 0)
		return true;
	if (intake->size < intake->offset || intake->last_length > RG_LINE_BYTES_MAX)
		return false;
	room = rg_buf_room(&text, length + 1);
	return room &&
	       store->ops->read(store, &intake->file, (uint64_t)intake->last_offset, room, length,
				&got, NULL) == ROGER_OK &&
	       (int64_t)rg_hash(0, room, got) == intake->last_hash;
}

static int forget_file(struct intake *intake, struct roger_err *err)
{
	sqlite3_stmt *forget;
	int r;

	intake->offset = intake->lines = 0;
	intake->last_offset = intake->last_length = intake->last_hash = 0;
	r = prepare(intake->index, "DELETE FROM log_entries WHERE file = ?", &forget, err);
	if (r < 0)
		return r;
	sqlite3_bind_int64(forget, 1, intake->number);
	r = rg_index_step(intake->index, forget, err);
	sqlite3_finalize(forget);
	return r;
}

/* Does the file have more than the tables? */
static int look(struct intake *intake, bool *ret_behind, struct roger_err *err)
{
	struct rg_store *store = intake->index->store;
	bool there;
	int r;

	r = store->ops->stat(store, &intake->file, &there, err);
	if (r == ROGER_OK)
		r = load_file(intake, err);
	intake->size = (int64_t)intake->file.size;
	if (r == ROGER_OK)
		*ret_behind = intake->size != intake->offset || !still_same(intake);
	return r;
}

static int take_file(struct rg_index *index, const struct rg_log_file *file, struct roger_err *err)
{
	struct intake intake = { .index = index, .file = *file };
	bool behind = false;
	int r;

	r = look(&intake, &behind, err);
	if (r == ROGER_OK && behind) {
		if (!still_same(&intake))
			r = forget_file(&intake, err);
		if (r == ROGER_OK)
			r = prepare(index,
				    "INSERT INTO log_entries(log, file, line, at, text, " COLUMNS
				    ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
				    &intake.add, err);
		intake.arena = rg_arena_new();
		if (r == ROGER_OK && !intake.arena)
			r = rg_fail_memory(err);
		if (r == ROGER_OK)
			r = take_lines(&intake, err);
		if (r == ROGER_OK)
			r = save_file(&intake, err);
		sqlite3_finalize(intake.add);
		rg_arena_free(intake.arena);
	}
	return r;
}

static bool has_tables(struct rg_index *index)
{
	return sqlite3_table_column_metadata(index->db, NULL, "log_entries", NULL, NULL, NULL, NULL,
					     NULL, NULL) == SQLITE_OK;
}

/* Is there nothing to read?  Needs no lock. */
static bool up_to_date(struct rg_index *index, const struct rg_log_files *files)
{
	bool behind;
	size_t i;
	int r;

	if (!has_tables(index))
		return false;
	for (i = 0; i < files->count; i++) {
		struct intake intake = { .index = index, .file = files->items[i] };

		behind = true;
		r = look(&intake, &behind, NULL);
		if (r < 0 || behind)
			return false;
	}
	return true;
}

static int take_files(struct rg_index *index, const struct rg_log_files *files,
		      struct roger_err *err)
{
	size_t i;
	int r;

	r = rg_index_run(index, index->in_memory ? "BEGIN" : "BEGIN IMMEDIATE", err);
	if (r < 0)
		return r;
	if (!has_tables(index))
		r = rg_index_run(index, tables, err);
	for (i = 0; i < files->count && r == ROGER_OK; i++)
		r = take_file(index, &files->items[i], err);
	if (r == ROGER_OK)
		r = rg_index_run(index, "COMMIT", err);
	if (r < 0)
		rg_index_rollback(index);
	return r;
}

int rg_index_refresh_logs(struct rg_index *index, const struct rg_log_files *files,
			  struct roger_err *err)
{
	int r;

	if (up_to_date(index, files))
		return ROGER_OK;
	if (index->in_memory)
		return take_files(index, files, err);
	r = rg_store_take(index->store, RG_LOCK_INDEX, WAIT_MS, err);
	if (r < 0)
		return r;
	r = rg_index_reopen(index, err);
	if (r == ROGER_OK)
		r = take_files(index, files, err);
	rg_store_release(index->store, RG_LOCK_INDEX);
	return r;
}

/* ------------------------------------------------------------ questions -- */

/* Few entries share a key, target or message, or an owner and a step; SQLite has no statistics to
 * know that. */
static bool is_narrow(const struct rg_log_query *query)
{
	return query->id.length || query->key.length || query->target.length ||
	       query->message.length || query->message_count ||
	       (query->step.length && query->owner.length);
}

static void print_question(const struct rg_log_query *query, struct rg_buf *sql)
{
	size_t i;

	rg_buf_add_text(sql, "SELECT f.shown, e.text, e.position, e.line, e.at FROM log_entries e"
			     " CROSS JOIN log_files f ON f.file = e.file WHERE ");
	rg_buf_add_text(sql, is_narrow(query) ? "+e.log = ?" : "e.log = ?");
	for (i = 0; i < RG_COLUMNS; i++)
		if (query->columns[i].length)
			rg_buf_printf(sql, " AND e.%s = ?", rg_column_names[i]);
	if (query->since_ms)
		rg_buf_add_text(sql, " AND e.at >= ?");
	if (query->until_ms)
		rg_buf_add_text(sql, " AND e.at < ?");
	if (query->after)
		rg_buf_add_text(sql, query->newest ? " AND e.position < ?" : " AND e.position > ?");
	for (i = 0; i < query->message_count; i++)
		rg_buf_add_text(sql, i ? ",?" : " AND e.message IN (?");
	rg_buf_add_text(sql,
			query->message_count ? ") ORDER BY e.position" : " ORDER BY e.position");
	rg_buf_add_text(sql, query->newest ? " DESC LIMIT ?" : " LIMIT ?");
	rg_buf_add_char(sql, '\0');
}

static void bind_question(const struct rg_log_query *query, bool strays, sqlite3_stmt *statement)
{
	const int64_t numbers[] = { query->since_ms, query->until_ms, query->after };
	int place = 1;
	size_t i;

	sqlite3_bind_int(statement, place++, strays ? ~(int)query->log : (int)query->log);
	for (i = 0; i < RG_COLUMNS; i++)
		if (query->columns[i].length)
			rg_index_bind(statement, place++, query->columns[i]);
	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i])
			sqlite3_bind_int64(statement, place++, numbers[i]);
	for (i = 0; i < query->message_count; i++)
		rg_index_bind(statement, place++, query->messages[i]);
	sqlite3_bind_int64(statement, place, query->limit ? query->limit : -1);
}

struct list {
	struct rg_log_entry *items;
	size_t count;
};

/* NULL: the file may be gone since its entries were read. */
static const struct rg_log_file *file_shown(const struct rg_log_files *files,
					    struct roger_str shown)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		if (rg_str_equal(files->items[i].shown, shown))
			return &files->items[i];
	return NULL;
}

static int collect(struct rg_index *index, sqlite3_stmt *statement,
		   const struct rg_log_files *files, struct rg_arena *arena, struct list *list,
		   struct roger_err *err)
{
	const struct rg_log_file *file;
	struct rg_log_entry *entry;
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		file = file_shown(files, rg_index_column(statement, 0));
		if (!file)
			continue;
		entry = rg_arena_push(arena, &list->items, &list->count, sizeof *entry);
		if (!entry || !rg_arena_copy(arena, rg_index_column(statement, 1), &entry->text))
			return rg_fail_memory(err);
		entry->file = file->shown;
		entry->position = sqlite3_column_int64(statement, 2);
		entry->line = sqlite3_column_int64(statement, 3);
		entry->at_ms = sqlite3_column_int64(statement, 4);
	}
	return step == SQLITE_DONE ? ROGER_OK : rg_index_fail(index, "read logs", err);
}

static int ask(struct rg_index *index, const struct rg_log_query *query, bool strays,
	       const struct rg_log_files *files, struct rg_arena *arena, struct list *list,
	       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf sql = { .maximum = 65536 };
	sqlite3_stmt *statement;
	int r;

	print_question(query, &sql);
	r = sql.failed ? rg_fail_memory(err) : prepare(index, sql.data, &statement, err);
	if (r < 0)
		return r;
	bind_question(query, strays, statement);
	r = collect(index, statement, files, arena, list, err);
	sqlite3_finalize(statement);
	return r;
}

int rg_index_find_log(struct rg_index *index, const struct rg_log_query *query,
		      const struct rg_log_files *files, struct rg_arena *arena,
		      struct rg_log_entries *ret_entries, struct roger_err *err)
{
	const struct rg_log_query strays = { .log = query->log, .limit = STRAYS_MAX };
	struct list found = { 0 }, others = { 0 };
	int r;

	r = ask(index, query, false, files, arena, &found, err);
	if (r == ROGER_OK && query->strays)
		r = ask(index, &strays, true, files, arena, &others, err);
	*ret_entries =
		(struct rg_log_entries){ found.items, found.count, others.items, others.count };
	return r;
}

int rg_index_archived_issues(struct rg_index *index, struct rg_arena *arena,
			     struct roger_strs *ret_issues, struct roger_err *err)
{
	struct rg_question question;

	rg_question_init(&question, "SELECT DISTINCT issue_id FROM archived");
	return rg_index_ask_texts(index, &question, arena, ret_issues, err);
}

int rg_index_next_keyed(struct rg_index *index, struct roger_str from, struct rg_arena *arena,
			struct roger_str *ret_sender, struct roger_err *err)
{
	sqlite3_stmt *find;
	bool kept = true;
	int r;

	r = prepare(index, "SELECT sender FROM keys WHERE sender >= ? ORDER BY sender LIMIT 1",
		    &find, err);
	if (r < 0)
		return r;
	*ret_sender = (struct roger_str){ "", 0 };
	rg_index_bind(find, 1, from);
	if (sqlite3_step(find) == SQLITE_ROW)
		kept = rg_arena_copy(arena, rg_index_column(find, 0), ret_sender);
	sqlite3_finalize(find);
	return kept ? ROGER_OK : rg_fail_memory(err);
}
