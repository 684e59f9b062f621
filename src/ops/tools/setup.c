/* setup: put roger into the settings of agents' tools, and take it out again. */
#include <stdio.h>
#include <unistd.h>

#include "data/diff.h"
#include "ops/tools/setup.h"
#include "ops/tools/trust.h"
#include "host/file.h"
#include "host/outside.h"

enum { CONTEXT_LINES = 2 };

#define TOOLS_OR "claude, codex, gemini, opencode, copilot, qwen or kilo"

/* ------------------------------------------------------------ carrying out -- */

static enum roger_setup_action action_of(const struct rg_setup_plan *plan,
					 const struct rg_setup_target *target)
{
	if (rg_str_equal(target->before, target->text))
		return target->trouble.length ? ROGER_SETUP_LEFT : ROGER_SETUP_SAME;
	/* A file that setup made goes when it is empty. */
	if (plan->request->remove && target->changed.made &&
	    (!target->text.length || rg_str_is(target->text, "{}\n")))
		return ROGER_SETUP_REMOVED;
	return target->there ? ROGER_SETUP_CHANGED : ROGER_SETUP_MADE;
}

/*
 * Trust the command that was just put into the configuration with a person's consent:
 * these words only, and no others that may be configured in its place.
 */
static int trust_wake(struct rg_setup_plan *plan, struct roger_err *err)
{
	RG_CLEANUP(rg_config_freep) struct rg_config *config = NULL;
	struct roger_str text;
	int r;

	if (!(plan->tools >> CLI_HOOK_CODEX & 1) || plan->request->scope == ROGER_SETUP_USER)
		return ROGER_OK;
	text = rg_setup_fill_in(plan, "codex", NULL, rg_setup_codex_wake);
	r = rg_kept(text.length, err);
	if (r == ROGER_OK)
		r = rg_config_new(&config, err);
	if (r == ROGER_OK)
		r = rg_config_read(config, text, "setup", false, err);
	return r < 0 ? r
		     : rg_trust_add_command(plan->home, config->wake_agents->words, plan->arena,
					    err);
}

/*
 * Write the targets and the record.  The record is written first, so that everything can be
 * undone; when removing, last.
 */
static int carry_out(struct rg_setup_plan *plan, struct roger_err *err)
{
	const bool remove = plan->request->remove;
	const struct rg_setup_target *target = plan->targets;
	size_t i;
	int r = remove ? ROGER_OK : rg_setup_record_write(plan, err);

	for (i = 0; i < plan->target_count && r == ROGER_OK; i++, target++) {
		const char *path = target->changed.file.data;

		if (action_of(plan, target) == ROGER_SETUP_REMOVED)
			r = rg_outside_remove(path, target->changed.folders, err);
		else if (!rg_str_equal(target->before, target->text))
			r = rg_outside_put(path, &target->before, target->text, err);
	}
	if (r < 0)
		return r;
	return remove ? rg_setup_record_write(plan, err) : trust_wake(plan, err);
}

/* --------------------------------------------------------------- the verb -- */

static void report_files(const struct rg_setup_plan *plan, struct roger_setup_reply *reply)
{
	const struct rg_setup_target *target = plan->targets;
	size_t i;

	for (i = 0; i < plan->target_count; i++, target++) {
		struct rg_buf diff = { .maximum = SIZE_MAX };
		struct roger_setup_file file = { .file = target->changed.file,
						 .action = action_of(plan, target),
						 .trouble = target->trouble };

		/* A file that is missing, and may be, is not reported. */
		if (file.action == ROGER_SETUP_SAME && !target->there)
			continue;
		rg_diff(target->before, target->text, CONTEXT_LINES, &diff);
		file.diff = rg_arena_take(plan->arena, &diff);
		(void)!rg_arena_append(plan->arena, &reply->files.items, &reply->files.count, &file,
				       sizeof file);
		reply->changes +=
			file.action != ROGER_SETUP_SAME && file.action != ROGER_SETUP_LEFT;
	}
}

/* Find the tools: those named, else the installed ones; when removing, else all. */
static int find_tools(struct rg_setup_plan *plan, struct roger_setup_reply *reply,
		      struct roger_err *err)
{
	const struct roger_strs named = plan->request->tools;
	const bool remove = plan->request->remove;
	char path[RG_SETUP_PATH_BYTES];
	const char *name;
	size_t i;
	int tool;

	for (i = 0; i < named.count; i++) {
		tool = rg_enum_find(rg_hook_tool_names, named.items[i]);
		if (tool <= 0 || tool >= RG_SETUP_TOOLS_END)
			return rg_fail_member(err, ROGER_EUSAGE, "tools",
					      "unknown tool '%.*s'; expected " TOOLS_OR
					      "; of another, `roger setup --print` says what to "
					      "paste",
					      RG_STR_ARGS(named.items[i]));
		plan->tools |= 1u << tool;
	}
	for (tool = 1; tool < RG_SETUP_TOOLS_END; tool++) {
		name = rg_hook_tool_names[tool];
		if (!named.count && (remove || rg_outside_along_path(name, ".", path)))
			plan->tools |= 1u << tool;
		if (plan->tools >> tool & 1)
			(void)!rg_arena_add(plan->arena, &reply->tools, rg_str(name));
	}
	return plan->tools ? ROGER_OK
			   : rg_fail(err, ROGER_ENOENT, 0,
				     "none of the tools is installed; name the one you want set "
				     "up: " TOOLS_OR);
}

