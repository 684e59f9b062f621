/* trust: shown, asked about on the terminal, and then written down. */
#include <unistd.h>

#include "cli/command.h"
#include "cli/term.h"
#include "data/record.h"

static const struct cli_option options[] = {
	{ "show", NULL, "only show it, with the SHA-256 that --accept takes" },
	{ 0 },
};

static void print_mark(bool trusted)
{
	fprintf(cli_out, "  %s%s%s  ", cli_style(trusted ? CLI_GREEN : CLI_YELLOW),
		trusted ? "trusted    " : "not trusted", cli_style(CLI_PLAIN));
}

static void print_list(struct roger_strs words)
{
	size_t i;

	for (i = 0; i < words.count; i++) {
		if (i)
			fputc(' ', cli_out);
		cli_print_text(cli_out, words.items[i], false);
	}
	fputc('\n', cli_out);
}

static void print_command(const struct roger_trust_command *command)
{
	print_mark(command->trusted);
	cli_print_text(cli_out, command->setting, false);
	fputs(" runs: ", cli_out);
	print_list(command->words);
	if (!command->files.count)
		fputs("                 names no file of the workspace: what it starts may "
		      "change\n",
		      cli_out);
	if (command->files.count) {
		fputs("                 with the files: ", cli_out);
		print_list(command->files);
	}
}

static void print_place(const struct roger_trust_place *place)
{
	print_mark(place->trusted);
	cli_print_text(cli_out, place->setting, false);
	fputs(" writes to: ", cli_out);
	cli_print_text(cli_out, place->path, false);
	fputc('\n', cli_out);
}

static void print_asked(const struct roger_trust_reply *reply)
{
	size_t i;

	cli_print_text(cli_out, reply->workspace, false);
	if (reply->owner != (int64_t)geteuid())
		fprintf(cli_out, " (of user id %lld)", (long long)reply->owner);
	fputc('\n', cli_out);
	print_mark(reply->mailbox);
	fputs("its mail is shown to agents by hooks, prime and mcp\n", cli_out);
	for (i = 0; i < reply->commands.count; i++)
		print_command(&reply->commands.items[i]);
	for (i = 0; i < reply->places.count; i++)
		print_place(&reply->places.items[i]);
}

static void print_workspaces(const struct roger_trust_workspaces *workspaces)
{
	const struct roger_trust_workspace *workspace;
	size_t i;

	for (i = 0; i < workspaces->count; i++) {
		workspace = &workspaces->items[i];
		cli_print_time(cli_out, workspace->accepted_at_ms);
		fprintf(cli_out, "  %2lld command%-1s  ", (long long)workspace->commands,
			rg_plural(workspace->commands));
		cli_print_text(cli_out, workspace->workspace, false);
		fputs(workspace->there ? "\n" : "  (gone, or another one by now)\n", cli_out);
	}
	if (!workspaces->count)
		fputs("no workspace is trusted\n", cli_out);
}

static void print(const struct cli_run *run, const struct roger_trust_request *request,
		  const struct roger_trust_reply *reply)
{
	if (run->form != CLI_HUMAN) {
		cli_print_reply(run, cli_op(run->command)->reply, reply);
	} else if (request->list) {
		print_workspaces(&reply->workspaces);
	} else if (request->revoke) {
		fputs(reply->changed ? "no longer trusted: " : "was not trusted: ", cli_out);
		cli_print_text(cli_out, reply->workspace, false);
		fputc('\n', cli_out);
	} else {
		print_asked(reply);
	}
}

static bool is_agreed(void)
{
	char answer[16] = "";

	cli_term_flush();
	fprintf(stderr, "trust this? [y/N] ");
	return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int call(struct cli_run *run, const struct roger_trust_request *request,
		struct roger_err *err)
{
	struct roger_trust_reply reply = { 0 };
	int r;

	r = roger_trust(request, &reply, err);
	if (r < 0)
		return r;
	print(run, request, &reply);
	roger_reply_free(&reply);
	return ROGER_OK;
}

/* What is not trusted yet is asked about, where somebody can answer. */
static int ask(struct cli_run *run, struct roger_trust_request *request, int *ret_exit,
	       struct roger_err *err)
{
	struct roger_trust_reply reply = { 0 };
	bool may_ask = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && run->form == CLI_HUMAN;
	int r;

	r = roger_trust(request, &reply, err);
	if (r < 0)
		return r;
	print(run, request, &reply);
	if (!reply.trusted && !may_ask && run->form == CLI_HUMAN)
		fprintf(cli_out, "to trust all of this: roger trust --accept %.*s\n",
			RG_STR_ARGS(reply.sha256));
	*ret_exit = reply.trusted || cli_given(run, "show") ? CLI_DONE : CLI_REFUSED;
	if (!reply.trusted && may_ask && !cli_given(run, "show") && is_agreed()) {
		request->accept = reply.sha256;
		r = call(run, request, err);
		*ret_exit = CLI_DONE;
	}
	roger_reply_free(&reply);
	return r;
}

static int run_trust(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	struct roger_trust_request *request = run->request;

	/* --workspace names the folder; a word that follows wins. */
	if (run->workspace && !request->path.length)
		request->path = rg_str(run->workspace);
	if (cli_given(run, "show") && (request->accept.length || request->revoke || request->list))
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "expected one of --show, --accept, --revoke and --list");
	*ret_exit = CLI_DONE;
	if (request->accept.length || request->revoke || request->list)
		return call(run, request, err);
	return ask(run, request, ret_exit, err);
}

const struct cli_command cli_trust = { .name = "trust", .options = options, .run = run_trust };
