/*
 * concerns - what needs attention now, grouped by cause and by whom it is about.
 *
 * All mail that waits for one agent is one concern, however much it is and whatever
 * is wrong with it.  Runs of one name and owner that ended alike are one concern, too.
 * status, report, why, `top` and the page all show these concerns.
 */
#ifndef RG_CONCERNS_H
#define RG_CONCERNS_H

#include "host/seat.h"
#include "ops/mail/agents.h"
#include "ops/runs/run_list.h"

/* Kinds of mail that waits for an agent or has a problem; the most urgent first. */
enum rg_part {
	RG_PART_DEAD,	  /* given up */
	RG_PART_OVERDUE,  /* not read in time */
	RG_PART_WAKES,	  /* failures of its wake command since it looked last */
	RG_PART_REFUSED,  /* sends to it, refused and not repeated */
	RG_PART_LEASE,	  /* leases that ended without an outcome */
	RG_PART_FULL,	  /* issues in which its mailbox is full */
	RG_PART_BREAKER,  /* senders that pause */
	RG_PART_RESULTS,  /* results of runs that it has not read */
	RG_PART_NOTICES,  /* roger's notices that something it sent died, was rejected or blocked */
	RG_PART_RETIRED,  /* unread, though it retired */
	RG_PART_SESSIONS, /* sessions that use its name at the same time */
	RG_PART_UNREAD,
	RG_PART_HANDED,	 /* unread ones that are in the file of an agent that only uses files */
	RG_PART_WAITING, /* their deadline for being read is still to come */
	RG_PART_HELD,	 /* under a lease */
	RG_PARTS,
};

/* The mail of one agent. */
struct rg_agent_mail {
	struct roger_str name;
	int64_t parts[RG_PARTS];
	int64_t since_ms;	  /* when the oldest problem began */
	int64_t looked_ms;	  /* when the agent last looked at its mail; 0: not known */
	int64_t oldest_ms;	  /* the oldest unread message; 0: none, or it was not looked up */
	bool ghost;		  /* the name only ever got mail */
	int seat;		  /* enum roger_seat_standing of its git worktree */
	struct roger_str way_out; /* the command that settles a dead letter that cannot be read */
	struct roger_str failed;  /* how its wake command failed */
	struct roger_str issue;	  /* the issue in which the mailbox is full */
	struct roger_str near;	  /* the known name that was probably meant */
	const struct roger_retired *retired;
};

struct rg_concerns {
	struct rg_reading reading;
	struct roger *roger; /* of reading, like arena */
	struct rg_arena *arena;
	int64_t now_ms;
	int64_t noted_ms;		  /* of a note of a time to come, or 0 */
	struct roger_status_reply *reply; /* gets the figures and the concerns */
	struct roger_agent_list agents;
	struct roger_retired_list retired;
	struct roger_damage_list damages; /* accepted or not */
	struct roger_seat_list seats;
	struct rg_agent_mail spare; /* used as a box when there is no memory for one */
	struct {
		struct rg_agent_mail *items;
		size_t count;
	} boxes;
	struct roger_concern_list found;
};

/* Find all concerns, into the reply, whose memory must be set; the result is in concerns->reading.
 */
void rg_concerns_find(struct rg_concerns *concerns, struct roger *roger,
		      struct roger_status_reply *reply, struct roger_err *err);

/* Return the mail of an agent, or NULL if it has none that matters. */
struct rg_agent_mail *rg_concerns_box(const struct rg_concerns *concerns, struct roger_str name);

/* Like rg_concerns_box(), but also find the mail of an agent whose mailbox status only counted,
 * because others are fuller. */
const struct rg_agent_mail *rg_concerns_find_box(struct rg_concerns *concerns,
						 struct roger_str name);

/* Describe a run in a sentence.  *ret_next: the command that ends its concern, or "". */
void rg_concerns_run(struct rg_concerns *concerns, struct roger_str run,
		     struct roger_str *ret_words, struct roger_str *ret_next);

/* ----------------------------------------- between concerns.c and concerns_mail.c -- */

/* Add a concern with its words. */
RG_PRINTF(5, 6)
void rg_concerns_add(struct rg_concerns *concerns, enum roger_urgency urgency, const char *kind,
		     struct roger_concern concern, const char *format, ...);
/* Quote a word of a command for a shell, since names may come from others. */
struct roger_str rg_concerns_quote(struct rg_concerns *concerns, struct roger_str word);
/* Print the command "roger COMMAND WORD" and more, with the word quoted for a shell. */
struct roger_str rg_concerns_command(struct rg_concerns *concerns, const char *command,
				     struct roger_str word, const char *more);
/* Print what settles a dead letter whose message is in no mailbox any more, or which only a
 * redelivery lets the agent receive; of any other, "". */
struct roger_str rg_concerns_letter_way_out(struct rg_concerns *concerns,
					    const struct roger_dead_letter *letter);

/* Add count to a part of an agent's mail, and return it.  since_ms: when the oldest of them began;
 * 0: unknown. */
struct rg_agent_mail *rg_concerns_mail(struct rg_concerns *concerns, struct roger_str name,
				       enum rg_part part, int64_t count, int64_t since_ms);

/* concerns_mail.c: fill the boxes from what is open, and make a concern of each. */
void rg_concerns_look_at_mail(struct rg_concerns *concerns);
void rg_concerns_say_mail(struct rg_concerns *concerns);

/* Describe the open mail in a sentence, without the parts beyond that many bytes, and return the
 * command that helps. */
struct roger_str rg_agent_mail_words(struct rg_concerns *concerns, const struct rg_agent_mail *box,
				     size_t most);
struct roger_str rg_agent_mail_next(struct rg_concerns *concerns, const struct rg_agent_mail *box);

#endif
