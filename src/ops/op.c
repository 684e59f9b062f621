#include "ops/op.h"

#include <stdio.h>
#include <unistd.h>

#include "ops/address.h"
#include "ops/caller.h"
#include "ops/note.h"
#include "facts/message.h"
#include "host/seat.h"

struct rg_alone rg_alone;

/* True if a verb is noted: it stored something, or failed to, or found a duplicate. */
static bool is_noted(const struct roger_op *op, const struct roger *roger, uint64_t stored_before,
		     const void *reply, int code)
{
	if (!roger || !(op->flags & ROGER_WRITES) || (op->flags & ROGER_UNNOTED) ||
	    !roger->workspace->config->note_own)
		return false;
	return code < 0 || rg_engine_stored(roger->engine) != stored_before ||
	       rg_note_duplicates(op, reply);
}

/* True if all recipients are known agents, and none is a group. */
static bool is_for_agents(const struct roger *roger, const struct roger_send_request *request)
{
	const struct roger_str *to = request->to.items;
	size_t i;

	for (i = 0; i < request->to.count; i++)
		if (!rg_engine_knows(roger->engine, to[i]) ||
		    rg_config_may_be_group(roger->workspace->config, to[i]))
			return false;
	return i > 0;
}

/* Fail if the caller is a group or all, which read no mail.  A known agent is not looked up in a
 * long section of groups. */
static int check_caller(const struct roger_op *op, const struct roger *roger, const void *request,
			struct roger_err *err)
{
	const struct roger_field *field = rg_find_flag(op->request, ROGER_SELF);
	struct rg_config *config = roger ? roger->workspace->config : NULL;
	struct roger_str name;
	int r = ROGER_OK;

	if (!roger || !field)
		return ROGER_OK;
	name = *(const struct roger_str *)rg_field_at(field, request);
	if (!name.length || (config->groups_unread.length && rg_engine_knows(roger->engine, name)))
		return ROGER_OK;
	if (rg_config_may_be_group(config, name))
		r = rg_config_read_groups(config, err);
	if (r == ROGER_OK && rg_config_reserves(config, name))
		r = rg_fail_member(err, ROGER_EREFUSED, field->name,
				   "%s: '%.*s' is a group; name one agent", field->name,
				   RG_STR_ARGS(name));
	return r;
}

/* Refuse to write texts to files that git tracks: the next commit could publish them. */
static int check_exposure(const struct roger_op *op, const struct roger *roger,
			  struct roger_err *err)
{
	static const char *const texts[] = { "content", "items", "text", "entry", "result", NULL };
	const struct roger_field *field = op->request->fields;

	if (!roger || !roger->workspace->exposed || !(op->flags & ROGER_WRITES))
		return ROGER_OK;
	while (field->name && rg_enum_find(texts, rg_str(field->name)) < 0)
		field++;
	if (!field->name)
		return ROGER_OK;
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "git tracks files of this mailbox as it is now, so the next commit could "
		       "publish this; see `roger trust`");
}

/* Check a request.  *ret_request: the request with the caller and whole ids filled in. */
static int prepare_request(const struct roger_op *op, struct roger *roger, const void *request,
			   struct rg_arena *memory, const void **ret_request, struct roger_err *err)
{
	int r;

	r = rg_caller_check(roger, op, request, memory, &request, err);
	if (r == ROGER_OK)
		r = rg_request_check(op->request, request, err);
	if (r == ROGER_OK && !(op->flags & ROGER_RAW))
		r = rg_values_check(op->request, request, err);
	if (r == ROGER_OK && roger && roger->workspace->config->groups_unread.length &&
	    op->flags & ROGER_GROUPS && (op != &rg_op_send || !is_for_agents(roger, request)))
		r = rg_config_read_groups(roger->workspace->config, err);
	if (r == ROGER_OK)
		r = check_caller(op, roger, request, err);
	if (r == ROGER_OK)
		r = check_exposure(op, roger, err);
	return r < 0 ? r : rg_address_resolve(roger, op, request, memory, ret_request, err);
}

