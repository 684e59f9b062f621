/*
 * message-state.json (seed 002): counters, and the numbers that readers accepted.
 *
 * It follows the journal, except for a new epoch, which `session new` makes
 * durable here.  Senders update their counters in it without the index; a process
 * that has the index open writes everything.
 */
#include "engine/inside.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "facts/sequence.h"

/* A handle that lives long does not write the document for every message. */
enum { STATE_BYTES_MAX = 64 << 20, STATE_PAUSE_MS = 100, STATE_WAIT_MS = 500, ROUNDS_MAX = 4 };

/* A document cleared by another program is at most this long; one in use is longer. */
enum { CLEARED_BYTES_MAX = 128 };

/* Only for a writable store. */
static struct rg_shared *shared_of(struct rg_engine *engine)
{
	struct rg_shared *shared = rg_store_head(engine->store).shared;

	rg_assert(shared != NULL);
	return shared;
}

/* A temporary error, which may be gone next time? */
static bool is_passing(int error)
{
	return error && error != EACCES && error != EPERM && error != EISDIR && error != ELOOP;
}

static void note_rebuilt(struct rg_store *store, const char *why)
{
	struct rg_shared *shared = rg_store_head(store).shared;

	/* A document that was never written is not missing. */
	if (shared && atomic_load(&shared->state_written) && !store->trouble[0])
		snprintf(store->trouble, sizeof store->trouble,
			 "%s %s: it is rebuilt, and no new session begins; `roger session new` "
			 "opens one",
			 store->state, why);
}

/* Load the document; an empty one if it is missing or damaged, and *ret_lost says which. */
static int load_quietly(struct rg_store *store, struct rg_sequence **ret_sequence,
			const char **ret_lost, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_err why = { 0 };
	struct roger_str text = { NULL, 0 };
	int r;

	*ret_lost = NULL;
	r = arena ? store->ops->get(store, RG_DOCUMENT_STATE, RG_STR(""), arena, &text, &why)
		  : rg_fail_memory(&why);
	if (r == ROGER_OK && text.data)
		r = rg_sequence_read(text, ret_sequence, &why);
	rg_arena_free(arena);
	/* Unreadable now is not missing: numbers would be given twice. */
	if (r == ROGER_ENOMEM || (r < 0 && is_passing(why.system_errno))) {
		if (err)
			*err = why;
		return r;
	}
	if (r == ROGER_OK && text.data)
		return ROGER_OK;
	*ret_lost = text.data ? "is damaged" : "is missing";
	return rg_sequence_new(ret_sequence, err);
}

static int load(struct rg_store *store, struct rg_sequence **ret_sequence, struct roger_err *err)
{
	const char *lost;
	int r = load_quietly(store, ret_sequence, &lost, err);

	if (r == ROGER_OK && lost)
		note_rebuilt(store, lost);
	return r;
}

bool rg_engine_prepared(struct rg_engine *engine)
{
	const struct rg_head head = rg_store_head(engine->store);

	return !head.shared || atomic_load(&head.shared->prepared);
}

void rg_engine_recall(struct rg_store *store, struct rg_figure *ret_witness)
{
	struct rg_sequence *sequence;
	const char *lost;

	/* The control file is just being opened and says nothing yet. */
	if (load_quietly(store, &sequence, &lost, NULL) < 0)
		return;
	*ret_witness = (struct rg_figure){ .count = sequence->journal_bytes,
					   .chain = sequence->journal_chain,
					   .chained = sequence->journal_bytes != 0 };
	rg_sequence_free(sequence);
}

static void raise(struct rg_store *store, struct roger_str agent, int64_t epoch, int64_t seq)
{
	const struct roger_message last = { .from = agent, .epoch = epoch, .seq = seq };

	if (seq > 0)
		rg_tally_number(store, &last);
}

/* Numbers of lost lines stay used: the document has them. */
static void raise_numbers(struct rg_store *store, const struct rg_sequence *sequence)
{
	size_t i;

	for (i = 0; i < sequence->counter_count; i++)
		raise(store, sequence->counters[i].agent, sequence->epoch,
		      sequence->counters[i].seq);
	for (i = 0; i < sequence->seen_count; i++)
		raise(store, sequence->seen[i].sender, sequence->epoch, sequence->seen[i].seq);
}

/* Under the append lock; a journal closed by damage is left as it is. */
static int take_over(struct rg_engine *engine, const struct rg_sequence *sequence,
		     struct roger_err *err)
{
	size_t names = sequence->counter_count + sequence->seen_count;
	struct rg_store *store = engine->store;
	bool damaged = rg_engine_count_damages(engine);
	int r;

	r = rg_store_begin(store, damaged ? names : 0, 0, err);
	if (r < 0)
		return r;
	/* Count again: the control file may just have been replaced. */
	damaged |= rg_engine_count_damages(engine);
	if (sequence->epoch > rg_tally_epoch(store))
		rg_tally_set_epoch(store, sequence->epoch);
	if (damaged)
		raise_numbers(store, sequence);
	atomic_store(&shared_of(engine)->prepared, 1);
	rg_store_release(store, RG_LOCK_APPEND);
	return ROGER_OK;
}

