/*
 * command - a verb on the command line: how words become its request, and its reply
 * becomes output.
 *
 * Options, help and completion come from the verb's fields; a command adds only what
 * the command line alone needs.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/exit.h"
#include "cli/term.h"
#include "verbs.h"

enum cli_form { CLI_HUMAN, CLI_JSON, CLI_JSONL };

/* The umask for files of other programs; roger's own are private. */
extern mode_t cli_file_mask;

/* All that a run of a command knows. */
struct cli_run {
	const struct cli_command *command;
	struct rg_arena *arena;
	const char *workspace; /* --workspace, or NULL */
	enum cli_form form;
	bool quiet;
	bool no_pager;
	struct roger_str member; /* print this member of the answer alone; "": all */
	void *request;		 /* the verb's request, as parsed */
	const void *reply;	 /* the reply that is printed */
	int exit;		 /* the exit status if the run does not fail */
	struct roger_strs words; /* words of the command line that are not options */
	void *options;		 /* rg_NAME_options of the verb, if any; without data: not given */
	struct roger *roger;	 /* open, unless the verb needs none */
	const struct cli_old_name *old; /* the old name that was typed; NULL: none */
	char **argv;			/* of the program: its name, the command's, the rest */
};

/* Print words for people?  Not with --quiet, and not where a program reads the answer. */
static inline bool cli_answers_people(const struct cli_run *run)
{
	return run->form == CLI_HUMAN && !run->quiet;
}

struct cli_command {
	const char *name; /* one word, or two: "dead redeliver"; "": without a command */
	const char *verb; /* NULL: the verb has the command's name */
	/* Describes a command that calls no verb, and has a run below; NULL: it calls one. */
	const struct roger_op *own;
	const char *words;   /* words that may follow: "new" sets the field of that name */
	const char *summary; /* for a command without a verb */
	const char *examples;

	/* Before the verb runs: read what options mean.  NULL: nothing to do. */
	int (*prepare)(struct cli_run *run, struct roger_err *err);
	/* Runs in place of one plain call of the verb.  NULL: call and print. */
	int (*run)(struct cli_run *run, struct roger_err *err);
	/* The reply for people.  NULL: cli_print_record(). */
	void (*print)(const struct cli_run *run);
	/* The command to run if no word or option of this one follows; NULL: this one. */
	const struct cli_command *else_is;
	bool joined;	/* further words are joined to the text in the last place */
	bool forgiving; /* an error exits with CLI_DONE, unless stderr is a terminal */

	bool paged; /* on a terminal a long answer goes through a pager */

	bool nothing; /* a reply whose first member is unset ends with CLI_NOTHING */
	/* The exit status of a reply.  NULL: CLI_NOTHING as above, else CLI_DONE. */
	int (*exit_of)(const struct cli_run *run);
};

/* Define cli_ID, with its name first; commands.c must list it, too. */
#define CLI_COMMAND(id, ...) const struct cli_command cli_##id = { .name = __VA_ARGS__ }

/*
 * Iterate over the commands that help shows: start with *i = 0; NULL: there are no more.  Each
 * verb has a command, which is in commands.c only if it has words of its own.
 */
const struct cli_command *cli_next_command(size_t *i);
const struct cli_command *cli_find_command(struct roger_str name);

/* Commands that help shows together; one in no group is shown with `help --all`. */
struct cli_group {
	const char *name;
	const char *commands; /* "send|reply|...", those of `roger help` */
	const char *plumbing; /* more commands, in `roger help --all` */
};
extern const struct cli_group cli_groups[]; /* ends with a nameless one */
/* Find the group of a command; NULL: it is in none. */
const struct cli_group *cli_group_of(const struct cli_command *command);

/* Is this how the name of a verb or member is typed: "dead-letters" for dead_letters? */
bool cli_is_typed(struct roger_str word, const char *name);

