/*
 * Replays files, or all files of folders, through a fuzz target, so that what
 * a fuzzer once found stays an ordinary test.  A broken property aborts; a
 * file that cannot be read, or nothing to replay, is an error too.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly as many bytes as the file has, so that a sanitizer sees one step beyond. */
static uint8_t *load(const char *path, size_t *ret_size)
{
	struct stat facts;
	uint8_t *data = NULL;
	FILE *file = fopen(path, "rb");

	if (!file)
		return NULL;
	if (fstat(fileno(file), &facts) == 0)
		data = malloc(facts.st_size ? (size_t)facts.st_size : 1);
	if (data && fread(data, 1, (size_t)facts.st_size, file) != (size_t)facts.st_size) {
		free(data);
		data = NULL;
	}
	fclose(file);
	*ret_size = (size_t)facts.st_size;
	return data;
}

/* The number of files replayed. */
static size_t replay_file(const char *path)
{
	size_t size = 0;
	uint8_t *data = load(path, &size);

	if (!data) {
		fprintf(stderr, "replay: '%s': %s\n", path, strerror(errno));
		exit(1);
	}
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

static size_t replay_folder(const char *path, DIR *folder)
{
	struct dirent *entry;
	size_t count = 0;
	char name[4096];

	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		count += replay_file(name);
	}
	return count;
}

static size_t replay(const char *path)
{
	DIR *folder = opendir(path);
	size_t count;

	if (!folder)
		return replay_file(path);
	count = replay_folder(path, folder);
	closedir(folder);
	return count;
}

int main(int count, char **arguments)
{
	size_t replayed = 0;
	int i;

	for (i = 1; i < count; i++)
		replayed += replay(arguments[i]);
	printf("%zu replayed\n", replayed);
	return replayed == 0;
}
