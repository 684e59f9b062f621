/*
 * wake - from a send in one process to the return of a receiver that waits in
 * another: wake WORKSPACE TURNS [ROGER].
 *
 * Both spans start when the sender calls.  "ack" ends when its send returns,
 * "wake" when the receiver's wait does.  With the path of the program, "output"
 * starts when the send has returned, and ends when a `roger wait` that was
 * asleep has printed where the message is.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <roger.h>

#include "lanes.h"

/* Seen by both. */
struct desk {
	atomic_size_t waiting; /* turn the receiver is about to wait for, from 1 */
	atomic_size_t woken;   /* turn it was last woken in */
	_Atomic int64_t woken_ns;
};

static const struct roger_str receiver_name = { "receiver", 8 };

static void pause_us(long us)
{
	struct timespec span = { 0, us * 1000 };

	nanosleep(&span, NULL);
}

static struct roger *open_workspace(const char *path)
{
	struct roger *roger;
	struct roger_err err;

	if (roger_open(path, &roger, &err) < 0)
		bench_die("open: %s", err.message);
	return roger;
}

static void take_mail(struct roger *roger)
{
	const struct roger_inbox_request request = { .agent = receiver_name };
	struct roger_inbox_reply reply;
	struct roger_err err;

	if (roger_receive(roger, &request, &reply, &err) < 0)
		bench_die("receive: %s", err.message);
	if (reply.messages.count != 1)
		bench_die("receive: %zu messages where one was sent", reply.messages.count);
	roger_reply_free(&reply);
}

static void receive(struct desk *desk, const char *path, size_t turns)
{
	const struct roger_wait_request request = { .agent = receiver_name, .timeout_ms = 10000 };
	struct roger *roger = open_workspace(path);
	struct roger_wait_reply reply;
	struct roger_err err;
	size_t turn;

	for (turn = 1; turn <= turns; turn++) {
		desk->waiting = turn;
		if (roger_wait(roger, &request, &reply, &err) < 0)
			bench_die("wait: %s", err.message);
		desk->woken_ns = bench_now_ns();
		desk->woken = turn;
		if (!reply.found)
			bench_die("wait: nobody woke the receiver");
		roger_reply_free(&reply);
		take_mail(roger);
	}
	roger_close(roger);
}

/* A receiver that failed says so itself, and would be waited for for ever. */
static void pause_for_receiver(void)
{
	siginfo_t ended = { 0 };

	if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid &&
	    ended.si_status)
		bench_die("the receiver failed");
	pause_us(100);
}

/* The receiver tells when it is about to wait; that it sleeps takes a little longer. */
static void await_receiver(const struct desk *desk, size_t turn)
{
	while (desk->waiting < turn)
		pause_for_receiver();
	pause_us(3000);
}

static void send_all(struct desk *desk, const char *path, size_t turns, uint32_t *acks,
		     uint32_t *wakes)
{
	const struct roger_send_request request = { .from = { "sender", 6 },
						    .to = { &receiver_name, 1 },
						    .content = { "are you there?", 14 } };
	struct roger *roger = open_workspace(path);
	struct roger_send_reply reply;
	struct roger_err err;
	int64_t start_ns;
	size_t turn;

	for (turn = 1; turn <= turns; turn++) {
		await_receiver(desk, turn);
		start_ns = bench_now_ns();
		if (roger_send(roger, &request, &reply, &err) < 0)
			bench_die("send: %s", err.message);
		acks[turn - 1] = (uint32_t)(bench_now_ns() - start_ns);
		roger_reply_free(&reply);
		while (desk->woken < turn)
			pause_for_receiver();
		wakes[turn - 1] = (uint32_t)(desk->woken_ns - start_ns);
	}
	roger_close(roger);
}

/* ------------------------------------------------------------- the program -- */

/* A `roger wait`; returns where its output comes from. */
static int start_waiting(const char *program, const char *path, pid_t *ret_pid)
{
	int ends[2];

	if (pipe(ends) < 0)
		bench_die("pipe: %s", strerror(errno));
	*ret_pid = fork();
	if (*ret_pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (*ret_pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(program, program, "wait", "--as", "receiver", "--workspace", path,
		      (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	return ends[0];
}

/* How long the program still took when the send had returned; 0: it was quicker than that. */
static uint32_t output_after(struct roger *roger, const char *program, const char *path)
{
	const struct roger_send_request request = { .from = { "sender", 6 },
						    .to = { &receiver_name, 1 },
						    .content = { "are you there?", 14 } };
	struct roger_send_reply reply;
	struct roger_err err;
	int64_t sent_ns, told_ns;
	char first;
	pid_t pid;
	int output = start_waiting(program, path, &pid), status;

	/* Nobody tells when it sleeps; by then it does. */
	pause_us(30000);
	if (roger_send(roger, &request, &reply, &err) < 0)
		bench_die("send: %s", err.message);
	sent_ns = bench_now_ns();
	if (read(output, &first, 1) != 1)
		bench_die("'%s wait' printed nothing", program);
	told_ns = bench_now_ns();
	close(output);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		bench_die("'%s wait' failed", program);
	roger_reply_free(&reply);
	take_mail(roger);
	return told_ns > sent_ns ? (uint32_t)(told_ns - sent_ns) : 0;
}

static void measure_output(const char *program, const char *path, size_t turns)
{
	struct roger *roger = open_workspace(path);
	uint32_t *outputs = calloc(turns, sizeof *outputs);
	size_t turn;

	if (!outputs)
		bench_die("out of memory");
	for (turn = 0; turn < turns; turn++)
		outputs[turn] = output_after(roger, program, path);
	bench_print_spans("output", outputs, turns);
	free(outputs);
	roger_close(roger);
}

int main(int argc, char **argv)
{
	uint32_t *acks, *wakes;
	struct desk *desk;
	size_t turns;
	pid_t child;
	int status;

	if (argc != 3 && argc != 4)
		bench_die("usage: wake WORKSPACE TURNS [ROGER]");
	turns = bench_number(argv[2]);
	acks = calloc(turns, sizeof *acks);
	wakes = calloc(turns, sizeof *wakes);
	desk = mmap(NULL, sizeof *desk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!acks || !wakes || desk == MAP_FAILED)
		bench_die("out of memory");

	child = fork();
	if (child < 0)
		bench_die("fork: %s", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		receive(desk, argv[1], turns);
		_exit(0);
	}
	send_all(desk, argv[1], turns, acks, wakes);
	if (waitpid(child, &status, 0) != child || status != 0)
		bench_die("the receiver failed");
	bench_print_spans("ack", acks, turns);
	bench_print_spans("wake", wakes, turns);
	if (argc == 4)
		measure_output(argv[3], argv[1], turns < 100 ? turns : 100);
	free(acks);
	free(wakes);
	return 0;
}
