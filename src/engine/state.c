/*
 * message-state.json (seed 002): counters, and the numbers that readers accepted.
 *
 * It follows the journal, except for a new epoch, which `session new` makes
 * durable here.  Senders update their counters in it without the index; a process
 * that has the index open writes everything.
 *
 * While no message is stored, the numbers of another program's document (one without an epoch or
 * without `journal`) are copied to sessions.jsonl, and the session continues in its epoch.
 */
#include "engine/inside.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "facts/person.h"
#include "facts/sequence.h"

/* STATE_PAUSE_MS: a handle that lives long does not write the document for every message. */
enum { STATE_BYTES_MAX = 64 << 20, STATE_PAUSE_MS = 1000, STATE_WAIT_MS = 500, ROUNDS_MAX = 4 };

/* A document up to this length is looked at by each handle that opens: another program may have
 * written it. A longer one is looked at by its next writer, and while no message is stored. */
enum { SHORT_BYTES_MAX = 1024 };

/* A longer document costs more than a message: handles that only send leave it to readers. */
enum { SENT_BYTES_MAX = 64 << 10 };

/* Needs a writable store. */
static struct rg_shared *shared_of(struct rg_engine *engine)
{
	struct rg_shared *shared = rg_store_shared(engine->store);

	rg_assert(shared != NULL);
	return shared;
}

static void note_trouble(struct rg_store *store, const struct roger_err *why, const char *what)
{
	if (!*store->trouble.message)
		rg_warn(&store->trouble, why, "%s %s", store->state, what);
}

/* A document that roger never wrote is not missing; if it is damaged, it is another program's. */
static void note_rebuilt(struct rg_store *store, const char *lost, const struct roger_err *why)
{
	struct rg_shared *shared = rg_store_shared(store);
	const bool written = shared && atomic_load(&shared->state_written);
	char what[300];

	if (why->code == ROGER_EREFUSED)
		snprintf(what, sizeof what, "%s: %.250s", lost, why->message);
	else if (written)
		snprintf(what, sizeof what,
			 "%s: it is rebuilt, and no new session begins; `roger agents session new` "
			 "opens one",
			 lost);
	else
		snprintf(what, sizeof what,
			 "%s (%.120s): its numbers are not taken over; mend it, or the next send "
			 "replaces it",
			 lost, why->message);
	if (written || *why->message)
		note_trouble(store, why, what);
}

/* Load the document; an empty one if it is missing or damaged, and *ret_lost says which. */
static int load_quietly(struct rg_store *store, struct rg_sequence **ret_sequence,
			const char **ret_lost, struct roger_err *ret_why, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_str text = { NULL, 0 };
	int r, error;

	*ret_lost = NULL;
	*ret_why = (struct roger_err){ 0 };
	r = arena ? store->ops->get(store, RG_DOCUMENT_STATE, RG_STR(""), arena, &text, ret_why)
		  : rg_fail_memory(ret_why);
	if (r == ROGER_OK && text.data)
		r = rg_sequence_read(text, ret_sequence, ret_why);
	rg_arena_free(arena);
	/* A document that cannot be read now, but may be next time, is not missing: its numbers
	 * would be given twice. */
	error = ret_why->system_errno;
	if (r == ROGER_ENOMEM || r == ROGER_ETIMEOUT ||
	    (r < 0 && error && error != EACCES && error != EPERM && error != EISDIR &&
	     error != ELOOP)) {
		if (err)
			*err = *ret_why;
		return r;
	}
	if (r == ROGER_OK && text.data)
		return ROGER_OK;
	*ret_lost = text.data ? "is damaged" : r < 0 ? "cannot be read" : "is missing";
	return rg_sequence_new(ret_sequence, err);
}

static int load_state(struct rg_store *store, struct rg_sequence **ret_sequence,
		      struct roger_err *err)
{
	struct roger_err why;
	const char *lost;
	int r = load_quietly(store, ret_sequence, &lost, &why, err);

	if (r < 0)
		return r;
	if (lost)
		note_rebuilt(store, lost, &why);
	else if ((*ret_sequence)->foreign && rg_store_head(store).end > 0)
		note_trouble(store, NULL,
			     "is another program's, and its numbers are not taken over: there are "
			     "messages already, and roger goes on with their numbers");
	return ROGER_OK;
}