/* The epoch of a session that nobody has sent in is only in the document. */
int rg_engine_prepare_epoch(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_sequence *sequence = NULL;
	struct roger_err refused = { 0 };
	int r;

	if (rg_engine_prepared(engine))
		return ROGER_OK;
	r = load(engine->store, &sequence, err);
	if (r < 0)
		return r;
	r = take_over(engine, sequence, &refused);
	/* The damage is examined and recorded now; it may be accepted already. */
	if (r == ROGER_EDATA) {
		rg_engine_examine_damage(engine);
		r = take_over(engine, sequence, &refused);
	}
	if (r == ROGER_EDATA) {
		/* What nobody could look at may turn out to be accepted: then numbers are still to
		 * be raised. */
		if (atomic_load(&shared_of(engine)->broken) == RG_BROKEN_CLOSED)
			atomic_store(&shared_of(engine)->prepared, 1);
		r = ROGER_OK;
	} else if (r == ROGER_EIO && refused.system_errno) {
		/* A disk that cannot be written can still be read. */
		r = ROGER_OK;
	}
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

/* Counters from the figures, which are exact. */
static int add_counters(struct rg_engine *engine, struct rg_sequence *sequence,
			struct roger_err *err)
{
	struct rg_named_figure agent;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK && engine->store->ops->next_figure(engine->store, &i, &agent))
		if (agent.figure.epoch == sequence->epoch && agent.figure.seq > 0)
			r = rg_sequence_count(sequence,
					      (struct roger_str){ agent.name, agent.length },
					      agent.figure.seq, err);
	return r;
}

/* What the journal says, according to the index. */
static int compose_from_index(struct rg_engine *engine, int64_t epoch,
			      struct rg_sequence **ret_sequence, struct roger_err *err)
{
	struct rg_index_reach reach;
	int r;

	r = rg_engine_find_reach(engine, &reach, err);
	if (r == ROGER_OK)
		r = rg_sequence_new(ret_sequence, err);
	if (r < 0)
		return r;
	(*ret_sequence)->epoch = epoch;
	r = rg_index_sequence(engine->index, reach, epoch, *ret_sequence, err);
	if (r < 0)
		*ret_sequence = rg_sequence_free(*ret_sequence);
	return r;
}

static int put(struct rg_engine *engine, struct rg_sequence *sequence, bool durable,
	       struct roger_err *err)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_ON_DISK };
	struct rg_store *store = engine->store;
	struct rg_figure witness;
	struct rg_buf text;
	int r;

	/* While others append, the earlier witness still holds. */
	if (store->ops->figure(store, &key, &witness) && witness.chained) {
		sequence->journal_bytes = witness.count;
		sequence->journal_chain = witness.chain;
	}
	rg_buf_init(&text, STATE_BYTES_MAX);
	rg_sequence_print(sequence, &text);
	r = text.failed ? rg_fail_memory(err)
			: store->ops->put(store, RG_DOCUMENT_STATE, RG_STR(""), NULL,
					  rg_buf_str(&text), durable, err);
	rg_buf_deinit(&text);
	return r;
}

static int open_session(struct rg_engine *engine, struct roger_err *err);

/* Is there no number in this session yet?  Then there is nothing to clear. */
static bool is_unused(struct rg_engine *engine)
{
	const int64_t epoch = rg_tally_epoch(engine->store);
	struct rg_named_figure agent;
	size_t i = 0;

	while (engine->store->ops->next_figure(engine->store, &i, &agent))
		if (agent.figure.epoch == epoch && agent.figure.seq > 0)
			return false;
	return true;
}

/* Load the document, unless it is too long to have been cleared and not needed for anything else
 * (*ret_there is NULL).  With the state lock, starts a new session if it was cleared. */
static int look_for_clearing(struct rg_engine *engine, bool needed, bool *ret_cleared,
			     struct rg_sequence **ret_there, struct roger_err *err)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_STATE };
	struct rg_store *store = engine->store;
	struct rg_figure bytes;
	int r;

	*ret_cleared = false;
	*ret_there = NULL;
	if (!needed && store->ops->figure(store, &key, &bytes) && bytes.count >= CLEARED_BYTES_MAX)
		return ROGER_OK;
	r = load(store, ret_there, err);
	if (r < 0)
		return r;
	*ret_cleared = (*ret_there)->cleared;
	if (!*ret_cleared || !rg_store_holds(store, RG_LOCK_STATE))
		return ROGER_OK;
	(*ret_there)->epoch = rg_tally_epoch(store);
	r = is_unused(engine) ? put(engine, *ret_there, false, err) : open_session(engine, err);
	if (r < 0)
		*ret_there = rg_sequence_free(*ret_there);
	return r;
}

