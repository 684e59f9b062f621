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

/* A placeholder for a folder: "{codex}" becomes $CODEX_HOME, or ~/.codex. */
struct folder {
	const char *name;
	const char *variable;
	const char *below;	/* added to the variable's value */
	const char *below_home; /* added to HOME if the variable is not set */
};
static const struct folder folders[] = {
	{ "{home}", "HOME", "", "" },
	{ "{claude}", "CLAUDE_CONFIG_DIR", "", "/.claude" },
	{ "{claude.json}", "CLAUDE_CONFIG_DIR", "/.claude.json", "/.claude.json" },
	{ "{codex}", "CODEX_HOME", "", "/.codex" },
	{ "{gemini}", NULL, "", "/.gemini" },
	{ "{copilot}", "COPILOT_HOME", "", "/.copilot" },
	{ "{qwen}", "QWEN_HOME", "", "/.qwen" },
	{ "{config}", "XDG_CONFIG_HOME", "", "/.config" },
	{ "{state}", "XDG_STATE_HOME", "", "/.local/state" },
};

int rg_setup_expand(const char *root, const char *name, char to[RG_SETUP_PATH_BYTES],
		    struct roger_err *err)
{
	const char *end = strchr(name, '}'), *home = set_variable("HOME"), *value;
	size_t start = end ? (size_t)(end - name) + 1 : 0, i;
	char git[RG_SETUP_PATH_BYTES];

	to[0] = '\0';
	if (strncmp(name, "{git}", start) == 0) {
		/* Without a repository there is no such file. */
		if (!rg_outside_git_folder(root, git))
			return ROGER_OK;
		root = git;
	}
	if (strncmp(name, "{root}", start) == 0 || root == git) {
		snprintf(to, RG_SETUP_PATH_BYTES, "%.2000s%s", root, name + start);
		return ROGER_OK;
	}
	for (i = 0; strncmp(name, folders[i].name, start) != 0; i++)
		rg_assert(i + 1 < sizeof folders / sizeof *folders);
	value = folders[i].variable ? set_variable(folders[i].variable) : NULL;
	if (!value && !home)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "HOME: not set, so there is no place for a user's settings");
	/* A relative path would mean another folder from each working directory. */
	if ((value ? value : home)[0] != '/')
		return rg_fail(err, ROGER_EUSAGE, 0, "%s: expected a path that starts with '/'",
			       value ? folders[i].variable : "HOME");
	snprintf(to, RG_SETUP_PATH_BYTES, "%.2000s%s%s", value ? value : home,
		 value ? folders[i].below : folders[i].below_home, name + start);
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
	r = rg_outside_read(path, RG_SETUP_FILE_BYTES_MAX, &text, &target->there, &why);
	target->unusable = r < 0;
	if (target->unusable)
		r = rg_setup_target_leave(plan, target, why.message, err);
	else if (!rg_arena_keep(plan->arena, &text, &target->before))
		r = rg_fail_memory(err);
	target->text = target->before;
	target->changed.made = !target->there;
	target->changed.folders = rg_setup_missing_folders(path);
	*ret_target = target;
	return r;
}

int rg_setup_target_apply(struct rg_setup_plan *plan, struct rg_setup_target *target,
			  const struct rg_json_edit *edit, const char *tool, struct roger_err *err)
{
	struct roger_str before = { target->text.data + edit->offset, edit->length };
	const struct rg_setup_edit made = { rg_str(tool), (int64_t)edit->offset, before,
					    edit->text };
	struct rg_buf text = { .maximum = SIZE_MAX };

	if (rg_json_edit_is_none(edit))
		return ROGER_OK;
	if (!rg_arena_append(plan->arena, &target->changed.edits.items,
			     &target->changed.edits.count, &made, sizeof made))
		return rg_fail_memory(err);
	rg_json_edit_apply(target->text, edit, &text);
	return rg_kept(rg_arena_keep(plan->arena, &text, &target->text), err);
}

int rg_setup_target_leave(struct rg_setup_plan *plan, struct rg_setup_target *target,
			  const char *why, struct roger_err *err)
{
	target->trouble = (struct roger_str){ 0 };
	return rg_kept(rg_arena_copy(plan->arena, rg_str(why), &target->trouble), err);
}

bool rg_setup_target_changes(const struct rg_setup_target *target)
{
	return !rg_str_equal(target->before, target->text);
}

/* ----------------------------------------------------------------- places -- */

/* Return the only tool of a place, or "" if several tools share it. */
static const char *tool_of(const struct rg_setup_place *place)
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
	if (plan->request->remove && !*tool_of(place))
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
		      const struct rg_setup_target *target, const char *path, struct roger_err *err)
{
	char real[4096];

	if (strncmp(place->file, "{root}", 6) != 0)
		return ROGER_OK;
	if (!rg_workspace_resolve(path, real) || !rg_workspace_below(root_of(plan, place), real))
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

/* Plan one place.  An error leaves its file unchanged, and the other places go on. */
static int plan_place(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      struct rg_setup_target *target, const char *path, struct roger_err *err)
{
	const struct rg_setup_changed before = target->changed;
	const struct roger_str text = target->text;
	struct roger_err why;
	int r;

	r = rg_setup_place_edit(plan, place, target, tool_of(place), &why);
	if (r == ROGER_OK && !rg_str_equal(target->text, text))
		r = check_file(plan, place, target, path, &why);
	if (plan->request->remove)
		target->changed.edits = before.edits;
	if (r == ROGER_OK)
		return r;
	target->text = text;
	target->changed = before;
	return rg_setup_target_leave(plan, target, why.message, err);
}

int rg_setup_plan_places(struct rg_setup_plan *plan, struct roger_err *err)
{
	const bool remove = plan->request->remove;
	const struct rg_setup_place *place;
	struct rg_setup_target *target;
	char path[RG_SETUP_PATH_BYTES];
	bool others;
	int r;

	for (place = rg_setup_places; place->file; place++) {
		if (!is_meant(plan, place))
			continue;
		r = rg_setup_expand(root_of(plan, place), place->file, path, err);
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
		others = strncmp(place->file, "{git}", 5) == 0 &&
			 strncmp(path, plan->root, strlen(plan->root)) != 0;
		if (target->unusable || (remove && (target->undone || others)))
			continue;
		r = plan_place(plan, place, target, path, err);
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}
