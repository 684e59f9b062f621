/*
 * The logs in the index: what is asked of entries, and where they stand.
 *
 * Derived like the rest.  For each file the index remembers how far it has
 * read and the last line; a file that was replaced is read from its start.
 * The tables are made by the first question.
 */
#include "index/index_db.h"

#include <stdio.h>

#include "base/id.h"
#include "host/file.h"
#include "store/file/lines.h"
#include "facts/damage.h"
#include "facts/note.h"
#include "facts/sendlog.h"

enum { STRAYS_MAX = 1000, WAIT_MS = 120000 };

static const char tables[] =
	"CREATE TABLE IF NOT EXISTS log_files(file INTEGER PRIMARY KEY, log INTEGER NOT NULL,"
	" shown TEXT NOT NULL UNIQUE, offset INTEGER NOT NULL, lines INTEGER NOT NULL,"
	" last_offset INTEGER NOT NULL, last_length INTEGER NOT NULL, last_hash INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS log_entries(position INTEGER PRIMARY KEY,"
	" log INTEGER NOT NULL, file INTEGER NOT NULL, offset INTEGER NOT NULL,"
	" length INTEGER NOT NULL, line INTEGER NOT NULL, at INTEGER NOT NULL, id TEXT, owner "
	"TEXT, task TEXT, key TEXT,"
	" target TEXT, message TEXT, cycle TEXT, state TEXT, kind TEXT, citation TEXT, step TEXT);"
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
	"NULL;"
	"CREATE TABLE IF NOT EXISTS log_strays(log INTEGER NOT NULL, file INTEGER NOT NULL,"
	" line INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL);";

/* What the index keeps of an entry. */
struct columns {
	int64_t at_ms;
	struct roger_str id, owner, task, key, target, message, cycle, state, kind, citation, step;
};

/* ------------------------------------------------------------- entries -- */

static void read_attempt(const void *record, struct columns *columns)
{
	const struct roger_attempt *attempt = record;

	*columns = (struct columns){
		.at_ms = attempt->timestamp_ms,
		.id = attempt->id,
		.owner = attempt->sender,
		.task = rg_key_task(attempt->idempotent_key),
		.key = attempt->idempotent_key,
		.target = attempt->target,
		.message = attempt->message_id,
		.cycle = attempt->cycle_id,
		.state = rg_str(rg_sendlog_outcomes[attempt->outcome]),
	};
}

static void read_dead_letter(const void *record, struct columns *columns)
{
	const struct roger_dead_letter *letter = record;

	*columns = (struct columns){
		.at_ms = letter->timestamp_ms,
		.id = letter->id,
		.owner = letter->sender,
		.task = letter->task_id,
		.key = letter->idempotent_key,
		.target = letter->target,
		.message = letter->message_id,
		.cycle = letter->cycle_id,
		.state = rg_str(rg_dead_letter_statuses[letter->status]),
	};
}

static void read_cycle(const void *record, struct columns *columns)
{
	const struct roger_cycle *cycle = record;

	*columns = (struct columns){ .at_ms = cycle->opened_at_ms, .id = cycle->id };
}

static void read_digest(const void *record, struct columns *columns)
{
	const struct roger_digest *digest = record;

	*columns = (struct columns){ .at_ms = digest->timestamp_ms,
				     .id = digest->id,
				     .cycle = digest->cycle_id };
}

static void read_damage(const void *record, struct columns *columns)
{
	const struct roger_damage *damage = record;

	*columns = (struct columns){ .at_ms = damage->noticed_at_ms, .id = damage->id };
}

static const struct {
	const struct roger_record *record;
	void (*read)(const void *record, struct columns *columns);
} logs[] = {
	[RG_LOG_SENDS] = { &rg_attempt_record, read_attempt },
	[RG_LOG_DEAD_LETTERS] = { &rg_dead_letter_record, read_dead_letter },
	[RG_LOG_CYCLES] = { &rg_cycle_record, read_cycle },
	[RG_LOG_DIGESTS] = { &rg_digest_record, read_digest },
	[RG_LOG_DAMAGE] = { &rg_damage_record, read_damage },
};

