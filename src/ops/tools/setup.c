/* setup: put roger into the settings of agents' tools, and take it out again. */
#include <stdio.h>
#include <unistd.h>

#include "data/diff.h"
#include "ops/tools/setup.h"
#include "ops/tools/trust.h"
#include "host/file.h"
#include "host/outside.h"

enum { CONTEXT_LINES = 2 };

/* ------------------------------------------------------------ carrying out -- */

/* True if the file is to be removed: setup made it, and it is empty now. */
static bool is_to_go(const struct rg_setup_plan *plan, const struct rg_setup_target *target)
{
	return plan->request->remove && target->changed.made &&
	       (!target->text.length || rg_str_is(target->text, "{}\n"));
}

static int write_targets(const struct rg_setup_plan *plan, struct roger_err *err)
{
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < plan->target_count; i++) {
		const struct rg_setup_target *target = &plan->targets[i];
		const char *path = target->changed.file.data;

		if (is_to_go(plan, target) && rg_setup_target_changes(target))
			r = rg_outside_remove(path, target->changed.folders, err);
		else if (rg_setup_target_changes(target))
			r = rg_outside_put(path, &target->before, target->text, err);
	}
	return r;
}

/*
 * Trust the command that was just put into the configuration with a person's consent:
 * these words only, and no others that may be configured in its place.
 */
static int trust_wake(struct rg_setup_plan *plan, struct roger_err *err)
{
	const struct rg_setup_place *place = rg_setup_places;
	struct rg_config *config = NULL;
	struct roger_str text;
	bool trusted;
	int r;

	if (!(plan->tools & RG_CODEX) || plan->request->scope == ROGER_SETUP_USER)
		return ROGER_OK;
	while (!place->path || strcmp(place->path, "wake") != 0)
		place++;
	r = rg_setup_fill_in(plan, "", place->value, &text, err);
	if (r == ROGER_OK)
		r = rg_config_new(&config, err);
	if (r == ROGER_OK)
		r = rg_config_read(config, text, "setup", false, err);
	if (r == ROGER_OK)
		r = rg_trust_add_command(plan->home, config->wake_agents->words, plan->arena,
					 &trusted, err);
	rg_config_free(config);
	return r;
}

/*
 * Write the targets and the record.  The record is written first, so that everything can be
 * undone; when removing, last.
 */
static int carry_out(struct rg_setup_plan *plan, struct roger_err *err)
{
	int r;

	if (plan->request->remove) {
		r = write_targets(plan, err);
		return r == ROGER_OK ? rg_setup_record_write(plan, err) : r;
	}
	r = rg_setup_record_write(plan, err);
	if (r == ROGER_OK)
		r = write_targets(plan, err);
	return r == ROGER_OK ? trust_wake(plan, err) : r;
}

/* --------------------------------------------------------------- the verb -- */

static int action_of(const struct rg_setup_plan *plan, const struct rg_setup_target *target)
{
	if (!rg_setup_target_changes(target))
		return target->trouble.length ? ROGER_SETUP_LEFT : ROGER_SETUP_SAME;
	if (is_to_go(plan, target))
		return ROGER_SETUP_REMOVED;
	return target->there ? ROGER_SETUP_CHANGED : ROGER_SETUP_MADE;
}

static int report_files(const struct rg_setup_plan *plan, struct roger_setup_reply *reply,
			struct roger_err *err)
{
	struct roger_setup_file *place;
	size_t i;

	for (i = 0; i < plan->target_count; i++) {
		const struct rg_setup_target *target = &plan->targets[i];
		struct rg_buf diff = { .maximum = SIZE_MAX };

		/* A file that is missing, and may be, is not reported. */
		if (!target->there && !rg_setup_target_changes(target) && !target->trouble.length)
			continue;
		place = rg_arena_push(plan->arena, &reply->files.items, &reply->files.count,
				      sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		place->file = target->changed.file;
		place->action = action_of(plan, target);
		place->trouble = target->trouble;
		rg_diff(target->before, target->text, CONTEXT_LINES, &diff);
		if (!rg_arena_keep(plan->arena, &diff, &place->diff))
			return rg_fail_memory(err);
		reply->changes += rg_setup_target_changes(target);
	}
	return ROGER_OK;
}

/* Find the tools: those named, else the installed ones; when removing, else all. */
static int find_tools(struct rg_setup_plan *plan, struct roger_setup_reply *reply,
		      struct roger_err *err)
{
	const struct roger_strs *named = &plan->request->tools;
	char path[RG_SETUP_PATH_BYTES];
	size_t i;
	int tool;