/* ------------------------------------------------------ numbers taken over -- */

/* Keep the last line of roger's in sessions.jsonl. */
static int see_session(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct rg_sequence **last = context, *read = NULL;

	if (!walk->own)
		return ROGER_OK;
	if (rg_sequence_read(walk->line.text, &read, NULL) == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (read) {
		rg_sequence_free(*last);
		*last = read;
	}
	return ROGER_OK;
}

/* Load the numbers that were last taken over at the start of a session; *ret_first NULL: none. */
static int load_first(struct rg_engine *engine, struct rg_sequence **ret_first,
		      struct roger_err *err)
{
	static const struct rg_visitor visitor = { .name = "sessions", .line = see_session };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_store *store = engine->store;
	struct rg_log_files files = { 0 };
	bool there;
	int r;

	*ret_first = NULL;
	r = arena ? store->ops->list(store, RG_LOG_SESSIONS, RG_STR(""), arena, &files, err)
		  : rg_fail_memory(err);
	if (r == ROGER_OK)
		r = rg_walk(engine, files.items, &visitor, NULL, ret_first, &there, err);
	if (r < 0)
		*ret_first = rg_sequence_free(*ret_first);
	return r;
}

/* Return the numbers that the present session began with, maybe none.  They are kept once a message
 * is stored, since then no more are taken over. */
static int first_numbers(struct rg_engine *engine, const struct rg_sequence **ret_first,
			 struct roger_err *err)
{
	const int64_t epoch = rg_tally_epoch(engine->store);
	const bool lasts = rg_store_head(engine->store).end > 0;
	struct rg_sequence *first;
	int r;

	*ret_first = engine->first;
	if (engine->first && engine->first_lasts && engine->first->epoch == epoch)
		return ROGER_OK;
	r = load_first(engine, &first, err);
	if (r == ROGER_OK && (!first || first->epoch != epoch)) {
		rg_sequence_free(first);
		r = rg_sequence_new(&first, err);
	}
	if (r < 0)
		return r;
	first->epoch = epoch;
	rg_sequence_free(engine->first);
	*ret_first = engine->first = first;
	engine->first_lasts = lasts;
	return ROGER_OK;
}

int rg_engine_first_seen(struct rg_engine *engine, struct roger_str reader, struct roger_str sender,
			 int64_t *ret_number, struct roger_err *err)
{
	const struct rg_sequence *first;
	int r = first_numbers(engine, &first, err);

	rg_assert(reader.length && sender.length);
	if (r == ROGER_OK)
		*ret_number = rg_sequence_seen(first, reader, sender);
	return r;
}

bool rg_engine_prepared(struct rg_engine *engine)
{
	const struct rg_shared *shared = rg_store_shared(engine->store);

	return !shared || atomic_load(&shared->prepared);
}

void rg_engine_recall(struct rg_store *store, struct rg_figure *ret_witness)
{
	struct rg_sequence *sequence;
	struct roger_err why;
	const char *lost;

	/* The control file is just being opened and says nothing yet. */
	if (load_quietly(store, &sequence, &lost, &why, NULL) < 0)
		return;
	*ret_witness = (struct rg_figure){ .count = sequence->journal_bytes,
					   .chain = sequence->journal_chain,
					   .chained = sequence->journal_bytes != 0 };
	rg_sequence_free(sequence);
}

/* Raise the figures: numbers of lost lines stay used, and so do those that were taken over. */
static void raise_numbers(struct rg_store *store, const struct rg_sequence *sequence)
{
	const struct rg_number *number;
	size_t i;

	rg_assert(rg_store_took(store, RG_LOCK_APPEND));
	for (i = 0; i < sequence->count; i++) {
		number = &sequence->numbers[i];
		if (number->seq > 0)
			rg_tally_number(store, number->sender, sequence->epoch, number->seq);
	}
}

/* Load epoch and numbers into the figures, under the append lock; ROGER_EDATA: the journal is
 * closed by damage.  first: numbers that were taken over, or NULL. */
static int take_over(struct rg_engine *engine, const struct rg_sequence *sequence,
		     const struct rg_sequence *first, struct roger_err *err)
{
	const size_t names = first ? first->count : 0;
	struct rg_store *store = engine->store;
	bool damaged = rg_engine_count_damages(engine);
	int r;

	r = rg_store_begin(store, (damaged ? sequence->count : 0) + names, 0, err);
	if (r < 0)
		return r;
	/* Count again: the control file may just have been replaced. */
	damaged |= rg_engine_count_damages(engine);
	if (sequence->epoch > rg_tally_epoch(store))
		rg_tally_set_epoch(store, sequence->epoch);
	if (first && first->epoch > rg_tally_epoch(store))
		rg_tally_set_epoch(store, first->epoch);
	if (damaged)
		raise_numbers(store, sequence);
	if (first && first->epoch == rg_tally_epoch(store))
		raise_numbers(store, first);
	atomic_store(&shared_of(engine)->prepared, 1);
	rg_store_release(store, RG_LOCK_APPEND);
	return ROGER_OK;
}

/* Load the epoch: that of a session in which nobody has sent is only in the document. */
int rg_engine_prepare_epoch(struct rg_engine *engine, bool to_write, struct roger_err *err)
{
	struct rg_sequence *sequence = NULL, *first = NULL;
	struct roger_err refused = { 0 };
	int r;

	if (rg_engine_prepared(engine))
		return ROGER_OK;
	r = load_state(engine->store, &sequence, err);
	if (r < 0)
		return r;
	r = load_first(engine, &first, &refused);
	if (r == ROGER_OK)
		r = take_over(engine, sequence, first, &refused);
	/* The damage is examined and recorded now; it may be accepted already. */
	if (r == ROGER_EDATA) {
		rg_engine_examine_damage(engine);
		r = take_over(engine, sequence, first, &refused);
	}
	if (r == ROGER_EDATA) {
		/* Damage that is not examined yet may be accepted: numbers are raised then. */
		if (atomic_load(&shared_of(engine)->broken) == RG_BROKEN_CLOSED)
			atomic_store(&shared_of(engine)->prepared, 1);
		r = ROGER_OK;
	} else if (!to_write && r == ROGER_EIO && refused.system_errno) {
		/* A disk that cannot be written can still be read. */
		r = ROGER_OK;
	}
	rg_sequence_free(first);
	rg_sequence_free(sequence);
	if (r < 0 && err)
		*err = refused;
	return r;
}

void rg_engine_want_state(struct rg_engine *engine, bool seen)
{
	struct rg_shared *shared = shared_of(engine);

	atomic_fetch_add(&shared->state_wanted, 1);
	if (seen)
		atomic_fetch_add(&shared->seen_wanted, 1);
}

static int see_accepted(struct rg_engine *engine, const struct roger_message *message)
{
	const int64_t epoch = rg_tally_epoch(engine->store);
	struct rg_sequence **numbers = &engine->accepted.numbers;

	rg_assert(message->read);
	if (!message->seq || message->epoch != epoch || !rg_message_read_itself(message))
		return ROGER_OK;
	if (*numbers && (*numbers)->epoch != epoch)
		*numbers = rg_sequence_free(*numbers);
	if (!*numbers && rg_sequence_new(numbers, NULL) < 0)
		return ROGER_ENOMEM;
	(*numbers)->epoch = epoch;
	return rg_sequence_raise_seen(*numbers, message->to, message->from, message->seq, NULL);
}

void rg_engine_note_accepted(struct rg_engine *engine)
{
	const struct rg_staged *staged = engine->staged, *end = staged + engine->staged_count;
	uint64_t change = 0, before = engine->accepted.last;
	int r = ROGER_OK;

	for (; staged < end; staged++) {
		if (staged->added || staged->before.read || !staged->after.read)
			continue;
		if (!change)
			change = atomic_fetch_add(&shared_of(engine)->seen_wanted, 1) + 1;
		if (r == ROGER_OK)
			r = see_accepted(engine, &staged->after);
	}
	if (!change)
		return;
	if (!before)
		engine->accepted.first = change;
	if (r < 0 || (before && change != before + 1))
		engine->accepted.first = 0;
	engine->accepted.last = change;
}

/* Add the counters from the figures, which are exact. */
static int add_counters(struct rg_engine *engine, struct rg_sequence *sequence,
			struct roger_err *err)
{
	struct rg_named_figure agent;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK && engine->store->ops->next_figure(engine->store, &i, &agent))
		if (agent.figure.epoch == sequence->epoch && agent.figure.seq > 0)
			r = rg_sequence_raise_count(sequence,
						    (struct roger_str){ agent.name, agent.length },
						    agent.figure.seq, err);
	return r;
}

