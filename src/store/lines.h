/* lines - read a journal line by line. */
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
/* Fail, since the source ended before bytes that were there. */
RG_CHECKED int rg_bytes_fail_short(const struct rg_bytes *bytes, struct roger_err *err);
/* Add that many of its bytes to out; it is an error if there are fewer. */
RG_CHECKED int rg_bytes_add(const struct rg_bytes *bytes, uint64_t from, size_t want,
			    struct rg_buf *out, struct roger_err *err);

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

/* ----------------------------------------------------------- digests -- */

/* Add the bytes from *at up to `to`, or as many as there are, and move *at. */
RG_CHECKED int rg_digest_add(struct rg_sha256 *sha, const struct rg_bytes *bytes, uint64_t *at,
			     uint64_t to, struct roger_err *err);

/* SHA-256 of bytes; false: there are fewer, or they cannot be read. */
bool rg_digest_bytes(const struct rg_bytes *source, int64_t from, int64_t bytes,
		     char to[RG_DIGEST_DIGITS + 1]);

#endif
