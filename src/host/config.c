/* config: the files that settings come from, the environment, and look-ups. */
#include "host/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/id.h"
#include "base/limits.h"
#include "data/yaml.h"
#include "host/file.h"
#include "host/workspace.h"

enum { PATH_BYTES = 4400 };

/* The settings of the program that seed 004 comes from, and the default folder of its files. */
static const char origin_file[] = ".agent-shepherd/config/phase-messenger.yaml",
		  origin_folder[] = ".agent-shepherd", config_file[] = ".roger/config.yaml";

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

static int read_file(const char *root, const char *file, struct rg_buf *out, bool *ret_found,
		     struct roger_err *err)
{
	struct roger_err inner = { 0 };
	char path[PATH_BYTES];
	int r;

	rg_workspace_path(root, rg_str(file), path, sizeof path);
	r = rg_file_read_all(AT_FDCWD, path, RG_CONFIG_BYTES_MAX, out, ret_found, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	/* Too many open files are no fault of this one. */
	if (r < 0 && (inner.system_errno == EMFILE || inner.system_errno == ENFILE))
		return rg_fail(err, (enum roger_code)r, inner.system_errno, "open '%s'", file);
	return r < 0 ? rg_fail(err, ROGER_ECONFIG, 0, "%s: %s", file, inner.message) : ROGER_OK;
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
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf others = { .maximum = SIZE_MAX };
	struct rg_buf groups = { .maximum = SIZE_MAX };
	const struct rg_yaml *root = NULL;
	int r = read_file(folder, config_file, &text, NULL, err);

	if (r < 0)
		return r;
	if (text.length > GROUPS_BYTES && !memchr(text.data, '\0', text.length) &&
	    part_groups(rg_buf_str(&text), &groups, &others) > GROUPS_BYTES && !others.failed &&
	    rg_yaml_read(rg_buf_str(&others), config_file, config->memory, &root, NULL) ==
		    ROGER_OK &&
	    !has_groups(root)) {
		r = rg_config_read(config, rg_buf_str(&others), config_file, false, err);
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

/* Escapes, aliases, tags, merged and explicit keys may hide a key. */
static bool hides_keys(const char *text)
{
	while ((text = strpbrk(text, "\\&!?'"))) {
		if (strchr("\\&!", *text) || (*text == '?' && text[1] == ' ') ||
		    (*text == '\'' && text[1] == '\''))
			return true;
		text++;
	}
	return false;
}

/* Looks for the name before each colon. */
bool rg_config_may_be_group(struct rg_config *config, struct roger_str name)
{
	const struct roger_str text = config->groups_unread;
	const char *colon = text.data, *key;

	if (!text.length)
		return rg_config_group(config, name);
	if (hides_keys(text.data))
		return true;
	for (; (colon = strchr(colon, ':')); colon++) {
		for (key = colon; key > text.data && strchr(" \t\r\n\"'", key[-1]);)
			key--;
		if ((size_t)(key - text.data) <= name.length)
			continue;
		key -= name.length;
		if (strchr(" \t\r\n\"',{[:", key[-1]) &&
		    strncasecmp(key, name.data, name.length) == 0)
			return true;
	}
	return false;
}

static int load_environment(struct rg_config *config, struct roger_err *err)
{
	static const char *const names[] = { "ROGER_STORE", "store", "ROGER_RECIPIENTS",
					     "recipients" };
	const char *value;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < sizeof names / sizeof *names; i += 2) {
		value = getenv(names[i]);
		if (value && *value)
			r = rg_config_set(config, names[i + 1], rg_str(value), names[i], err);
	}
	return r;
}

/* True if a folder of the project holds a journal that is not empty. */
static bool has_journal(const struct rg_config *config, const char *root, const char *folder)
{
	struct rg_file_facts facts;
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s/%s", root, folder, config->jsonl_file.data);
	return rg_file_look(AT_FDCWD, path, &facts, NULL) == ROGER_OK && facts.size > 0;
}

/*
 * If no file names a data folder, use the default one of the origin's program, unless
 * roger has messages of its own already.
 */
static int use_origin_folder(struct rg_config *config, const char *root, struct roger_err *err)
{
	static const char key[] = "storage.data_dir";
	bool ours, theirs;

	if (!rg_str_is(rg_config_setting(config, key)->origin, "default"))
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
	return rg_config_set(config, key, rg_str(origin_folder), origin_file, err);
}

int rg_config_load(const char *root, struct rg_config **ret_config, struct roger_err *err)
{
	RG_CLEANUP(rg_config_freep) struct rg_config *config = NULL;
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
		(void)!rg_file_look(AT_FDCWD, path, &facts, NULL);
		states[i][0] = (int64_t)facts.inode;
		states[i][1] = facts.size;
		states[i][2] = facts.written_ns;
	}
	return rg_hash(1, states, sizeof states);
}

/* ------------------------------------------------------------- look-ups -- */

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

const struct rg_wake_agent *rg_config_wake(const struct rg_config *config, struct roger_str name)
{
	size_t i;

	for (i = 0; i < config->wake_agent_count; i++)
		if (rg_str_equal(config->wake_agents[i].name, name))
			return &config->wake_agents[i];
	return NULL;
}
