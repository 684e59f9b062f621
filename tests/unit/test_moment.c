/*
 * What a seal and a backup are of is one moment of all journals: whichever journal is looked at
 * while a message is archived, the archive has each message that the journal calls archived.
 */
#include "faulty.h"
#include "place.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_archive_is_not_behind_the_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
