/*
 * help, completion, and the hidden __complete that answers the shells:
 * commands, options, agents, issues, ids, as the words so far ask for.
 */
#include <stdlib.h>

#include "cli/mail.h"
#include "cli/screen.h"

#include "data/record.h"

/* ----------------------------------------------------------------- help -- */

static int run_help(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	const struct rg_command_words_request *request = run->request;
	const struct cli_old_name *old = cli_old_name(request->words);
	const struct cli_command *command = old ? cli_find_command(rg_str(old->told)) : NULL;
	size_t count;

	*ret_exit = CLI_DONE;
	if (!command)
		command = cli_command_of(request->words, &count);
	if (request->words.count && !command)
		return cli_no_such_command(request->words, err);
	if (run->form != CLI_HUMAN)
		return cli_print_help_table(run, command, err);
	if (command)
		cli_print_command_help(cli_out, command);
	else
		cli_print_help(cli_out, cli_given(run, "all"));
	return ROGER_OK;
}

static const struct cli_option help_options[] = {
	{ "all", NULL, "every command, also those for scripts, hooks and rare cases" },
	{ 0 },
};

const struct cli_command cli_help = {
	.name = "help",
	.paged = true,
	.own = &rg_op_help,
	.options = help_options,
	.run = run_help,
};

/* ----------------------------------------------------------- completion -- */

static const char bash_script[] =
	"_roger() {\n"
	"\tlocal IFS=$'\\n'\n"
	"\tlocal line=\"${COMP_LINE:0:COMP_POINT}\" words\n"
	"\tIFS=$' \\t\\n' read -r -a words <<<\"$line\"\n"
	"\t[[ $line == *' ' ]] && words+=('')\n"
	"\tlocal last=\"${words[${#words[@]}-1]}\" cut=''\n"
	"\t# readline breaks words at : and =, too: give back only what follows the last break.\n"
	"\tlocal breaks=\"${COMP_WORDBREAKS//[^:=]/}\"\n"
	"\t[[ $breaks ]] && cut=\"${last%\"${last##*[$breaks]}\"}\"\n"
	"\tCOMPREPLY=()\n"
	"\tlocal one\n"
	"\twhile IFS= read -r one; do COMPREPLY+=(\"${one#\"$cut\"}\"); done < <(\"${words[0]}\" "
	"__complete -- \"${words[@]:1}\" 2>/dev/null)\n"
	"\t# Descriptions are for a list that is only shown: ? is a second tabulator.\n"
	"\tlocal i\n"
	"\tfor i in \"${!COMPREPLY[@]}\"; do\n"
	"\t\tif [[ ${COMP_TYPE-} == 63 && ${#COMPREPLY[@]} -gt 1 && ${COMPREPLY[i]} == *$'\\t'* "
	"]]; then\n"
	"\t\t\tprintf -v one '%-20s  (%s)' \"${COMPREPLY[i]%%$'\\t'*}\" "
	"\"${COMPREPLY[i]#*$'\\t'}\"\n"
	"\t\t\tCOMPREPLY[i]=${one:0:${COLUMNS:-80}-1}\n"
	"\t\telse\n"
	"\t\t\tCOMPREPLY[i]=${COMPREPLY[i]%%$'\\t'*}\n"
	"\t\tfi\n"
	"\tdone\n"
	"}\n"
	"complete -o default -F _roger roger\n";

static const char zsh_script[] = "#compdef roger\n"
				 "_roger() {\n"
				 "\tlocal -a found shown\n"
				 "\tfound=(\"${(@f)$(\"${words[1]}\" __complete -- "
				 "\"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
				 "\tfound=(\"${(@)found:#}\")\n"
				 "\tshown=(\"${(@)found//$'\\t'/  -- }\")\n"
				 "\tfound=(\"${(@)found%%$'\\t'*}\")\n"
				 "\tif (( $#found )); then\n"
				 "\t\tcompadd -Q -l -d shown -- \"${(@)found}\"\n"
				 "\telse\n"
				 "\t\tcompset -P '--*='\n"
				 "\t\t_files\n"
				 "\tfi\n"
				 "}\n"
				 "if [ \"$funcstack[1]\" = \"_roger\" ]; then _roger \"$@\"; else "
				 "compdef _roger roger; fi\n";

static const char fish_script[] =
	"function __roger_complete\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\tset -l found ($words[1] __complete -- $words[2..-1] 2>/dev/null)\n"
	"\tif count $found >/dev/null\n"
	"\t\tprintf '%s\\n' $found\n"
	"\telse\n"
	"\t\t__fish_complete_path (commandline -ct)\n"
	"\tend\n"
	"end\n"
	"complete -c roger -f -a '(__roger_complete)'\n";

