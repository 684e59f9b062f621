/*
 * engine - where messages live: find, begin, put, commit = durable.
 *
 * Two kinds implement it: local (files, no daemon) and, later, postgres.  Rules
 * and verbs never know which one they stand on.
 *
 * A transaction is begin .. commit.  An exclusive one is alone in changing the
 * state of messages, so what it finds stays as found until it ends; senders do
 * not wait for it.  commit stores everything that was put, or nothing, and
 * returns ROGER_OK only when it is on disk.
 */
#ifndef RG_ENGINE_H
#define RG_ENGINE_H

#include "base/arena.h"
#include "systems/query.h"

struct rg_engine;

/* What a commit came to; all but the first stored nothing. */
enum rg_verdict {
	RG_COMMITTED,
	RG_OVER_MAILBOX, /* the issue and recipient of .which hold too many */
	RG_OVER_ISSUE,	 /* the issue of .which does */
	RG_KEY_KNOWN,	 /* the sender of .which used its key before */
};

struct rg_outcome {
	enum rg_verdict verdict;
	const struct roger_message *which;
	int64_t count; /* RG_OVER_*: messages there are now */
};

struct rg_found {
	bool found;
	struct roger_str id, from_phase, issue_id;
	int64_t seq;
};

struct rg_engine_class {
	const char *name;
	struct rg_engine *(*close)(struct rg_engine *engine);

	int (*find)(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		    struct roger_messages *ret_messages, struct roger_err *err);
	int (*count)(struct rg_engine *engine, const struct rg_query *query, int64_t *ret_count,
		     struct roger_err *err);
	int (*may_have_mail)(struct rg_engine *engine, struct roger_str agent, bool *ret_may,
			     struct roger_err *err);
	int (*agents)(struct rg_engine *engine, struct rg_arena *arena,
		      struct roger_agent_list *ret_agents, struct roger_err *err);
	bool (*knows)(struct rg_engine *engine, struct roger_str name);
	int (*names)(struct rg_engine *engine, struct rg_arena *arena, struct roger_strs *ret_names,
		     struct roger_err *err);
	int (*issues)(struct rg_engine *engine, struct rg_arena *arena,
		      struct roger_strs *ret_issues, struct roger_err *err);
	int (*figures)(struct rg_engine *engine, struct rg_figures *ret_figures,
		       struct roger_err *err);
	int (*wait)(struct rg_engine *engine, struct roger_str agent, struct roger_str issue,
		    struct roger_str from, int64_t timeout_ms, struct rg_arena *arena,
		    struct rg_found *ret_found, struct roger_err *err);

	int (*begin)(struct rg_engine *engine, bool exclusive, struct roger_err *err);
	int (*add)(struct rg_engine *engine, struct roger_message *message, bool new_number,
		   struct roger_err *err);
	int (*change)(struct rg_engine *engine, const struct roger_message *before,
		      const struct roger_message *after, struct roger_err *err);
	int (*archive)(struct rg_engine *engine, const struct roger_message *message,
		       struct roger_err *err);
	int (*commit)(struct rg_engine *engine, struct rg_outcome *ret_outcome,
		      struct roger_err *err);
	void (*rollback)(struct rg_engine *engine);

	int (*session)(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
		       struct roger_err *err);
	int (*note_cleanup)(struct rg_engine *engine, struct roger_str line, struct roger_err *err);
	int (*rebuild)(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
		       struct roger_err *err);
	int (*verify)(struct rg_engine *engine, struct rg_arena *arena,
		      struct roger_verify_reply *ret_reply, struct roger_err *err);
	const char *(*trouble)(struct rg_engine *engine);
	void (*on_progress)(struct rg_engine *engine, roger_progress *tell, void *context);
};

/* What every engine starts with. */
struct rg_engine {
	const struct rg_engine_class *class;
};

/* -------------------------------------------------------------- reading -- */

/* Messages in the order of the journal; memory from arena. */
RG_CHECKED int rg_engine_find(struct rg_engine *engine, const struct rg_query *query,
			      struct rg_arena *arena, struct roger_messages *ret_messages,
			      struct roger_err *err);

RG_CHECKED int rg_engine_count(struct rg_engine *engine, const struct rg_query *query,
			       int64_t *ret_count, struct roger_err *err);

/* False: the agent has no unread message.  True: it may.  Never slow. */
RG_CHECKED int rg_engine_may_have_mail(struct rg_engine *engine, struct roger_str agent,
				       bool *ret_may, struct roger_err *err);

/* Everyone who ever sent or received, by name: with figures, and quickly without. */
RG_CHECKED int rg_engine_agents(struct rg_engine *engine, struct rg_arena *arena,
				struct roger_agent_list *ret_agents, struct roger_err *err);
RG_CHECKED int rg_engine_names(struct rg_engine *engine, struct rg_arena *arena,
			       struct roger_strs *ret_names, struct roger_err *err);

/* Has the name ever sent or received? */
bool rg_engine_knows(struct rg_engine *engine, struct roger_str name);

/* Every issue that has messages, by name. */
RG_CHECKED int rg_engine_issues(struct rg_engine *engine, struct rg_arena *arena,
				struct roger_strs *ret_issues, struct roger_err *err);

RG_CHECKED int rg_engine_figures(struct rg_engine *engine, struct rg_figures *ret_figures,
				 struct roger_err *err);

/*
 * Sleep until an unread message to agent is there, of an issue and from a
 * sender where these are given, up to timeout_ms (0: for ever).
 */
RG_CHECKED int rg_engine_wait(struct rg_engine *engine, struct roger_str agent,
			      struct roger_str issue, struct roger_str from, int64_t timeout_ms,
			      struct rg_arena *arena, struct rg_found *ret_found,
			      struct roger_err *err);

/* -------------------------------------------------------------- writing -- */

RG_CHECKED int rg_engine_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err);

/*
 * Put a new message: borrowed until commit, which fills its seq and epoch.
 * new_number: the sender's next one; otherwise that of the message before.
 */
RG_CHECKED int rg_engine_add(struct rg_engine *engine, struct roger_message *message,
			     bool new_number, struct roger_err *err);

/* Put a new state of a message that was found in this transaction. */
RG_CHECKED int rg_engine_change(struct rg_engine *engine, const struct roger_message *before,
				const struct roger_message *after, struct roger_err *err);

/* Put a message, with archived_at and archive_reason set, out of the way. */
RG_CHECKED int rg_engine_archive(struct rg_engine *engine, const struct roger_message *message,
				 struct roger_err *err);

RG_CHECKED int rg_engine_commit(struct rg_engine *engine, struct rg_outcome *ret_outcome,
				struct roger_err *err);

/* End a transaction with nothing stored; after a commit it does nothing. */
void rg_engine_rollback(struct rg_engine *engine);

/* The epoch; fresh: open the next one first. */
RG_CHECKED int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
				 struct roger_err *err);

/* One line of cleanup_metrics.jsonl. */
RG_CHECKED int rg_engine_note_cleanup(struct rg_engine *engine, struct roger_str line,
				      struct roger_err *err);

/* ---------------------------------------------------------- maintenance -- */

RG_CHECKED int rg_engine_rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
				 struct roger_err *err);
RG_CHECKED int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
				struct roger_verify_reply *ret_reply, struct roger_err *err);

/* What does not work as it should although everything is answered; "" when all does. */
const char *rg_engine_trouble(struct rg_engine *engine);
void rg_engine_on_progress(struct rg_engine *engine, roger_progress *tell, void *context);

struct rg_engine *rg_engine_close(struct rg_engine *engine);

#endif
