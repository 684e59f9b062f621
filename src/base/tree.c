#include "base/tree.h"

#include <stdlib.h>

void rg_tree_init(struct rg_tree *tree)
{
	memset(tree, 0, sizeof *tree);
	rg_buf_init(&tree->proof, SIZE_MAX);
}

void rg_tree_deinit(struct rg_tree *tree)
{
	rg_buf_deinit(&tree->proof);
}

void rg_tree_begin(struct rg_sha256 *sha)
{
	rg_sha256_init(sha);
	rg_sha256_add(sha, "\0", 1);
}

static void add_proof(struct rg_tree *tree, const struct rg_tree_node *node)
{
	rg_buf_add(&tree->proof, node, sizeof *node);
}

/* Replace the last two nodes by their parent. */
static void join_last_two(struct rg_tree *tree)
{
	struct rg_tree_node *left = &tree->nodes[tree->depth - 2], *right = left + 1;
	struct rg_sha256 sha;

	rg_assert(tree->depth > 1);
	if (left->cited != right->cited)
		add_proof(tree, left->cited ? right : left);
	rg_sha256_init(&sha);
	rg_sha256_add(&sha, "\1", 1);
	rg_sha256_add(&sha, left->digest, sizeof left->digest);
	rg_sha256_add(&sha, right->digest, sizeof right->digest);
	rg_sha256_end(&sha, left->digest);
	left->count += right->count;
	left->cited |= right->cited;
	tree->depth--;
}

void rg_tree_add(struct rg_tree *tree, const struct rg_sha256 *line, bool cited)
{
	struct rg_tree_node *node = &tree->nodes[tree->depth++];
	struct rg_sha256 sha = *line;

	rg_assert(tree->depth <= RG_TREE_LEVELS);
	*node = (struct rg_tree_node){ .first = ++tree->count, .count = 1, .cited = cited };
	rg_sha256_end(&sha, node->digest);
	while (tree->depth > 1 &&
	       tree->nodes[tree->depth - 2].count == tree->nodes[tree->depth - 1].count)
		join_last_two(tree);
}

static int compare_nodes(const void *a, const void *b)
{
	const struct rg_tree_node *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

void rg_tree_end(struct rg_tree *tree, char root[RG_DIGEST_DIGITS + 1], struct rg_buf *proof)
{
	struct rg_tree_node *nodes;
	char digits[RG_DIGEST_DIGITS + 1];
	struct rg_sha256 sha;
	size_t count, i;

	while (tree->depth > 1)
		join_last_two(tree);
	rg_sha256_init(&sha);
	if (!tree->depth)
		rg_sha256_end(&sha, tree->nodes[0].digest);
	if (!tree->nodes[0].cited)
		add_proof(tree, &tree->nodes[0]);
	rg_hex(tree->nodes[0].digest, sizeof tree->nodes[0].digest, root);
	nodes = (void *)tree->proof.data;
	count = tree->proof.failed ? 0 : tree->proof.length / sizeof *nodes;
	if (count)
		qsort(nodes, count, sizeof *nodes, compare_nodes);
	for (i = 0; i < count; i++) {
		rg_hex(nodes[i].digest, sizeof nodes[i].digest, digits);
		rg_buf_add(proof, digits, RG_DIGEST_DIGITS);
	}
	proof->failed |= tree->proof.failed;
}
