/*
 * The logs of the table of kinds: append and read.
 *
 * Send logs follow the journal: what it says was delivered is copied into them
 * from where the last copy ended.  A sender with an idempotency key does this for
 * everyone who sent meanwhile; a reader does it for senders that were killed in
 * between.
 */
#include "engine/inside.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/table.h"
#include "facts/sendlog.h"

/* Load the saved mark, unless its chain shows that it is of other lines. */
static void find_mark(struct rg_engine *engine)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct rg_bytes bytes = rg_bytes_of(engine->store, &rg_store_messages);
	const struct rg_head head = rg_store_head(engine->store);
	unsigned long long to, stated;
	struct roger_str text;
	struct rg_chain chain;

	if (arena && !atomic_load(&head.shared->carried) &&
	    engine->store->ops->get(engine->store, RG_DOCUMENT_CARRIED, RG_STR(""), arena, &text,
				    NULL) == ROGER_OK &&
	    text.length && sscanf(text.data, "%llu %llx", &to, &stated) == 2 && to <= head.end &&
	    rg_chain_find(&bytes, to, &chain, NULL) == ROGER_OK && chain.value == stated)
		atomic_store(&head.shared->carried, to);
}

/* Return how many bytes of the journal are still to be read for the send logs. */
static uint64_t uncarried_bytes(struct rg_engine *engine)
{
	const struct rg_head head = rg_store_head(engine->store);
	uint64_t from = head.logged;

	/* Files have the mark in their checkpoint; find_mark() might replace their control file. */
	if (!from && head.shared) {
		if (engine->store->elsewhere)
			find_mark(engine);
		from = atomic_load(&head.shared->carried);
	}
	return head.shared && from < head.end ? head.end - from : 0;
}

int rg_engine_records_begin(struct rg_engine *engine, struct roger_err *err)
{
	/* While much is to be copied, a server's own thread does that and has the lock. */
	int r = rg_store_check_ready(engine->store, uncarried_bytes(engine), err);

	if (r < 0)
		return r;
	return rg_store_take(engine->store, RG_LOCK_RECORDS, RG_LOCK_WAIT_MS, err);
}

void rg_engine_records_end(struct rg_engine *engine)
{
	rg_store_release(engine->store, RG_LOCK_RECORDS);
}

int rg_engine_records_hold(struct rg_engine *engine, struct rg_engine **ret_held,
			   struct roger_err *err)
{
	int r = rg_engine_records_begin(engine, err);

	*ret_held = r < 0 ? NULL : engine;
	return r;
}

void rg_engine_records_endp(struct rg_engine **held)
{
	if (*held)
		rg_engine_records_end(*held);
}

int rg_engine_log_add(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
		      struct roger_str entries, bool durable, struct roger_err *err)
{
	int r = engine->store->ops->add(engine->store, log, owner, entries, durable, err);

	rg_assert(log == RG_LOG_ARCHIVE || rg_store_took(engine->store, RG_LOCK_RECORDS));
	return r < 0 || !engine->store->made ? r : rg_engine_log_made(engine, log, owner, err);
}

int rg_engine_log_append(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			 struct roger_str entries, bool durable, struct roger_err *err)
{
	int r;

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	r = rg_engine_log_add(engine, log, owner, entries, durable, err);
	engine->stored += r == ROGER_OK;
	return r;
}

struct purging {
	enum rg_log log;
	rg_log_drop *drop;
	void *context;
	struct rg_arena *arena; /* for one line */
	bool short_of_memory;	/* a line was kept that might have been due */
};

/* Is the line to be dropped?  One that is not an entry is kept. */
static bool drop_line(void *context, struct roger_str line)
{
	struct purging *purging = context;
	union rg_log_record record;
	int r;

	rg_arena_reset(purging->arena);
	r = rg_log_kind_read(purging->log, line, purging->arena, &record, NULL);
	purging->short_of_memory |= r == ROGER_ENOMEM;
	return r == ROGER_OK && purging->drop(purging->context, &record);
}

int rg_engine_log_purge(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			rg_log_drop *drop, void *context, int64_t *ret_dropped,
			struct roger_err *err)
{
	struct purging purging = {
		.log = log, .drop = drop, .context = context, .arena = rg_arena_new()
	};
	struct rg_store *store = engine->store;
	int r;

	rg_assert(rg_store_took(store, RG_LOCK_RECORDS));
	r = purging.arena
		    ? store->ops->rewrite(store, log, owner, drop_line, &purging, ret_dropped, err)
		    : rg_fail_memory(err);
	if (r == ROGER_OK && purging.short_of_memory)
		r = rg_fail_memory(err);
	rg_arena_free(purging.arena);
	engine->stored += r == ROGER_OK && *ret_dropped;
	return r;
}

/* Find the only journal of a log that has no owners, and its size.  *ret_there is false when there
 * is no such journal. */
static int find_one_log(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
			struct rg_log_file **ret_file, bool *ret_there, struct roger_err *err)
{
	struct rg_store *store = engine->store;
	struct rg_log_files files = { 0 };
	int r = store->ops->list(store, log, RG_STR(""), arena, &files, err);

	rg_assert(rg_log_kinds[log].file != NULL);
	*ret_there = false;
	*ret_file = files.items;
	return r < 0 || !files.count ? r : store->ops->stat(store, files.items, ret_there, err);
}

