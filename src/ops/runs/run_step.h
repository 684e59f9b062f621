/*
 * run_step - what `roger run` has stored of a run, from its dispatch to its end.
 *
 * run.c starts the program and watches it, and does nothing else with a run than these steps:
 * with files they are calls, and through a server they are requests, by the verb run_step.
 */
#ifndef RG_RUN_STEP_H
#define RG_RUN_STEP_H

#include "ops/runs/run_document.h"
#include "ops/runs/run_process.h"
#include "facts/note.h"
#include "facts/watchdog_result.h"

/* An entry of the activity log: begun, or how it ended. */
void rg_run_note_ran(struct roger *roger, const struct roger_run_step_request *request,
		     const struct roger_run *run, struct rg_note *note);

/*
 * Its end into messages, the document and the activity log: its owner is told
 * before the document says so, under a key, so that who is killed in between
 * repeats it and tells once.
 */
RG_CHECKED int rg_run_settle(struct roger *roger, const struct roger_run_step_request *request,
			     struct roger_run_reply *reply, struct rg_run_document *ret_document,
			     struct roger_err *err);

/* Nobody would get its result. */
int rg_run_fail_unowned(struct roger_err *err);

/* May a run that is in these hands be taken over?  Else ROGER_EREFUSED. */
RG_CHECKED int rg_run_check_free(const struct roger_run *run, enum rg_run_hands hands,
				 struct roger_err *err);

#endif
