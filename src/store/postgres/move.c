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

/* One statement for which nothing waits in vain: a move is not done again on another connection. */
static int run(struct postgres_store *store, const char *sql, const struct rg_args *args,
	       PGresult **ret_result, struct roger_err *err)
{
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_link_put(&store->link, RG_ROLE_OTHER, sql, args);
	rg_link_sync(&store->link);
	return rg_link_expect(&store->link, RG_ANSWER_MS, ret_result, err);
}

static int make_durable(struct postgres_store *store, struct roger_err *err)
{
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_pg_put_barrier(store);
	return rg_pg_take_barrier(store, err);
}

/* It holds the lock of an append for as long as the copy takes. */
int rg_pg_begin_move(struct postgres_store *store, struct roger_err *err)
{
	return run(store,
		   "SELECT set_config('idle_in_transaction_session_timeout', '0', false), "
		   "set_config('work_mem', '64MB', false)",
		   NULL, NULL, err);
}

int rg_pg_stand(struct rg_store *base, enum rg_standing standing, struct roger_str place,
		struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	const bool appending = store->appending;
	struct rg_args args = { 0 };
	int r;

	rg_arg_int(&args, store->ws);
	rg_arg_text(&args, standings[standing]);
	rg_arg_bytes(&args, place);
	r = run(store,
		"UPDATE roger.workspace SET state = $2::text, place = convert_from($3::bytea, "
		"'UTF8') "
		"WHERE ws = $1::int",
		&args, NULL, err);
	if (appending)
		base->ops->unlock(base, RG_LOCK_APPEND, RG_STR(""));
	if (r == ROGER_OK)
		r = make_durable(store, err);
	/* Whether that transaction was committed is what the row says. */
	if (r == ROGER_OK) {
		rg_pg_ask_row(store);
		rg_link_sync(&store->link);
		r = rg_pg_take_row(store, err);
	}
	if (r == ROGER_OK && base->standing != standing)
		r = rg_link_fail(NULL, err);
	rg_pg_leave(store);
	return r;
}

/* The start of the last line. */
static uint64_t cut_lines(struct roger_str lines, uint64_t from, struct rg_args *args,
			  struct rg_buf *starts, struct rg_buf *lengths)
{
	const char *at = lines.data, *end, *last = at;

	rg_pg_list_open(starts);
	rg_pg_list_open(lengths);
	for (; at < lines.data + lines.length; at = end) {
		end = (const char *)memchr(at, '\n', (size_t)(lines.data + lines.length - at)) + 1;
		rg_pg_list_add(starts, at - lines.data);
		rg_pg_list_add(lengths, end - at);
		last = at;
	}
	rg_pg_list_close(starts, args);
	rg_pg_list_close(lengths, args);
	return from + (uint64_t)(last - lines.data);
}

#define LINES                                                                                      \
	"INSERT INTO roger.line SELECT j.journal, $1::bigint + o, substring($2::bytea FROM (o + "  \
	"1)::int FOR l), 0 FROM j, unnest($3::bigint[], $4::int[]) AS p(o, l)"

static int bring_messages(struct postgres_store *store, struct rg_args *args, uint64_t end,
			  uint64_t last, struct roger_err *err)
{
	int r;

	rg_arg_int(args, store->ws);
	rg_arg_int(args, (int64_t)end);
	rg_arg_int(args, (int64_t)last);
	r = run(store,
		"WITH j AS (UPDATE roger.workspace SET bytes = $6::bigint, last_start = "
		"$7::bigint WHERE ws = $5::int RETURNING messages AS journal) " LINES,
		args, NULL, err);
	if (r == ROGER_OK) {
		store->row.bytes = end;
		store->row.last = last;
	}
	return r;
}

