/* inside - what the files of engine/ share with each other, and with those of proof/ (doctor). */
#ifndef RG_LOCAL_ENGINE_H
#define RG_LOCAL_ENGINE_H

#include "base/id.h"
#include "base/table.h"
#include "engine/engine.h"
#include "facts/message_rules.h"
#include "index/index.h"
#include "store/chain_check.h"
#include "store/damages.h"
#include "store/later.h"
#include "store/chain.h"
#include "store/tally.h"

/* A line to write. */
struct rg_staged {
	struct roger_message *added; /* new message; borrowed, gets its number */
	bool new_number;
	bool brought; /* it came over an edge, with this number of its sender; 0: none */
	int64_t number;
	bool key_is_new;	     /* the index does not know it */
	struct roger_message before; /* for a change: the old and the new state */
	struct roger_message after;
	size_t from;	  /* in text: where the line starts */
	size_t number_at; /* in text: where the number goes; SIZE_MAX: none */
	size_t to;
};

/* The lines of the archive file that was read last, up to a byte. */
struct rg_archive_seen {
	uint64_t device, inode;
	uint64_t to;
	struct rg_table lines; /* where each line is, by the hash of its start */
};

struct rg_engine {
	uint64_t stored; /* transactions stored */
	size_t changed;	 /* how many messages were added or changed */
	struct rg_workspace *workspace;
	struct rg_store *store;
	struct rg_index *index;

	/* The current transaction: */
	bool exclusive;	     /* holds the change lock */
	bool has_looked;     /* has read what it will change */
	uint64_t noted;	     /* entries that were added to damage.jsonl */
	bool altered;	     /* lines were noted as altered that the tables count */
	bool leaves_sync;    /* rg_engine_leave_sync() */
	bool left;	     /* the last commit was left unsynced */
	bool gathers;	     /* rg_engine_gather() */
	bool gathered_sends; /* and the send logs lack entries of these messages */
	uint64_t adoptions;  /* the head's adoptions at the first look */
	struct rg_staged *staged;
	size_t staged_count;
	size_t staged_capacity;
	struct rg_buf text;
	int64_t state_saved_ns; /* last known write of message-state.json */
	uint64_t state_written; /* what it held then */
	struct rg_archive_seen archive_seen;
	uint64_t rested_end; /* the journal's end when messages.db was brought up while idle */
	int64_t rested_ns;
	int64_t nobody_retired_ns; /* when retired.jsonl was looked for and not there; 0: it may be
				    */
	uint64_t retired_hash; /* hash of the figure that says whether it was made; 0: not computed
				  yet */

	struct rg_sequence *first; /* numbers this session began with; NULL: not looked yet */
	bool first_lasts;	   /* it is final: no more numbers can be taken over */
	struct {
		struct rg_sequence *numbers; /* NULL: none */
		uint64_t first, last;	     /* values of seen_wanted; 0: others changed it, too */
	} accepted; /* by changes that this handle made since it wrote message-state.json */

	struct roger_err trouble; /* warning: the call succeeded, something is missing */
	bool told;		  /* the warnings were asked for */
	char damage[400];	  /* damage, in words */
};

/* Find how far messages can be read.  Examines damage that the store finds on the way. */
RG_CHECKED int rg_engine_settle(struct rg_engine *engine, uint64_t *ret_end, struct roger_err *err);

/* boxes.c: rg_engine_find(), _find_page() and _count() with gets. */
RG_CHECKED int rg_engine_find_got(struct rg_engine *engine, const struct rg_query *query,
				  struct rg_arena *arena, struct roger_message_list *ret_messages,
				  int64_t *ret_total, struct roger_err *err);

/* boxes.c: count unread mail for the agent that gets it, which may be added to the list. */
RG_CHECKED int rg_engine_hand_over(struct rg_engine *engine, const struct rg_agent_page *page,
				   struct rg_arena *arena, struct roger_agent_list *agents,
				   struct roger_err *err);

/* List the journals that tell of messages, and this log if it is another one; notes are limited to
 * what is there before the tables are brought up to date. */
