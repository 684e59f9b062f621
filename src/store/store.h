/*
 * store - the storage interface: journals of lines and a few named locks.
 *
 * Everything that can be computed from lines is computed once, above the store:
 * the index, message states, verify, doctor, seals.  A store keeps the journals
 * listed in facts/log_kinds.h, line by line and byte for byte; the figures that a
 * plain send needs without an index; documents that are replaced as a whole;
 * locks; and a way to wait for new messages.
 *
 * file/ is the store in use: files, many processes, no daemon.  process/ is one of
 * a single process: memory/ is nothing but that, for tests, and postgres/ keeps its
 * lines in a database, for `roger serve`.  A new store is a struct that begins with
 * struct rg_store, and a table of these operations.
 *
 * Arguments are borrowed for the call.  An operation that can fail returns a
 * negative error code (base/err.h) and fills err.
 */
#ifndef RG_STORE_H
#define RG_STORE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/limits.h"
#include "facts/log_kinds.h"

struct rg_store;
struct rg_workspace;
struct rg_config;

/* ----------------------------------------------------------------- locks -- */

/* The locks of a store.  A process that dies loses its locks. */
enum rg_store_lock {
	RG_LOCK_CHANGE,	    /* change the state of messages */
	RG_LOCK_INDEX,	    /* update the index */
	RG_LOCK_STATE,	    /* write message-state.json */
	RG_LOCK_RECORDS,    /* append to logs, write run documents */
	RG_LOCK_BRIDGE,	    /* take in trigger files */
	RG_LOCK_APPEND,	    /* append messages: decides their order and numbers */
	RG_LOCK_WAKE,	    /* wake one agent, named in the wish */
	RG_LOCK_CHECKPOINT, /* make a checkpoint; the store's own */
};

struct rg_lock_wish {
	enum rg_store_lock which;
	int64_t wait_ms;	/* 0: only if it is free now */
	struct roger_str agent; /* for RG_LOCK_WAKE */
	size_t agents, counts;	/* for RG_LOCK_APPEND: reserve space for this many new figures */
};

/* --------------------------------------------------------------- figures -- */

/*
 * Counters that the store keeps; store/tally.h says what they mean.  A figure may be too high,
 * never too low: it rises before a line is written and falls after, so a killed writer can only
 * leave it too high.
 */
enum rg_figure_kind {
	RG_FIGURE_AGENT,   /* by name: count is an upper limit of unread messages */
	RG_FIGURE_NAME,	   /* by name: is such an agent known?  Its figure may be old */
	RG_FIGURE_COUNT,   /* by rg_count_hash() */
	RG_FIGURE_SESSION, /* epoch: the current one */
	RG_FIGURE_WITNESS, /* recorded earlier: this many bytes were on disk, with this chain */
	RG_FIGURE_ON_DISK, /* on disk now: what may become a witness */
	RG_FIGURE_STATE,   /* count: bytes of message-state.json */
	RG_FIGURE_DAMAGED, /* count: figures whose checksum is wrong */
};

enum rg_keep {
	RG_KEEP_NOTHING,
	RG_KEEP_IF_DUE, /* if enough was appended since the last checkpoint; cheap if not */
	RG_KEEP_NOW,
};

/* The kinds of counters.  rg_count_hash() makes a counter's key from one or two names. */
enum rg_count { RG_COUNT_ISSUE, RG_COUNT_MAILBOX, RG_COUNT_KEY, RG_COUNT_SHOWN, RG_COUNT_FILE };
uint64_t rg_count_hash(enum rg_count kind, struct roger_str first, struct roger_str second);

struct rg_figure_key {
	enum rg_figure_kind kind;
	struct roger_str name;
	uint64_t hash;
};

/* A count whose checksum is wrong: any is possible. */
#define RG_FIGURE_MAYBE UINT32_MAX

struct rg_figure {
	uint64_t count;
	int64_t epoch, seq;
	uint64_t chain;
	bool chained;  /* chain is known */
	int64_t at_ms; /* RG_FIGURE_STATE: when it was written, since 1970; 0: not known */
};

/* An agent's name and its figure. */
struct rg_named_figure {
	char name[RG_NAME_CHARS_MAX];
	size_t length;
	struct rg_figure figure;
};

/* Known damage to messages. */
enum rg_broken {
	RG_BROKEN_NOT,
	RG_BROKEN_DIFFERS, /* bytes were changed; not examined yet */
	RG_BROKEN_SHORTER, /* bytes are missing; not recorded yet */
	RG_BROKEN_CLOSED,  /* recorded: no appends until a person accepts the damage */
	RG_BROKEN_LINE,	   /* recorded: lines were altered; mail continues */
};

