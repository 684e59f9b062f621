#include "ops/caller.h"

#include "facts/retirement.h"

enum rg_right rg_right_of(const struct roger_op *op)
{
	if (op->flags & ROGER_ADMINISTERS)
		return RG_ADMINISTER;
	return op->flags & (ROGER_WRITES | ROGER_MARKS) ? RG_ACT : RG_LOOK;
}

bool rg_name_is_pattern(struct roger_str text)
{
	return text.length > 1 && text.data[text.length - 1] == '*';
}

bool rg_name_fits(struct roger_str pattern, struct roger_str name)
{
	const size_t before = pattern.length - 1;

	if (!rg_name_is_pattern(pattern))
		return rg_str_equal(pattern, name);
	return name.length > before && strncmp(pattern.data, name.data, before) == 0;
}

static bool is_login(const struct roger *roger)
{
	return roger->caller.how == RG_BY_LOGIN;
}

static bool may_administer(const struct roger *roger)
{
	return roger->caller.how < RG_BY_TOKEN || roger->caller.right == RG_ADMINISTER;
}

bool rg_caller_is_bound(const struct roger *roger)
{
	return !may_administer(roger) || is_login(roger);
}

bool rg_caller_is(const struct roger *roger, struct roger_str name)
{
	return !rg_caller_is_bound(roger) || rg_name_fits(roger->caller.name, name);
}

bool rg_caller_proves(const struct roger *roger, struct roger_str name)
{
	return roger->caller.how >= RG_BY_TOKEN && roger->caller.right >= RG_ACT && name.length &&
	       rg_name_fits(roger->caller.name, name);
}

bool rg_caller_stands_in(const struct roger *roger, struct roger_str agent)
{
	return is_login(roger) && may_administer(roger) && !rg_caller_is(roger, agent);
}

int rg_caller_may_change(const struct roger *roger, const char *member, const char *what,
			 struct roger_str id, struct roger_str owner, struct roger_str other,
			 struct roger_err *err)
{
	const struct roger_str name = roger->caller.name;

	if (may_administer(roger) || rg_name_fits(name, owner) || rg_name_fits(name, other))
		return ROGER_OK;
	if (roger->caller.own)
		return rg_fail_member(err, ROGER_ENOENT, member, "no %s '%.*s' of '%.*s'", what,
				      RG_STR_ARGS(id), RG_STR_ARGS(name));
	return rg_fail_member(err, ROGER_EREFUSED, member,
			      "%s '%.*s' is not '%.*s''s to change; ask '%.*s', or use a token "
			      "that may administer",
			      what, RG_STR_ARGS(id), RG_STR_ARGS(name),
			      RG_STR_ARGS(owner.length ? owner : other));
}

/* ------------------------------------------------------------- the request -- */

/* True if a person looks at an agent's mail, which does not count as a look of the agent. */
static bool is_look_of_person(const struct roger *roger, const struct roger_op *op)
{
	const struct rg_caller *caller = &roger->caller;

	return rg_right_of(op) == RG_LOOK && (caller->page || caller->right == RG_LOOK);
}

/* Fail if the caller may not use this name.  A person may ack in the name of the recipient. */
static int check_name(const struct roger *roger, const struct roger_op *op,
		      const struct roger_field *field, struct roger_str name, struct roger_err *err)
{
	const bool self = field->flags & ROGER_SELF;
	const char *cure = "leave the member out";

	if (!name.length || rg_caller_is(roger, name) || is_look_of_person(roger, op) ||
	    (self && op == &rg_op_ack && rg_caller_stands_in(roger, name)))
		return ROGER_OK;
	if (self)
		cure = rg_name_is_pattern(roger->caller.name)
			       ? "say a name that fits (--as, or ROGER_AGENT)"
			       : "say that name (--as, or ROGER_AGENT), or none";
	return rg_fail_member(err, ROGER_EREFUSED, field->name, "%s: this %s is for '%.*s'; %s",
			      field->name, is_login(roger) ? "login" : "token",
			      RG_STR_ARGS(roger->caller.name), cure);
}

/* Check every name of an actor in a record, at every depth. */
static int check_names(const struct roger *roger, const struct roger_op *op,
		       const struct roger_record *type, const void *record, struct roger_err *err)
{
	const struct roger_field *field;
	const struct rg_list *list;
	size_t i;
	int r = ROGER_OK;

	for (field = type->fields; field->name && r == ROGER_OK; field++) {
		list = rg_field_at(field, record);
		if (field->flags & (ROGER_SELF | ROGER_ACTOR))
			r = check_name(roger, op, field,
				       *(const struct roger_str *)(const void *)list, err);
		for (i = 0; field->kind == ROGER_RECORDS && i < list->count && r == ROGER_OK; i++)
			r = check_names(roger, op, field->record,
					list->items + i * field->record->size, err);
	}
	return r;
}

/* Fail if no name is given and the caller's is a pattern, which cannot take its place. */
static int check_said(const struct roger *roger, const struct roger_op *op, const void *request,
		      struct roger_err *err)
{
	const struct roger_field *field = rg_find_flag(op->request, ROGER_SELF);

