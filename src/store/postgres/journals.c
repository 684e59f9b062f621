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
	PGresult *result = NULL;
	int r, row;

	r = rg_pg_ask(store,
		      "SELECT name FROM roger.journal WHERE ws = $1 AND log = $2 ORDER BY name",
		      RG_ARGS(RG_INT(store->ws), RG_INT(log)), &result, err);
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
	PGresult *result = NULL;
	int r;

	r = rg_pg_ask(
		store,
		"SELECT journal, bytes FROM roger.journal WHERE ws = $1 AND log = $2 AND name "
		"= $3",
		RG_ARGS(RG_INT(store->ws), RG_INT(file->log), RG_TEXT(file->name.data)), &result,
		err);
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
	PGresult *result = NULL;
	int r;

	r = rg_pg_ask(store,
		      "SELECT start, text FROM roger.line WHERE journal = $1 AND start >= "
		      "coalesce((SELECT max(start) FROM roger.line WHERE journal = $1 AND start <= "
		      "$2), 0) AND start < $3 ORDER BY start",
		      RG_ARGS(RG_INT(journal), RG_INT(from),
			      RG_INT(from + (want > AHEAD_BYTES ? want : AHEAD_BYTES))),
		      &result, err);
	if (r == ROGER_OK) {
		store->cache_journal = journal;
		fill_cache(store, result, from);
	}
	PQclear(result);
	return r == ROGER_OK && store->cache.failed ? rg_fail_memory(err) : r;
}

/* The lines after those that were read last, with the row: not many. */
void rg_pg_put_tail(struct postgres_store *store)
{
	rg_link_put(
		&store->link, RG_ROLE_ASKED,
		"SELECT start, text FROM roger.line WHERE journal = $1 AND start >= $2 ORDER BY "
		"start LIMIT 200",
		RG_ARGS(RG_INT(store->row.messages),
			RG_INT(store->read_to ? store->read_to : INT64_MAX)));
}

int rg_pg_take_tail(struct postgres_store *store, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);

	if (r == ROGER_OK && PQntuples(result)) {
		store->cache_journal = store->row.messages;
		fill_cache(store, result, store->read_to);
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
		if (file->log == RG_LOG_MESSAGES && from + *ret_got > store->read_to)
			store->read_to = from + *ret_got;
	}
	if (r == ROGER_OK && want && !*ret_got)
		r = check_same(store, file, err);
	rg_pg_leave(store);
	return r;
}

/* --------------------------------------------------------------- appending -- */

struct rg_arg rg_pg_lines(struct roger_str text, bool chained, struct rg_buf *array)
{
	const char *at = text.data, *end;

	rg_array_open(array, RG_ARRAY_BYTES);
	for (; at < text.data + text.length; at = end) {
		end = (const char *)memchr(at, '\n', (size_t)(text.data + text.length - at)) + 1;
		rg_array_add(array, (struct roger_str){ at, (size_t)(end - at) - 2 * chained });
	}
	return rg_array_close(array);
}

/* Who has the lock of records keeps everybody else's entries away; of an archive it says nothing.
 */
static void put_add(struct postgres_store *store, enum rg_role role, const struct noted *noted,
		    bool again)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf lines;
	const bool chained = rg_kinds[noted->log].chained;

	rg_link_put(&store->link, role, "SELECT roger.add_1($1, $2, $3, $4, $5, $6, $7, $8)",
		    RG_ARGS(RG_INT(store->ws), RG_INT(noted->log), RG_TEXT(noted->name),
			    rg_pg_lines(rg_buf_str(&noted->entries), chained, &lines),
			    RG_TEXT(chained ? "t" : "f"), RG_INT(noted->token),
			    RG_TEXT(again ? "t" : "f"),
			    noted->log == RG_LOG_ACTIVITY
				    ? RG_INT(rg_pg_lock_number(store, RG_LOCK_RECORDS, RG_STR("")))
				    : RG_NULL));
	rg_link_sync(&store->link);
}

void rg_pg_add_noted(struct postgres_store *store)
{
	struct noted *noted = &store->noted;

	if (!noted->entries.length || noted->life == store->link.lives)
		return;
	store->link.missed = false;
	put_add(store, RG_ROLE_ASIDE, noted, noted->life != 0);
	noted->life = store->link.lives;
}

