/*
 * What a seal and a backup are of is one moment of all journals: whichever journal is looked at
 * while a message is archived, the archive has each message that the journal calls archived.
 */
#include "faulty.h"
#include "place.h"

#include "engine/inside.h"
#include "ops/op.h"

/* The mailbox holds one message, so the one before is archived. */
static void send_another(void *context)
{
	assert_int_equal(place_send(context, "ann", "bob", "i", "another", "", NULL), ROGER_OK);
}

/* How often the text stands in what was measured of a journal. */
static int count_in(struct roger *roger, const struct rg_log_files *files, struct roger_str name,
		    const char *text)
{
	const struct rg_log_file *file = rg_log_files_find(files, name);
	char room[4096], *at = room;
	size_t got = 0;
	int count = 0;

	if (!file || !file->inode)
		return 0;
	assert_true(file->end < sizeof room);
	assert_int_equal(
		rg_engine_copy(roger->engine, file, 0, room, (size_t)file->end, &got, NULL),
		ROGER_OK);
	room[got] = '\0';
	for (; (at = strstr(at, text)); at++)
		count++;
	return count;
}

/* A message is archived before this call; false: there are not so many. */
static bool measures(long call)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct roger_inbox_request receive = { .agent = RG_STR("bob"), .limit = 1 };
	struct roger_inbox_reply received;
	struct roger *roger, *other;
	struct rg_log_files files;
	struct place place;
	bool hit;
	int r;

	place_make(&place);
	place_configure(&place, "size_limits:\n  max_messages_per_issue_phase: 1\n"
				"activity:\n  own: false\n");
	roger = place_open(&place);
	other = place_open(&place);
	assert_int_equal(place_send(other, "ann", "bob", "i", "text", "", NULL), ROGER_OK);
	assert_int_equal(roger_receive(other, &receive, &received, NULL), ROGER_OK);
	roger_reply_free(&received);
	/* Nothing is left to be copied, which takes the lock of the index. */
	assert_int_equal(rg_engine_bring_sends_up(roger->engine, true, NULL), ROGER_OK);
	faulty_meanwhile("open_facts", call, send_another, other);
	r = rg_engine_measure(roger->engine, RG_MEASURED_ALL, arena, &files, NULL, NULL);
	hit = faulty.hit;
	faulty_end();
	assert_int_equal(r, ROGER_OK);
	if (count_in(roger, &files, RG_STR("messages.jsonl"), "\"archived_at\""))
		assert_int_equal(count_in(roger, &files, RG_STR("messages_archive/i.jsonl"),
					  "\"archived_at\""),
				 1);
	roger_close(other);
	roger_close(roger);
	place_remove(&place);
	return hit;
}

static void the_archive_is_not_behind_the_journal(void **state)
{
	long call = 0;

	(void)state;
	while (measures(call))
		call++;
	assert_true(call > 5);
}

static int make_backup(struct roger *roger, const struct place *place)
{
	char file[100];
	struct roger_backup_request request;
	struct roger_backup_reply reply;
	int r;

	snprintf(file, sizeof file, "%s/one.tar", place->root);
	request = (struct roger_backup_request){ .file = str(file) };
	r = roger_backup(roger, &request, &reply, NULL);
	if (r == ROGER_OK)
		roger_reply_free(&reply);
	return r;
}

/* What doctor finds in the workspace that the backup makes, but for notes. */
static int64_t restored_faults(const struct place *place)
{
	char file[100], to[100];
	struct roger_restore_request restore;
	struct roger_restore_reply restored;
	const struct roger_doctor_request look = { 0 };
	struct roger_doctor_reply found;
	struct roger *roger = NULL;
	int64_t faults;

	snprintf(file, sizeof file, "%s/one.tar", place->root);
	snprintf(to, sizeof to, "%s/to", place->root);
	restore = (struct roger_restore_request){ .file = str(file), .to = str(to) };
	assert_int_equal(roger_restore(&restore, &restored, NULL), ROGER_OK);
	roger_reply_free(&restored);
	assert_int_equal(roger_open(to, &roger, NULL), ROGER_OK);
	assert_int_equal(roger_doctor(roger, &look, &found, NULL), ROGER_OK);
	faults = found.damaged + found.repairable;
	roger_reply_free(&found);
	roger_close(roger);
	return faults;
}

static void begin_session(void *context)
{
	int64_t epoch;

	assert_int_equal(rg_engine_session(((struct roger *)context)->engine, true, &epoch, NULL),
			 ROGER_OK);
	assert_int_equal(place_send(context, "ann", "bob", "i", "another", "", NULL), ROGER_OK);
}

/* A session begins before this call of a backup; false: there are not so many. */
static bool begins(long call)
{
	struct roger *roger, *other;
	struct place place;
	bool hit;

	place_make(&place);
	place_configure(&place, "activity:\n  own: false\n");
	roger = place_open(&place);
	other = place_open(&place);
	assert_int_equal(place_send(other, "ann", "bob", "i", "text", "", NULL), ROGER_OK);
	/* Its message-state.json is written as it is closed. */
	roger_close(other);
	other = place_open(&place);
	/* Nothing is left to be copied, which takes the lock of the index. */
	assert_int_equal(rg_engine_bring_sends_up(roger->engine, true, NULL), ROGER_OK);
	faulty_meanwhile("open_facts", call, begin_session, other);
	assert_int_equal(make_backup(roger, &place), ROGER_OK);
	hit = faulty.hit;
	faulty_end();
	assert_int_equal(restored_faults(&place), 0);
	roger_close(other);
	roger_close(roger);
	place_remove(&place);
	return hit;
}

static void a_backup_is_of_one_session(void **state)
{
	long call = 0;

	(void)state;
	while (begins(call))
		call++;
	assert_true(call > 5);
}

static void a_backup_waits_for_a_lock_once(void **state)
{
	struct roger *roger, *other;
	struct place place;

	(void)state;
	place_make(&place);
	roger = place_open(&place);
	other = place_open(&place);
	assert_int_equal(rg_engine_records_begin(other->engine, NULL), ROGER_OK);
	/* The file of a try is the only one that is opened. */
	roger->engine->store->until_ns = rg_clock_monotonic_ns() + 1000000;
	faulty_count("open");
	assert_int_equal(make_backup(roger, &place), ROGER_ETIMEOUT);
	assert_int_equal(faulty_counted(), 1);
	faulty_end();
	rg_engine_records_end(other->engine);
	roger_close(other);
	roger_close(roger);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_archive_is_not_behind_the_journal),
		cmocka_unit_test(a_backup_is_of_one_session),
		cmocka_unit_test(a_backup_waits_for_a_lock_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