	if (!field || !rg_caller_is_bound(roger) || !rg_name_is_pattern(roger->caller.name) ||
	    ((const struct roger_str *)rg_field_at(field, request))->length)
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, field->name,
			      "%s: this token is for each name that fits '%.*s'; say which one "
			      "(--as, or ROGER_AGENT)",
			      field->name, RG_STR_ARGS(roger->caller.name));
}

/* ------------------------------------------------------------ one's own mail -- */

/* Fail unless the caller sees only its own mail.  Each such verb is bound to one name, or sifted
 * below.  A list must have the caller as from or to, so that its pages and total are its own. */
static int check_own(const struct roger *roger, const struct roger_op *op, const void *request,
		     struct roger_err *err)
{
	const struct roger_list_request *list = request;

	if (!(op->flags & ROGER_OWN))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "this token sees the mail of '%.*s' alone; '%s' needs one that may "
			       "look at all",
			       RG_STR_ARGS(roger->caller.name), op->name);
	if (op != &rg_op_list || (list->from.length && rg_caller_is(roger, list->from)) ||
	    (list->to.length && rg_caller_is(roger, list->to)))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, "to",
			      "to: this token sees the mail of '%.*s' alone; give that as to, or "
			      "as from",
			      RG_STR_ARGS(roger->caller.name));
}

bool rg_name_has_part(struct roger_str pattern, const struct roger_message *message)
{
	return rg_name_fits(pattern, message->from) || rg_name_fits(pattern, message->to);
}

int rg_caller_leave_own(const struct roger *roger, const char *member,
			struct roger_message_list *messages, struct rg_arena *arena,
			struct roger_err *err)
{
	struct roger_message *items = (struct roger_message *)(uintptr_t)messages->items;
	const struct roger_str name = roger->caller.name;
	const size_t count = messages->count;
	struct roger_retired_list retired;
	size_t i;
	int r;

	if (!roger->caller.own || roger->own_mail)
		return ROGER_OK;
	r = rg_engine_retired(roger->engine, arena, &retired, err);
	if (r < 0)
		return r;
	messages->count = 0;
	for (i = 0; i < count; i++)
		if (rg_name_has_part(name, &items[i]) ||
		    rg_name_fits(name, rg_retired_owner(&retired, items[i].to)))
			items[messages->count++] = items[i];
	return messages->count
		       ? ROGER_OK
		       : rg_fail_member(err, ROGER_ENOENT, member, "%s: no such message of '%.*s'",
					member, RG_STR_ARGS(name));
}

/* The caller must not even learn how much mail others have. */
int rg_caller_sift(const struct roger *roger, const struct roger_op *op, void *reply,
		   struct roger_err *err)
{
	struct roger_messages_reply *found = reply;
	int r = ROGER_OK;

	if (op == &rg_op_list || op == &rg_op_show)
		r = rg_caller_leave_own(roger, "ids", &found->messages, found->memory, err);
	return op == &rg_op_list && r == ROGER_ENOENT ? ROGER_OK : r;
}

/* Put the caller in where the request names nobody; mark a look at another's mail as a person's. */
static void fill_in(const struct roger *roger, const struct roger_op *op, void *request)
{
	const struct roger_str name = roger->caller.name, *said = NULL;
	const bool looks = is_look_of_person(roger, op);
	const struct roger_field *field;
	struct roger_str *place;

	for (field = op->request->fields; field->name; field++) {
		place = rg_field_at(field, request);
		if (field->flags & ROGER_SELF) {
			said = place;
			if (!place->length &&
			    (rg_caller_is_bound(roger) || (field->flags & ROGER_REQUIRED)) &&
			    roger->caller.right != RG_LOOK && !rg_name_is_pattern(name))
				*place = name;
		} else if ((field->flags & ROGER_PERSON) && looks && said &&
			   (roger->caller.right == RG_LOOK ||
			    (said->length && !rg_str_equal(*said, name)))) {
			*(bool *)(void *)place = true;
		}
	}
}

int rg_caller_check(struct roger *roger, const struct roger_op *op, const void *request,
		    struct rg_arena *arena, const void **ret_request, struct roger_err *err)
{
	void *copy;
	int r;

	*ret_request = request;
	if (!roger || roger->caller.how == RG_BY_FILES || roger->own_mail)
		return ROGER_OK;
	if (roger->caller.right < rg_right_of(op))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "this token may %s; '%s' needs one that may %s",
			       rg_right_names[roger->caller.right], op->name,
			       rg_right_names[rg_right_of(op)]);
	if (roger->caller.right == RG_ACT &&
	    rg_config_reserves_sender(roger->workspace->config, roger->caller.name))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "this token is for '%.*s', a name that no agent may have; make one "
			       "for another",
			       RG_STR_ARGS(roger->caller.name));
	r = check_names(roger, op, op->request, request, err);
	if (r == ROGER_OK && roger->caller.right != RG_LOOK)
		r = check_said(roger, op, request, err);
	if (r == ROGER_OK && roger->caller.own)
		r = check_own(roger, op, request, err);
	if (r < 0)
		return r;
	copy = rg_arena_get(arena, op->request->size + 1);
	if (!copy)
		return rg_fail_memory(err);
	memcpy(copy, request, op->request->size);
	fill_in(roger, op, copy);
	*ret_request = copy;
	return ROGER_OK;
}
