/*
 * index - messages.db-index: the content of the journals, ready for queries.
 *
 * It can be rebuilt at any time.  It remembers how far it has read the journal and
 * reads the rest before it answers.  After a restart of the machine it is as the last
 * checkpoint left it.  It is rebuilt if it is missing, damaged, of another version or
 * journal, or had no checkpoint before a restart.  If it cannot be written (full
 * or read-only disk, something else under its name) an index in memory answers
 * instead. messages.db, with the table and indexes of seed 004, follows it for
 * other programs.
 *
 * A message's position is the number of its first line; messages are ordered by
 * position.
 */
#ifndef RG_INDEX_H
#define RG_INDEX_H

#include "base/arena.h"
#include "base/id.h"
#include "store/later.h"
#include "store/store.h"
#include "facts/history.h"
#include "facts/watchdog.h"

struct rg_index;

/* Where the current line of a message is. */
struct rg_entry {
	int64_t position;
	int64_t line; /* line number of its current state; 0: unknown */
	uint64_t offset;
	size_t length;
	bool hashed; /* hash is set: rg_message_hash() of its first line */
	uint64_t hash;
	struct rg_place first; /* that line */
};

/* Find the first line of a message, living or archived; position 0: none was read. */
struct rg_index;
RG_CHECKED int rg_index_find_first(struct rg_index *index, struct roger_str id,
				   struct rg_entry *ret_first, struct roger_err *err);

struct rg_entries {
	const struct rg_entry *items;
	size_t count;
};

struct rg_workspace;

/* Create an index of a store's journals in the workspace's data folder.  Opens nothing before the
 * first query.  Leases that end later than the configuration lets them are ignored.  The workspace
 * must outlive the index. */
RG_CHECKED int rg_index_new(struct rg_store *store, const struct rg_workspace *workspace,
			    struct rg_index **ret_index, struct roger_err *err);
struct rg_index *rg_index_free(struct rg_index *index);

void rg_index_on_progress(struct rg_index *index, roger_progress *tell, void *context);

/* Read the journal up to byte end. */
RG_CHECKED int rg_index_refresh(struct rg_index *index, uint64_t end, struct roger_err *err);

/* Rebuild it from the journal up to end, in a new file that replaces the old one, and messages.db
 * from it.  told (may be NULL): journals whose events it makes, limited as below. */
RG_CHECKED int rg_index_rebuild(struct rg_index *index, uint64_t end,
				const struct rg_log_files *told, struct roger_err *err);

/* Make durable what the index has read, if that is on disk. */
void rg_index_checkpoint(struct rg_index *index);

/* index_runs.c: read the closed runs that were stored; needs an up-to-date index. */
RG_CHECKED int rg_index_closed_runs(struct rg_index *index, struct rg_arena *arena,
				    struct rg_closed_runs *ret_runs, struct roger_err *err);
/* Store closed runs; stamp 0: delete it.  Does nothing while another process writes the index. */
void rg_index_keep_closed_runs(struct rg_index *index, const struct rg_closed_runs *runs);

/* After an answer, bring messages.db up to byte end of the journal, for other programs: at once if
 * the answer needed the tables and changed nothing, or if many messages were changed; else at most
 * once a second.  False: not now, or not all.  told (from a handle that changed many messages):
 * also bring up the table of events from these journals, and take more at once. */
bool rg_index_serve(struct rg_index *index, uint64_t end, bool changed,
		    const struct rg_log_files *told);
void rg_index_bring_seed_up(struct rg_index *index);

/* How far the file says it has read, without updating it; 0: unknown. */
uint64_t rg_index_peek(struct rg_index *index);

bool rg_index_report_progress(struct rg_index *index, const char *what, int64_t done,
			      int64_t total);

/* List the lines of the journal that rewrite members of messages; of equal rewrites, the first. */
RG_CHECKED int rg_index_rewrites(struct rg_index *index, struct roger_str journal,
				 struct rg_arena *arena, struct roger_finding_list *ret_rewrites,
				 struct roger_err *err);

/* How far its last answer reached, in bytes. */
uint64_t rg_index_seen(const struct rg_index *index);

