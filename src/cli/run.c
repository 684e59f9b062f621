/*
 * run: a program under our eyes.  What it prints is standard output's, what we
 * have to say goes to standard error, its exit status is ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/term.h"
#include "data/record.h"

/* Signals that are meant for the program, and those that tell us how it fares. */
static const int passed_on[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
				 SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD };

static int pass_to = -1;

static void pass(int number)
{
	const unsigned char byte = (unsigned char)number;
	int error = errno;

	/* A full pipe holds enough of them. */
	if (write(pass_to, &byte, 1) < 0)
		errno = error;
	errno = error;
}

/* What was ignored when we came, as under nohup, stays so; but for what we have to know. */
static bool catch_signals(int *ret_from)
{
	struct sigaction action = { .sa_handler = pass, .sa_flags = SA_RESTART }, before;
	int ends[2];
	size_t i;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	*ret_from = ends[0];
	pass_to = ends[1];
	sigfillset(&action.sa_mask);
	for (i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
		if (sigaction(passed_on[i], NULL, &before) == 0 &&
		    (before.sa_handler != SIG_IGN || passed_on[i] == SIGCHLD))
			sigaction(passed_on[i], &action, NULL);
	}
	return true;
}

static int open_or_none(int file)
{
	return fcntl(file, F_GETFD) < 0 ? -1 : file;
}

static int find_terminal(void)
{
	int file;

	for (file = STDIN_FILENO; file <= STDERR_FILENO; file++)
		if (tcgetpgrp(file) >= 0)
			return file;
	return -1;
}

/* A word for people, unless all is as it should be. */
static void print_end(const struct cli_run *run, const struct roger_run_reply *reply)
{
	const struct roger_run *one = &reply->runs.items[0];
	size_t i;

	for (i = 0; i < reply->notes.count; i++) {
		fputs("note: ", stderr);
		cli_print_text(stderr, reply->notes.items[i], false);
		fputc('\n', stderr);
	}
	if (run->quiet)
		return;
	fputs("roger: run ", stderr);
	cli_print_text(stderr, one->run_id, false);
	fputs(": ", stderr);
	cli_print_text(stderr, reply->ended, false);
	if (reply->message_id.length) {
		fputs(", ", stderr);
		cli_print_text(stderr, one->owner_agent, false);
		fputs(" was told by ", stderr);
		cli_print_text(stderr, reply->message_id, false);
	}
	fputc('\n', stderr);
}

static void print_json(const struct cli_run *run, const struct roger_run_reply *reply)
{
	struct rg_buf line;

	rg_buf_init(&line, SIZE_MAX);
	rg_record_encode(cli_op(run->command)->reply, reply, &line);
	cli_print_json(stderr, &line);
	rg_buf_deinit(&line);
}

/* The program's own, unless all seems well and is not. */
static int exit_of(const struct roger_run_reply *reply)
{
	if (reply->exit)
		return (int)reply->exit;
	if (reply->output_lost)
		return CLI_IO;
	return reply->untold ? CLI_REFUSED : 0;
}

static int run_program(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	struct roger_run_request *request = run->request;
	struct roger_run_streams streams = {
		.input = open_or_none(STDIN_FILENO),
		.output = open_or_none(STDOUT_FILENO),
		.errors = open_or_none(STDERR_FILENO),
		.signals = -1,
		.terminal = find_terminal(),
		.file_mask = (int)cli_file_mask,
	};
	struct roger_run_reply reply;
	int r;

	if (!catch_signals(&streams.signals))
		return rg_fail(err, ROGER_EIO, errno, "make a pipe for signals");
	request->streams = &streams;
	r = roger_run(run->roger, request, &reply, err);
	if (r < 0)
		return r;
	if (run->form == CLI_HUMAN)
		print_end(run, &reply);
	else
		print_json(run, &reply);
	*ret_exit = exit_of(&reply);
	roger_reply_free(&reply);
	return ROGER_OK;
}

static const struct roger_op *op_run(void)
{
	return cli_op_named("run");
}

const struct cli_command cli_run_program = { .name = "run", .op = op_run, .run = run_program };
