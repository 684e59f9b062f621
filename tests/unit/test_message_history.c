/*
 * What a journal of messages may say: each rule holds for what roger wrote,
 * what other programs wrote is taken as it comes, and the sums are those of the
 * living and the archived.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "harsh.h"
#include "facts/message_history.h"

struct scene {
	struct rg_message_history history;
	int64_t line;
};

static void set_up(struct scene *scene)
{
	rg_message_history_init(&scene->history);
	scene->line = 0;
}

static void tear_down(struct scene *scene)
{
	rg_message_history_deinit(&scene->history);
}

static struct roger_message message(const char *id, int64_t seq)
{
	return (struct roger_message){ .id = rg_str(id),
				       .issue = RG_STR("app"),
				       .from = RG_STR("ann"),
				       .to = RG_STR("bob"),
				       .pass = 1,
				       .content = RG_STR("hello"),
				       .created_at_ms = 1000,
				       .seq = seq,
				       .epoch = 1 };
}

static unsigned take_as(struct scene *scene, struct roger_message taken, bool own)
{
	struct rg_message_step step;

	assert_int_equal(
		rg_message_history_take(&scene->history, &taken, ++scene->line, own, &step, NULL),
		ROGER_OK);
	return step.faults;
}

static unsigned take(struct scene *scene, struct roger_message taken)
{
	return take_as(scene, taken, true);
}

static struct roger_message read_at(struct roger_message taken, int64_t ms)
{
	taken.read = true;
	taken.read_at_ms = ms;
	return taken;
}

static struct roger_message archived(struct roger_message taken)
{
	taken.archived_at_ms = 3000;
	return taken;
}

static void a_life_without_faults(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 1), three = message("3", 2);
	struct rg_message_known known;
	struct scene scene;

	(void)state;
	set_up(&scene);
	two.to = RG_STR("carol");
	three.reply_to = RG_STR("1");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, two), 0);
	assert_int_equal(take(&scene, three), 0);
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take(&scene, archived(read_at(one, 2000))), 0);
	assert_true(rg_message_history_find(&scene.history, RG_STR("1"), &known));
	assert_int_equal(known.line, 1);
	assert_true(known.read && known.archived);
	assert_false(rg_message_history_find(&scene.history, RG_STR("4"), &known));
	tear_down(&scene);
}

/* Two files of one sender may be taken in another order than they were written in. */
static void numbers_of_an_edge_may_cross(void **state)
{
	struct roger_message early = message("2", 2), late = message("1", 3),
			     next = message("3", 4);
	struct scene scene;

	(void)state;
	set_up(&scene);
	early.via = late.via = RG_STR("bridge");
	early.to = RG_STR("eve");
	assert_int_equal(take(&scene, late), 0);
	assert_int_equal(take(&scene, early), 0);
	assert_int_equal(take(&scene, next), 0);
	early.via = RG_STR("");
	early.id = RG_STR("4");
	assert_int_equal(take(&scene, early), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(scene.history.sums.edges, 2);
	assert_int_equal(scene.history.sums.edge_numbers, 5);
	tear_down(&scene);
}

static void every_fault(void **state)
{
	struct roger_message one = message("1", 5), other = message("1", 5), back = message("2", 4),
			     same = message("3", 5), late = message("4", 9),
			     gone = message("5", 10);
	struct scene scene;

	(void)state;
	set_up(&scene);
	other.content = RG_STR("something else");
	late.epoch = 0;
	gone.reply_to = RG_STR("nobody");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, other), RG_MESSAGE_ID_TAKEN);
	assert_int_equal(take(&scene, back), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, same), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, late), RG_MESSAGE_EPOCH_BACK);
	assert_int_equal(take(&scene, gone), RG_MESSAGE_ANSWERS_NONE);
	assert_int_equal(take(&scene, read_at(back, 0)), RG_MESSAGE_READ_WHEN);
	assert_int_equal(take(&scene, read_at(same, 999)), RG_MESSAGE_READ_EARLY);
	assert_int_equal(take(&scene, same), RG_MESSAGE_UNREAD_AGAIN);
	assert_int_equal(take(&scene, archived(read_at(late, 2000))), 0);
	assert_int_equal(take(&scene, read_at(late, 2000)), RG_MESSAGE_AFTER_ARCHIVE);
	tear_down(&scene);
}

