/*
 * What host/config.h promises: defaults are those of base/limits.h, later
 * sources win and are named, the phase-messenger.yaml of seed 004 is used as
 * it stands, every wrong value names its file, line and key and what was
 * expected, and no YAML trick gets through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "data/yaml.h"
#include "host/config.h"

static struct rg_config *defaults(void)
{
	struct rg_config *config = NULL;

	assert_int_equal(rg_config_new(&config, NULL), ROGER_OK);
	return config;
}

/* A configuration made of one text. */
static struct rg_config *of_text(struct roger_str text, bool foreign)
{
	struct rg_config *config = defaults();
	struct roger_err err;

	if (rg_config_read(config, text, "f.yaml", foreign, &err) < 0)
		fail_msg("not read: %s", err.message);
	return config;
}

static struct rg_config *of(const char *text)
{
	return of_text(rg_str(text), false);
}

/* Settings there are when there is no group. */
static size_t table_count(void)
{
	struct rg_config *config = defaults();
	size_t count = config->settings.count;

	rg_config_free(config);
	return count;
}

static void refused_text(struct roger_str text, const char *message)
{
	struct rg_config *config = defaults();
	struct roger_err err = { 0 };
	int r = rg_config_read(config, text, "f.yaml", false, &err);

	if (r != ROGER_ECONFIG || err.code != ROGER_ECONFIG)
		fail_msg("result %d where '%s' was expected", r, message);
	assert_string_equal(err.message, message);
	assert_int_equal(rg_config_read(config, text, "f.yaml", false, NULL), ROGER_ECONFIG);
	rg_config_free(config);
}

static void refused(const char *text, const char *message)
{
	refused_text(rg_str(text), message);
}

/* Refused for what it is, whatever libyaml says about it. */
static void not_read(struct roger_str text, const char *start)
{
	struct rg_config *config = defaults();
	struct roger_err err = { 0 };

	assert_int_equal(rg_config_read(config, text, "f.yaml", false, &err), ROGER_ECONFIG);
	if (strncmp(err.message, start, strlen(start)) != 0)
		fail_msg("'%s' where '%s' was expected", err.message, start);
	rg_config_free(config);
}

static const struct roger_setting *setting(const struct rg_config *config, const char *key)
{
	size_t i;

	for (i = 0; i < config->settings.count; i++)
		if (rg_str_is(config->settings.items[i].key, key))
			return &config->settings.items[i];
	fail_msg("no setting '%s'", key);
	return NULL;
}

static void shows(const struct rg_config *config, const char *key, const char *value,
		  const char *origin)
{
	const struct roger_setting *shown = setting(config, key);

	assert_true(rg_str_is(shown->value, value));
	assert_true(rg_str_is(shown->origin, origin));
}

/* -------------------------------------------------------------- defaults -- */

static void defaults_are_the_limits(void **state)
{
	struct rg_config *config = defaults();

	(void)state;
	assert_int_equal(config->content_chars_max, 10000);
	assert_int_equal(config->metadata_chars_max, 5000);
	assert_int_equal(config->messages_per_issue_phase_max, 100);
	assert_int_equal(config->messages_per_issue_max, 500);
	assert_int_equal(config->max_age_days, 90);
	assert_int_equal(config->keep_per_phase, 10);
	assert_int_equal(config->keep_runs, 1);
	assert_true(rg_str_is(config->data_dir, ".roger"));
	assert_true(rg_str_is(config->database_file, "messages.db"));
	assert_true(rg_str_is(config->jsonl_file, "messages.jsonl"));
	assert_int_equal(config->recipients, RG_RECIPIENTS_NEAR);
	assert_int_equal(config->group_count, 0);
	assert_null(rg_config_group(config, RG_STR("workers")));

	shows(config, "size_limits.max_content_length", "10000", "default");
	shows(config, "recipients", "near", "default");
	rg_config_free(config);
	assert_null(rg_config_free(NULL));
}

static void nothing_written_changes_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"# only a comment\n",
		"---\n",
		"--- ~\n...\n",
		"{}",
		"size_limits:\n  # max_content_length: 5\ncleanup: {}\ngroups:\n"
	};
	struct rg_config *config;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		config = of(texts[i]);
		assert_int_equal(config->content_chars_max, 10000);
		assert_int_equal(config->settings.count, table_count());
		rg_config_free(config);
	}
}

/* -------------------------------------------------------------- settings -- */

static void every_setting_can_be_set(void **state)
{
	struct rg_config *config =
		of("size_limits:\n"
		   "  max_content_length: 1\n"
		   "  max_metadata_length: 0\n"
		   "  max_messages_per_issue_phase: 1000000\n"
		   "  max_messages_per_issue: 2\n"
		   "cleanup: {default_max_age_days: 36500, keep_last_n_per_phase: 0,\n"
		   "          keep_last_n_runs: 7}\n"
		   "storage:\n"
		   "  data_dir: /srv/mail box\n"
		   "  database_file: \"a.db\"\n"
		   "  jsonl_file: 'b.jsonl'\n"
		   "recipients: strict\n"
		   "groups:\n"
		   "  workers: [WORKER-A, WORKER-B]\n"
		   "  reviewers:\n"
		   "    - lead\n");
	const struct rg_group *group = rg_config_group(config, RG_STR("workers"));

	(void)state;
	assert_int_equal(config->content_chars_max, 1);
	assert_int_equal(config->metadata_chars_max, 0);
	assert_int_equal(config->messages_per_issue_phase_max, 1000000);
	assert_int_equal(config->messages_per_issue_max, 2);
	assert_int_equal(config->max_age_days, 36500);
	assert_int_equal(config->keep_per_phase, 0);
	assert_int_equal(config->keep_runs, 7);
	assert_true(rg_str_is(config->data_dir, "/srv/mail box"));
	assert_true(rg_str_is(config->database_file, "a.db"));
	assert_true(rg_str_is(config->jsonl_file, "b.jsonl"));
	assert_int_equal(config->recipients, RG_RECIPIENTS_STRICT);

	assert_int_equal(config->group_count, 2);
	assert_int_equal(group->members.count, 2);
	assert_true(rg_str_is(group->members.items[0], "WORKER-A"));
	assert_true(rg_str_is(group->members.items[1], "WORKER-B"));
	assert_null(rg_config_group(config, RG_STR("Workers")));

	assert_int_equal(config->settings.count, table_count() + 2);
	shows(config, "cleanup.keep_last_n_runs", "7", "f.yaml:7");
	shows(config, "storage.data_dir", "/srv/mail box", "f.yaml:9");
	shows(config, "recipients", "strict", "f.yaml:12");
	shows(config, "groups.workers", "WORKER-A, WORKER-B", "f.yaml:14");
	shows(config, "groups.reviewers", "lead", "f.yaml:15");
	rg_config_free(config);
}

