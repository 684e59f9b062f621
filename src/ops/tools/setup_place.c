/* setup: put one place of the table into the text of its file, or cut it out. */
#include <stdio.h>

#include "ops/tools/setup.h"
#include "host/outside.h"

/* ----------------------------------------------------------------- values -- */

static const char *const filling_names[] = { "{roger}", "{shell}", "{as_words}",
					     "{as}",	"{codex}", "{tool}" };

/* Escape a text for the inside of a JSON string, which TOML reads the same way. */
static bool keep_inside_quotes(struct rg_arena *arena, struct roger_str text, struct roger_str *ret)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf quoted = { .maximum = SIZE_MAX };

	rg_json_add_string(&quoted, text);
	return !quoted.failed &&
	       rg_arena_copy(arena, (struct roger_str){ quoted.data + 1, quoted.length - 2 }, ret);
}

/*
 * Settings name the program by its path, since a tool may run with another PATH; the path found
 * along PATH is used first, since it stays the same after an update.  Settings that other people
 * share name it "roger".
 */
int rg_setup_fillings_find(struct rg_setup_plan *plan, struct roger_err *err)
{
	struct roger_str name = plan->request->name, *fillings = plan->fillings;
	struct roger_str roger = RG_STR("roger"), word;
	struct rg_buf shell = { .maximum = SIZE_MAX };
	char own[RG_SETUP_PATH_BYTES];

	fillings[RG_SETUP_FILL_CODEX] = name.length ? name : rg_str(rg_setup_tools[1]);
	if (name.length && (!rg_arena_print(plan->arena, &fillings[RG_SETUP_FILL_AS], " --as %.*s",
					    RG_STR_ARGS(name)) ||
			    !rg_arena_print(plan->arena, &fillings[RG_SETUP_FILL_AS_WORDS],
					    ", \"--as\", \"%.*s\"", RG_STR_ARGS(name))))
		return rg_fail_memory(err);
	if (plan->request->scope != ROGER_SETUP_PROJECT &&
	    (rg_outside_roger(own) || rg_outside_own_program(own)))
		roger = rg_str(own);
	rg_buf_add_shell_word(&shell, roger);
	return rg_kept(
		rg_arena_keep(plan->arena, &shell, &word) &&
			keep_inside_quotes(plan->arena, roger, &fillings[RG_SETUP_FILL_ROGER]) &&
			keep_inside_quotes(plan->arena, word, &fillings[RG_SETUP_FILL_SHELL]),
		err);
}

int rg_setup_fill_in(struct rg_setup_plan *plan, const char *tool, const char *template,
		     struct roger_str *ret_text, struct roger_err *err)
{
	struct rg_buf out = { .maximum = SIZE_MAX };
	size_t i;

	plan->fillings[RG_SETUP_FILL_TOOL] = rg_str(tool);
	while (*template) {
		for (i = 0; i < RG_SETUP_FILL_COUNT; i++)
			if (strncmp(template, filling_names[i], strlen(filling_names[i])) == 0)
				break;
		if (i < RG_SETUP_FILL_COUNT) {
			rg_buf_add_str(&out, plan->fillings[i]);
			template += strlen(filling_names[i]);
		} else {
			rg_buf_add_char(&out, *template ++);
		}
	}
	return rg_kept(rg_arena_keep(plan->arena, &out, ret_text), err);
}

/* ---------------------------------------------------------------- putting -- */

size_t rg_setup_path(const struct rg_setup_place *place, const char *root,
		     struct roger_str names[RG_SETUP_NAMES_MAX])
{
	const char *name = place->path;
	size_t count = 0, length;

	for (; *name; name += length + (name[length] == '\n')) {
		rg_assert(count + 1 < RG_SETUP_NAMES_MAX);
		length = strcspn(name, "\n");
		names[count] = (struct roger_str){ name, length };
		if (rg_str_is(names[count], "{root}"))
			names[count] = rg_str(root);
		count++;
	}
	return count;
}

bool rg_setup_hook_mark(const struct rg_setup_hook *hook, struct roger_str text,
			char mark[RG_SETUP_MARK_BYTES])
{
	snprintf(mark, RG_SETUP_MARK_BYTES, "roger' hook %s", hook->command);
	if (memmem(text.data, text.length, mark, strlen(mark)))
		return true;
	snprintf(mark, RG_SETUP_MARK_BYTES, "roger hook %s", hook->command);
	return memmem(text.data, text.length, mark, strlen(mark));
}

