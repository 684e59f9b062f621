/*
 * program - running a command that a person configured, as a bare child.
 *
 * A command is a list of arguments and never goes through a shell.  It gets a
 * text on its standard input, has so much time and may say so much; when its
 * time is over, everything it started is killed.  It inherits nothing but its
 * three standard streams, of which the third leads nowhere.  What it prints is
 * content: it belongs into no error and no log.
 */
#ifndef RG_PROGRAM_H
#define RG_PROGRAM_H

#include "host/child.h"

struct rg_program {
	struct roger_strs words, more; /* as a child's */
	const char *folder;
	struct roger_str input;	  /* what it reads */
	int64_t timeout_ms;	  /* over its whole life */
	size_t output_bytes_most; /* so much of what it prints is kept, the rest read and dropped */
};

enum rg_program_end {
	RG_PROGRAM_EXITED,    /* by itself; status is its exit status, 0: it is content */
	RG_PROGRAM_SIGNALLED, /* status is the signal it died of */
	RG_PROGRAM_TIMED_OUT, /* it was killed */
};

struct rg_program_result {
	enum rg_program_end end;
	int status;
	bool cut; /* it printed more than was kept */
};

/*
 * Run it to its end; what it printed goes into output, initialized by the
 * caller.  That it fails or hangs is an answer.  ROGER_EUSAGE: no program is
 * named; other errors: it could not even be started.
 */
RG_CHECKED int rg_program_run(const struct rg_program *program, struct rg_buf *output,
			      struct rg_program_result *ret_result, struct roger_err *err);

/*
 * One that runs beside us: what it prints goes nowhere, its input is empty.
 * Started, looked at until it has ended, each without waiting.
 */
struct rg_launched {
	struct rg_child *child; /* NULL: none */
	int64_t started_ns, until_ns, took_ns;
};
RG_CHECKED int rg_program_launch(const struct rg_program *program, struct rg_launched *ret_launched,
				 struct roger_err *err);

/* Has it ended, or was it killed because its time is over, or because enough is set? */
bool rg_program_over(struct rg_launched *launched, bool enough,
		     struct rg_program_result *ret_result);

/* How it ended, for people: "exit 3", "killed after 30 s". */
void rg_program_describe(const struct rg_program *program, const struct rg_program_result *result,
			 struct rg_buf *out);

#endif
