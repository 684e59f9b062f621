/* setup: show the changes, ask, then make them. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

/* ---------------------------------------------------------------- showing -- */

/* Print a diff, indented, in colours. */
static void print_diff(struct roger_str diff)
{
	static const enum cli_style styles[128] = {
		['+'] = CLI_GREEN, ['-'] = CLI_RED, ['@'] = CLI_CYAN
	};
	struct roger_str line;

	while (rg_str_next_line(&diff, &line)) {
		cli_say("  %S", styles[*line.data & 0x7f]);
		cli_print_text(cli_out, line, true);
		cli_say("%.\n");
	}
}

static void print_files(const struct roger_setup_reply *reply, bool done)
{
	const struct roger_setup_file *file = reply->files.items;
	const struct roger_setup_file *end = file + reply->files.count;

	for (; file < end; file++) {
		const bool left = file->action == ROGER_SETUP_LEFT;

		cli_say("%S%t%.: %s%s", CLI_BOLD, file->file,
			left || done || file->action == ROGER_SETUP_SAME ? "" : "to be ",
			rg_setup_action_labels[file->action]);
		if (file->trouble.length && !left)
			cli_say(", but");
		cli_say("%(: %S%t%.%)\n", CLI_YELLOW, file->trouble);
		if (!done)
			print_diff(file->diff);
	}
}

/* Print what is left for a person to do. */
static void print_next(const struct roger_setup_reply *reply)
{
	static const char *const next[] = {
		"claude: say yes when it asks whether to use the server roger",
		"codex: trust the folder, and the hooks with /hooks; until then they do not run",
		"codex: keep `roger wake` running somewhere, to have it woken by mail",
		"gemini: trust the folder; until then it shows no servers at all",
		"copilot: trust the folder; until then it runs no hooks of it",
	};
	size_t i;

	if (reply->not_on_path)
		fputs("note: roger is not along PATH (npm's launcher does not count); put it "
		      "there, so that tools find it\n",
		      cli_out);
	for (i = 0; i < sizeof next / sizeof *next; i++)
		if (rg_str_among(reply->tools,
				 (struct roger_str){ next[i], strcspn(next[i], ":") }))
			fprintf(cli_out, "%s\n", next[i]);
	fputs("then `roger doctor` tries each link\n", cli_out);
}

/* CLI_REFUSED: a person must see to a file that was left as it is. */
static int exit_of(const struct cli_run *run)
{
	const struct roger_setup_reply *reply = run->reply;
	size_t i;

	for (i = 0; i < reply->files.count; i++)
		if (reply->files.items[i].trouble.length)
			return CLI_REFUSED;
	return CLI_DONE;
}

/* Print what was done, or where the request is a dry run or changes nothing, what would be. */
static void print_setup(const struct cli_run *run)
{
	const struct roger_setup_request *request = run->request;
	const struct roger_setup_reply *reply = run->reply;

	if (request->print.length) {
		cli_print_text(cli_out, reply->printed, true);
	} else if (request->remove && !reply->changes && exit_of(run) == CLI_DONE) {
		fputs("nothing of roger is there\n", cli_out);
	} else {
		print_files(reply, !request->dry_run);
		if (!request->dry_run && !request->remove)
			print_next(reply);
	}
}

static bool is_agreed(const struct cli_run *run, const struct roger_setup_reply *plan)
{
	if (((const struct rg_setup_options *)run->options)->yes)
		return true;
	if (run->form != CLI_HUMAN)
		return false;
	print_files(plan, false);
	cli_term_flush();
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return cli_is_agreed("write this?");
	fputs("nothing is written: say it again with --yes\n", stderr);
	return false;
}

static int run_setup(struct cli_run *run, struct roger_err *err)
{
	struct roger_setup_request *request = run->request;
	const bool dry_run = request->dry_run;
	struct roger_setup_reply reply = { 0 };
	int r;

	request->dry_run = true;
	r = roger_setup(request, &reply, err);
	if (r == ROGER_OK && !dry_run && reply.changes) {
		if (!is_agreed(run, &reply)) {
			if (run->form == CLI_HUMAN)
				roger_reply_free(&reply);
			else
				cli_answer(run, &reply);
			run->exit = CLI_NOTHING;
			return ROGER_OK;
		}
		roger_reply_free(&reply);
		request->dry_run = false;
		umask(cli_file_mask);
		r = roger_setup(request, &reply, err);
		umask(077);
	}
	/* --quiet is about what was done; a plan is what was asked for. */
	run->quiet &= !request->dry_run;
	if (r == ROGER_OK)
		cli_answer(run, &reply);
	return r;
}

CLI_COMMAND(setup, "setup", .run = run_setup, .print = print_setup, .exit_of = exit_of);
