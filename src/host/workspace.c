#include "host/workspace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/id.h"
#include "host/disk.h"
#include "host/file.h"
#include "host/seat.h"
#include "host/shield.h"
#include "host/storage.h"

enum { CONFIG_LOOK_MS = 1000 };

static int make_absolute(const char *path, char to[4096], struct roger_err *err)
{
	if (!realpath(path, to))
		return rg_fail(err, errno == ENOENT ? ROGER_ENOENT : ROGER_EIO, errno,
			       "look for '%s'", path);
	return strlen(to) <= 3800 ? ROGER_OK
				  : rg_fail(err, ROGER_EDATA, 0,
					    "the path of the workspace is longer than 3800 bytes");
}

/* The highest folder in which a workspace is looked for. */
struct limit {
	char home[4096]; /* HOME; "": it is not above the start */
	int64_t owner;	 /* the owner of the start */
};

static void find_limit(const char *from, struct limit *limit)
{
	const char *home = getenv("HOME");
	size_t length =
		home && home[0] == '/' && realpath(home, limit->home) ? strlen(limit->home) : 0;

	/* '/' as HOME counts as none. */
	if (length <= 1 || strncmp(from, limit->home, length) != 0 ||
	    (from[length] && from[length] != '/'))
		limit->home[0] = '\0';
	if (!limit->home[0] && !rg_file_owner(from, &limit->owner))
		limit->owner = -1;
}

/* True if the folder above may be searched: it is at most HOME, or has the owner of the start. */
static bool may_climb(const struct limit *limit, const char *path)
{
	char above[4096], *slash;
	int64_t owner;

	if (limit->home[0])
		return strcmp(path, limit->home) != 0;
	snprintf(above, sizeof above, "%s", path);
	slash = strrchr(above, '/');
	slash[slash == above] = '\0';
	return rg_file_owner(above, &owner) && owner == limit->owner;
}

/* A workspace that was looked for, and the git worktree that was found on the way to it. */
struct found {
	bool there;
	int64_t owner;
	bool lost;		 /* the start is in a worktree whose repository is missing */
	char own[4096];		 /* a workspace in the worktree that is not used; "": none */
	struct rg_worktree tree; /* the worktree of the start */
};

/*
 * Climb from `to` until a folder holds .roger/; `to` becomes that folder, or the last one searched.
 * A submodule uses the workspace of the repository around it, in a worktree, too.
 */
static int climb_folders(char to[4096], bool trees, struct found *found, struct roger_err *err)
{
	struct rg_file_facts facts;
	char home[4200], *slash;
	enum rg_worktree_state state = RG_WORKTREE_NONE;
	struct limit limit;
	bool limited = false;
	int r;

	for (;;) {
		rg_workspace_path(strcmp(to, "/") == 0 ? "" : to, RG_STR(RG_WORKSPACE_FOLDER), home,
				  sizeof home);
		/* Do not open it: a user who may not still learns who owns it. */
		r = rg_file_examine(AT_FDCWD, home, &facts, err);
		if (r == ROGER_OK && facts.kind && facts.kind != RG_FILE_FOLDER)
			r = rg_fail(err, ROGER_EREFUSED, 0,
				    "'%s' is not a folder, or a symbolic link", home);
		if (r < 0)
			return r;
		found->there = facts.kind == RG_FILE_FOLDER;
		found->owner = facts.owner;
		if (trees && !found->tree.base[0])
			state = found->there ? rg_worktree_find(to, &found->tree)
					     : rg_worktree_look(to, &found->tree);
		found->lost |= state == RG_WORKTREE_LOST;
		if (found->there || strcmp(to, "/") == 0)
			return ROGER_OK;
		if (!limited)
			find_limit(to, &limit);
		limited = true;
		if (!may_climb(&limit, to))
			return ROGER_OK;
		slash = strrchr(to, '/');
		slash[slash == to] = '\0';
	}
}

