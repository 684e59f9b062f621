/* init, cleanup, agents, session: small commands, and those whose verb says all (retire, rebuild,
 * purge, stats, config). */
#include <unistd.h>

#include "cli/command.h"

/* ----------------------------------------------------------------- init -- */

static void print_init(const struct cli_run *run)
{
	const struct roger_init_reply *reply = run->reply;

	cli_say("%s a workspace in %t\n%(its journals are in %t%s\n%)",
		reply->created ? "made" : "there is", reply->workspace, reply->store,
		reply->steps ? ", whose tables were made now" : "");
	if (reply->worktree.length && !rg_str_equal(reply->worktree, reply->workspace))
		cli_say_to(stderr,
			   "note: %t is a git worktree of it; all worktrees share this one\n",
			   reply->worktree);
	cli_say_to(stderr,
		   "%(note: from here on the workspace in %t is not seen any more\n%)%(not used: "
		   "%t\n%)%(not trusted: %t\n%)",
		   reply->above, reply->unused, reply->not_trusted);
	if (reply->created)
		fputs("next: export ROGER_AGENT=NAME, then roger send SOMEBODY 'hello'\n", cli_out);
}

/* Ask before a second workspace is made in a database: a slip in the name would make it. */
static int run_init(struct cli_run *run, struct roger_err *err)
{
	struct roger_init_request *request = run->request;
	const bool asks = !request->second && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	int r;

	request->second |= !asks;
	r = cli_call(run, err);
	if (r != ROGER_EREFUSED || !asks || strcmp(err->member, "second") != 0)
		return r;
	cli_say_to(stderr, "%t\n", rg_str(err->message));
	if (!cli_is_agreed("make it there, empty?"))
		return r;
	request->second = true;
	return cli_call(run, err);
}

CLI_COMMAND(init, "init", .prepare = cli_take_folder, .run = run_init, .print = print_init);

/* ------------------------------------------------------ small commands -- */

static void print_session(const struct cli_run *run)
{
	const struct roger_session_reply *reply = run->reply;

	cli_say("session %d\n", reply->epoch);
	if (reply->agents.count)
		cli_print_lists(cli_out, cli_op(run->command)->reply, reply);
}

/* The figures are of a cleanup that is made now, so with --history they are left out. */
static void print_cleanup(const struct cli_run *run)
{
	const struct roger_cleanup_request *request = run->request;

	(request->history ? cli_print_lists
			  : cli_print_record)(cli_out, cli_op(run->command)->reply, run->reply);
}

static int exit_of_cleanup(const struct cli_run *run)
{
	const struct roger_cleanup_request *request = run->request;
	const struct roger_archive_reply *reply = run->reply;

	return request->history && !reply->history.count ? CLI_NOTHING : CLI_DONE;
}

CLI_COMMAND(cleanup, "cleanup", .print = print_cleanup, .exit_of = exit_of_cleanup);
static void print_agents(const struct cli_run *run)
{
	const struct roger_agents_reply *reply = run->reply;

	cli_print_lists(cli_out, cli_op(run->command)->reply, reply);
	if (reply->next.length && !run->quiet)
		cli_say("go on with --after %t\n", reply->next);
}

CLI_COMMAND(agents, "agents", .print = print_agents, .nothing = true);

CLI_COMMAND(retire, "agents retire", .verb = "retire");

CLI_COMMAND(rebuild, "doctor rebuild", .verb = "rebuild");
CLI_COMMAND(purge, "log purge", .verb = "purge");
CLI_COMMAND(stats, "report stats", .verb = "stats");

CLI_COMMAND(session, "agents session", .verb = "session", .words = "new|show",
	    .print = print_session);
CLI_COMMAND(config, "config", .words = "show");