/* Record which worktree the agent is in.  A send or inbox outside of worktrees skips this. */
static void take_seat(const struct roger_op *op, const struct roger *roger, const void *request)
{
	const struct roger_field *field = rg_find_flag(op->request, ROGER_SELF);

	if (field && roger && roger->caller.how == RG_BY_FILES &&
	    (roger->workspace->tree.base[0] || (op != &rg_op_send && op != &rg_op_inbox)))
		rg_seat_take(roger->workspace,
			     *(const struct roger_str *)rg_field_at(field, request));
}

/* Return the next list of messages in a reply that is not empty, from *field on; NULL: no more. */
static const struct roger_message_list *next_messages(const struct roger_field **field,
						      const void *reply)
{
	const struct roger_message_list *list;

	while ((*field)->name) {
		list = rg_field_at(*field, reply);
		if ((*field)++->kind == ROGER_RECORDS &&
		    (*field)[-1].record == &rg_message_record && list->count)
			return list;
	}
	return NULL;
}

/* Mark the messages of a reply whose lines were altered. */
static int mark_altered(const struct roger_op *op, struct roger *roger, void *reply,
			struct rg_arena *memory, struct roger_err *err)
{
	const struct roger_field *field = op->reply->fields;
	const struct roger_message_list *list;
	int r = ROGER_OK;

	while (roger && r == ROGER_OK && (list = next_messages(&field, reply)))
		r = rg_engine_mark_altered(roger->engine,
					   (struct roger_message *)(uintptr_t)list->items,
					   list->count, memory, err);
	return r;
}

/* Call the verb's function; fail if memory ran out while it wrote the reply. */
static int call_verb(const struct roger_op *op, struct roger *roger, const void *request,
		     void *reply, struct roger_err *err)
{
	int r = op->run(roger, request, reply, err);

	return r < 0 ? r : rg_kept(!rg_arena_failed(rg_op_memory(reply)), err);
}

int rg_op_ask(struct roger *roger, const struct roger_op *op, const void *request, void *reply,
	      struct roger_err *err)
{
	return roger->remote ? roger->elsewhere->ask(roger->remote, op, request, reply, err)
			     : call_verb(op, roger, request, reply, err);
}

/* True if a reply has a message whose leases expired too often, and that is not dead yet. */
static bool shows_worn(const struct roger_op *op, const struct roger *roger, const void *reply)
{
	const struct rg_config *config = roger->workspace->config;
	const struct roger_field *field = op->reply->fields;
	const struct roger_message_list *list;
	const int64_t now_ms = rg_clock_ms();
	size_t i;

	while ((list = next_messages(&field, reply)))
		for (i = 0; i < list->count; i++)
			if (rg_message_worn(&list->items[i], now_ms, config->lease_ms_max,
					    config->leases_max))
				return true;
	return false;
}

/*
 * Run a verb.  Verbs with ROGER_TELLS first write the changes that time alone has made, so that all
 * verbs agree on them.  A verb that only reads runs once more if its reply shows such a change, or
 * if damage was noted, so that its answer includes that.
 */
static int run_verb(const struct roger_op *op, struct roger *roger, const void *request,
		    void *reply, struct roger_err *err)
{
	const uint64_t noted = roger ? rg_engine_noted(roger->engine) : 0;
	struct rg_arena *memory = rg_op_memory(reply);
	bool again;
	int r;

	if (roger && op->flags & ROGER_TELLS)
		roger->settle(roger);
	r = call_verb(op, roger, request, reply, err);
	if (r < 0 || !roger || op->flags & ROGER_WRITES || op == &rg_op_verify ||
	    op == &rg_op_doctor)
		return r;
	again = shows_worn(op, roger, reply);
	if (again)
		roger->settle(roger);
	if (!again && rg_engine_noted(roger->engine) == noted)
		return r;
	memset(reply, 0, op->reply->size);
	memcpy(reply, &memory, sizeof memory);
	return call_verb(op, roger, request, reply, err);
}

