/* config: settings from files, the environment and the defaults. */
#include "host/config_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "data/record.h"
#include "data/yaml.h"
#include "facts/kinds.h"
#include "host/file.h"

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

enum { SETTING_COUNT = sizeof table / sizeof *table, PATH_BYTES = 4400 };

static const struct roger_str default_origin = { "default", 7 };

/* The settings of the program that seed 004 comes from, and the default folder of its files. */
static const char origin_file[] = ".agent-shepherd/config/phase-messenger.yaml",
		  origin_folder[] = ".agent-shepherd";

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

/* The names of enum rg_recipients; older files say warn for open. */
static const char *const recipients_names[] = { "near", "open", "strict", NULL };

/* ------------------------------------------------------------- settings -- */

struct roger_setting *rg_config_setting_at(const struct rg_config *config, size_t i)
{
	return (struct roger_setting *)(uintptr_t)&config->settings.items[i];
}

int rg_config_origin(const struct rg_config_source *source, size_t line, struct roger_str *ret,
		     struct roger_err *err)
{
	bool kept = line ? rg_arena_print(source->config->memory, ret, "%s:%zu", source->name, line)
			 : rg_arena_copy(source->config->memory, rg_str(source->name), ret);

	return rg_kept(kept, err);
}

/* Make the key "section.name". */
static int key_of(struct rg_config *config, const char *section, struct roger_str name,
		  struct roger_str *ret, struct roger_err *err)
{
	return rg_kept(rg_arena_print(config->memory, ret, "%s%s%.*s", section, *section ? "." : "",
				      RG_STR_ARGS(name)),
		       err);
}

/* Add an empty setting; NULL: out of memory. */
static struct roger_setting *add_setting(struct rg_config *config)
{
	struct roger_setting_list *settings = &config->settings;

	return rg_arena_push(config->memory, &settings->items, &settings->count,
			     sizeof *settings->items);
}

int rg_config_add_setting(struct rg_config *config, const char *section, struct roger_str name,
			  size_t *ret_index, struct roger_err *err)
{
	struct roger_setting *setting = add_setting(config);

	if (!setting)
		return rg_fail_memory(err);
	*ret_index = config->settings.count - 1;
	return key_of(config, section, name, &setting->key, err);
}

int rg_config_wrong(struct roger_str origin, struct roger_str key, const char *expected,
		    struct roger_err *err)
{
	return rg_fail(err, ROGER_ECONFIG, 0, "%.*s: %.*s: expected %s", RG_STR_ARGS(origin),
		       RG_STR_ARGS(key), expected);
}

int rg_config_wrong_node(const struct rg_config_source *source, const struct rg_yaml *node,
			 struct roger_str key, const char *expected, struct roger_err *err)
{
	struct roger_str origin;
	int r;

	r = rg_config_origin(source, node->line, &origin, err);
	return r < 0 ? r : rg_config_wrong(origin, key, expected, err);
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

	return rg_kinds_use(name) || rg_enum_find(ours, name) >= 0 ||
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

/* Return the password in an address; its data is NULL if there is none. */
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
		return rg_config_wrong(shown->origin, shown->key,
				       "postgres://ROLE@HOST/DATABASE#WORKSPACE", err);
	password = find_password(text);
	if (!password.data)
		return ROGER_OK;
	if (from_file)
		return rg_config_wrong(shown->origin, shown->key,
				       "no password in it: PostgreSQL's own file has it "
				       "(~/.pgpass), or ROGER_STORE",
				       err);
	return rg_kept(rg_arena_print(config->memory, &shown->value, "%.*s***%s",
				      (int)(password.data - text.data), text.data,
				      password.data + password.length),
		       err);
}

static bool is_place(size_t i)
{
	return table[i].kind == PATH || table[i].kind == FILE_NAME || table[i].kind == ADDRESS;
}

/* Set setting i; needs a text that lives as long as config. */
static int set_value(struct rg_config *config, size_t i, struct roger_str text,
		     struct roger_err *err)
{
	struct roger_setting *shown = rg_config_setting_at(config, i);
	const enum kind kind = table[i].kind;
	void *at = (char *)config + table[i].offset;
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
	return expected ? rg_config_wrong(shown->origin, shown->key, expected, err) : ROGER_OK;
}

static int change_setting(const struct rg_config_source *source, size_t i, struct roger_str text,
			  size_t line, struct roger_err *err)
{
	struct roger_str copy;
	int r;

	r = rg_config_origin(source, line, &rg_config_setting_at(source->config, i)->origin, err);
	if (r < 0)
		return r;
	if (!rg_arena_copy(source->config->memory, text, &copy))
		return rg_fail_memory(err);
	source->config->places_configured |= is_place(i);
	return set_value(source->config, i, copy, err);
}

