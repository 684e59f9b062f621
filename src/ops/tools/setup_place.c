/* setup: one place of the table, put into the text of its file and cut out of it. */
#include <stdio.h>

#include "ops/tools/setup_plan.h"
#include "host/outside.h"

/* ----------------------------------------------------------------- values -- */

static const char *const filling_names[] = { "{roger}", "{shell}", "{as_words}", "{as}",
					     "{codex}" };

void rg_setup_shell_word(struct rg_buf *out, struct roger_str word)
{
	size_t i;

	for (i = 0; i < word.length; i++)
		if (strchr(" \t\n\"'\\$`&;|<>()*?[]#~!{}", word.data[i]))
			break;
	if (i == word.length) {
		rg_buf_add_str(out, word);
		return;
	}
	rg_buf_add_char(out, '\'');
	for (i = 0; i < word.length; i++)
		if (word.data[i] == '\'')
			rg_buf_add_text(out, "'\\''");
		else
			rg_buf_add_char(out, word.data[i]);
	rg_buf_add_char(out, '\'');
}

/* What stands between the quotes of a JSON text; TOML reads the same. */
static bool keep_inside_quotes(struct rg_arena *arena, struct roger_str text, struct roger_str *ret)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf quoted = { .maximum = SIZE_MAX };

	rg_json_add_string(&quoted, text);
	return !quoted.failed &&
	       rg_arena_copy(arena, (struct roger_str){ quoted.data + 1, quoted.length - 2 }, ret);
}

/*
 * The program as settings name it: by its name where that leads to it, or where
 * other people have the settings, too; else by its path.
 */
static int find_program(struct rg_setup_plan *plan, struct roger_err *err)
{
	struct rg_buf shell = { .maximum = SIZE_MAX };
	struct roger_str roger = RG_STR("roger"), word;
	char own[RG_SETUP_PATH_BYTES];

	if (plan->request->scope != ROGER_SETUP_PROJECT && !rg_outside_along_path("roger") &&
	    rg_outside_own_program(own))
		roger = rg_str(own);
	rg_setup_shell_word(&shell, roger);
	return rg_arena_keep(plan->arena, &shell, &word) &&
			       keep_inside_quotes(plan->arena, roger,
						  &plan->fillings[RG_SETUP_FILL_ROGER]) &&
			       keep_inside_quotes(plan->arena, word,
						  &plan->fillings[RG_SETUP_FILL_SHELL])
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

int rg_setup_fillings_find(struct rg_setup_plan *plan, struct roger_err *err)
{
	struct roger_str name = plan->request->as, *fillings = plan->fillings;

	fillings[RG_SETUP_FILL_CODEX] = name.length ? name : rg_str(rg_setup_tools[1]);
	if (name.length && (!rg_arena_print(plan->arena, &fillings[RG_SETUP_FILL_AS], " --as %.*s",
					    RG_STR_ARGS(name)) ||
			    !rg_arena_print(plan->arena, &fillings[RG_SETUP_FILL_AS_WORDS],
					    ",\"--as\",\"%.*s\"", RG_STR_ARGS(name))))
		return rg_fail_memory(err);
	return find_program(plan, err);
}

/* A template with its names put in. */
static int fill_in(const struct rg_setup_plan *plan, const char *template,
		   struct roger_str *ret_text, struct roger_err *err)
{
	struct rg_buf out = { .maximum = SIZE_MAX };
	size_t i;

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
	return rg_arena_keep(plan->arena, &out, ret_text) ? ROGER_OK : rg_fail_memory(err);
}

/* ---------------------------------------------------------------- putting -- */

struct roger_strs rg_setup_names(const struct rg_setup_place *place, const char *root,
				 const char *last, struct roger_str names[RG_SETUP_NAMES_MAX])
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
	if (last)
		names[count++] = rg_str(last);
	return (struct roger_strs){ names, count };
}

bool rg_setup_find_block(struct roger_str text, const char *lead, size_t *ret_offset,
			 size_t *ret_length)
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
	/* One that never ended, before ours, is a person's. */
	for (const char *next = start; next; start = next ? next : start)
		next = memmem(start + 1, (size_t)(stop - start - 1), begin, strlen(begin));
	*ret_offset = (size_t)(start - text.data);
	stop = memchr(stop, '\n', (size_t)(text.data + text.length - stop));
	*ret_length = stop ? (size_t)(stop + 1 - start) : text.length - *ret_offset;
	return true;
}

static bool find_block(struct roger_str text, const char *lead, struct rg_json_edit *ret_edit)
{
	return rg_setup_find_block(text, lead, &ret_edit->offset, &ret_edit->length);
}

