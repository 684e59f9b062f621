/* timeline: the events of an agent, run or other subject as a table or a diagram, or followed. */
#include "base/clock.h"
#include "base/id.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/grid.h"
#include "cli/mermaid.h"
#include "cli/screen.h"
#include "cli/told.h"

enum {
	KIND_COLUMNS = 13,
	WHO_COLUMNS_MAX = 32,
	NARROW = 100, /* on a narrower terminal times have no ms, and names are cut more */
	WHO_NARROW = 24,
	WORDS_LEAST = 10,
	DAY_CHARS = 10, /* the day at the start of cli_time() */
	CLOCK_COLUMNS = 12,
	CLOCK_NARROW = 8,
};

/* ------------------------------------------------------------- one event -- */

enum { ARROW_COLUMNS = 4 };

static size_t who_columns(const struct roger_event *event)
{
	return cli_columns(event->actor) +
	       (event->peer.length ? ARROW_COLUMNS + cli_columns(event->peer) : 0);
}

/* Print "alice -> bob", or the actor alone, in that many columns; names that are too long are cut.
 */
static void print_who(const struct roger_event *event, size_t columns)
{
	static const unsigned of_reader = 1U << ROGER_EVENT_READ | 1U << ROGER_EVENT_DUE |
					  1U << ROGER_EVENT_CLAIMED | 1U << ROGER_EVENT_RETURNED |
					  1U << ROGER_EVENT_LEASE_EXPIRED |
					  1U << ROGER_EVENT_ACKNOWLEDGED;
	const size_t all = who_columns(event), both = columns - ARROW_COLUMNS;
	size_t first = cli_columns(event->actor), second = cli_columns(event->peer);

	if (event->peer.length) {
		second = second < both / 2 ? second : both / 2;
		first = first < both - second ? first : both - second;
	}
	cli_print_cut(cli_out, event->actor, event->peer.length ? first : columns);
	if (event->peer.length) {
		fputs(of_reader >> event->kind & 1U ? " <- " : " -> ", cli_out);
		cli_print_cut(cli_out, event->peer, both - first);
	}
	cli_say("%*s", all < columns ? (int)(columns - all) : 0, "");
}

/* Add the number and run of an event, then its words, or for a send the first line of the message's
 * text. */
static void add_words(const struct roger_event *event, const struct cli_told_list *list,
		      struct rg_buf *out)
{
	const struct cli_told *told =
		event->kind == ROGER_EVENT_SENT ? cli_told_find(list, event->message) : NULL;
	const struct roger_message *message = told ? told->message : NULL;

	rg_buf_clear(out);
	if (event->seq)
		rg_buf_printf(out, "#%lld ", (long long)event->seq);
	if (event->run.length)
		rg_buf_printf(out, "%.*s: ", RG_STR_ARGS(event->run));
	if (message && message->type != ROGER_CONTEXT)
		rg_buf_printf(out, "%s: ", rg_type_names[message->type]);
	rg_buf_add_str(out, message ? rg_str_first_line(message->content) : event->words);
	if (event->kind == ROGER_EVENT_SENT && event->key.length)
		rg_buf_printf(out, ", key %.*s", RG_STR_ARGS(event->key));
	if (event->dead_letter.length && event->kind != ROGER_EVENT_DELIVERED)
		rg_buf_printf(out, ", %.*s", RG_STR_ARGS(event->dead_letter));
}

/* ------------------------------------------------------------- the table -- */

struct table {
	size_t who_columns, kind_columns;
	size_t width; /* the terminal's columns; 0: no terminal, words are not cut */
	struct cli_told_list told;
	char day[24]; /* the day of the last event */
	struct rg_buf words;
};

static void print_event(struct table *table, const struct roger_event *event)
{
	const bool narrow = table->width && table->width < NARROW;
	const size_t clock_columns = narrow ? CLOCK_NARROW : CLOCK_COLUMNS;
	const size_t before = clock_columns + 2 + table->kind_columns + 2 + table->who_columns + 2;
	const enum cli_style style = cli_look(rg_event_kind_tones, event->kind, CLI_DIM);
	size_t columns, evidence;
	char clock[24], time[CLI_TIME_BYTES] = "";

	if (strncmp(cli_time(event->at_ms, time), table->day, DAY_CHARS) != 0 && *time) {
		snprintf(table->day, sizeof table->day, "%.*s", DAY_CHARS, time);
		cli_say("%S%s%.\n", CLI_BOLD, table->day);
	}
	snprintf(clock, sizeof clock, "%.*s.%03d", CLOCK_NARROW, *time ? time + DAY_CHARS + 1 : "",
		 (int)(event->at_ms % 1000));
	clock[clock_columns] = '\0';
	if (event->undated)
		snprintf(clock, sizeof clock, narrow ? "unknown" : "not known");
	add_words(event, &table->told, &table->words);
	cli_say("%S%*s%.  %S%*s%.  ", CLI_DIM, (int)clock_columns, clock, style,
		(int)table->kind_columns, rg_event_kind_names[event->kind]);
	print_who(event, table->who_columns);
	fputs("  ", cli_out);
	columns = cli_columns(rg_buf_str(&table->words));
	evidence = 2 + event->file.length + 12;
	if (table->width && before + columns > table->width)
		cli_print_cut(cli_out, rg_buf_str(&table->words),
			      table->width > before + WORDS_LEAST ? table->width - before
								  : WORDS_LEAST);
	else
		cli_print_text(cli_out, rg_buf_str(&table->words), false);
	if (event->file.length && (!table->width || before + columns + evidence <= table->width))
		cli_say("  %S%t%(:%d%)%.", CLI_DIM, event->file, event->line);
	cli_say("\n");
}

