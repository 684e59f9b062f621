/*
 * config_read - shared by config.c and config_lists.c: where a value stands, the
 * list of settings that it goes into, and how it is refused.
 */
#ifndef RG_CONFIG_READ_H
#define RG_CONFIG_READ_H

#include "base/limits.h"
#include "data/yaml.h"
#include "host/config.h"

/* The file that is being read. */
struct rg_config_source {
	struct rg_config *config;
	const char *name;
	bool foreign;
};

/* Return setting i.  The settings of the table come first, in its order, then those of groups and
 * agents as they are read. */
struct roger_setting *rg_config_setting_at(const struct rg_config *config, size_t i);

/* Add the setting "section.name". */
RG_CHECKED int rg_config_add_setting(struct rg_config *config, const char *section,
				     struct roger_str name, size_t *ret_index,
				     struct roger_err *err);

/* Print "FILE:LINE", or "FILE" for line 0. */
RG_CHECKED int rg_config_origin(const struct rg_config_source *source, size_t line,
				struct roger_str *ret, struct roger_err *err);

/* Fail with what is expected for a key; wrong_node names the file and the line of its value. */
RG_CHECKED int rg_config_wrong(struct roger_str origin, struct roger_str key, const char *expected,
			       struct roger_err *err);
RG_CHECKED int rg_config_wrong_node(const struct rg_config_source *source,
				    const struct rg_yaml *node, struct roger_str key,
				    const char *expected, struct roger_err *err);

/* Return the name in lower case, in low, which has room for a name; "" for a longer text. */
enum { RG_CONFIG_NAME_BYTES = 4 * RG_NAME_CHARS_MAX };
struct roger_str rg_config_in_lower_case(struct roger_str name, char *low);

/* Read a member of the mapping of that name, such as groups or wake.agents. */
typedef int rg_config_read_entry(const struct rg_config_source *source, const char *name,
				 const struct rg_yaml *node, struct roger_err *err);
RG_CHECKED rg_config_read_entry rg_config_read_group;
RG_CHECKED rg_config_read_entry rg_config_read_wake_agent;

/* Read the value of a setting: a program and its arguments, or agents. */
RG_CHECKED int rg_config_read_words(const struct rg_config_source *source,
				    const struct rg_yaml *node, struct roger_setting *shown,
				    struct roger_strs *ret_words, struct roger_err *err);
RG_CHECKED int rg_config_read_names(const struct rg_config_source *source,
				    const struct rg_yaml *node, struct roger_setting *shown,
				    struct roger_strs *ret_names, struct roger_err *err);

/* Fail if one of the names of setting number shown is a group, since a group has no mailbox. */
RG_CHECKED int rg_config_expect_agents(const struct rg_config *config, size_t shown,
				       struct roger_strs names, struct roger_err *err);

#endif
