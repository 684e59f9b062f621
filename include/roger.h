/*
 * roger - reliable, audited messages between agents.
 *
 * One header, no output, no exit.  A handle (struct roger) belongs to one
 * thread at a time; different handles, in one process or in many, may be used
 * at the same moment and see each other's messages.  A handle must not be
 * used by the child of a fork(): open a new one there.
 *
 * Every function that can go wrong returns ROGER_OK or a negative
 * enum roger_code and, where err is not NULL, one line for people in it.
 * ROGER_OK from a verb that writes means: on disk, synced.
 *
 * Text is UTF-8 without NUL, borrowed as a pointer and a length.  Lengths of
 * messages are counted in characters (code points), instants in milliseconds
 * since 1970 UTC.  A request starts as { 0 }, which asks for every default.
 * A reply owns one block of memory: give it to roger_reply_free() when done.
 * Strings in a reply end with a NUL that their length does not count.
 */
#ifndef ROGER_H
#define ROGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(ROGER_BUILD) && defined(__GNUC__)
#define ROGER_API __attribute__((visibility("default")))
#else
#define ROGER_API
#endif

#define ROGER_VERSION "0.1.0"

/* A code is the exit status of the command line, negated (sysexits.h). */
enum roger_code {
	ROGER_OK = 0,
	ROGER_EUSAGE = -64,   /* the request contradicts itself or lacks a member */
	ROGER_EDATA = -65,    /* a member's value is not acceptable */
	ROGER_ENOENT = -66,   /* no such message, agent, issue or workspace */
	ROGER_EENGINE = -69,  /* the engine cannot be reached */
	ROGER_EBUG = -70,     /* a broken promise inside roger: please report */
	ROGER_ENOMEM = -71,   /* out of memory */
	ROGER_ECREATE = -73,  /* a file cannot be created */
	ROGER_EIO = -74,      /* reading, writing or syncing went wrong */
	ROGER_ETIMEOUT = -75, /* not done in time; safe to try again with the same key */
	ROGER_EREFUSED = -77, /* a rule forbids it */
	ROGER_ECONFIG = -78,  /* the configuration is wrong */
};

struct roger_str {
	const char *data;
	size_t length;
};

struct roger_strs {
	const struct roger_str *items;
	size_t count;
};

/*
 * What went wrong.  message is one line: what, where, what was expected, what
 * to do.  member names the request's or record's member at fault, or is "".
 * Never holds any message content.
 */
struct roger_err {
	enum roger_code code;
	int system_errno; /* 0 where the system was not at fault */
	char member[48];
	char message[464];
};

/* ------------------------------------------------------------- records -- */

enum roger_type { ROGER_CONTEXT, ROGER_RESULT, ROGER_DECISION, ROGER_DATA };

/*
 * One message, as a line of messages.jsonl holds it: the eleven members of
 * the message storage schema, then what roger adds.  0 and "" mean unset.
 */
struct roger_message {
	struct roger_str id;
	struct roger_str issue_id;
	struct roger_str from_phase;
	struct roger_str to_phase;
	int64_t run_counter;
	int message_type; /* enum roger_type */
	struct roger_str content;
	struct roger_str metadata; /* a JSON object as text, or "" */
	bool read;
	int64_t created_at_ms;
	int64_t read_at_ms;
	int64_t seq;   /* the sender's number in its epoch; 0: unnumbered */
	int64_t epoch; /* which life of the counters */
	struct roger_str idempotent_key;
	struct roger_str reply_to; /* id of the message this one answers */
	struct roger_str claimed_by;
	int64_t claimed_until_ms;
	int64_t archived_at_ms;
	struct roger_str archive_reason;
	struct roger_str unknown; /* members roger does not know: "a":1,"b":2 */
	struct roger_str chain;	  /* as read; the journal writes its own */
	int64_t position;	  /* line of messages.jsonl where it first stood; not stored */
};

struct roger_messages {
	const struct roger_message *items;
	size_t count;
};

struct roger_agent {
	struct roger_str name;
	int64_t seq; /* last number used in the current epoch */
	int64_t sent;
	int64_t received;
	int64_t unread;
	int64_t last_sent_at_ms;
};

struct roger_agent_list {
	const struct roger_agent *items;
	size_t count;
};

/* ----------------------------------------------------- requests, replies -- */

