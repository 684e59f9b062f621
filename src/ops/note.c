#include "ops/caller.h"
#include "ops/note.h"
#include "data/record.h"
#include "facts/sendlog.h"

#include <stdio.h>

/* A name that a record mentions; several: it mentions different ones. */
struct mention {
	struct roger_str name;
	bool several;
};

/* Members of a request or a reply that its note repeats. */
struct gathered {
	struct mention agent, about, issue, run;
	struct roger_str key;
	struct roger_str ids[RG_NOTED_IDS_MAX];
	size_t id_count; /* all ids, also those beyond the array */
	bool dry_run;
	int64_t duplicates;
};

/* Keep a name; a text that is no valid name may be anything, so it is left out. */
static void mention_name(struct mention *mention, struct roger_str name)
{
	if (!rg_name_valid(name))
		return;
	mention->several |= mention->name.length && !rg_str_equal(mention->name, name);
	mention->name = name;
}

static struct roger_str only_name(const struct mention *mention)
{
	return mention->several ? RG_STR("") : mention->name;
}

static void gather_ids(struct gathered *gathered, const struct roger_field *field, const void *at)
{
	const struct roger_strs one = { at, 1 };
	const struct roger_strs *ids = field->kind == ROGER_TEXTS ? at : &one;
	size_t i;

	for (i = 0; i < ids->count; i++) {
		if (!rg_name_valid(ids->items[i]))
			continue;
		if (gathered->id_count < RG_NOTED_IDS_MAX)
			gathered->ids[gathered->id_count] = ids->items[i];
		gathered->id_count++;
	}
}

static void gather_field(struct gathered *gathered, const struct roger_field *field, const void *at)
{
	if (field->flags & ROGER_SELF)
		mention_name(&gathered->agent, *(const struct roger_str *)at);
	if ((field->flags & (ROGER_OTHER | ROGER_REQUIRED | ROGER_RUN)) ==
	    (ROGER_OTHER | ROGER_REQUIRED))
		mention_name(&gathered->about, *(const struct roger_str *)at);
	if (field->flags & ROGER_ISSUE)
		mention_name(&gathered->issue, *(const struct roger_str *)at);
	if (field->flags & ROGER_RUN)
		mention_name(&gathered->run, *(const struct roger_str *)at);
	if (field->flags & ROGER_KEY && ((const struct roger_str *)at)->length)
		gathered->key = *(const struct roger_str *)at;
	if (field->flags & ROGER_ID)
		gather_ids(gathered, field, at);
	if (field->flags & ROGER_DRY_RUN)
		gathered->dry_run |= *(const bool *)at;
	if (field->flags & ROGER_DUPLICATE)
		gathered->duplicates += *(const bool *)at;
}

static void gather_names(struct gathered *gathered, const struct roger_record *type,
			 const void *records, size_t count, unsigned flags)
{
	const struct roger_field *field;
	const struct rg_list *list;
	size_t i;

	for (field = type->fields; field->name; field++)
		for (i = 0; i < count; i++) {
			list = rg_field_at(field, (const char *)records + i * type->size);
			if (field->kind == ROGER_RECORDS)
				gather_names(gathered, field->record, list->items, list->count,
					     flags);
			else if (!(field->flags & flags))
				break;
			else
				gather_field(gathered, field, list);
		}
}

int64_t rg_note_duplicates(const struct roger_op *op, const void *reply)
{
	struct gathered given = { 0 };

	gather_names(&given, op->reply, reply, 1, ROGER_DUPLICATE);
	return given.duplicates;
}

/* --------------------------------------------------------------- writing -- */

int rg_note_append(struct roger *roger, struct roger_str line, bool durable, struct roger_err *err)
{
	int r;

	if (roger->gathers && !durable) {
		rg_buf_add_str(&roger->notes, line);
		return roger->notes.failed ? rg_fail_memory(err) : ROGER_OK;
	}
	r = rg_engine_records_begin(roger->engine, err);
	if (r < 0)
		return r;
	r = rg_engine_log_append(roger->engine, RG_LOG_ACTIVITY, RG_STR(""), line, durable, err);
	rg_engine_records_end(roger->engine);
	return r;
}

int rg_note_write(struct roger *roger, const struct rg_note *note, bool durable,
		  struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	int r = rg_note_print(note, &line, err);

	return r < 0 ? r : rg_note_append(roger, rg_buf_str(&line), durable, err);
}

static void tell_missing(struct roger *roger, const char *missing, const struct roger_err *err)
{
	snprintf(roger->untold, sizeof roger->untold, "%s noted in the activity log: %.400s",
		 missing, err->message);
}

void rg_note_try(struct roger *roger, const struct rg_note *note, const char *missing)
{
	struct roger_err err;

	if (rg_note_write(roger, note, false, &err) < 0 && missing)
		tell_missing(roger, missing, &err);
}

