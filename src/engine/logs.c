/*
 * The logs, as the table of kinds has them: their files, adding, reading.
 *
 * What the journal says was delivered is carried into the send logs from where
 * the last one stopped: by whoever sent with a key, for everyone who did so
 * meanwhile, and by whoever asks, for those who were killed in between.
 */
#include "engine/inside.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/table.h"
#include "host/file.h"
#include "store/file/lines.h"
#include "store/file/log.h"
#include "host/storage.h"
#include "facts/sendlog.h"

/* -------------------------------------------------------------- places -- */

/* A folder of logs; make: when missing.  RG_NO_FILE in *folder: it is not there. */
static int open_folder(struct rg_engine *engine, const char *name, bool make, int *folder,
		       struct roger_err *err)
{
	bool made;
	int r;

	if (*folder != RG_NO_FILE)
		return ROGER_OK;
	r = rg_file_open_folder(engine->workspace->data, name, folder, err);
	if (r < 0 || *folder != RG_NO_FILE || !make)
		return r;
	r = rg_file_make_folder(engine->workspace->data, name, &made, err);
	if (r == ROGER_OK)
		r = rg_file_open_folder(engine->workspace->data, name, folder, err);
	if (r == ROGER_OK && *folder == RG_NO_FILE)
		return rg_fail(err, ROGER_ECREATE, 0, "'%s' went away", name);
	return r;
}

/* Of a configured path, which ends in a NUL. */
static const char *name_part(struct roger_str path)
{
	const char *slash = strrchr(path.data, '/');

	return slash ? slash + 1 : path.data;
}

static struct roger_str folder_part(struct roger_str path)
{
	const char *name = name_part(path);

	/* Without its slash: with it, a link in its place would be followed. */
	return name == path.data ? RG_STR(".")
	       : name == path.data + 1
		       ? RG_STR("/")
		       : (struct roger_str){ path.data, (size_t)(name - path.data) - 1 };
}

/* Where the configuration may have it otherwise than the table; "": nowhere. */
static struct roger_str placed(const struct rg_engine *engine, enum rg_log log)
{
	const struct rg_config *config = engine->workspace->config;

	return log == RG_LOG_MESSAGES	? config->jsonl_file
	       : log == RG_LOG_SENDS	? config->send_log_dir
	       : log == RG_LOG_ACTIVITY ? config->activity_file
					: (struct roger_str){ "", 0 };
}

static int place_folder(struct rg_engine *engine, enum rg_log log, bool make, struct roger_err *err)
{
	struct roger_str path = placed(engine, log);
	char name[4300];

	if (!path.length)
		snprintf(name, sizeof name, "%.*s", (int)strlen(rg_kinds[log].folder) - 1,
			 rg_kinds[log].folder);
	else
		rg_workspace_path(engine->workspace, rg_kinds[log].file ? folder_part(path) : path,
				  name, sizeof name);
	return open_folder(engine, name, make, &engine->folders[log], err);
}

/* The folder and the name of a log's file. */
static int place_of(struct rg_engine *engine, enum rg_log log, struct roger_str owner, bool make,
		    int *ret_folder, char to[RG_FILE_NAME_BYTES], struct roger_err *err)
{
	const struct rg_kind *kind = &rg_kinds[log];
	struct roger_str path = placed(engine, log);
	int r = ROGER_OK;

	if (kind->file)
		snprintf(to, RG_FILE_NAME_BYTES, "%s", path.length ? name_part(path) : kind->file);
	else
		rg_workspace_file_name(owner, ".jsonl", to);
	if (*kind->folder)
		r = place_folder(engine, log, make, err);
	*ret_folder = *kind->folder ? engine->folders[log] : engine->workspace->data;
	return r;
}

int rg_engine_records_begin(struct rg_engine *engine, struct roger_err *err)
{
	return rg_journal_take(engine->journal, RG_LOCK_RECORDS, RG_LOCK_WAIT_MS, err);
}

