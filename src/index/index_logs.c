/*
 * Questions to the table of events: entries of logs, whose texts are read from
 * their files, and rows.
 */
#include "index/index_db.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/id.h"
#include "facts/note.h"

enum {
	STRAYS_MAX = 1000,
	PIECE_BYTES = 64 << 10,
	MANY_ENTRIES = 8,
	SHORT_MS = 600000,
	OF_MAX = 500, /* messages of one question */
};

int64_t rg_index_text_sum(struct roger_str text)
{
	return (int64_t)(rg_hash(0, text.data, text.length) & UINT32_MAX);
}

/* ----------------------------------------------------------------- texts -- */

/* A file of entries, its number in the table, and a piece of it that was read last. */
struct source {
	struct rg_log_file file;
	int64_t number;
	uint64_t from;
	struct rg_buf piece;
	bool many; /* read what is around a text, too */
	bool found;
};

/* Read a text from the file; *ret_text is empty if the file ends before it does. */
static int read_text(struct rg_store *store, struct source *source, uint64_t byte, size_t length,
		     struct roger_str *ret_text, struct roger_err *err)
{
	size_t want = length, got;
	char *room;
	int r = source->found ? ROGER_OK
			      : store->ops->stat(store, &source->file, &source->found, err);

	source->found = true;
	if (r < 0)
		return r;
	if (byte < source->from || byte + length > source->from + source->piece.length) {
		source->from = byte;
		if (source->many && length < PIECE_BYTES) {
			source->from = byte / PIECE_BYTES * PIECE_BYTES;
			want = PIECE_BYTES + length;
		}
		rg_buf_clear(&source->piece);
		room = rg_buf_room(&source->piece, want + 1);
		if (!room)
			return rg_fail_memory(err);
		r = store->ops->read(store, &source->file, source->from, room, want, &got, err);
		if (r < 0)
			return r;
		source->piece.length = got;
	}
	*ret_text = (struct roger_str){ source->piece.data + (byte - source->from), length };
	if (byte + length > source->from + source->piece.length)
		ret_text->length = 0;
	return ROGER_OK;
}

/* ------------------------------------------------------- entries of logs -- */

struct finding {
	struct rg_index *index;
	struct rg_arena *arena;
	struct source *sources;
	size_t source_count;
	const struct source *moved; /* a source whose file has changed; NULL: none */
	struct entries {
		struct rg_log_entry *items;
		size_t count;
	} entries, strays;
};

/* How few entries a query fits, which SQLite, without statistics, does not know: few share a key
 * or message, or an owner and a step, or begin a session; fewer are of a short time. */
static bool is_rare(const struct rg_log_query *query)
{
	return rg_str_equal(query->step, rg_note_step_name(RG_STEP_SESSION));
}

static bool is_short(const struct rg_log_query *query)
{
	if (is_rare(query))
		return false;
	if (query->step.length && !query->owner.length && query->since_ms)
		return true;
	return query->step.length && query->until_ms &&
	       query->until_ms - query->since_ms < SHORT_MS;
}

static bool is_narrow(const struct rg_log_query *query)
{
	return query->id.length || query->key.length || query->message.length ||
	       query->message_count || query->open || is_rare(query) ||
	       (query->step.length && query->owner.length && !is_short(query));
}

/* Keep only the last line of each id, within the times that were asked for. */
static void add_last(struct rg_question *question, const struct rg_log_query *query)
{
	rg_buf_add_text(&question->sql, " AND NOT EXISTS (SELECT 1 FROM event n WHERE n.id = e.id"
					" AND +n.log = e.log AND n.position > e.position");
	if (query->since_ms)
		rg_question_number(question, " AND n.at >= ?", query->since_ms);
	if (query->until_ms)
		rg_question_number(question, " AND n.at < ?", query->until_ms);
	rg_buf_add_text(&question->sql, ")");
}

