#include "ops/mail/metrics.h"

#include "facts/message.h"
#include "ops/records.h"

static int find_or_add(struct rg_metrics *metrics, struct roger_str issue,
		       struct roger_cleanup **ret_cleanup, struct roger_err *err)
{
	struct rg_issue_list found = metrics->measured;
	struct roger_cleanup *cleanup;
	size_t i;
	int r = ROGER_OK;

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
	*ret_cleanup = cleanup;
	if (!found.count)
		r = rg_engine_measure_issues(metrics->roger->engine, issue, false, metrics->arena,
					     &found, err);
	if (r == ROGER_OK && found.count)
		cleanup->bytes_before = found.items->figures.bytes;
	cleanup->bytes_after = cleanup->bytes_before;
	return r;
}

int rg_metrics_moved(struct rg_metrics *metrics, const struct roger_message *message,
		     struct roger_err *err)
{
	struct roger_cleanup *cleanup = NULL;
	int r = find_or_add(metrics, message->issue, &cleanup, err);

	if (r < 0)
		return r;
	cleanup->archived++;
	cleanup->bytes_after -= rg_message_bytes(message);
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