static int run_completion(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	const struct rg_command_words_request *request = run->request;
	struct roger_str shell = request->words.count == 1 ? request->words.items[0] : RG_STR("");

	const char *script = rg_str_is(shell, "bash")	? bash_script
			     : rg_str_is(shell, "zsh")	? zsh_script
			     : rg_str_is(shell, "fish") ? fish_script
							: NULL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf json = { .maximum = SIZE_MAX };

	*ret_exit = CLI_DONE;
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

const struct cli_command cli_completion = {
	.name = "completion",
	.own = &rg_op_completion,
	.run = run_completion,
};

/* ------------------------------------------------------------ __complete -- */

struct completing {
	struct roger_strs words;
	struct roger_str option; /* whose value is being typed; "": none */
	struct roger_str prefix; /* what precedes it in the same word: "--issue=", or "" */
	struct roger_str last;	 /* what is being typed */
	const char *workspace;
	struct roger_str as;
	const struct cli_command *command; /* NULL: not typed yet */
};

static bool starts_with(struct roger_str text, struct roger_str start)
{
	return text.length >= start.length &&
	       (start.length == 0 || memcmp(text.data, start.data, start.length) == 0);
}

/* In one line, as much as fits beside what it is about. */
static void print_about(struct roger_str about)
{
	struct roger_str line = { about.data, about.length < 200 ? about.length : 200 };
	const char *end = line.length ? memchr(line.data, '\n', line.length) : NULL;

	line.length = end ? (size_t)(end - line.data) : line.length;
	while (line.length && ((unsigned char)line.data[line.length - 1] & 0x80))
		line.length--;
	fputc('\t', cli_out);
	cli_print_text(cli_out, line, false);
}

/* Names of agents and issues need no quoting; whatever does is not offered. */
static void offer_about(const struct completing *completing, struct roger_str text,
			struct roger_str about)
{
	const char *blank = text.length ? memchr(text.data, ' ', text.length) : NULL;

	/* Of a command of two words one is typed at a time. */
	if (blank)
		return;
	if (!text.length || !starts_with(text, completing->last) ||
	    !(rg_name_valid(text) || text.data[0] == '-'))
		return;
	fprintf(cli_out, "%.*s%.*s", RG_STR_ARGS(completing->prefix), RG_STR_ARGS(text));
	if (about.length)
		print_about(about);
	fputc('\n', cli_out);
}

static void offer(void *completing, struct roger_str text)
{
	offer_about(completing, text, (struct roger_str){ "", 0 });
}

static void offer_commands(struct completing *completing)
{
	const struct cli_command *command;
	size_t i = 0;

	while ((command = cli_next_command(&i)))
		offer_about(completing, rg_str(command->name), rg_str(cli_summary(command)));
}

static void offer_dashed(struct completing *completing, const char *name, const char *help)
{
	char text[80];

	snprintf(text, sizeof text, "--%s", name);
	offer_about(completing, rg_str(text), rg_str(help));
}

static void offer_own(struct completing *completing, const struct cli_option *options)
{
	for (; options && options->name; options++)
		offer_dashed(completing, options->name, options->help);
}

static void offer_options(struct completing *completing, const struct cli_command *command)
{
	const struct roger_field *field;
	char name[64];

	for (field = command ? cli_op(command)->request->fields : NULL; field && field->name;
	     field++) {
		cli_option_name(field, name);
		if (!(field->flags & (ROGER_SELF | ROGER_PERSON)) && field->kind != ROGER_RECORDS &&
		    !cli_is_verb_word(command, rg_str(field->name)))
			offer_dashed(completing, name, field->help);
	}
	offer_own(completing, command ? command->options : NULL);
}

void cli_each_agent(struct roger *roger, cli_take_name *take, void *context)
{
	const struct roger_empty_request request = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_agents_reply reply = { 0 };
	size_t i;

	if (roger_agents(roger, &request, &reply, NULL) < 0)
		return;
	for (i = 0; i < reply.agents.count; i++)
		take(context, reply.agents.items[i].name);
}

/* Names for several agents. */
static void offer_groups(struct completing *completing, struct roger *roger)
{
	static const char section[] = "groups.";
	const size_t length = sizeof section - 1;
	const struct roger_empty_request request = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_config_reply reply = { 0 };
	struct roger_str key;
	size_t i;

	offer(completing, RG_STR("all"));
	if (roger_config(roger, &request, &reply, NULL) < 0)
		return;
	for (i = 0; i < reply.settings.count; i++) {
		key = reply.settings.items[i].key;
		if (starts_with(key, rg_str(section)))
			offer(completing,
			      (struct roger_str){ key.data + length, key.length - length });
	}
}

void cli_each_recent(struct roger *roger, bool issues, cli_take_name *take, void *context)
{
	const struct roger_list_request request = { .newest = true, .limit = issues ? 1000 : 100 };
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	size_t i, k;

	if (roger_list(roger, &request, &reply, NULL) < 0)
		return;
	for (i = 0; i < reply.messages.count; i++) {
		for (k = 0; issues && k < i; k++)
			if (rg_str_equal(reply.messages.items[k].issue,
					 reply.messages.items[i].issue))
				break;
		if (!issues || k == i)
			take(context,
			     issues ? reply.messages.items[i].issue : reply.messages.items[i].id);
	}
}

static void offer_names(struct completing *completing, const char *const *names)
{
	for (; names && *names; names++)
		if (**names)
			offer(completing, rg_str(*names));
}

static const struct roger_field *field_named(struct completing *completing, struct roger_str option)
{
	return completing->command ? cli_find_field(cli_op(completing->command)->request, option)
				   : NULL;
}

static void offer_mail(const struct completing *completing,
		       const struct roger_message_list *messages)
{
	size_t i;

	for (i = 0; i < messages->count; i++)
		offer_about(completing, messages->items[i].id, messages->items[i].content);
}

/* Offer the caller's own mail: no other can be acknowledged or given back. */
static void offer_own_mail(const struct completing *completing, struct roger *roger)
{
	struct roger_inbox_request request = { .agent = completing->as,
					       .limit = 100,
					       .unnoted = true };
	RG_CLEANUP(roger_reply_free) struct roger_inbox_reply reply = { 0 };

	if (!request.agent.length)
		request.agent = rg_str(getenv("ROGER_AGENT"));
	if (request.agent.length && roger_inbox(roger, &request, &reply, NULL) == ROGER_OK)
		offer_mail(completing, &reply.messages);
}

static void offer_messages(const struct completing *completing, struct roger *roger)
{
	const struct roger_list_request request = { .newest = true, .limit = 100 };
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	const char *name = completing->command->name;

	if (strcmp(name, "ack") == 0 || strcmp(name, "nack") == 0)
		offer_own_mail(completing, roger);
	else if (roger_list(roger, &request, &reply, NULL) == ROGER_OK)
		offer_mail(completing, &reply.messages);
}

static void offer_runs(const struct completing *completing, struct roger *roger)
{
	const struct roger_runs_request request = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_runs_reply reply = { 0 };
	size_t i;

	if (roger_runs(roger, &request, &reply, NULL) == ROGER_OK)
		for (i = 0; i < reply.runs.count; i++)
			offer_about(completing, reply.runs.items[i].run, reply.runs.items[i].words);
}

static void offer_letters(const struct completing *completing, struct roger *roger)
{
	const struct roger_dead_letters_request request = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_dead_letters_reply reply = { 0 };
	size_t i;

	if (roger_dead_letters(roger, &request, &reply, NULL) == ROGER_OK)
		for (i = 0; i < reply.dead_letters.count; i++)
			offer_about(completing, reply.dead_letters.items[i].id,
				    reply.dead_letters.items[i].key);
}

/* Values by what the field means: what a person would expect to see there. */
static void offer_records(struct completing *completing, struct roger *roger,
			  const struct roger_field *field)
{
	const char *name = field ? field->name : "agent";
	unsigned flags = field ? field->flags : 0;
	bool to = strcmp(name, "to") == 0,
	     what = strcmp(name, "what") == 0 && !(flags & ROGER_LETTER);

	if (to || what || strcmp(name, "agent") == 0 || strcmp(name, "from") == 0 ||
	    strcmp(name, "name") == 0 || strcmp(name, "forward_to") == 0)
		cli_each_agent(roger, offer, completing);
	if (to && field->kind == ROGER_TEXTS)
		offer_groups(completing, roger);
	if (what || flags & ROGER_ISSUE)
		cli_each_recent(roger, true, offer, completing);
	if (what || (flags & ROGER_RUN && flags & (ROGER_SOUGHT | ROGER_LETTER)))
		offer_runs(completing, roger);
	if (flags & ROGER_LETTER)
		offer_letters(completing, roger);
	else if (flags & ROGER_SOUGHT && !(flags & ROGER_RUN))
		offer_messages(completing, roger);
}

/* field NULL: the value of --as. */
static void offer_values(struct completing *completing, const struct roger_field *field)
{
	struct roger *roger = NULL;
	int i;

	if (field && (field->kind == ROGER_ENUM || strncmp(field->name, "tool", 4) == 0)) {
		/* setup only prints the last two. */
		for (i = 1; !field->names && rg_hook_tool_names[i]; i++)
			if (i < CLI_HOOK_VSCODE || strcmp(field->name, "tools") != 0)
				offer(completing, rg_str(rg_hook_tool_names[i]));
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

/* Folders, files and numbers are not offered. */
static void offer_value_of_option(struct completing *completing)
{
	struct roger_str option = completing->option;

	if (rg_str_is(option, "as"))
		offer_values(completing, NULL);
	else if (rg_str_is(option, "color"))
		offer_names(completing, (const char *const[]){ "auto", "always", "never", NULL });
	else if (field_named(completing, option))
		offer_values(completing, field_named(completing, option));
}

static void offer_words(struct completing *completing, const char *words)
{
	struct roger_str word;

	while (cli_next_word(&words, &word))
		offer(completing, word);
}

static const struct roger_field *first_place(struct completing *completing)
{
	const struct roger_field *field;

	for (field = cli_op(completing->command)->request->fields; field->name; field++)
		if (field->flags & ROGER_PLACE)
			return field;
	return NULL;
}

static bool takes_value(struct completing *completing, struct roger_str option)
{
	const struct roger_field *field = field_named(completing, option);
	const struct cli_option *one = cli_find_option(cli_common_options, option);

	if (!one && completing->command)
		one = cli_find_option(completing->command->options, option);
	return one ? one->value != NULL : field && field->kind != ROGER_BOOL;
}

/* "--issue" is the option issue; "": the word is not an option. */
static struct roger_str option_of(struct roger_str word)
{
	bool dashed = word.length > 2 && memcmp(word.data, "--", 2) == 0;

	return dashed ? (struct roger_str){ word.data + 2, word.length - 2 }
		      : (struct roger_str){ "", 0 };
}

/* "--issue=app" is two words in one. */
static void split_last(struct completing *completing, struct roger_str last)
{
	const char *equals = option_of(last).length ? memchr(last.data, '=', last.length) : NULL;
	size_t length = equals ? (size_t)(equals + 1 - last.data) : 0;

	completing->prefix = (struct roger_str){ last.data, length };
	completing->last = (struct roger_str){ last.data + length, last.length - length };
	if (equals)
		completing->option = (struct roger_str){ last.data + 2, length - 3 };
}

/* The command whose name begins at this word; *i is at its last one. */
static const struct cli_command *command_at(const struct completing *completing, size_t *i)
{
	struct roger_strs rest = { completing->words.items + *i, completing->words.count - 1 - *i };
	const struct cli_command *command;
	size_t count;

	command = cli_command_of(rest, &count);
	*i += command ? count - 1 : 0;
	return command;
}

/* The second word of commands such as "dead redeliver". */
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
	struct roger_str word, option;
	size_t i;

	for (i = 0; i + 1 < completing->words.count; i++) {
		word = completing->words.items[i];
		option = option_of(word);
		if (takes_value(completing, option)) {
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
	if (completing->words.count)
		split_last(completing, completing->words.items[completing->words.count - 1]);
}

static void answer(struct completing *completing)
{
	if (completing->option.length) {
		offer_value_of_option(completing);
	} else if (completing->last.length && completing->last.data[0] == '-') {
		offer_options(completing, completing->command);
		if (completing->command && completing->command->else_is)
			offer_options(completing, completing->command->else_is);
		offer_own(completing, cli_common_options);
	} else if (!completing->command) {
		offer_commands(completing);
	} else if (completing->command == &cli_completion) {
		offer_names(completing, (const char *const[]){ "bash", "zsh", "fish", NULL });
	} else if (completing->command == &cli_help) {
		offer_commands(completing);
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

static int run_complete(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	const struct rg_command_words_request *request = run->request;
	struct completing completing = { .words = request->words, .workspace = run->workspace };

	(void)err;
	*ret_exit = CLI_DONE;
	read_words(&completing);
	answer(&completing);
	return ROGER_OK;
}

const struct cli_command cli_complete = {
	.name = "__complete",
	.own = &rg_op_completion,
	.summary = "",
	.examples = "",
	.run = run_complete,
};