/* init: make a workspace. */
struct roger_init_request {
	struct roger_str path; /* folder that gets .roger/; "": the current one */
};
struct roger_init_reply {
	void *memory;
	struct roger_str workspace;
	bool created; /* false: there was one already, left as it was */
};

/* send: one text to one or several recipients, one number, one commit. */
struct roger_send_request {
	struct roger_str from;
	struct roger_strs to; /* agents, groups, or all */
	struct roger_str content;
	struct roger_str issue;	   /* "": general */
	int type;		   /* enum roger_type */
	int64_t run_counter;	   /* 0: 1 */
	struct roger_str metadata; /* a JSON object as text */
	struct roger_str reply_to;
	struct roger_str key; /* task:verb:cycle; sent at most once per sender */
	bool dry_run;	      /* check everything, store nothing */
};
struct roger_receipt {
	struct roger_str id;
	struct roger_str to;
};
struct roger_receipts {
	const struct roger_receipt *items;
	size_t count;
};
struct roger_send_reply {
	void *memory;
	struct roger_receipts messages;
	struct roger_str issue;
	int64_t seq;
	int64_t epoch;
	int64_t created_at_ms;
	bool duplicate;		 /* the key was sent before: this is its first result */
	int64_t archived;	 /* messages moved out to keep the limits */
	struct roger_strs notes; /* for people: names never seen, and the like */
};

/* send_many: many sends, one append, one sync; all are stored or none. */
struct roger_send_many_request {
	struct roger_str from; /* for the items that name no sender */
	const struct roger_send_request *items;
	size_t count;
};
struct roger_send_many_reply {
	void *memory;
	const struct roger_send_reply *items; /* one per request, in order */
	size_t count;
	int64_t stored; /* messages now on disk */
};

/* inbox (look, changes nothing) and receive (hand over and mark read). */
struct roger_inbox_request {
	struct roger_str agent;
	struct roger_str issue; /* "": every issue */
	struct roger_str from;
	int64_t limit;	 /* 0: 50 */
	int64_t wait_ms; /* receive only: how long to wait for something */
};
struct roger_inbox_reply {
	void *memory;
	struct roger_messages messages; /* first in, first out */
	int64_t unread;			/* still unread, those above included by inbox */
};

/* wait: block until unread mail is there.  messages carry no content. */
struct roger_wait_request {
	struct roger_str agent;
	struct roger_str issue;
	int64_t timeout_ms; /* 0: for ever */
};
struct roger_wait_reply {
	void *memory;
	bool found;
	struct roger_str id;
	struct roger_str from_phase;
	struct roger_str issue_id;
	int64_t seq;
};

/* claim: take messages under a lease; ack: done; nack: give back. */
struct roger_claim_request {
	struct roger_str agent;
	struct roger_str worker; /* who holds the lease; "": the agent's name */
	struct roger_str issue;
	int64_t limit;	  /* 0: 1 */
	int64_t lease_ms; /* 0: 5 minutes */
};
struct roger_ack_request {
	struct roger_str agent;
	struct roger_str worker;
	struct roger_strs ids;
};
struct roger_messages_reply {
	void *memory;
	struct roger_messages messages;
	bool more;	       /* list and search: the limit cut the answer */
	struct roger_str next; /* give this as after to go on */
};

/* show, thread. */
struct roger_show_request {
	struct roger_strs ids;
};

/* list, search, count. */
struct roger_list_request {
	struct roger_str text; /* search: words of content and metadata (FTS5) */
	struct roger_str issue;
	struct roger_str from;
	struct roger_str to;
	int type; /* enum roger_type + 1; 0: any */
	int64_t run_counter;
	bool unread;
	bool archived; /* the archived ones in place of the living */
	int64_t since_ms;
	int64_t until_ms;
	struct roger_str key;
	bool newest;		/* newest first */
	struct roger_str after; /* id of the last message already seen */
	int64_t limit;		/* 0: 1000 */
};
struct roger_count_reply {
	void *memory;
	int64_t count;
};

