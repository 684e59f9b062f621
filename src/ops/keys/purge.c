/*
 * purge: entries of old cycles leave the send logs (seed 000, retention).
 *
 * The current cycle and those before it, cycles.keep in all, stay.  So does every entry of a key
 * that was tried in one of them, or whose outcome is open: it timed out and has no dead letter, and
 * its next attempt depends on them.  Of other keys a digest stays for cycles.keep_digests cycles.
 * Dead letters are another log.
 */
#include "base/names.h"
#include "ops/records.h"

#include <stdlib.h>

struct purging {
	struct roger *roger;
	struct rg_arena *arena;
	struct roger_cycle_list cycles;
	int64_t oldest_kept;	     /* number of a cycle */
	struct roger_attempt *lines; /* the lines of one sender */
	size_t count;
	struct roger_attempt *states; /* the last line of each attempt */
	size_t state_count;
	bool dry_run;
};

/* An entry of another tool may name a cycle that was never opened here: it counts as new. */
static int64_t number_of(const struct roger_cycle_list *cycles, struct roger_str id)
{
	int64_t number = rg_cycle_number(cycles, id);

	rg_assert(cycles->count > 0);
	return number ? number : cycles->items[cycles->count - 1].number;
}

static bool is_old(const struct purging *purging, struct roger_str cycle)
{
	return number_of(&purging->cycles, cycle) < purging->oldest_kept;
}

static int compare_keys(const void *a, const void *b)
{
	const struct roger_attempt *x = a, *y = b;

	return rg_str_order(x->key, y->key);
}

static bool is_later(const struct roger_attempt *attempt, const struct roger_attempt *than)
{
	return attempt->at_ms > than->at_ms ||
	       (attempt->at_ms == than->at_ms && attempt->attempt > than->attempt);
}

/* Did it time out, without a later attempt of the message, and without a dead letter? */
static bool is_waited_for(const struct roger_attempt *states, size_t count,
			  const struct roger_attempt *attempt)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rg_str_equal(states[i].message, attempt->message) &&
		    (states[i].dead_letter_task.length || is_later(&states[i], attempt)))
			return false;
	return attempt->outcome == ROGER_TIMEOUT;
}

/* Is any target of the key still waited for, or was it tried in a cycle that is kept? */
static bool is_open(const struct roger_attempt *states, size_t count, const struct purging *purging)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!is_old(purging, states[i].cycle) || is_waited_for(states, count, &states[i]))
			return true;
	return false;
}

/* Move the keys that may go to the front of the sorted states, one state each; returns how many. */
static size_t find_closed(struct purging *purging)
{
	struct roger_attempt *states = purging->states, newest;
	size_t from = 0, to, closed = 0, i;

	while (from < purging->state_count) {
		for (to = from + 1;
		     to < purging->state_count && !compare_keys(&states[from], &states[to]);)
			to++;
		if (!is_open(&states[from], to - from, purging)) {
			newest = states[from];
			for (i = from + 1; i < to; i++)
				if (states[i].at_ms > newest.at_ms)
					newest = states[i];
			states[closed++] = newest;
		}
		from = to;
	}
	return closed;
}

static bool is_closed(const struct purging *purging, const struct roger_attempt *line)
{
	return purging->state_count && bsearch(line, purging->states, purging->state_count,
					       sizeof *line, compare_keys) != NULL;
}

static bool drop_attempt(void *context, const union rg_log_record *record)
{
	return is_closed(context, &record->attempt);
}

static int write_digests(struct purging *purging, struct roger_str sender, int64_t *ret_count,
			 struct roger_err *err)
{
	struct roger_digest *digests =
		rg_arena_get(purging->arena, purging->state_count * sizeof *digests);
	char id[RG_SENDLOG_ID_BYTES];
	size_t count = 0, i;

	rg_assert(rg_engine_took_records(purging->roger->engine));
	if (!digests)
		return rg_fail_memory(err);
	for (i = 0; i < purging->state_count; i++) {
		const struct roger_attempt *state = &purging->states[i];

		/* Nobody can send under the key of a plain message again. */
		if (rg_sendlog_is_plain(state))
			continue;
		digests[count] = (struct roger_digest){ .outcome = state->outcome,
							.attempts = state->attempt,
							.cycle = state->cycle,
							.at_ms = state->at_ms };
		if (!rg_digest_id(sender, state->key, id) ||
		    !rg_arena_copy(purging->arena, rg_str(id), &digests[count++].id))
			return rg_fail_memory(err);
	}
	*ret_count = (int64_t)count;
	return !count || purging->dry_run ? ROGER_OK
					  : rg_records_write(purging->roger, RG_LOG_DIGESTS,
							     RG_STR(""), digests, count, err);
}

