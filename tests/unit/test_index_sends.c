/*
 * What send logs may say of messages: an attempt is delivered on evidence, is
 * numbered without gaps, is given up once; and what was purged is not missed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "harsh.h"
#include "index/index_sends.h"

struct scene {
	struct rg_sends_check *check;
	struct rg_arena *arena;
	struct rg_sends_place last; /* line that was given */
	unsigned faults;	    /* of that line: a bit for each rule */
	uint64_t missing, given_up; /* places, as a sum; how many: */
	size_t missing_count, given_up_count;
};

enum {
	ID_WRONG = 1 << RG_SENDS_ID,
	PAYLOAD_WRONG = 1 << RG_SENDS_PAYLOAD,
	NO_MESSAGE = 1 << RG_SENDS_NO_MESSAGE,
	NOT_READ = 1 << RG_SENDS_NOT_READ,
	GAP = 1 << RG_SENDS_GAP,
	TAKEN_BACK = 1 << RG_SENDS_TAKEN_BACK,
	NO_LETTER = 1 << RG_SENDS_NO_LETTER,
	NO_CYCLE = 1 << RG_SENDS_NO_CYCLE,
	SECOND_LETTER = 1 << RG_SENDS_SECOND_LETTER,
	CYCLE_ORDER = 1 << RG_SENDS_CYCLE_ORDER,
	UNSETTLED = 1 << RG_SENDS_UNSETTLED,
	LETTER_LOST = 1 << RG_SENDS_LETTER_LOST,
};

static void set_up(struct scene *scene)
{
	*scene = (struct scene){ .arena = rg_arena_new() };
	assert_non_null(scene->arena);
	assert_int_equal(rg_sends_check_new(3, &scene->check, NULL), ROGER_OK);
}

static void tear_down(struct scene *scene)
{
	rg_sends_check_free(scene->check);
	rg_arena_free(scene->arena);
}

/* Member by member: what lies between them is anything. */
static bool is_place(const struct rg_sends_place *place, const struct rg_sends_place *expected)
{
	return place->log == expected->log && place->line == expected->line &&
	       place->byte == expected->byte && place->length == expected->length &&
	       place->own == expected->own;
}

static int see(void *context, enum rg_sends_rule rule, const struct rg_sends_place *place,
	       struct roger_err *err)
{
	struct scene *scene = context;

	(void)err;
	if (rule == RG_SENDS_MISSING) {
		scene->missing += (uint64_t)place->byte;
		scene->missing_count++;
	} else if (rule == RG_SENDS_GIVEN_UP) {
		scene->given_up += (uint64_t)place->line;
		scene->given_up_count++;
	} else if (place->line == scene->last.line) {
		scene->faults |= 1U << rule;
		assert_true(is_place(place, &scene->last));
	}
	return ROGER_OK;
}

static void judge(struct scene *scene)
{
	scene->faults = 0;
	scene->missing = scene->given_up = 0;
	scene->missing_count = scene->given_up_count = 0;
	assert_int_equal(rg_sends_check_all(scene->check, true, see, scene, NULL), ROGER_OK);
}

/* The next line of a log. */
static struct rg_sends_place *next(struct scene *scene, int log)
{
	const int64_t line = scene->last.line + 1;

	scene->last = (struct rg_sends_place){ log, line, line * 100, 99, true };
	return &scene->last;
}

static struct roger_message message(const char *id, int64_t attempt)
{
	return (struct roger_message){ .id = rg_str(id),
				       .from = RG_STR("ann"),
				       .to = RG_STR("bob"),
				       .content = RG_STR("hello"),
				       .created_at_ms = 1000,
				       .key = RG_STR("app:escalation:c"),
				       .cycle = RG_STR("1"),
				       .attempt = attempt,
				       .confirm_by_ms = attempt ? 2000 : 0 };
}

static void store(struct scene *scene, struct roger_message stored, uint64_t offset)
{
	assert_int_equal(rg_sends_check_message(scene->check, &stored, offset, true, NULL),
			 ROGER_OK);
}

