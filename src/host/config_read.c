/* config: what may be set, and reading it from the text of a file. */
#include "host/config.h"

#include <ctype.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "data/record.h"
#include "data/yaml.h"
#include "facts/log_kinds.h"
#include "facts/wake.h"

enum kind {
	NUMBER,
	SPAN,
	PATH,
	FILE_NAME,
	ADDRESS,
	RECIPIENTS,
	SWITCH,
	WORDS,
	NAMES,
};

struct setting {
	const char *section; /* "": a setting without a section, which only roger's file has */
	const char *name;
	const char *key; /* "section.name", or the name alone */
	enum kind kind;
	size_t offset;
	int64_t least; /* of a SPAN in ms */
	int64_t most;
	const char *text;  /* default */
	const char *about; /* for a SPAN it begins with the bounds */
};

/* The key of a setting without a section begins after the dot. */
#define ROW(section, name, kind, member, least, most, text, about)                                 \
	{ section,                                                                                 \
	  name,                                                                                    \
	  &(section "." name)[sizeof section == 1],                                                \
	  kind,                                                                                    \
	  offsetof(struct rg_config, member),                                                      \
	  least,                                                                                   \
	  most,                                                                                    \
	  text,                                                                                    \
	  about },
static const struct setting table[] = { RG_SETTINGS(ROW) };
#undef ROW

enum { SETTING_COUNT = sizeof table / sizeof *table };

static const struct roger_str default_origin = { "default", 7 };

/* What is expected as a value; a NUMBER or a SPAN is described by its bounds. */
static const char *const kind_words[] = {
	[PATH] = "a path",
	[FILE_NAME] = "a file name",
	[ADDRESS] = "an address",
	[RECIPIENTS] = "near, open or strict",
	[SWITCH] = "true or false",
	[WORDS] = "a list, a program and its arguments",
	[NAMES] = "a list of agents",
};

static const char agents_expected[] = "a list of agents",
		  words_expected[] = "a list: a program and its arguments";

/* The names of enum rg_recipients; older files say warn for open. */
static const char *const recipients_names[] = { "near", "open", "strict", NULL };

/* ------------------------------------------------------------- settings -- */

/* The file that is being read. */
struct source {
	struct rg_config *config;
	const char *name;
	bool foreign;
};

/* The settings of the table come first, in its order, then those of groups and agents as they are
 * read. */
static struct roger_setting *setting_at(const struct rg_config *config, size_t i)
{
	return (struct roger_setting *)(uintptr_t)&config->settings.items[i];
}

/* Return where the value of setting i is kept. */
static void *value_at(const struct rg_config *config, size_t i)
{
	return (char *)(uintptr_t)config + table[i].offset;
}

/* Return "FILE:LINE", or "FILE" for line 0. */
static struct roger_str origin_of(const struct source *source, size_t line)
{
	return line ? rg_arena_text(source->config->memory, "%s:%zu", source->name, line)
		    : rg_arena_str(source->config->memory, rg_str(source->name));
}

/* Add a setting of that key; NULL: out of memory. */
static struct roger_setting *add_setting(struct rg_config *config, struct roger_str key)
{
	struct roger_setting_list *settings = &config->settings;
	struct roger_setting *setting = rg_arena_push(config->memory, &settings->items,
						      &settings->count, sizeof *settings->items);

	if (setting)
		setting->key = key;
	return setting;
}

/* Add the setting "section.name"; NULL: out of memory. */
static struct roger_setting *add_named_setting(struct rg_config *config, const char *section,
					       struct roger_str name)
{
	return add_setting(config,
			   rg_arena_text(config->memory, "%s.%.*s", section, RG_STR_ARGS(name)));
}

/* Fail with what is expected for a setting. */
static int fail_setting(const struct roger_setting *setting, const char *expected,
			struct roger_err *err)
{
	return rg_fail(err, ROGER_ECONFIG, 0, "%.*s: %.*s: expected %s",
		       RG_STR_ARGS(setting->origin), RG_STR_ARGS(setting->key), expected);
}