/* Select the entries e of a log that fit the query. */
static void add_conditions(struct rg_question *question, const struct rg_log_query *query, int log)
{
	const char *const by_time = is_short(query) ? "+" : "";
	char sql[80];
	size_t i;

	rg_buf_printf(&question->sql, " WHERE %se.log = %d AND e.log <> 0",
		      is_narrow(query) ? "+" : "", log);
	for (i = 0; i < RG_COLUMNS; i++) {
		snprintf(sql, sizeof sql, " AND %se.%s = ?", by_time, rg_column_names[i]);
		if (query->columns[i].length)
			rg_question_text(question, sql, query->columns[i]);
	}
	if (query->since_ms)
		rg_question_number(question, " AND e.at >= ?", query->since_ms);
	if (query->until_ms)
		rg_question_number(question, " AND e.at < ?", query->until_ms);
	if (query->after)
		rg_question_number(question,
				   query->newest ? " AND e.position < ?" : " AND e.position > ?",
				   query->after);
	for (i = 0; i < query->message_count; i++)
		rg_question_text(question, i ? ",?" : " AND e.message IN (?", query->messages[i]);
	rg_buf_add_text(&question->sql, query->message_count ? ")" : "");
	if (query->outcome)
		rg_question_number(question, " AND e.outcome = ?", query->outcome);
	if (query->outcome > ROGER_DELIVERED)
		rg_buf_add_text(&question->sql, " AND e." RG_ROW_IS_UNSENT);
	if (query->last)
		add_last(question, query);
	if (query->counted)
		rg_buf_add_text(&question->sql, " AND e." RG_ROW_IS_COUNTED);
	if (query->open)
		rg_question_number(question, " AND e.open = 1 AND e.kind = ?", query->open);
}

static void add_order(struct rg_question *question, const struct rg_log_query *query)
{
	char sql[80];

	/* The order in which logs were read must not show in the answer. */
	snprintf(sql, sizeof sql, query->newest ? "%s DESC LIMIT ?" : "%s LIMIT ?",
		 !query->by_time ? " ORDER BY e.position"
		 : query->newest ? " ORDER BY e.at DESC, e.actor DESC, e.position"
				 : " ORDER BY e.at, e.actor, e.position");
	rg_question_number(question, sql, query->limit ? query->limit : -1);
}

/* Find the source of a file; NULL: the file was not asked for. */
static struct source *source_of(struct finding *finding, int64_t number)
{
	size_t i;

	for (i = 0; i < finding->source_count; i++)
		if (finding->sources[i].number == number)
			return &finding->sources[i];
	return NULL;
}

static int keep_entry(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct finding *finding = context;
	struct source *source = source_of(finding, sqlite3_column_int64(row, 0));
	const bool stray = sqlite3_column_type(row, 2) == SQLITE_NULL;
	struct entries *list = stray ? &finding->strays : &finding->entries;
	struct rg_log_entry *entry;
	struct roger_str text = rg_index_column(row, 7);
	int r = ROGER_OK;

	if (!source || finding->moved)
		return ROGER_OK;
	if (!stray) {
		r = read_text(finding->index->store, source, (uint64_t)sqlite3_column_int64(row, 1),
			      (size_t)sqlite3_column_int64(row, 2), &text, err);
		if (r == ROGER_OK && rg_index_text_sum(text) != sqlite3_column_int64(row, 3))
			finding->moved = source;
		if (r < 0 || finding->moved)
			return r;
	}
	entry = rg_arena_push(finding->arena, &list->items, &list->count, sizeof *entry);
	if (!entry || !rg_arena_copy(finding->arena, text, &entry->text))
		return rg_fail_memory(err);
	entry->file = source->file.shown;
	entry->position = sqlite3_column_int64(row, 4);
	entry->line = sqlite3_column_int64(row, 5);
	entry->at_ms = sqlite3_column_int64(row, 6);
	return ROGER_OK;
}

