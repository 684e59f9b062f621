/*
 * index_db - internals of the index: its database and prepared statements.
 *
 * Only for index/, the only user of sqlite3.h.
 */
#ifndef RG_INDEX_DB_H
#define RG_INDEX_DB_H

#include <sqlite3.h>

#include "base/table.h"
#include "host/workspace.h"
#include "index/index.h"
#include "index/index_vfs.h"
#include "store/damages.h"

/* Increase with every change of a table: an index of another version is rebuilt. */
#define RG_INDEX_VERSION 31

/* What a SELECT says as its index does, so that SQLite uses that index. */
#define RG_ROW_IS_COUNTED "flags >= 4096"
#define RG_ROW_IS_UNSENT "outcome > 1"
_Static_assert(RG_ROW_COUNTED == 4096 && ROGER_DELIVERED == 1, "as the SELECTs say");

enum rg_statement {
#define RG_STATEMENT(name, sql) RG_SQL_##name,
#include "index/index_statements.h"
#undef RG_STATEMENT
	RG_SQL_COUNT,
};

enum rg_delta_kind {
	RG_DELTA_AGENT, /* counters of an agent */
	RG_DELTA_SEEN,	/* the number that first accepted from second */
	RG_DELTA_EDGE,	/* the number that came in over an edge, likewise */
	RG_DELTA_ISSUE, /* living messages of an issue, by type */
	RG_DELTA_SPAN, /* times and types of messages near each other; first: bytes of a position */
};

/* Counters, collected while lines are read. */
struct rg_delta {
	uint64_t hash;
	enum rg_delta_kind kind;
	struct roger_str first;
	struct roger_str second;
	int64_t sent, received, unread, bytes, epoch, seq, last_sent_at_ms, last_read_at_ms;
	int64_t types[ROGER_DATA + 1];
	int64_t last, oldest_ms, newest_ms; /* of a span: its last position; times of creation */
};

struct rg_deltas {
	struct rg_arena *memory;
	struct rg_table table;
	bool failed;	      /* out of memory */
	struct rg_delta lost; /* takes counts when there is no memory */
};

/* A query asked before: its SQL and its prepared statement. */
struct rg_asked {
	char *sql;
	sqlite3_stmt *statement;
};

enum { RG_ASKED_MAX = 16 };

struct rg_late;
struct rg_lates {
	struct rg_late **items;
	size_t count;
};
struct rg_box;

/* The messages in lines that the tables do not have yet (index_tail.c). */
struct rg_index_tail {
	struct rg_arena *memory, *scratch; /* NULL: nothing is kept */
	uint64_t from, to;		   /* the bytes of these lines */
	int64_t lines;			   /* number of the last one */
	unsigned turn;
	int64_t last_offset, last_length, last_hash;
	uint64_t chain; /* the chain that the last line states */
	bool chained;
	bool alone;		/* the tables are not open: only these lines are known */
	struct roger_str only;	/* alone: a name in quotes, where others' lines were passed over */
	bool looking;		/* a transaction keeps the tables as they are */
	bool moved;		/* the tables have changed since the lines were read */
	bool strange;		/* a line says what only the tables can answer */
	struct rg_table states; /* messages, by id */
	struct rg_lates fresh;	/* messages that the tables do not have */
	struct rg_box **boxes;
	size_t box_count;
};

struct rg_index {
	struct rg_store *store;
	int folder;
	uint64_t inode; /* of the open index; 0: not open yet */
	struct rg_index_vfs vfs;
	sqlite3 *db;
	bool in_memory;
	unsigned turn; /* the store's, when its lines were last seen to be those of the tables */
	bool serving;  /* messages.db is being brought up to date, after an answer */
	bool placed;   /* the configuration gave the path, so another file may be there */
	bool bulk;     /* the indexes of messages are made at the end */
	const struct rg_log_files
		*told;	       /* journals for a rebuild to make events from; NULL: none */
	bool damaged;	       /* in a way that SQLite does not detect */
	bool full;	       /* its disk is full: an index in memory answers instead */
	bool lost;	       /* what was read last is not in the store: see same_journal() */
	int64_t busy_until_ns; /* monotonic clock: wait this long for other processes */
	struct roger_err trouble;
	sqlite3_stmt *statements[RG_SQL_COUNT];
	struct rg_asked asked[RG_ASKED_MAX];
	size_t asked_next; /* the slot to reuse next */
	struct rg_index_progress progress;
	struct rg_altered altered; /* the lines that the tables left out */
	struct rg_deltas deltas;
	struct rg_index_tail tail;
	const struct rg_workspace *workspace; /* its longest lease; NULL: no limit */
	roger_progress *tell;
	bool stopped; /* the progress callback stopped it */
	void *tell_context;
	struct rg_arena *memory; /* memory of the paths */
	const char *path;	 /* path of the index */
	const char *seed_path;	 /* of messages.db */
	const char *recent_path; /* of the file of pages that changed since the checkpoint */
	char name[256];
	char seed_name[256];
};

