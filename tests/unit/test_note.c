/*
 * What facts/note.h promises: what is written is read again, notes of earlier
 * versions are, too, each word on disk has its kind and step, and nothing that
 * other programs write is taken for a note.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts/note.h"

static struct rg_arena *arena;

static struct rg_note read_note(const char *details, const char *outcome)
{
	struct rg_note note;
	struct rg_buf line;

	rg_buf_init(&line, SIZE_MAX);
	rg_buf_printf(
		&line,
		"{\"timestamp\":\"2025-10-05T14:40:07Z\",\"task_id\":\"t\",\"action\":{\"type\":"
		"\"TOOL_EXEC\",\"details\":%s},\"outcome\":%s}",
		details, outcome);
	assert_int_equal(rg_note_read(rg_buf_str(&line), arena, &note, NULL), ROGER_OK);
	rg_buf_deinit(&line);
	return note;
}

static void what_is_written_is_read(void **state)
{
	const struct roger_str ids[] = { RG_STR("msg-1-a"), RG_STR("msg-2-b") };
	const struct rg_note woken = { .kind = RG_NOTE_WOKEN,
				       .entry = { .task = RG_STR("app-42"),
						  .at_ms = INT64_C(1759668007500),
						  .status = ROGER_FAILURE,
						  .message = RG_STR("exit 1") },
				       .agent = RG_STR("bob"),
				       .ids = { ids, 2 },
				       .count = 20,
				       .position = 24,
				       .attempt = 3,
				       .program = RG_STR("true"),
				       .test = true,
				       .more = { { "took_ms", 0 } } };
	struct rg_note note;
	struct rg_buf line;

	(void)state;
	rg_buf_init(&line, SIZE_MAX);
	assert_int_equal(rg_note_print(&woken, &line, NULL), ROGER_OK);
	assert_non_null(memmem(line.data, line.length, "\"took_ms\":0}", 12));
	assert_int_equal(rg_note_read(rg_buf_str(&line), arena, &note, NULL), ROGER_OK);
	rg_buf_deinit(&line);
	assert_int_equal(note.kind, RG_NOTE_WOKEN);
	assert_true(rg_str_is(note.tool, "roger") && rg_str_is(note.verb, "wake"));
	assert_true(rg_str_is(note.agent, "bob") && rg_str_is(note.program, "true"));
	assert_int_equal(note.ids.count, 2);
	assert_true(rg_str_is(note.ids.items[1], "msg-2-b"));
	assert_int_equal(note.count, 20);
	assert_int_equal(note.position, 24);
	assert_int_equal(note.attempt, 3);
	assert_true(note.test);
	assert_int_equal(note.entry.at_ms, INT64_C(1759668007500));
	assert_true(rg_str_is(note.entry.message, "exit 1"));
	assert_int_equal(note.failure, RG_FAILURE_OTHER);
}

/* Of f653cf1, in its order of members. */
static void earlier_ones_are_read(void **state)
{
	static const char wake[] =
		"{\"tool\":\"roger\",\"verb\":\"wake\",\"agent\":\"bob\",\"ids\":[\"msg-1-a\"],"
		"\"count\":1,\"position\":7,\"attempt\":2,\"took_ms\":3,\"program\":\"true\"}";
	static const char send[] =
		"{\"tool\":\"roger\",\"verb\":\"send\",\"agent\":\"plan\",\"ids\":[\"msg-1-a\"],"
		"\"count\":1,\"seq\":1,\"epoch\":1,\"duplicates\":1}";
	static const char arrive[] = "{\"tool\":\"roger\",\"verb\":\"arrive\",\"agent\":\"bob\","
				     "\"for\":\"codex\",\"session\":"
				     "\"0199a213\"}";
	struct rg_note note;

	(void)state;
	note = read_note(wake, "{\"status\":\"SUCCESS\"}");
	assert_int_equal(note.kind, RG_NOTE_WOKEN);
	assert_int_equal(note.position, 7);
	assert_int_equal(note.attempt, 2);
	note = read_note(send, "{\"status\":\"SUCCESS\"}");
	assert_int_equal(note.kind, RG_NOTE_SENT);
	assert_int_equal(note.duplicates, 1);
	assert_true(rg_str_is(note.numbers, "\"epoch\":1"));
	note = read_note(arrive, "{\"status\":\"SUCCESS\"}");
	assert_int_equal(note.kind, RG_NOTE_ARRIVED);
	assert_true(rg_str_is(note.session, "0199a213"));
}

