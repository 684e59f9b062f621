/*
 * note - what roger's own verbs record in the activity log.
 *
 * A note is an activity entry whose details are roger's: which verb, which caller,
 * ids and numbers, never content.  This module is the only one that knows how a
 * note is stored.  Entries of other programs are read as foreign notes.
 */
#ifndef RG_NOTE_H
#define RG_NOTE_H

#include "facts/activity.h"
#include "verbs.h"

enum rg_note_kind {
	RG_NOTE_FOREIGN, /* another program's entry */
	RG_NOTE_VERB,	 /* a verb of roger's that has no kind below */
	RG_NOTE_SENT,
	RG_NOTE_LOOKED, /* mail was shown */
	RG_NOTE_READ,
	RG_NOTE_CLAIMED,
	RG_NOTE_ACKNOWLEDGED,
	RG_NOTE_WOKEN,	  /* an attempt to tell an agent of its mail */
	RG_NOTE_ARRIVED,  /* an agent's tool started a session */
	RG_NOTE_RAN,	  /* a program ran under a run */
	RG_NOTE_RECORDED, /* another journal records its success too */
};

/* A look by a person is not a step of the agent's mail. */
#define RG_BY_PERSON "person"

/* Steps of mail on its way to its agent; the index finds notes by them. */
enum rg_note_step {
	RG_STEP_NONE,
	RG_STEP_LOOK, /* mail was shown or handed over */
	RG_STEP_ACK,
	RG_STEP_WAKE,
	RG_STEP_SESSION,
};

/* The step's name in the index. */
struct roger_str rg_note_step_name(enum rg_note_step step);

/* Why a verb failed, as far as it matters. */
enum rg_note_failure {
	RG_FAILURE_NONE,
	RG_FAILURE_RETRY, /* not confirmed in time */
	RG_FAILURE_KEY,	  /* refused because of the key's earlier result */
	RG_FAILURE_OTHER,
};

/* Print the note as a line of the log.  Defaults: task `general`, the current time. */
RG_CHECKED int rg_note_print(const struct rg_note *note, struct rg_buf *out, struct roger_err *err);

/* Read the note in an entry of the log; it is a foreign note if roger did not write it. */
RG_CHECKED int rg_note_of(const struct roger_activity *entry, struct rg_arena *arena,
			  struct rg_note *ret_note, struct roger_err *err);

/* Read a log line; texts are in arena.  A line that is not an entry becomes a foreign note without
 * a time. */
RG_CHECKED int rg_note_read(struct roger_str line, struct rg_arena *arena, struct rg_note *ret_note,
			    struct roger_err *err);

/* The step that details describe; none for a failed verb, except an attempt to wake. */
enum rg_note_step rg_note_step(const struct rg_value *details, bool failed);

#endif
