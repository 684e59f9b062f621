#include "cli/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/unicode.h"
#include "cli/command.h"

extern char **environ;

enum { WIDTH_LEAST = 20, HANG_MAX = 32, TAB = 8, WORDS_MAX = 32 };

mode_t cli_file_mask;

static struct {
	int width, height; /* size of the terminal; 0: no terminal */
	bool asked;
	bool folds;
	bool paged;	    /* a pager may start */
	struct rg_buf line; /* the line that is not finished */
	struct rg_buf kept; /* output held back until it is known whether a pager is needed */
	int rows;	    /* lines in kept */
	int to;		    /* descriptor of the output or the pager */
	int error;	    /* a copy of the original standard error; -1: it was not moved */
	pid_t pager;	    /* 0: none */
} screen = { .line = { .maximum = SIZE_MAX },
	     .kept = { .maximum = SIZE_MAX },
	     .to = STDOUT_FILENO,
	     .error = -1 };

/* ------------------------------------------------------------------ size -- */

static int number_of(const char *name, int otherwise)
{
	const char *text = getenv(name);
	const int number = text ? atoi(text) : 0;

	return number > 0 && number < 10000 ? number : otherwise;
}

static void ask_size_of(int terminal, int *ret_width, int *ret_height)
{
	struct winsize size = { 0 };

	(void)ioctl(terminal, TIOCGWINSZ, &size);
	*ret_width = size.ws_col ? size.ws_col : number_of("COLUMNS", 80);
	*ret_height = size.ws_row ? size.ws_row : number_of("LINES", 24);
	if (*ret_width < WIDTH_LEAST)
		*ret_width = WIDTH_LEAST;
}

static void ask_size(void)
{
	if (!screen.asked && isatty(STDOUT_FILENO))
		ask_size_of(STDOUT_FILENO, &screen.width, &screen.height);
	screen.asked = true;
}

size_t cli_screen_width(void)
{
	ask_size();
	return (size_t)screen.width;
}

/* ----------------------------------------------------------------- pager -- */

/* The pager that the person wants; NULL: none. */
static const char *wanted_pager(void)
{
	const char *own = getenv("ROGER_PAGER"), *term = getenv("TERM");
	const char *pager = own ? own : getenv("PAGER");

	if (!pager)
		pager = "less";
	if (!*pager || strcmp(pager, "cat") == 0 || getenv("ROGER_PAGER_IN_USE") || !term ||
	    strcmp(term, "dumb") == 0)
		return NULL;
	return pager;
}

/* Split the pager into words; one with a shell's special characters is run by a shell, as git does.
 */
static void split_pager(char *pager, char *words[WORDS_MAX])
{
	static char shell[] = "/bin/sh", command[] = "-c";
	char *rest = NULL;
	size_t count = 0;

	if (strpbrk(pager, "|&;<>()$`\\\"'*?[#~=%")) {
		words[0] = shell;
		words[1] = command;
		words[2] = pager;
		words[3] = NULL;
		return;
	}
	for (pager = strtok_r(pager, " \t", &rest); pager && count < WORDS_MAX - 1;
	     pager = strtok_r(NULL, " \t", &rest))
		words[count++] = pager;
	words[count] = NULL;
}

pid_t cli_start_program(char *const words[], int input)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t plain;
	mode_t mask;
	pid_t pid;
	int fd, r;

	sigemptyset(&plain);
	sigaddset(&plain, SIGPIPE);
	sigaddset(&plain, SIGXFSZ);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	if (input >= 0)
		posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	for (fd = STDIN_FILENO; input < 0 && fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_setsigdefault(&attributes, &plain);
	posix_spawnattr_setflags(&attributes,
				 POSIX_SPAWN_SETSIGDEF | (input < 0 ? POSIX_SPAWN_SETSID : 0));
	mask = umask(cli_file_mask);
	r = posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
	umask(mask);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return r ? 0 : pid;
}

