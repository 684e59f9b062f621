/*
 * grid - rows of cells whose columns are aligned.  On a terminal the widest are cut, with a
 * sign, until a row fits; elsewhere nothing is cut.
 */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include "base/arena.h"
#include "cli/term.h"

enum cli_cell_flag {
	CLI_RIGHT = 1, /* numbers */
	CLI_WHOLE = 2, /* not cut: ids, times */
};

/* The cells row by row; the text is borrowed. */
struct cli_cell {
	struct roger_str text;
	enum cli_style style;
	unsigned flags;
	struct roger_str bright; /* the bright part of a dim text; may be unset */
};
struct cli_grid {
	struct rg_arena *arena;
	size_t columns;
	size_t last_least; /* the last column is cut to no less while another one can give way */
	bool titled; /* the first row are titles, and a column with nothing below is left out */
	struct cli_cell *cells;
	size_t count;
};

void cli_grid_add(struct cli_grid *grid, struct cli_cell cell);

/* Add a cell with the text that cli_say_plain() prints. */
void cli_grid_say(struct cli_grid *grid, enum cli_style style, unsigned flags, const char *format,
		  ...);

void cli_grid_print(FILE *to, const struct cli_grid *grid);

/* Print the text in at most that many columns, with a sign where it is cut. */
void cli_print_cut(FILE *to, struct roger_str text, size_t columns);

#endif
