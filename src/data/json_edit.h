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

/* The item at the end of a path, in the deepest object or array that exists along it. */
struct rg_json_spot {
	struct roger_str text;
	const struct roger_strs *path;
	bool array;  /* the path leads to an array, and the item is one of its elements */
	size_t step; /* how many names of the path lead to the object or array */
	const char *open, *close; /* its brackets; NULL: the text is empty */
	const char *first;	  /* its first item; NULL: it is empty */
	const char *key;	  /* the item: its name, or in an array its value; NULL: none */
	struct roger_str value;	  /* of the item; NULL data: none */
	const char *before;	  /* behind the item before it; NULL: it is the first */
	const char *after;	  /* the item after it; NULL: it is the last */
};

/*
 * Find the member at a path of names; with a mark, the first element of the array there whose text
 * holds the mark.  The text ends with a NUL; an empty one is an empty object.  ROGER_EDATA: it is
 * not a JSON object, or a value on the path is not an object (or array), or a name comes twice; the
 * message names the line or the member.  The spot borrows the text and the path.
 */
RG_CHECKED int rg_json_spot_find(struct roger_str text, const struct roger_strs *path,
				 struct roger_str mark, struct rg_json_spot *ret_spot,
				 struct roger_err *err);

/*
 * The edit, in memory of the arena, that gives the item this value (JSON), and adds what is missing
 * of the path; a new element is put before the others.
 */
RG_CHECKED int rg_json_spot_put(const struct rg_json_spot *spot, struct roger_str value,
				struct rg_arena *arena, struct rg_json_edit *ret_edit,
				struct roger_err *err);

/* The edit that removes the item.  Objects and arrays that become empty stay. */
struct rg_json_edit rg_json_spot_cut(const struct rg_json_spot *spot);

/* Add the edited text to out. */
void rg_json_edit_apply(struct roger_str text, const struct rg_json_edit *edit, struct rg_buf *out);

#endif
