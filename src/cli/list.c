/* list and search: page by page until the end, unless a limit is given.  count. */
#include "base/limits.h"
#include "cli/command.h"
#include "cli/mail.h"
#include "data/record.h"

#include "cli/screen.h"
#include "cli/term.h"

/* One page; *ret_next (in arena) is where the next one starts, "" at the end.  epoch: of this
 * session, on a terminal. */
static int print_page(struct cli_run *run, int64_t epoch, int64_t *printed,
		      struct roger_str *ret_next, struct roger_err *err)
{
	const struct roger_op *op = cli_op(run->command);
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	size_t i;
	int r;

	r = roger_call(run->roger, op, run->request, &reply, err);
	if (r < 0)
		return r;
	if (run->form == CLI_JSON && *printed == 0)
		fputs("{\"messages\":[", cli_out);
	if (epoch)
		cli_print_summaries(&reply.messages, false, epoch);
	for (i = 0; i < reply.messages.count && !epoch; i++) {
		if (run->form == CLI_HUMAN) {
			cli_print_summary(&reply.messages.items[i]);
			continue;
		}
		if (run->form == CLI_JSON && *printed + (int64_t)i)
			fputc(',', cli_out);
		cli_print_item(run, cli_item_record("list"), &reply.messages.items[i]);
	}
	*printed += (int64_t)reply.messages.count;
	r = rg_arena_copy(run->arena, reply.next, ret_next) ? ROGER_OK : rg_fail_memory(err);
	return r;
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

/* -------------------------------------------------------- on a terminal -- */

/* The number of all of them, with commas. */
static int print_of_all(struct cli_run *run, int64_t shown, struct roger_err *err)
{
	RG_CLEANUP(roger_reply_free) struct roger_count_reply reply = { 0 };
	char number[32], *at = number + sizeof number - 1;
	int r = roger_count(run->roger, run->request, &reply, err);
	int64_t left = reply.count, digits = 0;

	if (r < 0)
		return r;
	*at = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + left % 10);
		digits++;
	} while (left /= 10);
	cli_say("%Sthe newest %d of %s; --limit 0 shows all%.\n", CLI_DIM, shown, at);
	return ROGER_OK;
}

/* The newest, in the order that was asked for: nobody reads a million lines. */
static int show_newest(struct cli_run *run, int64_t epoch, int64_t *printed, struct roger_err *err)
{
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	struct roger_list_request *request = run->request;
	const bool backwards = !request->newest;
	int r;

	request->newest = true;
	r = roger_call(run->roger, cli_op(run->command), request, &reply, err);
	if (r < 0)
		return r;
	cli_print_summaries(&reply.messages, backwards, epoch);
	*printed = (int64_t)reply.messages.count;
	return reply.more && !run->quiet ? print_of_all(run, *printed, err) : ROGER_OK;
}

/* ------------------------------------------------------------------ list -- */

/* A page is bounded; a larger limit, or none, takes several. */
static int64_t page_size(int64_t wanted, int64_t printed)
{
	int64_t left = wanted - printed;

	return wanted && left < RG_PAGE_MAX ? left : RG_PAGE_MAX;
}

static int run_list(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	struct roger_list_request *request = run->request;
	const bool newest = cli_screen_folds() && run->form == CLI_HUMAN && !request->limit &&
			    !request->after.length;
	int64_t wanted = request->limit > 0 ? request->limit : 0, printed = 0;
	struct roger_str next = { "", 0 };
	const int64_t epoch = cli_shown_epoch(run);
	int r = ROGER_OK;

	if (newest && r == ROGER_OK)
		r = show_newest(run, epoch, &printed, err);
	while (r == ROGER_OK && !newest) {
		request->limit = page_size(wanted, printed);
		r = print_page(run, epoch, &printed, &next, err);
		request->after = next;
		if (!next.length || (wanted && printed >= wanted) || cli_term_lost())
			break;
	}
	if (r < 0)
		return r;
	print_end(run, printed, next);
	*ret_exit = printed || !request->text.length ? CLI_DONE : CLI_NOTHING;
	return ROGER_OK;
}

const struct cli_command cli_list = { .name = "list", .paged = true, .run = run_list };
const struct cli_command cli_search = { .name = "search", .paged = true, .run = run_list };

static void print_count(const struct cli_run *run, const void *reply)
{
	(void)run;
	fprintf(cli_out, "%lld\n", (long long)((const struct roger_count_reply *)reply)->count);
}

const struct cli_command cli_count = { .name = "count", .print = print_count };
