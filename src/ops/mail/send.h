/*
 * send - a send on its way, shared by what makes messages of it (send.c) and
 * what its key has to say (send_key.c).
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
	struct roger_str key; /* as given, or made of its parts */
	struct roger_str cycle;
	struct roger_strs to;
	struct roger_message *messages; /* one per recipient */
	struct roger_message *refused;	/* those of a group or all that had no room */
	size_t refused_count;
	bool settled;		     /* a duplicate: nothing of it is stored */
	bool again;		     /* it is stored, and its next attempt was begun */
	bool no_room;		     /* for it the request was refused */
	const char *cause;	     /* of another refusal that the send log is to know; */
	struct roger_str stranger;   /* of which recipient, where not of all */
	bool some_again;	     /* only those copies that the key did not store before */
	const struct rg_draft *twin; /* an earlier one of this request, with the same key */
};

/* What a name that nobody used here is compared with; starts zeroed. */
struct rg_known {
	struct rg_names agents;
	struct roger_strs words; /* these, groups and all */
	struct rg_slips slips;	 /* for words, once somebody is sent to */
	size_t suggested;	 /* names for which the nearest was looked for */
};

struct rg_sending {
	struct roger *roger;
	struct rg_arena *arena;
	int64_t now_ms;
	struct rg_draft *drafts;
	size_t count;
	struct roger_retired_list retired;
	struct rg_known known; /* looked at for the first new name */
};

enum { RG_CONFIRM_MAX = 20 }; /* recipients of one send that is to be confirmed */

/* send.c */
RG_CHECKED int rg_send_fill_reply(struct rg_sending *sending, struct rg_draft *draft,
				  const struct roger_message *messages, size_t count,
				  struct roger_err *err);
/* Without this copy. */
void rg_send_drop(struct rg_draft *draft, size_t which);
/* But for one newline at the end of one: it comes with a file, and not with an argument. */
bool rg_send_same_text(struct roger_str a, struct roger_str b);
/* What is another than in what the key stored first; NULL: nothing. */
const char *rg_send_difference(const struct rg_sending *sending, const struct rg_draft *draft,
			       const struct roger_message_list *first);
RG_CHECKED int rg_send_conflict(const struct rg_draft *draft, struct roger_str id,
				struct roger_str to, const char *difference, struct roger_err *err);

/* send_key.c: the key, its cycle, and whether reading can be confirmed. */
RG_CHECKED int rg_send_check_key(struct rg_sending *sending, struct rg_draft *draft,
				 struct roger_err *err);
RG_CHECKED int rg_send_check_confirm(const struct rg_draft *draft, struct roger_err *err);

struct rg_unknown {
	bool expected;	       /* it is configured, or was refused but for a session it began */
	struct roger_str near; /* the known name that may be meant; "": none */
	bool slip;	       /* it most likely is that one */
};

/*
 * A recipient that nobody has sent or received under: refused where names are strict,
 * and where it is a likely slip for a known one and the caller does not insist.  Never
 * when it is configured or has begun a session.
 */
RG_CHECKED int rg_send_judge_unknown(struct roger *roger, struct rg_arena *arena,
				     struct rg_known *known, struct roger_str name, bool insists,
				     const char *member, struct rg_unknown *ret_unknown,
				     struct roger_err *err);

/* Note that nobody knows the name, which may be a slip; nothing for one that is known or expected.
 */
RG_CHECKED int rg_send_note_stranger(struct roger *roger, struct rg_arena *arena,
				     struct roger_str name, struct roger_strs *notes,
				     struct roger_err *err);

/* The same for one that found no mail of its own; where another gets that, that is said. */
RG_CHECKED int rg_send_note_reader(struct roger *roger, struct rg_arena *arena,
				   struct roger_str name, struct roger_strs *notes,
				   struct roger_err *err);

/* How long its recipients have to read it, ms. */
int64_t rg_send_within(const struct rg_sending *sending, const struct rg_draft *draft);

/*
 * What the send log says of each draft's key before anything is stored.  A
 * draft that is settled then has its next attempt begun already.
 */
RG_CHECKED int rg_send_look_back(struct rg_sending *sending, struct roger_err *err);

/* A draft with a cause was refused before anything was tried: that goes into the send log. */
void rg_send_refused(struct rg_sending *sending, struct rg_draft *draft);

/* What was refused, or nobody knows whether it was stored, goes into the send log. */
void rg_send_failed(struct rg_sending *sending, int code);

/* After rg_gather(): messages with a key are kept until rg_send_gathered(), which says in the send
 * log what became of them where their sync failed with that code. */
void rg_send_keep(struct rg_sending *sending);
void rg_send_gathered(struct roger *roger, int code);

/* Wait until it is read; with retry, attempt by attempt. */
RG_CHECKED int rg_send_confirm(struct rg_sending *sending, struct rg_draft *draft,
			       struct roger_err *err);

#endif
