/*
 * Any bytes as somebody's settings.  An edit that is made changes its place and
 * no other byte; made again it is none; what it put there is found there; cut
 * away, it is gone; and no edit of a text that was sound leaves one that is not.
 */
#include "data/json_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct roger_str none;

/* The text after an edit: all bytes around it as they were. */
static struct roger_str apply(struct roger_str text, const struct rg_json_edit *edit,
			      struct rg_arena *arena)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	size_t behind = text.length - edit->offset - edit->length;
	struct roger_str after;

	rg_assert(edit->offset <= text.length && edit->length <= text.length - edit->offset);
	rg_json_edit_apply(text, edit, &out);
	rg_assert(out.length == text.length - edit->length + edit->text.length);
	rg_assert(!memcmp(out.data ? out.data : "", text.data, edit->offset));
	rg_assert(!behind || !memcmp(out.data + out.length - behind,
				     text.data + text.length - behind, behind));
	rg_assert(rg_arena_copy(arena, rg_buf_str(&out), &after));
	return after;
}

static void check(struct roger_str text, const struct roger_strs *path, struct roger_str value,
		  struct roger_str mark, struct rg_arena *arena)
{
	struct rg_json_spot spot;
	struct rg_json_edit edit;
	struct roger_str after;
	struct roger_err err;
	int r;

	r = rg_json_spot_find(text, path, mark, &spot, &err);
	if (r < 0) {
		rg_assert(!strncmp(err.message, "line ", 5) && !strchr(err.message, '\n'));
		return;
	}
	r = rg_json_spot_put(&spot, value, arena, &edit, &err);
	rg_assert(r == ROGER_OK);
	after = apply(text, &edit, arena);
	r = rg_json_spot_find(after, path, mark, &spot, &err);
	rg_assert(r == ROGER_OK && spot.value.data);
	r = rg_json_spot_put(&spot, value, arena, &edit, &err);
	rg_assert(r == ROGER_OK && rg_json_edit_is_none(&edit));
	do {
		edit = rg_json_spot_cut(&spot);
		rg_assert(edit.length);
		after = apply(after, &edit, arena);
		r = rg_json_spot_find(after, path, mark, &spot, &err);
		rg_assert(r == ROGER_OK);
	} while (spot.value.data); /* people may have it twice */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str names[] = { RG_STR("a"), RG_STR("b"), RG_STR("c") };
	struct rg_arena *arena = rg_arena_new();
	struct roger_str text;
	size_t depth;

	rg_assert(arena &&
		  rg_arena_copy(arena, (struct roger_str){ (const char *)data, size }, &text));
	for (depth = 1; depth <= 3; depth++) {
		const struct roger_strs path = { names, depth };

		check(text, &path, RG_STR("{\"x\":[1,\"m\"],\"y\":{}}"), none, arena);
		check(text, &path, RG_STR("{\"x\":\"m\"}"), RG_STR("m"), arena);
	}
	rg_arena_free(arena);
	return 0;
}
