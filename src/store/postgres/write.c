/*
 * write - the commit queue: the changes of many threads go out together.
 *
 * One call of roger.write_3() commits without waiting for the disk; after it, in the same flush
 * of the network, goes a barrier: a tiny transaction that waits for the disk and the standby.
 * Only the barrier covers.  When the connection is lost, the number of writes in the workspace's
 * row says whether the last one was committed: nobody else writes in this generation.
 */
#include "store/postgres/inside.h"

#include "base/clock.h"

enum { AGAIN_MS = 50, BATCH_BYTES_MAX = 16 << 20 };

/* The arguments of roger.write_3(). */
enum array {
	NUMBERS,
	STARTS,
	TEXTS,
	MADE,
	LOGS,
	CALLED,
	SIZES,
	CHAINS,
	GONE,
	KINDS,
	NAMES,
	DOCUMENTS,
	KEYS,
	ANSWERS,
	ARRAYS
};

struct batch {
	struct rg_change *first;
	unsigned life;
	uint64_t changes, messages; /* covered once the batch is */
	uint64_t ends, chain;	    /* of messages */
	int64_t generation, step;
	const char *standing;
	struct roger_str place;
	struct rg_buf arrays[ARRAYS];
	struct rg_arg closed[ARRAYS];
};

/* ------------------------------------------------------------ what is written -- */

/* Needs the mutex.  Take as much from the queue as is sent at once. */
static void take_batch(struct rg_postgres *postgres, struct batch *batch)
{
	struct rg_common *common = postgres->common;

	rg_assert(rg_common_has(postgres->common));
	*batch = (struct batch){ .first = rg_common_take(common, BATCH_BYTES_MAX),
				 .life = common->life,
				 .generation = postgres->generation,
				 .step = postgres->step };
	batch->changes = common->taken;
	batch->ends = common->written_end;
	batch->chain = common->written_chain;
}

static void add_lines(struct batch *batch, const struct rg_change *change)
{
	const char *at = change->bytes.data, *all = at + change->bytes.length, *end;
	uint64_t start = change->start;

	for (; at < all; at = end) {
		end = (const char *)memchr(at, '\n', (size_t)(all - at)) + 1;
		rg_array_add_int(&batch->arrays[NUMBERS], (int64_t)change->number);
		rg_array_add_int(&batch->arrays[STARTS], (int64_t)start);
		rg_array_add(&batch->arrays[TEXTS], (struct roger_str){ at, (size_t)(end - at) });
		start += (size_t)(end - at);
	}
}

/* Is this the last change of its journal or document in the batch?  The row of a journal says what
 * that one says. */
static bool is_last(const struct rg_change *change)
{
	const bool is_document = change->kind == RG_CHANGE_DOCUMENT;
	const struct rg_change *later;

	for (later = change->next; later; later = later->next)
		if (later->kind <= RG_CHANGE_DOCUMENT &&
		    (later->kind == RG_CHANGE_DOCUMENT) == is_document &&
		    later->log == change->log && later->which == change->which &&
		    strcmp(later->name, change->name) == 0)
			return false;
	return true;
}

static void add_row(struct batch *batch, const struct rg_change *change)
{
	const bool lines = change->kind == RG_CHANGE_LINES;

	if (change->log == RG_LOG_MESSAGES) {
		batch->ends = change->start + change->bytes.length;
		batch->chain = change->chain;
		return;
	}
	if (!is_last(change))
		return;
	rg_array_add_int(&batch->arrays[MADE], (int64_t)change->number);
	rg_array_add_int(&batch->arrays[LOGS], (int64_t)change->log);
	rg_array_add(&batch->arrays[CALLED], rg_str(change->name));
	rg_array_add_int(&batch->arrays[SIZES],
			 lines ? (int64_t)(change->start + change->bytes.length) : 0);
	rg_array_add_int(&batch->arrays[CHAINS], lines ? (int64_t)change->chain : 0);
}

