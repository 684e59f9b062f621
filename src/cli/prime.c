/*
 * prime: the briefing that an agent needs at start-up, within a budget of tokens.
 */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/frame.h"

enum {
	TOKENS = 2000,
	TOKENS_LEAST = 100,
	TOKENS_MOST = 1000000,
	FIXED_CHARS = 390,	    /* who you are, what is left out, what is next */
	ROOMY_CHARS = 4000,	    /* from this budget on it also says what roger is for */
	MESSAGES_CHARS_LEAST = 600, /* whose words they are, and some of a message */
};

/* Add a piece of text where it fits into what is left, which then is less. */
static bool add_piece(FILE *to, struct cli_page *piece, size_t *left)
{
	size_t chars;
	bool fits = cli_page_end(piece) &&
		    rg_utf8_count((struct roger_str){ piece->text, piece->length }, &chars) &&
		    chars <= *left;

	if (fits) {
		fwrite(piece->text, 1, piece->length, to);
		*left -= chars;
	}
	free(piece->text);
	return fits;
}

/* Print as many duties as fit into *left, which becomes less. */
static void print_duties(FILE *to, const struct roger_prime_reply *reply, size_t *left)
{
	const struct roger_concern_list *duties = &reply->duties;
	struct cli_page piece;
	bool fits = true;
	size_t i;

	if (duties->count)
		fputs("\nOpen:\n", to);
	for (i = 0; i < duties->count && fits; i += fits) {
		if (!cli_page_begin(&piece))
			break;
		cli_say_to(piece.to, "- %t: `%t`\n", duties->items[i].words, duties->items[i].next);
		fits = add_piece(to, &piece, left);
	}
	if (i < duties->count || reply->more_duties)
		fprintf(to, "- %lld more: `roger status`\n",
			(long long)(duties->count - i) + (long long)reply->more_duties);
}

/* Print as many messages as fit into left; long names make long heads, so smaller budgets are
 * tried. */
static size_t print_messages(FILE *to, const struct roger_message_list *messages,
			     struct roger_str reader, size_t left)
{
	size_t shown = 0, budget = left;
	struct cli_page piece;
	bool fits = false;

	while (messages->count && !fits && budget >= MESSAGES_CHARS_LEAST &&
	       cli_page_begin(&piece)) {
		fputc('\n', piece.to);
		cli_frame_begin(piece.to);
		shown = cli_frame_messages(piece.to, messages, reader,
					   budget - MESSAGES_CHARS_LEAST / 2);
		fits = add_piece(to, &piece, &left);
		budget -= budget / 4;
	}
	return fits ? shown : 0;
}

size_t cli_prime_print(FILE *to, const struct roger_prime_reply *reply, const struct roger *roger,
		       size_t chars_max)
{
	size_t left = chars_max > FIXED_CHARS ? chars_max - FIXED_CHARS : 0, shown;
	bool roomy = left > ROOMY_CHARS;
	size_t duties;

	left -= roomy ? strlen(cli_reach) : 0;
	duties = reply->messages.count ? left / 3 : left;
	cli_say_to(to, "You are %t in roger, where agents write to each other. ", reply->agent);
	cli_frame_unread(to, reply->unread, &reply->notes);
	if (roomy)
		fprintf(to, "%s\n", cli_reach);
	cli_print_damage(to, roger);
	left -= duties;
	print_duties(to, reply, &duties);
	shown = print_messages(to, &reply->messages, reply->agent, left + duties);
	if ((int64_t)shown < reply->unread)
		fprintf(to, "\n%lld more: `roger inbox`\n",
			(long long)reply->unread - (long long)shown);
	fprintf(to, "\nNext: %s\n",
		reply->unread ? "deal with what is unread, answer with `roger send NAME TEXT "
				"--reply-to ID`, then `roger ack ID`."
			      : "`roger agents` says who is here; `roger send NAME TEXT` writes to "
				"one.");
	return shown;
}

static void print_prime(const struct cli_run *run)
{
	const struct rg_prime_options *options = run->options;
	int64_t tokens = TOKENS;

	(void)rg_str_number(options->tokens, &tokens);
	cli_prime_print(cli_out, run->reply, NULL, (size_t)tokens * CLI_TOKEN_CHARS);
}

/* No mail is shown in an untrusted workspace; a person sees the reason. */
static int run_prime(struct cli_run *run, struct roger_err *err)
{
	const struct rg_prime_options *options = run->options;
	const char *why = roger_distrust(run->roger);
	int64_t tokens;

	if (*why) {
		fprintf(stderr, "roger: %s\n", why);
		run->quiet = true; /* no note is to follow the reason */
		return ROGER_OK;
	}
	if (options->tokens.data && (!rg_str_number(options->tokens, &tokens) ||
				     tokens < TOKENS_LEAST || tokens > TOKENS_MOST))
		return rg_fail_member(err, ROGER_EUSAGE, "tokens", "tokens: expected %d to %d",
				      TOKENS_LEAST, TOKENS_MOST);
	return cli_call(run, err);
}

CLI_COMMAND(prime, "prime", .run = run_prime, .print = print_prime);
