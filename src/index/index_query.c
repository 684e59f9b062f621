/* Questions to the tables. */
#include "index/index_db.h"

#include <stdlib.h>

#include "facts/message.h"
#include "facts/sequence.h"

/* A statement being put together, and the values for its places. */
struct value {
	bool is_text;
	struct roger_str text;
	int64_t number;
};
struct question {
	struct rg_buf sql;
	struct rg_buf values; /* struct value, one for each place; ids may be many */
	struct rg_buf match;  /* words for the full-text table */
	int64_t lease_ms_max; /* 0: none */
};

static void add_value(struct question *question, const char *sql, struct value value)
{
	rg_buf_add_text(&question->sql, sql);
	rg_buf_add(&question->values, &value, sizeof value);
}

static void add_text(struct question *question, const char *sql, struct roger_str text)
{
	add_value(question, sql, (struct value){ .is_text = true, .text = text });
}

static void add_number(struct question *question, const char *sql, int64_t number)
{
	add_value(question, sql, (struct value){ .number = number });
}

/* Every word must be there; quoted, so that nothing in it is an operator; word* asks for a
 * beginning. */
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

/* What is new for one agent, and nothing else of the messages is asked: their rows stay unread. */
static bool is_mailbox_enough(const struct rg_query *query, bool archived)
{
	return !archived && query->unread && query->to.length && !query->text.length &&
	       !query->key.length && !query->issue.length && !query->from.length && !query->type &&
	       !query->run_counter && !query->since_ms && !query->until_ms && !query->id_count &&
	       !query->thread.length;
}

/* Which tables, the narrowest first; SQLite has no figures to choose by. */
static void add_tables(struct question *question, const struct rg_query *query, bool archived)
{
	struct rg_buf *sql = &question->sql;

	if (archived) {
		rg_buf_add_text(
			sql,
			query->key.length
				? " FROM keys k CROSS JOIN archived m ON m.position = k.position"
				: " FROM archived m");
	} else {
		if (query->text.length)
			rg_buf_add_text(
				sql, " FROM search s CROSS JOIN messages m ON m.rowid = s.rowid");
		else if (query->key.length)
			rg_buf_add_text(
				sql, " FROM keys k CROSS JOIN messages m ON m.rowid = k.position");
		else if (query->unread && query->to.length && query->issue.length)
			rg_buf_add_text(sql, " FROM messages m INDEXED BY messages_unread");
		else if (is_mailbox_enough(query, archived))
			rg_buf_add_text(sql, " FROM mailbox b");
		else if (query->unread && query->to.length)
			rg_buf_add_text(
				sql,
				" FROM mailbox b CROSS JOIN messages m ON m.rowid = b.position");
		else
			rg_buf_add_text(sql, " FROM messages m");
	}
}

static void add_ids(struct question *question, const struct rg_query *query)
{
	size_t i;

	for (i = 0; i < query->id_count; i++)
		add_text(question, i ? ", ?" : " AND m.id IN (?", query->ids[i]);
	if (query->id_count)
		rg_buf_add_char(&question->sql, ')');
	if (query->thread.length)
		add_text(question,
			 " AND m.id IN (WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT r.parent "
			 "FROM up JOIN replies r"
			 " ON r.id = up.id), down(id) AS (SELECT id FROM up UNION SELECT r.id FROM "
			 "down JOIN replies r"
			 " ON r.parent = down.id) SELECT id FROM down)",
			 query->thread);
}

/* The position as the table that is gone through first has it, so that nothing need be sorted. */
static const char *position_of(const struct rg_query *query, bool archived)
{
	if (archived)
		return "m.position";
	if (query->text.length)
		return "s.rowid";
	if (query->key.length)
		return "k.position";
	if (query->unread && query->to.length && !query->issue.length)
		return "b.position";
	return "m.rowid";
}

