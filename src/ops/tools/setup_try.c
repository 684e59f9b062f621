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
static const char *const inputs[RG_SETUP_TOOLS_END] = {
	[CLI_HOOK_CLAUDE] = SAID "}",
	[CLI_HOOK_CODEX] = SAID ",\"turn_id\":\"\",\"model\":\"\",\"permission_mode\":\"\"}",
	[CLI_HOOK_GEMINI] = SAID ",\"timestamp\":\"\"}",
	[CLI_HOOK_COPILOT] = "{\"sessionId\":\"\",\"timestamp\":0,\"cwd\":\"\"}",
	[CLI_HOOK_QWEN] = SAID ",\"timestamp\":\"\",\"permission_mode\":\"\"}",
};

struct trying {
	struct rg_setup_plan plan; /* holds the files that were read */
	/* The programs that may be run: "roger", this program, and the roger along PATH. */
	char programs[3][RG_SETUP_PATH_BYTES];
	struct roger_link_list links;

	struct rg_setup_piece piece; /* what is tried now */
};

/* Report a link; trouble: what is wrong with it, "" if nothing is. */
static void report_link(struct trying *trying, const char *what, struct roger_str trouble)
{
	struct rg_arena *arena = trying->plan.arena;
	const struct roger_link link = { .tool = rg_str(trying->piece.tool),
					 .file = trying->piece.target->changed.file,
					 .what = rg_arena_str(arena, rg_str(what)),
					 .works = !trouble.length,
					 .trouble = trouble };

	(void)!rg_arena_append(arena, &trying->links.items, &trying->links.count, &link,
			       sizeof link);
}

/* --------------------------------------------------------------- commands -- */

static const char greeting[] =
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
	"\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"roger doctor\",\"version\":"
	"\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";

/*
 * Return the program of a shell command if setup writes such a command: one of the programs above,
 * the words after it, and perhaps --as NAME; else NULL.  The file may come with a repository, so
 * doctor runs nothing else: no other program, and no other verb, since some verbs run programs.
 */
static const char *find_ours(const struct trying *trying, struct roger_str command,
			     const struct roger_str *words, size_t count)
{
	struct roger_str start, rest;
	size_t i, k;

	for (i = 0; i < 3; i++) {
		struct rg_buf whole = { .maximum = SIZE_MAX };

		rg_buf_add_shell_word(&whole, rg_str(trying->programs[i]));
		for (k = 1; k < count; k++)
			rg_buf_printf(&whole, " %.*s", RG_STR_ARGS(words[k]));
		start = rg_arena_take(trying->plan.arena, &whole);
		if (!trying->programs[i][0] || !start.length || !rg_str_begins(command, start.data))
			continue;
		rest = (struct roger_str){ command.data + start.length,
					   command.length - start.length };
		if (!rest.length ||
		    (rg_str_begins(rest, " --as ") &&
		     rg_name_valid((struct roger_str){ rest.data + 6, rest.length - 6 })))
			return trying->programs[i];
	}
	return NULL;
}

/*
 * Try a command, which ends with a NUL: `roger mcp`, whose input is the greeting, or a hook. Return
 * what is wrong with it.  words: those it should have; there is room for two more, and the first
 * becomes the program.
 */
static struct roger_str try_command(struct trying *trying, struct roger_str command,
				    struct roger_str *words, size_t count, const char *input)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf output = { .maximum = OUTPUT_BYTES };
	struct rg_buf ended = { .maximum = SIZE_MAX };
	const char *ours = find_ours(trying, command, words, count);
	struct rg_arena *arena = trying->plan.arena;
	const struct rg_program program = { .words = { words, count + 2 },
					    .folder = trying->plan.root,
					    .input = rg_str(input),
					    .timeout_ms = TRY_MS,
					    .output_bytes_most = OUTPUT_BYTES };
	struct rg_program_result result;
	char path[RG_SETUP_PATH_BYTES];
	struct roger_err why;

	/* The program is gone when the package was removed or moved. */
	snprintf(path, sizeof path, "%.*s", (int)strcspn(command.data, " "), command.data);
	if (path[0] == '/' && !rg_outside_is_there(path))
		return rg_arena_text(arena,
				     "its program '%.100s' is gone; `roger setup %s` names this "
				     "one",
				     path, trying->piece.tool);
	if (!ours)
		return RG_STR("it is not the command that setup writes; not tried");
	words[0] = rg_str(ours);
	words[count] = RG_STR("--as");
	words[count + 1] = RG_STR(NOBODY);
	if (rg_program_run(&program, &output, &result, &why) < 0)
		return rg_arena_str(arena, rg_str(why.message));
	if (result.end != RG_PROGRAM_EXITED || result.status != 0) {
		rg_buf_printf(&ended, "'%.80s': ", ours);
		rg_program_describe(&program, &result, &ended);
		return rg_arena_take(arena, &ended);
	}
	if (input != greeting)
		return rg_str(output.length ? "it printed something although there is no mail"
					    : "");
	return rg_str(rg_str_find_part(rg_buf_str(&output), rg_str("\"name\":\"inbox\""))
			      ? ""
			      : "it started, but lists no tools");
}