int rg_engine_log_last(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
		       struct roger_str *ret_text, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_LINE_BYTES_MAX };
	struct rg_log_file *file;
	struct rg_bytes bytes;
	bool there;
	int r = find_one_log(engine, log, arena, &file, &there, err);

	if (r == ROGER_OK && there) {
		bytes = rg_bytes_of(engine->store, file);
		r = rg_lines_last(&bytes, file->size, &text, err);
	}
	return r < 0 || rg_arena_copy(arena, rg_buf_str(&text), ret_text) ? r : rg_fail_memory(err);
}

int rg_engine_log_end(struct rg_engine *engine, enum rg_log log, size_t bytes,
		      struct rg_arena *arena, struct roger_str *ret_lines, struct roger_err *err)
{
	struct roger_str cut;
	char *text;
	struct rg_log_file *file;
	uint64_t from;
	bool there;
	size_t got;
	int r = find_one_log(engine, log, arena, &file, &there, err);

	rg_assert(bytes > 0);
	*ret_lines = (struct roger_str){ "", 0 };
	if (r < 0 || !there)
		return r;
	text = rg_arena_get(arena, bytes);
	if (!text)
		return rg_fail_memory(err);
	from = file->size > bytes ? file->size - bytes : 0;
	r = engine->store->ops->read(engine->store, file, from, text, bytes, &got, err);
	if (r < 0)
		return r;
	*ret_lines = (struct roger_str){ text, got };
	/* The first of them is whole only at the start of the file. */
	if (from)
		(void)rg_str_next_line(ret_lines, &cut);
	return ROGER_OK;
}

enum { BATCHES_BYTES = 8 << 20, ENTRIES = 10000, TELL_LINES = 8192 };

/* A saved mark is at most this much behind, so that nobody waits for what is copied again. */
enum { MARK_BYTES = RG_READY_BYTES / 4 };

/* ---------------------------------------- from the journal to the send logs -- */

/* Entries to append to one sender's log. */
struct batch {
	struct roger_str sender;
	struct rg_buf text;
};

/* What a text in the table of known texts is. */
enum known {
	BEGUN,	/* id of an attempt with new entries */
	KEYED,	/* id of a line with a key that was read */
	CYCLE,	/* id of a cycle that was not purged */
	LOGGED, /* from the start: id of an attempt that the logs have as delivered */
	OPEN,	/* from the start: id of one whose message may have been read since */
};

struct carrying {
	struct rg_engine *engine;
	struct rg_arena *arena; /* for the batches */
	struct rg_arena *line;	/* for the current line */
	struct {
		struct batch *items;
		size_t count;
	} batches;
	size_t bytes;		      /* bytes in the batches */
	uint64_t from, stated;	      /* how far the logs are known to be; what the mark says */
	bool all;		      /* every line is read */
	bool failed;		      /* a log could not be written */
	bool plain;		      /* copy messages without a key instead of those with one */
	bool refreshed;		      /* the index is up to date */
	bool derived;		      /* the entry is made later, not by its sender */
	struct roger_cycle_list kept; /* the cycles that purge keeps, newest first */
	bool knows_cycles;	      /* `known` has the cycles that were not purged */
	bool from_start;       /* the mark was lost, as by a restart: skip what is in the logs */
	struct rg_table known; /* hashes of texts, each by what it is known as */
};

static struct batch *batch_of(struct carrying *carrying, struct roger_str sender)
{
	struct batch *batch;
	size_t i;

	for (i = carrying->batches.count; i > 0; i--)
		if (rg_str_equal(carrying->batches.items[i - 1].sender, sender))
			return &carrying->batches.items[i - 1];
	batch = rg_arena_push(carrying->arena, &carrying->batches.items, &carrying->batches.count,
			      sizeof *batch);
	if (!batch || !rg_arena_copy(carrying->arena, sender, &batch->sender))
		return NULL;
	rg_buf_init(&batch->text, SIZE_MAX);
	return batch;
}

static int note_known(struct carrying *carrying, enum known as, struct roger_str text,
		      struct roger_err *err)
{
	bool fresh;

	return rg_kept(rg_table_put(&carrying->known, rg_hash(as, text.data, text.length), &fresh),
		       err);
}

static bool has_known(const struct carrying *carrying, enum known as, struct roger_str text)
{
	return rg_table_find(&carrying->known, rg_hash(as, text.data, text.length));
}

/* Is the entry in the log already, or was it dropped by a purge?  An open one was not dropped. */
static bool is_known(const struct carrying *carrying, const struct roger_message *message,
		     struct roger_str id)
{
	return carrying->from_start &&
	       (has_known(carrying, LOGGED, id) ||
		(!has_known(carrying, CYCLE, message->cycle) && !has_known(carrying, OPEN, id)));
}

/* Load the cycles that purge keeps; the cycle that nobody opened counts as the oldest. */
static int know_cycles(struct carrying *carrying, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_CYCLES,
		.newest = true,
		.limit = carrying->engine->workspace->config->cycles_kept,
	};
	struct rg_log_entries entries;
	union rg_log_record record;
	size_t i;
	int r;

	r = rg_engine_read_log(carrying->engine, &query, carrying->arena, &entries, err);
	carrying->knows_cycles = r == ROGER_OK;
	if (r == ROGER_OK && (int64_t)entries.count < query.limit)
		r = note_known(carrying, CYCLE, RG_STR(RG_FIRST_CYCLE), err);
	for (i = 0; r == ROGER_OK && i < entries.count; i++) {
		r = rg_log_kind_read(RG_LOG_CYCLES, entries.items[i].text, carrying->arena, &record,
				     err);
		if (r < 0)
			return r;
		if (!rg_arena_append(carrying->arena, &carrying->kept.items, &carrying->kept.count,
				     &record.cycle, sizeof record.cycle))
			return rg_fail_memory(err);
		r = note_known(carrying, CYCLE, record.cycle.id, err);
	}
	return r;
}

