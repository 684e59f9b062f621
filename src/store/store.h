/*
 * store - journals of lines, and a few named locks: all that is kept.
 *
 * Whatever can be computed from lines is computed above, once: the index, the
 * states of a message, verify, doctor, seals.  A store keeps the journals of
 * facts/kinds.h, line by line and byte for byte; figures that a plain send needs
 * without an index; documents that are replaced as a whole; locks; and waiting.
 *
 * file/ is the one that is used: files, many processes, no daemon.  memory/ is
 * its twin for tests: all of it lives in one process.  A new store is a struct
 * that begins with struct rg_store, and a table of these operations.
 *
 * What is handed in is borrowed for the call.  An operation that can fail returns
 * an error as all of roger does (base/err.h) and fills err.
 */
#ifndef RG_STORE_H
#define RG_STORE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/limits.h"
#include "facts/kinds.h"

struct rg_store;
struct rg_workspace;

/* ----------------------------------------------------------------- locks -- */

/* No lock outlives its process. */
enum rg_store_lock {
	RG_LOCK_CHANGE,	 /* to change the state of messages */
	RG_LOCK_INDEX,	 /* to bring the index up to date */
	RG_LOCK_STATE,	 /* to write message-state.json */
	RG_LOCK_RECORDS, /* to add to logs, and to write run documents */
	RG_LOCK_BRIDGE,	 /* to take in trigger files */
	RG_LOCK_APPEND,	 /* to append messages, which settles their order and numbers */
	RG_LOCK_WAKE,	 /* to wake the agent that is named */
};

struct rg_lock_wish {
	enum rg_store_lock which;
	int64_t wait_ms;	/* 0: take it only where it is free */
	struct roger_str agent; /* of RG_LOCK_WAKE */
	size_t agents, counts;	/* with RG_LOCK_APPEND: room for this many new figures */
};

/* --------------------------------------------------------------- figures -- */

/*
 * A figure may be too high, never too low: it rises before a line is written and
 * falls after it was, and a killed writer leaves it too high.  The store keeps
 * them; store/tally.h knows what they mean.
 */
enum rg_figure_kind {
	RG_FIGURE_AGENT,   /* by name: count is unread messages at most; epoch and seq are exact */
	RG_FIGURE_COUNT,   /* by hash: rg_count_hash() */
	RG_FIGURE_SESSION, /* epoch: the one in force */
	RG_FIGURE_WITNESS, /* somebody wrote down: this many bytes were on disk once, and their
			      chain */
	RG_FIGURE_ON_DISK, /* the same as it is now: what a witness may say */
	RG_FIGURE_STATE,   /* count: bytes of message-state.json */
	RG_FIGURE_DAMAGED, /* count: how many figures contradict themselves */
};

/* What a count is about; parts are names. */
enum rg_count { RG_COUNT_ISSUE, RG_COUNT_MAILBOX, RG_COUNT_KEY, RG_COUNT_SHOWN };
uint64_t rg_count_hash(enum rg_count kind, struct roger_str first, struct roger_str second);

struct rg_figure_key {
	enum rg_figure_kind kind;
	struct roger_str name;
	uint64_t hash;
};

struct rg_figure {
	uint64_t count;
	int64_t epoch, seq;
	uint64_t chain;
	bool chained; /* the chain is known */
};

/* One of those that have names. */
struct rg_named_figure {
	char name[RG_NAME_CHARS_MAX];
	size_t length;
	struct rg_figure figure;
};

/* What is known of damage to messages. */
enum rg_broken {
	RG_BROKEN_NOT,
	RG_BROKEN_DIFFERS, /* other bytes stand there; nobody has looked which */
	RG_BROKEN_SHORTER, /* less than that; nobody has noted it */
	RG_BROKEN_CLOSED,  /* noted: nothing is appended until a person has accepted it */
	RG_BROKEN_LINE,	   /* noted: lines were altered, and mail goes on */
};

/* Words that all processes of this era share; they start at 0.  A pointer to them holds until the
 * next operation: another control file may take the place of the one they are in. */
struct rg_shared {
	_Atomic uint64_t state_wanted;	/* message-state.json: numbers given */
	_Atomic uint64_t state_written; /* and those it holds */
	_Atomic uint64_t seen_wanted;	/* the same for what was accepted */
	_Atomic uint64_t seen_written;
	_Atomic uint64_t logged;   /* the send logs hold all keyed messages before this byte */
	_Atomic uint64_t listed;   /* and those without a key before this one; 0: not known */
	_Atomic uint32_t prepared; /* 1: the epoch was taken from message-state.json */
	_Atomic uint32_t broken;   /* enum rg_broken */
	_Atomic uint32_t damages;  /* entries of damage.jsonl that nobody has accepted */
	_Atomic uint32_t damaged;  /* 1: there are entries: keys may be known to the logs alone */
};

