/*
 * waking - telling agents that mail is there, by the command each is configured
 * with.
 *
 * Whom to tell follows from the mailbox and the activity log; nothing else is
 * kept.  Losing any attempt, or all of them, loses no message.
 */
#ifndef RG_WAKING_H
#define RG_WAKING_H

#include "ops/mail/arrive.h"
#include "host/program.h"

/* Is an agent to be woken, as `wake_step` answers it, here or at a server?  test: what the agent
 * was shown before counts as new from now on. */
RG_CHECKED int rg_waking_ask(struct roger *roger, struct roger_str agent, bool test,
			     struct rg_arena *arena, struct roger_wake_step_reply *ret_mail,
			     struct roger_err *err);

/* The same, quickly: beside the workspace only there, wait and attempts. */
RG_CHECKED int rg_waking_look(struct roger *roger, struct roger_str agent, struct rg_arena *arena,
			      struct roger_wake_step_reply *ret_mail, struct roger_err *err);

/* An attempt at work: the command runs, and the agent's turn is ours. */
struct rg_waking {
	const struct rg_wake_agent *agent;
	struct roger_wake_step_reply mail;
	struct rg_launched launched;
	int64_t at_ms;
};

/* Start an attempt for an agent whose turn is ours.  That a command is not there is its end. */
RG_CHECKED int rg_waking_start(struct roger *roger, const struct rg_wake_agent *agent,
			       const struct roger_wake_step_reply *mail, struct rg_arena *arena,
			       struct rg_waking *ret_waking, struct roger_err *err);

/* Has it ended?  enough: it is to.  Then it is in the log, and in *ret_attempt. */
RG_CHECKED int rg_waking_over(struct roger *roger, struct rg_waking *waking, bool enough, bool test,
			      struct rg_arena *arena, bool *ret_over,
			      struct roger_wake_attempt *ret_attempt, struct roger_err *err);

#endif
