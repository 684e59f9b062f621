/* The public functions over the verbs; argument checks, nothing else. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "store/store.h"
#include "data/caller.h"
#include "host/process.h"
#include "host/seat.h"
#include "host/session.h"
#include "data/remote.h"
#include "ops/keys/attempt.h"
#include "ops/mail/send.h"
#include "ops/note.h"
#include "remote/remote.h"

static const struct rg_elsewhere elsewhere = { remote_call_within, remote_watch, remote_hold };

/* Where only a server can open the store, ask the one on this machine. */
static int open_here(struct roger *roger, struct roger_err *err)
{
	char path[4200];
	int r = rg_session_socket(roger->workspace->root, path, err);

	roger->elsewhere = &elsewhere;
	return r == ROGER_OK ? remote_open(path, &roger->remote, err) : r;
}

int roger_open(const char *path, struct roger **ret_roger, struct roger_err *err)
{
	struct roger *roger;
	int r;

	if (!ret_roger)
		return rg_fail(err, ROGER_EUSAGE, 0, "roger_open: no place for the handle");
	roger = calloc(1, sizeof *roger);
	if (!roger)
		return rg_fail_memory(err);
	roger->settle = rg_attempt_settle_overdue;
	r = rg_workspace_open(path, &roger->workspace, err);
	if (r == ROGER_OK)
		r = rg_store_check(roger->workspace->config, NULL) < 0
			    ? open_here(roger, err)
			    : rg_engine_open(roger->workspace, &roger->engine, err);
	if (r < 0) {
		roger_close(roger);
		return r;
	}
	*ret_roger = roger;
	return ROGER_OK;
}

int rg_open_remote(struct roger **ret_roger, struct roger_err *err)
{
	struct roger *roger = calloc(1, sizeof *roger);
	int r = roger ? remote_open(NULL, &roger->remote, err) : rg_fail_memory(err);

	if (r < 0) {
		free(roger);
		return r;
	}
	roger->elsewhere = &elsewhere;
	*ret_roger = roger;
	return ROGER_OK;
}

bool rg_is_remote(const struct roger *roger)
{
	return roger && roger->remote;
}

const char *rg_remote_server(const struct roger *roger)
{
	return roger->remote->place->name;
}

int rg_remote_queue(struct roger *roger, const struct roger_op *op,
		    const struct roger_send_request *request, struct roger_str *ret_key,
		    struct roger_err *err)
{
	return remote_queue(roger->remote, op, request, ret_key, err);
}

void rg_remote_hurry(struct roger *roger)
{
	roger->remote->hurried = true;
}

bool rg_remote_may_queue(const struct roger *roger)
{
	return roger->remote->unreached;
}

struct roger *roger_close(struct roger *roger)
{
	if (!roger)
		return NULL;
	rg_bridge_free(roger->bridge);
	rg_buf_deinit(&roger->notes);
	rg_arena_free(roger->sent_memory);
	remote_close(roger->remote);
	rg_engine_close(roger->engine);
	rg_workspace_close(roger->workspace);
	free(roger);
	return NULL;
}

void roger_interrupt(void)
{
	rg_file_store_interrupt();
	remote_interrupt();
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
	if (roger->remote) {
		roger->remote->tell = tell;
		roger->remote->tell_context = context;
	} else {
		rg_engine_on_progress(roger->engine, tell, context);
	}
}

const char *roger_damage(const struct roger *roger)
{
	if (!roger)
		return "";
	return roger->remote ? roger->remote->damage : rg_engine_damage(roger->engine);
}

static const char *most_important(const struct roger *roger)
{
	const char *damage = roger_damage(roger), *trouble;

	if (*damage)
		return damage;
	trouble = roger->remote ? roger->remote->notice : rg_engine_trouble(roger->engine)->message;
	if (*trouble)
		return trouble;
	if (!roger->workspace)
		return "";
	return roger->untold[0]		    ? roger->untold
	       : roger->workspace->wrong[0] ? roger->workspace->wrong
					    : roger->workspace->notice;
}

/* Add a notice that is given only once to the most important one. */
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

/* With a server there is no distrust: a person named it for this machine, which no repository
 * can. */
const char *roger_distrust(struct roger *roger)
{
	return roger->workspace ? rg_workspace_distrust(roger->workspace) : "";
}

void rg_set_caller(struct roger *roger, const struct rg_caller *caller)
{
	roger->caller = caller ? *caller : (struct rg_caller){ 0 };
	if (roger->engine)
		rg_engine_asked(roger->engine, roger->caller.how != RG_BY_FILES,
				roger->caller.until_ns, roger->caller.works);
}

bool rg_leads(struct roger *roger)
{
	return rg_engine_leads(roger->engine);
}

void rg_get_ready(struct roger *roger)
{
	rg_engine_get_ready(roger->engine);
}

bool rg_keeps_answers(const struct roger *roger)
{
	return roger->engine && rg_engine_is_elsewhere(roger->engine);
}

int rg_find_answer(struct roger *roger, const char *key, struct rg_arena *arena,
		   struct roger_str *ret_text, struct roger_err *err)
{
	return rg_engine_find_answer(roger->engine, key, arena, ret_text, err);
}

int rg_put_answer(struct roger *roger, struct roger_str text, struct roger_err *err)
{
	return rg_engine_put_answer(roger->engine, text, err);
}

void rg_gather(struct roger *roger)
{
	if (!roger->notes.maximum)
		rg_buf_init(&roger->notes, SIZE_MAX);
	roger->gathers = true;
	rg_engine_gather(roger->engine);
}

int rg_gathered(struct roger *roger, struct roger_err *err)
{
	int r = rg_engine_gathered(roger->engine, err);

	rg_note_gathered(roger, r);
	rg_send_gathered(roger, r);
	return r;
}

int rg_read_new(struct roger *roger, uint64_t *from, struct rg_arena *arena,
		struct roger_message_list *ret_messages, bool *ret_known, struct roger_err *err)
{
	return rg_engine_read_new(roger->engine, from, arena, ret_messages, ret_known, err);
}

struct roger_str rg_name_by_itself(const struct roger *roger, struct roger_str tool, int64_t pid,
				   char to[RG_OWN_NAME_BYTES])
{
	return roger->workspace ? rg_seat_name(roger->workspace, tool, pid, to)
				: remote_name(roger->remote, tool, to, RG_OWN_NAME_BYTES);
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

	if (roger->remote)
		return remote_hold(roger->remote, what);
	/* If no lock can be had, doing it twice is better than never. */
	return rg_engine_turn_take(roger->engine, rg_str(what), &held, NULL) < 0 || held;
}

int roger_call(struct roger *roger, const struct roger_op *op, const void *request, void *ret_reply,
	       struct roger_err *err)
{
	if (!op || !request || !ret_reply)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "roger_call: expected a verb, a request and a place for the reply");
	return roger && roger->remote && !remote_is_here(roger->remote, op)
		       ? remote_call(roger->remote, op, request, ret_reply, err)
		       : rg_op_call(op, roger, request, ret_reply, err);
}

bool roger_watch(struct roger *roger, uint32_t *mark, int64_t timeout_ms)
{
	uint32_t before = *mark;

	if (roger->remote)
		return remote_watch(roger->remote, mark, timeout_ms);
	if (timeout_ms > 0)
		rg_engine_sleep(roger->engine, before, timeout_ms);
	*mark = rg_engine_wake_count(roger->engine);
	return *mark != before;
}