/* Fail with what is expected for a key, whose value names the line. */
static int fail_node(const struct source *source, const struct rg_yaml *node, struct roger_str key,
		     const char *expected, struct roger_err *err)
{
	return rg_fail(err, ROGER_ECONFIG, 0, "%s:%zu: %.*s: expected %s", source->name, node->line,
		       RG_STR_ARGS(key), expected);
}

/* --------------------------------------------------------------- values -- */

enum { RANGE_BYTES = 96 };

/* Read a NUMBER or a SPAN.  Returns NULL, or what was expected, which is printed into range.  "010"
 * is refused: it is ten to people and eight to YAML. */
static const char *read_amount(const struct setting *setting, struct roger_str text, int64_t *at,
			       char *range)
{
	const bool is_span = setting->kind == SPAN;

	if ((is_span ? rg_clock_read_span(text, at)
		     : rg_str_number(text, at) && (text.data[0] != '0' || text.length == 1)) &&
	    *at >= setting->least && *at <= setting->most)
		return NULL;
	snprintf(range, RANGE_BYTES,
		 is_span ? "a span such as 30s, 5m or 2h, from %lldms to %llds"
			 : "a whole number from %lld to %lld",
		 (long long)setting->least, (long long)setting->most / (is_span ? 1000 : 1));
	return range;
}

static bool is_path(struct roger_str text)
{
	size_t i;

	for (i = 0; i < text.length; i++)
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			return false;
	return text.length > 0;
}

bool rg_config_uses(struct roger_str name)
{
	static const char *const ours[] = { "message-state.json", "state",    "wake.lock",
					    "triggers",		  "id",	      "setup.json",
					    "seal.key",		  "seal.pub", "move",
					    "worktrees",	  "tried",    NULL };

	return rg_log_kinds_use(name) || rg_enum_find(ours, name) >= 0 ||
	       rg_str_ends(name, ".control") || rg_str_ends(name, ".checkpoint") ||
	       rg_str_ends(name, ".new");
}

static const char *judge_file_name(struct roger_str text)
{
	if (!is_path(text) || memchr(text.data, '/', text.length) || rg_str_is(text, ".") ||
	    rg_str_is(text, ".."))
		return "the name of a file below data_dir, without '/'";
	if (rg_config_uses(text) || rg_str_is(text, "config.yaml") || rg_str_is(text, ".gitignore"))
		return "a name that roger does not use for a file of its own";
	return NULL;
}

/* Return the password in an address; its data is NULL if the address has no password. */
static struct roger_str find_password(struct roger_str text)
{
	const char *host = strstr(text.data, "://") + 3, *at, *colon;
	const char *end = host + strcspn(host, "/?#"), *option = strstr(end, "password=");

	at = memrchr(host, '@', (size_t)(end - host));
	colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
	if (colon)
		return (struct roger_str){ colon + 1, (size_t)(at - colon - 1) };
	if (!option)
		return (struct roger_str){ NULL, 0 };
	option += strlen("password=");
	return (struct roger_str){ option, strcspn(option, "&#") };
}

/* Check an address.  A file may be in a repository, so a password in it is refused; a password from
 * the environment is not shown. */
static int judge_address(struct rg_config *config, struct roger_str text,
			 struct roger_setting *shown, struct roger_err *err)
{
	const bool from_file = memchr(shown->origin.data, ':', shown->origin.length) != NULL;
	struct roger_str password;

	if (!text.length)
		return ROGER_OK;
	if (strncmp(text.data, "postgres://", 11) != 0 &&
	    strncmp(text.data, "postgresql://", 13) != 0)
		return fail_setting(shown, "postgres://ROLE@HOST/DATABASE#WORKSPACE", err);
	password = find_password(text);
	if (!password.data)
		return ROGER_OK;
	if (from_file)
		return fail_setting(shown,
				    "no password in it: PostgreSQL's own file has it "
				    "(~/.pgpass), or ROGER_STORE",
				    err);
	shown->value = rg_arena_text(config->memory, "%.*s***%s", (int)(password.data - text.data),
				     text.data, password.data + password.length);
	return rg_kept(!rg_arena_failed(config->memory), err);
}

