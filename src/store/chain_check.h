/*
 * chain_check - following the chain of a journal, and placing what does not fit.
 *
 * A line whose stated chain does not fit leaves a doubt that the next chained
 * line settles.  Three ways of going on are followed meanwhile: over the whole
 * line (its writer took the chain from elsewhere, and we went on over it),
 * from what it states (the line was altered, its chain was not), and from what
 * it should state (only its chain was altered).
 */
#ifndef RG_CHAIN_CHECK_H
#define RG_CHAIN_CHECK_H

#include "base/table.h"
#include "store/lines.h"

/* A line in doubt. */
struct rg_chain_doubt {
	bool open;
	int64_t line;
	uint64_t byte;
	uint64_t as_stated;   /* the chain, had the line been altered */
	uint64_t as_computed; /* had only its chain been */
	bool copied;	      /* an earlier line states the same chain */
	bool slipped;	      /* it fits once the foreign lines before it are left out */
	int64_t foreign_line; /* the first of them; 0: none */
	uint64_t foreign_byte;
};

struct rg_chain_check {
	struct rg_bytes bytes;
	int64_t lines; /* gone over */
	int64_t chained;
	uint64_t chain;	      /* over everything, as a writer would have it */
	struct rg_table seen; /* all chains that lines state, to know a copied one; */
	bool looks_back;      /* from the first line in doubt on */
	uint64_t own_chain;   /* behind the last line that carries its own */
	int64_t foreign_line; /* first line since then without one; 0: none */
	uint64_t foreign_byte;
	struct rg_chain_doubt doubt;
};

/* What a line brought to light; line 0: nothing. */
struct rg_chain_finding {
	bool damage; /* else another program's doing, and harmless */
	int64_t line;
	int64_t from; /* the first of the lines that it may be instead; 0: it is this one */
	uint64_t byte;
	char what[120];
};

void rg_chain_check_init(struct rg_chain_check *check, const struct rg_bytes *bytes);
void rg_chain_check_deinit(struct rg_chain_check *check);

/* Go over the next line; *ret_own: it carries a chain that fits, so roger wrote it. */
RG_CHECKED int rg_chain_check_line(struct rg_chain_check *check, const struct rg_line *line,
				   bool *ret_own, struct rg_chain_finding *ret_finding,
				   struct roger_err *err);

/* There is no further line. */
void rg_chain_check_end(struct rg_chain_check *check, struct rg_chain_finding *ret_finding);

#endif
