/*
 * engine - where messages live: find, begin, put, commit = durable.
 *
 * messages.jsonl is the truth and the only file that a send syncs.  What the
 * writers need to know at once is in the control file's tally; everything else
 * is asked of the index, which follows the journal.
 *
 * A transaction is begin .. commit.  An exclusive one is alone in changing the
 * state of messages, so what it finds stays as found until it ends; senders do
 * not wait for it.  commit stores everything that was put, or nothing, and
 * returns ROGER_OK only when it is on disk.
 */
#ifndef RG_ENGINE_H
#define RG_ENGINE_H

#include "facts/query.h"
#include "host/workspace.h"

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

/* The document of a run, as it stands. */
struct rg_run_text {
	struct roger_str file; /* its name; "" where there are no files */
	struct roger_str text;
	struct roger_str trouble; /* why it could not be read; "": it could */
};

/* A state that a message once had, without its text, and where that stands. */
struct rg_state {
	struct roger_message message;
	int64_t bytes; /* of its text */
	int64_t line;  /* of the journal, from 1 */
	int64_t byte;  /* where that begins */
};

struct rg_states {
	const struct rg_state *items;
	size_t count;
};

struct rg_run_texts {
	const struct rg_run_text *items;
	size_t count;
};

/* A message that somebody else speaks of; doctor tells what became of it. */
struct rg_wanted {
	struct roger_str id;
	bool found;
	bool read;
};

/* What doctor is to do, beside looking at everything the engine keeps. */
struct rg_doctor_wish {
	bool fix;
	struct rg_wanted *wanted;
	size_t wanted_count;
};

/* A journal, or its first bytes, as a seal holds them. */
struct rg_digest {
	struct roger_str file;
	bool there;
	int64_t bytes; /* that the digest covers; fewer than wished for: there are no more */
	int64_t lines;
	int64_t every;
	struct roger_str chain, sha256, marks; /* as struct roger_seal_entry has them */
};
struct rg_digests {
	const struct rg_digest *items;
	size_t count;
};
struct rg_digest_wish {
	struct roger_str file;
	int64_t bytes;
	int64_t every;
};

/* The key that seals; "": there is none. */
struct rg_seal_key {
	struct roger_str secret;
	struct roger_str public_key; /* as its own file has it */
};

/* The workspace stays the caller's and open. */
RG_CHECKED int rg_engine_open(struct rg_workspace *workspace, struct rg_engine **ret_engine,
			      struct roger_err *err);
struct rg_engine *rg_engine_close(struct rg_engine *engine);

/* How often this handle stored something. */
uint64_t rg_engine_stored(const struct rg_engine *engine);

/* -------------------------------------------------------------- reading -- */

/* Messages in the order of the journal; memory from arena. */
RG_CHECKED int rg_engine_find(struct rg_engine *engine, const struct rg_query *query,
			      struct rg_arena *arena, struct roger_messages *ret_messages,
			      struct roger_err *err);

/* The same, and of the same moment how many there are whatever the limit, held under a lease or
 * not; not by words, and from the start. */
RG_CHECKED int rg_engine_find_page(struct rg_engine *engine, const struct rg_query *query,
				   struct rg_arena *arena, struct roger_messages *ret_messages,
				   int64_t *ret_total, struct roger_err *err);
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

/* See messages, archived ones too, created at since and before until (0: open), in no order. */
RG_CHECKED int rg_engine_survey(struct rg_engine *engine, int64_t since_ms, int64_t until_ms,
				rg_survey_see *see, void *context, struct roger_err *err);

/* Ids of unread messages whose lease, or whose time to be read, ended before now.  Never slow. */
RG_CHECKED int rg_engine_overdue(struct rg_engine *engine, int64_t now_ms, int64_t limit,
				 struct rg_arena *arena, struct roger_strs *ret_ids,
				 struct roger_err *err);

/* How many lines of the journal are no messages.  Never slow. */
RG_CHECKED int rg_engine_strays(struct rg_engine *engine, int64_t *ret_strays,
				struct roger_err *err);