static void add_change(struct batch *batch, const struct rg_change *change)
{
	if (change->key[0]) {
		rg_array_add(&batch->arrays[KEYS], rg_str(change->key));
		rg_array_add(&batch->arrays[ANSWERS], rg_buf_str(&change->answer));
	}
	switch (change->kind) {
	case RG_CHANGE_LINES:
		add_lines(batch, change);
		add_row(batch, change);
		break;
	case RG_CHANGE_REWRITE:
		rg_array_add_int(&batch->arrays[GONE], (int64_t)change->old);
		add_row(batch, change);
		break;
	case RG_CHANGE_DOCUMENT:
		if (!is_last(change))
			break;
		rg_array_add_int(&batch->arrays[KINDS], change->which);
		rg_array_add(&batch->arrays[NAMES], rg_str(change->name));
		rg_array_add(&batch->arrays[DOCUMENTS], rg_buf_str(&change->bytes));
		break;
	case RG_CHANGE_STANDING:
		batch->standing = rg_standings[change->standing];
		batch->place = rg_buf_str(&change->bytes);
		break;
	case RG_CHANGE_ANSWER:
		break;
	}
}

static void make_arrays(struct batch *batch)
{
	const struct rg_change *change;
	size_t i;

	rg_assert(batch->first != NULL);
	for (i = 0; i < ARRAYS; i++)
		rg_array_open(&batch->arrays[i], i == TEXTS || i == CALLED || i >= NAMES
							 ? RG_ARRAY_BYTES
							 : RG_ARRAY_INTS);
	for (change = batch->first; change; change = change->next)
		add_change(batch, change);
	for (i = 0; i < ARRAYS; i++)
		batch->closed[i] = rg_array_close(&batch->arrays[i]);
}

static void free_batch(struct batch *batch)
{
	struct rg_change *change;
	size_t i;

	while ((change = batch->first)) {
		batch->first = change->next;
		rg_change_free(change);
	}
	for (i = 0; i < ARRAYS; i++)
		rg_buf_deinit(&batch->arrays[i]);
}

static void put_batch(struct rg_postgres *postgres, const struct batch *batch)
{
	const struct rg_arg *arrays = batch->closed;

	rg_link_put(
		&postgres->write,
		"SELECT roger.write_3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
		"$14, $15, $16, $17, $18, $19, $20, $21)",
		RG_ARGS(RG_INT(postgres->ws), RG_INT(batch->generation), RG_INT(batch->step),
			RG_INT(batch->ends), RG_INT(batch->chain), arrays[NUMBERS], arrays[STARTS],
			arrays[TEXTS], arrays[MADE], arrays[LOGS], arrays[CALLED], arrays[SIZES],
			arrays[CHAINS], arrays[GONE], arrays[KINDS], arrays[NAMES],
			arrays[DOCUMENTS], arrays[KEYS], arrays[ANSWERS], RG_TEXT(batch->standing),
			batch->standing ? RG_BYTES(batch->place.length ? batch->place : RG_STR(""))
					: RG_NULL));
	rg_link_sync(&postgres->write);
}

/* --------------------------------------------------------------- what became of it -- */

enum fate { WRITTEN, NOT_YET, REFUSED };

/* Was the batch written?  Nobody else writes in this generation. */
static enum fate look_at_fate(struct rg_postgres *postgres, const struct batch *batch)
{
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;

	if (rg_pg_ask(&postgres->write, RG_LOOK_MS,
		      "SELECT generation, writes FROM roger.workspace WHERE ws = $1",
		      RG_ARGS(RG_INT(postgres->ws)), &result, NULL) < 0)
		return NOT_YET;
	if (!PQntuples(result) || rg_column_int(result, 0, 0) != batch->generation)
		return REFUSED;
	if (rg_column_int(result, 0, 1) == batch->step + 1)
		return WRITTEN;
	return rg_column_int(result, 0, 1) == batch->step ? NOT_YET : REFUSED;
}

