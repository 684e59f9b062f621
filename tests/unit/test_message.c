/*
 * What systems/message.h promises: seed 004's example reads and prints back
 * with its members in order, members of others survive, lengths count
 * characters, hostile lines are no messages and say why, and the order of
 * archiving holds for every combination of age and type.
 */
#include "place.h"

#include "base/limits.h"
#include "systems/message.h"

/* The seed's example, on one line. */
static const char example[] =
	"{\"id\":\"msg-1736328000000-abc\",\"issue_id\":\"agent-shepherd-alg8.1\",\"from_phase\":"
	"\"plan\","
	"\"to_phase\":\"implement\",\"run_counter\":1,\"message_type\":\"context\","
	"\"content\":\"Task context and requirements\","
	"\"metadata\":{\"sender\":\"agent-id\",\"priority\":\"high\"},\"read\":false,"
	"\"created_at\":1736328000000,\"read_at\":null";

static void check_print(const char *line, const char *expected)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	struct roger_err err;
	struct rg_json *json;
	struct rg_buf out;
	size_t number_at;

	rg_buf_init(&out, SIZE_MAX);
	if (rg_message_read(rg_str(line), &json, arena, &message, &err) < 0)
		fail_msg("not read: %s", err.message);
	rg_message_print(&message, &out, &number_at);
	rg_buf_add(&out, "}", 2);
	assert_string_equal(out.data, expected);
	rg_json_free(json);
	rg_buf_deinit(&out);
	rg_arena_free(arena);
}

static void example_comes_back(void **state)
{
	char line[1024];

	(void)state;
	snprintf(line, sizeof line, "%s}", example);
	check_print(line, line);
	snprintf(line, sizeof line,
		 "%s,\"seq\":7,\"epoch\":2,\"idempotent_key\":\"a:b:c\",\"reply_to\":\"x\"}",
		 example);
	check_print(line, line);
}

static void unknown_members_survive_and_the_chain_does_not(void **state)
{
	char line[1024], expected[1024];

	(void)state;
	snprintf(line, sizeof line,
		 "%s,\"zz\":[1,2.50,{\"a\":1e999}],\"chain\":\"0011223344556677\"}", example);
	snprintf(expected, sizeof expected, "%s,\"zz\":[1,2.50,{\"a\":1e999}]}", example);
	check_print(line, expected);
}

static void number_is_put_behind_the_seed_members(void **state)
{
	struct roger_message message = { .id = str("i"),
					 .content = str("c"),
					 .idempotent_key = str("k") };
	struct rg_buf out;
	size_t number_at;

	(void)state;
	rg_buf_init(&out, SIZE_MAX);
	rg_message_print(&message, &out, &number_at);
	assert_true(number_at < out.length);
	assert_memory_equal(out.data + number_at - 14, "\"read_at\":null", 14);
	assert_memory_equal(out.data + number_at, ",\"idempotent_key\"", 17);
	rg_buf_deinit(&out);
}

static void hostile_lines_are_no_messages(void **state)
{
	static const char *const bad[] = {
		"", "{}", "[]", "null", "{\"id\":1}", "not json", "{\"id\":\"a\",\"id\":\"b\"}",
	};
	static const struct {
		const char *from, *to, *member;
	} edits[] = {
		{ "\"id\":\"msg-1736328000000-abc\"", "\"id\":\"\"", "id" },
		{ "\"plan\"", "\"../plan\\u0000\"", "from_phase" },
		{ "\"implement\"", "\"-x\"", "to_phase" },
		{ "\"context\"", "\"Context\"", "message_type" },
		{ "\"read\":false", "\"read\":0", "read" },
		{ "1736328000000,", "1.5,", "created_at" },
		{ "1736328000000,", "-1,", "created_at" },
		{ "1736328000000,", "99999999999999999999,", "created_at" },
		{ "\"run_counter\":1", "\"run_counter\":\"1\"", "run_counter" },
		{ "{\"sender\":\"agent-id\",\"priority\":\"high\"}", "[1]", "metadata" },
	};
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	char line[1024], *at;
	struct roger_err err;
	struct rg_json *json;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rg_message_read(rg_str(bad[i]), &json, arena, &message, &err),
				 ROGER_EDATA);
	for (i = 0; i < sizeof edits / sizeof *edits; i++) {
		at = strstr(example, edits[i].from);
		assert_non_null(at);
		snprintf(line, sizeof line, "%.*s%s%s}", (int)(at - example), example, edits[i].to,
			 at + strlen(edits[i].from));
		assert_int_equal(rg_message_read(rg_str(line), &json, arena, &message, &err),
				 ROGER_EDATA);
		assert_string_equal(err.member, edits[i].member);
	}
	rg_arena_free(arena);
}

