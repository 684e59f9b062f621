/*
 * workspace - where a project's files are.
 *
 * A project's root is the folder that holds .roger/.  The journal and what is
 * derived from it stand in the data folder, .roger/ itself unless configured.
 */
#ifndef RG_WORKSPACE_H
#define RG_WORKSPACE_H

#include "store/config.h"

#define RG_WORKSPACE_FOLDER ".roger"

struct rg_workspace {
	char root[4096];      /* absolute */
	char data_path[4096]; /* absolute */
	int data;	      /* the data folder, open */
	struct rg_config *config;
};

/* At path or above it; NULL: ROGER_WORKSPACE, else from the current folder up. */
RG_CHECKED int rg_workspace_open(const char *path, struct rg_workspace **ret_workspace,
				 struct roger_err *err);
struct rg_workspace *rg_workspace_close(struct rg_workspace *workspace);

/* Make one in the folder at path, itself made when missing. */
RG_CHECKED int rg_workspace_make(const char *path, bool *ret_made, char root[4096],
				 struct roger_err *err);

/* Is there one in a folder above root, which is absolute?  to: that folder. */
bool rg_workspace_above(const char *root, char to[4096]);

/* A path of the configuration, from the root unless it is absolute. */
void rg_workspace_path(const struct rg_workspace *workspace, struct roger_str path, char *to,
		       size_t size);

/*
 * A name as a file name: no '/', not hidden, never another name's, at most
 * 200 bytes.  Letters, digits, '.', '_' and '-' stay; others, and a '.' at the
 * start, become %XX; what is still too long ends in a hash.
 */
enum { RG_FILE_NAME_BYTES = 240 };
void rg_workspace_file_name(struct roger_str name, const char *suffix, char to[RG_FILE_NAME_BYTES]);

#endif