/*
 * index_file.c: the database files, named messages.db-index and messages.db, or as configured.
 * inode 0: no file that may be opened.  Refuses anything but a regular file, and anything that
 * would make SQLite touch other files.
 */
RG_CHECKED int rg_index_file_find(struct rg_index *index, const char *name, uint64_t *ret_inode,
				  struct roger_err *err);
/* When the file was last changed; 0: it is not there. */
int64_t rg_index_file_changed_ms(struct rg_index *index, const char *name);
uint64_t rg_index_file_inode(const struct rg_index *index);
/* At a configured path, only a file that starts with magic is replaced. */
RG_CHECKED int rg_index_file_check(struct rg_index *index, const char *path, const char *magic,
				   const char *name, struct roger_err *err);
/* Make sure that the file of recent pages is there. */
RG_CHECKED int rg_index_file_recent(struct rg_index *index, struct roger_err *err);
/* Set this boot, and the file of recent pages; with bulk none: the index file itself is written. */
void rg_index_file_settings(const struct rg_index *index, struct rg_index_vfs *vfs, bool bulk);
int rg_index_file_refuse(const char *name, struct roger_err *err);
/* Create a new empty file to fill; then, if r is ROGER_OK, rename it over the old one. */
enum { RG_INDEX_FRESH_BYTES = 270, RG_INDEX_PATH_BYTES = 4500 };
RG_CHECKED int rg_index_file_begin(struct rg_index *index, const char *name,
				   char fresh[RG_INDEX_FRESH_BYTES], struct roger_err *err);
RG_CHECKED int rg_index_file_end(struct rg_index *index, const char *name, const char *fresh, int r,
				 struct roger_err *err);

/* Update messages.db.  Needs the index lock and an up-to-date index.  anew: also rebuild it if
 * needed. */
/* For a longer journal, only `rebuild` rebuilds messages.db, and an answer says so. */
enum { RG_SEED_REBUILT_BYTES_MAX = 64 << 20 };
int rg_index_seed_follow(struct rg_index *index, bool anew, struct roger_err *err);

/* Add up the rows of messages.db, as it is, into the last two sums; *ret_end -1: it cannot be
 * compared.  ROGER_EDATA: it is damaged. */
int rg_index_seed_check(struct rg_index *index, int64_t *ret_end, struct rg_index_sums *sums);

/* Make it again from the index.  Needs the same. */
int rg_index_seed_make(struct rg_index *index, struct roger_err *err);

/* Hash the part of a message that no later line may change. */
uint64_t rg_index_hash(const struct rg_index *index, const struct roger_message *message);

/* Trust nothing in the schema: anybody who can write the folder may have made it. */
void rg_index_distrust_schema(sqlite3 *db);

/* Return a prepared statement, reset and ready for values; NULL: failed, err is filled. */
sqlite3_stmt *rg_index_statement(struct rg_index *index, enum rg_statement which,
				 struct roger_err *err);

/* Does a result of SQLite mean a damaged or foreign file, and not just one unusable now? */
bool rg_index_means_damage(int code);

/* Describe the database's last failure in err. */
int rg_index_fail(struct rg_index *index, const char *what, struct roger_err *err);

int rg_index_run(struct rg_index *index, const char *sql, struct roger_err *err);

/* Until when nobody gets the message: the end of its lease; INT64_MAX: it is dead. */
static inline int64_t rg_index_leased_until(const struct roger_message *message)
{
	return message->dead_at_ms ? INT64_MAX : message->claimed_until_ms;
}

