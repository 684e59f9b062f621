/* setup: into the settings of agents' tools, and out again. */
#include "ops/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/diff.h"
#include "data/json_edit.h"
#include "store/outside.h"

enum { FILE_BYTES_MAX = 32 << 20, PATH_BYTES = RG_SETUP_PATH_BYTES, CONTEXT_LINES = 2 };

/* --------------------------------------------------------------- records -- */

/* An edit that was made: length bytes of after stand at offset in place of before. */
struct edit {
	struct roger_str tool;
	int64_t offset;
	struct roger_str before, after;
};
struct edits {
	const struct edit *items;
	size_t count;
};

/* A file that was changed. */
struct changed {
	struct roger_str file;
	bool made;	 /* there was none before */
	int64_t folders; /* nor so many of the folders it is in */
	struct edits edits;
};
struct changed_files {
	const struct changed *items;
	size_t count;
};
struct record {
	int64_t version;
	struct changed_files files;
};

#define AT(member) offsetof(struct edit, member)
static const struct roger_field edit_fields[] = {
	{ "tool", ROGER_TEXT, AT(tool), ROGER_REQUIRED, NULL, NULL, "" },
	{ "offset", ROGER_INT, AT(offset), ROGER_REQUIRED, NULL, NULL, "" },
	{ "before", ROGER_TEXT, AT(before), ROGER_REQUIRED, NULL, NULL, "" },
	{ "after", ROGER_TEXT, AT(after), ROGER_REQUIRED, NULL, NULL, "" },
	RG_END,
};
#undef AT
static const struct roger_record edit_record = { "edit", sizeof(struct edit), edit_fields };

#define AT(member) offsetof(struct changed, member)
static const struct roger_field changed_fields[] = {
	{ "file", ROGER_TEXT, AT(file), ROGER_REQUIRED, NULL, NULL, "" },
	{ "made", ROGER_BOOL, AT(made), ROGER_REQUIRED, NULL, NULL, "" },
	{ "folders", ROGER_INT, AT(folders), ROGER_REQUIRED, NULL, NULL, "" },
	{ "edits", ROGER_RECORDS, AT(edits), ROGER_REQUIRED, NULL, &edit_record, "" },
	RG_END,
};
#undef AT
static const struct roger_record changed_record = { "file", sizeof(struct changed),
						    changed_fields };

#define AT(member) offsetof(struct record, member)
static const struct roger_field record_fields[] = {
	{ "version", ROGER_INT, AT(version), ROGER_REQUIRED, NULL, NULL, "" },
	{ "files", ROGER_RECORDS, AT(files), ROGER_REQUIRED, NULL, &changed_record, "" },
	RG_END,
};
#undef AT
static const struct roger_record setup_record = { "setup", sizeof(struct record), record_fields };

/* --------------------------------------------------------------- planning -- */

/* A file as it stands, and as it is to be. */
struct target {
	struct changed changed; /* its edits grow, or shrink, with the text */
	bool there;
	struct roger_str before, text;
	struct roger_str trouble; /* why something was left as it is */
	bool undone;		  /* the record told of it, and all that it told was found */
};

/* What stands for names in templates. */
enum { FILL_ROGER, FILL_SHELL, FILL_AS_WORDS, FILL_AS, FILL_CODEX, FILL_COUNT };
static const char *const filling_names[] = { "{roger}", "{shell}", "{as_words}", "{as}",
					     "{codex}" };

struct plan {
	struct rg_arena *arena;
	const struct roger_setup_request *request;
	unsigned tools;
	char root[PATH_BYTES];
	char record_path[PATH_BYTES];
	struct roger_str fillings[FILL_COUNT];
	bool others_stay; /* tools that are set up, and not to be removed */
	struct target *targets;
	size_t target_count;
};

static int copy_buf(struct rg_arena *arena, struct rg_buf *buf, struct roger_str *ret,
		    struct roger_err *err)
{
	return rg_arena_keep(arena, buf, ret) ? ROGER_OK : rg_fail_memory(err);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* "{codex}" becomes $CODEX_HOME, or ~/.codex. */
struct folder {
	const char *name;
	const char *variable;
	const char *below;	/* what stands behind that */
	const char *below_home; /* where it is not set */
};
static const struct folder folders[] = {
	{ "{home}", "HOME", "", "" },
	{ "{claude}", "CLAUDE_CONFIG_DIR", "", "/.claude" },
	{ "{claude.json}", "CLAUDE_CONFIG_DIR", "/.claude.json", "/.claude.json" },
	{ "{codex}", "CODEX_HOME", "", "/.codex" },
	{ "{gemini}", NULL, "", "/.gemini" },
	{ "{config}", "XDG_CONFIG_HOME", "", "/.config" },
	{ "{state}", "XDG_STATE_HOME", "", "/.local/state" },
};

static int expand(const struct plan *plan, const char *name, size_t length, char to[PATH_BYTES],
		  struct roger_err *err)
{
	const char *end = memchr(name, '}', length), *home = variable("HOME");
	size_t start = end ? (size_t)(end - name) + 1 : 0, i;
	const char *value;

