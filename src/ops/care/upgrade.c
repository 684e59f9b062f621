/* upgrade: bring a store up to this program; files need nothing. */
#include "ops/op.h"

#include <stdio.h>

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_upgrade_request *request = request_;
	struct roger_upgrade_reply *reply = reply_;
	struct rg_workspace *workspace = NULL;
	int applied = 0, r = ROGER_OK;
	char path[4096];

	(void)roger;
	if (request->path.length >= sizeof path)
		return rg_fail_member(err, ROGER_EDATA, "path", "path: expected at most %zu bytes",
				      sizeof path - 1);
	snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(request->path));
	r = rg_workspace_open(path[0] ? path : NULL, &workspace, err);
	if (r == ROGER_OK)
		r = rg_store_check(workspace->config, err);
	if (r == ROGER_OK)
		r = rg_store_prepare(workspace, &applied, err);
	reply->steps = applied;
	reply->files = r == ROGER_OK && !workspace->config->store.length;
	if (r == ROGER_OK &&
	    !rg_arena_copy(reply->memory, rg_store_place(workspace), &reply->store))
		r = rg_fail_memory(err);
	rg_workspace_close(workspace);
	return r;
}

static const struct roger_field request_fields[] = {
	{ "path", ROGER_TEXT, offsetof(struct roger_upgrade_request, path), ROGER_PLACE, NULL, NULL,
	  "at or below the workspace (default: as for every command)" },
	RG_END,
};
static const struct roger_record request_record = { "request", sizeof(struct roger_upgrade_request),
						    request_fields };

#define AT(member) offsetof(struct roger_upgrade_reply, member)
static const struct roger_field reply_fields[] = {
	{ "store", ROGER_TEXT, AT(store), 0, NULL, NULL, "its address, or the folder" },
	{ "files", ROGER_BOOL, AT(files), 0, NULL, NULL, "files, which need no upgrade" },
	{ "steps", ROGER_INT, AT(steps), 0, NULL, NULL, "of the tables that were missing" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "upgraded", sizeof(struct roger_upgrade_reply),
						  reply_fields };

const struct roger_op rg_op_upgrade = {
	.name = "upgrade",
	.summary = "bring the tables in PostgreSQL up to this roger",
	.examples = "roger upgrade\n",
	.flags = ROGER_WRITES | ROGER_NO_WORKSPACE,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
