#include "ops/proof/note.h"

#include <stdio.h>

#include "facts/activity.h"

/* A name that was mentioned; once several were, none of them stands for all. */
struct mention {
	struct roger_str name;
	bool several;
};

/* What the fields of a request, or of a reply, tell. */
struct gathered {
	struct mention agent, issue, run;
	struct roger_str key;
	struct roger_str ids[RG_NOTED_IDS_MAX];
	size_t id_count; /* all of them, those beyond the array too */
	bool dry_run;
};

/* What a field is to a note, found by its kind and name. */
enum part { NOTHING, AGENT, ISSUE, RUN, KEY, ID, IDS, DRY_RUN, LIST };

static enum part part_of(const struct roger_field *field)
{
	static const struct {
		const char *name;
		enum roger_kind kind;
		enum part part;
	} parts[] = {
		{ "issue", ROGER_NAME, ISSUE },	    { "issue_id", ROGER_NAME, ISSUE },
		{ "run", ROGER_NAME, RUN },	    { "key", ROGER_TEXT, KEY },
		{ "id", ROGER_TEXT, ID },	    { "ids", ROGER_TEXTS, IDS },
		{ "dry_run", ROGER_BOOL, DRY_RUN },
	};
	size_t i;

	if (field->flags & ROGER_SELF)
		return AGENT;
	if (field->kind == ROGER_RECORDS)
		return LIST;
	for (i = 0; i < sizeof parts / sizeof *parts; i++)
		if (field->kind == parts[i].kind && strcmp(field->name, parts[i].name) == 0)
			return parts[i].part;
	return NOTHING;
}

/* What is no name may be anything, so it is not repeated. */
static void mention(struct mention *mention, struct roger_str name)
{
	if (!rg_name_valid(name))
		return;
	mention->several |= mention->name.length && !rg_str_equal(mention->name, name);
	mention->name = name;
}

static void add_id(struct gathered *gathered, struct roger_str id)
{
	if (!rg_name_valid(id))
		return;
	if (gathered->id_count < RG_NOTED_IDS_MAX)
		gathered->ids[gathered->id_count] = id;
	gathered->id_count++;
}

static void gather(struct gathered *gathered, const struct roger_record *type, const void *records,
		   size_t count);

static void gather_part(struct gathered *gathered, const struct roger_field *field, enum part part,
			const void *record)
{
	const void *at = rg_field_at(field, record);
	const struct roger_strs *texts = at;
	const struct {
		const void *items;
		size_t count;
	} *list = at;
	size_t i;

	switch (part) {
	case NOTHING:
		break;
	case AGENT:
		mention(&gathered->agent, *(const struct roger_str *)at);
		break;
	case ISSUE:
		mention(&gathered->issue, *(const struct roger_str *)at);
		break;
	case RUN:
		mention(&gathered->run, *(const struct roger_str *)at);
		break;
	case KEY:
		gathered->key = *(const struct roger_str *)at;
		break;
	case ID:
		add_id(gathered, *(const struct roger_str *)at);
		break;
	case IDS:
		for (i = 0; i < texts->count; i++)
			add_id(gathered, texts->items[i]);
		break;
	case DRY_RUN:
		gathered->dry_run |= *(const bool *)at;
		break;
	case LIST:
		gather(gathered, field->record, list->items, list->count);
		break;
	}
}

static void gather(struct gathered *gathered, const struct roger_record *type, const void *records,
		   size_t count)
{
	const struct roger_field *field;
	enum part part;
	size_t i;

	for (field = type->fields; field->name; field++) {
		part = part_of(field);
		for (i = 0; i < count && part != NOTHING; i++)
			gather_part(gathered, field, part, (const char *)records + i * type->size);
	}
}

/* ------------------------------------------------------------- the entry -- */

static struct roger_str task_of_key(struct roger_str key)
{
	const char *colon = key.length ? memchr(key.data, ':', key.length) : NULL;
	struct roger_str task = { key.data, colon ? (size_t)(colon - key.data) : 0 };

	return rg_name_valid(task) ? task : RG_STR("");
}

static struct roger_str task_of(const struct gathered *asked, const struct gathered *given)
{
	const struct roger_str tasks[] = {
		asked->issue.several ? RG_STR("") : asked->issue.name,
		asked->run.name,
		task_of_key(asked->key),
		given->issue.several ? RG_STR("") : given->issue.name,
		given->run.name,
	};
	size_t i;

