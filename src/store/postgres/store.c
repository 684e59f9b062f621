/*
 * The PostgreSQL store.
 *
 * A step of messages is one call of roger.append_1(), which takes the lock of the
 * workspace's row.  It commits without waiting for the disk, which gives the lock to
 * the next one at once; behind it, in the same flush of the network, goes a barrier:
 * a tiny transaction that waits for the disk and the standby.  Only the barrier is the
 * acknowledgement.  What was read may not be durable yet either, so settle() ends with
 * a barrier unless the server says that everything is on disk.
 *
 * What the step relies on (numbers, counts, the epoch) is a guess from what this handle
 * saw last, and checked under the lock.  Where it is wrong nothing is stored, and the
 * next try takes the lock first, in a transaction of several questions.
 *
 * When the connection is lost behind such a call, the server's process is ended, and
 * the journal is asked for the token: there, it was committed; not there, it never will be.
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

/* Who waits is asked in it, after the lines are committed: who registers later sees them. */
void rg_pg_put_barrier(struct postgres_store *store)
{
	store->link.warned = false;
	rg_link_put(&store->link, RG_ROLE_ASKED,
		    "SELECT pg_logical_emit_message(true, 'roger', ''), EXISTS (SELECT FROM "
		    "roger.waiter WHERE ws = $1 AND until > now())",
		    RG_ARGS(RG_INT(store->ws)));
	rg_link_sync(&store->link);
}

/* Tell those who wait how far messages are durable, in a transaction of its own: a notification
 * within another one would hold the lock of all notifications during its flush. */
static void notify(struct postgres_store *store)
{
	rg_link_put(&store->link, RG_ROLE_ASIDE,
		    "SELECT pg_notify('roger_' || $1::text, $2::bigint::text)",
		    RG_ARGS(RG_INT(store->ws), RG_INT(store->row.bytes)));
	rg_link_sync(&store->link);
	rg_link_flush(&store->link);
	store->telling = false;
}

/* A warning: the wait for the standby was cancelled, and success means nothing. */
int rg_pg_take_barrier(struct postgres_store *store, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);

	store->barrier_life = 0;
	if (r == ROGER_OK && store->link.warned) {
		rg_link_close(&store->link);
		r = rg_fail(err, ROGER_EIO, 0,
			    "PostgreSQL did not wait for its standby: it may not have the lines");
	}
	if (r == ROGER_OK && store->telling && rg_column_int(result, 0, 1))
		notify(store);
	PQclear(result);
	return r;
}

int rg_pg_barrier(struct postgres_store *store, struct roger_err *err)
{
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_pg_put_barrier(store);
	return rg_pg_take_barrier(store, err);
}

static bool has_barrier(const struct postgres_store *store)
{
	return store->link.connection && store->barrier_life == store->link.lives;
}

int rg_pg_ready(struct postgres_store *store, struct roger_err *err)
{
	int r;

	if (has_barrier(store))
		(void)!rg_pg_take_barrier(store, NULL);
	if (store->link.asked)
		rg_link_drain(&store->link);
	r = rg_link_open(&store->link, err);
	if (r == ROGER_OK)
		rg_pg_add_noted(store);
	return r;
}

bool rg_pg_again(const struct postgres_store *store, int r, int *tries)
{
	return r == ROGER_ETIMEOUT && !store->link.connection && ++*tries < 3;
}

int rg_pg_ask(struct postgres_store *store, const char *sql, const struct rg_arg *args,
	      PGresult **ret_result, struct roger_err *err)
{
	int tries = 0, r;

	do {
		r = rg_pg_ready(store, err);
		if (r < 0)
			return r;
		rg_link_put(&store->link, RG_ROLE_ASKED, sql, args);
		rg_link_sync(&store->link);
		r = rg_link_expect(&store->link, RG_ANSWER_MS, ret_result, err);
	} while (rg_pg_again(store, r, &tries));
	return r;
}

/* --------------------------------------------------------------- the row -- */

enum { WIDE = 7 };

