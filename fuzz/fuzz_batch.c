/*
 * Any bytes as the standard input of `roger send --batch`, by the program's own
 * main().  It ends with a documented exit status; what it says it stored is what
 * the journal grew by; and when it fails, in the one group that an input can be,
 * nothing is stored, and the error names a line and no content.
 */
#include <sys/mman.h>

#include "cli/exit.h"
#include "cli/term.h"
#include "data/json.h"
#include "fuzz.h"

/* The program, whose main() is one of several here. */
int roger_main(int argc, char **argv);
/* Standard error is a stream in memory, which has room of its own. */
#define setvbuf(stream, room, how, size) ((void)(room))
#define main roger_main
#include "../src/cli/main.c"
#undef main

enum { JOURNAL_BYTES = 64 << 10 };

static char folder[220], journal[260];
static int input = -1, output = -1, standard[2];

static void make(void)
{
	struct roger_init_request request = { 0 };
	struct roger_init_reply reply;
	int r;

	snprintf(folder, sizeof folder, "%s", fuzz_folder());
	snprintf(journal, sizeof journal, "%s/.roger/messages.jsonl", folder);
	request.path = rg_str(folder);
	r = roger_init(&request, &reply, NULL);
	rg_assert(r == ROGER_OK);
	roger_reply_free(&reply);
	if (input >= 0)
		return;
	input = memfd_create("input", MFD_CLOEXEC);
	output = memfd_create("output", MFD_CLOEXEC);
	standard[0] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	standard[1] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	rg_assert(input >= 0 && output >= 0 && standard[1] >= 0);
}

static off_t journal_size(void)
{
	struct stat facts;

	return stat(journal, &facts) < 0 ? 0 : facts.st_size;
}

static int64_t journal_lines(off_t from)
{
	int64_t lines = 0;
	size_t size, i;
	char *text;

	if (journal_size() == from)
		return 0;
	text = fuzz_get(AT_FDCWD, journal, &size);
	for (i = (size_t)from; i < size; i++)
		lines += text[i] == '\n';
	free(text);
	return lines;
}

/* Run it with what it says on standard output and error in out and words. */
static int run(const uint8_t *data, size_t size, char **words)
{
	char words_of_it[][16] = {
		"roger", "send", "--batch", "--json", "--as", "al", "--workspace"
	};
	char *arguments[9] = { 0 };
	FILE *errors = stderr;
	size_t length;
	int status, i;

	for (i = 0; i < 7; i++)
		arguments[i] = words_of_it[i];
	arguments[7] = folder;
	rg_assert(ftruncate(input, 0) == 0 && pwrite(input, data, size, 0) == (ssize_t)size);
	rg_assert(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0);
	rg_assert(dup2(input, STDIN_FILENO) == 0 && dup2(output, STDOUT_FILENO) == 1);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	stderr = open_memstream(words, &length);
	status = roger_main(8, arguments);
	fclose(cli_out);
	fclose(stderr);
	stderr = errors;
	dup2(standard[0], STDIN_FILENO);
	dup2(standard[1], STDOUT_FILENO);
	return status;
}

static int64_t stored(void)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	char text[4096];
	ssize_t length = pread(output, text, sizeof text, 0);
	int64_t number;
	int r = rg_json_read((struct roger_str){ text, (size_t)length }, &json, NULL);

	rg_assert(r == ROGER_OK);
	rg_assert(rg_json_int(rg_json_member(rg_json_root(json), "stored"), &number));
	return number;
}

/* Everywhere but as a text, the word may be told. */
static bool is_only_content(const uint8_t *data, size_t size)
{
	static const char as_content[] = "\"content\":\"SECRET";
	const char *at = (const char *)data, *end = at + size;
	size_t before = sizeof as_content - 1 - 6;

	while ((at = memmem(at, (size_t)(end - at), "SECRET", 6))) {
		if ((size_t)(at - (const char *)data) < before ||
		    memcmp(at - before, as_content, before) != 0)
			return false;
		at += 6;
	}
	return size > 0;
}

static void check_error(const char *words, bool secret)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_str message;
	int r = rg_json_read(rg_str(words), &json, NULL);

	rg_assert(r == ROGER_OK);
	message =
		rg_json_str(rg_json_member(rg_json_member(rg_json_root(json), "error"), "message"));
	rg_assert(message.length > 5 && memcmp(message.data, "line ", 5) == 0);
	rg_assert(memmem(message.data, message.length, "; 0 sends before it are stored", 30));
	rg_assert(!secret || !memmem(message.data, message.length, "SECRET", 6));
}

static void remake(void)
{
	char path[260];

	snprintf(path, sizeof path, "%s/.roger", folder);
	nftw(path, fuzz_drop, 16, FTW_DEPTH | FTW_PHYS);
	make();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	off_t before;
	char *words;
	int status;

	if (input < 0)
		make();
	before = journal_size();
	status = run(data, size, &words);
	if (status == CLI_DONE) {
		rg_assert(journal_lines(before) == stored());
	} else {
		rg_assert(journal_size() == before);
		check_error(words, is_only_content(data, size));
	}
	free(words);
	if (journal_size() > JOURNAL_BYTES)
		remake();
	return 0;
}
