#include "engine/engine.h"

int rg_engine_find(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		   struct roger_messages *ret_messages, struct roger_err *err)
{
	return engine->class->find(engine, query, arena, ret_messages, err);
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

int rg_engine_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err)
{
	return engine->class->begin(engine, exclusive, err);
}

int rg_engine_add(struct rg_engine *engine, struct roger_message *message, bool new_number,
		  struct roger_err *err)
{
	return engine->class->add(engine, message, new_number, err);
}

int rg_engine_change(struct rg_engine *engine, const struct roger_message *before,
		     const struct roger_message *after, struct roger_err *err)
{
	return engine->class->change(engine, before, after, err);
}

int rg_engine_archive(struct rg_engine *engine, const struct roger_message *message,
		      struct roger_err *err)
{
	return engine->class->archive(engine, message, err);
}

int rg_engine_commit(struct rg_engine *engine, struct rg_outcome *ret_outcome,
		     struct roger_err *err)
{
	return engine->class->commit(engine, ret_outcome, err);
}

void rg_engine_rollback(struct rg_engine *engine)
{
	engine->class->rollback(engine);
}

int rg_engine_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
		      struct roger_err *err)
{
	return engine->class->session(engine, fresh, ret_epoch, err);
}

int rg_engine_note_cleanup(struct rg_engine *engine, struct roger_str line, struct roger_err *err)
{
	return engine->class->note_cleanup(engine, line, err);
}

int rg_engine_rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
		      struct roger_err *err)
{
	return engine->class->rebuild(engine, ret_reply, err);
}

int rg_engine_verify(struct rg_engine *engine, struct rg_arena *arena,
		     struct roger_verify_reply *ret_reply, struct roger_err *err)
{
	return engine->class->verify(engine, arena, ret_reply, err);
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
