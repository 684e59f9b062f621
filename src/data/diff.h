/*
 * diff - what changes from one text to another, by lines, for people.
 *
 * The form is the one that everybody reads: " " before a line that stays, "-"
 * before one that goes, "+" before one that comes, "@@ -line +line @@" where a
 * piece starts.
 */
#ifndef RG_DIFF_H
#define RG_DIFF_H

#include "base/str.h"

/* Add the difference to out; context: how many unchanged lines to show around a change. */
void rg_diff(struct roger_str before, struct roger_str after, size_t context, struct rg_buf *out);

#endif
