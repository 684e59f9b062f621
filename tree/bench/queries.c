/*
 * queries - what is unread, asked through the library and of SQLite itself.
 *
 *     queries WORKSPACE DATABASE TURNS
 *
 * DATABASE holds the same rows under the indexes of the message storage
 * schema alone.  Asking for what is unread of one agent has no index there
 * and takes long, so it is asked a few times only.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roger.h>

#include "lanes.h"
#include "text.h"

enum { LIMIT = 20, SLOW_TURNS = 3 };

struct asker {
	struct roger *roger;
	sqlite3 *db;
	uint64_t dice;
	char issue[24];
	char agent[24];
	int64_t seen; /* rows and counts of all answers: none may be empty altogether */
};

static struct roger_str str(const char *text)
{
	return (struct roger_str){ text, strlen(text) };
}

static void inbox(struct asker *asker, struct roger_str issue)
{
	const struct roger_inbox_request request = { .agent = str(asker->agent),
						     .issue = issue,
						     .limit = LIMIT };
	struct roger_inbox_reply reply;
	struct roger_err err;

	if (roger_inbox(asker->roger, &request, &reply, &err) < 0)
		bench_die("inbox: %s", err.message);
	asker->seen += (int64_t)reply.messages.count;
	roger_reply_free(&reply);
}

static void count(struct asker *asker, struct roger_str issue)
{
	const struct roger_list_request request = { .to = str(asker->agent),
						    .issue = issue,
						    .unread = true };
	struct roger_count_reply reply;
	struct roger_err err;

	if (roger_count(asker->roger, &request, &reply, &err) < 0)
		bench_die("count: %s", err.message);
	asker->seen += reply.count;
	roger_reply_free(&reply);
}

static void inbox_of_issue(struct asker *asker)
{
	inbox(asker, str(asker->issue));
}

static void inbox_of_all(struct asker *asker)
{
	inbox(asker, (struct roger_str){ 0 });
}

static void count_of_issue(struct asker *asker)
{
	count(asker, str(asker->issue));
}

static void count_of_all(struct asker *asker)
{
	count(asker, (struct roger_str){ 0 });
}

static void select_rows(struct asker *asker, sqlite3_stmt *statement)
{
	sqlite3_bind_text(statement, 1, asker->agent, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, asker->issue, -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW)
		asker->seen += sqlite3_column_int64(statement, 0) != 0;
	sqlite3_reset(statement);
}

static sqlite3_stmt *prepare(struct asker *asker, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(asker->db, sql, -1, &statement, NULL) != SQLITE_OK)
		bench_die("sqlite: %s", sqlite3_errmsg(asker->db));
	return statement;
}

/* --------------------------------------------------------------- measure -- */

static void choose(struct asker *asker)
{
	uint64_t dice = bench_random(&asker->dice);

	snprintf(asker->agent, sizeof asker->agent, "agent-%d", (int)(dice % BENCH_AGENTS));
	snprintf(asker->issue, sizeof asker->issue, "project-%d",
		 (int)((dice >> 16) % BENCH_ISSUES));
}

static void measure(struct asker *asker, const char *name, size_t turns,
		    void (*ask)(struct asker *), sqlite3_stmt *statement)
{
	uint32_t *spans = calloc(turns, sizeof *spans);
	int64_t before_ns;
	size_t i;

	if (!spans)
		bench_die("out of memory");
	asker->seen = 0;
	for (i = 0; i < turns; i++) {
		choose(asker);
		before_ns = bench_now_ns();
		if (ask)
			ask(asker);
		else
			select_rows(asker, statement);
		spans[i] = (uint32_t)(bench_now_ns() - before_ns);
	}
	if (!asker->seen)
		bench_die("%s: nothing was ever there", name);
	bench_print_spans(name, spans, turns);
	free(spans);
}

int main(int argc, char **argv)
{
	static const char of_issue[] = "SELECT rowid, id, from_phase, run_counter, message_type, "
				       "content, metadata, created_at"
				       " FROM messages WHERE to_phase = ?1 AND issue_id = ?2 AND "
				       "read = 0 ORDER BY created_at LIMIT 20";
	static const char of_all[] = "SELECT rowid, id, from_phase, run_counter, message_type, "
				     "content, metadata, created_at"
				     " FROM messages WHERE to_phase = ?1 AND read = 0 AND ?2 <> '' "
				     "ORDER BY created_at LIMIT 20";
	struct asker asker = { .dice = 7 };
	struct roger_err err;
	size_t turns;

	if (argc != 4)
		bench_die("usage: queries WORKSPACE DATABASE TURNS");
	turns = bench_number(argv[3]);
	if (roger_open(argv[1], &asker.roger, &err) < 0)
		bench_die("open: %s", err.message);
	if (sqlite3_open_v2(argv[2], &asker.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		bench_die("sqlite: open '%s'", argv[2]);

	/* The first question opens the index; a long-lived program does that once. */
	choose(&asker);
	inbox_of_issue(&asker);
	measure(&asker, "inbox_of_issue", turns, inbox_of_issue, NULL);
	measure(&asker, "inbox_of_all", turns, inbox_of_all, NULL);
	measure(&asker, "count_of_issue", turns, count_of_issue, NULL);
	measure(&asker, "count_of_all", turns, count_of_all, NULL);
	measure(&asker, "select_of_issue", turns, NULL, prepare(&asker, of_issue));
	measure(&asker, "select_of_all", SLOW_TURNS, NULL, prepare(&asker, of_all));
	return 0;
}
