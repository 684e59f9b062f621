#include "host/program.h"

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
#include "host/file.h"

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

/* What a child is to be, put together before the fork. */
struct becoming {
	char **words;
	char **more;	    /* of its environment */
	char **environment; /* its list alone: the texts are ours, or in more */
	const char *folder;
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

_Noreturn static void become(const struct becoming *becoming, const int streams[3], pid_t parent)
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
	if (becoming->folder && chdir(becoming->folder) < 0)
		_exit(RG_PROGRAM_NOT_RUN);
	execvpe(becoming->words[0], becoming->words, becoming->environment);
	_exit(errno == ENOENT ? RG_PROGRAM_NOT_FOUND : RG_PROGRAM_NOT_RUN);
}

/* --------------------------------------------------------------- parent -- */

char **rg_program_free_words(char **words)
{
	size_t i;

	for (i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
	return NULL;
}

char **rg_program_copy_words(struct roger_strs words)
{
	char **copy = calloc(words.count + 1, sizeof *copy);
	size_t i;

	for (i = 0; copy && i < words.count; i++) {
		copy[i] = strndup(words.items[i].data, words.items[i].length);
		if (!copy[i])
			return rg_program_free_words(copy);
	}
	return copy;
}

static bool sets(char *const *settings, const char *variable)
{
	size_t length = strcspn(variable, "="), i;

	for (i = 0; settings[i]; i++)
		if (strncmp(settings[i], variable, length) == 0 && settings[i][length] == '=')
			return true;
	return false;
}

char **rg_program_join_environment(char *const *settings)
{
	size_t count = 0, i;
	char **joined;

	for (i = 0; environ && environ[i]; i++)
		count++;
	for (i = 0; settings[i]; i++)
		count++;
	joined = calloc(count + 1, sizeof *joined);
	if (!joined)
		return NULL;
	count = 0;
	for (i = 0; environ && environ[i]; i++)
		if (!sets(settings, environ[i]))
			joined[count++] = environ[i];
	for (i = 0; settings[i]; i++)
		joined[count++] = settings[i];
	return joined;
}

static void free_becoming(struct becoming *becoming)
{
	becoming->words = rg_program_free_words(becoming->words);
	becoming->more = rg_program_free_words(becoming->more);
	free(becoming->environment);
	becoming->environment = NULL;
}

static int prepare(const struct rg_program *program, struct becoming *becoming,
		   struct roger_err *err)
{
	if (program->words.count == 0 || program->words.items[0].length == 0)
		return rg_fail(err, ROGER_EUSAGE, 0, "no program is named");
	becoming->folder = program->folder;
	becoming->words = rg_program_copy_words(program->words);
	becoming->more = rg_program_copy_words(program->more);
	becoming->environment = becoming->more ? rg_program_join_environment(becoming->more) : NULL;
	if (becoming->words && becoming->environment)
		return ROGER_OK;
	free_becoming(becoming);
	return rg_fail_memory(err);
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

static int start(const struct becoming *becoming, const int streams[3], pid_t *ret_pid,
		 struct roger_err *err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return rg_fail(err, errno == ENOMEM ? ROGER_ENOMEM : ROGER_EIO, errno,
			       "start a process");
	if (pid == 0)
		become(becoming, streams, parent);
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

static int run(const struct rg_program *program, const struct becoming *becoming,
	       struct rg_buf *output, struct rg_program_result *result, struct roger_err *err)
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
	r = start(becoming, (const int[]){ input, to, nowhere }, &running.pid, err);
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
	struct becoming becoming = { 0 };
	int r;

	r = prepare(program, &becoming, err);
	if (r < 0)
		return r;
	r = run(program, &becoming, output, &result, err);
	free_becoming(&becoming);
	if (r == ROGER_OK)
		*ret_result = result;
	return r;
}

/* ---------------------------------------------------------- beside us -- */

static int launch(const struct rg_program *program, const struct becoming *becoming,
		  struct rg_launched *launched, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int nowhere = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int input = RG_NO_FILE;
	pid_t pid = 0;
	int r;

	r = make_input(RG_STR(""), &input, err);
	if (r == ROGER_OK)
		r = rg_file_open_nowhere(&nowhere, err);
	if (r < 0)
		return r;
	launched->started_ns = rg_clock_monotonic_ns();
	launched->until_ns = launched->started_ns + program->timeout_ms * 1000000;
	r = start(becoming, (const int[]){ input, nowhere, nowhere }, &pid, err);
	launched->pid = pid;
	return r;
}

int rg_program_launch(const struct rg_program *program, struct rg_launched *ret_launched,
		      struct roger_err *err)
{
	struct rg_launched launched = { 0 };
	struct becoming becoming = { 0 };
	int r;

	r = prepare(program, &becoming, err);
	if (r < 0)
		return r;
	r = launch(program, &becoming, &launched, err);
	free_becoming(&becoming);
	if (r == ROGER_OK)
		*ret_launched = launched;
	return r;
}

bool rg_program_over(struct rg_launched *launched, bool enough,
		     struct rg_program_result *ret_result)
{
	struct rg_program_result result = { 0 };
	bool in_time = has_ended((pid_t)launched->pid);

	if (!in_time && !enough && rg_clock_monotonic_ns() < launched->until_ns)
		return false;
	launched->took_ns = rg_clock_monotonic_ns() - launched->started_ns;
	conclude(in_time, reap((pid_t)launched->pid), &result);
	launched->pid = 0;
	*ret_result = result;
	return true;
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
