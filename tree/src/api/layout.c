#include "api/layout.h"

/* A ROGER_RECORDS field. */
struct list {
	const void *items;
	size_t count;
};

/* One copy: between which layouts, NULL for the library's own, and where new lists go. */
struct copy {
	const struct roger_item *from;
	const struct roger_item *to;
	struct rg_arena *arena;
	bool whole; /* nothing that is set may be left behind */
	struct roger_err *err;
};

static size_t size_of(const struct roger_record *type, const struct roger_item *items)
{
	for (; items && items->record; items++)
		if (strcmp(items->record, type->name) == 0)
			return items->size;
	return type->size;
}

/* Are the items of all lists, and of lists in these, as long as the library's? */
static bool same_items(const struct roger_record *type, const struct roger_item *items)
{
	const struct roger_field *field;

	for (field = type->fields; field->name; field++)
		if (field->kind == ROGER_RECORDS &&
		    (size_of(field->record, items) != field->record->size ||
		     !same_items(field->record, items)))
			return false;
	return true;
}

static bool all_zero(const char *bytes, size_t length)
{
	while (length && !bytes[length - 1])
		length--;
	return length == 0;
}

static int copy_record(const struct copy *copy, const struct roger_record *type, const void *from,
		       size_t from_size, void *to, size_t to_size);

static int copy_list(const struct copy *copy, const struct roger_record *type, struct list *list)
{
	size_t from_size = size_of(type, copy->from), to_size = size_of(type, copy->to), i;
	const char *from = list->items;
	char *to;
	int r;

	if (!list->count)
		return ROGER_OK;
	to = rg_arena_get(copy->arena, list->count * to_size);
	if (!to)
		return rg_fail_memory(copy->err);
	for (i = 0; i < list->count; i++) {
		r = copy_record(copy, type, from + i * from_size, from_size, to + i * to_size,
				to_size);
		if (r < 0)
			return r;
	}
	list->items = to;
	return ROGER_OK;
}

/* Members that both have; what is only in the longer one stays behind, or becomes zero. */
static int copy_record(const struct copy *copy, const struct roger_record *type, const void *from,
		       size_t from_size, void *to, size_t to_size)
{
	size_t size = from_size < to_size ? from_size : to_size;
	const struct roger_field *field;
	int r = ROGER_OK;

	if (copy->whole && !all_zero((const char *)from + size, from_size - size))
		return rg_fail(copy->err, ROGER_EUSAGE, 0,
			       "%s: asks for what libroger " ROGER_VERSION
			       " does not know: a newer one is needed",
			       type->name);
	memcpy(to, from, size);
	memset((char *)to + size, 0, to_size - size);
	for (field = type->fields; field->name && r == ROGER_OK; field++)
		if (field->kind == ROGER_RECORDS && field->offset + sizeof(struct list) <= size)
			r = copy_list(copy, field->record, rg_field_at(field, to));
	return r;
}

/* The reply's memory is its own from the start, so that new lists can go there. */
static int run_copied(const struct roger_op *op, const struct rg_layout *layout,
		      struct roger *roger, struct rg_arena *arena, const void *request,
		      void *ret_reply, struct roger_err *err)
{
	struct copy in = { layout->items, NULL, arena, true, err };
	struct copy out = { NULL, layout->items, NULL, false, err };
	void *own_request = rg_arena_get(arena, op->request->size);
	void *own_reply = rg_arena_get(arena, op->reply->size);
	int r;

	if (!own_request || !own_reply)
		return rg_fail_memory(err);
	r = copy_record(&in, op->request, request, layout->request, own_request, op->request->size);
	if (r == ROGER_OK)
		r = rg_op_call(op, roger, own_request, own_reply, err);
	if (r < 0)
		return r;
	out.arena = rg_op_memory(own_reply);
	r = copy_record(&out, op->reply, own_reply, op->reply->size, ret_reply, layout->reply);
	if (r < 0)
		rg_arena_free(out.arena);
	return r;
}

int rg_layout_run(const struct roger_op *op, const struct rg_layout *layout, struct roger *roger,
		  const void *request, void *ret_reply, struct roger_err *err)
{
	struct rg_arena *arena;
	int r;

	if (layout->request == op->request->size && layout->reply == op->reply->size &&
	    same_items(op->request, layout->items) && same_items(op->reply, layout->items))
		return rg_op_call(op, roger, request, ret_reply, err);
	arena = rg_arena_new();
	if (!arena)
		r = rg_fail_memory(err);
	else
		r = run_copied(op, layout, roger, arena, request, ret_reply, err);
	rg_arena_free(arena);
	if (r < 0)
		memset(ret_reply, 0, layout->reply);
	return r;
}