static int add_first(struct rg_engine *engine, struct rg_sequence *sequence, struct roger_err *err)
{
	const struct rg_sequence *first;
	int r = first_numbers(engine, &first, err);

	return r < 0 ? r : rg_sequence_add(sequence, first, err);
}

/* Compose the document from the index. */
static int compose_from_index(struct rg_engine *engine, int64_t epoch,
			      struct rg_sequence **ret_sequence, struct roger_err *err)
{
	int r = rg_engine_refresh(engine, err);

	if (r == ROGER_OK)
		r = rg_sequence_new(ret_sequence, err);
	if (r < 0)
		return r;
	(*ret_sequence)->epoch = epoch;
	r = rg_index_sequence(engine->index, epoch, *ret_sequence, err);
	if (r == ROGER_OK)
		r = add_first(engine, *ret_sequence, err);
	if (r < 0)
		*ret_sequence = rg_sequence_free(*ret_sequence);
	return r;
}

static int put_state(struct rg_engine *engine, struct rg_sequence *sequence,
		     enum rg_figure_kind testifies, bool durable, struct roger_err *err)
{
	const struct rg_figure_key key = { .kind = testifies };
	struct rg_store *store = engine->store;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = STATE_BYTES_MAX };
	struct rg_figure witness;

	rg_assert(rg_store_took(store, RG_LOCK_STATE));
	/* While others append, the earlier witness still holds. */
	if (store->ops->figure(store, &key, &witness) && witness.chained) {
		sequence->journal_bytes = witness.count;
		sequence->journal_chain = witness.chain;
	}
	rg_sequence_print(sequence, &text);
	return text.failed ? rg_fail_memory(err)
			   : store->ops->put(store, RG_DOCUMENT_STATE, RG_STR(""), NULL,
					     rg_buf_str(&text), durable, err);
}