void rg_note_gathered(struct roger *roger, int code)
{
	struct rg_note failed = { .verb = RG_STR("send"),
				  .entry = { .status = ROGER_FAILURE,
					     .message = rg_str(rg_code_name(code)) } };
	struct roger_err err;

	roger->gathers = false;
	if (code < 0) {
		rg_note_ran(roger, &failed);
		rg_note_try(roger, &failed, NULL);
	} else if (roger->notes.length &&
		   rg_note_append(roger, rg_buf_str(&roger->notes), false, &err) < 0) {
		tell_missing(roger, "done, but not", &err);
	}
	rg_buf_clear(&roger->notes);
}

/* -------------------------------------------------------------- of a verb -- */

static struct roger_str task_of_key(struct roger_str key)
{
	const struct roger_str task = rg_key_task(key);

	if (!rg_name_valid(task) || (rg_str_begins(task, RG_KEY_OF_CLIENT) &&
				     task.length == sizeof RG_KEY_OF_CLIENT - 1 + 32))
		return RG_STR("");
	return task;
}

static struct roger_str task_of(const struct gathered *asked, const struct gathered *given)
{
	const struct roger_str tasks[] = { only_name(&asked->issue), asked->run.name,
					   task_of_key(asked->key), only_name(&given->issue),
					   given->run.name };
	size_t i;

	for (i = 0; i < sizeof tasks / sizeof *tasks; i++)
		if (tasks[i].length)
			return tasks[i];
	return RG_STR("");
}

/* Add the numbers of a reply. */
static void add_numbers(struct rg_buf *out, const struct roger_op *op, const void *reply)
{
	const struct roger_field *field;

	for (field = op->reply->fields; field->name; field++)
		if (field->kind == ROGER_INT && !rg_field_unset(field, reply))
			rg_field_encode(field, reply, out);
}

const struct rg_ran *rg_ran(struct roger *roger)
{
	if (!roger->ran.parent[0])
		rg_process_ran(&roger->ran);
	return &roger->ran;
}

void rg_note_ran(struct roger *roger, struct rg_note *note)
{
	note->login = roger->caller.login;
	if (roger->caller.how != RG_BY_FILES)
		return;
	rg_ran(roger);
	note->terminal = rg_str(roger->ran.terminal);
	note->parent = rg_str(roger->ran.parent);
	note->more[0] = (struct rg_note_number){ "uid", roger->ran.uid };
}

/* True for a verb that acts for one agent: it takes its mail, or changes its run or dead letter. */
static bool is_of_one_agent(const struct roger_op *op)
{
	const struct roger_field *field = op->request->fields;

	while (field->name &&
	       (field->flags & (ROGER_SELF | ROGER_REQUIRED)) != (ROGER_SELF | ROGER_REQUIRED) &&
	       !(field->flags & (ROGER_RUN | ROGER_LETTER)))
		field++;
	return field->name != NULL;
}

void rg_note(struct roger *roger, const struct roger_op *op, const void *request, const void *reply,
	     int code, const struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf numbers = { .maximum = SIZE_MAX };
	struct gathered asked = { 0 }, given = { 0 };
	const struct gathered *named = &asked;
	char outcome[64];
	struct rg_note note = { .verb = rg_str(op->name) };

	gather_names(&asked, op->request, request, 1, ~0U);
	if (asked.dry_run)
		return;
	if (code == ROGER_OK) {
		gather_names(&given, op->reply, reply, 1, ~0U);
		add_numbers(&numbers, op, reply);
		note.numbers = numbers.failed ? RG_STR("") : rg_buf_str(&numbers);
		note.duplicates = given.duplicates;
		/* Whom a retirement is about. */
		if (op->flags & ROGER_ADMINISTERS)
			note.name = only_name(&asked.about);
	} else {
		note.entry.status = ROGER_FAILURE;
		snprintf(outcome, sizeof outcome, "%s%s%s", rg_code_name(code),
			 err->member[0] ? ": " : "", err->member);
		note.entry.message = rg_str(outcome);
	}
	if (given.id_count)
		named = &given;
	note.agent = asked.agent.name.length		      ? only_name(&asked.agent)
		     : rg_name_is_pattern(roger->caller.name) ? RG_STR("")
							      : roger->caller.name;
	if (rg_caller_stands_in(roger, note.agent))
		note.agent = RG_STR(RG_PERSON);
	if (is_of_one_agent(op) || op->flags & ROGER_ADMINISTERS ||
	    roger->caller.how != RG_BY_FILES)
		rg_note_ran(roger, &note);
	note.ids = (struct roger_strs){ named->ids, named->id_count < RG_NOTED_IDS_MAX
							    ? named->id_count
							    : RG_NOTED_IDS_MAX };
	note.count = (int64_t)named->id_count;
	/* An issue or run that does not exist is not noted. */
	if (code != ROGER_ENOENT || (strcmp(err->member, "issue") && strcmp(err->member, "run"))) {
		note.entry.task = task_of(&asked, &given);
		note.run = asked.run.name;
	}
	/* If the verb failed, its own error says enough. */
	rg_note_try(roger, &note, code == ROGER_OK ? "done, but not" : NULL);
}
