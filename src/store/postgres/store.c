/*
 * The PostgreSQL store.
 *
 * An append is a transaction that locks the workspace's row.  It commits without
 * waiting for the disk, which gives the lock to the next one at once; behind it,
 * in the same flush of the network, goes a barrier: a tiny transaction that waits
 * for the disk and the standby.  Only the barrier is the acknowledgement.  What
 * was read may not be durable yet either, so settle() ends with a barrier unless
 * the server says that everything is on disk.
 *
 * When the connection is lost behind COMMIT, the next one asks, with the lock, for
 * the token of its line: there, it was committed; not there, it never will be.
 */
#include "store/postgres/inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "host/config.h"
#include "host/process.h"
#include "host/workspace.h"

enum { LOOK_EACH_MS = 1000, REGISTER_EACH_S = 60 };

static char *configured_address(const struct rg_workspace *workspace)
{
	return strdup(workspace->config->store.data);
}

char *(*rg_postgres_address)(const struct rg_workspace *workspace) = configured_address;

struct postgres_store *rg_pg_enter(struct rg_store *base)
{
	struct postgres_store *store = of(base);

	pthread_mutex_lock(&store->mutex);
	return store;
}

void rg_pg_leave(struct postgres_store *store)
{
	pthread_mutex_unlock(&store->mutex);
}

/* ----------------------------------------------------------- outstanding -- */

/* A transaction failed for certain.  Without its connection nothing of it is left. */
static void note_refused(struct postgres_store *store)
{
	store->refused |= store->open;
	store->open = false;
	rg_link_close(&store->link);
}

/* Read all results that nobody has waited for. */
static void drain(struct postgres_store *store)
{
	enum rg_role role;
	PGresult *result;

	while (store->link.connection && store->link.queued) {
		result = rg_link_take(&store->link, &role, RG_ANSWER_MS);
		if (result && role == RG_ROLE_WRITE && rg_link_failed(result))
			note_refused(store);
		PQclear(result);
	}
}

int rg_pg_ready(struct postgres_store *store, struct roger_err *err)
{
	drain(store);
	if (store->appending && !store->link.connection)
		return rg_link_fail(NULL, err);
	return rg_link_open(&store->link, err);
}

bool rg_pg_again(const struct postgres_store *store, int r, int *tries)
{
	return r == ROGER_ETIMEOUT && !store->link.connection && !store->appending && ++*tries < 3;
}

void rg_pg_put_barrier(struct postgres_store *store)
{
	store->link.warned = false;
	rg_link_put(&store->link, RG_ROLE_BARRIER,
		    "SELECT pg_logical_emit_message(true, 'roger', '')", NULL);
	rg_link_sync(&store->link);
}

/* A warning: the wait for the standby was cancelled, and success means nothing. */
int rg_pg_take_barrier(struct postgres_store *store, struct roger_err *err)
{
	int r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);

	if (r == ROGER_OK && store->link.warned) {
		rg_link_close(&store->link);
		r = rg_fail(err, ROGER_EIO, 0,
			    "PostgreSQL did not wait for its standby: it may not have the lines");
	}
	return r;
}

/* --------------------------------------------------------------- the row -- */

static const char *const word_names[WORDS] = { "state_wanted", "seen_wanted", "state_written",
					       "seen_written", "logged",      "listed",
					       "carried",      "prepared",    "broken",
					       "damages",      "damaged" };

/* The first two are added up, the next four grow, the others are set. */
enum { SUMS = 2, GROWING = 6 };

static void read_words(const struct rg_shared *shared, int64_t words[WORDS])
{
	const int64_t now[WORDS] = { (int64_t)shared->state_wanted,
				     (int64_t)shared->seen_wanted,
				     (int64_t)shared->state_written,
				     (int64_t)shared->seen_written,
				     (int64_t)shared->logged,
				     (int64_t)shared->listed,
				     (int64_t)shared->carried,
				     shared->prepared,
				     shared->broken,
				     shared->damages,
				     shared->damaged };

	memcpy(words, now, sizeof now);
}

static void write_words(const int64_t words[WORDS], struct rg_shared *shared)
{
	shared->state_wanted = (uint64_t)words[0];
	shared->seen_wanted = (uint64_t)words[1];
	shared->state_written = (uint64_t)words[2];
	shared->seen_written = (uint64_t)words[3];
	shared->logged = (uint64_t)words[4];
	shared->listed = (uint64_t)words[5];
	shared->carried = (uint64_t)words[6];
	shared->prepared = (uint32_t)words[7];
	shared->broken = (uint32_t)words[8];
	shared->damages = (uint32_t)words[9];
	shared->damaged = (uint32_t)words[10];
}

