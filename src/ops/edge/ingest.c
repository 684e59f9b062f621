/* ingest: text in the form "(ROLE #5): hello" from anywhere, by the rules of the bridge. */
#include "ops/edge/crossing.h"
#include "ops/mail/agents.h"

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
		rg_crossing_add(crossing, &target, &pieces->items[i],
				pieces->items[i].raw.data - text.data);
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

int rg_verb_ingest(struct roger *roger, const struct roger_ingest_request *request,
		   struct roger_bridge_reply *reply, struct roger_err *err)
{
	struct rg_crossing_full full = { .arena = rg_op_memory(reply) };
	struct rg_crossing crossing = { .roger = roger,
					.arena = rg_op_memory(reply),
					.reply = reply,
					.known = { .arena = rg_op_memory(reply) },
					.full = &full,
					.via = "ingest",
					.issue = request->issue,
					.whole = true,
					.unnumbered = request->unnumbered,
					.several = request->to.count > 1 };
	struct rg_rolepieces pieces;
	size_t i;
	int r;

	if (request->text.length > RG_TRIGGER_BYTES_MAX)
		return rg_fail_member(err, ROGER_EDATA, "text", "text: expected at most %d bytes",
				      RG_TRIGGER_BYTES_MAX);
	r = rg_roleline_split(request->text, crossing.arena, &pieces, err);
	if (r == ROGER_OK)
		r = rg_agents_names(roger, &crossing.known, err);
	if (r == ROGER_OK)
		r = add_targets(&crossing, request, &pieces, err);
	if (r == ROGER_OK)
		r = rg_crossing_store(&crossing, err);
	for (i = 0; i < crossing.count && r == ROGER_OK; i++)
		rg_crossing_tell(&crossing, &crossing.items[i]);
	if (r == ROGER_OK)
		rg_crossing_note(roger, &rg_op_ingest, crossing.reply);
	return r;
}
