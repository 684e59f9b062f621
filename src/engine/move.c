/*
 * A move: every journal and run of one store, byte for byte, into another.
 *
 * The source keeps all locks and counts until the very last step, which is one write:
 * it becomes RG_MOVED.  Until then the target is RG_INCOMING and refuses everybody.  From then on
 * it is the workspace, and whoever opens it first makes it live (rg_store_follow()).  So a move
 * that was killed anywhere leaves one workspace, and the same move again continues.
 */
#include "engine/move.h"

#include "engine/inside.h"

/* Lines go in pieces of this size, or one by one where they are longer. */
enum { PIECE_BYTES = 4 << 20, LOOK_BYTES = 1 << 20 };

struct move {
	struct rg_store *from, *to;
	struct rg_arena *arena;
	struct rg_log_files files;
	struct rg_run_texts runs;
	uint64_t done, total;
	const struct rg_move_wish *wish;
	struct roger_move_reply *moved;
	bool occupied;
};

static int tell_progress(struct move *move, uint64_t bytes, struct roger_err *err)
{
	const struct rg_move_wish *wish = move->wish;

	move->done += bytes;
	if (!wish->tell ||
	    wish->tell(wish->context, "move", (int64_t)move->done, (int64_t)move->total))
		return ROGER_OK;
	return rg_fail(err, ROGER_EREFUSED, 0, "stopped; the same move again goes on");
}

/* ---------------------------------------------------------------- finding -- */

static int list_all(struct move *move, struct rg_store *store, struct rg_log_files *files,
		    struct roger_err *err)
{
	struct rg_log_file *file;
	bool there;
	size_t i, kept = 0;
	int log, r = ROGER_OK;

	for (log = 0; log < RG_LOGS && r == ROGER_OK; log++)
		r = store->ops->list(store, (enum rg_log)log, RG_STR(""), move->arena, files, err);
	for (i = 0; i < files->count && r == ROGER_OK; i++) {
		file = &files->items[i];
		r = store->ops->stat(store, file, &there, err);
		if (r == ROGER_OK && there)
			files->items[kept++] = *file;
	}
	files->count = kept;
	return r;
}

/* Find the target's journal for this one of the source; where a kind has one file, the target's
 * configuration names it. */
static int find_twin(struct move *move, const struct rg_log_file *file, struct rg_log_file *twin,
		     bool *ret_there, struct roger_err *err)
{
	struct rg_log_files found = { 0 };
	int r = ROGER_OK;

	*twin = *file;
	if (rg_log_kinds[file->log].file)
		r = move->to->ops->list(move->to, file->log, RG_STR(""), move->arena, &found, err);
	if (r == ROGER_OK && found.count)
		*twin = found.items[0];
	twin->inode = twin->device = twin->size = 0;
	return r < 0 ? r : move->to->ops->stat(move->to, twin, ret_there, err);
}

static int check_empty(struct move *move, struct roger_err *err)
{
	struct rg_log_files files = { 0 };
	int r = list_all(move, move->to, &files, err);
	size_t i;

	for (i = 0; i < files.count && r == ROGER_OK; i++)
		if (files.items[i].size) {
			move->occupied = true;
			r = rg_fail(err, ROGER_EREFUSED, 0,
				    "there is a workspace with entries at '%.*s' already: nothing "
				    "is moved over it",
				    RG_STR_ARGS(move->wish->there));
		}
	return r;
}

/* ---------------------------------------------------------------- copying -- */

static uint64_t lesser_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Are the bytes from `at` to `to` the same in both?  Adds the number of their lines to *lines. */
static int compare_bytes(struct move *move, const struct rg_log_file *file,
			 const struct rg_log_file *twin, uint64_t at, uint64_t to, bool *ret_same,
			 int64_t *lines, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf ours = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf theirs = { .maximum = SIZE_MAX };
	const struct rg_bytes from = rg_bytes_of(move->from, file);
	const struct rg_bytes copy = rg_bytes_of(move->to, twin);
	uint64_t piece;
	int r = ROGER_OK;

	rg_assert(at <= to);
	*ret_same = twin->size >= to;
	for (; r == ROGER_OK && *ret_same && at < to; at += piece) {
		piece = lesser_of(to - at, LOOK_BYTES);
		rg_buf_clear(&ours);
		rg_buf_clear(&theirs);
		r = rg_bytes_add(&from, at, piece, &ours, err);
		if (r == ROGER_OK)
			r = rg_bytes_add(&copy, at, piece, &theirs, err);
		*ret_same = r == ROGER_OK && memcmp(ours.data, theirs.data, piece) == 0;
		*lines += rg_str_line(rg_buf_str(&ours), ours.length) - 1;
	}
	return r;
}

