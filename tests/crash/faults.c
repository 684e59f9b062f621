/*
 * faults - a library to preload into roger (LD_PRELOAD), for the crash tests.
 *
 * It starts roger's main() again and again, each time in a fork, and lets one
 * call of the C library go wrong there: the process is killed before it, or the
 * call fails.  A fork costs a tenth of what strace and a fresh process cost.
 * lib.py is the other side.  strace sees more (what libc calls by itself), so
 * --with-slow goes that way.
 *
 * A request comes on standard input: its length (8 bytes, the machine's order),
 * then texts, each with a NUL behind it:
 *
 *     FAULT FOLDER STDIN VARIABLES VARIABLE... WORD...
 *
 *     FAULT      nothing: requests after one another run in one fork, until "end"
 *                "end": alone, and without an answer
 *                "record": a fork that notes each call
 *                NAME FIRST LAST ERRNO: a fork in which that call fails with ERRNO
 *                from its number FIRST to LAST, or, when ERRNO is 0, kills
 *     FOLDER     where the program starts
 *     STDIN      what it reads
 *     VARIABLES  how many follow, as NAME=VALUE: its whole environment; with
 *                FAULTS_BOOT_ID=FILE the machine was started again since FILE was
 *                written: it stands in place of the system's boot_id
 *
 * The answer on standard output: the status of waitpid() and the lengths of
 * what follows (4 times 8 bytes): standard output, standard error, and the
 * calls that were recorded or went wrong, one a line: NAME FLAGS PATH.
 */
/* Each function by its own name. */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTES_BYTES (1 << 20)

/* ---------------------------------------------------------------- calls -- */

/* What is to go wrong in this process. */
static struct {
	bool on, record;
	pid_t process; /* and in none that it starts */
	char call[32];
	unsigned first, last;
	int error;
	atomic_uint count;
} fault;

/* Shared with the parent. */
static struct notes {
	atomic_size_t length;
	bool owes; /* an answer to the request in hand */
	char text[NOTES_BYTES];
} * notes;

static void note(const char *call, int fd, const char *path, bool makes)
{
	char line[4400], link[64], target[4096] = "";
	ssize_t got = 0;
	size_t at;
	int length;

	if (!path && fd >= 0) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		got = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
	}
	target[got > 0 ? got : 0] = 0;
	length = snprintf(line, sizeof line, "%s %s %s\n", call, makes ? "O_CREAT" : "-",
			  path ? path : target);
	at = atomic_fetch_add(&notes->length, (size_t)length);
	if (at + (size_t)length <= NOTES_BYTES)
		memcpy(notes->text + at, line, (size_t)length);
}

/* Shall this call go wrong?  Then errno says how. */
static bool goes_wrong(const char *call, int fd, const char *path, bool makes)
{
	int before = errno;
	unsigned number;
	bool hit = false;

	if (!fault.on || getpid() != fault.process)
		return false;
	if (!fault.record && strcmp(call, fault.call) == 0) {
		number = atomic_fetch_add(&fault.count, 1) + 1;
		hit = number >= fault.first && number <= fault.last;
	}
	if (hit || fault.record)
		note(call, fd, path, makes);
	if (hit && !fault.error)
		kill(getpid(), SIGKILL);
	errno = hit ? fault.error : before;
	return hit;
}

#define REAL(name, type, ...)                                                                      \
	static type (*real)(__VA_ARGS__);                                                          \
	if (!real)                                                                                 \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