/* How things stand; of messages. */
struct rg_head {
	struct rg_shared *shared; /* NULL: it can only be read, and nothing below is known */
	uint64_t end;		  /* of the lines that are known */
	uint64_t synced;	  /* as far as they are durable */
	uint64_t logged;	  /* as shared has it, where that can be believed; else 0 */
	uint64_t adoptions;	  /* lines of roger's that were found and not published */
	uint64_t lost_from;	  /* bytes that a sync which failed should have covered */
	uint64_t lost_to;
	uint32_t wake; /* for wait() */
	uint32_t held; /* a bit for each enum rg_store_lock that this handle holds */
};

/* -------------------------------------------------------------- journals -- */

/* One journal of a kind; what the owner's name is encoded as is the store's affair. */
struct rg_log_file {
	enum rg_log log;
	struct roger_str name;	/* within the store; ends in a NUL */
	struct roger_str shown; /* for people: from the workspace's data folder */
	uint64_t device,
		inode; /* by stat(): what tells it from a later one of the name; 0: not there */
	uint64_t size; /* by stat(): bytes */

	/* For whoever goes through it: */
	uint64_t end;  /* read no further */
	bool measured; /* end was set before */
	bool limited;  /* end is at most: */
	uint64_t most;
};

struct rg_log_files {
	struct rg_log_file *items;
	size_t count;
};

/* A line without its closing brace and chain, into out; false: there is none of that number. */
typedef bool rg_compose(void *context, size_t line, struct rg_buf *out);

/* True: leave the line out. */
typedef bool rg_drop_line(void *context, struct roger_str line);

/* ------------------------------------------------------------- documents -- */

enum rg_document {
	RG_DOCUMENT_STATE, /* message-state.json; it has no name of its own */
	RG_DOCUMENT_RUN,   /* one for each run, by its id */
};

/* One as it is kept. */
struct rg_run_text {
	struct roger_str file;	  /* for people */
	struct roger_str text;	  /* NULL data: it is not there */
	struct roger_str trouble; /* why it could not be read; "": it could */
};

struct rg_run_texts {
	const struct rg_run_text *items;
	size_t count;
};

/* ------------------------------------------------------------ operations -- */

struct rg_store_ops {
	struct rg_store *(*close)(struct rg_store *store);

	/* Never slow, never fails. */
	void (*head)(struct rg_store *store, struct rg_head *ret_head);

	/*
	 * Take in what others appended, look whether the last lines are what was appended
	 * (else shared->broken says so), and report how far messages can be read: everything
	 * acknowledged, whole lines only, durable.
	 */
	int (*settle)(struct rg_store *store, uint64_t *ret_end, struct roger_err *err);

	/*
	 * ROGER_ETIMEOUT: another one holds it.  With RG_LOCK_APPEND all that others appended was
	 * taken in, and head() has the end of it; ROGER_EDATA: damage, nothing may be appended.
	 */
	int (*lock)(struct rg_store *store, const struct rg_lock_wish *wish, struct roger_err *err);
	void (*unlock)(struct rg_store *store, enum rg_store_lock which, struct roger_str agent);

	/*
	 * To messages, with RG_LOCK_APPEND: line after line until compose has no more, all or
	 * nothing.  *ret_end is what must be synced for them to be durable; 0: nothing was
	 * written; unlock, and begin again.
	 */
	int (*append)(struct rg_store *store, rg_compose *compose, void *context, uint64_t *ret_end,
		      struct roger_err *err);

	/* Wait until messages are durable up to end; or, given another journal, all of that.
	 * ROGER_EIO: it may not be. */
	int (*sync)(struct rg_store *store, const struct rg_log_file *file, uint64_t end,
		    struct roger_err *err);

	/* Sleep until messages were synced since head() said wake, at most this long. */
	void (*wait)(struct rg_store *store, uint32_t wake, int64_t wait_ms);

	/* Add the journals of a kind, of one owner or ("") of all, to files; memory from arena. */
	int (*list)(struct rg_store *store, enum rg_log log, struct roger_str owner,
		    struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err);

	/* Which one has the name now, and how long it is.  ROGER_EREFUSED: no journal has it. */
	int (*stat)(struct rg_store *store, struct rg_log_file *file, bool *ret_there,
		    struct roger_err *err);

	/* Bytes of the one that was looked at; fewer only at its end.  Any thread may. */
	int (*read)(struct rg_store *store, const struct rg_log_file *file, uint64_t from,
		    char *room, size_t want, size_t *ret_got, struct roger_err *err);

