/*
 * wake - when an agent is told that mail is there.
 *
 * A hint and no more: the message is in the mailbox whatever becomes of it.  It
 * is due once mail has waited for a while without a look of its agent, comes
 * again until the mail is read, and each time later.  When it came is told by
 * the activity log alone, where roger notes each attempt; pure rules.
 */
#ifndef RG_WAKE_H
#define RG_WAKE_H

#include "base/str.h"

struct rg_wake_rules {
	int64_t after_ms;	 /* mail waits so long before the first attempt */
	int64_t backoff_ms;	 /* from the first to the second, then twice as long each time */
	int64_t backoff_most_ms; /* but never longer */
};

/* What is known of an agent that has mail. */
struct rg_wake_case {
	int64_t since_ms;   /* from when the mail waits for it: stored, or last looked at */
	int64_t attempts;   /* to tell it of that mail, since it last looked */
	int64_t attempt_ms; /* when the last of them was */
};

/* How long until the next attempt; 0: it is due.  A clock that was set back delays none. */
int64_t rg_wake_wait(const struct rg_wake_rules *rules, const struct rg_wake_case *known,
		     int64_t now_ms);

/* What a word of a command may stand for: names and numbers, never content. */
struct rg_wake_values {
	struct roger_str agent, issue, id; /* issue and id of the oldest message; "": none */
	int64_t count;
	struct roger_str session; /* that the agent's tool began last; "": not known */
};

/* The word with {agent}, {issue}, {id}, {count} and {session} filled in; other braces stay. */
void rg_wake_fill(struct roger_str word, const struct rg_wake_values *values, struct rg_buf *out);

/* The same with {agent} alone, which is known before there is mail. */
void rg_wake_fill_agent(struct roger_str word, struct roger_str agent, struct rg_buf *out);

#endif
