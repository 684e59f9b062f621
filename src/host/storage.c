#include "host/storage.h"

#include <stdio.h>

#include "base/limits.h"
#include "host/file.h"
#include "host/workspace.h"

/* Folders that are made for such files: roger's, and those of the seeds. */
static const char *const usual[] = { ".roger", ".agent-shepherd", "workspace", "logs", "state" };

/* ----------------------------------------------------------------- paths -- */

static bool is_usual(const char *inside)
{
	size_t length = strcspn(inside, "/"), i;

	for (i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strlen(usual[i]) == length && memcmp(usual[i], inside, length) == 0)
			return true;
	return false;
}

/* ---------------------------------------------------------------- places -- */

/* The setting of that name, where a file names it. */
static const struct roger_setting *configured(const struct rg_config *config, const char *key)
{
	size_t i;

	for (i = 0; i < config->settings.count; i++)
		if (rg_str_is(config->settings.items[i].key, key))
			return rg_str_is(config->settings.items[i].origin, "default")
				       ? NULL
				       : &config->settings.items[i];
	return NULL;
}

struct finding {
	const struct rg_config *config;
	const char *root;
	struct rg_arena *arena;
	struct rg_storage_place *items;
	size_t count;
};

/* A folder of that setting; file: the setting names a file in it. */
static int look_at(struct finding *finding, const char *key, bool file, struct roger_err *err)
{
	const struct roger_setting *setting = configured(finding->config, key);
	struct rg_storage_place *place;
	struct rg_file_look look;
	char path[4300], real[4096], *slash;
	const char *inside;

	if (!setting)
		return ROGER_OK;
	rg_workspace_path_in(finding->root, setting->value, path, sizeof path);
	slash = strrchr(path, '/');
	/* The name of a file itself may not be a link: such a file is not opened. */
	if (file)
		*slash = '\0';
	if (!rg_workspace_resolve(file && slash == path ? "/" : path, real))
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "%.*s: %s: expected a shorter path, or one without '..'",
			       RG_STR_ARGS(setting->origin), key);
	if (file)
		snprintf(real + strlen(real), sizeof real - strlen(real), "/%.600s", slash + 1);
	inside = rg_workspace_below(finding->root, real);
	if (inside && is_usual(inside))
		return ROGER_OK;
	/* An existing file is checked before the first append. */
	if (inside && file && rg_file_examine(-1, real, &look, NULL) == ROGER_OK &&
	    look.kind == RG_FILE_REGULAR)
		return ROGER_OK;
	place = rg_arena_push(finding->arena, &finding->items, &finding->count, sizeof *place);
	if (!place || !rg_arena_copy(finding->arena, rg_str(real), &place->path))
		return rg_fail_memory(err);
	place->setting = setting->key;
	place->origin = setting->origin;
	place->outside = !inside;
	return ROGER_OK;
}

/* A server that a file names: it may have come with a repository, and would get all mail. */
static int add_store(struct finding *finding, struct roger_err *err)
{
	const struct roger_setting *setting = configured(finding->config, "store");
	struct rg_storage_place *place;

	if (!setting || !setting->value.length || rg_str_is(setting->origin, "ROGER_STORE"))
		return ROGER_OK;
	place = rg_arena_push(finding->arena, &finding->items, &finding->count, sizeof *place);
	if (!place)
		return rg_fail_memory(err);
	*place = (struct rg_storage_place){ setting->key, setting->origin, setting->value, true };
	return ROGER_OK;
}

int rg_storage_find(const struct rg_config *config, const char *root, struct rg_arena *arena,
		    struct rg_storage_places *ret_places, struct roger_err *err)
{
	struct finding finding = { .config = config, .root = root, .arena = arena };
	int r;

	r = look_at(&finding, "storage.data_dir", false, err);
	if (r == ROGER_OK)
		r = look_at(&finding, "storage.send_log_dir", false, err);
	if (r == ROGER_OK)
		r = look_at(&finding, "storage.activity_file", true, err);
	if (r == ROGER_OK)
		r = look_at(&finding, "storage.trigger_dir", false, err);
	if (r == ROGER_OK)
		r = add_store(&finding, err);
	*ret_places = (struct rg_storage_places){ finding.items, finding.count };
	return r;
}

/* ----------------------------------------------------------------- files -- */

/* Does it begin like a line of this log?  A line may be cut off by a kill. */
static bool is_start(struct roger_str text, enum rg_log log)
{
	size_t length = strlen(rg_kinds[log].start);

	if (text.length < length)
		length = text.length;
	return length > 1 && memcmp(text.data, rg_kinds[log].start, length) == 0;
}

/* The first line without its newline; false: no line ends in the text. */
static bool first_line(struct roger_str text, struct roger_str *ret_line)
{
	const char *newline = memchr(text.data, '\n', text.length);

	if (newline)
		*ret_line = (struct roger_str){ text.data, (size_t)(newline - text.data) };
	return newline != NULL;
}

static bool is_of_kind(struct roger_str text, enum rg_log log)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	union rg_log_record record;
	struct roger_str line;

	if (!first_line(text, &line))
		return is_start(text, log);
	/* A torn line of roger's is ended with a newline by the next writer. */
	return arena &&
	       (rg_kind_read(log, line, arena, &record, NULL) == ROGER_OK || is_start(line, log));
}

int rg_storage_check_file(int folder, const char *name, enum rg_log log, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	size_t want = 4096, got = 0;
	struct roger_str line;
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
		 !first_line(rg_buf_str(&text), &line));
	if (!got || is_of_kind(rg_buf_str(&text), log))
		return ROGER_OK;
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "'%s' does not begin with %s, so roger does not write to it; correct "
		       "storage: in the configuration, or move the file away",
		       name, rg_kinds[log].noun);
}