/*
 * Sleep until an unread message to agent is there, of an issue and from a
 * sender where these are given, up to timeout_ms (0: for ever).
 */
RG_CHECKED int rg_engine_wait(struct rg_engine *engine, struct roger_str agent,
			      struct roger_str issue, struct roger_str from, int64_t timeout_ms,
			      struct rg_arena *arena, struct rg_found *ret_found,
			      struct roger_err *err);

/* All states of messages that were found, each one's in the order of the journal. */
RG_CHECKED int rg_engine_states(struct rg_engine *engine, const struct roger_message *messages,
				size_t count, struct rg_arena *arena, struct rg_states *ret_states,
				struct roger_err *err);

/*
 * Is a look of the agent at the message in the activity log?  False: perhaps
 * all the same, since before the machine started.  Never slow.
 */
bool rg_engine_shown(struct rg_engine *engine, struct roger_str agent, struct roger_str id);
void rg_engine_note_shown(struct rg_engine *engine, struct roger_str agent,
			  const struct roger_str *ids, size_t count, bool shown);

/*
 * Be the only one who wakes the agent; *ret_taken false: another process is at
 * it.  It ends with the process.
 */
RG_CHECKED int rg_engine_turn_take(struct rg_engine *engine, struct roger_str agent,
				   bool *ret_taken, struct roger_err *err);
void rg_engine_turn_end(struct rg_engine *engine, struct roger_str agent);

/* False: the sender never used the key.  True: it may have.  Never slow. */
bool rg_engine_may_know_key(struct rg_engine *engine, struct roger_str sender,
			    struct roger_str key);

/* The sender has used the key, although no message of it is stored. */
RG_CHECKED int rg_engine_note_key(struct rg_engine *engine, struct roger_str sender,
				  struct roger_str key, struct roger_err *err);

/*
 * Waiting for anything at all to be stored: take a mark, look, sleep.  The sleep
 * ends at once when something was stored since, and else after wait_ms at most.
 */
uint32_t rg_engine_mark(struct rg_engine *engine);
void rg_engine_sleep(struct rg_engine *engine, uint32_t mark, int64_t wait_ms);

/* -------------------------------------------------------------- writing -- */

RG_CHECKED int rg_engine_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err);

/*
 * Put a new message: borrowed until commit, which fills its seq and epoch.
 * new_number: the sender's next one; otherwise that of the message before.
 */
RG_CHECKED int rg_engine_add(struct rg_engine *engine, struct roger_message *message,
			     bool new_number, struct roger_err *err);

/*
 * Put a new message that comes in over an edge, with the number its sender gave
 * it, or none (0): borrowed until commit.  The sender's counter becomes at
 * least that.  In an exclusive transaction.
 */
RG_CHECKED int rg_engine_bring(struct rg_engine *engine, struct roger_message *message,
			       int64_t number, struct roger_err *err);

/*
 * The highest number of this session from sender that reader has accepted, or
 * that came in for it over an edge; 0: none.  What comes next must be above it.
 */
RG_CHECKED int rg_engine_mark_of(struct rg_engine *engine, struct roger_str reader,
				 struct roger_str sender, int64_t *ret_number,
				 struct roger_err *err);

/* To be the one bridge of the workspace, until its end or that of the process. */
RG_CHECKED int rg_engine_bridge_begin(struct rg_engine *engine, int64_t wait_ms,
				      struct roger_err *err);
void rg_engine_bridge_end(struct rg_engine *engine);

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

/* -------------------------------------------------------------- records -- */

/*
 * Between the two nobody else adds to a log or changes a run, so what is found
 * stays as found.  No transaction of messages may begin or end in between.
 */
RG_CHECKED int rg_engine_records_begin(struct rg_engine *engine, struct roger_err *err);
/* The same for what can as well be left undone: ROGER_ETIMEOUT when others keep it. */
RG_CHECKED int rg_engine_records_soon(struct rg_engine *engine, struct roger_err *err);
void rg_engine_records_end(struct rg_engine *engine);

/*
 * Add entries, JSON objects with a newline behind each, to a log; owner: whose,
 * for RG_LOG_SENDS.  durable: on disk when it returns.  Between begin and end.
 */
