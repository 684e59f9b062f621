/*
 * setup: try what was put into the settings of a tool as the tool would run it.  Only
 * commands of roger are run, since the settings may come with a repository.
 */
#include <stdio.h>

#include "ops/tools/setup.h"
#include "host/outside.h"
#include "host/program.h"

enum { TRY_MS = 10000, OUTPUT_BYTES = 1 << 20 };

/* An agent without mail, so that a hook that is tried shows none. */
#define NOBODY "roger-doctor"

/* The least that each tool writes to its hooks, by which these know the tool. */
#define SAID "{\"session_id\":\"\",\"transcript_path\":\"\",\"cwd\":\"\",\"hook_event_name\":\"\""
static const char *const inputs[RG_SETUP_TOOL_COUNT] = {
	SAID "}", /* Claude Code */
	SAID ",\"turn_id\":\"\",\"model\":\"\",\"permission_mode\":\"\"}",
	SAID ",\"timestamp\":\"\"}",
	"", /* the plugin of OpenCode */
	"{\"sessionId\":\"\",\"timestamp\":0,\"cwd\":\"\"}",
	SAID ",\"timestamp\":\"\",\"permission_mode\":\"\"}",
	"", /* the plugin of Kilo */
};

struct trying {
	struct rg_arena *arena;
	const char *root;
	/* The programs that may be run: "roger", this program, and the roger along PATH. */
	char programs[3][RG_SETUP_PATH_BYTES];
	struct roger_link_list links;

	/* The place that is tried now, its tool, and its file with its text. */
	const struct rg_setup_place *place;
	const char *tool;
	struct roger_str file, text;
};

static int report_link(struct trying *trying, const char *what, const char *trouble,
		       struct roger_err *err)
{
	struct roger_link *link = rg_arena_push(trying->arena, &trying->links.items,
						&trying->links.count, sizeof *link);

	if (!link || !rg_arena_copy(trying->arena, rg_str(what), &link->what) ||
	    !rg_arena_copy(trying->arena, rg_str(trouble), &link->trouble))
		return rg_fail_memory(err);
	link->tool = rg_str(trying->tool);
	link->file = trying->file;
	link->works = !trouble[0];
	return ROGER_OK;
}

/* Run a command; trouble: what went wrong, or "". */
static void run_words(const struct trying *trying, const struct roger_strs *words,
		      struct roger_str input, struct rg_buf *output, char trouble[200])
{
	const struct rg_program program = { .words = *words,
					    .folder = trying->root,
					    .input = input,
					    .timeout_ms = TRY_MS,
					    .output_bytes_most = OUTPUT_BYTES };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf ended = { .maximum = SIZE_MAX };
	struct rg_program_result result;
	struct roger_err err;

	if (rg_program_run(&program, output, &result, &err) < 0) {
		snprintf(trouble, 200, "%.190s", err.message);
	} else if (result.end == RG_PROGRAM_EXITED && result.status == 0) {
		trouble[0] = '\0';
	} else {
		rg_program_describe(&program, &result, &ended);
		snprintf(trouble, 200, "'%.80s': %.*s", words->items[0].data,
			 (int)(ended.length < 100 ? ended.length : 100), ended.data);
	}
}

/* --------------------------------------------------------------- commands -- */

static const char greeting[] =
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
	"\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"roger doctor\",\"version\":"
	"\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";

/*
 * Return the program of a shell command if setup writes such a command: one of the programs above,
 * the wanted words, and perhaps --as NAME; else NULL.  The file may come with a repository, so
 * doctor runs nothing else: no other program, and no other verb, since some verbs run programs.
 */
static const char *find_ours(const struct trying *trying, struct roger_str command,
			     const char *wanted)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf whole = { .maximum = SIZE_MAX };
	struct roger_str rest;
	size_t i;

	for (i = 0; i < 3; i++) {
		rg_buf_clear(&whole);
		rg_buf_add_shell_word(&whole, rg_str(trying->programs[i]));
		rg_buf_printf(&whole, " %s", wanted);
		if (whole.failed || !trying->programs[i][0] || command.length < whole.length ||
		    memcmp(command.data, whole.data, whole.length) != 0)
			continue;
		rest = (struct roger_str){ command.data + whole.length,
					   command.length - whole.length };
		if (!rest.length ||
		    (rg_str_begins(rest, " --as ") &&
		     rg_name_valid((struct roger_str){ rest.data + 6, rest.length - 6 })))
			return trying->programs[i];
	}
	return NULL;
}

