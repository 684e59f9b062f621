/* list: print messages page by page up to the limit or the end, or only count them. */
#include "base/limits.h"
#include "cli/command.h"
#include "cli/mail.h"
#include "cli/screen.h"
#include "data/record.h"

/* more: messages were printed before, so JSON needs a comma first. */
static void print_messages(const struct cli_run *run, const struct roger_message_list *messages,
			   bool more)
{
	size_t i;

	if (cli_answers_people(run))
		cli_print_summaries(run, messages, RG_STR(""));
	for (i = 0; i < messages->count && run->form != CLI_HUMAN; i++, more = true) {
		if (run->form == CLI_JSON && more)
			fputc(',', cli_out);
		cli_print_item(run, cli_item_record("list"), &messages->items[i]);
	}
}

/* How far the printing got. */
struct printed {
	int64_t count;
	int64_t total;	       /* the total of the first page's reply, as in roger.h */
	struct roger_str rest; /* JSON of the last reply but its messages; in the arena */
};

static int keep_rest(struct cli_run *run, const void *reply, struct roger_str *ret,
		     struct roger_err *err)
{
	const struct roger_field *field = cli_op(run->command)->reply->fields + 1;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	for (; field->name; field++)
		rg_field_encode(field, reply, &text);
	return rg_kept(rg_arena_keep(run->arena, &text, ret), err);
}

/* Print a page; the request then asks for the next one, or after "" at the end. */
static int print_page(struct cli_run *run, struct printed *printed, struct roger_err *err)
{
	struct roger_list_request *request = run->request;
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	int r = roger_call(run->roger, cli_op(run->command), request, &reply, err);

	if (r < 0)
		return r;
	if (run->form == CLI_JSON && printed->count == 0)
		fputs(CLI_FORMAT ",\"messages\":[", cli_out);
	print_messages(run, &reply.messages, printed->count > 0);
	if (cli_answers_people(run))
		cli_print_notes(&reply.notes);
	if (printed->count == 0)
		printed->total = reply.total;
	reply.total = printed->total;
	printed->count += (int64_t)reply.messages.count;
	if (!rg_arena_copy(run->arena, reply.next, &request->after))
		return rg_fail_memory(err);
	return run->form == CLI_JSON ? keep_rest(run, &reply, &printed->rest, err) : ROGER_OK;
}

static void print_end(const struct cli_run *run, const struct printed *printed)
{
	const struct roger_list_request *request = run->request;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = 65536 };

	if (run->form == CLI_JSON) {
		rg_buf_printf(&text, "],%.*s", RG_STR_ARGS(printed->rest));
		cli_add_damage(run->roger, &text);
		rg_buf_add_char(&text, '}');
		cli_print_json(cli_out, &text);
	} else if (cli_answers_people(run) && request->after.length) {
		cli_say("go on with %s--after %t\n",
			cli_screen_folds() && request->newest ? "--newest " : "", request->after);
	} else if (cli_answers_people(run) && printed->count == 0) {
		fputs("no messages\n", cli_out);
	}
}

/* Say that only the newest messages were shown, and how many there are. */
static int print_of_all(struct cli_run *run, int64_t shown, struct roger_err *err)
{
	RG_CLEANUP(roger_reply_free) struct roger_count_reply reply = { 0 };
	int r = roger_count(run->roger, run->request, &reply, err);

	if (r == ROGER_OK)
		cli_say("%Sthe newest %d of %d; --limit 0 shows all%.\n", CLI_DIM, shown,
			reply.count);
	return r;
}

/* ------------------------------------------------------------------ list -- */

static int print_count(struct cli_run *run, struct roger_err *err)
{
	const struct roger_list_request *request = run->request;
	RG_CLEANUP(roger_reply_free) struct roger_count_reply reply = { 0 };
	int r;

	if (request->limit || request->after.length || request->newest)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "--count counts all, without --limit, --after and --newest");
	r = roger_count(run->roger, request, &reply, err);
	if (r < 0)
		return r;
	cli_progress_end();
	if (run->form == CLI_HUMAN)
		cli_say("%d\n", reply.count);
	else
		cli_print_reply(run, cli_op_named("count")->reply, &reply);
	return ROGER_OK;
}

/* ---------------------------------------------------------------- follow -- */