/* One of the records above. */
union entry {
	struct roger_attempt attempt;
	struct roger_dead_letter letter;
	struct roger_cycle cycle;
	struct roger_digest digest;
	struct roger_damage damage;
};

/* -------------------------------------------------------------- taking in -- */

/* One file on its way into the tables. */
struct intake {
	struct rg_index *index;
	const struct rg_log_file *file;
	int open;
	int64_t size;
	int64_t number; /* of the file in log_files */
	int64_t offset, lines, last_offset, last_length, last_hash;
	sqlite3_stmt *add, *add_stray;
};

static int prepare(struct rg_index *index, const char *sql, sqlite3_stmt **ret,
		   struct roger_err *err)
{
	if (sqlite3_prepare_v2(index->db, sql, -1, ret, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask for logs", err);
	return ROGER_OK;
}

static void bind_or_null(sqlite3_stmt *statement, int place, struct roger_str text)
{
	if (text.length)
		rg_index_bind(statement, place, text);
	else
		sqlite3_bind_null(statement, place);
}

static int add_entry(struct intake *intake, const struct rg_line *line,
		     const struct columns *columns, struct roger_err *err)
{
	const struct roger_str texts[] = { columns->id,	      columns->owner,  columns->task,
					   columns->key,      columns->target, columns->message,
					   columns->cycle,    columns->state,  columns->kind,
					   columns->citation, columns->step };
	sqlite3_stmt *add = intake->add;
	size_t i;

	sqlite3_bind_int(add, 1, (int)intake->file->log);
	sqlite3_bind_int64(add, 2, intake->number);
	sqlite3_bind_int64(add, 3, (int64_t)line->offset);
	sqlite3_bind_int64(add, 4, (int64_t)line->length);
	sqlite3_bind_int64(add, 5, intake->lines);
	sqlite3_bind_int64(add, 6, columns->at_ms);
	for (i = 0; i < sizeof texts / sizeof *texts; i++)
		bind_or_null(add, 7 + (int)i, texts[i]);
	return rg_index_step(intake->index, add, err);
}

static int add_stray(struct intake *intake, const struct rg_line *line, struct roger_err *err)
{
	sqlite3_bind_int(intake->add_stray, 1, (int)intake->file->log);
	sqlite3_bind_int64(intake->add_stray, 2, intake->number);
	sqlite3_bind_int64(intake->add_stray, 3, intake->lines);
	sqlite3_bind_int64(intake->add_stray, 4, (int64_t)line->offset);
	sqlite3_bind_int64(intake->add_stray, 5, (int64_t)line->length);
	return rg_index_step(intake->index, intake->add_stray, err);
}

/* Whose action it was, and what step of its mail, as roger's own notes name them. */
static void read_details(struct roger_str details, bool failed, struct rg_arena *arena,
			 struct columns *columns)
{
	static const char member[] = "\"agent\":";
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *value;

	if (!details.length || !memmem(details.data, details.length, member, sizeof member - 1) ||
	    rg_json_read(details, &json, NULL) < 0)
		return;
	value = rg_json_member(rg_json_root(json), "agent");
	if (!value || rg_json_kind(value) != RG_JSON_STRING || !rg_name_valid(rg_json_str(value)) ||
	    !rg_arena_copy(arena, rg_json_str(value), &columns->owner)) {
		columns->owner = (struct roger_str){ "", 0 };
		return;
	}
	columns->step = rg_note_step_name(rg_note_step(rg_json_root(json), failed));
}

static int read_activity(struct roger_str text, struct rg_arena *arena, struct rg_json **ret_json,
			 struct columns *ret_columns, struct roger_err *err)
{
	struct roger_activity activity;
	int r;

	r = rg_activity_read(text, ret_json, arena, &activity, err);
	if (r == ROGER_OK)
		*ret_columns = (struct columns){
			.at_ms = activity.at_ms,
			.task = activity.task_id,
			.state = rg_str(rg_activity_statuses[activity.outcome_status]),
			.kind = rg_str(rg_activity_types[activity.action_type]),
			.citation = activity.evidence_citation,
		};
	if (r == ROGER_OK)
		read_details(activity.action_details, activity.outcome_status != ROGER_SUCCESS,
			     arena, ret_columns);
	return r;
}

/* ROGER_EDATA: it is no entry. */
static int read_columns(enum rg_log log, struct roger_str text, struct rg_arena *arena,
			struct rg_json **ret_json, struct columns *ret_columns,
			struct roger_err *err)
{
	union entry entry = { 0 };
	int r;

	if (log == RG_LOG_ACTIVITY)
		return read_activity(text, arena, ret_json, ret_columns, err);
	r = rg_json_read(text, ret_json, err);
	if (r == ROGER_OK)
		r = rg_record_decode(logs[log].record, rg_json_root(*ret_json), &entry, arena, err);
	if (r == ROGER_OK)
		logs[log].read(&entry, ret_columns);
	return r;
}

static int take_line(struct intake *intake, const struct rg_line *line, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_json *json = NULL;
	struct columns columns;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	intake->lines++;
	intake->last_offset = (int64_t)line->offset;
	intake->last_length = (int64_t)line->length;
	intake->last_hash = (int64_t)rg_hash(0, line->text.data, line->text.length);
	r = line->too_long
		    ? ROGER_EDATA
		    : read_columns(intake->file->log, line->text, arena, &json, &columns, NULL);
	if (r == ROGER_OK)
		r = add_entry(intake, line, &columns, err);
	else if (r == ROGER_ENOMEM)
		r = rg_fail_memory(err);
	else
		r = add_stray(intake, line, err);
	rg_json_free(json);
	rg_arena_free(arena);
	return r;
}

static int take_lines(struct intake *intake, struct roger_err *err)
{
	struct rg_lines lines;
	struct rg_line line;
	bool found = true;
	int r;

	rg_lines_init(&lines, intake->open, (uint64_t)intake->offset, (uint64_t)intake->size);
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
	sqlite3_stmt *save;
	int r;

	r = prepare(intake->index,
		    "UPDATE log_files SET offset = ?2, lines = ?3, last_offset = ?4,"
		    " last_length = ?5, last_hash = ?6 WHERE file = ?1",
		    &save, err);
	if (r < 0)
		return r;
	sqlite3_bind_int64(save, 1, intake->number);
	sqlite3_bind_int64(save, 2, intake->offset);
	sqlite3_bind_int64(save, 3, intake->lines);
	sqlite3_bind_int64(save, 4, intake->last_offset);
	sqlite3_bind_int64(save, 5, intake->last_length);
	sqlite3_bind_int64(save, 6, intake->last_hash);
	r = rg_index_step(intake->index, save, err);
	sqlite3_finalize(save);
	return r;
}

static int load_file(struct intake *intake, bool *ret_known, struct roger_err *err)
{
	sqlite3_stmt *get;
	int r;

	r = prepare(intake->index,
		    "SELECT file, offset, lines, last_offset, last_length, last_hash FROM "
		    "log_files WHERE shown = ?",
		    &get, err);
	if (r < 0)
		return r;
	rg_index_bind(get, 1, intake->file->shown);
	*ret_known = sqlite3_step(get) == SQLITE_ROW;
	if (*ret_known) {
		intake->number = sqlite3_column_int64(get, 0);
		intake->offset = sqlite3_column_int64(get, 1);
		intake->lines = sqlite3_column_int64(get, 2);
		intake->last_offset = sqlite3_column_int64(get, 3);
		intake->last_length = sqlite3_column_int64(get, 4);
		intake->last_hash = sqlite3_column_int64(get, 5);
	}
	sqlite3_finalize(get);
	return ROGER_OK;
}

bool rg_index_log_same(int file, const struct rg_log_mark *mark)
{
	struct rg_buf text;
	bool same = false;
	size_t got;
	char *room;

	if (mark->length > RG_LINE_BYTES_MAX)
		return false;
	rg_buf_init(&text, RG_LINE_BYTES_MAX + 1);
	room = rg_buf_room(&text, (size_t)mark->length + 1);
	if (room &&
	    rg_file_read_at(file, room, (size_t)mark->length, mark->offset, &got, NULL) == ROGER_OK)
		same = (int64_t)rg_hash(0, room, got) == mark->hash;
	rg_buf_deinit(&text);
	return same;
}

/* Is what was read of it still there?  Its last line tells. */
static bool still_same(struct intake *intake)
{
	const struct rg_log_mark mark = { intake->last_offset, intake->last_length,
					  intake->last_hash };

	if (intake->offset == 0)
		return true;
	return intake->size >= intake->offset && rg_index_log_same(intake->open, &mark);
}

static int run_for_file(struct intake *intake, const char *sql, struct roger_err *err)
{
	sqlite3_stmt *statement;
	int r = prepare(intake->index, sql, &statement, err);

	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, intake->number);
	r = rg_index_step(intake->index, statement, err);
	sqlite3_finalize(statement);
	return r;
}

static int forget_file(struct intake *intake, struct roger_err *err)
{
	int r;

	intake->offset = intake->lines = 0;
	intake->last_offset = intake->last_length = intake->last_hash = 0;
	r = run_for_file(intake, "DELETE FROM log_entries WHERE file = ?", err);
	return r < 0 ? r : run_for_file(intake, "DELETE FROM log_strays WHERE file = ?", err);
}

static int add_file(struct intake *intake, struct roger_err *err)
{
	sqlite3_stmt *add;
	int r;

	r = prepare(intake->index,
		    "INSERT INTO log_files(log, shown, offset, lines, last_offset, last_length,"
		    " last_hash) VALUES (?, ?, 0, 0, 0, 0, 0)",
		    &add, err);
	if (r < 0)
		return r;
	sqlite3_bind_int(add, 1, (int)intake->file->log);
	rg_index_bind(add, 2, intake->file->shown);
	r = rg_index_step(intake->index, add, err);
	intake->number = sqlite3_last_insert_rowid(intake->index->db);
	sqlite3_finalize(add);
	return r;
}

/* Does the file hold what the tables lack? */
static int look(struct intake *intake, bool *ret_known, bool *ret_behind, struct roger_err *err)
{
	struct rg_file_facts facts = { 0 };
	char name[512];
	int r;

	snprintf(name, sizeof name, "%.*s", RG_STR_ARGS(intake->file->name));
	r = rg_file_open(intake->file->folder, name, RG_FILE_READ, &intake->open, err);
	if (r == ROGER_OK && intake->open != RG_NO_FILE)
		r = rg_file_facts(intake->open, name, &facts, err);
	if (r == ROGER_OK)
		r = load_file(intake, ret_known, err);
	intake->size = facts.size;
	if (r == ROGER_OK)
		*ret_behind = intake->size != intake->offset || !still_same(intake);
	return r;
}

static int take_file(struct rg_index *index, const struct rg_log_file *file, struct roger_err *err)
{
	struct intake intake = { .index = index, .file = file, .open = RG_NO_FILE };
	bool known = false, behind = false;
	int r;

	r = look(&intake, &known, &behind, err);
	if (r == ROGER_OK && behind) {
		if (!known)
			r = add_file(&intake, err);
		else if (!still_same(&intake))
			r = forget_file(&intake, err);
		if (r == ROGER_OK)
			r = prepare(
				index,
				"INSERT INTO log_entries(log, file, offset, length, line, at, id,"
				" owner, task, key, target, message, cycle, state, kind, "
				"citation, step) VALUES"
				" (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
				&intake.add, err);
		if (r == ROGER_OK)
			r = prepare(index, "INSERT INTO log_strays VALUES (?,?,?,?,?)",
				    &intake.add_stray, err);
		if (r == ROGER_OK)
			r = take_lines(&intake, err);
		if (r == ROGER_OK)
			r = save_file(&intake, err);
		sqlite3_finalize(intake.add);
		sqlite3_finalize(intake.add_stray);
	}
	rg_file_close(intake.open);
	return r;
}

static bool has_tables(struct rg_index *index)
{
	return sqlite3_table_column_metadata(index->db, NULL, "log_strays", NULL, NULL, NULL, NULL,
					     NULL, NULL) == SQLITE_OK;
}

/* Without a lock: is there nothing to take in? */
static bool up_to_date(struct rg_index *index, const struct rg_log_file *files, size_t count)
{
	bool known, behind;
	size_t i;
	int r;

	if (!has_tables(index))
		return false;
	for (i = 0; i < count; i++) {
		struct intake intake = { .index = index, .file = &files[i], .open = RG_NO_FILE };

		behind = true;
		r = look(&intake, &known, &behind, NULL);
		rg_file_close(intake.open);
		if (r < 0 || behind)
			return false;
	}
	return true;
}

static int take_files(struct rg_index *index, const struct rg_log_file *files, size_t count,
		      struct roger_err *err)
{
	size_t i;
	int r;