/* Find the last entry of a message's attempt.  If it has none, *last is left unchanged, and
 * *ret_purged says whether purge dropped it; else it is still to be made. */
static int last_entry(struct carrying *carrying, const struct roger_message *message,
		      const struct roger_attempt *attempt, struct rg_arena *arena,
		      struct roger_attempt *last, bool *ret_purged, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .owner = attempt->from,
					    .id = attempt->id,
					    .newest = true,
					    .limit = 1 };
	struct rg_log_entries found;
	union rg_log_record record;
	int r;

	r = rg_engine_read_log(carrying->engine, &query, arena, &found, err);
	if (r == ROGER_OK && !found.count && !carrying->knows_cycles)
		r = know_cycles(carrying, err);
	if (r < 0)
		return r;
	*ret_purged = !found.count && !has_known(carrying, CYCLE, message->cycle);
	if (!found.count)
		return r;
	r = rg_log_kind_read(RG_LOG_SENDS, found.items[0].text, arena, &record, err);
	if (r == ROGER_OK)
		*last = record.attempt;
	return r;
}

static int carry_entry(struct carrying *carrying, const struct roger_attempt *attempt,
		       struct roger_err *err)
{
	struct batch *batch = batch_of(carrying, attempt->from);
	struct roger_attempt entry = *attempt;

	rg_assert(attempt->id.length && attempt->from.length);
	if (!batch)
		return rg_fail_memory(err);
	entry.derived = carrying->derived;
	carrying->bytes -= batch->text.length;
	rg_record_encode(&rg_attempt_record, &entry, &batch->text);
	rg_buf_add_char(&batch->text, '\n');
	carrying->bytes += batch->text.length;
	return batch->text.failed ? rg_fail_memory(err)
				  : note_known(carrying, BEGUN, attempt->id, err);
}

/* Copy to the send log what a line of the journal says of an attempt whose sender waits, unless the
 * log has it.  If the message was read after the deadline, and the sender died before it could
 * record a timeout, record the timeout first. */
static int carry_waited(struct carrying *carrying, const struct roger_message *message,
			enum rg_sendlog_told told, struct roger_attempt *attempt,
			struct rg_arena *arena, struct roger_err *err)
{
	const bool ends = told == RG_TOLD_DELIVERED || told == RG_TOLD_IN_PLACE;
	struct roger_attempt last = { .pending = true }, late;
	bool purged;
	int r = last_entry(carrying, message, attempt, arena, &last, &purged, err);

	if (r < 0 || purged || (told == RG_TOLD_BEGUN && last.id.length) ||
	    (told == RG_TOLD_GONE && !last.pending))
		return r;
	if (ends)
		attempt->dead_letter_task = last.dead_letter_task;
	late = *attempt;
	late.outcome = ROGER_TIMEOUT;
	late.at_ms = message->confirm_by_ms;
	late.cause = RG_STR(RG_CAUSE_LATE);
	if (ends && last.pending && message->read_at_ms > message->confirm_by_ms)
		r = carry_entry(carrying, &late, err);
	return r < 0 ? r : carry_entry(carrying, attempt, err);
}

/* Copy what a line of a message with a key says about its attempt. */
static int carry_message(struct carrying *carrying, const struct roger_message *message,
			 struct rg_arena *arena, struct roger_err *err)
{
	const int64_t now_ms = rg_clock_ms(), by_ms = message->confirm_by_ms;
	int64_t at_ms;
	const enum rg_sendlog_told told = rg_sendlog_told(message, &at_ms);
	struct roger_attempt attempt;
	int r;

	rg_assert(message->key.length > 0);
	/* From the start, whoever sent with a key gets a log, if only an empty one, so that
	 * is_lost() does not find it missing again. */
	if (carrying->from_start && !batch_of(carrying, message->from))
		return rg_fail_memory(err);
	if (told == RG_TOLD_NOTHING)
		return ROGER_OK;
	/* When a later attempt began is not known, only that it was before its deadline. */
	if (told == RG_TOLD_BEGUN && message->attempt > 1)
		at_ms = now_ms < by_ms ? now_ms : by_ms;
	r = rg_sendlog_entry(message, carrying->engine->workspace->config->attempts_max,
			     told == RG_TOLD_BEGUN	 ? ROGER_TIMEOUT
			     : told == RG_TOLD_DELIVERED ? ROGER_DELIVERED
							 : ROGER_ERROR,
			     at_ms ? at_ms : now_ms, arena, &attempt, err);
	if (r < 0 || is_known(carrying, message, attempt.id) ||
	    (told == RG_TOLD_BEGUN && has_known(carrying, BEGUN, attempt.id)))
		return r;
	attempt.pending = told == RG_TOLD_BEGUN;
	if (told == RG_TOLD_IN_PLACE || told == RG_TOLD_GONE)
		attempt.cause = told == RG_TOLD_GONE ? RG_STR(RG_CAUSE_ARCHIVED)
						     : RG_STR(RG_CAUSE_IN_PLACE);
	r = by_ms ? carry_waited(carrying, message, told, &attempt, arena, err)
		  : carry_entry(carrying, &attempt, err);
	/* Remember the id, since a message may have several lines. */
	return r == ROGER_OK && carrying->from_start && told != RG_TOLD_BEGUN
		       ? note_known(carrying, LOGGED, attempt.id, err)
		       : r;
}