int rg_pg_settle_noted(struct postgres_store *store, struct roger_err *err)
{
	int tries = 0, r = ROGER_OK;
	bool missed = false;

	while (store->noted.entries.length && r == ROGER_OK && tries++ < 3) {
		r = rg_pg_ready(store, err);
		rg_link_drain(&store->link);
		missed = store->link.missed;
		store->link.missed = false;
		if (store->link.connection)
			rg_buf_clear(&store->noted.entries);
	}
	if (missed || store->noted.entries.length)
		snprintf(store->base.trouble, sizeof store->base.trouble,
			 "an entry is missing in the activity log");
	return r;
}

/* Not waited for, but the one before is. */
static int add_aside(struct postgres_store *store, struct noted *noted, struct roger_err *err)
{
	int r = rg_pg_settle_noted(store, err);

	if (r == ROGER_OK)
		r = rg_pg_check_locks(store, err);
	if (r == ROGER_OK)
		r = rg_pg_ready(store, err);
	if (r < 0)
		return r;
	rg_buf_deinit(&store->noted.entries);
	store->noted = *noted;
	noted->entries = (struct rg_buf){ 0 };
	rg_pg_add_noted(store);
	rg_link_flush(&store->link);
	return r;
}

static int add_now(struct postgres_store *store, const struct noted *noted, bool durable,
		   struct roger_err *err)
{
	int tries = 0, r;

	do {
		r = rg_pg_check_locks(store, err);
		if (r == ROGER_OK)
			r = rg_pg_ready(store, err);
		if (r < 0)
			return r;
		put_add(store, RG_ROLE_ASKED, noted, tries > 0);
		if (durable)
			rg_pg_put_barrier(store);
		r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);
		if (r == ROGER_OK && durable)
			r = rg_pg_take_barrier(store, err);
	} while (rg_pg_again(store, r, &tries));
	return r;
}

int rg_pg_add(struct rg_store *base, enum rg_log log, struct roger_str owner,
	      struct roger_str entries, bool durable, struct roger_err *err)
{
	struct noted noted = { .entries = { .maximum = SIZE_MAX }, .log = log };
	struct postgres_store *store;
	int r;

	if (!entries.length)
		return ROGER_OK;
	name_of(log, owner, noted.name);
	rg_buf_add_str(&noted.entries, entries);
	r = noted.entries.failed ? rg_fail_memory(err)
				 : rg_random(&noted.token, sizeof noted.token, err);
	store = rg_pg_enter(base);
	if (r == ROGER_OK && log == RG_LOG_ACTIVITY && !durable)
		r = add_aside(store, &noted, err);
	else if (r == ROGER_OK)
		r = add_now(store, &noted, durable, err);
	rg_buf_deinit(&noted.entries);
	rg_pg_leave(store);
	return r;
}

/* -------------------------------------------------------------- rewriting -- */

