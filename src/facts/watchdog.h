/*
 * watchdog - whether the result of a dispatched run arrived where it belongs.
 *
 * The record of seed 001 and its rules, pure: an engine keeps one document for
 * each run (state/subagent-delivery-watchdog/<runId>.json).  The status follows
 * from the evidence, the rules and now; what a document says of its own status
 * is never believed.  Time alone makes neither a success nor a final failure.
 *
 *     active --SLA--> suspect_delivery_failure --attempts used up--> blocked
 *        |                     |                                        |
 *        |--------child ended without a result------------------------->|
 *        |                     |                                        |
 *        +-----completion------+----------------completion--------------+
 *                              v
 *                   done_but_not_forwarded --forward confirmed--> completed
 *                                                              or recovered
 */
#ifndef RG_WATCHDOG_H
#define RG_WATCHDOG_H

#include "data/record.h"

extern const char *const rg_run_statuses[];
extern const char *const rg_run_statuses_or_any[]; /* to ask for one: any is the first */
extern const char *const rg_run_outcomes[];
extern const struct roger_record rg_run_record;

/* What is known of a run, without its words; an instant of 0 is not there. */
struct rg_receipts {
	int64_t dispatched_ms;
	int64_t expected_by_ms;
	int64_t completed_ms;
	bool forwarded;
	bool from_recovery; /* the source of the result is a recovery */
	bool child_ended;   /* without a result, so none will come by itself */
	bool child_lost;    /* in that nobody saw how: its process is gone, and its watcher */
	int64_t recoveries;
	int64_t last_recovery_ms;
	int64_t extensions;
	bool settled;
};

struct rg_watchdog_rules {
	int64_t recoveries_max;
	int64_t recovery_cooldown_ms;
	int64_t extensions_max;
	int64_t extension_ms_max; /* of one */
};

/* ---------------------------------------------------------------- rules -- */

/* The whole rule of seed 001. */
enum roger_run_status rg_watchdog_judge(const struct rg_receipts *receipts,
					const struct rg_watchdog_rules *rules, int64_t now_ms);

/* How its child ended: from what is recorded of its end, never from its status. */
enum roger_run_outcome rg_run_outcome(const struct roger_run *run,
				      const struct rg_receipts *receipts);

/* It failed, or nothing can come of it, and nobody has dealt with that. */
bool rg_run_wants_settling(const struct roger_run *run);

/* Why it is that, for people; the same for as long as the evidence is. */
void rg_watchdog_explain(const struct roger_run *run, const struct rg_receipts *receipts,
			 const struct rg_watchdog_rules *rules, enum roger_run_status status,
			 struct rg_buf *out);

enum rg_recovery {
	RG_RECOVERY_DUE,
	RG_RECOVERY_DONE,    /* the completion was received: nothing to recover */
	RG_RECOVERY_SETTLED, /* somebody has dealt with it */
	RG_RECOVERY_EARLY,   /* it may still come by itself */
	RG_RECOVERY_COOLING, /* the last attempt was just made */
	RG_RECOVERY_USED_UP,
};

/* May an attempt be made?  *ret_from_ms: from when on, where only time is missing. */
enum rg_recovery rg_watchdog_recovery(const struct rg_receipts *receipts,
				      const struct rg_watchdog_rules *rules, int64_t now_ms,
				      int64_t *ret_from_ms);

/* ------------------------------------------------------------ documents -- */

/*
 * A run from the text of its document, checked: texts point into json, which
 * the caller frees after use, and into arena.  ROGER_EDATA: the document is not
 * valid, or contradicts itself; err names the member.
 */
RG_CHECKED int rg_run_read(struct roger_str text, struct rg_json **ret_json, struct rg_arena *arena,
			   struct roger_run *ret_run, struct rg_receipts *ret_receipts,
			   struct roger_err *err);

/* The receipts of a run; ROGER_EDATA where its instants are none or contradict each other. */
RG_CHECKED int rg_run_receipts(const struct roger_run *run, struct rg_receipts *ret_receipts,
			       struct roger_err *err);

/* The document, as the seed shows it: two blanks a level, and a newline at its end. */
void rg_run_print(const struct roger_run *run, struct rg_buf *out);

/* -------------------------------------------------------------- changes -- */

/*
 * Each puts one more receipt into a run and its receipts, or refuses it with
 * ROGER_EREFUSED and says why; *ret_changed is false when the run says so
 * already.  Texts are kept in arena.  The status is not theirs to set.
 */
RG_CHECKED int rg_run_complete(struct roger_run *run, struct rg_receipts *receipts,
			       struct roger_str source, int64_t now_ms, struct rg_arena *arena,
			       bool *ret_changed, struct roger_err *err);
/* The child ended without leaving a result: "3", "failed". */
RG_CHECKED int rg_run_end_child(struct roger_run *run, struct rg_receipts *receipts,
				struct roger_str child_exit, bool *ret_changed,
				struct roger_err *err);
/* Its process is gone, and nobody knows how it ended; nothing when more is known. */
void rg_run_lose_child(struct roger_run *run, struct rg_receipts *receipts);
/* It was just seen to be watched over. */
RG_CHECKED int rg_run_beat(struct roger_run *run, const struct rg_receipts *receipts,
			   int64_t now_ms, struct rg_arena *arena, struct roger_err *err);
/* evidence: id of the message that its owner has read. */
RG_CHECKED int rg_run_forward(struct roger_run *run, struct rg_receipts *receipts,
			      struct roger_str evidence, bool *ret_changed, struct roger_err *err);
RG_CHECKED int rg_run_extend(struct roger_run *run, struct rg_receipts *receipts,
			     const struct rg_watchdog_rules *rules, int64_t by_ms, int64_t now_ms,
			     struct rg_arena *arena, struct roger_err *err);
/* Its failure is dealt with; by: "" for a person. */
RG_CHECKED int rg_run_settle_failure(struct roger_run *run, struct rg_receipts *receipts,
				     const struct rg_watchdog_rules *rules, struct roger_str by,
				     int64_t now_ms, struct rg_arena *arena, bool *ret_changed,
				     struct roger_err *err);
/* Counts an attempt, before it is made. */
RG_CHECKED int rg_run_recover(struct roger_run *run, struct rg_receipts *receipts,
			      const struct rg_watchdog_rules *rules, struct roger_str action,
			      int64_t now_ms, struct rg_arena *arena, struct roger_err *err);

/* One more note, which starts with the instant: "2026-04-24T02:50:00.000Z ...". */
RG_CHECKED int rg_run_note(struct roger_run *run, int64_t now_ms, struct roger_str text,
			   struct rg_arena *arena, struct roger_err *err);

/*
 * Judge the run; where the outcome is not what it says, put status, reason and
 * instant into it, and a note.
 */
RG_CHECKED int rg_run_restate(struct roger_run *run, const struct rg_receipts *receipts,
			      const struct rg_watchdog_rules *rules, int64_t now_ms,
			      struct rg_arena *arena, bool *ret_changed, struct roger_err *err);

#endif