/* Copy whole lines from byte `from` on; *ret_to: where the next piece begins. */
static int copy_piece(struct move *move, const struct rg_log_file *file,
		      const struct rg_log_file *twin, uint64_t from, uint64_t *ret_to,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const struct rg_bytes bytes = rg_bytes_of(move->from, file);
	const char *newline = NULL;
	int r = ROGER_OK;

	while (r == ROGER_OK && !newline && from + text.length < file->size) {
		r = rg_bytes_add(&bytes, from + text.length,
				 lesser_of(file->size - from - text.length, PIECE_BYTES), &text,
				 err);
		newline = text.length ? memrchr(text.data, '\n', text.length) : NULL;
	}
	if (r < 0)
		return r;
	if (!newline && file->size)
		return rg_fail(err, ROGER_EDATA, 0,
			       "'%.*s' ends within a line: `roger doctor --fix`",
			       RG_STR_ARGS(file->shown));
	text.length = newline ? (size_t)(newline + 1 - text.data) : 0;
	*ret_to = from + text.length;
	r = move->to->ops->bring(move->to, twin, from, rg_buf_str(&text), err);
	return r == ROGER_OK ? tell_progress(move, text.length, err) : r;
}

/* Find where to go on: after what the target has, if that is the same as the source, else at 0. */
static int find_start(struct move *move, const struct rg_log_file *file,
		      const struct rg_log_file *twin, uint64_t *ret_from, int64_t *ret_lines,
		      struct roger_err *err)
{
	bool same = false;
	int r = ROGER_OK;

	*ret_lines = 0;
	if (twin->size && twin->size <= file->size)
		r = compare_bytes(move, file, twin, 0, twin->size, &same, ret_lines, err);
	*ret_from = same ? twin->size : 0;
	if (!same)
		*ret_lines = 0;
	if (r == ROGER_OK && !same && twin->size && file->log == RG_LOG_MESSAGES)
		r = rg_fail(err, ROGER_EDATA, 0, "'%.*s' holds other messages already",
			    RG_STR_ARGS(move->wish->there));
	return r;
}

/* Check that the source continues from the messages that were once moved away from the target. */
static int check_continued(struct move *move, struct roger_err *err)
{
	struct rg_log_file file = rg_store_messages, twin;
	int64_t lines;
	uint64_t from;
	bool there;
	int r = move->from->ops->stat(move->from, &file, &there, err);

	if (r == ROGER_OK)
		r = find_twin(move, &file, &twin, &there, err);
	return r == ROGER_OK ? find_start(move, &file, &twin, &from, &lines, err) : r;
}

static int check_target(struct move *move, struct roger_err *err)
{
	if (move->to->standing == RG_LIVE)
		return check_empty(move, err);
	if (rg_str_is(move->wish->here, move->to->place))
		return ROGER_OK;
	return move->to->standing == RG_MOVED ? check_continued(move, err)
					      : rg_store_fail_moved(move->to, err);
}

static int move_journal(struct move *move, const struct rg_log_file *file, struct roger_err *err)
{
	struct rg_log_file twin;
	bool there = false, same = false;
	int64_t lines = 0;
	uint64_t at = 0, from = 0;
	int r = find_twin(move, file, &twin, &there, err);

	if (r == ROGER_OK)
		r = find_start(move, file, &twin, &from, &lines, err);
	if (r == ROGER_OK)
		r = tell_progress(move, 2 * from, err);
	at = from;
	if (r == ROGER_OK && (!there || !at) && !file->size)
		r = copy_piece(move, file, &twin, 0, &at, err);
	while (r == ROGER_OK && at < file->size)
		r = copy_piece(move, file, &twin, at, &at, err);
	if (r == ROGER_OK)
		r = find_twin(move, file, &twin, &there, err);
	if (r == ROGER_OK)
		r = compare_bytes(move, file, &twin, from, file->size, &same, &lines, err);
	if (r == ROGER_OK && (!same || twin.size != file->size))
		r = rg_fail(err, ROGER_EDATA, 0, "'%.*s' is not the same on both sides",
			    RG_STR_ARGS(file->shown));
	move->moved->journals++;
	move->moved->lines += lines;
	move->moved->bytes += (int64_t)file->size;
	return r == ROGER_OK ? tell_progress(move, file->size - from, err) : r;
}

/* Read the documents of runs; none changes while the record lock is held. */
static int read_runs(struct move *move, struct roger_err *err)
{
	const struct rg_run_text *run;
	size_t i;
	int r = move->from->ops->runs(move->from, NULL, NULL, move->arena, &move->runs, err);

	rg_assert(rg_store_took(move->from, RG_LOCK_RECORDS));
	for (i = 0; r == ROGER_OK && i < move->runs.count; i++) {
		run = &move->runs.items[i];
		r = run->trouble.length
			    ? rg_fail(err, ROGER_EDATA, 0, "a run: %.*s", RG_STR_ARGS(run->trouble))
			    : move->wish->check_run(run->text, err);
	}
	return r;
}

