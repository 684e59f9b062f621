/* The engine's handle: questions to the index and the figures, maintenance, opening and closing. */
#include "engine/inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "facts/sequence.h"

enum { LOOK_MS = 200, REST_MS = 1000, MANY_MESSAGES = 3000 };

uint64_t rg_engine_stored(const struct rg_engine *engine)
{
	return engine->stored;
}

uint64_t rg_engine_noted(const struct rg_engine *engine)
{
	return engine->noted;
}

/* ------------------------------------------------------------- reading -- */

int rg_engine_settle(struct rg_engine *engine, uint64_t *ret_end, struct roger_err *err)
{
	int r = engine->store->ops->settle(engine->store, ret_end, err);

	if (r == ROGER_OK)
		rg_engine_examine_damage(engine);
	return r;
}

/* An exclusive transaction also sees unsynced lines: it syncs them before it answers. */
static int readable_end(struct rg_engine *engine, uint64_t *ret_end, struct roger_err *err)
{
	struct rg_head head;
	int r;

	if (!engine->exclusive)
		return rg_engine_settle(engine, ret_end, err);
	/* What was appended before this transaction got the change lock is enough. */
	r = rg_store_begin(engine->store, 0, 0, err);
	if (r < 0)
		return r;
	head = rg_store_head(engine->store);
	rg_store_release(engine->store, RG_LOCK_APPEND);
	*ret_end = head.end;
	if (!engine->has_looked)
		engine->adoptions = head.adoptions;
	engine->has_looked = true;
	rg_engine_examine_damage(engine);
	return ROGER_OK;
}

/* Find how far an answer must reach now. */
static int find_reach(struct rg_engine *engine, struct rg_index_reach *ret_reach,
		      struct roger_err *err)
{
	int r;

	ret_reach->held = engine->exclusive;
	r = rg_engine_prepare_epoch(engine, false, err);
	return r < 0 ? r : readable_end(engine, &ret_reach->end, err);
}

int rg_engine_refresh(struct rg_engine *engine, struct roger_err *err)
{
	struct rg_index_reach reach;
	int r;

	r = find_reach(engine, &reach, err);
	return r < 0 ? r : rg_index_refresh(engine->index, reach.end, err);
}

int rg_engine_find(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		   struct roger_message_list *ret_messages, struct roger_err *err)
{
	return rg_engine_find_page(engine, query, arena, ret_messages, NULL, err);
}

int rg_engine_find_ids(struct rg_engine *engine, const struct roger_str *ids, size_t count,
		       struct rg_arena *arena, struct roger_message_list *ret_messages,
		       struct roger_err *err)
{
	const struct rg_query query = { .ids = ids, .id_count = count, .anywhere = true };

	return rg_engine_find(engine, &query, arena, ret_messages, err);
}

/* Correct an unread figure that differs from the index, unless something was appended since the
 * index was asked. */
static void correct_unread(struct rg_engine *engine, struct roger_str agent, int64_t unread)
{
	struct rg_store *store = engine->store;
	struct rg_figure there;

	if (!rg_tally_find_agent(store, agent, &there) || (int64_t)there.count == unread ||
	    !rg_store_begin_soon(store, 0))
		return;
	if (rg_tally_find_agent(store, agent, &there) &&
	    rg_store_head(store).end == rg_index_seen(engine->index)) {
		there.count = (uint64_t)unread;
		rg_tally_put_agent(store, agent, &there);
	}
	rg_store_release(store, RG_LOCK_APPEND);
}

int rg_engine_find_page(struct rg_engine *engine, const struct rg_query *query,
			struct rg_arena *arena, struct roger_message_list *ret_messages,
			int64_t *ret_total, struct roger_err *err)
{
	/* A page tells how many there are, leased or not. */
	const struct rg_query counted = ret_messages ? rg_query_held_too(query) : *query;
	struct rg_index_reach reach;
	int r;

	if (query->gets)
		return rg_engine_find_got(engine, query, arena, ret_messages, ret_total, err);
	r = find_reach(engine, &reach, err);
	if (r == ROGER_OK)
		r = rg_index_answer(engine->index, reach, query, arena, ret_messages, ret_total,
				    err);
	if (r == ROGER_OK && ret_total && rg_query_is_unread_only(&counted))
		correct_unread(engine, query->to, *ret_total);
	return r;
}

