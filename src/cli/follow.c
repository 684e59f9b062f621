/*
 * follow: -f prints what is there, and then what comes, each once.
 *
 * A list continues after a message's position, which no rebuild changes, the activity log after a
 * line.  A timeline may learn later what happened earlier, so it is asked for again.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/screen.h"

/* Other programs, and logs, wake nobody, so it looks this often. */
enum { LOOK_MS = 500 };

int cli_follow_begin(struct cli_follow *follow, const struct cli_run *run, struct roger_err *err)
{
	if (run->form == CLI_JSON)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "--json prints one object at the end; expected --jsonl with "
			       "--follow");
	*follow = (struct cli_follow){ .run = run };
	cli_screen_unpaged();
	cli_stop_catch(run);
	/* Set before the first look, so that nothing between that and the first wait is missed. */
	roger_watch(run->roger, &follow->mark, 0);
	return ROGER_OK;
}

/* A closed pipe is seen also while nothing is written to it. */
static bool is_read(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	if (poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)))
		cli_term_lose(EPIPE);
	return !cli_term_lost();
}

bool cli_follow_wait(struct cli_follow *follow, bool *ret_stored)
{
	int64_t until_ns = rg_clock_monotonic_ns() + LOOK_MS * INT64_C(1000000);
	bool stored = false;

	cli_term_flush();
	cli_progress_end();
	while (!stored && !cli_stopped() && is_read() && rg_clock_monotonic_ns() < until_ns)
		stored = roger_watch(follow->run->roger, &follow->mark, LOOK_MS);
	*ret_stored = stored;
	return !cli_stopped() && is_read();
}