/* --------------------------------------------------------- unknown keys -- */

/* Return the setting that a wrong key probably meant, with its section; its data is NULL if there
 * is none. */
static struct roger_str suggest_setting(struct roger_str typed, const char **ret_section)
{
	struct rg_nearest best = { 0 };
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
	return best.word;
}

/* Refuse an unknown key.  In another program's file only one that looks like ours is refused. */
static int take_unknown(const struct rg_config_source *source, const char *section,
			const struct rg_yaml *node, struct roger_err *err)
{
	const char *where;
	const struct roger_str meant = suggest_setting(node->key, &where);
	struct roger_str origin, key;
	int r;

	if (source->foreign && (!meant.data || strcmp(where, section) != 0))
		return ROGER_OK;
	r = rg_config_origin(source, node->line, &origin, err);
	if (r < 0)
		return r;
	r = key_of(source->config, section, node->key, &key, err);
	if (r < 0)
		return r;
	if (!meant.data)
		return rg_fail(err, ROGER_ECONFIG, 0, "%.*s: %.*s: no such setting",
			       RG_STR_ARGS(origin), key.length < 96 ? (int)key.length : 96,
			       key.data);
	return rg_fail(err, ROGER_ECONFIG, 0, "%.*s: %.*s: no such setting, did you mean '%s%s%s'?",
		       RG_STR_ARGS(origin), RG_STR_ARGS(key), where, *where ? "." : "", meant.data);
}

/* ----------------------------------------------------- between settings -- */

static size_t find_setting(const char *section, struct roger_str name)
{
	size_t i;

	for (i = 0; i < SETTING_COUNT; i++)
		if (!strcmp(table[i].section, section) && rg_str_is(name, table[i].name))
			break;
	return i;
}

/* Fail since two settings do not fit.  The first is named if it was set, else the second. */
static int fail_misfit(const struct rg_config *config, const char *section, const char *first,
		       const char *second, const char *expected, struct roger_err *err)
{
	const struct roger_setting *guilty =
		rg_config_setting_at(config, find_setting(section, rg_str(first)));

	if (rg_str_equal(guilty->origin, default_origin))
		guilty = rg_config_setting_at(config, find_setting(section, rg_str(second)));
	return rg_config_wrong(guilty->origin, guilty->key, expected, err);
}

