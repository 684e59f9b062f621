/*
 * note - what roger's own verbs say of themselves in the activity log.
 *
 * A note is an entry of that log whose details are roger's: which verb it was,
 * who called it, ids and numbers, never any content.  Everything that says how a
 * note looks on disk stands here, both ways.  Entries of other programs are read
 * as notes of no kind.
 */
#ifndef RG_NOTE_H
#define RG_NOTE_H

#include "facts/activity.h"

enum rg_note_kind {
	RG_NOTE_FOREIGN, /* another program's entry */
	RG_NOTE_VERB,	 /* of roger: a verb that is of no kind below */
	RG_NOTE_SENT,
	RG_NOTE_LOOKED, /* mail was shown */
	RG_NOTE_READ,
	RG_NOTE_CLAIMED,
	RG_NOTE_ACKNOWLEDGED,
	RG_NOTE_WOKEN,	  /* an attempt to tell an agent of its mail */
	RG_NOTE_ARRIVED,  /* an agent's tool began a session */
	RG_NOTE_RAN,	  /* a program, under a run */
	RG_NOTE_RECORDED, /* its success is a line of another journal, too */
};

/* A look of somebody else than the agent is no step of its mail. */
#define RG_BY_PERSON "person"

/* On the way of mail to its agent; the index finds notes by it. */
enum rg_note_step {
	RG_STEP_NONE,
	RG_STEP_LOOK, /* mail was shown, or handed over */
	RG_STEP_ACK,
	RG_STEP_WAKE,
	RG_STEP_SESSION,
};

/* As the index names it. */
struct roger_str rg_note_step_name(enum rg_note_step step);

/* Why a verb failed, as far as anybody asks. */
enum rg_note_failure {
	RG_FAILURE_NONE,
	RG_FAILURE_RETRY, /* nobody confirmed in time */
	RG_FAILURE_KEY,	  /* refused for what came of the key before */
	RG_FAILURE_OTHER,
};

/* A member that stands there when it is 0, too. */
struct rg_note_number {
	const char *name;
	int64_t value;
};

/* One entry; what is unset is left out of it. */
struct rg_note {
	struct roger_activity entry; /* its details are made of the members below */
	enum rg_note_kind kind;
	enum rg_note_failure failure; /* as read */

	struct roger_str tool, verb; /* as read; verb may be given where the kind has no word */
	struct roger_str agent;
	struct roger_str by;		   /* RG_BY_PERSON: not the agent itself looked */
	struct roger_str terminal, parent; /* of the process that ran the verb */
	struct roger_str from, to, file; /* bridge, ingest: what was skipped, and where it stood */
	int64_t line, seq;
	struct roger_str run;
	struct roger_strs ids;		    /* of messages: the first of them, */
	int64_t count;			    /* and how many there were */
	int64_t position;		    /* wake, inbox: of the newest message */
	int64_t attempt;		    /* wake */
	struct roger_str program;	    /* wake, run */
	bool test;			    /* wake */
	struct roger_str for_tool, session; /* arrive */
	struct rg_note_number more[3];	    /* ends with a nameless one, or is full */
	struct roger_str numbers;	    /* more members, each a number, as JSON */
	int64_t duplicates;
};

/*
 * The note as a line of the log: of the task `general` where it names none, and
 * of now where it says no time.
 */
RG_CHECKED int rg_note_print(const struct rg_note *note, struct rg_buf *out, struct roger_err *err);

/*
 * An entry of the log; its texts are the arena's.  A line that is not an entry is
 * a note of no kind and without a timestamp.
 */
RG_CHECKED int rg_note_read(struct roger_str line, struct rg_arena *arena, struct rg_note *ret_note,
			    struct roger_err *err);

/* The step that details tell of; a verb that failed took none, but for an attempt to wake. */
enum rg_note_step rg_note_step(const struct rg_value *details, bool failed);

/* Quickly: false where the line cannot be a note of any of these kinds (1 << kind). */
bool rg_note_may_be(struct roger_str line, unsigned kinds);

#endif
