/* runner: sanitized */
/*
 * What index/index.h promises of messages.db: the seed's table and its seven
 * indexes stand in it as the seed has them; whichever way it came about, it
 * holds the same rows in every table; and missing, stale, damaged, of another
 * version, boot or journal, deleted in mid-use or not a file at all, it never
 * keeps a message from being found.
 */
#include "place.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/inside.h"
#include "harsh.h"
#include "host/config.h"
#include "host/workspace.h"
#include "index/index_vfs.h"
#include "ops/op.h"

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof *place);

	place_make(place);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	place_remove(*state);
	free(*state);
	return 0;
}

static void send(struct roger *roger, const char *from, const char *to, const char *content)
{
	assert_int_equal(place_send(roger, from, to, "i", content, "", NULL), ROGER_OK);
}

/* ------------------------------------------------------------- dumping -- */

static struct rg_index_vfs vfs;

/* The index; one at a time. */
static sqlite3 *open_db(const struct place *place, int flags)
{
	static char recent[sizeof place->index + 16];
	sqlite3 *db = NULL;

	vfs = (struct rg_index_vfs){ 0 };
	snprintf(recent, sizeof recent, "%s-recent", place->index);
	vfs.recent = recent;
	assert_int_equal(rg_index_vfs_open(&vfs, place->index, flags, &db), SQLITE_OK);
	return db;
}

/* messages.db, as any program opens it. */
static sqlite3 *open_seed(const struct place *place)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(place->database, &db, SQLITE_OPEN_READWRITE, NULL),
			 SQLITE_OK);
	return db;
}

static void rebuild(const struct place *place);

static void run_sql(const struct place *place, const char *sql)
{
	sqlite3 *db = open_db(place, SQLITE_OPEN_READWRITE);

	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void dump_query(sqlite3 *db, const char *sql, struct rg_buf *out)
{
	sqlite3_stmt *rows = NULL;
	int i;

	if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	while (sqlite3_step(rows) == SQLITE_ROW) {
		for (i = 0; i < sqlite3_column_count(rows); i++)
			rg_buf_printf(out, "%s%s", i ? "|" : "",
				      /* Each index has a key of its own. */
				      !strcmp(sqlite3_column_name(rows, i), "hash") ||
						      !strcmp(sqlite3_column_name(rows, i), "value")
					      ? "#"
				      : sqlite3_column_type(rows, i) == SQLITE_NULL
					      ? "NULL"
					      : (const char *)sqlite3_column_text(rows, i));
		rg_buf_add_char(out, '\n');
	}
	sqlite3_finalize(rows);
}

static bool has_rowid(sqlite3 *db, const char *table)
{
	char sql[200];
	sqlite3_stmt *probe = NULL;
	int r;

	snprintf(sql, sizeof sql, "SELECT rowid FROM %s", table);
	r = sqlite3_prepare_v2(db, sql, -1, &probe, NULL);
	sqlite3_finalize(probe);
	return r == SQLITE_OK;
}

/* Of these logs, in the order of their lines. */
#define EVENTS                                                                                     \
	"SELECT log, file, line, kind, of, at, byte, length, sum, flags, number, outcome, before," \
	" since, open, bytes, detail, words, id, actor, task, key, peer, message, cycle, state,"   \
	" type, evidence, step FROM event WHERE log IN (%s) ORDER BY 1, 2, 3, 4, 5, 6"

/*
 * Every row of every table, with its position.  The full-text table is filled
 * by whoever searches and has a shape of its own; how far it is filled differs.
 */
static void dump(const struct place *place, struct rg_buf *out)
{
	sqlite3 *db = open_db(place, SQLITE_OPEN_READONLY);
	sqlite3_stmt *tables = NULL;
	char sql[400];

	rg_buf_clear(out);
	assert_int_equal(
		sqlite3_prepare_v2(
			db,
			"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
			"'search%'"
			" AND name NOT LIKE 'sqlite_%' AND name NOT IN ('progress', 'event_files') "
			"ORDER BY name",
			-1, &tables, NULL),
		SQLITE_OK);
	while (sqlite3_step(tables) == SQLITE_ROW) {
		const char *table = (const char *)sqlite3_column_text(tables, 0);

		rg_buf_printf(out, "-- %s\n", table);
		/* Events stand in the order in which their journals were read; of these here all
		 * are read by then, and no question adds to them. */
		if (!strcmp(table, "event"))
			snprintf(sql, sizeof sql, EVENTS, "0, 2, 3");
		else
			snprintf(sql, sizeof sql, "SELECT %s* FROM %s ORDER BY 1, 2",
				 has_rowid(db, table) ? "rowid, " : "", table);
		dump_query(db, sql, out);
	}
	sqlite3_finalize(tables);
	rg_buf_add_text(out, "-- progress\n");
	dump_query(db,
		   "SELECT version, offset, lines, strays, archived, last_offset, "
		   "last_length, last_hash, rewrites, altered, strange"
		   " FROM progress",
		   out);
	rg_buf_add_text(out, "-- schema\n");
	dump_query(db,
		   "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'search%' "
		   "ORDER BY type, name",
		   out);
	rg_buf_add(out, "", 1);
	sqlite3_close(db);
}

/* With this question all events are in the table. */
static void report_all(struct roger *roger)
{
	const struct roger_report_request request = { 0 };
	struct roger_report_reply reply;
	struct roger_err err;

	if (roger_report(roger, &request, &reply, &err) < 0)
		fail_msg("report: %s", err.message);
	roger_reply_free(&reply);
}

/* The ids and states that list shows, living and archived, as one text. */
static void list_all(struct roger *roger, struct rg_buf *out)
{
	struct roger_list_request request = { 0 };
	struct roger_messages_reply reply;
	struct roger_err err;
	size_t i;
	int archived;

	rg_buf_clear(out);
	for (archived = 0; archived < 2; archived++) {
		request.archived = archived;
		if (roger_list(roger, &request, &reply, &err) < 0)
			fail_msg("list: %s", err.message);
		for (i = 0; i < reply.messages.count; i++)
			rg_buf_printf(out, "%s %d %s %s %s\n", reply.messages.items[i].id.data,
				      reply.messages.items[i].read, reply.messages.items[i].to.data,
				      reply.messages.items[i].content.data,
				      reply.messages.items[i].claimed_by.data);
		roger_reply_free(&reply);
	}
	rg_buf_add(out, "", 1);
}

static void check_list(const struct place *place, const struct rg_buf *expected, const char *when)
{
	struct roger *roger = place_open(place);
	struct rg_buf now;

	rg_buf_init(&now, SIZE_MAX);
	list_all(roger, &now);
	report_all(roger);
	if (strcmp(now.data, expected->data) != 0)
		fail_msg("%s: another list:\n%s\ninstead of\n%s", when, now.data, expected->data);
	rg_buf_deinit(&now);
	roger_close(roger);
}

/* ------------------------------------------------- what SQLite does -- */

enum { PAGES_MAX = 500, PAGE_BYTES = 4096 };

/* Where a page stands in the file, of the first so many. */
static off_t page_at(int64_t page)
{
	return RG_PAGES_ROOT_BYTES + page * PAGE_BYTES;
}

/* Of database files, since it was last cleared. */
static struct {
	int opens;
	bool written[PAGES_MAX + 1]; /* by number of the page */
} seen;

static sqlite3_vfs watching;
static sqlite3_io_methods watched, real;

static int watch_write(sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
	if (at >= page_at(1) && at < page_at(PAGES_MAX))
		seen.written[(at - page_at(1)) / PAGE_BYTES + 1] = true;
	return real.xWrite(file, data, length, at);
}

static int watch_open(sqlite3_vfs *own, const char *name, sqlite3_file *file, int flags,
		      int *ret_flags)
{
	const sqlite3_vfs *original = own->pAppData;
	int r = original->xOpen((sqlite3_vfs *)own->pAppData, name, file, flags, ret_flags);

	/* Of the index: messages.db is another matter. */
	if (r != SQLITE_OK || !name || !strstr(name, "-index"))
		return r;
	if (flags & SQLITE_OPEN_MAIN_DB) {
		seen.opens++;
		real = watched = *file->pMethods;
		watched.xWrite = watch_write;
		file->pMethods = &watched;
	}
	return r;
}

static void watch_sqlite(void)
{
	sqlite3_vfs *original = sqlite3_vfs_find("unix");

	watching = *original;
	watching.zName = "unix";
	watching.pAppData = original;
	watching.xOpen = watch_open;
	sqlite3_vfs_register(&watching, 1);
	memset(&seen, 0, sizeof seen);
}

/* Whether a table or an index of few rows was written: its only page is the root. */
static bool was_written(const struct place *place, const char *name)
{
	sqlite3 *db = open_db(place, SQLITE_OPEN_READONLY);
	sqlite3_stmt *get = NULL;
	int root;

	assert_int_equal(sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_master WHERE name = ?",
					    -1, &get, NULL),
			 SQLITE_OK);
	sqlite3_bind_text(get, 1, name, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(get), SQLITE_ROW);
	root = sqlite3_column_int(get, 0);
	sqlite3_finalize(get);
	sqlite3_close(db);
	return seen.written[root];
}

/* ---------------------------------------------------------- the seed's -- */

static char *read_fixture(const char *name)
{
	const char *source = getenv("ROGER_SOURCE");
	char path[4096];
	char *text = calloc(1, 8192);
	FILE *file;

	snprintf(path, sizeof path, "%s/tests/spec/%s", source ? source : ".", name);
	file = fopen(path, "r");
	if (!file || !text)
		fail_msg("no '%s'; set ROGER_SOURCE", path);
	assert_true(fread(text, 1, 8191, file) > 0);
	fclose(file);
	return text;
}

/* A statement of the seed's as SQLite keeps it: without "IF NOT EXISTS" and its semicolon. */
static void as_kept(const char *statement, size_t length, char kept[1024])
{
	const char *words = "IF NOT EXISTS ", *at = strstr(statement, words);

	assert_true(at && at < statement + length);
	snprintf(kept, 1024, "%.*s%.*s", (int)(at - statement), statement,
		 (int)(length - (size_t)(at - statement) - strlen(words)), at + strlen(words));
}

static void the_seeds_schema_stands_as_it_is(void **state)
{
	struct roger *roger = place_open(*state);
	char *schema = read_fixture("004-schema.sql"), *at, *end, kept[1024];
	struct rg_buf rows, expected;
	sqlite3 *db;

	send(roger, "a", "b", "one");
	rg_buf_init(&rows, SIZE_MAX);
	rg_buf_init(&expected, SIZE_MAX);
	list_all(roger, &rows);
	roger_close(roger);

	for (at = schema; (end = strchr(at, ';')); at = end + 1) {
		at += strspn(at, "\n ");
		as_kept(at, (size_t)(end - at), kept);
		rg_buf_printf(&expected, "%s\n", kept);
	}
	db = open_seed(*state);
	rg_buf_clear(&rows);
	dump_query(db,
		   "SELECT sql FROM sqlite_master WHERE tbl_name = 'messages' AND sql IS NOT NULL "
		   "ORDER BY rowid",
		   &rows);
	rg_buf_add(&rows, "", 1);
	rg_buf_add(&expected, "", 1);
	assert_string_equal(rows.data, expected.data);
	/* Nothing else hangs on the table but the index of its key. */
	rg_buf_clear(&rows);
	dump_query(db, "SELECT count(*) FROM sqlite_master WHERE tbl_name = 'messages'", &rows);
	assert_memory_equal(rows.data, "9\n", 2);
	rg_buf_clear(&rows);
	dump_query(db, "PRAGMA journal_mode", &rows);
	assert_true(rows.data[0] != 'w');
	sqlite3_close(db);
	rg_buf_deinit(&rows);
	rg_buf_deinit(&expected);
	free(schema);
}

static void every_column_has_its_value(void **state)
{
	static const char line[] = "{\"id\":\"msg-1\",\"issue_id\":\"i1\",\"from_phase\":\"plan\","
				   "\"to_phase\":\"test\",\"run_counter\":3,"
				   "\"message_type\":\"decision\",\"content\":\"caf\xc3\xa9\","
				   "\"metadata\":{\"k\":[1,2]},\"read\":true,"
				   "\"created_at\":1736328000000,\"read_at\":1736328000001}\n"
				   "{\"id\":\"msg-2\",\"issue_id\":\"i1\",\"from_phase\":\"plan\","
				   "\"to_phase\":\"test\",\"run_counter\":1,"
				   "\"message_type\":\"data\",\"content\":\"\",\"metadata\":null,"
				   "\"read\":false,\"created_at\":5,"
				   "\"read_at\":null}\n";
	struct roger *roger;
	struct rg_buf rows;
	sqlite3 *db;

	place_append(*state, line, strlen(line));
	rg_buf_init(&rows, SIZE_MAX);
	roger = place_open(*state);
	list_all(roger, &rows);
	roger_close(roger);
	db = open_seed(*state);
	rg_buf_clear(&rows);
	dump_query(db,
		   "SELECT rowid, *, typeof(read), typeof(read_at) FROM messages ORDER BY rowid",
		   &rows);
	rg_buf_add(&rows, "", 1);
	assert_string_equal(rows.data, "1|msg-1|i1|plan|test|3|decision|caf\xc3\xa9|{\"k\":[1,2]}|"
				       "1|1736328000000|1736328000001|"
				       "integer|integer\n"
				       "2|msg-2|i1|plan|test|1|data||NULL|0|5|NULL|integer|null\n");
	sqlite3_close(db);
	rg_buf_deinit(&rows);
}