bool rg_setup_find_block(struct roger_str text, const char *lead, struct rg_json_edit *ret_edit)
{
	char begin[32], end[32];
	const char *start, *stop;

	snprintf(begin, sizeof begin, "%s roger:begin", lead);
	snprintf(end, sizeof end, "%s roger:end", lead);
	start = memmem(text.data, text.length, begin, strlen(begin));
	if (!start)
		return false;
	stop = memmem(start, (size_t)(text.data + text.length - start), end, strlen(end));
	if (!stop)
		return false;
	/* An earlier begin without an end is not roger's. */
	for (const char *next = start; next; start = next ? next : start)
		next = memmem(start + 1, (size_t)(stop - start - 1), begin, strlen(begin));
	ret_edit->offset = (size_t)(start - text.data);
	stop = memchr(stop, '\n', (size_t)(text.data + text.length - stop));
	ret_edit->length = stop ? (size_t)(stop + 1 - start) : text.length - ret_edit->offset;
	return true;
}

/* Copy a line without blanks and quotes, cut to 127 bytes. */
static void squeeze_line(const char *line, size_t length, char to[128])
{
	size_t i, count = 0;

	for (i = 0; i < length && count < 127; i++)
		if (!strchr(" \t\r\"'", line[i]))
			to[count++] = line[i];
	to[count] = '\0';
}

/* True if a line begins with exactly this name. */
static bool names_exactly(const char *line, const char *name)
{
	size_t length = strlen(name);

	return strncmp(line, name, length) == 0 && (!line[length] || strchr(".]=:#", line[length]));
}

/*
 * Refuse a file of lines that has the same setting already, however it is written, or
 * that is written so that nothing can be added at its end.
 */
static int check_block(const struct rg_setup_place *place, struct roger_str text,
		       struct roger_err *err)
{
	const char *line = text.data, *end = text.data + text.length, *stop;
	bool servers = false, twice, closed;
	char words[128];

	for (; place->path && line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		squeeze_line(line, (size_t)(stop - line), words);
		servers = words[0] == '[' ? strcmp(words, "[mcp_servers]") == 0 : servers;
		twice = names_exactly(words, place->path) ||
			names_exactly(words, "mcp_servers.roger") ||
			(servers && names_exactly(words, "roger"));
		/* A table in braces cannot be extended later in the file. */
		closed = strcmp(place->path, "wake") == 0
				 ? words[0] == '{' || strcmp(words, "...") == 0
				 : strncmp(words, "mcp_servers={", 13) == 0;
		if (twice || closed)
			return rg_fail(err, ROGER_EDATA, 0,
				       twice ? "it has '%s' already; take that out and set up "
					       "again, or leave it so"
					     : "it is not written so that '%s' could be added at "
					       "its end; add it by hand",
				       place->path);
	}
	return ROGER_OK;
}

/* Put lines between two comments into a text.  value "": cut them out. */
static int edit_block(const struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      struct roger_str text, struct roger_str value, struct rg_json_edit *ret_edit,
		      struct roger_err *err)
{
	const char *close = strcmp(place->mark, "<!--") == 0 ? " -->" : "";
	struct rg_buf out = { .maximum = SIZE_MAX };
	bool there = rg_setup_find_block(text, place->mark, ret_edit);
	struct roger_str old;
	int r;

	if (!value.length)
		return ROGER_OK;
	if (!there) {
		r = check_block(place, text, err);
		if (r < 0)
			return r;
		*ret_edit = (struct rg_json_edit){ .offset = text.length };
		if (text.length && text.data[text.length - 1] != '\n')
			rg_buf_add_char(&out, '\n');
		if (text.length)
			rg_buf_add_char(&out, '\n');
	}
	rg_buf_printf(&out, "%s roger:begin%s\n", place->mark, close);
	rg_buf_add_str(&out, value);
	rg_buf_printf(&out, "%s roger:end%s\n", place->mark, close);
	if (!rg_arena_keep(plan->arena, &out, &ret_edit->text))
		return rg_fail_memory(err);
	old = (struct roger_str){ text.data + ret_edit->offset, ret_edit->length };
	if (rg_str_equal(old, ret_edit->text))
		*ret_edit = (struct rg_json_edit){ 0 };
	return ROGER_OK;
}

/* Replace the whole text of roger's own file.  value "": empty it. */
static int edit_file(const struct rg_setup_target *target, struct roger_str value,
		     struct rg_json_edit *ret_edit, struct roger_err *err)
{
	struct roger_str text = target->text;
	bool ours = memmem(text.data, text.length, "roger setup", 11);

	if (rg_str_equal(text, value) || (!value.length && !ours))
		return ROGER_OK;
	if (target->there && !ours)
		return rg_fail(err, ROGER_EDATA, 0,
			       "it is not a file of roger; move it away, then set up again");
	*ret_edit = (struct rg_json_edit){ 0, text.length, value };
	return ROGER_OK;
}

/* True if roger's element of a list of hooks has other commands, too. */
static bool holds_others(struct roger_str text, const struct roger_strs *path,
			 struct roger_str mark)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *hooks, *hook = NULL;
	struct roger_str element, key;
	size_t i = 0;

	if (!mark.length || rg_json_edit_find(text, path, mark, &element, NULL) < 0 ||
	    !element.data)
		return false;
	if (rg_json_read(element, &json, NULL) < 0)
		return true; /* the element has comments, for example */
	hooks = rg_json_member(rg_json_root(json), "hooks");
	return rg_json_next(hooks, &i, &key, &hook) && rg_json_next(hooks, &i, &key, &hook);
}