RG_CHECKED int rg_engine_list_told(struct rg_engine *engine, enum rg_log log,
				   struct rg_arena *arena, struct rg_log_files *ret_files,
				   struct roger_err *err);

/* Update the index to what this transaction must see. */
RG_CHECKED int rg_engine_refresh(struct rg_engine *engine, struct roger_err *err);

/* archive.c: write the staged lines that archive to messages_archive/, durably, none twice. */
RG_CHECKED int rg_engine_put_archive(struct rg_engine *engine, struct roger_err *err);
/* Read the line at this offset of the journal, and its message. */
RG_CHECKED int rg_engine_line_at(struct rg_engine *engine, uint64_t offset, struct rg_arena *arena,
				 struct roger_str *ret_text, struct roger_message *ret_message,
				 struct roger_err *err);
/* Archive again the message whose archiving line is at this offset; own: roger wrote that line. */
RG_CHECKED int rg_engine_archive_again(struct rg_engine *engine, uint64_t offset, bool own,
				       struct roger_err *err);

/* Hash the start of a message's line up to its id; false: not a line of roger's. */
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
/* Load the epoch, once for each control file.  A file or disk that fails is an error only with
 * to_write: the caller is going to append. */
RG_CHECKED int rg_engine_prepare_epoch(struct rg_engine *engine, bool to_write,
				       struct roger_err *err);
bool rg_engine_prepared(struct rg_engine *engine);
/* If another program cleared the document (seed 002), start a new session. */
RG_CHECKED int rg_engine_follow_clearing(struct rg_engine *engine, struct roger_err *err);
/* Find the number of sender that reader had seen when this session began, if another program's
 * document was taken over; else 0. */
RG_CHECKED int rg_engine_first_seen(struct rg_engine *engine, struct roger_str reader,
				    struct roger_str sender, int64_t *ret_number,
				    struct roger_err *err);
void rg_engine_want_state(struct rg_engine *engine, bool seen);
/* Note the numbers that readers accepted by the staged changes. */
void rg_engine_note_accepted(struct rg_engine *engine);
void rg_engine_save_state(struct rg_engine *engine, bool closing);
void rg_engine_leave_state(struct rg_engine *engine); /* on closing */
/* Bring the witness and the numbers of the figures into the document, which may be older: they are
 * given up with a journal that is accepted as damaged. */
RG_CHECKED int rg_engine_keep_evidence(struct rg_engine *engine, struct roger_err *err);

/* Make a checkpoint, if it is time or now is set. */
void rg_engine_checkpoint(struct rg_engine *engine, bool now);

/* logs.c: the logs.  Copies what the journal says was delivered, up to byte end, into the send
 * logs. Called after the sync; its failure does not fail the send. */
void rg_engine_log_sends(struct rg_engine *engine, uint64_t end);
bool rg_engine_has_sends(const struct rg_engine *engine);
RG_CHECKED int rg_engine_read_log(struct rg_engine *engine, const struct rg_log_query *query,
				  struct rg_arena *arena, struct rg_log_entries *ret_entries,
				  struct roger_err *err);
/* Like rg_engine_log_append(), but not counted as stored: no caller asked for it.  Needs the record
 * lock, but for RG_LOG_ARCHIVE. */
RG_CHECKED int rg_engine_log_add(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
				 struct roger_str entries, bool durable, struct roger_err *err);
/* Some lines of the send logs do not count any more: the next copy starts at the beginning, and
 * skips what is there. */
void rg_engine_carry_anew(struct rg_engine *engine);
/* Update the send logs to the synced end; *ret_to: how far they are.  Needs the record lock. */
RG_CHECKED int rg_engine_carry(struct rg_engine *engine, bool from_start, uint64_t *ret_to,
			       struct roger_err *err);

/* Tell a store that recomputes its figures what message-state.json says about the journal. */
void rg_engine_recall(struct rg_store *store, struct rg_figure *ret_witness);
/* After lines were lost, keep given numbers used, and continue the document from here. */
RG_CHECKED int rg_engine_stay_used(struct rg_engine *engine, struct roger_err *err);

