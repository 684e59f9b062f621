#include "host/triggers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "base/limits.h"
#include "host/file.h"

/* "<ms>-<16 digits>-<offset>." before the name of a taken file. */
enum {
	MS_DIGITS_MAX = 13,
	ID_DIGITS = 16,
	OFFSET_DIGITS_MAX = 18,
	PREFIX_BYTES_MAX = MS_DIGITS_MAX + 1 + ID_DIGITS + 1 + 19 + 1
};

/* ------------------------------------------------------------- folders -- */

int rg_triggers_open(const struct rg_workspace *workspace, struct rg_triggers *ret_triggers,
		     struct roger_err *err)
{
	struct rg_triggers triggers = { RG_NO_FILE, RG_NO_FILE, RG_NO_FILE, RG_NO_FILE, 0 };
	char path[4300];
	int r;

	rg_workspace_path(workspace->root, workspace->config->trigger_dir, path, sizeof path);
	r = rg_file_open_made_folder(workspace->data, path, &triggers.folder, err);
	if (r == ROGER_OK)
		r = rg_file_open_made_folder(triggers.folder, ".taken", &triggers.taken, err);
	if (r == ROGER_OK)
		r = rg_file_open_made_folder(triggers.folder, ".skipped", &triggers.skipped, err);
	if (r == ROGER_OK)
		r = rg_file_open_made_folder(triggers.folder, ".handing", &triggers.handing, err);
	if (r == ROGER_OK)
		*ret_triggers = triggers;
	else
		rg_triggers_close(&triggers);
	return r;
}

void rg_triggers_close(struct rg_triggers *triggers)
{
	triggers->folder = rg_file_close(triggers->folder);
	triggers->taken = rg_file_close(triggers->taken);
	triggers->skipped = rg_file_close(triggers->skipped);
	triggers->handing = rg_file_close(triggers->handing);
}

bool rg_triggers_lost(const struct rg_workspace *workspace, const struct rg_triggers *triggers)
{
	struct rg_file_facts facts;
	char path[4300];

	rg_workspace_path(workspace->root, workspace->config->trigger_dir, path, sizeof path);
	return rg_file_facts(triggers->folder, path, &facts, NULL) < 0 ||
	       !rg_file_is(workspace->data, path, facts.device, facts.inode);
}

/* --------------------------------------------------------------- names -- */

bool rg_trigger_is_name(struct roger_str name)
{
	return name.length > 4 && name.data[0] != '.' &&
	       strncasecmp(name.data + name.length - 4, ".txt", 4) == 0;
}

struct roger_str rg_trigger_stem(struct roger_str name)
{
	rg_assert(name.length > 4);
	return (struct roger_str){ name.data, name.length - 4 };
}

struct standing {
	struct roger_str name;
	int64_t written_ns;
};

static int compare_standing(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	/* Names of a folder end in a NUL. */
	return x->written_ns != y->written_ns
		       ? (x->written_ns > y->written_ns) - (x->written_ns < y->written_ns)
		       : strcmp(x->name.data, y->name.data);
}

/* Sorts by age, since a sender's numbers rise from file to file, too. */
int rg_triggers_list(const struct rg_triggers *triggers, struct rg_arena *arena,
		     struct roger_strs *ret_names, struct roger_err *err)
{
	struct rg_file_facts facts;
	struct standing *boxes;
	struct roger_strs names;
	size_t count = 0, i;
	int r;

	r = rg_file_list_folder(triggers->folder, "triggers", arena, &names, err);
	if (r < 0)
		return r;
	boxes = rg_arena_get(arena, (names.count + 1) * sizeof *boxes);
	if (!boxes)
		return rg_fail_memory(err);
	for (i = 0; i < names.count; i++) {
		if (!rg_trigger_is_name(names.items[i]))
			continue;
		(void)!rg_file_look(triggers->folder, names.items[i].data, &facts, NULL);
		boxes[count++] = (struct standing){ names.items[i], facts.written_ns };
	}
	qsort(boxes, count, sizeof *boxes, compare_standing);
	*ret_names = (struct roger_strs){ 0 };
	for (i = 0; i < count; i++)
		if (!rg_arena_add(arena, ret_names, boxes[i].name))
			return rg_fail_memory(err);
	return ROGER_OK;
}

static bool read_taken(struct roger_str name, struct rg_taken *taken)
{
	char ms[MS_DIGITS_MAX + 1], id[ID_DIGITS + 1], offset[OFFSET_DIGITS_MAX + 1];
	int id_end = 0, end = 0;

	if (name.length >= sizeof taken->name)
		return false;
	snprintf(taken->name, sizeof taken->name, "%.*s", RG_STR_ARGS(name));
	/* A time of more digits was never drawn, and names drawn after it could not be read. */
	if (sscanf(taken->name, "%13[0-9]-%16[0-9a-f]%n-%18[0-9].%n", ms, id, &id_end, offset,
		   &end) < 3 ||
	    !end || strlen(id) < ID_DIGITS)
		return false;
	taken->id = (struct roger_str){ taken->name, (size_t)id_end };
	taken->file = rg_str(taken->name + end);
	return rg_str_number(rg_str(ms), &taken->ms) &&
	       rg_str_number(rg_str(offset), &taken->offset) && rg_trigger_is_name(taken->file);
}