/* ------------------------------------------ incremental equals anew -- */

static const char *const names[] = { "ann", "bob", "eve", "kim" };

static const char *a_name(void)
{
	return names[rand() % 4];
}

static struct roger_str some_id(struct roger *roger, struct roger_messages_reply *reply)
{
	struct roger_list_request request = { 0 };

	assert_int_equal(roger_list(roger, &request, reply, NULL), ROGER_OK);
	if (reply->messages.count == 0)
		return (struct roger_str){ "none", 4 };
	return reply->messages.items[(size_t)rand() % reply->messages.count].id;
}

static void receive(struct roger *roger)
{
	struct roger_inbox_request request = { .agent = str(a_name()), .limit = 1 + rand() % 3 };
	struct roger_inbox_reply reply;

	assert_int_equal(roger_receive(roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
}

static void claim(struct roger *roger)
{
	struct roger_claim_request request = { .agent = str(a_name()),
					       .worker = str(a_name()),
					       .limit = 2 };
	struct roger_messages_reply claimed, done;
	struct roger_ack_request next = { .agent = request.agent, .worker = request.worker };

	assert_int_equal(roger_claim(roger, &request, &claimed, NULL), ROGER_OK);
	if (claimed.messages.count && rand() % 2) {
		next.ids = (struct roger_strs){ &claimed.messages.items[0].id, 1 };
		if ((rand() % 2 ? roger_ack : roger_nack)(roger, &next, &done, NULL) == ROGER_OK)
			roger_reply_free(&done);
	}
	roger_reply_free(&claimed);
}

static void take_away(struct roger *roger)
{
	struct roger_archive_request request = { .unread = true };
	struct roger_messages_reply reply;
	struct roger_archive_reply done;
	struct roger_str id = some_id(roger, &reply);

	request.ids = (struct roger_strs){ &id, 1 };
	request.unread = rand() % 2;
	if (roger_archive(roger, &request, &done, NULL) == ROGER_OK)
		roger_reply_free(&done);
	roger_reply_free(&reply);
}

static void clean_up(struct roger *roger)
{
	struct roger_cleanup_request request = { .keep_per_agent = 1 + rand() % 4 };
	struct roger_archive_reply reply;
	struct roger_err err;

	if (roger_cleanup(roger, &request, &reply, &err) < 0)
		fail_msg("cleanup: %s", err.message);
	roger_reply_free(&reply);
}

static void new_session(struct roger *roger)
{
	struct roger_session_request request = { .new_ = true };
	struct roger_session_reply reply;
	struct roger_err err;

	if (roger_session(roger, &request, &reply, &err) < 0)
		fail_msg("session: %s", err.message);
	roger_reply_free(&reply);
}

static void search(struct roger *roger)
{
	struct roger_list_request request = { .text = RG_STR("word1") };
	struct roger_messages_reply reply;

	struct roger_err err;

	if (roger_list(roger, &request, &reply, &err) < 0)
		fail_msg("search: %s", err.message);
	roger_reply_free(&reply);
}

static int print_again(const struct roger_messages_reply *reply, char *line, size_t size)
{
	const struct roger_message *message;

	if (!reply->messages.count)
		return 0;
	message = &reply->messages.items[(size_t)rand() % reply->messages.count];
	return snprintf(line, size,
			"{\"id\":\"%s\",\"issue_id\":\"%s\",\"from_phase\":\"%s\","
			"\"to_phase\":\"%s\",\"run_counter\":1,\"message_type\":\"data\","
			"\"content\":\"c\",\"read\":%s,\"created_at\":1}\n",
			message->id.data, message->issue.data, message->from.data, message->to.data,
			rand() % 3 ? "false" : "true");
}

/* Lines of other programs: new messages, other states of known ones, known ids told anew, and no
 * messages at all. */
static void write_foreign(const struct place *place, struct roger *roger, int n)
{
	struct roger_messages_reply reply;
	struct roger_str id = some_id(roger, &reply);
	char line[1024];
	int length;

	switch (rand() % 8) {
	case 0:
		length = snprintf(line, sizeof line, "no message %d\n", n);
		break;
	case 1:
		length = snprintf(line, sizeof line, "{\"id\":\"half\n\n\r\n");
		break;
	case 2: /* archived, and never seen before */
		length = snprintf(line, sizeof line,
				  "{\"id\":\"far-%d\",\"issue_id\":\"i\",\"from_phase\":\"%s\","
				  "\"to_phase\":\"%s\","
				  "\"run_counter\":1,\"message_type\":\"data\",\"content\":\"c\","
				  "\"read\":true,"
				  "\"created_at\":%d,\"archived_at\":7,\"archive_reason\":\"r\"}\n",
				  n, a_name(), a_name(), n);
		break;
	case 3: /* a new state of one that is known, perhaps with another recipient and text */
		length = snprintf(
			line, sizeof line,
			"{\"id\":\"%s\",\"issue_id\":\"i%d\",\"from_phase\":\"%s\",\"to_phase\":\"%"
			"s\","
			"\"run_counter\":2,\"message_type\":\"result\",\"content\":\"changed "
			"word%d\","
			"\"metadata\":{\"n\":%d},\"read\":%s,\"created_at\":%d,\"read_at\":null}\n",
			id.data, rand() % 2, a_name(), a_name(), n, n,
			rand() % 2 ? "true" : "false", n);
		break;
	case 4: /* with numbers, links and a lease, perhaps read */
		length = snprintf(line, sizeof line,
				  "{\"id\":\"new-%d\",\"issue_id\":\"j\",\"from_phase\":\"%s\","
				  "\"to_phase\":\"%s\","
				  "\"run_counter\":1,\"message_type\":\"context\",\"content\":"
				  "\"x\",\"read\":%s,"
				  "\"created_at\":%d,\"seq\":%d,\"epoch\":1,\"idempotent_key\":\"t:"
				  "v:%d\",\"reply_to\":\"%s\","
				  "\"claimed_by\":\"w\",\"claimed_until\":9}\n",
				  n, a_name(), a_name(), rand() % 3 ? "false" : "true", n,
				  1 + rand() % 50, rand() % 5, id.data);
		break;
	case 5: /* the same line twice */
		length = snprintf(line, sizeof line,
				  "{\"id\":\"twin-%d\",\"issue_id\":\"i\",\"from_phase\":\"p\","
				  "\"to_phase\":\"q\","
				  "\"run_counter\":1,\"message_type\":\"data\",\"content\":\"c\","
				  "\"read\":false,"
				  "\"created_at\":1}\n",
				  n % 5);
		place_append(place, line, (size_t)length);
		break;
	case 6: /* unread again, or read, and otherwise the same */
		length = print_again(&reply, line, sizeof line);
		break;
	default: /* torn: the next send closes it */
		length = snprintf(line, sizeof line, "{\"id\":\"torn-%d\",\"issue", n);
		break;
	}
	place_append(place, line, (size_t)length);
	roger_reply_free(&reply);
}

/* Questions that fill the table of events: from notes alone, from the messages too, from all. */
static void ask_history(struct roger *roger)
{
	struct roger_empty_request empty = { 0 };
	struct roger_agents_reply agents;
	struct roger_status_reply status;

	switch (rand() % 3) {
	case 0:
		assert_int_equal(
			roger_agents(roger, &(struct roger_agents_request){ 0 }, &agents, NULL),
			ROGER_OK);
		roger_reply_free(&agents);
		break;
	case 1:
		assert_int_equal(roger_status(roger, &empty, &status, NULL), ROGER_OK);
		roger_reply_free(&status);
		break;
	default:
		report_all(roger);
	}
}

static void look_at_mail(struct roger *roger)
{
	const struct roger_inbox_request request = { .agent = rg_str(a_name()), .limit = 2 };
	struct roger_inbox_reply reply;

	assert_int_equal(roger_inbox(roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
}

static void do_something(const struct place *place, struct roger *roger, int n)
{
	char text[64], key[64];

	switch (rand() % 12) {
	case 0:
	case 1:
	case 2:
	case 3:
		snprintf(text, sizeof text, "text word%d", n % 7);
		snprintf(key, sizeof key, "t:v:%d", rand() % 40);
		/* Refused when a mailbox is full of unread ones: also fine. */
		(void)place_send(roger, a_name(), a_name(), rand() % 2 ? "i" : "i1", text,
				 rand() % 3 ? "" : key, NULL);
		break;
	case 4:
		receive(roger);
		break;
	case 5:
		claim(roger);
		break;
	case 6:
		take_away(roger);
		break;
	case 7:
		if (rand() % 4 == 0)
			clean_up(roger);
		break;
	case 8:
		if (rand() % 8 == 0)
			new_session(roger);
		break;
	case 9:
		search(roger);
		break;
	case 10:
		look_at_mail(roger);
		if (rand() % 2)
			ask_history(roger);
		break;
	default:
		write_foreign(place, roger, n);
	}
}

static void rebuild(const struct place *place)
{
	struct roger *roger = place_open(place);
	struct roger_empty_request request = { 0 };
	struct roger_rebuild_reply reply;
	struct roger_err err;

	if (roger_rebuild(roger, &request, &reply, &err) < 0)
		fail_msg("rebuild: %s", err.message);
	roger_reply_free(&reply);
	roger_close(roger);
}

/* Where two texts part, with the line and its heading. */
static void fail_apart(const struct rg_buf *a, const struct rg_buf *b, int seed)
{
	const char *x = a->data, *y = b->data, *line_x = x, *line_y = y;
	char heading[100] = "";

	while (*x && *x == *y) {
		if (*x == '\n') {
			line_x = x + 1;
			line_y = y + 1;
			if (!strncmp(line_x, "-- ", 3))
				snprintf(heading, sizeof heading, "%.*s",
					 (int)strcspn(line_x, "\n"), line_x);
		}
		x++;
		y++;
	}
	fail_msg("seed %d, %s: incrementally '%.*s', anew '%.*s'", seed, heading,
		 (int)strcspn(line_x, "\n"), line_x, (int)strcspn(line_y, "\n"), line_y);
}

/* The counts that are kept are what counting gives; answers with the number of messages. */
static int64_t check_counts(const struct place *place, struct roger *roger)
{
	static const char kept[] = "SELECT issue_id, context, result, decision, data FROM issues"
				   " WHERE context + result + decision + data > 0"
				   " ORDER BY issue_id";
	static const char counted[] =
		"SELECT issue_id, sum(message_type = 'context'), sum(message_type = 'result'),"
		" sum(message_type = 'decision'), sum(message_type = 'data') FROM messages"
		" GROUP BY issue_id ORDER BY issue_id";
	const struct roger_stats_request request = { 0 };
	struct roger_stats_reply reply;
	struct rg_buf keeps, counts;
	sqlite3 *db;

	assert_int_equal(roger_stats(roger, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.messages,
			 reply.context + reply.result + reply.decision + reply.data);
	rg_buf_init(&keeps, SIZE_MAX);
	rg_buf_init(&counts, SIZE_MAX);
	db = open_db(place, SQLITE_OPEN_READONLY);
	dump_query(db, kept, &keeps);
	dump_query(db, counted, &counts);
	rg_buf_printf(&keeps, "%lld|%lld", (long long)reply.messages, (long long)reply.issues);
	dump_query(db, "SELECT count(*), count(DISTINCT issue_id) FROM messages", &counts);
	sqlite3_close(db);
	rg_buf_add_char(&keeps, '\n');
	assert_int_equal(keeps.length, counts.length);
	assert_memory_equal(keeps.data, counts.data, keeps.length);
	rg_buf_deinit(&keeps);
	rg_buf_deinit(&counts);
	roger_reply_free(&reply);
	return reply.messages;
}

static void any_history_gives_the_same_rows(void **state)
{
	struct rg_buf grown, anew, list;
	struct roger *roger, *other;
	int64_t counted = 0;
	int seeds = getenv("ROGER_TEST_SLOW") ? 400 : 12, seed, n;

	(void)state;
	rg_buf_init(&grown, SIZE_MAX);
	rg_buf_init(&anew, SIZE_MAX);
	rg_buf_init(&list, SIZE_MAX);
	for (seed = 1; seed <= seeds; seed++) {
		struct place place;

		srand((unsigned)seed);
		place_make(&place);
		place_configure(&place, "size_limits:\n  max_messages_per_issue_phase: 6\n  "
					"max_messages_per_issue: 20\n");
		roger = place_open(&place);
		other = place_open(&place);
		for (n = 0; n < 150; n++)
			do_something(&place, rand() % 2 ? roger : other, n);
		list_all(roger, &list);
		report_all(roger);
		counted += check_counts(&place, roger);
		roger_close(roger);
		roger_close(other);
		dump(&place, &grown);
		rebuild(&place);
		check_list(&place, &list, "rebuilt");
		dump(&place, &anew);
		if (strcmp(grown.data, anew.data) != 0)
			fail_apart(&grown, &anew, seed);
		check_list(&place, &list, "rebuilt");
		assert_int_equal(unlink(place.index), 0);
		check_list(&place, &list, "missing");
		dump(&place, &anew);
		if (strcmp(grown.data, anew.data) != 0)
			fail_apart(&grown, &anew, seed);
		place_remove(&place);
	}
	assert_true(counted > 0);
	rg_buf_deinit(&grown);
	rg_buf_deinit(&anew);
	rg_buf_deinit(&list);
}

/* The issue's timeline reads all that is about it, and cycles and damage. */
static void ask_timeline(struct roger *roger)
{
	const struct roger_timeline_request request = { .issue = RG_STR("i") };
	struct roger_timeline_reply reply;

	assert_int_equal(roger_timeline(roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
}

static void make_damage(const struct place *place)
{
	const struct roger_accept_request accept = { .place = RG_STR("messages.jsonl:2"),
						     .reason = RG_STR("seen") };
	const struct roger_cycle_request cycle = { .new_ = true, .by = RG_STR("ann") };
	const struct roger_verify_request verify = { 0 };
	struct roger *roger = place_open(place);
	struct roger_accept_reply accepted;
	struct roger_verify_reply verified;
	struct roger_cycle_reply opened;
	char text[8192] = "", *at;
	FILE *journal;

	assert_int_equal(place_send(roger, "ann", "bob", "i", "one", "", NULL), ROGER_OK);
	assert_int_equal(place_send(roger, "ann", "bob", "i", "two", "t:v:1", NULL), ROGER_OK);
	assert_int_equal(roger_cycle(roger, &cycle, &opened, NULL), ROGER_OK);
	roger_reply_free(&opened);
	assert_int_equal(place_send(roger, "bob", "ann", "i", "three", "", NULL), ROGER_OK);
	journal = fopen(place->journal, "r+");
	assert_non_null(journal);
	assert_true(fread(text, 1, sizeof text - 1, journal) > 0);
	at = strstr(text, "two");
	assert_non_null(at);
	assert_int_equal(fseek(journal, at - text, SEEK_SET), 0);
	assert_int_equal(fputs("owt", journal) < 0, 0);
	fclose(journal);
	assert_int_equal(roger_verify(roger, &verify, &verified, NULL), ROGER_OK);
	roger_reply_free(&verified);
	assert_int_equal(roger_accept(roger, &accept, &accepted, NULL), ROGER_OK);
	roger_reply_free(&accepted);
	roger_close(roger);
}

/* Damage, also where it was accepted since, and cycles: whichever journal is read first. */
static void damage_gives_the_same_rows(void **state)
{
	struct rg_buf first, other;
	struct place place;
	struct roger *roger;
	char sql[400];
	sqlite3 *db;
	int order;

	(void)state;
	rg_buf_init(&first, SIZE_MAX);
	rg_buf_init(&other, SIZE_MAX);
	place_make(&place);
	make_damage(&place);
	snprintf(sql, sizeof sql, EVENTS, "0, 1, 2, 3, 6");
	for (order = 0; order < 3; order++) {
		if (order == 2)
			rebuild(&place);
		else if (order)
			assert_int_equal(unlink(place.index), 0);
		roger = place_open(&place);
		if (order == 1)
			report_all(roger);
		ask_timeline(roger);
		if (order == 0)
			report_all(roger);
		roger_close(roger);
		db = open_db(&place, SQLITE_OPEN_READONLY);
		rg_buf_clear(&other);
		dump_query(db, sql, order ? &other : &first);
		sqlite3_close(db);
		rg_buf_add_char(order ? &other : &first, '\0');
		if (order && strcmp(first.data, other.data) != 0)
			fail_apart(&first, &other, order);
	}
	assert_non_null(strstr(first.data, "|accepted: seen|"));
	assert_non_null(strstr(first.data, "|cycle 2|"));
	place_remove(&place);
	rg_buf_deinit(&first);
	rg_buf_deinit(&other);
}

/* ------------------------------------------------------ over the tables -- */

/* Two indexes of one journal: one keeps the lines after its tables in memory, the other has none.
 */
struct twins {
	struct roger *roger;
	struct rg_index *tail, *mover, *full;
	uint64_t end;
	int kept; /* answers for which lines were kept over the tables */
};

static struct rg_index *new_index(struct roger *roger, const char *name)
{
	static struct rg_workspace workspace;
	static struct rg_config config;
	struct rg_index *index;

	workspace = *roger->workspace;
	config = *workspace.config;
	config.database_file = str(name);
	workspace.config = &config;
	assert_int_equal(rg_index_new(roger->engine->store, &workspace, &index, NULL), ROGER_OK);
	return index;
}

static void check_messages(const struct roger_message_list *a, const struct roger_message_list *b)
{
	size_t i;

	assert_int_equal(a->count, b->count);
	for (i = 0; i < a->count; i++) {
		assert_true(rg_str_equal(a->items[i].id, b->items[i].id));
		assert_int_equal(a->items[i].position, b->items[i].position);
		assert_int_equal(a->items[i].line, b->items[i].line);
		assert_int_equal(a->items[i].byte, b->items[i].byte);
	}
}

static void check_found(const struct twins *twins, const struct rg_query *query, bool total)
{
	const struct rg_index_reach reach = { twins->end, rand() % 10 != 0 };
	struct rg_arena *arena = rg_arena_new();
	struct roger_message_list over, in;
	int64_t over_total = 0, in_total = 0;

	assert_int_equal(rg_index_answer(twins->tail, reach, query, arena, &over,
					 total ? &over_total : NULL, NULL),
			 ROGER_OK);
	assert_int_equal(
		rg_index_messages(twins->full, query, arena, &in, total ? &in_total : NULL, NULL),
		ROGER_OK);
	check_messages(&over, &in);
	assert_int_equal(over_total, in_total);
	rg_arena_free(arena);
}

static void check_mailbox(const struct twins *twins, const char *agent)
{
	const int64_t now_ms = rg_clock_ms();
	struct rg_query query = { .unread = true, .to = str(agent), .limit = 1 + rand() % 4 };
	const struct rg_index_reach reach = { twins->end, true };
	int64_t over, in;

	if (rand() % 3 == 0)
		query.issue = str(rand() % 2 ? "i" : "i1");
	if (rand() % 4 == 0)
		query.from = str(a_name());
	if (rand() % 5 == 0)
		query.limit = RG_PAGE_MAX;
	assert_int_equal(rg_index_answer(twins->tail, reach, &query, NULL, NULL, &over, NULL),
			 ROGER_OK);
	assert_int_equal(rg_index_count(twins->full, &query, &in, NULL), ROGER_OK);
	assert_int_equal(over, in);
	/* Now, and when what was claimed is free again. */
	query.free_at_ms = rand() % 3 ? now_ms : rand() % 2 ? now_ms + (1 << 20) : 0;
	check_found(twins, &query, rand() % 2);
}

static void check_ids(const struct twins *twins)
{
	const struct rg_query all = { .anywhere = true };
	struct rg_arena *arena = rg_arena_new();
	struct roger_message_list there;
	struct roger_str ids[4];
	struct rg_query query = { .ids = ids, .id_count = 1 + (size_t)rand() % 4 };
	size_t i;

	assert_int_equal(rg_index_messages(twins->full, &all, arena, &there, NULL, NULL), ROGER_OK);
	for (i = 0; i < query.id_count; i++)
		ids[i] = there.count && rand() % 9 ? there.items[(size_t)rand() % there.count].id
						   : str("none");
	query.anywhere = rand() % 2;
	query.unread = rand() % 4 == 0;
	if (rand() % 4 == 0)
		query.to = str(a_name());
	check_found(twins, &query, false);
	rg_arena_free(arena);
}

/* Lines of 3,000 messages whose clock goes back now and then; types are rare, some are archived. */
static void write_times(const struct place *place, int count)
{
	static const char *const types[] = { "context", "result", "decision", "data" };
	int64_t at_ms = 1000000;
	char line[400];
	int i, type;

	for (i = 0; i < count; i++) {
		at_ms += rand() % 500 ? rand() % 10 : -rand() % 40000;
		type = i < count / 2 ? 0 : rand() % 700 ? 3 : 1 + rand() % 2;
		place_append(
			place, line,
			(size_t)snprintf(
				line, sizeof line,
				"{\"id\":\"m-%d\",\"issue_id\":\"i\",\"from_phase\":\"%s\","
				"\"to_phase\":\"%s\",\"run_counter\":1,\"message_type\":\"%s\","
				"\"content\":\"c\",\"read\":false,\"created_at\":%lld%s}\n",
				i, a_name(), a_name(), types[type], (long long)at_ms,
				rand() % 4 ? "" : ",\"archived_at\":7,\"archive_reason\":\"r\""));
	}
}

static bool is_asked_for(const struct rg_query *query, const struct roger_message *message)
{
	return (!query->since_ms || message->created_at_ms >= query->since_ms) &&
	       (!query->until_ms || message->created_at_ms < query->until_ms) &&
	       (!query->type || message->type == query->type) &&
	       (!query->from.length || rg_str_equal(message->from, query->from)) &&
	       (query->anywhere || !message->archived_at_ms == !query->archived);
}

static struct rg_query any_time(void)
{
	struct rg_query query = { .newest = rand() % 2, .limit = rand() % 2 ? 1 + rand() % 9 : 0 };
	const int where = rand() % 3;

	query.archived = where == 1;
	query.anywhere = where == 2;
	if (rand() % 2)
		query.since_ms = 990000 + rand() % 30000;
	if (rand() % 2)
		query.until_ms = 990000 + rand() % 30000;
	if (rand() % 2)
		query.type = 1 + rand() % 4;
	if (rand() % 3 == 0)
		query.from = str(a_name());
	return query;
}

/* What is asked for by time and type is what a reader of all messages would pick. */
static void times_and_types_are_found_whatever_the_clock_did(void **state)
{
	struct roger *roger = place_open(*state);
	const struct rg_query all = { .anywhere = true };
	struct rg_arena *arena = rg_arena_new();
	struct roger_message_list there, found;
	const struct roger_message *message;
	struct rg_query query;
	int64_t count;
	size_t i, k, picked;
	int n;

	srand(7);
	write_times(*state, 3000);
	assert_int_equal(rg_engine_find(roger->engine, &all, arena, &there, NULL), ROGER_OK);
	assert_int_equal(there.count, 3000);
	for (n = 0; n < 400; n++) {
		query = any_time();
		assert_int_equal(rg_engine_find(roger->engine, &query, arena, &found, NULL),
				 ROGER_OK);
		for (i = k = picked = 0; i < there.count; i++) {
			message = &there.items[query.newest ? there.count - 1 - i : i];
			if (!is_asked_for(&query, message))
				continue;
			picked++;
			if (query.limit && k == (size_t)query.limit)
				continue;
			assert_true(k < found.count);
			assert_true(rg_str_equal(found.items[k++].id, message->id));
		}
		assert_int_equal(found.count, k);
		if (query.anywhere)
			continue;
		query.limit = 0;
		assert_int_equal(rg_index_count(roger->engine->index, &query, &count, NULL),
				 ROGER_OK);
		assert_int_equal(count, picked);
	}
	rg_arena_free(arena);
	roger_close(roger);
}

/* The first of all, or the last of all from the end: the same, be they archived or not. */
static void check_limit(const struct twins *twins)
{
	const struct rg_query all = { .anywhere = true };
	struct rg_query some = { .anywhere = true, .limit = 1 + rand() % 4, .newest = rand() % 2 };
	struct rg_arena *arena = rg_arena_new();
	struct roger_message_list there, found;
	size_t i;

	assert_int_equal(rg_index_messages(twins->full, &all, arena, &there, NULL, NULL), ROGER_OK);
	assert_int_equal(rg_index_messages(twins->full, &some, arena, &found, NULL, NULL),
			 ROGER_OK);
	assert_int_equal(found.count,
			 there.count < (size_t)some.limit ? there.count : (size_t)some.limit);
	for (i = 0; i < found.count; i++)
		assert_int_equal(found.items[i].position,
				 there.items[some.newest ? there.count - 1 - i : i].position);
	rg_arena_free(arena);
}

static void check_answers(struct twins *twins)
{
	int i;

	assert_int_equal(rg_engine_settle(twins->roger->engine, &twins->end, NULL), ROGER_OK);
	assert_int_equal(rg_index_refresh(twins->full, twins->end, NULL), ROGER_OK);
	/* As when another process takes the lines in. */
	if (rand() % 30 == 0)
		assert_int_equal(rg_index_refresh(twins->mover, twins->end, NULL), ROGER_OK);
	for (i = 0; i < 3; i++)
		check_mailbox(twins, a_name());
	check_ids(twins);
	check_limit(twins);
	twins->kept += rg_index_end(twins->tail) < twins->end;
}

static void over_the_tables_any_history_gives_the_same_answers(void **state)
{
	int seeds = getenv("ROGER_TEST_SLOW") ? 200 : 8, seed, n;

	(void)state;
	for (seed = 1; seed <= seeds; seed++) {
		struct twins twins = { 0 };
		struct place place;
		struct roger *other;

		srand((unsigned)seed);
		place_make(&place);
		place_configure(&place, "size_limits:\n  max_messages_per_issue_phase: 6\n  "
					"max_messages_per_issue: 20\n");
		twins.roger = place_open(&place);
		other = place_open(&place);
		twins.tail = new_index(twins.roger, "tail.db");
		twins.mover = new_index(twins.roger, "tail.db");
		twins.full = new_index(twins.roger, "full.db");
		for (n = 0; n < 150; n++) {
			do_something(&place, rand() % 2 ? twins.roger : other, n);
			check_answers(&twins);
		}
		assert_in_range(twins.kept, 50, 150);
		rg_index_free(twins.tail);
		rg_index_free(twins.mover);
		rg_index_free(twins.full);
		roger_close(other);
		roger_close(twins.roger);
		place_remove(&place);
	}
}

static int64_t bytes_of(const char *path)
{
	struct stat there;

	assert_int_equal(stat(path, &there), 0);
	return there.st_size;
}

/* What a line said over the tables is forgotten with the line: it was put back from a copy. */
static void what_a_lost_line_said_is_forgotten(void **state)
{
	struct place *place = *state;
	struct roger *roger = place_open(place);
	struct roger_inbox_request request = { .agent = str("b"), .limit = 1 };
	struct rg_index *index = new_index(roger, "tail.db");
	const struct rg_query unread = { .unread = true, .to = str("b"), .limit = 9 };
	struct rg_index_reach reach = { .held = true };
	struct rg_arena *arena = rg_arena_new();
	struct roger_message_list found;
	struct roger_inbox_reply reply;
	int64_t before;
	int i;

	for (i = 0; i < 3; i++)
		send(roger, "a", "b", "text");
	before = bytes_of(place->journal);
	reach.end = (uint64_t)before;
	assert_int_equal(rg_index_refresh(index, reach.end, NULL), ROGER_OK);
	assert_int_equal(roger_receive(roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	reach.end = (uint64_t)bytes_of(place->journal);
	assert_int_equal(rg_index_answer(index, reach, &unread, arena, &found, NULL, NULL),
			 ROGER_OK);
	assert_int_equal(found.count, 2);
	assert_int_equal(rg_index_end(index), before);

	/* Shorter, and then another line in its place. */
	assert_int_equal(truncate(place->journal, before), 0);
	reach.end = (uint64_t)before;
	assert_int_equal(rg_index_answer(index, reach, &unread, arena, &found, NULL, NULL),
			 ROGER_OK);
	assert_int_equal(found.count, 3);
	place_append(place, "no message\n", 11);
	reach.end += 11;
	assert_int_equal(rg_index_answer(index, reach, &unread, arena, &found, NULL, NULL),
			 ROGER_OK);
	assert_int_equal(truncate(place->journal, before), 0);
	place_append(place, "nothing here, either\n", 21);
	reach.end = (uint64_t)before + 21;
	assert_int_equal(rg_index_answer(index, reach, &unread, arena, &found, NULL, NULL),
			 ROGER_OK);
	assert_int_equal(found.count, 3);
	assert_int_equal(rg_index_seen(index), reach.end);
	rg_arena_free(arena);
	rg_index_free(index);
	roger_close(roger);
}

/* ------------------------------------------------ logs that are replaced -- */

/* One line of the log of dead letters, as another program writes it. */
static void write_letter(FILE *file, const char *cause, const char *status, const char *message)
{
	fprintf(file,
		"{\"id\":\"dl-%.3s\",\"task_id\":\"t\",\"sender\":\"ann\",\"target\":\"bob\","
		"\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"idempotent_key\":\"t:v:1\","
		"\"payload_sha256\":\"%064d\",\"payload_bytes\":2,\"attempt_count\":1,\"status\":"
		"\"%s\","
		"\"cycle_id\":\"1\",\"message_id\":\"%s\",\"cause\":\"%.3s\"}\n",
		cause, 0, status, message, cause);
}

/* A letter for each cause, of three letters. */
static void write_letters(const struct place *place, const char *name, const char *causes)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof path, "%s/.roger/%s", place->root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	for (; *causes; causes += causes[3] ? 4 : 3)
		write_letter(file, causes, "undelivered", "none");
	fclose(file);
}

/* The causes that the timeline of their task tells, which has them from the table. */
static void check_letters(struct roger *roger, const char *expected)
{
	const struct roger_timeline_request request = { .task = RG_STR("t") };
	struct roger_timeline_reply reply;
	struct roger_str words;
	char told[200] = "";
	size_t i;

	assert_int_equal(roger_timeline(roger, &request, &reply, NULL), ROGER_OK);
	for (i = 0; i < reply.events.count; i++) {
		words = reply.events.items[i].words;
		if (reply.events.items[i].kind == ROGER_EVENT_DEAD_LETTER)
			snprintf(told + strlen(told), sizeof told - strlen(told), "%s%.3s",
				 *told ? " " : "", words.data + words.length - 3);
	}
	roger_reply_free(&reply);
	assert_string_equal(told, expected);
}

/* Write that log again, and check what is told of it. */
static void replace_letters(const struct place *place, struct roger *roger, const char *causes)
{
	write_letters(place, "dead-letters.jsonl", causes);
	check_letters(roger, causes);
}

/* However soon after it was read, whoever else read it meanwhile, and where only its last line
 * tells that it is another one. */
static void a_replaced_log_is_read_again(void **state)
{
	struct place *place = *state;
	struct roger *one = place_open(place), *two = place_open(place);
	char path[200], other[200];

	snprintf(path, sizeof path, "%s/.roger/dead-letters.jsonl", place->root);
	snprintf(other, sizeof other, "%s/.roger/other", place->root);
	place_send(one, "ann", "bob", "i", "text", "t:v:1", NULL);

	replace_letters(place, one, "aaa bbb");
	check_letters(one, "aaa bbb");
	write_letters(place, "other", "aaa ccc");
	assert_int_equal(rename(other, path), 0);
	check_letters(one, "aaa ccc");
	check_letters(one, "aaa ccc");

	/* The same file, longer. */
	replace_letters(place, one, "aaa ddd eee");
	check_letters(one, "aaa ddd eee");
	/* As long as before, after another one read more of it. */
	replace_letters(place, two, "aaa ddd eee fff");
	replace_letters(place, one, "aaa ddd eee ggg");
	/* Shorter; and only its last newline is gone. */
	check_letters(one, "aaa ddd eee ggg");
	replace_letters(place, one, "hhh");
	replace_letters(place, one, "hhh iii");
	assert_int_equal(truncate(path, bytes_of(path) - 1), 0);
	check_letters(one, "hhh");
	replace_letters(place, one, "");

	/* As long as before, and the same file: after a moment. */
	replace_letters(place, one, "kkk");
	check_letters(one, "kkk");
	write_letters(place, "dead-letters.jsonl", "lll");
	rg_clock_sleep(1001);
	check_letters(one, "lll");
	roger_close(two);
	roger_close(one);
}

/* The dead letters that are open, which is all that status looks at. */
static void check_open(struct roger *roger, const struct place *place, const char *expected)
{
	struct rg_buf open;
	sqlite3 *db;

	report_all(roger);
	rg_buf_init(&open, SIZE_MAX);
	db = open_db(place, SQLITE_OPEN_READONLY);
	/* A row has no empty text, which a partial index would hold. */
	dump_query(db,
		   "SELECT 'empty' FROM event WHERE '' IN (actor, peer, message, id, detail,"
		   " words, task, key, cycle, state, type, evidence, step)",
		   &open);
	dump_query(db, "SELECT id FROM event WHERE open = 1 AND log = 2 ORDER BY position", &open);
	sqlite3_close(db);
	rg_buf_add_char(&open, '\0');
	assert_string_equal(open.data, expected);
	rg_buf_deinit(&open);
}

/* A reading, a person; and what is sent once more is open again while nobody has read it. */
static void what_settles_a_dead_letter_closes_it(void **state)
{
	static const struct {
		const char *id, *status;
		bool read;
	} letters[] = {
		{ "aaa", "undelivered", false }, { "bbb", "undelivered", true },
		{ "ccc", "undelivered", false }, { "ccc", "stale", false },
		{ "ddd", "undelivered", false }, { "ddd", "stale", false },
		{ "ddd", "redelivered", false }, { "eee", "undelivered", true },
		{ "eee", "redelivered", true },	 { "fff", "undelivered", false },
		{ "fff", "undelivered", false },
	};
	const struct roger_inbox_request all = { .agent = RG_STR("b") };
	struct roger_inbox_reply reply;
	struct place *place = *state;
	struct roger *roger = place_open(place);
	char path[200], ids[2][64];
	FILE *file;
	size_t i;

	assert_int_equal(place_send(roger, "a", "b", "i", "read", "", ids[1]), ROGER_OK);
	assert_int_equal(roger_receive(roger, &all, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	assert_int_equal(place_send(roger, "a", "b", "i", "unread", "", ids[0]), ROGER_OK);
	snprintf(path, sizeof path, "%s/.roger/dead-letters.jsonl", place->root);
	file = fopen(path, "w");
	assert_non_null(file);
	for (i = 0; i < sizeof letters / sizeof *letters; i++)
		write_letter(file, letters[i].id, letters[i].status, ids[letters[i].read]);
	fclose(file);
	check_open(roger, place, "dl-aaa\ndl-ddd\ndl-fff\n");
	assert_int_equal(roger_receive(roger, &all, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	check_open(roger, place, "");
	roger_close(roger);
}

/* ------------------------------------------------------ what it costs -- */

static const char *const message_names[] = {
	"messages",	    "sqlite_autoindex_messages_1",
	"messages_issue",   "messages_to",
	"messages_from",    "messages_unread",
	"messages_mailbox",
};

/* How many of the table of messages and its indexes were written. */
static int message_writes(const struct place *place)
{
	size_t i;
	int count = 0;

	for (i = 0; i < sizeof message_names / sizeof *message_names; i++)
		count += was_written(place, message_names[i]);
	return count;
}

/* However many messages are taken, and however: the file is opened once by each handle. */
static void taking_messages_opens_it_once(void **state)
{
	struct roger *one = place_open(*state), *two = place_open(*state);
	struct roger_inbox_request request = { .agent = str("b"), .limit = 1 };
	struct roger_inbox_reply reply;
	struct rg_buf list;
	int i;

	for (i = 0; i < 20; i++)
		send(one, "a", "b", "text");
	rg_buf_init(&list, SIZE_MAX);
	list_all(one, &list);
	list_all(two, &list);
	memset(&seen, 0, sizeof seen);
	for (i = 0; i < 20; i++) {
		assert_int_equal(roger_receive(i % 2 ? one : two, &request, &reply, NULL),
				 ROGER_OK);
		assert_int_equal(reply.messages.count, 1);
		assert_int_equal(reply.unread, 19 - i);
		roger_reply_free(&reply);
		send(one, "a", "c", "text");
		list_all(two, &list);
	}
	assert_int_equal(seen.opens, 0);
	rg_buf_deinit(&list);
	roger_close(one);
	roger_close(two);
}

static void only_what_changed_is_written(void **state)
{
	struct place *place = *state;
	struct roger *roger = place_open(place);
	struct roger_claim_request claim_request = { .agent = str("b"), .worker = str("w") };
	struct roger_ack_request settle = { .agent = str("b"), .worker = str("w") };
	struct roger_messages_reply claimed, settled;
	struct rg_buf list;
	int i;

	for (i = 0; i < 5; i++)
		send(roger, "a", "b", "text");
	rg_buf_init(&list, SIZE_MAX);
	list_all(roger, &list);

	/* A claim sets columns that are in no index. */
	memset(&seen, 0, sizeof seen);
	assert_int_equal(roger_claim(roger, &claim_request, &claimed, NULL), ROGER_OK);
	list_all(roger, &list);
	assert_true(was_written(place, "leases"));
	assert_false(was_written(place, "messages_mailbox"));
	assert_false(was_written(place, "agents"));
	assert_true(was_written(place, "messages"));
	assert_int_equal(message_writes(place), 1);

	/* Read sets a column, which is in two indexes. */
	settle.ids = (struct roger_strs){ &claimed.messages.items[0].id, 1 };
	memset(&seen, 0, sizeof seen);
	assert_int_equal(roger_ack(roger, &settle, &settled, NULL), ROGER_OK);
	list_all(roger, &list);
	assert_true(was_written(place, "messages"));
	assert_true(was_written(place, "messages_unread"));
	assert_true(was_written(place, "messages_mailbox"));
	assert_int_equal(message_writes(place), 3);
	roger_reply_free(&settled);
	roger_reply_free(&claimed);
	rg_buf_deinit(&list);
	roger_close(roger);
}

/* ------------------------------------------------------ lines of others -- */

static ino_t inode_of(const char *path)
{
	struct stat facts = { 0 };

	return stat(path, &facts) == 0 ? facts.st_ino : 0;
}

static void check_stats(struct roger *roger, const char *when, int64_t lines, int64_t strays)
{
	const struct roger_stats_request request = { 0 };
	struct roger_stats_reply reply;

	assert_int_equal(roger_stats(roger, &request, &reply, NULL), ROGER_OK);
	if (reply.journal_lines != lines || reply.strays != strays)
		fail_msg("'%s': %lld lines, %lld strays", when, (long long)reply.journal_lines,
			 (long long)reply.strays);
	roger_reply_free(&reply);
}

/* Also one that comes in pieces, or says a thing on two lines; but not what roger marked as
 * unfinished. */
static void what_is_no_message_is_counted_once(void **state)
{
	static const struct {
		const char *bytes;
		int lines, strays;
	} steps[] = {
		{ "no message\n", 1, 1 },   { "one\ntwo\n", 3, 3 },  { "{\"id\":\n\"x\"}\n", 5, 5 },
		{ "{\"id\":\"half", 5, 5 }, { " of it\"}\n", 6, 6 }, { "\n\n", 8, 8 },
		{ "a part torn\n", 9, 8 },  { "the rest", 9, 8 },
	};
	struct place *place = *state;
	struct roger *one = place_open(place), *other;
	size_t i;

	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		place_append(place, steps[i].bytes, strlen(steps[i].bytes));
		check_stats(one, steps[i].bytes, steps[i].lines, steps[i].strays);
		check_stats(one, steps[i].bytes, steps[i].lines, steps[i].strays);
	}
	send(one, "a", "b", "text");
	check_stats(one, "one handle", 11, 9);
	rebuild(place);
	check_stats(one, "rebuilt", 11, 9);
	other = place_open(place);
	check_stats(other, "another handle", 11, 9);
	roger_close(other);
	roger_close(one);
}

/* A line of a message from ann, with what differs at its beginning and at its end. */
static int print_line(char line[512], const char *id, const char *more)
{
	return snprintf(
		line, 512,
		"{\"id\":\"%s\",\"issue_id\":\"i\",\"from_phase\":\"ann\",\"run_counter\":1,"
		"\"message_type\":\"data\",\"read\":false,\"created_at\":5,%s}\n",
		id, more);
}

static void write_line(const struct place *place, const char *id, const char *more)
{
	char line[512];

	place_append(place, line, (size_t)print_line(line, id, more));
}

static void check_rows(const struct place *place, const char *sql, const char *expected)
{
	sqlite3 *db = open_db(place, SQLITE_OPEN_READONLY);
	struct rg_buf rows;

	rg_buf_init(&rows, SIZE_MAX);
	dump_query(db, sql, &rows);
	rg_buf_add(&rows, "", 1);
	assert_string_equal(rows.data, expected);
	rg_buf_deinit(&rows);
	sqlite3_close(db);
}

/* The last line that was read is another one, which differs where it begins, or where it ends; then
 * one more.  Under an open handle, between two, and where another file is there; asked for what
 * reads no message, which would tell. */
static void with_another_last_line_it_is_another_journal(void **state)
{
	static const char to_bob[] = "\"content\":\"x\",\"to_phase\":\"bob\"";
	static const char to_eve[] = "\"content\":\"x\",\"to_phase\":\"eve\"";
	int i;

	(void)state;
	for (i = 0; i < 6; i++) {
		const bool ends = i % 2;
		struct place place;
		struct roger *roger;
		char old[160];

		place_make(&place);
		snprintf(old, sizeof old, "%s.old", place.journal);
		roger = place_open(&place);
		write_line(&place, "m1", to_bob);
		write_line(&place, "m2", to_bob);
		check_stats(roger, "two lines", 2, 0);
		if (i >= 2)
			roger_close(roger);
		if (i >= 4)
			assert_int_equal(rename(place.journal, old), 0);
		else
			assert_int_equal(truncate(place.journal, 0), 0);
		write_line(&place, "m1", to_bob);
		write_line(&place, ends ? "m2" : "m3", ends ? to_eve : to_bob);
		write_line(&place, "m4", to_bob);
		if (i >= 2)
			roger = place_open(&place);
		check_stats(roger, "three lines", 3, 0);
		check_rows(&place, "SELECT id, to_phase FROM messages ORDER BY id",
			   ends ? "m1|bob\nm2|eve\nm4|bob\n" : "m1|bob\nm3|bob\nm4|bob\n");
		roger_close(roger);
		place_remove(&place);
	}
}

static void verify(struct roger *roger)
{
	const struct roger_verify_request request = { 0 };
	struct roger_verify_reply reply;

	assert_int_equal(roger_verify(roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
}

static int64_t count_unread(struct roger *roger, const char *agent)
{
	const struct roger_list_request request = { .unread = true, .to = str(agent) };
	struct roger_count_reply reply;
	int64_t count;

	assert_int_equal(roger_count(roger, &request, &reply, NULL), ROGER_OK);
	count = reply.count;
	roger_reply_free(&reply);
	return count;
}

/* The text, or as many letters of another one, in the line of this number. */
static void write_over(const struct place *place, int number, const char *was, const char *is)
{
	char text[16384] = "", *at = text;
	FILE *journal = fopen(place->journal, "r+");

	assert_non_null(journal);
	assert_true(fread(text, 1, sizeof text - 1, journal) > 0);
	while (--number)
		at = strchr(at, '\n') + 1;
	at = strstr(at, was);
	assert_non_null(at);
	assert_int_equal(fseek(journal, at - text, SEEK_SET), 0);
	assert_true(fputs(is, journal) >= 0);
	fclose(journal);
}

/* Under a handle that has it open, once for each time that others are known to be altered; what
 * the lines before them say counts. */
static void with_other_altered_lines_it_is_made_anew(void **state)
{
	static const struct {
		int line;
		const char *was, *is;
		int unread;
	} steps[] = {
		{ 5, "\"acked_at\"", "\"acked_aT\"", 0 }, { 3, "\"one\"", "\"eno\"", 1 },
		{ 4, "\"two\"", "\"owt\"", 2 },		  { 1, "\"one\"", "\"eno\"", 2 },
		{ 1, "\"eno\"", "\"one\"", 2 },		  { 3, "\"eno\"", "\"one\"", 1 },
		{ 4, "\"owt\"", "\"two\"", 0 },		  { 5, "\"acked_aT\"", "\"acked_at\"", 0 },
	};
	const struct roger_inbox_request take = { .agent = RG_STR("bob"), .limit = 1 };
	struct roger_str one = { 0 };
	const struct roger_ack_request ack = { .agent = take.agent, .ids = { &one, 1 } };
	struct place *place = *state;
	struct roger *roger = place_open(place), *other = place_open(place);
	struct roger_inbox_reply taken;
	struct roger_messages_reply acked;
	char id[64] = "";
	struct rg_buf list;
	ino_t index;
	size_t i;

	rg_buf_init(&list, SIZE_MAX);
	send(roger, "ann", "bob", "one");
	send(roger, "ann", "bob", "two");
	for (i = 0; i < 2; i++) {
		assert_int_equal(roger_receive(roger, &take, &taken, NULL), ROGER_OK);
		if (i == 0)
			snprintf(id, sizeof id, "%s", taken.messages.items[0].id.data);
		roger_reply_free(&taken);
	}
	one = str(id);
	assert_int_equal(roger_ack(roger, &ack, &acked, NULL), ROGER_OK);
	roger_reply_free(&acked);
	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		list_all(roger, &list);
		index = inode_of(place->index);
		write_over(place, steps[i].line, steps[i].was, steps[i].is);
		verify(other);
		send(other, "ann", "eve", "more");
		list_all(roger, &list);
		assert_int_equal(count_unread(roger, "bob"), steps[i].unread);
		assert_int_not_equal(inode_of(place->index), index);
		index = inode_of(place->index);
		send(other, "ann", "eve", "more");
		list_all(roger, &list);
		check_list(place, &list, "another handle");
		assert_int_equal(inode_of(place->index), index);
	}
	rg_buf_deinit(&list);
	roger_close(other);
	roger_close(roger);
}

/* Its id is now that of a message which is archived, and final. */
static void an_altered_line_brings_no_archived_message_back(void **state)
{
	struct place *place = *state;
	struct roger *roger = place_open(place);
	struct roger_archive_request request = { .unread = true };
	struct roger_messages_reply sent;
	struct roger_archive_reply done;
	struct roger_str one;
	char was[64], is[64];

	send(roger, "ann", "bob", "one");
	one = some_id(roger, &sent);
	snprintf(is, sizeof is, "%.*s", RG_STR_ARGS(one));
	request.ids = (struct roger_strs){ &one, 1 };
	assert_int_equal(roger_archive(roger, &request, &done, NULL), ROGER_OK);
	roger_reply_free(&done);
	roger_reply_free(&sent);
	send(roger, "ann", "eve", "two");
	one = some_id(roger, &sent);
	snprintf(was, sizeof was, "%.*s", RG_STR_ARGS(one));
	roger_reply_free(&sent);
	check_rows(place, "SELECT id = '' FROM messages UNION ALL SELECT 2 FROM archived",
		   "0\n2\n");
	write_over(place, 3, was, is);
	verify(roger);
	assert_int_equal(count_unread(roger, "eve"), 0);
	check_rows(place, "SELECT 1 FROM messages UNION ALL SELECT 2 FROM archived", "2\n");
	roger_close(roger);
}

/* Each member that a line says otherwise than the first one, and each way in which it does, once;
 * with the line that said so first. */
static void what_is_rewritten_is_noted_once(void **state)
{
	static const struct {
		const char *id, *more;
	} lines[] = {
		{ "m1", "\"content\":\"one\",\"to_phase\":\"bob\"" },
		{ "m1", "\"content\":\"won\",\"to_phase\":\"eve\"" },
		{ "m1", "\"content\":\"won\",\"to_phase\":\"bob\"" },
		{ "m2", "\"content\":\"two\",\"to_phase\":\"bob\"" },
		{ "m1", "\"content\":\"won\",\"to_phase\":\"kim\"" },
		{ "m2", "\"content\":\"won\",\"to_phase\":\"bob\"" },
		{ "m1", "\"content\":\"one\",\"to_phase\":\"bob\",\"archived_at\":9" },
		{ "m1", "\"content\":\"six\",\"to_phase\":\"bob\"" },
	};
	static const char rows[] = "SELECT line, member, position FROM rewrites ORDER BY 1, 2";
	static const char noted[] = "2|content|1\n2|to_phase|1\n5|to_phase|1\n6|content|4\n"
				    "8|content|1\n";
	const struct roger_verify_request request = { 0 };
	struct place *place = *state;
	struct roger *roger = place_open(place), *other = place_open(place);
	struct roger_verify_reply found;
	struct rg_buf list, places;
	ino_t index = 0;
	size_t i;

	rg_buf_init(&list, SIZE_MAX);
	rg_buf_init(&places, SIZE_MAX);
	for (i = 0; i < sizeof lines / sizeof *lines; i++) {
		write_line(place, lines[i].id, lines[i].more);
		/* Taken in by one, and looked at by both: neither makes the index anew. */
		list_all(i / 3 == 1 ? other : roger, &list);
		index = index ? index : inode_of(place->index);
		list_all(i / 3 == 1 ? roger : other, &list);
		assert_int_equal(inode_of(place->index), index);
	}
	for (i = 0; i < 2; i++) {
		check_rows(place, rows, noted);
		check_rows(place, "SELECT rewrites FROM progress", "5\n");
		rebuild(place);
	}
	assert_int_equal(roger_verify(roger, &request, &found, NULL), ROGER_OK);
	for (i = 0; i < found.findings.count; i++)
		rg_buf_printf(&places, "%lld|%lld\n", (long long)found.findings.items[i].line,
			      (long long)found.findings.items[i].byte);
	rg_buf_add(&places, "", 1);
	check_rows(place, "SELECT DISTINCT line, offset FROM rewrites ORDER BY 1", places.data);
	roger_reply_free(&found);
	rg_buf_deinit(&places);
	rg_buf_deinit(&list);
	roger_close(other);
	roger_close(roger);
}

/* A message from ann to one whose name is that of the issue; its id is m and the number. */
static void tell(const struct place *place, int number, const char *issue, const char *content,
		 const char *more)
{
	char line[512];
	const int length = snprintf(
		line, sizeof line,
		"{\"id\":\"m%d\",\"issue_id\":\"%s\",\"from_phase\":\"ann\",\"to_phase\":\"%s\","
		"\"run_counter\":1,\"message_type\":\"data\",\"content\":\"%s\",\"created_at\":5,"
		"\"read\":%s}\n",
		number, issue, issue, content, more);

	place_append(place, line, (size_t)length);
}

#define CHAIN ",\"chain\":\"0123456789abcdef\""

/* Taken in one after the other, and in a rebuild. */
static void what_lines_say_stands_in_the_tables(void **state)
{
	static const struct {
		int number;
		const char *issue, *more;
	} lines[] = {
		{ 1, "i", "false" },
		{ 2, "i", "true,\"read_at\":9" CHAIN },
		{ 3, "i", "true,\"read_at\":7,\"seq\":2,\"epoch\":1" CHAIN },
		{ 4, "i", "false,\"claimed_by\":\"w\",\"claimed_until\":8" },
		{ 4, "i", "false" },
		{ 5, "i", "false,\"dead_at\":3" },
		{ 6, "i", "false,\"confirm_by\":4,\"acked_at\":2" },
		{ 7, "i", "true,\"notice_due\":true" },
		{ 8, "j", "false,\"archived_at\":6,\"via\":\"e\",\"seq\":3,\"epoch\":1" },
		{ 9, "i", "false" },
		{ 9, "i", "false,\"claimed_by\":\"w\",\"claimed_until\":8" },
		{ 9, "i", "false,\"claimed_by\":\"w\",\"claimed_until\":8,\"archived_at\":6" },
		{ 9, "i", "true,\"claimed_by\":\"w\"" },
		{ 10, "k", "true,\"claimed_by\":\"w\",\"via\":\"e\"" },
	};
	static const char *const tables[][2] = {
		{ "SELECT name, sent, received, unread, epoch, seq, last_sent_at, last_read_at"
		  " FROM agents ORDER BY 1",
		  "ann|10|0|0|1|3|5|0\ni|0|8|4|0|0|0|9\nj|0|1|0|0|0|0|0\nk|0|1|0|0|0|0|0\n" },
		{ "SELECT issue_id, data, unread, bytes FROM issues ORDER BY 1",
		  "i|7|4|7\nj|0|0|0\nk|1|0|1\n" },
		{ "SELECT * FROM last_seen", "i|ann|1|2\n" },
		{ "SELECT * FROM edges", "j|ann|1|3\n" },
		{ "SELECT first, oldest, newest, types FROM spans", "0|5|5|16\n" },
		{ "SELECT position, claimed_by, until, confirm_by, due FROM leases",
		  "6||9223372036854775807|0|0\n7||0|4|0\n8||0|0|1\n" },
		{ "SELECT position FROM acks", "7\n" },
		{ "SELECT position, line FROM messages WHERE line <> position", "4|5\n" },
		{ "SELECT position, id FROM archived ORDER BY 1", "9|m8\n10|m9\n" },
		{ "SELECT strange FROM progress", "10\n" },
	};
	struct place *place = *state;
	struct roger *roger = place_open(place);
	struct rg_index *index = new_index(roger, "messages.db");
	uint64_t end = 0;
	size_t i;
	int anew;

	assert_int_equal(rg_index_refresh(index, 0, NULL), ROGER_OK);
	for (i = 0; i < sizeof lines / sizeof *lines; i++)
		tell(place, lines[i].number, lines[i].issue, "c", lines[i].more);
	assert_int_equal(rg_engine_settle(roger->engine, &end, NULL), ROGER_OK);
	assert_int_equal(rg_index_refresh(index, end, NULL), ROGER_OK);
	for (anew = 0; anew < 2; anew++) {
		for (i = 0; i < sizeof tables / sizeof *tables; i++)
			check_rows(place, tables[i][0], tables[i][1]);
		assert_int_equal(rg_index_rebuild(index, end, NULL, NULL), ROGER_OK);
	}
	rg_index_free(index);
	roger_close(roger);
}

/* -------------------------------------------------------------- trouble -- */

/* Some messages, a list of them in expected, and an index that knows them. */
static void fill(const struct place *place, struct rg_buf *expected)
{
	struct roger *roger = place_open(place);
	char text[64];
	int i;

	rg_buf_init(expected, SIZE_MAX);
	for (i = 0; i < 30; i++) {
		snprintf(text, sizeof text, "text %d", i);
		send(roger, names[i % 2], names[2 + i % 2 + 0], text);
		if (i % 5 == 4)
			receive(roger);
	}
	list_all(roger, expected);
	roger_close(roger);
}

/* What other programs do to it by way of SQLite. */
static const char *const strange[] = {
	"UPDATE progress SET version = 99",
	"UPDATE progress SET version = 0",
	"DELETE FROM progress",
	"DROP TABLE progress",
	"DROP TABLE messages",
	"DROP TABLE leases",
	"DROP INDEX messages_mailbox",
	"UPDATE messages SET offset = offset + 1",
	"UPDATE messages SET offset = 1000000000",
	"UPDATE messages SET offset = -1",
	"UPDATE messages SET length = length - 1",
	"UPDATE messages SET length = 1000000000",
	"UPDATE messages SET length = -1",
	"UPDATE progress SET offset = 1000000000",
	"UPDATE progress SET last_hash = 1",
	"UPDATE progress SET last_offset = -1",
	"UPDATE progress SET last_length = 100000000",
	"UPDATE progress SET last_offset = 99999999, last_length = 10",
	"PRAGMA user_version = 7",
};

static void stale_or_strange_it_is_made_anew(void **state)
{
	struct rg_buf expected;
	size_t i;

	fill(*state, &expected);
	for (i = 0; i < sizeof strange / sizeof *strange; i++) {
		run_sql(*state, strange[i]);
		check_list(*state, &expected, strange[i]);
	}
	rg_buf_deinit(&expected);
}

/* A handle that has it open is in no other case: it follows whoever changes the file under it. */
static void changed_under_an_open_handle_it_is_made_anew(void **state)
{
	struct place *place = *state;
	struct rg_buf expected;
	struct roger *roger;
	size_t i;

	fill(place, &expected);
	roger = place_open(place);
	for (i = 0; i < sizeof strange / sizeof *strange; i++) {
		list_all(roger, &expected);
		run_sql(place, strange[i]);
		send(roger, "a", "b", strange[i]);
		list_all(roger, &expected);
		assert_non_null(strstr(expected.data, strange[i]));
		check_list(place, &expected, strange[i]);
	}
	roger_close(roger);
	rg_buf_deinit(&expected);
}

static void one_of_another_journal_is_not_believed(void **state)
{
	struct place *place = *state, other;
	struct rg_buf expected;
	struct roger *roger;
	char command[400];

	fill(place, &expected);
	place_make(&other);
	roger = place_open(&other);
	send(roger, "x", "y", "of another journal");
	list_all(roger, &expected);
	roger_close(roger);
	snprintf(command, sizeof command, "cp '%s' '%s'", place->index, other.index);
	assert_int_equal(system(command), 0);
	check_list(&other, &expected, "index of a longer journal");
	place_remove(&other);
	rg_buf_deinit(&expected);
}

static void put_bytes(const char *path, off_t at, const void *data, size_t length)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(pwrite(file, data, length, at), length);
	close(file);
}

static size_t size_of(const char *path)
{
	struct stat facts;

	return stat(path, &facts) < 0 ? 0 : (size_t)facts.st_size;
}

#define ASK(verb, request_type, reply_type, ...)                                                   \
	do {                                                                                       \
		struct request_type request = { __VA_ARGS__ };                                     \
		struct reply_type reply;                                                           \
		struct roger_err err;                                                              \
		if (roger_##verb(roger, &request, &reply, &err) < 0)                               \
			fail_msg(#verb ": %s", err.message);                                       \
		roger_reply_free(&reply);                                                          \
	} while (0)

/* Another one each time: the first to meet the damage has to mend it. */
static void ask(struct roger *roger, int which)
{
	struct rg_buf all;

	switch (which % 9) {
	case 0:
		rg_buf_init(&all, SIZE_MAX);
		list_all(roger, &all);
		rg_buf_deinit(&all);
		break;
	case 1:
		ASK(agents, roger_agents_request, roger_agents_reply, 0);
		break;
	case 2:
		ASK(stats, roger_stats_request, roger_stats_reply, 0);
		break;
	case 3:
		ASK(report, roger_report_request, roger_report_reply, .since_ms = 0);
		break;
	case 4:
		ASK(report, roger_report_request, roger_report_reply, .since_ms = 1);
		break;
	case 5:
		ASK(list, roger_list_request, roger_messages_reply, .text = str("text"));
		break;
	case 6:
		ASK(sends, roger_sends_request, roger_sends_reply, .limit = 10);
		break;
	case 7:
		ASK(timeline, roger_timeline_request, roger_timeline_reply, .issue = str("i"));
		break;
	default:
		ASK(count, roger_list_request, roger_count_reply, .unread = true);
	}
}

/* Whole pages of garbage or zeros, a cut end, a torn rollback journal: whatever it is, questions
 * are answered. */
static void damage_never_fails_a_question(void **state)
{
	struct place *place = *state;
	char garbage[4096], rollback[200];
	struct rg_buf expected;
	struct roger *roger;
	size_t size, i;
	int round;

	srand(3);
	fill(place, &expected);
	snprintf(rollback, sizeof rollback, "%s-journal", place->index);
	for (round = 0; round < 300; round++) {
		size = size_of(place->index);
		for (i = 0; i < sizeof garbage; i++)
			garbage[i] = (char)(round % 3 == 0 ? 0 : rand());
		switch (round % 5) {
		case 0: /* one byte, anywhere */
			put_bytes(place->index, rand() % (off_t)size, garbage, 1);
			break;
		case 1: /* a whole page, anywhere */
			put_bytes(place->index, rand() % (off_t)(size / 4096) * 4096, garbage,
				  4096);
			break;
		case 2: /* its head */
			put_bytes(place->index, rand() % 100, garbage, 1 + (size_t)rand() % 100);
			break;
		case 3: /* its end */
			assert_int_equal(truncate(place->index, rand() % (off_t)size), 0);
			break;
		default: /* a rollback journal of something else */
			close(open(rollback, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
			put_bytes(rollback, 0, garbage, 4096);
		}
		roger = place_open(place);
		ask(roger, round / 5);
		roger_close(roger);
		rebuild(place);
		check_list(place, &expected, "rebuilt after damage");
		roger = place_open(place);
		for (i = 0; i < 9; i++)
			ask(roger, (int)i);
		roger_close(roger);
	}
	rg_buf_deinit(&expected);
}

static int64_t number_of(const struct place *place, const char *sql)
{
	sqlite3 *db = open_db(place, SQLITE_OPEN_READONLY);
	sqlite3_stmt *get = NULL;
	int64_t number;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &get, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(get), SQLITE_ROW);
	number = sqlite3_column_int64(get, 0);
	sqlite3_finalize(get);
	sqlite3_close(db);
	return number;
}

static int64_t big_endian(const unsigned char *bytes, size_t length)
{
	int64_t number = 0;

	while (length--)
		number = number << 8 | *bytes++;
	return number;
}

/* The pages of the schema: the first, and those that it points to. */
static bool holds_schema(const unsigned char *first, int64_t page)
{
	int64_t cells = big_endian(first + 103, 2), i;

	if (page == 1)
		return true;
	if (first[100] != 5)
		return false;
	for (i = 0; i < cells; i++)
		if (big_endian(first + big_endian(first + 112 + 2 * i, 2), 4) == page)
			return true;
	return big_endian(first + 108, 4) == page;
}

/* Every page but those of the schema and the one by which the index is believed. */
static void wipe_pages(const struct place *place)
{
	static const char zeros[PAGE_BYTES];
	unsigned char first[PAGE_BYTES];
	int64_t kept =
		number_of(place, "SELECT rootpage FROM sqlite_master WHERE name = 'progress'");
	int file = open(place->index, O_RDONLY | O_CLOEXEC);
	int64_t page;

	assert_int_equal(number_of(place, "PRAGMA page_size"), PAGE_BYTES);
	assert_int_equal(pread(file, first, sizeof first, page_at(1)), sizeof first);
	close(file);
	for (page = 1; page_at(page + 1) <= (int64_t)size_of(place->index); page++)
		if (page != kept && !holds_schema(first, page))
			put_bytes(place->index, page_at(page), zeros, sizeof zeros);
}

/* What asks the index before it writes finds damage, too: a key that is known, a full mailbox. */
static void damage_never_fails_a_send(void **state)
{
	struct place *place = *state;
	struct roger *roger = place_open(place);
	char first[64], again[64];
	int i;

	assert_int_equal(place_send(roger, "a", "b", "i", "text", "t:status-update:1", first),
			 ROGER_OK);
	roger_close(roger);
	rebuild(place);
	wipe_pages(place);
	roger = place_open(place);
	assert_int_equal(place_send(roger, "a", "b", "i", "text", "t:status-update:1", again),
			 ROGER_OK);
	assert_string_equal(again, first);

	/* One hundred unread is the limit: at it the index is asked, and nothing may leave. */
	for (i = 1; i < 130; i++) {
		if (i % 10 == 5) {
			roger_close(roger);
			roger = place_open(place);
		}
		if (i % 5 == 0)
			wipe_pages(place);
		assert_int_equal(place_send(roger, "a", "b", "i", "text", "", NULL),
				 i < 100 ? ROGER_OK : ROGER_EREFUSED);
	}
	roger_close(roger);
}

static size_t count_inbox(struct roger *roger, const char *agent, const char *issue)
{
	struct roger_inbox_request request = { .agent = str(agent), .issue = str(issue) };
	struct roger_inbox_reply reply;
	struct roger_err err;
	size_t count;

	if (roger_inbox(roger, &request, &reply, &err) < 0)
		fail_msg("inbox: %s", err.message);
	count = reply.messages.count;
	assert_int_equal(reply.unread, count);
	roger_reply_free(&reply);
	return count;
}

/* Damage that SQLite does not notice: the line has the last word. */
static void nobody_gets_mail_by_a_wrong_index(void **state)
{
	static const struct {
		const char *change, *agent, *issue;
		size_t count;
	} cases[] = {
		{ "UPDATE messages SET to_phase = CASE to_phase WHEN 'b' THEN 'c' ELSE 'b' END",
		  "c", "i", 0 },
		{ "UPDATE messages SET issue_id = CASE issue_id WHEN 'i' THEN 'j' ELSE 'i' END",
		  "c", "i", 0 },
		{ "UPDATE messages SET read = 0", "b", "i", 2 },
	};
	struct place *place = *state;
	struct roger *roger = place_open(place), *other;
	struct roger_inbox_request request = { .agent = str("b"), .issue = str("i"), .limit = 1 };
	struct roger_inbox_reply reply;
	size_t i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(place_send(roger, "a", "b", "i", "text", "", NULL), ROGER_OK);
		assert_int_equal(place_send(roger, "a", "c", "j", "text", "", NULL), ROGER_OK);
	}
	assert_int_equal(roger_receive(roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	rebuild(place);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(count_inbox(roger, "b", "i"), 2);
		run_sql(place, cases[i].change);
		other = place_open(place);
		/* The end of the journal would answer. */
		assert_int_not_equal(rg_index_peek(other->engine->index), 0);
		assert_int_equal(count_inbox(other, cases[i].agent, cases[i].issue),
				 cases[i].count);
		assert_int_equal(count_inbox(other, "b", "i"), 2);
		roger_close(other);
	}
	roger_close(roger);
}

/* So many sends of a text, BATCH at a time, to one agent each. */
static void send_many(struct roger *roger, int count, struct roger_str text)
{
	enum { BATCH = 500 };
	static struct roger_send_request items[BATCH];
	static struct roger_str to[BATCH];
	static char agents[BATCH][16];
	const struct roger_send_many_request request = { .from = str("a"),
							 .items = { items, BATCH } };
	struct roger_send_many_reply reply;
	int i;

	for (i = 0; i < BATCH; i++) {
		snprintf(agents[i], sizeof agents[i], "b%d", i);
		to[i] = str(agents[i]);
		items[i] = (struct roger_send_request){ .to = { &to[i], 1 },
							.issue = str(agents[i]),
							.content = text };
	}
	for (; count > 0; count -= BATCH) {
		assert_int_equal(roger_send_many(roger, &request, &reply, NULL), ROGER_OK);
		assert_int_equal(reply.stored, BATCH);
		roger_reply_free(&reply);
	}
}

static uint64_t end_of_index(struct place *place)
{
	struct roger *roger = place_open(place);
	const uint64_t end = rg_index_peek(roger->engine->index);

	roger_close(roger);
	return end;
}

/* Who changes much brings the tables up as it closes, those of events, too; who changes little
 * where there are none leaves them to questions. */
static void who_writes_much_brings_them_up(void **state)
{
	struct place *place = *state;
	struct roger *roger;
	struct rg_buf counts;
	struct stat journal;
	sqlite3 *db;

	roger = place_open(place);
	send_many(roger, 2500, str("text"));
	roger_close(roger);
	assert_int_not_equal(access(place->index, F_OK), 0);
	roger = place_open(place);
	send_many(roger, 3500, str("text"));
	roger_close(roger);
	db = open_db(place, SQLITE_OPEN_READONLY);
	rg_buf_init(&counts, SIZE_MAX);
	dump_query(db, "SELECT lines, (SELECT count(*) FROM event WHERE log = 0) FROM progress",
		   &counts);
	rg_buf_add(&counts, "", 1);
	assert_string_equal(counts.data, "6000|6000\n");
	rg_buf_deinit(&counts);
	sqlite3_close(db);
	assert_int_equal(stat(place->journal, &journal), 0);
	assert_int_equal(end_of_index(place), journal.st_size);
	assert_int_equal(access(place->database, F_OK), 0);
	/* However soon after that. */
	roger = place_open(place);
	send_many(roger, 3500, str("text"));
	roger_close(roger);
	assert_int_equal(stat(place->journal, &journal), 0);
	assert_int_equal(end_of_index(place), journal.st_size);
}

/* Of very much a handle takes in a part, and the next that writes much goes on from there. */
static void of_very_much_a_part_is_brought_up(void **state)
{
	enum { CHARS = 10000, PART = 64 << 20, TRIES = 100 };
	static char text[CHARS];
	struct place *place = *state;
	struct roger *roger = place_open(place);
	struct stat journal;
	int i;

	memset(text, 't', sizeof text);
	send_many(roger, 1, str("text"));
	report_all(roger);
	send_many(roger, 7000, (struct roger_str){ text, sizeof text });
	roger_close(roger);
	assert_int_equal(stat(place->journal, &journal), 0);
	assert_in_range(end_of_index(place), PART, journal.st_size - 1);
	roger = place_open(place);
	send_many(roger, 3500, str("text"));
	roger_close(roger);
	assert_int_equal(stat(place->journal, &journal), 0);
	assert_int_equal(end_of_index(place), journal.st_size);
	/* One that lives goes on itself, as often as it rests. */
	roger = place_open(place);
	send_many(roger, 7000, (struct roger_str){ text, sizeof text });
	assert_int_equal(stat(place->journal, &journal), 0);
	for (i = 0; i < TRIES && end_of_index(place) < (uint64_t)journal.st_size; i++) {
		rg_clock_sleep(200);
		rg_engine_rest(roger->engine);
	}
	assert_int_equal(end_of_index(place), journal.st_size);
	roger_close(roger);
}

struct rebuilding {
	const struct place *place;
	_Atomic bool over;
};

static void *rebuild_on_and_on(void *context)
{
	struct rebuilding *rebuilding = context;

	while (!atomic_load(&rebuilding->over))
		rebuild(rebuilding->place);
	return NULL;
}

/* Who finds the index replaced between two steps writes logs and words into the new one. */
static void one_made_anew_elsewhere_is_written_to(void **state)
{
	struct rebuilding rebuilding = { .place = *state };
	struct roger *roger = place_open(rebuilding.place);
	pthread_t thread;
	char key[32];
	int i;

	assert_int_equal(pthread_create(&thread, NULL, rebuild_on_and_on, &rebuilding), 0);
	for (i = 0; i < 150; i++) {
		snprintf(key, sizeof key, "t:status-update:%d", i);
		assert_int_equal(place_send(roger, "a", "b", i % 2 ? "i" : "j", "text", key, NULL),
				 ROGER_OK);
		ask(roger, 5 + i % 3);
	}
	atomic_store(&rebuilding.over, true);
	pthread_join(thread, NULL);
	roger_close(roger);
}

static void half_made_ones_are_no_hindrance(void **state)
{
	struct place *place = *state;
	struct rg_buf expected;
	char path[200];

	fill(place, &expected);
	snprintf(path, sizeof path, "%s.new", place->index);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	put_bytes(path, 0, "half an index", 13);
	assert_int_equal(truncate(place->index, 0), 0);
	check_list(place, &expected, "an empty one, and a half made one beside it");
	assert_int_equal(access(path, F_OK), -1);
	rg_buf_deinit(&expected);
}

/* One line that is no message, as any program may write it. */
static void add_stray(const struct place *place, size_t mib)
{
	char *line = malloc(mib << 20);
	FILE *file = fopen(place->journal, "a");

	assert_non_null(line);
	assert_non_null(file);
	memset(line, 'x', mib << 20);
	line[(mib << 20) - 1] = '\n';
	assert_int_equal(fwrite(line, 1, mib << 20, file), mib << 20);
	assert_int_equal(fclose(file), 0);
	free(line);
}

static const char seed_is_due[] = "UPDATE progress SET seed_at = 0";

static void far_behind_it_is_rebuilt(void **state)
{
	struct place *place = *state;
	ino_t index, seed;
	struct rg_buf expected;

	fill(place, &expected);
	run_sql(place, seed_is_due);
	check_list(place, &expected, "both are there");
	index = inode_of(place->index);
	seed = inode_of(place->database);
	add_stray(place, 1);
	run_sql(place, seed_is_due);
	check_list(place, &expected, "a little more");
	assert_int_equal(inode_of(place->index), index);
	assert_int_equal(inode_of(place->database), seed);
	add_stray(place, 9);
	check_list(place, &expected, "much more");
	assert_int_not_equal(inode_of(place->index), index);
	index = inode_of(place->index);
	run_sql(place, seed_is_due);
	check_list(place, &expected, "and a second later");
	/* A last line that is too long to be read is the same one, too. */
	assert_int_equal(inode_of(place->index), index);
	assert_int_not_equal(inode_of(place->database), seed);
	rg_buf_deinit(&expected);
}

struct asking {
	struct roger *roger;
	pthread_barrier_t *all;
};

static void *ask_for_events(void *context)
{
	struct asking *asking = context;

	pthread_barrier_wait(asking->all);
	report_all(asking->roger);
	return NULL;
}

/* The tables of events come with the first question for them: here all ask at once. */
static void tables_that_another_handle_made_are_no_damage(void **state)
{
	enum { HANDLES = 4 };
	struct place *place = *state;
	struct asking asking[HANDLES];
	pthread_t threads[HANDLES];
	pthread_barrier_t all;
	int64_t key;
	int i;

	pthread_barrier_init(&all, NULL, HANDLES);
	for (i = 0; i < HANDLES; i++) {
		asking[i] = (struct asking){ place_open(place), &all };
		if (i == 0)
			send_many(asking[0].roger, 2000, str("text"));
		ask(asking[i].roger, 0);
	}
	key = number_of(place, "SELECT key FROM progress");
	for (i = 0; i < HANDLES; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_for_events, &asking[i]), 0);
	for (i = 0; i < HANDLES; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		roger_close(asking[i].roger);
	}
	pthread_barrier_destroy(&all);
	/* A rebuilt index would have another key. */
	assert_int_equal(number_of(place, "SELECT key FROM progress"), key);
}

static int count_late(const struct place *place)
{
	sqlite3 *db = open_seed(place);
	struct rg_buf out;
	int late;

	rg_buf_init(&out, SIZE_MAX);
	dump_query(db, "SELECT count(*) FROM messages WHERE content = 'late'", &out);
	late = out.data[0] - '0';
	rg_buf_deinit(&out);
	sqlite3_close(db);
	return late;
}

/* A process killed after a rebuild may leave the recent pages of the old index behind. */
static void recent_pages_of_another_one_do_not_count(void **state)
{
	struct place *place = *state;
	struct roger *roger;
	struct rg_buf expected;
	struct stat facts;
	char recent[160], kept[160];
	ino_t index;

	snprintf(recent, sizeof recent, "%s-recent", place->index);
	snprintf(kept, sizeof kept, "%s-kept", place->index);
	rebuild(place);
	roger = place_open(place);
	rg_buf_init(&expected, SIZE_MAX);
	assert_int_equal(place_send(roger, "a", "b", "i", "one", "", NULL), ROGER_OK);
	list_all(roger, &expected);
	roger_close(roger);
	assert_int_equal(stat(recent, &facts), 0);
	assert_int_not_equal(facts.st_size, 0);
	assert_int_equal(rename(recent, kept), 0);
	rebuild(place);
	(void)unlink(recent);
	assert_int_equal(rename(kept, recent), 0);
	index = inode_of(place->index);
	check_list(place, &expected, "with recent pages of another index");
	assert_int_equal(inode_of(place->index), index);
	rg_buf_deinit(&expected);
}

/* One from before a rebuild was changed more often than the new one, and has read less. */
static void one_from_before_a_rebuild_is_noticed(void **state)
{
	struct place *place = *state;
	const char *path = place->index;
	struct roger *roger;
	struct rg_buf before, after;
	char command[900];
	ino_t index;
	int i;

	rg_buf_init(&before, SIZE_MAX);
	rg_buf_init(&after, SIZE_MAX);
	/* Both are rebuilt, so that the tables are on the same pages. */
	rebuild(place);
	roger = place_open(place);
	for (i = 0; i < 8; i++) {
		send(roger, "a", "b", "text");
		list_all(roger, &before);
	}
	snprintf(command, sizeof command, "cp '%s' '%s-old' && cp '%s-recent' '%s-recent-old'",
		 path, path, path, path);
	assert_int_equal(system(command), 0);
	rebuild(place);
	send(roger, "a", "b", "after");
	list_all(roger, &before);
	index = inode_of(path);
	/* While it has another name, no new file gets its number. */
	snprintf(command, sizeof command,
		 "ln '%s' '%s-held' && cat '%s-old' >'%s' && cat '%s-recent-old' >'%s-recent'",
		 path, path, path, path, path, path);
	assert_int_equal(system(command), 0);
	list_all(roger, &after);
	assert_string_equal(before.data, after.data);
	assert_int_not_equal(inode_of(path), index);
	rg_buf_deinit(&before);
	rg_buf_deinit(&after);
	roger_close(roger);
}

/* A handle that lives on brings it up while it waits, never with an answer. */
static void no_answer_waits_for_messages_db(void **state)
{
	const struct roger_inbox_request take = { .agent = RG_STR("late-reader") };
	const struct roger_wait_request wish = { .agent = RG_STR("nobody"), .timeout_ms = 500 };
	struct place *place = *state;
	struct roger_inbox_reply taken;
	struct roger_wait_reply waited;
	struct rg_buf expected, now;
	struct roger *roger;

	fill(place, &expected);
	check_list(place, &expected, "it is made");
	run_sql(place, seed_is_due);
	rg_buf_init(&now, SIZE_MAX);
	roger = place_open(place);
	assert_int_equal(place_send(roger, "ann", "late-reader", "i", "late", "", NULL), ROGER_OK);
	assert_int_equal(roger_receive(roger, &take, &taken, NULL), ROGER_OK);
	assert_int_equal(taken.messages.count, 1);
	roger_reply_free(&taken);
	list_all(roger, &now);
	assert_int_equal(count_late(place), 0);
	/* Until the file is older than a second. */
	while (count_late(place) == 0)
		if (roger_wait(roger, &wish, &waited, NULL) == ROGER_OK)
			roger_reply_free(&waited);
	roger_close(roger);
	rg_buf_deinit(&now);
	rg_buf_deinit(&expected);
}

/* It would take minutes, before an answer that does not need it. */
static void a_large_messages_db_is_left_to_rebuild(void **state)
{
	struct place *place = *state;
	struct rg_buf expected, listed;
	struct roger *roger;

	fill(place, &expected);
	add_stray(place, 65);
	check_list(place, &expected, "a long journal");
	assert_int_equal(unlink(place->database), 0);
	run_sql(place, seed_is_due);
	roger = place_open(place);
	rg_buf_init(&listed, SIZE_MAX);
	list_all(roger, &listed);
	assert_int_equal(access(place->database, F_OK), -1);
	assert_non_null(strstr(roger_notice(roger), "`roger doctor rebuild` rebuilds it"));
	rg_buf_deinit(&listed);
	roger_close(roger);
	rebuild(place);
	assert_int_equal(access(place->database, F_OK), 0);
	rg_buf_deinit(&expected);
}

/* The index's own is made only after that of the figures. */
static void a_failed_checkpoint_is_not_taken_for_one(void **state)
{
	struct place *place = *state;
	struct roger *roger = place_open(place);
	struct rg_store *store = roger->engine->store;
	char spare[200];

	send(roger, "a", "b", "text");
	snprintf(spare, sizeof spare, "%s/.roger/messages.checkpoint.new", place->root);
	assert_int_equal(mkdir(spare, 0700), 0);
	assert_false(store->ops->keep(store, RG_KEEP_NOW));
	assert_int_equal(rmdir(spare), 0);
	assert_true(store->ops->keep(store, RG_KEEP_NOW));
	roger_close(roger);
}

static void deleted_in_mid_use_it_comes_back(void **state)
{
	struct place *place = *state;
	struct roger *one = place_open(place), *two = place_open(place);
	struct rg_buf before, after;
	int i;

	rg_buf_init(&before, SIZE_MAX);
	rg_buf_init(&after, SIZE_MAX);
	for (i = 0; i < 5; i++) {
		send(one, "a", "b", "text");
		list_all(one, &before);
		list_all(two, &after);
		assert_string_equal(before.data, after.data);
		assert_int_equal(unlink(place->index), 0);
		list_all(two, &after);
		assert_string_equal(before.data, after.data);
		assert_int_equal(access(place->index, F_OK), 0);
		list_all(one, &after);
		assert_string_equal(before.data, after.data);
	}
	/* Replaced by a rebuild elsewhere: whoever has the old one open follows. */
	rebuild(place);
	send(two, "a", "c", "after");
	list_all(one, &before);
	list_all(two, &after);
	assert_string_equal(before.data, after.data);
	assert_non_null(strstr(after.data, "after"));
	rg_buf_deinit(&before);
	rg_buf_deinit(&after);
	roger_close(one);
	roger_close(two);
}

/* What the handle keeps of it is right; whoever reads the file notices. */
static void damaged_under_an_open_handle_it_answers(void **state)
{
	struct place *place = *state;
	struct rg_buf list;
	struct roger *roger = place_open(place);
	int i;

	rg_buf_init(&list, SIZE_MAX);
	/* The second is added on pages that are kept in memory from then on. */
	for (i = 0; i < 2; i++) {
		send(roger, "a", "b", "text");
		list_all(roger, &list);
	}
	wipe_pages(place);
	send(roger, "a", "b", "more");
	list_all(roger, &list);
	check_list(place, &list, "damaged while it was open");
	rg_buf_deinit(&list);
	roger_close(roger);
}

/* A folder, a link or a FIFO under its name: never followed, never removed, and questions are
 * answered all the same. */
static void what_is_no_file_is_left_alone(void **state)
{
	struct place *place = *state;
	struct rg_buf expected;
	char target[200], rollback[200];
	struct stat facts;

	fill(place, &expected);
	assert_int_equal(unlink(place->index), 0);
	assert_int_equal(mkdir(place->index, 0700), 0);
	check_list(place, &expected, "a folder");
	assert_int_equal(rmdir(place->index), 0);

	snprintf(target, sizeof target, "%s/target", place->root);
	close(open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(symlink(target, place->index), 0);
	check_list(place, &expected, "a link");
	assert_int_equal(size_of(target), 0);
	assert_int_equal(lstat(place->index, &facts), 0);
	assert_true(S_ISLNK(facts.st_mode));
	assert_int_equal(unlink(place->index), 0);

	assert_int_equal(mkfifo(place->index, 0600), 0);
	check_list(place, &expected, "a FIFO");
	assert_int_equal(unlink(place->index), 0);

	snprintf(rollback, sizeof rollback, "%s-journal", place->index);
	(void)unlink(rollback);
	assert_int_equal(symlink(target, rollback), 0);
	check_list(place, &expected, "a link under the name of the rollback journal");
	assert_int_equal(size_of(target), 0);
	(void)unlink(rollback); /* it may have been taken away, but not followed */
	check_list(place, &expected, "nothing");
	assert_int_equal(access(place->index, F_OK), 0);
	rg_buf_deinit(&expected);
}

/* Where nothing was ever sent, nothing is found. */
static void an_empty_one_answers(void **state)
{
	struct roger *roger = place_open(*state);
	struct rg_buf rows;

	search(roger);
	rg_buf_init(&rows, SIZE_MAX);
	list_all(roger, &rows);
	assert_string_equal(rows.data, "");
	search(roger);
	send(roger, "a", "b", "word1");
	search(roger);
	rg_buf_deinit(&rows);
	roger_close(roger);
}

/* In memory it follows the journal like any other, for as long as the handle lives. */
static void in_memory_it_follows(void **state)
{
	struct place *place = *state;
	struct roger *one, *two;
	struct rg_buf before, after;

	assert_int_equal(mkdir(place->index, 0700), 0);
	one = place_open(place);
	two = place_open(place);
	rg_buf_init(&before, SIZE_MAX);
	rg_buf_init(&after, SIZE_MAX);
	send(one, "a", "b", "first");
	list_all(one, &before);
	list_all(two, &after);
	assert_string_equal(before.data, after.data);
	send(two, "a", "b", "second");
	receive(two);
	list_all(one, &before);
	list_all(two, &after);
	assert_string_equal(before.data, after.data);
	assert_non_null(strstr(before.data, "second"));
	rg_buf_deinit(&before);
	rg_buf_deinit(&after);
	roger_close(one);
	roger_close(two);
}

/* -------------------------------------------------------------- memory -- */

/* Of SQLite, whose memory is the system's where it is a library of its own. */
static sqlite3_mem_methods memory;

static void *scarce_get(int size)
{
	return scarce_is_out((size_t)size) ? NULL : memory.xMalloc(size);
}

static void *scarce_change(void *piece, int size)
{
	return scarce_is_out((size_t)size) ? NULL : memory.xRealloc(piece, size);
}

static void let_memory_run_out(void)
{
	sqlite3_mem_methods scarce;

	assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory), SQLITE_OK);
	scarce = memory;
	scarce.xMalloc = scarce_get;
	scarce.xRealloc = scarce_change;
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &scarce), SQLITE_OK);
}

#define LINKS                                                                                      \
	",\"seq\":9,\"epoch\":1,\"via\":\"e\",\"idempotent_key\":\"k\",\"reply_to\":\"r\","        \
	"\"claimed_by\":\"w\",\"acked_at\":9"
#define ARCHIVED ",\"archived_at\":9"

/* A message, and what is said of it later; without `was`, its only line. */
static const struct {
	const char *was, *is, *content;
} said[] = {
	{ NULL, "false" LINKS, "c" },	      { NULL, "true" LINKS, "c" },
	{ NULL, "true" LINKS ARCHIVED, "c" }, { "false", "true" LINKS, "c" },
	{ "true", "false" LINKS, "c" },	      { "false" LINKS, "false" LINKS ARCHIVED, "c" },
	{ "false", "true", "other" },	      { "true" ARCHIVED, "true", "other" },
};

/* Is memory refused at place n while the line is taken in?  Then nothing of it was; it is the next
 * time. */
static bool runs_out(const struct place *place, struct roger *roger, int which, int n)
{
	struct rg_index *index = new_index(roger, "messages.db");
	uint64_t before = 0, end = 0;
	struct roger_err err;
	int r;

	if (said[which].was) {
		tell(place, n, "i", "c", said[which].was);
		assert_int_equal(rg_engine_settle(roger->engine, &before, NULL), ROGER_OK);
		assert_int_equal(rg_index_refresh(roger->engine->index, before, NULL), ROGER_OK);
	}
	/* It has no statement yet. */
	assert_int_equal(rg_index_refresh(index, before, NULL), ROGER_OK);
	before = rg_index_end(index);
	/* What is changed last is not always the message. */
	if (!said[which].was)
		tell(place, n + 5000, "j", "c", "true" ARCHIVED);
	tell(place, n, "i", said[which].content, said[which].is);
	assert_int_equal(rg_engine_settle(roger->engine, &end, NULL), ROGER_OK);
	scarce_refused = false;
	scarce_once = true;
	scarce_left = n;
	r = rg_index_refresh(index, end, &err);
	scarce_left = -1;
	assert_true(r == ROGER_OK || r == ROGER_ENOMEM);
	assert_int_equal(rg_index_end(index), r == ROGER_OK ? end : before);
	assert_int_equal(rg_index_refresh(index, end, NULL), ROGER_OK);
	rg_index_free(index);
	return scarce_refused;
}

static void memory_that_runs_out_leaves_nothing_half_taken(void **state)
{
	struct rg_buf grown, anew;
	struct place place;
	struct roger *roger;
	ino_t index;
	int which, n;

	(void)state;
	rg_buf_init(&grown, SIZE_MAX);
	rg_buf_init(&anew, SIZE_MAX);
	for (which = 0; which < (int)(sizeof said / sizeof *said); which++) {
		place_make(&place);
		rebuild(&place);
		index = inode_of(place.index);
		roger = place_open(&place);
		for (n = which; runs_out(&place, roger, which, n); n += 3)
			assert_true(n < 5000);
		report_all(roger);
		/* One that was made anew would show nothing. */
		assert_int_equal(inode_of(place.index), index);
		dump(&place, &grown);
		rebuild(&place);
		report_all(roger);
		roger_close(roger);
		dump(&place, &anew);
		if (strcmp(grown.data, anew.data) != 0)
			fail_apart(&grown, &anew, which);
		place_remove(&place);
	}
	rg_buf_deinit(&grown);
	rg_buf_deinit(&anew);
}

/* The same in memory, where nothing is there before. */
static void memory_that_runs_out_leaves_no_half_index(void **state)
{
	const struct rg_query query = { .unread = true, .to = RG_STR("b") };
	struct place *place = *state;
	struct roger *roger;
	struct rg_index *index;
	struct roger_err err;
	uint64_t end = 0;
	int64_t count;
	int n, r;

	assert_int_equal(mkdir(place->index, 0700), 0);
	roger = place_open(place);
	send(roger, "a", "b", "one");
	send(roger, "a", "b", "two");
	assert_int_equal(rg_engine_settle(roger->engine, &end, NULL), ROGER_OK);
	scarce_refused = true;
	for (n = 0; scarce_refused; n += 11) {
		index = new_index(roger, "messages.db");
		scarce_refused = false;
		scarce_once = true;
		scarce_left = n;
		r = rg_index_refresh(index, end, &err);
		scarce_left = -1;
		assert_true(r == ROGER_OK || scarce_refused);
		if (rg_index_refresh(index, end, &err) < 0 ||
		    rg_index_count(index, &query, &count, &err) < 0)
			fail_msg("after piece %d: %s", n, err.message);
		assert_int_equal(count, 2);
		rg_index_free(index);
	}
	roger_close(roger);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_seeds_schema_stands_as_it_is),
		TEST(every_column_has_its_value),
		TEST(any_history_gives_the_same_rows),
		TEST(damage_gives_the_same_rows),
		TEST(times_and_types_are_found_whatever_the_clock_did),
		TEST(over_the_tables_any_history_gives_the_same_answers),
		TEST(what_a_lost_line_said_is_forgotten),
		TEST(a_replaced_log_is_read_again),
		TEST(what_settles_a_dead_letter_closes_it),
		TEST(taking_messages_opens_it_once),
		TEST(only_what_changed_is_written),
		TEST(what_is_no_message_is_counted_once),
		TEST(with_another_last_line_it_is_another_journal),
		TEST(with_other_altered_lines_it_is_made_anew),
		TEST(an_altered_line_brings_no_archived_message_back),
		TEST(what_is_rewritten_is_noted_once),
		TEST(what_lines_say_stands_in_the_tables),
		TEST(stale_or_strange_it_is_made_anew),
		TEST(changed_under_an_open_handle_it_is_made_anew),
		TEST(one_of_another_journal_is_not_believed),
		TEST(damage_never_fails_a_question),
		TEST(damage_never_fails_a_send),
		TEST(nobody_gets_mail_by_a_wrong_index),
		TEST(who_writes_much_brings_them_up),
		TEST(of_very_much_a_part_is_brought_up),
		TEST(one_made_anew_elsewhere_is_written_to),
		TEST(half_made_ones_are_no_hindrance),
		TEST(recent_pages_of_another_one_do_not_count),
		TEST(one_from_before_a_rebuild_is_noticed),
		TEST(far_behind_it_is_rebuilt),
		TEST(tables_that_another_handle_made_are_no_damage),
		TEST(no_answer_waits_for_messages_db),
		TEST(a_large_messages_db_is_left_to_rebuild),
		TEST(a_failed_checkpoint_is_not_taken_for_one),
		TEST(deleted_in_mid_use_it_comes_back),
		TEST(damaged_under_an_open_handle_it_answers),
		TEST(what_is_no_file_is_left_alone),
		TEST(an_empty_one_answers),
		TEST(in_memory_it_follows),
		TEST(memory_that_runs_out_leaves_nothing_half_taken),
		TEST(memory_that_runs_out_leaves_no_half_index),
	};
	int failed;

	let_memory_run_out();
	watch_sqlite();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return failed;
}
