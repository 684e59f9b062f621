/*
 * What host/program.h promises: input and output go through, no shell sees
 * the words, and a command that hangs, fails, floods, does not read, leaves
 * processes behind or cannot be found is an answer within its time.
 */
#include "folder.h"

#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "host/program.h"

struct ran {
	int r;
	struct rg_program_result result;
	struct rg_buf output;
	struct roger_err err;
	int64_t took_ms;
};

static struct ran run(const char *script, const char *input, int64_t timeout_ms, size_t most)
{
	const struct roger_str words[] = { RG_STR("/bin/sh"), RG_STR("-c"), rg_str(script) };
	const struct rg_program program = {
		.words = { words, 3 },
		.input = rg_str(input),
		.timeout_ms = timeout_ms,
		.output_bytes_most = most,
	};
	struct ran ran = { 0 };
	int64_t start_ns = rg_clock_monotonic_ns();

	rg_buf_init(&ran.output, SIZE_MAX);
	ran.r = rg_program_run(&program, &ran.output, &ran.result, &ran.err);
	ran.took_ms = (rg_clock_monotonic_ns() - start_ns) / 1000000;
	return ran;
}

static void check(struct ran *ran, enum rg_program_end end, int status, const char *output)
{
	if (ran->r < 0)
		fail_msg("%s", ran->err.message);
	assert_int_equal(ran->result.end, end);
	assert_int_equal(ran->result.status, status);
	if (output) {
		rg_buf_add_char(&ran->output, '\0');
		assert_string_equal(ran->output.data, output);
	}
	rg_buf_deinit(&ran->output);
}

static void input_and_output_go_through(void **state)
{
	struct ran ran = run("cat; echo done; echo lost >&2", "a b\n\"c\"\n", 20000, 1000);

	(void)state;
	check(&ran, RG_PROGRAM_EXITED, 0, "a b\n\"c\"\ndone\n");
	ran = run("exit 7", "", 20000, 1000);
	check(&ran, RG_PROGRAM_EXITED, 7, "");
	ran = run("kill -9 $$", "", 20000, 1000);
	check(&ran, RG_PROGRAM_SIGNALLED, SIGKILL, "");
}

static void no_shell_sees_the_words(void **state)
{
	const struct roger_str words[] = { RG_STR("echo"), RG_STR("$HOME; `id` > x"), RG_STR("*") };
	const struct rg_program program = { .words = { words, 3 },
					    .timeout_ms = 20000,
					    .output_bytes_most = 1000 };
	struct ran ran = { 0 };

	(void)state;
	rg_buf_init(&ran.output, SIZE_MAX);
	ran.r = rg_program_run(&program, &ran.output, &ran.result, &ran.err);
	check(&ran, RG_PROGRAM_EXITED, 0, "$HOME; `id` > x *\n");
}

static void what_is_not_read_does_not_hold_us_up(void **state)
{
	char *much = malloc(1 << 20);
	struct ran ran;

	(void)state;
	memset(much, 'x', (1 << 20) - 1);
	much[(1 << 20) - 1] = '\0';
	ran = run("exec <&-; echo ok", much, 20000, 1000);
	check(&ran, RG_PROGRAM_EXITED, 0, "ok\n");
	ran = run("wc -c | tr -d ' '", much, 20000, 1000);
	check(&ran, RG_PROGRAM_EXITED, 0, "1048575\n");
	free(much);
}

static void a_flood_is_cut(void **state)
{
	struct ran ran = run("head -c 3000000 /dev/zero; exit 3", "", 20000, 4096);

	(void)state;
	assert_true(ran.result.cut);
	assert_int_equal(ran.output.length, 4096);
	check(&ran, RG_PROGRAM_EXITED, 3, NULL);
	ran = run("cat /dev/zero", "", 300, 4096);
	assert_true(ran.result.cut && ran.took_ms < 10000);
	check(&ran, RG_PROGRAM_TIMED_OUT, SIGKILL, NULL);
}

static void one_that_hangs_is_killed(void **state)
{
	struct ran ran =
		run("trap '' TERM INT HUP; echo start; while :; do sleep 100; done", "", 300, 1000);

	(void)state;
	assert_true(ran.took_ms >= 300 && ran.took_ms < 10000);
	check(&ran, RG_PROGRAM_TIMED_OUT, SIGKILL, "start\n");
	ran = run("exec >&-; sleep 100", "", 300, 1000);
	assert_true(ran.took_ms < 10000);
	check(&ran, RG_PROGRAM_TIMED_OUT, SIGKILL, "");
}

static bool lives(pid_t pid)
{
	char path[64], text[256] = "";
	int file;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	if (read(file, text, sizeof text - 1) < 0)
		text[0] = '\0';
	close(file);
	return !strstr(text, ") Z ");
}

/* Its children hold the pipe open; they are not waited for, and they go with it. */
static void what_it_started_goes_with_it(void **state)
{
	struct ran ran = run("sleep 100 & echo $!", "", 20000, 1000);
	int64_t until_ns = rg_clock_monotonic_ns() + INT64_C(10000000000);
	pid_t left;

	(void)state;
	assert_true(ran.took_ms < 10000);
	rg_buf_add_char(&ran.output, '\0');
	left = (pid_t)atoi(ran.output.data);
	assert_true(left > 1);
	while (lives(left) && rg_clock_monotonic_ns() < until_ns)
		rg_clock_yield();
	assert_false(lives(left));
	check(&ran, RG_PROGRAM_EXITED, 0, NULL);
}

