/* move, upgrade. */
#include "cli/command.h"

static void print_move(const struct cli_run *run)
{
	const struct roger_move_reply *reply = run->reply;

	cli_print_notes(&reply->notes);
	if (reply->already)
		cli_say("nothing to do: the workspace is in %t\n", reply->to);
	else if (reply->kept.length)
		cli_say("took %d message%p and %d run%p in at %t; all that it was is in %t\n",
			reply->messages, reply->runs, reply->to, reply->kept);
	else if (!reply->journals)
		cli_say("the workspace is in %t now; nothing more had to be moved\n", reply->to);
	else
		cli_say("moved %d line%p of %d journal%p and %d run%p to %t; both sides are the "
			"same\n",
			reply->lines, reply->journals, reply->runs, reply->to);
	if (reply->overruled)
		cli_print_note(
			RG_STR("ROGER_STORE is set here, and wins over what is configured now"));
}

CLI_COMMAND(move, "move", .prepare = cli_take_folder, .print = print_move);

static void print_upgrade(const struct cli_run *run)
{
	const struct roger_upgrade_reply *reply = run->reply;

	if (reply->files)
		cli_say("nothing to do: files in %t need no upgrade\n", reply->store);
	else if (!reply->steps)
		cli_say("nothing to do: the tables in %t are up to date\n", reply->store);
	else
		cli_say("applied %d step%p to the tables in %t\n", reply->steps, reply->store);
}

CLI_COMMAND(upgrade, "upgrade", .prepare = cli_take_folder, .print = print_upgrade);
