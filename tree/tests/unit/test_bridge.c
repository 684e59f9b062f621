/*
 * What the bridge is made of: which agent a role and a file name mean, walked
 * through; and what a taken file is called, in which order they come, when one can
 * be read and what is left of it.
 */
#include "place.h"

#include <fcntl.h>

#include "base/limits.h"
#include "ops/edge/bridge.h"
#include "host/file.h"

/* --------------------------------------------------------------- names -- */

static void a_role_means_the_one_agent_it_can_mean(void **state)
{
	static const struct roger_str known[] = {
		{ "LEAD", 4 }, { "bob", 3 }, { "Bob", 3 }, { "a.b", 3 },
		{ "a:c", 3 },  { "x_y", 3 }, { "x.y", 3 }, { "worker-1", 8 },
	};
	static const char *const pairs[][2] = {
		{ "LEAD", "LEAD" },	    { "lead", "LEAD" },	    { "Lead", "LEAD" },
		{ "bob", "bob" },	    { "Bob", "Bob" },	    { "BOB", "BOB" },
		{ "a_b", "a.b" },	    { "A_B", "a.b" },	    { "a_c", "a:c" },
		{ "x_y", "x_y" },	    { "X_Y", "X_Y" },	    { "worker_1", "worker_1" },
		{ "WORKER-1", "worker-1" }, { "nobody", "nobody" }, { "LEADER", "LEADER" },
	};
	const struct roger_strs names = { known, sizeof known / sizeof *known };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (!rg_str_is(rg_crossing_name(names, rg_str(pairs[i][0])), pairs[i][1]))
			fail_msg("'%s' does not mean '%s'", pairs[i][0], pairs[i][1]);
}

static void files_are_called_as_agents_are_encoded(void **state)
{
	(void)state;
	assert_true(rg_crossing_is_file_of(RG_STR("bob"), RG_STR("bob")));
	assert_true(rg_crossing_is_file_of(RG_STR("bob"), RG_STR("BOB")));
	assert_true(rg_crossing_is_file_of(RG_STR("a/b"), RG_STR("a%2fb")));
	assert_false(rg_crossing_is_file_of(RG_STR("a/b"), RG_STR("a/b")));
	assert_false(rg_crossing_is_file_of(RG_STR("bob"), RG_STR("bobb")));
	assert_true(rg_trigger_is_name(RG_STR("bob.txt")));
	assert_true(rg_trigger_is_name(RG_STR("bob.TXT")));
	assert_false(rg_trigger_is_name(RG_STR(".txt")));
	assert_false(rg_trigger_is_name(RG_STR(".bob.txt")));
	assert_false(rg_trigger_is_name(RG_STR("bob.txt~")));
	assert_false(rg_trigger_is_name(RG_STR("bob.txt.tmp")));
}

/* --------------------------------------------------------- taken files -- */

struct scene {
	struct place place;
	struct rg_workspace *workspace;
	struct rg_triggers triggers;
	struct rg_id_source ids;
	struct rg_arena *arena;
};

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	place_make(&scene->place);
	assert_int_equal(rg_workspace_open(scene->place.root, &scene->workspace, NULL), ROGER_OK);
	assert_int_equal(rg_triggers_open(scene->workspace, &scene->triggers, NULL), ROGER_OK);
	scene->arena = rg_arena_new();
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	rg_arena_free(scene->arena);
	rg_triggers_close(&scene->triggers);
	rg_workspace_close(scene->workspace);
	place_remove(&scene->place);
	free(scene);
	return 0;
}

static void put(const struct scene *scene, int folder, const char *name, const char *text)
{
	int file = openat(folder, name, O_WRONLY | O_CREAT | O_APPEND, 0600);

	(void)scene;
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
}

static struct rg_taken_list taken(struct scene *scene)
{
	struct rg_taken_list list;

	assert_int_equal(rg_triggers_taken(&scene->triggers, scene->arena, &list, NULL), ROGER_OK);
	return list;
}

static bool take(struct scene *scene, const char *name)
{
	bool was_taken;

	assert_int_equal(
		rg_triggers_take(&scene->triggers, rg_str(name), &scene->ids, &was_taken, NULL),
		ROGER_OK);
	return was_taken;
}