static bool is_place(size_t i)
{
	return table[i].kind == PATH || table[i].kind == FILE_NAME || table[i].kind == ADDRESS;
}

/* Set setting i; needs a text that lives as long as config. */
static int set_value(struct rg_config *config, size_t i, struct roger_str text,
		     struct roger_err *err)
{
	struct roger_setting *shown = setting_at(config, i);
	const enum kind kind = table[i].kind;
	void *at = value_at(config, i);
	const char *expected = NULL;
	char range[RANGE_BYTES];
	int index;

	shown->value = text;
	if (is_place(i))
		*(struct roger_str *)at = text;
	switch (kind) {
	case NUMBER:
	case SPAN:
		expected = read_amount(&table[i], text, at, range);
		break;
	case PATH:
		expected = is_path(text) ? NULL : kind_words[kind];
		break;
	case FILE_NAME:
		expected = judge_file_name(text);
		break;
	case ADDRESS:
		return judge_address(config, text, shown, err);
	case RECIPIENTS:
		index = rg_str_is(text, "warn") ? RG_RECIPIENTS_OPEN
						: rg_enum_find(recipients_names, text);
		if (index < 0) {
			expected = kind_words[kind];
			break;
		}
		*(enum rg_recipients *)at = (enum rg_recipients)index;
		shown->value = rg_str(recipients_names[index]);
		break;
	case SWITCH:
		*(bool *)at = rg_str_is(text, "true");
		expected = *(bool *)at || rg_str_is(text, "false") ? NULL : kind_words[kind];
		break;
	case WORDS:
	case NAMES:
		break;
	}
	return expected ? fail_setting(shown, expected, err) : ROGER_OK;
}

static int change_setting(const struct source *source, size_t i, struct roger_str text, size_t line,
			  struct roger_err *err)
{
	struct rg_config *config = source->config;

	setting_at(config, i)->origin = origin_of(source, line);
	text = rg_arena_str(config->memory, text);
	if (rg_arena_failed(config->memory))
		return rg_fail_memory(err);
	config->places_configured |= is_place(i);
	return set_value(config, i, text, err);
}

const struct roger_setting *rg_config_setting(const struct rg_config *config, const char *key)
{
	const struct roger_setting *setting = config->settings.items;
	const struct roger_str wanted = rg_str(key);

	while (!rg_str_equal(setting->key, wanted))
		setting++;
	return setting;
}

struct roger_str rg_config_default(const struct rg_config *config,
				   const struct roger_setting *setting)
{
	return rg_str(table[setting - config->settings.items].text);
}

int rg_config_set(struct rg_config *config, const char *key, struct roger_str text,
		  const char *origin, struct roger_err *err)
{
	const struct source source = { .config = config, .name = origin };
	const size_t i = (size_t)(rg_config_setting(config, key) - config->settings.items);

	return change_setting(&source, i, text, 0, err);
}

/* --------------------------------------------------------- unknown keys -- */

/* Return the setting that a wrong key probably meant, with its section; its data is NULL if there
 * is none. */
static struct roger_str suggest_setting(struct roger_str typed, const char **ret_section)
{
	struct roger_str best = { NULL, 0 };
	size_t i;

	*ret_section = "";
	rg_nearest_look(&best, typed, RG_STR("groups"));
	if (rg_nearest_look(&best, typed, RG_STR("agents")))
		*ret_section = "wake";
	for (i = 0; i < SETTING_COUNT; i++) {
		if (rg_nearest_look(&best, typed, rg_str(table[i].name)))
			*ret_section = table[i].section;
		if (rg_nearest_look(&best, typed, rg_str(table[i].section)))
			*ret_section = "";
	}
	return best;
}

