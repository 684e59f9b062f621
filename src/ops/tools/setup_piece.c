/*
 * setup: one piece in the text of its file.  It is put in, or cut out, by one edit; and tried as
 * the tool would run it.  Only commands of roger are run, since the settings may come with a
 * repository.
 */
#include <stdio.h>

#include "ops/tools/setup.h"
#include "host/outside.h"
#include "host/program.h"

/* Begins a hook that comes with a repository: it is silent where roger is not installed. */
static const char guard[] = "command -v roger >/dev/null || exit 0; exec ";

/* ----------------------------------------------------------------- values -- */

/* Return a text, or the word of a shell for it, for the inside of a string of JSON or TOML. */
static struct roger_str inside_quotes(struct rg_arena *arena, struct roger_str text, bool shell)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf word = { .maximum = SIZE_MAX };
	struct rg_buf quoted = { .maximum = SIZE_MAX };

	if (shell)
		rg_buf_add_shell_word(&word, text);
	rg_json_add_string(&quoted, shell ? rg_buf_str(&word) : text);
	quoted.failed |= word.failed;
	text = rg_arena_take(arena, &quoted);
	return text.length ? (struct roger_str){ text.data + 1, text.length - 2 } : text;
}

struct roger_str rg_setup_fill_in(const struct rg_setup_plan *plan, const char *tool,
				  const char *command, const char *template)
{
	const struct roger_str program = rg_str(plan->program), name = plan->request->name;
	const struct roger_str shell = inside_quotes(plan->arena, program, true);
	struct rg_arena *arena = plan->arena;
	const struct rg_placeholder all[] = {
		{ RG_STR("{roger}"), inside_quotes(arena, program, false) },
		{ RG_STR("{tool}"), rg_str(tool) },
		{ RG_STR("{run}"),
		  rg_arena_text(arena, "%s%.*s hook %s",
				command && plan->request->scope == ROGER_SETUP_PROJECT ? guard : "",
				RG_STR_ARGS(shell), tool) },
		{ RG_STR("{command}"), rg_str(command) },
		{ RG_STR("{codex}"), name.length ? name : RG_STR("codex") },
		{ RG_STR("{as}"),
		  rg_arena_text(arena, "%s%.*s", name.length ? " --as " : "", RG_STR_ARGS(name)) },
		{ RG_STR("{as_words}"),
		  name.length ? rg_arena_text(arena, ", \"--as\", \"%.*s\"", RG_STR_ARGS(name))
			      : name },
	};
	struct rg_buf out = { .maximum = SIZE_MAX };

	rg_buf_add_filled(&out, rg_str(template), all, sizeof all / sizeof *all);
	return rg_arena_take(arena, &out);
}

/* ---------------------------------------------------------------- looking -- */

/* Print what marks a hook as roger's in this text: "roger hook claude stop", or with a quote after
 * roger where its path needs one. */
static void print_hook_mark(const struct rg_setup_piece *piece, struct roger_str text, char to[64])
{
	snprintf(to, 64, "roger' hook %s %s", piece->tool, piece->place->mark);
	if (!rg_str_find_part(text, rg_str(to)))
		snprintf(to, 64, "roger hook %s %s", piece->tool, piece->place->mark);
}

/* Return a name in the path of a place, as the file has it. */
static struct roger_str path_name(const struct rg_setup_plan *plan, const char *name)
{
	return rg_str(strcmp(name, "{root}") == 0 ? plan->root : name);
}

/* Find the lines of a piece with their comments, or its whole file; NULL data: neither is there. */
static struct roger_str find_lines(const struct rg_setup_piece *piece)
{
	const struct roger_str text = piece->target->text, none = { NULL, 0 };
	const char *start, *stop, *next, *end = text.data + text.length;
	char begin[32], last[32];

