/*
 * Journals and documents.  A journal is rows of roger.line, found by its number; its row in
 * roger.journal (of messages: in roger.workspace) says where it ends, and is the lock of an append.
 */
#include "store/postgres/inside.h"

#include <stdio.h>

#include "base/id.h"
#include "host/workspace.h"

/* How much is read at once: a round trip costs more than these bytes. */
enum { AHEAD_BYTES = 64 << 10 };

static void name_of(enum rg_log log, struct roger_str owner, char to[RG_FILE_NAME_BYTES])
{
	if (rg_kinds[log].file)
		snprintf(to, RG_FILE_NAME_BYTES, "%s", rg_kinds[log].file);
	else
		rg_workspace_file_name(owner, ".jsonl", to);
}

/* Which journal: the first arguments of most statements here. */
static void arg_journal(struct postgres_store *store, enum rg_log log, const char *name,
			struct rg_args *args)
{
	rg_arg_int(args, store->ws);
	rg_arg_int(args, log);
	rg_arg_text(args, name);
}

/* One statement by itself. */
static int ask(struct postgres_store *store, const char *sql, const struct rg_args *args,
	       PGresult **ret_result, struct roger_err *err)
{
	int tries = 0, r;

	do {
		r = rg_pg_ready(store, err);
		if (r < 0)
			return r;
		rg_link_put(&store->link, RG_ROLE_OTHER, sql, args);
		rg_link_sync(&store->link);
		r = rg_link_expect(&store->link, RG_ANSWER_MS, ret_result, err);
	} while (rg_pg_again(store, r, &tries));
	return r;
}

/* ---------------------------------------------------------------- listing -- */

static int add_file(const struct postgres_store *store, enum rg_log log, struct roger_str name,
		    struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	struct rg_log_file *file = rg_arena_push(arena, &files->items, &files->count, sizeof *file);
	const struct roger_str shown =
		log == RG_LOG_MESSAGES ? store->workspace->config->jsonl_file : name;

	if (!file)
		return rg_fail_memory(err);
	*file = (struct rg_log_file){ .log = log };
	return rg_arena_print(arena, &file->shown, "%s%.*s", rg_kinds[log].folder,
			      RG_STR_ARGS(shown)) &&
			       rg_arena_copy(arena, name, &file->name)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

static int add_all(struct postgres_store *store, enum rg_log log, struct rg_arena *arena,
		   struct rg_log_files *files, struct roger_err *err)
{
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r, row;

	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, log);
	r = ask(store,
		"SELECT name FROM roger.journal WHERE ws = $1::int AND log = $2::smallint "
		"ORDER BY name",
		&args, &result, err);
	for (row = 0; r == ROGER_OK && row < PQntuples(result); row++)
		r = add_file(store, log, rg_column_bytes(result, row, 0), arena, files, err);
	PQclear(result);
	return r;
}

int rg_pg_list(struct rg_store *base, enum rg_log log, struct roger_str owner,
	       struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	char name[RG_FILE_NAME_BYTES];
	int r;

	name_of(log, owner, name);
	if (rg_kinds[log].file || owner.length)
		r = add_file(store, log, rg_str(name), arena, files, err);
	else
		r = add_all(store, log, arena, files, err);
	rg_pg_leave(store);
	return r;
}

/* ---------------------------------------------------------------- reading -- */

static int look_up(struct postgres_store *store, struct rg_log_file *file, struct roger_err *err)
{
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r;

	arg_journal(store, file->log, file->name.data, &args);
	r = ask(store,
		"SELECT journal, bytes FROM roger.journal WHERE ws = $1::int AND log = "
		"$2::smallint AND name = $3::text",
		&args, &result, err);
	file->inode = file->size = 0;
	if (r == ROGER_OK && PQntuples(result)) {
		file->inode = (uint64_t)rg_column_int(result, 0, 0);
		file->size = (uint64_t)rg_column_int(result, 0, 1);
	}
	PQclear(result);
	return r;
}

