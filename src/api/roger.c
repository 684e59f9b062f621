/*
 * The public functions over the verbs; argument checks, nothing else.
 *
 * Programs call verbs by roger_verb(), through inline functions of the header that
 * say how long their structs are.  Those of before that header, and bindings of
 * other languages, call a symbol for each verb: its structs are as long as they
 * were in version 0.1.0's first header, tests/abi/roger-f653cf1.h, for ever.
 */
#define ROGER_VERB(verb, request, reply)                                                           \
	ROGER_API int roger_##verb(struct roger *roger, const struct request *request_,            \
				   struct reply *ret_reply, struct roger_err *err);
#define ROGER_VERB_ALONE(verb, request, reply)                                                     \
	ROGER_API int roger_##verb(const struct request *request_, struct reply *ret_reply,        \
				   struct roger_err *err);
#include <roger.h>

#include <stdlib.h>

#include "api/layout.h"
#include "engine/engine.h"
#include "store/file/control.h"
#include "ops/op.h"
#include "facts/activity.h"
#include "facts/message.h"

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
	rg_lock_interrupt();
}

bool roger_mend_map(const void *address)
{
	return rg_control_mend(address);
}

void roger_on_progress(struct roger *roger, roger_progress *tell, void *context)
{
	if (!roger)
		return;
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
	return rg_op_run(op, roger, request, ret_reply, err);
}

const struct roger_op *const *roger_ops(void)
{
	return rg_op_table;
}

const struct roger_record *roger_message_record(void)
{
	return &rg_message_record;
}

const struct roger_record *roger_activity_record(void)
{
	return &rg_activity_record;
}

void roger_reply_free(void *reply)
{
	struct rg_arena *memory;

	if (!reply)
		return;
	memory = rg_op_memory(reply);
	rg_arena_free(memory);
	memory = NULL;
	memcpy(reply, &memory, sizeof memory);
}

