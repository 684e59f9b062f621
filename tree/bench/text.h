/*
 * text - messages to measure with: pseudo-random words, lines and rows.
 *
 * The same number always gives the same row, so that everything measured on
 * many messages is measured on the same ones.
 */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_text;

struct bench_text *bench_text_new(uint64_t seed);

/* Another piece of so many bytes, at most 64 KiB; nothing in it needs an escape. */
const char *bench_text_next(struct bench_text *text, size_t length);

uint64_t bench_random(uint64_t *state);

/* ---------------------------------------------------------------- lines -- */

/* A line as a sender's message would stand in a journal, always of one length. */
struct bench_line {
	struct bench_text *text;
	char *data; /* ends in a newline */
	size_t length;
	size_t content_at;
	size_t content_bytes;
};

void bench_line_init(struct bench_line *line, unsigned lane, size_t line_bytes);

/* Put other content into it. */
void bench_line_renew(struct bench_line *line);

/* ----------------------------------------------------------------- rows -- */

enum { BENCH_ISSUES = 1000, BENCH_AGENTS = 20 };

/* One message of a large workspace; one in twenty is unread. */
struct bench_row {
	char id[32];
	const char *issue;
	const char *from;
	const char *to;
	const char *type;
	const char *content;
	size_t content_bytes;
	bool read;
	int64_t created_at_ms;
	int64_t read_at_ms;
	int64_t seq;
};

struct bench_rows;

struct bench_rows *bench_rows_new(void);

/* The next row; what it points to stays. */
void bench_rows_next(struct bench_rows *rows, struct bench_row *ret_row);

#endif
