/*
 * index - messages.db: what the journal says, ready for questions.
 *
 * Derived only.  It remembers how far it has read the journal and takes in the
 * rest before it answers; it is made anew when it is missing, damaged, of
 * another version, of another journal, or was last written before the machine
 * started (it is not synced, so a power cut may have torn it).  Where it
 * cannot be written (full or read-only disk, something else under its name)
 * an index in memory answers in its place.  The seed's table and indexes stand
 * as they are; all else is in tables of our own.
 *
 * A message's position is the number of the line where it first stood; order
 * is the order of positions.
 */
#ifndef RG_INDEX_H
#define RG_INDEX_H

#include "base/arena.h"
#include "store/file/journal.h"
#include "facts/query.h"

struct rg_index;

/* Where a message's last line stands. */
struct rg_entry {
	int64_t position;
	int64_t line; /* of its state; 0: not known */
	uint64_t offset;
	size_t length;
};

/* Where a line of the journal stands that was taken in, by its number from 1. */
struct rg_index;
RG_CHECKED int rg_index_line(struct rg_index *index, int64_t line, struct rg_entry *ret_entry,
			     struct roger_err *err);

struct rg_entries {
	const struct rg_entry *items;
	size_t count;
};

/*
 * An index of the journal, in the same folder, whose absolute path is given.
 * Nothing is opened before the first question.  placed: a configuration says
 * where, so that what stands there is replaced only when it is an index.
 */
RG_CHECKED int rg_index_new(struct rg_journal *journal, int folder, const char *folder_path,
			    const char *name, bool placed, struct rg_index **ret_index,
			    struct roger_err *err);
struct rg_index *rg_index_free(struct rg_index *index);

void rg_index_on_progress(struct rg_index *index, roger_progress *tell, void *context);

/* What ends later than that from now is no lease. */
void rg_index_bound_leases(struct rg_index *index, int64_t lease_ms_max);

/* Take in the journal up to end. */
RG_CHECKED int rg_index_refresh(struct rg_index *index, uint64_t end, struct roger_err *err);

/*
 * Make it anew from the journal up to end, into a new file that then takes its
 * name; messages.db too, where others have changed it, or all is to be new.
 */
RG_CHECKED int rg_index_rebuild(struct rg_index *index, uint64_t end, bool all,
				struct roger_err *err);

/* Bring messages.db up to where the index is, if it is sound and nobody else is at it. */
void rg_index_bring_seed_up(struct rg_index *index);

/* How far the file says it has read, without bringing it up to date; 0: it does not say. */
uint64_t rg_index_peek(struct rg_index *index);

bool rg_index_tell(struct rg_index *index, const char *what, int64_t done, int64_t total);

/* How far it has read: bytes, lines, and those of them that are no messages. */
uint64_t rg_index_end(const struct rg_index *index);
int64_t rg_index_line_count(const struct rg_index *index);
int64_t rg_index_stray_count(const struct rg_index *index);

/* Its file. */
const char *rg_index_name(const struct rg_index *index);

/* Why an index in memory answers; "" when the file does. */
const char *rg_index_trouble(const struct rg_index *index);

/*
 * After a question: did it fail since the index is damaged?  Then it is rebuilt, and the question
 * is to be asked again; the questions below do so by themselves.  *tries starts at 0.
 */
bool rg_index_heals(struct rg_index *index, int *tries, int *r, struct roger_err *err);

/* The journal does not say what it says: from now on it counts as damaged. */
void rg_index_doubt(struct rg_index *index);

/* The same, with the error to return: about a message, by its id, or about a file. */
int rg_index_wrong(struct rg_index *index, struct roger_str about, struct roger_err *err);

/* ----------------------------------------------------------- questions -- */

RG_CHECKED int rg_index_find(struct rg_index *index, const struct rg_query *query,
			     struct rg_arena *arena, struct rg_entries *ret_entries,
			     struct roger_err *err);
/*
 * The messages themselves, read from the journal; ret_total, which may be NULL: how many there
 * are whatever the limit and held or not (not by words, and from the start).
 */
