/* wake: run until stopped, once, or as a test of one agent's command. */
#include "base/clock.h"
#include "cli/command.h"
#include "data/remote.h"

/* The longest call of the verb; then there is another. */
enum { SPAN_MS = 3600 * 1000, PAUSE_MS = 1000 };

/* --------------------------------------------------------------- printing -- */

static bool is_test(const struct cli_run *run)
{
	return ((const struct roger_wake_request *)run->request)->test;
}

static void print_wake(const struct cli_run *run)
{
	const struct roger_wake_reply *reply = run->reply;
	const struct roger_wake_attempt *attempt;
	size_t i;

	for (i = 0; i < reply->attempts.count; i++) {
		attempt = &reply->attempts.items[i];
		cli_say("%w  %t  %S%t%.", attempt->started_at_ms, attempt->agent,
			attempt->ok ? CLI_GREEN : CLI_RED, attempt->ended);
		/* How another one ended may say how long it took. */
		if (attempt->ok)
			cli_say(" after %d ms", attempt->took_ms);
		cli_say("  %d unread, attempt %d\n", attempt->count, attempt->attempt);
		if (!is_test(run) || !attempt->count)
			continue;
		if (attempt->looked)
			cli_say("it looked at its mail after %S%d ms%.\n", CLI_GREEN,
				attempt->looked_ms);
		else if (attempt->ok)
			cli_say("%Sit did not look at its mail in time%.\n", CLI_YELLOW);
	}
}

/* ---------------------------------------------------------------- running -- */

static int exit_of(const struct cli_run *run)
{
	const struct roger_wake_reply *reply = run->reply;
	const struct roger_wake_attempt *attempt = reply->attempts.items;

	if (!reply->attempts.count)
		return CLI_NOTHING;
	if (is_test(run) && (!attempt->ok || (attempt->count && !attempt->looked)))
		return CLI_RETRY;
	return CLI_DONE;
}

static int call_once(struct cli_run *run, bool notes, struct roger_err *err)
{
	const struct roger_wake_request *request = run->request;
	struct roger_wake_reply reply;
	int r;

	r = roger_wake(run->roger, request, &reply, err);
	if (r < 0)
		return r;
	if (notes && cli_answers_people(run))
		cli_print_notes(&reply.notes);
	if (reply.attempts.count || !request->timeout_ms)
		cli_answer(run, &reply);
	else
		roger_reply_free(&reply);
	return ROGER_OK;
}

/* Each round is printed at once, for people who watch and programs that read. */
static int call_until_stopped(struct cli_run *run, struct roger_wake_request *request,
			      struct roger_err *err)
{
	int64_t until_ms = rg_clock_monotonic_ms() + request->timeout_ms, left_ms;
	bool for_ever = request->timeout_ms == 0, first = true, told = false;
	int r;

	do {
		left_ms = until_ms - rg_clock_monotonic_ms();
		request->timeout_ms = for_ever || left_ms > SPAN_MS ? SPAN_MS : left_ms;
		if (request->timeout_ms <= 0)
			break;
		r = call_once(run, first, err);
		/* A server that is started again, or gives way to another, is waited for. */
		if (r == ROGER_ETIMEOUT && rg_is_remote(run->roger)) {
			if (!told)
				cli_say_to(stderr, "note: %t; roger wake keeps trying\n",
					   rg_str(err->message));
			told = true;
			rg_clock_sleep(PAUSE_MS);
			continue;
		}
		if (r < 0)
			return r;
		first = told = false;
		cli_term_flush();
	} while (!cli_stopped() && !cli_term_lost());
	run->exit = CLI_DONE;
	return ROGER_OK;
}

static int run_wake(struct cli_run *run, struct roger_err *err)
{
	const bool once = ((const struct rg_wake_options *)run->options)->once;
	struct roger_wake_request *request = run->request;

	if (once && (request->timeout_ms || request->test))
		return rg_fail_member(err, ROGER_EUSAGE, "once",
				      "once: expected one of --once, --timeout and --test");
	cli_stop_catch(run);
	if (once || request->test)
		return call_once(run, true, err);
	return call_until_stopped(run, request, err);
}

CLI_COMMAND(wake, "wake", .run = run_wake, .print = print_wake, .exit_of = exit_of);
