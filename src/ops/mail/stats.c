/* stats: figures about the workspace. */
#include "ops/op.h"

static int run(struct roger *roger, const void *request, void *reply_, struct roger_err *err)
{
	struct roger_stats_reply *reply = reply_;
	struct rg_figures figures;
	int r;

	(void)request;
	r = rg_engine_figures(roger->engine, &figures, err);
	if (r < 0)
		return r;
	*reply = (struct roger_stats_reply){
		.memory = reply->memory,
		.messages = figures.messages,
		.unread = figures.unread,
		.archived = figures.archived,
		.agents = figures.agents,
		.issues = figures.issues,
		.context = figures.by_type[ROGER_CONTEXT],
		.result = figures.by_type[ROGER_RESULT],
		.decision = figures.by_type[ROGER_DECISION],
		.data = figures.by_type[ROGER_DATA],
		.epoch = figures.epoch,
		.journal_bytes = figures.journal_bytes,
		.journal_lines = figures.journal_lines,
		.strays = figures.strays,
		.oldest_at_ms = figures.oldest_at_ms,
		.newest_at_ms = figures.newest_at_ms,
	};
	return ROGER_OK;
}

#define AT(member) offsetof(struct roger_stats_reply, member)
static const struct roger_field fields[] = {
	{ "messages", ROGER_INT, AT(messages), 0, NULL, NULL, "living messages" },
	{ "unread", ROGER_INT, AT(unread), 0, NULL, NULL, "of these unread" },
	{ "archived", ROGER_INT, AT(archived), 0, NULL, NULL, "moved to the archive" },
	{ "agents", ROGER_INT, AT(agents), 0, NULL, NULL, "agents ever seen" },
	{ "issues", ROGER_INT, AT(issues), 0, NULL, NULL, "issues with messages" },
	{ "context", ROGER_INT, AT(context), 0, NULL, NULL, "messages of this type" },
	{ "result", ROGER_INT, AT(result), 0, NULL, NULL, "messages of this type" },
	{ "decision", ROGER_INT, AT(decision), 0, NULL, NULL, "messages of this type" },
	{ "data", ROGER_INT, AT(data), 0, NULL, NULL, "messages of this type" },
	{ "epoch", ROGER_INT, AT(epoch), 0, NULL, NULL, "number of the session" },
	{ "journal_bytes", ROGER_INT, AT(journal_bytes), 0, NULL, NULL,
	  "length of messages.jsonl" },
	{ "journal_lines", ROGER_INT, AT(journal_lines), 0, NULL, NULL, "lines in it" },
	{ "strays", ROGER_INT, AT(strays), 0, NULL, NULL, "of these no messages" },
	{ "oldest_at", ROGER_TIME, AT(oldest_at_ms), 0, NULL, NULL, "the oldest living message" },
	{ "newest_at", ROGER_TIME, AT(newest_at_ms), 0, NULL, NULL, "the newest" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "stats", sizeof(struct roger_stats_reply),
						  fields };

const struct roger_op rg_op_stats = {
	.name = "stats",
	.summary = "figures about the workspace",
	.examples = "roger stats\nroger stats --json\n",
	.request = &rg_empty_request_record,
	.reply = &reply_record,
	.run = run,
};