	if (strncmp(name, "{root}", start) == 0) {
		snprintf(to, PATH_BYTES, "%.2000s%.*s", plan->root, (int)(length - start),
			 name + start);
		return ROGER_OK;
	}
	for (i = 0; strncmp(name, folders[i].name, start) != 0; i++)
		rg_assert(i + 1 < sizeof folders / sizeof *folders);
	value = folders[i].variable ? variable(folders[i].variable) : NULL;
	if (!value && !home)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "HOME: not set, so there is no place for a user's settings");
	snprintf(to, PATH_BYTES, "%.2000s%s%.*s", value ? value : home,
		 value ? folders[i].below : folders[i].below_home, (int)(length - start),
		 name + start);
	return ROGER_OK;
}

/* Of several names, the first that is there, or else the first. */
static int find_file(const struct plan *plan, const char *names, char to[PATH_BYTES],
		     struct roger_err *err)
{
	const char *name = names;
	size_t length;
	int r;

	for (;; name += length + 1) {
		length = strcspn(name, "|");
		r = expand(plan, name, length, to, err);
		if (r < 0 || rg_outside_is_there(to))
			return r;
		if (!name[length])
			return expand(plan, names, strcspn(names, "|"), to, err);
	}
}

int rg_setup_file(const struct rg_setup_place *place, const char *root, char to[PATH_BYTES],
		  struct roger_err *err)
{
	struct plan plan = { 0 };

	snprintf(plan.root, sizeof plan.root, "%s", root);
	return find_file(&plan, place->file, to, err);
}

/* How many of the folders that a path lies in are missing. */
static int64_t missing_folders(const char *path)
{
	char folder[PATH_BYTES];
	int64_t count = 0;
	char *slash;

	for (snprintf(folder, sizeof folder, "%s", path);; count++) {
		slash = strrchr(folder, '/');
		if (!slash || slash == folder)
			return count;
		*slash = '\0';
		if (rg_outside_is_there(folder))
			return count;
	}
}

static int find_target(struct plan *plan, const char *path, struct target **ret_target,
		       struct roger_err *err)
{
	struct rg_buf text = { .maximum = SIZE_MAX };
	struct target *target;
	size_t i;
	int r;

	for (i = 0; i < plan->target_count; i++)
		if (rg_str_is(plan->targets[i].changed.file, path)) {
			*ret_target = &plan->targets[i];
			return ROGER_OK;
		}
	target = rg_arena_push(plan->arena, &plan->targets, &plan->target_count, sizeof *target);
	if (!target || !rg_arena_copy(plan->arena, rg_str(path), &target->changed.file))
		return rg_fail_memory(err);
	r = rg_outside_read(path, FILE_BYTES_MAX, &text, &target->there, err);
	if (r == ROGER_OK)
		r = copy_buf(plan->arena, &text, &target->before, err);
	else
		rg_buf_deinit(&text);
	target->text = target->before;
	target->changed.made = !target->there;
	target->changed.folders = missing_folders(path);
	*ret_target = target;
	return r;
}

/* Make an edit, and remember it. */
static int apply(struct plan *plan, struct target *target, const struct rg_json_edit *edit,
		 const char *tool, struct roger_err *err)
{
	struct roger_str before = { target->text.data + edit->offset, edit->length };
	struct rg_buf text = { .maximum = SIZE_MAX };
	struct edit *made;

	if (rg_json_edit_is_none(edit))
		return ROGER_OK;
	made = rg_arena_push(plan->arena, &target->changed.edits.items,
			     &target->changed.edits.count, sizeof *made);
	if (!made)
		return rg_fail_memory(err);
	*made = (struct edit){ rg_str(tool), (int64_t)edit->offset, before, edit->text };
	rg_json_edit_apply(target->text, edit, &text);
	return copy_buf(plan->arena, &text, &target->text, err);
}

/* Trouble with one file is told, and holds up no other. */
static int leave(struct plan *plan, struct target *target, const char *why, struct roger_err *err)
{
	target->trouble = (struct roger_str){ 0 };
	return rg_arena_copy(plan->arena, rg_str(why), &target->trouble) ? ROGER_OK
									 : rg_fail_memory(err);
}

