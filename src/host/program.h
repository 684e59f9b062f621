/*
 * program - running a command that a person configured, as a bare child.
 *
 * A command is a list of arguments and never goes through a shell.  It gets a text on
 * its standard input; its time and output are limited, and when its time is over
 * everything it started is killed.  It inherits nothing but its three standard streams,
 * of which the third is /dev/null.  Its output is content, and never part of an error
 * or a log.
 */
#ifndef RG_PROGRAM_H
#define RG_PROGRAM_H

#include "host/child.h"

struct rg_program {
	struct roger_strs words, more; /* see struct rg_child_wish */
	const char *folder;
	struct roger_str input;	  /* its standard input */
	int64_t timeout_ms;	  /* over its whole life */
	size_t output_bytes_most; /* how much output is kept; the rest is read and dropped */
};

enum rg_program_end {
	RG_PROGRAM_EXITED,    /* by itself; status is its exit status, 0: success */
	RG_PROGRAM_SIGNALLED, /* status is the signal it died of */
	RG_PROGRAM_TIMED_OUT, /* it was killed */
};

struct rg_program_result {
	enum rg_program_end end;
	int status;
	bool cut; /* it printed more than was kept */
};

/*
 * Run it to its end; its output goes into output, initialized by the caller.  That it
 * fails or hangs is a result, not an error.  ROGER_EUSAGE: no program is named; other
 * errors: it could not be started.
 */
RG_CHECKED int rg_program_run(const struct rg_program *program, struct rg_buf *output,
			      struct rg_program_result *ret_result, struct roger_err *err);

/*
 * A command in the background, without input and output: start it, then ask until it
 * is over; neither call waits.
 */
struct rg_launched {
	struct rg_child *child; /* NULL: none */
	int64_t started_ns, until_ns, took_ns;
};
RG_CHECKED int rg_program_launch(const struct rg_program *program, struct rg_launched *ret_launched,
				 struct roger_err *err);

/* Has it ended?  It is killed when its time is over, or when enough is set. */
bool rg_program_over(struct rg_launched *launched, bool enough,
		     struct rg_program_result *ret_result);

/* How it ended, for people: "exit 3", "killed after 30 s". */
void rg_program_describe(const struct rg_program *program, const struct rg_program_result *result,
			 struct rg_buf *out);

#endif
