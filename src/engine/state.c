/*
 * message-state.json (seed 002): the counters and what readers have seen.
 *
 * Derived from the journal but for a fresh epoch, which `session new` makes
 * durable here.  Senders bring their counters into the document without
 * asking the index; whoever has the index open writes all of it.
 */
#include "engine/inside.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "host/file.h"
#include "facts/sequence.h"

/* A handle that lives long need not write the document for every message. */
enum { STATE_BYTES_MAX = 64 << 20, STATE_PAUSE_MS = 100, STATE_WAIT_MS = 500, ROUNDS_MAX = 4 };

/* One that another program cleared is shorter; those in use are longer. */
enum { CLEARED_BYTES_MAX = 128 };

static struct rg_control_page *page_of(struct rg_engine *engine)
{
	struct rg_control *control = rg_journal_control(engine->journal);

	return control ? rg_control_page(control) : NULL;
}

/* The same where only writers come. */
static struct rg_control_page *mapped_page(struct rg_engine *engine)
{
	struct rg_control *control = rg_journal_control(engine->journal);

	rg_assert(control != NULL);
	return rg_control_page(control);
}

/* Does the system say so now, and perhaps not the next time? */
static bool is_passing(int error)
{
	return error && error != EACCES && error != EPERM && error != EISDIR && error != ELOOP;
}

static void tell_rebuilt(struct rg_engine *engine, const char *why)
{
	struct rg_control_page *page = engine->journal ? page_of(engine) : NULL;

	/* Of one that was never there nothing is missing. */
	if (page && atomic_load(&page->state_written) && !engine->trouble[0])
		snprintf(engine->trouble, sizeof engine->trouble,
			 RG_STATE_NAME " %s: it is rebuilt, and no new session begins; `roger "
				       "session new` opens one",
			 why);
}

/* The document as it stands; an empty one when it is missing or damaged. */
static int load(struct rg_engine *engine, struct rg_sequence **ret_sequence, struct roger_err *err)
{
	struct roger_err why = { 0 };
	struct rg_buf text;
	bool found;
	int r;

	rg_buf_init(&text, STATE_BYTES_MAX + 8192);
	r = rg_file_read_all_at(engine->workspace->data, RG_STATE_NAME, STATE_BYTES_MAX, &text,
				&found, &why);
	if (r == ROGER_OK && found)
		r = rg_sequence_read(rg_buf_str(&text), ret_sequence, &why);
	/* What cannot be read now is not missing: numbers would be given again. */
	if (r == ROGER_ENOMEM || (r < 0 && is_passing(why.system_errno))) {
		rg_buf_deinit(&text);
		if (err)
			*err = why;
		return r;
	}
	if (r < 0 || !found) {
		tell_rebuilt(engine, found ? "is damaged" : "is missing");
		r = rg_sequence_new(ret_sequence, err);
	}
	rg_buf_deinit(&text);
	return r;
}

bool rg_engine_prepared(struct rg_engine *engine)
{
	struct rg_control_page *page = page_of(engine);

	return !page || atomic_load(&page->prepared);
}

void rg_engine_recall(void *context, struct rg_witness *ret_witness)
{
	struct rg_sequence *sequence;

	if (load(context, &sequence, NULL) < 0)
		return;
	*ret_witness = (struct rg_witness){ sequence->journal_bytes, sequence->journal_chain,
					    sequence->journal_bytes != 0 };
	rg_sequence_free(sequence);
}

static void raise(struct rg_control *control, struct roger_str agent, int64_t epoch, int64_t seq)
{
	const struct roger_message last = { .from_phase = agent, .epoch = epoch, .seq = seq };

	if (seq > 0)
		rg_tally_number(control, &last);
}

/* Numbers of lines that are gone stay used: the document has what was counted and seen. */
static void raise_numbers(struct rg_control *control, const struct rg_sequence *sequence)
{
	size_t i;

	for (i = 0; i < sequence->counter_count; i++)
		raise(control, sequence->counters[i].agent, sequence->epoch,
		      sequence->counters[i].seq);
	for (i = 0; i < sequence->seen_count; i++)
		raise(control, sequence->seen[i].sender, sequence->epoch, sequence->seen[i].seq);
}

/* With the append lock; a journal that nothing may be added to is left as it is. */
static int take_over(struct rg_engine *engine, const struct rg_sequence *sequence,
		     struct roger_err *err)
{
	size_t names = sequence->counter_count + sequence->seen_count;
	struct rg_control *control;
	bool damaged = rg_engine_count_damages(engine);
	int r;

	r = rg_journal_lock(engine->journal, damaged ? names : 0, 0, err);
	if (r < 0)
		return r;
	/* Into the one that is prepared: it may have taken the place of the other right now. */
	damaged |= rg_engine_count_damages(engine);
	control = rg_journal_control(engine->journal);
	if (sequence->epoch > rg_control_epoch(control))
		rg_control_set_epoch(control, sequence->epoch);
	if (damaged)
		raise_numbers(control, sequence);
	atomic_store(&rg_control_page(control)->prepared, 1);
	rg_journal_unlock(engine->journal);
	return ROGER_OK;
}

