#include "mcp/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void rg_base64_add(struct rg_buf *out, const void *data, size_t length)
{
	const unsigned char *byte = data;
	size_t groups = length / 3 + (length % 3 != 0), left;
	uint32_t bits;
	char *to;

	if (groups > SIZE_MAX / 4) {
		out->failed = true;
		return;
	}
	to = rg_buf_room(out, 4 * groups);
	if (!to)
		return;
	for (left = length; left > 0; byte += 3, to += 4) {
		bits = (uint32_t)byte[0] << 16;
		bits |= left > 1 ? (uint32_t)byte[1] << 8 : 0;
		bits |= left > 2 ? byte[2] : 0;
		to[0] = digits[bits >> 18];
		to[1] = digits[bits >> 12 & 63];
		to[2] = left > 1 ? digits[bits >> 6 & 63] : '=';
		to[3] = left > 2 ? digits[bits & 63] : '=';
		left -= left < 3 ? left : 3;
	}
	out->length += 4 * groups;
}

static int value_of(char c)
{
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Four characters, of which the last `padding` are '='. */
static bool read_group(const char *text, size_t padding, struct rg_buf *out)
{
	uint32_t bits = 0;
	int value;
	size_t i;

	for (i = 0; i < 4; i++) {
		value = i < 4 - padding ? value_of(text[i]) : 0;
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
	}
	if (padding && bits & (padding == 1 ? 0xff : 0xffff))
		return false;
	rg_buf_add(out, (char[]){ (char)(bits >> 16), (char)(bits >> 8), (char)bits }, 3 - padding);
	return true;
}

bool rg_base64_read(struct roger_str text, struct rg_buf *out)
{
	size_t at, padding = 0;

	if (text.length % 4)
		return false;
	if (text.length && text.data[text.length - 1] == '=')
		padding = text.data[text.length - 2] == '=' ? 2 : 1;
	for (at = 0; at < text.length; at += 4)
		if (!read_group(text.data + at, at + 4 == text.length ? padding : 0, out))
			return false;
	return !out->failed;
}
