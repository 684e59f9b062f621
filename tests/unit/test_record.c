/*
 * What data/record.h promises: a table of fields turns JSON into a struct and
 * back without loss, members of other programs survive, every wrong member is
 * refused by its name without telling its content, and names are what spec.md
 * section 1 says.  The message of seed 004 goes through as it stands there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "data/record.h"

struct pair {
	struct roger_str left;
	int64_t right;
};

struct pairs {
	const struct pair *items;
	size_t count;
};

struct sample {
	struct roger_str name;
	struct roger_str text;
	int64_t number;
	bool truth;
	int colour;
	int64_t when_ms;
	int64_t span_ms;
	struct roger_str object;
	struct roger_strs texts;
	struct pairs pairs;
	int64_t spare;
	int64_t hidden;
	struct roger_str unknown;
};

static const char *const colours[] = { "red", "green", "blue", NULL };

#define AT(member) offsetof(struct pair, member)
static const struct roger_field pair_fields[] = {
	{ "left", ROGER_TEXT, AT(left), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "right", ROGER_INT, AT(right), 0, NULL, NULL, NULL },
	{ 0 },
};
#undef AT
static const struct roger_record pair_record = { "pair", sizeof(struct pair), pair_fields };

#define AT(member) offsetof(struct sample, member)
static const struct roger_field sample_fields[] = {
	{ "name", ROGER_NAME, AT(name), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "text", ROGER_TEXT, AT(text), 0, NULL, NULL, NULL },
	{ "number", ROGER_INT, AT(number), 0, NULL, NULL, NULL },
	{ "truth", ROGER_BOOL, AT(truth), 0, NULL, NULL, NULL },
	{ "colour", ROGER_ENUM, AT(colour), 0, colours, NULL, NULL },
	{ "when", ROGER_TIME, AT(when_ms), 0, NULL, NULL, NULL },
	{ "span", ROGER_SPAN, AT(span_ms), 0, NULL, NULL, NULL },
	{ "object", ROGER_OBJECT, AT(object), 0, NULL, NULL, NULL },
	{ "texts", ROGER_TEXTS, AT(texts), 0, NULL, NULL, NULL },
	{ "pairs", ROGER_RECORDS, AT(pairs), 0, NULL, &pair_record, NULL },
	{ "spare", ROGER_INT, AT(spare), ROGER_SPARE, NULL, NULL, NULL },
	{ "hidden", ROGER_INT, AT(hidden), ROGER_HIDDEN, NULL, NULL, NULL },
	{ "", ROGER_MEMBERS, AT(unknown), 0, NULL, NULL, NULL },
	{ 0 },
};
#undef AT
static const struct roger_record sample_record = { "sample", sizeof(struct sample), sample_fields };

/* A record with what it points into. */
struct read {
	struct rg_json *json;
	struct rg_arena *arena;
	struct roger_err err;
	int result;
};

static struct read decode(const struct roger_record *type, const char *text, void *record)
{
	struct read read = { .arena = rg_arena_new() };

	memset(record, 0, type->size);
	assert_non_null(read.arena);
	assert_int_equal(rg_json_read(rg_str(text), &read.json, &read.err), ROGER_OK);
	read.result =
		rg_record_decode(type, rg_json_root(read.json), record, read.arena, &read.err);
	return read;
}

static void done(struct read *read)
{
	rg_json_free(read->json);
	rg_arena_free(read->arena);
}

/* Does text, read as a record and written, become expected? */
static void becomes(const struct roger_record *type, const char *text, const char *expected)
{
	uint64_t record[64];
	struct rg_buf out;
	struct read read;

	assert_true(type->size <= sizeof record);
	read = decode(type, text, record);
	if (read.result < 0)
		fail_msg("not read: %s", read.err.message);
	rg_buf_init(&out, SIZE_MAX);
	rg_record_encode(type, record, &out);
	rg_buf_add_char(&out, '\0');
	assert_false(out.failed);
	assert_string_equal(out.data, expected);
	rg_buf_deinit(&out);
	done(&read);
}

/* Is text refused, with an error of that member and no word of content? */
static void refused(const char *text, const char *member)
{
	struct sample sample;
	struct read read = decode(&sample_record, text, &sample);

	if (read.result != ROGER_EDATA)
		fail_msg("read: %s", text);
	assert_string_equal(read.err.member, member);
	assert_null(strstr(read.err.message, "MARKER"));
	done(&read);
}

/* -------------------------------------------------------------- seed 004 -- */

struct message {
	struct roger_str id, issue_id, from_phase, to_phase;
	int64_t run_counter;
	int type;
	struct roger_str content, metadata;
	bool read;
	int64_t created_at_ms, read_at_ms;
};