/* In a worktree, use the workspace of the same folder in the main checkout, if it has one. */
static int find_shared(const char *start, char root[4096], struct found *found,
		       struct roger_err *err)
{
	struct found shared = { 0 };
	char there[4096];
	int r;

	rg_worktree_map(&found->tree, start, there);
	r = climb_folders(there, false, &shared, err);
	if (r < 0 || !shared.there)
		return r;
	if (found->there && strcmp(root, there) != 0 && rg_workspace_below(found->tree.base, root))
		snprintf(found->own, sizeof found->own, "%s", root);
	memcpy(root, there, strlen(there) + 1);
	found->there = true;
	found->owner = shared.owner;
	return ROGER_OK;
}

static int find_workspace(const char *path, char root[4096], struct found *found,
			  struct roger_err *err)
{
	const char *from = path ? path : getenv("ROGER_WORKSPACE");
	bool exact;
	char start[4096], *slash;
	int r;

	/* Not the whole of it: every command pays for each page that it touches. */
	found->there = found->lost = false;
	found->owner = 0;
	found->own[0] = found->tree.base[0] = '\0';
	if (!from || !*from)
		from = ".";
	r = make_absolute(from, root, err);
	if (r < 0)
		return r;
	memcpy(start, root, strlen(root) + 1);
	slash = strrchr(root, '/');
	exact = strcmp(from, ".") != 0 && strcmp(slash + 1, RG_WORKSPACE_FOLDER) == 0;
	r = climb_folders(root, !exact, found, err);
	if (r == ROGER_OK && found->tree.base[0])
		r = find_shared(start, root, found, err);
	if (r < 0 || found->there)
		return r;
	return rg_fail(
		err, ROGER_ENOENT, 0,
		"no workspace here: no folder from '%s' up to '%s' holds %s/%s%s%s; make one with "
		"`roger init`",
		from, root, RG_WORKSPACE_FOLDER,
		found->tree.base[0] ? ", nor does the main checkout, '" : "", found->tree.main,
		found->tree.base[0] ? "'"
		: found->lost	    ? "; this is a git worktree whose repository is "
				      "not there, or does not know it: `git "
				      "worktree repair` in the main checkout"
				    : "");
}

int rg_workspace_find(const char *path, char root[4096], struct roger_err *err)
{
	struct found found;

	return find_workspace(path, root, &found, err);
}

int rg_workspace_home(const char *path, char root[4096], struct rg_worktree *ret_tree,
		      struct roger_err *err)
{
	struct found found = { 0 };
	char start[4096], home[4200];
	int r;

	*ret_tree = (struct rg_worktree){ 0 };
	r = make_absolute(path, root, err);
	if (r < 0 || rg_worktree_find(root, ret_tree) != RG_WORKTREE_LINKED)
		return r;
	memcpy(start, root, strlen(root) + 1);
	found.tree = *ret_tree;
	r = find_shared(start, root, &found, err);
	if (r < 0 || found.there)
		return r;
	/* A worktree's own workspace stays in use if the main checkout has none. */
	snprintf(home, sizeof home, "%s/" RG_WORKSPACE_FOLDER, start);
	if (!rg_file_is_there(AT_FDCWD, home))
		rg_worktree_map(ret_tree, start, root);
	return r;
}

void rg_workspace_path(const char *root, struct roger_str path, char *to, size_t size)
{
	const size_t folder = path.data[0] == '/' ? 0 : strnlen(root, size - 2);
	const size_t start = path.data[0] == '/' ? 0 : folder + 1;
	const size_t length = path.length < size - start ? path.length : size - start - 1;

	/* Every command makes a dozen paths, and printf() takes ten times as long. */
	memcpy(to, root, folder);
	to[folder] = '/';
	memcpy(to + start, path.data, length);
	to[start + length] = '\0';
}

int rg_workspace_merged(const struct rg_workspace *workspace, char to[4200], struct roger_err *err)
{
	snprintf(to, 4200, "%s/" RG_WORKSPACE_FOLDER "/merged", workspace->root);
	return rg_file_make_folder(AT_FDCWD, to, NULL, err);
}

