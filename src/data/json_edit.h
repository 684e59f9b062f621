/*
 * json_edit - changing one place of a JSON text that belongs to somebody else.
 *
 * Everything but that place stays byte for byte: comments, order, blanks, line
 * ends, members nobody here knows.  Texts may hold comments and commas before
 * a closing bracket, as the configuration files of editors and agents do.  An
 * edit is a replacement of bytes, so it can be shown and undone.
 */
#ifndef RG_JSON_EDIT_H
#define RG_JSON_EDIT_H

#include "base/arena.h"

/* Replace length bytes at offset by text; nothing to do where both are empty. */
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
 * Each takes the text, the names that lead to a place in it, and JSON for what
 * is to stand there, and gives the edit that brings it about, memory from
 * arena.  An empty text is an empty object.  ROGER_EDATA: the text is no JSON
 * object, or something else than an object (or array) is in the way; the
 * message names the line, or the member.
 */

/*
 * The member of that path has this value; what is missing on the way is made.  With a
 * mark, the array of that path has this element: the mark stands in the text of an
 * element of this kind and of no other, and the first one that has it is replaced.
 */
RG_CHECKED int rg_json_edit_put(struct roger_str text, const struct roger_strs *path,
				struct roger_str value, struct roger_str mark,
				struct rg_arena *arena, struct rg_json_edit *ret_edit,
				struct roger_err *err);

/*
 * The member of that path is gone; with a mark, the first element of that array
 * which has it.  Objects and arrays that become empty stay.
 */
RG_CHECKED int rg_json_edit_cut(struct roger_str text, const struct roger_strs *path,
				struct roger_str mark, struct rg_json_edit *ret_edit,
				struct roger_err *err);

/* What stands there now, a piece of the text; with a mark, the element; NULL data: nothing. */
RG_CHECKED int rg_json_edit_find(struct roger_str text, const struct roger_strs *path,
				 struct roger_str mark, struct roger_str *ret_value,
				 struct roger_err *err);

/* The text with the edit made, added to out. */
void rg_json_edit_apply(struct roger_str text, const struct rg_json_edit *edit, struct rg_buf *out);

#endif