/* -------------------------------------------------------------- taking -- */

/* Draw the name of a file that is taken now.  Names rise even when the clock does not. */
static int draw_name(struct rg_triggers *triggers, struct roger_str file, struct rg_id_source *ids,
		     char to[RG_TRIGGER_NAME_BYTES], struct roger_err *err)
{
	char id[RG_MESSAGE_ID_BYTES_MAX];
	int64_t now_ms = rg_clock_ms();
	size_t length;
	int r;

	triggers->last_ms = now_ms > triggers->last_ms ? now_ms : triggers->last_ms + 1;
	r = rg_id_new(ids, triggers->last_ms, id, &length, err);
	if (r < 0)
		return r;
	/* The id is used without "msg-". */
	snprintf(to, RG_TRIGGER_NAME_BYTES, "%.*s-0.%.*s", (int)length - 4, id + 4,
		 RG_STR_ARGS(file));
	return ROGER_OK;
}

int rg_triggers_refused(int r, struct roger_err *err)
{
	if ((r != ROGER_EIO && r != ROGER_ECREATE) ||
	    (err->system_errno != EACCES && err->system_errno != EPERM))
		return r;
	err->code = ROGER_EREFUSED;
	return ROGER_EREFUSED;
}

int rg_triggers_take(struct rg_triggers *triggers, struct roger_str name, struct rg_id_source *ids,
		     bool *ret_taken, struct roger_err *err)
{
	char taken[RG_TRIGGER_NAME_BYTES];
	struct rg_file_facts facts;
	int r;

	*ret_taken = false;
	r = rg_file_look(triggers->folder, name.data, &facts, err);
	/* An empty one is about to be written, or was prepared for that. */
	if (r < 0 || facts.size == 0)
		return r;
	if (name.length + PREFIX_BYTES_MAX >= RG_TRIGGER_NAME_BYTES)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%.64s...': expected a name of at most %d bytes", name.data,
			       RG_TRIGGER_NAME_BYTES - PREFIX_BYTES_MAX - 1);
	r = draw_name(triggers, name, ids, taken, err);
	return r < 0 ? r
		     : rg_file_move(triggers->folder, name.data, triggers->taken, taken, ret_taken,
				    err);
}

int rg_triggers_settle(const struct rg_triggers *triggers, struct roger_err *err)
{
	int r = rg_file_sync_folder(triggers->taken, "triggers/.taken", err);

	return r < 0 ? r : rg_file_sync_folder(triggers->folder, "triggers", err);
}

/* By the time that a name begins with, which has more digits when it is later. */
static int compare_taken(const void *a, const void *b)
{
	static const char digit[] = "0123456789";
	const char *x = ((const struct roger_str *)a)->data,
		   *y = ((const struct roger_str *)b)->data;
	const size_t digits = strspn(x, digit), others = strspn(y, digit);

	return digits != others ? (digits > others) - (digits < others) : strcmp(x, y);
}

int rg_triggers_taken(struct rg_triggers *triggers, struct rg_arena *arena,
		      struct rg_taken_list *ret_list, struct roger_err *err)
{
	struct rg_taken_list list = { 0 };
	struct rg_taken *taken;
	struct roger_strs names;
	size_t i;
	int r;

	r = rg_file_list_folder(triggers->taken, "triggers/.taken", arena, &names, err);
	if (r < 0)
		return r;
	list.items = rg_arena_get(arena, names.count * sizeof *list.items);
	if (!list.items)
		return rg_fail_memory(err);
	if (names.count)
		qsort((void *)(uintptr_t)names.items, names.count, sizeof *names.items,
		      compare_taken);
	for (i = 0; i < names.count; i++) {
		taken = &list.items[list.count];
		if (!read_taken(names.items[i], taken))
			continue;
		if (taken->ms > triggers->last_ms)
			triggers->last_ms = taken->ms;
		list.count++;
	}
	*ret_list = list;
	return ROGER_OK;
}

/* Was the file unchanged for this long?  A clock that was set back that far counts as well. */
static bool still_for(const struct rg_file_facts *facts, int64_t for_ms)
{
	int64_t age_ms = rg_clock_ms() - facts->changed_ms;

	return age_ms >= for_ms || age_ms <= -for_ms;
}

int rg_triggers_open_taken(const struct rg_triggers *triggers, const struct rg_taken *taken,
			   int *ret_file, bool *ret_final, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	enum rg_file_writers writers;
	struct rg_file_facts facts = { 0 };
	int r;

	*ret_file = RG_NO_FILE;
	r = rg_file_open(triggers->taken, taken->name, RG_FILE_READ, &file, err);
	if (r < 0 || file == RG_NO_FILE)
		return r;
	/* The file no longer has its old name, so nobody new can open it to write. */
	writers = rg_file_writers(file);
	if (writers != RG_FILE_NO_WRITER) {
		r = rg_file_facts(file, taken->name, &facts, err);
		if (r < 0 || !still_for(&facts, RG_TRIGGER_STILL_MS))
			return r;
	}
	*ret_final = writers == RG_FILE_NO_WRITER ||
		     (writers == RG_FILE_UNTOLD && still_for(&facts, RG_TRIGGER_SILENT_MS));
	*ret_file = file;
	file = RG_NO_FILE;
	return ROGER_OK;
}