/*
 * Try a command, which is `roger mcp` or a hook of roger's.  program: its first word.  wanted: its
 * other words, with blanks between them.
 */
static int try_command(struct trying *trying, const char *what, struct roger_str program,
		       struct roger_str command, const char *wanted, const char *input,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf output = { .maximum = OUTPUT_BYTES };
	const char *ours = find_ours(trying, command, wanted);
	const bool server = input == greeting;
	struct roger_strs words = { 0 };
	char trouble[200], path[RG_SETUP_PATH_BYTES];
	bool added;

	/* The program is gone when the package was removed or moved. */
	snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(program));
	if (path[0] == '/' && !rg_outside_is_there(path)) {
		snprintf(trouble, sizeof trouble,
			 "its program '%.*s' is gone; `roger setup %s` names this one",
			 (int)(program.length < 100 ? program.length : 100), program.data,
			 trying->tool);
		return report_link(trying, what, trouble, err);
	}
	if (!ours)
		return report_link(trying, what,
				   "it is not the command that setup writes; not tried", err);
	added = rg_arena_add(trying->arena, &words, rg_str(ours));
	for (; added && *wanted; wanted += strcspn(wanted, " "), wanted += *wanted == ' ')
		added = rg_arena_add(trying->arena, &words,
				     (struct roger_str){ wanted, strcspn(wanted, " ") });
	if (!added || !rg_arena_add(trying->arena, &words, RG_STR("--as")) ||
	    !rg_arena_add(trying->arena, &words, RG_STR(NOBODY)))
		return rg_fail_memory(err);
	run_words(trying, &words, rg_str(input), &output, trouble);
	if (!trouble[0] && server &&
	    (!output.length || !memmem(output.data, output.length, "\"name\":\"inbox\"", 14)))
		snprintf(trouble, sizeof trouble, "it started, but lists no tools");
	else if (!trouble[0] && !server && output.length)
		snprintf(trouble, sizeof trouble, "it printed something although there is no mail");
	return report_link(trying, what, trouble, err);
}

/* ------------------------------------------------------------ environment -- */

/* Report a variable that decides what a program loads or runs, or whom roger trusts and asks. */
static int check_variable(struct trying *trying, struct roger_str name, struct roger_err *err)
{
	static const char *const starts[] = { "LD_",   "DYLD_",	 "ROGER_", "XDG_",  "PG",   "SSL_",
					      "CURL_", "GCONV_", "GLIBC_", "BASH_", "NODE_" };
	static const char *const names[] = { "PATH",	    "HOME",	  "ENV",
					     "SUDO_UID",    "ALL_PROXY",  "HTTP_PROXY",
					     "HTTPS_PROXY", "http_proxy", "https_proxy",
					     "all_proxy",   NULL };
	static const char *const plain[] = { "ROGER_AGENT", "ROGER_ISSUE", "ROGER_WAKE", NULL };
	bool telling = rg_enum_find(names, name) >= 0;
	char trouble[200];
	size_t i;

	for (i = 0; i < sizeof starts / sizeof *starts; i++)
		telling |= rg_str_begins(name, starts[i]) && name.length > strlen(starts[i]);
	if (!telling || rg_enum_find(plain, name) >= 0)
		return ROGER_OK;
	snprintf(trouble, sizeof trouble,
		 "its env sets %.*s, which may change what roger runs or whom it trusts; take it "
		 "out, unless you put it there",
		 (int)(name.length < 60 ? name.length : 60), name.data);
	return report_link(trying, "environment", trouble, err);
}

/* Check the variables in a file of the project; a person's own settings may set any. */
static int check_environment(struct trying *trying, const struct rg_value *env,
			     struct roger_err *err)
{
	const struct rg_value *value = NULL;
	struct roger_str name;
	size_t i = 0;
	int r = ROGER_OK;

	if (!rg_workspace_below(trying->root, trying->file.data))
		return ROGER_OK;
	while (r == ROGER_OK && rg_json_next(env, &i, &name, &value))
		r = check_variable(trying, name, err);
	return r;
}

