#include "store/lines.h"

#include <stdlib.h>

#include "base/id.h"
#include "host/file.h"
#include "store/store.h"

enum { READ_BYTES = 256 << 10 };

static int read_file(const struct rg_bytes *bytes, uint64_t from, char *room, size_t want,
		     size_t *ret_got, struct roger_err *err)
{
	return rg_file_read_at(bytes->file, room, want, (int64_t)from, ret_got, err);
}

struct rg_bytes rg_bytes_of_file(int file)
{
	return (struct rg_bytes){ .read = read_file, .file = file };
}

static int read_store(const struct rg_bytes *bytes, uint64_t from, char *room, size_t want,
		      size_t *ret_got, struct roger_err *err)
{
	return bytes->store->ops->read(bytes->store, bytes->journal, from, room, want, ret_got,
				       err);
}

struct rg_bytes rg_bytes_of(struct rg_store *store, const struct rg_log_file *journal)
{
	return (struct rg_bytes){ .read = read_store, .store = store, .journal = journal };
}

void rg_lines_init(struct rg_lines *lines, const struct rg_bytes *bytes, uint64_t from,
		   uint64_t end)
{
	*lines = (struct rg_lines){ .bytes = *bytes, .at = from, .end = end, .buffer_at = from };
	rg_buf_init(&lines->buffer, RG_LINE_BYTES_MAX + 2 * READ_BYTES);
}

struct rg_lines rg_lines_of(struct rg_store *store, const struct rg_log_file *journal,
			    uint64_t from, uint64_t end)
{
	const struct rg_bytes bytes = rg_bytes_of(store, journal);
	struct rg_lines lines;

	rg_lines_init(&lines, &bytes, from, end);
	return lines;
}

void rg_lines_deinit(struct rg_lines *lines)
{
	rg_buf_deinit(&lines->buffer);
}

/* The bytes in the buffer from lines->at on. */
static struct roger_str bytes_ahead(const struct rg_lines *lines)
{
	size_t used = (size_t)(lines->at - lines->buffer_at);

	if (lines->buffer.length == 0)
		return (struct roger_str){ "", 0 };
	return (struct roger_str){ lines->buffer.data + used, lines->buffer.length - used };
}

/* Read more bytes into the buffer; *ret_more false at the end. */
static int fill_buffer(struct rg_lines *lines, bool *ret_more, struct roger_err *err)
{
	struct roger_str kept = bytes_ahead(lines);
	uint64_t from = lines->at + kept.length;
	size_t want, got;
	char *room;
	int r;

	*ret_more = false;
	if (from >= lines->end)
		return ROGER_OK;
	if (kept.length)
		memmove(lines->buffer.data, kept.data, kept.length);
	lines->buffer.length = kept.length;
	lines->buffer_at = lines->at;

	want = lines->end - from < READ_BYTES ? (size_t)(lines->end - from) : READ_BYTES;
	room = rg_buf_room(&lines->buffer, want);
	if (!room)
		return rg_fail_memory(err);
	r = lines->bytes.read(&lines->bytes, from, room, want, &got, err);
	if (r < 0)
		return r;
	lines->buffer.length += got;
	*ret_more = got > 0;
	return ROGER_OK;
}

/* Read past a line that is too long for the buffer, piece by piece. */
static int skip_long(struct rg_lines *lines, uint64_t start, struct rg_line *ret_line,
		     bool *ret_found, struct roger_err *err)
{
	const char *newline = NULL;
	struct roger_str text;
	bool more = true;
	int r;

	for (;;) {
		text = bytes_ahead(lines);
		newline = rg_str_find(text, '\n');
		if (newline)
			break;
		lines->at += text.length;
		r = fill_buffer(lines, &more, err);
		if (r < 0)
			return r;
		if (!more) {
			lines->at = start;
			lines->buffer.length = 0;
			lines->buffer_at = start;
			*ret_found = false;
			return ROGER_OK;
		}
	}
	lines->at += (uint64_t)(newline - text.data) + 1;
	*ret_line = (struct rg_line){ start, lines->at - 1 - start, true, { "", 0 } };
	*ret_found = true;
	return ROGER_OK;
}

int rg_lines_next(struct rg_lines *lines, struct rg_line *ret_line, bool *ret_found,
		  struct roger_err *err)
{
	size_t searched = 0;
	struct roger_str text;
	const char *newline;
	bool more;
	int r;

	for (;;) {
		text = bytes_ahead(lines);
		newline = rg_str_find(
			(struct roger_str){ text.data + searched, text.length - searched }, '\n');
		if (newline || text.length > RG_LINE_BYTES_MAX)
			break;
		searched = text.length;
		r = fill_buffer(lines, &more, err);
		if (r < 0)
			return r;
		if (!more) {
			*ret_found = false;
			return ROGER_OK;
		}
	}

