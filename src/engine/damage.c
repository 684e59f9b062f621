/*
 * damage.jsonl: damage that was found, and what a person has accepted.
 *
 * The store detects that the journal was changed and records that in the control
 * file. This file finds out what exactly happened, and records it before the
 * evidence can be overwritten.
 */
#include "engine/inside.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/sign.h"
#include "facts/damage.h"

/* What a torn write leaves as NULs: whole sectors, or this many bytes within a line. */
enum { SECTOR_BYTES = 512, HOLE_BYTES = 64 };

static struct rg_shared *shared_of(struct rg_engine *engine)
{
	return rg_store_shared(engine->store);
}

/* Return the witness: how much of the journal was once on disk; count 0: not known. */
static struct rg_figure witness_of(struct rg_engine *engine)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_WITNESS };
	struct rg_figure witness;

	(void)engine->store->ops->figure(engine->store, &key, &witness);
	return witness;
}

static struct roger_str journal_name(const struct rg_engine *engine)
{
	return engine->workspace->config->jsonl_file;
}

/* -------------------------------------------------------------- the log -- */

/* Is any damage recorded, accepted or not?  Stores the number of unaccepted entries in the control
 * file.  An unreadable log counts as damage. */
bool rg_engine_count_damages(struct rg_engine *engine)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_shared *shared = shared_of(engine);
	struct roger_damage_list damages = { 0 };
	bool readable = arena && rg_damages_read(engine->store, arena, &damages, NULL) == ROGER_OK;
	uint32_t open = !readable;
	size_t i;

	for (i = 0; readable && i < damages.count; i++)
		open += !damages.items[i].accepted_at_ms;
	if (shared) {
		atomic_store(&shared->damages, open);
		atomic_store(&shared->damaged, damages.count || !readable);
	}
	return damages.count || !readable;
}

/* Append entries, with one sync for all. */
static int append_damages(struct rg_engine *engine, const struct roger_damage *damages,
			  size_t count, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	size_t i;

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	if (!count)
		return ROGER_OK;
	for (i = 0; i < count; i++) {
		rg_record_encode(&rg_damage_record, &damages[i], &text);
		rg_buf_add_char(&text, '\n');
		engine->altered |=
			damages[i].kind == ROGER_DAMAGE_ALTERED && !damages[i].accepted_at_ms;
		/* Entries that a send log loses with the line are copied again. */
		if (engine->altered && rg_log_kind_has(RG_LOG_SENDS, damages[i].file))
			rg_engine_carry_anew(engine);
	}
	if (text.failed)
		return rg_fail_memory(err);
	engine->noted += count;
	return rg_engine_log_add(engine, RG_LOG_DAMAGE, RG_STR(""), rg_buf_str(&text), true, err);
}

/* ---------------------------------------------------------- what is there -- */

/* Fill in the id and, unless bytes is NULL, the digest of the damaged bytes. */
static int fill_in(struct roger_damage *damage, const struct rg_bytes *bytes,
		   struct rg_arena *arena, struct roger_err *err)
{
	char digits[RG_DIGEST_DIGITS + 1] = "", id[RG_DAMAGE_ID_BYTES];

	/* Without the digest, the same bytes would get another id later. */
	if (bytes && !rg_digest_bytes(bytes, damage->byte, damage->bytes, digits))
		return rg_fail(err, ROGER_EIO, 0, "what was damaged cannot be read");
	if (bytes && !rg_arena_copy(arena, rg_str(digits), &damage->sha256))
		return rg_fail_memory(err);
	return rg_kept(rg_damage_id(damage, id) && rg_arena_copy(arena, rg_str(id), &damage->id),
		       err);
}

/* Fill in the line that starts at damage's byte. */
static int fill_line(struct roger_damage *damage, struct rg_store *store,
		     const struct rg_log_file *journal, struct rg_arena *arena,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(store, journal, (uint64_t)damage->byte, journal->end);
	struct rg_line line;
	bool found;
	int r = rg_lines_next(&lines, &line, &found, err);

	if (r < 0)
		return r;
	if (found)
		damage->bytes = (int64_t)line.length;
	return fill_in(damage, &lines.bytes, arena, err);
}

/* ------------------------------------------------------------- what happened -- */

/* Describe damage that the witness shows: the journal is not the one that was on disk. */
static int from_witness(struct rg_engine *engine, enum roger_damage_kind kind,
			struct rg_arena *arena, struct roger_damage *ret_damage,
			struct roger_err *err)
{
	const struct rg_figure witness = witness_of(engine);

	*ret_damage = (struct roger_damage){ .file = journal_name(engine),
					     .kind = (int)kind,
					     .expected_bytes = (int64_t)witness.count,
					     .noticed_at_ms = rg_clock_ms() };
	if (!witness.chained)
		return ROGER_OK;
	return rg_kept(rg_arena_print(arena, &ret_damage->expected_chain, "%016llx",
				      (unsigned long long)witness.chain),
		       err);
}

/* A search for the lines before the witness that look like roger's but are damaged. */
struct search {
	uint64_t end;
	uint64_t stated;	     /* the last chain that a line states before end */
	struct roger_damage *damage; /* the last one */
	struct rg_damages *places;   /* all of them */
};