/* Shared by all processes of one era (see struct rg_store); all start at 0.  A pointer to them is
 * valid until the next operation: another control file may replace the one they are in. */
struct rg_shared {
	_Atomic uint64_t state_wanted;	/* changes of numbers that message-state.json must hold */
	_Atomic uint64_t state_written; /* changes that it holds */
	_Atomic uint64_t seen_wanted;	/* the same two for accepted messages */
	_Atomic uint64_t seen_written;
	_Atomic uint64_t logged;   /* send logs hold every keyed message before this byte */
	_Atomic uint64_t listed;   /* and every one without a key before this; 0: not known */
	_Atomic uint32_t prepared; /* 1: the epoch was loaded from message-state.json */
	_Atomic uint32_t broken;   /* enum rg_broken */
	_Atomic uint32_t damages;  /* unaccepted entries of damage.jsonl */
	_Atomic uint32_t damaged;  /* 1: damage.jsonl has entries or cannot be read */
	_Atomic uint64_t
		carried; /* what logged was at the checkpoint; the send logs on disk reach it */
	_Atomic uint64_t rewrites; /* how many rewrites in the index are recorded in damage.jsonl */
	_Atomic uint64_t own_from; /* each line from this byte on was announced, and is the first
				    * of its message if it may be (rg_message_is_as_sent()) */
	_Atomic uint64_t served;   /* messages.db held everything before this byte */
};

/* The state of the messages journal, and of locks.  Offsets are bytes. */
struct rg_head {
	unsigned held;		  /* a bit for each lock of this handle: rg_store_holds() */
	struct rg_shared *shared; /* NULL: read-only, and the fields below are unset */
	uint64_t end;		  /* end of the known lines */
	uint64_t lines;		  /* how many lines these are; 0: not known */
	uint64_t synced;	  /* durable up to here */
	uint64_t logged;	  /* shared->logged if it can be trusted, else 0 */
	uint64_t adoptions;	  /* lines of roger's that were found without an announcement */
	uint64_t lost_from;	  /* bytes that a failed sync should have covered */
	uint64_t lost_to;
	uint32_t wake; /* pass to wait() */
};

/* -------------------------------------------------------------- journals -- */

/* One journal.  The store decides how the owner's name becomes its name. */
struct rg_log_file {
	enum rg_log log;
	struct roger_str name;	/* within the store, NUL-terminated */
	struct roger_str shown; /* for people: relative to the data folder */
	uint64_t device, inode; /* set by stat(): identity of the file; 0: missing */
	uint64_t size;		/* bytes, set by stat() */

	/* Set by the reader: */
	uint64_t end;  /* read up to this byte */
	bool measured; /* end is already set */
	bool limited;  /* end must not exceed most */
	uint64_t most;
};

struct rg_log_files {
	struct rg_log_file *items;
	size_t count;
};

/* The journal with this name for people; NULL: none has it. */
struct rg_log_file *rg_log_files_find(const struct rg_log_files *files, struct roger_str shown);

/* Write a line without its closing brace and chain into out; false: no line has that number. */
typedef bool rg_compose(void *context, size_t line, struct rg_buf *out);

/* Should this line be dropped? */
typedef bool rg_drop_line(void *context, struct roger_str line);

/* ------------------------------------------------------------- documents -- */

enum rg_document {
	RG_DOCUMENT_STATE,    /* message-state.json; takes no name */
	RG_DOCUMENT_RUN,      /* one per run, by run id */
	RG_DOCUMENT_ANSWER,   /* one per request of a client, by its key; see `request` below */
	RG_DOCUMENT_CARRIED,  /* how far the send logs are, without a file; no name */
	RG_DOCUMENT_RUN_FILE, /* one per run, by its file name, as runs() tells it */
	RG_DOCUMENT_MOVE,     /* only put; see rg_store_stand(); takes no name */
};

/* A digest in digits. */
enum { RG_ANSWER_KEY_BYTES = 65 };

/* Which side of a move a store is. */
enum rg_standing {
	RG_LIVE,
	RG_INCOMING, /* being filled from its place; nobody else uses it */
	RG_MOVED,    /* its journals are at its place now */
};
/* The word of each in the document of a move. */
extern const char *const rg_standings[];
/* Read the document of a move; NULL data: there is none, so the store is live. */
enum rg_standing rg_store_read_standing(struct roger_str document, struct roger_str *ret_place);

