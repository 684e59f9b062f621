/*
 * Logs and run documents that were written here and are gone.
 *
 * The figures know which files roger made or saw, how many these are, and how many runs have a
 * document.  Files are looked for one by one only if not as many are there. A file that the figures
 * know and that is not there is damage.  Without figures, as in a copy, nothing is claimed.
 */
#include "engine/inside.h"

#include "facts/note.h"

/* Return where the configuration places logs of this kind; elsewhere they are other files. */
static struct roger_str place_of(const struct rg_engine *engine, enum rg_log log)
{
	const struct rg_config *config = engine->workspace->config;

	return log == RG_LOG_SENDS	? config->send_log_dir
	       : log == RG_LOG_ACTIVITY ? config->activity_file
					: RG_STR("");
}

static uint64_t hash_of(const struct rg_engine *engine, enum rg_log log, struct roger_str shown)
{
	return rg_count_hash(RG_COUNT_FILE, shown, place_of(engine, log));
}

/* Return the key of the count of known files, for the present places of the logs. */
static uint64_t files_hash(const struct rg_engine *engine)
{
	return rg_count_hash(RG_COUNT_FILE, place_of(engine, RG_LOG_SENDS),
			     place_of(engine, RG_LOG_ACTIVITY));
}

static uint64_t runs_hash(void)
{
	return rg_count_hash(RG_COUNT_FILE, RG_STR(RG_RUNS_SHOWN), RG_STR(""));
}

/* Do the figures know the file?  A damaged figure knows nothing. */
static bool is_known(struct rg_engine *engine, uint64_t hash)
{
	const uint64_t count = rg_tally_count(engine->store, hash);

	return count && count != RG_FIGURE_MAYBE;
}

bool rg_engine_may_have_retired(struct rg_engine *engine)
{
	if (!engine->retired_hash)
		engine->retired_hash =
			hash_of(engine, RG_LOG_RETIRED, rg_str(rg_log_kinds[RG_LOG_RETIRED].file));
	return rg_tally_count(engine->store, engine->retired_hash) > 0;
}

static int put_count(struct rg_engine *engine, uint64_t hash, uint64_t to, struct roger_err *err)
{
	int r = rg_store_begin(engine->store, 0, 1, err);

	/* A journal that is closed by damage is left as it is. */
	if (r < 0)
		return r == ROGER_EDATA ? ROGER_OK : r;
	rg_tally_put_count(engine->store, hash, to);
	rg_store_release(engine->store, RG_LOCK_APPEND);
	return ROGER_OK;
}

/* Make these files known, or unknown, and correct their count. */
static int put_files(struct rg_engine *engine, const uint64_t *hashes, size_t count, bool known,
		     struct roger_err *err)
{
	const uint64_t all = files_hash(engine);
	uint64_t files;
	size_t i;
	int r = count ? rg_store_begin(engine->store, 0, count + 1, err) : ROGER_OK;

	if (r < 0 || !count)
		return r == ROGER_EDATA ? ROGER_OK : r;
	files = rg_tally_count(engine->store, all);
	for (i = 0; i < count; i++) {
		if (files != RG_FIGURE_MAYBE && is_known(engine, hashes[i]) != known)
			files += known ? 1 : (files ? UINT64_MAX : 0);
		rg_tally_put_count(engine->store, hashes[i], known);
	}
	rg_tally_put_count(engine->store, all, files);
	rg_store_release(engine->store, RG_LOCK_APPEND);
	return ROGER_OK;
}

/* Make a new file known.  If it was known before, it was removed and written again: record that. */
int rg_engine_log_made(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files = { 0 };
	uint64_t hash;
	int r = rg_kept(arena, err);

	rg_assert(log == RG_LOG_ARCHIVE || rg_store_took(engine->store, RG_LOCK_RECORDS));
	if (r == ROGER_OK)
		r = engine->store->ops->list(engine->store, log, owner, arena, &files, err);
	if (r < 0 || !files.count)
		return r;
	hash = hash_of(engine, log, files.items[0].shown);
	/* An archive is written without the record lock: find_there() may have seen it first. */
	if (is_known(engine, hash) && log != RG_LOG_ARCHIVE)
		return rg_engine_note_removed(engine, files.items[0].shown, err);
	return put_files(engine, &hash, 1, true, err);
}

int rg_engine_run_made(struct rg_engine *engine, struct roger_err *err)
{
	const uint64_t hash = runs_hash();

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	return put_count(engine, hash, rg_tally_count(engine->store, hash) + 1, err);
}

/* -------------------------------------------------------------- looking -- */

