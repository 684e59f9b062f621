/* person - acts of a person in place of an agent, which do not count as the agent's. */
#ifndef RG_PERSON_H
#define RG_PERSON_H

#include "base/str.h"
#include "base/terminal.h"

/* Did a person acknowledge it in place of its recipient, who did not read it? */
static inline bool rg_message_in_place(const struct roger_message *message)
{
	return message->acked_at_ms && message->acked_at_ms == message->read_at_ms &&
	       !message->read_by.length && rg_str_is(message->claimed_by, RG_PERSON) &&
	       !rg_str_is(message->to, RG_PERSON);
}

/* Did an agent that gets the message read it?  A person's acknowledgement does not count. */
static inline bool rg_message_was_read(const struct roger_message *message)
{
	return message->read && !rg_message_in_place(message);
}

/* Did the recipient itself read it, and not a person or an agent that took over? */
static inline bool rg_message_read_itself(const struct roger_message *message)
{
	return rg_message_was_read(message) && !message->read_by.length;
}

#endif
