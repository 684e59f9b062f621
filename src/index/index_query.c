/* Queries to the tables. */
#include "index/index_db.h"

#include <stdlib.h>

#include "base/id.h"
#include "facts/message.h"
#include "facts/sequence.h"

/* The value of a placeholder. */
struct value {
	bool is_text;
	struct roger_str text;
	int64_t number;
};

void rg_question_init(struct rg_question *question, const char *sql)
{
	rg_buf_init(&question->sql, 1 << 20);
	rg_buf_init(&question->values, SIZE_MAX);
	rg_buf_add_text(&question->sql, sql);
}

void rg_question_deinit(struct rg_question *question)
{
	rg_buf_deinit(&question->sql);
	rg_buf_deinit(&question->values);
}

static void add_value(struct rg_question *question, const char *sql, struct value value)
{
	rg_buf_add_text(&question->sql, sql);
	rg_buf_add(&question->values, &value, sizeof value);
}

void rg_question_text(struct rg_question *question, const char *sql, struct roger_str text)
{
	add_value(question, sql, (struct value){ .is_text = true, .text = text });
}

void rg_question_number(struct rg_question *question, const char *sql, int64_t number)
{
	add_value(question, sql, (struct value){ .number = number });
}

/* Every word must match; words are quoted so that they contain no operators; word* matches a
 * prefix. */
static void add_words(struct rg_buf *match, struct roger_str text)
{
	static const char blank[] = " \t\r\n";
	size_t at = 0, start, end;
	bool beginning;

	while (at < text.length) {
		while (at < text.length && strchr(blank, text.data[at]))
			at++;
		for (start = at; at < text.length && !strchr(blank, text.data[at]);)
			at++;
		if (start == at)
			break;
		beginning = at - start > 1 && text.data[at - 1] == '*';
		rg_buf_add_char(match, '"');
		for (end = at - beginning; start < end; start++) {
			rg_buf_add_char(match, text.data[start]);
			if (text.data[start] == '"')
				rg_buf_add_char(match, '"');
		}
		rg_buf_add_text(match, beginning ? "\"* " : "\" ");
	}
}

/* The tables to read, the narrowest first, since SQLite has no statistics to choose by; and the
 * first one's column of positions, so that nothing needs sorting. */
struct source {
	const char *tables, *position;
	bool spans; /* the first table is that of spans: only what is of the type is read */
};

#define OF_SPANS(table)                                                                            \
	" FROM spans p CROSS JOIN " table " m NOT INDEXED"                                         \
	" ON m.position BETWEEN p.first AND p.last"

/* Does only the type, and perhaps a time, say which messages are asked for? */
static bool is_of_type_only(const struct rg_query *query)
{
	return query->type && !query->text.length && !query->key.length && !query->to.length &&
	       !query->issue.length && !query->from.length && !query->id_count &&
	       !query->piece.length && !query->thread.length;
}

static struct source source_of(const struct rg_query *query, bool archived)
{
	struct source source = { " FROM messages m", "m.rowid" };

	if (archived) {
		source.tables =
			query->key.length
				? " FROM keys k CROSS JOIN archived m ON m.position = k.position"
				: " FROM archived m";
		source.position = "m.position";
	} else if (query->text.length) {
		source.tables =
			query->key.length
				? " FROM keys k CROSS JOIN search s ON s.rowid = k.position"
				  " CROSS JOIN messages m ON m.rowid = s.rowid"
				: " FROM search s CROSS JOIN messages m ON m.rowid = s.rowid";
		source.position = "s.rowid";
	} else if (query->key.length) {
		source.tables = " FROM keys k CROSS JOIN messages m ON m.rowid = k.position";
		source.position = "k.position";
	} else if (query->unread && query->to.length && query->issue.length) {
		source.tables = " FROM messages m INDEXED BY messages_unread";
	} else if (query->unread && query->to.length) {
		source.tables = " FROM messages m INDEXED BY messages_mailbox";
	}
	if (is_of_type_only(query)) {
		source.tables = archived ? OF_SPANS("archived") : OF_SPANS("messages");
		source.spans = true;
	}
	return source;
}

