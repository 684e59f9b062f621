/* inside - what the files of store/postgres/ share. */
#ifndef RG_POSTGRES_INSIDE_H
#define RG_POSTGRES_INSIDE_H

#include <pthread.h>

#include "base/table.h"
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

struct postgres_store {
	struct rg_store base;
	struct rg_workspace *workspace;
	const struct rg_store_above *above;
	pthread_mutex_t mutex; /* recursive; threads may read messages at the same time */
	struct rg_link link;
	int64_t ws;

	struct row row;
	struct rg_shared shared;		/* row.words, and what is not pushed yet */
	uint64_t durable;			/* messages are, up to here */
	unsigned life;				/* of the link, when the row was read */
	unsigned taken[RG_LOCK_CHECKPOINT + 1]; /* in which life of the link; 0: not held */

	/* The open transaction, with RG_LOCK_APPEND. */
	bool appending, blank; /* blank: there are no figures but the known */
	unsigned turn;	       /* of transactions */
	int64_t epoch_before;
	struct rg_buf lines, starts, lengths;
	size_t line_count;
	uint64_t from; /* where the lines go */

	/* The last one that wrote lines: until its barrier has come its outcome is open. */
	bool open, refused;
	int64_t token;
	uint64_t open_from;

	struct rg_table known; /* of struct known */
	struct rg_named_figure *agents;
	size_t agent_count;

	/* Bytes that were read: roger.line only grows. */
	struct rg_buf cache;
	int64_t cache_journal;
	uint64_t cache_from;

	/* Waiting. */
	bool watching;	    /* the next settle() may use what wait() saw */
	unsigned listening; /* in this life of the link */
	int64_t looked_ns, registered_ns, who;
};

static inline struct postgres_store *of(struct rg_store *store)
{
	return (struct postgres_store *)store;
}

struct postgres_store *rg_pg_enter(struct rg_store *store);
void rg_pg_leave(struct postgres_store *store);

/* Read the results that are still to come, and connect if the connection is lost. */
RG_CHECKED int rg_pg_ready(struct postgres_store *store, struct roger_err *err);
/* Was the connection lost, so that it can be tried again?  At most twice. */
bool rg_pg_again(const struct postgres_store *store, int r, int *tries);
/* Were locks lost with a connection?  Then nothing is changed any more. */
RG_CHECKED int rg_pg_check_locks(const struct postgres_store *store, struct roger_err *err);
/* Queue what was changed in shared, and the question for the row. */
void rg_pg_ask_row(struct postgres_store *store);
RG_CHECKED int rg_pg_take_row(struct postgres_store *store, struct roger_err *err);
/* All that was committed so far becomes durable. */
void rg_pg_put_barrier(struct postgres_store *store);
RG_CHECKED int rg_pg_take_barrier(struct postgres_store *store, struct roger_err *err);

/* figures.c; a list is an array as PostgreSQL writes it, which close makes an argument. */
void rg_pg_list_open(struct rg_buf *list);
void rg_pg_list_add(struct rg_buf *list, int64_t number);
void rg_pg_list_close(struct rg_buf *list, struct rg_args *args);
void rg_pg_ask_known(struct postgres_store *store);
RG_CHECKED int rg_pg_take_known(struct postgres_store *store, struct roger_err *err);
void rg_pg_forget_known(struct postgres_store *store);
bool rg_pg_is_dirty(const struct postgres_store *store);
/* Queue one statement with all lines and figures. */
void rg_pg_put_changes(struct postgres_store *store);
bool rg_pg_figure(struct rg_store *store, const struct rg_figure_key *key,
		  struct rg_figure *ret_figure);
void rg_pg_put_figure(struct rg_store *store, const struct rg_figure_key *key,
		      const struct rg_figure *figure);
bool rg_pg_next_figure(struct rg_store *store, size_t *i, struct rg_named_figure *ret_named);

/* migrate.c */
int rg_postgres_version(void);
char *rg_postgres_cut_name(char *address);

/* move.c */
RG_CHECKED int rg_pg_begin_move(struct postgres_store *store, struct roger_err *err);
int rg_pg_stand(struct rg_store *store, enum rg_standing standing, struct roger_str place,
		struct roger_err *err);
int rg_pg_bring(struct rg_store *store, const struct rg_log_file *file, uint64_t from,
		struct roger_str lines, struct roger_err *err);
int rg_pg_bring_run(struct rg_store *store, const struct rg_run_text *run, struct roger_err *err);
/* What the row says of a move. */
void rg_pg_read_standing(struct postgres_store *store, struct roger_str state,
			 struct roger_str place);

/* journals.c */
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