void rg_engine_records_end(struct rg_engine *engine)
{
	rg_journal_release(engine->journal, RG_LOCK_RECORDS);
}

int rg_engine_log_add(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
		      struct roger_str entries, bool durable, struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	int folder, r;

	r = place_of(engine, log, owner, true, &folder, name, err);
	/* In a place of somebody's choice: nothing else than such a log is added to. */
	if (r == ROGER_OK && engine->workspace->config->places_configured && rg_kinds[log].start)
		r = rg_storage_check_file(folder, name, log, err);
	return r < 0 ? r
		     : rg_log_append(folder, name, rg_kinds[log].chained, entries, durable, err);
}

int rg_engine_log_append(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			 struct roger_str entries, bool durable, struct roger_err *err)
{
	int r = rg_engine_log_add(engine, log, owner, entries, durable, err);

	engine->stored += r == ROGER_OK;
	return r;
}

struct purging {
	enum rg_log log;
	rg_log_drop *drop;
	void *context;
	struct rg_arena *arena; /* of one line */
	bool short_of_memory;	/* a line stayed that may have been due */
};

/* A line that is no entry is kept. */
static bool drop_line(void *context, struct roger_str line)
{
	struct purging *purging = context;
	union rg_log_record record;
	int r;

	rg_arena_reset(purging->arena);
	r = rg_kind_read(purging->log, line, purging->arena, &record, NULL);
	purging->short_of_memory |= r == ROGER_ENOMEM;
	return r == ROGER_OK && purging->drop(purging->context, &record);
}

int rg_engine_log_purge(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			rg_log_drop *drop, void *context, int64_t *ret_dropped,
			struct roger_err *err)
{
	struct purging purging = { .log = log, .drop = drop, .context = context };
	char name[RG_FILE_NAME_BYTES];
	int folder, r;