int rg_engine_keep_evidence(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_sequence *sequence;
	struct roger_err why;
	const char *lost;
	int r = rg_store_take(engine->store, RG_LOCK_STATE, RG_LOCK_WAIT_MS, err);

	if (r < 0)
		return r;
	r = load_quietly(engine->store, &sequence, &lost, &why, err);
	if (r == ROGER_OK) {
		if (!lost && sequence->epoch == rg_tally_epoch(engine->store))
			r = add_counters(engine, sequence, err);
		if (r == ROGER_OK && !lost)
			r = put_state(engine, sequence, RG_FIGURE_WITNESS, true, err);
		rg_sequence_free(sequence);
	}
	rg_store_release(engine->store, RG_LOCK_STATE);
	return r;
}

static int open_session(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_sequence *sequence;
	int64_t epoch = rg_tally_epoch(engine->store);
	int r;

	rg_assert(rg_store_took(engine->store, RG_LOCK_STATE));
	if (epoch >= RG_EPOCH_MAX)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "there can be no more sessions in this workspace");
	r = rg_sequence_new(&sequence, err);
	if (r < 0)
		return r;
	sequence->epoch = epoch + 1;
	r = put_state(engine, sequence, RG_FIGURE_ON_DISK, true, err);
	rg_sequence_free(sequence);
	if (r < 0)
		return r;
	r = rg_store_begin(engine->store, 0, 0, err);
	if (r < 0)
		return r;
	if (rg_tally_epoch(engine->store) < epoch + 1)
		rg_tally_set_epoch(engine->store, epoch + 1);
	rg_store_release(engine->store, RG_LOCK_APPEND);
	return ROGER_OK;
}

/* Is there no number in this session yet?  Then there is nothing to clear. */
static bool is_unused(struct rg_engine *engine)
{
	const int64_t epoch = rg_tally_epoch(engine->store);
	const struct rg_sequence *first;
	struct rg_named_figure agent;
	size_t i = 0;

	if (first_numbers(engine, &first, NULL) < 0 || first->count)
		return false;

	while (engine->store->ops->next_figure(engine->store, &i, &agent))
		if (agent.figure.epoch == epoch && agent.figure.seq > 0)
			return false;
	return true;
}

static bool find_state(struct rg_engine *engine, struct rg_figure *ret_state)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_STATE };

	return engine->store->ops->figure(engine->store, &key, ret_state);
}

