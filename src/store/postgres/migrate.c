/*
 * Migrations: SQL files with a number, each in a transaction of its own under one lock.  Only
 * `roger init` and `roger upgrade` come here.
 */
#include "store/postgres/inside.h"

#include <stdlib.h>

#include "base/id.h"
#include "postgres_migrations.h"

enum { MIGRATION_LOCK = 7402001, VERSIONS = sizeof migrations / sizeof *migrations };

int rg_postgres_version(void)
{
	return VERSIONS;
}

/* The name behind '#', which is cut off; "main" if there is none. */
char *rg_postgres_cut_name(char *address)
{
	static char usual[] = "main";
	char *mark = strrchr(address, '#');

	if (!mark || !mark[1])
		return usual;
	*mark = '\0';
	return mark + 1;
}

/* One statement or several; libpq sends several only outside of a pipeline. */
static int run(PGconn *connection, const char *sql, struct roger_err *err)
{
	PGresult *result = PQexec(connection, sql);

	if (rg_link_failed(result))
		return rg_link_fail(result, err);
	PQclear(result);
	return ROGER_OK;
}

static int read_version(PGconn *connection, int *ret_version, struct roger_err *err)
{
	PGresult *result = PQexec(connection, "SELECT coalesce(max(version), 0) FROM roger.schema");

	*ret_version = rg_link_failed(result) ? 0 : atoi(PQgetvalue(result, 0, 0));
	if (rg_link_failed(result))
		return rg_link_fail(result, err);
	PQclear(result);
	return ROGER_OK;
}

static int migrate_to(PGconn *connection, int version, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf sql = { .maximum = SIZE_MAX };
	char sum[65];

	rg_sha256_hex(rg_str(migrations[version - 1]), sum);
	rg_buf_printf(&sql,
		      "BEGIN; %s; INSERT INTO roger.schema(version, sha256) VALUES (%d, '%s'); "
		      "COMMIT",
		      migrations[version - 1], version, sum);
	rg_buf_add_char(&sql, '\0');
	return sql.failed ? rg_fail_memory(err) : run(connection, sql.data, err);
}

static int migrate(PGconn *connection, int *ret_steps, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf lock = { .maximum = 100 };
	int version = 0, r;

	rg_buf_printf(&lock, "SELECT pg_advisory_lock(%d)", MIGRATION_LOCK);
	rg_buf_add_char(&lock, '\0');
	r = run(connection, lock.data, err);
	if (r == ROGER_OK)
		r = run(connection,
			"SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS roger; "
			"CREATE TABLE IF NOT EXISTS roger.schema(version int PRIMARY KEY, sha256 "
			"text NOT NULL, at timestamptz NOT NULL DEFAULT now())",
			err);
	if (r == ROGER_OK)
		r = read_version(connection, &version, err);
	if (r == ROGER_OK && version > VERSIONS)
		r = rg_fail(err, ROGER_ECONFIG, 0,
			    "the database's tables are of a newer roger: update this one");
	*ret_steps = VERSIONS - version;
	while (r == ROGER_OK && version < VERSIONS)
		r = migrate_to(connection, ++version, err);
	return r;
}

static int add_workspace(PGconn *connection, const char *name, struct roger_err *err)
{
	PGresult *result = PQexecParams(
		connection, "INSERT INTO roger.workspace(name) VALUES ($1) ON CONFLICT DO NOTHING",
		1, NULL, &name, NULL, NULL, 0);

	if (rg_link_failed(result))
		return rg_link_fail(result, err);
	PQclear(result);
	return ROGER_OK;
}

/* The ends of the statement and of the pipeline are still to be read. */
static int leave_pipeline(PGconn *connection, struct roger_err *err)
{
	PQsetnonblocking(connection, 0);
	PQclear(PQgetResult(connection));
	PQclear(PQgetResult(connection));
	return PQexitPipelineMode(connection) ? ROGER_OK : rg_link_fail(NULL, err);
}

int rg_postgres_migrate(const char *address, int *ret_steps, struct roger_err *err)
{
	struct rg_link link = { .address = strdup(address) };
	char *name;
	int r;

	if (!link.address)
		return rg_fail_memory(err);
	name = rg_postgres_cut_name(link.address);
	r = rg_link_open(&link, err);
	if (r == ROGER_OK)
		r = leave_pipeline(link.connection, err);
	if (r == ROGER_OK)
		r = migrate(link.connection, ret_steps, err);
	if (r == ROGER_OK)
		r = add_workspace(link.connection, name, err);
	rg_link_close(&link);
	free(link.address);
	return r;
}

int rg_postgres_prepare(struct rg_workspace *workspace, int *ret_steps, struct roger_err *err)
{
	char *address = rg_postgres_address(workspace);
	int r = address ? rg_postgres_migrate(address, ret_steps, err) : rg_fail_memory(err);

	free(address);
	return r;
}
