/* Finding what belongs into a history, in each of the logs. */
#include "ops/caller.h"
#include "ops/proof/gather.h"

#include <stdlib.h>

#include "ops/keys/attempt.h"
#include "ops/runs/run_list.h"

#include "facts/note.h"

enum {
	IDS_MAX = 500, /* of one question */
};

void rg_gathering_init(struct rg_gathering *gathering, struct roger *roger, struct rg_arena *arena)
{
	size_t i;

	*gathering = (struct rg_gathering){ .roger = roger, .arena = arena };
	gathering->messages.seen.arena = arena;
	for (i = 0; i < RG_LOGS; i++)
		gathering->logs[i].seen.arena = arena;
}

/* Put an item of that name behind a list (items points to its items), if it is the first one. */
static int put_first(struct rg_gathering *gathering, struct rg_counter *seen, struct roger_str name,
		     const void *items, size_t *count, const void *item, size_t size,
		     struct roger_err *err)
{
	int64_t *times = rg_counter_of(seen, name);
	void *place;

	if (!times)
		return rg_fail_memory(err);
	if ((*times)++)
		return ROGER_OK;
	place = rg_arena_push(gathering->arena, items, count, size);
	if (!place)
		return rg_fail_memory(err);
	memcpy(place, item, size);
	return ROGER_OK;
}

/* -------------------------------------------------------------- messages -- */

static int add_messages(struct rg_gathering *gathering, const struct roger_message_list *found,
			struct roger_err *err)
{
	struct rg_gathered_messages *to = &gathering->messages;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < found->count && r == ROGER_OK; i++)
		r = put_first(gathering, &to->seen, found->items[i].id, &to->items, &to->count,
			      &found->items[i], sizeof *found->items, err);
	return r;
}

static int find_messages(struct rg_gathering *gathering, struct rg_query query,
			 struct roger_err *err)
{
	struct roger_message_list found;
	int r;

	query.newest = true;
	query.until_ms = gathering->until_ms;
	query.limit = gathering->limit;
	r = rg_engine_find(gathering->roger->engine, &query, gathering->arena, &found, err);
	if (r < 0)
		return r;
	gathering->more |= query.limit && (int64_t)found.count >= query.limit;
	return add_messages(gathering, &found, err);
}

int rg_gather_messages(struct rg_gathering *gathering, const struct rg_query *query,
		       struct roger_err *err)
{
	struct rg_query archived = *query;
	int r;

	archived.archived = true;
	r = find_messages(gathering, *query, err);
	return r < 0 ? r : find_messages(gathering, archived, err);
}

int rg_gather_ids(struct rg_gathering *gathering, const struct roger_str *ids, size_t count,
		  struct roger_err *err)
{
	struct rg_query query = { .anywhere = true };
	struct roger_message_list found;
	size_t done;
	int r = ROGER_OK;

	for (done = 0; done < count && r == ROGER_OK; done += query.id_count) {
		query.ids = ids + done;
		query.id_count = count - done < IDS_MAX ? count - done : IDS_MAX;
		r = rg_engine_find(gathering->roger->engine, &query, gathering->arena, &found, err);
		if (r == ROGER_OK)
			r = add_messages(gathering, &found, err);
	}
	return r;
}

/* --------------------------------------------------------------- entries -- */

static int add_entries(struct rg_gathering *gathering, struct rg_gathered_entries *to,
		       const struct rg_log_entries *found, struct roger_err *err)
{
	const struct rg_log_entry *entry;
	struct roger_str position;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < found->count && r == ROGER_OK; i++) {
		entry = &found->items[i];
		position = (struct roger_str){ (const char *)&entry->position,
					       sizeof entry->position };
		r = put_first(gathering, &to->seen, position, &to->items, &to->count, entry,
			      sizeof *entry, err);
	}
	return r;
}

int rg_gather_entries(struct rg_gathering *gathering, const struct rg_log_query *query_,
		      struct roger_err *err)
{
	struct rg_log_query query = *query_;
	struct rg_log_entries found;
	int r;

	query.newest = true;
	query.until_ms = gathering->until_ms;
	query.limit = gathering->limit;
	r = rg_engine_log_find(gathering->roger->engine, &query, gathering->arena, &found, err);
	if (r < 0)
		return r;
	gathering->more |= query.limit && (int64_t)found.count >= query.limit;
	return add_entries(gathering, &gathering->logs[query.log], &found, err);
}

int rg_gather_wakes(struct rg_gathering *gathering, const struct roger_message *messages,
		    size_t count, struct roger_err *err)
{
	struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
				      .step = rg_note_step_name(RG_STEP_WAKE) };
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < count && r == ROGER_OK; i++) {
		query.owner = messages[i].to;
		query.since_ms = messages[i].created_at_ms;
		r = rg_gather_entries(gathering, &query, err);
	}
	return r;
}

