/* OpenMetrics 1.0: what the server did, and how the workspace is.  No name and no text of
 * anybody is in it, so that it stays short. */
#include "base/clock.h"
#include "serve/serve.h"

/* Upper ends of the buckets, in ms. */
static const int64_t bounds[SERVE_BUCKETS] = { 1, 3, 10, 30, 100, 300, 1000, 10000 };

void serve_count(struct serve *serve, const struct serve_job *job)
{
	int64_t took_ns = rg_clock_monotonic_ns() - job->began_ns;
	struct serve_figures *figures;
	size_t i = 0;
	const struct serve_verb *verb;
	size_t which;

	for (which = 0; (verb = serve_next_verb(&i)) && verb != job->verb; which++)
		;
	if (!verb)
		return;
	figures = &serve->figures[which];
	figures->done[job->answer.status < 400 ? 0 : job->answer.status < 500 ? 1 : 2]++;
	figures->sum_ns += took_ns;
	for (i = 0; i < SERVE_BUCKETS && took_ns > bounds[i] * 1000000; i++)
		;
	if (i < SERVE_BUCKETS)
		figures->buckets[i]++;
}

static int64_t all(const struct serve_figures *figures)
{
	return figures->done[0] + figures->done[1] + figures->done[2];
}

static void add_family(struct rg_buf *out, const char *name, const char *type, const char *help)
{
	rg_buf_printf(out, "# TYPE roger_%s %s\n# HELP roger_%s %s\n", name, type, name, help);
}

static void add_gauge(struct rg_buf *out, const char *name, int64_t value, const char *help)
{
	add_family(out, name, "gauge", help);
	rg_buf_printf(out, "roger_%s %lld\n", name, (long long)value);
}

static void add_requests(struct rg_buf *out, const struct serve *serve)
{
	static const char *const outcomes[] = { "done", "refused", "failed" };
	const struct serve_verb *verb;
	size_t i = 0, which, k;

	add_family(out, "requests", "counter", "Requests by verb and outcome.");
	for (which = 0; (verb = serve_next_verb(&i)); which++)
		for (k = 0; k < 3; k++)
			if (serve->figures[which].done[k])
				rg_buf_printf(
					out,
					"roger_requests_total{verb=\"%s\",outcome=\"%s\"} %lld\n",
					verb->op->name, outcomes[k],
					(long long)serve->figures[which].done[k]);
}

static void add_times(struct rg_buf *out, const struct serve *serve)
{
	const struct serve_figures *figures;
	const struct serve_verb *verb;
	size_t i = 0, which, k;
	int64_t sum;

	add_family(out, "request_seconds", "histogram", "Time from a request to its answer.");
	for (which = 0; (verb = serve_next_verb(&i)); which++) {
		figures = &serve->figures[which];
		if (!all(figures))
			continue;
		for (k = 0, sum = 0; k < SERVE_BUCKETS; k++) {
			sum += figures->buckets[k];
			rg_buf_printf(out,
				      "roger_request_seconds_bucket{verb=\"%s\",le=\"%g\"} %lld\n",
				      verb->op->name, (double)bounds[k] / 1000, (long long)sum);
		}
		rg_buf_printf(out,
			      "roger_request_seconds_bucket{verb=\"%s\",le=\"+Inf\"} %lld\n"
			      "roger_request_seconds_sum{verb=\"%s\"} %.6f\n"
			      "roger_request_seconds_count{verb=\"%s\"} %lld\n",
			      verb->op->name, (long long)all(figures), verb->op->name,
			      (double)figures->sum_ns / 1e9, verb->op->name,
			      (long long)all(figures));
	}
}

static void add_workspace(struct rg_buf *out, const struct roger_status_reply *status)
{
	int64_t urgent = 0;
	size_t i;

	for (i = 0; i < status->concerns.count; i++)
		urgent += status->concerns.items[i].urgency == ROGER_URGENT;
	add_gauge(out, "unread_messages", status->unread, "Messages that nobody has read.");
	add_gauge(out, "agents", status->agents, "Agents that are known.");
	add_gauge(out, "active_runs", status->active_runs, "Runs without a result.");
	add_gauge(out, "concerns", (int64_t)status->concerns.count, "What status names.");
	add_gauge(out, "urgent_concerns", urgent, "Of these urgent.");
}

/* On a thread: how the workspace is.  What the server did is added on the loop's. */
void serve_read_metrics(struct serve_job *job, struct roger *roger)
{
	const struct roger_empty_request request = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_status_reply reply = { 0 };
	struct roger_err err = { 0 };
	int r = roger_status(roger, &request, &reply, &err);

	if (r < 0) {
		serve_fail(&job->answer, r, &err);
		return;
	}
	job->answer.status = 200;
	add_workspace(&job->answer.body, &reply);
}

void serve_finish_metrics(struct serve_job *job)
{
	struct serve *serve = job->serve;
	struct rg_buf *out = &job->answer.body;

	if (job->answer.status == 200) {
		job->answer.type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
		add_gauge(out, "connections", (int64_t)serve->connection_count,
			  "Connections of clients.");
		add_gauge(out, "event_streams", (int64_t)serve->stream_count,
			  "Clients that are told of events.");
		add_gauge(out, "requests_under_way", (int64_t)serve->job_count,
			  "Requests that are not answered yet.");
		add_requests(out, serve);
		add_times(out, serve);
		rg_buf_add_text(out, "# EOF\n");
	}
	serve_send(job->http, &job->answer);
}
