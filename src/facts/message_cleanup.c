#include "facts/message_cleanup.h"

#include "base/str.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

static int64_t newest_run(const struct roger_message *messages, size_t count)
{
	int64_t newest = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (messages[i].pass > newest)
			newest = messages[i].pass;
	return newest;
}

/* How many later messages went to the same phase; stops counting at enough. */
static int64_t newer_alike(const struct roger_message *messages, size_t count, size_t which,
			   int64_t enough)
{
	int64_t newer = 0;
	size_t i;

	rg_assert(which < count);
	for (i = which + 1; i < count && newer < enough; i++)
		newer += rg_str_equal(messages[i].to, messages[which].to);
	return newer;
}

void rg_message_cleanup(const struct roger_message *messages, size_t count,
			const struct rg_cleanup_rules *rules, int64_t now_ms,
			enum rg_cleanup *verdicts)
{
	int64_t last_run = newest_run(messages, count), oldest_ms;
	const struct roger_message *message;
	enum rg_cleanup verdict;
	size_t i;

	oldest_ms = now_ms - rules->max_age_days * DAY_MS;
	for (i = 0; i < count; i++) {
		message = &messages[i];
		verdict = RG_KEEP;
		if (rules->max_age_days && message->created_at_ms < oldest_ms)
			verdict = RG_TOO_OLD;
		else if (rules->keep_runs && message->pass <= last_run - rules->keep_runs)
			verdict = RG_OLD_RUN;
		else if (rules->keep_per_phase &&
			 newer_alike(messages, count, i, rules->keep_per_phase) >=
				 rules->keep_per_phase)
			verdict = RG_TOO_MANY;
		verdicts[i] = verdict != RG_KEEP && !message->read ? RG_KEEP_UNREAD : verdict;
	}
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
