/*
 * become: a command that is a program of its own.
 *
 * What needs more than roger is linked with is in a program beside it, which is roger
 * with that in it: the same words, the same answers.
 */
#include <errno.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/remote.h"

enum { PATH_BYTES = 4096 };

/* The folder that roger itself is in; false: nobody knows. */
static bool own_folder(char to[PATH_BYTES])
{
	ssize_t length = readlink("/proc/self/exe", to, PATH_BYTES - 1);
	char *end;

	if (length <= 0)
		return false;
	to[length] = '\0';
	end = strrchr(to, '/');
	if (end)
		*end = '\0';
	return end;
}

int cli_need_workspace(const char *what, struct roger_err *err)
{
	if (!remote_queue)
		return ROGER_OK;
	return rg_fail(
		err, ROGER_EUSAGE, 0,
		"%s is for the machine that has the workspace: run it there, or here without "
		"ROGER_SERVER",
		what);
}

int cli_become(const char *program, char *const *words, const char *lacks, struct roger_err *err)
{
	/* As it is built, and as it is installed. */
	static const char *const places[] = { "", ROGER_LIBEXEC "/" };
	char folder[PATH_BYTES], path[2 * PATH_BYTES];
	size_t i;
	int r = cli_need_workspace(words[1] && *words[1] ? words[1] : words[0], err);

	if (r < 0)
		return r;
	if (!own_folder(folder))
		return rg_fail(err, ROGER_EENGINE, errno, "find the folder of roger");
	for (i = 0; program && i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s/%s%s", *places[i] == '/' ? "" : folder, places[i],
			 program);
		execv(path, words);
		if (errno != ENOENT)
			return rg_fail(err, ROGER_EENGINE, errno, "run '%s'", path);
	}
	return rg_fail(err, ROGER_EENGINE, 0, "this program has no %s", lacks);
}