static int look_at_line(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct roger_damage place = { .file = journal_name(walk->engine),
				      .kind = ROGER_DAMAGE_ALTERED,
				      .line = walk->number,
				      .byte = (int64_t)walk->line.offset,
				      .bytes = (int64_t)walk->line.length,
				      .noticed_at_ms = rg_clock_ms() };
	struct search *search = context;
	struct roger_str unused;
	int r;

	if (walk->line.offset >= search->end)
		return ROGER_OK;
	if (!walk->line.too_long)
		(void)!rg_chain_split(walk->line.text, &search->stated, &unused);
	if (walk->own || walk->line.too_long || !rg_line_looks_own(walk->line.text))
		return ROGER_OK;
	search->damage->line = place.line;
	search->damage->byte = place.byte;
	search->damage->bytes = place.bytes;
	if (search->places->count == RG_FINDINGS_MAX)
		return ROGER_OK;
	r = fill_in(&place, &walk->lines.bytes, search->places->arena, err);
	return r < 0 ? r : rg_damages_put(search->places, &place, err);
}

/* After an altered line the chain must still reach the witness; otherwise this is another file. An
 * unfinished last line is the damaged one, even if it lacks only its newline. */
static int look_at_end(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct rg_figure witness = witness_of(walk->engine);
	struct search *search = context;
	struct roger_damage *damage = search->damage;

	(void)err;
	if (damage->line && (uint64_t)(damage->byte + damage->bytes) + 1 < search->end &&
	    !(witness.chained && search->stated == witness.chain))
		damage->line = damage->byte = damage->bytes = 0;
	if (walk->lines.at >= search->end || walk->file->size < search->end)
		return ROGER_OK;
	damage->line = walk->number + 1;
	damage->byte = (int64_t)walk->lines.at;
	damage->bytes = (int64_t)(walk->file->size - walk->lines.at);
	return ROGER_OK;
}

/* Find the last damaged line before end; damage->line stays 0 if there is none. */
static int find_line(struct rg_engine *engine, uint64_t end, struct roger_damage *damage,
		     struct rg_damages *places, struct roger_err *err)
{
	static const struct rg_visitor visitor = { .name = "damage",
						   .line = look_at_line,
						   .end = look_at_end };
	struct rg_log_file file = { .log = RG_LOG_MESSAGES, .shown = journal_name(engine) };
	struct search search = { .end = end, .damage = damage, .places = places };
	bool there;

	return rg_walk(engine, &file, &visitor, NULL, &search, &there, err);
}

/* Describe how the journal differs from its witness; places gets its damaged lines, also those of a
 * shorter journal, which may have lost a line in its middle. */
static int describe_damage(struct rg_engine *engine, struct rg_arena *arena,
			   struct roger_damage *damage, struct rg_damages *places,
			   struct roger_err *err)
{
	struct roger_damage last = { 0 };
	const struct rg_bytes bytes = rg_bytes_of(engine->store, &rg_store_messages);
	struct rg_log_file file = rg_store_messages;
	uint64_t expected;
	bool there;
	int r;

	r = from_witness(engine, ROGER_DAMAGE_ALTERED, arena, damage, err);
	if (r == ROGER_OK)
		r = engine->store->ops->stat(engine->store, &file, &there, err);
	expected = (uint64_t)damage->expected_bytes;
	if (r == ROGER_OK && file.size >= expected)
		r = find_line(engine, expected, damage, places, err);
	else if (r == ROGER_OK && file.size)
		r = find_line(engine, file.size, &last, places, err);
	if (r < 0)
		return r;
	if (!damage->line) {
		damage->kind = file.size == 0	      ? ROGER_DAMAGE_GONE
			       : file.size < expected ? ROGER_DAMAGE_SHORTER
						      : ROGER_DAMAGE_OTHER;
		damage->bytes = (int64_t)file.size;
	}
	return fill_in(damage, &bytes, arena, err);
}

/* Return the entry that records this damage, or add one. */
static int note_damage(struct rg_engine *engine, struct rg_arena *arena,
		       const struct roger_damage *damage, struct roger_damage *ret_noted,
		       struct roger_err *err)
{
	const struct roger_damage *known, *noted;
	struct roger_damage_list damages;
	size_t i;
	int r;

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	r = rg_damages_read(engine->store, arena, &damages, err);
	if (r < 0)
		return r;
	known = rg_damages_find(damages.items, damages.count, damage->id);
	/* Perhaps a line before the witness is recorded as damaged, and is still there. */
	for (i = 0; i < damages.count && !known && rg_damage_closes(damage); i++) {
		noted = &damages.items[i];
		if (noted->kind == ROGER_DAMAGE_ALTERED &&
		    rg_str_equal(noted->file, damage->file) &&
		    noted->byte < damage->expected_bytes &&
		    rg_damage_stands(engine->store, &rg_store_messages, noted))
			known = noted;
	}
	*ret_noted = known ? *known : *damage;
	return known ? ROGER_OK : append_damages(engine, damage, 1, err);
}

/* Rebuild the index without the altered lines that were just recorded.  If this fails, the next
 * process that opens the tables sees that they are made of other lines, and rebuilds them. */
