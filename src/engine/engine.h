/*
 * engine - messages: find, begin, add or change, commit; commit means durable.
 *
 * messages.jsonl is the truth and the only file that a send syncs.  What a writer
 * must know at once is in the store's figures; everything else is asked of the
 * index, which follows the journal.
 *
 * A transaction is begin .. commit.  Only one exclusive transaction runs at a
 * time; it alone changes message states, so what it finds stays true until it
 * ends.  Senders do not wait for it.  commit stores all changes or none, and
 * returns ROGER_OK only when they are on disk.
 */
#ifndef RG_ENGINE_H
#define RG_ENGINE_H

#include "data/finding.h"
#include "facts/history.h"
#include "facts/watchdog.h"
#include "host/seal_key.h"
#include "store/damages.h"
#include "store/store.h"

struct rg_engine;

/* The result of a commit; only RG_COMMITTED stored something. */
enum rg_verdict {
	RG_COMMITTED,
	RG_OVER_MAILBOX, /* the issue and recipient of message .which have too many messages */
	RG_OVER_ISSUE,	 /* the issue of message .which has too many */
	RG_KEY_KNOWN,	 /* the sender of message .which used its key before */
};

struct rg_outcome {
	enum rg_verdict verdict;
	const struct roger_message *which;
	int64_t count; /* RG_OVER_*: messages there are now */
};

/* A message that another record refers to; doctor fills in what became of it. */
struct rg_wanted {
	struct roger_str id;
	bool found;
	bool read;
};

/* What doctor does besides checking everything the engine keeps. */
struct rg_doctor_wish {
	bool fix;
	struct rg_wanted *wanted;
	size_t wanted_count;
};

/* Digest of a journal, or of its first bytes, as in a seal. */
struct rg_digest {
	struct roger_seal_entry entry; /* fewer bytes than wished: the journal is shorter */
	bool there;
	bool sealed;		 /* a seal covers it, too */
	struct roger_str proof;	 /* see struct roger_cited */
	struct roger_strs cited; /* the lines that were wished for */
};
struct rg_digests {
	const struct rg_digest *items;
	size_t count;
};
struct rg_digest_wish {
	struct roger_str file;
	int64_t bytes;
	int64_t every;
	const int64_t *cited; /* line numbers, ascending */
	size_t cited_count;
};

/* See rg_store_check() and rg_store_prepare(). */
RG_CHECKED int rg_engine_check_store(const char *root, bool *ret_elsewhere, struct roger_err *err);
RG_CHECKED int rg_engine_prepare_store(const char *root, bool second, int *ret_steps,
				       struct roger_err *err);

/* The workspace is borrowed and must stay open. */
RG_CHECKED int rg_engine_open(struct rg_workspace *workspace, struct rg_engine **ret_engine,
			      struct roger_err *err);
struct rg_engine *rg_engine_close(struct rg_engine *engine);

/* How many transactions this handle stored, and how much damage it noted. */
uint64_t rg_engine_stored(const struct rg_engine *engine);
uint64_t rg_engine_noted(const struct rg_engine *engine);

/* -------------------------------------------------------------- reading -- */

/* Find messages, in journal order; memory from arena. */
RG_CHECKED int rg_engine_find(struct rg_engine *engine, const struct rg_query *query,
			      struct rg_arena *arena, struct roger_message_list *ret_messages,
			      struct roger_err *err);

/* Find messages by id, archived or not. */
RG_CHECKED int rg_engine_find_ids(struct rg_engine *engine, const struct roger_str *ids,
				  size_t count, struct rg_arena *arena,
				  struct roger_message_list *ret_messages, struct roger_err *err);

/* Like rg_engine_find(), with the number of matches at that moment, regardless of limit and
 * leases; not for a text search, and only for the first page. */
RG_CHECKED int rg_engine_find_page(struct rg_engine *engine, const struct rg_query *query,
				   struct rg_arena *arena, struct roger_message_list *ret_messages,
				   int64_t *ret_total, struct roger_err *err);
RG_CHECKED int rg_engine_count(struct rg_engine *engine, const struct rg_query *query,
			       int64_t *ret_count, struct roger_err *err);

