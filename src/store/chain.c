#include "store/chain.h"

#include <stdlib.h>

#include "base/id.h"

#define CHAIN_HEAD ",\"chain\":\""

uint64_t rg_chain_over(uint64_t chain, struct roger_str text)
{
	size_t piece;

	do {
		piece = text.length < RG_CHAIN_PIECE ? text.length : RG_CHAIN_PIECE;
		chain = rg_hash(chain, text.data, piece);
		text.data += piece;
		text.length -= piece;
	} while (text.length);
	return chain;
}

uint64_t rg_chain_over_sha(uint64_t chain, struct roger_str text)
{
	return rg_hash_sha(chain, text.data, text.length);
}

bool rg_chain_fits(uint64_t chain, struct roger_str body, uint64_t stated)
{
	return rg_chain_over(chain, body) == stated || rg_chain_over_sha(chain, body) == stated;
}

int rg_chain_over_bytes(const struct rg_bytes *bytes, uint64_t from, uint64_t to, uint64_t *chain,
			struct roger_err *err)
{
	char *piece = malloc(RG_CHAIN_PIECE);
	size_t want, got;
	int r = rg_kept(piece, err);

	while (r == ROGER_OK && from < to) {
		want = to - from < RG_CHAIN_PIECE ? (size_t)(to - from) : RG_CHAIN_PIECE;
		r = bytes->read(bytes, from, piece, want, &got, err);
		if (r == ROGER_OK && got < want)
			r = rg_bytes_fail_short(bytes, err);
		if (r == ROGER_OK)
			*chain = rg_hash(*chain, piece, got);
		from += want;
	}
	free(piece);
	return r;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool rg_chain_split(struct roger_str line, uint64_t *ret_chain, struct roger_str *ret_body)
{
	const char *at = line.data + line.length - RG_CHAIN_BYTES;
	uint64_t chain = 0;
	int digit;
	size_t i;

	if (line.length <= RG_CHAIN_BYTES || memcmp(at, CHAIN_HEAD, 10) != 0 ||
	    memcmp(at + 26, "\"}", 2) != 0)
		return false;
	for (i = 0; i < 16; i++) {
		digit = hex_digit(at[10 + i]);
		if (digit < 0)
			return false;
		chain = chain << 4 | (uint64_t)digit;
	}
	*ret_chain = chain;
	*ret_body = (struct roger_str){ line.data, line.length - RG_CHAIN_BYTES };
	return true;
}

/* Search from the end, since writers ask this under a lock. */
bool rg_chain_find_last(struct roger_str text, uint64_t *ret_chain, size_t *ret_end)
{
	const char *newline = text.length ? memrchr(text.data, '\n', text.length) : NULL, *before;
	struct roger_str line, unused;

	for (; newline; newline = before) {
		before = memrchr(text.data, '\n', (size_t)(newline - text.data));
		line.data = before ? before + 1 : text.data;
		line.length = (size_t)(newline - line.data);
		if (line.length <= RG_LINE_BYTES_MAX && rg_chain_split(line, ret_chain, &unused)) {
			*ret_end = (size_t)(newline - text.data) + 1;
			return true;
		}
	}
	return false;
}

void rg_chain_follow(struct roger_str lines, uint64_t *chain)
{
	struct roger_str rest, line;
	size_t at = 0;

	(void)rg_chain_find_last(lines, chain, &at);
	rest = (struct roger_str){ lines.data + at, lines.length - at };
	while (rg_str_next_line(&rest, &line)) {
		line.length = (size_t)(rest.data - line.data); /* with its newline */
		*chain = rg_chain_over(*chain, line);
	}
}

void rg_chain_print(uint64_t chain, struct rg_buf *out)
{
	static const char hex[] = "0123456789abcdef";
	char *room = rg_buf_room(out, RG_CHAIN_BYTES);
	size_t i;

	if (!room)
		return;
	memcpy(room, CHAIN_HEAD, 10);
	for (i = 0; i < 16; i++)
		room[10 + i] = hex[chain >> (60 - 4 * i) & 15];
	memcpy(room + 26, "\"}", 2);
	out->length += RG_CHAIN_BYTES;
}

/* Add a body, which is a line without its closing brace, as a chained line. */
static void add_body(struct roger_str body, uint64_t *chain, struct rg_buf *out)
{
	*chain = rg_chain_over(*chain, body);
	rg_buf_add_str(out, body);
	rg_chain_print(*chain, out);
	rg_buf_add_char(out, '\n');
}

void rg_chain_add_entries(struct roger_str entries, uint64_t *chain, struct rg_buf *out)
{
	struct roger_str line;

	while (rg_str_next_line(&entries, &line)) {
		rg_assert(rg_str_ends(line, "}") && entries.data[-1] == '\n');
		line.length--;
		add_body(line, chain, out);
	}
}

void rg_chain_keep_line(struct roger_str line, uint64_t *chain, struct rg_buf *out)
{
	struct roger_str body;
	uint64_t unused;

	if (line.length <= RG_LINE_BYTES_MAX && rg_chain_split(line, &unused, &body)) {
		add_body(body, chain, out);
		return;
	}
	/* Hash the line where it is in out, since there a newline follows it. */
	rg_buf_add_str(out, line);
	rg_buf_add_char(out, '\n');
	if (!out->failed)
		*chain = rg_chain_over(
			*chain, (struct roger_str){ out->data + out->length - line.length - 1,
						    line.length + 1 });
}

int rg_chain_over_line(const struct rg_bytes *bytes, const struct rg_line *line, uint64_t *chain,
		       struct roger_err *err)
{
	if (line->too_long)
		return rg_chain_over_bytes(bytes, line->offset, line->offset + line->length + 1,
					   chain, err);
	/* In the reader's buffer the newline follows the text. */
	*chain =
		rg_chain_over(*chain, (struct roger_str){ line->text.data, line->text.length + 1 });
	return ROGER_OK;
}

/* Find the end of the last line before `at` that states a chain; 0: none does.  The text is read
 * in pieces from the end.  A line that begins before its piece comes again with the next one;
 * while a piece is only a part of a line, it grows, until the line is too long to have a chain. */
static int find_stated(const struct rg_bytes *bytes, uint64_t at, uint64_t *ret_chain,
		       uint64_t *ret_end, struct roger_err *err)
{
	const uint64_t most = RG_LINE_BYTES_MAX + 2;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf piece = { .maximum = (size_t)most };
	uint64_t from, size = 4096; /* bytes to search at first */
	const char *newline;
	size_t got, first, end;
	char *room;
	int r;

	*ret_chain = *ret_end = 0;
	if (!at)
		return ROGER_OK;
	do {
		size = size < at ? size : at;
		from = at - size;
		rg_buf_clear(&piece);
		room = rg_buf_room(&piece, (size_t)size);
		r = room ? bytes->read(bytes, from, room, (size_t)size, &got, err)
			 : rg_fail_memory(err);
		if (r < 0)
			return r;
		newline = from ? memchr(room, '\n', got) : NULL;
		first = newline ? (size_t)(newline + 1 - room) : from ? got : 0;
		if (rg_chain_find_last((struct roger_str){ room + first, got - first }, ret_chain,
				       &end)) {
			*ret_end = from + first + end;
			return ROGER_OK;
		}
		if (first == got && size < most) {
			size = size * 8 < most ? size * 8 : most;
			continue;
		}
		at = first == got ? from : from + first;
		size = RG_CHAIN_PIECE;
	} while (from);
	return ROGER_OK;
}

int rg_chain_find(const struct rg_bytes *bytes, uint64_t at, struct rg_chain *ret_chain,
		  struct roger_err *err)
{
	uint64_t end;
	int r;