static bool is_short(struct rg_engine *engine, size_t most)
{
	struct rg_figure state;

	return !find_state(engine, &state) || state.count < most;
}

/* Load the document, unless it is long and not needed for anything else (*ret_there is NULL).  With
 * the state lock, starts a new session if it was cleared. */
static int look_for_clearing(struct rg_engine *engine, bool needed, bool *ret_cleared,
			     struct rg_sequence **ret_there, struct roger_err *err)
{
	struct rg_store *store = engine->store;
	int r;

	*ret_cleared = false;
	*ret_there = NULL;
	needed |= rg_store_head(store).end == 0;
	if (!needed && !is_short(engine, SHORT_BYTES_MAX))
		return ROGER_OK;
	r = load_state(store, ret_there, err);
	if (r < 0)
		return r;
	*ret_cleared = (*ret_there)->cleared;
	if (!*ret_cleared || !rg_store_holds(store, RG_LOCK_STATE))
		return ROGER_OK;
	(*ret_there)->epoch = rg_tally_epoch(store);
	r = is_unused(engine) ? put_state(engine, *ret_there, RG_FIGURE_ON_DISK, false, err)
			      : open_session(engine, err);
	if (r < 0)
		*ret_there = rg_sequence_free(*ret_there);
	return r;
}

static int add_session(struct rg_engine *engine, const struct rg_sequence *sequence,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf numbers = { .maximum = STATE_BYTES_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_LINE_BYTES_MAX };
	struct rg_session session = { .at_ms = rg_clock_ms() };
	char id[32];

	snprintf(id, sizeof id, "session-%lld", (long long)sequence->epoch);
	rg_sequence_print(sequence, &numbers);
	session.id = rg_str(id);
	session.numbers = rg_buf_str(&numbers);
	/* The line has the numbers without their braces and newline. */
	if (!numbers.failed) {
		session.numbers.data++;
		session.numbers.length -= 3;
	}
	rg_record_encode(&rg_session_record, &session, &text);
	rg_buf_add_char(&text, '\n');
	if (numbers.failed || text.failed)
		return rg_fail(err, ROGER_EDATA, 0, "too long");
	return rg_engine_log_add(engine, RG_LOG_SESSIONS, RG_STR(""), rg_buf_str(&text), true, err);
}

/* Could everybody still send after these numbers? */
static int check_numbers(const struct rg_sequence *sequence, struct roger_err *err)
{
	int64_t highest = 0;
	size_t i;

	for (i = 0; i < sequence->count; i++)
		if (sequence->numbers[i].seq > highest)
			highest = sequence->numbers[i].seq;
	return highest <= RG_EDGE_SEQ_MAX
		       ? ROGER_OK
		       : rg_fail(err, ROGER_EDATA, 0, "expected numbers up to %lld",
				 (long long)RG_EDGE_SEQ_MAX);
}

/* Take another program's numbers over, with the record lock: into sessions.jsonl, synced, then
 * into the figures.  Those that were taken over before stay. */
static int take_numbers(struct rg_engine *engine, struct rg_sequence *there, struct roger_err *err)
{
	const struct rg_sequence *first;
	struct rg_store *store = engine->store;
	bool known;
	int r;

	rg_assert(rg_store_took(store, RG_LOCK_RECORDS));
	r = check_numbers(there, err);
	if (r == ROGER_OK)
		r = first_numbers(engine, &first, err);
	if (r < 0)
		return r;
	there->epoch = first->epoch;
	there->unknown = RG_STR("");
	known = rg_sequence_covers(first, there);
	r = known ? ROGER_OK : rg_sequence_add(there, first, err);
	if (r == ROGER_OK && !known)
		r = add_session(engine, there, err);
	if (r == ROGER_OK)
		r = rg_store_begin(store, there->count, 0, err);
	if (r < 0)
		return r;
	raise_numbers(store, there);
	rg_store_release(store, RG_LOCK_APPEND);
	rg_engine_want_state(engine, true);
	return ROGER_OK;
}

/* Take another program's numbers over while no message is stored; report those that cannot be. */
static int follow_numbers(struct rg_engine *engine, struct rg_sequence *there,
			  struct roger_err *err)
{
	const struct rg_sequence *first;
	struct roger_err why = { 0 };
	uint64_t end;
	int r = rg_engine_settle(engine, &end, err);