static void a_switch_is_true_or_false(void **state)
{
	struct rg_config *config = of("activity: {own: false}");

	(void)state;
	assert_false(config->note_own);
	shows(config, "activity.own", "false", "f.yaml:1");
	rg_config_free(config);
	config = defaults();
	assert_true(config->note_own);
	rg_config_free(config);
	refused_text(RG_STR("activity:\n  own: yes\n"),
		     "f.yaml:2: activity.own: expected true or false");
	refused_text(RG_STR("activity: {own: [true]}"), "f.yaml:1: activity.own: expected a value");
}

static void spans_and_commands(void **state)
{
	struct rg_config *config = of("watchdog:\n"
				      "  within: 90s\n"
				      "  recovery_cooldown: 0\n"
				      "  recovery_command: [find result, '$RUN; x', 3]\n");

	(void)state;
	assert_int_equal(config->run_within_ms, 90000);
	assert_int_equal(config->recovery_cooldown_ms, 0);
	assert_int_equal(config->recoveries_max, 3);
	assert_int_equal(config->recovery_command_timeout_ms, 30000);
	assert_int_equal(config->recovery_command.count, 3);
	assert_true(rg_str_is(config->recovery_command.items[1], "$RUN; x"));
	assert_true(rg_str_is(config->recovery_command.items[2], "3"));
	shows(config, "watchdog.within", "90s", "f.yaml:2");
	shows(config, "watchdog.recovery_command", "find result $RUN; x 3", "f.yaml:4");
	assert_int_equal(rg_config_read(config, RG_STR("watchdog: {recovery_command: []}"),
					"g.yaml", false, NULL),
			 ROGER_OK);
	assert_int_equal(config->recovery_command.count, 0);
	rg_config_free(config);
	refused("watchdog: {within: soon}",
		"f.yaml:1: watchdog.within: expected a span such as 30s, 5m or 2h, from 1000ms to "
		"2592000s");
	refused("watchdog: {within: 1ms}",
		"f.yaml:1: watchdog.within: expected a span such as 30s, 5m or 2h, from 1000ms to "
		"2592000s");
	refused("watchdog: {recovery_command: rm -rf x}",
		"f.yaml:1: watchdog.recovery_command: expected a list: a program and its "
		"arguments");
	refused("watchdog: {recovery_command: ['']}",
		"f.yaml:1: watchdog.recovery_command: expected a program and its arguments");
	refused("watchdog: {recovery_command: [a, [b]]}",
		"f.yaml:1: watchdog.recovery_command: expected a program and its arguments");
}

static void forms_of_text_are_one(void **state)
{
	static const char utf16[] =
		"\xff\xfer\0e\0c\0i\0p\0i\0e\0n\0t\0s\0:\0 \0s\0t\0r\0i\0c\0t\0\r\0\n\0";
	struct rg_config *config;

	(void)state;
	config = of("\xef\xbb\xbfrecipients: strict\r\nstorage:\r\n  data_dir: d\r\n");
	assert_int_equal(config->recipients, RG_RECIPIENTS_STRICT);
	shows(config, "storage.data_dir", "d", "f.yaml:3");
	rg_config_free(config);

	config = of_text((struct roger_str){ utf16, sizeof utf16 - 1 }, false);
	assert_int_equal(config->recipients, RG_RECIPIENTS_STRICT);
	rg_config_free(config);
}

static void numbers_keep_their_bounds(void **state)
{
	struct rg_config *config;
	char text[100];

	(void)state;
	/* The longest that a request may ask for is the longest that may be configured. */
	snprintf(text, sizeof text, "watchdog: {within: %lldms}\nclaims: {max_lease: %lldms}\n",
		 (long long)RG_RUN_WITHIN_MS_MAX, (long long)RG_LEASE_MS_MAX);
	config = of(text);
	assert_int_equal(config->run_within_ms, RG_RUN_WITHIN_MS_MAX);
	assert_int_equal(config->lease_ms_max, RG_LEASE_MS_MAX);
	rg_config_free(config);
	refused("size_limits:\n  max_content_length: 0\n",
		"f.yaml:2: size_limits.max_content_length: expected a whole number from 1 to "
		"1000000");
	refused("size_limits:\n  max_content_length: 1000001\n",
		"f.yaml:2: size_limits.max_content_length: expected a whole number from 1 to "
		"1000000");
	refused("size_limits:\n  max_metadata_length: 1000001\n",
		"f.yaml:2: size_limits.max_metadata_length: expected a whole number from 0 to "
		"1000000");
	refused("size_limits: {max_messages_per_issue_phase: 0}",
		"f.yaml:1: size_limits.max_messages_per_issue_phase: expected a whole number from "
		"1 to 1000000");
	refused("size_limits: {max_messages_per_issue: 0}",
		"f.yaml:1: size_limits.max_messages_per_issue: expected a whole number from 1 to "
		"1000000");
	refused("cleanup:\n\n\n  default_max_age_days: 36501\n",
		"f.yaml:4: cleanup.default_max_age_days: expected a whole number from 0 to 36500");
	refused("cleanup: {keep_last_n_per_phase: 1000001}",
		"f.yaml:1: cleanup.keep_last_n_per_phase: expected a whole number from 0 to "
		"1000000");
	refused("claims: {max_lease: 8d}",
		"f.yaml:1: claims.max_lease: expected a span such as 30s, 5m or 2h, from 1000ms to "
		"604800s");
	refused("cleanup: {keep_last_n_runs: 1000001}",
		"f.yaml:1: cleanup.keep_last_n_runs: expected a whole number from 0 to 1000000");
}

