/*
 * setup - what roger puts into the settings of agents' tools, so that they
 * start its server, run its hooks and tell their model of it.
 *
 * The table says what goes where; a plan (setup_plan.h) brings it about and takes
 * it out again.  What was written is remembered in a record, as edits of bytes,
 * so that taking it out gives back every byte.
 */
#ifndef RG_SETUP_H
#define RG_SETUP_H

#include "ops/op.h"

/* The tools, as bits in the order of rg_setup_tools. */
enum { RG_CLAUDE = 1 << 0, RG_CODEX = 1 << 1, RG_GEMINI = 1 << 2, RG_OPENCODE = 1 << 3 };
enum { RG_SETUP_TOOL_COUNT = 4, RG_SETUP_ANY = (1 << RG_SETUP_TOOL_COUNT) - 1 };
extern const char *const rg_setup_tools[]; /* "claude"...: their programs' names, too */

enum rg_setup_kind {
	RG_SETUP_MEMBER, /* of a JSON object: path leads to it */
	RG_SETUP_HOOKS,	 /* all hooks of the tool: in arrays, below path */
	RG_SETUP_BLOCK,	 /* lines between two comments that tell ours */
	RG_SETUP_FILE,	 /* the whole file */
};

/*
 * One thing that is to stand in one file.  Names of files start with {root},
 * {git}, {home}, {claude}, {codex}, {gemini} or {config}; of several, with '|'
 * between them, the first that is there, or else the first, is meant.  In values,
 * {roger} is the program, {as_words} what says who the agent is, {codex} its
 * name where it is Codex.
 */
struct rg_setup_place {
	unsigned tools;
	unsigned scopes; /* 1 << enum roger_setup_scope */
	enum rg_setup_kind kind;
	const char *file;
	/* Names with a newline between them; {root}: the project's folder.  Of a block: what may
	 * start no other line of the file. */
	const char *path;
	const char *value;
	const char *mark; /* of a block: how its comments start */
};
extern const struct rg_setup_place rg_setup_places[]; /* ends with one without a file */

/* A command that a tool runs at an event: `roger hook COMMAND`. */
struct rg_setup_hook {
	unsigned tool;
	const char *event; /* the tool's word for it */
	const char *command;
	const char *more; /* further members, with a comma before them */
	bool matched;	  /* its list wants to know for which tools: all */
};
extern const struct rg_setup_hook rg_setup_hooks[]; /* ends with one without an event */

/* Is it the command that the table has for waking Codex? */
bool rg_setup_is_wake(struct roger_strs words);

/* The file of a place, or "" where there is none for it; root: the project's folder. */
enum { RG_SETUP_PATH_BYTES = 4096, RG_SETUP_FILE_BYTES_MAX = 32 << 20 };
RG_CHECKED int rg_setup_file(const struct rg_setup_place *place, const char *root,
			     char to[RG_SETUP_PATH_BYTES], struct roger_err *err);

/* The path of a place, and last, unless it is NULL, as names; root: the project's folder. */
enum { RG_SETUP_NAMES_MAX = 8 };
struct roger_strs rg_setup_names(const struct rg_setup_place *place, const char *root,
				 const char *last, struct roger_str names[RG_SETUP_NAMES_MAX]);

/* A word as a shell reads it. */
void rg_setup_shell_word(struct rg_buf *out, struct roger_str word);

/* Where our lines stand in a text, with the comments around them; false: nowhere. */
bool rg_setup_find_block(struct roger_str text, const char *lead, size_t *ret_offset,
			 size_t *ret_length);

/*
 * Try what is set up in the project and for the user, as the tools would: start
 * the servers and ask for their tools, run the hooks as an agent without mail.
 */
RG_CHECKED int rg_setup_try(const char *root, struct rg_arena *arena, struct roger_links *ret_links,
			    struct roger_err *err);

/* In front of a hook that others get with their repository: silent where roger is not there. */
#define RG_SETUP_GUARD "command -v roger >/dev/null || exit 0; exec "

/*
 * How our element of a hook's list is told from others: "roger hook claude
 * stop", or with a quote behind roger where its path needs one.  The form that
 * stands in the text, or else the first.
 */
enum { RG_SETUP_MARK_BYTES = 64 };
void rg_setup_mark(struct roger_str text, const struct roger_strs *path,
		   const struct rg_setup_hook *hook, char mark[RG_SETUP_MARK_BYTES]);

#endif