static void names_say_what_was_taken_and_in_which_order(void **state)
{
	static const char *const none[] = { "x",
					    "1-0011223344556677-0",
					    "1-0011223344556677-0.bob",
					    "1-00112233445566-0.bob.txt",
					    "1-0011223344556677-.bob.txt",
					    "1-0011223344556677-0.x.new-12",
					    "-0011223344556677-0.bob.txt",
					    "1-0011223344556G77-0.bob.txt",
					    "9999999999999999999999-0011223344556677-0.bob.txt" };
	struct scene *scene = *state;
	struct rg_taken_list list;
	size_t i;

	for (i = 0; i < sizeof none / sizeof *none; i++)
		put(scene, scene->triggers.taken, none[i], "x");
	assert_int_equal(taken(scene).count, 0);
	put(scene, scene->triggers.taken, "1000-0011223344556677-12.b.c.txt", "x");
	put(scene, scene->triggers.taken, "999-ff11223344556677-0.bob.txt", "x");
	list = taken(scene);
	assert_int_equal(list.count, 2);
	assert_true(rg_str_is(list.items[0].file, "bob.txt"));
	assert_true(rg_str_is(list.items[1].file, "b.c.txt"));
	assert_true(rg_str_is(list.items[1].id, "1000-0011223344556677"));
	assert_int_equal(list.items[1].offset, 12);
	/* Later ones rise even where the clock stands before those that are there. */
	scene->triggers.last_ms = INT64_C(9000000000000);
	for (i = 0; i < 3; i++) {
		put(scene, scene->triggers.folder, "bob.txt", "x");
		assert_true(take(scene, "bob.txt"));
	}
	list = taken(scene);
	assert_int_equal(list.count, 5);
	for (i = 0; i < 3; i++)
		assert_int_equal(list.items[2 + i].ms, INT64_C(9000000000001) + (int64_t)i);
}

static void a_file_is_read_when_no_writer_is_left(void **state)
{
	struct scene *scene = *state;
	struct rg_taken_list list;
	int writer, file;
	bool final;

	assert_false(take(scene, "bob.txt"));
	put(scene, scene->triggers.folder, "bob.txt", "");
	assert_false(take(scene, "bob.txt"));
	writer = openat(scene->triggers.folder, "bob.txt", O_WRONLY | O_APPEND);
	assert_int_equal(write(writer, "half", 4), 4);
	assert_true(take(scene, "bob.txt"));
	list = taken(scene);
	assert_int_equal(
		rg_triggers_open_taken(&scene->triggers, &list.items[0], &file, &final, NULL),
		ROGER_OK);
	assert_int_equal(file, RG_NO_FILE);
	/* It has paused. */
	usleep((RG_TRIGGER_STILL_MS + 50) * 1000);
	assert_int_equal(
		rg_triggers_open_taken(&scene->triggers, &list.items[0], &file, &final, NULL),
		ROGER_OK);
	assert_true(file != RG_NO_FILE && !final);
	rg_file_close(file);
	close(writer);
	assert_int_equal(
		rg_triggers_open_taken(&scene->triggers, &list.items[0], &file, &final, NULL),
		ROGER_OK);
	assert_true(file != RG_NO_FILE && final);
	rg_file_close(file);

	assert_int_equal(rg_triggers_advance(&scene->triggers, &list.items[0], 4, NULL), ROGER_OK);
	assert_int_equal(list.items[0].offset, 4);
	assert_int_equal(taken(scene).items[0].offset, 4);
	assert_int_equal(rg_triggers_keep(&scene->triggers, &list.items[0], RG_STR("text"), NULL),
			 ROGER_OK);
	assert_int_equal(faccessat(scene->triggers.skipped, list.items[0].name, F_OK, 0), 0);
	assert_int_equal(rg_triggers_keep(&scene->triggers, &list.items[0], RG_STR(""), NULL),
			 ROGER_OK);
	assert_int_equal(faccessat(scene->triggers.skipped, list.items[0].name, F_OK, 0), -1);
	assert_int_equal(rg_triggers_put_aside(&scene->triggers, &list.items[0], NULL), ROGER_OK);
	assert_int_equal(taken(scene).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_role_means_the_one_agent_it_can_mean),
		cmocka_unit_test(files_are_called_as_agents_are_encoded),
		cmocka_unit_test_setup_teardown(names_say_what_was_taken_and_in_which_order, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_is_read_when_no_writer_is_left, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
