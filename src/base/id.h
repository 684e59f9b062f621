/*
 * id - random bytes and the identifiers made of them; short keyless hashes.
 */
#ifndef RG_ID_H
#define RG_ID_H

#include "base/str.h"

/* "msg-<ms>-<random>", seed 004: 13 digits and 16 hexadecimal ones. */
#define RG_MESSAGE_ID_BYTES_MAX 40

/* A pool of random bytes, as many as the system gives in one call, and how many are left. */
struct rg_id_source {
	unsigned char pool[256];
	size_t left;
};

/* A new message id at to (RG_MESSAGE_ID_BYTES_MAX); its length through ret_length. */
RG_CHECKED int rg_id_new(struct rg_id_source *source, int64_t now_ms, char *to, size_t *ret_length,
			 struct roger_err *err);

/* Is it an id as rg_id_new() makes them?  May one of these have this piece? */
bool rg_id_is_own(struct roger_str id);
bool rg_id_may_have(struct roger_str piece);

/* Unpredictable bytes, for a key; at most 256. */
RG_CHECKED int rg_random(void *to, size_t length, struct roger_err *err);

/* A client of a server keys each send, so that it can try again: where a sender gave no key, its
 * task is this and 32 hexadecimal digits, and says nothing. */
#define RG_KEY_OF_CLIENT "remote-"

/* SHA-256 of the text in 64 hexadecimal digits, and a NUL. */
void rg_sha256_hex(struct roger_str text, char to[65]);

/* SipHash-2-4 of the bytes under a key made from a number: quick, 64 bits, not secret. */
uint64_t rg_hash(uint64_t key, const void *data, size_t length);

/* The first 64 bits of the SHA-256 of the number (8 bytes, big-endian) followed by the bytes. */
uint64_t rg_hash_sha(uint64_t key, const void *data, size_t length);

#endif