/* Start the pager; if that fails, the answer goes to the terminal. */
static void start_pager(const char *pager)
{
	char *copy = strdup(pager), *words[WORDS_MAX];
	int ends[2];

	if (!copy || pipe2(ends, O_CLOEXEC) < 0) {
		free(copy);
		return;
	}
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	setenv("ROGER_PAGER_IN_USE", "1", 1);
	split_pager(copy, words);
	screen.pager = words[0] ? cli_start_program(words, ends[0]) : 0;
	close(ends[0]);
	free(copy);
	if (!screen.pager) {
		close(ends[1]);
		return;
	}
	screen.to = ends[1];
	/* Ctrl-C is for the pager, and errors and notes go to it, too. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (isatty(STDERR_FILENO)) {
		screen.error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(ends[1], STDERR_FILENO);
	}
}

bool cli_screen_end(void)
{
	const bool paged = screen.pager;

	rg_buf_deinit(&screen.line);
	rg_buf_deinit(&screen.kept);
	if (!paged)
		return false;
	if (screen.error >= 0) {
		dup2(screen.error, STDERR_FILENO);
		close(screen.error);
	}
	close(screen.to);
	screen.to = STDOUT_FILENO;
	while (waitpid(screen.pager, NULL, 0) < 0 && errno == EINTR)
		;
	screen.pager = 0;
	return true;
}

/* --------------------------------------------------------------- writing -- */

static int write_out(struct roger_str text)
{
	size_t done = 0;
	ssize_t put;

	while (done < text.length) {
		put = write(screen.to, text.data + done, text.length - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		done += (size_t)put;
	}
	return 0;
}

/* Write out what was held back; from now on hold nothing back. */
static int let_go(void)
{
	int error;

	screen.paged = false;
	error = screen.kept.failed ? ENOMEM : write_out(rg_buf_str(&screen.kept));
	rg_buf_deinit(&screen.kept);
	return error;
}

static int put_text(struct roger_str text)
{
	if (!screen.paged)
		return write_out(text);
	rg_buf_add_str(&screen.kept, text);
	screen.rows += (int)rg_str_line(text, text.length) - 1;
	if (screen.rows < screen.height)
		return 0;
	start_pager(wanted_pager());
	return let_go();
}

/* --------------------------------------------------------------- folding -- */

/* The columns and bytes of the first character or escape sequence; a tab reaches the next stop. */
static size_t columns_of(struct roger_str text, size_t at, size_t *ret_bytes)
{
	uint32_t c;

	*ret_bytes = 1;
	if (text.data[0] == '\033') {
		while (*ret_bytes < text.length && text.data[*ret_bytes - 1] != 'm')
			++*ret_bytes;
		return 0;
	}
	if (text.data[0] == CLI_HANG[0])
		return 0;
	if (text.data[0] == '\t')
		return TAB - at % TAB;
	*ret_bytes = rg_utf8_next(text.data, text.length, &c);
	if (*ret_bytes)
		return rg_char_columns(c);
	*ret_bytes = 1;
	return 1;
}

static struct roger_str text_from(struct roger_str text, size_t at)
{
	return (struct roger_str){ text.data + at, text.length - at };
}

/* Where a folded line continues: at its CLI_HANG, else its second column, else at indent + 2. */
static size_t hang_of(struct roger_str line)
{
	size_t at, bytes, columns = 0, blanks = 0, indent = 0, hang = 0;
	bool begun = false;

	for (at = 0; at < line.length; at += bytes) {
		if (line.data[at] == CLI_HANG[0])
			return columns;
		columns += columns_of(text_from(line, at), columns, &bytes);
		if (line.data[at] == ' ') {
			blanks++;
			continue;
		}
		if (line.data[at] == '\033')
			continue;
		if (!begun)
			indent = blanks;
		else if (blanks > 1 && !hang)
			hang = columns - 1;
		begun = true;
		blanks = 0;
	}
	return hang && hang <= HANG_MAX ? hang : indent + 2;
}

/* How many bytes fit into this line, and how many blanks after them are dropped. */
static size_t take_piece(struct roger_str rest, size_t column, size_t width, size_t *ret_blanks)
{
	size_t at, bytes, columns, fits = 0;
	bool wide = false, begun = column > 0;

	*ret_blanks = 0;
	for (at = 0; at < rest.length; at += bytes) {
		columns = columns_of(text_from(rest, at), column, &bytes);
		if (begun && (rest.data[at] == ' ' || (columns && wide) ||
			      (columns > 1 && rest.data[at] != '\t')))
			fits = at;
		begun = columns ? rest.data[at] != ' ' : begun;
		if (column + columns > width && rest.data[at] != ' ')
			break;
		column += columns;
		wide = columns ? columns > 1 && rest.data[at] != '\t' : wide;
	}
	if (at >= rest.length && column <= width)
		return rest.length;
	fits = fits ? fits : at ? at : bytes; /* a word that no line can hold */
	while (fits + *ret_blanks < rest.length && rest.data[fits + *ret_blanks] == ' ')
		++*ret_blanks;
	return fits;
}

/* Add a piece of a line, without marks, and with blanks for tabs. */
static void add_piece(struct rg_buf *out, struct roger_str piece, size_t column)
{
	size_t at, bytes, columns;

	for (at = 0; at < piece.length; at += bytes) {
		columns = columns_of(text_from(piece, at), column, &bytes);
		column += columns;
		if (piece.data[at] == '\t')
			rg_buf_add(out, "        ", columns);
		else if (piece.data[at] != CLI_HANG[0])
			rg_buf_add(out, piece.data + at, bytes);
	}
}

static void fold_line(struct rg_buf *out, struct roger_str line, size_t width)
{
	size_t hang = hang_of(line), column = 0, bytes, blanks;

	hang = hang < width - WIDTH_LEAST / 2 ? hang : 0;
	do {
		bytes = take_piece(line, column, width, &blanks);
		add_piece(out, (struct roger_str){ line.data, bytes }, column);
		line = text_from(line, bytes + blanks);
		if (!line.length)
			break;
		rg_buf_printf(out, "\n%*s", (int)hang, "");
		column = hang;
	} while (true);
}

void cli_screen_fold(struct rg_buf *out, struct roger_str text, size_t width)
{
	const char *end;

	while ((end = rg_str_find(text, '\n'))) {
		fold_line(out, (struct roger_str){ text.data, (size_t)(end - text.data) }, width);
		rg_buf_add_char(out, '\n');
		text = text_from(text, (size_t)(end + 1 - text.data));
	}
	fold_line(out, text, width);
}

/* Write a line, folded, and its end. */
static int fold_and_put(struct roger_str line, const char *end)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };

	cli_screen_fold(&out, line, (size_t)screen.width);
	rg_buf_add_text(&out, end);
	return out.failed ? ENOMEM : put_text(rg_buf_str(&out));
}