/* The folder of run documents as shown to people, and the name of one document in it. */
#define RG_RUNS_SHOWN "state/subagent-delivery-watchdog"
bool rg_store_run_shown(struct roger_str run_id, struct rg_arena *arena,
			struct roger_str *ret_shown);

/* A run document as stored. */
struct rg_run_text {
	struct roger_str file;	  /* file name, for people */
	struct roger_str text;	  /* data is NULL: not wanted, or missing */
	struct roger_str trouble; /* why it could not be read, or "" */
	uint64_t stamp;		  /* changes with the text; 0: not known */
};

/* Is the text of a document wanted? */
typedef bool rg_run_wanted(void *context, struct roger_str file, uint64_t stamp);

struct rg_run_texts {
	const struct rg_run_text *items;
	size_t count;
};

/* ------------------------------------------------------------ operations -- */

struct rg_store_ops {
	struct rg_store *(*close)(struct rg_store *store);

	/* Get the state of messages and locks; ret_head NULL: only what handles share, which is
	 * returned.  Fast; cannot fail. */
	struct rg_shared *(*head)(struct rg_store *store, struct rg_head *ret_head);

	/*
	 * Take in what other writers appended and check that the last lines are unchanged (if not,
	 * shared->broken is set).  *ret_end: messages can be read up to this byte; it covers
	 * everything acknowledged, ends after a whole line, and is durable.
	 */
	int (*settle)(struct rg_store *store, uint64_t *ret_end, struct roger_err *err);

	/*
	 * Take a lock.  ROGER_ETIMEOUT: somebody else holds it.  RG_LOCK_APPEND first takes in
	 * what others appended, so head() has the true end; ROGER_EDATA: damage forbids appending.
	 */
	int (*lock)(struct rg_store *store, const struct rg_lock_wish *wish, struct roger_err *err);
	void (*unlock)(struct rg_store *store, enum rg_store_lock which, struct roger_str agent);

	/*
	 * Append lines to messages, all or none, until compose has no more.  Needs RG_LOCK_APPEND.
	 * *ret_end: sync up to here to make them durable; 0: nothing was written: unlock and start
	 * again.
	 */
	int (*append)(struct rg_store *store, rg_compose *compose, void *context, uint64_t *ret_end,
		      struct roger_err *err);

	/* Wait until messages are durable up to end or, if file is another journal, until all of
	 * it is.  ROGER_EIO: they may not be. */
	int (*sync)(struct rg_store *store, const struct rg_log_file *file, uint64_t end,
		    struct roger_err *err);

	/* Sleep until messages were synced after head() returned wake, at most wait_ms. */
	void (*wait)(struct rg_store *store, uint32_t wake, int64_t wait_ms);

	/* Add the journals of a kind to files: one owner's, or everybody's if owner is "".  Memory
	 * comes from arena. */
	int (*list)(struct rg_store *store, enum rg_log log, struct roger_str owner,
		    struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err);

	/* Fill in the identity and size of the journal that has the name now.  ROGER_EREFUSED:
	 * what has that name is not a journal. */
	int (*stat)(struct rg_store *store, struct rg_log_file *file, bool *ret_there,
		    struct roger_err *err);

	/* Read bytes of the journal that stat() found; fewer than want only at its end.  Other
	 * threads may read messages, and no other journal, at the same time. */
	int (*read)(struct rg_store *store, const struct rg_log_file *file, uint64_t from,
		    char *room, size_t want, size_t *ret_got, struct roger_err *err);

	/*
	 * Append to any journal but messages; creates it.  entries: JSON objects with a newline
	 * after each.  Adds chains if the kind has them.  A torn last line is closed off, even if
	 * entries is empty.
	 */
	int (*add)(struct rg_store *store, enum rg_log log, struct roger_str owner,
		   struct roger_str entries, bool durable, struct roger_err *err);

	/* Rewrite a journal without the lines that drop selects: new chain, atomic, durable. */
	int (*rewrite)(struct rg_store *store, enum rg_log log, struct roger_str owner,
		       rg_drop_line *drop, void *context, int64_t *ret_dropped,
		       struct roger_err *err);

	/* Look up a figure; false: none.  Needs no lock. */
	bool (*figure)(struct rg_store *store, const struct rg_figure_key *key,
		       struct rg_figure *ret_figure);
	/* Store a figure.  Needs RG_LOCK_APPEND, with space reserved if the figure is new;
	 * RG_FIGURE_WITNESS may be cleared without it. */
	void (*put_figure)(struct rg_store *store, const struct rg_figure_key *key,
			   const struct rg_figure *figure);
	/* Iterate over agents, in no order: start with *i = 0; false at the end. */
	bool (*next_figure)(struct rg_store *store, size_t *i, struct rg_named_figure *ret_named);