static void add_ids(struct rg_question *question, const struct rg_index *index,
		    const struct rg_query *query, bool archived)
{
	size_t i;

	for (i = 0; i < query->id_count; i++)
		rg_question_text(question, i ? ", ?" : " AND m.id IN (?", query->ids[i]);
	if (query->id_count)
		rg_buf_add_char(&question->sql, ')');
	if (query->piece.length) {
		rg_buf_printf(&question->sql, " AND m.position IN (SELECT position FROM %s",
			      archived ? "archived" : "messages");
		/* All ids are gone through, so not where none can have the piece. */
		rg_buf_add_text(&question->sql,
				index->progress.strange || rg_id_may_have(query->piece)
					? " WHERE"
					: " WHERE 0 AND");
		rg_question_text(question, " instr(id, ?))", query->piece);
	}
	if (query->thread.length)
		rg_question_text(
			question,
			" AND m.id IN (WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT r.parent "
			"FROM up JOIN replies r"
			" ON r.id = up.id), down(id) AS (SELECT id FROM up UNION SELECT r.id FROM "
			"down JOIN replies r"
			" ON r.parent = down.id) SELECT id FROM down)",
			query->thread);
}

void rg_question_times(struct rg_question *question, int64_t since_ms, int64_t until_ms,
		       const char *position)
{
	if (since_ms) {
		rg_question_number(question, " AND m.created_at >= ?", since_ms);
		rg_buf_printf(&question->sql, " AND %s >= (SELECT first FROM spans", position);
		rg_question_number(question, " WHERE newest >= ? ORDER BY first LIMIT 1)",
				   since_ms);
	}
	if (until_ms) {
		rg_question_number(question, " AND m.created_at < ?", until_ms);
		rg_buf_printf(&question->sql, " AND %s <= (SELECT last FROM spans", position);
		rg_question_number(question, " WHERE oldest < ? ORDER BY first DESC LIMIT 1)",
				   until_ms);
	}
}

/* Find keys by their sender, which is the first column; of any sender, name each that has keys. */
static void add_key(struct rg_question *question, const struct rg_query *query)
{
	if (!query->key.length)
		return;
	if (query->from.length)
		rg_question_text(question, " AND k.sender = ?", query->from);
	else
		rg_buf_add_text(
			&question->sql,
			" AND k.sender IN (WITH RECURSIVE s(name) AS (SELECT min(sender)"
			" FROM keys UNION ALL SELECT (SELECT min(sender) FROM keys WHERE"
			" sender > s.name) FROM s WHERE s.name IS NOT NULL) SELECT name FROM s)");
	if (!query->of_task) {
		rg_question_text(question, " AND k.key = ?", query->key);
		return;
	}
	rg_question_text(question, " AND k.key >= ?", query->key);
	rg_question_text(question, " AND k.key < ? || ';'", query->key);
	rg_question_text(question, " AND (k.key = ?", query->key);
	rg_question_text(question, " OR k.key > ? || ':')", query->key);
}

static void add_conditions(struct rg_question *question, const struct rg_index *index,
			   const struct rg_query *query, const struct rg_buf *match, bool archived)
{
	const struct source source = source_of(query, archived);

	rg_buf_add_text(&question->sql, " WHERE 1");
	add_ids(question, index, query, archived);
	if (query->text.length && !archived)
		rg_question_text(question, " AND search MATCH ?", rg_buf_str(match));
	add_key(question, query);
	if (query->to.length)
		rg_question_text(question, " AND m.to_phase = ?", query->to);
	if (query->issue.length)
		rg_question_text(question, " AND m.issue_id = ?", query->issue);
	if (query->from.length)
		rg_question_text(question, " AND m.from_phase = ?", query->from);
	if (query->type)
		rg_question_text(question, " AND m.message_type = ?",
				 rg_str(rg_type_names[query->type]));
	if (query->run_counter)
		rg_question_number(question, " AND m.run_counter = ?", query->run_counter);
	/* Written as in the index messages_mailbox, so that SQLite uses that. */
	if (query->unread || query->read)
		rg_buf_add_text(&question->sql,
				query->read ? " AND m.read = 1" : " AND m.read = 0");
	if (query->type && source.spans)
		rg_question_number(question, " AND p.types & ?", 1 << query->type);
	rg_question_times(question, query->since_ms, query->until_ms,
			  source.spans ? "p.first" : source.position);
	if (query->free_at_ms && !archived) {
		rg_buf_printf(&question->sql,
			      " AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.position = %s",
			      source.position);
		rg_question_number(question, " AND l.until > ?", query->free_at_ms);
		rg_question_number(question, " AND (l.until <= ?",
				   rg_index_lease_end_max(index, query->free_at_ms));
		rg_question_number(question, " OR l.until = ?))", INT64_MAX);
	}
	if (query->after) {
		rg_buf_printf(&question->sql, " AND %s", source.position);
		rg_question_number(question, query->newest ? " < ?" : " > ?", query->after);
	}
}

