/* Parse the words of a command line into a request, by the verb's fields. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "data/record.h"

struct parser {
	struct cli_run *run;
	const struct roger_record *record; /* the record of the request */
	int argc;
	char **argv;
	int at;
	struct rg_common_options common;
	bool only_places;	  /* after "--" */
	struct roger_strs places; /* words that are not options */
};

struct roger_str cli_words_of(const struct roger_field *field, char between, char to[64])
{
	size_t i;

	for (i = 0; field->name[i] && i < 63; i++)
		to[i] = field->name[i] == '_' ? between : field->name[i];
	to[i] = '\0';
	return (struct roger_str){ to, i };
}

static bool is_option(const struct roger_field *field)
{
	return !(field->flags & (ROGER_SELF | ROGER_DERIVED)) && field->kind != ROGER_RECORDS &&
	       field->kind != ROGER_MEMBERS;
}

const struct roger_field *cli_find_field(const struct roger_record *record, struct roger_str name)
{
	const struct roger_field *field;

	for (field = record ? record->fields : NULL; field && field->name; field++)
		if (cli_is_typed(name, field->name) && is_option(field))
			return field;
	return NULL;
}

/* Not lists of records, nor the field that says that a person asks, nor the command's words. */
const struct roger_field *cli_next_option(const struct cli_command *command, size_t *i)
{
	const struct roger_record *const records[] = { cli_op(command)->request,
						       cli_op(command)->options };
	const struct roger_field *field;
	size_t k, before = 0;

	for (k = 0; k < 2; k++)
		for (field = records[k] ? records[k]->fields : NULL; field && field->name; field++)
			if (field->kind != ROGER_RECORDS && !(field->flags & ROGER_PERSON) &&
			    !cli_is_one_of(command->words, rg_str(field->name)) && before++ == *i) {
				++*i;
				return field;
			}
	return NULL;
}

/* Options that were renamed. */
static const struct {
	const char *command, *option, *now;
} renamed[] = {
	{ "run", "limit", "--timeout" },
	{ "run", "run-id", "--run" },
	{ "send", "run", "--pass" },
	{ "list", "run", "--pass" },
	{ "cleanup", "keep-per-phase", "--keep-per-agent" },
	{ "cleanup", "keep-runs", "--keep-passes" },
	{ "bridge", "wait", "--timeout" },
	{ "wake", "for", "--timeout" },
	{ "runs extend", "why", "--reason" },
	{ "dismiss", "why", "--reason" },
	{ "dismiss", "note", "--reason" },
	{ "dead redeliver", "note", "--reason" },
	{ "show", "trace", "roger trace" },
	{ "agents session", "new", "roger agents session new" },
	{ "log cycle", "new", "roger log cycle new" },
};

static int unknown_option(struct parser *parser, struct roger_str name, struct roger_err *err)
{
	const char *command = parser->run->command->name;
	const struct roger_record *const records[] = { &rg_common_options_record,
						       cli_op(parser->run->command)->options,
						       parser->record };
	const struct roger_field *field;
	struct roger_str nearest = { NULL, 0 };
	char candidate[64], found[64];
	size_t i;

	for (i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (strcmp(command, renamed[i].command) == 0 && rg_str_is(name, renamed[i].option))
			return rg_fail(err, ROGER_EUSAGE, 0, "`--%.*s` of `roger %s` is now `%s`",
				       RG_STR_ARGS(name), command, renamed[i].now);
	for (i = 0; i < 3; i++)
		for (field = records[i] ? records[i]->fields : NULL; field && field->name;
		     field++) {
			cli_words_of(field, '-', candidate);
			if (is_option(field) && rg_nearest_look(&nearest, name, rg_str(candidate)))
				nearest.data = memcpy(found, candidate, sizeof found);
		}
	if (nearest.data)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "unknown option '--%.*s'; did you mean '--%s'?", RG_STR_CUT(name),
			       nearest.data);
	return rg_fail(err, ROGER_EUSAGE, 0,
		       *command ? "unknown option '--%.*s'; see `roger %s --help`"
				: "unknown option '--%.*s' before the command; its own come after "
				  "it, see `roger %s--help`",
		       RG_STR_CUT(name), command);
}

/* Take the value of an option, after '=' or the next word; a flag must have none. */
static int take_value(struct parser *parser, const struct roger_field *field, struct roger_str name,
		      const char *equals, struct roger_str *ret, struct roger_err *err)
{
	const bool takes = field->kind != ROGER_BOOL;

	if (takes ? !equals && parser->at >= parser->argc : equals != NULL)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       takes ? "option '--%.*s' needs a value"
				     : "option '--%.*s' takes no value",
			       RG_STR_ARGS(name));
	*ret = rg_str(!takes ? "" : equals ? equals + 1 : parser->argv[parser->at++]);
	return ROGER_OK;
}

