/*
 * caller - who speaks through a handle: roger serve sets it by the token or login that it was
 * shown.
 *
 * It is not in roger.h, so no other program can claim to be somebody.  What a caller may do is one
 * rule for all verbs: ops/caller.h.
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
	bool works;		   /* the verb may work beyond the deadline, but not wait */
};

struct rg_arena;

/* Set who makes the next calls; NULL: whoever has the files.  The texts are borrowed. */
void rg_set_caller(struct roger *roger, const struct rg_caller *caller);

/* Should this server do the chores of the workspace?  False: another server of it does them. */
bool rg_leads(struct roger *roger);

/* Bring the index and the send logs up to date; a server does it in the background, since it may
 * take long. */
void rg_get_ready(struct roger *roger);

/*
 * Where a workspace has several servers, the answer to a request is stored with its changes, so
 * that a repeated request finds it.  rg_find_answer() comes before the call and names the request
 * by its key, a digest; rg_put_answer() comes after it (NULL data: the verb failed), and waits
 * until all is stored.
 */
bool rg_keeps_answers(const struct roger *roger);
RG_CHECKED int rg_find_answer(struct roger *roger, const char *key, struct rg_arena *arena,
			      struct roger_str *ret_text, struct roger_err *err);
RG_CHECKED int rg_put_answer(struct roger *roger, struct roger_str text, struct roger_err *err);

/*
 * Let sends return before they are synced and noted.  rg_gathered() syncs and notes them all, and
 * ends this; if it fails, each of them has failed.  Only for the file store.
 */
void rg_gather(struct roger *roger);
RG_CHECKED int rg_gathered(struct roger *roger, struct roger_err *err);

/* See rg_engine_read_new(). */
RG_CHECKED int rg_read_new(struct roger *roger, uint64_t *from, struct rg_arena *arena,
			   struct roger_message_list *ret_messages, bool *ret_known,
			   struct roger_err *err);

/* Does the name fit the pattern?  "ci-*" fits every name that begins with "ci-". */
bool rg_name_fits(struct roger_str pattern, struct roger_str name);
bool rg_name_is_pattern(struct roger_str text);
/* Is the message from a name that fits, or for one? */
bool rg_name_has_part(struct roger_str pattern, const struct roger_message *message);

/* The right that a verb needs. */
enum rg_right rg_right_of(const struct roger_op *op);

/* The id by which a workspace is known wherever it is, in .roger/id; it is made if it is
 * missing. */
enum { RG_WORKSPACE_ID_BYTES = 33 };
int rg_workspace_id(const char *root, char to[RG_WORKSPACE_ID_BYTES], struct roger_err *err);

/*
 * The name of an agent of which only the tool is known: its token's, or one for each git worktree
 * and living process of the tool (pid; 0: not known).  Returns a text in `to`, tool itself, or "":
 * the server does not answer.
 */
enum { RG_OWN_NAME_BYTES = 132 };
struct roger_str rg_name_by_itself(const struct roger *roger, struct roger_str tool, int64_t pid,
				   char to[RG_OWN_NAME_BYTES]);

/* The agent that a process was started as (its ROGER_AGENT); false: it cannot be seen. */
bool rg_observe_process(int64_t id, char *to, size_t size);

/* The command of a process: its name, then the words that started it; false: it cannot be seen. */
struct rg_arena;
bool rg_observe_command(int64_t id, struct rg_arena *arena, struct roger_strs *ret_words,
			int64_t *ret_parent);

#endif
