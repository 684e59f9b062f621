#include "base/sign.h"

#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "base/id.h"
#include "base/sha256.h"

enum { BLOCK_BYTES = 64 };

/* Ask the processor once: the question is slow in a virtual machine, where it traps. */
static bool is_built_in(void)
{
	static _Atomic int known; /* 0: not yet */
	int known_now = atomic_load_explicit(&known, memory_order_relaxed);

	if (!known_now) {
		known_now = rg_sha256_is_built_in() ? 1 : -1;
		atomic_store_explicit(&known, known_now, memory_order_relaxed);
	}
	return known_now > 0;
}

static crypto_hash_sha256_state *state_of(struct rg_sha256 *sha)
{
	_Static_assert(sizeof sha->state >= sizeof(crypto_hash_sha256_state), "room for it");
	return (crypto_hash_sha256_state *)(void *)sha->state;
}

void rg_sha256_init(struct rg_sha256 *sha)
{
	crypto_hash_sha256_init(state_of(sha));
}

/* Do as libsodium does, with its state: count is in bits, and buf holds an incomplete block. */
static void add_built_in(crypto_hash_sha256_state *state, const unsigned char *data, size_t length)
{
	const size_t kept = (size_t)(state->count >> 3) % BLOCK_BYTES;
	size_t taken = 0;

	state->count += (uint64_t)length << 3;
	if (kept) {
		taken = length < BLOCK_BYTES - kept ? length : BLOCK_BYTES - kept;
		memcpy(state->buf + kept, data, taken);
		if (kept + taken < BLOCK_BYTES)
			return;
		rg_sha256_blocks(state->state, state->buf, 1);
	}
	rg_sha256_blocks(state->state, data + taken, (length - taken) / BLOCK_BYTES);
	taken += (length - taken) / BLOCK_BYTES * BLOCK_BYTES;
	if (taken < length)
		memcpy(state->buf, data + taken, length - taken);
}

/* Append a one bit, zeros and the number of bits, which fill one block or two. */
static void end_built_in(crypto_hash_sha256_state *state, unsigned char to[32])
{
	const size_t kept = (size_t)(state->count >> 3) % BLOCK_BYTES,
		     size = kept < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;
	unsigned char last[2 * BLOCK_BYTES] = { 0 };
	size_t i;

	memcpy(last, state->buf, kept);
	last[kept] = 0x80;
	for (i = 0; i < 8; i++)
		last[size - 1 - i] = (unsigned char)(state->count >> 8 * i);
	rg_sha256_blocks(state->state, last, size / BLOCK_BYTES);
	for (i = 0; i < 32; i++)
		to[i] = (unsigned char)(state->state[i / 4] >> (24 - 8 * (i % 4)));
}

void rg_sha256_add(struct rg_sha256 *sha, const void *data, size_t length)
{
	if (is_built_in())
		add_built_in(state_of(sha), data, length);
	else
		crypto_hash_sha256_update(state_of(sha), data, length);
}

void rg_sha256_end(struct rg_sha256 *sha, unsigned char to[32])
{
	if (is_built_in())
		end_built_in(state_of(sha), to);
	else
		crypto_hash_sha256_final(state_of(sha), to);
}

void rg_hex(const unsigned char *bytes, size_t count, char *to)
{
	sodium_bin2hex(to, 2 * count + 1, bytes, count);
}

void rg_sha256_peek(const struct rg_sha256 *sha, char to[RG_DIGEST_DIGITS + 1])
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	struct rg_sha256 copy = *sha;

	rg_sha256_end(&copy, digest);
	rg_hex(digest, sizeof digest, to);
}

void rg_mac(const unsigned char secret[32], struct roger_str text, char to[RG_DIGEST_DIGITS + 1])
{
	unsigned char mac[crypto_auth_hmacsha256_BYTES];

	_Static_assert(crypto_auth_hmacsha256_KEYBYTES == 32, "the secret");
	crypto_auth_hmacsha256(mac, (const unsigned char *)text.data, text.length, secret);
	sodium_bin2hex(to, RG_DIGEST_DIGITS + 1, mac, sizeof mac);
}

bool rg_same_secret(struct roger_str a, struct roger_str b)
{
	return a.length == b.length && sodium_memcmp(a.data, b.data, a.length) == 0;
}

/* Read exactly `size` bytes of lower-case hex. */
static bool read_hex(struct roger_str text, unsigned char *to, size_t size)
{
	size_t length, i;

	for (i = 0; i < text.length; i++)
		if (text.data[i] >= 'A' && text.data[i] <= 'F')
			return false;
	return text.length == 2 * size &&
	       sodium_hex2bin(to, size, text.data, text.length, NULL, &length, NULL) == 0 &&
	       length == size;
}

static bool read_secret(struct roger_str secret, unsigned char key[crypto_sign_SECRETKEYBYTES],
			unsigned char public[crypto_sign_PUBLICKEYBYTES])
{
	unsigned char seed[crypto_sign_SEEDBYTES];
	bool good = read_hex(secret, seed, sizeof seed);

	if (good)
		crypto_sign_seed_keypair(public, key, seed);
	sodium_memzero(seed, sizeof seed);
	return good;
}

int rg_key_new(char secret[RG_KEY_DIGITS + 1], struct roger_err *err)
{
	unsigned char seed[crypto_sign_SEEDBYTES];
	int r = rg_random(seed, sizeof seed, err);

	if (r == ROGER_OK)
		sodium_bin2hex(secret, RG_KEY_DIGITS + 1, seed, sizeof seed);
	sodium_memzero(seed, sizeof seed);
	return r;
}

bool rg_key_public(struct roger_str secret, char to[RG_KEY_DIGITS + 1])
{
	unsigned char key[crypto_sign_SECRETKEYBYTES], public[crypto_sign_PUBLICKEYBYTES];
	bool good = read_secret(secret, key, public);

	if (good)
		sodium_bin2hex(to, RG_KEY_DIGITS + 1, public, sizeof public);
	sodium_memzero(key, sizeof key);
	return good;
}

bool rg_sign(struct roger_str text, struct roger_str secret, char to[RG_SIGNATURE_DIGITS + 1])
{
	unsigned char key[crypto_sign_SECRETKEYBYTES], public[crypto_sign_PUBLICKEYBYTES];
	unsigned char signature[crypto_sign_BYTES];
	bool good = read_secret(secret, key, public);

	if (good) {
		crypto_sign_detached(signature, NULL, (const unsigned char *)text.data, text.length,
				     key);
		sodium_bin2hex(to, RG_SIGNATURE_DIGITS + 1, signature, sizeof signature);
	}
	sodium_memzero(key, sizeof key);
	return good;
}

bool rg_sign_check(struct roger_str text, struct roger_str signature, struct roger_str public_key)
{
	unsigned char public[crypto_sign_PUBLICKEYBYTES], bytes[crypto_sign_BYTES];

	return read_hex(public_key, public, sizeof public) &&
	       read_hex(signature, bytes, sizeof bytes) &&
	       crypto_sign_verify_detached(bytes, (const unsigned char *)text.data, text.length,
					   public) == 0;
}