static const char *const types[] = { "context", "result", "decision", "data", NULL };

#define AT(member) offsetof(struct message, member)
static const struct roger_field message_fields[] = {
	{ "id", ROGER_TEXT, AT(id), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "issue_id", ROGER_NAME, AT(issue_id), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "from_phase", ROGER_NAME, AT(from_phase), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "to_phase", ROGER_NAME, AT(to_phase), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "run_counter", ROGER_INT, AT(run_counter), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "message_type", ROGER_ENUM, AT(type), ROGER_REQUIRED, types, NULL, NULL },
	{ "content", ROGER_TEXT, AT(content), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "metadata", ROGER_OBJECT, AT(metadata), 0, NULL, NULL, NULL },
	{ "read", ROGER_BOOL, AT(read), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "created_at", ROGER_TIME, AT(created_at_ms), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "read_at", ROGER_TIME, AT(read_at_ms), 0, NULL, NULL, NULL },
	{ 0 },
};
#undef AT
static const struct roger_record message_record = { "message", sizeof(struct message),
						    message_fields };

/* The seed prints its example over many lines; on one line it is the same, byte for byte. */
static void seed_message_goes_through(void **state)
{
	(void)state;
	becomes(&message_record,
		"{\n"
		"  \"id\": \"msg-<timestamp>-<random>\",\n"
		"  \"issue_id\": \"agent-shepherd-alg8.1\",\n"
		"  \"from_phase\": \"plan\",\n"
		"  \"to_phase\": \"implement\",\n"
		"  \"run_counter\": 1,\n"
		"  \"message_type\": \"context\",\n"
		"  \"content\": \"Task context and requirements\",\n"
		"  \"metadata\": {\n"
		"    \"sender\": \"agent-id\",\n"
		"    \"priority\": \"high\"\n"
		"  },\n"
		"  \"read\": false,\n"
		"  \"created_at\": 1736328000000,\n"
		"  \"read_at\": null\n"
		"}",
		"{\"id\":\"msg-<timestamp>-<random>\",\"issue_id\":\"agent-shepherd-alg8.1\","
		"\"from_phase\":\"plan\",\"to_phase\":\"implement\",\"run_counter\":1,"
		"\"message_type\":\"context\",\"content\":\"Task context and requirements\","
		"\"metadata\":{\"sender\":\"agent-id\",\"priority\":\"high\"},\"read\":false,"
		"\"created_at\":1736328000000,\"read_at\":null}");
}

/* ------------------------------------------------------------- both ways -- */

static const char whole[] =
	"{\"name\":\"a\",\"text\":\"t\\n\",\"number\":7,\"truth\":true,\"colour\":\"blue\","
	"\"when\":1736328000000,\"span\":250,\"object\":{\"a\":[1.50,{}]},\"texts\":[\"x\",\"\"],"
	"\"pairs\":[{\"left\":\"l\",\"right\":1},{\"left\":\"\",\"right\":0}],\"spare\":3,"
	"\"other\":[1,2],\"more\":null}";

static void whole_record_goes_through(void **state)
{
	(void)state;
	becomes(&sample_record, whole, whole);
}

static void unset_members_are_null_or_left_out(void **state)
{
	(void)state;
	becomes(&sample_record, "{\"name\":\"a\"}",
		"{\"name\":\"a\",\"text\":null,\"number\":0,\"truth\":false,\"colour\":\"red\","
		"\"when\":null,\"span\":0,\"object\":null,\"texts\":[],\"pairs\":[]}");
	becomes(&sample_record,
		"{\"name\":\"a\",\"text\":null,\"number\":null,\"truth\":null,\"colour\":null,"
		"\"when\":null,"
		"\"span\":null,\"object\":null,\"texts\":null,\"pairs\":null,\"spare\":null}",
		"{\"name\":\"a\",\"text\":null,\"number\":0,\"truth\":false,\"colour\":\"red\","
		"\"when\":null,\"span\":0,\"object\":null,\"texts\":[],\"pairs\":[]}");
}

static void members_come_in_the_table_s_order(void **state)
{
	(void)state;
	becomes(&pair_record, "{\"right\":2,\"left\":\"l\"}", "{\"left\":\"l\",\"right\":2}");
}

static void one_text_is_a_list_of_one(void **state)
{
	struct sample sample;
	struct read read = decode(&sample_record, "{\"name\":\"a\",\"texts\":\"one\"}", &sample);

	(void)state;
	assert_int_equal(read.result, ROGER_OK);
	assert_int_equal(sample.texts.count, 1);
	assert_true(rg_str_is(sample.texts.items[0], "one"));
	done(&read);
}