int rg_engine_count(struct rg_engine *engine, const struct rg_query *query, int64_t *ret_count,
		    struct roger_err *err)
{
	return rg_engine_find_page(engine, query, NULL, NULL, ret_count, err);
}

static bool has_unread(struct rg_engine *engine, struct roger_str agent)
{
	struct rg_figure there;

	return rg_tally_find_agent(engine->store, agent, &there) && there.count > 0;
}

/* Raise unread figures that are too low: an altered line no longer marks its message as read. Where
 * nothing may be written, they stay.  *ret_may: one of the boxes has got mail. */
static int raise_unread(struct rg_engine *engine, const struct roger_strs *boxes,
			struct rg_arena *arena, bool *ret_may, struct roger_err *err)
{
	struct roger_agent_list agents = { 0 };
	struct rg_figure there;
	size_t i;
	int r = rg_engine_refresh(engine, err);

	if (r == ROGER_OK)
		r = rg_index_agents(engine->index, rg_tally_epoch(engine->store), RG_STR(""), 0,
				    arena, &agents, err);
	for (i = 0; i < agents.count; i++) {
		if (!rg_tally_find_agent(engine->store, agents.items[i].name, &there) ||
		    (int64_t)there.count >= agents.items[i].unread)
			continue;
		correct_unread(engine, agents.items[i].name, agents.items[i].unread);
		*ret_may |= rg_str_among(*boxes, agents.items[i].name);
	}
	return r;
}

/* Look for mail in all boxes of the agent, also those that it took over. */
static int may_have_got(struct rg_engine *engine, struct roger_str agent, bool *ret_may,
			struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct rg_shared *shared;
	struct roger_strs boxes = { 0 };
	size_t i;
	int r = arena ? rg_engine_boxes(engine, agent, arena, &boxes, err) : rg_fail_memory(err);

	/* The control file may have been replaced meanwhile. */
	shared = rg_store_shared(engine->store);
	if (r == ROGER_OK && shared && atomic_load(&shared->damages))
		r = raise_unread(engine, &boxes, arena, ret_may, err);
	for (i = 0; r == ROGER_OK && i < boxes.count && !*ret_may; i++)
		*ret_may = has_unread(engine, boxes.items[i]);
	return r;
}

int rg_engine_may_have_mail(struct rg_engine *engine, struct roger_str agent, bool *ret_may,
			    struct roger_err *err)
{
	struct rg_head head = rg_store_head(engine->store);
	uint64_t end;
	int r;

	/* If the figure is above 0 there may be mail: no need to settle. */
	*ret_may = head.shared && has_unread(engine, agent);
	if (*ret_may)
		return ROGER_OK;
	r = rg_engine_settle(engine, &end, err);
	if (r < 0)
		return r;
	head = rg_store_head(engine->store);
	/* If the figures are not complete, the index must answer. */
	*ret_may = !head.shared || head.end < end || has_unread(engine, agent);
	return *ret_may ? ROGER_OK : may_have_got(engine, agent, ret_may, err);
}

bool rg_engine_may_hold(struct rg_engine *engine, struct roger_str issue, struct roger_str to,
			int64_t count)
{
	rg_assert(issue.length > 0);
	return !rg_store_writable(engine->store) ||
	       (int64_t)rg_tally_count(engine->store, rg_tally_box(issue, to)) >= count;
}

bool rg_engine_may_know_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key)
{
	const struct rg_head head = rg_store_head(engine->store);

	/* logged 0: nobody has counted the keys in the logs since the machine started. */
	return !head.shared || (head.logged == 0 && head.end > 0) ||
	       atomic_load(&head.shared->damaged) ||
	       rg_tally_count(engine->store, rg_count_hash(RG_COUNT_KEY, sender, key)) > 0;
}

int rg_engine_note_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key,
		       struct roger_err *err)
{
	uint64_t hash = rg_count_hash(RG_COUNT_KEY, sender, key);
	int r;

