/*
 * sha256 - SHA-256 by the processor's own instructions, where it has them: a seal hashes each
 * journal twice, and libsodium's portable code was nine tenths of its time.
 */
#ifndef RG_SHA256_H
#define RG_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: this processor has none, and nothing below may be called. */
bool rg_sha256_is_built_in(void);

/* Go on from state, which is that of FIPS 180-4 in words, over blocks of 64 bytes. */
void rg_sha256_blocks(uint32_t state[8], const unsigned char *data, size_t count);

#endif
