#include "store/later.h"

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

int rg_later_read(struct rg_store *store, uint64_t key, struct rg_place first,
		  struct rg_place later, struct rg_arena *arena, struct roger_message *ret_message,
		  struct rg_rewrites *ret_rewrites, struct roger_err *err)
{
	struct roger_str first_line, line;
	int r;

	r = read_place(store, first, arena, &first_line, err);
	if (r == ROGER_OK)
		r = read_place(store, later, arena, &line, err);
	return r < 0 ? r
		     : rg_message_read_later(key, first_line, line, arena, ret_message,
					     ret_rewrites, err);
}
