#include <signal.h>

#include "cli/command.h"

static volatile sig_atomic_t stopped;

static void on_stop(int signal_number)
{
	(void)signal_number;
	stopped = 1;
	roger_interrupt();
}

static bool go_on(void *context, const char *what, int64_t done, int64_t total)
{
	(void)context;
	(void)what;
	(void)done;
	(void)total;
	return !stopped;
}

/* SA_RESTART is not set, so that a signal ends a sleep. */
void cli_stop_catch(const struct cli_run *run)
{
	struct sigaction action = { .sa_handler = on_stop };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	roger_on_progress(run->roger, go_on, NULL);
}

bool cli_stopped(void)
{
	return stopped;
}