static void print_word(int i, int64_t before, int64_t now, struct rg_buf *sql)
{
	const char *name = word_names[i];

	rg_buf_add_text(sql, sql->length ? ", " : "UPDATE roger.workspace SET ");
	if (i < SUMS)
		rg_buf_printf(sql, "%s = %s + %lld", name, name, (long long)(now - before));
	else if (i < GROWING && now > before)
		rg_buf_printf(sql, "%s = greatest(%s, %lld)", name, name, (long long)now);
	else
		rg_buf_printf(sql, "%s = %lld", name, (long long)now);
}

/* Queue what this handle changed of the shared words. */
static void push_words(struct postgres_store *store)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf sql = { .maximum = 4096 };
	int64_t now[WORDS];
	int i;

	read_words(&store->shared, now);
	for (i = 0; i < WORDS; i++)
		if (now[i] != store->row.words[i])
			print_word(i, store->row.words[i], now[i], &sql);
	if (!sql.length)
		return;
	rg_buf_printf(&sql, " WHERE ws = %lld", (long long)store->ws);
	rg_buf_add_char(&sql, '\0');
	memcpy(store->row.words, now, sizeof now);
	rg_link_put(&store->link, RG_ROLE_OTHER, sql.data, NULL);
}

static const char row_sql[] =
	"SELECT w.state, w.place, l.text, current_setting('synchronous_standby_names') = '' AND "
	"pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn(), w.messages, w.bytes, w.chain, "
	"w.last_start, w.last_chain, w.epoch, w.witness_bytes, w.witness_chain, (SELECT "
	"length(text) FROM roger.document d WHERE d.ws = w.ws AND kind = 0 AND name = ''), "
	"w.state_wanted, w.seen_wanted, w.state_written, w.seen_written, w.logged, w.listed, "
	"w.carried, w.prepared, w.broken, w.damages, w.damaged FROM roger.workspace w LEFT JOIN "
	"roger.line l ON l.journal = w.messages AND l.start = w.last_start WHERE w.ws = $1::int";
enum { ROW_STATE, ROW_PLACE, ROW_LAST, ROW_ON_DISK, ROW_NUMBERS, ROW_WORDS = 13 };

/* Two queries at most: the first has no result that matters. */
static void ask_row_only(struct postgres_store *store)
{
	struct rg_args args = { 0 };

	rg_arg_int(&args, store->ws);
	rg_link_put(&store->link, RG_ROLE_BARRIER, row_sql, &args);
}

void rg_pg_ask_row(struct postgres_store *store)
{
	push_words(store);
	ask_row_only(store);
}

static void read_row(const PGresult *result, struct row *row)
{
	int64_t numbers[ROW_WORDS - ROW_NUMBERS];
	int i;

	for (i = 0; i < ROW_WORDS - ROW_NUMBERS; i++)
		numbers[i] = rg_column_int(result, 0, ROW_NUMBERS + i);
	*row = (struct row){ .messages = numbers[0],
			     .bytes = (uint64_t)numbers[1],
			     .chain = (uint64_t)numbers[2],
			     .last = (uint64_t)numbers[3],
			     .before_last = (uint64_t)numbers[4],
			     .epoch = numbers[5],
			     .witness = { .count = (uint64_t)numbers[6],
					  .chain = (uint64_t)numbers[7],
					  .chained = numbers[6] != 0 },
			     .state_bytes = (uint64_t)numbers[8] };
	for (i = 0; i < WORDS; i++)
		row->words[i] = rg_column_int(result, 0, ROW_WORDS + i);
}

/* Is the last line unchanged?  A foreign one has no chain of its own. */
static bool is_last_whole(const struct row *row, struct roger_str line)
{
	struct roger_str body;
	uint64_t stated;

	if (!line.length || line.length != row->bytes - row->last)
		return false;
	if (rg_chain_split((struct roger_str){ line.data, line.length - 1 }, &stated, &body) &&
	    stated == row->chain && rg_chain_over(row->before_last, body) == stated)
		return true;
	return rg_chain_over(row->before_last, line) == row->chain;
}

static void check_last(struct postgres_store *store, struct roger_str line)
{
	struct row *row = &store->row;

	if (!row->bytes || row->words[8] != RG_BROKEN_NOT || is_last_whole(row, line))
		return;
	row->witness =
		(struct rg_figure){ .count = row->bytes, .chain = row->chain, .chained = true };
	store->shared.broken = RG_BROKEN_DIFFERS;
}

