/*
 * What facts/watchdog_result.h promises: every way to end, with and without
 * words, a message, a promise and a word of failure, is judged as the header
 * says; and the tail of any output, in pieces of any size, is what one gets who
 * keeps all of it and then takes its last lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "harsh.h"
#include "facts/watchdog_result.h"

static const enum rg_ending endings[] = { RG_ENDED_BY_ITSELF, RG_ENDED_BY_SIGNAL, RG_ENDED_UNSEEN,
					  RG_ENDED_UNBEGUN };

/* The same rule, said another way round. */
static enum rg_verdict_of_end expected(const struct rg_ended *e)
{
	bool own = e->ending == RG_ENDED_BY_ITSELF, unseen = e->ending == RG_ENDED_UNSEEN;

	if (e->message)
		return RG_END_MESSAGE;
	if (!e->failed && e->words && (own || unseen))
		return RG_END_WORDS;
	if (!e->failed && own && !e->words && e->status == 0 && !e->promised)
		return RG_END_SILENT;
	return RG_END_FAILED;
}

static void check_texts(const struct rg_ended *ended)
{
	enum rg_verdict_of_end verdict = rg_ended_judge(ended);
	struct rg_buf exit_text, message;
	int status = rg_ended_exit_status(ended);
	size_t chars;

	rg_buf_init(&exit_text, SIZE_MAX);
	rg_buf_init(&message, SIZE_MAX);
	rg_ended_child_exit(ended, &exit_text);
	rg_ended_message(ended, verdict, RG_STR("r1"),
			 &(struct rg_last_words){ .output = RG_STR("WORDS"), .bytes = 5 },
			 &message);
	/* "0" says that all is well, so a failure is never called that. */
	assert_true(exit_text.length > 0);
	if (verdict == RG_END_FAILED && !ended->failed)
		assert_false(rg_str_is(rg_buf_str(&exit_text), "0"));
	assert_true(status >= 0 && status <= 255);
	if (ended->ending == RG_ENDED_BY_ITSELF)
		assert_int_equal(status, ended->status);
	assert_int_equal(message.length == 0, verdict == RG_END_MESSAGE);
	assert_true(rg_utf8_count(rg_buf_str(&message), &chars));
	if (verdict == RG_END_WORDS && ended->ending == RG_ENDED_BY_ITSELF && ended->status == 0 &&
	    !ended->limit_ms)
		assert_true(rg_str_is(rg_buf_str(&message), "WORDS"));
	rg_buf_deinit(&message);
	rg_buf_deinit(&exit_text);
}

static void every_end(void **state)
{
	static const int statuses[] = { 0, 1, 2, 9, 127, 255 };
	struct rg_ended ended;
	size_t i, k;
	unsigned bits;

	(void)state;
	for (i = 0; i < sizeof endings / sizeof *endings; i++)
		for (k = 0; k < sizeof statuses / sizeof *statuses; k++)
			for (bits = 0; bits < 32; bits++) {
				/* Signals end at 64, and what did not begin has its own. */
				if ((endings[i] == RG_ENDED_BY_SIGNAL && statuses[k] > 64) ||
				    (endings[i] == RG_ENDED_UNBEGUN && statuses[k] != 127))
					continue;
				ended = (struct rg_ended){
					endings[i], statuses[k], bits & 16 ? 3600000 : 0,
					bits & 1,   bits & 2,	 bits & 4,
					bits & 8
				};
				assert_int_equal(rg_ended_judge(&ended), expected(&ended));
				check_texts(&ended);
			}
}

static void says(const struct rg_ended *ended, enum rg_verdict_of_end verdict, const char *words,
		 bool cut, const char *text)
{
	struct rg_buf message;

	rg_buf_init(&message, SIZE_MAX);
	rg_ended_message(ended, verdict, RG_STR("r1"),
			 &(struct rg_last_words){
				 .output = rg_str(words), .cut = cut, .bytes = cut ? 5000 : 0 },
			 &message);
	rg_buf_add_char(&message, '\0');
	assert_string_equal(message.data, text);
	rg_buf_deinit(&message);
}