/* The entries of a log that name one of these messages. */
static int gather_named(struct rg_gathering *gathering, enum rg_log log,
			const struct roger_str *ids, size_t count, struct roger_err *err)
{
	struct rg_log_query query = { .log = log };
	size_t done;
	int r = ROGER_OK;

	for (done = 0; done < count && r == ROGER_OK; done += query.message_count) {
		query.messages = ids + done;
		query.message_count = count - done < IDS_MAX ? count - done : IDS_MAX;
		r = rg_gather_entries(gathering, &query, err);
	}
	return r;
}

int rg_gather_attempts(struct rg_gathering *gathering, struct roger_str task, struct roger_err *err)
{
	const struct rg_gathered_messages *messages = &gathering->messages;
	struct roger_str *keyed = rg_arena_get(gathering->arena, messages->count * sizeof *keyed),
			 *others = rg_arena_get(gathering->arena, messages->count * sizeof *others),
			 key;
	size_t count = 0, other_count = 0, i;
	int r;

	if (!keyed || !others)
		return rg_fail_memory(err);
	for (i = 0; i < messages->count; i++) {
		key = messages->items[i].key;
		if (key.length && rg_str_equal(rg_key_task(key), task))
			continue;
		if (key.length)
			keyed[count++] = messages->items[i].id;
		others[other_count++] = messages->items[i].id;
	}
	r = gather_named(gathering, RG_LOG_SENDS, keyed, count, err);
	/* One without a key may have died for its leases. */
	return r < 0 ? r : gather_named(gathering, RG_LOG_DEAD_LETTERS, others, other_count, err);
}

int rg_gather_attempted(struct rg_gathering *gathering, struct roger_err *err)
{
	struct roger_attempt attempt;
	struct roger_str *ids;
	size_t count = 0, i;
	int r = ROGER_OK;

	ids = rg_arena_get(gathering->arena, gathering->logs[RG_LOG_SENDS].count * sizeof *ids);
	if (!ids)
		return rg_fail_memory(err);
	for (i = 0; i < gathering->logs[RG_LOG_SENDS].count && r == ROGER_OK; i++) {
		r = rg_kind_read(RG_LOG_SENDS, gathering->logs[RG_LOG_SENDS].items[i].text,
				 gathering->arena, &attempt, err);
		if (r == ROGER_OK && attempt.message.length)
			ids[count++] = attempt.message;
	}
	return r < 0 ? r : rg_gather_ids(gathering, ids, count, err);
}

/* ------------------------------------------------------------------ runs -- */

/* Most documents are about something else: they are passed over without being read. */
static bool may_name(struct roger_str text, struct roger_str name)
{
	return memchr(text.data, '\\', text.length) ||
	       memmem(text.data, text.length, name.data, name.length);
}

int rg_gather_runs(struct rg_gathering *gathering, struct roger_str name, rg_run_fits *fits,
		   struct roger_err *err)
{
	struct rg_run_document document, *place;
	struct rg_run_texts texts;
	size_t i;
	int r;

	r = rg_engine_runs(gathering->roger->engine, gathering->arena, &texts, err);
	for (i = 0; r == ROGER_OK && i < texts.count; i++) {
		if (texts.items[i].trouble.length || !may_name(texts.items[i].text, name))
			continue;
		r = rg_run_decode(gathering->roger, texts.items[i].text, rg_clock_ms(),
				  gathering->arena, &document, err);
		/* What is not valid is told by `runs`, and by `doctor`. */
		if (r == ROGER_EDATA || (r == ROGER_OK && !fits(&document.run, name))) {
			r = ROGER_OK;
			continue;
		}
		place = r < 0 ? NULL
			      : rg_arena_push(gathering->arena, &gathering->runs.items,
					      &gathering->runs.count, sizeof *place);
		if (!place)
			return r < 0 ? r : rg_fail_memory(err);
		*place = document;
		place->file = texts.items[i].file;
	}
	return r < 0 ? r
		     : rg_run_look_for_readers(gathering->roger, gathering->runs.items,
					       gathering->runs.count, gathering->arena, err);
}

/* ----------------------------------------------------------------- order -- */

static int compare_messages(const void *a, const void *b)
{
	const struct roger_message *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static int compare_entries(const void *a, const void *b)
{
	const struct rg_log_entry *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

void rg_gathering_sort(struct rg_gathering *gathering)
{
	const struct rg_gathered_entries *log;

	if (gathering->messages.count)
		qsort(gathering->messages.items, gathering->messages.count,
		      sizeof *gathering->messages.items, compare_messages);
	for (log = gathering->logs; log < gathering->logs + RG_LOGS; log++)
		if (log->count)
			qsort(log->items, log->count, sizeof *log->items, compare_entries);
}
