#include "engine/inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/file.h"

static const char control_suffix[] = ".control";

enum { LOOK_MS = 200 };

uint64_t rg_engine_stored(const struct rg_engine *engine)
{
	return engine->stored;
}

/* ------------------------------------------------------------- reading -- */

/* An exclusive transaction sees what is appended: it will sync that before it answers. */
static int readable_end(struct rg_engine *engine, uint64_t *ret_end, struct roger_err *err)
{
	int r;

	if (!engine->exclusive)
		return rg_journal_settle(engine->journal, ret_end, err);
	r = rg_journal_lock(engine->journal, 0, 0, err);
	if (r < 0)
		return r;
	*ret_end = rg_journal_end(engine->journal);
	if (!engine->has_looked)
		engine->adoptions = rg_journal_adoptions(engine->journal);
	engine->has_looked = true;
	rg_journal_unlock(engine->journal);
	return ROGER_OK;
}

int rg_engine_refresh(struct rg_engine *engine, struct roger_err *err)
{
	uint64_t end;
	int r;

	r = rg_engine_prepare_epoch(engine, err);
	if (r == ROGER_OK)
		r = readable_end(engine, &end, err);
	/* What is about to be read, and what was read before. */
	if (r == ROGER_OK)
		r = rg_engine_check_end(engine, err);
	return r < 0 ? r : rg_index_refresh(engine->index, end, err);
}

int rg_engine_find(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		   struct roger_messages *ret_messages, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	return r < 0 ? r : rg_index_messages(engine->index, query, arena, ret_messages, NULL, err);
}

/* The tally may have counted too high; nothing came since the index was asked, so it can be set
 * right. */
static void correct_unread(struct rg_engine *engine, struct roger_str agent, int64_t unread)
{
	struct rg_control *control = rg_journal_control(engine->journal);
	struct rg_agent there;

	if (!control || !rg_control_find_agent(control, agent, &there) ||
	    (int64_t)there.unread == unread || !rg_journal_lock_soon(engine->journal, 0))
		return;
	control = rg_journal_control(engine->journal);
	if (rg_control_find_agent(control, agent, &there) &&
	    rg_journal_end(engine->journal) == rg_index_end(engine->index)) {
		there.unread = (uint32_t)unread;
		rg_control_put_agent(control, agent, &there);
	}
	rg_journal_unlock(engine->journal);
}

int rg_engine_find_page(struct rg_engine *engine, const struct rg_query *query,
			struct rg_arena *arena, struct roger_messages *ret_messages,
			int64_t *ret_total, struct roger_err *err)
{
	const struct rg_query all = rg_query_held_too(query);
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_messages(engine->index, query, arena, ret_messages, ret_total, err);
	if (r == ROGER_OK && rg_query_is_unread_only(&all))
		correct_unread(engine, query->to, *ret_total);
	return r;
}

int rg_engine_count(struct rg_engine *engine, const struct rg_query *query, int64_t *ret_count,
		    struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_count(engine->index, query, ret_count, err);
	if (r == ROGER_OK && rg_query_is_unread_only(query))
		correct_unread(engine, query->to, *ret_count);
	return r;
}

int rg_engine_may_have_mail(struct rg_engine *engine, struct roger_str agent, bool *ret_may,
			    struct roger_err *err)
{
	struct rg_control *control;
	struct rg_agent there;
	uint64_t end;
	int r;

	r = rg_journal_settle(engine->journal, &end, err);
	if (r == ROGER_OK)
		r = rg_engine_check_end(engine, err);
	if (r < 0)
		return r;
	control = rg_journal_control(engine->journal);
	*ret_may = !control || (rg_control_find_agent(control, agent, &there) && there.unread > 0);
	/* Where nobody could yet count what stands there, the index has to tell. */
	if (control && !rg_journal_knows(engine->journal, end))
		*ret_may = true;
	return ROGER_OK;
}

bool rg_engine_may_know_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key)
{
	struct rg_control *control = rg_journal_control(engine->journal);
	struct rg_tail tail;

	/* Since the machine started nobody has looked which keys the logs know. */
	return !control || !rg_control_tail(control, &tail) ||
	       (rg_control_logged(control) == 0 && tail.appended > 0) ||
	       atomic_load(&rg_control_page(control)->damaged) ||
	       rg_control_find_count(control, rg_count_hash(RG_COUNT_KEY, sender, key)) > 0;
}

