/*
 * hand - from a send in one process until its text is in the hand of a receiver
 * in another, with a message every EVERY_US microseconds: hand WORKSPACE TURNS EVERY_US.
 *
 * All spans start when the sender calls.  "ack" ends when its send returns,
 * "wait" when the receiver's wait does, "text" when it has received the message,
 * durably.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roger.h>

#include "desk.h"
#include "lanes.h"

/* Of each message; seen by both. */
struct spans {
	_Atomic int64_t start_ns, ack_ns, wait_ns, text_ns;
};

static void receive(const char *path, struct spans *spans, size_t turns)
{
	const struct roger_wait_request wish = { .agent = bench_receiver, .timeout_ms = 10000 };
	const struct roger_inbox_request request = { .agent = bench_receiver };
	struct roger *roger = bench_open_workspace(path);
	struct roger_inbox_reply reply;
	struct roger_wait_reply waited;
	struct roger_err err;
	size_t turn = 0, i;
	int64_t wait_ns, text_ns;

	while (turn < turns) {
		if (roger_wait(roger, &wish, &waited, &err) < 0)
			bench_die("wait: %s", err.message);
		wait_ns = bench_now_ns();
		roger_reply_free(&waited);
		if (roger_receive(roger, &request, &reply, &err) < 0)
			bench_die("receive: %s", err.message);
		text_ns = bench_now_ns();
		if (!reply.messages.count || reply.messages.count > turns - turn)
			bench_die("receive: %zu messages", reply.messages.count);
		for (i = 0; i < reply.messages.count; i++, turn++) {
			spans[turn].wait_ns = wait_ns;
			spans[turn].text_ns = text_ns;
		}
		roger_reply_free(&reply);
	}
	roger_close(roger);
}

static void send(const char *path, struct spans *spans, size_t turns, int64_t every_ns)
{
	struct roger *roger = bench_open_workspace(path);
	int64_t due_ns = bench_now_ns(), left_ns;
	size_t turn;

	for (turn = 0; turn < turns; turn++) {
		due_ns += every_ns;
		left_ns = due_ns - bench_now_ns();
		if (left_ns > 0)
			bench_pause_us((long)(left_ns / 1000));
		spans[turn].start_ns = bench_now_ns();
		spans[turn].ack_ns = bench_send_mail(roger);
	}
	roger_close(roger);
}

enum span { ACK, WAIT, TEXT };

static void print(const char *name, const struct spans *spans, size_t turns, enum span which)
{
	uint32_t *took = calloc(turns, sizeof *took);
	int64_t end_ns;
	size_t i;

	if (!took)
		bench_die("out of memory");
	for (i = 0; i < turns; i++) {
		end_ns = which == ACK	 ? spans[i].ack_ns
			 : which == WAIT ? spans[i].wait_ns
					 : spans[i].text_ns;
		/* One that waits already has it before it waits for it. */
		took[i] = end_ns > spans[i].start_ns ? (uint32_t)(end_ns - spans[i].start_ns) : 0;
	}
	bench_print_spans(name, took, turns);
	free(took);
}

int main(int argc, char **argv)
{
	struct spans *spans;
	size_t turns;
	pid_t child;
	int status;

	if (argc != 4)
		bench_die("usage: hand WORKSPACE TURNS EVERY_US");
	turns = bench_number(argv[2]);
	spans = bench_shared(turns * sizeof *spans);
	child = bench_start_child();
	if (child == 0) {
		receive(argv[1], spans, turns);
		_exit(0);
	}
	send(argv[1], spans, turns, (int64_t)bench_number(argv[3]) * 1000);
	if (waitpid(child, &status, 0) != child || status != 0)
		bench_die("the receiver failed");
	print("ack", spans, turns, ACK);
	print("wait", spans, turns, WAIT);
	print("text", spans, turns, TEXT);
	return 0;
}