static struct roger_attempt entry(struct scene *scene, struct roger_message of,
				  enum roger_attempt_outcome outcome)
{
	struct roger_attempt attempt;

	assert_int_equal(rg_sendlog_entry(&of, 3, outcome, 1000, scene->arena, &attempt, NULL),
			 ROGER_OK);
	return attempt;
}

static unsigned take(struct scene *scene, struct roger_attempt attempt)
{
	assert_int_equal(rg_sends_check_entry(scene->check, &attempt, next(scene, 1), NULL),
			 ROGER_OK);
	judge(scene);
	return scene->faults;
}

static unsigned take_letter(struct scene *scene, struct roger_dead_letter letter)
{
	assert_int_equal(rg_sends_check_letter(scene->check, &letter, next(scene, 2), NULL),
			 ROGER_OK);
	judge(scene);
	return scene->faults;
}

static unsigned file(struct scene *scene, const char *id, const char *message_id)
{
	struct roger_message of = message(message_id, 1);
	struct roger_attempt attempt = entry(scene, of, ROGER_TIMEOUT);
	struct roger_dead_letter letter = { .id = rg_str(id),
					    .message = rg_str(message_id),
					    .payload_sha256 = attempt.payload_sha256,
					    .payload_bytes = attempt.payload_bytes,
					    .cycle = RG_STR("1"),
					    .filed_as = RG_STR("TASK-1") };

	return take_letter(scene, letter);
}

static void delivered_on_evidence(void **state)
{
	struct roger_message plain = message("1", 0), waited = message("2", 1), read;
	struct roger_attempt attempt;
	struct scene scene;

	(void)state;
	set_up(&scene);
	waited.key = RG_STR("other:escalation:c");
	store(&scene, plain, 0);
	store(&scene, waited, 100);
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_DELIVERED)), 0);
	assert_int_equal(take(&scene, entry(&scene, waited, ROGER_DELIVERED)), NOT_READ);
	read = waited;
	read.read = true;
	read.read_at_ms = 1500;
	store(&scene, read, 200);
	assert_int_equal(take(&scene, entry(&scene, waited, ROGER_DELIVERED)), 0);
	attempt = entry(&scene, plain, ROGER_DELIVERED);
	attempt.payload_bytes++;
	assert_int_equal(take(&scene, attempt), PAYLOAD_WRONG);
	attempt = entry(&scene, plain, ROGER_DELIVERED);
	attempt.id = RG_STR("snd-0");
	assert_int_equal(take(&scene, attempt), ID_WRONG);
	attempt = entry(&scene, plain, ROGER_TIMEOUT);
	assert_int_equal(take(&scene, attempt), TAKEN_BACK);
	plain.key = RG_STR("never:sent:c");
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_DELIVERED)), NO_MESSAGE);
	/* What was refused is in no journal. */
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_ERROR)), TAKEN_BACK);
	plain.key = RG_STR("refused:sent:c");
	assert_int_equal(take(&scene, entry(&scene, plain, ROGER_ERROR)), 0);
	tear_down(&scene);
}

static void numbered_without_gaps(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	store(&scene, message("1", 2), 100);
	store(&scene, message("1", 5), 200);
	assert_int_equal(take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 5), ROGER_TIMEOUT)), GAP);
	tear_down(&scene);

	/* One that was begun, and whose process was killed. */
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	store(&scene, message("1", 2), 100);
	store(&scene, message("1", 3), 200);
	assert_int_equal(take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 3), ROGER_TIMEOUT)), UNSETTLED);
	tear_down(&scene);
}

static bool is_given_up(const struct scene *scene)
{
	return scene->given_up_count == 1 && (int64_t)scene->given_up == scene->last.line;
}

