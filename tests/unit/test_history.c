/*
 * What facts/history.h promises: events of all systems in one order, the
 * same at every instant; percentiles and rates by hand; figures by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "harsh.h"
#include "facts/history.h"

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
	struct rg_event *event =
		rg_arena_push(history->arena, &history->items, &history->count, sizeof *event);

	assert_non_null(event);
	event->said.at_ms = at_ms;
	event->said.kind = (int)kind;
	event->said.actor = rg_str(actor);
	event->said.peer = rg_str(peer);
}

/* As a reply has them. */
static struct roger_event_list events_of(const struct rg_history *history)
{
	static struct roger_event events[64];
	size_t i;

	for (i = 0; i < history->count; i++)
		events[i] = history->items[i].said;
	return (struct roger_event_list){ events, history->count };
}

static void every_kind_has_a_name(void **state)
{
	int kind;

	(void)state;
	assert_string_equal(rg_event_kind_names[ROGER_EVENT_CYCLE], "cycle");
	assert_string_equal(rg_event_kind_names[ROGER_EVENT_DEAD_LETTER], "dead_letter");
	assert_string_equal(rg_event_kind_names[ROGER_EVENT_ARCHIVED], "archived");
	for (kind = 0; kind <= ROGER_EVENT_RETIREMENT; kind++)
		assert_non_null(rg_event_kind_names[kind]);
	assert_null(rg_event_kind_names[kind]);
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
	assert_string_equal(history.items[0].said.actor.data, "first");
	assert_string_equal(history.items[1].said.actor.data, "a");
	assert_string_equal(history.items[2].said.actor.data, "second");
	assert_string_equal(history.items[3].said.actor.data, "b");
	assert_string_equal(history.items[4].said.actor.data, "c");
	assert_string_equal(history.items[5].said.actor.data, "bob");
}

static void many_at_one_instant_stay_as_they_came(void **state)
{
	struct rg_history history = { .arena = *state };
	int64_t i;

	for (i = 0; i < 1000; i++) {
		add(&history, 7, ROGER_EVENT_SENT, "a", "b");
		history.items[i].said.seq = i;
	}
	assert_int_equal(rg_history_arrange(&history, 0, 0, NULL), ROGER_OK);
	for (i = 0; i < 1000; i++)
		assert_int_equal(history.items[i].said.seq, i);
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
			assert_true(history.items[i - 1].said.at_ms <= history.items[i].said.at_ms);
	}
}

static void agents_as_they_come_up(void **state)
{
	struct rg_history history = { .arena = *state };
	struct roger_strs agents;
	struct roger_event_list events;

	add(&history, 1, ROGER_EVENT_SENT, "alice", "bob");
	add(&history, 2, ROGER_EVENT_READ, "bob", "alice");
	add(&history, 3, ROGER_EVENT_CYCLE, "", "");
	add(&history, 4, ROGER_EVENT_SENT, "bob", "carol");
	events = events_of(&history);
	agents = rg_history_agents(&events, *state);
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
	assert_int_equal(rg_percentile(NULL, 0, 50), ROGER_UNKNOWN);
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
	assert_int_equal(rg_permille(0, 0), ROGER_UNKNOWN);
	assert_int_equal(rg_permille(1, 3), 333);
	assert_int_equal(rg_permille(999999, 1000000), 999);
	assert_int_equal(rg_permille(5, 5), 1000);
}

static void figures_by_size_then_name(void **state)
{
	struct rg_counter counter = { .names.arena = *state };
	struct roger_figure_list figures;
	char name[16];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "n%d", i % 100);
		*rg_counter_of(&counter, rg_str(name)) += 1;
	}
	*rg_counter_of(&counter, RG_STR("n42")) += 5;
	*rg_counter_of(&counter, RG_STR("")) += 1;
	figures = rg_counter_figures(&counter);
	assert_false(rg_arena_failed(counter.names.arena));
	assert_int_equal(figures.count, 101);
	assert_string_equal(figures.items[0].name.data, "n42");
	assert_int_equal(figures.items[0].count, 15);
	assert_string_equal(figures.items[1].name.data, "n0");
	assert_string_equal(figures.items[2].name.data, "n1");
	assert_string_equal(figures.items[3].name.data, "n10");
	assert_string_equal(figures.items[100].name.data, "");
}