	r = rg_index_run(index, index->in_memory ? "BEGIN" : "BEGIN IMMEDIATE", err);
	if (r < 0)
		return r;
	if (!has_tables(index))
		r = rg_index_run(index, tables, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = take_file(index, &files[i], err);
	if (r == ROGER_OK)
		r = rg_index_run(index, "COMMIT", err);
	if (r < 0)
		rg_index_rollback(index);
	return r;
}

int rg_index_refresh_logs(struct rg_index *index, const struct rg_log_file *files, size_t count,
			  struct roger_err *err)
{
	int r;

	if (up_to_date(index, files, count))
		return ROGER_OK;
	if (index->in_memory)
		return take_files(index, files, count, err);
	r = rg_journal_take(index->journal, RG_LOCK_INDEX, WAIT_MS, err);
	if (r < 0)
		return r;
	r = rg_index_reopen(index, err);
	if (r == ROGER_OK)
		r = take_files(index, files, count, err);
	rg_journal_release(index->journal, RG_LOCK_INDEX);
	return r;
}

/* ------------------------------------------------------------ questions -- */

struct condition {
	const char *sql;
	struct roger_str text;
	int64_t number;
};

static size_t conditions_of(const struct rg_log_query *query, struct condition to[16])
{
	const struct condition all[] = {
		{ " AND e.owner = ?", query->owner, 0 },
		{ " AND e.id = ?", query->id, 0 },
		{ " AND e.task = ?", query->task, 0 },
		{ " AND e.key = ?", query->key, 0 },
		{ " AND e.target = ?", query->target, 0 },
		{ " AND e.message = ?", query->message, 0 },
		{ " AND e.cycle = ?", query->cycle, 0 },
		{ " AND e.state = ?", query->state, 0 },
		{ " AND e.kind = ?", query->kind, 0 },
		{ " AND e.citation = ?", query->citation, 0 },
		{ " AND e.step = ?", query->step, 0 },
		{ " AND e.at >= ?", { "", 0 }, query->since_ms },
		{ " AND e.at < ?", { "", 0 }, query->until_ms },
		{ query->newest ? " AND e.position < ?" : " AND e.position > ?",
		  { "", 0 },
		  query->after },
	};
	size_t count = 0, i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].text.length || all[i].number)
			to[count++] = all[i];
	return count;
}