	r = rg_store_begin(engine->store, 0, 1, err);
	if (r < 0)
		return r;
	rg_tally_put_count(engine->store, hash, rg_tally_count(engine->store, hash) + 1);
	rg_store_release(engine->store, RG_LOCK_APPEND);
	return ROGER_OK;
}

/* Called in a transaction, so that the epoch is that of its messages. */
int rg_engine_accepted_number(struct rg_engine *engine, struct roger_str reader,
			      struct roger_str sender, int64_t *ret_number, struct roger_err *err)
{
	int64_t accepted = 0, first = 0;
	int r;

	rg_assert(engine->exclusive);
	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_accepted_number(engine->index, reader, sender,
					     rg_tally_epoch(engine->store), &accepted, err);
	if (r == ROGER_OK)
		r = rg_engine_first_seen(engine, reader, sender, &first, err);
	if (r == ROGER_OK)
		*ret_number = accepted > first ? accepted : first;
	return r;
}

int rg_engine_bridge_begin(struct rg_engine *engine, struct roger_err *err)
{
	/* This handle may have the lock already, which rebuilt figures do not know. */
	if (rg_store_holds(engine->store, RG_LOCK_BRIDGE))
		return ROGER_OK;
	return rg_store_take(engine->store, RG_LOCK_BRIDGE, RG_LOCK_WAIT_MS, err);
}

void rg_engine_bridge_end(struct rg_engine *engine)
{
	rg_store_release(engine->store, RG_LOCK_BRIDGE);
}

uint32_t rg_engine_wake_count(struct rg_engine *engine)
{
	return rg_store_head(engine->store).wake;
}

/* Update messages.db, which other programs read, unless the journal is in doubt or in a database. A
 * handle that changed many messages updates the tables, too, so that the next reader need not. */
static bool serve_others(struct rg_engine *engine, bool changed)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	const struct rg_head head = rg_store_head(engine->store);
	struct rg_log_files told = { 0 };
	bool many = engine->changed > MANY_MESSAGES;

	if (!engine->index || !head.shared || engine->store->elsewhere ||
	    atomic_load(&head.shared->broken) != RG_BROKEN_NOT ||
	    (head.end != head.synced && !engine->left))
		return false;
	if (many) {
		arena = rg_arena_new();
		many = arena &&
		       rg_engine_list_told(engine, RG_LOG_MESSAGES, arena, &told, NULL) == ROGER_OK;
	}
	if (!rg_index_serve(engine->index, head.synced, changed, many ? &told : NULL))
		return false;
	if (many)
		engine->changed = 1;
	return true;
}

void rg_engine_rest(struct rg_engine *engine)
{
	const uint64_t end = rg_store_head(engine->store).end;
	const int64_t now_ns = rg_clock_monotonic_ns();

	if (engine->exclusive || engine->rested_end == end ||
	    now_ns - engine->rested_ns < (int64_t)REST_MS * 1000000)
		return;
	engine->rested_ns = now_ns;
	if (serve_others(engine, true))
		engine->rested_end = end;
}

/* Sleep LOOK_MS at most, since other programs append without waking anybody. */
void rg_engine_sleep(struct rg_engine *engine, uint32_t seen, int64_t wait_ms)
{
	const struct rg_store *store = engine->store;
	const bool called = store->names && store->elsewhere;

	store->ops->wait(engine->store, seen, called || wait_ms < LOOK_MS ? wait_ms : LOOK_MS);
	if (wait_ms >= LOOK_MS && rg_engine_wake_count(engine) == seen)
		rg_engine_rest(engine);
}

bool rg_agent_page_has(const struct rg_agent_page *page, struct roger_str name)
{
	return !page || (rg_str_order(name, page->after) > 0 &&
			 (!page->last.length || rg_str_order(name, page->last) <= 0));
}