static void numbers_are_digits(void **state)
{
	static const char *const bad[] = { "-1",
					   "+1",
					   "1.0",
					   "1e3",
					   "0x10",
					   "010",
					   "1_000",
					   "1,000",
					   "ten",
					   "yes",
					   ".inf",
					   "[1]",
					   "{}",
					   "",
					   "~",
					   "\"1\"",
					   "99999999999999999999999999" };
	struct rg_config *config;
	struct roger_err err;
	char text[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		config = defaults();
		snprintf(text, sizeof text, "cleanup:\n  keep_last_n_runs: %s\n", bad[i]);
		if (rg_config_read(config, rg_str(text), "f.yaml", false, &err) != ROGER_ECONFIG)
			fail_msg("'%s' was read", bad[i]);
		assert_non_null(
			strstr(err.message, "f.yaml:2: cleanup.keep_last_n_runs: expected "));
		rg_config_free(config);
	}
}

static void paths_are_checked(void **state)
{
	(void)state;
	refused("storage:\n  data_dir: \"\"\n", "f.yaml:2: storage.data_dir: expected a path");
	refused("storage:\n  data_dir: \"a\\nb\"\n", "f.yaml:2: storage.data_dir: expected a path");
	refused("storage:\n  data_dir:\n", "f.yaml:2: storage.data_dir: expected a value");
	refused("storage:\n  data_dir: null\n", "f.yaml:2: storage.data_dir: expected a value");
	refused("storage:\n  data_dir: [a]\n", "f.yaml:2: storage.data_dir: expected a value");
	refused("storage:\n  jsonl_file: a/b\n", "f.yaml:2: storage.jsonl_file: expected the name "
						 "of a file below data_dir, without '/'");
	refused("storage:\n  database_file: ..\n", "f.yaml:2: storage.database_file: expected the "
						   "name of a file below data_dir, without '/'");
	refused("storage:\n  database_file: .\n", "f.yaml:2: storage.database_file: expected the "
						  "name of a file below data_dir, without '/'");
}

/* The one is rebuilt and removed as needed, the other is the truth. */
static void journal_and_database_are_two_files(void **state)
{
	(void)state;
	refused("storage:\n  jsonl_file: messages.db\n",
		"f.yaml:2: storage.jsonl_file: expected database_file and jsonl_file to name files "
		"of their own");
	refused("storage:\n  database_file: messages.jsonl\n",
		"f.yaml:2: storage.database_file: expected database_file and jsonl_file to name "
		"files of their own");
	refused("storage:\n  database_file: x\n  jsonl_file: x-journal\n",
		"f.yaml:3: storage.jsonl_file: expected database_file and jsonl_file to name files "
		"of their own");
	rg_config_free(
		of("storage:\n  jsonl_file: messages.db\n  database_file: messages.jsonl\n"));
	rg_config_free(of("storage:\n  database_file: messages\n"));
}

static void recipients_are_near_open_or_strict(void **state)
{
	static const char *const texts[] = { "recipients: near", "recipients: open",
					     "recipients: strict", "recipients: \"warn\"" };
	static const enum rg_recipients expected[] = { RG_RECIPIENTS_NEAR, RG_RECIPIENTS_OPEN,
						       RG_RECIPIENTS_STRICT, RG_RECIPIENTS_OPEN };
	struct rg_config *config;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		config = of(texts[i]);
		assert_int_equal(config->recipients, expected[i]);
		rg_config_free(config);
	}
	refused("recipients: Strict", "f.yaml:1: recipients: expected near, open or strict");
	refused("\n\nrecipients: true", "f.yaml:3: recipients: expected near, open or strict");
	refused("recipients: [warn]", "f.yaml:1: recipients: expected a value");
}

/* ---------------------------------------------------------------- groups -- */

static void groups_are_checked(void **state)
{
	(void)state;
	refused("groups: [a]", "f.yaml:1: groups: expected names, each with a list of agents");
	refused("groups:\n  all: [a]\n",
		"f.yaml:2: groups: expected a name other than all and roger for a group");
	refused("groups:\n  -x: [a]\n",
		"f.yaml:2: groups: expected a name other than all and roger for a group");
	refused("groups:\n  \"\": [a]\n",
		"f.yaml:2: groups: expected a name other than all and roger for a group");
	refused("groups:\n  w: a\n", "f.yaml:2: groups.w: expected a list of agents");
	refused("groups:\n  w: []\n", "f.yaml:2: groups.w: expected a list of agents");
	refused("groups:\n  w: {a: b}\n", "f.yaml:2: groups.w: expected a list of agents");
	refused("groups:\n  w:\n  - a\n  - b c\n",
		"f.yaml:4: groups.w: expected the name of an agent");
	refused("groups:\n  w:\n  - a\n  -\n", "f.yaml:4: groups.w: expected the name of an agent");
	refused("groups:\n  w:\n  - [a]\n", "f.yaml:3: groups.w: expected the name of an agent");
	refused("groups:\n  w:\n  - all\n", "f.yaml:3: groups.w: expected the name of an agent");
	refused("groups:\n  w: [a,\n    b, a]\n", "f.yaml:3: groups.w: expected each agent once");
	refused("groups:\n  w: [a, v]\n  v: [b]\n",
		"f.yaml:2: groups.w: expected agents, 'v' is a group");
	refused("groups:\n  w: [w]\n", "f.yaml:2: groups.w: expected agents, 'w' is a group");
	refused("bridge:\n  file_only: [a, w]\ngroups:\n  w: [a]\n",
		"f.yaml:2: bridge.file_only: expected agents, 'w' is a group");
	refused("wake:\n  agents:\n    a: [x]\n    w: [x]\ngroups:\n  w: [a]\n",
		"f.yaml:4: wake.agents.w: expected agents, 'w' is a group");
}

/* ------------------------------------------------------------------ wake -- */

