#include "engine/engine.h"

int rg_engine_find(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		   struct roger_messages *ret_messages, struct roger_err *err)
{
	return engine->class->find(engine, query, arena, ret_messages, err);
}

int rg_engine_find_page(struct rg_engine *engine, const struct rg_query *query,
			struct rg_arena *arena, struct roger_messages *ret_messages,
			int64_t *ret_total, struct roger_err *err)
{
	return engine->class->find_page(engine, query, arena, ret_messages, ret_total, err);
}

int rg_engine_count(struct rg_engine *engine, const struct rg_query *query, int64_t *ret_count,
		    struct roger_err *err)
{
	return engine->class->count(engine, query, ret_count, err);
}

int rg_engine_may_have_mail(struct rg_engine *engine, struct roger_str agent, bool *ret_may,
			    struct roger_err *err)
{
	return engine->class->may_have_mail(engine, agent, ret_may, err);
}

int rg_engine_agents(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_agent_list *ret_agents, struct roger_err *err)
{
	return engine->class->agents(engine, arena, ret_agents, err);
}

int rg_engine_names(struct rg_engine *engine, struct rg_arena *arena, struct roger_strs *ret_names,
		    struct roger_err *err)
{
	return engine->class->names(engine, arena, ret_names, err);
}

bool rg_engine_knows(struct rg_engine *engine, struct roger_str name)
{
	return engine->class->knows(engine, name);
}

int rg_engine_issues(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_strs *ret_issues, struct roger_err *err)
{
	return engine->class->issues(engine, arena, ret_issues, err);
}

int rg_engine_survey(struct rg_engine *engine, int64_t since_ms, int64_t until_ms,
		     rg_survey_see *see, void *context, struct roger_err *err)
{
	return engine->class->survey(engine, since_ms, until_ms, see, context, err);
}

int rg_engine_overdue(struct rg_engine *engine, int64_t now_ms, int64_t limit,
		      struct rg_arena *arena, struct roger_strs *ret_ids, struct roger_err *err)
{
	return engine->class->overdue(engine, now_ms, limit, arena, ret_ids, err);
}

int rg_engine_strays(struct rg_engine *engine, int64_t *ret_strays, struct roger_err *err)
{
	return engine->class->strays(engine, ret_strays, err);
}

int rg_engine_figures(struct rg_engine *engine, struct rg_figures *ret_figures,
		      struct roger_err *err)
{
	return engine->class->figures(engine, ret_figures, err);
}

int rg_engine_wait(struct rg_engine *engine, struct roger_str agent, struct roger_str issue,
		   struct roger_str from, int64_t timeout_ms, struct rg_arena *arena,
		   struct rg_found *ret_found, struct roger_err *err)
{
	return engine->class->wait(engine, agent, issue, from, timeout_ms, arena, ret_found, err);
}

int rg_engine_states(struct rg_engine *engine, const struct roger_message *message,
		     struct rg_arena *arena, struct rg_states *ret_states, struct roger_err *err)
{
	return engine->class->states(engine, message, arena, ret_states, err);
}

bool rg_engine_shown(struct rg_engine *engine, struct roger_str agent, struct roger_str id)
{
	return engine->class->shown(engine, agent, id);
}

void rg_engine_note_shown(struct rg_engine *engine, struct roger_str agent,
			  const struct roger_str *ids, size_t count, bool shown)
{
	engine->class->note_shown(engine, agent, ids, count, shown);
}

int rg_engine_turn_take(struct rg_engine *engine, struct roger_str agent, bool *ret_taken,
			struct roger_err *err)
{
	return engine->class->turn_take(engine, agent, ret_taken, err);
}

void rg_engine_turn_end(struct rg_engine *engine, struct roger_str agent)
{
	engine->class->turn_end(engine, agent);
}

bool rg_engine_may_know_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key)
{
	return engine->class->may_know_key(engine, sender, key);
}

int rg_engine_note_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key,
		       struct roger_err *err)
{
	return engine->class->note_key(engine, sender, key, err);
}

uint32_t rg_engine_mark(struct rg_engine *engine)
{
	return engine->class->mark(engine);
}

void rg_engine_sleep(struct rg_engine *engine, uint32_t mark, int64_t wait_ms)
{
	engine->class->sleep(engine, mark, wait_ms);
}

int rg_engine_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err)
{
	engine->staged = false;
	return engine->class->begin(engine, exclusive, err);
}

int rg_engine_add(struct rg_engine *engine, struct roger_message *message, bool new_number,
		  struct roger_err *err)
{
	engine->staged = true;
	return engine->class->add(engine, message, new_number, err);
}

int rg_engine_bring(struct rg_engine *engine, struct roger_message *message, int64_t number,
		    struct roger_err *err)
{
	engine->staged = true;
	return engine->class->bring(engine, message, number, err);
}

int rg_engine_mark_of(struct rg_engine *engine, struct roger_str reader, struct roger_str sender,
		      int64_t *ret_number, struct roger_err *err)
{
	return engine->class->mark_of(engine, reader, sender, ret_number, err);
}

int rg_engine_bridge_begin(struct rg_engine *engine, int64_t wait_ms, struct roger_err *err)
{
	return engine->class->bridge_begin(engine, wait_ms, err);
}

void rg_engine_bridge_end(struct rg_engine *engine)
{
	engine->class->bridge_end(engine);
}

int rg_engine_change(struct rg_engine *engine, const struct roger_message *before,
		     const struct roger_message *after, struct roger_err *err)
{
	engine->staged = true;
	return engine->class->change(engine, before, after, err);
}