int rg_engine_agents(struct rg_engine *engine, struct rg_agent_page *page, struct rg_arena *arena,
		     struct roger_agent_list *ret_agents, struct roger_err *err)
{
	const int64_t wanted = page && page->limit ? page->limit + 1 : 0;
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_agents(engine->index, rg_tally_epoch(engine->store),
				    page ? page->after : RG_STR(""), wanted, arena, ret_agents,
				    err);
	if (r == ROGER_OK && wanted && (int64_t)ret_agents->count == wanted)
		page->last = ret_agents->items[page->limit].name;
	return r < 0 ? r : rg_engine_hand_over(engine, page, arena, ret_agents, err);
}

/* The names come from the figures, without the index. */
int rg_engine_names(struct rg_engine *engine, struct rg_arena *arena, struct roger_strs *ret_names,
		    struct roger_err *err)
{
	struct rg_named_figure agent;
	size_t i = 0;

	*ret_names = (struct roger_strs){ 0 };
	while (engine->store->ops->next_figure(engine->store, &i, &agent))
		if (!rg_arena_add(arena, ret_names, (struct roger_str){ agent.name, agent.length }))
			return rg_fail_memory(err);
	return ROGER_OK;
}

bool rg_engine_knows(struct rg_engine *engine, struct roger_str name)
{
	const struct rg_query queries[] = { { .to = name }, { .from = name } };
	int64_t count = 0;
	size_t i;

	if (rg_tally_knows_agent(engine->store, name))
		return true;
	/* A process that may not write has perhaps no tally: ask the index. */
	for (i = 0; i < 2 && !count && !rg_store_writable(engine->store); i++)
		(void)!rg_engine_count(engine, &queries[i], &count, NULL);
	return count > 0;
}

bool rg_engine_has_sent(struct rg_engine *engine, struct roger_str name)
{
	struct rg_figure there;

	return rg_tally_find_agent(engine->store, name, &there) && there.seq > 0;
}

int rg_engine_issues(struct rg_engine *engine, int64_t unread, struct rg_arena *arena,
		     struct roger_strs *ret_issues, struct roger_err *err)
{
	int r = rg_engine_refresh(engine, err);

	return r < 0 ? r : rg_index_issues(engine->index, unread, arena, ret_issues, err);
}

int rg_engine_measure_issues(struct rg_engine *engine, struct roger_str issue, bool whole,
			     struct rg_arena *arena, struct rg_issue_list *ret_issues,
			     struct roger_err *err)
{
	int r = rg_engine_refresh(engine, err);

	return r < 0 ? r : rg_index_measure(engine->index, issue, whole, arena, ret_issues, err);
}

int rg_engine_figures(struct rg_engine *engine, struct roger_stats_reply *reply,
		      struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_figures(engine->index, reply, err);
	if (r < 0)
		return r;
	reply->journal_bytes = (int64_t)rg_index_end(engine->index);
	reply->epoch = rg_tally_epoch(engine->store);
	return ROGER_OK;
}

int rg_engine_overdue(struct rg_engine *engine, int64_t now_ms, bool untold, int64_t limit,
		      struct rg_arena *arena, struct roger_strs *ret_ids, struct roger_err *err)
{
	int r = rg_engine_refresh(engine, err);

	return r < 0 ? r
		     : rg_index_overdue(engine->index, now_ms, untold, limit, arena, ret_ids, err);
}

int rg_engine_strays(struct rg_engine *engine, int64_t *ret_strays, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_altered altered = { 0 };
	struct roger_message message;
	struct roger_str text;
	size_t i;
	int r = arena ? rg_engine_refresh(engine, err) : rg_fail_memory(err);

	if (r < 0)
		return r;
	*ret_strays = rg_index_progress(engine->index)->strays;
	/* An altered line is reported as damage, even if it no longer reads as a message. */
	if (*ret_strays)
		r = rg_engine_altered(engine, arena, &altered, err);
	/* Altered lines of messages.jsonl come first. */
	for (i = 0; i < altered.count && !altered.lines[i].file; i++)
		*ret_strays -= rg_engine_line_at(engine, altered.lines[i].start, arena, &text,
						 &message, NULL) == ROGER_EDATA;
	return r;
}

/* --------------------------------------------------------- maintenance -- */