static void agents_are_woken_as_configured(void **state)
{
	struct rg_config *config = of("wake:\n"
				      "  after: 5s\n"
				      "  backoff: 2m\n"
				      "  backoff_most: 1h\n"
				      "  timeout: 500ms\n"
				      "  agents:\n"
				      "    builder: [tmux, display-message, 'mail for {agent}']\n"
				      "    a/b: [wake, '', --all]\n"
				      "groups:\n"
				      "  w: [x]\n");
	const struct rg_wake_agent *agent = rg_config_wake(config, RG_STR("builder"));

	(void)state;
	assert_int_equal(config->wake_after_ms, 5000);
	assert_int_equal(config->wake_backoff_ms, 120000);
	assert_int_equal(config->wake_backoff_most_ms, 3600000);
	assert_int_equal(config->wake_timeout_ms, 500);
	assert_int_equal(config->wake_agent_count, 2);
	assert_int_equal(agent->words.count, 3);
	assert_true(rg_str_is(agent->words.items[0], "tmux"));
	assert_true(rg_str_is(agent->words.items[2], "mail for builder"));
	assert_true(rg_str_is(rg_config_wake(config, RG_STR("a/b"))->words.items[1], ""));
	assert_null(rg_config_wake(config, RG_STR("Builder")));
	assert_int_equal(config->settings.count, table_count() + 3);
	shows(config, "wake.after", "5s", "f.yaml:2");
	shows(config, "wake.agents.builder", "tmux display-message mail for {agent}", "f.yaml:7");
	/* Groups behind them are found and shown all the same. */
	shows(config, "groups.w", "x", "f.yaml:10");
	rg_config_free(config);

	config = of("wake:\n  agents: ~\n");
	assert_int_equal(config->wake_after_ms, 30000);
	assert_int_equal(config->wake_agent_count, 0);
	rg_config_free(config);
}

static void waking_is_checked(void **state)
{
	(void)state;
	refused("wake:\n  after: 8d\n", "f.yaml:2: wake.after: expected a span such as 30s, 5m or "
					"2h, from 0ms to 604800s");
	refused("wake:\n  backoff: 0\n", "f.yaml:2: wake.backoff: expected a span such as 30s, 5m "
					 "or 2h, from 1000ms to 86400s");
	refused("wake:\n  timeout: 2m\n", "f.yaml:2: wake.timeout: expected a span such as 30s, 5m "
					  "or 2h, from 100ms to 60s");
	refused("wake:\n  backoff: 1h\n",
		"f.yaml:2: wake.backoff: expected backoff_most to be at least backoff");
	refused("wake:\n  backoff: 1h\n  backoff_most: 1m\n",
		"f.yaml:3: wake.backoff_most: expected backoff_most to be at least backoff");
	refused("wake:\n  agents: [a]\n", "f.yaml:2: wake.agents: expected names, each with a "
					  "program and its arguments");
	refused("wake:\n  agents:\n    all: [a]\n",
		"f.yaml:3: wake.agents: expected the name of an agent");
	refused("wake:\n  agents:\n    -x: [a]\n",
		"f.yaml:3: wake.agents: expected the name of an agent");
	refused("wake:\n  agents:\n    \"a b\": [a]\n",
		"f.yaml:3: wake.agents: expected the name of an agent");
	refused("wake:\n  agents:\n    bob: echo hi\n",
		"f.yaml:3: wake.agents.bob: expected a list: a program and its arguments");
	refused("wake:\n  agents:\n    bob: []\n",
		"f.yaml:3: wake.agents.bob: expected a list: a program and its arguments");
	refused("wake:\n  agents:\n    bob:\n",
		"f.yaml:3: wake.agents.bob: expected a list: a program and its arguments");
	refused("wake:\n  agents:\n    bob: ['', x]\n",
		"f.yaml:3: wake.agents.bob: expected a program and its arguments");
	refused("wake:\n  agents:\n    bob:\n    - a\n    - [b]\n",
		"f.yaml:5: wake.agents.bob: expected a program and its arguments");
	refused("wake:\n  agent:\n    bob: [a]\n",
		"f.yaml:2: wake.agent: no such setting, did you mean 'wake.agents'?");
}

static void a_group_can_be_large(void **state)
{
	struct rg_config *config;
	struct rg_buf text;
	int i;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	rg_buf_add_text(&text, "groups:\n  w:\n");
	for (i = 0; i < RG_BATCH_MAX; i++)
		rg_buf_printf(&text, "  - agent-%d\n", i);
	config = of_text(rg_buf_str(&text), false);
	assert_int_equal(rg_config_group(config, RG_STR("w"))->members.count, RG_BATCH_MAX);
	rg_config_free(config);
	rg_buf_deinit(&text);
}

/* --------------------------------------------------------------- unknown -- */

static void unknown_keys_are_refused_with_a_hint(void **state)
{
	(void)state;
	refused("size_limits:\n  max_contnt_length: 5\n",
		"f.yaml:2: size_limits.max_contnt_length: no such setting, did you mean "
		"'size_limits.max_content_length'?");
	refused("cleanup:\n  max_content_length: 5\n",
		"f.yaml:2: cleanup.max_content_length: no such setting, did you mean "
		"'size_limits.max_content_length'?");
	refused("size_limit: {}",
		"f.yaml:1: size_limit: no such setting, did you mean 'size_limits'?");
	refused("Recipients: warn",
		"f.yaml:1: Recipients: no such setting, did you mean 'recipients'?");
	refused("group: {}", "f.yaml:1: group: no such setting, did you mean 'groups'?");
	refused("colour: red", "f.yaml:1: colour: no such setting");
	refused("storage:\n  recipients: warn\n",
		"f.yaml:2: storage.recipients: no such setting, did you mean 'recipients'?");
	refused("size_limits: 5", "f.yaml:1: size_limits: expected settings below it");
	refused("storage: [data_dir]", "f.yaml:1: storage: expected settings below it");
	refused("- a\n- b\n", "f.yaml:1: expected settings");
	refused("just text", "f.yaml:1: expected settings");
}

/* --------------------------------------------------------------- foreign -- */

/* As agent-shepherd ships it, with settings of a later version. */
static const char phase_messenger[] = "# Phase Messenger Plugin Configuration\n"
				      "version: 2\n"
				      "size_limits:\n"
				      "  max_content_length: 20000\n"
				      "  max_attachments: [1, 2]\n"
				      "cleanup:\n"
				      "  keep_last_n_runs: 3\n"
				      "storage:\n"
				      "  data_dir: \".agent-shepherd\"\n"
				      "  database_file: \"messages.db\"\n"
				      "  jsonl_file: \"messages.jsonl\"\n"
				      "recipients: everybody\n"
				      "groups: none\n";

