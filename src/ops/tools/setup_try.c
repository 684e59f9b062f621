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
	struct rg_setup_plan plan; /* holds the files that were read */
	/* The programs that may be run: "roger", this program, and the roger along PATH. */
	char programs[3][RG_SETUP_PATH_BYTES];
	struct roger_link_list links;

	struct rg_setup_piece piece; /* what is tried now */
};

/* Report a link; the rest is printed, and says what is wrong with it: "" if nothing is. */
RG_PRINTF(4, 5)
static int report_link(struct trying *trying, const char *what, struct roger_err *err,
		       const char *format, ...)
{
	struct roger_link *link = rg_arena_push(trying->plan.arena, &trying->links.items,
						&trying->links.count, sizeof *link);
	va_list arguments;
	bool kept;

	va_start(arguments, format);
	kept = link && rg_arena_copy(trying->plan.arena, rg_str(what), &link->what) &&
	       rg_arena_vprint(trying->plan.arena, &link->trouble, format, arguments);
	va_end(arguments);
	if (!kept)
		return rg_fail_memory(err);
	link->tool = rg_str(trying->piece.tool);
	link->file = trying->piece.target->changed.file;
	link->works = !link->trouble.length;
	return ROGER_OK;
}

/* --------------------------------------------------------------- commands -- */

static const char greeting[] =
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
	"\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"roger doctor\",\"version\":"
	"\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";

/* The words of a command behind its program; the last ones may be NULL. */
enum { WANTED = 3 };

/*
 * Return the program of a shell command if setup writes such a command: one of the programs above,
 * the wanted words, and perhaps --as NAME; else NULL.  The file may come with a repository, so
 * doctor runs nothing else: no other program, and no other verb, since some verbs run programs.
 */
static const char *find_ours(const struct trying *trying, struct roger_str command,
			     const char *const wanted[WANTED])
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf whole = { .maximum = SIZE_MAX };
	struct roger_str rest;
	size_t i, k;

	for (i = 0; i < 3; i++) {
		rg_buf_clear(&whole);
		rg_buf_add_shell_word(&whole, rg_str(trying->programs[i]));
		for (k = 0; k < WANTED && wanted[k]; k++)
			rg_buf_printf(&whole, " %s", wanted[k]);
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

/* Try a command, which ends with a NUL: `roger mcp`, whose input is the greeting, or a hook. */
static int try_command(struct trying *trying, const char *what, struct roger_str command,
		       const char *const wanted[WANTED], const char *input, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf output = { .maximum = OUTPUT_BYTES };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf ended = { .maximum = SIZE_MAX };
	const char *ours = find_ours(trying, command, wanted), *trouble = "";
	struct roger_str words[WANTED + 3] = { rg_str(ours) };
	struct rg_program program = { .words = { words, 1 },
				      .folder = trying->plan.root,
				      .input = rg_str(input),
				      .timeout_ms = TRY_MS,
				      .output_bytes_most = OUTPUT_BYTES };
	struct rg_program_result result;
	char path[RG_SETUP_PATH_BYTES];
	struct roger_err why;
	size_t i;

	/* The program is gone when the package was removed or moved. */
	snprintf(path, sizeof path, "%.*s", (int)strcspn(command.data, " "), command.data);
	if (path[0] == '/' && !rg_outside_is_there(path))
		return report_link(trying, what, err,
				   "its program '%.100s' is gone; `roger setup %s` names this one",
				   path, trying->piece.tool);
	if (!ours)
		return report_link(trying, what, err,
				   "it is not the command that setup writes; not tried");
	for (i = 0; i < WANTED && wanted[i]; i++)
		words[program.words.count++] = rg_str(wanted[i]);
	words[program.words.count++] = RG_STR("--as");
	words[program.words.count++] = RG_STR(NOBODY);
	if (rg_program_run(&program, &output, &result, &why) < 0)
		return report_link(trying, what, err, "%s", why.message);
	if (result.end != RG_PROGRAM_EXITED || result.status != 0) {
		rg_program_describe(&program, &result, &ended);
		return report_link(trying, what, err, "'%.80s': %.*s", ours,
				   RG_STR_ARGS(rg_buf_str(&ended)));
	}
	if (input == greeting)
		trouble = output.length && memmem(output.data, output.length, "\"name\":\"inbox\"",
						  14)
				  ? ""
				  : "it started, but lists no tools";
	else if (output.length)
		trouble = "it printed something although there is no mail";
	return report_link(trying, what, err, "%s", trouble);
}

/* ------------------------------------------------------------ environment -- */

/*
 * Report a variable in a file of the project that decides what a program loads or runs, or whom
 * roger trusts and asks; a person's own settings may set any.
 */
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
	size_t i;

	for (i = 0; i < sizeof starts / sizeof *starts; i++)
		telling |= rg_str_begins(name, starts[i]) && name.length > strlen(starts[i]);
	if (!telling || rg_enum_find(plain, name) >= 0 ||
	    !rg_workspace_below(trying->plan.root, trying->piece.target->changed.file.data))
		return ROGER_OK;
	return report_link(trying, "environment", err,
			   "its env sets %.*s, which may change what roger runs or whom it trusts; "
			   "take it out, unless you put it there",
			   RG_STR_CUT(name));
}

