/* inbox, receive, claim, ack, nack, show, wait: how their replies are printed for people. */
#include "cli/mail.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cli/grid.h"
#include "cli/screen.h"
#include "data/remote.h"

enum {
	PIECE = 8,
	RANDOM = 16,
	COMPARED_MOST = 1000,
	WIDE = 120,
	NUMBER_BYTES = 64,
	ID_COLUMNS = 14,   /* a longer name with its number gives way to a piece of the id */
	TEXT_COLUMNS = 40, /* the text gets at least these, on a terminal of 80 columns */
	DATE_CHARS = 10,
	WHOLE_MOST = 3, /* an inbox with more messages is shown as a list */
};

/* Return the shortest part of the id, from the start of its random digits and at least PIECE long,
 * that no other id in the list contains, so that a user can type it.  In a long list, where
 * comparing them takes long, all these digits. */
static struct roger_str piece_of(const struct roger_message_list *messages, size_t which)
{
	const struct roger_str id = messages->items[which].id;
	struct roger_str piece = id;
	size_t i;

	if (id.length < RANDOM + sizeof "msg-" || id.data[id.length - RANDOM - 1] != '-')
		return id;
	piece.data += id.length - RANDOM;
	piece.length = messages->count > COMPARED_MOST ? RANDOM : PIECE;
	for (i = 0; i < messages->count && piece.length < RANDOM; i++)
		while (piece.length < RANDOM && i != which &&
		       rg_str_find_part(messages->items[i].id, piece))
			piece.length++;
	return piece;
}

/* Write "#3", or "#3@2" for a message of another session: NAME#3 can be typed as an id. */
static const char *number_of(const struct roger_message *message, int64_t epoch,
			     char to[NUMBER_BYTES])
{
	to[0] = '\0';
	if (message->seq && message->epoch != epoch)
		snprintf(to, NUMBER_BYTES, "#%lld@%lld", (long long)message->seq,
			 (long long)message->epoch);
	else if (message->seq)
		snprintf(to, NUMBER_BYTES, "#%lld", (long long)message->seq);
	return to;
}

/* Return the number of this session, or 0 if nobody says it.  Of a server, most tokens may ask for
 * the status alone. */
static int64_t epoch_of(const struct cli_run *run)
{
	const struct roger_session_request request = { 0 };
	const struct roger_empty_request nothing = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_session_reply reply = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_status_reply status = { 0 };

	if (rg_is_remote(run->roger))
		return roger_status(run->roger, &nothing, &status, NULL) < 0 ? 0 : status.epoch;
	return roger_session(run->roger, &request, &reply, NULL) < 0 ? 0 : reply.epoch;
}

/* epoch: the number of this session on a terminal, else 0.  reader: the agent whose mailbox is
 * shown, which may have mail of an agent that it took over from; or "". */
static void print_route(const struct roger_message *message, int64_t epoch, struct roger_str reader)
{
	char number[NUMBER_BYTES];

	cli_say("%S%t%s%( #%d%)%. %s %t", CLI_BOLD, message->from,
		epoch ? number_of(message, epoch, number) : "", epoch ? 0 : message->seq,
		cli_mail_is_for_other(message, reader) ? "for" : "->", message->to);
}

static void print_state(const struct roger_message *message)
{
	cli_say("%(  %S%s%.%)", CLI_RED, rg_altered_names[message->altered]);
	if (message->archived_at_ms)
		cli_say("  %Sarchived: %t%.", CLI_DIM, message->archive_reason);
	else if (message->claimed_by.length && message->claimed_until_ms > rg_clock_ms())
		cli_say("  %Sclaimed by %t, lease ends %w%.", CLI_YELLOW, message->claimed_by,
			message->claimed_until_ms);
	else if (message->handed_at_ms && !message->read)
		cli_say("  %Sin its file since %w, unheard%.", CLI_YELLOW, message->handed_at_ms);
	cli_say("%(  %Sacked: %s%.%)%( (%t)%)", CLI_DIM, rg_ack_outcome_names[message->ack_outcome],
		message->ack_note);
}

