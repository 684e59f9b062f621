/*
 * worktree - linked working trees of git, and the checkout that they belong to.
 *
 * All working trees of one repository share one workspace, which is looked for from the
 * main checkout.  Only files are read, and git is never run: `.git`, a file, names the tree's
 * folder in the repository, `commondir` there the repository, and `gitdir` there the tree.  Files
 * may come from anybody, so the three must agree, stand where git puts them, and be our own.
 */
#ifndef RG_WORKTREE_H
#define RG_WORKTREE_H

#include "base/arena.h"

enum rg_worktree_state {
	RG_WORKTREE_NONE,     /* no .git here, or not one of ours */
	RG_WORKTREE_CHECKOUT, /* a repository, or a submodule, of its own */
	RG_WORKTREE_LINKED,   /* of the repository that it names */
	RG_WORKTREE_LOST,     /* its repository is not there, or does not know it */
};

struct rg_worktree {
	char base[4096]; /* its top folder; "": there is none */
	/* The main checkout; of a bare repository its folder; as absolute path, links resolved. */
	char main[4096];
	char name[256];	 /* what the repository calls it; no other working tree has it */
	int64_t made_ns; /* when git made it: a later one in the same place has another */
};

/* Is this folder, absolute and with its links resolved, the top of one?  Filled when LINKED. */
enum rg_worktree_state rg_worktree_look(const char *folder, struct rg_worktree *ret_tree);

/* The same of a folder or one above it; the first repository that is none of these ends it. */
enum rg_worktree_state rg_worktree_find(const char *folder, struct rg_worktree *ret_tree);

/* The folder of the main checkout that is what `folder` is in the tree, as far as that is there. */
void rg_worktree_map(const struct rg_worktree *tree, const char *folder, char to[4096]);

#endif
