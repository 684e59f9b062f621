/*
 * The seeds' own examples, as files beside this one, are read and come back:
 * the message of seed 004 member by member in its order, its line as it was
 * written to messages.jsonl by another program, the lines of seed 002 byte for
 * byte, and every number of its message-state.json.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/roleline.h"
#include "systems/message.h"
#include "systems/sequence.h"

static struct roger_str fixture(const char *name)
{
	static char text[8192];
	const char *source = getenv("ROGER_SOURCE");
	char path[4096];
	FILE *file;
	size_t length;

	snprintf(path, sizeof path, "%s/tests/spec/%s", source ? source : ".", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("no '%s'; set ROGER_SOURCE", path);
	length = fread(text, 1, sizeof text, file);
	fclose(file);
	assert_true(length > 0 && length < sizeof text);
	return (struct roger_str){ text, length };
}

/* The example as one line, its values untouched. */
static void as_line(struct roger_str text, struct rg_buf *out)
{
	struct rg_json *json;

	rg_buf_init(out, SIZE_MAX);
	assert_int_equal(rg_json_read(text, &json, NULL), ROGER_OK);
	rg_json_print(rg_json_root(json), out);
	rg_json_free(json);
}

static void check_message(const struct roger_message *message)
{
	assert_true(rg_str_is(message->id, "msg-<timestamp>-<random>"));
	assert_true(rg_str_is(message->issue_id, "agent-shepherd-alg8.1"));
	assert_true(rg_str_is(message->from_phase, "plan"));
	assert_true(rg_str_is(message->to_phase, "implement"));
	assert_int_equal(message->run_counter, 1);
	assert_int_equal(message->message_type, ROGER_CONTEXT);
	assert_true(rg_str_is(message->content, "Task context and requirements"));
	assert_true(
		rg_str_is(message->metadata, "{\"sender\":\"agent-id\",\"priority\":\"high\"}"));
	assert_false(message->read);
	assert_int_equal(message->created_at_ms, INT64_C(1736328000000));
	assert_int_equal(message->read_at_ms, 0);
}

static void the_message_comes_back(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message;
	struct rg_buf line, printed;
	struct rg_json *json;
	size_t number_at;

	(void)state;
	as_line(fixture("004-message.json"), &line);
	assert_int_equal(rg_message_read(rg_buf_str(&line), &json, arena, &message, NULL),
			 ROGER_OK);
	check_message(&message);
	rg_buf_init(&printed, SIZE_MAX);
	rg_message_print(&message, &printed, &number_at);
	rg_buf_add_char(&printed, '}');
	assert_int_equal(printed.length, line.length);
	assert_memory_equal(printed.data, line.data, line.length);
	rg_json_free(json);
	rg_buf_deinit(&line);
	rg_buf_deinit(&printed);
	rg_arena_free(arena);
}

/* Any tool's line of this shape is a message, as it stands. */
static void the_message_is_one_in_a_journal(void **state)
{
	char root[] = "/tmp/roger-spec-XXXXXX", path[64];
	struct roger_init_request init = { 0 };
	struct roger_list_request all = { .limit = 10 };
	struct roger_messages_reply reply;
	struct roger_init_reply made;
	struct roger *roger;
	struct rg_buf line;
	FILE *journal;

	(void)state;
	as_line(fixture("004-message.json"), &line);
	assert_non_null(mkdtemp(root));
	init.path = rg_str(root);
	assert_int_equal(roger_init(&init, &made, NULL), ROGER_OK);
	roger_reply_free(&made);
	snprintf(path, sizeof path, "%s/.roger/messages.jsonl", root);
	journal = fopen(path, "a");
	fprintf(journal, "%.*s\n", RG_STR_ARGS(rg_buf_str(&line)));
	fclose(journal);
	assert_int_equal(roger_open(root, &roger, NULL), ROGER_OK);
	assert_int_equal(roger_list(roger, &all, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.messages.count, 1);
	check_message(&reply.messages.items[0]);
	roger_reply_free(&reply);
	roger_close(roger);
	rg_buf_deinit(&line);
	snprintf(path, sizeof path, "rm -rf '%s'", root);
	assert_int_equal(system(path), 0);
}

static void the_lines_come_back_byte_for_byte(void **state)
{
	struct roger_str text = fixture("002-lines.txt");
	struct rg_arena *arena = rg_arena_new();
	struct rg_rolelines lines;
	struct rg_buf printed;
	size_t i;

	(void)state;
	assert_int_equal(rg_roleline_read(text, arena, &lines, NULL), ROGER_OK);
	assert_int_equal(lines.count, 5);
	assert_int_equal(lines.skipped_bytes, 0);
	assert_true(rg_str_is(lines.items[1].role, "WORKER-A"));
	assert_int_equal(lines.items[4].number, 2);
	rg_buf_init(&printed, SIZE_MAX);
	for (i = 0; i < lines.count; i++)
		rg_roleline_print(&lines.items[i], &printed);
	assert_int_equal(printed.length, text.length);
	assert_memory_equal(printed.data, text.data, text.length);
	rg_buf_deinit(&printed);
	rg_arena_free(arena);
}

static void the_state_comes_back(void **state)
{
	static const char *const names[] = { "LEAD", "WORKER-A", "WORKER-B", "REVIEWER" };
	static const int64_t counters[] = { 5, 3, 2, 4 };
	struct rg_sequence *sequence, *again;
	struct rg_buf printed, twice;
	int reader, sender;

	(void)state;
	assert_int_equal(rg_sequence_read(fixture("002-message-state.json"), &sequence, NULL),
			 ROGER_OK);
	rg_buf_init(&printed, SIZE_MAX);
	rg_buf_init(&twice, SIZE_MAX);
	rg_sequence_print(sequence, &printed);
	assert_int_equal(rg_sequence_read(rg_buf_str(&printed), &again, NULL), ROGER_OK);
	for (reader = 0; reader < 4; reader++) {
		assert_int_equal(rg_sequence_counted(again, rg_str(names[reader])),
				 counters[reader]);
		for (sender = 0; sender < 4; sender++)
			assert_int_equal(rg_sequence_seen(again, rg_str(names[reader]),
							  rg_str(names[sender])),
					 sender == reader ? 0 : counters[sender]);
	}
	rg_sequence_print(again, &twice);
	assert_true(rg_str_equal(rg_buf_str(&printed), rg_buf_str(&twice)));
	rg_buf_deinit(&printed);
	rg_buf_deinit(&twice);
	rg_sequence_free(sequence);
	rg_sequence_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_message_comes_back),
		cmocka_unit_test(the_message_is_one_in_a_journal),
		cmocka_unit_test(the_lines_come_back_byte_for_byte),
		cmocka_unit_test(the_state_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