static void forget_altered(struct rg_engine *engine, bool always)
{
	uint64_t end;

	if ((always || engine->altered) &&
	    engine->store->ops->settle(engine->store, &end, NULL) == ROGER_OK)
		(void)!rg_index_rebuild(engine->index, end, NULL, NULL);
	engine->altered = false;
}

/* Does a place say more than its entry?  A removal that was accepted is recorded again: the file
 * had come back since.  Of an altered line nothing counts, also where it rewrites its message. */
static bool is_news(const struct roger_damage *known, const struct roger_damage *place)
{
	if (!known)
		return true;
	return known->kind == ROGER_DAMAGE_REMOVED
		       ? known->accepted_at_ms > 0
		       : known->kind == ROGER_DAMAGE_REWRITTEN && !known->accepted_at_ms &&
				 place->kind == ROGER_DAMAGE_ALTERED;
}

/* Record the places that damage.jsonl lacks. */
static int note_places(struct rg_engine *engine, const struct rg_damages *places,
		       struct roger_err *err)
{
	struct rg_damages news = { .arena = places->arena };
	struct roger_damage_list damages;
	size_t i;
	int r = rg_damages_read(engine->store, places->arena, &damages, err);

	for (i = 0; r == ROGER_OK && i < places->count; i++)
		if (is_news(rg_damages_find(damages.items, damages.count, places->items[i].id),
			    &places->items[i]))
			r = rg_damages_put(&news, &places->items[i], err);
	return r == ROGER_OK ? append_damages(engine, news.items, news.count, err) : r;
}

int rg_engine_note_removed(struct rg_engine *engine, struct roger_str shown, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_damage removed = { .file = shown,
					.kind = ROGER_DAMAGE_REMOVED,
					.noticed_at_ms = rg_clock_ms() };
	const struct rg_damages places = { &removed, 1, arena };
	int r = arena ? fill_in(&removed, NULL, arena, err) : rg_fail_memory(err);

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	if (r == ROGER_OK)
		r = note_places(engine, &places, err);
	(void)rg_engine_count_damages(engine);
	return r;
}

/* Examine the damage, record it, and mark it as examined in the control file.  Whoever finds it may
 * have the record lock already. */
static int look_at_broken(struct rg_engine *engine, struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_figure_key witness = { .kind = RG_FIGURE_WITNESS };
	struct rg_damages places = { .arena = arena };
	const bool taken = rg_store_took(engine->store, RG_LOCK_RECORDS);
	struct roger_damage damage, noted;
	enum rg_broken broken;
	int r;

	r = describe_damage(engine, arena, &damage, &places, err);
	if (r == ROGER_OK && !taken)
		r = rg_store_take(engine->store, RG_LOCK_RECORDS, RG_LOCK_WAIT_MS, err);
	if (r < 0)
		return r;
	r = note_damage(engine, arena, &damage, &noted, err);
	if (r == ROGER_OK && damage.kind != ROGER_DAMAGE_OTHER)
		r = note_places(engine, &places, err);
	if (!taken)
		rg_store_release(engine->store, RG_LOCK_RECORDS);
	if (r < 0)
		return r;
	broken = rg_damage_closes(&noted) ? RG_BROKEN_CLOSED : RG_BROKEN_LINE;
	if (noted.accepted_at_ms && broken == RG_BROKEN_CLOSED)
		broken = RG_BROKEN_NOT;
	/* Count first: once it is marked as examined, nobody examines it again. */
	(void)rg_engine_count_damages(engine);
	atomic_store(&shared_of(engine)->broken, broken);
	/* If this process is killed before, the next one finds the damage accepted. */
	if (broken == RG_BROKEN_NOT)
		engine->store->ops->put_figure(engine->store, &witness, &(struct rg_figure){ 0 });
	if (noted.noticed_at_ms != damage.noticed_at_ms)
		return ROGER_OK;
	/* The damage is recorded now, so the index and the figures can be rebuilt; but an exclusive
	 * transaction would lose its change lock with the figures. */
	forget_altered(engine, true);
	if (broken == RG_BROKEN_LINE && !engine->exclusive)
		(void)engine->store->ops->keep(engine->store, RG_KEEP_NOTHING);
	return ROGER_OK;
}

/* Continue with the journal as it is; numbers and keys that were given stay used. */
static int reopen_journal(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_shared *shared = shared_of(engine);

	rg_assert(!engine->exclusive);
	if (!shared || atomic_load(&shared->broken) != RG_BROKEN_CLOSED)
		return ROGER_OK;
	/* The figures may belong to the former journal. */
	(void)engine->store->ops->keep(engine->store, RG_KEEP_NOTHING);
	return rg_engine_stay_used(engine, err);
}

/* Did a person accept the damage, and the process die before it reopened the journal? */
static bool was_accepted(struct rg_engine *engine)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct roger_damage *known;
	struct roger_damage_list damages;
	struct roger_damage closed;

	if (!arena || from_witness(engine, ROGER_DAMAGE_SHORTER, arena, &closed, NULL) < 0 ||
	    fill_in(&closed, NULL, arena, NULL) < 0 ||
	    rg_damages_read(engine->store, arena, &damages, NULL) < 0)
		return false;
	known = rg_damages_find(damages.items, damages.count, closed.id);
	return known && known->accepted_at_ms;
}

