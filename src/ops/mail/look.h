/*
 * look - that an agent was shown its mail.
 *
 * A look at mail changes no message, and what it showed for the first time is
 * evidence all the same: an entry of the activity log with the ids, for each
 * issue one, once for each message however often it is looked at.
 */
#ifndef RG_LOOK_H
#define RG_LOOK_H

#include "ops/op.h"

/*
 * Note that agent was shown these messages; by_person: somebody else was, so for the
 * agent they stay as new as they were.  What goes wrong is told by roger_notice() and
 * changes nothing of the look.
 */
void rg_look_note(struct roger *roger, struct roger_str agent, bool by_person,
		  const struct roger_message_list *messages);

#endif
