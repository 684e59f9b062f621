#include "facts/log_kinds.h"

#include "facts/activity.h"
#include "facts/message.h"
#include "facts/note.h"
#include "facts/sendlog.h"

const char *const rg_column_names[RG_COLUMNS] = { "id",	  "actor",    "task",  "key",
						  "peer", "message",  "cycle", "state",
						  "type", "evidence", "step" };

static int check_message(void *record, struct roger_err *err)
{
	return rg_message_check(record, err);
}

static int check_activity(void *record, struct roger_err *err)
{
	return rg_activity_check(record, err);
}

static void derive_task(const union rg_log_record *record, struct rg_arena *arena,
			struct rg_columns *columns)
{
	(void)arena;
	columns->texts[RG_COLUMN_TASK] = rg_key_task(record->attempt.key);
}

static void derive_cleanup(const union rg_log_record *record, struct rg_arena *arena,
			   struct rg_columns *columns)
{
	(void)arena;
	columns->at_ms = record->cleanup.at_ms;
}

/* Set the time, and the agent and the step of its mail where a note names them. */
static void derive_step(const union rg_log_record *record, struct rg_arena *arena,
			struct rg_columns *columns)
{
	static const char member[] = "\"agent\":";
	const struct roger_str details = record->activity.details;
	const struct rg_value *agent;
	const struct rg_json *json;

	columns->at_ms = record->activity.at_ms;
	if (!rg_str_find_part(details, rg_str(member)) ||
	    rg_json_read_within(details, arena, &json, NULL) < 0)
		return;
	agent = rg_json_member(rg_json_root(json), "agent");
	if (!agent || rg_json_kind(agent) != RG_JSON_STRING || !rg_name_valid(rg_json_str(agent)))
		return;
	columns->texts[RG_COLUMN_OWNER] = rg_json_str(agent);
	columns->texts[RG_COLUMN_STEP] = rg_note_step_name(
		rg_note_step(rg_json_root(json), record->activity.status != ROGER_SUCCESS));
}

const struct rg_log_kind rg_log_kinds[RG_LOGS] = {
	[RG_LOG_MESSAGES] = { .folder = "",
			      .file = "messages.jsonl",
			      .record = &rg_message_record,
			      .chained = true,
			      .check = check_message,
			      .start = "{\"id\":\"msg-",
			      .noun = "a message" },
	[RG_LOG_CYCLES] = { .folder = "",
			    .file = "cycles.jsonl",
			    .record = &rg_cycle_record,
			    .chained = true,
			    .at = "opened_at",
			    .members = { [RG_COLUMN_ID] = "id" } },
	[RG_LOG_DEAD_LETTERS] = { .folder = "",
				  .file = "dead-letters.jsonl",
				  .record = &rg_dead_letter_record,
				  .chained = true,
				  .at = "at",
				  .members = { [RG_COLUMN_ID] = "id",
					       [RG_COLUMN_OWNER] = "from",
					       [RG_COLUMN_TASK] = "task",
					       [RG_COLUMN_KEY] = "key",
					       [RG_COLUMN_TARGET] = "to",
					       [RG_COLUMN_MESSAGE] = "message",
					       [RG_COLUMN_CYCLE] = "cycle",
					       [RG_COLUMN_STATE] = "status" } },
	[RG_LOG_SENDS] = { .folder = "send-log/",
			   .record = &rg_attempt_record,
			   .chained = true,
			   .may_lose_end = true,
			   .at = "at",
			   .members = { [RG_COLUMN_ID] = "id",
					[RG_COLUMN_OWNER] = "from",
					[RG_COLUMN_KEY] = "key",
					[RG_COLUMN_TARGET] = "to",
					[RG_COLUMN_MESSAGE] = "message",
					[RG_COLUMN_CYCLE] = "cycle",
					[RG_COLUMN_STATE] = "outcome" },
			   .derive = derive_task,
			   .start = "{\"id\":\"snd-",
			   .noun = "an entry of a send log" },
	[RG_LOG_DIGESTS] = { .folder = "",
			     .file = "key-digests.jsonl",
			     .record = &rg_digest_record,
			     .chained = true,
			     .at = "at",
			     .members = { [RG_COLUMN_ID] = "id", [RG_COLUMN_CYCLE] = "cycle" } },
	[RG_LOG_RETIRED] = { .folder = "",
			     .file = "retired.jsonl",
			     .record = &rg_retirement_record,
			     .chained = true,
			     .at = "at",
			     .members = { [RG_COLUMN_ID] = "id", [RG_COLUMN_OWNER] = "id" } },
	[RG_LOG_DAMAGE] = { .folder = "",
			    .file = "damage.jsonl",
			    .record = &rg_damage_record,
			    .chained = true,
			    .at = "noticed_at",
			    .members = { [RG_COLUMN_ID] = "id" } },
	[RG_LOG_ACTIVITY] = { .folder = "logs/",
			      .file = "activity.log.jsonl",
			      .record = &rg_activity_record,
			      .chained = true,
			      .may_lose_end = true,
			      .check = check_activity,
			      .members = { [RG_COLUMN_TASK] = "task",
					   [RG_COLUMN_STATE] = "outcome.status",
					   [RG_COLUMN_KIND] = "action.type",
					   [RG_COLUMN_CITATION] = "evidence" },
			      .derive = derive_step,
			      .start = "{\"timestamp\":\"",
			      .noun = "an entry of the activity log" },
	[RG_LOG_ARCHIVE] = { .folder = "messages_archive/",
			     .record = &rg_message_record,
			     .check = check_message },
	[RG_LOG_CLEANUPS] = { .folder = "",
			      .file = "cleanup_metrics.jsonl",
			      .record = &rg_cleanup_record,
			      .chained = true,
			      .members = { [RG_COLUMN_TASK] = "issue" },
			      .derive = derive_cleanup },
	[RG_LOG_SESSIONS] = { .folder = "",
			      .file = "sessions.jsonl",
			      .record = &rg_session_record,
			      .chained = true,
			      .at = "at",
			      .members = { [RG_COLUMN_ID] = "id" } },
	[RG_LOG_OUTPUTS] = { .folder = "",
			     .file = "run-output.jsonl",
			     .record = &rg_run_output_record,
			     .chained = true,
			     .at = "at",
			     .members = { [RG_COLUMN_ID] = "id" } },
};

