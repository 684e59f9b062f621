/*
 * chain_check - follow the chain of a journal and locate lines that do not fit it.
 *
 * A line whose stated chain does not fit is in doubt; the next chained line
 * decides. Until then four continuations are computed: over the whole line (its
 * writer took the chain from elsewhere, and roger continued over it), from the
 * chain it states (the line was altered, its chain was not), from the chain it
 * should state (only the chain was altered), and from the chain before it (it was put in).
 */
#ifndef RG_CHAIN_CHECK_H
#define RG_CHAIN_CHECK_H

#include "base/table.h"
#include "store/chain.h"

/* A line in doubt. */
struct rg_chain_doubt {
	bool open;
	int64_t line;
	uint64_t byte;
	uint64_t as_before;   /* the chain if the line was put in */
	uint64_t as_stated;   /* the chain if the line was altered */
	uint64_t as_computed; /* the chain if only its chain was altered */
	bool copied;	      /* an earlier line states the same chain */
	int64_t first_copy;   /* first of the copied lines in a row; 0: this one */
	bool follows;	      /* its chain fits the copied line before it */
	bool slipped;	      /* its chain fits without the foreign lines before it */
	int64_t foreign_line; /* the first of these; 0: none */
	uint64_t foreign_byte;
};

struct rg_chain_check {
	struct rg_bytes bytes;
	int64_t lines; /* lines read */
	int64_t chained;
	uint64_t chain;	      /* over all lines, as a writer computes it */
	struct rg_table seen; /* every chain stated so far, to detect copies */
	bool looks_back;      /* collect into seen; set at the first line in doubt */
	bool sha;	      /* the last chain was one of SHA-256 */
	uint64_t own_chain;   /* after the last line with a chain of its own */
	int64_t foreign_line; /* first line without a chain since then; 0: none */
	uint64_t foreign_byte;
	struct rg_chain_doubt doubt;
};

/* A fault of a line; line 0: none. */
struct rg_chain_finding {
	bool damage; /* false: another program's line, harmless */
	int64_t line;
	int64_t from; /* first of the lines that may be the bad one; 0: only this one */
	uint64_t byte;
	char what[120];
};

void rg_chain_check_init(struct rg_chain_check *check, const struct rg_bytes *bytes);
void rg_chain_check_deinit(struct rg_chain_check *check);

/* Check the next line.  *ret_own: its chain fits, so roger wrote it. */
RG_CHECKED int rg_chain_check_line(struct rg_chain_check *check, const struct rg_line *line,
				   bool *ret_own, struct rg_chain_finding *ret_finding,
				   struct roger_err *err);

/* Report the line that is still in doubt at the end. */
void rg_chain_check_end(struct rg_chain_check *check, struct rg_chain_finding *ret_finding);

#endif
