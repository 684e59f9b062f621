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

/* Does this placeholder stand here?  *ret_length: its length. */
static bool is_at(const char *template, const char *name, size_t *ret_length)
{
	*ret_length = strlen(name);
	return strncmp(template, name, *ret_length) == 0;
}

int rg_setup_fill_in(struct rg_setup_plan *plan, const char *tool, const char *template,
		     struct roger_str *ret_text, struct roger_err *err)
{
	const struct roger_str program = rg_str(plan->program), name = plan->request->name;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf shell = { .maximum = SIZE_MAX };
	struct rg_buf out = { .maximum = SIZE_MAX };
	size_t length;

	rg_buf_add_shell_word(&shell, program);
	for (; *template; template += length) {
		if (is_at(template, "{roger}", &length)) {
			add_inside_quotes(&out, program);
		} else if (is_at(template, "{shell}", &length)) {
			add_inside_quotes(&out, rg_buf_str(&shell));
		} else if (is_at(template, "{tool}", &length)) {
			rg_buf_add_text(&out, tool);
		} else if (is_at(template, "{codex}", &length)) {
			rg_buf_add_str(&out, name.length ? name : RG_STR("codex"));
		} else if (is_at(template, "{as}", &length)) {
			if (name.length)
				rg_buf_printf(&out, " --as %.*s", RG_STR_ARGS(name));
		} else if (is_at(template, "{as_words}", &length)) {
			if (name.length)
				rg_buf_printf(&out, ", \"--as\", \"%.*s\"", RG_STR_ARGS(name));
		} else {
			rg_buf_add_char(&out, *template);
			length = 1;
		}
	}
	out.failed |= shell.failed;
	return rg_kept(rg_arena_keep(plan->arena, &out, ret_text), err);
}

/* ---------------------------------------------------------------- looking -- */

/*
 * Find the member of a piece, or the element with its hook.  What identifies a hook of roger's is
 * "roger hook claude stop", or with a quote after roger where its path needs one.
 */
static int find_spot(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		     struct rg_setup_there *there, struct roger_err *err)
{
	const char *const *name = piece->place->path;
	const struct rg_setup_hook *hook = piece->hook;
	const struct roger_str text = piece->target->text;
	char mark[64] = "";
	size_t count;

	for (count = 0; name[count]; count++)
		there->names[count] =
			rg_str(strcmp(name[count], "{root}") == 0 ? plan->root : name[count]);
	if (hook) {
		there->names[count++] = rg_str(hook->event);
		snprintf(mark, sizeof mark, "roger' hook %s %s", piece->tool, hook->command);
		if (!memmem(text.data, text.length, mark, strlen(mark)))
			snprintf(mark, sizeof mark, "roger hook %s %s", piece->tool, hook->command);
	}
	there->path = (struct roger_strs){ there->names, count };
	return rg_json_spot_find(text, &there->path, rg_str(mark), &there->spot, err);
}

/* Find roger's lines in a text, with the comments around them. */
static struct roger_str find_block(struct roger_str text, const char *mark)
{
	const char *start, *stop, *next, *end = text.data + text.length;
	char begin[32], last[32];

	snprintf(begin, sizeof begin, "%s roger:begin", mark);
	snprintf(last, sizeof last, "%s roger:end", mark);
	start = memmem(text.data, text.length, begin, strlen(begin));
	stop = start ? memmem(start, (size_t)(end - start), last, strlen(last)) : NULL;
	if (!stop)
		return (struct roger_str){ NULL, 0 };
	/* An earlier begin without an end is not roger's. */
	for (next = start; next;
	     next = memmem(start + 1, (size_t)(stop - start - 1), begin, strlen(begin)))
		start = next;
	stop = memchr(stop, '\n', (size_t)(end - stop));
	return (struct roger_str){ start, (size_t)((stop ? stop + 1 : end) - start) };
}

int rg_setup_look(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		  struct rg_setup_there *ret_there, struct roger_err *err)
{
	const struct roger_str text = piece->target->text;
	int r = ROGER_OK;

	*ret_there = (struct rg_setup_there){ 0 };
	if (piece->place->path) {
		r = find_spot(plan, piece, ret_there, err);
		ret_there->text = ret_there->spot.value;
	} else if (piece->place->mark) {
		ret_there->text = find_block(text, piece->place->mark);
	} else if (memmem(text.data, text.length, "roger setup", 11)) {
		ret_there->text = text;
	}
	return r;
}

