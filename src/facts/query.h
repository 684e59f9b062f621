/* query - which messages or log entries are asked for, and statistics over them. */
#ifndef RG_QUERY_H
#define RG_QUERY_H

#include "facts/log_kinds.h"

/* A query for messages; unset members do not matter. */
struct rg_query {
	const struct roger_str *ids;
	size_t id_count;
	struct roger_str piece; /* part of the id; every id is compared */
	struct roger_str issue;
	struct roger_str from;
	struct roger_str to;
	bool gets; /* with to: add mail that it took over, leave out mail that an heir gets */
	int type;  /* enum roger_type; 0: any */
	int64_t run_counter;
	bool unread;
	bool read;
	bool archived;	    /* archived messages instead of live ones */
	bool anywhere;	    /* live and archived ones */
	int64_t free_at_ms; /* not leased at that time */
	int64_t since_ms;   /* created at or after */
	int64_t until_ms;   /* created before */
	struct roger_str key;
	bool of_task;		 /* key is a task: all keys of it */
	struct roger_str cycle;	 /* with key: used in this cycle; ignored when counting */
	struct roger_str thread; /* id of any message of the thread */
	struct roger_str text;	 /* words to search for */
	bool newest;		 /* newest first */
	int64_t after; /* position to continue after, in the requested order; 0: from the start */
	int64_t limit; /* 0: no limit */
};

/* The conditions of a query, as bits. */
enum {
	RG_BY_UNREAD = 1 << 0,
	RG_BY_TO = 1 << 1,
	RG_BY_ISSUE = 1 << 2,
	RG_BY_FROM = 1 << 3,
	RG_BY_IDS = 1 << 4,
	RG_BY_LEASE = 1 << 5,
	RG_BY_OTHER = 1 << 6, /* what only the tables say */
};

static inline unsigned rg_query_by(const struct rg_query *query)
{
	const bool other = query->piece.length || query->archived || query->type ||
			   query->run_counter || query->since_ms || query->until_ms ||
			   query->key.length || query->thread.length || query->text.length ||
			   query->read || query->after;

	return (query->unread ? RG_BY_UNREAD : 0) | (query->to.length ? RG_BY_TO : 0) |
	       (query->issue.length ? RG_BY_ISSUE : 0) | (query->from.length ? RG_BY_FROM : 0) |
	       (query->id_count ? RG_BY_IDS : 0) | (query->free_at_ms ? RG_BY_LEASE : 0) |
	       (other ? RG_BY_OTHER : 0);
}

/* Does it ask only for unread messages to one agent? */
static inline bool rg_query_is_unread_only(const struct rg_query *query)
{
	return rg_query_by(query) == (RG_BY_UNREAD | RG_BY_TO);
}

/* Does it ask for live messages only by issue and type, or for all of them? */
static inline bool rg_query_is_of_issue(const struct rg_query *query)
{
	struct rg_query rest = *query;

	rest.issue.length = 0;
	rest.type = 0;
	return rg_query_by(&rest) == 0 && !query->anywhere;
}

/* Does it ask only for unread messages of an issue? */
static inline bool rg_query_is_unread_of_issue(const struct rg_query *query)
{
	return rg_query_by(query) == (RG_BY_UNREAD | RG_BY_ISSUE) && !query->anywhere;
}

/* Is the number of matches stored, so that no rows need to be counted? */
static inline bool rg_query_is_kept(const struct rg_query *query)
{
	return rg_query_is_unread_only(query) || rg_query_is_of_issue(query) ||
	       rg_query_is_unread_of_issue(query);
}

/* Copy a query, without its condition on leases. */
static inline struct rg_query rg_query_held_too(const struct rg_query *query)
{
	struct rg_query all = *query;

	all.free_at_ms = 0;
	return all;
}

/*
 * A row of the table of events: what a line says happened.  A message's rows are made
 * from its lines, and from notes that it was shown; every entry of a log has a row.
 */
