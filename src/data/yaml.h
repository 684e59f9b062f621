/*
 * yaml - reading YAML strictly.  The only user of libyaml, which plain lines do without.
 *
 * One document of mappings, lists and scalars, kept as a tree in an arena.  What
 * lets one part of a file change another, or a few bytes expand into many, is
 * refused: anchors, aliases, tags, a second document, a key that
 * comes twice or is no text, more than RG_YAML_DEPTH_MAX levels, more than
 * RG_YAML_NODES_MAX values.  Which scalar is a number is the caller's business.
 */
#ifndef RG_YAML_H
#define RG_YAML_H

#include "base/arena.h"

enum rg_yaml_kind {
	RG_YAML_SCALAR,
	RG_YAML_LIST,
	RG_YAML_MAPPING,
};

struct rg_yaml {
	enum rg_yaml_kind kind;
	size_t line;		     /* of the key, or of an item of a list; from 1 */
	struct roger_str key;	     /* in a mapping; printable */
	struct roger_str value;	     /* of a scalar; UTF-8 without NUL */
	bool quoted;		     /* the scalar is text, whatever it looks like */
	const struct rg_yaml *first; /* of a list or a mapping, in the order of the text */
	const struct rg_yaml *next;  /* in the list or mapping this one is in */
};

/*
 * The tree of a text (UTF-8, or UTF-16 with its mark); *ret_root is NULL when
 * there is nothing in it.  ROGER_EDATA: "FILE:LINE: what is wrong", which names
 * keys and never a value; file is the name to use there.
 */
RG_CHECKED int rg_yaml_read(struct roger_str text, const char *file, struct rg_arena *arena,
			    const struct rg_yaml **ret_root, struct roger_err *err);

/* Is there nothing, or "~" or "null" without quotes? */
bool rg_yaml_is_null(const struct rg_yaml *node);

#endif
