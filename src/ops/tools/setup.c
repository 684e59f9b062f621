/*
 * setup: put roger into the settings of agents' tools, and take it out again.
 *
 * Which files the table means, and what is done to each.  The record has all edits, file by file
 * and in their order, by which they are undone byte for byte.
 */
#include "ops/tools/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/diff.h"
#include "ops/tools/trust.h"
#include "host/file.h"
#include "host/outside.h"
#include "host/session.h"

enum { CONTEXT_LINES = 2 };

#define TOOLS_OR "claude, codex, gemini, opencode, copilot, qwen or kilo"

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
 * Find where the text of an edit is now: at its offset or after that or, if others took away what
 * was before it, anywhere.  Text that roger added twice is also removed twice, so the order does
 * not matter.
 */
static const char *find_edit(struct roger_str text, const struct rg_setup_edit *edit)
{
	const size_t from = (size_t)edit->offset < text.length ? (size_t)edit->offset : text.length;
	const char *at;

	if (!edit->after.length)
		return NULL;
	at = memmem(text.data + from, text.length - from, edit->after.data, edit->after.length);
	return at ? at : rg_str_find_part(text, edit->after);
}

/* Undo the edits of a file, the last one first; those of other tools stay. */
static void undo_edits(struct rg_setup_plan *plan, struct rg_setup_target *target)
{
	const struct rg_setup_edit_list made = target->changed.edits;
	struct rg_setup_edit_list kept = { 0 };
	const struct rg_setup_edit *one;
	const char *at;
	size_t i;

	target->settled = made.count > 0;
	for (i = made.count; i-- > 0;) {
		one = &made.items[i];
		if (!bit_among(plan->tools, one))
			continue;
		at = find_edit(target->text, one);
		if (at)
			apply_edit(plan, target,
				   (struct rg_json_edit){ (size_t)(at - target->text.data),
							  one->after.length, one->before });
		else
			target->settled = false;
	}
	for (i = 0; i < made.count; i++)
		if (!bit_among(plan->tools, &made.items[i]))
			(void)!rg_arena_append(plan->arena, &kept.items, &kept.count,
					       &made.items[i], sizeof *made.items);
	target->changed.edits = kept;
}

/* Find the record, lock it unless nothing is to be written, and read it. */
static int read_record(struct rg_setup_plan *plan, struct rg_setup_record *record, int *ret_lock,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char folder[RG_SETUP_PATH_BYTES], sha256[65];
	bool found = false;
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
	r = rg_kept(*plan->record_path, err);
	if (r == ROGER_OK && !plan->request->dry_run)
		r = rg_outside_lock(plan->record_path, !plan->request->remove, ret_lock, err);
	if (r == ROGER_OK)
		r = rg_outside_read(plan->record_path, RG_SETUP_FILE_BYTES_MAX, &text, &found, err);
	if (r < 0 || !found)
		return r;
	r = rg_record_read(&rg_setup_record_record, rg_buf_str(&text), record, plan->arena, err);
	plan->record_folders = record->folders;
	return r != ROGER_EDATA ? r
				: rg_fail(err, ROGER_EDATA, 0,
					  "'%s' is not a record of setup; move it away and try "
					  "again",
					  plan->record_path);
}

