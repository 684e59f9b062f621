/*
 * json_edit - changing one place of a JSON text that belongs to another program.
 *
 * Everything else stays byte for byte: comments, order, white space, line ends,
 * unknown members.  New items come first, and are laid out as the one behind them.  Texts may have
 * comments and trailing commas, as the configuration files of editors and agents do.  An edit
 * replaces bytes, so it can be shown and undone.
 */
#ifndef RG_JSON_EDIT_H
#define RG_JSON_EDIT_H

#include "base/arena.h"

/* An edit: replace length bytes at offset by text.  Both are empty if nothing changes. */
struct rg_json_edit {
	size_t offset;
	size_t length;
	struct roger_str text;
};

static inline bool rg_json_edit_is_none(const struct rg_json_edit *edit)
{
	return !edit->length && !edit->text.length;
}

/*
 * Each function takes the text, which ends with a NUL, and the names that lead to a place in it,
 * and gives the edit, in memory of the arena.  An empty text is an empty object.  ROGER_EDATA: the
 * text is not a JSON object, or a value on the path is not an object (or array); the message names
 * the line or the member.
 */

/*
 * Give the member at the path this value (JSON), and add what is missing of the path.
 * With a mark the path leads to an array: its first element whose text holds the mark
 * is replaced, or the value is put before the others.
 */
RG_CHECKED int rg_json_edit_put(struct roger_str text, const struct roger_strs *path,
				struct roger_str value, struct roger_str mark,
				struct rg_arena *arena, struct rg_json_edit *ret_edit,
				struct roger_err *err);

/*
 * Remove the member at the path; with a mark, the first element of that array whose
 * text holds it.  Objects and arrays that become empty stay.
 */
RG_CHECKED int rg_json_edit_cut(struct roger_str text, const struct roger_strs *path,
				struct roger_str mark, struct rg_json_edit *ret_edit,
				struct roger_err *err);

/* The value at the path, or with a mark the element, a slice of the text; NULL data: none. */
RG_CHECKED int rg_json_edit_find(struct roger_str text, const struct roger_strs *path,
				 struct roger_str mark, struct roger_str *ret_value,
				 struct roger_err *err);

/* Add the edited text to out. */
void rg_json_edit_apply(struct roger_str text, const struct rg_json_edit *edit, struct rg_buf *out);

#endif