bool rg_workspace_resolve(const char *path, char to[4096])
{
	char part[4096], real[4096], *slash;
	const char *rest;

	if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
		return false;
	while (!realpath(part, real)) {
		slash = strrchr(part, '/');
		if (!slash)
			return false;
		part[slash == part ? 1 : slash - part] = '\0';
	}
	rest = path + strlen(part);
	return !strstr(rest, "..") &&
	       snprintf(to, 4096, "%s%s", strcmp(real, "/") == 0 ? "" : real, rest) < 4096;
}

const char *rg_workspace_below(const char *root, const char *path)
{
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(root, path, length) != 0)
		return NULL;
	return path[length] == '/' ? path + length + 1 : path[length] ? NULL : path + length;
}

/* ----------------------------------------------------------------- trust -- */

int rg_workspace_trust(struct rg_workspace *workspace, const struct rg_trust **ret_trust,
		       struct roger_err *err)
{
	struct rg_trusted_place_list places;
	int r = ROGER_OK;

	if (!workspace->trust)
		r = rg_trust_load(workspace->root, workspace->owner, &workspace->trust, err);
	/* check_owner() calls this before the configuration is read, so there are no places yet. */
	if (r == ROGER_OK && workspace->config && !workspace->trust->places.count) {
		r = rg_storage_all(workspace->config, workspace->root, workspace->trust->memory,
				   &places, err);
		if (r == ROGER_OK)
			rg_trust_compare(workspace->trust, places);
	}
	*ret_trust = workspace->trust;
	return r;
}

static int look_at_git(struct rg_workspace *workspace, enum rg_git_state *ret_state,
		       struct roger_err *err)
{
	struct rg_trust *trust = workspace->trust;
	struct roger_str sha256 = { "", 0 };
	enum rg_git_state state;
	struct roger_strs files;
	int r;

	r = rg_storage_tracked(workspace->config, workspace->root, trust->places, trust->memory,
			       &state, &files, &sha256, err);
	*ret_state = r < 0 ? RG_GIT_UNKNOWN : rg_trust_judge_git(trust, state, sha256);
	return r;
}

const char *rg_workspace_distrust(struct rg_workspace *workspace)
{
	const struct rg_trust *trust;
	enum rg_git_state git = RG_GIT_CLEAR;
	struct rg_file_facts open;
	struct roger_err err;
	int r;

	if (rg_file_examine(workspace->data, ".", &open, NULL) == ROGER_OK &&
	    rg_file_inode(workspace->data_path) != open.inode)
		return "the workspace was removed, moved or made anew; start this program again";
	workspace->trust = rg_trust_free(workspace->trust);
	r = rg_workspace_trust(workspace, &trust, &err);
	if (r == ROGER_OK && trust->mailbox && !trust->moved)
		r = look_at_git(workspace, &git, &err);
	workspace->git_busy = git == RG_GIT_BUSY;
	if (r < 0)
		snprintf(workspace->distrust, RG_DISTRUST_BYTES, "%.*s", RG_DISTRUST_BYTES - 1,
			 err.message);
	else
		rg_trust_say(trust, git, workspace->distrust);
	return workspace->distrust;
}

/* True if others may open the journal.  roger makes it for the owner alone; git and other programs
 * use the umask. */
static bool is_made_by_others(const struct rg_workspace *workspace)
{
	struct rg_file_facts facts;

	return rg_file_examine(workspace->data, workspace->config->jsonl_file.data, &facts, NULL) ==
		       ROGER_OK &&
	       facts.kind == RG_FILE_REGULAR && facts.open_to_others;
}

