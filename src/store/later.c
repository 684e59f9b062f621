#include "store/later.h"

#include "store/chain.h"

static int read_place(struct rg_store *store, struct rg_place place, struct rg_arena *arena,
		      struct roger_str *ret_line, struct roger_err *err)
{
	struct rg_buf line;
	int r;

	rg_buf_init(&line, RG_LINE_BYTES_MAX + 1);
	r = rg_store_read_line(store, place.offset, place.length, &line, err);
	if (r == ROGER_OK)
		return rg_kept(rg_arena_keep(arena, &line, ret_line), err);
	rg_buf_deinit(&line);
	return r;
}

/* Is the first line, or one up to the next with a chain, not as it was written?  Then who wrote a
 * later line truly did not rewrite it. */
static int find_doubt(struct rg_store *store, struct rg_place first, uint64_t end, bool *ret_doubt,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(store, &rg_store_messages, first.offset, end);
	struct rg_chain chain;
	struct roger_str body;
	struct rg_line line;
	uint64_t stated;
	bool found = true, own = false;
	int r = rg_chain_before(&lines.bytes, first.offset, &chain, err);

	while (r == ROGER_OK && (r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK &&
	       found) {
		r = rg_chain_step(&lines.bytes, &line, &chain, &own, err);
		if (!line.too_long && rg_chain_split(line.text, &stated, &body))
			break;
	}
	*ret_doubt = found && !own;
	return r;
}

int rg_later_read(struct rg_store *store, uint64_t key, struct rg_place first,
		  struct rg_place later, struct rg_arena *arena, struct roger_message *ret_message,
		  struct rg_rewrites *ret_rewrites, struct roger_err *err)
{
	struct roger_str first_line, line, body;
	uint64_t stated;
	bool doubt = false;
	int r;

	r = read_place(store, first, arena, &first_line, err);
	if (r == ROGER_OK)
		r = read_place(store, later, arena, &line, err);
	if (r == ROGER_OK)
		r = rg_message_read_later(key, first_line, line, arena, ret_message, ret_rewrites,
					  err);
	if (r == ROGER_OK && ret_rewrites->count &&
	    (rg_chain_split(first_line, &stated, &body) || rg_chain_split(line, &stated, &body)))
		r = find_doubt(store, first, later.offset + later.length + 1, &doubt, err);
	if (doubt)
		ret_rewrites->count = 0;
	return r;
}