static void nothing_else_is_inherited(void **state)
{
	int open_to_all = dup2(STDIN_FILENO, 77);
	struct ran ran;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	/* 3 is the folder that ls has open. */
	ran = run("ls /proc/self/fd | tr '\\n' ' '; trap; "
		  "grep -c 'SigIgn:.*[1-9a-f]' /proc/self/status",
		  "", 20000, 1000);
	signal(SIGPIPE, SIG_DFL);
	check(&ran, RG_PROGRAM_EXITED, 1, "0 1 2 3 0\n");
	close(open_to_all);
}

static void one_that_is_not_there_is_told(void **state)
{
	const struct roger_str word = RG_STR("/no/such/program");
	struct rg_program program = { .words = { &word, 1 },
				      .timeout_ms = 20000,
				      .output_bytes_most = 1000 };
	struct ran ran = { 0 };
	struct rg_buf text;

	(void)state;
	rg_buf_init(&text, 1000);
	rg_buf_init(&ran.output, SIZE_MAX);
	ran.r = rg_program_run(&program, &ran.output, &ran.result, &ran.err);
	rg_program_describe(&program, &ran.result, &text);
	rg_buf_add_char(&text, '\0');
	assert_string_equal(text.data, "exit 127, not found");
	check(&ran, RG_PROGRAM_EXITED, RG_PROGRAM_NOT_FOUND, "");
	rg_buf_deinit(&text);
	program.words.count = 0;
	assert_int_equal(rg_program_run(&program, &ran.output, &ran.result, NULL), ROGER_EUSAGE);
}

static void settings_join_the_environment(void **state)
{
	const struct roger_str words[] = {
		RG_STR("/bin/sh"), RG_STR("-c"),
		RG_STR("echo \"$ROGER_AGENT $PLACE $HOME\"; env | grep -c "
		       "^ROGER_AGENT=")
	};
	const struct roger_str more[] = { RG_STR("ROGER_AGENT=bob"), RG_STR("PLACE=a=b c") };
	const struct rg_program program = { .words = { words, 3 },
					    .more = { more, 2 },
					    .timeout_ms = 20000,
					    .output_bytes_most = 1000 };
	struct ran ran = { 0 };

	(void)state;
	setenv("ROGER_AGENT", "ann", 1);
	setenv("HOME", "/home", 1);
	rg_buf_init(&ran.output, SIZE_MAX);
	ran.r = rg_program_run(&program, &ran.output, &ran.result, &ran.err);
	check(&ran, RG_PROGRAM_EXITED, 0, "bob a=b c /home\n1\n");
	assert_string_equal(getenv("ROGER_AGENT"), "ann");
	unsetenv("ROGER_AGENT");
}

/* ------------------------------------------------------------- beside us -- */

static struct rg_launched launch(const char *script, int64_t timeout_ms)
{
	const struct roger_str words[] = { RG_STR("/bin/sh"), RG_STR("-c"), rg_str(script) };
	const struct rg_program program = { .words = { words, 3 }, .timeout_ms = timeout_ms };
	struct rg_launched launched = { 0 };
	struct roger_err err;

	if (rg_program_launch(&program, &launched, &err) < 0)
		fail_msg("%s", err.message);
	return launched;
}

static void ends_as(struct rg_launched *launched, bool enough, enum rg_program_end end, int status)
{
	struct rg_program_result result;

	while (!rg_program_over(launched, enough, &result))
		rg_clock_sleep(1);
	assert_int_equal(result.end, end);
	assert_int_equal(result.status, status);
	assert_null(launched->child);
}

static void those_beside_us_end_each_in_its_own_way(void **state)
{
	struct rg_launched good = launch("read x; exit 0", 20000), bad = launch("exit 3", 20000);
	struct rg_launched hangs = launch("trap '' TERM; sleep 100", 100);
	struct rg_launched floods = launch("yes", 200), stopped = launch("sleep 100", 20000);
	struct rg_launched leaves = launch("sleep 100 & exit 0", 20000);

	(void)state;
	ends_as(&stopped, true, RG_PROGRAM_TIMED_OUT, SIGKILL);
	ends_as(&bad, false, RG_PROGRAM_EXITED, 3);
	/* There is nothing to be read. */
	ends_as(&good, false, RG_PROGRAM_EXITED, 0);
	ends_as(&leaves, false, RG_PROGRAM_EXITED, 0);
	ends_as(&hangs, false, RG_PROGRAM_TIMED_OUT, SIGKILL);
	assert_true(hangs.took_ns >= INT64_C(100000000));
	ends_as(&floods, false, RG_PROGRAM_TIMED_OUT, SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(input_and_output_go_through),
		cmocka_unit_test(no_shell_sees_the_words),
		cmocka_unit_test(what_is_not_read_does_not_hold_us_up),
		cmocka_unit_test(a_flood_is_cut),
		cmocka_unit_test(one_that_hangs_is_killed),
		cmocka_unit_test(what_it_started_goes_with_it),
		cmocka_unit_test(nothing_else_is_inherited),
		cmocka_unit_test(one_that_is_not_there_is_told),
		cmocka_unit_test(settings_join_the_environment),
		cmocka_unit_test(those_beside_us_end_each_in_its_own_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
