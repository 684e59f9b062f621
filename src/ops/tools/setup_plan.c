/*
 * setup: which files the table means, and what is done to each.  The record has all edits, file
 * by file and in their order, by which they are undone byte for byte.
 */
#include "ops/tools/setup.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/outside.h"
#include "host/session.h"

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

/* Put a path together from its three parts. */
static int join_path(const char *start, const char *below, const char *rest,
		     char to[RG_SETUP_PATH_BYTES], struct roger_err *err)
{
	if (snprintf(to, RG_SETUP_PATH_BYTES, "%s%s%s", start, below, rest) < RG_SETUP_PATH_BYTES)
		return ROGER_OK;
	return rg_fail(err, ROGER_EUSAGE, 0, "'%.80s...%s' is too long a path", start, rest);
}

/*
 * Expand "{codex}/x" and the like to a path, "": no such file.  root: the project's folder, in
 * which it is unless it is the user's.
 */
static int expand_name(const char *root, bool user, const char *name, char to[RG_SETUP_PATH_BYTES],
		       struct roger_err *err)
{
	const char *rest = strchr(name, '}') + 1, *home = set_variable("HOME"), *value;
	const struct folder *folder = folder_of(name);
	char git[RG_SETUP_PATH_BYTES];

	to[0] = '\0';
	if (!folder) {
		/* Without a repository there is no such file. */
		return rg_outside_git_folder(root, git) ? join_path(git, "", rest, to, err)
							: ROGER_OK;
	}
	if (folder->here && !user)
		return join_path(root, folder->here, rest, to, err);
	value = folder->variable ? set_variable(folder->variable) : NULL;
	if (!value && !home)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "HOME: not set, so there is no place for a user's settings");
	/* A relative path would mean another folder from each working directory. */
	if ((value ? value : home)[0] != '/')
		return rg_fail(err, ROGER_EUSAGE, 0, "%s: expected a path that starts with '/'",
			       value ? folder->variable : "HOME");
	return join_path(value ? value : home, value ? folder->below : folder->below_home, rest, to,
			 err);
}

/* ---------------------------------------------------------------- targets -- */

/* Count the folders that a path lies in and that are missing. */
static int64_t count_missing_folders(const char *path)
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

/* Find the target of a path, read at the first call; a file that cannot be read is left alone. */
static int find_target(struct rg_setup_plan *plan, struct roger_str file,
		       struct rg_setup_target **ret_target, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_setup_target *target;
	struct roger_err why;
	size_t i;
	int r;

	for (i = 0; i < plan->target_count; i++)
		if (rg_str_equal(plan->targets[i].changed.file, file)) {
			*ret_target = &plan->targets[i];
			return ROGER_OK;
		}
	target = rg_arena_push(plan->arena, &plan->targets, &plan->target_count, sizeof *target);
	if (!target || !rg_arena_copy(plan->arena, file, &target->changed.file))
		return rg_fail_memory(err);
	*ret_target = target;
	target->changed.folders = count_missing_folders(target->changed.file.data);
	r = rg_outside_read(target->changed.file.data, RG_SETUP_FILE_BYTES_MAX, &text,
			    &target->there, &why);
	target->changed.made = !target->there;
	target->settled = r < 0;
	if (r < 0)
		return leave_target(plan, target, &why, err);
	if (!rg_arena_keep(plan->arena, &text, &target->before))
		return rg_fail_memory(err);
	target->text = target->before;
	return ROGER_OK;
}

static int apply_edit(struct rg_setup_plan *plan, struct rg_setup_target *target,
		      const struct rg_json_edit *edit, struct roger_err *err)
{
	struct rg_buf text = { .maximum = SIZE_MAX };

	rg_json_edit_apply(target->text, edit, &text);
	return rg_kept(rg_arena_keep(plan->arena, &text, &target->text), err);
}

/* ----------------------------------------------------------------- record -- */

/* The bit of a tool; 0: an edit that all tools share. */
static unsigned bit_of(struct roger_str tool)
{
	int i = rg_enum_find(rg_setup_tools, tool);

	return i >= 0 ? 1u << i : 0;
}

static bool is_chosen(const struct rg_setup_plan *plan, const struct rg_setup_edit *edit)
{
	/* An edit that all tools share is removed with the last of them. */
	return bit_of(edit->tool) ? plan->tools & bit_of(edit->tool) : !plan->others_stay;
}

/*
 * Find where the text of an edit is now: the place nearest to its offset, as the file may
 * have changed since.  Text that roger added twice is also removed twice, so the order
 * does not matter.
 */
