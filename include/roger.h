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
#ifdef __GNUC__
#define ROGER_INLINE __attribute__((unused)) static inline
#else
#define ROGER_INLINE static inline
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

/* A list of a struct is { items, count }. */
#define ROGER_LIST(list, item)                                                                     \
	struct list {                                                                              \
		const struct item *items;                                                          \
		size_t count;                                                                      \
	}

ROGER_LIST(roger_strs, roger_str);

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
	struct roger_str issue;
	struct roger_str from;
	struct roger_str to;
	int64_t pass;
	int type; /* enum roger_type */
	struct roger_str content;
	struct roger_str metadata; /* a JSON object as text, or "" */
	bool read;
	int64_t created_at_ms;
	int64_t read_at_ms;
	int64_t seq;   /* the sender's number in its epoch; 0: unnumbered */
	int64_t epoch; /* which life of the counters */
	struct roger_str key;
	struct roger_str reply_to; /* id of the message this one answers */
	struct roger_str via;	   /* the edge it came in over: "bridge", "ingest"; "": sent */
	struct roger_str cycle;	   /* with a key: the cycle of its last attempt */
	int64_t attempt;	   /* with confirm_by: which one is under way */
	int64_t confirm_by_ms;	   /* by then the recipient shall have read it */
	struct roger_str claimed_by;
	int64_t claimed_until_ms;
	int64_t archived_at_ms;
	struct roger_str archive_reason;
	struct roger_str unknown; /* members roger does not know: "a":1,"b":2 */
	struct roger_str chain;	  /* as read; the journal writes its own */
	int64_t position;	  /* line of messages.jsonl where it first stood; not stored */
	int64_t acked_at_ms;	  /* its recipient has said what came of it: */
	int ack_outcome;	  /* enum roger_ack_outcome */
	struct roger_str ack_note;
	int64_t handed_at_ms;	 /* written to the file of a file-only agent */
	int64_t line, byte;	 /* the line that it is now, and where that begins; not stored */
	struct roger_str proved; /* how its sender is known: "token", "observed"; "": a claim */
	int64_t retry_within_ms; /* it is tried again, each time this long; 0: it is not */
};
ROGER_LIST(roger_messages, roger_message);

enum roger_ack_outcome { ROGER_ACK_NONE, ROGER_ACK_DONE, ROGER_ACK_BLOCKED, ROGER_ACK_REJECTED };

enum roger_attempt_outcome { ROGER_DELIVERED, ROGER_TIMEOUT, ROGER_ERROR };

/*
 * One attempt to send, as a line of send-log/<sender>.jsonl holds it: the
 * eleven members of the send log schema, then what roger adds.  The last line
 * for an id is its state.  Never any content.
 */
struct roger_attempt {
	struct roger_str id; /* from sender, recipient, key, cycle and attempt */
	struct roger_str from;
	struct roger_str to;
	int64_t at_ms;
	struct roger_str key;
	int64_t payload_chars;
	int outcome; /* enum roger_attempt_outcome */
	int64_t attempt;
	int64_t max_attempts;
	struct roger_str cycle;
	struct roger_str dead_letter_task;
	int64_t payload_bytes;
	struct roger_str payload_sha256;
	struct roger_str message;
	struct roger_str cause; /* of a timeout or an error: a word, no content */
	struct roger_str unknown;
	struct roger_str chain;
	bool pending; /* not known what came of it: the outcome says timeout */
};
ROGER_LIST(roger_attempts, roger_attempt);

enum roger_dead_letter_status { ROGER_UNDELIVERED, ROGER_REDELIVERED, ROGER_STALE };

/* A message given up, as a line of dead-letters.jsonl holds it.  Never any content. */
struct roger_dead_letter {
	struct roger_str id;
	struct roger_str task;
	struct roger_str from;
	struct roger_str to;
	int64_t at_ms;
	struct roger_str key;
	struct roger_str payload_sha256;
	int64_t payload_bytes;
	int64_t attempts;
	int status; /* enum roger_dead_letter_status */
	struct roger_str cycle;
	struct roger_str message;
	struct roger_str cause;
	struct roger_str filed_as; /* what the task system called it */
	struct roger_str note;
	int64_t updated_at_ms;
	int64_t delivered_at_ms; /* not stored: when the recipient read it after all */
	struct roger_str unknown;
	struct roger_str chain;
};
ROGER_LIST(roger_dead_letters, roger_dead_letter);

/* A period of the send log, as a line of cycles.jsonl holds it. */
struct roger_cycle {
	struct roger_str id;
	int64_t number; /* 1 for the one nobody opened */
	int64_t opened_at_ms;
	struct roger_str opened_by;
	struct roger_str unknown;
	struct roger_str chain;
};
ROGER_LIST(roger_cycles, roger_cycle);

/* What left an issue at once, as a line of cleanup_metrics.jsonl holds it. */
struct roger_cleanup {
	int64_t at_ms;
	struct roger_str issue; /* "": nothing left any issue */
	struct roger_str verb;	/* "cleanup", "archive", "delete"; "": not known */
	struct roger_str reason;
	int64_t archived; /* messages */
	int64_t by_age;
	int64_t by_count;
	int64_t by_pass;
	int64_t kept_unread;
	int64_t bytes_before; /* content and metadata of what lives of the issue, */
	int64_t bytes_after;  /* and afterwards */
	struct roger_str unknown;
	struct roger_str chain;
};
ROGER_LIST(roger_cleanups, roger_cleanup);

/* What is left of a purged key, as a line of key-digests.jsonl holds it. */
struct roger_digest {
	struct roger_str id; /* SHA-256 of sender and key */
	int outcome;	     /* enum roger_attempt_outcome */
	int64_t attempts;
	struct roger_str cycle;
	int64_t at_ms;
	struct roger_str unknown;
	struct roger_str chain;
};
ROGER_LIST(roger_digests, roger_digest);

enum roger_run_status {
	ROGER_RUN_ACTIVE,
	ROGER_RUN_SUSPECT,	 /* suspect_delivery_failure */
	ROGER_RUN_NOT_FORWARDED, /* done_but_not_forwarded */
	ROGER_RUN_COMPLETED,
	ROGER_RUN_RECOVERED,
	ROGER_RUN_BLOCKED,
};

/* How the child ended, as far as anybody knows; the status is about its result. */
enum roger_run_outcome {
	ROGER_RUN_OPEN, /* it is not known to have ended */
	ROGER_RUN_SUCCEEDED,
	ROGER_RUN_FAILED, /* child_exit has its exit status, where that is known */
	ROGER_RUN_KILLED,
	ROGER_RUN_TIMED_OUT, /* it was told to end, at its limit */
	ROGER_RUN_UNKNOWN,
};

/*
 * One dispatched run of a sub-agent, as state/subagent-delivery-watchdog/<runId>.json
 * holds it: the fourteen members of the watchdog schema, then what roger adds.
 * Instants are text as they came, RFC 3339 with any offset.  Never any content.
 */
struct roger_run {
	struct roger_str run;
	struct roger_str child;
	struct roger_str dispatched_at;
	struct roger_str expected_by;
	struct roger_str completed_at;
	bool forwarded;
	struct roger_str source;
	int status; /* enum roger_run_status; in a reply judged now, from the evidence */
	struct roger_str status_updated_at;
	struct roger_str status_reason;
	struct roger_str recovery_action;
	int64_t recovery_attempts;
	struct roger_str last_recovery_at;
	struct roger_strs notes;
	struct roger_str owner; /* who is to get the result */
	struct roger_str issue;
	struct roger_str task;
	struct roger_str exit; /* how the child ended: "0", "3", "signal 9", "failed", "lost" */
	struct roger_str result_message; /* the message that holds the result */
	struct roger_str evidence;	 /* the message whose reading confirmed it */
	int64_t extensions;
	struct roger_str heartbeat_at; /* `roger run` was last seen to watch over it */
	struct roger_str boot_id;      /* of `roger run` and its child: in which boot, */
	int64_t pid_space;	       /* and in which pid namespace, these are: */
	int64_t child_pid, child_start;
	int64_t runner_pid, runner_start;
	struct roger_str processes_unknown; /* members of processes that roger does not know */
	struct roger_str unknown;	    /* members roger does not know: "a":1,"b":2 */
	int outcome;			    /* enum roger_run_outcome; judged as status is */
	bool limit_reached;		    /* `roger run` told it to end */
	struct roger_str settled_at;	    /* its owner, or a person, has dealt with its failure */
	struct roger_str settled_by;	    /* "": nobody was named */
	struct roger_str failure_message;   /* what told its owner of its failure */
};
ROGER_LIST(roger_run_list, roger_run);

