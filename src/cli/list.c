/* list and search: page by page until the end, unless a limit is given.  count. */
#include "base/limits.h"
#include "cli/command.h"
#include "cli/mail.h"
#include "data/record.h"

#include "cli/term.h"

static void print_item(const struct cli_run *run, const struct roger_message *message, bool first)
{
	if (run->form == CLI_HUMAN) {
		cli_print_summary(message);
		return;
	}
	if (run->form == CLI_JSON && !first)
		fputc(',', cli_out);
	cli_print_item(cli_item_record("list"), message);
}

/* One page; *ret_next (in arena) is where the next one starts, "" at the end. */
static int print_page(struct cli_run *run, int64_t *printed, struct roger_str *ret_next,
		      struct roger_err *err)
{
	const struct roger_op *op = cli_op(run->command);
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	size_t i;
	int r;

	r = roger_call(run->roger, op, run->request, &reply, err);
	if (r < 0)
		return r;
	if (run->form == CLI_JSON && *printed == 0)
		fputs(CLI_FORMAT ",\"messages\":[", cli_out);
	for (i = 0; i < reply.messages.count; i++)
		print_item(run, &reply.messages.items[i], *printed + (int64_t)i == 0);
	*printed += (int64_t)reply.messages.count;
	return rg_arena_copy(run->arena, reply.next, ret_next) ? ROGER_OK : rg_fail_memory(err);
}

static void print_end(const struct cli_run *run, int64_t printed, struct roger_str next)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = 65536 };

	if (run->form == CLI_JSON) {
		rg_buf_add_text(&text,
				next.length ? "],\"more\":true,\"next\":" : "],\"more\":false");
		if (next.length)
			rg_json_add_string(&text, next);
		cli_add_damage(run->roger, &text);
		rg_buf_add_char(&text, '}');
		cli_print_json(cli_out, &text);
	} else if (run->form == CLI_HUMAN && !run->quiet && next.length) {
		cli_say("go on with --after %t\n", next);
	} else if (run->form == CLI_HUMAN && !run->quiet && printed == 0) {
		fputs("no messages\n", cli_out);
	}
}

/* A page is bounded; a larger limit, or none, takes several. */
static int64_t page_size(int64_t wanted, int64_t printed)
{
	int64_t left = wanted - printed;

	return wanted && left < RG_PAGE_MAX ? left : RG_PAGE_MAX;
}

/* ---------------------------------------------------------------- follow -- */

enum { LAST_BYTES = 160, LOOK_MS = 1000 };

/* The id of the message before the last ones that are shown first; "": all are shown. */
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
	request.anywhere = false;
	request.limit = wanted + 1;
	r = roger_call(run->roger, cli_op(run->command), &request, &reply, err);
	if (r == ROGER_OK && (int64_t)reply.messages.count > wanted)
		snprintf(last, LAST_BYTES, "%.*s", RG_STR_ARGS(reply.messages.items[wanted].id));
	return r;
}

/* What came after the last one. */
static int print_news(struct cli_run *run, char last[LAST_BYTES], bool *ret_more,
		      struct roger_err *err)
{
	struct roger_list_request *request = run->request;
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	size_t i;
	int r;

	request->after = rg_str(last);
	request->limit = RG_PAGE_MAX;
	r = roger_call(run->roger, cli_op(run->command), request, &reply, err);
	if (r < 0)
		return r;
	for (i = 0; i < reply.messages.count; i++)
		print_item(run, &reply.messages.items[i], true);
	if (reply.messages.count)
		snprintf(last, LAST_BYTES, "%.*s", RG_STR_ARGS(reply.messages.items[i - 1].id));
	*ret_more = reply.more;
	return ROGER_OK;
}

/* A message that is archived before it is seen is shown, too. */
static int follow(struct cli_run *run, struct roger_err *err)
{
	struct roger_list_request *request = run->request;
	struct cli_follow follow;
	char last[LAST_BYTES] = "";
	bool more, stored;
	int r;

	if (request->newest)
		return rg_fail(err, ROGER_EUSAGE, 0, "expected --follow or --newest, not both");
	r = cli_follow_begin(&follow, run, LOOK_MS, err);
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

static int run_list(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	struct roger_list_request *request = run->request;
	int64_t wanted = request->limit, printed = 0;
	struct roger_str next;
	int r;

	*ret_exit = CLI_DONE;
	if (cli_given(run, "follow"))
		return follow(run, err);
	do {
		request->limit = page_size(wanted, printed);
		r = print_page(run, &printed, &next, err);
		request->after = next;
	} while (r == ROGER_OK && next.length && (!wanted || printed < wanted) && !cli_term_lost());
	if (r < 0)
		return r;
	print_end(run, printed, next);
	*ret_exit = printed || !request->text.length ? CLI_DONE : CLI_NOTHING;
	return ROGER_OK;
}

static const struct cli_option options[] = { CLI_FOLLOW, { 0 } };

const struct cli_command cli_list = { .name = "list", .options = options, .run = run_list };
const struct cli_command cli_search = { .name = "search", .options = options, .run = run_list };

static void print_count(const struct cli_run *run, const void *reply)
{
	(void)run;
	fprintf(cli_out, "%lld\n", (long long)((const struct roger_count_reply *)reply)->count);
}

const struct cli_command cli_count = { .name = "count", .print = print_count };
