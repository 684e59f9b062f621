/*
 * causes - what needs attention now, grouped by cause and by whom it is about.
 *
 * All mail that waits for one agent is one concern, however much it is and whatever
 * is wrong with it.  So are all runs of a name that failed alike.  The groups are made
 * once: status, report, why, `top` and the page show these.
 */
#ifndef RG_CAUSES_H
#define RG_CAUSES_H

#include "host/seat.h"
#include "ops/mail/agents.h"
#include "ops/proof/telling.h"
#include "ops/runs/run_list.h"

/* What waits for an agent, or is wrong with its mail; the most urgent first. */
enum rg_part {
	RG_PART_DEAD,	  /* given up */
	RG_PART_OVERDUE,  /* not read in time */
	RG_PART_WAKES,	  /* its wake command failed, since it looked last */
	RG_PART_REFUSED,  /* sends to it, refused and not repeated */
	RG_PART_LEASE,	  /* leases that ended without an outcome */
	RG_PART_FULL,	  /* issues in which its mailbox is full */
	RG_PART_BREAKER,  /* senders that pause */
	RG_PART_RESULTS,  /* results of runs that it has not read */
	RG_PART_NOTICES,  /* of roger: something that it sent died, was rejected or is blocked */
	RG_PART_RETIRED,  /* unread, though it retired */
	RG_PART_SESSIONS, /* sessions that use its name at the same time */
	RG_PART_UNREAD,
	RG_PART_HANDED,	 /* of these, written to the file of an agent that only knows files */
	RG_PART_WAITING, /* to be read by some time to come */
	RG_PART_HELD,	 /* under a lease */
	RG_PARTS,
};

/* The mail of one agent; with the name "" of issues. */
struct rg_agent_mail {
	struct roger_str name;
	int64_t parts[RG_PARTS];
	int64_t since_ms;	  /* the oldest of it */
	int64_t looked_ms;	  /* 0: it never did, as far as is known */
	int64_t oldest_ms;	  /* of what is unread; 0: nothing is, or it was not asked for */
	bool ghost;		  /* it only ever got mail */
	int seat;		  /* enum roger_seat_standing: of its git worktree */
	struct roger_str way_out; /* the command that settles a dead letter, where none is read */
	struct roger_str failed;  /* what came of its wake command */
	struct roger_str issue;	  /* in which it is full */
	struct roger_str near;	  /* whose name was probably meant */
	const struct roger_retired *retired;
};

struct rg_causes {
	struct roger *roger;
	struct rg_arena *arena;
	int64_t now_ms;
	struct roger_status_reply *reply; /* its figures, and in the end its concerns */
	struct roger_agent_list agents;
	struct roger_retired_list retired;
	struct roger_damage_list damages; /* accepted or not */
	struct roger_seat_list seats;
	bool failed; /* out of memory */
	struct {
		struct rg_agent_mail *items;
		size_t count;
	} boxes;
	struct {
		struct roger_concern *items;
		size_t count;
	} concerns;
};

/* Find all there is, into the reply; its memory must be set. */
RG_CHECKED int rg_causes_find(struct rg_causes *causes, struct roger *roger,
			      struct roger_status_reply *reply, struct roger_err *err);

/* The mail of an agent: NULL if there is nothing to say of it. */
struct rg_agent_mail *rg_causes_box(const struct rg_causes *causes, struct roger_str name);

/* The same, also where many other mailboxes are fuller and status only counts it. */
RG_CHECKED int rg_causes_find_box(struct rg_causes *causes, struct roger_str name,
				  const struct rg_agent_mail **ret_box, struct roger_err *err);

/* How a run is, in a sentence, and what ends that it is a concern; "": nothing is to be done. */
RG_CHECKED int rg_causes_run(struct rg_causes *causes, struct roger_str run,
			     struct roger_str *ret_words, struct roger_str *ret_next,
			     struct roger_err *err);

/* ----------------------------------------- between causes.c and causes_mail.c -- */

/* One more concern, and the words for it; its command is printed by those below. */
RG_PRINTF(6, 7)
RG_CHECKED int rg_causes_add(struct rg_causes *causes, enum roger_urgency urgency, const char *kind,
			     struct roger_concern concern, struct roger_err *err,
			     const char *format, ...);
RG_PRINTF(2, 3)
struct roger_str rg_causes_print(struct rg_causes *causes, const char *format, ...);
/* A word of a command, as a shell takes it: much of what is named here, others wrote. */
struct roger_str rg_causes_quote(struct rg_causes *causes, struct roger_str word);
/* The command "roger COMMAND WORD MORE", with the word quoted for a shell. */
struct roger_str rg_causes_command(struct rg_causes *causes, const char *command,
				   struct roger_str word, const char *more);

/* So many more of a part of an agent's mail, the oldest from then on. */
RG_CHECKED int rg_causes_mail(struct rg_causes *causes, struct roger_str name, enum rg_part part,
			      int64_t count, int64_t since_ms, struct rg_agent_mail **ret_box,
			      struct roger_err *err);

/* causes_mail.c: fill the boxes from what is open, and make a concern of each. */
RG_CHECKED int rg_causes_look_at_mail(struct rg_causes *causes, struct roger_err *err);
RG_CHECKED int rg_causes_say_mail(struct rg_causes *causes, struct roger_err *err);

/* What is open, as a sentence, and what helps. */
struct roger_str rg_agent_mail_words(struct rg_causes *causes, const struct rg_agent_mail *box);
struct roger_str rg_agent_mail_next(struct rg_causes *causes, const struct rg_agent_mail *box);

#endif