static void add_conditions(struct question *question, const struct rg_query *query, bool archived)
{
	const char *position = position_of(query, archived);

	rg_buf_add_text(&question->sql, " WHERE 1");
	add_ids(question, query);
	if (query->text.length && !archived)
		add_text(question, " AND search MATCH ?", rg_buf_str(&question->match));
	if (query->key.length)
		add_text(question, " AND k.key = ?", query->key);
	if (query->key.length && query->from.length)
		add_text(question, " AND k.sender = ?", query->from);
	if (query->unread && query->to.length && !query->issue.length && !query->text.length &&
	    !query->key.length && !archived)
		add_text(question, " AND b.agent = ?", query->to);
	else if (query->to.length)
		add_text(question, " AND m.to_phase = ?", query->to);
	if (query->issue.length)
		add_text(question, " AND m.issue_id = ?", query->issue);
	if (query->from.length)
		add_text(question, " AND m.from_phase = ?", query->from);
	if (query->type)
		add_text(question, " AND m.message_type = ?",
			 rg_str(rg_message_types[query->type - 1]));
	if (query->run_counter)
		add_number(question, " AND m.run_counter = ?", query->run_counter);
	if ((query->unread || query->read) && !is_mailbox_enough(query, archived))
		add_number(question, " AND m.read = ?", query->read);
	if (query->since_ms)
		add_number(question, " AND m.created_at >= ?", query->since_ms);
	if (query->until_ms)
		add_number(question, " AND m.created_at < ?", query->until_ms);
	if (query->free_at_ms && !archived) {
		rg_buf_printf(&question->sql,
			      " AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.position = %s",
			      position);
		add_number(question, " AND l.until > ?", query->free_at_ms);
		add_number(question, " AND l.until <= ?)",
			   question->lease_ms_max ? query->free_at_ms + question->lease_ms_max
						  : INT64_MAX);
	}
	if (query->after) {
		rg_buf_printf(&question->sql, " AND %s", position);
		add_number(question, query->newest ? " < ?" : " > ?", query->after);
	}
}

static void init_question(struct question *question, const struct rg_index *index,
			  const struct rg_query *query)
{
	question->lease_ms_max = index->lease_ms_max;
	rg_buf_init(&question->sql, 1 << 20);
	rg_buf_init(&question->values, SIZE_MAX);
	rg_buf_init(&question->match, 1 << 20);
	add_words(&question->match, query->text);
}

static void deinit_question(struct question *question)
{
	rg_buf_deinit(&question->sql);
	rg_buf_deinit(&question->values);
	rg_buf_deinit(&question->match);
}

/* Questions of the same words share a statement, so that an inbox asked again costs no preparing.
 */
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

/* The statement with its values; whoever asked resets it. */
static int prepare(struct rg_index *index, struct question *question, sqlite3_stmt **ret_statement,
		   struct roger_err *err)
{
	struct value value;
	size_t i;
	int r;

	if (question->sql.failed || question->values.failed || question->match.failed)
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

/* --------------------------------------------------------- full-text table -- */

/* The texts stand in the journal. */
static int add_search(struct rg_index *index, sqlite3_stmt *add, const struct rg_entry *entry,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = RG_LINE_BYTES_MAX + 1 };
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_journal_read(index->journal, entry->offset, entry->length, &line, err);
	if (r == ROGER_OK)
		r = rg_message_read_within(rg_buf_str(&line), arena, &message, err);
	if (r == ROGER_EDATA)
		rg_index_doubt(index);
	if (r == ROGER_OK) {
		sqlite3_bind_int64(add, 1, entry->position);
		rg_index_bind(add, 2, message.content);
		rg_index_bind(add, 3, message.metadata);
		r = rg_index_step(index, add, err);
	}
	rg_arena_free(arena);
	return r;
}

static int read_entry(struct rg_index *index, sqlite3_stmt *statement, bool archived,
		      struct rg_entry *ret_entry, struct roger_err *err);

static int add_searches(struct rg_index *index, sqlite3_stmt *get, sqlite3_stmt *add,
			struct roger_err *err)
{
	struct rg_entry entry;
	int step, r = ROGER_OK;

	sqlite3_bind_int64(get, 1, index->progress.search_to);
	while (r == ROGER_OK && (step = sqlite3_step(get)) == SQLITE_ROW) {
		r = read_entry(index, get, false, &entry, err);
		if (r == ROGER_OK)
			r = add_search(index, add, &entry, err);
	}
	return r < 0 || step == SQLITE_DONE ? r : rg_index_fail(index, "read lines", err);
}

