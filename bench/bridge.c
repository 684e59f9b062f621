/*
 * bridge - from a finished write of a trigger file to the return of a receiver
 * that waits for its mail in another process, past a bridge in a third:
 * bridge WORKSPACE TURNS.
 *
 * Every other file is put in place by a rename; the span starts when the close,
 * or the rename, is about to be called.
 */
#include <errno.h>
#include <fcntl.h>
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

/* Seen by all three. */
struct desk {
	atomic_bool bridged;
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

static void run_bridge(struct desk *desk, const char *path)
{
	struct roger_bridge_request request = { .wait_ms = 1 };
	struct roger *roger = open_workspace(path);
	struct roger_bridge_reply reply;
	struct roger_err err;

	for (;;) {
		if (roger_bridge(roger, &request, &reply, &err) < 0)
			bench_die("bridge: %s", err.message);
		if (reply.skipped || reply.trouble)
			bench_die("bridge: something was skipped");
		roger_reply_free(&reply);
		desk->bridged = true;
		request.wait_ms = 60000;
	}
}

static void receive(struct desk *desk, const char *path, size_t turns)
{
	const struct roger_wait_request wait = { .agent = receiver_name, .timeout_ms = 10000 };
	const struct roger_inbox_request take = { .agent = receiver_name };
	struct roger *roger = open_workspace(path);
	struct roger_inbox_reply mail;
	struct roger_wait_reply reply;
	struct roger_err err;
	size_t turn;

	for (turn = 1; turn <= turns; turn++) {
		desk->waiting = turn;
		if (roger_wait(roger, &wait, &reply, &err) < 0)
			bench_die("wait: %s", err.message);
		desk->woken_ns = bench_now_ns();
		if (!reply.found)
			bench_die("wait: nothing came in");
		roger_reply_free(&reply);
		if (roger_receive(roger, &take, &mail, &err) < 0)
			bench_die("receive: %s", err.message);
		roger_reply_free(&mail);
		desk->woken = turn;
	}
	roger_close(roger);
}

/* A child that failed says so itself, and would be waited for for ever. */
static void pause_for_others(void)
{
	siginfo_t ended = { 0 };

	if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid &&
	    ended.si_status)
		bench_die("another process failed");
	pause_us(100);
}

/* Returns when the write was finished. */
static int64_t write_trigger(const char *boxes, size_t turn)
{
	char path[4200], box[4200];
	bool by_rename = turn % 2;
	int64_t start_ns;
	int file;

	snprintf(box, sizeof box, "%s/receiver.txt", boxes);
	snprintf(path, sizeof path, "%s/%s", boxes, by_rename ? ".new" : "receiver.txt");
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || dprintf(file, "(SENDER #%zu): are you there?\n", turn) < 0)
		bench_die("write '%s': %s", path, strerror(errno));
	if (by_rename)
		close(file);
	start_ns = bench_now_ns();
	if (by_rename ? rename(path, box) : close(file))
		bench_die("finish '%s': %s", path, strerror(errno));
	return start_ns;
}

static void write_all(struct desk *desk, const char *path, size_t turns, uint32_t *spans)
{
	char boxes[4096];
	int64_t start_ns;
	size_t turn;

	snprintf(boxes, sizeof boxes, "%s/.roger/triggers", path);
	while (!desk->bridged)
		pause_for_others();
	for (turn = 1; turn <= turns; turn++) {
		while (desk->waiting < turn)
			pause_for_others();
		pause_us(3000);
		start_ns = write_trigger(boxes, turn);
		while (desk->woken < turn)
			pause_for_others();
		spans[turn - 1] = (uint32_t)(desk->woken_ns - start_ns);
	}
}

static pid_t start_child(void)
{
	pid_t child = fork();

	if (child < 0)
		bench_die("fork: %s", strerror(errno));
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

int main(int argc, char **argv)
{
	uint32_t *spans;
	struct desk *desk;
	size_t turns;
	pid_t bridge;

	if (argc != 3)
		bench_die("usage: bridge WORKSPACE TURNS");
	turns = bench_number(argv[2]);
	spans = calloc(turns, sizeof *spans);
	desk = mmap(NULL, sizeof *desk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!spans || desk == MAP_FAILED)
		bench_die("out of memory");

	bridge = start_child();
	if (bridge == 0)
		run_bridge(desk, argv[1]);
	if (start_child() == 0) {
		receive(desk, argv[1], turns);
		_exit(0);
	}
	write_all(desk, argv[1], turns, spans);
	kill(bridge, SIGKILL);
	bench_print_spans("bridge", spans, turns);
	free(spans);
	return 0;
}
