/*
 * uri - which uris a template stands for, and what its names stand for then.
 *
 * A template is text with {names}.  A name stands for one or more characters
 * that hold no '/', '?' or '#'; %41 in them is decoded.  Pure rules.
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

/* A template, and not a single uri? */
bool rg_uri_is_template(struct roger_str uri);

/* Each brace closed, each name a word that comes once, no two names side by side. */
RG_CHECKED int rg_uri_check(struct roger_str text, struct roger_err *err);

/* Is this uri one of the template's?  Then names say what stands for what. */
bool rg_uri_match(struct roger_str template, struct roger_str uri, struct rg_arena *arena,
		  struct rg_uri_names *names);

#endif
