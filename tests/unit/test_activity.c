/*
 * What facts/activity.h and the verbs over it promise: every wrong member is
 * refused by its path, members of other programs survive at each level, strict
 * mode names them; log, log_import and activity through the library, bad lines
 * told by number; and roger's own verbs note themselves once, with ids and
 * numbers and without content, only when they stored something or failed.
 */
#include "harsh.h"
#include "place.h"

#include "base/limits.h"
#include "facts/activity.h"
#include "facts/log_kinds.h"

static const char whole[] =
	"{\"timestamp\":\"2025-10-05T14:40:07.5+02:00\",\"task_id\":\"t\",\"action\":{\"type\":"
	"\"PLAN_UPDATE\",\"details\":{\"a\":[1.50]},\"tool\":\"x\"},\"outcome\":{\"status\":"
	"\"IN_PROGRESS\",\"message\":\"m\",\"error\":{}},\"evidence_citation\":\"e\",\"log_id\":7}";

/* -------------------------------------------------------------- the record -- */

static void members_survive_at_each_level(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_activity entry;
	struct rg_buf out;

	(void)state;
	assert_int_equal(rg_log_kind_read(RG_LOG_ACTIVITY, rg_str(whole), arena, &entry, NULL),
			 ROGER_OK);
	assert_true(rg_str_is(entry.action_unknown, "\"tool\":\"x\""));
	assert_true(rg_str_is(entry.outcome_unknown, "\"error\":{}"));
	assert_true(rg_str_is(entry.unknown, "\"log_id\":7"));
	assert_int_equal(entry.at_ms, INT64_C(1759668007500));
	rg_buf_init(&out, SIZE_MAX);
	assert_int_equal(rg_activity_print(&entry, &out, NULL), ROGER_OK);
	assert_int_equal(out.length, sizeof whole);
	assert_memory_equal(out.data, whole, sizeof whole - 1);
	rg_buf_deinit(&out);
	rg_arena_free(arena);
}

#define REST                                                                                       \
	",\"action\":{\"type\":\"TOOL_EXEC\",\"details\":{}},\"outcome\":{\"status\":\"SUCCESS\"}" \
	"}"
#define BEGIN "{\"timestamp\":\"2025-10-05T14:40:07Z\",\"task_id\":\"t\","

static void wrong_entries_are_refused_by_member(void **state)
{
	static const struct {
		const char *text, *member, *message;
	} wrong[] = {
		{ "{\"task_id\":\"t\"" REST, "timestamp", "timestamp: missing" },
		{ "{\"timestamp\":\"2025-10-05T14:40:07Z\"" REST, "task_id", "task_id: missing" },
		{ "{\"timestamp\":\"2025-10-05\",\"task_id\":\"t\"" REST, "timestamp",
		  "timestamp: expected a date-time of RFC 3339, from 1970 on, such as "
		  "2025-10-05T14:40:07Z" },
		{ "{\"timestamp\":1759675207,\"task_id\":\"t\"" REST, "timestamp",
		  "timestamp: expected a string" },
		{ "{\"timestamp\":\"2025-10-05T14:40:07Z\",\"task_id\":7" REST, "task_id",
		  "task_id: expected a string" },
		{ BEGIN "\"outcome\":{\"status\":\"SUCCESS\"}}", "action.type",
		  "action.type: missing" },
		{ BEGIN "\"action\":{\"type\":\"FILE_READ\"},\"outcome\":{\"status\":\"SUCCESS\"}}",
		  "action.details", "action.details: missing" },
		{ BEGIN "\"action\":\"FILE_READ\",\"outcome\":{\"status\":\"SUCCESS\"}}", "action",
		  "action: expected an object" },
		{ BEGIN
		  "\"action\":{\"type\":\"TASK_START\",\"details\":{}},\"outcome\":{\"status\":"
		  "\"SUCCESS\"}}",
		  "action.type",
		  "action.type: expected FILE_READ, FILE_WRITE, TOOL_EXEC, EXTERNAL_RAG_QUERY, "
		  "PLAN_UPDATE or CRITIC_FEEDBACK" },
		{ BEGIN
		  "\"action\":{\"type\":\"FILE_READ\",\"details\":[]},\"outcome\":{\"status\":"
		  "\"SUCCESS\"}}",
		  "action.details", "action.details: expected an object" },
		{ BEGIN "\"action\":{\"type\":\"FILE_READ\",\"details\":{}}}", "outcome.status",
		  "outcome.status: missing" },
		{ BEGIN
		  "\"action\":{\"type\":\"FILE_READ\",\"details\":{}},\"outcome\":{\"status\":"
		  "\"RETRY\"}}",
		  "outcome.status", "outcome.status: expected SUCCESS, FAILURE or IN_PROGRESS" },
		{ BEGIN
		  "\"action\":{\"type\":\"FILE_READ\",\"details\":{}},\"outcome\":{\"status\":"
		  "\"SUCCESS\",\"message\":1}}",
		  "outcome.message", "outcome.message: expected a string" },
		{ BEGIN "\"evidence_citation\":{}" REST, "evidence_citation",
		  "evidence_citation: expected a string" },
		{ "[]", "", "expected an object, found an array" },
	};
	struct rg_arena *arena = rg_arena_new();
	struct roger_activity entry;
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(rg_log_kind_read(RG_LOG_ACTIVITY, rg_str(wrong[i].text), arena,
						  &entry, &err),
				 ROGER_EDATA);
		assert_string_equal(err.member, wrong[i].member);
		assert_string_equal(err.message, wrong[i].message);
	}
	rg_arena_free(arena);
}

