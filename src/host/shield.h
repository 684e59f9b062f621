/*
 * shield - what keeps mail out of the next commit: a .gitignore in .roger/ and in each folder of
 * the workspace that the configuration names.
 *
 * A pull may bring or remove one, so each is checked whenever a workspace is opened.  It hides the
 * files if it has the line "*" or the names of roger's files, and no later line takes one of them
 * back.
 */
#ifndef RG_SHIELD_H
#define RG_SHIELD_H

#include "host/workspace.h"

/* The .gitignore of .roger/: derived and private files need not be in anyone's repository. */
#define RG_SHIELD_TEXT "*\n!.gitignore\n!config.yaml\n"

/* Correct each .gitignore, and set workspace->shielded if one changed.  A folder that cannot be
 * written to is left. */
RG_CHECKED int rg_shield(struct rg_workspace *workspace, struct roger_err *err);

#endif