/* One of the C library's functions, under each name that it has. */
#define WRAP(type, name, call, fd, path, makes, params, args)                                      \
	type name params;                                                                          \
	type name params                                                                           \
	{                                                                                          \
		REAL(name, type, UNPACK params);                                                   \
		if (goes_wrong(#call, fd, path, makes))                                            \
			return (type)-1;                                                           \
		return real args;                                                                  \
	}
#define UNPACK(...) __VA_ARGS__

WRAP(int, close, close, fd, NULL, false, (int fd), (fd))
WRAP(ssize_t, read, read, fd, NULL, false, (int fd, void *at, size_t size), (fd, at, size))
WRAP(ssize_t, readv, readv, fd, NULL, false, (int fd, const struct iovec *v, int n), (fd, v, n))
WRAP(ssize_t, write, write, fd, NULL, false, (int fd, const void *at, size_t size), (fd, at, size))
WRAP(ssize_t, writev, writev, fd, NULL, false, (int fd, const struct iovec *v, int n), (fd, v, n))
WRAP(ssize_t, pread, pread64, fd, NULL, false, (int fd, void *at, size_t size, off_t from),
     (fd, at, size, from))
WRAP(ssize_t, pread64, pread64, fd, NULL, false, (int fd, void *at, size_t size, off_t from),
     (fd, at, size, from))
WRAP(ssize_t, pwrite, pwrite64, fd, NULL, false, (int fd, const void *at, size_t size, off_t to),
     (fd, at, size, to))
WRAP(ssize_t, pwrite64, pwrite64, fd, NULL, false, (int fd, const void *at, size_t size, off_t to),
     (fd, at, size, to))
WRAP(int, fdatasync, fdatasync, fd, NULL, false, (int fd), (fd))
WRAP(int, fsync, fsync, fd, NULL, false, (int fd), (fd))
WRAP(int, ftruncate, ftruncate, fd, NULL, false, (int fd, off_t length), (fd, length))
WRAP(int, ftruncate64, ftruncate, fd, NULL, false, (int fd, off_t length), (fd, length))
WRAP(int, rename, rename, -1, to, false, (const char *from, const char *to), (from, to))
WRAP(int, renameat, renameat, -1, to, false, (int a, const char *from, int b, const char *to),
     (a, from, b, to))
WRAP(int, renameat2, renameat2, -1, to, false,
     (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
WRAP(int, unlink, unlink, -1, path, false, (const char *path), (path))
WRAP(int, unlinkat, unlinkat, -1, path, false, (int fd, const char *path, int flags),
     (fd, path, flags))
WRAP(int, mkdir, mkdir, -1, path, false, (const char *path, mode_t mode), (path, mode))
WRAP(int, mkdirat, mkdirat, -1, path, false, (int fd, const char *path, mode_t mode),
     (fd, path, mode))
WRAP(int, rmdir, rmdir, -1, path, false, (const char *path), (path))
WRAP(int, fchmod, fchmod, fd, NULL, false, (int fd, mode_t mode), (fd, mode))
WRAP(int, fchmodat, fchmodat, -1, path, false, (int fd, const char *path, mode_t mode, int flags),
     (fd, path, mode, flags))
WRAP(int, flock, flock, fd, NULL, false, (int fd, int what), (fd, what))
WRAP(void *, mmap, mmap, fd, NULL, false,
     (void *at, size_t size, int prot, int flags, int fd, off_t from),
     (at, size, prot, flags, fd, from))
WRAP(void *, mmap64, mmap, fd, NULL, false,
     (void *at, size_t size, int prot, int flags, int fd, off_t from),
     (at, size, prot, flags, fd, from))
WRAP(int, fstat, fstat, fd, NULL, false, (int fd, struct stat *ret), (fd, ret))
WRAP(int, fstat64, fstat, fd, NULL, false, (int fd, struct stat64 *ret), (fd, ret))
WRAP(int, stat, newfstatat, -1, path, false, (const char *path, struct stat *ret), (path, ret))
WRAP(int, stat64, newfstatat, -1, path, false, (const char *path, struct stat64 *ret), (path, ret))
WRAP(int, lstat, newfstatat, -1, path, false, (const char *path, struct stat *ret), (path, ret))
WRAP(int, lstat64, newfstatat, -1, path, false, (const char *path, struct stat64 *ret), (path, ret))
WRAP(int, fstatat, newfstatat, -1, path, false,
     (int fd, const char *path, struct stat *ret, int flags), (fd, path, ret, flags))
WRAP(int, fstatat64, newfstatat, -1, path, false,
     (int fd, const char *path, struct stat64 *ret, int flags), (fd, path, ret, flags))
WRAP(off_t, lseek, lseek, fd, NULL, false, (int fd, off_t to, int whence), (fd, to, whence))
WRAP(off_t, lseek64, lseek, fd, NULL, false, (int fd, off_t to, int whence), (fd, to, whence))
WRAP(ssize_t, getrandom, getrandom, -1, "", false, (void *at, size_t size, unsigned flags),
     (at, size, flags))
WRAP(int, poll, poll, -1, "", false, (struct pollfd * fds, nfds_t count, int wait_ms),
     (fds, count, wait_ms))
WRAP(int, fchown, fchown, fd, NULL, false, (int fd, uid_t user, gid_t group), (fd, user, group))

WRAP(int, statx, statx, -1, path, false,
     (int fd, const char *path, int flags, unsigned mask, struct statx *ret),
     (fd, path, flags, mask, ret))
WRAP(ssize_t, readlink, readlink, -1, path, false, (const char *path, char *at, size_t size),
     (path, at, size))
WRAP(ssize_t, readlinkat, readlink, -1, path, false,
     (int fd, const char *path, char *at, size_t size), (fd, path, at, size))

char *getcwd(char *at, size_t size)
{
	REAL(getcwd, char *, char *, size_t);

	return goes_wrong("getcwd", -1, "", false) ? NULL : real(at, size);
}

/* The last argument, which only some calls have, is a number or a pointer. */
#define WRAP_MORE(name, call, fd, path, makes, params, args, last)                                 \
	int name params;                                                                           \
	int name params                                                                            \
	{                                                                                          \
		REAL(name, int, UNPACK params);                                                    \
		va_list list;                                                                      \
		long more;                                                                         \
                                                                                                   \
		va_start(list, last);                                                              \
		more = va_arg(list, long);                                                         \
		va_end(list);                                                                      \
		if (goes_wrong(#call, fd, path, makes))                                            \
			return -1;                                                                 \
		return real args;                                                                  \
	}

/* The system names its boot in a file; FAULTS_BOOT_ID names the one of another boot. */
static const char *booted(const char *path)
{
	const char *other = getenv("FAULTS_BOOT_ID");

	return other && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? other : path;
}

WRAP_MORE(open, open, -1, path, flags &O_CREAT, (const char *path, int flags, ...),
	  (booted(path), flags, more), flags)
WRAP_MORE(open64, open, -1, path, flags &O_CREAT, (const char *path, int flags, ...),
	  (booted(path), flags, more), flags)
WRAP_MORE(openat, openat, -1, path, flags &O_CREAT, (int at, const char *path, int flags, ...),
	  (at, booted(path), flags, more), flags)
WRAP_MORE(openat64, openat, -1, path, flags &O_CREAT, (int at, const char *path, int flags, ...),
	  (at, booted(path), flags, more), flags)
WRAP_MORE(fcntl, fcntl, fd, NULL, false, (int fd, int what, ...), (fd, what, more), what)
WRAP_MORE(fcntl64, fcntl, fd, NULL, false, (int fd, int what, ...), (fd, what, more), what)

/* What has no function of its own. */
long syscall(long number, ...)
{
	REAL(syscall, long, long, ...);
	va_list list;
	long a[6];
	int i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex && goes_wrong("futex", -1, "", false))
		return -1;
	if (number == SYS_renameat2 && goes_wrong("renameat2", -1, (const char *)a[3], false))
		return -1;
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ------------------------------------------------------------- requests -- */

/* Beyond what the program opens: the two ends to lib.py, and the program's streams. */
enum { ASK = 100, TELL, STREAMS };

struct request {
	char *text, *end;
};

static int (*real_main)(int, char **, char **);

static bool get_all(void *at, size_t size)
{
	ssize_t got = 1;
	size_t done;

	for (done = 0; done < size && got > 0; done += (size_t)got)
		got = read(ASK, (char *)at + done, size - done);
	return got > 0;
}

static void put_all(int fd, const void *at, size_t size)
{
	ssize_t put;
	size_t done;

	for (done = 0; done < size; done += (size_t)put) {
		put = write(fd, (const char *)at + done, size - done);
		if (put <= 0)
			_exit(3);
	}
}

/* False when nobody asks any more. */
static bool get_request(struct request *request)
{
	uint64_t length;

	free(request->text);
	request->text = NULL;
	if (!get_all(&length, sizeof length))
		return false;
	request->text = malloc(length);
	request->end = request->text + length;
	return request->text && get_all(request->text, length);
}

/* The first text of what is left. */
static char *take(char **at)
{
	char *text = *at;

	*at += strlen(text) + 1;
	return text;
}

static void plan_fault(const char *words)
{
	fault.process = getpid();
	fault.record = strcmp(words, "record") == 0;
	fault.on = fault.record || sscanf(words, "%31s %u %u %d", fault.call, &fault.first,
					  &fault.last, &fault.error) == 4;
}

static void fill_streams(const char *in)
{
	int i;

	for (i = 0; i < 3; i++)
		if (lseek(STREAMS + i, 0, SEEK_SET) < 0 || ftruncate(STREAMS + i, 0) < 0)
			_exit(3);
	put_all(STREAMS, in, strlen(in));
	lseek(STREAMS, 0, SEEK_SET);
}

/* roger's main() with the words of the request. */
static int be_roger(struct request *request)
{
	char name[] = "roger", *words[256] = { name }, *at = request->text, *wrong = take(&at);
	int count = 1, i, variables, status;

	if (chdir(take(&at)) < 0)
		_exit(3);
	fill_streams(take(&at));
	variables = (int)strtol(take(&at), NULL, 10);
	clearenv();
	for (i = 0; i < variables; i++)
		putenv(strdup(take(&at)));
	while (at < request->end && count < 255)
		words[count++] = take(&at);
	umask(022);
	plan_fault(wrong);
	status = real_main(count, words, environ);
	fflush(NULL);
	fault.on = false;
	return status;
}

static void put_stream(int fd, uint64_t length)
{
	char part[65536];
	ssize_t got;
	uint64_t done;

	for (done = 0; done < length; done += (uint64_t)got) {
		got = pread(fd, part, sizeof part, (off_t)done);
		if (got <= 0)
			_exit(3);
		put_all(TELL, part, (size_t)got);
	}
}

static void answer(int status)
{
	uint64_t head[4] = { (uint64_t)status, (uint64_t)lseek(STREAMS + 1, 0, SEEK_END),
			     (uint64_t)lseek(STREAMS + 2, 0, SEEK_END),
			     notes->length < NOTES_BYTES ? notes->length : NOTES_BYTES };

	put_all(TELL, head, sizeof head);
	put_stream(STREAMS + 1, head[1]);
	put_stream(STREAMS + 2, head[2]);
	put_all(TELL, notes->text, head[3]);
	notes->length = 0;
	notes->owes = false;
}

/* In the fork. */
static void run_requests(struct request *request)
{
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < 3; i++)
		dup2(STREAMS + i, i);
	if (*request->text)
		exit(be_roger(request));
	do {
		notes->owes = true;
		answer((be_roger(request) & 255) << 8);
	} while (get_request(request) && !*request->text);
	_exit(0);
}

static void serve(struct request *request)
{
	int status = 0;
	pid_t child;

	if (strcmp(request->text, "end") == 0)
		return;
	notes->owes = true;
	child = fork();
	if (child == 0)
		run_requests(request);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (notes->owes)
		answer(status);
}

static void set_up(void)
{
	int i;

	unsetenv("LD_PRELOAD"); /* not for the commands that roger starts */
	notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (notes == MAP_FAILED || dup3(0, ASK, O_CLOEXEC) < 0 || dup3(1, TELL, O_CLOEXEC) < 0)
		_exit(3);
	for (i = 0; i < 3; i++)
		if (dup3(memfd_create("stream", 0), STREAMS + i, O_CLOEXEC) < 0)
			_exit(3);
}

/* In place of roger's main(). */
static int serve_all(int argc, char **argv, char **env)
{
	struct request request = { NULL, NULL };

	(void)argc, (void)argv, (void)env;
	set_up();
	while (get_request(&request))
		serve(&request);
	return 0;
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
		      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
		      void *stack_end);

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
		      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
		      void *stack_end)
{
	REAL(__libc_start_main, int, int (*)(int, char **, char **), int, char **, void (*)(void),
	     void (*)(void), void (*)(void), void *);

	real_main = program;
	return real(serve_all, argc, argv, init, fini, rtld_fini, stack_end);
}
