/*
 * The store in memory, on a disk that takes 2 ms for each sync.
 */
#include "store/slow/slow.h"

#include "base/clock.h"
#include "store/memory/memory.h"

static const struct rg_store_ops *quick;
static struct rg_store_ops operations;

static int sync_journal(struct rg_store *store, const struct rg_log_file *file, uint64_t end,
			struct roger_err *err)
{
	rg_clock_sleep(2);
	return quick->sync(store, file, end, err);
}

int rg_slow_store_open(struct rg_workspace *workspace, const struct rg_store_above *above,
		       struct rg_store **ret_store, struct roger_err *err)
{
	int r = rg_memory_store_open(workspace, above, ret_store, err);

	if (r < 0)
		return r;
	quick = (*ret_store)->ops;
	operations = *quick;
	operations.sync = sync_journal;
	(*ret_store)->ops = &operations;
	return ROGER_OK;
}
