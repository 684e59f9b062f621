/*
 * look - note that an agent was shown its mail.
 *
 * A look changes no message, but that a message was shown for the first time is evidence.  So it
 * gets an entry in the activity log with the ids: one for each issue, and each message only once,
 * however often it is looked at.
 */
#ifndef RG_LOOK_H
#define RG_LOOK_H

#include "ops/op.h"

/*
 * Note that agent was shown these messages; by_person: somebody else looked, so they stay new for
 * the agent.  roger_notice() reports an error, which changes nothing of the look.
 */
void rg_look_note(struct roger *roger, struct roger_str agent, bool by_person,
		  const struct roger_message_list *messages);

#endif
