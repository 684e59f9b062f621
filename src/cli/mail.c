/* inbox, receive, claim, ack, nack, show, thread, wait. */
#include "cli/mail.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/term.h"

enum { SUMMARY_CHARS = 60 };

static const char *type_name(const struct roger_message *message)
{
	return cli_value_name(cli_item_record("list"), "message_type", message->type);
}

static void print_route(const struct roger_message *message)
{
	cli_say("%S%t", CLI_BOLD, message->from);
	if (message->seq)
		cli_say(" #%d", message->seq);
	cli_say("%. -> %t", message->to);
}

static void print_state(const struct roger_message *message)
{
	if (message->archived_at_ms) {
		cli_say("  %Sarchived: %t%.", CLI_DIM, message->archive_reason);
	} else if (message->claimed_by.length && message->claimed_until_ms > rg_clock_ms()) {
		cli_say("  %Sclaimed by %t until %w%.", CLI_YELLOW, message->claimed_by,
			message->claimed_until_ms);
	} else if (message->handed_at_ms && !message->read) {
		cli_say("  %Sin its file since %w, unheard%.", CLI_YELLOW, message->handed_at_ms);
	}
	if (message->ack_outcome)
		cli_say("  %Sacked: %s%.", CLI_DIM,
			cli_value_name(cli_item_record("list"), "ack_outcome",
				       message->ack_outcome));
	cli_say_set(" (%t)", message->ack_note);
}

/* One message: a line that says who, what and when, then its text. */
static void print_message(const struct roger_message *message)
{
	print_route(message);
	cli_say("  %S%s  %t", CLI_CYAN, type_name(message), message->issue);
	if (message->pass != 1)
		cli_say(" run %d", message->pass);
	cli_say("%.  %S%w  %t%.", CLI_DIM, message->created_at_ms, message->id);
	print_state(message);
	fputc('\n', cli_out);
	if (message->reply_to.length)
		cli_say("    %Sin reply to %t%.\n", CLI_DIM, message->reply_to);
	cli_print_body(cli_out, message->content, "    ");
	if (message->metadata.length) {
		fputs(cli_style(CLI_DIM), cli_out);
		cli_print_body(cli_out, message->metadata, "    ");
		fputs(cli_style(CLI_PLAIN), cli_out);
	}
}

/* The first line, as far as it fits. */
static struct roger_str head_of(struct roger_str content, bool *ret_cut)
{
	size_t at = 0, chars = 0, step;
	uint32_t c;

	while (at < content.length && chars < SUMMARY_CHARS) {
		step = rg_utf8_next(content.data + at, content.length - at, &c);
		if (!step || c == '\n')
			break;
		at += step;
		chars++;
	}
	*ret_cut = at < content.length;
	return (struct roger_str){ content.data, at };
}

void cli_print_summary(const struct roger_message *message)
{
	struct roger_str head;
	bool cut;

	cli_say("%S%w  %t%. %s ", CLI_DIM, message->created_at_ms, message->id,
		message->read || message->archived_at_ms ? " " : "*");
	print_route(message);
	head = head_of(message->content, &cut);
	cli_say("  %S%s  %t%.  %t%s\n", CLI_CYAN, type_name(message), message->issue, head,
		cut ? "..." : "");
}

static void print_messages(const struct roger_messages *messages)
{
	size_t i;

	for (i = 0; i < messages->count; i++) {
		if (i)
			fputc('\n', cli_out);
		print_message(&messages->items[i]);
	}
}

/* ------------------------------------------------------- inbox, receive -- */

static void print_mail(const struct cli_run *run, const struct roger_inbox_reply *reply,
		       int64_t more)
{
	if (reply->messages.count == 0) {
		fputs("no mail\n", cli_out);
		if (!run->quiet)
			cli_print_notes(&reply->notes);
		return;
	}
	print_messages(&reply->messages);
	if (more > 0)
		cli_say("\n%S%d more unread%.\n", CLI_DIM, more);
}

/* What is shown stays unread. */
static void print_inbox(const struct cli_run *run, const void *reply_)
{
	const struct roger_inbox_reply *reply = reply_;

	print_mail(run, reply, reply->unread - (int64_t)reply->messages.count);
}

static void print_received(const struct cli_run *run, const void *reply_)
{
	const struct roger_inbox_reply *reply = reply_;

	print_mail(run, reply, reply->unread);
}

const struct cli_command cli_inbox = { .name = "inbox", .print = print_inbox, .nothing = true };
/* These take mail and show it once, so nothing is taken when output is closed. */
static int must_be_heard(struct cli_run *run, struct roger_err *err)
{
	(void)run;
	if (fcntl(STDOUT_FILENO, F_GETFD) >= 0)
		return ROGER_OK;
	return rg_fail(err, ROGER_EIO, 0,
		       "standard output is closed: what is taken would be lost, so nothing was");
}

const struct cli_command cli_receive = {
	.name = "receive", .prepare = must_be_heard, .print = print_received, .nothing = true
};

/* ----------------------------------------------------------------- wait -- */

/* A pointer without content. */
static void print_wait(const struct cli_run *run, const void *reply_)
{
	const struct roger_wait_reply *reply = reply_;

	if (!reply->found && !run->quiet)
		fputs("no mail came in time\n", stderr);
	if (!reply->found)
		return;
	cli_say("%t from %t", reply->id, reply->from);
	if (reply->seq)
		cli_say(" #%d", reply->seq);
	cli_say(" in %t\n", reply->issue);
	/* Somebody waits for this line: it goes out before the files are closed. */
	cli_term_flush();
}

const struct cli_command cli_wait = { .name = "wait", .print = print_wait, .nothing = true };

/* ----------------------------------------------------- claim, ack, nack -- */

static void print_claim(const struct cli_run *run, const void *reply_)
{
	const struct roger_messages_reply *reply = reply_;

	(void)run;
	if (reply->messages.count == 0)
		fputs("nothing to claim\n", cli_out);
	print_messages(&reply->messages);
}

extern const struct cli_command cli_nack;

static void print_decided(const struct cli_run *run, const void *reply_)
{
	const struct roger_messages_reply *reply = reply_;
	size_t i;

	for (i = 0; i < reply->messages.count; i++)
		cli_say("%s %t\n", run->command == &cli_nack ? "gave back" : "acked",
			reply->messages.items[i].id);
}

const struct cli_command cli_claim = {
	.name = "claim", .prepare = must_be_heard, .print = print_claim, .nothing = true
};
const struct cli_command cli_ack = { .name = "ack", .print = print_decided };
const struct cli_command cli_nack = { .name = "nack", .print = print_decided };

/* --------------------------------------------------------- show, thread -- */

static void print_show(const struct cli_run *run, const void *reply_)
{
	(void)run;
	print_messages(&((const struct roger_messages_reply *)reply_)->messages);
}

static int run_show(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	const struct roger_show_request *request = run->request;

	return cli_given(run, "trace") ? cli_show_trace(run, &request->ids, ret_exit, err)
				       : cli_call(run, ret_exit, err);
}

static const struct cli_option show_options[] = {
	{ "trace", NULL, "how far they got, in place of what they say; as `roger trace`" },
	{ 0 },
};

const struct cli_command cli_show = {
	.name = "show", .options = show_options, .run = run_show, .print = print_show
};
const struct cli_command cli_thread = { .name = "thread", .print = print_show };