static void an_epoch_starts_numbers_over(void **state)
{
	struct roger_message fresh = message("2", 1), foreign = message("3", 1);
	struct scene scene;

	(void)state;
	set_up(&scene);
	fresh.epoch = 2;
	foreign.epoch = 7;
	assert_int_equal(take(&scene, message("1", 100)), 0);
	assert_int_equal(take(&scene, fresh), 0);
	/* Nobody else opens a session. */
	assert_int_equal(take_as(&scene, foreign, false), 0);
	assert_int_equal(scene.history.epoch, 2);
	assert_int_equal(take(&scene, message("4", 101)), RG_MESSAGE_EPOCH_BACK);
	tear_down(&scene);
}

static void others_may_write_what_they_like(void **state)
{
	struct roger_message one = message("1", 5), two = message("2", 4);
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take_as(&scene, one, false), 0);
	/* Roger may not have seen that yet. */
	assert_int_equal(take(&scene, read_at(one, 2000)), 0);
	assert_int_equal(take_as(&scene, two, false), 0);
	/* Its number counts. */
	assert_int_equal(take_as(&scene, message("3", 50), false), 0);
	assert_int_equal(take(&scene, message("4", 50)), RG_MESSAGE_NUMBER_BACK);
	assert_int_equal(take(&scene, message("5", 51)), 0);
	tear_down(&scene);
}

static void the_sums_of_what_lives(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 2), three = message("3", 3);
	const struct rg_message_sums *sums;
	struct scene scene;
	int64_t expected;

	(void)state;
	set_up(&scene);
	sums = &scene.history.sums;
	two.key = RG_STR("a:b:c");
	three.reply_to = RG_STR("1");
	take(&scene, one);
	take(&scene, two);
	take(&scene, three);
	take(&scene, read_at(one, 2000));
	take(&scene, archived(read_at(one, 2000)));
	assert_int_equal(sums->messages, 2);
	assert_int_equal(sums->unread, 2);
	assert_int_equal(sums->mailbox_positions, 2 + 3);
	assert_int_equal(sums->archived, 1);
	assert_int_equal(sums->archived_positions, 1);
	assert_int_equal(sums->keys, 1);
	assert_int_equal(sums->replies, 1);
	assert_int_equal(sums->sent, 3);
	assert_int_equal(sums->seen, 1);
	assert_int_equal(sums->seen_numbers, 1);
	expected = (int64_t)((uint64_t)rg_message_row(&scene.history.scratch, &two) +
			     (uint64_t)rg_message_row(&scene.history.scratch, &three));
	assert_int_equal(sums->rows, expected);
	assert_int_equal(rg_message_history_agent(&scene.history, RG_STR("bob"))->unread, 2);
	assert_int_equal(rg_message_history_agent(&scene.history, RG_STR("ann"))->seq, 3);
	assert_int_equal(rg_message_history_seen(&scene.history, RG_STR("bob"), RG_STR("ann"))->seq,
			 1);
	tear_down(&scene);
}

/* --------------------------------------------------------- random journals -- */

/* A journal, and the rules over it said the slow way: by looking at all lines again. */
enum { LINES_MAX = 24, SENDERS = 3 };
static const char *const names[] = { "ann", "bob", "carol", "dan" };

struct line {
	struct roger_message message;
	bool own;
};

struct journal {
	struct line lines[LINES_MAX];
	size_t count;
	/* What numbers are judged by. */
	int64_t epoch;
	struct current {
		struct roger_message last; /* that was counted */
		int64_t seq, epoch;
		const char *first_to, *last_to;
	} current[SENDERS];
};

static unsigned drawn = 1;

static int draw(int below)
{
	drawn = drawn * 1103515245 + 12345;
	return (int)((drawn >> 16) % (unsigned)below);
}

/* The first line of the id; NULL: none yet. */
static const struct line *first_of(const struct journal *journal, struct roger_str id)
{
	size_t i;

	for (i = 0; i < journal->count; i++)
		if (rg_str_equal(journal->lines[i].message.id, id))
			return &journal->lines[i];
	return NULL;
}

