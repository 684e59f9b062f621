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

/* Without another try: what a move wrote before on this connection may be lost with it. */
static int run(struct postgres_store *store, const char *sql, const struct rg_arg *args,
	       struct roger_err *err)
{
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_link_put(&store->link, RG_ROLE_ASKED, sql, args);
	rg_link_sync(&store->link);
	rg_pg_put_barrier(store);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);
	return r == ROGER_OK ? rg_pg_take_barrier(store, err) : r;
}

int rg_pg_stand(struct rg_store *base, enum rg_standing standing, struct roger_str place,
		struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r = rg_pg_settle_noted(store, err);

	if (r == ROGER_OK)
		r = run(store,
			"UPDATE roger.workspace SET state = $2, place = convert_from($3, 'UTF8') "
			"WHERE ws = $1",
			RG_ARGS(RG_INT(store->ws), RG_TEXT(standings[standing]), RG_BYTES(place)),
			err);
	if (r == ROGER_OK)
		r = rg_pg_look(store, false, err);
	rg_pg_leave(store);
	return r;
}

/* The lines as an array; *ret_last: where the last one starts. */
static struct rg_arg array_of(struct roger_str lines, struct rg_buf *array, uint64_t *ret_last)
{
	const char *at = lines.data, *end;

	*ret_last = 0;
	rg_array_open(array, RG_ARRAY_BYTES);
	for (; at < lines.data + lines.length; at = end) {
		end = (const char *)memchr(at, '\n', (size_t)(lines.data + lines.length - at)) + 1;
		rg_array_add(array, (struct roger_str){ at, (size_t)(end - at) });
		*ret_last = (uint64_t)(at - lines.data);
	}
	return rg_array_close(array);
}

static int bring_messages(struct postgres_store *store, uint64_t from, struct roger_str lines,
			  struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf array = { 0 };
	uint64_t last;
	struct rg_arg texts = array_of(lines, &array, &last);
	int r;

	r = run(store, "SELECT roger.bring_1($1, NULL, $2, $3, $4, $5)",
		RG_ARGS(RG_INT(store->ws), RG_NULL, RG_INT(from), texts, RG_INT(from + last)), err);
	if (r == ROGER_OK)
		store->row.bytes = from + lines.length;
	return r;
}

static int find_chain(struct postgres_store *store, const struct rg_log_file *file,
		      uint64_t *ret_chain, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = rg_pg_ask(
		store, "SELECT chain FROM roger.journal WHERE ws = $1 AND log = $2 AND name = $3",
		RG_ARGS(RG_INT(store->ws), RG_INT(file->log), RG_TEXT(file->name.data)), &result,
		err);

	*ret_chain = r == ROGER_OK && PQntuples(result) ? (uint64_t)rg_column_int(result, 0, 0) : 0;
	PQclear(result);
	return r;
}

static int bring_log(struct postgres_store *store, const struct rg_log_file *file, uint64_t from,
		     struct roger_str lines, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf array = { 0 };
	uint64_t last, chain = 0;
	struct rg_arg texts = array_of(lines, &array, &last);
	int r = from ? find_chain(store, file, &chain, err) : ROGER_OK;

	rg_chain_follow(lines, &chain);
	if (r < 0)
		return r;
	return run(store, "SELECT roger.bring_1($1, $2, $3, $4, $5, $6)",
		   RG_ARGS(RG_INT(store->ws), RG_INT(file->log), RG_TEXT(file->name.data),
			   RG_INT(from), texts, RG_INT(chain)),
		   err);
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
	rg_pg_leave(store);
	return r;
}

int rg_pg_bring_run(struct rg_store *base, const struct rg_run_text *text, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r;

	r = run(store,
		"INSERT INTO roger.document VALUES ($1, $2, $3, $4) ON CONFLICT (ws, kind, name) "
		"DO UPDATE SET text = excluded.text",
		RG_ARGS(RG_INT(store->ws), RG_INT(RG_DOCUMENT_RUN), RG_TEXT(text->file.data),
			RG_BYTES(text->text)),
		err);
	rg_pg_leave(store);
	return r;
}