bool rg_engine_has_unexamined(struct rg_engine *engine)
{
	const struct rg_shared *shared = shared_of(engine);
	const uint32_t broken = shared ? atomic_load(&shared->broken) : RG_BROKEN_NOT;

	return broken == RG_BROKEN_DIFFERS || broken == RG_BROKEN_SHORTER;
}

bool rg_engine_examine_damage(struct rg_engine *engine)
{
	struct rg_shared *shared = shared_of(engine);
	struct roger_err err = { 0 };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	bool looked;

	/* Reopening would lose the change lock of an exclusive transaction. */
	if (shared && atomic_load(&shared->broken) == RG_BROKEN_CLOSED && !engine->exclusive)
		return was_accepted(engine) && reopen_journal(engine, NULL) == ROGER_OK;
	if (!rg_engine_has_unexamined(engine))
		return false;
	arena = rg_arena_new();
	looked = arena && look_at_broken(engine, arena, &err) == ROGER_OK;
	if (!looked)
		rg_warn(&engine->trouble, &err,
			"%.*s is damaged, and that could not be recorded: %.250s",
			RG_STR_ARGS(journal_name(engine)), err.message);
	return looked;
}

/* --------------------------------------------------------------- telling -- */

/* damage.jsonl may have come with a copied workspace, and agents read this text: print only a
 * known file name, none of its words. */
static struct roger_str shown_name(const struct rg_engine *engine, struct roger_str file)
{
	return rg_name_valid(file) || rg_str_equal(file, journal_name(engine)) ? file
									       : RG_STR("a log");
}

static void tell_first(struct rg_engine *engine, const struct roger_damage_list *damages)
{
	const struct roger_damage *first = NULL;
	char line[32] = "", more[40] = "";
	size_t count = 0, i;

	for (i = 0; i < damages->count; i++)
		if (!damages->items[i].accepted_at_ms && !count++)
			first = &damages->items[i];
	if (!first)
		return;
	if (first->line)
		snprintf(line, sizeof line, ":%lld", (long long)first->line);
	if (count > 1)
		snprintf(more, sizeof more, " (and %s%zu more)", rg_damages_unsure(damages->count),
			 count - 1);
	snprintf(engine->damage, sizeof engine->damage,
		 "%.*s%s is %s%s; `roger status` says what to do",
		 RG_STR_ARGS(shown_name(engine, first->file)), line, rg_damage_words(first), more);
}

/* Were bytes changed that were once on disk?  A read-only process reads them all to know. */
static bool journal_differs(struct rg_engine *engine, const struct rg_figure *witness)
{
	const struct rg_bytes bytes = rg_bytes_of(engine->store, &rg_store_messages);
	uint64_t chain = 0;

	return rg_chain_over_lines(&bytes, 0, witness->count, &chain, NULL) == ROGER_OK &&
	       chain != witness->chain;
}

/* Is damage found but not recorded, because the disk is full or the process may only read? */
static bool is_known_damaged(struct rg_engine *engine, const struct roger_damage_list *damages)
{
	const bool writable = shared_of(engine) != NULL;
	struct rg_log_file file = rg_store_messages;
	struct rg_figure witness = { 0 };
	bool there;

	if (rg_engine_has_unexamined(engine))
		return true;
	if (writable)
		witness = witness_of(engine);
	else if (!rg_damages_accepted(damages, journal_name(engine)))
		rg_engine_recall(engine->store, &witness);
	if (!witness.count ||
	    engine->store->ops->stat(engine->store, &file, &there, NULL) != ROGER_OK)
		return false;
	return file.size < witness.count ||
	       (!writable && witness.chained && journal_differs(engine, &witness));
}

/* Does the index have lines that rewrite a message, and that are not recorded yet? */
static bool has_unnoted(struct rg_engine *engine, const struct roger_damage_list *damages)
{
	struct rg_shared *shared = shared_of(engine);
	const uint64_t count = (uint64_t)rg_index_progress(engine->index)->rewrites;
	size_t i;

	if (shared)
		return count > atomic_load(&shared->rewrites);
	for (i = 0; i < damages->count; i++)
		if (damages->items[i].kind == ROGER_DAMAGE_REWRITTEN)
			return false;
	return count > 0;
}

const char *rg_engine_damage(struct rg_engine *engine)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	struct roger_damage_list damages = { 0 };
	bool readable = true, counted, any;
	struct rg_shared *shared;
	char *const to = engine->damage;

	rg_engine_note_rewrites(engine, false);
	shared = shared_of(engine);
	counted = shared && atomic_load(&shared->prepared);
	any = shared && atomic_load(&shared->damages);
	*to = '\0';
	/* A rebuilt control file has a count only after a process has prepared it. */
	if (!counted || any) {
		arena = rg_arena_new();
		readable =
			arena && rg_damages_read(engine->store, arena, &damages, NULL) == ROGER_OK;
		tell_first(engine, &damages);
	}
	if (!*to && ((!readable && counted) || has_unnoted(engine, &damages) ||
		     is_known_damaged(engine, &damages)))
		snprintf(to, sizeof engine->damage, "%.*s is damaged; `roger verify` says where",
			 RG_STR_ARGS(journal_name(engine)));
	return to;
}