enum roger_action {
	ROGER_FILE_READ,
	ROGER_FILE_WRITE,
	ROGER_TOOL_EXEC,
	ROGER_EXTERNAL_RAG_QUERY,
	ROGER_PLAN_UPDATE,
	ROGER_CRITIC_FEEDBACK,
};
enum roger_status { ROGER_SUCCESS, ROGER_FAILURE, ROGER_IN_PROGRESS };

/* Who did what, as a line of logs/activity.log.jsonl holds it. */
struct roger_activity {
	struct roger_str timestamp; /* RFC 3339, as it came */
	struct roger_str task;
	int type;			 /* enum roger_action */
	struct roger_str details;	 /* a JSON object as text */
	struct roger_str action_unknown; /* members of action that roger does not know */
	int status;			 /* enum roger_status */
	struct roger_str message;
	struct roger_str outcome_unknown;
	struct roger_str evidence;
	struct roger_str unknown;
	struct roger_str chain;
	int64_t at_ms; /* the timestamp; not stored */
	/* Not stored: where it is in the log, from 1, and in the index, for after. */
	int64_t line, position;
};
ROGER_LIST(roger_activities, roger_activity);

/* What can happen; what happens at one instant stands in this order. */
enum roger_event_kind {
	ROGER_EVENT_CYCLE,	/* a cycle of the send log was opened */
	ROGER_EVENT_DISPATCHED, /* a run */
	ROGER_EVENT_SENT,	/* a message is on disk */
	ROGER_EVENT_DELIVERED,	/* an attempt */
	ROGER_EVENT_WAKE,	/* an agent's command was run, because mail waits for it */
	ROGER_EVENT_LOOKED,	/* an agent was shown messages for the first time */
	ROGER_EVENT_READ,
	ROGER_EVENT_LATE, /* an attempt that had timed out was delivered after all */
	ROGER_EVENT_DUE,  /* the end of a lease, of the time to read, or of a run's time */
	ROGER_EVENT_TIMEOUT,
	ROGER_EVENT_REFUSED, /* an attempt that ended in an error */
	ROGER_EVENT_DEAD_LETTER,
	ROGER_EVENT_REDELIVERED, /* a dead letter: one more attempt */
	ROGER_EVENT_STALE,	 /* a dead letter: no longer of use */
	ROGER_EVENT_RECOVERY,	 /* of a run, attempted */
	ROGER_EVENT_COMPLETED,	 /* a run */
	ROGER_EVENT_FORWARDED,	 /* the result of a run is known to have been read */
	ROGER_EVENT_RUN_NOTE,	 /* what else a run's document notes */
	ROGER_EVENT_ACTIVITY,
	ROGER_EVENT_ARCHIVED,
	ROGER_EVENT_SESSION, /* the first message of a new session: numbers start at 1 again */
	ROGER_EVENT_CLAIMED,
	ROGER_EVENT_RETURNED, /* a claimed message was given back */
	ROGER_EVENT_LEASE_EXPIRED,
	ROGER_EVENT_ACKNOWLEDGED,
	ROGER_EVENT_LOST,      /* a run: nothing can come of it any more */
	ROGER_EVENT_DAMAGED,   /* damage was found in a file, */
	ROGER_EVENT_ACCEPTED,  /* and a person has seen and accepted it */
	ROGER_EVENT_HANDED,    /* written to the file of an agent that only knows files */
	ROGER_EVENT_FAILED,    /* a run: its child failed, was killed or ran out of time */
	ROGER_EVENT_SETTLED,   /* and somebody has dealt with that, or with a lost one */
	ROGER_EVENT_ATTEMPTED, /* what came of it is not known yet */
};

/* One thing that happened, and where that is written.  Never any content. */
struct roger_event {
	int64_t at_ms;
	int kind;		/* enum roger_event_kind */
	struct roger_str actor; /* who did it */
	struct roger_str peer;	/* to whom */
	struct roger_str words; /* one line for people */
	struct roger_str message;
	struct roger_str run;
	struct roger_str task;
	struct roger_str issue;
	struct roger_str key;
	struct roger_str dead_letter;
	int64_t seq;
	int type; /* of a message: enum roger_type + 1 */
	int64_t bytes;
	int64_t attempt;
	struct roger_str file; /* evidence: the file, */
	int64_t line;	       /* and the line of it; 0: the whole */
};
ROGER_LIST(roger_events, roger_event);

/* A line that is not what it should be. */
struct roger_bad_line {
	int64_t line; /* from 1 */
	struct roger_str file;
	struct roger_str what; /* why */
};
ROGER_LIST(roger_bad_lines, roger_bad_line);

struct roger_agent {
	struct roger_str name;
	int64_t seq; /* last number used in the current epoch */
	int64_t sent;
	int64_t received;
	int64_t unread;
	int64_t last_sent_at_ms;
	bool retired;
	int64_t last_looked_at_ms; /* of one with unread mail: when it last looked at some; 0: never
				    */
};
ROGER_LIST(roger_agent_list, roger_agent);

/* An agent that gets no more mail. */
struct roger_retired {
	struct roger_str name;
	struct roger_str to;	 /* who gets its mail; "": it is refused */
	struct roger_str reason; /* "": none was given */
	int64_t at_ms;
	struct roger_str by;
	struct roger_str unknown;
};
ROGER_LIST(roger_retired_list, roger_retired);

/* A line of retired.jsonl: all that are retired after it. */
struct roger_retirement {
	struct roger_str id; /* the agent that it is about */
	int64_t at_ms;
	struct roger_retired_list retired;
	struct roger_str unknown;
	struct roger_str chain;
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
	/* Of a new one: a workspace above it, which is not seen from here any more. */
	struct roger_str above;
	struct roger_str not_trusted; /* why it is not trusted (see trust); "": it is */
};

/*
 * move: all journals and runs of a workspace, byte for byte, into PostgreSQL or into files; then
 * its `store` is set, and where it was it refuses with ROGER_ECONFIG.  Killed anywhere, the same
 * call goes on.  upgrade: the tables in PostgreSQL become those of this library.
 */
struct roger_move_request {
	struct roger_str to;   /* postgres://..., or a folder */
	struct roger_str from; /* at or below the workspace; "": as roger_open(NULL) */
};
struct roger_move_reply {
	void *memory;
	struct roger_str from, to;
	bool already;	  /* it was there before: nothing was done */
	int64_t journals; /* 0: only the last step was missing */
	int64_t lines, bytes, runs;
	bool overruled; /* ROGER_STORE is set, and wins over config.yaml */
};
struct roger_upgrade_request {
	struct roger_str path; /* at or below the workspace; "": as roger_open(NULL) */
};
struct roger_upgrade_reply {
	void *memory;
	struct roger_str store;
	bool files;    /* no PostgreSQL: nothing to do */
	int64_t steps; /* that were missing */
};

/*
 * trust: what a person allows of a workspace that others may have written: its
 * mailbox, each configured command, each place outside the usual folders.
 * Without accept and revoke it only shows.  Needs no handle.
 */
struct roger_trust_request {
	struct roger_str path;	 /* at or below the workspace; "": as roger_open(NULL) */
	struct roger_str accept; /* the sha256 of a reply: trust what that showed */
	bool revoke;		 /* trust nothing of it any more */
	bool list;		 /* show every workspace that is trusted, and nothing else */
};
struct roger_trust_command {
	struct roger_str setting; /* "dead_letters.command" */
	struct roger_strs words;  /* a program and its arguments */
	struct roger_strs files;  /* of the workspace that they name, or found along PATH */
	struct roger_str sha256;  /* of the words and of these files */
	bool trusted;
};
ROGER_LIST(roger_trust_commands, roger_trust_command);
struct roger_trust_place {
	struct roger_str setting; /* "storage.data_dir" */
	struct roger_str path;	  /* absolute, links resolved */
	bool trusted;
};
ROGER_LIST(roger_trust_places, roger_trust_place);
struct roger_trust_workspace {
	struct roger_str workspace;
	bool there;	  /* it still holds the .roger/ that was trusted */
	int64_t commands; /* how many are trusted */
	int64_t accepted_at_ms;
};
ROGER_LIST(roger_trust_workspaces, roger_trust_workspace);
struct roger_trust_reply {
	void *memory;
	struct roger_str workspace;
	int64_t owner; /* user id of .roger/ */
	bool mailbox;  /* trusted: hooks, prime and mcp show its mail to an agent */
	struct roger_trust_commands commands;
	struct roger_trust_places places;
	struct roger_str sha256; /* of all of this, for accept */
	bool trusted;		 /* all of it */
	bool changed;
	struct roger_trust_workspaces workspaces; /* with list */
};