/* Return the cycle in force at that time; "": purge has dropped the entry, or would. */
static struct roger_str cycle_at(const struct carrying *carrying, int64_t at_ms)
{
	size_t i;

	rg_assert(carrying->knows_cycles);
	for (i = 0; i < carrying->kept.count; i++)
		if (carrying->kept.items[i].opened_at_ms <= at_ms)
			return carrying->kept.items[i].id;
	return (int64_t)carrying->kept.count < carrying->engine->workspace->config->cycles_kept
		       ? RG_STR(RG_FIRST_CYCLE)
		       : RG_STR("");
}

/* Copy a message without a key that roger itself sent: not over an edge, not another program's. */
static int carry_plain(struct carrying *carrying, const struct roger_message *message,
		       struct rg_arena *arena, struct roger_err *err)
{
	struct roger_str cycle = cycle_at(carrying, message->created_at_ms);
	struct roger_message plain;
	struct roger_attempt attempt;
	int r;

	rg_assert(carrying->plain);
	if (message->key.length || !message->seq || message->via.length || message->read ||
	    message->claimed_by.length || message->archived_at_ms || !cycle.length)
		return ROGER_OK;
	r = rg_sendlog_plain(message, cycle, arena, &plain, err);
	if (r == ROGER_OK)
		r = rg_sendlog_entry(&plain, 1, ROGER_DELIVERED, plain.created_at_ms, arena,
				     &attempt, err);
	return r < 0 || is_known(carrying, &plain, attempt.id) ||
			       has_known(carrying, BEGUN, attempt.id)
		       ? r
		       : carry_entry(carrying, &attempt, err);
}

/* Most lines have no key and are skipped without being parsed.  A later line of another program
 * need not repeat the key. */
static bool may_have_key(struct roger_str line)
{
	static const char member[] = "\"idempotent_key\":";

	return rg_str_find_part(line, rg_str(member)) != NULL;
}

/* Was the message added by this very transaction? */
static bool is_staged(const struct rg_engine *engine, struct roger_str id)
{
	size_t i;

	for (i = 0; i < engine->staged_count; i++)
		if (engine->staged[i].added && rg_str_equal(engine->staged[i].added->id, id))
			return true;
	return false;
}

/* Does the line lack what the last line has, or differ in its number?  Then ask the first one. */
static bool lacks_some(const struct roger_message *message, const struct roger_message *last)
{
	return (!message->attempt && last->attempt) ||
	       (!message->cycle.length && last->cycle.length) || message->seq != last->seq;
}

/* Update the tables, once: only they know first lines, and answer for many messages. */
static int refresh_tables(struct carrying *carrying, struct roger_err *err)
{
	int r = carrying->refreshed ? ROGER_OK : rg_engine_refresh(carrying->engine, err);

	carrying->refreshed = r == ROGER_OK;
	return r;
}

/* Complete a later line by the first one, not by the last, which may be of another attempt.  The
 * first line is used as it stands.  Of a message without a key only the first line counts. */
static int follow_first(struct carrying *carrying, const struct rg_line *line,
			struct rg_arena *arena, struct roger_message *message, bool *ret_sure,
			struct roger_err *err)
{
	struct rg_engine *engine = carrying->engine;
	struct roger_message begun;
	struct roger_str unused;
	struct rg_entry first;
	int r = refresh_tables(carrying, err);

	if (r == ROGER_OK)
		r = rg_index_find_first(engine->index, message->id, &first, err);
	*ret_sure = r == ROGER_OK && first.position && first.offset == line->offset;
	if (r < 0 || *ret_sure || carrying->plain || !first.position)
		return r;
	r = rg_engine_line_at(engine, first.offset, arena, &unused, &begun, err);
	*ret_sure = r == ROGER_OK;
	if (*ret_sure)
		rg_message_follow(&begun, message);
	/* The first line may have been altered since the tables took it in. */
	return r == ROGER_EDATA ? ROGER_OK : r;
}

/*
 * Give the message the members that its first line has. *ret_sure false: nothing may be made of
 * this line, since it was altered, or another program sent the message. own: its chain fits. A new
 * line of roger's is used as it stands, unless other programs added lines, too.
 */
static int settle_message(struct carrying *carrying, const struct rg_line *line, bool own,
			  struct rg_arena *arena, struct roger_message *message, bool *ret_sure,
			  struct roger_err *err)
{
	struct rg_engine *engine = carrying->engine;
	struct roger_message_list found;
	struct roger_str body;
	const bool many = carrying->plain || carrying->from_start,
		   staged = is_staged(engine, message->id),
		   ends = message->read || message->archived_at_ms;
	uint64_t chain;
	int r = ROGER_OK;

	carrying->derived = many && !staged;
	*ret_sure = staged || (own && !many && !rg_store_head(engine->store).adoptions);
	if (*ret_sure)
		return ROGER_OK;
	if (!own && (!ends || rg_chain_split(line->text, &chain, &body))) {
		engine->store->saw_altered |= !ends && rg_line_looks_own(line->text);
		return ROGER_OK;
	}
	if (carrying->plain)
		return own ? follow_first(carrying, line, arena, message, ret_sure, err) : ROGER_OK;
	if (many)
		r = refresh_tables(carrying, err);
	if (r == ROGER_OK)
		r = rg_engine_find_ids(engine, &message->id, 1, arena, &found, err);
	if (r < 0 || !found.count)
		return r;
	if (lacks_some(message, &found.items[0]))
		return follow_first(carrying, line, arena, message, ret_sure, err);
	rg_message_follow(&found.items[0], message);
	*ret_sure = true;
	return ROGER_OK;
}

