/* setup: which files the table means, and what is done to each, before anything is written. */
#include "ops/tools/setup.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/outside.h"

/* ------------------------------------------------------------------ files -- */

static const char *set_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* A placeholder: "{codex}" is .codex in a project, and for a user $CODEX_HOME or ~/.codex. */
static const struct folder {
	const char *name;
	const char *here; /* below the project; NULL: it is the user's there, too */
	const char *variable;
	const char *below;	/* added to the variable's value */
	const char *below_home; /* added to HOME if the variable is not set */
} folders[] = {
	{ "{root}", "", NULL, "", "" },
	{ "{claude}", "/.claude", "CLAUDE_CONFIG_DIR", "", "/.claude" },
	{ "{claude.json}", NULL, "CLAUDE_CONFIG_DIR", "/.claude.json", "/.claude.json" },
	{ "{codex}", "/.codex", "CODEX_HOME", "", "/.codex" },
	{ "{gemini}", "/.gemini", NULL, "", "/.gemini" },
	{ "{opencode}", "/.opencode", "XDG_CONFIG_HOME", "/opencode", "/.config/opencode" },
	{ "{kilo}", "/.kilo", "XDG_CONFIG_HOME", "/kilo", "/.config/kilo" },
	{ "{copilot}", "/.github", "COPILOT_HOME", "", "/.copilot" },
	{ "{qwen}", "/.qwen", "QWEN_HOME", "", "/.qwen" },
};

/* The git folder may be another one's, so it is none of the folders; NULL. */
static const struct folder *folder_of(const char *name)
{
	const size_t length = strcspn(name, "}") + 1;
	size_t i;

	for (i = 0; i < sizeof folders / sizeof *folders; i++)
		if (strncmp(name, folders[i].name, length) == 0)
			return &folders[i];
	return NULL;
}

int rg_setup_expand(const char *root, bool user, const char *name, char to[RG_SETUP_PATH_BYTES],
		    struct roger_err *err)
{
	const char *rest = strchr(name, '}') + 1, *home = set_variable("HOME"), *value;
	const struct folder *folder = folder_of(name);
	char git[RG_SETUP_PATH_BYTES];

	to[0] = '\0';
	if (!folder) {
		/* Without a repository there is no such file. */
		if (rg_outside_git_folder(root, git))
			snprintf(to, RG_SETUP_PATH_BYTES, "%.2000s%s", git, rest);
		return ROGER_OK;
	}
	if (folder->here && !user) {
		snprintf(to, RG_SETUP_PATH_BYTES, "%.2000s%s%s", root, folder->here, rest);
		return ROGER_OK;
	}
	value = folder->variable ? set_variable(folder->variable) : NULL;
	if (!value && !home)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "HOME: not set, so there is no place for a user's settings");
	/* A relative path would mean another folder from each working directory. */
	if ((value ? value : home)[0] != '/')
		return rg_fail(err, ROGER_EUSAGE, 0, "%s: expected a path that starts with '/'",
			       value ? folder->variable : "HOME");
	snprintf(to, RG_SETUP_PATH_BYTES, "%.2000s%s%s", value ? value : home,
		 value ? folder->below : folder->below_home, rest);
	return ROGER_OK;
}

/* ---------------------------------------------------------------- targets -- */

int64_t rg_setup_missing_folders(const char *path)
{
	char folder[RG_SETUP_PATH_BYTES];
	int64_t count = 0;
	char *slash;

	for (snprintf(folder, sizeof folder, "%s", path);; count++) {
		slash = strrchr(folder, '/');
		if (!slash || slash == folder)
			return count;
		*slash = '\0';
		if (rg_outside_is_there(folder))
			return count;
	}
}

/* Note why something is not done.  A file into which not all can be put is left as it is. */
static int leave_target(struct rg_setup_plan *plan, struct rg_setup_target *target,
			const struct roger_err *why, struct roger_err *err)
{
	if (!plan->request->remove) {
		target->text = target->before;
		target->changed.edits.count = target->recorded;
		target->settled = true;
	}
	return rg_kept(rg_arena_copy(plan->arena, rg_str(why->message), &target->trouble), err);
}

int rg_setup_target_find(struct rg_setup_plan *plan, const char *path,
			 struct rg_setup_target **ret_target, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_setup_target *target;
	struct roger_err why;
	size_t i;
	int r;

	for (i = 0; i < plan->target_count; i++)
		if (rg_str_is(plan->targets[i].changed.file, path)) {
			*ret_target = &plan->targets[i];
			return ROGER_OK;
		}
	target = rg_arena_push(plan->arena, &plan->targets, &plan->target_count, sizeof *target);
	if (!target || !rg_arena_copy(plan->arena, rg_str(path), &target->changed.file))
		return rg_fail_memory(err);
	*ret_target = target;
	target->changed.folders = rg_setup_missing_folders(path);
	r = rg_outside_read(path, RG_SETUP_FILE_BYTES_MAX, &text, &target->there, &why);
	target->changed.made = !target->there;
	target->settled = r < 0;
	if (r < 0)
		return leave_target(plan, target, &why, err);
	if (!rg_arena_keep(plan->arena, &text, &target->before))
		return rg_fail_memory(err);
	target->text = target->before;
	return ROGER_OK;
}

int rg_setup_target_apply(struct rg_setup_plan *plan, struct rg_setup_target *target,
			  const struct rg_json_edit *edit, struct roger_err *err)
{
	struct rg_buf text = { .maximum = SIZE_MAX };

	rg_json_edit_apply(target->text, edit, &text);
	return rg_kept(rg_arena_keep(plan->arena, &text, &target->text), err);
}

/* ----------------------------------------------------------------- places -- */

