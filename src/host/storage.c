#include "host/storage.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/sign.h"
#include "data/record.h"
#include "host/file.h"
#include "host/triggers.h"
#include "host/workspace.h"

/* Folders that are meant for such files: roger's own, and the seeds'. */
static const char *const usual[] = {
	".roger", ".agent-shepherd", "workspace", "logs", "state", NULL
};

/* ---------------------------------------------------------------- places -- */

enum { PATH_BYTES = 4800 };

/* The settings that place a mailbox, each file's name after its folder. */
static const char *const place_keys[] = {
	[RG_PLACE_DATA] = "storage.data_dir",
	[RG_PLACE_JOURNAL] = "storage.jsonl_file",
	[RG_PLACE_DATABASE] = "storage.database_file",
	[RG_PLACE_SEND_LOGS] = "storage.send_log_dir",
	[RG_PLACE_ACTIVITY] = "storage.activity_file",
	[RG_PLACE_TRIGGERS] = "storage.trigger_dir",
	[RG_PLACE_STORE] = "store",
};

/* Resolve the path and links of a setting; file: it names a file in a folder. */
static int resolve_place(const char *root, const struct roger_setting *setting, bool file,
			 char to[PATH_BYTES], struct roger_err *err)
{
	char path[4300], *slash;

	rg_workspace_path(root, setting->value, path, sizeof path);
	slash = strrchr(path, '/');
	/* The name of a file itself may not be a link: such a file is not opened. */
	if (file)
		*slash = '\0';
	if (!rg_workspace_resolve(file && slash == path ? "/" : path, to))
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "%.*s: %.*s: expected a shorter path, or one without '..'",
			       RG_STR_ARGS(setting->origin), RG_STR_ARGS(setting->key));
	if (file)
		snprintf(to + strlen(to), PATH_BYTES - strlen(to), "/%.600s", slash + 1);
	return ROGER_OK;
}

static bool is_at(const struct rg_trusted_place *place, enum rg_storage_place at)
{
	return rg_str_is(place->setting, place_keys[at]);
}

bool rg_storage_needs_trust(const char *root, const struct rg_trusted_place *place)
{
	const char *inside;

	/* Files in the data folder need none of their own: that folder is a place, too. */
	if (place->usual || is_at(place, RG_PLACE_JOURNAL) || is_at(place, RG_PLACE_DATABASE))
		return false;
	/* The setting may have come with a repository, and its server would get all mail. */
	if (is_at(place, RG_PLACE_STORE))
		return place->path.length && !rg_str_is(place->origin, "ROGER_STORE");
	inside = rg_workspace_below(root, place->path.data);
	if (!inside || rg_enum_find(usual, (struct roger_str){ inside, strcspn(inside, "/") }) >= 0)
		return !inside;
	/* An existing file is checked before the first append. */
	return !is_at(place, RG_PLACE_ACTIVITY) ||
	       rg_file_kind(-1, place->path.data) != RG_FILE_REGULAR;
}

int rg_storage_all(const struct rg_config *config, const char *root, struct rg_arena *arena,
		   struct rg_trusted_place_list *ret_places, struct roger_err *err)
{
	struct rg_trusted_place *items = rg_arena_get(arena, RG_PLACES * sizeof *items);
	char path[PATH_BYTES], ordinary[PATH_BYTES];
	const struct roger_setting *setting;
	int r = rg_kept(items, err);
	struct roger_str text; /* its default */

	*ret_places = (struct rg_trusted_place_list){ items, RG_PLACES };
	for (enum rg_storage_place at = 0; at < RG_PLACES && r == ROGER_OK; at++) {
		setting = rg_config_setting(config, place_keys[at]);
		text = rg_config_default(config, setting);
		items[at].usual = rg_str_equal(setting->value, text);
		if (at == RG_PLACE_STORE) {
			snprintf(path, sizeof path, "%s", setting->value.data);
		} else if (at == RG_PLACE_JOURNAL || at == RG_PLACE_DATABASE) {
			rg_workspace_path(items[RG_PLACE_DATA].path.data, setting->value, path,
					  sizeof path);
		} else if (items[at].usual) {
			rg_workspace_path(root, text, path, sizeof path);
		} else {
			r = resolve_place(root, setting, at == RG_PLACE_ACTIVITY, path, err);
			if (r < 0)
				return r;
			rg_workspace_path(root, text, ordinary, sizeof ordinary);
			items[at].usual = strcmp(path, ordinary) == 0;
		}
		items[at].path = rg_arena_str(arena, rg_str(path));
		items[at].setting = rg_arena_str(arena, setting->key);
		items[at].origin = rg_arena_str(arena, setting->origin);
		r = rg_kept(!rg_arena_failed(arena), err);
	}
	return r;
}

/* -------------------------------------------------------------------- git -- */

static bool uses_name(const void *config_, struct roger_str name)
{
	const struct rg_config *config = config_;

	return rg_config_uses(name) || rg_str_equal(name, config->jsonl_file) ||
	       rg_str_equal(name, config->database_file);
}

static bool uses_log(const void *config, struct roger_str name)
{
	(void)config;
	return rg_str_ends(name, ".jsonl") && name.length > strlen(".jsonl");
}

/* Does roger use the name in the trigger folder: a drop box, or a hidden folder for taken files? */
static bool uses_trigger(const void *config, struct roger_str name)
{
	(void)config;
	return rg_trigger_is_name(name) ||
	       (name.data[0] == '.' && !rg_str_is(name, ".gitignore") && !rg_str_is(name, ".git"));
}

