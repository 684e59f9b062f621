/*
 * What facts/sequence.h promises: every case of seed 002's "Sequence Rules"
 * and of epochs, a counter that never goes back, message-state.json as the
 * seed shows it read and written without loss, and a broken one refused.
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
#include "facts/sequence.h"

static struct rg_sequence *fresh(void)
{
	struct rg_sequence *sequence = NULL;

	assert_int_equal(rg_sequence_new(&sequence, NULL), ROGER_OK);
	return sequence;
}

static struct rg_sequence *of_text(struct roger_str text)
{
	struct rg_sequence *sequence = NULL;
	struct roger_err err;

	if (rg_sequence_read(text, &sequence, &err) < 0)
		fail_msg("not read: %s", err.message);
	return sequence;
}

static void count(struct rg_sequence *sequence, const char *agent, int64_t number)
{
	assert_int_equal(rg_sequence_raise_count(sequence, rg_str(agent), number, NULL), ROGER_OK);
}

static void see(struct rg_sequence *sequence, const char *reader, const char *sender,
		int64_t number)
{
	assert_int_equal(
		rg_sequence_raise_seen(sequence, rg_str(reader), rg_str(sender), number, NULL),
		ROGER_OK);
}

static int64_t counted(const struct rg_sequence *sequence, const char *agent)
{
	return rg_sequence_seen(sequence, RG_STR(""), rg_str(agent));
}

static int64_t seen(const struct rg_sequence *sequence, const char *reader, const char *sender)
{
	return rg_sequence_seen(sequence, rg_str(reader), rg_str(sender));
}

static enum rg_freshness judge(const struct rg_sequence *sequence, int64_t epoch, int64_t number)
{
	return rg_sequence_judge(sequence, RG_STR("LEAD"), RG_STR("WORKER-A"), epoch, number);
}

/* ----------------------------------------------------------------- rules -- */

/* "Unknown sender = initialize lastSeenSeq[sender] = 0" */
static void unknown_sender_stands_at_zero(void **state)
{
	struct rg_sequence *sequence = fresh();

	(void)state;
	assert_int_equal(seen(sequence, "LEAD", "WORKER-A"), 0);
	assert_int_equal(judge(sequence, 0, 1), RG_FRESH);
	assert_int_equal(judge(sequence, 0, 100), RG_FRESH);
	rg_sequence_free(sequence);
}

/* "If N <= lastSeenSeq[sender]: SKIP; if N > lastSeenSeq[sender]: PROCESS" */
static void numbers_are_judged_by_the_last_seen(void **state)
{
	struct rg_sequence *sequence = fresh();

	(void)state;
	see(sequence, "LEAD", "WORKER-A", 3);
	assert_int_equal(judge(sequence, 0, 1), RG_STALE);
	assert_int_equal(judge(sequence, 0, 2), RG_STALE);
	assert_int_equal(judge(sequence, 0, 3), RG_STALE);
	assert_int_equal(judge(sequence, 0, 4), RG_FRESH);
	assert_int_equal(judge(sequence, 0, RG_SEQ_MAX), RG_FRESH);
	rg_sequence_free(sequence);
}

/* Judging changes nothing: what is seen moves when a message is accepted. */
static void judging_changes_nothing(void **state)
{
	struct rg_sequence *sequence = fresh();

	(void)state;
	assert_int_equal(judge(sequence, 0, 5), RG_FRESH);
	assert_int_equal(judge(sequence, 0, 5), RG_FRESH);
	assert_int_equal(judge(sequence, 9, 5), RG_RESET);
	assert_int_equal(sequence->count, 0);
	assert_int_equal(sequence->epoch, 1);
	rg_sequence_free(sequence);
}

