/*
 * store - a workspace whose lines are in PostgreSQL, led by one process.
 *
 * Its figures, locks and waits are those of store/process/; the lines are written by the
 * commit queue (write.c) of whoever leads (lead.c).  What is not in memory any more is
 * read from the database, so that whoever verifies sees what is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "host/process.h"
#include "store/lines.h"
#include "store/postgres/inside.h"

enum { AHEAD_BYTES = 256 << 10, DECIDE_MS = 60000, READ_MS = 4000 };

static char *configured_address(const struct rg_workspace *workspace)
{
	return strdup(workspace->config->store.data);
}

char *(*rg_postgres_address)(const struct rg_workspace *workspace) = configured_address;

/* ----------------------------------------------------------------- asking -- */

int rg_pg_ask(struct rg_link *link, int64_t wait_ms, const char *sql, const struct rg_arg *args,
	      PGresult **ret_result, struct roger_err *err)
{
	int r = rg_link_open(link, err);

	if (r < 0)
		return r;
	rg_link_put(link, sql, args);
	rg_link_sync(link);
	return rg_link_expect(link, wait_ms, ret_result, err);
}

void rg_pg_put_barrier(struct rg_link *link)
{
	link->warned = false;
	rg_link_put(link, "SELECT pg_logical_emit_message(true, 'roger', '')", NULL);
	rg_link_sync(link);
}

/* A warning means that the wait for the standby was cancelled, so success means nothing. */
int rg_pg_take_barrier(struct rg_link *link, struct roger_err *err)
{
	int r = rg_link_expect(link, RG_LOOK_MS, NULL, err);

	if (r < 0 || !link->warned)
		return r;
	rg_link_close(link);
	return rg_fail(err, ROGER_EIO, 0,
		       "PostgreSQL did not wait for its standby: it may not have the lines");
}

/* ---------------------------------------------------------------- reading -- */

void rg_pg_join_lines(const PGresult *result, uint64_t at, struct rg_buf *to)
{
	const uint64_t from = at - to->length;
	uint64_t start;
	int row;

	for (row = 0; row < PQntuples(result); row++) {
		start = (uint64_t)rg_column_int(result, row, 0);
		while (from + to->length < start && !to->failed)
			rg_buf_add_char(to, from + to->length + 1 < start ? 0 : '\n');
		rg_buf_add_str(to, rg_column_bytes(result, row, 1));
	}
}

static int64_t left_ms(int64_t until_ns)
{
	const int64_t ms = (until_ns - rg_clock_monotonic_ns()) / 1000000;

	return ms > 1 ? ms : 1;
}

/* Fill the cache by until_ns, connecting included, though libpq takes two seconds at least. */
static int fill_cache(struct rg_postgres *postgres, int64_t until_ns, struct rg_pg_cache *cache,
		      uint64_t journal, uint64_t from, size_t want, struct roger_err *err)
{
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	int r;

	cache->journal = 0;
	postgres->read.patience_ms = left_ms(until_ns);
	r = rg_link_open(&postgres->read, err);
	if (r < 0)
		return r;
	r = rg_pg_ask(&postgres->read, left_ms(until_ns) < READ_MS ? left_ms(until_ns) : READ_MS,
		      "SELECT start, text FROM roger.line WHERE journal = $1 AND start >= "
		      "coalesce((SELECT max(start) FROM roger.line WHERE journal = $1 AND start <= "
		      "$2), 0) AND start < $3 ORDER BY start",
		      RG_ARGS(RG_INT(journal), RG_INT(from),
			      RG_INT(from + (want > AHEAD_BYTES ? want : AHEAD_BYTES))),
		      &result, err);
	if (r < 0)
		return r;
	rg_buf_clear(&cache->bytes);
	cache->from = PQntuples(result) && (uint64_t)rg_column_int(result, 0, 0) < from
			      ? (uint64_t)rg_column_int(result, 0, 0)
			      : from;
	rg_pg_join_lines(result, cache->from, &cache->bytes);
	if (cache->bytes.failed)
		return rg_fail_memory(err);
	cache->journal = journal;
	return ROGER_OK;
}

static struct rg_pg_cache *find_cache(struct rg_postgres *postgres, uint64_t journal, uint64_t from)
{
	struct rg_pg_cache *cache;

