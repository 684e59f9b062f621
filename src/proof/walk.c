/* All journals of a workspace, and going through one line by line with its chain. */
#include "engine/inside.h"

#include <stdio.h>

#include "store/file/decoder.h"
#include "host/file.h"
#include "facts/activity.h"
#include "facts/damage.h"
#include "facts/message.h"
#include "facts/sendlog.h"

enum { TELL_LINES = 8192 };

/* -------------------------------------------------------------- journals -- */

static struct rg_engine_journal *add_journal(struct rg_engine_journals *journals,
					     struct rg_arena *arena)
{
	return rg_arena_push(arena, &journals->items, &journals->count, sizeof *journals->items);
}

static int add_log(struct rg_engine *engine, enum rg_log log, struct rg_engine_journals *journals,
		   struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_log_file *files;
	struct rg_engine_journal *journal;
	size_t count, i;
	int r;

	r = rg_engine_log_files(engine, log, arena, &files, &count, err);
	for (i = 0; r == ROGER_OK && i < count; i++) {
		journal = add_journal(journals, arena);
		if (!journal)
			return rg_fail_memory(err);
		*journal = (struct rg_engine_journal){ .log = (int)log,
						       .folder = files[i].folder,
						       .name = files[i].name,
						       .shown = files[i].shown,
						       .file = RG_NO_FILE };
	}
	return r;
}

int rg_engine_journals(struct rg_engine *engine, struct rg_arena *arena,
		       struct rg_engine_journals *ret_journals, struct roger_err *err)
{
	/* In the order in which they speak of each other. */
	static const enum rg_log logs[] = { RG_LOG_CYCLES,  RG_LOG_DEAD_LETTERS, RG_LOG_SENDS,
					    RG_LOG_DIGESTS, RG_LOG_DAMAGE,	 RG_LOG_ACTIVITY };
	const struct roger_str name = engine->workspace->config->jsonl_file;
	struct rg_engine_journals journals = { 0 };
	struct rg_engine_journal *messages = add_journal(&journals, arena);
	size_t i;
	int r = ROGER_OK;

	if (!messages)
		return rg_fail_memory(err);
	*messages = (struct rg_engine_journal){ .log = RG_JOURNAL_MESSAGES,
						.folder = engine->workspace->data,
						.name = name,
						.shown = name,
						.file = RG_NO_FILE };
	for (i = 0; i < sizeof logs / sizeof *logs && r == ROGER_OK; i++)
		r = add_log(engine, logs[i], &journals, arena, err);
	*ret_journals = journals;
	return r;
}

static int open_messages(struct rg_engine *engine, struct rg_engine_journal *journal,
			 bool *ret_there, struct roger_err *err)
{
	struct rg_file_facts facts;
	int r;

	r = rg_journal_settle(engine->journal, &journal->end, err);
	journal->file = rg_journal_file(engine->journal);
	*ret_there = journal->file != RG_NO_FILE;
	if (r < 0 || !*ret_there)
		return r;
	r = rg_file_facts(journal->file, journal->name.data, &facts, err);
	journal->size = (uint64_t)facts.size;
	return r;
}

int rg_engine_journal_open(struct rg_engine *engine, struct rg_engine_journal *journal,
			   bool *ret_there, struct roger_err *err)
{
	struct rg_file_facts facts;
	int r;

	if (journal->log == RG_JOURNAL_MESSAGES)
		return open_messages(engine, journal, ret_there, err);
	r = rg_file_open(journal->folder, journal->name.data, RG_FILE_READ, &journal->file, err);
	*ret_there = r == ROGER_OK && journal->file != RG_NO_FILE;
	if (r < 0 || !*ret_there)
		return r;
	r = rg_file_facts(journal->file, journal->name.data, &facts, err);
	if (r < 0) {
		rg_engine_journal_close(journal);
		return r;
	}
	if (journal->measured && facts.inode != journal->inode) {
		*ret_there = false;
		rg_engine_journal_close(journal);
		return ROGER_OK;
	}
	if (!journal->measured)
		journal->size = journal->end = (uint64_t)facts.size;
	return ROGER_OK;
}

int rg_engine_journal_measure(struct rg_engine_journal *journal, struct roger_err *err)
{
	struct rg_file_facts facts;
	bool there;
	int r;

	r = rg_file_look(journal->folder, journal->name.data, &there, &facts, err);
	/* What else may stand there is told when it is opened. */
	if (r == ROGER_EREFUSED)
		return ROGER_OK;
	if (r < 0)
		return r;
	journal->measured = true;
	if (!there)
		return ROGER_OK;
	journal->inode = facts.inode;
	journal->size = journal->end = (uint64_t)facts.size;
	return ROGER_OK;
}

void rg_engine_journal_close(struct rg_engine_journal *journal)
{
	if (journal->log != RG_JOURNAL_MESSAGES)
		rg_file_close(journal->file);
	journal->file = RG_NO_FILE;
}

/* --------------------------------------------------------------- walking -- */

