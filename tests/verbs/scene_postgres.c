/* The store in PostgreSQL for scenes: script/postgres starts a server and names it. */
#include "scene.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/workspace.h"
#include "store/postgres/inside.h"
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

void scene_postgres_forget(struct scene *scene)
{
	struct rg_common *common = common_of(scene);

	rg_common_lock(common);
	/* It forgets what was covered at the call before. */
	rg_common_trim(common);
	rg_common_trim(common);
	rg_common_unlock(common);
}

/* Nor what was read ahead. */
static void forget_all(struct scene *scene)
{
	struct rg_postgres *postgres = rg_postgres_of(common_of(scene));
	size_t i;

	scene_postgres_forget(scene);
	pthread_mutex_lock(&postgres->read_mutex);
	for (i = 0; i < RG_PG_CACHES; i++)
		postgres->caches[i].journal = 0;
	pthread_mutex_unlock(&postgres->read_mutex);
}

/* As only the owner of the tables can. */
static void alter(struct scene *scene, const char *what, const char *which, long number)
{
	PGconn *connection = PQconnectdb(getenv("TEST_POSTGRES"));
	char sql[1000];
	PGresult *result;
	struct rg_common *common;
	bool was_last;
	int tries;

	snprintf(sql, sizeof sql,
		 "SET session_replication_role = replica; WITH one AS (SELECT journal, start, "
		 "row_number() OVER (ORDER BY start) AS line, bytes - start AS back, start = "
		 "max(start) OVER () AS last FROM roger.line JOIN roger.workspace ON journal = "
		 "messages WHERE name = '%s/.roger'), altered AS (%s AND (%s %ld) RETURNING last) "
		 "SELECT "
		 "FROM altered WHERE last",
		 scene->root, what, which, number);
	result = PQexec(connection, sql);
	assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
	was_last = PQntuples(result);
	PQclear(result);
	PQfinish(connection);
	common = common_of(scene);
	if (!common)
		return;
	/* Whoever leads sees soon that its last line is another. */
	for (tries = 0; was_last && tries < 500 && common->shared.broken == RG_BROKEN_NOT; tries++)
		rg_clock_sleep(10);
	forget_all(scene);
}

void scene_postgres_damage(struct scene *scene, long line)
{
	alter(scene,
	      "UPDATE roger.line l SET text = overlay(text PLACING '~' FROM "
	      "position('\"content\":\"' IN text) + 11 FOR 1) FROM one WHERE "
	      "(l.journal, l.start) = (one.journal, one.start)",
	      "line =", line);
}

void scene_postgres_cut(struct scene *scene, long bytes)
{
	alter(scene,
	      "DELETE FROM roger.line l USING one WHERE (l.journal, l.start) = (one.journal, "
	      "one.start)",
	      "last OR back <=", bytes);
}

static void wait_until_it_leads(struct rg_common *common)
{
	bool trails = true;
	int tries;

	for (tries = 0; trails && tries < 1000; tries++) {
		rg_common_lock(common);
		trails = common->trails;
		rg_common_unlock(common);
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
