/* ingest: text in the form "(ROLE #5): hello" from anywhere, by the rules of the bridge. */
#include "ops/edge/crossing.h"

static int add_target(struct rg_crossing *crossing, struct roger_str name,
		      const struct rg_rolepieces *pieces, struct roger_str text,
		      struct roger_err *err)
{
	struct rg_crossing_target target;
	size_t i;
	int r;

	r = rg_name_check("to", name, err);
	if (r == ROGER_OK)
		r = rg_crossing_target(crossing, name, &target, err);
	if (r == ROGER_OK && target.refused.length)
		r = rg_fail_member(err, ROGER_EREFUSED, "to", "to: %.*s",
				   RG_STR_ARGS(target.refused));
	for (i = 0; i < pieces->count && r == ROGER_OK; i++)
		r = rg_crossing_add(crossing, &target, &pieces->items[i],
				    pieces->items[i].raw.data - text.data, err);
	return r;
}

static int add_targets(struct rg_crossing *crossing, const struct roger_ingest_request *request,
		       const struct rg_rolepieces *pieces, struct roger_err *err)
{
	size_t i;
	int r = ROGER_OK;

	if (!request->to.count && !request->agent.length)
		return rg_fail_member(err, ROGER_EUSAGE, "to",
				      "no recipient: name one with --to, or yourself with --as");
	if (!request->to.count)
		r = add_target(crossing, request->agent, pieces, request->text, err);
	for (i = 0; i < request->to.count && r == ROGER_OK; i++)
		r = add_target(crossing, request->to.items[i], pieces, request->text, err);
	if (r == ROGER_OK && crossing->count > RG_BATCH_MAX)
		r = rg_fail_member(err, ROGER_EDATA, "text",
				   "text: expected at most %d messages at once", RG_BATCH_MAX);
	return r;
}

static int tell(struct rg_crossing *crossing, struct roger_err *err)
{
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < crossing->count && r == ROGER_OK; i++)
		r = rg_crossing_tell(crossing, &crossing->items[i], RG_STR(""), err);
	return r;
}

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_ingest_request *request = request_;
	struct rg_crossing_full full = { .arena = rg_op_memory(reply_) };
	struct rg_crossing crossing = { .roger = roger,
					.arena = rg_op_memory(reply_),
					.reply = reply_,
					.known = { .arena = rg_op_memory(reply_) },
					.full = &full,
					.via = "ingest",
					.issue = request->issue,
					.whole = true,
					.unnumbered = request->unnumbered,
					.several = request->to.count > 1 };
	struct rg_rolepieces pieces;
	int r;

	if (request->text.length > RG_TRIGGER_BYTES_MAX)
		return rg_fail_member(err, ROGER_EDATA, "text", "text: expected at most %d bytes",
				      RG_TRIGGER_BYTES_MAX);
	r = rg_roleline_split(request->text, crossing.arena, &pieces, err);
	if (r == ROGER_OK)
		r = rg_crossing_names(roger, &crossing.known, err);
	if (r == ROGER_OK)
		r = add_targets(&crossing, request, &pieces, err);
	if (r == ROGER_OK)
		r = rg_crossing_store(&crossing, err);
	if (r == ROGER_OK)
		r = tell(&crossing, err);
	if (r == ROGER_OK)
		rg_crossing_note(roger, &rg_op_ingest, crossing.reply);
	return r;
}

#define AT(member) offsetof(struct roger_ingest_request, member)
static const struct roger_field request_fields[] = {
	{ "agent", ROGER_NAME, AT(agent), ROGER_SELF, NULL, NULL,
	  "the recipient, without --to (--as, else ROGER_AGENT)" },
	{ "to", ROGER_TEXTS, AT(to), 0, NULL, NULL, "agents, groups, or all" },
	{ "text", ROGER_TEXT, AT(text), ROGER_REQUIRED, NULL, NULL,
	  "messages, each after '(ROLE #5): ' (default: standard input)" },
	{ "issue", ROGER_NAME, AT(issue), ROGER_ISSUE, NULL, NULL,
	  "unit of work they belong to (default general)" },
	{ "unnumbered", ROGER_BOOL, AT(unnumbered), 0, NULL, NULL,
	  "whatever numbers they have: lets in what was skipped" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "ingest", sizeof(struct roger_ingest_request),
						    request_fields };

const struct roger_op rg_op_ingest = {
	.name = "ingest",
	.summary = "take in messages written as `(ROLE #N): text`",
	.examples = "echo '(LEAD #3): go on' | roger ingest --to worker\n"
		    "roger ingest --to workers --file handover.txt\n"
		    "roger ingest --to bob --unnumbered --file .roger/triggers/.skipped/NAME\n",
	.flags = ROGER_WRITES | ROGER_ADMINISTERS,
	.request = &request_record,
	.reply = &rg_crossing_reply_record,
	.run = run,
};