void rg_workspace_compare(struct rg_workspace *workspace)
{
	const struct rg_trust *trust;
	enum rg_git_state git = RG_GIT_CLEAR;

	if (workspace->compared)
		return;
	workspace->compared = true;
	if (rg_workspace_trust(workspace, &trust, NULL) == ROGER_OK && trust->mailbox) {
		if (trust->moved || is_made_by_others(workspace))
			(void)!look_at_git(workspace, &git, NULL);
		workspace->exposed = git == RG_GIT_TRACKS;
		if (!workspace->notice[0] && (trust->moved || workspace->exposed))
			rg_trust_say(trust, git, workspace->notice);
	}
	/* A person may trust more before this is used again, so it is loaded again then. */
	workspace->trust = rg_trust_free(workspace->trust);
}

/* Fail if another user keeps the workspace at root closed: trust opens no file. */
static int check_open(const char *root, int64_t owner, struct roger_err *err)
{
	char config[4200];

	snprintf(config, sizeof config, "%s/" RG_WORKSPACE_FOLDER "/config.yaml", root);
	if (rg_trust_is_ours(owner) || access(config, R_OK) == 0 || errno != EACCES)
		return ROGER_OK;
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "'%s/" RG_WORKSPACE_FOLDER "' belongs to another user (id %lld), who keeps "
		       "it closed; `roger serve` of that user lets others in",
		       root, (long long)owner);
}

static int check_owner(struct rg_workspace *workspace, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf root = { .maximum = SIZE_MAX };
	const struct rg_trust *trust;
	int r;

	if (rg_trust_is_ours(workspace->owner))
		return ROGER_OK;
	r = rg_workspace_trust(workspace, &trust, err);
	if (r < 0 || trust->mailbox)
		return r;
	r = check_open(workspace->root, workspace->owner, err);
	if (r < 0)
		return r;
	/* Others named it, and somebody may type this. */
	rg_buf_add_typed_word(&root, rg_str(workspace->root));
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "'%s/%s' belongs to another user (id %lld); if you trust it, run `roger "
		       "trust --workspace %.*s`",
		       workspace->root, RG_WORKSPACE_FOLDER, (long long)workspace->owner,
		       RG_STR_ARGS(rg_buf_str(&root)));
}

/* Fail if a configured place outside the usual folders is not trusted. */
static int check_places(struct rg_workspace *workspace, struct roger_err *err)
{
	const struct rg_trusted_place *place;
	const struct rg_trust *trust;
	size_t i;
	int r;

	if (!workspace->config->places_configured)
		return ROGER_OK;
	r = rg_workspace_trust(workspace, &trust, err);
	for (i = 0; r == ROGER_OK && i < trust->places.count; i++) {
		place = &trust->places.items[i];
		if (rg_storage_needs_trust(workspace->root, place) &&
		    !rg_trust_has_path(trust, place->path))
			r = rg_fail(
				err, ROGER_ECONFIG, 0,
				"%.*s: %.*s: '%.*s' is %s; roger writes there only after `roger "
				"trust`",
				RG_STR_ARGS(place->origin), RG_STR_ARGS(place->setting),
				RG_STR_ARGS(place->path),
				rg_workspace_below(workspace->root, place->path.data)
					? "no folder for messages"
					: "outside the workspace");
	}
	if (r < 0)
		return r;
	/* A log has the name of its sender, which may be that of a journal. */
	place = &trust->places.items[RG_PLACE_SEND_LOGS];
	if (!rg_str_equal(place->path, trust->places.items[RG_PLACE_DATA].path))
		return ROGER_OK;
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "%.*s: %.*s: '%.*s' is where the journals are; name a folder of its own",
		       RG_STR_ARGS(place->origin), RG_STR_ARGS(place->setting),
		       RG_STR_ARGS(place->path));
}

/*
 * Note that the workspace is not trusted: it came with a repository, or an older roger made it.
 * A person reads it once, or each time if that cannot be stored.
 */
