/*
 * What store/file/log.h promises: entries come whole and in order behind whatever
 * stands there, each with a chain that fits; a torn end is closed off and
 * covered; the last line is found behind anything; purging leaves out what was
 * asked for, keeps all else as it stands and chains anew.
 */
#include "folder.h"

#include "host/file.h"
#include "store/chain.h"
#include "store/file/log.h"

#define NAME "x.jsonl"

/* Open from one append to the next, as in a handle. */
static struct rg_open_log kept = { .file = RG_NO_FILE };

static int setup(void **state)
{
	struct folder *folder = calloc(1, sizeof *folder);

	folder_make(folder);
	*state = folder;
	return 0;
}

static int teardown(void **state)
{
	rg_log_close(&kept);
	folder_remove(*state);
	free(*state);
	return 0;
}

static void append(struct folder *folder, const char *entries)
{
	struct roger_err err;

	if (rg_log_append(&kept, folder->open, NAME, true, rg_str(entries), false, &err) < 0)
		fail_msg("%s", err.message);
}

/* Whole lines of the file; *ret_own of these carry a chain that fits. */
static int check_chain(struct folder *folder, int *ret_own)
{
	struct rg_chain chain = { 0 };
	struct rg_bytes bytes;
	struct rg_lines lines;
	struct rg_line line;
	int file, count = 0;
	bool found, own;

	assert_int_equal(rg_file_open(folder->open, NAME, RG_FILE_READ, &file, NULL), ROGER_OK);
	bytes = rg_bytes_of_file(file);
	rg_lines_init(&lines, &bytes, 0, folder_size(folder, NAME));
	*ret_own = 0;
	for (;; count++) {
		assert_int_equal(rg_lines_next(&lines, &line, &found, NULL), ROGER_OK);
		if (!found)
			break;
		assert_int_equal(rg_chain_step(&bytes, &line, &chain, &own, NULL), ROGER_OK);
		*ret_own += own;
	}
	rg_lines_deinit(&lines);
	rg_file_close(file);
	return count;
}

static void expect(struct folder *folder, int lines, int own)
{
	int found;

	assert_int_equal(check_chain(folder, &found), lines);
	assert_int_equal(found, own);
}

/* ------------------------------------------------------------ appending -- */

static void entries_are_chained_from_the_first(void **state)
{
	append(*state, "{\"a\":1}\n");
	expect(*state, 1, 1);
	append(*state, "{\"a\":2}\n{\"a\":3}\n{\"a\":4}\n");
	expect(*state, 4, 4);
	append(*state, "");
	expect(*state, 4, 4);
}

static void nothing_to_add_makes_the_file(void **state)
{
	append(*state, "");
	assert_int_equal(faccessat(((struct folder *)*state)->open, NAME, F_OK, 0), 0);
	append(*state, "{\"a\":1}\n");
	expect(*state, 1, 1);
}

static void an_entry_stands_as_it_was_given(void **state)
{
	static const char entry[] = "{\"a\":\"b \\n } \\u0000 \xc3\xbc\"}\n";
	const size_t body = sizeof entry - 3;
	struct folder *folder = *state;
	char *text;

	assert_int_equal(rg_log_append(&kept, folder->open, NAME, true, rg_str(entry), true, NULL),
			 ROGER_OK);
	text = folder_read(folder, NAME);
	assert_memory_equal(text, entry, body);
	assert_memory_equal(text + body, ",\"chain\":\"", 10);
	assert_int_equal(strlen(text), body + RG_CHAIN_BYTES + 1);
	free(text);
}

/* What may stand at the end of a log; own: of these lines carry a chain of ours. */
static char *junk(size_t length, const char *before, const char *behind)
{
	char *text = malloc(strlen(before) + length + strlen(behind) + 1);

	assert_non_null(text);
	strcpy(text, before);
	memset(text + strlen(before), 'j', length);
	strcpy(text + strlen(before) + length, behind);
	return text;
}

