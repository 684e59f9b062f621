/* The public functions over the verbs; argument checks, nothing else. */
#include <stdlib.h>

#include "api/layout.h"
#include "engine/engine.h"
#include "store/store.h"
#include "data/proved.h"
#include "host/process.h"
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

const char *roger_notice(const struct roger *roger)
{
	const char *trouble = *roger_damage(roger) ? roger_damage(roger)
			      : roger		   ? rg_engine_trouble(roger->engine)
						   : "";

	if (*trouble || !roger)
		return trouble;
	return roger->untold[0] ? roger->untold : roger->workspace->notice;
}

const char *roger_distrust(struct roger *roger)
{
	const struct rg_trust *trust;

	if (rg_workspace_trust(roger->workspace, &trust, NULL) == ROGER_OK && trust->mailbox)
		return "";
	return "this workspace is not trusted, so its mail is not shown; if it is yours, run "
	       "`roger trust`";
}

void rg_prove_sender(struct roger *roger, struct roger_str agent)
{
	roger->token_of = agent;
}

void rg_observe_sender(struct roger *roger, struct roger_str agent)
{
	roger->observed = agent;
}

bool rg_observe_process(int64_t id, char *to, size_t size)
{
	return rg_process_variable(id, "ROGER_AGENT", to, size);
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

int roger_verb(struct roger *roger, const char *verb, const void *request, size_t request_size,
	       void *ret_reply, size_t reply_size, const struct roger_item *items,
	       struct roger_err *err)
{
	const struct rg_layout layout = { request_size, reply_size, items };
	const struct roger_op *const *op;

	if (!verb || !request || !ret_reply || !items)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "roger_verb: expected a verb, a request and a place for the reply");
	for (op = rg_op_table; *op; op++)
		if (strcmp((*op)->name, verb) == 0)
			return rg_layout_run(*op, &layout, roger, request, ret_reply, err);
	return rg_fail(err, ROGER_EUSAGE, 0,
		       "libroger " ROGER_VERSION " has no verb '%s': a newer one is needed", verb);
}
