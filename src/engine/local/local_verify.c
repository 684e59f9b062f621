/*
 * Checking the journal: every line, and the chain that runs through them.
 *
 * A line whose stated chain does not fit leaves a doubt that the next chained
 * line settles.  Three ways of going on are followed meanwhile: over the whole
 * line (its writer took the chain from elsewhere, and we went on over it),
 * from what it states (the line was altered, its chain was not), and from what
 * it should state (only its chain was altered).
 */
#include "engine/local/local_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/file.h"
#include "store/lines.h"

enum { FINDINGS_MAX = 1000 };

/* All chains that lines state, to know a copied one. */
struct seen {
	uint64_t *slots;
	size_t capacity;
	size_t count;
};

struct doubt {
	bool open;
	int64_t line;
	uint64_t byte;
	uint64_t as_stated;   /* the chain, had the line been altered */
	uint64_t as_computed; /* had only its chain been */
	bool copied;	      /* an earlier line states the same chain */
	bool slipped;	      /* it fits once the foreign lines before it are left out */
	int64_t foreign_line; /* the first of them; 0: none */
	uint64_t foreign_byte;
};

struct check {
	struct rg_local *local;
	struct rg_arena *arena;
	struct roger_verify_reply reply;
	struct roger_finding *findings;
	size_t finding_count;
	struct seen seen;
	uint64_t chain;	      /* over everything, as a writer would have it */
	uint64_t own_chain;   /* behind the last line that carries its own */
	int64_t foreign_line; /* first line since then without one; 0: none */
	uint64_t foreign_byte;
	struct doubt doubt;
};

/* False: out of memory. */
static bool add_seen(struct seen *seen, uint64_t chain, bool *ret_was_there)
{
	size_t capacity = seen->capacity ? seen->capacity * 2 : 1024, at, i;
	struct seen grown;
	bool unused;

	if (seen->count * 2 >= seen->capacity) {
		grown = (struct seen){ calloc(capacity, sizeof *grown.slots), capacity, 0 };
		if (!grown.slots)
			return false;
		for (i = 0; i < seen->capacity; i++)
			if (seen->slots[i])
				(void)!add_seen(&grown, seen->slots[i], &unused);
		free(seen->slots);
		*seen = grown;
	}
	if (chain == 0)
		chain = 1;
	for (at = chain & (seen->capacity - 1); seen->slots[at];
	     at = (at + 1) & (seen->capacity - 1)) {
		*ret_was_there = seen->slots[at] == chain;
		if (*ret_was_there)
			return true;
	}
	*ret_was_there = false;
	seen->slots[at] = chain;
	seen->count++;
	return true;
}

static int add_finding(struct check *check, enum roger_finding_kind kind, int64_t line,
		       uint64_t byte, const char *what, struct roger_err *err)
{
	struct roger_finding *finding;

	if (kind == ROGER_ALTERED)
		check->reply.damaged++;
	if (check->finding_count >= FINDINGS_MAX)
		return ROGER_OK;
	finding = rg_arena_push(check->arena, &check->findings, &check->finding_count,
				sizeof *finding);
	if (!finding || !rg_arena_copy(check->arena, rg_str(what), &finding->what))
		return rg_fail_memory(err);
	finding->kind = (int)kind;
	finding->line = line;
	finding->byte = (int64_t)byte;
	return ROGER_OK;
}

static int report_altered(struct check *check, const struct doubt *doubt, struct roger_err *err)
{
	char what[200];

	if (doubt->slipped)
		return add_finding(
			check, ROGER_ALTERED, doubt->foreign_line, doubt->foreign_byte,
			"inserted: it did not stand here when the next chained line was written",
			err);
	if (doubt->copied)
		return add_finding(check, ROGER_ALTERED, doubt->line, doubt->byte,
				   "out of place: this line stands earlier, or lines were moved",
				   err);
	if (!doubt->foreign_line)
		return add_finding(check, ROGER_ALTERED, doubt->line, doubt->byte,
				   "altered, or lines before it are missing or out of order", err);
	snprintf(what, sizeof what, "altered or missing: this line, or one from line %lld on",
		 (long long)doubt->foreign_line);
	return add_finding(check, ROGER_ALTERED, doubt->line, doubt->byte, what, err);
}

/* whole: the chain ran on over the line in doubt, so it stood there as it is. */
static int settle_doubt(struct check *check, bool whole, struct roger_err *err)
{
	struct doubt doubt = check->doubt;

	if (!doubt.open)
		return ROGER_OK;
	check->doubt.open = false;
	if (whole && doubt.copied)
		return add_finding(check, ROGER_FOREIGN, doubt.line, doubt.byte,
				   "another program wrote it from a line of ours", err);
	if (whole && doubt.slipped)
		return add_finding(check, ROGER_FOREIGN, doubt.foreign_line, doubt.foreign_byte,
				   "another program wrote it at the same moment as the next", err);
	return report_altered(check, &doubt, err);
}

static int over_line(const struct check *check, const struct rg_line *line, uint64_t *chain,
		     struct roger_err *err)
{
	if (line->too_long)
		return rg_chain_over_file(rg_journal_file(check->local->journal), line->offset,
					  line->offset + line->length + 1, chain, err);
	*chain =
		rg_chain_over(*chain, (struct roger_str){ line->text.data, line->text.length + 1 });
	return ROGER_OK;
}