static void given_up_once(void **state)
{
	struct roger_message read = message("1", 2);
	struct roger_attempt last;
	struct scene scene;

	(void)state;
	set_up(&scene);
	read.read = true;
	store(&scene, message("1", 1), 0);
	store(&scene, message("1", 2), 100);
	store(&scene, message("1", 3), 200);
	take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT));
	take(&scene, entry(&scene, message("1", 2), ROGER_TIMEOUT));
	assert_false(is_given_up(&scene));
	take(&scene, entry(&scene, message("1", 3), ROGER_TIMEOUT));
	assert_true(is_given_up(&scene));
	last = entry(&scene, message("1", 3), ROGER_TIMEOUT);
	last.dead_letter_task = RG_STR("TASK-1");
	/* Said once for each message, and once more where it has another name. */
	assert_int_equal(take(&scene, last), LETTER_LOST);
	assert_int_equal(take(&scene, last), 0);
	last.dead_letter_task = RG_STR("TASK-2");
	assert_int_equal(take(&scene, last), NO_LETTER);
	last.dead_letter_task = RG_STR("TASK-1");
	assert_false(is_given_up(&scene));
	assert_int_equal(file(&scene, "dl-1", "1"), 0);
	assert_int_equal(file(&scene, "dl-1", "1"), 0);
	assert_int_equal(file(&scene, "dl-2", "1"), SECOND_LETTER);
	assert_int_equal(file(&scene, "dl-3", "9"), NO_MESSAGE);
	assert_int_equal(take(&scene, last), 0);
	assert_false(is_given_up(&scene));
	tear_down(&scene);

	/* Read late: the row of timeouts is broken. */
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	store(&scene, read, 100);
	store(&scene, message("1", 3), 200);
	take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT));
	take(&scene, entry(&scene, message("1", 2), ROGER_TIMEOUT));
	take(&scene, entry(&scene, message("1", 2), ROGER_DELIVERED));
	take(&scene, entry(&scene, message("1", 3), ROGER_TIMEOUT));
	assert_false(is_given_up(&scene));
	tear_down(&scene);
}

static unsigned open_cycle(struct scene *scene, const char *id, int64_t number)
{
	struct roger_cycle cycle = { .id = rg_str(id), .number = number };

	assert_int_equal(rg_sends_check_cycle(scene->check, &cycle, next(scene, 3), NULL),
			 ROGER_OK);
	judge(scene);
	return scene->faults;
}

static void missing_unless_purged(void **state)
{
	struct roger_message old = message("1", 0), now = message("2", 0);
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_int_equal(open_cycle(&scene, "two", 2), 0);
	assert_int_equal(open_cycle(&scene, "three", 3), 0);
	assert_int_equal(open_cycle(&scene, "four", 4), 0);
	assert_int_equal(open_cycle(&scene, "two", 5), CYCLE_ORDER);
	now.cycle = RG_STR("four");
	store(&scene, old, 0);
	store(&scene, now, 100);
	judge(&scene);
	assert_int_equal(scene.missing, 100);
	assert_int_equal(scene.missing_count, 1);
	take(&scene, entry(&scene, now, ROGER_DELIVERED));
	assert_int_equal(scene.missing_count, 0);
	now.cycle = RG_STR("nine");
	assert_int_equal(take(&scene, entry(&scene, now, ROGER_ERROR)), NO_CYCLE);
	tear_down(&scene);
}

/* ---------------------------------------------------------------- each rule -- */

/* An attempt that is none of the first, and that waits for its reading, is begun. */
static void what_counts_as_begun(void **state)
{
	struct roger_message stored;
	struct scene scene;
	int64_t number;
	int confirm;

	(void)state;
	for (number = 0; number < 4; number++)
		for (confirm = 0; confirm < 2; confirm++) {
			set_up(&scene);
			stored = message("1", number);
			stored.confirm_by_ms = confirm ? 2000 : 0;
			store(&scene, stored, 0);
			stored.attempt = (number ? number : 1) + 1;
			assert_int_equal(take(&scene, entry(&scene, stored, ROGER_TIMEOUT)),
					 confirm || number > 1 ? UNSETTLED : GAP);
			tear_down(&scene);
		}
}