/*
 * send: one text to one or several recipients, one number, one commit.
 * ROGER_CONFIRM_READ answers once all of them have read it, or with
 * ROGER_ETIMEOUT: then the same send again is the next attempt of the same
 * message.
 *
 * reply: a send that names no recipient and answers reply_to: it goes to the sender of that (of
 * one's own message: to who got it), in its issue.
 */
enum roger_confirm { ROGER_CONFIRM_STORED, ROGER_CONFIRM_READ };
struct roger_send_request {
	struct roger_str from;
	struct roger_strs to; /* agents, groups, or all */
	struct roger_str content;
	struct roger_str issue;	   /* "": general */
	int type;		   /* enum roger_type */
	int64_t pass;		   /* 0: 1 */
	struct roger_str metadata; /* a JSON object as text */
	struct roger_str reply_to;
	struct roger_str key;  /* task:verb:cycle; sent at most once per sender and cycle */
	struct roger_str task; /* or its parts: with verb makes task:verb:<current cycle> */
	struct roger_str verb;
	int confirm;	   /* enum roger_confirm; read needs a key */
	int64_t within_ms; /* with ROGER_CONFIRM_READ; 0: as configured */
	bool retry;	   /* the same: try as often as configured */
	bool dry_run;	   /* check everything, store nothing */
	bool new_names;	   /* also to a name never seen that is near a known one */
};
struct roger_receipt {
	struct roger_str id;
	struct roger_str to;
};
ROGER_LIST(roger_receipts, roger_receipt);
/* An agent of a group, or of all, that got no copy. */
struct roger_left_out {
	struct roger_str to;
	struct roger_str why;
};
ROGER_LIST(roger_left_out_list, roger_left_out);
struct roger_send_reply {
	void *memory;
	struct roger_receipts messages;
	struct roger_str issue;
	int64_t seq;
	int64_t epoch;
	int64_t created_at_ms;
	bool duplicate;			    /* the key was sent before: this is its first result */
	struct roger_str key;		    /* as given, or as made of its parts */
	struct roger_str cycle;		    /* with a key */
	int64_t attempt;		    /* with a key */
	int64_t archived;		    /* messages moved out to keep the limits */
	struct roger_strs notes;	    /* for people: names never seen, and the like */
	struct roger_strs never_seen;	    /* recipients that nobody here knew before */
	struct roger_left_out_list refused; /* of a group or all: their mailboxes are full */
	struct roger_left_out_list skipped; /* of a group or all: they get no mail */
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
	bool fresh;	 /* inbox only: what was never shown to the agent */
	bool unnoted;	 /* inbox only: leaves no note that it was shown, see roger_looked() */
	bool person;	 /* inbox only: not the agent looks, for which all stays as it was */
};
struct roger_inbox_reply {
	void *memory;
	struct roger_messages messages; /* first in, first out */
	int64_t unread;			/* still unread, those above included by inbox */
	struct roger_strs notes;	/* for people: that nobody knows the agent */
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
	struct roger_str from;
	struct roger_str issue;
	int64_t seq;
};

/*
 * trace: how far each message got, every step with its evidence.  A message that
 * was sent to several, and a key, are traced to each recipient.
 */
enum roger_step {
	ROGER_STEP_STORED,	 /* on disk, in the mailbox */
	ROGER_STEP_WAKE,	 /* its agent's command was run */
	ROGER_STEP_LOOKED,	 /* it was shown to its agent for the first time */
	ROGER_STEP_CLAIMED,	 /* under a lease */
	ROGER_STEP_RETURNED,	 /* given back */
	ROGER_STEP_READ,	 /* handed over, or accepted */
	ROGER_STEP_ACKNOWLEDGED, /* by ack */
	ROGER_STEP_DELIVERED, /* an attempt, by the send log: stored, or read if that was asked for
			       */
	ROGER_STEP_TIMEOUT,
	ROGER_STEP_REFUSED,
	ROGER_STEP_DEAD,
	ROGER_STEP_REDELIVERED,
	ROGER_STEP_STALE,
	ROGER_STEP_ARCHIVED,
	ROGER_STEP_HANDED, /* written to the file of an agent that only knows files */
	ROGER_STEP_LEASE_EXPIRED,
};
struct roger_trace_request {
	struct roger_strs ids; /* of messages; or keys */
	struct roger_str from; /* of a key: its sender; "": any */
	struct roger_str agent;
};
/* Never any content. */
struct roger_trace_step {
	int step;      /* enum roger_step */
	int64_t at_ms; /* 0: not known */
	struct roger_str who;
	struct roger_str words; /* for people */
	int64_t attempt;
	struct roger_str file; /* evidence: the file, */
	int64_t line;	       /* its line, from 1, */
	int64_t byte;	       /* and where that begins, in the journal of messages */
};
ROGER_LIST(roger_trace_steps, roger_trace_step);
struct roger_trace {
	struct roger_str id;
	struct roger_str from;
	struct roger_str to;
	struct roger_str issue;
	struct roger_str key;
	int64_t seq;
	int reached; /* enum roger_step: stored, wake, handed, looked, claimed, read, acknowledged,
		      * dead
		      */
	struct roger_trace_steps steps; /* in their order */
	struct roger_str summary;	/* how it is, in a sentence */
	struct roger_str proved;	/* how its sender's name was; "": it is a claim */
};
ROGER_LIST(roger_traces, roger_trace);
struct roger_trace_reply {
	void *memory;
	struct roger_traces traces;
	bool more; /* there were further recipients */
};

/*
 * wake: run the configured command of each agent whose mail has waited too long
 * without a look of the agent.  A hint: losing it loses nothing.
 */
struct roger_wake_request {
	struct roger_str agent; /* with test: whose; else "": all that are configured */
	bool test;		/* run its command now, and see how long the agent takes to look */
	int64_t within_ms;	/* with test: wait so long for that; 0: 10 seconds */
	int64_t for_ms;		/* look again for so long, until one was woken; 0: look once */
};
/* Never what the command printed. */
struct roger_wake_attempt {
	struct roger_str agent;
	struct roger_strs ids;	/* of the oldest messages */
	int64_t count;		/* of unread ones */
	int64_t attempt;	/* for this mail, since the agent last looked */
	bool ok;		/* the command ended with 0 */
	struct roger_str ended; /* how it ended */
	int64_t started_at_ms;
	int64_t took_ms;   /* the command */
	bool looked;	   /* with test: the agent looked at its mail, or took it, in time */
	int64_t looked_ms; /* after the command was started */
};
ROGER_LIST(roger_wake_attempts, roger_wake_attempt);
struct roger_wake_reply {
	void *memory;
	struct roger_wake_attempts attempts;
	int64_t waiting;	 /* agents with mail whose time has not come */
	int64_t busy;		 /* agents that another process is waking */
	int64_t next_ms;	 /* until the next is due; 0: none is waiting */
	struct roger_strs notes; /* for people */
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
	int outcome; /* enum roger_ack_outcome less 1; of ack only, as is the note */
	struct roger_str note;
};
struct roger_messages_reply {
	void *memory;
	struct roger_messages messages;
	bool more;	       /* list and search: the limit cut the answer */
	struct roger_str next; /* give this as after to go on */
	int64_t total;	       /* list, first page: all that match; ROGER_UNKNOWN: not counted */
};

struct roger_show_request {
	struct roger_strs ids;
	struct roger_str agent; /* who asks: whose @last, and whose copy of several; "": nobody */
};
struct roger_thread_request {
	struct roger_str id; /* of any message in it */
	struct roger_str agent;
};