static int move_runs(struct move *move, struct roger_err *err)
{
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < move->runs.count; i++)
		r = move->to->ops->put(move->to, RG_DOCUMENT_RUN_FILE, move->runs.items[i].file,
				       NULL, move->runs.items[i].text, true, err);
	move->moved->runs = (int64_t)move->runs.count;
	return r;
}

static int move_all(struct move *move, struct roger_err *err)
{
	size_t i;
	int r = list_all(move, move->from, &move->files, err);

	rg_assert(rg_store_took(move->from, RG_LOCK_APPEND));
	for (i = 0; i < move->files.count; i++)
		move->total += 2 * move->files.items[i].size;
	for (i = 0; i < move->files.count && r == ROGER_OK; i++)
		r = move_journal(move, &move->files.items[i], err);
	return r == ROGER_OK ? move_runs(move, err) : r;
}

/* ---------------------------------------------------------------- figures -- */

/* Copy the numbers that were given, so that they stay used, also those that no line has. */
static int raise_figures(struct move *move, struct roger_err *err)
{
	struct rg_named_figure agent;
	size_t agents = 0, i;
	int r;

	rg_assert(rg_store_took(move->from, RG_LOCK_APPEND));
	for (i = 0; move->from->ops->next_figure(move->from, &i, &agent);)
		agents++;
	r = rg_store_begin(move->to, agents, 0, err);
	if (r < 0)
		return r;
	if (rg_tally_epoch(move->from) > rg_tally_epoch(move->to))
		rg_tally_set_epoch(move->to, rg_tally_epoch(move->from));
	for (i = 0; move->from->ops->next_figure(move->from, &i, &agent);)
		if (agent.figure.seq > 0)
			rg_tally_number(move->to, (struct roger_str){ agent.name, agent.length },
					agent.figure.epoch, agent.figure.seq);
	rg_store_release(move->to, RG_LOCK_APPEND);
	return move->to->ops->sync(move->to, NULL, rg_store_head(move->to).end, err);
}

/* Make the target's figures from its lines; end and chain must be those of the source, whose chain
 * is known only as far as it is on disk: a sync there may have failed. */
static int rebuild_figures(struct move *move, struct roger_err *err)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_ON_DISK };
	struct rg_figure ours = { 0 }, theirs = { 0 };
	uint64_t end;
	int r;

	(void)move->to->ops->keep(move->to, RG_KEEP_NOTHING);
	r = move->to->ops->settle(move->to, &end, err);
	if (r < 0)
		return r;
	(void)move->from->ops->figure(move->from, &key, &ours);
	(void)move->to->ops->figure(move->to, &key, &theirs);
	if (end != rg_store_head(move->from).end ||
	    (ours.count == theirs.count ? ours.chain != theirs.chain : ours.count == end))
		return *move->to->trouble.message
			       ? rg_fail(err, ROGER_EIO, 0, "%.350s", move->to->trouble.message)
			       : rg_fail(err, ROGER_EDATA, 0,
					 "the messages do not end alike on both sides: `roger "
					 "verify`");
	return raise_figures(move, err);
}

/* ------------------------------------------------------------------ steps -- */

/* Close off torn last lines, as the next writer would. */
static int close_off(struct rg_engine *from, struct roger_err *err)
{
	struct rg_log_files files = { 0 };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_store *store = from->store;
	bool there;
	size_t i;
	int log, r = rg_kept(arena, err);

	rg_assert(rg_store_took(store, RG_LOCK_RECORDS));
	for (log = RG_LOG_MESSAGES + 1; r == ROGER_OK && log < RG_LOGS; log++)
		if (rg_log_kinds[log].file)
			r = store->ops->list(store, (enum rg_log)log, RG_STR(""), arena, &files,
					     err);
	for (i = 0; r == ROGER_OK && i < files.count; i++) {
		r = store->ops->stat(store, &files.items[i], &there, err);
		if (r == ROGER_OK && there)
			r = store->ops->add(store, files.items[i].log, RG_STR(""), RG_STR(""), true,
					    err);
	}
	return r;
}

/* Take all locks: everybody waits from here on.  The locks end with the handle. */
static int lock_source(struct rg_engine *from, struct roger_err *err)
{
	int r = rg_store_take(from->store, RG_LOCK_BRIDGE, 0, NULL);

	rg_assert(!rg_store_took(from->store, RG_LOCK_APPEND));
	if (r < 0)
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "a bridge of the workspace is at work: stop it first");
	r = from->exclusive ? ROGER_OK
			    : rg_store_take(from->store, RG_LOCK_CHANGE, RG_LOCK_WAIT_MS, err);
	if (r == ROGER_OK)
		r = rg_engine_records_begin(from, err);
	/* Entries of messages without a key are made later, where somebody asks for them. */
	if (r == ROGER_OK)
		r = rg_engine_bring_sends_up(from, false, err);
	if (r == ROGER_OK)
		r = close_off(from, err);
	return r == ROGER_OK ? rg_store_begin(from->store, 0, 0, err) : r;
}

