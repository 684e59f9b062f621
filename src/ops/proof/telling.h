/*
 * telling - the events of some messages, entries and runs, each once however many
 * questions it fits, in one order and in words.
 *
 * What happened is asked of the table of events; telling.c adds what only the clock and
 * the configuration know (when a lease ends, who looked), run_events.c what the
 * documents of runs say.  None ever takes up any content.
 */
#ifndef RG_TELLING_H
#define RG_TELLING_H

#include "base/table.h"
#include "ops/runs/run_list.h"

struct rg_telling {
	struct rg_reading reading;
	struct roger *roger; /* of reading, like arena */
	struct rg_arena *arena;
	int64_t until_ms; /* 0: open */
	int64_t limit;	  /* at most this many of an answer, the newest */
	int64_t now_ms;
	bool own;	       /* also notes of what another event tells */
	bool steps;	       /* all that a step of a message is, told by another event or not */
	bool more;	       /* the limit cut an answer */
	struct rg_table known; /* events */
	struct rg_history history;
	struct {
		struct rg_run_document *items;
		size_t count;
	} runs;
};

void rg_telling_init(struct rg_telling *telling, struct roger *roger, struct rg_arena *arena,
		     struct roger_err *err);
void rg_telling_deinit(struct rg_telling *telling);

/* Of living and archived messages that fit, and of those of these ids. */
void rg_tell_messages(struct rg_telling *telling, struct rg_query query);
void rg_tell_ids(struct rg_telling *telling, struct roger_strs ids);

/* Of entries that fit. */
void rg_tell_entries(struct rg_telling *telling, struct rg_log_query query);

/* Attempts and dead letters of the messages so far that have a key of another task. */
void rg_tell_attempts(struct rg_telling *telling, struct roger_str task);

/* The messages of the attempts so far. */
void rg_tell_attempted(struct rg_telling *telling);

/* Who ran what, what time made true, and the words; then put all between since_ms and the end in
 * order. */
void rg_tell_rest(struct rg_telling *telling, int64_t since_ms);

/* What happened to all between the first and the last event: cycles, sessions; and damage, which is
 * noticed later, until the end. */
void rg_tell_around(struct rg_telling *telling);

/* Was a claim or a reading the first look at a message, by the flags of its row?  Who only knows a
 * file takes nothing, and so looks at nothing: what its message's line says was written for it. */
bool rg_flags_look(const struct roger *roger, int flags, struct roger_str to);

/* One more event; texts are copied. */
void rg_telling_keep(struct rg_telling *telling, struct rg_event event);

/* run_events.c: find the runs of which one of these members has the name. */
void rg_tell_runs(struct rg_telling *telling, struct roger_str name, unsigned members);
/* What happened to one of them; the messages that it names must be there. */
void rg_tell_run(struct rg_telling *telling, const struct rg_run_document *document);

#endif
