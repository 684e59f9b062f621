/*
 * What facts/message.h promises: seed 004's example reads and prints back
 * with its members in order, members of others survive, lengths count
 * characters, hostile lines are no messages and say why, the order of
 * archiving holds for every combination of age and type, and each member is
 * what the message is, which no later line changes, or its state.
 */
#include "place.h"

#include "harsh.h"

#include "base/limits.h"
#include "facts/message.h"

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
	struct roger_message message = {
		.id = str("i"), .type = ROGER_CONTEXT, .content = str("c"), .key = str("k")
	};
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

/* One way of reading is told from the other by nothing but who frees what. */
static int read_both_ways(struct roger_str line, struct roger_message *message,
			  struct roger_err *err)
{
	static const struct roger_message before = { .id = { "before", 6 } };
	struct rg_arena *arena = rg_arena_new();
	struct rg_json *json = NULL;
	struct roger_message one = before, other = before;
	struct roger_err other_err = { 0 };
	int r;

	r = rg_message_read(line, &json, arena, &one, err);
	assert_int_equal(rg_message_read_within(line, arena, &other, &other_err), r);
	if (r < 0) {
		assert_string_equal(err->message, other_err.message);
		assert_string_equal(err->member, other_err.member);
		assert_memory_equal(&one, &before, sizeof one);
		assert_memory_equal(&other, &before, sizeof other);
		assert_null(json);
	} else {
		assert_true(rg_str_equal(one.id, other.id));
		assert_true(rg_str_equal(one.content, other.content));
		assert_int_equal(one.seq, other.seq);
		assert_int_equal(one.created_at_ms, other.created_at_ms);
		*message = one;
		message->id = message->content = RG_STR("");
	}
	rg_json_free(json);
	rg_arena_free(arena);
	return r;
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "", "no JSON value" },
		{ "[]", "expected an object, found an array" },
		{ "{}", "id: missing" },
		{ "{\"id\":1}", "id: expected a string" },
	};
	struct roger_message message;
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(read_both_ways(rg_str(cases[i].line), &message, &err),
				 ROGER_EDATA);
		assert_string_equal(err.message, cases[i].message);
	}
}

static int read_with(const char *id, const char *more, struct roger_message *message,
		     struct roger_err *err)
{
	char line[2048];

	snprintf(line, sizeof line, "{\"id\":\"%s\"%s%s}", id, strchr(example, ','), more);
	return read_both_ways(rg_str(line), message, err);
}

static void ids_and_numbers_have_bounds(void **state)
{
	char id[2 * RG_NAME_CHARS_MAX + 2];
	struct roger_message message;
	struct roger_err err;

	(void)state;
	memset(id, 'i', sizeof id);
	id[sizeof id - 1] = '\0';
	assert_int_equal(read_with(id, "", &message, &err), ROGER_EDATA);
	assert_string_equal(err.message, "id: expected 1 to 256 bytes");
	assert_int_equal(read_with("", "", &message, &err), ROGER_EDATA);
	assert_string_equal(err.message, "id: expected 1 to 256 bytes");
	id[sizeof id - 2] = '\0';
	assert_int_equal(read_with(id, "", &message, &err), ROGER_OK);
	assert_int_equal(read_with("i", ",\"seq\":281474976710656", &message, &err), ROGER_OK);
	assert_int_equal(message.seq, RG_SEQ_MAX);
	assert_int_equal(read_with("i", ",\"seq\":281474976710657", &message, &err), ROGER_EDATA);
	assert_string_equal(err.message, "seq: expected at most 281474976710656");
	assert_string_equal(err.member, "seq");
	assert_int_equal(read_with("i", ",\"epoch\":2147483648", &message, &err), ROGER_OK);
	assert_int_equal(message.epoch, RG_EPOCH_MAX);
	assert_int_equal(read_with("i", ",\"epoch\":2147483649", &message, &err), ROGER_EDATA);
	assert_string_equal(err.message, "epoch: expected at most 2147483648");
	assert_string_equal(err.member, "epoch");
}

