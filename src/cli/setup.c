/* setup: shown first, asked about, and then done. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/term.h"
#include "data/record.h"

static const struct cli_option options[] = {
	{ "yes", NULL, "do not ask" },
	{ 0 },
};

/* ---------------------------------------------------------------- showing -- */

static enum cli_style style_of(char sign)
{
	return sign == '+' ? CLI_GREEN : sign == '-' ? CLI_RED : sign == '@' ? CLI_CYAN : CLI_PLAIN;
}

static void print_diff(struct roger_str diff)
{
	const char *line = diff.data, *end = diff.data + diff.length, *stop;

	for (; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		cli_say("  %S", style_of(*line));
		cli_print_text(cli_out, (struct roger_str){ line, (size_t)(stop - line) }, true);
		cli_say("%.\n");
	}
}

static void print_file(const struct roger_setup_file *file, bool done)
{
	static const char *const was[] = { "",	      "is as it should be", "made", "changed",
					   "removed", "left as it is" };
	static const char *const will[] = { "",
					    "is as it should be",
					    "to be made",
					    "to be changed",
					    "to be removed",
					    "left as it is" };

	cli_say("%S%t%.: %s", CLI_BOLD, file->file, (done ? was : will)[file->action]);
	if (file->trouble.length)
		cli_say("%s: %S%t%.", file->action == ROGER_SETUP_LEFT ? "" : ", but", CLI_YELLOW,
			file->trouble);
	cli_say("\n");
	if (!done)
		print_diff(file->diff);
}

static void print_files(const struct roger_setup_reply *reply, bool done)
{
	size_t i;

	for (i = 0; i < reply->files.count; i++)
		print_file(&reply->files.items[i], done);
}

static bool names_tool(const struct roger_setup_reply *reply, const char *tool)
{
	return rg_str_among(reply->tools, rg_str(tool));
}

/* What is left for a person to do. */
static void print_next(const struct roger_setup_reply *reply)
{
	if (reply->not_on_path)
		fputs("note: roger is not along PATH (npm's launcher does not count); put it "
		      "there, so that tools find it\n",
		      cli_out);
	if (names_tool(reply, "claude"))
		fputs("claude: say yes when it asks whether to use the server roger\n", cli_out);
	if (names_tool(reply, "codex"))
		fputs("codex: trust the folder, and the hooks with /hooks; until then they do not "
		      "run\n"
		      "codex: keep `roger wake` running somewhere, to have it woken by mail\n",
		      cli_out);
	if (names_tool(reply, "gemini"))
		fputs("gemini: trust the folder; until then it shows no servers at all\n", cli_out);
	fputs("then `roger doctor` tries each link\n", cli_out);
}

/* A file that was left as it is needs a person. */
static int exit_of(const struct cli_run *run, const void *reply_)
{
	const struct roger_setup_reply *reply = reply_;
	size_t i;

	(void)run;
	for (i = 0; i < reply->files.count; i++)
		if (reply->files.items[i].trouble.length)
			return CLI_REFUSED;
	return CLI_DONE;
}

/* ----------------------------------------------------------------- asking -- */

static bool is_agreed(const struct cli_run *run, const struct roger_setup_reply *plan)
{
	if (cli_given(run, "yes"))
		return true;
	print_files(plan, false);
	cli_term_flush();
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fputs("nothing is written: say it again with --yes\n", stderr);
		return false;
	}
	return cli_is_agreed("write this?");
}

static void print_done(const struct cli_run *run, const void *reply)
{
	print_files(reply, true);
	if (!((const struct roger_setup_request *)run->request)->remove)
		print_next(reply);
}

static int carry_out(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	struct roger_setup_reply reply = { 0 };
	int r;

	umask(cli_file_mask);
	r = roger_setup(run->request, &reply, err);
	umask(077);
	if (r == ROGER_OK)
		cli_answer(run, &reply, ret_exit);
	return r;
}

static int run_setup(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	const struct roger_setup_request *request = run->request;
	struct roger_setup_request dry = *request;
	RG_CLEANUP(roger_reply_free) struct roger_setup_reply plan = { 0 };
	int r;

	dry.dry_run = true;
	r = roger_setup(&dry, &plan, err);
	if (r < 0)
		return r;
	*ret_exit = exit_of(run, &plan);
	if (request->dry_run || !plan.changes) {
		if (run->form != CLI_HUMAN)
			cli_print_reply(run, cli_op(run->command)->reply, &plan);
		else if (request->remove && !plan.changes && *ret_exit == CLI_DONE)
			fputs("nothing of roger is there\n", cli_out);
		else
			print_files(&plan, false);
	} else if (is_agreed(run, &plan)) {
		r = carry_out(run, ret_exit, err);
	} else {
		*ret_exit = CLI_NOTHING;
	}
	return r;
}

const struct cli_command cli_setup = { .name = "setup",
				       .options = options,
				       .run = run_setup,
				       .print = print_done,
				       .exit_of = exit_of };