static void unknown_members_survive(void **state)
{
	struct sample sample;
	struct read read = decode(&sample_record,
				  "{\"z\": {\"deep\": [1.0, \"\\u00fc\"]}, \"name\": \"a\", "
				  "\"hidden\": 5, \"\\n\": 1e9}",
				  &sample);

	(void)state;
	assert_int_equal(read.result, ROGER_OK);
	assert_true(rg_str_is(sample.unknown,
			      "\"z\":{\"deep\":[1.0,\"\xc3\xbc\"]},\"hidden\":5,\"\\n\":1e9"));
	assert_int_equal(sample.hidden, 0);
	done(&read);
}

static void unknown_members_without_a_place_are_refused(void **state)
{
	struct pair pair;
	struct read read = decode(&pair_record, "{\"left\":\"l\",\"up\\u001b\":\"MARKER\"}", &pair);

	(void)state;
	assert_int_equal(read.result, ROGER_EDATA);
	assert_non_null(strstr(read.err.message, "'up?'"));
	assert_null(strstr(read.err.message, "MARKER"));
	done(&read);
}

static void kept_record_outlives_its_document(void **state)
{
	struct sample sample;
	struct read read = decode(&sample_record, whole, &sample);
	struct rg_buf out;

	(void)state;
	assert_int_equal(read.result, ROGER_OK);
	assert_true(rg_record_keep(&sample_record, &sample, read.arena));
	read.json = rg_json_free(read.json);
	assert_int_equal(sample.texts.items[1].length, 0);
	assert_int_equal(sample.texts.items[1].data[0], '\0');
	rg_buf_init(&out, SIZE_MAX);
	rg_record_encode(&sample_record, &sample, &out);
	assert_true(rg_str_is(rg_buf_str(&out), whole));
	rg_buf_deinit(&out);
	done(&read);
}

static void full_buffer_fails_quietly(void **state)
{
	struct sample sample;
	struct read read = decode(&sample_record, whole, &sample);
	struct rg_buf out;
	size_t maximum;

	(void)state;
	for (maximum = 0; maximum < sizeof whole - 1; maximum++) {
		rg_buf_init(&out, maximum);
		rg_record_encode(&sample_record, &sample, &out);
		assert_true(out.failed);
		rg_buf_deinit(&out);
	}
	done(&read);
}

/* --------------------------------------------------------------- refused -- */

static void wrong_members_are_refused_by_name(void **state)
{
	(void)state;
	refused("[]", "");
	refused("\"MARKER\"", "");
	refused("{}", "name");
	refused("{\"text\":\"MARKER\"}", "name");
	refused("{\"name\":null}", "name");
	refused("{\"name\":7}", "name");
	refused("{\"name\":\"\"}", "name");
	refused("{\"name\":\"MARKER MARKER\"}", "name");
	refused("{\"name\":\"a\",\"text\":[\"MARKER\"]}", "text");
	refused("{\"name\":\"a\",\"text\":\"MARKER\\u0000\"}", "text");
	refused("{\"name\":\"a\",\"number\":\"7\"}", "number");
	refused("{\"name\":\"a\",\"number\":7.0}", "number");
	refused("{\"name\":\"a\",\"number\":-1}", "number");
	refused("{\"name\":\"a\",\"number\":9223372036854775808}", "number");
	refused("{\"name\":\"a\",\"truth\":1}", "truth");
	refused("{\"name\":\"a\",\"truth\":\"true\"}", "truth");
	refused("{\"name\":\"a\",\"colour\":\"MARKER\"}", "colour");
	refused("{\"name\":\"a\",\"colour\":\"Red\"}", "colour");
	refused("{\"name\":\"a\",\"colour\":0}", "colour");
	refused("{\"name\":\"a\",\"when\":253402300800000}", "when");
	refused("{\"name\":\"a\",\"when\":\"2026-02-16\"}", "when");
	refused("{\"name\":\"a\",\"span\":-1}", "span");
	refused("{\"name\":\"a\",\"object\":\"{}\"}", "object");
	refused("{\"name\":\"a\",\"object\":[]}", "object");
	refused("{\"name\":\"a\",\"texts\":[1]}", "texts");
	refused("{\"name\":\"a\",\"texts\":{}}", "texts");
	refused("{\"name\":\"a\",\"pairs\":{}}", "pairs");
	refused("{\"name\":\"a\",\"pairs\":[\"MARKER\"]}", "");
	refused("{\"name\":\"a\",\"pairs\":[{\"right\":1}]}", "left");
}

static void enum_error_lists_the_choices(void **state)
{
	struct sample sample;
	struct read read = decode(&sample_record, "{\"name\":\"a\",\"colour\":\"pink\"}", &sample);

	(void)state;
	assert_string_equal(read.err.message, "colour: expected red, green or blue");
	done(&read);
}