/* From shared to words, or back. */
static void copy_words(struct rg_shared *shared, int64_t words[WORDS], bool back)
{
	_Atomic uint64_t *const wide[] = { &shared->state_wanted,  &shared->seen_wanted,
					   &shared->state_written, &shared->seen_written,
					   &shared->logged,	   &shared->listed,
					   &shared->carried };
	_Atomic uint32_t *const narrow[] = { &shared->prepared, &shared->broken, &shared->damages,
					     &shared->damaged };
	int i;

	for (i = 0; i < WORDS; i++)
		if (!back)
			words[i] = i < WIDE ? (int64_t)*wide[i] : *narrow[i - WIDE];
		else if (i < WIDE)
			*wide[i] = (uint64_t)words[i];
		else
			*narrow[i - WIDE] = (uint32_t)words[i];
}

void rg_pg_read_words(struct postgres_store *store, int64_t words[WORDS])
{
	copy_words(&store->shared, words, false);
}

/* Queue the question for the row, with what this handle changed of the shared words. */
static void put_look(struct postgres_store *store, enum rg_role role)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf before = { 0 }, after = { 0 };
	int64_t now[WORDS];
	bool same;

	rg_pg_read_words(store, now);
	same = !memcmp(now, store->row.words, sizeof now);
	if (same && role == RG_ROLE_ASIDE)
		return;
	rg_link_put(&store->link, role, "SELECT * FROM roger.look_1($1, $2, $3)",
		    RG_ARGS(RG_INT(store->ws),
			    same ? RG_NULL : rg_ints(&before, store->row.words, WORDS),
			    same ? RG_NULL : rg_ints(&after, now, WORDS)));
	memcpy(store->row.words, now, sizeof now);
}

enum {
	ROW_STATE,
	ROW_PLACE,
	ROW_LAST,
	ROW_ON_DISK,
	ROW_NUMBERS,
	ROW_CLOCK = 13,
	ROW_WORDS,
};

static void read_row(const PGresult *result, struct row *row)
{
	int64_t numbers[ROW_CLOCK - ROW_NUMBERS];
	int i;

	for (i = 0; i < ROW_CLOCK - ROW_NUMBERS; i++)
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
	rg_column_ints(result, 0, ROW_WORDS, row->words, WORDS);
}

/* Is the last line unchanged?  A foreign one has no chain of its own. */
static bool is_last_whole(const struct row *row, struct roger_str line)
{
	struct roger_str body;
	uint64_t stated;

	if (!line.length || line.length != row->bytes - row->last)
		return false;
	if (rg_chain_split((struct roger_str){ line.data, line.length - 1 }, &stated, &body) &&
	    stated == row->chain && rg_chain_fits(row->before_last, body, stated))
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

/* Another server may lack what was read from the one before without a barrier. */
static void begin_life(struct postgres_store *store, const PGresult *result)
{
	if (store->life == store->link.lives)
		return;
	store->life = store->link.lives;
	store->durable = 0;
	rg_buf_clear(&store->cache);
	rg_pg_forget_known(store);
	rg_clock_follow(rg_column_int(result, 0, ROW_CLOCK));
}

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
	/* An older state was restored: other lines come to these places. */
	if (store->row.bytes < store->read_to) {
		rg_buf_clear(&store->cache);
		store->cache_journal = 0;
		store->read_to = store->row.bytes;
	}
	copy_words(&store->shared, store->row.words, true);
	check_last(store, rg_column_bytes(result, 0, ROW_LAST));
	begin_life(store, result);
	if (rg_column_int(result, 0, ROW_ON_DISK))
		store->durable = store->row.bytes;
	store->looked_ns = rg_clock_monotonic_ns();
	return ROGER_OK;
}

static int take_row(struct postgres_store *store, int64_t wait_ms, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = rg_link_expect(&store->link, wait_ms, &result, err);

	if (r == ROGER_OK)
		r = use_row(store, result, err);
	PQclear(result);
	return r;
}

int rg_pg_look(struct postgres_store *store, bool tail, struct roger_err *err)
{
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	put_look(store, RG_ROLE_ASKED);
	if (tail)
		rg_pg_put_tail(store);
	rg_link_sync(&store->link);
	/* It waits for no lock: without an answer the connection is dead. */
	r = take_row(store, RG_LOOK_MS, err);
	return r == ROGER_OK && tail ? rg_pg_take_tail(store, err) : r;
}

/* ----------------------------------------------------------------- locks -- */

/* Who stands still for so long with one of the locks that are held briefly loses it. */
enum { IDLE_MS = 10000 };

