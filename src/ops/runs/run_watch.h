/*
 * run_watch - a `roger run` at work: run.c begins it and watches, run_end.c
 * writes down how it ended.
 */
#ifndef RG_RUN_WATCH_H
#define RG_RUN_WATCH_H

#include "ops/runs/run_document.h"
#include "host/child.h"
#include "facts/watchdog_result.h"

struct rg_run_watch {
	struct roger *roger;
	const struct roger_run_request *request;
	struct roger_run_reply *reply;
	struct rg_arena *arena;
	struct roger_str run_id;
	struct rg_run_document document;      /* as last read */
	struct rg_child *child;		      /* NULL: there is none any more */
	struct rg_last_output output, errors; /* of each stream, where it passes through us */
	struct roger_str command;	      /* "": another started it */
	int64_t duration_ms;
	struct rg_ended ended;
	int64_t began_ns;
	bool captures; /* its output is where its result is */
	bool late;     /* its end was found, not seen */
	bool kept;     /* its last lines are written down */
};

/* Add a note for people to the reply. */
RG_CHECKED int rg_run_tell(struct rg_run_watch *watch, const char *note, struct roger_err *err);

/* An entry of the activity log: begun, or how it ended. */
void rg_run_note_begin(struct rg_run_watch *watch);

/*
 * Its end into messages, the document and the activity log: its owner is told
 * before the document says so, under a key, so that who is killed in between
 * repeats it and tells once.
 */
RG_CHECKED int rg_run_settle(struct rg_run_watch *watch, struct roger_err *err);

#endif
