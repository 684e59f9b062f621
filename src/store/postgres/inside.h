/* inside - what the files of store/postgres/ share. */
#ifndef RG_POSTGRES_INSIDE_H
#define RG_POSTGRES_INSIDE_H

#include <pthread.h>

#include "base/table.h"
#include "host/workspace.h"
#include "store/lines.h"
#include "store/postgres/link.h"
#include "store/postgres/postgres.h"

enum { WORDS = 11 };

/* A row of roger.workspace, as last seen. */
struct row {
	int64_t messages; /* number of that journal */
	uint64_t bytes, chain, last, before_last;
	int64_t epoch;
	struct rg_figure witness;
	int64_t words[WORDS]; /* struct rg_shared */
	uint64_t state_bytes;
};

/* An entry of a log that nobody waited for: kept until the server has answered. */
struct noted {
	struct rg_buf entries;
	enum rg_log log;
	char name[RG_FILE_NAME_BYTES];
	int64_t token;
	unsigned life; /* of the link, when it was sent */
};

struct postgres_store {
	struct rg_store base;
	struct rg_workspace *workspace;
	const struct rg_store_above *above;
	pthread_mutex_t mutex; /* recursive; threads may read messages at the same time */
	struct rg_link link;
	const char *name; /* of the workspace */
	int64_t ws;

	struct row row;
	struct rg_shared shared;		/* row.words, and what is not pushed yet */
	uint64_t durable;			/* messages are, up to here */
	unsigned life;				/* of the link, when the row was read */
	unsigned taken[RG_LOCK_CHECKPOINT + 1]; /* in which life of the link; 0: not held */

	/* The open transaction, with RG_LOCK_APPEND.  guessing: nothing was asked for it, the
	 * server checks it at its end.  blank: there are no figures but the known. */
	bool appending, guessing, blank;
	bool doubtful; /* the last guess was wrong: the next one begins with the lock */
	unsigned turn; /* of transactions */
	struct row row_before;
	uint64_t logged_before;
	struct rg_buf lines; /* an array */
	size_t line_count;

	/* The last one that wrote lines: what is open about it. */
	int64_t token;
	uint64_t token_from;		   /* its lines are not before */
	int64_t token_process, token_born; /* who was at work on it */
	unsigned token_life;		   /* of the link, when it was committed */
	unsigned barrier_life; /* when its barrier was sent that nobody waited for yet */
	bool telling;	       /* of new lines, to those who wait, with the next barrier */
	struct noted noted;

	struct rg_table known; /* of struct known */
	struct rg_named_figure *agents;
	size_t agent_count;

	/* Bytes that were read: roger.line only grows. */
	struct rg_buf cache;
	int64_t cache_journal;
	uint64_t cache_from;
	uint64_t read_to; /* of messages, by the last read */

	/* Waiting. */
	bool watching;	    /* the next settle() may use what wait() saw */
	unsigned listening; /* in this life of the link */
	int64_t looked_ns, registered_ns, who;
	char listen[40];
};

static inline struct postgres_store *of(struct rg_store *store)
{
	return (struct postgres_store *)store;
}

struct postgres_store *rg_pg_enter(struct rg_store *store);
void rg_pg_leave(struct postgres_store *store);

/* Connect if the connection is lost; nothing that was asked before is open then. */
RG_CHECKED int rg_pg_ready(struct postgres_store *store, struct roger_err *err);
/* Was the connection lost, so that it can be tried again?  At most twice. */
bool rg_pg_again(const struct postgres_store *store, int r, int *tries);
/* Were locks lost with a connection?  Then nothing is changed any more. */
RG_CHECKED int rg_pg_check_locks(const struct postgres_store *store, struct roger_err *err);
int64_t rg_pg_lock_number(const struct postgres_store *store, enum rg_store_lock which,
			  struct roger_str agent);
/* One statement by itself, again if the connection is lost. */
RG_CHECKED int rg_pg_ask(struct postgres_store *store, const char *sql, const struct rg_arg *args,
			 PGresult **ret_result, struct roger_err *err);