/* The latest end of a lease that was given by now_ms; INT64_MAX: any. */
static inline int64_t rg_index_lease_end_max(const struct rg_index *index, int64_t now_ms)
{
	const int64_t most_ms = index->workspace ? index->workspace->config->lease_ms_max : 0;

	return most_ms && now_ms < INT64_MAX - most_ms ? now_ms + most_ms : INT64_MAX;
}

/* Is it the wanted text, or is any wanted? */
static inline bool rg_index_is_or_any(struct roger_str wanted, struct roger_str is)
{
	return !wanted.length || rg_str_equal(wanted, is);
}

/* A query under construction: its SQL, and the values of its placeholders in order. */
struct rg_question {
	struct rg_buf sql;
	struct rg_buf values;
};
void rg_question_init(struct rg_question *question, const char *sql);
void rg_question_deinit(struct rg_question *question);
/* Append SQL with one placeholder, and its value; text is borrowed. */
void rg_question_text(struct rg_question *question, const char *sql, struct roger_str text);
void rg_question_number(struct rg_question *question, const char *sql, int64_t number);
/* Only messages m created in that time, 0: without that bound.  Read from the first span that has
 * such a time to the last one; where the clock never went back, that is all that is asked for. */
void rg_question_times(struct rg_question *question, int64_t since_ms, int64_t until_ms,
		       const char *position);

/* Called for each row; row NULL: the index was damaged, and all rows come again. */
typedef int rg_index_see(void *context, sqlite3_stmt *row, struct roger_err *err);

/* Run a query; the question stays. */
int rg_index_ask_once(struct rg_index *index, const struct rg_question *question, rg_index_see *see,
		      void *context, struct roger_err *err);
/* Where a column of a row goes: i an int64_t, d an int, b a bool, t a text, copied into the arena.
 */
struct rg_index_place {
	char kind;
	unsigned short offset;
};
/* Run a query, rebuilding the index if it is damaged, with an item of a list for each row; the
 * places are those of its columns.  Deinitializes the question. */
int rg_index_collect(struct rg_index *index, struct rg_question *question,
		     const struct rg_index_place *places, size_t item_size, struct rg_arena *arena,
		     void *ret_list, struct roger_err *err);
/* Collect the first column of each row, as text. */
int rg_index_ask_texts(struct rg_index *index, struct rg_question *question, struct rg_arena *arena,
		       struct roger_strs *ret_texts, struct roger_err *err);

/* Close the tables: the next answer opens them, or makes them again. */
void rg_index_leave(struct rg_index *index);

/* Prepare and run a statement that has no placeholders and no rows. */
int rg_index_run_one(struct rg_index *index, enum rg_statement which, struct roger_err *err);

/* Run a statement with values, a letter each: i a number, t a text, n and s likewise, but 0 and ""
 * become NULL, m the columns of a message. */
int rg_index_put(struct rg_index *index, enum rg_statement which, struct roger_err *err,
		 const char *kinds, ...);

/* Read the numbers in the first columns of the first row that a statement finds; 0: no row. */
int rg_index_look_up(struct rg_index *index, enum rg_statement which, int64_t *ret_numbers,
		     int count, bool *ret_there, struct roger_err *err, const char *kinds, ...);

/* Run a statement that has no rows. */
int rg_index_step(struct rg_index *index, sqlite3_stmt *statement, struct roger_err *err);

void rg_index_bind(sqlite3_stmt *statement, int place, struct roger_str text);
/* Like rg_index_bind(), but an empty text, or 0, becomes NULL. */
void rg_index_bind_text(sqlite3_stmt *statement, int place, struct roger_str text);
void rg_index_bind_number(sqlite3_stmt *statement, int place, int64_t number);
/* Bind six columns from first on: id, issue, sender, recipient, run counter, type. */
enum { RG_MESSAGE_PLACES = 6 };
void rg_index_bind_message(sqlite3_stmt *statement, int first, const struct roger_message *message);
struct roger_str rg_index_column(sqlite3_stmt *statement, int column);

/* Open the file as it is, and load the progress row; *ret_valid false: there is no file, or it is
 * of another version. */
int rg_index_look(struct rg_index *index, bool *ret_valid);

/* Load the progress row; ROGER_EDATA: it does not match any more. */
int rg_index_load(struct rg_index *index, struct roger_err *err);