/* Check the variables of a TOML table, whose lines are "NAME = ...". */
static int check_table(struct trying *trying, const char *head, struct roger_err *err)
{
	const char *end = trying->text.data + trying->text.length;
	const char *at = memmem(trying->text.data, trying->text.length, head, strlen(head));
	struct roger_str rest = { at, at ? (size_t)(end - at) : 0 }, line;
	int r = ROGER_OK;

	if (!rg_workspace_below(trying->root, trying->file.data) || !rg_str_next_line(&rest, &line))
		return ROGER_OK;
	while (r == ROGER_OK && rg_str_next_line(&rest, &line) && line.data[0] != '[') {
		at = line.data + strspn(line.data, " \t\"'");
		r = check_variable(trying, (struct roger_str){ at, strcspn(at, " \t\"'=\n") }, err);
	}
	return r;
}

/* Try the "command" and "args" of an object. */
static int try_server(struct trying *trying, const struct rg_value *server, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf command = { .maximum = SIZE_MAX };
	const struct rg_value *arg = NULL;
	struct roger_str key, program;
	char wanted[64];
	size_t i = 0;
	int r = check_environment(trying, rg_json_member(server, "env"), err);

	if (r < 0)
		return r;
	program = rg_json_str(rg_json_member(server, "command"));
	if (!program.length)
		return report_link(trying, "server", "it names no command", err);
	rg_buf_add_shell_word(&command, program);
	while (rg_json_next(rg_json_member(server, "args"), &i, &key, &arg)) {
		rg_buf_add_char(&command, ' ');
		rg_buf_add_shell_word(&command, rg_json_str(arg));
	}
	if (command.failed)
		return rg_fail_memory(err);
	/* A command that was written by hand has no --for. */
	snprintf(wanted, sizeof wanted,
		 memmem(command.data, command.length, " --for ", 7) ? "mcp --for %s" : "mcp",
		 trying->tool);
	return try_command(trying, "server", program, rg_buf_str(&command), wanted, greeting, err);
}

/* Return the value after "name = " in TOML or JavaScript, whose strings and lists are also JSON. */
static struct roger_str find_setting(struct roger_str lines, const char *name)
{
	const char *at = memmem(lines.data, lines.length, name, strlen(name)), *end;

	if (!at)
		return RG_STR("null");
	at += strlen(name);
	end = memchr(at, '\n', (size_t)(lines.data + lines.length - at));
	return (struct roger_str){ at, (size_t)((end ? end : lines.data + lines.length) - at) };
}

/* Try the server in lines of TOML, or in the plugin, which does not list the server's arguments. */
static int try_lines(struct trying *trying, struct roger_err *err)
{
	struct roger_str lines, object, command, args;
	const struct rg_json *json;
	char words[64];
	struct rg_json_edit block = { 0, trying->text.length, trying->text };
	const bool whole = trying->place->kind == RG_SETUP_FILE;

	if (!whole && !rg_setup_find_block(trying->text, trying->place->mark, &block))
		return ROGER_OK;
	lines = (struct roger_str){ trying->text.data + block.offset, block.length };
	command = find_setting(lines, whole ? "\nconst ROGER = " : "\ncommand = ");
	if (rg_str_is(command, "null"))
		return ROGER_OK; /* no server */
	snprintf(words, sizeof words, "[\"mcp\",\"--for\",\"%s\"]", trying->tool);
	args = whole ? rg_str(words) : find_setting(lines, "\nargs = ");
	if (!rg_arena_print(trying->arena, &object, "{\"command\":%.*s,\"args\":%.*s}",
			    RG_STR_ARGS(command), RG_STR_ARGS(args)))
		return rg_fail_memory(err);
	if (rg_json_read_within(object, trying->arena, &json, NULL) < 0)
		return report_link(trying, "server", "its settings are no JSON", err);
	return try_server(trying, rg_json_root(json), err);
}

/* ------------------------------------------------------------------ hooks -- */

/* Try the shell command of an entry, if it is this hook of roger's. */
static int try_hook(struct trying *trying, const struct rg_setup_hook *hook,
		    const struct rg_value *entry, struct roger_err *err)
{
	static const char guard[] = RG_SETUP_GUARD;
	struct roger_str command = rg_json_str(rg_json_member(entry, "command")), program;
	char what[64], wanted[RG_SETUP_MARK_BYTES];

	if (!command.length)
		command = rg_json_str(rg_json_member(entry, "bash"));
	if (!rg_setup_hook_mark(hook, command, wanted))
		return ROGER_OK;
	if (rg_str_begins(command, guard))
		command = (struct roger_str){ command.data + sizeof guard - 1,
					      command.length - (sizeof guard - 1) };
	program = (struct roger_str){ command.data, strcspn(command.data, " ") };
	snprintf(what, sizeof what, "hook at %s", hook->event);
	snprintf(wanted, sizeof wanted, "hook %s", hook->command);
	return try_command(trying, what, program, command, wanted,
			   inputs[rg_enum_find(rg_setup_tools, rg_str(trying->tool))], err);
}