/* gone.c: may retired.jsonl have been written?  The figures know. */
bool rg_engine_may_have_retired(struct rg_engine *engine);

/* gone.c: note that a log was made, or the first document of a run, so that its loss is found;
 * needs the record lock, but for the archive. */
RG_CHECKED int rg_engine_log_made(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
				  struct roger_err *err);
RG_CHECKED int rg_engine_run_made(struct rg_engine *engine, struct roger_err *err);
/* Find out whether a log is gone, before its entries are asked for. */
void rg_engine_look_for_log(struct rg_engine *engine, enum rg_log log);
/* Forget a file that is gone, since a person knows. */
RG_CHECKED int rg_engine_forget_removed(struct rg_engine *engine, struct roger_str shown,
					struct roger_err *err);

/* damage.c: damage.jsonl, what was found and what a person has accepted. */
bool rg_engine_count_damages(struct rg_engine *engine);
/* If the control file reports a changed journal: find out how, and record it.  False: it reports
 * no change, or it was examined already. */
bool rg_engine_examine_damage(struct rg_engine *engine);
/* Was damage found that is not recorded yet? */
bool rg_engine_has_unexamined(struct rg_engine *engine);
/* Record that a file is gone, unless that is known.  Needs the record lock. */
RG_CHECKED int rg_engine_note_removed(struct rg_engine *engine, struct roger_str shown,
				      struct roger_err *err);
/* Record what was found, so that status knows, too; false: it cannot be, or not now. */
bool rg_engine_note_findings(struct rg_engine *engine, const struct roger_finding_list *found,
			     struct rg_arena *arena);
/* Return the next file that is recorded as removed, not accepted, and still gone; NULL: no more. */
const struct roger_damage *rg_damage_next_removed(const struct roger_damage_list *damages,
						  const struct rg_log_files *there, size_t *i);
/* logs.c: record damage if an altered line was read that is not recorded.  False: none was read, or
 * it cannot be recorded now. */
bool rg_engine_note_altered(struct rg_engine *engine, struct rg_arena *arena);

/* walk.c: walks over all lines of a journal, and checks its chain. */
/* List all chained journals, messages.jsonl first, and archives, unless something else has their
 * folder's name. */
RG_CHECKED int rg_engine_journals(struct rg_engine *engine, struct rg_arena *arena,
				  struct rg_log_files *ret_journals, struct roger_err *err);

/* Fill in identity and readable size; of messages only what is durable.  ROGER_EREFUSED: what has
 * that name is not a journal. */
RG_CHECKED int rg_engine_stat(struct rg_engine *engine, struct rg_log_file *journal,
			      bool *ret_there, struct roger_err *err);

/* How something wrong was found. */
enum rg_misfit_by {
	RG_MISFIT_IN_CHAIN,
	RG_MISFIT_IN_LINE,    /* the line is not an entry */
	RG_MISFIT_AT_END,     /* unfinished last line */
	RG_MISFIT_IN_MESSAGE, /* the line rewrites its message */
	RG_MISFIT_BEFORE,     /* recorded earlier, and nothing else shows it */
};
struct rg_misfit {
	enum roger_finding_kind kind;
	enum rg_misfit_by by;
	int64_t line;
	uint64_t byte;
	const char *what;
};

/* Callbacks of a walk; NULL: not needed. */
struct rg_walk;
struct rg_visitor {
	const char *name; /* for progress reports */
	int (*line)(void *context, struct rg_walk *walk, struct roger_err *err);
	int (*found)(void *context, struct rg_walk *walk, const struct rg_misfit *found,
		     struct roger_err *err);
	int (*end)(void *context, struct rg_walk *walk, struct roger_err *err);
	/* The journal's name belongs to something else; NULL: that is an error. */
	int (*unreadable)(void *context, const struct rg_log_file *file, const char *why,
			  struct roger_err *err);
};

struct rg_judge;

