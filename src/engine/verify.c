/* verify: check every line of every journal and the chain through them. */
#include "engine/inside.h"

#include "facts/damage.h"

enum { FINDINGS_MAX = 1000 };

struct check {
	struct rg_engine *engine;
	struct rg_arena *arena;
	struct roger_verify_reply reply;
	struct {
		struct roger_finding *items;
		size_t count;
	} findings;
	struct roger_journal *journal; /* being checked */
	struct rg_judge judge;
};

static int add_finding(struct check *check, struct roger_str file, enum roger_finding_kind kind,
		       int64_t line, uint64_t byte, const char *what, struct roger_err *err)
{
	bool damage = rg_finding_is_damage(kind);
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

static int take_found(void *context, struct rg_walk *walk, const struct rg_misfit *found,
		      struct roger_err *err)
{
	struct check *check = context;

	check->journal->strays += found->by == RG_MISFIT_IN_LINE;
	return add_finding(check, walk->file->shown, found->kind, found->line, found->byte,
			   found->what, err);
}

static int take_unread(void *context, const struct rg_log_file *file, const char *why,
		       struct roger_err *err)
{
	return add_finding(context, file->shown, ROGER_UNREADABLE, 0, 0, why, err);
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

/* Archives have no chain: tell what doctor noted of them. */
static int tell_archives(struct check *check, struct roger_err *err)
{
	struct rg_store *store = check->engine->store;
	const struct roger_damage *damage;
	enum roger_finding_kind kind;
	struct rg_log_files archives = { 0 };
	size_t i, k;
	int r = ROGER_OK;

	/* Their folder may be something else. */
	if (check->judge.damages.count)
		(void)!store->ops->list(store, RG_LOG_ARCHIVE, RG_STR(""), check->arena, &archives,
					NULL);
	for (i = 0; i < archives.count && r == ROGER_OK; i++) {
		k = 0;
		while (r == ROGER_OK &&
		       (damage = rg_judge_next(&check->judge, archives.items[i].shown, &k, &kind)))
			r = add_finding(check, damage->file, kind, damage->line,
					(uint64_t)damage->byte, rg_damage_words(damage), err);
	}
	return r;
}

static int check_all(struct check *check, struct roger_err *err)
{
	static const struct rg_visitor visitor = {
		.name = "verify", .found = take_found, .end = note_journal, .unread = take_unread
	};
	struct rg_log_files journals;
	const struct roger_damage *removed;
	struct roger_journal *rows;
	size_t count = 0, i;
	uint64_t end;
	bool there;
	int r;

	/* Settle first: it examines the last lines. */
	r = rg_engine_settle(check->engine, &end, err);
	if (r == ROGER_OK)
		r = rg_engine_find_removed(check->engine, err);
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
		check->journal = &rows[count];
		rows[count] = (struct roger_journal){ .file = journals.items[i].shown };
		r = rg_walk(check->engine, &journals.items[i], &visitor, &check->judge, check,
			    &there, err);
		count += r == ROGER_OK && there;
	}
	check->journal = NULL;
	if (r == ROGER_OK)
		r = tell_archives(check, err);
	i = 0;
	while (r == ROGER_OK &&
	       (removed = rg_damage_next_removed(&check->judge.damages, &journals, &i)))
		r = add_finding(check, removed->file, ROGER_MISSING, 0, 0, rg_damage_words(removed),
				err);
	check->reply.journals = (struct roger_journal_list){ rows, count };
	check->reply.findings =
		(struct roger_finding_list){ check->findings.items, check->findings.count };
	return r;
}

int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_verify_reply *ret_reply, struct roger_err *err)
{
	struct check check = { .engine = engine,
			       .arena = arena,
			       .reply = { .memory = ret_reply->memory } };
	int r = check_all(&check, err);

	if (r == ROGER_OK)
		*ret_reply = check.reply;
	return r;
}
