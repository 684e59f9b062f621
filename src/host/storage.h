/*
 * storage - where the configuration may place files.
 *
 * A configuration can come with a repository.  So what `storage:` names must be in the
 * workspace, links resolved, in one of the usual folders, unless a person trusts the
 * path; and a file in a configured place is appended to only when it is empty or begins
 * with a record of its kind.
 */
#ifndef RG_STORAGE_H
#define RG_STORAGE_H

#include "base/arena.h"
#include "facts/log_kinds.h"
#include "host/config.h"
#include "host/git.h"
#include "host/trust.h"

/* The places of a mailbox, in the order of rg_storage_all(). */
enum rg_storage_place {
	RG_PLACE_DATA,
	RG_PLACE_JOURNAL,
	RG_PLACE_DATABASE,
	RG_PLACE_SEND_LOGS,
	RG_PLACE_ACTIVITY,
	RG_PLACE_TRIGGERS,
	RG_PLACE_STORE,
	RG_PLACES,
};

/* Must a person trust the place, one of rg_storage_all(), before it may be used? */
bool rg_storage_needs_trust(const char *root, const struct rg_trusted_place *place);

/* List every place of a mailbox, links resolved; those with their defaults are not resolved. */
RG_CHECKED int rg_storage_all(const struct rg_config *config, const char *root,
			      struct rg_arena *arena, struct rg_trusted_place_list *ret_places,
			      struct roger_err *err);

/*
 * List the files of a mailbox that git tracks; *ret_sha256: of their names, "": there are none.
 */
RG_CHECKED int rg_storage_tracked(const struct rg_config *config, const char *root,
				  struct rg_trusted_place_list places, struct rg_arena *arena,
				  enum rg_git_state *ret_state, struct roger_strs *ret_files,
				  struct roger_str *ret_sha256, struct roger_err *err);

/*
 * Check that a file may be appended to: it is missing or empty, or its first line is an
 * entry of that log, or the start of one that was cut off.  Else ROGER_ECONFIG.
 */
RG_CHECKED int rg_storage_check_file(int folder, const char *name, enum rg_log log,
				     struct roger_err *err);

/* Name the files of the seeds' own programs below root that this configuration does not use, and
 * the settings that would use them; "": there are none. */
RG_CHECKED int rg_storage_unused(const struct rg_config *config, const char *root,
				 struct rg_arena *arena, struct roger_str *ret_text,
				 struct roger_err *err);

#endif
