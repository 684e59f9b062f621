#include "host/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"

enum {
	PIECE = 32768,
	/* A pipe that poll() calls writable takes this much without blocking. */
	PASS_BYTES = 4096,
	/* The most output that waits after the end of the program: what its pipe holds. */
	LAST_BYTES_MAX = 1 << 20,
	/* How long output is read after its end, while others have it open; for a bare child. */
	LINGER_MS = 1000,
	LINGER_BARE_MS = 100,
	/* How often to look for its end where the system has no pidfd. */
	LOOK_MS = 50,
	/* The descriptors of a guard are below this. */
	GUARD_FILES = 8,
	/* Where close_range() is not known, descriptors beyond this are not looked for. */
	FILES_MAX = 65536,
};

/* Standard output or standard error, where it passes through us. */
struct stream {
	int ours; /* our own stream, which gets it; negative: none */
	int from; /* the end from which its output is read */
	int to;	  /* ours, opened again so that writes do not block, or RG_NO_FILE */
	bool captured, is_terminal;
	struct rg_buf pending; /* output that was read, and is written up to `passed` */
	size_t passed;
	size_t pass_most;
	int lost; /* errno: why output cannot be written; 0: it can */
};

enum { STREAMS = 2 };

struct rg_child {
	struct rg_arena *memory; /* this struct is in it, too */
	struct rg_process process;
	struct roger_run_streams streams;
	pid_t pid;
	pid_t guard;	/* passes on what it prints once we are gone; 0: none */
	int guard_line; /* closed when we are gone, which the guard sees */
	int gate;	/* open until rg_child_go() */
	int end;	/* a descriptor of the process, readable once it has ended */
	bool own;	/* a child of this process, which waits for it */
	bool past;	/* it has ended */
	bool led;	/* an adopted one: while it lived, it led a group */
	bool bare;
	bool lent, stop_passed_on;
	bool flushes; /* it has ended, and what is left of its output is passed on */
	struct stream printed[STREAMS]; /* standard output, standard error */
	char **words, **environment;
	const char *folder;
};

/* The descriptor that output is written to: as we opened it again, or our own. */
static int output_of(const struct stream *stream)
{
	return stream->to != RG_NO_FILE ? stream->to : stream->ours;
}

static size_t waiting_bytes(const struct stream *stream)
{
	return stream->pending.length - stream->passed;
}

static void lose_output(struct stream *stream, int error)
{
	stream->lost = error;
	stream->passed = 0;
	rg_buf_clear(&stream->pending);
}

/* ---------------------------------------------------------------- child -- */

/* These functions make only calls that are allowed after a fork in a program with threads. */

/*
 * roger itself ignores SIGPIPE and SIGXFSZ.  The exec resets caught signals; others that are
 * ignored were so before roger started, and stay so for all but a bare child.
 */
static void reset_signals(bool bare)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		if (bare || i == SIGPIPE || i == SIGXFSZ)
			signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from(int first)
{
	int i;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0)
		return;
#endif
	for (i = first; i < FILES_MAX; i++)
		close(i);
}

