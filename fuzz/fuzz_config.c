/*
 * Any bytes as config.yaml (first byte even) or phase-messenger.yaml.  What is
 * accepted keeps every bound, and written out as YAML it reads as the same
 * settings; any error is one line of valid text that starts with the file.
 */
#include "base/limits.h"
#include "data/record.h"
#include "host/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct roger_err *err)
{
	size_t chars;

	rg_assert(!strncmp(err->message, "f:", 2) && !strchr(err->message, '\n'));
	rg_assert(rg_utf8_count(rg_str(err->message), &chars));
}

static struct rg_config *read_config(struct roger_str text, bool foreign)
{
	struct rg_config *config = NULL;
	struct roger_err err = { 0 };
	int r;

	r = rg_config_new(&config, &err);
	rg_assert(r == ROGER_OK);
	r = rg_config_read(config, text, "f", foreign, &err);
	if (r == ROGER_OK)
		return config;
	rg_assert(r == ROGER_ECONFIG && err.code == ROGER_ECONFIG);
	check_error(&err);
	return rg_config_free(config);
}

static bool between(int64_t number, int64_t least, int64_t most)
{
	return number >= least && number <= most;
}

static bool is_file_name(struct roger_str name)
{
	return name.length && !memchr(name.data, '/', name.length) &&
	       !memchr(name.data, '\0', name.length) && !rg_str_is(name, ".") &&
	       !rg_str_is(name, "..");
}

static void check_groups(const struct rg_config *config)
{
	const struct rg_group *group;
	size_t i, j;

	for (i = 0; i < config->group_count; i++) {
		group = &config->groups[i];
		rg_assert(rg_name_valid(group->name) && !rg_str_is(group->name, "all"));
		rg_assert(rg_config_group(config, group->name) == group);
		rg_assert(group->members.count);
		for (j = 0; j < group->members.count; j++) {
			rg_assert(rg_name_valid(group->members.items[j]));
			rg_assert(!rg_str_is(group->members.items[j], "all"));
			rg_assert(!rg_config_group(config, group->members.items[j]));
		}
	}
}

static void check_config(const struct rg_config *config)
{
	rg_assert(between(config->content_chars_max, 1, RG_CONTENT_CHARS_CEILING));
	rg_assert(between(config->metadata_chars_max, 0, RG_CONTENT_CHARS_CEILING));
	rg_assert(between(config->messages_per_issue_phase_max, 1, 1000000));
	rg_assert(between(config->messages_per_issue_max, 1, 1000000));
	rg_assert(between(config->max_age_days, 0, 36500));
	rg_assert(between(config->keep_per_phase, 0, 1000000));
	rg_assert(between(config->keep_runs, 0, 1000000));
	rg_assert(config->data_dir.length &&
		  !memchr(config->data_dir.data, '\0', config->data_dir.length));
	rg_assert(is_file_name(config->database_file) && is_file_name(config->jsonl_file));
	rg_assert(!rg_str_equal(config->database_file, config->jsonl_file));
	check_groups(config);
}

/* Quoted, with every character that is more than a letter or digit written as its code. */
static void write_quoted(struct roger_str text, struct rg_buf *out)
{
	size_t at = 0;
	uint32_t c = 0;

	rg_buf_add_char(out, '"');
	while (at < text.length) {
		at += rg_utf8_next(text.data + at, text.length - at, &c);
		if (between(c, '0', '9') || between(c, 'a', 'z'))
			rg_buf_add_char(out, (char)c);
		else
			rg_buf_printf(out, "\\U%08x", (unsigned)c);
	}
	rg_buf_add_char(out, '"');
}

/* Numbers and switches may not be quoted; what is only letters and digits need not be. */
static void write_value(struct roger_str text, struct rg_buf *out)
{
	size_t i;

	for (i = 0; i < text.length; i++)
		if (!between(text.data[i], '0', '9') && !between(text.data[i], 'a', 'z'))
			break;
	if (text.length && i == text.length && !rg_str_is(text, "null"))
		rg_buf_add_str(out, text);
	else
		write_quoted(text, out);
}