static const char *const ends[] = {
	"foreign\n",
	"\n",
	"\n\n\n",
	"torn",
	"{\"a\":",
	"{\"a\":1}",
	"{\"a\":1}\n",
	"{\"a\":1}\r\n",
	"{\"a\":1,\"chain\":\"0123456789abcdef\"}\n",
	"{\"a\":1,\"chain\":\"0123456789abcdef\"}",
	"{\"a\":1,\"chain\":\"0123456789ABCDEF\"}\n",
	"{\"a\":1,\"chain\":\"0123456789abcdef\"} \n",
	",\"chain\":\"0123456789abcdef\"}",
	",\"chain\":\"0123456789abcdef\"}\n",
	"a\nb\nc",
	"\xff\xfe\x80",
	" ",
};
enum { ENDS = sizeof ends / sizeof *ends };

static int lines_in(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n' || text[1] == '\0';
	return lines;
}

/* Any two of them one behind the other, before, between and behind entries of ours. */
static void whatever_stands_there_is_covered(void **state)
{
	struct folder *folder = *state;
	int a, b, start, lines, own;

	for (start = 0; start < 2; start++)
		for (a = 0; a < ENDS; a++)
			for (b = 0; b < ENDS; b++) {
				unlinkat(folder->open, NAME, 0);
				lines = own = 0;
				if (start) {
					append(folder, "{\"n\":1}\n{\"n\":2}\n");
					lines += 2;
				}
				folder_append_text(folder, NAME, ends[a]);
				lines += lines_in(ends[a]);
				append(folder, "{\"n\":3}\n");
				folder_append_text(folder, NAME, ends[b]);
				lines += 1 + lines_in(ends[b]);
				append(folder, "{\"n\":4}\n{\"n\":5}\n");
				lines += 2;
				own = 2 * start + 3;
				expect(folder, lines, own);
			}
}

/* Our own last line, cut after each byte. */
static void a_torn_line_of_ours_is_closed_off(void **state)
{
	struct folder *folder = *state;
	size_t whole, cut, first;

	append(folder, "{\"n\":1}\n");
	first = folder_size(folder, NAME);
	append(folder, "{\"n\":2}\n");
	whole = folder_size(folder, NAME);
	for (cut = 0; cut <= whole; cut++) {
		char *text = folder_read(folder, NAME);

		text[cut] = '\0';
		unlinkat(folder->open, NAME, 0);
		folder_append_text(folder, NAME, text);
		free(text);
		append(folder, "{\"n\":3}\n");
		/* A line that lacks no more than its newline is whole again. */
		expect(folder, 1 + (cut > 0) + (cut > first),
		       1 + (cut >= first - 1) + (cut >= whole - 1));
		unlinkat(folder->open, NAME, 0);
		append(folder, "{\"n\":1}\n");
		append(folder, "{\"n\":2}\n");
	}
}

static void a_long_end_is_covered(void **state)
{
	static const size_t lengths[] = { 4000,	   4095,    4096,	   4097,  32767,
					  32768,   65535,   65536,	   65537, 131072,
					  1 << 20, 3 << 20, (9 << 20) + 17 };
	static const char *const behinds[] = { "",
					       "\n",
					       "\nshort\n",
					       "\nshort",
					       ",\"chain\":\"0123456789abcdef\"}",
					       ",\"chain\":\"0123456789abcdef\"}\n" };
	struct folder *folder = *state;
	size_t i, k;

	for (i = 0; i < sizeof lengths / sizeof *lengths; i++)
		for (k = 0; k < sizeof behinds / sizeof *behinds; k++) {
			char *text = junk(lengths[i], k % 2 ? "{" : "", behinds[k]);

			unlinkat(folder->open, NAME, 0);
			append(folder, "{\"n\":1}\n{\"n\":2}\n");
			folder_append_text(folder, NAME, text);
			append(folder, "{\"n\":3}\n");
			append(folder, "{\"n\":4}\n");
			expect(folder, 2 + lines_in(behinds[k][0] ? behinds[k] : "x") + 2, 4);
			unlinkat(folder->open, NAME, 0);
			folder_append_text(folder, NAME, text);
			append(folder, "{\"n\":3}\n");
			expect(folder, lines_in(behinds[k][0] ? behinds[k] : "x") + 1, 1);
			free(text);
		}
}

