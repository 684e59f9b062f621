/*
 * prime: what an agent is to know when it begins, within a budget of tokens; and
 * looked and arrive, for those who show mail themselves.
 */
#include "cli/prime.h"

#include "cli/command.h"
#include "cli/frame.h"
#include "cli/term.h"

enum { TOKENS = 2000, TOKENS_LEAST = 100, TOKENS_MOST = 1000000 };

static const struct cli_option options[] = {
	{ "tokens", "N", "at most so many, at four characters each (default 2000)" },
	{ 0 },
};

static void print_duties(FILE *to, const struct roger_concerns *duties)
{
	size_t i;

	if (!duties->count)
		return;
	fputs("\nOpen:\n", to);
	for (i = 0; i < duties->count; i++) {
		fputs("- ", to);
		cli_print_text(to, duties->items[i].words, false);
		fputs(": `", to);
		cli_print_text(to, duties->items[i].next, false);
		fputs("`\n", to);
	}
}

static void print_next(FILE *to, const struct roger_prime_reply *reply)
{
	fputs("\nNext: ", to);
	if (reply->unread)
		fputs("deal with what is unread, answer with `roger send NAME TEXT --reply-to ID`, "
		      "then `roger ack ID`.\n",
		      to);
	else
		fputs("`roger agents` says who is here; `roger send NAME TEXT` writes to one.\n",
		      to);
}

size_t cli_prime_print(FILE *to, const struct roger_prime_reply *reply, size_t chars_max)
{
	size_t shown = 0, rest = chars_max > 600 ? chars_max - 600 : 0;

	fputs("You are ", to);
	cli_print_text(to, reply->agent, false);
	fprintf(to, " in roger, where agents write to each other. %lld unread.\n",
		(long long)reply->unread);
	print_duties(to, &reply->duties);
	if (reply->messages.count) {
		fputc('\n', to);
		cli_frame_begin(to);
		shown = cli_frame_messages(to, &reply->messages, rest);
	}
	if ((int64_t)shown < reply->unread)
		fprintf(to, "\n%lld more: `roger inbox`\n",
			(long long)reply->unread - (long long)shown);
	print_next(to, reply);
	return shown;
}

static int prepare(struct cli_run *run, struct roger_err *err)
{
	struct roger_str tokens = cli_value(run, "tokens");
	int64_t number;

	if (cli_given(run, "tokens") &&
	    (!rg_str_number(tokens, &number) || number < TOKENS_LEAST || number > TOKENS_MOST))
		return rg_fail_member(err, ROGER_EUSAGE, "tokens", "tokens: expected %d to %d",
				      TOKENS_LEAST, TOKENS_MOST);
	return ROGER_OK;
}

static void print(const struct cli_run *run, const void *reply)
{
	int64_t tokens = TOKENS;

	if (cli_given(run, "tokens") && !rg_str_number(cli_value(run, "tokens"), &tokens))
		tokens = TOKENS;
	cli_prime_print(cli_out, reply, (size_t)tokens * CLI_TOKEN_CHARS);
}

static const struct roger_op *op_prime(void)
{
	return cli_op_named("prime");
}

const struct cli_command cli_prime = {
	.name = "prime", .op = op_prime, .options = options, .prepare = prepare, .print = print
};

static void print_looked(const struct cli_run *run, const void *reply_)
{
	const struct roger_looked_reply *reply = reply_;

	(void)run;
	fprintf(cli_out, "%lld shown\n", (long long)reply->looked);
}

static const struct roger_op *op_looked(void)
{
	return cli_op_named("looked");
}

const struct cli_command cli_looked = { .name = "looked", .op = op_looked, .print = print_looked };

static void print_arrived(const struct cli_run *run, const void *reply_)
{
	const struct roger_arrive_reply *reply = reply_;

	(void)run;
	fputs(reply->noted ? "noted\n" : "known\n", cli_out);
}

static const struct roger_op *op_arrive(void)
{
	return cli_op_named("arrive");
}

const struct cli_command cli_arrive = { .name = "arrive", .op = op_arrive, .print = print_arrived };
