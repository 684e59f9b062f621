/*
 * caller - who speaks through a handle, for roger serve, which was shown a token or a login.
 * It is not in roger.h, so no other program can say so of itself.  What follows from it is
 * one rule for all verbs: ops/caller.h.
 */
#ifndef RG_CALLER_H
#define RG_CALLER_H

#include "verbs.h"

enum rg_caller_how {
	RG_BY_FILES,  /* whoever may write the files may do anything with them */
	RG_BY_SOCKET, /* the same user, at the server's unix socket */
	RG_BY_TOKEN,  /* a program */
	RG_BY_LOGIN,  /* a person at a browser */
};

struct rg_caller {
	enum rg_caller_how how;
	enum rg_right right;	   /* of a token or a login */
	struct roger_str name;	   /* whose token or login it is, or "ci-*"; "": nobody's */
	struct roger_str login;	   /* which one, for notes: "token bob 1a2b3c4d" */
	struct roger_str observed; /* who was seen at the socket; "": nobody */
	bool page;		   /* a person reads the answer, not the agent that it is about */
	bool own;		   /* it sees no mail but its own */
	int64_t until_ns;	   /* the request's deadline, monotonic clock; 0: none */
	bool works;		   /* it may work for longer, but not wait */
};

struct rg_arena;

/* Who makes the next calls; NULL: whoever has the files.  The texts are borrowed. */
void rg_set_caller(struct roger *roger, const struct rg_caller *caller);

/* Is it for this server to do what nobody asks for?  False: another one of the workspace does. */
bool rg_leads(struct roger *roger);

/* Bring the index and the send logs up to date; a server does it in the background, since it may
 * take long. */
void rg_get_ready(struct roger *roger);

/*
 * The answer to a request, kept with what is changed for it, where the store does that (a workspace
 * of several servers): named before the call by its key, a digest; then found, or put when the
 * verb has ended (NULL data: it failed), which waits until all is stored.
 */
bool rg_keeps_answers(const struct roger *roger);
RG_CHECKED int rg_find_answer(struct roger *roger, const char *key, struct rg_arena *arena,
			      struct roger_str *ret_text, struct roger_err *err);
RG_CHECKED int rg_put_answer(struct roger *roger, struct roger_str text, struct roger_err *err);

/*
 * From now on sends return before they are on disk and noted; rg_gathered() sees to
 * that for all of them, and ends it.  What it fails with is the answer to each.  Of files alone.
 */
void rg_gather(struct roger *roger);
RG_CHECKED int rg_gathered(struct roger *roger, struct roger_err *err);

/* See rg_engine_read_new(). */
RG_CHECKED int rg_read_new(struct roger *roger, uint64_t *from, struct rg_arena *arena,
			   struct roger_message_list *ret_messages, bool *ret_known,
			   struct roger_err *err);

/* Is it that name?  "ci-*" is every name that begins so. */
bool rg_name_fits(struct roger_str pattern, struct roger_str name);
bool rg_name_is_pattern(struct roger_str text);
/* Is the message from that name, or for it? */
bool rg_name_has_part(struct roger_str pattern, const struct roger_message *message);

/* What a verb needs. */
enum rg_right rg_right_of(const struct roger_op *op);

/* What a workspace is known by, whatever its path: .roger/id, which is made where it has none. */
enum { RG_WORKSPACE_ID_BYTES = 33 };
int rg_workspace_id(const char *root, char to[RG_WORKSPACE_ID_BYTES], struct roger_err *err);

/*
 * Who an agent is that nobody named but its tool: in a git worktree another one than in the next,
 * and another one for each process of the tool (pid; 0: not known) that lives.  to, or tool itself.
 */
enum { RG_OWN_NAME_BYTES = 132 };
struct roger_str rg_name_by_itself(const struct roger *roger, struct roger_str tool, int64_t pid,
				   char to[RG_OWN_NAME_BYTES]);

/* Which agent a process was started as (ROGER_AGENT); false: none, as far as can be seen. */
bool rg_observe_process(int64_t id, char *to, size_t size);

/* What runs as a process: its name, then the words that started it; false: not to be seen. */
struct rg_arena;
bool rg_observe_command(int64_t id, struct rg_arena *arena, struct roger_strs *ret_words,
			int64_t *ret_parent);

#endif