int rg_pg_stat(struct rg_store *base, struct rg_log_file *file, bool *ret_there,
	       struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r = ROGER_OK;

	if (file->log == RG_LOG_MESSAGES) {
		file->inode = (uint64_t)store->row.messages;
		file->size = store->row.bytes;
	} else {
		r = look_up(store, file, err);
	}
	*ret_there = file->inode != 0;
	rg_pg_leave(store);
	return r;
}

/* Bytes of a line that is not there any more become zeros, a line that nobody can read. */
static void fill_cache(struct postgres_store *store, const PGresult *result, uint64_t from)
{
	struct rg_buf *cache = &store->cache;
	uint64_t start;
	int row;

	rg_buf_clear(cache);
	store->cache_from = from;
	for (row = 0; row < PQntuples(result); row++) {
		start = (uint64_t)rg_column_int(result, row, 0);
		if (row == 0 && start <= from)
			store->cache_from = start;
		while (store->cache_from + cache->length < start && !cache->failed)
			rg_buf_add_char(cache,
					store->cache_from + cache->length + 1 < start ? 0 : '\n');
		rg_buf_add_str(cache, rg_column_bytes(result, row, 1));
	}
}

static bool is_cached(const struct postgres_store *store, int64_t journal, uint64_t from,
		      size_t want)
{
	return store->cache_journal == journal && from >= store->cache_from &&
	       from + want <= store->cache_from + store->cache.length;
}

static int read_ahead(struct postgres_store *store, int64_t journal, uint64_t from, size_t want,
		      struct roger_err *err)
{
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r;

	rg_arg_int(&args, journal);
	rg_arg_int(&args, (int64_t)from);
	rg_arg_int(&args, (int64_t)(from + (want > AHEAD_BYTES ? want : AHEAD_BYTES)));
	r = ask(store,
		"SELECT start, text FROM roger.line WHERE journal = $1::bigint AND start >= "
		"coalesce((SELECT max(start) FROM roger.line WHERE journal = $1::bigint AND start "
		"<= $2::bigint), 0) AND start < $3::bigint ORDER BY start",
		&args, &result, err);
	if (r == ROGER_OK) {
		store->cache_journal = journal;
		fill_cache(store, result, from);
	}
	PQclear(result);
	return r == ROGER_OK && store->cache.failed ? rg_fail_memory(err) : r;
}

static int fail_replaced(const struct rg_log_file *file, struct roger_err *err)
{
	return rg_fail(err, ROGER_EIO, 0, "'%.*s' was replaced while it was read",
		       RG_STR_ARGS(file->shown));
}

/* The number of the journal to read. */
static int find_number(struct postgres_store *store, const struct rg_log_file *file,
		       int64_t *ret_number, struct roger_err *err)
{
	struct rg_log_file now = *file;
	int r = ROGER_OK;

	*ret_number = file->log == RG_LOG_MESSAGES ? store->row.messages : (int64_t)file->inode;
	if (*ret_number)
		return r;
	r = look_up(store, &now, err);
	*ret_number = (int64_t)now.inode;
	return r == ROGER_OK && !now.inode ? fail_replaced(file, err) : r;
}

/* Nothing was read: is this still the journal that stat() found? */
static int check_same(struct postgres_store *store, const struct rg_log_file *file,
		      struct roger_err *err)
{
	struct rg_log_file now = *file;
	int r = ROGER_OK;

	if (file->log != RG_LOG_MESSAGES && file->inode)
		r = look_up(store, &now, err);
	return r == ROGER_OK && now.inode != file->inode ? fail_replaced(file, err) : r;
}

int rg_pg_read(struct rg_store *base, const struct rg_log_file *file, uint64_t from, char *room,
	       size_t want, size_t *ret_got, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	uint64_t end;
	int64_t number;
	int r;

	*ret_got = 0;
	r = find_number(store, file, &number, err);
	if (r == ROGER_OK && !is_cached(store, number, from, want))
		r = read_ahead(store, number, from, want, err);
	end = store->cache_from + store->cache.length;
	if (r == ROGER_OK && from >= store->cache_from && from < end) {
		*ret_got = end - from < want ? (size_t)(end - from) : want;
		memcpy(room, store->cache.data + (from - store->cache_from), *ret_got);
	}
	if (r == ROGER_OK && want && !*ret_got)
		r = check_same(store, file, err);
	rg_pg_leave(store);
	return r;
}

