#include "cli/term.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

FILE *cli_out;

/* C libraries disagree on what a stream makes of a write that fails, so it is kept here. */
static int lost;

static bool colours;
static bool silent;
static bool bar_shown;

void cli_term_lose(int error)
{
	lost = lost ? lost : error;
}

static ssize_t write_all(void *context, const char *data, size_t length)
{
	size_t done = 0;
	ssize_t put;

	(void)context;
	while (done < length) {
		put = write(STDOUT_FILENO, data + done, length - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			cli_term_lose(errno);
			return 0;
		}
		done += (size_t)put;
	}
	return (ssize_t)length;
}

bool cli_term_open(void)
{
	cli_out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_all });
	if (cli_out && isatty(STDOUT_FILENO))
		setvbuf(cli_out, NULL, _IOLBF, 0);
	return cli_out != NULL;
}

int cli_term_flush(void)
{
	fflush(cli_out);
	return lost;
}

bool cli_term_lost(void)
{
	return lost != 0;
}

void cli_term_init(const char *when, bool quiet)
{
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"),
		   *term = getenv("TERM");

	silent = quiet;
	if (strcmp(when, "always") == 0)
		colours = true;
	else if (strcmp(when, "never") == 0 || (no && *no))
		colours = false;
	else if (force && *force && strcmp(force, "0") != 0)
		colours = true;
	else
		colours = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

const char *cli_style(enum cli_style style)
{
	static const char *const codes[] = { "\033[0m",	 "\033[1m",  "\033[2m", "\033[31m",
					     "\033[32m", "\033[33m", "\033[36m" };

	return colours ? codes[style] : "";
}

bool cli_is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

bool cli_is_crlf(struct roger_str text, size_t at)
{
	return at + 1 < text.length && text.data[at] == '\r' && text.data[at + 1] == '\n';
}

void cli_print_text(FILE *to, struct roger_str text, bool lines)
{
	size_t at = 0, start = 0, step;
	uint32_t c;

	while (at < text.length) {
		if (lines && cli_is_crlf(text, at)) {
			fwrite(text.data + start, 1, at - start, to);
			start = ++at;
			continue;
		}
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		if (step && (!cli_is_harmful(c) || (lines && (c == '\n' || c == '\t')))) {
			at += step;
			continue;
		}
		fwrite(text.data + start, 1, at - start, to);
		if (step)
			fprintf(to, "<U+%04X>", c);
		else
			fprintf(to, "<%02X>", (unsigned char)text.data[at]);
		at += step ? step : 1;
		start = at;
	}
	fwrite(text.data + start, 1, at - start, to);
}

/* Four hex digits, or -1. */
static int32_t read_unit(const char *data, size_t length)
{
	int32_t unit = 0;
	size_t i;

	if (length < 6 || data[0] != '\\' || data[1] != 'u')
		return -1;
	for (i = 2; i < 6; i++) {
		const char *digits = "0123456789abcdef",
			   *digit = memchr(digits, data[i] | 0x20, 16);

		if (!digit)
			return -1;
		unit = unit << 4 | (int32_t)(digit - digits);
	}
	return unit;
}

/* The character that an escape stands for, and its bytes. */
static size_t read_escape(const char *data, size_t length, uint32_t *ret_char)
{
	static const char letters[] = "bfnrt", means[] = "\b\f\n\r\t";
	int32_t high = read_unit(data, length), low;
	const char *letter;

	if (high < 0) {
		letter = length > 1 ? memchr(letters, data[1], sizeof letters - 1) : NULL;
		*ret_char = letter ? (unsigned char)means[letter - letters] : ' ';
		return length > 1 ? 2 : 1;
	}
	*ret_char = (uint32_t)high;
	if (high < 0xd800 || high > 0xdbff)
		return 6;
	low = read_unit(data + 6, length - 6);
	if (low < 0xdc00 || low > 0xdfff)
		return 6;
	*ret_char = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
	return 12;
}

/* The same for an escaped text: does an escaped LF stand there? */
static bool is_escaped_lf(const char *data, size_t length)
{
	uint32_t c;

	return length && *data == '\\' && read_escape(data, length, &c) && c == '\n';
}

void cli_add_harmless_json(struct rg_buf *out, struct roger_str json)
{
	size_t at, step;
	bool escaped;
	uint32_t c;

	for (at = 0; at < json.length; at += step) {
		escaped = json.data[at] == '\\';
		step = escaped ? read_escape(json.data + at, json.length - at, &c)
			       : rg_utf8_next(json.data + at, json.length - at, &c);
		if (escaped && c == '\r' &&
		    is_escaped_lf(json.data + at + step, json.length - at - step))
			continue;
		/* Control characters that are not escaped stand between values. */
		if (step && cli_is_harmful(c) && (escaped || c >= 0x20) && c != '\n' && c != '\t') {
			rg_buf_printf(out, "<U+%04X>", c);
			continue;
		}
		step = step ? step : 1;
		rg_buf_add(out, json.data + at, step);
	}
}

size_t cli_term_width(void)
{
	struct winsize size = { 0 };

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

size_t cli_columns(struct roger_str text)
{
	size_t chars;

	return rg_utf8_count(text, &chars) ? chars : text.length;
}

void cli_print_padded(FILE *to, struct roger_str text, size_t width)
{
	size_t columns = cli_columns(text);

	cli_print_text(to, text, false);
	if (columns < width)
		fprintf(to, "%*s", (int)(width - columns), "");
}

void cli_print_body(FILE *to, struct roger_str text, const char *indent)
{
	const char *newline;
	size_t length;

	do {
		newline = text.length ? memchr(text.data, '\n', text.length) : NULL;
		length = newline ? (size_t)(newline + 1 - text.data) : text.length;
		fputs(indent, to);
		cli_print_text(to, (struct roger_str){ text.data, length }, true);
		if (!newline)
			fputc('\n', to);
		text.data += length;
		text.length -= length;
	} while (text.length);
}

void cli_print_time(FILE *to, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[40] = "";
	struct tm tm;

	if (ms > 0 && localtime_r(&seconds, &tm))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
	fputs(text[0] ? text : "-", to);
}

bool cli_progress(void *context, const char *what, int64_t done, int64_t total)
{
	static const char marks[] = "########################################";
	int width = (int)sizeof marks - 1, filled;

	(void)context;
	if (silent || !isatty(STDERR_FILENO) || total <= 0)
		return true;
	filled = (int)((double)done / (double)total * width);
	if (filled > width)
		filled = width;
	fprintf(stderr, "\r%-8s [%.*s%*s] %3d%%", what, filled, marks, width - filled, "",
		(int)((double)done * 100 / (double)total));
	bar_shown = true;
	return true;
}

void cli_progress_end(void)
{
	if (bar_shown)
		fprintf(stderr, "\r%60s\r", "");
	bar_shown = false;
}

static void print_escaped(FILE *to, uint32_t c)
{
	if (c >= 0x10000)
		fprintf(to, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		fprintf(to, "\\u%04x", c);
}

void cli_print_json(FILE *to, const struct rg_buf *json)
{
	size_t at = 0, start = 0, step;
	uint32_t c;

	if (json->failed) {
		if (to == cli_out)
			cli_term_lose(ENOMEM);
		return;
	}
	while (at < json->length) {
		step = rg_utf8_next(json->data + at, json->length - at, &c);
		if (!step || !cli_is_harmful(c)) {
			at += step ? step : 1;
			continue;
		}
		fwrite(json->data + start, 1, at - start, to);
		print_escaped(to, c);
		at += step;
		start = at;
	}
	fwrite(json->data + start, 1, at - start, to);
	fputc('\n', to);
}