static void what_the_owner_reads(void **state)
{
	const struct rg_ended well = { .ending = RG_ENDED_BY_ITSELF },
			      three = { .ending = RG_ENDED_BY_ITSELF, .status = 3 },
			      killed = { .ending = RG_ENDED_BY_SIGNAL,
					 .status = 9,
					 .limit_ms = 3600000 },
			      unseen = { .ending = RG_ENDED_UNSEEN },
			      late = { .ending = RG_ENDED_BY_ITSELF, .limit_ms = 1000 },
			      absent = { .ending = RG_ENDED_UNBEGUN, .status = 127 };

	(void)state;
	says(&well, RG_END_WORDS, "fine", false, "fine");
	says(&well, RG_END_WORDS, "fine", true, "[exit 0; this is part of 5000 bytes]\nfine");
	says(&well, RG_END_SILENT, "", false, "Run r1 is done and printed nothing: exit 0.");
	says(&well, RG_END_SILENT, "", true, "Run r1 is done and printed nothing to read: exit 0.");
	says(&three, RG_END_WORDS, "oops", false, "[exit 3]\noops");
	says(&three, RG_END_FAILED, "", false, "Run r1 ended without a result: exit 3.");
	says(&killed, RG_END_FAILED, "half", false,
	     "Run r1 ended without a result: signal 9 after the limit of 1h 0m. Its last "
	     "words:\nhalf");
	says(&absent, RG_END_FAILED, "", false, "Run r1 ended without a result: not found.");
	says(&well, RG_END_MESSAGE, "", false, "");
	says(&well, RG_END_MESSAGE, "words", true, "");
	says(&late, RG_END_SILENT, "", false,
	     "Run r1 is done and printed nothing: exit 0 after the limit of 1.0s.");
	says(&unseen, RG_END_WORDS, "fine", false, "[lost]\nfine");
	says(&late, RG_END_WORDS, "fine", false, "[exit 0 after the limit of 1.0s]\nfine");
	says(&three, RG_END_FAILED, "x", true,
	     "Run r1 ended without a result: exit 3; this is part of 5000 bytes. Its last "
	     "words:\nx");
}

static void reads(void (*print)(const struct rg_ended *, struct rg_buf *),
		  const struct rg_ended *ended, const char *text)
{
	struct rg_buf out;

	rg_buf_init(&out, SIZE_MAX);
	print(ended, &out);
	rg_buf_add_char(&out, '\0');
	assert_string_equal(out.data, text);
	rg_buf_deinit(&out);
}