/* A line that gets its number later is the line that had it from the start. */
static void a_number_that_is_put_in_later(void **state)
{
	struct roger_message message = {
		.id = str("i"), .type = ROGER_CONTEXT, .content = str("c"), .key = str("k")
	};
	struct rg_buf without, with, joined;
	size_t number_at, none;

	(void)state;
	rg_buf_init(&without, SIZE_MAX);
	rg_buf_init(&with, SIZE_MAX);
	rg_buf_init(&joined, SIZE_MAX);
	rg_message_print(&message, &without, &number_at);
	message.seq = 7;
	message.epoch = 23;
	rg_message_print(&message, &with, &none);
	assert_true(none == SIZE_MAX);
	rg_buf_add(&joined, without.data, number_at);
	rg_message_print_number(7, 23, &joined);
	rg_buf_add(&joined, without.data + number_at, without.length - number_at);
	assert_int_equal(joined.length, with.length);
	assert_memory_equal(joined.data, with.data, with.length);
	rg_buf_deinit(&without);
	rg_buf_deinit(&with);
	rg_buf_deinit(&joined);
}

static struct roger_str any_text(char *room, size_t size)
{
	static const char pieces[][8] = { "a", "msg-1", "\"", "\\",	  "{",	  "]",
					  ",", ":",	"\n", "\xc3\xa9", "read", "true" };
	size_t length = 0;

	do
		length += (size_t)snprintf(room + length, size - length, "%s",
					   pieces[(size_t)rand() % 12]);
	while (length < size - 8 && rand() % 5);
	return (struct roger_str){ room, length };
}

static struct roger_str any_name(void)
{
	static const char *const names[] = { "a", "bob", "msg-1-b", "\xc3\xa9t\xc3\xa9", "i1" };

	return str(names[rand() % 5]);
}

static int64_t any_number(void)
{
	return rand() % 3 ? 0 : rand();
}

/* Where it is skimmed, it is what the whole line says. */
static void a_skimmed_line_says_the_same(void **state)
{
	char content[40], by[40], metadata[120];
	int i, skimmed = 0;

	(void)state;
	srand(7);
	for (i = 0; i < 20000; i++) {
		struct roger_message message = { .id = any_name(),
						 .issue = any_name(),
						 .from = any_name(),
						 .to = any_name(),
						 .type = ROGER_CONTEXT + rand() % 4,
						 .content = any_text(content, sizeof content),
						 .read = rand() % 2,
						 .read_at_ms = any_number(),
						 .seq = any_number(),
						 .epoch = any_number(),
						 .confirm_by_ms = any_number(),
						 .claimed_until_ms = any_number(),
						 .archived_at_ms = any_number() };
		struct rg_arena *arena = rg_arena_new();
		struct roger_message found, all;
		struct rg_buf line;
		size_t number_at;

		if (rand() % 2)
			message.claimed_by = any_text(by, sizeof by);
		snprintf(metadata, sizeof metadata,
			 "{\"read\":%s,\"to_phase\":[\"\\\"]\",{\"seq\":5}],\"id\":\"}\"}",
			 rand() % 2 ? "true" : "false");
		if (rand() % 2)
			message.metadata = str(metadata);
		rg_buf_init(&line, SIZE_MAX);
		rg_message_print(&message, &line, &number_at);
		rg_buf_add_text(&line, ",\"chain\":\"0123456789abcdef\"}");
		if (rg_message_read_within(rg_buf_str(&line), arena, &all, NULL) == ROGER_OK &&
		    rg_message_skim(rg_buf_str(&line), &found)) {
			skimmed++;
			assert_true(rg_str_equal(found.id, all.id));
			assert_true(rg_str_equal(found.issue, all.issue));
			assert_true(rg_str_equal(found.from, all.from));
			assert_true(rg_str_equal(found.to, all.to));
			assert_true(rg_str_equal(found.claimed_by, all.claimed_by));
			assert_int_equal(found.read, all.read);
			assert_int_equal(found.seq, all.seq);
			assert_int_equal(found.epoch, all.epoch);
			assert_int_equal(found.confirm_by_ms, all.confirm_by_ms);
			assert_int_equal(found.claimed_until_ms, all.claimed_until_ms);
			assert_int_equal(found.archived_at_ms, all.archived_at_ms);
		}
		/* Cut, it may be anything; nothing beyond it is read. */
		(void)!rg_message_skim(
			(struct roger_str){ line.data, (size_t)rand() % line.length }, &found);
		rg_buf_deinit(&line);
		rg_arena_free(arena);
	}
	assert_in_range(skimmed, 500, 20000);
}

static int read_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message message;
	struct rg_json *json;
	char line[1024];
	int r;

	snprintf(line, sizeof line, "%s,\"zz\":1}", example);
	r = rg_message_read_within(rg_str(line), arena, &message, err);
	if (r == ROGER_OK)
		r = rg_message_read(rg_str(line), &json, arena, &message, err);
	if (r == ROGER_OK)
		rg_json_free(json);
	return r;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(read_scarcely);
}

