#include "base/id.h"

#include <endian.h>
#include <errno.h>
#include <sodium.h>
#include <unistd.h>

static const char digits[] = "0123456789abcdef";

int rg_random(void *to, size_t length, struct roger_err *err)
{
	rg_assert(length <= 256);
	if (getentropy(to, length) < 0)
		return rg_fail(err, ROGER_EIO, errno, "draw random bytes");
	return ROGER_OK;
}

int rg_id_new(struct rg_id_source *source, int64_t now_ms, char *to, size_t *ret_length,
	      struct roger_err *err)
{
	size_t length = 4, i;
	uint64_t random;
	int r;

	rg_assert(source->left <= sizeof source->pool && now_ms >= 0);
	if (source->left < sizeof random) {
		r = rg_random(source->pool, sizeof source->pool, err);
		if (r < 0)
			return r;
		source->left = sizeof source->pool;
	}
	source->left -= sizeof random;
	memcpy(&random, source->pool + source->left, sizeof random);

	memcpy(to, "msg-", 4);
	length += rg_print_int(to + length, now_ms);
	to[length++] = '-';
	for (i = 0; i < 16; i++, random >>= 4)
		to[length++] = digits[random & 15];
	*ret_length = length;
	return ROGER_OK;
}

bool rg_id_is_own(struct roger_str id)
{
	enum { START = 4, RANDOM = 16 };
	const size_t dash = id.length > RANDOM ? id.length - RANDOM - 1 : 0;
	size_t i;

	if (dash <= START || !rg_str_begins(id, "msg-") || id.data[dash] != '-')
		return false;
	for (i = START; i < id.length; i++)
		if (i != dash && !memchr(digits, id.data[i], i < dash ? 10 : 16))
			return false;
	return true;
}

bool rg_id_may_have(struct roger_str piece)
{
	size_t i;

	for (i = 0; i < piece.length; i++)
		if (!strchr("msg-0123456789abcdef", piece.data[i]))
			return false;
	return true;
}

uint64_t rg_hash(uint64_t key, const void *data, size_t length)
{
	unsigned char key_bytes[crypto_shorthash_KEYBYTES] = { 0 }, hash[crypto_shorthash_BYTES];
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < 8; i++)
		key_bytes[i] = (unsigned char)(key >> 8 * i);
	crypto_shorthash(hash, data, length, key_bytes);
	for (i = 8; i > 0; i--)
		value = value << 8 | hash[i - 1];
	return value;
}

uint64_t rg_hash_sha(uint64_t key, const void *data, size_t length)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;
	uint64_t value = htobe64(key);

	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const unsigned char *)&value, sizeof value);
	crypto_hash_sha256_update(&state, data, length);
	crypto_hash_sha256_final(&state, hash);
	memcpy(&value, hash, sizeof value);
	return be64toh(value);
}

void rg_sha256_hex(struct roger_str text, char to[65])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)text.data, text.length);
	sodium_bin2hex(to, 65, hash, sizeof hash);
}