/* Print a message: a line with its sender, recipient, type, time and id, then its text. */
static void print_message(const struct roger_message_list *messages, size_t which, int64_t epoch,
			  struct roger_str reader)
{
	const struct roger_message *message = &messages->items[which];
	const struct roger_str id = message->id, piece = piece_of(messages, which);
	const size_t before = (size_t)(piece.data - id.data);

	print_route(message, epoch, reader);
	cli_say("  %S%s  %t", CLI_CYAN, rg_type_names[message->type], message->issue);
	if (message->pass != 1)
		cli_say(" run %d", message->pass);
	cli_say("%.  %S%w  %t%.", CLI_DIM, message->created_at_ms,
		(struct roger_str){ id.data, before });
	cli_say("%S%t%.%S%t%.", epoch ? CLI_BOLD : CLI_DIM, piece, CLI_DIM,
		(struct roger_str){ piece.data + piece.length, id.length - before - piece.length });
	print_state(message);
	cli_say("\n%(    %Sin reply to %t%.\n%)", CLI_DIM, message->reply_to);
	cli_print_body(cli_out, message->content, "    ");
	if (!message->metadata.length)
		return;
	cli_say("%S", CLI_DIM);
	cli_print_body(cli_out, message->metadata, "    ");
	cli_say("%.");
}

/* ------------------------------------------------------------ in columns -- */

/* The cells of a wide terminal: the sender with its number, the recipient, the time, the id, the
 * type, and the issue unless all messages have the same. */
static void add_wide(struct cli_grid *grid, const struct roger_message_list *messages, size_t which,
		     int64_t epoch, bool one_issue)
{
	const struct roger_message *message = &messages->items[which];
	struct cli_cell id = { .text = message->id, .flags = CLI_WHOLE, .style = CLI_BOLD };
	char number[NUMBER_BYTES];

	cli_grid_say(grid, CLI_BOLD, 0, "%t%s", message->from, number_of(message, epoch, number));
	cli_grid_say(grid, CLI_PLAIN, 0, "%t", message->to);
	cli_grid_say(grid, CLI_DIM, CLI_WHOLE, "%w", message->created_at_ms);
	if (cli_screen_width())
		id.bright = piece_of(messages, which);
	cli_grid_add(grid, id);
	cli_grid_say(grid, CLI_CYAN, CLI_WHOLE, "%s", rg_type_names[message->type]);
	cli_grid_say(grid, CLI_CYAN, 0, one_issue ? "" : "%t", message->issue);
}

/* The cells of a narrow terminal: NAME#N or a piece of the id, the sender or recipient, and the age
 * or the day. */
static void add_narrow(struct cli_grid *grid, const struct roger_message_list *messages,
		       size_t which, int64_t epoch, struct roger_str reader)
{
	const struct roger_message *message = &messages->items[which];
	const bool other = cli_mail_is_for_other(message, reader), own = reader.length && !other;
	struct roger_str from = message->from, shown;
	char when[CLI_TIME_BYTES], number[NUMBER_BYTES];

	number_of(message, epoch, number);
	if (*number && cli_columns(from) + strlen(number) <= ID_COLUMNS) {
		cli_grid_say(grid, CLI_BOLD, CLI_WHOLE, "%t%s", from, number);
		from.length = 0;
	} else {
		cli_grid_say(grid, CLI_BOLD, CLI_WHOLE, "%t", piece_of(messages, which));
	}
	cli_grid_say(grid, CLI_PLAIN, 0, own ? "%t" : "%t%s%s %t", from,
		     from.length && message->to.length ? " " : "", other ? "for" : "->",
		     message->to);
	shown = rg_str(cli_when(message->created_at_ms, when));
	if (shown.length > DATE_CHARS && shown.data[4] == '-')
		shown.length = DATE_CHARS;
	cli_grid_say(grid, CLI_DIM, CLI_WHOLE, "%t", shown);
}