/* list, search, count. */
struct roger_list_request {
	struct roger_str text; /* words of content and metadata (FTS5) that must all be there */
	struct roger_str issue;
	struct roger_str from;
	struct roger_str to;
	int type; /* enum roger_type + 1; 0: any */
	int64_t pass;
	bool unread;
	bool archived; /* the archived ones in place of the living */
	int64_t since_ms;
	int64_t until_ms;
	struct roger_str key;
	bool newest;		/* newest first */
	struct roger_str after; /* id of the last message already seen */
	int64_t limit;		/* 0: 1000 */
	bool anywhere;		/* list only: the living ones and the archived ones */
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
/* retire: mail to an agent is refused from now on, or goes to another one. */
struct roger_retire_request {
	struct roger_str name;
	struct roger_str to; /* who gets its mail; "": it is refused */
	struct roger_str reason;
	bool undo;	     /* it gets mail again */
	struct roger_str by; /* who says so */
};
struct roger_retire_reply {
	void *memory;
	struct roger_retired_list retired; /* all that are, now */
	int64_t unread;			   /* that wait in its mailbox */
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
	struct roger_str to; /* only to this agent; beside an issue, or alone */
};
struct roger_cleanup_request {
	struct roger_str issue; /* "": every issue */
	int64_t max_age_days;	/* 0: as configured; -1: the rule is off; so the next two */
	int64_t keep_per_agent;
	int64_t keep_passes;
	bool dry_run;
	bool history; /* only show what left so far, by cleanup, archive and delete */
};
struct roger_archive_reply {
	void *memory;
	int64_t archived;
	int64_t by_age;
	int64_t by_count;
	int64_t by_pass;
	int64_t kept_unread;
	struct roger_cleanups history; /* the newest first, at most 1000 */
	int64_t purged; /* cleanup of all issues: lines that left the send logs, as purge does */
};
struct roger_stats_request {
	struct roger_str issue; /* "": of all */
	bool by_issue;		/* and each issue for itself */
};
struct roger_issue_figures {
	struct roger_str issue;
	int64_t messages;
	int64_t unread;
	int64_t archived;
	int64_t bytes; /* content and metadata of the living messages */
	int64_t oldest_at_ms;
	int64_t newest_at_ms;
};
ROGER_LIST(roger_issue_figures_list, roger_issue_figures);
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
	int64_t bytes; /* of an issue: content and metadata of the living messages */
	struct roger_issue_figures_list by_issue;
};

/* log: write one entry of the activity log. */
struct roger_log_request {
	struct roger_str task;
	int type;		  /* enum roger_action + 1 */
	struct roger_str details; /* a JSON object as text; "": {} */
	int status;		  /* enum roger_status */
	struct roger_str message;
	struct roger_str evidence;
	int64_t at_ms;		/* 0: now */
	struct roger_str entry; /* in place of all that: an entry as JSON */
	bool strict;		/* refuse members that roger does not know */
	struct roger_str agent; /* who acted, for the details that do not say so */
};
/* log_import: entries that other tools wrote; those that are there already are left out. */
struct roger_log_import_request {
	struct roger_str text; /* a JSON object a line */
	bool strict;
	bool dry_run;
};
struct roger_log_import_reply {
	void *memory;
	int64_t imported;
	int64_t known; /* were there already */
	int64_t bad;
	struct roger_bad_lines lines; /* the first 1,000 of the bad ones */
};
/* activity: query the activity log, in the order of its lines. */
struct roger_activity_request {
	struct roger_str task;
	int type;   /* enum roger_action + 1; 0: any */
	int status; /* enum roger_status + 1; 0: any */
	int64_t since_ms;
	int64_t until_ms;
	struct roger_str evidence; /* with this citation */
	bool newest;		   /* the last ones first */
	int64_t after;		   /* continue after this position */
	int64_t limit;		   /* 0: 1000 */
	bool strict;		   /* entries with unknown members are bad lines */
};
struct roger_activity_reply {
	void *memory;
	struct roger_activities activities;
	struct roger_bad_lines lines; /* the first 1,000 that are no entries */
	bool more;
	int64_t next; /* give this as after to go on */
};

/* cycle: the period of the send log; new opens the next one. */
struct roger_cycle_request {
	bool fresh;
	struct roger_str id; /* of the new one; "": its number */
	struct roger_str by;
};
struct roger_cycle_reply {
	void *memory;
	struct roger_cycle current;
	struct roger_cycles cycles; /* all, the oldest first */
};

/* sends: what was attempted, and what came of it. */
struct roger_sends_request {
	struct roger_str from;
	struct roger_str to;
	struct roger_str task;
	struct roger_str key;
	struct roger_str message;
	struct roger_str cycle;
	int outcome; /* enum roger_attempt_outcome + 1; 0: any */
	int64_t since_ms;
	int64_t until_ms;
	bool lines;    /* every line, not only the state of each attempt */
	bool newest;   /* the last ones first */
	int64_t limit; /* 0: 1000 */
};
struct roger_sends_reply {
	void *memory;
	struct roger_attempts attempts;
	struct roger_digests purged; /* of a key that was asked for: what is left of it */
	bool more;		     /* the limit cut the answer */
};

/* dead_letters: what was given up; redeliver: one more attempt; stale: it no longer matters. */
struct roger_dead_letters_request {
	struct roger_strs ids; /* none: all */
	struct roger_str from;
	struct roger_str to;
	struct roger_str task;
	struct roger_str cycle;
	int status; /* enum roger_dead_letter_status + 1; 0: any */
};
struct roger_dead_letters_reply {
	void *memory;
	struct roger_dead_letters dead_letters;
	struct roger_str cycle; /* the current one */
	int64_t in_cycle;	/* dead letters of it */
	bool alarm;		/* more than configured */
};
struct roger_redeliver_request {
	struct roger_str id;
	int64_t within_ms; /* 0: as configured */
	struct roger_str note;
};
struct roger_stale_request {
	struct roger_str id;
	struct roger_str note;
};

/* purge: entries of old cycles leave the send logs; dead letters stay. */
struct roger_purge_request {
	bool dry_run;
};
struct roger_purge_reply {
	void *memory;
	int64_t purged;
	int64_t kept;
	int64_t digests; /* purged keys that are remembered */
};

/* rebuild: make the index again.  verify: read every line, check the chain. */
struct roger_rebuild_reply {
	void *memory;
	int64_t lines;
	int64_t messages;
	int64_t strays;
};
/*
 * verify: with a seal, does everything that was sealed still stand?  Both are
 * text, as `roger seal` and .roger/seal.pub hold it.
 */
struct roger_verify_request {
	struct roger_str seal;	/* "": the chains alone */
	struct roger_str key;	/* public key it must be signed with; "": that of the workspace */
	struct roger_strs cite; /* lines that are to be proved by the seal: "messages.jsonl:12" */
};
enum roger_finding_kind {
	ROGER_ALTERED,	  /* damage: what stands here is not what was written */
	ROGER_STRAY,	  /* a line that is no entry, left where it is */
	ROGER_FOREIGN,	  /* a line another program wrote in place of ours */
	ROGER_TORN,	  /* the last line is unfinished; the next writer fences it */
	ROGER_UNREADABLE, /* damage: something else stands in place of a file */
	ROGER_TRUNCATED,  /* damage: less than what was sealed */
	ROGER_MISSING,	  /* damage: a sealed file is gone */
	ROGER_CHANGED,	  /* the document of a run that was open when it was sealed */
	ROGER_PURGED,	  /* a send log that was purged since: the seal says nothing of it */
	ROGER_OTHER_KEY,  /* damage: signed with another key */
	ROGER_ACCEPTED,	  /* damage that a person has seen and accepted */
};
struct roger_finding {
	int kind; /* enum roger_finding_kind */
	struct roger_str file;
	int64_t line; /* 0: none */
	int64_t byte; /* where the line starts */
	struct roger_str what;
};
ROGER_LIST(roger_findings, roger_finding);
struct roger_journal {
	struct roger_str file;
	int64_t bytes;
	int64_t lines;
	int64_t chained;
	int64_t damaged;
	int64_t strays;
	struct roger_str head; /* the chain after its last line */
};
ROGER_LIST(roger_journals, roger_journal);
/* Lines of a journal, and what proves by its seal that they are there. */
struct roger_cited {
	struct roger_str file;
	int64_t count;		  /* lines that are sealed */
	struct roger_str numbers; /* of the lines below: "3 4 9" */
	struct roger_strs lines;
	struct roger_str proof; /* digests, see FORMAT.md */
};
ROGER_LIST(roger_cited_list, roger_cited);
struct roger_verify_reply {
	void *memory;
	int64_t lines;	  /* of messages.jsonl */
	int64_t messages; /* lines that hold one */
	int64_t chained;
	int64_t damaged; /* findings that mean loss, in all files */
	int64_t strays;
	struct roger_journals journals;
	struct roger_findings findings; /* the first 1,000 */
	int64_t sealed_at_ms;		/* with a seal: when it was made, */
	struct roger_str sealed_by;	/* the public key it is signed with, */
	int64_t sealed_files;		/* and how many files it speaks of */
	struct roger_cited_list cited;
};

/*
 * accept: a person has seen what is damaged at a place, FILE:LINE as verify
 * names it, or FILE where a journal is shorter, another one or gone.
 */