static void lengths_count_characters(void **state)
{
	(void)state;
	assert_int_equal(rg_message_check_content(str("äöü€"), 4, NULL), ROGER_OK);
	assert_int_equal(rg_message_check_content(str("äöü€x"), 4, NULL), ROGER_EDATA);
	assert_int_equal(rg_message_check_content(str(""), 4, NULL), ROGER_EDATA);
	assert_int_equal(rg_message_check_content((struct roger_str){ "a\0b", 3 }, 4, NULL),
			 ROGER_EDATA);
	assert_int_equal(rg_message_check_content(str("\xff"), 4, NULL), ROGER_EDATA);
	assert_int_equal(rg_message_check_metadata(str("{}"), 2, NULL), ROGER_OK);
	assert_int_equal(rg_message_check_metadata(str("{ }"), 2, NULL), ROGER_EDATA);
}

/* data, result, decision, context: in this order of one age. */
static void archive_order_walks_every_case(void **state)
{
	static const int rank[] = {
		[ROGER_CONTEXT] = 3, [ROGER_RESULT] = 1, [ROGER_DECISION] = 2, [ROGER_DATA] = 0
	};
	struct roger_message a = { 0 }, b = { 0 };
	int64_t key_a, key_b;
	int order;

	(void)state;
	for (a.created_at_ms = 1; a.created_at_ms <= 2; a.created_at_ms++)
		for (b.created_at_ms = 1; b.created_at_ms <= 2; b.created_at_ms++)
			for (a.message_type = 0; a.message_type < 4; a.message_type++)
				for (b.message_type = 0; b.message_type < 4; b.message_type++)
					for (a.position = 1; a.position <= 2; a.position++)
						for (b.position = 1; b.position <= 2;
						     b.position++) {
							key_a = a.created_at_ms * 100 +
								rank[a.message_type] * 10 +
								a.position;
							key_b = b.created_at_ms * 100 +
								rank[b.message_type] * 10 +
								b.position;
							order = rg_message_archive_order(&a, &b);
							assert_int_equal((order > 0) - (order < 0),
									 (key_a > key_b) -
										 (key_a < key_b));
						}
}

static void leases_end(void **state)
{
	struct roger_message message = { .claimed_by = str("w"), .claimed_until_ms = 10 };

	(void)state;
	assert_true(rg_message_claimed(&message, 9, 7));
	assert_false(rg_message_claimed(&message, 10, 7));
	/* What nobody can have taken: the clock was ahead. */
	assert_false(rg_message_claimed(&message, 2, 7));
	message.claimed_by = str("");
	assert_false(rg_message_claimed(&message, 9, 7));
}

/* Two keys that look the same would be two; so nothing unseen is taken. */
static void keys_hold_what_can_be_seen(void **state)
{
	static const char *const good[] = { "task:verb:1", "\xe6\x97\xa5\xe6\x9c\xac", "a b" };
	static const char *const bad[] = {
		"\xe2\x80\xae:evil",
		"t\xe2\x80\x8d:x",
		"a\tb",
		"a\x7f",
		"a\xc2\x85",
		"a\xe2\x80\xa8",
		"\xef\xbb\xbf:a",
		"a\xf3\xa0\x81\x81",
		"\xc2\xad",
		"\xff",
	};
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good / sizeof *good; i++)
		assert_int_equal(rg_message_check_key(rg_str(good[i]), NULL), ROGER_OK);
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rg_message_check_key(rg_str(bad[i]), NULL), ROGER_EDATA);
	assert_int_equal(rg_message_check_key(rg_str(bad[0]), &err), ROGER_EDATA);
	assert_string_equal(err.message, "key: expected characters that can be seen, found U+202E");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_comes_back),
		cmocka_unit_test(unknown_members_survive_and_the_chain_does_not),
		cmocka_unit_test(number_is_put_behind_the_seed_members),
		cmocka_unit_test(hostile_lines_are_no_messages),
		cmocka_unit_test(lengths_count_characters),
		cmocka_unit_test(archive_order_walks_every_case),
		cmocka_unit_test(leases_end),
		cmocka_unit_test(keys_hold_what_can_be_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
