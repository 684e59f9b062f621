/*
 * trust - what a person allows a workspace that others may have written.
 *
 * A workspace can come with a repository, from another user, or from a disk, so it may
 * not decide what runs.  What a person trusts is kept outside it: one document for each workspace,
 * named by a hash of its path, in $XDG_STATE_HOME/roger/trust/ (else ~/.local/state/roger/trust/),
 * for their eyes alone.  It has three parts:
 *
 *     mailbox   path, owner of .roger/, and .roger/id, 128 random bits
 *     commands  SHA-256 of each one's words and of the files that they name
 *     paths     where files may be outside the usual folders
 *
 * The last two count only while the first does.  ROGER_TRUST (a path) trusts a
 * mailbox, too, ROGER_TRUST_COMMANDS=1 the commands of one that is trusted, and
 * /etc/roger/trust either of them, or a path.  Nothing of this is read from a
 * file of the workspace but its id.
 */
#ifndef RG_TRUST_H
#define RG_TRUST_H

#include "base/arena.h"

#define RG_TRUST_MACHINE_FILE "/etc/roger/trust"

/* The document on disk. */
struct rg_trusted {
	int64_t version;
	struct roger_str path; /* the workspace: the folder that holds .roger/ */
	int64_t owner;	       /* user id */
	struct roger_str id;   /* "": not trusted; it only notes that a person was warned */
	int64_t accepted_at_ms;
	struct roger_strs commands; /* SHA-256, 64 hexadecimal digits each */
	struct roger_strs paths;    /* absolute, links resolved */
};
ROGER_LIST(rg_trusted_list, rg_trusted);

struct rg_trust {
	struct rg_arena *memory;
	struct roger_str root;
	int64_t owner;
	struct roger_str id; /* of .roger/id; "": it has none */
	struct rg_trusted known;
	bool warned;	   /* a person was warned that the workspace is not trusted */
	bool mailbox;	   /* trusted */
	bool all_commands; /* of it are trusted */
	struct roger_strs machine_paths;
};

/* Is this user id ours, or, as root under sudo, that of the caller? */
bool rg_trust_is_ours(int64_t owner);

/*
 * What is trusted of the workspace in the folder root (absolute, links
 * resolved), whose .roger/ belongs to owner.  What cannot be read is not trusted; that
 * is not an error.
 */
RG_CHECKED int rg_trust_load(const char *root, int64_t owner, struct rg_trust **ret_trust,
			     struct roger_err *err);
struct rg_trust *rg_trust_free(struct rg_trust *trust);

/* Lines of /etc/roger/trust, or another file of its form that must be root's; for rg_trust_load().
 */
RG_CHECKED int rg_trust_read_machine(struct rg_trust *trust, const char *path,
				     struct roger_err *err);

/*
 * SHA-256 of a command's words and of every file in the workspace that one of
 * them names, or that is the program found along PATH; those files, by name.
 */
RG_CHECKED int rg_trust_digest(const char *root, struct roger_strs words, struct rg_arena *arena,
			       struct roger_str *ret_sha256, struct roger_strs *ret_files,
			       struct roger_err *err);

bool rg_trust_has_command(const struct rg_trust *trust, struct roger_str sha256);
bool rg_trust_has_path(const struct rg_trust *trust, struct roger_str path);

/*
 * Trust the mailbox, these commands and these paths, and nothing else, from now
 * on; it gets an id where it has none.  Durable.  ROGER_ECREATE, ROGER_EIO: the
 * state folder cannot be written.
 */
RG_CHECKED int rg_trust_accept(struct rg_trust *trust, struct roger_strs commands,
			       struct roger_strs paths, struct roger_err *err);

/* Is there a document for that path, whatever it says?  Quick. */
bool rg_trust_has_document(const char *root);

/* Note on disk that a person was warned; false: not possible. */
bool rg_trust_note_warned(struct rg_trust *trust);

/* Trust nothing of the workspace in root any more; *ret_was: something was trusted. */
RG_CHECKED int rg_trust_revoke(const char *root, bool *ret_was, struct roger_err *err);

/* Every document, in no order; memory from arena. */
RG_CHECKED int rg_trust_list(struct rg_arena *arena, struct rg_trusted_list *ret_list,
			     struct roger_err *err);

#endif
