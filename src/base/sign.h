/*
 * sign - SHA-256 of data that comes in pieces, and Ed25519 signatures.
 *
 * Keys, digests and signatures are lower-case hex.
 */
#ifndef RG_SIGN_H
#define RG_SIGN_H

#include "base/str.h"

enum { RG_DIGEST_DIGITS = 64, RG_KEY_DIGITS = 64, RG_SIGNATURE_DIGITS = 128 };

struct rg_sha256 {
	uint64_t state[14];
};

void rg_sha256_init(struct rg_sha256 *sha);
void rg_sha256_add(struct rg_sha256 *sha, const void *data, size_t length);

/* The digest of what was added so far; more may be added. */
void rg_sha256_peek(const struct rg_sha256 *sha, char to[RG_DIGEST_DIGITS + 1]);

/* The digest as 32 bytes; nothing may be added afterwards. */
void rg_sha256_end(struct rg_sha256 *sha, unsigned char to[32]);

/* Bytes as lower-case hex at to, which has room for two digits each and a NUL. */
void rg_hex(const unsigned char *bytes, size_t count, char *to);

/* HMAC-SHA-256 of the text under a secret of 32 bytes, as hex. */
void rg_mac(const unsigned char secret[32], struct roger_str text, char to[RG_DIGEST_DIGITS + 1]);

/* Are the texts equal?  Compared in constant time. */
bool rg_same_secret(struct roger_str a, struct roger_str b);

/* A new secret key, and the public key of a secret one; false: not a valid key. */
RG_CHECKED int rg_key_new(char secret[RG_KEY_DIGITS + 1], struct roger_err *err);
bool rg_key_public(struct roger_str secret, char to[RG_KEY_DIGITS + 1]);

/* Sign a text; false: secret is not a valid key. */
bool rg_sign(struct roger_str text, struct roger_str secret, char to[RG_SIGNATURE_DIGITS + 1]);

/* Did the owner of this key sign the text? */
bool rg_sign_check(struct roger_str text, struct roger_str signature, struct roger_str public_key);

#endif