static void failures_have_their_kind(void **state)
{
	static const char send[] = "{\"tool\":\"roger\",\"verb\":\"send\"}";

	(void)state;
	assert_int_equal(read_note(send, "{\"status\":\"SUCCESS\"}").failure, RG_FAILURE_NONE);
	assert_int_equal(read_note(send, "{\"status\":\"FAILURE\",\"message\":\"retry\"}").failure,
			 RG_FAILURE_RETRY);
	assert_int_equal(
		read_note(send, "{\"status\":\"FAILURE\",\"message\":\"refused: key\"}").failure,
		RG_FAILURE_KEY);
	assert_int_equal(
		read_note(send, "{\"status\":\"FAILURE\",\"message\":\"refused: to\"}").failure,
		RG_FAILURE_OTHER);
	assert_int_equal(read_note(send, "{\"status\":\"FAILURE\"}").failure, RG_FAILURE_OTHER);
}

static void what_others_write_is_not_ours(void **state)
{
	static const char *const others[] = { "{}",
					      "{\"verb\":\"inbox\"}",
					      "{\"tool\":\"rogers\",\"verb\":\"inbox\"}",
					      "{\"tool\":1,\"verb\":[\"inbox\"]}",
					      "{\"tool\":\"roger\"}",
					      "{\"tool\":\"roger\",\"verb\":\"inbox\",\"ids\":7}" };
	struct rg_note note;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof others / sizeof *others; i++) {
		note = read_note(others[i], "{\"status\":\"SUCCESS\"}");
		assert_int_equal(note.kind, RG_NOTE_FOREIGN);
		assert_int_equal(note.ids.count, 0);
		assert_true(rg_str_is(note.entry.task, "t"));
	}
	assert_int_equal(rg_note_read(RG_STR("{\"no\":\"entry\"}"), arena, &note, NULL), ROGER_OK);
	assert_int_equal(note.kind, RG_NOTE_FOREIGN);
	assert_int_equal(note.entry.timestamp.length, 0);
}

static void step_is(const char *details, bool failed, enum rg_note_step expected)
{
	struct rg_json *json;

	assert_int_equal(rg_json_read(rg_str(details), &json, NULL), ROGER_OK);
	assert_int_equal(rg_note_step(rg_json_root(json), failed), expected);
	rg_json_free(json);
}

static void notes_tell_their_step(void **state)
{
	(void)state;
	step_is("{\"tool\":\"roger\",\"verb\":\"inbox\"}", false, RG_STEP_LOOK);
	step_is("{\"tool\":\"roger\",\"verb\":\"receive\"}", false, RG_STEP_LOOK);
	step_is("{\"tool\":\"roger\",\"verb\":\"receive\"}", true, RG_STEP_NONE);
	step_is("{\"tool\":\"roger\",\"verb\":\"claim\"}", false, RG_STEP_LOOK);
	step_is("{\"tool\":\"roger\",\"verb\":\"ack\"}", false, RG_STEP_ACK);
	step_is("{\"tool\":\"roger\",\"verb\":\"wake\"}", false, RG_STEP_WAKE);
	step_is("{\"tool\":\"roger\",\"verb\":\"wake\"}", true, RG_STEP_WAKE);
	step_is("{\"tool\":\"roger\",\"verb\":\"arrive\"}", false, RG_STEP_SESSION);
	step_is("{\"tool\":\"roger\",\"verb\":\"nack\"}", false, RG_STEP_NONE);
	step_is("{\"tool\":\"roger\",\"verb\":\"send\"}", false, RG_STEP_NONE);
	step_is("{\"tool\":\"roger\",\"verb\":\"unheard-of\"}", false, RG_STEP_NONE);
	step_is("{\"tool\":\"roger\"}", false, RG_STEP_NONE);
	step_is("{\"verb\":\"inbox\"}", false, RG_STEP_NONE);
	step_is("{\"tool\":\"rogers\",\"verb\":\"inbox\"}", false, RG_STEP_NONE);
	step_is("{\"tool\":1,\"verb\":[\"inbox\"]}", false, RG_STEP_NONE);
	step_is("{}", false, RG_STEP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(earlier_ones_are_read),
		cmocka_unit_test(failures_have_their_kind),
		cmocka_unit_test(what_others_write_is_not_ours),
		cmocka_unit_test(notes_tell_their_step),
	};
	int r;

	arena = rg_arena_new();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rg_arena_free(arena);
	return r;
}
