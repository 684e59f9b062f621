#include "facts/watchdog_result.h"

#include "base/clock.h"
#include "base/limits.h"

/* Replaces bytes that are not text: U+FFFD. */
static const char replacement[] = "\xef\xbf\xbd", ellipsis[] = "\xe2\x80\xa6";

/* ------------------------------------------------------------- verdicts -- */

enum rg_verdict_of_end rg_ended_judge(const struct rg_ended *ended)
{
	if (ended->message)
		return RG_END_MESSAGE;
	if (ended->failed)
		return RG_END_FAILED;
	switch (ended->ending) {
	case RG_ENDED_BY_ITSELF:
		if (ended->words)
			return RG_END_WORDS;
		return ended->status == 0 && !ended->promised ? RG_END_SILENT : RG_END_FAILED;
	case RG_ENDED_UNSEEN:
		/* All that is known is a file it left, presumably complete. */
		return ended->words ? RG_END_WORDS : RG_END_FAILED;
	case RG_ENDED_BY_SIGNAL:
	case RG_ENDED_UNBEGUN:
		break;
	}
	return RG_END_FAILED;
}

void rg_ended_describe(const struct rg_ended *ended, struct rg_buf *out)
{
	char span[32];

	switch (ended->ending) {
	case RG_ENDED_BY_ITSELF:
		rg_buf_printf(out, "exit %d", ended->status);
		break;
	case RG_ENDED_BY_SIGNAL:
		rg_buf_printf(out, "signal %d", ended->status);
		break;
	case RG_ENDED_UNSEEN:
		rg_buf_add_text(out, "lost");
		break;
	case RG_ENDED_UNBEGUN:
		rg_buf_add_text(out, ended->status == 127 ? "not found" : "cannot be run");
		break;
	}
	if (!ended->limit_ms)
		return;
	rg_clock_print_span(ended->limit_ms, span);
	rg_buf_printf(out, " after the limit of %s", span);
}

void rg_ended_child_exit(const struct rg_ended *ended, struct rg_buf *out)
{
	switch (ended->ending) {
	case RG_ENDED_BY_ITSELF:
		/* A 0 would look like success. */
		if (ended->status == 0 && rg_ended_judge(ended) == RG_END_FAILED)
			rg_buf_add_text(out, "failed");
		else
			rg_buf_add_int(out, ended->status);
		break;
	case RG_ENDED_BY_SIGNAL:
		rg_buf_printf(out, "signal %d", ended->status);
		break;
	case RG_ENDED_UNSEEN:
		rg_buf_add_text(out, "lost");
		break;
	case RG_ENDED_UNBEGUN:
		rg_buf_add_int(out, ended->status);
		break;
	}
}

int rg_ended_exit_status(const struct rg_ended *ended)
{
	switch (ended->ending) {
	case RG_ENDED_BY_ITSELF:
	case RG_ENDED_UNBEGUN:
		return ended->status;
	case RG_ENDED_BY_SIGNAL:
		return 128 + ended->status;
	case RG_ENDED_UNSEEN:
		break;
	}
	return rg_ended_judge(ended) == RG_END_FAILED ? 1 : 0;
}

/* ----------------------------------------------------------------- words -- */

void rg_last_output_add(struct rg_last_output *tail, const void *data, size_t length)
{
	const char *from = data;
	size_t at, piece;

	if (length > tail->capacity) {
		from += length - tail->capacity;
		tail->bytes += length - tail->capacity;
		length = tail->capacity;
	}
	while (length) {
		at = tail->bytes % tail->capacity;
		piece = tail->capacity - at < length ? tail->capacity - at : length;
		memcpy(tail->data + at, from, piece);
		tail->bytes += piece;
		from += piece;
		length -= piece;
	}
}

/* Remove blanks at the end and empty lines at the start. */
static struct roger_str without_blanks(struct roger_str text)
{
	struct roger_str rest, line;

	text = rg_str_without_end(text, " \t\r\n");
	for (rest = text; rg_str_next_line(&rest, &line) && rg_str_blank(line);)
		text = rest;
	return text;
}

/* Add any bytes as text: invalid UTF-8 and NUL are replaced. */
static void add_text(struct roger_str text, struct rg_buf *out)
{
	size_t at = 0, step;
	uint32_t c = 0;

	while (at < text.length) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		if (step == 0 || c == 0)
			rg_buf_add_text(out, replacement);
		else
			rg_buf_add(out, text.data + at, step);
		at += step ? step : 1;
	}
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Find where the last lines_max lines, of at most chars_max characters, start in valid text. */
static size_t start_of_last(struct roger_str text, size_t lines_max, size_t chars_max)
{
	size_t lines = 0, chars = 0, at = text.length;

	while (at > 0) {
		if (text.data[at - 1] == '\n' && ++lines == lines_max)
			break;
		if (!is_continuation(text.data[at - 1]) && chars++ == chars_max)
			break;
		at--;
	}
	while (at < text.length && is_continuation(text.data[at]))
		at++;
	return at;
}

void rg_last_output_words(const struct rg_last_output *tail, size_t lines_max, size_t chars_max,
			  struct rg_buf *out, bool *ret_cut)
{
	size_t kept = tail->bytes < tail->capacity ? (size_t)tail->bytes : tail->capacity,
	       at = tail->bytes % tail->capacity, start;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf raw = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str words;