RG_CHECKED int rg_engine_log_append(struct rg_engine *engine, enum rg_log log,
				    struct roger_str owner, struct roger_str entries, bool durable,
				    struct roger_err *err);

/* Entries in the order they were added (per owner); memory from arena. */
RG_CHECKED int rg_engine_log_find(struct rg_engine *engine, const struct rg_log_query *query,
				  struct rg_arena *arena, struct rg_log_entries *ret_entries,
				  struct roger_err *err);

/* The document of a run; NULL data in *ret_text: there is none.  Memory from arena. */
RG_CHECKED int rg_engine_run_find(struct rg_engine *engine, struct roger_str run_id,
				  struct rg_arena *arena, struct roger_str *ret_text,
				  struct roger_err *err);

/* The documents of all runs, in no order, and those that cannot be read. */
RG_CHECKED int rg_engine_runs(struct rg_engine *engine, struct rg_arena *arena,
			      struct rg_run_texts *ret_runs, struct roger_err *err);

/*
 * Put a document in place of what was read before (NULL data: of none); durable
 * when it returns.  ROGER_ETIMEOUT: something else stands there by now.  Between
 * begin and end.
 */
RG_CHECKED int rg_engine_run_put(struct rg_engine *engine, struct roger_str run_id,
				 struct roger_str before, struct roger_str after,
				 struct roger_err *err);

/*
 * Leave lines out of a log, durably; all others stay, in their order, whatever
 * they are.  Between begin and end.
 */
RG_CHECKED int rg_engine_log_purge(struct rg_engine *engine, enum rg_log log,
				   struct roger_str owner, rg_log_drop *drop, void *context,
				   int64_t *ret_dropped, struct roger_err *err);

/* The last line of a log that has no owner, "" where there is none; quick. */
RG_CHECKED int rg_engine_log_last(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
				  struct roger_str *ret_text, struct roger_err *err);

/* The epoch; fresh: open the next one first. */
RG_CHECKED int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
				 struct roger_err *err);

/* ---------------------------------------------------------- maintenance -- */

RG_CHECKED int rg_engine_rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
				 struct roger_err *err);
RG_CHECKED int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
				struct roger_verify_reply *ret_reply, struct roger_err *err);

/* Look at everything that is kept, and add what is wrong to reply; see roger.h. */
RG_CHECKED int rg_engine_doctor(struct rg_engine *engine, const struct rg_doctor_wish *wish,
				struct rg_arena *arena, struct roger_doctor_reply *reply,
				struct roger_err *err);

/* What is damaged, and nobody has accepted, in a line; "" when nothing is.  Never slow. */
const char *rg_engine_damage(struct rg_engine *engine);

/* What was found damaged, whoever has accepted it; where nothing was, never slow. */
RG_CHECKED int rg_engine_damages(struct rg_engine *engine, struct rg_arena *arena,
				 struct roger_damages *ret_damages, struct roger_err *err);

/*
 * Somebody has seen what is damaged in a file, at a line (0: the file as such);
 * who, when and why are filled in.  ROGER_ENOENT: there is no such damage.
 */
RG_CHECKED int rg_engine_accept(struct rg_engine *engine, const struct roger_damage *accepted,
				struct rg_arena *arena, struct roger_damages *ret_damages,
				struct roger_err *err);

/*
 * All journals as they are on disk; or, with wishes, the first bytes of these,
 * with marks for every so many lines.
 */
RG_CHECKED int rg_engine_digests(struct rg_engine *engine, const struct rg_digest_wish *wishes,
				 size_t count, struct rg_arena *arena,
				 struct rg_digests *ret_digests, struct roger_err *err);

/* The key of this workspace; make: where there is none. */
RG_CHECKED int rg_engine_seal_key(struct rg_engine *engine, bool make, struct rg_arena *arena,
				  struct rg_seal_key *ret_key, struct roger_err *err);

/* What does not work as it should although everything is answered; "" when all does. */
const char *rg_engine_trouble(struct rg_engine *engine);
void rg_engine_on_progress(struct rg_engine *engine, roger_progress *tell, void *context);

#endif
