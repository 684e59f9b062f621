/*
 * folder - a folder of its own for a test, files in it, and other processes.
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct folder {
	char path[200];
	int open;
};

static inline void folder_make(struct folder *folder)
{
	const char *top = getenv("TMPDIR");

	snprintf(folder->path, sizeof folder->path, "%s/roger-unit.XXXXXX", top ? top : "/tmp");
	assert_non_null(mkdtemp(folder->path));
	folder->open = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(folder->open >= 0);
}

static inline int folder_drop(const char *path, const struct stat *facts, int kind,
			      struct FTW *walk)
{
	(void)facts;
	(void)kind;
	(void)walk;
	return remove(path);
}

static inline void folder_remove(struct folder *folder)
{
	close(folder->open);
	nftw(folder->path, folder_drop, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void folder_append(const struct folder *folder, const char *name, const void *data,
				 size_t length)
{
	int file = openat(folder->open, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(file >= 0);
	assert_int_equal(write(file, data, length), length);
	close(file);
}

static inline void folder_append_text(const struct folder *folder, const char *name,
				      const char *text)
{
	folder_append(folder, name, text, strlen(text));
}

static inline size_t folder_size(const struct folder *folder, const char *name)
{
	struct stat facts;

	return fstatat(folder->open, name, &facts, 0) < 0 ? 0 : (size_t)facts.st_size;
}

/* The whole file, with a NUL behind it, for free(). */
static inline char *folder_read(const struct folder *folder, const char *name)
{
	int file = openat(folder->open, name, O_RDONLY | O_CLOEXEC);
	size_t size = folder_size(folder, name);
	char *text = malloc(size + 1);

	assert_true(file >= 0 && text);
	assert_int_equal(read(file, text, size), size);
	text[size] = '\0';
	close(file);
	return text;
}

/* Run work in a child; its result, of 8 bits, comes from process_join(). */
static inline pid_t process_fork(int (*work)(void *context), void *context)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(work(context));
	return child;
}

/* Until it sleeps, or has ended. */
static inline void process_wait_for_sleep(pid_t child)
{
	char path[64], text[512] = "";
	const struct timespec moment = { 0, 1000000 };
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
	while (!strstr(text, ") S ") && !strstr(text, ") Z ")) {
		nanosleep(&moment, NULL);
		file = fopen(path, "r");
		assert_non_null(file);
		assert_non_null(fgets(text, sizeof text, file));
		fclose(file);
	}
}

/* Exit status, or 128 and the signal it died of. */
static inline int process_join(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
