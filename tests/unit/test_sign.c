/* What signing promises: the vectors of RFC 8032 and FIPS 180, and nothing but the right text, key
 * and signature goes together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/id.h"
#include "base/sign.h"

static void sha256_in_pieces(void **state)
{
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char digest[RG_DIGEST_DIGITS + 1], early[RG_DIGEST_DIGITS + 1];
	struct rg_sha256 sha;
	size_t i;

	(void)state;
	rg_sha256_init(&sha);
	rg_sha256_peek(&sha, early);
	assert_string_equal(early,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	for (i = 0; i < sizeof text - 1; i++) {
		if (i == 3)
			rg_sha256_peek(&sha, early);
		rg_sha256_add(&sha, text + i, 1);
	}
	rg_sha256_peek(&sha, digest);
	assert_string_equal(digest,
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	rg_sha256_peek(&sha, early);
	assert_string_equal(early, digest);
}

/* RFC 8032, 7.1, TEST 2. */
static const char secret[] = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
static const char public_key[] = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
static const char signature[] = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
				"085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

static void the_vector_of_the_rfc(void **state)
{
	char public[RG_KEY_DIGITS + 1], made[RG_SIGNATURE_DIGITS + 1];

	(void)state;
	assert_true(rg_key_public(rg_str(secret), public));
	assert_string_equal(public, public_key);
	assert_true(rg_sign(RG_STR("r"), rg_str(secret), made));
	assert_string_equal(made, signature);
	assert_true(rg_sign_check(RG_STR("r"), rg_str(signature), rg_str(public_key)));
}

static void nothing_else_goes_together(void **state)
{
	char other[sizeof signature];
	size_t i;

	(void)state;
	assert_false(rg_sign_check(RG_STR("s"), rg_str(signature), rg_str(public_key)));
	assert_false(rg_sign_check(RG_STR("r"), rg_str(signature), rg_str(secret)));
	assert_false(rg_sign_check(RG_STR("r"), RG_STR(""), rg_str(public_key)));
	assert_false(rg_sign_check(RG_STR("r"), rg_str(signature), RG_STR("")));
	for (i = 0; i < sizeof signature - 1; i++) {
		memcpy(other, signature, sizeof other);
		other[i] = other[i] == '0' ? '1' : '0';
		assert_false(rg_sign_check(RG_STR("r"), rg_str(other), rg_str(public_key)));
		/* Capitals would be a second way to write the same one. */
		other[i] = signature[i] >= 'a' ? (char)(signature[i] - 32) : 'G';
		assert_false(rg_sign_check(RG_STR("r"), rg_str(other), rg_str(public_key)));
	}
}

static void keys_are_new_each_time(void **state)
{
	char first[RG_KEY_DIGITS + 1], second[RG_KEY_DIGITS + 1], public[RG_KEY_DIGITS + 1];

	(void)state;
	assert_int_equal(rg_key_new(first, NULL), ROGER_OK);
	assert_int_equal(rg_key_new(second, NULL), ROGER_OK);
	assert_string_not_equal(first, second);
	assert_true(rg_key_public(rg_str(first), public));
	assert_false(rg_key_public(RG_STR("no key"), public));
}

/* Whoever computes it: of each length up to some blocks, in two pieces, as of the whole. */
static void sha256_of_each_length(void **state)
{
	char text[400], whole[RG_DIGEST_DIGITS + 1], pieces[RG_DIGEST_DIGITS + 1];
	struct rg_sha256 sha;
	size_t length, cut;

	(void)state;
	for (length = 0; length < sizeof text; length++)
		text[length] = (char)(length * 37 + length / 3);
	for (length = 0; length < sizeof text; length++) {
		rg_sha256_hex((struct roger_str){ text, length }, whole);
		for (cut = 0; cut <= length; cut += 1 + cut / 9) {
			rg_sha256_init(&sha);
			rg_sha256_add(&sha, text, cut);
			rg_sha256_add(&sha, text + cut, length - cut);
			rg_sha256_peek(&sha, pieces);
			assert_string_equal(pieces, whole);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_in_pieces),
		cmocka_unit_test(sha256_of_each_length),
		cmocka_unit_test(the_vector_of_the_rfc),
		cmocka_unit_test(nothing_else_goes_together),
		cmocka_unit_test(keys_are_new_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