enum rg_row_flag {
	RG_ROW_UNDATED = 1 << 0,  /* its time is not known: it has that of the row before */
	RG_ROW_FOREIGN = 1 << 1,  /* another program wrote the line */
	RG_ROW_HANDED = 1 << 2,	  /* read by an agent that only uses files, after the hand-out */
	RG_ROW_IN_PLACE = 1 << 3, /* acknowledged by a person in place of its recipient */
	RG_ROW_NOTE = 1 << 4,	  /* of a message, but known from the activity log */
	RG_ROW_BY_LEASE = 1 << 5, /* due when its lease ends */
	RG_ROW_REPEAT = 1 << 6,	  /* repeats or corrects what an earlier line says; or a
				   * reading that was taken back */
	RG_ROW_PLAIN = 1 << 7,	  /* an attempt without a key, or a message that stands for one */
	RG_ROW_LOOK = 1 << 8,	  /* a claim or a reading that is also the first look */
	RG_ROW_CONFLICT =
		1 << 9,	       /* refused for its key: used before for another text, or used up */
	RG_ROW_ECHO = 1 << 10, /* a note of something that another row reports */
	RG_ROW_SKIPPED = 1 << 11, /* a note of a text that was not taken in, and is kept nowhere */
	RG_ROW_COUNTED = 1 << 12, /* a note that reports count; the highest flag */
};

/* The outcome of an attempt that has none yet, beside enum roger_attempt_outcome. */
#define RG_ATTEMPT_PENDING (ROGER_ERROR + 1)

/* What an issue has that is not archived; types: how many of each.  The last two are 0
 * unless they were asked for, since all messages of the issue are gone through for them. */
struct rg_issue {
	struct roger_issue_figures figures;
	int64_t types[ROGER_DATA + 1];
	int64_t agents, newest_pass;
};
struct rg_issue_list {
	struct rg_issue *items;
	size_t count;
};

/* A query for log entries; unset members do not matter.  If entries have an id, the last one with
 * an id is its state. */
struct rg_log_query {
	enum rg_log log;
	union {
		struct roger_str columns[RG_COLUMNS];
		struct {
			struct roger_str id;
			struct roger_str owner; /* the sender; activity: the agent in details */
			struct roger_str task;	/* sends: task of its key */
			struct roger_str key, target;
			struct roger_str message; /* message id */
			struct roger_str cycle;
			struct roger_str state; /* outcome or status */
			struct roger_str kind;	/* activity: type of the action */
			struct roger_str citation;
			struct roger_str step; /* activity, with owner: rg_note_step_name() */
		};
	};
	const struct roger_str *messages; /* any of these, at most 1000 */
	size_t message_count;
	int64_t since_ms;   /* at or after */
	int64_t until_ms;   /* before */
	bool newest;	    /* newest first */
	bool by_time;	    /* order by time, not by position */
	bool last;	    /* sends: of each attempt only the last line of that time */
	int outcome;	    /* sends: enum roger_sends_outcome; 0: any */
	bool states;	    /* rg_records_read() returns the last entry of each id */
	bool plain;	    /* send logs: first copy the messages without a key into them */
	int64_t after_line; /* activity: like after, but a line number, which a rebuild keeps */
	int64_t after; /* position to continue after, in the requested order; 0: from the start */
	int64_t limit; /* 0: no limit */
	bool strays;   /* also report lines that are not entries */

	/* For rows, in no order; of log RG_LOG_MESSAGES: of messages created in since..until. */
	const int64_t *of; /* rows of these messages instead, at most 500 */
	size_t of_count;
	bool counted; /* only those that reports count */
	int open;     /* only open ones of this kind, in the order of position */
};

/* A query for events: of matching messages, or of matching entries of a log; with rows, only the
 * columns of rows, without words.  counted: with rows, these messages are counted at the same
 * moment. */
struct rg_event_query {
	const struct rg_query *messages;
	const struct rg_log_query *entries;
	const struct rg_log_query *rows;
	const struct rg_query *counted;
};

struct rg_log_entry {
	struct roger_str text; /* one JSON object */
	struct roger_str file; /* for people: the file it is in, or "" */
	int64_t line;	       /* in that file, from 1 */
	int64_t position;      /* order in the index; within one owner the order of writing */
	int64_t at_ms;
};

/* Called for each entry; true: remove it. */
typedef bool rg_log_drop(void *context, const union rg_log_record *record);

struct rg_log_entries {
	const struct rg_log_entry *items;
	size_t count;
	/* Lines that are not entries, if asked for; text is the reason. */
	const struct rg_log_entry *strays;
	size_t stray_count;
};

#endif
