/*
 * help, completion, and the hidden __complete that answers the shells:
 * commands, options, agents, issues, ids, as the words so far ask for.
 */
#include <stdlib.h>

#include "base/names.h"
#include "cli/command.h"
#include "cli/screen.h"

#include "data/record.h"
#include "completion.h"

/* ----------------------------------------------------------------- help -- */

static int run_help(struct cli_run *run, struct roger_err *err)
{
	const struct rg_command_words_request *request = run->request;
	const struct rg_help_options *options = run->options;
	size_t count;
	const struct cli_old_name *old = cli_old_name(request->words, &count);
	const struct cli_command *command = old ? cli_find_command(rg_str(old->told)) : NULL;

	if (!command)
		command = cli_command_of(request->words, &count);
	if (request->words.count && !command)
		return cli_no_such_command(request->words, err);
	if (run->form != CLI_HUMAN)
		return cli_print_help_json(run, command, err);
	if (command)
		cli_print_command_help(cli_out, command);
	else
		cli_print_help(cli_out, options->all);
	return ROGER_OK;
}

CLI_COMMAND(help, "help", .paged = true, .own = &rg_op_help, .run = run_help);

/* ----------------------------------------------------------- completion -- */

static int run_completion(struct cli_run *run, struct roger_err *err)
{
	const struct rg_command_words_request *request = run->request;
	struct roger_str shell = request->words.count == 1 ? request->words.items[0] : RG_STR("");

	/* Made from the files completion.bash, .zsh and .fish. */
	const char *script = rg_str_is(shell, "bash")	? CLI_BASH
			     : rg_str_is(shell, "zsh")	? CLI_ZSH
			     : rg_str_is(shell, "fish") ? CLI_FISH
							: NULL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf json = { .maximum = SIZE_MAX };

	if (!script)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "expected `roger completion bash`, `zsh` or `fish`");
	if (run->form == CLI_HUMAN) {
		cli_screen_raw();
		fputs(script, cli_out);
		return ROGER_OK;
	}
	rg_buf_add_text(&json, CLI_FORMAT ",\"completion\":");
	rg_json_add_string(&json, rg_str(script));
	rg_buf_add_char(&json, '}');
	cli_print_json(cli_out, &json);
	return json.failed ? rg_fail_memory(err) : ROGER_OK;
}

CLI_COMMAND(completion, "completion", .own = &rg_op_completion, .run = run_completion);

/* ------------------------------------------------------------ __complete -- */

struct completing {
	struct roger_strs words;
	struct roger_str option; /* the option whose value is typed; "": none */
	struct roger_str prefix; /* what precedes the value in its word: "--issue=", or "" */
	struct roger_str last;	 /* the word that is typed, so far */
	const char *workspace;
	struct roger_str as;
	const struct cli_command *command; /* NULL: not typed yet */
};

/* Offer a text that continues the typed word, unless it needs quoting, which names of agents and
 * issues do not.  A command of two words is offered a word at a time. */
static void offer_about(void *completing_, struct roger_str text, struct roger_str about)
{
	const struct completing *completing = completing_;
	const struct roger_str last = completing->last;
	struct roger_str line = rg_str_first_line(
		(struct roger_str){ about.data, about.length < 200 ? about.length : 200 });
	size_t chars;

	if (text.length < last.length || !text.length || memchr(text.data, ' ', text.length) ||
	    (last.length && memcmp(text.data, last.data, last.length) != 0) ||
	    !(rg_name_valid(text) || text.data[0] == '-'))
		return;
	fprintf(cli_out, "%.*s%.*s", RG_STR_ARGS(completing->prefix), RG_STR_ARGS(text));
	/* Drop a character that the cut may have broken. */
	while (line.length && !rg_utf8_count(line, &chars))
		line.length--;
	if (about.length) {
		fputc('\t', cli_out);
		cli_print_text(cli_out, line, false);
	}
	fputc('\n', cli_out);
}

static void offer_word(const struct completing *completing, struct roger_str text)
{
	offer_about((void *)(uintptr_t)completing, text, RG_STR(""));
}

static void offer_option(struct completing *completing, const struct roger_field *field)
{
	char name[64], text[80];

	cli_words_of(field, '-', name);
	snprintf(text, sizeof text, "--%s", name);
	if (!(field->flags & ROGER_SELF))
		offer_about(completing, rg_str(text), rg_str(field->help));
}

static void offer_options(struct completing *completing, const struct cli_command *command)
{
	const struct roger_field *field;
	size_t i = 0;

	while (command && (field = cli_next_option(command, &i)))
		offer_option(completing, field);
}

