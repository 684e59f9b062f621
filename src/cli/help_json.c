/* help --json: every command, option and exit status, for programs. */

#include "cli/command.h"
#include "data/record.h"

/* ---------------------------------------------------------------- filling -- */

/* Add the parts of a string that the character separates. */
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

/* request: the one that the field may be a member of; NULL: of none. */
static bool add_option(struct rg_help_reply *table, struct rg_option_list *options,
		       const struct roger_record *request, const struct roger_field *field)
{
	const bool own = !request || cli_member(request, rg_str(field->name)) != field;
	struct rg_option option = { .member = rg_str(own ? "" : field->name),
				    .kind = (int)field->kind + 1, /* unset comes first */
				    .place = field->flags & ROGER_PLACE,
				    .required = field->flags & ROGER_REQUIRED,
				    .help = rg_str(field->help) };
	char name[64], value[64];
	size_t i;

	cli_words_of(field, '-', name);
	cli_value_word(field, value);
	for (i = 0; field->kind == ROGER_ENUM && field->names[i]; i++)
		if (*field->names[i] &&
		    !rg_arena_add(table->memory, &option.values, rg_str(field->names[i])))
			return false;
	return rg_arena_copy(table->memory, rg_str(field->flags & ROGER_SELF ? "as" : name),
			     &option.name) &&
	       rg_arena_copy(table->memory, rg_str(value), &option.value) &&
	       rg_arena_append(table->memory, &options->items, &options->count, &option,
			       sizeof option);
}

static bool add_entry(struct rg_help_reply *table, const struct cli_command *command)
{
	const struct roger_op *op = cli_op(command);
	const char *examples = command->examples ? command->examples : op->examples;
	struct rg_command *entry = rg_arena_push(table->memory, &table->commands.items,
						 &table->commands.count, sizeof *entry);
	const struct cli_group *group = cli_group_of(command);
	const struct roger_field *field;
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };
	size_t i = 0;
	bool added;

	if (!entry)
		return false;
	*entry = (struct rg_command){
		.name = rg_str(command->name),
		.summary = rg_str(cli_summary(command)),
		.group = group ? rg_str(group->name) : RG_STR("others"),
		.front = group && cli_is_one_of(group->commands, rg_str(command->name)),
	};
	if (command->else_is)
		entry->otherwise = rg_str(command->else_is->name);
	if (!cli_page_begin(&page))
		return false;
	cli_print_usage(page.to, command);
	added = cli_page_end(&page) &&
		rg_arena_copy(table->memory, (struct roger_str){ page.text, page.length },
			      &entry->usage);
	while (added && (field = cli_next_option(command, &i)))
		added = add_option(table, &entry->options, op->request, field);
	return added &&
	       add_parts(table->memory, &entry->examples, examples ? examples : "", '\n') &&
	       add_parts(table->memory, &entry->errors, op->errors ? op->errors : "", '\n') &&
	       add_parts(table->memory, &entry->words, command->words ? command->words : "", '|');
}

int cli_print_help_json(const struct cli_run *run, const struct cli_command *only,
			struct roger_err *err)
{
	struct rg_help_reply table = { .memory = run->arena };
	const struct roger_field *field = rg_common_options_record.fields;
	const struct cli_command *command;
	bool added = !only || add_entry(&table, only);
	const struct rg_exit *row;
	struct rg_exit_status status;
	size_t i = 0;

	while (!only && added && (command = cli_next_command(&i)))
		added = add_entry(&table, command);
	for (row = rg_exits; row->code && added; row++) {
		if (!*row->meaning)
			continue;
		status = (struct rg_exit_status){ row->status, rg_str(row->meaning) };
		added = rg_arena_append(run->arena, &table.exits.items, &table.exits.count, &status,
					sizeof status);
	}
	for (; added && field->name; field++)
		added = add_option(&table, &table.options, NULL, field);
	if (!added)
		return rg_fail_memory(err);
	cli_print_reply(run, &rg_help_reply_record, &table);
	return ROGER_OK;
}
