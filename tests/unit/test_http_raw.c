/*
 * What data/http_raw.h promises: bytes that two readers could end at different places are
 * found, however they are cut into pieces, and all others pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/http_raw.h"

#define HEAD "POST / HTTP/1.1\r\nHost: a\r\n"
#define CHUNKS HEAD "Transfer-Encoding: chunked\r\n\r\n"

struct raw_case {
	const char *bytes;
	size_t length;
	bool good;
};
#define GOOD(text)                                                                                 \
	{                                                                                          \
		text, sizeof text - 1, true                                                        \
	}
#define ODD(text)                                                                                  \
	{                                                                                          \
		text, sizeof text - 1, false                                                       \
	}

static const struct raw_case cases[] = {
	GOOD(""),
	GOOD("POST / HT"),
	GOOD(HEAD "\r\n"),
	GOOD(HEAD "Content-Length: 5\r\n\r\n\n \0\rx"),
	GOOD(HEAD "X:\r\nY: \t\r\n\r\n"),
	GOOD(CHUNKS),
	GOOD(CHUNKS "0\r\n\r\n"),
	GOOD(CHUNKS "3\r\n\r\n\0\r\n00A\r\n0123456789\r\n0\r\n\r\n"),
	GOOD(HEAD "TRANSFER-encoding: x\r\n\r\n5\r\nhello\r\n000\r\n\r\nwhatever\n\0"),
	ODD("\r\nPOST"),
	ODD("POST / HTTP/1.1\nHost: a\r\n"),
	ODD("POST / HTTP/1.1\rHost: a\r\n"),
	ODD("POST /\0 HTTP/1.1"),
	ODD(HEAD " folded\r\n"),
	ODD(HEAD "\tfolded\r\n"),
	ODD(HEAD "\n"),
	ODD(HEAD "X: \r\r\n"),
	ODD(CHUNKS "\r\n"),
	ODD(CHUNKS "0x5\r\n"),
	ODD(CHUNKS "+5\r\n"),
	ODD(CHUNKS "-5\r\n"),
	ODD(CHUNKS " 5\r\n"),
	ODD(CHUNKS "5 \r\n"),
	ODD(CHUNKS "5;a\r\n"),
	ODD(CHUNKS "5\n"),
	ODD(CHUNKS "5\rx"),
	ODD(CHUNKS "\0"),
	ODD(CHUNKS "1234567890123"),
	ODD(CHUNKS "2\r\nab0\r\n"),
	ODD(CHUNKS "2\r\nab\n0"),
	ODD(CHUNKS "2\r\nab\r\r"),
	ODD(CHUNKS "0\r\nX"),
	ODD(CHUNKS "0\r\n\n"),
	ODD(CHUNKS "0\r\n\rx"),
};
#undef GOOD
#undef ODD

/* In pieces of this size; what is odd stays so. */
static bool take(const struct raw_case *one, size_t piece)
{
	struct rg_http_raw raw = { 0 };
	bool good = true;
	size_t at, length;

	for (at = 0; at < one->length; at += piece) {
		length = one->length - at < piece ? one->length - at : piece;
		if (!rg_http_raw_take(&raw, one->bytes + at, length))
			good = false;
		else
			assert_true(good);
	}
	return good;
}

static void what_two_readers_take_differently_is_found(void **state)
{
	size_t i, piece;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++)
		for (piece = 1; piece <= 100; piece++)
			if (take(&cases[i], piece) != cases[i].good)
				fail_msg("case %zu in pieces of %zu", i, piece);
}

static void it_knows_where_chunks_end(void **state)
{
	struct rg_http_raw raw = { 0 };

	(void)state;
	rg_http_raw_take(&raw, CHUNKS, sizeof CHUNKS - 1);
	assert_int_equal(raw.state, RG_RAW_SIZE);
	rg_http_raw_take(&raw, "ff\r\nx", 5);
	assert_int_equal(raw.state, RG_RAW_CHUNK);
	assert_int_equal(raw.left, 254);
	raw = (struct rg_http_raw){ 0 };
	rg_http_raw_take(&raw, CHUNKS "0\r\n\r\n", sizeof CHUNKS "0\r\n\r\n" - 1);
	assert_int_equal(raw.state, RG_RAW_REST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_two_readers_take_differently_is_found),
		cmocka_unit_test(it_knows_where_chunks_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