enum roger_damage_kind {
	ROGER_DAMAGE_ALTERED,	 /* a line */
	ROGER_DAMAGE_SHORTER,	 /* the file: less than was on disk once */
	ROGER_DAMAGE_OTHER,	 /* the file: another one than was on disk once */
	ROGER_DAMAGE_GONE,	 /* the file: there is nothing in it */
	ROGER_DAMAGE_UNREADABLE, /* something else is in its place */
	ROGER_DAMAGE_GAP, /* no damage: lines that were never synced, lost with the machine */
};
struct roger_damage {
	struct roger_str id;
	struct roger_str file; /* from the data folder */
	int kind;	       /* enum roger_damage_kind */
	int64_t line;	       /* 0: the file as such */
	int64_t byte;
	int64_t bytes;			 /* of the line, or the file, as it was found, */
	struct roger_str sha256;	 /* and of these */
	int64_t expected_bytes;		 /* bytes that were on disk once; 0: not known */
	struct roger_str expected_chain; /* the chain after these bytes */
	int64_t noticed_at_ms;
	int64_t accepted_at_ms; /* 0: nobody has accepted it */
	struct roger_str accepted_by;
	struct roger_str reason;
	struct roger_str unknown;
	struct roger_str chain;
};
ROGER_LIST(roger_damages, roger_damage);
struct roger_accept_request {
	struct roger_str place; /* FILE:LINE or FILE */
	struct roger_str reason;
};
struct roger_accept_reply {
	void *memory;
	struct roger_damages damages;
};

/* doctor: every rule over the whole workspace; fix: mend what is derived. */
struct roger_doctor_request {
	bool fix;
};
enum roger_breach_kind {
	ROGER_BREACH_CHAIN,
	ROGER_BREACH_SHAPE, /* a line that is no entry */
	ROGER_BREACH_MESSAGE,
	ROGER_BREACH_LIMIT,
	ROGER_BREACH_INDEX,
	ROGER_BREACH_STATE,
	ROGER_BREACH_ARCHIVE,
	ROGER_BREACH_CONTROL,
	ROGER_BREACH_SEND_LOG,
	ROGER_BREACH_DEAD_LETTER,
	ROGER_BREACH_CYCLE,
	ROGER_BREACH_RUN,
	ROGER_BREACH_MODE,
	ROGER_BREACH_PLACE, /* a file that should not be there, or is something else */
	ROGER_BREACH_SEAL,
};
enum roger_severity {
	ROGER_DAMAGE,	  /* the truth is broken: nothing can be derived from it */
	ROGER_REPAIRABLE, /* fix mends it */
	ROGER_NOTE,	  /* to be known, and no breach */
};
struct roger_breach {
	int kind;     /* enum roger_breach_kind */
	int severity; /* enum roger_severity */
	struct roger_str file;
	int64_t line; /* 0: the whole file */
	int64_t byte;
	struct roger_str what;
	bool fixable;
	bool fixed;
};
ROGER_LIST(roger_breaches, roger_breach);
/* Something that setup put into a tool, tried as the tool would. */
struct roger_link {
	struct roger_str tool;
	struct roger_str file; /* its path */
	struct roger_str what; /* "server", "hook prompt"... */
	bool works;
	struct roger_str trouble; /* if not: what happened */
};
ROGER_LIST(roger_links, roger_link);
struct roger_doctor_reply {
	void *memory;
	struct roger_breaches breaches; /* the first 1,000 of each severity */
	int64_t damage;
	int64_t repairable; /* of these fixed: */
	int64_t fixed;	    /* notes that were mended included */
	int64_t left;	    /* breaches, not notes, that still stand */
	int64_t notes;
	int64_t bytes, lines, messages, attempts, runs; /* gone through */
	struct roger_links links; /* to agents' tools, where setup made some */
	int64_t broken_links;
};

/*
 * seal: what the journals and run documents hold now, signed.  Keep it where
 * whoever may write the workspace cannot write.
 */
enum roger_sealed { ROGER_SEALED_JOURNAL, ROGER_SEALED_DOCUMENT };
struct roger_seal_entry {
	int kind; /* enum roger_sealed */
	struct roger_str file;
	int64_t bytes;
	int64_t lines;		/* of a journal; of a run its notes */
	struct roger_str chain; /* after the last line */
	struct roger_str sha256;
	int64_t every;		 /* of a journal: a mark for so many lines, */
	struct roger_str marks;	 /* the first 16 digits of the SHA-256 up to there */
	struct roger_str status; /* of a run */
	struct roger_str fixed;	 /* of a run: SHA-256 of what never changes of its document */
	struct roger_str root;	 /* of a journal: the root of the tree of its lines */
};
ROGER_LIST(roger_seal_entries, roger_seal_entry);
struct roger_seal_reply {
	void *memory;
	int64_t version; /* 2; 1: without root */
	int64_t made_at_ms;
	struct roger_str workspace;
	struct roger_seal_entries entries;
	struct roger_str public_key;
	struct roger_str signature;
};

/*
 * bridge: take in what stands in trigger files, as "(ROLE #N): text", and write
 * out mail for the agents of bridge.file_only.  ingest: the same rules for a
 * text.  Each message comes in once, with the number its sender gave it; one
 * whose number is not above the last is skipped, and that is told.
 */
enum roger_crossing_kind {
	ROGER_CROSSING_TAKEN,	/* stored */
	ROGER_CROSSING_KNOWN,	/* was stored before, by a bridge that was killed then */
	ROGER_CROSSING_STALE,	/* skipped for its number */
	ROGER_CROSSING_REFUSED, /* skipped: it cannot be taken in */
	ROGER_CROSSING_WAITING, /* there is no room; it is tried again */
	ROGER_CROSSING_WRITTEN, /* written out */
	ROGER_CROSSING_TROUBLE, /* with a file */
};
struct roger_crossing {
	int kind;	       /* enum roger_crossing_kind */
	struct roger_str file; /* the trigger file */
	int64_t line;	       /* of it, or of the text */
	struct roger_str from;
	struct roger_str to;
	int64_t seq; /* 0: it has none */
	struct roger_str id;
	struct roger_str why;
	struct roger_str kept; /* where text that was skipped is now, from the workspace's folder */
};
ROGER_LIST(roger_crossings, roger_crossing);
/*
 * wait_ms 0: one look.  Otherwise it answers as soon as anything happened, and
 * the handle stays the bridge of the workspace until it is closed; a signal
 * ends the wait early.  ROGER_ETIMEOUT: another process is the bridge.
 */
struct roger_bridge_request {
	struct roger_str issue; /* of what comes in; "": general */
	int64_t wait_ms;
};
struct roger_ingest_request {
	struct roger_str agent; /* the recipient, where to names none */
	struct roger_strs to;	/* agents, groups, or all */
	struct roger_str text;	/* all of it is stored, but for what is skipped, or none */
	struct roger_str issue;
	bool unnumbered; /* whatever numbers it has: to let in what was skipped */
};
struct roger_bridge_reply {
	void *memory;
	struct roger_crossings crossings;
	int64_t taken;
	int64_t known;
	int64_t skipped; /* stale or refused */
	int64_t waiting;
	int64_t written;
	int64_t trouble;
	int64_t archived; /* messages moved out to keep the limits */
	int64_t failure;  /* 0, or the exit status of what ended it early; see the last crossing */
	struct roger_strs notes; /* for people: names never seen */
};

/* config show: every setting and where it comes from. */
struct roger_setting {
	struct roger_str key;
	struct roger_str value;
	struct roger_str origin;
	struct roger_str about; /* what it may be, and what it is for */
};
ROGER_LIST(roger_settings, roger_setting);
struct roger_config_reply {
	void *memory;
	struct roger_str workspace;
	struct roger_settings settings;
};

/* dispatch, complete, forward, extend, recover: receipts of a sub-agent's run. */
struct roger_dispatch_request {
	struct roger_str run;
	struct roger_str agent;	      /* who dispatches, and gets the result unless forward_to */
	int64_t within_ms;	      /* 0: as configured */
	struct roger_str expected_by; /* or: an instant, RFC 3339 */
	struct roger_str child;	      /* its session key; "": the run's id */
	struct roger_str forward_to;  /* an agent */
	struct roger_str issue;
	struct roger_str task;
};
struct roger_complete_request {
	struct roger_str run;
	struct roger_str source;  /* "": completion_event */
	struct roger_str result;  /* delivered to the owner as a message, and stored nowhere else */
	struct roger_str message; /* or: id of the message that delivered it already */
	struct roger_str exit;	  /* exit status; other than 0 and without a result: it failed */
	bool failed;		  /* it ended without a result */
	struct roger_str agent;	  /* who says so; "": a person */
};
struct roger_forward_request {
	struct roger_str run;
	struct roger_str evidence; /* id of a message; "": that of the result */
};
struct roger_extend_request {
	struct roger_str run;
	int64_t by_ms;
	struct roger_str why;
};
struct roger_settle_request {
	struct roger_str run;
	struct roger_str agent; /* the owner; "": a person */
	struct roger_str why;
};
struct roger_recover_request {
	struct roger_str run;
	struct roger_str source; /* what to call a result that is found; "": by how it was */
};
struct roger_runs_request {
	struct roger_str run; /* "": all */
	int status;	      /* enum roger_run_status + 1; 0: any */
	struct roger_str issue;
};
/* A document that is not valid, or that says another status than its evidence. */
struct roger_run_trouble {
	struct roger_str file;
	struct roger_str run;
	bool invalid;
	struct roger_str what;
};
ROGER_LIST(roger_run_troubles, roger_run_trouble);
struct roger_runs_reply {
	void *memory;
	struct roger_run_list runs;
	bool changed; /* something was written; false: it said so already */
	struct roger_run_troubles troubles;
	struct roger_strs notes; /* for people */
};

