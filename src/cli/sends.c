/* log sends, log cycle, dead, dead redeliver: the send log for people. */
#include <unistd.h>

#include "cli/command.h"
#include "cli/grid.h"

/* ---------------------------------------------------------------- sends -- */

static void print_sends(const struct cli_run *run)
{
	const struct roger_sends_reply *reply = run->reply;
	struct cli_grid grid = { .arena = run->arena, .columns = 7 };
	const struct roger_attempt *attempt = reply->attempts.items;
	size_t i;

	for (i = 0; i < reply->attempts.count; i++, attempt++) {
		cli_grid_say(&grid, CLI_PLAIN, CLI_WHOLE, "%w", attempt->at_ms);
		cli_grid_say(&grid, CLI_PLAIN, 0, "%t -> %t", attempt->from, attempt->to);
		cli_grid_say(&grid, cli_look(rg_attempt_outcome_tones, attempt->outcome, CLI_RED),
			     CLI_WHOLE, "%s",
			     attempt->pending ? "pending"
					      : rg_attempt_outcome_names[attempt->outcome]);
		cli_grid_say(&grid, CLI_PLAIN, CLI_WHOLE, "%d/%d", attempt->attempt,
			     attempt->max_attempts);
		cli_grid_say(&grid, CLI_PLAIN, 0, "%t", attempt->key);
		cli_grid_say(&grid, CLI_DIM, 0, "%t", attempt->cause);
		cli_grid_say(&grid, CLI_PLAIN, 0, "%(dead letter %t%)", attempt->dead_letter_task);
	}
	cli_grid_print(cli_out, &grid);
	for (i = 0; i < reply->purged.count; i++)
		cli_say("purged: %s after %d attempt%p in cycle %t\n",
			rg_attempt_outcome_names[reply->purged.items[i].outcome],
			reply->purged.items[i].attempts, reply->purged.items[i].cycle);
	if (!reply->attempts.count && !reply->purged.count)
		cli_say("no entry fits\n");
	if (reply->more)
		cli_say("... and more; see --limit and --newest\n");
}

CLI_COMMAND(sends, "log sends", .verb = "sends", .paged = true, .print = print_sends,
	    .nothing = true);

CLI_COMMAND(cycle, "log cycle", .verb = "cycle", .words = "new|list|current");

/* ----------------------------------------------------------------- dead -- */

static void print_letter(const struct roger_dead_letter *letter)
{
	const bool read = letter->delivered_at_ms && letter->status != ROGER_STALE;

	cli_say("%S%t%.  %S%s%.", CLI_BOLD, letter->id,
		read ? CLI_GREEN : cli_look(rg_dead_letter_status_tones, letter->status, CLI_DIM),
		read ? "read after all" : rg_dead_letter_status_names[letter->status]);
	cli_say("%s%(  filed as %t%)\n  %t -> %t  %t  %d attempt%p%(, %t%)  %w\n",
		letter->delivered_at_ms && !read ? ", read after all" : "", letter->filed_as,
		letter->from, letter->to, letter->key, letter->attempts, letter->cause,
		letter->at_ms);
	cli_say("  message %t  %d bytes  sha256 %t\n%(  note: %t\n%)", letter->message,
		letter->payload_bytes, letter->payload_sha256, letter->note);
}

static void print_dead(const struct cli_run *run)
{
	const struct roger_dead_letters_reply *reply = run->reply;
	size_t i;

	for (i = 0; i < reply->dead_letters.count; i++)
		print_letter(&reply->dead_letters.items[i]);
	if (!reply->dead_letters.count)
		fputs("no dead letters\n", cli_out);
	if (reply->alarm)
		cli_say("%Salarm: %d dead letters in cycle %t%.\n", CLI_RED, reply->in_cycle,
			reply->cycle);
}

CLI_COMMAND(dead, "dead", .verb = "dead_letters", .words = "list|show", .print = print_dead,
	    .nothing = true);
/* Tell a person that it waits for the reader: for 30 s, unless --within says otherwise. */
static int say_wait(struct cli_run *run, struct roger_err *err)
{
	(void)err;
	if (cli_answers_people(run) && isatty(STDERR_FILENO))
		cli_print_note(RG_STR("waiting until it is read; --within says how long"));
	return ROGER_OK;
}

CLI_COMMAND(redeliver, "dead redeliver", .verb = "redeliver", .prepare = say_wait,
	    .print = print_dead);
