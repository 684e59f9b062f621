/*
 * Migrations: SQL files with a number, each in a transaction of its own under one lock.  Only
 * `roger init` and `roger upgrade` come here.
 */
#include "store/postgres/inside.h"

#include <stdlib.h>

#include "base/id.h"
#include "postgres_migrations.h"

enum { VERSIONS = sizeof migrations / sizeof *migrations };

int rg_postgres_schema_version(void)
{
	return VERSIONS;
}

/* The name after '#', which is cut off; "main" without one. */
char *rg_postgres_cut_name(char *address)
{
	static char usual[] = "main";
	char *mark = strrchr(address, '#');

	if (!mark || !mark[1])
		return usual;
	*mark = '\0';
	return mark + 1;
}

static int migrate_to(struct rg_link *link, int64_t version, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf sql = { .maximum = SIZE_MAX };
	char sum[65];

	rg_sha256_hex(rg_str(migrations[version - 1]), sum);
	rg_buf_printf(&sql,
		      "BEGIN; %s; INSERT INTO roger.schema(version, sha256) VALUES (%lld, '%s'); "
		      "COMMIT",
		      migrations[version - 1], (long long)version, sum);
	rg_buf_add_char(&sql, '\0');
	return sql.failed ? rg_fail_memory(err) : rg_link_run(link, sql.data, NULL, err);
}

static int migrate_schema(struct rg_link *link, int *ret_steps, struct roger_err *err)
{
	int64_t version = 0;
	int r;

	r = rg_link_run(
		link,
		"SELECT pg_advisory_lock(7402001); SET client_min_messages = error; CREATE "
		"SCHEMA IF NOT EXISTS roger; CREATE TABLE IF NOT EXISTS roger.schema(version "
		"int PRIMARY KEY, sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now()); "
		"SELECT coalesce(max(version), 0) FROM roger.schema",
		&version, err);
	if (r == ROGER_OK && version > VERSIONS)
		r = rg_fail(err, ROGER_ECONFIG, 0,
			    "the database's tables are of a newer roger: update this one");
	*ret_steps = VERSIONS - (int)version;
	while (r == ROGER_OK && version < VERSIONS)
		r = migrate_to(link, ++version, err);
	return r;
}

static int refuse_second(struct rg_link *link, const char *name, struct roger_err *err)
{
	PGresult *names =
		PQexec(link->connection,
		       "SELECT string_agg(quote_literal(name), ', ') FROM (SELECT name FROM "
		       "roger.workspace ORDER BY name LIMIT 10) named");

	rg_fail_member(err, ROGER_EREFUSED, "second",
		       "second: no workspace '%.100s' is in this database, but %.200s; is the name "
		       "behind # right? --second makes it",
		       name, PQntuples(names) ? PQgetvalue(names, 0, 0) : "others");
	PQclear(names);
	return ROGER_EREFUSED;
}

/* Add the workspace, with its name as a literal of SQL. */
static int add_workspace(struct rg_link *link, const char *name, bool second, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf sql = { .maximum = 4096 };
	char *literal = PQescapeLiteral(link->connection, name, strlen(name));
	const char *text = literal ? literal : "";
	int64_t there = 0;
	int r;

	rg_buf_printf(&sql,
		      "INSERT INTO roger.workspace(name) SELECT %s WHERE %s OR NOT EXISTS (SELECT "
		      "FROM roger.workspace) ON CONFLICT DO NOTHING; SELECT count(*) FROM "
		      "roger.workspace WHERE name = %s",
		      text, second ? "true" : "false", text);
	rg_buf_add_char(&sql, '\0');
	PQfreemem(literal);
	r = sql.failed ? rg_fail_memory(err) : rg_link_run(link, sql.data, &there, err);
	return r == ROGER_OK && !there ? refuse_second(link, name, err) : r;
}

static int prepare_database(const char *address, bool second, int *ret_steps, struct roger_err *err)
{
	struct rg_link link = { .address = strdup(address) };
	char *name;
	int r;

	if (!link.address)
		return rg_fail_memory(err);
	name = rg_postgres_cut_name(link.address);
	r = rg_link_open(&link, err);
	if (r == ROGER_OK)
		r = migrate_schema(&link, ret_steps, err);
	if (r == ROGER_OK)
		r = add_workspace(&link, name, second, err);
	rg_link_close(&link);
	free(link.address);
	return r;
}

int rg_postgres_migrate(const char *address, int *ret_steps, struct roger_err *err)
{
	return prepare_database(address, true, ret_steps, err);
}

int rg_postgres_prepare(struct rg_workspace *workspace, int *ret_steps, struct roger_err *err)
{
	char *address = rg_postgres_address(workspace);
	int r = address ? prepare_database(address, workspace->second, ret_steps, err)
			: rg_fail_memory(err);

	free(address);
	return r;
}
