/*
 * rolelines - all messages of a text, or the first trouble in it: for those who
 * care for whole texts only.
 */
#ifndef TEST_ROLELINES_H
#define TEST_ROLELINES_H

#include "data/roleline.h"

struct rolelines {
	const struct rg_roleline *items;
	size_t count;
	size_t skipped_bytes; /* UTF-8 before the first header */
};

static inline int read_rolelines(struct roger_str text, struct rg_arena *arena,
				 struct rolelines *ret_lines, struct roger_err *err)
{
	struct rolelines lines = { 0 };
	const struct rg_rolepiece *piece;
	struct rg_rolepieces pieces;
	struct rg_roleline *line;
	size_t i;
	int r;

	r = rg_roleline_split(text, arena, &pieces, err);
	if (r < 0)
		return r;
	for (i = 0; i < pieces.count; i++) {
		piece = &pieces.items[i];
		switch (piece->kind) {
		case RG_ROLEPIECE_BROKEN:
			return rg_fail(err, ROGER_EDATA, 0, "line %zu: %s", piece->line_number,
				       piece->wrong);
		case RG_ROLEPIECE_LOOSE:
			lines.skipped_bytes = piece->line.text.length;
			break;
		case RG_ROLEPIECE_MESSAGE:
			line = rg_arena_push(arena, &lines.items, &lines.count, sizeof *line);
			rg_assert(line);
			*line = piece->line;
			break;
		}
	}
	*ret_lines = lines;
	return ROGER_OK;
}

#endif