/* agents, session, archive and cleanup, stats. */
struct roger_empty_request {
	char unused;
};
struct roger_agents_reply {
	void *memory;
	struct roger_agent_list agents;
};
struct roger_session_request {
	bool fresh; /* open a new session: counters and last seen empty */
};
struct roger_session_reply {
	void *memory;
	int64_t epoch;
	struct roger_agent_list agents;
};
struct roger_archive_request {
	struct roger_strs ids;
	struct roger_str issue;	 /* or: everything of an issue */
	struct roger_str reason; /* "": "archived by hand" */
	bool unread;		 /* unread messages too */
	bool dry_run;
};
struct roger_cleanup_request {
	struct roger_str issue; /* "": every issue */
	int64_t max_age_days;	/* 0: as configured */
	int64_t keep_per_phase; /* 0: as configured */
	int64_t keep_runs;	/* 0: as configured */
	bool dry_run;
};
struct roger_archive_reply {
	void *memory;
	int64_t archived;
	int64_t by_age;
	int64_t by_count;
	int64_t by_run;
	int64_t kept_unread;
};
struct roger_stats_reply {
	void *memory;
	int64_t messages;
	int64_t unread;
	int64_t archived;
	int64_t agents;
	int64_t issues;
	int64_t context;
	int64_t result;
	int64_t decision;
	int64_t data;
	int64_t epoch;
	int64_t journal_bytes;
	int64_t journal_lines;
	int64_t strays; /* lines that are no messages */
	int64_t oldest_at_ms;
	int64_t newest_at_ms;
};

/* rebuild: make the index anew.  verify: read every line, check the chain. */
struct roger_rebuild_reply {
	void *memory;
	int64_t lines;
	int64_t messages;
	int64_t strays;
};
enum roger_finding_kind {
	ROGER_ALTERED, /* damage: what stands here is not what was written */
	ROGER_STRAY,   /* a line that is no message, left where it is */
	ROGER_FOREIGN, /* a line another program wrote in place of ours */
	ROGER_TORN,    /* the last line is unfinished; the next send fences it */
};
struct roger_finding {
	int kind; /* enum roger_finding_kind */
	int64_t line;
	int64_t byte; /* where the line starts */
	struct roger_str what;
};
struct roger_findings {
	const struct roger_finding *items;
	size_t count;
};
struct roger_verify_reply {
	void *memory;
	int64_t lines;
	int64_t messages; /* lines that hold one */
	int64_t chained;
	int64_t damaged; /* findings that mean loss: not strays, not foreign lines */
	int64_t strays;
	struct roger_findings findings; /* the first 1,000 */
};

/* config show: every setting and where it comes from. */
struct roger_setting {
	struct roger_str key;
	struct roger_str value;
	struct roger_str origin;
};
struct roger_settings {
	const struct roger_setting *items;
	size_t count;
};
struct roger_config_reply {
	void *memory;
	struct roger_str workspace;
	struct roger_settings settings;
};

/* --------------------------------------------------------------- verbs -- */

struct roger;

/*
 * Open the workspace at path, a folder that holds .roger/ or lies below one;
 * NULL: ROGER_WORKSPACE, else the nearest one above the current folder.
 */
ROGER_API int roger_open(const char *path, struct roger **ret_roger, struct roger_err *err);

/* Always returns NULL; takes NULL. */
ROGER_API struct roger *roger_close(struct roger *roger);

/*
 * What a person should know although nothing failed, such as an index that
 * cannot be written; "" when there is nothing.  Borrowed until the next call.
 */
ROGER_API const char *roger_notice(const struct roger *roger);

/*
 * Told of long work (rebuild, verify): how much of total is done.  Return
 * false to stop it; it then ends with ROGER_EREFUSED and changes nothing.
 */
typedef bool roger_progress(void *context, const char *what, int64_t done, int64_t total);
ROGER_API void roger_on_progress(struct roger *roger, roger_progress *tell, void *context);

#define ROGER_VERB(verb, request, reply)                                                           \
	ROGER_API int roger_##verb(struct roger *roger, const struct request *request_,            \
				   struct reply *ret_reply, struct roger_err *err)