/* Attempts are numbered for each key of a sender to a target. */
static void numbers_belong_to_a_target(void **state)
{
	struct roger_message of = message("1", 1), others[3];
	struct scene scene;
	size_t i;

	(void)state;
	set_up(&scene);
	assert_int_equal(take(&scene, entry(&scene, of, ROGER_TIMEOUT)), 0);
	others[0] = others[1] = others[2] = message("1", 2);
	others[0].from = RG_STR("carol");
	others[1].to = RG_STR("carol");
	others[2].key = RG_STR("app:escalation:d");
	for (i = 0; i < 3; i++)
		assert_int_equal(take(&scene, entry(&scene, others[i], ROGER_TIMEOUT)), GAP);
	assert_int_equal(take(&scene, entry(&scene, message("1", 2), ROGER_TIMEOUT)), 0);
	tear_down(&scene);
}

/* The highest number counts, whatever is corrected later. */
static void the_highest_number_counts(void **state)
{
	const int64_t large = UINT32_MAX;
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_int_equal(take(&scene, entry(&scene, message("1", 1), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 2), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 3), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 1), ROGER_ERROR)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 4), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", 6), ROGER_TIMEOUT)), GAP);
	/* However high it is. */
	assert_int_equal(take(&scene, entry(&scene, message("1", large), ROGER_TIMEOUT)), GAP);
	assert_int_equal(take(&scene, entry(&scene, message("1", large + 1), ROGER_TIMEOUT)), 0);
	assert_int_equal(take(&scene, entry(&scene, message("1", large + 3), ROGER_TIMEOUT)), GAP);
	assert_int_equal(take(&scene, entry(&scene, message("1", 5), ROGER_TIMEOUT)), 0);
	tear_down(&scene);
}

/* Whatever of a payload is not the message's, delivered or not. */
static void a_payload_is_that_of_its_message(void **state)
{
	struct roger_message stored = message("1", 0);
	struct roger_attempt attempts[5];
	struct scene scene;
	size_t i;

	(void)state;
	set_up(&scene);
	store(&scene, stored, 0);
	for (i = 0; i < 5; i++)
		attempts[i] = entry(&scene, stored, ROGER_DELIVERED);
	attempts[0].payload_sha256 = RG_STR("00");
	attempts[1].payload_bytes = 6;
	attempts[2].payload_chars = 6;
	attempts[3].message = RG_STR("2");
	for (i = 0; i < 4; i++)
		assert_int_equal(take(&scene, attempts[i]), PAYLOAD_WRONG);
	assert_int_equal(take(&scene, attempts[4]), 0);
	tear_down(&scene);

	/* Of what was not delivered, the journal may know the message; or it may not. */
	set_up(&scene);
	store(&scene, stored, 0);
	for (i = 0; i < 3; i++)
		attempts[i] = entry(&scene, stored, ROGER_TIMEOUT);
	attempts[0].payload_sha256 = RG_STR("00");
	attempts[1].payload_bytes = 6;
	attempts[2].message = RG_STR("2");
	assert_int_equal(take(&scene, attempts[0]), PAYLOAD_WRONG);
	assert_int_equal(take(&scene, attempts[1]), PAYLOAD_WRONG);
	assert_int_equal(take(&scene, attempts[2]), 0);
	tear_down(&scene);
}

/* A message is what its first line says. */
static void the_first_line_of_a_message_counts(void **state)
{
	struct roger_message stored = message("1", 0), changed = stored;
	struct scene scene;

	(void)state;
	set_up(&scene);
	changed.metadata = RG_STR("{}");
	changed.content = RG_STR("something else");
	store(&scene, stored, 0);
	store(&scene, changed, 100);
	assert_int_equal(take(&scene, entry(&scene, stored, ROGER_DELIVERED)), 0);
	assert_int_equal(take(&scene, entry(&scene, changed, ROGER_DELIVERED)), PAYLOAD_WRONG);
	tear_down(&scene);
}

