/* All journals of a workspace, and the loop over the lines of one. */
#include "engine/inside.h"

#include <stdio.h>

#include "store/decoder.h"

/* BYTES_EACH: a guess of what a message takes, so that the table of messages seldom grows. */
enum { TELL_LINES = 8192, BYTES_EACH = 400 };

/* The limits of the bit fields of struct rg_walk_message. */
#define BYTES_MAX (UINT64_C(1) << 38)
_Static_assert(RG_LINE_BYTES_MAX == 1 << 23, "its length less one fits");

/* -------------------------------------------------------------- journals -- */

int rg_engine_journals(struct rg_engine *engine, struct rg_arena *arena,
		       struct rg_log_files *ret_journals, struct roger_err *err)
{
	const struct rg_store_ops *ops = engine->store->ops;
	int log, r = ROGER_OK;

	*ret_journals = (struct rg_log_files){ 0 };
	for (log = 0; log < RG_LOGS && r == ROGER_OK; log++) {
		if (!rg_log_kinds[log].chained && log != RG_LOG_ARCHIVE)
			continue;
		r = ops->list(engine->store, (enum rg_log)log, RG_STR(""), arena, ret_journals,
			      err);
		if (r == ROGER_EREFUSED && log == RG_LOG_ARCHIVE)
			r = ROGER_OK;
	}
	return r;
}

int rg_engine_stat(struct rg_engine *engine, struct rg_log_file *journal, bool *ret_there,
		   struct roger_err *err)
{
	const bool messages = journal->log == RG_LOG_MESSAGES;
	const struct rg_log_file before = *journal;
	int r = ROGER_OK;

	if (messages && !journal->measured)
		r = engine->store->ops->settle(engine->store, &journal->end, err);
	if (r == ROGER_OK)
		r = engine->store->ops->stat(engine->store, journal, ret_there, err);
	if (r == ROGER_OK && journal->measured) {
		/* A file with another inode is not the journal that was measured. */
		*ret_there = *ret_there && (messages || journal->inode == before.inode);
		*journal = before;
	} else if (r == ROGER_OK && !messages) {
		journal->end = journal->size;
	}
	return r;
}

/* --------------------------------------------------------------- walking -- */

static int tell_found(struct rg_walk *walk, enum roger_finding_kind kind, enum rg_misfit_by by,
		      int64_t line, uint64_t byte, const char *what, struct roger_err *err)
{
	const struct rg_misfit found = { kind, by, line, byte, what };

	rg_assert(walk->visitor->found && line >= 0);
	return walk->visitor->found(walk->context, walk, &found, err);
}

static int report_chain(struct rg_walk *walk, struct roger_err *err)
{
	const char *what = walk->finding.what;
	enum roger_finding_kind kind;

	if (!walk->judge || !rg_judge_finding(walk->judge, walk, &kind, &what))
		return ROGER_OK;
	return tell_found(walk, kind, RG_MISFIT_IN_CHAIN, walk->finding.line, walk->finding.byte,
			  what, err);
}

static int decode_message(struct rg_walk *walk, struct roger_err *err)
{
	const struct rg_decoded *decoded;
	int r;

	rg_assert(walk->decoder != NULL);
	r = rg_decoder_next(walk->decoder, &decoded, err);
	if (r < 0)
		return r;
	if (!decoded || decoded->line.offset != walk->line.offset)
		return rg_bytes_fail_short(&walk->lines.bytes, err);
	walk->message = decoded->is_message ? &decoded->message : NULL;
	walk->altered = decoded->altered && decoded->is_message;
	return ROGER_OK;
}

/* -------------------------------------------------------------- messages -- */

static uint64_t hash_of(const struct rg_walk *walk, struct roger_str id)
{
	return rg_hash(walk->messages.key, id.data, id.length);
}

const struct rg_walk_message *rg_walk_find(const struct rg_walk *walk, struct roger_str id)
{
	return rg_table_find(&walk->messages.table, hash_of(walk, id));
}

/* Return the first member that this line rewrites and no earlier line did; NULL: none. */
static const char *first_untold(struct rg_walk_messages *messages, uint64_t id,
				const struct rg_rewrites *rewrites)
{
	const char *member = NULL;
	uint64_t hash;
	bool fresh;
	size_t i;

	for (i = 0; i < rewrites->count; i++) {
		hash = rg_hash(rewrites->items[i].value ^ id, rewrites->items[i].member,
			       strlen(rewrites->items[i].member));
		if (rg_table_put(&messages->told, hash, &fresh) && fresh && !member)
			member = rewrites->items[i].member;
	}
	return member;
}