/* The last line that counts: the one that archived it, or else the last. */
static const struct line *state_of(const struct journal *journal, struct roger_str id)
{
	const struct line *found = NULL;
	size_t i;

	for (i = 0; i < journal->count; i++)
		if (rg_str_equal(journal->lines[i].message.id, id) &&
		    !(found && found->message.archived_at_ms))
			found = &journal->lines[i];
	return found;
}

static bool same_send(const struct roger_message *a, const struct roger_message *b)
{
	return rg_str_equal(a->issue, b->issue) && a->created_at_ms == b->created_at_ms &&
	       a->type == b->type && a->pass == b->pass && a->content.length == b->content.length;
}

static bool same_text(const struct roger_message *a, const struct roger_message *b)
{
	return same_send(a, b) && rg_str_equal(a->content, b->content);
}

static unsigned expected_number_fault(struct journal *journal, const struct roger_message *taken,
				      bool own)
{
	size_t sender =
		(size_t)(taken->from.data == names[1]) + 2 * (size_t)(taken->from.data == names[2]);
	struct current *current = &journal->current[sender];
	unsigned fault = 0;

	if (!taken->seq || (!own && taken->epoch > journal->epoch))
		return 0;
	if (taken->epoch < journal->epoch)
		return own ? RG_MESSAGE_EPOCH_BACK : 0;
	journal->epoch = taken->epoch;
	if (taken->epoch > current->epoch || taken->seq > current->seq) {
		current->seq = taken->seq;
		current->epoch = taken->epoch;
		current->first_to = taken->to.data;
	} else if (!own || taken->via.length) {
		return 0;
	} else if (taken->seq < current->seq || !same_send(taken, &current->last) ||
		   taken->to.data == current->first_to || taken->to.data == current->last_to) {
		fault = RG_MESSAGE_NUMBER_BACK;
	}
	current->last = *taken;
	current->last_to = taken->to.data;
	return fault;
}

static unsigned expected_change_fault(const struct line *state, const struct roger_message *taken)
{
	unsigned faults = 0;

	if (!state->own)
		return 0;
	if (!same_text(&state->message, taken))
		faults = RG_MESSAGE_ID_TAKEN;
	if (state->message.archived_at_ms)
		return faults | RG_MESSAGE_AFTER_ARCHIVE;
	return faults | (state->message.read && !taken->read ? RG_MESSAGE_UNREAD_AGAIN : 0);
}

static unsigned expected_faults(struct journal *journal, const struct roger_message *taken,
				bool own)
{
	const struct line *state = state_of(journal, taken->id);
	unsigned faults = 0;

	if (taken->read != (taken->read_at_ms != 0))
		faults |= RG_MESSAGE_READ_WHEN;
	else if (taken->read && taken->read_at_ms < taken->created_at_ms)
		faults |= RG_MESSAGE_READ_EARLY;
	if (taken->reply_to.length && !first_of(journal, taken->reply_to))
		faults |= RG_MESSAGE_ANSWERS_NONE;
	if (!state)
		return faults | expected_number_fault(journal, taken, own);
	return faults | (own ? expected_change_fault(state, taken) : 0);
}

/* Does this line of the journal make its reader see the number? */
static bool is_reading(const struct journal *journal, size_t which)
{
	const struct roger_message *message = &journal->lines[which].message;
	struct journal before = *journal;
	const struct line *state;

	before.count = which;
	state = state_of(&before, message->id);
	return message->read && !message->archived_at_ms &&
	       !(state && (state->message.read || state->message.archived_at_ms));
}

/* The highest number of a pair among lines that were read, or that came in; *pairs counts. */
static struct rg_message_seen highest(const struct journal *journal, const char *reader,
				      const char *sender, bool of_edges, int64_t *pairs,
				      int64_t *numbers)
{
	struct rg_message_seen seen = { 0 };
	const struct roger_message *message;
	bool found = false;
	size_t i;

	for (i = 0; i < journal->count; i++) {
		message = &journal->lines[i].message;
		if (message->to.data != reader || message->from.data != sender || !message->seq ||
		    !(of_edges ? message->via.length &&
					 first_of(journal, message->id) == &journal->lines[i]
			       : is_reading(journal, i)))
			continue;
		found = true;
		if (message->epoch > seen.epoch ||
		    (message->epoch == seen.epoch && message->seq > seen.seq)) {
			seen.epoch = message->epoch;
			seen.seq = message->seq;
		}
	}
	*pairs += found;
	*numbers += seen.seq;
	return seen;
}