static int64_t count_closed(const struct purging *purging)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < purging->count; i++)
		count += is_closed(purging, &purging->lines[i]);
	return count;
}

/* Purge one sender's log.  The digests are on disk before the entries go. */
static int purge_sender(struct purging *purging, struct roger_str sender,
			struct roger_purge_reply *reply, struct roger_err *err)
{
	struct rg_records states = { .count = purging->count };
	int64_t dropped, digests = 0;
	int r;

	states.items = rg_arena_get(purging->arena, (purging->count + 1) * sizeof *states.attempts);
	if (!states.items)
		return rg_fail_memory(err);
	memcpy(states.items, purging->lines, purging->count * sizeof *states.attempts);
	r = rg_records_states(RG_LOG_SENDS, &states, err);
	if (r < 0)
		return r;
	purging->states = states.attempts;
	purging->state_count = states.count;
	qsort(purging->states, purging->state_count, sizeof *purging->states, compare_keys);
	purging->state_count = find_closed(purging);
	dropped = count_closed(purging);
	r = dropped ? write_digests(purging, sender, &digests, err) : ROGER_OK;
	if (r == ROGER_OK && dropped && !purging->dry_run)
		r = rg_engine_log_purge(purging->roger->engine, RG_LOG_SENDS, sender, drop_attempt,
					purging, &dropped, err);
	reply->purged += dropped;
	reply->kept += (int64_t)purging->count - dropped;
	reply->digests += digests;
	return r;
}

/* The lines of all send logs, as the index knows them. */
struct all_lines {
	struct rg_names senders;
	int64_t count;
};

static int see_line(void *context, const struct rg_event *row, struct roger_err *err)
{
	struct all_lines *all = context;
	struct roger_str sender;

	if (!row) {
		*all = (struct all_lines){ .senders = { .arena = all->senders.arena } };
		return ROGER_OK;
	}
	all->count++;
	if (rg_names_have(&all->senders, row->said.actor))
		return ROGER_OK;
	return rg_kept(rg_arena_copy(all->senders.arena, row->said.actor, &sender) &&
			       rg_names_add(&all->senders, sender),
		       err);
}

/* Read and purge one sender's log. */
static int purge_next(struct purging *purging, struct roger_str sender,
		      struct roger_purge_reply *reply, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS, .owner = sender };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_records lines;
	int r = arena ? rg_records_read(purging->roger, &query, arena, &lines, err)
		      : rg_fail_memory(err);

	if (r < 0)
		return r;
	purging->arena = arena;
	purging->lines = lines.attempts;
	purging->count = lines.count;
	return purge_sender(purging, sender, reply, err);
}

/* Drop the digest of a cycle that is long past. */
static bool drop_digest(void *context, const union rg_log_record *record)
{
	const struct purging *purging = context;

	return number_of(&purging->cycles, record->digest.cycle) <
	       purging->oldest_kept - purging->roger->workspace->config->digests_kept;
}

int rg_verb_purge(struct roger *roger, const struct roger_purge_request *request,
		  struct roger_purge_reply *reply, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS };
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	struct purging purging = { .roger = roger, .dry_run = request->dry_run };
	struct all_lines all = { .senders = { .arena = reply->memory } };
	int64_t unused;
	size_t i;
	int r;

	r = rg_engine_records_hold(roger->engine, &held, err);
	if (r == ROGER_OK)
		r = rg_cycle_all(roger, reply->memory, &purging.cycles, err);
	if (r == ROGER_OK)
		r = rg_engine_bring_sends_up(roger->engine, true, err);
	if (r == ROGER_OK)
		r = rg_engine_rows(roger->engine, &query, see_line, &all, err);
	if (r < 0)
		return r;
	purging.oldest_kept = purging.cycles.items[purging.cycles.count - 1].number -
			      roger->workspace->config->cycles_kept + 1;
	/* Nothing is of a cycle before the first: no line needs to be read. */
	if (purging.oldest_kept <= purging.cycles.items[0].number) {
		reply->kept = all.count;
		return ROGER_OK;
	}
	for (i = 0; r == ROGER_OK && i < all.senders.count; i++)
		r = purge_next(&purging, all.senders.items[i], reply, err);
	if (r == ROGER_OK && !purging.dry_run)
		r = rg_engine_log_purge(roger->engine, RG_LOG_DIGESTS, RG_STR(""), drop_digest,
					&purging, &unused, err);
	return r;
}
