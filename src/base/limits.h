/*
 * limits - every bound roger keeps, with its unit and where it comes from.
 *
 * Limits that a person may change are in verbs/host with their defaults; these protect roger from
 * its input.
 */
#ifndef RG_LIMITS_H
#define RG_LIMITS_H

/* The most days a cleanup rule may be set to. */
#define RG_AGE_DAYS_CEILING 36500

/* Characters of a name of an agent, an issue or a run. */
#define RG_NAME_CHARS_MAX 128

/* The largest max_content_length, so that a line stays below the next bound. */
#define RG_CONTENT_CHARS_CEILING 1000000

/* A longer line of a journal is skipped and reported. */
#define RG_LINE_BYTES_MAX (8 << 20)

/* A longer file is not read, as it would take hours: a file with a hole may claim any length. */
#define RG_FILE_BYTES_MAX ((int64_t)1 << 38)

/* The first line of a message must be shorter by this many bytes: later lines repeat it with more
 * state. */
#define RG_STATE_BYTES_MAX (64 << 10)

/* How deep JSON that roger reads may be nested. */
#define RG_JSON_DEPTH_MAX 64

/* Sequence numbers of a sender, exact in every JSON reader (below 2^53), with room to spare. */
#define RG_SEQ_MAX ((int64_t)1 << 48)
#define RG_EPOCH_MAX ((int64_t)1 << 31)

/* Instants: up to the year 9999. */
#define RG_TIME_MS_MAX INT64_C(253402300799999)

/* Recipients of one send, and messages of one append. */
#define RG_BATCH_MAX 4096

/* Messages of one answer. */
#define RG_PAGE_MAX 1000

/* Findings that verify tells, and records. */
#define RG_FINDINGS_MAX 1000

/* Messages of one ack or nack: all that an agent is shown at once can be acked at once. */
#define RG_SETTLED_MAX 200

/* Events of one timeline. */
#define RG_EVENTS_MAX 100000

/* How long to wait for a lock before giving up with exit status 75. */
#define RG_LOCK_WAIT_MS 10000

/* A server answers a request within this time, if only with the reason why it failed; its clients
 * wait longer. */
#define RG_REQUEST_WAIT_MS 8000
#define RG_ANSWER_WAIT_MS 10000

/* How often a follower checks on its leader. */
#define RG_LEADER_CHECK_MS 20

/* A claim's lease: the default, and the longest. */
#define RG_LEASE_MS (5 * 60 * 1000)
#define RG_LEASE_MS_MAX (INT64_C(7) * 24 * 3600 * 1000)

/* The largest value of watchdog.within, and the longest extension of a run. */
#define RG_RUN_WITHIN_MS_MAX (INT64_C(30) * 24 * 3600 * 1000)
#define RG_EXTENSION_MS_MAX (INT64_C(24) * 3600 * 1000)

/* The document of a run, and a new one: the rest is for notes, so that no run gets stuck. */
#define RG_RUN_BYTES_MAX (1 << 20)
#define RG_RUN_NEW_BYTES_MAX (256 << 10)

/* How much of a configured command's output is kept. */
#define RG_COMMAND_OUTPUT_BYTES_MAX (64 << 10)

/* What `roger run` keeps of each stream of a program: the last lines, at most this many
 * characters in all, and this many of one line, and of the command. */
#define RG_TAIL_LINES_MAX 20
#define RG_TAIL_CHARS_MAX 4000
#define RG_TAIL_LINE_CHARS_MAX 500

/* How long a program has to end after it was asked to, before it is killed. */
#define RG_GRACE_MS (10 * 1000)

/* The size of an activity entry that roger writes, and of its details as JSON text. */
#define RG_ACTIVITY_BYTES_MAX (1 << 20)
#define RG_DETAILS_CHARS_MAX 65536

/* A file of other tools' entries that is imported at once. */
#define RG_IMPORT_BYTES_MAX (512 << 20)

/* How many ids the audit note of a verb names. */
#define RG_NOTED_IDS_MAX 16

/* The text of a trigger file or an ingest; the largest number of a sender in the text form. */
#define RG_TRIGGER_BYTES_MAX (4 << 20)
#define RG_EDGE_SEQ_MAX (RG_SEQ_MAX / 2)

/* A file that somebody keeps open for writing is read after this long without a change. */
#define RG_TRIGGER_STILL_MS 150

/* If the system cannot say who writes, a file counts as finished after this long. */
#define RG_TRIGGER_SILENT_MS 10000

/* The most that is taken from a file that a writer keeps open. */
#define RG_TRIGGER_HELD_BYTES_MAX (64 << 20)

/* A configuration file. */
#define RG_CONFIG_BYTES_MAX (4 << 20)

/*
 * MCP (revision 2026-07-28, "reasonable bounds"; defaults are in roger-mcp.h):
 * uris and names; ids of requests; steps of one check against a schema, and how
 * deep; answers that nobody reads; subscriptions of one client; rounds of asking;
 * values of a completion; progress notes.
 */
#define RG_MCP_URI_BYTES_MAX 2048
#define RG_MCP_NAME_BYTES_MAX 128
#define RG_MCP_ID_BYTES_MAX 256
#define RG_MCP_SCHEMA_STEPS_MAX 20000
#define RG_MCP_SCHEMA_DEPTH_MAX 128
#define RG_MCP_UNSENT_BYTES_MAX (64 << 20)
#define RG_MCP_BACKLOG_BYTES (1 << 20)
#define RG_MCP_SUBSCRIPTIONS_MAX 256
#define RG_MCP_LISTENERS_MAX 64
#define RG_MCP_ROUNDS_MAX 16
#define RG_MCP_COMPLETIONS_MAX 100
#define RG_MCP_PROGRESS_GAP_MS 20

/* YAML that roger reads: levels, and values, such as those of 10,000 groups of 20 agents. */
#define RG_YAML_DEPTH_MAX 16
#define RG_YAML_NODES_MAX (1 << 18)

#endif
