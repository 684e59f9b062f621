/*
 * state/subagent-delivery-watchdog/: one document for each run, replaced as a
 * whole by whoever holds the lock of the records.
 *
 * Other programs write here, too, and know nothing of our lock: what is put is
 * compared with what was read before.
 */
#include "engine/inside.h"

#include "host/file.h"

static const char suffix[] = ".json";

/* The folder; RG_NO_FILE, unless make says to make it, when it is not there. */
static int open_runs(struct rg_engine *engine, bool make, int *ret_folder, struct roger_err *err)
{
	static const char *const path[] = { "state", "subagent-delivery-watchdog" };
	int outer = engine->workspace->data, inner = RG_NO_FILE, r = ROGER_OK;
	bool made;
	size_t i;

	/* Step by step, so that none of them is a symbolic link. */
	for (i = 0; i < sizeof path / sizeof *path && r == ROGER_OK; i++) {
		if (make)
			r = rg_file_make_folder(outer, path[i], &made, err);
		if (r == ROGER_OK)
			r = rg_file_open_folder(outer, path[i], &inner, err);
		if (r == ROGER_OK && make && inner == RG_NO_FILE)
			r = rg_fail(err, ROGER_ECREATE, 0, "'%s' went away", path[i]);
		if (outer != engine->workspace->data)
			rg_file_close(outer);
		outer = r == ROGER_OK ? inner : RG_NO_FILE;
		if (outer == RG_NO_FILE)
			break;
	}
	*ret_folder = outer;
	return r;
}

/* The text of a document, NULL data where there is none. */
static int read_run(int folder, const char *name, struct rg_arena *arena, struct roger_str *ret,
		    struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	bool found = false;
	int r = ROGER_OK;

	*ret = (struct roger_str){ NULL, 0 };
	if (folder != RG_NO_FILE)
		r = rg_file_read_all_at(folder, name, RG_RUN_BYTES_MAX, &text, &found, err);
	if (r < 0 || !found)
		return r;
	return rg_arena_copy(arena, rg_buf_str(&text), ret) ? ROGER_OK : rg_fail_memory(err);
}

int rg_engine_run_find(struct rg_engine *engine, struct roger_str run_id, struct rg_arena *arena,
		       struct roger_str *ret_text, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char name[RG_FILE_NAME_BYTES];
	int r;

	rg_workspace_file_name(run_id, suffix, name);
	r = open_runs(engine, false, &folder, err);
	return r < 0 ? r : read_run(folder, name, arena, ret_text, err);
}

static bool is_document(struct roger_str name)
{
	const size_t length = sizeof suffix - 1;

	return name.length > length && name.data[0] != '.' &&
	       memcmp(name.data + name.length - length, suffix, length) == 0;
}

/* One that cannot be read is told, and does not keep us from the others. */
static int add_run(int folder, struct roger_str name, struct rg_arena *arena,
		   struct rg_run_text *to, struct roger_err *err)
{
	struct roger_err inner = { 0 };
	int r;

	to->file = name;
	r = read_run(folder, name.data, arena, &to->text, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0 && !rg_arena_copy(arena, rg_str(inner.message), &to->trouble))
		return rg_fail_memory(err);
	return ROGER_OK;
}

int rg_engine_runs(struct rg_engine *engine, struct rg_arena *arena, struct rg_run_texts *ret_runs,
		   struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct roger_strs names = { 0 };
	struct rg_run_text *items;
	size_t count = 0, i;
	int r;

	r = open_runs(engine, false, &folder, err);
	if (r == ROGER_OK && folder != RG_NO_FILE)
		r = rg_file_list_folder(folder, "subagent-delivery-watchdog", arena, &names, err);
	if (r < 0)
		return r;
	items = rg_arena_get(arena, names.count * sizeof *items);
	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < names.count && r == ROGER_OK; i++) {
		if (!is_document(names.items[i]))
			continue;
		r = add_run(folder, names.items[i], arena, &items[count], err);
		/* It may have gone meanwhile. */
		count += items[count].text.data || items[count].trouble.length;
	}
	*ret_runs = (struct rg_run_texts){ items, count };
	return r;
}

int rg_engine_run_put(struct rg_engine *engine, struct roger_str run_id, struct roger_str before,
		      struct roger_str after, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct rg_arena *arena = rg_arena_new();
	char name[RG_FILE_NAME_BYTES];
	struct roger_str there;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	rg_workspace_file_name(run_id, suffix, name);
	r = open_runs(engine, true, &folder, err);
	if (r == ROGER_OK)
		r = read_run(folder, name, arena, &there, err);
	if (r == ROGER_OK && (!there.data != !before.data || !rg_str_equal(there, before)))
		r = rg_fail(err, ROGER_ETIMEOUT, 0,
			    "the document of run '%.*s' was changed meanwhile; try again",
			    RG_STR_ARGS(run_id));
	if (r == ROGER_OK)
		r = rg_file_replace(folder, name, after, true, err);
	engine->stored += r == ROGER_OK;
	rg_arena_free(arena);
	return r;
}
