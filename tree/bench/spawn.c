/*
 * spawn - processes one after the other, each timed from start to reaped.
 *
 *     spawn LANES SECONDS TURNS STATUS PROGRAM ARG...
 *
 * So many lanes side by side, until the time is over or each has had its turns
 * (0: no end).  Every process must exit with the status given.  An argument {}
 * stands for a text that no other process got.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lanes.h"

extern char **environ;

struct command {
	char **argv;
	char unique[64]; /* what stands for {} */
	unsigned lane;
	unsigned long turn;
	int status;
	posix_spawn_file_actions_t files;
};

static char **with_unique(char **argv, char *unique)
{
	size_t count = 0, i;
	char **copy;

	while (argv[count])
		count++;
	copy = calloc(count + 1, sizeof *copy);
	if (!copy)
		bench_die("out of memory");
	for (i = 0; i < count; i++)
		copy[i] = strcmp(argv[i], "{}") == 0 ? unique : argv[i];
	return copy;
}

static void *open_command(unsigned lane, const void *context)
{
	struct command *command = malloc(sizeof *command);

	if (!command)
		bench_die("out of memory");
	memcpy(command, context, sizeof *command);
	command->lane = lane;
	command->argv = with_unique(command->argv, command->unique);
	posix_spawn_file_actions_init(&command->files);
	posix_spawn_file_actions_addopen(&command->files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&command->files, 1, "/dev/null", O_WRONLY, 0);
	return command;
}

static void run_command(void *self)
{
	struct command *command = self;
	int status, r;
	pid_t child;

	snprintf(command->unique, sizeof command->unique, "bench:status-update:%ld-%u-%lu",
		 (long)getpid(), command->lane, command->turn++);

	r = posix_spawn(&child, command->argv[0], &command->files, NULL, command->argv, environ);
	if (r != 0)
		bench_die("spawn '%s': %s", command->argv[0], strerror(r));
	if (waitpid(child, &status, 0) != child)
		bench_die("'%s' is lost", command->argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != command->status)
		bench_die("'%s' ended with wait status %#x", command->argv[0], (unsigned)status);
}

static void close_command(void *self)
{
	struct command *command = self;

	posix_spawn_file_actions_destroy(&command->files);
	free(command->argv);
	free(command);
}

int main(int argc, char **argv)
{
	static const struct bench_work work = { open_command, run_command, close_command };
	struct command command = { 0 };
	struct bench_limits limits;

	if (argc < 6)
		bench_die("usage: spawn LANES SECONDS TURNS STATUS PROGRAM ARG...");
	limits.lanes = (unsigned)bench_number(argv[1]);
	limits.seconds = bench_seconds(argv[2]);
	limits.turns_max = bench_number(argv[3]);
	command.status = (int)bench_number(argv[4]);
	command.argv = argv + 5;
	bench_lanes_run(&work, &command, limits);
	return 0;
}