/* Few entries are of a key, target or message; SQLite has no figures to know that by. */
static bool is_narrow(const struct rg_log_query *query)
{
	return query->id.length || query->key.length || query->target.length ||
	       query->message.length || query->message_count || query->step.length;
}

static void add_messages(struct rg_buf *sql, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		rg_buf_add_text(sql, i ? ",?" : " AND e.message IN (?");
	if (count)
		rg_buf_add_char(sql, ')');
}

static int ask(struct rg_index *index, const struct rg_log_query *query, sqlite3_stmt **ret,
	       struct roger_err *err)
{
	struct condition conditions[16];
	size_t count = conditions_of(query, conditions), i;
	struct rg_buf sql;
	int place = 1, r;

	rg_buf_init(&sql, 65536);
	rg_buf_add_text(&sql, "SELECT f.shown, e.offset, e.length, e.position, e.line, e.at,"
			      " f.last_offset, f.last_length, f.last_hash FROM "
			      "log_entries e CROSS JOIN log_files f ON f.file = e.file WHERE ");
	rg_buf_add_text(&sql, is_narrow(query) ? "+e.log = ?" : "e.log = ?");
	for (i = 0; i < count; i++)
		rg_buf_add_text(&sql, conditions[i].sql);
	add_messages(&sql, query->message_count);
	rg_buf_add_text(&sql, query->newest ? " ORDER BY e.position DESC LIMIT ?"
					    : " ORDER BY e.position LIMIT ?");
	rg_buf_add_char(&sql, '\0');
	r = sql.failed ? rg_fail_memory(err) : prepare(index, sql.data, ret, err);
	rg_buf_deinit(&sql);
	if (r < 0)
		return r;
	sqlite3_bind_int(*ret, place++, (int)query->log);
	for (i = 0; i < count; i++) {
		if (conditions[i].text.length)
			rg_index_bind(*ret, place++, conditions[i].text);
		else
			sqlite3_bind_int64(*ret, place++, conditions[i].number);
	}
	for (i = 0; i < query->message_count; i++)
		rg_index_bind(*ret, place++, query->messages[i]);
	sqlite3_bind_int64(*ret, place, query->limit ? query->limit : -1);
	return ROGER_OK;
}