static void several_faults_of_one_entry(void **state)
{
	struct roger_message waited = message("1", 3);
	struct roger_attempt attempt;
	struct scene scene;

	(void)state;
	set_up(&scene);
	store(&scene, waited, 0);
	attempt = entry(&scene, waited, ROGER_DELIVERED);
	attempt.payload_bytes++;
	attempt.id = RG_STR("snd-0");
	attempt.dead_letter_task = RG_STR("TASK-9");
	assert_int_equal(take(&scene, attempt),
			 PAYLOAD_WRONG | NOT_READ | ID_WRONG | LETTER_LOST | GAP);
	attempt.outcome = ROGER_TIMEOUT;
	attempt.dead_letter_task = RG_STR("TASK-8");
	assert_int_equal(take(&scene, attempt), PAYLOAD_WRONG | ID_WRONG | NO_LETTER | TAKEN_BACK);
	waited.cycle = RG_STR("nine");
	attempt = entry(&scene, waited, ROGER_DELIVERED);
	assert_int_equal(take(&scene, attempt), NO_MESSAGE | NO_CYCLE);
	/* Without a cycle there is none to be opened. */
	waited.cycle = RG_STR("");
	attempt = entry(&scene, waited, ROGER_ERROR);
	assert_int_equal(take(&scene, attempt), 0);
	tear_down(&scene);
}

static void every_fault_of_a_letter(void **state)
{
	struct roger_dead_letter letter = { .id = RG_STR("dl-1"), .message = RG_STR("1") };
	struct roger_attempt attempt;
	struct scene scene;

	(void)state;
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	attempt = entry(&scene, message("1", 1), ROGER_TIMEOUT);
	letter.payload_sha256 = attempt.payload_sha256;
	letter.payload_bytes = attempt.payload_bytes;
	assert_int_equal(take_letter(&scene, letter), 0);
	letter.cycle = RG_STR("1");
	assert_int_equal(take_letter(&scene, letter), 0);
	letter.cycle = RG_STR("nine");
	assert_int_equal(take_letter(&scene, letter), NO_CYCLE);
	letter.payload_bytes++;
	assert_int_equal(take_letter(&scene, letter), NO_CYCLE | PAYLOAD_WRONG);
	letter.id = RG_STR("dl-2");
	assert_int_equal(take_letter(&scene, letter), NO_CYCLE | PAYLOAD_WRONG | SECOND_LETTER);
	letter.payload_sha256 = RG_STR("00");
	letter.payload_bytes--;
	letter.cycle = RG_STR("");
	letter.id = RG_STR("dl-1");
	assert_int_equal(take_letter(&scene, letter), PAYLOAD_WRONG);
	/* A letter is found by its own id, and by what the task system called it. */
	attempt.dead_letter_task = RG_STR("dl-1");
	assert_int_equal(take(&scene, attempt), 0);
	attempt.dead_letter_task = RG_STR("TASK-1");
	assert_int_equal(take(&scene, attempt), NO_LETTER);
	letter.filed_as = RG_STR("TASK-1");
	take_letter(&scene, letter);
	assert_int_equal(take(&scene, attempt), 0);
	tear_down(&scene);
}

static void cycles_are_numbered_one_by_one(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_int_equal(open_cycle(&scene, "1", 2), CYCLE_ORDER);
	assert_int_equal(open_cycle(&scene, "two", 3), 0);
	assert_int_equal(open_cycle(&scene, "five", 6), CYCLE_ORDER);
	assert_int_equal(open_cycle(&scene, "four", 5), CYCLE_ORDER);
	assert_int_equal(open_cycle(&scene, "six", 7), 0);
	tear_down(&scene);
}

static uint64_t missing(struct scene *scene)
{
	judge(scene);
	return scene->missing;
}

