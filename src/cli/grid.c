#include "cli/grid.h"

#include <errno.h>

#include "cli/screen.h"

enum { COLUMNS_MAX = 40, PADDED_MAX = 60, COLUMNS_LEAST = 6, GAP = 2 };

void cli_grid_add(struct cli_grid *grid, struct cli_cell cell)
{
	if (!rg_arena_append(grid->arena, &grid->cells, &grid->count, &cell, sizeof cell))
		cli_term_lose(ENOMEM);
}

void cli_grid_say(struct cli_grid *grid, enum cli_style style, unsigned flags, const char *format,
		  ...)
{
	struct cli_cell cell = { .style = style, .flags = flags };
	bool kept = false;
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };
	va_list arguments;

	if (cli_page_begin(&page)) {
		va_start(arguments, format);
		cli_say_plain(page.to, format, arguments);
		va_end(arguments);
		kept = cli_page_end(&page) &&
		       rg_arena_copy(grid->arena, (struct roger_str){ page.text, page.length },
				     &cell.text);
	}
	if (!kept)
		cli_term_lose(ENOMEM);
	cli_grid_add(grid, cell);
}

void cli_print_cut(FILE *to, struct roger_str text, size_t columns)
{
	const bool cut = cli_columns(text) > columns;

	if (cut)
		text.length = cli_bytes_within(text, columns ? columns - 1 : 0);
	cli_print_text(to, text, false);
	if (cut)
		fputs("…", to);
}

struct column {
	size_t width, least;
	bool whole, filled;
};

static void measure_columns(const struct cli_grid *grid, struct column *columns)
{
	const struct cli_cell *cell;
	struct column *column;
	size_t i, width;

	for (i = 0; i < grid->count; i++) {
		cell = &grid->cells[i];
		column = &columns[i % grid->columns];
		width = cli_columns(cell->text);
		column->whole |= (cell->flags & CLI_WHOLE) != 0;
		column->filled |= width && !(grid->titled && i < grid->columns);
		if (width > column->width)
			column->width = width;
	}
	for (i = 0; i < grid->columns; i++)
		columns[i].least = COLUMNS_LEAST;
	if (grid->last_least)
		columns[grid->columns - 1].least = grid->last_least;
	for (i = 0; i < grid->columns; i++) {
		if (!columns[i].filled)
			columns[i].width = 0;
		else if (columns[i].width > PADDED_MAX && !cli_screen_folds())
			columns[i].width = PADDED_MAX;
	}
}

/* Narrow the widest column until a row fits; if none can, the last loses its least width. */
static void shrink_columns(struct column *columns, size_t count, size_t width)
{
	struct column *widest;
	size_t i, sum;

	do {
		widest = NULL;
		for (i = sum = 0; i < count; i++) {
			sum += columns[i].width + (columns[i].width && sum ? GAP : 0);
			if (!columns[i].whole && columns[i].width > columns[i].least &&
			    (!widest || columns[i].width >= widest->width))
				widest = &columns[i];
		}
		if (!widest && sum > width && columns[count - 1].least > COLUMNS_LEAST)
			columns[count - 1].least = COLUMNS_LEAST;
		else if (widest && sum > width)
			widest->width--;
		else
			break;
	} while (true);
}

static void print_styled(FILE *to, const struct cli_cell *cell, size_t width)
{
	const struct roger_str text = cell->text, bright = cell->bright;
	struct roger_str part = text;

	if (!bright.length || cli_columns(text) > width) {
		cli_say_to(to, cell->style ? "%S" : "", cell->style);
		cli_print_cut(to, text, width);
		cli_say_to(to, cell->style ? "%." : "");
		return;
	}
	part.length = (size_t)(bright.data - text.data);
	cli_say_to(to, "%S%t%.%S%t%.", CLI_DIM, part, CLI_BOLD, bright);
	part.data = bright.data + bright.length;
	part.length = text.length - (size_t)(part.data - text.data);
	cli_say_to(to, "%S%t%.", CLI_DIM, part);
}

void cli_grid_print(FILE *to, const struct cli_grid *grid)
{
	struct column columns[COLUMNS_MAX] = { 0 };
	size_t i, column, width, blanks, last = 0;
	const struct cli_cell *cell;
	bool begun = false, right;

	rg_assert(grid->columns <= COLUMNS_MAX);
	measure_columns(grid, columns);
	if (cli_screen_folds())
		shrink_columns(columns, grid->columns, cli_screen_width());
	for (i = 0; i < grid->columns; i++)
		last = columns[i].width ? i : last;
	for (i = 0; i < grid->count; i++) {
		column = i % grid->columns;
		if (columns[column].width) {
			cell = &grid->cells[i];
			width = cli_columns(cell->text);
			blanks = width < columns[column].width ? columns[column].width - width : 0;
			right = cell->flags & CLI_RIGHT;
			fprintf(to, "%*s", (begun ? GAP : 0) + (right ? (int)blanks : 0), "");
			print_styled(to, cell,
				     cli_screen_folds() ? columns[column].width : SIZE_MAX);
			fprintf(to, "%*s", right || column == last ? 0 : (int)blanks, "");
			begun = true;
		}
		if (column == grid->columns - 1) {
			fputc('\n', to);
			begun = false;
		}
	}
}
