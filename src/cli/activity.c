/* log: show the activity log, write to it, or take in what other tools wrote. */
#include <errno.h>

#include "base/limits.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/grid.h"
#include "data/record.h"

/* -------------------------------------------------------------- an entry -- */

/* Add the texts and numbers of details, except members that add_entry() shows and the epoch. */
static void add_rest(const struct rg_value *details, struct rg_buf *out)
{
	static const char *const told[] = { "tool", "verb", "agent", "epoch", NULL };
	const struct rg_value *value = NULL;
	struct roger_str key, text;
	size_t i = 0;

	while (rg_json_next(details, &i, &key, &value)) {
		text = rg_json_kind(value) == RG_JSON_NUMBER ? rg_json_digits(value)
							     : rg_json_str(value);
		if (rg_enum_find(told, key) < 0 && text.length)
			rg_buf_printf(out, "%s%.*s %.*s", out->length ? ", " : "", RG_STR_ARGS(key),
				      RG_STR_ARGS(text));
	}
}

/* Add a row for an entry: its time, agent, verb, task, status and message. */
static void add_entry(struct cli_grid *grid, const struct roger_activity *activity)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str who = { 0 }, tool, verb = { 0 }, rest = activity->details;
	const struct rg_value *details;
	const struct rg_json *json;

	if (rg_json_read_within(activity->details, grid->arena, &json, NULL) == ROGER_OK) {
		details = rg_json_root(json);
		who = rg_json_str(rg_json_member(details, "agent"));
		tool = rg_json_str(rg_json_member(details, "tool"));
		who = who.length ? who : rg_str_is(tool, "roger") ? RG_STR("-") : tool;
		verb = rg_json_str(rg_json_member(details, "verb"));
		add_rest(details, &text);
		(void)!rg_arena_keep(grid->arena, &text, &rest);
	}
	cli_grid_say(grid, CLI_DIM, CLI_WHOLE, "%w", activity->at_ms);
	cli_grid_say(grid, CLI_BOLD, 0, "%t", who);
	cli_grid_say(grid, CLI_PLAIN, 0, "%t",
		     verb.length ? verb : rg_str(rg_action_names[activity->type]));
	cli_grid_say(grid, CLI_PLAIN, 0, "%t", activity->task);
	cli_grid_say(grid, cli_look(rg_status_tones, activity->status, CLI_PLAIN), CLI_WHOLE, "%s",
		     rg_status_names[activity->status]);
	cli_grid_say(grid, CLI_PLAIN, 0, "%t%s%t%(  evidence: %t%)", activity->message,
		     activity->message.length && rest.length ? "; " : "", rest, activity->evidence);
}

static void print_entries(const struct roger_activity_list *activities)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct cli_grid grid = { .arena = arena, .columns = 6 };
	size_t i;

	if (!arena)
		cli_term_lose(ENOMEM);
	for (i = 0; arena && i < activities->count; i++)
		add_entry(&grid, &activities->items[i]);
	cli_grid_print(cli_out, &grid);
}

static void print_bad_lines(const struct roger_bad_line_list *lines)
{
	size_t i;

	for (i = 0; i < lines->count; i++)
		cli_say_to(stderr, "%(%t, %)line %d: %t\n", lines->items[i].file,
			   lines->items[i].line, lines->items[i].what);
}

/* ------------------------------------------------------------------- log -- */

