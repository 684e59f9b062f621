/*
 * Any bytes as a journal: the reader finds the lines that a plain search for
 * newlines finds, the chain goes over them whatever they hold, and a line that
 * is a message prints as one that reads back the same.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "store/lines.h"
#include "systems/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_message(struct roger_str line, struct rg_buf *out)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	struct rg_json *json;
	size_t number_at;

	rg_buf_clear(out);
	if (rg_message_read(line, &json, arena, &message, NULL) == ROGER_OK) {
		rg_message_print(&message, out, &number_at);
		rg_buf_add_char(out, '}');
		rg_json_free(json);
	}
	rg_arena_free(arena);
}

static void check_message(struct roger_str line)
{
	struct rg_buf once, twice;

	rg_buf_init(&once, SIZE_MAX);
	rg_buf_init(&twice, SIZE_MAX);
	print_message(line, &once);
	if (once.length) {
		print_message(rg_buf_str(&once), &twice);
		rg_assert(rg_str_equal(rg_buf_str(&once), rg_buf_str(&twice)));
		rg_assert(!memchr(once.data, '\n', once.length));
	}
	rg_buf_deinit(&once);
	rg_buf_deinit(&twice);
}

static void check_line(int file, const struct rg_line *line, const char *bytes, size_t start,
		       size_t size, struct rg_chain *chain)
{
	const char *newline = memchr(bytes + start, '\n', size - start);
	bool own;

	rg_assert(newline && line->offset == start &&
		  line->length == (size_t)(newline - bytes) - start);
	rg_assert(line->too_long || memcmp(line->text.data, bytes + start, line->length) == 0);
	rg_assert(rg_chain_step(file, line, chain, &own, NULL) == ROGER_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("journal", 0);
	struct rg_chain chain = { 0 };
	struct rg_lines lines;
	struct rg_line line;
	size_t start = 0;
	bool found;

	rg_assert(file >= 0 && write(file, data, size) == (ssize_t)size);
	rg_lines_init(&lines, file, 0, size);
	while (rg_lines_next(&lines, &line, &found, NULL) == ROGER_OK && found) {
		check_line(file, &line, (const char *)data, start, size, &chain);
		check_message(line.text);
		start += line.length + 1;
	}
	rg_assert(start == size || !memchr(data + start, '\n', size - start));
	rg_lines_deinit(&lines);
	close(file);
	return 0;
}