/* ------------------------------------------------------------ from words -- */

static const struct roger_field *field(const char *name)
{
	size_t i;

	for (i = 0; strcmp(sample_fields[i].name, name) != 0; i++)
		;
	return &sample_fields[i];
}

static int set(struct sample *sample, struct rg_arena *arena, const char *name, const char *text)
{
	return rg_record_set(field(name), rg_str(text), 1000000, sample, arena, NULL);
}

static void words_set_members(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct sample sample = { 0 };

	(void)state;
	assert_int_equal(set(&sample, arena, "name", "lead"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "text", ""), ROGER_OK);
	assert_int_equal(set(&sample, arena, "number", "12"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "truth", ""), ROGER_OK);
	assert_int_equal(set(&sample, arena, "colour", "green"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "when", "10s"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "span", "2m"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "object", " {\"a\" : 1} "), ROGER_OK);
	assert_int_equal(set(&sample, arena, "texts", "one"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "texts", "two"), ROGER_OK);

	assert_true(rg_str_is(sample.name, "lead"));
	assert_int_equal(sample.number, 12);
	assert_true(sample.truth);
	assert_int_equal(sample.colour, 1);
	assert_int_equal(sample.when_ms, 990000);
	assert_int_equal(sample.span_ms, 120000);
	assert_true(rg_str_is(sample.object, "{\"a\":1}"));
	assert_int_equal(sample.texts.count, 2);
	assert_true(rg_str_is(sample.texts.items[1], "two"));
	rg_arena_free(arena);
}

static void wrong_words_are_refused(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct sample sample = { 0 };

	(void)state;
	assert_int_equal(set(&sample, arena, "name", "-lead"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "text", "\xff"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "number", "-1"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "number", "1k"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "colour", "pink"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "when", "soon"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "span", "long"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "object", "[]"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "object", "{\"a\":1,\"a\":2}"), ROGER_EDATA);
	assert_int_equal(set(&sample, arena, "texts", "\xff"), ROGER_EDATA);
	rg_arena_free(arena);
}

/* ----------------------------------------------------------------- names -- */

static void names_follow_the_rule(void **state)
{
	static const char *const good[] = { "a", "LEAD", "WORKER-A", "agent@host:1/sub_2.x",
					    ".", "..",	 "/",	     "all",
					    "_-" };
	static const char *const bad[] = { "",	  "-",	 "-a",	 "a b", "a\n", "gr\xc3\xbc",
					   "a#1", "(a)", "a\\b", "a*",	"\x7f" };
	char name[RG_NAME_CHARS_MAX + 1];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(rg_name_valid(rg_str(good[i])));
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(rg_name_valid(rg_str(bad[i])));
	assert_false(rg_name_valid(RG_STR("a\0b")));

	memset(name, 'n', sizeof name);
	assert_true(rg_name_valid((struct roger_str){ name, RG_NAME_CHARS_MAX }));
	assert_false(rg_name_valid((struct roger_str){ name, RG_NAME_CHARS_MAX + 1 }));
}

static void enums_are_found_and_listed(void **state)
{
	struct rg_buf out;

	(void)state;
	assert_int_equal(rg_enum_find(colours, RG_STR("blue")), 2);
	assert_int_equal(rg_enum_find(colours, RG_STR("blu")), -1);
	assert_int_equal(rg_enum_find(colours, RG_STR("")), -1);
	rg_buf_init(&out, SIZE_MAX);
	rg_enum_list(colours + 2, &out);
	assert_true(rg_str_is(rg_buf_str(&out), "blue"));
	rg_buf_clear(&out);
	rg_enum_list(colours + 1, &out);
	assert_true(rg_str_is(rg_buf_str(&out), "green or blue"));
	rg_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seed_message_goes_through),
		cmocka_unit_test(whole_record_goes_through),
		cmocka_unit_test(unset_members_are_null_or_left_out),
		cmocka_unit_test(members_come_in_the_table_s_order),
		cmocka_unit_test(one_text_is_a_list_of_one),
		cmocka_unit_test(unknown_members_survive),
		cmocka_unit_test(unknown_members_without_a_place_are_refused),
		cmocka_unit_test(kept_record_outlives_its_document),
		cmocka_unit_test(full_buffer_fails_quietly),
		cmocka_unit_test(wrong_members_are_refused_by_name),
		cmocka_unit_test(enum_error_lists_the_choices),
		cmocka_unit_test(words_set_members),
		cmocka_unit_test(wrong_words_are_refused),
		cmocka_unit_test(names_follow_the_rule),
		cmocka_unit_test(enums_are_found_and_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