/* False: the agent has no unread message.  True: it may have one.  Fast. */
RG_CHECKED int rg_engine_may_have_mail(struct rg_engine *engine, struct roger_str agent,
				       bool *ret_may, struct roger_err *err);

/* A page of the agents: limit names after `after`; limit 0: all. */
struct rg_agent_page {
	struct roger_str after;
	int64_t limit;
	struct roger_str last; /* the last name on the page; "": it goes to the end */
};

bool rg_agent_page_has(const struct rg_agent_page *page, struct roger_str name);

/* Everyone who ever sent or received, by name (page NULL), or a page of them and one more, if any.
 * rg_engine_names() gives neither figures nor an order, and is fast. */
RG_CHECKED int rg_engine_agents(struct rg_engine *engine, struct rg_agent_page *page,
				struct rg_arena *arena, struct roger_agent_list *ret_agents,
				struct roger_err *err);
RG_CHECKED int rg_engine_names(struct rg_engine *engine, struct rg_arena *arena,
			       struct roger_strs *ret_names, struct roger_err *err);

/* Has this name ever sent or received? */
bool rg_engine_knows(struct rg_engine *engine, struct roger_str name);

/* Do the figures say that it has sent?  false: ask the index, which may know more. */
bool rg_engine_has_sent(struct rg_engine *engine, struct roger_str name);

/* List the issues with messages, at least `unread` of them unread, by name. */
RG_CHECKED int rg_engine_issues(struct rg_engine *engine, int64_t unread, struct rg_arena *arena,
				struct roger_strs *ret_issues, struct roger_err *err);

/* Measure an issue, or all of them, as rg_index_measure() does. */
RG_CHECKED int rg_engine_measure_issues(struct rg_engine *engine, struct roger_str issue,
					bool whole, struct rg_arena *arena,
					struct rg_issue_list *ret_issues, struct roger_err *err);

/* Fill in the figures about the workspace. */
RG_CHECKED int rg_engine_figures(struct rg_engine *engine, struct roger_stats_reply *reply,
				 struct roger_err *err);

/* Show rows of the table of events, which is brought up to date first; without words. */
RG_CHECKED int rg_engine_rows(struct rg_engine *engine, const struct rg_log_query *query,
			      rg_event_see *see, void *context, struct roger_err *err);

/* Show events, with all that they say for people; *ret_count: how many messages, or entries,
 * match, or how many are `counted`. */
RG_CHECKED int rg_engine_events(struct rg_engine *engine, const struct rg_event_query *query,
				rg_event_see *see, void *context, int64_t *ret_count,
				struct roger_err *err);

/* Find unread messages whose lease, or time to be read, ended before now, and those whose sender is
 * still to be told.  untold: leave out those that the send logs are known to report as late.
 * Fast. */
RG_CHECKED int rg_engine_overdue(struct rg_engine *engine, int64_t now_ms, bool untold,
				 int64_t limit, struct rg_arena *arena, struct roger_strs *ret_ids,
				 struct roger_err *err);

/* The number of lines of the journal that are not messages, nor known to be altered.  Fast. */
RG_CHECKED int rg_engine_strays(struct rg_engine *engine, int64_t *ret_strays,
				struct roger_err *err);

/* List retired agents, by the last line of retired.jsonl; fast if nobody ever was retired. */
RG_CHECKED int rg_engine_retired(struct rg_engine *engine, struct rg_arena *arena,
				 struct roger_retired_list *ret_list, struct roger_err *err);

/* List the names whose mail the agent gets; see rg_retired_boxes(). */
RG_CHECKED int rg_engine_boxes(struct rg_engine *engine, struct roger_str agent,
			       struct rg_arena *arena, struct roger_strs *ret_boxes,
			       struct roger_err *err);

/* Find an agent of a list by name, NULL: none; rg_engine_agent() adds a missing one. */
const struct roger_agent *rg_engine_agent_of(const struct roger_agent_list *agents,
					     struct roger_str name);
RG_CHECKED int rg_engine_agent(struct roger_agent_list *agents, struct roger_str name,
			       struct rg_arena *arena, struct roger_agent **ret_agent,
			       struct roger_err *err);

/* Sleep until the agent has an unread message (of issue and from, unless ""), at most timeout_ms;
 * 0: without limit.  *ret_found has no id if no message came in time. */
