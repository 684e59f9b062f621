/*
 * The file store: messages by journal.h, logs by log.h, documents replaced by a
 * rename.
 *
 * Other programs write run documents too and do not take roger's locks, so put
 * compares with what was read before.
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "host/file.h"
#include "host/storage.h"
#include "host/workspace.h"
#include "store/file/journal.h"
#include "store/file/log.h"

static const char suffix[] = ".json", state_name[] = "message-state.json", move_name[] = "move";

/* The journal of each kind, except messages, that was used last. */
struct open_log {
	char name[RG_FILE_NAME_BYTES];
	uint64_t inode;
	int file;
};

struct file_store {
	struct rg_store base;
	struct rg_workspace *workspace;
	const struct rg_store_above *above;
	struct rg_journal *journal;
	struct rg_control *adopting; /* the control file while a line is adopted */
	uint64_t generation;	     /* of the control file, when `move` was last read */
	int folders[RG_LOGS];	     /* of logs; RG_NO_FILE until needed */
	struct open_log open[RG_LOGS];
	struct rg_open_log appending[RG_LOGS]; /* the log of each kind that was appended to last */
	int wakers;			       /* wake.lock; RG_NO_FILE until needed */
};

static struct file_store *file_store_of(struct rg_store *store)
{
	return (struct file_store *)store;
}

/* The mapped control file; NULL: read-only. */
static struct rg_control *control_of(struct file_store *store)
{
	if (store->adopting || !store->journal)
		return store->adopting;
	return rg_journal_control(store->journal);
}

/* ---------------------------------------------------------------- places -- */

/* A folder of logs; make: create it if missing.  RG_NO_FILE in *folder: it is missing. */
static int open_folder(struct file_store *store, const char *name, bool make, int *folder,
		       struct roger_err *err)
{
	if (*folder != RG_NO_FILE)
		return ROGER_OK;
	return make ? rg_file_open_made_folder(store->workspace->data, name, folder, err)
		    : rg_file_open_folder(store->workspace->data, name, folder, err);
}

/* The last part of a configured path, which is NUL-terminated. */
static const char *name_part(struct roger_str path)
{
	const char *slash = strrchr(path.data, '/');

	return slash ? slash + 1 : path.data;
}

static struct roger_str folder_part(struct roger_str path)
{
	const char *name = name_part(path);

	/* Leave out the final slash: with it, a link there would be followed. */
	return name == path.data ? RG_STR(".")
	       : name == path.data + 1
		       ? RG_STR("/")
		       : (struct roger_str){ path.data, (size_t)(name - path.data) - 1 };
}

/* The path that the configuration gives a log instead of the default; "": none. */
static struct roger_str configured_place(const struct file_store *store, enum rg_log log)
{
	const struct rg_config *config = store->workspace->config;

	return log == RG_LOG_MESSAGES	? config->jsonl_file
	       : log == RG_LOG_SENDS	? config->send_log_dir
	       : log == RG_LOG_ACTIVITY ? config->activity_file
					: (struct roger_str){ "", 0 };
}

static int place_folder(struct file_store *store, enum rg_log log, bool make, struct roger_err *err)
{
	struct roger_str path = configured_place(store, log);
	char name[4300];

	if (!path.length)
		snprintf(name, sizeof name, "%.*s", (int)strlen(rg_log_kinds[log].folder) - 1,
			 rg_log_kinds[log].folder);
	else
		rg_workspace_path(store->workspace->root,
				  rg_log_kinds[log].file ? folder_part(path) : path, name,
				  sizeof name);
	return open_folder(store, name, make, &store->folders[log], err);
}

/* The folder and name of a log's file. */
static int place_of(struct file_store *store, enum rg_log log, struct roger_str owner, bool make,
		    int *ret_folder, char to[RG_FILE_NAME_BYTES], struct roger_err *err)
{
	const struct rg_log_kind *kind = &rg_log_kinds[log];
	struct roger_str path = configured_place(store, log);
	const char *file = path.length ? name_part(path) : kind->file;
	int r = ROGER_OK;

	if (kind->file)
		*(char *)mempcpy(to, file, strnlen(file, RG_FILE_NAME_BYTES - 1)) = '\0';
	else
		rg_workspace_file_name(owner, ".jsonl", to);
	if (*kind->folder && store->folders[log] == RG_NO_FILE)
		r = place_folder(store, log, make, err);
	*ret_folder = *kind->folder ? store->folders[log] : store->workspace->data;
	return r;
}

/* ---------------------------------------------------------------- moving -- */

static int read_standing(struct file_store *store, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str document = { NULL, 0 }, place;
	bool found = false;
	int r;

	r = rg_file_read_all(store->workspace->data, move_name, RG_PLACE_BYTES, &text, &found, err);
	if (r < 0)
		return r;
	/* An empty file is not the document of a move, but the store must not count as live. */
	if (found)
		document = text.length ? rg_buf_str(&text) : RG_STR("");
	store->base.standing = rg_store_read_standing(document, &place);
	snprintf(store->base.place, sizeof store->base.place, "%.*s", RG_STR_ARGS(place));
	return ROGER_OK;
}