/* A line without a chain: everything that is being followed goes over it. */
static int take_plain(struct check *check, const struct rg_line *line, struct roger_err *err)
{
	int r;

	if (!check->foreign_line) {
		check->foreign_line = check->reply.lines;
		check->foreign_byte = line->offset;
	}
	r = over_line(check, line, &check->chain, err);
	if (r == ROGER_OK && check->doubt.open)
		r = over_line(check, line, &check->doubt.as_stated, err);
	if (r == ROGER_OK && check->doubt.open)
		r = over_line(check, line, &check->doubt.as_computed, err);
	return r;
}

static int open_doubt(struct check *check, const struct rg_line *line, struct roger_str body,
		      uint64_t stated, bool copied, struct roger_err *err)
{
	int r;

	r = settle_doubt(check, false, err);
	if (r < 0)
		return r;
	check->doubt = (struct doubt){
		.open = true,
		.line = check->reply.lines,
		.byte = line->offset,
		.as_stated = stated,
		.as_computed = rg_chain_over(check->chain, body),
		.copied = copied,
		.slipped = check->foreign_line && rg_chain_over(check->own_chain, body) == stated,
		.foreign_line = check->foreign_line,
		.foreign_byte = check->foreign_byte,
	};
	return over_line(check, line, &check->chain, err);
}

static int take_chained(struct check *check, const struct rg_line *line, struct roger_str body,
			uint64_t stated, struct roger_err *err)
{
	bool whole = rg_chain_over(check->chain, body) == stated, copied;
	int r;

	if (!add_seen(&check->seen, stated, &copied))
		return rg_fail_memory(err);
	if (whole ||
	    (check->doubt.open && (rg_chain_over(check->doubt.as_stated, body) == stated ||
				   rg_chain_over(check->doubt.as_computed, body) == stated))) {
		r = settle_doubt(check, whole, err);
		check->reply.chained++;
		check->chain = stated;
	} else {
		r = open_doubt(check, line, body, stated, copied, err);
	}
	check->own_chain = stated;
	check->foreign_line = 0;
	return r;
}

static int check_message(struct check *check, const struct rg_line *line, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	struct roger_err why;
	struct rg_json *json;
	char what[200];
	int r;

	if (!arena)
		return rg_fail_memory(err);
	if (line->too_long)
		r = rg_fail(&why, ROGER_EDATA, 0, "longer than %d bytes", RG_LINE_BYTES_MAX);
	else
		r = rg_message_read(line->text, &json, arena, &message, &why);
	if (r == ROGER_OK) {
		check->reply.messages++;
		rg_json_free(json);
	} else if (r != ROGER_ENOMEM) {
		check->reply.strays++;
		snprintf(what, sizeof what, "no message: %.150s", why.message);
		r = add_finding(check, ROGER_STRAY, check->reply.lines, line->offset, what, err);
	}
	rg_arena_free(arena);
	return r;
}

static int take_line(struct check *check, const struct rg_line *line, struct roger_err *err)
{
	struct roger_str body;
	uint64_t stated;
	int r;

	check->reply.lines++;
	if (!line->too_long && rg_chain_split(line->text, &stated, &body))
		r = take_chained(check, line, body, stated, err);
	else
		r = take_plain(check, line, err);
	return r == ROGER_OK ? check_message(check, line, err) : r;
}

static int take_lines(struct check *check, uint64_t end, struct roger_err *err)
{
	struct rg_lines lines;
	struct rg_line line;
	bool found;
	int r;

	rg_lines_init(&lines, rg_journal_file(check->local->journal), 0, end);
	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found) {
		r = take_line(check, &line, err);
		if (r == ROGER_OK && check->reply.lines % 8192 == 0 &&
		    !rg_index_tell(check->local->index, "verify", (int64_t)line.offset,
				   (int64_t)end))
			r = rg_fail(err, ROGER_EREFUSED, 0, "stopped");
		if (r < 0)
			break;
	}
	rg_lines_deinit(&lines);
	return r == ROGER_OK ? settle_doubt(check, check->doubt.copied, err) : r;
}

/* What stands behind the last whole line, and whether the file was longer once. */
static int check_end(struct check *check, uint64_t end, struct roger_err *err)
{
	struct rg_file_facts facts;
	uint64_t known;
	char what[200];
	int r;

	r = rg_file_facts(rg_journal_file(check->local->journal), "messages.jsonl", &facts, err);
	if (r == ROGER_OK && (uint64_t)facts.size > end)
		r = add_finding(check, ROGER_TORN, check->reply.lines + 1, end,
				"unfinished; the next send closes it off", err);
	if (r < 0)
		return r;
	known = rg_index_peek(check->local->index);
	if (known <= (uint64_t)facts.size)
		return ROGER_OK;
	snprintf(what, sizeof what, "missing: the index has read %llu bytes more",
		 (unsigned long long)(known - (uint64_t)facts.size));
	return add_finding(check, ROGER_ALTERED, check->reply.lines + 1, end, what, err);
}

int rg_local_verify(struct rg_engine *engine, struct rg_arena *arena,
		    struct roger_verify_reply *ret_reply, struct roger_err *err)
{
	struct check check = { .local = rg_local_of(engine), .arena = arena };
	uint64_t end;
	int r;

	r = rg_journal_settle(check.local->journal, &end, err);
	if (r == ROGER_OK && end > 0)
		r = take_lines(&check, end, err);
	if (r == ROGER_OK && rg_journal_file(check.local->journal) != RG_NO_FILE)
		r = check_end(&check, end, err);
	free(check.seen.slots);
	if (r < 0)
		return r;
	check.reply.memory = ret_reply->memory;
	check.reply.findings = (struct roger_findings){ check.findings, check.finding_count };
	*ret_reply = check.reply;
	return ROGER_OK;
}
