/* cleanup: archive old mail by the configured rules, or tell what left before. */
#include "ops/keys/attempt.h"
#include "ops/mail/metrics.h"

#include "facts/message_cleanup.h"

/* Each issue is cleaned by itself, PIECE messages in each commit. */
enum { PIECE = 256, HISTORY_MAX = 1000 };

/* A requested 0 means the configured value; a negative one means off. */
static int64_t rule_in_force(int64_t requested, int64_t configured)
{
	return requested < 0 ? 0 : requested ? requested : configured;
}

static struct rg_cleanup_rules rules_of(struct roger *roger,
					const struct roger_cleanup_request *request)
{
	const struct rg_config *config = roger->workspace->config;

	return (struct rg_cleanup_rules){
		.max_age_days = rule_in_force(request->max_age_days, config->max_age_days),
		.keep_per_phase = rule_in_force(request->keep_per_agent, config->keep_per_phase),
		.keep_runs = rule_in_force(request->keep_passes, config->keep_runs),
	};
}

static void count_verdict(struct roger_archive_reply *reply, enum rg_cleanup verdict)
{
	switch (verdict) {
	case RG_KEEP:
		return;
	case RG_KEEP_UNREAD:
		reply->kept_unread++;
		return;
	case RG_TOO_OLD:
		reply->by_age++;
		break;
	case RG_TOO_MANY:
		reply->by_count++;
		break;
	case RG_OLD_RUN:
		reply->by_pass++;
		break;
	}
	reply->archived++;
}

/* The cleaning of one issue, from its newest message on; each piece is one transaction. */
struct issue_cleanup {
	struct rg_metrics metrics;
	struct rg_cleaning cleaning;
	struct rg_query query; /* for the next piece */
	struct roger_archive_reply *reply;
	int64_t messages, seen;
	bool dry_run;
};

static int clean_message(struct issue_cleanup *issue, const struct roger_message *message,
			 struct roger_err *err)
{
	struct roger_message archived = *message;
	enum rg_cleanup verdict;
	int r = rg_cleaning_judge(&issue->cleaning, message, &verdict, err);

	if (r < 0)
		return r;
	count_verdict(issue->reply, verdict);
	if (issue->dry_run || verdict == RG_KEEP || verdict == RG_KEEP_UNREAD)
		return ROGER_OK;
	archived.archived_at_ms = rg_clock_ms();
	archived.archive_reason = rg_str(rg_message_cleanup_reason(verdict));
	r = rg_metrics_moved(&issue->metrics, &archived, err);
	return r < 0 ? r : rg_engine_archive(issue->metrics.roger->engine, &archived, err);
}

/* Clean the next piece; *ret_more false: it was the last one. */
static int clean_piece(struct issue_cleanup *issue, bool *ret_more, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_engine *engine = issue->metrics.roger->engine;
	struct roger_message_list found;
	struct rg_outcome outcome;
	size_t i;
	int r = rg_kept(arena, err);

	rg_assert(rg_engine_is_exclusive(engine));
	if (r == ROGER_OK)
		r = rg_engine_find(engine, &issue->query, arena, &found, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++)
		r = clean_message(issue, &found.items[i], err);
	if (r < 0)
		return r;
	*ret_more = found.count == PIECE;
	issue->seen += (int64_t)found.count;
	if (found.count)
		issue->query.after = found.items[found.count - 1].position;
	return rg_engine_commit(engine, &outcome, err);
}

static int clean_pieces(struct issue_cleanup *issue, struct roger_err *err)
{
	const struct roger *roger = issue->metrics.roger;
	bool more = true;
	int r = ROGER_OK;

	while (r == ROGER_OK && more) {
		if (issue->seen && roger->tell &&
		    !roger->tell(roger->tell_context, "cleanup messages", issue->seen,
				 issue->messages))
			return rg_fail(err, ROGER_EREFUSED, 0, "stopped");
		r = rg_engine_begin(roger->engine, true, err);
		if (r == ROGER_OK)
			r = clean_piece(issue, &more, err);
		rg_engine_rollback(roger->engine);
	}
	return r;
}