/* An answer to row_sql. */
static int use_row(struct postgres_store *store, const PGresult *result, struct roger_err *err)
{
	if (!PQntuples(result))
		return rg_fail(err, ROGER_ECONFIG, 0, "the database has the workspace no more");
	rg_pg_read_standing(store, rg_column_bytes(result, 0, ROW_STATE),
			    rg_column_bytes(result, 0, ROW_PLACE));
	/* When it is opened, the one who opens decides. */
	if (store->life && store->base.standing != RG_LIVE && !store->workspace->moving)
		return rg_store_fail_moved(&store->base, err);
	read_row(result, &store->row);
	write_words(store->row.words, &store->shared);
	check_last(store, rg_column_bytes(result, 0, ROW_LAST));
	/* Another server may lack what was read from the one before without a barrier. */
	if (store->life != store->link.lives) {
		store->life = store->link.lives;
		store->durable = 0;
		rg_buf_clear(&store->cache);
	}
	if (rg_column_int(result, 0, ROW_ON_DISK))
		store->durable = store->row.bytes;
	store->looked_ns = rg_clock_monotonic_ns();
	return ROGER_OK;
}

/* Results up to the row's. */
int rg_pg_take_row(struct postgres_store *store, struct roger_err *err)
{
	enum rg_role role;
	PGresult *result;
	int r;

	do {
		result = rg_link_take(&store->link, &role, RG_ANSWER_MS);
		if (rg_link_failed(result))
			return rg_link_fail(result, err);
		if (role != RG_ROLE_BARRIER)
			PQclear(result);
	} while (role != RG_ROLE_BARRIER);
	r = use_row(store, result, err);
	PQclear(result);
	return r;
}

static int look(struct postgres_store *store, struct roger_err *err)
{
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_pg_ask_row(store);
	rg_link_sync(&store->link);
	return rg_pg_take_row(store, err);
}

/* ----------------------------------------------------------------- locks -- */

static bool holds(struct rg_store *base, enum rg_store_lock which)
{
	const struct postgres_store *store = of(base);

	return store->taken[which] && store->link.connection &&
	       store->taken[which] == store->link.lives;
}

int rg_pg_check_locks(const struct postgres_store *store, struct roger_err *err)
{
	int which;

	for (which = RG_LOCK_CHANGE; which <= RG_LOCK_BRIDGE; which++)
		if (which != RG_LOCK_INDEX && store->taken[which] &&
		    (!store->link.connection || store->taken[which] != store->link.lives))
			return rg_fail(err, ROGER_ETIMEOUT, 0,
				       "a lock was lost with the connection to PostgreSQL; try "
				       "again");
	return ROGER_OK;
}

/* The index and its checkpoint are files of this machine: so is who may write them. */
static int64_t lock_number(const struct postgres_store *store, enum rg_store_lock which,
			   struct roger_str agent)
{
	uint64_t number = rg_hash((uint64_t)store->ws * 16 + which, agent.data, agent.length);

	if (which == RG_LOCK_INDEX || which == RG_LOCK_CHECKPOINT)
		number = rg_hash(rg_hash(number, store->base.era, strlen(store->base.era)),
				 store->workspace->data_path, strlen(store->workspace->data_path));
	return (int64_t)number;
}

static void give_back(struct postgres_store *store, enum rg_store_lock which,
		      struct roger_str agent);

/* A lock of the session; what it protects may have changed, so the row comes with it. */
static int take(struct postgres_store *store, const struct rg_lock_wish *wish,
		struct roger_err *err)
{
	struct rg_link *link = &store->link;
	struct rg_args number = { 0 }, wait = { 0 };
	PGresult *result = NULL;
	bool got;
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_arg_int(&number, lock_number(store, wish->which, wish->agent));
	rg_arg_int(&wait, wish->wait_ms > 0 ? wish->wait_ms : 1);
	rg_link_put(link, RG_ROLE_OTHER, "SELECT set_config('lock_timeout', $1, true)", &wait);
	rg_link_put(link, RG_ROLE_OTHER,
		    wish->wait_ms > 0 ? "SELECT true, pg_advisory_lock($1::bigint)"
				      : "SELECT pg_try_advisory_lock($1::bigint)",
		    &number);
	rg_link_sync(link);
	rg_pg_ask_row(store);
	rg_link_sync(link);
	r = rg_link_expect(link, RG_ANSWER_MS, NULL, err);
	if (r == ROGER_OK)
		r = rg_link_expect(link, wish->wait_ms + RG_ANSWER_MS, &result, err);
	got = r == ROGER_OK && rg_column_int(result, 0, 0);
	PQclear(result);
	if (r < 0)
		return r;
	if (!got)
		return rg_fail(err, ROGER_ETIMEOUT, 0, "somebody else holds the lock");
	if (wish->which != RG_LOCK_WAKE)
		store->taken[wish->which] = link->lives;
	r = rg_pg_take_row(store, err);
	if (r < 0)
		give_back(store, wish->which, wish->agent);
	return r;
}

