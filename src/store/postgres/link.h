/*
 * link - a connection to PostgreSQL in pipeline mode.
 *
 * Statements are queued and sent together; results come back in the same order.
 * A statement that fails drops all up to the next sync.  A connection that is
 * lost is not replaced by itself: rg_link_open() makes the next one.
 */
#ifndef RG_POSTGRES_LINK_H
#define RG_POSTGRES_LINK_H

#include <libpq-fe.h>

#include "base/str.h"

enum { RG_QUEUED_MAX = 64, RG_ARGS_MAX = 24, RG_STATEMENTS_MAX = 32 };
enum { RG_ANSWER_MS = 30000, RG_LOOK_MS = 3000 };

struct rg_link {
	PGconn *connection;  /* NULL: none */
	char *address;	     /* as for libpq */
	int64_t patience_ms; /* time to connect, and then for an answer; 0: the default */
	unsigned lives;	     /* connections so far */
	int64_t session;     /* the server's process; begun: when it began */
	char begun[40];
	bool warned; /* a warning came since this was cleared */
	/* A ring, with an item for each result that is to come: 0, or, where a statement is only
	 * prepared, 1 + its place in statements. */
	unsigned char prepares[RG_QUEUED_MAX];
	size_t first, queued;
	const char *statements[RG_STATEMENTS_MAX]; /* prepared on this connection */
};

/* An argument of a statement.  Bytes and arrays without data are NULL. */
struct rg_arg {
	enum { RG_ARG_END, RG_ARG_INT, RG_ARG_TEXT, RG_ARG_BYTES } kind;
	int64_t number;
	struct roger_str bytes;
};
#define RG_INT(n) ((struct rg_arg){ .kind = RG_ARG_INT, .number = (int64_t)(n) })
#define RG_TEXT(t) ((struct rg_arg){ .kind = RG_ARG_TEXT, .bytes = { (t), 0 } })
#define RG_BYTES(s) ((struct rg_arg){ .kind = RG_ARG_BYTES, .bytes = (s) })
#define RG_NULL RG_TEXT(NULL)
#define RG_ARGS(...) ((const struct rg_arg[]){ __VA_ARGS__, { .kind = RG_ARG_END } })

/* An array of bytea or of bigint as an argument, in PostgreSQL's binary form. */
enum rg_array { RG_ARRAY_BYTES = 17, RG_ARRAY_INTS = 20 }; /* PostgreSQL's numbers */
void rg_array_open(struct rg_buf *array, enum rg_array type);
void rg_array_add(struct rg_buf *array, struct roger_str bytes);
void rg_array_add_int(struct rg_buf *array, int64_t number);
struct rg_arg rg_array_close(struct rg_buf *array);

/* Connect, unless connected.  ROGER_ECONFIG: the address is wrong, or there is a pooler between. */
RG_CHECKED int rg_link_open(struct rg_link *link, struct roger_err *err);
void rg_link_close(struct rg_link *link);
/* Say why connecting failed (cause.c); late: it took all the time there was. */
int rg_link_tell_cause(const char *address, struct roger_err *err);
int rg_link_tell_late(struct roger_err *err);

/* Queue a statement.  Its text must stay; results are binary; args may be NULL. */
void rg_link_put(struct rg_link *link, const char *sql, const struct rg_arg *args);
/* Statements up to here succeed or fail together, unless they are in BEGIN and COMMIT. */
void rg_link_sync(struct rg_link *link);
/* Read all results that are still to come. */
void rg_link_drain(struct rg_link *link);

/* Take the result of the next statement.  It must be a success, and goes to *ret_result (NULL:
 * nowhere).  ROGER_ETIMEOUT, and the link is closed: the connection is lost. */
RG_CHECKED int rg_link_expect(struct rg_link *link, int64_t wait_ms, PGresult **ret_result,
			      struct roger_err *err);

/* Run SQL outside the pipeline, which ends.  Needs an empty queue.  *ret_number (may be NULL):
 * the number that the last statement gives. */
RG_CHECKED int rg_link_run(struct rg_link *link, const char *sql, int64_t *ret_number,
			   struct roger_err *err);

/* For RG_CLEANUP. */
static inline void rg_result_clearp(PGresult **result)
{
	PQclear(*result);
}

/* Read a column of a binary result.  A NUL follows the bytes, as libpq promises. */
int64_t rg_column_int(const PGresult *result, int row, int column);
struct roger_str rg_column_bytes(const PGresult *result, int row, int column);

#endif
