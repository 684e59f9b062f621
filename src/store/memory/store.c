/* The memory store: what the handles of one process share, and nothing else. */
#include "store/memory/memory.h"

#include "store/process/process.h"

int rg_memory_store_open(struct rg_workspace *workspace, const struct rg_store_above *above,
			 struct rg_store **ret_store, struct roger_err *err)
{
	struct rg_handle *handle;
	bool fresh;
	int r = rg_common_open(workspace->data_path, NULL, sizeof *handle, workspace, above,
			       &handle, &fresh, err);

	if (r == ROGER_OK)
		*ret_store = &handle->base;
	return r;
}

char *rg_memory_store_text(const char *data_path)
{
	struct rg_common *common = rg_common_find(data_path);

	return common ? common->messages->text.data : NULL;
}