static bool holds(struct rg_store *base, enum rg_store_lock which)
{
	const struct postgres_store *store = of(base);

	return store->taken[which] && store->link.connection &&
	       store->taken[which] == store->link.lives;
}

/* A move holds them for as long as it copies. */
static bool is_brief(const struct postgres_store *store, enum rg_store_lock which)
{
	if (store->workspace->moving)
		return false;
	return which == RG_LOCK_CHANGE || which == RG_LOCK_RECORDS || which == RG_LOCK_STATE ||
	       which == RG_LOCK_APPEND;
}

static int64_t idle_ms(struct postgres_store *store)
{
	enum rg_store_lock which;

	for (which = RG_LOCK_CHANGE; which <= RG_LOCK_APPEND; which++)
		if (is_brief(store, which) && holds(&store->base, which))
			return IDLE_MS;
	return 0;
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
int64_t rg_pg_lock_number(const struct postgres_store *store, enum rg_store_lock which,
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

/* What comes with the lock. */
static int take_with(struct postgres_store *store, enum rg_store_lock which, struct roger_err *err)
{
	int r = take_row(store, RG_ANSWER_MS, err);

	if (r == ROGER_OK && which == RG_LOCK_CHANGE)
		r = rg_pg_take_tail(store, err);
	return r == ROGER_OK && which == RG_LOCK_APPEND ? rg_pg_take_known(store, err) : r;
}

/* A lock of the session; what it protects may have changed, so that comes in the same flush. */
static int take(struct postgres_store *store, const struct rg_lock_wish *wish,
		struct roger_err *err)
{
	const enum rg_store_lock which = wish->which;
	PGresult *result = NULL;
	bool got;
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_link_put(&store->link, RG_ROLE_ASKED, "SELECT roger.lock_1($1, $2, $3)",
		    RG_ARGS(RG_INT(rg_pg_lock_number(store, which, wish->agent)),
			    RG_INT(wish->wait_ms),
			    RG_INT(is_brief(store, which) ? IDLE_MS : idle_ms(store))));
	put_look(store, RG_ROLE_ASKED);
	if (which == RG_LOCK_CHANGE)
		rg_pg_put_tail(store);
	if (which == RG_LOCK_APPEND)
		rg_pg_ask_known(store);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, wish->wait_ms + RG_ANSWER_MS, &result, err);
	got = r == ROGER_OK && rg_column_int(result, 0, 0);
	PQclear(result);
	if (got && which != RG_LOCK_WAKE)
		store->taken[which] = store->link.lives;
	if (r == ROGER_OK)
		r = take_with(store, which, err);
	if (r < 0 && got)
		give_back(store, which, wish->agent);
	return r == ROGER_OK && !got
		       ? rg_fail(err, ROGER_ETIMEOUT, 0, "somebody else holds the lock")
		       : r;
}

static void give_back(struct postgres_store *store, enum rg_store_lock which,
		      struct roger_str agent)
{
	const bool mine = which == RG_LOCK_WAKE || holds(&store->base, which);

	if (which != RG_LOCK_WAKE)
		store->taken[which] = 0;
	if (!mine || !store->link.connection)
		return;
	put_look(store, RG_ROLE_ASIDE);
	rg_link_put(
		&store->link, RG_ROLE_ASIDE,
		"SELECT pg_advisory_unlock($1::bigint), set_config('idle_session_timeout', $2, "
		"false)",
		RG_ARGS(RG_INT(rg_pg_lock_number(store, which, agent)), RG_INT(idle_ms(store))));
	rg_link_sync(&store->link);
	rg_link_flush(&store->link);
}

/* ------------------------------------------------------------ transactions -- */

static void start(struct postgres_store *store, bool guessing)
{
	store->turn += guessing;
	store->appending = true;
	store->guessing = guessing;
	store->row_before = store->row;
	store->logged_before = store->shared.logged;
	store->line_count = 0;
	rg_buf_deinit(&store->lines);
	rg_array_open(&store->lines, RG_ARRAY_BYTES);
}

/*
 * The connection was lost behind a step.  Its process may still be at work on it, so it is ended
 * first; on another server there is none.
 */
static int resolve(struct postgres_store *store, bool *ret_committed, struct roger_err *err)
{
	PGresult *result = NULL;
	int r = rg_pg_ready(store, err);

	if (r < 0)
		return r;
	rg_link_put(
		&store->link, RG_ROLE_ASIDE,
		"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid = $1 AND "
		"(extract(epoch FROM backend_start) * 1000000)::bigint = $2 AND pid <> "
		"pg_backend_pid()",
		RG_ARGS(RG_INT(store->token_process), RG_INT(store->token_born)));
	rg_link_sync(&store->link);
	put_look(store, RG_ROLE_ASKED);
	rg_link_put(
		&store->link, RG_ROLE_ASKED,
		"SELECT FROM roger.line WHERE journal = $1 AND start >= $2 AND token = $3 LIMIT 1",
		RG_ARGS(RG_INT(store->row.messages), RG_INT(store->token_from),
			RG_INT(store->token)));
	rg_link_sync(&store->link);
	r = take_row(store, RG_ANSWER_MS, err);
	if (r == ROGER_OK)
		r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	*ret_committed = r == ROGER_OK && PQntuples(result) > 0;
	PQclear(result);
	if (r == ROGER_OK)
		store->token_life = store->link.lives;
	return r;
}

/* The server's answer: where the lines went. */
static void use_step(struct postgres_store *store, const PGresult *result)
{
	const uint64_t length = store->row.bytes - store->row_before.bytes;
	struct row *row = &store->row;

	row->bytes = (uint64_t)rg_column_int(result, 0, 0) + length;
	row->chain = (uint64_t)rg_column_int(result, 0, 1);
	row->last = (uint64_t)rg_column_int(result, 0, 2);
	row->before_last = (uint64_t)rg_column_int(result, 0, 3);
	rg_column_ints(result, 0, 4, row->words, WORDS);
	copy_words(&store->shared, row->words, true);
	store->telling = store->telling || length > 0;
	store->looked_ns = rg_clock_monotonic_ns();
	rg_pg_end_step(store, true);
}

/* Nothing was stored: as before, but what was known is not any more. */
static void undo(struct postgres_store *store)
{
	store->row = store->row_before;
	store->shared.logged = store->logged_before;
	rg_pg_end_step(store, false);
}

/* Send the step, with its barrier if there are lines, and wait for its own answer. */
static int send_step(struct postgres_store *store, PGresult **ret_result, struct roger_err *err)
{
	struct rg_link *link = &store->link;

	rg_pg_put_step(store);
	rg_link_sync(link);
	store->token_from = store->row_before.bytes;
	store->token_life = link->lives;
	store->token_process = link->process;
	store->token_born = link->born;
	if (store->line_count) {
		rg_pg_put_barrier(store);
		store->barrier_life = link->lives;
	}
	return rg_link_expect(link, RG_ANSWER_MS, ret_result, err);
}

/* The same after a loss: was it stored?  If nobody can say, its sender is told so. */
static int find_step(struct postgres_store *store, uint64_t *end, struct roger_err *err)
{
	bool stored = false;
	int tries = 0, r;

	if (!store->line_count) {
		undo(store);
		return ROGER_OK;
	}
	do {
		r = resolve(store, &stored, err);
	} while (rg_pg_again(store, r, &tries));
	if (r < 0)
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "the connection to PostgreSQL was lost; try again");
	if (stored) {
		store->telling = true;
		rg_pg_forget_known(store);
		*end = store->row.bytes;
		return ROGER_OK;
	}
	store->row_before = store->row;
	undo(store);
	*end = 0;
	return ROGER_OK;
}