static void lengths_count_characters(void **state)
{
	struct roger_err err;

	(void)state;
	assert_int_equal(rg_message_check_metadata(str("\xff"), 4, &err), ROGER_EDATA);
	assert_string_equal(err.message, "metadata: expected valid UTF-8 without NUL");
	assert_int_equal(rg_message_check_metadata(str("{ }"), 2, &err), ROGER_EDATA);
	assert_string_equal(err.message,
			    "metadata: expected at most 2 characters as JSON text, found 3");
	assert_int_equal(rg_message_check_content(str("\xff"), 4, &err), ROGER_EDATA);
	assert_string_equal(err.message, "content: expected valid UTF-8 without NUL");
	assert_int_equal(rg_message_check_content(str(""), 4, &err), ROGER_EDATA);
	assert_string_equal(err.message, "content: expected some text, found none");
	assert_int_equal(rg_message_check_content(str("abcde"), 4, &err), ROGER_EDATA);
	assert_string_equal(err.message,
			    "content: expected at most 4 characters, found 5; send a file's path, "
			    "or raise size_limits.max_content_length");
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
			for (a.type = ROGER_CONTEXT; a.type <= ROGER_DATA; a.type++)
				for (b.type = ROGER_CONTEXT; b.type <= ROGER_DATA; b.type++)
					for (a.position = 1; a.position <= 2; a.position++)
						for (b.position = 1; b.position <= 2;
						     b.position++) {
							key_a = a.created_at_ms * 100 +
								rank[a.type] * 10 + a.position;
							key_b = b.created_at_ms * 100 +
								rank[b.type] * 10 + b.position;
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
	char longest[3 * RG_NAME_CHARS_MAX + 1];
	struct roger_err err;
	size_t i;

	(void)state;
	memset(longest, 'k', sizeof longest);
	assert_int_equal(
		rg_message_check_key((struct roger_str){ longest, sizeof longest - 1 }, &err),
		ROGER_OK);
	assert_int_equal(rg_message_check_key((struct roger_str){ longest, sizeof longest }, &err),
			 ROGER_EDATA);
	assert_string_equal(err.message, "key: expected at most 384 characters of UTF-8");
	for (i = 0; i < sizeof good / sizeof *good; i++)
		assert_int_equal(rg_message_check_key(rg_str(good[i]), NULL), ROGER_OK);
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rg_message_check_key(rg_str(bad[i]), NULL), ROGER_EDATA);
	assert_int_equal(rg_message_check_key(rg_str(bad[0]), &err), ROGER_EDATA);
	assert_string_equal(err.message, "key: expected visible characters, found U+202E");
}

/* ------------------------------------------------------------ later lines -- */

static const char full[] = "{\"id\":\"m\",\"issue_id\":\"i\",\"from_phase\":\"a\",\"to_phase\":"
			   "\"b\",\"run_counter\":2,"
			   "\"message_type\":\"result\",\"content\":\"text\",\"metadata\":{\"n\":1."
			   "50,\"k\":[1,{\"x\":null}]},"
			   "\"read\":false,\"created_at\":5,\"read_at\":null,\"seq\":3,\"epoch\":2,"
			   "\"idempotent_key\":\"k\","
			   "\"reply_to\":\"r\",\"via\":\"bridge\",\"proved\":\"token\",\"cycle_"
			   "id\":\"c\",\"attempt\":1,"
			   "\"confirm_by\":9,\"retry_within\":4,\"theirs\":{\"deep\":1e2}}";
static const char bare[] = "{\"id\":\"m\",\"issue_id\":\"i\",\"from_phase\":\"a\",\"to_phase\":"
			   "\"b\",\"message_type\":\"result\","
			   "\"content\":\"text\",\"read\":false,\"created_at\":5}";

/* The text with one piece of it put in another's place; "": taken out. */
static const char *edited(const char *text, const char *piece, const char *other, char to[1024])
{
	const char *at = strstr(text, piece);

	assert_non_null(at);
	snprintf(to, 1024, "%.*s%s%s", (int)(at - text), text, other, at + strlen(piece));
	return to;
}

/* The members that the later line rewrites, each with a comma; the message through ret_message. */
static const char *rewritten(const char *first, const char *later, struct rg_arena *arena,
			     struct roger_message *ret_message)
{
	static char members[200];
	struct rg_rewrites rewrites;
	struct roger_err err;
	size_t i;

