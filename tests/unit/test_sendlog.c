/*
 * What facts/sendlog.h promises: how a key splits, ids that tell every
 * attempt from every other, which lines of a message say that it was
 * delivered, what a key's history is and what may be tried next, each over
 * every combination, and when the breaker is open.
 */
#include "harsh.h"
#include "place.h"

#include "base/arena.h"
#include "facts/sendlog.h"

enum { NOW_MS = 1000000, WAIT_MS = 5000 };

/* ---------------------------------------------------------------- keys -- */

static void a_key_splits_at_its_first_two_colons(void **state)
{
	static const struct {
		const char *key, *task, *verb, *cycle;
	} good[] = {
		{ "kIXqdAoCeOLS7-KwNCkUW:blocker-update:2026-02-16T05:25Z", "kIXqdAoCeOLS7-KwNCkUW",
		  "blocker-update", "2026-02-16T05:25Z" },
		{ "giyDbCMa2ziTQt-kTjxu_:status-update:2026-02-14T18:30Z", "giyDbCMa2ziTQt-kTjxu_",
		  "status-update", "2026-02-14T18:30Z" },
		{ "t:v:c", "t", "v", "c" },
		{ "t:v::", "t", "v", ":" },
		{ "t:v:a:b:c:::", "t", "v", "a:b:c:::" },
		{ " : : ", " ", " ", " " },
		{ "ü:ß:\xf0\x9f\x90\x9d", "ü", "ß", "\xf0\x9f\x90\x9d" },
	};
	static const char *const bad[] = { "",	   "t", "t:", "t:v", "t:v:", ":v:c",
					   "t::c", ":", "::", ":::", "t::" };
	struct rg_key key;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(rg_key_split(str(good[i].key), &key));
		assert_true(rg_str_is(key.task, good[i].task));
		assert_true(rg_str_is(key.verb, good[i].verb));
		assert_true(rg_str_is(key.cycle, good[i].cycle));
		assert_true(rg_str_is(rg_key_task(str(good[i].key)), good[i].task));
	}
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_false(rg_key_split(str(bad[i]), &key));
		assert_true(rg_str_is(rg_key_task(str(bad[i])), bad[i]));
	}
	assert_false(rg_key_split((struct roger_str){ NULL, 0 }, &key));
}