/* A move replaces the control file, so every process gets here. */
static int check_standing(struct file_store *store, struct roger_err *err)
{
	struct rg_control *control = control_of(store);
	int r;

	if (!control || store->workspace->moving ||
	    rg_control_generation(control) == store->generation)
		return ROGER_OK;
	r = read_standing(store, err);
	if (r == ROGER_OK && store->base.standing != RG_LIVE)
		return rg_store_fail_moved(&store->base, err);
	if (r == ROGER_OK)
		store->generation = rg_control_generation(control);
	return r;
}

/* Note a move.  Whoever waits for the append lock, or uses the control file, looks again. */
static int put_move(struct file_store *store, struct roger_str text, struct roger_err *err)
{
	const int folder = store->workspace->data;
	struct roger_str place;
	const enum rg_standing standing = rg_store_read_standing(text, &place);
	int r = standing == RG_INCOMING ? rg_journal_lock(store->journal, 0, 0, err) : ROGER_OK;

	if (r < 0)
		return r;
	if (standing == RG_LIVE) {
		r = rg_file_remove(folder, move_name, err);
		if (r == ROGER_OK)
			r = rg_file_sync_folder(folder, move_name, err);
	} else {
		rg_control_retire(rg_journal_control(store->journal));
		r = rg_file_replace(folder, move_name, text, true, err);
	}
	if (standing == RG_INCOMING)
		rg_journal_unlock(store->journal);
	return r == ROGER_OK ? read_standing(store, err) : r;
}

static int write_lines(int folder, const char *name, struct roger_str lines, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r = rg_file_open(folder, name, RG_FILE_CREATE_APPEND, &file, err);

	if (r == ROGER_OK && lines.length)
		r = rg_file_write(file, lines.data, lines.length, name, err);
	if (r == ROGER_OK)
		r = rg_file_sync(file, name, err);
	return r == ROGER_OK ? rg_file_sync_folder(folder, name, err) : r;
}

static int file_bring(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
		      struct roger_str lines, struct roger_err *err)
{
	struct file_store *store = file_store_of(base);
	int folder, r = ROGER_OK;
	const char *name = file->name.data;
	char unused[RG_FILE_NAME_BYTES];

	if (file->log == RG_LOG_MESSAGES)
		name = store->workspace->config->jsonl_file.data;
	r = place_of(store, file->log, RG_STR(""), true, &folder, unused, err);
	if (r == ROGER_OK && !from && file->log != RG_LOG_MESSAGES)
		r = rg_file_remove(folder, name, err);
	return r == ROGER_OK ? write_lines(folder, name, lines, err) : r;
}

/* ----------------------------------------------------------------- locks -- */

/* One byte of wake.lock, an empty file, is locked per agent.  Two agents with the same byte wait
 * for each other, which is harmless. */
static int64_t byte_of(struct roger_str agent)
{
	return (int64_t)(rg_hash(0, agent.data, agent.length) >> 2);
}

static int lock_waker(struct file_store *store, struct roger_str agent, struct roger_err *err)
{
	static const char name[] = "wake.lock";
	bool taken;
	int r = ROGER_OK;

	rg_assert(agent.length > 0);
	if (store->wakers == RG_NO_FILE)
		r = rg_file_open(store->workspace->data, name, RG_FILE_CREATE_APPEND,
				 &store->wakers, err);
	if (r == ROGER_OK)
		r = rg_file_lock_byte(store->wakers, byte_of(agent), name, &taken, err);
	return r == ROGER_OK && !taken ? ROGER_ETIMEOUT : r;
}

static int lock_any(struct rg_store *base, const struct rg_lock_wish *wish, struct roger_err *err)
{
	struct rg_journal *journal = file_store_of(base)->journal;
	const int64_t wait_ms = rg_store_wait_ms(base, wish->wait_ms);

	switch (wish->which) {
	case RG_LOCK_APPEND:
		rg_journal_hurry(journal, wait_ms);
		if (wish->wait_ms >= RG_LOCK_WAIT_MS)
			return rg_journal_lock(journal, wish->agents, wish->counts, err);
		return rg_journal_lock_soon(journal, wish->counts) ? ROGER_OK : ROGER_ETIMEOUT;
	case RG_LOCK_WAKE:
		return lock_waker(file_store_of(base), wish->agent, err);
	default:
		if (wish->wait_ms)
			return rg_journal_take(journal, wish->which, wait_ms, err);
		return rg_journal_try(journal, wish->which) ? ROGER_OK : ROGER_ETIMEOUT;
	}
}