enum { LAST_BYTES = 160 };

/* Find the id after which --follow starts, before the last --limit messages.  If there are no more
 * than these, last is not changed. */
static int find_start(const struct cli_run *run, char last[LAST_BYTES], struct roger_err *err)
{
	struct roger_list_request request = *(struct roger_list_request *)run->request;
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	int64_t wanted = request.limit ? request.limit : CLI_FOLLOW_LAST;
	int r;

	if (wanted < 0 || wanted >= RG_PAGE_MAX)
		return rg_fail_member(err, ROGER_EUSAGE, "limit", "limit: expected 1 to %d",
				      RG_PAGE_MAX - 1);
	request.newest = true;
	request.limit = wanted + 1;
	r = roger_call(run->roger, cli_op(run->command), &request, &reply, err);
	if (r == ROGER_OK && (int64_t)reply.messages.count > wanted)
		snprintf(last, LAST_BYTES, "%.*s", RG_STR_ARGS(reply.messages.items[wanted].id));
	return r;
}

/* Print the messages after the id in last, and update last. */
static int print_news(struct cli_run *run, char last[LAST_BYTES], bool *ret_more,
		      struct roger_err *err)
{
	struct roger_list_request *request = run->request;
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	int r;

	request->after = rg_str(last);
	request->limit = RG_PAGE_MAX;
	r = roger_call(run->roger, cli_op(run->command), request, &reply, err);
	if (r < 0)
		return r;
	print_messages(run, &reply.messages, false);
	if (reply.messages.count)
		snprintf(last, LAST_BYTES, "%.*s",
			 RG_STR_ARGS(reply.messages.items[reply.messages.count - 1].id));
	*ret_more = reply.more;
	return ROGER_OK;
}

/* Messages are sought in the archive, too, since one may be archived before it is seen. */
static int follow_list(struct cli_run *run, struct roger_err *err)
{
	struct roger_list_request *request = run->request;
	struct cli_follow follow;
	char last[LAST_BYTES] = "";
	bool more, stored;
	int r;

	if (request->newest)
		return rg_fail(err, ROGER_EUSAGE, 0, "expected --follow or --newest, not both");
	r = cli_follow_begin(&follow, run, err);
	request->anywhere = !request->text.length && !request->archived;
	if (r == ROGER_OK && request->after.length)
		snprintf(last, sizeof last, "%.*s", RG_STR_ARGS(request->after));
	else if (r == ROGER_OK)
		r = find_start(run, last, err);
	while (r == ROGER_OK) {
		r = print_news(run, last, &more, err);
		if (r == ROGER_OK && !more && !cli_follow_wait(&follow, &stored))
			break;
	}
	return cli_stopped() ? ROGER_OK : r;
}

/* ----------------------------------------------------------------- pages -- */

static int run_list(struct cli_run *run, struct roger_err *err)
{
	const struct rg_list_options *options = run->options;
	struct roger_list_request *request = run->request;
	/* On a terminal the newest messages are first, unless --after continues a list. */
	const bool shown = cli_screen_folds() && run->form == CLI_HUMAN && !request->after.length;
	const bool newest = shown && !request->limit;
	/* Nobody reads a million lines. */
	const int64_t wanted = newest ? RG_PAGE_MAX : request->limit > 0 ? request->limit : 0;
	struct printed printed = { 0 };
	int64_t left;
	int r;

	if (options->count)
		return print_count(run, err);
	if (options->follow)
		return follow_list(run, err);
	request->newest |= shown;
	/* A page has at most RG_PAGE_MAX messages; a larger limit, or none, needs several pages. */
	do {
		left = wanted - printed.count;
		request->limit = wanted && left < RG_PAGE_MAX ? left : RG_PAGE_MAX;
		r = print_page(run, &printed, err);
	} while (r == ROGER_OK && request->after.length && (!wanted || printed.count < wanted) &&
		 !cli_term_lost());
	if (r < 0)
		return r;
	run->exit = printed.count ? CLI_DONE : CLI_NOTHING;
	if (newest && request->after.length && !run->quiet)
		return print_of_all(run, printed.count, err);
	print_end(run, &printed);
	return ROGER_OK;
}

CLI_COMMAND(list, "list", .paged = true, .joined = true, .run = run_list);
