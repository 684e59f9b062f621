/* Help texts, examples first, from the same tables as everything else. */
#include <ctype.h>

#include "cli/command.h"
#include "cli/screen.h"

const char *cli_summary(const struct cli_command *command)
{
	return command->summary ? command->summary : cli_op(command)->summary;
}

enum { PAGE_COLUMNS = 80, OPTION_COLUMN = 26, WORD_COLUMN = 14, TWO_WORDS_COLUMN = 18 };

/* Print text up to its line end, folded; output is at column, where further lines start, too. */
static void print_wrapped(FILE *to, size_t column, const char *text)
{
	const size_t screen = cli_screen_width();
	const size_t width = screen && screen < PAGE_COLUMNS ? screen : PAGE_COLUMNS;
	size_t at = column, length;

	for (; *text && *text != '\n'; text += length + (text[length] == ' ')) {
		length = strcspn(text, " \n");
		if (at > column && at + 1 + length > width) {
			fprintf(to, "\n%*s", (int)column, "");
			at = column;
		}
		fprintf(to, "%s%.*s", at > column ? " " : "", (int)length, text);
		at += (at > column) + length;
	}
	fputc('\n', to);
}

/* Print the first column; text that is too long for it gets a line of its own. */
static void print_entry(FILE *to, const char *what, size_t column, const char *text)
{
	fprintf(to, "  %-*s", (int)column - 2, what);
	if (strlen(what) + 3 > column && *text)
		fprintf(to, "\n%*s", (int)column, "");
	print_wrapped(to, column, text);
}

/* Print the commands of a list of names; a missing one is left out. */
static void print_commands(FILE *to, const char *names, size_t column)
{
	const struct cli_command *command;
	struct roger_str name;

	while (cli_next_word(&names, &name)) {
		command = cli_find_command(name);
		if (command)
			print_entry(to, command->name, column, cli_summary(command));
	}
}

static void print_plumbing(FILE *to)
{
	const struct cli_command *command;
	const struct cli_group *group;
	bool any = false;
	size_t i = 0;

	fputs("\nThe rest is for scripts, hooks and rare cases.\n", to);
	for (group = cli_groups; group->name; group++) {
		fprintf(to, "\n%s\n", group->name);
		print_commands(to, group->plumbing, TWO_WORDS_COLUMN);
	}
	for (; (command = cli_next_command(&i));) {
		if (cli_group_of(command))
			continue;
		fputs(any ? "" : "\nothers\n", to);
		print_entry(to, command->name, TWO_WORDS_COLUMN, cli_summary(command));
		any = true;
	}
}

void cli_print_help(FILE *to, bool all)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf exits = { .maximum = SIZE_MAX };
	const struct cli_group *group;
	const struct rg_exit *row;

	fputs("roger - reliable, audited messages between agents\n"
	      "\n"
	      "  roger init                          make a workspace here\n"
	      "  export ROGER_AGENT=plan             say who you are\n"
	      "  roger send implement 'start here'   stored on disk when it returns\n"
	      "  roger inbox                         look at your mail\n"
	      "  roger receive --wait 10m            take it, or wait up to 10 minutes for it\n",
	      to);
	for (group = cli_groups; group->name; group++) {
		if (*group->commands)
			fprintf(to, "\n%s\n", group->name);
		print_commands(to, group->commands, WORD_COLUMN);
	}
	if (all)
		print_plumbing(to);
	fputc('\n', to);
	print_wrapped(to, 0,
		      "Every command takes --workspace DIR, --as NAME, --json, --jsonl, --quiet, "
		      "--print MEMBER, --no-pager, --help and --color auto|always|never.");
	rg_buf_add_text(&exits, "Exit status:");
	for (row = rg_exits; row->code; row++)
		if (*row->meaning)
			rg_buf_printf(&exits, " %d %s.", row->status, row->meaning);
	rg_buf_add_char(&exits, '\0');
	print_wrapped(to, 0, exits.failed ? "" : exits.data);
	print_wrapped(to, 0,
		      "`roger help COMMAND` shows a command's options, `roger help --all` all "
		      "commands: also claim, top, ui, report, log, archive and doctor.");
}