int rg_engine_check_source(struct rg_engine *from, struct roger_err *err)
{
	const char *damage = rg_engine_damage(from);

	if (from->store->standing != RG_LIVE)
		return ROGER_OK;
	if (!rg_store_writable(from->store))
		return rg_fail(err, ROGER_EIO, 0, "the workspace can only be read");
	return *damage ? rg_fail(err, ROGER_EDATA, 0, "%.300s", damage) : ROGER_OK;
}

static int fill_target(struct move *move, struct rg_engine *from, struct roger_err *err)
{
	int r = rg_engine_check_source(from, err);

	if (r == ROGER_OK)
		r = check_target(move, err);
	if (r == ROGER_OK)
		r = lock_source(from, err);
	if (r == ROGER_OK)
		r = read_runs(move, err);
	if (r == ROGER_OK)
		r = rg_store_stand(move->to, RG_INCOMING, move->wish->here, err);
	if (r == ROGER_OK)
		r = move_all(move, err);
	if (r == ROGER_OK)
		r = rebuild_figures(move, err);
	if (r == ROGER_OK)
		r = rg_store_stand(move->from, RG_MOVED, move->wish->there, err);
	if (r < 0 && rg_store_took(move->from, RG_LOCK_APPEND))
		rg_store_release(move->from, RG_LOCK_APPEND);
	return r;
}

/* Did the target get its last line, the note of the move, already? */
static int is_noted(struct move *move, bool *ret_noted, struct roger_err *err)
{
	struct rg_log_files files = { 0 };
	struct rg_log_file twin;
	bool there = false;
	int r = move->from->ops->list(move->from, RG_LOG_ACTIVITY, RG_STR(""), move->arena, &files,
				      err);

	*ret_noted = false;
	if (r == ROGER_OK && files.count)
		r = move->from->ops->stat(move->from, &files.items[0], &there, err);
	else
		files.items = &(struct rg_log_file){ .log = RG_LOG_ACTIVITY };
	if (r == ROGER_OK)
		r = find_twin(move, &files.items[0], &twin, &there, err);
	*ret_noted = r == ROGER_OK && there && twin.size > files.items[0].size;
	return r;
}

/* Another command may have made the target live; a line that it added to the notes is enough. */
static int finish_move(struct move *move, struct rg_engine *to, struct roger_err *err)
{
	bool noted = true;
	int r = ROGER_OK;

	rg_assert(move->from->standing == RG_MOVED);
	if (move->wish->note)
		r = is_noted(move, &noted, err);
	if (r == ROGER_OK && !noted)
		r = move->wish->note(move->wish->note_context, to, move->moved, err);
	if (r == ROGER_OK && move->to->standing != RG_LIVE)
		r = rg_store_stand(move->to, RG_LIVE, RG_STR(""), err);
	if (r == ROGER_OK)
		rg_engine_want_state(to, true);
	return r;
}

int rg_engine_move(struct rg_engine *from, struct rg_engine *to, const struct rg_move_wish *wish,
		   struct roger_move_reply *reply, bool *ret_occupied, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct move move = {
		.from = from->store, .to = to->store, .arena = arena, .wish = wish, .moved = reply
	};
	int r = rg_kept(arena, err);

	rg_assert(from != to);
	if (r == ROGER_OK && move.from->standing == RG_LIVE)
		r = fill_target(&move, from, err);
	else if (r == ROGER_OK &&
		 (move.from->standing != RG_MOVED || !rg_str_is(wish->there, move.from->place)))
		r = rg_store_fail_moved(move.from, err);
	*ret_occupied = move.occupied;
	return r == ROGER_OK ? finish_move(&move, to, err) : r;
}

static uint64_t size_of(const struct rg_log_files *files)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < files->count; i++)
		size += files->items[i].size;
	return size;
}

int rg_engine_leave(struct rg_engine *from, const struct rg_log_files *files,
		    struct roger_str place, bool *ret_left, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct move move = { .from = from->store, .arena = arena };
	int r = arena ? lock_source(from, err) : rg_fail_memory(err);

	rg_assert(from->exclusive);
	*ret_left = false;
	if (r < 0)
		return r;
	r = list_all(&move, from->store, &move.files, err);
	*ret_left = r == ROGER_OK && size_of(&move.files) == size_of(files);
	if (*ret_left)
		r = rg_store_stand(from->store, RG_MOVED, place, err);
	rg_store_release(from->store, RG_LOCK_APPEND);
	rg_engine_records_end(from);
	rg_store_release(from->store, RG_LOCK_BRIDGE);
	return r;
}