int rg_op_perform(const struct roger_op *op, struct roger *roger, const void *request, void *reply,
		  struct roger_err *err)
{
	const uint64_t stored = roger ? rg_engine_stored(roger->engine) : 0;
	int r = prepare_request(op, roger, request, rg_op_memory(reply), &request, err);

	if (r < 0)
		return r;
	take_seat(op, roger, request);
	r = run_verb(op, roger, request, reply, err);
	if (r == ROGER_ETIMEOUT && roger)
		rg_engine_hurry(roger->engine);
	if (r == ROGER_OK && roger)
		r = rg_caller_sift(roger, op, reply, err);
	if (is_noted(op, roger, stored, reply, r))
		rg_note(roger, op, request, reply, r, err);
	return r;
}

int rg_op_call(const struct roger_op *op, struct roger *roger, const void *request, void *ret_reply,
	       struct roger_err *err)
{
	const bool far = roger && roger->remote;
	struct rg_arena *memory;
	struct roger_err local;
	int r;

	err = err ? err : &local;
	if (roger)
		roger->untold[0] = '\0';
	if (roger && roger->engine) {
		rg_engine_forget_trouble(roger->engine);
		rg_workspace_refresh(roger->workspace);
	}
	/* A send does not look at trust, to save time. */
	if (roger && roger->workspace && op != &rg_op_send)
		rg_workspace_compare(roger->workspace);
	memset(ret_reply, 0, op->reply->size);
	if (!roger && !(op->flags & ROGER_NO_WORKSPACE))
		return rg_fail(err, ROGER_EUSAGE, 0, "%s needs an open workspace", op->name);
	memory = rg_arena_new();
	if (!memory)
		return rg_fail_memory(err);
	memcpy(ret_reply, &memory, sizeof memory);

	/* With a server, this process only does the part of a verb that is local. */
	r = far ? rg_request_check(op->request, request, err)
		: rg_op_perform(op, roger, request, ret_reply, err);
	if (r == ROGER_OK && far)
		r = call_verb(op, roger, request, ret_reply, err);
	/* An error here is ignored: mail that was taken must be answered. */
	if (r == ROGER_OK && !far)
		(void)!mark_altered(op, roger, ret_reply, memory, NULL);
	if (r < 0) {
		rg_arena_free(memory);
		memset(ret_reply, 0, op->reply->size);
	}
	return r;
}

int rg_op_place(const struct roger *roger, struct rg_arena *arena, struct roger_str *ret_store,
		struct roger_str *ret_served_by, struct roger_str *ret_standby,
		struct roger_err *err)
{
	char host[256] = "";

	/* A caller with access to the files needs no server's place. */
	if (roger->caller.how == RG_BY_FILES)
		return ROGER_OK;
	gethostname(host, sizeof host - 1);
	return rg_kept(rg_arena_copy(arena, rg_store_place(roger->workspace), ret_store) &&
			       rg_arena_copy(arena, rg_str(rg_engine_standby(roger->engine)),
					     ret_standby) &&
			       rg_arena_print(arena, ret_served_by, "process %lld on %s",
					      (long long)getpid(), host),
		       err);
}

int rg_op_new_id(struct roger *roger, int64_t now_ms, struct rg_arena *arena,
		 struct roger_str *ret_id, struct roger_err *err)
{
	char id[RG_MESSAGE_ID_BYTES_MAX];
	size_t length;
	int r = rg_id_new(&roger->ids, now_ms, id, &length, err);

	return r < 0 ? r
		     : rg_kept(rg_arena_copy(arena, (struct roger_str){ id, length }, ret_id), err);
}

int rg_op_path(struct roger_str path, const char *member, char to[4096], struct roger_err *err)
{
	if (path.length >= 4096)
		return rg_fail_member(err, ROGER_EDATA, member, "%s: expected at most 4095 bytes",
				      member);
	snprintf(to, 4096, "%.*s", RG_STR_ARGS(path));
	return ROGER_OK;
}
