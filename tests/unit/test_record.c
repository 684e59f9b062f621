/*
 * What data/record.h promises: a table of fields turns JSON into a struct and
 * back without loss, nested objects included, members of other programs survive,
 * every wrong member is refused by its name without telling its content, and
 * names are 1 to 128 of the allowed characters.  The message of seed 004 goes through as it stands
 * there.
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
	int64_t wait_ms;
	struct roger_str object;
	struct roger_strs texts;
	struct pairs pairs;
	int64_t spare;
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
	{ "wait", ROGER_SPAN, AT(wait_ms), ROGER_SPARE | ROGER_WAITS, NULL, NULL, NULL },
	{ "object", ROGER_OBJECT, AT(object), 0, NULL, NULL, NULL },
	{ "texts", ROGER_TEXTS, AT(texts), 0, NULL, NULL, NULL },
	{ "pairs", ROGER_RECORDS, AT(pairs), 0, NULL, &pair_record, NULL },
	{ "spare", ROGER_INT, AT(spare), ROGER_SPARE, NULL, NULL, NULL },
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

/* Both spellings come in; words go out, and nothing of another program passes for one. */
static void an_answer_has_words(void **state)
{
	static const struct roger_field fields[] = {
		{ "from", ROGER_TEXT, 0, ROGER_REQUIRED, NULL, NULL, "", "from_phase" },
		{ "expected_by", ROGER_TEXT, sizeof(struct roger_str), 0, NULL, NULL, "",
		  "expectedBy" },
		{ "", ROGER_MEMBERS, 2 * sizeof(struct roger_str), 0, NULL, NULL, "" },
		{ 0 },
	};
	static const struct roger_record type = { "words", 3 * sizeof(struct roger_str), fields };
	static const char file[] =
		"{\"from_phase\":\"ann\",\"expectedBy\":\"now\",\"from\":\"eve\","
		"\"expected_by\":1,\"x\":2}";
	struct roger_str record[3];
	struct read read = decode(&type, file, record);
	struct rg_buf out;

	(void)state;
	rg_buf_init(&out, SIZE_MAX);
	rg_words_encode(&type, record, &out);
	assert_true(
		rg_str_is(rg_buf_str(&out), "{\"from\":\"ann\",\"expected_by\":\"now\",\"x\":2}"));
	rg_buf_clear(&out);
	rg_record_encode(&type, record, &out);
	assert_true(rg_str_is(rg_buf_str(&out), file));
	rg_buf_deinit(&out);
	done(&read);

	read = decode(&type, "{\"from_phase\":\"ann\"}", record);
	assert_int_equal(read.result, ROGER_OK);
	done(&read);
	read = decode(&type, "{\"from\":\"ann\"}", record);
	assert_int_equal(read.result, ROGER_EDATA);
	assert_int_equal(rg_words_decode(&type, rg_json_root(read.json), record, read.arena, NULL),
			 ROGER_OK);
	assert_true(rg_str_is(record[0], "ann"));
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

/* ----------------------------------------------------------------- paths -- */

struct nested {
	int64_t before;
	struct roger_str type;
	struct roger_str inner_note;
	struct roger_str inner_unknown;
	int64_t size;
	struct roger_str unknown_outer;
	int64_t width;
	int64_t at_ms;
	struct roger_str unknown;
};

#define AT(member) offsetof(struct nested, member)
static const struct roger_field nested_fields[] = {
	{ "before", ROGER_INT, AT(before), 0, NULL, NULL, NULL },
	{ "outer.type", ROGER_TEXT, AT(type), ROGER_REQUIRED, NULL, NULL, NULL },
	{ "outer.inner.note", ROGER_TEXT, AT(inner_note), ROGER_SPARE, NULL, NULL, NULL },
	{ "outer.inner.*", ROGER_MEMBERS, AT(inner_unknown), 0, NULL, NULL, NULL },
	{ "outer.size", ROGER_INT, AT(size), 0, NULL, NULL, NULL },
	{ "outer.*", ROGER_MEMBERS, AT(unknown_outer), 0, NULL, NULL, NULL },
	{ "plain.width", ROGER_INT, AT(width), ROGER_SPARE, NULL, NULL, NULL },
	{ "at", ROGER_INSTANT, AT(at_ms), ROGER_SPARE, NULL, NULL, NULL },
	{ "", ROGER_MEMBERS, AT(unknown), 0, NULL, NULL, NULL },
	{ 0 },
};
#undef AT
static const struct roger_record nested_record = { "nested", sizeof(struct nested), nested_fields };

static void paths_are_objects(void **state)
{
	static const char all[] =
		"{\"before\":1,\"outer\":{\"type\":\"t\",\"inner\":{\"note\":\"n\","
		"\"x\":[1.0]},\"size\":2,\"y\":null},\"plain\":{\"width\":3},"
		"\"at\":\"2026-02-16T05:25:00.123Z\",\"z\":{\"type\":4}}";

	(void)state;
	becomes(&nested_record, all, all);
	becomes(&nested_record,
		"{\"z\":{\"type\":4},\"plain\":{\"width\":3},\"outer\":{\"y\":null,\"size\":2,"
		"\"inner\":{\"x\":[1.0],\"note\":\"n\"},\"type\":\"t\"},"
		"\"at\":\"2026-02-16T13:25:00.1239+08:00\",\"before\":1}",
		all);
}

static void an_object_with_nothing_in_it_is_left_out(void **state)
{
	(void)state;
	becomes(&nested_record, "{\"outer\":{\"type\":\"t\"}}",
		"{\"before\":0,\"outer\":{\"type\":\"t\",\"size\":0}}");
	becomes(&nested_record, "{\"outer\":{\"type\":\"t\",\"inner\":null},\"plain\":{}}",
		"{\"before\":0,\"outer\":{\"type\":\"t\",\"size\":0}}");
}

/* A dot in a member's own name is part of that name. */
static void a_member_with_a_dot_is_no_path(void **state)
{
	(void)state;
	becomes(&nested_record,
		"{\"outer.type\":1,\"outer\":{\"type\":\"t\",\"inner.note\":2},\"oute\":3,"
		"\"outer.\":4,\"\":5}",
		"{\"before\":0,\"outer\":{\"type\":\"t\",\"size\":0,\"inner.note\":2},"
		"\"outer.type\":1,\"oute\":3,\"outer.\":4,\"\":5}");
}

static void refused_path(const char *text, const char *member, const char *message)
{
	struct nested nested;
	struct read read = decode(&nested_record, text, &nested);

	if (read.result != ROGER_EDATA)
		fail_msg("read: %s", text);
	assert_string_equal(read.err.member, member);
	assert_string_equal(read.err.message, message);
	done(&read);
}

static void wrong_members_are_refused_by_their_path(void **state)
{
	(void)state;
	refused_path("{}", "outer.type", "outer.type: missing");
	refused_path("{\"outer\":null}", "outer.type", "outer.type: missing");
	refused_path("{\"outer\":{}}", "outer.type", "outer.type: missing");
	refused_path("{\"type\":\"t\"}", "outer.type", "outer.type: missing");
	refused_path("{\"outer\":\"t\"}", "outer", "outer: expected an object");
	refused_path("{\"outer\":[]}", "outer", "outer: expected an object");
	refused_path("{\"outer\":{\"inner\":1}}", "outer.inner", "outer.inner: expected an object");
	refused_path("{\"outer\":{\"type\":1}}", "outer.type", "outer.type: expected a string");
	refused_path("{\"outer\":{\"inner\":{\"note\":1}}}", "outer.inner.note",
		     "outer.inner.note: expected a string");
	refused_path("{\"outer\":{\"type\":\"t\"},\"plain\":{\"height\":1}}", "plain.height",
		     "'plain.height' is no member roger knows here");
	refused_path("{\"outer\":{\"type\":\"t\"},\"plain\":{\"widht\":1}}", "plain.widht",
		     "'plain.widht' is no member roger knows here; did you mean 'width'?");
}

static void instants_are_rfc_3339_and_nothing_else(void **state)
{
	static const char *const wrong[] = {
		"1736328000000",
		"\"1736328000000\"",
		"\"2h\"",
		"\"2026-02-16\"",
		"\"2026-02-16T05:25Z\"",
		"\"2026-02-16 05:25:00Z\"",
		"\"2026-02-16T05:25:00\"",
		"\"2026-02-16T05:25:00+0800\"",
		"\"2026-02-30T05:25:00Z\"",
		"\"2026-02-16T05:25:00.Z\"",
		"\"1969-12-31T23:59:59Z\"",
		"\"\"",
		"true",
	};
	char text[160];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(text, sizeof text, "{\"outer\":{\"type\":\"t\"},\"at\":%s}", wrong[i]);
		refused_path(text, "at",
			     "at: expected an instant of RFC 3339, such as 2026-02-16T05:25:00Z");
	}
}

