/* roger-top [WORKSPACE [AGENT [plain]]]: sleeps until a key is pressed or something is stored. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <roger.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "top/top.h"

/* Logs wake nobody: look whether they grew this often. */
enum { LOG_LOOK_MS = 1000, REST = 4 };

/* What the pipe carries. */
enum { NEWS = 'n', SIZE = 's', STOP = 'q' };
static int wake[2];

static void tell(char what)
{
	int error = errno;

	/* A full pipe wakes as well. */
	if (write(wake[1], &what, 1) < 0)
		errno = error;
}

static void on_signal(int number)
{
	tell(number == SIGWINCH ? SIZE : STOP);
	if (number != SIGWINCH)
		roger_interrupt();
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (!roger_mend_map(info->si_addr))
		signal(number, SIG_DFL);
}

static void catch_signals(void)
{
	struct sigaction bus = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction action = { .sa_handler = on_signal };

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigaction(SIGBUS, &bus, NULL);
	/* Before curses, which then leaves this one alone. */
	sigaction(SIGWINCH, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* ------------------------------------------------------------------ news -- */

static int64_t last_note(struct roger *roger)
{
	const struct roger_activity_request last = { .newest = true,
						     .after = INT64_MAX,
						     .limit = 1 };
	RG_CLEANUP(roger_reply_free) struct roger_activity_reply reply = { 0 };

	return roger_activity(roger, &last, &reply, NULL) == ROGER_OK && reply.activities.count
		       ? reply.activities.items[0].line
		       : 0;
}

/* A thread with a handle of its own, since the keyboard cannot be waited for in the store. */
static void *watch(void *roger_)
{
	struct roger *roger = roger_;
	int64_t note = last_note(roger), seen, next_ns = 0;
	uint32_t mark = 0;
	bool stored;

	roger_watch(roger, &mark, 0);
	for (;;) {
		stored = roger_watch(roger, &mark, LOG_LOOK_MS);
		if (!stored && rg_clock_monotonic_ns() < next_ns)
			continue;
		next_ns = rg_clock_monotonic_ns() + (int64_t)LOG_LOOK_MS * 1000000;
		seen = stored ? note : last_note(roger);
		if (stored || seen != note)
			tell(NEWS);
		note = seen;
	}
	return NULL;
}

static int start_watching(const char *workspace, struct roger_err *err)
{
	struct roger *roger;
	sigset_t all, before;
	pthread_t thread;
	int r = roger_open(workspace, &roger, err);

	if (r < 0)
		return r;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, NULL, watch, roger);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? rg_fail(err, ROGER_EIO, r, "start a thread") : ROGER_OK;
}

/* ------------------------------------------------------------------ loop -- */

/* What the pipe says; *ret_news: ask the library again. */
static void hear(struct top *top, bool *ret_news)
{
	char said[64];
	ssize_t count, i;

	while ((count = read(wake[0], said, sizeof said)) > 0)
		for (i = 0; i < count; i++) {
			*ret_news |= said[i] == NEWS;
			top->over |= said[i] == STOP;
			if (said[i] == SIZE)
				top_screen_resize();
		}
}

static int span_until(int64_t until_ns)
{
	int64_t left_ms = (until_ns - rg_clock_monotonic_ns()) / 1000000 + 1;

	return left_ms < 0 ? 0 : left_ms > 3600000 ? 3600000 : (int)left_ms;
}

/* Looking takes at most a fifth of the time, however much is stored meanwhile. */
static void run(struct top *top)
{
	struct pollfd places[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				   { .fd = wake[0], .events = POLLIN } };
	int64_t next_ns = 0, begun_ns, true_for_ms;
	bool news = false, due = true;
	uint32_t key;

	while (!top->over) {
		if (due) {
			begun_ns = rg_clock_monotonic_ns();
			top_look(&top->view, top->filter);
			next_ns = rg_clock_monotonic_ns() +
				  REST * (rg_clock_monotonic_ns() - begun_ns);
			news = false;
		}
		true_for_ms = top_draw(top, 0);
		poll(places, 2,
		     news		     ? span_until(next_ns)
		     : true_for_ms > 3600000 ? -1
					     : (int)true_for_ms);
		/* The terminal is gone. */
		top->over |= (places[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
		hear(top, &news);
		due = news && rg_clock_monotonic_ns() >= next_ns;
		while (!top->over && (key = top_key()))
			due |= top_press(top, key);
	}
}

/* Where the index has to be made first. */
static bool show_progress(void *context, const char *what, int64_t done, int64_t total)
{
	(void)context;
	if (total > 0)
		fprintf(stderr, "\r%s %3d %%\r", what, (int)(done * 100 / total));
	return true;
}

static int start(struct top *top, const char *workspace, bool plain, struct roger_err *err)
{
	int r;

	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		return rg_fail(err, ROGER_EIO, errno, "open a pipe");
	r = roger_open(workspace, &top->view.roger, err);
	if (r < 0)
		return r;
	roger_on_progress(top->view.roger, show_progress, NULL);
	top_look(&top->view, top->filter);
	roger_on_progress(top->view.roger, NULL, NULL);
	r = start_watching(workspace, err);
	if (r < 0)
		return r;
	top_screen_open(!plain);
	run(top);
	top_screen_close();
	return ROGER_OK;
}

int main(int argc, char **argv)
{
	static struct top top = { .text = { .maximum = SIZE_MAX } };
	const char *workspace = argc > 1 && *argv[1] ? argv[1] : NULL;
	struct roger_err err;
	int r;

	umask(077);
	catch_signals();
	top.self = argc > 2 && *argv[2] ? rg_str(argv[2]) : RG_STR("human");
	r = start(&top, workspace, argc > 3, &err);
	if (r < 0)
		fprintf(stderr, "roger: %s\n", err.message);
	return -r;
}