int cli_screen_write(struct roger_str text)
{
	struct roger_str line;
	int error = 0;

	if (!screen.folds)
		return put_text(text);
	while (!error && rg_str_next_line(&text, &line)) {
		rg_buf_add_str(&screen.line, line);
		if (text.data == line.data + line.length)
			break; /* the line is not finished */
		error = screen.line.failed ? ENOMEM : fold_and_put(rg_buf_str(&screen.line), "\n");
		rg_buf_clear(&screen.line);
	}
	return error;
}

void cli_screen_complain(struct roger_str line)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	int width, height;

	ask_size_of(STDERR_FILENO, &width, &height);
	cli_screen_fold(&out, line, (size_t)width);
	fprintf(stderr, "%.*s\n", RG_STR_ARGS(out.failed ? line : rg_buf_str(&out)));
}

int cli_screen_flush(void)
{
	int error = screen.line.length ? fold_and_put(rg_buf_str(&screen.line), "") : 0;

	rg_buf_clear(&screen.line);
	return screen.kept.length ? let_go() : error;
}

void cli_screen_begin(bool paged)
{
	ask_size();
	screen.folds = screen.width > 0;
	screen.paged = paged && screen.folds && wanted_pager();
}

void cli_screen_raw(void)
{
	screen.folds = screen.paged = false;
}

void cli_screen_unpaged(void)
{
	screen.paged = false;
}

bool cli_screen_folds(void)
{
	return screen.folds;
}

/* ----------------------------------------------------------- full screen -- */

static struct {
	volatile sig_atomic_t entered;
	struct termios before;
	struct rg_buf shown, frame;
	char typed[256]; /* bytes that were read, and not decoded yet */
	size_t count;
} full = { .shown = { .maximum = SIZE_MAX }, .frame = { .maximum = SIZE_MAX } };

static void set_terminal(bool entering)
{
	static const char enter[] = "\033[?1049h\033[?25l", leave[] = "\033[0m\033[?25h\033[?1049l";
	struct termios raw = full.before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_iflag &= ~(tcflag_t)ICRNL;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, entering ? &raw : &full.before);
	if (write(STDOUT_FILENO, entering ? enter : leave,
		  entering ? sizeof enter - 1 : sizeof leave - 1) < 0)
		return;
}

void cli_screen_leave(void)
{
	const int error = errno;

	if (full.entered)
		set_terminal(false);
	full.entered = 0;
	errno = error;
}

/* Restore the terminal before the signal ends or stops the process. */
static void leave_by_signal(int number)
{
	cli_screen_leave();
	signal(number, SIG_DFL);
	raise(number);
}

void cli_screen_enter(void)
{
	static const int ends[] = { SIGQUIT, SIGILL, SIGABRT, SIGFPE, SIGSEGV, SIGTSTP };
	size_t i;

	if (full.entered || tcgetattr(STDIN_FILENO, &full.before) < 0)
		return;
	for (i = 0; i < sizeof ends / sizeof *ends; i++)
		signal(ends[i], leave_by_signal);
	full.entered = 1;
	set_terminal(true);
	rg_buf_clear(&full.shown);
}