	for (i = 0; i < sizeof tasks / sizeof *tasks; i++)
		if (tasks[i].length)
			return tasks[i];
	return RG_STR("general");
}

static void add_text(struct rg_buf *out, const char *name, struct roger_str text)
{
	rg_json_add_key(out, rg_str(name));
	rg_json_add_string(out, text);
}

void rg_note_begin(struct rg_buf *out, const char *verb, struct roger_str agent)
{
	rg_buf_add_char(out, '{');
	add_text(out, "tool", RG_STR("roger"));
	add_text(out, "verb", rg_str(verb));
	if (agent.length)
		add_text(out, "agent", agent);
}

void rg_note_ids(struct rg_buf *out, const struct roger_str *ids, size_t id_count, int64_t count)
{
	size_t i;

	if (count == 0)
		return;
	rg_json_add_key(out, RG_STR("ids"));
	rg_buf_add_char(out, '[');
	for (i = 0; i < id_count; i++) {
		if (i)
			rg_buf_add_char(out, ',');
		rg_json_add_string(out, ids[i]);
	}
	rg_buf_add_char(out, ']');
	rg_note_number(out, "count", count);
}

void rg_note_number(struct rg_buf *out, const char *name, int64_t number)
{
	rg_json_add_key(out, rg_str(name));
	rg_buf_add_int(out, number);
}

static void add_ids(struct rg_buf *out, const struct gathered *gathered)
{
	rg_note_ids(out, gathered->ids,
		    gathered->id_count < RG_NOTED_IDS_MAX ? gathered->id_count : RG_NOTED_IDS_MAX,
		    (int64_t)gathered->id_count);
}

/* The numbers a reply consists of. */
static void add_numbers(struct rg_buf *out, const struct roger_record *type, const void *reply)
{
	const struct roger_field *field;

	for (field = type->fields; field->name; field++)
		if (field->kind == ROGER_INT && !rg_field_unset(field, reply))
			rg_field_encode(field, reply, out);
}

/* Of one record, and of those in its lists. */
static int64_t count_duplicates(const struct roger_record *type, const void *record)
{
	const struct roger_field *field;
	const struct {
		const char *items;
		size_t count;
	} * list;
	int64_t count = 0;
	size_t i;

	for (field = type->fields; field->name; field++) {
		if (field->kind == ROGER_BOOL && strcmp(field->name, "duplicate") == 0)
			count += *(const bool *)rg_field_at(field, record);
		if (field->kind != ROGER_RECORDS)
			continue;
		list = rg_field_at(field, record);
		for (i = 0; i < list->count; i++)
			count += count_duplicates(field->record,
						  list->items + i * field->record->size);
	}
	return count;
}

int64_t rg_note_duplicates(const struct roger_op *op, const void *reply)
{
	return op == &rg_op_send || op == &rg_op_send_many ? count_duplicates(op->reply, reply) : 0;
}

static void add_duplicates(struct rg_buf *out, int64_t duplicates)
{
	if (!duplicates)
		return;
	rg_json_add_key(out, RG_STR("duplicates"));
	rg_buf_add_int(out, duplicates);
}

static void print_details(const struct roger_op *op, const struct gathered *asked,
			  const struct gathered *given, const void *reply, int code,
			  struct rg_buf *out)
{
	rg_note_begin(out, op->name,
		      asked->agent.several ? (struct roger_str){ "", 0 } : asked->agent.name);
	add_ids(out, given->id_count ? given : asked);
	if (code == ROGER_OK) {
		add_numbers(out, op->reply, reply);
		add_duplicates(out, rg_note_duplicates(op, reply));
	}
	rg_buf_add_char(out, '}');
}

int rg_note_write(struct roger *roger, const struct roger_activity *entry, bool durable,
		  struct roger_err *err)
{
	struct rg_buf line;
	int r;

	rg_buf_init(&line, SIZE_MAX);
	r = rg_activity_print(entry, &line, err);
	if (r == ROGER_OK)
		r = rg_engine_records_begin(roger->engine, err);
	if (r == ROGER_OK) {
		r = rg_engine_log_append(roger->engine, RG_LOG_ACTIVITY, RG_STR(""),
					 rg_buf_str(&line), durable, err);
		rg_engine_records_end(roger->engine);
	}
	rg_buf_deinit(&line);
	return r;
}