int rg_setup_record_open(struct rg_setup_plan *plan, int *ret_lock, struct roger_err *err)
{
	const unsigned any = (1u << RG_SETUP_TOOLS_END) - 2;
	struct rg_setup_record record = { 0 };
	struct rg_setup_changed changed;
	struct rg_setup_target *target;
	unsigned recorded = 0;
	size_t i, k;
	int r = read_record(plan, &record, ret_lock, err);

	for (i = 0; r == ROGER_OK && i < record.files.count; i++)
		for (k = 0; k < record.files.items[i].edits.count; k++)
			recorded |= bit_among(any, &record.files.items[i].edits.items[k]);
	/* What all share is removed with the last of them; without a record, that is of any. */
	if (plan->request->remove && !((record.files.count ? recorded : any) & ~plan->tools))
		plan->tools |= 1;
	for (i = 0; r == ROGER_OK && i < record.files.count; i++) {
		changed = record.files.items[i];
		target = find_target(plan, changed.file);
		if (!target)
			return rg_fail_memory(err);
		changed.file = target->changed.file;
		target->changed = changed;
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

int rg_setup_piece_find(struct rg_setup_plan *plan, const struct rg_setup_place *place, bool user,
			struct rg_setup_piece *ret_piece, struct roger_err *err)
{
	const struct rg_setup_folder *folder = place->folder;
	const char *start = folder && folder->shared ? plan->home : plan->root;
	const char *below = "", *name, *value;
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
		value = folder->variable ? getenv(folder->variable) : NULL;
		name = value && *value ? folder->variable : "HOME";
		below = value && *value ? folder->below : folder->home;
		value = getenv(name);
		start = value ? value : "";
		/* Without HOME there is no such file, so there is nothing to remove. */
		if (!*start && plan->request->remove && !plan->request->tools.count)
			return ROGER_OK;
		/* A relative path would mean another folder from each working directory. */
		if (*start != '/')
			return rg_fail(
				err, ROGER_EUSAGE, 0, "%s: %s", name,
				*start ? "expected a path that starts with '/'"
				       : "not set, so there is no place for a user's settings");
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
	    !rg_workspace_below(folder->shared ? plan->home : plan->root, real))
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
 * Put in, or cut out, everything that the table names: plan the edits, and remember those that put
 * something in.  An error is noted at the file, and the others go on.
 */
static int plan_places(struct rg_setup_plan *plan, struct roger_err *err)
{
	const bool remove = plan->request->remove, user = plan->request->scope == ROGER_SETUP_USER;
	const struct rg_setup_place *place;
	struct rg_setup_target *target;
	struct rg_setup_piece piece;
	struct rg_setup_edit made;
	struct rg_json_edit edit;
	struct roger_err why;
	int r;

	for (place = rg_setup_places; place->file; place++) {
		if (!is_meant(plan, place))
			continue;
		r = rg_setup_piece_find(plan, place, user, &piece, err);
		if (r < 0)
			return r;
		target = piece.target;
		/* Worktrees share git's folder: only the record's edits are removed from its files.
		 */
		if (!target || target->settled ||
		    (remove && !place->folder &&
		     !rg_workspace_below(plan->root, target->changed.file.data)))
			continue;
		r = rg_setup_edit_make(plan, &piece, &edit, &why);
		if (r == ROGER_OK && rg_json_edit_is_none(&edit))
			continue;
		if (r == ROGER_OK && !target->checked)
			r = check_file(plan, &piece, &why);
		if (r < 0) {
			leave_target(plan, target, &why);
			continue;
		}
		target->checked = true;
		made = (struct rg_setup_edit){ rg_str(piece.tool),
					       (int64_t)edit.offset,
					       { target->text.data + edit.offset, edit.length },
					       edit.text };
		if (!remove)
			(void)!rg_arena_append(plan->arena, &target->changed.edits.items,
					       &target->changed.edits.count, &made, sizeof made);
		apply_edit(plan, target, edit);
	}
	return ROGER_OK;
}

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

	for (tool = 1; tool < RG_SETUP_TOOLS_END; tool++) {
		name = rg_hook_tool_names[tool];
		if (named.count ? !rg_str_among(named, rg_str(name))
				: !remove && !rg_outside_along_path(name, ".", path))
			continue;
		plan->tools |= 1u << tool;
		(void)!rg_arena_add(plan->arena, &reply->tools, rg_str(name));
	}
	for (i = 0; i < named.count; i++) {
		tool = rg_enum_find(rg_hook_tool_names, named.items[i]);
		if (tool <= 0 || tool >= RG_SETUP_TOOLS_END)
			return rg_fail_member(err, ROGER_EUSAGE, "tools",
					      "unknown tool '%.*s'; expected " TOOLS_OR
					      "; of another, `roger setup --print` says what to "
					      "paste",
					      RG_STR_ARGS(named.items[i]));
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
	char why[RG_WHY_BYTES];
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
	if (!rg_outside_climb(plan->root, broken ? ".roger" : ".git"))
		(void)!getcwd(plan->root, sizeof plan->root);
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
		r = plan_places(&plan, err);
	if (r < 0)
		return r;
	report_files(&plan, reply);
	reply->workspace = rg_arena_str(reply->memory, rg_str(plan.home));
	reply->not_on_path = !rg_outside_roger(path);
	r = rg_kept(!rg_arena_failed(reply->memory), err);
	return r < 0 || plan.request->dry_run || !reply->changes ? r : carry_out(&plan, err);
}