/* Refuse an unknown key.  In another program's file only one that looks like ours is refused. */
static int take_unknown(const struct source *source, const char *section,
			const struct rg_yaml *node, struct roger_err *err)
{
	const char *where;
	const struct roger_str meant = suggest_setting(node->key, &where);
	const char *dot = *section ? "." : "";

	if (source->foreign && (!meant.data || strcmp(where, section) != 0))
		return ROGER_OK;
	if (!meant.data)
		return rg_fail(err, ROGER_ECONFIG, 0, "%s:%zu: %s%s%.*s: no such setting",
			       source->name, node->line, section, dot, RG_STR_CUT(node->key));
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "%s:%zu: %s%s%.*s: no such setting, did you mean '%s%s%s'?", source->name,
		       node->line, section, dot, RG_STR_ARGS(node->key), where, *where ? "." : "",
		       meant.data);
}

/* ---------------------------------------------------------------- lists -- */

struct roger_str rg_config_in_lower_case(struct roger_str name, char *low)
{
	size_t i;

	for (i = 0; i < name.length && name.length <= RG_CONFIG_NAME_BYTES; i++)
		low[i] = (char)tolower((unsigned char)name.data[i]);
	return (struct roger_str){ low, i };
}

/* True if the name may be an agent's or a group's, whatever groups there are: roger gets no mail.
 */
static bool is_name(struct roger_str name)
{
	return rg_name_valid(name) && !rg_str_is(name, "all") && !rg_config_is_roger(name);
}

/* Add an empty group; NULL: out of memory. */
static struct rg_group *add_group(struct rg_config *config, struct roger_str name)
{
	char low[RG_CONFIG_NAME_BYTES];
	struct rg_group *group;

	group = rg_arena_push(config->memory, &config->groups, &config->group_count, sizeof *group);
	if (!group || !add_named_setting(config, "groups", name))
		return NULL;
	group->name = rg_arena_str(config->memory, name);
	group->shown = config->settings.count - 1;
	name = rg_arena_str(config->memory, rg_config_in_lower_case(name, low));
	return rg_names_add(&config->group_names, group->name) &&
			       rg_names_add(&config->group_names_low, name)
		       ? group
		       : NULL;
}

/*
 * Read a list of agents, each once, or of words: a program and its arguments, never a line for a
 * shell.  It is shown like "lead, reviewer".
 */
static int read_list(const struct source *source, const struct rg_yaml *node, enum kind kind,
		     struct roger_setting *shown, struct rg_names *list, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_arena *memory = source->config->memory;
	const bool agents = kind == NAMES;
	const struct rg_yaml *item;
	struct roger_str word;
	size_t before;

	shown->origin = origin_of(source, node->line);
	if (node->kind != RG_YAML_LIST)
		return fail_setting(shown, agents ? agents_expected : words_expected, err);
	for (item = node->first; item; item = item->next) {
		if (item->kind != RG_YAML_SCALAR || rg_yaml_is_null(item) ||
		    (agents ? !is_name(item->value) : item == node->first && !item->value.length))
			return fail_node(source, item, shown->key,
					 agents ? "the name of an agent"
						: "a program and its arguments",
					 err);
		word = rg_arena_str(memory, item->value);
		before = list->count;
		if (agents ? !rg_names_add(list, word)
			   : !rg_arena_append(memory, &list->items, &list->count, &word,
					      sizeof word))
			return rg_fail_memory(err);
		if (list->count == before)
			return fail_node(source, item, shown->key, "each agent once", err);
		rg_buf_add_text(&text, !before ? "" : agents ? ", " : " ");
		rg_buf_add_str(&text, word);
	}
	shown->value = rg_arena_take(memory, &text);
	return ROGER_OK;
}

/* If a group is configured twice, the last counts. */
static int read_group(const struct source *source, const char *groups, const struct rg_yaml *node,
		      struct roger_err *err)
{
	struct rg_config *config = source->config;
	struct roger_setting *shown;
	struct rg_group *group;
	int r;

