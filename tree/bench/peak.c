/*
 * peak - how much memory a program held at most: peak STATUS PROGRAM ARG...
 *
 * The figure is read from the program as it exits.  The usage a parent is told
 * of counts what the process was before it became the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "lanes.h"

static long peak_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	if (kib < 0)
		bench_die("%s tells no VmHWM", path);
	return kib;
}

static void become(char **argv)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execv(argv[0], argv);
	_exit(127);
}

/* Let it run until it stops in its exit; signals other than ours are passed on. */
static long follow(pid_t child, int *ret_status)
{
	int status, passed;
	long kib = 0;

	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL,
	       (void *)(long)(PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	for (;;) {
		if (waitpid(child, &status, 0) < 0)
			bench_die("waitpid: %s", strerror(errno));
		if (!WIFSTOPPED(status))
			break;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8))
			kib = peak_kib(child);
		passed = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		ptrace(PTRACE_CONT, child, NULL, (void *)(long)passed);
	}
	*ret_status = status;
	return kib;
}

int main(int argc, char **argv)
{
	int64_t start_ns = bench_now_ns();
	int status;
	pid_t child;
	long kib;

	if (argc < 3)
		bench_die("usage: peak STATUS PROGRAM ARG...");
	child = fork();
	if (child < 0)
		bench_die("fork: %s", strerror(errno));
	if (child == 0)
		become(argv + 2);
	kib = follow(child, &status);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != (int)bench_number(argv[1]))
		bench_die("'%s' ended with wait status %#x", argv[2], (unsigned)status);
	printf("peak_kib %ld seconds %.6f\n", kib, (double)(bench_now_ns() - start_ns) / 1e9);
	return 0;
}
