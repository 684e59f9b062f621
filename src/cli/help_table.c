/* help --json: every command, option and exit status, for programs. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/term.h"
#include "data/record.h"

struct option {
	struct roger_str name, member, value, help;
	int kind;
	bool place, required;
	struct roger_strs values;
};
struct options {
	struct option *items;
	size_t count;
};
/* In the order of enum roger_kind. */
static const char *const kinds[] = { "text",  "name",	 "integer", "flag",   "enum",
				     "time",  "instant", "span",    "object", "members",
				     "texts", "records", NULL };
#define AT(member) offsetof(struct option, member)
static const struct roger_field option_fields[] = {
	{ "name", ROGER_TEXT, AT(name), ROGER_REQUIRED, NULL, NULL, "without its dashes" },
	{ "kind", ROGER_ENUM, AT(kind), 0, kinds, NULL, "of its value; a flag has none" },
	{ "value", ROGER_TEXT, AT(value), ROGER_SPARE, NULL, NULL, "what help calls its value" },
	{ "values", ROGER_TEXTS, AT(values), ROGER_SPARE, NULL, NULL, "those of an enum" },
	{ "member", ROGER_TEXT, AT(member), ROGER_SPARE, NULL, NULL, "of the verb's request" },
	{ "place", ROGER_BOOL, AT(place), ROGER_SPARE, NULL, NULL, "a word without a name is it" },
	{ "required", ROGER_BOOL, AT(required), ROGER_SPARE, NULL, NULL, "cannot be left out" },
	{ "help", ROGER_TEXT, AT(help), ROGER_REQUIRED, NULL, NULL, "what it is for" },
	{ 0 },
};
#undef AT
static const struct roger_record option_record = { "option", sizeof(struct option), option_fields };

struct entry {
	struct roger_str name, group, summary, usage, otherwise;
	bool front;
	struct roger_strs words, examples;
	struct options options;
};
#define AT(member) offsetof(struct entry, member)
static const struct roger_field entry_fields[] = {
	{ "name", ROGER_TEXT, AT(name), ROGER_REQUIRED, NULL, NULL, "what follows roger" },
	{ "group", ROGER_TEXT, AT(group), ROGER_REQUIRED, NULL, NULL, "where help shows it" },
	{ "front", ROGER_BOOL, AT(front), 0, NULL, NULL, "roger help shows it, without --all" },
	{ "summary", ROGER_TEXT, AT(summary), ROGER_REQUIRED, NULL, NULL, "what it does" },
	{ "usage", ROGER_TEXT, AT(usage), ROGER_REQUIRED, NULL, NULL, "the order of its words" },
	{ "otherwise", ROGER_TEXT, AT(otherwise), ROGER_SPARE, NULL, NULL,
	  "without its own words it does what this command does" },
	{ "words", ROGER_TEXTS, AT(words), ROGER_SPARE, NULL, NULL, "one of these may follow it" },
	{ "examples", ROGER_TEXTS, AT(examples), 0, NULL, NULL, "command lines" },
	{ "options", ROGER_RECORDS, AT(options), 0, NULL, &option_record, "its own" },
	{ 0 },
};
#undef AT
static const struct roger_record entry_record = { "command", sizeof(struct entry), entry_fields };

struct ending {
	int64_t status;
	struct roger_str meaning;
};
static const struct roger_field ending_fields[] = {
	{ "status", ROGER_INT, offsetof(struct ending, status), 0, NULL, NULL, "a number" },
	{ "meaning", ROGER_TEXT, offsetof(struct ending, meaning), ROGER_REQUIRED, NULL, NULL,
	  "in words" },
	{ 0 },
};
static const struct roger_record ending_record = { "exit status", sizeof(struct ending),
						   ending_fields };

struct table {
	struct rg_arena *arena;
	struct {
		struct entry *items;
		size_t count;
	} commands;
	struct options options;
	struct {
		struct ending *items;
		size_t count;
	} exits;
};
#define AT(member) offsetof(struct table, member)
static const struct roger_field table_fields[] = {
	{ "commands", ROGER_RECORDS, AT(commands), 0, NULL, &entry_record,
	  "all, or the one asked "
	  "for" },
	{ "options", ROGER_RECORDS, AT(options), 0, NULL, &option_record, "of every command" },
	{ "exits", ROGER_RECORDS, AT(exits), 0, NULL, &ending_record, "what exit statuses mean" },
	{ 0 },
};
#undef AT
const struct roger_record cli_help_record = { "help", sizeof(struct table), table_fields };

static struct ending endings[] = {
#define X(name, status, meaning) { (status), { meaning, sizeof meaning - 1 } },
	CLI_EXITS(X)
#undef X
};

/* ---------------------------------------------------------------- filling -- */

