/* lines - read a journal line by line; compute and check its chain. */
#ifndef RG_LINES_H
#define RG_LINES_H

#include "base/limits.h"
#include "base/sign.h"
#include "base/str.h"

struct rg_store;
struct rg_log_file;

struct rg_line {
	uint64_t offset;
	uint64_t length; /* without the newline */
	bool too_long;	 /* longer than RG_LINE_BYTES_MAX: text is empty */
	struct roger_str text;
};

/* A source of bytes: an open file, or a store's journal. */
struct rg_bytes {
	int (*read)(const struct rg_bytes *bytes, uint64_t from, char *room, size_t want,
		    size_t *ret_got, struct roger_err *err);
	int file;
	struct rg_store *store;
	const struct rg_log_file *journal;
};
struct rg_bytes rg_bytes_of_file(int file);
struct rg_bytes rg_bytes_of(struct rg_store *store, const struct rg_log_file *journal);

/* A reader; a line's text is valid until the next call. */
struct rg_lines {
	struct rg_bytes bytes;
	uint64_t at;  /* where the next line starts */
	uint64_t end; /* read up to here */
	struct rg_buf buffer;
	uint64_t buffer_at; /* offset in the source of the buffer's first byte */
};

void rg_lines_init(struct rg_lines *lines, const struct rg_bytes *bytes, uint64_t from,
		   uint64_t end);
/* A reader of a store's journal. */
struct rg_lines rg_lines_of(struct rg_store *store, const struct rg_log_file *journal,
			    uint64_t from, uint64_t end);
void rg_lines_deinit(struct rg_lines *lines);

/* The next whole line; *ret_found false at the end or before an unfinished line. */
RG_CHECKED int rg_lines_next(struct rg_lines *lines, struct rg_line *ret_line, bool *ret_found,
			     struct roger_err *err);

/* Put the last non-empty whole line of the first size bytes into out, without its newline. No such
 * line: out stays empty.  It, or what follows it, is longer than a line may be: out is "?". */
RG_CHECKED int rg_lines_last(const struct rg_bytes *bytes, uint64_t size, struct rg_buf *out,
			     struct roger_err *err);

/* Does the line look like one of roger's, by its beginning or by its end?  False for a torn line
 * that was closed off. */
bool rg_line_begins_own(struct roger_str line);
bool rg_line_ends_own(struct roger_str line);
bool rg_line_looks_own(struct roger_str line);
bool rg_line_is_torn(struct roger_str line);

/* ------------------------------------------------------------- chain -- */

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

/* ----------------------------------------------------------- digests -- */

/* Add the bytes from *at up to `to`, or as many as there are, and move *at. */
RG_CHECKED int rg_digest_add(struct rg_sha256 *sha, const struct rg_bytes *bytes, uint64_t *at,
			     uint64_t to, struct roger_err *err);

/* SHA-256 of bytes; false: there are fewer, or they cannot be read. */
bool rg_digest_bytes(const struct rg_bytes *source, int64_t from, int64_t bytes,
		     char to[RG_DIGEST_DIGITS + 1]);

#endif
