/* OpenMetrics 1.0: what the server did, and how the workspace is. Names and texts are left out,
 * so that it stays short. */
#include "base/clock.h"
#include "serve/serve.h"

/* Upper ends of the buckets, in ms. */
static const int64_t bounds[SERVE_BUCKETS] = { 1, 3, 10, 30, 100, 300, 1000, 10000 };

static void count_request(struct serve_figures *figures, int status, int64_t began_ns)
{
	int64_t took_ns = rg_clock_monotonic_ns() - began_ns;
	size_t i;

	figures->done[status < 400 ? 0 : status < 500 ? 1 : 2]++;
	figures->sum_ns += took_ns;
	for (i = 0; i < SERVE_BUCKETS && took_ns > bounds[i] * 1000000; i++)
		;
	if (i < SERVE_BUCKETS)
		figures->buckets[i]++;
}

void serve_count(struct serve *serve, const struct serve_job *job)
{
	const struct roger_op *verb;
	size_t i = 0, which;

	for (which = 0; (verb = serve_next_verb(&i)) && verb != job->verb; which++)
		;
	if (verb)
		count_request(&serve->figures[which], job->answer.status, job->began_ns);
}

void serve_count_mcp(struct serve *serve, int status, int64_t began_ns)
{
	count_request(&serve->mcp_figures, status, began_ns);
}

static int64_t sum_done(const struct serve_figures *figures)
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

static void add_outcomes(struct rg_buf *out, const char *verb, const struct serve_figures *figures)
{
	static const char *const outcomes[] = { "done", "refused", "failed" };
	size_t i;

	for (i = 0; i < 3; i++)
		if (figures->done[i])
			rg_buf_printf(out,
				      "roger_requests_total{verb=\"%s\",outcome=\"%s\"} %lld\n",
				      verb, outcomes[i], (long long)figures->done[i]);
}

static void add_times(struct rg_buf *out, const char *verb, const struct serve_figures *figures)
{
	int64_t sum = 0;
	size_t i;

	if (!sum_done(figures))
		return;
	for (i = 0; i < SERVE_BUCKETS; i++) {
		sum += figures->buckets[i];
		rg_buf_printf(out, "roger_request_seconds_bucket{verb=\"%s\",le=\"%g\"} %lld\n",
			      verb, (double)bounds[i] / 1000, (long long)sum);
	}
	rg_buf_printf(out,
		      "roger_request_seconds_bucket{verb=\"%s\",le=\"+Inf\"} %lld\n"
		      "roger_request_seconds_sum{verb=\"%s\"} %.6f\n"
		      "roger_request_seconds_count{verb=\"%s\"} %lld\n",
		      verb, (long long)sum_done(figures), verb, (double)figures->sum_ns / 1e9, verb,
		      (long long)sum_done(figures));
}

/* Add a figure for each verb, and for MCP as if it were one. */
static void add_each(struct rg_buf *out, const struct serve *serve,
		     void (*add)(struct rg_buf *out, const char *verb,
				 const struct serve_figures *figures))
{
	const struct roger_op *verb;
	size_t i = 0, which;

	for (which = 0; (verb = serve_next_verb(&i)); which++)
		add(out, verb->name, &serve->figures[which]);
	add(out, "mcp", &serve->mcp_figures);
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

/* On a thread: print how the workspace is.  The loop's thread adds what the server did. */
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
		add_family(out, "requests", "counter", "Requests by verb and outcome.");
		add_each(out, serve, add_outcomes);
		add_family(out, "request_seconds", "histogram",
			   "Time from a request to its answer.");
		add_each(out, serve, add_times);
		rg_buf_add_text(out, "# EOF\n");
	}
	serve_send(job->http, &job->answer);
}
