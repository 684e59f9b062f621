/*
 * workspace - where a project's files are.
 *
 * A project's root is the folder that holds .roger/.  The journal and what is
 * derived from it stand in the data folder, .roger/ itself unless configured.
 */
#ifndef RG_WORKSPACE_H
#define RG_WORKSPACE_H

#include "host/config.h"
#include "host/trust.h"
#include "host/worktree.h"

#define RG_WORKSPACE_FOLDER ".roger"

struct rg_workspace {
	char root[4096];      /* absolute */
	char data_path[4096]; /* absolute */
	int data;	      /* the data folder, open */
	int64_t owner;	      /* user id of the owner of .roger/ */
	struct rg_config *config;
	int64_t config_at_ms;	/* when its files were last looked at; 0: at the next call */
	uint64_t config_mark;	/* how they were; 0: not known */
	char wrong[480];	/* what is wrong with them now; "": nothing */
	bool second;		/* for `roger init`: its database may hold other workspaces */
	bool moving;		/* for `roger move`: a store that is not live is opened, too */
	struct rg_trust *trust; /* NULL: not asked for yet; see rg_workspace_trust() */
	/* Tells a person that it, or its places, are not trusted; "": nothing to tell. */
	char notice[RG_DISTRUST_BYTES];
	bool shielded;			  /* roger just put a .gitignore into a folder of it */
	char told[2000];		  /* what roger_notice() returned */
	char distrust[RG_DISTRUST_BYTES]; /* what rg_workspace_distrust() returned */
	bool git_busy;			  /* git is busy, so this distrust ends by itself */
	bool compared;			  /* rg_workspace_compare() was called */
	bool exposed;			  /* git tracks files of it, and nobody accepted that */
	struct rg_worktree tree;	  /* the tree from which it was opened, if any */
	char split[900]; /* to be told once: a working tree has a workspace of its own; or "" */
};

/*
 * Open the one at path or above it; NULL: ROGER_WORKSPACE, else from the current folder up.  From a
 * linked working tree of git it is the one that the same folder of the main checkout has, if any.
 * A path that ends in .roger is meant as it stands.  It is looked for up to the home folder; from
 * outside that, as far up as folders have one owner.  ROGER_EREFUSED: it belongs to another user,
 * and is not trusted; ROGER_ECONFIG: it wants files in places that are not.
 */
RG_CHECKED int rg_workspace_open(const char *path, struct rg_workspace **ret_workspace,
				 struct roger_err *err);
struct rg_workspace *rg_workspace_close(struct rg_workspace *workspace);

/* Find where it is, without opening it: nothing in it is believed yet. */
RG_CHECKED int rg_workspace_find(const char *path, char root[4096], struct roger_err *err);

/* Find where it is, or would be made: path, or a folder of the main checkout. */
RG_CHECKED int rg_workspace_home(const char *path, char root[4096], struct rg_worktree *ret_tree,
				 struct roger_err *err);

/* Load what a person trusts of it, with its places compared; *ret_trust is borrowed. */
RG_CHECKED int rg_workspace_trust(struct rg_workspace *workspace, const struct rg_trust **ret_trust,
				  struct roger_err *err);

/*
 * Why its mail is shown to no agent, and no trigger file is taken in: one sentence, in which no
 * word is the workspace's own; "": both may be.  Judged again each time.
 */
const char *rg_workspace_distrust(struct rg_workspace *workspace);

/*
 * Read the configuration again if its files changed; they are looked at once a second, and not in
 * the first one.  Places and a store that changed are for those who open it from now on: then all
 * stays as it was, as it does where a setting is wrong.
 */
void rg_workspace_refresh(struct rg_workspace *workspace);

/* Fill notice where its places are not those that a person trusts. */
void rg_workspace_compare(struct rg_workspace *workspace);

/*
 * Make a workspace in the folder at path, which is made when missing.  A new one is
 * trusted; why says that this cannot be stored, or that one that was there is not
 * trusted, and else becomes "".
 */
enum { RG_WHY_BYTES = 400 };
RG_CHECKED int rg_workspace_make(const char *path, bool *ret_made, char root[4096],
				 char why[RG_WHY_BYTES], struct roger_err *err);

/* Is there a workspace in a folder above root, which is absolute?  to: that folder. */
bool rg_workspace_above(const char *root, char to[4096]);

/* Read the text of .roger/config.yaml; its data is NULL: there is none. */
RG_CHECKED int rg_workspace_settings(const struct rg_workspace *workspace, struct rg_arena *arena,
				     struct roger_str *ret_text, struct roger_err *err);

/* Make .roger/merged/, where backups of workspaces that it took in are kept. */
RG_CHECKED int rg_workspace_merged(const struct rg_workspace *workspace, char to[4200],
				   struct roger_err *err);

/* Make a path of the configuration absolute; a relative one starts at root. */
void rg_workspace_path(const char *root, struct roger_str path, char *to, size_t size);

/* The part of path below root, "" for root itself; NULL: it does not lie below. */
const char *rg_workspace_below(const char *root, const char *path);

/*
 * Resolve the links of an absolute path as far as it exists; the rest, which
 * would be made, is added as it stands.  False: it is too long, or the rest goes up.
 */
bool rg_workspace_resolve(const char *path, char to[4096]);

/*
 * Turn a name into a file name: no '/', not hidden, never another name's, at most
 * 200 bytes.  Letters, digits, '.', '_' and '-' stay; others, and a '.' at the
 * start, become %XX; what is still too long ends in a hash.
 */
enum { RG_FILE_NAME_BYTES = 240 };
void rg_workspace_file_name(struct roger_str name, const char *suffix, char to[RG_FILE_NAME_BYTES]);

#endif