/* How far the journal was read: the columns of the only row of table progress. */
struct rg_index_progress {
	int64_t offset;
	int64_t lines;
	int64_t strays; /* lines that are not messages */
	int64_t archived;
	int64_t last_offset; /* last line read, to recognize the journal */
	int64_t last_length;
	int64_t last_hash;
	int64_t search_to; /* positions up to here are in the full-text table */
	int64_t seed_to;   /* lines up to this one are in messages.db */
	int64_t seed_at;   /* when messages.db was written, in ms since 1970 */
	int64_t key;	   /* random: key of the hashes of first lines */
	int64_t rewrites;  /* members that later lines rewrite */
	int64_t altered;   /* rg_altered.mark of the lines that were left out */
	int64_t strange;   /* messages with ids that rg_id_new() does not make */
};
const struct rg_index_progress *rg_index_progress(const struct rg_index *index);

/* How far the index has read the journal, in bytes. */
uint64_t rg_index_end(const struct rg_index *index);

/* The file's name. */
const char *rg_index_name(const struct rg_index *index);

/* Why an index in memory answers; "" if the file does. */
const struct roger_err *rg_index_trouble(const struct rg_index *index);

/* After a failed query: was a damaged index the cause?  Then it is rebuilt and the caller repeats
 * the query; the functions below do so themselves.  *tries starts at 0. */
bool rg_index_heals(struct rg_index *index, int *tries, int *r, struct roger_err *err);

/* Index and journal disagree: rebuild before the next answer. */
void rg_index_doubt(struct rg_index *index);

/* Like rg_index_doubt(); returns the error.  about: a message id or a file. */
int rg_index_wrong(struct rg_index *index, struct roger_str about, struct roger_err *err);

/* ----------------------------------------------------------- questions -- */

/* Find messages.  ret_total (may be NULL): the number of matches regardless of limit and leases;
 * not for a text search, and only for the first page. */
RG_CHECKED int rg_index_find(struct rg_index *index, const struct rg_query *query,
			     struct rg_arena *arena, struct rg_entries *ret_entries,
			     int64_t *ret_total, struct roger_err *err);
/* Like rg_index_find(), and read them from the journal. */
RG_CHECKED int rg_index_messages(struct rg_index *index, const struct rg_query *query,
				 struct rg_arena *arena, struct roger_message_list *ret_messages,
				 int64_t *ret_total, struct roger_err *err);
RG_CHECKED int rg_index_count(struct rg_index *index, const struct rg_query *query,
			      int64_t *ret_count, struct roger_err *err);

/* How far an answer must reach; held: the change lock is held, so others wait. */
struct rg_index_reach {
	uint64_t end;
	bool held;
};

/* Like rg_index_refresh() and then rg_index_messages() or, without ret_messages, rg_index_count();
 * but a question about a mailbox or ids is answered without reading the journal into the tables,
 * unless it has grown much. */
RG_CHECKED int rg_index_answer(struct rg_index *index, struct rg_index_reach reach,
			       const struct rg_query *query, struct rg_arena *arena,
			       struct roger_message_list *ret_messages, int64_t *ret_total,
			       struct roger_err *err);
/* Prepare for rg_index_answer() (query NULL: any): do what takes long now, if possible. */
void rg_index_follow(struct rg_index *index, uint64_t end, const struct rg_query *query);

RG_CHECKED int rg_index_agents(struct rg_index *index, int64_t epoch, struct roger_str after,
			       int64_t limit, struct rg_arena *arena,
			       struct roger_agent_list *ret_agents, struct roger_err *err);
/* List issues with messages, at least `unread` of them unread, by name; unread -1: every issue that
 * ever had a message. */
RG_CHECKED int rg_index_issues(struct rg_index *index, int64_t unread, struct rg_arena *arena,
			       struct roger_strs *ret_issues, struct roger_err *err);
/* Measure one issue, or, for "", each that has living messages; the list is empty if there is no
 * such issue.  whole: go through its messages, too. */
RG_CHECKED int rg_index_measure(struct rg_index *index, struct roger_str issue, bool whole,
				struct rg_arena *arena, struct rg_issue_list *ret_issues,
				struct roger_err *err);

/* Fill in the figures that the index has. */
RG_CHECKED int rg_index_figures(struct rg_index *index, struct roger_stats_reply *reply,
				struct roger_err *err);

/* ---------------------------------------------------------------- logs -- */

/* Find entries of these files, and read new ones first; memory from arena. */
RG_CHECKED int rg_index_find_log(struct rg_index *index, const struct rg_log_query *query,
				 const struct rg_log_files *files, struct rg_arena *arena,
				 struct rg_log_entries *ret_entries, struct roger_err *err);

/* Show events, after reading into their table what these journals have and it lacks;
 * rg_store_messages means the messages that the tables have.  *ret_count: how many messages,
 * or entries, match, or how many are `counted`.  Here and above, the file of notes must be limited
 * to what it had before the tables were brought up to date, since notes tell of messages. */