static void foreign_file_is_used_as_it_stands(void **state)
{
	struct rg_config *config = of_text(RG_STR(phase_messenger), true);

	(void)state;
	assert_int_equal(config->content_chars_max, 20000);
	assert_int_equal(config->keep_runs, 3);
	assert_true(rg_str_is(config->data_dir, ".agent-shepherd"));
	assert_int_equal(config->recipients, RG_RECIPIENTS_NEAR);
	assert_int_equal(config->group_count, 0);
	shows(config, "storage.data_dir", ".agent-shepherd", "f.yaml:9");
	rg_config_free(config);
}

static void foreign_file_must_still_be_right(void **state)
{
	struct rg_config *config = defaults();
	struct roger_err err;

	(void)state;
	assert_int_equal(rg_config_read(config,
					RG_STR("size_limits:\n  max_content_length: many\n"),
					"p.yaml", true, &err),
			 ROGER_ECONFIG);
	assert_string_equal(err.message,
			    "p.yaml:2: size_limits.max_content_length: expected a whole number "
			    "from 1 to 1000000");
	rg_config_free(config);
}

static void later_file_wins(void **state)
{
	struct rg_config *config = of_text(RG_STR(phase_messenger), true);

	(void)state;
	assert_int_equal(
		rg_config_read(
			config,
			RG_STR("size_limits: {max_content_length: 7}\ngroups: {w: [a, b]}\n"),
			"own.yaml", false, NULL),
		ROGER_OK);
	assert_int_equal(rg_config_read(config, RG_STR("groups: {v: [c], w: [d]}\n"), "last.yaml",
					false, NULL),
			 ROGER_OK);
	assert_int_equal(config->content_chars_max, 7);
	assert_int_equal(config->keep_runs, 3);
	shows(config, "size_limits.max_content_length", "7", "own.yaml:1");
	shows(config, "cleanup.keep_last_n_runs", "3", "f.yaml:7");
	shows(config, "groups.w", "d", "last.yaml:1");
	shows(config, "groups.v", "c", "last.yaml:1");
	assert_int_equal(
		rg_config_read(config, RG_STR("groups: {v: [e]}\n"), "v.yaml", false, NULL),
		ROGER_OK);
	shows(config, "groups.w", "d", "last.yaml:1");
	shows(config, "groups.v", "e", "v.yaml:1");
	assert_int_equal(config->group_count, 2);
	assert_int_equal(config->settings.count, table_count() + 2);
	rg_config_free(config);
}

/* What is right in each file may be wrong in both. */
static void files_are_checked_together(void **state)
{
	struct rg_config *config = of("groups: {w: [a, b]}\nstorage: {database_file: x}\n");
	struct roger_err err;

	(void)state;
	assert_int_equal(
		rg_config_read(config, RG_STR("storage: {jsonl_file: x}"), "g.yaml", false, &err),
		ROGER_ECONFIG);
	assert_string_equal(err.message,
			    "g.yaml:1: storage.jsonl_file: expected database_file and jsonl_file "
			    "to name files of their own");
	rg_config_free(config);

	config = of("groups: {w: [a, b]}\n");
	assert_int_equal(rg_config_read(config, RG_STR("groups: {b: [c]}"), "g.yaml", false, &err),
			 ROGER_ECONFIG);
	assert_string_equal(err.message, "f.yaml:1: groups.w: expected agents, 'b' is a group");
	rg_config_free(config);
}

/* --------------------------------------------------------- hostile YAML -- */

static void tricks_of_yaml_are_refused(void **state)
{
	(void)state;
	refused("a: &x 1\n", "f.yaml:1: anchors and aliases are not read");
	refused("recipients: *x\n", "f.yaml:1: anchors and aliases are not read");
	refused("a:\n  - &x [1]\n", "f.yaml:2: anchors and aliases are not read");
	refused("groups: &x {w: [a]}\n", "f.yaml:1: anchors and aliases are not read");
	refused("recipients: !!str warn\n", "f.yaml:1: tags are not read");
	refused("\ngroups: !map {}\n", "f.yaml:2: tags are not read");
	refused("recipients: warn\n---\nrecipients: strict\n",
		"f.yaml:2: a second document starts");
	refused("recipients: warn\n...\nx", "f.yaml:3: did not find expected <document start>");
	refused("recipients: warn\nstorage: {}\nrecipients: strict\n",
		"f.yaml:3: 'recipients' comes twice");
	refused("storage:\n  data_dir: a\n  \"data_dir\": b\n", "f.yaml:3: 'data_dir' comes twice");
	refused("? [a]\n: b\n", "f.yaml:1: expected text as a key");
	refused("? {a: b}\n: b\n", "f.yaml:1: expected text as a key");
	refused("\"a\\e[2J\": 1\n", "f.yaml:1: a key holds a control character");
	refused("recipients: \"warn\\0\"\n", "f.yaml:1: expected UTF-8 without NUL");
	refused("\"recipients\\0\": warn\n", "f.yaml:1: expected UTF-8 without NUL");
}

static void what_is_no_yaml_is_refused(void **state)
{
	(void)state;
	not_read(RG_STR("storage:\n\tdata_dir: a\n"), "f.yaml:2: ");
	not_read(RG_STR("a: b: c\n"), "f.yaml:1: ");
	not_read(RG_STR("a: [1\nb: 2\n"), "f.yaml:2: ");
	not_read(RG_STR("a: \"torn\n"), "f.yaml:");
	not_read(RG_STR("\n\nrecipients: w\xff\n"), "f.yaml:3: ");
	not_read(RG_STR("\nrecipients: w\0n\n"), "f.yaml:2: ");
	not_read(RG_STR("a: \xed\xa0\x80\n"), "f.yaml:1: ");
	not_read(RG_STR("a: \"\\ud800\"\n"), "f.yaml:1: ");
	not_read(RG_STR("\xff\xfe"
			"a\0:"),
		 "f.yaml:1: ");
	not_read(RG_STR("%YAML 3.0\n---\na: b\n"), "f.yaml:1: ");
}

/* Nine levels of nine aliases each: a billion laughs. */
static bool same_tree(const struct rg_yaml *a, const struct rg_yaml *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (a->kind != b->kind || a->line != b->line || !rg_str_equal(a->key, b->key) ||
		    !rg_str_equal(a->value, b->value) || a->quoted != b->quoted ||
		    !same_tree(a->first, b->first))
			return false;
	return !a && !b;
}