/* ----------------------------------------------------------------- values -- */

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
static void add_inside_quotes(struct rg_buf *out, struct roger_str text)
{
	struct rg_buf quoted = { .maximum = SIZE_MAX };

	rg_json_add_string(&quoted, text);
	if (quoted.failed)
		out->failed = true;
	else
		rg_buf_add(out, quoted.data + 1, quoted.length - 2);
	rg_buf_deinit(&quoted);
}

/*
 * The program as settings name it: by its name where that leads to it, or where
 * other people have the settings, too; else by its path.
 */
static int find_program(struct plan *plan, struct roger_err *err)
{
	struct rg_buf shell = { .maximum = SIZE_MAX }, plain = shell, quoted = shell;
	struct roger_str roger = RG_STR("roger"), word;
	char own[PATH_BYTES];
	int r;

	if (plan->request->scope != ROGER_SETUP_PROJECT && !rg_outside_along_path("roger") &&
	    rg_outside_own_program(own))
		roger = rg_str(own);
	rg_setup_shell_word(&shell, roger);
	r = copy_buf(plan->arena, &shell, &word, err);
	if (r < 0)
		return r;
	add_inside_quotes(&plain, roger);
	add_inside_quotes(&quoted, word);
	r = copy_buf(plan->arena, &plain, &plan->fillings[FILL_ROGER], err);
	if (r == ROGER_OK)
		r = copy_buf(plan->arena, &quoted, &plan->fillings[FILL_SHELL], err);
	else
		rg_buf_deinit(&quoted);
	return r;
}

static int find_fillings(struct plan *plan, struct roger_err *err)
{
	struct rg_buf as = { .maximum = SIZE_MAX }, words = as;
	struct roger_str name = plan->request->as;
	int r;

	plan->fillings[FILL_CODEX] = name.length ? name : rg_str(rg_setup_tools[1]);
	if (name.length) {
		rg_buf_printf(&as, " --as %.*s", RG_STR_ARGS(name));
		rg_buf_printf(&words, ",\"--as\",\"%.*s\"", RG_STR_ARGS(name));
	}
	r = copy_buf(plan->arena, &as, &plan->fillings[FILL_AS], err);
	if (r == ROGER_OK)
		r = copy_buf(plan->arena, &words, &plan->fillings[FILL_AS_WORDS], err);
	else
		rg_buf_deinit(&words);
	return r == ROGER_OK ? find_program(plan, err) : r;
}

/* A template with its names put in. */
static int fill_in(const struct plan *plan, const char *template, struct roger_str *ret_text,
		   struct roger_err *err)
{
	struct rg_buf out = { .maximum = SIZE_MAX };
	size_t i;

	while (*template) {
		for (i = 0; i < FILL_COUNT; i++)
			if (strncmp(template, filling_names[i], strlen(filling_names[i])) == 0)
				break;
		if (i < FILL_COUNT) {
			rg_buf_add_str(&out, plan->fillings[i]);
			template += strlen(filling_names[i]);
		} else {
			rg_buf_add_char(&out, *template ++);
		}
	}
	return copy_buf(plan->arena, &out, ret_text, err);
}

/* ------------------------------------------------------------------- edits -- */

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
	*ret_offset = (size_t)(start - text.data);
	stop = memmem(start, text.length - *ret_offset, end, strlen(end));
	if (!stop)
		return false;
	stop = memchr(stop, '\n', (size_t)(text.data + text.length - stop));
	*ret_length = stop ? (size_t)(stop + 1 - start) : text.length - *ret_offset;
	return true;
}

static bool find_block(struct roger_str text, const char *lead, struct rg_json_edit *ret_edit)
{
	return rg_setup_find_block(text, lead, &ret_edit->offset, &ret_edit->length);
}