void cli_each_name(struct roger *roger, const char *verb, const void *request, const char *member,
		   const char *about, cli_take_name *take, void *context)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct roger_op *op = cli_op_named(verb);
	const struct roger_field *list = op->reply->fields, *name, *more;
	void *reply = arena ? rg_arena_get(arena, op->reply->size) : NULL;
	const void *all = arena ? rg_arena_get(arena, op->request->size + 1) : NULL;
	struct rg_names told = { .arena = arena };
	const struct rg_list *items;
	struct roger_str text;
	const char *item;
	size_t i;

	if (!reply || !all || roger_call(roger, op, request ? request : all, reply, NULL) < 0)
		return;
	while (list->kind != ROGER_RECORDS)
		list++;
	name = cli_member(list->record, rg_str(member));
	more = cli_member(list->record, rg_str(about));
	items = rg_field_at(list, reply);
	for (i = 0, item = items->items; i < items->count; i++, item += list->record->size) {
		text = *(struct roger_str *)rg_field_at(name, item);
		/* Many messages have the same issue, which is given once. */
		if (*about || (!rg_names_have(&told, text) && rg_names_add(&told, text)))
			take(context, text,
			     more ? *(struct roger_str *)rg_field_at(more, item) : RG_STR(""));
	}
	roger_reply_free(reply);
}

/* Offer the name of a group of agents, which is a setting. */
static void offer_group(void *completing, struct roger_str key, struct roger_str value)
{
	const size_t length = sizeof "groups." - 1;

	(void)value;
	if (rg_str_begins(key, "groups."))
		offer_word(completing,
			   (struct roger_str){ key.data + length, key.length - length });
}

static void offer_names(struct completing *completing, const char *const *names)
{
	for (; names && *names; names++)
		if (**names)
			offer_word(completing, rg_str(*names));
}

/* Offer values by the meaning of the field. */
static void offer_records(struct completing *completing, struct roger *roger,
			  const struct roger_field *field)
{
	const struct roger_list_request newest = { .newest = true, .limit = 1000 };
	const struct roger_list_request last = { .newest = true, .limit = 100 };
	struct roger_inbox_request own = { .agent = completing->as, .limit = 100, .unnoted = true };
	const char *command = completing->command ? completing->command->name : "";
	const char *name = field ? field->name : "agent";
	unsigned flags = field ? field->flags : 0;
	bool to = strcmp(name, "to") == 0,
	     what = strcmp(name, "what") == 0 && !(flags & ROGER_LETTER);

	if (to || what || strcmp(name, "agent") == 0 || strcmp(name, "from") == 0 ||
	    strcmp(name, "name") == 0 || strcmp(name, "forward_to") == 0)
		cli_each_name(roger, "agents", NULL, "name", "", offer_about, completing);
	if (to && field->kind == ROGER_TEXTS) {
		offer_word(completing, RG_STR("all"));
		cli_each_name(roger, "config", NULL, "key", "", offer_group, completing);
	}
	if (what || flags & ROGER_ISSUE)
		cli_each_name(roger, "list", &newest, "issue", "", offer_about, completing);
	if (what || (flags & ROGER_RUN && flags & (ROGER_SOUGHT | ROGER_LETTER)))
		cli_each_name(roger, "runs", NULL, "run", "words", offer_about, completing);
	if (flags & ROGER_LETTER)
		cli_each_name(roger, "dead_letters", NULL, "id", "key", offer_about, completing);
	if (flags & ROGER_LETTER || !(flags & ROGER_SOUGHT) || flags & ROGER_RUN)
		return;
	/* Only the caller's own mail can be acknowledged or given back. */
	if (!own.agent.length)
		own.agent = rg_str(getenv("ROGER_AGENT"));
	if (strcmp(command, "ack") != 0 && strcmp(command, "nack") != 0)
		cli_each_name(roger, "list", &last, "id", "content", offer_about, completing);
	else if (own.agent.length)
		cli_each_name(roger, "inbox", &own, "id", "content", offer_about, completing);
}

/* Offer values of a field; NULL: of --as. */
static void offer_values(struct completing *completing, const struct roger_field *field)
{
	struct roger *roger = NULL;
	int i;

	if (field && (field->kind == ROGER_ENUM || strncmp(field->name, "tool", 4) == 0)) {
		/* setup only prints settings for the last two tools. */
		for (i = 1; !field->names && rg_hook_tool_names[i]; i++)
			if (i < CLI_HOOK_VSCODE || strcmp(field->name, "tools") != 0)
				offer_word(completing, rg_str(rg_hook_tool_names[i]));
		offer_names(completing, field->names);
		return;
	}
	if (field && field->kind != ROGER_NAME && field->kind != ROGER_TEXTS &&
	    field->kind != ROGER_TEXT)
		return;
	if (cli_open(completing->workspace, &roger, NULL) < 0)
		return;
	offer_records(completing, roger, field);
	roger_close(roger);
}

