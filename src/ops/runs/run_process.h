/*
 * run_process - the processes that a run's document names: the child, and the
 * `roger run` that watches it.  Evidence that no document holds.
 */
#ifndef RG_RUN_PROCESS_H
#define RG_RUN_PROCESS_H

#include "base/arena.h"
#include "host/process.h"

enum rg_run_hands {
	RG_HANDS_NONE,	  /* no roger run is known to have to do with it */
	RG_HANDS_HELD,	  /* it is watched */
	RG_HANDS_ORPHAN,  /* its child lives, and who watched it is gone */
	RG_HANDS_LOST,	  /* both are gone */
	RG_HANDS_UNKNOWN, /* they cannot be seen from here */
};

enum rg_run_hands rg_run_hands(const struct roger_run *run);

/* The same of what is known of both; pure. */
enum rg_run_hands rg_run_hands_of(enum rg_process_fate child, enum rg_process_fate runner);

/* The child, to be adopted. */
void rg_run_child_process(const struct roger_run *run, struct rg_process *ret_process);

#endif
