/* config: settings that are lists: groups, commands, and the agents that are woken. */
#include "host/config_read.h"

#include <ctype.h>
#include <strings.h>

#include "base/limits.h"
#include "data/record.h"
#include "facts/wake.h"

/* --------------------------------------------------------------- groups -- */

/* Read a long section of groups if the name may be one of them.  If the section is wrong, no name
 * is a group; the verbs that read all groups report it. */
static void look_for(const struct rg_config *config, struct roger_str name)
{
	struct rg_config *own = (struct rg_config *)(uintptr_t)config;

	if (config->groups_unread.length && rg_config_may_be_group(own, name))
		(void)!rg_config_read_groups(own, NULL);
}

const struct rg_group *rg_config_group(const struct rg_config *config, struct roger_str name)
{
	size_t i;

	look_for(config, name);
	i = rg_names_find(&config->group_names, name);
	return i == SIZE_MAX ? NULL : &config->groups[i];
}

bool rg_config_reserves(const struct rg_config *config, struct roger_str name)
{
	return rg_str_is(name, "all") || rg_config_group(config, name);
}

static bool equal_without_case(struct roger_str name, struct roger_str other)
{
	return name.length == other.length && strncasecmp(name.data, other.data, name.length) == 0;
}

struct roger_str rg_config_in_lower_case(struct roger_str name, char *low)
{
	size_t i;

	for (i = 0; i < name.length && name.length <= RG_CONFIG_NAME_BYTES; i++)
		low[i] = (char)tolower((unsigned char)name.data[i]);
	return (struct roger_str){ low, i };
}

