/* trust: show what there is, ask on the terminal, then record the answers. */
#include <unistd.h>

#include "cli/command.h"

static void print_trusted(bool trusted)
{
	cli_say("  %S%-11s%.  ", trusted ? CLI_GREEN : CLI_YELLOW,
		trusted ? "trusted" : "not trusted");
}

static void print_list(struct roger_strs words)
{
	size_t i;

	for (i = 0; i < words.count; i++)
		cli_say(i ? " %q" : "%q", words.items[i]);
	cli_say("\n");
}

static void print_command(const struct roger_trust_command *command)
{
	print_trusted(command->trusted);
	cli_say("%q runs: ", command->setting);
	print_list(command->words);
	cli_say("                 %s",
		command->files.count ? "with the files: "
		: command->in_root   ? "names a folder of the workspace: what is in it may "
				       "change"
				     : "names no file of the workspace: it runs in .roger/, "
				       "and what it starts may change");
	print_list(command->files);
}

static void print_tracked(const struct roger_trust_reply *reply)
{
	enum { SHOWN = 10 };
	size_t i;

	if (!reply->tracked.count)
		return;
	print_trusted(reply->tracked_trusted);
	fputs("git tracks, so whoever can push may write:\n", cli_out);
	for (i = 0; i < reply->tracked.count && i < SHOWN; i++)
		cli_say("                 %q\n", reply->tracked.items[i]);
	if (i < reply->tracked.count)
		cli_say("                 and %d more\n", (int64_t)(reply->tracked.count - i));
}

static void print_asked(const struct roger_trust_reply *reply)
{
	const struct roger_trust_place *place = reply->places.items;
	size_t i;

	cli_say(reply->owner == (int64_t)geteuid() ? "%q\n" : "%q (of user id %d)\n",
		reply->workspace, reply->owner);
	print_trusted(reply->mailbox);
	fputs("its mail is shown to agents by hooks, prime and mcp\n", cli_out);
	for (i = 0; i < reply->commands.count; i++)
		print_command(&reply->commands.items[i]);
	/* Usual places are shown only if there is something to decide about them. */
	for (i = 0; i < reply->places.count; i++, place++)
		if (!place->usual || (!place->trusted && reply->mailbox)) {
			print_trusted(place->trusted);
			cli_say("%q is '%q', says %q\n", place->setting, place->path,
				place->origin);
		}
	print_tracked(reply);
	if (reply->seal_key.length && !reply->seal_key_trusted) {
		print_trusted(false);
		cli_say("it is sealed with another key than before: %t\n", reply->seal_key);
	}
	cli_say("%(%t\n%)", reply->why);
}

static void print_workspaces(const struct roger_trust_workspace_list *workspaces)
{
	const struct roger_trust_workspace *workspace;
	size_t i;

	for (i = 0; i < workspaces->count; i++) {
		workspace = &workspaces->items[i];
		cli_say("%w  %2d command%-1s  %t%s\n", workspace->accepted_at_ms,
			workspace->commands, rg_plural(workspace->commands), workspace->workspace,
			workspace->there ? "" : "  (gone, or another one by now)");
	}
	if (!workspaces->count)
		fputs("no workspace is trusted\n", cli_out);
}

/* Print the answer for people; --quiet leaves out all but a plan, which is asked for. */
static void print_answer(const struct cli_run *run, const struct roger_trust_request *request,
			 const struct roger_trust_reply *reply)
{
	if (run->quiet && (request->list || request->revoke || request->accept.length))
		return;
	if (request->list)
		print_workspaces(&reply->workspaces);
	else if (request->revoke)
		cli_say("%s: %t\n", reply->changed ? "no longer trusted" : "was not trusted",
			reply->workspace);
	else
		print_asked(reply);
}

/* Call the verb; first ask about what is not trusted yet, if somebody can answer. */
static int call_trust(struct cli_run *run, struct roger_trust_request *request, bool ask,
		      struct roger_err *err)
{
	const bool shows = ((const struct rg_trust_options *)run->options)->show;
	bool may_ask = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && run->form == CLI_HUMAN;
	RG_CLEANUP(roger_reply_free) struct roger_trust_reply reply = { 0 };
	int r;

	r = roger_trust(request, &reply, err);
	if (r < 0)
		return r;
	if (run->form != CLI_HUMAN)
		cli_print_reply(run, cli_op(run->command)->reply, &reply);
	else
		print_answer(run, request, &reply);
	run->exit = request->list && !reply.workspaces.count ? CLI_NOTHING : CLI_DONE;
	if (ask && !reply.trusted) {
		if (!may_ask && run->form == CLI_HUMAN)
			cli_say("to trust all of this: roger trust --accept %t\n", reply.sha256);
		run->exit = shows ? CLI_DONE : CLI_REFUSED;
		request->accept = reply.sha256;
		if (may_ask && !shows && cli_is_agreed("trust this?"))
			r = call_trust(run, request, false, err);
	}
	return r;
}

static int run_trust(struct cli_run *run, struct roger_err *err)
{
	struct roger_trust_request *request = run->request;
	bool changes = request->accept.length || request->revoke || request->list;

	/* --workspace names the folder; a word that follows wins. */
	if (run->workspace && !request->path.length)
		request->path = rg_str(run->workspace);
	if (((const struct rg_trust_options *)run->options)->show && changes)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "expected one of --show, --accept, --revoke and --list");
	return call_trust(run, request, !changes, err);
}

CLI_COMMAND(trust, "trust", .run = run_trust);
