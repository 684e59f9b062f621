/*
 * str - borrowed text, text that grows, and what UTF-8 needs.
 *
 * struct roger_str borrows a pointer and a length.  struct rg_buf owns its
 * bytes; when an append does not fit (out of memory, or beyond its maximum) the
 * buffer stays failed, so one check at the end is enough.
 */
#ifndef RG_STR_H
#define RG_STR_H

#include <string.h>

#include "base/err.h"

#define RG_STR(literal) ((struct roger_str){ literal, sizeof literal - 1 })
#define RG_STR_ARGS(str) (int)(str).length, (str).data
/* A text of somebody else, cut to what an error shows. */
#define RG_STR_CUT(str) ((str).length < 64 ? (int)(str).length : 64), (str).data

static inline struct roger_str rg_str(const char *text)
{
	return (struct roger_str){ text, text ? strlen(text) : 0 };
}

/* The plural ending of a word: "s" unless the count is 1. */
static inline const char *rg_plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

static inline bool rg_str_equal(struct roger_str a, struct roger_str b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline bool rg_str_is(struct roger_str a, const char *text)
{
	return rg_str_equal(a, rg_str(text));
}

/* Order texts by bytes, like strcmp(); rg_str_compare() is for qsort() of struct roger_str. */
int rg_str_order(struct roger_str a, struct roger_str b);
int rg_str_compare(const void *a, const void *b);

/* Does the text begin with start, or end with end? */
static inline bool rg_str_begins(struct roger_str text, const char *start)
{
	return text.length >= strlen(start) && memcmp(text.data, start, strlen(start)) == 0;
}

/* Find where the text has this part first; NULL: nowhere. */
static inline const char *rg_str_find_part(struct roger_str text, struct roger_str part)
{
	return text.length ? memmem(text.data, text.length, part.data, part.length) : NULL;
}

static inline bool rg_str_ends(struct roger_str text, const char *end)
{
	return text.length >= strlen(end) &&
	       memcmp(text.data + text.length - strlen(end), end, strlen(end)) == 0;
}

/* Is the text one of texts? */
bool rg_str_among(struct roger_strs texts, struct roger_str text);

/* The longest beginning of at most that many bytes that does not cut a character of UTF-8. */
struct roger_str rg_str_first(struct roger_str text, size_t bytes);

/* Bytes of the mark that some editors put before a text of UTF-8: 3, or 0. */
static inline size_t rg_str_mark(struct roger_str text)
{
	return rg_str_begins(text, "\xef\xbb\xbf") ? 3 : 0;
}

/* The text without any of these characters at its end. */
struct roger_str rg_str_without_end(struct roger_str text, const char *characters);

/* Is there nothing but blanks and line ends? */
bool rg_str_blank(struct roger_str text);

/* The first such byte of the text, or NULL. */
const char *rg_str_find(struct roger_str text, char c);

/* The text up to its first newline, or all of it. */
struct roger_str rg_str_first_line(struct roger_str text);

/* Take the first line, which may lack its newline, off a text; false: nothing is left. */
bool rg_str_next_line(struct roger_str *rest, struct roger_str *ret_line);

/* The number of the line that holds the byte at this offset, from 1. */
int64_t rg_str_line(struct roger_str text, size_t at);

/* Count the characters of a text; false: not UTF-8, or it holds a NUL. */
bool rg_utf8_count(struct roger_str text, size_t *ret_chars);

/*
 * Decode the character at data.  Returns its length in bytes; 0: not valid UTF-8.
 */
size_t rg_utf8_decode(const char *data, size_t length, uint32_t *ret_char);
static inline size_t rg_utf8_next(const char *data, size_t length, uint32_t *ret_char)
{
	if (!length || (unsigned char)*data >= 0x80)
		return length ? rg_utf8_decode(data, length, ret_char) : 0;
	*ret_char = (unsigned char)*data;
	return 1;
}

/* Read a decimal number from 0 to INT64_MAX; false: the text is anything else. */
bool rg_str_number(struct roger_str text, int64_t *ret_number);

struct rg_buf {
	char *data;
	size_t length;
	size_t capacity;
	size_t maximum;
	bool failed;
};

void rg_buf_init(struct rg_buf *buf, size_t maximum);
void rg_buf_deinit(struct rg_buf *buf);

/* Make room for more bytes at the end, and return it; NULL: the buffer has failed. */
char *rg_buf_grow(struct rg_buf *buf, size_t more);
static inline char *rg_buf_room(struct rg_buf *buf, size_t more)
{
	return buf->data && !buf->failed && more <= buf->capacity - buf->length
		       ? buf->data + buf->length
		       : rg_buf_grow(buf, more);
}
void rg_buf_add(struct rg_buf *buf, const void *data, size_t length);
void rg_buf_add_str(struct rg_buf *buf, struct roger_str str);
void rg_buf_add_text(struct rg_buf *buf, const char *text);

/* Add a text with each placeholder in it replaced by its value. */
struct rg_placeholder {
	struct roger_str token, value;
};
void rg_buf_add_filled(struct rg_buf *buf, struct roger_str text, const struct rg_placeholder *all,
		       size_t count);

/* Add a word as a shell reads it, in quotes where it needs them. */
void rg_buf_add_shell_word(struct rg_buf *buf, struct roger_str word);

void rg_buf_add_int(struct rg_buf *buf, int64_t number);
void rg_buf_printf(struct rg_buf *buf, const char *format, ...) RG_PRINTF(2, 3);
static inline void rg_buf_add_char(struct rg_buf *buf, char c)
{
	char *room = rg_buf_room(buf, 1);

	if (room) {
		*room = c;
		buf->length++;
	}
}
static inline void rg_buf_clear(struct rg_buf *buf)
{
	buf->length = 0;
	buf->failed = false;
}
static inline struct roger_str rg_buf_str(const struct rg_buf *buf)
{
	return (struct roger_str){ buf->data ? buf->data : "", buf->length };
}

/* Print the number in decimal at to, which has room for 20; returns its length. */
size_t rg_print_int(char *to, int64_t number);

#endif
