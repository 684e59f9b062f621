#include "data/roleline.h"

#include "base/limits.h"
#include "base/unicode.h"

#define UTF16_MARK "\xff\xfe"

static const char broken_text[] = "expected UTF-8 without NUL";

struct header {
	struct roger_str role;
	int64_t number;
	size_t length; /* with the one space after the colon */
};

/* ------------------------------------------------------------- decoding -- */

/* Read one character of UTF-16LE; returns its length in bytes; 0: not valid. */
static size_t next_utf16(const char *data, size_t length, uint32_t *ret_char)
{
	const unsigned char *byte = (const unsigned char *)data;
	uint32_t low;

	if (length < 2)
		return 0;
	*ret_char = byte[0] | (uint32_t)byte[1] << 8;
	if (*ret_char < 0xd800 || *ret_char > 0xdfff)
		return 2;

	if (*ret_char > 0xdbff || length < 4)
		return 0;
	low = byte[2] | (uint32_t)byte[3] << 8;
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	*ret_char = 0x10000 + ((*ret_char - 0xd800) << 10) + (low - 0xdc00);
	return 4;
}

/* -------------------------------------------------------------- headers -- */

static bool in_role(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '-' || c == '_';
}

static bool take_char(struct roger_str text, size_t *at, char c)
{
	if (*at >= text.length || text.data[*at] != c)
		return false;
	(*at)++;
	return true;
}

/* Read a role: a name by the rules of record.h, with fewer kinds of characters. */
static bool take_role(struct roger_str text, size_t *at, struct roger_str *ret_role)
{
	size_t start = *at;

	while (*at < text.length && in_role(text.data[*at]))
		(*at)++;
	*ret_role = (struct roger_str){ text.data + start, *at - start };
	return ret_role->length > 0 && ret_role->length <= RG_NAME_CHARS_MAX &&
	       ret_role->data[0] != '-';
}

/* Read the digits after '#'.  Any number beyond RG_SEQ_MAX is read as RG_SEQ_MAX + 1. */
static bool take_number(struct roger_str text, size_t *at, int64_t *ret_number)
{
	size_t start = *at;

	*ret_number = 0;
	for (; *at < text.length && text.data[*at] >= '0' && text.data[*at] <= '9'; (*at)++) {
		*ret_number = *ret_number * 10 + (text.data[*at] - '0');
		if (*ret_number > RG_SEQ_MAX)
			*ret_number = RG_SEQ_MAX + 1;
	}
	return *at > start;
}

/*
 * Is the line a header: "(ROLE #5): ", "(ROLE#5):", "(ROLE):"?  A mark may come first: several
 * files with one each may have been joined.
 */
static bool is_header(struct roger_str line, struct header *ret_header)
{
	struct header header = { 0 };
	size_t at = rg_str_mark(line);

	if (!take_char(line, &at, '(') || !take_role(line, &at, &header.role))
		return false;
	if (!take_char(line, &at, ')')) {
		while (take_char(line, &at, ' '))
			;
		if (!take_char(line, &at, '#') || !take_number(line, &at, &header.number) ||
		    !take_char(line, &at, ')'))
			return false;
	}
	if (!take_char(line, &at, ':'))
		return false;
	take_char(line, &at, ' ');

	header.length = at;
	*ret_header = header;
	return true;
}

/* The text from its next line on; empty after the last. */
static struct roger_str next_line(struct roger_str text)
{
	const char *end = memchr(text.data, '\n', text.length);
	size_t length = end ? (size_t)(end - text.data) + 1 : text.length;

	return (struct roger_str){ text.data + length, text.length - length };
}

/* -------------------------------------------------------------- reading -- */

/* A text being read: its lines are decoded one by one to the end of `to`. */
struct reader {
	struct roger_str text;
	bool wide; /* UTF-16LE */
	size_t at; /* of text: after the last line that was decoded */
	size_t line;
	char *to; /* what was decoded; has room for all of it */
	size_t length;
};

/* One line as it came, with its line end. */
static struct roger_str raw_line(const struct reader *reader)
{
	const char *start = reader->text.data + reader->at, *end;
	size_t left = reader->text.length - reader->at, i;

	if (!reader->wide) {
		end = memchr(start, '\n', left);
		return (struct roger_str){ start, end ? (size_t)(end - start) + 1 : left };
	}
	for (i = 0; i + 1 < left; i += 2)
		if (start[i] == '\n' && start[i + 1] == '\0')
			return (struct roger_str){ start, i + 2 };
	return (struct roger_str){ start, left };
}

static bool is_ended(const struct reader *reader, struct roger_str raw)
{
	const char *end = raw.data + raw.length;

	if (!reader->wide)
		return raw.length && end[-1] == '\n';
	return raw.length >= 2 && raw.length % 2 == 0 && end[-2] == '\n' && end[-1] == '\0';
}

/* Writers of both kinds may have appended to one file: a header shows which one wrote it. */
static struct roger_str raw_line_of_either(struct reader *reader)
{
	struct roger_str rest = { reader->text.data + reader->at,
				  reader->text.length - reader->at };
	struct header header;

	if (reader->wide && is_header(rest, &header)) {
		reader->wide = false;
	} else if (!reader->wide && rest.length >= 4 && !memcmp(rest.data, UTF16_MARK "(\0", 4)) {
		reader->wide = true;
		reader->at += strlen(UTF16_MARK);
	} else if (!reader->wide && rg_str_begins(reader->text, UTF16_MARK) && rest.length >= 2 &&
		   !memcmp(rest.data, "(\0", 2)) {
		reader->wide = true;
	}
	return raw_line(reader);
}