	if (!newline || newline - text.data > RG_LINE_BYTES_MAX)
		return skip_long(lines, lines->at, ret_line, ret_found, err);
	text.length = (size_t)(newline - text.data);
	*ret_line = (struct rg_line){ lines->at, text.length, false, text };
	lines->at += text.length + 1;
	*ret_found = true;
	return ROGER_OK;
}

/* Move *at back to just after the last byte that is (or, with newline false, is not) a newline; 0
 * if there is no such byte.  It stops behind more bytes than a line may have. */
static int go_back(const struct rg_bytes *bytes, bool newline, uint64_t *at, struct roger_err *err)
{
	const uint64_t last = *at > RG_LINE_BYTES_MAX ? *at - RG_LINE_BYTES_MAX - 1 : 0;
	char piece[4096];
	size_t want, got;
	int r;

	while (*at > last) {
		want = *at < sizeof piece ? (size_t)*at : sizeof piece;
		r = bytes->read(bytes, *at - want, piece, want, &got, err);
		if (r == ROGER_OK && got < want)
			r = rg_fail(err, ROGER_EIO, 0,
				    "a journal became shorter while it was read");
		if (r < 0)
			return r;
		for (; want; want--, (*at)--)
			if ((piece[want - 1] == '\n') == newline)
				return ROGER_OK;
	}
	return ROGER_OK;
}

int rg_lines_last(const struct rg_bytes *bytes, uint64_t size, struct rg_buf *out,
		  struct roger_err *err)
{
	uint64_t end = size, start;
	size_t got;
	char *room;
	int r;

	r = go_back(bytes, true, &end, err);
	if (r == ROGER_OK)
		r = go_back(bytes, false, &end, err);
	start = end;
	if (r == ROGER_OK)
		r = go_back(bytes, true, &start, err);
	if (r == ROGER_OK && (size - end > RG_LINE_BYTES_MAX || end - start > RG_LINE_BYTES_MAX)) {
		rg_buf_add_char(out, '?');
		return ROGER_OK;
	}
	if (r < 0 || start == end)
		return r;
	room = rg_buf_room(out, (size_t)(end - start));
	if (!room)
		return rg_fail_memory(err);
	r = bytes->read(bytes, start, room, (size_t)(end - start), &got, err);
	out->length += got;
	return r;
}

/* ------------------------------------------------------ whose it is -- */

bool rg_line_begins_own(struct roger_str line)
{
	return rg_str_begins(line, "{\"id\":\"msg-");
}

/* A damaged byte near the end may hide one half of the pattern: the other half decides. */
bool rg_line_ends_own(struct roger_str line)
{
	static const char head[] = ",\"chain\":\"";
	const char *end = line.data + line.length;

	if (line.length <= RG_CHAIN_BYTES)
		return false;
	return memcmp(end - RG_CHAIN_BYTES, head, sizeof head - 1) == 0 ||
	       (rg_line_begins_own(line) && memcmp(end - 2, "\"}", 2) == 0);
}

bool rg_line_looks_own(struct roger_str line)
{
	return rg_line_ends_own(line) && !rg_line_is_torn(line);
}

bool rg_line_is_torn(struct roger_str line)
{
	return rg_str_ends(line, " torn");
}

/* ------------------------------------------------------------- chain -- */

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
			r = rg_fail(err, ROGER_EIO, 0,
				    "the journal became shorter while it was read");
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

/* ------------------------------------------------------------ digests -- */

int rg_digest_add(struct rg_sha256 *sha, const struct rg_bytes *bytes, uint64_t *at, uint64_t to,
		  struct roger_err *err)
{
	char piece[4096];
	size_t want, got;
	int r;

	for (; *at < to; *at += got) {
		want = to - *at < sizeof piece ? (size_t)(to - *at) : sizeof piece;
		r = bytes->read(bytes, *at, piece, want, &got, err);
		if (r < 0 || got == 0)
			return r;
		rg_sha256_add(sha, piece, got);
	}
	return ROGER_OK;
}

bool rg_digest_bytes(const struct rg_bytes *file, int64_t from, int64_t bytes,
		     char to[RG_DIGEST_DIGITS + 1])
{
	uint64_t at = (uint64_t)from;
	struct rg_sha256 sha;

	rg_sha256_init(&sha);
	if (rg_digest_add(&sha, file, &at, (uint64_t)(from + bytes), NULL) < 0)
		return false;
	rg_sha256_peek(&sha, to);
	return at >= (uint64_t)(from + bytes);
}
