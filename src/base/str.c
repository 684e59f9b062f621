#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

bool rg_str_among(struct roger_strs texts, struct roger_str text)
{
	size_t i;

	for (i = 0; i < texts.count; i++)
		if (rg_str_equal(texts.items[i], text))
			return true;
	return false;
}

int rg_str_order(struct roger_str a, struct roger_str b)
{
	const size_t shorter = a.length < b.length ? a.length : b.length;
	const int order = shorter ? memcmp(a.data, b.data, shorter) : 0;

	return order ? order : (a.length > b.length) - (a.length < b.length);
}

int rg_str_compare(const void *a, const void *b)
{
	return rg_str_order(*(const struct roger_str *)a, *(const struct roger_str *)b);
}

struct roger_str rg_str_first(struct roger_str text, size_t bytes)
{
	if (text.length <= bytes)
		return text;
	for (text.length = bytes;
	     text.length && ((unsigned char)text.data[text.length] & 0xc0) == 0x80;)
		text.length--;
	return text;
}

struct roger_str rg_str_without_end(struct roger_str text, const char *characters)
{
	while (text.length && memchr(characters, text.data[text.length - 1], strlen(characters)))
		text.length--;
	return text;
}

bool rg_str_blank(struct roger_str text)
{
	size_t i;

	for (i = 0; i < text.length; i++)
		if (!strchr(" \t\r\n", text.data[i]))
			return false;
	return true;
}

/* musl's memchr() looks at eight bytes at a time, this function at sixteen. */
const char *rg_str_find(struct roger_str text, char c)
{
#ifdef __SSE2__
	const __m128i wanted = _mm_set1_epi8(c);
	unsigned found;

	for (; text.length >= 16; text.data += 16, text.length -= 16) {
		found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(
			_mm_loadu_si128((const __m128i *)(const void *)text.data), wanted));
		if (found)
			return text.data + __builtin_ctz(found);
	}
#endif
	return text.length ? memchr(text.data, c, text.length) : NULL;
}

struct roger_str rg_str_first_line(struct roger_str text)
{
	const char *newline = rg_str_find(text, '\n');

	if (newline)
		text.length = (size_t)(newline - text.data);
	return text;
}

bool rg_str_next_line(struct roger_str *rest, struct roger_str *ret_line)
{
	const size_t length = rest->length;

	if (!length)
		return false;
	*ret_line = rg_str_first_line(*rest);
	rest->length -= ret_line->length + (ret_line->length < length);
	rest->data += length - rest->length;
	return true;
}

int64_t rg_str_line(struct roger_str text, size_t at)
{
	int64_t line = 1;
	size_t i;

	for (i = 0; i < at && i < text.length; i++)
		line += text.data[i] == '\n';
	return line;
}

size_t rg_utf8_decode(const char *data, size_t length, uint32_t *ret_char)
{
	const unsigned char *byte = (const unsigned char *)data;
	uint32_t c, least;
	size_t more, i;

	if ((byte[0] & 0xe0) == 0xc0)
		c = byte[0] & 0x1f, more = 1, least = 0x80;
	else if ((byte[0] & 0xf0) == 0xe0)
		c = byte[0] & 0x0f, more = 2, least = 0x800;
	else if ((byte[0] & 0xf8) == 0xf0)
		c = byte[0] & 0x07, more = 3, least = 0x10000;
	else
		return 0;

	if (more >= length)
		return 0;
	for (i = 1; i <= more; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (byte[i] & 0x3f);
	}

	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret_char = c;
	return more + 1;
}

/* Are these eight bytes plain ASCII without a NUL? */
static bool is_plain_word(uint64_t word)
{
	const uint64_t high = UINT64_C(0x8080808080808080), low = UINT64_C(0x0101010101010101);

	return ((word | (word - low)) & high) == 0;
}

bool rg_utf8_count(struct roger_str text, size_t *ret_chars)
{
	size_t at = 0, chars = 0, step;
	uint32_t c;
	uint64_t word;

	while (at < text.length) {
		if (at + sizeof word <= text.length) {
			memcpy(&word, text.data + at, sizeof word);
			if (is_plain_word(word)) {
				at += sizeof word;
				chars += sizeof word;
				continue;
			}
		}
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		if (step == 0 || c == 0)
			return false;
		at += step;
		chars++;
	}

	*ret_chars = chars;
	return true;
}