static int fill_search(struct rg_index *index, struct roger_err *err)
{
	static const char places[] =
		"SELECT m.position, coalesce(c.line, m.position), l.offset, l.lengths FROM "
		"messages m"
		" LEFT JOIN changed c ON c.position = m.position LEFT JOIN lines l"
		" ON l.block = (coalesce(c.line, m.position) - 1) / 64 WHERE m.position > ?1";
	sqlite3_stmt *get = NULL, *add = NULL;
	int r;

	_Static_assert(RG_INDEX_LINES == 64, "as in the statement");
	r = rg_index_run(index,
			 "CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(content, metadata,"
			 " content = '')",
			 err);
	if (r < 0)
		return r;
	if (sqlite3_prepare_v2(index->db, places, -1, &get, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(index->db,
			       "INSERT INTO search(rowid, content, metadata) VALUES (?1, ?2, ?3)",
			       -1, &add, NULL) != SQLITE_OK)
		r = rg_index_fail(index, "prepare the full-text table", err);
	else
		r = add_searches(index, get, add, err);
	sqlite3_finalize(get);
	sqlite3_finalize(add);
	if (r < 0)
		return r;
	index->progress.search_to = index->progress.lines;
	return rg_index_run(index, "UPDATE progress SET search_to = lines", err);
}

/* Only those who search pay for it: the full-text table is brought up to date here. */
static int refresh_search(struct rg_index *index, struct roger_err *err)
{
	int64_t before = index->progress.search_to;
	int r;

	/* Without any lines it has yet to be made. */
	if (before == index->progress.lines && before > 0)
		return ROGER_OK;
	if (!index->in_memory) {
		r = rg_journal_take(index->journal, RG_LOCK_INDEX, RG_LOCK_WAIT_MS, err);
		if (r < 0)
			return r;
	}
	r = rg_index_reopen(index, err);
	before = index->progress.search_to;
	if (r == ROGER_OK)
		r = rg_index_run(index, "BEGIN IMMEDIATE", err);
	if (r == ROGER_OK)
		r = rg_index_load(index, err);
	if (r == ROGER_OK)
		r = fill_search(index, err);
	if (r == ROGER_OK)
		r = rg_index_run(index, "COMMIT", err);
	if (r < 0) {
		index->progress.search_to = before;
		rg_index_rollback(index);
	}
	if (!index->in_memory)
		rg_journal_release(index->journal, RG_LOCK_INDEX);
	return r;
}

/* -------------------------------------------------------------- finding -- */

struct entry_list {
	struct rg_entry *items;
	size_t count;
};

/* The line that is the state of a living message, and the lines that it is among. */
static void add_places(struct question *question, const char *position)
{
	rg_buf_printf(&question->sql,
		      " LEFT JOIN changed c ON c.position = %s"
		      " LEFT JOIN lines l ON l.block = (coalesce(c.line, %s) - 1) / %d",
		      position, position, RG_INDEX_LINES);
}

static int read_entry(struct rg_index *index, sqlite3_stmt *statement, bool archived,
		      struct rg_entry *ret_entry, struct roger_err *err)
{
	ret_entry->position = sqlite3_column_int64(statement, 0);
	if (!archived)
		return rg_index_lines_find(index, sqlite3_column_int64(statement, 1),
					   sqlite3_column_int64(statement, 2),
					   rg_index_bytes(statement, 3), ret_entry, err);
	ret_entry->offset = (uint64_t)sqlite3_column_int64(statement, 1);
	ret_entry->length = (size_t)sqlite3_column_int64(statement, 2);
	return ROGER_OK;
}

static int read_entries(struct rg_index *index, sqlite3_stmt *statement, bool archived,
			struct rg_arena *arena, struct entry_list *list, struct roger_err *err)
{
	struct rg_entry *entry;
	int step, r;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		entry = rg_arena_push(arena, &list->items, &list->count, sizeof *entry);
		if (!entry)
			return rg_fail_memory(err);
		r = read_entry(index, statement, archived, entry, err);
		if (r < 0)
			return r;
	}
	return step == SQLITE_DONE ? ROGER_OK : rg_index_fail(index, "ask", err);
}

