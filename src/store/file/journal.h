/*
 * journal - lines that are only ever appended to, by many processes at once.
 *
 * Truth is the file: one JSON object a line.  Appending happens under a short
 * lock in the control file; what is appended becomes durable by group commit:
 * one of the writers syncs for all, the others wait for it.  Bytes that stand
 * beyond what we know belong to a dead or a foreign writer: whole lines are
 * adopted, a torn rest is fenced off with a newline by the next append.
 * Nothing is ever cut or overwritten.
 *
 * Every line roger writes ends in a chain member, SipHash-2-4 of the line so
 * far under the chain before it.  A line without one (or with one that is not
 * its own) goes into the chain whole, and so is covered by the next.
 */
#ifndef RG_JOURNAL_H
#define RG_JOURNAL_H

#include "store/file/control.h"

struct rg_journal;

/*
 * Told of every whole line that another writer left, under the append lock,
 * oldest first, before the line counts as known.  Returns false when the
 * control file has no room for what the line needs (two agents, three counts);
 * it is then asked again for the same line after the control file has grown.
 * own: the line carries a chain that fits, so roger wrote it.
 */
typedef bool rg_journal_adopt(void *context, struct rg_control *control, struct roger_str line,
			      bool own);

/*
 * Open name in folder, which the caller keeps open; it is made when missing.
 * Where the system lets us only read, or the disk is full, the journal is read
 * without a control file, up to its last newline.  source, or NULL, is asked for
 * what else is known of it where a control file is made anew; context is of both.
 */
RG_CHECKED int rg_journal_open(int folder, const char *name, const char *control_name,
			       rg_journal_adopt *adopt, rg_witness_source *source, void *context,
			       struct rg_journal **ret_journal, struct roger_err *err);
struct rg_journal *rg_journal_close(struct rg_journal *journal);

int rg_journal_file(const struct rg_journal *journal);
bool rg_journal_writable(const struct rg_journal *journal);

/* The control file as it is mapped now; NULL when only reading. */
struct rg_control *rg_journal_control(struct rg_journal *journal);

/* --------------------------------------------------------- appending -- */

/*
 * Take the append lock with room for so many more agents and counts; what
 * others left is adopted.  On success the caller composes lines, writes and
 * unlocks; nothing slow in between.
 */
RG_CHECKED int rg_journal_lock(struct rg_journal *journal, size_t agents, size_t counts,
			       struct roger_err *err);
/* The same for what can as well be left undone: false when others keep it. */
bool rg_journal_lock_soon(struct rg_journal *journal, size_t counts);
void rg_journal_unlock(struct rg_journal *journal);

/* Where the journal ends now; under the append lock. */
uint64_t rg_journal_end(const struct rg_journal *journal);

/* Text of the line being composed goes here, without its closing brace. */
struct rg_buf *rg_journal_line(struct rg_journal *journal);

/* The line is complete: add its chain, brace and newline. */
void rg_journal_end_line(struct rg_journal *journal);

/*
 * Append the composed lines in one write.  *ret_end is what must be synced for
 * them to be durable; 0: nothing was written, since the control file turned out
 * damaged: unlock, and begin again.  On an error nothing is known to be stored; whole lines
 * that reached the file all the same are adopted by the next writer.
 */
RG_CHECKED int rg_journal_write(struct rg_journal *journal, uint64_t *ret_end,
				struct roger_err *err);

/*
 * Wait until everything up to end is on disk, in the file of the journal's
 * name.  ROGER_EIO: it may not be.
 */
RG_CHECKED int rg_journal_sync(struct rg_journal *journal, uint64_t end, struct roger_err *err);

/* Has no other file taken its name?  What stands here counts only then: others open that one. */
RG_CHECKED int rg_journal_check_name(const struct rg_journal *journal, struct roger_err *err);

/*
 * Did a sync that should have covered this byte go wrong?  Then a later one
 * proves nothing about it: what stands there must be appended anew.
 */
bool rg_journal_lost(const struct rg_journal *journal, uint64_t offset);

/* ----------------------------------------------------------- reading -- */

/*
 * Adopt what others left and tell how far the journal can be read: everything
 * acknowledged, whole lines only, synced where that is ours to do.
 */
RG_CHECKED int rg_journal_settle(struct rg_journal *journal, uint64_t *ret_end,
				 struct roger_err *err);

/*
 * Do the last lines fit the chain that the control file has for them?  For who has
 * one.  Costs one read; false: they were changed since they were appended.
 */
RG_CHECKED int rg_journal_check_end(struct rg_journal *journal, bool *ret_fits,
				    struct roger_err *err);

/* How many lines of roger's were found that nobody had published; a change tells of a second
 * writer. */
uint64_t rg_journal_adoptions(struct rg_journal *journal);

/* Does the tally know of all lines up to end? */
bool rg_journal_knows(struct rg_journal *journal, uint64_t end);

/* The word that moves after every sync, and sleeping on it, for who may write. */
uint32_t rg_journal_wake_count(struct rg_journal *journal);
void rg_journal_sleep(struct rg_journal *journal, uint32_t seen, int64_t wait_ms);

/* Bytes of one line, without its newline, into out. */
RG_CHECKED int rg_journal_read(struct rg_journal *journal, uint64_t offset, size_t length,
			       struct rg_buf *out, struct roger_err *err);

/* -------------------------------------------------- the other locks -- */

/* Long-held locks of the control file, followed when it is replaced; but not the last two. */
RG_CHECKED int rg_journal_take(struct rg_journal *journal, enum rg_store_lock which,
			       int64_t wait_ms, struct roger_err *err);
bool rg_journal_try(struct rg_journal *journal, enum rg_store_lock which);
void rg_journal_release(struct rg_journal *journal, enum rg_store_lock which);

/* Is it still ours?  A control file that was made anew knows nothing of it. */
bool rg_journal_holds(struct rg_journal *journal, enum rg_store_lock which);

#endif