/* What the lines so far say of a message.  It is small, since each message has one. */
struct rg_walk_message {
	uint64_t id;				      /* hash of its id */
	uint64_t offset : 38, length : 23;	      /* of its first line; length is less by 1 */
	uint64_t read : 1, archived : 1, foreign : 1; /* its state */
	uint32_t line, last; /* numbers of its first line, and of the one with its state */
	uint32_t hash;	     /* of what the first line says */
	uint32_t row;	     /* rg_message_row_hash(), if the visitor sets it */
};

/* All messages of a journal, with which later lines are compared. */
struct rg_walk_messages {
	uint64_t key; /* random: key of the hashes */
	struct rg_table table;
	struct rg_table told; /* what is known to be rewritten */
};

struct rg_walk {
	struct rg_engine *engine;
	const struct rg_log_file *file;
	const struct rg_visitor *visitor;
	struct rg_judge *judge;
	void *context;
	struct rg_lines lines;
	struct rg_decoder *decoder; /* decodes messages */
	struct rg_chain_check chain;
	struct rg_arena *scratch; /* for one line */

	/* The current line: */
	int64_t number;
	struct rg_line line;
	bool own;			     /* its chain fits, so roger wrote it */
	const struct roger_message *message; /* its message, as its first line has it; NULL: none */
	bool altered;			 /* the line of a message is altered, and does not count */
	struct roger_message followed;	 /* holds *message where the line says less or differs */
	struct rg_walk_message *known;	 /* what is known of it, with this line */
	struct rg_message_before before; /* what was known of it, without this line */
	struct rg_walk_messages messages;
	bool is_entry; /* it is an entry of another journal, in record */
	union rg_log_record record;
	struct rg_chain_finding finding;

	/* For the judge: */
	int64_t last_own;  /* the last line of roger's that cannot be read */
	int64_t last_hole; /* the last line with NUL bytes */
};

/* Show each line of a journal, and what is wrong with it, to visitor.  judge decides what is
 * damage; NULL: lines are not interpreted.  *ret_there false: the file is gone or was replaced. */
RG_CHECKED int rg_walk(struct rg_engine *engine, struct rg_log_file *file,
		       const struct rg_visitor *visitor, struct rg_judge *judge, void *context,
		       bool *ret_there, struct roger_err *err);

/* Find a message by id among the lines so far; NULL: none has it. */
const struct rg_walk_message *rg_walk_find(const struct rg_walk *walk, struct roger_str id);

/* Decides what is damage, and what of that a person accepted; used by verify and doctor while they
 * walk through each journal. */
struct rg_judge {
	struct roger_damage_list damages; /* recorded or accepted before */
	struct rg_altered altered;
	bool *told;
	bool closed;  /* the last reported gap was recorded before */
	uint64_t key; /* random: of the hashes of messages */
};
RG_CHECKED int rg_judge_init(struct rg_judge *judge, struct rg_engine *engine,
			     struct rg_arena *arena, struct roger_err *err);

/* A line that is not an entry: was it one of roger's?  For messages.jsonl. */
bool rg_judge_line(struct rg_judge *judge, struct rg_walk *walk, enum roger_finding_kind *ret_kind);
/* A line that rewrites its message. */
enum roger_finding_kind rg_judge_rewrite(struct rg_judge *judge, const struct rg_walk *walk);
/* Judge what the chain check found; false: nothing to report. */
bool rg_judge_finding(struct rg_judge *judge, const struct rg_walk *walk,
		      enum roger_finding_kind *ret_kind, const char **what);
/* Record that the chain does not go on at this line although nothing is damaged, who found that,
 * and the reason.  Takes the record lock. */
RG_CHECKED int rg_engine_note_gap(struct rg_engine *engine, const struct rg_log_file *file,
				  int64_t line, uint64_t byte, struct roger_str by,
				  struct roger_str reason, struct roger_err *err);
/* Did a person accept changed messages?  Then other files may know more than messages. */
bool rg_judge_lost_messages(const struct rg_judge *judge, const struct rg_engine *engine);
/* Recorded damage of a journal that was not found again; false at the end. */
bool rg_judge_next(struct rg_judge *judge, struct roger_str file, size_t *i,
		   struct rg_misfit *ret_noted);

#endif
