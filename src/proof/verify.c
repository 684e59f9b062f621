/* Checking every line of every journal, and the chain that runs through it. */
#include "engine/inside.h"

#include <stdio.h>

#include "facts/damage.h"

enum { FINDINGS_MAX = 1000 };

struct check {
	struct rg_engine *engine;
	struct rg_arena *arena;
	struct rg_arena *scratch; /* of one line */
	struct roger_verify_reply reply;
	struct {
		struct roger_finding *items;
		size_t count;
	} findings;
	struct roger_journal *journal; /* the one that is gone through */
	struct rg_judge judge;
};

static int add_finding(struct check *check, struct roger_str file, enum roger_finding_kind kind,
		       int64_t line, uint64_t byte, const char *what, struct roger_err *err)
{
	bool damage = kind == ROGER_ALTERED || kind == ROGER_UNREADABLE ||
		      kind == ROGER_TRUNCATED || kind == ROGER_MISSING;
	struct roger_finding *finding;

	check->reply.damaged += damage;
	if (damage && check->journal)
		check->journal->damaged++;
	if (check->findings.count >= FINDINGS_MAX)
		return ROGER_OK;
	finding = rg_arena_push(check->arena, &check->findings.items, &check->findings.count,
				sizeof *finding);
	if (!finding || !rg_arena_copy(check->arena, rg_str(what), &finding->what))
		return rg_fail_memory(err);
	finding->kind = (int)kind;
	finding->file = file;
	finding->line = line;
	finding->byte = (int64_t)byte;
	return ROGER_OK;
}

static int take_finding(struct check *check, const struct rg_walk *walk, struct roger_err *err)
{
	const struct rg_chain_finding *finding = &walk->finding;
	const char *what = finding->what;
	enum roger_finding_kind kind;

	if (!rg_judge_finding(&check->judge, walk, &kind, &what))
		return ROGER_OK;
	return add_finding(check, walk->journal->shown, kind, finding->line, finding->byte, what,
			   err);
}

static int take_line(struct check *check, const struct rg_walk *walk, struct roger_err *err)
{
	enum roger_finding_kind kind;
	char what[220];
	int r;

	rg_arena_reset(check->scratch);
	r = take_finding(check, walk, err);
	if (r == ROGER_OK)
		r = rg_walk_why_stray(walk, check->scratch, what, sizeof what, err);
	if (r < 0 || !*what)
		return r;
	check->journal->strays++;
	if (rg_judge_line(&check->judge, walk, &kind))
		return add_finding(check, walk->journal->shown, kind, walk->number,
				   walk->line.offset, "altered: it was a message of roger's", err);
	return add_finding(check, walk->journal->shown, ROGER_STRAY, walk->number,
			   walk->line.offset, what, err);
}

static int check_torn(struct check *check, const struct rg_walk *walk, struct roger_err *err)
{
	const struct rg_engine_journal *journal = walk->journal;
	bool torn;
	int r;

	r = rg_walk_torn(walk, &torn, err);
	if (r < 0 || !torn)
		return r;
	return add_finding(check, journal->shown, ROGER_TORN, walk->number + 1, walk->lines.at,
			   journal->log == RG_JOURNAL_MESSAGES
				   ? "unfinished; the next send closes it off"
				   : "unfinished; the next entry closes it off",
			   err);
}

/* What was noted, and does not show in the lines themselves. */
static int add_noted(struct check *check, const struct rg_walk *walk, struct roger_err *err)
{
	const struct roger_damage *damage;
	enum roger_finding_kind kind;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK &&
	       (damage = rg_judge_next(&check->judge, walk->journal->shown, &i, &kind)))
		r = add_finding(check, walk->journal->shown, kind, damage->line,
				(uint64_t)damage->byte, rg_damage_words(damage), err);
	return r;
}