int rg_engine_damages(struct rg_engine *engine, struct rg_arena *arena,
		      struct roger_damage_list *ret_damages, struct roger_err *err)
{
	*ret_damages = (struct roger_damage_list){ 0 };
	rg_engine_note_rewrites(engine, false);
	return rg_damages_may_be(engine->store)
		       ? rg_damages_read(engine->store, arena, ret_damages, err)
		       : ROGER_OK;
}

int rg_engine_altered(struct rg_engine *engine, struct rg_arena *arena,
		      struct rg_altered *ret_altered, struct roger_err *err)
{
	struct roger_damage_list damages;
	int r = rg_engine_damages(engine, arena, &damages, err);

	return r < 0 ? r : rg_altered_of(engine->store, &damages, arena, ret_altered, err);
}

/* Return the id of the message whose line was damaged, and is as it was found; "": not known. */
static struct roger_str message_of(struct rg_engine *engine, const struct roger_damage *damage,
				   struct rg_arena *arena)
{
	struct roger_message message;
	struct roger_str text;

	return damage->line && rg_str_equal(damage->file, journal_name(engine)) &&
			       rg_damage_stands(engine->store, &rg_store_messages, damage) &&
			       rg_engine_line_at(engine, (uint64_t)damage->byte, arena, &text,
						 &message, NULL) == ROGER_OK
		       ? message.id
		       : RG_STR("");
}

int rg_engine_mark_altered(struct rg_engine *engine, struct roger_message *messages, size_t count,
			   struct rg_arena *arena, struct roger_err *err)
{
	struct roger_damage_list damages;
	enum roger_altered altered;
	struct roger_str id;
	size_t i, k;
	int r = rg_engine_damages(engine, arena, &damages, err);

	for (i = 0; r == ROGER_OK && i < damages.count; i++) {
		altered = damages.items[i].accepted_at_ms ? ROGER_ALTERED_ACCEPTED
			  : damages.items[i].kind == ROGER_DAMAGE_REWRITTEN
				  ? ROGER_ALTERED_REWRITTEN
				  : ROGER_ALTERED_LINE;
		/* A line without the damaged bytes was restored: its message is not altered. */
		id = message_of(engine, &damages.items[i], arena);
		/* Unaccepted damage wins over accepted damage. */
		for (k = 0; k < count && id.length; k++)
			if (rg_str_equal(messages[k].id, id) &&
			    (!messages[k].altered || altered != ROGER_ALTERED_ACCEPTED))
				messages[k].altered = (int)altered;
	}
	return r;
}

/* --------------------------------------------------------------- judging -- */

int rg_judge_init(struct rg_judge *judge, struct rg_engine *engine, struct rg_arena *arena,
		  struct roger_err *err)
{
	int r;

	*judge = (struct rg_judge){ 0 };
	r = rg_random(&judge->key, sizeof judge->key, err);
	if (r == ROGER_OK)
		r = rg_damages_read(engine->store, arena, &judge->damages, err);
	if (r < 0)
		return r;
	r = rg_altered_of(engine->store, &judge->damages, arena, &judge->altered, err);
	if (r < 0)
		return r;
	judge->told = rg_arena_get(arena, judge->damages.count + 1);
	return rg_kept(judge->told, err);
}

/* Is this damage in the walked journal, and its line still as it was found? */
static bool stands_in(const struct rg_walk *walk, const struct roger_damage *damage)
{
	return rg_str_equal(damage->file, walk->file->shown) &&
	       rg_damage_stands(walk->engine->store, walk->file, damage);
}

/* Return the kind of a found line: accepted, if a person accepted it as it is now; else `kind`. */
static enum roger_finding_kind kind_of_line(struct rg_judge *judge, const struct rg_walk *walk,
					    int64_t line, enum roger_finding_kind kind)
{
	const struct roger_damage *damage;
	size_t i;

	rg_assert(judge->told && line > 0);
	for (i = 0; i < judge->damages.count; i++) {
		damage = &judge->damages.items[i];
		if (damage->line != line || !stands_in(walk, damage) ||
		    /* For a stray line, only a record of a stray line counts. */
		    (kind == ROGER_STRAY && damage->kind != ROGER_DAMAGE_STRAY))
			continue;
		judge->told[i] = true;
		if (damage->accepted_at_ms)
			kind = damage->kind != ROGER_DAMAGE_GAP	    ? ROGER_ACCEPTED
			       : walk->file->log == RG_LOG_MESSAGES ? ROGER_FOREIGN
								    : ROGER_TORN;
	}
	return kind;
}

/* Has the line NULs as a torn write leaves them: to the edge of a sector, or many? */
static bool has_hole(const struct rg_line *line)
{
	const char *text = line->text.data, *end = text + line->length, *nul = text, *after;
	bool begins, ends;

	for (; nul < end && (nul = memchr(nul, '\0', (size_t)(end - nul))); nul = after) {
		for (after = nul; after < end && !*after;)
			after++;
		begins = (line->offset + (uint64_t)(nul - text)) % SECTOR_BYTES == 0;
		ends = (line->offset + (uint64_t)(after - text)) % SECTOR_BYTES == 0;
		if (after - nul >= HOLE_BYTES || (begins && after == end) ||
		    (ends && (begins || nul == text)))
			return true;
	}
	return false;
}

