/*
 * sha256 - SHA-256 by the processor's own instructions, where it has them: a seal hashes each
 * journal twice, and libsodium's portable code was nine tenths of its time.
 */
#ifndef RG_SHA256_H
#define RG_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: this processor has no such instructions, and rg_sha256_blocks() must not be called. */
bool rg_sha256_is_built_in(void);

/* Hash count blocks of 64 bytes into state, which holds the words of FIPS 180-4. */
void rg_sha256_blocks(uint32_t state[8], const unsigned char *data, size_t count);

#endif