/* "received #5, then #7: process #7, skip #5 if it arrives later" - and #6 with it. */
static void a_gap_is_fine_and_closes_behind(void **state)
{
	struct rg_sequence *sequence = fresh();

	(void)state;
	see(sequence, "LEAD", "WORKER-A", 4);
	assert_int_equal(judge(sequence, 0, 5), RG_FRESH);
	see(sequence, "LEAD", "WORKER-A", 5);
	assert_int_equal(judge(sequence, 0, 7), RG_FRESH);
	see(sequence, "LEAD", "WORKER-A", 7);
	assert_int_equal(judge(sequence, 0, 5), RG_STALE);
	assert_int_equal(judge(sequence, 0, 6), RG_STALE);
	assert_int_equal(judge(sequence, 0, 8), RG_FRESH);
	rg_sequence_free(sequence);
}

/* "Missing seq number: treat as seq=0 (always process)", in whatever epoch. */
static void without_a_number_always_processed(void **state)
{
	struct rg_sequence *sequence = of_text(RG_STR("{\"epoch\":5}"));

	(void)state;
	see(sequence, "LEAD", "WORKER-A", 3);
	assert_int_equal(judge(sequence, 0, 0), RG_UNNUMBERED);
	assert_int_equal(judge(sequence, 4, 0), RG_UNNUMBERED);
	assert_int_equal(judge(sequence, 5, 0), RG_UNNUMBERED);
	assert_int_equal(judge(sequence, 6, 0), RG_UNNUMBERED);
	rg_sequence_free(sequence);
}

/* An older epoch is stale, a newer one resets. */
static void epochs_come_before_numbers(void **state)
{
	struct rg_sequence *sequence = of_text(RG_STR("{\"epoch\":5}"));

	(void)state;
	see(sequence, "LEAD", "WORKER-A", 3);
	assert_int_equal(judge(sequence, 4, 1), RG_STALE);
	assert_int_equal(judge(sequence, 4, 100), RG_STALE);
	assert_int_equal(judge(sequence, 1, RG_SEQ_MAX), RG_STALE);
	assert_int_equal(judge(sequence, 5, 3), RG_STALE);
	assert_int_equal(judge(sequence, 5, 4), RG_FRESH);
	assert_int_equal(judge(sequence, 6, 1), RG_RESET);
	assert_int_equal(judge(sequence, 6, 100), RG_RESET);
	rg_sequence_free(sequence);
}

/* Each reader keeps its own number of each sender, and one does not see for another. */
static void pairs_are_apart(void **state)
{
	struct rg_sequence *sequence = fresh();

	(void)state;
	see(sequence, "LEAD", "WORKER-A", 3);
	see(sequence, "WORKER-A", "LEAD", 5);
	see(sequence, "LEAD", "WORKER-B", 2);
	see(sequence, "LEADW", "ORKER-A", 9);
	assert_int_equal(seen(sequence, "LEAD", "WORKER-A"), 3);
	assert_int_equal(seen(sequence, "WORKER-A", "LEAD"), 5);
	assert_int_equal(seen(sequence, "LEAD", "WORKER-B"), 2);
	assert_int_equal(seen(sequence, "WORKER-B", "LEAD"), 0);
	assert_int_equal(seen(sequence, "lead", "WORKER-A"), 0);
	assert_int_equal(sequence->count, 4);
	rg_sequence_free(sequence);
}

static void numbers_never_go_back(void **state)
{
	struct rg_sequence *sequence = fresh();

	(void)state;
	assert_int_equal(counted(sequence, "LEAD"), 0);
	count(sequence, "LEAD", 1);
	count(sequence, "LEAD", 5);
	count(sequence, "LEAD", 3);
	assert_int_equal(counted(sequence, "LEAD"), 5);
	see(sequence, "LEAD", "WORKER-A", 5);
	see(sequence, "LEAD", "WORKER-A", 3);
	assert_int_equal(seen(sequence, "LEAD", "WORKER-A"), 5);

	see(sequence, "LEAD", "WORKER-A", 9);
	assert_int_equal(seen(sequence, "LEAD", "WORKER-A"), 9);
	assert_int_equal(sequence->count, 2);

	count(sequence, "QUIET", 0);
	see(sequence, "LEAD", "QUIET", 0);
	assert_int_equal(sequence->count, 2);
	rg_sequence_free(sequence);
}

