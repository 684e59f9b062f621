/*
 * layout - between a program's structs and the library's, which may be longer.
 *
 * A program says how long its requests, replies and items of lists are; both
 * grow at their end only.  Verbs work on the library's own; what is longer or
 * shorter is copied at the border.
 */
#ifndef RG_LAYOUT_H
#define RG_LAYOUT_H

#include "ops/op.h"

/* The sizes that a program has; a record that items does not name has the library's. */
struct rg_layout {
	size_t request;
	size_t reply;
	const struct roger_item *items; /* ends with one without a name */
};

/*
 * Run a verb for a program of this layout.  What a longer request has beyond the
 * library's must be zero; of a longer reply the rest becomes zero.
 */
RG_CHECKED int rg_layout_run(const struct roger_op *op, const struct rg_layout *layout,
			     struct roger *roger, const void *request, void *ret_reply,
			     struct roger_err *err);

#endif