	for (cache = postgres->caches; cache < postgres->caches + RG_PG_CACHES; cache++)
		if (cache->journal == journal && from >= cache->from &&
		    from < cache->from + cache->bytes.length)
			return cache;
	return NULL;
}

static int read_lines(struct rg_handle *handle, uint64_t journal, uint64_t from, char *room,
		      size_t want, size_t *ret_got, struct roger_err *err)
{
	struct rg_postgres *postgres = rg_postgres_of(handle->common);
	const int64_t start_ns = rg_clock_monotonic_ns();
	const int64_t until_ns =
		start_ns + rg_store_wait_ms(&handle->base, RG_LOCK_WAIT_MS) * INT64_C(1000000);
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
	struct rg_pg_cache *cache;
	size_t at;
	int r = ROGER_OK;

	*ret_got = 0;
	if (pthread_mutex_clocklock(&postgres->read_mutex, CLOCK_MONOTONIC, &until) != 0) {
		handle->base.works = false;
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "PostgreSQL does not answer whoever reads; try again");
	}
	/* A reader that starts at byte 0 wants to see what is there now. */
	cache = from ? find_cache(postgres, journal, from) : NULL;
	if (!cache) {
		cache = &postgres->caches[postgres->next_cache++ % RG_PG_CACHES];
		r = fill_cache(postgres, until_ns, cache, journal, from, want, err);
		/* The connection may have been lost since it was used last. */
		if (r == ROGER_ETIMEOUT &&
		    rg_clock_monotonic_ns() - start_ns < READ_MS * INT64_C(500000))
			r = fill_cache(postgres, until_ns, cache, journal, from, want, err);
	}
	if (r == ROGER_OK && from >= cache->from && from < cache->from + cache->bytes.length) {
		at = from - cache->from;
		*ret_got = cache->bytes.length - at < want ? cache->bytes.length - at : want;
		memcpy(room, cache->bytes.data + at, *ret_got);
	}
	pthread_mutex_unlock(&postgres->read_mutex);
	handle->base.works &= r == ROGER_OK;
	if (r == ROGER_EENGINE && err)
		err->code = ROGER_ETIMEOUT;
	return r == ROGER_EENGINE ? ROGER_ETIMEOUT : r;
}

/* ---------------------------------------------------------------- opening -- */

static int wait_until_ready(struct rg_handle *handle, struct roger_err *err)
{
	struct rg_common *common = handle->common;
	bool looks;
	int r;

	/* A handle for which nobody waits may look even where another server leads. */
	rg_common_lock(common);
	looks = !handle->base.asked && common->trails;
	memcpy(handle->base.standby, rg_postgres_of(common)->standby, sizeof handle->base.standby);
	rg_common_unlock(common);
	if (looks)
		return ROGER_OK;
	r = rg_pg_wait_until_ready(rg_postgres_of(common),
				   rg_store_wait_ms(&handle->base, RG_LOCK_WAIT_MS), err);
	/* Further work, such as noting the failure, need not wait again. */
	handle->base.works &= r == ROGER_OK;
	return r;
}

static void free_postgres(struct rg_postgres *postgres)
{
	size_t i;

	rg_link_close(&postgres->keep);
	rg_link_close(&postgres->write);
	rg_link_close(&postgres->read);
	for (i = 0; i < RG_PG_CACHES; i++)
		rg_buf_deinit(&postgres->caches[i].bytes);
	pthread_mutex_destroy(&postgres->read_mutex);
	free(postgres->address);
	free(postgres);
}

static void end_postgres(struct rg_common *common)
{
	struct rg_postgres *postgres = common->kept_by;

	if (!postgres)
		return;
	rg_common_lock(common);
	postgres->ending = true;
	pthread_cond_broadcast(&common->queued);
	pthread_cond_broadcast(&common->covered_more);
	rg_common_unlock(common);
	if (postgres->keeps)
		pthread_join(postgres->keeper, NULL);
	free_postgres(postgres);
}

static int use_schema(struct rg_postgres *postgres, const PGresult *result, struct roger_err *err)
{
	const int64_t version = rg_column_int(result, 0, 0);

	if (version > rg_postgres_schema_version())
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "the database's tables are of a newer roger: update this one");
	if (version < rg_postgres_schema_version())
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "the database's tables are of an older roger; `roger upgrade` "
			       "brings them up to date");
	postgres->ws = rg_column_int(result, 0, 1);
	return postgres->ws ? ROGER_OK
			    : rg_fail(err, ROGER_ECONFIG, 0,
				      "the database has no workspace '%s'; `roger init` adds it",
				      postgres->name);
}