static int commit(struct postgres_store *store, uint64_t *end, struct roger_err *err)
{
	PGresult *result = NULL;
	struct roger_err why = { 0 };
	int r;

	r = send_step(store, &result, &why);
	store->doubtful = r < 0;
	if (r == ROGER_OK) {
		use_step(store, result);
		*end = *end ? store->row.bytes : 0;
	} else if (!store->link.connection) {
		r = find_step(store, end, err);
	} else {
		undo(store);
		*end = 0;
		if (store->guessing && (r == ROGER_ENOENT || r == ROGER_ETIMEOUT))
			r = ROGER_OK;
		else if (err)
			*err = why;
	}
	PQclear(result);
	return r;
}

/* Release RG_LOCK_APPEND.  What was decided with a lock that is lost is not sent. */
static int end_step(struct postgres_store *store, uint64_t *end, struct roger_err *err)
{
	const bool sound = store->guessing || holds(&store->base, RG_LOCK_APPEND);
	int r = ROGER_OK;

	if (has_barrier(store))
		(void)!rg_pg_take_barrier(store, NULL);
	if (rg_pg_is_dirty(store) && sound)
		r = commit(store, end, err);
	else if (rg_pg_is_dirty(store)) {
		undo(store);
		*end = 0;
	}
	give_back(store, RG_LOCK_APPEND, RG_STR(""));
	store->appending = store->blank = false;
	return r;
}