static void missing_by_cycle_and_demand(void **state)
{
	static const char *const cycles[] = { "1", "2", "3", "4", "never" };
	struct roger_message stored = message("1", 0);
	struct scene scene;
	size_t i;

	(void)state;
	set_up(&scene);
	for (i = 1; i < 4; i++)
		assert_int_equal(open_cycle(&scene, cycles[i], (int64_t)i + 1), 0);
	for (i = 0; i < 5; i++) {
		stored.cycle = rg_str(cycles[i]);
		store(&scene, stored, (uint64_t)1 << i);
	}
	assert_int_equal(missing(&scene), 2 + 4 + 8);
	assert_int_equal(scene.missing_count, 3);

	/* Not demanded; then demanded by a later line; and no line takes that back. */
	stored = message("2", 0);
	stored.cycle = RG_STR("4");
	stored.key = RG_STR("another:escalation:c");
	assert_int_equal(rg_sends_check_message(scene.check, &stored, 100, false, NULL), 0);
	assert_int_equal(missing(&scene), 14);
	store(&scene, stored, 200);
	assert_int_equal(missing(&scene), 214);
	assert_int_equal(rg_sends_check_message(scene.check, &stored, 300, false, NULL), 0);
	assert_int_equal(missing(&scene), 314);
	/* Delivered is delivered, whether its entry is demanded or not. */
	stored.key = RG_STR("one more:escalation:c");
	assert_int_equal(rg_sends_check_message(scene.check, &stored, 400, false, NULL), 0);
	assert_int_equal(take(&scene, entry(&scene, stored, ROGER_DELIVERED)), 0);
	assert_int_equal(missing(&scene), 314);

	/* What waits to be read is not delivered before; then by the line that says so. */
	stored = message("3", 1);
	stored.cycle = RG_STR("4");
	stored.key = RG_STR("a third:escalation:c");
	store(&scene, stored, 1000);
	assert_int_equal(missing(&scene), 314);
	stored.read = true;
	stored.read_at_ms = 1500;
	store(&scene, stored, 2000);
	assert_int_equal(missing(&scene), 2314);
	assert_int_equal(take(&scene, entry(&scene, stored, ROGER_DELIVERED)), 0);
	assert_int_equal(missing(&scene), 314);
	assert_int_equal(scene.missing_count, 4);
	tear_down(&scene);
}

/* So many timeouts in a row of an attempt that waits to be read; how many are given up. */
static size_t given_up(int64_t attempts, int64_t max_attempts, bool waited)
{
	struct roger_attempt attempt;
	struct scene scene;

	set_up(&scene);
	for (attempt.attempt = 1; attempt.attempt <= attempts; attempt.attempt++) {
		struct roger_message of = message("1", attempt.attempt);

		if (waited)
			store(&scene, of, 0);
		attempt = entry(&scene, of, ROGER_TIMEOUT);
		attempt.max_attempts = max_attempts;
		take(&scene, attempt);
	}
	if (scene.given_up_count)
		assert_true(is_given_up(&scene));
	tear_down(&scene);
	return scene.given_up_count;
}

static void given_up_after_as_many_as_allowed(void **state)
{
	int64_t attempts;

	(void)state;
	assert_int_equal(given_up(0, 1, true), 0);
	for (attempts = 1; attempts < 6; attempts++) {
		assert_int_equal(given_up(attempts, attempts, true), 1);
		assert_int_equal(given_up(attempts, attempts + 1, true), 0);
		assert_int_equal(given_up(attempts, attempts, false), 0);
	}
	assert_int_equal(given_up(3, 2, true), 1);
	assert_int_equal(given_up(40, 33, true), 1);
	/* Numbers that are no limit. */
	assert_int_equal(given_up(2, 0, true), 0);
	assert_int_equal(given_up(2, -255, true), 0);
	assert_int_equal(given_up(2, 257, true), 0);
}

/* A later line of an earlier attempt does not make it the last. */
static void the_last_attempt_is_the_one_begun_last(void **state)
{
	struct roger_attempt first, second;
	struct scene scene;

	(void)state;
	set_up(&scene);
	store(&scene, message("1", 1), 0);
	store(&scene, message("1", 2), 0);
	first = entry(&scene, message("1", 1), ROGER_TIMEOUT);
	second = entry(&scene, message("1", 2), ROGER_TIMEOUT);
	first.max_attempts = second.max_attempts = 2;
	take(&scene, first);
	take(&scene, second);
	first.max_attempts = 9;
	take(&scene, first);
	assert_int_equal(scene.given_up_count, 1);
	assert_int_equal(scene.given_up, 2);
	/* But a later line of itself is where it is written. */
	take(&scene, second);
	assert_true(is_given_up(&scene));
	tear_down(&scene);
}