	for (i = 0; i < named->count; i++) {
		tool = rg_enum_find(rg_setup_tools, named->items[i]);
		if (tool < 0 || tool >= RG_SETUP_TOOL_COUNT)
			return rg_fail_member(err, ROGER_EUSAGE, "tools",
					      "unknown tool '%.*s'; expected " RG_SETUP_TOOLS_OR
					      "; of another, `roger setup --print` says what to "
					      "paste",
					      RG_STR_ARGS(named->items[i]));
		plan->tools |= 1u << tool;
	}
	for (i = 0; i < RG_SETUP_TOOL_COUNT && !named->count; i++)
		if (plan->request->remove || rg_outside_along_path(rg_setup_tools[i], ".", path))
			plan->tools |= 1u << i;
	if (!plan->tools)
		return rg_fail(err, ROGER_ENOENT, 0,
			       "none of the tools is installed; name the one you want set "
			       "up: " RG_SETUP_TOOLS_OR);
	for (i = 0; i < RG_SETUP_TOOL_COUNT; i++)
		if ((plan->tools & 1u << i) &&
		    !rg_arena_add(plan->arena, &reply->tools, rg_str(rg_setup_tools[i])))
			return rg_fail_memory(err);
	return ROGER_OK;
}

/* Find the project: the folder of the workspace, else of the repository, else this one. */
static int find_root(struct rg_setup_plan *plan, bool *ret_made, struct roger_err *err)
{
	struct rg_workspace *workspace = NULL;
	char folder[RG_SETUP_PATH_BYTES], why[RG_WHY_BYTES];
	struct rg_worktree tree;
	bool broken, there;
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
	r = rg_workspace_home(plan->root, plan->home, &tree, &there, err);
	if (r < 0 || plan->request->remove)
		return r;
	*ret_made = true;
	if (plan->request->dry_run)
		return ROGER_OK;
	snprintf(folder, sizeof folder, "%s", plan->root);
	r = rg_workspace_make(folder, ret_made, plan->home, why, err);
	if (r == ROGER_OK && !tree.base[0])
		snprintf(plan->root, sizeof plan->root, "%s", plan->home);
	return r;
}

/* Print settings for a person to paste; they name roger as settings for all projects do. */
static int print_tool(struct rg_setup_plan *plan, struct roger_setup_reply *reply,
		      struct roger_err *err)
{
	const struct rg_setup_print *one;
	int r;

	for (one = rg_setup_prints; one->name; one++)
		if (rg_str_is(plan->request->print, one->name))
			break;
	if (!one->name)
		return rg_fail_member(
			err, ROGER_EUSAGE, "print",
			"'%.*s' cannot be printed; expected mcp-json, vscode or cursor",
			RG_STR_ARGS(plan->request->print));
	r = rg_setup_fillings_find(plan, err);
	return r == ROGER_OK ? rg_setup_fill_in(plan, one->tool, one->text, &reply->printed, err)
			     : r;
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
	if (asked.print.length)
		return print_tool(&plan, reply, err);
	r = find_tools(&plan, reply, err);
	if (r == ROGER_OK)
		r = find_root(&plan, &reply->made_workspace, err);
	if (r == ROGER_OK)
		r = rg_setup_record_path(&plan, err);
	if (r == ROGER_OK && !plan.request->dry_run)
		r = rg_outside_lock(plan.record_path, !plan.request->remove, &lock, err);
	if (r == ROGER_OK)
		r = rg_setup_fillings_find(&plan, err);
	if (r == ROGER_OK)
		r = rg_setup_record_plan(&plan, err);
	if (r == ROGER_OK)
		r = rg_setup_plan_places(&plan, err);
	if (r == ROGER_OK)
		r = report_files(&plan, reply, err);
	if (r < 0)
		return r;
	if (!rg_arena_copy(reply->memory, rg_str(plan.home), &reply->workspace))
		return rg_fail_memory(err);
	reply->not_on_path = !rg_outside_roger(path);
	return plan.request->dry_run || !reply->changes ? ROGER_OK : carry_out(&plan, err);
}
