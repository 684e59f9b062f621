/*
 * Any bytes as a journal: the reader finds the lines that a plain search for
 * newlines finds, the chain covers them whatever they hold, and a line that
 * is a message prints as one that reads back the same, field by field.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "store/chain.h"
#include "facts/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct read {
	struct rg_arena *arena;
	struct rg_json *json;
	struct roger_message message;
	bool good;
};

static struct read read_message(struct roger_str line)
{
	struct read read = { .arena = rg_arena_new() };

	read.good = rg_message_read(line, &read.json, read.arena, &read.message, NULL) == ROGER_OK;
	return read;
}

static void free_read(struct read *read)
{
	if (read->good)
		rg_json_free(read->json);
	rg_arena_free(read->arena);
}

static void print_message(const struct roger_message *message, struct rg_buf *out)
{
	size_t number_at;

	rg_message_print(message, out, &number_at);
	rg_buf_add_char(out, '}');
	rg_assert(!out->failed && !memchr(out->data, '\n', out->length));
}

static bool same_value(const struct roger_field *field, const void *a, const void *b)
{
	const void *x = rg_field_at(field, a), *y = rg_field_at(field, b);

	switch ((int)field->kind) {
	case ROGER_TEXT:
	case ROGER_NAME:
	case ROGER_OBJECT:
	case ROGER_MEMBERS:
		return rg_str_equal(*(const struct roger_str *)x, *(const struct roger_str *)y);
	case ROGER_BOOL:
		return *(const bool *)x == *(const bool *)y;
	case ROGER_ENUM:
		return *(const int *)x == *(const int *)y;
	case ROGER_TEXTS:
	case ROGER_RECORDS:
		rg_assert(!"a list in a message: compare it here");
	default:
		return *(const int64_t *)x == *(const int64_t *)y;
	}
}

/* Every field that is written; the journal adds the chain. */
static void check_same(const struct roger_message *a, const struct roger_message *b)
{
	const struct roger_field *field;

	for (field = rg_message_record.fields; field->name; field++)
		rg_assert(field->flags & ROGER_DERIVED || same_value(field, a, b));
}

/* Read, print, read: the same values.  Print again: the same bytes. */
static void check_message(struct roger_str line)
{
	struct read first = read_message(line), second;
	struct rg_buf once, twice;

	if (first.good) {
		rg_buf_init(&once, SIZE_MAX);
		rg_buf_init(&twice, SIZE_MAX);
		print_message(&first.message, &once);
		second = read_message(rg_buf_str(&once));
		rg_assert(second.good);
		check_same(&first.message, &second.message);
		print_message(&second.message, &twice);
		rg_assert(rg_str_equal(rg_buf_str(&once), rg_buf_str(&twice)));
		free_read(&second);
		rg_buf_deinit(&twice);
		rg_buf_deinit(&once);
	}
	free_read(&first);
}

static void check_line(int file, const struct rg_line *line, const char *text, size_t start,
		       size_t size, struct rg_chain *chain)
{
	const char *newline = memchr(text + start, '\n', size - start);
	const struct rg_bytes bytes = rg_bytes_of_file(file);
	bool own;

	rg_assert(newline && line->offset == start &&
		  line->length == (size_t)(newline - text) - start);
	rg_assert(line->too_long || memcmp(line->text.data, text + start, line->length) == 0);
	rg_assert(rg_chain_step(&bytes, line, chain, &own, NULL) == ROGER_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("journal", 0);
	struct rg_chain chain = { 0 };
	struct rg_bytes bytes;
	struct rg_lines lines;
	struct rg_line line;
	size_t start = 0;
	bool found;

	rg_assert(file >= 0 && write(file, data, size) == (ssize_t)size);
	bytes = rg_bytes_of_file(file);
	rg_lines_init(&lines, &bytes, 0, size);
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
