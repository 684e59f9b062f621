/*
 * What data/http_head.h promises: the heads that another reader could take otherwise are
 * refused, each for what is wrong with it, and so is who comes from elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/http_head.h"

enum { FIELDS = 6 };

/* A head with these fields; the word that its fault names, "" for none. */
struct head_case {
	int minor;
	const char *target;
	struct rg_http_field fields[FIELDS];
	const char *word;
};

static struct rg_http_head head_of(const struct head_case *row)
{
	struct rg_http_head head = { 1, row->minor, row->target, row->fields, 0, false };

	while (head.count < FIELDS && row->fields[head.count].name)
		head.count++;
	return head;
}

static void check(const struct head_case *row)
{
	struct rg_http_head head = head_of(row);
	const char *fault = rg_http_head_fault(&head);

	if (*row->word) {
		assert_non_null(fault);
		assert_non_null(strstr(fault, row->word));
	} else {
		assert_null(fault);
	}
}

static void a_head_has_one_meaning(void **state)
{
	static const struct head_case rows[] = {
		{ 1, "/", { { "Host", "a" } }, "" },
		{ 0, "/x?y", { { "host", "a" } }, "" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "0" } }, "" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "999999999999999" } }, "" },
		{ 1, "/", { { "Host", "a" }, { "Transfer-Encoding", "Chunked" } }, "" },
		{ 1, "/", { { "Host", "a" }, { "Expect", "100-Continue" } }, "" },
		{ 1, "/", { { "Host", "a" }, { "X", "\ttab and \xc3\xbc" } }, "" },
		{ 2, "/", { { "Host", "a" } }, "HTTP/1.1" },
		{ 9, "/", { { "Host", "a" } }, "HTTP/1.1" },
		{ -1, "/", { { "Host", "a" } }, "HTTP/1.1" },
		{ 1, "/", { { NULL } }, "Host" },
		{ 1, "/", { { "Host", "a" }, { "HOST", "a" } }, "Host" },
		{ 1, "", { { "Host", "a" } }, "path" },
		{ 1, NULL, { { "Host", "a" } }, "path" },
		{ 1, "*", { { "Host", "a" } }, "path" },
		{ 1, "http://a/", { { "Host", "a" } }, "path" },
		{ 1, "//a/", { { "Host", "a" } }, "path" },
		{ 1, "/a\x7f", { { "Host", "a" } }, "path" },
		{ 1, "/a b", { { "Host", "a" } }, "path" },
		{ 1, "/a HTTP/1.1", { { "Host", "a" } }, "path" },
		{ 1, "/", { { "Host", "a" }, { "X ", "1" } }, "Name: value" },
		{ 1, "/", { { "Host", "a" }, { "", "1" } }, "Name: value" },
		{ 1, "/", { { "Host", "a" }, { "X(y)", "1" } }, "Name: value" },
		{ 1, "/", { { "Host", "a" }, { "X\xc3\xbc", "1" } }, "Name: value" },
		{ 1, "/", { { "Host", "a" }, { "X", "1\r" } }, "Name: value" },
		{ 1, "/", { { "Host", "a" }, { "X", "1\x7f" } }, "Name: value" },
		{ 1, "/", { { "Host", "a" }, { "Expect", "" } }, "Expect" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "" } }, "digits" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "+3" } }, "digits" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "3 " } }, "digits" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "3, 3" } }, "digits" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "0x3" } }, "digits" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "1000000000000000" } }, "digits" },
		{ 1,
		  "/",
		  { { "Host", "a" }, { "Content-Length", "3" }, { "content-length", "3" } },
		  "once" },
		{ 1,
		  "/",
		  { { "Host", "a" },
		    { "Content-Length", "3" },
		    { "Transfer-Encoding", "chunked" } },
		  "not both" },
		{ 1,
		  "/",
		  { { "Host", "a" }, { "Transfer-Encoding", "gzip, chunked" } },
		  "chunked" },
		{ 1, "/", { { "Host", "a" }, { "Transfer-Encoding", "" } }, "chunked" },
		{ 1,
		  "/",
		  { { "Host", "a" },
		    { "Transfer-Encoding", "chunked" },
		    { "Transfer-Encoding", "chunked" } },
		  "chunked" },
		{ 0, "/", { { "Host", "a" }, { "Transfer-Encoding", "chunked" } }, "HTTP/1.1" },
	};
	static const struct head_case two = { 1, "/", { { "Host", "a" } }, "HTTP/1.1" };
	struct rg_http_head head = head_of(&two);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	head.major = 2;
	assert_non_null(rg_http_head_fault(&head));
}