static int ask_entries(struct finding *finding, const struct rg_log_query *query, bool strays,
		       struct roger_err *err)
{
	struct rg_question question;
	int r;

	rg_question_init(&question, "SELECT e.file, e.byte, e.length, e.sum, e.position, e.line,"
				    " e.at, e.detail FROM event e");
	add_conditions(&question, query, strays ? ~(int)query->log : (int)query->log);
	add_order(&question, query);
	r = rg_index_ask_once(finding->index, &question, keep_entry, finding, err);
	rg_question_deinit(&question);
	return r;
}

static int open_sources(struct finding *finding, const struct rg_log_query *query,
			const struct rg_log_files *files, struct roger_err *err)
{
	struct source *source;
	size_t i;

	finding->sources = rg_arena_get(finding->arena, files->count * sizeof *finding->sources);
	if (!finding->sources)
		return rg_fail_memory(err);
	for (i = 0; i < files->count; i++) {
		source = &finding->sources[finding->source_count++];
		source->number = (int64_t)rg_hash(0, files->items[i].shown.data,
						  files->items[i].shown.length);
		source->file = files->items[i];
		source->many = !query->limit || query->limit > MANY_ENTRIES;
		rg_buf_init(&source->piece, SIZE_MAX);
	}
	return ROGER_OK;
}

/* Find the position of the last entry up to that line; 0: none.  Later lines have higher ones. */
static int find_up_to(struct rg_index *index, enum rg_log log, int64_t line, int64_t *ret_position,
		      struct roger_err *err)
{
	int64_t low = 0, high = INT64_MAX, middle, found[2];
	int r = ROGER_OK;
	bool there;

	while (low < high && r == ROGER_OK) {
		middle = low + (high - low) / 2;
		r = rg_index_look_up(index, RG_SQL_LOG_NEXT, found, 2, &there, err, "ii",
				     (int64_t)log, middle);
		if (r == ROGER_OK && there && found[1] <= line)
			low = found[0];
		else
			high = middle;
	}
	*ret_position = low;
	return r;
}

/* Find entries, in one try; *ret_moved: a file was rewritten meanwhile. */
static int find_once(struct rg_index *index, const struct rg_log_query *query,
		     const struct rg_log_files *files, struct rg_arena *arena,
		     struct rg_log_entries *ret_entries, bool *ret_moved, struct roger_err *err)
{
	const struct rg_log_query strays = { .log = query->log, .limit = STRAYS_MAX };
	struct finding finding = { .index = index, .arena = arena };
	struct rg_log_query entries = *query;
	char sql[120];
	size_t i;
	int r = open_sources(&finding, query, files, err);

	if (r == ROGER_OK && query->after_line) {
		r = find_up_to(index, query->log, query->after_line - query->newest, &entries.after,
			       err);
		entries.after += query->newest;
	}
	if (r == ROGER_OK)
		r = ask_entries(&finding, &entries, false, err);
	if (r == ROGER_OK && query->strays)
		r = ask_entries(&finding, &strays, true, err);
	/* Have the changed file read from its start, but not while rows are read. */
	if (r == ROGER_OK && finding.moved) {
		snprintf(sql, sizeof sql,
			 "UPDATE event_files SET last_hash = last_hash - 1 WHERE file = %lld",
			 (long long)finding.moved->number);
		r = rg_index_run(index, sql, err);
	}
	for (i = 0; i < finding.source_count; i++)
		rg_buf_deinit(&finding.sources[i].piece);
	*ret_moved = finding.moved != NULL;
	*ret_entries = (struct rg_log_entries){ finding.entries.items, finding.entries.count,
						finding.strays.items, finding.strays.count };
	return r;
}

int rg_index_find_log(struct rg_index *index, const struct rg_log_query *query,
		      const struct rg_log_files *files, struct rg_arena *arena,
		      struct rg_log_entries *ret_entries, struct roger_err *err)
{
	enum { TRIES = 8 };
	bool moved = true;
	int tries, r = ROGER_OK;

