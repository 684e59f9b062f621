/*
 * archive, delete: move messages out of the way by hand.
 *
 * Both end in messages_archive/: nothing is ever destroyed.  delete also takes
 * unread ones, and says so in the reason.
 */
#include "base/nearest.h"
#include "facts/message.h"
#include "ops/mail/metrics.h"

/* How many messages leave in one commit. */
enum { PIECE = 256 };

static int check_archive(const struct roger_archive_request *request, struct roger_err *err)
{
	if (!request->ids.count == !(request->issue.length || request->to.length))
		return rg_fail_member(
			err, ROGER_EUSAGE, "ids",
			"what to archive? name ids of messages, --issue NAME or --to NAME");
	return ROGER_OK;
}

static int check_found(const struct roger_archive_request *request,
		       const struct roger_message_list *found, struct roger_err *err)
{
	const struct roger_message *message;
	size_t i;

	for (i = 0; i < request->ids.count; i++) {
		message = rg_messages_find(found, request->ids.items[i]);
		if (!message)
			return rg_fail_member(err, ROGER_ENOENT, "ids",
					      "no message '%.*s' outside the archive",
					      RG_STR_ARGS(request->ids.items[i]));
		if (!message->read && !request->unread)
			return rg_fail_member(err, ROGER_EREFUSED, "ids",
					      "message '%.*s' is unread; archive it with --unread",
					      RG_STR_ARGS(request->ids.items[i]));
	}
	return ROGER_OK;
}

/* Archive one commit's worth, from the first one that may leave; *ret_last: how far it looked. */
static int move_piece(struct rg_metrics *metrics, const struct roger_archive_request *request,
		      const struct rg_query *query, struct roger_archive_reply *reply,
		      struct rg_arena *arena, size_t *ret_found, int64_t *ret_last,
		      struct roger_err *err)
{
	struct rg_engine *engine = metrics->roger->engine;
	struct roger_message_list found = { 0 };
	struct roger_message message;
	struct rg_outcome outcome;
	size_t i;
	int r;

	rg_assert(rg_engine_is_exclusive(engine));
	r = rg_engine_find(engine, query, arena, &found, err);
	if (r == ROGER_OK)
		r = check_found(request, &found, err);
	for (i = 0; i < found.count && r == ROGER_OK; i++) {
		message = found.items[i];
		*ret_last = message.position;
		if (!message.read && !request->unread) {
			reply->kept_unread++;
			continue;
		}
		message.archived_at_ms = rg_clock_ms();
		message.archive_reason = metrics->reason;
		reply->archived++;
		if (!request->dry_run)
			r = rg_metrics_moved(metrics, &message, err);
		if (r == ROGER_OK && !request->dry_run)
			r = rg_engine_archive(engine, &message, err);
	}
	*ret_found = found.count;
	return r < 0 ? r : rg_engine_commit(engine, &outcome, err);
}

/* Is there such an issue?  Archived messages belong to it, too. */
static int check_issue(struct roger *roger, struct roger_str issue, struct rg_arena *arena,
		       struct roger_err *err)
{
	const struct rg_query query = { .issue = issue, .anywhere = true, .limit = 1 };
	struct roger_message_list found;
	struct roger_strs issues;
	struct roger_str near;
	int r;

	if (!issue.length)
		return ROGER_OK;
	r = rg_engine_find(roger->engine, &query, arena, &found, err);
	if (r < 0 || found.count)
		return r;
	r = rg_engine_issues(roger->engine, 0, arena, &issues, err);
	if (r < 0)
		return r;
	near = rg_nearest_of(issues, issue);
	return rg_fail_member(err, ROGER_ENOENT, "issue", "issue: no message of '%.*s'" RG_MEANT,
			      RG_STR_ARGS(issue), RG_MEANT_ARGS(near));
}

static int check_known(struct roger *roger, struct roger_str to, struct roger_err *err)
{
	if (!to.length || rg_engine_knows(roger->engine, to))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_ENOENT, "to",
			      "to: '%.*s' has neither sent nor got anything here", RG_STR_ARGS(to));
}

static int move_out(struct roger *roger, const struct roger_archive_request *request,
		    struct roger_str verb, struct roger_str reason,
		    struct roger_archive_reply *reply, struct roger_err *err)
{
	struct rg_metrics metrics = { .roger = roger,
				      .arena = reply->memory,
				      .verb = verb,
				      .reason = request->reason.length ? request->reason : reason };
	struct rg_query query = { .ids = request->ids.items,
				  .id_count = request->ids.count,
				  .issue = request->issue,
				  .to = request->to,
				  .limit = PIECE };
	const struct rg_query all = { .issue = request->issue, .to = request->to };
	struct rg_arena *arena;
	size_t found = PIECE;
	int64_t count = 0;
	int r = check_archive(request, err);

	if (r == ROGER_OK)
		r = check_issue(roger, request->issue, reply->memory, err);
	if (r == ROGER_OK)
		r = check_known(roger, request->to, err);
	if (r == ROGER_OK && !request->ids.count)
		r = rg_engine_count(roger->engine, &all, &count, err);
	while (r == ROGER_OK && found == PIECE) {
		/* Each piece is committed by itself: an error later does not take it back. */
		if (roger->tell)
			roger->tell(roger->tell_context, "archive messages",
				    reply->archived + reply->kept_unread, count);
		arena = rg_arena_new();
		if (!arena)
			return rg_fail_memory(err);
		r = rg_engine_begin(roger->engine, true, err);
		if (r == ROGER_OK)
			r = move_piece(&metrics, request, &query, reply, arena, &found,
				       &query.after, err);
		rg_engine_rollback(roger->engine);
		rg_arena_free(arena);
	}
	return r < 0 ? r : rg_metrics_save(&metrics, err);
}

int rg_verb_archive(struct roger *roger, const struct roger_archive_request *request,
		    struct roger_archive_reply *reply, struct roger_err *err)
{
	return move_out(roger, request, RG_STR("archive"), RG_STR("archived by hand"), reply, err);
}
