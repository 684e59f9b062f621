/*
 * setup: which files the table means, and what is done to each.  The record has all edits, file
 * by file and in their order, by which they are undone byte for byte.
 */
#include "ops/tools/setup.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/outside.h"
#include "host/session.h"

/* ---------------------------------------------------------------- targets -- */

/* Count the folders that a path lies in and that are missing. */
static int64_t count_missing_folders(const char *path)
{
	char folder[RG_SETUP_PATH_BYTES];
	int64_t count = 0;

	snprintf(folder, sizeof folder, "%s", path);
	while (rg_outside_cut(folder) && !rg_outside_is_there(folder))
		count++;
	return count;
}

/* Note why something is not done.  A file into which not all can be put is left as it is. */
static void leave_target(struct rg_setup_plan *plan, struct rg_setup_target *target,
			 const struct roger_err *why)
{
	target->trouble = rg_arena_str(plan->arena, rg_str(why->message));
	if (plan->request->remove)
		return;
	target->text = target->before;
	target->changed.edits.count = target->recorded;
	target->settled = true;
}

/* Find the target of a path, read at the first call; a file that cannot be read is left alone.
 * NULL: out of memory. */
static struct rg_setup_target *find_target(struct rg_setup_plan *plan, struct roger_str file)
{
	struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_setup_target *target;
	struct roger_err why;
	size_t i;
	int r;

	for (i = 0; i < plan->target_count; i++)
		if (rg_str_equal(plan->targets[i].changed.file, file))
			return &plan->targets[i];
	target = rg_arena_push(plan->arena, &plan->targets, &plan->target_count, sizeof *target);
	if (!target)
		return NULL;
	/* The copy ends with a NUL. */
	file = target->changed.file = rg_arena_str(plan->arena, file);
	target->changed.folders = count_missing_folders(file.data);
	r = rg_outside_read(file.data, RG_SETUP_FILE_BYTES_MAX, &text, &target->there, &why);
	target->changed.made = !target->there;
	if (r < 0)
		rg_buf_clear(&text);
	target->text = target->before = rg_arena_take(plan->arena, &text);
	if (r < 0)
		leave_target(plan, target, &why);
	target->settled = r < 0;
	return target;
}

static void apply_edit(struct rg_setup_plan *plan, struct rg_setup_target *target,
		       struct rg_json_edit edit)
{
	struct rg_buf text = { .maximum = SIZE_MAX };

	rg_json_edit_apply(target->text, &edit, &text);
	target->text = rg_arena_take(plan->arena, &text);
}

/* ----------------------------------------------------------------- record -- */

