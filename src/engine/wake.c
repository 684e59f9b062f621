/*
 * What waking needs of the files: whose turn it is to wake an agent, and which
 * messages an agent was shown already.
 *
 * A turn is a lock of the system on one byte of wake.lock, an empty file; it
 * goes with the process.  What was shown is counted in the control file, so that
 * a look at what is known costs nothing; that holds until the machine starts
 * again, and then a look is noted once more.
 */
#include "engine/inside.h"

#include "host/file.h"

/* A reader does not wait for a writer that stands still. */
enum { SOON_MS = 200 };

static const char lock_name[] = "wake.lock";

/* Where its byte is: two agents that share one wait for each other, and no more. */
static int64_t byte_of(struct roger_str agent)
{
	return (int64_t)(rg_hash(0, agent.data, agent.length) >> 2);
}

int rg_engine_turn_take(struct rg_engine *engine, struct roger_str agent, bool *ret_taken,
			struct roger_err *err)
{
	int r;

	if (engine->turns == RG_NO_FILE) {
		r = rg_file_open(engine->workspace->data, lock_name, RG_FILE_CREATE_APPEND,
				 &engine->turns, err);
		if (r < 0)
			return r;
	}
	return rg_file_lock_byte(engine->turns, byte_of(agent), lock_name, ret_taken, err);
}

void rg_engine_turn_end(struct rg_engine *engine, struct roger_str agent)
{
	rg_file_unlock_byte(engine->turns, byte_of(agent));
}

int rg_engine_records_soon(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_journal *journal = engine->journal;

	if (!rg_journal_writable(journal))
		return rg_fail(err, ROGER_EIO, 0, "the workspace can only be read");
	return rg_journal_take(journal, RG_LOCK_RECORDS, SOON_MS, err);
}

bool rg_engine_shown(struct rg_engine *engine, struct roger_str agent, struct roger_str id)
{
	struct rg_control *control = rg_journal_control(engine->journal);

	/* Who can only read can note nothing. */
	return !control ||
	       rg_control_find_count(control, rg_count_hash(RG_COUNT_SHOWN, agent, id)) > 0;
}

void rg_engine_note_shown(struct rg_engine *engine, struct roger_str agent,
			  const struct roger_str *ids, size_t count, bool shown)
{
	struct rg_journal *journal = engine->journal;
	size_t i;

	/* Not noted, it is looked at and written down once more. */
	if (!rg_journal_writable(journal) || !rg_journal_lock_soon(journal, count))
		return;
	for (i = 0; i < count; i++)
		rg_control_put_count(rg_journal_control(journal),
				     rg_count_hash(RG_COUNT_SHOWN, agent, ids[i]), shown);
	rg_journal_unlock(journal);
}
