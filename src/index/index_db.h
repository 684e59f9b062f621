/*
 * index_db - inside of the index: its database and prepared statements.
 *
 * For index/ only, the users of sqlite3.h.
 */
#ifndef RG_INDEX_DB_H
#define RG_INDEX_DB_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/table.h"
#include "index/index.h"
#include "index/index_vfs.h"

/* Changes whenever a table does: an index of another version is made anew. */
#define RG_INDEX_VERSION 7

enum rg_statement {
	RG_SQL_PROGRESS_GET,
	RG_SQL_PROGRESS_SET,
	RG_SQL_MESSAGE_ADD,
	RG_SQL_MESSAGE_GET,
	RG_SQL_MESSAGE_SET,
	RG_SQL_READ_SET,
	RG_SQL_MESSAGE_DROP,
	RG_SQL_LINES_GET,
	RG_SQL_LINES_SET,
	RG_SQL_CHANGED_SET,
	RG_SQL_CHANGED_DROP,
	RG_SQL_MAILBOX_ADD,
	RG_SQL_MAILBOX_DROP,
	RG_SQL_LEASE_SET,
	RG_SQL_LEASE_DROP,
	RG_SQL_KEY_ADD,
	RG_SQL_REPLY_ADD,
	RG_SQL_ARCHIVED_ADD,
	RG_SQL_ARCHIVED_HAS,
	RG_SQL_AGENT_ADD,
	RG_SQL_SEEN_ADD,
	RG_SQL_EDGE_ADD,
	RG_SQL_BEGIN,
	RG_SQL_END,
	RG_SQL_BEGIN_WRITE,
	RG_SQL_SEED_SET,
	RG_SQL_COUNT,
};

/* How far the journal has been read: the one row of table progress. */
struct rg_index_progress {
	int64_t offset;
	int64_t lines;
	int64_t strays;
	int64_t archived;
	int64_t last_offset; /* the last line, to know the journal again */
	int64_t last_length;
	int64_t last_hash;
	int64_t epoch;	   /* the largest one seen */
	int64_t search_to; /* positions up to here are in the full-text table */
	int64_t seed_to;   /* lines up to here are in messages.db, */
	int64_t seed_at;   /* which was written then: ms since 1970 */
};

/*
 * Where the lines of the journal stand: a row of table lines for so many of
 * them holds the offset of the first, and the length of each, seven bits a
 * byte, the lowest first; all bytes of a length but its last have the top bit.
 */
enum { RG_INDEX_LINES = 64, RG_LENGTH_BYTES_MAX = 10 };

struct rg_index_lines {
	int64_t block; /* of these lines: (number of a line - 1) / RG_INDEX_LINES */
	int64_t offset;
	unsigned char lengths[RG_INDEX_LINES * RG_LENGTH_BYTES_MAX];
	size_t length_bytes;
};

/* Figures per agent, and per reader and sender, gathered while lines are taken in. */
struct rg_delta {
	uint64_t hash;
	struct roger_str first;
	struct roger_str second; /* "": figures of an agent; else what first has seen of it */
	bool edge;		 /* or what came in over an edge from second to first */
	int64_t sent, received, unread, epoch, seq, last_sent_at_ms;
};

struct rg_deltas {
	struct rg_arena *memory;
	struct rg_table table;
};

/* A question that was asked before: its text and its statement. */
struct rg_asked {
	char *sql;
	sqlite3_stmt *statement;
};

enum { RG_ASKED_MAX = 16 };

struct rg_index {
	struct rg_store *store;
	int folder;
	uint64_t inode; /* of the open index; 0: none is open, or not yet */
	struct rg_index_vfs vfs;
	sqlite3 *db;
	bool in_memory;
	bool placed;	   /* where a configuration says, so that something else may stand there */
	bool bulk;	   /* indexes and the mailbox come at the end */
	bool search_stale; /* a text changed that is in the full-text table */
	bool damaged;	   /* in a way that SQLite does not see */
	int64_t busy_until_ns; /* of the monotonic clock: so long somebody else is waited for */
	char trouble[200];
	sqlite3_stmt *statements[RG_SQL_COUNT];
	struct rg_asked asked[RG_ASKED_MAX];
	size_t asked_next; /* the one to give way */
	struct rg_index_progress progress;
	struct rg_index_lines lines; /* being filled */
	struct rg_deltas deltas;
	int64_t lease_ms_max; /* 0: none */
	roger_progress *tell;
	bool stopped; /* by what it returned */
	void *tell_context;
	char name[256];
	char seed_name[256];
	/* Last, and hardly filled: a send touches no page of memory for the rest of them. */
	char path[4400];      /* of the index */
	char seed_path[4400]; /* of messages.db */
};

/*
 * index_file.c: the files of the databases.  Their names are messages.db-index and
 * messages.db, or as configured; inode 0: there is none that may be opened.  What is
 * no regular file is refused, and so is what would make SQLite touch other files.
 */
RG_CHECKED int rg_index_file_find(struct rg_index *index, const char *name, uint64_t *ret_inode,
				  struct roger_err *err);
uint64_t rg_index_file_inode(const struct rg_index *index);
/* Where the configuration places them, only what starts like one is replaced. */
RG_CHECKED int rg_index_file_check(struct rg_index *index, const char *path, const char *magic,
				   const char *name, struct roger_err *err);
