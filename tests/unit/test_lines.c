/*
 * What store/lines.h and store/chain.h promise: lines come out whole whatever their length and
 * wherever the reads fall, an unfinished one does not come, one beyond the
 * bound comes without its text; the chain fits what was written and nothing
 * else, and finds its way again behind a line that does not fit.
 */
#include "place.h"

#include <fcntl.h>

#include "store/chain.h"

static int file_of(const char *bytes, size_t length)
{
	char path[] = "/tmp/roger-unit-XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	unlink(path);
	assert_int_equal(write(file, bytes, length), (ssize_t)length);
	return file;
}

static void lines_of_every_length(void **state)
{
	/* Around the reader's pieces of 256 KiB. */
	static const size_t lengths[] = { 0, 1, 2, 262143, 262144, 262145, 0, 524288, 5, 262139 };
	enum { COUNT = sizeof lengths / sizeof *lengths };
	struct rg_lines lines;
	struct rg_line line;
	struct rg_buf text;
	size_t i, k;
	bool found;
	struct rg_bytes bytes;
	int file;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	for (i = 0; i < COUNT; i++) {
		for (k = 0; k < lengths[i]; k++)
			rg_buf_add_char(&text, (char)('a' + i));
		rg_buf_add_char(&text, '\n');
	}
	rg_buf_add_text(&text, "unfinished");
	file = file_of(text.data, text.length);
	bytes = rg_bytes_of_file(file);
	rg_lines_init(&lines, &bytes, 0, text.length);
	for (i = 0; i < COUNT; i++) {
		assert_int_equal(rg_lines_next(&lines, &line, &found, NULL), ROGER_OK);
		assert_true(found);
		assert_int_equal(line.length, lengths[i]);
		assert_int_equal(line.text.length, lengths[i]);
		if (lengths[i])
			assert_int_equal(line.text.data[lengths[i] - 1], 'a' + (int)i);
	}
	assert_int_equal(rg_lines_next(&lines, &line, &found, NULL), ROGER_OK);
	assert_false(found);
	assert_int_equal(lines.at, text.length - strlen("unfinished"));
	rg_lines_deinit(&lines);
	rg_buf_deinit(&text);
	close(file);
}

static void too_long_lines_come_without_text(void **state)
{
	size_t length = RG_LINE_BYTES_MAX + 10;
	char *text = malloc(length + 8);
	struct rg_lines lines;
	struct rg_line line;
	bool found;
	struct rg_bytes bytes;
	int file;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', length);
	memcpy(text + length, "\nshort\n", 8);
	file = file_of(text, length + 7);
	bytes = rg_bytes_of_file(file);
	rg_lines_init(&lines, &bytes, 0, length + 7);
	assert_int_equal(rg_lines_next(&lines, &line, &found, NULL), ROGER_OK);
	assert_true(found && line.too_long && line.length == length && line.text.length == 0);
	assert_int_equal(rg_lines_next(&lines, &line, &found, NULL), ROGER_OK);
	assert_true(found && !line.too_long && rg_str_is(line.text, "short"));
	rg_lines_deinit(&lines);
	free(text);
	close(file);
}

static void chain_of_a_file_is_that_of_its_text(void **state)
{
	static const size_t lengths[] = {
		1, 100, RG_CHAIN_PIECE - 1, RG_CHAIN_PIECE, RG_CHAIN_PIECE + 1, 3 * RG_CHAIN_PIECE
	};
	char *text = calloc(1, 3 * RG_CHAIN_PIECE);
	uint64_t chain;
	size_t i;
	struct rg_bytes bytes;
	int file;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < 3 * RG_CHAIN_PIECE; i++)
		text[i] = (char)(i * 7);
	file = file_of(text, 3 * RG_CHAIN_PIECE);
	bytes = rg_bytes_of_file(file);
	for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		chain = 42;
		assert_int_equal(rg_chain_over_bytes(&bytes, 0, lengths[i], &chain, NULL),
				 ROGER_OK);
		assert_true(chain == rg_chain_over(42, (struct roger_str){ text, lengths[i] }));
	}
	free(text);
	close(file);
}

