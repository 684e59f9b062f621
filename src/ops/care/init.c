/* init: make a workspace. */
#include "ops/op.h"

#include "host/storage.h"

/* Make the tables and the name in a database, and report what was made. */
static int prepare_store(const char *root, const struct roger_init_request *request,
			 struct roger_init_reply *reply, struct roger_err *err)
{
	struct rg_workspace *workspace = NULL;
	int steps, r = rg_engine_prepare_store(root, request->second, &steps, err);

	if (r == ROGER_OK)
		r = rg_workspace_open(root, &workspace, err);
	if (r < 0)
		return r;
	reply->steps = steps;
	reply->store = rg_arena_str(reply->memory, rg_store_place(workspace));
	rg_workspace_close(workspace);
	return ROGER_OK;
}

int rg_verb_init(struct roger *roger, const struct roger_init_request *request,
		 struct roger_init_reply *reply, struct roger_err *err)
{
	char path[4096], root[4096], above[4096], why[RG_WHY_BYTES];
	struct rg_worktree tree = { 0 };
	struct rg_config *config;
	bool elsewhere;
	int r;

	(void)roger;
	r = rg_op_path(request->path, "path", path, err);
	if (r == ROGER_OK)
		r = rg_engine_check_store(path[0] ? path : ".", &elsewhere, err);
	if (r == ROGER_OK && rg_workspace_home(path[0] ? path : ".", root, &tree, NULL) < 0)
		tree.base[0] = '\0';
	if (r == ROGER_OK)
		r = rg_workspace_make(path[0] ? path : ".", &reply->created, root, why, err);
	if (r == ROGER_OK && elsewhere)
		r = prepare_store(root, request, reply, err);
	if (r < 0)
		return r;
	reply->workspace = rg_arena_str(reply->memory, rg_str(root));
	reply->not_trusted = rg_arena_str(reply->memory, rg_str(why));
	reply->worktree = rg_arena_str(reply->memory, rg_str(tree.base));
	if (reply->created && rg_workspace_above(root, above))
		reply->above = rg_arena_str(reply->memory, rg_str(above));
	/* An error in the configuration is reported by the next verb that needs it. */
	if (rg_config_load(root, &config, NULL) < 0)
		return ROGER_OK;
	r = rg_storage_unused(config, root, reply->memory, &reply->unused, err);
	rg_config_free(config);
	return r;
}
