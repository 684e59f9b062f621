/*
 * What roger_run() promises a program that uses the library: it touches none
 * of its streams and signals unless asked, gives the end of the run, passes on
 * what it is told to, and whose hands a run is in follows from the processes
 * that its document names.
 */
#include "place.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/runs/run_process.h"
#include "host/child.h"

static void hands(void **state)
{
	static const enum rg_run_hands table[3][3] = {
		/* the runner:        unknown           lives           gone */
		/* child unknown */ { RG_HANDS_UNKNOWN, RG_HANDS_HELD, RG_HANDS_UNKNOWN },
		/* lives */ { RG_HANDS_UNKNOWN, RG_HANDS_HELD, RG_HANDS_ORPHAN },
		/* gone */ { RG_HANDS_UNKNOWN, RG_HANDS_HELD, RG_HANDS_LOST },
	};
	int child, runner;

	(void)state;
	for (child = 0; child < 3; child++)
		for (runner = 0; runner < 3; runner++)
			assert_int_equal(rg_run_hands_of((enum rg_process_fate)child,
							 (enum rg_process_fate)runner),
					 table[child][runner]);
}

static void fates(void **state)
{
	struct rg_process process, other;
	pid_t pid;
	int status;

	(void)state;
	rg_process_find(getpid(), &process);
	assert_int_equal(rg_process_fate(&process), RG_PROCESS_LIVES);
	other = process;
	other.start++;
	assert_int_equal(rg_process_fate(&other), RG_PROCESS_GONE);
	other = process;
	other.space++;
	assert_int_equal(rg_process_fate(&other), RG_PROCESS_UNKNOWN);
	other = process;
	other.boot_id[0] ^= 1;
	assert_int_equal(rg_process_fate(&other), RG_PROCESS_GONE);
	other = process;
	other.boot_id[0] = '\0';
	assert_int_equal(rg_process_fate(&other), RG_PROCESS_UNKNOWN);
	other = process;
	other.id = -1;
	assert_int_equal(rg_process_fate(&other), RG_PROCESS_UNKNOWN);

	pid = fork();
	if (pid == 0)
		pause();
	rg_process_find(pid, &process);
	assert_int_equal(rg_process_fate(&process), RG_PROCESS_LIVES);
	kill(pid, SIGKILL);
	/* A zombie does nothing any more. */
	while (rg_process_fate(&process) == RG_PROCESS_LIVES)
		usleep(1000);
	assert_int_equal(rg_process_fate(&process), RG_PROCESS_GONE);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(rg_process_fate(&process), RG_PROCESS_GONE);
}

static int run_words(struct roger *roger, const char *const *words, size_t count,
		     struct roger_run_request *request, struct roger_run_reply *reply,
		     struct roger_err *err)
{
	struct roger_str texts[8];
	size_t i;

	for (i = 0; i < count; i++)
		texts[i] = str(words[i]);
	request->command = (struct roger_strs){ texts, count };
	request->forward_to = str("lead");
	return roger_run(roger, request, reply, err);
}