bool rg_config_reserves_sender(const struct rg_config *config, struct roger_str name)
{
	static const char *const reserved[] = { "all", "roger", "user", "system", "assistant" };
	char low[RG_CONFIG_NAME_BYTES];
	size_t i;

	for (i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (equal_without_case(name, rg_str(reserved[i])))
			return true;
	look_for(config, name);
	return rg_names_have(&config->group_names_low, rg_config_in_lower_case(name, low));
}

bool rg_config_is_roger(struct roger_str name)
{
	return equal_without_case(name, RG_STR("roger"));
}

bool rg_config_is_person(struct roger_str name)
{
	return equal_without_case(name, RG_STR(RG_PERSON));
}

bool rg_config_is_file_only(const struct rg_config *config, struct roger_str name)
{
	return rg_str_among(config->file_only, name);
}

/* True if the name may be an agent's or a group's, whatever groups there are. */
static bool is_name(struct roger_str name)
{
	return rg_name_valid(name) && !rg_str_is(name, "all");
}

static int add_group(struct rg_config *config, struct roger_str name, struct rg_group **ret_group,
		     struct roger_err *err)
{
	char low[RG_CONFIG_NAME_BYTES];
	struct roger_str copy;
	struct rg_group *group;
	size_t shown = 0;
	int r;

	r = rg_config_add_setting(config, "groups", name, &shown, err);
	if (r < 0)
		return r;
	group = rg_arena_push(config->memory, &config->groups, &config->group_count, sizeof *group);
	if (!group || !rg_arena_copy(config->memory, name, &group->name) ||
	    !rg_arena_copy(config->memory, rg_config_in_lower_case(name, low), &copy) ||
	    !rg_names_add(&config->group_names, group->name) ||
	    !rg_names_add(&config->group_names_low, copy))
		return rg_fail_memory(err);
	group->shown = shown;
	*ret_group = group;
	return ROGER_OK;
}

/* Show a list as the value of a setting, like "lead, reviewer". */
static int show_list(struct rg_config *config, struct roger_strs texts, const char *between,
		     struct roger_setting *shown, struct roger_err *err)
{
	struct rg_buf text = { .maximum = SIZE_MAX };
	size_t i;

	for (i = 0; i < texts.count; i++) {
		rg_buf_add_text(&text, i ? between : "");
		rg_buf_add_str(&text, texts.items[i]);
	}
	return rg_kept(rg_arena_keep(config->memory, &text, &shown->value), err);
}

/* Read a list of agents, each once.  some: it must not be empty. */
static int read_agents(const struct rg_config_source *source, const struct rg_yaml *node, bool some,
		       struct roger_setting *shown, struct rg_names *names, struct roger_err *err)
{
	const struct rg_yaml *item;
	struct roger_str name;
	size_t before;
	int r;

	r = rg_config_origin(source, node->line, &shown->origin, err);
	if (r < 0)
		return r;
	if (node->kind != RG_YAML_LIST || (some && !node->first))
		return rg_config_wrong(shown->origin, shown->key, "a list of agents", err);
	for (item = node->first; item; item = item->next) {
		if (item->kind != RG_YAML_SCALAR || rg_yaml_is_null(item) || !is_name(item->value))
			return rg_config_wrong_node(source, item, shown->key,
						    "the name of an agent", err);
		before = names->count;
		if (!rg_arena_copy(source->config->memory, item->value, &name) ||
		    !rg_names_add(names, name))
			return rg_fail_memory(err);
		if (names->count == before)
			return rg_config_wrong_node(source, item, shown->key, "each agent once",
						    err);
	}
	return show_list(source->config, rg_names_list(names), ", ", shown, err);
}

/* If a group is configured twice, the last counts. */
int rg_config_read_group(const struct rg_config_source *source, const char *groups,
			 const struct rg_yaml *node, struct roger_err *err)
{
	struct rg_config *config = source->config;
	struct rg_group *group;
	int r = ROGER_OK;

	if (!is_name(node->key))
		return rg_config_wrong_node(source, node, rg_str(groups),
					    "a name other than all for a group", err);
	group = (struct rg_group *)(uintptr_t)rg_config_group(config, node->key);
	if (!group)
		r = add_group(config, node->key, &group, err);
	if (r < 0)
		return r;
	group->members = (struct rg_names){ .arena = config->memory };
	return read_agents(source, node, true, rg_config_setting_at(config, group->shown),
			   &group->members, err);
}

int rg_config_expect_agents(const struct rg_config *config, size_t shown, struct roger_strs names,
			    struct roger_err *err)
{
	const struct roger_setting *setting = rg_config_setting_at(config, shown);
	size_t i;

	for (i = 0; i < names.count; i++)
		if (rg_config_group(config, names.items[i]))
			return rg_fail(err, ROGER_ECONFIG, 0,
				       "%.*s: %.*s: expected agents, '%.*s' is a group",
				       RG_STR_ARGS(setting->origin), RG_STR_ARGS(setting->key),
				       RG_STR_ARGS(names.items[i]));
	return ROGER_OK;
}

/* ---------------------------------------------------------------- words -- */

/* Read a command: a program and its arguments, never a line for a shell. */
int rg_config_read_words(const struct rg_config_source *source, const struct rg_yaml *node,
			 struct roger_setting *shown, struct roger_strs *ret_words,
			 struct roger_err *err)
{
	struct roger_strs words = { 0 };
	const struct rg_yaml *item;
	int r;

	r = rg_config_origin(source, node->line, &shown->origin, err);
	if (r < 0)
		return r;
	if (node->kind != RG_YAML_LIST)
		return rg_config_wrong(shown->origin, shown->key,
				       "a list: a program and its arguments", err);
	for (item = node->first; item; item = item->next) {
		if (item->kind != RG_YAML_SCALAR || rg_yaml_is_null(item) ||
		    (item == node->first && !item->value.length))
			return rg_config_wrong_node(source, item, shown->key,
						    "a program and its arguments", err);
		if (!rg_arena_add(source->config->memory, &words, item->value))
			return rg_fail_memory(err);
	}
	*ret_words = words;
	return show_list(source->config, words, " ", shown, err);
}

int rg_config_read_names(const struct rg_config_source *source, const struct rg_yaml *node,
			 struct roger_setting *shown, struct roger_strs *ret_names,
			 struct roger_err *err)
{
	struct rg_names names = { .arena = source->config->memory };
	int r = read_agents(source, node, false, shown, &names, err);

	*ret_names = rg_names_list(&names);
	return r;
}

/* ----------------------------------------------------------------- wake -- */

const struct rg_wake_agent *rg_config_wake(const struct rg_config *config, struct roger_str name)
{
	size_t i;

	for (i = 0; i < config->wake_agent_count; i++)
		if (rg_str_equal(config->wake_agents[i].name, name))
			return &config->wake_agents[i];
	return NULL;
}

/* Fill the agent's name into its command, so that the words that are trusted are those that run. */
static int name_agent(struct rg_config *config, struct rg_wake_agent *agent, struct roger_err *err)
{
	struct roger_str *words = (struct roger_str *)(uintptr_t)agent->words.items;
	struct rg_buf word;
	size_t i;

	for (i = 0; i < agent->words.count; i++) {
		rg_buf_init(&word, SIZE_MAX);
		rg_wake_fill_agent(words[i], agent->name, &word);
		if (!rg_arena_keep(config->memory, &word, &words[i]))
			return rg_fail_memory(err);
	}
	return ROGER_OK;
}

int rg_config_read_wake_agent(const struct rg_config_source *source, const char *agents,
			      const struct rg_yaml *node, struct roger_err *err)
{
	struct rg_config *config = source->config;
	struct rg_wake_agent *agent;
	size_t shown = 0;
	int r;

	if (!is_name(node->key))
		return rg_config_wrong_node(source, node, rg_str(agents), "the name of an agent",
					    err);
	r = rg_config_add_setting(config, agents, node->key, &shown, err);
	if (r < 0)
		return r;
	agent = rg_arena_push(config->memory, &config->wake_agents, &config->wake_agent_count,
			      sizeof *agent);
	if (!agent || !rg_arena_copy(config->memory, node->key, &agent->name))
		return rg_fail_memory(err);
	agent->shown = shown;
	r = rg_config_read_words(source, node, rg_config_setting_at(config, shown), &agent->words,
				 err);
	if (r < 0)
		return r;
	if (!agent->words.count)
		return rg_config_wrong_node(source, node, rg_config_setting_at(config, shown)->key,
					    "a list: a program and its arguments", err);
	return name_agent(config, agent, err);
}