int rg_index_file_refuse(const char *name, struct roger_err *err);
/* A new and empty one, to be filled; then, where that went well (r), in the place of the old. */
enum { RG_INDEX_FRESH_BYTES = 270 };
RG_CHECKED int rg_index_file_begin(struct rg_index *index, const char *name,
				   char fresh[RG_INDEX_FRESH_BYTES], struct roger_err *err);
RG_CHECKED int rg_index_file_end(struct rg_index *index, const char *name, const char *fresh, int r,
				 struct roger_err *err);

/*
 * With the index lock, and with an index that is up to date: messages.db, too.
 * anew: also where it must be made anew.
 */
int rg_index_seed_follow(struct rg_index *index, bool anew, struct roger_err *err);

/* With the index lock: it is made anew on a second thread, where it must be, where others have
 * changed it, or anew is set. */
struct rg_seed_making {
	struct rg_index *index;
	int64_t end;
	bool wanted, threaded;
	pthread_t thread;
	int result;
	struct roger_err err;
};
void rg_index_seed_begin(struct rg_index *index, uint64_t end, bool anew,
			 struct rg_seed_making *making);
int rg_index_seed_end(struct rg_seed_making *making, struct roger_err *err);

/* Was the message of this id archived?  *ret_archived false where none ever was. */
int rg_index_is_archived(struct rg_index *index, struct roger_str id, bool *ret_archived,
			 struct roger_err *err);

/* Whatever the file says of itself: it was made by whoever could write here. */
void rg_index_distrust(sqlite3 *db);

/* Prepared once, reset and ready for values; NULL with err filled. */
sqlite3_stmt *rg_index_statement(struct rg_index *index, enum rg_statement which,
				 struct roger_err *err);

/* Words for the last failure of the database. */
int rg_index_fail(struct rg_index *index, const char *what, struct roger_err *err);

int rg_index_run(struct rg_index *index, const char *sql, struct roger_err *err);

/* A question being put together: its text, and the values for its places, in their order. */
struct rg_question {
	struct rg_buf sql;
	struct rg_buf values;
};
void rg_question_init(struct rg_question *question, const char *sql);
void rg_question_deinit(struct rg_question *question);
/* More text, with a place in it for the value; the text of the value is borrowed. */
void rg_question_text(struct rg_question *question, const char *sql, struct roger_str text);
void rg_question_number(struct rg_question *question, const char *sql, int64_t number);

/* Sees a row of the answer; NULL: the index was damaged, and all rows come again. */
typedef int rg_index_see(void *context, sqlite3_stmt *row, struct roger_err *err);

/*
 * Ask, of an index that is rebuilt where it turns out damaged; the question is
 * deinitialized.
 */
int rg_index_ask(struct rg_index *index, struct rg_question *question, rg_index_see *see,
		 void *context, struct roger_err *err);
/* The first column of each row, as text. */
int rg_index_ask_texts(struct rg_index *index, struct rg_question *question, struct rg_arena *arena,
		       struct roger_strs *ret_texts, struct roger_err *err);

/* What find gives, and how many there are whatever the limit and held or not. */
int rg_index_find_page(struct rg_index *index, const struct rg_query *query, struct rg_arena *arena,
		       struct rg_entries *ret_entries, int64_t *ret_total, struct roger_err *err);

/* Prepared and run to its end: a statement without places or rows. */
int rg_index_run_one(struct rg_index *index, enum rg_statement which, struct roger_err *err);

/* Run to its end a statement that returns no rows. */
int rg_index_step(struct rg_index *index, sqlite3_stmt *statement, struct roger_err *err);

void rg_index_bind(sqlite3_stmt *statement, int place, struct roger_str text);
/* An instant in ms; 0 is NULL. */
void rg_index_bind_instant(sqlite3_stmt *statement, int place, int64_t instant_ms);
/* Six columns from that place on: id, issue, sender, recipient, run counter, type. */
void rg_index_bind_message(sqlite3_stmt *statement, int first, const struct roger_message *message);
struct roger_str rg_index_column(sqlite3_stmt *statement, int column);
struct roger_str rg_index_bytes(sqlite3_stmt *statement, int column);

/* Read the row of progress again; ROGER_EDATA: it does not fit any more. */
int rg_index_load(struct rg_index *index, struct roger_err *err);

/* With the index lock: is the open file still the one of its name?  If not, open that one. */
RG_CHECKED int rg_index_reopen(struct rg_index *index, struct roger_err *err);
void rg_index_rollback(struct rg_index *index);

/* The hash of a line as the journal has it now; and of the last that was taken in. */
int rg_index_hash_line(struct rg_index *index, int64_t offset, int64_t length, int64_t *ret_hash,
		       struct roger_err *err);
int rg_index_last_hash(struct rg_index *index, int64_t *ret_hash, struct roger_err *err);

/* Ready for the lines behind those that are known; then each, in turn; then the rest into the
 * table. */
int rg_index_lines_begin(struct rg_index *index, struct roger_err *err);
int rg_index_lines_add(struct rg_index *index, uint64_t offset, uint64_t length,
		       struct roger_err *err);
int rg_index_lines_end(struct rg_index *index, struct roger_err *err);

/* Where a line stands, by the row of table lines that holds it. */
int rg_index_lines_find(struct rg_index *index, int64_t line, int64_t offset,
			struct roger_str lengths, struct rg_entry *ret_entry,
			struct roger_err *err);

/* One transaction's work: lines of the journal up to end into the tables. */
int rg_index_ingest(struct rg_index *index, uint64_t end, struct roger_err *err);

#endif
