/* Which files git tracks is read from its index; what cannot be read is not called clear. */
#include "folder.h"
#include "harsh.h"
#include "host/git.h"
#include "host/workspace.h"

static struct folder place;

/* Write an index of version 2 with these names and hashes of SHA-1. */
static void write_index(const char *const *names)
{
	static const unsigned char zeros[64];
	char path[300];
	unsigned char flags[2];
	size_t length, count = 0;
	FILE *index;

	while (names[count])
		count++;
	snprintf(path, sizeof path, "%s/.git/index", place.path);
	index = fopen(path, "w");
	assert_non_null(index);
	fwrite("DIRC\0\0\0\2\0\0\0", 1, 11, index);
	putc((int)count, index);
	for (; *names; names++) {
		length = strlen(*names);
		flags[0] = (unsigned char)(length >> 8);
		flags[1] = (unsigned char)length;
		fwrite(zeros, 1, 60, index);
		fwrite(flags, 1, 2, index);
		fwrite(*names, 1, length, index);
		fwrite(zeros, 1, 8 - (62 + length) % 8, index);
	}
	fwrite(zeros, 1, 20, index);
	assert_int_equal(fclose(index), 0);
}

static int look(struct rg_arena *arena, enum rg_git_state expected, size_t count,
		struct roger_err *err)
{
	char path[300];
	const struct rg_git_watch watch = { path, NULL };
	struct roger_strs tracked;
	enum rg_git_state state;
	int r;

	snprintf(path, sizeof path, "%s/.roger", place.path);
	r = rg_git_look(place.path, &watch, 1, NULL, arena, &state, &tracked, err);
	if (r == ROGER_OK) {
		assert_int_equal(state, expected);
		assert_int_equal(tracked.count, count);
	}
	return r;
}

static int look_at_two(struct rg_arena *arena, struct roger_err *err)
{
	return look(arena, RG_GIT_TRACKS, 2, err);
}

static void memory_runs_out(void **state)
{
	const char *const names[] = { "README", ".roger/id", ".roger/messages.jsonl", NULL };

	long pieces = 0;

	(void)state;
	write_index(names);
	while (scarce_try(look_at_two, 0, pieces, SIZE_MAX) < 0)
		pieces++;
	assert_in_range(pieces, 3, 20);
}

static struct rg_workspace *workspace;

static int find_distrust(struct rg_arena *arena, struct roger_err *err)
{
	const char *why = rg_workspace_distrust(workspace);

	(void)arena;
	return *why ? rg_fail(err, ROGER_ENOMEM, 0, "%s", why) : ROGER_OK;
}

/* A trusted workspace in the repository, of which git tracks nothing. */
static void no_memory_is_no_distrust(void **state)
{
	const char *const names[] = { "README", NULL };
	const struct roger_init_request request = { .path = rg_str(place.path) };
	struct roger_init_reply reply;
	long pieces = 0;

	(void)state;
	write_index(names);
	setenv("XDG_STATE_HOME", place.path, 1);
	assert_int_equal(roger_init(&request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	assert_int_equal(rg_workspace_open(place.path, &workspace, NULL), ROGER_OK);
	while (scarce_try(find_distrust, 0, pieces, SIZE_MAX) < 0)
		pieces++;
	assert_in_range(pieces, 3, 40);
	rg_workspace_close(workspace);
}

static void what_is_no_index_is_unknown(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	const char *const names[] = { "README", NULL };
	char path[300];

	(void)state;
	assert_int_equal(look(arena, RG_GIT_TRACKS, 2, NULL), ROGER_OK);
	write_index(names);
	assert_int_equal(look(arena, RG_GIT_CLEAR, 0, NULL), ROGER_OK);
	snprintf(path, sizeof path, "%s/.git/index", place.path);
	assert_int_equal(truncate(path, 50), 0);
	assert_int_equal(look(arena, RG_GIT_UNKNOWN, 0, NULL), ROGER_OK);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(look(arena, RG_GIT_CLEAR, 0, NULL), ROGER_OK);
	rg_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(what_is_no_index_is_unknown),
		cmocka_unit_test(no_memory_is_no_distrust),
	};
	char path[300];
	int failed;

	folder_make(&place);
	snprintf(path, sizeof path, "%s/.git", place.path);
	if (mkdir(path, 0700) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	folder_remove(&place);
	return failed;
}
