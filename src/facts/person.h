/* person - what a person does in place of an agent, which is no act of the agent's. */
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

/* Did somebody whose mail it is read it?  What a person ended in its place was not. */
static inline bool rg_message_was_read(const struct roger_message *message)
{
	return message->read && !rg_message_in_place(message);
}

/* Did its recipient itself read it, and neither a person nor who took over in its place? */
static inline bool rg_message_read_itself(const struct roger_message *message)
{
	return rg_message_was_read(message) && !message->read_by.length;
}

#endif