static int edit_block(const struct plan *plan, const struct rg_setup_place *place,
		      struct roger_str text, struct roger_str value, struct rg_json_edit *ret_edit,
		      struct roger_err *err)
{
	const char *close = strcmp(place->mark, "<!--") == 0 ? " -->" : "";
	struct rg_buf out = { .maximum = SIZE_MAX };
	struct roger_str old;
	int r;

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
	r = copy_buf(plan->arena, &out, &ret_edit->text, err);
	old = (struct roger_str){ text.data + ret_edit->offset, ret_edit->length };
	if (r == ROGER_OK && rg_str_equal(old, ret_edit->text))
		*ret_edit = (struct rg_json_edit){ 0 };
	return r;
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
		twice = strncmp(words, place->path, strlen(place->path)) == 0 ||
			strncmp(words, "mcp_servers.roger", 17) == 0 ||
			(servers && strncmp(words, "roger", 5) == 0);
		closed = strcmp(place->path, "wake:") == 0 &&
			 (words[0] == '{' || strcmp(words, "...") == 0);
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
static int put_hook(struct plan *plan, const struct rg_setup_place *place, struct target *target,
		    const struct rg_setup_hook *hook, const char *tool, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf template = { .maximum = SIZE_MAX };
	struct roger_str names[RG_SETUP_NAMES_MAX], value;
	const struct roger_strs path = rg_setup_names(place, plan->root, hook->event, names);
	char mark[RG_SETUP_MARK_BYTES];
	struct rg_json_edit edit;
	int r;

	rg_buf_printf(
		&template,
		"{%s\"hooks\":[{\"type\":\"command\",\"command\":\"{shell} hook %s{as}\"%s}]}",
		hook->matched ? "\"matcher\":\"*\"," : "", hook->command, hook->more);
	rg_buf_add_char(&template, 0);
	if (template.failed)
		return rg_fail_memory(err);
	r = fill_in(plan, template.data, &value, err);
	if (r < 0)
		return r;
	rg_setup_mark(target->text, &path, hook, mark);
	r = rg_json_edit_add(target->text, &path, value, rg_str(mark), plan->arena, &edit, err);
	if (r == ROGER_OK && !rg_json_edit_is_none(&edit) &&
	    holds_others(target->text, &path, mark))
		return rg_fail(err, ROGER_EDATA, 0, "%s", others_words);
	return r == ROGER_OK ? apply(plan, target, &edit, tool, err) : r;
}

static int put_hooks(struct plan *plan, const struct rg_setup_place *place, struct target *target,
		     const char *tool, struct roger_err *err)
{
	const struct rg_setup_hook *hook;
	int r = ROGER_OK;

	for (hook = rg_setup_hooks; hook->event && r == ROGER_OK; hook++)
		if (hook->tool & place->tools)
			r = put_hook(plan, place, target, hook, tool, err);
	return r;
}

static int put(struct plan *plan, const struct rg_setup_place *place, struct target *target,
	       const char *tool, struct roger_err *err)
{
	struct roger_str names[RG_SETUP_NAMES_MAX], value;
	struct rg_json_edit edit = { 0 };
	struct roger_strs path;
	int r;

	if (place->kind == RG_SETUP_HOOKS)
		return put_hooks(plan, place, target, tool, err);
	r = fill_in(plan, place->value, &value, err);
	if (r < 0)
		return r;
	switch (place->kind) {
	case RG_SETUP_MEMBER:
		path = rg_setup_names(place, plan->root, NULL, names);
		r = rg_json_edit_set(target->text, &path, value, plan->arena, &edit, err);
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
	return r == ROGER_OK ? apply(plan, target, &edit, tool, err) : r;
}

/* ---------------------------------------------------------------- undoing -- */

/*
 * Where the text of an edit stands now: in its place, or, where others changed
 * the file since, as near to it as it does.  What is ours twice is taken twice,
 * so it does not matter which comes first.
 */
static bool find_edit(struct roger_str text, const struct edit *edit, size_t *ret_offset)
{
	const char *at = text.data, *end = text.data + text.length;
	size_t wanted = edit->offset > 0 ? (size_t)edit->offset : 0, offset, off, least = SIZE_MAX;

	if (!edit->after.length)
		return false;
	while ((at = memmem(at, (size_t)(end - at), edit->after.data, edit->after.length))) {
		offset = (size_t)(at++ - text.data);
		off = offset > wanted ? offset - wanted : wanted - offset;
		if (off < least) {
			least = off;
			*ret_offset = offset;
		}
	}
	return least != SIZE_MAX;
}

static bool is_chosen(const struct plan *plan, struct roger_str tool)
{
	int i = rg_enum_find(rg_setup_tools, tool);

	/* What all tools share goes with the last of them. */
	return i >= 0 ? plan->tools & 1u << i : !plan->others_stay;
}

/* The edits of a file, the last one first; those of other tools stay. */
static int undo(struct plan *plan, struct target *target, const struct edits *made,
		struct roger_err *err)
{
	struct rg_json_edit edit;
	struct edits kept = { 0 };
	size_t i = made->count, offset = 0;
	struct edit *place;
	int r = ROGER_OK;

	target->undone = made->count > 0;
	while (i-- > 0 && r == ROGER_OK) {
		const struct edit *one = &made->items[i];

		if (!is_chosen(plan, one->tool))
			continue;
		if (!find_edit(target->text, one, &offset)) {
			target->undone = false;
			continue;
		}
		edit = (struct rg_json_edit){ offset, one->after.length, one->before };
		r = apply(plan, target, &edit, "", err);
	}
	for (i = 0; i < made->count && r == ROGER_OK; i++) {
		if (is_chosen(plan, made->items[i].tool))
			continue;
		place = rg_arena_push(plan->arena, &kept.items, &kept.count, sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		*place = made->items[i];
	}
	target->changed.edits = kept;
	return r;
}

/* What is ours by its looks, where no record tells of it, or the file was rearranged since. */
static int cut_hooks(struct plan *plan, const struct rg_setup_place *place, struct target *target,
		     struct roger_err *err)
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
			r = leave(plan, target, others_words, err);
			continue;
		}
		r = rg_json_edit_cut(target->text, &path, rg_str(mark), &edit, err);
		if (r == ROGER_OK)
			r = apply(plan, target, &edit, "", err);
	}
	return r;
}