static void measure_events(struct table *table, const struct roger_event_list *events)
{
	size_t columns, i;

	table->width = cli_screen_width();
	table->kind_columns = table->width && table->width < NARROW ? 0 : KIND_COLUMNS;
	for (i = 0; i < events->count; i++) {
		columns = strlen(rg_event_kind_names[events->items[i].kind]);
		if (columns > table->kind_columns)
			table->kind_columns = columns;
		columns = who_columns(&events->items[i]);
		if (columns > table->who_columns)
			table->who_columns = columns;
	}
	columns = !table->width ? SIZE_MAX : table->width < NARROW ? WHO_NARROW : WHO_COLUMNS_MAX;
	if (table->who_columns > columns)
		table->who_columns = columns;
}

static int print_timeline(struct cli_run *run, const struct roger_timeline_reply *reply,
			  struct roger_err *err)
{
	struct table table = { .words = { .maximum = SIZE_MAX } };
	size_t i;
	int r;

	r = cli_told_load(run->roger, reply->events.items, reply->events.count, run->arena,
			  &table.told, err);
	if (r < 0)
		return r;
	cli_print_notes(&reply->notes);
	cli_say("%S%s %t%., %d event%p\n", CLI_BOLD, rg_subject_names[reply->subject], reply->what,
		(int64_t)reply->events.count);
	if (reply->more)
		fputs("... and earlier ones; see --limit, --since and --until\n", cli_out);
	measure_events(&table, &reply->events);
	for (i = 0; i < reply->events.count; i++)
		print_event(&table, &reply->events.items[i]);
	rg_buf_deinit(&table.words);
	cli_told_free(&table.told);
	return r;
}

/* --------------------------------------------------------------- answers -- */

static int show_reply(struct cli_run *run, const struct roger_timeline_reply *reply,
		      struct roger_err *err)
{
	const struct rg_timeline_options *options = run->options;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	int r;

	if (run->form != CLI_HUMAN)
		cli_print_reply(run, cli_op_named("timeline")->reply, reply);
	else if (!options->mermaid && !run->quiet)
		return print_timeline(run, reply, err);
	if (!options->mermaid)
		return ROGER_OK;
	cli_screen_raw();
	cli_print_notes(&reply->notes);
	r = cli_add_mermaid(run->roger, reply, &text, err);
	if (r == ROGER_OK)
		fwrite(text.data, 1, text.length, cli_out);
	return r;
}

/* ---------------------------------------------------------------- follow -- */

enum { EVENTS_MAX = 100000, TIMES_MS = 5000, TIMES_COST = 100 };

/* A printed event.  It is known by a hash of its members, since its line in a file may move. */
struct known_event {
	uint64_t hash;
	int64_t look, count; /* the last look that found it, and how many equal events it found */
	int64_t printed;     /* how many equal events were printed */
};
struct following {
	struct cli_follow follow;
	struct rg_table known;
	struct table table;
	int64_t look;
	int64_t activity; /* the last line of the activity log */
	int64_t next_ns;  /* when to look anyway: time alone brings events, as a lease's end */
};

static uint64_t hash_of(const struct roger_event *event)
{
	const struct roger_str texts[] = { event->actor, event->peer,	    event->message,
					   event->run,	 event->task,	    event->issue,
					   event->key,	 event->dead_letter };
	const int64_t numbers[] = { event->at_ms, event->kind, event->seq, event->attempt };
	uint64_t hash = rg_hash(0, numbers, sizeof numbers);
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++)
		hash = rg_hash(hash + i, texts[i].data, texts[i].length);
	return hash;
}