/* Take a later line: the first one says what the message is, and this one only its state. */
static int follow_first(struct rg_walk *walk, const struct rg_walk_message *first,
			struct roger_err *err)
{
	struct rg_rewrites rewrites;
	const char *member;
	char what[200];
	int r;

	rg_assert(walk->message && first->line);
	r = rg_later_read(walk->engine->store, walk->messages.key,
			  (struct rg_place){ first->offset, first->length + 1 },
			  (struct rg_place){ walk->line.offset, walk->line.length }, walk->scratch,
			  &walk->followed, &rewrites, err);
	if (r < 0)
		return r;
	walk->message = &walk->followed;
	member = first_untold(&walk->messages, first->id, &rewrites);
	if (!member)
		return ROGER_OK;
	snprintf(what, sizeof what,
		 "rewritten: %s%s%s is not that of line %lld, where the message began; that line "
		 "counts",
		 *member ? "its '" : "a member of another program", member, *member ? "'" : "",
		 (long long)first->line);
	return tell_found(walk, rg_judge_rewrite(walk->judge, walk), RG_MISFIT_IN_MESSAGE,
			  walk->number, walk->line.offset, what, err);
}

/* Archived is final: later lines are history. */
static void keep_state(struct rg_walk *walk, struct rg_walk_message *known)
{
	rg_assert(walk->message && walk->number > 0);
	if (known->archived)
		return;
	known->last = (uint32_t)walk->number;
	known->read = walk->message->read;
	known->archived = walk->message->archived_at_ms > 0;
	known->foreign = !walk->own ||
			 (known->foreign && walk->message->read != (walk->message->read_at_ms > 0));
}

static int keep_message(struct rg_walk *walk, struct roger_err *err)
{
	const struct roger_message *message = walk->message;
	const uint32_t hash = (uint32_t)rg_message_hash(walk->messages.key, message);
	const bool answered = message->reply_to.length && rg_walk_find(walk, message->reply_to);
	struct rg_walk_message *known;
	bool fresh;
	int r = ROGER_OK;

	rg_assert(message && walk->number > 0);
	if (walk->line.offset >= BYTES_MAX || walk->number > UINT32_MAX)
		return rg_fail(
			err, ROGER_EDATA, 0,
			"'%.*s' has more than 256 GiB or 2^32 lines, which is too much for %s",
			RG_STR_ARGS(walk->file->shown), walk->visitor->name);
	known = rg_table_put(&walk->messages.table, hash_of(walk, message->id), &fresh);
	if (!known)
		return rg_fail_memory(err);
	walk->known = known;
	walk->before = (struct rg_message_before){ .known = !fresh,
						   .read = known->read,
						   .archived = known->archived,
						   .foreign = known->foreign,
						   .answered = answered };
	if (fresh) {
		known->hash = hash;
		known->line = (uint32_t)walk->number;
		known->offset = walk->line.offset & (BYTES_MAX - 1);
		known->length = (walk->line.length - 1) & (RG_LINE_BYTES_MAX - 1);
	} else if (walk->altered) {
		walk->message = NULL;
		return ROGER_OK;
	} else if (known->hash != hash) {
		r = follow_first(walk, known, err);
	}
	if (r == ROGER_OK)
		keep_state(walk, known);
	return r;
}

/* Decode the line's entry, or say what is wrong with it. */
static int decode_line(struct rg_walk *walk, struct roger_err *err)
{
	const bool messages = walk->file->log == RG_LOG_MESSAGES;
	enum roger_finding_kind kind = ROGER_STRAY;
	struct roger_err why = { 0 };
	char what[220];
	int r;

	r = messages ? decode_message(walk, err) : ROGER_OK;
	if (r < 0 || walk->message)
		return r < 0 ? r : keep_message(walk, err);
	r = walk->line.too_long
		    ? rg_fail(&why, ROGER_EDATA, 0, "longer than %d bytes", RG_LINE_BYTES_MAX)
		    : rg_log_kind_read(walk->file->log, walk->line.text, walk->scratch,
				       &walk->record, &why);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	walk->is_entry = r == ROGER_OK;
	if (walk->is_entry)
		return ROGER_OK;
	snprintf(what, sizeof what, "no %s: %.150s", messages ? "message" : "entry", why.message);
	if (rg_judge_line(walk->judge, walk, &kind))
		snprintf(what, sizeof what, "altered: it was a message of roger's");
	return tell_found(walk, kind, RG_MISFIT_IN_LINE, walk->number, walk->line.offset, what,
			  err);
}