static void give_back(struct postgres_store *store, enum rg_store_lock which,
		      struct roger_str agent)
{
	struct rg_args number = { 0 };
	const bool mine = which == RG_LOCK_WAKE || holds(&store->base, which);

	if (which != RG_LOCK_WAKE)
		store->taken[which] = 0;
	if (!mine || !store->link.connection)
		return;
	/* A refused transaction closes the connection, which gives all locks back. */
	push_words(store);
	rg_arg_int(&number, lock_number(store, which, agent));
	rg_link_put(&store->link, RG_ROLE_OTHER, "SELECT pg_advisory_unlock($1::bigint)", &number);
	rg_link_sync(&store->link);
	rg_link_flush(&store->link);
}

/* ------------------------------------------------------------ transactions -- */

static void clear_lines(struct postgres_store *store)
{
	rg_buf_deinit(&store->lines);
	rg_buf_deinit(&store->starts);
	rg_buf_deinit(&store->lengths);
	store->line_count = 0;
}

static int begin(struct postgres_store *store, int64_t wait_ms, struct roger_err *err)
{
	struct rg_link *link = &store->link;
	struct rg_args ws = { 0 }, wait = { 0 };
	int r;

	rg_arg_int(&ws, store->ws);
	rg_arg_int(&wait, wait_ms > 0 ? wait_ms : 1);
	r = rg_pg_ready(store, err);
	if (r < 0)
		return r;
	store->turn++;
	push_words(store);
	rg_link_sync(link);
	rg_link_put(link, RG_ROLE_OTHER, "BEGIN", NULL);
	rg_link_put(link, RG_ROLE_OTHER,
		    "SELECT set_config('synchronous_commit', 'off', true), "
		    "set_config('lock_timeout', $1, true)",
		    &wait);
	rg_link_put(link, RG_ROLE_OTHER,
		    "SELECT FROM roger.workspace WHERE ws = $1::int FOR UPDATE", &ws);
	ask_row_only(store);
	rg_pg_ask_known(store);
	rg_link_sync(link);
	r = rg_pg_take_row(store, err);
	if (r == ROGER_OK)
		r = rg_pg_take_known(store, err);
	/* What failed within a transaction leaves it, with its lock, only to be rolled back. */
	if (r < 0 && link->connection) {
		drain(store);
		rg_link_put(link, RG_ROLE_OTHER, "ROLLBACK", NULL);
		rg_link_sync(link);
		rg_link_flush(link);
	}
	if (r == ROGER_OK) {
		store->appending = true;
		store->epoch_before = store->row.epoch;
		store->token = 0;
		rg_buf_init(&store->lines, SIZE_MAX);
		rg_pg_list_open(&store->starts);
		rg_pg_list_open(&store->lengths);
	}
	return r;
}

/* Was the transaction whose outcome is open committed?  With the lock it cannot be any more. */
static int resolve(struct postgres_store *store, bool *ret_committed, struct roger_err *err)
{
	struct rg_args ws = { 0 }, line = { 0 };
	PGresult *result = NULL;
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_arg_int(&ws, store->ws);
	rg_arg_int(&line, store->row.messages);
	rg_arg_int(&line, (int64_t)store->open_from);
	rg_arg_int(&line, store->token);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT FROM roger.workspace WHERE ws = $1::int FOR UPDATE", &ws);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT 1 FROM roger.line WHERE journal = $1::bigint AND start = $2::bigint "
		    "AND token = $3::bigint",
		    &line);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);
	if (r == ROGER_OK)
		r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	*ret_committed = r == ROGER_OK && PQntuples(result) > 0;
	PQclear(result);
	return r;
}

