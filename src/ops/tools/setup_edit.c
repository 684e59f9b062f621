/* setup: the edit that puts one place of the table into the text of its file, or cuts it out. */
#include <stdio.h>

#include "ops/tools/setup.h"

/* ----------------------------------------------------------------- values -- */

/* Add a text for the inside of a JSON string, which TOML reads the same way. */
static void add_inside_quotes(struct rg_buf *out, struct roger_str text)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf quoted = { .maximum = SIZE_MAX };

	rg_json_add_string(&quoted, text);
	if (!quoted.failed)
		rg_buf_add(out, quoted.data + 1, quoted.length - 2);
	out->failed |= quoted.failed;
}

enum filling { PROGRAM, SHELL, AS_WORDS, AS, CODEX, TOOL, FILLINGS };

static void add_filling(const struct rg_setup_plan *plan, enum filling filling, const char *tool,
			struct rg_buf *out)
{
	const struct roger_str program = rg_str(plan->program), name = plan->request->name;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf word = { .maximum = SIZE_MAX };

	if (filling == PROGRAM) {
		add_inside_quotes(out, program);
	} else if (filling == SHELL) {
		rg_buf_add_shell_word(&word, program);
		add_inside_quotes(out, rg_buf_str(&word));
		out->failed |= word.failed;
	} else if (filling == CODEX && !name.length) {
		rg_buf_add_text(out, "codex");
	} else if (filling == TOOL) {
		rg_buf_add_text(out, tool);
	} else if (name.length) {
		rg_buf_printf(out,
			      filling == AS_WORDS ? ", \"--as\", \"%.*s\""
			      : filling == AS	  ? " --as %.*s"
						  : "%.*s",
			      RG_STR_ARGS(name));
	}
}

int rg_setup_fill_in(struct rg_setup_plan *plan, const char *tool, const char *template,
		     struct roger_str *ret_text, struct roger_err *err)
{
	static const char *const names[FILLINGS] = { "{roger}", "{shell}", "{as_words}",
						     "{as}",	"{codex}", "{tool}" };
	struct rg_buf out = { .maximum = SIZE_MAX };
	enum filling i;

	while (*template) {
		for (i = 0; i < FILLINGS; i++)
			if (strncmp(template, names[i], strlen(names[i])) == 0)
				break;
		if (i < FILLINGS) {
			add_filling(plan, i, tool, &out);
			template += strlen(names[i]);
		} else {
			rg_buf_add_char(&out, *template ++);
		}
	}
	return rg_kept(rg_arena_keep(plan->arena, &out, ret_text), err);
}

/* ------------------------------------------------------------------ texts -- */

bool rg_setup_find_block(struct roger_str text, const char *lead, struct rg_json_edit *ret_edit)
{
	const char *start, *stop, *next, *end = text.data + text.length;
	char begin[32], last[32];

	snprintf(begin, sizeof begin, "%s roger:begin", lead);
	snprintf(last, sizeof last, "%s roger:end", lead);
	start = memmem(text.data, text.length, begin, strlen(begin));
	stop = start ? memmem(start, (size_t)(end - start), last, strlen(last)) : NULL;
	if (!stop)
		return false;
	/* An earlier begin without an end is not roger's. */
	for (next = start; next;
	     next = memmem(start + 1, (size_t)(stop - start - 1), begin, strlen(begin)))
		start = next;
	stop = memchr(stop, '\n', (size_t)(end - stop));
	ret_edit->offset = (size_t)(start - text.data);
	ret_edit->length = (size_t)((stop ? stop + 1 : end) - start);
	return true;
}

/* Copy a line without blanks and quotes, cut to 127 bytes. */
static void squeeze_line(struct roger_str line, char to[128])
{
	size_t i, count = 0;

	for (i = 0; i < line.length && count < 127; i++)
		if (!strchr(" \t\r\"'", line.data[i]))
			to[count++] = line.data[i];
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
	bool servers = false, twice = false, closed = false;
	struct roger_str line;
	char words[128];

	while (place->taken && !twice && !closed && rg_str_next_line(&text, &line)) {
		squeeze_line(line, words);
		if (words[0] == '[')
			servers = strcmp(words, "[mcp_servers]") == 0;
		twice = names_exactly(words, place->taken) ||
			names_exactly(words, "mcp_servers.roger") ||
			(servers && names_exactly(words, "roger"));
		/* A table in braces cannot be extended later in the file. */
		closed = strcmp(place->taken, "wake") == 0
				 ? words[0] == '{' || strcmp(words, "...") == 0
				 : strncmp(words, "mcp_servers={", 13) == 0;
	}
	if (twice)
		return rg_fail(err, ROGER_EDATA, 0,
			       "it has '%s' already; take that out and set up again, or leave it "
			       "so",
			       place->taken);
	if (closed)
		return rg_fail(err, ROGER_EDATA, 0,
			       "it is not written so that '%s' could be added at its end; add it "
			       "by hand",
			       place->taken);
	return ROGER_OK;
}

/* Put lines between two comments into a text, or cut them out. */
static int edit_block(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      const char *tool, struct roger_str text, struct rg_json_edit *ret_edit,
		      struct roger_err *err)
{
	const char *close = strcmp(place->mark, "<!--") == 0 ? " -->" : "";
	bool there = rg_setup_find_block(text, place->mark, ret_edit);
	struct rg_buf out = { .maximum = SIZE_MAX };
	struct roger_str value;
	int r;

