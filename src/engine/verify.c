/* verify: check every line of every journal and the chain through them. */
#include "engine/inside.h"

#include "facts/damage.h"

struct check {
	struct rg_engine *engine;
	struct rg_arena *arena;
	struct roger_verify_reply reply;
	struct rg_findings findings;
	struct roger_journal *journal; /* being checked */
	struct rg_judge judge;
};

void rg_findings_add(struct rg_findings *findings, const struct roger_finding *finding)
{
	struct roger_finding *place = NULL;
	size_t i;

	for (i = 0; finding->kind == ROGER_MISSING && i < findings->count; i++)
		if (findings->items[i].kind == ROGER_MISSING &&
		    rg_str_equal(findings->items[i].file, finding->file))
			place = &findings->items[i];
	findings->damaged += !place && rg_finding_is_damage(finding->kind);
	if (findings->count >= RG_FINDINGS_MAX && !place)
		return;
	if (!place)
		place = rg_arena_push(findings->arena, &findings->items, &findings->count,
				      sizeof *place);
	if (place)
		*place = *finding;
	findings->failed |= !place || !rg_arena_copy(findings->arena, finding->what, &place->what);
}

static void add_finding(struct check *check, struct roger_str file, const struct rg_misfit *found)
{
	const struct roger_finding finding = { .kind = (int)found->kind,
					       .file = file,
					       .line = found->line,
					       .byte = (int64_t)found->byte,
					       .what = rg_str(found->what) };

	rg_findings_add(&check->findings, &finding);
}

static int take_found(void *context, struct rg_walk *walk, const struct rg_misfit *found,
		      struct roger_err *err)
{
	struct check *check = context;

	(void)err;
	rg_assert(check->journal != NULL);
	check->journal->strays += found->by == RG_MISFIT_IN_LINE;
	add_finding(check, walk->file->shown, found);
	return ROGER_OK;
}

static int take_unreadable(void *context, const struct rg_log_file *file, const char *why,
			   struct roger_err *err)
{
	const struct rg_misfit found = { .kind = ROGER_UNREADABLE, .what = why };

	(void)err;
	add_finding(context, file->shown, &found);
	return ROGER_OK;
}

static int note_journal(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct check *check = context;
	struct roger_journal *journal = check->journal;

	if (!rg_arena_print(check->arena, &journal->head, "%016llx",
			    (unsigned long long)walk->chain.chain))
		return rg_fail_memory(err);
	journal->bytes = (int64_t)walk->lines.at;
	journal->lines = walk->number;
	journal->chained = walk->chain.chained;
	if (walk->file->log != RG_LOG_MESSAGES)
		return ROGER_OK;
	check->reply.lines = journal->lines;
	check->reply.messages = journal->lines - journal->strays;
	check->reply.chained = journal->chained;
	check->reply.strays = journal->strays;
	return ROGER_OK;
}

static int check_all(struct check *check, struct roger_err *err)
{
	static const struct rg_visitor visitor = { .name = "verify",
						   .found = take_found,
						   .end = note_journal,
						   .unreadable = take_unreadable };
	struct rg_misfit gone = { .kind = ROGER_MISSING }, damaged;
	struct rg_log_files journals;
	const struct roger_damage *removed;
	struct roger_journal *rows;
	size_t count = 0, noted, i;
	int64_t before;
	bool there;
	int r = rg_judge_init(&check->judge, check->engine, check->arena, err);

	if (r == ROGER_OK)
		r = rg_engine_journals(check->engine, check->arena, &journals, err);
	if (r < 0)
		return r;
	rows = rg_arena_get(check->arena, journals.count * sizeof *rows);
	if (!rows)
		return rg_fail_memory(err);
	for (i = 0; i < journals.count && r == ROGER_OK; i++) {
		/* Archives have no chain: report the damage that doctor recorded. */
		if (journals.items[i].log == RG_LOG_ARCHIVE) {
			for (noted = 0; rg_judge_next(&check->judge, journals.items[i].shown,
						      &noted, &damaged);)
				add_finding(check, journals.items[i].shown, &damaged);
			continue;
		}
		check->journal = &rows[count];
		before = check->findings.damaged;
		rows[count] = (struct roger_journal){ .file = journals.items[i].shown };
		r = rg_walk(check->engine, &journals.items[i], &visitor, &check->judge, check,
			    &there, err);
		rows[count].damaged = check->findings.damaged - before;
		count += r == ROGER_OK && there;
	}
	i = 0;
	while (r == ROGER_OK &&
	       (removed = rg_damage_next_removed(&check->judge.damages, &journals, &i))) {
		gone.what = rg_damage_words(removed);
		add_finding(check, removed->file, &gone);
	}
	check->reply.journals = (struct roger_journal_list){ rows, count };
	check->reply.damaged = check->findings.damaged;
	check->reply.findings =
		(struct roger_finding_list){ check->findings.items, check->findings.count };
	return r < 0 ? r : rg_kept(!check->findings.failed, err);
}

int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_verify_reply *ret_reply, struct roger_err *err)
{
	struct check check = { .engine = engine,
			       .arena = arena,
			       .findings.arena = arena,
			       .reply = { .memory = ret_reply->memory } };
	int r = check_all(&check, err);

	if (r == ROGER_OK)
		*ret_reply = check.reply;
	return r;
}