static int find_in(struct rg_index *index, const struct rg_query *query, bool archived,
		   struct rg_arena *arena, struct entry_list *list, struct roger_err *err)
{
	const char *position = position_of(query, archived);
	struct question question;
	sqlite3_stmt *statement = NULL;
	int r;

	init_question(&question, index, query);
	if (archived)
		rg_buf_add_text(&question.sql, "SELECT m.position, m.offset, m.length");
	else
		rg_buf_printf(&question.sql, "SELECT %s, coalesce(c.line, %s), l.offset, l.lengths",
			      position, position);
	add_tables(&question, query, archived);
	if (!archived)
		add_places(&question, position);
	add_conditions(&question, query, archived);
	rg_buf_printf(&question.sql, " ORDER BY %s", position);
	if (query->newest)
		rg_buf_add_text(&question.sql, " DESC");
	if (query->limit)
		add_number(&question, " LIMIT ?", query->limit);

	r = prepare(index, &question, &statement, err);
	if (r == ROGER_OK)
		r = read_entries(index, statement, archived, arena, list, err);
	sqlite3_reset(statement);
	deinit_question(&question);
	return r;
}

static int compare_positions(const void *a, const void *b)
{
	const struct rg_entry *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

int rg_index_find(struct rg_index *index, const struct rg_query *query, struct rg_arena *arena,
		  struct rg_entries *ret_entries, struct roger_err *err)
{
	struct entry_list list = { 0 };
	int r = ROGER_OK;

	if (query->text.length) {
		r = refresh_search(index, err);
		if (r < 0)
			return r;
	}
	if (!query->archived || query->anywhere)
		r = find_in(index, query, false, arena, &list, err);
	if (r == ROGER_OK && (query->archived || query->anywhere))
		r = find_in(index, query, true, arena, &list, err);
	if (r < 0)
		return r;
	if (query->anywhere && list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_positions);
	*ret_entries = (struct rg_entries){ list.items, list.count };
	return ROGER_OK;
}

/* ------------------------------------------------------------- counting -- */

static int one_number(struct rg_index *index, struct question *question, int64_t *ret_number,
		      struct roger_err *err)
{
	sqlite3_stmt *statement = NULL;
	int step, r;

	r = prepare(index, question, &statement, err);
	if (r == ROGER_OK) {
		step = sqlite3_step(statement);
		*ret_number = step == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
		if (step != SQLITE_ROW && step != SQLITE_DONE)
			r = rg_index_fail(index, "count", err);
	}
	sqlite3_reset(statement);
	return r;
}

int rg_index_count(struct rg_index *index, const struct rg_query *query, int64_t *ret_count,
		   struct roger_err *err)
{
	struct question question;
	int r = ROGER_OK;

	if (query->text.length)
		r = refresh_search(index, err);
	if (r < 0)
		return r;
	init_question(&question, index, query);
	/* Asked often, so the table of agents keeps it. */
	if (rg_query_is_unread_only(query)) {
		add_text(&question, "SELECT unread FROM agents WHERE name = ?", query->to);
	} else {
		rg_buf_add_text(&question.sql, "SELECT count(*)");
		add_tables(&question, query, query->archived);
		add_conditions(&question, query, query->archived);
	}
	r = one_number(index, &question, ret_count, err);
	deinit_question(&question);
	return r;
}

/* Both in one transaction, so that the file is locked and looked at once. */
int rg_index_find_page(struct rg_index *index, const struct rg_query *query, struct rg_arena *arena,
		       struct rg_entries *ret_entries, int64_t *ret_total, struct roger_err *err)
{
	sqlite3_stmt *begin = rg_index_statement(index, RG_SQL_BEGIN, err);
	sqlite3_stmt *end = begin ? rg_index_statement(index, RG_SQL_END, err) : NULL;
	const struct rg_query all = rg_query_held_too(query);
	int r = end ? rg_index_step(index, begin, err) : ROGER_EIO;

	rg_assert(!query->text.length && !query->after);
	if (r < 0)
		return r;
	r = rg_index_find(index, query, arena, ret_entries, err);
	if (r == ROGER_OK)
		*ret_total = (int64_t)ret_entries->count;
	if (r == ROGER_OK && (query->free_at_ms || (query->limit && *ret_total >= query->limit)))
		r = rg_index_count(index, &all, ret_total, err);
	/* What went wrong may have ended it already. */
	if (!sqlite3_get_autocommit(index->db)) {
		sqlite3_step(end);
		sqlite3_reset(end);
	}
	return r;
}

/* -------------------------------------------------------------- figures -- */

static int read_agents(struct rg_index *index, sqlite3_stmt *statement, int64_t epoch,
		       struct rg_arena *arena, struct roger_agent_list *ret_agents,
		       struct roger_err *err)
{
	struct {
		struct roger_agent *items;
		size_t count;
	} list = { 0 };
	struct roger_agent *agent;
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		agent = rg_arena_push(arena, &list.items, &list.count, sizeof *agent);
		if (!agent || !rg_arena_copy(arena, rg_index_column(statement, 0), &agent->name))
			return rg_fail_memory(err);
		agent->sent = sqlite3_column_int64(statement, 1);
		agent->received = sqlite3_column_int64(statement, 2);
		agent->unread = sqlite3_column_int64(statement, 3);
		if (sqlite3_column_int64(statement, 4) == epoch || epoch == 0)
			agent->seq = sqlite3_column_int64(statement, 5);
		agent->last_sent_at_ms = sqlite3_column_int64(statement, 6);
	}
	*ret_agents = (struct roger_agent_list){ list.items, list.count };
	return step == SQLITE_DONE ? ROGER_OK : rg_index_fail(index, "ask", err);
}

