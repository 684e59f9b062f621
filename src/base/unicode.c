#include "base/unicode.h"

#include <utf8proc.h>

bool rg_char_is_harmful(uint32_t c)
{
	const utf8proc_property_t *facts;

	if (c < 0x7f)
		return c < 0x20;
	/* Tags and the variation selectors of this plane spell hidden text; what is not assigned
	 * has no category. */
	if (c >= 0xe0000 && c <= 0xe0fff)
		return true;
	facts = utf8proc_get_property((utf8proc_int32_t)c);
	if (facts->category == UTF8PROC_CATEGORY_CC)
		return true;
	switch (facts->bidi_class) {
	case UTF8PROC_BIDI_CLASS_LRE:
	case UTF8PROC_BIDI_CLASS_LRO:
	case UTF8PROC_BIDI_CLASS_RLE:
	case UTF8PROC_BIDI_CLASS_RLO:
	case UTF8PROC_BIDI_CLASS_PDF:
	case UTF8PROC_BIDI_CLASS_LRI:
	case UTF8PROC_BIDI_CLASS_RLI:
	case UTF8PROC_BIDI_CLASS_FSI:
	case UTF8PROC_BIDI_CLASS_PDI:
		return true;
	default:
		return false;
	}
}

bool rg_char_is_unseen(uint32_t c)
{
	if (c < 0x7f)
		return c < 0x20;
	switch (utf8proc_category((utf8proc_int32_t)c)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	default:
		return rg_char_is_harmful(c);
	}
}

bool rg_char_ends_line(uint32_t c)
{
	return c == 0x2028 || c == 0x2029;
}

size_t rg_char_columns(uint32_t c)
{
	if (c >= 0x20 && c < 0x7f)
		return 1;
	return (size_t)utf8proc_charwidth((utf8proc_int32_t)c);
}

size_t rg_char_put(char *to, uint32_t c)
{
	return (size_t)utf8proc_encode_char((utf8proc_int32_t)c, (utf8proc_uint8_t *)to);
}
