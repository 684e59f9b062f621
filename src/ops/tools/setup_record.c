/*
 * setup: the record of all edits, file by file and in their order, by which they are
 * undone byte for byte.
 */
#include <stdio.h>

#include "ops/tools/setup.h"
#include "host/outside.h"
#include "host/session.h"

/* ---------------------------------------------------------------- undoing -- */

/* The bit of a tool; 0: an edit that all tools share. */
static unsigned bit_of(struct roger_str tool)
{
	int i = rg_enum_find(rg_setup_tools, tool);

	return i >= 0 ? 1u << i : 0;
}

static bool is_chosen(const struct rg_setup_plan *plan, const struct rg_setup_edit *edit)
{
	/* An edit that all tools share is removed with the last of them. */
	return bit_of(edit->tool) ? plan->tools & bit_of(edit->tool) : !plan->others_stay;
}

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

/* Undo the edits of a file, the last one first; those of other tools stay. */
static int undo_edits(struct rg_setup_plan *plan, struct rg_setup_target *target,
		      struct roger_err *err)
{
	const struct rg_setup_edit_list made = target->changed.edits;
	struct rg_setup_edit_list kept = { 0 };
	const struct rg_setup_edit *one;
	struct rg_json_edit edit;
	size_t i, offset = 0;
	int r = ROGER_OK;

	target->settled = made.count > 0;
	for (i = made.count; i-- > 0 && r == ROGER_OK;) {
		one = &made.items[i];
		if (!is_chosen(plan, one))
			continue;
		if (!find_edit(target->text, one, &offset)) {
			target->settled = false;
			continue;
		}
		edit = (struct rg_json_edit){ offset, one->after.length, one->before };
		r = rg_setup_target_apply(plan, target, &edit, err);
	}
	for (i = 0; i < made.count && r == ROGER_OK; i++)
		if (!is_chosen(plan, &made.items[i]))
			r = rg_kept(rg_arena_append(plan->arena, &kept.items, &kept.count,
						    &made.items[i], sizeof *made.items),
				    err);
	target->changed.edits = kept;
	return r;
}

/* ---------------------------------------------------------------- reading -- */

int rg_setup_record_path(struct rg_setup_plan *plan, struct roger_err *err)
{
	char folder[RG_SETUP_PATH_BYTES], sha256[65];
	int r;

	/* It is not in the workspace: a record from a repository must not name a user's files. */
	r = rg_session_folder(false, folder, err);
	if (r < 0)
		return r;
	rg_sha256_hex(rg_str(plan->home), sha256);
	if (plan->request->scope == ROGER_SETUP_USER)
		snprintf(plan->record_path, RG_SETUP_PATH_BYTES, "%.4000s/setup.json", folder);
	else
		snprintf(plan->record_path, RG_SETUP_PATH_BYTES, "%.4000s/setup/%.32s.json", folder,
			 sha256);
	plan->record_folders = rg_setup_missing_folders(plan->record_path);
	return ROGER_OK;
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

int rg_setup_record_plan(struct rg_setup_plan *plan, struct roger_err *err)
{
	struct rg_setup_target *target;
	char path[RG_SETUP_PATH_BYTES];
	struct rg_setup_record record;
	struct roger_str file;
	unsigned recorded = 0;
	size_t i, k;
	int r;

	r = read_record(plan, &record, err);
	if (r < 0)
		return r;
	for (i = 0; i < record.files.count; i++)
		for (k = 0; k < record.files.items[i].edits.count; k++)
			recorded |= bit_of(record.files.items[i].edits.items[k].tool);
	/* Without a record, the others are all that were not chosen. */
	plan->others_stay = (record.files.count ? recorded : RG_SETUP_ANY) & ~plan->tools;
	for (i = 0; i < record.files.count && r == ROGER_OK; i++) {
		snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(record.files.items[i].file));
		r = rg_setup_target_find(plan, path, &target, err);
		if (r < 0)
			return r;
		file = target->changed.file;
		target->changed = record.files.items[i];
		target->changed.file = file;
		/* If nothing is undone, or the file cannot be read, later edits follow these. */
		target->recorded = target->changed.edits.count;
		if (plan->request->remove && !target->trouble.length)
			r = undo_edits(plan, target, err);
	}
	return r;
}

/* ---------------------------------------------------------------- writing -- */

int rg_setup_record_write(const struct rg_setup_plan *plan, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf pretty = { .maximum = SIZE_MAX };
	struct rg_setup_record record = { .version = 1, .folders = plan->record_folders };
	const struct rg_setup_changed *changed;
	size_t i;

	for (i = 0; i < plan->target_count; i++) {
		changed = &plan->targets[i].changed;
		if (changed->edits.count &&
		    !rg_arena_append(plan->arena, &record.files.items, &record.files.count, changed,
				     sizeof *changed))
			return rg_fail_memory(err);
	}
	if (!record.files.count)
		return rg_outside_remove(plan->record_path, plan->record_folders, err);
	rg_record_encode(&rg_setup_record_record, &record, &text);
	rg_json_add_pretty(&pretty, rg_buf_str(&text));
	return text.failed || pretty.failed
		       ? rg_fail_memory(err)
		       : rg_outside_put(plan->record_path, NULL, rg_buf_str(&pretty), err);
}