static void without_streams(void **state)
{
	const char *const words[] = { "sh", "-c", "cat; echo heard; echo lost >&2; exit 4" };
	struct roger_run_request request = { .run = str("r1") };
	struct roger_inbox_request look = { .agent = str("lead") };
	struct roger_inbox_reply inbox;
	struct roger_run_reply reply;
	struct roger *roger;
	struct place place;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(run_words(roger, words, 3, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.exit, 4);
	assert_string_equal(reply.ended.data, "exit 4");
	assert_int_equal(reply.output_bytes, 6);
	assert_int_equal(reply.runs.items[0].status, ROGER_RUN_NOT_FORWARDED);
	assert_int_equal(roger_inbox(roger, &look, &inbox, NULL), ROGER_OK);
	assert_int_equal(inbox.messages.count, 1);
	assert_string_equal(inbox.messages.items[0].content.data,
			    "[exit 4]\nheard\n[standard error]\nlost");
	roger_reply_free(&inbox);
	roger_reply_free(&reply);
	roger_close(roger);
	place_remove(&place);
}

static void passes_on(void **state)
{
	static const char script[] =
		"trap 'echo told; exit 0' USR1; echo \"$0 $1\"; kill -USR1 $$; wait";
	const char *const words[] = { "sh", "-c", script, "one", "two  words" };
	struct roger_run_streams streams = { -1, -1, -1, -1, -1, 022 };
	struct roger_run_request request = { .streams = &streams };
	struct roger_run_reply reply;
	struct roger *roger;
	struct place place;
	char text[64] = "";
	int ends[2];

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(pipe(ends), 0);
	streams.output = ends[1];
	assert_int_equal(run_words(roger, words, 5, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(read(ends[0], text, sizeof text - 1), 20);
	assert_string_equal(text, "one two  words\ntold\n");
	assert_int_equal(reply.exit, 0);
	assert_memory_equal(reply.runs.items[0].run.data, "run-", 4);
	roger_reply_free(&reply);
	close(ends[0]);
	close(ends[1]);
	roger_close(roger);
	place_remove(&place);
}

/* What the caller writes into a pipe is what the program gets. */
static void signals_by_pipe(void **state)
{
	char ready[128];
	const char *const words[] = { "sh", "-c",
				      "trap 'exit 9' USR2; : >\"$0\"; while :; do sleep 0.02; done",
				      ready };
	struct roger_run_streams streams = { -1, -1, -1, -1, -1, -1 };
	struct roger_run_request request = { .streams = &streams };
	struct roger_run_reply reply;
	struct roger *roger;
	struct place place;
	int ends[2];
	pid_t writer;

	(void)state;
	place_make(&place);
	snprintf(ready, sizeof ready, "%s/ready", place.root);
	roger = place_open(&place);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	streams.signals = ends[0];
	writer = fork();
	if (writer == 0) {
		const unsigned char number = SIGUSR2;
		int tries;

		for (tries = 0; tries < 1000 && access(ready, F_OK) < 0; tries++)
			usleep(10000);
		_exit(write(ends[1], &number, 1) == 1 ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(run_words(roger, words, 4, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.exit, 9);
	roger_reply_free(&reply);
	waitpid(writer, NULL, 0);
	close(ends[0]);
	roger_close(roger);
	place_remove(&place);
}

static void refusals(void **state)
{
	const char *const words[] = { "true" };
	struct roger_run_request request = { .grace_ms = 5 };
	struct roger_run_reply reply;
	struct roger_err err;
	struct roger *roger;
	struct place place;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(run_words(roger, words, 1, &request, &reply, &err), ROGER_EUSAGE);
	assert_string_equal(err.member, "grace");
	request = (struct roger_run_request){ .result_file = str("f"),
					      .result = ROGER_RESULT_MESSAGE };
	assert_int_equal(run_words(roger, words, 1, &request, &reply, &err), ROGER_EUSAGE);
	request = (struct roger_run_request){ 0 };
	assert_int_equal(run_words(roger, words, 0, &request, &reply, &err), ROGER_EUSAGE);
	assert_string_equal(err.member, "command");
	assert_int_equal(roger_run(roger, &request, &reply, &err), ROGER_EUSAGE);
	request = (struct roger_run_request){ .run = str("once") };
	assert_int_equal(run_words(roger, words, 1, &request, &reply, &err), ROGER_OK);
	roger_reply_free(&reply);
	assert_int_equal(run_words(roger, words, 1, &request, &reply, &err), ROGER_EREFUSED);
	assert_string_equal(err.member, "run");
	roger_close(roger);
	place_remove(&place);
}

/* A process at its gate is nothing yet: when it is let go of, nothing has happened. */
static void the_gate(void **state)
{
	char touched[] = "/tmp/roger-unit-gate-XXXXXX";
	const struct roger_str words[] = { str("touch"), str(touched) };
	const struct rg_child_wish wish = { .words = { words, 2 }, .output = RG_CAPTURE_ALL };
	struct rg_child *child = NULL;
	struct rg_process process;

	(void)state;
	close(mkstemp(touched));
	unlink(touched);
	assert_int_equal(rg_child_start(&wish, &child, NULL), ROGER_OK);
	process = *rg_child_process(child);
	assert_int_equal(rg_process_fate(&process), RG_PROCESS_LIVES);
	rg_child_free(child);
	assert_int_equal(rg_process_fate(&process), RG_PROCESS_GONE);
	assert_int_equal(access(touched, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands),	   cmocka_unit_test(fates),
		cmocka_unit_test(without_streams), cmocka_unit_test(passes_on),
		cmocka_unit_test(signals_by_pipe), cmocka_unit_test(refusals),
		cmocka_unit_test(the_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
