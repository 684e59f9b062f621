/* What a move needs: whole lines as they are, and which side of it a workspace is. */
#include "store/postgres/inside.h"

#include <stdio.h>

static const char *const standings[] = { "live", "incoming", "moved" };

void rg_pg_read_standing(struct postgres_store *store, struct roger_str state,
			 struct roger_str place)
{
	struct rg_store *base = &store->base;

	base->standing = rg_str_is(state, standings[RG_LIVE])	 ? RG_LIVE
			 : rg_str_is(state, standings[RG_MOVED]) ? RG_MOVED
								 : RG_INCOMING;
	snprintf(base->place, sizeof base->place, "%.*s", RG_STR_ARGS(place));
}

/* One statement: a move is not done again on another connection. */
static int run(struct postgres_store *store, const char *sql, const struct rg_arg *args,
	       PGresult **ret_result, struct roger_err *err)
{
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_link_put(&store->link, RG_ROLE_ASKED, sql, args);
	rg_link_sync(&store->link);
	return rg_link_expect(&store->link, RG_ANSWER_MS, ret_result, err);
}

int rg_pg_stand(struct rg_store *base, enum rg_standing standing, struct roger_str place,
		struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r = rg_pg_settle_noted(store, err);

	if (r == ROGER_OK)
		r = run(store,
			"UPDATE roger.workspace SET state = $2, place = convert_from($3, 'UTF8') "
			"WHERE ws "
			"= $1",
			RG_ARGS(RG_INT(store->ws), RG_TEXT(standings[standing]),
				RG_BYTES(place.length ? place : RG_STR(""))),
			NULL, err);
	if (store->appending)
		base->ops->unlock(base, RG_LOCK_APPEND, RG_STR(""));
	if (r == ROGER_OK)
		r = rg_pg_barrier(store, err);
	/* Whether that was committed is what the row says. */
	if (r == ROGER_OK)
		r = rg_pg_look(store, false, err);
	if (r == ROGER_OK && base->standing != standing)
		r = rg_fail(err, ROGER_ETIMEOUT, 0, "PostgreSQL stored nothing; try again");
	rg_pg_leave(store);
	return r;
}

#define LINES                                                                                      \
	"INSERT INTO roger.line SELECT j.journal, $2 + sum(length(l)) OVER (ORDER BY i) - "        \
	"length(l), l, 0 FROM j, unnest($3::bytea[]) WITH ORDINALITY AS x(l, i)"

static int bring_messages(struct postgres_store *store, uint64_t from, struct roger_str lines,
			  struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf array = { 0 };
	const char *before = memrchr(lines.data, '\n', lines.length - 1);
	const uint64_t end = from + lines.length,
		       last = from + (before ? (uint64_t)(before + 1 - lines.data) : 0);
	int r;

	r = run(store,
		"WITH j AS (UPDATE roger.workspace SET bytes = $4, last_start = $5 WHERE ws = $1 "
		"RETURNING messages AS journal) " LINES,
		RG_ARGS(RG_INT(store->ws), RG_INT(from), rg_pg_lines(lines, false, &array),
			RG_INT(end), RG_INT(last)),
		NULL, err);
	if (r == ROGER_OK) {
		store->row.bytes = end;
		store->row.last = last;
	}
	return r;
}

/* What is there goes, in the transaction of what comes. */
static void put_clearing(struct postgres_store *store, const struct rg_log_file *file)
{
	const struct rg_arg *which =
		RG_ARGS(RG_INT(store->ws), RG_INT(file->log), RG_TEXT(file->name.data));

	rg_link_put(&store->link, RG_ROLE_ASIDE, "SELECT set_config('roger.rewrite', 'on', true)",
		    NULL);
	rg_link_put(&store->link, RG_ROLE_ASIDE,
		    "DELETE FROM roger.line WHERE journal IN (SELECT journal FROM roger.journal "
		    "WHERE ws = $1 AND log = $2 AND name = $3)",
		    which);
	rg_link_put(&store->link, RG_ROLE_ASIDE,
		    "DELETE FROM roger.journal WHERE ws = $1 AND log = $2 AND name = $3", which);
}

static int find_chain(struct postgres_store *store, const struct rg_log_file *file,
		      uint64_t *ret_chain, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = run(store,
		    "SELECT chain FROM roger.journal WHERE ws = $1 AND log = $2 AND name = $3",
		    RG_ARGS(RG_INT(store->ws), RG_INT(file->log), RG_TEXT(file->name.data)),
		    &result, err);

	*ret_chain = r == ROGER_OK && PQntuples(result) ? (uint64_t)rg_column_int(result, 0, 0) : 0;
	PQclear(result);
	return r;
}

static int bring_log(struct postgres_store *store, const struct rg_log_file *file, uint64_t from,
		     struct roger_str lines, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf array = { 0 };
	uint64_t chain = 0;
	int r = from ? find_chain(store, file, &chain, err) : rg_pg_ready(store, err);

	if (r < 0)
		return r;
	if (!from)
		put_clearing(store, file);
	rg_chain_follow(lines, &chain);
	return run(store,
		   "WITH j AS (INSERT INTO roger.journal(ws, log, name, bytes, chain) VALUES ($1, "
		   "$4, $5, $6, int8send($7)) ON CONFLICT (ws, log, name) DO UPDATE SET bytes = "
		   "excluded.bytes, chain = excluded.chain RETURNING journal) " LINES,
		   RG_ARGS(RG_INT(store->ws), RG_INT(from), rg_pg_lines(lines, false, &array),
			   RG_INT(file->log), RG_TEXT(file->name.data), RG_INT(from + lines.length),
			   RG_INT(chain)),
		   NULL, err);
}

int rg_pg_bring(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
		struct roger_str lines, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r = ROGER_OK;

	if (file->log != RG_LOG_MESSAGES)
		r = bring_log(store, file, from, lines, err);
	else if (lines.length)
		r = bring_messages(store, from, lines, err);
	rg_buf_clear(&store->cache);
	if (r == ROGER_OK)
		r = rg_pg_barrier(store, err);
	rg_pg_leave(store);
	return r;
}

int rg_pg_bring_run(struct rg_store *base, const struct rg_run_text *text, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r;

	r = run(store,
		"INSERT INTO roger.document VALUES ($1, $2, $3, $4) ON CONFLICT (ws, kind, name) "
		"DO "
		"UPDATE SET text = excluded.text",
		RG_ARGS(RG_INT(store->ws), RG_INT(RG_DOCUMENT_RUN), RG_TEXT(text->file.data),
			RG_BYTES(text->text)),
		NULL, err);
	if (r == ROGER_OK)
		r = rg_pg_barrier(store, err);
	rg_pg_leave(store);
	return r;
}
