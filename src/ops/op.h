/*
 * op - a verb: what it takes, what it gives, what it does.
 *
 * One file a verb (or a pair that shares its work), and a block in verbs/.
 * The dispatcher gives the reply its memory and takes it back on failure.
 */
#ifndef RG_OP_H
#define RG_OP_H

#include "base/clock.h"
#include "base/id.h"
#include "base/limits.h"
#include "data/caller.h"
#include "data/record.h"
#include "engine/engine.h"
#include "host/process.h"
#include "host/workspace.h"
#include "verbs.h"

struct remote;

/* What a handle asks of a server. */
struct rg_elsewhere {
	/* Ask for a verb; the reply has its memory already. */
	int (*ask)(struct remote *remote, const struct roger_op *op, const void *request,
		   void *reply, struct roger_err *err);
	/* As roger_watch() and roger_hold(). */
	bool (*watch)(struct remote *remote, uint32_t *mark, int64_t timeout_ms);
	bool (*hold)(struct remote *remote, const char *what);
};

/* The handle of the public header. */
struct roger {
	struct rg_workspace *workspace;
	struct rg_engine *engine;
	struct remote *remote; /* a server that is asked in place of the engine; NULL: none */
	const struct rg_elsewhere *elsewhere; /* what such a handle does in place of the engine */
	struct rg_id_source ids;
	roger_progress *tell;
	void *tell_context;
	char untold[464];  /* why the last verb is not in the activity log; "": it is */
	struct rg_ran ran; /* who runs this process, once rg_note_ran() was asked */
	bool own_mail;	   /* roger itself sends: "roger" is a name it may use */
	void (*settle)(struct roger *roger); /* rg_attempt_settle_overdue() */
	struct rg_bridge *bridge;	     /* the state of a handle that bridges; NULL before */
	bool gathers;			     /* rg_gather() was called; notes wait in notes, */
	struct rg_buf notes;
	struct rg_arena *sent_memory; /* and messages with a key wait for their sync in sent */
	struct roger_message *sent;
	size_t sent_count;
	struct rg_caller caller; /* who makes the next calls; ops/caller.h */
};

/* The progress callback for a verb without a handle. */
struct rg_alone {
	roger_progress *tell;
	void *context;
};
extern struct rg_alone rg_alone;

/* ops/edge/bridge.c; returns NULL. */
struct rg_bridge;
struct rg_bridge *rg_bridge_free(struct rg_bridge *bridge);

/* Every reply starts with its memory, an arena. */
static inline struct rg_arena *rg_op_memory(const void *reply)
{
	return *(struct rg_arena *const *)reply;
}

/* Run a verb: checks what the fields say, makes the reply's memory, runs. */
RG_CHECKED int rg_op_call(const struct roger_op *op, struct roger *roger, const void *request,
			  void *ret_reply, struct roger_err *err);

/* Run a verb as a part of another one, which sets the memory of the reply. */
RG_CHECKED int rg_op_perform(const struct roger_op *op, struct roger *roger, const void *request,
			     void *reply, struct roger_err *err);

/* Run a verb where the workspace is, as a step of a verb that works on this machine. */
RG_CHECKED int rg_op_ask(struct roger *roger, const struct roger_op *op, const void *request,
			 void *reply, struct roger_err *err);

/* If a server answers: where the journals are, which server it is, "process 12 on db.example", and
 * the standby of a database. */
RG_CHECKED int rg_op_place(const struct roger *roger, struct rg_arena *arena,
			   struct roger_str *ret_store, struct roger_str *ret_served_by,
			   struct roger_str *ret_standby, struct roger_err *err);

/* Make a new message id. */
RG_CHECKED int rg_op_new_id(struct roger *roger, int64_t now_ms, struct rg_arena *arena,
			    struct roger_str *ret_id, struct roger_err *err);

/* Copy the path in a member of a request to a C string. */
RG_CHECKED int rg_op_path(struct roger_str path, const char *member, char to[4096],
			  struct roger_err *err);

/* All verbs, then NULL. */
extern const struct roger_op *const rg_op_table[];

#endif