int rg_storage_tracked(const struct rg_config *config, const char *root,
		       struct rg_trusted_place_list places, struct rg_arena *arena,
		       enum rg_git_state *ret_state, struct roger_strs *ret_files,
		       struct roger_str *ret_sha256, struct roger_err *err)
{
	const struct rg_trusted_place *at = places.items;
	char home[4200], digits[RG_DIGEST_DIGITS + 1] = "";
	const struct rg_git_watch watches[] = {
		{ home, uses_name },
		{ at[RG_PLACE_DATA].path.data, uses_name },
		{ at[RG_PLACE_SEND_LOGS].path.data, uses_log },
		{ at[RG_PLACE_ACTIVITY].path.data, NULL },
		{ at[RG_PLACE_TRIGGERS].path.data, uses_trigger },
	};
	struct rg_sha256 sha;
	size_t i;
	int r;

	snprintf(home, sizeof home, "%.4000s/%s", root, RG_WORKSPACE_FOLDER);
	r = rg_git_look(root, watches, sizeof watches / sizeof *watches, config, arena, ret_state,
			ret_files, err);
	if (r < 0)
		return r;
	rg_sha256_init(&sha);
	for (i = 0; i < ret_files->count; i++)
		rg_sha256_add(&sha, ret_files->items[i].data, ret_files->items[i].length + 1);
	if (ret_files->count)
		rg_sha256_peek(&sha, digits);
	return rg_kept(rg_arena_copy(arena, rg_str(digits), ret_sha256), err);
}

/* ----------------------------------------------------------------- files -- */

/* Does the text begin like a line of this log?  A line may be cut off by a kill. */
static bool is_start(struct roger_str text, enum rg_log log)
{
	size_t length = strlen(rg_log_kinds[log].start);

	if (text.length < length)
		length = text.length;
	return length > 1 && memcmp(text.data, rg_log_kinds[log].start, length) == 0;
}

static bool is_of_kind(struct roger_str text, enum rg_log log)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct roger_str line = rg_str_first_line(text);
	union rg_log_record record;

	if (!rg_str_find(text, '\n'))
		return is_start(text, log);
	/* A torn line of roger's is ended with a newline by the next writer. */
	return arena && (rg_log_kind_read(log, line, arena, &record, NULL) == ROGER_OK ||
			 is_start(line, log));
}

int rg_storage_check_file(int folder, const char *name, enum rg_log log, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	size_t want = 4096, got = 0;
	char *room;
	int r;

	r = rg_file_open(folder, name, RG_FILE_READ, &file, err);
	if (r < 0 || file == RG_NO_FILE)
		return r;
	do {
		rg_buf_clear(&text);
		room = rg_buf_room(&text, want);
		if (!room)
			return rg_fail_memory(err);
		r = rg_file_read_at(file, room, want, 0, &got, err);
		if (r < 0)
			return r;
		text.length = got;
		want *= 8;
	} while (got == want / 8 && got < RG_LINE_BYTES_MAX &&
		 !rg_str_find(rg_buf_str(&text), '\n'));
	if (!got || is_of_kind(rg_buf_str(&text), log))
		return ROGER_OK;
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "'%s' does not begin with %s, so roger does not write to it; correct "
		       "storage: in the configuration, or move the file away",
		       name, rg_log_kinds[log].noun);
}

/* ------------------------------------------------- of the seeds' programs -- */

/* Where the seeds' programs keep their files, and the setting with which roger uses these. */
static const struct origin {
	const char *folder, *file, *setting;
} origins[] = {
	{ "workspace", "messages.jsonl", "data_dir: workspace" },
	{ "workspace", "message-state.json", "data_dir: workspace" },
	{ ".agent-shepherd", "messages.jsonl", "data_dir: .agent-shepherd" },
	{ "logs", "activity.log.jsonl", "activity_file: logs/activity.log.jsonl" },
};

static bool is_used(const struct rg_config *config, const char *root, const struct origin *origin)
{
	const bool log = origin->setting[0] == 'a';
	char used[4300], path[4300], real[2][4096];

	snprintf(path, sizeof path, "%s/%s%s%s", root, origin->folder, log ? "/" : "",
		 log ? origin->file : "");
	rg_workspace_path(root, log ? config->activity_file : config->data_dir, used, sizeof used);
	return rg_workspace_resolve(path, real[0]) && rg_workspace_resolve(used, real[1]) &&
	       strcmp(real[0], real[1]) == 0;
}

int rg_storage_unused(const struct rg_config *config, const char *root, struct rg_arena *arena,
		      struct roger_str *ret_text, struct roger_err *err)
{
	char files[300] = "", settings[300] = "", path[4300];
	const char *last = "";
	const struct origin *origin;

	for (origin = origins; origin < origins + sizeof origins / sizeof *origins; origin++) {
		snprintf(path, sizeof path, "%s/%s/%s", root, origin->folder, origin->file);
		if (is_used(config, root, origin) || rg_file_kind(-1, path) != RG_FILE_REGULAR)
			continue;
		snprintf(files + strlen(files), sizeof files - strlen(files), "%s%s/%s",
			 *files ? ", " : "", origin->folder, origin->file);
		if (strcmp(last, origin->setting))
			snprintf(settings + strlen(settings), sizeof settings - strlen(settings),
				 "%s%s", *settings ? ", " : "", last = origin->setting);
	}
	*ret_text = RG_STR("");
	return rg_kept(!*files ||
			       rg_arena_print(arena, ret_text,
					      "%s; `storage: {%s}` in .roger/config.yaml uses %s",
					      files, settings, strchr(files, ',') ? "them" : "it"),
		       err);
}
