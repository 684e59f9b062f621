/* The content of a seal: digests of the journals as they are on disk. */
#include "engine/inside.h"

#include "base/tree.h"
#include "host/seal_key.h"

/* --------------------------------------------------------------- digests -- */

/* At MARKS_MAX marks, every second one is dropped. */
enum { MARK_DIGITS = 16, MARKS_MAX = 2048 };

struct digesting {
	struct rg_sha256 sha;
	struct rg_tree tree; /* kept for a seal, and where a line is cited */
	struct rg_buf marks;
	size_t cited; /* how many of the wished lines came */
	int64_t every;
	const struct rg_digest_wish *wish;
	struct rg_arena *arena;
	struct rg_digest *digest;
};

static void add_mark(struct digesting *digesting, int64_t line)
{
	struct rg_buf *marks = &digesting->marks;
	char digest[RG_DIGEST_DIGITS + 1];
	size_t i;

	rg_assert(digesting->every > 0);
	if (line % digesting->every)
		return;
	rg_sha256_peek(&digesting->sha, digest);
	rg_buf_add(marks, digest, MARK_DIGITS);
	if (digesting->wish || marks->length != (size_t)MARKS_MAX * MARK_DIGITS)
		return;
	for (i = 1; i < MARKS_MAX; i += 2)
		memmove(marks->data + i / 2 * MARK_DIGITS, marks->data + i * MARK_DIGITS,
			MARK_DIGITS);
	marks->length /= 2;
	digesting->every *= 2;
}

/* Add the line's text; with newline 1, its newline as well. */
static int add_text(struct rg_sha256 *sha, const struct rg_walk *walk, size_t newline,
		    struct roger_err *err)
{
	const struct rg_line *line = &walk->line;
	uint64_t at = line->offset, end = at + line->length + newline;
	int r;

	/* In the reader's buffer the newline follows the text. */
	if (!line->too_long) {
		rg_sha256_add(sha, line->text.data, line->text.length + newline);
		return ROGER_OK;
	}
	r = rg_digest_add(sha, &walk->lines.bytes, &at, end, err);
	if (r == ROGER_OK && at < end)
		return rg_bytes_fail_short(&walk->lines.bytes, err);
	return r;
}

/* Add the line, without its newline, to the tree as a leaf, and keep its text if it is cited. */
static int add_leaf(struct digesting *digesting, struct rg_walk *walk, struct roger_err *err)
{
	const struct rg_digest_wish *wish = digesting->wish;
	const bool cited = wish && digesting->cited < wish->cited_count &&
			   wish->cited[digesting->cited] == walk->number;
	struct roger_str text = walk->line.text;
	struct rg_sha256 sha;
	size_t chars;
	int r;

	rg_tree_begin(&sha);
	r = add_text(&sha, walk, 0, err);
	rg_tree_add(&digesting->tree, &sha, cited);
	if (r < 0 || !cited)
		return r;
	digesting->cited++;
	if (walk->line.too_long || !rg_utf8_count(text, &chars))
		text = RG_STR("");
	return rg_kept(rg_arena_add(digesting->arena, &digesting->digest->cited, text), err);
}

static bool wants_tree(const struct digesting *digesting)
{
	return !digesting->wish || digesting->wish->cited_count;
}

static int add_line(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct digesting *digesting = context;
	int r = add_text(&digesting->sha, walk, 1, err);

	add_mark(digesting, walk->number);
	return r < 0 || !wants_tree(digesting) ? r : add_leaf(digesting, walk, err);
}

static int keep_tree(struct digesting *digesting, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf proof = { .maximum = SIZE_MAX };
	char root[RG_DIGEST_DIGITS + 1];

	rg_tree_end(&digesting->tree, root, &proof);
	if (!rg_arena_copy(digesting->arena, rg_str(root), &digesting->digest->entry.root))
		return rg_fail_memory(err);
	if (!digesting->wish)
		return ROGER_OK;
	return rg_kept(rg_arena_keep(digesting->arena, &proof, &digesting->digest->proof), err);
}

