/*
 * The seeds' own examples, as files beside this one, are read and come back:
 * the message of seed 004 member by member in its order, its line as it was
 * written to messages.jsonl by another program, the lines of seed 002 byte for
 * byte, every number of its message-state.json, and the document of seed
 * 001 and the entries of seeds 000 and 003 byte for byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/activity.h"
#include "facts/log_kinds.h"
#include "facts/message.h"
#include "facts/sendlog.h"
#include "facts/sequence.h"
#include "facts/watchdog.h"

#include "../unit/rolelines.h"

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
	assert_true(rg_str_is(message->issue, "agent-shepherd-alg8.1"));
	assert_true(rg_str_is(message->from, "plan"));
	assert_true(rg_str_is(message->to, "implement"));
	assert_int_equal(message->pass, 1);
	assert_int_equal(message->type, ROGER_CONTEXT);
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
	struct rolelines lines = { 0 };
	struct rg_buf printed;
	size_t i;

	(void)state;
	assert_int_equal(read_rolelines(text, arena, &lines, NULL), ROGER_OK);
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
		assert_int_equal(rg_sequence_seen(again, RG_STR(""), rg_str(names[reader])),
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

/* The entry of seed 000, with names and instants in place of what the example only describes. */
static void the_attempt_comes_back_byte_for_byte(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_attempt attempt = { 0 };
	struct rg_buf line, printed;
	struct rg_json *json;

	(void)state;
	as_line(fixture("000-attempt.json"), &line);
	assert_int_equal(rg_json_read(rg_buf_str(&line), &json, NULL), ROGER_OK);
	assert_int_equal(
		rg_record_decode(&rg_attempt_record, rg_json_root(json), &attempt, arena, NULL),
		ROGER_OK);
	assert_int_equal(attempt.payload_chars, 342);
	assert_int_equal(attempt.outcome, ROGER_DELIVERED);
	assert_int_equal(attempt.attempt, 1);
	assert_int_equal(attempt.max_attempts, 3);
	assert_int_equal(attempt.at_ms, INT64_C(1771219500000));
	assert_true(rg_str_is(attempt.cycle, "2026-02-16T05:25Z"));
	assert_int_equal(attempt.dead_letter_task.length, 0);
	assert_true(rg_str_is(rg_key_task(attempt.key), "kIXqdAoCeOLS7-KwNCkUW"));
	rg_buf_init(&printed, SIZE_MAX);
	rg_record_encode(&rg_attempt_record, &attempt, &printed);
	assert_int_equal(printed.length, line.length);
	assert_memory_equal(printed.data, line.data, line.length);
	/* What roger adds comes behind the seed's eleven. */
	attempt.payload_bytes = 350;
	attempt.message = rg_str("msg-1-x");
	rg_buf_clear(&printed);
	rg_record_encode(&rg_attempt_record, &attempt, &printed);
	assert_memory_equal(printed.data, line.data, line.length - 1);
	assert_memory_equal(printed.data + line.length - 1, ",\"payload_bytes\":350,", 21);
	rg_buf_deinit(&line);
	rg_buf_deinit(&printed);
	rg_json_free(json);
	rg_arena_free(arena);
}

