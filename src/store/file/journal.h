/*
 * journal - an append-only file of lines, written by many processes at once.
 *
 * The file is the truth: one JSON object per line.  Appends happen under a short
 * lock in the control file and become durable by group commit: one writer syncs
 * for all, the others wait for it.  Bytes after the known end come from a writer
 * that died or is not roger: whole lines are adopted, a torn line is closed off
 * with a newline by the next append.  Nothing is ever cut or overwritten.
 *
 * Every line that roger writes ends in a chain member: SipHash-2-4 of the line so
 * far, keyed by the previous chain.  A line without a fitting chain is hashed
 * whole, so the next chain covers it too.
 */
#ifndef RG_JOURNAL_H
#define RG_JOURNAL_H

#include "store/file/control.h"

struct rg_journal;

/*
 * Called under the append lock for each whole line that another writer appended, oldest first,
 * before the line counts as known.  False: the control file has no space for the line (two agents,
 * three counts); it grows and the line is passed again.  own: the line's chain fits, so roger
 * wrote it.
 */
typedef bool rg_journal_adopt(void *context, struct rg_control *control, struct roger_str line,
			      bool own);

/*
 * Open the journal name in folder (borrowed), creating it if missing.  Without permission to
 * write, or on a full disk, it is opened for reading only, up to its last newline.  source (may be
 * NULL) is asked for a witness when the control file is rebuilt; context goes to both callbacks.
 */
RG_CHECKED int rg_journal_open(int folder, const char *name, const char *control_name,
			       rg_journal_adopt *adopt, rg_witness_source *source, void *context,
			       struct rg_journal **ret_journal, struct roger_err *err);
struct rg_journal *rg_journal_close(struct rg_journal *journal);

int rg_journal_file(const struct rg_journal *journal);
bool rg_journal_writable(const struct rg_journal *journal);

/* If the control file was lost, as on a full disk, read without one until there is space. */
void rg_journal_leave_lost(struct rg_journal *journal);

/* The mapped control file; NULL: the journal is read-only. */
struct rg_control *rg_journal_control(struct rg_journal *journal);

/* --------------------------------------------------------- appending -- */

/* Take the append lock with space for this many more agents and counts, and adopt what others
 * appended.  The caller then composes lines, writes and unlocks, with nothing slow in between. */
RG_CHECKED int rg_journal_lock(struct rg_journal *journal, size_t agents, size_t counts,
			       struct roger_err *err);
/* Set how long a lock and a sync wait from now on; RG_LOCK_WAIT_MS before. */
void rg_journal_hurry(struct rg_journal *journal, int64_t wait_ms);
/* Like rg_journal_lock(), but false if the lock is not free after 200 ms (best effort). */
bool rg_journal_lock_soon(struct rg_journal *journal, size_t counts);
void rg_journal_unlock(struct rg_journal *journal);

/* The end of the known lines; others may append more, but under the append lock. */
uint64_t rg_journal_end(const struct rg_journal *journal);

/* The buffer for the next line, without its closing brace. */
struct rg_buf *rg_journal_line(struct rg_journal *journal);

/* Complete the line: add its chain, brace and newline.  Needs the append lock. */
void rg_journal_end_line(struct rg_journal *journal);

/* Should the next sync also cover earlier writes than the next one? */
void rg_journal_gather(struct rg_journal *journal, bool more);

/*
 * Append the composed lines in one write.  *ret_end: sync up to here to make them durable; 0: the
 * control file is damaged and nothing was written: unlock and start again.  After an error assume
 * nothing is stored; whole lines that did reach the file are adopted by the next writer.
 */
RG_CHECKED int rg_journal_write(struct rg_journal *journal, uint64_t *ret_end,
				struct roger_err *err);

/* Wait until all up to end is on disk under the journal's name.  ROGER_EIO: it may not be. */
RG_CHECKED int rg_journal_sync(struct rg_journal *journal, uint64_t end, struct roger_err *err);

/* Fail if the name belongs to another file now: what is written here would be lost to others. */
RG_CHECKED int rg_journal_check_name(const struct rg_journal *journal, struct roger_err *err);

/* ----------------------------------------------------------- reading -- */

/* Adopt what others appended.  *ret_end: the journal can be read up to this byte; it covers
 * everything acknowledged, ends after a whole line, and is synced as far as roger can. */
RG_CHECKED int rg_journal_settle(struct rg_journal *journal, uint64_t *ret_end,
				 struct roger_err *err);

/* Do the last lines still match the chain in the control file?  Costs one read.  Not for a
 * read-only journal. */
RG_CHECKED int rg_journal_check_end(struct rg_journal *journal, bool *ret_fits,
				    struct roger_err *err);

/* The word that changes after every sync, and a sleep on it.  Not for a read-only journal. */
uint32_t rg_journal_wake_count(struct rg_journal *journal);
void rg_journal_sleep(struct rg_journal *journal, uint32_t seen, int64_t wait_ms);

/* Read length bytes at offset, one line without its newline, into out. */
RG_CHECKED int rg_journal_read(struct rg_journal *journal, uint64_t offset, size_t length,
			       struct rg_buf *out, struct roger_err *err);

/* -------------------------------------------------- the other locks -- */

/* Long-held locks, which move with a replaced control file.  Not RG_LOCK_APPEND or _WAKE. */
RG_CHECKED int rg_journal_take(struct rg_journal *journal, enum rg_store_lock which,
			       int64_t wait_ms, struct roger_err *err);
bool rg_journal_try(struct rg_journal *journal, enum rg_store_lock which);
void rg_journal_release(struct rg_journal *journal, enum rg_store_lock which);

/* Does this handle still hold the lock?  A rebuilt control file does not know about it. */
bool rg_journal_holds(struct rg_journal *journal, enum rg_store_lock which);

#endif
