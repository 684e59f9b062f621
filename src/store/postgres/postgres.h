/*
 * postgres - a store in PostgreSQL, for several machines; see store/store.h.
 *
 * An address is a URL of libpq with the workspace's name behind a '#':
 * postgres://ROLE@HOST/DATABASE#NAME.
 */
#ifndef RG_POSTGRES_STORE_H
#define RG_POSTGRES_STORE_H

#include "store/store.h"

RG_CHECKED rg_store_opener rg_postgres_store_open;

/* Bring the database's schema up to this program's and add the workspace, unless it is there. */
RG_CHECKED int rg_postgres_migrate(const char *address, int *ret_steps, struct roger_err *err);

RG_CHECKED int rg_postgres_prepare(struct rg_workspace *workspace, int *ret_steps,
				   struct roger_err *err);

/* The address of a workspace, to be freed: what its configuration says; tests replace it. */
extern char *(*rg_postgres_address)(const struct rg_workspace *workspace);

#endif