/* Nobody waits for an unlock: what fails is found by sync(). */
static void end_transaction(struct postgres_store *store)
{
	struct rg_link *link = &store->link;
	const bool dirty = rg_pg_is_dirty(store) || store->row.epoch != store->epoch_before;
	const bool lines = store->line_count > 0;

	store->appending = store->blank = false;
	if (lines) {
		store->open = true;
		store->refused = false;
		store->open_from = store->from;
	}
	if (dirty)
		rg_pg_put_changes(store);
	rg_link_put(link, RG_ROLE_WRITE, "COMMIT", NULL);
	rg_link_sync(link);
	rg_link_flush(link);
	clear_lines(store);
}

static int check_open(const struct postgres_store *store, struct roger_err *err)
{
	const uint32_t broken = store->shared.broken;

	if (broken == RG_BROKEN_NOT || broken == RG_BROKEN_LINE)
		return ROGER_OK;
	return rg_fail(err, ROGER_EDATA, 0, "messages are not what was written");
}

static int lock_append(struct postgres_store *store, const struct rg_lock_wish *wish,
		       struct roger_err *err)
{
	int tries = 0, r;

	do {
		r = rg_pg_check_locks(store, err);
		if (r == ROGER_OK)
			r = begin(store, wish->wait_ms, err);
	} while (rg_pg_again(store, r, &tries));
	if (r < 0)
		return r;
	r = check_open(store, err);
	if (r < 0)
		end_transaction(store);
	return r;
}

static int lock(struct rg_store *base, const struct rg_lock_wish *wish, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	struct rg_lock_wish wanted = *wish;
	int tries = 0, r;

	store->watching = false;
	if (!wanted.agent.data)
		wanted.agent = RG_STR("");
	if (wish->which == RG_LOCK_APPEND) {
		r = lock_append(store, wish, err);
	} else if (holds(base, wish->which)) {
		r = rg_fail(err, ROGER_ETIMEOUT, 0, "this handle holds the lock already");
	} else {
		do {
			r = take(store, &wanted, err);
		} while (rg_pg_again(store, r, &tries));
	}
	rg_pg_leave(store);
	return r;
}

static void unlock(struct rg_store *base, enum rg_store_lock which, struct roger_str agent)
{
	struct postgres_store *store = rg_pg_enter(base);

	if (!agent.data)
		agent = RG_STR("");
	if (which != RG_LOCK_APPEND)
		give_back(store, which, agent);
	else if (store->appending)
		end_transaction(store);
	rg_pg_leave(store);
}

/* -------------------------------------------------------------- messages -- */

static void head(struct rg_store *base, struct rg_head *ret_head)
{
	struct postgres_store *store = rg_pg_enter(base);

	*ret_head =
		(struct rg_head){ .shared = &store->shared,
				  .end = store->row.bytes,
				  .synced = store->durable < store->row.bytes ? store->durable
									      : store->row.bytes,
				  .logged = store->shared.logged,
				  .wake = (uint32_t)store->row.bytes };
	rg_pg_leave(store);
}

static int make_durable(struct postgres_store *store, struct roger_err *err)
{
	const uint64_t end = store->row.bytes;
	int r;

	if (store->durable >= end)
		return ROGER_OK;
	r = rg_pg_ready(store, err);
	if (r < 0)
		return r;
	rg_pg_put_barrier(store);
	r = rg_pg_take_barrier(store, err);
	if (r == ROGER_OK)
		store->durable = end;
	return r;
}

static int settle(struct rg_store *base, uint64_t *ret_end, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int tries = 0, r;

	do {
		r = store->watching ? ROGER_OK : look(store, err);
		if (r == ROGER_OK)
			r = make_durable(store, err);
		store->watching = false;
	} while (rg_pg_again(store, r, &tries));
	*ret_end = store->row.bytes;
	rg_pg_leave(store);
	return r;
}

static int append(struct rg_store *base, rg_compose *compose, void *context, uint64_t *ret_end,
		  struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	struct rg_buf *out = &store->lines;
	struct row *row = &store->row;
	const uint64_t from = row->bytes;
	size_t line, start = out->length;

	*ret_end = 0;
	if (!store->appending || !store->link.connection ||
	    (!store->token && rg_random(&store->token, sizeof store->token, err) < 0)) {
		rg_pg_leave(store);
		return rg_link_fail(NULL, err);
	}
	if (!store->line_count)
		store->from = from;
	for (line = 0; compose(context, line, out); line++) {
		row->last = store->from + start;
		row->before_last = row->chain;
		row->chain = rg_chain_over(
			row->chain, (struct roger_str){ out->data + start, out->length - start });
		rg_chain_print(row->chain, out);
		rg_buf_add_char(out, '\n');
		rg_pg_list_add(&store->starts, (int64_t)start);
		rg_pg_list_add(&store->lengths, (int64_t)(out->length - start));
		start = out->length;
		store->line_count++;
	}
	row->bytes = store->from + out->length;
	*ret_end = row->bytes;
	rg_pg_leave(store);
	return out->failed ? rg_fail_memory(err) : ROGER_OK;
}