static void chain_is_split_from_the_end_only(void **state)
{
	struct roger_str body;
	uint64_t chain;

	(void)state;
	assert_true(rg_chain_split(str("{\"a\":1,\"chain\":\"00ff00ff00ff00ff\"}"), &chain, &body));
	assert_true(chain == UINT64_C(0x00ff00ff00ff00ff) && rg_str_is(body, "{\"a\":1"));
	assert_false(
		rg_chain_split(str("{\"a\":1,\"chain\":\"00ff00ff00ff00fF\"}"), &chain, &body));
	assert_false(
		rg_chain_split(str("{\"chain\":\"00ff00ff00ff00ff\",\"a\":1}"), &chain, &body));
	assert_false(rg_chain_split(str(",\"chain\":\"00ff00ff00ff00ff\"}"), &chain, &body));
	assert_false(rg_chain_split(str(""), &chain, &body));
}

/* A line with its newline in *out; its chain goes on in *chain. */
static void add_own(struct rg_buf *out, const char *body, uint64_t *chain)
{
	*chain = rg_chain_over(*chain, rg_str(body));
	rg_buf_add_text(out, body);
	rg_chain_print(*chain, out);
	rg_buf_add_char(out, '\n');
}

/* The chain goes through five lines, of which these are roger's, to its end. */
static void expect_own(struct rg_buf *text, const bool expected[5], uint64_t written)
{
	const int file = file_of(text->data, text->length);
	const struct rg_bytes bytes = rg_bytes_of_file(file);
	struct rg_chain chain = { 0 };
	struct rg_lines lines;
	struct rg_line line;
	bool own[5], found;
	size_t count = 0;

	rg_lines_init(&lines, &bytes, 0, text->length);
	while (rg_lines_next(&lines, &line, &found, NULL) == ROGER_OK && found)
		assert_int_equal(rg_chain_step(&bytes, &line, &chain, &own[count++], NULL),
				 ROGER_OK);
	assert_int_equal(count, 5);
	assert_memory_equal(own, expected, sizeof own);
	assert_true(chain.value == written && !chain.doubt);
	rg_lines_deinit(&lines);
	rg_buf_deinit(text);
	close(file);
}

static void chain_finds_its_way_again(void **state)
{
	static const bool expected[] = { true, false, false, true, true };
	struct rg_buf text;
	uint64_t written = 0;
	size_t second;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	add_own(&text, "{\"n\":1", &written);
	written = rg_chain_over(written, str("foreign\n"));
	rg_buf_add_text(&text, "foreign\n");
	second = text.length;
	add_own(&text, "{\"n\":2", &written);
	add_own(&text, "{\"n\":3", &written);
	add_own(&text, "{\"n\":4", &written);
	text.data[second + 5] = '9'; /* the third line is altered */
	expect_own(&text, expected, written);
}

/* A line that was copied into the middle takes nothing with it. */
static void chain_goes_on_behind_what_was_put_in(void **state)
{
	static const bool expected[] = { true, true, false, true, true };
	struct rg_buf text;
	uint64_t written = 0;
	size_t second;
	char copy[100];

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	add_own(&text, "{\"n\":1", &written);
	second = text.length;
	add_own(&text, "{\"n\":2", &written);
	assert_in_range(second, 1, sizeof copy);
	memcpy(copy, text.data, second);
	rg_buf_add(&text, copy, second); /* the first line once more */
	add_own(&text, "{\"n\":3", &written);
	add_own(&text, "{\"n\":4", &written);
	expect_own(&text, expected, written);
}

/* Nor do two whose chains no line has. */
static void chain_goes_on_behind_two_that_were_put_in(void **state)
{
	static const bool expected[] = { true, false, false, true, true };
	struct rg_buf text;
	uint64_t written = 0;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	add_own(&text, "{\"n\":1", &written);
	rg_buf_add_text(&text, "{\"n\":7,\"chain\":\"0123456789abcdef\"}\n");
	rg_buf_add_text(&text, "{\"n\":8,\"chain\":\"fedcba9876543210\"}\n");
	add_own(&text, "{\"n\":2", &written);
	add_own(&text, "{\"n\":3", &written);
	expect_own(&text, expected, written);
}