static void an_entry_has_bounds(void **state)
{
	struct roger_activity entry = { .timestamp = str("2025-10-05T14:40:07Z"),
					.task = str("t"),
					.type = ROGER_FILE_READ,
					.status = ROGER_SUCCESS,
					.details = str("{}") };
	static char big[RG_ACTIVITY_BYTES_MAX];
	struct roger_err err;
	struct rg_buf out;

	(void)state;
	memset(big, 'x', sizeof big);
	rg_buf_init(&out, SIZE_MAX);
	entry.message = (struct roger_str){ big, sizeof big };
	assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_EDATA);
	assert_int_equal(out.length, 0);
	entry.message.length = RG_ACTIVITY_BYTES_MAX / 2;
	assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_OK);
	memcpy(big, "{\"a\":\"", 6);
	memcpy(big + RG_DETAILS_CHARS_MAX - 1, "\"}", 2);
	entry.details = (struct roger_str){ big, RG_DETAILS_CHARS_MAX + 1 };
	assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_EDATA);
	assert_string_equal(err.member, "action.details");
	rg_buf_deinit(&out);
}

/* At each bound, and one beyond; behind what the buffer holds already. */
static void an_entry_has_exact_bounds(void **state)
{
	static char message[RG_ACTIVITY_BYTES_MAX], details[RG_DETAILS_CHARS_MAX + 1];
	struct roger_activity entry = { .timestamp = str("2025-10-05T14:40:07Z"),
					.task = str("t"),
					.type = ROGER_FILE_READ,
					.status = ROGER_SUCCESS,
					.details = str("{}") };
	struct roger_err err;
	struct rg_buf out;
	size_t rest, i;

	(void)state;
	memset(message, 'x', sizeof message);
	rg_buf_init(&out, SIZE_MAX);
	entry.message = (struct roger_str){ message, 1 };
	assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_OK);
	rest = RG_ACTIVITY_BYTES_MAX - out.length + 1;
	for (i = 0; i < 2; i++) {
		out.length = i * 100;
		entry.message.length = rest;
		assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_OK);
		assert_int_equal(out.length, i * 100 + RG_ACTIVITY_BYTES_MAX);
		out.length = i * 100;
		entry.message.length = rest + 1;
		assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_EDATA);
		assert_string_equal(err.message, "expected an entry of at most 1048576 bytes");
		assert_int_equal(out.length, i * 100);
	}
	entry.message = str("");
	memset(details, 'x', sizeof details);
	memcpy(details, "{\"a\":\"", 6);
	memcpy(details + RG_DETAILS_CHARS_MAX - 2, "\"}", 2);
	entry.details = (struct roger_str){ details, RG_DETAILS_CHARS_MAX };
	assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_OK);
	entry.details.length++;
	assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_EDATA);
	assert_string_equal(err.message, "action.details: expected at most 65536 characters as "
					 "JSON text; name a file instead");
	entry.details = str("\xff");
	assert_int_equal(rg_activity_print(&entry, &out, &err), ROGER_EDATA);
	rg_buf_deinit(&out);
}