/* A process that does not get the lock leaves it to the next one. */
int rg_engine_follow_clearing(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_sequence *there = NULL;
	bool cleared = false;
	int r = ROGER_OK;

	if (rg_store_writable(engine->store))
		r = look_for_clearing(engine, false, &cleared, &there, err);
	rg_sequence_free(there);
	if (r < 0 || !cleared ||
	    rg_store_take(engine->store, RG_LOCK_STATE, STATE_WAIT_MS, NULL) < 0)
		return r;
	r = look_for_clearing(engine, false, &cleared, &there, err);
	rg_sequence_free(there);
	rg_store_release(engine->store, RG_LOCK_STATE);
	return r;
}

/* Write the document once, under the state lock; *ret_whole: including the accepted numbers. */
static int save_once(struct rg_engine *engine, bool whole, struct roger_err *err)
{
	struct rg_shared *shared = shared_of(engine);
	uint64_t wanted = atomic_load(&shared->state_wanted),
		 seen = atomic_load(&shared->seen_wanted);
	int64_t epoch = rg_tally_epoch(engine->store);
	struct rg_sequence *sequence = NULL;
	bool cleared;
	int r;

	r = look_for_clearing(engine, !whole, &cleared, &sequence, err);
	if (r < 0 || cleared || whole)
		sequence = rg_sequence_free(sequence);
	if (r < 0 || cleared)
		return r;
	if (whole)
		r = compose_from_index(engine, epoch, &sequence, err);
	else if (sequence->epoch != epoch)
		rg_sequence_renew(sequence);
	if (r < 0)
		return r;
	sequence->epoch = epoch;
	r = add_counters(engine, sequence, err);
	/* Until somebody sends, only this document has the new epoch: it must be durable. */
	if (r == ROGER_OK)
		r = put(engine, sequence, epoch > 1 && sequence->counter_count == 0, err);
	rg_sequence_free(sequence);
	if (r < 0)
		return r;
	shared = shared_of(engine);
	atomic_store(&shared->state_written, wanted);
	if (whole)
		atomic_store(&shared->seen_written, seen);
	return ROGER_OK;
}

/* Nobody waits in the middle of mail: who has the lock writes for all. */
static bool take_state_lock(struct rg_engine *engine, bool wait)
{
	return rg_store_take(engine->store, RG_LOCK_STATE, wait ? STATE_WAIT_MS : 0, NULL) ==
	       ROGER_OK;
}

/* The document can be rebuilt, so a failed write fails nobody; the next writer repeats it. */
void rg_engine_save_state(struct rg_engine *engine, bool closing)
{
	struct rg_shared *shared = rg_store_head(engine->store).shared;
	int64_t now = rg_clock_monotonic_ns();
	bool whole;
	int rounds;

	/* Unless a person accepted the loss of lines, the document is evidence: leave it. */
	if (!shared || !engine->index || atomic_load(&shared->broken) == RG_BROKEN_CLOSED ||
	    (!closing && now - engine->state_saved_ns < (int64_t)STATE_PAUSE_MS * 1000000))
		return;
	/* Most handles write once and close: write when closing.  With many writers, one of them
	 * writes for all. */
	if (!closing && (engine->state_saved_ns == 0 ||
			 atomic_load(&shared->state_written) != engine->state_written)) {
		engine->state_written = atomic_load(&shared->state_written);
		engine->state_saved_ns = now;
		return;
	}
	/* The lock holder checks again after releasing it, so that no change is left out. */
	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		whole = rg_index_end(engine->index) > 0 &&
			atomic_load(&shared->seen_wanted) != atomic_load(&shared->seen_written);
		if (!whole &&
		    atomic_load(&shared->state_wanted) == atomic_load(&shared->state_written))
			break;
		if (!take_state_lock(engine, whole && closing))
			break;
		if (save_once(engine, whole, NULL) < 0)
			rounds = ROUNDS_MAX;
		rg_store_release(engine->store, RG_LOCK_STATE);
		shared = shared_of(engine);
	}
	engine->state_written = atomic_load(&shared_of(engine)->state_written);
	engine->state_saved_ns = now;
}

int rg_engine_stay_used(struct rg_engine *engine, struct roger_err *err)
{
	int r = rg_engine_prepare_epoch(engine, err);

	if (r < 0)
		return r;
	rg_engine_want_state(engine, false);
	rg_engine_save_state(engine, true);
	return ROGER_OK;
}

static int open_session(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_sequence *sequence;
	int64_t epoch = rg_tally_epoch(engine->store);
	int r;

	if (epoch >= RG_EPOCH_MAX)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "there can be no more sessions in this workspace");
	r = rg_sequence_new(&sequence, err);
	if (r < 0)
		return r;
	sequence->epoch = epoch + 1;
	r = put(engine, sequence, true, err);
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

int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
		      struct roger_err *err)
{
	struct rg_sequence *sequence;
	int r = ROGER_OK;

	/* Load all of it, so that status can report damage. */
	if (!fresh && load(engine->store, &sequence, NULL) == ROGER_OK)
		rg_sequence_free(sequence);
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
	if (rg_store_writable(engine->store)) {
		*ret_epoch = rg_tally_epoch(engine->store);
		return ROGER_OK;
	}
	r = load(engine->store, &sequence, err);
	if (r < 0)
		return r;
	*ret_epoch = sequence->epoch;
	rg_sequence_free(sequence);
	return ROGER_OK;
}