static void file_unlock(struct rg_store *base, enum rg_store_lock which, struct roger_str agent)
{
	base->taken &= ~(1U << which);
	if (which == RG_LOCK_APPEND)
		rg_journal_unlock(file_store_of(base)->journal);
	else if (which == RG_LOCK_WAKE)
		rg_file_unlock_byte(file_store_of(base)->wakers, byte_of(agent));
	else
		rg_journal_release(file_store_of(base)->journal, which);
}

static int file_lock(struct rg_store *base, const struct rg_lock_wish *wish, struct roger_err *err)
{
	int r = lock_any(base, wish, err);

	if (r < 0)
		return r;
	base->taken |= 1U << wish->which;
	r = check_standing(file_store_of(base), err);
	if (r < 0)
		file_unlock(base, wish->which, wish->agent);
	return r;
}

/* -------------------------------------------------------------- messages -- */

static struct rg_shared *file_head(struct rg_store *base, struct rg_head *ret_head)
{
	struct file_store *store = file_store_of(base);
	struct rg_control *control = control_of(store);
	struct rg_control_page *page;
	enum rg_store_lock which;
	struct rg_tail tail;
	uint64_t end, logged;

	if (!control && ret_head)
		*ret_head = (struct rg_head){ 0 };
	if (!control)
		return NULL;
	page = rg_control_page(control);
	if (!ret_head)
		return &page->shared;
	logged = atomic_load(&page->shared.logged);
	end = rg_control_tail(control, &tail) ? tail.appended : 0;
	*ret_head = (struct rg_head){
		.shared = &page->shared,
		.end = end,
		.lines = end ? tail.lines : 0,
		.synced = rg_control_synced(control),
		.logged = logged <= end ? logged : 0,
		.adoptions = atomic_load(&page->adoptions),
		.lost_from = atomic_load(&page->lost_from),
		.lost_to = atomic_load(&page->lost_to),
		.wake = atomic_load(&page->wake),
	};
	/* Ask in the control file that is in use now. */
	for (which = RG_LOCK_CHANGE; which < RG_LOCK_APPEND && base->taken >> which; which++)
		if (base->taken >> which & 1 && rg_journal_holds(store->journal, which))
			ret_head->held |= 1U << which;
	return &page->shared;
}

static int file_settle(struct rg_store *base, uint64_t *ret_end, struct roger_err *err)
{
	struct rg_journal *journal = file_store_of(base)->journal;
	bool fits;
	int r;

	r = rg_journal_settle(journal, ret_end, err);
	if (!base->taken)
		rg_journal_leave_lost(journal);
	if (r == ROGER_OK)
		r = check_standing(file_store_of(base), err);
	if (r == ROGER_OK && rg_journal_control(journal))
		r = rg_journal_check_end(journal, &fits, err);
	return r;
}

static int file_append(struct rg_store *base, rg_compose *compose, void *context, uint64_t *ret_end,
		       struct roger_err *err)
{
	struct rg_journal *journal = file_store_of(base)->journal;
	struct rg_tail tail;
	const bool known = rg_control_tail(rg_journal_control(journal), &tail);
	size_t line;
	int r;

	rg_assert(rg_store_took(base, RG_LOCK_APPEND));
	rg_journal_gather(journal, base->gathered);
	for (line = 0; compose(context, line, rg_journal_line(journal)); line++)
		rg_journal_end_line(journal);
	r = rg_journal_write(journal, ret_end, err);
	if (r == ROGER_OK && known && *ret_end > tail.appended + rg_journal_line(journal)->length) {
		base->beside_line = (int64_t)tail.lines + 1;
		base->beside_byte = tail.appended;
	}
	return r;
}

static void wait_for_sync(struct rg_store *base, uint32_t wake, int64_t wait_ms)
{
	struct rg_journal *journal = file_store_of(base)->journal;

	if (rg_journal_writable(journal))
		rg_journal_sleep(journal, wake, wait_ms);
	else
		rg_clock_sleep(wait_ms);
}

static bool adopt_line(void *context, struct rg_control *control, struct roger_str line, bool own)
{
	struct file_store *store = context;
	bool known;

	rg_assert(!store->adopting);
	if (!rg_control_has_room(control, 2, 3))
		return false;
	store->adopting = control;
	known = store->above->adopt(&store->base, line, own);
	store->adopting = NULL;
	return known;
}

static void recall_witness(void *context, struct rg_witness *ret_witness)
{
	struct file_store *store = context;
	struct rg_figure witness = { 0 };

	store->above->recall(&store->base, &witness);
	*ret_witness = (struct rg_witness){ witness.count, witness.chain, witness.chained };
}

/* ------------------------------------------------------------------ logs -- */

static int add_file(struct rg_log_files *files, enum rg_log log, struct roger_str name,
		    struct rg_arena *arena, struct roger_err *err)
{
	struct rg_log_file file = { .log = log };

