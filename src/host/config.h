/*
 * config - what a person may set, where each setting came from, and nothing else.
 *
 * A later source wins: built-in defaults; the project's
 * .agent-shepherd/config/phase-messenger.yaml (seed 004's three sections; other
 * members are ignored; if no data folder is set, .agent-shepherd/ is used, unless
 * roger has messages of its own); .roger/config.yaml (unknown members are an error);
 * the environment (ROGER_STORE, ROGER_RECIPIENTS).  The error for a bad value names
 * the file, the line, the key and what was expected, and nothing runs.
 */
#ifndef RG_CONFIG_H
#define RG_CONFIG_H

#include "base/limits.h"
#include "base/names.h"
#include "facts/person.h"
#include "settings.h"

struct rg_group {
	struct roger_str name; /* workers, or any other name but all */
	struct rg_names members;
	size_t shown; /* its index in settings */
};

/* An agent that is woken when mail is there, by a program with arguments. */
struct rg_wake_agent {
	struct roger_str name;
	struct roger_strs words;
	size_t shown; /* its index in settings */
};

/* Which unknown recipients are refused. */
enum rg_recipients {
	RG_RECIPIENTS_NEAR,   /* names that are likely slips for known ones */
	RG_RECIPIENTS_OPEN,   /* none */
	RG_RECIPIENTS_STRICT, /* all */
};

/* The types of settings in struct rg_config. */
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

	struct roger_str groups_unread; /* the section of groups if it was not read yet, or "" */

	/* For `config show`: every setting with its value as text and its origin. */
	struct roger_setting_list settings;

	struct rg_config *before; /* what it replaced: texts of that may still be in use */
};

/*
 * Load the configuration of the project whose root holds .roger/.  A file that
 * is not there is no error; one that cannot be read, is no regular file, is
 * larger than RG_CONFIG_BYTES_MAX or is wrong is ROGER_ECONFIG.
 */
RG_CHECKED int rg_config_load(const char *root, struct rg_config **ret_config,
			      struct roger_err *err);
struct rg_config *rg_config_free(struct rg_config *config);
static inline void rg_config_freep(struct rg_config **config)
{
	*config = rg_config_free(*config);
}

/* A number that another state of its files would not have. */
uint64_t rg_config_mark(const char *root);
/* True if both have the same paths, file names and store. */
bool rg_config_same_places(const struct rg_config *one, const struct rg_config *other);

/* Read the groups that were not read yet: a section of more than 16 KiB waits for this. */
RG_CHECKED int rg_config_read_groups(struct rg_config *config, struct roger_err *err);

/*
 * True if a group may have this name; a section of groups that was not read yet is only searched
 * for keys.  False: no group has it.
 */
bool rg_config_may_be_group(struct rg_config *config, struct roger_str name);

/*
 * Read settings from a file's text into config; file is its name for errors and
 * origins.  foreign: ignore unknown members (phase-messenger.yaml).  The settings
 * must fit those of the files before.  After an error config may only be freed.
 */
RG_CHECKED int rg_config_read(struct rg_config *config, struct roger_str text, const char *file,
			      bool foreign, struct roger_err *err);

/* Print what the value of config->settings[i] may be, and what it is for; nothing for a group. */
void rg_config_about(size_t i, struct rg_buf *out);

/* Print the file that init writes: every setting with its default, as comments. */
void rg_config_template(struct rg_buf *out);

/*
 * Write the store's address into .roger/config.yaml of the workspace in root; "" removes it.
 * Nothing else of the file changes.  only_check: write nothing.  ROGER_ECONFIG: a person must do
 * it.
 */
RG_CHECKED int rg_config_set_store(const char *root, struct roger_str address, bool only_check,
				   struct roger_err *err);

/* True if roger uses this name for its own file in the data folder or .roger/, with any setting. */
bool rg_config_uses(struct roger_str name);

/* Make a configuration of defaults only. */
RG_CHECKED int rg_config_new(struct rg_config **ret_config, struct roger_err *err);

/* Return the setting of a key that verbs/host names, as `config show` has it, and its default;
 * change one, as something of that name says. */
const struct roger_setting *rg_config_setting(const struct rg_config *config, const char *key);
struct roger_str rg_config_default(const struct rg_config *config,
				   const struct roger_setting *setting);
RG_CHECKED int rg_config_set(struct rg_config *config, const char *key, struct roger_str text,
			     const char *origin, struct roger_err *err);

/* Return the name in lower case, in low, which has room for a name; "" for a longer text. */
enum { RG_CONFIG_NAME_BYTES = 4 * RG_NAME_CHARS_MAX };
struct roger_str rg_config_in_lower_case(struct roger_str name, char *low);

/* Return the group of that name, or NULL. */
const struct rg_group *rg_config_group(const struct rg_config *config, struct roger_str name);

/* True if the name is a group's, or all, so no agent has it. */
bool rg_config_reserves(const struct rg_config *config, struct roger_str name);

/*
 * Return each configured command, with its setting: start with *i = 0, false at
 * the end.
 */
bool rg_config_next_command(const struct rg_config *config, size_t *i,
			    struct roger_str *ret_setting, struct roger_strs *ret_words);

/*
 * True if nobody may send under the name, in any case: all, groups, roger, and names
 * that a model would take for its user's or its maker's.
 */
bool rg_config_reserves_sender(const struct rg_config *config, struct roger_str name);

/* True for roger's own name, which has no mailbox. */
bool rg_config_is_roger(struct roger_str name);

/* True for RG_PERSON, under which no agent may send. */
bool rg_config_is_person(struct roger_str name);

/* True if that agent only uses files: its mail is written to one. */
bool rg_config_is_file_only(const struct rg_config *config, struct roger_str name);

/* Return how the agent of that name is woken, or NULL. */
const struct rg_wake_agent *rg_config_wake(const struct rg_config *config, struct roger_str name);

#endif