/* Offer values of the option, but no folders, files or numbers. */
static void offer_value_of_option(struct completing *completing)
{
	const struct roger_str option = completing->option;
	const struct roger_field *field =
		completing->command ? cli_find_field(cli_op(completing->command)->request, option)
				    : NULL;

	if (rg_str_is(option, "color"))
		offer_names(completing, (const char *const[]){ "auto", "always", "never", NULL });
	else if (rg_str_is(option, "as") || field)
		offer_values(completing, rg_str_is(option, "as") ? NULL : field);
}

static void offer_words(struct completing *completing, const char *words)
{
	struct roger_str word;

	while (cli_next_word(&words, &word))
		offer_word(completing, word);
}

static const struct roger_field *first_place(const struct completing *completing)
{
	return rg_find_flag(cli_op(completing->command)->request, ROGER_PLACE);
}

/* "--issue" is the option issue; "": the word is not an option. */
static struct roger_str option_of(struct roger_str word)
{
	return rg_str_begins(word, "--") ? (struct roger_str){ word.data + 2, word.length - 2 }
					 : (struct roger_str){ "", 0 };
}

/* Find the command whose name begins at word *i; *i moves to its last word. */
static const struct cli_command *command_at(const struct completing *completing, size_t *i)
{
	struct roger_strs rest = { completing->words.items + *i, completing->words.count - 1 - *i };
	const struct cli_command *command;
	size_t count;

	command = cli_command_of(rest, &count);
	*i += command ? count - 1 : 0;
	return command;
}

/* Offer the second word of commands such as "dead redeliver". */
static void offer_parts(struct completing *completing)
{
	size_t length = strlen(completing->command->name), i = 0;
	const struct cli_command *command;

	while ((command = cli_next_command(&i)))
		if (strncmp(command->name, completing->command->name, length) == 0 &&
		    command->name[length] == ' ')
			offer_about(completing, rg_str(command->name + length + 1),
				    rg_str(cli_summary(command)));
}

static void read_words(struct completing *completing)
{
	static const struct cli_command none = { .own = &rg_op_version };
	struct roger_str word, option;
	const char *equals, *value;
	size_t i, length;

	for (i = 0; i + 1 < completing->words.count; i++) {
		word = completing->words.items[i];
		option = option_of(word);
		value = cli_option_value(completing->command ? completing->command : &none, option);
		if (value && *value) {
			if (i + 2 == completing->words.count)
				completing->option = option;
			else if (rg_str_is(option, "workspace"))
				completing->workspace = completing->words.items[i + 1].data;
			else if (rg_str_is(option, "as"))
				completing->as = completing->words.items[i + 1];
			i++;
		} else if (!completing->command && word.length && word.data[0] != '-') {
			completing->command = command_at(completing, &i);
		}
	}
	if (!completing->words.count)
		return;
	/* "--issue=app" is two words in one. */
	word = completing->words.items[completing->words.count - 1];
	equals = option_of(word).length ? memchr(word.data, '=', word.length) : NULL;
	length = equals ? (size_t)(equals + 1 - word.data) : 0;
	completing->prefix = (struct roger_str){ word.data, length };
	completing->last = (struct roger_str){ word.data + length, word.length - length };
	if (equals)
		completing->option = (struct roger_str){ word.data + 2, length - 3 };
}

static void answer_completion(struct completing *completing)
{
	const struct roger_field *field = rg_common_options_record.fields;
	const struct cli_command *command;
	size_t i = 0;

	if (completing->option.length) {
		offer_value_of_option(completing);
	} else if (completing->last.length && completing->last.data[0] == '-') {
		offer_options(completing, completing->command);
		offer_options(completing,
			      completing->command ? completing->command->else_is : NULL);
		for (; field->name; field++)
			offer_option(completing, field);
	} else if (completing->command == &cli_completion) {
		offer_names(completing, (const char *const[]){ "bash", "zsh", "fish", NULL });
	} else if (!completing->command || completing->command == &cli_help) {
		while ((command = cli_next_command(&i)))
			offer_about(completing, rg_str(command->name),
				    rg_str(cli_summary(command)));
	} else if (completing->command->words && !first_place(completing)) {
		offer_words(completing, completing->command->words);
	} else {
		offer_parts(completing);
		if (completing->command->words)
			offer_words(completing, completing->command->words);
		if (first_place(completing))
			offer_values(completing, first_place(completing));
	}
}

static int run_complete(struct cli_run *run, struct roger_err *err)
{
	const struct rg_command_words_request *request = run->request;
	struct completing completing = { .words = request->words, .workspace = run->workspace };

	(void)err;
	read_words(&completing);
	answer_completion(&completing);
	return ROGER_OK;
}

CLI_COMMAND(complete, "__complete", .own = &rg_op_completion, .summary = "", .examples = "",
	    .run = run_complete);
