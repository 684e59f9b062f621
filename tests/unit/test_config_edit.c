/*
 * What rg_config_set_store() promises: the setting `store` gets its line or loses it, no
 * other byte of config.yaml changes, and what cannot be changed so is left to a person.
 */
#include "place.h"

#include "host/config.h"

static void write_config(const struct place *place, const char *text)
{
	char path[300];

	snprintf(path, sizeof path, "%s/.roger/config.yaml", place->root);
	unlink(path);
	if (text)
		place_configure(place, text);
}

static void expect_config(const char *root, const char *text)
{
	char path[300], there[400] = "";
	FILE *file;

	snprintf(path, sizeof path, "%s/.roger/config.yaml", root);
	file = fopen(path, "r");
	assert_non_null(file);
	there[fread(there, 1, sizeof there - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(there, text);
}

static void the_setting_comes_and_goes(void **state)
{
	static const struct {
		const char *before, *address, *after;
	} rows[] = {
		{ "", "postgres://a/b#c", "store: postgres://a/b#c\n" },
		{ NULL, "postgres://a/b#c", "store: postgres://a/b#c\n" },
		{ "# x\nretries: {max_attempts: 2}", "postgres://a/b",
		  "# x\nretries: {max_attempts: 2}\nstore: postgres://a/b\n" },
		{ "store: postgres://a/b\n# x\n", "postgres://c/d",
		  "# x\nstore: postgres://c/d\n" },
		{ "# x\nstore: postgres://a/b # y\n# z", "", "# x\n# z" },
		{ "# store: no\n", "", "# store: no\n" },
	};
	struct place place;
	const char *root = place.root;
	struct roger_err err;
	size_t i;

	(void)state;
	place_make(&place);
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		write_config(&place, rows[i].before);
		assert_int_equal(rg_config_set_store(root, rg_str(rows[i].address), true, &err),
				 ROGER_OK);
		if (rows[i].before)
			expect_config(root, rows[i].before);
		assert_int_equal(rg_config_set_store(root, rg_str(rows[i].address), false, &err),
				 ROGER_OK);
		expect_config(root, rows[i].after);
	}
	write_config(&place, "{store: postgres://a/b}\n");
	assert_int_equal(rg_config_set_store(root, RG_STR(""), true, &err), ROGER_ECONFIG);
	assert_int_equal(rg_config_set_store(root, RG_STR("postgres://a:pw@b/c"), true, &err),
			 ROGER_ECONFIG);
	expect_config(root, "{store: postgres://a/b}\n");
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_setting_comes_and_goes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
