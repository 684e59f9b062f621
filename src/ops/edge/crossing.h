/*
 * crossing - text in the form "(ROLE #5): hello" on its way into mailboxes.
 *
 * What comes in over an edge (a trigger file, standard input) is cut into its
 * messages; each is an arrival for each of its recipients.  Those above the
 * last number that the recipient has of the sender are stored, in one commit;
 * the others are skipped.  Everything is reported, nothing vanishes.
 *
 * The crossing's arena holds the arrivals, and the reply's arena what is reported about them.  Both
 * remember if memory ran out, so a function that only adds to them returns nothing.
 */
#ifndef RG_CROSSING_H
#define RG_CROSSING_H

#include "base/names.h"
#include "data/roleline.h"
#include "ops/op.h"
#include "verbs.h"

/* A message for one recipient, or a piece of text that is for nobody. */
struct rg_arrival {
	const struct rg_rolepiece *piece;
	int64_t place; /* of the piece in what came in, bytes */
	struct roger_str from, to;
	int64_t number;
	int kind; /* enum roger_crossing_kind; STALE and TAKEN may change as long as not settled */
	bool settled;
	struct roger_str why;
	struct roger_str kept; /* where the text of a skipped one is now; "": nowhere */
	struct roger_message message;
};

/* Recipients for whom there is no room now; what comes later must not overtake what waits. */
struct rg_crossing_full {
	struct rg_arena *arena;
	struct roger_strs names;
	bool all; /* the whole issue is full */
};

struct rg_crossing {
	struct roger *roger;
	struct rg_arena *arena; /* for as long as this goes */
	struct roger_bridge_reply *reply;
	struct rg_names known; /* agents */
	struct rg_crossing_full *full;

	const char *via;
	struct roger_str issue;
	struct roger_str file; /* as it is shown; "": none */
	struct roger_str id;   /* of what came in, for the keys; "": it has none, and no keys */
	bool again;	       /* it may have been stored before */
	bool whole;	       /* all that is not skipped is stored, or nothing */
	bool unnumbered;
	bool several; /* targets, which may have recipients in common */

	struct rg_arrival *items;
	size_t count;
};

/*
 * Which of the names is meant, as the text form writes it: without regard to
 * case, '_' for what a role cannot have.  As written, where there is none, or
 * several of which none is written just so.
 */
struct roger_str rg_crossing_name(struct roger_strs names, struct roger_str written);

/* A group, or all, so not a sender; without regard to case where no agent is called so. */
bool rg_crossing_is_group(const struct rg_crossing *crossing, struct roger_str name);

/* Is stem, without .txt, how the trigger file of name is called?  Without regard to case. */
bool rg_crossing_is_file_of(struct roger_str name, struct roger_str stem);

/* The group whose trigger file has this name without .txt, or "all"; "": no group has it. */
struct roger_str rg_crossing_group_of(const struct rg_config *config, struct roger_str stem);

/* Is it the file of an agent that only knows files?  What roger writes into it is that agent's. */
bool rg_crossing_is_handed(const struct rg_config *config, struct roger_str file);

/* Who shall get what comes in. */
struct rg_crossing_target {
	struct roger_strs names; /* all, those of a group, or one agent */
	bool group;		 /* the sender is left out */
	struct roger_str shown;
	struct roger_str refused; /* why nobody can; "": somebody can */
};

/* An agent, a group or all, by its name. */
RG_CHECKED int rg_crossing_target(struct rg_crossing *crossing, struct roger_str name,
				  struct rg_crossing_target *ret_target, struct roger_err *err);

/* One more piece of what came in. */
void rg_crossing_add(struct rg_crossing *crossing, const struct rg_crossing_target *target,
		     const struct rg_rolepiece *piece, int64_t place);
void rg_crossing_refuse(struct rg_crossing *crossing, const struct rg_crossing_target *target,
			const struct rg_rolepiece *piece, int64_t place, const char *why);

/* Store what may be stored: everything is settled then. */
RG_CHECKED int rg_crossing_store(struct rg_crossing *crossing, struct roger_err *err);

/* Tell of one arrival. */
void rg_crossing_tell(struct rg_crossing *crossing, const struct rg_arrival *arrival);

/* Add to a reply, and to its figures. */
void rg_crossing_put(struct roger_bridge_reply *reply, const struct roger_crossing *item);

/* What was skipped, in the activity log; what cannot be written there is noticed only. */
void rg_crossing_note(struct roger *roger, const struct roger_op *op,
		      const struct roger_bridge_reply *reply);

#endif