	*ret_dropped = 0;
	r = place_of(engine, log, owner, false, &folder, name, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	purging.arena = rg_arena_new();
	r = purging.arena ? rg_log_purge(folder, name, drop_line, &purging, ret_dropped, err)
			  : rg_fail_memory(err);
	if (r == ROGER_OK && purging.short_of_memory)
		r = rg_fail_memory(err);
	rg_arena_free(purging.arena);
	engine->stored += r == ROGER_OK && *ret_dropped;
	return r;
}

int rg_engine_log_last(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
		       struct roger_str *ret_text, struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	struct rg_buf text;
	int folder, r;

	*ret_text = (struct roger_str){ "", 0 };
	r = place_of(engine, log, (struct roger_str){ "", 0 }, false, &folder, name, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	rg_buf_init(&text, RG_LINE_BYTES_MAX);
	r = rg_log_last(folder, name, &text, err);
	/* A line that is too long to be an entry is a line all the same. */
	if (text.failed) {
		rg_buf_clear(&text);
		rg_buf_add_char(&text, '?');
	}
	if (r == ROGER_OK && !rg_arena_copy(arena, rg_buf_str(&text), ret_text))
		r = rg_fail_memory(err);
	rg_buf_deinit(&text);
	return r;
}

/* ---------------------------------------- from the journal to the send logs -- */

/* Entries of one sender on their way into its log. */
struct batch {
	struct roger_str sender;
	struct rg_buf text;
};

struct carrying {
	struct rg_engine *engine;
	struct rg_arena *arena; /* of batches */
	struct {
		struct batch *items;
		size_t count;
	} batches;
	struct rg_table begun; /* struct known: attempts that entries were made of now */
	bool plain;	       /* messages without a key, in place of those with one */
	struct {
		struct roger_cycle *items; /* those that purge keeps, the newest first */
		size_t count;
	} kept;
	/* After a start of the machine: */
	bool anew;
	struct rg_table known;	/* struct known: ids that stand in the logs already */
	struct rg_table cycles; /* struct known: older ones were purged */
};

struct known {
	uint64_t hash;
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

static uint64_t hash_of(struct roger_str text)
{
	return rg_hash(0, text.data, text.length);
}

static int know(struct rg_table *table, struct roger_str text, struct roger_err *err)
{
	bool fresh;

	return rg_table_put(table, hash_of(text), &fresh) ? ROGER_OK : rg_fail_memory(err);
}

/* Does it stand there already, or did it, before it was purged? */
static bool is_known(const struct carrying *carrying, const struct roger_message *message,
		     struct roger_str id)
{
	return carrying->anew && (!rg_table_find(&carrying->cycles, hash_of(message->cycle_id)) ||
				  rg_table_find(&carrying->known, hash_of(id)));
}

/* The last line of an attempt; count 0: there is none. */
static int last_entry(struct carrying *carrying, const struct roger_attempt *attempt,
		      struct rg_arena *arena, struct roger_attempt *ret_last, bool *ret_found,
		      struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .owner = attempt->sender,
					    .id = attempt->id,
					    .newest = true,
					    .limit = 1 };
	struct rg_log_entries found;
	union rg_log_record record;
	int r;

	r = rg_engine_read_log(carrying->engine, &query, arena, &found, err);
	*ret_found = r == ROGER_OK && found.count;
	if (!*ret_found)
		return r;
	r = rg_kind_read(RG_LOG_SENDS, found.items[0].text, arena, &record, err);
	if (r == ROGER_OK)
		*ret_last = record.attempt;
	return r;
}

static int carry_entry(struct carrying *carrying, const struct roger_attempt *attempt,
		       struct roger_err *err)
{
	struct batch *batch = batch_of(carrying, attempt->sender);

	if (!batch)
		return rg_fail_memory(err);
	rg_record_encode(&rg_attempt_record, attempt, &batch->text);
	rg_buf_add_char(&batch->text, '\n');
	return batch->text.failed ? rg_fail_memory(err) : know(&carrying->begun, attempt->id, err);
}

/* It is on record before anybody waits for it; a line that changes something else is no attempt. */
static int carry_begun(struct carrying *carrying, const struct roger_message *message,
		       struct rg_arena *arena, struct roger_err *err)
{
	struct roger_attempt attempt, last;
	bool found;
	int r;

	r = rg_sendlog_entry(message, carrying->engine->workspace->config->attempts_max,
			     ROGER_TIMEOUT,
			     message->attempt > 1 ? rg_clock_ms() : message->created_at_ms, arena,
			     &attempt, err);
	if (r < 0 || is_known(carrying, message, attempt.id) ||
	    rg_table_find(&carrying->begun, hash_of(attempt.id)))
		return r;
	r = last_entry(carrying, &attempt, arena, &last, &found, err);
	attempt.pending = true;
	return r < 0 || found ? r : carry_entry(carrying, &attempt, err);
}

/*
 * What was read after its time was a timeout, whether or not its sender lived to
 * say so; it keeps the name of its dead letter.
 */
static int carry_late(struct carrying *carrying, const struct roger_message *message,
		      struct roger_attempt *attempt, struct rg_arena *arena, struct roger_err *err)
{
	struct roger_attempt last = { .pending = true }, late = *attempt;
	bool found;
	int r;

	r = last_entry(carrying, attempt, arena, &last, &found, err);
	if (r < 0)
		return r;
	attempt->dead_letter_task_id = last.dead_letter_task_id;
	if (!last.pending || message->read_at_ms <= message->confirm_by_ms)
		return ROGER_OK;
	late.outcome = ROGER_TIMEOUT;
	late.timestamp_ms = message->confirm_by_ms;
	late.cause = RG_STR("not read in time");
	return carry_entry(carrying, &late, err);
}

static int carry_message(struct carrying *carrying, const struct roger_message *message,
			 struct rg_arena *arena, struct roger_err *err)
{
	struct roger_attempt attempt;
	int64_t at_ms;
	int r;

	if (rg_sendlog_begins(message))
		return carry_begun(carrying, message, arena, err);
	if (!rg_sendlog_delivers(message, &at_ms))
		return ROGER_OK;
	r = rg_sendlog_entry(message, carrying->engine->workspace->config->attempts_max,
			     ROGER_DELIVERED, at_ms ? at_ms : rg_clock_ms(), arena, &attempt, err);
	if (r < 0 || is_known(carrying, message, attempt.id))
		return r;
	if (message->confirm_by_ms)
		r = carry_late(carrying, message, &attempt, arena, err);
	if (r == ROGER_OK)
		r = carry_entry(carrying, &attempt, err);
	/* A message may stand in several lines. */
	return r == ROGER_OK && carrying->anew ? know(&carrying->known, attempt.id, err) : r;
}

/* By the clock, as nothing else says it; "": purge has dropped its entry, or would. */
static struct roger_str cycle_at(const struct carrying *carrying, int64_t at_ms)
{
	size_t i;

	for (i = 0; i < carrying->kept.count; i++)
		if (carrying->kept.items[i].opened_at_ms <= at_ms)
			return carrying->kept.items[i].id;
	return (int64_t)carrying->kept.count < carrying->engine->workspace->config->cycles_kept
		       ? RG_STR(RG_FIRST_CYCLE)
		       : RG_STR("");
}

/* Its first line: what came in over an edge, or from another program, roger did not send. */
static int carry_plain(struct carrying *carrying, const struct roger_message *message,
		       struct rg_arena *arena, struct roger_err *err)
{
	struct roger_str cycle = cycle_at(carrying, message->created_at_ms);
	struct roger_message plain;
	struct roger_attempt attempt;
	int r;

	if (message->idempotent_key.length || !message->seq || message->via.length ||
	    message->read || message->claimed_by.length || message->archived_at_ms || !cycle.length)
		return ROGER_OK;
	r = rg_sendlog_plain(message, cycle, arena, &plain, err);
	if (r == ROGER_OK)
		r = rg_sendlog_entry(&plain, 1, ROGER_DELIVERED, plain.created_at_ms, arena,
				     &attempt, err);
	return r < 0 || is_known(carrying, &plain, attempt.id) ||
			       rg_table_find(&carrying->begun, hash_of(attempt.id))
		       ? r
		       : carry_entry(carrying, &attempt, err);
}

/* Most lines have no key: they are passed over without being read. */
static bool may_have_key(struct roger_str line)
{
	static const char member[] = "\"idempotent_key\":";

	return memmem(line.data, line.length, member, sizeof member - 1) != NULL;
}

static int carry_line(struct carrying *carrying, struct roger_str line, struct roger_err *err)
{
	struct roger_message message;
	struct rg_arena *arena;
	int r;

	if (may_have_key(line) == carrying->plain)
		return ROGER_OK;
	arena = rg_arena_new();
	r = arena ? rg_message_read_within(line, arena, &message, err) : rg_fail_memory(err);
	if (r == ROGER_OK)
		r = carrying->plain ? carry_plain(carrying, &message, arena, err)
				    : carry_message(carrying, &message, arena, err);
	else if (r != ROGER_ENOMEM)
		r = ROGER_OK;
	rg_arena_free(arena);
	return r;
}

static int read_span(struct carrying *carrying, uint64_t from, uint64_t to, struct roger_err *err)
{
	struct rg_lines lines;
	struct rg_line line;
	bool found = true;
	int r;

	rg_lines_init(&lines, rg_journal_file(carrying->engine->journal), from, to);
	do {
		r = rg_lines_next(&lines, &line, &found, err);
		/* What a sync that went wrong should have covered is appended again by a retry. */
		if (r == ROGER_OK && found && !line.too_long &&
		    !rg_journal_lost(carrying->engine->journal, line.offset))
			r = carry_line(carrying, line.text, err);
	} while (r == ROGER_OK && found);
	rg_lines_deinit(&lines);
	return r;
}

static void note_trouble(struct rg_engine *engine, const struct roger_err *err)
{
	snprintf(engine->trouble, sizeof engine->trouble,
		 "the send log lacks entries of what was sent: %.300s", err->message);
}

/* A log that cannot be written costs the other senders nothing.  False: there was one. */
static bool write_batches(struct carrying *carrying)
{
	bool all = true;
	struct roger_err err;
	struct batch *batch;
	size_t i;

	for (i = 0; i < carrying->batches.count; i++) {
		batch = &carrying->batches.items[i];
		if (rg_engine_log_add(carrying->engine, RG_LOG_SENDS, batch->sender,
				      rg_buf_str(&batch->text), false, &err) == ROGER_OK)
			continue;
		note_trouble(carrying->engine, &err);
		all = false;
	}
	return all;
}

/* ------------------------------------------------- after a start of the machine -- */

/* The cycles that purge keeps; the one that nobody opened is older than all others. */
static int know_cycles(struct carrying *carrying, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_CYCLES,
		.newest = true,
		.limit = carrying->engine->workspace->config->cycles_kept,
	};
	struct rg_log_entries entries;
	union rg_log_record record;
	struct roger_cycle *cycle;
	size_t i;
	int r;

	r = rg_engine_read_log(carrying->engine, &query, carrying->arena, &entries, err);
	if (r == ROGER_OK && (int64_t)entries.count < query.limit)
		r = know(&carrying->cycles, RG_STR(RG_FIRST_CYCLE), err);
	for (i = 0; r == ROGER_OK && i < entries.count; i++) {
		r = rg_kind_read(RG_LOG_CYCLES, entries.items[i].text, carrying->arena, &record,
				 err);
		if (r == ROGER_OK)
			r = know(&carrying->cycles, record.cycle.id, err);
		cycle = r < 0 ? NULL
			      : rg_arena_push(carrying->arena, &carrying->kept.items,
					      &carrying->kept.count, sizeof *cycle);
		if (r == ROGER_OK && !cycle)
			r = rg_fail_memory(err);
		if (r == ROGER_OK)
			*cycle = record.cycle;
	}
	return r;
}

/* One that timed out may have been read since. */
static int know_attempt(struct carrying *carrying, const struct roger_attempt *attempt,
			struct roger_err *err)
{
	return attempt->outcome == ROGER_DELIVERED
		       ? know(&carrying->known, attempt->id, err)
		       : rg_engine_note_key(carrying->engine, attempt->sender,
					    attempt->idempotent_key, err);
}

/* What reached the disk of the logs before the machine went down. */
static int know_all(struct carrying *carrying, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS };
	struct rg_arena *scratch = rg_arena_new();
	struct rg_log_entries entries = { 0 };
	union rg_log_record record;
	size_t i;
	int r;