	/*
	 * To any other journal, made when missing: JSON objects with a newline after each; chained
	 * where the kind is.  A torn end is closed off even with nothing to add.
	 */
	int (*add)(struct rg_store *store, enum rg_log log, struct roger_str owner,
		   struct roger_str entries, bool durable, struct roger_err *err);

	/* Put a journal without some of its lines in its place, chained again, durable. */
	int (*rewrite)(struct rg_store *store, enum rg_log log, struct roger_str owner,
		       rg_drop_line *drop, void *context, int64_t *ret_dropped,
		       struct roger_err *err);

	/* False: there is no such figure.  Needs no lock. */
	bool (*figure)(struct rg_store *store, const struct rg_figure_key *key,
		       struct rg_figure *ret_figure);
	/* With RG_LOCK_APPEND, and room for it where it is new. */
	void (*put_figure)(struct rg_store *store, const struct rg_figure_key *key,
			   const struct rg_figure *figure);
	/* Agents one by one, in no order: start with *i = 0; false at the end. */
	bool (*next_figure)(struct rg_store *store, size_t *i, struct rg_named_figure *ret_named);

	int (*get)(struct rg_store *store, enum rg_document which, struct roger_str name,
		   struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err);
	/* before: what it must still be (NULL data: not there), ROGER_ETIMEOUT otherwise; NULL:
	 * whatever it is. */
	int (*put)(struct rg_store *store, enum rg_document which, struct roger_str name,
		   const struct roger_str *before, struct roger_str after, bool durable,
		   struct roger_err *err);
	/* All run documents, in no order. */
	int (*runs)(struct rg_store *store, struct rg_arena *arena, struct rg_run_texts *ret_runs,
		    struct roger_err *err);

	/* Figures and shared words are thrown away, and computed again from the lines. */
	void (*forget)(struct rg_store *store);
};

struct rg_store {
	const struct rg_store_ops *ops;
	char era[40];	   /* what was not synced holds within it: one start of the machine */
	char figures[256]; /* what people know its figures as, and that document */
	const char *state;
	char trouble[400]; /* what went wrong although nothing failed */
};

/* What a store asks of the floor above. */
struct rg_store_above {
	/*
	 * A whole line that another writer left, with RG_LOCK_APPEND, oldest first, before it
	 * counts as known; room for two agents and three counts is there.  own: its chain fits, so
	 * roger wrote it.  False: out of memory.
	 */
	bool (*adopt)(struct rg_store *store, struct roger_str line, bool own);

	/* Where figures are computed again: what other records say of messages. */
	void (*recall)(struct rg_store *store, struct rg_figure *ret_witness);
};

/* The workspace stays the caller's, and open. */
typedef int rg_store_opener(struct rg_workspace *workspace, const struct rg_store_above *above,
			    struct rg_store **ret_store, struct roger_err *err);
RG_CHECKED rg_store_opener rg_file_store_open;

/* What rg_engine_open() opens; a test puts another one here. */
extern rg_store_opener *rg_store_open;

/* From a handler of a signal: this process is to end, so no wait for another one goes on. */
void rg_file_store_interrupt(void);

/* A handler of SIGBUS hands the address on; true: it was the store's, and is mended. */
bool rg_file_store_mend(const void *address);

/* ----------------------------------------------------------- convenience -- */

static inline struct rg_head rg_store_head(struct rg_store *store)
{
	struct rg_head head;

	store->ops->head(store, &head);
	return head;
}

static inline bool rg_store_writable(struct rg_store *store)
{
	return rg_store_head(store).shared != NULL;
}

RG_CHECKED static inline int rg_store_take(struct rg_store *store, enum rg_store_lock which,
					   int64_t wait_ms, struct roger_err *err)
{
	const struct rg_lock_wish wish = { .which = which, .wait_ms = wait_ms };

	return store->ops->lock(store, &wish, err);
}

static inline void rg_store_release(struct rg_store *store, enum rg_store_lock which)
{
	store->ops->unlock(store, which, (struct roger_str){ "", 0 });
}

/* To append, with room for this many new agents and counts. */
RG_CHECKED int rg_store_begin(struct rg_store *store, size_t agents, size_t counts,
			      struct roger_err *err);
/* The same for what can as well be left undone: false when others keep it. */
bool rg_store_begin_soon(struct rg_store *store, size_t counts);

/* Did a sync fail that should have covered this byte?  Then a later one proves nothing about it. */
static inline bool rg_head_lost(const struct rg_head *head, uint64_t offset)
{
	return offset < head->lost_to && offset >= head->lost_from;
}

/* The journal of messages, which is always there to be read. */
extern const struct rg_log_file rg_store_messages;

/* One line of messages, without its newline, into out. */
RG_CHECKED int rg_store_read_line(struct rg_store *store, uint64_t offset, size_t length,
				  struct rg_buf *out, struct roger_err *err);

#endif
