/*
 * Long work tells how far it is, and whoever is told can stop it: it ends as refused,
 * nothing is changed, and the next answer is whole.
 */
#include "place.h"

enum { MESSAGES = 20 };

/* Stops what has this name; NULL: nothing. */
struct told {
	const char *stop;
	int times;		  /* it was told of */
	int64_t first_done, last; /* of what it was told */
};

static bool tell(void *context, const char *what, int64_t done, int64_t total)
{
	struct told *told = context;

	if (!told->stop || strcmp(what, told->stop) != 0)
		return true;
	if (!told->times++)
		told->first_done = done;
	told->last = total;
	return false;
}

static int64_t list(struct roger *roger, int *ret, struct roger_err *err)
{
	const struct roger_list_request request = { .anywhere = true };
	struct roger_messages_reply reply;
	int64_t count;

	*ret = roger_list(roger, &request, &reply, err);
	if (*ret < 0)
		return -1;
	count = (int64_t)reply.messages.count;
	roger_reply_free(&reply);
	return count;
}

static int ask_status(struct roger *roger)
{
	const struct roger_empty_request request = { 0 };
	struct roger_status_reply reply;
	int r = roger_status(roger, &request, &reply, NULL);

	if (r == ROGER_OK)
		roger_reply_free(&reply);
	return r;
}

static void fill(struct place *place)
{
	struct roger *roger;
	int i;

	place_make(place);
	roger = place_open(place);
	for (i = 0; i < MESSAGES; i++)
		assert_int_equal(place_send(roger, "ann", "bob", "app", "text", "", NULL),
				 ROGER_OK);
	roger_close(roger);
}

static void reading_the_journal_can_be_stopped(void **state)
{
	struct told told = { .stop = "index" };
	struct place place;
	struct roger *roger;
	struct roger_err err;
	int r;

	(void)state;
	fill(&place);
	(void)unlink(place.index);
	roger = place_open(&place);
	roger_on_progress(roger, tell, &told);
	list(roger, &r, &err);
	assert_int_equal(r, ROGER_EREFUSED);
	assert_string_equal(err.message, "stopped");
	assert_true(told.times > 0);
	assert_int_equal(told.first_done, 0);
	assert_true(told.last > 0);
	assert_int_equal(access(place.index, F_OK), -1);
	told.stop = NULL;
	assert_int_equal(list(roger, &r, NULL), MESSAGES);
	roger_close(roger);
	place_remove(&place);
}

static void making_the_events_can_be_stopped(void **state)
{
	struct told told = { .stop = "history" };
	struct place place;
	struct roger *roger;
	int r;

	(void)state;
	fill(&place);
	roger = place_open(&place);
	assert_int_equal(list(roger, &r, NULL), MESSAGES);
	roger_on_progress(roger, tell, &told);
	assert_int_equal(ask_status(roger), ROGER_EREFUSED);
	assert_true(told.times > 0);
	assert_int_equal(told.first_done, 0);
	assert_true(told.last > 0);
	told.stop = NULL;
	assert_int_equal(ask_status(roger), ROGER_OK);
	assert_int_equal(list(roger, &r, NULL), MESSAGES);
	roger_close(roger);
	place_remove(&place);
}

static int ask_sends(struct roger *roger, int64_t *ret_count)
{
	const struct roger_sends_request request = { .from = ROGER_STR("ann") };
	struct roger_sends_reply reply;
	int r = roger_sends(roger, &request, &reply, NULL);

	if (r < 0)
		return r;
	*ret_count = (int64_t)reply.attempts.count;
	roger_reply_free(&reply);
	return r;
}

static void writing_the_send_logs_can_be_stopped(void **state)
{
	struct told told = { .stop = "send-log" };
	struct place place;
	struct roger *roger;
	int64_t count = 0;

	(void)state;
	fill(&place);
	roger = place_open(&place);
	roger_on_progress(roger, tell, &told);
	assert_int_equal(ask_sends(roger, &count), ROGER_EREFUSED);
	assert_true(told.times > 0);
	assert_int_equal(told.first_done, 0);
	told.stop = NULL;
	assert_int_equal(ask_sends(roger, &count), ROGER_OK);
	assert_int_equal(count, MESSAGES);
	roger_close(roger);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_the_journal_can_be_stopped),
		cmocka_unit_test(making_the_events_can_be_stopped),
		cmocka_unit_test(writing_the_send_logs_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