static int cut(struct plan *plan, const struct rg_setup_place *place, struct target *target,
	       struct roger_err *err)
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
	return r == ROGER_OK ? apply(plan, target, &edit, "", err) : r;
}

/* --------------------------------------------------------------- the plan -- */

static bool is_meant(const struct plan *plan, const struct rg_setup_place *place)
{
	if (!(place->scopes & 1u << plan->request->scope))
		return false;
	/* What all tools share is there as long as one of them is. */
	if (place->tools == RG_SETUP_ANY)
		return !plan->request->remove || !plan->others_stay;
	return place->tools & plan->tools;
}

static const char *tool_of(const struct rg_setup_place *place)
{
	int i;

	for (i = 0; i < RG_SETUP_TOOL_COUNT; i++)
		if (place->tools == 1u << i)
			return rg_setup_tools[i];
	return "";
}

/* Nothing of git's is made where there is no git. */
static bool has_home(const char *path)
{
	const char *git = strstr(path, "/.git/");
	char folder[PATH_BYTES];

	if (!git)
		return true;
	snprintf(folder, sizeof folder, "%.*s", (int)(git - path) + 5, path);
	return rg_outside_is_there(folder);
}

/* Of one project, and in settings of all: out of there comes what the record tells, and no more. */
static bool is_others(const struct plan *plan, const struct rg_setup_place *place)
{
	return plan->request->scope == ROGER_SETUP_STEALTH &&
	       strncmp(place->file, "{root}", 6) != 0 &&
	       !(place->path && strstr(place->path, "{root}"));
}

