#include "host/restore.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "host/disk.h"
#include "host/file.h"
#include "host/shield.h"

enum { DEPTH_MAX = 4 };
static const char spare[] = RG_WORKSPACE_FOLDER ".restore";

/* Remove all in a folder; best effort, since a file that stays is found when it is made again. */
static void empty_folder(int folder, int depth)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_strs names = { 0 };
	int inner;
	size_t i;

	if (!arena || rg_file_list_folder(folder, spare, arena, &names, NULL) < 0)
		return;
	for (i = 0; i < names.count; i++) {
		if (rg_file_remove(folder, names.items[i].data, NULL) == ROGER_OK)
			continue;
		inner = RG_NO_FILE;
		if (depth < DEPTH_MAX &&
		    rg_file_open_folder(folder, names.items[i].data, &inner, NULL) == ROGER_OK &&
		    inner != RG_NO_FILE)
			empty_folder(inner, depth + 1);
		rg_file_close(inner);
		rg_file_remove_folder(folder, names.items[i].data);
	}
}

static int fail_there(const struct rg_restore *restore, struct roger_err *err)
{
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "there is a workspace in '%s' already: restore into another folder",
		       restore->root);
}

/* Lock the folder, and look again: the one that held the lock may have renamed it. */
static int lock_spare(struct rg_restore *restore, struct roger_err *err)
{
	struct rg_file_facts facts = { 0 };
	int r = rg_file_open_made_folder(restore->top, spare, &restore->home, err);

	if (r == ROGER_OK)
		r = rg_file_lock(restore->home, spare, 0, err);
	if (r == ROGER_OK)
		r = rg_file_facts(restore->home, spare, &facts, err);
	if (r == ROGER_OK && (!rg_file_is(restore->top, spare, facts.device, facts.inode) ||
			      rg_file_is_there(restore->top, RG_WORKSPACE_FOLDER)))
		r = fail_there(restore, err);
	if (r < 0)
		restore->home = rg_file_close(restore->home);
	else
		empty_folder(restore->home, 0);
	return r == ROGER_OK ? rg_disk_try(restore->home, restore->root, err) : r;
}

int rg_restore_begin(const char *path, struct rg_restore *ret_restore, struct roger_err *err)
{
	struct rg_restore *restore = ret_restore;
	struct rg_worktree tree;
	bool made = false;
	int r;

	*restore = (struct rg_restore){
		.top = RG_NO_FILE, .home = RG_NO_FILE, .folder = RG_NO_FILE, .file = RG_NO_FILE
	};
	r = rg_file_make_folder(AT_FDCWD, path, &made, err);
	restore->made = made ? path : NULL;
	if (r == ROGER_OK)
		r = rg_workspace_home(path, restore->root, &tree, err);
	if (r == ROGER_OK)
		r = rg_file_open_folder(AT_FDCWD, restore->root, &restore->top, err);
	if (r == ROGER_OK && rg_file_is_there(restore->top, RG_WORKSPACE_FOLDER))
		r = fail_there(restore, err);
	if (r == ROGER_OK)
		r = rg_disk_check(restore->top, restore->root, false, err);
	return r == ROGER_OK ? lock_spare(restore, err) : r;
}

/* Sync and close the present file; folder_too: its folder, too. */
static int end_file(struct rg_restore *restore, bool folder_too, struct roger_err *err)
{
	int r = ROGER_OK;

	if (restore->file != RG_NO_FILE)
		r = rg_file_sync(restore->file, spare, err);
	restore->file = rg_file_close(restore->file);
	if (!folder_too || restore->folder == RG_NO_FILE)
		return r;
	if (r == ROGER_OK)
		r = rg_file_sync_folder(restore->folder, spare, err);
	restore->folder = rg_file_close(restore->folder);
	return r;
}

/* May a backup hold this file?  Journals, documents and settings; never ids, keys or trust. */
static bool may_be(const char *name)
{
	const char *end = strrchr(name, '.');
	const char *at;
	int depth = 0;

	for (at = name; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == '\\' || *at == 0x7f)
			return false;
		if (at != name && at[-1] != '/')
			continue;
		/* A part of the path starts here. */
		if (*at == '.' || *at == '/' || ++depth > 3)
			return false;
	}
	return end && end != name && name[strlen(name) - 1] != '/' &&
	       (strcmp(end, ".jsonl") == 0 || strcmp(end, ".json") == 0 ||
		strcmp(name, "config.yaml") == 0 || strcmp(name, "config.yaml.backup") == 0);
}

int rg_restore_file(struct rg_restore *restore, const char *name, struct roger_err *err)
{
	const char *slash = strrchr(name, '/');
	char below[512];
	int r;

	if (!may_be(name))
		return rg_fail(err, ROGER_EDATA, 0, "'%.300s' is no file of a backup", name);
	snprintf(below, sizeof below, "%.*s", slash ? (int)(slash - name) : 1, slash ? name : ".");
	r = end_file(restore, strcmp(below, restore->below) != 0, err);
	if (r == ROGER_OK && restore->folder == RG_NO_FILE) {
		snprintf(restore->below, sizeof restore->below, "%s", below);
		r = rg_file_open_below(restore->home, below, true, &restore->folder, err);
	}
	return r == ROGER_OK ? rg_file_open(restore->folder, slash ? slash + 1 : name,
					    RG_FILE_CREATE_NEW, &restore->file, err)
			     : r;
}

int rg_restore_write(struct rg_restore *restore, struct roger_str piece, struct roger_err *err)
{
	return rg_file_write(restore->file, piece.data, piece.length, spare, err);
}

int rg_restore_finish(struct rg_restore *restore, struct roger_err *err)
{
	bool moved = false;
	int r = end_file(restore, true, err);

	if (r == ROGER_OK)
		r = rg_file_replace(restore->home, ".gitignore", RG_STR(RG_SHIELD_TEXT), true, err);
	if (r == ROGER_OK)
		r = rg_file_move(restore->top, spare, restore->top, RG_WORKSPACE_FOLDER, &moved,
				 err);
	if (!moved)
		return r < 0 ? r : rg_fail(err, ROGER_EIO, 0, "'%s' went away", spare);
	restore->home = rg_file_close(restore->home);
	restore->made = NULL;
	return rg_file_sync_folder(restore->top, RG_WORKSPACE_FOLDER, err);
}

void rg_restore_close(struct rg_restore *restore)
{
	rg_file_close(restore->file);
	rg_file_close(restore->folder);
	if (restore->home != RG_NO_FILE) {
		empty_folder(restore->home, 0);
		rg_file_remove_folder(restore->top, spare);
	}
	rg_file_close(restore->home);
	rg_file_close(restore->top);
	if (restore->made)
		rg_file_remove_folder(AT_FDCWD, restore->made);
}
