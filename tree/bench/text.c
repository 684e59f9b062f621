#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"

enum { OFFSETS = 1 << 16, BLOCK_BYTES = 2 * OFFSETS };

struct bench_text {
	uint64_t state;
	char block[BLOCK_BYTES];
};

/* splitmix64 */
uint64_t bench_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

struct bench_text *bench_text_new(uint64_t seed)
{
	static const char letters[] =
		"etaoinshrdlcumwfgypbvkjxqz  ETAOINSHRDLCUMWFGYPBVKJXQZ 0123456789";
	struct bench_text *text = malloc(sizeof *text);
	size_t i;

	if (!text)
		bench_die("out of memory");
	text->state = seed;
	for (i = 0; i < BLOCK_BYTES; i++)
		text->block[i] = letters[bench_random(&text->state) % (sizeof letters - 1)];
	return text;
}

const char *bench_text_next(struct bench_text *text, size_t length)
{
	if (length > BLOCK_BYTES - OFFSETS)
		bench_die("a piece of text of %zu bytes is too long", length);
	return text->block + bench_random(&text->state) % OFFSETS;
}

/* ---------------------------------------------------------------- lines -- */

void bench_line_init(struct bench_line *line, unsigned lane, size_t line_bytes)
{
	static const char tail[] =
		"\",\"metadata\":null,\"read\":false,\"created_at\":1736328000000,"
		"\"read_at\":null,\"seq\":1000,\"epoch\":1,\"chain\":\"24a70b5d4ad861b8\"}\n";
	char head[256];
	int head_bytes;

	head_bytes =
		snprintf(head, sizeof head,
			 "{\"id\":\"msg-1736328000000-c599c54bfd86c896\",\"issue_id\":\"issue-%u\","
			 "\"from_phase\":\"w%u\",\"to_phase\":\"r%u\",\"run_counter\":1,"
			 "\"message_type\":\"context\",\"content\":\"",
			 lane, lane, lane);
	if (line_bytes < (size_t)head_bytes + sizeof tail)
		bench_die("a line has more than %zu bytes", line_bytes);

	line->text = bench_text_new(lane + 1);
	line->data = malloc(line_bytes + 1);
	if (!line->data)
		bench_die("out of memory");
	line->length = line_bytes;
	line->content_at = (size_t)head_bytes;
	line->content_bytes = line_bytes - (size_t)head_bytes - (sizeof tail - 1);
	memcpy(line->data, head, (size_t)head_bytes);
	memcpy(line->data + line->content_at + line->content_bytes, tail, sizeof tail);
	bench_line_renew(line);
}

void bench_line_renew(struct bench_line *line)
{
	memcpy(line->data + line->content_at, bench_text_next(line->text, line->content_bytes),
	       line->content_bytes);
}

/* ----------------------------------------------------------------- rows -- */

enum { ROW_CONTENT_BYTES = 150, ROW_STEP_MS = 20 };

struct bench_rows {
	struct bench_text *text;
	uint64_t state;
	int64_t now_ms;
	int64_t seq[BENCH_AGENTS];
	char issues[BENCH_ISSUES][16];
	char agents[BENCH_AGENTS][16];
};

struct bench_rows *bench_rows_new(void)
{
	struct bench_rows *rows = calloc(1, sizeof *rows);
	int i;

	if (!rows)
		bench_die("out of memory");
	rows->text = bench_text_new(0);
	rows->now_ms = 1760000000000;
	for (i = 0; i < BENCH_ISSUES; i++)
		snprintf(rows->issues[i], sizeof rows->issues[i], "project-%d", i);
	for (i = 0; i < BENCH_AGENTS; i++)
		snprintf(rows->agents[i], sizeof rows->agents[i], "agent-%d", i);
	return rows;
}

/* msg-<ms>-<random> */
static void make_id(struct bench_rows *rows, char *id)
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	uint64_t bits = bench_random(&rows->state);
	int64_t ms = rows->now_ms;
	int i;

	memcpy(id, "msg-0000000000000-000000000000", 31);
	for (i = 16; i >= 4; i--, ms /= 10)
		id[i] = (char)('0' + ms % 10);
	for (i = 18; i < 30; i++, bits >>= 5)
		id[i] = digits[bits & 31];
}

void bench_rows_next(struct bench_rows *rows, struct bench_row *ret_row)
{
	static const char *const types[] = { "context", "result", "decision", "data" };
	uint64_t dice = bench_random(&rows->state);
	size_t from = dice % BENCH_AGENTS;
	size_t to = (from + 1 + (dice >> 8) % (BENCH_AGENTS - 1)) % BENCH_AGENTS;

	rows->now_ms += ROW_STEP_MS;
	make_id(rows, ret_row->id);
	ret_row->issue = rows->issues[(dice >> 16) % BENCH_ISSUES];
	ret_row->from = rows->agents[from];
	ret_row->to = rows->agents[to];
	ret_row->type = types[(dice >> 32) % 4];
	ret_row->content_bytes = ROW_CONTENT_BYTES;
	ret_row->content = bench_text_next(rows->text, ROW_CONTENT_BYTES);
	ret_row->read = (dice >> 40) % 20 != 0;
	ret_row->created_at_ms = rows->now_ms;
	ret_row->read_at_ms = ret_row->read ? rows->now_ms + 60000 : 0;
	ret_row->seq = ++rows->seq[from];
}
