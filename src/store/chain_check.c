#include "store/chain_check.h"

#include <stdio.h>

void rg_chain_check_init(struct rg_chain_check *check, const struct rg_bytes *bytes)
{
	*check = (struct rg_chain_check){ .bytes = *bytes };
	rg_table_init(&check->seen, sizeof(uint64_t));
}

void rg_chain_check_deinit(struct rg_chain_check *check)
{
	rg_table_deinit(&check->seen);
}

static struct rg_chain_finding finding_of(bool damage, int64_t line, uint64_t byte,
					  const char *what)
{
	struct rg_chain_finding finding = { .damage = damage, .line = line, .byte = byte };

	snprintf(finding.what, sizeof finding.what, "%s", what);
	return finding;
}

static struct rg_chain_finding finding_of_altered(const struct rg_chain_doubt *doubt)
{
	const int64_t from = doubt->copied ? doubt->first_copy : doubt->foreign_line;
	struct rg_chain_finding finding;
	char what[100];

	if (doubt->slipped)
		return finding_of(
			true, doubt->foreign_line, doubt->foreign_byte,
			"inserted: it was not here when the next chained line was written");
	if (!from)
		return finding_of(
			true, doubt->line, doubt->byte,
			doubt->copied ? "out of place: this line also appears earlier, or lines "
					"were moved"
				      : "altered, or lines before it are missing or out of order");
	snprintf(what, sizeof what,
		 doubt->copied ? "out of place: the lines from line %lld on also appear earlier"
			       : "altered or missing: this line, or one from line %lld on",
		 (long long)from);
	finding = finding_of(true, doubt->line, doubt->byte, what);
	/* Copied lines are all out of place; else one of these is the bad one. */
	finding.from = doubt->copied ? 0 : from;
	return finding;
}

/* Decide the line in doubt.  whole: the chain runs over that line, so it is unchanged. */
static void settle_doubt(struct rg_chain_check *check, bool whole,
			 struct rg_chain_finding *ret_finding)
{
	const struct rg_chain_doubt *doubt = &check->doubt;

	if (!doubt->open)
		return;
	check->doubt.open = false;
	if (whole && doubt->copied)
		*ret_finding = finding_of(false, doubt->line, doubt->byte,
					  "another program copied it from a line of roger's");
	else if (whole && doubt->slipped)
		*ret_finding =
			finding_of(false, doubt->foreign_line, doubt->foreign_byte,
				   "another program wrote it at the same moment as the next");
	else
		*ret_finding = finding_of_altered(doubt);
}

/* A line without a chain is part of every chain being followed. */
static int take_plain(struct rg_chain_check *check, const struct rg_line *line,
		      struct roger_err *err)
{
	struct rg_chain_doubt *doubt = &check->doubt;
	uint64_t *const chains[] = { &check->chain, &doubt->as_stated, &doubt->as_computed,
				     &doubt->as_before };
	int i, r = ROGER_OK;

	if (!check->foreign_line) {
		check->foreign_line = check->lines;
		check->foreign_byte = line->offset;
	}
	for (i = 0; i < (doubt->open ? 4 : 1) && r == ROGER_OK; i++)
		r = rg_chain_over_line(&check->bytes, line, chains[i], err);
	return r;
}

static int open_doubt(struct rg_chain_check *check, const struct rg_line *line,
		      struct roger_str body, uint64_t stated, bool copied,
		      struct rg_chain_finding *ret_finding, struct roger_err *err)
{
	const struct rg_chain_doubt last = check->doubt;
	/* Another program may copy several lines in a row: the last one decides. */
	const bool again = last.open && last.copied && copied;

