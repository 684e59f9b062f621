/*
 * What waking an agent needs: the lock that lets one process wake it, and which
 * messages it was shown already.
 *
 * The lock ends with the process.  Shown messages are counters, which are fast to
 * ask but forgotten when the machine starts; then a look is recorded once more.
 */
#include "engine/inside.h"

/* A reader does not wait longer for a writer that makes no progress. */
enum { SOON_MS = 200 };

int rg_engine_turn_take(struct rg_engine *engine, struct roger_str agent, bool *ret_taken,
			struct roger_err *err)
{
	const struct rg_lock_wish wish = { .which = RG_LOCK_WAKE, .agent = agent };
	int r = engine->store->ops->lock(engine->store, &wish, err);

	*ret_taken = r == ROGER_OK;
	return r == ROGER_ETIMEOUT ? ROGER_OK : r;
}

void rg_engine_turn_end(struct rg_engine *engine, struct roger_str agent)
{
	engine->store->ops->unlock(engine->store, RG_LOCK_WAKE, agent);
}

int rg_engine_records_begin_soon(struct rg_engine *engine, struct roger_err *err)
{
	if (!rg_store_writable(engine->store))
		return rg_fail(err, ROGER_EIO, 0, "the workspace can only be read");
	return rg_store_take(engine->store, RG_LOCK_RECORDS, SOON_MS, err);
}

bool rg_engine_shown(struct rg_engine *engine, struct roger_str agent, struct roger_str id)
{
	/* A read-only process cannot record it. */
	return !rg_store_writable(engine->store) ||
	       rg_tally_count(engine->store, rg_count_hash(RG_COUNT_SHOWN, agent, id)) > 0;
}

void rg_engine_note_shown(struct rg_engine *engine, struct roger_str agent,
			  const struct roger_str *ids, size_t count, bool shown)
{
	size_t i;

	/* If it is not counted, the look is recorded once more. */
	if (!rg_store_writable(engine->store) || !rg_store_begin_soon(engine->store, count))
		return;
	for (i = 0; i < count; i++)
		rg_tally_put_count(engine->store, rg_count_hash(RG_COUNT_SHOWN, agent, ids[i]),
				   shown);
	rg_store_release(engine->store, RG_LOCK_APPEND);
}
