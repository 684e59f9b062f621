#include "host/worktree.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "host/outside.h"
#include "host/trust.h"
#include "host/workspace.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 64 };

static bool is_our_folder(const char *path)
{
	struct stat facts;

	return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode) && rg_trust_is_ours(facts.st_uid);
}

/* Follow the path in a file of git's, links resolved; false: it leads nowhere. */
static bool follow_pointer(const char *folder, const char *file, const char *word,
			   char to[PATH_BYTES])
{
	char path[PATH_BYTES + NAME_BYTES], named[PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s", folder, file);
	return rg_outside_pointer(path, word, folder, named) && realpath(named, to) &&
	       strlen(to) < PATH_BYTES - NAME_BYTES;
}

/* Split the tree's folder in the repository, own, into the repository's, common, and its name. */
static bool split_path(const char *own, char common[PATH_BYTES], char name[256])
{
	char path[PATH_BYTES], *last, *kind, said[PATH_BYTES];

	snprintf(path, sizeof path, "%s", own);
	last = rg_outside_cut(path);
	if (!last || snprintf(name, 256, "%s", last) >= 256)
		return false;
	kind = rg_outside_cut(path);
	return kind && strcmp(kind, "worktrees") == 0 &&
	       follow_pointer(own, "commondir", "", said) && strcmp(said, path) == 0 &&
	       snprintf(common, PATH_BYTES, "%s", path) < PATH_BYTES;
}

/*
 * Find the main checkout: the folder around the repository, if that is .git or a .git there points
 * to it (`proj/.bare` beside `proj/.git`).  Else, as for a submodule or a bare one, it is the
 * repository itself: upwards from there, a submodule is in its superproject.
 */
static void find_main(const char *common, char to[PATH_BYTES])
{
	char around[PATH_BYTES], named[PATH_BYTES], *last;

	snprintf(to, PATH_BYTES, "%s", common);
	snprintf(around, sizeof around, "%s", common);
	last = rg_outside_cut(around);
	if (last &&
	    (strcmp(last, ".git") == 0 ||
	     (follow_pointer(around, ".git", "gitdir: ", named) && strcmp(named, common) == 0)))
		snprintf(to, PATH_BYTES, "%s", around);
}

enum rg_worktree_state rg_worktree_look(const char *folder, struct rg_worktree *ret_tree)
{
	char git[PATH_BYTES + NAME_BYTES], own[PATH_BYTES], back[PATH_BYTES], common[PATH_BYTES];
	struct rg_worktree tree = { 0 };
	struct stat facts, there;

	rg_workspace_path(strcmp(folder, "/") == 0 ? "" : folder, RG_STR(".git"), git, sizeof git);
	if (lstat(git, &facts) < 0)
		return RG_WORKTREE_NONE;
	if (!S_ISREG(facts.st_mode))
		return RG_WORKTREE_CHECKOUT;
	/* Another user's file would lead to what that user wants. */
	if (!rg_trust_is_ours(facts.st_uid))
		return RG_WORKTREE_NONE;
	if (!follow_pointer(folder, ".git", "gitdir: ", own))
		return RG_WORKTREE_LOST;
	if (!split_path(own, common, tree.name))
		return RG_WORKTREE_CHECKOUT;
	/* The repository must know this very file: a copy of a tree is no tree.  Paths may differ
	 * in case, so inodes are compared. */
	if (!is_our_folder(own) || !is_our_folder(common) ||
	    !follow_pointer(own, "gitdir", "", back) || lstat(back, &there) < 0 ||
	    there.st_dev != facts.st_dev || there.st_ino != facts.st_ino)
		return RG_WORKTREE_LOST;
	find_main(common, tree.main);
	snprintf(git, sizeof git, "%s/commondir", own);
	if (lstat(git, &facts) == 0)
		tree.made_ns = facts.st_mtim.tv_sec * INT64_C(1000000000) + facts.st_mtim.tv_nsec;
	snprintf(tree.base, sizeof tree.base, "%s", folder);
	*ret_tree = tree;
	return RG_WORKTREE_LINKED;
}

enum rg_worktree_state rg_worktree_find(const char *folder, struct rg_worktree *ret_tree)
{
	enum rg_worktree_state state;
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s", folder);
	do
		state = rg_worktree_look(path, ret_tree);
	while (state == RG_WORKTREE_NONE && rg_outside_cut(path));
	return state;
}

void rg_worktree_map(const struct rg_worktree *tree, const char *folder, char to[4096])
{
	const char *below = rg_workspace_below(tree->base, folder);
	bool fits = snprintf(to, PATH_BYTES, "%s%s%s", tree->main, below && *below ? "/" : "",
			     below ? below : "") < PATH_BYTES;
	bool same = false;
	char real[PATH_BYTES];

	/* A link may lead anywhere, so a folder behind one does not count. */
	while (fits && !same && strlen(to) > strlen(tree->main)) {
		same = realpath(to, real) && strcmp(real, to) == 0 && is_our_folder(to);
		if (!same)
			rg_outside_cut(to);
	}
	if (!same)
		snprintf(to, PATH_BYTES, "%s", tree->main);
}