RG_CHECKED int rg_index_events(struct rg_index *index, const struct rg_event_query *query,
			       const struct rg_log_files *files, rg_event_see *see, void *context,
			       int64_t *ret_count, struct roger_err *err);

/* Find the first name, from this one on, that sent with a key; "": none. */
RG_CHECKED int rg_index_next_keyed(struct rg_index *index, struct roger_str from,
				   struct rg_arena *arena, struct roger_str *ret_sender,
				   struct roger_err *err);

/* Find unread messages whose lease, or time to be read, ended before now, or whose lease ends later
 * than any lease given by now can.  untold: leave out those that the table of events, as it is,
 * reports as not read in time. */
RG_CHECKED int rg_index_overdue(struct rg_index *index, int64_t now_ms, bool untold, int64_t limit,
				struct rg_arena *arena, struct roger_strs *ret_ids,
				struct roger_err *err);

/* Numbers that doctor compares with those computed from the journal.  Six of them, which must be
 * 0, count the rows of other tables that contradict the table of messages. */
enum rg_index_rule {
	RG_RULE_LINES,
	RG_RULE_STRAYS,
	RG_RULE_STRANGE, /* messages with ids of another program's */
	RG_RULE_MESSAGES,
	RG_RULE_KEYS,
	RG_RULE_REPLIES,
	RG_RULE_SEEN, /* sum of pairs of reader and sender, and of their numbers */
	RG_RULE_EDGES,
	RG_RULE_STATES, /* sum of rg_index_state() of all messages; may overflow */
	RG_RULE_AGENTS,
	RG_RULE_ISSUES,
	RG_RULE_BYTES,
	RG_RULE_UNREAD,
	RG_RULE_SPANS,
	RG_RULE_TABLE,	    /* how many rows messages.db has */
	RG_RULE_TABLE_ROWS, /* sum of rg_message_row_hash() of its rows, in 32 bits */
	RG_RULE_TABLE_CODE, /* 1: messages.db has a view or trigger; roger makes none */
	RG_RULES
};
struct rg_index_sums {
	int64_t offset; /* bytes of the journal read */
	int64_t all[RG_RULES];
};

/* Hash the state of a message, by a hash of its id: its first and last line (0: archived), and
 * whether it was read. */
static inline uint64_t rg_index_state(uint64_t id, int64_t line, int64_t last, bool read)
{
	const int64_t state[] = { line, last, read };

	return rg_hash(id, state, sizeof state);
}

/* Start to check the rules on a second thread, over the files as they are, without reading in or
 * rebuilding; rg_index_checked() waits for it.  key: of the hashes of ids. */
struct rg_index_checking;
RG_CHECKED int rg_index_check(struct rg_index *index, uint64_t key,
			      struct rg_index_checking **ret_checking, struct roger_err *err);
struct rg_index_checking *rg_index_checking_free(struct rg_index_checking *checking);

/* How far the checked index has read; 0: there is none, or the next query would rebuild it. */
int64_t rg_index_checking_end(const struct rg_index_checking *checking);

/* Wait for the result, and report each rule by which a file differs from the journal, up to where
 * that file was read.  table: it is messages.db. */
typedef int rg_index_differs(void *context, bool table, const char *what, struct roger_err *err);
RG_CHECKED int rg_index_checked(struct rg_index_checking *checking,
				const struct rg_index_sums *journal, rg_index_differs *differs,
				void *context, struct roger_err *err);

/* Fill in when each agent last looked at its mail here, or read some by a line of roger's; 0:
 * never.  Agents in elsewhere read in files, so their reading is no look.  files: the activity
 * log. */
RG_CHECKED int rg_index_last_looks(struct rg_index *index, const struct rg_log_files *files,
				   struct roger_strs elsewhere, struct roger_agent *agents,
				   size_t count, struct roger_err *err);

/* Find the highest number of sender in an epoch that reader accepted, or that came over an edge. */
RG_CHECKED int rg_index_accepted_number(struct rg_index *index, struct roger_str reader,
					struct roger_str sender, int64_t epoch, int64_t *ret_number,
					struct roger_err *err);

/* Collect accepted numbers of an epoch, and some counters, for message-state.json. */
struct rg_sequence;
RG_CHECKED int rg_index_sequence(struct rg_index *index, int64_t epoch,
				 struct rg_sequence *sequence, struct roger_err *err);

#endif