static int carry_line(struct carrying *carrying, const struct rg_line *line, bool own,
		      struct roger_err *err)
{
	struct rg_arena *const arena = carrying->line;
	struct roger_message message;
	bool sure = false;
	int r;

	if (carrying->plain ? may_have_key(line->text) : own && !may_have_key(line->text))
		return ROGER_OK;
	/* Skip a line of another program: roger did not send that message. */
	if (carrying->plain && !own && !rg_line_looks_own(line->text))
		return ROGER_OK;
	rg_arena_reset(arena);
	r = rg_message_read_within(line->text, arena, &message, err);
	if (r == ROGER_OK && carrying->all && message.key.length)
		r = note_known(carrying, KEYED, message.id, err);
	/* A later line of a message need not repeat its key. */
	if (r == ROGER_OK && (!carrying->all || has_known(carrying, KEYED, message.id)))
		r = settle_message(carrying, line, own, arena, &message, &sure, err);
	else if (r != ROGER_ENOMEM)
		r = ROGER_OK;
	if (r < 0 || !sure || (message.key.length > 0) == carrying->plain)
		return r;
	return carrying->plain ? carry_plain(carrying, &message, arena, err)
			       : carry_message(carrying, &message, arena, err);
}

/* The mark: how far the logs hold messages with a key, or (plain) without one.  Needs a writable
 * store. */
static _Atomic uint64_t *mark_of(struct rg_engine *engine, bool plain)
{
	struct rg_shared *shared = rg_store_shared(engine->store);

	rg_assert(shared != NULL);
	return plain ? &shared->listed : &shared->logged;
}

static void note_trouble(struct rg_engine *engine, const struct roger_err *err)
{
	rg_warn(&engine->trouble, err, "the send log lacks entries of what was sent: %.300s",
		err->message);
}

/* Write the batches to the logs, and set the mark to byte `to`.  If a log cannot be written, the
 * others are, but the mark stays. */
static void write_batches(struct carrying *carrying, uint64_t to)
{
	struct rg_engine *engine = carrying->engine;
	struct roger_err err;
	struct batch *batch;
	size_t i;

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	for (i = 0; i < carrying->batches.count; i++) {
		batch = &carrying->batches.items[i];
		if ((batch->text.length || carrying->from_start) &&
		    rg_engine_log_add(engine, RG_LOG_SENDS, batch->sender, rg_buf_str(&batch->text),
				      false, &err) < 0) {
			note_trouble(engine, &err);
			carrying->failed = true;
		}
		rg_buf_clear(&batch->text);
	}
	carrying->bytes = 0;
	/* Ask for the mark only now: the control file may have been replaced meanwhile. */
	while (!carrying->failed && carrying->from < to &&
	       !atomic_compare_exchange_weak(mark_of(engine, carrying->plain), &carrying->stated,
					     to))
		carrying->from = carrying->stated;
	if (!carrying->failed && carrying->from < to)
		carrying->from = carrying->stated = to;
}

static int read_span(struct carrying *carrying, uint64_t from, uint64_t to, struct roger_err *err)
{
	struct rg_store *store = carrying->engine->store;
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(store, &rg_store_messages, from, to);
	const struct rg_head head = rg_store_head(store);
	struct rg_chain chain;
	struct rg_line line;
	size_t count = 0;
	bool found, own;
	int r;

	rg_assert(from <= to);
	r = rg_chain_find(&lines.bytes, from, &chain, err);
	if (r < 0)
		return r;
	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found) {
		r = rg_chain_step(&lines.bytes, &line, &chain, &own, err);
		/* Skip what a failed sync should have covered: a retry appends it again. */
		if (r == ROGER_OK && !line.too_long && !rg_head_lost(&head, line.offset))
			r = carry_line(carrying, &line, own, err);
		if (r == ROGER_OK && count++ % TELL_LINES == 0 &&
		    !rg_index_report_progress(carrying->engine->index, "send-log",
					      (int64_t)line.offset, (int64_t)to))
			r = rg_fail(err, ROGER_EREFUSED, 0, "stopped");
		if (r < 0)
			return r;
		if (carrying->bytes > BATCHES_BYTES)
			write_batches(carrying, line.offset + line.length + 1);
	}
	return r;
}

/* ------------------------------------------------- after a start of the machine -- */

/* Read what is in the logs: not all of it may have reached the disk before the machine stopped. */
static int know_all(struct carrying *carrying, struct roger_err *err)
{
	struct rg_log_query query = { .log = RG_LOG_SENDS, .limit = ENTRIES };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *scratch = rg_arena_new();
	struct rg_log_entries entries = { .count = ENTRIES };
	union rg_log_record record;
	bool ended;
	size_t i;
	int r;

	carrying->from_start = true;
	r = !scratch	      ? rg_fail_memory(err)
	    : carrying->plain ? ROGER_OK
			      : know_cycles(carrying, err);
	while (r == ROGER_OK && entries.count == ENTRIES) {
		rg_arena_reset(scratch);
		r = rg_engine_read_log(carrying->engine, &query, scratch, &entries, err);
		for (i = 0; r == ROGER_OK && i < entries.count; i++) {
			query.after = entries.items[i].position;
			r = rg_log_kind_read(RG_LOG_SENDS, entries.items[i].text, scratch, &record,
					     err);
			ended = r == ROGER_OK && record.attempt.outcome == ROGER_DELIVERED;
			if (r == ROGER_OK)
				r = note_known(carrying, ended ? LOGGED : OPEN, record.attempt.id,
					       err);
			/* The message of one that was not delivered may have been read since. */
			if (r == ROGER_OK && !ended)
				r = rg_engine_note_key(carrying->engine, record.attempt.from,
						       record.attempt.key, err);
		}
	}
	return r;
}

