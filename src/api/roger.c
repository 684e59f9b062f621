/* The public functions over the verbs; argument checks, nothing else. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "store/store.h"
#include "data/caller.h"
#include "host/process.h"
#include "host/seat.h"
#include "ops/op.h"

int roger_open(const char *path, struct roger **ret_roger, struct roger_err *err)
{
	struct roger *roger;
	int r;

	if (!ret_roger)
		return rg_fail(err, ROGER_EUSAGE, 0, "roger_open: no place for the handle");
	roger = calloc(1, sizeof *roger);
	if (!roger)
		return rg_fail_memory(err);
	r = rg_workspace_open(path, &roger->workspace, err);
	if (r == ROGER_OK)
		r = rg_engine_open(roger->workspace, &roger->engine, err);
	if (r < 0) {
		roger_close(roger);
		return r;
	}
	*ret_roger = roger;
	return ROGER_OK;
}

struct roger *roger_close(struct roger *roger)
{
	if (!roger)
		return NULL;
	rg_bridge_free(roger->bridge);
	rg_engine_close(roger->engine);
	rg_workspace_close(roger->workspace);
	free(roger);
	return NULL;
}

void roger_interrupt(void)
{
	rg_file_store_interrupt();
}

bool roger_mend_map(const void *address)
{
	return rg_file_store_mend(address);
}

void roger_on_progress(struct roger *roger, roger_progress *tell, void *context)
{
	if (!roger) {
		rg_alone = (struct rg_alone){ tell, context };
		return;
	}
	roger->tell = tell;
	roger->tell_context = context;
	rg_engine_on_progress(roger->engine, tell, context);
}

const char *roger_damage(const struct roger *roger)
{
	return roger ? rg_engine_damage(roger->engine) : "";
}

static const char *most_important(const struct roger *roger)
{
	const char *damage = roger_damage(roger), *trouble = rg_engine_trouble(roger->engine);

	if (*damage || *trouble)
		return *damage ? damage : trouble;
	return roger->untold[0] ? roger->untold : roger->workspace->notice;
}

/* A note that is given once is added to the others. */
const char *roger_notice(const struct roger *roger)
{
	const char *first = roger ? most_important(roger) : "";
	struct rg_workspace *workspace = roger ? roger->workspace : NULL;

	if (!workspace || (!workspace->shielded && !workspace->split[0]))
		return first;
	snprintf(workspace->told, sizeof workspace->told, "%s%s%s%s%s", first,
		 *first && workspace->shielded ? "; " : "",
		 workspace->shielded ? "roger put its .gitignore into a folder of this workspace: "
				       "the next commit could have published mail"
				     : "",
		 (*first || workspace->shielded) && workspace->split[0] ? "; " : "",
		 workspace->split);
	if (workspace->split[0])
		(void)!rg_seat_told(workspace, true);
	return workspace->told;
}

const char *roger_distrust(struct roger *roger)
{
	return rg_workspace_distrust(roger->workspace);
}

void rg_set_caller(struct roger *roger, const struct rg_caller *caller)
{
	roger->caller = caller ? *caller : (struct rg_caller){ 0 };
}

struct roger_str rg_name_by_itself(const struct roger *roger, struct roger_str tool, int64_t pid,
				   char to[RG_OWN_NAME_BYTES])
{
	return rg_seat_name(roger->workspace, tool, pid, to);
}

bool rg_observe_process(int64_t id, char *to, size_t size)
{
	return rg_process_variable(id, "ROGER_AGENT", to, size);
}

bool rg_observe_command(int64_t id, struct rg_arena *arena, struct roger_strs *ret_words,
			int64_t *ret_parent)
{
	return rg_process_command(id, arena, ret_words, ret_parent);
}

bool roger_hold(struct roger *roger, const char *what)
{
	bool held = true;

	/* Where no lock can be had, twice is better than never. */
	return rg_engine_turn_take(roger->engine, rg_str(what), &held, NULL) < 0 || held;
}

int roger_call(struct roger *roger, const struct roger_op *op, const void *request, void *ret_reply,
	       struct roger_err *err)
{
	if (!op || !request || !ret_reply)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "roger_call: expected a verb, a request and a place for the reply");
	return rg_op_call(op, roger, request, ret_reply, err);
}

bool roger_watch(struct roger *roger, uint32_t *mark, int64_t timeout_ms)
{
	uint32_t before = *mark;

	if (timeout_ms > 0)
		rg_engine_sleep(roger->engine, before, timeout_ms);
	*mark = rg_engine_wake_count(roger->engine);
	return *mark != before;
}