/* What is there goes: all of it, or nothing. */
static int clear(struct postgres_store *store, const struct rg_log_file *file,
		 struct roger_err *err)
{
	static const char *const statements[] = {
		"SELECT $1::int, $2::smallint, $3::text, set_config('roger.rewrite', 'on', true)",
		"DELETE FROM roger.line WHERE journal IN (SELECT journal FROM roger.journal WHERE "
		"ws = $1::int AND log = $2::smallint AND name = $3::text)",
		"DELETE FROM roger.journal WHERE ws = $1::int AND log = $2::smallint AND name = "
		"$3::text"
	};
	struct rg_args args = { 0 };
	size_t i;
	int r = rg_pg_ready(store, err);

	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, file->log);
	rg_arg_text(&args, file->name.data);
	for (i = 0; i < sizeof statements / sizeof *statements; i++)
		rg_link_put(&store->link, RG_ROLE_OTHER, statements[i], &args);
	rg_link_sync(&store->link);
	for (i = 0; r == ROGER_OK && i < sizeof statements / sizeof *statements; i++)
		r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);
	return r;
}

static int find_chain(struct postgres_store *store, const struct rg_log_file *file,
		      uint64_t *ret_chain, struct roger_err *err)
{
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r;

	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, file->log);
	rg_arg_text(&args, file->name.data);
	r = run(store,
		"SELECT chain FROM roger.journal WHERE ws = $1::int AND log = $2::smallint AND "
		"name = $3::text",
		&args, &result, err);
	*ret_chain = r == ROGER_OK && PQntuples(result) ? (uint64_t)rg_column_int(result, 0, 0) : 0;
	PQclear(result);
	return r;
}

static int bring_log(struct postgres_store *store, const struct rg_log_file *file,
		     struct rg_args *args, uint64_t end, uint64_t chain, struct roger_err *err)
{
	rg_arg_int(args, store->ws);
	rg_arg_int(args, file->log);
	rg_arg_text(args, file->name.data);
	rg_arg_int(args, (int64_t)end);
	rg_arg_int(args, (int64_t)chain);
	return run(store,
		   "WITH j AS (INSERT INTO roger.journal(ws, log, name, bytes, chain) VALUES "
		   "($5::int, $6::smallint, $7::text, $8::bigint, $9::bigint) ON CONFLICT (ws, "
		   "log, name) "
		   "DO UPDATE SET bytes = excluded.bytes, chain = excluded.chain RETURNING "
		   "journal) " LINES,
		   args, NULL, err);
}

int rg_pg_bring(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
		struct roger_str lines, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf starts, lengths;
	struct postgres_store *store = rg_pg_enter(base);
	struct rg_args args = { 0 };
	uint64_t last, chain = 0;
	int r = ROGER_OK;

	rg_arg_int(&args, (int64_t)from);
	rg_arg_bytes(&args, lines);
	last = cut_lines(lines, from, &args, &starts, &lengths);
	if (file->log == RG_LOG_MESSAGES) {
		if (lines.length)
			r = bring_messages(store, &args, from + lines.length, last, err);
	} else {
		r = from ? find_chain(store, file, &chain, err) : clear(store, file, err);
		rg_chain_follow(lines, &chain);
		if (r == ROGER_OK)
			r = bring_log(store, file, &args, from + lines.length, chain, err);
	}
	rg_buf_clear(&store->cache);
	if (r == ROGER_OK)
		r = make_durable(store, err);
	rg_pg_leave(store);
	return r;
}

int rg_pg_bring_run(struct rg_store *base, const struct rg_run_text *text, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	struct rg_args args = { 0 };
	int r;

	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, RG_DOCUMENT_RUN);
	rg_arg_text(&args, text->file.data);
	rg_arg_bytes(&args, text->text);
	r = run(store,
		"INSERT INTO roger.document VALUES ($1::int, $2::smallint, $3::text, $4::bytea) ON "
		"CONFLICT (ws, kind, name) DO UPDATE SET text = $4::bytea",
		&args, NULL, err);
	if (r == ROGER_OK)
		r = make_durable(store, err);
	rg_pg_leave(store);
	return r;
}
