/*
 * watchdog - did the result of a dispatched run arrive where it belongs?
 *
 * The record of seed 001 and its rules; pure functions.  Each run has one document
 * (state/subagent-delivery-watchdog/<runId>.json).  The status follows from the
 * evidence, the rules and the current time; the status in a document is never
 * believed.  Time alone causes neither success nor final failure.
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
#include "verbs.h"

/* What is known about a run, without its texts; a time of 0 is not set. */
struct rg_receipts {
	int64_t dispatched_ms;
	int64_t expected_by_ms;
	int64_t completed_ms;
	bool forwarded;
	bool from_recovery; /* the result came from a recovery */
	bool child_ended;   /* without a result, so none will come by itself */
	bool child_lost;    /* nobody saw how it ended: its process and its watcher are gone */
	int64_t recoveries;
	int64_t last_recovery_ms;
	int64_t extensions;
	bool settled;
};

/* A closed run: no later event changes what lists and figures say of it (is_closed() of
 * ops/runs/run_list.c).  This is all that they need. */
struct rg_closed_run {
	uint64_t file, stamp; /* hash of its document's name; stamp of that document */
	struct rg_receipts receipts;
	struct roger_run run; /* its names, status, outcome and settled_at; the rest is not set */
};

struct rg_closed_runs {
	struct rg_closed_run *items;
	size_t count;
};

struct rg_watchdog_rules {
	int64_t recoveries_max;
	int64_t recovery_cooldown_ms;
	int64_t extensions_max;
	int64_t extension_ms_max; /* longest single extension */
};

/* ---------------------------------------------------------------- rules -- */

/* Judge the status by the rule of seed 001. */
enum roger_run_status rg_watchdog_judge(const struct rg_receipts *receipts,
					const struct rg_watchdog_rules *rules, int64_t now_ms);

/* How the run's child ended, judged by its exit and not by the run's status; 0: not ended. */
enum roger_run_outcome rg_run_outcome(const struct roger_run *run,
				      const struct rg_receipts *receipts);

/* Is there evidence how the child ended?  "lost" is no evidence: its result may be somewhere. */
bool rg_run_end_is_known(const struct roger_run *run);

/* Has the run failed, or can it not succeed?  It may have left a result. */
bool rg_run_failed(const struct roger_run *run);
/* And has nobody settled that? */
bool rg_run_wants_settling(const struct roger_run *run);

/* Explain the status for people; the text changes only with the evidence. */
void rg_watchdog_explain(const struct roger_run *run, const struct rg_receipts *receipts,
			 const struct rg_watchdog_rules *rules, enum roger_run_status status,
			 struct rg_buf *out);

/* Print the status for people: "running, 4 min left", "failed: exit 3". */
void rg_run_print_words(const struct roger_run *run, int64_t now_ms, struct rg_buf *out);

/* Print the reason that these words leave out; often nothing. */
void rg_run_print_why(const struct roger_run *run, struct rg_buf *out);

enum rg_recovery {
	RG_RECOVERY_DUE,
	RG_RECOVERY_DONE,    /* the completion was received: nothing to recover */
	RG_RECOVERY_SETTLED, /* somebody settled it */
	RG_RECOVERY_EARLY,   /* the result may still come by itself */
	RG_RECOVERY_COOLING, /* the last attempt was too recent */
	RG_RECOVERY_USED_UP,
};

/* Is a recovery attempt allowed?  *ret_from_ms: when it will be, if only time is missing. */
enum rg_recovery rg_watchdog_recovery(const struct rg_receipts *receipts,
				      const struct rg_watchdog_rules *rules, int64_t now_ms,
				      int64_t *ret_from_ms);

/* ------------------------------------------------------------ documents -- */

/* Decode and check a run's document.  Texts point into *ret_json, which the caller frees after
 * use, and into arena.  ROGER_EDATA: invalid or contradictory; err names the member. */
RG_CHECKED int rg_run_read(struct roger_str text, struct rg_json **ret_json, struct rg_arena *arena,
			   struct roger_run *ret_run, struct rg_receipts *ret_receipts,
			   struct roger_err *err);

/* The receipts of a run; ROGER_EDATA: its times are invalid or contradict each other. */
RG_CHECKED int rg_run_receipts(const struct roger_run *run, struct rg_receipts *ret_receipts,
			       struct roger_err *err);

/* Print the document as in the seed: indented by two blanks, with a final newline. */
void rg_run_print(const struct roger_run *run, struct rg_buf *out);

/* -------------------------------------------------------------- changes -- */

/* A run while it is changed.  Its texts are in arena, which remembers if memory ran out: whoever
 * writes the document asks it first. */
struct rg_run_edit {
	struct roger_run *run;
	struct rg_receipts *receipts;
	struct rg_watchdog_rules rules;
	int64_t now_ms;
	struct roger_str by; /* who makes the change, for its note: " by bob (...)"; "": not told */
	struct rg_arena *arena;
	bool changed; /* it is to be written */
};

/*
 * Each of these adds a receipt to a run, or refuses with ROGER_EREFUSED and the reason; `changed`
 * stays as it is if the run has it already.  They do not change the status.
 */
RG_CHECKED int rg_run_complete(struct rg_run_edit *edit, struct roger_str source,
			       struct roger_err *err);
/* The child ended without a result; child_exit: "3", "failed". */
RG_CHECKED int rg_run_end_child(struct rg_run_edit *edit, struct roger_str child_exit,
				struct roger_err *err);
/* The child's process is gone and nobody saw how it ended; does nothing if more is known. */
void rg_run_lose_child(struct rg_run_edit *edit);
/* Record now as the time at which the child's end was seen. */
void rg_run_ended(struct rg_run_edit *edit);
/* Record now as the last time at which the watcher was alive. */
void rg_run_beat(struct rg_run_edit *edit);
/* The result reached its owner; evidence: id of the message that the owner has read. */
RG_CHECKED int rg_run_forward(struct rg_run_edit *edit, struct roger_str evidence,
			      struct roger_err *err);
RG_CHECKED int rg_run_extend(struct rg_run_edit *edit, int64_t by_ms, struct roger_err *err);
/* Settle a failure, or a result that nobody can read (stranded); by: "" for a person. */
RG_CHECKED int rg_run_settle_failure(struct rg_run_edit *edit, bool stranded, struct roger_str by,
				     struct roger_err *err);
/* Count a recovery attempt, before it is made. */
RG_CHECKED int rg_run_recover(struct rg_run_edit *edit, struct roger_str action,
			      struct roger_err *err);

/* Add a note, printed as printf() would, after the time: "2026-04-24T02:50:00.000Z ...". */
void rg_run_note(struct rg_run_edit *edit, const char *format, ...) RG_PRINTF(2, 3);
/* The same for what may be found again, unless a note says it; the text ends with a NUL. */
void rg_run_note_once(struct rg_run_edit *edit, struct roger_str text);

/* An instant as documents have it. */
struct roger_str rg_run_instant(int64_t ms, struct rg_arena *arena);

/* Judge the run; if its status changes, record status, reason, time and a note. */
void rg_run_restate(struct rg_run_edit *edit);

#endif
