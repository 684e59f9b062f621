#include "base64.h"

#include <sodium.h>

#define VARIANT sodium_base64_VARIANT_ORIGINAL

void rg_base64_add(struct rg_buf *out, const void *data, size_t length)
{
	size_t room;
	char *to;

	if (length > SIZE_MAX / 2) {
		out->failed = true;
		return;
	}
	/* libsodium adds a NUL, which is not counted. */
	room = sodium_base64_encoded_len(length, VARIANT);
	to = rg_buf_room(out, room);
	if (!to)
		return;
	sodium_bin2base64(to, room, data, length, VARIANT);
	out->length += room - 1;
}

bool rg_base64_read(struct roger_str text, struct rg_buf *out)
{
	size_t most = text.length / 4 * 3, length;
	char *to;

	to = rg_buf_room(out, most);
	if (!to || sodium_base642bin((unsigned char *)to, most, text.data, text.length, NULL,
				     &length, NULL, VARIANT) < 0)
		return false;
	out->length += length;
	return true;
}
