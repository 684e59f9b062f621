/*
 * query - which messages somebody asks for, and figures about all of them.
 */
#ifndef RG_QUERY_H
#define RG_QUERY_H

#include "base/str.h"

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

struct rg_figures {
	int64_t messages, unread, archived, agents, issues, strays;
	int64_t by_type[4];
	int64_t epoch, journal_bytes, journal_lines, oldest_at_ms, newest_at_ms;
};

#endif
