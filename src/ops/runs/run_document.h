/*
 * run_document - the document of a run in the hands of a verb.
 *
 * A verb reads it, changes it by the rules of facts/watchdog.h, and puts it
 * back, all between rg_engine_records_begin() and _end().  Messages are sent
 * before or after that, never in between.
 */
#ifndef RG_RUN_DOCUMENT_H
#define RG_RUN_DOCUMENT_H

#include "ops/op.h"
#include "facts/watchdog.h"
#include "ops/mail/agents.h"
#include "verbs.h"

struct rg_run_document {
	struct roger_str file; /* "" where it was asked for by its run */
	struct roger_str text; /* as it is in the file; NULL data: no file */
	struct roger_run run;
	struct rg_receipts receipts;
	uint64_t stamp;		      /* of the text, where it was one of many */
	bool brief;		      /* a closed run: it has only what struct rg_closed_run has */
	enum roger_run_status stored; /* as the text says; run.status is judged */
	bool forward_seen;	      /* its result was read, which the text does not say */
	struct roger_str former;      /* owner that retired, which the text may still name */
	int64_t former_until_ms;      /* when it did */
	struct roger_str way_out;     /* command that helps where its owner cannot read it */
	bool settled_by_word; /* not by `settle`: its owner acknowledged the failure as done */
};

/* Is it done, and has its owner not heard of the result?  What nobody can read any more may be
 * settled. */
static inline bool rg_run_is_unheard(const struct rg_run_document *document)
{
	return document->run.status == ROGER_RUN_NOT_FORWARDED && document->receipts.completed_ms &&
	       !(document->run.settled_at.length && !document->settled_by_word &&
		 document->way_out.length);
}

struct rg_watchdog_rules rg_run_rules(const struct roger *roger);

/* May a recovery attempt be made now, and can a result still come? */
bool rg_run_recovery_is_due(const struct roger *roger, const struct rg_run_document *document);

/* What a reader sees: status and reason from the evidence, whatever the document says. */
void rg_run_judge(const struct roger *roger, struct rg_run_document *document, int64_t now_ms,
		  struct rg_arena *arena);

/* A document from its text, judged now.  ROGER_EDATA: it is not valid. */
RG_CHECKED int rg_run_decode(const struct roger *roger, struct roger_str text, int64_t now_ms,
			     struct rg_arena *arena, struct rg_run_document *ret_document,
			     struct roger_err *err);

/* The document of a run, judged now.  ROGER_ENOENT: there is none; ROGER_EDATA: as above. */
RG_CHECKED int rg_run_load(struct roger *roger, struct roger_str run_id, struct rg_arena *arena,
			   struct rg_run_document *ret_document, struct roger_err *err);

/* A retired owner's result goes to who took over, and to a person where nobody did: judge it so. */
void rg_run_inherit(const struct roger *roger, const struct roger_retired_list *retired,
		    struct rg_run_document *document, int64_t now_ms, struct rg_arena *arena);

/* Does what was sent to that name reach the run's owner, itself or as who took over? */
bool rg_run_is_for_owner(const struct roger_retired_list *retired, const struct roger_run *run,
			 struct roger_str to);

typedef int rg_run_change(void *context, struct rg_run_edit *edit, struct roger_err *err);

/* May the run be taken to another place?  ROGER_ETIMEOUT: not while a `roger run` watches it. */
RG_CHECKED int rg_run_check_left(const struct roger_run *run, struct roger_err *err);

/*
 * Read the document, let change have its way, judge it and put it back, while
 * nobody else does.  NULL: nothing but the judgement changes.  ROGER_EREFUSED: also where
 * the caller is neither its owner nor its child, and does not administer.
 */
RG_CHECKED int rg_run_update(struct roger *roger, struct roger_str run_id, rg_run_change *change,
			     void *context, struct rg_arena *arena,
			     struct rg_run_document *ret_document, bool *ret_changed,
			     struct roger_err *err);

/* The same for what can as well be left undone: nobody is waited for long. */
RG_CHECKED int rg_run_update_soon(struct roger *roger, struct roger_str run_id,
				  rg_run_change *change, void *context, struct rg_arena *arena,
				  struct roger_err *err);

/* Add its status in people's words, now. */
void rg_run_add_words(struct roger_run *run, struct rg_arena *arena);

/* What its program printed last: the record of the log; *ret_found false: that is not known. */
RG_CHECKED int rg_run_find_output(struct roger *roger, struct roger_str run_id,
				  struct rg_arena *arena, union rg_log_record *ret_record,
				  bool *ret_found, struct roger_err *err);
/* Add that to the run. */
RG_CHECKED int rg_run_add_output(struct roger *roger, struct roger_run *run, struct rg_arena *arena,
				 struct roger_err *err);

/* Its result was heard; context: id of the message that says so. */
RG_CHECKED rg_run_change rg_run_change_forward;

/* Write its document in place of `before` (data NULL: of none).  Needs the record lock. */
RG_CHECKED int rg_run_put(struct roger *roger, const struct roger_run *run, struct roger_str before,
			  struct rg_arena *arena, struct roger_str *ret_text,
			  struct roger_err *err);

/* Would the change be refused?  Tried on a copy; nothing is written. */
RG_CHECKED int rg_run_try(const struct roger *roger, rg_run_change *change, void *context,
			  const struct rg_run_document *document, struct rg_arena *arena,
			  bool *ret_changed, struct roger_err *err);