/* Two that take turns go on from each other. */
static void two_take_turns(void **state)
{
	struct folder *folder = *state;
	int other = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), i;
	struct rg_open_log log = { .file = RG_NO_FILE };

	for (i = 0; i < 20; i++) {
		append(folder, "{\"n\":1}\n");
		assert_int_equal(
			rg_log_append(&log, other, NAME, true, rg_str("{\"n\":2}\n"), false, NULL),
			ROGER_OK);
	}
	rg_log_close(&log);
	close(other);
	expect(folder, 40, 40);
}

static void a_file_that_was_replaced_is_the_log(void **state)
{
	struct folder *folder = *state;

	append(folder, "{\"n\":1}\n");
	assert_int_equal(renameat(folder->open, NAME, folder->open, "old"), 0);
	append(folder, "{\"n\":2}\n");
	expect(folder, 1, 1);
	assert_int_equal(renameat(folder->open, "old", folder->open, NAME), 0);
	append(folder, "{\"n\":3}\n");
	expect(folder, 2, 2);
}

static void cut(struct folder *folder, uint64_t length)
{
	int file = openat(folder->open, NAME, O_WRONLY | O_CLOEXEC);

	assert_int_equal(ftruncate(file, (off_t)length), 0);
	close(file);
}

/* While it is open, another program cuts it, adds to it, empties it, removes it. */
static void goes_on_from_what_others_left(void **state)
{
	struct folder *folder = *state;

	append(folder, "{\"n\":1}\n{\"n\":2}\n");
	cut(folder, folder_size(folder, NAME) - 10);
	append(folder, "{\"n\":3}\n");
	expect(folder, 3, 2);
	folder_append_text(folder, NAME, "not ours\nnor th");
	append(folder, "{\"n\":4}\n");
	expect(folder, 6, 3);
	cut(folder, 0);
	append(folder, "{\"n\":5}\n");
	expect(folder, 1, 1);
	unlinkat(folder->open, NAME, 0);
	append(folder, "{\"n\":6}\n");
	append(folder, "{\"n\":7}\n");
	expect(folder, 2, 2);
}

static void what_is_no_file_is_refused(void **state)
{
	struct folder *folder = *state;
	struct roger_str entry = rg_str("{\"n\":1}\n");
	struct roger_err err;

	assert_int_equal(symlinkat("elsewhere", folder->open, NAME), 0);
	assert_int_equal(rg_log_append(&kept, folder->open, NAME, true, entry, true, &err),
			 ROGER_EREFUSED);
	assert_int_equal(faccessat(folder->open, "elsewhere", F_OK, 0), -1);
	folder_append_text(folder, "elsewhere", "x\n");
	assert_int_equal(rg_log_append(&kept, folder->open, NAME, true, entry, true, &err),
			 ROGER_EREFUSED);
	assert_int_equal(folder_size(folder, "elsewhere"), 2);
	unlinkat(folder->open, NAME, 0);
	assert_int_equal(mkdirat(folder->open, NAME, 0700), 0);
	assert_int_equal(rg_log_append(&kept, folder->open, NAME, true, entry, true, &err),
			 ROGER_EREFUSED);
	unlinkat(folder->open, NAME, AT_REMOVEDIR);
	assert_int_equal(mkfifoat(folder->open, NAME, 0600), 0);
	assert_int_equal(rg_log_append(&kept, folder->open, NAME, true, entry, true, &err),
			 ROGER_EREFUSED);
}

/* ------------------------------------------------------------- the last -- */