	if (plan->request->remove)
		return ROGER_OK;
	r = rg_setup_fill_in(plan, tool, place->value, &value, err);
	if (r == ROGER_OK && !there)
		r = check_block(place, text, err);
	if (r < 0)
		return r;
	if (!there) {
		ret_edit->offset = text.length;
		if (text.length && text.data[text.length - 1] != '\n')
			rg_buf_add_char(&out, '\n');
		if (text.length)
			rg_buf_add_char(&out, '\n');
	}
	rg_buf_printf(&out, "%s roger:begin%s\n", place->mark, close);
	rg_buf_add_str(&out, value);
	rg_buf_printf(&out, "%s roger:end%s\n", place->mark, close);
	return rg_kept(rg_arena_keep(plan->arena, &out, &ret_edit->text), err);
}

/* Replace the whole text of roger's own file, or empty it. */
static int edit_file(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		     const char *tool, const struct rg_setup_target *target,
		     struct rg_json_edit *ret_edit, struct roger_err *err)
{
	const struct roger_str text = target->text;
	bool ours = memmem(text.data, text.length, "roger setup", 11);

	if (ours || !target->there)
		ret_edit->length = text.length;
	else if (!plan->request->remove)
		return rg_fail(err, ROGER_EDATA, 0,
			       "it is not a file of roger; move it away, then set up again");
	return plan->request->remove
		       ? ROGER_OK
		       : rg_setup_fill_in(plan, tool, place->value, &ret_edit->text, err);
}

/* ------------------------------------------------------------------- JSON -- */

size_t rg_setup_path(const struct rg_setup_place *place, const char *root,
		     struct roger_str names[RG_SETUP_NAMES_MAX])
{
	size_t count;

	for (count = 0; place->path[count]; count++)
		names[count] = rg_str(
			strcmp(place->path[count], "{root}") == 0 ? root : place->path[count]);
	return count;
}

bool rg_setup_hook_mark(const struct rg_setup_hook *hook, const char *tool, struct roger_str text,
			char mark[RG_SETUP_MARK_BYTES])
{
	snprintf(mark, RG_SETUP_MARK_BYTES, "roger' hook %s %s", tool, hook->command);
	if (memmem(text.data, text.length, mark, strlen(mark)))
		return true;
	snprintf(mark, RG_SETUP_MARK_BYTES, "roger hook %s %s", tool, hook->command);
	return memmem(text.data, text.length, mark, strlen(mark));
}

/* True if an element with a hook of roger's has other commands, too. */
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

/* True if a server with roger's name runs something else, so it is a person's own. */
static bool is_others(const struct rg_setup_place *place, struct roger_str server)
{
	static const char word[] = "\"mcp\"";

	return strstr(place->value, word) &&
	       !memmem(server.data, server.length, word, sizeof word - 1);
}

static int find_value(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      const struct rg_setup_hook *hook, const char *tool,
		      struct roger_str *ret_value, struct roger_err *err)
{
	const bool bare = hook && hook->tool == RG_COPILOT;
	struct roger_str template;

	if (!hook)
		return rg_setup_fill_in(plan, tool, place->value, ret_value, err);
	if (!rg_arena_print(
		    plan->arena, &template,
		    "{%s%s\"type\": \"command\", \"%s\": \"%s{shell} hook {tool} %s{as}\"%s}%s",
		    hook->matched ? "\"matcher\": \"*\", " : "", bare ? "" : "\"hooks\": [{",
		    bare ? "bash" : "command",
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
		     const struct rg_setup_hook *hook, const char *tool, struct roger_str text,
		     struct rg_json_edit *ret_edit, struct roger_err *err)
{
	struct roger_str names[RG_SETUP_NAMES_MAX], value, there;
	struct roger_strs path = { names, rg_setup_path(place, plan->root, names) };
	char mark[RG_SETUP_MARK_BYTES] = "";
	int r;

	if (hook) {
		names[path.count++] = rg_str(hook->event);
		rg_setup_hook_mark(hook, tool, text, mark);
	}
	r = rg_json_edit_find(text, &path, rg_str(mark), &there, err);
	if (r == ROGER_OK && plan->request->remove) {
		if (!there.data || (!hook && is_others(place, there)))
			return ROGER_OK;
		r = rg_json_edit_cut(text, &path, rg_str(mark), ret_edit, err);
	} else if (r == ROGER_OK) {
		r = find_value(plan, place, hook, tool, &value, err);
		if (r == ROGER_OK)
			r = rg_json_edit_put(text, &path, value, rg_str(mark), plan->arena,
					     ret_edit, err);
	}
	if (r == ROGER_OK && hook && there.data && !rg_json_edit_is_none(ret_edit) &&
	    holds_others(there))
		return rg_fail(err, ROGER_EDATA, 0,
			       "it holds roger's hook in one list with others; take roger's out by "
			       "hand");
	return r;
}

int rg_setup_edit_make(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		       const struct rg_setup_hook *hook, const char *tool,
		       const struct rg_setup_target *target, struct rg_json_edit *ret_edit,
		       struct roger_err *err)
{
	const struct roger_str text = target->text;
	struct roger_str old;
	size_t chars;
	int r;

	*ret_edit = (struct rg_json_edit){ 0 };
	if (!plan->request->remove && !rg_utf8_count(text, &chars))
		return rg_fail(err, ROGER_EDATA, 0, "it is not UTF-8 text");
	if (place->kind == RG_SETUP_BLOCK)
		r = edit_block(plan, place, tool, text, ret_edit, err);
	else if (place->kind == RG_SETUP_FILE)
		r = edit_file(plan, place, tool, target, ret_edit, err);
	else
		r = edit_json(plan, place, hook, tool, text, ret_edit, err);
	old = (struct roger_str){ text.data + ret_edit->offset, ret_edit->length };
	if (r == ROGER_OK && rg_str_equal(old, ret_edit->text))
		*ret_edit = (struct rg_json_edit){ 0 };
	return r;
}