RG_CHECKED int rg_engine_wait(struct rg_engine *engine, struct roger_str agent,
			      struct roger_str issue, struct roger_str from, int64_t timeout_ms,
			      struct rg_arena *arena, struct roger_message *ret_found,
			      struct roger_err *err);

/*
 * Read the messages stored from byte *from on, without the tables; *from becomes the end.
 * *ret_known false: only the tables know, since *from is 0, far back, or before a line that another
 * program wrote or that changes a message into what it was when it was sent.
 */
RG_CHECKED int rg_engine_read_new(struct rg_engine *engine, uint64_t *from, struct rg_arena *arena,
				  struct roger_message_list *ret_messages, bool *ret_known,
				  struct roger_err *err);

/* Does the activity log have a look of the agent at the message?  False may be wrong for looks
 * before the machine started.  Fast. */
bool rg_engine_shown(struct rg_engine *engine, struct roger_str agent, struct roger_str id);
void rg_engine_note_shown(struct rg_engine *engine, struct roger_str agent,
			  const struct roger_str *ids, size_t count, bool shown);

/* Take the lock to wake an agent; *ret_taken false: another process has it.  Released at the
 * latest when the process ends. */
RG_CHECKED int rg_engine_turn_take(struct rg_engine *engine, struct roger_str agent,
				   bool *ret_taken, struct roger_err *err);
void rg_engine_turn_end(struct rg_engine *engine, struct roger_str agent);

/* May the issue, or one agent's mailbox in it (to; else ""), hold that many messages?  False is
 * certain.  Never slow. */
bool rg_engine_may_hold(struct rg_engine *engine, struct roger_str issue, struct roger_str to,
			int64_t count);

/* False: the sender never used the key.  True: it may have.  Fast. */
bool rg_engine_may_know_key(struct rg_engine *engine, struct roger_str sender,
			    struct roger_str key);

/* Record that the sender used the key although no message of it is stored. */
RG_CHECKED int rg_engine_note_key(struct rg_engine *engine, struct roger_str sender,
				  struct roger_str key, struct roger_err *err);

/* Wait for any append: get the count, look for work, sleep.  The sleep ends at once if something
 * was stored since the count was taken, else after wait_ms. */
uint32_t rg_engine_wake_count(struct rg_engine *engine);
/* Bring messages.db up to date, at most once a second; for a handle on which nobody waits. */
void rg_engine_rest(struct rg_engine *engine);
void rg_engine_sleep(struct rg_engine *engine, uint32_t mark, int64_t wait_ms);

/* -------------------------------------------------------------- writing -- */

RG_CHECKED int rg_engine_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err);
/* Begin an exclusive transaction whose first question is query: the index is prepared for it before
 * the lock is taken, so that others do not wait for that. */
RG_CHECKED int rg_engine_begin_change(struct rg_engine *engine, const struct rg_query *query,
				      struct roger_err *err);

/* Add a new message; borrowed until commit, which fills its seq and epoch.  new_number: the
 * sender's next number, else that of the message before it. */
RG_CHECKED int rg_engine_add(struct rg_engine *engine, struct roger_message *message,
			     bool new_number, struct roger_err *err);

/* Add a message that came in over an edge, with its sender's number (0: none); borrowed until
 * commit. The sender's counter rises to at least that number.  Needs an exclusive transaction. */
RG_CHECKED int rg_engine_bring(struct rg_engine *engine, struct roger_message *message,
			       int64_t number, struct roger_err *err);

/* Fill in when each agent last looked at its mail here, or read some; 0: never. */
RG_CHECKED int rg_engine_last_looks(struct rg_engine *engine, struct roger_agent *agents,
				    size_t count, struct roger_err *err);

/* Find the highest number of this session from sender that reader accepted, or that came in for it
 * over an edge; 0: none.  The next one must be higher.  Needs an exclusive transaction. */
RG_CHECKED int rg_engine_accepted_number(struct rg_engine *engine, struct roger_str reader,
					 struct roger_str sender, int64_t *ret_number,
					 struct roger_err *err);

