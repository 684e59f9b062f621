/*
 * fill - many messages at once, for a large workspace.
 *
 *     fill journal FILE COUNT    lines of a journal, as another program writes them
 *     fill sqlite FILE COUNT     the same rows ready-made into the table of the
 *                                message storage schema, then its indexes
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"
#include "text.h"

static void fill_journal(const char *path, uint64_t count)
{
	struct bench_rows *rows = bench_rows_new();
	FILE *file = fopen(path, "w");
	struct bench_row row;

	if (!file)
		bench_die("open '%s': %s", path, strerror(errno));
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	while (count--) {
		bench_rows_next(rows, &row);
		fprintf(file,
			"{\"id\":\"%s\",\"issue_id\":\"%s\",\"from_phase\":\"%s\",\"to_phase\":\"%"
			"s\","
			"\"run_counter\":1,\"message_type\":\"%s\",\"content\":\"%.*s\","
			"\"metadata\":null,"
			"\"read\":%s,\"created_at\":%lld,\"read_at\":",
			row.id, row.issue, row.from, row.to, row.type, (int)row.content_bytes,
			row.content, row.read ? "true" : "false", (long long)row.created_at_ms);
		if (row.read)
			fprintf(file, "%lld", (long long)row.read_at_ms);
		else
			fputs("null", file);
		fprintf(file, ",\"seq\":%lld,\"epoch\":1}\n", (long long)row.seq);
	}
	if (fclose(file) != 0)
		bench_die("write '%s': %s", path, strerror(errno));
	free(rows);
}

/* ---------------------------------------------------------------- sqlite -- */

/* Nothing else is set: a larger cache, or sorting in memory, was slower. */
static const char tables[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
	"CREATE TABLE messages (id TEXT PRIMARY KEY, issue_id TEXT NOT NULL,"
	" from_phase TEXT NOT NULL, to_phase TEXT NOT NULL,"
	" run_counter INTEGER NOT NULL DEFAULT 1, message_type TEXT NOT NULL,"
	" content TEXT NOT NULL, metadata TEXT, read BOOLEAN NOT NULL DEFAULT 0,"
	" created_at INTEGER NOT NULL, read_at INTEGER);"
	"BEGIN";

static const char indexes[] =
	"CREATE INDEX idx_messages_issue_id ON messages(issue_id);"
	"CREATE INDEX idx_messages_to_phase ON messages(to_phase);"
	"CREATE INDEX idx_messages_from_phase ON messages(from_phase);"
	"CREATE INDEX idx_messages_issue_phase ON messages(issue_id, to_phase);"
	"CREATE INDEX idx_messages_issue_unread ON messages(issue_id, to_phase, read);"
	"CREATE INDEX idx_messages_created_at ON messages(created_at);"
	"CREATE INDEX idx_messages_run_counter ON messages(issue_id, run_counter);"
	"COMMIT";

static const char insert[] =
	"INSERT INTO messages(id, issue_id, from_phase, to_phase, run_counter, message_type,"
	" content, metadata, read, created_at, read_at)"
	" VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, NULL, ?7, ?8, ?9)";

static void run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		bench_die("sqlite: %s", sqlite3_errmsg(db));
}

static void insert_row(sqlite3_stmt *statement, const struct bench_row *row)
{
	sqlite3_bind_text(statement, 1, row->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, row->issue, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 3, row->from, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 4, row->to, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 5, row->type, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 6, row->content, (int)row->content_bytes, SQLITE_STATIC);
	sqlite3_bind_int(statement, 7, row->read);
	sqlite3_bind_int64(statement, 8, row->created_at_ms);
	if (row->read)
		sqlite3_bind_int64(statement, 9, row->read_at_ms);
	else
		sqlite3_bind_null(statement, 9);
	if (sqlite3_step(statement) != SQLITE_DONE)
		bench_die("sqlite: a row does not go in");
	sqlite3_reset(statement);
}

static void fill_sqlite(const char *path, uint64_t count)
{
	struct bench_rows *rows = bench_rows_new();
	sqlite3_stmt *statement;
	struct bench_row row;
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		bench_die("sqlite: open '%s'", path);
	run(db, tables);
	if (sqlite3_prepare_v2(db, insert, -1, &statement, NULL) != SQLITE_OK)
		bench_die("sqlite: %s", sqlite3_errmsg(db));
	while (count--) {
		bench_rows_next(rows, &row);
		insert_row(statement, &row);
	}
	sqlite3_finalize(statement);
	run(db, indexes);
	if (sqlite3_close(db) != SQLITE_OK)
		bench_die("sqlite: close '%s'", path);
	free(rows);
}

int main(int argc, char **argv)
{
	int64_t start_ns = bench_now_ns();

	if (argc != 4)
		bench_die("usage: fill journal|sqlite FILE COUNT");
	if (strcmp(argv[1], "journal") == 0)
		fill_journal(argv[2], bench_number(argv[3]));
	else
		fill_sqlite(argv[2], bench_number(argv[3]));
	printf("seconds %.6f\n", (double)(bench_now_ns() - start_ns) / 1e9);
	return 0;
}