static int note_journal(struct check *check, const struct rg_walk *walk, struct roger_err *err)
{
	struct roger_journal *journal = check->journal;
	struct rg_buf head;
	int r = ROGER_OK;

	rg_buf_init(&head, 64);
	rg_buf_printf(&head, "%016llx", (unsigned long long)walk->chain.chain);
	if (!rg_arena_copy(check->arena, rg_buf_str(&head), &journal->head))
		r = rg_fail_memory(err);
	rg_buf_deinit(&head);
	journal->bytes = (int64_t)walk->lines.at;
	journal->lines = walk->number;
	journal->chained = walk->chain.chained;
	if (walk->journal->log != RG_JOURNAL_MESSAGES)
		return r;
	check->reply.lines = journal->lines;
	check->reply.messages = journal->lines - journal->strays;
	check->reply.chained = journal->chained;
	check->reply.strays = journal->strays;
	return r;
}

static int walk_through(struct check *check, const struct rg_engine_journal *journal,
			struct roger_err *err)
{
	struct rg_walk walk;
	bool found = true;
	int r;

	r = rg_walk_open(&walk, check->engine, journal, "verify", err);
	while (r == ROGER_OK && found) {
		r = rg_walk_next(&walk, &found, err);
		if (r == ROGER_OK)
			r = found ? take_line(check, &walk, err) : take_finding(check, &walk, err);
	}
	if (r == ROGER_OK)
		r = check_torn(check, &walk, err);
	if (r == ROGER_OK)
		r = add_noted(check, &walk, err);
	if (r == ROGER_OK)
		r = note_journal(check, &walk, err);
	rg_walk_close(&walk);
	return r;
}

static int check_journal(struct check *check, struct rg_engine_journal *journal,
			 struct roger_journal *row, bool *ret_there, struct roger_err *err)
{
	struct roger_err why = { 0 };
	int r;

	check->journal = row;
	*row = (struct roger_journal){ .file = journal->shown };
	r = rg_engine_journal_open(check->engine, journal, ret_there, &why);
	if (r == ROGER_EREFUSED && journal->log != RG_JOURNAL_MESSAGES) {
		*ret_there = true;
		return add_finding(check, journal->shown, ROGER_UNREADABLE, 0, 0, why.message, err);
	}
	if (r < 0 && err)
		*err = why;
	if (r == ROGER_OK && *ret_there)
		r = walk_through(check, journal, err);
	rg_engine_journal_close(journal);
	return r;
}

static int check_all(struct check *check, struct roger_err *err)
{
	struct rg_engine_journals journals;
	struct roger_journal *rows;
	size_t count = 0, i;
	bool there;
	int r;

	/* What the last lines are is known before they are gone over. */
	r = rg_engine_check_end(check->engine, err);
	if (r == ROGER_OK)
		r = rg_judge_init(&check->judge, check->engine, check->arena, err);
	if (r == ROGER_OK)
		r = rg_engine_journals(check->engine, check->arena, &journals, err);
	if (r < 0)
		return r;
	rows = rg_arena_get(check->arena, journals.count * sizeof *rows);
	if (!rows)
		return rg_fail_memory(err);
	for (i = 0; i < journals.count && r == ROGER_OK; i++) {
		r = check_journal(check, &journals.items[i], &rows[count], &there, err);
		count += r == ROGER_OK && there;
	}
	check->reply.journals = (struct roger_journals){ rows, count };
	check->reply.findings =
		(struct roger_findings){ check->findings.items, check->findings.count };
	return r;
}

int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_verify_reply *ret_reply, struct roger_err *err)
{
	struct check check = { .engine = engine,
			       .arena = arena,
			       .scratch = rg_arena_new(),
			       .reply = { .memory = ret_reply->memory } };
	int r = check.scratch ? check_all(&check, err) : rg_fail_memory(err);

	rg_arena_free(check.scratch);
	if (r == ROGER_OK)
		*ret_reply = check.reply;
	return r;
}