	rg_buf_add(&raw, tail->data + at, kept - at);
	rg_buf_add(&raw, tail->data, at);
	words = rg_buf_str(&raw);
	*ret_cut = tail->bytes > kept;
	/* The first character may be cut off at its start. */
	while (*ret_cut && words.length && is_continuation(words.data[0]))
		words.data++, words.length--;
	add_text(without_blanks(words), &text);
	words = rg_buf_str(&text);
	start = start_of_last(words, lines_max, chars_max);
	*ret_cut |= start > 0;
	words.data += start;
	words.length -= start;
	rg_buf_add_str(out, without_blanks(words));
	out->failed |= raw.failed || text.failed;
}

void rg_text_words(struct roger_str text, size_t chars_max, struct rg_buf *out, bool *ret_cut)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf valid = { .maximum = SIZE_MAX };
	struct roger_str words;
	size_t at = 0, chars = 0;

	add_text(without_blanks(text), &valid);
	words = rg_buf_str(&valid);
	while (at < words.length && (is_continuation(words.data[at]) || chars++ < chars_max))
		at++;
	*ret_cut = at < words.length;
	words.length = at;
	rg_buf_add_str(out, words);
	out->failed |= valid.failed;
}

/* Keep a line from its last carriage return on, cut to the limit. */
static bool keep_line(struct roger_str line, struct rg_arena *arena, struct roger_str *ret)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf kept = { .maximum = SIZE_MAX };
	const char *overwritten;
	bool cut;

	line = rg_str_without_end(line, "\r");
	overwritten = memrchr(line.data, '\r', line.length);
	if (overwritten) {
		line.length -= (size_t)(overwritten + 1 - line.data);
		line.data = overwritten + 1;
	}
	rg_text_words(line, RG_TAIL_LINE_CHARS_MAX, &kept, &cut);
	if (cut)
		rg_buf_add_text(&kept, ellipsis);
	return rg_arena_keep(arena, &kept, ret);
}

bool rg_last_output_lines(const struct rg_last_output *tail, struct rg_arena *arena,
			  struct roger_strs *ret_lines)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str rest, line, *kept;
	bool cut;

	*ret_lines = (struct roger_strs){ 0 };
	rg_last_output_words(tail, RG_TAIL_LINES_MAX, RG_TAIL_CHARS_MAX, &text, &cut);
	rest = rg_buf_str(&text);
	while (!text.failed && rg_str_next_line(&rest, &line)) {
		kept = rg_arena_push(arena, &ret_lines->items, &ret_lines->count, sizeof *kept);
		if (!kept || !keep_line(line, arena, kept))
			return false;
	}
	return !text.failed;
}

void rg_command_print(struct roger_strs words, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	bool cut;
	size_t i;

	for (i = 0; i < words.count; i++) {
		if (i)
			rg_buf_add_char(&line, ' ');
		rg_buf_add_shell_word(&line, words.items[i]);
	}
	rg_text_words(rg_buf_str(&line), RG_TAIL_LINE_CHARS_MAX, out, &cut);
	if (cut)
		rg_buf_add_text(out, ellipsis);
	out->failed |= line.failed;
}

static void add_state(const struct rg_ended *ended, const struct rg_last_words *words,
		      struct rg_buf *out)
{
	rg_ended_describe(ended, out);
	if (words->cut)
		rg_buf_printf(out, "; this is part of %lld bytes", (long long)words->bytes);
}

/* Add what the failed run ran, for how long, and the last words of each stream. */
static void add_failure(const struct rg_last_words *words, struct rg_buf *out)
{
	char span[32];

	if (words->command.length) {
		rg_clock_print_span(words->duration_ms, span);
		rg_buf_printf(out, " It ran %s: %.*s", span, RG_STR_ARGS(words->command));
	}
	if (words->output.length) {
		rg_buf_add_text(out, words->command.length ? "\nIts last words:\n"
							   : " Its last words:\n");
		rg_buf_add_str(out, words->output);
	}
	if (words->errors.length) {
		rg_buf_add_text(out, "\nIts last words on standard error:\n");
		rg_buf_add_str(out, words->errors);
	}
}

void rg_ended_message(const struct rg_ended *ended, enum rg_verdict_of_end verdict,
		      struct roger_str run_id, const struct rg_last_words *words,
		      struct rg_buf *out)
{
	bool well = ended->ending == RG_ENDED_BY_ITSELF && ended->status == 0 && !ended->limit_ms;

	switch (verdict) {
	case RG_END_MESSAGE:
		break;
	case RG_END_SILENT:
		rg_buf_printf(out, "Run %.*s is done and printed nothing%s: ", RG_STR_ARGS(run_id),
			      words->bytes ? " to read" : "");
		rg_ended_describe(ended, out);
		rg_buf_add_char(out, '.');
		break;
	case RG_END_WORDS:
		if (!well || words->cut) {
			rg_buf_add_char(out, '[');
			add_state(ended, words, out);
			rg_buf_add_text(out, "]\n");
		}
		rg_buf_add_str(out, words->output);
		if (!well && words->errors.length) {
			rg_buf_add_text(out, "\n[standard error]\n");
			rg_buf_add_str(out, words->errors);
		}
		break;
	case RG_END_FAILED:
		rg_buf_printf(out, "Run %.*s ended without a result: ", RG_STR_ARGS(run_id));
		add_state(ended, words, out);
		rg_buf_add_char(out, '.');
		add_failure(words, out);
		break;
	}
}