	carrying->anew = true;
	r = !scratch	      ? rg_fail_memory(err)
	    : carrying->plain ? ROGER_OK
			      : know_cycles(carrying, err);
	if (r == ROGER_OK)
		r = rg_engine_read_log(carrying->engine, &query, carrying->arena, &entries, err);
	for (i = 0; r == ROGER_OK && i < entries.count; i++) {
		rg_arena_reset(scratch);
		r = rg_kind_read(RG_LOG_SENDS, entries.items[i].text, scratch, &record, err);
		if (r == ROGER_OK)
			r = know_attempt(carrying, &record.attempt, err);
	}
	rg_arena_free(scratch);
	return r;
}

/* -------------------------------------------------------------- carrying -- */

static void free_carrying(struct carrying *carrying)
{
	size_t i;

	for (i = 0; i < carrying->batches.count; i++)
		rg_buf_deinit(&carrying->batches.items[i].text);
	rg_table_deinit(&carrying->begun);
	rg_table_deinit(&carrying->known);
	rg_table_deinit(&carrying->cycles);
	rg_arena_free(carrying->arena);
}

static struct rg_control_page *page_of(struct rg_engine *engine)
{
	struct rg_control *control = rg_journal_control(engine->journal);

	return control ? rg_control_page(control) : NULL;
}