/* Among many targets those without an end are passed over. */
static void given_up_among_many(void **state)
{
	struct roger_message stored;
	struct roger_attempt attempt;
	uint64_t sum = 0;
	struct scene scene;
	char key[40][32];
	int k;

	(void)state;
	set_up(&scene);
	for (k = 0; k < 40; k++) {
		stored = message("1", 1);
		snprintf(key[k], sizeof key[k], "t%d:v:c", k);
		stored.key = stored.id = rg_str(key[k]);
		store(&scene, stored, 0);
		attempt = entry(&scene, stored, k % 3 ? ROGER_TIMEOUT : ROGER_ERROR);
		attempt.max_attempts = 1 + k % 2;
		take(&scene, attempt);
		sum += k % 3 && k % 2 == 0 ? (uint64_t)k + 1 : 0;
	}
	assert_int_equal(scene.given_up_count, 13);
	assert_int_equal(scene.given_up, sum);
	tear_down(&scene);
}

/* Of logs that were not read whole nobody knows what they lack. */
static void only_whole_logs_lack_something(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	store(&scene, message("1", 0), 100);
	assert_int_equal(missing(&scene), 100);
	scene.missing = 0;
	assert_int_equal(rg_sends_check_all(scene.check, false, see, &scene, NULL), ROGER_OK);
	assert_int_equal(scene.missing, 0);
	tear_down(&scene);
}

static int ignore(void *context, enum rg_sends_rule rule, const struct rg_sends_place *place,
		  struct roger_err *err)
{
	(void)context, (void)rule, (void)place, (void)err;
	return ROGER_OK;
}

static int check_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_sends_place place = { 1, 1, 0, 9, true };
	struct roger_message stored = message("1", 2);
	struct rg_sends_check *check = NULL;
	struct roger_attempt attempt;
	int r;

	r = rg_sends_check_new(3, &check, err);
	if (r == ROGER_OK)
		r = rg_sends_check_message(check, &stored, 0, true, err);
	if (r == ROGER_OK)
		r = rg_sendlog_entry(&stored, 3, ROGER_TIMEOUT, 1, arena, &attempt, err);
	if (r == ROGER_OK)
		r = rg_sends_check_entry(check, &attempt, &place, err);
	if (r == ROGER_OK)
		r = rg_sends_check_all(check, true, ignore, NULL, err);
	rg_sends_check_free(check);
	return r;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(check_scarcely);
}

static void every_rule_has_words(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < RG_SENDS_RULES; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(rg_sends_rule((enum rg_sends_rule)i),
						rg_sends_rule((enum rg_sends_rule)k));
	assert_string_equal(rg_sends_rule(RG_SENDS_ID), "its id does not match its members");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delivered_on_evidence),
		cmocka_unit_test(numbered_without_gaps),
		cmocka_unit_test(given_up_once),
		cmocka_unit_test(missing_unless_purged),
		cmocka_unit_test(what_counts_as_begun),
		cmocka_unit_test(numbers_belong_to_a_target),
		cmocka_unit_test(the_highest_number_counts),
		cmocka_unit_test(a_payload_is_that_of_its_message),
		cmocka_unit_test(the_first_line_of_a_message_counts),
		cmocka_unit_test(several_faults_of_one_entry),
		cmocka_unit_test(every_fault_of_a_letter),
		cmocka_unit_test(cycles_are_numbered_one_by_one),
		cmocka_unit_test(missing_by_cycle_and_demand),
		cmocka_unit_test(given_up_after_as_many_as_allowed),
		cmocka_unit_test(the_last_attempt_is_the_one_begun_last),
		cmocka_unit_test(given_up_among_many),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(every_rule_has_words),
		cmocka_unit_test(only_whole_logs_lack_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