/* Wait until the gate is opened; false: nobody ever will. */
static bool wait_at_gate(int gate)
{
	ssize_t got;
	char word;

	do
		got = read(gate, &word, 1);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

_Noreturn static void become_program(const struct rg_child *child, pid_t parent, int gate,
				     int streams[3])
{
	int i, error;

	setpgid(0, 0);
	close(child->gate);
	/* Another child of the same moment may hold the other end of our gate. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !wait_at_gate(gate))
		_exit(RG_PROGRAM_NOT_RUN);
	if (!child->bare)
		prctl(PR_SET_PDEATHSIG, 0);
	reset_signals(child->bare);
	if (child->streams.file_mask >= 0)
		umask((mode_t)child->streams.file_mask);
	/* A descriptor with the number of another standard stream is moved first. */
	for (i = 0; i < 3; i++)
		if (streams[i] <= STDERR_FILENO && streams[i] != i)
			streams[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	for (i = 0; i < 3; i++)
		if (streams[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup2(streams[i], i) < 0)
			_exit(RG_PROGRAM_NOT_RUN);
	if (child->folder && chdir(child->folder) < 0)
		_exit(RG_PROGRAM_NOT_RUN);
	/* The gate too: the exit status alone says why a bare child cannot run. */
	if (child->bare)
		close_from(STDERR_FILENO + 1);
	execvpe(child->words[0], child->words, child->environment);
	error = errno;
	while (write(gate, &error, sizeof error) < 0 && errno == EINTR)
		continue;
	_exit(error == ENOENT ? RG_PROGRAM_NOT_FOUND : RG_PROGRAM_NOT_RUN);
}

/* ------------------------------------------------------------- preparing -- */

static char **copy_words(struct rg_arena *arena, struct roger_strs words)
{
	char **copy = rg_arena_get(arena, (words.count + 1) * sizeof *copy);
	struct roger_str word;
	size_t i;

	for (i = 0; copy && i < words.count; i++) {
		if (!rg_arena_copy(arena, words.items[i], &word))
			return NULL;
		copy[i] = (char *)(uintptr_t)word.data;
	}
	return copy;
}

static bool sets_variable(char *const *settings, const char *variable)
{
	size_t length = strcspn(variable, "="), i;

	for (i = 0; settings[i]; i++)
		if (strncmp(settings[i], variable, length) == 0 && settings[i][length] == '=')
			return true;
	return false;
}

/* Add settings to our environment, in place of equal names; only the list is allocated. */
static char **join_environment(struct rg_arena *arena, char *const *settings)
{
	size_t count = 0, i;
	char **joined;

	for (i = 0; environ && environ[i]; i++)
		count++;
	for (i = 0; settings[i]; i++)
		count++;
	joined = rg_arena_get(arena, (count + 1) * sizeof *joined);
	if (!joined)
		return NULL;
	count = 0;
	for (i = 0; environ && environ[i]; i++)
		if (!sets_variable(settings, environ[i]))
			joined[count++] = environ[i];
	for (i = 0; settings[i]; i++)
		joined[count++] = settings[i];
	return joined;
}

static int prepare_child(struct rg_child *child, const struct rg_child_wish *wish,
			 struct roger_err *err)
{
	char **more;

	if (wish->words.count == 0 || wish->words.items[0].length == 0)
		return rg_fail_member(err, ROGER_EUSAGE, "command", "command: no program is named");
	child->folder = wish->folder;
	child->bare = wish->bare;
	child->words = copy_words(child->memory, wish->words);
	more = copy_words(child->memory, wish->more);
	child->environment = more ? join_environment(child->memory, more) : NULL;
	return rg_kept(child->words && child->environment, err);
}

/* NULL: out of memory. */
static struct rg_child *new_child(const struct roger_run_streams *streams)
{
	static const struct roger_run_streams none = { -1, -1, -1, -1, -1, -1 };
	struct rg_arena *memory = rg_arena_new();
	struct rg_child *child = memory ? rg_arena_get(memory, sizeof *child) : NULL;
	int i;

	if (!child) {
		rg_arena_free(memory);
		return NULL;
	}
	child->memory = memory;
	child->streams = streams ? *streams : none;
	child->gate = child->end = child->guard_line = RG_NO_FILE;
	child->printed[0].ours = child->streams.output;
	child->printed[1].ours = child->streams.errors;
	for (i = 0; i < STREAMS; i++) {
		child->printed[i].from = child->printed[i].to = RG_NO_FILE;
		child->printed[i].pass_most = PASS_BYTES;
		rg_buf_init(&child->printed[i].pending, SIZE_MAX);
	}
	return child;
}

/* Give both ends numbers beyond the standard streams; made: what pipe2() or its like returned. */
static int lift_ends(int made, int ends[2], const char *what, struct roger_err *err)
{
	int r;

	if (made < 0) {
		ends[0] = ends[1] = RG_NO_FILE;
		return rg_fail(err, ROGER_EIO, errno, "make %s", what);
	}
	r = rg_file_move_up(&ends[0], err);
	return r == ROGER_OK ? rg_file_move_up(&ends[1], err) : r;
}

/* Give the program's terminal the size of ours; true: it had another size. */
static bool fit_terminal(struct stream *stream)
{
	struct winsize ours, theirs;

	if (!stream->is_terminal || stream->from == RG_NO_FILE ||
	    ioctl(stream->ours, TIOCGWINSZ, &ours) < 0 ||
	    ioctl(stream->from, TIOCGWINSZ, &theirs) < 0 ||
	    (ours.ws_row == theirs.ws_row && ours.ws_col == theirs.ws_col))
		return false;
	return ioctl(stream->from, TIOCSWINSZ, &ours) == 0;
}

/*
 * Make a terminal for the program where our output is one.  It passes output on
 * unchanged; our terminal processes it.
 */
static int make_terminal(struct stream *stream, int ends[2], struct roger_err *err)
{
	struct termios ours;
	int unlocked = 0, r;

	rg_assert(stream->ours >= 0);
	ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ends[1] = RG_NO_FILE;
	if (ends[0] < 0)
		return rg_fail(err, ROGER_EIO, errno, "make a terminal for a program's output");
	r = rg_file_move_up(&ends[0], err);
	if (r < 0)
		return r;
	if (ioctl(ends[0], TIOCSPTLCK, &unlocked) == 0)
		ends[1] = ioctl(ends[0], TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ends[1] < 0 || tcgetattr(stream->ours, &ours) < 0)
		return rg_fail(err, ROGER_EIO, errno, "prepare a terminal for a program's output");
	ours.c_oflag &= ~(tcflag_t)OPOST;
	if (tcsetattr(ends[1], TCSANOW, &ours) < 0)
		return rg_fail(err, ROGER_EIO, errno, "set a terminal for a program's output");
	stream->is_terminal = true;
	return rg_file_move_up(&ends[1], err);
}

/* Make the pipe or terminal that a captured stream prints into: *ret_to, which the caller closes
 * after the fork. */
static int make_output(struct stream *stream, enum rg_capture capture, int *ret_to,
		       struct roger_err *err)
{
	bool terminal = stream->ours >= 0 && isatty(stream->ours);
	struct stat facts;
	int ends[2], r;

	if (capture == RG_CAPTURE_NOT || (capture == RG_CAPTURE_PIPED && terminal))
		return ROGER_OK;
	stream->captured = true;
	r = terminal
		    ? make_terminal(stream, ends, err)
		    : lift_ends(pipe2(ends, O_CLOEXEC), ends, "a pipe for a program's output", err);
	stream->from = ends[0];
	*ret_to = ends[1];
	if (r == ROGER_OK && fcntl(stream->from, F_SETFL, O_NONBLOCK) < 0)
		r = rg_fail(err, ROGER_EIO, errno, "prepare a pipe");
	fit_terminal(stream);
	if (stream->ours < 0 || fstat(stream->ours, &facts) < 0)
		return r;
	/* Files take anything at once. */
	if (S_ISREG(facts.st_mode))
		stream->pass_most = PIECE;
	/*
	 * A terminal that poll() calls writable may take less than we write, and then write()
	 * blocks until somebody reads.  O_NONBLOCK belongs to the open file, which other
	 * processes share, so the output is opened again where that is possible.
	 */
	if (S_ISFIFO(facts.st_mode) || terminal)
		stream->to = rg_file_open_unwaiting(stream->ours);
	return r;
}

static int fail_fork(struct roger_err *err)
{
	return rg_fail(err, errno == ENOMEM ? ROGER_ENOMEM : ROGER_EIO, errno, "start a process");
}

static int fork_child(struct rg_child *child, int gate, int streams[3], struct roger_err *err)
{
	pid_t parent = getpid(), pid = fork();

	rg_assert(!child->pid && child->words[0]);
	if (pid < 0)
		return fail_fork(err);
	if (pid == 0)
		become_program(child, parent, gate, streams);
	/* Parent and child both do it, so that it is done whichever runs first. */
	setpgid(pid, pid);
	child->pid = pid;
	child->own = true;
	return ROGER_OK;
}

/* ----------------------------------------------------------------- guard -- */

/* Write all of a piece, however slow the output is; to negative: drop it.  False: nobody reads the
 * output any more. */
static bool pour_out(int to, const char *data, size_t length)
{
	struct pollfd out = { .fd = to, .events = POLLOUT };
	ssize_t done;

	while (to >= 0 && length) {
		done = write(to, data, length);
		if (done < 0 && errno == EAGAIN)
			poll(&out, 1, -1);
		else if (done < 0 && errno != EINTR)
			return false;
		data += done > 0 ? done : 0;
		length -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

/*
 * Wait until the process at the other end of the line is gone, then pass on what the program
 * prints, as if it had our streams itself.  Makes only calls that are allowed after a fork.
 */
_Noreturn static void guard_output(const struct rg_child *child, int line)
{
	static char piece[PASS_BYTES];
	int files[1 + 2 * STREAMS] = { line }, i;
	struct pollfd in[STREAMS];
	sigset_t all;
	ssize_t got;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* Join the program's group, so that a signal to our group reaches neither. */
	setpgid(0, child->pid);
	for (i = 0; i < STREAMS; i++) {
		files[1 + i] = child->printed[i].from;
		files[1 + STREAMS + i] = output_of(&child->printed[i]);
	}
	for (i = 0; i < 1 + 2 * STREAMS; i++)
		files[i] = files[i] < 0 ? -1 : fcntl(files[i], F_DUPFD, GUARD_FILES);
	for (i = 0; i < GUARD_FILES; i++)
		close(i);
	for (i = 0; i < 1 + 2 * STREAMS; i++)
		files[i] = files[i] < 0 ? -1 : fcntl(files[i], F_DUPFD, 0);
	close_from(GUARD_FILES);
	while (read(files[0], piece, 1) < 0)
		continue;
	for (i = 0; i < STREAMS; i++)
		in[i] = (struct pollfd){ .fd = files[1 + i], .events = POLLIN };
	while (in[0].fd >= 0 || in[1].fd >= 0) {
		poll(in, STREAMS, -1);
		for (i = 0; i < STREAMS; i++) {
			if (in[i].fd < 0 || !in[i].revents)
				continue;
			got = read(in[i].fd, piece, sizeof piece);
			if (got < 0 && (errno == EINTR || errno == EAGAIN))
				continue;
			if (got <= 0)
				in[i].fd = -1;
			else if (!pour_out(files[1 + STREAMS + i], piece, (size_t)got))
				files[1 + STREAMS + i] = -1;
		}
	}
	_exit(0);
}

/* Without a guard the program would die of SIGPIPE when it prints after our kill -9. */
static int start_guard(struct rg_child *child, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int line = RG_NO_FILE;
	int ends[2], r;

	rg_assert(!child->guard);
	if (child->bare || !(child->printed[0].captured || child->printed[1].captured))
		return ROGER_OK;
	r = lift_ends(pipe2(ends, O_CLOEXEC), ends, "a pipe for a guard", err);
	line = ends[0];
	child->guard_line = ends[1];
	if (r < 0)
		return r;
	child->guard = fork();
	if (child->guard == 0)
		guard_output(child, line);
	if (child->guard > 0)
		return ROGER_OK;
	child->guard = 0;
	return fail_fork(err);
}

static void end_guard(struct rg_child *child)
{
	rg_assert(child->guard >= 0);
	/* The line stays open until the guard is gone, so that it reads no output. */
	if (child->guard && kill(child->guard, SIGKILL) == 0)
		while (waitpid(child->guard, NULL, 0) < 0 && errno == EINTR)
			continue;
	child->guard = 0;
	child->guard_line = rg_file_close(child->guard_line);
}

static void open_end(struct rg_child *child)
{
	rg_assert(child->pid > 1);
#ifdef SYS_pidfd_open
	child->end = (int)syscall(SYS_pidfd_open, child->pid, 0);
	if (child->end >= 0 && rg_file_move_up(&child->end, NULL) < 0)
		child->end = RG_NO_FILE;
#endif
	if (child->end < 0)
		child->end = RG_NO_FILE;
}

static int start_child(struct rg_child *child, const struct rg_child_wish *wish,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int nowhere = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int output = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int errors = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int gate = RG_NO_FILE;
	int streams[3] = { child->streams.input, child->streams.output, child->streams.errors };
	int gates[2], i, r;

	r = prepare_child(child, wish, err);
	if (r == ROGER_OK)
		r = rg_file_open_nowhere(&nowhere, err);
	if (r == ROGER_OK)
		r = make_output(&child->printed[0], wish->output, &output, err);
	if (r == ROGER_OK)
		r = make_output(&child->printed[1], wish->errors, &errors, err);
	if (r == ROGER_OK) {
		r = lift_ends(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gates), gates,
			      "a gate for a process", err);
		child->gate = gates[0];
		gate = gates[1];
	}
	if (r < 0)
		return r;
	if (child->printed[0].captured)
		streams[1] = output;
	if (child->printed[1].captured)
		streams[2] = errors;
	for (i = 0; i < 3; i++)
		if (streams[i] < 0)
			streams[i] = nowhere;
	r = fork_child(child, gate, streams, err);
	if (r == ROGER_OK)
		r = start_guard(child, err);
	if (r < 0)
		return r;
	open_end(child);
	rg_process_find(child->pid, &child->process);
	return ROGER_OK;
}

int rg_child_start(const struct rg_child_wish *wish, struct rg_child **ret_child,
		   struct roger_err *err)
{
	struct rg_child *child = new_child(wish->streams);
	int r;

	if (!child)
		return rg_fail_memory(err);
	r = start_child(child, wish, err);
	if (r < 0) {
		rg_child_free(child);
		return r;
	}
	*ret_child = child;
	return ROGER_OK;
}

/*
 * Does the child lead a group that may be signalled?  A document may name any process as our
 * child.  After its end the group is the same one while no other process has its id.
 */
static bool has_group(const struct rg_child *child)
{
	struct rg_process_look now;

	if (child->own)
		return true;
	if (!child->past)
		return getpgid(child->pid) == child->pid && child->pid != getpgrp();
	if (!child->led)
		return false;
	if (getpgid(child->pid) < 0)
		return errno == ESRCH;
	return rg_process_look(child->pid, &now) && now.start == child->process.start;
}

int rg_child_adopt(const struct rg_process *process, const struct roger_run_streams *streams,
		   struct rg_child **ret_child, struct roger_err *err)
{
	struct rg_child *child = new_child(streams);

	rg_assert(process->id > 1);
	if (!child)
		return rg_fail_memory(err);
	child->process = *process;
	child->pid = (pid_t)process->id;
	open_end(child);
	/* Asked after opening the pidfd, so that the pidfd is of that process. */
	child->past = rg_process_fate(process) != RG_PROCESS_LIVES;
	child->led = has_group(child);
	*ret_child = child;
	return ROGER_OK;
}

const struct rg_process *rg_child_process(const struct rg_child *child)
{
	return &child->process;
}

int rg_child_go(struct rg_child *child)
{
	ssize_t done;
	int error = 0;

	rg_assert(child->gate != RG_NO_FILE);
	/* If it was killed at the gate, waiting for it will show that. */
	do
		done = send(child->gate, "", 1, MSG_NOSIGNAL);
	while (done < 0 && errno == EINTR);
	/* The exec closes its end of the gate; for a bare child the exit status is enough. */
	while (!child->bare) {
		done = recv(child->gate, &error, sizeof error, MSG_WAITALL);
		if (done >= 0 || errno != EINTR)
			break;
	}
	child->gate = rg_file_close(child->gate);
	return done == (ssize_t)sizeof error ? error : 0;
}

/* --------------------------------------------------------------- signals -- */

void rg_child_signal(struct rg_child *child, int number)
{
	if (has_group(child))
		kill(-child->pid, number);
}

/* SIGTTOU stops a background process that sets the foreground group, so it is blocked. */
static void set_foreground(int terminal, pid_t group)
{
	sigset_t stop, before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	if (pthread_sigmask(SIG_BLOCK, &stop, &before) != 0)
		return;
	tcsetpgrp(terminal, group);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool lend_terminal(struct rg_child *child)
{
	int terminal = child->streams.terminal;

	if (terminal < 0 || tcgetpgrp(terminal) != getpgrp())
		return false;
	set_foreground(terminal, child->pid);
	child->lent = tcgetpgrp(terminal) == child->pid;
	return child->lent;
}

static void take_terminal_back(struct rg_child *child)
{
	if (child->lent && tcgetpgrp(child->streams.terminal) == child->pid)
		set_foreground(child->streams.terminal, getpgrp());
	child->lent = false;
}

/*
 * If the child was stopped because it needs the terminal, lend it.  If it was stopped from
 * the terminal or by a signal that was passed on, stop as well, until we are continued.
 */
static void look_for_stop(struct rg_child *child)
{
	bool asks, follow;
	siginfo_t info = { 0 };

	if (!child->own || waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WNOHANG) < 0 ||
	    info.si_pid != child->pid)
		return;
	asks = info.si_status == SIGTTIN || info.si_status == SIGTTOU;
	if (asks && lend_terminal(child)) {
		rg_child_signal(child, SIGCONT);
		return;
	}
	follow = child->stop_passed_on || (child->streams.terminal >= 0 && (asks || child->lent));
	child->stop_passed_on = false;
	if (!follow)
		return;
	take_terminal_back(child);
	raise(SIGSTOP);
}

/* Somebody asks this process to end while it passes on the last output: nobody waits for that. */
static void call_off(struct rg_child *child)
{
	int i;

	for (i = 0; i < STREAMS; i++)
		if (waiting_bytes(&child->printed[i]))
			lose_output(&child->printed[i], EINTR);
}

static void take_signal(struct rg_child *child, int number)
{
	if (child->flushes) {
		if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
			call_off(child);
		return;
	}
	if (number == SIGCHLD) {
		look_for_stop(child);
		return;
	}
	child->stop_passed_on |= number == SIGTSTP;
	if (number == SIGWINCH)
		fit_terminal(&child->printed[0]);
	if (number > 0 && number < NSIG)
		rg_child_signal(child, number);
}

static void take_signals(struct rg_child *child)
{
	unsigned char numbers[64];
	ssize_t got = read(child->streams.signals, numbers, sizeof numbers), i;

	if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
		child->streams.signals = -1;
	for (i = 0; i < got; i++)
		take_signal(child, numbers[i]);
}

/* ---------------------------------------------------------------- output -- */

/* Write as much as the output takes without blocking. */
static void pass_on(struct stream *stream)
{
	size_t piece = waiting_bytes(stream) < stream->pass_most ? waiting_bytes(stream)
								 : stream->pass_most;
	ssize_t done = write(output_of(stream), stream->pending.data + stream->passed, piece);

	rg_assert(waiting_bytes(stream) > 0);
	if (done < 0 && errno == EINTR)
		return;
	/* A terminal was writable but has no room for both bytes of a line end. */
	if (done < 0 && errno == EAGAIN) {
		rg_clock_sleep(LOOK_MS);
		return;
	}
	if (done < 0) {
		lose_output(stream, errno);
		return;
	}
	stream->passed += (size_t)done;
	if (waiting_bytes(stream) == 0) {
		stream->passed = 0;
		rg_buf_clear(&stream->pending);
	}
}

/* Read one piece of output; at its end, close it. */
static void take_output(struct rg_child *child, int i, rg_child_see *see, void *context)
{
	struct stream *stream = &child->printed[i];
	char *room = rg_buf_room(&stream->pending, PIECE);
	ssize_t got;

	rg_assert(stream->from != RG_NO_FILE);
	if (!room) {
		/* Without memory the output stays in its pipe until there is some. */
		stream->pending.failed = false;
		rg_clock_sleep(LOOK_MS);
		return;
	}
	got = read(stream->from, room, PIECE);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* EIO: every process has closed this terminal. */
	if (got <= 0) {
		stream->from = rg_file_close(stream->from);
		return;
	}
	see(context, STDOUT_FILENO + i, room, (size_t)got);
	if (stream->ours >= 0 && !stream->lost)
		stream->pending.length += (size_t)got;
	/* A program that saw the signal before the new size drew for the old one. */
	if (fit_terminal(stream))
		rg_child_signal(child, SIGWINCH);
}

/* -------------------------------------------------------------- watching -- */

static bool has_ended(const struct rg_child *child)
{
	siginfo_t info = { 0 };

	if (!child->own)
		return rg_process_fate(&child->process) != RG_PROCESS_LIVES;
	/* The child stays a zombie, so that its process id is not used again yet. */
	return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid == child->pid;
}

static int wait_ms_until(const struct rg_child *child, int64_t until_ns)
{
	const int64_t most_ms = child->end == RG_NO_FILE && !child->past ? LOOK_MS : INT32_MAX;
	const int64_t left_ns = until_ns - rg_clock_monotonic_ns();
	const int64_t left_ms = left_ns <= 0 ? 0 : (left_ns - 1) / 1000000 + 1;

	return (int)(left_ms < most_ms ? left_ms : most_ms);
}

/* Sleep until there is something to do, and do it; most: stop reading at this much pending output.
 */
static void step_streams(struct rg_child *child, int64_t until_ns, size_t most, rg_child_see *see,
			 void *context)
{
	struct stream *printed = child->printed;
	struct pollfd polls[2 + 2 * STREAMS] = {
		{ .fd = child->streams.signals, .events = POLLIN },
		{ .fd = child->past ? -1 : child->end, .events = POLLIN },
	};
	struct pollfd *in = polls + 2, *out = in + STREAMS;
	int i;

	for (i = 0; i < STREAMS; i++) {
		bool full = waiting_bytes(&printed[i]) > 0 && waiting_bytes(&printed[i]) >= most;

		in[i] = (struct pollfd){ .fd = full ? -1 : printed[i].from, .events = POLLIN };
		out[i] = (struct pollfd){ .fd = waiting_bytes(&printed[i]) ? output_of(&printed[i])
									   : -1,
					  .events = POLLOUT };
	}
	if (poll(polls, sizeof polls / sizeof *polls, wait_ms_until(child, until_ns)) < 0) {
		/* An error of poll() must not lead to a busy loop. */
		if (errno != EINTR)
			rg_clock_sleep(LOOK_MS);
		return;
	}
	if (polls[0].revents)
		take_signals(child);
	for (i = 0; i < STREAMS; i++) {
		if (out[i].revents && waiting_bytes(&printed[i]))
			pass_on(&printed[i]);
		if (in[i].revents)
			take_output(child, i, see, context);
	}
	if (!child->past && (polls[1].revents || child->end == RG_NO_FILE))
		child->past = has_ended(child);
}

bool rg_child_watch(struct rg_child *child, int64_t until_ns, rg_child_see *see, void *context)
{
	while (!child->past) {
		/* Read one piece at a time, so that a slow reader slows the program down. */
		step_streams(child, until_ns, 1, see, context);
		if (!child->past && rg_clock_monotonic_ns() >= until_ns)
			return false;
	}
	return true;
}

static enum rg_child_end reap_child(struct rg_child *child, int *ret_status)
{
	int status = 0;
	pid_t done;

	rg_assert(child->gate == RG_NO_FILE);
	*ret_status = 0;
	if (!child->own)
		return RG_CHILD_UNSEEN;
	do
		done = waitpid(child->pid, &status, 0);
	while (done < 0 && errno == EINTR);
	child->own = false;
	/* Another part of this process may have reaped it: then its status is unknown. */
	if (done != child->pid)
		return RG_CHILD_UNSEEN;
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
	return WIFEXITED(status) ? RG_CHILD_EXITED : RG_CHILD_SIGNALLED;
}

/* Is there a stream that is open, and has room for more? */
static bool is_heard(const struct rg_child *child)
{
	int i;

	for (i = 0; i < STREAMS; i++)
		if (child->printed[i].from != RG_NO_FILE &&
		    waiting_bytes(&child->printed[i]) < LAST_BYTES_MAX)
			return true;
	return false;
}

enum rg_child_end rg_child_finish(struct rg_child *child, bool kill_rest, rg_child_see *see,
				  void *context, int *ret_status)
{
	int64_t linger_ms = child->bare ? LINGER_BARE_MS : LINGER_MS;
	int64_t until_ns = rg_clock_monotonic_ns() + linger_ms * 1000000;
	int i;

	take_terminal_back(child);
	end_guard(child);
	if (kill_rest)
		rg_child_signal(child, SIGKILL);
	while (is_heard(child) && rg_clock_monotonic_ns() < until_ns)
		step_streams(child, until_ns, LAST_BYTES_MAX, see, context);
	for (i = 0; i < STREAMS; i++)
		child->printed[i].from = rg_file_close(child->printed[i].from);
	return reap_child(child, ret_status);
}

int rg_child_flush(struct rg_child *child)
{
	child->flushes = true;
	while (waiting_bytes(&child->printed[0]) || waiting_bytes(&child->printed[1]))
		step_streams(child, INT64_MAX, LAST_BYTES_MAX, NULL, NULL);
	return child->printed[0].lost ? child->printed[0].lost : child->printed[1].lost;
}

bool rg_child_captures(const struct rg_child *child, int stream)
{
	rg_assert(stream == STDOUT_FILENO || stream == STDERR_FILENO);
	return child->printed[stream - STDOUT_FILENO].captured;
}

struct rg_child *rg_child_free(struct rg_child *child)
{
	int status, i;

	if (!child)
		return NULL;
	take_terminal_back(child);
	end_guard(child);
	if (child->gate != RG_NO_FILE) {
		child->gate = rg_file_close(child->gate);
		reap_child(child, &status);
	}
	rg_file_close(child->end);
	for (i = 0; i < STREAMS; i++) {
		rg_file_close(child->printed[i].from);
		rg_file_close(child->printed[i].to);
		rg_buf_deinit(&child->printed[i].pending);
	}
	rg_arena_free(child->memory);
	return NULL;
}