	int (*get)(struct rg_store *store, enum rg_document which, struct roger_str name,
		   struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err);
	/* Replace a document.  ROGER_ETIMEOUT: it is not *before any more (NULL: replace any).
	 * NULL data means no document; only that of a move can be removed. */
	int (*put)(struct rg_store *store, enum rg_document which, struct roger_str name,
		   const struct roger_str *before, struct roger_str after, bool durable,
		   struct roger_err *err);
	/* All run documents, in no order; wanted NULL: with all texts. */
	int (*runs)(struct rg_store *store, rg_run_wanted *wanted, void *context,
		    struct rg_arena *arena, struct rg_run_texts *ret_runs, struct roger_err *err);

	/*
	 * Keep or discard the figures.  Either make a checkpoint of them, so that after a restart
	 * not all lines need be read; or discard them and struct rg_shared, and recompute both
	 * from the lines.  True: a checkpoint was made; the caller makes durable what it derives
	 * itself.  A store may never make one.
	 */
	bool (*keep)(struct rg_store *store, enum rg_keep what);

	/*
	 * For a move into a store that is incoming: durably write whole lines into the journal of
	 * that name, at byte `from`.  This is its end or, except for messages, 0: then they
	 * replace the journal.  Figures do not follow: see keep().
	 */
	int (*bring)(struct rg_store *store, const struct rg_log_file *file, uint64_t from,
		     struct roger_str lines, struct roger_err *err);
};

enum { RG_PLACE_BYTES = 4096 };

struct rg_store {
	const struct rg_store_ops *ops;
	enum rg_standing standing;  /* as of opening, or of the last rg_store_stand() */
	char place[RG_PLACE_BYTES]; /* the other side; "": live */
	char era[40];	   /* one start of the machine; unsynced data survives only within it */
	char standby[256]; /* the standby of its database, for people */
	char figures[256]; /* how messages to people name the figures */
	const char *state;
	bool files;	  /* each log is a file, and `made` is set */
	bool elsewhere;	  /* its journals are not files of this machine */
	bool begun;	  /* the job it is used for has begun; unset it for the next job */
	unsigned taken;	  /* a bit for each lock that was taken and not given back */
	unsigned turn;	  /* grows when lines that were read may have changed */
	bool asked;	  /* a client waits for an answer, which must not be out of date */
	int64_t until_ns; /* the request's deadline, by the monotonic clock; 0: none */
	bool works;	  /* it may go on after the deadline, and each wait then gets a second */
	/* The request's key, if its answer is stored with its changes: none is stored before the
	 * answer is put, which waits until all are.  "": no key. */
	char request[RG_ANSWER_KEY_BYTES];
	/* A sleeper in wait() need be woken only for lines that name one of these; NULL: for
	 * all. */
	const struct roger_strs *names;
	uint64_t gathered; /* messages up to here still wait for a sync; 0: none */
	bool made;	   /* the last add() made the file of its log */
	/* Where another program's lines came in front of those of an append(); line 0: nowhere. */
	int64_t beside_line;
	uint64_t beside_byte;
	bool saw_altered;	  /* reading met an altered line that damage.jsonl lacks */
	struct roger_err trouble; /* warning: the call succeeded, something is missing */
};

/* What a store needs from the layer above. */
struct rg_store_above {
	/*
	 * Called under RG_LOCK_APPEND for each whole line that another writer appended, oldest
	 * first, before it counts as known; two agents and three counts are reserved.  own: its
	 * chain fits, so roger wrote it.  False: out of memory.
	 */
	bool (*adopt)(struct rg_store *store, struct roger_str line, bool own);

	/* Called when figures are recomputed: add what other records say about messages. */
	void (*recall)(struct rg_store *store, struct rg_figure *ret_witness);
};

/* The workspace is borrowed and must stay open. */
typedef int rg_store_opener(struct rg_workspace *workspace, const struct rg_store_above *above,
			    struct rg_store **ret_store, struct roger_err *err);
RG_CHECKED rg_store_opener rg_file_store_open;

/* Opens the store for rg_engine_open(): files, or what the setting `store` names; tests replace it.
 * ROGER_EENGINE, member store: this program is linked without it. */
extern rg_store_opener *rg_store_open;

