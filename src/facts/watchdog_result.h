/*
 * watchdog_result - what an ended program printed, and what that means for its
 * run.
 *
 * A program that ended by itself and left words has given its result, whatever its
 * exit status; the result mentions the status.  A killed program has not: its last
 * words are reported, but not as a result.  Nor has a program that failed without
 * a word, or left nothing although something was promised.  Pure functions.
 */
#ifndef RG_WATCHDOG_RESULT_H
#define RG_WATCHDOG_RESULT_H

#include "base/arena.h"
#include "verbs.h"

/* ------------------------------------------------------------- verdicts -- */

/* How a program ended, and what it left. */
struct rg_ended {
	enum rg_ending ending;
	int status;	  /* exit status or signal */
	int64_t limit_ms; /* the limit at which it was told to end; 0: it was not */
	bool message;	  /* it sent its result itself */
	bool failed;	  /* it, or somebody, reported a failure before it ended */
	bool words;	  /* there is something in its output or file */
	bool promised;	  /* a file or message was promised, so leaving nothing is a failure */
};

enum rg_verdict_of_end {
	RG_END_MESSAGE, /* completion: the message it sent */
	RG_END_WORDS,	/* completion: send what it left */
	RG_END_SILENT,	/* completion: it did its work silently */
	RG_END_FAILED,	/* no completion: report to its owner, with its last words */
};

enum rg_verdict_of_end rg_ended_judge(const struct rg_ended *ended);

/* Print how it ended, for people: "exit 3", "signal 9", "lost", "not found". */
void rg_ended_describe(const struct rg_ended *ended, struct rg_buf *out);

/* Print the value of the member childExit: "3", "signal 9", "lost", "failed". */
void rg_ended_child_exit(const struct rg_ended *ended, struct rg_buf *out);

/* The exit status as a shell reports it; if nobody saw the end, 0: there is a result, 1: none. */
int rg_ended_exit_status(const struct rg_ended *ended);

/* ----------------------------------------------------------------- words -- */

/* The last bytes of an output of any length. */
struct rg_last_output {
	char *data; /* borrowed, capacity bytes */
	size_t capacity;
	uint64_t bytes; /* printed in total */
};

void rg_last_output_add(struct rg_last_output *tail, const void *data, size_t length);

/* The last lines as valid text, trimmed.  *ret_cut: there was more before. */
void rg_last_output_words(const struct rg_last_output *tail, size_t lines_max, size_t chars_max,
			  struct rg_buf *out, bool *ret_cut);

/* The last lines as a list, each cut, without text that a carriage return overwrote.  False: out of
 * memory. */
RG_CHECKED bool rg_last_output_lines(const struct rg_last_output *tail, struct rg_arena *arena,
				     struct roger_strs *ret_lines);

/* A command as one line, as a shell reads it, cut. */
void rg_command_print(struct roger_strs words, struct rg_buf *out);

/* The first characters of a file, as valid text. */
void rg_text_words(struct roger_str text, size_t chars_max, struct rg_buf *out, bool *ret_cut);

/* What a report says of a program beside how it ended. */
struct rg_last_words {
	struct roger_str output, errors; /* of each stream, or of its file */
	bool cut;			 /* output is part of this many bytes */
	int64_t bytes;
	struct roger_str command; /* ""; not known */
	int64_t duration_ms;
};

/* Print the message to the owner: the words themselves if all is well, else with what went wrong.
 */
void rg_ended_message(const struct rg_ended *ended, enum rg_verdict_of_end verdict,
		      struct roger_str run_id, const struct rg_last_words *words,
		      struct rg_buf *out);

#endif