static void check_pairs(const struct journal *journal, const struct rg_message_history *history)
{
	int64_t seen_pairs = 0, seen_numbers = 0, edge_pairs = 0, edge_numbers = 0, pairs;
	const struct rg_message_seen *found;
	struct rg_message_seen seen;
	size_t reader, sender;

	for (reader = 0; reader < 4; reader++)
		for (sender = 0; sender < SENDERS; sender++) {
			pairs = seen_pairs;
			seen = highest(journal, names[reader], names[sender], false, &seen_pairs,
				       &seen_numbers);
			highest(journal, names[reader], names[sender], true, &edge_pairs,
				&edge_numbers);
			found = rg_message_history_seen(history, rg_str(names[reader]),
							rg_str(names[sender]));
			assert_int_equal(found != NULL, seen_pairs > pairs);
			if (found) {
				assert_int_equal(found->epoch, seen.epoch);
				assert_int_equal(found->seq, seen.seq);
			}
		}
	assert_int_equal(history->sums.seen, seen_pairs);
	assert_int_equal(history->sums.seen_numbers, seen_numbers);
	assert_int_equal(history->sums.edges, edge_pairs);
	assert_int_equal(history->sums.edge_numbers, edge_numbers);
}

static void check_id(const struct journal *journal, const struct line *first,
		     const struct rg_message_history *history)
{
	const struct roger_message *message = &state_of(journal, first->message.id)->message;
	struct rg_message_known known;

	assert_true(rg_message_history_find(history, first->message.id, &known));
	assert_int_equal(known.line, first - journal->lines + 1);
	assert_int_equal(known.read, message->read);
	assert_int_equal(known.archived, message->archived_at_ms > 0);
}

static void check_sums(const struct journal *journal, const struct rg_message_history *history)
{
	struct rg_message_sums expected = { 0 };
	const struct rg_message_sums *sums = &history->sums;
	const struct roger_message *message;
	uint64_t rows = 0;
	struct rg_buf scratch;
	int64_t place;
	size_t i;

	rg_buf_init(&scratch, SIZE_MAX);
	for (i = 0; i < journal->count; i++) {
		if (first_of(journal, journal->lines[i].message.id) != &journal->lines[i])
			continue;
		check_id(journal, &journal->lines[i], history);
		place = (int64_t)i + 1;
		expected.sent++;
		expected.keys += journal->lines[i].message.key.length != 0;
		expected.replies += journal->lines[i].message.reply_to.length != 0;
		message = &state_of(journal, journal->lines[i].message.id)->message;
		if (message->archived_at_ms) {
			expected.archived++;
			expected.archived_positions += place;
			continue;
		}
		expected.messages++;
		expected.unread += !message->read;
		expected.mailbox_positions += message->read ? 0 : place;
		rows += (uint64_t)rg_message_row(&scratch, message);
	}
	rg_buf_deinit(&scratch);
	assert_int_equal(sums->rows, (int64_t)rows);
	assert_int_equal(sums->sent, expected.sent);
	assert_int_equal(sums->received, expected.sent);
	assert_int_equal(sums->keys, expected.keys);
	assert_int_equal(sums->replies, expected.replies);
	assert_int_equal(sums->archived, expected.archived);
	assert_int_equal(sums->archived_positions, expected.archived_positions);
	assert_int_equal(sums->messages, expected.messages);
	assert_int_equal(sums->unread, expected.unread);
	assert_int_equal(sums->agents_unread, expected.unread);
	assert_int_equal(sums->mailbox, expected.unread);
	assert_int_equal(sums->mailbox_positions, expected.mailbox_positions);
	assert_int_equal(history->epoch, journal->epoch);
}

static void check_agents(const struct journal *journal, const struct rg_message_history *history)
{
	const struct rg_message_agent *agent;
	const struct roger_message *message;
	int64_t unread;
	size_t i, k;

	for (k = 0; k < 4; k++) {
		unread = 0;
		for (i = 0; i < journal->count; i++) {
			message = &journal->lines[i].message;
			if (first_of(journal, message->id) != &journal->lines[i] ||
			    message->to.data != names[k])
				continue;
			message = &state_of(journal, message->id)->message;
			unread += !message->archived_at_ms && !message->read;
		}
		agent = rg_message_history_agent(history, rg_str(names[k]));
		assert_int_equal(agent ? agent->unread : 0, unread);
		if (k < SENDERS) {
			assert_int_equal(agent ? agent->seq : 0, journal->current[k].seq);
			assert_int_equal(agent ? agent->epoch : 0, journal->current[k].epoch);
		}
	}
}