	if (rg_message_read_later(7, rg_str(first), rg_str(later), arena, ret_message, &rewrites,
				  &err) < 0)
		fail_msg("%s: %s", later, err.message);
	members[0] = '\0';
	for (i = 0; i < rewrites.count; i++)
		snprintf(members + strlen(members), sizeof members - strlen(members), "%s,",
			 rewrites.items[i].member);
	return members;
}

static void each_member_is_the_message_or_its_state(void **state)
{
	static const struct {
		const char *piece, *other, *members;
	} cases[] = {
		{ "\"i\"", "\"j\"", "issue_id," },
		{ "\"from_phase\":\"a\"", "\"from_phase\":\"e\"", "from_phase," },
		{ "\"to_phase\":\"b\"", "\"to_phase\":\"e\"", "to_phase," },
		{ "\"run_counter\":2", "\"run_counter\":1", "run_counter," },
		{ "\"run_counter\":2,", "", "" },
		{ "\"run_counter\":2", "\"run_counter\":null", "" },
		{ "\"result\"", "\"context\"", "message_type," },
		{ "\"text\"", "\"Text\"", "content," },
		{ "\"text\"", "\"\"", "content," },
		{ "\"text\"", "\"\\u0074ext\"", "" },
		{ "1.50", "1.5", "" },
		{ "1.50", "15e-1", "" },
		{ "1.50", "1.51", "metadata," },
		{ "1.50", "\"1.50\"", "metadata," },
		{ "{\"n\":1.50,\"k\":[1,{\"x\":null}]}", "{\"k\":[1.0,{\"x\":null}],\"n\":1.5}",
		  "" },
		{ "[1,{\"x\":null}]", "[{\"x\":null},1]", "metadata," },
		{ "{\"n\":1.50,\"k\":[1,{\"x\":null}]}", "{\"n\":1.50}", "metadata," },
		{ "{\"n\":1.50,\"k\":[1,{\"x\":null}]}", "null", "" },
		{ "\"read\":false", "\"read\":true", "" },
		{ "\"created_at\":5", "\"created_at\":6", "created_at," },
		{ "\"read_at\":null", "\"read_at\":8", "" },
		{ "\"seq\":3", "\"seq\":4", "seq," },
		{ "\"seq\":3,", "", "" },
		{ "\"epoch\":2", "\"epoch\":3", "epoch," },
		{ "\"k\",\"reply", "\"l\",\"reply", "idempotent_key," },
		{ "\"r\"", "\"s\"", "reply_to," },
		{ "\"bridge\"", "\"ingest\"", "via," },
		{ "\"token\"", "\"observed\"", "proved," },
		{ "\"c\"", "\"d\"", "cycle_id," },
		{ "\"c\",\"attempt\":1", "\"d\",\"attempt\":2", "" },
		{ "\"attempt\":1", "\"attempt\":2", "" },
		{ "\"confirm_by\":9,", "", "" },
		{ "\"retry_within\":4", "\"retry_within\":5", "" },
		{ "\"theirs\":{\"deep\":1e2}", "\"theirs\":{\"deep\":100}", "" },
		{ "\"theirs\":{\"deep\":1e2}", "\"theirs\":{\"deep\":101}", "," },
		{ ",\"theirs\":{\"deep\":1e2}", "", "" },
		{ "\"theirs\"", "\"new\":1,\"theirs\"", "" },
		{ "\"id\"", "\"claimed_by\":\"w\",\"claimed_until\":1,\"handed_at\":2,\"id\"", "" },
		{ "\"id\"", "\"acked_at\":3,\"ack_outcome\":\"done\",\"ack_note\":\"n\",\"id\"",
		  "" },
		{ "\"id\"", "\"archived_at\":3,\"archive_reason\":\"n\",\"id\"", "" },
		{ "\"i\",\"from_phase\":\"a\"", "\"j\",\"from_phase\":\"e\"",
		  "issue_id,from_phase," },
	};
	struct rg_arena *arena = rg_arena_new();
	struct roger_message first, later;
	char line[1024];
	size_t i;

	(void)state;
	assert_int_equal(rg_message_read_within(rg_str(full), arena, &first, NULL), ROGER_OK);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		edited(full, cases[i].piece, cases[i].other, line);
		if (strcmp(rewritten(full, line, arena, &later), cases[i].members) != 0)
			fail_msg("%s: rewrites %s", line, rewritten(full, line, arena, &later));
		/* Whatever it says, the message is the first line's. */
		assert_int_equal(rg_message_hash(1, &first) == rg_message_hash(1, &later),
				 !strstr(line, "\"new\"") && !rg_str_is(later.cycle, "d"));
	}
	rg_arena_free(arena);
}