	if (!piece->place->mark)
		return rg_str_find_part(text, rg_str("roger setup")) ? text : none;
	snprintf(begin, sizeof begin, "%s roger:begin", piece->place->mark);
	snprintf(last, sizeof last, "%s roger:end", piece->place->mark);
	start = rg_str_find_part(text, rg_str(begin));
	stop = start ? memmem(start, (size_t)(end - start), last, strlen(last)) : NULL;
	if (!stop)
		return none;
	/* An earlier begin without an end is not roger's. */
	for (next = start; next;
	     next = memmem(start + 1, (size_t)(stop - start - 1), begin, strlen(begin)))
		start = next;
	stop = memchr(stop, '\n', (size_t)(end - stop));
	return (struct roger_str){ start, (size_t)((stop ? stop + 1 : end) - start) };
}

/* ------------------------------------------------------------------ lines -- */

/* A line of TOML, plain YAML or a script. */
struct line_of_settings {
	char table[128];	/* of TOML, where it is one of servers */
	char name[256];		/* with its table, without blanks and quotes; a header: the table */
	struct roger_str value; /* behind the '=' or ':' */
};

/* Take the next line of a text that ends with a NUL; line begins as zeros. */
static bool next_line(struct roger_str *rest, struct line_of_settings *line)
{
	static const char servers[] = "mcp_servers";
	struct roger_str text;
	char words[128], *key = words;
	size_t i, count = 0;

	if (!rg_str_next_line(rest, &text))
		return false;
	for (i = 0; i < text.length && count < sizeof words - 1; i++)
		if (!strchr(" \t\r\"'", text.data[i]))
			words[count++] = text.data[i];
	words[count] = '\0';
	if (*key == '[') {
		key += strspn(key, "[");
		i = strncmp(key, servers, sizeof servers - 1) == 0 ? strcspn(key, "]") : 0;
		snprintf(line->table, sizeof line->table, "%.*s", (int)i, key);
		key += strlen(key);
	}
	snprintf(line->name, sizeof line->name, "%s%s%.*s", line->table,
		 *line->table && *key ? "." : "", (int)strcspn(key, "=:#"), key);
	i = strcspn(text.data, "=:\n");
	i = i < text.length ? i + 1 + strspn(text.data + i + 1, " \t") : text.length;
	line->value = (struct roger_str){ text.data + i, text.length - i };
	return true;
}

/*
 * Refuse a file of lines that has the same setting already, however it is written, or
 * that is written so that nothing can be added at its end.
 */
static int check_lines(const char *taken, struct roger_str text, struct roger_err *err)
{
	const bool yaml = strcmp(taken, "wake") == 0;
	struct line_of_settings line = { 0 };

	while (next_line(&text, &line)) {
		if (strncmp(line.name, taken, strlen(taken)) == 0 &&
		    strchr(".", line.name[strlen(taken)]))
			return rg_fail(err, ROGER_EDATA, 0,
				       "it has '%s' already; take that out and set up again, or "
				       "leave it so",
				       taken);
		/* A table in braces cannot be extended later in the file. */
		if (yaml ? *line.name == '{' || strcmp(line.name, "...") == 0
			 : strcmp(line.name, "mcp_servers") == 0 && rg_str_begins(line.value, "{"))
			return rg_fail(err, ROGER_EDATA, 0,
				       "it is not written so that '%s' could be added at its end; "
				       "add it by hand",
				       taken);
	}
	return ROGER_OK;
}

/*
 * Replace lines or a file of roger's, or cut them out; new lines are put at the end of the file,
 * behind an empty one.
 */
