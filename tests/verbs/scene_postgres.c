/* The store in PostgreSQL for scenes: script/postgres starts a server and names it. */
#include "scene.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/workspace.h"
#include "store/postgres/postgres.h"
#include "store/process/process.h"

/* A workspace for each scenario. */
static char *address_of(const struct rg_workspace *workspace)
{
	char *address = NULL;

	return asprintf(&address, "%s#%s", getenv("TEST_POSTGRES"), workspace->data_path) > 0
		       ? address
		       : NULL;
}

int scene_postgres_open(struct rg_workspace *workspace, const struct rg_store_above *above,
			struct rg_store **ret_store, struct roger_err *err)
{
	char *address = address_of(workspace);
	int steps, r = address ? rg_postgres_migrate(address, &steps, err) : rg_fail_memory(err);

	free(address);
	rg_postgres_address = address_of;
	return r < 0 ? r : rg_postgres_store_open(workspace, above, ret_store, err);
}

/* Whoever leads sees soon that its last line is another. */
static void wait_noticed(PGconn *connection, const struct scene *scene, long line)
{
	char name[600], sql[1000];
	struct rg_common *common;
	PGresult *result;
	int tries;

	snprintf(sql, sizeof sql,
		 "SELECT FROM roger.line JOIN roger.workspace ON journal = messages WHERE name = "
		 "'%s/.roger' OFFSET %ld",
		 scene->root, line);
	result = PQexec(connection, sql);
	snprintf(name, sizeof name, "%s#%s/.roger", getenv("TEST_POSTGRES"), scene->root);
	common = PQntuples(result) ? NULL : rg_common_find(name);
	PQclear(result);
	for (tries = 0; common && tries < 500 && common->shared.broken == RG_BROKEN_NOT; tries++)
		rg_clock_sleep(10);
}

/* As only the owner of the tables can. */
void scene_postgres_damage(struct scene *scene, long line)
{
	PGconn *connection = PQconnectdb(getenv("TEST_POSTGRES"));
	PGresult *result;
	char sql[1000];

	snprintf(sql, sizeof sql,
		 "SET session_replication_role = replica; UPDATE roger.line SET text = "
		 "overlay(text PLACING '~' FROM position('\"content\":\"' IN text) + 11 FOR 1) "
		 "WHERE (journal, start) = (SELECT journal, start FROM roger.line JOIN "
		 "roger.workspace ON journal = messages WHERE name = '%s/.roger' ORDER BY start "
		 "OFFSET %ld LIMIT 1)",
		 scene->root, line - 1);
	result = PQexec(connection, sql);
	assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
	PQclear(result);
	wait_noticed(connection, scene, line);
	PQfinish(connection);
}
