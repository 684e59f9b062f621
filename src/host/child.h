/*
 * child - a program that runs beside us for as long as it likes, and is
 * watched: what it prints passes through us, signals reach it and all that it
 * started, its end is seen at once.  The only place that starts processes;
 * host/program.h is for those that only answer.
 *
 *     start --> a process that waits at a gate --go--> the program --> its end
 *
 * The process is there, and can be written down, before the program is: when
 * we die before go, or do not call it, it ends and nothing has happened.  When
 * we die later the program goes on.  It is the leader of a process group.
 * Waiting costs nothing while nothing happens, and memory is bounded whatever
 * is printed and however slowly it is read.  What is printed is content.
 */
#ifndef RG_CHILD_H
#define RG_CHILD_H

#include "base/str.h"
#include "host/process.h"

struct rg_child;

/* The exit statuses with which a shell, too, says that it could not run a command. */
enum { RG_PROGRAM_NOT_RUN = 126, RG_PROGRAM_NOT_FOUND = 127 };

struct rg_child_wish {
	struct roger_strs words; /* the program, by path or found along PATH, and its arguments */
	struct roger_strs more;	 /* "NAME=value": set in its environment beside what is in ours */
	const char *folder;	 /* where it runs; NULL: where we do */
	const struct roger_run_streams *streams; /* see roger.h */
	bool capture; /* its output passes through us; else it is its own */
	bool bare;    /* it inherits nothing but its streams, and is killed when we end */
};

enum rg_child_end { RG_CHILD_EXITED, RG_CHILD_SIGNALLED, RG_CHILD_UNSEEN };

/* Told of each piece of its output. */
typedef void rg_child_see(void *context, const void *data, size_t length);

/* The process, waiting.  ROGER_EUSAGE: no program is named. */
RG_CHECKED int rg_child_start(const struct rg_child_wish *wish, struct rg_child **ret_child,
			      struct roger_err *err);

/* One that another has started and left behind; its end will be seen, but not how. */
RG_CHECKED int rg_child_adopt(const struct rg_process *process,
			      const struct roger_run_streams *streams, struct rg_child **ret_child,
			      struct roger_err *err);

const struct rg_process *rg_child_process(const struct rg_child *child);

/* Let it become the program; the errno of why it could not, or 0. */
RG_CHECKED int rg_child_go(struct rg_child *child);

/* Watch it until it has ended (true), or until then. */
bool rg_child_watch(struct rg_child *child, int64_t until_ns, rg_child_see *see, void *context);

/* To it, and what it started in its group. */
void rg_child_signal(struct rg_child *child, int number);

/*
 * It has ended: take the last of its output, for which whoever has it open too
 * is not waited for long, and how it ended.  kill_rest: what it started goes with
 * it.
 */
enum rg_child_end rg_child_finish(struct rg_child *child, bool kill_rest, rg_child_see *see,
				  void *context, int *ret_status);

/* Pass on what a slow reader has not taken yet, however long that takes; 0, or why not. */
int rg_child_flush(struct rg_child *child);

/* One that waits at its gate ends; one that runs goes on, unwatched. */
struct rg_child *rg_child_free(struct rg_child *child);

#endif