static int edit_lines(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		      struct roger_str ours, struct rg_json_edit *ret_edit, struct roger_err *err)
{
	const struct roger_str text = piece->target->text, there = find_lines(piece);
	const char *taken = piece->place->taken;
	int r;

	if (rg_str_equal(there, ours))
		return ROGER_OK;
	if (there.data) {
		*ret_edit = (struct rg_json_edit){ (size_t)(there.data - text.data), there.length,
						   ours };
		return ROGER_OK;
	}
	if (!piece->place->mark && piece->target->there)
		return rg_fail(err, ROGER_EDATA, 0,
			       "it is not a file of roger; move it away, then set up again");
	r = taken ? check_lines(taken, text, err) : ROGER_OK;
	ret_edit->offset = text.length;
	ret_edit->text = rg_arena_text(plan->arena, "%s%s%.*s",
				       text.length && !rg_str_ends(text, "\n") ? "\n" : "",
				       text.length ? "\n" : "", RG_STR_ARGS(ours));
	return r;
}

/* ------------------------------------------------------------------- JSON -- */

/* Does an element with a hook of roger's have other commands, too? */
static bool holds_others(struct roger_str element)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *hooks, *hook = NULL;
	struct roger_str key;
	size_t i = 0;

	if (rg_json_read(element, &json, NULL) < 0)
		return true; /* it has comments, for example */
	hooks = rg_json_member(rg_json_root(json), "hooks");
	return rg_json_next(hooks, &i, &key, &hook) && rg_json_next(hooks, &i, &key, &hook);
}

/* Put in or cut out a member or, in the array of its event, a hook. */
static int edit_json(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		     struct roger_str ours, struct rg_json_edit *ret_edit, struct roger_err *err)
{
	const struct rg_setup_place *place = piece->place;
	const char *const *name = place->path;
	struct roger_str names[5];
	struct roger_strs path = { names, 0 };
	static const char word[] = "\"mcp\"";
	struct rg_json_spot spot;
	char mark[64] = "";
	int r;

	for (; *name; name++)
		names[path.count++] = path_name(plan, *name);
	if (place->mark)
		print_hook_mark(piece, piece->target->text, mark);
	r = rg_json_spot_find(piece->target->text, &path, rg_str(mark), &spot, err);
	if (r < 0)
		return r;
	if (!plan->request->remove)
		r = rg_json_spot_put(&spot, ours, plan->arena, ret_edit, err);
	/* A server with roger's name that runs something else is a person's own. */
	else if (place->mark || !strstr(place->value, word) ||
		 rg_str_find_part(spot.value, rg_str(word)))
		*ret_edit = rg_json_spot_cut(&spot);
	if (r == ROGER_OK && place->mark && spot.key && !rg_json_edit_is_none(ret_edit) &&
	    holds_others(spot.value))
		return rg_fail(err, ROGER_EDATA, 0,
			       "it holds roger's hook in one list with others; take roger's out by "
			       "hand");
	return r;
}

/*
 * Removing looks for what seems to be roger's, for files that have no record or were rearranged.
 */
int rg_setup_edit_make(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		       struct rg_json_edit *ret_edit, struct roger_err *err)
{
	const struct rg_setup_place *place = piece->place;
	const char *mark = place->mark, *close = mark && *mark == '<' ? " -->" : "";
	struct roger_str ours = { "", 0 };
	size_t chars;

	*ret_edit = (struct rg_json_edit){ 0 };
	if (!plan->request->remove) {
		if (!rg_utf8_count(piece->target->text, &chars))
			return rg_fail(err, ROGER_EDATA, 0, "it is not UTF-8 text");
		ours = rg_setup_fill_in(plan, piece->tool, place->path ? mark : NULL, place->value);
		if (mark && !place->path)
			ours = rg_arena_text(plan->arena, "%s roger:begin%s\n%.*s%s roger:end%s\n",
					     mark, close, RG_STR_ARGS(ours), mark, close);
	}
	return place->path ? edit_json(plan, piece, ours, ret_edit, err)
			   : edit_lines(plan, piece, ours, ret_edit, err);
}

/* ------------------------------------------------------------------ trying -- */

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

/* Try the server in lines of TOML, or in the plugin, which does not list the server's arguments;
 * their strings and lists are also JSON. */