static int take_line(struct rg_walk *walk, struct roger_err *err)
{
	int r;

	walk->number++;
	walk->message = NULL;
	walk->altered = false;
	rg_arena_reset(walk->scratch);
	r = rg_chain_check_line(&walk->chain, &walk->line, &walk->own, &walk->finding, err);
	if (r == ROGER_OK)
		r = report_chain(walk, err);
	if (r == ROGER_OK && walk->judge)
		r = decode_line(walk, err);
	if (r == ROGER_OK && walk->visitor->line)
		r = walk->visitor->line(walk->context, walk, err);
	if (r == ROGER_OK && walk->number % TELL_LINES == 0 &&
	    !rg_index_report_progress(walk->engine->index, walk->visitor->name,
				      (int64_t)walk->line.offset, (int64_t)walk->file->end))
		r = rg_fail(err, ROGER_EREFUSED, 0, "stopped");
	return r;
}

/* Is there an unfinished line at the end?  Ignores what others append meanwhile. */
static int report_torn(struct rg_walk *walk, struct roger_err *err)
{
	char last = '\n';
	size_t got;
	int r = ROGER_OK;

	rg_assert(walk->judge != NULL);
	if (walk->file->size > walk->lines.at)
		r = walk->engine->store->ops->read(walk->engine->store, walk->file,
						   walk->file->size - 1, &last, 1, &got, err);
	if (r < 0 || last == '\n')
		return r;
	return tell_found(walk, ROGER_TORN, RG_MISFIT_AT_END, walk->number + 1, walk->lines.at,
			  "unfinished; the next writer closes it off", err);
}

static int take_lines(struct rg_walk *walk, struct roger_err *err)
{
	struct rg_misfit noted;
	bool more = true;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK) {
		r = rg_lines_next(&walk->lines, &walk->line, &more, err);
		if (r < 0 || !more)
			break;
		r = take_line(walk, err);
	}
	rg_chain_check_end(&walk->chain, &walk->finding);
	if (r == ROGER_OK)
		r = report_chain(walk, err);
	if (r == ROGER_OK && walk->judge)
		r = report_torn(walk, err);
	/* Report recorded damage that the lines do not show. */
	while (r == ROGER_OK && walk->judge &&
	       rg_judge_next(walk->judge, walk->file->shown, &i, &noted))
		r = walk->visitor->found(walk->context, walk, &noted, err);
	return r == ROGER_OK && walk->visitor->end ? walk->visitor->end(walk->context, walk, err)
						   : r;
}

static int walk_through(struct rg_engine *engine, const struct rg_log_file *file,
			const struct rg_visitor *visitor, struct rg_judge *judge, void *context,
			struct roger_err *err)
{
	struct rg_walk walk = { .engine = engine,
				.file = file,
				.visitor = visitor,
				.judge = judge,
				.context = context,
				.scratch = rg_arena_new() };
	const struct rg_bytes bytes = rg_bytes_of(engine->store, file);
	int r = rg_kept(walk.scratch, err);

	rg_lines_init(&walk.lines, &bytes, 0, file->end);
	rg_chain_check_init(&walk.chain, &bytes);
	rg_table_init(&walk.messages.table, sizeof(struct rg_walk_message));
	rg_table_init(&walk.messages.told, sizeof(uint64_t));
	if (r == ROGER_OK && judge && file->log == RG_LOG_MESSAGES) {
		walk.messages.key = judge->key;
		r = rg_table_reserve(&walk.messages.table, file->end / BYTES_EACH)
			    ? rg_decoder_open(&bytes, 0, file->end, &walk.judge->altered,
					      &walk.decoder, err)
			    : rg_fail_memory(err);
	}
	if (r == ROGER_OK)
		r = take_lines(&walk, err);
	rg_lines_deinit(&walk.lines);
	rg_chain_check_deinit(&walk.chain);
	rg_table_deinit(&walk.messages.table);
	rg_table_deinit(&walk.messages.told);
	rg_decoder_close(walk.decoder);
	rg_arena_free(walk.scratch);
	return r;
}

int rg_walk(struct rg_engine *engine, struct rg_log_file *file, const struct rg_visitor *visitor,
	    struct rg_judge *judge, void *context, bool *ret_there, struct roger_err *err)
{
	struct roger_err why = { 0 };
	int r;

	rg_assert(!judge || visitor->found);
	r = rg_engine_stat(engine, file, ret_there, &why);
	if (r == ROGER_EREFUSED && visitor->unreadable && file->log != RG_LOG_MESSAGES) {
		*ret_there = true;
		return visitor->unreadable(context, file, why.message, err);
	}
	if (r < 0 && err)
		*err = why;
	if (file->limited && file->end > file->most)
		file->end = file->most;
	if (r == ROGER_OK && *ret_there)
		r = walk_through(engine, file, visitor, judge, context, err);
	return r;
}