static void instants_are_set_from_words_like_times(void **state)
{
	static const struct roger_field when = { "when", ROGER_INSTANT, 0, 0, NULL, NULL, NULL };
	struct rg_arena *arena = rg_arena_new();
	struct rg_buf out;
	int64_t ms = 0;

	(void)state;
	assert_int_equal(rg_record_set(&when, RG_STR("10s"), 1000000, &ms, arena, NULL), ROGER_OK);
	assert_int_equal(ms, 990000);
	assert_int_equal(rg_record_set(&when, RG_STR("soon"), 0, &ms, arena, NULL), ROGER_EDATA);
	rg_buf_init(&out, SIZE_MAX);
	rg_field_encode(&when, &ms, &out);
	ms = 0;
	assert_true(rg_field_unset(&when, &ms));
	rg_field_encode(&when, &ms, &out);
	assert_true(
		rg_str_is(rg_buf_str(&out), "\"when\":\"1970-01-01T00:16:30.000Z\",\"when\":null"));
	rg_buf_deinit(&out);
	rg_arena_free(arena);
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
	refused("{\"name\":\"two words\",\"text\":\"MARKER\"}", "name");
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
	assert_int_equal(set(&sample, arena, "wait", "0"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "object", " {\"a\" : 1} "), ROGER_OK);
	assert_int_equal(set(&sample, arena, "texts", "one"), ROGER_OK);
	assert_int_equal(set(&sample, arena, "texts", "two"), ROGER_OK);

	assert_true(rg_str_is(sample.name, "lead"));
	assert_int_equal(sample.number, 12);
	assert_true(sample.truth);
	assert_int_equal(sample.colour, 1);
	assert_int_equal(sample.when_ms, 990000);
	assert_int_equal(sample.span_ms, 120000);
	assert_int_equal(sample.wait_ms, 1);
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
	assert_int_equal(set(&sample, arena, "span", "0s"), ROGER_EDATA);
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

/* The first stands for nothing given. */
static const char *const or_none[] = { "", "red", "blue", NULL };

static void a_request_wants_all_that_is_required(void **state)
{
	static const struct roger_field fields[] = {
		{ "colour", ROGER_ENUM, 0, ROGER_REQUIRED, or_none, NULL, "red or blue" },
		{ 0 },
	};
	static const struct roger_record request = { "request", sizeof(int), fields };
	struct roger_err err;
	int colour = 0;

	(void)state;
	assert_int_equal(rg_request_check(&request, &colour, &err), ROGER_EUSAGE);
	assert_string_equal(err.member, "colour");
	assert_string_equal(err.message, "colour is required: red or blue");
	colour = 1;
	assert_int_equal(rg_request_check(&request, &colour, &err), ROGER_OK);
	/* What a program put there by mistake. */
	for (colour = -2; colour < 9; colour = colour < 0 ? 3 : colour + 1) {
		assert_int_equal(rg_request_check(&request, &colour, &err), ROGER_EDATA);
		assert_string_equal(err.message, "colour: expected red or blue");
	}
}

static void enums_are_found_and_listed(void **state)
{
	struct rg_buf out;

	(void)state;
	assert_int_equal(rg_enum_find(colours, RG_STR("blue")), 2);
	assert_int_equal(rg_enum_find(colours, RG_STR("blu")), -1);
	assert_int_equal(rg_enum_find(colours, RG_STR("")), -1);
	rg_buf_init(&out, SIZE_MAX);
	assert_int_equal(rg_enum_find(or_none, RG_STR("")), -1);
	assert_int_equal(rg_enum_find(or_none, RG_STR("red")), 1);
	rg_enum_list(or_none, &out);
	assert_true(rg_str_is(rg_buf_str(&out), "red or blue"));
	rg_buf_clear(&out);
	rg_enum_list(colours + 2, &out);
	assert_true(rg_str_is(rg_buf_str(&out), "blue"));
	rg_buf_clear(&out);
	rg_enum_list(colours + 1, &out);
	assert_true(rg_str_is(rg_buf_str(&out), "green or blue"));
	rg_buf_deinit(&out);
}

/* What is printed for one machine is read on another, also by an older roger. */
static void an_answer_is_read_back(void **state)
{
	static const char *const moods[] = { "", "well", NULL };
	struct answer {
		struct roger_str by, name;
		int64_t rate, count;
		int mood;
	} record = { 0 };
#define AT(member) offsetof(struct answer, member)
	static const struct roger_field fields[] = {
		{ "expected_by", ROGER_TEXT, AT(by), 0, NULL, NULL, "", "expectedBy" },
		{ "name", ROGER_NAME, AT(name), ROGER_REQUIRED, NULL, NULL, "" },
		{ "rate", ROGER_INT, AT(rate), ROGER_MEASURED, NULL, NULL, "" },
		{ "count", ROGER_INT, AT(count), 0, NULL, NULL, "" },
		{ "mood", ROGER_ENUM, AT(mood), 0, moods, NULL, "" },
		{ 0 },
	};
#undef AT
	static const struct roger_record type = { "answer", sizeof record, fields };
	static const char text[] =
		"{\"expected_by\":\"now\",\"name\":\"\",\"count\":-1,\"mood\":\"\"}";
	static const char newer[] =
		"{\"expected_by\":\"now\",\"name\":\"\",\"newer\":[{}],\"count\":-1,\"mood\":\"\"}";
	struct read read = decode(&type, newer, &record);
	struct rg_buf out;

	(void)state;
	assert_int_equal(read.result, ROGER_EDATA);
	memset(&record, 0, sizeof record);
	assert_int_equal(
		rg_answer_decode(&type, rg_json_root(read.json), &record, read.arena, NULL),
		ROGER_OK);
	assert_true(rg_str_is(record.by, "now"));
	assert_true(record.rate == ROGER_UNKNOWN);
	rg_buf_init(&out, SIZE_MAX);
	rg_words_encode(&type, &record, &out);
	assert_true(rg_str_is(rg_buf_str(&out), text));
	rg_buf_deinit(&out);
	done(&read);

	read = decode(&type, "{\"expected_by\":\"now\"}", &record);
	assert_int_equal(
		rg_answer_decode(&type, rg_json_root(read.json), &record, read.arena, NULL),
		ROGER_EDATA);
	done(&read);
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
		cmocka_unit_test(paths_are_objects),
		cmocka_unit_test(an_object_with_nothing_in_it_is_left_out),
		cmocka_unit_test(a_member_with_a_dot_is_no_path),
		cmocka_unit_test(wrong_members_are_refused_by_their_path),
		cmocka_unit_test(instants_are_rfc_3339_and_nothing_else),
		cmocka_unit_test(instants_are_set_from_words_like_times),
		cmocka_unit_test(wrong_members_are_refused_by_name),
		cmocka_unit_test(enum_error_lists_the_choices),
		cmocka_unit_test(words_set_members),
		cmocka_unit_test(wrong_words_are_refused),
		cmocka_unit_test(names_follow_the_rule),
		cmocka_unit_test(an_answer_has_words),
		cmocka_unit_test(an_answer_is_read_back),
		cmocka_unit_test(a_request_wants_all_that_is_required),
		cmocka_unit_test(enums_are_found_and_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
