/*
 * lines - reading a journal line by line, and the chain that runs through it.
 */
#ifndef RG_LINES_H
#define RG_LINES_H

#include "base/limits.h"
#include "base/str.h"

struct rg_store;
struct rg_log_file;

struct rg_line {
	uint64_t offset;
	uint64_t length; /* without the newline */
	bool too_long;	 /* longer than RG_LINE_BYTES_MAX: text is empty */
	struct roger_str text;
};

/* Where bytes come from: an open file, or what a store has. */
struct rg_bytes {
	int (*read)(const struct rg_bytes *bytes, uint64_t from, char *room, size_t want,
		    size_t *ret_got, struct roger_err *err);
	int file;
	struct rg_store *store;
	const struct rg_log_file *journal;
};
struct rg_bytes rg_bytes_of_file(int file);
struct rg_bytes rg_bytes_of(struct rg_store *store, const struct rg_log_file *journal);

/* A reader; text of a line is borrowed until the next call. */
struct rg_lines {
	struct rg_bytes bytes;
	uint64_t at;  /* where the next line starts */
	uint64_t end; /* read no further */
	struct rg_buf buffer;
	uint64_t buffer_at; /* of the file's bytes, where buffer starts */
};

void rg_lines_init(struct rg_lines *lines, const struct rg_bytes *bytes, uint64_t from,
		   uint64_t end);
void rg_lines_deinit(struct rg_lines *lines);

/* The next whole line; *ret_found false at the end, or before an unfinished line. */
RG_CHECKED int rg_lines_next(struct rg_lines *lines, struct rg_line *ret_line, bool *ret_found,
			     struct roger_err *err);

/*
 * The last whole line of that many bytes that is not empty, without its newline, into out, which
 * stays empty where there is none; "?" stands for one that is too long to be read.
 */
RG_CHECKED int rg_lines_last(const struct rg_bytes *bytes, uint64_t size, struct rg_buf *out,
			     struct roger_err *err);

/* Is it a line that roger wrote, as far as it looks?  By its beginning, or its end; one that was
 * torn, and closed off, is none. */
bool rg_line_begins_own(struct roger_str line);
bool rg_line_ends_own(struct roger_str line);
bool rg_line_looks_own(struct roger_str line);
bool rg_line_is_torn(struct roger_str line);

/* ------------------------------------------------------------- chain -- */

/* ,"chain":"0123456789abcdef"} */
enum { RG_CHAIN_PIECE = 64 << 10, RG_CHAIN_BYTES = 28 };

/* The chain behind a line that carries none of its own; text includes its newline. */
uint64_t rg_chain_over(uint64_t chain, struct roger_str text);

/* The same for bytes from..to. */
RG_CHECKED int rg_chain_over_bytes(const struct rg_bytes *bytes, uint64_t from, uint64_t to,
				   uint64_t *chain, struct roger_err *err);

/* The chain member at the end of a line: its value, and the text before it. */
bool rg_chain_split(struct roger_str line, uint64_t *ret_chain, struct roger_str *ret_body);

/* Write the member, and the brace that closes the line. */
void rg_chain_print(uint64_t chain, struct rg_buf *out);

/* Add JSON objects with a newline after each, chained; the chain goes on in *chain. */
void rg_chain_add_entries(struct roger_str entries, uint64_t *chain, struct rg_buf *out);

/* Add a line, without its newline, that is kept: one that had a chain gets its new one; any other
 * stays as it is, and is covered. */
void rg_chain_keep_line(struct roger_str line, uint64_t *chain, struct rg_buf *out);

/*
 * The chain while reading.  A line whose stated chain does not fit leaves a
 * doubt: another program copied it (then the chain ran on over it), or it was
 * damaged (then the chain went on from what it states).  The next line tells.
 */
struct rg_chain {
	uint64_t value;
	bool doubt;
	uint64_t other; /* while in doubt: had the chain gone on from the stated one */
};

/* Go over a line; *ret_own: it carries a chain and that fits. */
RG_CHECKED int rg_chain_step(const struct rg_bytes *bytes, const struct rg_line *line,
			     struct rg_chain *chain, bool *ret_own, struct roger_err *err);

#endif
