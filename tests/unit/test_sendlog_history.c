/*
 * What send logs may say of messages: an attempt is delivered on evidence, is
 * numbered without gaps, is given up once; and what was purged is not missed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "systems/sendlog_history.h"

struct scene {
	struct rg_sendlog_history history;
	struct rg_arena *arena;
	int64_t line;
};

static void set_up(struct scene *scene)
{
	scene->arena = rg_arena_new();
	assert_non_null(scene->arena);
	assert_int_equal(rg_sendlog_history_init(&scene->history, 3, NULL), ROGER_OK);
	scene->line = 0;
}

static void tear_down(struct scene *scene)
{
	rg_sendlog_history_deinit(&scene->history);
	rg_arena_free(scene->arena);
}

static struct roger_message message(const char *id, int64_t attempt)
{
	return (struct roger_message){ .id = rg_str(id),
				       .from_phase = RG_STR("ann"),
				       .to_phase = RG_STR("bob"),
				       .content = RG_STR("hello"),
				       .created_at_ms = 1000,
				       .idempotent_key = RG_STR("app:escalation:c"),
				       .cycle_id = RG_STR("1"),
				       .attempt = attempt,
				       .confirm_by_ms = attempt ? 2000 : 0 };
}

static void store(struct scene *scene, struct roger_message stored, uint64_t offset)
{
	assert_int_equal(rg_sendlog_history_message(&scene->history, &stored, offset, true, NULL),
			 ROGER_OK);
}

static struct roger_attempt entry(struct scene *scene, struct roger_message of,
				  enum roger_attempt_outcome outcome)
{
	struct roger_attempt attempt;

	assert_int_equal(rg_sendlog_entry(&of, 3, outcome, 1000, scene->arena, &attempt, NULL),
			 ROGER_OK);
	return attempt;
}

static unsigned take(struct scene *scene, struct roger_attempt attempt)
{
	unsigned faults;

	assert_int_equal(rg_sendlog_history_entry(&scene->history, &attempt, 1, ++scene->line,
						  &faults, NULL),
			 ROGER_OK);
	return faults;
}

static unsigned file(struct scene *scene, const char *id, const char *message_id)
{
	struct roger_message of = message(message_id, 1);
	struct roger_attempt attempt = entry(scene, of, ROGER_TIMEOUT);
	struct roger_dead_letter letter = { .id = rg_str(id),
					    .message_id = rg_str(message_id),
					    .payload_sha256 = attempt.payload_sha256,
					    .payload_bytes = attempt.payload_bytes,
					    .cycle_id = RG_STR("1"),
					    .filed_as = RG_STR("TASK-1") };
	unsigned faults;

	assert_int_equal(rg_sendlog_history_letter(&scene->history, &letter, &faults, NULL),
			 ROGER_OK);
	return faults;
}

static void delivered_on_evidence(void **state)
{
	struct roger_message plain = message("1", 0), waited = message("2", 1), read;
	struct roger_attempt attempt;
	struct scene scene;

	(void)state;
	set_up(&scene);
	waited.idempotent_key = RG_STR("other:escalation:c");
	store(&scene, plain, 0);
	store(&scene, waited, 100);
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_DELIVERED)), 0);
	assert_int_equal(take(&scene, entry(&scene, waited, ROGER_DELIVERED)), RG_SENDLOG_NOT_READ);
	read = waited;
	read.read = true;
	read.read_at_ms = 1500;
	store(&scene, read, 200);
	assert_int_equal(take(&scene, entry(&scene, waited, ROGER_DELIVERED)), 0);
	attempt = entry(&scene, plain, ROGER_DELIVERED);
	attempt.payload_bytes++;
	assert_int_equal(take(&scene, attempt), RG_SENDLOG_PAYLOAD_WRONG);
	attempt = entry(&scene, plain, ROGER_DELIVERED);
	attempt.id = RG_STR("snd-0");
	assert_int_equal(take(&scene, attempt), RG_SENDLOG_ID_WRONG);
	attempt = entry(&scene, plain, ROGER_TIMEOUT);
	assert_int_equal(take(&scene, attempt), RG_SENDLOG_TAKEN_BACK);
	plain.idempotent_key = RG_STR("never:sent:c");
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_DELIVERED)),
			 RG_SENDLOG_NO_MESSAGE);
	/* What was refused is in no journal. */
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_ERROR)), RG_SENDLOG_TAKEN_BACK);
	plain.idempotent_key = RG_STR("refused:sent:c");
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_ERROR)), 0);
	tear_down(&scene);
}