/*
 * run: a program as a run: dispatched before it starts, watched while it lives,
 * completed by its own end.  The calling thread works until then, at no cost
 * while nothing happens.
 *
 * The program's standard streams are nobody's unless streams says otherwise.
 * What it prints goes to output as it comes; where that is gone, on to the
 * result all the same, provided that the caller ignores SIGPIPE.
 */
struct roger_run_streams {
	int input, output, errors; /* descriptors; -1: none */
	/*
	 * A pipe, or -1: for each byte that the caller writes at its other end, such as
	 * from a handler of signals, the signal of that number is passed on to the program
	 * and all that it started (SIGCHLD: we look whether it was stopped).
	 */
	int signals;
	/*
	 * The terminal that we are in the foreground of, or -1: it is lent to a program
	 * that asks it for something, and when that is stopped from there this process
	 * stops, too.
	 */
	int terminal;
	int file_mask; /* umask of the program; -1: ours */
};
enum roger_run_result { ROGER_RESULT_OUTPUT, ROGER_RESULT_MESSAGE };
struct roger_run_request {
	struct roger_strs command; /* a program and its arguments; no shell */
	struct roger_str agent;	   /* who dispatches, and gets the result unless forward_to */
	struct roger_str run;	   /* "": a new one */
	int64_t within_ms;	   /* 0: as configured */
	struct roger_str child;	   /* the agent that the program is; "": the run's id */
	struct roger_str forward_to;
	struct roger_str issue;
	struct roger_str task;
	int result; /* enum roger_run_result: what counts, beside a message of its own */
	struct roger_str result_file; /* or: what it leaves in this file */
	int64_t limit_ms;	      /* from its dispatch on; then it is told to end; 0: never */
	int64_t grace_ms;	      /* and so long after that it is killed; 0: 10 s */
	const struct roger_run_streams *streams; /* NULL: none */
};
struct roger_run_reply {
	void *memory;
	struct roger_run_list runs; /* the one, judged now */
	int64_t exit;		    /* as a shell tells it: 128 and a signal, 126, 127 */
	struct roger_str ended;	    /* "exit 3", "signal 9", "lost" */
	struct roger_str message;   /* what its owner was sent */
	int64_t duration_ms;
	int64_t output_bytes;
	bool adopted;	    /* it was started by another, which is gone */
	bool limit_reached; /* it was told to end */
	bool output_lost;   /* not all of its output could be passed on */
	bool untold;	    /* a rule, such as a full mailbox, kept its owner from being told */
	struct roger_strs notes; /* for people */
};

/* sweep: judge all runs, confirm what was read, make the recoveries that are due. */
struct roger_sweep_request {
	bool dry_run;
};
struct roger_run_change {
	struct roger_str run;
	int before; /* enum roger_run_status */
	int after;
	struct roger_str reason;
};
ROGER_LIST(roger_run_changes, roger_run_change);
struct roger_sweep_reply {
	void *memory;
	struct roger_run_changes changes;
	int64_t runs;
	int64_t forwarded;  /* confirmed now */
	int64_t recoveries; /* attempts made now */
	int64_t escalations;
	int64_t active, suspect, not_forwarded, completed, recovered, blocked; /* afterwards */
	struct roger_run_troubles troubles;
	struct roger_strs notes; /* for people */
};

/* timeline: what is known of an issue, a task, a run or an agent, from all logs at once. */
enum roger_subject {
	ROGER_SUBJECT_ISSUE,
	ROGER_SUBJECT_TASK,
	ROGER_SUBJECT_RUN,
	ROGER_SUBJECT_AGENT,
};
struct roger_timeline_request {
	struct roger_str what; /* one of those below, whichever it is */
	struct roger_str issue;
	struct roger_str task;
	struct roger_str run;
	struct roger_str agent;
	int64_t since_ms;
	int64_t until_ms;
	int64_t limit; /* 0: 1000 */
	bool own;      /* roger's notes of what another event tells already, too */
};
struct roger_timeline_reply {
	void *memory;
	struct roger_events events; /* in their order; the last ones where the limit cuts */
	struct roger_str what;
	int subject;		  /* enum roger_subject */
	struct roger_strs agents; /* as they come up */
	bool more;		  /* there were earlier ones */
	struct roger_strs notes;  /* for people */
};

/* report: figures over a time, or over cycles. */
struct roger_report_request {
	int64_t since_ms;
	int64_t until_ms;
	struct roger_str cycle; /* its id, or FROM..TO */
};
struct roger_figure {
	struct roger_str name;
	int64_t count;
};
ROGER_LIST(roger_figures, roger_figure);
struct roger_agent_figures {
	struct roger_str name;
	int64_t sent;
	int64_t received;
	int64_t read;	  /* of those received */
	int64_t timeouts; /* of what it sent */
};
ROGER_LIST(roger_agent_figures_list, roger_agent_figures);

/* A rate or a time of no messages; JSON leaves it out. */
#define ROGER_UNKNOWN INT64_MIN
struct roger_report_reply {
	void *memory;
	int64_t since_ms; /* what it is about; 0: from the start */
	int64_t until_ms; /* 0: to the end */
	struct roger_strs cycles;
	int64_t messages, read, unread;
	int64_t wakes, failed_wakes;
	int64_t looked;	      /* messages shown by a look at the inbox, or taken */
	int64_t acknowledged; /* by ack */
	int64_t look_p50_ms, look_p95_ms, look_max_ms;		/* from stored to the first look */
	int64_t latency_p50_ms, latency_p95_ms, latency_max_ms; /* from stored to read */
	int64_t attempts, delivered, timeouts, errors;
	int64_t delivery_permille; /* of the attempts that are decided */
	int64_t late;		   /* delivered after a timeout of the same attempt */
	int64_t retries;
	int64_t duplicates; /* prevented */
	int64_t conflicts;
	int64_t breakers; /* open now */
	int64_t dead_letters, undelivered, redelivered, stale;
	struct roger_figures dead_by_cause, dead_by_recipient;
	bool alarm; /* a cycle with more dead letters than configured */
	int64_t runs, active, suspect, not_forwarded, completed, recovered, blocked;
	int64_t late_runs, lost_runs, recoveries;
	struct roger_agent_figures_list agents;
	int64_t attempted, attempted_delivered; /* messages that attempts were for */
	int64_t message_permille;		/* delivered of these messages */
	int64_t dead_read;			/* dead letters whose message was read after all */
	struct roger_figures refused_by_cause;
	int64_t pending; /* of the attempts: it is not known what came of them */
	int64_t succeeded_runs, failed_runs, killed_runs, timed_out_runs, unknown_runs;
	struct roger_figures concerns; /* of status, by kind */
};

/* status: what needs attention now, and what to type next. */
enum roger_urgency { ROGER_URGENT, ROGER_SOON, ROGER_NOTICE };
struct roger_concern {
	int urgency;		  /* enum roger_urgency */
	struct roger_str kind;	  /* a word for programs */
	struct roger_str subject; /* an agent, a run, an id; or "" */
	int64_t count;
	int64_t since_ms; /* how long already */
	struct roger_str words;
	struct roger_str next; /* a command */
};
ROGER_LIST(roger_concerns, roger_concern);
struct roger_status_reply {
	void *memory;
	struct roger_concerns concerns; /* the most urgent first */
	bool quiet;			/* there are none */
	int64_t unread;
	int64_t agents;
	int64_t active_runs;
	struct roger_str cycle;
	int64_t epoch;
	struct roger_str workspace;
};

/*
 * looked: these messages were shown to the agent, by somebody who asked inbox
 * for them unnoted and shows first.
 */
struct roger_looked_request {
	struct roger_str agent;
	struct roger_strs ids;
};
struct roger_looked_reply {
	void *memory;
	int64_t looked; /* messages of these that there are */
};

/*
 * arrive: the agent's tool began a session.  What wakes an agent may name it:
 * {session} in the words of wake.agents.
 */
