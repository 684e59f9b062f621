/*
 * room - keeping the limits of an issue: the oldest read messages leave first.
 */
#ifndef RG_ROOM_H
#define RG_ROOM_H

#include "ops/op.h"

/*
 * Archive what must go so that more messages fit into the mailbox or issue that
 * outcome names; adding is how many the send would add there.  ROGER_EREFUSED:
 * too many are unread, nothing was moved.
 */
RG_CHECKED int rg_room_make(struct roger *roger, const struct rg_outcome *outcome, int64_t adding,
			    int64_t *archived, struct roger_err *err);

/* Judge like rg_room_make(), but move nothing.  Others may change the result a moment later. */
RG_CHECKED int rg_room_check(struct roger *roger, const struct rg_outcome *outcome, int64_t adding,
			     struct roger_err *err);

#endif