static void numbers_are_bounded(void **state)
{
	struct rg_sequence *sequence = fresh();
	struct roger_err err;

	(void)state;
	assert_int_equal(rg_sequence_raise_count(sequence, RG_STR("A"), RG_SEQ_MAX + 1, &err),
			 ROGER_EDATA);
	assert_string_equal(err.message, "seq: expected a whole number from 0 to 281474976710656");
	assert_int_equal(rg_sequence_raise_count(sequence, RG_STR("A"), -1, &err), ROGER_EDATA);
	assert_int_equal(
		rg_sequence_raise_seen(sequence, RG_STR("A"), RG_STR("B"), RG_SEQ_MAX + 1, &err),
		ROGER_EDATA);
	assert_int_equal(
		rg_sequence_raise_seen(sequence, RG_STR("A"), RG_STR("B"), INT64_MIN, &err),
		ROGER_EDATA);
	assert_int_equal(sequence->count, 0);
	count(sequence, "A", RG_SEQ_MAX);
	assert_int_equal(counted(sequence, "A"), RG_SEQ_MAX);
	rg_sequence_free(sequence);
}

static int order_of(const struct rg_number *a, const struct rg_number *b)
{
	const int order = rg_str_order(a->reader, b->reader);

	return order ? order : rg_str_order(a->sender, b->sender);
}

/* Many names in an order that is none; each is found, and the list stays sorted. */
static void names_are_found_among_many(void **state)
{
	struct rg_sequence *sequence = fresh();
	char name[16], other[16];
	int i;

	(void)state;
	for (i = 0; i < 1009; i++) {
		snprintf(name, sizeof name, "a%d", i * 577 % 1009);
		snprintf(other, sizeof other, "b%d", i % 7);
		count(sequence, name, i * 577 % 1009 + 1);
		see(sequence, name, other, i + 1);
	}
	for (i = 0; i < 1009; i++) {
		snprintf(name, sizeof name, "a%d", i * 577 % 1009);
		snprintf(other, sizeof other, "b%d", i % 7);
		assert_int_equal(counted(sequence, name), i * 577 % 1009 + 1);
		assert_int_equal(seen(sequence, name, other), i + 1);
	}
	assert_int_equal(sequence->count, 2 * 1009);
	for (i = 1; i < 2 * 1009; i++)
		assert_true(order_of(&sequence->numbers[i - 1], &sequence->numbers[i]) < 0);
	rg_sequence_free(sequence);
}

/* Option C: "clear on fresh start". */
static void a_new_session_starts_over(void **state)
{
	struct rg_sequence *sequence =
		of_text(RG_STR("{\"counters\":{\"LEAD\":5},\"lastSeen\":{\"LEAD\":{\"WORKER-A\":3}}"
			       ",\"epoch\":4,\"note\":1}"));
	struct rg_buf out;

	(void)state;
	rg_sequence_renew(sequence);
	assert_int_equal(counted(sequence, "LEAD"), 0);
	assert_int_equal(judge(sequence, 0, 1), RG_FRESH);
	assert_int_equal(judge(sequence, 4, 9), RG_STALE);
	rg_buf_init(&out, SIZE_MAX);
	rg_sequence_print(sequence, &out);
	assert_true(rg_str_is(rg_buf_str(&out),
			      "{\"counters\":{},\"lastSeen\":{},\"epoch\":5,\"note\":1}\n"));
	rg_buf_deinit(&out);

	count(sequence, "LEAD", 1);
	assert_int_equal(counted(sequence, "LEAD"), 1);
	rg_sequence_free(sequence);

	sequence = of_text(RG_STR("{\"epoch\":2147483647}"));
	rg_sequence_renew(sequence);
	assert_int_equal(sequence->epoch, RG_EPOCH_MAX);
	rg_sequence_renew(sequence);
	assert_int_equal(sequence->epoch, RG_EPOCH_MAX);
	rg_sequence_free(sequence);
}

