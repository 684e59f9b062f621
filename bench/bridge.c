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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roger.h>

#include "desk.h"
#include "lanes.h"

static void run_bridge(struct bench_desk *desk, const char *path)
{
	struct roger_bridge_request request = { .timeout_ms = 1 };
	struct roger *roger = bench_open_workspace(path);
	struct roger_bridge_reply reply;
	struct roger_err err;

	for (;;) {
		if (roger_bridge(roger, &request, &reply, &err) < 0)
			bench_die("bridge: %s", err.message);
		if (reply.skipped || reply.trouble)
			bench_die("bridge: something was skipped");
		roger_reply_free(&reply);
		desk->ready = true;
		request.timeout_ms = 60000;
	}
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

static void write_all(struct bench_desk *desk, const char *path, size_t turns, uint32_t *spans)
{
	char boxes[4096];
	int64_t start_ns;
	size_t turn;

	snprintf(boxes, sizeof boxes, "%s/.roger/triggers", path);
	while (!desk->ready)
		bench_desk_pause();
	for (turn = 1; turn <= turns; turn++) {
		bench_desk_await(desk, turn);
		start_ns = write_trigger(boxes, turn);
		spans[turn - 1] = (uint32_t)(bench_desk_woken_ns(desk, turn) - start_ns);
	}
}

int main(int argc, char **argv)
{
	struct bench_desk *desk;
	uint32_t *spans;
	size_t turns;
	pid_t bridge, receiver;
	int status;

	if (argc != 3)
		bench_die("usage: bridge WORKSPACE TURNS");
	turns = bench_number(argv[2]);
	spans = calloc(turns, sizeof *spans);
	if (!spans)
		bench_die("out of memory");

	desk = bench_desk_new();
	bridge = bench_start_child();
	if (bridge == 0)
		run_bridge(desk, argv[1]);
	receiver = bench_desk_receive(desk, argv[1], turns);
	write_all(desk, argv[1], turns, spans);
	if (waitpid(receiver, &status, 0) != receiver || status != 0)
		bench_die("the receiver failed");
	kill(bridge, SIGKILL);
	bench_print_spans("bridge", spans, turns);
	free(spans);
	return 0;
}