static void five_verbs_are_stable(void **state)
{
	static const char *const others[] = { "",
					      "status",
					      "status-updates",
					      "Status-Update",
					      "dead_letter",
					      "escalation ",
					      "finding",
					      "blocker-update:",
					      "ESCALATION" };
	size_t i;

	(void)state;
	assert_true(rg_key_verb_stable(str("status-update")));
	assert_true(rg_key_verb_stable(str("blocker-update")));
	assert_true(rg_key_verb_stable(str("escalation")));
	assert_true(rg_key_verb_stable(str("finding-report")));
	assert_true(rg_key_verb_stable(str("dead-letter")));
	for (i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(rg_key_verb_stable(str(others[i])));
}

/* ----------------------------------------------------------------- ids -- */

static struct roger_attempt attempt_of(int from, int to, int key, int cycle, int number)
{
	/* Ends that would run into each other if they were only put one behind the other. */
	static const char *const names[] = { "a", "ab", "b", "\"", "a\",\"b" };
	static const char *const keys[] = { "t:v:1", "t:v:11", "bt:v:1", "", "\\" };
	static const char *const cycles[] = { "1", "11", "", "2", "\"1" };

	return (struct roger_attempt){ .from = str(names[from]),
				       .to = str(names[to]),
				       .key = str(keys[key]),
				       .cycle = str(cycles[cycle]),
				       .attempt = number };
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void every_attempt_has_an_id_of_its_own(void **state)
{
	enum { EACH = 5, ALL = EACH * EACH * EACH * EACH * EACH };
	static char ids[ALL][RG_SENDLOG_ID_BYTES];
	char again[RG_SENDLOG_ID_BYTES], letter[RG_SENDLOG_ID_BYTES];
	struct roger_attempt attempt;
	int i, n;

	(void)state;
	for (i = 0; i < ALL; i++) {
		n = i;
		attempt = attempt_of(n % 5, n / 5 % 5, n / 25 % 5, n / 125 % 5, 1 + n / 625 % 5);
		assert_true(rg_sendlog_id(&attempt, ids[i]));
		attempt.outcome = ROGER_ERROR;
		attempt.at_ms = i;
		attempt.message = str("msg-1-x");
		attempt.payload_chars = attempt.max_attempts = 7;
		assert_true(rg_sendlog_id(&attempt, again));
		assert_string_equal(ids[i], again);
		assert_true(rg_dead_letter_id(&attempt, letter));
		assert_memory_equal(ids[i], "snd-", 4);
		assert_memory_equal(letter, "dl-", 3);
		assert_string_equal(ids[i] + 4, letter + 3);
		assert_int_equal(strlen(ids[i]), 36);
		assert_int_equal(strspn(ids[i] + 4, "0123456789abcdef"), 32);
	}
	qsort(ids, ALL, sizeof *ids, compare_ids);
	for (i = 1; i < ALL; i++)
		assert_string_not_equal(ids[i - 1], ids[i]);
}

static void ids_are_the_same_tomorrow(void **state)
{
	const struct roger_attempt attempt = attempt_of(0, 2, 0, 0, 1);
	char id[RG_SENDLOG_ID_BYTES];

	(void)state;
	/* sha256 of "a""b""t:v:1""1"1 with their quotes; other programs compute it, too. */
	assert_true(rg_sendlog_id(&attempt, id));
	assert_string_equal(id, "snd-1996fa55d4b1d8e948b8897e1a6ec7b9");
	assert_true(rg_digest_id(str("a"), str("t:v:1"), id));
	assert_string_equal(id, "key-0ab3dd2f6bf5657b42cccd3345fd5fcc");
}

static void keys_of_any_length_have_ids(void **state)
{
	static char long_key[100000];
	struct roger_attempt attempt = attempt_of(0, 1, 0, 0, 1);
	char ids[3][RG_SENDLOG_ID_BYTES];

	(void)state;
	memset(long_key, '\1', sizeof long_key);
	attempt.key = (struct roger_str){ long_key, sizeof long_key };
	assert_true(rg_sendlog_id(&attempt, ids[0]));
	attempt.attempt = 2;
	assert_true(rg_sendlog_id(&attempt, ids[1]));
	attempt.key.length--;
	assert_true(rg_sendlog_id(&attempt, ids[2]));
	assert_string_not_equal(ids[0], ids[1]);
	assert_string_not_equal(ids[1], ids[2]);
}

/* ------------------------------------------------------------- entries -- */

static void an_entry_says_all_but_the_content(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message = { .id = str("msg-1-x"),
					 .from = str("ann"),
					 .to = str("bob"),
					 .content = str("zwei ü\n"),
					 .metadata = str("{\"marker\":1}"),
					 .key = str("t:v:c"),
					 .cycle = str("1") };
	char id[RG_SENDLOG_ID_BYTES];
	struct roger_attempt entry;
	struct rg_buf text;

	(void)state;
	assert_int_equal(rg_sendlog_entry(&message, 3, ROGER_TIMEOUT, 5, arena, &entry, NULL),
			 ROGER_OK);
	assert_int_equal(entry.payload_chars, 7);
	assert_int_equal(entry.payload_bytes, 8);
	assert_int_equal(entry.attempt, 1);
	assert_int_equal(entry.at_ms, 5);
	assert_true(rg_str_is(entry.payload_sha256,
			      "645bb747715ade11223240c0e75e65a90de72cde13e9c1891c457a5c8d20a4f2"));
	message.attempt = 3;
	assert_int_equal(rg_sendlog_entry(&message, 3, ROGER_TIMEOUT, 5, arena, &entry, NULL),
			 ROGER_OK);
	assert_int_equal(entry.attempt, 3);
	message.content = str("\xff");
	assert_int_equal(rg_sendlog_entry(&message, 3, ROGER_TIMEOUT, 5, arena, &entry, NULL),
			 ROGER_OK);
	assert_int_equal(entry.payload_chars, 0);
	assert_int_equal(entry.payload_bytes, 1);
	message.content = str("zwei \xc3\xbc\n");
	assert_int_equal(rg_sendlog_entry(&message, 4, ROGER_ERROR, 6, arena, &entry, NULL),
			 ROGER_OK);
	assert_int_equal(entry.max_attempts, 4);
	assert_true(rg_sendlog_id(&entry, id));
	assert_true(rg_str_is(entry.id, id));
	assert_int_equal(entry.outcome, ROGER_ERROR);
	assert_true(rg_str_is(entry.from, "ann") && rg_str_is(entry.to, "bob"));
	assert_true(rg_str_is(entry.message, "msg-1-x") && rg_str_is(entry.cycle, "1"));
	rg_buf_init(&text, SIZE_MAX);
	rg_record_encode(&rg_attempt_record, &entry, &text);
	assert_null(memmem(text.data, text.length, "zwei", 4));
	assert_null(memmem(text.data, text.length, "marker", 6));
	rg_buf_deinit(&text);
	rg_arena_free(arena);
}

enum { NOT_ACKED, ACKED_AS_READ, ACKED_LATER, ACKED_BY_PERSON, ACKS };

/* What a line tells: to be read, that it was read; only stored, the line that stores it or begins
 * anew. */
static enum rg_sendlog_told expected_told(const struct roger_message *message, int acked)
{
	const bool waits = message->confirm_by_ms > 0;

	if (!message->key.length || !message->cycle.length)
		return RG_TOLD_NOTHING;
	if (message->archived_at_ms)
		return waits && !message->read ? RG_TOLD_GONE : RG_TOLD_NOTHING;
	if (waits && !message->read)
		return RG_TOLD_BEGUN;
	if (waits)
		return acked == ACKED_BY_PERSON ? RG_TOLD_IN_PLACE
		       : acked == ACKED_LATER	? RG_TOLD_NOTHING
						: RG_TOLD_DELIVERED;
	if (message->read)
		return RG_TOLD_NOTHING;
	return message->attempt > 1 || (!message->claimed_by.length && !message->handed_at_ms)
		       ? RG_TOLD_DELIVERED
		       : RG_TOLD_NOTHING;
}

static void check_line(const struct roger_message *message, int acked)
{
	const enum rg_sendlog_told expected = expected_told(message, acked);
	int64_t at_ms = -1;

	assert_int_equal(rg_sendlog_told(message, &at_ms), expected);
	assert_int_equal(rg_sendlog_begins(message), expected == RG_TOLD_BEGUN);
	if (expected == RG_TOLD_GONE)
		assert_int_equal(at_ms, 60);
	else if (expected == RG_TOLD_BEGUN)
		assert_int_equal(at_ms, 10);
	else if (expected != RG_TOLD_NOTHING)
		assert_int_equal(at_ms, message->confirm_by_ms ? 40
					: message->attempt > 1 ? 0
							       : 10);
}

static void every_line_of_a_message(void **state)
{
	static const char *const takers[] = { "", "w", "" };
	int bits, taken, acked;

	(void)state;
	for (bits = 0; bits < 1 << 7; bits++)
		for (taken = 0; taken < 3; taken++)
			for (acked = 0; acked < (bits & 16 ? ACKS : 1); acked++) {
				const bool read = bits & 16;
				const struct roger_message message = {
					.to = RG_STR("b"),
					.attempt = bits & 3,
					.key = str(bits & 4 ? "t:v:c" : ""),
					.cycle = str(bits & 8 ? "1" : ""),
					.read = read,
					.read_at_ms = read ? 40 : 0,
					.confirm_by_ms = bits & 32 ? 50 : 0,
					.archived_at_ms = bits & 64 ? 60 : 0,
					.claimed_by = str(acked == ACKED_BY_PERSON ? "human"
										   : takers[taken]),
					.handed_at_ms = taken == 2,
					.acked_at_ms = acked == ACKED_LATER ? 45
						       : acked		    ? 40
									    : 0,
					.created_at_ms = 10,
				};

				check_line(&message, acked);
			}
}

/* ---------------------------------------------------------------- rules -- */

static enum rg_sendlog_answer expected_answer(int outcome, bool same_cycle, int timeouts, int max,
					      bool is_due)
{
	if (outcome < 0)
		return RG_SEND_NEW;
	if (outcome != ROGER_TIMEOUT)
		return same_cycle ? RG_SEND_SKIP : RG_SEND_NEW;
	if (timeouts >= max)
		return RG_SEND_USED_UP;
	return is_due ? RG_SEND_AGAIN : RG_SEND_NOT_DUE;
}

/* In seconds.  now: before, at and after the instant; and before the attempt itself. */
static void every_judgement_in_seconds(void **state)
{
	static const int64_t nows[] = { NOW_MS - 1,
					NOW_MS,
					NOW_MS + WAIT_MS - 1,
					NOW_MS + WAIT_MS,
					NOW_MS + WAIT_MS + 1,
					NOW_MS + INT64_C(1000000000),
					NOW_MS - INT64_C(900000),
					0 };
	int outcome, timeouts, max, wait;
	int64_t cycle, due_ms;
	size_t when;

	(void)state;
	for (outcome = -1; outcome <= ROGER_ERROR; outcome++)
		for (cycle = 4; cycle < 8; cycle++)
			for (timeouts = 0; timeouts <= 4; timeouts++)
				for (max = 1; max <= 4; max++)
					for (wait = 0; wait < 2; wait++)
						for (when = 0; when < 8; when++) {
							const struct roger_attempt last = {
								.outcome =
									(enum roger_attempt_outcome)
										outcome,
								.at_ms = NOW_MS
							};
							const struct rg_key_history history = {
								outcome < 0 ? NULL : &last,
								timeouts, 4, cycle
							};
							const struct rg_sendlog_rules rules = {
								max, wait ? WAIT_MS : 0, 0
							};
							const bool is_due =
								!wait || nows[when] < NOW_MS ||
								nows[when] >= NOW_MS + WAIT_MS;
							enum rg_sendlog_answer answer;

							due_ms = -1;
							answer = rg_sendlog_judge(&history, &rules,
										  nows[when],
										  &due_ms);
							assert_int_equal(
								answer,
								expected_answer(outcome, cycle == 4,
										timeouts, max,
										is_due));
							if (answer == RG_SEND_NOT_DUE)
								assert_int_equal(due_ms,
										 NOW_MS + WAIT_MS);
						}
}

/* In cycles: so many times the number of the attempt; the clock does not matter. */
static void every_judgement_in_cycles(void **state)
{
	static const int64_t nows[] = { 0, NOW_MS, NOW_MS + 10 * WAIT_MS };
	int outcome, timeouts, max, wait;
	int64_t last_cycle, cycle, due_ms;
	size_t when;

	(void)state;
	for (outcome = -1; outcome <= ROGER_ERROR; outcome++)
		for (last_cycle = 0; last_cycle < 3; last_cycle++)
			for (cycle = last_cycle; cycle < 20; cycle++)
				for (timeouts = 0; timeouts <= 4; timeouts++)
					for (max = 1; max <= 4; max++)
						for (wait = 1; wait < 4; wait++)
							for (when = 0; when < 3; when++) {
								const struct roger_attempt last = {
									.outcome =
										(enum roger_attempt_outcome)
											outcome,
									.at_ms = NOW_MS
								};
								const struct rg_key_history
									history = { outcome < 0
											    ? NULL
											    : &last,
										    timeouts,
										    last_cycle,
										    cycle };
								const struct rg_sendlog_rules
									rules = { max, WAIT_MS,
										  wait };
								const bool is_due =
									cycle - last_cycle >=
									(int64_t)wait * timeouts;

								due_ms = -1;
								assert_int_equal(
									rg_sendlog_judge(&history,
											 &rules,
											 nows[when],
											 &due_ms),
									expected_answer(
										outcome,
										cycle == last_cycle,
										timeouts, max,
										is_due));
								assert_int_equal(due_ms, 0);
							}
}

/* ------------------------------------------------------------ histories -- */

static const char *const id_names[] = { "id-0", "id-1", "id-2", "id-3" };

/* A line: which attempt (0..3) and its outcome; of the key in question, or not. */
static struct roger_attempt line_of(int id, int outcome, const char *key, const char *target)
{
	return (struct roger_attempt){ .id = str(id_names[id]),
				       .key = str(key),
				       .to = str(target),
				       .outcome = (enum roger_attempt_outcome)outcome,
				       .attempt = id + 1 };
}

/* The rule, the slow way: attempts in the order of their first lines, outcomes of their last. */
static int64_t timeouts_of(const int *ids, const int *outcomes, int count, int *ret_last)
{
	int order[4], state[4], attempts = 0, i, k;
	int64_t timeouts = 0;

	for (i = 0; i < count; i++) {
		for (k = 0; k < attempts && order[k] != ids[i]; k++)
			;
		if (k == attempts)
			order[attempts++] = ids[i];
		state[k] = outcomes[i];
	}
	*ret_last = attempts ? order[attempts - 1] * 3 + state[attempts - 1] : -1;
	for (i = attempts; i > 0 && state[i - 1] == ROGER_TIMEOUT; i--)
		timeouts++;
	return timeouts;
}

/* Every log of up to four lines of four attempts, with lines of others around each. */
static void every_short_log(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	int ids[4], outcomes[4], count, code, i, rest, last;
	struct roger_attempt lines[20];
	struct rg_key_history history;
	int64_t timeouts;
	size_t n;

	(void)state;
	for (count = 0; count <= 4; count++)
		for (code = 0; code < (count == 0 ? 1 : 1 << (count * 4)); code++) {
			n = 0;
			rest = code;
			for (i = 0; i < count; i++, rest >>= 4) {
				ids[i] = rest & 3;
				outcomes[i] = rest >> 2 & 3;
				if (outcomes[i] == 3)
					break;
				lines[n++] = line_of(ids[i], ROGER_TIMEOUT, "t:v:2", "bob");
				lines[n++] = line_of(ids[i], ROGER_DELIVERED, "t:v:1", "bo");
				lines[n++] = line_of(ids[i], outcomes[i], "t:v:1", "bob");
				lines[n++] = line_of(ids[i], ROGER_ERROR, "t:v:11", "bob");
			}
			if (i < count)
				continue;
			timeouts = timeouts_of(ids, outcomes, count, &last);
			assert_int_equal(rg_key_history(lines, n, str("t:v:1"), str("bob"),
							&history, arena, NULL),
					 ROGER_OK);
			assert_int_equal(history.timeouts, timeouts);
			if (last < 0) {
				assert_null(history.last);
				continue;
			}
			assert_int_equal(history.last->attempt, last / 3 + 1);
			assert_int_equal(history.last->outcome, last % 3);
		}
	rg_arena_free(arena);
}

static void a_correcting_line_ends_a_row_of_timeouts(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_key_history history;
	const struct roger_attempt lines[] = {
		line_of(0, ROGER_TIMEOUT, "k", "bob"),	 line_of(1, ROGER_TIMEOUT, "k", "bob"),
		line_of(2, ROGER_TIMEOUT, "k", "bob"),	 line_of(2, ROGER_TIMEOUT, "k", "bob"),
		line_of(1, ROGER_DELIVERED, "k", "bob"), line_of(2, ROGER_DELIVERED, "k", "bob"),
	};

	(void)state;
	assert_int_equal(rg_key_history(lines, 4, str("k"), str("bob"), &history, arena, NULL), 0);
	assert_int_equal(history.timeouts, 3);
	/* An earlier attempt was read late: only what came after it counts. */
	assert_int_equal(rg_key_history(lines, 5, str("k"), str("bob"), &history, arena, NULL), 0);
	assert_int_equal(history.timeouts, 1);
	assert_int_equal(rg_key_history(lines, 6, str("k"), str("bob"), &history, arena, NULL), 0);
	assert_int_equal(history.timeouts, 0);
	assert_int_equal(history.last->outcome, ROGER_DELIVERED);
	rg_arena_free(arena);
}

/* An attempt of the same key to somebody else says nothing of this one. */
static void keys_and_targets_are_apart(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_key_history history;
	const struct roger_attempt lines[] = {
		line_of(0, ROGER_TIMEOUT, "k", "bob"),
		line_of(1, ROGER_DELIVERED, "k", "carol"),
		line_of(2, ROGER_DELIVERED, "l", "bob"),
	};

	(void)state;
	assert_int_equal(rg_key_history(lines, 3, str("k"), str("bob"), &history, arena, NULL), 0);
	assert_int_equal(history.timeouts, 1);
	assert_ptr_equal(history.last, &lines[0]);
	rg_arena_free(arena);
}

static int log_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	const struct roger_message message = { .id = str("msg-1-x"), .content = str("text") };
	const struct roger_attempt lines[] = {
		line_of(0, ROGER_TIMEOUT, "k", "bob"),
		line_of(1, ROGER_TIMEOUT, "k", "bob"),
		line_of(2, ROGER_TIMEOUT, "k", "bob"),
	};
	struct rg_key_history history;
	struct roger_attempt entry;
	int r;

	r = rg_sendlog_entry(&message, 3, ROGER_TIMEOUT, 5, arena, &entry, err);
	return r < 0 ? r : rg_key_history(lines, 3, str("k"), str("bob"), &history, arena, err);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(log_scarcely);
}

/* -------------------------------------------------------------- breaker -- */

static void the_breaker(void **state)
{
	static const int64_t nows[] = { NOW_MS - 1, NOW_MS, NOW_MS + WAIT_MS - 1,
					NOW_MS + WAIT_MS };
	struct roger_attempt lines[8];
	int64_t until_ms, failures;
	size_t count, other, when;
	bool open;

	(void)state;
	for (count = 0; count <= 8; count++)
		for (other = 0; other <= count; other++)
			for (failures = 0; failures <= 9; failures++)
				for (when = 0; when < 4; when++) {
					size_t i, row;

					/* Attempts of two lines each: the outcome, and once more
					 * where it was filed. */
					for (i = 0; i < count; i++) {
						lines[i] = line_of((int)(i / 2),
								   i == other ? ROGER_ERROR
									      : ROGER_TIMEOUT,
								   "k", "bob");
						lines[i].at_ms = NOW_MS - (int64_t)i;
					}
					row = other < count ? other : count;
					open = failures && count &&
					       (int64_t)((row + 1) / 2) >= failures &&
					       (when == 1 || when == 2);
					assert_int_equal(rg_sendlog_breaker_open(
								 lines, count, failures, WAIT_MS,
								 nows[when], &until_ms),
							 open);
					if (open)
						assert_int_equal(until_ms, NOW_MS + WAIT_MS);
					assert_false(rg_sendlog_breaker_open(
						lines, count, failures, 0, nows[when], &until_ms));
				}
}

/* Lines of one attempt with another's between them are one attempt. */
static void the_breaker_counts_attempts(void **state)
{
	struct roger_attempt lines[] = {
		line_of(0, ROGER_TIMEOUT, "k", "bob"),
		line_of(1, ROGER_TIMEOUT, "k", "bob"),
		line_of(0, ROGER_TIMEOUT, "k", "bob"),
		line_of(1, ROGER_TIMEOUT, "k", "bob"),
	};
	int64_t until_ms;

	(void)state;
	assert_true(rg_sendlog_breaker_open(lines, 4, 2, WAIT_MS, 1, &until_ms));
	assert_false(rg_sendlog_breaker_open(lines, 4, 3, WAIT_MS, 1, &until_ms));
	assert_false(rg_sendlog_breaker_open(NULL, 0, 1, WAIT_MS, 1, &until_ms));
	/* One that is under way says nothing yet. */
	lines[0].pending = lines[2].pending = true;
	assert_true(rg_sendlog_breaker_open(lines, 4, 1, WAIT_MS, 1, &until_ms));
	assert_int_equal(until_ms, lines[1].at_ms + WAIT_MS);
	assert_false(rg_sendlog_breaker_open(lines, 4, 2, WAIT_MS, 1, &until_ms));
	assert_false(rg_sendlog_breaker_open(lines, 1, 1, WAIT_MS, 1, &until_ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_splits_at_its_first_two_colons),
		cmocka_unit_test(five_verbs_are_stable),
		cmocka_unit_test(every_attempt_has_an_id_of_its_own),
		cmocka_unit_test(ids_are_the_same_tomorrow),
		cmocka_unit_test(keys_of_any_length_have_ids),
		cmocka_unit_test(an_entry_says_all_but_the_content),
		cmocka_unit_test(every_line_of_a_message),
		cmocka_unit_test(every_judgement_in_seconds),
		cmocka_unit_test(every_judgement_in_cycles),
		cmocka_unit_test(every_short_log),
		cmocka_unit_test(a_correcting_line_ends_a_row_of_timeouts),
		cmocka_unit_test(keys_and_targets_are_apart),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(the_breaker),
		cmocka_unit_test(the_breaker_counts_attempts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
