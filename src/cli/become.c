/*
 * become: run a command in another program.
 *
 * A command that needs a library which roger is not linked with is run by a program beside
 * it, which is roger with that library: the same words, the same answers.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"
#include "data/remote.h"

enum { PATH_BYTES = 4096 };

bool cli_is_elsewhere(const struct cli_run *run)
{
	const char *server;

	/* --workspace names one of this machine. */
	if (run->workspace)
		return false;
	server = getenv("ROGER_SERVER");
	return server && *server;
}

int cli_need_workspace(const struct cli_run *run, const char *what, struct roger_err *err)
{
	const bool elsewhere = cli_is_elsewhere(run);

	if (!elsewhere && !rg_is_remote(run->roger))
		return ROGER_OK;
	return rg_fail(err, ROGER_EUSAGE, 0,
		       elsewhere ? "%s is for the machine that has the workspace: run it there, or "
				   "here without ROGER_SERVER"
				 : "%s cannot be done through a server, and this workspace is in "
				   "PostgreSQL",
		       what);
}

int cli_become(const char *program, char *const *words, const char *lacks, struct roger_err *err)
{
	/* Where the program is after the build, and where it is installed. */
	static const char *const places[] = { "", ROGER_LIBEXEC "/" };
	char folder[PATH_BYTES], path[2 * PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
	char *end;
	size_t i;

	folder[length > 0 ? length : 0] = '\0';
	end = strrchr(folder, '/');
	if (!end)
		return rg_fail(err, ROGER_EENGINE, errno, "find the folder of roger");
	*end = '\0';
	for (i = 0; program && i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s/%s%s", *places[i] == '/' ? "" : folder, places[i],
			 program);
		execv(path, words);
		if (errno != ENOENT)
			return rg_fail(err, ROGER_EENGINE, errno, "run '%s'", path);
	}
	return rg_fail(err, ROGER_EENGINE, 0, "this program has no %s", lacks);
}