ROGER_VERB(send, roger_send_request, roger_send_reply);
ROGER_VERB(send_many, roger_send_many_request, roger_send_many_reply);
ROGER_VERB(inbox, roger_inbox_request, roger_inbox_reply);
ROGER_VERB(receive, roger_inbox_request, roger_inbox_reply);
ROGER_VERB(wait, roger_wait_request, roger_wait_reply);
ROGER_VERB(claim, roger_claim_request, roger_messages_reply);
ROGER_VERB(ack, roger_ack_request, roger_messages_reply);
ROGER_VERB(nack, roger_ack_request, roger_messages_reply);
ROGER_VERB(show, roger_show_request, roger_messages_reply);
ROGER_VERB(thread, roger_show_request, roger_messages_reply);
ROGER_VERB(list, roger_list_request, roger_messages_reply);
ROGER_VERB(search, roger_list_request, roger_messages_reply);
ROGER_VERB(count, roger_list_request, roger_count_reply);
ROGER_VERB(agents, roger_empty_request, roger_agents_reply);
ROGER_VERB(session, roger_session_request, roger_session_reply);
ROGER_VERB(archive, roger_archive_request, roger_archive_reply);
ROGER_VERB(cleanup, roger_cleanup_request, roger_archive_reply);
ROGER_VERB(delete, roger_archive_request, roger_archive_reply);
ROGER_VERB(stats, roger_empty_request, roger_stats_reply);
ROGER_VERB(rebuild, roger_empty_request, roger_rebuild_reply);
ROGER_VERB(verify, roger_empty_request, roger_verify_reply);
ROGER_VERB(config, roger_empty_request, roger_config_reply);

/* Make a workspace; needs no handle. */
ROGER_API int roger_init(const struct roger_init_request *request,
			 struct roger_init_reply *ret_reply, struct roger_err *err);

/* Free what a reply owns; takes NULL and replies that were never filled. */
ROGER_API void roger_reply_free(void *reply);

/* -------------------------------------------------------- verbs as data -- */

/* How a member of a request, a reply or a record is kept and written. */
enum roger_kind {
	ROGER_TEXT,    /* struct roger_str */
	ROGER_NAME,    /* struct roger_str: an agent, issue or run */
	ROGER_INT,     /* int64_t */
	ROGER_BOOL,    /* bool */
	ROGER_ENUM,    /* int, an index into names */
	ROGER_TIME,    /* int64_t, ms since 1970 */
	ROGER_SPAN,    /* int64_t, ms */
	ROGER_OBJECT,  /* struct roger_str holding a JSON object */
	ROGER_MEMBERS, /* struct roger_str holding members roger does not know */
	ROGER_TEXTS,   /* struct roger_strs */
	ROGER_RECORDS, /* { items, count } of another record */
};

enum roger_field_flag {
	ROGER_REQUIRED = 1 << 0,
	ROGER_SPARE = 1 << 1,	/* left out when unset; otherwise written as null */
	ROGER_PLACE = 1 << 2,	/* on a command line it needs no option */
	ROGER_HIDDEN = 1 << 3,	/* not part of the outside form */
	ROGER_SELF = 1 << 4,	/* who the caller is: --as, ROGER_AGENT */
	ROGER_DERIVED = 1 << 5, /* read, but not written: its place in storage adds it */
};

struct roger_field {
	const char *name;
	enum roger_kind kind;
	size_t offset;
	unsigned flags;
	const char *const *names;	   /* ROGER_ENUM, ends with NULL */
	const struct roger_record *record; /* ROGER_RECORDS */
	const char *help;
};

struct roger_record {
	const char *name;
	size_t size;
	const struct roger_field *fields; /* ends with a field without a name */
};

enum roger_op_flag {
	ROGER_WRITES = 1 << 0,	     /* changes what is stored */
	ROGER_NO_WORKSPACE = 1 << 1, /* works without one */
};

struct roger_op {
	const char *name;
	const char *summary;
	const char *examples; /* lines, each a command */
	unsigned flags;
	const struct roger_record *request;
	const struct roger_record *reply;
	int (*run)(struct roger *roger, const void *request, void *reply, struct roger_err *err);
};

/* All verbs, in the order of the manual; ends with NULL. */
ROGER_API const struct roger_op *const *roger_ops(void);

/* The message record, for those who print or read one. */
ROGER_API const struct roger_record *roger_message_record(void);

/* Run a verb by its description; roger may be NULL for ROGER_NO_WORKSPACE. */
ROGER_API int roger_call(struct roger *roger, const struct roger_op *op, const void *request,
			 void *ret_reply, struct roger_err *err);

#ifdef __cplusplus
}
#endif

#endif