/* Tell those who wait, in a transaction of its own: a notification within another one would hold
 * the lock of all notifications during its flush. */
static void put_notification(struct postgres_store *store)
{
	struct rg_args args = { 0 };

	rg_arg_int(&args, store->ws);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT pg_notify('roger_' || $1::text, '') WHERE EXISTS (SELECT FROM "
		    "roger.waiter WHERE ws = $1::int AND until > now())",
		    &args);
	rg_link_sync(&store->link);
}

static int refuse_sync(struct postgres_store *store, struct roger_err *err)
{
	store->open = store->refused = false;
	return rg_fail(err, ROGER_ETIMEOUT, 0, "PostgreSQL stored nothing; try again");
}

/* The transaction's results, then the barrier's. */
static int sync_once(struct postgres_store *store, struct roger_err *err)
{
	enum rg_role role;
	PGresult *result;

	rg_pg_put_barrier(store);
	put_notification(store);
	for (;;) {
		if (store->link.queued == 2)
			return rg_pg_take_barrier(store, err);
		result = rg_link_take(&store->link, &role, RG_ANSWER_MS);
		if (!result || (role == RG_ROLE_WRITE && rg_link_failed(result))) {
			if (result)
				note_refused(store);
			return rg_link_fail(result, err);
		}
		PQclear(result);
	}
}

static int sync_messages(struct postgres_store *store, uint64_t end, struct roger_err *err)
{
	bool committed = true;
	int tries = 0, r = ROGER_OK;

	if (end <= store->durable && !store->open && !store->refused)
		return r;
	do {
		if (!store->link.connection && store->open && !store->refused)
			r = resolve(store, &committed, err);
		else if (!store->refused)
			r = rg_link_open(&store->link, err);
		if (store->refused || (r == ROGER_OK && !committed))
			return refuse_sync(store, err);
		if (r == ROGER_OK)
			r = sync_once(store, err);
	} while (store->refused || rg_pg_again(store, r, &tries));
	store->open = false;
	if (r == ROGER_OK && end > store->durable)
		store->durable = end;
	return r;
}

static int sync_journal(struct rg_store *base, const struct rg_log_file *file, uint64_t end,
			struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r;

	if (file && file->log != RG_LOG_MESSAGES) {
		r = rg_pg_ready(store, err);
		rg_pg_put_barrier(store);
		if (r == ROGER_OK)
			r = rg_pg_take_barrier(store, err);
	} else {
		r = sync_messages(store, end, err);
	}
	rg_pg_leave(store);
	return r;
}

/* --------------------------------------------------------------- waiting -- */

/* Register before the look, so that no message falls between the two. */
static int begin_watch(struct postgres_store *store)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf listen = { .maximum = 100 };
	struct rg_args args = { 0 };
	int r;

	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, store->who);
	rg_arg_int(&args, 2 * REGISTER_EACH_S + 30);
	rg_buf_printf(&listen, "LISTEN roger_%lld", (long long)store->ws);
	rg_buf_add_char(&listen, '\0');
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "INSERT INTO roger.waiter VALUES ($1::int, $2::bigint, now() + $3::int * "
		    "interval '1 s') ON CONFLICT (ws, who) DO UPDATE SET until = excluded.until",
		    &args);
	rg_link_put(&store->link, RG_ROLE_OTHER, listen.data, NULL);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, RG_LOOK_MS, NULL, NULL);
	if (r == ROGER_OK)
		r = rg_link_expect(&store->link, RG_LOOK_MS, NULL, NULL);
	if (r == ROGER_OK) {
		store->registered_ns = rg_clock_monotonic_ns();
		store->listening = store->link.lives;
	}
	return r;
}

static bool is_due(int64_t since_ns, int64_t after_ms)
{
	return rg_clock_monotonic_ns() - since_ns >= after_ms * 1000000;
}

