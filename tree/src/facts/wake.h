/*
 * wake - when to tell an agent that it has mail.
 *
 * Only a hint: the message stays in the mailbox whatever happens.  The first
 * attempt is due when mail has waited for a while without a look by its agent;
 * further ones follow, at growing intervals, until the mail is read.  The activity
 * log records each attempt.  Pure rules.
 */
#ifndef RG_WAKE_H
#define RG_WAKE_H

#include "base/str.h"

struct rg_wake_rules {
	int64_t after_ms;	 /* delay before the first attempt */
	int64_t backoff_ms;	 /* delay before the second; doubles each time */
	int64_t backoff_most_ms; /* the longest delay */
};

/* What is known about an agent with mail. */
struct rg_wake_case {
	int64_t since_ms;   /* when the mail was stored or last looked at */
	int64_t attempts;   /* attempts to wake it since its last look */
	int64_t attempt_ms; /* time of the last attempt */
};

/* Milliseconds until the next attempt; 0: due now.  A clock that was set back causes no delay. */
int64_t rg_wake_wait(const struct rg_wake_rules *rules, const struct rg_wake_case *known,
		     int64_t now_ms);

/* Values for placeholders in a command: names and numbers, never content. */
struct rg_wake_values {
	struct roger_str agent, issue, id; /* issue and id of the oldest message, or "" */
	int64_t count;
	struct roger_str session; /* latest session of the agent's tool, or "" */
};

/* Append word to out with {agent}, {issue}, {id}, {count} and {session} filled in; other braces
 * stay. */
void rg_wake_fill(struct roger_str word, const struct rg_wake_values *values, struct rg_buf *out);

/* Fill in only {agent}, which is known before there is mail. */
void rg_wake_fill_agent(struct roger_str word, struct roger_str agent, struct rg_buf *out);

#endif
