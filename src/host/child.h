/*
 * child - a program that runs beside roger without a time limit and is watched: its
 * output passes through roger, signals reach it and all that it started, its end is
 * seen at once.  The only place that starts processes; host/program.h runs commands
 * to their end.
 *
 *     start --> a process that waits at a gate --go--> the program --> its end
 *
 * The process exists, and can be recorded, before the program runs in it: if roger dies
 * before go, or does not call it, the process ends and nothing has happened.  If roger
 * dies later the program runs on, and a guard, a small process of its own, passes on what
 * it prints from then on.  The program leads a process group of its own.  Waiting uses
 * no processor, and memory is bounded however much is printed and however slowly it is
 * read.  Its output is content.
 */
#ifndef RG_CHILD_H
#define RG_CHILD_H

#include "base/str.h"
#include "host/process.h"

struct rg_child;

/* The exit statuses with which a shell, too, says that it could not run a command. */
enum { RG_PROGRAM_NOT_RUN = 126, RG_PROGRAM_NOT_FOUND = 127 };

enum rg_capture {
	RG_CAPTURE_NOT,	  /* it writes to our stream itself */
	RG_CAPTURE_PIPED, /* its output passes through us, unless ours is a terminal */
	RG_CAPTURE_ALL,	  /* and where ours is a terminal, it gets one of its own */
};

struct rg_child_wish {
	struct roger_strs words; /* the program, by path or found along PATH, and its arguments */
	struct roger_strs more;	 /* "NAME=value": added to its environment */
	const char *folder;	 /* the folder where it runs; NULL: ours */
	const struct roger_run_streams *streams; /* see roger.h */
	enum rg_capture output, errors;
	bool bare; /* it inherits nothing but its streams, and is killed when we end */
};

enum rg_child_end { RG_CHILD_EXITED, RG_CHILD_SIGNALLED, RG_CHILD_UNSEEN };

/* Called with each piece that it prints; stream: STDOUT_FILENO or STDERR_FILENO. */
typedef void rg_child_see(void *context, int stream, const void *data, size_t length);

/* Start the process, which waits at its gate.  ROGER_EUSAGE: no program is named. */
RG_CHECKED int rg_child_start(const struct rg_child_wish *wish, struct rg_child **ret_child,
			      struct roger_err *err);

/* Take over a child whose roger has ended; its end will be seen, but not its status. */
RG_CHECKED int rg_child_adopt(const struct rg_process *process,
			      const struct roger_run_streams *streams, struct rg_child **ret_child,
			      struct roger_err *err);

const struct rg_process *rg_child_process(const struct rg_child *child);

/* Open the gate, so that it becomes the program.  Returns 0, or the errno of why it could not. */
RG_CHECKED int rg_child_go(struct rg_child *child);

/* Watch it until it has ended (true), or until then. */
bool rg_child_watch(struct rg_child *child, int64_t until_ns, rg_child_see *see, void *context);

/* Send a signal to it and all of its group. */
void rg_child_signal(struct rg_child *child, int number);

/*
 * After its end: read the rest of its output, waiting only briefly for others that have
 * it open, and return how it ended.  kill_rest: kill what it started.
 */
enum rg_child_end rg_child_finish(struct rg_child *child, bool kill_rest, rg_child_see *see,
				  void *context, int *ret_status);

/* Does what it prints to this stream pass through us? */
bool rg_child_captures(const struct rg_child *child, int stream);

/* Pass on the pending output, however slow its reader; 0, or the errno that prevented it. */
int rg_child_flush(struct rg_child *child);

/* A process that waits at its gate ends; a running program stays, unwatched. */
struct rg_child *rg_child_free(struct rg_child *child);

#endif