static int note_distrust(struct rg_workspace *workspace, struct roger_err *err)
{
	const struct rg_trust *trust;
	int r;

	if (rg_trust_has_document(workspace->root))
		return ROGER_OK;
	r = rg_workspace_trust(workspace, &trust, err);
	if (r < 0 || trust->mailbox)
		return r;
	rg_trust_note_warned(workspace->trust);
	snprintf(
		workspace->notice, sizeof workspace->notice,
		"this workspace is not trusted yet: its mail is shown to no agent unasked, and its "
		"commands do not run; if it is yours, run `roger trust`");
	return ROGER_OK;
}

/* --------------------------------------------------------------- opening -- */

/* Note if worktrees do not share a workspace: the worktree's own one is not used, or is the only
 * one. */
static void note_split(struct rg_workspace *workspace, const struct found *found)
{
	const struct rg_worktree *tree = &workspace->tree;
	const char *own = found->own;
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf move = { .maximum = SIZE_MAX };
	struct rg_file_facts facts;
	char home[4200];
	bool mail;

	if (!tree->base[0] || (!own[0] && !rg_workspace_below(tree->base, workspace->root)))
		return;
	if (rg_seat_told(workspace, false))
		return;
	snprintf(home, sizeof home, "%s/" RG_WORKSPACE_FOLDER, own[0] ? own : workspace->root);
	rg_buf_add_text(&move, "roger move --from ");
	rg_buf_add_typed_word(&move, rg_str(home));
	rg_buf_add_char(&move, ' ');
	rg_buf_add_typed_word(&move, rg_str(own[0] ? workspace->root : tree->main));
	/* Half a command could move something else. */
	if (move.length > 500)
		move.length = strlen("roger move");
	if (!own[0]) {
		snprintf(workspace->split, sizeof workspace->split,
			 "this git worktree has a workspace of its own, so agents in others do not "
			 "see its mail; `%.*s` makes it that of all",
			 RG_STR_ARGS(rg_buf_str(&move)));
		return;
	}
	if (rg_file_open_folder(AT_FDCWD, home, &folder, NULL) < 0 || folder == RG_NO_FILE ||
	    rg_file_is_there(folder, "move"))
		return;
	mail = rg_file_look(folder, "messages.jsonl", &facts, NULL) == ROGER_OK && facts.size;
	snprintf(workspace->split, sizeof workspace->split,
		 "this is a git worktree, and all worktrees share the workspace in '%.200s'; "
		 "'%.200s/.roger' is not used%s%.*s%s",
		 workspace->root, own, mail ? ", but has mail: `" : "", mail ? (int)move.length : 0,
		 move.data, mail ? "` takes it in" : "");
}

int rg_workspace_open(const char *path, struct rg_workspace **ret_workspace, struct roger_err *err)
{
	struct rg_workspace *workspace = calloc(1, sizeof *workspace);
	struct found found;
	int r;

	if (!workspace)
		return rg_fail_memory(err);
	workspace->data = RG_NO_FILE;
	r = find_workspace(path, workspace->root, &found, err);
	workspace->owner = found.owner;
	if (found.tree.base[0])
		workspace->tree = found.tree;
	if (r == ROGER_OK)
		r = check_owner(workspace, err);
	if (r == ROGER_OK)
		r = rg_config_load(workspace->root, &workspace->config, err);
	if (r == ROGER_OK)
		r = check_places(workspace, err);
	if (r == ROGER_OK && workspace->config->data_dir.length > 200)
		r = rg_fail(err, ROGER_ECONFIG, 0,
			    "storage.data_dir: expected a path of at most 200 bytes");
	/* A configured data folder is made if it is missing. */
	if (r == ROGER_OK) {
		rg_workspace_path(workspace->root, workspace->config->data_dir,
				  workspace->data_path, sizeof workspace->data_path);
		r = rg_file_open_made_folder(AT_FDCWD, workspace->data_path, &workspace->data, err);
	}
	if (r == ROGER_OK && !workspace->config->store.length)
		r = rg_disk_check(workspace->data, workspace->data_path, true, err);
	/* A configured file must be a journal. */
	if (r == ROGER_OK && workspace->config->places_configured)
		r = rg_storage_check_file(workspace->data, workspace->config->jsonl_file.data,
					  RG_LOG_MESSAGES, err);
	if (r == ROGER_OK)
		r = rg_shield(workspace, err);
	if (r == ROGER_OK)
		r = note_distrust(workspace, err);
	/* Without configured places the verbs compare later, except send, which has no time. */
	if (r == ROGER_OK && (workspace->config->places_configured || is_made_by_others(workspace)))
		rg_workspace_compare(workspace);
	if (r < 0) {
		rg_workspace_close(workspace);
		return r;
	}
	workspace->config_at_ms = rg_clock_monotonic_ms();
	note_split(workspace, &found);
	*ret_workspace = workspace;
	return ROGER_OK;
}