/* Take the row in; tail: and lines after those that were read. */
RG_CHECKED int rg_pg_look(struct postgres_store *store, bool tail, struct roger_err *err);
/* All that was committed so far becomes durable: in one go, or asked for and waited for. */
RG_CHECKED int rg_pg_barrier(struct postgres_store *store, struct roger_err *err);
void rg_pg_put_barrier(struct postgres_store *store);
RG_CHECKED int rg_pg_take_barrier(struct postgres_store *store, struct roger_err *err);

/* figures.c */
void rg_pg_ask_known(struct postgres_store *store);
RG_CHECKED int rg_pg_take_known(struct postgres_store *store, struct roger_err *err);
void rg_pg_forget_known(struct postgres_store *store);
bool rg_pg_is_dirty(const struct postgres_store *store);
/* Queue the step: all lines and figures. */
void rg_pg_put_step(struct postgres_store *store);
void rg_pg_end_step(struct postgres_store *store, bool stored);
bool rg_pg_figure(struct rg_store *store, const struct rg_figure_key *key,
		  struct rg_figure *ret_figure);
void rg_pg_put_figure(struct rg_store *store, const struct rg_figure_key *key,
		      const struct rg_figure *figure);
bool rg_pg_next_figure(struct rg_store *store, size_t *i, struct rg_named_figure *ret_named);
void rg_pg_read_words(struct postgres_store *store, int64_t words[WORDS]);

/* migrate.c */
int rg_postgres_version(void);
char *rg_postgres_cut_name(char *address);

/* move.c */
int rg_pg_stand(struct rg_store *store, enum rg_standing standing, struct roger_str place,
		struct roger_err *err);
int rg_pg_bring(struct rg_store *store, const struct rg_log_file *file, uint64_t from,
		struct roger_str lines, struct roger_err *err);
int rg_pg_bring_run(struct rg_store *store, const struct rg_run_text *run, struct roger_err *err);
/* What the row says of a move. */
void rg_pg_read_standing(struct postgres_store *store, struct roger_str state,
			 struct roger_str place);

/* journals.c */
/* Each line as an entry of an array: as it is, or as the body of a chained one. */
struct rg_arg rg_pg_lines(struct roger_str text, bool chained, struct rg_buf *array);
void rg_pg_put_tail(struct postgres_store *store);
RG_CHECKED int rg_pg_take_tail(struct postgres_store *store, struct roger_err *err);
/* Add what nobody waited for, if it went down with its connection. */
void rg_pg_add_noted(struct postgres_store *store);
/* Wait for that. */
RG_CHECKED int rg_pg_settle_noted(struct postgres_store *store, struct roger_err *err);
int rg_pg_list(struct rg_store *store, enum rg_log log, struct roger_str owner,
	       struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err);
int rg_pg_stat(struct rg_store *store, struct rg_log_file *file, bool *ret_there,
	       struct roger_err *err);
int rg_pg_read(struct rg_store *store, const struct rg_log_file *file, uint64_t from, char *room,
	       size_t want, size_t *ret_got, struct roger_err *err);
int rg_pg_add(struct rg_store *store, enum rg_log log, struct roger_str owner,
	      struct roger_str entries, bool durable, struct roger_err *err);
int rg_pg_rewrite(struct rg_store *store, enum rg_log log, struct roger_str owner,
		  rg_drop_line *drop, void *context, int64_t *ret_dropped, struct roger_err *err);
int rg_pg_get(struct rg_store *store, enum rg_document which, struct roger_str name,
	      struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err);
int rg_pg_put(struct rg_store *store, enum rg_document which, struct roger_str name,
	      const struct roger_str *before, struct roger_str after, bool durable,
	      struct roger_err *err);
int rg_pg_runs(struct rg_store *store, struct rg_arena *arena, struct rg_run_texts *ret_runs,
	       struct roger_err *err);

#endif
