#include "cli/term.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/unicode.h"
#include "cli/screen.h"

FILE *cli_out;

/* The errno of a failed write; C libraries differ in what a stream remembers of it. */
static int lost;

static bool colours;
static bool silent;
static bool bar_shown;
static int64_t work_ns; /* when the work began whose progress is shown; 0: no work is shown */
static bool errors_to_terminal;
static bool zone_owed; /* an instant was printed, and its time zone was not */

enum { WEEK_MS = 7 * 24 * 3600 * 1000 };

void cli_term_lose(int error)
{
	lost = lost ? lost : error;
}

static ssize_t write_all(void *context, const char *data, size_t length)
{
	int error = cli_screen_write((struct roger_str){ data, length });

	(void)context;
	if (error)
		cli_term_lose(error);
	return error ? 0 : (ssize_t)length;
}

static bool to_terminal; /* asked once: each time is a system call */

bool cli_term_open(void)
{
	to_terminal = cli_screen_width() > 0;
	cli_out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_all });
	if (cli_out && to_terminal)
		setvbuf(cli_out, NULL, _IOLBF, 0);
	return cli_out != NULL;
}

int cli_term_flush(void)
{
	int error;

	fflush(cli_out);
	error = cli_screen_flush();
	if (error)
		cli_term_lose(error);
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
	errors_to_terminal = isatty(STDERR_FILENO);
	if (strcmp(when, "always") == 0)
		colours = true;
	else if (strcmp(when, "never") == 0 || (no && *no))
		colours = false;
	else if (force && *force && strcmp(force, "0") != 0)
		colours = true;
	else
		colours = to_terminal && term && strcmp(term, "dumb") != 0;
}

const char *cli_style(enum cli_style style)
{
	static const char *const codes[] = { "\033[0m",	 "\033[1m",  "\033[2m", "\033[31m",
					     "\033[32m", "\033[33m", "\033[36m" };

	return colours ? codes[style] : "";
}

bool cli_is_crlf(struct roger_str text, size_t at)
{
	return at + 1 < text.length && text.data[at] == '\r' && text.data[at + 1] == '\n';
}

static void print_escaped(FILE *to, enum rg_target target, struct roger_str text)
{
	char escaped[RG_ESCAPED_BYTES];
	struct roger_str piece;

	while (rg_escape_next(target, &text, escaped, &piece))
		fwrite(piece.data, 1, piece.length, to);
}

void cli_print_text(FILE *to, struct roger_str text, bool lines)
{
	print_escaped(to, lines ? RG_IN_LINES : RG_IN_LINE, text);
}

/* How many bytes fit into *columns; *columns is set to the rest. */
static size_t fit_bytes(struct roger_str text, size_t *columns)
{
	char escaped[RG_ESCAPED_BYTES];
	struct roger_str first, piece;
	size_t at = 0, taken;
	uint32_t c = 0;

	for (; at < text.length; at += first.length, *columns -= taken) {
		first.data = text.data + at;
		first.length = rg_utf8_next(first.data, text.length - at, &c);
		first.length += !first.length;
		rg_escape_next(RG_IN_LINE, &(struct roger_str){ first.data, first.length }, escaped,
			       &piece);
		taken = piece.data == escaped ? piece.length : rg_char_columns(c);
		if (taken > *columns)
			break;
	}
	return at;
}

size_t cli_bytes_within(struct roger_str text, size_t columns)
{
	return fit_bytes(text, &columns);
}

size_t cli_columns(struct roger_str text)
{
	size_t columns = SIZE_MAX;

	fit_bytes(text, &columns);
	return SIZE_MAX - columns;
}

void cli_complain(const char *what, struct roger_str text)
{
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };

	if (!isatty(STDERR_FILENO) || !cli_page_begin(&page)) {
		cli_say_to(stderr, "%s: %t\n", what, text);
		return;
	}
	cli_say_to(page.to, "%s: %t", what, text);
	if (cli_page_end(&page))
		cli_screen_complain((struct roger_str){ page.text, page.length });
}

void cli_print_note(struct roger_str text)
{
	cli_complain("note", text);
}

void cli_print_notes(const struct roger_strs *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		cli_print_note(texts->items[i]);
}

struct saying {
	FILE *to;
	va_list arguments;
	struct roger_str text; /* the last text */
	int64_t number;	       /* the last number */
	enum cli_style style;
	int width;
	bool plain; /* %t is printed as it is */
};

/* Take the argument of a letter; returns whether it is set. */
static bool take_argument(struct saying *saying, char what)
{
	switch (what) {
	case 't':
	case 'q':
		saying->text = va_arg(saying->arguments, struct roger_str);
		return saying->text.length;
	case 's':
		saying->text = rg_str(va_arg(saying->arguments, const char *));
		return saying->text.length;
	case 'd':
	case 'w':
		saying->number = va_arg(saying->arguments, int64_t);
		return saying->number;
	case 'S':
		saying->style = va_arg(saying->arguments, enum cli_style);
		return false;
	default:
		return false;
	}
}