/* Take an option that is no member of the request; its text may have any bytes. */
static int take_own(struct parser *parser, const struct roger_field *field, struct roger_str name,
		    const char *equals, void *options, struct roger_err *err)
{
	struct roger_str value;
	int r = take_value(parser, field, name, equals, &value, err);

	if (r == ROGER_OK && field->kind == ROGER_BOOL)
		*(bool *)rg_field_at(field, options) = true;
	else if (r == ROGER_OK)
		*(struct roger_str *)rg_field_at(field, options) = value;
	return r;
}

static int take_common(struct parser *parser, const struct roger_field *field,
		       struct roger_str name, const char *equals, struct roger_err *err)
{
	static const char *const colours[] = { "auto", "always", "never", NULL };
	struct rg_common_options *common = &parser->common;
	struct cli_run *run = parser->run;
	int r = take_own(parser, field, name, equals, common, err);

	if (r < 0)
		return r;
	run->workspace = common->workspace.data;
	run->quiet = common->quiet;
	run->no_pager = common->no_pager;
	run->member = common->print;
	if (rg_str_is(name, "json") || rg_str_is(name, "jsonl"))
		run->form = rg_str_is(name, "json") ? CLI_JSON : CLI_JSONL;
	/* An empty word, such as a variable that is not set, is no folder and no member. */
	if ((run->workspace && !*run->workspace) || (run->member.data && !run->member.length))
		return rg_fail(err, ROGER_EUSAGE, 0, "option '--%.*s' needs a value",
			       RG_STR_ARGS(name));
	if (common->color.data && rg_enum_find(colours, common->color) < 0)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "option '--color': expected auto, always or never");
	return ROGER_OK;
}

/* A value may be said in people's words: "overdue", "finished". */
static struct roger_str value_said(const struct roger_field *field, struct roger_str value)
{
	const char *label;
	size_t i;

	if (!field->labels || !value.length || rg_enum_find(field->names, value) >= 0)
		return value;
	for (i = 1; field->names[i]; i++) {
		label = field->labels[i];
		if (rg_str_is(value, label) || (strcspn(label, ",") == value.length &&
						memcmp(label, value.data, value.length) == 0))
			return rg_str(field->names[i]);
	}
	return value;
}

static int take_option(struct parser *parser, const char *word, struct roger_err *err)
{
	struct cli_run *run = parser->run;
	const char *equals = strchr(word, '=');
	struct roger_str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
	struct roger_str value = { 0 };
	const struct roger_field *field = cli_find_field(parser->record, name);
	const struct roger_field *own = cli_find_field(cli_op(run->command)->options, name);
	const struct roger_field *common = cli_find_field(&rg_common_options_record, name);
	int r;

	/* setup has a --print of its own. */
	if (common && !(field && rg_str_is(name, "print")))
		return take_common(parser, common, name, equals, err);
	if (own)
		return take_own(parser, own, name, equals, run->options, err);
	if (!field || cli_is_one_of(run->command->words, name))
		return unknown_option(parser, name, err);
	r = take_value(parser, field, name, equals, &value, err);
	return r < 0 ? r
		     : rg_record_set(field, value_said(field, value), rg_clock_ms(), run->request,
				     run->arena, err);
}

static int take_word(struct parser *parser, struct roger_err *err)
{
	static const struct {
		const char *letter, *option;
	} letters[] = { { "-h", "help" },  { "-q", "quiet" },	{ "-f", "follow" },
			{ "-n", "limit" }, { "-v", "version" }, { "-V", "version" } };
	size_t i;
	const char *word = parser->argv[parser->at++];

	if (!parser->only_places && word[0] == '-' && word[1] == '-') {
		parser->only_places = !word[2];
		return word[2] ? take_option(parser, word + 2, err) : ROGER_OK;
	}
	for (i = 0; !parser->only_places && i < sizeof letters / sizeof *letters; i++)
		if (strcmp(word, letters[i].letter) == 0)
			return take_option(parser, letters[i].option, err);
	if (!parser->only_places && word[0] == '-' && word[1])
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "unknown option '%.64s'; long ones start with '--', see "
			       "`roger --help`",
			       word);
	return rg_kept(rg_arena_add(parser->run->arena, &parser->places, rg_str(word)), err);
}