	return rg_kept(
		rg_arena_copy(arena, name, &file.name) &&
			rg_arena_print(arena, &file.shown, "%s%.*s", rg_log_kinds[log].folder,
				       RG_STR_ARGS(name)) &&
			rg_arena_append(arena, &files->items, &files->count, &file, sizeof file),
		err);
}

/* Hidden files are neither logs nor documents. */
static bool ends_with(struct roger_str name, const char *end)
{
	return rg_str_ends(name, end) && name.length > strlen(end) && name.data[0] != '.';
}

/* Skip anything that is not a file in the place of one owner's log: it must not hide the others. */
static bool may_be_read(struct file_store *store, int folder, struct roger_str name)
{
	struct rg_file_facts facts;
	struct roger_err err;

	if (rg_file_look(folder, name.data, &facts, &err) != ROGER_EREFUSED)
		return true;
	rg_warn(&store->base.trouble, &err, "the send log lacks entries of what was sent: %.300s",
		err.message);
	return false;
}

static int file_list(struct rg_store *base, enum rg_log log, struct roger_str owner,
		     struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	struct file_store *store = file_store_of(base);
	char name[RG_FILE_NAME_BYTES];
	struct roger_strs names;
	int folder, r;
	size_t i;

	r = place_of(store, log, owner, false, &folder, name, err);
	if (r == ROGER_OK && (owner.length || (rg_log_kinds[log].file && folder != RG_NO_FILE)))
		return add_file(files, log, rg_str(name), arena, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	r = rg_file_list_folder(folder, rg_log_kinds[log].folder, arena, &names, err);
	for (i = 0; r == ROGER_OK && i < names.count; i++)
		if (ends_with(names.items[i], ".jsonl") &&
		    may_be_read(store, folder, names.items[i]))
			r = add_file(files, log, names.items[i], arena, err);
	return r;
}

static int open_messages(struct file_store *store, struct rg_log_file *file, bool *ret_there,
			 struct roger_err *err)
{
	int open = rg_journal_file(store->journal), r;
	struct rg_file_facts facts;

	*ret_there = open != RG_NO_FILE;
	if (!*ret_there)
		return ROGER_OK;
	r = rg_file_facts(open, "messages.jsonl", &facts, err);
	if (r < 0)
		return r;
	file->device = facts.device;
	file->inode = facts.inode;
	file->size = (uint64_t)facts.size;
	return ROGER_OK;
}

static int stat_journal(struct rg_store *base, struct rg_log_file *file, bool *ret_there,
			struct roger_err *err)
{
	struct file_store *store = file_store_of(base);
	struct open_log *open = &store->open[file->log];
	struct rg_file_facts facts;
	int folder, r;

	if (file->log == RG_LOG_MESSAGES)
		return open_messages(store, file, ret_there, err);
	file->inode = file->size = 0;
	open->file = rg_file_close(open->file);
	folder = *rg_log_kinds[file->log].folder ? store->folders[file->log]
						 : store->workspace->data;
	*ret_there = false;
	if (folder == RG_NO_FILE)
		return ROGER_OK;
	r = rg_file_open_facts(folder, file->name.data, RG_FILE_READ, &open->file, &facts, err);
	*ret_there = r == ROGER_OK && open->file != RG_NO_FILE;
	if (!*ret_there)
		return r;
	snprintf(open->name, sizeof open->name, "%s", file->name.data);
	open->inode = file->inode = facts.inode;
	file->device = facts.device;
	file->size = (uint64_t)facts.size;
	return ROGER_OK;
}

/* The descriptor of a journal; reopened if another journal of the kind was used since. */
static int log_descriptor(struct file_store *store, const struct rg_log_file *file, int *ret_file,
			  struct roger_err *err)
{
	struct open_log *open = &store->open[file->log];
	struct rg_log_file again = *file;
	bool there = true;
	int r = ROGER_OK;

	if (file->log == RG_LOG_MESSAGES) {
		*ret_file = rg_journal_file(store->journal);
		return ROGER_OK;
	}
	if (open->file == RG_NO_FILE || open->inode != file->inode ||
	    strcmp(open->name, file->name.data) != 0)
		r = stat_journal(&store->base, &again, &there, err);
	if (r == ROGER_OK && (!there || open->inode != file->inode))
		r = rg_fail(err, ROGER_ETIMEOUT, 0,
			    "'%.*s' was replaced while it was read; try again",
			    RG_STR_ARGS(file->shown));
	*ret_file = open->file;
	return r;
}

static int read_bytes(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
		      char *room, size_t want, size_t *ret_got, struct roger_err *err)
{
	int open, r;

	*ret_got = 0;
	r = log_descriptor(file_store_of(base), file, &open, err);
	if (r < 0 || open == RG_NO_FILE)
		return r;
	return rg_file_read_at(open, room, want, (int64_t)from, ret_got, err);
}

static int sync_journal(struct rg_store *base, const struct rg_log_file *file, uint64_t end,
			struct roger_err *err)
{
	int open, r;

	rg_journal_hurry(file_store_of(base)->journal, rg_store_wait_ms(base, RG_LOCK_WAIT_MS));
	if (!file)
		return rg_journal_sync(file_store_of(base)->journal, end, err);
	r = log_descriptor(file_store_of(base), file, &open, err);
	return r < 0 ? r : rg_file_sync(open, file->name.data, err);
}

static int file_add(struct rg_store *base, enum rg_log log, struct roger_str owner,
		    struct roger_str entries, bool durable, struct roger_err *err)
{
	struct file_store *store = file_store_of(base);
	char name[RG_FILE_NAME_BYTES];
	int folder, r;

	rg_assert(log != RG_LOG_MESSAGES);
	r = place_of(store, log, owner, true, &folder, name, err);
	/* The place was configured: append only to a file that really is such a log. */
	if (r == ROGER_OK && store->workspace->config->places_configured && rg_log_kinds[log].start)
		r = rg_storage_check_file(folder, name, log, err);
	if (r == ROGER_OK)
		r = rg_log_append(&store->appending[log], folder, name, rg_log_kinds[log].chained,
				  entries, durable, err);
	base->made = r == ROGER_OK && store->appending[log].made;
	return r;
}

static int file_rewrite(struct rg_store *base, enum rg_log log, struct roger_str owner,
			rg_drop_line *drop, void *context, int64_t *ret_dropped,
			struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	int folder, r;

	rg_assert(log != RG_LOG_MESSAGES);
	*ret_dropped = 0;
	r = place_of(file_store_of(base), log, owner, false, &folder, name, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	return rg_log_purge(folder, name, drop, context, ret_dropped, err);
}

/* --------------------------------------------------------------- figures -- */

static struct rg_figure of_witness(struct rg_witness witness)
{
	return (struct rg_figure){ .count = witness.end,
				   .chain = witness.chain,
				   .chained = witness.chained };
}

static bool find_agent(struct rg_control *control, struct roger_str name,
		       struct rg_figure *ret_figure)
{
	struct rg_agent agent;
	bool found = rg_control_find_agent(control, name, &agent);

	*ret_figure = (struct rg_figure){ agent.unread, agent.epoch, agent.seq, 0, false };
	return found;
}

static void look_at_state(struct file_store *store, struct rg_figure *ret_figure)
{
	struct rg_file_facts facts;

	ret_figure->count = UINT64_MAX;
	if (rg_file_look(store->workspace->data, state_name, &facts, NULL) < 0)
		return;
	ret_figure->count = (uint64_t)facts.size;
	ret_figure->at_ms = facts.written_ns / 1000000;
}

static bool file_figure(struct rg_store *base, const struct rg_figure_key *key,
			struct rg_figure *ret_figure)
{
	struct rg_control *control = control_of(file_store_of(base));

	*ret_figure = (struct rg_figure){ 0 };
	if (!control)
		return false;
	switch (key->kind) {
	case RG_FIGURE_STATE:
		look_at_state(file_store_of(base), ret_figure);
		return ret_figure->count > 0;
	case RG_FIGURE_AGENT:
	case RG_FIGURE_NAME:
		return find_agent(control, key->name, ret_figure);
	case RG_FIGURE_COUNT:
		ret_figure->count = rg_control_find_count(control, key->hash);
		return ret_figure->count > 0;
	case RG_FIGURE_SESSION:
		ret_figure->epoch = rg_control_epoch(control);
		return true;
	case RG_FIGURE_WITNESS:
		*ret_figure = of_witness(rg_control_witness(control));
		return ret_figure->count > 0;
	case RG_FIGURE_ON_DISK:
		*ret_figure = of_witness(rg_control_testify(control));
		return ret_figure->count > 0;
	case RG_FIGURE_DAMAGED:
		ret_figure->count = rg_control_count_damaged(control);
		return true;
	}
	return false;
}

static void put_figure(struct rg_store *base, const struct rg_figure_key *key,
		       const struct rg_figure *figure)
{
	struct rg_control *control = control_of(file_store_of(base));
	const struct rg_agent agent = { (uint32_t)figure->count, figure->epoch, figure->seq };

	rg_assert(control != NULL);
	switch (key->kind) {
	case RG_FIGURE_AGENT:
		rg_control_put_agent(control, key->name, &agent);
		break;
	case RG_FIGURE_COUNT:
		rg_control_put_count(control, key->hash, figure->count);
		break;
	case RG_FIGURE_SESSION:
		rg_control_set_epoch(control, figure->epoch);
		break;
	case RG_FIGURE_WITNESS:
		rg_control_set_witness(control, (struct rg_witness){ figure->count, figure->chain,
								     figure->chained });
		break;
	case RG_FIGURE_NAME:
	case RG_FIGURE_ON_DISK:
	case RG_FIGURE_STATE:
	case RG_FIGURE_DAMAGED:
		rg_assert(!"a figure that follows from others");
	}
}

static bool next_figure(struct rg_store *base, size_t *i, struct rg_named_figure *ret_named)
{
	struct rg_control *control = control_of(file_store_of(base));
	struct rg_named_agent slot;

	if (!control || !rg_control_next_agent(control, i, &slot))
		return false;
	memcpy(ret_named->name, slot.name, slot.length);
	ret_named->length = slot.length;
	ret_named->figure =
		(struct rg_figure){ slot.agent.unread, slot.agent.epoch, slot.agent.seq, 0, false };
	return true;
}

/* Wait up to a second until the journal is on disk up to here; false: it is not. */
static bool is_durable(struct rg_journal *journal, uint64_t end)
{
	enum { TRIES_MAX = 100, WAIT_MS = 10 };
	struct rg_control *control;
	uint64_t unused;
	uint32_t wake;
	int tries;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		wake = rg_journal_wake_count(journal);
		if (rg_journal_settle(journal, &unused, NULL) < 0)
			return false;
		control = rg_journal_control(journal);
		if (!control || rg_control_page(control)->failures)
			return false;
		if (rg_control_synced(control) >= end)
			return true;
		rg_journal_sleep(journal, wake, WAIT_MS);
	}
	return false;
}

/* Sync all send logs.  False: there are too many of them, or one cannot be synced. */
static bool sync_sends(struct file_store *store)
{
	enum { LOGS_MAX = 4096 };
	struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files = { 0 };
	bool well, there;
	size_t i;

	well = arena &&
	       file_list(&store->base, RG_LOG_SENDS, RG_STR(""), arena, &files, NULL) == ROGER_OK &&
	       files.count <= LOGS_MAX;
	for (i = 0; well && i < files.count; i++)
		well = stat_journal(&store->base, &files.items[i], &there, NULL) == ROGER_OK &&
		       (!there || sync_journal(&store->base, &files.items[i], 0, NULL) == ROGER_OK);
	if (well && files.count)
		well = rg_file_sync_folder(store->folders[RG_LOG_SENDS], "send-log", NULL) ==
		       ROGER_OK;
	rg_arena_free(arena);
	return well;
}

/* Make it beside the old one, which stays until this one is whole and on disk. */
static int make_checkpoint(struct file_store *store, const char *name, const char *spare,
			   uint64_t *ret_end, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	struct rg_journal *journal = store->journal;
	const int folder = store->workspace->data;
	uint64_t needs, carried;
	int r;

	r = rg_file_remove(folder, spare, err);
	if (r == ROGER_OK)
		r = rg_file_open(folder, spare, RG_FILE_CREATE_NEW, &file, err);
	carried = rg_control_carried(rg_journal_control(journal));
	if (carried && !sync_sends(store))
		carried = 0;
	if (r == ROGER_OK)
		r = rg_control_write_checkpoint(rg_journal_control(journal),
						rg_journal_file(journal), carried, file, spare,
						ret_end, &needs, err);
	if (r == ROGER_OK && !is_durable(journal, needs))
		r = rg_fail(err, ROGER_EIO, 0, "'%s' is ahead of the journal on disk", spare);
	if (r == ROGER_OK)
		r = rg_file_sync(file, spare, err);
	if (r == ROGER_OK)
		r = rg_file_rename(folder, spare, name, true, err);
	if (r < 0)
		(void)!rg_file_remove(folder, spare, NULL);
	return r;
}

/* After a failure the last checkpoint is still right; try again when as much was appended again. */
static bool try_checkpoint(struct file_store *store, const char *name)
{
	struct rg_control *control = rg_journal_control(store->journal);
	char spare[RG_CHECKPOINT_NAME_BYTES + 8];
	uint64_t end = rg_control_appended(control);
	bool made;

	snprintf(spare, sizeof spare, "%s.new", name);
	made = make_checkpoint(store, name, spare, &end, NULL) == ROGER_OK;
	rg_control_note_checkpoint(rg_journal_control(store->journal), end);
	return made;
}

/* Discard the figures when nobody is making a checkpoint of them.  The lock goes with the file. */
static void discard_checkpoint(struct file_store *store, const char *name)
{
	enum { TRIES_MAX = 200, WAIT_MS = 10 };
	struct rg_journal *journal = store->journal;
	int tries;

	for (tries = 0; tries < TRIES_MAX && !rg_journal_try(journal, RG_LOCK_CHECKPOINT); tries++)
		rg_clock_sleep(WAIT_MS);
	(void)!rg_file_remove(store->workspace->data, name, NULL);
	rg_control_retire(rg_journal_control(journal));
}

static bool file_keep(struct rg_store *base, enum rg_keep what)
{
	struct file_store *store = file_store_of(base);
	struct rg_control *control = control_of(store);
	char name[RG_CHECKPOINT_NAME_BYTES];
	bool made;

	if (!control || (what == RG_KEEP_IF_DUE && !rg_control_checkpoint_due(control)))
		return false;
	rg_control_checkpoint_name(base->figures, name);
	if (what == RG_KEEP_NOTHING)
		discard_checkpoint(store, name);
	if (what == RG_KEEP_NOTHING || !rg_journal_try(store->journal, RG_LOCK_CHECKPOINT))
		return false;
	made = try_checkpoint(store, name);
	rg_journal_release(store->journal, RG_LOCK_CHECKPOINT);
	return made;
}

/* ------------------------------------------------------------- documents -- */

enum { STATE_BYTES_MAX = 64 << 20 };

/* Open the folder of runs.  RG_NO_FILE: it is missing, and make is false. */
static int open_runs(struct file_store *store, bool make, int *ret_folder, struct roger_err *err)
{
	return rg_file_open_below(store->workspace->data, "state/subagent-delivery-watchdog", make,
				  ret_folder, err);
}

/* The folder and file name of a document; RG_NO_FILE: the folder is missing. */
static int document_of(struct file_store *store, enum rg_document which, struct roger_str name,
		       bool make, int *ret_folder, char to[RG_FILE_NAME_BYTES],
		       struct roger_err *err)
{
	rg_assert(which == RG_DOCUMENT_STATE || name.length);
	if (which == RG_DOCUMENT_RUN)
		rg_workspace_file_name(name, suffix, to);
	else
		snprintf(to, RG_FILE_NAME_BYTES, "%s",
			 which == RG_DOCUMENT_STATE ? state_name : name.data);
	*ret_folder = store->workspace->data;
	return which == RG_DOCUMENT_STATE ? ROGER_OK : open_runs(store, make, ret_folder, err);
}

static int file_get(struct rg_store *base, enum rg_document which, struct roger_str name,
		    struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err)
{
	char file_name[RG_FILE_NAME_BYTES];
	int folder, r;

	r = document_of(file_store_of(base), which, name, false, &folder, file_name, err);
	*ret_text = (struct roger_str){ NULL, 0 };
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	r = rg_file_read_text(folder, file_name,
			      which == RG_DOCUMENT_STATE ? STATE_BYTES_MAX : RG_RUN_BYTES_MAX,
			      arena, ret_text, err);
	if (which != RG_DOCUMENT_STATE)
		rg_file_close(folder);
	return r;
}

/* Is the document unchanged since it was read? */
static int check_before(int folder, const char *file_name, struct roger_str name,
			const struct roger_str *before, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_str there;
	int r;

	r = arena ? rg_file_read_text(folder, file_name, RG_RUN_BYTES_MAX, arena, &there, err)
		  : rg_fail_memory(err);
	if (r == ROGER_OK && (!there.data != !before->data || !rg_str_equal(there, *before)))
		r = rg_fail(err, ROGER_ETIMEOUT, 0,
			    "the document of run '%.*s' was changed by somebody else; try again",
			    RG_STR_ARGS(name));
	rg_arena_free(arena);
	return r;
}

static int file_put(struct rg_store *base, enum rg_document which, struct roger_str name,
		    const struct roger_str *before, struct roger_str after, bool durable,
		    struct roger_err *err)
{
	char file_name[RG_FILE_NAME_BYTES];
	int folder, r;

	if (which == RG_DOCUMENT_MOVE)
		return put_move(file_store_of(base), after, err);
	r = document_of(file_store_of(base), which, name, true, &folder, file_name, err);
	if (r < 0)
		return r;
	if (before)
		r = check_before(folder, file_name, name, before, err);
	if (r == ROGER_OK)
		r = rg_file_replace(folder, file_name, after, durable, err);
	if (which != RG_DOCUMENT_STATE)
		rg_file_close(folder);
	return r;
}

/* The stamp of a document; 0 while its next change could leave the file's times as they are. */
static uint64_t stamp_of(int folder, const char *name)
{
	enum { SETTLED_MS = 2000 };
	struct rg_file_facts facts;

	if (rg_file_look(folder, name, &facts, NULL) < 0 || !facts.kind ||
	    facts.changed_ms > rg_clock_ms() - SETTLED_MS)
		return 0;
	const int64_t stamp[] = { (int64_t)facts.device, (int64_t)facts.inode, facts.size,
				  facts.changed_ms, facts.written_ns };

	return rg_hash(0, stamp, sizeof stamp);
}

/* Add a run; one that cannot be read is added with its trouble, and the others are still read. */
static int add_run(int folder, struct roger_str name, rg_run_wanted *wanted, void *context,
		   struct rg_arena *arena, struct rg_run_text *to, struct roger_err *err)
{
	struct roger_err inner = { 0 };
	int r;

	to->file = name;
	to->stamp = wanted ? stamp_of(folder, name.data) : 0;
	if (wanted && !wanted(context, name, to->stamp))
		return ROGER_OK;
	r = rg_file_read_text(folder, name.data, RG_RUN_BYTES_MAX, arena, &to->text, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0 && !rg_arena_copy(arena, rg_str(inner.message), &to->trouble))
		return rg_fail_memory(err);
	/* The file has gone meanwhile. */
	if (!to->text.data && !to->trouble.length)
		to->file.length = 0;
	return ROGER_OK;
}

static int list_runs(struct rg_store *base, rg_run_wanted *wanted, void *context,
		     struct rg_arena *arena, struct rg_run_texts *ret_runs, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct roger_strs names = { 0 };
	struct rg_run_text *items;
	size_t count = 0, i;
	int r;

	r = open_runs(file_store_of(base), false, &folder, err);
	if (r == ROGER_OK && folder != RG_NO_FILE)
		r = rg_file_list_folder(folder, "subagent-delivery-watchdog", arena, &names, err);
	if (r < 0)
		return r;
	items = rg_arena_get(arena, names.count * sizeof *items);
	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < names.count && r == ROGER_OK; i++) {
		if (!ends_with(names.items[i], suffix))
			continue;
		r = add_run(folder, names.items[i], wanted, context, arena, &items[count], err);
		count += items[count].file.length > 0;
	}
	*ret_runs = (struct rg_run_texts){ items, count };
	return r;
}