void rg_workspace_refresh(struct rg_workspace *workspace)
{
	const int64_t now_ms = rg_clock_monotonic_ms();
	struct rg_config *config;
	struct roger_err err;
	uint64_t mark;

	if (now_ms - workspace->config_at_ms < CONFIG_LOOK_MS)
		return;
	workspace->config_at_ms = now_ms;
	workspace->wrong[0] = '\0';
	mark = rg_config_mark(workspace->root);
	if (mark == workspace->config_mark)
		return;
	if (rg_config_load(workspace->root, &config, &err) < 0) {
		snprintf(workspace->wrong, sizeof workspace->wrong,
			 "%.400s; the settings before are still in use", err.message);
		return;
	}
	if (!rg_config_same_places(workspace->config, config)) {
		snprintf(
			workspace->wrong, sizeof workspace->wrong,
			"a path, file name or `store` in the configuration was changed; start this "
			"program again: until then it uses the settings before");
		rg_config_free(config);
		return;
	}
	workspace->config_mark = mark;
	config->before = workspace->config;
	workspace->config = config;
}

struct rg_workspace *rg_workspace_close(struct rg_workspace *workspace)
{
	if (!workspace)
		return NULL;
	rg_file_close(workspace->data);
	rg_config_free(workspace->config);
	rg_trust_free(workspace->trust);
	free(workspace);
	return NULL;
}

/* Make the folder, and those above it that are missing. */
static int make_root(const char *path, struct roger_err *err)
{
	char folder[4096];
	size_t i;
	int r = ROGER_OK;

	for (i = 1; r == ROGER_OK && path[i - 1] && i < sizeof folder; i++)
		if (!path[i] || path[i] == '/') {
			snprintf(folder, sizeof folder, "%.*s", (int)i, path);
			r = rg_file_make_folder(AT_FDCWD, folder, NULL, err);
		}
	return r;
}

/* Make a file of fixed text, unless it is there. */
static int make_file(int folder, const char *name, struct roger_str text, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r;

	r = rg_file_open(folder, name, RG_FILE_READ, &file, err);
	if (r < 0 || file != RG_NO_FILE)
		return r;
	return rg_file_replace(folder, name, text, true, err);
}

/* Trust the mailbox in its default places only: configured places may have existed before. */
static int accept_made(struct rg_trust *trust, struct roger_err *err)
{
	struct rg_trusted wish = { 0 };
	struct rg_config *config;
	int r = rg_config_new(&config, err);

	if (r < 0)
		return r;
	r = rg_storage_all(config, trust->root.data, trust->memory, &wish.places, err);
	rg_config_free(config);
	return r == ROGER_OK ? rg_trust_accept(trust, &wish, err) : r;
}

static int trust_made(const char *root, bool made, char why[RG_WHY_BYTES], struct roger_err *err)
{
	RG_CLEANUP(rg_trust_freep) struct rg_trust *trust = NULL;
	struct roger_err inner;
	int r = rg_trust_load_there(root, &trust, err);

	why[0] = '\0';
	if (r < 0)
		return r;
	if (made && accept_made(trust, &inner) < 0)
		snprintf(why, RG_WHY_BYTES, "%.350s", inner.message);
	else if (!trust->mailbox)
		snprintf(why, RG_WHY_BYTES,
			 "it was here before; if it is yours, run `roger trust`");
	if (trust->mailbox)
		why[0] = '\0';
	return ROGER_OK;
}