/* ------------------------------------------------------------- places -- */

/* Join further words to the text in the last place: `roger list schema migration`. */
static int join_rest(struct parser *parser, size_t used, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const struct roger_field *field, *last = NULL;

	for (field = parser->record->fields; field->name; field++)
		if (field->flags & ROGER_PLACE)
			last = field;
	rg_buf_add_str(&text, *(struct roger_str *)rg_field_at(last, parser->run->request));
	for (; used < parser->places.count; used++) {
		rg_buf_add_char(&text, ' ');
		rg_buf_add_str(&text, parser->places.items[used]);
	}
	if (text.failed)
		return rg_fail_memory(err);
	return rg_record_set(last, rg_buf_str(&text), 0, parser->run->request, parser->run->arena,
			     err);
}

/* Fail for a word that the command does not take; it may be meant as the name of --as. */
static int fail_unexpected(struct parser *parser, size_t used, struct roger_err *err)
{
	const struct roger_field *field;
	const char *word = parser->places.items[used].data;

	for (field = parser->record->fields; used == 0 && field->name; field++)
		if (field->flags & ROGER_SELF)
			return rg_fail(err, ROGER_EUSAGE, 0,
				       "unexpected word '%.64s'; did you mean '--as %.64s'?", word,
				       word);
	return rg_fail(err, ROGER_EUSAGE, 0, "unexpected word '%.64s'; see `roger %s --help`", word,
		       parser->run->command->name);
}

static int fill_places(struct parser *parser, struct roger_err *err)
{
	struct cli_run *run = parser->run;
	const struct roger_field *field, *later;
	size_t used = 0, count = parser->places.count, keep;
	int r;

	for (field = parser->record->fields; field->name; field++) {
		if (!(field->flags & ROGER_PLACE))
			continue;
		if (field->kind != ROGER_TEXTS && !rg_field_unset(field, run->request))
			continue;
		/* Later places still need a word each. */
		for (keep = 0, later = field + 1; later->name; later++)
			keep += (later->flags & ROGER_PLACE) && rg_field_unset(later, run->request);
		while (used < count &&
		       (field->kind != ROGER_TEXTS || count - used > keep ||
			((field->flags & ROGER_REQUIRED) && rg_field_unset(field, run->request)))) {
			r = rg_record_set(field, parser->places.items[used++], rg_clock_ms(),
					  run->request, run->arena, err);
			if (r < 0)
				return r;
			if (field->kind != ROGER_TEXTS)
				break;
		}
	}
	if (used < count && run->command->joined)
		return join_rest(parser, used, err);
	if (used < count)
		return fail_unexpected(parser, used, err);
	return ROGER_OK;
}

int cli_take_folder(struct cli_run *run, struct roger_err *err)
{
	const struct roger_record *record = cli_op(run->command)->request;
	const struct roger_field *field = cli_member(record, RG_STR("path"));

	(void)err;
	field = field ? field : cli_member(record, RG_STR("from"));
	if (run->workspace && rg_field_unset(field, run->request))
		*(struct roger_str *)rg_field_at(field, run->request) = rg_str(run->workspace);
	return ROGER_OK;
}

bool cli_next_word(const char **words, struct roger_str *ret)
{
	const char *end = strchrnul(*words, '|');

	if (!**words)
		return false;
	*ret = (struct roger_str){ *words, (size_t)(end - *words) };
	*words = *end ? end + 1 : end;
	return true;
}

bool cli_is_one_of(const char *words, struct roger_str word)
{
	struct roger_str one;

	while (words && cli_next_word(&words, &one))
		if (rg_str_equal(word, one))
			return true;
	return false;
}

/*
 * A word such as "new" in `roger log cycle new` sets the field of its name; one
 * without a field, such as "show", is what happens anyway.
 */
static int take_verb_word(struct parser *parser, struct roger_err *err)
{
	const struct cli_command *command = parser->run->command;
	struct roger_str nearest = { "", 0 };
	const struct roger_field *field;
	struct roger_str word, one;
	const char *words;
	bool own;

	if (!command->words || parser->places.count == 0)
		return ROGER_OK;
	word = parser->places.items[0];
	own = cli_is_one_of(command->words, word);
	if (!own && rg_find_flag(parser->record, ROGER_PLACE))
		return ROGER_OK;
	parser->places.items++;
	parser->places.count--;
	if (!own) {
		for (words = command->words; cli_next_word(&words, &one);)
			rg_nearest_look(&nearest, word, one);
		return rg_fail(err, ROGER_EUSAGE, 0, "expected `roger %s %s`, not '%.*s'" RG_MEANT,
			       command->name, command->words, RG_STR_CUT(word),
			       RG_MEANT_ARGS(nearest));
	}
	field = cli_find_field(parser->record, word);
	if (!field)
		return ROGER_OK;
	return rg_record_set(field, word, 0, parser->run->request, parser->run->arena, err);
}