/* More after the last one comes behind it, however many there were. */
static void more_may_be_added_to_what_is_arranged(void **state)
{
	struct rg_history history;
	int64_t count, i;

	for (count = 0; count < 20; count++) {
		history = (struct rg_history){ .arena = *state };
		for (i = 0; i < count; i++)
			add(&history, i, ROGER_EVENT_SENT, "a", "b");
		assert_int_equal(rg_history_arrange(&history, 0, 0, NULL), ROGER_OK);
		add(&history, 100, ROGER_EVENT_READ, "c", "d");
		assert_int_equal(history.count, count + 1);
		for (i = 0; i < count; i++)
			assert_int_equal(history.items[i].said.at_ms, i);
		assert_int_equal(history.items[count].said.at_ms, 100);
	}
}

/* Told of one message in one millisecond: KIND LINE, as they were put in. */
struct told {
	enum roger_event_kind kind;
	int64_t line; /* of the journal; 0: it is told elsewhere */
};

static void add_told(struct rg_history *history, const char *id, const struct told *told,
		     size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		add(history, 7, told[i].kind, "a", "b");
		history->items[history->count - 1].line = told[i].line;
		history->items[history->count - 1].said.message = rg_str(id);
	}
}

/* By kind a claim would come before what is given back, whichever was first. */
static void causes_at_one_instant(void **state)
{
	static const struct told one[] = {
		{ ROGER_EVENT_TIMEOUT, 0 },  { ROGER_EVENT_READ, 16 },	 { ROGER_EVENT_LOOKED, 0 },
		{ ROGER_EVENT_CLAIMED, 13 }, { ROGER_EVENT_CLAIMED, 15 }, { ROGER_EVENT_RETURNED, 14 },
		{ ROGER_EVENT_SENT, 12 },    { ROGER_EVENT_DELIVERED, 0 },
	}, other[] = { { ROGER_EVENT_SENT, 11 }, { ROGER_EVENT_READ, 17 } }, run[] = { { ROGER_EVENT_DISPATCHED, 0 }, { ROGER_EVENT_RUN_NOTE, 0 } };
	static const enum roger_event_kind expected[] = {
		ROGER_EVENT_DISPATCHED, ROGER_EVENT_SENT,    ROGER_EVENT_SENT,
		ROGER_EVENT_DELIVERED,	ROGER_EVENT_LOOKED,  ROGER_EVENT_CLAIMED,
		ROGER_EVENT_RETURNED,	ROGER_EVENT_CLAIMED, ROGER_EVENT_READ,
		ROGER_EVENT_TIMEOUT,	ROGER_EVENT_READ,    ROGER_EVENT_RUN_NOTE,
	};
	struct rg_history history = { .arena = *state };
	size_t i;

	add_told(&history, "m1", one, 8);
	add_told(&history, "m2", other, 2);
	add_told(&history, "", run, 2);
	assert_int_equal(rg_history_arrange(&history, 7, 8, NULL), ROGER_OK);
	assert_int_equal(history.count, 12);
	for (i = 0; i < 12; i++)
		assert_int_equal(history.items[i].said.kind, expected[i]);
	assert_string_equal(history.items[1].said.message.data, "m2");
	assert_int_equal(rg_history_arrange(&history, 8, 0, NULL), ROGER_OK);
	assert_int_equal(history.count, 0);
}

/* An event of nobody, or to nobody, hides no one who comes after it. */
static void agents_of_half_an_event(void **state)
{
	static const struct roger_event events[] = {
		{ .peer = { "bob", 3 } },
		{ .actor = { "ann", 3 } },
		{ .actor = { "ann", 3 }, .peer = { "ann", 3 } },
		{ .actor = { "ann", 3 }, .peer = { "carol", 5 } },
		{ .actor = { "nobody", 6 } },
	};
	const struct roger_event_list list = { events, 4 };
	struct roger_strs agents;

	agents = rg_history_agents(&list, *state);
	assert_int_equal(agents.count, 3);
	assert_true(rg_str_is(agents.items[0], "bob"));
	assert_true(rg_str_is(agents.items[1], "ann"));
	assert_true(rg_str_is(agents.items[2], "carol"));
}

/* By counting: the smallest value that at least so many of a hundred do not exceed. */
static void every_percentile(void **state)
{
	int64_t values[70];
	int percent;
	size_t count, i, below;

	(void)state;
	for (count = 1; count <= 70; count++)
		for (percent = 0; percent <= 100; percent++) {
			for (i = 0; i < count; i++)
				values[i] = (int64_t)((i * 71 + 5) % count) + 1;
			for (below = 1; below < count && below * 100 < count * (size_t)percent;)
				below++;
			assert_int_equal(rg_percentile(values, count, percent), below);
		}
}

