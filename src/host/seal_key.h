/*
 * seal_key - the key that seals are signed with.  It stands in the data folder, and which one it
 * is, in what the person trusts: another one may have come with a repository.
 */
#ifndef RG_SEAL_KEY_H
#define RG_SEAL_KEY_H

#include "host/workspace.h"

/* "": there is none. */
struct rg_seal_key {
	struct roger_str secret;
	struct roger_str public_key; /* as its own file has it */
};

/* The public half of the key in a folder, whoever put it there; "": there is none. */
RG_CHECKED int rg_seal_key_there(const char *folder, struct rg_arena *arena,
				 struct roger_str *ret_public, struct roger_err *err);

/* Its public half, as trusted; "": none is.  Memory from arena. */
RG_CHECKED int rg_seal_key_find(struct rg_workspace *workspace, struct rg_arena *arena,
				struct rg_seal_key *ret_key, struct roger_err *err);

/*
 * Both halves, made where there is none, and from then on the one that is trusted.  For one process
 * at a time.  ROGER_EREFUSED: the key is not the trusted one, or nobody trusts the workspace.
 */
RG_CHECKED int rg_seal_key_make(struct rg_workspace *workspace, struct rg_arena *arena,
				struct rg_seal_key *ret_key, struct roger_err *err);

enum rg_seal_state { RG_SEAL_NONE, RG_SEAL_WHOLE, RG_SEAL_NO_PUBLIC, RG_SEAL_WRONG };
RG_CHECKED int rg_seal_key_state(struct rg_workspace *workspace, struct rg_arena *arena,
				 enum rg_seal_state *ret_state, struct roger_err *err);

#endif
