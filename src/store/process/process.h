/*
 * process - figures, locks and waits of one process: the ground of two stores.
 *
 * All handles of one workspace in this process share a struct rg_common.  The memory store is
 * nothing more, and goes with its last handle.  A store that keeps its lines elsewhere adds struct
 * rg_keeping: then every change also enters a queue, in the order of the changes.  The keeper
 * takes what is there in one go, and says what is covered.  A change that is not covered is not
 * shown.
 */
#ifndef RG_PROCESS_STORE_H
#define RG_PROCESS_STORE_H

#include <pthread.h>

#include "base/table.h"
#include "host/workspace.h"
#include "store/store.h"

/* A journal: where its end is, and the bytes from `from` on, which are in memory. */
struct rg_kept_journal {
	struct rg_kept_journal *next;
	enum rg_log log;
	char name[RG_FILE_NAME_BYTES];
	uint64_t hash;	 /* of log and name */
	uint64_t number; /* changes when the journal is rewritten */
	struct rg_buf text;
	uint64_t from, chain;
	uint64_t change; /* its last change */
	uint64_t marked; /* up to where it was covered at the last rg_common_trim() */
};

static inline uint64_t rg_kept_end(const struct rg_kept_journal *journal)
{
	return journal->from + journal->text.length;
}

struct rg_kept_document {
	uint64_t hash; /* of which and name */
	enum rg_document which;
	char name[RG_FILE_NAME_BYTES];
	struct rg_buf text;
	uint64_t change;
};

enum rg_change_kind {
	RG_CHANGE_LINES,    /* append bytes to the journal at `start` */
	RG_CHANGE_REWRITE,  /* the journal of number `old` is gone; `number` is its successor */
	RG_CHANGE_DOCUMENT, /* bytes are its new text */
	RG_CHANGE_STANDING, /* bytes are the place of the other side */
	RG_CHANGE_ANSWER,   /* there is only the answer */
};

struct rg_change {
	struct rg_change *next;
	enum rg_change_kind kind;
	enum rg_log log;
	enum rg_document which;
	enum rg_standing standing;
	char name[RG_FILE_NAME_BYTES];	    /* of the journal or document */
	uint64_t number, old, start, chain; /* chain: after the change */
	struct rg_buf bytes;
	/* Set for a request whose answer is kept with its changes: these stay until it is there. */
	const struct rg_handle *holder;
	uint64_t group; /* of changes for one request; 0: none */
	uint64_t count; /* the number of this change */
	char key[RG_ANSWER_KEY_BYTES];
	struct rg_buf answer;
};

struct rg_common;
struct rg_handle;

/* How a keeper stores the changes elsewhere.  All are called without the mutex. */
struct rg_keeping {
	/* Wait until this process may answer; ROGER_ETIMEOUT: it may not. */
	int (*ready)(struct rg_handle *handle, struct roger_err *err);
	/* Read bytes that are not in memory any more; handle says how long it may wait. */
	int (*read)(struct rg_handle *handle, uint64_t number, uint64_t from, char *room,
		    size_t want, size_t *ret_got, struct roger_err *err);
	/* The last handle is closed: free everything. */
	void (*end)(struct rg_common *common);
};

/* Somebody who sleeps until there is a line with one of the names. */
struct rg_sleeper {
	struct rg_sleeper *next;
	const struct roger_strs *names;
	pthread_cond_t called;
	bool awake;
};

struct rg_common {
	struct rg_common *next;
	const struct rg_keeping *keeping; /* NULL: there is no keeper */
	char name[RG_PLACE_BYTES];
	char era[40];
	size_t handles;
	bool brought; /* a move filled it, and closes its handle: keep it for the next one */

