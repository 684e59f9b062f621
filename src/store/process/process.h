/*
 * process - figures, locks and waits of one process: the ground of two stores.
 *
 * All handles of one workspace in this process share a struct rg_common.  In the memory
 * store that is all there is, and it goes with the last handle.  A store that keeps
 * its lines elsewhere adds struct rg_keeping: then every change stands in a queue,
 * too, in the order in which it was made; whoever keeps them takes what is there in one go,
 * and says what is covered.  What is not covered is not shown.
 *
 *     changed --queue--> taken by the keeper --> covered: shown, waiters wake
 *        \__ rg_common_lose(): a new life; whoever waits is told that nobody knows
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
	uint64_t hash;	 /* of both */
	uint64_t number; /* another one after it was rewritten */
	struct rg_buf text;
	uint64_t from, chain;
	uint64_t change; /* the last one of it */
	uint64_t marked; /* what was covered at the last rg_common_trim() */
};

static inline uint64_t rg_kept_end(const struct rg_kept_journal *journal)
{
	return journal->from + journal->text.length;
}

struct rg_kept_document {
	struct rg_kept_document *next;
	enum rg_document which;
	char name[RG_FILE_NAME_BYTES];
	struct rg_buf text;
	uint64_t change;
};

enum rg_change_kind {
	RG_CHANGE_LINES,    /* bytes come to the journal at `start` */
	RG_CHANGE_REWRITE,  /* the journal of number `old` is gone; what follows is another */
	RG_CHANGE_DOCUMENT, /* it is bytes now */
	RG_CHANGE_STANDING, /* bytes are the place */
	RG_CHANGE_ANSWER,   /* nothing but its answer */
};

struct rg_change {
	struct rg_change *next;
	enum rg_change_kind kind;
	enum rg_log log;
	enum rg_document which;
	enum rg_standing standing;
	char name[RG_FILE_NAME_BYTES];	    /* of the journal or document */
	uint64_t number, old, start, chain; /* chain: after it */
	struct rg_buf bytes;
	/* Of a request whose answer is to be kept with it: it stays until that is there. */
	const struct rg_handle *holder;
	uint64_t group; /* of the request; 0: none */
	uint64_t count; /* it is the one of this number */
	char key[RG_ANSWER_KEY_BYTES];
	struct rg_buf answer;
};

struct rg_common;
struct rg_handle;

/* How the changes are kept elsewhere.  All are called without the mutex. */
struct rg_keeping {
	/* May this process answer now?  If not soon, ROGER_ETIMEOUT. */
	int (*ready)(struct rg_handle *handle, struct roger_err *err);
	/* Bytes that are not in memory any more; handle: for how long it may wait. */
	int (*read)(struct rg_handle *handle, uint64_t number, uint64_t from, char *room,
		    size_t want, size_t *ret_got, struct roger_err *err);
	/* The last handle is closed: free all. */
	void (*end)(struct rg_common *common);
};

/* Somebody sleeps until a line with one of the names is there. */
struct rg_sleeper {
	struct rg_sleeper *next;
	const struct roger_strs *names;
	pthread_cond_t called;
	bool awake;
};

struct rg_common {
	struct rg_common *next;
	const struct rg_keeping *keeping; /* NULL: kept nowhere */
	char name[RG_PLACE_BYTES];
	char era[40];
	size_t handles;
	bool brought; /* by a move, which closes its handle: stays for the next one */

	pthread_mutex_t mutex; /* recursive; guards everything below */
	pthread_cond_t freed, covered_more, queued;
	struct rg_shared shared;
	bool stale;  /* figures must be made from the lines */
	bool trails; /* another process changes the lines: this one only reads them */
	unsigned life;
	struct rg_kept_journal *messages, *journals;
	uint64_t last; /* start of the last message line, and the chain before it */
	uint64_t before_last;
	uint64_t lines; /* of messages */
	bool doubt;	/* of the chain, see struct rg_chain */
	uint64_t other;
	uint64_t numbers;
	struct rg_kept_document *documents;
	struct rg_kept_document *answers; /* of whoever led before */
	uint64_t groups;
	struct rg_kept_agent *agents, **last_agent;
	struct rg_table agent_places; /* by hash of the name */
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
	uint64_t changes, taken, covered;    /* so many were made, went out, and are kept */
	uint64_t durable;		     /* messages are, up to here */
	uint64_t written_end, written_chain; /* of messages, as they were kept last */
	void *kept_by;
};

/* A handle: stores on this ground begin with it. */
struct rg_handle {
	struct rg_store base;
	struct rg_common *common;
	const struct rg_workspace *workspace;
	const struct rg_store_above *above;
	uint64_t group; /* of its request, if there are changes for that; 0: none are */
	uint64_t last;	/* change of its own */
	bool leads;	/* when its job began this process led, in this life */
	unsigned led;
	bool inner; /* of whoever keeps the changes: it need not ask whether it may */
};

/*
 * A handle of what the name says, which is made and entered in a list if it is not there: then
 * *ret_fresh, and the caller fills it, or closes the handle.
 */
RG_CHECKED int rg_common_open(const char *name, const struct rg_keeping *keeping, size_t size,
			      struct rg_workspace *workspace, const struct rg_store_above *above,
			      struct rg_handle **ret_handle, bool *ret_fresh,
			      struct roger_err *err);
struct rg_common *rg_common_find(const char *name);
/* What it is of a move now, and its era, for the layer above. */
void rg_common_note_standing(struct rg_handle *handle);

/* These need the mutex. */
struct rg_kept_journal *rg_common_journal(struct rg_common *common, enum rg_log log,
					  const char *name, bool make);
struct rg_kept_document *rg_common_document(struct rg_common *common, enum rg_document which,
					    const char *name, bool make);
/* Figures of nothing, as lines are to be followed from the first on. */
void rg_common_begin(struct rg_handle *handle);
/* Lines of messages that another process wrote: they come behind those that are here. */
RG_CHECKED int rg_common_follow(struct rg_handle *handle, struct roger_str lines,
				struct roger_err *err);
/* So many changes are kept, and messages up to there. */
void rg_common_cover(struct rg_common *common, uint64_t changes, uint64_t messages);
/* Nobody knows what became of what is not covered.  Locks are gone, too; everything: so are lines,
 * documents and figures. */
void rg_common_lose(struct rg_common *common, bool everything);
/* Forget bytes that were covered at the last call already. */
void rg_common_trim(struct rg_common *common);
/* Wait on one of its conditions; false: timed out. */
bool rg_common_wait(struct rg_common *common, pthread_cond_t *condition, int64_t until_ns);

/* Take what can go out in one go out of the queue, about so many bytes; NULL: nothing can. */
struct rg_change *rg_common_take(struct rg_common *common, size_t most);
/* An answer that is kept. */
RG_CHECKED bool rg_common_add_answer(struct rg_common *common, struct roger_str key,
				     struct roger_str text);

void rg_change_free(struct rg_change *change);

#endif
