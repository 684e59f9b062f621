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

/* The tools, as bits in the order of rg_setup_tools. */
enum {
	RG_CLAUDE = 1 << 0,
	RG_CODEX = 1 << 1,
	RG_GEMINI = 1 << 2,
	RG_OPENCODE = 1 << 3,
	RG_COPILOT = 1 << 4,
	RG_QWEN = 1 << 5,
	RG_KILO = 1 << 6,
	RG_SETUP_TOOL_COUNT = 7,
	RG_SETUP_ANY = (1 << RG_SETUP_TOOL_COUNT) - 1,
};
#define RG_SETUP_TOOLS_OR "claude, codex, gemini, opencode, copilot, qwen or kilo"
#define rg_setup_tools                                                                             \
	(rg_hook_tool_names + 1) /* "claude"..., which are also the names of the programs */

enum {
	RG_SETUP_PATH_BYTES = 4096,
	RG_SETUP_FILE_BYTES_MAX = 32 << 20,
};

/*
 * One thing that setup puts into one file: with a path, a member of a JSON object, or all hooks of
 * the tool; with a mark, lines between two comments of roger's; else the whole file.  Names of
 * files start with the placeholder of a folder (setup_plan.c).  In values, {roger} is the program,
 * {shell} the same as a word of a shell, {tool} the tool, {as_words} and {as} the arguments that
 * name the agent, {codex} its name where it is Codex.
 */
struct rg_setup_place {
	unsigned tools;
	unsigned scopes; /* 1 << enum roger_setup_scope */
	const char *file;
	const char *value;	 /* NULL: all hooks of the tool, in arrays below path */
	const char *const *path; /* its names; {root}: the project's folder */
	const char *mark;	 /* the start of the comments */
	const char *taken;	 /* no other line of the file may start so */
};
extern const struct rg_setup_place rg_setup_places[]; /* ends with one without a file */

/* Settings of roger: the command that `roger wake` runs to wake Codex. */
extern const char rg_setup_codex_wake[];

#define RG_SETUP_SERVER_ARGS "\"mcp\", \"--for\", \"{tool}\"{as_words}"

/* A command that a tool runs at an event: `roger hook TOOL COMMAND`. */
struct rg_setup_hook {
	unsigned tool;
	const char *event; /* the tool's word for it */
	const char *command;
	const char *more; /* further members, with a comma before them */
	bool matched;	  /* its entry needs a matcher, which is: all tools */
};
extern const struct rg_setup_hook rg_setup_hooks[]; /* ends with one without an event */

/* Begins a hook that comes with a repository: it is silent where roger is not installed. */
#define RG_SETUP_GUARD "command -v roger >/dev/null || exit 0; exec "

/* Settings that are printed for a person to paste, since setup cannot write them. */
struct rg_setup_print {
	const char *name, *tool;
	const char *text; /* with placeholders */
};
extern const struct rg_setup_print rg_setup_prints[]; /* ends with one without a name */

/* A file as it is, and as it will be. */
struct rg_setup_target {
	struct rg_setup_changed changed; /* its edits grow, or shrink, with the text */
	size_t recorded;		 /* how many edits it began with */
	bool there;
	bool checked; /* it may be changed */
	bool settled; /* nothing more is done to it: it is left as it is, or all is undone */
	struct roger_str before, text;
	struct roger_str trouble; /* why something was left as it is */
};

struct rg_setup_plan {
	struct rg_arena *arena;
	const struct roger_setup_request *request;
	unsigned tools;
	char root[RG_SETUP_PATH_BYTES]; /* the project's folder, or the git worktree of it */
	char home[RG_SETUP_PATH_BYTES]; /* the workspace's; it has one record for all worktrees */
	char record_path[RG_SETUP_PATH_BYTES];
	int64_t record_folders;		   /* how many folders were made for the record */
	char program[RG_SETUP_PATH_BYTES]; /* roger, as settings are to name it */
	bool others_stay;		   /* other tools are set up, and are not to be removed */
	struct rg_setup_target *targets;
	size_t target_count;
};

/* One thing in one file: what a place of the table says, or one of its hooks. */
struct rg_setup_piece {
	const struct rg_setup_place *place;
	const struct rg_setup_hook *hook; /* NULL: the place is none of hooks */
	const char *tool;		  /* "": several tools share it */
	struct rg_setup_target *target;
};

/* ------------------------------------------------------------------- plan -- */

/*
 * Begin with a place of the table: find its tool, and its file of the user or else the project,
 * which is read at the first call.  *ret_piece has no target: there is no such file.
 */
RG_CHECKED int rg_setup_piece_find(struct rg_setup_plan *plan, const struct rg_setup_place *place,
				   bool user, struct rg_setup_piece *ret_piece,
				   struct roger_err *err);

/* Put in, or cut out, everything that the table names. */
RG_CHECKED int rg_setup_plan_places(struct rg_setup_plan *plan, struct roger_err *err);

/* ------------------------------------------------------------------- edit -- */

/* Replace the placeholders in a template. */
RG_CHECKED int rg_setup_fill_in(struct rg_setup_plan *plan, const char *tool, const char *template,
				struct roger_str *ret_text, struct roger_err *err);

/* What a piece is now: a member, a list with its hook, lines, or a file. */
struct rg_setup_there {
	struct roger_str text;	  /* NULL data: it is not there */
	struct rg_json_spot spot; /* for a member or hook; it borrows the next two */
	struct roger_strs path;
	struct roger_str names[5];
};
RG_CHECKED int rg_setup_look(const struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
			     struct rg_setup_there *ret_there, struct roger_err *err);

/* The edit that puts a piece into the text of its file, or cuts it out, as the request says. */
RG_CHECKED int rg_setup_edit_make(struct rg_setup_plan *plan, const struct rg_setup_piece *piece,
				  struct rg_json_edit *ret_edit, struct roger_err *err);

/* ----------------------------------------------------------------- record -- */

/* Find the path of the record; needs to be called before its folders are made. */
RG_CHECKED int rg_setup_record_path(struct rg_setup_plan *plan, struct roger_err *err);

/*
 * Read the record: its edits become the first edits of the targets or, when removing, are
 * undone from the last one back.
 */
RG_CHECKED int rg_setup_record_plan(struct rg_setup_plan *plan, struct roger_err *err);

/* Write the edits of all targets; without any, remove the record. */
RG_CHECKED int rg_setup_record_write(const struct rg_setup_plan *plan, struct roger_err *err);

/*
 * Try what is set up in the project and for the user, as the tools would: start
 * the servers and ask for their tools, run the hooks as an agent without mail.
 */
RG_CHECKED int rg_setup_try(const char *root, struct rg_arena *arena,
			    struct roger_link_list *ret_links, struct roger_err *err);

#endif
