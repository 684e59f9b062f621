/*
 * inside - what the files of engine/ share, and those of proof/ with them.
 */
#ifndef RG_LOCAL_ENGINE_H
#define RG_LOCAL_ENGINE_H

#include "base/id.h"
#include "engine/engine.h"
#include "store/file/tally.h"
#include "store/file/chain_check.h"
#include "index/index.h"
#include "store/file/journal.h"

/* One line to be written. */
struct rg_staged {
	struct roger_message *added; /* a new message; the caller's, gets its number */
	bool new_number;
	bool brought; /* over an edge, with this number of its own; 0: without */
	int64_t number;
	bool key_is_new;	     /* the index does not know it, up to where it was asked */
	struct roger_message before; /* otherwise: what it was, and what it becomes */
	struct roger_message after;
	size_t from;	  /* of text: where its line starts */
	size_t number_at; /* where its number belongs; SIZE_MAX: nowhere */
	size_t to;
};

struct rg_engine {
	uint64_t stored; /* how often this handle stored something */
	struct rg_workspace *workspace;
	struct rg_journal *journal;
	struct rg_index *index;

	/* The transaction: */
	bool exclusive;	    /* the change lock is held */
	bool has_looked;    /* then: what it is about was looked up */
	uint64_t adoptions; /* rg_journal_adoptions() before that */
	struct rg_staged *staged;
	size_t staged_count;
	size_t staged_capacity;
	struct rg_buf text;
	int64_t state_saved_ns; /* when this process last wrote message-state.json, or another had
				 */
	uint64_t state_written; /* what it held then */

	char trouble[400]; /* what went wrong although nothing failed */
	char damage[400];  /* what is damaged, in words */

	int folders[RG_LOGS]; /* of logs, open once they are needed; RG_NO_FILE before */
	int turns;	      /* wake.lock, likewise */
};

/* Bring the index up to what this transaction must see. */
RG_CHECKED int rg_engine_refresh(struct rg_engine *engine, struct roger_err *err);

/* archive.c: lines into messages_archive/, durable, none twice. */
RG_CHECKED int rg_engine_put_archive(struct rg_engine *engine, const struct rg_staged *staged,
				     size_t count, struct roger_err *err);
/* The line at this byte of the journal, and its message. */
RG_CHECKED int rg_engine_line_at(struct rg_engine *engine, uint64_t offset, struct rg_arena *arena,
				 struct roger_str *ret_text, struct roger_message *ret_message,
				 struct roger_err *err);
/* The message archived by the line at this byte of the journal, once more. */
RG_CHECKED int rg_engine_archive_again(struct rg_engine *engine, uint64_t offset,
				       struct roger_err *err);

/* How a line of a message starts: up to and with its id; false: it is not one of roger's. */
static inline bool rg_archive_head(struct roger_str line, uint64_t *ret_hash)
{
	static const char next[] = ",\"issue_id\":";
	const char *end =
		line.length ? memmem(line.data, line.length, next, sizeof next - 1) : NULL;

	if (end)
		*ret_hash = rg_hash(0, line.data, (size_t)(end - line.data));
	return end != NULL;
}

/* state.c: message-state.json. */
#define RG_STATE_NAME "message-state.json"
RG_CHECKED int rg_engine_prepare_epoch(struct rg_engine *engine, struct roger_err *err);
bool rg_engine_prepared(struct rg_engine *engine);
/* Where another program cleared the document, as seed 002 has it, a new session begins. */
RG_CHECKED int rg_engine_follow_clearing(struct rg_engine *engine, struct roger_err *err);
void rg_engine_want_state(struct rg_engine *engine, bool seen);
void rg_engine_save_state(struct rg_engine *engine, bool closing);

/*
 * logs.c: the logs.  What the journal says was delivered up to its byte
 * end goes into the send logs; after the sync, and never its failure.
 */
void rg_engine_log_sends(struct rg_engine *engine, uint64_t end);
bool rg_engine_has_sends(const struct rg_engine *engine);
/* Nothing from start to end concerns them. */
void rg_engine_pass_over(struct rg_engine *engine, uint64_t start, uint64_t end);
RG_CHECKED int rg_engine_read_log(struct rg_engine *engine, const struct rg_log_query *query,
				  struct rg_arena *arena, struct rg_log_entries *ret_entries,
				  struct roger_err *err);
/* As rg_engine_log_append(), for what no caller asked for: it does not count as stored. */
RG_CHECKED int rg_engine_log_add(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
				 struct roger_str entries, bool durable, struct roger_err *err);
/* Add the files that a log stands in now, of one owner or of all, to files. */
RG_CHECKED int rg_engine_log_files(struct rg_engine *engine, enum rg_log log,
				   struct roger_str owner, struct rg_arena *arena,
				   struct rg_log_files *files, struct roger_err *err);
/* Bring them up to the synced end, within records_begin and _end; *ret_to: how far they are. */
RG_CHECKED int rg_engine_carry(struct rg_engine *engine, bool anew, uint64_t *ret_to,
			       struct roger_err *err);

/* What message-state.json says of the journal, for a control file that is made anew. */
void rg_engine_recall(void *context, struct rg_witness *ret_witness);
/* After lines were lost: numbers that were given stay used, and the document goes on from here. */
RG_CHECKED int rg_engine_stay_used(struct rg_engine *engine, struct roger_err *err);

/* damage.c: damage.jsonl, what was found and what a person has accepted. */
bool rg_engine_count_damages(struct rg_engine *engine);
/* The control file says that the journal is not what it was: find out how, and note it.  False:
 * it says no such thing, or somebody has looked. */