struct roger_arrive_request {
	struct roger_str agent;
	struct roger_str session; /* as the tool names it */
	struct roger_str tool;	  /* "": not told */
};
struct roger_arrive_reply {
	void *memory;
	bool noted; /* false: it was known */
};

/*
 * prime: what an agent is to know when it begins: who it is, what is unread,
 * and what it owes others or others owe it.  A look without a note.
 */
struct roger_prime_request {
	struct roger_str agent;
	struct roger_str issue; /* "": of every issue */
	int64_t limit;		/* messages; 0: 20 */
};
struct roger_prime_reply {
	void *memory;
	struct roger_str agent;
	struct roger_str workspace;
	int64_t unread;
	struct roger_messages messages; /* unread ones, first in, first out */
	struct roger_concerns duties;	/* the most urgent first */
};

/*
 * setup: what is put into the settings of agents' tools (claude, codex, gemini,
 * opencode), so that they start roger's server and run its hooks; or, with
 * remove, taken out of them again, byte for byte.  Works without a workspace,
 * and makes one in the project where there is none.
 */
/* Unless given, stealth. */
enum roger_setup_scope {
	ROGER_SETUP_UNSAID,
	ROGER_SETUP_USER,
	ROGER_SETUP_STEALTH,
	ROGER_SETUP_PROJECT,
};
struct roger_setup_request {
	struct roger_strs tools; /* none: those that are installed */
	int scope;		 /* enum roger_setup_scope */
	struct roger_str as;	 /* "": ROGER_AGENT, else the tool's name */
	bool remove;
	bool dry_run;
};
enum roger_setup_action {
	ROGER_SETUP_SAME,
	ROGER_SETUP_MADE,
	ROGER_SETUP_CHANGED,
	ROGER_SETUP_REMOVED,
	ROGER_SETUP_LEFT, /* because of trouble */
};
struct roger_setup_file {
	struct roger_str file;
	int action;	       /* enum roger_setup_action */
	struct roger_str diff; /* as diff prints it; "": no change */
	struct roger_str trouble;
};
ROGER_LIST(roger_setup_files, roger_setup_file);
struct roger_setup_reply {
	void *memory;
	struct roger_setup_files files;
	int64_t changes;	 /* files that change */
	struct roger_strs tools; /* that were meant */
	struct roger_str workspace;
	bool made_workspace; /* there was none */
	bool by_path;	     /* roger is not along PATH */
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
 * What is damaged in the workspace, as far as that is known, until somebody has
 * accepted it: it is answered all the same.  "" when nothing is.  roger_notice()
 * says it, too.
 */
ROGER_API const char *roger_damage(const struct roger *roger);

/*
 * Why the mail of this workspace should be shown to no agent unasked: one line
 * for a person; "" when it is trusted (see trust).  Borrowed until the close.
 */
ROGER_API const char *roger_distrust(struct roger *roger);

/*
 * Be the only process of this workspace that does something for somebody, such
 * as a hook of a session; it ends with the handle and with the process.  False:
 * another one does it.  Not asked twice for the same.
 */
ROGER_API bool roger_hold(struct roger *roger, const char *what);

/*
 * Told of long work: how much of total is done.  what names the work, and what it is counted in
 * after a blank ("search messages"); without one, in bytes.  Return
 * false to stop it; it then ends with ROGER_EREFUSED and changes nothing.  roger NULL: of verbs
 * that need no handle; set it before other threads run.
 */
typedef bool roger_progress(void *context, const char *what, int64_t done, int64_t total);
ROGER_API void roger_on_progress(struct roger *roger, roger_progress *tell, void *context);

/*
 * For handlers of signals; both may be called there, and nowhere else is needed.
 *
 * roger_interrupt(): this process is to end.  No call waits for another process
 * any more; ROGER_ETIMEOUT.
 *
 * roger_mend_map(): in a handler of SIGBUS, with its si_addr.  messages.control is
 * mapped, and a file that somebody cuts short is no longer behind its map.  True:
 * it was one of ours, and the call under way goes on when the handler returns.
 * The library installs no handlers; a program without one dies of such a cut.
 */
ROGER_API void roger_interrupt(void);
ROGER_API bool roger_mend_map(const void *address);

/*
 * From version 1.0 on structs only grow, at their end, and every call says how long they were
 * when the program was compiled.  A library that knows longer ones takes what a
 * request lacks as unset, fills of a reply as much as there is, and puts the items
 * of lists as far apart as the program expects.  A library that knows shorter
 * ones wants what it does not know to be unset, else it is ROGER_EUSAGE.  What is
 * added begins behind the padding, which a program need not have cleared.
 * roger_err, roger_str, roger_strs and roger_field never grow.
 */
struct roger_item {
	const char *record; /* the items of a list */
	size_t size;
};
static const struct roger_item roger_items[] = {
	{ "message", sizeof(struct roger_message) },
	{ "attempt", sizeof(struct roger_attempt) },
	{ "dead letter", sizeof(struct roger_dead_letter) },
	{ "cycle", sizeof(struct roger_cycle) },
	{ "digest", sizeof(struct roger_digest) },
	{ "cleanup metrics", sizeof(struct roger_cleanup) },
	{ "issue figures", sizeof(struct roger_issue_figures) },
	{ "run", sizeof(struct roger_run) },
	{ "activity", sizeof(struct roger_activity) },
	{ "event", sizeof(struct roger_event) },
	{ "line", sizeof(struct roger_bad_line) },
	{ "agent", sizeof(struct roger_agent) },
	{ "retired", sizeof(struct roger_retired) },
	{ "receipt", sizeof(struct roger_receipt) },
	{ "left out", sizeof(struct roger_left_out) },
	{ "send", sizeof(struct roger_send_request) },
	{ "sent", sizeof(struct roger_send_reply) },
	{ "step", sizeof(struct roger_trace_step) },
	{ "trace", sizeof(struct roger_trace) },
	{ "wake attempt", sizeof(struct roger_wake_attempt) },
	{ "finding", sizeof(struct roger_finding) },
	{ "journal", sizeof(struct roger_journal) },
	{ "cited", sizeof(struct roger_cited) },
	{ "trust command", sizeof(struct roger_trust_command) },
	{ "trust place", sizeof(struct roger_trust_place) },
	{ "trust workspace", sizeof(struct roger_trust_workspace) },
	{ "breach", sizeof(struct roger_breach) },
	{ "damage", sizeof(struct roger_damage) },
	{ "link", sizeof(struct roger_link) },
	{ "entry", sizeof(struct roger_seal_entry) },
	{ "crossing", sizeof(struct roger_crossing) },
	{ "setting", sizeof(struct roger_setting) },
	{ "trouble", sizeof(struct roger_run_trouble) },
	{ "change", sizeof(struct roger_run_change) },
	{ "figure", sizeof(struct roger_figure) },
	{ "agent figures", sizeof(struct roger_agent_figures) },
	{ "concern", sizeof(struct roger_concern) },
	{ "file", sizeof(struct roger_setup_file) },
	{ NULL, 0 },
};

/*
 * All verbs, in the order of help: each is a function below, a command, and a file in
 * src/ops that says what its request and its reply hold.  ALONE: it needs no handle.
 */
#define ROGER_VERBS(VERB, ALONE)                                                                   \
	ALONE(init, roger_init_request, roger_init_reply)                                          \
	ALONE(setup, roger_setup_request, roger_setup_reply)                                       \
	ALONE(trust, roger_trust_request, roger_trust_reply)                                       \
	ALONE(move, roger_move_request, roger_move_reply)                                          \
	ALONE(upgrade, roger_upgrade_request, roger_upgrade_reply)                                 \
	VERB(prime, roger_prime_request, roger_prime_reply)                                        \
	VERB(looked, roger_looked_request, roger_looked_reply)                                     \
	VERB(arrive, roger_arrive_request, roger_arrive_reply)                                     \
	VERB(send, roger_send_request, roger_send_reply)                                           \
	VERB(reply, roger_send_request, roger_send_reply)                                          \
	VERB(send_many, roger_send_many_request, roger_send_many_reply)                            \
	VERB(inbox, roger_inbox_request, roger_inbox_reply)                                        \
	VERB(receive, roger_inbox_request, roger_inbox_reply)                                      \
	VERB(wait, roger_wait_request, roger_wait_reply)                                           \
	VERB(wake, roger_wake_request, roger_wake_reply)                                           \
	VERB(claim, roger_claim_request, roger_messages_reply)                                     \
	VERB(ack, roger_ack_request, roger_messages_reply)                                         \
	VERB(nack, roger_ack_request, roger_messages_reply)                                        \
	VERB(show, roger_show_request, roger_messages_reply)                                       \
	VERB(trace, roger_trace_request, roger_trace_reply)                                        \
	VERB(thread, roger_thread_request, roger_messages_reply)                                   \
	VERB(list, roger_list_request, roger_messages_reply)                                       \
	VERB(count, roger_list_request, roger_count_reply)                                         \
	VERB(agents, roger_empty_request, roger_agents_reply)                                      \
	VERB(retire, roger_retire_request, roger_retire_reply)                                     \
	VERB(session, roger_session_request, roger_session_reply)                                  \
	VERB(archive, roger_archive_request, roger_archive_reply)                                  \
	VERB(cleanup, roger_cleanup_request, roger_archive_reply)                                  \
	VERB(cycle, roger_cycle_request, roger_cycle_reply)                                        \
	VERB(sends, roger_sends_request, roger_sends_reply)                                        \
	VERB(dead_letters, roger_dead_letters_request, roger_dead_letters_reply)                   \
	VERB(redeliver, roger_redeliver_request, roger_dead_letters_reply)                         \
	VERB(stale, roger_stale_request, roger_dead_letters_reply)                                 \
	VERB(purge, roger_purge_request, roger_purge_reply)                                        \
	VERB(log, roger_log_request, roger_activity_reply)                                         \
	VERB(log_import, roger_log_import_request, roger_log_import_reply)                         \
	VERB(activity, roger_activity_request, roger_activity_reply)                               \
	VERB(dispatch, roger_dispatch_request, roger_runs_reply)                                   \
	VERB(complete, roger_complete_request, roger_runs_reply)                                   \
	VERB(forward, roger_forward_request, roger_runs_reply)                                     \
	VERB(extend, roger_extend_request, roger_runs_reply)                                       \
	VERB(settle, roger_settle_request, roger_runs_reply)                                       \
	VERB(recover, roger_recover_request, roger_runs_reply)                                     \
	VERB(runs, roger_runs_request, roger_runs_reply)                                           \
	VERB(run, roger_run_request, roger_run_reply)                                              \
	VERB(sweep, roger_sweep_request, roger_sweep_reply)                                        \
	VERB(timeline, roger_timeline_request, roger_timeline_reply)                               \
	VERB(report, roger_report_request, roger_report_reply)                                     \
	VERB(status, roger_empty_request, roger_status_reply)                                      \
	VERB(stats, roger_stats_request, roger_stats_reply)                                        \
	VERB(bridge, roger_bridge_request, roger_bridge_reply)                                     \
	VERB(ingest, roger_ingest_request, roger_bridge_reply)                                     \
	VERB(rebuild, roger_empty_request, roger_rebuild_reply)                                    \
	VERB(verify, roger_verify_request, roger_verify_reply)                                     \
	VERB(accept, roger_accept_request, roger_accept_reply)                                     \
	VERB(doctor, roger_doctor_request, roger_doctor_reply)                                     \
	VERB(seal, roger_empty_request, roger_seal_reply)                                          \
	VERB(config, roger_empty_request, roger_config_reply)

/* What the functions of the verbs call; verb is their name without roger_. */
ROGER_API int roger_verb(struct roger *roger, const char *verb, const void *request,
			 size_t request_size, void *ret_reply, size_t reply_size,
			 const struct roger_item *items, struct roger_err *err);

/* int roger_send(roger, request, ret_reply, err), and so on. */
#define ROGER_VERB(verb, request, reply)                                                           \
	ROGER_INLINE int roger_##verb(struct roger *roger, const struct request *request_,         \
				      struct reply *ret_reply, struct roger_err *err)              \
	{                                                                                          \
		return roger_verb(roger, #verb, request_, sizeof *request_, ret_reply,             \
				  sizeof *ret_reply, roger_items, err);                            \
	}