static int finish(struct rg_store *base, uint64_t *end, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r = store->appending ? end_step(store, end, err) : ROGER_OK;

	rg_pg_leave(store);
	return r;
}

static int check_open(const struct postgres_store *store, struct roger_err *err)
{
	const uint32_t broken = store->shared.broken;

	if (broken == RG_BROKEN_NOT || broken == RG_BROKEN_LINE)
		return ROGER_OK;
	return rg_fail(err, ROGER_EDATA, 0, "messages are not what was written");
}

static void unlock(struct rg_store *base, enum rg_store_lock which, struct roger_str agent)
{
	struct postgres_store *store = rg_pg_enter(base);
	uint64_t nothing = 0;

	if (which != RG_LOCK_APPEND)
		give_back(store, which, agent.data ? agent : RG_STR(""));
	else if (store->appending && store->guessing)
		undo(store);
	else if (store->appending)
		(void)!end_step(store, &nothing, NULL);
	store->appending &= which != RG_LOCK_APPEND;
	rg_pg_leave(store);
}

/* A guess needs a row of this connection. */
static bool can_guess(struct postgres_store *store, const struct rg_lock_wish *wish)
{
	return wish->guess && !store->doubtful && rg_pg_ready(store, NULL) == ROGER_OK &&
	       store->life == store->link.lives;
}

static int lock_append(struct postgres_store *store, const struct rg_lock_wish *wish,
		       struct roger_err *err)
{
	const bool guess = can_guess(store, wish);
	int r = rg_pg_check_locks(store, err);

	if (r == ROGER_OK && !guess) {
		store->turn++;
		r = take(store, wish, err);
	}
	if (r < 0)
		return r;
	start(store, guess);
	r = check_open(store, err);
	if (r < 0)
		unlock(&store->base, RG_LOCK_APPEND, RG_STR(""));
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
	if (holds(base, wish->which)) {
		r = rg_fail(err, ROGER_ETIMEOUT, 0, "this handle holds the lock already");
	} else {
		do {
			r = (wish->which == RG_LOCK_APPEND ? lock_append : take)(store, &wanted,
										 err);
		} while (rg_pg_again(store, r, &tries));
		if (r < 0 && holds(base, wish->which))
			give_back(store, wish->which, wanted.agent);
	}
	rg_pg_leave(store);
	return r;
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
	r = rg_pg_barrier(store, err);
	if (r == ROGER_OK)
		store->durable = end;
	return r;
}

static int settle(struct rg_store *base, uint64_t *ret_end, struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int tries = 0, r;

	do {
		r = store->watching ? ROGER_OK : rg_pg_look(store, true, err);
		if (r == ROGER_OK)
			r = make_durable(store, err);
		store->watching = false;
	} while (rg_pg_again(store, r, &tries));
	*ret_end = store->row.bytes;
	rg_pg_leave(store);
	return r;
}

/* The number that the line will end at is a guess, like all else. */
static void add_line(struct postgres_store *store, const struct rg_buf *body)
{
	struct row *row = &store->row;

	row->last = row->bytes;
	row->bytes += body->length + RG_CHAIN_BYTES + 1;
	rg_array_add(&store->lines, rg_buf_str(body));
	store->line_count++;
}

static int append(struct rg_store *base, rg_compose *compose, void *context, uint64_t *ret_end,
		  struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf body = { .maximum = SIZE_MAX };
	struct postgres_store *store = rg_pg_enter(base);
	size_t line;
	int r;

	*ret_end = 0;
	r = rg_random(&store->token, sizeof store->token, err);
	for (line = 0; r == ROGER_OK && compose(context, line, &body); line++) {
		add_line(store, &body);
		rg_buf_clear(&body);
	}
	if (body.failed || store->lines.failed)
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		*ret_end = store->row.bytes;
	rg_pg_leave(store);
	return r;
}