/* Read a text as it is, and with a comment that leaves all of it to libyaml. */
static bool reads_as_libyaml(struct roger_str text, bool *ret_right)
{
	struct rg_arena *arena = rg_arena_new();
	const struct rg_yaml *one = NULL, *other = NULL;
	struct roger_err err = { 0 }, why = { 0 };
	struct roger_str whole;
	bool same;

	assert_true(rg_arena_print(arena, &whole, "%.*s\n# \xc3\xa9\n", RG_STR_ARGS(text)));
	*ret_right = rg_yaml_read(text, "f", arena, &one, &err) == ROGER_OK;
	same = *ret_right == (rg_yaml_read(whole, "f", arena, &other, &why) == ROGER_OK) &&
	       (!*ret_right || same_tree(one, other));
	rg_arena_free(arena);
	return same;
}

static void plain_lines_are_read_as_libyaml_reads_them(void **state)
{
	static const char *const pieces[][12] = {
		{ "", "", "", "  ", "  ", "  ", "  ", " ", "   ", "\t", "# ", "- " },
		{ "a", "b", "c", "d", "1", "/a", "null", "a-b", "", "'a'", ".a", "a b" },
		{ ": ", ": ", ": ", ": ", ":", ":", ":  ", ":", " : ", ":\t", "", "::" },
		{ "", "x", "1m", "null", "~", "x y", "-x", "[a, b", "[ a ,b", "[", "{a: b}",
		  "'x'" },
		{ "", "", "", "", "]", "]", " ]", " # c", "# c", " ", ",", " # c\rd: x" },
	};
	uint64_t seed = 20261130;
	char text[400];
	size_t round, length, i, right = 0;
	const char *piece;
	bool is_right;

	(void)state;
	for (round = 0; round < 200000; round++) {
		for (i = length = 0; i < 5 * (1 + round % 5); i++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			piece = pieces[i % 5][(seed >> 33) % (round % 2 ? 12 : 8)];
			memcpy(text + length, piece, strlen(piece));
			length += strlen(piece);
			if (i % 5 == 4)
				text[length++] = '\n';
		}
		if (!reads_as_libyaml((struct roger_str){ text, length }, &is_right))
			fail_msg("not as libyaml: '%.*s'", (int)length, text);
		right += is_right;
	}
	assert_true(right > 1000);
}

static void bombs_do_not_go_off(void **state)
{
	struct rg_buf text;
	int i, j;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	rg_buf_add_text(&text, "a0: &a0 [lol]\n");
	for (i = 1; i < 10; i++) {
		rg_buf_printf(&text, "a%d: &a%d [", i, i);
		for (j = 0; j < 9; j++)
			rg_buf_printf(&text, "%s*a%d", j ? "," : "", i - 1);
		rg_buf_add_text(&text, "]\n");
	}
	refused_text(rg_buf_str(&text), "f.yaml:1: anchors and aliases are not read");
	rg_buf_deinit(&text);
}

static void repeat(struct rg_buf *text, const char *piece, size_t count)
{
	rg_buf_clear(text);
	while (count--)
		rg_buf_add_text(text, piece);
}

static void depth_and_number_are_bounded(void **state)
{
	struct rg_buf text;
	size_t i;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	repeat(&text, "{a: ", RG_YAML_DEPTH_MAX);
	for (i = 0; i < RG_YAML_DEPTH_MAX; i++)
		rg_buf_add_char(&text, '}');
	rg_config_free(of_text(rg_buf_str(&text), true));

	repeat(&text, "{a: ", RG_YAML_DEPTH_MAX + 1);
	for (i = 0; i < RG_YAML_DEPTH_MAX + 1; i++)
		rg_buf_add_char(&text, '}');
	refused_text(rg_buf_str(&text), "f.yaml:1: nested too deep");

	repeat(&text, "[", RG_CONFIG_BYTES_MAX);
	refused_text(rg_buf_str(&text), "f.yaml:1: nested too deep");
	repeat(&text, "- ", RG_CONFIG_BYTES_MAX / 2);
	refused_text(rg_buf_str(&text), "f.yaml:1: nested too deep");
	repeat(&text, "? ", RG_CONFIG_BYTES_MAX / 2);
	not_read(rg_buf_str(&text), "f.yaml:");
	repeat(&text, "- a\n", RG_YAML_NODES_MAX);
	refused_text(rg_buf_str(&text), "f.yaml:262144: too many values");
	rg_buf_deinit(&text);
}

/* Values are nobody's business; keys are named. */
static void errors_tell_no_values(void **state)
{
	static const char *const texts[] = {
		"recipients: MARKER",
		"storage: {data_dir: [MARKER]}",
		"storage: MARKER",
		"cleanup: {keep_last_n_runs: MARKER}",
		"groups: {w: [\"MARKER MARKER\"]}",
		"MARKER",
		"recipients: \"MARKER\\0\"",
		"a: MARKER: MARKER",
		"a: \"MARKER",
		"a: *MARKER",
		"a: !MARKER b",
		"a: &MARKER b",
		"a: MARKER\nb: @MARKER",
		"a: %MARKER",
		"%MARKER x\n---\n",
	};
	struct rg_config *config;
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		config = defaults();
		assert_int_equal(rg_config_read(config, rg_str(texts[i]), "f.yaml", false, &err),
				 ROGER_ECONFIG);
		assert_null(strstr(err.message, "MARKER"));
		rg_config_free(config);
	}
}

/* ----------------------------------------------------------------- files -- */

struct tree {
	char root[64];
};

static void path_in(const struct tree *tree, const char *name, char *to, size_t size)
{
	assert_true((size_t)snprintf(to, size, "%s/%s", tree->root, name) < size);
}

static void make_folder(const struct tree *tree, const char *name)
{
	char path[200];

	path_in(tree, name, path, sizeof path);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void put(const struct tree *tree, const char *name, struct roger_str text)
{
	char path[200];
	FILE *file;

	path_in(tree, name, path, sizeof path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text.data, 1, text.length, file), text.length);
	assert_int_equal(fclose(file), 0);
}

static void drop(const struct tree *tree, const char *name)
{
	char path[200];

	path_in(tree, name, path, sizeof path);
	assert_int_equal(remove(path), 0);
}

static struct tree *make_tree(void)
{
	static struct tree tree;

	snprintf(tree.root, sizeof tree.root, "/tmp/roger-config-XXXXXX");
	assert_non_null(mkdtemp(tree.root));
	make_folder(&tree, ".roger");
	unsetenv("ROGER_RECIPIENTS");
	return &tree;
}