/* -------------------------------------------------------------- document -- */

static const char seed[] = "{\n"
			   "  \"counters\": {\n"
			   "    \"LEAD\": 5,\n"
			   "    \"WORKER-A\": 3,\n"
			   "    \"WORKER-B\": 2,\n"
			   "    \"REVIEWER\": 4\n"
			   "  },\n"
			   "  \"lastSeen\": {\n"
			   "    \"LEAD\": { \"WORKER-A\": 3, \"WORKER-B\": 2, \"REVIEWER\": 4 },\n"
			   "    \"WORKER-A\": { \"LEAD\": 5, \"WORKER-B\": 2, \"REVIEWER\": 4 },\n"
			   "    \"WORKER-B\": { \"LEAD\": 5, \"WORKER-A\": 3, \"REVIEWER\": 4 },\n"
			   "    \"REVIEWER\": { \"LEAD\": 5, \"WORKER-A\": 3, \"WORKER-B\": 2 }\n"
			   "  }\n"
			   "}\n";

static void seed_document_is_read(void **state)
{
	struct rg_sequence *sequence = of_text(RG_STR(seed));

	(void)state;
	assert_int_equal(sequence->epoch, 1);
	assert_int_equal(sequence->count, 4 + 12);
	assert_int_equal(counted(sequence, "LEAD"), 5);
	assert_int_equal(counted(sequence, "WORKER-A"), 3);
	assert_int_equal(counted(sequence, "WORKER-B"), 2);
	assert_int_equal(counted(sequence, "REVIEWER"), 4);
	assert_int_equal(seen(sequence, "LEAD", "WORKER-B"), 2);
	assert_int_equal(seen(sequence, "WORKER-A", "LEAD"), 5);
	assert_int_equal(seen(sequence, "WORKER-B", "WORKER-A"), 3);
	assert_int_equal(seen(sequence, "REVIEWER", "WORKER-B"), 2);
	assert_int_equal(seen(sequence, "LEAD", "LEAD"), 0);
	rg_sequence_free(sequence);
}

static void prints(const char *text, const char *expected)
{
	struct rg_sequence *sequence = of_text(rg_str(text));
	struct rg_buf out;

	rg_buf_init(&out, SIZE_MAX);
	rg_sequence_print(sequence, &out);
	rg_buf_add_char(&out, '\0');
	assert_string_equal(out.data, expected);
	rg_buf_deinit(&out);
	rg_sequence_free(sequence);
}

static const char seed_printed[] =
	"{\"counters\":{\"LEAD\":5,\"REVIEWER\":4,\"WORKER-A\":3,\"WORKER-B\":2},\"lastSeen\":{"
	"\"LEAD\":{\"REVIEWER\":4,\"WORKER-A\":3,\"WORKER-B\":2},"
	"\"REVIEWER\":{\"LEAD\":5,\"WORKER-A\":3,\"WORKER-B\":2},"
	"\"WORKER-A\":{\"LEAD\":5,\"REVIEWER\":4,\"WORKER-B\":2},"
	"\"WORKER-B\":{\"LEAD\":5,\"REVIEWER\":4,\"WORKER-A\":3}},\"epoch\":1}\n";

static void document_is_printed_in_order(void **state)
{
	(void)state;
	prints(seed, seed_printed);
	prints(seed_printed, seed_printed);
	prints("{}", "{\"counters\":{},\"lastSeen\":{},\"epoch\":1}\n");
	prints("{\"lastSeen\":{\"B\":{\"a\":1},\"A\":{}},\"counters\":{\"ab\":0,\"a\":1,\"B\":2}}",
	       "{\"counters\":{\"B\":2,\"a\":1,\"ab\":0},\"lastSeen\":{\"B\":{\"a\":1}},\"epoch\":"
	       "1}\n");
}