	for (tries = 0; tries < TRIES && moved && r == ROGER_OK; tries++) {
		r = rg_index_refresh_events(index, files, err);
		if (r == ROGER_OK)
			r = find_once(index, query, files, arena, ret_entries, &moved, err);
	}
	return r < 0 || !moved ? r
			       : rg_fail(err, ROGER_EIO, 0, "'%.*s' changes while it is read",
					 RG_STR_ARGS(files->items[0].shown));
}

int rg_index_last_looks(struct rg_index *index, const struct rg_log_files *files,
			struct roger_strs elsewhere, struct roger_agent *agents, size_t count,
			struct roger_err *err)
{
	const struct roger_str step = rg_note_step_name(RG_STEP_LOOK);
	int64_t found[2];
	bool there;
	size_t i;
	int r = rg_index_refresh_events(index, files, err);

	if (r == ROGER_OK)
		r = rg_index_run_one(index, RG_SQL_BEGIN, err);
	if (r < 0)
		return r;
	for (i = 0; i < count && r == ROGER_OK; i++) {
		r = rg_index_look_up(index, RG_SQL_LAST_LOOK, found, 2, &there, err, "tt",
				     agents[i].name, step);
		if (rg_str_among(elsewhere, agents[i].name))
			found[1] = 0;
		agents[i].last_looked_at_ms = found[0] > found[1] ? found[0] : found[1];
	}
	rg_index_finish(index);
	return r;
}

/* ---------------------------------------------------------------- events -- */

/* The columns of a row that is only counted. */
#define FEW_COLUMNS "SELECT e.kind, e.at, e.flags, e.of, e.since, e.byte, e.actor, e.peer"
#define COLUMNS                                                                                    \
	FEW_COLUMNS ", e.log, e.number, e.outcome, e.before, e.message, e.id, e.detail, e.open,"   \
		    " e.line, e.position"
#define ROW COLUMNS " FROM "
/* All columns, with the message's, those of its first row s, and the words. */
#define EVENT                                                                                      \
	COLUMNS ", e.words, coalesce(e.bytes, s.bytes), e.task, coalesce(e.key, s.key),"           \
		" e.evidence, f.shown, s.number, s.actor, s.peer, coalesce(m.id, a.id),"           \
		" coalesce(m.issue_id, a.issue_id), coalesce(m.message_type, a.message_type)"      \
		" FROM event e LEFT JOIN event s ON s.of = e.of AND s.kind = ?"                    \
		" LEFT JOIN messages m ON m.position = e.of LEFT JOIN archived a ON a.position = " \
		"e.of"                                                                             \
		" LEFT JOIN event_files f ON f.file = e.file"
enum { FEW = 8, WORDS = 18, BYTES, TASK, KEY, EVIDENCE, SHOWN, SEQ, FROM, TO, ID, ISSUE, TYPE };

struct seeing {
	rg_event_see *see;
	void *context;
	bool told;     /* rows have all columns (EVENT) */
	int64_t count; /* rows so far */
};

static struct rg_event event_of(sqlite3_stmt *row)
{
	struct rg_event event = {
		.said = { .kind = sqlite3_column_int(row, 0),
			  .at_ms = sqlite3_column_int64(row, 1),
			  .actor = rg_index_column(row, 6),
			  .peer = rg_index_column(row, 7) },
		.flags = sqlite3_column_int(row, 2),
		.of = sqlite3_column_int64(row, 3),
		.since_ms = sqlite3_column_int64(row, 4),
	};

