/*
 * What systems/message_cleanup.h promises, over every combination of read
 * state, age, run and newer messages: unread ones stay, and each rule takes
 * what it says and can be switched off.
 */
#include "place.h"

#include "systems/message_cleanup.h"

enum { DAY_MS = 24 * 3600 * 1000 };

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
							{ .to_phase = str("p"),
							  .read = read,
							  .created_at_ms =
								  now_ms -
								  (old ? INT64_C(91) : 89) * DAY_MS,
							  .run_counter = early ? 1 : 2 },
							{ .to_phase = str(crowded ? "p" : "q"),
							  .created_at_ms = now_ms,
							  .run_counter = 2 },
							{ .to_phase = str(crowded ? "p" : "q"),
							  .created_at_ms = now_ms,
							  .run_counter = 2 },
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
						rg_message_cleanup(messages, 3, &rules, now_ms,
								   verdicts);
						assert_int_equal(verdicts[0], expected);
						assert_int_equal(verdicts[1], RG_KEEP);
						assert_int_equal(verdicts[2], RG_KEEP);
					}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_combination) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