#define ROGER_VERB_ALONE(verb, request, reply)                                                     \
	ROGER_INLINE int roger_##verb(const struct request *request_, struct reply *ret_reply,     \
				      struct roger_err *err)                                       \
	{                                                                                          \
		return roger_verb(NULL, #verb, request_, sizeof *request_, ret_reply,              \
				  sizeof *ret_reply, roger_items, err);                            \
	}
ROGER_VERBS(ROGER_VERB, ROGER_VERB_ALONE)
#undef ROGER_VERB
#undef ROGER_VERB_ALONE

/*
 * Sleep until anything is stored by anybody after *mark was set, or for timeout_ms;
 * sets *mark, so that nothing between two calls is missed.  With a timeout of 0
 * it only sets the mark.  True: something was stored.
 */
ROGER_API bool roger_watch(struct roger *roger, uint32_t *mark, int64_t timeout_ms);

/* Free what a reply owns; takes NULL and replies that were never filled. */
ROGER_API void roger_reply_free(void *reply);

/* -------------------------------------------------------- verbs as data -- */

/* How a member of a request, a reply or a record is kept and written. */
enum roger_kind {
	ROGER_TEXT,    /* struct roger_str */
	ROGER_NAME,    /* struct roger_str: an agent, issue or run */
	ROGER_INT,     /* int64_t */
	ROGER_BOOL,    /* bool */
	ROGER_ENUM,    /* int, an index into names; where the first is "", 0 is "not given" */
	ROGER_TIME,    /* int64_t, ms since 1970 */
	ROGER_INSTANT, /* int64_t, ms since 1970; outside RFC 3339 in UTC */
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
	ROGER_OR_OFF = 1 << 6,	/* on a command line 0 switches it off, which is -1 in the struct */

	/* What it means, to all who read the fields of any verb: */
	ROGER_ISSUE = 1 << 7,	   /* unit of work */
	ROGER_RUN = 1 << 8,	   /* id of a run */
	ROGER_KEY = 1 << 9,	   /* idempotent key of a send */
	ROGER_ID = 1 << 10,	   /* ids of messages, or of entries of a log */
	ROGER_DRY_RUN = 1 << 11,   /* nothing is to change */
	ROGER_DUPLICATE = 1 << 12, /* what was asked for had been done before */
	ROGER_AMBIENT = 1 << 13,   /* on a command line ROGER_ISSUE is what is not given */
	ROGER_OF_TOOL = 1 << 14,   /* of a ROGER_TOOL; where a record marks none, all are */
	ROGER_NEGATED = 1 << 15,   /* a ROGER_BOOL whose outside form is its opposite */
	ROGER_PERSON = 1 << 16,	   /* on a command line: --as, and ROGER_AGENT does not say so */
	ROGER_SOUGHT = 1 << 17,	   /* of a request: the id of what is there, a message if nothing
				    * else is said; also as people type it: NAME#N, @last, a piece */
	ROGER_LETTER = 1 << 18,	   /* with that: a dead letter */
	ROGER_MEASURED = 1 << 19,  /* a ROGER_INT that is left out when it is ROGER_UNKNOWN */
	ROGER_WAITS = 1 << 20,	   /* a ROGER_SPAN: how long the verb waits */
	ROGER_IN_PARTS = 1 << 21,  /* with that: several short waits are one long wait */
	ROGER_ENDLESS = 1 << 22,   /* with that: 0 is for ever */
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
	ROGER_UNNOTED = 1 << 2,	     /* leaves no note of itself in the activity log */
	ROGER_EXECUTES = 1 << 3,     /* runs a program that its request names: not for strangers */
	ROGER_NO_COMMAND = 1 << 4,   /* a part of another command, such as send --batch */
	ROGER_TOOL = 1 << 5,	     /* a tool of `roger mcp`, too */
	ROGER_AGAIN = 1 << 6,	     /* to do it twice is to do it once */
	ROGER_MARKS = 1 << 7,	     /* writes nothing, but speaks for the agent */
	ROGER_ADMINISTERS = 1 << 8,  /* not for every agent; it may take minutes */
	ROGER_SLOW = 1 << 9,	     /* reads all that is stored: it may take minutes, too */
};

struct roger_op {
	const char *name;
	const char *summary;
	const char *examples; /* lines, each a command */
	unsigned flags;
	const struct roger_record *request;
	const struct roger_record *reply;
	int (*run)(struct roger *roger, const void *request, void *reply, struct roger_err *err);
	const char *tool; /* of a ROGER_TOOL: the summary in words for a model; NULL: as it is */
};

/* All verbs, in the order of ROGER_VERBS; ends with NULL. */
ROGER_API const struct roger_op *const *roger_ops(void);

/*
 * Run a verb by its description; roger may be NULL for ROGER_NO_WORKSPACE.  For those
 * who learn everything from there: request and reply are as long as it says, which
 * may be longer than a struct of this header, and so are the items of lists.
 */
ROGER_API int roger_call(struct roger *roger, const struct roger_op *op, const void *request,
			 void *ret_reply, struct roger_err *err);

#ifdef __cplusplus
}
#endif

#endif