static int sync_once(struct postgres_store *store, struct roger_err *err)
{
	int r = ROGER_OK;

	if (!has_barrier(store)) {
		r = rg_link_open(&store->link, err);
		if (r < 0)
			return r;
		rg_pg_put_barrier(store);
	}
	return rg_pg_take_barrier(store, err);
}

static int sync_messages(struct postgres_store *store, uint64_t end, struct roger_err *err)
{
	bool stored = true;
	int tries = 0, r;

	if (end <= store->durable && !has_barrier(store) && !store->telling)
		return ROGER_OK;
	do {
		r = ROGER_OK;
		if (store->token && !has_barrier(store) &&
		    (!store->link.connection || store->token_life != store->link.lives))
			r = resolve(store, &stored, err);
		if (r == ROGER_OK && !stored)
			return rg_fail(err, ROGER_ETIMEOUT, 0,
				       "PostgreSQL stored nothing; try again");
		if (r == ROGER_OK)
			r = sync_once(store, err);
	} while (rg_pg_again(store, r, &tries));
	if (r == ROGER_OK)
		store->token = 0;
	if (r == ROGER_OK && end > store->durable)
		store->durable = end;
	return r;
}

static int sync_journal(struct rg_store *base, const struct rg_log_file *file, uint64_t end,
			struct roger_err *err)
{
	struct postgres_store *store = rg_pg_enter(base);
	int r;

	if (file && file->log != RG_LOG_MESSAGES)
		r = rg_pg_barrier(store, err);
	else
		r = sync_messages(store, end, err);
	rg_pg_leave(store);
	return r;
}

/* --------------------------------------------------------------- waiting -- */

/* Register before the look, so that no message falls between the two. */
static int begin_watch(struct postgres_store *store)
{
	snprintf(store->listen, sizeof store->listen, "LISTEN roger_%lld", (long long)store->ws);
	rg_link_put(
		&store->link, RG_ROLE_ASIDE,
		"INSERT INTO roger.waiter VALUES ($1, $2, now() + $3::int * interval '1 s') ON "
		"CONFLICT (ws, who) DO UPDATE SET until = excluded.until",
		RG_ARGS(RG_INT(store->ws), RG_INT(store->who), RG_INT(2 * REGISTER_EACH_S + 30)));
	rg_link_put(&store->link, RG_ROLE_ASKED, store->listen, NULL);
	rg_link_sync(&store->link);
	if (rg_link_expect(&store->link, RG_LOOK_MS, NULL, NULL) < 0)
		return ROGER_ETIMEOUT;
	store->registered_ns = rg_clock_monotonic_ns();
	store->listening = store->link.lives;
	return rg_pg_look(store, false, NULL);
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
	}
	left_ms = LOOK_EACH_MS - (rg_clock_monotonic_ns() - store->looked_ns) / 1000000;
	if (r == ROGER_OK && (uint32_t)store->row.bytes == wake && left_ms > 0)
		rg_link_wait(&store->link, wait_ms < left_ms ? wait_ms : left_ms);
	if (r == ROGER_OK && store->link.connection &&
	    (store->link.notified || is_due(store->looked_ns, LOOK_EACH_MS))) {
		store->link.notified = false;
		r = rg_pg_look(store, true, NULL);
	}
	/* They need no barrier of ours. */
	if (r == ROGER_OK && store->link.told > store->durable)
		store->durable = store->link.told;
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

