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

struct placeholder {
	struct roger_str token;
	struct roger_str value;
};

/* The placeholder that text starts with, or NULL. */
static const struct placeholder *find_placeholder(const struct placeholder *all, size_t count,
						  struct roger_str text)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (text.length >= all[i].token.length &&
		    memcmp(text.data, all[i].token.data, all[i].token.length) == 0)
			return &all[i];
	return NULL;
}

static void fill_placeholders(struct roger_str word, const struct placeholder *all, size_t count,
			      struct rg_buf *out)
{
	const struct placeholder *found;

	while (word.length) {
		found = find_placeholder(all, count, word);
		if (found)
			rg_buf_add_str(out, found->value);
		else
			rg_buf_add_char(out, *word.data);
		word.data += found ? found->token.length : 1;
		word.length -= found ? found->token.length : 1;
	}
}

void rg_wake_fill_agent(struct roger_str word, struct roger_str agent, struct rg_buf *out)
{
	const struct placeholder all[] = { { RG_STR("{agent}"), agent } };

	fill_placeholders(word, all, 1, out);
}

void rg_wake_fill(struct roger_str word, const struct rg_wake_values *values, struct rg_buf *out)
{
	char digits[20];
	const struct placeholder all[] = {
		{ RG_STR("{agent}"), values->agent },
		{ RG_STR("{issue}"), values->issue },
		{ RG_STR("{id}"), values->id },
		{ RG_STR("{count}"), { digits, rg_print_int(digits, values->count) } },
		{ RG_STR("{session}"), values->session },
	};

	fill_placeholders(word, all, sizeof all / sizeof *all, out);
}
