/* cycle, sends, dead, redeliver, stale: the send log for people. */
#include "cli/command.h"
#include "cli/term.h"

static const char *outcome_name(int outcome)
{
	static const char *const names[] = { "delivered", "timeout", "error" };

	return names[outcome];
}

static const char *outcome_style(int outcome)
{
	return cli_style(outcome == ROGER_DELIVERED ? CLI_GREEN
			 : outcome == ROGER_TIMEOUT ? CLI_YELLOW
						    : CLI_RED);
}

/* ---------------------------------------------------------------- sends -- */

static size_t wider(size_t width, struct roger_str text)
{
	return text.length > width ? text.length : width;
}

static void print_attempt(const struct roger_attempt *attempt, size_t from_width, size_t to_width)
{
	cli_print_time(cli_out, attempt->timestamp_ms);
	fputs("  ", cli_out);
	cli_print_padded(cli_out, attempt->sender, from_width);
	fputs(" -> ", cli_out);
	cli_print_padded(cli_out, attempt->target, to_width);
	fprintf(cli_out, "  %s%-9s%s  %lld/%lld  ", outcome_style(attempt->outcome),
		outcome_name(attempt->outcome), cli_style(CLI_PLAIN), (long long)attempt->attempt,
		(long long)attempt->max_attempts);
	cli_print_text(cli_out, attempt->idempotent_key, false);
	if (attempt->cause.length) {
		fprintf(cli_out, "  %s", cli_style(CLI_DIM));
		cli_print_text(cli_out, attempt->cause, false);
		fputs(cli_style(CLI_PLAIN), cli_out);
	}
	if (attempt->dead_letter_task_id.length) {
		fputs("  dead letter ", cli_out);
		cli_print_text(cli_out, attempt->dead_letter_task_id, false);
	}
	fputc('\n', cli_out);
}

static void print_sends(const struct cli_run *run, const void *reply_)
{
	const struct roger_sends_reply *reply = reply_;
	size_t from_width = 0, to_width = 0, i;

	(void)run;
	for (i = 0; i < reply->attempts.count; i++) {
		from_width = wider(from_width, reply->attempts.items[i].sender);
		to_width = wider(to_width, reply->attempts.items[i].target);
	}
	for (i = 0; i < reply->attempts.count; i++)
		print_attempt(&reply->attempts.items[i], from_width, to_width);
	for (i = 0; i < reply->purged.count; i++)
		fprintf(cli_out, "purged: %s after %lld attempt%s in cycle %.*s\n",
			outcome_name(reply->purged.items[i].outcome),
			(long long)reply->purged.items[i].attempts,
			rg_plural(reply->purged.items[i].attempts),
			(int)reply->purged.items[i].cycle_id.length,
			reply->purged.items[i].cycle_id.data);
	if (!reply->attempts.count && !reply->purged.count)
		fputs("nothing was sent with a key\n", cli_out);
	if (reply->more)
		fputs("... and more; see --limit and --newest\n", cli_out);
}

const struct cli_command cli_sends = { .name = "sends", .print = print_sends };

const struct cli_command cli_cycle = { .name = "cycle", .words = "new|list|current" };

/* ----------------------------------------------------------------- dead -- */

static void print_letter(const struct roger_dead_letter *letter)
{
	static const char *const names[] = { "undelivered", "redelivered", "stale" };

	fprintf(cli_out, "%s", cli_style(CLI_BOLD));
	cli_print_text(cli_out, letter->id, false);
	fprintf(cli_out, "%s  %s%s%s", cli_style(CLI_PLAIN),
		cli_style(letter->delivered_at_ms		? CLI_GREEN
			  : letter->status == ROGER_UNDELIVERED ? CLI_RED
								: CLI_DIM),
		letter->delivered_at_ms ? "read after all" : names[letter->status],
		cli_style(CLI_PLAIN));
	if (letter->filed_as.length) {
		fputs("  filed as ", cli_out);
		cli_print_text(cli_out, letter->filed_as, false);
	}
	fputs("\n  ", cli_out);
	cli_print_text(cli_out, letter->sender, false);
	fputs(" -> ", cli_out);
	cli_print_text(cli_out, letter->target, false);
	fputs("  ", cli_out);
	cli_print_text(cli_out, letter->idempotent_key, false);
	fprintf(cli_out, "  %lld attempt%s  ", (long long)letter->attempt_count,
		rg_plural(letter->attempt_count));
	cli_print_time(cli_out, letter->timestamp_ms);
	fputs("\n  message ", cli_out);
	cli_print_text(cli_out, letter->message_id, false);
	fprintf(cli_out, "  %lld bytes  sha256 ", (long long)letter->payload_bytes);
	cli_print_text(cli_out, letter->payload_sha256, false);
	fputc('\n', cli_out);
	if (letter->note.length) {
		fputs("  note: ", cli_out);
		cli_print_text(cli_out, letter->note, false);
		fputc('\n', cli_out);
	}
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
		fprintf(cli_out, "%salarm: %lld dead letters in cycle %.*s%s\n", cli_style(CLI_RED),
			(long long)reply->in_cycle, (int)reply->cycle.length, reply->cycle.data,
			cli_style(CLI_PLAIN));
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