	if (event.of && !(event.flags & RG_ROW_NOTE))
		event.byte = sqlite3_column_int64(row, 5);
	if (sqlite3_column_count(row) == FEW)
		return event;
	event.log = sqlite3_column_int(row, 8);
	event.number = sqlite3_column_int64(row, 9);
	event.outcome = sqlite3_column_int(row, 10);
	event.before = sqlite3_column_int64(row, 11);
	event.said.message = rg_index_column(row, 12);
	event.id = rg_index_column(row, 13);
	event.text = rg_index_column(row, 14);
	event.open = sqlite3_column_int(row, 15);
	event.said.line = sqlite3_column_int64(row, 16);
	event.line = event.of && !(event.flags & RG_ROW_NOTE) ? event.said.line : 0;
	event.position = sqlite3_column_int64(row, 17);
	return event;
}

/* Fill in a message's row: by default, its recipient did something with what its sender sent. */
static void fill_message(struct rg_event *event, sqlite3_stmt *row)
{
	struct roger_event *said = &event->said;
	const int type = rg_enum_find(rg_type_names, rg_index_column(row, TYPE));

	said->message = rg_index_column(row, ID);
	said->issue = rg_index_column(row, ISSUE);
	said->seq = sqlite3_column_int64(row, SEQ);
	said->type = type > 0 ? type : 0;
	event->to = rg_index_column(row, TO);
	/* Once the deadline has passed, other rows say what came of it. */
	event->echo = event->flags & RG_ROW_NOTE ||
		      (said->kind == ROGER_EVENT_DUE && said->at_ms <= rg_clock_ms());
	if (said->kind == ROGER_EVENT_SENT)
		return;
	said->peer = said->kind == ROGER_EVENT_HANDED ? event->to : rg_index_column(row, FROM);
	switch (said->kind) {
	case ROGER_EVENT_LEASE_EXPIRED:
		event->text = said->actor;
		said->actor = event->to;
		break;
	case ROGER_EVENT_HANDED:
		said->actor = RG_STR("roger");
		break;
	case ROGER_EVENT_ARCHIVED:
		said->actor = said->peer = RG_STR("");
		break;
	default:
		said->actor = said->actor.length ? said->actor : event->to;
	}
}

/* Fill in the row of an entry.  One of damage names the damaged file and line, not its own. */
static void fill_entry(struct rg_event *event, sqlite3_stmt *row)
{
	struct roger_event *said = &event->said;

	said->attempt =
		event->log == RG_LOG_SENDS || said->kind == ROGER_EVENT_WAKE ? event->number : 0;
	event->echo = event->flags & RG_ROW_ECHO;
	switch (event->log) {
	case RG_LOG_SENDS:
		said->dead_letter = rg_index_column(row, EVIDENCE);
		event->echo = event->outcome == RG_ATTEMPT_PENDING ||
			      (event->flags & RG_ROW_PLAIN && event->outcome == ROGER_DELIVERED);
		break;
	case RG_LOG_DEAD_LETTERS:
		said->dead_letter = event->id;
		said->at_ms = event->since_ms ? event->since_ms : said->at_ms;
		break;
	case RG_LOG_DAMAGE:
		event->before = said->line;
		said->file = rg_index_column(row, EVIDENCE);
		said->line = event->number;
		break;
	default:
		break;
	}
}

static int see_event(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct seeing *seeing = context;
	struct rg_event event = event_of(row);

	seeing->count++;
	if (!seeing->told)
		return seeing->see(seeing->context, &event, err);
	event.said.words = rg_index_column(row, WORDS);
	event.said.bytes = sqlite3_column_int64(row, BYTES);
	event.said.task = rg_index_column(row, TASK);
	event.said.key = rg_index_column(row, KEY);
	event.said.file = rg_index_column(row, SHOWN);
	if (event.of)
		fill_message(&event, row);
	else
		fill_entry(&event, row);
	/* A line that repeats an earlier one is not shown. */
	return event.flags & RG_ROW_REPEAT && !event.of ? ROGER_OK
							: seeing->see(seeing->context, &event, err);
}

