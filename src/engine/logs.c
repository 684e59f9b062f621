/*
 * The logs: send-log/<sender>.jsonl, dead-letters.jsonl,
 * logs/activity.log.jsonl and cycles.jsonl.
 *
 * What the journal says was delivered is carried into the send logs from where
 * the last one stopped: by whoever sent with a key, for everyone who did so
 * meanwhile, and by whoever asks, for those who were killed in between.
 */
#include "engine/inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/file.h"
#include "store/file/lines.h"
#include "store/file/log.h"
#include "host/storage.h"
#include "facts/sendlog.h"

enum { READ_TRIES_MAX = 20 };

static const char dead_letters_name[] = "dead-letters.jsonl", cycles_name[] = "cycles.jsonl",
		  digests_name[] = "key-digests.jsonl", damage_name[] = "damage.jsonl";

/* -------------------------------------------------------------- places -- */

/* A folder of logs; make: when missing.  RG_NO_FILE in *folder: it is not there. */
static int open_folder(struct rg_engine *engine, struct roger_str path, bool make, int *folder,
		       struct roger_err *err)
{
	char name[4300];
	bool made;
	int r;

	if (*folder != RG_NO_FILE)
		return ROGER_OK;
	rg_workspace_path(engine->workspace, path, name, sizeof name);
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

/* The folder and the name of a log's file. */
static int place_of(struct rg_engine *engine, enum rg_log log, struct roger_str owner, bool make,
		    int *ret_folder, char to[RG_FILE_NAME_BYTES], struct roger_err *err)
{
	const struct rg_config *config = engine->workspace->config;
	int r = ROGER_OK;

	*ret_folder = engine->workspace->data;
	to[0] = '\0';
	switch (log) {
	case RG_LOG_SENDS:
		r = open_folder(engine, config->send_log_dir, make, &engine->send_logs, err);
		*ret_folder = engine->send_logs;
		rg_workspace_file_name(owner, ".jsonl", to);
		break;
	case RG_LOG_ACTIVITY:
		r = open_folder(engine, folder_part(config->activity_file), make,
				&engine->activity_logs, err);
		*ret_folder = engine->activity_logs;
		snprintf(to, RG_FILE_NAME_BYTES, "%s", name_part(config->activity_file));
		break;
	case RG_LOG_DEAD_LETTERS:
		snprintf(to, RG_FILE_NAME_BYTES, "%s", dead_letters_name);
		break;
	case RG_LOG_DIGESTS:
		snprintf(to, RG_FILE_NAME_BYTES, "%s", digests_name);
		break;
	case RG_LOG_DAMAGE:
		snprintf(to, RG_FILE_NAME_BYTES, "%s", damage_name);
		break;
	case RG_LOG_CYCLES:
		snprintf(to, RG_FILE_NAME_BYTES, "%s", cycles_name);
		break;
	}
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
	if (r == ROGER_OK && engine->workspace->config->places_configured &&
	    (log == RG_LOG_SENDS || log == RG_LOG_ACTIVITY))
		r = rg_storage_check_file(
			folder, name, log == RG_LOG_SENDS ? RG_STORAGE_SENDS : RG_STORAGE_ACTIVITY,
			err);
	return r < 0 ? r : rg_log_append(folder, name, entries, durable, err);
}

int rg_engine_log_append(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			 struct roger_str entries, bool durable, struct roger_err *err)
{
	int r = rg_engine_log_add(engine, log, owner, entries, durable, err);

	engine->stored += r == ROGER_OK;
	return r;
}

int rg_engine_log_purge(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			rg_log_drop *drop, void *context, int64_t *ret_dropped,
			struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	int folder, r;

	*ret_dropped = 0;
	r = place_of(engine, log, owner, false, &folder, name, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	r = rg_log_purge(folder, name, drop, context, ret_dropped, err);
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
	uint64_t *known; /* hashes of ids that stand in the logs already; a table, 0: free */
	size_t known_capacity, known_count;
	struct roger_strs cycles; /* with known: older ones were purged */
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

static uint64_t *known_place(const struct carrying *carrying, struct roger_str id)
{
	uint64_t hash = rg_hash(0, id.data, id.length) | 1;
	size_t i = (size_t)(hash >> 1) & (carrying->known_capacity - 1);

	while (carrying->known[i] && carrying->known[i] != hash)
		i = (i + 1) & (carrying->known_capacity - 1);
	return &carrying->known[i];
}

static bool is_known(const struct carrying *carrying, struct roger_str id)
{
	return carrying->known && *known_place(carrying, id) != 0;
}

static int grow_known(struct carrying *carrying, struct roger_err *err)
{
	size_t capacity = carrying->known_capacity ? carrying->known_capacity * 2 : 4096, i, at;
	uint64_t *table = calloc(capacity, sizeof *table);

	if (!table)
		return rg_fail_memory(err);
	for (i = 0; i < carrying->known_capacity; i++) {
		if (!carrying->known[i])
			continue;
		for (at = (size_t)(carrying->known[i] >> 1) & (capacity - 1); table[at];)
			at = (at + 1) & (capacity - 1);
		table[at] = carrying->known[i];
	}
	free(carrying->known);
	carrying->known = table;
	carrying->known_capacity = capacity;
	return ROGER_OK;
}

static int know(struct carrying *carrying, struct roger_str id, struct roger_err *err)
{
	uint64_t *place;
	int r;

	if (carrying->known_count * 4 >= carrying->known_capacity * 3) {
		r = grow_known(carrying, err);
		if (r < 0)
			return r;
	}
	place = known_place(carrying, id);
	carrying->known_count += *place == 0;
	*place = rg_hash(0, id.data, id.length) | 1;
	return ROGER_OK;
}

static bool was_purged(const struct carrying *carrying, struct roger_str cycle)
{
	size_t i;

	for (i = 0; i < carrying->cycles.count; i++)
		if (rg_str_equal(carrying->cycles.items[i], cycle))
			return false;
	return carrying->known != NULL;
}

static int carry_message(struct carrying *carrying, const struct roger_message *message,
			 struct rg_arena *arena, struct roger_err *err)
{
	struct roger_attempt attempt;
	struct batch *batch;
	int64_t at_ms;
	int r;

	if (!rg_sendlog_delivers(message, &at_ms) || was_purged(carrying, message->cycle_id))
		return ROGER_OK;
	r = rg_sendlog_entry(message, carrying->engine->workspace->config->attempts_max,
			     ROGER_DELIVERED, at_ms ? at_ms : rg_clock_ms(), arena, &attempt, err);
	if (r < 0 || is_known(carrying, attempt.id))
		return r;
	batch = batch_of(carrying, attempt.sender);
	if (!batch)
		return rg_fail_memory(err);
	rg_record_encode(&rg_attempt_record, &attempt, &batch->text);
	rg_buf_add_char(&batch->text, '\n');
	if (batch->text.failed)
		return rg_fail_memory(err);
	/* A message may stand in several lines. */
	return carrying->known ? know(carrying, attempt.id, err) : ROGER_OK;
}

/* Most lines have no key: they are passed over without being read. */
static bool may_have_key(struct roger_str line)
{
	static const char member[] = "\"idempotent_key\":";

	return memmem(line.data, line.length, member, sizeof member - 1) != NULL;
}

static int carry_line(struct carrying *carrying, struct roger_str line, struct roger_err *err)
{
	struct rg_arena *arena;
	struct roger_message message;
	struct rg_json *json = NULL;
	int r;

	if (!may_have_key(line))
		return ROGER_OK;
	arena = rg_arena_new();
	if (!arena)
		return rg_fail_memory(err);
	r = rg_message_read(line, &json, arena, &message, err);
	if (r == ROGER_OK)
		r = carry_message(carrying, &message, arena, err);
	else if (r != ROGER_ENOMEM)
		r = ROGER_OK;
	rg_json_free(json);
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

/* The cycles that purge keeps. */
static int know_cycles(struct carrying *carrying, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_CYCLES,
		.newest = true,
		.limit = carrying->engine->workspace->config->cycles_kept,
	};
	struct rg_log_entries entries;
	struct roger_str *place;
	struct rg_json *json;
	struct roger_cycle cycle;
	size_t i;
	int r;

	r = rg_engine_read_log(carrying->engine, &query, carrying->arena, &entries, err);
	for (i = 0; r == ROGER_OK && i <= entries.count; i++) {
		place = rg_arena_push(carrying->arena, &carrying->cycles.items,
				      &carrying->cycles.count, sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		*place = RG_STR(RG_FIRST_CYCLE);
		if (i == entries.count)
			break;
		r = rg_json_read(entries.items[i].text, &json, err);
		if (r < 0)
			return r;
		cycle = (struct roger_cycle){ 0 };
		r = rg_record_decode(&rg_cycle_record, rg_json_root(json), &cycle, carrying->arena,
				     err);
		if (r == ROGER_OK && !rg_arena_copy(carrying->arena, cycle.id, place))
			r = rg_fail_memory(err);
		rg_json_free(json);
	}
	/* The one nobody opened is older than all others. */
	if (r == ROGER_OK && (int64_t)entries.count >= query.limit)
		carrying->cycles.count--;
	return r;
}

/* What reached the disk of the logs before the machine went down. */
static int know_all(struct carrying *carrying, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS };
	struct rg_log_entries entries;
	struct roger_attempt attempt;
	struct rg_json *json;
	size_t i;
	int r;

	r = grow_known(carrying, err);
	if (r == ROGER_OK)
		r = know_cycles(carrying, err);
	if (r == ROGER_OK)
		r = rg_engine_read_log(carrying->engine, &query, carrying->arena, &entries, err);
	for (i = 0; r == ROGER_OK && i < entries.count; i++) {
		r = rg_json_read(entries.items[i].text, &json, err);
		if (r < 0)
			break;
		attempt = (struct roger_attempt){ 0 };
		r = rg_record_decode(&rg_attempt_record, rg_json_root(json), &attempt,
				     carrying->arena, err);
		/* One that timed out may have been read since. */
		if (r == ROGER_OK && attempt.outcome == ROGER_DELIVERED)
			r = know(carrying, attempt.id, err);
		else if (r == ROGER_OK)
			r = rg_engine_note_key(carrying->engine, attempt.sender,
					       attempt.idempotent_key, err);
		rg_json_free(json);
	}
	return r;
}

/* -------------------------------------------------------------- carrying -- */

static void free_carrying(struct carrying *carrying)
{
	size_t i;

	for (i = 0; i < carrying->batches.count; i++)
		rg_buf_deinit(&carrying->batches.items[i].text);
	free(carrying->known);
	rg_arena_free(carrying->arena);
}

static struct rg_control_page *page_of(struct rg_engine *engine)
{
	struct rg_control *control = rg_journal_control(engine->journal);

	return control ? rg_control_page(control) : NULL;
}

/* How far they are; 0 where that cannot be told. */
static uint64_t logged(struct rg_engine *engine)
{
	return rg_control_logged(rg_journal_control(engine->journal));
}

static uint64_t synced(struct rg_engine *engine)
{
	return rg_control_synced(rg_journal_control(engine->journal));
}

/* Under the record lock, as far as is on disk. */
static int carry(struct rg_engine *engine, uint64_t to, struct roger_err *err)
{
	struct rg_control_page *page = page_of(engine);
	uint64_t stated = atomic_load(&page->logged), from = logged(engine);
	struct carrying carrying = { .engine = engine, .arena = rg_arena_new() };
	int r = ROGER_OK;

	if (!carrying.arena)
		return rg_fail_memory(err);
	if (from == 0 && to > 0)
		r = know_all(&carrying, err);
	if (r == ROGER_OK && from < to)
		r = read_span(&carrying, from, to, err);
	/* With what is missing the next one starts over, and leaves out what stands. */
	if (r == ROGER_OK && !write_batches(&carrying))
		to = 0;
	page = page_of(engine);
	if (to == 0)
		atomic_store(&page->logged, 0);
	while (r == ROGER_OK && from < to &&
	       !atomic_compare_exchange_weak(&page->logged, &stated, to))
		from = stated;
	free_carrying(&carrying);
	return r;
}

int rg_engine_carry(struct rg_engine *engine, bool anew, uint64_t *ret_to, struct roger_err *err)
{
	int r = ROGER_OK;

	*ret_to = 0;
	if (!page_of(engine))
		return ROGER_OK;
	if (anew)
		atomic_store(&page_of(engine)->logged, 0);
	if (logged(engine) < synced(engine))
		r = carry(engine, synced(engine), err);
	*ret_to = logged(engine);
	return r;
}

static int carry_all(struct rg_engine *engine, uint64_t end, struct roger_err *err)
{
	int r;

	if (!page_of(engine) || logged(engine) >= end)
		return ROGER_OK;
	r = rg_engine_records_begin(engine, err);
	if (r < 0)
		return r;
	r = carry(engine, end, err);
	rg_engine_records_end(engine);
	return r;
}

void rg_engine_log_sends(struct rg_engine *engine, uint64_t end)
{
	struct roger_err err;

	/* The journal has it; whoever sends or asks next makes it good. */
	if (carry_all(engine, end, &err) < 0)
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

/* The files of a log. */
struct log_files {
	struct rg_log_file *items;
	size_t count;
};

static int add_file(struct log_files *files, enum rg_log log, int folder, struct roger_str name,
		    const char *before, struct rg_arena *arena, struct roger_err *err)
{
	struct rg_log_file *file;

	file = rg_arena_push(arena, &files->items, &files->count, sizeof *file);
	if (!file)
		return rg_fail_memory(err);
	*file = (struct rg_log_file){ .log = log, .folder = folder };
	return rg_arena_print(arena, &file->shown, "%s%.*s", before, RG_STR_ARGS(name)) &&
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

/* What is no file in place of one sender's log keeps nobody from reading the others. */
static bool may_be_read(struct rg_engine *engine, struct roger_str name)
{
	struct rg_file_facts facts;
	struct roger_err err;
	bool there;

	if (rg_file_look(engine->send_logs, name.data, &there, &facts, &err) != ROGER_EREFUSED)
		return true;
	note_trouble(engine, &err);
	return false;
}

static int add_send_logs(struct rg_engine *engine, struct log_files *files, struct rg_arena *arena,
			 struct roger_err *err)
{
	struct roger_strs names;
	size_t i;
	int r;

	r = rg_file_list_folder(engine->send_logs, "send-log", arena, &names, err);
	for (i = 0; r == ROGER_OK && i < names.count; i++)
		if (is_log_name(names.items[i]) && may_be_read(engine, names.items[i]))
			r = add_file(files, RG_LOG_SENDS, engine->send_logs, names.items[i],
				     "send-log/", arena, err);
	return r;
}

static int files_of(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
		    struct rg_arena *arena, struct log_files *ret_files, struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	int folder, r;

	*ret_files = (struct log_files){ 0 };
	r = place_of(engine, log, owner, false, &folder, name, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	if (log == RG_LOG_SENDS && !owner.length)
		return add_send_logs(engine, ret_files, arena, err);
	return add_file(ret_files, log, folder, rg_str(name),
			log == RG_LOG_SENDS	 ? "send-log/"
			: log == RG_LOG_ACTIVITY ? "logs/"
						 : "",
			arena, err);
}

int rg_engine_log_files(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
			const struct rg_log_file **ret_items, size_t *ret_count,
			struct roger_err *err)
{
	struct log_files files;
	int r = files_of(engine, log, (struct roger_str){ "", 0 }, arena, &files, err);

	*ret_items = files.items;
	*ret_count = files.count;
	return r;
}

static const struct rg_log_file *file_shown(const struct log_files *files, struct roger_str shown)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		if (rg_str_equal(files->items[i].shown, shown))
			return &files->items[i];
	return NULL;
}

/* Entries mostly stand in the same file one behind the other. */
struct reading {
	const struct rg_log_file *file;
	struct rg_index *index;
	int open;
	uint64_t size;
	bool moved; /* another file has taken its place since the index was asked */
};

static int open_next(struct reading *reading, const struct rg_log_file *file,
		     const struct rg_log_mark *mark, struct roger_err *err)
{
	int r;

	reading->open = rg_file_close(reading->open);
	r = rg_file_open(file->folder, file->name.data, RG_FILE_READ, &reading->open, err);
	if (r < 0)
		return r;
	reading->file = file;
	if (reading->open != RG_NO_FILE) {
		r = rg_file_size(reading->open, file->name.data, &reading->size, err);
		if (r < 0)
			return r;
	}
	reading->moved = reading->open == RG_NO_FILE || !rg_index_log_same(reading->open, mark);
	if (reading->moved)
		return rg_fail(err, ROGER_ETIMEOUT, 0, "'%.*s' went away; try again",
			       RG_STR_ARGS(file->name));
	return ROGER_OK;
}

static int read_text(struct reading *reading, const struct rg_log_file *file,
		     const struct rg_log_place *place, struct rg_arena *arena,
		     struct roger_str *ret_text, struct roger_err *err)
{
	/* With the newline before it, where it is not the first, and with its own. */
	size_t before = place->offset > 0, whole = before + place->length + 1, got = 0;
	char *text;
	int r;

	if (reading->file != file) {
		r = open_next(reading, file, &place->mark, err);
		if (r < 0)
			return r;
	}
	if (place->offset > reading->size || place->length >= reading->size - place->offset)
		return rg_index_wrong(reading->index, file->name, err);
	text = rg_arena_get(arena, whole);
	if (!text)
		return rg_fail_memory(err);
	r = rg_file_read_at(reading->open, text, whole, (int64_t)(place->offset - before), &got,
			    err);
	if (r < 0)
		return r;
	if (got < whole || text[whole - 1] != '\n' || (before && text[0] != '\n'))
		return rg_index_wrong(reading->index, file->name, err);
	*ret_text = (struct roger_str){ text + before, place->length };
	return ROGER_OK;
}

static int read_entries(struct rg_index *index, const struct log_files *files,
			const struct rg_log_places *places, struct rg_arena *arena,
			struct rg_log_entries *ret_entries, bool *ret_moved, struct roger_err *err)
{
	struct rg_log_entry *items = rg_arena_get(arena, places->count * sizeof *items);
	struct reading reading = { .index = index, .open = RG_NO_FILE };
	const struct rg_log_file *file;
	size_t i, count = 0;
	int r = items ? ROGER_OK : rg_fail_memory(err);

	for (i = 0; i < places->count && r == ROGER_OK; i++) {
		file = file_shown(files, places->items[i].shown);
		if (!file)
			continue;
		items[count] = (struct rg_log_entry){ .file = places->items[i].shown,
						      .line = places->items[i].line,
						      .position = places->items[i].position,
						      .at_ms = places->items[i].at_ms };
		r = read_text(&reading, file, &places->items[i], arena, &items[count++].text, err);
	}
	rg_file_close(reading.open);
	*ret_moved = reading.moved;
	ret_entries->items = items;
	ret_entries->count = count;
	return r;
}

/* Strays are read like entries; of their place the line counts. */
static int read_strays(struct rg_index *index, const struct log_files *files,
		       const struct rg_log_places *places, struct rg_arena *arena,
		       struct rg_log_entries *ret_entries, bool *ret_moved, struct roger_err *err)
{
	struct rg_log_stray *items = rg_arena_get(arena, places->count * sizeof *items);
	struct rg_log_entries read = { 0 };
	size_t i;
	int r;

	if (!items)
		return rg_fail_memory(err);
	r = read_entries(index, files, places, arena, &read, ret_moved, err);
	for (i = 0; i < read.count; i++)
		items[i] = (struct rg_log_stray){ .file = read.items[i].file,
						  .line = read.items[i].line,
						  .text = read.items[i].text };
	ret_entries->strays = items;
	ret_entries->stray_count = read.count;
	return r;
}

static int read_log(struct rg_engine *engine, const struct rg_log_query *query,
		    const struct log_files *files, struct rg_arena *arena,
		    struct rg_log_entries *ret_entries, bool *ret_moved, struct roger_err *err)
{
	struct rg_log_places places, strays = { 0 };
	struct rg_index *index = engine->index;
	int tries = 0, r;

	do {
		*ret_moved = false;
		r = rg_index_refresh_logs(index, files->items, files->count, err);
		if (r == ROGER_OK)
			r = rg_index_find_log(index, query, arena, &places, err);
		if (r == ROGER_OK && query->strays)
			r = rg_index_log_strays(index, query->log, arena, &strays, err);
		if (r == ROGER_OK)
			r = read_entries(index, files, &places, arena, ret_entries, ret_moved, err);
		if (r == ROGER_OK && query->strays)
			r = read_strays(index, files, &strays, arena, ret_entries, ret_moved, err);
	} while (rg_index_heals(index, &tries, &r, err));
	return r;
}

/* Without carrying first.  While it is read a log may be purged: then it is read anew. */
int rg_engine_read_log(struct rg_engine *engine, const struct rg_log_query *query,
		       struct rg_arena *arena, struct rg_log_entries *ret_entries,
		       struct roger_err *err)
{
	struct log_files files;
	bool moved = false;
	int tries, r;

	*ret_entries = (struct rg_log_entries){ 0 };
	r = files_of(engine, query->log, query->owner, arena, &files, err);
	if (r < 0 || !files.count)
		return r;
	r = rg_engine_refresh(engine, err);
	for (tries = 0; r == ROGER_OK && tries < READ_TRIES_MAX; tries++) {
		r = read_log(engine, query, &files, arena, ret_entries, &moved, err);
		if (!moved)
			break;
		r = tries + 1 < READ_TRIES_MAX ? ROGER_OK : r;
	}
	return r;
}

int rg_engine_log_find(struct rg_engine *engine, const struct rg_log_query *query,
		       struct rg_arena *arena, struct rg_log_entries *ret_entries,
		       struct roger_err *err)
{
	struct rg_control_page *page = page_of(engine);
	uint64_t end;
	int r;

	r = rg_journal_settle(engine->journal, &end, err);
	if (r == ROGER_OK && query->log == RG_LOG_SENDS && page) {
		/* Within a transaction of records the lock is ours already. */
		r = rg_journal_holds(engine->journal, RG_LOCK_RECORDS)
			    ? carry(engine, end, err)
			    : carry_all(engine, end, err);
	}
	return r < 0 ? r : rg_engine_read_log(engine, query, arena, ret_entries, err);
}
