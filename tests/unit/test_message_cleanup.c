/*
 * What facts/message_cleanup.h promises, over every combination of read
 * state, age, run and newer messages: unread ones stay, and each rule takes
 * what it says and can be switched off.
 */
#include "place.h"

#include "base/str.h"
#include "facts/message_cleanup.h"

enum { DAY_MS = 24 * 3600 * 1000 };

/* The verdicts on all messages of an issue, which are given oldest first. */
static void judge_all(const struct roger_message *messages, size_t count,
		      const struct rg_cleanup_rules *rules, int64_t now_ms,
		      enum rg_cleanup *verdicts)
{
	struct rg_cleaning cleaning;
	int64_t newest = 0;
	size_t i;

	for (i = 0; i < count; i++)
		newest = messages[i].pass > newest ? messages[i].pass : newest;
	rg_cleaning_init(&cleaning, rules, newest, now_ms);
	for (i = count; i > 0; i--)
		assert_int_equal(
			rg_cleaning_judge(&cleaning, &messages[i - 1], &verdicts[i - 1], NULL),
			ROGER_OK);
	rg_cleaning_deinit(&cleaning);
}

static void every_combination(void **state)
{
	const int64_t now_ms = INT64_C(1000) * DAY_MS;
	int rules_on, read, old, early, crowded;

	(void)state;
	for (rules_on = 0; rules_on < 8; rules_on++)
		for (read = 0; read < 2; read++)
			for (old = 0; old < 2; old++)
				for (early = 0; early < 2; early++)
					for (crowded = 0; crowded < 2; crowded++) {
						const struct rg_cleanup_rules rules = {
							rules_on & 1 ? 90 : 0, rules_on & 2 ? 2 : 0,
							rules_on & 4 ? 1 : 0
						};
						struct roger_message messages[3] = {
							{ .to = str("p"),
							  .read = read,
							  .created_at_ms =
								  now_ms -
								  (old ? INT64_C(91) : 89) * DAY_MS,
							  .pass = early ? 1 : 2 },
							{ .to = str(crowded ? "p" : "q"),
							  .created_at_ms = now_ms,
							  .pass = 2 },
							{ .to = str(crowded ? "p" : "q"),
							  .created_at_ms = now_ms,
							  .pass = 2 },
						};
						enum rg_cleanup verdicts[3], expected = RG_KEEP;

						if (old && (rules_on & 1))
							expected = RG_TOO_OLD;
						else if (early && (rules_on & 4))
							expected = RG_OLD_RUN;
						else if (crowded && (rules_on & 2))
							expected = RG_TOO_MANY;
						if (expected != RG_KEEP && !read)
							expected = RG_KEEP_UNREAD;
						judge_all(messages, 3, &rules, now_ms, verdicts);
						assert_int_equal(verdicts[0], expected);
						assert_int_equal(verdicts[1], RG_KEEP);
						assert_int_equal(verdicts[2], RG_KEEP);
					}
}

/* The rules, message by message. */
static enum rg_cleanup expected(const struct roger_message *all, size_t count, size_t which,
				const struct rg_cleanup_rules *rules, int64_t now_ms)
{
	int64_t last_run = all[which].pass, newer = 0;
	enum rg_cleanup verdict = RG_KEEP;
	size_t i;

	for (i = 0; i < count; i++) {
		last_run = all[i].pass > last_run ? all[i].pass : last_run;
		newer += i > which && rg_str_equal(all[i].to, all[which].to);
	}
	if (rules->keep_per_phase && newer >= rules->keep_per_phase)
		verdict = RG_TOO_MANY;
	if (rules->keep_runs && last_run - all[which].pass >= rules->keep_runs)
		verdict = RG_OLD_RUN;
	if (rules->max_age_days &&
	    now_ms - all[which].created_at_ms > rules->max_age_days * (int64_t)DAY_MS)
		verdict = RG_TOO_OLD;
	return verdict != RG_KEEP && !all[which].read ? RG_KEEP_UNREAD : verdict;
}

static unsigned drawn = 1;

static int draw(int below)
{
	drawn = drawn * 1103515245 + 12345;
	return (int)((drawn >> 16) % (unsigned)below);
}

static void many_issues(void **state)
{
	const int64_t now_ms = INT64_C(1000) * DAY_MS;
	struct roger_message all[8];
	enum rg_cleanup verdicts[8];
	size_t count, i;
	int round;

	(void)state;
	for (round = 0; round < 5000; round++) {
		const struct rg_cleanup_rules rules = { draw(2) * 90, draw(4), draw(3) };
		int runs = 1 + draw(4);

		count = (size_t)draw(9);
		for (i = 0; i < count; i++)
			all[i] = (struct roger_message){
				.to = str(draw(2) ? "p" : "q"),
				.read = draw(2),
				.pass = draw(runs),
				.created_at_ms = now_ms - INT64_C(90) * DAY_MS + draw(3) - 1,
			};
		judge_all(all, count, &rules, now_ms, verdicts);
		for (i = 0; i < count; i++)
			assert_int_equal(verdicts[i], expected(all, count, i, &rules, now_ms));
	}
}

static void each_verdict_has_its_reason(void **state)
{
	(void)state;
	assert_string_equal(rg_message_cleanup_reason(RG_KEEP), "");
	assert_string_equal(rg_message_cleanup_reason(RG_KEEP_UNREAD), "");
	assert_string_equal(rg_message_cleanup_reason(RG_TOO_OLD), "cleanup: too old");
	assert_string_equal(rg_message_cleanup_reason(RG_TOO_MANY),
			    "cleanup: enough newer ones to the phase");
	assert_string_equal(rg_message_cleanup_reason(RG_OLD_RUN), "cleanup: of an earlier run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_combination),
		cmocka_unit_test(many_issues),
		cmocka_unit_test(each_verdict_has_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