static void members_of_others_survive(void **state)
{
	(void)state;
	prints("{\"version\": \"1.0\", \"epoch\": 3, \"more\": {\"x\": [1e400, null]}}",
	       "{\"counters\":{},\"lastSeen\":{},\"epoch\":3,\"version\":\"1.0\",\"more\":{\"x\":["
	       "1e400,null]}}\n");
	/* But for what has the name of the witness: it cannot stand there twice. */
	prints("{\"epoch\": 3, \"journal\": \"mine\", \"more\": 1}",
	       "{\"counters\":{},\"lastSeen\":{},\"epoch\":3,\"more\":1}\n");
}

static void built_document_reads_the_same(void **state)
{
	struct rg_sequence *sequence = fresh();
	struct rg_buf out;

	(void)state;
	count(sequence, "WORKER-A", 2);
	count(sequence, "LEAD", 1);
	see(sequence, "WORKER-A", "LEAD", 1);
	see(sequence, "LEAD", "WORKER-A", 2);
	rg_buf_init(&out, SIZE_MAX);
	rg_sequence_print(sequence, &out);
	rg_buf_add_char(&out, '\0');
	prints(out.data,
	       "{\"counters\":{\"LEAD\":1,\"WORKER-A\":2},\"lastSeen\":{\"LEAD\":{\"WORKER-A\":2},"
	       "\"WORKER-A\":{\"LEAD\":1}},\"epoch\":1}\n");
	rg_buf_deinit(&out);
	rg_sequence_free(sequence);
}

static void broken_documents_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"null",
		"[]",
		"5",
		"{",
		"{\"counters\":[]}",
		"{\"counters\":null}",
		"{\"lastSeen\":5}",
		"{\"counters\":{\"A\":\"5\"}}",
		"{\"counters\":{\"A\":-1}}",
		"{\"counters\":{\"A\":1.5}}",
		"{\"counters\":{\"A\":null}}",
		"{\"counters\":{\"A\":{}}}",
		"{\"counters\":{\"A\":281474976710657}}",
		"{\"counters\":{\"A\":99999999999999999999}}",
		"{\"counters\":{\"\":1}}",
		"{\"counters\":{\"A B\":1}}",
		"{\"counters\":{\"-A\":1}}",
		"{\"counters\":{\"A\\u0000\":1}}",
		"{\"counters\":{\"A\":1,\"A\":2}}",
		"{\"counters\":{},\"counters\":{}}",
		"{\"lastSeen\":{\"A\":5}}",
		"{\"lastSeen\":{\"A\":{\"B\":\"1\"}}}",
		"{\"lastSeen\":{\"A B\":{}}}",
		"{\"lastSeen\":{\"A\":{\"B C\":1}}}",
		"{\"lastSeen\":{\"A\":{\"B\":-1}}}",
		"{\"lastSeen\":{\"A\":{\"B\":1,\"B\":2}}}",
		"{\"lastSeen\":{\"A\":{},\"A\":{}}}",
		"{\"epoch\":0}",
		"{\"epoch\":-1}",
		"{\"epoch\":\"1\"}",
		"{\"epoch\":2147483649}",
		"{\"epoch\":null}",
		"{} x",
		"\xff\xfe{\0}\0",
	};
	struct rg_sequence *sequence = NULL;
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (rg_sequence_read(rg_str(texts[i]), &sequence, &err) != ROGER_EDATA)
			fail_msg("'%s' was read", texts[i]);
		assert_true(err.message[0]);
	}
	assert_null(sequence);
}