/* ------------------------------------------------------------ environment -- */

/*
 * Report a variable in a file of the project that decides what a program loads or runs, or whom
 * roger trusts and asks; a person's own settings may set any.
 */
static void check_variable(struct trying *trying, struct roger_str name)
{
	static const char *const starts[] = { "LD_",   "DYLD_",	 "ROGER_", "XDG_",  "PG",   "SSL_",
					      "CURL_", "GCONV_", "GLIBC_", "BASH_", "NODE_" };
	static const char *const names[] = { "PATH",	    "HOME",	  "ENV",
					     "SUDO_UID",    "ALL_PROXY",  "HTTP_PROXY",
					     "HTTPS_PROXY", "http_proxy", "https_proxy",
					     "all_proxy",   NULL };
	static const char *const plain[] = { "ROGER_AGENT", "ROGER_ISSUE", "ROGER_WAKE", NULL };
	bool telling = rg_enum_find(names, name) >= 0;
	size_t i;

	for (i = 0; i < sizeof starts / sizeof *starts; i++)
		telling |= rg_str_begins(name, starts[i]) && name.length > strlen(starts[i]);
	if (telling && rg_enum_find(plain, name) < 0 &&
	    rg_workspace_below(trying->plan.root, trying->piece.target->changed.file.data))
		report_link(trying, "environment",
			    rg_arena_text(trying->plan.arena,
					  "its env sets %.*s, which may change what roger runs or "
					  "whom it trusts; take it out, unless you put it there",
					  RG_STR_CUT(name)));
}

/* Check the variables in the member "env" of an object. */
static void check_environment(struct trying *trying, const struct rg_value *object)
{
	const struct rg_value *env = rg_json_member(object, "env"), *value = NULL;
	struct roger_str name;
	size_t i = 0;

	while (rg_json_next(env, &i, &name, &value))
		check_variable(trying, name);
}

/* Check the variables of a TOML table, whose lines are "NAME = ...". */
static void check_table(struct trying *trying, const char *head)
{
	const struct roger_str text = trying->piece.target->text;
	const char *at = rg_str_find_part(text, rg_str(head));
	struct roger_str rest = { at, at ? (size_t)(text.data + text.length - at) : 0 }, line;

	(void)rg_str_next_line(&rest, &line);
	while (rg_str_next_line(&rest, &line) && line.data[0] != '[') {
		at = line.data + strspn(line.data, " \t\"'");
		check_variable(trying, (struct roger_str){ at, strcspn(at, " \t\"'=\n") });
	}
}

/* ---------------------------------------------------------------- servers -- */

/* Try the "command" and "args" of an object. */
static void try_server(struct trying *trying, const struct rg_value *server)
{
	struct roger_str key, command = rg_json_str(rg_json_member(server, "command"));
	struct rg_buf words = { .maximum = SIZE_MAX };
	struct roger_str wanted[6] = {
		{ 0 }, RG_STR("mcp"), RG_STR("--for"), rg_str(trying->piece.tool)
	};
	const struct rg_value *arg = NULL;
	size_t i = 0, count = 2; /* a command that was written by hand has no --for */

	check_environment(trying, server);
	rg_buf_add_shell_word(&words, command);
	while (rg_json_next(rg_json_member(server, "args"), &i, &key, &arg)) {
		rg_buf_add_char(&words, ' ');
		rg_buf_add_shell_word(&words, rg_json_str(arg));
		if (rg_str_is(rg_json_str(arg), "--for"))
			count = 4;
	}
	key = rg_arena_take(trying->plan.arena, &words);
	report_link(trying, "server",
		    command.length ? try_command(trying, key, wanted, count, greeting)
				   : RG_STR("it names no command"));
}

/* Return the value after "name = " in TOML or JavaScript, whose strings and lists are also JSON. */
static struct roger_str find_setting(struct roger_str lines, const char *name)
{
	const char *at = rg_str_find_part(lines, rg_str(name));

	if (!at)
		return RG_STR("null");
	at += strlen(name);
	return rg_str_first_line(
		(struct roger_str){ at, (size_t)(lines.data + lines.length - at) });
}

