/* Help texts, examples first, from the same tables as everything else. */
#include "cli/command.h"

static const char *summary_of(const struct cli_command *command)
{
	return command->summary ? command->summary : cli_op(command)->summary;
}

static void print_examples(FILE *to, const char *examples)
{
	const char *newline;

	while (*examples) {
		newline = strchr(examples, '\n');
		fprintf(to, "  %.*s\n", newline ? (int)(newline - examples) : (int)strlen(examples),
			examples);
		examples = newline ? newline + 1 : "";
	}
}

void cli_print_help(FILE *to)
{
	const struct cli_command *command;
	size_t i = 0;

	fputs("roger - reliable, audited messages between agents\n"
	      "\n"
	      "  roger init                          make a workspace here\n"
	      "  export ROGER_AGENT=plan             say who you are\n"
	      "  roger send implement 'start here'   done means on disk\n"
	      "  roger inbox                         look at your mail\n"
	      "  roger receive --wait 10m            take it, and wait for it\n"
	      "\n"
	      "commands:\n",
	      to);
	while ((command = cli_next_command(&i)))
		fprintf(to, "  %-11s %s\n", command->name, summary_of(command));
	fputs("\n"
	      "everywhere: --workspace DIR, --as NAME, --json, --jsonl, --color auto|always|never, "
	      "--no-pager, --quiet, --help\n"
	      "exit: 0 done, 1 nothing there, 64 usage, 65 bad data, 66 no such thing, 73/74 "
	      "cannot create or\n"
	      "      read/write, 75 try again with the same key, 77 refused, 78 bad configuration\n"
	      "`roger help COMMAND` shows its options.\n",
	      to);
}

static void print_field(FILE *to, const struct roger_field *field)
{
	static const char *const values[] = {
		[ROGER_TEXT] = " TEXT",	   [ROGER_NAME] = " NAME",  [ROGER_INT] = " N",
		[ROGER_BOOL] = "",	   [ROGER_ENUM] = " TEXT",  [ROGER_TIME] = " TIME",
		[ROGER_INSTANT] = " TIME", [ROGER_SPAN] = " SPAN",  [ROGER_OBJECT] = " JSON",
		[ROGER_MEMBERS] = " TEXT", [ROGER_TEXTS] = " TEXT", [ROGER_RECORDS] = " TEXT"
	};
	char option[64], text[96];

	cli_option_name(field, option);
	snprintf(text, sizeof text, "--%s%s", field->flags & ROGER_SELF ? "as" : option,
		 values[field->kind]);
	fprintf(to, "  %-24s %s\n", text, field->help);
}

static void print_usage(FILE *to, const struct cli_command *command, const struct roger_op *op)
{
	const struct roger_field *field;

	fprintf(to, "usage: roger %s%s%s%s", command->name, command->words ? " [" : "",
		command->words ? command->words : "", command->words ? "]" : "");
	for (field = op->request->fields; field->name; field++)
		if (field->flags & ROGER_PLACE)
			fprintf(to, field->flags & ROGER_REQUIRED ? " %s%s" : " [%s%s]",
				field->name, field->kind == ROGER_TEXTS ? "..." : "");
	fputs(" [options]\n", to);
}

void cli_print_command_help(FILE *to, const struct cli_command *command)
{
	const struct roger_op *op = cli_op(command);
	const struct cli_option *option;
	const struct roger_field *field;
	char text[96];

	fprintf(to, "roger %s - %s\n\n", command->name, summary_of(command));
	print_examples(to, command->examples ? command->examples : op->examples);
	fputc('\n', to);
	print_usage(to, command, op);
	fputc('\n', to);
	for (field = op->request->fields; field->name; field++)
		if (field->kind != ROGER_RECORDS && !(field->flags & ROGER_PLACE))
			print_field(to, field);
	for (option = command->options; option && option->name; option++) {
		snprintf(text, sizeof text, "--%s%s%s", option->name, option->value ? " " : "",
			 option->value ? option->value : "");
		fprintf(to, "  %-24s %s\n", text, option->help);
	}
}
