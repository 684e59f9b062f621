#include "store/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/file.h"

/* So often we look whether it has ended; what it prints wakes us earlier. */
enum { LOOK_MS = 10 };

/* Where close_range() is not known: descriptors beyond this are not looked for. */
enum { FILES_MAX = 65536 };

struct running {
	pid_t pid; /* of the program, and of its process group */
	int output;
	int64_t until_ns;
	size_t output_bytes_most;
};

/* ---------------------------------------------------------------- child -- */

/* Only calls that are allowed between a fork and an exec in a program with threads. */

static void close_others(void)
{
	int i;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0)
		return;
#endif
	for (i = STDERR_FILENO + 1; i < FILES_MAX; i++)
		close(i);
}

/* Signals as a program expects to find them. */
static void reset_signals(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become(char *const *words, const char *folder, const int streams[3],
			     pid_t parent)
{
	int i;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(RG_PROGRAM_NOT_RUN);
	reset_signals();
	/* All three are beyond the standard ones, so none is overwritten before its turn. */
	for (i = 0; i < 3; i++)
		if (dup2(streams[i], i) < 0)
			_exit(RG_PROGRAM_NOT_RUN);
	close_others();
	if (folder && chdir(folder) < 0)
		_exit(RG_PROGRAM_NOT_RUN);
	execvp(words[0], words);
	_exit(errno == ENOENT ? RG_PROGRAM_NOT_FOUND : RG_PROGRAM_NOT_RUN);
}

/* --------------------------------------------------------------- parent -- */

static char **free_words(char **words)
{
	size_t i;

	for (i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
	return NULL;
}

static char **copy_words(struct roger_strs words)
{
	char **copy = calloc(words.count + 1, sizeof *copy);
	size_t i;

	for (i = 0; copy && i < words.count; i++) {
		copy[i] = strndup(words.items[i].data, words.items[i].length);
		if (!copy[i])
			copy = free_words(copy);
	}
	return copy;
}

/* The input is a file in memory: whether and how fast it is read cannot hold us up. */
static int make_input(struct roger_str text, int *ret_file, struct roger_err *err)
{
	int file = memfd_create("roger-input", MFD_CLOEXEC), r;

	if (file < 0)
		return rg_fail(err, ROGER_EIO, errno, "make room for a command's input");
	r = rg_file_move_up(&file, err);
	if (r == ROGER_OK)
		r = rg_file_write(file, text.data, text.length, "a command's input", err);
	if (r == ROGER_OK && lseek(file, 0, SEEK_SET) < 0)
		r = rg_fail(err, ROGER_EIO, errno, "rewind a command's input");
	if (r < 0) {
		rg_file_close(file);
		return r;
	}
	*ret_file = file;
	return ROGER_OK;
}

static int make_output(int ends[2], struct roger_err *err)
{
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		ends[0] = ends[1] = RG_NO_FILE;
		return rg_fail(err, ROGER_EIO, errno, "make a pipe for a command's output");
	}
	r = rg_file_move_up(&ends[0], err);
	if (r == ROGER_OK)
		r = rg_file_move_up(&ends[1], err);
	if (r == ROGER_OK && fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		r = rg_fail(err, ROGER_EIO, errno, "prepare a pipe");
	return r;
}

static int start(char *const *words, const char *folder, const int streams[3], pid_t *ret_pid,
		 struct roger_err *err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return rg_fail(err, errno == ENOMEM ? ROGER_ENOMEM : ROGER_EIO, errno,
			       "start a process");
	if (pid == 0)
		become(words, folder, streams, parent);
	/* Both do it, so that it is done whoever comes first. */
	setpgid(pid, pid);
	*ret_pid = pid;
	return ROGER_OK;
}

/* Take what is there to be read; false: nothing will come any more. */
static bool take_output(struct running *running, struct rg_buf *output, bool *cut)
{
	char piece[4096];
	ssize_t got;
	size_t room;

	for (;;) {
		got = read(running->output, piece, sizeof piece);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 && errno == EAGAIN;
		room = running->output_bytes_most - output->length;
		if ((size_t)got > room) {
			*cut = true;
			got = (ssize_t)room;
		}
		rg_buf_add(output, piece, (size_t)got);
		if (rg_clock_monotonic_ns() > running->until_ns)
			return true;
	}
}

/* Has it ended?  It stays a zombie, so that its number is nobody else's yet. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid == pid;
}

/* What it prints goes into output until it has ended or its time is over. */
static bool watch(struct running *running, struct rg_buf *output, bool *cut)
{
	struct pollfd poll_output = { .fd = running->output, .events = POLLIN };
	bool open = true, ended;

	for (;;) {
		ended = has_ended(running->pid);
		open = open && take_output(running, output, cut);
		if (ended)
			return true;
		if (rg_clock_monotonic_ns() > running->until_ns)
			return false;
		if (open)
			poll(&poll_output, 1, LOOK_MS);
		else
			rg_clock_sleep(1);
	}
}

/* Whatever it started goes with it. */
static int reap(pid_t pid)
{
	int status = 0;
	pid_t done;

	kill(-pid, SIGKILL);
	do
		done = waitpid(pid, &status, 0);
	while (done < 0 && errno == EINTR);
	/* A program around us may have taken it away: then nobody knows how it ended. */
	return done == pid ? status : RG_PROGRAM_NOT_RUN << 8;
}

static void conclude(bool in_time, int status, struct rg_program_result *result)
{
	if (!in_time)
		*result = (struct rg_program_result){ RG_PROGRAM_TIMED_OUT, SIGKILL, result->cut };
	else if (WIFEXITED(status))
		*result = (struct rg_program_result){ RG_PROGRAM_EXITED, WEXITSTATUS(status),
						      result->cut };
	else
		*result = (struct rg_program_result){ RG_PROGRAM_SIGNALLED, WTERMSIG(status),
						      result->cut };
}

static int run(const struct rg_program *program, char *const *words, struct rg_buf *output,
	       struct rg_program_result *result, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int input = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int nowhere = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int from = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int to = RG_NO_FILE;
	struct running running = { .output_bytes_most = program->output_bytes_most };
	int ends[2] = { RG_NO_FILE, RG_NO_FILE }, r;
	bool in_time;

	r = make_input(program->input, &input, err);
	if (r == ROGER_OK)
		r = rg_file_open_nowhere(&nowhere, err);
	if (r == ROGER_OK)
		r = make_output(ends, err);
	from = ends[0];
	to = ends[1];
	if (r < 0)
		return r;
	running.until_ns = rg_clock_monotonic_ns() + program->timeout_ms * 1000000;
	r = start(words, program->folder, (const int[]){ input, to, nowhere }, &running.pid, err);
	if (r < 0)
		return r;
	to = rg_file_close(to);
	running.output = from;
	in_time = watch(&running, output, &result->cut);
	conclude(in_time, reap(running.pid), result);
	return output->failed ? rg_fail_memory(err) : ROGER_OK;
}

int rg_program_run(const struct rg_program *program, struct rg_buf *output,
		   struct rg_program_result *ret_result, struct roger_err *err)
{
	struct rg_program_result result = { 0 };
	char **words;
	int r;

	if (program->words.count == 0 || program->words.items[0].length == 0)
		return rg_fail(err, ROGER_EUSAGE, 0, "no program is named");
	words = copy_words(program->words);
	if (!words)
		return rg_fail_memory(err);
	r = run(program, words, output, &result, err);
	free_words(words);
	if (r == ROGER_OK)
		*ret_result = result;
	return r;
}

void rg_program_describe(const struct rg_program *program, const struct rg_program_result *result,
			 struct rg_buf *out)
{
	switch (result->end) {
	case RG_PROGRAM_EXITED:
		rg_buf_printf(out, "exit %d%s", result->status,
			      result->status == RG_PROGRAM_NOT_FOUND ? ", not found"
			      : result->status == RG_PROGRAM_NOT_RUN ? ", cannot be run"
								     : "");
		break;
	case RG_PROGRAM_SIGNALLED:
		rg_buf_printf(out, "signal %d", result->status);
		break;
	case RG_PROGRAM_TIMED_OUT:
		rg_buf_printf(out, "killed after %lld ms", (long long)program->timeout_ms);
		break;
	}
}