/* ----------------------------------------------------- a mark that is kept -- */

/* Save the mark, with the chain there, in a document, where the store has no checkpoint.  It is
 * queued behind the entries, so it is never ahead of them.  0: nothing is known. */
static void keep_mark(struct rg_engine *engine, uint64_t to)
{
	const struct rg_bytes bytes = rg_bytes_of(engine->store, &rg_store_messages);
	struct rg_store *store = engine->store;
	struct rg_chain chain;
	char text[64];

	if (!store->elsewhere || rg_chain_find(&bytes, to, &chain, NULL) < 0)
		return;
	snprintf(text, sizeof text, "%llu %016llx", (unsigned long long)to,
		 (unsigned long long)chain.value);
	if (store->ops->put(store, RG_DOCUMENT_CARRIED, RG_STR(""), NULL, rg_str(text), false,
			    NULL) == ROGER_OK)
		atomic_store(&rg_store_shared(store)->carried, to);
}

/* -------------------------------------------------------------- carrying -- */

/* Return the mark; 0 if it is not known. */
static uint64_t carried_to(struct rg_engine *engine, bool plain)
{
	const struct rg_head head = rg_store_head(engine->store);
	uint64_t to = plain ? atomic_load(&head.shared->listed) : head.logged;

	return to <= head.end ? to : 0;
}

/* Make the next copy start at the beginning; it skips what is there. */
static void start_over(struct rg_engine *engine, bool plain)
{
	struct rg_shared *shared = rg_store_shared(engine->store);

	atomic_store(mark_of(engine, plain), 0);
	if (atomic_exchange(&shared->carried, 0))
		keep_mark(engine, 0);
}

void rg_engine_carry_anew(struct rg_engine *engine)
{
	start_over(engine, false);
	start_over(engine, true);
}

/* Copy into the send logs what the journal has up to byte `to`, all of it on disk.  While damage
 * closes the journal, the logs are left as they are. */
static int carry_lines(struct rg_engine *engine, bool plain, uint64_t to, struct roger_err *err)
{
	uint64_t from = carried_to(engine, plain);
	struct carrying carrying = { .engine = engine,
				     .arena = rg_arena_new(),
				     .line = rg_arena_new(),
				     .from = from,
				     .stated = atomic_load(mark_of(engine, plain)),
				     .plain = plain };
	uint64_t start, carried;
	size_t i;
	int r = rg_kept(carrying.arena && carrying.line, err);

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	if (atomic_load(&rg_store_shared(engine->store)->broken) == RG_BROKEN_CLOSED)
		from = carrying.from = to;
	/* After a restart, start behind what the checkpoint says is in the logs. */
	carried = atomic_load(&rg_store_shared(engine->store)->carried);
	start = plain || from || carried > to ? from : carried;
	carrying.all = !plain && start == 0;
	rg_table_init(&carrying.known, sizeof(uint64_t));
	if (r == ROGER_OK && plain && from < to)
		r = know_cycles(&carrying, err);
	if (r == ROGER_OK && from == 0 && to > 0)
		r = know_all(&carrying, err);
	if (r == ROGER_OK && from < to)
		r = read_span(&carrying, start, to, err);
	if (r == ROGER_OK)
		write_batches(&carrying, to);
	/* Entries are missing: the next copy starts again and skips what is there. */
	if (to == 0 || carrying.failed)
		start_over(engine, plain);
	else if (r == ROGER_OK && !plain &&
		 to - atomic_load(&rg_store_shared(engine->store)->carried) > MARK_BYTES)
		keep_mark(engine, to);
	for (i = 0; i < carrying.batches.count; i++)
		rg_buf_deinit(&carrying.batches.items[i].text);
	rg_table_deinit(&carrying.known);
	rg_arena_free(carrying.arena);
	rg_arena_free(carrying.line);
	return r;
}

int rg_engine_carry(struct rg_engine *engine, bool from_start, uint64_t *ret_to,
		    struct roger_err *err)
{
	int r = ROGER_OK, plain;

	*ret_to = 0;
	if (!rg_store_writable(engine->store))
		return ROGER_OK;
	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	if (from_start)
		start_over(engine, false);
	for (plain = 0; plain < 2 && r == ROGER_OK; plain++)
		if (carried_to(engine, plain) < rg_store_head(engine->store).synced)
			r = carry_lines(engine, plain, rg_store_head(engine->store).synced, err);
	*ret_to = carried_to(engine, false);
	return r;
}

/* Copy up to byte `end`.  Takes the record lock, unless this handle has taken it, even if it was
 * lost since with the control file: who took it gives it back. */