static void say_one(struct saying *saying, char what)
{
	FILE *to = saying->to;
	char time[CLI_TIME_BYTES];
	int columns;

	(void)take_argument(saying, what);
	switch (what) {
	case 't':
	case 's':
		if (saying->plain || what == 's')
			fwrite(saying->text.data, 1, saying->text.length, to);
		else
			cli_print_text(to, saying->text, false);
		columns = saying->width ? (int)cli_columns(saying->text) : 0;
		if (columns < saying->width)
			fprintf(to, "%*s", saying->width - columns, "");
		break;
	case 'q':
		print_escaped(to, RG_IN_SIGHT, saying->text);
		break;
	case 'd':
		fprintf(to, "%*lld", saying->width, (long long)saying->number);
		break;
	case 'p':
		fputs(rg_plural(saying->number), to);
		break;
	case 'w':
		fputs(cli_when(saying->number, time), to);
		break;
	case 'S':
		fputs(cli_style(saying->style), to);
		break;
	case '.':
		fputs(cli_style(CLI_PLAIN), to);
		break;
	default:
		rg_assert(!"a letter of cli_say()");
	}
}

/* Return section if its first thing is set; else take its arguments, and return its end. */
static const char *pass_unset(struct saying *saying, const char *section)
{
	struct saying ahead = *saying;
	const char *at, *end = strstr(section, "%)");
	bool set = false, first = true;

	va_copy(ahead.arguments, saying->arguments);
	for (at = section; (at = strchr(at, '%')) < end; at++) {
		at += 1 + strspn(at + 1, "-0123456789");
		set |= take_argument(&ahead, *at) && first;
		first &= *at == 'S' || *at == '.';
	}
	if (!set) {
		va_end(saying->arguments);
		va_copy(saying->arguments, ahead.arguments);
	}
	va_end(ahead.arguments);
	return set ? section : end + 2;
}

static void say_format(struct saying *saying, const char *format)
{
	const char *next, *end;

	while (*(next = strchrnul(format, '%'))) {
		fwrite(format, 1, (size_t)(next - format), saying->to);
		format = next + 2;
		if (next[1] == '(')
			format = pass_unset(saying, format);
		if (next[1] == '(' || next[1] == ')')
			continue;
		end = next + 1 + (next[1] == '-');
		for (saying->width = 0; *end >= '0' && *end <= '9'; end++)
			saying->width = saying->width * 10 + *end - '0';
		if (*end == '*') {
			saying->width = va_arg(saying->arguments, int);
			end++;
		}
		say_one(saying, *end);
		format = end + 1;
	}
	fputs(format, saying->to);
}

void cli_say_to(FILE *to, const char *format, ...)
{
	struct saying saying = { .to = to };

	va_start(saying.arguments, format);
	say_format(&saying, format);
	va_end(saying.arguments);
}

void cli_page_free(struct cli_page *page)
{
	free(page->text);
}

void cli_say_plain(FILE *to, const char *format, va_list arguments)
{
	struct saying saying = { .to = to, .plain = true };

	va_copy(saying.arguments, arguments);
	say_format(&saying, format);
	va_end(saying.arguments);
}

bool cli_page_begin(struct cli_page *page)
{
	*page = (struct cli_page){ 0 };
	page->to = open_memstream(&page->text, &page->length);
	return page->to;
}

bool cli_page_end(struct cli_page *page)
{
	return fclose(page->to) == 0;
}

void cli_print_body(FILE *to, struct roger_str text, const char *indent)
{
	size_t length, step;
	bool ended = false;
	uint32_t c;

	do {
		/* The first line, with what ends it. */
		for (c = 0, length = 0; length < text.length && c != '\n' && !rg_char_ends_line(c);
		     length += step + !step)
			step = rg_utf8_next(text.data + length, text.length - length, &c);
		ended = length && text.data[length - 1] == '\n';
		fprintf(to, "%s%s", indent, to == cli_out && cli_screen_folds() ? CLI_HANG : "");
		cli_print_text(to, (struct roger_str){ text.data, length }, true);
		text.data += length;
		text.length -= length;
	} while (text.length);
	if (!ended)
		fputc('\n', to);
}

const char *cli_time(int64_t ms, char to[CLI_TIME_BYTES])
{
	time_t seconds = (time_t)(ms / 1000);
	int64_t local_ms;
	struct tm tm;

	if (ms <= 0 || !localtime_r(&seconds, &tm))
		return "-";
	local_ms = ms + tm.tm_gmtoff * INT64_C(1000);
	/* Like strftime(), in a tenth of its time; before 1970 and after 9999 it prints a number.
	 */
	rg_clock_print_utc(local_ms, to);
	if (local_ms < 0 || local_ms > RG_TIME_MS_MAX)
		return to;
	to[10] = ' ';
	to[19] = '\0';
	zone_owed = true;
	return to;
}

