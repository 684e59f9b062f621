/*
 * query - which messages or entries of logs somebody asks for, and figures.
 */
#ifndef RG_QUERY_H
#define RG_QUERY_H

#include "facts/kinds.h"

/* Which messages; unset members do not matter. */
struct rg_query {
	const struct roger_str *ids;
	size_t id_count;
	struct roger_str issue;
	struct roger_str from;
	struct roger_str to;
	int type; /* enum roger_type + 1 */
	int64_t run_counter;
	bool unread;
	bool read;
	bool archived;	    /* those in place of the living */
	bool anywhere;	    /* with ids, key or thread: the living and the archived */
	int64_t free_at_ms; /* no lease is held on them at that time */
	int64_t since_ms;   /* created at or after */
	int64_t until_ms;   /* created before */
	struct roger_str key;
	struct roger_str cycle;	 /* with key: used in this cycle; not for counting */
	struct roger_str thread; /* id of any message of a thread */
	struct roger_str text;	 /* words, full-text */
	bool newest;		 /* newest first */
	int64_t after;		 /* position, in the order asked for; 0: from the start */
	int64_t limit;		 /* 0: all */
};

/* Nothing but "unread, to this agent"? */
static inline bool rg_query_is_unread_only(const struct rg_query *query)
{
	return query->unread && query->to.length && !query->id_count && !query->issue.length &&
	       !query->from.length && !query->type && !query->run_counter && !query->read &&
	       !query->archived && !query->free_at_ms && !query->since_ms && !query->until_ms &&
	       !query->key.length && !query->thread.length && !query->text.length && !query->after;
}

/* The same, and whether a lease is held on them does not matter. */
static inline struct rg_query rg_query_held_too(const struct rg_query *query)
{
	struct rg_query all = *query;

	all.free_at_ms = 0;
	return all;
}

struct rg_figures {
	int64_t messages, unread, archived, agents, issues, strays;
	int64_t by_type[4];
	int64_t epoch, journal_bytes, journal_lines, oldest_at_ms, newest_at_ms;
};

/* One message among many, without its text. */
struct rg_survey_row {
	struct roger_str id, from, to;
	bool read;
	bool claimed; /* is held, or was, and is not read */
	bool archived;
	int64_t created_at_ms;
	int64_t read_at_ms; /* 0: not read, or not known */
};

/*
 * Shown each row of a survey; what it returns, when negative, ends it.  NULL:
 * what was shown so far does not count, all comes again from the start.
 */
typedef int rg_survey_see(void *context, const struct rg_survey_row *row, struct roger_err *err);

/*
 * Which entries of a log; unset members do not matter.  Where entries carry an
 * id, the last one for it is its state.
 */
struct rg_log_query {
	enum rg_log log;
	union {
		struct roger_str columns[RG_COLUMNS];
		struct {
			struct roger_str id;
			struct roger_str owner; /* sends: of this sender's log; activity: the agent
						   of its details */
			struct roger_str task;	/* sends: of its key */
			struct roger_str key, target;
			struct roger_str message; /* its id */
			struct roger_str cycle;
			struct roger_str state; /* outcome, status */
			struct roger_str kind;	/* activity: type of the action */
			struct roger_str citation;
			struct roger_str step; /* activity, with owner: rg_note_step_name() */
		};
	};
	const struct roger_str *messages; /* any of these, at most 1000 */
	size_t message_count;
	int64_t since_ms; /* at or after */
	int64_t until_ms; /* before */
	bool newest;	  /* newest first */
	bool states;	  /* for rg_records_read() */
	bool plain;	  /* sends: first bring in the messages without a key */
	int64_t after;	  /* position, in the order asked for; 0: from the start */
	int64_t limit;	  /* 0: all */
	bool strays;	  /* tell lines that are no entries, too */
};

struct rg_log_entry {
	struct roger_str text; /* one JSON object */
	struct roger_str file; /* where it stands, for people; "" where there are no files */
	int64_t line;	       /* in that file, from 1 */
	int64_t position;      /* order of taking in; within one owner that of writing */
	int64_t at_ms;
};

/* Shall this entry of a log be left out? */
typedef bool rg_log_drop(void *context, const union rg_log_record *record);

struct rg_log_entries {
	const struct rg_log_entry *items;
	size_t count;
	/* Lines that are no entries, the first of the log, when asked for: text is why. */
	const struct rg_log_entry *strays;
	size_t stray_count;
};

#endif
