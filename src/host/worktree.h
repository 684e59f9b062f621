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

/* Is this folder, absolute and with its links resolved, the top of one?  *ret_tree is filled for
 * RG_WORKTREE_LINKED. */
enum rg_worktree_state rg_worktree_look(const char *folder, struct rg_worktree *ret_tree);

/* Look at the folder and those above it, up to the first that is not RG_WORKTREE_NONE. */
enum rg_worktree_state rg_worktree_find(const char *folder, struct rg_worktree *ret_tree);

/* Find folder's counterpart in the main checkout; if it is missing, the nearest one above it. */
void rg_worktree_map(const struct rg_worktree *tree, const char *folder, char to[4096]);

#endif
