#include "base/escape.h"

#include <stdio.h>

#include "base/unicode.h"

/* How to print a character that is not kept, and a byte that is wrong UTF-8 (NULL: as it is). */
static const struct {
	const char *format, *wrong, *plain; /* plain: only these, letters and digits are kept */
} targets[] = {
	[RG_IN_ADDRESS] = { "%%%02X", "%%%02X", "-._~:@," },
	[RG_IN_SCRIPT] = { "\\u%04x" },
	[RG_IN_JSON] = { "\\u%04x" },
	[RG_IN_MERMAID] = { "#%u;", "#65533;", " .,_-:@/()'" },
	[RG_IN_LINE] = { "<U+%04X>", "<%02X>" },
	[RG_IN_LINES] = { "<U+%04X>", "<%02X>" },
	[RG_IN_SIGHT] = { "<U+%04X>", "<%02X>" },
};

static bool is_kept(enum rg_target target, uint32_t c)
{
	const char *plain = targets[target].plain;

	if (plain)
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		       (c && c < 0x80 && strchr(plain, (int)c));
	if (target == RG_IN_SCRIPT)
		return c != '<' && c != '>' && c != '&';
	if (target == RG_IN_JSON) /* a control character is white space between values */
		return c < 0x20 || !rg_char_is_unseen(c);
	if (target == RG_IN_LINES && (c == '\n' || c == '\t'))
		return true;
	return !rg_char_is_harmful(c) && (target == RG_IN_LINES || !rg_char_ends_line(c)) &&
	       (target != RG_IN_SIGHT || c == ' ' || (!rg_char_is_unseen(c) && rg_char_columns(c)));
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t print_escape(enum rg_target target, uint32_t c, const char *format, char *to)
{
	if (target == RG_IN_MERMAID && rg_char_is_harmful(c))
		c = 0xfffd;
	if (target == RG_IN_JSON && c >= 0x10000)
		return (size_t)snprintf(to, RG_ESCAPED_BYTES, "\\u%04x\\u%04x",
					0xd800 + ((c - 0x10000) >> 10),
					0xdc00 + ((c - 0x10000) & 0x3ff));
	return (size_t)snprintf(to, RG_ESCAPED_BYTES, format, c);
}

bool rg_escape_next(enum rg_target target, struct roger_str *text, char to[RG_ESCAPED_BYTES],
		    struct roger_str *ret_piece)
{
	const bool ordinary = !targets[target].plain && target != RG_IN_SCRIPT;
	const char *wrong = targets[target].wrong;
	struct roger_str rest = *text;
	size_t at = 0, step = 0;
	uint32_t c = 0;

	if (!rest.length)
		return false;
	/* Read CR LF as LF.  No CR is kept, so each one is found here, at the start of a piece. */
	if (target == RG_IN_LINES && rest.length > 1 && memcmp(rest.data, "\r\n", 2) == 0)
		rest = (struct roger_str){ rest.data + 1, rest.length - 1 };
	for (; at < rest.length; at += step ? step : 1) {
		/* Most text is of visible ASCII, which most languages keep. */
		step = 1;
		if (ordinary && rest.data[at] >= ' ' && rest.data[at] < 0x7f)
			continue;
		step = rg_utf8_next(rest.data + at, rest.length - at, &c);
		step = step > 1 && target == RG_IN_ADDRESS ? 0 : step;
		if (step ? !is_kept(target, c) : wrong != NULL)
			break;
	}
	*ret_piece = (struct roger_str){ rest.data, at };
	if (!at) {
		*ret_piece = (struct roger_str){
			to, step ? print_escape(target, c, targets[target].format, to)
				 : print_escape(target, (unsigned char)*rest.data, wrong, to)
		};
		at = step ? step : 1;
	}
	*text = (struct roger_str){ rest.data + at, rest.length - at };
	return true;
}

void rg_buf_add_escaped(struct rg_buf *out, enum rg_target target, struct roger_str text)
{
	char to[RG_ESCAPED_BYTES];
	struct roger_str piece;

	while (rg_escape_next(target, &text, to, &piece))
		rg_buf_add_str(out, piece);
}

void rg_buf_add_typed_word(struct rg_buf *out, struct roger_str word)
{
	struct roger_str rest = word, seen = word;
	char to[RG_ESCAPED_BYTES];
	unsigned char c;
	size_t i;

	(void)rg_escape_next(RG_IN_SIGHT, &rest, to, &seen);
	if (seen.data == word.data && !rest.length) {
		rg_buf_add_shell_word(out, word);
		return;
	}
	rg_buf_add_text(out, "$'");
	for (i = 0; i < word.length; i++) {
		c = (unsigned char)word.data[i];
		rg_buf_printf(out, c < ' ' || c >= 0x7f || strchr("'\\", c) ? "\\%03o" : "%c", c);
	}
	rg_buf_add_char(out, '\'');
}