int rg_engine_archive(struct rg_engine *engine, const struct roger_message *message,
		      struct roger_err *err)
{
	engine->staged = true;
	return engine->class->archive(engine, message, err);
}

int rg_engine_commit(struct rg_engine *engine, struct rg_outcome *ret_outcome,
		     struct roger_err *err)
{
	int r = engine->class->commit(engine, ret_outcome, err);

	engine->stored += r == ROGER_OK && ret_outcome->verdict == RG_COMMITTED && engine->staged;
	return r;
}

void rg_engine_rollback(struct rg_engine *engine)
{
	engine->class->rollback(engine);
}

int rg_engine_records_begin(struct rg_engine *engine, struct roger_err *err)
{
	return engine->class->records_begin(engine, err);
}

int rg_engine_records_soon(struct rg_engine *engine, struct roger_err *err)
{
	return engine->class->records_soon(engine, err);
}

void rg_engine_records_end(struct rg_engine *engine)
{
	engine->class->records_end(engine);
}

int rg_engine_log_append(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			 struct roger_str entries, bool durable, struct roger_err *err)
{
	int r = engine->class->log_append(engine, log, owner, entries, durable, err);

	engine->stored += r == ROGER_OK;
	return r;
}

int rg_engine_log_find(struct rg_engine *engine, const struct rg_log_query *query,
		       struct rg_arena *arena, struct rg_log_entries *ret_entries,
		       struct roger_err *err)
{
	return engine->class->log_find(engine, query, arena, ret_entries, err);
}

int rg_engine_run_find(struct rg_engine *engine, struct roger_str run_id, struct rg_arena *arena,
		       struct roger_str *ret_text, struct roger_err *err)
{
	return engine->class->run_find(engine, run_id, arena, ret_text, err);
}

int rg_engine_runs(struct rg_engine *engine, struct rg_arena *arena, struct rg_run_texts *ret_runs,
		   struct roger_err *err)
{
	return engine->class->runs(engine, arena, ret_runs, err);
}

int rg_engine_run_put(struct rg_engine *engine, struct roger_str run_id, struct roger_str before,
		      struct roger_str after, struct roger_err *err)
{
	int r = engine->class->run_put(engine, run_id, before, after, err);

	engine->stored += r == ROGER_OK;
	return r;
}

int rg_engine_log_purge(struct rg_engine *engine, enum rg_log log, struct roger_str owner,
			rg_log_drop *drop, void *context, int64_t *ret_dropped,
			struct roger_err *err)
{
	int r = engine->class->log_purge(engine, log, owner, drop, context, ret_dropped, err);

	engine->stored += r == ROGER_OK && *ret_dropped;
	return r;
}

int rg_engine_log_last(struct rg_engine *engine, enum rg_log log, struct rg_arena *arena,
		       struct roger_str *ret_text, struct roger_err *err)
{
	return engine->class->log_last(engine, log, arena, ret_text, err);
}

int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
		      struct roger_err *err)
{
	int r = engine->class->session(engine, fresh, ret_epoch, err);

	engine->stored += r == ROGER_OK && fresh;
	return r;
}

int rg_engine_note_cleanup(struct rg_engine *engine, struct roger_str line, struct roger_err *err)
{
	int r = engine->class->note_cleanup(engine, line, err);

	engine->stored += r == ROGER_OK;
	return r;
}

int rg_engine_rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
		      struct roger_err *err)
{
	int r = engine->class->rebuild(engine, ret_reply, err);

	engine->stored += r == ROGER_OK;
	return r;
}

int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_verify_reply *ret_reply, struct roger_err *err)
{
	return engine->class->verify(engine, arena, ret_reply, err);
}

int rg_engine_doctor(struct rg_engine *engine, const struct rg_doctor_wish *wish,
		     struct rg_arena *arena, struct roger_doctor_reply *reply,
		     struct roger_err *err)
{
	int r = engine->class->doctor(engine, wish, arena, reply, err);

	engine->stored += r == ROGER_OK && reply->fixed > 0;
	return r;
}

const char *rg_engine_damage(struct rg_engine *engine)
{
	return engine->class->damage(engine);
}

int rg_engine_damages(struct rg_engine *engine, struct rg_arena *arena,
		      struct roger_damages *ret_damages, struct roger_err *err)
{
	return engine->class->damages(engine, arena, ret_damages, err);
}

int rg_engine_accept(struct rg_engine *engine, const struct roger_damage *accepted,
		     struct rg_arena *arena, struct roger_damages *ret_damages,
		     struct roger_err *err)
{
	int r = engine->class->accept(engine, accepted, arena, ret_damages, err);

	engine->stored += r == ROGER_OK;
	return r;
}

int rg_engine_digests(struct rg_engine *engine, const struct rg_digest_wish *wishes, size_t count,
		      struct rg_arena *arena, struct rg_digests *ret_digests, struct roger_err *err)
{
	return engine->class->digests(engine, wishes, count, arena, ret_digests, err);
}

int rg_engine_seal_key(struct rg_engine *engine, bool make, struct rg_arena *arena,
		       struct rg_seal_key *ret_key, struct roger_err *err)
{
	return engine->class->seal_key(engine, make, arena, ret_key, err);
}

const char *rg_engine_trouble(struct rg_engine *engine)
{
	return engine->class->trouble(engine);
}

void rg_engine_on_progress(struct rg_engine *engine, roger_progress *tell, void *context)
{
	engine->class->on_progress(engine, tell, context);
}

struct rg_engine *rg_engine_close(struct rg_engine *engine)
{
	return engine ? engine->class->close(engine) : NULL;
}