/* Decode a line.  False: a character is invalid; what comes before it is decoded. */
static bool decode_line(struct reader *reader, struct roger_str raw)
{
	size_t start = reader->length, at = 0, step;
	uint32_t c = 0;

	for (; at < raw.length; at += step) {
		step = reader->wide ? next_utf16(raw.data + at, raw.length - at, &c)
				    : rg_utf8_next(raw.data + at, raw.length - at, &c);
		if (step == 0 || c == 0)
			return false;
		if (c == '\n')
			break;
		reader->length += rg_char_put(reader->to + reader->length, c);
	}
	while (reader->length > start && reader->to[reader->length - 1] == '\r')
		reader->length--;
	if (at < raw.length)
		reader->to[reader->length++] = '\n';
	return true;
}

/* Let the text of a piece end at end, without the last line end of a message. */
static void set_text(struct rg_rolepiece *piece, const char *end)
{
	const char *start = piece->line.text.data;

	if (piece->kind != RG_ROLEPIECE_LOOSE && end > start && end[-1] == '\n')
		end--;
	piece->line.text.length = (size_t)(end - start);
}

static void break_piece(struct rg_rolepiece *piece, size_t line, const char *wrong)
{
	if (piece->kind == RG_ROLEPIECE_BROKEN)
		return;
	piece->kind = RG_ROLEPIECE_BROKEN;
	piece->line_number = line;
	piece->wrong = wrong;
}

static struct rg_rolepiece *start_piece(struct rg_rolepieces *pieces, const struct reader *reader,
					const char *text, struct rg_arena *arena)
{
	struct rg_rolepiece *piece =
		rg_arena_push(arena, &pieces->items, &pieces->count, sizeof *piece);

	if (!piece)
		return NULL;
	piece->kind = RG_ROLEPIECE_LOOSE;
	piece->line_number = reader->line;
	piece->line.text.data = text;
	return piece;
}

/* Take the next line: it starts a piece, or continues the last one. */
static int take_line(struct reader *reader, struct rg_rolepieces *pieces,
		     struct rg_rolepiece **piece, struct rg_arena *arena, struct roger_err *err)
{
	size_t start_at = reader->at;
	struct roger_str raw = raw_line_of_either(reader), line;
	const char *start = reader->to + reader->length;
	bool good = decode_line(reader, raw), headed;
	struct header header;

	line = (struct roger_str){ start, (size_t)(reader->to + reader->length - start) };
	headed = is_header(line, &header);
	if (headed || !*piece) {
		*piece = start_piece(pieces, reader, headed ? start + header.length : start, arena);
		if (!*piece)
			return rg_fail_memory(err);
		(*piece)->raw.data = reader->text.data + start_at;
	}
	if (headed) {
		(*piece)->kind = RG_ROLEPIECE_MESSAGE;
		(*piece)->line.role = header.role;
		(*piece)->line.number = header.number;
		if (header.number > RG_SEQ_MAX)
			break_piece(*piece, reader->line,
				    "expected a number up to 281474976710656");
	}
	if (!good)
		break_piece(*piece, reader->line, broken_text);
	(*piece)->raw.length = (size_t)(raw.data + raw.length - (*piece)->raw.data);
	if (is_ended(reader, raw))
		pieces->whole = reader->at + raw.length;
	set_text(*piece, reader->to + reader->length);
	reader->at += raw.length;
	reader->line++;
	return ROGER_OK;
}

int rg_roleline_split(struct roger_str text, struct rg_arena *arena,
		      struct rg_rolepieces *ret_pieces, struct roger_err *err)
{
	struct reader reader = { .text = text, .wide = rg_str_begins(text, UTF16_MARK), .line = 1 };
	struct rg_rolepieces pieces = { 0 };
	struct rg_rolepiece *piece = NULL;
	int r;

	_Static_assert(RG_SEQ_MAX == INT64_C(281474976710656), "the error names it");
	reader.at = reader.wide ? strlen(UTF16_MARK) : rg_str_mark(text);
	pieces.mark = (struct roger_str){ text.data, reader.at };
	/* Two bytes of UTF-16 may become three of UTF-8. */
	reader.to = rg_arena_room(arena, text.length / 2 * 3 + 4);
	if (!reader.to)
		return rg_fail_memory(err);
	while (reader.at < text.length) {
		r = take_line(&reader, &pieces, &piece, arena, err);
		if (r < 0)
			return r;
	}
	*ret_pieces = pieces;
	return ROGER_OK;
}

/* ------------------------------------------------------------- printing -- */

/* A line that looks like a header is indented, so that no text can speak for another sender. */
static void print_text(struct roger_str text, struct rg_buf *out)
{
	struct roger_str rest = text, next;
	struct header header;

	while (rest.length) {
		next = next_line(rest);
		if (rest.data != text.data && is_header(rest, &header))
			rg_buf_add_char(out, ' ');
		rg_buf_add(out, rest.data, rest.length - next.length);
		rest = next;
	}
}

void rg_roleline_print(const struct rg_roleline *line, struct rg_buf *out)
{
	rg_buf_add_char(out, '(');
	rg_buf_add_str(out, line->role);
	if (line->number) {
		rg_buf_add_text(out, " #");
		rg_buf_add_int(out, line->number);
	}
	rg_buf_add_text(out, "): ");
	print_text(line->text, out);
	rg_buf_add_char(out, '\n');
}