static int check_environment(struct trying *trying, const struct rg_value *env,
			     struct roger_err *err)
{
	const struct rg_value *value = NULL;
	struct roger_str name;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK && rg_json_next(env, &i, &name, &value))
		r = check_variable(trying, name, err);
	return r;
}

/* Check the variables of a TOML table, whose lines are "NAME = ...". */
static int check_table(struct trying *trying, const char *head, struct roger_err *err)
{
	const struct roger_str text = trying->piece.target->text;
	const char *end = text.data + text.length;
	const char *at = memmem(text.data, text.length, head, strlen(head));
	struct roger_str rest = { at, at ? (size_t)(end - at) : 0 }, line;
	int r = ROGER_OK;

	if (!rg_str_next_line(&rest, &line))
		return ROGER_OK;
	while (r == ROGER_OK && rg_str_next_line(&rest, &line) && line.data[0] != '[') {
		at = line.data + strspn(line.data, " \t\"'");
		r = check_variable(trying, (struct roger_str){ at, strcspn(at, " \t\"'=\n") }, err);
	}
	return r;
}

/* ---------------------------------------------------------------- servers -- */

/* Try the "command" and "args" of an object. */
static int try_server(struct trying *trying, const struct rg_value *server, struct roger_err *err)
{
	struct rg_buf words = { .maximum = SIZE_MAX };
	/* A command that was written by hand has no --for. */
	const char *wanted[WANTED] = { "mcp", NULL, trying->piece.tool };
	const struct rg_value *arg = NULL;
	struct roger_str key, command;
	size_t i = 0;
	int r = check_environment(trying, rg_json_member(server, "env"), err);

	if (r < 0)
		return r;
	command = rg_json_str(rg_json_member(server, "command"));
	if (!command.length)
		return report_link(trying, "server", err, "it names no command");
	rg_buf_add_shell_word(&words, command);
	while (rg_json_next(rg_json_member(server, "args"), &i, &key, &arg)) {
		rg_buf_add_char(&words, ' ');
		rg_buf_add_shell_word(&words, rg_json_str(arg));
		if (rg_str_is(rg_json_str(arg), "--for"))
			wanted[1] = "--for";
	}
	if (!rg_arena_keep(trying->plan.arena, &words, &command))
		return rg_fail_memory(err);
	return try_command(trying, "server", command, wanted, greeting, err);
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
static int try_lines(struct trying *trying, struct roger_str lines, struct roger_err *err)
{
	const bool whole = !trying->piece.place->mark;
	struct roger_str object, command, args;
	const struct rg_json *json;
	char words[64];

	command = find_setting(lines, whole ? "\nconst ROGER = " : "\ncommand = ");
	if (rg_str_is(command, "null"))
		return ROGER_OK; /* no server */
	snprintf(words, sizeof words, "[\"mcp\",\"--for\",\"%s\"]", trying->piece.tool);
	args = whole ? rg_str(words) : find_setting(lines, "\nargs = ");
	if (!rg_arena_print(trying->plan.arena, &object, "{\"command\":%.*s,\"args\":%.*s}",
			    RG_STR_ARGS(command), RG_STR_ARGS(args)))
		return rg_fail_memory(err);
	if (rg_json_read_within(object, trying->plan.arena, &json, NULL) < 0)
		return report_link(trying, "server", err, "its settings are no JSON");
	return try_server(trying, rg_json_root(json), err);
}

/* ------------------------------------------------------------------ hooks -- */

/* Try the shell command of an entry, if it is this hook of roger's. */
static int try_hook(struct trying *trying, const struct rg_value *entry, struct roger_err *err)
{
	const struct rg_setup_hook *hook = trying->piece.hook;
	const char *const wanted[WANTED] = { "hook", trying->piece.tool, hook->command };
	static const char guard[] = RG_SETUP_GUARD;
	struct roger_str command;
	char what[64];

	command = rg_json_str(rg_json_member(entry, hook->tool == RG_COPILOT ? "bash" : "command"));
	snprintf(what, sizeof what, "hook %s %s", trying->piece.tool, hook->command);
	if (!command.length || !strstr(command.data, what))
		return ROGER_OK;
	if (rg_str_begins(command, guard))
		command = rg_str(command.data + sizeof guard - 1);
	snprintf(what, sizeof what, "hook at %s", hook->event);
	return try_command(trying, what, command, wanted,
			   inputs[rg_enum_find(rg_setup_tools, rg_str(trying->piece.tool))], err);
}

/* -------------------------------------------------------------------- all -- */

/* Try what is there of a piece.  Some tools have a list of hooks in each entry of an event. */
static int try_piece(struct trying *trying, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *root, *inner = NULL;
	struct rg_setup_there there;
	struct roger_str key;
	size_t i = 0;
	int r;

	/* What has another shape is none of roger's. */
	r = rg_setup_look(&trying->plan, &trying->piece, &there, err);
	if (r < 0 || !there.text.data)
		return r == ROGER_EDATA ? ROGER_OK : r;
	if (!trying->piece.place->path)
		return try_lines(trying, there.text, err);
	r = rg_json_read_lenient(there.text, &json, err);
	root = rg_json_root(json);
	if (r < 0 || rg_json_kind(root) != RG_JSON_OBJECT)
		return r;
	if (!trying->piece.hook)
		return try_server(trying, root, err);
	r = try_hook(trying, root, err);
	while (r == ROGER_OK && rg_json_next(rg_json_member(root, "hooks"), &i, &key, &inner))
		r = try_hook(trying, inner, err);
	return r;
}

/* Try a place of one tool; of a user's or of the project. */
static int try_place(struct trying *trying, const struct rg_setup_place *place, bool user,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const bool hooks = !place->value;
	const struct rg_setup_hook *hook;
	struct roger_err why;
	int r = rg_setup_piece_find(&trying->plan, place, user, &trying->piece, err);

	/* A missing HOME, or a file that cannot be read, is not reported. */
	if (r < 0 || !*trying->piece.tool || !trying->piece.target ||
	    rg_str_blank(trying->piece.target->text))
		return r == ROGER_EUSAGE ? ROGER_OK : r;
	/* A top-level "env" is for all programs that the tool starts. */
	if (!place->path)
		r = check_table(trying, "[mcp_servers.roger.env]\n", err);
	else if (rg_json_read_lenient(trying->piece.target->text, &json, &why) < 0)
		return report_link(trying, hooks ? "hooks" : "server", err, "%s", why.message);
	else
		r = check_environment(trying, rg_json_member(rg_json_root(json), "env"), err);
	if (r == ROGER_OK && !hooks)
		r = try_piece(trying, err);
	for (hook = rg_setup_hooks; hooks && hook->event && r == ROGER_OK; hook++) {
		trying->piece.hook = hook;
		/* A hook that waits for mail is not tried. */
		if ((hook->tool & place->tools) && strcmp(hook->command, "idle") != 0)
			r = try_piece(trying, err);
	}
	return r;
}

int rg_setup_try(const char *root, struct rg_arena *arena, struct roger_link_list *ret_links,
		 struct roger_err *err)
{
	const unsigned user = 1u << ROGER_SETUP_USER;
	const struct roger_setup_request request = { 0 };
	struct trying trying = { .plan = { .arena = arena, .request = &request },
				 .programs = { "roger" } };
	const struct rg_setup_place *place;
	int r = ROGER_OK;

	snprintf(trying.plan.root, sizeof trying.plan.root, "%s", root);
	(void)rg_outside_own_program(trying.programs[1]);
	if (!rg_outside_roger(trying.programs[2]))
		trying.programs[2][0] = '\0';
	for (place = rg_setup_places; place->file && r == ROGER_OK; place++) {
		if (place->scopes & ~user)
			r = try_place(&trying, place, false, err);
		if (r == ROGER_OK && (place->scopes & user))
			r = try_place(&trying, place, true, err);
	}
	*ret_links = trying.links;
	return r;
}