/* Queries with the same SQL share a statement: asking for an inbox again prepares nothing. */
static int statement_of(struct rg_index *index, struct roger_str sql, sqlite3_stmt **ret_statement,
			struct roger_err *err)
{
	struct rg_asked *place;
	size_t i;

	for (i = 0; i < RG_ASKED_MAX; i++)
		if (index->asked[i].sql && rg_str_is(sql, index->asked[i].sql)) {
			*ret_statement = index->asked[i].statement;
			return ROGER_OK;
		}
	place = &index->asked[index->asked_next++ % RG_ASKED_MAX];
	sqlite3_finalize(place->statement);
	free(place->sql);
	*place = (struct rg_asked){ 0 };
	if (sqlite3_prepare_v3(index->db, sql.data, (int)sql.length, SQLITE_PREPARE_PERSISTENT,
			       &place->statement, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask", err);
	place->sql = strndup(sql.data, sql.length);
	if (!place->sql)
		return rg_fail_memory(err);
	*ret_statement = place->statement;
	return ROGER_OK;
}

/* Get the question's statement, with its values bound; the caller resets it. */
static int prepare_question(struct rg_index *index, const struct rg_question *question,
			    sqlite3_stmt **ret_statement, struct roger_err *err)
{
	struct value value;
	size_t i;
	int r;

	if (question->sql.failed || question->values.failed)
		return rg_fail_memory(err);
	r = statement_of(index, rg_buf_str(&question->sql), ret_statement, err);
	if (r < 0)
		return r;
	for (i = 0; i < question->values.length / sizeof value; i++) {
		memcpy(&value, question->values.data + i * sizeof value, sizeof value);
		if (value.is_text)
			rg_index_bind(*ret_statement, (int)i + 1, value.text);
		else
			sqlite3_bind_int64(*ret_statement, (int)i + 1, value.number);
	}
	return ROGER_OK;
}

int rg_index_ask_once(struct rg_index *index, const struct rg_question *question, rg_index_see *see,
		      void *context, struct roger_err *err)
{
	sqlite3_stmt *statement = NULL;
	int step = SQLITE_DONE, r;

	r = prepare_question(index, question, &statement, err);
	while (r == ROGER_OK && (step = sqlite3_step(statement)) == SQLITE_ROW)
		r = see(context, statement, err);
	if (r == ROGER_OK && step != SQLITE_DONE)
		r = rg_index_fail(index, "ask", err);
	sqlite3_reset(statement);
	return r;
}

/* Run a query, rebuilding the index if it is damaged.  Deinitializes the question. */
static int ask_rebuilding(struct rg_index *index, struct rg_question *question, rg_index_see *see,
			  void *context, struct roger_err *err)
{
	int tries = 0, r;

	do {
		r = see(context, NULL, err);
		if (r == ROGER_OK)
			r = rg_index_ask_once(index, question, see, context, err);
	} while (rg_index_heals(index, &tries, &r, err));
	rg_question_deinit(question);
	return r;
}

/* --------------------------------------------------------- full-text table -- */

enum { TELL_ROWS = 1000 };

struct searching {
	struct rg_index *index;
	int64_t count;
};

/* Add a message to the full-text table; its texts are read from the journal. */
static int add_search(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = RG_LINE_BYTES_MAX + 1 };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct rg_entry entry = rg_index_entry(row);
	struct searching *searching = context;
	struct rg_index *const index = searching->index;
	struct roger_message message;
	int r = rg_kept(arena, err);

	if (++searching->count % TELL_ROWS == 0 &&
	    !rg_index_report_progress(index, "search messages", entry.position,
				      index->progress.lines))
		return rg_fail(err, ROGER_EREFUSED, 0, "stopped");
	if (r == ROGER_OK)
		r = rg_store_read_line(index->store, entry.offset, entry.length, &line, err);
	if (r == ROGER_OK)
		r = rg_message_read_within(rg_buf_str(&line), arena, &message, err);
	if (r == ROGER_EDATA)
		rg_index_doubt(index);
	return r < 0 ? r
		     : rg_index_put(index, RG_SQL_SEARCH_ADD, err, "itt", entry.position,
				    message.content, message.metadata);
}

static int fill_search(struct rg_index *index, const void *unused, struct roger_err *err)
{
	struct searching searching = { .index = index };
	struct rg_question question;
	int r = rg_index_load(index, err);

	(void)unused;
	if (r == ROGER_OK)
		r = rg_index_run(index,
				 "CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(content,"
				 " metadata, content = '')",
				 err);
	if (r < 0)
		return r;
	rg_question_init(&question, "SELECT position, position, first_offset, first_length");
	rg_question_number(&question, " FROM messages WHERE position > ?",
			   index->progress.search_to);
	r = rg_index_ask_once(index, &question, add_search, &searching, err);
	rg_question_deinit(&question);
	if (r < 0)
		return r;
	index->progress.search_to = index->progress.lines;
	return rg_index_run(index, "UPDATE progress SET search_to = lines", err);
}

/* Find the words to match, and update the full-text table, for which only a text search pays; "" if
 * no words are asked for. */
static int words_of(struct rg_index *index, const struct rg_query *query, struct rg_buf *match,
		    struct roger_err *err)
{
	const struct rg_index_progress *progress = &index->progress;
	int tries = 0, r = ROGER_OK;

