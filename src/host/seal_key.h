/*
 * seal_key - the key that seals are signed with.  It is in the data folder; what a person trusts
 * names the right one, since another one may have come with a repository.
 */
#ifndef RG_SEAL_KEY_H
#define RG_SEAL_KEY_H

#include "host/workspace.h"

/* "": there is none. */
struct rg_seal_key {
	struct roger_str secret;
	struct roger_str public_key; /* as its own file has it */
};

/* The public half of the key in a folder, from any origin; "" if it has no key. */
RG_CHECKED int rg_seal_key_there(const char *folder, struct rg_arena *arena,
				 struct roger_str *ret_public, struct roger_err *err);

/* Find the trusted public half; "": none is trusted.  Memory from arena. */
RG_CHECKED int rg_seal_key_find(struct rg_workspace *workspace, struct rg_arena *arena,
				struct rg_seal_key *ret_key, struct roger_err *err);

/*
 * Read both halves, or make a key where there is none, and trust it from now on.  One process at a
 * time may call it.  ROGER_EREFUSED: another key is trusted, or nobody trusts the workspace.
 */
RG_CHECKED int rg_seal_key_make(struct rg_workspace *workspace, struct rg_arena *arena,
				struct rg_seal_key *ret_key, struct roger_err *err);

/* Say what is wrong with its files; NULL: nothing.  *ret_half: only the public half is missing. */
RG_CHECKED int rg_seal_key_check(struct rg_workspace *workspace, struct rg_arena *arena,
				 const char **ret_wrong, bool *ret_half, struct roger_err *err);

#endif