/* Each way to end in words, for the run's document, and as a shell tells it. */
static void every_end_is_told(void **state)
{
	static const struct {
		struct rg_ended ended;
		const char *text, *child_exit;
		int status;
	} cases[] = {
		{ { .ending = RG_ENDED_BY_ITSELF }, "exit 0", "0", 0 },
		{ { .ending = RG_ENDED_BY_ITSELF, .promised = true }, "exit 0", "failed", 0 },
		{ { .ending = RG_ENDED_BY_ITSELF, .failed = true }, "exit 0", "failed", 0 },
		{ { .ending = RG_ENDED_BY_ITSELF, .status = 3 }, "exit 3", "3", 3 },
		{ { .ending = RG_ENDED_BY_ITSELF, .status = 3, .words = true }, "exit 3", "3", 3 },
		{ { .ending = RG_ENDED_BY_ITSELF, .limit_ms = 1000 },
		  "exit 0 after the limit of 1.0s",
		  "0",
		  0 },
		{ { .ending = RG_ENDED_BY_SIGNAL, .status = 15 }, "signal 15", "signal 15", 143 },
		{ { .ending = RG_ENDED_UNSEEN }, "lost", "lost", 1 },
		{ { .ending = RG_ENDED_UNSEEN, .words = true }, "lost", "lost", 0 },
		{ { .ending = RG_ENDED_UNSEEN, .message = true }, "lost", "lost", 0 },
		{ { .ending = RG_ENDED_UNBEGUN, .status = 126 }, "cannot be run", "126", 126 },
		{ { .ending = RG_ENDED_UNBEGUN, .status = 127 }, "not found", "127", 127 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		reads(rg_ended_describe, &cases[i].ended, cases[i].text);
		reads(rg_ended_child_exit, &cases[i].ended, cases[i].child_exit);
		assert_int_equal(rg_ended_exit_status(&cases[i].ended), cases[i].status);
	}
}

/* ----------------------------------------------------------------- words -- */

static void tail_is(const char *output, size_t length, size_t lines, size_t chars, size_t capacity,
		    size_t piece, const char *words, bool cut)
{
	char *memory = malloc(capacity);
	struct rg_last_output tail = { .data = memory, .capacity = capacity };
	struct rg_buf out;
	bool was_cut;
	size_t at;

	for (at = 0; at < length; at += piece)
		rg_last_output_add(&tail, output + at, length - at < piece ? length - at : piece);
	rg_buf_init(&out, SIZE_MAX);
	rg_last_output_words(&tail, lines, chars, &out, &was_cut);
	assert_false(out.failed);
	assert_int_equal(tail.bytes, length);
	assert_int_equal(out.length, strlen(words));
	assert_memory_equal(out.length ? out.data : "", words, out.length);
	assert_int_equal(was_cut, cut);
	rg_buf_deinit(&out);
	free(memory);
}

#define TAIL(output, lines, chars, words, cut)                                                     \
	do {                                                                                       \
		size_t piece_;                                                                     \
		for (piece_ = 1; piece_ <= sizeof output; piece_++)                                \
			tail_is(output, sizeof output - 1, lines, chars, 4096, piece_, words,      \
				cut);                                                              \
	} while (0)

static void tails(void **state)
{
	(void)state;
	TAIL("", 3, 100, "", false);
	TAIL("\n \t\r\n\n", 3, 100, "", false);
	TAIL("one", 3, 100, "one", false);
	TAIL("one\n", 3, 100, "one", false);
	TAIL("\n\n  one\n two\r\n\n", 3, 100, "  one\n two", false);
	TAIL("1\n2\n3\n", 3, 100, "1\n2\n3", false);
	TAIL("1\n2\n3\n4\n", 3, 100, "2\n3\n4", true);
	TAIL("abcdef", 3, 4, "cdef", true);
	TAIL("abcd", 3, 4, "abcd", false);
	TAIL("\xc3\xa4\xc3\xb6\xc3\xbc", 3, 2, "\xc3\xb6\xc3\xbc", true);
	TAIL("a\xff\xfe"
	     "b",
	     3, 100,
	     "a\xef\xbf\xbd\xef\xbf\xbd"
	     "b",
	     false);
	TAIL("a\0b", 3, 100,
	     "a\xef\xbf\xbd"
	     "b",
	     false);
	TAIL("\xc3", 3, 100, "\xef\xbf\xbd", false);
	TAIL("a\x1b[31mred", 3, 100, "a\x1b[31mred", false);
}

/* Where text begins, after bytes that are none or that are cut. */
static void odd_starts(void **state)
{
	(void)state;
	/* More of a character than is kept, and nothing else. */
	tail_is("\xe2\x82\xac", 3, 20, 4000, 2, 1, "", true);
	tail_is("\xe2\x82\xac", 3, 20, 4000, 1, 3, "", true);
	/* Nothing was cut, so that what begins the output is its own. */
	tail_is("\x82"
		"a",
		2, 20, 4000, 2, 1,
		"\xef\xbf\xbd"
		"a",
		false);
	/* A half at the end, and one character more than asked for. */
	TAIL("ab\xe2\x82", 3, 100, "ab\xef\xbf\xbd\xef\xbf\xbd", false);
	TAIL("xabc", 3, 3, "abc", true);
	/* No character at all: nothing behind the text is taken for the rest of one. */
	TAIL("abc", 3, 0, "", true);
	TAIL("ab\xc3\xa1", 3, 0, "", true);
	TAIL("\nx\n", 1, 100, "x", false);
	TAIL("a\nx", 1, 100, "x", true);
	TAIL("\xc3\xa1"
	     "b",
	     3, 1, "b", true);
	TAIL("\xc3\x81"
	     "b",
	     3, 2,
	     "\xc3\x81"
	     "b",
	     false);
}

static void lines_are(const char *output, size_t count, const char *const *lines)
{
	struct rg_last_output tail = { .data = malloc(20000), .capacity = 20000 };
	struct rg_arena *arena = rg_arena_new();
	struct roger_strs found;
	size_t i;

	rg_last_output_add(&tail, output, strlen(output));
	assert_true(rg_last_output_lines(&tail, arena, &found));
	assert_int_equal(found.count, count);
	for (i = 0; i < count; i++)
		assert_true(rg_str_is(found.items[i], lines[i]));
	rg_arena_free(arena);
	free(tail.data);
}

static void last_lines(void **state)
{
	char wide[600] = "", cut[sizeof wide + 3];

	(void)state;
	memset(wide, 'w', RG_TAIL_LINE_CHARS_MAX);
	lines_are("", 0, NULL);
	lines_are("\n \n", 0, NULL);
	lines_are("one", 1, (const char *const[]){ "one" });
	lines_are("one\n  two \n\nthree\n\n", 4,
		  (const char *const[]){ "one", "  two", "", "three" });
	lines_are("10%\r50%\r100%\r\nnext\r\n", 2, (const char *const[]){ "100%", "next" });
	lines_are(wide, 1, (const char *const[]){ wide });
	snprintf(cut, sizeof cut, "%s\xe2\x80\xa6", wide);
	strcat(wide, "w");
	lines_are(wide, 1, (const char *const[]){ cut });
}

static void command_is(struct roger_strs words, const char *text)
{
	struct rg_buf out = { .maximum = SIZE_MAX };

	rg_command_print(words, &out);
	rg_buf_add_char(&out, '\0');
	assert_string_equal(out.data, text);
	rg_buf_deinit(&out);
}

static void commands(void **state)
{
	struct roger_str words[] = { RG_STR("sh"), RG_STR("-c"), RG_STR("a b"), RG_STR("") };
	char wide[600] = "", cut[600];

	(void)state;
	command_is((struct roger_strs){ words, 4 }, "sh -c 'a b' ''");
	memset(wide, 'w', sizeof wide - 1);
	words[0] = rg_str(wide);
	snprintf(cut, sizeof cut, "%.*s\xe2\x80\xa6", RG_TAIL_LINE_CHARS_MAX, wide);
	command_is((struct roger_strs){ words, 1 }, cut);
}

static void a_failure_says_all(void **state)
{
	const struct rg_ended three = { .ending = RG_ENDED_BY_ITSELF, .status = 3 };
	struct rg_last_words words = { .errors = RG_STR("why"),
				       .command = RG_STR("make check"),
				       .duration_ms = 2000 };
	struct rg_buf out = { .maximum = SIZE_MAX };

	(void)state;
	rg_ended_message(&three, RG_END_FAILED, RG_STR("r1"), &words, &out);
	rg_buf_add_char(&out, '|');
	words.output = RG_STR("half");
	rg_ended_message(&three, RG_END_FAILED, RG_STR("r1"), &words, &out);
	rg_buf_add_char(&out, '|');
	rg_ended_message(&three, RG_END_WORDS, RG_STR("r1"), &words, &out);
	rg_buf_add_char(&out, '\0');
	assert_string_equal(out.data,
			    "Run r1 ended without a result: exit 3. It ran 2.0s: make check\n"
			    "Its last words on standard error:\nwhy|"
			    "Run r1 ended without a result: exit 3. It ran 2.0s: make check\n"
			    "Its last words:\nhalf\nIts last words on standard error:\nwhy|"
			    "[exit 3]\nhalf\n[standard error]\nwhy");
	rg_buf_deinit(&out);
}

static int tail_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	char memory[3000];
	struct rg_last_output tail = { .data = memory, .capacity = sizeof memory };
	char output[3000];
	struct roger_strs lines;
	struct rg_buf out;
	bool cut, failed;

	memset(output, 'x', sizeof output);
	rg_last_output_add(&tail, output, sizeof output);
	rg_buf_init(&out, SIZE_MAX);
	rg_last_output_words(&tail, 20, 4000, &out, &cut);
	rg_text_words((struct roger_str){ output, sizeof output }, 4000, &out, &cut);
	failed = out.failed || !rg_last_output_lines(&tail, arena, &lines);
	rg_buf_deinit(&out);
	return failed ? rg_fail_memory(err) : ROGER_OK;
}

