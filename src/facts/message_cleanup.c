#include "facts/message_cleanup.h"

#include "base/id.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* A phase, and how many messages to it were judged. */
struct phase {
	uint64_t hash;
	int64_t count;
};

void rg_cleaning_init(struct rg_cleaning *cleaning, const struct rg_cleanup_rules *rules,
		      int64_t newest_run, int64_t now_ms)
{
	*cleaning = (struct rg_cleaning){ .rules = *rules,
					  .newest_run = newest_run,
					  .oldest_ms = now_ms - rules->max_age_days * DAY_MS };
	rg_table_init(&cleaning->phases, sizeof(struct phase));
}

void rg_cleaning_deinit(struct rg_cleaning *cleaning)
{
	rg_table_deinit(&cleaning->phases);
}

int rg_cleaning_judge(struct rg_cleaning *cleaning, const struct roger_message *message,
		      enum rg_cleanup *ret_verdict, struct roger_err *err)
{
	const struct rg_cleanup_rules *rules = &cleaning->rules;
	const uint64_t hash = rg_hash(0, message->to.data, message->to.length);
	enum rg_cleanup verdict = RG_KEEP;
	struct phase *phase;
	bool fresh;

	phase = rg_table_put(&cleaning->phases, hash, &fresh);
	if (!phase)
		return rg_fail_memory(err);
	if (rules->max_age_days && message->created_at_ms < cleaning->oldest_ms)
		verdict = RG_TOO_OLD;
	else if (rules->keep_runs && message->pass <= cleaning->newest_run - rules->keep_runs)
		verdict = RG_OLD_RUN;
	else if (rules->keep_per_phase && phase->count >= rules->keep_per_phase)
		verdict = RG_TOO_MANY;
	phase->count++;
	*ret_verdict = verdict != RG_KEEP && !message->read ? RG_KEEP_UNREAD : verdict;
	return ROGER_OK;
}

const char *rg_message_cleanup_reason(enum rg_cleanup verdict)
{
	switch (verdict) {
	case RG_TOO_OLD:
		return "cleanup: too old";
	case RG_TOO_MANY:
		return "cleanup: enough newer ones to the phase";
	case RG_OLD_RUN:
		return "cleanup: of an earlier run";
	case RG_KEEP:
	case RG_KEEP_UNREAD:
		break;
	}
	return "";
}