	if (!is_name(node->key))
		return fail_node(source, node, rg_str(groups),
				 "a name other than all and roger for a group", err);
	group = (struct rg_group *)(uintptr_t)rg_config_group(config, node->key);
	if (!group)
		group = add_group(config, node->key);
	if (!group)
		return rg_fail_memory(err);
	group->members = (struct rg_names){ .arena = config->memory };
	shown = setting_at(config, group->shown);
	r = read_list(source, node, NAMES, shown, &group->members, err);
	return r < 0 || node->first ? r : fail_setting(shown, agents_expected, err);
}

static int read_wake_agent(const struct source *source, const char *agents,
			   const struct rg_yaml *node, struct roger_err *err)
{
	struct rg_config *config = source->config;
	struct rg_names words = { .arena = config->memory };
	struct rg_wake_agent *agent;
	struct roger_setting *shown;
	struct rg_buf word;
	size_t i;
	int r;

	if (!is_name(node->key))
		return fail_node(source, node, rg_str(agents), "the name of an agent", err);
	agent = rg_arena_push(config->memory, &config->wake_agents, &config->wake_agent_count,
			      sizeof *agent);
	shown = agent ? add_named_setting(config, agents, node->key) : NULL;
	if (!shown)
		return rg_fail_memory(err);
	agent->name = rg_arena_str(config->memory, node->key);
	agent->shown = config->settings.count - 1;
	r = read_list(source, node, WORDS, shown, &words, err);
	if (r < 0)
		return r;
	if (!words.count)
		return fail_node(source, node, shown->key, words_expected, err);
	/* The words that are trusted are those that run, with the agent's name in them. */
	for (i = 0; i < words.count; i++) {
		rg_buf_init(&word, SIZE_MAX);
		rg_wake_fill_agent(words.items[i], agent->name, &word);
		words.items[i] = rg_arena_take(config->memory, &word);
	}
	agent->words = rg_names_list(&words);
	return ROGER_OK;
}

/* ----------------------------------------------------- between settings -- */

/* Fail since two settings do not fit.  The first is named if it was set, else the second. */
static int fail_misfit(const struct rg_config *config, const char *first, const char *second,
		       const char *expected, struct roger_err *err)
{
	const struct roger_setting *guilty = rg_config_setting(config, first);

	if (rg_str_equal(guilty->origin, default_origin))
		guilty = rg_config_setting(config, second);
	return fail_setting(guilty, expected, err);
}

/* Fail if one of the names of a setting is a group, since a group has no mailbox. */
static int expect_agents(const struct rg_config *config, const struct roger_setting *setting,
			 struct roger_strs names, struct roger_err *err)
{
	size_t i;

	for (i = 0; i < names.count; i++)
		if (rg_config_group(config, names.items[i]))
			return rg_fail(err, ROGER_ECONFIG, 0,
				       "%.*s: %.*s: expected agents, '%.*s' is a group",
				       RG_STR_ARGS(setting->origin), RG_STR_ARGS(setting->key),
				       RG_STR_ARGS(names.items[i]));
	return ROGER_OK;
}

static int check_groups(const struct rg_config *config, struct roger_err *err)
{
	const struct rg_wake_agent *agent;
	size_t i;
	int r;

	r = expect_agents(config, rg_config_setting(config, "bridge.file_only"), config->file_only,
			  err);
	for (i = 0; i < config->group_count && r == ROGER_OK; i++)
		r = expect_agents(config, setting_at(config, config->groups[i].shown),
				  rg_names_list(&config->groups[i].members), err);
	for (i = 0; i < config->wake_agent_count && r == ROGER_OK; i++) {
		agent = &config->wake_agents[i];
		r = expect_agents(config, setting_at(config, agent->shown),
				  (struct roger_strs){ &agent->name, 1 }, err);
	}
	return r;
}

static int check_config(const struct rg_config *config, struct roger_err *err)
{
	const char *file = config->jsonl_file.data, *database = config->database_file.data;
	const size_t length = config->database_file.length;

	/* SQLite must not take the journal for its own FILE-journal or FILE-wal. */
	if (strncmp(file, database, length) == 0 && (!file[length] || file[length] == '-'))
		return fail_misfit(config, "storage.jsonl_file", "storage.database_file",
				   "database_file and jsonl_file to name files of their own", err);
	/* Otherwise later attempts would come sooner than the second one. */
	if (config->wake_backoff_most_ms < config->wake_backoff_ms)
		return fail_misfit(config, "wake.backoff_most", "wake.backoff",
				   "backoff_most to be at least backoff", err);
	return check_groups(config, err);
}

