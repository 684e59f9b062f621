#include "store/store.h"

#include "base/id.h"
#include "base/limits.h"
#include "host/workspace.h"

/* A reader does not wait longer for a writer that makes no progress. */
enum { SOON_MS = 200 };

/* NULL: this program is linked without store/postgres/. */
rg_store_opener rg_postgres_store_open __attribute__((weak));
int rg_postgres_prepare(struct rg_workspace *workspace, struct roger_err *err)
	__attribute__((weak));

static int fail_without(struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EENGINE, "store",
			      "store: this program is linked without PostgreSQL: it needs "
			      "libroger-postgres in place of libroger");
}

static int open_configured(struct rg_workspace *workspace, const struct rg_store_above *above,
			   struct rg_store **ret_store, struct roger_err *err)
{
	if (!workspace->config->store.length)
		return rg_file_store_open(workspace, above, ret_store, err);
	return rg_postgres_store_open ? rg_postgres_store_open(workspace, above, ret_store, err)
				      : fail_without(err);
}

rg_store_opener *rg_store_open = open_configured;

int rg_store_prepare(struct rg_workspace *workspace, struct roger_err *err)
{
	return workspace->config->store.length ? rg_postgres_prepare(workspace, err) : ROGER_OK;
}

int rg_store_check(const struct rg_config *config, struct roger_err *err)
{
	return config->store.length && !rg_postgres_prepare ? fail_without(err) : ROGER_OK;
}

const struct rg_log_file rg_store_messages = { .log = RG_LOG_MESSAGES };

uint64_t rg_count_hash(enum rg_count kind, struct roger_str first, struct roger_str second)
{
	uint64_t hash = rg_hash(rg_hash((uint64_t)kind + 1, first.data, first.length), second.data,
				second.length);

	return hash ? hash : 1;
}

int rg_store_begin(struct rg_store *store, size_t agents, size_t counts, struct roger_err *err)
{
	const struct rg_lock_wish wish = { RG_LOCK_APPEND, RG_LOCK_WAIT_MS, { "", 0 },
					   agents,	   counts,	    false };

	return store->ops->lock(store, &wish, err);
}

int rg_store_begin_guess(struct rg_store *store, size_t agents, size_t counts,
			 struct roger_err *err)
{
	const struct rg_lock_wish wish = { RG_LOCK_APPEND, RG_LOCK_WAIT_MS, { "", 0 },
					   agents,	   counts,	    true };

	return store->ops->lock(store, &wish, err);
}

int rg_store_finish(struct rg_store *store, uint64_t *end, struct roger_err *err)
{
	if (store->ops->finish)
		return store->ops->finish(store, end, err);
	rg_store_release(store, RG_LOCK_APPEND);
	return ROGER_OK;
}

bool rg_store_begin_soon(struct rg_store *store, size_t counts)
{
	const struct rg_lock_wish wish = { RG_LOCK_APPEND, SOON_MS, { "", 0 }, 0, counts, false };

	return store->ops->lock(store, &wish, NULL) == ROGER_OK;
}

int rg_store_read_line(struct rg_store *store, uint64_t offset, size_t length, struct rg_buf *out,
		       struct roger_err *err)
{
	char *room = rg_buf_room(out, length);
	size_t got;
	int r;

	if (!room)
		return rg_fail_memory(err);
	r = store->ops->read(store, &rg_store_messages, offset, room, length, &got, err);
	if (r < 0)
		return r;
	if (got < length)
		return rg_fail(err, ROGER_EIO, 0, "the journal ends before byte %llu",
			       (unsigned long long)(offset + length));
	out->length += got;
	return ROGER_OK;
}