struct search {
	struct rg_engine *engine;
	struct rg_arena *arena;
	struct rg_table there; /* hashes of the files that are there */
	size_t known;	       /* how many of these the figures know */
	struct {
		uint64_t *items;
		size_t count;
	} fresh; /* hashes of those that the figures do not know */
	struct roger_strs removed;
};

/* Find the logs that are there, those that the figures know and those they do not. */
static int find_there(struct search *search, struct roger_err *err)
{
	struct rg_store *store = search->engine->store;
	struct rg_log_files files = { 0 };
	uint64_t hash;
	bool there, added, other;
	size_t i;
	int log, r = ROGER_OK;

	for (log = RG_LOG_MESSAGES + 1; log < RG_LOGS && r == ROGER_OK; log++)
		r = store->ops->list(store, (enum rg_log)log, RG_STR(""), search->arena, &files,
				     err);
	for (i = 0; r == ROGER_OK && i < files.count; i++) {
		/* A folder lists what is there; there may be tens of thousands of archives. */
		there = !rg_log_kinds[files.items[i].log].file;
		if (!there)
			r = store->ops->stat(store, &files.items[i], &there, err);
		/* Something else with that name, such as a link, is reported elsewhere. */
		other = r == ROGER_EREFUSED;
		there |= other;
		r = other ? ROGER_OK : r;
		if (r < 0 || !there)
			continue;
		hash = hash_of(search->engine, files.items[i].log, files.items[i].shown);
		if (!rg_table_put(&search->there, hash, &added))
			return rg_fail_memory(err);
		if (is_known(search->engine, hash)) {
			search->known++;
			continue;
		}
		if (!other && !rg_arena_append(search->arena, &search->fresh.items,
					       &search->fresh.count, &hash, sizeof hash))
			return rg_fail_memory(err);
	}
	return r;
}

static int add_removed(struct search *search, struct roger_str shown, struct roger_err *err)
{
	return rg_kept(rg_arena_add(search->arena, &search->removed, shown), err);
}

/* Add an owner's log to the removed ones, if it is known and not there. */
static int judge_owner(struct search *search, enum rg_log log, struct roger_str owner,
		       struct roger_err *err)
{
	struct rg_store *store = search->engine->store;
	struct rg_log_files files = { 0 };
	int r = store->ops->list(store, log, owner, search->arena, &files, err);
	uint64_t hash;

	if (r < 0 || !files.count)
		return r;
	hash = hash_of(search->engine, log, files.items[0].shown);
	return rg_table_find(&search->there, hash) || !is_known(search->engine, hash)
		       ? ROGER_OK
		       : add_removed(search, files.items[0].shown, err);
}

static int judge_logs(struct search *search, struct roger_err *err)
{
	struct roger_strs issues;
	struct rg_engine *engine = search->engine;
	struct rg_named_figure agent;
	size_t i;
	int log, r = ROGER_OK;

	for (log = RG_LOG_MESSAGES + 1; log < RG_LOGS && r == ROGER_OK; log++)
		if (rg_log_kinds[log].file)
			r = judge_owner(search, (enum rg_log)log, RG_STR(""), err);
	for (i = 0; r == ROGER_OK && engine->store->ops->next_figure(engine->store, &i, &agent);)
		r = judge_owner(search, RG_LOG_SENDS,
				(struct roger_str){ agent.name, agent.length }, err);
	if (r == ROGER_OK)
		r = rg_index_issues(engine->index, -1, search->arena, &issues, err);
	for (i = 0; r == ROGER_OK && i < issues.count; i++)
		r = judge_owner(search, RG_LOG_ARCHIVE, issues.items[i], err);
	return r;
}

/* ----------------------------------------------------------------- runs -- */

/* Name the runs without a document: notes say which runs there were. */
static int name_runs(struct search *search, size_t *ret_named, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY };
	struct rg_log_entries notes;
	struct roger_str shown, text;
	struct rg_note note;
	size_t i;
	int r = rg_engine_read_log(search->engine, &query, search->arena, &notes, err);

	*ret_named = 0;
	for (i = 0; r == ROGER_OK && i < notes.count; i++) {
		if (rg_note_read(notes.items[i].text, search->arena, &note, NULL) < 0 ||
		    note.entry.status == ROGER_FAILURE || !rg_name_valid(note.run) ||
		    rg_engine_run_find(search->engine, note.run, search->arena, &text, NULL) < 0 ||
		    text.data)
			continue;
		if (!rg_store_run_shown(note.run, search->arena, &shown))
			return rg_fail_memory(err);
		r = add_removed(search, shown, err);
		++*ret_named;
	}
	return r;
}