static void numbered_without_gaps(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	store(&scene, message("1", 2), 100);
	store(&scene, message("1", 5), 200);
	assert_int_equal(take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 5), ROGER_TIMEOUT)),
			 RG_SENDLOG_GAP);
	tear_down(&scene);

	/* One that was begun, and whose process was killed. */
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	store(&scene, message("1", 2), 100);
	store(&scene, message("1", 3), 200);
	assert_int_equal(take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 3), ROGER_TIMEOUT)),
			 RG_SENDLOG_UNSETTLED);
	tear_down(&scene);
}

static bool is_given_up(const struct scene *scene)
{
	uint32_t log;
	int64_t line;
	size_t i = 0;

	return rg_sendlog_history_next_given_up(&scene->history, &i, &log, &line) && log == 1 &&
	       line == scene->line;
}

static void given_up_once(void **state)
{
	struct roger_message read = message("1", 2);
	struct roger_attempt last;
	struct scene scene;

	(void)state;
	set_up(&scene);
	read.read = true;
	store(&scene, message("1", 1), 0);
	store(&scene, message("1", 2), 100);
	store(&scene, message("1", 3), 200);
	take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT));
	take(&scene, entry(&scene, message("1", 2), ROGER_TIMEOUT));
	assert_false(is_given_up(&scene));
	take(&scene, entry(&scene, message("1", 3), ROGER_TIMEOUT));
	assert_true(is_given_up(&scene));
	last = entry(&scene, message("1", 3), ROGER_TIMEOUT);
	last.dead_letter_task_id = RG_STR("TASK-1");
	assert_int_equal(take(&scene, last), RG_SENDLOG_NO_LETTER);
	assert_int_equal(file(&scene, "dl-1", "1"), 0);
	assert_int_equal(file(&scene, "dl-1", "1"), 0);
	assert_int_equal(file(&scene, "dl-2", "1"), RG_SENDLOG_SECOND_LETTER);
	assert_int_equal(file(&scene, "dl-3", "9"), RG_SENDLOG_NO_MESSAGE);
	assert_int_equal(take(&scene, last), 0);
	assert_false(is_given_up(&scene));
	tear_down(&scene);

	/* Read late: the row of timeouts is broken. */
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	store(&scene, read, 100);
	store(&scene, message("1", 3), 200);
	take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT));
	take(&scene, entry(&scene, message("1", 2), ROGER_TIMEOUT));
	take(&scene, entry(&scene, message("1", 2), ROGER_DELIVERED));
	take(&scene, entry(&scene, message("1", 3), ROGER_TIMEOUT));
	assert_false(is_given_up(&scene));
	tear_down(&scene);
}

static unsigned open_cycle(struct scene *scene, const char *id, int64_t number)
{
	struct roger_cycle cycle = { .id = rg_str(id), .number = number };
	unsigned faults;

	assert_int_equal(rg_sendlog_history_cycle(&scene->history, &cycle, &faults, NULL),
			 ROGER_OK);
	return faults;
}

static void missing_unless_purged(void **state)
{
	struct roger_message old = message("1", 0), now = message("2", 0);
	struct scene scene;
	uint64_t offset;
	size_t i = 0;

	(void)state;
	set_up(&scene);
	assert_int_equal(open_cycle(&scene, "two", 2), 0);
	assert_int_equal(open_cycle(&scene, "three", 3), 0);
	assert_int_equal(open_cycle(&scene, "four", 4), 0);
	assert_int_equal(open_cycle(&scene, "two", 5), RG_SENDLOG_CYCLE_ORDER);
	now.cycle_id = RG_STR("four");
	store(&scene, old, 0);
	store(&scene, now, 100);
	assert_true(rg_sendlog_history_next_missing(&scene.history, &i, &offset));
	assert_int_equal(offset, 100);
	assert_false(rg_sendlog_history_next_missing(&scene.history, &i, &offset));
	take(&scene, entry(&scene, now, ROGER_DELIVERED));
	i = 0;
	assert_false(rg_sendlog_history_next_missing(&scene.history, &i, &offset));
	now.cycle_id = RG_STR("nine");
	assert_int_equal(take(&scene, entry(&scene, now, ROGER_ERROR)), RG_SENDLOG_NO_CYCLE);
	tear_down(&scene);
}

static void every_fault_has_words(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < RG_SENDLOG_FAULTS; i++)
		assert_true(*rg_sendlog_fault_text((enum rg_sendlog_fault)(1 << i)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delivered_on_evidence), cmocka_unit_test(numbered_without_gaps),
		cmocka_unit_test(given_up_once),	 cmocka_unit_test(missing_unless_purged),
		cmocka_unit_test(every_fault_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