/* An id has one sender, one recipient and one number; all else is as it comes. */
static struct roger_message draw_message(void)
{
	static const char *const ids[] = { "1", "2", "3", "4", "5", "6", "7", "8" };
	int id = draw(8);
	struct roger_message drawn_message = {
		.id = rg_str(ids[id]),
		.issue = RG_STR("app"),
		.from = rg_str(names[id % 2 + (id == 7)]),
		.to = rg_str(names[1 + id % 3]),
		.pass = 1,
		.type = ROGER_CONTEXT,
		.content = rg_str(draw(8) ? "hello" : "hallo"),
		.created_at_ms = 2,
		.seq = draw(5) ? 1 + draw(3) : 0,
		.epoch = draw(4) ? 1 : draw(4),
		.key = rg_str(draw(2) ? "k" : ""),
		.reply_to = rg_str(draw(4) ? "" : ids[draw(8)]),
		.via = rg_str(draw(4) ? "" : "edge"),
		.read = draw(2),
		.archived_at_ms = draw(6) ? 0 : 1,
	};

	drawn_message.read_at_ms = draw(6) ? (drawn_message.read ? 1 + draw(3) : 0) : draw(2);
	switch (draw(12)) {
	case 0:
		drawn_message.pass = 2;
		break;
	case 1:
		drawn_message.type = ROGER_DATA;
		break;
	case 2:
		drawn_message.created_at_ms = 3;
		break;
	case 3:
		drawn_message.issue = RG_STR("other");
		break;
	}
	return drawn_message;
}

static void one_journal(void)
{
	struct journal journal = { 0 };
	struct rg_message_history history;
	struct roger_message taken;
	struct rg_message_step step;
	const struct line *before;
	unsigned faults;
	bool own;

	rg_message_history_init(&history);
	while (journal.count < LINES_MAX) {
		taken = draw_message();
		own = draw(5) > 0;
		before = state_of(&journal, taken.id);
		faults = expected_faults(&journal, &taken, own);
		assert_int_equal(rg_message_history_take(&history, &taken,
							 (int64_t)journal.count + 1, own, &step,
							 NULL),
				 ROGER_OK);
		assert_int_equal(step.faults, faults);
		assert_int_equal(step.added, !before);
		assert_int_equal(step.left,
				 before && !before->message.archived_at_ms && taken.archived_at_ms);
		journal.lines[journal.count++] = (struct line){ taken, own };
		check_sums(&journal, &history);
		check_agents(&journal, &history);
		check_pairs(&journal, &history);
	}
	rg_message_history_deinit(&history);
}

static void random_journals(void **state)
{
	int round;

	(void)state;
	for (round = 0; round < 400; round++)
		one_journal();
}

/* --------------------------------------------------------------------- rest -- */

/* One number goes to each recipient once, whatever else was sent to in between. */
static void a_number_goes_to_each_once(void **state)
{
	struct roger_message one = message("1", 1), two = message("2", 1), again = message("3", 1),
			     last = message("4", 1);
	struct scene scene;

	(void)state;
	set_up(&scene);
	two.to = last.to = RG_STR("carol");
	assert_int_equal(take(&scene, one), 0);
	assert_int_equal(take(&scene, two), 0);
	assert_int_equal(take(&scene, again), RG_MESSAGE_NUMBER_BACK);
	again.id = RG_STR("5");
	again.to = RG_STR("dan");
	assert_int_equal(take(&scene, again), 0);
	again.id = RG_STR("6");
	assert_int_equal(take(&scene, again), RG_MESSAGE_NUMBER_BACK);
	tear_down(&scene);
}

