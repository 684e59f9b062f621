/*
 * setup: the record of all edits, file by file and in their order, by which they are
 * undone byte for byte.
 */
#include <stdio.h>

#include "ops/tools/setup.h"
#include "host/outside.h"

/* ---------------------------------------------------------------- undoing -- */

/*
 * Find where the text of an edit is now: the place nearest to its offset, as the file may
 * have changed since.  Text that roger added twice is also removed twice, so the order
 * does not matter.
 */
static bool find_edit(struct roger_str text, const struct rg_setup_edit *edit, size_t *ret_offset)
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

static bool is_chosen(const struct rg_setup_plan *plan, struct roger_str tool)
{
	int i = rg_enum_find(rg_setup_tools, tool);

	/* An edit that all tools share is removed with the last of them. */
	return i >= 0 ? plan->tools & 1u << i : !plan->others_stay;
}

/* Undo the edits of a file, the last one first; those of other tools stay. */
static int undo_edits(struct rg_setup_plan *plan, struct rg_setup_target *target,
		      const struct rg_setup_edit_list *made, struct roger_err *err)
{
	struct rg_setup_edit *kept = rg_arena_get(plan->arena, (made->count + 1) * sizeof *kept);
	size_t i, offset = 0, count = 0;
	struct rg_json_edit edit;
	int r = rg_kept(kept, err);

	target->undone = made->count > 0;
	for (i = made->count; i-- > 0 && r == ROGER_OK;) {
		const struct rg_setup_edit *one = &made->items[i];

		if (!is_chosen(plan, one->tool))
			continue;
		if (!find_edit(target->text, one, &offset)) {
			target->undone = false;
			continue;
		}
		edit = (struct rg_json_edit){ offset, one->after.length, one->before };
		r = rg_setup_target_apply(plan, target, &edit, "", err);
	}
	for (i = 0; i < made->count && r == ROGER_OK; i++)
		if (!is_chosen(plan, made->items[i].tool))
			kept[count++] = made->items[i];
	target->changed.edits = (struct rg_setup_edit_list){ kept, count };
	return r;
}

/* ---------------------------------------------------------------- reading -- */

int rg_setup_record_path(struct rg_setup_plan *plan, struct roger_err *err)
{
	char sha256[65] = "", name[96];
	int r;

	if (plan->request->scope != ROGER_SETUP_USER)
		rg_sha256_hex(rg_str(plan->home), sha256);
	/* It is not in the workspace: a record from a repository must not name a user's files. */
	snprintf(name, sizeof name, "{state}/roger/setup%s%.32s.json", sha256[0] ? "/" : "",
		 sha256);
	r = rg_setup_expand(plan->root, name, plan->record_path, err);
	if (r == ROGER_OK)
		plan->record_folders = rg_setup_missing_folders(plan->record_path);
	return r;
}

static int read_record(struct rg_setup_plan *plan, struct rg_setup_record *ret_record,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	bool found;
	int r;

	*ret_record = (struct rg_setup_record){ .version = 1 };
	r = rg_outside_read(plan->record_path, RG_SETUP_FILE_BYTES_MAX, &text, &found, err);
	if (r < 0 || !found)
		return r;
	r = rg_record_read(&rg_setup_record_record, rg_buf_str(&text), ret_record, plan->arena,
			   err);
	if (r == ROGER_EDATA)
		return rg_fail(err, ROGER_EDATA, 0,
			       "'%s' is not a record of setup; move it away and try again",
			       plan->record_path);
	if (r == ROGER_OK)
		plan->record_folders = ret_record->folders;
	return r;
}

/* True if the record has a tool that was not chosen; without a record, if not all were chosen. */
static bool do_others_stay(const struct rg_setup_plan *plan, const struct rg_setup_record *record)
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

int rg_setup_record_plan(struct rg_setup_plan *plan, struct roger_err *err)
{
	struct rg_setup_target *target;
	char path[RG_SETUP_PATH_BYTES];
	struct rg_setup_record record;
	size_t i;
	int r;

	r = read_record(plan, &record, err);
	if (r < 0)
		return r;
	plan->others_stay = do_others_stay(plan, &record);
	for (i = 0; i < record.files.count && r == ROGER_OK; i++) {
		const struct rg_setup_changed *changed = &record.files.items[i];

		snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(changed->file));
		r = rg_setup_target_find(plan, path, &target, err);
		if (r < 0)
			return r;
		/* If nothing is undone, or the file cannot be read, later edits follow these. */
		target->changed = (struct rg_setup_changed){ target->changed.file, changed->made,
							     changed->folders, changed->edits };
		if (plan->request->remove && !target->unusable)
			r = undo_edits(plan, target, &changed->edits, err);
	}
	return r;
}

/* ---------------------------------------------------------------- writing -- */

int rg_setup_record_write(const struct rg_setup_plan *plan, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf pretty = { .maximum = SIZE_MAX };
	struct rg_setup_record record = { .version = 1, .folders = plan->record_folders };
	struct rg_setup_changed *items =
		rg_arena_get(plan->arena, (plan->target_count + 1) * sizeof *items);
	size_t i;

	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < plan->target_count; i++)
		if (plan->targets[i].changed.edits.count)
			items[record.files.count++] = plan->targets[i].changed;
	if (!record.files.count)
		return rg_outside_remove(plan->record_path, plan->record_folders, err);
	record.files.items = items;
	rg_record_encode(&rg_setup_record_record, &record, &text);
	rg_json_add_pretty(&pretty, rg_buf_str(&text));
	return text.failed || pretty.failed
		       ? rg_fail_memory(err)
		       : rg_outside_put(plan->record_path, NULL, rg_buf_str(&pretty), err);
}