bool rg_judge_line(struct rg_judge *judge, struct rg_walk *walk, enum roger_finding_kind *ret_kind)
{
	const struct rg_line *line = &walk->line;

	*ret_kind = kind_of_line(judge, walk, walk->number, ROGER_STRAY);
	if (line->too_long)
		return false;
	if (has_hole(line))
		walk->last_hole = walk->number;
	if (walk->file->log != RG_LOG_MESSAGES || walk->own || !rg_line_looks_own(line->text))
		return false;
	walk->last_own = walk->number;
	*ret_kind = kind_of_line(judge, walk, walk->number, ROGER_ALTERED);
	return true;
}

enum roger_finding_kind rg_judge_rewrite(struct rg_judge *judge, const struct rg_walk *walk)
{
	return kind_of_line(judge, walk, walk->number, ROGER_REWRITTEN);
}

/* Is it recorded which of the lines from..line-1 was altered? */
static bool is_noted(const struct rg_judge *judge, const struct rg_walk *walk, int64_t from,
		     int64_t line)
{
	const struct roger_damage *damage;
	size_t i;

	for (i = 0; i < judge->damages.count; i++) {
		damage = &judge->damages.items[i];
		if (damage->line >= from && damage->line < line && stands_in(walk, damage))
			return true;
	}
	return false;
}

bool rg_judge_finding(struct rg_judge *judge, const struct rg_walk *walk,
		      enum roger_finding_kind *ret_kind, const char **what)
{
	const struct rg_chain_finding *finding = &walk->finding;
	int64_t from = finding->from ? finding->from : finding->line;

	*ret_kind = ROGER_FOREIGN;
	if (!finding->line)
		return false;
	if (!finding->damage)
		return true;
	/* An unreadable line before it, or a recorded one, is reported by itself. */
	if (walk->last_own >= from || is_noted(judge, walk, from, finding->line))
		return false;
	*ret_kind = kind_of_line(judge, walk, finding->line, ROGER_ALTERED);
	judge->closed = *ret_kind == ROGER_TORN;
	if (*ret_kind == ROGER_FOREIGN)
		*what = "another program wrote it at the same moment as the next";
	if (walk->last_hole < from || !rg_log_kinds[walk->file->log].may_lose_end)
		return true;
	*ret_kind = ROGER_TORN;
	*what = judge->closed ? "lines before it are missing, and doctor has recorded that"
			      : "lines before it are missing: they were not synced yet when the "
				"machine stopped";
	return true;
}

int rg_engine_note_gap(struct rg_engine *engine, const struct rg_log_file *file, int64_t line,
		       uint64_t byte, struct roger_str by, struct roger_str reason,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_damage gap = { .file = file->shown,
				    .kind = ROGER_DAMAGE_GAP,
				    .line = line,
				    .byte = (int64_t)byte,
				    .noticed_at_ms = rg_clock_ms(),
				    .accepted_at_ms = rg_clock_ms(),
				    .accepted_by = by,
				    .reason = reason };
	int r = arena ? fill_line(&gap, engine->store, file, arena, err) : rg_fail_memory(err);

	rg_assert(line > 0);
	if (r == ROGER_OK)
		r = rg_engine_records_hold(engine, &held, err);
	return r < 0 ? r : append_damages(engine, &gap, 1, err);
}

static enum roger_finding_kind kind_of(const struct roger_damage *damage)
{
	static const enum roger_finding_kind kinds[] = {
		[ROGER_DAMAGE_ALTERED] = ROGER_ALTERED,
		[ROGER_DAMAGE_SHORTER] = ROGER_TRUNCATED,
		[ROGER_DAMAGE_OTHER] = ROGER_ALTERED,
		[ROGER_DAMAGE_GONE] = ROGER_MISSING,
		[ROGER_DAMAGE_UNREADABLE] = ROGER_UNREADABLE,
		[ROGER_DAMAGE_REMOVED] = ROGER_MISSING,
		[ROGER_DAMAGE_REWRITTEN] = ROGER_REWRITTEN,
		[ROGER_DAMAGE_STRAY] = ROGER_STRAY,
		[ROGER_DAMAGE_INVALID] = ROGER_STRAY,
		[ROGER_DAMAGE_GAP] = ROGER_TORN,
	};

	return kinds[damage->kind];
}

bool rg_judge_lost_messages(const struct rg_judge *judge, const struct rg_engine *engine)
{
	return rg_damages_accepted(&judge->damages, journal_name(engine));
}

bool rg_judge_next(struct rg_judge *judge, struct roger_str file, size_t *i,
		   struct rg_misfit *ret_noted)
{
	const struct roger_damage *damage;

	rg_assert(judge->told != NULL);
	while (*i < judge->damages.count) {
		damage = &judge->damages.items[(*i)++];
		if (judge->told[*i - 1] || damage->accepted_at_ms ||
		    !rg_str_equal(damage->file, file))
			continue;
		*ret_noted = (struct rg_misfit){ kind_of(damage), RG_MISFIT_BEFORE, damage->line,
						 (uint64_t)damage->byte, rg_damage_words(damage) };
		return true;
	}
	return false;
}

