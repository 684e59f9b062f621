#include "ops/mail/metrics.h"

#include "ops/records.h"

int64_t rg_metrics_bytes(const struct roger_message_list *messages)
{
	int64_t bytes = 0;
	size_t i;

	for (i = 0; i < messages->count; i++)
		bytes += (int64_t)(messages->items[i].content.length +
				   messages->items[i].metadata.length);
	return bytes;
}

static int measure_issue(struct rg_metrics *metrics, struct roger_str issue, int64_t *ret_bytes,
			 struct roger_err *err)
{
	const struct rg_query query = { .issue = issue };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *scratch = rg_arena_new();
	struct roger_message_list found = { 0 };
	int r;

	if (!scratch)
		return rg_fail_memory(err);
	r = rg_engine_find(metrics->roger->engine, &query, scratch, &found, err);
	*ret_bytes = rg_metrics_bytes(&found);
	return r;
}

static int find_or_add(struct rg_metrics *metrics, struct roger_str issue,
		       struct roger_cleanup **ret_cleanup, struct roger_err *err)
{
	struct roger_cleanup *cleanup;
	size_t i;
	int r;

	for (i = metrics->count; i > 0; i--)
		if (rg_str_equal(metrics->items[i - 1].issue, issue)) {
			*ret_cleanup = &metrics->items[i - 1];
			return ROGER_OK;
		}
	cleanup = rg_arena_push(metrics->arena, &metrics->items, &metrics->count, sizeof *cleanup);
	if (!cleanup || !rg_arena_copy(metrics->arena, issue, &cleanup->issue))
		return rg_fail_memory(err);
	cleanup->verb = metrics->verb;
	cleanup->reason = metrics->reason;
	r = measure_issue(metrics, issue, &cleanup->bytes_before, err);
	cleanup->bytes_after = cleanup->bytes_before;
	*ret_cleanup = cleanup;
	return r;
}

int rg_metrics_moved(struct rg_metrics *metrics, const struct roger_message *message,
		     struct roger_err *err)
{
	const struct roger_message_list one = { message, 1 };
	struct roger_cleanup *cleanup = NULL;
	int r = find_or_add(metrics, message->issue, &cleanup, err);

	if (r < 0)
		return r;
	cleanup->archived++;
	cleanup->bytes_after -= rg_metrics_bytes(&one);
	return ROGER_OK;
}

int rg_metrics_save(struct rg_metrics *metrics, struct roger_err *err)
{
	size_t count = 0, i;
	int r;

	for (i = 0; i < metrics->count; i++) {
		metrics->items[i].at_ms = rg_clock_ms();
		if (metrics->items[i].archived)
			metrics->items[count++] = metrics->items[i];
	}
	if (!count)
		return ROGER_OK;
	r = rg_engine_records_begin(metrics->roger->engine, err);
	if (r < 0)
		return r;
	r = rg_records_write(metrics->roger, RG_LOG_CLEANUPS, RG_STR(""), metrics->items, count,
			     err);
	rg_engine_records_end(metrics->roger->engine);
	return r;
}