static void drop_tree(const struct tree *tree)
{
	drop(tree, ".roger");
	assert_int_equal(rmdir(tree->root), 0);
}

static struct rg_config *load(const struct tree *tree)
{
	struct rg_config *config = NULL;
	struct roger_err err;

	if (rg_config_load(tree->root, &config, &err) < 0)
		fail_msg("not loaded: %s", err.message);
	return config;
}

static void not_loaded(const struct tree *tree, const char *start)
{
	struct rg_config *config = NULL;
	struct roger_err err;

	assert_int_equal(rg_config_load(tree->root, &config, &err), ROGER_ECONFIG);
	assert_int_equal(err.code, ROGER_ECONFIG);
	assert_null(config);
	if (strncmp(err.message, start, strlen(start)) != 0)
		fail_msg("'%s' where '%s' was expected", err.message, start);
}

static void files_and_environment_are_loaded(void **state)
{
	struct tree *tree = make_tree();
	struct rg_config *config;

	(void)state;
	config = load(tree);
	shows(config, "storage.data_dir", ".roger", "default");
	rg_config_free(config);

	make_folder(tree, ".agent-shepherd");
	make_folder(tree, ".agent-shepherd/config");
	put(tree, ".agent-shepherd/config/phase-messenger.yaml", RG_STR(phase_messenger));
	put(tree, ".roger/config.yaml",
	    RG_STR("\nrecipients: warn\ncleanup: {keep_last_n_runs: 9}\n"));
	config = load(tree);
	shows(config, "storage.data_dir", ".agent-shepherd",
	      ".agent-shepherd/config/phase-messenger.yaml:9");
	shows(config, "cleanup.keep_last_n_runs", "9", ".roger/config.yaml:3");
	shows(config, "recipients", "open", ".roger/config.yaml:2");
	rg_config_free(config);

	put(tree, ".roger/config.yaml", RG_STR("store: postgres://me@db/roger#team\n"));
	config = load(tree);
	assert_true(config->places_configured);
	shows(config, "store", "postgres://me@db/roger#team", ".roger/config.yaml:1");
	rg_config_free(config);
	setenv("ROGER_STORE", "postgres://me:se:cret@db:5432/roger?sslmode=require#team", 1);
	config = load(tree);
	shows(config, "store", "postgres://me:***@db:5432/roger?sslmode=require#team",
	      "ROGER_STORE");
	rg_config_free(config);
	setenv("ROGER_STORE", "postgresql://db/roger?password=secret&user=me#team", 1);
	config = load(tree);
	shows(config, "store", "postgresql://db/roger?password=***&user=me#team", "ROGER_STORE");
	rg_config_free(config);
	setenv("ROGER_STORE", "files", 1);
	not_loaded(tree, "ROGER_STORE: store: expected postgres://ROLE@HOST/DATABASE#WORKSPACE");
	unsetenv("ROGER_STORE");
	put(tree, ".roger/config.yaml", RG_STR("\nstore: postgres://me:pw@db/roger\n"));
	not_loaded(tree, ".roger/config.yaml:2: store: expected no password in it: PostgreSQL's "
			 "own file has it (~/.pgpass), or ROGER_STORE");
	put(tree, ".roger/config.yaml",
	    RG_STR("\nrecipients: warn\ncleanup: {keep_last_n_runs: 9}\n"));

	setenv("ROGER_RECIPIENTS", "strict", 1);
	config = load(tree);
	assert_int_equal(config->recipients, RG_RECIPIENTS_STRICT);
	shows(config, "recipients", "strict", "ROGER_RECIPIENTS");
	rg_config_free(config);
	setenv("ROGER_RECIPIENTS", "", 1);
	config = load(tree);
	assert_int_equal(config->recipients, RG_RECIPIENTS_OPEN);
	rg_config_free(config);
	setenv("ROGER_RECIPIENTS", "lax", 1);
	not_loaded(tree, "ROGER_RECIPIENTS: recipients: expected near, open or strict");

	drop(tree, ".roger/config.yaml");
	drop(tree, ".agent-shepherd/config/phase-messenger.yaml");
	drop(tree, ".agent-shepherd/config");
	drop(tree, ".agent-shepherd");
	drop_tree(tree);
}

static void the_folder_of_the_origin_is_used(void **state)
{
	struct tree *tree = make_tree();
	struct rg_config *config;

	(void)state;
	make_folder(tree, ".agent-shepherd");
	make_folder(tree, ".agent-shepherd/config");
	put(tree, ".agent-shepherd/config/phase-messenger.yaml",
	    RG_STR("storage: {jsonl_file: m.jsonl}\n"));
	config = load(tree);
	shows(config, "storage.data_dir", ".agent-shepherd",
	      ".agent-shepherd/config/phase-messenger.yaml");
	assert_true(config->places_configured);
	rg_config_free(config);

	put(tree, ".roger/m.jsonl", RG_STR("{}\n"));
	config = load(tree);
	shows(config, "storage.data_dir", ".roger", "default");
	rg_config_free(config);

	put(tree, ".agent-shepherd/m.jsonl", RG_STR("{}\n"));
	not_loaded(tree, ".roger/m.jsonl and .agent-shepherd/m.jsonl both hold messages");
	put(tree, ".roger/config.yaml", RG_STR("storage: {data_dir: .agent-shepherd}\n"));
	config = load(tree);
	shows(config, "storage.data_dir", ".agent-shepherd", ".roger/config.yaml:1");
	rg_config_free(config);

	drop(tree, ".roger/config.yaml");
	drop(tree, ".roger/m.jsonl");
	drop(tree, ".agent-shepherd/m.jsonl");
	drop(tree, ".agent-shepherd/config/phase-messenger.yaml");
	drop(tree, ".agent-shepherd/config");
	drop(tree, ".agent-shepherd");
	drop_tree(tree);
}