/* --------------------------------------------------------------- opening -- */

static struct rg_store *close_store(struct rg_store *base)
{
	struct file_store *store = file_store_of(base);
	size_t i;

	for (i = 0; i < RG_LOGS; i++) {
		rg_file_close(store->folders[i]);
		rg_file_close(store->open[i].file);
		rg_log_close(&store->appending[i]);
	}
	rg_file_close(store->wakers);
	rg_journal_close(store->journal);
	free(store);
	return NULL;
}

static const struct rg_store_ops operations = {
	.close = close_store,
	.head = file_head,
	.settle = file_settle,
	.lock = file_lock,
	.unlock = file_unlock,
	.append = file_append,
	.sync = sync_journal,
	.wait = wait_for_sync,
	.list = file_list,
	.stat = stat_journal,
	.read = read_bytes,
	.add = file_add,
	.rewrite = file_rewrite,
	.figure = file_figure,
	.put_figure = put_figure,
	.next_figure = next_figure,
	.get = file_get,
	.put = file_put,
	.runs = list_runs,
	.keep = file_keep,
	.bring = file_bring,
};

static int open_journal(struct file_store *store, struct roger_err *err)
{
	struct roger_str name = store->workspace->config->jsonl_file, stem = name;
	char journal_name[RG_FILE_NAME_BYTES];

	if (name.length > 200)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "storage: expected file names of at most 200 bytes");
	if (stem.length > 6 && memcmp(stem.data + stem.length - 6, ".jsonl", 6) == 0)
		stem.length -= 6;
	snprintf(journal_name, sizeof journal_name, "%.*s", RG_STR_ARGS(name));
	snprintf(store->base.figures, sizeof store->base.figures, "%.*s.control",
		 RG_STR_ARGS(stem));
	return rg_journal_open(store->workspace->data, journal_name, store->base.figures,
			       adopt_line, recall_witness, store, &store->journal, err);
}

