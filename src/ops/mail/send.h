/*
 * send - a send on its way, shared by send.c, which makes its messages, and send_key.c, which
 * judges its key.
 */
#ifndef RG_SEND_H
#define RG_SEND_H

#include "base/names.h"
#include "base/nearest.h"
#include "ops/keys/attempt.h"
#include "facts/retirement.h"

/* One send of the request on its way. */
struct rg_draft {
	const struct roger_send_request *request;
	struct roger_send_reply *reply;
	struct roger_str from;
	struct roger_str key; /* as given, or made of task, verb and cycle */
	struct roger_str cycle;
	struct roger_strs to;
	struct roger_message *messages; /* one per recipient */
	struct roger_message *refused;	/* copies to members of a group or all that had no room */
	size_t refused_count;
	bool settled;		     /* a duplicate: nothing of it is stored now */
	bool again;		     /* it was stored before, and its next attempt was begun */
	bool no_room;		     /* the request was refused for lack of room for it */
	struct roger_str full;	     /* then the recipient without room; "": the issue has none */
	const char *cause;	     /* another reason for a refusal, for the send log */
	struct roger_str stranger;   /* the recipient that was refused; "": all */
	bool some_again;	     /* only copies that the key did not store before are sent */
	const struct rg_draft *twin; /* an earlier one of this request, with the same key */
};

/* What an unknown name is compared with; starts zeroed. */
struct rg_known {
	struct rg_names agents;
	struct roger_strs words; /* the agents, groups and all */
	struct rg_slips slips;	 /* of words; with hashes once many names are unknown */
	size_t asked;		 /* for how many names a slip was looked for */
};

struct rg_sending {
	struct roger *roger;
	struct rg_arena *arena;
	int64_t now_ms;
	struct rg_draft *drafts;
	size_t count;
	struct roger_retired_list retired;
	struct rg_known known; /* filled for the first unknown name */
};

enum { RG_CONFIRM_MAX = 20 }; /* recipients of one send that is to be confirmed */

/* send.c */
RG_CHECKED int rg_send_fill_reply(struct rg_sending *sending, struct rg_draft *draft,
				  const struct roger_message *messages, size_t count,
				  struct roger_err *err);
/* Drop this copy. */
void rg_send_drop(struct rg_draft *draft, size_t which);
/* Are the texts equal, but for a newline at the end, which a file has and an argument has not? */
bool rg_send_same_text(struct roger_str a, struct roger_str b);
/* Name what differs from what the key stored first; NULL: nothing. */
const char *rg_send_difference(const struct rg_sending *sending, const struct rg_draft *draft,
			       const struct roger_message_list *first);
/* The key was used.  The same payload gets its first result again, another one is an error. */
RG_CHECKED int rg_send_use_first(struct rg_sending *sending, struct rg_draft *draft,
				 struct roger_err *err);
RG_CHECKED int rg_send_conflict(const struct rg_draft *draft, struct roger_str id,
				struct roger_str to, const char *difference, struct roger_err *err);

/* send_key.c: the key, its cycle, and whether reading can be confirmed. */
RG_CHECKED int rg_send_check_key(struct rg_sending *sending, struct rg_draft *draft,
				 struct roger_err *err);
RG_CHECKED int rg_send_check_confirm(const struct rg_draft *draft, struct roger_err *err);

struct rg_unknown {
	bool expected;	       /* it is configured, or began a session and else was refused */
	struct roger_str near; /* the known name that may be meant; "": none */
	bool slip;	       /* it is most likely a slip for that one */
};

/*
 * Judge a name that nobody has sent or received under.  It is refused if names are strict, or if
 * it is likely a slip for a known one and the caller does not insist; never if it is configured or
 * has begun a session.
 */
RG_CHECKED int rg_send_judge_unknown(struct roger *roger, struct rg_arena *arena,
				     struct rg_known *known, struct roger_str name, bool insists,
				     const char *member, struct rg_unknown *ret_unknown,
				     struct roger_err *err);

/* Note that nobody knows the name, which may be a slip; not if it is known or expected. */
RG_CHECKED int rg_send_note_stranger(struct roger *roger, struct rg_arena *arena,
				     struct roger_str name, struct roger_strs *notes,
				     struct roger_err *err);

/* Like rg_send_note_stranger(), for an agent without mail of its own; if another agent gets its
 * mail, note that. */
RG_CHECKED int rg_send_note_reader(struct roger *roger, struct rg_arena *arena,
				   struct roger_str name, struct roger_strs *notes,
				   struct roger_err *err);

/* How long its recipients have to read it, in ms. */
int64_t rg_send_within(const struct rg_sending *sending, const struct rg_draft *draft);

/*
 * Judge each draft's key by the send log before anything is stored.  If a draft is settled by
 * this, its next attempt has begun already.
 */
RG_CHECKED int rg_send_look_back(struct rg_sending *sending, struct roger_err *err);

/* Log a draft that was refused for a cause before anything was tried. */
void rg_send_refused(struct rg_sending *sending, struct rg_draft *draft);

/* Log messages that were refused, or that may or may not have been stored. */
void rg_send_failed(struct rg_sending *sending, int code);

/* After rg_gather(): keep messages with a key until rg_send_gathered().  If their sync failed
 * with that code, that logs what became of them. */
void rg_send_keep(struct rg_sending *sending);
void rg_send_gathered(struct roger *roger, int code);

/* Wait until the message is read; with retry, attempt by attempt. */
RG_CHECKED int rg_send_confirm(struct rg_sending *sending, struct rg_draft *draft,
			       struct roger_err *err);

#endif