static bool find_edit(struct roger_str text, const struct rg_setup_edit *edit, size_t *ret_offset)
{
	const char *at = text.data, *end = text.data + text.length;
	size_t wanted = edit->offset > 0 ? (size_t)edit->offset : 0, offset, off, least = SIZE_MAX;

	if (!edit->after.length)
		return false;
	while ((at = memmem(at, (size_t)(end - at), edit->after.data, edit->after.length))) {
		offset = (size_t)(at++ - text.data);
		off = offset > wanted ? offset - wanted : wanted - offset;
		if (off < least) {
			least = off;
			*ret_offset = offset;
		}
	}
	return least != SIZE_MAX;
}

/* Undo the edits of a file, the last one first; those of other tools stay. */
static int undo_edits(struct rg_setup_plan *plan, struct rg_setup_target *target,
		      struct roger_err *err)
{
	const struct rg_setup_edit_list made = target->changed.edits;
	struct rg_setup_edit_list kept = { 0 };
	const struct rg_setup_edit *one;
	struct rg_json_edit edit;
	size_t i, offset = 0;
	int r = ROGER_OK;

	target->settled = made.count > 0;
	for (i = made.count; i-- > 0 && r == ROGER_OK;) {
		one = &made.items[i];
		if (!is_chosen(plan, one))
			continue;
		if (!find_edit(target->text, one, &offset)) {
			target->settled = false;
			continue;
		}
		edit = (struct rg_json_edit){ offset, one->after.length, one->before };
		r = apply_edit(plan, target, &edit, err);
	}
	for (i = 0; i < made.count && r == ROGER_OK; i++)
		if (!is_chosen(plan, &made.items[i]))
			r = rg_kept(rg_arena_append(plan->arena, &kept.items, &kept.count,
						    &made.items[i], sizeof *made.items),
				    err);
	target->changed.edits = kept;
	return r;
}

int rg_setup_record_path(struct rg_setup_plan *plan, struct roger_err *err)
{
	char folder[RG_SETUP_PATH_BYTES], sha256[65];
	int r;

	/* It is not in the workspace: a record from a repository must not name a user's files. */
	r = rg_session_folder(false, folder, err);
	if (r < 0)
		return r;
	rg_sha256_hex(rg_str(plan->home), sha256);
	if (plan->request->scope == ROGER_SETUP_USER)
		snprintf(plan->record_path, RG_SETUP_PATH_BYTES, "%.4000s/setup.json", folder);
	else
		snprintf(plan->record_path, RG_SETUP_PATH_BYTES, "%.4000s/setup/%.32s.json", folder,
			 sha256);
	plan->record_folders = count_missing_folders(plan->record_path);
	return ROGER_OK;
}

static int read_record(struct rg_setup_plan *plan, struct rg_setup_record *ret_record,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	bool found;
	int r;

	*ret_record = (struct rg_setup_record){ .version = 1 };
	r = rg_outside_read(plan->record_path, RG_SETUP_FILE_BYTES_MAX, &text, &found, err);
	if (r < 0 || !found)
		return r;
	r = rg_record_read(&rg_setup_record_record, rg_buf_str(&text), ret_record, plan->arena,
			   err);
	if (r == ROGER_EDATA)
		return rg_fail(err, ROGER_EDATA, 0,
			       "'%s' is not a record of setup; move it away and try again",
			       plan->record_path);
	if (r == ROGER_OK)
		plan->record_folders = ret_record->folders;
	return r;
}

int rg_setup_record_plan(struct rg_setup_plan *plan, struct roger_err *err)
{
	struct rg_setup_target *target;
	struct rg_setup_record record;
	struct roger_str file;
	unsigned recorded = 0;
	size_t i, k;
	int r;

	r = read_record(plan, &record, err);
	if (r < 0)
		return r;
	for (i = 0; i < record.files.count; i++)
		for (k = 0; k < record.files.items[i].edits.count; k++)
			recorded |= bit_of(record.files.items[i].edits.items[k].tool);
	/* Without a record, the others are all that were not chosen. */
	plan->others_stay = (record.files.count ? recorded : RG_SETUP_ANY) & ~plan->tools;
	for (i = 0; i < record.files.count && r == ROGER_OK; i++) {
		r = find_target(plan, record.files.items[i].file, &target, err);
		if (r < 0)
			return r;
		file = target->changed.file;
		target->changed = record.files.items[i];
		target->changed.file = file;
		/* If nothing is undone, or the file cannot be read, later edits follow these. */
		target->recorded = target->changed.edits.count;
		if (plan->request->remove && !target->trouble.length)
			r = undo_edits(plan, target, err);
	}
	return r;
}