/* A look holds for a second, or until a notification. */
static void watch(struct postgres_store *store, uint32_t wake, int64_t wait_ms)
{
	int64_t left_ms;
	int r = ROGER_OK;

	if (store->listening != store->link.lives ||
	    is_due(store->registered_ns, REGISTER_EACH_S * 1000)) {
		r = begin_watch(store);
		if (r == ROGER_OK)
			r = look(store, NULL);
	}
	left_ms = LOOK_EACH_MS - (rg_clock_monotonic_ns() - store->looked_ns) / 1000000;
	if (r == ROGER_OK && (uint32_t)store->row.bytes == wake && left_ms > 0)
		rg_link_wait(&store->link, wait_ms < left_ms ? wait_ms : left_ms);
	if (r == ROGER_OK && store->link.connection &&
	    (store->link.notified || is_due(store->looked_ns, LOOK_EACH_MS))) {
		store->link.notified = false;
		r = look(store, NULL);
	}
	store->watching = r == ROGER_OK && store->link.connection;
}

static void wait_for_sync(struct rg_store *base, uint32_t wake, int64_t wait_ms)
{
	struct postgres_store *store = rg_pg_enter(base);
	bool ready = true;

	if ((uint32_t)store->row.bytes == wake) {
		ready = rg_pg_ready(store, NULL) == ROGER_OK;
		if (ready)
			watch(store, wake, wait_ms);
	}
	rg_pg_leave(store);
	if (!ready)
		rg_clock_sleep(wait_ms);
}

/* ------------------------------------------------------------- recomputing -- */

/* At the witness's end there must be a line end, with the witness's chain. */
static void compare(struct postgres_store *store, uint64_t end, uint64_t chain)
{
	const struct rg_figure *witness = &store->row.witness;

	if (witness->count == end && witness->chained && witness->chain != chain &&
	    store->shared.broken == RG_BROKEN_NOT)
		store->shared.broken = RG_BROKEN_DIFFERS;
}

static int drop_figures(struct postgres_store *store, struct roger_err *err)
{
	struct rg_args args = { 0 };
	int r;

	rg_arg_int(&args, store->ws);
	rg_link_put(&store->link, RG_ROLE_WRITE, "DELETE FROM roger.agent WHERE ws = $1::int",
		    &args);
	rg_link_put(&store->link, RG_ROLE_WRITE, "DELETE FROM roger.count WHERE ws = $1::int",
		    &args);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);
	if (r == ROGER_OK)
		r = rg_link_expect(&store->link, RG_ANSWER_MS, NULL, err);
	rg_pg_forget_known(store);
	memset(&store->shared, 0, sizeof store->shared);
	store->row.epoch = 1;
	store->epoch_before = 0;
	store->blank = true;
	return r;
}