/* As another program's line it is an attempt among others. */
static void the_attempt_is_one_in_a_workspace(void **state)
{
	char root[] = "/tmp/roger-spec-XXXXXX", path[80], command[64];
	struct roger_init_request init = { 0 };
	struct roger_sends_request all = { 0 };
	struct roger_sends_reply reply;
	struct roger_init_reply made;
	struct roger *roger;
	struct rg_buf line;
	FILE *log;

	(void)state;
	as_line(fixture("000-attempt.json"), &line);
	assert_non_null(mkdtemp(root));
	init.path = rg_str(root);
	assert_int_equal(roger_init(&init, &made, NULL), ROGER_OK);
	roger_reply_free(&made);
	snprintf(command, sizeof command, "mkdir -p '%s/.roger/send-log'", root);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof path, "%s/.roger/send-log/scout.jsonl", root);
	log = fopen(path, "a");
	assert_non_null(log);
	fprintf(log, "%.*s\n", RG_STR_ARGS(rg_buf_str(&line)));
	fclose(log);
	assert_int_equal(roger_open(root, &roger, NULL), ROGER_OK);
	assert_int_equal(roger_sends(roger, &all, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.attempts.count, 1);
	assert_int_equal(reply.attempts.items[0].payload_chars, 342);
	roger_reply_free(&reply);
	roger_close(roger);
	rg_buf_deinit(&line);
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

/* The document of seed 001, and what its evidence says on either side of its deadline. */
static void the_run_comes_back_byte_for_byte(void **state)
{
	const struct rg_watchdog_rules rules = { 3, 300000, 3, 86400000 };
	struct roger_str text = fixture("001-run.json");
	struct rg_arena *arena = rg_arena_new();
	struct rg_receipts receipts;
	struct rg_buf printed;
	struct roger_run run;
	struct rg_json *json;

	(void)state;
	assert_int_equal(rg_run_read(text, &json, arena, &run, &receipts, NULL), ROGER_OK);
	assert_int_equal(receipts.dispatched_ms, INT64_C(1776998400000));
	assert_int_equal(receipts.expected_by_ms - receipts.dispatched_ms, 600000);
	assert_int_equal(rg_watchdog_judge(&receipts, &rules, receipts.expected_by_ms),
			 ROGER_RUN_ACTIVE);
	assert_int_equal(rg_watchdog_judge(&receipts, &rules, receipts.expected_by_ms + 1),
			 ROGER_RUN_SUSPECT);
	rg_buf_init(&printed, SIZE_MAX);
	rg_run_print(&run, &printed);
	assert_int_equal(printed.length, text.length);
	assert_memory_equal(printed.data, text.data, text.length);
	rg_buf_clear(&printed);
	rg_watchdog_explain(&run, &receipts, &rules, ROGER_RUN_ACTIVE, &printed);
	assert_true(rg_str_equal(rg_buf_str(&printed), run.status_reason));
	rg_buf_deinit(&printed);
	rg_json_free(json);
	rg_arena_free(arena);
}

static struct roger_str entry_of_seed_003(void)
{
	struct roger_str text = fixture("003-activity.json");

	text.length--; /* its newline */
	return text;
}

static void the_entry_comes_back_byte_for_byte(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_activity entry;
	struct rg_buf printed;

	(void)state;
	assert_int_equal(
		rg_log_kind_read(RG_LOG_ACTIVITY, entry_of_seed_003(), arena, &entry, NULL),
		ROGER_OK);
	assert_int_equal(entry.unknown.length + entry.action_unknown.length, 0);
	assert_int_equal(entry.type, ROGER_FILE_WRITE);
	assert_int_equal(entry.status, ROGER_SUCCESS);
	assert_true(rg_str_is(entry.task, "bootstrap-repository-01"));
	assert_int_equal(entry.at_ms, INT64_C(1759675207000));
	rg_buf_init(&printed, SIZE_MAX);
	assert_int_equal(rg_activity_print(&entry, &printed, NULL), ROGER_OK);
	assert_true(rg_str_equal(rg_buf_str(&printed), fixture("003-activity.json")));
	rg_buf_deinit(&printed);
	rg_arena_free(arena);
}

static void the_entry_is_one_in_a_workspace(void **state)
{
	char root[] = "/tmp/roger-spec-XXXXXX", command[64];
	struct roger_init_request init = { 0 };
	struct roger_log_request log = { 0 };
	struct roger_activity_request all = { 0 };
	struct roger_activity_reply reply;
	struct roger_init_reply made;
	struct roger *roger;
	struct rg_buf printed;

	(void)state;
	assert_non_null(mkdtemp(root));
	init.path = rg_str(root);
	assert_int_equal(roger_init(&init, &made, NULL), ROGER_OK);
	roger_reply_free(&made);
	assert_int_equal(roger_open(root, &roger, NULL), ROGER_OK);
	log.entry = entry_of_seed_003();
	assert_int_equal(roger_log(roger, &log, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	assert_int_equal(roger_activity(roger, &all, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.activities.count, 1);
	rg_buf_init(&printed, SIZE_MAX);
	rg_record_encode(&rg_activity_record, &reply.activities.items[0], &printed);
	assert_true(rg_str_equal(rg_buf_str(&printed), entry_of_seed_003()));
	rg_buf_deinit(&printed);
	roger_reply_free(&reply);
	roger_close(roger);
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_message_comes_back),
		cmocka_unit_test(the_message_is_one_in_a_journal),
		cmocka_unit_test(the_lines_come_back_byte_for_byte),
		cmocka_unit_test(the_attempt_comes_back_byte_for_byte),
		cmocka_unit_test(the_attempt_is_one_in_a_workspace),
		cmocka_unit_test(the_state_comes_back),
		cmocka_unit_test(the_entry_comes_back_byte_for_byte),
		cmocka_unit_test(the_entry_is_one_in_a_workspace),
		cmocka_unit_test(the_run_comes_back_byte_for_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
