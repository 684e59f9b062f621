/*
 * What systems/history.h promises: events of all systems in one order, the
 * same at every instant; percentiles and rates by hand; figures by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "systems/history.h"

static int make_arena(void **state)
{
	*state = rg_arena_new();
	return *state ? 0 : -1;
}

static int clear_arena(void **state)
{
	rg_arena_free(*state);
	return 0;
}

static void add(struct rg_history *history, int64_t at_ms, enum roger_event_kind kind,
		const char *actor, const char *peer)
{
	struct roger_event *event = rg_history_add(history);

	assert_non_null(event);
	event->at_ms = at_ms;
	event->kind = (int)kind;
	event->actor = rg_str(actor);
	event->peer = rg_str(peer);
}

static void every_kind_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(rg_event_kinds[ROGER_EVENT_CYCLE], "cycle");
	assert_string_equal(rg_event_kinds[ROGER_EVENT_DEAD_LETTER], "dead_letter");
	assert_string_equal(rg_event_kinds[ROGER_EVENT_ARCHIVED], "archived");
	assert_null(rg_event_kinds[ROGER_EVENT_ARCHIVED + 1]);
}

static void instants_then_kinds_then_places(void **state)
{
	struct rg_history history = { .arena = *state };

	add(&history, 20, ROGER_EVENT_READ, "bob", "");
	add(&history, 10, ROGER_EVENT_READ, "c", "");
	add(&history, 10, ROGER_EVENT_DELIVERED, "b", "");
	add(&history, 10, ROGER_EVENT_SENT, "a", "");
	add(&history, 10, ROGER_EVENT_SENT, "second", "");
	add(&history, 5, ROGER_EVENT_ARCHIVED, "first", "");
	assert_int_equal(rg_history_arrange(&history, 0, 0, NULL), ROGER_OK);
	assert_int_equal(history.count, 6);
	assert_string_equal(history.items[0].actor.data, "first");
	assert_string_equal(history.items[1].actor.data, "a");
	assert_string_equal(history.items[2].actor.data, "second");
	assert_string_equal(history.items[3].actor.data, "b");
	assert_string_equal(history.items[4].actor.data, "c");
	assert_string_equal(history.items[5].actor.data, "bob");
}

static void many_at_one_instant_stay_as_they_came(void **state)
{
	struct rg_history history = { .arena = *state };
	int64_t i;

	for (i = 0; i < 1000; i++) {
		add(&history, 7, ROGER_EVENT_SENT, "a", "b");
		history.items[i].seq = i;
	}
	assert_int_equal(rg_history_arrange(&history, 0, 0, NULL), ROGER_OK);
	for (i = 0; i < 1000; i++)
		assert_int_equal(history.items[i].seq, i);
}

/* From since on, before until; and more may be added afterwards, whatever the count. */
static void a_range_is_cut_out(void **state)
{
	struct rg_history history;
	int64_t count, i;

	for (count = 0; count < 40; count++) {
		history = (struct rg_history){ .arena = *state };
		for (i = 0; i < count; i++)
			add(&history, i, ROGER_EVENT_SENT, "a", "b");
		assert_int_equal(rg_history_arrange(&history, 3, 30, NULL), ROGER_OK);
		assert_int_equal(history.count, count <= 3 ? 0 : (count < 30 ? count : 30) - 3);
		for (i = 0; i < 40; i++)
			add(&history, 1000 - i, ROGER_EVENT_READ, "c", "d");
		assert_int_equal(rg_history_arrange(&history, 0, 0, NULL), ROGER_OK);
		for (i = 1; i < (int64_t)history.count; i++)
			assert_true(history.items[i - 1].at_ms <= history.items[i].at_ms);
	}
}

static void agents_as_they_come_up(void **state)
{
	struct rg_history history = { .arena = *state };
	struct roger_strs agents;
	struct roger_events events;

	add(&history, 1, ROGER_EVENT_SENT, "alice", "bob");
	add(&history, 2, ROGER_EVENT_READ, "bob", "alice");
	add(&history, 3, ROGER_EVENT_CYCLE, "", "");
	add(&history, 4, ROGER_EVENT_SENT, "bob", "carol");
	events = (struct roger_events){ history.items, history.count };
	assert_int_equal(rg_history_agents(&events, *state, &agents, NULL), ROGER_OK);
	assert_int_equal(agents.count, 3);
	assert_string_equal(agents.items[0].data, "alice");
	assert_string_equal(agents.items[1].data, "bob");
	assert_string_equal(agents.items[2].data, "carol");
}

static void percentiles_by_hand(void **state)
{
	int64_t one[] = { 7 }, ten[] = { 100, 20, 30, 40, 10, 60, 70, 80, 90, 50 }, hundred[100];
	size_t i;

	(void)state;
	assert_int_equal(rg_percentile(NULL, 0, 50), 0);
	assert_int_equal(rg_percentile(one, 1, 50), 7);
	assert_int_equal(rg_percentile(one, 1, 100), 7);
	assert_int_equal(rg_percentile(ten, 10, 50), 50);
	assert_int_equal(rg_percentile(ten, 10, 95), 100);
	assert_int_equal(rg_percentile(ten, 10, 100), 100);
	assert_int_equal(rg_percentile(ten, 10, 0), 10);
	for (i = 0; i < 100; i++)
		hundred[i] = 100 - (int64_t)i;
	assert_int_equal(rg_percentile(hundred, 100, 50), 50);
	assert_int_equal(rg_percentile(hundred, 100, 95), 95);
}

static void rates_in_thousandths(void **state)
{
	(void)state;
	assert_int_equal(rg_permille(0, 0), 0);
	assert_int_equal(rg_permille(1, 3), 333);
	assert_int_equal(rg_permille(999999, 1000000), 999);
	assert_int_equal(rg_permille(5, 5), 1000);
}

static void figures_by_size_then_name(void **state)
{
	struct rg_counter counter = { .arena = *state };
	struct roger_figures figures;
	char name[16];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "n%d", i % 100);
		*rg_counter_of(&counter, rg_str(name)) += 1;
	}
	*rg_counter_of(&counter, RG_STR("n42")) += 5;
	*rg_counter_of(&counter, RG_STR("")) += 1;
	assert_int_equal(rg_counter_figures(&counter, &figures, NULL), ROGER_OK);
	assert_int_equal(figures.count, 101);
	assert_string_equal(figures.items[0].name.data, "n42");
	assert_int_equal(figures.items[0].count, 15);
	assert_string_equal(figures.items[1].name.data, "n0");
	assert_string_equal(figures.items[2].name.data, "n1");
	assert_string_equal(figures.items[3].name.data, "n10");
	assert_string_equal(figures.items[100].name.data, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_a_name),
		cmocka_unit_test_setup_teardown(instants_then_kinds_then_places, make_arena,
						clear_arena),
		cmocka_unit_test_setup_teardown(many_at_one_instant_stay_as_they_came, make_arena,
						clear_arena),
		cmocka_unit_test_setup_teardown(a_range_is_cut_out, make_arena, clear_arena),
		cmocka_unit_test_setup_teardown(agents_as_they_come_up, make_arena, clear_arena),
		cmocka_unit_test(percentiles_by_hand),
		cmocka_unit_test(rates_in_thousandths),
		cmocka_unit_test_setup_teardown(figures_by_size_then_name, make_arena, clear_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
