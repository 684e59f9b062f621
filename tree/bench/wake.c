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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roger.h>

#include "desk.h"
#include "lanes.h"

static void send_all(struct bench_desk *desk, const char *path, size_t turns, uint32_t *acks,
		     uint32_t *wakes)
{
	struct roger *roger = bench_open_workspace(path);
	int64_t start_ns;
	size_t turn;

	for (turn = 1; turn <= turns; turn++) {
		bench_desk_await(desk, turn);
		start_ns = bench_now_ns();
		acks[turn - 1] = (uint32_t)(bench_send_mail(roger) - start_ns);
		wakes[turn - 1] = (uint32_t)(bench_desk_woken_ns(desk, turn) - start_ns);
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
	int64_t sent_ns, told_ns;
	char first;
	pid_t pid;
	int output = start_waiting(program, path, &pid), status;

	/* Nobody tells when it sleeps; by then it does. */
	bench_pause_us(30000);
	sent_ns = bench_send_mail(roger);
	if (read(output, &first, 1) != 1)
		bench_die("'%s wait' printed nothing", program);
	told_ns = bench_now_ns();
	close(output);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		bench_die("'%s wait' failed", program);
	bench_take_mail(roger);
	return told_ns > sent_ns ? (uint32_t)(told_ns - sent_ns) : 0;
}

static void measure_output(const char *program, const char *path, size_t turns)
{
	struct roger *roger = bench_open_workspace(path);
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
	struct bench_desk *desk;
	size_t turns;
	pid_t child;
	int status;

	if (argc != 3 && argc != 4)
		bench_die("usage: wake WORKSPACE TURNS [ROGER]");
	turns = bench_number(argv[2]);
	acks = calloc(turns, sizeof *acks);
	wakes = calloc(turns, sizeof *wakes);
	if (!acks || !wakes)
		bench_die("out of memory");

	desk = bench_desk_new();
	child = bench_desk_receive(desk, argv[1], turns);
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
