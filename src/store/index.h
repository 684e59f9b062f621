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
#include "store/journal.h"
#include "systems/query.h"

struct rg_index;

/* Where a message's last line stands. */
struct rg_entry {
	int64_t position;
	uint64_t offset;
	size_t length;
};

struct rg_entries {
	const struct rg_entry *items;
	size_t count;
};

/*
 * An index of the journal, in the same folder, whose absolute path is given.
 * Nothing is opened before the first question.
 */
RG_CHECKED int rg_index_new(struct rg_journal *journal, int folder, const char *folder_path,
			    const char *name, struct rg_index **ret_index, struct roger_err *err);
struct rg_index *rg_index_free(struct rg_index *index);

void rg_index_on_progress(struct rg_index *index, roger_progress *tell, void *context);

/* Take in the journal up to end. */
RG_CHECKED int rg_index_refresh(struct rg_index *index, uint64_t end, struct roger_err *err);

/* Make it anew from the journal up to end, into a new file that then takes its name. */
RG_CHECKED int rg_index_rebuild(struct rg_index *index, uint64_t end, struct roger_err *err);

/* How far the file says it has read, without bringing it up to date; 0: it does not say. */
uint64_t rg_index_peek(struct rg_index *index);

bool rg_index_tell(struct rg_index *index, const char *what, int64_t done, int64_t total);

/* How far it has read. */
uint64_t rg_index_end(const struct rg_index *index);

/* Why an index in memory answers; "" when the file does. */
const char *rg_index_trouble(const struct rg_index *index);

/* Does the last failure mean that the file is damaged or strange, and not just unusable now? */
bool rg_index_damaged(const struct rg_index *index);

/* ----------------------------------------------------------- questions -- */

RG_CHECKED int rg_index_find(struct rg_index *index, const struct rg_query *query,
			     struct rg_arena *arena, struct rg_entries *ret_entries,
			     struct roger_err *err);
RG_CHECKED int rg_index_count(struct rg_index *index, const struct rg_query *query,
			      int64_t *ret_count, struct roger_err *err);
RG_CHECKED int rg_index_agents(struct rg_index *index, int64_t epoch, struct rg_arena *arena,
			       struct roger_agent_list *ret_agents, struct roger_err *err);
RG_CHECKED int rg_index_issues(struct rg_index *index, struct rg_arena *arena,
			       struct roger_strs *ret_issues, struct roger_err *err);
RG_CHECKED int rg_index_figures(struct rg_index *index, struct rg_figures *ret_figures,
				struct roger_err *err);

/* Counters and last seen of an epoch, for message-state.json. */
struct rg_sequence;
RG_CHECKED int rg_index_sequence(struct rg_index *index, int64_t epoch,
				 struct rg_sequence *sequence, struct roger_err *err);

#endif