/* Print a new event; for a send, load the text of its message. */
static int print_new(struct following *following, const struct roger_event *event,
		     struct roger_err *err)
{
	struct table *table = &following->table;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	int r = arena ? cli_told_load(following->follow.run->roger, event, 1, arena, &table->told,
				      err)
		      : rg_fail_memory(err);

	if (r == ROGER_OK) {
		print_event(table, event);
		cli_told_free(&table->told);
	}
	table->told = (struct cli_told_list){ 0 };
	return r;
}

static int see_event(struct following *following, const struct roger_event *event, bool print,
		     struct roger_err *err)
{
	const struct cli_run *run = following->follow.run;
	struct known_event *known;
	bool new;

	known = rg_table_put(&following->known, hash_of(event), &new);
	if (!known)
		return rg_fail_memory(err);
	known->count = known->look == following->look ? known->count + 1 : 1;
	known->look = following->look;
	if (known->count <= known->printed)
		return ROGER_OK;
	known->printed = known->count;
	if (print && run->form == CLI_HUMAN)
		return print_new(following, event, err);
	if (print)
		cli_print_item(run, cli_item_record("timeline"), event);
	return ROGER_OK;
}

/* Print the events that were not printed yet.  All are asked for, since a new one may be older than
 * printed ones.  The first look prints only the last `wanted`. */
static int print_news(struct following *following, int64_t wanted, struct roger_err *err)
{
	const struct cli_run *run = following->follow.run;
	RG_CLEANUP(roger_reply_free) struct roger_timeline_reply reply = { 0 };
	int64_t begun_ns = rg_clock_monotonic_ns(), cost_ns, left;
	size_t i;
	int r;

	r = roger_timeline(run->roger, run->request, &reply, err);
	if (r < 0)
		return r;
	if (!following->look++)
		measure_events(&following->table, &reply.events);
	left = (int64_t)reply.events.count - wanted;
	for (i = 0; i < reply.events.count && r == ROGER_OK; i++)
		r = see_event(following, &reply.events.items[i], (int64_t)i >= left, err);
	cost_ns = rg_clock_monotonic_ns() - begun_ns;
	following->next_ns =
		rg_clock_monotonic_ns() + TIMES_COST * cost_ns + (int64_t)TIMES_MS * 1000000;
	return r;
}

/* True if the activity log has grown: verbs write notes there after their work. */
static bool is_noted(struct following *following)
{
	const struct roger_activity_request last = { .newest = true,
						     .after = INT64_MAX,
						     .limit = 1 };
	RG_CLEANUP(roger_reply_free) struct roger_activity_reply reply = { 0 };
	int64_t before = following->activity;

	if (roger_activity(following->follow.run->roger, &last, &reply, NULL) == ROGER_OK &&
	    reply.activities.count)
		following->activity = reply.activities.items[0].line;
	return following->activity != before;
}

static bool wait_for_news(struct following *following)
{
	bool stored;

	do
		if (!cli_follow_wait(&following->follow, &stored))
			return false;
	while (!is_noted(following) && !stored && rg_clock_monotonic_ns() < following->next_ns);
	return true;
}

static int follow_timeline(struct cli_run *run, struct roger_err *err)
{
	struct roger_timeline_request *request = run->request;
	int64_t wanted = request->limit ? request->limit : CLI_FOLLOW_LAST;
	struct following following = { .table.words.maximum = SIZE_MAX };
	int r;

	r = cli_follow_begin(&following.follow, run, err);
	if (r < 0)
		return r;
	request->limit = EVENTS_MAX;
	rg_table_init(&following.known, sizeof(struct known_event));
	(void)is_noted(&following);
	do {
		r = print_news(&following, wanted, err);
		wanted = EVENTS_MAX;
	} while (r == ROGER_OK && wait_for_news(&following));
	rg_table_deinit(&following.known);
	rg_buf_deinit(&following.table.words);
	return cli_stopped() ? ROGER_OK : r;
}

/* --------------------------------------------------------------- command -- */

static int run_timeline(struct cli_run *run, struct roger_err *err)
{
	const struct rg_timeline_options *options = run->options;
	struct roger_timeline_reply reply;
	int r;

	if (options->follow && options->mermaid)
		return rg_fail(err, ROGER_EUSAGE, 0, "a picture cannot follow; leave out --follow");
	if (options->follow)
		return follow_timeline(run, err);
	if (options->mermaid && run->form != CLI_HUMAN)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "expected one of --mermaid, --json and --jsonl");
	r = roger_timeline(run->roger, run->request, &reply, err);
	if (r < 0)
		return r;
	r = show_reply(run, &reply, err);
	run->exit = reply.events.count ? CLI_DONE : CLI_NOTHING;
	roger_reply_free(&reply);
	return r;
}

CLI_COMMAND(timeline, "timeline", .paged = true, .run = run_timeline);