static int run_import(struct cli_run *run, struct roger_err *err)
{
	const struct roger_log_request *given = run->request;
	const struct rg_log_options *options = run->options;
	struct roger_log_import_request request = { .dry_run = options->dry_run };
	RG_CLEANUP(roger_reply_free) struct roger_log_import_reply reply = { 0 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const char *path = options->import.data;
	int r;

	if (given->task.length || given->entry.length)
		return rg_fail(err, ROGER_EUSAGE, 0, "--import takes entries from its file only");
	r = cli_read_input(strcmp(path, "-") == 0 ? NULL : path, "import", RG_IMPORT_BYTES_MAX,
			   &text, err);
	request.text = rg_buf_str(&text);
	if (r == ROGER_OK && text.length)
		r = roger_log_import(run->roger, &request, &reply, err);
	cli_progress_end();
	if (r < 0)
		return r;
	run->exit = reply.bad ? CLI_DATA : CLI_DONE;
	if (run->form != CLI_HUMAN)
		cli_print_reply(run, cli_op_named("log_import")->reply, &reply);
	else
		print_bad_lines(&reply.lines);
	if (cli_answers_people(run))
		cli_say("%d entr%s imported%s, %d bad line%p\n", reply.imported,
			reply.imported == 1 ? "y" : "ies",
			options->dry_run ? " (dry run: nothing stored)" : "", reply.bad);
	return ROGER_OK;
}

static void print_logged(const struct cli_run *run)
{
	print_entries(&((const struct roger_activity_reply *)run->reply)->activities);
}

static int run_log(struct cli_run *run, struct roger_err *err)
{
	const struct rg_log_options *options = run->options;
	struct roger_log_request *request = run->request;
	int r;

	if (options->import.data)
		return run_import(run, err);
	if (options->dry_run)
		return rg_fail(err, ROGER_EUSAGE, 0, "--dry-run needs --import");
	if (!rg_str_is(request->task, "-"))
		return cli_call(run, err);
	/* The entry itself comes on standard input. */
	r = cli_read_text(NULL, "entry", RG_LINE_BYTES_MAX, run->arena, &request->entry, err);
	if (r == ROGER_OK && request->entry.length == 0)
		r = rg_fail_member(err, ROGER_EDATA, "entry",
				   "entry: expected a JSON object on standard input");
	request->task.length = 0;
	return r == ROGER_OK ? cli_call(run, err) : r;
}

extern const struct cli_command cli_activity;
CLI_COMMAND(log, "log", .paged = true, .summary = "show the activity log, or write an entry",
	    .else_is = &cli_activity, .run = run_log, .print = print_logged);

/* -------------------------------------------------------------- activity -- */

/* A list that is printed page by page. */
struct listing {
	struct cli_run *run;
	int64_t printed;
	int64_t next; /* 0: that was all */
	bool started;
	struct rg_buf lines; /* bad lines, for the end of --json */
};

static void print_list(struct listing *listing, const struct roger_activity_list *activities)
{
	const struct cli_run *run = listing->run;
	size_t i;

	if (cli_answers_people(run))
		print_entries(activities);
	for (i = 0; i < activities->count; i++, listing->printed++) {
		if (run->form == CLI_JSON && listing->printed)
			fputc(',', cli_out);
		if (run->form != CLI_HUMAN)
			cli_print_item(run, cli_item_record("activity"), &activities->items[i]);
	}
}

static int print_page(struct listing *listing, struct roger_err *err)
{
	struct cli_run *run = listing->run;
	RG_CLEANUP(roger_reply_free) struct roger_activity_reply reply = { 0 };
	size_t i;
	int r;

	r = roger_activity(run->roger, run->request, &reply, err);
	if (r < 0)
		return r;
	if (run->form == CLI_JSON && !listing->started)
		fputs(CLI_FORMAT ",\"activities\":[", cli_out);
	listing->started = true;
	print_list(listing, &reply.activities);
	if (run->form != CLI_JSON && !run->quiet)
		print_bad_lines(&reply.lines);
	/* The bad lines of all pages go into one array after the activities. */
	for (i = 0; run->form == CLI_JSON && i < reply.lines.count; i++) {
		rg_buf_add_text(&listing->lines, listing->lines.length ? "," : "");
		rg_words_encode(&rg_bad_line_record, &reply.lines.items[i], &listing->lines);
	}
	listing->next = reply.next;
	return ROGER_OK;
}

static void print_end(struct listing *listing)
{
	const struct cli_run *run = listing->run;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	if (run->form == CLI_JSON) {
		rg_buf_add_text(&text, "],\"lines\":[");
		rg_buf_add_str(&text, rg_buf_str(&listing->lines));
		rg_buf_printf(&text, "],\"more\":%s", listing->next ? "true" : "false");
		if (listing->next)
			rg_buf_printf(&text, ",\"next\":%lld", (long long)listing->next);
		cli_add_damage(run->roger, &text);
		rg_buf_add_char(&text, '}');
		cli_print_json(cli_out, &text);
	} else if (cli_answers_people(run) && listing->next) {
		fprintf(cli_out, "go on with --after %lld\n", (long long)listing->next);
	} else if (cli_answers_people(run) && listing->printed == 0) {
		fputs("no entries\n", cli_out);
	}
}

/* ---------------------------------------------------------------- follow -- */

/* Find the line after which --follow starts, before the last --limit entries; 0: show all. */
static int find_start(const struct cli_run *run, int64_t *ret_line, struct roger_err *err)
{
	struct roger_activity_request request = *(struct roger_activity_request *)run->request;
	RG_CLEANUP(roger_reply_free) struct roger_activity_reply reply = { 0 };
	int64_t wanted = request.limit ? request.limit : CLI_FOLLOW_LAST;
	int r;

	*ret_line = 0;
	if (wanted < 0 || wanted >= RG_PAGE_MAX)
		return rg_fail_member(err, ROGER_EUSAGE, "limit", "limit: expected 1 to %d",
				      RG_PAGE_MAX - 1);
	request.newest = true;
	request.limit = wanted + 1;
	r = roger_activity(run->roger, &request, &reply, err);
	if (r == ROGER_OK && (int64_t)reply.activities.count > wanted)
		*ret_line = reply.activities.items[wanted].line;
	return r;
}

/* Print the entries after *line.  Each page begins with the entry that was printed last.  If that
 * line is missing, the log was replaced: *line becomes 0, and the log is shown from its start. */
static int print_news(struct listing *listing, int64_t *line, bool *ret_more, struct roger_err *err)
{
	struct roger_activity_request request =
		*(struct roger_activity_request *)listing->run->request;
	RG_CLEANUP(roger_reply_free) struct roger_activity_reply reply = { 0 };
	struct roger_activity_list *list = &reply.activities;
	int r;

	request.after = *line ? *line - 1 : 0;
	request.limit = RG_PAGE_MAX;
	r = roger_activity(listing->run->roger, &request, &reply, err);
	if (r < 0)
		return r;
	*ret_more = reply.more;
	if (*line && (!list->count || list->items->line != *line)) {
		*line = 0;
		*ret_more = true;
		return ROGER_OK;
	}
	if (*line) {
		list->items++;
		list->count--;
	}
	if (list->count)
		*line = list->items[list->count - 1].line;
	print_list(listing, list);
	return ROGER_OK;
}

static int follow_log(struct cli_run *run, struct roger_err *err)
{
	const struct roger_activity_request *request = run->request;
	struct listing listing = { .run = run };
	struct cli_follow follow;
	int64_t line;
	bool more, stored;
	int r;

	if (request->newest || request->after)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "--follow starts at the end: expected neither --newest nor "
			       "--after");
	r = cli_follow_begin(&follow, run, err);
	if (r < 0)
		return r;
	r = find_start(run, &line, err);
	while (r == ROGER_OK) {
		r = print_news(&listing, &line, &more, err);
		if (r == ROGER_OK && !more && !cli_follow_wait(&follow, &stored))
			break;
	}
	return cli_stopped() ? ROGER_OK : r;
}

/* ----------------------------------------------------------------- pages -- */

/* A page has at most RG_PAGE_MAX entries; a larger limit, or none, needs several pages. */
static int run_activity(struct cli_run *run, struct roger_err *err)
{
	struct roger_activity_request *request = run->request;
	int64_t wanted = request->limit, left;
	struct listing listing = { .run = run, .lines = { .maximum = SIZE_MAX } };
	int r;

	if (((const struct rg_activity_options *)run->options)->follow)
		return follow_log(run, err);
	do {
		left = wanted - listing.printed;
		request->limit = wanted && left < RG_PAGE_MAX ? left : RG_PAGE_MAX;
		r = print_page(&listing, err);
		request->after = listing.next;
	} while (r == ROGER_OK && listing.next && (!wanted || listing.printed < wanted) &&
		 !cli_term_lost());
	if (r == ROGER_OK)
		print_end(&listing);
	run->exit = listing.printed ? CLI_DONE : CLI_NOTHING;
	rg_buf_deinit(&listing.lines);
	return r;
}

CLI_COMMAND(activity, "log activity", .verb = "activity", .paged = true, .run = run_activity);