bool rg_engine_look_at_damage(struct rg_engine *engine);
/* Are the last lines still those that were appended? */
RG_CHECKED int rg_engine_check_end(struct rg_engine *engine, struct roger_err *err);
/* Into to, for people; "" where all is well. */
void rg_engine_tell_damage(struct rg_engine *engine, char *to, size_t size);

/* proof/walk.c: all journals, and every line of one with its chain followed. */
/* All that are chained; messages.jsonl is the first. */
RG_CHECKED int rg_engine_journals(struct rg_engine *engine, struct rg_arena *arena,
				  struct rg_log_files *ret_journals, struct roger_err *err);

/*
 * Ready to be gone through; of messages.jsonl what is synced.  *ret_there false:
 * it went away.  ROGER_EREFUSED: there is something else in its place.
 */
RG_CHECKED int rg_engine_journal_open(struct rg_engine *engine, struct rg_log_file *journal,
				      bool *ret_there, struct roger_err *err);
/* Keep to what a file holds now, whatever comes to it before it is opened. */
RG_CHECKED int rg_engine_journal_measure(struct rg_engine *engine, struct rg_log_file *journal,
					 struct roger_err *err);
void rg_engine_journal_close(struct rg_log_file *journal);

/* What does not fit, and by what it was found. */
enum rg_misfit_by {
	RG_MISFIT_IN_CHAIN,
	RG_MISFIT_IN_LINE, /* the line is no entry */
	RG_MISFIT_AT_END,  /* an unfinished line */
	RG_MISFIT_BEFORE,  /* noted, and nothing else shows it */
};
struct rg_misfit {
	enum roger_finding_kind kind;
	enum rg_misfit_by by;
	int64_t line;
	uint64_t byte;
	const char *what;
};

/* Is that damage, and not just something to know? */
static inline bool rg_finding_is_damage(enum roger_finding_kind kind)
{
	return kind == ROGER_ALTERED || kind == ROGER_UNREADABLE || kind == ROGER_TRUNCATED ||
	       kind == ROGER_MISSING;
}

/* Who goes through journals.  NULL: does not care. */
struct rg_walk;
struct rg_visitor {
	const char *name; /* for whoever is told how far it is */
	int (*line)(void *context, struct rg_walk *walk, struct roger_err *err);
	int (*found)(void *context, struct rg_walk *walk, const struct rg_misfit *found,
		     struct roger_err *err);
	int (*end)(void *context, struct rg_walk *walk, struct roger_err *err);
	/* Something else than a file is in its place; NULL: that is an error. */
	int (*unread)(void *context, const struct rg_log_file *file, const char *why,
		      struct roger_err *err);
};

struct rg_judge;
struct rg_walk {
	struct rg_engine *engine;
	const struct rg_log_file *file;
	const struct rg_visitor *visitor;
	struct rg_judge *judge;
	void *context;
	struct rg_lines lines;
	struct rg_decoder *decoder; /* of messages */
	struct rg_chain_check chain;
	struct rg_arena *scratch; /* of one line */

	/* The line: */
	int64_t number;
	struct rg_line line;
	bool own;			     /* its chain fits: roger wrote it */
	const struct roger_message *message; /* that it holds; NULL: none */
	bool is_entry;			     /* of another journal: record holds it */
	union rg_log_record record;
	struct rg_chain_finding finding;

	/* For who judges: */
	int64_t last_own;  /* the last line that was roger's and cannot be read */
	int64_t last_hole; /* the last one with NULs in it */
};

/*
 * Show each line of a journal to visitor, and what does not fit; without judge,
 * who says what that is, nobody asks what lines mean.  *ret_there false: it went
 * away, or another file has its name.
 */
RG_CHECKED int rg_walk(struct rg_engine *engine, struct rg_log_file *file,
		       const struct rg_visitor *visitor, struct rg_judge *judge, void *context,
		       bool *ret_there, struct roger_err *err);

/*
 * What of all that does not fit is damage, and what of that a person has
 * accepted: for verify and doctor, while each journal is walked through.
 */
struct rg_judge {
	struct roger_damages damages; /* that were noted or accepted before */
	bool *told;
	bool closed; /* the gap that was told last was written down before */
};
RG_CHECKED int rg_judge_init(struct rg_judge *judge, struct rg_engine *engine,
			     struct rg_arena *arena, struct roger_err *err);

/* A line that is no entry: was it one of roger's?  In messages.jsonl, that is. */
bool rg_judge_line(struct rg_judge *judge, struct rg_walk *walk, enum roger_finding_kind *ret_kind);
/* What the chain brought to light: false where there is nothing to tell. */
bool rg_judge_finding(struct rg_judge *judge, const struct rg_walk *walk,
		      enum roger_finding_kind *ret_kind, const char **what);
/* Write down that the gap which was just found is one. */
RG_CHECKED int rg_judge_close(const struct rg_walk *walk, struct rg_arena *arena,
			      struct roger_err *err);
/* Has a person accepted that messages are not what they were?  Then other files tell more than
 * they. */
bool rg_judge_lost_messages(const struct rg_judge *judge, const struct rg_engine *engine);
/* Damage that was noted of a journal, and did not come up; NULL at the end. */
const struct roger_damage *rg_judge_next(struct rg_judge *judge, struct roger_str file, size_t *i,
					 enum roger_finding_kind *ret_kind);

/* proof/digests.c */
enum rg_seal_state { RG_SEAL_NONE, RG_SEAL_WHOLE, RG_SEAL_NO_PUBLIC, RG_SEAL_WRONG };
RG_CHECKED int rg_engine_seal_state(struct rg_engine *engine, struct rg_arena *arena,
				    enum rg_seal_state *ret_state, struct roger_err *err);

#endif
