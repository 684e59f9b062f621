/*
 * caller - who may do what through a handle, asked in one place for every verb.
 *
 * Whoever may write the files may do anything with them, so where nobody set a caller
 * nothing is refused here.  A token or login has a right, and is bound to its own name: every
 * member that names an actor (ROGER_SELF, ROGER_ACTOR), at every depth, is that name.  A token
 * that administers speaks for anybody; a person at the page who administers does not: what
 * that one does to the mail of another is on record as RG_PERSON's.
 */
#ifndef RG_OPS_CALLER_H
#define RG_OPS_CALLER_H

#include "ops/op.h"

/*
 * May the caller make this request?  Else ROGER_EREFUSED.  *ret_request: the same one, or a
 * copy in arena with the caller's name where the request names nobody.
 */
RG_CHECKED int rg_caller_check(struct roger *roger, const struct roger_op *op, const void *request,
			       struct rg_arena *arena, const void **ret_request,
			       struct roger_err *err);

/* Take out of a reply what the caller may not see; ROGER_ENOENT: it asked for nothing else. */
RG_CHECKED int rg_caller_sift(const struct roger *roger, const struct roger_op *op, void *reply,
			      struct roger_err *err);

/* Take out the messages that the caller may not see; ROGER_ENOENT, of the member: none is left, as
 * where there was none. */
RG_CHECKED int rg_caller_leave_own(const struct roger *roger, const char *member,
				   struct roger_message_list *messages, struct rg_arena *arena,
				   struct roger_err *err);

/* May the caller speak as this name?  True for one that may speak as anybody. */
bool rg_caller_is(const struct roger *roger, struct roger_str name);

/* Has a token or login proved that the caller has this name, with the right to act? */
bool rg_caller_proves(const struct roger *roger, struct roger_str name);

/* Is the caller one agent or person, who speaks under no name but its own? */
bool rg_caller_is_bound(const struct roger *roger);

/* Is the caller a person at the page who administers, and is not that agent? */
bool rg_caller_stands_in(const struct roger *roger, struct roger_str agent);

/*
 * May the caller change what belongs to these two?  Else ROGER_EREFUSED of the member; what:
 * "run", "dead letter".
 */
RG_CHECKED int rg_caller_may_change(const struct roger *roger, const char *member, const char *what,
				    struct roger_str id, struct roger_str owner,
				    struct roger_str other, struct roger_err *err);

/* " by bob (token bob 1a2b3c4d)", for printf(); "" for whoever has the files, or is at the socket.
 */
#define RG_BY_WHOM "%s%.*s%s%.*s%s"
#define RG_BY_WHOM_ARGS(roger)                                                                     \
	(roger)->caller.name.length ? " by " : "", RG_STR_ARGS((roger)->caller.name),              \
		(roger)->caller.name.length ? " (" : "",                                           \
		(roger)->caller.name.length ? (int)(roger)->caller.login.length : 0,               \
		(roger)->caller.login.data, (roger)->caller.name.length ? ")" : ""

#endif