/* --------------------------------------------------------------- appending -- */

/* The end of a journal, locked until the transaction ends. */
struct end {
	int64_t journal;
	uint64_t bytes, chain;
};

static int lock_end(struct postgres_store *store, const struct rg_args *args, struct end *ret_end,
		    struct roger_err *err)
{
	struct rg_link *link = &store->link;
	PGresult *result = NULL;
	int r;

	rg_link_put(link, RG_ROLE_OTHER, "BEGIN", NULL);
	rg_link_put(link, RG_ROLE_OTHER,
		    "INSERT INTO roger.journal(ws, log, name) VALUES ($1::int, $2::smallint, "
		    "$3::text) ON CONFLICT DO NOTHING",
		    args);
	rg_link_put(link, RG_ROLE_OTHER,
		    "SELECT journal, bytes, chain, set_config('synchronous_commit', 'off', true) "
		    "FROM roger.journal WHERE ws = $1::int AND log = $2::smallint AND name = "
		    "$3::text FOR UPDATE",
		    args);
	rg_link_sync(link);
	r = rg_link_expect(link, RG_ANSWER_MS, NULL, err);
	if (r == ROGER_OK)
		r = rg_link_expect(link, RG_ANSWER_MS, NULL, err);
	if (r == ROGER_OK)
		r = rg_link_expect(link, RG_ANSWER_MS, &result, err);
	if (r == ROGER_OK)
		*ret_end = (struct end){ rg_column_int(result, 0, 0),
					 (uint64_t)rg_column_int(result, 0, 1),
					 (uint64_t)rg_column_int(result, 0, 2) };
	PQclear(result);
	return r;
}

/* Queue the lines of text as rows that start at byte `from`. */
static void put_lines(struct postgres_store *store, int64_t journal, uint64_t from,
		      struct roger_str text, int64_t token)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf starts, lengths;
	struct rg_args args = { 0 };
	const char *at = text.data, *end;

	rg_pg_list_open(&starts);
	rg_pg_list_open(&lengths);
	for (; at < text.data + text.length; at = end) {
		end = (const char *)memchr(at, '\n', (size_t)(text.data + text.length - at)) + 1;
		rg_pg_list_add(&starts, at - text.data);
		rg_pg_list_add(&lengths, end - at);
	}
	rg_arg_int(&args, journal);
	rg_arg_int(&args, (int64_t)from);
	rg_arg_bytes(&args, text);
	rg_arg_int(&args, token);
	rg_pg_list_close(&starts, &args);
	rg_pg_list_close(&lengths, &args);
	rg_link_put(&store->link, RG_ROLE_WRITE,
		    "INSERT INTO roger.line SELECT $1::bigint, $2::bigint + o, substring($3::bytea "
		    "FROM (o + 1)::int FOR l), $4::bigint FROM unnest($5::bigint[], $6::int[]) AS "
		    "p(o, l)",
		    &args);
}

static void put_end(struct postgres_store *store, enum rg_log log, const char *name,
		    const struct end *end)
{
	struct rg_args args = { 0 };

	arg_journal(store, log, name, &args);
	rg_arg_int(&args, end->journal);
	rg_arg_int(&args, (int64_t)end->bytes);
	rg_arg_int(&args, (int64_t)end->chain);
	rg_link_put(&store->link, RG_ROLE_WRITE,
		    "UPDATE roger.journal SET journal = $4::bigint, bytes = $5::bigint, chain = "
		    "$6::bigint WHERE ws = $1::int AND log = $2::smallint AND name = $3::text",
		    &args);
}

/* COMMIT what `statements` queued, and make it durable.  *ret_sent: its outcome may be open. */
static int commit(struct postgres_store *store, int statements, bool durable, struct roger_err *err)
{
	struct rg_link *link = &store->link;
	int r = ROGER_OK;

	rg_link_put(link, RG_ROLE_WRITE, "COMMIT", NULL);
	rg_link_sync(link);
	if (durable)
		rg_pg_put_barrier(store);
	for (; r == ROGER_OK && statements >= 0; statements--)
		r = rg_link_expect(link, RG_ANSWER_MS, NULL, err);
	if (r == ROGER_OK && durable)
		r = rg_pg_take_barrier(store, err);
	return r;
}