/* Become the only bridge of the workspace, until _end or the end of the process. */
RG_CHECKED int rg_engine_bridge_begin(struct rg_engine *engine, struct roger_err *err);
void rg_engine_bridge_end(struct rg_engine *engine);

/* Change a message that was found in this transaction. */
RG_CHECKED int rg_engine_change(struct rg_engine *engine, const struct roger_message *before,
				const struct roger_message *after, struct roger_err *err);

/* Archive a message that has archived_at and archive_reason set. */
RG_CHECKED int rg_engine_archive(struct rg_engine *engine, const struct roger_message *message,
				 struct roger_err *err);

/* The next commit need not be on disk when it returns: a power cut that loses it ends whoever
 * relies on it, too.  It is synced all the same where it follows lines that are not, or is on
 * another machine. */
void rg_engine_leave_sync(struct rg_engine *engine);

/* From now on, commits of only new messages do not wait for the disk.  _gathered() ends that: it
 * waits for all of them, and writes their entries into the send logs; its error is that of each
 * commit.  For the file store only. */
void rg_engine_gather(struct rg_engine *engine);
RG_CHECKED int rg_engine_gathered(struct rg_engine *engine, struct roger_err *err);
RG_CHECKED int rg_engine_commit(struct rg_engine *engine, struct rg_outcome *ret_outcome,
				struct roger_err *err);

/* End a transaction and store nothing; does nothing after a commit. */
void rg_engine_rollback(struct rg_engine *engine);

/* Is an exclusive transaction open; did this handle take the record lock?  For assertions. */
bool rg_engine_is_exclusive(const struct rg_engine *engine);
bool rg_engine_took_records(const struct rg_engine *engine);

/* -------------------------------------------------------------- records -- */

/* Hold the record lock until _end: no other process appends to a log or changes a run, so what is
 * found stays true.  No transaction may begin or end in between. */
RG_CHECKED int rg_engine_records_begin(struct rg_engine *engine, struct roger_err *err);
/* Like rg_engine_records_begin(), but ROGER_ETIMEOUT after 200 ms (best effort). */
RG_CHECKED int rg_engine_records_begin_soon(struct rg_engine *engine, struct roger_err *err);
void rg_engine_records_end(struct rg_engine *engine);
/* The same for a scope, at whose end it is given back:
 *     RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
 *     r = rg_engine_records_hold(engine, &held, err); */
RG_CHECKED int rg_engine_records_hold(struct rg_engine *engine, struct rg_engine **ret_held,
				      struct roger_err *err);
void rg_engine_records_endp(struct rg_engine **held);

/* Append entries (JSON objects, a newline after each) to a log; owner: the sender, for
 * RG_LOG_SENDS. durable: synced before it returns.  Needs the record lock. */
RG_CHECKED int rg_engine_log_append(struct rg_engine *engine, enum rg_log log,
				    struct roger_str owner, struct roger_str entries, bool durable,
				    struct roger_err *err);

/* Copy into the send logs what the journal says and they lack; plain: also of messages without a
 * key. */
RG_CHECKED int rg_engine_bring_sends_up(struct rg_engine *engine, bool plain,
					struct roger_err *err);
/* The byte of the journal up to which the send logs have messages with a key, or (plain) without
 * one; 0: none, or not known. */
uint64_t rg_engine_sends_carried(struct rg_engine *engine, bool plain);

/* Find entries, in the order they were added (per owner); memory from arena. */
RG_CHECKED int rg_engine_log_find(struct rg_engine *engine, const struct rg_log_query *query,
				  struct rg_arena *arena, struct rg_log_entries *ret_entries,
				  struct roger_err *err);

/* Read the document of a run.  NULL data in *ret_text: it has none.  Memory from arena. */
RG_CHECKED int rg_engine_run_find(struct rg_engine *engine, struct roger_str run_id,
				  struct rg_arena *arena, struct roger_str *ret_text,
				  struct roger_err *err);

/* Read the documents of all runs, in no order, also unreadable ones; wanted NULL: all texts. */
RG_CHECKED int rg_engine_runs(struct rg_engine *engine, rg_run_wanted *wanted, void *context,
			      struct rg_arena *arena, struct rg_run_texts *ret_runs,
			      struct roger_err *err);