/* Find the command that the words begin with, and how many are its name; NULL: none. */
const struct cli_command *cli_command_of(struct roger_strs words, size_t *ret_count);

/* synonyms.c: a name that a command had before, which is taken for one release. */
struct cli_old_name {
	const char *name;    /* one word, or two */
	const char *command; /* its name now */
	const char *told;    /* what to type in place of it */
	const char *option;  /* that goes with it; NULL: none */
};
/* The old name that the words begin with, and how many of them it is; or NULL. */
const struct cli_old_name *cli_old_name(struct roger_strs words, size_t *ret_count);

/* synonyms.c: fail for an unknown command, with what may be meant; typed: it and what follows. */
RG_CHECKED int cli_no_such_command(struct roger_strs typed, struct roger_err *err);

/* The verb of a command, or its `own`. */
const struct roger_op *cli_op(const struct cli_command *command);

/* Find a verb by name. */
const struct roger_op *cli_op_named(const char *name);

/* The record of the items in the first list of a verb's reply. */
const struct roger_record *cli_item_record(const char *verb);

/* A prepare function: --workspace names the folder that the verb is about, its path or from. */
RG_CHECKED int cli_take_folder(struct cli_run *run, struct roger_err *err);

/* Print a reply by its fields, as --json or --jsonl want it. */
void cli_print_reply(const struct cli_run *run, const struct roger_record *record,
		     const void *reply);

/* Check that --print names a member of the answer, before anything is done. */
RG_CHECKED int cli_check_member(struct cli_run *run, struct roger_err *err);

/* Print an item of a list on a line: as JSON, or the member that --print names. */
void cli_print_item(const struct cli_run *run, const struct roger_record *record, const void *item);

/* Call the verb with run->request, and cli_answer(): all that a plain command does. */
RG_CHECKED int cli_call(struct cli_run *run, struct roger_err *err);

/* overview.c: print where the journals are, and which server answers; nothing without a server. */
void cli_say_place(FILE *to, struct roger_str store, struct roger_str served_by,
		   struct roger_str standby);

/* Print a reply in the form that is asked for, set the exit status, and free it. */
void cli_answer(struct cli_run *run, void *reply);

/* reply.c: print for people and models, by fields: a line NAME VALUE each, a table a list. */
void cli_print_record(FILE *to, const struct roger_record *record, const void *item);
void cli_print_lists(FILE *to, const struct roger_record *record, const void *item);

/* Find a member of a record by its name outside; NULL: it has none. */
const struct roger_field *cli_member(const struct roger_record *record, struct roger_str name);

/* Encode a reply as --json has it: its format, its members, and what is damaged. */
struct rg_buf;
void cli_encode_reply(const struct roger *roger, const struct roger_record *record,
		      const void *reply, struct rg_buf *out);

/* Add the member `damage` to an unfinished object, if anything is damaged. */
void cli_add_damage(const struct roger *roger, struct rg_buf *out);

/* Print the damage as a line for an agent, which asks it to tell a person. */
void cli_print_damage(FILE *to, const struct roger *roger);

/* Iterate over the options and places of a command, but for those of every command: start with
 * *i = 0; NULL: there are no more. */
const struct roger_field *cli_next_option(const struct cli_command *command, size_t *i);

/* The name of a field with blanks in place of underscores, or with dashes, as an option has it. */
struct roger_str cli_words_of(const struct roger_field *field, char between, char to[64]);

/* The field of a request, or of options (may be NULL), for this option; else NULL. */
const struct roger_field *cli_find_field(const struct roger_record *record, struct roger_str name);

/*
 * completion.c: call take with names that a person or a model may want to type: the values of a
 * member in the list that a verb replies with.  request NULL: one of zeros.  about: the member that
 * describes each name; "": none, and each name is given once.
 */
typedef void cli_take_name(void *context, struct roger_str name, struct roger_str about);
void cli_each_name(struct roger *roger, const char *verb, const void *request, const char *member,
		   const char *about, cli_take_name *take, void *context);