/* Keep the digest of all whole lines, or of exactly the bytes that were wished for. */
static int keep_digest(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct digesting *digesting = context;
	struct rg_digest *digest = digesting->digest;
	char sha256[RG_DIGEST_DIGITS + 1];
	uint64_t end = walk->lines.at;
	int r = ROGER_OK;

	digest->entry.lines = walk->number;
	digest->entry.every = digesting->every;
	if (digesting->wish) {
		/* Lines may be missing: a database's owner can take some and leave the length. */
		r = rg_digest_add(&digesting->sha, &walk->lines.bytes, &end, walk->file->end, err);
	} else if (walk->file->log != RG_LOG_MESSAGES) {
		/* Lines copied into a log are not synced otherwise. */
		r = walk->engine->store->ops->sync(walk->engine->store, walk->file, walk->file->end,
						   err);
	}
	digest->entry.bytes = (int64_t)end;
	rg_sha256_peek(&digesting->sha, sha256);
	if (r == ROGER_OK &&
	    (digesting->marks.failed ||
	     !rg_arena_copy(digesting->arena, rg_str(sha256), &digest->entry.sha256) ||
	     !rg_arena_print(digesting->arena, &digest->entry.chain, "%016llx",
			     (unsigned long long)walk->chain.chain) ||
	     !rg_arena_copy(digesting->arena, rg_buf_str(&digesting->marks), &digest->entry.marks)))
		r = rg_fail_memory(err);
	return r < 0 || !wants_tree(digesting) ? r : keep_tree(digesting, err);
}

static int digest_one(struct rg_engine *engine, struct rg_log_file *journal,
		      const struct rg_digest_wish *wish, struct rg_arena *arena,
		      struct rg_digest *digest, struct roger_err *err)
{
	static const struct rg_visitor visitor = { .name = "digest",
						   .line = add_line,
						   .end = keep_digest };
	struct digesting digesting = {
		.every = wish ? wish->every : 1, .wish = wish, .arena = arena, .digest = digest
	};
	int r;

	digest->entry.kind = ROGER_SEALED_JOURNAL;
	digest->entry.file = journal->shown;
	journal->limited = wish != NULL;
	journal->most = wish ? (uint64_t)wish->bytes : 0;
	rg_sha256_init(&digesting.sha);
	rg_buf_init(&digesting.marks, SIZE_MAX);
	rg_tree_init(&digesting.tree);
	r = rg_walk(engine, journal, &visitor, NULL, &digesting, &digest->there, err);
	rg_buf_deinit(&digesting.marks);
	rg_tree_deinit(&digesting.tree);
	return r;
}

static bool is_measured(enum rg_measured which, enum rg_log log)
{
	return which == RG_MEASURED_ALL || rg_log_kinds[log].chained ||
	       (which == RG_MEASURED_SEALED && log == RG_LOG_ARCHIVE);
}

int rg_engine_measure(struct rg_engine *engine, enum rg_measured which, struct rg_arena *arena,
		      struct rg_log_files *ret_files, uint64_t *ret_carried, struct roger_err *err)
{
	/* A read-only workspace has no locks; nobody writes there either. */
	const bool locks = which != RG_MEASURED_CHAINED || rg_store_writable(engine->store);
	uint64_t carried;
	bool there;
	size_t i, measured;
	int log, archive, r = locks ? rg_engine_records_begin(engine, err) : ROGER_OK;

