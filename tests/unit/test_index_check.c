/*
 * What doctor says of the index: whatever is changed in a table that decides, with
 * sums that fit, is told by the rule that it breaks, and --fix mends it; a sound
 * index, of messages in every state and of what other programs wrote, breaks none.
 */
#include "place.h"

#include "index/index_vfs.h"

static struct rg_index_vfs vfs;

static void change(const struct place *place, const char *sql)
{
	static char recent[sizeof place->index + 16];
	sqlite3 *db = NULL;

	vfs = (struct rg_index_vfs){ 0 };
	snprintf(recent, sizeof recent, "%s-recent", place->index);
	vfs.recent = recent;
	assert_int_equal(rg_index_vfs_open(&vfs, place->index, SQLITE_OPEN_READWRITE, &db),
			 SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_true(sqlite3_total_changes(db) > 0);
	sqlite3_close(db);
}

/* The rules of the index that are broken, joined. */
static void ask_doctor(const struct place *place, bool fix, char *to, size_t size)
{
	const struct roger_doctor_request request = { .fix = fix };
	struct roger *roger = place_open(place);
	struct roger_doctor_reply reply;
	const struct roger_breach *breach;
	struct roger_err err;
	size_t i, used = 0;

	if (roger_doctor(roger, &request, &reply, &err) < 0)
		fail_msg("doctor: %s", err.message);
	to[0] = '\0';
	for (i = 0; i < reply.breaches.count; i++) {
		breach = &reply.breaches.items[i];
		assert_int_equal(breach->kind, ROGER_BREACH_INDEX);
		assert_int_equal(breach->severity, ROGER_REPAIRABLE);
		used += (size_t)snprintf(to + used, size - used, "%s;", breach->what.data);
	}
	roger_reply_free(&reply);
	roger_close(roger);
}

static void read_some(struct roger *roger)
{
	const struct roger_inbox_request request = { .agent = str("bob"), .limit = 2 };
	const struct roger_archive_request archive = { .issue = str("old") };
	struct roger_archive_reply archived;
	struct roger_inbox_reply received;

	assert_int_equal(roger_receive(roger, &request, &received, NULL), ROGER_OK);
	roger_reply_free(&received);
	assert_int_equal(roger_archive(roger, &archive, &archived, NULL), ROGER_OK);
	assert_true(archived.archived > 0);
	roger_reply_free(&archived);
}

/* Unread, read, archived; with keys, answered. */
static void fill(struct place *place)
{
	struct roger_empty_request request = { 0 };
	struct roger_rebuild_reply reply;
	struct roger *roger;
	char id[64];

	place_make(place);
	place_configure(place, "activity:\n  own: false\n");
	roger = place_open(place);
	assert_int_equal(place_send(roger, "ann", "bob", "old", "one", "a:b:c", id), ROGER_OK);
	assert_int_equal(place_send(roger, "ann", "bob", "new", "two", "", NULL), ROGER_OK);
	assert_int_equal(place_send(roger, "bob", "ann", "new", "three", "", NULL), ROGER_OK);
	assert_int_equal(place_send(roger, "eve", "bob", "new", "four", "a:b:d", NULL), ROGER_OK);
	read_some(roger);
	assert_int_equal(roger_rebuild(roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	roger_close(roger);
}

static void each_rule_is_told(void **state)
{
	static const struct {
		const char *sql, *told;
	} changes[] = {
		{ "UPDATE progress SET lines = lines + 1", "lines read: 8; the journal has 7;" },
		{ "UPDATE progress SET strays = 1",
		  "lines that are no messages: 1; the journal has 0;" },
		{ "UPDATE progress SET strange = 1",
		  "ids that another program made: 1; the journal has 0;" },
		{ "DELETE FROM keys WHERE key = 'a:b:d'", "rows of keys: 1; the journal has 2;" },
		{ "INSERT INTO replies VALUES ('a', 'b', 1)",
		  "rows of replies: 1; the journal has 0;" },
		{ "UPDATE last_seen SET seq = seq + 1",
		  "rows and numbers of last_seen: 4; the journal has 3;" },
		{ "INSERT INTO edges VALUES ('bob', 'ann', 1, 4)",
		  "rows and numbers of edges: 5; the journal has 0;" },
		{ "UPDATE messages SET line = line - 1",
		  "a message has another line or state than in the journal;" },
		{ "UPDATE archived SET read = 0",
		  "a message has another line or state than in the journal;" },
		{ "UPDATE archived SET position = 9",
		  "a message has another line or state than in the journal;"
		  "messages outside the times or types of their span: 1; the journal has 0;" },
		{ "UPDATE spans SET oldest = newest + 1",
		  "messages outside the times or types of their span: 4; the journal has 0;" },
		{ "UPDATE spans SET newest = 0",
		  "messages outside the times or types of their span: 4; the journal has 0;" },
		{ "UPDATE spans SET types = 4",
		  "messages outside the times or types of their span: 4; the journal has 0;" },
		{ "UPDATE spans SET last = first",
		  "messages outside the times or types of their span: 4; the journal has 0;" },
		{ "UPDATE agents SET unread = unread + 1 WHERE name = 'bob'",
		  "messages of agents are counted otherwise;" },
		{ "UPDATE agents SET sent = sent + 1 WHERE name = 'ann'",
		  "messages of agents are counted otherwise;" },
		{ "UPDATE agents SET received = 0 WHERE name = 'ann'",
		  "messages of agents are counted otherwise;" },
		{ "DELETE FROM agents WHERE name = 'eve'",
		  "messages of agents are counted otherwise;" },
		{ "UPDATE issues SET context = context + 1 WHERE issue_id = 'old'",
		  "messages of issues are counted otherwise;" },
		{ "UPDATE issues SET unread = unread + 1 WHERE issue_id = 'new'",
		  "unread messages of issues are counted otherwise;" },
		{ "UPDATE issues SET context = 2 WHERE issue_id = 'new'",
		  "messages of issues are counted otherwise;" },
	};
	struct place place;
	char told[1000];
	size_t i;

	(void)state;
	fill(&place);
	for (i = 0; i < sizeof changes / sizeof *changes; i++) {
		ask_doctor(&place, false, told, sizeof told);
		assert_string_equal(told, "");
		change(&place, changes[i].sql);
		ask_doctor(&place, true, told, sizeof told);
		if (strcmp(told, changes[i].told) != 0)
			fail_msg("%s: %s", changes[i].sql, told);
	}
	place_remove(&place);
}

/* A message that the index does not have, or has as another one. */
static void each_message_is_looked_for(void **state)
{
	static const char *const changes[] = {
		"DELETE FROM messages WHERE to_phase = 'ann'",
		"UPDATE messages SET id = 'msg-1-none' WHERE to_phase = 'ann'",
		"UPDATE messages SET read = 1 WHERE to_phase = 'ann'",
		"DELETE FROM archived",
		"UPDATE archived SET id = 'msg-1-none'",
	};
	struct place place;
	char told[1000];
	size_t i;

	(void)state;
	fill(&place);
	for (i = 0; i < sizeof changes / sizeof *changes; i++) {
		change(&place, changes[i]);
		ask_doctor(&place, true, told, sizeof told);
		assert_non_null(strstr(told, "another line or state"));
		ask_doctor(&place, false, told, sizeof told);
		assert_string_equal(told, "");
	}
	place_remove(&place);
}

/* The first line with this text again, with something else in it that is as long, as another
 * program writes it: without its chain. */
static void append_again(const struct place *place, const char *text, const char *was,
			 const char *is)
{
	static const char member[] = ",\"chain\":";
	char line[4096] = "", *end;
	FILE *file = fopen(place->journal, "r");

	assert_non_null(file);
	while (!strstr(line, text))
		assert_non_null(fgets(line, sizeof line, file));
	fclose(file);
	memcpy(strstr(line, was), is, strlen(is));
	end = strstr(line, member);
	assert_non_null(end);
	memcpy(end, "}\n", 2);
	place_append(place, line, (size_t)(end + 2 - line));
}

static int64_t count(struct roger *roger, bool archived)
{
	const struct roger_list_request request = { .archived = archived };
	struct roger_messages_reply reply;
	int64_t messages;

	assert_int_equal(roger_list(roger, &request, &reply, NULL), ROGER_OK);
	messages = (int64_t)reply.messages.count;
	roger_reply_free(&reply);
	return messages;
}

/* Archived is final, whatever a later line says, also where no line before that tells of the
 * message; one may be unread again, or
 * read without saying when; what is no message is counted. */
static void lines_of_others_break_no_rule(void **state)
{
	static const char others[] =
		"no message\n"
		"{\"id\":\"msg-1-theirs\",\"issue_id\":\"far\",\"from_phase\":\"zoe\",\"to_phase\":"
		"\"yan\",\"run_counter\":1,\"message_type\":\"data\",\"content\":\"five\","
		"\"metadata\":"
		"null,\"read\":true,\"created_at\":1795894729380,\"read_at\":1795894737927,\"seq\":"
		"7,\"reply_to\":\"msg-1-none\",\"idempotent_key\":\"a:b:e\","
		"\"epoch\":1,\"archived_at\":1795894738619,\"archive_reason\":\"theirs\"}\n";
	const struct roger_doctor_request request = { 0 };
	struct roger_doctor_reply reply;
	struct roger *roger;
	struct place place;
	size_t i;

	(void)state;
	fill(&place);
	append_again(&place, "\"one\"", "one", "one");
	append_again(&place, "\"two\"", "two", "two");
	append_again(&place, "\"three\"", "\"read\":false", "\"read\":true ");
	place_append(&place, others, sizeof others - 1);
	roger = place_open(&place);
	assert_int_equal(count(roger, false), 3);
	assert_int_equal(count(roger, true), 2);
	assert_int_equal(roger_doctor(roger, &request, &reply, NULL), ROGER_OK);
	for (i = 0; i < reply.breaches.count; i++)
		if (reply.breaches.items[i].kind == ROGER_BREACH_INDEX)
			fail_msg("%s", reply.breaches.items[i].what.data);
	roger_reply_free(&reply);
	roger_close(roger);
	place_remove(&place);
}

/* A later line that says otherwise is told of by whoever reads the tables, and by nobody twice. */
static void what_is_rewritten_is_told(void **state)
{
	struct roger *roger;
	struct place place;

	(void)state;
	fill(&place);
	append_again(&place, "\"one\"", "one", "won");
	append_again(&place, "\"two\"", "two", "six");
	append_again(&place, "\"two\"", "two", "six");
	roger = place_open(&place);
	assert_int_equal(count(roger, false), 3);
	assert_non_null(strstr(roger_damage(roger), "messages.jsonl:8 is rewritten"));
	assert_non_null(strstr(roger_damage(roger), "and 1 more"));
	roger_close(roger);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_is_told),
		cmocka_unit_test(each_message_is_looked_for),
		cmocka_unit_test(lines_of_others_break_no_rule),
		cmocka_unit_test(what_is_rewritten_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