int rg_walk_open(struct rg_walk *walk, struct rg_engine *engine,
		 const struct rg_engine_journal *journal, const char *what, struct roger_err *err)
{
	*walk = (struct rg_walk){ .engine = engine, .journal = journal, .what = what };
	rg_lines_init(&walk->lines, journal->file, 0, journal->end);
	rg_chain_check_init(&walk->chain, journal->file);
	if (journal->log != RG_JOURNAL_MESSAGES)
		return ROGER_OK;
	return rg_decoder_open(journal->file, 0, journal->end, &walk->decoder, err);
}

void rg_walk_close(struct rg_walk *walk)
{
	rg_lines_deinit(&walk->lines);
	rg_chain_check_deinit(&walk->chain);
	walk->decoder = rg_decoder_close(walk->decoder);
}

static int decode(struct rg_walk *walk, struct roger_err *err)
{
	const struct rg_decoded *decoded;
	int r;

	walk->message = NULL;
	if (!walk->decoder)
		return ROGER_OK;
	r = rg_decoder_next(walk->decoder, &decoded, err);
	if (r < 0)
		return r;
	if (!decoded || decoded->line.offset != walk->line.offset)
		return rg_fail(err, ROGER_EIO, 0, "the journal became shorter while it was read");
	walk->message = decoded->is_message ? &decoded->message : NULL;
	return ROGER_OK;
}

int rg_walk_next(struct rg_walk *walk, bool *ret_found, struct roger_err *err)
{
	int r;

	r = rg_lines_next(&walk->lines, &walk->line, ret_found, err);
	if (r < 0)
		return r;
	if (!*ret_found) {
		rg_chain_check_end(&walk->chain, &walk->finding);
		return ROGER_OK;
	}
	walk->number++;
	r = rg_chain_check_line(&walk->chain, &walk->line, &walk->own, &walk->finding, err);
	if (r == ROGER_OK)
		r = decode(walk, err);
	if (r == ROGER_OK && walk->number % TELL_LINES == 0 &&
	    !rg_index_tell(walk->engine->index, walk->what, (int64_t)walk->line.offset,
			   (int64_t)walk->journal->end))
		r = rg_fail(err, ROGER_EREFUSED, 0, "stopped");
	return r;
}

int rg_walk_torn(const struct rg_walk *walk, bool *ret_torn, struct roger_err *err)
{
	const struct rg_engine_journal *journal = walk->journal;
	char last = '\n';
	size_t got;
	int r = ROGER_OK;

	if (journal->size > walk->lines.at)
		r = rg_file_read_at(journal->file, &last, 1, (int64_t)journal->size - 1, &got, err);
	*ret_torn = last != '\n';
	return r;
}

/* --------------------------------------------------------------- shapes -- */

int rg_walk_decode(const struct rg_walk *walk, struct rg_arena *arena,
		   union rg_log_record *ret_record, struct roger_err *err)
{
	static const struct roger_record *const records[] = {
		[RG_LOG_SENDS] = &rg_attempt_record,
		[RG_LOG_DEAD_LETTERS] = &rg_dead_letter_record,
		[RG_LOG_ACTIVITY] = &rg_activity_record,
		[RG_LOG_CYCLES] = &rg_cycle_record,
		[RG_LOG_DIGESTS] = &rg_digest_record,
		[RG_LOG_DAMAGE] = &rg_damage_record,
	};
	const struct rg_json *json;
	int r;

	if (walk->line.too_long)
		return rg_fail(err, ROGER_EDATA, 0, "longer than %d bytes", RG_LINE_BYTES_MAX);
	memset(ret_record, 0, sizeof *ret_record);
	r = rg_json_read_within(walk->line.text, arena, &json, err);
	if (r == ROGER_OK)
		r = rg_record_decode(records[walk->journal->log], rg_json_root(json), ret_record,
				     arena, err);
	if (r == ROGER_OK && walk->journal->log == RG_LOG_ACTIVITY)
		r = rg_activity_check(&ret_record->activity, err);
	return r;
}

static int why_no_message(const struct rg_walk *walk, struct rg_arena *arena, struct roger_err *why)
{
	struct roger_message message;

	if (walk->message)
		return ROGER_OK;
	if (walk->line.too_long)
		return rg_fail(why, ROGER_EDATA, 0, "longer than %d bytes", RG_LINE_BYTES_MAX);
	return rg_message_read_within(walk->line.text, arena, &message, why);
}

int rg_walk_why_stray(const struct rg_walk *walk, struct rg_arena *arena, char *to, size_t size,
		      struct roger_err *err)
{
	bool messages = walk->journal->log == RG_JOURNAL_MESSAGES;
	struct roger_err why = { 0 };
	union rg_log_record record;
	int r;

	*to = '\0';
	r = messages ? why_no_message(walk, arena, &why)
		     : rg_walk_decode(walk, arena, &record, &why);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		snprintf(to, size, "no %s: %.150s", messages ? "message" : "entry", why.message);
	return ROGER_OK;
}