static void a_cleared_document_is_told_from_an_empty_one(void **state)
{
	static const struct {
		const char *text;
		bool cleared;
	} cases[] = {
		{ "{\"counters\":{},\"lastSeen\":{}}", true },
		{ "{ \"lastSeen\": {}, \"counters\": {}, \"app\": 1 }", true },
		{ "{\"counters\":{},\"lastSeen\":{\"w\":{}}}", true },
		{ "{\"counters\":{},\"lastSeen\":{},\"epoch\":1}", false },
		{ "{\"counters\":{\"a\":1},\"lastSeen\":{}}", false },
		{ "{\"counters\":{},\"lastSeen\":{\"w\":{\"a\":1}}}", false },
		{ "{\"counters\":{}}", false },
		{ "{\"lastSeen\":{}}", false },
		{ "{}", false },
	};
	struct rg_sequence *sequence;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(rg_sequence_read(rg_str(cases[i].text), &sequence, NULL), 0);
		assert_int_equal(sequence->cleared, cases[i].cleared);
		rg_sequence_free(sequence);
	}
}

static void the_largest_numbers_are_read(void **state)
{
	(void)state;
	prints("{\"counters\":{\"A\":281474976710656,\"B\":0},\"epoch\":2147483648}",
	       "{\"counters\":{\"A\":281474976710656,\"B\":0},\"lastSeen\":{},\"epoch\":"
	       "2147483648}\n");
}

/* Names are copied: the caller's may go. */
static void names_are_its_own(void **state)
{
	struct rg_sequence *sequence = fresh();
	char names[] = "ABC";

	(void)state;
	assert_int_equal(rg_sequence_raise_count(sequence, (struct roger_str){ names, 1 }, 1, NULL),
			 ROGER_OK);
	assert_int_equal(rg_sequence_raise_seen(sequence, (struct roger_str){ names + 1, 1 },
						(struct roger_str){ names + 2, 1 }, 1, NULL),
			 ROGER_OK);
	memset(names, 'x', sizeof names);
	assert_int_equal(counted(sequence, "A"), 1);
	assert_int_equal(seen(sequence, "B", "C"), 1);
	rg_sequence_free(sequence);
}

/* A name that was never set is nobody's, wherever it would stand. */
static void no_name_is_nobody(void **state)
{
	const struct roger_str none = { NULL, 0 };
	struct rg_sequence *sequence = fresh();

	(void)state;
	count(sequence, "A", 1);
	see(sequence, "A", "B", 1);
	assert_int_equal(rg_sequence_seen(sequence, none, none), 0);
	assert_int_equal(rg_sequence_seen(sequence, none, none), 0);
	assert_int_equal(rg_sequence_seen(sequence, RG_STR("A"), none), 0);
	rg_sequence_free(sequence);
}

/* What lies behind the list in memory is not taken for a part of it. */
static void printing_ends_with_the_list(void **state)
{
	struct rg_sequence *sequence = fresh();
	struct rg_buf out;
	size_t *behind;

	(void)state;
	see(sequence, "R", "S", 1);
	/* The length of the reader that would come next. */
	behind = rg_arena_get(sequence->memory, sizeof *behind);
	*behind = 1;
	rg_buf_init(&out, SIZE_MAX);
	rg_sequence_print(sequence, &out);
	assert_true(rg_str_is(rg_buf_str(&out),
			      "{\"counters\":{},\"lastSeen\":{\"R\":{\"S\":1}},\"epoch\":1}\n"));
	rg_buf_deinit(&out);
	rg_sequence_free(sequence);
}

/* -------------------------------------------------------------- memory -- */

static size_t scarce_fill; /* what was taken of the sequence's own memory before */

static int change_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct rg_sequence *sequence;
	int r;

	(void)arena;
	r = rg_sequence_new(&sequence, err);
	if (r < 0)
		return r;
	if (!rg_arena_room(sequence->memory, scarce_fill))
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = rg_sequence_raise_count(sequence, RG_STR("LEAD"), 5, err);
	if (r == ROGER_OK)
		r = rg_sequence_raise_seen(sequence, RG_STR("LEAD"), RG_STR("WORKER-A"), 5, err);
	rg_sequence_free(sequence);
	return r;
}