const struct roger_damage *rg_damage_next_removed(const struct roger_damage_list *damages,
						  const struct rg_log_files *there, size_t *i)
{
	const struct roger_damage *damage;
	const struct rg_log_file *file;

	while (*i < damages->count) {
		damage = &damages->items[(*i)++];
		if (damage->kind != ROGER_DAMAGE_REMOVED || damage->accepted_at_ms)
			continue;
		file = rg_log_files_find(there, damage->file);
		if (!file || !file->inode)
			return damage;
	}
	return NULL;
}

/* -------------------------------------------------------------- accepting -- */

static bool is_meant(const struct roger_damage *accepted, struct roger_str file, int64_t line)
{
	return rg_str_equal(accepted->file, file) && accepted->line == line;
}

/* Make a record of what verify found in one of these journals. */
static int of_finding(struct rg_engine *engine, const struct rg_log_files *journals,
		      const struct roger_finding *finding, struct rg_arena *arena,
		      struct roger_damage *ret_damage, struct roger_err *err)
{
	struct rg_log_file *journal =
		finding->line ? rg_log_files_find(journals, finding->file) : NULL;
	bool there = false;
	int r = ROGER_OK;

	*ret_damage = (struct roger_damage){
		.file = finding->file,
		.kind = finding->kind == ROGER_UNREADABLE  ? ROGER_DAMAGE_UNREADABLE
			: finding->kind == ROGER_REWRITTEN ? ROGER_DAMAGE_REWRITTEN
			: finding->kind == ROGER_STRAY	   ? ROGER_DAMAGE_STRAY
							   : ROGER_DAMAGE_ALTERED,
		.line = finding->line,
		.byte = finding->byte,
		.noticed_at_ms = rg_clock_ms()
	};
	if (journal)
		r = rg_engine_stat(engine, journal, &there, err);
	if (r < 0)
		return r;
	return there ? fill_line(ret_damage, engine->store, journal, arena, err)
		     : fill_in(ret_damage, NULL, arena, err);
}

/* Is the finding already recorded, though its line has changed since?  Each record answers for one
 * finding, and then has line 0. */
static bool is_of_before(struct rg_engine *engine, struct roger_damage_list *noted,
			 const struct roger_finding *finding)
{
	struct roger_damage *damage = (struct roger_damage *)(uintptr_t)noted->items;
	size_t i;

	if (!rg_str_equal(finding->file, journal_name(engine)))
		return false;
	for (i = 0; i < noted->count; i++, damage++)
		if (!damage->accepted_at_ms && is_meant(damage, finding->file, finding->line) &&
		    !rg_damage_stands(engine->store, &rg_store_messages, damage)) {
			damage->line = 0;
			return true;
		}
	return false;
}

bool rg_engine_note_findings(struct rg_engine *engine, const struct roger_finding_list *found,
			     struct rg_arena *arena)
{
	struct rg_damages places = { .arena = arena };
	struct roger_damage_list noted;
	struct rg_log_files journals;
	struct roger_damage damage;
	size_t i;
	int r = rg_damages_read(engine->store, arena, &noted, NULL);

	if (r == ROGER_OK)
		r = rg_engine_journals(engine, arena, &journals, NULL);
	for (i = 0; r == ROGER_OK && i < found->count && places.count < RG_FINDINGS_MAX; i++) {
		if (!found->items[i].line || !rg_finding_is_damage(found->items[i].kind) ||
		    is_of_before(engine, &noted, &found->items[i]))
			continue;
		r = of_finding(engine, &journals, &found->items[i], arena, &damage, NULL);
		if (r == ROGER_OK &&
		    is_news(rg_damages_find(noted.items, noted.count, damage.id), &damage))
			r = rg_damages_put(&places, &damage, NULL);
	}
	if (r < 0 || !places.count || !rg_store_writable(engine->store) ||
	    rg_engine_records_begin(engine, NULL) < 0)
		return r == ROGER_OK && !places.count;
	r = note_places(engine, &places, NULL);
	rg_engine_records_end(engine);
	(void)rg_engine_count_damages(engine);
	forget_altered(engine, false);
	return r == ROGER_OK;
}

/* Examine the last lines, which settling does, and record what was removed. */
static int look_first(struct rg_engine *engine, struct roger_err *err)
{
	uint64_t end;
	int r = rg_engine_settle(engine, &end, err);

	return r == ROGER_OK ? rg_engine_find_removed(engine, err) : r;
}

int rg_engine_find_damage(struct rg_engine *engine, struct rg_arena *arena,
			  struct roger_verify_reply *ret_reply, struct roger_err *err)
{
	int r = look_first(engine, err);

	if (r == ROGER_OK)
		r = rg_engine_verify(engine, arena, ret_reply, err);
	if (r == ROGER_OK && ret_reply->damaged)
		(void)rg_engine_note_findings(engine, &ret_reply->findings, arena);
	return r;
}

/* Record the lines that rewrite a message.  The control file counts those that are recorded; a new
 * one, in a copy or after a restart, has them compared once more.  A process that may only read, or
 * finds the lock taken, leaves this to the next. */
