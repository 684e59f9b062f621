/*
 * fuzz - what several targets ask of an error, and a folder for those that need
 * files: below TMPDIR, which script/fuzz sets to one in memory, and gone at the end.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One line of valid text, with a member that fits its place. */
static inline void fuzz_check_error(const struct roger_err *err, int code)
{
	size_t chars;

	rg_assert((int)err->code == code && err->message[0] && !strchr(err->message, '\n'));
	rg_assert(rg_utf8_count(rg_str(err->message), &chars));
	rg_assert(strlen(err->member) < sizeof err->member);
}

static char fuzz_folder_path[200];

static inline int fuzz_drop(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
	(void)facts;
	(void)kind;
	(void)walk;
	return remove(path);
}

static inline void fuzz_folder_remove(void)
{
	nftw(fuzz_folder_path, fuzz_drop, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of the folder; made by the first call.  It is the person's home, too. */
static inline const char *fuzz_folder(void)
{
	const char *top = getenv("TMPDIR");

	if (fuzz_folder_path[0])
		return fuzz_folder_path;
	snprintf(fuzz_folder_path, sizeof fuzz_folder_path, "%.150s/roger-fuzz.XXXXXX",
		 top ? top : "/tmp");
	rg_assert(mkdtemp(fuzz_folder_path));
	setenv("HOME", fuzz_folder_path, 1);
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_CONFIG_HOME");
	atexit(fuzz_folder_remove);
	return fuzz_folder_path;
}

/* A file of the folder holds these bytes, and nothing else. */
static inline void fuzz_put(int folder, const char *name, const void *data, size_t size)
{
	int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	rg_assert(file >= 0 && write(file, data, size) == (ssize_t)size);
	close(file);
}

/*
 * Change bytes of a file that is too large for an input: each patch is an offset
 * of three bytes, a length of 1 to 16, and as many bytes.
 */
static inline void fuzz_patch(char *text, size_t length, const uint8_t *data, size_t size)
{
	size_t at, count, i;

	for (; size > 4; data += 4 + count, size -= 4 + count) {
		at = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
		count = data[3] % 16 + 1u;
		count = count < size - 4 ? count : size - 4;
		for (i = 0; i < count; i++)
			text[(at + i) % length] = (char)data[4 + i];
	}
}

/* Two or three bytes behind the patches: so long is the file; else as long as it was. */
static inline size_t fuzz_cut(size_t length, const uint8_t *data, size_t size)
{
	size_t count;

	for (; size > 4; data += count, size -= count) {
		count = 4 + data[3] % 16 + 1u;
		count = count < size ? count : size;
	}
	if (size < 2)
		return length;
	return (data[0] | (size_t)data[1] << 8 | (size > 2 ? (size_t)data[2] << 16 : 0)) %
	       (length + 1);
}

/* A whole file of a folder, to be freed. */
static inline char *fuzz_get(int folder, const char *name, size_t *ret_size)
{
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
	off_t size = lseek(file, 0, SEEK_END);
	char *text = malloc((size_t)size + 1);

	rg_assert(file >= 0 && size >= 0 && text && pread(file, text, (size_t)size, 0) == size);
	close(file);
	*ret_size = (size_t)size;
	return text;
}

#endif