static int carry_all(struct rg_engine *engine, bool plain, uint64_t end, struct roger_err *err)
{
	const bool taken = rg_store_took(engine->store, RG_LOCK_RECORDS);
	int r = ROGER_OK;

	if (!rg_store_writable(engine->store) || carried_to(engine, plain) >= end)
		return ROGER_OK;
	r = plain ? ROGER_OK : rg_store_check_ready(engine->store, uncarried_bytes(engine), err);
	if (r < 0)
		return r;
	if (!taken)
		r = rg_engine_records_begin(engine, err);
	if (r < 0)
		return r;
	/* Another process may just have copied it.  What others have sent since is left to them:
	 * they have their own logs open. */
	if (carried_to(engine, plain) < end)
		r = carry_lines(engine, plain, end, err);
	if (!taken)
		rg_engine_records_end(engine);
	return r;
}

void rg_engine_log_sends(struct rg_engine *engine, uint64_t end)
{
	struct roger_err err;

	/* A failure loses nothing: the next sender or reader copies it from the journal. */
	if (carry_all(engine, false, end, &err) < 0)
		note_trouble(engine, &err);
}

bool rg_engine_has_sends(const struct rg_engine *engine)
{
	const struct rg_staged *staged;
	size_t i;

	for (i = 0; i < engine->staged_count; i++) {
		staged = &engine->staged[i];
		if (staged->added ? staged->added->cycle.length > 0
				  : staged->after.confirm_by_ms > 0 || staged->after.attempt > 1)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------- reading -- */

/* Limit notes to those that are there now: the journal has what these tell of. */
static int limit_files(struct rg_engine *engine, const struct rg_log_files *files,
		       struct roger_err *err)
{
	struct rg_log_file *file;
	bool there;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < files->count && r == ROGER_OK; i++) {
		file = &files->items[i];
		if (file->log != RG_LOG_ACTIVITY)
			continue;
		r = engine->store->ops->stat(engine->store, file, &there, err);
		file->limited = true;
		file->most = file->size;
	}
	return r;
}

/* List logs, notes limited to those that are there now; then update the tables. */
static int list_logs(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
		     struct rg_arena *arena, struct rg_log_files *ret_files, struct roger_err *err)
{
	int r;

	*ret_files = (struct rg_log_files){ 0 };
	rg_engine_look_for_log(engine, log);
	r = engine->store->ops->list(engine->store, log, owner, arena, ret_files, err);
	if (r == ROGER_OK)
		r = limit_files(engine, ret_files, err);
	return r < 0 ? r : rg_engine_refresh(engine, err);
}

/* Read a log as it is, without copying from the journal first. */
int rg_engine_read_log(struct rg_engine *engine, const struct rg_log_query *query,
		       struct rg_arena *arena, struct rg_log_entries *ret_entries,
		       struct roger_err *err)
{
	struct rg_log_files files;
	int tries = 0, r = list_logs(engine, query->log, query->owner, arena, &files, err);

	*ret_entries = (struct rg_log_entries){ 0 };
	if (r < 0 || !files.count)
		return r;
	do
		r = rg_index_find_log(engine->index, query, &files, arena, ret_entries, err);
	while (rg_index_heals(engine->index, &tries, &r, err));
	return r;
}

int rg_engine_last_looks(struct rg_engine *engine, struct roger_agent *agents, size_t count,
			 struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files;
	int tries = 0,
	    r = arena ? list_logs(engine, RG_LOG_ACTIVITY, RG_STR(""), arena, &files, err)
		      : rg_fail_memory(err);

	if (r < 0)
		return r;
	do
		r = rg_index_last_looks(engine->index, &files, engine->workspace->config->file_only,
					agents, count, err);
	while (rg_index_heals(engine->index, &tries, &r, err) ||
	       (r == ROGER_OK && rg_engine_note_altered(engine, arena)));
	return r;
}

int rg_engine_list_told(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
			struct rg_log_files *ret_files, struct roger_err *err)
{
	const enum rg_log logs[] = { RG_LOG_ACTIVITY, RG_LOG_DEAD_LETTERS, log };
	const bool two = log == RG_LOG_MESSAGES || log == logs[0] || log == logs[1];
	int i, r = ROGER_OK;

	*ret_files = (struct rg_log_files){ 0 };
	if (!rg_arena_append(arena, &ret_files->items, &ret_files->count, &rg_store_messages,
			     sizeof rg_store_messages))
		return rg_fail_memory(err);
	for (i = 0; r == ROGER_OK && i < (two ? 2 : 3); i++)
		r = engine->store->ops->list(engine->store, logs[i], RG_STR(""), arena, ret_files,
					     err);
	return r < 0 ? r : limit_files(engine, ret_files, err);
}

bool rg_engine_note_altered(struct rg_engine *engine, struct rg_arena *arena)
{
	struct roger_verify_reply found = { .memory = arena };

	if (!engine->store->saw_altered || !rg_store_writable(engine->store) ||
	    rg_store_took(engine->store, RG_LOCK_RECORDS))
		return false;
	engine->store->saw_altered = false;
	return rg_engine_find_damage(engine, arena, &found, NULL) == ROGER_OK;
}

int rg_engine_events(struct rg_engine *engine, const struct rg_event_query *query,
		     rg_event_see *see, void *context, int64_t *ret_count, struct roger_err *err)
{
	const enum rg_log log = query->entries ? query->entries->log
				: query->rows  ? query->rows->log
					       : RG_LOG_MESSAGES;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files = { 0 };
	int r;

	if (query->entries)
		rg_engine_look_for_log(engine, log);
	r = arena ? rg_engine_list_told(engine, log, arena, &files, err) : rg_fail_memory(err);
	if (r == ROGER_OK)
		r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_events(engine->index, query, &files, see, context, ret_count, err);
	if (r < 0 || !rg_engine_note_altered(engine, arena))
		return r;
	/* Start over, without the altered lines. */
	r = see(context, NULL, err);
	return r < 0 ? r
		     : rg_index_events(engine->index, query, &files, see, context, ret_count, err);
}

int rg_engine_rows(struct rg_engine *engine, const struct rg_log_query *query, rg_event_see *see,
		   void *context, struct roger_err *err)
{
	const struct rg_event_query rows = { .rows = query };
	int64_t unused;

	return rg_engine_events(engine, &rows, see, context, &unused, err);
}

/* Has somebody sent with a key who has no log?  owner: only this one. */
static int is_lost(struct rg_engine *engine, struct roger_str owner,
		   const struct rg_log_files *files, struct rg_arena *arena, bool *ret_lost,
		   struct roger_err *err)
{
	struct roger_str from = owner;
	struct rg_log_files own = { 0 };
	size_t i;
	int r;

	do {
		r = rg_index_next_keyed(engine->index, from, arena, &from, err);
		if (r < 0 || !from.length || (owner.length && !rg_str_equal(from, owner)))
			return r;
		own.count = 0;
		r = engine->store->ops->list(engine->store, RG_LOG_SENDS, from, arena, &own, err);
		if (r < 0)
			return r;
		for (i = 0; i < files->count; i++)
			if (rg_str_equal(files->items[i].name, own.items[0].name))
				break;
		*ret_lost = i == files->count;
		/* No name contains this character: go on behind the name. */
		if (!rg_arena_print(arena, &from, "%.*s\x01", RG_STR_ARGS(from)))
			return rg_fail_memory(err);
	} while (!*ret_lost && !owner.length);
	return ROGER_OK;
}

/*
 * Copy the journal again from its start if send logs were deleted. For everybody's entries with a
 * key, that is only noticed when no log is left.
 */
static int look_for_logs(struct rg_engine *engine, const struct rg_log_query *query, uint64_t end,
			 struct rg_arena *arena, struct roger_err *err)
{
	struct rg_store *store = engine->store;
	struct rg_log_files files = { 0 };
	bool lost = false, there = true;
	int r;

	if (!rg_store_writable(store) || !rg_store_head(store).end)
		return ROGER_OK;
	r = store->ops->list(store, RG_LOG_SENDS, query->owner, arena, &files, err);
	if (r == ROGER_OK && query->owner.length)
		r = store->ops->stat(store, files.items, &there, err);
	files.count = there ? files.count : 0;
	if (r < 0 || (files.count && (query->owner.length || !query->plain)))
		return r;
	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = is_lost(engine, query->owner, &files, arena, &lost, err);
	if (r < 0)
		return r;
	if (lost)
		start_over(engine, false);
	if (lost || (query->plain && !files.count &&
		     (!query->owner.length || rg_engine_knows(engine, query->owner))))
		start_over(engine, true);
	return carry_all(engine, false, end, err);
}

/* Copy into the send logs what the journal says and they lack. */
static int bring_sends_up(struct rg_engine *engine, const struct rg_log_query *query, uint64_t end,
			  struct rg_arena *arena, struct roger_err *err)
{
	int r = carry_all(engine, false, end, err);

	if (query->plain && end && !rg_store_writable(engine->store))
		rg_warn(&engine->trouble, NULL,
			"the send logs cannot be written: sends that they lack are not shown");
	if (r == ROGER_OK)
		r = look_for_logs(engine, query, end, arena, err);
	return r < 0 || !query->plain ? r : carry_all(engine, true, end, err);
}

int rg_engine_log_find(struct rg_engine *engine, const struct rg_log_query *query,
		       struct rg_arena *arena, struct rg_log_entries *ret_entries,
		       struct roger_err *err)
{
	uint64_t end;
	int r;

	r = rg_engine_settle(engine, &end, err);
	if (r == ROGER_OK && query->log == RG_LOG_SENDS)
		r = bring_sends_up(engine, query, end, arena, err);
	if (r == ROGER_OK)
		r = rg_engine_read_log(engine, query, arena, ret_entries, err);
	if (r < 0 || !rg_engine_note_altered(engine, arena))
		return r;
	/* Read again, without the altered lines, and with the entries that were copied for them. */
	if (query->log == RG_LOG_SENDS)
		r = bring_sends_up(engine, query, end, arena, err);
	return r < 0 ? r : rg_engine_read_log(engine, query, arena, ret_entries, err);
}

int rg_engine_bring_sends_up(struct rg_engine *engine, bool plain, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS, .plain = plain };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	uint64_t end;
	int r = arena ? rg_engine_settle(engine, &end, err) : rg_fail_memory(err);

	if (r == ROGER_OK)
		r = bring_sends_up(engine, &query, end, arena, err);
	if (arena)
		(void)rg_engine_note_altered(engine, arena);
	return r;
}

void rg_engine_get_ready(struct rg_engine *engine)
{
	if (rg_engine_refresh(engine, NULL) == ROGER_OK)
		(void)!rg_engine_bring_sends_up(engine, false, NULL);
}

uint64_t rg_engine_sends_carried(struct rg_engine *engine, bool plain)
{
	const struct rg_shared *shared = rg_store_shared(engine->store);

	/* While damage closes the journal the logs are read as they are. */
	if (shared && atomic_load(&shared->broken) == RG_BROKEN_CLOSED)
		return INT64_MAX;
	return shared ? carried_to(engine, plain) : 0;
}