static int ask_events(struct rg_index *index, struct rg_question *question, struct seeing *seeing,
		      struct roger_err *err)
{
	int r = rg_index_ask_once(index, question, see_event, seeing, err);

	rg_question_deinit(question);
	return r;
}

static void begin_events(struct rg_question *question)
{
	rg_question_init(question, "");
	rg_question_number(question, EVENT, ROGER_EVENT_SENT);
}

static int tell_messages(struct rg_index *index, const struct rg_query *query,
			 struct seeing *seeing, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_question question;
	struct rg_entries found;
	size_t i, k;
	int r = arena ? rg_index_find(index, query, arena, &found, NULL, err) : rg_fail_memory(err);

	for (i = 0; r == ROGER_OK && i < found.count; i = k) {
		begin_events(&question);
		for (k = i; k < found.count && k - i < OF_MAX; k++)
			rg_question_number(&question, k > i ? ",?" : " WHERE e.of IN (?",
					   found.items[k].position);
		rg_buf_add_text(&question.sql, ") ORDER BY e.position");
		r = ask_events(index, &question, seeing, err);
	}
	seeing->count = r == ROGER_OK ? (int64_t)found.count : 0;
	return r;
}

#define CREATED(table)                                                                             \
	FEW_COLUMNS " FROM " table " m NOT INDEXED CROSS JOIN event e ON e.of = m.position"

/* Ask for rows of all messages, or of those created in the given time, in no order. */
static int ask_messages(struct rg_index *index, const struct rg_log_query *query,
			struct seeing *seeing, struct roger_err *err)
{
	const bool all = !query->since_ms && !query->until_ms;
	struct rg_question question;

	rg_question_init(&question,
			 all ? FEW_COLUMNS " FROM event e WHERE e.log = 0" : CREATED("messages"));
	if (!all) {
		rg_question_times(&question, query->since_ms, query->until_ms, "m.position");
		rg_buf_add_text(&question.sql, " UNION ALL " CREATED("archived"));
		rg_question_times(&question, query->since_ms, query->until_ms, "m.position");
	}
	return ask_events(index, &question, seeing, err);
}

static int tell_rows(struct rg_index *index, const struct rg_log_query *query,
		     struct seeing *seeing, struct roger_err *err)
{
	struct rg_question question;
	size_t i;

	if (!query->of_count && query->log == RG_LOG_MESSAGES)
		return ask_messages(index, query, seeing, err);
	rg_question_init(&question,
			 query->counted ? ROW "event e INDEXED BY event_counted" : ROW "event e");
	for (i = 0; i < query->of_count; i++)
		rg_question_number(&question, i ? ",?" : " WHERE e.of IN (?", query->of[i]);
	if (query->of_count)
		rg_buf_add_text(&question.sql, ") ORDER BY e.of, e.position");
	else
		add_conditions(&question, query, (int)query->log);
	if (query->open)
		rg_buf_add_text(&question.sql, " ORDER BY e.position");
	return ask_events(index, &question, seeing, err);
}

static int tell_events(struct rg_index *index, const struct rg_event_query *query,
		       struct seeing *seeing, struct roger_err *err)
{
	struct rg_question question;

	seeing->count = 0;
	if (query->rows)
		return tell_rows(index, query->rows, seeing, err);
	if (query->messages)
		return tell_messages(index, query->messages, seeing, err);
	begin_events(&question);
	add_conditions(&question, query->entries, (int)query->entries->log);
	add_order(&question, query->entries);
	return ask_events(index, &question, seeing, err);
}

/* Begin a transaction in which the table of events has all that the other tables have. */
static int begin_at_once(struct rg_index *index, const struct rg_log_files *files,
			 struct roger_err *err)
{
	enum { TRIES = 100 };
	int tries, r = ROGER_OK;

