#include "data/diff.h"

#include <stdlib.h>

/* Beyond so many pairs of lines, what differs is shown as one piece. */
enum { PAIRS_MAX = 4 << 20 };

struct lines {
	struct roger_str *items;
	size_t count;
};

/* What became of each line of both: the edit script, line by line. */
struct script {
	char *signs; /* ' ', '-' or '+' */
	size_t count;
};

static bool split(struct roger_str text, struct lines *ret_lines)
{
	size_t count = 0, i, start = 0;

	for (i = 0; i < text.length; i++)
		count += text.data[i] == '\n';
	ret_lines->items = calloc(count + 1, sizeof *ret_lines->items);
	ret_lines->count = 0;
	if (!ret_lines->items)
		return false;
	for (i = 0; i < text.length; i++)
		if (text.data[i] == '\n') {
			ret_lines->items[ret_lines->count++] =
				(struct roger_str){ text.data + start, i + 1 - start };
			start = i + 1;
		}
	if (start < text.length)
		ret_lines->items[ret_lines->count++] =
			(struct roger_str){ text.data + start, text.length - start };
	return true;
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
	return rg_str_equal(a->items[i], b->items[j]);
}

static void sign(struct script *script, char sign, size_t times)
{
	memset(script->signs + script->count, sign, times);
	script->count += times;
}

/* The longest common subsequence of a[from..a_to) and b[from..b_to), by the table of its lengths.
 */
static bool compare(const struct lines *a, size_t a_to, const struct lines *b, size_t b_to,
		    size_t from, struct script *script)
{
	size_t rows = a_to - from, columns = b_to - from, i, j;
	uint32_t *best;

	if (!rows || !columns || rows > PAIRS_MAX / columns) {
		sign(script, '-', rows);
		sign(script, '+', columns);
		return true;
	}
	best = calloc((rows + 1) * (columns + 1), sizeof *best);
	if (!best)
		return false;
#define BEST(i, j) best[(i) * (columns + 1) + (j)]
	for (i = rows; i-- > 0;)
		for (j = columns; j-- > 0;)
			BEST(i, j) = same(a, from + i, b, from + j)    ? BEST(i + 1, j + 1) + 1
				     : BEST(i + 1, j) > BEST(i, j + 1) ? BEST(i + 1, j)
								       : BEST(i, j + 1);
	for (i = j = 0; i < rows || j < columns;) {
		if (i < rows && j < columns && same(a, from + i, b, from + j)) {
			sign(script, ' ', 1);
			i++, j++;
		} else if (j == columns || (i < rows && BEST(i + 1, j) >= BEST(i, j + 1))) {
			sign(script, '-', 1);
			i++;
		} else {
			sign(script, '+', 1);
			j++;
		}
	}
#undef BEST
	free(best);
	return true;
}

static bool make_script(const struct lines *a, const struct lines *b, struct script *script)
{
	size_t start = 0, end = 0;

	while (start < a->count && start < b->count && same(a, start, b, start))
		start++;
	while (end < a->count - start && end < b->count - start &&
	       same(a, a->count - 1 - end, b, b->count - 1 - end))
		end++;
	sign(script, ' ', start);
	if (!compare(a, a->count - end, b, b->count - end, start, script))
		return false;
	sign(script, ' ', end);
	return true;
}

static void print_line(char sign, struct roger_str line, struct rg_buf *out)
{
	rg_buf_add_char(out, sign);
	rg_buf_add_str(out, line);
	if (!line.length || line.data[line.length - 1] != '\n')
		rg_buf_add_text(out, "\n\\ no newline at the end\n");
}

/* Is there a change within so many lines? */
static bool is_near(const struct script *script, size_t at, size_t context)
{
	size_t i = at > context ? at - context : 0;

	for (; i < script->count && i <= at + context; i++)
		if (script->signs[i] != ' ')
			return true;
	return false;
}

static void print(const struct lines *a, const struct lines *b, const struct script *script,
		  size_t context, struct rg_buf *out)
{
	bool inside = false;
	size_t at, i = 0, j = 0;

	for (at = 0; at < script->count; at++) {
		char sign = script->signs[at];

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
	struct lines a = { 0 }, b = { 0 };
	struct script script = { 0 };
	bool made = split(before, &a) && split(after, &b);

	if (made)
		script.signs = malloc(a.count + b.count + 1);
	if (made && script.signs && make_script(&a, &b, &script))
		print(&a, &b, &script, context, out);
	else
		out->failed = true;
	free(script.signs);
	free(a.items);
	free(b.items);
}