int rg_workspace_make(const char *path, bool *ret_made, char root[4096], char why[RG_WHY_BYTES],
		      struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int top = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int home = RG_NO_FILE;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf settings = { .maximum = SIZE_MAX };
	struct rg_worktree tree;
	struct stat facts;
	int r;

	r = make_root(path, err);
	if (r == ROGER_OK)
		r = rg_workspace_home(path, root, &tree, err);
	if (r == ROGER_OK)
		r = rg_file_open_folder(AT_FDCWD, root, &top, err);
	if (r == ROGER_OK && !getenv("ROGER_STORE"))
		r = rg_disk_check(top, root, false, err);
	/* A second one at the same moment waits until the first has trusted what it made. */
	if (r == ROGER_OK)
		(void)!rg_file_lock(top, root, RG_LOCK_WAIT_MS, NULL);
	if (r == ROGER_OK)
		r = rg_file_make_folder(top, RG_WORKSPACE_FOLDER, ret_made, err);
	if (r == ROGER_OK && fstatat(top, RG_WORKSPACE_FOLDER, &facts, 0) == 0)
		r = check_open(root, facts.st_uid, err);
	if (r == ROGER_OK)
		r = rg_file_open_made_folder(top, RG_WORKSPACE_FOLDER, &home, err);
	if (r == ROGER_OK && *ret_made) {
		r = rg_disk_try(home, root, err);
		if (r < 0)
			rg_file_remove_folder(top, RG_WORKSPACE_FOLDER);
	}
	if (r == ROGER_OK)
		r = make_file(home, ".gitignore", RG_STR(RG_SHIELD_TEXT), err);
	rg_config_template(&settings);
	if (r == ROGER_OK)
		r = rg_kept(!settings.failed, err);
	if (r == ROGER_OK)
		r = make_file(home, "config.yaml", rg_buf_str(&settings), err);
	return r == ROGER_OK ? trust_made(root, *ret_made, why, err) : r;
}

int rg_workspace_settings(const struct rg_workspace *workspace, struct rg_arena *arena,
			  struct roger_str *ret_text, struct roger_err *err)
{
	char path[4200];

	snprintf(path, sizeof path, "%s/" RG_WORKSPACE_FOLDER "/config.yaml", workspace->root);
	return rg_file_read_text(AT_FDCWD, path, 4 << 20, arena, ret_text, err);
}

bool rg_workspace_above(const char *root, char to[4096])
{
	struct found found = { 0 };
	struct limit limit;
	char *slash;

	snprintf(to, 4096, "%s", root);
	slash = strrchr(to, '/');
	find_limit(root, &limit);
	if (!slash || !slash[1] || !may_climb(&limit, root))
		return false;
	slash[slash == to] = '\0';
	return climb_folders(to, false, &found, NULL) == ROGER_OK && found.there;
}

void rg_workspace_file_name(struct roger_str name, const char *suffix, char to[RG_FILE_NAME_BYTES])
{
	char encoded[3 * 256 + 1];
	size_t length = 0, i;
	unsigned char c;

	for (i = 0; i < name.length && i < 256; i++) {
		c = (unsigned char)name.data[i];
		if ((isalnum(c) && c < 0x80) || c == '_' || c == '-' || (c == '.' && i > 0))
			encoded[length++] = (char)c;
		else
			length += (size_t)snprintf(encoded + length, 4, "%%%02X", c);
	}
	encoded[length] = '\0';
	if (length <= 200)
		snprintf(to, RG_FILE_NAME_BYTES, "%.200s%s", encoded, suffix);
	else
		snprintf(to, RG_FILE_NAME_BYTES, "%.150s%%~%016llx%016llx%s", encoded,
			 (unsigned long long)rg_hash(1, name.data, name.length),
			 (unsigned long long)rg_hash(2, name.data, name.length), suffix);
}
