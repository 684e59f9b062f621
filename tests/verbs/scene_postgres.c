/* The store in PostgreSQL for scenes: script/postgres starts a server and names it. */
#include "scene.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/workspace.h"
#include "store/postgres/postgres.h"
#include "store/process/process.h"

/* Two servers in this process: of another address, one is another server. */
static bool is_second;

/* A workspace for each scenario. */
static char *address_of(const struct rg_workspace *workspace)
{
	char *address = NULL;

	return asprintf(&address, "%s%s#%s", getenv("TEST_POSTGRES"),
			is_second ? "&application_name=second" : "", workspace->data_path) > 0
		       ? address
		       : NULL;
}

/* NULL: nobody has it open. */
static struct rg_common *common_of(const struct scene *scene)
{
	char name[600];

	snprintf(name, sizeof name, "%s%s#%s/.roger", getenv("TEST_POSTGRES"),
		 is_second ? "&application_name=second" : "", scene->root);
	return rg_common_find(name);
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
	struct rg_common *common;
	char sql[1000];
	PGresult *result;
	int tries;

	snprintf(sql, sizeof sql,
		 "SELECT FROM roger.line JOIN roger.workspace ON journal = messages WHERE name = "
		 "'%s/.roger' OFFSET %ld",
		 scene->root, line);
	result = PQexec(connection, sql);
	common = PQntuples(result) ? NULL : common_of(scene);
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

void scene_postgres_forget(struct scene *scene)
{
	struct rg_common *common = common_of(scene);

	pthread_mutex_lock(&common->mutex);
	/* It forgets what was covered at the call before. */
	rg_common_trim(common);
	rg_common_trim(common);
	pthread_mutex_unlock(&common->mutex);
}

static void wait_until_it_leads(struct rg_common *common)
{
	bool trails = true;
	int tries;

	for (tries = 0; trails && tries < 1000; tries++) {
		pthread_mutex_lock(&common->mutex);
		trails = common->trails;
		pthread_mutex_unlock(&common->mutex);
		if (trails)
			rg_clock_sleep(10);
	}
	assert_false(trails);
}

void scene_postgres_follow(struct scene *scene)
{
	is_second = !is_second;
	if (!scene->next) {
		scene->next = scene_handle(scene);
		is_second = !is_second;
		return;
	}
	roger_close(scene->roger);
	scene->roger = scene->next;
	scene->next = NULL;
	wait_until_it_leads(common_of(scene));
}