/* Name the value of a field: as verbs/ has it, by its kind, or for a word of a list by the field's
 * own name. */
void cli_value_word(const struct roger_field *field, char to[64])
{
	static const char words[] = "TEXT";
	static const char *const values[ROGER_RECORDS + 1] = {
		[ROGER_TEXT] = words,  [ROGER_TEXTS] = words,	[ROGER_NAME] = "NAME",
		[ROGER_INT] = "N",     [ROGER_TIME] = "TIME",	[ROGER_INSTANT] = "TIME",
		[ROGER_SPAN] = "SPAN", [ROGER_OBJECT] = "JSON",
	};
	const char *text = field->kind == ROGER_ENUM ? field->name : values[field->kind];
	size_t i;

	if (text == words && field->flags & (ROGER_ID | ROGER_SOUGHT))
		text = "ID";
	if (field->flags & ROGER_KEY)
		text = "KEY";
	if (field->value)
		text = field->value;
	snprintf(to, 64, "%s", text ? text : "");
	for (i = 0; to[i]; i++)
		to[i] = (char)toupper((unsigned char)to[i]);
}

void cli_print_usage(FILE *to, const struct cli_command *command)
{
	const struct roger_field *field;

	fprintf(to, "roger %s%s%s%s", command->name, command->words ? " [" : "",
		command->words ? command->words : "", command->words ? "]" : "");
	for (field = cli_op(command)->request->fields; field->name; field++)
		if (field->flags & ROGER_PLACE)
			fprintf(to, field->flags & ROGER_REQUIRED ? " %s%s" : " [%s%s]",
				field->name, field->kind == ROGER_TEXTS ? "..." : "");
	fputs(" [options]", to);
}

static void print_options(FILE *to, const struct cli_command *command)
{
	const struct roger_field *field;
	char name[64], value[64], text[144];
	size_t i = 0;

	while ((field = cli_next_option(command, &i))) {
		if (field->flags & ROGER_PLACE)
			continue;
		cli_words_of(field, '-', name);
		cli_value_word(field, value);
		snprintf(text, sizeof text, "--%s%s%s", field->flags & ROGER_SELF ? "as" : name,
			 *value ? " " : "", value);
		print_entry(to, text, OPTION_COLUMN, field->help);
	}
}

/* Print the commands of two words that begin with this one. */
static void print_parts(FILE *to, const struct cli_command *command)
{
	const size_t length = strlen(command->name);
	const struct cli_command *part;
	size_t i = 0, count = 0;

	while ((part = cli_next_command(&i))) {
		if (strncmp(part->name, command->name, length) != 0 || part->name[length] != ' ')
			continue;
		fputs(count++ ? "" : "\nfurther commands\n", to);
		print_entry(to, part->name, TWO_WORDS_COLUMN, cli_summary(part));
	}
}

void cli_print_command_help(FILE *to, const struct cli_command *command)
{
	const struct cli_command *other = command->else_is;
	const struct roger_op *op = cli_op(command);
	struct roger_str rest = rg_str(command->examples ? command->examples : op->examples), line;

	fprintf(to, "roger %s - ", command->name);
	print_wrapped(to, strlen(command->name) + 9, cli_summary(command));
	fputc('\n', to);
	while (rg_str_next_line(&rest, &line))
		fprintf(to, "  %.*s\n", RG_STR_ARGS(line));
	fputc('\n', to);
	fputs("usage: ", to);
	cli_print_usage(to, command);
	fputs("\n\n", to);
	print_options(to, command);
	/* Print the errors of this verb, beside those that any verb may have. */
	fputs(op->errors ? "\nexit status\n" : "", to);
	for (rest = rg_str(op->errors); rg_str_next_line(&rest, &line);) {
		fprintf(to, "  %.2s  ", line.data);
		print_wrapped(to, 6, line.data + 3);
	}
	print_parts(to, command);
	if (!other)
		return;
	fprintf(to, "\nWithout these, as `roger %s`: %s\n\n", other->name, cli_summary(other));
	print_options(to, other);
}