static void what_the_first_line_lacks_is_not_added(void **state)
{
	static const char *const added[][2] = {
		{ "\"seq\":3", "seq," },	  { "\"idempotent_key\":\"k\"", "idempotent_key," },
		{ "\"epoch\":1", "epoch," },	  { "\"reply_to\":\"r\"", "reply_to," },
		{ "\"via\":\"bridge\"", "via," }, { "\"proved\":\"token\"", "proved," },
		{ "\"metadata\":{}", "" },	  { "\"metadata\":{\"a\":0}", "metadata," },
		{ "\"run_counter\":1", "" },	  { "\"run_counter\":2", "run_counter," },
		{ "\"cycle_id\":\"c\"", "" },	  { "\"theirs\":1", "" },
	};
	struct rg_arena *arena = rg_arena_new();
	struct roger_message later;
	char line[1024], member[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof added / sizeof *added; i++) {
		snprintf(member, sizeof member, "%s,\"id\"", added[i][0]);
		edited(bare, "\"id\"", member, line);
		assert_string_equal(rewritten(bare, line, arena, &later), added[i][1]);
		assert_int_equal(later.pass, 1);
		assert_int_equal(later.seq + later.epoch, 0);
		assert_int_equal(later.key.length + later.reply_to.length + later.via.length, 0);
	}
	assert_true(rg_str_is(later.unknown, "\"theirs\":1"));
	rg_arena_free(arena);
}

/* The seed's eleven members: what roger alone knows of a message stays. */
static void a_line_of_the_origin_lacks_no_state(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message later;
	char line[1024];

	(void)state;
	edited(bare, "\"read\":false", "\"read\":true,\"read_at\":9,\"run_counter\":2", line);
	assert_string_equal(rewritten(full, line, arena, &later), "");
	assert_true(later.read && rg_str_is(later.cycle, "c") && rg_str_is(later.key, "k"));
	assert_int_equal(later.confirm_by_ms, 9);
	assert_int_equal(later.retry_within_ms, 4);
	assert_int_equal(later.attempt, 1);
	/* Roger's own line leaves out what has ended. */
	edited(full, "\"confirm_by\":9,\"retry_within\":4,", "", line);
	assert_string_equal(rewritten(full, line, arena, &later), "");
	assert_int_equal(later.confirm_by_ms + later.retry_within_ms, 0);
	rg_arena_free(arena);
}

static void only_a_line_in_order_is_skimmed(void **state)
{
	struct roger_message found;
	char line[1024];

	(void)state;
	edited(full, ",\"theirs\":{\"deep\":1e2}", "", line);
	assert_true(rg_message_skim(rg_str(line), &found));
	assert_false(rg_message_skim(rg_str(full), &found));
	edited(full, "\"theirs\":{\"deep\":1e2}", "\"read\":true", line);
	assert_false(rg_message_skim(rg_str(line), &found));
	edited(full, "\"theirs\":{\"deep\":1e2}", "\"retry_within\":1", line);
	assert_false(rg_message_skim(rg_str(line), &found));
	edited(full, "\"theirs\":{\"deep\":1e2}", "\"\":1", line);
	assert_false(rg_message_skim(rg_str(line), &found));
	edited(full, "\"id\"", "\"\\u0069d\"", line);
	assert_false(rg_message_skim(rg_str(line), &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_member_is_the_message_or_its_state),
		cmocka_unit_test(what_the_first_line_lacks_is_not_added),
		cmocka_unit_test(a_line_of_the_origin_lacks_no_state),
		cmocka_unit_test(only_a_line_in_order_is_skimmed),
		cmocka_unit_test(example_comes_back),
		cmocka_unit_test(unknown_members_survive_and_the_chain_does_not),
		cmocka_unit_test(number_is_put_behind_the_seed_members),
		cmocka_unit_test(hostile_lines_are_no_messages),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(ids_and_numbers_have_bounds),
		cmocka_unit_test(a_number_that_is_put_in_later),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(lengths_count_characters),
		cmocka_unit_test(archive_order_walks_every_case),
		cmocka_unit_test(leases_end),
		cmocka_unit_test(a_skimmed_line_says_the_same),
		cmocka_unit_test(keys_hold_what_can_be_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