void rg_note(struct roger *roger, const struct roger_op *op, const void *request, const void *reply,
	     int code, const struct roger_err *err)
{
	struct gathered asked = { 0 }, given = { 0 };
	char timestamp[32], outcome[64];
	struct roger_activity entry = { .action_type = ROGER_TOOL_EXEC };
	struct roger_err inner;
	struct rg_buf details;

	gather(&asked, op->request, request, 1);
	if (code == ROGER_OK)
		gather(&given, op->reply, reply, 1);
	if (asked.dry_run)
		return;

	rg_clock_print_utc(rg_clock_ms(), timestamp);
	entry.timestamp = rg_str(timestamp);
	entry.task_id = task_of(&asked, &given);
	rg_buf_init(&details, SIZE_MAX);
	print_details(op, &asked, &given, reply, code, &details);
	entry.action_details = rg_buf_str(&details);
	if (code < 0) {
		entry.outcome_status = ROGER_FAILURE;
		snprintf(outcome, sizeof outcome, "%s%s%s", rg_code_name(code),
			 err->member[0] ? ": " : "", err->member);
		entry.outcome_message = rg_str(outcome);
	}
	/* Where the verb failed, its own error says enough. */
	if ((details.failed || rg_note_write(roger, &entry, false, &inner) < 0) && code == ROGER_OK)
		snprintf(roger->untold, sizeof roger->untold,
			 "done, but not noted in the activity log: %.400s",
			 details.failed ? "out of memory" : inner.message);
	rg_buf_deinit(&details);
}

/* --------------------------------------------------------------- reading -- */

static struct roger_str text_of(const struct rg_value *object, const char *member)
{
	const struct rg_value *value = rg_json_member(object, member);

	return value && rg_json_kind(value) == RG_JSON_STRING ? rg_json_str(value)
							      : (struct roger_str){ "", 0 };
}

static int64_t number_of(const struct rg_value *object, const char *member)
{
	const struct rg_value *value = rg_json_member(object, member);
	int64_t number;

	return value && rg_json_int(value, &number) ? number : 0;
}

static int read_ids(const struct rg_value *details, struct rg_arena *arena,
		    struct roger_strs *ret_ids, struct roger_err *err)
{
	const struct rg_value *ids = rg_json_member(details, "ids"), *id;
	struct {
		struct roger_str *items;
		size_t count;
	} list = { 0 };
	struct roger_str *place, name;
	size_t i = 0;

	while (ids && rg_json_kind(ids) == RG_JSON_ARRAY && rg_json_next(ids, &i, &name, &id)) {
		if (rg_json_kind(id) != RG_JSON_STRING)
			continue;
		place = rg_arena_push(arena, &list.items, &list.count, sizeof *place);
		if (!place || !rg_arena_copy(arena, rg_json_str(id), place))
			return rg_fail_memory(err);
	}
	*ret_ids = (struct roger_strs){ list.items, list.count };
	return ROGER_OK;
}

int rg_own_note(const struct roger_activity *activity, struct rg_arena *arena,
		struct rg_own_note *ret_note, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *root;

	*ret_note = (struct rg_own_note){ .verb = { "", 0 } };
	if (rg_json_read(activity->action_details, &json, NULL) < 0)
		return ROGER_OK;
	root = rg_json_root(json);
	if (!rg_str_is(text_of(root, "tool"), "roger"))
		return ROGER_OK;
	ret_note->duplicates = number_of(root, "duplicates");
	ret_note->count = number_of(root, "count");
	ret_note->position = number_of(root, "position");
	ret_note->attempt = number_of(root, "attempt");
	if (!rg_arena_copy(arena, text_of(root, "verb"), &ret_note->verb) ||
	    !rg_arena_copy(arena, text_of(root, "agent"), &ret_note->agent))
		return rg_fail_memory(err);
	return read_ids(root, arena, &ret_note->ids, err);
}

int rg_own_note_read(const struct rg_log_entry *entry, struct rg_arena *arena,
		     struct roger_activity *ret_activity, struct rg_own_note *ret_note,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	int r;

	*ret_note = (struct rg_own_note){ .verb = { "", 0 } };
	r = rg_activity_read(entry->text, &json, arena, ret_activity, err);
	/* What is no entry of ours tells nothing. */
	if (r == ROGER_EDATA)
		return ROGER_OK;
	if (r == ROGER_OK)
		r = rg_own_note(ret_activity, arena, ret_note, err);
	if (r == ROGER_OK && !rg_record_keep(&rg_activity_record, ret_activity, arena))
		r = rg_fail_memory(err);
	return r;
}