static void some_methods_have_no_body(void **state)
{
	static const struct head_case rows[] = {
		{ 1, "/", { { "Host", "a" } }, "" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "00" } }, "" },
		{ 1, "/", { { "Host", "a" }, { "Content-Length", "1" } }, "no body" },
		{ 1, "/", { { "Host", "a" }, { "Transfer-Encoding", "chunked" } }, "no body" },
	};
	struct rg_http_head head;
	const char *fault;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		head = head_of(&rows[i]);
		assert_null(rg_http_head_fault(&head));
		head.bodiless = true;
		fault = rg_http_head_fault(&head);
		assert_int_equal(!fault, !*rows[i].word);
		if (fault)
			assert_non_null(strstr(fault, rows[i].word));
	}
}

static void hosts_are_ours_or_not(void **state)
{
	static const char *const hosts[] = { "mail.example.com", "box:8080" };
	static const char *const origins[] = { "https://app.example.com" };
	static const struct rg_http_allowed none, own = { hosts, origins, 2, 1 };

	(void)state;
	assert_true(rg_http_host_is_ours("localhost:1", &none));
	assert_true(rg_http_host_is_ours("[::1]", &none));
	assert_false(rg_http_host_is_ours(NULL, &none));
	assert_false(rg_http_host_is_ours("[::1", &none));
	assert_false(rg_http_host_is_ours("[::1]x", &none));
	assert_false(rg_http_host_is_ours("localhost:123456", &none));
	assert_false(rg_http_host_is_ours("127.0.0.2", &none));
	assert_false(rg_http_host_is_ours("mail.example.com", &none));
	assert_true(rg_http_host_is_ours("Mail.Example.com:443", &own));
	assert_true(rg_http_host_is_ours("box:8080", &own));
	assert_false(rg_http_host_is_ours("box:8081", &own));
	assert_true(rg_http_origin_is_ours("https://mail.example.com", &own));
	assert_false(rg_http_origin_is_ours("https://mail.example.com", &none));
	assert_true(rg_http_origin_is_ours("https://app.example.com", &own));
	assert_false(rg_http_origin_is_ours("https://app.example.com.evil.org", &own));
}

static void pages_of_other_sites_are_refused(void **state)
{
	static const char *const origins[] = { "https://app.example.com" };
	static const struct rg_http_allowed own = { NULL, origins, 0, 1 };
	static const struct head_case rows[] = {
		{ 1, "/", { { "Host", "localhost" } }, "" },
		{ 1, "/", { { "Host", "evil.test" } }, "Host" },
		{ 1, "/", { { NULL } }, "Host" },
		{ 1, "/", { { "Host", "localhost" }, { "Origin", "http://localhost:80" } }, "" },
		{ 1, "/", { { "Host", "localhost" }, { "Origin", "null" } }, "Origin" },
		{ 1,
		  "/",
		  { { "Host", "localhost" },
		    { "Origin", "http://evil.test" },
		    { "Origin", "http://localhost" } },
		  "Origin" },
		{ 1, "/", { { "Host", "localhost" }, { "Sec-Fetch-Site", "same-origin" } }, "" },
		{ 1, "/", { { "Host", "localhost" }, { "Sec-Fetch-Site", "none" } }, "" },
		{ 1, "/", { { "Host", "localhost" }, { "Sec-Fetch-Site", "same-site" } }, "Sec-" },
		{ 1, "/", { { "Host", "localhost" }, { "Sec-Fetch-Site", "" } }, "Sec-" },
		{ 1,
		  "/",
		  { { "Host", "localhost" },
		    { "Sec-Fetch-Site", "cross-site" },
		    { "Sec-Fetch-Site", "none" } },
		  "Sec-" },
		{ 1,
		  "/",
		  { { "Host", "localhost" },
		    { "Origin", "http://localhost:3000" },
		    { "Sec-Fetch-Site", "cross-site" } },
		  "Sec-" },
		{ 1,
		  "/",
		  { { "Host", "localhost" },
		    { "Origin", "https://app.example.com" },
		    { "Sec-Fetch-Site", "cross-site" } },
		  "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rg_http_head head = head_of(&rows[i]);
		const char *fault = rg_http_head_foreign(&head, &own);

		assert_int_equal(!fault, !*rows[i].word);
		if (fault)
			assert_non_null(strstr(fault, rows[i].word));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_head_has_one_meaning),
		cmocka_unit_test(some_methods_have_no_body),
		cmocka_unit_test(hosts_are_ours_or_not),
		cmocka_unit_test(pages_of_other_sites_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
