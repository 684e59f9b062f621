/*
 * run: run a program and watch it.  Its output goes to standard output, our own words
 * to standard error, and its exit status becomes ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/command.h"

/*
 * Signals that are meant for the program, and those that tell us how it fares:
 * all that would end us and leave it alone, but for those of a fault, which is
 * ours, and of job control, which stop a process that asks for the terminal.
 */
static const int passed_on[] = { SIGINT,  SIGTERM,   SIGHUP,	SIGQUIT, SIGUSR1,  SIGUSR2,
				 SIGALRM, SIGPROF,   SIGVTALRM, SIGXCPU, SIGPOLL,  SIGPWR,
				 SIGURG,  SIGSTKFLT, SIGTSTP,	SIGCONT, SIGWINCH, SIGCHLD };

/* A write that fails sends us these, and main() ignores both. */
static const int of_writes[] = { SIGPIPE, SIGXFSZ };

static int pass_to = -1;

static void pass_signal(int number, siginfo_t *info, void *context)
{
	const unsigned char byte = (unsigned char)number;
	int error = errno;

	(void)context;
	if ((number == SIGPIPE || number == SIGXFSZ) && info->si_pid == getpid())
		return;
	/* A full pipe may drop signals: it holds enough of them. */
	if (write(pass_to, &byte, 1) < 0)
		errno = error;
	errno = error;
}

static void catch_signal(int number)
{
	struct sigaction action = { .sa_sigaction = pass_signal,
				    .sa_flags = SA_RESTART | SA_SIGINFO };

	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

/* Catch a signal, unless it is ignored, as under nohup; SIGCHLD is needed in any case. */
static void catch_unless_ignored(int number)
{
	struct sigaction before;

	if (sigaction(number, NULL, &before) == 0 &&
	    (before.sa_handler != SIG_IGN || number == SIGCHLD))
		catch_signal(number);
}

static bool catch_signals(int *ret_from)
{
	int ends[2], number;
	size_t i;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	*ret_from = ends[0];
	pass_to = ends[1];
	for (i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		catch_unless_ignored(passed_on[i]);
	for (number = SIGRTMIN; number <= SIGRTMAX; number++)
		catch_unless_ignored(number);
	for (i = 0; i < sizeof of_writes / sizeof *of_writes; i++)
		catch_signal(of_writes[i]);
	return true;
}

static int open_or_none(int file)
{
	return fcntl(file, F_GETFD) < 0 ? -1 : file;
}

/* Tell people how the program ended. */
static void print_end(const struct cli_run *run, const struct roger_run_reply *reply)
{
	const struct roger_run *one = &reply->runs.items[0];

	cli_print_notes(&reply->notes);
	if (run->quiet)
		return;
	cli_say_to(stderr, "roger: run %t: %t", one->run, reply->ended);
	/* A report that the owner has no room for goes to a person. */
	if (reply->message.length)
		cli_say_to(stderr, "; reported to %t in %t",
			   reply->untold ? RG_STR("human") : one->owner, reply->message);
	cli_say_to(stderr, "\n");
}

static int run_program(struct cli_run *run, struct roger_err *err)
{
	struct roger_run_request *request = run->request;
	struct roger_run_streams streams = {
		.input = open_or_none(STDIN_FILENO),
		.output = open_or_none(STDOUT_FILENO),
		.errors = open_or_none(STDERR_FILENO),
		.signals = -1,
		.terminal = STDIN_FILENO,
		.file_mask = (int)cli_file_mask,
	};
	RG_CLEANUP(roger_reply_free) struct roger_run_reply reply = { 0 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	int r;

	while (streams.terminal >= 0 && tcgetpgrp(streams.terminal) < 0)
		streams.terminal = streams.terminal < STDERR_FILENO ? streams.terminal + 1 : -1;

	if (!catch_signals(&streams.signals))
		return rg_fail(err, ROGER_EIO, errno, "make a pipe for signals");
	request->streams = &streams;
	r = roger_run(run->roger, request, &reply, err);
	if (r < 0)
		return r;
	if (run->form == CLI_HUMAN) {
		print_end(run, &reply);
	} else {
		cli_encode_reply(NULL, cli_op(run->command)->reply, &reply, &line);
		cli_print_json(stderr, &line);
	}
	/* The program's status; if that is 0, our own failures count. */
	run->exit = reply.exit		? (int)reply.exit
		    : reply.output_lost ? CLI_IO
		    : reply.untold	? CLI_REFUSED
					: CLI_DONE;
	return ROGER_OK;
}

CLI_COMMAND(run_program, "run", .run = run_program);