int rg_engine_rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct rg_query all = { 0 };
	struct rg_log_files told;
	int64_t messages;
	uint64_t end;
	int r;

	r = arena ? rg_engine_list_told(engine, RG_LOG_SENDS, arena, &told, err)
		  : rg_fail_memory(err);
	if (r == ROGER_OK)
		r = rg_engine_settle(engine, &end, err);
	if (r == ROGER_OK)
		r = rg_index_rebuild(engine->index, end, &told, err);
	if (r == ROGER_OK)
		(void)rg_engine_note_altered(engine, arena);
	if (r == ROGER_OK)
		r = rg_index_count(engine->index, &all, &messages, err);
	if (r < 0)
		return r;
	ret_reply->lines = rg_index_progress(engine->index)->lines;
	ret_reply->messages = messages;
	ret_reply->strays = rg_index_progress(engine->index)->strays;
	if (rg_store_writable(engine->store))
		rg_engine_want_state(engine, true);
	rg_engine_checkpoint(engine, true);
	engine->stored++;
	return ROGER_OK;
}

/* A process makes a checkpoint after its answer; a journal in doubt gets none. */
void rg_engine_checkpoint(struct rg_engine *engine, bool now)
{
	const struct rg_head head = rg_store_head(engine->store);

	if (head.shared && atomic_load(&head.shared->broken) == RG_BROKEN_NOT &&
	    engine->store->ops->keep(engine->store, now ? RG_KEEP_NOW : RG_KEEP_IF_DUE))
		rg_index_checkpoint(engine->index);
}

const char *rg_engine_standby(const struct rg_engine *engine)
{
	return engine->store->standby;
}

bool rg_engine_is_elsewhere(const struct rg_engine *engine)
{
	return engine->store->elsewhere;
}

bool rg_engine_leads(struct rg_engine *engine)
{
	return !engine->store->elsewhere || rg_store_writable(engine->store);
}

int rg_engine_find_answer(struct rg_engine *engine, const char *key, struct rg_arena *arena,
			  struct roger_str *ret_text, struct roger_err *err)
{
	snprintf(engine->store->request, sizeof engine->store->request, "%s", key);
	return engine->store->ops->get(engine->store, RG_DOCUMENT_ANSWER, rg_str(key), arena,
				       ret_text, err);
}

int rg_engine_put_answer(struct rg_engine *engine, struct roger_str text, struct roger_err *err)
{
	char *const key = engine->store->request;
	int r = engine->store->ops->put(engine->store, RG_DOCUMENT_ANSWER, rg_str(key), NULL, text,
					true, err);

	*key = '\0';
	return r;
}

void rg_engine_asked(struct rg_engine *engine, bool asked, int64_t until_ns, bool works)
{
	engine->store->works = works;
	engine->store->until_ns = until_ns;
	engine->store->asked = asked;
	engine->store->begun = false;
}

void rg_engine_hurry(struct rg_engine *engine)
{
	engine->store->works = false;
}

void rg_engine_on_progress(struct rg_engine *engine, roger_progress *tell, void *context)
{
	rg_index_on_progress(engine->index, tell, context);
}

bool rg_engine_can_write(const struct rg_engine *engine)
{
	return rg_store_writable(engine->store);
}

const struct roger_err *rg_engine_trouble(struct rg_engine *engine)
{
	engine->told = true;
	return *engine->trouble.message		 ? &engine->trouble
	       : *engine->store->trouble.message ? &engine->store->trouble
						 : rg_index_trouble(engine->index);
}

void rg_engine_forget_trouble(struct rg_engine *engine)
{
	/* The other one is still to be told. */
	if (engine->told && *engine->trouble.message)
		*engine->trouble.message = '\0';
	else if (engine->told)
		*engine->store->trouble.message = '\0';
	engine->told = false;
}

/* -------------------------------------------------------- run documents -- */

int rg_engine_run_find(struct rg_engine *engine, struct roger_str run_id, struct rg_arena *arena,
		       struct roger_str *ret_text, struct roger_err *err)
{
	return engine->store->ops->get(engine->store, RG_DOCUMENT_RUN, run_id, arena, ret_text,
				       err);
}