static void what_is_no_json_is_said(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_activity entry;
	struct roger_err err;

	(void)state;
	assert_int_equal(rg_log_kind_read(RG_LOG_ACTIVITY, str(""), arena, &entry, &err),
			 ROGER_EDATA);
	assert_string_equal(err.message, "no JSON value");
	rg_arena_free(arena);
}

static int entry_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_activity entry;
	struct rg_buf out;
	int r = rg_log_kind_read(RG_LOG_ACTIVITY, rg_str(whole), arena, &entry, err);

	if (r < 0)
		return r;
	rg_buf_init(&out, SIZE_MAX);
	r = rg_activity_print(&entry, &out, err);
	rg_buf_deinit(&out);
	return r;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(entry_scarcely);
}

/* --------------------------------------------------------------- the verbs -- */

static size_t count_of(struct roger *roger, const struct roger_activity_request *request)
{
	struct roger_activity_reply reply;
	size_t count;

	assert_int_equal(roger_activity(roger, request, &reply, NULL), ROGER_OK);
	count = reply.activities.count;
	roger_reply_free(&reply);
	return count;
}

static int log_one(struct roger *roger, const char *task, int type, int status, int64_t at_ms,
		   struct roger_err *err)
{
	struct roger_log_request request = { .task = str(task),
					     .type = type,
					     .status = status,
					     .details = str(" {\"n\" : 1} "),
					     .message = str("m"),
					     .evidence = str("section 6"),
					     .at_ms = at_ms };
	struct roger_activity_reply reply;
	int r = roger_log(roger, &request, &reply, err);

	if (r == ROGER_OK) {
		assert_int_equal(reply.activities.count, 1);
		assert_true(rg_str_is(reply.activities.items->details, "{\"n\":1}"));
		roger_reply_free(&reply);
	}
	return r;
}