/* Find the project: the folder of the workspace, else of the repository, else this one. */
static int find_root(struct rg_setup_plan *plan, bool *ret_made, struct roger_err *err)
{
	struct rg_workspace *workspace = NULL;
	char folder[RG_SETUP_PATH_BYTES], why[RG_WHY_BYTES];
	struct rg_worktree tree;
	bool broken;
	int r;

	r = rg_workspace_open(NULL, &workspace, err);
	if (r == ROGER_OK) {
		snprintf(plan->home, sizeof plan->home, "%s", workspace->root);
		/* A tool reads the settings of the worktree that it runs in. */
		snprintf(plan->root, sizeof plan->root, "%s",
			 workspace->tree.base[0] ? workspace->tree.base : workspace->root);
		rg_workspace_close(workspace);
		return ROGER_OK;
	}
	broken = r == ROGER_ECONFIG && plan->request->remove;
	if (!broken && (r != ROGER_ENOENT || plan->request->scope == ROGER_SETUP_USER))
		return r == ROGER_ENOENT ? ROGER_OK : r;
	if (!getcwd(plan->root, sizeof plan->root))
		return rg_fail(err, ROGER_EIO, 0, "the current folder is unknown");
	/* Removing works with a broken configuration, which setup itself may have caused. */
	snprintf(folder, sizeof folder, "%s", plan->root);
	if (rg_outside_climb(folder, broken ? ".roger" : ".git"))
		snprintf(plan->root, sizeof plan->root, "%s", folder);
	r = rg_workspace_home(plan->root, plan->home, &tree, err);
	if (r < 0 || plan->request->remove)
		return r;
	*ret_made = true;
	if (plan->request->dry_run)
		return ROGER_OK;
	r = rg_workspace_make(plan->root, ret_made, plan->home, why, err);
	if (r == ROGER_OK && !tree.base[0])
		snprintf(plan->root, sizeof plan->root, "%s", plan->home);
	return r;
}

/* Print settings for a person to paste; they name roger as settings for all projects do. */
static int print_settings(const struct rg_setup_plan *plan, struct roger_setup_reply *reply,
			  struct roger_err *err)
{
	const struct roger_str name = plan->request->print;
	const int tool = rg_str_is(name, "mcp-json") ? 0 : rg_enum_find(rg_hook_tool_names, name);

	if (tool < 0 || !rg_setup_prints[tool])
		return rg_fail_member(
			err, ROGER_EUSAGE, "print",
			"'%.*s' cannot be printed; expected mcp-json, vscode or cursor",
			RG_STR_ARGS(name));
	reply->printed =
		rg_setup_fill_in(plan, rg_hook_tool_names[tool], NULL, rg_setup_prints[tool]);
	return ROGER_OK;
}

int rg_verb_setup(struct roger *roger, const struct roger_setup_request *request,
		  struct roger_setup_reply *reply, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int lock = RG_NO_FILE;
	struct roger_setup_request asked = *request;
	struct rg_setup_plan plan = { .arena = reply->memory, .request = &asked };
	char path[RG_SETUP_PATH_BYTES];
	int r;

	(void)roger;
	if (!asked.scope)
		asked.scope = ROGER_SETUP_STEALTH;
	/* Settings name the program by its path, since a tool may run with another PATH; the path
	 * found along PATH is used first, since it stays the same after an update.  Settings that
	 * other people share name it "roger". */
	if (asked.scope == ROGER_SETUP_PROJECT ||
	    (!rg_outside_roger(plan.program) && !rg_outside_own_program(plan.program)))
		snprintf(plan.program, sizeof plan.program, "roger");
	if (asked.print.length)
		return print_settings(&plan, reply, err);
	r = find_tools(&plan, reply, err);
	if (r == ROGER_OK)
		r = find_root(&plan, &reply->made_workspace, err);
	if (r == ROGER_OK)
		r = rg_setup_record_open(&plan, &lock, err);
	if (r == ROGER_OK)
		r = rg_setup_plan_places(&plan, err);
	if (r < 0)
		return r;
	report_files(&plan, reply);
	reply->workspace = rg_arena_str(reply->memory, rg_str(plan.home));
	reply->not_on_path = !rg_outside_roger(path);
	r = rg_kept(!rg_arena_failed(reply->memory), err);
	return r < 0 || plan.request->dry_run || !reply->changes ? r : carry_out(&plan, err);
}