/* True if a server with roger's name runs something else, so it is a person's own. */
static bool is_others(const struct rg_setup_place *place, struct roger_str text,
		      const struct roger_strs *path)
{
	static const char word[] = "\"mcp\"";
	struct roger_str value;

	return strstr(place->value, word) &&
	       rg_json_edit_find(text, path, RG_STR(""), &value, NULL) == ROGER_OK && value.data &&
	       !memmem(value.data, value.length, word, sizeof word - 1);
}

static int find_value(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      const struct rg_setup_hook *hook, const char *tool,
		      struct roger_str *ret_value, struct roger_err *err)
{
	const bool bare = hook && hook->tool == RG_COPILOT;
	struct roger_str template;

	if (!hook)
		return rg_setup_fill_in(plan, tool, place->value, ret_value, err);
	if (!rg_arena_print(plan->arena, &template,
			    "{%s%s\"type\": \"command\", \"%s\": \"%s{shell} hook %s{as}\"%s}%s",
			    hook->matched ? "\"matcher\": \"*\", " : "",
			    bare ? "" : "\"hooks\": [{", bare ? "bash" : "command",
			    plan->request->scope == ROGER_SETUP_PROJECT ? RG_SETUP_GUARD : "",
			    hook->command, hook->more, bare ? "" : "]}"))
		return rg_fail_memory(err);
	return rg_setup_fill_in(plan, tool, template.data, ret_value, err);
}

/*
 * Put in or cut out a member or, in the array of its event, a hook.  Removing looks for what seems
 * to be roger's, for files that have no record or were rearranged.
 */
static int edit_json(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		     const struct rg_setup_hook *hook, struct rg_setup_target *target,
		     const char *tool, struct roger_err *err)
{
	struct roger_str names[RG_SETUP_NAMES_MAX], value;
	struct roger_strs path = { names, rg_setup_path(place, plan->root, names) };
	const bool remove = plan->request->remove;
	char mark[RG_SETUP_MARK_BYTES] = "";
	struct rg_json_edit edit = { 0 };
	bool shared;
	int r = ROGER_OK;

	if (hook) {
		names[path.count++] = rg_str(hook->event);
		rg_setup_hook_mark(hook, target->text, mark);
	}
	if (remove && !hook && is_others(place, target->text, &path))
		return ROGER_OK;
	shared = holds_others(target->text, &path, rg_str(mark));
	if (remove && !shared)
		r = rg_json_edit_cut(target->text, &path, rg_str(mark), &edit, err);
	else if (!remove)
		r = find_value(plan, place, hook, tool, &value, err);
	if (r == ROGER_OK && !remove)
		r = rg_json_edit_put(target->text, &path, value, rg_str(mark), plan->arena, &edit,
				     err);
	if (r == ROGER_OK && shared && (remove || !rg_json_edit_is_none(&edit))) {
		(void)rg_fail(err, ROGER_EDATA, 0,
			      "it holds roger's hook in one list with others; take roger's out by "
			      "hand");
		return remove ? rg_setup_target_leave(plan, target, err->message, err)
			      : ROGER_EDATA;
	}
	return r == ROGER_OK ? rg_setup_target_apply(plan, target, &edit, tool, err) : r;
}

static int edit_hooks(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      struct rg_setup_target *target, const char *tool, struct roger_err *err)
{
	const struct rg_setup_hook *hook;
	int r = ROGER_OK;

	for (hook = rg_setup_hooks; hook->event && r == ROGER_OK; hook++)
		if (hook->tool & place->tools)
			r = edit_json(plan, place, hook, target, tool, err);
	return r;
}

int rg_setup_place_edit(struct rg_setup_plan *plan, const struct rg_setup_place *place,
			struct rg_setup_target *target, const char *tool, struct roger_err *err)
{
	struct rg_json_edit edit = { 0 };
	struct roger_str value = { 0 };
	size_t chars;
	int r;

	if (!plan->request->remove && !rg_utf8_count(target->text, &chars))
		return rg_fail(err, ROGER_EDATA, 0, "it is not UTF-8 text");
	if (place->kind == RG_SETUP_HOOKS)
		return edit_hooks(plan, place, target, tool, err);
	if (place->kind == RG_SETUP_MEMBER)
		return edit_json(plan, place, NULL, target, tool, err);
	r = rg_setup_fill_in(plan, tool, plan->request->remove ? "" : place->value, &value, err);
	if (r == ROGER_OK)
		r = place->kind == RG_SETUP_BLOCK
			    ? edit_block(plan, place, target->text, value, &edit, err)
			    : edit_file(target, value, &edit, err);
	return r == ROGER_OK ? rg_setup_target_apply(plan, target, &edit, tool, err) : r;
}