	if (r < 0)
		return r;
	/* First copy what was sent from the journal into the send logs. */
	r = rg_engine_carry(engine, false, &carried, err);
	if (ret_carried)
		*ret_carried = carried;
	*ret_files = (struct rg_log_files){ 0 };
	/* Measure messages after the logs that tell of them, which do not grow meanwhile; and then
	 * the archive, which is written before the messages tell of it. */
	for (archive = 0; archive < 2; archive++) {
		measured = ret_files->count;
		for (log = 0; log < RG_LOGS && r == ROGER_OK; log++)
			if (is_measured(which, (enum rg_log)log) &&
			    archive == (log == RG_LOG_ARCHIVE))
				r = engine->store->ops->list(engine->store, (enum rg_log)log,
							     RG_STR(""), arena, ret_files, err);
		for (i = ret_files->count; i > measured && r == ROGER_OK; i--) {
			r = rg_engine_stat(engine, &ret_files->items[i - 1], &there, err);
			ret_files->items[i - 1].measured = r == ROGER_OK;
			/* Something else with that name is reported during the walk. */
			if (r == ROGER_EREFUSED)
				r = ROGER_OK;
		}
	}
	if (locks)
		rg_engine_records_end(engine);
	return r;
}

int rg_engine_digests_of(struct rg_engine *engine, struct rg_log_files *files,
			 struct rg_arena *arena, struct rg_digests *ret_digests,
			 struct roger_err *err)
{
	struct rg_digest *digests = rg_arena_get(arena, (files->count + 1) * sizeof *digests);
	int r = rg_kept(digests, err);
	size_t i;

	for (i = 0; i < files->count && r == ROGER_OK; i++) {
		digests[i].sealed = is_measured(RG_MEASURED_SEALED, files->items[i].log);
		r = digest_one(engine, &files->items[i], NULL, arena, &digests[i], err);
		/* Another file, or none, has its name by now. */
		if (r == ROGER_OK && files->items[i].inode && !digests[i].there)
			r = rg_fail(err, ROGER_ETIMEOUT, 0,
				    "'%.*s' was replaced while it was read; try again",
				    RG_STR_ARGS(files->items[i].shown));
	}
	*ret_digests = (struct rg_digests){ digests, files->count };
	return r;
}

int rg_engine_digests(struct rg_engine *engine, const struct rg_digest_wish *wishes, size_t count,
		      struct rg_arena *arena, struct rg_digests *ret_digests, struct roger_err *err)
{
	struct rg_digest *digests = rg_arena_get(arena, count * sizeof *digests + 1);
	struct rg_log_file *journal;
	struct rg_log_files files;
	size_t i;
	int r;

	if (!digests)
		return rg_fail_memory(err);
	r = rg_engine_journals(engine, arena, &files, err);
	for (i = 0; i < count && r == ROGER_OK; i++) {
		digests[i].entry.file = wishes[i].file;
		journal = rg_log_files_find(&files, wishes[i].file);
		if (journal)
			r = digest_one(engine, journal, &wishes[i], arena, &digests[i], err);
		/* Something else with the journal's name counts as missing. */
		if (r == ROGER_EREFUSED)
			r = ROGER_OK;
	}
	*ret_digests = (struct rg_digests){ digests, count };
	return r;
}

int rg_engine_copy(struct rg_engine *engine, const struct rg_log_file *file, uint64_t from,
		   char *room, size_t want, size_t *ret_got, struct roger_err *err)
{
	return engine->store->ops->read(engine->store, file, from, room, want, ret_got, err);
}

int rg_engine_state_text(struct rg_engine *engine, struct rg_arena *arena,
			 struct roger_str *ret_text, struct roger_err *err)
{
	return engine->store->ops->get(engine->store, RG_DOCUMENT_STATE, RG_STR(""), arena,
				       ret_text, err);
}

/* ------------------------------------------------------------------- key -- */

/* A key is made under the record lock, so that two processes that start at once use one key. */
int rg_engine_seal_key(struct rg_engine *engine, bool make, struct rg_arena *arena,
		       struct rg_seal_key *ret_key, struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	int r = make ? rg_engine_records_hold(engine, &held, err) : ROGER_OK;

	if (r < 0)
		return r;
	return make ? rg_seal_key_make(engine->workspace, arena, ret_key, err)
		    : rg_seal_key_find(engine->workspace, arena, ret_key, err);
}