static void a_database_has_a_chain_of_its_own(void **state)
{
	const struct roger_str body = str("{\"a\":1");
	const uint64_t sha = UINT64_C(0xc3df3583d2ce7fa2);

	(void)state;
	assert_true(rg_chain_over_sha(42, body) == sha);
	assert_true(rg_chain_fits(42, body, sha));
	assert_true(rg_chain_fits(42, body, rg_chain_over(42, body)));
	assert_false(rg_chain_fits(43, body, sha));
	assert_false(rg_chain_fits(42, str("{\"a\":2"), sha));
}

/* However the text is cut between lines, and whatever is between roger's. */
static void chain_follows_pieces(void **state)
{
	static const struct roger_str foreign = { "not roger's\n\n{\n", 15 };
	struct rg_buf text = { .maximum = SIZE_MAX };
	uint64_t chain = 0, whole = 0, pieces;
	size_t at;

	(void)state;
	rg_chain_add_entries(RG_STR("{\"a\":1}\n{\"b\":2}\n"), &chain, &text);
	rg_buf_add_str(&text, foreign);
	rg_chain_follow(rg_buf_str(&text), &whole);
	assert_int_not_equal(whole, chain);
	for (at = 1; at < text.length; at++) {
		if (text.data[at - 1] != '\n')
			continue;
		pieces = 0;
		rg_chain_follow((struct roger_str){ text.data, at }, &pieces);
		rg_chain_follow((struct roger_str){ text.data + at, text.length - at }, &pieces);
		assert_int_equal(pieces, whole);
	}
	/* What is added after them goes on from there. */
	chain = whole;
	at = text.length;
	rg_chain_add_entries(RG_STR("{\"c\":3}\n"), &chain, &text);
	rg_chain_follow((struct roger_str){ text.data + at, text.length - at }, &whole);
	assert_int_equal(whole, chain);
	rg_buf_deinit(&text);
}

static void add_foreign(struct rg_buf *text, size_t bytes)
{
	while (bytes--)
		rg_buf_add_char(text, bytes && bytes % 1000 ? 'x' : '\n');
}

/* Also from a file, where pieces of 4 and 64 KiB are looked at, from the end. */
static void check_found(const struct rg_buf *text)
{
	const int file = file_of(text->data, text->length);
	const struct rg_bytes bytes = rg_bytes_of_file(file);
	struct rg_chain found;
	uint64_t whole = 0;

	rg_chain_follow(rg_buf_str(text), &whole);
	assert_int_equal(rg_chain_find(&bytes, text->length, &found, NULL), ROGER_OK);
	assert_true(found.value == whole && found.unsure);
	close(file);
}

/* However much another program wrote behind the last line of roger's. */
static void chain_is_found_behind_lines_of_others(void **state)
{
	const size_t edges[] = { 4096, 4096 + (64 << 10), 4096 + 3 * (64 << 10) };
	struct rg_buf text = { .maximum = SIZE_MAX };
	uint64_t chain;
	size_t i;

	(void)state;
	for (i = 0; i < 3 * 160; i++) {
		rg_buf_clear(&text);
		chain = 0;
		rg_chain_add_entries(RG_STR("{\"a\":1}\n{\"b\":2}\n"), &chain, &text);
		add_foreign(&text, edges[i / 160] + 10 - i % 160);
		check_found(&text);
	}
	/* None of them is roger's. */
	rg_buf_clear(&text);
	add_foreign(&text, edges[1]);
	check_found(&text);
	rg_buf_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_every_length),
		cmocka_unit_test(too_long_lines_come_without_text),
		cmocka_unit_test(chain_of_a_file_is_that_of_its_text),
		cmocka_unit_test(chain_is_split_from_the_end_only),
		cmocka_unit_test(chain_finds_its_way_again),
		cmocka_unit_test(chain_goes_on_behind_what_was_put_in),
		cmocka_unit_test(chain_goes_on_behind_two_that_were_put_in),
		cmocka_unit_test(a_database_has_a_chain_of_its_own),
		cmocka_unit_test(chain_follows_pieces),
		cmocka_unit_test(chain_is_found_behind_lines_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