static void entries_are_found_by_what_they_are(void **state)
{
	struct roger_activity_request any = { 0 }, task = { .task = str("b") },
				      type = { .type = ROGER_PLAN_UPDATE },
				      status = { .status = ROGER_FAILURE },
				      since = { .since_ms = 2000 }, until = { .until_ms = 2000 },
				      cited = { .evidence = str("section 6") },
				      uncited = { .evidence = str("section 7") },
				      newest = { .newest = true, .limit = 1 };
	struct roger_activity_reply reply;
	struct roger_err err;
	struct place place;
	struct roger *roger;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(log_one(roger, "a", ROGER_FILE_READ, ROGER_SUCCESS, 1000, &err), 0);
	assert_int_equal(log_one(roger, "b", ROGER_PLAN_UPDATE, ROGER_FAILURE, 2000, &err), 0);
	assert_int_equal(log_one(roger, "b", ROGER_TOOL_EXEC, ROGER_IN_PROGRESS, 0, &err), 0);
	assert_int_equal(count_of(roger, &any), 3);
	assert_int_equal(count_of(roger, &task), 2);
	assert_int_equal(count_of(roger, &type), 1);
	assert_int_equal(count_of(roger, &status), 1);
	assert_int_equal(count_of(roger, &since), 2);
	assert_int_equal(count_of(roger, &until), 1);
	assert_int_equal(count_of(roger, &cited), 3);
	assert_int_equal(count_of(roger, &uncited), 0);

	assert_int_equal(roger_activity(roger, &newest, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.activities.items->type, ROGER_TOOL_EXEC);
	assert_true(reply.more);
	newest.after = reply.next;
	roger_reply_free(&reply);
	assert_int_equal(roger_activity(roger, &newest, &reply, NULL), ROGER_OK);
	assert_true(rg_str_is(reply.activities.items->timestamp, "1970-01-01T00:00:02.000Z"));
	roger_reply_free(&reply);
	roger_close(roger);
	place_remove(&place);
}

static void requests_are_checked(void **state)
{
	struct roger_log_request both = { .task = str("t"), .entry = str(whole) },
				 wild = { .task = str("t"), .type = 1, .message = str("\xff") };
	struct roger_activity_request far = { .limit = RG_PAGE_MAX + 1 }, odd = { .type = 99 };
	struct roger_activity_reply reply;
	struct roger_activity_request any = { 0 };
	struct roger_err err;
	struct place place;
	struct roger *roger;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(log_one(roger, "", 1, 0, 0, &err), ROGER_EUSAGE);
	assert_string_equal(err.member, "task");
	assert_int_equal(log_one(roger, "t", 0, 0, 0, &err), ROGER_EUSAGE);
	assert_string_equal(err.member, "type");
	assert_int_equal(log_one(roger, "t", 7, 0, 0, &err), ROGER_EDATA);
	assert_int_equal(log_one(roger, "t", 1, 4, 0, &err), ROGER_EDATA);
	assert_int_equal(log_one(roger, "t", 1, 0, -1, &err), ROGER_EDATA);
	assert_int_equal(log_one(roger, "t", 1, 0, RG_TIME_MS_MAX + 1, &err), ROGER_EDATA);
	assert_int_equal(roger_log(roger, &both, &reply, &err), ROGER_EUSAGE);
	assert_int_equal(roger_log(roger, &wild, &reply, &err), ROGER_EDATA);
	assert_string_equal(err.member, "message");
	assert_int_equal(roger_activity(roger, &far, &reply, &err), ROGER_EDATA);
	assert_int_equal(roger_activity(roger, &odd, &reply, &err), ROGER_EDATA);
	assert_int_equal(count_of(roger, &any), 0);
	roger_close(roger);
	place_remove(&place);
}

/* -------------------------------------------------------------- importing -- */

#define LINE(task) "{\"timestamp\":\"2025-10-05T14:40:07Z\",\"task_id\":\"" task "\"" REST

static void what_fits_is_appended(void **state)
{
	static const char text[] = "\xef\xbb\xbf" LINE("a") "\r\n\n" LINE("b") "\n" LINE("a") "\n";
	const struct roger_log_import_request request = { .text = str(text) };
	struct roger_activity_request imported = { .task = str("a") };
	struct roger_log_import_reply reply;
	struct place place;
	struct roger *roger;
	int i;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	for (i = 1; i <= 2; i++) {
		assert_int_equal(roger_log_import(roger, &request, &reply, NULL), ROGER_OK);
		assert_int_equal(reply.imported, 3);
		assert_int_equal(reply.bad, 0);
		roger_reply_free(&reply);
		assert_int_equal(count_of(roger, &imported), 2 * i);
	}
	roger_close(roger);
	place_remove(&place);
}

static void bad_lines_are_told_by_number(void **state)
{
	static const char text[] =
		"nothing\n" LINE("a") "\n" LINE("b") LINE("c") "\n{\"a\":1}\n" BEGIN "\"x\":1" REST;
	const struct roger_log_import_request request = { .text = str(text) },
					      dry = { .text = str(text), .dry_run = true };
	struct roger_activity_request any = { 0 };
	struct roger_log_import_reply reply;
	struct place place;
	struct roger *roger;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(roger_log_import(roger, &dry, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.imported, 2);
	roger_reply_free(&reply);
	assert_int_equal(count_of(roger, &any), 0);
	assert_int_equal(roger_log_import(roger, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.imported, 2);
	assert_int_equal(reply.bad, 3);
	assert_int_equal(reply.lines.items[0].line, 1);
	assert_int_equal(reply.lines.items[1].line, 3);
	assert_int_equal(reply.lines.items[2].line, 4);
	assert_string_equal(reply.lines.items[2].what.data, "timestamp: missing");
	roger_reply_free(&reply);
	roger_close(roger);
	place_remove(&place);
}

static void bad_lines_of_the_log_are_told(void **state)
{
	struct roger_activity_request any = { 0 };
	struct roger_activity_reply reply;
	struct place place;
	struct roger *roger;
	char path[128];
	FILE *file;

	(void)state;
	place_make(&place);
	place_configure(&place, "activity:\n  own: false\n");
	roger = place_open(&place);
	assert_int_equal(log_one(roger, "a", 1, 0, 0, NULL), ROGER_OK);
	snprintf(path, sizeof path, "%s/.roger/logs/activity.log.jsonl", place.root);
	file = fopen(path, "a");
	assert_non_null(file);
	fputs("{\"glued\":1}{}\n" BEGIN "\"more\":1" REST "\n{\"torn\":", file);
	fclose(file);
	/* The next entry starts on a line of its own. */
	assert_int_equal(log_one(roger, "b", 1, 0, 0, NULL), ROGER_OK);

	assert_int_equal(roger_activity(roger, &any, &reply, NULL), ROGER_OK);
	assert_int_equal(reply.activities.count, 3);
	assert_true(rg_str_is(reply.activities.items[2].task, "b"));
	assert_int_equal(reply.lines.count, 2);
	assert_int_equal(reply.lines.items[0].line, 2);
	assert_int_equal(reply.lines.items[1].line, 4);
	roger_reply_free(&reply);
	roger_close(roger);
	place_remove(&place);
}

/* ---------------------------------------------------------- roger's own verbs -- */

static void last_note(struct roger *roger, struct roger_activity_reply *ret_reply)
{
	const struct roger_activity_request last = { .newest = true, .limit = 1 };

	assert_int_equal(roger_activity(roger, &last, ret_reply, NULL), ROGER_OK);
	assert_int_equal(ret_reply->activities.count, 1);
}

/* Who ran a test is not the same everywhere. */
static void leave_out_process(char *details)
{
	static const struct {
		const char *start, *after;
	} members[] = { { ",\"terminal\":\"", "\"" },
			{ ",\"parent\":\"", "\"" },
			{ ",\"uid\":", "" } };
	char *at, *end;
	size_t i;

	for (i = 0; i < 3; i++) {
		at = strstr(details, members[i].start);
		if (!at)
			continue;
		end = at + strlen(members[i].start);
		end += *members[i].after ? strcspn(end, "\"") + 1 : strspn(end, "0123456789");
		memmove(at, end, strlen(end) + 1);
	}
}

static void is_noted(struct roger *roger, const char *task, const char *details, int status,
		     const char *message)
{
	struct roger_activity_reply reply;
	const struct roger_activity *note;
	char text[1000];

	last_note(roger, &reply);
	note = reply.activities.items;
	snprintf(text, sizeof text, "%s", note->details.data);
	leave_out_process(text);
	assert_int_equal(note->type, ROGER_TOOL_EXEC);
	assert_string_equal(note->task.data, task);
	assert_string_equal(text, details);
	assert_int_equal(note->status, status);
	assert_true(rg_str_is(note->message, message));
	roger_reply_free(&reply);
}

static void verbs_note_themselves(void **state)
{
	struct roger_activity_request any = { 0 };
	struct roger_inbox_request inbox = { .agent = str("bob") };
	struct roger_session_request session = { 0 };
	struct roger_session_reply opened;
	struct roger_inbox_reply mail;
	char id[64], details[300];
	struct place place;
	struct roger *roger;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(place_send(roger, "plan", "bob", "app-42", "MARKER", "", id), ROGER_OK);
	snprintf(details, sizeof details,
		 "{\"tool\":\"roger\",\"verb\":\"send\",\"agent\":\"plan\",\"ids\":[\"%s\"],"
		 "\"count\":1,"
		 "\"seq\":1,\"epoch\":1}",
		 id);
	is_noted(roger, "app-42", details, ROGER_SUCCESS, "");

	/* What is refused before it runs is none; what fails is told by its kind. */
	assert_int_equal(place_send(roger, "plan", "bob", "app-42", "", "", NULL), ROGER_EUSAGE);
	assert_int_equal(place_send(roger, "a MARKER", "bob", "", "x", "", NULL), ROGER_EDATA);
	assert_int_equal(place_send(roger, "plan", "a MARKER", "app-42", "x", "", NULL),
			 ROGER_EDATA);
	is_noted(roger, "app-42", "{\"tool\":\"roger\",\"verb\":\"send\",\"agent\":\"plan\"}",
		 ROGER_FAILURE, "data: to");
	assert_int_equal(count_of(roger, &any), 2);

	/* The second receive finds nothing, and a session that is only shown changes nothing. */
	assert_int_equal(roger_receive(roger, &inbox, &mail, NULL), ROGER_OK);
	roger_reply_free(&mail);
	assert_int_equal(roger_receive(roger, &inbox, &mail, NULL), ROGER_OK);
	roger_reply_free(&mail);
	assert_int_equal(roger_session(roger, &session, &opened, NULL), ROGER_OK);
	roger_reply_free(&opened);
	snprintf(details, sizeof details,
		 "{\"tool\":\"roger\",\"verb\":\"receive\",\"agent\":\"bob\",\"ids\":[\"%s\"],"
		 "\"count\":1}",
		 id);
	is_noted(roger, "app-42", details, ROGER_SUCCESS, "");
	assert_int_equal(count_of(roger, &any), 3);
	assert_string_equal(roger_notice(roger), "");
	roger_close(roger);
	place_remove(&place);
}

static void the_task_of_a_key_is_a_task(void **state)
{
	struct place place;
	struct roger *roger;
	struct roger_activity_reply reply;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(place_send(roger, "plan", "bob", "", "x", "app-7:report:1", NULL),
			 ROGER_OK);
	last_note(roger, &reply);
	assert_string_equal(reply.activities.items->task.data, "app-7");
	roger_reply_free(&reply);
	assert_int_equal(place_send(roger, "plan", "bob", "", "x", "a MARKER:report:1", NULL),
			 ROGER_OK);
	last_note(roger, &reply);
	assert_string_equal(reply.activities.items->task.data, "general");
	roger_reply_free(&reply);
	roger_close(roger);
	place_remove(&place);
}

static void a_batch_is_one_entry(void **state)
{
	enum { COUNT = 40 };
	static struct roger_send_request items[COUNT];
	static const struct roger_str to = { "bob", 3 };
	const struct roger_send_many_request request = { .from = str("plan"),
							 .items = { items, COUNT } };
	struct roger_activity_request any = { 0 };
	struct roger_send_many_reply sent;
	struct roger_activity_reply reply;
	struct place place;
	struct roger *roger;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT; i++)
		items[i] = (struct roger_send_request){ .to = { &to, 1 },
							.content = str("MARKER"),
							.issue = str(i % 2 ? "a" : "b") };
	place_make(&place);
	roger = place_open(&place);
	assert_int_equal(roger_send_many(roger, &request, &sent, NULL), ROGER_OK);
	roger_reply_free(&sent);
	assert_int_equal(count_of(roger, &any), 1);
	last_note(roger, &reply);
	/* Several issues, so none of them. */
	assert_string_equal(reply.activities.items->task.data, "general");
	assert_non_null(
		strstr(reply.activities.items->details.data, "],\"count\":40,\"stored\":40}"));
	assert_true(reply.activities.items->details.length < 1000);
	roger_reply_free(&reply);
	for (i = 0; i < COUNT; i++)
		items[i].dry_run = true;
	assert_int_equal(roger_send_many(roger, &request, &sent, NULL), ROGER_OK);
	roger_reply_free(&sent);
	items[3].content = str("");
	assert_int_equal(roger_send_many(roger, &request, &sent, NULL), ROGER_EDATA);
	assert_int_equal(count_of(roger, &any), 1);
	roger_close(roger);
	place_remove(&place);
}

static void a_note_that_cannot_be_written_is_told(void **state)
{
	struct place place;
	struct roger *roger;
	char command[160];

	(void)state;
	place_make(&place);
	snprintf(command, sizeof command, "mkdir -p '%s/.roger/logs/activity.log.jsonl'",
		 place.root);
	assert_int_equal(system(command), 0);
	roger = place_open(&place);
	assert_int_equal(place_send(roger, "plan", "bob", "", "x", "", NULL), ROGER_OK);
	assert_non_null(strstr(roger_notice(roger), "done, but not noted in the activity log"));
	roger_close(roger);

	place_configure(&place, "activity:\n  own: false\n");
	roger = place_open(&place);
	assert_int_equal(place_send(roger, "plan", "bob", "", "x", "", NULL), ROGER_OK);
	assert_string_equal(roger_notice(roger), "");
	roger_close(roger);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_survive_at_each_level),
		cmocka_unit_test(wrong_entries_are_refused_by_member),
		cmocka_unit_test(an_entry_has_bounds),
		cmocka_unit_test(an_entry_has_exact_bounds),
		cmocka_unit_test(what_is_no_json_is_said),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(entries_are_found_by_what_they_are),
		cmocka_unit_test(requests_are_checked),
		cmocka_unit_test(what_fits_is_appended),
		cmocka_unit_test(bad_lines_are_told_by_number),
		cmocka_unit_test(bad_lines_of_the_log_are_told),
		cmocka_unit_test(verbs_note_themselves),
		cmocka_unit_test(the_task_of_a_key_is_a_task),
		cmocka_unit_test(a_batch_is_one_entry),
		cmocka_unit_test(a_note_that_cannot_be_written_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