static int adopt_lines(struct postgres_store *store, struct roger_err *err)
{
	struct rg_bytes bytes = rg_bytes_of(&store->base, &rg_store_messages);
	struct row *row = &store->row;
	struct rg_chain chain = { 0 };
	struct rg_lines lines;
	struct rg_line line;
	bool found = true, own;
	int r = ROGER_OK;

	rg_lines_init(&lines, &bytes, 0, row->bytes);
	while (r == ROGER_OK && (r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK &&
	       found) {
		row->last = line.offset;
		row->before_last = chain.value;
		r = rg_chain_step(&bytes, &line, &chain, &own, err);
		if (r == ROGER_OK && !store->above->adopt(&store->base, line.text, own))
			r = rg_fail_memory(err);
		compare(store, lines.at, chain.value);
	}
	rg_lines_deinit(&lines);
	row->chain = chain.value;
	return r;
}

/* All in one transaction, with the lock. */
static int recompute(struct postgres_store *store, struct roger_err *err)
{
	struct rg_figure witness = { 0 };
	int r;

	store->above->recall(&store->base, &witness);
	r = begin(store, RG_LOCK_WAIT_MS, err);
	if (r < 0)
		return r;
	rg_buf_clear(&store->cache);
	r = drop_figures(store, err);
	rg_pg_put_figure(&store->base, &(struct rg_figure_key){ .kind = RG_FIGURE_WITNESS },
			 &witness);
	if (r == ROGER_OK)
		r = adopt_lines(store, err);
	if (r < 0) {
		rg_link_close(&store->link);
		store->appending = store->blank = false;
		clear_lines(store);
		return r;
	}
	push_words(store);
	end_transaction(store);
	return ROGER_OK;
}

/* The figures are always durable: a checkpoint says only that the index may be kept, too. */
static bool keep(struct rg_store *base, enum rg_keep what)
{
	struct postgres_store *store = rg_pg_enter(base);

	if (what == RG_KEEP_NOTHING)
		(void)recompute(store, NULL);
	rg_pg_leave(store);
	return what == RG_KEEP_NOW;
}

/* --------------------------------------------------------------- opening -- */

static struct rg_store *close_store(struct rg_store *base)
{
	struct postgres_store *store = of(base);

	drain(store);
	if (store->link.connection && store->ws) {
		push_words(store);
		rg_link_sync(&store->link);
		drain(store);
	}
	rg_link_close(&store->link);
	free(store->link.address);
	free(store->agents);
	rg_table_deinit(&store->known);
	rg_buf_deinit(&store->cache);
	clear_lines(store);
	pthread_mutex_destroy(&store->mutex);
	free(store);
	return NULL;
}

static const struct rg_store_ops operations = {
	.close = close_store,
	.head = head,
	.settle = settle,
	.lock = lock,
	.unlock = unlock,
	.holds = holds,
	.append = append,
	.sync = sync_journal,
	.wait = wait_for_sync,
	.list = rg_pg_list,
	.stat = rg_pg_stat,
	.read = rg_pg_read,
	.add = rg_pg_add,
	.rewrite = rg_pg_rewrite,
	.figure = rg_pg_figure,
	.put_figure = rg_pg_put_figure,
	.next_figure = rg_pg_next_figure,
	.get = rg_pg_get,
	.put = rg_pg_put,
	.runs = rg_pg_runs,
	.keep = keep,
	.stand = rg_pg_stand,
	.bring = rg_pg_bring,
	.bring_run = rg_pg_bring_run,
};

static int use_schema(struct postgres_store *store, const PGresult *result, const char *name,
		      struct roger_err *err)
{
	const int64_t version = rg_column_int(result, 0, 0);

	if (version > rg_postgres_version())
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "the database's tables are of a newer roger: update this one");
	if (version < rg_postgres_version())
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "the database's tables are of an older roger; `roger upgrade` "
			       "brings them up to date");
	store->ws = rg_column_int(result, 0, 1);
	return store->ws
		       ? ROGER_OK
		       : rg_fail(err, ROGER_ECONFIG, 0,
				 "the database has no workspace '%s'; `roger init` adds it", name);
}

static int find_workspace(struct postgres_store *store, const char *name, struct roger_err *err)
{
	struct rg_args args = { 0 };
	PGresult *result = NULL;
	int r;

	r = rg_link_open(&store->link, err);
	if (r < 0)
		return r;
	rg_arg_text(&args, name);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT (SELECT max(version) FROM roger.schema), (SELECT ws FROM "
		    "roger.workspace WHERE name = $1::text)",
		    &args);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	if (r == ROGER_OK)
		r = use_schema(store, result, name, err);
	PQclear(result);
	return r == ROGER_OK ? look(store, err) : r;
}

static struct postgres_store *make_store(struct rg_workspace *workspace,
					 const struct rg_store_above *above)
{
	struct postgres_store *store = calloc(1, sizeof *store);
	pthread_mutexattr_t again;

	if (!store)
		return NULL;
	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&store->mutex, &again);
	pthread_mutexattr_destroy(&again);
	rg_table_init(&store->known, 8);
	rg_pg_forget_known(store);
	rg_buf_init(&store->cache, SIZE_MAX);
	rg_buf_init(&store->lines, SIZE_MAX);
	store->base.ops = &operations;
	store->base.state = "message-state.json";
	snprintf(store->base.figures, sizeof store->base.figures, "roger.agent and roger.count");
	rg_boot_id(store->base.era);
	store->workspace = workspace;
	store->above = above;
	return store;
}

int rg_postgres_store_open(struct rg_workspace *workspace, const struct rg_store_above *above,
			   struct rg_store **ret_store, struct roger_err *err)
{
	struct postgres_store *store = make_store(workspace, above);
	char *name;
	int r;

	if (!store)
		return rg_fail_memory(err);
	store->link.address = rg_postgres_address(workspace);
	r = store->link.address ? rg_random(&store->who, sizeof store->who, err)
				: rg_fail_memory(err);
	if (r == ROGER_OK) {
		name = rg_postgres_cut_name(store->link.address);
		r = find_workspace(store, name, err);
	}
	if (r == ROGER_OK && workspace->moving)
		r = rg_pg_begin_move(store, err);
	if (r < 0) {
		close_store(&store->base);
		return r;
	}
	*ret_store = &store->base;
	return ROGER_OK;
}