int rg_engine_note_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key,
		       struct roger_err *err)
{
	uint64_t hash = rg_count_hash(RG_COUNT_KEY, sender, key);
	struct rg_control *control;
	int r;

	r = rg_journal_lock(engine->journal, 0, 1, err);
	if (r < 0)
		return r;
	control = rg_journal_control(engine->journal);
	rg_control_put_count(control, hash, rg_control_find_count(control, hash) + 1);
	rg_journal_unlock(engine->journal);
	return ROGER_OK;
}

static int64_t epoch_of(struct rg_engine *engine)
{
	struct rg_control *control = rg_journal_control(engine->journal);

	return control ? rg_control_epoch(control) : 0;
}

/* Within a transaction, so the epoch is the one its messages get. */
int rg_engine_mark_of(struct rg_engine *engine, struct roger_str reader, struct roger_str sender,
		      int64_t *ret_number, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_mark(engine->index, reader, sender, epoch_of(engine), ret_number, err);
	return r;
}

int rg_engine_bridge_begin(struct rg_engine *engine, int64_t wait_ms, struct roger_err *err)
{
	struct rg_journal *journal = engine->journal;

	/* Asked again and again: a control file that was made anew knows nothing of it. */
	if (rg_journal_control(journal) && rg_journal_holds(journal, RG_LOCK_BRIDGE))
		return ROGER_OK;
	return rg_journal_take(journal, RG_LOCK_BRIDGE, wait_ms, err);
}

void rg_engine_bridge_end(struct rg_engine *engine)
{
	rg_journal_release(engine->journal, RG_LOCK_BRIDGE);
}

uint32_t rg_engine_mark(struct rg_engine *engine)
{
	return rg_journal_wake_count(engine->journal);
}

void rg_engine_sleep(struct rg_engine *engine, uint32_t seen, int64_t wait_ms)
{
	struct rg_journal *journal = engine->journal;

	/* Other programs append without waking anybody. */
	if (rg_journal_writable(journal))
		rg_journal_sleep(journal, seen, wait_ms < LOOK_MS ? wait_ms : LOOK_MS);
	else
		rg_clock_sleep(wait_ms < LOOK_MS ? wait_ms : LOOK_MS);
}

int rg_engine_agents(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_agent_list *ret_agents, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_agents(engine->index, epoch_of(engine), arena, ret_agents, err);
	return r;
}

static int compare_strs(const void *a, const void *b)
{
	const struct roger_str *x = a, *y = b;
	size_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->data, y->data, shorter);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* From the tally, without the index. */
int rg_engine_names(struct rg_engine *engine, struct rg_arena *arena, struct roger_strs *ret_names,
		    struct roger_err *err)
{
	struct rg_control *control = rg_journal_control(engine->journal);
	struct {
		struct roger_str *items;
		size_t count;
	} list = { 0 };
	struct rg_named_agent agent;
	struct roger_str *name;
	size_t i = 0;

	while (control && rg_control_next_agent(control, &i, &agent)) {
		name = rg_arena_push(arena, &list.items, &list.count, sizeof *name);
		if (!name ||
		    !rg_arena_copy(arena, (struct roger_str){ agent.name, agent.length }, name))
			return rg_fail_memory(err);
	}
	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_strs);
	*ret_names = (struct roger_strs){ list.items, list.count };
	return ROGER_OK;
}

bool rg_engine_knows(struct rg_engine *engine, struct roger_str name)
{
	struct rg_control *control = rg_journal_control(engine->journal);
	struct rg_agent agent;

	return control && rg_control_find_agent(control, name, &agent);
}

int rg_engine_issues(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_strs *ret_issues, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_issues(engine->index, arena, ret_issues, err);
	return r;
}

int rg_engine_figures(struct rg_engine *engine, struct rg_figures *ret_figures,
		      struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_figures(engine->index, ret_figures, err);
	if (r < 0)
		return r;
	ret_figures->journal_bytes = (int64_t)rg_index_end(engine->index);
	ret_figures->epoch = epoch_of(engine);
	return ROGER_OK;
}

int rg_engine_survey(struct rg_engine *engine, int64_t since_ms, int64_t until_ms,
		     rg_survey_see *see, void *context, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_survey(engine->index, since_ms, until_ms, see, context, err);
	return r;
}

int rg_engine_overdue(struct rg_engine *engine, int64_t now_ms, int64_t limit,
		      struct rg_arena *arena, struct roger_strs *ret_ids, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		r = rg_index_overdue(engine->index, now_ms, limit, arena, ret_ids, err);
	return r;
}