bool cli_screen_measure(void)
{
	const int width = screen.width, height = screen.height;

	ask_size_of(STDOUT_FILENO, &screen.width, &screen.height);
	if (width == screen.width && height == screen.height)
		return false;
	rg_buf_clear(&full.shown);
	return true;
}

size_t cli_screen_height(void)
{
	return (size_t)screen.height;
}

size_t cli_screen_lines(struct roger_str text, size_t width)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };

	cli_screen_fold(&out, text, width);
	return (size_t)rg_str_line(rg_buf_str(&out), out.length);
}

/* Write a whole frame at once, if it differs from the last one. */
void cli_screen_draw(struct roger_str lines, size_t cursor)
{
	struct rg_buf *frame = &full.frame;
	size_t i, row = 1;

	rg_buf_clear(frame);
	rg_buf_add_text(frame, "\033[?25l\033[H\033[2K");
	for (i = 0; i + 1 < lines.length; i++)
		if (lines.data[i] == '\n') {
			rg_buf_add_text(frame, "\033[0m\r\n\033[2K");
			row++;
		} else {
			rg_buf_add_char(frame, lines.data[i]);
		}
	rg_buf_add_text(frame, "\033[0m");
	if (cursor)
		rg_buf_printf(frame, "\033[%zu;%zuH\033[?25h", row, cursor);
	if (!full.entered || frame->failed ||
	    rg_str_equal(rg_buf_str(frame), rg_buf_str(&full.shown)))
		return;
	rg_buf_clear(&full.shown);
	rg_buf_add_str(&full.shown, rg_buf_str(frame));
	(void)write_out(rg_buf_str(frame));
}

static void read_keys(int wait_ms)
{
	struct pollfd keyboard = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t got;

	if (full.count == sizeof full.typed || poll(&keyboard, 1, wait_ms) <= 0 ||
	    !(keyboard.revents & POLLIN))
		return;
	got = read(STDIN_FILENO, full.typed + full.count, sizeof full.typed - full.count);
	full.count += got > 0 ? (size_t)got : 0;
}

/* Decode an escape sequence, and tell its length; an unknown one is CLI_KEY_OTHER. */
static uint32_t named_key(struct roger_str typed, size_t *ret_bytes)
{
	static const struct {
		const char *bytes;
		uint32_t key;
	} keys[] = {
		{ "[A", CLI_KEY_UP },	 { "OA", CLI_KEY_UP },	     { "[B", CLI_KEY_DOWN },
		{ "OB", CLI_KEY_DOWN },	 { "[5~", CLI_KEY_PAGE_UP }, { "[6~", CLI_KEY_PAGE_DOWN },
		{ "[H", CLI_KEY_HOME },	 { "OH", CLI_KEY_HOME },     { "[1~", CLI_KEY_HOME },
		{ "[7~", CLI_KEY_HOME }, { "[F", CLI_KEY_END },	     { "OF", CLI_KEY_END },
		{ "[4~", CLI_KEY_END },	 { "[8~", CLI_KEY_END },
	};
	size_t i, bytes = 2;

	if (typed.length < 2 || (typed.data[1] != '[' && typed.data[1] != 'O')) {
		*ret_bytes = 1;
		return CLI_KEY_ESCAPE;
	}
	while (bytes < typed.length && (unsigned char)typed.data[bytes] < '@')
		bytes++;
	*ret_bytes = bytes < typed.length ? bytes + 1 : bytes;
	for (i = 0; i < sizeof keys / sizeof *keys; i++)
		if (rg_str_is((struct roger_str){ typed.data + 1, *ret_bytes - 1 }, keys[i].bytes))
			return keys[i].key;
	return CLI_KEY_OTHER;
}

uint32_t cli_screen_key(void)
{
	size_t bytes = 1;
	uint32_t key;

	if (!full.count)
		read_keys(0);
	/* The key Escape, or the beginning of a sequence: wait briefly, since the rest of a
	 * sequence comes at once. */
	if (full.count == 1 && full.typed[0] == '\033')
		read_keys(25);
	if (!full.count)
		return 0;
	if (full.typed[0] == '\033') {
		key = named_key((struct roger_str){ full.typed, full.count }, &bytes);
	} else {
		bytes = rg_utf8_next(full.typed, full.count, &key);
		key = !bytes			   ? CLI_KEY_OTHER
		      : key == '\r' || key == '\n' ? CLI_KEY_ENTER
		      : key == 0x7f || key == '\b' ? CLI_KEY_BACKSPACE
						   : key;
		bytes = bytes ? bytes : 1;
	}
	full.count -= bytes;
	memmove(full.typed, full.typed + bytes, full.count);
	return key ? key : CLI_KEY_OTHER;
}
