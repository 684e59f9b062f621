/*
 * git - which of roger's files git tracks: whoever may push could write those.
 *
 * It is read from the index of every repository that a file may lie in.  git itself is not
 * run, since the configuration of a repository names programs that git starts.
 */
#ifndef RG_GIT_H
#define RG_GIT_H

#include "base/arena.h"

/* Does roger use this name, the first part of a path below a folder? */
typedef bool rg_git_uses(const void *context, struct roger_str name);

struct rg_git_watch {
	const char *path;  /* absolute, links resolved: a file, or a folder */
	rg_git_uses *uses; /* NULL: everything below the folder counts */
};

enum rg_git_state {
	RG_GIT_CLEAR,	/* git tracks none of them, or there is no repository */
	RG_GIT_TRACKS,	/* it tracks some */
	RG_GIT_BUSY,	/* it writes files right now, and its index comes last: ask again */
	RG_GIT_UNKNOWN, /* an index cannot be read */
};

/*
 * Find the watched paths of the workspace in root that git tracks, whatever their case; a tracked
 * link or submodule between root and one counts, too.  *ret_tracked: absolute paths.
 */
RG_CHECKED int rg_git_look(const char *root, const struct rg_git_watch *watches, size_t count,
			   const void *context, struct rg_arena *arena,
			   enum rg_git_state *ret_state, struct roger_strs *ret_tracked,
			   struct roger_err *err);

#endif