/* The epoch of a session that nobody has used yet stands only in the document. */
int rg_engine_prepare_epoch(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_sequence *sequence = NULL;
	struct roger_err refused = { 0 };
	int r;

	if (rg_engine_prepared(engine))
		return ROGER_OK;
	r = load(engine, &sequence, err);
	if (r < 0)
		return r;
	r = take_over(engine, sequence, &refused);
	/* What it was refused for is looked at once, noted, and may be accepted already. */
	if (r == ROGER_EDATA) {
		rg_engine_look_at_damage(engine);
		r = take_over(engine, sequence, &refused);
	}
	if (r == ROGER_EDATA) {
		atomic_store(&page_of(engine)->prepared, 1);
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
	struct rg_control_page *page = mapped_page(engine);

	atomic_fetch_add(&page->state_wanted, 1);
	if (seen)
		atomic_fetch_add(&page->seen_wanted, 1);
}

/* Counters from the tally, which has them exact. */
static int add_counters(struct rg_engine *engine, struct rg_sequence *sequence,
			struct roger_err *err)
{
	struct rg_control *control = rg_journal_control(engine->journal);
	struct rg_named_agent agent;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK && rg_control_next_agent(control, &i, &agent))
		if (agent.agent.epoch == sequence->epoch && agent.agent.seq > 0)
			r = rg_sequence_count(sequence,
					      (struct roger_str){ agent.name, agent.length },
					      agent.agent.seq, err);
	return r;
}

/* What the document holds, for another epoch nothing. */
static int compose_from_document(struct rg_engine *engine, int64_t epoch,
				 struct rg_sequence **ret_sequence, struct roger_err *err)
{
	int r = load(engine, ret_sequence, err);

	if (r == ROGER_OK && (*ret_sequence)->epoch != epoch) {
		rg_sequence_renew(*ret_sequence);
		(*ret_sequence)->epoch = epoch;
	}
	return r;
}

/* What the journal says, by the index. */
static int compose_from_index(struct rg_engine *engine, int64_t epoch,
			      struct rg_sequence **ret_sequence, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_sequence_new(ret_sequence, err);
	if (r < 0)
		return r;
	(*ret_sequence)->epoch = epoch;
	r = rg_index_sequence(engine->index, epoch, *ret_sequence, err);
	if (r < 0)
		*ret_sequence = rg_sequence_free(*ret_sequence);
	return r;
}

static int put(struct rg_engine *engine, struct rg_sequence *sequence, bool durable,
	       struct roger_err *err)
{
	struct rg_witness witness = rg_control_testify(rg_journal_control(engine->journal));
	struct rg_buf text;
	int r;

	/* As long as others are at it, what was known before holds as well. */
	if (witness.chained) {
		sequence->journal_bytes = witness.end;
		sequence->journal_chain = witness.chain;
	}
	rg_buf_init(&text, STATE_BYTES_MAX);
	rg_sequence_print(sequence, &text);
	r = text.failed ? rg_fail_memory(err)
			: rg_file_replace(engine->workspace->data, RG_STATE_NAME, rg_buf_str(&text),
					  durable, err);
	rg_buf_deinit(&text);
	return r;
}

static int open_session(struct rg_engine *engine, struct roger_err *err);

/* Has nobody a number in this session yet?  Then it needs no clearing. */
static bool is_unused(struct rg_engine *engine)
{
	struct rg_control *control = rg_journal_control(engine->journal);
	int64_t epoch = rg_control_epoch(control);
	struct rg_named_agent agent;
	size_t i = 0;

	while (rg_control_next_agent(control, &i, &agent))
		if (agent.agent.epoch == epoch && agent.agent.seq > 0)
			return false;
	return true;
}

/* Only a short document is read.  With the state lock a new session begins, if need be. */
static int look_for_clearing(struct rg_engine *engine, bool *ret_cleared, struct roger_err *err)
{
	struct rg_file_facts facts = { 0 };
	struct rg_sequence *sequence;
	bool there;
	int r;

	*ret_cleared = false;
	if (rg_file_look(engine->workspace->data, RG_STATE_NAME, &there, &facts, NULL) < 0 ||
	    facts.size >= CLEARED_BYTES_MAX)
		return ROGER_OK;
	r = load(engine, &sequence, err);
	if (r < 0)
		return r;
	*ret_cleared = sequence->cleared;
	sequence->epoch = rg_control_epoch(rg_journal_control(engine->journal));
	if (!*ret_cleared || !rg_journal_holds(engine->journal, RG_LOCK_STATE))
		r = ROGER_OK;
	else
		r = is_unused(engine) ? put(engine, sequence, false, err)
				      : open_session(engine, err);
	rg_sequence_free(sequence);
	return r;
}

