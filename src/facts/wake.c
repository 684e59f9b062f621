#include "facts/wake.h"

/* The delay doubles each time up to backoff_most_ms; no overflow. */
static int64_t gap_before(const struct rg_wake_rules *rules, int64_t attempts)
{
	int64_t gap_ms = rules->backoff_ms;

	rg_assert(attempts > 0);
	while (--attempts > 0 && gap_ms < rules->backoff_most_ms)
		gap_ms *= 2;
	return gap_ms < rules->backoff_most_ms ? gap_ms : rules->backoff_most_ms;
}

int64_t rg_wake_wait(const struct rg_wake_rules *rules, const struct rg_wake_case *known,
		     int64_t now_ms)
{
	int64_t passed_ms = now_ms - (known->attempts ? known->attempt_ms : known->since_ms);
	int64_t wait_ms = known->attempts ? gap_before(rules, known->attempts) : rules->after_ms;

	/* A time in the future was written before the clock was set back. */
	return passed_ms < 0 || passed_ms >= wait_ms ? 0 : wait_ms - passed_ms;
}

/* ---------------------------------------------------------------- words -- */

void rg_wake_fill_agent(struct roger_str word, struct roger_str agent, struct rg_buf *out)
{
	const struct rg_placeholder all[] = { { RG_STR("{agent}"), agent } };

	rg_buf_add_filled(out, word, all, 1);
}

void rg_wake_fill(struct roger_str word, const struct rg_wake_values *values, struct rg_buf *out)
{
	char digits[20];
	const struct rg_placeholder all[] = {
		{ RG_STR("{agent}"), values->agent },
		{ RG_STR("{issue}"), values->issue },
		{ RG_STR("{id}"), values->id },
		{ RG_STR("{count}"), { digits, rg_print_int(digits, values->count) } },
		{ RG_STR("{session}"), values->session },
	};

	rg_buf_add_filled(out, word, all, sizeof all / sizeof *all);
}
