/* Cells of the terminal; curses writes only those that changed. */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <locale.h>
#include <roger.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/unicode.h"
#include "top/top.h"

static bool coloured;
static attr_t bar; /* of the line that is put */
static int bar_line = -1;

void top_screen_open(bool colours)
{
	static const short of_style[] = { [TOP_RED] = COLOR_RED,
					  [TOP_GREEN] = COLOR_GREEN,
					  [TOP_YELLOW] = COLOR_YELLOW,
					  [TOP_CYAN] = COLOR_CYAN };
	short style;

	/* Messages are UTF-8, whatever the environment forgot to say. */
	if (!setlocale(LC_ALL, "") || MB_CUR_MAX < 2)
		setlocale(LC_CTYPE, "C.UTF-8");
	initscr();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	coloured = colours && has_colors() && start_color() == OK && use_default_colors() == OK;
	for (style = TOP_RED; coloured && style <= TOP_CYAN; style++)
		init_pair(style, of_style[style], -1);
}

void top_screen_close(void)
{
	endwin();
}

void top_screen_resize(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

int top_height(void)
{
	return LINES;
}

int top_width(void)
{
	return COLS;
}

void top_clear(void)
{
	erase();
	bar_line = -1;
	bar = A_NORMAL;
}

void top_show(void)
{
	refresh();
}

void top_bar(int y)
{
	mvhline(y, 0, ' ' | A_REVERSE, COLS);
	bar_line = y;
}

void top_cursor(int y, int x)
{
	curs_set(x >= 0);
	if (x >= 0)
		move(y, x < COLS ? x : COLS - 1);
}

static attr_t attributes_of(enum top_style style, int y)
{
	attr_t attributes = style == TOP_BOLD	   ? A_BOLD
			    : style == TOP_DIM	   ? A_DIM
			    : style == TOP_REVERSE ? A_REVERSE
						   : A_NORMAL;

	if (y == bar_line)
		attributes |= A_REVERSE;
	return attributes |
	       (coloured && style >= TOP_RED && style <= TOP_CYAN ? (attr_t)COLOR_PAIR((short)style)
								  : 0);
}

/* The first character as it is put, its bytes and its columns. */
static int first_of(struct roger_str text, char to[16], size_t *ret_bytes)
{
	uint32_t c;
	size_t step = rg_utf8_next(text.data, text.length, &c);

	*ret_bytes = step ? step : 1;
	if (!step)
		return snprintf(to, 16, "<%02X>", (unsigned char)text.data[0]);
	if (c == '\n' || c == '\t')
		c = ' ';
	else if (rg_char_is_harmful(c) || rg_char_ends_line(c))
		return snprintf(to, 16, "<U+%04X>", c);
	to[rg_char_put(to, c)] = '\0';
	return (int)rg_char_columns(c);
}

static int columns_of(struct roger_str text, int most)
{
	char put[16];
	size_t at, step;
	int columns = 0;

	for (at = 0; at < text.length && columns <= most; at += step)
		columns += first_of((struct roger_str){ text.data + at, text.length - at }, put,
				    &step);
	return columns;
}

int top_put(int y, int x, int columns, enum top_style style, struct roger_str text)
{
	char put[16];
	size_t at, step;
	int left = columns < COLS - x ? columns : COLS - x, taken;
	bool cut;

	if (left <= 0 || y < 0 || y >= LINES)
		return x;
	cut = columns_of(text, left) > left;
	left -= cut;
	attrset(attributes_of(style, y));
	for (at = 0; at < text.length; at += step, x += taken, left -= taken) {
		taken = first_of((struct roger_str){ text.data + at, text.length - at }, put,
				 &step);
		if (taken > left)
			break;
		mvaddstr(y, x, put);
	}
	if (cut)
		mvaddstr(y, x++, "\xe2\x80\xa6");
	attrset(A_NORMAL);
	return x;
}

size_t top_line(struct roger_str text, int columns, size_t *ret_shown)
{
	char put[16];
	size_t at, step, blank = 0;
	int taken;

	for (at = 0; at < text.length && text.data[at] != '\n'; at += step) {
		taken = first_of((struct roger_str){ text.data + at, text.length - at }, put,
				 &step);
		if (taken > columns)
			break;
		columns -= taken;
		if (text.data[at] == ' ')
			blank = at + 1;
	}
	if (at == text.length || text.data[at] == '\n') {
		*ret_shown = at;
		return at + (at < text.length);
	}
	*ret_shown = blank ? blank : at ? at : 1;
	return *ret_shown;
}

uint32_t top_key(void)
{
	wint_t c;
	int kind = get_wch(&c);

	if (kind == ERR)
		return 0;
	if (kind == OK)
		return c == '\r' || c == '\n' ? TOP_ENTER
		       : c == 27	      ? TOP_ESCAPE
		       : c == 127 || c == 8   ? TOP_BACKSPACE
					      : (uint32_t)c;
	switch (c) {
	case KEY_UP:
		return TOP_UP;
	case KEY_DOWN:
		return TOP_DOWN;
	case KEY_PPAGE:
		return TOP_PAGE_UP;
	case KEY_NPAGE:
		return TOP_PAGE_DOWN;
	case KEY_HOME:
		return TOP_HOME;
	case KEY_END:
		return TOP_END;
	case KEY_ENTER:
		return TOP_ENTER;
	case KEY_BACKSPACE:
		return TOP_BACKSPACE;
	default:
		return TOP_OTHER;
	}
}
