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

/* What a queued statement is for. */
enum rg_role { RG_ROLE_OTHER, RG_ROLE_WRITE, RG_ROLE_BARRIER };

enum { RG_ROLES_MAX = 64, RG_ARGS_MAX = 20, RG_ANSWER_MS = 30000, RG_LOOK_MS = 5000 };

struct rg_link {
	PGconn *connection; /* NULL: none */
	char *address;	    /* as for libpq */
	unsigned lives;	    /* connections so far */
	bool warned;	    /* a warning came since this was cleared */
	bool notified;	    /* so did a notification */
	unsigned char roles[RG_ROLES_MAX];
	size_t first, queued;
};

struct rg_args {
	int count;
	const char *values[RG_ARGS_MAX];
	int lengths[RG_ARGS_MAX], formats[RG_ARGS_MAX];
	char numbers[RG_ARGS_MAX][24];
};

void rg_arg_int(struct rg_args *args, int64_t number);
void rg_arg_bytes(struct rg_args *args, struct roger_str bytes);
void rg_arg_text(struct rg_args *args, const char *text);

/* Connect, unless connected.  ROGER_ECONFIG: the address is wrong, or there is a pooler between. */
RG_CHECKED int rg_link_open(struct rg_link *link, struct roger_err *err);
void rg_link_close(struct rg_link *link);

/* Queue a statement whose results are binary; args may be NULL. */
void rg_link_put(struct rg_link *link, enum rg_role role, const char *sql,
		 const struct rg_args *args);
/* Statements up to here succeed or fail together, unless they are in BEGIN and COMMIT. */
void rg_link_sync(struct rg_link *link);
/* Send what is queued as far as the socket takes it. */
void rg_link_flush(struct rg_link *link);

/* The next result, and the role of its statement; NULL: the connection is lost, and closed. */
PGresult *rg_link_take(struct rg_link *link, enum rg_role *ret_role, int64_t wait_ms);

/* The next result must be one of success, which goes to *ret_result (or nowhere if NULL). */
RG_CHECKED int rg_link_expect(struct rg_link *link, int64_t wait_ms, PGresult **ret_result,
			      struct roger_err *err);

/* Why a result is no success, and clear it; result may be NULL: the connection was lost. */
RG_CHECKED int rg_link_fail(PGresult *result, struct roger_err *err);
bool rg_link_failed(const PGresult *result);

/* Sleep until something comes from the server. */
void rg_link_wait(struct rg_link *link, int64_t wait_ms);

/* Columns of a binary result. */
int64_t rg_column_int(const PGresult *result, int row, int column);
struct roger_str rg_column_bytes(const PGresult *result, int row, int column);

static inline void rg_result_clear(PGresult **result)
{
	PQclear(*result);
	*result = NULL;
}

#endif
