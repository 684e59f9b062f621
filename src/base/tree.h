/*
 * tree - one SHA-256 over many lines, by which each can be proved to be among them without the
 * others: the Merkle tree of RFC 6962.
 *
 * Lines come one by one and are not kept.  For cited lines the tree collects the proof: the
 * digests of the largest subtrees without a cited line, from left to right.  From these and the
 * cited lines anybody can compute the root.
 */
#ifndef RG_TREE_H
#define RG_TREE_H

#include "base/sign.h"

enum { RG_TREE_BYTES = 32, RG_TREE_LEVELS = 64 };

struct rg_tree_node {
	unsigned char digest[RG_TREE_BYTES];
	int64_t first, count; /* lines below it, from 1 */
	bool cited;	      /* one of its lines is cited */
};

struct rg_tree {
	struct rg_tree_node nodes[RG_TREE_LEVELS]; /* from the left, each larger than the next */
	size_t depth;
	int64_t count;
	struct rg_buf proof; /* of struct rg_tree_node */
};

void rg_tree_init(struct rg_tree *tree);
void rg_tree_deinit(struct rg_tree *tree);

/* Add the next line, in pieces: rg_tree_begin(), rg_sha256_add(), rg_tree_add(). */
void rg_tree_begin(struct rg_sha256 *sha);
void rg_tree_add(struct rg_tree *tree, const struct rg_sha256 *line, bool cited);

/* The root and the proof, as hex; nothing can be added afterwards. */
void rg_tree_end(struct rg_tree *tree, char root[RG_DIGEST_DIGITS + 1], struct rg_buf *proof);

#endif
