/*
 * settings - every setting but groups and wake.agents, each in one row: parsing, struct
 * rg_config, `config show`, what init writes and docs/FORMAT.md are made of it.
 *
 * SETTING(section, name, kind, member of rg_config, least, most, default, what it is for):
 * bounds are of a NUMBER, and in ms of a SPAN; a row without a section stands alone.
 */
#ifndef RG_SETTINGS_H
#define RG_SETTINGS_H

#define RG_SETTINGS(SETTING)                                                                       \
	SETTING("size_limits", "max_content_length", NUMBER, content_chars_max, 1, CEILING,        \
		"10000", "characters of a message")                                                \
	SETTING("size_limits", "max_metadata_length", NUMBER, metadata_chars_max, 0, CEILING,      \
		"5000", "characters of its metadata as JSON")                                      \
	SETTING("size_limits", "max_messages_per_issue_phase", NUMBER,                             \
		messages_per_issue_phase_max, 1, MANY, "100", "messages of an issue to one agent") \
	SETTING("size_limits", "max_messages_per_issue", NUMBER, messages_per_issue_max, 1, MANY,  \
		"500", "messages of an issue")                                                     \
	SETTING("cleanup", "default_max_age_days", NUMBER, max_age_days, 0, RG_AGE_DAYS_CEILING,   \
		"90", "read messages older than this are archived; 0: the rule is off")            \
	SETTING("cleanup", "keep_last_n_per_phase", NUMBER, keep_per_phase, 0, MANY, "10",         \
		"read messages kept of an issue to one agent; 0: the rule is off")                 \
	SETTING("cleanup", "keep_last_n_runs", NUMBER, keep_runs, 0, MANY, "1",                    \
		"runs whose read messages are kept; 0: the rule is off")                           \
	SETTING("storage", "data_dir", PATH, data_dir, 0, 0, ".roger",                             \
		"relative to the folder that holds .roger/, at most 200 bytes")                    \
	SETTING("storage", "database_file", FILE_NAME, database_file, 0, 0, "messages.db",         \
		"below data_dir")                                                                  \
	SETTING("storage", "jsonl_file", FILE_NAME, jsonl_file, 0, 0, "messages.jsonl",            \
		"below data_dir, not that of the database, nor that and -...")                     \
	SETTING("storage", "send_log_dir", PATH, send_log_dir, 0, 0, ".roger/send-log",            \
		"relative to the folder that holds .roger/")                                       \
	SETTING("storage", "activity_file", PATH, activity_file, 0, 0,                             \
		".roger/logs/activity.log.jsonl", "relative to the folder that holds .roger/")     \
	SETTING("storage", "trigger_dir", PATH, trigger_dir, 0, 0, ".roger/triggers",              \
		"relative to the folder that holds .roger/")                                       \
	SETTING("bridge", "file_only", NAMES, file_only, 0, 0, "",                                 \
		"no groups; their mail is written to their trigger files")                         \
	SETTING("retries", "max_attempts", NUMBER, attempts_max, 1, 10, "3",                       \
		"attempts of a send with a key")                                                   \
	SETTING("retries", "after", SPAN, retry_after_ms, 0, 7 * DAY_MS, "0s",                     \
		"before the next attempt is due")                                                  \
	SETTING("retries", "after_cycles", NUMBER, retry_cycles, 0, 100, "0",                      \
		"in place of after, cycles times the number of timeouts")                          \
	SETTING("retries", "confirm_within", SPAN, confirm_within_ms, 1, 7 * DAY_MS, "30s",        \
		"for --confirm read without --within")                                             \
	SETTING("breaker", "failures", NUMBER, breaker_failures, 0, 1000, "5",                     \
		"timeouts to a target in a row that open it; 0: it never opens")                   \
	SETTING("breaker", "open_for", SPAN, breaker_open_ms, 0, DAY_MS, "1m",                     \
		"then one send may try again")                                                     \
	SETTING("dead_letters", "alarm", NUMBER, dead_letter_alarm, 0, MANY, "5",                  \
		"more dead letters than this in a cycle raise the alarm; 0: never")                \
	SETTING("dead_letters", "command", WORDS, dead_letter_command, 0, 0, "",                   \
		"files a dead letter in a task system; no shell")                                  \
	SETTING("dead_letters", "command_timeout", SPAN, dead_letter_timeout_ms, 100, 3600000,     \
		"10s", "then the command is killed")                                               \
	SETTING("cycles", "every", SPAN, cycle_every_ms, 0, 365 * DAY_MS, "0s",                    \
		"how long one lasts before the next opens by itself; 0: only by hand")             \
	SETTING("cycles", "keep", NUMBER, cycles_kept, 1, 1000, "3",                               \
		"cycles that purge keeps, the current one included")                               \
	SETTING("cycles", "keep_digests", NUMBER, digests_kept, 0, MANY, "30",                     \
		"cycles that a purged key is remembered for")                                      \
	SETTING("watchdog", "within", SPAN, run_within_ms, 1000, RG_RUN_WITHIN_MS_MAX, "10m",      \
		"time of a run where dispatch names none")                                         \
	SETTING("watchdog", "max_recoveries", NUMBER, recoveries_max, 0, 100, "3",                 \
		"recovery attempts for each run")                                                  \
	SETTING("watchdog", "recovery_cooldown", SPAN, recovery_cooldown_ms, 0, DAY_MS, "5m",      \
		"from one attempt to the next")                                                    \
	SETTING("watchdog", "max_extensions", NUMBER, extensions_max, 0, 100, "3",                 \
		"for each run, each of at most 24h")                                               \
	SETTING("watchdog", "recovery_command", WORDS, recovery_command, 0, 0, "",                 \
		"gets the run, and its words are the result; no shell")                            \
	SETTING("watchdog", "command_timeout", SPAN, recovery_command_timeout_ms, 100, 3600000,    \
		"30s", "then the command is killed")                                               \
	SETTING("watchdog", "heartbeat", SPAN, heartbeat_ms, 0, DAY_MS, "30s",                     \
		"how often `roger run` writes that it watches; 0: never")                          \
	SETTING("claims", "max_lease", SPAN, lease_ms_max, 1000, RG_LEASE_MS_MAX, "1d",            \
		"a lease that ends later than this from now has expired")                          \
	SETTING("wake", "after", SPAN, wake_after_ms, 0, 7 * DAY_MS, "30s",                        \
		"mail waits for this long without a look before its agent is woken")               \
	SETTING("wake", "backoff", SPAN, wake_backoff_ms, 1000, DAY_MS, "1m",                      \
		"from the first attempt to the second; twice as long each time")                   \
	SETTING("wake", "backoff_most", SPAN, wake_backoff_most_ms, 1000, 7 * DAY_MS, "30m",       \
		"but never longer than this; not below backoff")                                   \
	SETTING("wake", "timeout", SPAN, wake_timeout_ms, 100, 60000, "10s",                       \
		"then the command is killed")                                                      \
	SETTING("activity", "own", SWITCH, note_own, 0, 0, "true",                                 \
		"roger's own verbs write entries of the activity log")                             \
	SETTING("", "store", ADDRESS, store, 0, 0, "",                                             \
		"postgres://ROLE@HOST/DATABASE#WORKSPACE: journals in PostgreSQL, for several "    \
		"machines; ROGER_STORE says it, too. Without: files")                              \
	SETTING("", "recipients", RECIPIENTS, recipients, 0, 0, "near",                            \
		"which names never seen are refused: near, those likely to be slips for known "    \
		"ones; open (warn in older files), none; strict, all")

#endif