static int read_all(struct postgres_store *store, const struct rg_log_file *file,
		    struct rg_buf *text, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = ROGER_OK, row;

	while (r == ROGER_OK && text->length < file->size && !text->failed) {
		r = rg_pg_ask(
			store,
			"SELECT text FROM roger.line WHERE journal = $1 AND start >= $2 ORDER "
			"BY start LIMIT 1000",
			RG_ARGS(RG_INT(file->inode), RG_INT(text->length)), &result, err);
		for (row = 0; r == ROGER_OK && row < PQntuples(result); row++)
			rg_buf_add_str(text, rg_column_bytes(result, row, 0));
		if (r == ROGER_OK && !PQntuples(result))
			r = rg_fail(err, ROGER_EDATA, 0, "lines of the journal are missing");
		PQclear(result);
		result = NULL;
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

/* The kept lines under a new number, unless others have added some. */
static int replace_lines(struct postgres_store *store, const struct rg_log_file *file,
			 const struct rg_buf *kept, uint64_t chain, bool *ret_replaced,
			 struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf lines;
	PGresult *result = NULL;
	int r;

	r = rg_pg_ask(store, "SELECT roger.rewrite_1($1, $2, $3, $4, $5, $6, $7)",
		      RG_ARGS(RG_INT(store->ws), RG_INT(file->log), RG_TEXT(file->name.data),
			      RG_INT(file->inode), RG_INT(file->size),
			      rg_pg_lines(rg_buf_str(kept), false, &lines), RG_INT(chain)),
		      &result, err);
	*ret_replaced = r == ROGER_OK && rg_column_int(result, 0, 0);
	PQclear(result);
	return r;
}

static int rewrite_once(struct postgres_store *store, struct rg_log_file *file, rg_drop_line *drop,
			void *context, int64_t *ret_dropped, bool *ret_done, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf kept = { .maximum = SIZE_MAX };
	uint64_t chain = 0;
	int r;

	*ret_dropped = 0;
	r = rg_pg_check_locks(store, err);
	if (r == ROGER_OK)
		r = look_up(store, file, err);
	if (r == ROGER_OK)
		r = read_all(store, file, &text, err);
	if (r < 0)
		return r;
	keep_lines(rg_buf_str(&text), drop, context, ret_dropped, &chain, &kept);
	*ret_done = !*ret_dropped;
	if (kept.failed)
		return rg_fail_memory(err);
	return *ret_done ? r : replace_lines(store, file, &kept, chain, ret_done, err);
}

int rg_pg_rewrite(struct rg_store *base, enum rg_log log, struct roger_str owner,
		  rg_drop_line *drop, void *context, int64_t *ret_dropped, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	char name[RG_FILE_NAME_BYTES];
	struct rg_log_file file = { .log = log };
	bool done = false;
	int r, tries;

	name_of(log, owner, name);
	file.name = rg_str(name);
	for (tries = r = 0; tries < 10 && r == ROGER_OK && !done; tries++)
		r = rewrite_once(store, &file, drop, context, ret_dropped, &done, err);
	rg_pg_leave(store);
	return r == ROGER_OK && !done
		       ? rg_fail(err, ROGER_ETIMEOUT, 0, "others write to the journal; try again")
		       : r;
}

/* --------------------------------------------------------------- documents -- */

static const char *file_of(enum rg_document which, struct roger_str name,
			   char file[RG_FILE_NAME_BYTES])
{
	*file = '\0';
	if (which == RG_DOCUMENT_RUN)
		rg_workspace_file_name(name, ".json", file);
	return file;
}

int rg_pg_get(struct rg_store *base, enum rg_document which, struct roger_str name,
	      struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	char file[RG_FILE_NAME_BYTES];
	PGresult *result = NULL;
	int r;

	*ret_text = (struct roger_str){ NULL, 0 };
	r = rg_pg_ask(
		store, "SELECT text FROM roger.document WHERE ws = $1 AND kind = $2 AND name = $3",
		RG_ARGS(RG_INT(store->ws), RG_INT(which), RG_TEXT(file_of(which, name, file))),
		&result, err);
	if (r == ROGER_OK && PQntuples(result) &&
	    !rg_arena_copy(arena, rg_column_bytes(result, 0, 0), ret_text))
		r = rg_fail_memory(err);
	PQclear(result);
	rg_pg_leave(store);
	return r;
}

static int put_once(struct postgres_store *store, const struct rg_arg *args, bool durable,
		    bool *ret_put, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = rg_pg_check_locks(store, err);

	if (r == ROGER_OK)
		r = rg_pg_ready(store, err);
	if (r < 0)
		return r;
	rg_link_put(&store->link, RG_ROLE_ASKED, "SELECT roger.put_1($1, $2, $3, $4, $5, $6, $7)",
		    args);
	rg_link_sync(&store->link);
	if (durable)
		rg_pg_put_barrier(store);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	*ret_put = r == ROGER_OK && rg_column_int(result, 0, 0);
	PQclear(result);
	return r == ROGER_OK && durable ? rg_pg_take_barrier(store, err) : r;
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
		r = put_once(store,
			     RG_ARGS(RG_INT(store->ws), RG_INT(which),
				     RG_TEXT(file_of(which, name, file)),
				     RG_TEXT(before ? "t" : "f"),
				     before ? RG_BYTES(*before) : RG_NULL, RG_BYTES(after),
				     RG_TEXT(tries ? "t" : "f")),
			     durable, &there, err);
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
	struct rg_run_text *run;
	PGresult *result = NULL;
	int r, row;

	r = rg_pg_ask(store, "SELECT name, text FROM roger.document WHERE ws = $1 AND kind = $2",
		      RG_ARGS(RG_INT(store->ws), RG_INT(RG_DOCUMENT_RUN)), &result, err);
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