/* --------------------------------------------------------------- a file -- */

/* Read a member of the mapping of that name, such as groups or wake.agents. */
typedef int read_entry(const struct source *source, const char *name, const struct rg_yaml *node,
		       struct roger_err *err);

/* Read each member of the mapping of that name. */
static int read_each(const struct source *source, const char *name, const struct rg_yaml *node,
		     const char *expected, read_entry *read, struct roger_err *err)
{
	const struct rg_yaml *member;
	int r = ROGER_OK;

	if (rg_yaml_is_null(node))
		return ROGER_OK;
	if (node->kind != RG_YAML_MAPPING)
		return fail_node(source, node, rg_str(name), expected, err);
	for (member = node->first; member && r == ROGER_OK; member = member->next)
		r = read(source, name, member, err);
	return r;
}

static int read_setting(const struct source *source, const char *section,
			const struct rg_yaml *node, struct roger_err *err)
{
	struct rg_names list = { .arena = source->config->memory };
	struct roger_setting *shown;
	size_t i = 0;
	int r;

	while (i < SETTING_COUNT &&
	       (strcmp(table[i].section, section) != 0 || !rg_str_is(node->key, table[i].name)))
		i++;

	if (!strcmp(section, "wake") && rg_str_is(node->key, "agents"))
		return read_each(source, "wake.agents", node,
				 "names, each with a program and its arguments", read_wake_agent,
				 err);
	if (i == SETTING_COUNT)
		return take_unknown(source, section, node, err);
	shown = setting_at(source->config, i);
	if (table[i].kind == NAMES || table[i].kind == WORDS) {
		r = read_list(source, node, table[i].kind, shown, &list, err);
		*(struct roger_strs *)value_at(source->config, i) = rg_names_list(&list);
		return r;
	}
	if (node->kind != RG_YAML_SCALAR || rg_yaml_is_null(node))
		return fail_node(source, node, shown->key, "a value", err);
	if (table[i].kind == NUMBER && node->quoted)
		return fail_node(source, node, shown->key, "a whole number without quotes", err);
	return change_setting(source, i, node->value, node->line, err);
}

static int read_member(const struct source *source, const char *root, const struct rg_yaml *node,
		       struct roger_err *err)
{
	size_t i;

	/* What else the program of seed 004 has in its file is its own. */
	if (source->foreign && !rg_str_is(node->key, "size_limits") &&
	    !rg_str_is(node->key, "cleanup") && !rg_str_is(node->key, "storage"))
		return ROGER_OK;
	if (rg_str_is(node->key, "groups"))
		return read_each(source, "groups", node, "names, each with a list of agents",
				 read_group, err);
	for (i = 0; i < SETTING_COUNT; i++)
		if (*table[i].section && rg_str_is(node->key, table[i].section))
			return read_each(source, table[i].section, node, "settings below it",
					 read_setting, err);
	return read_setting(source, root, node, err);
}

static int read_root(const struct source *source, const struct rg_yaml *root, struct roger_err *err)
{
	int r;

	if (!root || rg_yaml_is_null(root))
		return ROGER_OK;
	if (root->kind != RG_YAML_MAPPING)
		return rg_fail(err, ROGER_ECONFIG, 0, "%s:%zu: expected settings", source->name,
			       root->line);
	r = read_each(source, "", root, "settings", read_member, err);
	return r < 0 ? r : check_config(source->config, err);
}

int rg_config_read(struct rg_config *config, struct roger_str text, const char *file, bool foreign,
		   struct roger_err *err)
{
	const struct source source = { .config = config, .name = file, .foreign = foreign };
	const struct rg_yaml *root;
	int r;

