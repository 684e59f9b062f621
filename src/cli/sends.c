/* cycle, sends, dead, redeliver, stale: the send log for people. */
#include "cli/command.h"
#include "cli/term.h"

static const char *outcome_name(int outcome, bool pending)
{
	static const char *const names[] = { "delivered", "timeout", "error" };

	return pending ? "pending" : names[outcome];
}

static enum cli_style outcome_style(int outcome)
{
	return outcome == ROGER_DELIVERED ? CLI_GREEN
	       : outcome == ROGER_TIMEOUT ? CLI_YELLOW
					  : CLI_RED;
}

/* ---------------------------------------------------------------- sends -- */

static size_t wider(size_t width, struct roger_str text)
{
	return text.length > width ? text.length : width;
}

static void print_attempt(const struct roger_attempt *attempt, size_t from_width, size_t to_width)
{
	cli_say("%w  %*t -> %*t  %S%-9s%.  %d/%d  %t", attempt->at_ms, (int)from_width,
		attempt->from, (int)to_width, attempt->to, outcome_style(attempt->outcome),
		outcome_name(attempt->outcome, attempt->pending), attempt->attempt,
		attempt->max_attempts, attempt->key);
	if (attempt->cause.length)
		cli_say("  %S%t%.", CLI_DIM, attempt->cause);
	cli_say_set("  dead letter %t", attempt->dead_letter_task);
	cli_say("\n");
}

static bool is_filtered(const struct roger_sends_request *request)
{
	return request->from.length || request->to.length || request->task.length ||
	       request->key.length || request->message.length || request->cycle.length ||
	       request->outcome || request->since_ms || request->until_ms;
}

static void print_sends(const struct cli_run *run, const void *reply_)
{
	const struct roger_sends_reply *reply = reply_;
	size_t from_width = 0, to_width = 0, i;

	for (i = 0; i < reply->attempts.count; i++) {
		from_width = wider(from_width, reply->attempts.items[i].from);
		to_width = wider(to_width, reply->attempts.items[i].to);
	}
	for (i = 0; i < reply->attempts.count; i++)
		print_attempt(&reply->attempts.items[i], from_width, to_width);
	for (i = 0; i < reply->purged.count; i++)
		cli_say("purged: %s after %d attempt%p in cycle %t\n",
			outcome_name(reply->purged.items[i].outcome, false),
			reply->purged.items[i].attempts, reply->purged.items[i].cycle);
	if (!reply->attempts.count && !reply->purged.count)
		fputs(is_filtered(run->request) ? "no entry fits\n" : "nothing was sent\n",
		      cli_out);
	if (reply->more)
		fputs("... and more; see --limit and --newest\n", cli_out);
}

const struct cli_command cli_sends = { .name = "sends", .print = print_sends };

const struct cli_command cli_cycle = { .name = "cycle", .words = "new|list|current" };

/* ----------------------------------------------------------------- dead -- */

static void print_letter(const struct roger_dead_letter *letter)
{
	static const char *const names[] = { "undelivered", "redelivered", "stale" };

	cli_say("%S%t%.  %S%s%.", CLI_BOLD, letter->id,
		letter->delivered_at_ms		      ? CLI_GREEN
		: letter->status == ROGER_UNDELIVERED ? CLI_RED
						      : CLI_DIM,
		letter->delivered_at_ms ? "read after all" : names[letter->status]);
	cli_say_set("  filed as %t", letter->filed_as);
	cli_say("\n  %t -> %t  %t  %d attempt%p  %w\n  message %t  %d bytes  sha256 %t\n",
		letter->from, letter->to, letter->key, letter->attempts, letter->at_ms,
		letter->message, letter->payload_bytes, letter->payload_sha256);
	cli_say_set("  note: %t\n", letter->note);
}

static void print_dead(const struct cli_run *run, const void *reply_)
{
	const struct roger_dead_letters_reply *reply = reply_;
	size_t i;

	(void)run;
	for (i = 0; i < reply->dead_letters.count; i++)
		print_letter(&reply->dead_letters.items[i]);
	if (!reply->dead_letters.count)
		fputs("no dead letters\n", cli_out);
	if (reply->alarm)
		cli_say("%Salarm: %d dead letters in cycle %t%.\n", CLI_RED, reply->in_cycle,
			reply->cycle);
}

const struct cli_command cli_dead = { .name = "dead",
				      .verb = "dead_letters",
				      .words = "list|show",
				      .print = print_dead,
				      .nothing = true };
const struct cli_command cli_redeliver = { .name = "redeliver",
					   .under = "dead",
					   .print = print_dead };
const struct cli_command cli_stale = { .name = "stale", .under = "dead", .print = print_dead };