	pthread_mutex_t mutex; /* recursive; guards everything below */
	pthread_t holder;      /* who has it, and how many times */
	unsigned entered;
	pthread_cond_t freed, covered_more, queued;
	struct rg_shared shared;
	bool stale;  /* figures must be made from the lines */
	bool trails; /* another process changes the lines: this one only reads them */
	unsigned life;
	struct rg_kept_journal *messages, *journals;
	uint64_t last; /* start of the last message line; before_last: the chain before it */
	uint64_t before_last;
	uint64_t lines; /* of messages */
	bool doubt;	/* is the chain in doubt?  See struct rg_chain */
	uint64_t other, before;
	uint64_t numbers;
	struct rg_table documents; /* answers, too: from the time of an earlier leader */
	uint64_t key;		   /* random, for their hashes: nobody can make two names alike */
	uint64_t groups;
	struct rg_table agents; /* by hash of the name */
	struct rg_table counts;
	struct rg_held *held;
	int64_t epoch;
	struct rg_figure witness;
	uint32_t wake;
	struct rg_sleeper *sleepers;
	enum rg_standing standing;
	char place[RG_PLACE_BYTES];

	struct rg_change *first, **end;
	size_t waiting_bytes;
	uint64_t changes, taken, covered;    /* how many were made, taken out, and covered */
	uint64_t durable;		     /* messages are durable up to here */
	uint64_t written_end, written_chain; /* of messages, at the last covered write */
	void *kept_by;
};

/* A handle; those of stores on this ground begin with it. */
struct rg_handle {
	struct rg_store base;
	struct rg_common *common;
	const struct rg_workspace *workspace;
	const struct rg_store_above *above;
	uint64_t group; /* of the changes for its request; 0: there are none yet */
	uint64_t last;	/* the last change that it made */
	bool leads;	/* this process led when its job began; led: in which life */
	unsigned led;
	bool inner; /* a handle of the keeper, which need not ask ready() */
};

/*
 * Open a handle of the common part of that name.  If there is none, it is made (*ret_fresh): then
 * the caller fills it, or closes the handle.
 */
RG_CHECKED int rg_common_open(const char *name, const struct rg_keeping *keeping, size_t size,
			      struct rg_workspace *workspace, const struct rg_store_above *above,
			      struct rg_handle **ret_handle, bool *ret_fresh,
			      struct roger_err *err);
struct rg_common *rg_common_find(const char *name);
/* Copy the standing, its place and the era into the handle, for the layer above. */
void rg_common_note_standing(struct rg_handle *handle);

/* Take the mutex, and give it back; returns common. */
struct rg_common *rg_common_lock(struct rg_common *common);
void rg_common_unlock(struct rg_common *common);
/* Give it back at the end of a block; NULL: it was not taken. */
static inline void rg_common_leavep(struct rg_common **common)
{
	if (*common)
		rg_common_unlock(*common);
}
/* Does this thread have the mutex?  For assertions. */
static inline bool rg_common_has(const struct rg_common *common)
{
	return common->entered && pthread_equal(common->holder, pthread_self());
}

/* These need the mutex. */
struct rg_kept_journal *rg_common_journal(struct rg_common *common, enum rg_log log,
					  const char *name, bool make);
struct rg_kept_document *rg_common_document(struct rg_common *common, enum rg_document which,
					    const char *name, bool make);
/* Begin figures from nothing, before all lines are followed from the first one. */
void rg_common_begin(struct rg_handle *handle);
/* Add lines of messages that another process wrote behind those that are here. */
RG_CHECKED int rg_common_follow(struct rg_handle *handle, struct roger_str lines,
				struct roger_err *err);
/* Note how many changes are kept, and up to which byte messages are. */
void rg_common_cover(struct rg_common *common, uint64_t changes, uint64_t messages);
/* Nobody knows what became of changes that are not covered: drop these and all locks.
 * everything: drop lines, documents and figures, too. */
void rg_common_lose(struct rg_common *common, bool everything);
/* Forget bytes that were already covered at the last call. */
void rg_common_trim(struct rg_common *common);
/* Wait for a condition of the common part; false: timed out.  until_ns INT64_MAX: for ever. */
bool rg_common_wait(struct rg_common *common, pthread_cond_t *condition, int64_t until_ns);

/* Take changes that can go out together, about `most` bytes, off the queue; NULL: none can. */
struct rg_change *rg_common_take(struct rg_common *common, size_t most);

void rg_change_free(struct rg_change *change);

#endif
