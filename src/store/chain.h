/*
 * chain - the number at the end of each of roger's lines, over that line and all before it: what
 * somebody changed, took out or put in shows.
 */
#ifndef RG_CHAIN_H
#define RG_CHAIN_H

#include "store/lines.h"

/* Bytes of `,"chain":"0123456789abcdef"}`; pieces are read 64 KiB at a time. */
enum { RG_CHAIN_PIECE = 64 << 10, RG_CHAIN_BYTES = 28 };

/* The chain after text that has no chain of its own.  text includes its newline. */
uint64_t rg_chain_over(uint64_t chain, struct roger_str text);

/* Like rg_chain_over(), but from SHA-256, as a database computes it, which has no SipHash. */
uint64_t rg_chain_over_sha(uint64_t chain, struct roger_str text);

/* Does a line with this body, after this chain, state the right chain, of either kind? */
bool rg_chain_fits(uint64_t chain, struct roger_str body, uint64_t stated);

/* Like rg_chain_over(), for bytes from..to; *chain is read and updated. */
RG_CHECKED int rg_chain_over_bytes(const struct rg_bytes *bytes, uint64_t from, uint64_t to,
				   uint64_t *chain, struct roger_err *err);

/* Like rg_chain_over(), for a whole line, its newline included. */
RG_CHECKED int rg_chain_over_line(const struct rg_bytes *bytes, const struct rg_line *line,
				  uint64_t *chain, struct roger_err *err);

/* Split a line into its chain and the text before the chain; false: it has none. */
bool rg_chain_split(struct roger_str line, uint64_t *ret_chain, struct roger_str *ret_body);

/* The last chain that the lines of text state, and the end of its line.  The first line may lack
 * its beginning; what follows the last newline does not count. */
bool rg_chain_find_last(struct roger_str text, uint64_t *ret_chain, size_t *ret_end);

/* The chain after whole lines, from the chain before them. */
void rg_chain_follow(struct roger_str lines, uint64_t *chain);

/* Write the chain member and the line's closing brace. */
void rg_chain_print(uint64_t chain, struct rg_buf *out);

/* Add JSON objects, each followed by a newline, as chained lines; updates *chain. */
void rg_chain_add_entries(struct roger_str entries, uint64_t *chain, struct rg_buf *out);

/* Add an existing line, given without its newline: a chained one gets a new chain, any other is
 * added as it is and covered by the next chain. */
void rg_chain_keep_line(struct roger_str line, uint64_t *chain, struct rg_buf *out);

/*
 * The chain while reading.  A line whose stated chain does not fit is in doubt: either another
 * program copied it (then the chain runs over the whole line) or it was damaged (then the chain
 * continues from what it states, or, where the line was put in, from before it).  The next line
 * decides.
 */
struct rg_chain {
	uint64_t value;
	bool doubt;
	uint64_t other;	 /* in doubt: the chain if it continued from the stated one */
	uint64_t before; /* and from before the line, and those in doubt before it */
	bool damaged;	 /* the line that was in doubt before this one was damaged */
	bool unsure;	 /* rg_chain_find() gave the value, which may be that of a copied line */
};

/* The chain at byte `at`, from the last line before it that states one. */
RG_CHECKED int rg_chain_find(const struct rg_bytes *bytes, uint64_t at, struct rg_chain *ret_chain,
			     struct roger_err *err);

/* Read one line.  *ret_own: its chain fits, so roger wrote it. */
RG_CHECKED int rg_chain_step(const struct rg_bytes *bytes, const struct rg_line *line,
			     struct rg_chain *chain, bool *ret_own, struct roger_err *err);

/* The chain at byte `at`, as if all lines before had been read: it looks behind copies. */
RG_CHECKED int rg_chain_before(const struct rg_bytes *bytes, uint64_t at,
			       struct rg_chain *ret_chain, struct roger_err *err);

/* The chain after the whole lines from..to; *chain is read and updated. */
RG_CHECKED int rg_chain_over_lines(const struct rg_bytes *bytes, uint64_t from, uint64_t to,
				   uint64_t *chain, struct roger_err *err);

#endif
