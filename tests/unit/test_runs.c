/*
 * What engine.h promises about the documents of runs: what is put stands in
 * the place of what was read and of nothing else, so that of two writers one
 * wins and the other is told.
 */
#include "place.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "ops/op.h"

#define FOLDER "/.roger/state/subagent-delivery-watchdog"

static void write_file(const struct place *place, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s%s/%s", place->root, FOLDER, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int put(struct roger *roger, const char *run, const char *before, const char *after)
{
	int r = rg_engine_records_begin(roger->engine, NULL);

	assert_int_equal(r, ROGER_OK);
	r = rg_engine_run_put(roger->engine, str(run),
			      before ? str(before) : (struct roger_str){ NULL, 0 }, str(after),
			      NULL);
	rg_engine_records_end(roger->engine);
	return r;
}

static void holds(struct roger *roger, const char *run, const char *text)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_str found;

	assert_int_equal(rg_engine_run_find(roger->engine, str(run), arena, &found, NULL),
			 ROGER_OK);
	if (text)
		assert_true(rg_str_is(found, text));
	else
		assert_null(found.data);
	rg_arena_free(arena);
}

static void one_writer_wins(void **state)
{
	struct roger *one, *other;
	struct place place;

	(void)state;
	place_make(&place);
	one = place_open(&place);
	other = place_open(&place);
	holds(one, "r", NULL);
	assert_int_equal(put(one, "r", NULL, "A"), ROGER_OK);
	assert_int_equal(put(other, "r", NULL, "B"), ROGER_ETIMEOUT);
	assert_int_equal(put(other, "r", "A", "B"), ROGER_OK);
	assert_int_equal(put(one, "r", "A", "C"), ROGER_ETIMEOUT);
	holds(one, "r", "B");
	write_file(&place, "r.json", "theirs");
	assert_int_equal(put(one, "r", "B", "C"), ROGER_ETIMEOUT);
	holds(other, "r", "theirs");
	roger_close(one);
	roger_close(other);
	place_remove(&place);
}

static void names_stay_in_the_folder(void **state)
{
	static const char *const names[] = { "../../x", "a/b", "a%2Fb", "a:b", ".a", "A", "a" };
	struct rg_run_texts texts;
	struct rg_arena *arena = rg_arena_new();
	struct roger *roger;
	struct place place;
	size_t i;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	for (i = 0; i < sizeof names / sizeof *names; i++)
		assert_int_equal(put(roger, names[i], NULL, names[i]), ROGER_OK);
	for (i = 0; i < sizeof names / sizeof *names; i++)
		holds(roger, names[i], names[i]);
	assert_int_equal(rg_engine_runs(roger->engine, NULL, NULL, arena, &texts, NULL), ROGER_OK);
	assert_int_equal(texts.count, i);
	rg_arena_free(arena);
	roger_close(roger);
	place_remove(&place);
}

/* No link, no folder and nothing that is too large is read, and none keeps us from the rest. */
static void what_cannot_be_read_is_told(void **state)
{
	struct rg_run_texts texts;
	struct rg_arena *arena = rg_arena_new();
	struct roger *roger;
	struct place place;
	char path[256];
	size_t i, troubles = 0;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(put(roger, "good", NULL, "A"), ROGER_OK);
	snprintf(path, sizeof path, "%s%s/link.json", place.root, FOLDER);
	assert_int_equal(symlink("good.json", path), 0);
	snprintf(path, sizeof path, "%s%s/folder.json", place.root, FOLDER);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s%s/large.json", place.root, FOLDER);
	write_file(&place, "large.json", "");
	assert_int_equal(truncate(path, RG_RUN_BYTES_MAX + 1), 0);
	write_file(&place, "README.md", "for people");
	write_file(&place, "x.json.new-1", "half");
	assert_int_equal(rg_engine_runs(roger->engine, NULL, NULL, arena, &texts, NULL), ROGER_OK);
	assert_int_equal(texts.count, 4);
	for (i = 0; i < texts.count; i++)
		troubles += texts.items[i].trouble.length > 0;
	assert_int_equal(troubles, 3);
	assert_int_equal(put(roger, "link", NULL, "B"), ROGER_EREFUSED);
	holds(roger, "good", "A");
	rg_arena_free(arena);
	roger_close(roger);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_writer_wins),
		cmocka_unit_test(names_stay_in_the_folder),
		cmocka_unit_test(what_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