static uint64_t synced(struct rg_engine *engine)
{
	return rg_control_synced(rg_journal_control(engine->journal));
}

static _Atomic uint64_t *mark_of(struct rg_engine *engine, bool plain)
{
	struct rg_control_page *page = page_of(engine);

	return plain ? &page->listed : &page->logged;
}

/* How far they are; 0 where that cannot be told. */
static uint64_t carried(struct rg_engine *engine, bool plain)
{
	uint64_t to = atomic_load(mark_of(engine, plain));

	return to <= rg_control_appended(rg_journal_control(engine->journal)) ? to : 0;
}

/* Under the record lock, as far as is on disk. */
static int carry(struct rg_engine *engine, bool plain, uint64_t to, struct roger_err *err)
{
	uint64_t stated = atomic_load(mark_of(engine, plain)), from = carried(engine, plain);
	struct carrying carrying = { .engine = engine, .arena = rg_arena_new(), .plain = plain };
	int r = ROGER_OK;

	if (!carrying.arena)
		return rg_fail_memory(err);
	rg_table_init(&carrying.begun, sizeof(struct known));
	rg_table_init(&carrying.known, sizeof(struct known));
	rg_table_init(&carrying.cycles, sizeof(struct known));
	if (plain && from < to)
		r = know_cycles(&carrying, err);
	if (r == ROGER_OK && from == 0 && to > 0)
		r = know_all(&carrying, err);
	if (r == ROGER_OK && from < to)
		r = read_span(&carrying, from, to, err);
	/* With what is missing the next one starts over, and leaves out what stands. */
	if (r == ROGER_OK && !write_batches(&carrying))
		to = 0;
	if (to == 0)
		atomic_store(mark_of(engine, plain), 0);
	while (r == ROGER_OK && from < to &&
	       !atomic_compare_exchange_weak(mark_of(engine, plain), &stated, to))
		from = stated;
	free_carrying(&carrying);
	return r;
}