/* ------------------------------------------------------------------ texts -- */

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

/* Make the text of a piece: a value of JSON, lines between two comments, or a file. */
static int make_text(struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		     struct roger_str *ret_text, struct roger_err *err)
{
	const struct rg_setup_place *place = piece->place;
	const struct rg_setup_hook *hook = piece->hook;
	const bool bare = hook && hook->tool == RG_COPILOT;
	const char *close = place->mark && strcmp(place->mark, "<!--") == 0 ? " -->" : "";
	struct roger_str template = rg_str(place->value);
	bool made = true;

	if (hook)
		made = rg_arena_print(
			plan->arena, &template,
			"{%s%s\"type\": \"command\", \"%s\": \"%s{shell} hook {tool} %s{as}\"%s}%s",
			hook->matched ? "\"matcher\": \"*\", " : "", bare ? "" : "\"hooks\": [{",
			bare ? "bash" : "command",
			plan->request->scope == ROGER_SETUP_PROJECT ? RG_SETUP_GUARD : "",
			hook->command, hook->more, bare ? "" : "]}");
	else if (place->mark)
		made = rg_arena_print(plan->arena, &template,
				      "%s roger:begin%s\n%s%s roger:end%s\n", place->mark, close,
				      place->value, place->mark, close);
	return made ? rg_setup_fill_in(plan, piece->tool, template.data, ret_text, err)
		    : rg_fail_memory(err);
}

/*
 * Replace lines or a file of roger's, or cut them out; new lines are put at the end of the file,
 * behind an empty one.
 */
static int edit_lines(struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		      struct roger_str there, struct roger_str ours, struct rg_json_edit *ret_edit,
		      struct roger_err *err)
{
	const struct roger_str text = piece->target->text;
	const char *between = !text.length			   ? ""
			      : text.data[text.length - 1] == '\n' ? "\n"
								   : "\n\n";
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
	r = check_block(piece->place, text, err);
	ret_edit->offset = text.length;
	return r < 0 ? r
		     : rg_kept(rg_arena_print(plan->arena, &ret_edit->text, "%s%.*s", between,
					      RG_STR_ARGS(ours)),
			       err);
}

/* ------------------------------------------------------------------- JSON -- */

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

/* Put in or cut out a member or, in the array of its event, a hook. */
static int edit_json(struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		     const struct rg_json_spot *spot, struct roger_str ours,
		     struct rg_json_edit *ret_edit, struct roger_err *err)
{
	int r = ROGER_OK;

	if (!plan->request->remove)
		r = rg_json_spot_put(spot, ours, plan->arena, ret_edit, err);
	else if (piece->hook || !is_others(piece->place, spot->value))
		*ret_edit = rg_json_spot_cut(spot);
	if (r == ROGER_OK && piece->hook && spot->key && !rg_json_edit_is_none(ret_edit) &&
	    holds_others(spot->value))
		return rg_fail(err, ROGER_EDATA, 0,
			       "it holds roger's hook in one list with others; take roger's out by "
			       "hand");
	return r;
}

/*
 * Removing looks for what seems to be roger's, for files that have no record or were rearranged.
 */
int rg_setup_edit_make(struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		       struct rg_json_edit *ret_edit, struct roger_err *err)
{
	const bool remove = plan->request->remove;
	struct roger_str ours = { "", 0 };
	struct rg_setup_there there;
	size_t chars;
	int r;

	*ret_edit = (struct rg_json_edit){ 0 };
	if (!remove && !rg_utf8_count(piece->target->text, &chars))
		return rg_fail(err, ROGER_EDATA, 0, "it is not UTF-8 text");
	r = rg_setup_look(plan, piece, &there, err);
	if (r < 0 || (remove && !there.text.data))
		return r;
	if (!remove)
		r = make_text(plan, piece, &ours, err);
	if (r < 0)
		return r;
	return piece->place->path ? edit_json(plan, piece, &there.spot, ours, ret_edit, err)
				  : edit_lines(plan, piece, there.text, ours, ret_edit, err);
}
