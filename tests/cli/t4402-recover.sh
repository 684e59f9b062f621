#!/bin/sh
# Recovery of runs that did not report: bounded, spaced, noted; from the
# mailbox, by the configured command, by a reminder, and at last by the owner.
# A command that hangs, fails, floods or prints garbage does no harm.
. "$(dirname "$0")/lib.sh"
# Commands are configured here as the tests go; t2004-trust says when they may run.
export ROGER_TRUST_COMMANDS=1

roger init -q
runs=.roger/state/subagent-delivery-watchdog
member() { json "d['$1']" <"$runs/$2.json"; }
configure() { # COMMAND_LIST
	cat >.roger/config.yaml <<-END
		watchdog:
		  recovery_cooldown: 0
		  max_recoveries: 2
		  command_timeout: 500ms
		  recovery_command: $1
	END
}
late() { # RUN OPTION...
	roger dispatch "$@" --within 1ms --as lead -q
	sleep 0.01
}
configure '[]'

# In the mailbox.
late found
id=$(send_id --as kid --type result --metadata '{"run":"found"}' lead 'it went well')
check "recover" roger runs recover found
is "finds the result" "$(member resultMessageId found)" "$id"
is "as history" "$(member resultSource found)" history_fetch
is "which its owner has not read" "$(member status found)" done_but_not_forwarded
roger receive --as lead -q
roger runs sweep -q
is "then it has" "$(member status found)" recovered
exits 77 "nothing is left to recover" roger runs recover found
late keyed
roger send --as kid --type result --key keyed:report:1 lead done -q 2>/dev/null
roger receive --as lead -q
check "one by its key, read already" roger runs recover keyed
is "is recovered at once" "$(member status keyed)" recovered

# A reminder, then the owner.
roger send --as kid lead hello -q
late silent --child kid
check "recover in vain" roger runs recover silent
is "reminds the child" "$(roger inbox --as kid --json | json '[m["from"] for m in d["messages"]]')" '["roger"]'
is "is still open" "$(member status silent)" suspect_delivery_failure
check "and again" roger runs recover silent
is "is blocked" "$(member status silent)" blocked
is "told to the owner" "$(roger inbox --as lead --json | json '[m["from"] for m in d["messages"] if "silent" in m["content"]]')" '["roger"]'
is "and noted" "$(member recoveryAction silent)" escalated
exits 77 "a third one is refused" roger runs recover silent
roger runs sweep -q
is "the owner is told once" "$(roger list --to lead --jsonl | grep -c 'silent needs you')" 1
check "it may still report" roger complete silent --result here
is "counts" "$(member status silent)" done_but_not_forwarded

# Spaced.
sed -i 's/cooldown: 0/cooldown: 1h/' .roger/config.yaml
late spaced
roger runs recover spaced -q
exits 77 "too soon" roger runs recover spaced
like "says from when on" "$err" "the next may be made at 20"
is "sweep waits, too" "$(roger runs sweep --json | json 'd["recoveries"]')" 0

# The command.
configure '[sh, -c, "cat >../input; echo RESULT from it; echo noise >&2"]'
late cmd
check "the command" roger runs recover cmd
is "gets the document" "$(json 'd["runId"]' <input)" cmd
is "its words become the result" "$(roger list --to lead --jsonl | tail -n 1 | json '[d["content"], d["type"]]')" \
	'["RESULT from it", "result"]'
is "named so" "$(member resultSource cmd)" recovery_command
is "and stand nowhere else" "$(grep -rl 'RESULT from it' .roger | sed 's,.*/,,' | grep -v '^messages\|^config.yaml' | tr '\n' ' ')" ""
try() { # NAME COMMAND_LIST NOTE
	configure "$2"
	late "$1"
	check "one that $1" timeout 20 "$ROGER" recover "$1"
	is "changes no receipt ($1)" "$(member completionReceivedAt "$1")" null
	like "and is noted ($1)" "$(member notes "$1")" "$3"
}
try hangs '[sleep, "100"]' 'command ended with killed after 500 ms'
try fails '[sh, -c, "echo x; exit 3"]' 'command ended with exit 3'
try floods '[sh, -c, "head -c 1000000 /dev/zero"]' 'printed too much'
try garbles '[sh, -c, "head -c 1000 /dev/urandom"]' 'cannot be a message'
try mute '["true"]' 'cannot be a message'
try lacks '[/no/such]' 'exit 127, not found'
exits 78 "a command that is no list" sh -c 'echo "watchdog: {recovery_command: rm -rf x}" >.roger/config.yaml; "$0" runs' "$ROGER"
like "is refused by name" "$err" "watchdog.recovery_command: expected a list"

# sweep does what is due, for all.
configure '[]'
late s1
late s2 --child kid
exits 0 "sweep" roger runs sweep --json
is "makes both attempts" "$(printf '%s' "$out" | json '[d["recoveries"] >= 2, d["troubles"]]')" '[true, []]'
is "(first)" "$(member recoveryAttemptCount s1)" 1
is "(second)" "$(member recoveryAttemptCount s2)" 1
roger runs sweep -q
roger runs sweep -q
is "and no more than allowed" "$(member recoveryAttemptCount s1)" 2
is "then it is blocked" "$(member status s1)" blocked
is "all that is written is valid" "$(roger runs --json | json '[t for t in d["troubles"] if t["invalid"]]')" '[]'
exits 0 "verify" roger verify
done_testing