/*
 * The agent and the issue may come from the environment.  The agent is --as; else, for a person at
 * a terminal, `human` where a name is needed; else ROGER_AGENT.
 */
static int fill_from_environment(struct parser *parser, struct roger_err *err)
{
	const char *agent = getenv("ROGER_AGENT"), *issue = getenv("ROGER_ISSUE");
	const char *server = cli_is_elsewhere(parser->run) ? getenv("ROGER_SERVER") : "unix:";
	/* Over TCP the token says who the agent is. */
	const bool told = strncmp(server, "unix:", 5) != 0;
	const struct roger_str usual = rg_terminal_has_person() && !told ? RG_STR(RG_PERSON)
				       : agent && *agent		 ? rg_str(agent)
									 : (struct roger_str){ 0 };
	const struct roger_str as = parser->common.as;
	struct cli_run *run = parser->run;
	const struct roger_field *field;
	struct roger_str self;
	int r;

	for (field = parser->record->fields; field->name; field++) {
		r = ROGER_OK;
		self = as.data ? as : usual;
		if (!as.data && rg_str_is(usual, RG_PERSON) &&
		    !(field->flags & (ROGER_REQUIRED | ROGER_AMBIENT)))
			self.data = NULL;
		if ((field->flags & ROGER_PERSON) && as.data &&
		    !(usual.data && rg_str_equal(as, usual)))
			*(bool *)rg_field_at(field, run->request) = true;
		else if ((field->flags & ROGER_SELF) && self.data)
			r = rg_record_set(field, self, 0, run->request, run->arena, err);
		else if (field->flags & ROGER_AMBIENT && !(field->flags & ROGER_SELF) &&
			 rg_field_unset(field, run->request) && issue && *issue)
			r = rg_record_set(field, rg_str(issue), 0, run->request, run->arena, err);
		else if ((field->flags & ROGER_SELF) && (field->flags & ROGER_REQUIRED) && !told)
			r = rg_fail_member(err, ROGER_EUSAGE, field->name,
					   "who are you? give --as NAME or set ROGER_AGENT");
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}

const char *cli_option_value(const struct cli_command *command, struct roger_str name)
{
	const struct roger_field *field = cli_find_field(cli_op(command)->options, name);

	field = field ? field : cli_find_field(&rg_common_options_record, name);
	field = field ? field : cli_find_field(cli_op(command)->request, name);
	return !field ? NULL : field->kind == ROGER_BOOL ? "" : "a value";
}

bool cli_is_meant(const struct cli_command *command, int argc, char **argv)
{
	struct roger_str name;
	const char *value;
	int i;

	for (i = 0; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1] || strcmp(argv[i], "--") == 0)
			return true;
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
			return true;
		if (argv[i][1] != '-')
			continue;
		name = (struct roger_str){ argv[i] + 2, strcspn(argv[i] + 2, "=") };
		value = cli_option_value(command->else_is, name);
		if (!value && cli_option_value(command, name))
			return true;
		i += value && *value && !strchr(argv[i], '=');
	}
	return false;
}

int cli_parse(struct cli_run *run, int argc, char **argv, const char **ret_colour, bool *ret_help,
	      struct roger_err *err)
{
	struct parser parser = {
		.run = run, .record = cli_op(run->command)->request, .argc = argc, .argv = argv
	};
	int r = ROGER_OK;

	if (run->old && run->old->option)
		r = take_option(&parser, run->old->option, err);
	while (parser.at < argc && r == ROGER_OK)
		r = take_word(&parser, err);
	/* An option after the wrong word, such as --json, still decides how the error is printed.
	 */
	while (r < 0 && parser.at < argc && !parser.only_places)
		take_word(&parser, NULL);
	*ret_colour = parser.common.color.data ? parser.common.color.data : "auto";
	*ret_help = parser.common.help;
	if (r < 0 || parser.common.help)
		return r;
	r = take_verb_word(&parser, err);
	run->words = parser.places;
	if (r == ROGER_OK && run->command->prepare)
		r = run->command->prepare(run, err);
	if (r == ROGER_OK)
		r = fill_places(&parser, err);
	return r == ROGER_OK ? fill_from_environment(&parser, err) : r;
}