/* After a failure nothing of the transaction is left, or of its locks. */
static int end_failed(struct postgres_store *store, int r)
{
	if (r < 0)
		rg_link_close(&store->link);
	return r;
}

/* Is there a line with this token at byte start?  Needs the lock of the journal's end. */
static int was_added(struct postgres_store *store, int64_t journal, uint64_t start, int64_t token,
		     bool *ret_added, struct roger_err *err)
{
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r;

	rg_arg_int(&args, journal);
	rg_arg_int(&args, (int64_t)start);
	rg_arg_int(&args, token);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT 1 FROM roger.line WHERE journal = $1::bigint AND start = $2::bigint "
		    "AND token = $3::bigint",
		    &args);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	*ret_added = r == ROGER_OK && PQntuples(result) > 0;
	PQclear(result);
	return r;
}

struct adding {
	enum rg_log log;
	const char *name;
	struct roger_str entries;
	bool durable, sent; /* sent: tried before, to add at byte `from` */
	int64_t token;
	uint64_t from;
};

static int add_once(struct postgres_store *store, struct adding *adding, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_args args = { 0 };
	struct end end;
	bool added = false;
	int r;

	arg_journal(store, adding->log, adding->name, &args);
	r = rg_pg_ready(store, err);
	if (r == ROGER_OK)
		r = lock_end(store, &args, &end, err);
	if (r == ROGER_OK && adding->sent)
		r = was_added(store, end.journal, adding->from, adding->token, &added, err);
	if (r < 0)
		return end_failed(store, r);
	if (added)
		return end_failed(store, commit(store, 0, adding->durable, err));
	if (rg_kinds[adding->log].chained)
		rg_chain_add_entries(adding->entries, &end.chain, &text);
	else
		rg_buf_add_str(&text, adding->entries);
	if (text.failed)
		return end_failed(store, rg_fail_memory(err));
	adding->sent = true;
	adding->from = end.bytes;
	end.bytes += text.length;
	put_lines(store, end.journal, adding->from, rg_buf_str(&text), adding->token);
	put_end(store, adding->log, adding->name, &end);
	return end_failed(store, commit(store, 2, adding->durable, err));
}

int rg_pg_add(struct rg_store *base, enum rg_log log, struct roger_str owner,
	      struct roger_str entries, bool durable, struct roger_err *err)
{
	struct adding adding = { .log = log, .entries = entries, .durable = durable };
	struct postgres_store *store;
	char name[RG_FILE_NAME_BYTES];
	int r, tries = 0;

	if (!entries.length)
		return ROGER_OK;
	name_of(log, owner, name);
	adding.name = name;
	store = rg_pg_enter(base);
	r = rg_random(&adding.token, sizeof adding.token, err);
	do {
		if (r == ROGER_OK || tries)
			r = rg_pg_check_locks(store, err);
		if (r == ROGER_OK)
			r = add_once(store, &adding, err);
	} while (rg_pg_again(store, r, &tries));
	rg_pg_leave(store);
	return r;
}

/* -------------------------------------------------------------- rewriting -- */

static int read_all(struct postgres_store *store, const struct end *end, struct rg_buf *text,
		    struct roger_err *err)
{
	int r = ROGER_OK;

	while (r == ROGER_OK && text->length < end->bytes && !text->failed) {
		struct rg_args args = { 0 };
		PGresult *result = NULL;
		int row;

		rg_arg_int(&args, end->journal);
		rg_arg_int(&args, (int64_t)text->length);
		rg_link_put(&store->link, RG_ROLE_OTHER,
			    "SELECT text FROM roger.line WHERE journal = $1::bigint AND start >= "
			    "$2::bigint ORDER BY start LIMIT 1000",
			    &args);
		rg_link_sync(&store->link);
		r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
		for (row = 0; r == ROGER_OK && row < PQntuples(result); row++)
			rg_buf_add_str(text, rg_column_bytes(result, row, 0));
		if (r == ROGER_OK && !PQntuples(result))
			r = rg_fail(err, ROGER_EDATA, 0, "lines of the journal are missing");
		PQclear(result);
	}
	return r == ROGER_OK && text->failed ? rg_fail_memory(err) : r;
}