/* Try all hooks.  Some tools have a list of hooks in each entry of an event. */
static int try_hooks(struct trying *trying, const struct rg_value *events, struct roger_err *err)
{
	const struct rg_value *entry, *inner;
	const struct rg_setup_hook *hook;
	struct roger_str key;
	size_t i, k;
	int r = ROGER_OK;

	for (hook = rg_setup_hooks; hook->event && r == ROGER_OK; hook++) {
		/* A hook that waits for mail is not tried. */
		if (!(hook->tool & trying->place->tools) || strstr(hook->command, " idle"))
			continue;
		i = 0;
		while (r == ROGER_OK &&
		       rg_json_next(rg_json_member(events, hook->event), &i, &key, &entry)) {
			r = try_hook(trying, hook, entry, err);
			k = 0;
			while (r == ROGER_OK &&
			       rg_json_next(rg_json_member(entry, "hooks"), &k, &key, &inner))
				r = try_hook(trying, hook, inner, err);
		}
	}
	return r;
}

/* -------------------------------------------------------------------- all -- */

static int try_json(struct trying *trying, struct roger_err *err)
{
	const bool hooks = trying->place->kind == RG_SETUP_HOOKS;
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_str names[RG_SETUP_NAMES_MAX];
	const struct rg_value *value;
	struct roger_err why;
	size_t i, count = rg_setup_path(trying->place, trying->root, names);
	int r;

	if (rg_json_read_lenient(trying->text, &json, &why) < 0)
		return report_link(trying, hooks ? "hooks" : "server", why.message, err);
	value = rg_json_root(json);
	/* A top-level "env" is for all programs that the tool starts. */
	r = check_environment(trying, rg_json_member(value, "env"), err);
	for (i = 0; i < count; i++)
		value = rg_json_member_of(value, names[i]);
	if (r < 0 || rg_json_kind(value) != RG_JSON_OBJECT)
		return r;
	return hooks ? try_hooks(trying, value, err) : try_server(trying, value, err);
}

static int look_at(struct trying *trying, const struct rg_setup_place *place, const char *tool,
		   struct roger_err *err)
{
	struct rg_buf text = { .maximum = SIZE_MAX };
	char path[RG_SETUP_PATH_BYTES];
	bool found;
	int r;

	/* A missing HOME, or a file that cannot be read, is not reported. */
	if (rg_setup_expand(trying->root, place->file, path, NULL) < 0 ||
	    rg_outside_read(path, RG_SETUP_FILE_BYTES_MAX, &text, &found, NULL) < 0)
		found = false;
	if (!rg_arena_keep(trying->arena, &text, &trying->text) ||
	    !rg_arena_copy(trying->arena, rg_str(path), &trying->file))
		return rg_fail_memory(err);
	trying->place = place;
	trying->tool = tool;
	if (!found || rg_str_blank(trying->text))
		return ROGER_OK;
	if (place->kind == RG_SETUP_MEMBER || place->kind == RG_SETUP_HOOKS)
		return try_json(trying, err);
	r = check_table(trying, "[mcp_servers.roger.env]\n", err);
	return r == ROGER_OK ? try_lines(trying, err) : r;
}

int rg_setup_try(const char *root, struct rg_arena *arena, struct roger_link_list *ret_links,
		 struct roger_err *err)
{
	struct trying trying = { .arena = arena, .root = root, .programs = { "roger" } };
	const struct rg_setup_place *place;
	int i, r = ROGER_OK;

	(void)rg_outside_own_program(trying.programs[1]);
	if (!rg_outside_roger(trying.programs[2]))
		trying.programs[2][0] = '\0';
	for (place = rg_setup_places; place->file && r == ROGER_OK; place++)
		for (i = 0; i < RG_SETUP_TOOL_COUNT && r == ROGER_OK; i++)
			if (place->tools == 1u << i)
				r = look_at(&trying, place, rg_setup_tools[i], err);
	*ret_links = trying.links;
	return r;
}
