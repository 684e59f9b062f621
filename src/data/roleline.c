#include "data/roleline.h"

#include "base/limits.h"

struct header {
	struct roger_str role;
	int64_t number;
	size_t length; /* with the one space behind the colon */
};

/* ------------------------------------------------------------- decoding -- */

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* One character of UTF-16LE; returns its bytes, 0 where it is none. */
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

static bool starts_with(struct roger_str text, const char *mark)
{
	return text.length >= strlen(mark) && !memcmp(text.data, mark, strlen(mark));
}

/* Into to as UTF-8, without the mark, each line ended by LF alone. */
static int decode(struct roger_str text, char *to, size_t *ret_length, struct roger_err *err)
{
	bool wide = starts_with(text, "\xff\xfe");
	size_t at = wide ? 2 : starts_with(text, "\xef\xbb\xbf") ? 3 : 0;
	size_t length = 0, line = 1, step;
	uint32_t c = 0;

	for (; at < text.length; at += step) {
		step = wide ? next_utf16(text.data + at, text.length - at, &c)
			    : rg_utf8_next(text.data + at, text.length - at, &c);
		if (step == 0 || c == 0)
			return rg_fail(err, ROGER_EDATA, 0, "line %zu: expected UTF-8 without NUL",
				       line);
		if (c == '\n') {
			line++;
			while (length && to[length - 1] == '\r')
				length--;
		}
		length += put_utf8(to + length, c);
	}

	while (length && to[length - 1] == '\r')
		length--;
	*ret_length = length;
	return ROGER_OK;
}

/* A copy in arena, with room for what two bytes of UTF-16 become. */
static int copy_decoded(struct roger_str text, struct rg_arena *arena, struct roger_str *ret,
			struct roger_err *err)
{
	char *copy = rg_arena_get(arena, text.length / 2 * 3 + 4);
	int r;

	if (!copy)
		return rg_fail_memory(err);
	r = decode(text, copy, &ret->length, err);
	if (r < 0)
		return r;
	ret->data = copy;
	return ROGER_OK;
}

/* -------------------------------------------------------------- headers -- */

static bool in_role(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '-' || c == '_';
}

static bool take(struct roger_str text, size_t *at, char c)
{
	if (*at >= text.length || text.data[*at] != c)
		return false;
	(*at)++;
	return true;
}

/* A name as record.h knows it, of fewer letters. */
static bool take_role(struct roger_str text, size_t *at, struct roger_str *ret_role)
{
	size_t start = *at;

	while (*at < text.length && in_role(text.data[*at]))
		(*at)++;
	*ret_role = (struct roger_str){ text.data + start, *at - start };
	return ret_role->length > 0 && ret_role->length <= RG_NAME_CHARS_MAX &&
	       ret_role->data[0] != '-';
}

/* The digits behind '#'.  Beyond RG_SEQ_MAX it stays just beyond, however many they are. */
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

/* "(ROLE #5): ", "(ROLE#5):", "(ROLE):" at the start of a line. */
static bool is_header(struct roger_str line, struct header *ret_header)
{
	struct header header = { 0 };
	size_t at = 0;

	if (!take(line, &at, '(') || !take_role(line, &at, &header.role))
		return false;
	if (!take(line, &at, ')')) {
		while (take(line, &at, ' '))
			;
		if (!take(line, &at, '#') || !take_number(line, &at, &header.number) ||
		    !take(line, &at, ')'))
			return false;
	}
	if (!take(line, &at, ':'))
		return false;
	take(line, &at, ' ');

	header.length = at;
	*ret_header = header;
	return true;
}

/* The text from its next line on; empty behind the last. */
static struct roger_str next_line(struct roger_str text)
{
	const char *end = memchr(text.data, '\n', text.length);
	size_t length = end ? (size_t)(end - text.data) + 1 : text.length;

	return (struct roger_str){ text.data + length, text.length - length };
}

/* -------------------------------------------------------------- reading -- */

static struct roger_str without_line_end(const char *start, const char *end)
{
	if (end > start && end[-1] == '\n')
		end--;
	return (struct roger_str){ start, (size_t)(end - start) };
}

static int add_line(struct rg_rolelines *lines, const struct header *header, const char *text,
		    struct rg_arena *arena, struct roger_err *err)
{
	struct rg_roleline *line;

	line = rg_arena_push(arena, &lines->items, &lines->count, sizeof *line);
	if (!line)
		return rg_fail_memory(err);
	line->role = header->role;
	line->number = header->number;
	line->text.data = text;
	return ROGER_OK;
}

/* The text of the last message, if any, ends here. */
static void end_line(struct rg_rolelines *lines, const char *end)
{
	struct rg_roleline *last;

	if (lines->count == 0)
		return;
	last = (struct rg_roleline *)(uintptr_t)&lines->items[lines->count - 1];
	last->text = without_line_end(last->text.data, end);
}

static int split(struct roger_str text, struct rg_arena *arena, struct rg_rolelines *lines,
		 struct roger_err *err)
{
	struct roger_str rest;
	struct header header;
	size_t line = 1;
	int r;

	for (rest = text; rest.length; rest = next_line(rest), line++) {
		if (!is_header(rest, &header))
			continue;
		if (header.number > RG_SEQ_MAX)
			return rg_fail(err, ROGER_EDATA, 0,
				       "line %zu: expected a number up to %lld", line,
				       (long long)RG_SEQ_MAX);
		if (lines->count == 0)
			lines->skipped_bytes = (size_t)(rest.data - text.data);
		end_line(lines, rest.data);
		r = add_line(lines, &header, rest.data + header.length, arena, err);
		if (r < 0)
			return r;
	}

	if (lines->count == 0)
		lines->skipped_bytes = text.length;
	end_line(lines, rest.data);
	return ROGER_OK;
}

int rg_roleline_read(struct roger_str text, struct rg_arena *arena, struct rg_rolelines *ret_lines,
		     struct roger_err *err)
{
	struct rg_rolelines lines = { 0 };
	struct roger_str decoded = { 0 };
	int r;

	r = copy_decoded(text, arena, &decoded, err);
	if (r < 0)
		return r;
	r = split(decoded, arena, &lines, err);
	if (r < 0)
		return r;
	*ret_lines = lines;
	return ROGER_OK;
}

/* ------------------------------------------------------------- printing -- */

/* A line that would read as a header steps aside, so that no text speaks for another. */
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
