/* bridge, ingest: text in the form (ROLE #N): text, from files and from standard input. */

#include "base/limits.h"
#include "cli/command.h"
#include "cli/input.h"

/* The longest wait: a signal that comes just before one is only seen after it. */
enum { WAIT_MS = 1000 };

/* What is not good goes to standard error, so that scripts notice. */
static bool is_good(const struct roger_crossing *item)
{
	return rg_crossing_kind_tones[item->kind] == RG_TONE_GOOD;
}

/* "skipped LEAD #3 -> bob  (bob.txt, line 2): why; its text is in ..." */
static void print_crossing(FILE *to, const struct roger_crossing *item)
{
	cli_say_to(to, "%S%s%.%( %t%)%( #%d%)%( -> %t%)%(  %t%)%( line %d%)",
		   is_good(item) ? CLI_PLAIN : CLI_YELLOW, rg_crossing_kind_labels[item->kind],
		   item->from, item->from.length ? item->seq : 0, item->to, item->file, item->line);
	cli_say_to(to, "%(  %S%t%.%)%(: %t%)%(; its text is in %t%)\n", CLI_DIM, item->id,
		   item->why, item->kept);
}

/* Print the first text of a file that waits for room, and how many more wait: there may be
 * hundreds. */
static void print_waiting(const struct roger_crossing_list *crossings, size_t first)
{
	const struct roger_str file = crossings->items[first].file;
	int64_t more = 0;
	size_t i;

	for (i = 0; i < crossings->count; i++) {
		if (crossings->items[i].kind != ROGER_CROSSING_WAITING ||
		    !rg_str_equal(crossings->items[i].file, file))
			continue;
		if (i < first)
			return;
		more += i > first;
	}
	print_crossing(stderr, &crossings->items[first]);
	if (more)
		fprintf(stderr, "waiting, too: %lld more of that file\n", (long long)more);
}

static void print_reply(const struct cli_run *run, const struct roger_bridge_reply *reply)
{
	size_t i;

	for (i = 0; i < reply->crossings.count; i++) {
		const struct roger_crossing *item = &reply->crossings.items[i];

		if (is_good(item) && !run->quiet)
			print_crossing(cli_out, item);
		else if (item->kind == ROGER_CROSSING_WAITING)
			print_waiting(&reply->crossings, i);
		else if (!is_good(item))
			print_crossing(stderr, item);
	}
}

/* Return the error that ended the verb early; what it reported before has happened. */
static int failure_of(const struct roger_bridge_reply *reply, struct roger_err *err)
{
	struct roger_str why = { "", 0 };

	if (!reply->failure)
		return ROGER_OK;
	if (reply->crossings.count)
		why = reply->crossings.items[reply->crossings.count - 1].why;
	return rg_fail(err, (enum roger_code) - reply->failure, 0, "%.*s", RG_STR_ARGS(why));
}

/* -------------------------------------------------------------- bridge -- */

static void show_reply(const struct cli_run *run, const struct roger_bridge_reply *reply)
{
	if (run->form == CLI_HUMAN)
		print_reply(run, reply);
	else if (run->form == CLI_JSON || reply->crossings.count)
		cli_print_reply(run, cli_op(run->command)->reply, reply);
	if (run->form != CLI_HUMAN || !run->quiet)
		cli_print_notes(&reply->notes);
}

/* Call the verb in rounds until a signal comes; print what happened in each at once. */
static int bridge_on(struct cli_run *run, struct roger_err *err)
{
	struct roger_bridge_request request = *(struct roger_bridge_request *)run->request;
	struct cli_run lines = *run;
	struct roger_bridge_reply reply;
	bool bridges = false, told = false;
	int r = ROGER_OK;

	/* An object for each crossing, as they come. */
	if (lines.form == CLI_JSON)
		lines.form = CLI_JSONL;
	request.timeout_ms = WAIT_MS;
	cli_stop_catch(run);
	while (!cli_stopped() && r == ROGER_OK) {
		r = roger_bridge(run->roger, &request, &reply, err);
		if (r == ROGER_OK) {
			bridges = true;
			show_reply(&lines, &reply);
			r = failure_of(&reply, err);
			roger_reply_free(&reply);
			if (cli_term_flush() != 0)
				break;
		}
		/* After the first round, wait for a lock that another process holds. */
		if (r == ROGER_ETIMEOUT && bridges) {
			if (!told)
				cli_say_to(stderr, "note: %t; the bridge goes on\n",
					   rg_str(err->message));
			told = true;
			r = ROGER_OK;
		} else {
			told = false;
		}
	}
	return r;
}

static int run_bridge(struct cli_run *run, struct roger_err *err)
{
	const bool once = ((const struct rg_bridge_options *)run->options)->once;
	const struct roger_bridge_request *request = run->request;
	RG_CLEANUP(roger_reply_free) struct roger_bridge_reply reply = { 0 };
	int r;

	if (once && request->timeout_ms)
		return rg_fail_member(err, ROGER_EUSAGE, "wait",
				      "wait: expected without --once, which does not wait; --wait "
				      "alone ends when something came, or after this long");
	if (!once && !request->timeout_ms)
		return bridge_on(run, err);
	cli_stop_catch(run);
	r = roger_bridge(run->roger, request, &reply, err);
	if (r < 0)
		return r;
	show_reply(run, &reply);
	run->exit = reply.trouble ? CLI_REFUSED : reply.crossings.count ? CLI_DONE : CLI_NOTHING;
	return failure_of(&reply, err);
}

CLI_COMMAND(bridge, "bridge", .run = run_bridge);

/* -------------------------------------------------------------- ingest -- */

/* Read the text, unless it was given, from --file or standard input. */
static int prepare_ingest(struct cli_run *run, struct roger_err *err)
{
	struct roger_ingest_request *request = run->request;
	const struct roger_str file = ((const struct rg_ingest_options *)run->options)->file;

	if (request->text.length && file.data)
		return rg_fail(err, ROGER_EUSAGE, 0, "give --text or --file, not both");
	if (request->text.length)
		return ROGER_OK;
	return cli_read_text(file.length ? file.data : NULL, "text", RG_TRIGGER_BYTES_MAX,
			     run->arena, &request->text, err);
}

static int run_ingest(struct cli_run *run, struct roger_err *err)
{
	const struct roger_ingest_request *request = run->request;
	const struct roger_bridge_reply nothing = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_bridge_reply reply = { 0 };
	size_t i;
	int r;

	if (!request->text.length) {
		if (run->form == CLI_JSON)
			cli_print_reply(run, cli_op(run->command)->reply, &nothing);
		else if (cli_answers_people(run))
			fputs("nothing came in: no text\n", stderr);
		run->exit = CLI_NOTHING;
		return ROGER_OK;
	}
	r = roger_ingest(run->roger, request, &reply, err);
	if (r < 0)
		return r;
	show_reply(run, &reply);
	run->exit = reply.crossings.count ? CLI_DONE : CLI_NOTHING;
	/* Duplicates are fine; text that cannot be read is bad data. */
	for (i = 0; i < reply.crossings.count; i++)
		if (reply.crossings.items[i].kind == ROGER_CROSSING_REFUSED)
			run->exit = CLI_DATA;
	return ROGER_OK;
}

CLI_COMMAND(ingest, "bridge ingest", .verb = "ingest", .prepare = prepare_ingest,
	    .run = run_ingest);
