/* The tree: the roots of RFC 6962 that others compute, and proofs that lead to them from any
 * lines, and from no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/tree.h"

static void add(struct rg_tree *tree, struct roger_str line, bool cited)
{
	struct rg_sha256 sha;

	rg_tree_begin(&sha);
	rg_sha256_add(&sha, line.data, line.length);
	rg_tree_add(tree, &sha, cited);
}

/* Leaves and roots of the test vectors of Certificate Transparency. */
static void has_known_roots(void **state)
{
	static const struct roger_str leaves[] = {
		{ "", 0 },	   { "\x00", 1 },
		{ "\x10", 1 },	   { "\x20\x21", 2 },
		{ "\x30\x31", 2 }, { "\x40\x41\x42\x43", 4 },
		{ "PQRSTUVW", 8 }, { "`abcdefghijklmno", 16 },
	};
	static const char *const roots[] = {
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	};
	char root[RG_DIGEST_DIGITS + 1];
	struct rg_tree tree;
	struct rg_buf proof;
	size_t count, i;

	(void)state;
	for (count = 0; count <= 8; count++) {
		rg_buf_init(&proof, SIZE_MAX);
		rg_tree_init(&tree);
		for (i = 0; i < count; i++)
			add(&tree, leaves[i], false);
		rg_tree_end(&tree, root, &proof);
		assert_string_equal(root, roots[count]);
		rg_tree_deinit(&tree);
		rg_buf_deinit(&proof);
	}
}

/* ----------------------------------------------------------------- proofs -- */

struct proving {
	unsigned cited; /* a bit for each line */
	int changed;	/* the line that is another one, from 0 */
	struct roger_str proof;
	size_t at;
};

static void hash(int kind, const void *data, size_t length, const void *more, size_t more_length,
		 unsigned char to[32])
{
	struct rg_sha256 sha;
	char first = (char)kind;

	rg_sha256_init(&sha);
	rg_sha256_add(&sha, &first, 1);
	rg_sha256_add(&sha, data, length);
	rg_sha256_add(&sha, more, more_length);
	rg_sha256_end(&sha, to);
}

/* As FORMAT.md says it. */
static void root_of(struct proving *proving, unsigned first, unsigned count, unsigned char to[32])
{
	unsigned char left[32], right[32];
	unsigned half = 1, i;
	char line;

	if (!(proving->cited >> first & ((1U << count) - 1))) {
		assert_true(proving->at + 64 <= proving->proof.length);
		for (i = 0; i < 32; i++) {
			char pair[3] = { proving->proof.data[proving->at + 2 * i],
					 proving->proof.data[proving->at + 2 * i + 1], 0 };

			to[i] = (unsigned char)strtoul(pair, NULL, 16);
		}
		proving->at += 64;
	} else if (count == 1) {
		line = (char)('a' + first + (proving->changed == (int)first));
		hash(0, &line, 1, "", 0, to);
	} else {
		while (half * 2 < count)
			half *= 2;
		root_of(proving, first, half, left);
		root_of(proving, first + half, count - half, right);
		hash(1, left, 32, right, 32, to);
	}
}

static void prove(unsigned count, unsigned cited, int changed)
{
	struct proving proving = { .cited = cited, .changed = changed };
	char root[RG_DIGEST_DIGITS + 1], computed[RG_DIGEST_DIGITS + 1];
	unsigned char digest[32];
	struct rg_tree tree;
	struct rg_buf proof;
	unsigned i;
	char line;

	rg_buf_init(&proof, SIZE_MAX);
	rg_tree_init(&tree);
	for (i = 0; i < count; i++) {
		line = (char)('a' + i);
		add(&tree, (struct roger_str){ &line, 1 }, cited >> i & 1);
	}
	rg_tree_end(&tree, root, &proof);
	proving.proof = rg_buf_str(&proof);
	root_of(&proving, 0, count, digest);
	rg_hex(digest, sizeof digest, computed);
	assert_int_equal(proving.at, proof.length);
	if (changed < 0)
		assert_string_equal(root, computed);
	else
		assert_string_not_equal(root, computed);
	rg_tree_deinit(&tree);
	rg_buf_deinit(&proof);
}

static void proves_any_lines(void **state)
{
	unsigned count, cited;

	(void)state;
	for (count = 1; count <= 11; count++)
		for (cited = 0; cited < 1U << count; cited++)
			prove(count, cited, -1);
}

static void and_no_others(void **state)
{
	unsigned count;
	int i;

	(void)state;
	for (count = 1; count <= 11; count++)
		for (i = 0; i < (int)count; i++)
			prove(count, 1U << i | 1U << count / 2, i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_known_roots),
		cmocka_unit_test(proves_any_lines),
		cmocka_unit_test(and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