/* Try the server in lines of TOML, or in the plugin, which does not list the server's arguments. */
static void try_lines(struct trying *trying)
{
	const bool whole = !trying->piece.place->mark;
	const struct roger_str lines = rg_setup_lines(&trying->piece);
	struct rg_arena *arena = trying->plan.arena;
	struct roger_str object, command, args;
	const struct rg_json *json;

	command = find_setting(lines, whole ? "\nconst ROGER = " : "\ncommand = ");
	if (rg_str_is(command, "null"))
		return; /* no server */
	args = whole ? rg_arena_text(arena, "[\"mcp\",\"--for\",\"%s\"]", trying->piece.tool)
		     : find_setting(lines, "\nargs = ");
	object = rg_arena_text(arena, "{\"command\":%.*s,\"args\":%.*s}", RG_STR_ARGS(command),
			       RG_STR_ARGS(args));
	if (rg_json_read_within(object, arena, &json, NULL) < 0)
		report_link(trying, "server", RG_STR("its settings are no JSON"));
	else
		try_server(trying, rg_json_root(json));
}

/* ------------------------------------------------------------------ hooks -- */

/* Try the shell command of an entry, if it is this hook of roger's. */
static void try_hook(struct trying *trying, const struct rg_value *entry)
{
	const struct rg_setup_hook *hook = trying->piece.hook;
	const struct roger_str tool = rg_str(trying->piece.tool);
	struct roger_str wanted[6] = { { 0 }, RG_STR("hook"), tool, rg_str(hook->command) };
	static const char guard[] = RG_SETUP_GUARD;
	struct roger_str command;
	char what[64];

	command = rg_json_str(
		rg_json_member(entry, hook->tool == CLI_HOOK_COPILOT ? "bash" : "command"));
	rg_setup_hook_mark(&trying->piece, command, what);
	if (!command.length || !strstr(command.data, what))
		return;
	if (rg_str_begins(command, guard))
		command = rg_str(command.data + sizeof guard - 1);
	snprintf(what, sizeof what, "hook at %s", hook->event);
	report_link(trying, what,
		    try_command(trying, command, wanted, 4,
				inputs[rg_enum_find(rg_hook_tool_names, tool)]));
}

/* Try the entries of an event, some of which have a list of hooks. */
static void try_entries(struct trying *trying, const struct rg_value *entries)
{
	const struct rg_value *entry = NULL, *inner;
	struct roger_str key;
	size_t i = 0, k;

	while (rg_json_next(entries, &i, &key, &entry)) {
		try_hook(trying, entry);
		k = 0;
		inner = NULL;
		while (rg_json_next(rg_json_member(entry, "hooks"), &k, &key, &inner))
			try_hook(trying, inner);
	}
}

/* -------------------------------------------------------------------- all -- */

/* Try a place of a tool, the user's or the project's.  What has another shape is not roger's. */
static void try_place(struct trying *trying, const struct rg_setup_place *place, bool user)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct rg_setup_piece *piece = &trying->piece;
	const struct rg_setup_hook *hook;
	const struct rg_value *value;
	const char *const *name;
	struct roger_err why;
	int r = rg_setup_piece_find(&trying->plan, place, user, piece, &why);

	/* A missing HOME, or a file that cannot be read, is not reported. */
	if (r < 0 || !*piece->tool || !piece->target || rg_str_blank(piece->target->text))
		return;
	if (!place->path) {
		check_table(trying, "[mcp_servers.roger.env]\n");
		try_lines(trying);
		return;
	}
	if (rg_json_read_lenient(piece->target->text, &json, &why) < 0) {
		report_link(trying, place->value ? "server" : "hooks",
			    rg_arena_str(trying->plan.arena, rg_str(why.message)));
		return;
	}
	value = rg_json_root(json);
	/* A top-level "env" is for all programs that the tool starts. */
	check_environment(trying, value);
	for (name = place->path; *name; name++)
		value = rg_json_member_of(value, rg_setup_path_name(&trying->plan, *name));
	if (place->value && rg_json_kind(value) == RG_JSON_OBJECT)
		try_server(trying, value);
	for (hook = rg_setup_hooks; !place->value && hook->event; hook++) {
		piece->hook = hook;
		/* A hook that waits for mail is not tried. */
		if (hook->tool == place->tool && strcmp(hook->command, "idle") != 0)
			try_entries(trying, rg_json_member(value, hook->event));
	}
}

int rg_setup_try(const char *root, struct rg_arena *arena, struct roger_link_list *ret_links,
		 struct roger_err *err)
{
	const unsigned user = 1u << ROGER_SETUP_USER;
	const struct roger_setup_request request = { 0 };
	struct trying trying = { .plan = { .arena = arena, .request = &request },
				 .programs = { "roger" } };
	const struct rg_setup_place *place;

	snprintf(trying.plan.root, sizeof trying.plan.root, "%s", root);
	(void)rg_outside_own_program(trying.programs[1]);
	if (!rg_outside_roger(trying.programs[2]))
		trying.programs[2][0] = '\0';
	for (place = rg_setup_places; place->file; place++) {
		if (place->scopes & ~user)
			try_place(&trying, place, false);
		if (place->scopes & user)
			try_place(&trying, place, true);
	}
	*ret_links = trying.links;
	return rg_kept(!rg_arena_failed(arena), err);
}
