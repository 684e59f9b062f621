/* upgrade: bring a database up to this program's version; files need nothing. */
#include "ops/op.h"

int rg_verb_upgrade(struct roger *roger, const struct roger_upgrade_request *request,
		    struct roger_upgrade_reply *reply, struct roger_err *err)
{
	struct rg_workspace *workspace = NULL;
	int applied = 0, r = ROGER_OK;
	char path[4096];

	(void)roger;
	r = rg_op_path(request->path, "path", path, err);
	if (r == ROGER_OK)
		r = rg_workspace_open(path[0] ? path : NULL, &workspace, err);
	if (r == ROGER_OK)
		r = rg_store_check(workspace->config, err);
	if (r == ROGER_OK)
		r = rg_store_prepare(workspace, &applied, err);
	reply->steps = applied;
	reply->files = r == ROGER_OK && !workspace->config->store.length;
	if (r == ROGER_OK)
		reply->store = rg_arena_str(reply->memory, rg_store_place(workspace));
	rg_workspace_close(workspace);
	return r;
}