/* All that the seed's table holds of a message tells it from another; lengths do, too. */
static void every_member_counts(void **state)
{
	const struct roger_message plain = {
		.id = RG_STR("ab"),
		.issue = RG_STR("c"),
		.from = RG_STR("d"),
		.to = RG_STR("e"),
		.content = RG_STR("f"),
		.metadata = RG_STR("{}"),
		.created_at_ms = 1,
		.pass = 1,
		.type = 1,
	};
	struct roger_message others[10];
	struct rg_buf scratch;
	size_t i, k;

	(void)state;
	for (i = 0; i < 10; i++)
		others[i] = plain;
	others[1].id = RG_STR("a");
	others[1].issue = RG_STR("bc");
	others[2].issue = RG_STR("x");
	others[3].from = RG_STR("x");
	others[4].to = RG_STR("x");
	others[5].content = RG_STR("x");
	others[6].metadata = RG_STR("{ }");
	others[7].created_at_ms = 2;
	others[8].pass = 2;
	others[9].type = 2;
	rg_buf_init(&scratch, SIZE_MAX);
	for (i = 0; i < 10; i++)
		for (k = 0; k < i; k++) {
			assert_true(rg_message_text(&scratch, &others[i]) !=
				    rg_message_text(&scratch, &others[k]));
			assert_true(rg_message_row(&scratch, &others[i]) !=
				    rg_message_row(&scratch, &others[k]));
		}
	others[1] = others[2] = others[3] = plain;
	others[1].read = true;
	others[2].read_at_ms = 5;
	others[3].id = RG_STR("xx");
	for (i = 1; i < 4; i++)
		assert_true(rg_message_row(&scratch, &others[i]) !=
			    rg_message_row(&scratch, &plain));
	rg_buf_deinit(&scratch);
}

static int take_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message read = read_at(message("1", 1), 2000), edge = message("2", 2);
	struct rg_message_history history;
	struct rg_message_step step;
	int r;

	(void)arena;
	edge.via = RG_STR("bridge");
	rg_message_history_init(&history);
	r = rg_message_history_take(&history, &read, 1, true, &step, err);
	if (r == ROGER_OK)
		r = rg_message_history_take(&history, &edge, 2, true, &step, err);
	rg_message_history_deinit(&history);
	return r;
}

/* A history of so many agents, of whom the next but one, or the next, needs a larger table. */
static void fill(struct rg_message_history *history, int agents)
{
	struct roger_message one = message("1", 1);
	struct rg_message_step step;
	char name[16];
	int i;

	rg_message_history_init(history);
	assert_int_equal(rg_message_history_take(history, &one, 1, true, &step, NULL), ROGER_OK);
	for (i = 2; i < agents; i++) {
		snprintf(name, sizeof name, "n%d", i);
		one.id = one.to = rg_str(name);
		assert_int_equal(rg_message_history_take(history, &one, i, true, &step, NULL),
				 ROGER_OK);
	}
}

static int take_into_full(int agents, struct roger_message taken, struct roger_err *err)
{
	struct rg_message_history history;
	struct rg_message_step step;
	long left = scarce_left;
	int r;

	scarce_left = -1;
	fill(&history, agents);
	scarce_left = left;
	r = rg_message_history_take(&history, &taken, 1000, true, &step, err);
	scarce_left = -1;
	rg_message_history_deinit(&history);
	return r;
}

static int add_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message taken = message("another", 0);

	(void)arena;
	taken.from = RG_STR("new");
	taken.to = RG_STR("newer");
	return take_into_full(767, taken, err);
}

static int change_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_message taken = message("1", 1);

	(void)arena;
	taken.to = RG_STR("newer");
	return take_into_full(768, taken, err);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	scarce_everywhere(take_scarcely);
	scarce_everywhere(add_scarcely);
	scarce_everywhere(change_scarcely);
}

static void every_fault_has_words(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < RG_MESSAGE_FAULTS; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(rg_message_fault_texts[i],
						rg_message_fault_texts[k]);
	assert_null(rg_message_fault_texts[RG_MESSAGE_FAULTS]);
	assert_string_equal(rg_message_fault_texts[0], "its id belongs to another message");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_life_without_faults),
		cmocka_unit_test(numbers_of_an_edge_may_cross),
		cmocka_unit_test(every_fault),
		cmocka_unit_test(an_epoch_starts_numbers_over),
		cmocka_unit_test(others_may_write_what_they_like),
		cmocka_unit_test(the_sums_of_what_lives),
		cmocka_unit_test(random_journals),
		cmocka_unit_test(a_number_goes_to_each_once),
		cmocka_unit_test(every_member_counts),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(every_fault_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
