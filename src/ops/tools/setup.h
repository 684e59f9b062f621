/*
 * setup - what roger puts into the settings of agents' tools, so that they start its
 * server, run its hooks and inform their model.
 *
 * The table says what goes where; a plan holds the files as they are and as they
 * are to be, before anything is written.  What was written is remembered in a
 * record, as edits of bytes, so that removing it restores every file exactly.
 *
 *     the record of what was done -+
 *                                  +-> targets -> shown, then written
 *     the table of places ---------+
 */
#ifndef RG_SETUP_H
#define RG_SETUP_H

#include "data/json_edit.h"
#include "ops/op.h"

enum {
	RG_SETUP_TOOLS_END = CLI_HOOK_KILO + 1, /* of enum rg_hook_tool those before it */
	RG_SETUP_PATH_BYTES = 4096,
	RG_SETUP_FILE_BYTES_MAX = 32 << 20,
};

/* Where a tool's settings are: .codex in a project, and for a user $CODEX_HOME or ~/.codex. */
struct rg_setup_folder {
	const char *here;     /* below the project; NULL: it is the user's there, too */
	const char *variable; /* NULL: none */
	const char *below;    /* added to the variable's value */
	const char *home;     /* below HOME, if the variable is not set */
	bool shared;	      /* of the workspace, so of all its worktrees */
};

/*
 * One thing that setup puts into one file: with a path, a member of a JSON object, or with a mark,
 * too, a hook in an array; with a mark alone, lines between two comments of roger's; else the whole
 * file.  A hook is a command that a tool runs at an event: `roger hook TOOL COMMAND`.  In values,
 * {roger} is the program, {tool} the tool, {run} the shell's words for both, {command} those of the
 * hook, {as_words} and {as} the arguments that name the agent, {codex} its name where it is Codex.
 */
struct rg_setup_place {
	int tool;			      /* 0: several tools share it */
	unsigned scopes;		      /* 1 << enum roger_setup_scope */
	const struct rg_setup_folder *folder; /* NULL: git's, which may be another worktree's */
	const char *file;
	const char *value;
	const char *const *path; /* its names; {root}: the project's folder */
	const char *mark;	 /* the start of the comments, or the command of a hook */
	const char *taken;	 /* no other line of the file may start so */
	int but;		 /* the tool that does not share it */
};
extern const struct rg_setup_place rg_setup_places[]; /* ends with one without a file */

/* The setting of roger with the command by which `roger wake` wakes Codex. */
extern const char rg_setup_codex_wake[];

/* Settings for a person to paste, with placeholders, by tool; 0: any tool's list of servers. */
extern const char *const rg_setup_prints[CLI_HOOK_CURSOR + 1];

/* A file as it is, and as it will be. */
struct rg_setup_target {
	struct rg_setup_changed changed; /* its edits grow, or shrink, with the text */
	size_t recorded;		 /* how many edits it began with */
	bool there;
	bool checked; /* it may be changed; or it was read to be tried */
	bool settled; /* nothing more is done to it: it is left as it is, or all is undone */
	struct roger_str before, text;
	struct roger_str trouble; /* why something was left as it is */
};

struct rg_setup_plan {
	struct rg_arena *arena;
	const struct roger_setup_request *request;
	/* 1 << each tool that was chosen; 1 << 0: what they share is removed. */
	unsigned tools;
	char root[RG_SETUP_PATH_BYTES]; /* the project's folder, or the git worktree of it */
	char home[RG_SETUP_PATH_BYTES]; /* the workspace's; it has one record for all worktrees */
	const char *record_path;
	int64_t record_folders;		   /* how many folders were made for the record */
	char program[RG_SETUP_PATH_BYTES]; /* roger, as settings are to name it */
	struct rg_setup_target *targets;
	size_t target_count;
};

/* A place of the table, and its file. */
struct rg_setup_piece {
	const struct rg_setup_place *place;
	const char *tool; /* "": several tools share it */
	struct rg_setup_target *target;
};

/* Make the recorded edits the first ones of the targets; or, when removing, undo them. */
RG_CHECKED int rg_setup_record_open(struct rg_setup_plan *plan, int *ret_lock,
				    struct roger_err *err);

/* Write the edits of all targets; without any, remove the record. */
RG_CHECKED int rg_setup_record_write(const struct rg_setup_plan *plan, struct roger_err *err);

/*
 * Begin with a place of the table: find its tool, and its file of the user or else the project,
 * which is read at the first call.  *ret_piece has no target: there is no such file.
 */
RG_CHECKED int rg_setup_piece_find(struct rg_setup_plan *plan, const struct rg_setup_place *place,
				   bool user, struct rg_setup_piece *ret_piece,
				   struct roger_err *err);

/* Replace the placeholders in a template; command: of the hook that it is of, or NULL. */
struct roger_str rg_setup_fill_in(const struct rg_setup_plan *plan, const char *tool,
				  const char *command, const char *template);

/* The edit that puts a piece into the text of its file, or cuts it out, as the request says. */
RG_CHECKED int rg_setup_edit_make(const struct rg_setup_plan *plan,
				  const struct rg_setup_piece *piece, struct rg_json_edit *ret_edit,
				  struct roger_err *err);

/*
 * Try what is set up in the project and for the user, as the tools would: start
 * the servers and ask for their tools, run the hooks as an agent without mail.
 */
RG_CHECKED int rg_setup_try(const char *root, struct rg_arena *arena,
			    struct roger_link_list *ret_links, struct roger_err *err);

#endif