int rg_engine_runs(struct rg_engine *engine, rg_run_wanted *wanted, void *context,
		   struct rg_arena *arena, struct rg_run_texts *ret_runs, struct roger_err *err)
{
	return engine->store->ops->runs(engine->store, wanted, context, arena, ret_runs, err);
}

int rg_engine_closed_runs(struct rg_engine *engine, struct rg_arena *arena,
			  struct rg_closed_runs *ret_runs, struct roger_err *err)
{
	int r = rg_engine_refresh(engine, err);

	return r < 0 ? r : rg_index_closed_runs(engine->index, arena, ret_runs, err);
}

void rg_engine_keep_closed_runs(struct rg_engine *engine, const struct rg_closed_runs *runs)
{
	rg_index_keep_closed_runs(engine->index, runs);
}

int rg_engine_run_put(struct rg_engine *engine, struct roger_str run_id, struct roger_str before,
		      struct roger_str after, struct roger_err *err)
{
	int r;

	rg_assert(rg_store_took(engine->store, RG_LOCK_RECORDS));
	rg_assert(run_id.length > 0);
	r = engine->store->ops->put(engine->store, RG_DOCUMENT_RUN, run_id, &before, after, true,
				    err);
	engine->stored += r == ROGER_OK;
	return r < 0 || before.data || engine->store->elsewhere ? r
								: rg_engine_run_made(engine, err);
}

/* ---------------------------------------------------------------- opening -- */

struct rg_engine *rg_engine_close(struct rg_engine *engine)
{
	if (!engine)
		return NULL;
	if (engine->store) {
		rg_engine_rollback(engine);
		/* A move that failed may have left it. */
		if (rg_store_holds(engine->store, RG_LOCK_BRIDGE))
			rg_store_release(engine->store, RG_LOCK_BRIDGE);
		rg_engine_leave_state(engine);
		(void)serve_others(engine, engine->changed > 0);
		rg_engine_checkpoint(engine, false);
	}
	rg_index_free(engine->index);
	if (engine->store)
		engine->store->ops->close(engine->store);
	rg_sequence_free(engine->first);
	rg_sequence_free(engine->accepted.numbers);
	rg_table_deinit(&engine->archive_seen.lines);
	rg_buf_deinit(&engine->text);
	free(engine->staged);
	free(engine);
	return NULL;
}

int rg_engine_check_store(const char *root, bool *ret_elsewhere, struct roger_err *err)
{
	struct rg_config *config;
	int r;

	*ret_elsewhere = false;
	/* An error in the configuration is reported by whoever uses it. */
	if (rg_config_load(root, &config, NULL) < 0)
		return ROGER_OK;
	*ret_elsewhere = config->store.length > 0;
	r = rg_store_check(config, err);
	rg_config_free(config);
	return r;
}

int rg_engine_prepare_store(const char *root, bool second, int *ret_steps, struct roger_err *err)
{
	struct rg_workspace *workspace;
	int r = rg_workspace_open(root, &workspace, err);

	if (r < 0)
		return r;
	workspace->second = second;
	r = rg_store_prepare(workspace, ret_steps, err);
	rg_workspace_close(workspace);
	return r;
}

int rg_engine_open(struct rg_workspace *workspace, struct rg_engine **ret_engine,
		   struct roger_err *err)
{
	static const struct rg_store_above above = { rg_tally_adopt, rg_engine_recall };
	struct rg_engine *engine = calloc(1, sizeof *engine);
	int r;

	if (!engine)
		return rg_fail_memory(err);
	engine->workspace = workspace;
	rg_buf_init(&engine->text, SIZE_MAX);
	r = rg_store_open(workspace, &above, &engine->store, err);
	if (r == ROGER_OK)
		r = rg_store_follow(engine->store, workspace, &above, err);
	if (r == ROGER_OK)
		r = rg_index_new(engine->store, workspace, &engine->index, err);
	if (r == ROGER_OK)
		r = rg_engine_prepare_epoch(engine, false, err);
	if (r == ROGER_OK)
		r = rg_engine_follow_clearing(engine, err);
	if (r < 0) {
		rg_engine_close(engine);
		return r;
	}
	*ret_engine = engine;
	return ROGER_OK;
}
