#include "desk.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lanes.h"

const struct roger_str bench_receiver = { "receiver", 8 };

struct roger *bench_open_workspace(const char *path)
{
	struct roger *roger;
	struct roger_err err;

	if (roger_open(path, &roger, &err) < 0)
		bench_die("open: %s", err.message);
	return roger;
}

struct bench_desk *bench_desk_new(void)
{
	return bench_shared(sizeof(struct bench_desk));
}

int64_t bench_send_mail(struct roger *roger)
{
	const struct roger_send_request request = { .from = { "sender", 6 },
						    .to = { &bench_receiver, 1 },
						    .content = { "are you there?", 14 } };
	struct roger_send_reply reply;
	struct roger_err err;
	int64_t sent_ns;

	if (roger_send(roger, &request, &reply, &err) < 0)
		bench_die("send: %s", err.message);
	sent_ns = bench_now_ns();
	roger_reply_free(&reply);
	return sent_ns;
}

void bench_take_mail(struct roger *roger)
{
	const struct roger_inbox_request request = { .agent = bench_receiver };
	struct roger_inbox_reply reply;
	struct roger_err err;

	if (roger_receive(roger, &request, &reply, &err) < 0)
		bench_die("receive: %s", err.message);
	if (reply.messages.count != 1)
		bench_die("receive: %zu messages where one was sent", reply.messages.count);
	roger_reply_free(&reply);
}

static void receive(struct bench_desk *desk, const char *path, size_t turns)
{
	const struct roger_wait_request request = { .agent = bench_receiver, .timeout_ms = 10000 };
	struct roger *roger = bench_open_workspace(path);
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
		bench_take_mail(roger);
	}
	roger_close(roger);
}

pid_t bench_desk_receive(struct bench_desk *desk, const char *path, size_t turns)
{
	pid_t child = bench_start_child();

	if (child == 0) {
		receive(desk, path, turns);
		_exit(0);
	}
	return child;
}

/* A child that failed says so itself, and would be waited for for ever. */
void bench_desk_pause(void)
{
	siginfo_t ended = { 0 };

	if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid &&
	    ended.si_status)
		bench_die("another process failed");
	bench_pause_us(100);
}

/* The receiver tells when it is about to wait; that it sleeps takes a little longer. */
void bench_desk_await(const struct bench_desk *desk, size_t turn)
{
	while (desk->waiting < turn)
		bench_desk_pause();
	bench_pause_us(3000);
}

int64_t bench_desk_woken_ns(const struct bench_desk *desk, size_t turn)
{
	while (desk->woken < turn)
		bench_desk_pause();
	return desk->woken_ns;
}