/* Read the closed runs that the index has. */
RG_CHECKED int rg_engine_closed_runs(struct rg_engine *engine, struct rg_arena *arena,
				     struct rg_closed_runs *ret_runs, struct roger_err *err);
/* Store closed runs in the index; see rg_index_keep_closed_runs(). */
void rg_engine_keep_closed_runs(struct rg_engine *engine, const struct rg_closed_runs *runs);

/* Replace a run's document, durably; before: what was read (NULL data: none).  ROGER_ETIMEOUT: it
 * was changed since.  Needs the record lock. */
RG_CHECKED int rg_engine_run_put(struct rg_engine *engine, struct roger_str run_id,
				 struct roger_str before, struct roger_str after,
				 struct roger_err *err);

/* Remove the lines of a log that drop selects, durably; all others stay, in their order.  Needs
 * the record lock. */
RG_CHECKED int rg_engine_log_purge(struct rg_engine *engine, enum rg_log log,
				   struct roger_str owner, rg_log_drop *drop, void *context,
				   int64_t *ret_dropped, struct roger_err *err);

/* Read the last line of a log without owners, or "".  Fast. */
RG_CHECKED int rg_engine_log_last(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
				  struct roger_str *ret_text, struct roger_err *err);

/* Read the whole lines among the last bytes of such a log, without a check of their chain. */
RG_CHECKED int rg_engine_log_end(struct rg_engine *engine, enum rg_log log, size_t bytes,
				 struct rg_arena *arena, struct roger_str *ret_lines,
				 struct roger_err *err);

/* The current epoch; fresh: start the next one first. */
RG_CHECKED int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
				 struct roger_err *err);

/* ---------------------------------------------------------- maintenance -- */

RG_CHECKED int rg_engine_rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
				 struct roger_err *err);
/* Check all lines of all journals, which were settled; rg_engine_find_damage() does that, too. */
RG_CHECKED int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
				struct roger_verify_reply *ret_reply, struct roger_err *err);

/* The findings of a check, at most a thousand.  A file that is gone is reported once. */
struct rg_findings {
	struct rg_arena *arena;
	struct roger_finding *items;
	size_t count;
	int64_t damaged; /* also those beyond the thousand */
	bool failed;	 /* out of memory: some are missing */
};
void rg_findings_add(struct rg_findings *findings, const struct roger_finding *finding);

/* Check everything that is kept and add what is wrong to reply; see roger.h. */
RG_CHECKED int rg_engine_doctor(struct rg_engine *engine, const struct rg_doctor_wish *wish,
				struct rg_arena *arena, struct roger_doctor_reply *reply,
				struct roger_err *err);

/* Unaccepted damage, in one line of text, or "".  Fast. */
const char *rg_engine_damage(struct rg_engine *engine);

/* All recorded damage, accepted or not.  Fast in an undamaged workspace. */
RG_CHECKED int rg_engine_damages(struct rg_engine *engine, struct rg_arena *arena,
				 struct roger_damage_list *ret_damages, struct roger_err *err);

/* Record the files that were written here and are gone, as damage. */
RG_CHECKED int rg_engine_find_removed(struct rg_engine *engine, struct roger_err *err);
/* Like rg_engine_find_removed(), if count is less than the documents of runs that were made. */
void rg_engine_look_for_runs(struct rg_engine *engine, size_t count);

/* Record the lines that rewrite messages, as the index found them.  always: whoever found them. */
void rg_engine_note_rewrites(struct rg_engine *engine, bool always);

/* List the lines that are known to be altered; in arena. */
RG_CHECKED int rg_engine_altered(struct rg_engine *engine, struct rg_arena *arena,
				 struct rg_altered *ret_altered, struct roger_err *err);
/* Mark each message that has a line known to be damaged. */
RG_CHECKED int rg_engine_mark_altered(struct rg_engine *engine, struct roger_message *messages,
				      size_t count, struct rg_arena *arena, struct roger_err *err);
/* Verify all journals, and record the damage. */
RG_CHECKED int rg_engine_find_damage(struct rg_engine *engine, struct rg_arena *arena,
				     struct roger_verify_reply *ret_reply, struct roger_err *err);

