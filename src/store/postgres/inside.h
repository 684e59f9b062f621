/* inside - what the files of store/postgres/ share. */
#ifndef RG_POSTGRES_INSIDE_H
#define RG_POSTGRES_INSIDE_H

#include <stdatomic.h>

#include "store/postgres/link.h"
#include "store/postgres/postgres.h"
#include "store/process/process.h"

enum { RG_PG_CACHES = 4, RG_PG_LEADER_BYTES = 256 };

/* The bytes of a journal that were read last. */
struct rg_pg_cache {
	struct rg_buf bytes;
	uint64_t journal, from;
};

/*
 * One workspace in this process.  The keeper's thread follows the leader's lines, takes over, and
 * says that we are alive; the writer's thread writes the queue.
 */
struct rg_postgres {
	struct rg_common *common;
	struct rg_handle self; /* a handle of the threads */
	struct rg_workspace own;
	char *address;
	const char *name; /* of the workspace */
	int64_t ws;
	char who[RG_PG_LEADER_BYTES];
	pthread_t keeper, writer;
	bool keeps, writes; /* these threads run */
	unsigned beats;
	struct rg_link keep, write;

	/* The mutex of common guards these. */
	bool ending, decided, leading;
	char leader[RG_PG_LEADER_BYTES]; /* another server that leads */
	char standby[RG_PG_LEADER_BYTES];
	int64_t generation, step;
	struct roger_err trouble; /* why there is no connection */

	_Atomic int64_t lease_ns; /* we may answer until then, by a clock that also counts sleep */

	/* For reading bytes that are not in memory. */
	pthread_mutex_t read_mutex;
	struct rg_link read;
	struct rg_pg_cache caches[RG_PG_CACHES];
	size_t next_cache;
};

static inline struct rg_postgres *rg_postgres_of(struct rg_common *common)
{
	return common->kept_by;
}

/* Run one statement by itself. */
RG_CHECKED int rg_pg_ask(struct rg_link *link, int64_t wait_ms, const char *sql,
			 const struct rg_arg *args, PGresult **ret_result, struct roger_err *err);
/* Make all that was committed durable, on the standby, too: ask for it, and wait for it. */
void rg_pg_put_barrier(struct rg_link *link);
RG_CHECKED int rg_pg_take_barrier(struct rg_link *link, struct roger_err *err);

/* Join lines, each of which comes with its start; missing ones become zeros, a line that nobody
 * can read. */
void rg_pg_join_lines(const PGresult *result, uint64_t at, struct rg_buf *to);

/* lead.c */
void *rg_pg_keep(void *postgres);
/* Stop leading, since another server does: nobody knows what became of changes that are not
 * covered. Needs the mutex. */
void rg_pg_depose(struct rg_postgres *postgres);
/* Wait at most wait_ms until this process may answer; ROGER_ETIMEOUT: it may not. */
RG_CHECKED int rg_pg_wait_until_ready(struct rg_postgres *postgres, int64_t wait_ms,
				      struct roger_err *err);

/* write.c */
void *rg_pg_write(void *postgres);

/* migrate.c */
int rg_postgres_schema_version(void);
char *rg_postgres_cut_name(char *address);

#endif