static bool is_narrow(void)
{
	return cli_screen_width() && cli_screen_width() < WIDE;
}

static void add_row(struct cli_grid *grid, const struct roger_message_list *messages, size_t which,
		    int64_t epoch, bool one_issue, struct roger_str reader)
{
	const struct roger_message *message = &messages->items[which];
	const struct roger_str head = rg_str_first_line(message->content);

	cli_grid_say(grid, CLI_PLAIN, CLI_WHOLE, "%s",
		     message->read || message->archived_at_ms ? "" : "*");
	if (is_narrow())
		add_narrow(grid, messages, which, epoch, reader);
	else
		add_wide(grid, messages, which, epoch, one_issue);
	cli_grid_say(grid, CLI_PLAIN, 0, "%(%s: %)%t%s", rg_altered_names[message->altered], head,
		     head.length < message->content.length ? " …" : "");
}

void cli_print_summaries(const struct cli_run *run, const struct roger_message_list *messages,
			 struct roger_str reader)
{
	struct cli_grid grid = { .arena = rg_arena_new(),
				 .columns = is_narrow() ? 5 : 8,
				 .last_least = TEXT_COLUMNS };
	const int64_t epoch = messages->count ? epoch_of(run) : 0;
	bool one_issue = true;
	size_t i;

	if (!grid.arena) {
		cli_term_lose(ENOMEM);
		return;
	}
	for (i = 1; i < messages->count; i++)
		one_issue &= rg_str_equal(messages->items[0].issue, messages->items[i].issue);
	for (i = 0; i < messages->count; i++)
		add_row(&grid, messages, i, epoch, one_issue, reader);
	cli_grid_print(cli_out, &grid);
	rg_arena_free(grid.arena);
}

static void print_messages(const struct cli_run *run, const struct roger_message_list *messages,
			   struct roger_str reader)
{
	const int64_t epoch = messages->count && cli_screen_folds() ? epoch_of(run) : 0;
	size_t i;

	for (i = 0; i < messages->count; i++) {
		if (i)
			fputc('\n', cli_out);
		print_message(messages, i, epoch, reader);
	}
}

/* ------------------------------------------------------- inbox, receive -- */

/* Needs a request of inbox, or of receive, which has the same type. */
static struct roger_str reader_of(const struct cli_run *run)
{
	return ((const struct roger_inbox_request *)run->request)->agent;
}

static void print_mail(const struct cli_run *run, const struct roger_inbox_reply *reply,
		       int64_t more)
{
	if (reply->messages.count == 0) {
		cli_say("no mail\n");
		if (!run->quiet)
			cli_print_notes(&reply->notes);
		return;
	}
	print_messages(run, &reply->messages, reader_of(run));
	if (more > 0)
		cli_say("\n%S%d more unread%.\n", CLI_DIM, more);
}

/* Print unread mail, which stays unread; on a terminal more than WHOLE_MOST messages are a list. */
static void print_inbox(const struct cli_run *run)
{
	const struct roger_inbox_reply *reply = run->reply;
	const int64_t more = reply->unread - (int64_t)reply->messages.count;

	if (!cli_screen_folds() || reply->messages.count <= WHOLE_MOST) {
		print_mail(run, reply, more);
		return;
	}
	cli_print_summaries(run, &reply->messages, reader_of(run));
	cli_say("%S%d unread; `roger show ID` shows one whole%.\n", CLI_DIM, reply->unread);
	if (more > 0)
		cli_say("%S%d more; `roger list --unread --to %t` lists them%.\n", CLI_DIM, more,
			reader_of(run));
}

/* On a terminal more mail is asked for, since a long inbox is shown as a list. */
static int run_inbox(struct cli_run *run, struct roger_err *err)
{
	struct roger_inbox_request *request = run->request;

	if (!request->limit && run->form == CLI_HUMAN && cli_screen_folds())
		request->limit = RG_PAGE_MAX;
	return cli_call(run, err);
}