typedef int decoder(const struct roger_record *type, const struct rg_value *object, void *record,
		    struct rg_arena *arena, struct roger_err *err);

static int read_line(enum rg_log log, decoder *decode, struct roger_str line,
		     struct rg_arena *arena, void *ret_record, struct roger_err *err)
{
	const struct rg_log_kind *kind = &rg_log_kinds[log];
	const struct rg_json *json;
	int r;

	memset(ret_record, 0, kind->record->size);
	r = rg_json_read_within(line, arena, &json, err);
	if (r == ROGER_OK)
		r = decode(kind->record, rg_json_root(json), ret_record, arena, err);
	return r == ROGER_OK && kind->check ? kind->check(ret_record, err) : r;
}

bool rg_log_kind_has(enum rg_log log, struct roger_str file)
{
	const char *const folder = rg_log_kinds[log].folder;

	return *folder ? file.length > strlen(folder) && rg_str_begins(file, folder)
		       : !memchr(file.data, '/', file.length) || log == RG_LOG_MESSAGES;
}

int rg_log_kind_read(enum rg_log log, struct roger_str line, struct rg_arena *arena,
		     void *ret_record, struct roger_err *err)
{
	return read_line(log, rg_record_decode, line, arena, ret_record, err);
}

int rg_log_kind_read_words(enum rg_log log, struct roger_str line, struct rg_arena *arena,
			   void *ret_record, struct roger_err *err)
{
	return read_line(log, rg_words_decode, line, arena, ret_record, err);
}

/* Find a member of a record; *ret_names: the names of its enum, or NULL. */
static const void *find_value(const struct roger_record *type, const char *name, const void *record,
			      const char *const **ret_names)
{
	const struct roger_field *field;

	for (field = type->fields; field->name; field++)
		if (*field->name == *name && strcmp(field->name, name) == 0)
			break;
	rg_assert(field->name);
	*ret_names = field->names;
	return rg_field_at(field, record);
}

void rg_log_kind_columns(enum rg_log log, const union rg_log_record *record, struct rg_arena *arena,
			 struct rg_columns *ret_columns)
{
	const struct rg_log_kind *kind = &rg_log_kinds[log];
	const char *const *names;
	const void *at;
	size_t i;

	*ret_columns = (struct rg_columns){ 0 };
	if (kind->at)
		ret_columns->at_ms =
			*(const int64_t *)find_value(kind->record, kind->at, record, &names);
	for (i = 0; i < RG_COLUMNS; i++) {
		if (!kind->members[i])
			continue;
		at = find_value(kind->record, kind->members[i], record, &names);
		ret_columns->texts[i] =
			names ? rg_str(names[*(const int *)at]) : *(const struct roger_str *)at;
	}
	if (kind->derive)
		kind->derive(record, arena, ret_columns);
}

bool rg_log_kinds_use(struct roger_str name)
{
	size_t i, length;

	for (i = 0; i < RG_LOGS; i++) {
		length = strlen(rg_log_kinds[i].folder);
		if (length ? rg_str_equal(name,
					  (struct roger_str){ rg_log_kinds[i].folder, length - 1 })
			   : i != RG_LOG_MESSAGES && rg_str_is(name, rg_log_kinds[i].file))
			return true;
	}
	return false;
}
