#include "base/sha256.h"

#include "base/err.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

/* The constants of FIPS 180-4, 4.2.2. */
static const uint32_t constants[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

bool rg_sha256_is_built_in(void)
{
	unsigned a, b = 0, c = 0, d;

	/* SSSE3, SSE4.1, and the SHA extensions. */
	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSSE3 && c & bit_SSE4_1 &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & (1U << 29);
}

/* The instructions want the state's words in the order A B E F and C D G H. */
__attribute__((target("sha,ssse3,sse4.1"))) void rg_sha256_blocks(uint32_t state[8],
								  const unsigned char *data,
								  size_t count)
{
	const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i *const to = (__m128i *)(void *)state;
	__m128i low = _mm_shuffle_epi32(_mm_loadu_si128(to), 0xb1),
		high = _mm_shuffle_epi32(_mm_loadu_si128(to + 1), 0x1b),
		abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0),
		words[4], sum, next;
	int i;

	for (; count > 0; count--, data += 64) {
		const __m128i abef_before = abef, cdgh_before = cdgh;

		for (i = 0; i < 4; i++)
			words[i] = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)),
				order);
		for (i = 0; i < 16; i++) {
			sum = _mm_add_epi32(
				words[i % 4],
				_mm_load_si128((const __m128i *)(const void *)constants + i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
			if (i >= 12)
				continue;
			/* Compute the four schedule words that are needed four steps from here. */
			next = _mm_add_epi32(
				_mm_sha256msg1_epu32(words[i % 4], words[(i + 1) % 4]),
				_mm_alignr_epi8(words[(i + 3) % 4], words[(i + 2) % 4], 4));
			words[i % 4] = _mm_sha256msg2_epu32(next, words[(i + 3) % 4]);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	low = _mm_shuffle_epi32(abef, 0x1b);
	high = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128(to, _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128(to + 1, _mm_alignr_epi8(high, low, 8));
}

#else

bool rg_sha256_is_built_in(void)
{
	return false;
}

void rg_sha256_blocks(uint32_t state[8], const unsigned char *data, size_t count)
{
	(void)state;
	(void)data;
	(void)count;
	rg_assert(false);
}

#endif
