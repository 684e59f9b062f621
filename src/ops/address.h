/*
 * address - ids as people type them.
 *
 * A field with ROGER_SOUGHT names a message, a run or a dead letter that is there: by its id; a
 * message also by NAME#N (the number N that NAME gave it in this session; NAME#N@E: in session E)
 * or as @last (the newest from or to the caller, without one the newest of all); else by a piece
 * of an id that no other one has.  Of several messages the one to the caller is meant; verbs that
 * only read take all copies of one send.
 */
#ifndef RG_ADDRESS_H
#define RG_ADDRESS_H

#include "ops/op.h"

/*
 * Put ids in place of what was typed.  *ret_request: a copy, or the request itself where there is
 * nothing to do, as with every id that roger made.  What is not found stays: the verb reports it.
 * ROGER_EUSAGE: several ids fit.
 */
RG_CHECKED int rg_address_resolve(struct roger *roger, const struct roger_op *op,
				  const void *request, struct rg_arena *arena,
				  const void **ret_request, struct roger_err *err);

#endif