/* Columns: shown, offset, length, position, line, at, and the mark of the file. */
static int collect(struct rg_index *index, sqlite3_stmt *statement, struct rg_arena *arena,
		   struct rg_log_places *ret_places, struct roger_err *err)
{
	struct rg_log_places places = { 0 };
	struct rg_log_place *place;
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		place = rg_arena_push(arena, &places.items, &places.count, sizeof *place);
		if (!place || !rg_arena_copy(arena, rg_index_column(statement, 0), &place->shown))
			break;
		place->offset = (uint64_t)sqlite3_column_int64(statement, 1);
		place->length = (size_t)sqlite3_column_int64(statement, 2);
		place->position = sqlite3_column_int64(statement, 3);
		place->line = sqlite3_column_int64(statement, 4);
		place->at_ms = sqlite3_column_int64(statement, 5);
		place->mark = (struct rg_log_mark){ sqlite3_column_int64(statement, 6),
						    sqlite3_column_int64(statement, 7),
						    sqlite3_column_int64(statement, 8) };
	}
	sqlite3_finalize(statement);
	if (step == SQLITE_ROW)
		return rg_fail_memory(err);
	if (step != SQLITE_DONE)
		return rg_index_fail(index, "read logs", err);
	*ret_places = places;
	return ROGER_OK;
}

int rg_index_find_log(struct rg_index *index, const struct rg_log_query *query,
		      struct rg_arena *arena, struct rg_log_places *ret_places,
		      struct roger_err *err)
{
	sqlite3_stmt *statement;
	int r = ask(index, query, &statement, err);

	return r < 0 ? r : collect(index, statement, arena, ret_places, err);
}

int rg_index_log_strays(struct rg_index *index, enum rg_log log, struct rg_arena *arena,
			struct rg_log_places *ret_places, struct roger_err *err)
{
	sqlite3_stmt *statement;
	int r;

	r = prepare(
		index,
		"SELECT f.shown, s.offset, s.length, 0, s.line, 0, f.last_offset, f.last_length,"
		" f.last_hash FROM log_strays s JOIN log_files f ON f.file = s.file WHERE s.log = "
		"?1 ORDER BY f.shown, s.line LIMIT ?2",
		&statement, err);
	if (r < 0)
		return r;
	sqlite3_bind_int(statement, 1, (int)log);
	sqlite3_bind_int(statement, 2, STRAYS_MAX);
	return collect(index, statement, arena, ret_places, err);
}