const char *cli_when(int64_t ms, char to[CLI_TIME_BYTES])
{
	static const struct {
		int64_t ms;
		const char *unit;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } };
	const int64_t now_ms = rg_clock_ms(), away = ms > now_ms ? ms - now_ms : now_ms - ms;
	size_t i = 0;

	if (!cli_screen_folds() || ms <= 0 || away >= WEEK_MS)
		return cli_time(ms, to);
	while (i < 3 && away < units[i].ms)
		i++;
	if (away < 1000)
		return "now";
	snprintf(to, CLI_TIME_BYTES, ms > now_ms ? "in %lld %s" : "%lld %s ago",
		 (long long)(away / units[i].ms), units[i].unit);
	return to;
}

void cli_print_zone(void)
{
	const time_t now = (time_t)(rg_clock_ms() / 1000);
	struct tm tm;
	char zone[64];

	if (zone_owed && cli_screen_folds() && localtime_r(&now, &tm) &&
	    strftime(zone, sizeof zone, tm.tm_gmtoff ? "%Z, UTC%z" : "%Z", &tm))
		cli_say("%Stimes are in %s%.\n", CLI_DIM, zone);
	zone_owed = false;
}

/* Print "1.2M" for a count, "312 MB" for bytes. */
static void print_amount(int64_t amount, bool bytes, char to[24])
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	double number = (double)amount;
	size_t i;

	for (i = 0; number >= 1000 && i + 1 < sizeof units / sizeof *units; i++)
		number /= 1000;
	snprintf(to, 24, i && number < 10 ? "%.1f%s%s%s" : "%.0f%s%s%s", number, bytes ? " " : "",
		 units[i], bytes ? "B" : "");
}

void cli_progress_words(const struct cli_work *work, char to[CLI_PROGRESS_BYTES])
{
	const char *unit = strchrnul(work->what, ' ');
	const bool bytes = !*unit;
	double seconds = (double)work->elapsed_ns / 1e9;
	double rate = seconds > 0 ? (double)(work->done - work->from) / seconds : 0;
	char done[24], total[24], each[24], left[40] = "";
	int64_t rest;

	if (!work->total) {
		snprintf(to, CLI_PROGRESS_BYTES, "%s: under way for %lld s", work->what,
			 (long long)work->done);
		return;
	}
	print_amount(work->done, bytes, done);
	print_amount(work->total, bytes, total);
	print_amount((int64_t)rate, bytes, each);
	if (rate > 0) {
		rest = (int64_t)((double)(work->total - work->done) / rate) + 1;
		snprintf(left, sizeof left, rest < 120 ? ", %lld s left" : ", %lld min left",
			 (long long)(rest < 120 ? rest : rest / 60));
	}
	snprintf(to, CLI_PROGRESS_BYTES, "%.*s: %s of %s%s, %s/s%s", (int)(unit - work->what),
		 work->what, done, total, unit, each, left);
}

enum { SHOWN_AFTER_MS = 1000, SHOWN_EACH_MS = 100, LINE = 78 };

bool cli_progress(void *context, const char *what, int64_t done, int64_t total)
{
	static struct cli_work work;
	static int64_t part_ns, shown_ns;
	int64_t now_ns = rg_clock_monotonic_ns();
	char words[CLI_PROGRESS_BYTES];

	(void)context;
	if (silent || !errors_to_terminal || (total <= 0 && done <= 0))
		return true;
	if (!work_ns)
		work_ns = now_ns;
	/* The next part of the work, or the next file. */
	if (!work.what || strcmp(work.what, what) != 0 || total != work.total || done < work.done) {
		work = (struct cli_work){ .what = what, .from = done, .total = total };
		part_ns = now_ns;
	}
	work.done = done;
	work.elapsed_ns = now_ns - part_ns;
	if (now_ns - work_ns < (int64_t)SHOWN_AFTER_MS * 1000000 ||
	    now_ns - shown_ns < (int64_t)SHOWN_EACH_MS * 1000000)
		return true;
	shown_ns = now_ns;
	cli_progress_words(&work, words);
	fprintf(stderr, "\r%-*.*s", LINE, LINE, words);
	fflush(stderr);
	bar_shown = true;
	return true;
}

void cli_progress_end(void)
{
	if (bar_shown) {
		fprintf(stderr, "\r%*s\r", LINE, "");
		fflush(stderr);
	}
	bar_shown = false;
	work_ns = 0;
}

void cli_print_json(FILE *to, const struct rg_buf *json)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };

	if (to == cli_out)
		cli_screen_raw();
	rg_buf_add_escaped(&out, RG_IN_JSON, rg_buf_str(json));
	rg_buf_add_char(&out, '\n');
	if (!json->failed && !out.failed)
		fwrite(out.data, 1, out.length, to);
	else if (to == cli_out)
		cli_term_lose(ENOMEM);
}