static int rename_taken(const struct rg_triggers *triggers, struct rg_taken *taken,
			const char *name, struct roger_err *err)
{
	int r = rg_file_rename(triggers->taken, taken->name, name, true, err);

	rg_assert(r < 0 || read_taken(rg_str(name), taken));
	return r;
}

int rg_triggers_advance(const struct rg_triggers *triggers, struct rg_taken *taken, int64_t offset,
			struct roger_err *err)
{
	char name[RG_TRIGGER_NAME_BYTES + 32];

	rg_assert(offset >= taken->offset);
	snprintf(name, sizeof name, "%.*s-%lld.%.*s", RG_STR_ARGS(taken->id), (long long)offset,
		 RG_STR_ARGS(taken->file));
	return rename_taken(triggers, taken, name, err);
}

int rg_triggers_restart(struct rg_triggers *triggers, struct rg_taken *taken,
			struct rg_id_source *ids, struct roger_err *err)
{
	char name[RG_TRIGGER_NAME_BYTES];
	int r = draw_name(triggers, taken->file, ids, name, err);

	return r < 0 ? r : rename_taken(triggers, taken, name, err);
}

int rg_triggers_drop(const struct rg_triggers *triggers, const struct rg_taken *taken,
		     struct roger_err *err)
{
	return rg_file_remove(triggers->taken, taken->name, err);
}

int rg_triggers_keep(const struct rg_triggers *triggers, const struct rg_taken *taken,
		     struct roger_str text, struct roger_err *err)
{
	if (text.length == 0)
		return rg_file_remove(triggers->skipped, taken->name, err);
	return rg_file_replace(triggers->skipped, taken->name, text, true, err);
}

int rg_triggers_put_aside(const struct rg_triggers *triggers, const struct rg_taken *taken,
			  struct roger_err *err)
{
	bool moved;
	int r;

	r = rg_file_move(triggers->taken, taken->name, triggers->skipped, taken->name, &moved, err);
	if (r == ROGER_OK)
		r = rg_file_sync_folder(triggers->skipped, "triggers/.skipped", err);
	return r == ROGER_OK ? rg_file_sync_folder(triggers->taken, "triggers/.taken", err) : r;
}

/* List the names in a folder of triggers, which stays open; a missing one is not made. */
static int list_in(const struct rg_workspace *workspace, const char *under, struct rg_arena *arena,
		   int *ret_folder, struct roger_strs *ret_names, struct roger_err *err)
{
	char triggers[4300], path[sizeof triggers + sizeof "/.skipped"];
	int r;

	*ret_names = (struct roger_strs){ NULL, 0 };
	*ret_folder = RG_NO_FILE;
	rg_workspace_path(workspace->root, workspace->config->trigger_dir, triggers,
			  sizeof triggers);
	snprintf(path, sizeof path, "%s%s", triggers, under);
	r = rg_file_open_folder(workspace->data, path, ret_folder, err);
	return r < 0 || *ret_folder == RG_NO_FILE
		       ? r
		       : rg_file_list_folder(*ret_folder, path, arena, ret_names, err);
}

int rg_triggers_skipped(const struct rg_workspace *workspace, struct rg_arena *arena,
			struct roger_strs *ret_names, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;

	return list_in(workspace, "/.skipped", arena, &folder, ret_names, err);
}

static int add_waiting(const struct rg_workspace *workspace, const char *under,
		       struct rg_arena *arena, struct rg_taken_list *list, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct rg_file_facts facts;
	struct roger_strs names;
	struct rg_taken taken;
	size_t i;
	int r = list_in(workspace, under, arena, &folder, &names, err);

	for (i = 0; r == ROGER_OK && i < names.count; i++) {
		taken = (struct rg_taken){ .file = names.items[i] };
		if (*under ? !read_taken(names.items[i], &taken)
			   : !rg_trigger_is_name(names.items[i]))
			continue;
		r = rg_file_look(folder, names.items[i].data, &facts, err);
		if (r == ROGER_EREFUSED) {
			list->odd = names.items[i];
			r = ROGER_OK;
			continue;
		}
		if (r < 0 || !facts.size)
			continue;
		taken.ms = facts.written_ns / 1000000;
		if (!rg_arena_copy(arena, taken.file, &taken.file) ||
		    !rg_arena_append(arena, &list->items, &list->count, &taken, sizeof taken))
			return rg_fail_memory(err);
	}
	return r;
}

int rg_triggers_waiting(const struct rg_workspace *workspace, struct rg_arena *arena,
			struct rg_taken_list *ret_list, struct roger_err *err)
{
	int r;

	*ret_list = (struct rg_taken_list){ 0 };
	r = add_waiting(workspace, "", arena, ret_list, err);
	return r < 0 ? r : add_waiting(workspace, "/.taken", arena, ret_list, err);
}