bool rg_str_number(struct roger_str text, int64_t *ret_number)
{
	uint64_t number = 0;
	size_t i;

	/* Nineteen digits fit without a sign. */
	if (text.length == 0 || text.length > 19)
		return false;
	for (i = 0; i < text.length; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(text.data[i] - '0');
	}
	if (number > INT64_MAX)
		return false;
	*ret_number = (int64_t)number;
	return true;
}

void rg_buf_init(struct rg_buf *buf, size_t maximum)
{
	*buf = (struct rg_buf){ .maximum = maximum };
}

void rg_buf_deinit(struct rg_buf *buf)
{
	free(buf->data);
	*buf = (struct rg_buf){ 0 };
}

char *rg_buf_grow(struct rg_buf *buf, size_t more)
{
	size_t capacity = buf->capacity ? buf->capacity : 512, needed = buf->length + more;
	char *data = NULL;

	if (buf->failed)
		return NULL;
	if (needed >= more && needed <= buf->maximum && needed <= SIZE_MAX / 2) {
		while (capacity < needed)
			capacity *= 2;
		if (capacity > buf->maximum)
			capacity = buf->maximum;
		data = realloc(buf->data, capacity);
	}
	buf->failed = !data;
	if (!data)
		return NULL;
	buf->data = data;
	buf->capacity = capacity;
	return buf->data + buf->length;
}

void rg_buf_add(struct rg_buf *buf, const void *data, size_t length)
{
	char *room = rg_buf_room(buf, length);

	if (!room || length == 0)
		return;
	memcpy(room, data, length);
	buf->length += length;
}

void rg_buf_add_str(struct rg_buf *buf, struct roger_str str)
{
	rg_buf_add(buf, str.data, str.length);
}

void rg_buf_add_text(struct rg_buf *buf, const char *text)
{
	rg_buf_add(buf, text, strlen(text));
}

size_t rg_print_int(char *to, int64_t number)
{
	uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);

	if (number < 0)
		digits[--at] = '-';
	memcpy(to, digits + at, sizeof digits - at);
	return sizeof digits - at;
}

void rg_buf_add_int(struct rg_buf *buf, int64_t number)
{
	char *room = rg_buf_room(buf, 20);

	if (room)
		buf->length += rg_print_int(room, number);
}

void rg_buf_printf(struct rg_buf *buf, const char *format, ...)
{
	va_list arguments;
	char *room = rg_buf_room(buf, 1);
	const size_t space = room ? buf->capacity - buf->length : 0;
	int length;

	va_start(arguments, format);
	length = vsnprintf(room, space, format, arguments);
	va_end(arguments);

	if (length >= 0 && (size_t)length >= space) {
		room = rg_buf_room(buf, (size_t)length + 1);
		va_start(arguments, format);
		vsnprintf(room, room ? (size_t)length + 1 : 0, format, arguments);
		va_end(arguments);
	}
	if (length < 0 || !room)
		buf->failed = true;
	else
		buf->length += (size_t)length;
}

void rg_buf_add_filled(struct rg_buf *buf, struct roger_str text, const struct rg_placeholder *all,
		       size_t count)
{
	size_t i, length;

	for (; text.length; text.data += length, text.length -= length) {
		for (i = 0; i < count && !rg_str_begins(text, all[i].token.data); i++)
			continue;
		length = i < count ? all[i].token.length : 1;
		rg_buf_add_str(buf, i < count ? all[i].value : (struct roger_str){ text.data, 1 });
	}
}

void rg_buf_add_shell_word(struct rg_buf *out, struct roger_str word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@/+,%=";
	size_t i;

	for (i = 0; i < word.length && memchr(plain, word.data[i], sizeof plain - 1); i++)
		continue;
	if (i && i == word.length) {
		rg_buf_add_str(out, word);
		return;
	}
	rg_buf_add_char(out, '\'');
	for (i = 0; i < word.length; i++)
		if (word.data[i] == '\'')
			rg_buf_add_text(out, "'\\''");
		else
			rg_buf_add_char(out, word.data[i]);
	rg_buf_add_char(out, '\'');
}