RG_CHECKED int rg_index_messages(struct rg_index *index, const struct rg_query *query,
				 struct rg_arena *arena, struct roger_messages *ret_messages,
				 int64_t *ret_total, struct roger_err *err);
RG_CHECKED int rg_index_count(struct rg_index *index, const struct rg_query *query,
			      int64_t *ret_count, struct roger_err *err);
RG_CHECKED int rg_index_agents(struct rg_index *index, int64_t epoch, struct rg_arena *arena,
			       struct roger_agent_list *ret_agents, struct roger_err *err);
RG_CHECKED int rg_index_issues(struct rg_index *index, struct rg_arena *arena,
			       struct roger_strs *ret_issues, struct roger_err *err);
RG_CHECKED int rg_index_figures(struct rg_index *index, struct rg_figures *ret_figures,
				struct roger_err *err);

/* ---------------------------------------------------------------- logs -- */

/* A file of a journal.  What is behind shown is for whoever goes through it. */
struct rg_log_file {
	enum rg_log log;
	int folder;
	struct roger_str name;	/* in the folder */
	struct roger_str shown; /* for people: from the workspace's data folder */
	int file;		/* open while it is gone through; that of messages always is */
	uint64_t end;		/* and so far */
	uint64_t size;		/* of the file then */
	uint64_t inode;		/* with measured: of this file; 0: it was not there */
	bool measured;		/* end was set before */
	bool limited;		/* end is at most: */
	uint64_t most;
};

struct rg_log_files {
	struct rg_log_file *items;
	size_t count;
};

/* Take in what these files hold; an index that was asked for messages need not be refreshed. */
RG_CHECKED int rg_index_refresh_logs(struct rg_index *index, const struct rg_log_files *files,
				     struct roger_err *err);

/* Entries of these files; memory from arena. */
RG_CHECKED int rg_index_find_log(struct rg_index *index, const struct rg_log_query *query,
				 const struct rg_log_files *files, struct rg_arena *arena,
				 struct rg_log_entries *ret_entries, struct roger_err *err);

/* Messages, archived ones too, created at since and before until (0: open), in no order. */
RG_CHECKED int rg_index_survey(struct rg_index *index, int64_t since_ms, int64_t until_ms,
			       rg_survey_see *see, void *context, struct roger_err *err);

/* Ids of unread messages whose lease, or whose time to be read, ended before now. */
RG_CHECKED int rg_index_overdue(struct rg_index *index, int64_t now_ms, int64_t limit,
				struct rg_arena *arena, struct roger_strs *ret_ids,
				struct roger_err *err);

/*
 * What the file holds, summed up, as it stands: nothing is taken in, nothing is
 * made.  It is begun, goes on by itself on a second thread, and is waited for.
 */
struct rg_index_summing;
struct rg_message_sums;

/* The same of messages.db. */
struct rg_table_sums {
	bool valid; /* roger would go on with it */
	bool done;  /* and could read it */
	bool damaged;
	int64_t offset; /* how far it has read */
	int64_t messages, rows;
};
RG_CHECKED int rg_index_sum(struct rg_index *index, struct rg_index_summing **ret_summing,
			    struct roger_err *err);
struct rg_index_summing *rg_index_summing_free(struct rg_index_summing *summing);

/* How far it has read; 0: there is none to sum up, or the next question makes it anew. */
int64_t rg_index_summing_end(const struct rg_index_summing *summing);

/* ROGER_EDATA: it is damaged; err says how.  *ret_done false: it could not be read now. */
RG_CHECKED int rg_index_summed(struct rg_index_summing *summing, struct rg_message_sums *ret_sums,
			       struct rg_table_sums *ret_table, bool *ret_done,
			       struct roger_err *err);

/* The highest number of sender that reader accepted, or that came in over an edge, in an epoch. */
RG_CHECKED int rg_index_mark(struct rg_index *index, struct roger_str reader,
			     struct roger_str sender, int64_t epoch, int64_t *ret_number,
			     struct roger_err *err);

/* Counters and last seen of an epoch, for message-state.json. */
struct rg_sequence;
RG_CHECKED int rg_index_sequence(struct rg_index *index, int64_t epoch,
				 struct rg_sequence *sequence, struct roger_err *err);

#endif