	if (!query->text.length)
		return ROGER_OK;
	add_words(match, query->text);
	if (match->failed)
		return rg_fail_memory(err);
	/* The table must exist even if there are no lines. */
	do
		if (progress->search_to < progress->lines || !progress->search_to)
			r = rg_index_write(index, RG_LOCK_WAIT_MS, fill_search, NULL, err);
	while (rg_index_heals(index, &tries, &r, err));
	return r;
}

/* -------------------------------------------------------------- finding -- */

/* Entries found so far: live messages, then archived ones. */
struct finding {
	struct rg_index *index;
	struct rg_arena *arena;
	struct rg_entry *items;
	size_t count, count_before;
};

static int see_entry(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct finding *finding = context;
	struct rg_entry entry;

	if (!row) {
		finding->count = finding->count_before;
		return ROGER_OK;
	}
	entry = rg_index_entry(row);
	return rg_kept(rg_arena_append(finding->arena, &finding->items, &finding->count, &entry,
				       sizeof entry),
		       err);
}

static int find_in(struct finding *finding, const struct rg_query *query,
		   const struct rg_buf *match, bool archived, struct roger_err *err)
{
	const struct source source = source_of(query, archived);
	const char *position = source.position;
	struct rg_question question;

	rg_question_init(&question, "");
	rg_buf_printf(&question.sql,
		      "SELECT %s, %s, m.offset, m.length, m.hash, m.first_offset, m.first_length",
		      position, archived ? "0" : "m.line");
	rg_buf_add_text(&question.sql, source.tables);
	add_conditions(&question, finding->index, query, match, archived);
	rg_buf_printf(&question.sql, " ORDER BY %s%s%s", source.spans ? "p.first" : position,
		      query->newest ? " DESC" : "", source.spans ? ", " : "");
	if (source.spans)
		rg_buf_printf(&question.sql, "%s%s", position, query->newest ? " DESC" : "");
	if (query->limit)
		rg_question_number(&question, " LIMIT ?", query->limit);
	finding->count_before = finding->count;
	return ask_rebuilding(finding->index, &question, see_entry, finding, err);
}

int rg_index_compare_positions(const void *a, const void *b)
{
	const struct rg_entry *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static int newest_first(const void *a, const void *b)
{
	return rg_index_compare_positions(b, a);
}

int rg_index_find(struct rg_index *index, const struct rg_query *query, struct rg_arena *arena,
		  struct rg_entries *ret_entries, int64_t *ret_total, struct roger_err *err)
{
	const struct rg_query all = rg_query_held_too(query);
	struct finding finding = { .index = index, .arena = arena };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf match = { .maximum = 1 << 20 };
	bool together;
	int r = words_of(index, query, &match, err);

	rg_assert(!ret_total || (!query->text.length && !query->after));
	if (r < 0)
		return r;
	/* Ask in one transaction, so that a message that is archived meanwhile is not missed, and
	 * the file is locked and checked once. */
	together = (query->anywhere || ret_total) && sqlite3_get_autocommit(index->db);
	if (together)
		r = rg_index_run_one(index, RG_SQL_BEGIN, err);
	if (r == ROGER_OK && (!query->archived || query->anywhere))
		r = find_in(&finding, query, &match, false, err);
	if (r == ROGER_OK && (query->archived || query->anywhere))
		r = find_in(&finding, query, &match, true, err);
	if (query->anywhere && finding.count)
		qsort(finding.items, finding.count, sizeof *finding.items,
		      query->newest ? newest_first : rg_index_compare_positions);
	/* Each half may have as many as were asked for; cut there, since beyond a half has gaps. */
	if (query->limit && finding.count > (size_t)query->limit)
		finding.count = (size_t)query->limit;
	*ret_entries = (struct rg_entries){ finding.items, finding.count };
	if (ret_total)
		*ret_total = (int64_t)finding.count;
	if (r == ROGER_OK && ret_total &&
	    (query->free_at_ms || (query->limit && *ret_total >= query->limit)))
		r = rg_index_count(index, &all, ret_total, err);
	if (together)
		rg_index_finish(index);
	return r;
}

int rg_index_rewrites(struct rg_index *index, struct roger_str journal, struct rg_arena *arena,
		      struct roger_finding_list *ret_rewrites, struct roger_err *err)
{
	static const struct rg_index_place places[] = {
		{ 'i', offsetof(struct roger_finding, line) },
		{ 'i', offsetof(struct roger_finding, byte) },
		{ 'd', offsetof(struct roger_finding, kind) },
		{ 't', offsetof(struct roger_finding, file) },
	};
	struct rg_question question;

	*ret_rewrites = (struct roger_finding_list){ 0 };
	if (!index->db)
		return ROGER_OK;
	rg_question_init(&question, "SELECT DISTINCT line, offset");
	rg_question_number(&question, ", ?", ROGER_REWRITTEN);
	rg_question_text(&question, ", ? FROM rewrites ORDER BY line", journal);
	return rg_index_collect(index, &question, places, sizeof *ret_rewrites->items, arena,
				ret_rewrites, err);
}

/* ------------------------------------------------------------- counting -- */

static int see_number(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	(void)err;
	*(int64_t *)context = row ? sqlite3_column_int64(row, 0) : 0;
	return ROGER_OK;
}

/* Ask for counts that are kept in tables. */
static void ask_kept(struct rg_question *question, const struct rg_query *query)
{
	static const char *const sums[] = {
		"SELECT sum(context + result + decision + data) FROM issues",
		"SELECT sum(context) FROM issues",
		"SELECT sum(result) FROM issues",
		"SELECT sum(decision) FROM issues",
		"SELECT sum(data) FROM issues",
	};

	rg_assert(rg_query_is_kept(query));
	if (rg_query_is_unread_only(query)) {
		rg_question_init(question, "");
		rg_question_text(question, "SELECT unread FROM agents WHERE name = ?", query->to);
		return;
	}
	rg_question_init(question, rg_query_is_unread_of_issue(query)
					   ? "SELECT sum(unread) FROM issues"
					   : sums[query->type]);
	if (query->issue.length)
		rg_question_text(question, " WHERE issue_id = ?", query->issue);
}

int rg_index_count(struct rg_index *index, const struct rg_query *query, int64_t *ret_count,
		   struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf match = { .maximum = 1 << 20 };
	struct rg_question question;
	int r;

	r = words_of(index, query, &match, err);
	if (r < 0)
		return r;
	if (rg_query_is_kept(query)) {
		ask_kept(&question, query);
	} else {
		rg_question_init(&question, "SELECT count(*)");
		rg_buf_add_text(&question.sql, source_of(query, query->archived).tables);
		add_conditions(&question, index, query, &match, query->archived);
	}
	return ask_rebuilding(index, &question, see_number, ret_count, err);
}

/* -------------------------------------------------------------- figures -- */

/* A list that grows by one item per row. */
struct collecting {
	struct rg_arena *arena;
	const struct rg_index_place *places;
	size_t item_size;
	struct rg_list list;
};

static int see_item(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct collecting *collecting = context;
	struct rg_list *const list = &collecting->list;
	int column, columns;
	bool copied = true;
	char *item, *at;

	if (!row) {
		list->count = 0;
		return ROGER_OK;
	}
	item = rg_arena_push(collecting->arena, &list->items, &list->count, collecting->item_size);
	columns = sqlite3_column_count(row);
	for (column = 0; item && copied && column < columns; column++) {
		at = item + collecting->places[column].offset;
		switch (collecting->places[column].kind) {
		case 'i':
			*(int64_t *)(void *)at = sqlite3_column_int64(row, column);
			break;
		case 'd':
			*(int *)(void *)at = sqlite3_column_int(row, column);
			break;
		case 'b':
			*(bool *)at = sqlite3_column_int(row, column);
			break;
		default:
			copied = rg_arena_copy(collecting->arena, rg_index_column(row, column),
					       (void *)at);
		}
	}
	return rg_kept(item && copied, err);
}

int rg_index_collect(struct rg_index *index, struct rg_question *question,
		     const struct rg_index_place *places, size_t item_size, struct rg_arena *arena,
		     void *ret_list, struct roger_err *err)
{
	struct collecting collecting = { arena, places, item_size, { 0 } };
	int r = ask_rebuilding(index, question, see_item, &collecting, err);

	memcpy(ret_list, &collecting.list, sizeof collecting.list);
	return r;
}

int rg_index_ask_texts(struct rg_index *index, struct rg_question *question, struct rg_arena *arena,
		       struct roger_strs *ret_texts, struct roger_err *err)
{
	static const struct rg_index_place text = { 't', 0 };

	return rg_index_collect(index, question, &text, sizeof(struct roger_str), arena, ret_texts,
				err);
}

int rg_index_agents(struct rg_index *index, int64_t epoch, struct roger_str after, int64_t limit,
		    struct rg_arena *arena, struct roger_agent_list *ret_agents,
		    struct roger_err *err)
{
	static const struct rg_index_place places[] = {
		{ 't', offsetof(struct roger_agent, name) },
		{ 'i', offsetof(struct roger_agent, sent) },
		{ 'i', offsetof(struct roger_agent, received) },
		{ 'i', offsetof(struct roger_agent, unread) },
		{ 'i', offsetof(struct roger_agent, last_sent_at_ms) },
		{ 'i', offsetof(struct roger_agent, seq) },
	};
	struct rg_question question;

	rg_question_init(&question, "SELECT name, sent, received, unread, last_sent_at");
	rg_question_number(&question,
			   ", CASE WHEN ?1 IN (0, epoch) THEN seq ELSE 0 END FROM agents", epoch);
	rg_question_text(&question, " WHERE name > ?", after);
	rg_question_number(&question, " ORDER BY name LIMIT ?", limit ? limit : -1);
	return rg_index_collect(index, &question, places, sizeof *ret_agents->items, arena,
				ret_agents, err);
}

int rg_index_issues(struct rg_index *index, int64_t unread, struct rg_arena *arena,
		    struct roger_strs *ret_issues, struct roger_err *err)
{
	struct rg_question question;

	rg_question_init(&question, "SELECT issue_id FROM issues");
	rg_question_number(&question,
			   " WHERE ?1 < 0 OR (context + result + decision + data > 0"
			   " AND unread >= ?1) ORDER BY issue_id",
			   unread);
	return rg_index_ask_texts(index, &question, arena, ret_issues, err);
}

int rg_index_measure(struct rg_index *index, struct roger_str issue, bool whole,
		     struct rg_arena *arena, struct rg_issue_list *ret_issues,
		     struct roger_err *err)
{
	static const struct rg_index_place places[] = {
		{ 't', offsetof(struct rg_issue, figures.issue) },
		{ 'i', offsetof(struct rg_issue, figures.messages) },
		{ 'i', offsetof(struct rg_issue, types[ROGER_CONTEXT]) },
		{ 'i', offsetof(struct rg_issue, types[ROGER_RESULT]) },
		{ 'i', offsetof(struct rg_issue, types[ROGER_DECISION]) },
		{ 'i', offsetof(struct rg_issue, types[ROGER_DATA]) },
		{ 'i', offsetof(struct rg_issue, figures.unread) },
		{ 'i', offsetof(struct rg_issue, figures.bytes) },
		{ 'i', offsetof(struct rg_issue, figures.archived) },
		{ 'i', offsetof(struct rg_issue, figures.oldest_at_ms) },
		{ 'i', offsetof(struct rg_issue, figures.newest_at_ms) },
		{ 'i', offsetof(struct rg_issue, agents) },
		{ 'i', offsetof(struct rg_issue, newest_pass) },
	};
	struct rg_question question;

	rg_question_init(&question,
			 "SELECT issue_id, context + result + decision + data AS messages,"
			 " context, result, decision, data, unread, bytes,"
			 " (SELECT count(*) FROM archived a WHERE a.issue_id = i.issue_id),"
			 " (SELECT created_at FROM messages m WHERE m.issue_id = i.issue_id"
			 " ORDER BY position LIMIT 1),"
			 " (SELECT created_at FROM messages m WHERE m.issue_id = i.issue_id"
			 " ORDER BY position DESC LIMIT 1)");
	rg_buf_add_text(&question.sql,
			whole ? ", (SELECT count(*) FROM (SELECT from_phase FROM messages m"
				" WHERE m.issue_id = i.issue_id UNION SELECT to_phase"
				" FROM messages m WHERE m.issue_id = i.issue_id)),"
				" (SELECT max(run_counter) FROM messages m"
				" WHERE m.issue_id = i.issue_id)"
			      : ", 0, 0");
	rg_buf_add_text(&question.sql, " FROM issues i WHERE ");
	if (issue.length)
		rg_question_text(&question, "issue_id = ?", issue);
	else
		rg_buf_add_text(&question.sql, "messages > 0 ORDER BY issue_id");
	return rg_index_collect(index, &question, places, sizeof *ret_issues->items, arena,
				ret_issues, err);
}

int rg_index_figures(struct rg_index *index, struct roger_stats_reply *reply, struct roger_err *err)
{
	int64_t found[9];
	int tries = 0, r;
	bool there;

	do
		r = rg_index_look_up(index, RG_SQL_FIGURES_GET, found, 9, &there, err, "");
	while (rg_index_heals(index, &tries, &r, err));
	reply->strays = index->progress.strays;
	reply->journal_lines = index->progress.lines;
	reply->archived = index->progress.archived;
	reply->context = found[0];
	reply->result = found[1];
	reply->decision = found[2];
	reply->data = found[3];
	reply->messages = found[0] + found[1] + found[2] + found[3];
	reply->issues = found[4];
	reply->unread = found[5];
	reply->agents = found[6];
	reply->oldest_at_ms = found[7];
	reply->newest_at_ms = found[8];
	return r;
}

int rg_index_sequence(struct rg_index *index, int64_t epoch, struct rg_sequence *sequence,
		      struct roger_err *err)
{
	static const struct rg_index_place places[] = {
		{ 't', offsetof(struct rg_number, reader) },
		{ 't', offsetof(struct rg_number, sender) },
		{ 'i', offsetof(struct rg_number, seq) },
	};
	struct {
		const struct rg_number *items;
		size_t count;
	} list;
	struct rg_question question;
	size_t i;
	int r;

	rg_question_init(&question, "");
	rg_question_number(&question,
			   "SELECT '', name, seq FROM agents WHERE epoch = ?1 AND seq > 0 UNION ALL"
			   " SELECT reader, sender, seq FROM last_seen WHERE epoch = ?1",
			   epoch);
	r = rg_index_collect(index, &question, places, sizeof *list.items, sequence->memory, &list,
			     err);
	for (i = 0; r == ROGER_OK && i < list.count; i++)
		r = rg_sequence_raise_seen(sequence, list.items[i].reader, list.items[i].sender,
					   list.items[i].seq, err);
	return r;
}

int rg_index_accepted_number(struct rg_index *index, struct roger_str reader,
			     struct roger_str sender, int64_t epoch, int64_t *ret_number,
			     struct roger_err *err)
{
	int tries = 0, r;
	bool there;

	do
		r = rg_index_look_up(index, RG_SQL_ACCEPTED_GET, ret_number, 1, &there, err, "tti",
				     reader, sender, epoch);
	while (rg_index_heals(index, &tries, &r, err));
	return r;
}
