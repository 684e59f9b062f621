/*
 * Any bytes as the text form of messages.  What is read has valid roles and
 * plain text, and printed it reads the same; any bytes as the text of one
 * message, printed, read as no more than that message.
 */
#include "base/limits.h"
#include "data/record.h"

#include "../tests/unit/rolelines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const struct rg_roleline *line)
{
	size_t chars;

	rg_assert(rg_name_valid(line->role));
	rg_assert(line->number >= 0 && line->number <= RG_SEQ_MAX);
	rg_assert(rg_utf8_count(line->text, &chars));
	rg_assert(!line->text.length || !memmem(line->text.data, line->text.length, "\r\n", 2));
}

static void check_error(const struct roger_err *err)
{
	rg_assert(!strncmp(err->message, "line ", 5) && !strchr(err->message, '\n'));
}

static void check_same(const struct rolelines *a, const struct rolelines *b)
{
	size_t i;

	rg_assert(a->count == b->count && b->skipped_bytes == 0);
	for (i = 0; i < a->count; i++) {
		rg_assert(rg_str_equal(a->items[i].role, b->items[i].role));
		rg_assert(a->items[i].number == b->items[i].number);
		rg_assert(rg_str_equal(a->items[i].text, b->items[i].text));
	}
}

static void check_read(struct roger_str text, struct rg_arena *arena)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf printed = { .maximum = SIZE_MAX };
	struct rolelines lines = { 0 }, again = { 0 };
	struct roger_err err;
	size_t i;
	int r;

	if (read_rolelines(text, arena, &lines, &err) < 0) {
		check_error(&err);
		return;
	}
	for (i = 0; i < lines.count; i++) {
		check_line(&lines.items[i]);
		rg_roleline_print(&lines.items[i], &printed);
	}
	r = read_rolelines(rg_buf_str(&printed), arena, &again, NULL);
	rg_assert(r == ROGER_OK);
	check_same(&lines, &again);
}

static void check_as_text(struct roger_str text, struct rg_arena *arena)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf printed = { .maximum = SIZE_MAX };
	struct rg_roleline line = { RG_STR("A"), 5, text };
	struct rolelines lines = { 0 };
	size_t chars;
	int r;

	if (!rg_utf8_count(text, &chars))
		return;
	rg_roleline_print(&line, &printed);
	r = read_rolelines(rg_buf_str(&printed), arena, &lines, NULL);
	rg_assert(r == ROGER_OK);
	rg_assert(lines.count == 1 && lines.skipped_bytes == 0);
	rg_assert(rg_str_is(lines.items[0].role, "A") && lines.items[0].number == 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str text = { (const char *)data, size };
	struct rg_arena *arena = rg_arena_new();

	rg_assert(arena);
	check_read(text, arena);
	check_as_text(text, arena);
	rg_arena_free(arena);
	return 0;
}