int rg_engine_carry(struct rg_engine *engine, bool anew, uint64_t *ret_to, struct roger_err *err)
{
	int r = ROGER_OK, plain;

	*ret_to = 0;
	if (!page_of(engine))
		return ROGER_OK;
	if (anew)
		atomic_store(mark_of(engine, false), 0);
	for (plain = 0; plain < 2 && r == ROGER_OK; plain++)
		if (carried(engine, plain) < synced(engine))
			r = carry(engine, plain, synced(engine), err);
	*ret_to = carried(engine, false);
	return r;
}

/* Within a transaction of records the lock is ours already. */
static int carry_all(struct rg_engine *engine, bool plain, uint64_t end, struct roger_err *err)
{
	bool holds;
	int r = ROGER_OK;

	if (!page_of(engine) || carried(engine, plain) >= end)
		return ROGER_OK;
	holds = rg_journal_holds(engine->journal, RG_LOCK_RECORDS);
	if (!holds)
		r = rg_engine_records_begin(engine, err);
	if (r < 0)
		return r;
	r = carry(engine, plain, end, err);
	if (!holds)
		rg_engine_records_end(engine);
	return r;
}

void rg_engine_log_sends(struct rg_engine *engine, uint64_t end)
{
	struct roger_err err;

	/* The journal has it; whoever sends or asks next makes it good. */
	if (carry_all(engine, false, end, &err) < 0)
		note_trouble(engine, &err);
}

bool rg_engine_has_sends(const struct rg_engine *engine)
{
	const struct rg_staged *staged;
	size_t i;

	for (i = 0; i < engine->staged_count; i++) {
		staged = &engine->staged[i];
		if (staged->added ? staged->added->cycle_id.length > 0
				  : staged->after.confirm_by_ms > 0 || staged->after.attempt > 1)
			return true;
	}
	return false;
}