static void keep_lines(struct roger_str rest, rg_drop_line *drop, void *context,
		       int64_t *ret_dropped, uint64_t *chain, struct rg_buf *kept)
{
	struct roger_str line;

	for (; rest.length; rest.data += line.length + 1, rest.length -= line.length + 1) {
		const char *newline = memchr(rest.data, '\n', rest.length);

		line = (struct roger_str){ rest.data, (size_t)(newline - rest.data) };
		if (drop(context, line))
			++*ret_dropped;
		else
			rg_chain_keep_line(line, chain, kept);
	}
}

/* The kept lines under a new number, so that whoever reads the old journal notices. */
static int replace_lines(struct postgres_store *store, enum rg_log log, const char *name,
			 const struct end *old, const struct rg_buf *kept, uint64_t chain,
			 struct roger_err *err)
{
	struct end end = { .bytes = kept->length, .chain = chain };
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r;

	rg_arg_int(&args, old->journal);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT nextval('roger.journal_number'), set_config('roger.rewrite', 'on', "
		    "true)",
		    NULL);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "DELETE FROM roger.line WHERE journal = $1::bigint", &args);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	if (r == ROGER_OK)
		end.journal = rg_column_int(result, 0, 0);
	PQclear(result);
	if (r == ROGER_OK)
		r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);
	if (r < 0)
		return r;
	put_lines(store, end.journal, 0, rg_buf_str(kept), 0);
	put_end(store, log, name, &end);
	return commit(store, 2, true, err);
}

int rg_pg_rewrite(struct rg_store *base, enum rg_log log, struct roger_str owner,
		  rg_drop_line *drop, void *context, int64_t *ret_dropped, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf kept = { .maximum = SIZE_MAX };
	struct postgres_store *store = rg_pg_enter(base);
	char name[RG_FILE_NAME_BYTES];
	struct rg_args args = { 0 };
	struct end end = { 0 };
	uint64_t chain = 0;
	int r;

	*ret_dropped = 0;
	name_of(log, owner, name);
	arg_journal(store, log, name, &args);
	r = rg_pg_check_locks(store, err);
	if (r == ROGER_OK)
		r = rg_pg_ready(store, err);
	if (r == ROGER_OK)
		r = lock_end(store, &args, &end, err);
	if (r == ROGER_OK)
		r = read_all(store, &end, &text, err);
	if (r == ROGER_OK)
		keep_lines(rg_buf_str(&text), drop, context, ret_dropped, &chain, &kept);
	if (r == ROGER_OK && kept.failed)
		r = rg_fail_memory(err);
	if (r == ROGER_OK && *ret_dropped)
		r = replace_lines(store, log, name, &end, &kept, chain, err);
	else if (r == ROGER_OK)
		r = commit(store, 0, false, err);
	end_failed(store, r);
	rg_pg_leave(store);
	return r;
}

/* --------------------------------------------------------------- documents -- */

static void arg_document(struct postgres_store *store, enum rg_document which,
			 struct roger_str name, char file[RG_FILE_NAME_BYTES], struct rg_args *args)
{
	*file = '\0';
	if (which == RG_DOCUMENT_RUN)
		rg_workspace_file_name(name, ".json", file);
	arg_journal(store, (enum rg_log)which, file, args);
}

int rg_pg_get(struct rg_store *base, enum rg_document which, struct roger_str name,
	      struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	char file[RG_FILE_NAME_BYTES];
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r;

	*ret_text = (struct roger_str){ NULL, 0 };
	arg_document(store, which, name, file, &args);
	r = ask(store,
		"SELECT text FROM roger.document WHERE ws = $1::int AND kind = $2::smallint AND "
		"name = $3::text",
		&args, &result, err);
	if (r == ROGER_OK && PQntuples(result) &&
	    !rg_arena_copy(arena, rg_column_bytes(result, 0, 0), ret_text))
		r = rg_fail_memory(err);
	PQclear(result);
	rg_pg_leave(store);
	return r;
}

