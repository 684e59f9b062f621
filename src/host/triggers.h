/*
 * triggers - the folder of drop boxes for agents that only use files.
 *
 * <role>.txt, all.txt, <group>.txt: files that were not taken yet.  Taking is a rename into
 * .taken/, under a name that says which file it was:
 *
 *     <ms>-<16 hexadecimal digits>-<offset>.<name of the file>
 *
 * The first two are made when it is taken and identify its text from then on; later
 * names sort later.  The text before the offset is done.  .skipped/ keeps text that is
 * stale under that name, or refused behind RG_TRIGGER_REFUSED; .handing/ notes what is handed out.
 */
#ifndef RG_TRIGGERS_H
#define RG_TRIGGERS_H

#include "base/id.h"
#include "host/workspace.h"

enum { RG_TRIGGER_NAME_BYTES = 256 };
#define RG_TRIGGER_REFUSED "refused-"

struct rg_triggers {
	int folder;
	int taken;
	int skipped;
	int handing;
	int64_t last_ms; /* the highest time in a name */
};

/* A file that was taken. */
struct rg_taken {
	char name[RG_TRIGGER_NAME_BYTES];
	int64_t ms;	       /* when it was taken; for the order */
	struct roger_str id;   /* the part of name up to the offset */
	struct roger_str file; /* the part of name that it had before */
	int64_t offset;
};

struct rg_taken_list {
	struct rg_taken *items;
	size_t count;
	struct roger_str odd; /* name of a waiting one that is not a regular file, or "" */
};

/* Open the folders; made where missing. */
RG_CHECKED int rg_triggers_open(const struct rg_workspace *workspace,
				struct rg_triggers *ret_triggers, struct roger_err *err);
void rg_triggers_close(struct rg_triggers *triggers);

/* May a drop box have this name: does it end in .txt, and is not hidden? */
bool rg_trigger_is_name(struct roger_str name);

/* The name without .txt. */
struct roger_str rg_trigger_stem(struct roger_str name);

/* Were the folders taken away, or others put in their place? */
bool rg_triggers_lost(const struct rg_workspace *workspace, const struct rg_triggers *triggers);

/* The names of all drop boxes that exist, the oldest first. */
RG_CHECKED int rg_triggers_list(const struct rg_triggers *triggers, struct rg_arena *arena,
				struct roger_strs *ret_names, struct roger_err *err);

/*
 * Turn the code of an error with one file into ROGER_EREFUSED if only its permissions
 * were in the way, so that the caller continues with the other files.
 */
int rg_triggers_refused(int r, struct roger_err *err);

/*
 * Take a file; *ret_taken false: it is gone, or empty.  ROGER_EREFUSED: it is
 * not a regular file, or its name is too long.  Nothing in it may be stored before
 * rg_triggers_settle().
 */
RG_CHECKED int rg_triggers_take(struct rg_triggers *triggers, struct roger_str name,
				struct rg_id_source *ids, bool *ret_taken, struct roger_err *err);

/* Make what was taken durable. */
RG_CHECKED int rg_triggers_settle(const struct rg_triggers *triggers, struct roger_err *err);

/* List the taken files that are not done, the oldest first. */
RG_CHECKED int rg_triggers_taken(struct rg_triggers *triggers, struct rg_arena *arena,
				 struct rg_taken_list *ret_list, struct roger_err *err);

/*
 * Open a taken file if it can be read now: nobody has it open for writing
 * (*ret_final), or its writer has paused.  *ret_file RG_NO_FILE: not yet.
 */
RG_CHECKED int rg_triggers_open_taken(const struct rg_triggers *triggers,
				      const struct rg_taken *taken, int *ret_file, bool *ret_final,
				      struct roger_err *err);

/* Record durably that its text is done up to an offset, not below its present one; taken gets its
 * new name. */
RG_CHECKED int rg_triggers_advance(const struct rg_triggers *triggers, struct rg_taken *taken,
				   int64_t offset, struct roger_err *err);

/* Give a file whose text was replaced a new id, as if it was taken now, durably. */
RG_CHECKED int rg_triggers_restart(struct rg_triggers *triggers, struct rg_taken *taken,
				   struct rg_id_source *ids, struct roger_err *err);

/* Remove a taken file that is done. */
RG_CHECKED int rg_triggers_drop(const struct rg_triggers *triggers, const struct rg_taken *taken,
				struct roger_err *err);

/* Keep the text of a taken file that was not taken in, durably; "": remove what was kept. */
RG_CHECKED int rg_triggers_keep(const struct rg_triggers *triggers, const struct rg_taken *taken,
				struct roger_str text, struct roger_err *err);

/* Names of files in .skipped/, in no order; where there are no such folders, none is made. */
RG_CHECKED int rg_triggers_skipped(const struct rg_workspace *workspace, struct rg_arena *arena,
				   struct roger_strs *ret_names, struct roger_err *err);

/* List files that nobody has taken in yet, in no order: the name of each, and in ms when it was
 * written; and one that cannot be taken in (odd). */
RG_CHECKED int rg_triggers_waiting(const struct rg_workspace *workspace, struct rg_arena *arena,
				   struct rg_taken_list *ret_list, struct roger_err *err);

/* Move the whole file to .skipped/, unread. */
RG_CHECKED int rg_triggers_put_aside(const struct rg_triggers *triggers,
				     const struct rg_taken *taken, struct roger_err *err);

#endif
