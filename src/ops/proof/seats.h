/* seats - who sits in which git worktree, and whose mail waits where one is gone. */
#ifndef RG_OPS_SEATS_H
#define RG_OPS_SEATS_H

#include "ops/op.h"

struct rg_seats;

RG_CHECKED int rg_seats_show(struct roger *roger, const struct rg_seats *seats,
			     struct rg_arena *arena, struct roger_seat_list *ret_list,
			     struct roger_err *err);

#endif