/* What was put by a lost call is there already: that counts as put, too. */
static const char *put_sql(const struct roger_str *before)
{
	if (!before)
		return "INSERT INTO roger.document VALUES ($1::int, $2::smallint, $3::text, "
		       "$4::bytea) ON CONFLICT (ws, kind, name) DO UPDATE SET text = $4::bytea";
	if (!before->data)
		return "INSERT INTO roger.document AS d VALUES ($1::int, $2::smallint, $3::text, "
		       "$4::bytea) ON CONFLICT (ws, kind, name) DO UPDATE SET text = $4::bytea "
		       "WHERE d.text = $4::bytea AND $5::int > 0";
	return "UPDATE roger.document SET text = $4::bytea WHERE ws = $1::int AND kind = "
	       "$2::smallint AND name = $3::text AND (text = $6::bytea OR (text = $4::bytea AND "
	       "$5::int > 0))";
}

static int put_once(struct postgres_store *store, const struct rg_args *args, const char *sql,
		    bool durable, bool *ret_put, struct roger_err *err)
{
	struct rg_link *link = &store->link;
	PGresult *result = NULL;
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_link_put(link, RG_ROLE_OTHER, "SELECT set_config('synchronous_commit', 'off', true)",
		    NULL);
	rg_link_put(link, RG_ROLE_WRITE, sql, args);
	rg_link_sync(link);
	if (durable)
		rg_pg_put_barrier(store);
	r = rg_link_expect(link, RG_ANSWER_MS, NULL, err);
	if (r == ROGER_OK)
		r = rg_link_expect(link, RG_ANSWER_MS, &result, err);
	*ret_put = r == ROGER_OK && strcmp(PQcmdTuples(result), "0") != 0;
	PQclear(result);
	if (r == ROGER_OK && durable)
		r = rg_pg_take_barrier(store, err);
	return r;
}

int rg_pg_put(struct rg_store *base, enum rg_document which, struct roger_str name,
	      const struct roger_str *before, struct roger_str after, bool durable,
	      struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	char file[RG_FILE_NAME_BYTES];
	bool there = false;
	int r, tries = 0;

	do {
		struct rg_args args = { 0 };

		arg_document(store, which, name, file, &args);
		rg_arg_bytes(&args, after);
		if (before)
			rg_arg_int(&args, tries);
		if (before && before->data)
			rg_arg_bytes(&args, *before);
		r = rg_pg_check_locks(store, err);
		if (r == ROGER_OK)
			r = end_failed(store, put_once(store, &args, put_sql(before), durable,
						       &there, err));
	} while (rg_pg_again(store, r, &tries));
	if (r == ROGER_OK && which == RG_DOCUMENT_STATE)
		store->row.state_bytes = after.length;
	rg_pg_leave(store);
	if (r < 0 || there)
		return r;
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "the document of run '%.*s' was changed by somebody else; try again",
		       RG_STR_ARGS(name));
}

int rg_pg_runs(struct rg_store *base, struct rg_arena *arena, struct rg_run_texts *ret_runs,
	       struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	struct {
		struct rg_run_text *items;
		size_t count;
	} found = { 0 };
	struct rg_args args = { 0 };
	struct rg_run_text *run;
	PGresult *result = NULL;
	int r, row;

	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, RG_DOCUMENT_RUN);
	r = ask(store,
		"SELECT name, text FROM roger.document WHERE ws = $1::int AND kind = $2::smallint",
		&args, &result, err);
	for (row = 0; r == ROGER_OK && row < PQntuples(result); row++) {
		run = rg_arena_push(arena, &found.items, &found.count, sizeof *run);
		if (!run || !rg_arena_copy(arena, rg_column_bytes(result, row, 0), &run->file) ||
		    !rg_arena_copy(arena, rg_column_bytes(result, row, 1), &run->text))
			r = rg_fail_memory(err);
	}
	PQclear(result);
	*ret_runs = (struct rg_run_texts){ found.items, found.count };
	rg_pg_leave(store);
	return r;
}
