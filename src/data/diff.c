#include "data/diff.h"

#include <stdlib.h>

#include "base/arena.h"

/* With more pairs of lines than this, the difference is shown as one piece. */
enum { PAIRS_MAX = 4 << 20 };

static bool split_lines(struct roger_str text, struct rg_arena *arena, struct roger_strs *ret_lines)
{
	struct roger_str line;

	while (rg_str_next_line(&text, &line)) {
		/* A line includes its newline. */
		line.length = (size_t)(text.data - line.data);
		if (!rg_arena_append(arena, &ret_lines->items, &ret_lines->count, &line,
				     sizeof line))
			return false;
	}
	return true;
}

static bool is_same_line(const struct roger_strs *a, size_t i, const struct roger_strs *b, size_t j)
{
	return rg_str_equal(a->items[i], b->items[j]);
}

static void add_signs(struct rg_buf *signs, char sign, size_t times)
{
	while (times--)
		rg_buf_add_char(signs, sign);
}

/* Compare a[from..a_to) with b[from..b_to) by a table of the lengths of common subsequences. */
static bool compare_middle(const struct roger_strs *a, size_t a_to, const struct roger_strs *b,
			   size_t b_to, size_t from, struct rg_buf *signs)
{
	size_t rows = a_to - from, columns = b_to - from, i, j;
	uint32_t *best;

	if (!rows || !columns || rows > PAIRS_MAX / columns) {
		add_signs(signs, '-', rows);
		add_signs(signs, '+', columns);
		return true;
	}
	best = calloc((rows + 1) * (columns + 1), sizeof *best);
	if (!best)
		return false;
#define BEST(i, j) best[(i) * (columns + 1) + (j)]
	for (i = rows; i-- > 0;)
		for (j = columns; j-- > 0;)
			BEST(i, j) = is_same_line(a, from + i, b, from + j) ? BEST(i + 1, j + 1) + 1
				     : BEST(i + 1, j) > BEST(i, j + 1)	    ? BEST(i + 1, j)
									    : BEST(i, j + 1);
	for (i = j = 0; i < rows || j < columns;) {
		if (i < rows && j < columns && is_same_line(a, from + i, b, from + j)) {
			add_signs(signs, ' ', 1);
			i++, j++;
		} else if (j == columns || (i < rows && BEST(i + 1, j) >= BEST(i, j + 1))) {
			add_signs(signs, '-', 1);
			i++;
		} else {
			add_signs(signs, '+', 1);
			j++;
		}
	}
#undef BEST
	free(best);
	return true;
}

/* Say what became of each line of both texts, by a text of ' ', '-' and '+'. */
static bool make_script(const struct roger_strs *a, const struct roger_strs *b,
			struct rg_buf *signs)
{
	size_t start = 0, end = 0;

	while (start < a->count && start < b->count && is_same_line(a, start, b, start))
		start++;
	while (end < a->count - start && end < b->count - start &&
	       is_same_line(a, a->count - 1 - end, b, b->count - 1 - end))
		end++;
	add_signs(signs, ' ', start);
	if (!compare_middle(a, a->count - end, b, b->count - end, start, signs))
		return false;
	add_signs(signs, ' ', end);
	return true;
}

static void print_line(char sign, struct roger_str line, struct rg_buf *out)
{
	rg_buf_add_char(out, sign);
	rg_buf_add_str(out, line);
	if (!line.length || line.data[line.length - 1] != '\n')
		rg_buf_add_text(out, "\n\\ no newline at the end\n");
}

/* Is there a change within `context` lines? */
static bool is_near(struct roger_str script, size_t at, size_t context)
{
	size_t i = at > context ? at - context : 0;

	for (; i < script.length && i <= at + context; i++)
		if (script.data[i] != ' ')
			return true;
	return false;
}

static void print_hunks(const struct roger_strs *a, const struct roger_strs *b,
			struct roger_str script, size_t context, struct rg_buf *out)
{
	bool inside = false;
	size_t at, i = 0, j = 0;

	for (at = 0; at < script.length; at++) {
		char sign = script.data[at];

		if (!is_near(script, at, context)) {
			inside = false;
		} else {
			if (!inside)
				rg_buf_printf(out, "@@ -%zu +%zu @@\n", i + 1, j + 1);
			inside = true;
			print_line(sign, sign == '+' ? b->items[j] : a->items[i], out);
		}
		i += sign != '+';
		j += sign != '-';
	}
}

void rg_diff(struct roger_str before, struct roger_str after, size_t context, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf signs = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_strs a = { 0 }, b = { 0 };

	if (arena && split_lines(before, arena, &a) && split_lines(after, arena, &b) &&
	    make_script(&a, &b, &signs) && !signs.failed)
		print_hunks(&a, &b, rg_buf_str(&signs), context, out);
	else
		out->failed = true;
}