	*ret_chain = (struct rg_chain){ .unsure = true };
	r = find_stated(bytes, at, &ret_chain->value, &end, err);
	return r < 0 || end == at ? r : rg_chain_over_lines(bytes, end, at, &ret_chain->value, err);
}

int rg_chain_step(const struct rg_bytes *bytes, const struct rg_line *line, struct rg_chain *chain,
		  bool *ret_own, struct roger_err *err)
{
	struct roger_str body;
	uint64_t stated, before;
	bool carries = !line->too_long && rg_chain_split(line->text, &stated, &body);
	int r;

	if (carries && chain->unsure && !rg_chain_fits(chain->value, body, stated) &&
	    (r = rg_chain_before(bytes, line->offset, chain, err)) < 0)
		return r;
	before = chain->doubt ? chain->before : chain->value;
	*ret_own = carries && rg_chain_fits(chain->value, body, stated);
	chain->damaged = carries && !*ret_own && chain->doubt &&
			 (rg_chain_fits(chain->other, body, stated) ||
			  rg_chain_fits(chain->before, body, stated));
	*ret_own |= chain->damaged;
	if (*ret_own) {
		*chain = (struct rg_chain){ .value = stated, .damaged = chain->damaged };
		return ROGER_OK;
	}
	r = rg_chain_over_line(bytes, line, &chain->value, err);
	if (r == ROGER_OK && chain->doubt && !carries)
		r = rg_chain_over_line(bytes, line, &chain->other, err);
	if (r == ROGER_OK && chain->doubt && !carries)
		r = rg_chain_over_line(bytes, line, &chain->before, err);
	if (carries)
		*chain = (struct rg_chain){ chain->value, true, stated, before };
	return r;
}

static int follow_lines(const struct rg_bytes *bytes, uint64_t from, uint64_t to,
			struct rg_chain *chain, struct roger_err *err)
{
	struct rg_lines lines;
	struct rg_line line;
	bool found = true, own;
	int r = ROGER_OK;

	rg_lines_init(&lines, bytes, from, to);
	while (r == ROGER_OK && (r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK &&
	       found)
		r = rg_chain_step(bytes, &line, chain, &own, err);
	rg_lines_deinit(&lines);
	return r;
}

int rg_chain_over_lines(const struct rg_bytes *bytes, uint64_t from, uint64_t to, uint64_t *chain,
			struct roger_err *err)
{
	struct rg_chain behind = { .value = *chain };
	int r = follow_lines(bytes, from, to, &behind, err);

	*chain = behind.value;
	return r;
}

int rg_chain_before(const struct rg_bytes *bytes, uint64_t at, struct rg_chain *ret_chain,
		    struct roger_err *err)
{
	uint64_t end, from, unused;
	int r = find_stated(bytes, at, &unused, &end, err);

	/* Go back to a line whose chain fits, since others may be copies. */
	do {
		*ret_chain = (struct rg_chain){ 0 };
		from = 0;
		if (r == ROGER_OK && end)
			r = find_stated(bytes, end - 1, &ret_chain->value, &from, err);
		if (r == ROGER_OK)
			r = follow_lines(bytes, from, end, ret_chain, err);
		if (ret_chain->doubt && from)
			end = from;
		else
			break;
	} while (r == ROGER_OK);
	return r < 0 ? r : follow_lines(bytes, end, at, ret_chain, err);
}
