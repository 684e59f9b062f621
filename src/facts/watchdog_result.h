/*
 * watchdog_result - what a program that ended has to say, and what that is to
 * its run.
 *
 * A program that ended by itself and left words, whatever its exit status, has
 * given its result: the status is told with it.  One that was killed has not;
 * its last words are told, but as no result.  So has not one that failed in
 * silence, or that left nothing where something was promised.  Pure.
 */
#ifndef RG_WATCHDOG_RESULT_H
#define RG_WATCHDOG_RESULT_H

#include "base/str.h"

/* ------------------------------------------------------------- verdicts -- */

enum rg_ending {
	RG_ENDED_BY_ITSELF, /* with an exit status */
	RG_ENDED_BY_SIGNAL,
	RG_ENDED_UNSEEN,  /* nobody knows how */
	RG_ENDED_UNBEGUN, /* it could not be started; the status is 126 or 127 */
};

/* How a program ended, and what there is of it. */
struct rg_ended {
	enum rg_ending ending;
	int status;	  /* exit status or signal */
	int64_t limit_ms; /* it was told to end after so long; 0: it was not */
	bool message;	  /* it sent its result itself */
	bool failed;	  /* it, or somebody, said before its end that it failed */
	bool words;	  /* there is something in its output, or its file */
	bool promised;	  /* a file, or a message: to leave nothing is no way to end */
};

enum rg_verdict_of_end {
	RG_END_MESSAGE, /* a completion: the message that it sent */
	RG_END_WORDS,	/* a completion: what it left is sent */
	RG_END_SILENT,	/* a completion: it did its work and had nothing to say */
	RG_END_FAILED,	/* none: its owner is told, with its last words */
};

enum rg_verdict_of_end rg_ended_judge(const struct rg_ended *ended);

/* "exit 3", "signal 9", "lost", "not found": for people. */
void rg_ended_describe(const struct rg_ended *ended, struct rg_buf *out);

/* The same for the member childExit: "3", "signal 9", "lost", "failed". */
void rg_ended_child_exit(const struct rg_ended *ended, struct rg_buf *out);

/* As a shell tells it; message: whether that came, where nobody saw the end. */
int rg_ended_exit_status(const struct rg_ended *ended);

/* ----------------------------------------------------------------- words -- */

/* The last of what was printed, of however much. */
struct rg_last_output {
	char *data; /* the caller's, capacity bytes */
	size_t capacity;
	uint64_t bytes; /* printed in all */
};

void rg_last_output_add(struct rg_last_output *tail, const void *data, size_t length);

/*
 * The words in it: its last lines, as valid text, without the blanks around.
 * *ret_cut: there was more before.
 */
void rg_last_output_words(const struct rg_last_output *tail, size_t lines_max, size_t chars_max,
			  struct rg_buf *out, bool *ret_cut);

/* The same of a file: its first characters. */
void rg_text_words(struct roger_str text, size_t chars_max, struct rg_buf *out, bool *ret_cut);

/*
 * A message of them to the owner: the words themselves where all is well, else
 * below a line that says what is not.  bytes: of all there was, where cut.
 */
void rg_ended_message(const struct rg_ended *ended, enum rg_verdict_of_end verdict,
		      struct roger_str run_id, struct roger_str words, bool cut, int64_t bytes,
		      struct rg_buf *out);

#endif
