#include "ops/op.h"

#include "ops/address.h"
#include "ops/proof/note.h"
#include "facts/message.h"
#include "facts/message_cleanup.h"

#define ROW(verb, request, reply) &rg_op_##verb,
const struct roger_op *const rg_op_table[] = { ROGER_VERBS(ROW, ROW) NULL };
#undef ROW

struct rg_alone rg_alone;

/* A verb that stored something, or should have, notes that; so does a send that was one already. */
static bool is_noted(const struct roger_op *op, const struct roger *roger, uint64_t stored_before,
		     const void *reply, int code)
{
	if (!roger || !(op->flags & ROGER_WRITES) || (op->flags & ROGER_UNNOTED) ||
	    !roger->workspace->config->note_own)
		return false;
	return code < 0 || rg_engine_stored(roger->engine) != stored_before ||
	       rg_note_duplicates(op, reply);
}

/* Those that an agent calls again and again, and which look at no groups. */
static bool does_without_groups(const struct roger_op *op)
{
	return op == &rg_op_inbox || op == &rg_op_looked || op == &rg_op_receive ||
	       op == &rg_op_claim || op == &rg_op_ack || op == &rg_op_wait;
}

/* A hook looks before each turn of an agent, and shows no note about its name. */
static bool is_of_hook(const struct roger_op *op, const void *request)
{
	return op == &rg_op_inbox && ((const struct roger_inbox_request *)request)->fresh;
}

/* Groups, where they are needed: also to see that a name nobody used is none. */
static int read_groups(const struct roger_op *op, struct roger *roger, const void *request,
		       struct roger_err *err)
{
	const struct roger_field *field;
	const struct roger_str *name;
	bool needed = !does_without_groups(op);

	if (!roger || !roger->workspace->config->groups_path || is_of_hook(op, request))
		return ROGER_OK;
	for (field = op->request->fields; field->name && !needed; field++) {
		name = rg_field_at(field, request);
		needed = (field->flags & ROGER_SELF) && name->length &&
			 !rg_engine_knows(roger->engine, *name);
	}
	return needed ? rg_config_read_groups(roger->workspace->config, err) : ROGER_OK;
}

/* Who calls is one agent: nobody reads what a group or all gets. */
static int check_caller(const struct roger_op *op, const struct roger *roger, const void *request,
			struct roger_err *err)
{
	const struct roger_field *field;
	const struct roger_str *name;

	for (field = op->request->fields; field->name && roger; field++) {
		name = rg_field_at(field, request);
		if ((field->flags & ROGER_SELF) && name->length &&
		    rg_config_reserves(roger->workspace->config, *name))
			return rg_fail_member(err, ROGER_EREFUSED, field->name,
					      "%s: '%.*s' is a group; name one agent", field->name,
					      RG_STR_ARGS(*name));
	}
	return ROGER_OK;
}

int rg_op_call(const struct roger_op *op, struct roger *roger, const void *request, void *ret_reply,
	       struct roger_err *err)
{
	uint64_t stored = roger ? rg_engine_stored(roger->engine) : 0;
	struct rg_arena *memory;
	struct roger_err local;
	int r;

	err = err ? err : &local;
	if (roger)
		roger->untold[0] = '\0';
	memset(ret_reply, 0, op->reply->size);
	if (!roger && !(op->flags & ROGER_NO_WORKSPACE))
		return rg_fail(err, ROGER_EUSAGE, 0, "%s needs an open workspace", op->name);
	r = rg_request_check(op->request, request, err);
	if (r == ROGER_OK)
		r = read_groups(op, roger, request, err);
	if (r == ROGER_OK)
		r = check_caller(op, roger, request, err);
	if (r < 0)
		return r;
	memory = rg_arena_new();
	if (!memory)
		return rg_fail_memory(err);
	memcpy(ret_reply, &memory, sizeof memory);

	r = rg_address_resolve(roger, op, request, memory, &request, err);
	if (r == ROGER_OK) {
		r = op->run(roger, request, ret_reply, err);
		if (is_noted(op, roger, stored, ret_reply, r))
			rg_note(roger, op, request, ret_reply, r, err);
	}
	if (r < 0) {
		rg_arena_free(memory);
		memset(ret_reply, 0, op->reply->size);
	}
	return r;
}

/* -------------------------------------------------------- shared records -- */

#define AT(member) offsetof(struct roger_agent, member)
static const struct roger_field agent_fields[] = {
	{ "name", ROGER_NAME, AT(name), ROGER_REQUIRED, NULL, NULL, "the agent" },
	{ "seq", ROGER_INT, AT(seq), 0, NULL, NULL, "last number it used in this session" },
	{ "sent", ROGER_INT, AT(sent), 0, NULL, NULL, "messages it sent, ever" },
	{ "received", ROGER_INT, AT(received), 0, NULL, NULL, "messages it got, ever" },
	{ "unread", ROGER_INT, AT(unread), 0, NULL, NULL, "of these unread" },
	{ "last_sent_at", ROGER_TIME, AT(last_sent_at_ms), 0, NULL, NULL, "when it last sent" },
	{ "retired", ROGER_BOOL, AT(retired), ROGER_SPARE, NULL, NULL, "gets no more mail" },
	{ "last_looked_at", ROGER_TIME, AT(last_looked_at_ms), ROGER_SPARE, NULL, NULL,
	  "of one with unread mail: when it last looked" },
	RG_END,
};
#undef AT
const struct roger_record rg_agent_record = { "agent", sizeof(struct roger_agent), agent_fields };

static const struct roger_field no_fields[] = { RG_END };
const struct roger_record rg_empty_request_record = { "request", sizeof(struct roger_empty_request),
						      no_fields };

#define AT(member) offsetof(struct roger_messages_reply, member)
static const struct roger_field messages_fields[] = {
	{ "messages", ROGER_RECORDS, AT(messages), ROGER_OF_TOOL, NULL, &rg_message_record,
	  "first in, first out" },
	{ "more", ROGER_BOOL, AT(more), 0, NULL, NULL, "the limit cut the answer" },
	{ "next", ROGER_TEXT, AT(next), ROGER_SPARE, NULL, NULL, "give this as after to go on" },
	RG_END,
};
#undef AT
const struct roger_record rg_messages_reply_record = { "messages",
						       sizeof(struct roger_messages_reply),
						       messages_fields };

#define AT(member) offsetof(struct roger_archive_reply, member)
static const struct roger_field archive_fields[] = {
	{ "archived", ROGER_INT, AT(archived), 0, NULL, NULL, "messages moved out" },
	{ "by_age", ROGER_INT, AT(by_age), 0, NULL, NULL, "of these for their age" },
	{ "by_count", ROGER_INT, AT(by_count), 0, NULL, NULL, "of these for enough newer ones" },
	{ "by_pass", ROGER_INT, AT(by_pass), 0, NULL, NULL, "of these for an earlier pass" },
	{ "kept_unread", ROGER_INT, AT(kept_unread), 0, NULL, NULL,
	  "kept because nobody read them" },
	{ "history", ROGER_RECORDS, AT(history), ROGER_SPARE, NULL, &rg_cleanup_record,
	  "what left issues, the newest first" },
	{ "purged", ROGER_INT, AT(purged), ROGER_SPARE, NULL, NULL,
	  "lines of old cycles that left the send logs" },
	RG_END,
};
#undef AT
const struct roger_record rg_archive_reply_record = { "archived",
						      sizeof(struct roger_archive_reply),
						      archive_fields };