static bool add_option(struct table *table, struct options *options, struct option option)
{
	struct option *place =
		rg_arena_push(table->arena, &options->items, &options->count, sizeof *place);

	if (place)
		*place = option;
	return place;
}

/* Texts between two of that character; ends with the NUL. */
static bool add_parts(struct rg_arena *arena, struct roger_strs *list, const char *texts,
		      char between)
{
	const char *end;
	bool added = true;

	for (; *texts && added; texts = *end ? end + 1 : end) {
		end = strchrnul(texts, between);
		added = rg_arena_add(arena, list,
				     (struct roger_str){ texts, (size_t)(end - texts) });
	}
	return added;
}

/* Options that are no member of a request: all they say is whether they have a value. */
static bool add_own(struct table *table, struct options *options, const struct cli_option *own)
{
	for (; own && own->name; own++)
		if (!add_option(table, options,
				(struct option){ .name = rg_str(own->name),
						 .kind = own->value ? ROGER_TEXT : ROGER_BOOL,
						 .value = rg_str(own->value ? own->value : ""),
						 .help = rg_str(own->help) }))
			return false;
	return true;
}

static bool add_field(struct table *table, struct options *options, const struct roger_field *field)
{
	struct option option = { .member = rg_str(field->name),
				 .kind = (int)field->kind,
				 .place = field->flags & ROGER_PLACE,
				 .required = field->flags & ROGER_REQUIRED,
				 .help = rg_str(field->help) };
	char name[64], value[64];
	size_t i;

	cli_option_name(field, name);
	cli_value_word(field, value);
	for (i = 0; field->kind == ROGER_ENUM && field->names[i]; i++)
		if (*field->names[i] &&
		    !rg_arena_add(table->arena, &option.values, rg_str(field->names[i])))
			return false;
	return rg_arena_copy(table->arena, rg_str(field->flags & ROGER_SELF ? "as" : name),
			     &option.name) &&
	       rg_arena_copy(table->arena, rg_str(value), &option.value) &&
	       add_option(table, options, option);
}

static bool add_fields(struct table *table, struct options *options,
		       const struct cli_command *command)
{
	const struct roger_field *field;

	for (field = cli_op(command)->request->fields; field->name; field++)
		if (field->kind != ROGER_RECORDS && !(field->flags & ROGER_PERSON) &&
		    !cli_is_verb_word(command, rg_str(field->name)) &&
		    !add_field(table, options, field))
			return false;
	return true;
}

static bool is_named(const char *names, const char *name)
{
	struct roger_str one;

	while (cli_next_word(&names, &one))
		if (rg_str_is(one, name))
			return true;
	return false;
}

static void set_group(struct entry *entry, const char *name)
{
	const struct cli_group *group;

	entry->group = RG_STR("others");
	for (group = cli_groups; group->name; group++) {
		entry->front |= is_named(group->commands, name);
		if (is_named(group->commands, name) || is_named(group->plumbing, name))
			entry->group = rg_str(group->name);
	}
}

static bool copy_usage(struct table *table, const struct cli_command *command,
		       struct roger_str *ret)
{
	struct cli_page page;
	bool copied;

	if (!cli_page_begin(&page))
		return false;
	cli_print_usage(page.to, command);
	copied = cli_page_end(&page) &&
		 rg_arena_copy(table->arena, (struct roger_str){ page.text, page.length }, ret);
	free(page.text);
	return copied;
}

static bool add_entry(struct table *table, const struct cli_command *command)
{
	const struct roger_op *op = cli_op(command);
	const char *examples = command->examples ? command->examples : op->examples;
	struct entry *entry = rg_arena_push(table->arena, &table->commands.items,
					    &table->commands.count, sizeof *entry);

	if (!entry)
		return false;
	*entry = (struct entry){ .name = rg_str(command->name),
				 .summary = rg_str(cli_summary(command)) };
	if (command->else_is)
		entry->otherwise = rg_str(command->else_is->name);
	set_group(entry, command->name);
	return copy_usage(table, command, &entry->usage) &&
	       add_parts(table->arena, &entry->examples, examples ? examples : "", '\n') &&
	       add_parts(table->arena, &entry->words, command->words ? command->words : "", '|') &&
	       add_fields(table, &entry->options, command) &&
	       add_own(table, &entry->options, command->options);
}

int cli_print_help_table(const struct cli_run *run, const struct cli_command *only,
			 struct roger_err *err)
{
	struct table table = { .arena = run->arena,
			       .exits = { endings, sizeof endings / sizeof *endings } };
	const struct cli_command *command;
	bool added = !only || add_entry(&table, only);
	size_t i = 0;

	while (!only && added && (command = cli_next_command(&i)))
		added = add_entry(&table, command);
	if (!added || !add_own(&table, &table.options, cli_common_options))
		return rg_fail_memory(err);
	cli_print_reply(run, &cli_help_record, &table);
	return ROGER_OK;
}