static int find_workspace(struct rg_postgres *postgres, struct roger_err *err)
{
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	int r;

	r = rg_pg_ask(&postgres->keep, RG_ANSWER_MS,
		      "SELECT (SELECT max(version) FROM roger.schema), (SELECT ws FROM "
		      "roger.workspace WHERE name = $1)",
		      RG_ARGS(RG_TEXT(postgres->name)), &result, err);
	return r < 0 ? r : use_schema(postgres, result, err);
}

/* Begin with the first handle: connect, then let the threads do the rest. */
static int begin_postgres(struct rg_handle *first, char *address, struct roger_err *err)
{
	struct rg_postgres *postgres = calloc(1, sizeof *postgres);
	struct rg_common *common = first->common;
	char host[64] = "";
	struct rg_process self;
	size_t i;
	int r;

	if (!postgres || !address) {
		free(postgres);
		free(address);
		return rg_fail_memory(err);
	}
	postgres->common = common;
	postgres->address = address;
	postgres->name = rg_postgres_cut_name(address);
	postgres->keep.address = postgres->write.address = postgres->read.address = address;
	pthread_mutex_init(&postgres->read_mutex, NULL);
	for (i = 0; i < RG_PG_CACHES; i++)
		rg_buf_init(&postgres->caches[i].bytes, SIZE_MAX);
	common->kept_by = postgres;
	common->trails = true;
	rg_boot_id(common->era);
	postgres->self = *first;
	postgres->self.inner = true;
	postgres->own.moving = true;
	postgres->self.workspace = &postgres->own;
	postgres->generation = -1;
	gethostname(host, sizeof host - 1);
	rg_process_find(getpid(), &self);
	snprintf(postgres->who, sizeof postgres->who, "process %lld on %s (%lld %lld %s)",
		 (long long)self.id, host, (long long)self.start, (long long)self.space,
		 self.boot_id);
	r = find_workspace(postgres, err);
	if (r < 0)
		return r;
	postgres->writes = rg_thread_start(&postgres->writer, rg_pg_write, postgres);
	postgres->keeps =
		postgres->writes && rg_thread_start(&postgres->keeper, rg_pg_keep, postgres);
	return postgres->keeps ? ROGER_OK : rg_fail(err, ROGER_EIO, 0, "start a thread");
}

/* Wait until it is known who leads; fail at once if no further try can help. */
static int wait_decided(struct rg_postgres *postgres, struct roger_err *err)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + DECIDE_MS * INT64_C(1000000);
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = rg_common_lock(postgres->common);
	const struct roger_err *trouble = &postgres->trouble;

	while (!postgres->decided) {
		if (trouble->code == ROGER_EREFUSED || trouble->code == ROGER_ECONFIG)
			return rg_fail(err, trouble->code, 0, "%s", trouble->message);
		if (!rg_common_wait(common, &common->covered_more, until_ns))
			return rg_fail(err, ROGER_ETIMEOUT, 0,
				       "the lines were not read in time%s%.300s",
				       *trouble->message ? ": " : "", trouble->message);
	}
	return ROGER_OK;
}

int rg_postgres_store_open(struct rg_workspace *workspace, const struct rg_store_above *above,
			   struct rg_store **ret_store, struct roger_err *err)
{
	static const struct rg_keeping keeping = { wait_until_ready, read_lines, end_postgres };
	static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
	char *address = rg_postgres_address(workspace);
	struct rg_handle *handle;
	bool fresh;
	int r;

	if (!address)
		return rg_fail_memory(err);
	pthread_mutex_lock(&opening);
	r = rg_common_open(address, &keeping, sizeof *handle, workspace, above, &handle, &fresh,
			   err);
	if (r == ROGER_OK && fresh)
		r = begin_postgres(handle, address, err);
	else
		free(address);
	pthread_mutex_unlock(&opening);
	if (r == ROGER_OK)
		r = wait_decided(rg_postgres_of(handle->common), err);
	if (r < 0) {
		if (handle)
			handle->base.ops->close(&handle->base);
		return r;
	}
	handle->base.elsewhere = true;
	rg_common_note_standing(handle);
	*ret_store = &handle->base;
	return ROGER_OK;
}
