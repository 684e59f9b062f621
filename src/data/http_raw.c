#include "data/http_raw.h"

#include <ctype.h>
#include <string.h>

/* More hex digits than the size of any chunk has, and few enough for the number not to overflow. */
enum { SIZE_DIGITS_MAX = 12 };

/* Take a byte of a line.  A blank at its start would make it a part of the line before. */
static enum rg_http_raw_state take_line(struct rg_http_raw *raw, char c)
{
	if (c == '\r')
		return RG_RAW_LINE_END;
	if (c == '\n' || c == '\0' || (!raw->length && raw->some && (c == ' ' || c == '\t')))
		return RG_RAW_ODD;
	if (raw->length < sizeof raw->word)
		raw->word[raw->length] = (char)tolower((unsigned char)c);
	raw->length++;
	return RG_RAW_LINE;
}

static enum rg_http_raw_state end_line(struct rg_http_raw *raw)
{
	static const char coding[] = "transfer-encoding:";
	bool empty = !raw->length;

	if (raw->length >= sizeof coding - 1)
		raw->chunked |= memcmp(raw->word, coding, sizeof coding - 1) == 0;
	raw->length = 0;
	if (!empty) {
		raw->some = true;
		return RG_RAW_LINE;
	}
	if (!raw->some)
		return RG_RAW_ODD;
	raw->left = 0;
	return raw->chunked ? RG_RAW_SIZE : RG_RAW_REST;
}

/* A size is digits alone: readers disagree on signs, "0x", blanks and extensions. */
static enum rg_http_raw_state take_size(struct rg_http_raw *raw, char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	if (c == '\r' && raw->length)
		return RG_RAW_SIZE_END;
	if (!digit || raw->length++ == SIZE_DIGITS_MAX)
		return RG_RAW_ODD;
	raw->left = raw->left * 16 + (uint64_t)(digit - digits);
	return RG_RAW_SIZE;
}

static enum rg_http_raw_state end_size(struct rg_http_raw *raw)
{
	raw->length = 0;
	raw->chunks += raw->left;
	return raw->left ? RG_RAW_CHUNK : RG_RAW_LAST_CR;
}

static enum rg_http_raw_state expect_char(char c, char expected, enum rg_http_raw_state next)
{
	return c == expected ? next : RG_RAW_ODD;
}

static enum rg_http_raw_state take_char(struct rg_http_raw *raw, char c)
{
	switch (raw->state) {
	case RG_RAW_LINE:
		return take_line(raw, c);
	case RG_RAW_LINE_END:
		return c == '\n' ? end_line(raw) : RG_RAW_ODD;
	case RG_RAW_SIZE:
		return take_size(raw, c);
	case RG_RAW_SIZE_END:
		return c == '\n' ? end_size(raw) : RG_RAW_ODD;
	case RG_RAW_CHUNK:
		return --raw->left ? RG_RAW_CHUNK : RG_RAW_CHUNK_CR;
	case RG_RAW_CHUNK_CR:
		return expect_char(c, '\r', RG_RAW_CHUNK_END);
	case RG_RAW_CHUNK_END:
		return expect_char(c, '\n', RG_RAW_SIZE);
	case RG_RAW_LAST_CR:
		return expect_char(c, '\r', RG_RAW_LAST_END);
	case RG_RAW_LAST_END:
		return expect_char(c, '\n', RG_RAW_REST);
	case RG_RAW_REST:
	case RG_RAW_ODD:
		break;
	}
	return raw->state;
}

bool rg_http_raw_take(struct rg_http_raw *raw, const char *data, size_t length)
{
	size_t step;

	for (; length && raw->state < RG_RAW_REST; data += step, length -= step) {
		step = 1;
		if (raw->state == RG_RAW_CHUNK && raw->left > 1)
			step = raw->left - 1 < length ? (size_t)raw->left - 1 : length;
		if (step > 1)
			raw->left -= step;
		else
			raw->state = take_char(raw, *data);
	}
	return raw->state != RG_RAW_ODD;
}
