/* top: becomes the program roger-top, which has what a screen needs and this one does not. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/term.h"
#include "verbs.h"

static int check_terminal(const struct cli_run *run, struct roger_err *err)
{
	const char *term = getenv("TERM");

	if (run->form == CLI_HUMAN && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term &&
	    *term && strcmp(term, "dumb") != 0)
		return ROGER_OK;
	return rg_fail(
		err, ROGER_EUSAGE, 0,
		"top needs a terminal; without one use `roger status`, or `roger list -f --jsonl`");
}

static int run_top(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	const struct rg_top_request *request = run->request;
	const char *const words[] = { "roger-top", run->workspace ? run->workspace : "",
				      request->agent.length ? request->agent.data : "",
				      *cli_style(CLI_BOLD) ? NULL : "plain", NULL };
	int r = check_terminal(run, err);

	(void)ret_exit;
	return r < 0 ? r
		     : cli_become(
			       "roger-top", (char *const *)(uintptr_t)words,
			       "`top`, as packages are without it; `roger ui` and `roger status` "
			       "show the same (from source it is built where ncursesw is: "
			       "libncurses-dev)",
			       err);
}

const struct cli_command cli_top = { .name = "top", .own = &rg_op_top, .run = run_top };