static void forget_figures(struct postgres_store *store)
{
	rg_pg_forget_known(store);
	memset(&store->shared, 0, sizeof store->shared);
	store->row.epoch = 1;
	store->row_before.epoch = 0;
	store->blank = true;
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

/* In the transaction of the step that brings the new ones. */
static void put_renewal(struct postgres_store *store)
{
	const struct rg_arg *ws = RG_ARGS(RG_INT(store->ws));

	rg_link_put(&store->link, RG_ROLE_ASIDE, "DELETE FROM roger.agent WHERE ws = $1", ws);
	rg_link_put(&store->link, RG_ROLE_ASIDE, "DELETE FROM roger.count WHERE ws = $1", ws);
	rg_link_put(
		&store->link, RG_ROLE_ASIDE,
		"UPDATE roger.workspace SET chain = int8send($2), last_start = $3, last_chain = "
		"int8send($4) WHERE ws = $1",
		RG_ARGS(RG_INT(store->ws), RG_INT(store->row.chain), RG_INT(store->row.last),
			RG_INT(store->row.before_last)));
}

static int recompute(struct postgres_store *store, struct roger_err *err)
{
	struct rg_figure witness = { 0 };
	int r;

	store->above->recall(&store->base, &witness);
	r = take(store, &(struct rg_lock_wish){ RG_LOCK_APPEND, .wait_ms = RG_LOCK_WAIT_MS }, err);
	if (r < 0)
		return r;
	start(store, false);
	rg_buf_clear(&store->cache);
	forget_figures(store);
	rg_pg_put_figure(&store->base, &(struct rg_figure_key){ .kind = RG_FIGURE_WITNESS },
			 &witness);
	r = adopt_lines(store, err);
	if (r < 0)
		undo(store);
	else if (rg_pg_ready(store, NULL) == ROGER_OK)
		put_renewal(store);
	unlock(&store->base, RG_LOCK_APPEND, RG_STR(""));
	return r;
}

/* The figures are always durable: a checkpoint says only that the index may be kept, too. */
static bool keep(struct rg_store *base, enum rg_keep what)
{
	struct postgres_store *store = rg_pg_enter(base);
	struct roger_err why = { 0 };

	if (what == RG_KEEP_NOTHING && recompute(store, &why) < 0)
		snprintf(base->trouble, sizeof base->trouble,
			 "the figures could not be made from the lines: %.300s", why.message);
	rg_pg_leave(store);
	return what == RG_KEEP_NOW;
}

/* --------------------------------------------------------------- opening -- */

static struct rg_store *close_store(struct rg_store *base)
{
	struct postgres_store *store = of(base);

	if (store->ws && rg_pg_settle_noted(store, NULL) == ROGER_OK && store->link.connection) {
		put_look(store, RG_ROLE_ASIDE);
		rg_link_sync(&store->link);
		rg_link_drain(&store->link);
	}
	rg_link_close(&store->link);
	free(store->link.address);
	free(store->agents);
	rg_table_deinit(&store->known);
	rg_buf_deinit(&store->cache);
	rg_buf_deinit(&store->lines);
	rg_buf_deinit(&store->noted.entries);
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
	.finish = finish,
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

static const char row_by_name[] =
	"SELECT * FROM roger.look_1((SELECT ws FROM roger.workspace WHERE name = $1), NULL, NULL)";

/* All that opening asks, in one flush with what every connection is told. */
static void greet(void *context)
{
	struct postgres_store *store = context;
	const struct rg_arg *name = RG_ARGS(RG_TEXT(store->name));

	rg_link_put(&store->link, RG_ROLE_ASKED,
		    "SELECT (SELECT max(version) FROM roger.schema), (SELECT ws FROM "
		    "roger.workspace WHERE name = $1)",
		    name);
	rg_link_sync(&store->link);
	rg_link_put(&store->link, RG_ROLE_ASKED, row_by_name, name);
	rg_link_sync(&store->link);
}

static int find_workspace(struct postgres_store *store, struct roger_err *err)
{
	PGresult *result = NULL;
	int r;

	store->link.greet = greet;
	store->link.context = store;
	r = rg_link_open(&store->link, err);
	store->link.greet = NULL;
	if (r == ROGER_OK)
		r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	if (r == ROGER_OK)
		r = use_schema(store, result, store->name, err);
	PQclear(result);
	return r == ROGER_OK ? take_row(store, RG_ANSWER_MS, err) : r;
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
	rg_buf_init(&store->noted.entries, SIZE_MAX);
	store->turn = 1;
	store->base.ops = &operations;
	store->base.state = "message-state.json";
	store->base.notes_alone = true;
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
	int r;

	if (!store)
		return rg_fail_memory(err);
	store->link.address = rg_postgres_address(workspace);
	r = store->link.address ? rg_random(&store->who, sizeof store->who, err)
				: rg_fail_memory(err);
	if (r == ROGER_OK) {
		store->name = rg_postgres_cut_name(store->link.address);
		r = find_workspace(store, err);
	}
	if (r < 0) {
		close_store(&store->base);
		return r;
	}
	*ret_store = &store->base;
	return ROGER_OK;
}