/* Put in or cut out everything that the table names. */
static int plan_places(struct plan *plan, struct roger_err *err)
{
	const struct rg_setup_place *place;
	struct roger_err why;
	struct target *target;
	struct changed before;
	struct roger_str text;
	char path[PATH_BYTES];
	int r;

	for (place = rg_setup_places; place->file; place++) {
		if (!is_meant(plan, place))
			continue;
		r = find_file(plan, place->file, path, err);
		if (r < 0)
			return r;
		if (!has_home(path))
			continue;
		r = find_target(plan, path, &target, err);
		if (r < 0)
			return r;
		if (plan->request->remove && (target->undone || is_others(plan, place)))
			continue;
		text = target->text;
		before = target->changed;
		r = plan->request->remove ? cut(plan, place, target, &why)
					  : put(plan, place, target, tool_of(place), &why);
		if (plan->request->remove)
			target->changed.edits = before.edits;
		if (r < 0) {
			target->text = text;
			target->changed = before;
			r = leave(plan, target, why.message, err);
		}
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}

static int record_path(struct plan *plan, struct roger_err *err)
{
	static const char user[] = "{state}/roger/setup.json", root[] = "{root}/.roger/setup.json";

	return plan->request->scope == ROGER_SETUP_USER
		       ? expand(plan, user, sizeof user - 1, plan->record_path, err)
		       : expand(plan, root, sizeof root - 1, plan->record_path, err);
}

static int read_record(struct plan *plan, struct record *ret_record, struct roger_err *err)
{
	struct rg_buf text = { .maximum = SIZE_MAX };
	const struct rg_json *json;
	struct roger_str kept;
	bool found;
	int r;

	*ret_record = (struct record){ .version = 1 };
	r = record_path(plan, err);
	if (r == ROGER_OK)
		r = rg_outside_read(plan->record_path, FILE_BYTES_MAX, &text, &found, err);
	if (r < 0 || !found) {
		rg_buf_deinit(&text);
		return r;
	}
	r = copy_buf(plan->arena, &text, &kept, err);
	if (r == ROGER_OK)
		r = rg_json_read_within(kept, plan->arena, &json, err);
	if (r == ROGER_OK)
		r = rg_record_decode(&setup_record, rg_json_root(json), ret_record, plan->arena,
				     err);
	if (r == ROGER_EDATA)
		return rg_fail(err, ROGER_EDATA, 0,
			       "'%s' is no record of setup; move it away and say it again",
			       plan->record_path);
	return r;
}

/* Is there a tool in the record that was not chosen?  Without a record: the others, if any. */
static bool do_others_stay(const struct plan *plan, const struct record *record)
{
	bool found = false;
	size_t i, k;
	int tool;

	for (i = 0; i < record->files.count; i++)
		for (k = 0; k < record->files.items[i].edits.count; k++) {
			tool = rg_enum_find(rg_setup_tools,
					    record->files.items[i].edits.items[k].tool);
			found |= tool >= 0 && !(plan->tools & 1u << tool);
		}
	return record->files.count ? found : plan->tools != RG_SETUP_ANY;
}

/* What was done before: the start of what is done now, or what is to be undone. */
static int plan_record(struct plan *plan, const struct record *record, struct roger_err *err)
{
	struct target *target;
	char path[PATH_BYTES];
	size_t i;
	int r;

	plan->others_stay = do_others_stay(plan, record);
	for (i = 0; i < record->files.count; i++) {
		const struct changed *changed = &record->files.items[i];

		snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(changed->file));
		r = find_target(plan, path, &target, err);
		if (r < 0)
			return r;
		target->changed.made = changed->made;
		target->changed.folders = changed->folders;
		if (plan->request->remove) {
			r = undo(plan, target, &changed->edits, err);
			if (r < 0)
				return r;
		} else {
			/* A list of its own, since it grows. */
			struct edit *place;
			size_t j;

			for (j = 0; j < changed->edits.count; j++) {
				place = rg_arena_push(plan->arena, &target->changed.edits.items,
						      &target->changed.edits.count, sizeof *place);
				if (!place)
					return rg_fail_memory(err);
				*place = changed->edits.items[j];
			}
		}
	}
	return ROGER_OK;
}

/* ------------------------------------------------------------ carrying out -- */

static bool is_changed(const struct target *target)
{
	return !rg_str_equal(target->before, target->text);
}

/* A file that we made, and in which nothing is left, goes. */
static bool is_to_go(const struct plan *plan, const struct target *target)
{
	return plan->request->remove && target->changed.made &&
	       (!target->text.length || rg_str_is(target->text, "{}\n"));
}