int rg_setup_record_write(const struct rg_setup_plan *plan, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf pretty = { .maximum = SIZE_MAX };
	struct rg_setup_record record = { .version = 1, .folders = plan->record_folders };
	const struct rg_setup_changed *changed;
	size_t i;

	for (i = 0; i < plan->target_count; i++) {
		changed = &plan->targets[i].changed;
		if (changed->edits.count &&
		    !rg_arena_append(plan->arena, &record.files.items, &record.files.count, changed,
				     sizeof *changed))
			return rg_fail_memory(err);
	}
	if (!record.files.count)
		return rg_outside_remove(plan->record_path, plan->record_folders, err);
	rg_record_encode(&rg_setup_record_record, &record, &text);
	rg_json_add_pretty(&pretty, rg_buf_str(&text));
	return text.failed || pretty.failed
		       ? rg_fail_memory(err)
		       : rg_outside_put(plan->record_path, NULL, rg_buf_str(&pretty), err);
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

int rg_setup_piece_find(struct rg_setup_plan *plan, const struct rg_setup_place *place, bool user,
			struct rg_setup_piece *ret_piece, struct roger_err *err)
{
	char path[RG_SETUP_PATH_BYTES];
	int r = expand_name(root_of(plan, place), user, place->file, path, err);

	*ret_piece = (struct rg_setup_piece){ .place = place, .tool = tool_of(place) };
	return r == ROGER_OK && path[0] ? find_target(plan, rg_str(path), &ret_piece->target, err)
					: r;
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
static int check_file(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		      struct roger_err *err)
{
	const struct folder *folder = folder_of(piece->place->file);
	char real[4096];

	if (!folder || !folder->here || plan->request->scope == ROGER_SETUP_USER)
		return ROGER_OK;
	if (!rg_workspace_resolve(piece->target->changed.file.data, real) ||
	    !rg_workspace_below(root_of(plan, piece->place), real))
		return rg_fail(
			err, ROGER_EREFUSED, 0,
			"a link leads out of the project from here; set it up by hand, or with "
			"--scope user");
	if (plan->request->scope == ROGER_SETUP_STEALTH && !plan->request->remove &&
	    piece->target->there && may_git_show(plan, real))
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
static int plan_piece(struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		      struct roger_err *err)
{
	struct rg_setup_target *target = piece->target;
	struct rg_setup_edit *made;
	struct rg_json_edit edit;
	struct roger_err why;
	int r;

	r = rg_setup_edit_make(plan, piece, &edit, &why);
	if (r == ROGER_OK && rg_json_edit_is_none(&edit))
		return r;
	if (r == ROGER_OK && !target->checked)
		r = check_file(plan, piece, &why);
	if (r < 0)
		return leave_target(plan, target, &why, err);
	target->checked = true;
	if (!plan->request->remove) {
		made = rg_arena_push(plan->arena, &target->changed.edits.items,
				     &target->changed.edits.count, sizeof *made);
		if (!made)
			return rg_fail_memory(err);
		*made = (struct rg_setup_edit){
			rg_str(piece->tool),
			(int64_t)edit.offset,
			{ target->text.data + edit.offset, edit.length },
			edit.text,
		};
	}
	return apply_edit(plan, target, &edit, err);
}

int rg_setup_plan_places(struct rg_setup_plan *plan, struct roger_err *err)
{
	const bool remove = plan->request->remove, user = plan->request->scope == ROGER_SETUP_USER;
	const struct rg_setup_place *place;
	const struct rg_setup_hook *hook;
	struct rg_setup_piece piece;
	int r;

	for (place = rg_setup_places; place->file; place++) {
		if (!is_meant(plan, place))
			continue;
		r = rg_setup_piece_find(plan, place, user, &piece, err);
		/* Without HOME there is no such file, so there is nothing to remove. */
		if (r == ROGER_EUSAGE && remove && !plan->request->tools.count &&
		    !set_variable("HOME"))
			continue;
		if (r < 0)
			return r;
		if (!piece.target || piece.target->settled)
			continue;
		/* Worktrees share git's folder: only the record's edits are removed from its files.
		 */
		if (remove && !folder_of(place->file) &&
		    !rg_workspace_below(plan->root, piece.target->changed.file.data))
			continue;
		if (place->value)
			r = plan_piece(plan, &piece, err);
		for (hook = rg_setup_hooks; !place->value && hook->event; hook++) {
			piece.hook = hook;
			if (r == ROGER_OK && (hook->tool & place->tools) && !piece.target->settled)
				r = plan_piece(plan, &piece, err);
		}
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}
