/* setup: the edit that puts one piece into the text of its file, or cuts it out. */
#include <stdio.h>

#include "ops/tools/setup.h"

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
				  const struct rg_setup_hook *hook, const char *template)
{
	const struct roger_str program = rg_str(plan->program), name = plan->request->name;
	const struct roger_str shell = inside_quotes(plan->arena, program, true);
	struct rg_arena *arena = plan->arena;
	const struct rg_placeholder all[] = {
		{ RG_STR("{roger}"), inside_quotes(arena, program, false) },
		{ RG_STR("{tool}"), rg_str(tool) },
		{ RG_STR("{run}"),
		  rg_arena_text(arena, "%s%.*s hook %s",
				hook && plan->request->scope == ROGER_SETUP_PROJECT ? RG_SETUP_GUARD
										    : "",
				RG_STR_ARGS(shell), tool) },
		{ RG_STR("{command}"), rg_str(hook ? hook->command : "") },
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

void rg_setup_hook_mark(const struct rg_setup_piece *piece, struct roger_str text, char to[64])
{
	snprintf(to, 64, "roger' hook %s %s", piece->tool, piece->hook->command);
	if (!rg_str_find_part(text, rg_str(to)))
		snprintf(to, 64, "roger hook %s %s", piece->tool, piece->hook->command);
}

struct roger_str rg_setup_lines(const struct rg_setup_piece *piece)
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

/* Copy a line without blanks and quotes, cut to 127 bytes. */
static void squeeze_line(struct roger_str line, char to[128])
{
	size_t i, count = 0;

	for (i = 0; i < line.length && count < 127; i++)
		if (!strchr(" \t\r\"'", line.data[i]))
			to[count++] = line.data[i];
	to[count] = '\0';
}

/* Does a line begin with exactly this name? */
static bool names_exactly(const char *line, const char *name)
{
	size_t length = strlen(name);

	return strncmp(line, name, length) == 0 && (!line[length] || strchr(".]=:#", line[length]));
}

/*
 * Refuse a file of lines that has the same setting already, however it is written, or
 * that is written so that nothing can be added at its end.
 */
static int check_lines(const char *taken, struct roger_str text, struct roger_err *err)
{
	const bool yaml = strcmp(taken, "wake") == 0;
	/* A table in braces cannot be extended later in the file. */
	const char *braces = yaml ? "{" : "mcp_servers={";
	bool servers = false;
	struct roger_str line;
	char words[128];

	while (rg_str_next_line(&text, &line)) {
		squeeze_line(line, words);
		if (words[0] == '[')
			servers = strcmp(words, "[mcp_servers]") == 0;
		if (names_exactly(words, taken) || names_exactly(words, "mcp_servers.roger") ||
		    (servers && names_exactly(words, "roger")))
			return rg_fail(err, ROGER_EDATA, 0,
				       "it has '%s' already; take that out and set up again, or "
				       "leave it so",
				       taken);
		if (strncmp(words, braces, strlen(braces)) == 0 ||
		    (yaml && strcmp(words, "...") == 0))
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
	const struct roger_str text = piece->target->text, there = rg_setup_lines(piece);
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

/* Does a server with roger's name run something else, so that it is a person's own? */
static bool is_others(const struct rg_setup_place *place, struct roger_str server)
{
	static const char word[] = "\"mcp\"";

	return strstr(place->value, word) && !rg_str_find_part(server, rg_str(word));
}

/* Put in or cut out a member or, in the array of its event, a hook. */
static int edit_json(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
		     struct roger_str ours, struct rg_json_edit *ret_edit, struct roger_err *err)
{
	const char *const *name = piece->place->path;
	struct roger_str names[5];
	struct roger_strs path = { names, 0 };
	struct rg_json_spot spot;
	char mark[64] = "";
	int r;

	for (; *name; name++)
		names[path.count++] = rg_setup_path_name(plan, *name);
	if (piece->hook) {
		names[path.count++] = rg_str(piece->hook->event);
		rg_setup_hook_mark(piece, piece->target->text, mark);
	}
	r = rg_json_spot_find(piece->target->text, &path, rg_str(mark), &spot, err);
	if (r < 0)
		return r;
	if (!plan->request->remove)
		r = rg_json_spot_put(&spot, ours, plan->arena, ret_edit, err);
	else if (piece->hook || !is_others(piece->place, spot.value))
		*ret_edit = rg_json_spot_cut(&spot);
	if (r == ROGER_OK && piece->hook && spot.key && !rg_json_edit_is_none(ret_edit) &&
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
		ours = rg_setup_fill_in(plan, piece->tool, piece->hook,
					piece->hook ? piece->hook->value : place->value);
		if (mark)
			ours = rg_arena_text(plan->arena, "%s roger:begin%s\n%.*s%s roger:end%s\n",
					     mark, close, RG_STR_ARGS(ours), mark, close);
	}
	return place->path ? edit_json(plan, piece, ours, ret_edit, err)
			   : edit_lines(plan, piece, ours, ret_edit, err);
}
