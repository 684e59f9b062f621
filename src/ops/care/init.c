/* init: make a workspace. */
#include "ops/op.h"

#include <stdio.h>

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_init_request *request = request_;
	struct roger_init_reply *reply = reply_;
	char path[4096], root[4096], above[4096], why[RG_WHY_BYTES];
	bool elsewhere;
	int r;

	(void)roger;
	if (request->path.length >= sizeof path)
		return rg_fail_member(err, ROGER_EDATA, "path", "path: expected at most %zu bytes",
				      sizeof path - 1);
	snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(request->path));
	r = rg_engine_check_store(path[0] ? path : ".", &elsewhere, err);
	if (r == ROGER_OK)
		r = rg_workspace_make(path[0] ? path : ".", &reply->created, root, why, err);
	if (r == ROGER_OK && elsewhere)
		r = rg_engine_prepare_store(root, err);
	if (r < 0)
		return r;
	if (!rg_arena_copy(reply->memory, rg_str(root), &reply->workspace) ||
	    !rg_arena_copy(reply->memory, rg_str(why), &reply->not_trusted) ||
	    (reply->created && rg_workspace_above(root, above) &&
	     !rg_arena_copy(reply->memory, rg_str(above), &reply->above)))
		return rg_fail_memory(err);
	return ROGER_OK;
}

static const struct roger_field request_fields[] = {
	{ "path", ROGER_TEXT, offsetof(struct roger_init_request, path), ROGER_PLACE, NULL, NULL,
	  "folder that gets .roger/ (default: the current one)" },
	RG_END,
};
static const struct roger_record request_record = { "request", sizeof(struct roger_init_request),
						    request_fields };

static const struct roger_field reply_fields[] = {
	{ "workspace", ROGER_TEXT, offsetof(struct roger_init_reply, workspace), 0, NULL, NULL,
	  "its path" },
	{ "created", ROGER_BOOL, offsetof(struct roger_init_reply, created), 0, NULL, NULL,
	  "false: there was one already" },
	{ "above", ROGER_TEXT, offsetof(struct roger_init_reply, above), ROGER_SPARE, NULL, NULL,
	  "a workspace in a folder above it, which is not seen from here any more" },
	{ "not_trusted", ROGER_TEXT, offsetof(struct roger_init_reply, not_trusted), ROGER_SPARE,
	  NULL, NULL, "why it is not trusted; see trust" },
	RG_END,
};
static const struct roger_record reply_record = { "workspace", sizeof(struct roger_init_reply),
						  reply_fields };

const struct roger_op rg_op_init = {
	.name = "init",
	.summary = "make a workspace",
	.examples = "roger init\nroger init ~/project\n",
	.flags = ROGER_WRITES | ROGER_NO_WORKSPACE,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