static void expect_last(struct folder *folder, const char *expected)
{
	struct rg_bytes bytes;
	struct rg_buf text;
	int file;

	rg_buf_init(&text, SIZE_MAX);
	assert_int_equal(rg_file_open(folder->open, NAME, RG_FILE_READ, &file, NULL), ROGER_OK);
	bytes = rg_bytes_of_file(file);
	assert_int_equal(rg_lines_last(&bytes, folder_size(folder, NAME), &text, NULL), ROGER_OK);
	rg_file_close(file);
	assert_int_equal(text.length, strlen(expected));
	if (text.length)
		assert_memory_equal(text.data, expected, text.length);
	rg_buf_deinit(&text);
}

/* Add NULs, which need no room on the disk. */
static void grow(struct folder *folder, int64_t bytes)
{
	int file = openat(folder->open, NAME, O_WRONLY | O_CLOEXEC);

	assert_int_equal(ftruncate(file, folder_size(folder, NAME) + bytes), 0);
	close(file);
}

static void the_last_whole_line(void **state)
{
	struct folder *folder = *state;
	static const size_t lengths[] = { 1, 4094, 4095, 4096, 4097, 32768, 65536, 70000, 2 << 20 };
	size_t i;

	folder_append_text(folder, NAME, "");
	expect_last(folder, "");
	folder_append_text(folder, NAME, "torn");
	expect_last(folder, "");
	folder_append_text(folder, NAME, "\n");
	expect_last(folder, "torn");
	folder_append_text(folder, NAME, "one\n\n\n");
	expect_last(folder, "one");
	for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		char *text = junk(lengths[i], "", "");

		/* Behind many empty lines, and before a torn one. */
		memset(text, '\n', lengths[i]);
		folder_append_text(folder, NAME, text);
		expect_last(folder, i ? "two" : "one");
		memset(text, 'j', lengths[i]);
		folder_append_text(folder, NAME, text);
		expect_last(folder, i ? "two" : "one");
		folder_append_text(folder, NAME, "\n");
		expect_last(folder, text);
		folder_append_text(folder, NAME, "two\n");
		expect_last(folder, "two");
		free(text);
	}
	/* What has no end is looked at as far as a line may be long. */
	grow(folder, RG_LINE_BYTES_MAX - 1);
	expect_last(folder, "two");
	grow(folder, 1);
	expect_last(folder, "?");
	grow(folder, RG_FILE_BYTES_MAX / 2);
	expect_last(folder, "?");
}

/* -------------------------------------------------------------- purging -- */

static bool has_x(void *context, struct roger_str line)
{
	++*(int *)context;
	return memchr(line.data, 'x', line.length) != NULL;
}

static int64_t purge(struct folder *folder, int *ret_asked)
{
	struct roger_err err;
	int64_t dropped;

	*ret_asked = 0;
	if (rg_log_purge(folder->open, NAME, has_x, ret_asked, &dropped, &err) < 0)
		fail_msg("%s", err.message);
	return dropped;
}

static void purging_keeps_all_else(void **state)
{
	struct folder *folder = *state;
	char *before, *after;
	int a, asked, lines;

	for (a = 0; a < ENDS; a++) {
		unlinkat(folder->open, NAME, 0);
		append(folder, "{\"x\":1}\n{\"n\":1}\n");
		folder_append_text(folder, NAME, ends[a]);
		append(folder, "{\"x\":2}\n{\"n\":2}\n");
		folder_append_text(folder, NAME, "a x\nb\n");
		folder_append_text(folder, NAME, ends[a]);
		lines = 6 + 2 * lines_in(ends[a]);
		assert_int_equal(purge(folder, &asked), 3);
		assert_int_equal(asked, lines);
		after = folder_read(folder, NAME);
		assert_null(strchr(after, 'x'));
		assert_non_null(strstr(after, "{\"n\":1,\"chain\""));
		assert_non_null(strstr(after, "\nb\n"));
		/* Of the foreign lines those with a chain get one of ours. */
		if (!strstr(ends[a], "chain\":\"0123456789abcdef\"}") || strstr(ends[a], "} \n"))
			expect(folder, lines - 3, 2);
		append(folder, "{\"n\":3}\n");
		assert_int_equal(purge(folder, &asked), 0);
		before = folder_read(folder, NAME);
		assert_int_equal(strncmp(before, after, strlen(after)), 0);
		free(before);
		free(after);
	}
}