/* What had no memory before stays failed, whatever comes then. */
static void memory_may_run_out(void **state)
{
	char memory[8];
	struct rg_last_output tail = { .data = memory, .capacity = sizeof memory };
	struct rg_buf out;
	bool cut;

	(void)state;
	scarce_everywhere(tail_scarcely);
	rg_buf_init(&out, 2);
	rg_buf_add_text(&out, "too long");
	rg_last_output_words(&tail, 20, 4000, &out, &cut);
	assert_true(out.failed);
	rg_text_words(RG_STR("x"), 4000, &out, &cut);
	assert_true(out.failed);
	rg_buf_deinit(&out);
}

static void any_output(void **state)
{
	enum { LENGTH = 300 };
	char output[LENGTH], words[LENGTH + 1];
	unsigned seed = 7;
	size_t length, capacity, piece, i;

	(void)state;
	/* Letters alone, so that the last of them are easily told. */
	for (i = 0; i < LENGTH; i++) {
		seed = seed * 1103515245 + 12345;
		output[i] = (char)('a' + (seed >> 16) % 26);
	}
	for (length = 0; length <= LENGTH; length += 7)
		for (capacity = 1; capacity <= 2 * LENGTH; capacity = capacity * 2 + 3)
			for (piece = 1; piece <= LENGTH + 50; piece = piece * 3 + 1) {
				size_t kept = length < capacity ? length : capacity;

				memcpy(words, output + length - kept, kept);
				words[kept] = '\0';
				tail_is(output, length, 20, 4000, capacity, piece, words,
					kept < length);
			}
}

