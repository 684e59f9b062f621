#include "ops/caller.h"

enum rg_right rg_right_of(const struct roger_op *op)
{
	if (op->flags & ROGER_ADMINISTERS)
		return RG_ADMINISTER;
	return op->flags & (ROGER_WRITES | ROGER_MARKS) ? RG_ACT : RG_LOOK;
}

static bool is_login(const struct roger *roger)
{
	return roger->caller.how == RG_BY_LOGIN;
}

static bool administers(const struct roger *roger)
{
	return roger->caller.how < RG_BY_TOKEN || roger->caller.right == RG_ADMINISTER;
}

bool rg_caller_is_bound(const struct roger *roger)
{
	return !administers(roger) || is_login(roger);
}

bool rg_caller_is(const struct roger *roger, struct roger_str name)
{
	return !rg_caller_is_bound(roger) || rg_str_equal(roger->caller.name, name);
}

bool rg_caller_proves(const struct roger *roger, struct roger_str name)
{
	return roger->caller.how >= RG_BY_TOKEN && roger->caller.right >= RG_ACT && name.length &&
	       rg_str_equal(roger->caller.name, name);
}

bool rg_caller_stands_in(const struct roger *roger, struct roger_str agent)
{
	return is_login(roger) && administers(roger) && !rg_caller_is(roger, agent);
}

void rg_caller_print(const struct roger *roger, struct rg_buf *out)
{
	const struct rg_caller *caller = &roger->caller;

	if (caller->name.length)
		rg_buf_printf(out, " by %.*s (%.*s)", RG_STR_ARGS(caller->name),
			      RG_STR_ARGS(caller->login));
}

int rg_caller_may_change(const struct roger *roger, const char *member, const char *what,
			 struct roger_str id, struct roger_str owner, struct roger_str other,
			 struct roger_err *err)
{
	const struct roger_str name = roger->caller.name;

	if (administers(roger) || rg_str_equal(name, owner) || rg_str_equal(name, other))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, member,
			      "%s '%.*s' is not '%.*s''s to change; ask '%.*s', or use a token "
			      "that may administer",
			      what, RG_STR_ARGS(id), RG_STR_ARGS(name),
			      RG_STR_ARGS(owner.length ? owner : other));
}

/* ------------------------------------------------------------- the request -- */

/* A person reads what the agent would get; that is no look of the agent's. */
static bool is_look_of_person(const struct roger *roger, const struct roger_op *op)
{
	const struct rg_caller *caller = &roger->caller;

	return rg_right_of(op) == RG_LOOK && (caller->page || caller->right == RG_LOOK);
}

/* Mail is acknowledged in the name of whom it is for, and by a person. */
static bool may_name(const struct roger *roger, const struct roger_op *op,
		     const struct roger_field *field, struct roger_str name)
{
	return rg_caller_is(roger, name) || is_look_of_person(roger, op) ||
	       ((field->flags & ROGER_SELF) && op == &rg_op_ack &&
		rg_caller_stands_in(roger, name));
}

static int check_name(const struct roger *roger, const struct roger_op *op,
		      const struct roger_field *field, struct roger_str name, struct roger_err *err)
{
	if (!name.length || may_name(roger, op, field, name))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, field->name,
			      "%s: this %s is for '%.*s'; leave the member out", field->name,
			      is_login(roger) ? "login" : "token", RG_STR_ARGS(roger->caller.name));
}

/* Every name of an actor in it, at every depth. */
static int check_names(const struct roger *roger, const struct roger_op *op,
		       const struct roger_record *type, const void *record, struct roger_err *err)
{
	const struct roger_field *field;
	const struct {
		const char *items;
		size_t count;
	} * list;
	size_t i;
	int r = ROGER_OK;

	for (field = type->fields; field->name && r == ROGER_OK; field++) {
		list = rg_field_at(field, record);
		if (field->flags & (ROGER_SELF | ROGER_ACTOR))
			r = check_name(roger, op, field, *(const struct roger_str *)list, err);
		for (i = 0; field->kind == ROGER_RECORDS && i < list->count && r == ROGER_OK; i++)
			r = check_names(roger, op, field->record,
					list->items + i * field->record->size, err);
	}
	return r;
}

/* Where it names nobody, who calls is put in; a look at another's mail is a person's. */
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
			if (!place->length && rg_caller_is_bound(roger) &&
			    roger->caller.right != RG_LOOK)
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