int rg_index_agents(struct rg_index *index, int64_t epoch, struct rg_arena *arena,
		    struct roger_agent_list *ret_agents, struct roger_err *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	if (sqlite3_prepare_v2(index->db,
			       "SELECT name, sent, received, unread, epoch, seq, last_sent_at FROM "
			       "agents ORDER BY name",
			       -1, &statement, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask", err);
	r = read_agents(index, statement, epoch, arena, ret_agents, err);
	sqlite3_finalize(statement);
	return r;
}

int rg_index_issues(struct rg_index *index, struct rg_arena *arena, struct roger_strs *ret_issues,
		    struct roger_err *err)
{
	struct {
		struct roger_str *items;
		size_t count;
	} list = { 0 };
	struct roger_str *issue;
	sqlite3_stmt *statement = NULL;
	int step, r = ROGER_OK;

	/* A skip scan: one look-up an issue, however many messages it has. */
	if (sqlite3_prepare_v2(
		    index->db,
		    "WITH RECURSIVE t(i) AS (SELECT min(issue_id) FROM messages UNION ALL"
		    " SELECT (SELECT min(issue_id) FROM messages WHERE issue_id > t.i) FROM t"
		    " WHERE t.i IS NOT NULL) SELECT i FROM t WHERE i IS NOT NULL",
		    -1, &statement, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask", err);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW && r == ROGER_OK) {
		issue = rg_arena_push(arena, &list.items, &list.count, sizeof *issue);
		if (!issue || !rg_arena_copy(arena, rg_index_column(statement, 0), issue))
			r = rg_fail_memory(err);
	}
	if (r == ROGER_OK && step != SQLITE_DONE)
		r = rg_index_fail(index, "ask", err);
	sqlite3_finalize(statement);
	*ret_issues = (struct roger_strs){ list.items, list.count };
	return r;
}

static int number_of(struct rg_index *index, const char *sql, int64_t *ret_number,
		     struct roger_err *err)
{
	const struct rg_query all = { 0 };
	struct question question;
	int r;

	init_question(&question, index, &all);
	rg_buf_add_text(&question.sql, sql);
	r = one_number(index, &question, ret_number, err);
	deinit_question(&question);
	return r;
}

/* The only figures that need a look at every row. */
static int count_types(struct rg_index *index, int64_t by_type[4], struct roger_err *err)
{
	sqlite3_stmt *statement = NULL;
	int step, type;

	if (sqlite3_prepare_v2(index->db,
			       "SELECT sum(message_type = 'context'), sum(message_type = 'result'),"
			       " sum(message_type = 'decision'), sum(message_type = 'data')"
			       " FROM messages",
			       -1, &statement, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask", err);
	step = sqlite3_step(statement);
	for (type = ROGER_CONTEXT; type <= ROGER_DATA && step == SQLITE_ROW; type++)
		by_type[type] = sqlite3_column_int64(statement, type);
	sqlite3_finalize(statement);
	return step == SQLITE_ROW ? ROGER_OK : rg_index_fail(index, "count", err);
}

int rg_index_figures(struct rg_index *index, struct rg_figures *ret_figures, struct roger_err *err)
{
	struct rg_figures figures = {
		.strays = index->progress.strays,
		.journal_lines = index->progress.lines,
		.archived = index->progress.archived,
	};
	const struct {
		const char *sql;
		int64_t *number;
	} questions[] = {
		{ "SELECT count(*) FROM messages", &figures.messages },
		{ "SELECT coalesce(sum(unread), 0) FROM agents", &figures.unread },
		{ "SELECT count(*) FROM agents", &figures.agents },
		{ "SELECT count(DISTINCT issue_id) FROM messages", &figures.issues },
		{ "SELECT coalesce(min(created_at), 0) FROM messages", &figures.oldest_at_ms },
		{ "SELECT coalesce(max(created_at), 0) FROM messages", &figures.newest_at_ms },
	};
	size_t i;
	int r;

	for (i = 0; i < sizeof questions / sizeof *questions; i++) {
		r = number_of(index, questions[i].sql, questions[i].number, err);
		if (r < 0)
			return r;
	}
	r = count_types(index, figures.by_type, err);
	if (r == ROGER_OK)
		*ret_figures = figures;
	return r;
}

static int read_sequence(struct rg_index *index, sqlite3_stmt *statement,
			 struct rg_sequence *sequence, struct roger_err *err)
{
	struct roger_str sender;
	int step, r = ROGER_OK;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW && r == ROGER_OK) {
		sender = rg_index_column(statement, 1);
		if (sender.length)
			r = rg_sequence_see(sequence, rg_index_column(statement, 0), sender,
					    sqlite3_column_int64(statement, 2), err);
		else
			r = rg_sequence_count(sequence, rg_index_column(statement, 0),
					      sqlite3_column_int64(statement, 2), err);
	}
	if (r < 0)
		return r;
	return step == SQLITE_DONE ? ROGER_OK : rg_index_fail(index, "ask", err);
}

int rg_index_sequence(struct rg_index *index, int64_t epoch, struct rg_sequence *sequence,
		      struct roger_err *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	if (sqlite3_prepare_v2(
		    index->db,
		    "SELECT name, '', seq FROM agents WHERE epoch = ?1 AND seq > 0 UNION ALL"
		    " SELECT reader, sender, seq FROM last_seen WHERE epoch = ?1",
		    -1, &statement, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask", err);
	sqlite3_bind_int64(statement, 1, epoch);
	r = read_sequence(index, statement, sequence, err);
	sqlite3_finalize(statement);
	return r;
}

int rg_index_mark(struct rg_index *index, struct roger_str reader, struct roger_str sender,
		  int64_t epoch, int64_t *ret_number, struct roger_err *err)
{
	sqlite3_stmt *get = rg_index_statement(index, RG_SQL_MARK_GET, err);
	int step;

	if (!get)
		return ROGER_EIO;
	rg_index_bind(get, 1, reader);
	rg_index_bind(get, 2, sender);
	sqlite3_bind_int64(get, 3, epoch);
	step = sqlite3_step(get);
	if (step == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(get, 0);
	sqlite3_reset(get);
	return step == SQLITE_ROW ? ROGER_OK : rg_index_fail(index, "ask", err);
}