	if (r < 0 || end > 0)
		return r;
	if (there->epoch > rg_tally_epoch(engine->store))
		atomic_store(&shared_of(engine)->prepared, 0);
	r = rg_engine_prepare_epoch(engine, false, err);
	if (r == ROGER_OK)
		r = first_numbers(engine, &first, err);
	if (r < 0 || (!there->foreign && rg_sequence_covers(first, there)))
		return r;
	r = rg_engine_records_begin(engine, err);
	if (r < 0)
		return r;
	r = take_numbers(engine, there, &why);
	rg_engine_records_end(engine);
	if (r == ROGER_EDATA)
		rg_warn(&engine->trouble, &why,
			"%s is another program's, and its numbers are not taken over: %.200s",
			engine->store->state, why.message);
	else if (r < 0 && err)
		*err = why;
	return r == ROGER_EDATA ? ROGER_OK : r;
}

/* A process that does not get the lock leaves it to the next one. */
int rg_engine_follow_clearing(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_sequence *there = NULL;
	bool cleared = false;
	int r = ROGER_OK;

	if (rg_store_writable(engine->store))
		r = look_for_clearing(engine, false, &cleared, &there, err);
	if (r == ROGER_OK && there && (there->foreign || (there->count && !there->journal_bytes)))
		r = follow_numbers(engine, there, err);
	there = rg_sequence_free(there);
	if (r < 0 || !cleared ||
	    rg_store_take(engine->store, RG_LOCK_STATE, STATE_WAIT_MS, NULL) < 0)
		return r;
	r = look_for_clearing(engine, false, &cleared, &there, err);
	rg_sequence_free(there);
	rg_store_release(engine->store, RG_LOCK_STATE);
	return r;
}

/* Does this handle know every number that readers accepted since the document was written? */
static bool knows_accepted(struct rg_engine *engine)
{
	const struct rg_shared *shared = rg_store_shared(engine->store);
	const uint64_t wanted = shared ? atomic_load(&shared->seen_wanted) : 0,
		       written = shared ? atomic_load(&shared->seen_written) : 0;

	return wanted == written ||
	       (engine->accepted.first == written + 1 && engine->accepted.last == wanted);
}

/* Write the document once, under the state lock; whole: compose it again from the index. */
static int save_once(struct rg_engine *engine, bool whole, struct roger_err *err)
{
	struct rg_shared *shared = shared_of(engine);
	uint64_t wanted = atomic_load(&shared->state_wanted),
		 seen = atomic_load(&shared->seen_wanted);
	int64_t epoch = rg_tally_epoch(engine->store);
	struct rg_sequence *sequence = NULL;
	bool cleared, has_sent;
	int r;

	rg_assert(rg_store_took(engine->store, RG_LOCK_STATE));
	r = look_for_clearing(engine, !whole, &cleared, &sequence, err);
	if (r < 0 || cleared || whole)
		sequence = rg_sequence_free(sequence);
	if (r < 0 || cleared)
		return r;
	if (whole)
		r = compose_from_index(engine, epoch, &sequence, err);
	else if (sequence->epoch != epoch || sequence->foreign)
		rg_sequence_renew(sequence);
	if (r == ROGER_OK && !whole)
		r = add_first(engine, sequence, err);
	if (r < 0)
		return r;
	sequence->epoch = epoch;
	r = add_counters(engine, sequence, err);
	if (r == ROGER_OK && !whole && engine->accepted.numbers &&
	    engine->accepted.numbers->epoch == epoch)
		r = rg_sequence_add(sequence, engine->accepted.numbers, err);
	/* Until somebody sends, only this document has the new epoch: it must be durable.  Counters
	 * come before what readers accepted. */
	has_sent = sequence->count && !sequence->numbers[0].reader.length;
	if (r == ROGER_OK)
		r = put_state(engine, sequence, RG_FIGURE_ON_DISK, epoch > 1 && !has_sent, err);
	rg_sequence_free(sequence);
	if (r < 0)
		return r;
	shared = shared_of(engine);
	atomic_store(&shared->state_written, wanted);
	if (whole)
		atomic_store(&shared->seen_written, seen);
	else if (engine->accepted.first == atomic_load(&shared->seen_written) + 1)
		atomic_store(&shared->seen_written, engine->accepted.last);
	engine->accepted.numbers = rg_sequence_free(engine->accepted.numbers);
	engine->accepted.first = engine->accepted.last = 0;
	return ROGER_OK;
}