static void broken_at_the_start(void **state)
{
	(void)state;
	/* What is kept begins in the middle of a character. */
	tail_is("x\xe2\x82\xac"
		"end",
		7, 20, 4000, 5, 3, "end", true);
	tail_is("x\xe2\x82\xac"
		"end",
		7, 20, 4000, 6, 3,
		"\xe2\x82\xac"
		"end",
		true);
}

static void files(void **state)
{
	struct rg_buf out;
	bool cut;

	(void)state;
	rg_buf_init(&out, SIZE_MAX);
	rg_text_words(RG_STR("\n\n\xc3\xa4\xc3\xb6\xc3\xbc and more\n"), 3, &out, &cut);
	assert_true(rg_str_is(rg_buf_str(&out), "\xc3\xa4\xc3\xb6\xc3\xbc"));
	assert_true(cut);
	rg_buf_clear(&out);
	rg_text_words(RG_STR("abc\n"), 3, &out, &cut);
	assert_true(rg_str_is(rg_buf_str(&out), "abc"));
	assert_false(cut);
	rg_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_end),
		cmocka_unit_test(what_the_owner_reads),
		cmocka_unit_test(every_end_is_told),
		cmocka_unit_test(odd_starts),
		cmocka_unit_test(last_lines),
		cmocka_unit_test(commands),
		cmocka_unit_test(a_failure_says_all),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(tails),
		cmocka_unit_test(any_output),
		cmocka_unit_test(broken_at_the_start),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