/* Names that begin alike, and so many that the table grows again and again. */
static void names_that_begin_alike(void **state)
{
	static const char *const names[] = { "", "a", "aa", "aaa", "ab", "b", "ba" };
	struct rg_counter counter = { .names.arena = *state };
	const struct rg_names *table = &counter.names;
	struct roger_figure_list figures;
	char name[16];
	int i, round;

	for (round = 0; round < 3; round++)
		for (i = 6; i >= 0; i--)
			*rg_counter_of(&counter, rg_str(names[i])) += 2;
	figures = rg_counter_figures(&counter);
	assert_false(rg_arena_failed(counter.names.arena));
	assert_int_equal(figures.count, 7);
	for (i = 0; i < 7; i++) {
		assert_string_equal(figures.items[i].name.data, names[i]);
		assert_int_equal(figures.items[i].count, 6);
	}
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "n%d", i);
		*rg_counter_of(&counter, rg_str(name)) = i;
		/* Never so full that a search would not end soon. */
		assert_true(!table->slots || counter.count * 2 <= table->slot_count);
		assert_true(table->slot_count <= 128 || table->slot_count <= counter.count * 8);
	}
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_int_equal(*rg_counter_of(&counter, rg_str(name)), i);
	}
	assert_int_equal(counter.count, 3007);
	figures = rg_counter_figures(&counter);
	assert_false(rg_arena_failed(counter.names.arena));
	assert_int_equal(figures.count, 3007);
	for (i = 1; i < 3007; i++)
		assert_true(
			figures.items[i - 1].count > figures.items[i].count ||
			(figures.items[i - 1].count == figures.items[i].count &&
			 strcmp(figures.items[i - 1].name.data, figures.items[i].name.data) < 0));
}

static void no_figures(void **state)
{
	struct rg_counter counter = { .names.arena = *state };
	struct roger_figure_list figures;
	struct roger_event_list none = { NULL, 0 };
	struct rg_history history = { .arena = *state };
	struct roger_strs agents;

	figures = rg_counter_figures(&counter);
	assert_false(rg_arena_failed(counter.names.arena));
	assert_int_equal(figures.count, 0);
	agents = rg_history_agents(&none, *state);
	assert_int_equal(agents.count, 0);
	assert_int_equal(rg_history_arrange(&history, 0, 0, NULL), ROGER_OK);
	assert_int_equal(history.count, 0);
}

static void small_rates(void **state)
{
	(void)state;
	assert_int_equal(rg_permille(1, 1), 1000);
	assert_int_equal(rg_permille(0, 1), 0);
	assert_int_equal(rg_permille(5, -1), ROGER_UNKNOWN);
	assert_int_equal(rg_permille(2, 3), 666);
}

static int arrange_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	static struct rg_event events[20];
	static char names[20][8];
	struct rg_history history = { .arena = arena, .items = events, .count = 20 };
	struct rg_counter counter = { .names.arena = arena };
	struct roger_figure_list figures;
	struct roger_event_list list;
	struct roger_strs agents;
	size_t i;
	int r;

	for (i = 0; i < 20; i++) {
		snprintf(names[i], sizeof names[i], "n%zu", i);
		events[i].said.actor = rg_str(names[i]);
		events[i].said.at_ms = (int64_t)i;
	}
	r = rg_history_arrange(&history, 0, 0, err);
	if (r < 0)
		return r;
	list = events_of(&history);
	agents = rg_history_agents(&list, arena);
	for (i = 0; i < 20; i++)
		*rg_counter_of(&counter, rg_str(names[i])) += 1;
	figures = rg_counter_figures(&counter);
	if (rg_arena_failed(arena))
		return rg_fail_memory(err);
	assert_int_equal(agents.count, 20);
	assert_int_equal(figures.count, 20);
	for (i = 0; i < 20; i++)
		assert_int_equal(history.items[i].said.at_ms, i);
	return ROGER_OK;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(arrange_scarcely);
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
		cmocka_unit_test_setup_teardown(more_may_be_added_to_what_is_arranged, make_arena,
						clear_arena),
		cmocka_unit_test_setup_teardown(causes_at_one_instant, make_arena, clear_arena),
		cmocka_unit_test_setup_teardown(agents_of_half_an_event, make_arena, clear_arena),
		cmocka_unit_test(every_percentile),
		cmocka_unit_test_setup_teardown(names_that_begin_alike, make_arena, clear_arena),
		cmocka_unit_test_setup_teardown(no_figures, make_arena, clear_arena),
		cmocka_unit_test(small_rates),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(percentiles_by_hand),
		cmocka_unit_test(rates_in_thousandths),
		cmocka_unit_test_setup_teardown(figures_by_size_then_name, make_arena, clear_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