static void write_list(const struct roger_strs *list, struct rg_buf *out)
{
	size_t i;

	rg_buf_add_char(out, '[');
	for (i = 0; i < list->count; i++) {
		rg_buf_add_text(out, i ? ", " : "");
		write_quoted(list->items[i], out);
	}
	rg_buf_add_text(out, "]\n");
}

/* Names need no codes, and a key may not be long in YAML. */
static void write_groups(const struct rg_config *config, struct rg_buf *out)
{
	size_t i;

	rg_buf_add_text(out, "groups:\n");
	for (i = 0; i < config->group_count; i++) {
		rg_buf_printf(out, "  '%.*s': ", RG_STR_ARGS(config->groups[i].name));
		write_list(&(struct roger_strs){ config->groups[i].members.items,
						 config->groups[i].members.count },
			   out);
	}
}

static void write_agents(const struct rg_config *config, struct rg_buf *out)
{
	size_t i;

	rg_buf_add_text(out, "  agents:\n");
	for (i = 0; i < config->wake_agent_count; i++) {
		rg_buf_printf(out, "    '%.*s': ", RG_STR_ARGS(config->wake_agents[i].name));
		write_list(&config->wake_agents[i].words, out);
	}
}

/* What is a list, by its setting; NULL: not a list. */
static const struct roger_strs *list_of(const struct rg_config *config, struct roger_str key)
{
	if (rg_str_is(key, "bridge.file_only"))
		return &config->file_only;
	if (rg_str_is(key, "dead_letters.command"))
		return &config->dead_letter_command;
	return rg_str_is(key, "watchdog.recovery_command") ? &config->recovery_command : NULL;
}

static void write_setting(const struct rg_config *config, const struct roger_setting *setting,
			  struct roger_str *section, struct rg_buf *out)
{
	const struct roger_strs *list = list_of(config, setting->key);
	const char *dot = memchr(setting->key.data, '.', setting->key.length);
	struct roger_str of = { setting->key.data, dot ? (size_t)(dot - setting->key.data) : 0 };
	struct roger_str name = setting->key;

	if (dot && !rg_str_equal(of, *section)) {
		rg_buf_printf(out, "%.*s:\n", RG_STR_ARGS(of));
		if (rg_str_is(of, "wake"))
			write_agents(config, out);
		*section = of;
	}
	if (dot) {
		name.data += of.length + 1;
		name.length -= of.length + 1;
	}
	rg_buf_printf(out, "%s%.*s: ", dot ? "  " : "", RG_STR_ARGS(name));
	if (list)
		write_list(list, out);
	else
		write_value(setting->value, out);
	rg_buf_add_char(out, '\n');
}

static bool starts_with(struct roger_str text, const char *start)
{
	return text.length >= strlen(start) && !memcmp(text.data, start, strlen(start));
}

/* The settings of a section stand together. */
static void write_config(const struct rg_config *config, struct rg_buf *out)
{
	struct roger_str section = { 0 };
	size_t i;

	for (i = 0; i < config->settings.count; i++)
		if (!starts_with(config->settings.items[i].key, "groups.") &&
		    !starts_with(config->settings.items[i].key, "wake.agents."))
			write_setting(config, &config->settings.items[i], &section, out);
	write_groups(config, out);
}

static void check_written(const struct rg_config *config)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_config *again;
	size_t i;

	write_config(config, &text);
	rg_assert(!text.failed);
	again = read_config(rg_buf_str(&text), false);
	rg_assert(again);
	rg_assert(again->settings.count == config->settings.count);
	for (i = 0; i < config->settings.count; i++) {
		rg_assert(
			rg_str_equal(again->settings.items[i].key, config->settings.items[i].key));
		rg_assert(rg_str_equal(again->settings.items[i].value,
				       config->settings.items[i].value));
	}
	rg_config_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rg_config *config;

	if (size == 0)
		return 0;
	config = read_config((struct roger_str){ (const char *)data + 1, size - 1 }, data[0] & 1);
	if (!config)
		return 0;
	check_config(config);
	check_written(config);
	rg_config_free(config);
	return 0;
}