static void try_lines(struct trying *trying)
{
	static const char variable[] = "mcp_servers.roger.env.";
	struct roger_str rest = trying->piece.target->text, command = { 0 }, args = RG_STR("[]");
	struct rg_arena *arena = trying->plan.arena;
	struct line_of_settings line = { 0 };
	const struct rg_json *json;

	while (next_line(&rest, &line)) {
		if (strncmp(line.name, variable, sizeof variable - 1) == 0)
			check_variable(trying, rg_str(line.name + sizeof variable - 1));
		if (strcmp(line.name, "mcp_servers.roger.args") == 0)
			args = line.value;
		if (strcmp(line.name, "mcp_servers.roger.command") == 0)
			command = line.value;
		if (strcmp(line.name, "constROGER") == 0) {
			command = line.value;
			args = rg_arena_text(arena, "[\"mcp\",\"--for\",\"%s\"]",
					     trying->piece.tool);
		}
	}
	if (!command.length)
		return; /* no server */
	command = rg_arena_text(arena, "{\"command\":%.*s,\"args\":%.*s}", RG_STR_ARGS(command),
				RG_STR_ARGS(args));
	if (rg_json_read_within(command, arena, &json, NULL) < 0)
		report_link(trying, "server", RG_STR("its settings are no JSON"));
	else
		try_server(trying, rg_json_root(json));
}

/* ------------------------------------------------------------------ hooks -- */

/* Try the shell commands in a value of an event that are this hook of roger's. */
static void try_hook(struct trying *trying, const struct rg_value *value)
{
	const struct rg_setup_place *place = trying->piece.place;
	struct roger_str key, command = rg_json_str(value);
	struct roger_str wanted[6] = {
		{ 0 }, RG_STR("hook"), rg_str(trying->piece.tool), rg_str(place->mark)
	};
	const struct rg_value *inner = NULL;
	char what[64];
	size_t i = 0;

	while (rg_json_next(value, &i, &key, &inner))
		try_hook(trying, inner);
	print_hook_mark(&trying->piece, command, what);
	if (!command.length || !strstr(command.data, what))
		return;
	if (rg_str_begins(command, guard))
		command = rg_str(command.data + sizeof guard - 1);
	snprintf(what, sizeof what, "hook at %s", place->path[1]);
	report_link(trying, what, try_command(trying, command, wanted, 4, inputs[place->tool]));
}

/* -------------------------------------------------------------------- all -- */

/* Try a place of a tool, the user's or the project's.  What has another shape is not roger's. */
static void try_place(struct trying *trying, const struct rg_setup_place *place, bool user)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct rg_setup_piece *piece = &trying->piece;
	const struct rg_value *value;
	const char *const *name;
	struct roger_err why;
	bool first;
	int r = rg_setup_piece_find(&trying->plan, place, user, piece, &why);

	/* A missing HOME, or a file that cannot be read, is not reported. */
	if (r < 0 || !*piece->tool || !piece->target || rg_str_blank(piece->target->text))
		return;
	if (!place->path) {
		try_lines(trying);
		return;
	}
	first = !piece->target->checked;
	piece->target->checked = true;
	if (rg_json_read_lenient(piece->target->text, &json, &why) < 0) {
		if (first)
			report_link(trying, place->mark ? "hooks" : "server",
				    rg_arena_str(trying->plan.arena, rg_str(why.message)));
		return;
	}
	value = rg_json_root(json);
	/* A top-level "env" is for all programs that the tool starts. */
	if (first)
		check_environment(trying, value);
	for (name = place->path; *name; name++)
		value = rg_json_member_of(value, path_name(&trying->plan, *name));
	if (!place->mark && rg_json_kind(value) == RG_JSON_OBJECT)
		try_server(trying, value);
	/* A hook that waits for mail is not tried. */
	else if (place->mark && strcmp(place->mark, "idle") != 0)
		try_hook(trying, value);
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