static void a_purged_log_is_chained_anew(void **state)
{
	struct folder *folder = *state;
	int asked, i;

	for (i = 0; i < 200; i++)
		append(folder, i % 3 ? "{\"x\":1}\n" : "{\"n\":1}\n{\"n\":2}\n");
	assert_int_equal(purge(folder, &asked), 133);
	expect(folder, 134, 134);
	append(folder, "{\"n\":3}\n");
	expect(folder, 135, 135);
}

static void nothing_to_purge_changes_nothing(void **state)
{
	struct folder *folder = *state;
	struct stat before, after;
	int asked;

	assert_int_equal(purge(folder, &asked), 0);
	assert_int_equal(faccessat(folder->open, NAME, F_OK, 0), -1);
	append(folder, "{\"n\":1}\n");
	folder_append_text(folder, NAME, "torn");
	assert_int_equal(fstatat(folder->open, NAME, &before, 0), 0);
	assert_int_equal(purge(folder, &asked), 0);
	assert_int_equal(fstatat(folder->open, NAME, &after, 0), 0);
	assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
}

static void all_may_go(void **state)
{
	struct folder *folder = *state;
	int asked;

	append(folder, "{\"x\":1}\n{\"x\":2}\n");
	assert_int_equal(purge(folder, &asked), 2);
	assert_int_equal(folder_size(folder, NAME), 0);
	expect_last(folder, "");
	append(folder, "{\"n\":1}\n");
	expect(folder, 1, 1);
}

static void a_long_line_survives_purging(void **state)
{
	struct folder *folder = *state;
	char *text = junk((9 << 20) + 3, "{", ",\"chain\":\"0123456789abcdef\"}\n");
	char *after;
	int asked;

	append(folder, "{\"x\":1}\n{\"n\":1}\n");
	folder_append_text(folder, NAME, text);
	append(folder, "{\"n\":2}\n");
	assert_int_equal(purge(folder, &asked), 1);
	expect(folder, 3, 2);
	after = folder_read(folder, NAME);
	assert_non_null(strstr(after, text));
	free(after);
	free(text);
}

static void what_is_no_file_is_not_purged(void **state)
{
	struct folder *folder = *state;
	int64_t dropped;
	int asked = 0;

	folder_append_text(folder, "elsewhere", "x\n");
	assert_int_equal(symlinkat("elsewhere", folder->open, NAME), 0);
	assert_int_equal(rg_log_purge(folder->open, NAME, has_x, &asked, &dropped, NULL),
			 ROGER_EREFUSED);
	assert_int_equal(folder_size(folder, "elsewhere"), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entries_are_chained_from_the_first),
		TEST(nothing_to_add_makes_the_file),
		TEST(an_entry_stands_as_it_was_given),
		TEST(whatever_stands_there_is_covered),
		TEST(a_torn_line_of_ours_is_closed_off),
		TEST(a_long_end_is_covered),
		TEST(two_take_turns),
		TEST(a_file_that_was_replaced_is_the_log),
		TEST(goes_on_from_what_others_left),
		TEST(what_is_no_file_is_refused),
		TEST(the_last_whole_line),
		TEST(purging_keeps_all_else),
		TEST(a_purged_log_is_chained_anew),
		TEST(nothing_to_purge_changes_nothing),
		TEST(all_may_go),
		TEST(a_long_line_survives_purging),
		TEST(what_is_no_file_is_not_purged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