static int write_record(const struct plan *plan, struct roger_err *err)
{
	struct rg_buf text = { .maximum = SIZE_MAX }, pretty = text;
	struct record record = { .version = 1 };
	struct changed *items = NULL, *place;
	size_t i;
	int r;

	for (i = 0; i < plan->target_count; i++) {
		if (!plan->targets[i].changed.edits.count)
			continue;
		place = rg_arena_push(plan->arena, &items, &record.files.count, sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		*place = plan->targets[i].changed;
	}
	if (!record.files.count)
		return rg_outside_remove(plan->record_path,
					 plan->request->scope == ROGER_SETUP_USER ? 1 : 0, err);
	record.files.items = items;
	rg_record_encode(&setup_record, &record, &text);
	rg_json_add_pretty(&pretty, rg_buf_str(&text));
	r = text.failed || pretty.failed
		    ? rg_fail_memory(err)
		    : rg_outside_put(plan->record_path, NULL, rg_buf_str(&pretty), err);
	rg_buf_deinit(&text);
	rg_buf_deinit(&pretty);
	return r;
}

static int write_targets(const struct plan *plan, struct roger_err *err)
{
	char path[PATH_BYTES];
	size_t i;
	int r;

	for (i = 0; i < plan->target_count; i++) {
		const struct target *target = &plan->targets[i];

		if (!is_changed(target))
			continue;
		snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(target->changed.file));
		r = is_to_go(plan, target)
			    ? rg_outside_remove(path, target->changed.folders, err)
			    : rg_outside_put(path, &target->before, target->text, err);
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}

/*
 * Into the files: the record first, so that whatever was done can be undone;
 * out of them: it comes last.
 */
static int carry_out(const struct plan *plan, struct roger_err *err)
{
	int r;

	if (plan->request->remove) {
		r = write_targets(plan, err);
		return r == ROGER_OK ? write_record(plan, err) : r;
	}
	r = write_record(plan, err);
	return r == ROGER_OK ? write_targets(plan, err) : r;
}

/* --------------------------------------------------------------- the verb -- */

static int action_of(const struct plan *plan, const struct target *target)
{
	if (!is_changed(target))
		return target->trouble.length ? ROGER_SETUP_LEFT : ROGER_SETUP_SAME;
	if (is_to_go(plan, target))
		return ROGER_SETUP_REMOVED;
	return target->there ? ROGER_SETUP_CHANGED : ROGER_SETUP_MADE;
}

static int tell(const struct plan *plan, struct roger_setup_reply *reply, struct roger_err *err)
{
	struct roger_setup_file *place;
	size_t i;
	int r;

	for (i = 0; i < plan->target_count; i++) {
		const struct target *target = &plan->targets[i];
		struct rg_buf diff = { .maximum = SIZE_MAX };

		/* What is not there, and need not be, is nothing to tell of. */
		if (!target->there && !is_changed(target) && !target->trouble.length)
			continue;
		place = rg_arena_push(plan->arena, &reply->files.items, &reply->files.count,
				      sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		place->file = target->changed.file;
		place->action = action_of(plan, target);
		place->trouble = target->trouble;
		rg_diff(target->before, target->text, CONTEXT_LINES, &diff);
		r = copy_buf(plan->arena, &diff, &place->diff, err);
		if (r < 0)
			return r;
		reply->changes += is_changed(target);
	}
	return ROGER_OK;
}

/* The tools that are named, or else those that are installed, or all to be removed. */
static int find_tools(struct plan *plan, struct roger_setup_reply *reply, struct roger_err *err)
{
	const struct roger_strs *named = &plan->request->tools;
	struct roger_str *place;
	size_t i;
	int tool;

	for (i = 0; i < named->count; i++) {
		tool = rg_enum_find(rg_setup_tools, named->items[i]);
		if (tool < 0)
			return rg_fail_member(err, ROGER_EUSAGE, "tools",
					      "tools: '%.*s' is none that roger knows; expected "
					      "claude, codex, gemini or opencode",
					      RG_STR_ARGS(named->items[i]));
		plan->tools |= 1u << tool;
	}
	for (i = 0; i < RG_SETUP_TOOL_COUNT && !named->count; i++)
		if (plan->request->remove || rg_outside_along_path(rg_setup_tools[i]))
			plan->tools |= 1u << i;
	if (!plan->tools)
		return rg_fail(err, ROGER_ENOENT, 0,
			       "none of claude, codex, gemini and opencode is installed; name the "
			       "one you want set up");
	for (i = 0; i < RG_SETUP_TOOL_COUNT; i++) {
		if (!(plan->tools & 1u << i))
			continue;
		place = rg_arena_push(plan->arena, &reply->tools.items, &reply->tools.count,
				      sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		*place = rg_str(rg_setup_tools[i]);
	}
	return ROGER_OK;
}

/* The nearest folder that holds a workspace, whatever state it is in. */
static int find_broken(struct plan *plan, struct roger_err *err)
{
	char home[PATH_BYTES + 8], *slash;

	if (!getcwd(plan->root, sizeof plan->root))
		return rg_fail(err, ROGER_EIO, 0, "the current folder cannot be told");
	for (;;) {
		snprintf(home, sizeof home, "%s/.roger", plan->root);
		slash = strrchr(plan->root, '/');
		if (rg_outside_is_there(home) || !slash || slash == plan->root)
			return ROGER_OK;
		*slash = '\0';
	}
}

/* The project: where the workspace is, or, to be made, where a repository starts. */
static int find_root(struct plan *plan, bool *ret_made, struct roger_err *err)
{
	struct rg_workspace *workspace = NULL;
	char folder[PATH_BYTES], git[PATH_BYTES + 8], *slash;
	int r;

	r = rg_workspace_open(NULL, &workspace, err);
	if (r == ROGER_OK) {
		snprintf(plan->root, sizeof plan->root, "%s", workspace->root);
		rg_workspace_close(workspace);
		return ROGER_OK;
	}
	/* A broken configuration may be our own doing: the way back needs none. */
	if (r == ROGER_ECONFIG && plan->request->remove)
		return find_broken(plan, err);
	if (r != ROGER_ENOENT || plan->request->scope == ROGER_SETUP_USER)
		return r == ROGER_ENOENT ? ROGER_OK : r;
	if (!getcwd(folder, sizeof folder))
		return rg_fail(err, ROGER_EIO, 0, "the current folder cannot be told");
	snprintf(plan->root, sizeof plan->root, "%s", folder);
	for (;;) {
		snprintf(git, sizeof git, "%s/.git", folder);
		if (rg_outside_is_there(git))
			snprintf(plan->root, sizeof plan->root, "%s", folder);
		slash = strrchr(folder, '/');
		if (rg_outside_is_there(git) || !slash || slash == folder)
			break;
		*slash = '\0';
	}
	if (plan->request->remove)
		return ROGER_OK;
	*ret_made = true;
	if (plan->request->dry_run)
		return ROGER_OK;
	snprintf(folder, sizeof folder, "%s", plan->root);
	return rg_workspace_make(folder, ret_made, plan->root, err);
}

static int run(struct roger *roger, const void *request, void *reply_, struct roger_err *err)
{
	struct roger_setup_reply *reply = reply_;
	struct plan plan = { .arena = reply->memory, .request = request };
	struct record record;
	int r;

	(void)roger;
	r = find_tools(&plan, reply, err);
	if (r == ROGER_OK)
		r = find_root(&plan, &reply->made_workspace, err);
	if (r == ROGER_OK)
		r = find_fillings(&plan, err);
	if (r == ROGER_OK)
		r = read_record(&plan, &record, err);
	if (r == ROGER_OK)
		r = plan_record(&plan, &record, err);
	if (r == ROGER_OK)
		r = plan_places(&plan, err);
	if (r == ROGER_OK)
		r = tell(&plan, reply, err);
	if (r < 0)
		return r;
	if (!rg_arena_copy(reply->memory, rg_str(plan.root), &reply->workspace))
		return rg_fail_memory(err);
	reply->by_path = !rg_outside_along_path("roger");
	return plan.request->dry_run || !reply->changes ? ROGER_OK : carry_out(&plan, err);
}

static const char *const scopes[] = { "project", "user", "stealth", NULL };

#define AT(member) offsetof(struct roger_setup_request, member)
static const struct roger_field request_fields[] = {
	{ "tools", ROGER_TEXTS, AT(tools), ROGER_PLACE, NULL, NULL,
	  "claude, codex, gemini, opencode (default: those installed)" },
	{ "scope", ROGER_ENUM, AT(scope), 0, scopes, NULL,
	  "project (in the repository), user, or stealth (nothing that git would show)" },
	{ "name", ROGER_NAME, AT(as), 0, NULL, NULL,
	  "the agent (default: ROGER_AGENT, else the tool's name)" },
	{ "remove", ROGER_BOOL, AT(remove), 0, NULL, NULL, "take everything out again" },
	{ "dry_run", ROGER_BOOL, AT(dry_run), 0, NULL, NULL, "show what would change" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "request", sizeof(struct roger_setup_request),
						    request_fields };

static const char *const actions[] = { "same", "made", "changed", "removed", "left", NULL };

#define AT(member) offsetof(struct roger_setup_file, member)
static const struct roger_field file_fields[] = {
	{ "file", ROGER_TEXT, AT(file), 0, NULL, NULL, "its path" },
	{ "action", ROGER_ENUM, AT(action), ROGER_REQUIRED, actions, NULL,
	  "same, made, changed, removed or left" },
	{ "diff", ROGER_TEXT, AT(diff), ROGER_SPARE, NULL, NULL, "line by line" },
	{ "trouble", ROGER_TEXT, AT(trouble), ROGER_SPARE, NULL, NULL,
	  "why something was left as it is" },
	RG_END,
};
#undef AT
static const struct roger_record file_record = { "file", sizeof(struct roger_setup_file),
						 file_fields };

#define AT(member) offsetof(struct roger_setup_reply, member)
static const struct roger_field reply_fields[] = {
	{ "files", ROGER_RECORDS, AT(files), 0, NULL, &file_record, "what was, or would be, done" },
	{ "changes", ROGER_INT, AT(changes), 0, NULL, NULL, "files that change" },
	{ "tools", ROGER_TEXTS, AT(tools), 0, NULL, NULL, "that were meant" },
	{ "workspace", ROGER_TEXT, AT(workspace), 0, NULL, NULL, "the project" },
	{ "made_workspace", ROGER_BOOL, AT(made_workspace), 0, NULL, NULL, "there was none" },
	{ "not_on_path", ROGER_BOOL, AT(by_path), 0, NULL, NULL,
	  "roger is not along PATH: tools may not find it" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "setup", sizeof(struct roger_setup_reply),
						  reply_fields };

const struct roger_op rg_op_setup = {
	.name = "setup",
	.summary = "let agents' tools start roger, and take it out of them again",
	.examples = "roger setup\n"
		    "roger setup claude codex --dry-run\n"
		    "roger setup claude --scope stealth --name builder\n"
		    "roger setup --remove\n",
	.flags = ROGER_WRITES | ROGER_NO_WORKSPACE,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