static int edit_block(const struct rg_setup_plan *plan, const struct rg_setup_place *place,
		      struct roger_str text, struct roger_str value, struct rg_json_edit *ret_edit,
		      struct roger_err *err)
{
	const char *close = strcmp(place->mark, "<!--") == 0 ? " -->" : "";
	struct rg_buf out = { .maximum = SIZE_MAX };
	struct roger_str old;

	if (!find_block(text, place->mark, ret_edit)) {
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

/* A line without its blanks and quotes, as far as it fits. */
static void squeeze(const char *line, size_t length, char to[128])
{
	size_t i, count = 0;

	for (i = 0; i < length && count < 127; i++)
		if (!strchr(" \t\r\"'", line[i]))
			to[count++] = line[i];
	to[count] = '\0';
}

/* Does a line begin with a name, and not with a longer one? */
static bool names(const char *line, const char *name)
{
	size_t length = strlen(name);

	return strncmp(line, name, length) == 0 && (!line[length] || strchr(".]=:#", line[length]));
}

/*
 * In a file of lines: what would come twice, however it is written; and a form
 * in which nothing can be added at the end.
 */
static int check_block(const struct rg_setup_place *place, struct roger_str text,
		       struct roger_err *err)
{
	const char *line = text.data, *end = text.data + text.length, *stop;
	struct rg_json_edit ours;
	bool servers = false, twice, closed;
	char words[128];

	if (!place->path || find_block(text, place->mark, &ours))
		return ROGER_OK;
	for (; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		squeeze(line, (size_t)(stop - line), words);
		servers = words[0] == '[' ? strcmp(words, "[mcp_servers]") == 0 : servers;
		twice = names(words, place->path) || names(words, "mcp_servers.roger") ||
			(servers && names(words, "roger"));
		/* A table in braces is closed for good. */
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

static int edit_file(struct roger_str text, bool there, struct roger_str value,
		     struct rg_json_edit *ret_edit, struct roger_err *err)
{
	*ret_edit = (struct rg_json_edit){ 0 };
	if (rg_str_equal(text, value))
		return ROGER_OK;
	if (there && !memmem(text.data, text.length, "roger setup", 11))
		return rg_fail(err, ROGER_EDATA, 0,
			       "it is not a file of roger; move it away, then set up again");
	*ret_edit = (struct rg_json_edit){ 0, text.length, value };
	return ROGER_OK;
}

void rg_setup_mark(struct roger_str text, const struct roger_strs *path,
		   const struct rg_setup_hook *hook, char mark[RG_SETUP_MARK_BYTES])
{
	struct roger_str found;

	snprintf(mark, RG_SETUP_MARK_BYTES, "roger' hook %s", hook->command);
	if (rg_json_edit_find(text, path, rg_str(mark), &found, NULL) < 0 || !found.data)
		snprintf(mark, RG_SETUP_MARK_BYTES, "roger hook %s", hook->command);
}

/* Does our element of a hook's list hold other commands beside ours? */
static bool holds_others(struct roger_str text, const struct roger_strs *path, const char *mark)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *hooks, *hook = NULL;
	struct roger_str element, key;
	size_t i = 0, count = 0;

	if (rg_json_edit_find(text, path, rg_str(mark), &element, NULL) < 0 || !element.data)
		return false;
	if (rg_json_read(element, &json, NULL) < 0)
		return true; /* with comments, say */
	hooks = rg_json_member(rg_json_root(json), "hooks");
	while (hooks && rg_json_next(hooks, &i, &key, &hook))
		count++;
	return count > 1;
}

static const char others_words[] =
	"it holds roger's hook in one list with others; take roger's out by hand";

/* One hook in place; the array is the event's. */
static int put_hook(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		    struct rg_setup_target *target, const struct rg_setup_hook *hook,
		    const char *tool, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf template = { .maximum = SIZE_MAX };
	struct roger_str names[RG_SETUP_NAMES_MAX], value;
	const struct roger_strs path = rg_setup_names(place, plan->root, hook->event, names);
	char mark[RG_SETUP_MARK_BYTES];
	struct rg_json_edit edit;
	int r;

	rg_buf_printf(
		&template,
		"{%s\"hooks\":[{\"type\":\"command\",\"command\":\"%s{shell} hook %s{as}\"%s}]}",
		hook->matched ? "\"matcher\":\"*\"," : "",
		plan->request->scope == ROGER_SETUP_PROJECT ? RG_SETUP_GUARD : "", hook->command,
		hook->more);
	rg_buf_add_char(&template, 0);
	if (template.failed)
		return rg_fail_memory(err);
	r = fill_in(plan, template.data, &value, err);
	if (r < 0)
		return r;
	rg_setup_mark(target->text, &path, hook, mark);
	r = rg_json_edit_put(target->text, &path, value, rg_str(mark), plan->arena, &edit, err);
	if (r == ROGER_OK && !rg_json_edit_is_none(&edit) &&
	    holds_others(target->text, &path, mark))
		return rg_fail(err, ROGER_EDATA, 0, "%s", others_words);
	return r == ROGER_OK ? rg_setup_target_apply(plan, target, &edit, tool, err) : r;
}

static int put_hooks(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		     struct rg_setup_target *target, const char *tool, struct roger_err *err)
{
	const struct rg_setup_hook *hook;
	int r = ROGER_OK;

	for (hook = rg_setup_hooks; hook->event && r == ROGER_OK; hook++)
		if (hook->tool & place->tools)
			r = put_hook(plan, place, target, hook, tool, err);
	return r;
}

int rg_setup_place_put(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		       struct rg_setup_target *target, const char *tool, struct roger_err *err)
{
	struct roger_str names[RG_SETUP_NAMES_MAX], value;
	struct rg_json_edit edit = { 0 };
	struct roger_strs path;
	size_t chars;
	int r;

	if (!rg_utf8_count(target->text, &chars))
		return rg_fail(err, ROGER_EDATA, 0, "it is not UTF-8 text");
	if (place->kind == RG_SETUP_HOOKS)
		return put_hooks(plan, place, target, tool, err);
	r = fill_in(plan, place->value, &value, err);
	if (r < 0)
		return r;
	switch (place->kind) {
	case RG_SETUP_MEMBER:
		path = rg_setup_names(place, plan->root, NULL, names);
		r = rg_json_edit_put(target->text, &path, value, RG_STR(""), plan->arena, &edit,
				     err);
		break;
	case RG_SETUP_BLOCK:
		r = check_block(place, target->text, err);
		if (r == ROGER_OK)
			r = edit_block(plan, place, target->text, value, &edit, err);
		break;
	case RG_SETUP_FILE:
		r = edit_file(target->text, target->there, value, &edit, err);
		break;
	case RG_SETUP_HOOKS:
		break;
	}
	return r == ROGER_OK ? rg_setup_target_apply(plan, target, &edit, tool, err) : r;
}

/* ---------------------------------------------------------------- cutting -- */

/* What is ours by its looks, where no record tells of it, or the file was rearranged since. */
static int cut_hooks(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		     struct rg_setup_target *target, struct roger_err *err)
{
	struct roger_str names[RG_SETUP_NAMES_MAX];
	const struct rg_setup_hook *hook;
	char mark[RG_SETUP_MARK_BYTES];
	struct rg_json_edit edit;
	struct roger_strs path;
	int r = ROGER_OK;

	for (hook = rg_setup_hooks; hook->event && r == ROGER_OK; hook++) {
		if (!(hook->tool & place->tools))
			continue;
		path = rg_setup_names(place, plan->root, hook->event, names);
		rg_setup_mark(target->text, &path, hook, mark);
		if (holds_others(target->text, &path, mark)) {
			r = rg_setup_target_leave(plan, target, others_words, err);
			continue;
		}
		r = rg_json_edit_cut(target->text, &path, rg_str(mark), &edit, err);
		if (r == ROGER_OK)
			r = rg_setup_target_apply(plan, target, &edit, "", err);
	}
	return r;
}

int rg_setup_place_cut(struct rg_setup_plan *plan, const struct rg_setup_place *place,
		       struct rg_setup_target *target, struct roger_err *err)
{
	struct roger_str names[RG_SETUP_NAMES_MAX];
	struct rg_json_edit edit = { 0 };
	struct roger_strs path;
	int r = ROGER_OK;

	switch (place->kind) {
	case RG_SETUP_HOOKS:
		return cut_hooks(plan, place, target, err);
	case RG_SETUP_MEMBER:
		path = rg_setup_names(place, plan->root, NULL, names);
		r = rg_json_edit_cut(target->text, &path, (struct roger_str){ 0 }, &edit, err);
		break;
	case RG_SETUP_BLOCK:
		find_block(target->text, place->mark, &edit);
		break;
	case RG_SETUP_FILE:
		if (memmem(target->text.data, target->text.length, "roger setup", 11))
			edit.length = target->text.length;
		break;
	}
	return r == ROGER_OK ? rg_setup_target_apply(plan, target, &edit, "", err) : r;
}