static bool go_on(struct rg_postgres *postgres, const struct batch *batch)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = rg_common_lock(postgres->common);

	return !postgres->ending && common->life == batch->life;
}

/* Wait until what is written is on disk and on the standby. */
static bool cover_writes(struct rg_postgres *postgres)
{
	rg_pg_put_barrier(&postgres->write);
	return rg_pg_take_barrier(&postgres->write, NULL) == ROGER_OK;
}

/* A long batch gets more time. */
static int64_t wait_ms(const struct batch *batch)
{
	return RG_LOOK_MS + (int64_t)(batch->arrays[TEXTS].length >> 10);
}

/* Send the batch once, in one flush with its barrier. */
static enum fate write_once(struct rg_postgres *postgres, const struct batch *batch,
			    bool *ret_covered)
{
	struct roger_err why = { 0 };
	int r;

	put_batch(postgres, batch);
	rg_pg_put_barrier(&postgres->write);
	r = rg_link_expect(&postgres->write, wait_ms(batch), NULL, &why);
	if (r == ROGER_OK) {
		*ret_covered = rg_pg_take_barrier(&postgres->write, &why) == ROGER_OK;
		return WRITTEN;
	}
	if (postgres->write.connection)
		rg_link_drain(&postgres->write);
	/* If the server refuses for a reason of its own, such as a full disk, the batch is tried
	 * again. */
	if (r != ROGER_ENOENT && r != ROGER_ETIMEOUT)
		rg_link_close(&postgres->write);
	rg_common_lock(postgres->common);
	postgres->trouble = why;
	rg_common_unlock(postgres->common);
	return NOT_YET;
}

/* Write the batch until it is covered, or never can be. */
static enum fate write_batch(struct rg_postgres *postgres, const struct batch *batch)
{
	enum fate fate = NOT_YET;
	bool covered = false, asked = false;

	while (!covered) {
		if (rg_link_open(&postgres->write, NULL) < 0) {
			if (!go_on(postgres, batch))
				return REFUSED;
			rg_clock_sleep(AGAIN_MS);
			continue;
		}
		if (asked)
			fate = look_at_fate(postgres, batch);
		if (fate == REFUSED)
			return fate;
		if (fate == WRITTEN)
			covered = cover_writes(postgres);
		else if (postgres->write.connection)
			fate = write_once(postgres, batch, &covered);
		if (!covered && !go_on(postgres, batch))
			return REFUSED;
		if (!covered && asked)
			rg_clock_sleep(AGAIN_MS);
		asked = true;
	}
	return WRITTEN;
}

/* Needs the mutex.  Cover the batch, or stop leading. */
static void settle_batch(struct rg_postgres *postgres, const struct batch *batch, enum fate fate)
{
	struct rg_common *common = postgres->common;

	rg_assert(rg_common_has(postgres->common));
	if (common->life != batch->life)
		return;
	if (fate != WRITTEN) {
		rg_pg_depose(postgres);
		return;
	}
	postgres->step = batch->step + 1;
	common->written_end = batch->ends;
	common->written_chain = batch->chain;
	rg_common_cover(common, batch->changes, batch->ends);
}

void *rg_pg_write(void *postgres_)
{
	struct rg_postgres *postgres = postgres_;
	struct rg_common *common = postgres->common;
	struct batch batch;
	enum fate fate;

	rg_common_lock(common);
	for (;;) {
		take_batch(postgres, &batch);
		if (!batch.first && postgres->ending)
			break;
		if (!batch.first) {
			(void)rg_common_wait(common, &common->queued, INT64_MAX);
			continue;
		}
		rg_common_unlock(common);
		make_arrays(&batch);
		fate = write_batch(postgres, &batch);
		rg_common_lock(common);
		settle_batch(postgres, &batch, fate);
		free_batch(&batch);
	}
	rg_common_unlock(common);
	rg_link_close(&postgres->write);
	return NULL;
}