/* Read no document, since they are only counted. */
static bool wants_no_text(void *context, struct roger_str file, uint64_t stamp)
{
	(void)context, (void)file, (void)stamp;
	return false;
}

/* Are there fewer run documents than are known?  Then name those that are gone, or their folder. */
static int judge_runs(struct search *search, struct roger_err *err)
{
	const uint64_t hash = runs_hash(), known = rg_tally_count(search->engine->store, hash);
	struct rg_run_texts runs;
	size_t named;
	int r = rg_engine_runs(search->engine, wants_no_text, NULL, search->arena, &runs, err);

	if (r < 0 || runs.count == known)
		return r;
	if (runs.count > known || known == RG_FIGURE_MAYBE)
		return put_count(search->engine, hash, runs.count, err);
	r = name_runs(search, &named, err);
	return r < 0 || named ? r : add_removed(search, RG_STR(RG_RUNS_SHOWN), err);
}

static int find_removed(struct search *search, struct roger_err *err)
{
	const uint64_t all = files_hash(search->engine);
	int r = find_there(search, err);
	bool lost = rg_tally_count(search->engine->store, all) != search->known;
	size_t i;

	rg_assert(rg_store_took(search->engine->store, RG_LOCK_RECORDS));
	/* Look for each file, if not as many are there as are known. */
	if (r == ROGER_OK && lost)
		r = judge_logs(search, err);
	if (r == ROGER_OK && lost)
		r = put_count(search->engine, all, search->known + search->removed.count, err);
	if (r == ROGER_OK)
		r = judge_runs(search, err);
	/* Record them only now, since that may make files. */
	for (i = 0; r == ROGER_OK && i < search->removed.count; i++)
		r = rg_engine_note_removed(search->engine, search->removed.items[i], err);
	return r < 0 ? r
		     : put_files(search->engine, search->fresh.items, search->fresh.count, true,
				 err);
}

int rg_engine_find_removed(struct rg_engine *engine, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct search search = { .engine = engine, .arena = arena };
	int r;

	if (!arena)
		return rg_fail_memory(err);
	/* A database keeps its logs itself.  If the lock is taken, the next process does this. */
	if (!rg_store_writable(engine->store) || engine->store->elsewhere ||
	    atomic_load(&rg_store_shared(engine->store)->broken) != RG_BROKEN_NOT ||
	    rg_engine_records_begin_soon(engine, NULL) < 0)
		return ROGER_OK;
	rg_table_init(&search.there, sizeof(uint64_t));
	r = find_removed(&search, NULL);
	rg_table_deinit(&search.there);
	rg_engine_records_end(engine);
	/* A file that cannot be read is reported by whoever needs it. */
	return r == ROGER_ENOMEM ? rg_fail_memory(err) : ROGER_OK;
}

void rg_engine_look_for_log(struct rg_engine *engine, enum rg_log log)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files = { 0 };
	struct rg_store *store = engine->store;
	bool there;

	if (!arena || !rg_log_kinds[log].file || !rg_store_writable(store) ||
	    rg_store_took(store, RG_LOCK_RECORDS) ||
	    store->ops->list(store, log, RG_STR(""), arena, &files, NULL) < 0 || !files.count ||
	    store->ops->stat(store, files.items, &there, NULL) < 0 || there ||
	    !is_known(engine, hash_of(engine, log, files.items->shown)))
		return;
	(void)!rg_engine_find_removed(engine, NULL);
}

void rg_engine_look_for_runs(struct rg_engine *engine, size_t count)
{
	if (rg_store_writable(engine->store) && rg_tally_count(engine->store, runs_hash()) > count)
		(void)!rg_engine_find_removed(engine, NULL);
}

int rg_engine_forget_removed(struct rg_engine *engine, struct roger_str shown,
			     struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_run_texts runs;
	uint64_t hash = runs_hash();
	int log, r = rg_kept(arena, err);

	for (log = 0; log < RG_LOGS && r == ROGER_OK; log++) {
		const uint64_t of_log = hash_of(engine, (enum rg_log)log, shown);

		/* The count of run documents is not that of a file. */
		if (of_log != hash && rg_tally_count(engine->store, of_log))
			r = put_files(engine, &of_log, 1, false, err);
	}
	if (r == ROGER_OK)
		r = rg_engine_runs(engine, wants_no_text, NULL, arena, &runs, err);
	return r < 0 ? r : put_count(engine, hash, runs.count, err);
}