void rg_engine_pass_over(struct rg_engine *engine, uint64_t start, uint64_t end)
{
	struct rg_control_page *page = page_of(engine);

	atomic_compare_exchange_strong(&page->logged, &start, end);
}

/* -------------------------------------------------------------- reading -- */

static int add_file(struct rg_log_files *files, enum rg_log log, int folder, struct roger_str name,
		    struct rg_arena *arena, struct roger_err *err)
{
	struct rg_log_file *file;

	file = rg_arena_push(arena, &files->items, &files->count, sizeof *file);
	if (!file)
		return rg_fail_memory(err);
	*file = (struct rg_log_file){ .log = log, .folder = folder, .file = RG_NO_FILE };
	return rg_arena_print(arena, &file->shown, "%s%.*s", rg_kinds[log].folder,
			      RG_STR_ARGS(name)) &&
			       rg_arena_copy(arena, name, &file->name)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

static bool is_log_name(struct roger_str name)
{
	static const char end[] = ".jsonl";
	size_t length = sizeof end - 1;

	return name.length > length && name.data[0] != '.' &&
	       memcmp(name.data + name.length - length, end, length) == 0;
}

/* What is no file in place of one owner's log keeps nobody from reading the others. */
static bool may_be_read(struct rg_engine *engine, int folder, struct roger_str name)
{
	struct rg_file_facts facts;
	struct roger_err err;
	bool there;

	if (rg_file_look(folder, name.data, &there, &facts, &err) != ROGER_EREFUSED)
		return true;
	note_trouble(engine, &err);
	return false;
}

int rg_engine_log_files(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	struct roger_strs names;
	int folder, r;
	size_t i;

	r = place_of(engine, log, owner, false, &folder, name, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	if (rg_kinds[log].file || owner.length)
		return add_file(files, log, folder, rg_str(name), arena, err);
	r = rg_file_list_folder(folder, rg_kinds[log].folder, arena, &names, err);
	for (i = 0; r == ROGER_OK && i < names.count; i++)
		if (is_log_name(names.items[i]) && may_be_read(engine, folder, names.items[i]))
			r = add_file(files, log, folder, names.items[i], arena, err);
	return r;
}

/* Without carrying first. */
int rg_engine_read_log(struct rg_engine *engine, const struct rg_log_query *query,
		       struct rg_arena *arena, struct rg_log_entries *ret_entries,
		       struct roger_err *err)
{
	struct rg_log_files files = { 0 };
	int tries = 0, r;

	*ret_entries = (struct rg_log_entries){ 0 };
	r = rg_engine_log_files(engine, query->log, query->owner, arena, &files, err);
	if (r < 0 || !files.count)
		return r;
	r = rg_engine_refresh(engine, err);
	if (r < 0)
		return r;
	do {
		r = rg_index_refresh_logs(engine->index, &files, err);
		if (r == ROGER_OK)
			r = rg_index_find_log(engine->index, query, &files, arena, ret_entries,
					      err);
	} while (rg_index_heals(engine->index, &tries, &r, err));
	return r;
}

int rg_engine_log_find(struct rg_engine *engine, const struct rg_log_query *query,
		       struct rg_arena *arena, struct rg_log_entries *ret_entries,
		       struct roger_err *err)
{
	uint64_t end;
	int r;

	r = rg_journal_settle(engine->journal, &end, err);
	if (r == ROGER_OK && query->log == RG_LOG_SENDS)
		r = carry_all(engine, false, end, err);
	if (r == ROGER_OK && query->log == RG_LOG_SENDS && query->plain)
		r = carry_all(engine, true, end, err);
	return r < 0 ? r : rg_engine_read_log(engine, query, arena, ret_entries, err);
}