bool roger_watch(struct roger *roger, uint32_t *mark, int64_t timeout_ms)
{
	uint32_t before = *mark;

	if (timeout_ms > 0)
		rg_engine_sleep(roger->engine, before, timeout_ms);
	*mark = rg_engine_mark(roger->engine);
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

/* ------------------------------------------------- a symbol for each verb -- */

/*
 * What has grown since, up to its first new member; with the name of the record
 * where it is an item of lists.  tests/abi says what is missing here.
 */
static const struct {
	const char *type;
	const char *record;
	size_t size;
} grown[] = {
/* Where padding was, a new member would be read as set: then this is no constant. */
#define BEFORE(type, member)                                                                       \
	(offsetof(struct type, member) /                                                           \
	 (offsetof(struct type, member) % _Alignof(struct type) == 0))
#define GREW(type, record, member) #type, record, BEFORE(type, member)
	{ GREW(roger_send_request, "send", new_names) },
	{ GREW(roger_send_reply, "sent", never_seen) },
	{ GREW(roger_inbox_reply, NULL, notes) },
	{ GREW(roger_init_reply, NULL, not_trusted) },
	{ GREW(roger_sweep_reply, NULL, notes) },
#undef GREW
#undef BEFORE
};
#define GROWN_COUNT (sizeof grown / sizeof *grown)

static size_t first_size(const char *type, size_t now)
{
	size_t i;

	for (i = 0; i < GROWN_COUNT; i++)
		if (strcmp(grown[i].type, type) == 0)
			return grown[i].size;
	return now;
}

static int run_as_first(const struct roger_op *op, struct roger *roger, const void *request,
			size_t request_size, void *ret_reply, size_t reply_size,
			struct roger_err *err)
{
	struct roger_item items[GROWN_COUNT + 1] = { 0 };
	const struct rg_layout layout = { request_size, reply_size, items };
	size_t i, count = 0;

	for (i = 0; i < GROWN_COUNT; i++)
		if (grown[i].record)
			items[count++] = (struct roger_item){ grown[i].record, grown[i].size };
	return rg_layout_run(op, &layout, roger, request, ret_reply, err);
}

#define VERB_OF(op, verb, request, reply)                                                          \
	int roger_##verb(struct roger *roger, const struct request *request_,                      \
			 struct reply *ret_reply, struct roger_err *err)                           \
	{                                                                                          \
		return run_as_first(op, roger, request_, first_size(#request, sizeof *request_),   \
				    ret_reply, first_size(#reply, sizeof *ret_reply), err);        \
	}
#define VERB(verb, request, reply) VERB_OF(&rg_op_##verb, verb, request, reply)
#define VERB_ALONE(verb, request, reply)                                                           \
	int roger_##verb(const struct request *request_, struct reply *ret_reply,                  \
			 struct roger_err *err)                                                    \
	{                                                                                          \
		return run_as_first(&rg_op_##verb, NULL, request_,                                 \
				    first_size(#request, sizeof *request_), ret_reply,             \
				    first_size(#reply, sizeof *ret_reply), err);                   \
	}

VERB_ALONE(init, roger_init_request, roger_init_reply)
VERB_ALONE(trust, roger_trust_request, roger_trust_reply)
VERB_ALONE(setup, roger_setup_request, roger_setup_reply)
VERB_OF(&rg_op_run_program, run, roger_run_request, roger_run_reply)
VERB(send, roger_send_request, roger_send_reply)
VERB(send_many, roger_send_many_request, roger_send_many_reply)
VERB(inbox, roger_inbox_request, roger_inbox_reply)
VERB(receive, roger_inbox_request, roger_inbox_reply)
VERB(looked, roger_looked_request, roger_looked_reply)
VERB(arrive, roger_arrive_request, roger_arrive_reply)
VERB(prime, roger_prime_request, roger_prime_reply)
VERB(wait, roger_wait_request, roger_wait_reply)
VERB(wake, roger_wake_request, roger_wake_reply)
VERB(claim, roger_claim_request, roger_messages_reply)
VERB(ack, roger_ack_request, roger_messages_reply)
VERB(nack, roger_ack_request, roger_messages_reply)
VERB(show, roger_show_request, roger_messages_reply)
VERB(trace, roger_trace_request, roger_trace_reply)
VERB(thread, roger_thread_request, roger_messages_reply)
VERB(list, roger_list_request, roger_messages_reply)
VERB(search, roger_list_request, roger_messages_reply)
VERB(count, roger_list_request, roger_count_reply)
VERB(agents, roger_empty_request, roger_agents_reply)
VERB(session, roger_session_request, roger_session_reply)
VERB(archive, roger_archive_request, roger_archive_reply)
VERB(cleanup, roger_cleanup_request, roger_archive_reply)
VERB(delete, roger_archive_request, roger_archive_reply)
VERB(cycle, roger_cycle_request, roger_cycle_reply)
VERB(sends, roger_sends_request, roger_sends_reply)
VERB(dead_letters, roger_dead_letters_request, roger_dead_letters_reply)
VERB(redeliver, roger_redeliver_request, roger_dead_letters_reply)
VERB(stale, roger_stale_request, roger_dead_letters_reply)
VERB(purge, roger_purge_request, roger_purge_reply)
VERB(log, roger_log_request, roger_activity_reply)
VERB(log_import, roger_log_import_request, roger_log_import_reply)
VERB(activity, roger_activity_request, roger_activity_reply)
VERB(stats, roger_empty_request, roger_stats_reply)
VERB(rebuild, roger_empty_request, roger_rebuild_reply)
VERB(verify, roger_verify_request, roger_verify_reply)
VERB(accept, roger_accept_request, roger_accept_reply)
VERB(doctor, roger_doctor_request, roger_doctor_reply)
VERB(seal, roger_empty_request, roger_seal_reply)
VERB(config, roger_empty_request, roger_config_reply)
VERB(bridge, roger_bridge_request, roger_bridge_reply)
VERB(ingest, roger_ingest_request, roger_bridge_reply)
VERB(dispatch, roger_dispatch_request, roger_runs_reply)
VERB(complete, roger_complete_request, roger_runs_reply)
VERB(forward, roger_forward_request, roger_runs_reply)
VERB(extend, roger_extend_request, roger_runs_reply)
VERB(recover, roger_recover_request, roger_runs_reply)
VERB(runs, roger_runs_request, roger_runs_reply)
VERB(sweep, roger_sweep_request, roger_sweep_reply)
VERB(timeline, roger_timeline_request, roger_timeline_reply)
VERB(report, roger_report_request, roger_report_reply)
VERB(status, roger_empty_request, roger_status_reply)