/* Can this program open what the configuration names?  ROGER_EENGINE as above. */
RG_CHECKED int rg_store_check(const struct rg_config *config, struct roger_err *err);

/* For init and upgrade: bring the tables of a store that is not in files up to date, in
 * *ret_steps steps, and add the workspace. */
RG_CHECKED int rg_store_prepare(struct rg_workspace *workspace, int *ret_steps,
				struct roger_err *err);

/*
 * For a move: durably set the standing of the store, and place, the other side.  RG_MOVED needs
 * RG_LOCK_APPEND, which this may release.  The document is the standing's word, a blank, the place
 * and a newline; a store without one is live.
 */
RG_CHECKED int rg_store_stand(struct rg_store *store, enum rg_standing standing,
			      struct roger_str place, struct roger_err *err);

/*
 * Refuse a store that is not live with ROGER_ECONFIG, unless it is opened for its move
 * (workspace->moving).  An incoming store becomes live here if its source has moved to it.
 */
RG_CHECKED int rg_store_follow(struct rg_store *store, const struct rg_workspace *workspace,
			       const struct rg_store_above *above, struct roger_err *err);

/* The name of a workspace's store in a move: the address that `config show` shows, or the folder
 * that holds .roger/. */
struct roger_str rg_store_place(const struct rg_workspace *workspace);

/* Is the place an address rather than a folder? */
static inline bool rg_store_is_address(const char *place)
{
	return strncmp(place, "postgres", 8) == 0 && strstr(place, "://");
}

/* Use the store at place, as `roger move` takes it, in place of the configured one. */
RG_CHECKED int rg_store_use(struct rg_workspace *workspace, const char *place,
			    struct roger_err *err);

RG_CHECKED int rg_store_fail_moved(const struct rg_store *store, struct roger_err *err);

/* For a signal handler: the process is ending, so stop waiting for other processes. */
void rg_file_store_interrupt(void);

/* For a SIGBUS handler: true if the address was the store's and is repaired. */
bool rg_file_store_mend(const void *address);

/* ----------------------------------------------------------- convenience -- */

/*
 * A request that would first have to read more bytes than this is refused at once, with
 * ROGER_ETIMEOUT: the server reads them in the background.  Only for stores in which all lines may
 * be new to a server, as in a database.
 */
enum { RG_READY_BYTES = 4 << 20 };
bool rg_store_is_long(const struct rg_store *store, uint64_t bytes);
RG_CHECKED int rg_store_check_ready(const struct rg_store *store, uint64_t bytes,
				    struct roger_err *err);

/* wait_ms, or less if the request's deadline comes first. */
int64_t rg_store_wait_ms(const struct rg_store *store, int64_t wait_ms);

static inline struct rg_head rg_store_head(struct rg_store *store)
{
	struct rg_head head;

	store->ops->head(store, &head);
	return head;
}

/* NULL: read-only. */
static inline struct rg_shared *rg_store_shared(struct rg_store *store)
{
	return store->ops->head(store, NULL);
}

static inline bool rg_store_writable(struct rg_store *store)
{
	return rg_store_shared(store) != NULL;
}

/* Did this handle take the lock, and not give it back?  For assertions.  Not for RG_LOCK_WAKE. */
static inline bool rg_store_took(const struct rg_store *store, enum rg_store_lock which)
{
	return store->taken >> which & 1;
}

/* Does this handle still have the lock?  Not for RG_LOCK_APPEND and RG_LOCK_WAKE. */
static inline bool rg_store_holds(struct rg_store *store, enum rg_store_lock which)
{
	return rg_store_head(store).held >> which & 1;
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

/* Take RG_LOCK_APPEND with space for this many new agents and counts. */
RG_CHECKED int rg_store_begin(struct rg_store *store, size_t agents, size_t counts,
			      struct roger_err *err);
/* Like rg_store_begin(), but false if the lock is not free after 200 ms (best effort). */
bool rg_store_begin_soon(struct rg_store *store, size_t counts);

/* Did a sync that should have covered this byte fail?  Then no later sync proves it durable. */
static inline bool rg_head_lost(const struct rg_head *head, uint64_t offset)
{
	return offset < head->lost_to && offset >= head->lost_from;
}

/* The journal of messages; it always exists. */
extern const struct rg_log_file rg_store_messages;

/* Read length bytes at offset of messages, one line without its newline, into out. */
RG_CHECKED int rg_store_read_line(struct rg_store *store, uint64_t offset, size_t length,
				  struct rg_buf *out, struct roger_err *err);

#endif