static void print_received(const struct cli_run *run)
{
	const struct roger_inbox_reply *reply = run->reply;

	print_mail(run, reply, reply->unread);
}

CLI_COMMAND(inbox, "inbox", .paged = true, .run = run_inbox, .print = print_inbox, .nothing = true);
/* receive and claim show mail once, so they take nothing when standard output is closed. */
static int must_be_heard(struct cli_run *run, struct roger_err *err)
{
	(void)run;
	if (fcntl(STDOUT_FILENO, F_GETFD) >= 0)
		return ROGER_OK;
	return rg_fail(err, ROGER_EIO, 0, "standard output is closed, so nothing was taken");
}

CLI_COMMAND(receive, "receive", .prepare = must_be_heard, .print = print_received, .nothing = true);

/* ----------------------------------------------------------------- wait -- */

/* Print a pointer to the mail, without its text. */
static void print_wait(const struct cli_run *run)
{
	const struct roger_wait_reply *reply = run->reply;

	if (!reply->found && !run->quiet) {
		cli_print_notes(&reply->notes);
		fputs("no mail came in time\n", stderr);
	}
	if (!reply->found)
		return;
	cli_say("%t from %t%( #%d%) in %t\n", reply->id, reply->from, reply->seq, reply->issue);
	/* Somebody waits for this line, so it is written before the workspace is closed. */
	cli_term_flush();
}

CLI_COMMAND(wait, "wait", .print = print_wait, .nothing = true);

/* ----------------------------------------------------- claim, ack, nack -- */

static void print_claim(const struct cli_run *run)
{
	const struct roger_messages_reply *reply = run->reply;

	cli_print_notes(&reply->notes);
	if (reply->messages.count == 0)
		fputs("nothing to claim\n", cli_out);
	print_messages(run, &reply->messages,
		       ((const struct roger_claim_request *)run->request)->agent);
}

extern const struct cli_command cli_nack;

static void print_decided(const struct cli_run *run)
{
	const struct roger_messages_reply *reply = run->reply;
	size_t i;

	for (i = 0; i < reply->messages.count; i++)
		cli_say("%s %t\n", run->command == &cli_nack ? "free to claim" : "acked",
			reply->messages.items[i].id);
}

CLI_COMMAND(claim, "claim", .prepare = must_be_heard, .print = print_claim, .nothing = true);
CLI_COMMAND(ack, "ack", .print = print_decided);
CLI_COMMAND(nack, "nack", .print = print_decided);

/* ----------------------------------------------------------------- show -- */

/* Print the messages, then for each with "proved" a line that says how its sender is known. */
static void print_show(const struct cli_run *run)
{
	const struct roger_messages_reply *reply = run->reply;
	const struct roger_message *one = reply->messages.items;
	size_t i;

	print_messages(run, &reply->messages, RG_STR(""));
	for (i = 0; i < reply->messages.count; i++, one++)
		if (one->proved.length)
			cli_say("%S%t: sender %s%t%.\n", CLI_DIM, one->id,
				rg_str_is(one->proved, "token") ? "proved by " : "", one->proved);
}

static int run_show(struct cli_run *run, struct roger_err *err)
{
	const struct roger_show_request *request = run->request;
	struct roger_thread_request thread = { .agent = request->agent };
	struct roger_messages_reply reply;
	int r;

	if (!((const struct rg_show_options *)run->options)->thread)
		return cli_call(run, err);
	if (request->ids.count != 1)
		return rg_fail(err, ROGER_EUSAGE, 0, "--thread takes the id of one message");
	thread.id = request->ids.items[0];
	r = roger_thread(run->roger, &thread, &reply, err);
	if (r == ROGER_OK)
		cli_answer(run, &reply);
	return r;
}

CLI_COMMAND(show, "show", .paged = true, .run = run_show, .print = print_show);