/* Who cannot have the lock leaves it to the next one. */
int rg_engine_follow_clearing(struct rg_engine *engine, struct roger_err *err)
{
	bool cleared = false;
	int r = ROGER_OK;

	if (page_of(engine) && rg_journal_writable(engine->journal))
		r = look_for_clearing(engine, &cleared, err);
	if (r < 0 || !cleared ||
	    rg_journal_take(engine->journal, RG_LOCK_STATE, STATE_WAIT_MS, NULL) < 0)
		return r;
	r = look_for_clearing(engine, &cleared, err);
	rg_journal_release(engine->journal, RG_LOCK_STATE);
	return r;
}

/* One writing of the document, with the state lock held; *ret_whole: with all that was seen. */
static int save_once(struct rg_engine *engine, bool whole, struct roger_err *err)
{
	struct rg_control_page *page = mapped_page(engine);
	uint64_t wanted = atomic_load(&page->state_wanted), seen = atomic_load(&page->seen_wanted);
	int64_t epoch = rg_control_epoch(rg_journal_control(engine->journal));
	struct rg_sequence *sequence = NULL;
	bool cleared;
	int r;

	r = look_for_clearing(engine, &cleared, err);
	if (r < 0 || cleared)
		return r;
	r = whole ? compose_from_index(engine, epoch, &sequence, err)
		  : compose_from_document(engine, epoch, &sequence, err);
	if (r < 0)
		return r;
	r = add_counters(engine, sequence, err);
	/* As long as nobody sent in it, only this document says which epoch it is: then it must
	 * last. */
	if (r == ROGER_OK)
		r = put(engine, sequence, epoch > 1 && sequence->counter_count == 0, err);
	rg_sequence_free(sequence);
	if (r < 0)
		return r;
	page = mapped_page(engine);
	atomic_store(&page->state_written, wanted);
	if (whole)
		atomic_store(&page->seen_written, seen);
	return ROGER_OK;
}

static bool take_state_lock(struct rg_engine *engine, bool whole)
{
	if (whole)
		return rg_journal_take(engine->journal, RG_LOCK_STATE, STATE_WAIT_MS, NULL) ==
		       ROGER_OK;
	return rg_journal_try(engine->journal, RG_LOCK_STATE);
}

/* What it holds is derived, so a document that cannot be written fails nobody; the next one writes
 * it. */
void rg_engine_save_state(struct rg_engine *engine, bool closing)
{
	struct rg_control_page *page = page_of(engine);
	int64_t now = rg_clock_monotonic_ns();
	bool whole;
	int rounds;

	/* As long as nobody has accepted that lines are gone, it tells of them. */
	if (!page || !engine->index || atomic_load(&page->broken) == RG_BROKEN_CLOSED ||
	    (!closing && now - engine->state_saved_ns < (int64_t)STATE_PAUSE_MS * 1000000))
		return;
	/* Most handles write once and close: leave it to the closing.  Where many write, one of
	 * them brings the document up to date for all. */
	if (!closing && (engine->state_saved_ns == 0 ||
			 atomic_load(&page->state_written) != engine->state_written)) {
		engine->state_written = atomic_load(&page->state_written);
		engine->state_saved_ns = now;
		return;
	}
	/* Who holds the lock looks again after releasing it, so nothing is left behind. */
	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		whole = rg_index_end(engine->index) > 0 &&
			atomic_load(&page->seen_wanted) != atomic_load(&page->seen_written);
		if (!whole && atomic_load(&page->state_wanted) == atomic_load(&page->state_written))
			break;
		if (!take_state_lock(engine, whole))
			break;
		if (save_once(engine, whole, NULL) < 0)
			rounds = ROUNDS_MAX;
		rg_journal_release(engine->journal, RG_LOCK_STATE);
		page = page_of(engine);
	}
	engine->state_written = atomic_load(&page->state_written);
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
	int64_t epoch = rg_control_epoch(rg_journal_control(engine->journal));
	struct rg_control *control;
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
	r = rg_journal_lock(engine->journal, 0, 0, err);
	if (r < 0)
		return r;
	control = rg_journal_control(engine->journal);
	if (rg_control_epoch(control) < epoch + 1)
		rg_control_set_epoch(control, epoch + 1);
	rg_journal_unlock(engine->journal);
	return ROGER_OK;
}

int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
		      struct roger_err *err)
{
	struct rg_sequence *sequence;
	int r = ROGER_OK;

	/* Looked at as a whole: status is to say it where it is damaged. */
	if (!fresh && load(engine, &sequence, NULL) == ROGER_OK)
		rg_sequence_free(sequence);
	if (fresh) {
		r = rg_journal_take(engine->journal, RG_LOCK_STATE, RG_LOCK_WAIT_MS, err);
		if (r < 0)
			return r;
		r = open_session(engine, err);
		rg_journal_release(engine->journal, RG_LOCK_STATE);
		if (r < 0)
			return r;
		engine->stored++;
	}
	if (page_of(engine)) {
		*ret_epoch = rg_control_epoch(rg_journal_control(engine->journal));
		return ROGER_OK;
	}
	r = load(engine, &sequence, err);
	if (r < 0)
		return r;
	*ret_epoch = sequence->epoch;
	rg_sequence_free(sequence);
	return ROGER_OK;
}
