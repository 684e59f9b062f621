/*
 * storage - where the configuration lets files be.
 *
 * A configuration can come with a repository.  So what `storage:` names must be in the
 * workspace, links resolved, in one of the usual folders, unless a person trusts the
 * path; and a file in a configured place is appended to only when it is empty or begins
 * with a record of its kind.
 */
#ifndef RG_STORAGE_H
#define RG_STORAGE_H

#include "base/arena.h"
#include "facts/kinds.h"
#include "host/config.h"
#include "host/git.h"
#include "host/trust.h"

/* Is the place, one of rg_storage_all(), not allowed by itself? */
bool rg_storage_needs_trust(const char *root, const struct rg_trusted_place *place);

/* Every place of a mailbox, as it is resolved.  What has its default is not looked at. */
RG_CHECKED int rg_storage_all(const struct rg_config *config, const char *root,
			      struct rg_arena *arena, struct rg_trusted_place_list *ret_places,
			      struct roger_err *err);

/*
 * Which of its files git tracks; sha256: of their names, "" where there are none.
 */
RG_CHECKED int rg_storage_tracked(const struct rg_config *config, const char *root,
				  struct rg_trusted_place_list places, struct rg_arena *arena,
				  enum rg_git_state *ret_state, struct roger_strs *ret_files,
				  struct roger_str *ret_sha256, struct roger_err *err);

/*
 * May a file be added to?  It is missing or empty, or its first whole line is a
 * entry of that log, or the start of one that was cut off.  Else ROGER_ECONFIG.
 */
RG_CHECKED int rg_storage_check_file(int folder, const char *name, enum rg_log log,
				     struct roger_err *err);

/* Files of the seeds' own programs below root that this configuration does not use, and the
 * settings that would; "": there are none. */
RG_CHECKED int rg_storage_unused(const struct rg_config *config, const char *root,
				 struct rg_arena *arena, struct roger_str *ret_text,
				 struct roger_err *err);

#endif
