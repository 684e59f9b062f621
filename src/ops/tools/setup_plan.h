/*
 * setup_plan - the files that setup changes, as they stand and as they are to
 * be, before anything is written.
 *
 *     the record of what was done -+
 *                                  +-> targets -> shown, then written
 *     the table of places ---------+
 *
 * A target's text changes by edits of bytes only, and each is remembered with
 * it, so the last one can always be taken back.
 */
#ifndef RG_SETUP_PLAN_H
#define RG_SETUP_PLAN_H

#include "data/json_edit.h"
#include "ops/tools/setup.h"

/* An edit that was made: length bytes of after stand at offset in place of before. */
struct rg_setup_edit {
	struct roger_str tool;
	int64_t offset;
	struct roger_str before, after;
};
struct rg_setup_edits {
	const struct rg_setup_edit *items;
	size_t count;
};

/* A file that was changed. */
struct rg_setup_changed {
	struct roger_str file;
	bool made;	 /* there was none before */
	int64_t folders; /* nor so many of the folders it is in */
	struct rg_setup_edits edits;
};

/* A file as it stands, and as it is to be. */
struct rg_setup_target {
	struct rg_setup_changed changed; /* its edits grow, or shrink, with the text */
	bool there;
	struct roger_str before, text;
	struct roger_str trouble; /* why something was left as it is */
	bool unusable;		  /* it cannot be read: nothing is done to it */
	bool undone;		  /* the record told of it, and all that it told was found */
};

/* What stands for names in templates. */
enum {
	RG_SETUP_FILL_ROGER,
	RG_SETUP_FILL_SHELL,
	RG_SETUP_FILL_AS_WORDS,
	RG_SETUP_FILL_AS,
	RG_SETUP_FILL_CODEX,
	RG_SETUP_FILL_COUNT
};

struct rg_setup_plan {
	struct rg_arena *arena;
	const struct roger_setup_request *request;
	unsigned tools;
	char root[RG_SETUP_PATH_BYTES];
	char record_path[RG_SETUP_PATH_BYTES];
	int64_t record_folders; /* so many of the folders it is in were made for it */
	struct roger_str fillings[RG_SETUP_FILL_COUNT];
	bool others_stay; /* tools that are set up, and not to be removed */
	struct rg_setup_target *targets;
	size_t target_count;
};

/* "{home}/x" and the like as a path. */
RG_CHECKED int rg_setup_expand(const struct rg_setup_plan *plan, const char *name, size_t length,
			       char to[RG_SETUP_PATH_BYTES], struct roger_err *err);

/* The target of that path, read when it is asked for first; one that cannot be is left. */
RG_CHECKED int rg_setup_target_find(struct rg_setup_plan *plan, const char *path,
				    struct rg_setup_target **ret_target, struct roger_err *err);

/* Make an edit, for a tool, and remember it. */
RG_CHECKED int rg_setup_target_apply(struct rg_setup_plan *plan, struct rg_setup_target *target,
				     const struct rg_json_edit *edit, const char *tool,
				     struct roger_err *err);

/* Trouble with one file is told, and holds up no other. */
RG_CHECKED int rg_setup_target_leave(struct rg_setup_plan *plan, struct rg_setup_target *target,
				     const char *why, struct roger_err *err);

/* How many of the folders that a path lies in are missing. */
int64_t rg_setup_missing_folders(const char *path);

bool rg_setup_target_changes(const struct rg_setup_target *target);

/* Put in, or cut out, everything that the table names. */
RG_CHECKED int rg_setup_plan_places(struct rg_setup_plan *plan, struct roger_err *err);

/* setup_place.c: what the fillings are, and one place of the table in the text of its file. */
RG_CHECKED int rg_setup_fillings_find(struct rg_setup_plan *plan, struct roger_err *err);
RG_CHECKED int rg_setup_place_put(struct rg_setup_plan *plan, const struct rg_setup_place *place,
				  struct rg_setup_target *target, const char *tool,
				  struct roger_err *err);
RG_CHECKED int rg_setup_place_cut(struct rg_setup_plan *plan, const struct rg_setup_place *place,
				  struct rg_setup_target *target, struct roger_err *err);

/* setup_record.c: where the record is, or is to be, before anything is made for it. */
RG_CHECKED int rg_setup_record_path(struct rg_setup_plan *plan, struct roger_err *err);

/*
 * Behind that: what was done before is the start of what is done now, or, to
 * be removed, undone from the last edit back.
 */
RG_CHECKED int rg_setup_record_plan(struct rg_setup_plan *plan, struct roger_err *err);

/* Everything that the targets remember; nothing: the record goes. */
RG_CHECKED int rg_setup_record_write(const struct rg_setup_plan *plan, struct roger_err *err);

#endif