/* Write the document when a command ends: a short one always, a longer one once a second. */
void rg_engine_leave_state(struct rg_engine *engine)
{
	const struct rg_shared *shared = rg_store_shared(engine->store);
	const bool has_looked = engine->index && rg_index_seen(engine->index) > 0;
	struct rg_figure state;

	if (!shared || (atomic_load(&shared->state_wanted) == atomic_load(&shared->state_written) &&
			atomic_load(&shared->seen_wanted) == atomic_load(&shared->seen_written)))
		return;
	if (find_state(engine, &state)) {
		state.at_ms = rg_clock_ms() - state.at_ms;
		if (state.count >= SHORT_BYTES_MAX && state.at_ms >= 0 &&
		    state.at_ms < STATE_PAUSE_MS)
			return;
		if (!has_looked && state.count >= SENT_BYTES_MAX)
			return;
	}
	rg_engine_save_state(engine, true);
}

/* The document can be rebuilt, so a failed write fails nobody; the next writer repeats it. */
void rg_engine_save_state(struct rg_engine *engine, bool closing)
{
	int64_t now = rg_clock_monotonic_ns();
	struct rg_shared *shared;
	bool whole;
	int rounds;

	if (!closing && now - engine->state_saved_ns < (int64_t)STATE_PAUSE_MS * 1000000)
		return;
	/* Unless a person accepted the loss of lines, the document is evidence: leave it. */
	shared = rg_store_shared(engine->store);
	if (!shared || !engine->index || atomic_load(&shared->broken) == RG_BROKEN_CLOSED)
		return;
	/* Most handles write once and close: write when closing.  With many writers, one of them
	 * writes for all. */
	if (!closing && (engine->state_saved_ns == 0 ||
			 atomic_load(&shared->state_written) != engine->state_written)) {
		engine->state_written = atomic_load(&shared->state_written);
		engine->state_saved_ns = now;
		return;
	}
	/* The lock holder checks again after releasing it, so that no change is left out.  The
	 * control file may be replaced in between, so `shared` is read again. */
	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		whole = rg_index_end(engine->index) > 0 && !knows_accepted(engine);
		if (!whole && !closing && !is_short(engine, SENT_BYTES_MAX))
			break;
		shared = rg_store_shared(engine->store);
		if (!shared || (!whole && atomic_load(&shared->state_wanted) ==
						  atomic_load(&shared->state_written)))
			break;
		/* In the middle of mail do not wait: whoever has the lock writes for all. */
		if (rg_store_take(engine->store, RG_LOCK_STATE,
				  whole && closing ? STATE_WAIT_MS : 0, NULL) < 0)
			break;
		if (save_once(engine, whole, NULL) < 0)
			rounds = ROUNDS_MAX;
		rg_store_release(engine->store, RG_LOCK_STATE);
	}
	shared = rg_store_shared(engine->store);
	engine->state_written = shared ? atomic_load(&shared->state_written) : 0;
	engine->state_saved_ns = now;
}

int rg_engine_stay_used(struct rg_engine *engine, struct roger_err *err)
{
	int r = rg_engine_prepare_epoch(engine, false, err);

	if (r < 0)
		return r;
	rg_engine_want_state(engine, false);
	rg_engine_save_state(engine, true);
	return ROGER_OK;
}

int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
		      struct roger_err *err)
{
	const bool writable = rg_store_writable(engine->store);
	struct rg_sequence *sequence = NULL;
	int r = ROGER_OK;

	if (fresh) {
		r = rg_store_take(engine->store, RG_LOCK_STATE, RG_LOCK_WAIT_MS, err);
		if (r < 0)
			return r;
		r = open_session(engine, err);
		rg_store_release(engine->store, RG_LOCK_STATE);
		if (r < 0)
			return r;
		engine->stored++;
	}
	/* Read all of the document, so that status can report damage. */
	r = load_state(engine->store, &sequence, err);
	if (writable || sequence)
		*ret_epoch = writable ? rg_tally_epoch(engine->store) : sequence->epoch;
	rg_sequence_free(sequence);
	return writable ? ROGER_OK : r;
}