static int check_groups(const struct rg_config *config, struct roger_err *err)
{
	const struct rg_wake_agent *agent;
	size_t i;
	int r;

	r = rg_config_expect_agents(config, find_setting("bridge", RG_STR("file_only")),
				    config->file_only, err);
	for (i = 0; i < config->group_count && r == ROGER_OK; i++)
		r = rg_config_expect_agents(config, config->groups[i].shown,
					    rg_names_list(&config->groups[i].members), err);
	for (i = 0; i < config->wake_agent_count && r == ROGER_OK; i++) {
		agent = &config->wake_agents[i];
		r = rg_config_expect_agents(config, agent->shown,
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
		return fail_misfit(config, "storage", "jsonl_file", "database_file",
				   "database_file and jsonl_file to name files of their own", err);
	/* Otherwise later attempts would come sooner than the second one. */
	if (config->wake_backoff_most_ms < config->wake_backoff_ms)
		return fail_misfit(config, "wake", "backoff_most", "backoff",
				   "backoff_most to be at least backoff", err);
	return check_groups(config, err);
}

/* --------------------------------------------------------------- a file -- */

/* Read each member of the mapping of that name. */
static int read_each(const struct rg_config_source *source, const char *name,
		     const struct rg_yaml *node, const char *expected, rg_config_read_entry *read,
		     struct roger_err *err)
{
	const struct rg_yaml *member;
	int r = ROGER_OK;

	if (rg_yaml_is_null(node))
		return ROGER_OK;
	if (node->kind != RG_YAML_MAPPING)
		return rg_config_wrong_node(source, node, rg_str(name), expected, err);
	for (member = node->first; member && r == ROGER_OK; member = member->next)
		r = read(source, name, member, err);
	return r;
}

static int read_setting(const struct rg_config_source *source, const char *section,
			const struct rg_yaml *node, struct roger_err *err)
{
	const size_t i = find_setting(section, node->key);
	struct roger_setting *shown;
	void *at;

	if (!source->foreign && !strcmp(section, "wake") && rg_str_is(node->key, "agents"))
		return read_each(source, "wake.agents", node,
				 "names, each with a program and its arguments",
				 rg_config_read_wake_agent, err);
	if (source->foreign && !*section)
		return ROGER_OK;
	if (i == SETTING_COUNT)
		return take_unknown(source, section, node, err);
	shown = rg_config_setting_at(source->config, i);
	at = (char *)source->config + table[i].offset;
	if (table[i].kind == NAMES)
		return rg_config_read_names(source, node, shown, at, err);
	if (table[i].kind == WORDS)
		return rg_config_read_words(source, node, shown, at, err);
	if (node->kind != RG_YAML_SCALAR || rg_yaml_is_null(node))
		return rg_config_wrong_node(source, node, shown->key, "a value", err);
	if (table[i].kind == NUMBER && node->quoted)
		return rg_config_wrong_node(source, node, shown->key,
					    "a whole number without quotes", err);
	return change_setting(source, i, node->value, node->line, err);
}

static int read_member(const struct rg_config_source *source, const char *root,
		       const struct rg_yaml *node, struct roger_err *err)
{
	size_t i;

	if (rg_str_is(node->key, "groups"))
		return source->foreign ? ROGER_OK
				       : read_each(source, "groups", node,
						   "names, each with a list of agents",
						   rg_config_read_group, err);
	for (i = 0; i < SETTING_COUNT; i++)
		if (*table[i].section && rg_str_is(node->key, table[i].section))
			return read_each(source, table[i].section, node, "settings below it",
					 read_setting, err);
	return read_setting(source, root, node, err);
}

static int read_root(const struct rg_config_source *source, const struct rg_yaml *root,
		     struct roger_err *err)
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

/* Parse a file.  Every error but ROGER_ENOMEM becomes ROGER_ECONFIG. */
static int read_yaml(const struct rg_config_source *source, struct roger_str text,
		     const struct rg_yaml **ret_root, struct roger_err *err)
{
	int r = rg_yaml_read(text, source->name, source->config->memory, ret_root, err);

	if (r == ROGER_OK || r == ROGER_ENOMEM)
		return r;
	if (err)
		err->code = ROGER_ECONFIG;
	return ROGER_ECONFIG;
}

int rg_config_read(struct rg_config *config, struct roger_str text, const char *file, bool foreign,
		   struct roger_err *err)
{
	struct rg_config_source source = { .config = config, .name = file, .foreign = foreign };
	const struct rg_yaml *root;
	int r = read_yaml(&source, text, &root, err);

	return r < 0 ? r : read_root(&source, root, err);
}

bool rg_config_next_command(const struct rg_config *config, size_t *i,
			    struct roger_str *ret_setting, struct roger_strs *ret_words)
{
	const struct rg_wake_agent *agent;

	*ret_words = (struct roger_strs){ 0 };
	for (; !ret_words->count && *i < SETTING_COUNT + config->wake_agent_count; ++*i) {
		if (*i >= SETTING_COUNT) {
			agent = &config->wake_agents[*i - SETTING_COUNT];
			*ret_setting = rg_config_setting_at(config, agent->shown)->key;
			*ret_words = agent->words;
		} else if (table[*i].kind == WORDS) {
			*ret_setting = rg_str(table[*i].key);
			memcpy(ret_words, (const char *)config + table[*i].offset,
			       sizeof *ret_words);
		}
	}
	return ret_words->count > 0;
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

/* -------------------------------------------------------------- loading -- */

struct rg_config *rg_config_free(struct rg_config *config)
{
	struct rg_config *before;

	/* The configuration lives in its own memory. */
	for (; config; config = before) {
		before = config->before;
		rg_arena_free(config->memory);
	}
	return NULL;
}

static void config_freep(struct rg_config **config)
{
	*config = rg_config_free(*config);
}

int rg_config_new(struct rg_config **ret_config, struct roger_err *err)
{
	RG_CLEANUP(config_freep) struct rg_config *config = NULL;
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
	config->group_names.arena = config->group_names_low.arena = config->keys_low.arena = memory;

	/* Every command does this, so nothing is printed or copied. */
	for (i = 0; i < SETTING_COUNT; i++) {
		setting = add_setting(config);
		if (!setting)
			return rg_fail_memory(err);
		setting->key = rg_str(table[i].key);
		setting->origin = default_origin;
		r = set_value(config, i, rg_str(table[i].text), err);
		if (r < 0)
			return r;
	}
	*ret_config = config;
	config = NULL;
	return ROGER_OK;
}

static const char config_file[] = ".roger/config.yaml";

static int read_file(const char *root, const char *file, struct rg_buf *out, bool *ret_found,
		     struct roger_err *err)
{
	struct roger_err inner = { 0 };
	char path[PATH_BYTES];
	int r;

	snprintf(path, sizeof path, "%s/%s", root, file);
	r = rg_file_read_all(path, RG_CONFIG_BYTES_MAX, out, ret_found, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		return rg_fail(err, ROGER_ECONFIG, 0, "%s: %s", file, inner.message);
	return ROGER_OK;
}

/* Every command reads the configuration, but few need groups, so a longer section is read later. */
enum { GROUPS_BYTES = 16 << 10 };

/*
 * Split a text into the section of groups and the rest, both with the line numbers of the text.
 * The section ends before a line that begins with anything but a blank or '#'.  Returns its length.
 */
static size_t part_groups(struct roger_str text, struct rg_buf *groups, struct rg_buf *others)
{
	static const char start[] = "groups:";
	bool inside = false, found = false;
	struct roger_str line;
	size_t length = 0;

	while (rg_str_next_line(&text, &line)) {
		if (inside)
			inside = !line.length || strchr(" #\r", *line.data);
		else if (!found)
			inside = found = rg_str_is(line, start) ||
					 (rg_str_begins(line, start) &&
					  strchr(" #\r", line.data[sizeof start - 1]));
		length += inside ? line.length + 1 : 0;
		rg_buf_add_str(inside ? groups : others, line);
		rg_buf_add_char(groups, '\n');
		rg_buf_add_char(others, '\n');
	}
	return length;
}

static bool has_groups(const struct rg_yaml *root)
{
	const struct rg_yaml *member = root ? root->first : NULL;

	while (member && !rg_str_is(member->key, "groups"))
		member = member->next;
	return member != NULL;
}

/* Load roger's file; a long section of groups is read later if the rest can be read by itself. */
static int load_own(struct rg_config *config, const char *folder, struct roger_err *err)
{
	const struct rg_config_source source = { .config = config, .name = config_file };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf others = { .maximum = SIZE_MAX };
	struct rg_buf groups = { .maximum = SIZE_MAX };
	const struct rg_yaml *root = NULL;
	int r = read_file(folder, config_file, &text, NULL, err);

	if (r < 0)
		return r;
	if (text.length > GROUPS_BYTES &&
	    part_groups(rg_buf_str(&text), &groups, &others) > GROUPS_BYTES && !others.failed &&
	    rg_yaml_read(rg_buf_str(&others), source.name, config->memory, &root, NULL) ==
		    ROGER_OK &&
	    !has_groups(root)) {
		r = read_root(&source, root, err);
		if (!rg_arena_keep(config->memory, &groups, &config->groups_unread))
			return rg_fail_memory(err);
		return r;
	}
	rg_buf_deinit(&groups);
	return rg_config_read(config, rg_buf_str(&text), config_file, false, err);
}

int rg_config_read_groups(struct rg_config *config, struct roger_err *err)
{
	const struct roger_str unread = config->groups_unread;
	int r;

	config->groups_unread.length = 0;
	r = rg_config_read(config, unread, config_file, false, err);
	if (r < 0)
		config->groups_unread = unread;
	return r;
}

static const char blanks[] = " \t\r\n\"'", around_keys[] = " \t\r\n\"',{[:";

/* Keep the word before each colon, in lower case; false: some keys may not be found so. */
static bool find_keys(struct rg_config *config, struct roger_str text)
{
	struct roger_str left = text, key;
	const char *colon;
	char low[RG_CONFIG_NAME_BYTES];

	/* Escapes, aliases, tags, merged and explicit keys may hide a key. */
	if (memmem(text.data, text.length, "? ", 2) || memchr(text.data, '\\', text.length) ||
	    memchr(text.data, '&', text.length) || memchr(text.data, '!', text.length) ||
	    memmem(text.data, text.length, "''", 2))
		return false;
	while ((colon = memchr(left.data, ':', left.length))) {
		key = (struct roger_str){ colon, 0 };
		while (key.data > text.data && strchr(blanks, key.data[-1]))
			key.data--;
		while (key.data > text.data && !strchr(around_keys, key.data[-1])) {
			key.data--;
			key.length++;
		}
		key = rg_config_in_lower_case(key, low);
		if (key.length && (!rg_arena_copy(config->memory, key, &key) ||
				   !rg_names_add(&config->keys_low, key)))
			return false;
		left.length -= (size_t)(colon + 1 - left.data);
		left.data = colon + 1;
	}
	return config->keys_low.count;
}

bool rg_config_may_be_group(struct rg_config *config, struct roger_str name)
{
	char low[RG_CONFIG_NAME_BYTES];
	size_t i;

	if (!config->groups_unread.length)
		return rg_config_group(config, name);
	if (!config->keys_low.count && !find_keys(config, config->groups_unread)) {
		config->keys_low.count = 0;
		return true;
	}
	for (i = 0; i < name.length; i++)
		if (strchr(around_keys, name.data[i]))
			return true;
	return rg_names_have(&config->keys_low, rg_config_in_lower_case(name, low));
}

static int load_environment(struct rg_config *config, struct roger_err *err)
{
	static const char *const names[] = { "ROGER_STORE", "store", "ROGER_RECIPIENTS",
					     "recipients" };
	const char *value;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < sizeof names / sizeof *names; i += 2) {
		struct rg_config_source source = { .config = config, .name = names[i] };

		value = getenv(names[i]);
		if (value && *value)
			r = change_setting(&source, find_setting("", rg_str(names[i + 1])),
					   rg_str(value), 0, err);
	}
	return r;
}

/* True if a folder of the project holds a journal that is not empty. */
static bool has_journal(const struct rg_config *config, const char *root, const char *folder)
{
	struct rg_file_facts facts;
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s/%s", root, folder, config->jsonl_file.data);
	return rg_file_look(-1, path, &facts, NULL) == ROGER_OK && facts.size > 0;
}

/*
 * If no file names a data folder, use the default one of the origin's program, unless
 * roger has messages of its own already.
 */
static int use_origin_folder(struct rg_config *config, const char *root, struct roger_err *err)
{
	size_t i = find_setting("storage", RG_STR("data_dir"));
	struct roger_setting *setting = rg_config_setting_at(config, i);
	bool ours, theirs;

	if (!rg_str_equal(setting->origin, default_origin))
		return ROGER_OK;
	ours = has_journal(config, root, ".roger");
	theirs = has_journal(config, root, origin_folder);
	if (ours && !theirs)
		return ROGER_OK;
	if (ours)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       ".roger/%.*s and %s/%.*s both hold messages; say which counts with "
			       "storage.data_dir in .roger/config.yaml",
			       RG_STR_ARGS(config->jsonl_file), origin_folder,
			       RG_STR_ARGS(config->jsonl_file));
	setting->origin = rg_str(origin_file);
	config->places_configured = true;
	return set_value(config, i, rg_str(origin_folder), err);
}

int rg_config_load(const char *root, struct rg_config **ret_config, struct roger_err *err)
{
	RG_CLEANUP(config_freep) struct rg_config *config = NULL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	bool has_origin = false;
	int r;

	r = rg_config_new(&config, err);
	if (r < 0)
		return r;
	r = read_file(root, origin_file, &text, &has_origin, err);
	if (r == ROGER_OK)
		r = rg_config_read(config, rg_buf_str(&text), origin_file, true, err);
	if (r == ROGER_OK)
		r = load_own(config, root, err);
	if (r == ROGER_OK && has_origin)
		r = use_origin_folder(config, root, err);
	if (r == ROGER_OK)
		r = load_environment(config, err);
	if (r < 0)
		return r;
	*ret_config = config;
	config = NULL;
	return ROGER_OK;
}

uint64_t rg_config_mark(const char *root)
{
	const char *const files[] = { origin_file, config_file };
	int64_t states[2][3];
	size_t i;

	for (i = 0; i < 2; i++) {
		struct rg_file_facts facts = { 0 };
		char path[PATH_BYTES];

		snprintf(path, sizeof path, "%s/%s", root, files[i]);
		(void)!rg_file_look(-1, path, &facts, NULL);
		states[i][0] = (int64_t)facts.inode;
		states[i][1] = facts.size;
		states[i][2] = facts.written_ns;
	}
	return rg_hash(1, states, sizeof states);
}

bool rg_config_same_places(const struct rg_config *one, const struct rg_config *other)
{
	const struct roger_str *a, *b;
	size_t i;

	for (i = 0; i < SETTING_COUNT; i++) {
		a = (const void *)((const char *)one + table[i].offset);
		b = (const void *)((const char *)other + table[i].offset);
		if (is_place(i) && !rg_str_equal(*a, *b))
			return false;
	}
	return true;
}
