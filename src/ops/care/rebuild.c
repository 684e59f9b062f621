/* rebuild: make the index anew from the journal. */
#include "ops/op.h"

static int run(struct roger *roger, const void *request, void *reply, struct roger_err *err)
{
	(void)request;
	return rg_engine_rebuild(roger->engine, reply, err);
}

#define AT(member) offsetof(struct roger_rebuild_reply, member)
static const struct roger_field fields[] = {
	{ "lines", ROGER_INT, AT(lines), 0, NULL, NULL, "lines read" },
	{ "messages", ROGER_INT, AT(messages), 0, NULL, NULL, "living messages" },
	{ "strays", ROGER_INT, AT(strays), 0, NULL, NULL, "lines that are no messages" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "rebuilt", sizeof(struct roger_rebuild_reply),
						  fields };

const struct roger_op rg_op_rebuild = {
	.name = "rebuild",
	.summary = "rebuild the index and messages.db from messages.jsonl",
	.examples = "roger rebuild\n",
	.flags = ROGER_WRITES | ROGER_ADMINISTERS,
	.request = &rg_empty_request_record,
	.reply = &reply_record,
	.run = run,
};
