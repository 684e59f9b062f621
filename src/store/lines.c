#include "store/lines.h"

#include <stdlib.h>

#include "base/id.h"
#include "host/file.h"
#include "store/chain.h"
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

int rg_bytes_fail_short(const struct rg_bytes *bytes, struct roger_err *err)
{
	const bool named = bytes->journal && bytes->journal->shown.length;

	return rg_fail(err, ROGER_EIO, 0, "%.*s became shorter while it was read",
		       RG_STR_ARGS(named ? bytes->journal->shown : RG_STR("the journal")));
}

static int read_all(const struct rg_bytes *bytes, uint64_t from, char *room, size_t want,
		    struct roger_err *err)
{
	size_t got = 0;
	int r = bytes->read(bytes, from, room, want, &got, err);

	return r == ROGER_OK && got < want ? rg_bytes_fail_short(bytes, err) : r;
}

int rg_bytes_add(const struct rg_bytes *bytes, uint64_t from, size_t want, struct rg_buf *out,
		 struct roger_err *err)
{
	char *room = rg_buf_room(out, want);
	int r = room ? read_all(bytes, from, room, want, err) : rg_fail_memory(err);

	out->length += r == ROGER_OK ? want : 0;
	return r;
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
	size_t want;
	int r;

	while (*at > last) {
		want = *at < sizeof piece ? (size_t)*at : sizeof piece;
		r = read_all(bytes, *at - want, piece, want, err);
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
	return rg_bytes_add(bytes, start, (size_t)(end - start), out, err);
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
