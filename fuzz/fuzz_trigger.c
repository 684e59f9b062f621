/*
 * Any bytes as the contents of a trigger file, as they are, and as UTF-16.  The
 * pieces are all of the text, in its order; what is a message is one; and a
 * text in UTF-16 is cut into the same pieces, with the same words, as in UTF-8.
 */
#include "base/limits.h"
#include "data/record.h"
#include "data/roleline.h"
#include "fuzz.h"

static struct rg_rolepieces split(struct roger_str text, struct rg_arena *arena)
{
	struct rg_rolepieces pieces;
	int r = rg_roleline_split(text, arena, &pieces, NULL);

	rg_assert(r == ROGER_OK);
	return pieces;
}

static void check_piece(const struct rg_rolepiece *piece)
{
	const struct rg_roleline *line = &piece->line;
	size_t chars;

	if (piece->kind == RG_ROLEPIECE_BROKEN)
		rg_assert(piece->wrong && *piece->wrong);
	if (piece->kind != RG_ROLEPIECE_MESSAGE)
		return;
	rg_assert(rg_name_valid(line->role));
	rg_assert(line->number >= 0 && line->number <= RG_SEQ_MAX);
	rg_assert(rg_utf8_count(line->text, &chars));
}

/* No byte is lost, and none told twice. */
static void check_whole(struct roger_str text, const struct rg_rolepieces *pieces)
{
	const char *at = text.data + pieces->mark.length;
	size_t i;

	for (i = 0; i < pieces->count; i++) {
		rg_assert(pieces->items[i].raw.data == at && pieces->items[i].raw.length);
		rg_assert(pieces->items[i].line_number >= 1);
		at += pieces->items[i].raw.length;
		check_piece(&pieces->items[i]);
	}
	rg_assert(at == text.data + text.length && pieces->whole <= text.length);
}

static void add_unit(struct rg_buf *out, uint32_t unit)
{
	rg_buf_add_char(out, (char)(unit & 0xff));
	rg_buf_add_char(out, (char)(unit >> 8));
}

/*
 * The text as UTF-16LE behind its mark; false: it is no text, has a mark of its
 * own, or holds a character whose two bytes look like the start of a header.
 */
static bool encode(struct roger_str text, struct rg_buf *out)
{
	uint32_t c = 0xfeff;
	size_t at = 0, chars;

	if (!rg_utf8_count(text, &chars) ||
	    (text.length >= 3 && !memcmp(text.data, "\xef\xbb\xbf", 3)))
		return false;
	add_unit(out, c);
	while (at < text.length) {
		at += rg_utf8_next(text.data + at, text.length - at, &c);
		if (c > 0xff && (c & 0xff) == '(')
			return false;
		if (c >= 0x10000)
			add_unit(out, 0xd800 + ((c - 0x10000) >> 10));
		add_unit(out, c >= 0x10000 ? 0xdc00 + (c & 0x3ff) : c);
	}
	return true;
}

static void check_same(const struct rg_rolepieces *a, const struct rg_rolepieces *b)
{
	size_t i;

	rg_assert(a->count == b->count);
	for (i = 0; i < a->count; i++) {
		const struct rg_rolepiece *x = &a->items[i], *y = &b->items[i];

		rg_assert(x->kind == y->kind && x->line_number == y->line_number);
		if (x->kind != RG_ROLEPIECE_MESSAGE)
			continue;
		rg_assert(rg_str_equal(x->line.role, y->line.role));
		rg_assert(x->line.number == y->line.number);
		rg_assert(rg_str_equal(x->line.text, y->line.text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str text = { (const char *)data, size };
	struct rg_buf wide = { .maximum = SIZE_MAX };
	struct rg_arena *arena = rg_arena_new();
	struct rg_rolepieces pieces, wide_pieces;

	rg_assert(arena);
	pieces = split(text, arena);
	check_whole(text, &pieces);
	if (encode(text, &wide)) {
		wide_pieces = split(rg_buf_str(&wide), arena);
		check_whole(rg_buf_str(&wide), &wide_pieces);
		check_same(&pieces, &wide_pieces);
	}
	rg_buf_deinit(&wide);
	rg_arena_free(arena);
	return 0;
}