/* Is the caller its owner or its child, or administers?  Else ROGER_EREFUSED. */
RG_CHECKED int rg_run_may_change(const struct roger *roger, const struct roger_run *run,
				 struct roger_err *err);

/* A run that is changed now, by the caller. */
struct rg_run_edit rg_run_begin_edit(const struct roger *roger, struct roger_run *run,
				     struct rg_receipts *receipts, struct rg_arena *arena);

/* Note who did that, "forwarded by lead (token lead 1a2b3c4d)"; without a token or login nothing.
 */
void rg_run_note_caller(struct rg_run_edit *edit, const char *what);

/* The run as the only one of a reply. */
RG_CHECKED int rg_run_reply(struct roger_runs_reply *reply, const struct rg_run_document *document,
			    struct roger_err *err);

/* ------------------------------------------------------------ dispatch.c -- */

/* A new run as it is asked for; texts are in arena, notes for people are added. */
RG_CHECKED int rg_run_make(struct roger *roger, const struct roger_dispatch_request *request,
			   struct rg_arena *arena, struct roger_run *ret_run,
			   struct roger_strs *notes, struct roger_err *err);

/* Note who dispatched it, and write its document; ROGER_EREFUSED: there is one. */
RG_CHECKED int rg_run_put_new(struct roger *roger, struct roger_run *run, struct rg_arena *arena,
			      struct roger_err *err);

/* ------------------------------------------------------------ run_mail.c -- */

/*
 * Whom a result comes from: the agent that the session key names, else "run" for
 * all runs, so that a thousand of them make no thousand agents.  What roger says
 * of a run by itself comes from "roger", never from an agent.
 */
struct roger_str rg_run_sender(const struct roger *roger, const struct roger_run *run);

/* May the result come from this name: the child's, that of the run, or the above? */
bool rg_run_is_child(const struct roger *roger, const struct roger_run *run, struct roger_str name);

/* May the caller give a result in the name that it would come from? */
bool rg_run_may_speak(const struct roger *roger, const struct roger_run *run);

/* Is the session key, which is the run's id by default, that of an agent with a mailbox? */
bool rg_run_may_be_told(const struct roger *roger, const struct roger_run *run);

/*
 * Deliver the result of a run to its owner; again: in place of that message, "" for the first.
 * Where a rule forbids it, as where a mailbox is full, *ret_untold says why, and *ret_id is the
 * message in which a person has it; "": it is kept nowhere.
 */
RG_CHECKED int rg_run_deliver(struct roger *roger, const struct roger_run *run,
			      struct roger_str content, struct roger_str again,
			      struct rg_arena *arena, struct roger_str *ret_id,
			      struct roger_str *ret_untold, struct roger_err *err);

/*
 * Say something of a run, once for each verb and number, by any caller and however
 * often.  *ret_untold: why a rule forbids it, as where a mailbox is full; "": it is sent.
 */
RG_CHECKED int rg_run_notify(struct roger *roger, const struct roger_run *run, struct roger_str to,
			     const char *verb, int64_t number, struct roger_str content,
			     struct rg_arena *arena, struct roger_str *ret_id,
			     struct roger_str *ret_untold, struct roger_err *err);

/* "the child ended: exit 3", and what its owner was told. */
void rg_run_note_end(struct rg_run_edit *edit, struct roger_str ended, struct roger_str told_by,
		     struct roger_str untold);

/* The message of that id, living or archived; NULL in *ret_message: there is none. */
RG_CHECKED int rg_run_message(struct roger *roger, struct roger_str id, struct rg_arena *arena,
			      const struct roger_message **ret_message, struct roger_err *err);

/* Is it the message that is known to; where none is, one of type result that names the run? */
bool rg_run_carries_result(const struct roger_run *run, const struct roger_message *message);

/* Why its owner cannot read that message, NULL where there is none; NULL: it can, or has. */
const char *rg_run_why_stranded(const struct roger_retired_list *retired,
				const struct roger_run *run, const struct roger_message *message);

/* Is that message the owner's reply to the result?  Who answers has heard it. */
RG_CHECKED int rg_run_answered_by(struct roger *roger, const struct roger_run *run,
				  struct roger_str id, struct rg_arena *arena, bool *ret_answers,
				  struct roger_err *err);

/* The newest result that the mailbox holds for the run; NULL: there is none. */
RG_CHECKED int rg_run_find_result(struct roger *roger, const struct rg_run_document *document,
				  struct rg_arena *arena, const struct roger_message **ret_message,
				  struct roger_err *err);

/* ------------------------------------------------------------- recover.c -- */

/* One recovery attempt; source: what to call a result, "" by how it is found. */
RG_CHECKED int rg_run_attempt(struct roger *roger, struct roger_str run_id, struct roger_str source,
			      struct rg_arena *arena, struct rg_run_document *ret_document,
			      struct roger_err *err);

/* Tell the owner of a run that is blocked for good, unless that was done. */
bool rg_run_is_escalated(const struct roger_run *run);
bool rg_run_wants_escalation(const struct roger *roger, const struct rg_run_document *document);
RG_CHECKED int rg_run_escalate(struct roger *roger, struct roger_str run_id, struct rg_arena *arena,
			       struct rg_run_document *ret_document, struct roger_err *err);

#endif
