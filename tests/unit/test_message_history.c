/*
 * What a journal of messages may say: each rule holds for what roger wrote,
 * what other programs wrote is taken as it comes, and the sums are those of the
 * living and the archived.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "systems/message_history.h"

struct scene {
	struct rg_message_history history;
	int64_t line;
};

static void set_up(struct scene *scene)
{
	rg_message_history_init(&scene->history);
	scene->line = 0;
}

static void tear_down(struct scene *scene)
{
	rg_message_history_deinit(&scene->history);
}

static struct roger_message message(const char *id, int64_t seq)
{
	return (struct roger_message){ .id = rg_str(id),
				       .issue_id = RG_STR("app"),
				       .from_phase = RG_STR("ann"),
				       .to_phase = RG_STR("bob"),
				       .run_counter = 1,
				       .content = RG_STR("hello"),
				       .created_at_ms = 1000,
				       .seq = seq,
				       .epoch = 1 };
}

static unsigned take_as(struct scene *scene, struct roger_message taken, bool own)
{
	struct rg_message_step step;

	assert_int_equal(
		rg_message_history_take(&scene->history, &taken, ++scene->line, own, &step, NULL),
		ROGER_OK);
	return step.faults;
}

static unsigned take(struct scene *scene, struct roger_message taken)
{
	return take_as(scene, taken, true);
}

static struct roger_message read_at(struct roger_message taken, int64_t ms)
{
	taken.read = true;
	taken.read_at_ms = ms;
	return taken;
}

static struct roger_message archived(struct roger_message taken)
{
	taken.archived_at_ms = 3000;
	return taken;
}

static void a_life_without_faults(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 1), three = message("3", 2);
	struct rg_message_known known;
	struct scene scene;

	(void)state;
	set_up(&scene);
	two.to_phase = RG_STR("carol");
	three.reply_to = RG_STR("1");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, two), 0);
	assert_int_equal(take(&scene, three), 0);
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take(&scene, archived(read_at(one, 2000))), 0);
	assert_true(rg_message_history_find(&scene.history, RG_STR("1"), &known));
	assert_int_equal(known.line, 1);
	assert_true(known.read && known.archived);
	assert_false(rg_message_history_find(&scene.history, RG_STR("4"), &known));
	tear_down(&scene);
}

/* Two files of one sender may be taken in another order than they were written in. */
static void numbers_of_an_edge_may_cross(void **state)
{
	struct roger_message early = message("2", 2), late = message("1", 3),
			     next = message("3", 4);
	struct scene scene;

	(void)state;
	set_up(&scene);
	early.via = late.via = RG_STR("bridge");
	early.to_phase = RG_STR("eve");
	assert_int_equal(take(&scene, late), 0);
	assert_int_equal(take(&scene, early), 0);
	assert_int_equal(take(&scene, next), 0);
	early.via = RG_STR("");
	early.id = RG_STR("4");
	assert_int_equal(take(&scene, early), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(scene.history.sums.edges, 2);
	assert_int_equal(scene.history.sums.edge_numbers, 5);
	tear_down(&scene);
}

static void every_fault(void **state)
{
	struct roger_message one = message("1", 5), other = message("1", 5), back = message("2", 4),
			     same = message("3", 5), late = message("4", 9),
			     gone = message("5", 10);
	struct scene scene;

	(void)state;
	set_up(&scene);
	other.content = RG_STR("something else");
	late.epoch = 0;
	gone.reply_to = RG_STR("nobody");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, other), RG_MESSAGE_ID_TAKEN);
	assert_int_equal(take(&scene, back), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, same), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, late), RG_MESSAGE_EPOCH_BACK);
	assert_int_equal(take(&scene, gone), RG_MESSAGE_ANSWERS_NONE);
	assert_int_equal(take(&scene, read_at(back, 0)), RG_MESSAGE_READ_WHEN);
	assert_int_equal(take(&scene, read_at(same, 999)), RG_MESSAGE_READ_EARLY);
	assert_int_equal(take(&scene, same), RG_MESSAGE_UNREAD_AGAIN);
	assert_int_equal(take(&scene, archived(read_at(late, 2000))), 0);
	assert_int_equal(take(&scene, read_at(late, 2000)), RG_MESSAGE_AFTER_ARCHIVE);
	tear_down(&scene);
}

static void an_epoch_starts_numbers_over(void **state)
{
	struct roger_message fresh = message("2", 1), foreign = message("3", 1);
	struct scene scene;

	(void)state;
	set_up(&scene);
	fresh.epoch = 2;
	foreign.epoch = 7;
	assert_int_equal(take(&scene, message("1", 100)), 0);
	assert_int_equal(take(&scene, fresh), 0);
	/* Nobody else opens a session. */
	assert_int_equal(take_as(&scene, foreign, false), 0);
	assert_int_equal(scene.history.epoch, 2);
	assert_int_equal(take(&scene, message("4", 101)), RG_MESSAGE_EPOCH_BACK);
	tear_down(&scene);
}

static void others_may_write_what_they_like(void **state)
{
	struct roger_message one = message("1", 5), two = message("2", 4);
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take_as(&scene, one, false), 0);
	/* Roger may not have seen that yet. */
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take_as(&scene, two, false), 0);
	/* Its number counts. */
	assert_int_equal(take_as(&scene, message("3", 50), false), 0);
	assert_int_equal(take(&scene, message("4", 50)), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, message("5", 51)), 0);
	tear_down(&scene);
}

static void the_sums_of_what_lives(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 2), three = message("3", 3);
	const struct rg_message_sums *sums;
	struct scene scene;
	int64_t expected;

	(void)state;
	set_up(&scene);
	sums = &scene.history.sums;
	two.idempotent_key = RG_STR("a:b:c");
	three.reply_to = RG_STR("1");
	take(&scene, one);
	take(&scene, two);
	take(&scene, three);
	take(&scene, read_at(one, 2000));
	take(&scene, archived(read_at(one, 2000)));
	assert_int_equal(sums->messages, 2);
	assert_int_equal(sums->unread, 2);
	assert_int_equal(sums->mailbox_positions, 2 + 3);
	assert_int_equal(sums->archived, 1);
	assert_int_equal(sums->archived_positions, 1);
	assert_int_equal(sums->keys, 1);
	assert_int_equal(sums->replies, 1);
	assert_int_equal(sums->sent, 3);
	assert_int_equal(sums->seen, 1);
	assert_int_equal(sums->seen_numbers, 1);
	expected = (int64_t)((uint64_t)rg_message_row(&scene.history.scratch, &two) +
			     (uint64_t)rg_message_row(&scene.history.scratch, &three));
	assert_int_equal(sums->rows, expected);
	assert_int_equal(rg_message_history_agent(&scene.history, RG_STR("bob"))->unread, 2);
	assert_int_equal(rg_message_history_agent(&scene.history, RG_STR("ann"))->seq, 3);
	assert_int_equal(rg_message_history_seen(&scene.history, RG_STR("bob"), RG_STR("ann"))->seq,
			 1);
	tear_down(&scene);
}

static void every_fault_has_words(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < RG_MESSAGE_FAULTS; i++)
		assert_true(*rg_message_fault_text((enum rg_message_fault)(1 << i)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_life_without_faults),
		cmocka_unit_test(numbers_of_an_edge_may_cross),
		cmocka_unit_test(every_fault),
		cmocka_unit_test(an_epoch_starts_numbers_over),
		cmocka_unit_test(others_may_write_what_they_like),
		cmocka_unit_test(the_sums_of_what_lives),
		cmocka_unit_test(every_fault_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