/* Print the question and [y/N] on standard error: is the answer yes? */
bool cli_is_agreed(const char *question);

/*
 * stop.c: for commands that run until they are stopped.  SIGINT, SIGTERM or SIGHUP end
 * what the library waits for, and then the command.
 */
void cli_stop_catch(const struct cli_run *run);
bool cli_stopped(void);

/* become.c: does ROGER_SERVER name the workspace? */
bool cli_is_elsewhere(const struct cli_run *run);
/* Open the workspace at path; NULL: the one that ROGER_SERVER names, if set. */
RG_CHECKED int cli_open(const char *path, struct roger **ret_roger, struct roger_err *err);
/* Fail if the workspace is behind a server; what: that which cannot be done through one. */
RG_CHECKED int cli_need_workspace(const struct cli_run *run, const char *what,
				  struct roger_err *err);

/*
 * become.c: replace this process by the program of that name (NULL: none), which is beside roger or
 * in its libexec; returns only to fail, with ROGER_EENGINE.  lacks: for the error, what this
 * program is without, and where to get it.
 */
RG_CHECKED int cli_become(const char *program, char *const *words, const char *lacks,
			  struct roger_err *err);
/* browse.c: open the page in a browser; does nothing without a screen or a browser. */
void cli_browse(const char *url);

/*
 * follow.c: -f.  _begin comes before the first look; each _wait writes out what was printed and
 * sleeps until something may have been stored, or for a while: other programs, and logs, wake
 * nobody. false: the command was stopped, or nobody reads its output any more.
 */
struct cli_follow {
	const struct cli_run *run;
	uint32_t mark;
};
RG_CHECKED int cli_follow_begin(struct cli_follow *follow, const struct cli_run *run,
				struct roger_err *err);
bool cli_follow_wait(struct cli_follow *follow, bool *ret_stored);
enum { CLI_FOLLOW_LAST = 10 }; /* shown first, unless --limit says otherwise */

/* help.c */
void cli_print_help(FILE *to, bool all);
const char *cli_summary(const struct cli_command *command);
void cli_print_command_help(FILE *to, const struct cli_command *command);
void cli_value_word(const struct roger_field *field, char to[64]);
void cli_print_usage(FILE *to, const struct cli_command *command);

/* help_json.c: all that help says, as JSON; only: of this command, or NULL. */
RG_CHECKED int cli_print_help_json(const struct cli_run *run, const struct cli_command *only,
				   struct roger_err *err);

/* verify.c: the command line names files of a seal and a key; the verb wants their texts. */
RG_CHECKED int cli_read_seal(struct cli_run *run, struct roger_verify_request *request,
			     struct roger_err *err);

/* How a value looks, by the tones of its enum; otherwise: one without. */
enum cli_style cli_look(const unsigned char *tones, int value, enum cli_style otherwise);

/* parse.c: is the word in a list such as "new|show"?  words may be NULL. */
bool cli_is_one_of(const char *words, struct roger_str word);
/* Does an option of a command take a value?  "": no; NULL: there is no such option. */
const char *cli_option_value(const struct cli_command *command, struct roger_str name);

/* Take the first word off a list such as "new|show"; false: it is empty. */
bool cli_next_word(const char **words, struct roger_str *ret);

/* Is this command meant, and not its else_is: does a word or option of its own follow? */
bool cli_is_meant(const struct cli_command *command, int argc, char **argv);

/* Read argv, without the command's name, into run->request and run->values. */
RG_CHECKED int cli_parse(struct cli_run *run, int argc, char **argv, const char **ret_colour,
			 bool *ret_help, struct roger_err *err);

/* hook.c: tell the person, in the tool's form, why the hook of this run could not look. */
extern const struct cli_command cli_hook;
void cli_hook_fail(const struct cli_run *run, const char *why);

#endif