static void only_regular_files_are_loaded(void **state)
{
	struct tree *tree = make_tree();
	char path[200];

	(void)state;
	path_in(tree, ".roger/config.yaml", path, sizeof path);
	assert_int_equal(mkdir(path, 0700), 0);
	not_loaded(tree, ".roger/config.yaml: ");
	assert_int_equal(rmdir(path), 0);

	assert_int_equal(symlink("/etc/hostname", path), 0);
	not_loaded(tree, ".roger/config.yaml: ");
	assert_int_equal(unlink(path), 0);

	/* Nobody writes to it: opening it must not wait. */
	assert_int_equal(mkfifo(path, 0600), 0);
	not_loaded(tree, ".roger/config.yaml: ");
	assert_int_equal(unlink(path), 0);
	drop_tree(tree);
}

/* Of a large section its text alone says whether a name is one: never no where it is. */
static void a_name_may_be_a_group(void **state)
{
	static const struct {
		const char *line;
		bool may; /* `team` */
	} lines[] = {
		{ "  team: [a]\n", true },	     { "  other: [team]\n", false },
		{ "  'team' : [a]\n", true },	     { "  \"team\": [a]\n", true },
		{ "  \"te\\u0061m\": [a]\n", true }, { "  ? team\n  : [a]\n", true },
		{ "  my-team: [a]\n", false },	     { "  other: [a, \"team\", b]\n", false },
		{ "  other: [&x team]\n", true },    { "  other: [teams, a]\n", false },
	};
	struct tree *tree = make_tree();
	struct rg_config *config;
	struct rg_buf text;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof lines / sizeof *lines; i++) {
		rg_buf_init(&text, SIZE_MAX);
		rg_buf_add_text(&text, "recipients: open\n");
		rg_buf_add_text(&text, "groups:\n");
		rg_buf_add_text(&text, lines[i].line);
		for (k = 0; k < 3000; k++)
			rg_buf_add_text(&text, "  # many\n");
		put(tree, ".roger/config.yaml", rg_buf_str(&text));
		config = load(tree);
		assert_true(config->groups_unread.length);
		assert_int_equal(rg_config_may_be_group(config, RG_STR("team")), lines[i].may);
		assert_false(rg_config_may_be_group(config, RG_STR("nobody")) &&
			     !strpbrk(lines[i].line, "\\&?"));
		rg_config_free(config);
		rg_buf_deinit(&text);
	}
	drop(tree, ".roger/config.yaml");
	drop_tree(tree);
}

static void large_files_are_refused(void **state)
{
	struct tree *tree = make_tree();
	struct rg_buf text;

	(void)state;
	rg_buf_init(&text, SIZE_MAX);
	repeat(&text, "#", RG_CONFIG_BYTES_MAX);
	put(tree, ".roger/config.yaml", rg_buf_str(&text));
	rg_config_free(load(tree));

	rg_buf_add_char(&text, '#');
	put(tree, ".roger/config.yaml", rg_buf_str(&text));
	not_loaded(tree, ".roger/config.yaml: ");
	drop(tree, ".roger/config.yaml");
	rg_buf_deinit(&text);
	drop_tree(tree);
}

/* They are cut before the text is parsed, but not where they may be part of a value. */
static void comments_change_nothing(void **state)
{
	static const struct {
		const char *text, *word;
	} words[] = {
		{ "# it's\nwatchdog:\n# |\n  recovery_command: [a, b]\n# \"", "b" },
		{ "watchdog:\n  recovery_command: [a, 'b\n# c\n  d']\n", "b # c d" },
		{ "watchdog:\n  recovery_command: [a, \"b\n# c\n  d\"]\n", "b # c d" },
		{ "watchdog:\n  recovery_command:\n  - a\n  - |\n   b\n   # c\n", "b\n# c\n" },
		{ "watchdog:\n  recovery_command:\n  - a\n  - >\n   b\n   # c\n", "b # c\n" },
		{ "watchdog:\n# \u2028\n  recovery_command: [a, b]\n", "b" },
	};
	struct rg_config *config;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof words / sizeof *words; i++) {
		config = of(words[i].text);
		assert_int_equal(config->recovery_command.count, 2);
		assert_true(rg_str_is(config->recovery_command.items[1], words[i].word));
		rg_config_free(config);
	}
	refused("# one\nwatchdog:\n# three\n  recovery_command: no\n",
		"f.yaml:4: watchdog.recovery_command: expected a list: a program and its "
		"arguments");
	/* For YAML a line ends here as well. */
	not_read(RG_STR("# one\rwrong: 1\nwatchdog: {within: 1m}\n"), "f.yaml:");
	not_read(RG_STR("a: 1\n# b\n  c\n"), "f.yaml:");
	not_read(RG_STR("watchdog: b\n# c\n  d\n"), "f.yaml:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comments_change_nothing),
		cmocka_unit_test(defaults_are_the_limits),
		cmocka_unit_test(nothing_written_changes_nothing),
		cmocka_unit_test(every_setting_can_be_set),
		cmocka_unit_test(a_switch_is_true_or_false),
		cmocka_unit_test(spans_and_commands),
		cmocka_unit_test(forms_of_text_are_one),
		cmocka_unit_test(numbers_keep_their_bounds),
		cmocka_unit_test(numbers_are_digits),
		cmocka_unit_test(paths_are_checked),
		cmocka_unit_test(journal_and_database_are_two_files),
		cmocka_unit_test(recipients_are_near_open_or_strict),
		cmocka_unit_test(groups_are_checked),
		cmocka_unit_test(agents_are_woken_as_configured),
		cmocka_unit_test(waking_is_checked),
		cmocka_unit_test(a_group_can_be_large),
		cmocka_unit_test(unknown_keys_are_refused_with_a_hint),
		cmocka_unit_test(foreign_file_is_used_as_it_stands),
		cmocka_unit_test(foreign_file_must_still_be_right),
		cmocka_unit_test(later_file_wins),
		cmocka_unit_test(files_are_checked_together),
		cmocka_unit_test(tricks_of_yaml_are_refused),
		cmocka_unit_test(what_is_no_yaml_is_refused),
		cmocka_unit_test(plain_lines_are_read_as_libyaml_reads_them),
		cmocka_unit_test(bombs_do_not_go_off),
		cmocka_unit_test(depth_and_number_are_bounded),
		cmocka_unit_test(errors_tell_no_values),
		cmocka_unit_test(files_and_environment_are_loaded),
		cmocka_unit_test(the_folder_of_the_origin_is_used),
		cmocka_unit_test(only_regular_files_are_loaded),
		cmocka_unit_test(a_name_may_be_a_group),
		cmocka_unit_test(large_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