int rg_file_store_open(struct rg_workspace *workspace, const struct rg_store_above *above,
		       struct rg_store **ret_store, struct roger_err *err)
{
	struct file_store *store = calloc(1, sizeof *store);
	size_t i;
	int r;

	if (!store)
		return rg_fail_memory(err);
	store->base.ops = &operations;
	store->base.files = true;
	store->base.state = state_name;
	store->workspace = workspace;
	store->above = above;
	store->wakers = RG_NO_FILE;
	for (i = 0; i < RG_LOGS; i++)
		store->folders[i] = store->open[i].file = store->appending[i].file = RG_NO_FILE;
	r = open_journal(store, err);
	if (r == ROGER_OK)
		r = read_standing(store, err);
	if (r < 0) {
		close_store(&store->base);
		return r;
	}
	if (control_of(store))
		store->generation = rg_control_generation(control_of(store));
	if (rg_journal_writable(store->journal))
		snprintf(store->base.era, sizeof store->base.era, "%s",
			 rg_control_page(rg_journal_control(store->journal))->boot_id);
	else
		rg_boot_id(store->base.era);
	*ret_store = &store->base;
	return ROGER_OK;
}

void rg_file_store_interrupt(void)
{
	rg_lock_interrupt();
}

bool rg_file_store_mend(const void *address)
{
	return rg_control_mend(address);
}
