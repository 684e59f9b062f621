/*
 * What facts/log_kinds.h promises: every row names members that its record has, a
 * file or folder of its own, and a record that is read and checked; what can be
 * asked for of an entry comes from its members.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/log_kinds.h"

static const struct roger_field *field_of(const struct rg_log_kind *kind, const char *name)
{
	const struct roger_field *field;

	for (field = kind->record->fields; field->name; field++)
		if (strcmp(field->name, name) == 0)
			return field;
	fail_msg("%s: no member %s", kind->record->name, name);
	return NULL;
}

static bool is_text(const struct roger_field *field)
{
	return field->kind == ROGER_TEXT || field->kind == ROGER_NAME || field->kind == ROGER_ENUM;
}

static void rows_name_members_of_their_record(void **state)
{
	const struct rg_log_kind *kind;
	size_t log, i;

	(void)state;
	for (log = 0; log < RG_LOGS; log++) {
		kind = &rg_log_kinds[log];
		assert_non_null(kind->folder);
		assert_true(kind->file || *kind->folder);
		assert_true(kind->record || !kind->chained);
		if (kind->at)
			assert_int_equal(field_of(kind, kind->at)->kind, ROGER_INSTANT);
		for (i = 0; i < RG_COLUMNS; i++)
			if (kind->members[i])
				assert_true(is_text(field_of(kind, kind->members[i])));
		if (kind->record)
			assert_true(kind->record->size <= sizeof(union rg_log_record));
	}
}

static void no_two_stand_in_one_place(void **state)
{
	size_t a, b;

	(void)state;
	for (a = 0; a < RG_LOGS; a++)
		for (b = 0; b < a; b++)
			assert_false(strcmp(rg_log_kinds[a].folder, rg_log_kinds[b].folder) == 0 &&
				     (!rg_log_kinds[a].file || !rg_log_kinds[b].file ||
				      strcmp(rg_log_kinds[a].file, rg_log_kinds[b].file) == 0));
}

static void their_names_are_taken(void **state)
{
	static const char *const taken[] = { "cycles.jsonl",	 "dead-letters.jsonl",
					     "send-log",	 "key-digests.jsonl",
					     "damage.jsonl",	 "logs",
					     "messages_archive", "cleanup_metrics.jsonl" };
	static const char *const others[] = { "messages.jsonl", "send-logs", "activity.log.jsonl",
					      "" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof taken / sizeof *taken; i++)
		assert_true(rg_log_kinds_use(rg_str(taken[i])));
	for (i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(rg_log_kinds_use(rg_str(others[i])));
}

static struct rg_columns columns_of(enum rg_log log, const char *line, struct rg_arena *arena)
{
	union rg_log_record record;
	struct rg_columns columns;
	struct roger_err err;

	if (rg_log_kind_read(log, rg_str(line), arena, &record, &err) < 0)
		fail_msg("%s", err.message);
	rg_log_kind_columns(log, &record, arena, &columns);
	return columns;
}

static void assert_column(const struct rg_columns *columns, enum rg_column column, const char *text)
{
	if (!rg_str_is(columns->texts[column], text))
		fail_msg("%s: '%.*s', not '%s'", rg_column_names[column],
			 RG_STR_ARGS(columns->texts[column]), text);
}

static void an_attempt_is_found_by_its_members(void **state)
{
	static const char line[] =
		"{\"id\":\"snd-1\",\"sender\":\"ann\",\"target\":\"bob\",\"timestamp\":"
		"\"2026-01-01T00:00:00.000Z\",\"idempotent_key\":\"t:status-update:1\","
		"\"payload_chars\":1,\"outcome\":\"timeout\",\"attempt\":1,\"max_attempts\":3,"
		"\"message_id\":\"msg-1\",\"cycle_id\":\"c\"}";
	struct rg_arena *arena = rg_arena_new();
	struct rg_columns columns = columns_of(RG_LOG_SENDS, line, arena);

	(void)state;
	assert_int_equal(columns.at_ms, INT64_C(1767225600000));
	assert_column(&columns, RG_COLUMN_ID, "snd-1");
	assert_column(&columns, RG_COLUMN_OWNER, "ann");
	assert_column(&columns, RG_COLUMN_TASK, "t");
	assert_column(&columns, RG_COLUMN_KEY, "t:status-update:1");
	assert_column(&columns, RG_COLUMN_TARGET, "bob");
	assert_column(&columns, RG_COLUMN_MESSAGE, "msg-1");
	assert_column(&columns, RG_COLUMN_CYCLE, "c");
	assert_column(&columns, RG_COLUMN_STATE, "timeout");
	assert_column(&columns, RG_COLUMN_KIND, "");
	rg_arena_free(arena);
}

static struct rg_columns activity(const char *agent, const char *status, struct rg_arena *arena)
{
	struct roger_str line;

	assert_true(rg_arena_print(
		arena, &line,
		"{\"timestamp\":\"2026-01-01T00:00:00Z\",\"task_id\":\"t\",\"action\":{\"type\":"
		"\"TOOL_EXEC\",\"details\":{\"tool\":\"roger\",\"verb\":\"ack\",\"agent\":\"%s\"}},"
		"\"outcome\":{\"status\":\"%s\"},\"evidence_citation\":\"e\"}",
		agent, status));
	return columns_of(RG_LOG_ACTIVITY, line.data, arena);
}

static void an_activity_tells_whose_step_it_was(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_columns columns = activity("bob", "SUCCESS", arena);

	(void)state;
	assert_int_equal(columns.at_ms, INT64_C(1767225600000));
	assert_column(&columns, RG_COLUMN_TASK, "t");
	assert_column(&columns, RG_COLUMN_STATE, "SUCCESS");
	assert_column(&columns, RG_COLUMN_KIND, "TOOL_EXEC");
	assert_column(&columns, RG_COLUMN_CITATION, "e");
	assert_column(&columns, RG_COLUMN_OWNER, "bob");
	assert_column(&columns, RG_COLUMN_STEP, "ack");
	columns = activity("bob", "FAILURE", arena);
	assert_column(&columns, RG_COLUMN_OWNER, "bob");
	assert_column(&columns, RG_COLUMN_STEP, "");
	columns = activity("no name", "SUCCESS", arena);
	assert_column(&columns, RG_COLUMN_OWNER, "");
	assert_column(&columns, RG_COLUMN_STEP, "");
	rg_arena_free(arena);
}

static void what_is_no_entry_is_told(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	union rg_log_record record;
	struct roger_err err;
	size_t log;

	(void)state;
	for (log = 0; log < RG_LOGS; log++) {
		if (!rg_log_kinds[log].record)
			continue;
		assert_int_equal(
			rg_log_kind_read((enum rg_log)log, RG_STR("{}"), arena, &record, &err),
			ROGER_EDATA);
		assert_int_equal(
			rg_log_kind_read((enum rg_log)log, RG_STR("{"), arena, &record, &err),
			ROGER_EDATA);
	}
	/* Its fields are right, and the rule beside them says no. */
	assert_int_equal(
		rg_log_kind_read(RG_LOG_ACTIVITY,
				 RG_STR("{\"timestamp\":\"soon\",\"task_id\":\"t\",\"action\":"
					"{\"type\":\"TOOL_EXEC\",\"details\":{}},\"outcome\":"
					"{\"status\":\"SUCCESS\"}}"),
				 arena, &record, &err),
		ROGER_EDATA);
	assert_string_equal(err.member, "timestamp");
	rg_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_name_members_of_their_record),
		cmocka_unit_test(no_two_stand_in_one_place),
		cmocka_unit_test(their_names_are_taken),
		cmocka_unit_test(an_attempt_is_found_by_its_members),
		cmocka_unit_test(an_activity_tells_whose_step_it_was),
		cmocka_unit_test(what_is_no_entry_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