	/* Its lists may be incomplete. */
	if (rg_arena_failed(config->memory))
		return rg_fail_memory(err);
	r = rg_yaml_read(text, file, config->memory, &root, err);
	if (r == ROGER_OK)
		r = read_root(&source, root, err);
	if (rg_arena_failed(config->memory))
		return rg_fail_memory(err);
	if (r != ROGER_EDATA)
		return r;
	/* It is not YAML. */
	if (err)
		err->code = ROGER_ECONFIG;
	return ROGER_ECONFIG;
}

/* ------------------------------------------------------------- a whole -- */

int rg_config_new(struct rg_config **ret_config, struct roger_err *err)
{
	RG_CLEANUP(rg_config_freep) struct rg_config *config = NULL;
	struct rg_arena *memory = rg_arena_new();
	struct roger_setting *setting;
	size_t i;
	int r;

	config = memory ? rg_arena_get(memory, sizeof *config) : NULL;
	if (!config) {
		rg_arena_free(memory);
		return rg_fail_memory(err);
	}
	config->memory = memory;
	config->group_names.arena = config->group_names_low.arena = memory;

	/* Every command does this, so nothing is printed or copied. */
	for (i = 0; i < SETTING_COUNT; i++) {
		setting = add_setting(config, rg_str(table[i].key));
		if (!setting)
			return rg_fail_memory(err);
		setting->origin = default_origin;
		r = set_value(config, i, rg_str(table[i].text), err);
		if (r < 0)
			return r;
	}
	*ret_config = config;
	config = NULL;
	return ROGER_OK;
}

bool rg_config_next_command(const struct rg_config *config, size_t *i,
			    struct roger_str *ret_setting, struct roger_strs *ret_words)
{
	const struct rg_wake_agent *agent;

	*ret_words = (struct roger_strs){ 0 };
	for (; !ret_words->count && *i < SETTING_COUNT + config->wake_agent_count; ++*i) {
		if (*i >= SETTING_COUNT) {
			agent = &config->wake_agents[*i - SETTING_COUNT];
			*ret_setting = setting_at(config, agent->shown)->key;
			*ret_words = agent->words;
		} else if (table[*i].kind == WORDS) {
			*ret_setting = rg_str(table[*i].key);
			*ret_words = *(const struct roger_strs *)value_at(config, *i);
		}
	}
	return ret_words->count > 0;
}

bool rg_config_same_places(const struct rg_config *one, const struct rg_config *other)
{
	size_t i;

	for (i = 0; i < SETTING_COUNT; i++)
		if (is_place(i) && !rg_str_equal(*(const struct roger_str *)value_at(one, i),
						 *(const struct roger_str *)value_at(other, i)))
			return false;
	return true;
}

/* --------------------------------------------------------------- telling -- */

void rg_config_about(size_t i, struct rg_buf *out)
{
	const struct setting *setting;

	if (i >= SETTING_COUNT)
		return;
	setting = &table[i];
	if (setting->kind == NUMBER)
		rg_buf_printf(out, "%lld to %lld: ", (long long)setting->least,
			      (long long)setting->most);
	else if (setting->kind != SPAN)
		rg_buf_printf(out, "%s: ", kind_words[setting->kind]);
	rg_buf_add_text(out, setting->about);
}

void rg_config_template(struct rg_buf *out)
{
	const char *section = "";
	size_t i;

	rg_buf_add_text(out, "# roger's settings; what is not set here has its default, see "
			     "`roger config show`.\n#\n");
	for (i = 0; i < SETTING_COUNT; i++) {
		if (*table[i].section && strcmp(section, table[i].section) != 0)
			rg_buf_printf(out, "# %s:\n", table[i].section);
		section = table[i].section;
		rg_buf_printf(out, "#%s%s: %s  # ", *section ? "   " : " ", table[i].name,
			      *table[i].text ? table[i].text : "[]");
		rg_config_about(i, out);
		rg_buf_add_char(out, '\n');
	}
	rg_buf_add_text(out, "# groups:\n#   workers: [implement, test]\n");
}
