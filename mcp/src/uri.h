/*
 * uri - match a uri with a template.
 *
 * A template is text with {names}.  A name matches one or more characters other than '/', '?'
 * and '#'; %41 in them is decoded.  Pure rules.
 */
#ifndef RG_MCP_URI_H
#define RG_MCP_URI_H

#include "base/arena.h"

enum { RG_URI_NAMES_MAX = 8 };

struct rg_uri_names {
	size_t count;
	struct roger_str name[RG_URI_NAMES_MAX];  /* borrowed from the template */
	struct roger_str value[RG_URI_NAMES_MAX]; /* in the arena */
};

/* Is this a template, and not a single uri? */
bool rg_uri_is_template(struct roger_str uri);

/* Check a template: each brace is closed, each name is a word that comes once, and no two names
 * stand side by side. */
RG_CHECKED int rg_uri_check(struct roger_str text, struct roger_err *err);

/* Does the uri match the template?  Then names has the value of each name. */
bool rg_uri_match(struct roger_str template, struct roger_str uri, struct rg_arena *arena,
		  struct rg_uri_names *names);

#endif