	settle_doubt(check, again, ret_finding);
	check->doubt = (struct rg_chain_doubt){
		.open = true,
		.line = check->lines,
		.byte = line->offset,
		.first_copy = !again		? 0
			      : last.first_copy ? last.first_copy
						: last.line,
		.follows = again && rg_chain_fits(last.as_stated, body, stated),
		/* Several lines in a row may have been put in. */
		.as_before = last.open ? last.as_before : check->chain,
		.as_stated = stated,
		.as_computed = check->sha ? rg_chain_over_sha(check->chain, body)
					  : rg_chain_over(check->chain, body),
		.copied = copied,
		.slipped = check->foreign_line && rg_chain_fits(check->own_chain, body, stated),
		.foreign_line = check->foreign_line,
		.foreign_byte = check->foreign_byte,
	};
	return rg_chain_over_line(&check->bytes, line, &check->chain, err);
}

static int note_stated(struct rg_chain_check *check, uint64_t stated, bool *ret_fresh,
		       struct roger_err *err)
{
	return rg_kept(rg_table_put(&check->seen, stated, ret_fresh), err);
}

/* Most journals have no line in doubt, so chains are collected only from the first one on. */
static int look_back(struct rg_chain_check *check, uint64_t end, struct roger_err *err)
{
	struct roger_str body;
	struct rg_lines lines;
	struct rg_line line;
	uint64_t stated;
	bool found = true, unused;
	int r = ROGER_OK;

	if (check->looks_back)
		return ROGER_OK;
	check->looks_back = true;
	rg_lines_init(&lines, &check->bytes, 0, end);
	while (r == ROGER_OK && found) {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r == ROGER_OK && found && !line.too_long &&
		    rg_chain_split(line.text, &stated, &body))
			r = note_stated(check, stated, &unused, err);
	}
	rg_lines_deinit(&lines);
	return r;
}

static bool goes_on(const struct rg_chain_doubt *doubt, struct roger_str body, uint64_t stated)
{
	return doubt->open && (rg_chain_fits(doubt->as_before, body, stated) ||
			       rg_chain_fits(doubt->as_stated, body, stated) ||
			       rg_chain_fits(doubt->as_computed, body, stated));
}

static int take_chained(struct rg_chain_check *check, const struct rg_line *line,
			struct roger_str body, uint64_t stated, bool *ret_own,
			struct rg_chain_finding *ret_finding, struct roger_err *err)
{
	const bool sip = rg_chain_over(check->chain, body) == stated;
	const bool fits = sip || rg_chain_over_sha(check->chain, body) == stated;
	bool fresh = true;
	int r = ROGER_OK;

	/* After a copied line, a copy of the line that followed it fits the chain, too. */
	*ret_own = fits || (goes_on(&check->doubt, body, stated) &&
			    !(check->doubt.copied && rg_table_find(&check->seen, stated)));
	if (!*ret_own)
		r = look_back(check, line->offset, err);
	if (r == ROGER_OK && check->looks_back)
		r = note_stated(check, stated, &fresh, err);
	if (r < 0)
		return r;
	if (*ret_own) {
		/* Behind neighbours that were copied, roger continues from the last one. */
		settle_doubt(check,
			     fits || (check->doubt.follows &&
				      rg_chain_fits(check->doubt.as_stated, body, stated)),
			     ret_finding);
		check->chained++;
		check->chain = stated;
		check->sha = fits ? !sip : check->sha;
	} else {
		r = open_doubt(check, line, body, stated, !fresh, ret_finding, err);
	}
	check->own_chain = stated;
	check->foreign_line = 0;
	return r;
}

int rg_chain_check_line(struct rg_chain_check *check, const struct rg_line *line, bool *ret_own,
			struct rg_chain_finding *ret_finding, struct roger_err *err)
{
	struct roger_str body;
	uint64_t stated;

	*ret_own = false;
	ret_finding->line = 0;
	check->lines++;
	if (!line->too_long && rg_chain_split(line->text, &stated, &body))
		return take_chained(check, line, body, stated, ret_own, ret_finding, err);
	return take_plain(check, line, err);
}

void rg_chain_check_end(struct rg_chain_check *check, struct rg_chain_finding *ret_finding)
{
	ret_finding->line = 0;
	settle_doubt(check, check->doubt.copied, ret_finding);
}
