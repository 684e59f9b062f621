/*
 * op - a verb: what it takes, what it gives, what it does.
 *
 * One file a verb (or a pair that shares its work), one line in op_table.c.
 * The dispatcher gives the reply its memory and takes it back on failure.
 */
#ifndef RG_OP_H
#define RG_OP_H

#include "base/clock.h"
#include "base/id.h"
#include "base/limits.h"
#include "data/record.h"
#include "engine/engine.h"
#include "host/workspace.h"

/* The handle of the public header. */
struct roger {
	struct rg_workspace *workspace;
	struct rg_engine *engine;
	struct rg_id_source ids;
	roger_progress *tell;
	void *tell_context;
	char untold[464];	  /* why the last verb is not in the activity log; "": it is */
	bool own_mail;		  /* roger itself sends, in the name of a run's owner or child */
	struct rg_bridge *bridge; /* what a handle that bridges keeps; NULL before */
};

/* ops/edge/bridge.c; returns NULL. */
struct rg_bridge;
struct rg_bridge *rg_bridge_free(struct rg_bridge *bridge);

/* Every reply starts with its memory, an arena. */
static inline struct rg_arena *rg_op_memory(const void *reply)
{
	return *(struct rg_arena *const *)reply;
}

/* Run a verb: checks what the fields say, makes the reply's memory, runs. */
RG_CHECKED int rg_op_run(const struct roger_op *op, struct roger *roger, const void *request,
			 void *ret_reply, struct roger_err *err);

extern const struct roger_op *const rg_op_table[];

extern const struct roger_op rg_op_init, rg_op_setup, rg_op_trust, rg_op_looked, rg_op_prime,
	rg_op_arrive, rg_op_send, rg_op_send_many, rg_op_inbox, rg_op_receive, rg_op_wait,
	rg_op_wake, rg_op_claim, rg_op_ack, rg_op_nack, rg_op_show, rg_op_trace, rg_op_thread,
	rg_op_list, rg_op_search, rg_op_count, rg_op_agents, rg_op_session, rg_op_archive,
	rg_op_cleanup, rg_op_delete, rg_op_cycle, rg_op_sends, rg_op_dead_letters, rg_op_redeliver,
	rg_op_stale, rg_op_purge, rg_op_log, rg_op_log_import, rg_op_activity, rg_op_stats,
	rg_op_rebuild, rg_op_verify, rg_op_accept, rg_op_bridge, rg_op_ingest, rg_op_doctor,
	rg_op_seal, rg_op_config, rg_op_dispatch, rg_op_complete, rg_op_forward, rg_op_extend,
	rg_op_recover, rg_op_runs, rg_op_run_program, rg_op_sweep, rg_op_timeline, rg_op_report,
	rg_op_status;

/* Records that several verbs share. */
extern const struct roger_record rg_agent_record, rg_empty_request_record, rg_messages_reply_record,
	rg_archive_reply_record, rg_bad_line_record, rg_concern_record;

/* Kinds of action, with a name for "any" first. */
extern const char *const rg_activity_type_names[];

#define RG_END                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

#endif