/* Accept the damage of a file, at a line (0: the whole file), or a line that is no entry; accepted
 * says who, when and why.  Of the kind ROGER_DAMAGE_INVALID it is recorded as it is, with what was
 * seen as sha256.  ROGER_ENOENT: no such damage. */
RG_CHECKED int rg_engine_accept(struct rg_engine *engine, const struct roger_damage *accepted,
				struct rg_arena *arena, struct roger_damage_list *ret_damages,
				struct roger_err *err);

/* Compute digests of the first bytes of the named journals. */
RG_CHECKED int rg_engine_digests(struct rg_engine *engine, const struct rg_digest_wish *wishes,
				 size_t count, struct rg_arena *arena,
				 struct rg_digests *ret_digests, struct roger_err *err);

/*
 * Measure the journals at one moment: each message that a log names is within the measured part of
 * the messages, and each message that is archived there is within that of the archive.
 * rg_engine_digests_of() gives their digests, in this order; ROGER_ETIMEOUT: a journal was
 * rewritten or removed since.
 */
enum rg_measured {
	RG_MEASURED_ALL,
	RG_MEASURED_SEALED,
	RG_MEASURED_CHAINED, /* for doctor, also where it may only read */
};
/* *ret_carried (may be NULL): the send logs hold every message with a key before this byte. */
RG_CHECKED int rg_engine_measure(struct rg_engine *engine, enum rg_measured which,
				 struct rg_arena *arena, struct rg_log_files *ret_files,
				 uint64_t *ret_carried, struct roger_err *err);
RG_CHECKED int rg_engine_digests_of(struct rg_engine *engine, struct rg_log_files *files,
				    struct rg_arena *arena, struct rg_digests *ret_digests,
				    struct roger_err *err);

/* Read bytes of a measured journal; ROGER_ETIMEOUT: it was replaced. */
RG_CHECKED int rg_engine_copy(struct rg_engine *engine, const struct rg_log_file *file,
			      uint64_t from, char *room, size_t want, size_t *ret_got,
			      struct roger_err *err);

/* Read the text of message-state.json; its data is NULL: there is none. */
RG_CHECKED int rg_engine_state_text(struct rg_engine *engine, struct rg_arena *arena,
				    struct roger_str *ret_text, struct roger_err *err);

/* Find the workspace's seal key; make: create a missing key. */
RG_CHECKED int rg_engine_seal_key(struct rg_engine *engine, bool make, struct rg_arena *arena,
				  struct rg_seal_key *ret_key, struct roger_err *err);

/* A warning about what does not work although calls succeed; with an empty message: no warning. */
const struct roger_err *rg_engine_trouble(struct rg_engine *engine);
/* Forget a warning that was asked for: what still does not work is met again. */
void rg_engine_forget_trouble(struct rg_engine *engine);
/* False where nothing can be written: the file system is read-only, or the files are another's. */
bool rg_engine_can_write(const struct rg_engine *engine);
bool rg_engine_leads(struct rg_engine *engine);
bool rg_engine_is_elsewhere(const struct rg_engine *engine);
/* The standby of the database, as last seen; "": the store is no database. */
const char *rg_engine_standby(const struct rg_engine *engine);
/* Begin the request with that key (struct rg_store, `request`), and find the answer it was given;
 * put it (NULL data: there is no answer), which ends the request. */
RG_CHECKED int rg_engine_find_answer(struct rg_engine *engine, const char *key,
				     struct rg_arena *arena, struct roger_str *ret_text,
				     struct roger_err *err);
RG_CHECKED int rg_engine_put_answer(struct rg_engine *engine, struct roger_str text,
				    struct roger_err *err);
/* Bring the index and the send logs up to date, however long that takes.  A failure is not
 * reported: whoever needs them tries again. */
void rg_engine_get_ready(struct rg_engine *engine);
/* The verb waited in vain: what it still does, such as a note, must not wait past the deadline. */
void rg_engine_hurry(struct rg_engine *engine);
/* Begin a job.  asked: a client waits for an answer, which only a server that leads gives;
 * until_ns: its deadline, by the monotonic clock (0: none); works: only waits end with that. */
void rg_engine_asked(struct rg_engine *engine, bool asked, int64_t until_ns, bool works);
void rg_engine_on_progress(struct rg_engine *engine, roger_progress *tell, void *context);

#endif