/* A document whose first names take so much memory that each later piece is the one refused. */
static int read_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct rg_sequence *sequence;
	struct rg_buf text;
	char member[64];
	size_t i;
	int r;

	(void)arena;
	memset(&text, 0, sizeof text);
	text.maximum = SIZE_MAX;
	rg_buf_add_text(&text, "{\"counters\":{");
	for (i = 0; i < scarce_fill / 16; i++) {
		snprintf(member, sizeof member, "\"A%zu\":1,", i);
		rg_buf_add_text(&text, member);
	}
	rg_buf_add_text(&text, "\"B\":1},\"lastSeen\":{\"B\":{\"C\":1},\"D\":{\"E\":1}},"
			       "\"more\":[1]}");
	r = text.failed ? rg_fail_memory(err) : rg_sequence_read(rg_buf_str(&text), &sequence, err);
	rg_buf_deinit(&text);
	if (r == ROGER_OK)
		rg_sequence_free(sequence);
	return r;
}

/* What is kept of others is larger than what memory there is. */
static int read_much_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	static char text[3000];
	struct rg_sequence *sequence;
	int r;

	(void)arena;
	memset(text, 'x', sizeof text);
	memcpy(text, "{\"more\":\"", 9);
	memcpy(text + sizeof text - 2, "\"}", 2);
	r = rg_sequence_read((struct roger_str){ text, sizeof text }, &sequence, err);
	if (r == ROGER_OK)
		rg_sequence_free(sequence);
	return r;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(read_much_scarcely);
	for (scarce_fill = 0; scarce_fill < 1008; scarce_fill += 16) {
		scarce_everywhere(change_scarcely);
		scarce_everywhere(read_scarcely);
	}
}

static void errors_name_the_member(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "no JSON value" },
		{ "[]", "expected an object" },
		{ "{\"epoch\":0}", "epoch: expected a whole number from 1 to 2147483648" },
		{ "{\"counters\":[]}", "counters: expected an object" },
		{ "{\"lastSeen\":[]}", "lastSeen: expected an object" },
		{ "{\"lastSeen\":{\"A\":5}}", "lastSeen: expected an object" },
		{ "{\"lastSeen\":{\"A\":{\"B\":-1}}}",
		  "lastSeen: expected a whole number from 0 to 281474976710656 for 'B'" },
	};
	struct rg_sequence *sequence = NULL;
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(rg_sequence_read(rg_str(cases[i].text), &sequence, &err),
				 ROGER_EDATA);
		assert_string_equal(err.message, cases[i].message);
	}
	assert_int_equal(
		rg_sequence_read(RG_STR("{\"counters\":{\"LEAD\":\"x\"}}"), &sequence, &err),
		ROGER_EDATA);
	assert_string_equal(err.member, "counters");
	assert_string_equal(
		err.message,
		"counters: expected a whole number from 0 to 281474976710656 for 'LEAD'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_sender_stands_at_zero),
		cmocka_unit_test(numbers_are_judged_by_the_last_seen),
		cmocka_unit_test(judging_changes_nothing),
		cmocka_unit_test(a_gap_is_fine_and_closes_behind),
		cmocka_unit_test(without_a_number_always_processed),
		cmocka_unit_test(epochs_come_before_numbers),
		cmocka_unit_test(pairs_are_apart),
		cmocka_unit_test(numbers_never_go_back),
		cmocka_unit_test(numbers_are_bounded),
		cmocka_unit_test(names_are_found_among_many),
		cmocka_unit_test(a_new_session_starts_over),
		cmocka_unit_test(seed_document_is_read),
		cmocka_unit_test(document_is_printed_in_order),
		cmocka_unit_test(members_of_others_survive),
		cmocka_unit_test(built_document_reads_the_same),
		cmocka_unit_test(broken_documents_are_refused),
		cmocka_unit_test(a_cleared_document_is_told_from_an_empty_one),
		cmocka_unit_test(the_largest_numbers_are_read),
		cmocka_unit_test(names_are_its_own),
		cmocka_unit_test(no_name_is_nobody),
		cmocka_unit_test(printing_ends_with_the_list),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(errors_name_the_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