int rg_engine_strays(struct rg_engine *engine, int64_t *ret_strays, struct roger_err *err)
{
	int r;

	r = rg_engine_refresh(engine, err);
	if (r == ROGER_OK)
		*ret_strays = rg_index_stray_count(engine->index);
	return r;
}

/* --------------------------------------------------------- maintenance -- */

int rg_engine_rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
		      struct roger_err *err)
{
	const struct rg_query all = { 0 };
	int64_t messages;
	uint64_t end;
	int r;

	r = rg_journal_settle(engine->journal, &end, err);
	if (r == ROGER_OK)
		r = rg_index_rebuild(engine->index, end, false, err);
	if (r == ROGER_OK)
		r = rg_index_count(engine->index, &all, &messages, err);
	if (r < 0)
		return r;
	ret_reply->lines = rg_index_line_count(engine->index);
	ret_reply->messages = messages;
	ret_reply->strays = rg_index_stray_count(engine->index);
	if (rg_journal_writable(engine->journal))
		rg_engine_want_state(engine, true);
	engine->stored++;
	return ROGER_OK;
}

void rg_engine_on_progress(struct rg_engine *engine, roger_progress *tell, void *context)
{
	rg_index_on_progress(engine->index, tell, context);
}

const char *rg_engine_trouble(struct rg_engine *engine)
{
	return engine->trouble[0] ? engine->trouble : rg_index_trouble(engine->index);
}

const char *rg_engine_damage(struct rg_engine *engine)
{
	rg_engine_tell_damage(engine, engine->damage, sizeof engine->damage);
	return engine->damage;
}

struct rg_engine *rg_engine_close(struct rg_engine *engine)
{
	size_t i;

	if (!engine)
		return NULL;
	if (engine->journal) {
		rg_engine_rollback(engine);
		rg_engine_save_state(engine, true);
	}
	for (i = 0; i < RG_LOGS; i++)
		rg_file_close(engine->folders[i]);
	rg_file_close(engine->turns);
	rg_index_free(engine->index);
	rg_journal_close(engine->journal);
	rg_buf_deinit(&engine->text);
	free(engine->staged);
	free(engine);
	return NULL;
}

static int open_parts(struct rg_engine *engine, struct roger_err *err)
{
	const struct rg_config *config = engine->workspace->config;
	char journal_name[RG_FILE_NAME_BYTES], control_name[RG_FILE_NAME_BYTES + 16],
		index_name[RG_FILE_NAME_BYTES];
	struct roger_str stem = config->jsonl_file;
	int r;

	if (stem.length > 200 || config->database_file.length > 200)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "storage: expected file names of at most 200 bytes");
	snprintf(journal_name, sizeof journal_name, "%.*s", RG_STR_ARGS(stem));
	snprintf(index_name, sizeof index_name, "%.*s", RG_STR_ARGS(config->database_file));
	if (stem.length > 6 && memcmp(stem.data + stem.length - 6, ".jsonl", 6) == 0)
		stem.length -= 6;
	snprintf(control_name, sizeof control_name, "%.*s%s", RG_STR_ARGS(stem), control_suffix);

	r = rg_journal_open(engine->workspace->data, journal_name, control_name, rg_tally_adopt,
			    rg_engine_recall, engine, &engine->journal, err);
	if (r == ROGER_OK)
		r = rg_index_new(engine->journal, engine->workspace->data,
				 engine->workspace->data_path, index_name,
				 config->places_configured, &engine->index, err);
	if (r < 0)
		return r;
	rg_index_bound_leases(engine->index, config->lease_ms_max);
	r = rg_engine_prepare_epoch(engine, err);
	return r < 0 ? r : rg_engine_follow_clearing(engine, err);
}

int rg_engine_open(struct rg_workspace *workspace, struct rg_engine **ret_engine,
		   struct roger_err *err)
{
	struct rg_engine *engine = calloc(1, sizeof *engine);
	size_t i;
	int r;

	if (!engine)
		return rg_fail_memory(err);
	engine->workspace = workspace;
	engine->turns = RG_NO_FILE;
	for (i = 0; i < RG_LOGS; i++)
		engine->folders[i] = RG_NO_FILE;
	rg_buf_init(&engine->text, SIZE_MAX);
	r = open_parts(engine, err);
	if (r < 0) {
		rg_engine_close(engine);
		return r;
	}
	*ret_engine = engine;
	return ROGER_OK;
}