void rg_engine_note_rewrites(struct rg_engine *engine, bool always)
{
	struct rg_shared *shared = shared_of(engine);
	const uint64_t count = (uint64_t)rg_index_progress(engine->index)->rewrites;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	struct roger_finding_list rewrites;

	if (!shared || engine->exclusive || !(always || count > atomic_load(&shared->rewrites)))
		return;
	arena = rg_arena_new();
	if (arena &&
	    rg_index_rewrites(engine->index, journal_name(engine), arena, &rewrites, NULL) ==
		    ROGER_OK &&
	    rewrites.count && rg_engine_note_findings(engine, &rewrites, arena) &&
	    (shared = shared_of(engine)))
		atomic_store(&shared->rewrites, count);
}

/* Collect recorded damage that is not accepted yet.  If there is none at this place, collect what
 * verify finds in the journal of that name. */
static int gather_damage(struct rg_engine *engine, const struct roger_damage *accepted,
			 struct rg_arena *arena, struct rg_damages *list, struct roger_err *err)
{
	struct roger_verify_reply found = { .memory = arena };
	const struct roger_finding *finding;
	struct roger_damage_list noted;
	struct rg_log_files journals;
	struct roger_damage damage;
	size_t i;
	int r = look_first(engine, err);

	if (r == ROGER_OK)
		r = rg_engine_journals(engine, arena, &journals, err);
	if (r == ROGER_OK)
		r = rg_damages_read(engine->store, arena, &noted, err);
	for (i = 0; r == ROGER_OK && i < noted.count; i++)
		if (!noted.items[i].accepted_at_ms &&
		    is_meant(accepted, noted.items[i].file, noted.items[i].line))
			r = rg_damages_put(list, &noted.items[i], err);
	if (r == ROGER_OK && !list->count && rg_log_files_find(&journals, accepted->file))
		r = rg_engine_verify(engine, arena, &found, err);
	for (i = 0; r == ROGER_OK && i < found.findings.count; i++) {
		finding = &found.findings.items[i];
		if ((!rg_finding_is_damage(finding->kind) && finding->kind != ROGER_STRAY) ||
		    !is_meant(accepted, finding->file, finding->line))
			continue;
		r = of_finding(engine, &journals, finding, arena, &damage, err);
		engine->altered |= damage.kind == ROGER_DAMAGE_ALTERED;
		if (r == ROGER_OK)
			r = rg_damages_put(list, &damage, err);
	}
	return r;
}

/* Add what a person accepts, unless the same bytes were accepted before. */
static int put_new(struct rg_engine *engine, struct rg_damages *list,
		   const struct roger_damage *accepted, struct rg_arena *arena,
		   struct roger_err *err)
{
	struct roger_damage damage = *accepted;
	struct roger_damage_list noted;
	bool known = false;
	size_t i;
	int r = rg_damages_read(engine->store, arena, &noted, err);

	for (i = 0; r == ROGER_OK && i < noted.count; i++)
		known |= noted.items[i].accepted_at_ms &&
			 is_meant(accepted, noted.items[i].file, noted.items[i].line) &&
			 rg_str_equal(accepted->sha256, noted.items[i].sha256);
	if (r < 0 || known)
		return r;
	damage.noticed_at_ms = rg_clock_ms();
	r = fill_in(&damage, NULL, arena, err);
	return r < 0 ? r : rg_damages_put(list, &damage, err);
}

static int write_all(struct rg_engine *engine, const struct roger_damage *accepted,
		     const struct rg_damages *list, struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	size_t i;
	int r = rg_engine_records_hold(engine, &held, err);

	if (r < 0)
		return r;
	for (i = 0; i < list->count; i++) {
		list->items[i].accepted_at_ms = rg_clock_ms();
		list->items[i].accepted_by = accepted->accepted_by;
		list->items[i].reason = accepted->reason;
	}
	return append_damages(engine, list->items, list->count, err);
}

int rg_engine_accept(struct rg_engine *engine, const struct roger_damage *accepted,
		     struct rg_arena *arena, struct roger_damage_list *ret_damages,
		     struct roger_err *err)
{
	bool closes = false;
	struct rg_damages list = { .arena = arena };
	size_t i;
	int r;

	/* The caller found an invalid document, which is no damage of a journal. */
	r = accepted->kind == ROGER_DAMAGE_INVALID
		    ? put_new(engine, &list, accepted, arena, err)
		    : gather_damage(engine, accepted, arena, &list, err);
	if (r < 0)
		return r;
	if (!list.count)
		return rg_fail_member(err, ROGER_ENOENT, "place",
				      "place: nothing is damaged there; `roger verify` names "
				      "every place, as FILE:LINE or FILE");
	for (i = 0; i < list.count; i++)
		closes |= rg_damage_closes(&list.items[i]);
	if (closes)
		r = rg_engine_keep_evidence(engine, err);
	if (r == ROGER_OK)
		r = write_all(engine, accepted, &list, err);
	for (i = 0; r == ROGER_OK && i < list.count; i++)
		if (list.items[i].kind == ROGER_DAMAGE_REMOVED)
			r = rg_engine_forget_removed(engine, list.items[i].file, err);
	if (r == ROGER_OK && closes)
		r = reopen_journal(engine, err);
	(void)rg_engine_count_damages(engine);
	forget_altered(engine, false);
	engine->stored += r == ROGER_OK;
	*ret_damages = (struct roger_damage_list){ list.items, list.count };
	return r;
}
