/*
 * What host/outside.h promises of files that others make, link and remove,
 * also in the very moment they are looked at.
 */
#include "folder.h"

#include <signal.h>

#include "host/outside.h"

static struct folder folder;

static int make(void **state)
{
	(void)state;
	folder_make(&folder);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static int look(const char *name, bool *ret_found, struct roger_err *err)
{
	struct rg_buf text;
	char path[300];
	int r;

	snprintf(path, sizeof path, "%s/%s", folder.path, name);
	rg_buf_init(&text, SIZE_MAX);
	r = rg_outside_read(path, 100, &text, ret_found, err);
	rg_buf_deinit(&text);
	return r;
}

static void test_links(void **state)
{
	struct roger_err err = { 0 };
	bool found;

	(void)state;
	assert_int_equal(look("file", &found, &err), ROGER_OK);
	assert_false(found);
	assert_int_equal(symlinkat("file", folder.open, "link"), 0);
	assert_int_equal(look("link", &found, &err), ROGER_EREFUSED);
	assert_non_null(strstr(err.message, "is a link that leads nowhere; move it away"));
	folder_append_text(&folder, "file", "text");
	assert_int_equal(look("link", &found, &err), ROGER_OK);
	assert_true(found);
	assert_int_equal(symlinkat("round", folder.open, "round"), 0);
	assert_int_equal(look("round", &found, &err), ROGER_EIO);
}

static int make_and_remove(void *context)
{
	(void)context;
	for (;;) {
		close(openat(folder.open, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		unlinkat(folder.open, "file", 0);
	}
	return 0;
}

/* It is there or it is not; it never was a link. */
static void test_made_meanwhile(void **state)
{
	pid_t child = process_fork(make_and_remove, NULL);
	struct roger_err err = { 0 };
	int i, seen = 0, r = ROGER_OK;
	bool found = false;

	(void)state;
	for (i = 0; (i < 20000 || seen < 100) && r == ROGER_OK; i++) {
		r = look("file", &found, &err);
		seen += found;
	}
	kill(child, SIGKILL);
	process_join(child);
	if (r < 0)
		fail_msg("look %d: %s", i, err.message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_links, make, drop),
		cmocka_unit_test_setup_teardown(test_made_meanwhile, make, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