	for (tries = 0; r == ROGER_OK && tries < TRIES; tries++) {
		r = rg_index_run_one(index, RG_SQL_BEGIN, err);
		if (r == ROGER_OK)
			r = rg_index_load(index, err);
		if (r < 0 || rg_index_knows_events(index, files))
			return r;
		/* Another process brought the other tables up to date meanwhile. */
		rg_index_rollback(index);
		r = rg_index_refresh_events(index, files, err);
	}
	return r < 0 ? r
		     : rg_fail(err, ROGER_EIO, 0, "index '%s' changes while it is read",
			       index->name);
}

/* Show rows, and count messages at the same moment. */
static int tell_counted(struct rg_index *index, const struct rg_event_query *query,
			const struct rg_log_files *files, struct seeing *seeing,
			struct roger_err *err)
{
	int64_t count = 0;
	int r = begin_at_once(index, files, err);

	if (r == ROGER_OK)
		r = tell_events(index, query, seeing, err);
	if (r == ROGER_OK)
		r = rg_index_count(index, query->counted, &count, err);
	seeing->count = count;
	rg_index_finish(index);
	return r;
}

int rg_index_events(struct rg_index *index, const struct rg_event_query *query,
		    const struct rg_log_files *files, rg_event_see *see, void *context,
		    int64_t *ret_count, struct roger_err *err)
{
	struct seeing seeing = { see, context, !query->rows, 0 };
	int tries = 0, r;

	do {
		r = tries ? see(context, NULL, err) : ROGER_OK;
		if (r == ROGER_OK)
			r = rg_index_refresh_events(index, files, err);
		if (r == ROGER_OK)
			r = query->counted ? tell_counted(index, query, files, &seeing, err)
					   : tell_events(index, query, &seeing, err);
	} while (rg_index_heals(index, &tries, &r, err));
	*ret_count = seeing.count;
	return r;
}

/* ---------------------------------------------------------------- others -- */

/* An attempt is over when an entry of its message has the instant confirm_by or a later one. */
int rg_index_overdue(struct rg_index *index, int64_t now_ms, bool untold, int64_t limit,
		     struct rg_arena *arena, struct roger_strs *ret_ids, struct roger_err *err)
{
	const bool events = untold && rg_index_has_events(index);
	struct rg_question question;

	rg_question_init(&question,
			 "SELECT m.id FROM leases l CROSS JOIN messages m ON m.rowid = l.position");
	rg_question_number(&question,
			   " WHERE l.due OR (m.read = 0 AND ((l.until > 0 AND l.until <= ?1)"
			   " OR (l.until > ?4 AND l.until < ?5)"
			   " OR (l.confirm_by > 0 AND l.confirm_by <= ?1",
			   now_ms);
	rg_question_number(&question,
			   events ? " AND NOT EXISTS (SELECT 1 FROM event e WHERE e.message = m.id"
				    " AND +e.log = 3 AND e.outcome < ?2 AND e.at >= l.confirm_by)"
				  : "",
			   RG_ATTEMPT_PENDING);
	rg_question_number(&question,
			   "))) ORDER BY l.confirm_by = 0 AND NOT l.due, l.position LIMIT ?3",
			   limit);
	/* Ends of leases between these two were given by a wrong clock. */
	rg_question_number(&question, "", rg_index_lease_end_max(index, now_ms));
	rg_question_number(&question, "", INT64_MAX);
	return rg_index_ask_texts(index, &question, arena, ret_ids, err);
}

int rg_index_next_keyed(struct rg_index *index, struct roger_str from, struct rg_arena *arena,
			struct roger_str *ret_sender, struct roger_err *err)
{
	struct rg_question question;
	struct roger_strs senders;
	int r;

	rg_question_init(&question, "SELECT sender FROM keys");
	rg_question_text(&question, " WHERE sender >= ? ORDER BY sender LIMIT 1", from);
	r = rg_index_ask_texts(index, &question, arena, &senders, err);
	*ret_sender =
		r == ROGER_OK && senders.count ? senders.items[0] : (struct roger_str){ "", 0 };
	return r;
}