/* Record what this issue added to the reply. */
static int save_figures(struct rg_metrics *metrics, const struct roger_archive_reply *before,
			const struct roger_archive_reply *after, struct roger_err *err)
{
	struct roger_cleanup *cleanup = metrics->items;

	if (!metrics->count)
		return ROGER_OK;
	cleanup->by_age = after->by_age - before->by_age;
	cleanup->by_count = after->by_count - before->by_count;
	cleanup->by_pass = after->by_pass - before->by_pass;
	cleanup->kept_unread = after->kept_unread - before->kept_unread;
	return rg_metrics_save(metrics, err);
}

static int clean_one(struct roger *roger, struct roger_str name,
		     const struct roger_cleanup_request *request, struct roger_archive_reply *reply,
		     struct roger_err *err)
{
	const struct rg_cleanup_rules rules = rules_of(roger, request);
	const struct roger_archive_reply before = *reply;
	struct issue_cleanup issue = {
		.metrics = { .roger = roger, .arena = reply->memory, .verb = RG_STR("cleanup") },
		.query = { .issue = name, .newest = true, .limit = PIECE },
		.reply = reply,
		.dry_run = request->dry_run,
	};
	struct rg_issue_list *found = &issue.metrics.measured;
	int r = rg_engine_measure_issues(roger->engine, name, rules.keep_runs > 0, reply->memory,
					 found, err);

	if (r < 0 || !found->count)
		return r;
	if (!rg_arena_print(issue.metrics.arena, &issue.metrics.reason,
			    "max_age_days %lld, keep_per_agent %lld, keep_passes %lld",
			    (long long)rules.max_age_days, (long long)rules.keep_per_phase,
			    (long long)rules.keep_runs))
		return rg_fail_memory(err);
	issue.messages = found->items->figures.messages;
	rg_cleaning_init(&issue.cleaning, &rules, found->items->newest_pass, rg_clock_ms());
	r = clean_pieces(&issue, err);
	rg_cleaning_deinit(&issue.cleaning);
	return r < 0 ? r : save_figures(&issue.metrics, &before, reply, err);
}

static int show_history(struct roger *roger, struct roger_str issue,
			struct roger_archive_reply *reply, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_CLEANUPS, .task = issue, .newest = true, .limit = HISTORY_MAX
	};
	struct rg_records found;
	int r = rg_records_read(roger, &query, reply->memory, &found, err);

	if (r == ROGER_OK)
		reply->history = (struct roger_cleanup_list){ found.cleanups, found.count };
	return r;
}

/* Purge the send logs, too: their entries leave by cycles, not by issues. */
static int purge_logs(struct roger *roger, bool dry_run, struct roger_archive_reply *reply,
		      struct roger_err *err)
{
	const struct roger_purge_request request = { .dry_run = dry_run };
	struct roger_purge_reply purged = { .memory = reply->memory };
	struct roger_cycle cycle;
	int r = dry_run ? ROGER_OK : rg_cycle_begin(roger, reply->memory, &cycle, err);

	if (r == ROGER_OK)
		r = rg_verb_purge(roger, &request, &purged, err);
	reply->purged = purged.purged;
	return r;
}

int rg_verb_cleanup(struct roger *roger, const struct roger_cleanup_request *request,
		    struct roger_archive_reply *reply, struct roger_err *err)
{
	struct roger_strs issues = { &request->issue, 1 };
	size_t i;
	int r = ROGER_OK;

	if (request->max_age_days < -1 || request->max_age_days > RG_AGE_DAYS_CEILING)
		return rg_fail_member(err, ROGER_EDATA, "max_age_days",
				      "max_age_days: expected 0 to %d", RG_AGE_DAYS_CEILING);
	if (request->keep_per_agent < -1)
		return rg_fail_member(err, ROGER_EDATA, "keep_per_agent",
				      "keep_per_agent: expected a number from 0 up");
	if (request->keep_passes < -1)
		return rg_fail_member(err, ROGER_EDATA, "keep_passes",
				      "keep_passes: expected a number from 0 up");
	if (request->history)
		return show_history(roger, request->issue, reply, err);
	if (!request->issue.length)
		r = rg_engine_issues(roger->engine, 0, reply->memory, &issues, err);
	for (i = 0; i < issues.count && r == ROGER_OK; i++) {
		if (roger->tell && !roger->tell(roger->tell_context, "cleanup issues", (int64_t)i,
						(int64_t)issues.count))
			r = rg_fail(err, ROGER_EREFUSED, 0, "stopped");
		else
			r = clean_one(roger, issues.items[i], request, reply, err);
	}
	return r < 0 || request->issue.length ? r : purge_logs(roger, request->dry_run, reply, err);
}
