/*
 * What is true when another program, which takes no lock, adds a line at the very moment at which
 * roger adds its own: its line comes between those before and roger's.  That is no damage, whoever
 * asks when, however many lines roger wrote at once, and whatever stood there before.
 */
#include "faulty.h"
#include "place.h"

static const char before[] = "a line before\n", between[] = "a line in between\n";

static void add_beside(void *context)
{
	place_append(context, between, sizeof between - 1);
}

static void send_to_all(struct roger *roger, size_t count, const char *key)
{
	struct roger_str to[] = { str("bob"), str("eve"), str("kim") };
	const struct roger_send_request request = {
		.from = str("ann"), .to = { to, count }, .content = str("text"), .key = str(key)
	};
	struct roger_send_reply reply;
	struct roger_err err;

	if (roger_send(roger, &request, &reply, &err) < 0)
		fail_msg("send: %s", err.message);
	roger_reply_free(&reply);
}

/* Nothing is damaged, and the line is told of. */
static void check_sound(struct roger *roger, int64_t line)
{
	const struct roger_verify_request request = { 0 };
	const struct roger_doctor_request all = { 0 };
	struct roger_verify_reply reply;
	struct roger_doctor_reply doctor;
	struct roger_err err;
	bool told = false;
	size_t i;

	if (roger_verify(roger, &request, &reply, &err) < 0)
		fail_msg("verify: %s", err.message);
	for (i = 0; i < reply.findings.count; i++)
		told |= reply.findings.items[i].line == line &&
			reply.findings.items[i].kind == ROGER_STRAY;
	assert_true(told);
	assert_int_equal(reply.damaged, 0);
	roger_reply_free(&reply);
	assert_int_equal(roger_doctor(roger, &all, &doctor, &err), ROGER_OK);
	assert_int_equal(doctor.damaged, 0);
	roger_reply_free(&doctor);
}

static void check_slip(size_t count, bool first)
{
	struct place place;
	struct roger *roger;
	char command[300];
	int64_t line = first ? 3 : 2;

	place_make(&place);
	roger = place_open(&place);
	send_to_all(roger, 1, "");
	if (first)
		place_append(&place, before, sizeof before - 1);
	faulty_meanwhile("write", 0, add_beside, &place);
	send_to_all(roger, count, "t:v:1");
	assert_true(faulty.hit);
	faulty_end();
	check_sound(roger, line);
	send_to_all(roger, 2, "t:v:2");
	check_sound(roger, line);
	roger_close(roger);

	/* And so for who reads it all anew. */
	snprintf(command, sizeof command,
		 "cd %s/.roger && rm messages.control messages.db* send-log/*", place.root);
	assert_int_equal(system(command), 0);
	roger = place_open(&place);
	check_sound(roger, line);
	send_to_all(roger, 1, "t:v:3");
	check_sound(roger, line);
	roger_close(roger);
	place_remove(&place);
}

static void beside_a_line_of_ours(void **state)
{
	(void)state;
	check_slip(1, false);
}

static void beside_several_at_once(void **state)
{
	(void)state;
	check_slip(3, false);
}

static void behind_another_line(void **state)
{
	(void)state;
	check_slip(1, true);
}

static void beside_several_behind_another_line(void **state)
{
	(void)state;
	check_slip(3, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_a_line_of_ours),
		cmocka_unit_test(beside_several_at_once),
		cmocka_unit_test(behind_another_line),
		cmocka_unit_test(beside_several_behind_another_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