const char *rg_setup_tool_of(const struct rg_setup_place *place)
{
	int i;

	for (i = 0; i < RG_SETUP_TOOL_COUNT; i++)
		if (place->tools == 1u << i)
			return rg_setup_tools[i];
	return "";
}

static bool is_meant(const struct rg_setup_plan *plan, const struct rg_setup_place *place)
{
	const unsigned project = 1u << ROGER_SETUP_PROJECT | 1u << ROGER_SETUP_STEALTH;
	unsigned scopes = 1u << plan->request->scope;

	/* Removing from a project covers both of its scopes. */
	if (plan->request->remove && (scopes & project))
		scopes = project;
	if (!(place->scopes & scopes))
		return false;
	/* A place that tools share stays until the last of them is removed. */
	if (plan->request->remove && !*rg_setup_tool_of(place))
		return !plan->others_stay;
	return place->tools & plan->tools;
}

/* Return the root for a place: files in .roger/ belong to the workspace, so to all worktrees. */
static const char *root_of(const struct rg_setup_plan *plan, const struct rg_setup_place *place)
{
	static const char shared[] = "{root}/.roger/";

	return strncmp(place->file, shared, sizeof shared - 1) == 0 ? plan->home : plan->root;
}

/* True if git would show a change of the file, or if that is not known. */
static bool may_git_show(const struct rg_setup_plan *plan, const char *real)
{
	const struct rg_git_watch file = { .path = real };
	enum rg_git_state state;
	struct roger_strs tracked;

	return rg_git_look(plan->root, &file, 1, NULL, plan->arena, &state, &tracked, NULL) < 0 ||
	       state != RG_GIT_CLEAR;
}

/*
 * Fail if the file must not be changed.  A link in the project may come with its repository and
 * lead anywhere; links in a person's own settings are the person's.  With --scope stealth, a file
 * is left alone if git would show the change.
 */
static int check_file(const struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      const struct rg_setup_target *target, struct roger_err *err)
{
	const struct folder *folder = folder_of(place->file);
	char real[4096];

	if (!folder || !folder->here || plan->request->scope == ROGER_SETUP_USER)
		return ROGER_OK;
	if (!rg_workspace_resolve(target->changed.file.data, real) ||
	    !rg_workspace_below(root_of(plan, place), real))
		return rg_fail(
			err, ROGER_EREFUSED, 0,
			"a link leads out of the project from here; set it up by hand, or with "
			"--scope user");
	if (plan->request->scope == ROGER_SETUP_STEALTH && !plan->request->remove &&
	    target->there && may_git_show(plan, real))
		return rg_fail(
			err, ROGER_EREFUSED, 0,
			"git tracks it, or its index cannot be read, and so would show the change; "
			"set it up with --scope project or user");
	return ROGER_OK;
}

/*
 * Plan one edit, and remember it if it puts something in.  An error is noted at the file, and the
 * others go on.
 */
static int plan_edit(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		     const struct rg_setup_hook *hook, struct rg_setup_target *target,
		     struct roger_err *err)
{
	const char *tool = rg_setup_tool_of(place);
	struct rg_setup_edit *made;
	struct rg_json_edit edit;
	struct roger_err why;
	int r;

	r = rg_setup_edit_make(plan, place, hook, tool, target, &edit, &why);
	if (r == ROGER_OK && rg_json_edit_is_none(&edit))
		return r;
	if (r == ROGER_OK && !target->checked)
		r = check_file(plan, place, target, &why);
	if (r < 0)
		return leave_target(plan, target, &why, err);
	target->checked = true;
	if (!plan->request->remove) {
		made = rg_arena_push(plan->arena, &target->changed.edits.items,
				     &target->changed.edits.count, sizeof *made);
		if (!made)
			return rg_fail_memory(err);
		*made = (struct rg_setup_edit){
			rg_str(tool),
			(int64_t)edit.offset,
			{ target->text.data + edit.offset, edit.length },
			edit.text,
		};
	}
	return rg_setup_target_apply(plan, target, &edit, err);
}

static int plan_place(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      struct rg_setup_target *target, struct roger_err *err)
{
	const struct rg_setup_hook *hook;
	int r = ROGER_OK;

	if (place->kind != RG_SETUP_HOOKS)
		return plan_edit(plan, place, NULL, target, err);
	for (hook = rg_setup_hooks; hook->event && r == ROGER_OK && !target->settled; hook++)
		if (hook->tool & place->tools)
			r = plan_edit(plan, place, hook, target, err);
	return r;
}

int rg_setup_plan_places(struct rg_setup_plan *plan, struct roger_err *err)
{
	const bool remove = plan->request->remove, user = plan->request->scope == ROGER_SETUP_USER;
	const struct rg_setup_place *place;
	struct rg_setup_target *target;
	char path[RG_SETUP_PATH_BYTES];
	bool others;
	int r;

	for (place = rg_setup_places; place->file; place++) {
		if (!is_meant(plan, place))
			continue;
		r = rg_setup_expand(root_of(plan, place), user, place->file, path, err);
		/* Without HOME there is no such file, so there is nothing to remove. */
		if (r == ROGER_EUSAGE && remove && !plan->request->tools.count &&
		    !set_variable("HOME"))
			continue;
		if (r == ROGER_OK && !path[0])
			continue;
		if (r == ROGER_OK)
			r = rg_setup_target_find(plan, path, &target, err);
		if (r < 0)
			return r;
		/* Worktrees share git's folder, so only the edits of the record are removed from
		 * its files. */
		others = !folder_of(place->file) &&
			 strncmp(path, plan->root, strlen(plan->root)) != 0;
		if (target->settled || (remove && others))
			continue;
		r = plan_place(plan, place, target, err);
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}
