/*
 * config - what a person may set, where each setting came from, and nothing else.
 *
 * Read in this order, the later wins: built-in defaults; the project's
 * .agent-shepherd/config/phase-messenger.yaml (seed 004's three sections;
 * what else stands there is ignored; without a folder for its files that is
 * .agent-shepherd/, unless roger has messages of its own); .roger/config.yaml (unknown members are
 * an error there); the environment (ROGER_STORE, ROGER_RECIPIENTS).  A bad value names the
 * file, the line, the key and what was expected, and nothing runs.
 */
#ifndef RG_CONFIG_H
#define RG_CONFIG_H

#include "base/names.h"
#include "facts/person.h"
#include "settings.h"

struct rg_group {
	struct roger_str name; /* workers, or any other name but all */
	struct rg_names members;
	size_t shown; /* its place in settings */
};

/* How an agent is told that mail is there: a program and its arguments. */
struct rg_wake_agent {
	struct roger_str name;
	struct roger_strs words;
	size_t shown; /* its setting */
};

enum rg_recipients {
	RG_RECIPIENTS_NEAR,   /* near: those that are likely slips for known ones */
	RG_RECIPIENTS_OPEN,   /* open: none */
	RG_RECIPIENTS_STRICT, /* strict: all */
};

/* What a setting of each kind is in struct rg_config. */
#define RG_MEMBER_NUMBER int64_t
#define RG_MEMBER_SPAN int64_t /* ms */
#define RG_MEMBER_PATH struct roger_str
#define RG_MEMBER_FILE_NAME struct roger_str
#define RG_MEMBER_ADDRESS struct roger_str
#define RG_MEMBER_RECIPIENTS enum rg_recipients
#define RG_MEMBER_SWITCH bool
#define RG_MEMBER_WORDS struct roger_strs /* a program and its arguments; none: no command */
#define RG_MEMBER_NAMES struct roger_strs /* agents */

struct rg_config {
	struct rg_arena *memory;

	/* A member for each setting of verbs/host. */
#define RG_MEMBER(section, name, kind, member, ...) RG_MEMBER_##kind member;
	RG_SETTINGS(RG_MEMBER)
#undef RG_MEMBER
	bool places_configured; /* a file set a PATH, a FILE_NAME or an ADDRESS */

	/* wake.agents: name: [program, argument, ...] */
	const struct rg_wake_agent *wake_agents;
	size_t wake_agent_count;

	/* groups: name: [agent, ...] */
	const struct rg_group *groups;
	size_t group_count;
	struct rg_names group_names, group_names_low; /* the second in lower case */

	struct roger_str groups_unread; /* the text of those that were not read yet; "": all were */
	struct rg_names keys_low; /* what may be the name of one of these, once that was asked */

	/* For `config show`: every setting with its value as text and its origin. */
	struct roger_setting_list settings;
};

/*
 * Load the configuration of the project whose root holds .roger/.  A file that
 * is not there is no error; one that cannot be read, is no regular file, is
 * larger than RG_CONFIG_BYTES_MAX or is wrong is ROGER_ECONFIG.
 */
RG_CHECKED int rg_config_load(const char *root, struct rg_config **ret_config,
			      struct roger_err *err);
struct rg_config *rg_config_free(struct rg_config *config);

/* Read the groups unless that was done: a section of more than 16 KiB waits for this. */
RG_CHECKED int rg_config_read_groups(struct rg_config *config, struct roger_err *err);

/*
 * May a group have this name, as far as its text shows that was not read yet?  False: none has,
 * and no key is written in a way that hides it.
 */
bool rg_config_may_be_group(struct rg_config *config, struct roger_str name);

/*
 * Settings of one file's text into config; file is its name for messages and
 * origins.  foreign: ignore what is unknown (phase-messenger.yaml).  What one
 * file sets must fit what those before it set.  After an error config is good
 * for freeing only.
 */
RG_CHECKED int rg_config_read(struct rg_config *config, struct roger_str text, const char *file,
			      bool foreign, struct roger_err *err);

/* What setting number i of config->settings may be, and what it is for; "" for a group's. */
void rg_config_about(size_t i, struct rg_buf *out);

/* What init writes: every setting with its default, as comments. */
void rg_config_template(struct rg_buf *out);

/*
 * Write the address into .roger/config.yaml of the workspace in root, or take it out where it is
 * ""; nothing else of the file changes.  only_check: could it?  ROGER_ECONFIG: not without a
 * person.
 */
RG_CHECKED int rg_config_set_store(const char *root, struct roger_str address, bool only_check,
				   struct roger_err *err);

/* Does roger use this name for a file of its own in the data folder or .roger/, with any setting?
 */
bool rg_config_uses(struct roger_str name);

/* A configuration of defaults only. */
RG_CHECKED int rg_config_new(struct rg_config **ret_config, struct roger_err *err);

/* The group of that name, or NULL. */
const struct rg_group *rg_config_group(const struct rg_config *config, struct roger_str name);

/* Does the name stand for several: a group, or all?  No agent has it. */
bool rg_config_reserves(const struct rg_config *config, struct roger_str name);

/*
 * Every command that is configured, with its setting: start with i = 0, false at
 * the end.
 */
bool rg_config_next_command(const struct rg_config *config, size_t *i,
			    struct roger_str *ret_setting, struct roger_strs *ret_words);

/*
 * Names that nobody sends under, whatever their case: all, groups, roger, and those
 * that a model would take for its user's or its maker's.
 */
bool rg_config_reserves_sender(const struct rg_config *config, struct roger_str name);

/* Is it roger's own name, which has no mailbox? */
bool rg_config_is_roger(struct roger_str name);

/* Is it RG_PERSON, under which no agent may send? */
bool rg_config_is_person(struct roger_str name);

/* Does that agent only know the file that its mail is written to? */
bool rg_config_is_file_only(const struct rg_config *config, struct roger_str name);

/* How the agent of that name is woken, or NULL. */
const struct rg_wake_agent *rg_config_wake(const struct rg_config *config, struct roger_str name);

#endif