/* Return the bit of the tool of an edit if that is among tools, else 0. */
static unsigned bit_among(unsigned tools, const struct rg_setup_edit *edit)
{
	int tool = rg_enum_find(rg_hook_tool_names, edit->tool);

	return tools & 1u << (tool > 0 ? tool : 0);
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
static void undo_edits(struct rg_setup_plan *plan, struct rg_setup_target *target)
{
	const struct rg_setup_edit_list made = target->changed.edits;
	struct rg_setup_edit_list kept = { 0 };
	const struct rg_setup_edit *one;
	size_t i, offset = 0;

	target->settled = made.count > 0;
	for (i = made.count; i-- > 0;) {
		one = &made.items[i];
		if (!bit_among(plan->tools, one))
			continue;
		if (find_edit(target->text, one, &offset))
			apply_edit(plan, target,
				   (struct rg_json_edit){ offset, one->after.length, one->before });
		else
			target->settled = false;
	}
	for (i = 0; i < made.count; i++)
		if (!bit_among(plan->tools, &made.items[i]))
			(void)!rg_arena_append(plan->arena, &kept.items, &kept.count,
					       &made.items[i], sizeof *made.items);
	target->changed.edits = kept;
}

static int find_record(struct rg_setup_plan *plan, struct roger_err *err)
{
	char folder[RG_SETUP_PATH_BYTES], sha256[65];
	/* It is not in the workspace: a record from a repository must not name a user's files. */
	int r = rg_session_folder(false, folder, err);

	if (r < 0)
		return r;
	rg_sha256_hex(rg_str(plan->home), sha256);
	plan->record_path =
		plan->request->scope == ROGER_SETUP_USER
			? rg_arena_text(plan->arena, "%s/setup.json", folder).data
			: rg_arena_text(plan->arena, "%s/setup/%.32s.json", folder, sha256).data;
	plan->record_folders = count_missing_folders(plan->record_path);
	return rg_kept(*plan->record_path, err);
}

static int read_record(struct rg_setup_plan *plan, struct rg_setup_record *record,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	bool found;
	int r = rg_outside_read(plan->record_path, RG_SETUP_FILE_BYTES_MAX, &text, &found, err);

	if (r < 0 || !found)
		return r;
	r = rg_record_read(&rg_setup_record_record, rg_buf_str(&text), record, plan->arena, err);
	if (r == ROGER_EDATA)
		return rg_fail(err, ROGER_EDATA, 0,
			       "'%s' is not a record of setup; move it away and try again",
			       plan->record_path);
	plan->record_folders = record->folders;
	return r;
}

int rg_setup_record_open(struct rg_setup_plan *plan, int *ret_lock, struct roger_err *err)
{
	const unsigned any = (1u << RG_SETUP_TOOLS_END) - 2;
	struct rg_setup_record record = { 0 };
	struct rg_setup_target *target;
	struct roger_str file;
	unsigned recorded = 0;
	size_t i, k;
	int r = find_record(plan, err);

	if (r == ROGER_OK && !plan->request->dry_run)
		r = rg_outside_lock(plan->record_path, !plan->request->remove, ret_lock, err);
	if (r == ROGER_OK)
		r = read_record(plan, &record, err);
	for (i = 0; r == ROGER_OK && i < record.files.count; i++)
		for (k = 0; k < record.files.items[i].edits.count; k++)
			recorded |= bit_among(any, &record.files.items[i].edits.items[k]);
	/* What all share is removed with the last of them; without a record, that is of any. */
	if (plan->request->remove && !((record.files.count ? recorded : any) & ~plan->tools))
		plan->tools |= 1;
	for (i = 0; r == ROGER_OK && i < record.files.count; i++) {
		target = find_target(plan, record.files.items[i].file);
		if (!target)
			return rg_fail_memory(err);
		file = target->changed.file;
		target->changed = record.files.items[i];
		target->changed.file = file;
		/* If nothing is undone, or the file cannot be read, later edits follow these. */
		target->recorded = target->changed.edits.count;
		if (plan->request->remove && !target->trouble.length)
			undo_edits(plan, target);
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

static bool is_meant(const struct rg_setup_plan *plan, const struct rg_setup_place *place)
{
	const unsigned project = 1u << ROGER_SETUP_PROJECT | 1u << ROGER_SETUP_STEALTH;
	const bool remove = plan->request->remove;
	unsigned scopes = 1u << plan->request->scope;

	/* Removing from a project covers both of its scopes. */
	if (remove && (scopes & project))
		scopes = project;
	if (!(place->scopes & scopes))
		return false;
	return remove || place->tool ? plan->tools >> place->tool & 1
				     : plan->tools & ~(1u << place->but);
}

static const char *set_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Return the root for a place. */
static const char *root_of(const struct rg_setup_plan *plan, const struct rg_setup_place *place)
{
	return place->folder && place->folder->shared ? plan->home : plan->root;
}

int rg_setup_piece_find(struct rg_setup_plan *plan, const struct rg_setup_place *place, bool user,
			struct rg_setup_piece *ret_piece, struct roger_err *err)
{
	const char *start = root_of(plan, place), *below = "", *value, *home = set_variable("HOME");
	const struct rg_setup_folder *folder = place->folder;
	char git[RG_SETUP_PATH_BYTES];

	*ret_piece =
		(struct rg_setup_piece){ .place = place, .tool = rg_hook_tool_names[place->tool] };
	if (!folder) {
		/* Without a repository there is no such file. */
		if (!rg_outside_git_folder(start, git))
			return ROGER_OK;
		start = git;
	} else if (folder->here && !user) {
		below = folder->here;
	} else {
		value = folder->variable ? set_variable(folder->variable) : NULL;
		start = value ? value : home;
		below = value ? folder->below : folder->home;
		/* Without HOME there is no such file, so there is nothing to remove. */
		if (!start && plan->request->remove && !plan->request->tools.count)
			return ROGER_OK;
		if (!start)
			return rg_fail(err, ROGER_EUSAGE, 0,
				       "HOME: not set, so there is no place for a user's settings");
		/* A relative path would mean another folder from each working directory. */
		if (*start != '/')
			return rg_fail(err, ROGER_EUSAGE, 0,
				       "%s: expected a path that starts with '/'",
				       value ? folder->variable : "HOME");
	}
	ret_piece->target =
		find_target(plan, rg_arena_text(plan->arena, "%s%s%s", start, below, place->file));
	return rg_kept(ret_piece->target, err);
}

/*
 * Fail if the file must not be changed.  A link in the project may come with its repository and
 * lead anywhere; links in a person's own settings are the person's.  With --scope stealth, a file
 * is left alone if git would show the change.
 */
static int check_file(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		      struct roger_err *err)
{
	const struct rg_setup_folder *folder = piece->place->folder;
	char real[4096];
	const struct rg_git_watch file = { .path = real };
	enum rg_git_state state;
	struct roger_strs tracked;

	if (!folder || !folder->here || plan->request->scope == ROGER_SETUP_USER)
		return ROGER_OK;
	if (!rg_workspace_resolve(piece->target->changed.file.data, real) ||
	    !rg_workspace_below(root_of(plan, piece->place), real))
		return rg_fail(
			err, ROGER_EREFUSED, 0,
			"a link leads out of the project from here; set it up by hand, or with "
			"--scope user");
	if (plan->request->scope == ROGER_SETUP_STEALTH && !plan->request->remove &&
	    piece->target->there &&
	    (rg_git_look(plan->root, &file, 1, NULL, plan->arena, &state, &tracked, NULL) < 0 ||
	     state != RG_GIT_CLEAR))
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
static void plan_piece(struct rg_setup_plan *plan, struct rg_setup_piece *piece)
{
	struct rg_setup_target *target = piece->target;
	struct rg_setup_edit made;
	struct rg_json_edit edit;
	struct roger_err why;
	int r;

	if (target->settled)
		return;
	r = rg_setup_edit_make(plan, piece, &edit, &why);
	if (r == ROGER_OK && rg_json_edit_is_none(&edit))
		return;
	if (r == ROGER_OK && !target->checked)
		r = check_file(plan, piece, &why);
	if (r < 0) {
		leave_target(plan, target, &why);
		return;
	}
	target->checked = true;
	made = (struct rg_setup_edit){ rg_str(piece->tool),
				       (int64_t)edit.offset,
				       { target->text.data + edit.offset, edit.length },
				       edit.text };
	if (!plan->request->remove)
		(void)!rg_arena_append(plan->arena, &target->changed.edits.items,
				       &target->changed.edits.count, &made, sizeof made);
	apply_edit(plan, target, edit);
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
		if (r < 0)
			return r;
		/* Worktrees share git's folder: only the record's edits are removed from its files.
		 */
		if (!piece.target ||
		    (remove && !place->folder &&
		     !rg_workspace_below(plan->root, piece.target->changed.file.data)))
			continue;
		if (place->value)
			plan_piece(plan, &piece);
		for (hook = rg_setup_hooks; !place->value && hook->event; hook++) {
			piece.hook = hook;
			if (hook->tool == place->tool)
				plan_piece(plan, &piece);
		}
	}
	return ROGER_OK;
}
