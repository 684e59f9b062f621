/*
 * trust - what a person allows a workspace that others may have written.
 *
 * A workspace can come with a repository, from another user, or from a disk, so it may
 * not decide what runs.  What a person trusts is kept outside it: one document for each workspace,
 * named by a hash of its path, in $XDG_STATE_HOME/roger/trust/ (else ~/.local/state/roger/trust/),
 * for their eyes alone.  It has four parts:
 *
 *     mailbox   path, owner of .roger/, and .roger/id, 128 random bits
 *     places    where its files are, and who said so; git tracks none of them, or these
 *     commands  SHA-256 of each one's words and of the files that they name
 *     paths     where files may be outside the usual folders
 *
 * The other three count only while the first does, and commands only while the places are the
 * same.  ROGER_TRUST (a path) trusts a mailbox, too, ROGER_TRUST_COMMANDS=1 the commands of
 * one that is trusted, and /etc/roger/trust either of them, or a path.  Nothing of this is
 * read from a file of the workspace but its id.
 */
#ifndef RG_TRUST_H
#define RG_TRUST_H

#include "host/git.h"
#include "verbs.h"

#define RG_TRUST_MACHINE_FILE "/etc/roger/trust"

ROGER_LIST(rg_trusted_list, rg_trusted);

struct rg_trust {
	struct rg_arena *memory;
	struct roger_str root;
	int64_t owner;
	struct roger_str id; /* text of .roger/id; "": it has none */
	struct rg_trusted known;
	bool mailbox;	   /* trusted */
	bool named;	   /* trusted by the environment or the machine's file */
	bool all_commands; /* all its commands are trusted */
	struct roger_strs machine_paths;

	/* Set by rg_trust_compare(): all places as they are now; the first that is not trusted. */
	struct rg_trusted_place_list places;
	const struct rg_trusted_place *moved;
};

/* Is this user id ours, or, as root under sudo, that of the caller? */
bool rg_trust_is_ours(int64_t owner);

/*
 * Load what is trusted of the workspace in the folder root (absolute, links
 * resolved), whose .roger/ belongs to owner.  What cannot be read is not trusted; that
 * is not an error.
 */
RG_CHECKED int rg_trust_load(const char *root, int64_t owner, struct rg_trust **ret_trust,
			     struct roger_err *err);
/* The same, with the owner that .roger/ has now; ROGER_EIO: it is not there. */
RG_CHECKED int rg_trust_load_there(const char *root, struct rg_trust **ret_trust,
				   struct roger_err *err);
struct rg_trust *rg_trust_free(struct rg_trust *trust);
static inline void rg_trust_freep(struct rg_trust **trust)
{
	*trust = rg_trust_free(*trust);
}

/* Read /etc/roger/trust, or another file of its form, which must be root's; for rg_trust_load().
 */
RG_CHECKED int rg_trust_read_machine(struct rg_trust *trust, const char *path,
				     struct roger_err *err);

/* The files and folders of the workspace that a command names. */
struct rg_trust_named {
	struct roger_strs files; /* each once */
	bool folder;		 /* a word is a folder, or an option with one */
};

/*
 * SHA-256 of a command's words and of every file in the workspace that one of
 * them names, or that is the program found along PATH; those files, by name.
 */
RG_CHECKED int rg_trust_digest(const char *root, struct roger_strs words, struct rg_arena *arena,
			       struct roger_str *ret_sha256, struct rg_trust_named *ret_named,
			       struct roger_err *err);

/* Compare the places that a configuration gives, whose texts are borrowed, with the trusted ones.
 */
void rg_trust_compare(struct rg_trust *trust, struct rg_trusted_place_list places);
bool rg_trust_has_place(const struct rg_trust *trust, const struct rg_trusted_place *place);

/* Returns state, but RG_GIT_CLEAR where a person accepted these tracked files, by the hash of their
 * names, or named the mailbox. */
enum rg_git_state rg_trust_judge_git(const struct rg_trust *trust, enum rg_git_state state,
				     struct roger_str sha256);

/*
 * Say why its mail is shown to no agent, after the two above: one sentence, no word of
 * which is the workspace's own; "": it may be shown.
 */
enum { RG_DISTRUST_BYTES = 300 };
void rg_trust_say(const struct rg_trust *trust, enum rg_git_state git, char to[RG_DISTRUST_BYTES]);

bool rg_trust_has_command(const struct rg_trust *trust, struct roger_str sha256);
bool rg_trust_has_path(const struct rg_trust *trust, struct roger_str path);

/*
 * Trust the mailbox, and of wish the commands, paths, places, tracked files and seal key, and
 * nothing else, from now on; it gets an id where it has none.  Durable.  ROGER_ECREATE,
 * ROGER_EIO: the state folder cannot be written.
 */
RG_CHECKED int rg_trust_accept(struct rg_trust *trust, const struct rg_trusted *wish,
			       struct roger_err *err);

/* Is there a document for that path, whatever it says?  Quick. */
bool rg_trust_has_document(const char *root);

/* Note on disk, as far as that is possible, that a person was warned: a document without trust. */
void rg_trust_note_warned(const struct rg_trust *trust);

/* Trust nothing of the workspace in root any more; *ret_was: something was trusted. */
RG_CHECKED int rg_trust_revoke(const char *root, bool *ret_was, struct roger_err *err);

/* Every document, in no order; memory from arena. */
RG_CHECKED int rg_trust_list(struct rg_arena *arena, struct rg_trusted_list *ret_list,
			     struct roger_err *err);

#endif
