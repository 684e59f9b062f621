/*
 * shield - what keeps mail out of the next commit: a .gitignore in .roger/ and in each folder of
 * the workspace that the configuration names.
 *
 * It may have come, or gone, with a pull, so it is looked at each time a workspace is opened.  It
 * does its work where it has the line "*", or ends with the names of roger's files, and no later
 * line takes one of them back.
 */
#ifndef RG_SHIELD_H
#define RG_SHIELD_H

#include "host/workspace.h"

/* That of .roger/: what is derived or private need not be in anyone's repository. */
#define RG_SHIELD_TEXT "*\n!.gitignore\n!config.yaml\n"

/* Make them as they should be, and say so in the notice.  Where nothing can be written, none. */
RG_CHECKED int rg_shield(struct rg_workspace *workspace, struct roger_err *err);

#endif
