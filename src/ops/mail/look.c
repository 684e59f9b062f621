#include "ops/mail/look.h"

#include <stdio.h>

#include "ops/note.h"

/* The most ids in one entry; more ids take more entries. */
enum { LOOK_IDS_MAX = 256 };

/* Messages that are shown for the first time, on their way into the log. */
struct look {
	struct roger *roger;
	struct roger_str agent;
	bool by_person;
	const struct roger_message **fresh;
	size_t fresh_count;
	int64_t position; /* of the newest message that was shown, for the first time or not */
	struct roger_str *ids;
	struct rg_buf lines;
};

/* An id of another program that is not a valid name is kept out of the log. */
static bool is_fresh(const struct look *look, const struct roger_message *message)
{
	return rg_name_valid(message->id) &&
	       (look->by_person || !rg_engine_shown(look->roger->engine, look->agent, message->id));
}

static void find_fresh(struct look *look, const struct roger_message_list *messages)
{
	size_t i;

	look->fresh_count = 0;
	for (i = 0; i < messages->count; i++) {
		if (messages->items[i].position > look->position)
			look->position = messages->items[i].position;
		if (is_fresh(look, &messages->items[i]))
			look->fresh[look->fresh_count++] = &messages->items[i];
	}
}

static int add_entry(struct look *look, struct roger_str issue, size_t id_count,
		     struct roger_err *err)
{
	struct rg_note note = { .kind = RG_NOTE_LOOKED,
				.entry.task = issue,
				.agent = look->agent,
				.ids = { look->ids, id_count },
				.count = (int64_t)id_count,
				.position = look->position };

	if (look->by_person)
		note.by = RG_STR(RG_BY_PERSON);
	if (look->by_person || look->roger->caller.how != RG_BY_FILES)
		rg_note_ran(look->roger, &note);
	return rg_note_print(&note, &look->lines, err);
}

/* Make an entry for the issue of the first message; keep the others, in their order. */
static int add_issue(struct look *look, struct roger_err *err)
{
	const struct roger_str issue = look->fresh[0]->issue;
	size_t count = 0, left = 0, i;

	rg_assert(look->fresh_count > 0);
	for (i = 0; i < look->fresh_count; i++) {
		if (count < LOOK_IDS_MAX && rg_str_equal(look->fresh[i]->issue, issue))
			look->ids[count++] = look->fresh[i]->id;
		else
			look->fresh[left++] = look->fresh[i];
	}
	look->fresh_count = left;
	return add_entry(look, issue, count, err);
}

/* Write the entries under the record lock, so that two looks at once note a message once. */
static int write_entries(struct look *look, const struct roger_message_list *messages,
			 struct roger_err *err)
{
	struct roger_str *shown = look->ids + messages->count;
	size_t count = 0, i;
	int r = ROGER_OK;

	rg_assert(rg_engine_took_records(look->roger->engine));
	find_fresh(look, messages);
	for (i = 0; i < look->fresh_count; i++)
		shown[count++] = look->fresh[i]->id;
	while (look->fresh_count && r == ROGER_OK)
		r = add_issue(look, err);
	if (r < 0 || !count)
		return r;
	r = rg_engine_log_append(look->roger->engine, RG_LOG_ACTIVITY, RG_STR(""),
				 rg_buf_str(&look->lines), false, err);
	/* If the process is killed here, the next look notes the same messages again. */
	if (r == ROGER_OK && !look->by_person)
		rg_engine_note_shown(look->roger->engine, look->agent, shown, count, true);
	return r;
}

static int note_looked(struct look *look, const struct roger_message_list *messages,
		       struct rg_arena *arena, struct roger_err *err)
{
	int r;

	look->fresh = rg_arena_get(arena, messages->count * sizeof(*look->fresh));
	look->ids = rg_arena_get(arena, 2 * messages->count * sizeof *look->ids);
	if (!look->fresh || !look->ids)
		return rg_fail_memory(err);
	find_fresh(look, messages);
	if (!look->fresh_count)
		return ROGER_OK;
	r = rg_engine_records_begin_soon(look->roger->engine, err);
	if (r < 0)
		return r;
	r = write_entries(look, messages, err);
	rg_engine_records_end(look->roger->engine);
	return r;
}

void rg_look_note(struct roger *roger, struct roger_str agent, bool by_person,
		  const struct roger_message_list *messages)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	struct look look = {
		.roger = roger, .agent = agent, .by_person = by_person, .lines.maximum = SIZE_MAX
	};
	struct roger_err err;
	int r = ROGER_ENOMEM;

	if (!roger->workspace->config->note_own || !messages->count)
		return;
	arena = rg_arena_new();
	if (arena)
		r = note_looked(&look, messages, arena, &err);
	else
		rg_fail_memory(&err);
	/* If the lock is not free soon, only the note is lost: the next look makes it. */
	if (r < 0 && r != ROGER_ETIMEOUT)
		snprintf(roger->untold, sizeof roger->untold,
			 "the look is not noted in the activity log: %.400s", err.message);
	rg_buf_deinit(&look.lines);
}