/* What a transaction writes, with the caller's context. */
typedef int rg_index_writing(struct rg_index *index, const void *context, struct roger_err *err);
/* Write in a transaction, under the index lock, into the file that has the name now; a failure
 * undoes it.  Needs no lock for an index in memory. */
RG_CHECKED int rg_index_write(struct rg_index *index, int64_t wait_ms, rg_index_writing *writing,
			      const void *context, struct roger_err *err);
/* End a transaction that only reads; a failure may have ended it already. */
void rg_index_finish(struct rg_index *index);
void rg_index_rollback(struct rg_index *index);

/* Hash a line in the journal as it is now; the last line that was read. */
int rg_index_hash_line(struct rg_index *index, int64_t offset, int64_t length, int64_t *ret_hash,
		       struct roger_err *err);
int rg_index_last_hash(struct rg_index *index, int64_t *ret_hash, struct roger_err *err);

/* The first line of a message that was archived, or of a living one, with its hash and position;
 * position 0: none. */
int rg_index_first_line(struct rg_index *index, struct roger_str id, bool archived,
			struct rg_entry *ret_first, struct roger_err *err);

/* Find the first line of a message, living or else archived. */
int rg_index_first_of_all(struct rg_index *index, struct roger_str id, struct rg_entry *ret_first,
			  struct roger_err *err);

/* Read the message of an entry.  If the two disagree the index is in doubt. */
int rg_index_read_message(struct rg_index *index, const struct rg_entry *entry,
			  struct rg_arena *arena, struct roger_message *ret_message,
			  struct roger_err *err);

/* The message of a later line, as the first one of its id lets it be: entry says what is known of
 * that.  See rg_message_compare(). */
int rg_index_follow_first(struct rg_index *index, const struct rg_entry *entry,
			  struct rg_place later, struct rg_arena *arena,
			  struct roger_message *message, struct rg_rewrites *ret_rewrites,
			  struct roger_err *err);

/* The entry in the first columns of a row: position, line, offset, length, hash of the first line,
 * and its offset and length. */
struct rg_entry rg_index_entry(sqlite3_stmt *row);
enum { RG_ENTRY_COLUMNS = 7 };

/* The entry of a living message; position 0: there is none. */
int rg_index_living(struct rg_index *index, struct roger_str id, struct rg_entry *ret_entry,
		    struct roger_err *err);

/* index_tail.c: forget what the lines after the tables say. */
void rg_index_tail_drop(struct rg_index *index);
/* Find messages over the tables or, without ret_entries, count them; *ret_over false: only the
 * tables can, up to date. */
int rg_index_tail_answer(struct rg_index *index, struct rg_index_reach reach,
			 const struct rg_query *query, struct rg_arena *arena,
			 struct rg_entries *ret_entries, int64_t *ret_number, bool *ret_over,
			 struct roger_err *err);

/* Is the index file open, or can it be opened as it is? */
bool rg_index_is_open(struct rg_index *index);
/* qsort() order of entries, by position. */
int rg_index_compare_positions(const void *a, const void *b);

/* Is so much of the journal new, from byte `there` on, that a rebuild is faster? */
bool rg_index_is_far_behind(uint64_t there, uint64_t end);

/* Like rg_index_refresh(); ROGER_ETIMEOUT: another process is updating it. */
int rg_index_try_refresh(struct rg_index *index, uint64_t end, struct roger_err *err);

/* index_events.c: read into the table of events, which is made if needed, what these journals have
 * and it lacks.  Needs a transaction; the messages are those that the tables have. */
int rg_index_take_events(struct rg_index *index, const struct rg_log_files *files,
			 struct roger_err *err);
/* Like rg_index_take_events(), in a transaction of its own, under the index lock. */
int rg_index_refresh_events(struct rg_index *index, const struct rg_log_files *files,
			    struct roger_err *err);
/* Does the table of events have all that these journals, and the tables of messages, have? */
bool rg_index_knows_events(struct rg_index *index, const struct rg_log_files *files);
bool rg_index_has_events(struct rg_index *index);
/* Of the text of an entry: the file may be rewritten before it is read. */
int64_t rg_index_text_sum(struct roger_str text);

/* Read journal lines up to end into the tables, in the caller's transaction. */
int rg_index_ingest(struct rg_index *index, uint64_t end, struct roger_err *err);

#endif
