/*
 * config - what a person may set, where each setting came from, and nothing else.
 *
 * Read in this order, the later wins: built-in defaults; the project's
 * .agent-shepherd/config/phase-messenger.yaml (seed 004's three sections;
 * what else stands there is ignored); .roger/config.yaml (unknown members are
 * an error there); the environment (ROGER_RECIPIENTS).  A bad value names the
 * file, the line, the key and what was expected, and nothing runs.
 */
#ifndef RG_CONFIG_H
#define RG_CONFIG_H

#include "base/arena.h"

struct rg_group {
	struct roger_str name; /* workers, or any other name but all */
	struct roger_strs members;
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

struct rg_config {
	struct rg_arena *memory;

	/* size_limits: */
	int64_t content_chars_max;	      /* max_content_length */
	int64_t metadata_chars_max;	      /* max_metadata_length */
	int64_t messages_per_issue_phase_max; /* max_messages_per_issue_phase */
	int64_t messages_per_issue_max;	      /* max_messages_per_issue */

	/* cleanup: */
	int64_t max_age_days;	/* default_max_age_days */
	int64_t keep_per_phase; /* keep_last_n_per_phase */
	int64_t keep_runs;	/* keep_last_n_runs */

	/* storage: paths relative to the folder that holds .roger/ */
	struct roger_str data_dir;	/* ".roger" */
	struct roger_str database_file; /* "messages.db", below data_dir */
	struct roger_str jsonl_file;	/* "messages.jsonl", below data_dir */

	/* storage, relative to the folder that holds .roger/ */
	struct roger_str send_log_dir;	/* ".roger/send-log" */
	struct roger_str activity_file; /* ".roger/logs/activity.log.jsonl" */
	struct roger_str trigger_dir;	/* ".roger/triggers" */
	bool places_configured;		/* a file set one of these six */

	/* retries: of a send with a key */
	int64_t attempts_max;	   /* max_attempts */
	int64_t retry_after_ms;	   /* after: before the next attempt is due */
	int64_t retry_cycles;	   /* after_cycles: or so many cycles, times the attempt */
	int64_t confirm_within_ms; /* confirm_within: where a send names none */

	/* breaker: */
	int64_t breaker_failures; /* failures: timeouts in a row; 0: never opens */
	int64_t breaker_open_ms;  /* open_for */

	/* dead_letters: */
	int64_t dead_letter_alarm;	       /* alarm: more in one cycle; 0: never */
	struct roger_strs dead_letter_command; /* command: files one in a task system */
	int64_t dead_letter_timeout_ms;	       /* command_timeout */

	/* cycles: */
	int64_t cycles_kept;  /* keep: the current one included */
	int64_t digests_kept; /* keep_digests: cycles that a purged key is remembered for */

	/* watchdog: */
	int64_t run_within_ms;		     /* within: a run's time, where dispatch names none */
	int64_t recoveries_max;		     /* max_recoveries */
	int64_t recovery_cooldown_ms;	     /* recovery_cooldown: from one attempt to the next */
	int64_t extensions_max;		     /* max_extensions */
	struct roger_strs recovery_command;  /* a program and its arguments; none: no command */
	int64_t recovery_command_timeout_ms; /* command_timeout */
	int64_t heartbeat_ms;		     /* heartbeat: of `roger run`; 0: none */

	/* wake: */
	int64_t lease_ms_max;	 /* max_lease: what ends later is no lease */
	int64_t wake_after_ms;	 /* after: unread so long without a look of the agent */
	int64_t wake_backoff_ms; /* backoff: from the first attempt to the next, then doubled */
	int64_t wake_backoff_most_ms;		 /* backoff_most: up to this */
	int64_t wake_timeout_ms;		 /* timeout: of a command */
	const struct rg_wake_agent *wake_agents; /* agents: name: [program, argument, ...] */
	size_t wake_agent_count;

	/* bridge: */
	struct roger_strs file_only; /* agents that only know files */

	/* activity: */
	bool note_own; /* own: roger's verbs note themselves in the activity log */

	/* recipients: which names never seen a send is refused for */
	enum rg_recipients recipients;

	/* groups: name: [agent, ...] */
	const struct rg_group *groups;
	size_t group_count;

	/* For `config show`: every setting with its value as text and its origin. */
	struct roger_settings settings;
};

/*
 * Load the configuration of the project whose root holds .roger/.  A file that
 * is not there is no error; one that cannot be read, is no regular file, is
 * larger than RG_CONFIG_BYTES_MAX or is wrong is ROGER_ECONFIG.
 */
RG_CHECKED int rg_config_load(const char *root, struct rg_config **ret_config,
			      struct roger_err *err);
struct rg_config *rg_config_free(struct rg_config *config);

/*
 * Settings of one file's text into config; file is its name for messages and
 * origins.  foreign: ignore what is unknown (phase-messenger.yaml).  What one
 * file sets must fit what those before it set.  After an error config is good
 * for freeing only.
 */
RG_CHECKED int rg_config_read(struct rg_config *config, struct roger_str text, const char *file,
			      bool foreign, struct roger_err *err);

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

/* Is it the person's name, `human`, under which no agent may send? */
bool rg_config_is_person(struct roger_str name);

/* How the agent of that name is woken, or NULL. */
const struct rg_wake_agent *rg_config_wake(const struct rg_config *config, struct roger_str name);

#endif
