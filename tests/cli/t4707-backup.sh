#!/bin/sh
# A backup under load is one moment of every journal, signed; restore checks it and makes a
# workspace of it elsewhere, or nothing.
. "$(dirname "$0")/lib.sh"

roger init -q from
cd from || exit 1
export ROGER_TRUST_COMMANDS=1
roger send bob one --as ann -q --new
roger send bob two --as ann --key 'a:b:1' -q
roger receive --as bob --limit 1 -q
roger archive --issue general -q >/dev/null 2>&1
roger agents session new -q
printf 'groups:\n  team: [ann, bob]\n' >>.roger/config.yaml
roger run --as ann -q -- sh -c 'echo fine' >/dev/null 2>&1
long=$(printf 'x%.0s' $(seq 120))
roger send bob 'from one with a long name' --as "$long" --key 'c:d:1' --new -q
exits 0 "backup" roger backup ../one.tar --json
key=$(printf '%s' "$out" | json 'd["public_key"]')
is "a file for its owner alone" "$(stat -c %a ../one.tar)" 600
check "tar reads it" tar -tf ../one.tar
like "with everything" "$(tar -tf ../one.tar | tr '\n' ' ')" "^roger-backup/backup.json roger-backup/messages.jsonl .*send-log/ann.jsonl .*send-log/x+.jsonl .*activity.log.jsonl .*seal.json .*message-state.json .*config.yaml .*subagent-delivery-watchdog"
is "no secret key, and no id" "$(tar -tf ../one.tar | grep -c 'seal.key\|/id$')" 0
exits 77 "a file that is there is not overwritten" roger backup ../one.tar
like "and it is named" "$err" "is there already"
exits 73 "nor is a folder made" roger backup ../nowhere/one.tar
is "nothing is left" "$(find .. -name '*.new-*' | wc -l)" 0

cd .. || exit 1
exits 0 "restore" roger restore one.tar --to far --json
is "says from where" "$(printf '%s' "$out" | json 'd["was"]')" "$here/from"
is "every message" "$(roger list --count --workspace far 2>/dev/null)" "$(roger list --count --workspace from)"
check "journals are the same, byte for byte" sh -c 'cmp from/.roger/messages.jsonl far/.roger/messages.jsonl && cmp from/.roger/config.yaml far/.roger/config.yaml'
exits 0 "verify" roger verify --workspace far
exits 0 "doctor" roger doctor --workspace far
exits 0 "the seal in it fits" roger verify --seal far/.roger/seal.json --workspace far
is "it is for its owner alone" "$(find far/.roger ! -perm 600 -type f -o ! -perm 700 -type d | wc -l)" 0
like "it came from a file, so nobody trusts it yet" "$(roger prime --as bob --workspace far 2>&1)" "not trusted"
is "numbers go on" "$(roger send bob on --as ann --workspace far --json 2>/dev/null | json 'd["seq"]')" "$(roger send bob on --as ann --workspace from --json 2>/dev/null | json 'd["seq"]')"
exits 0 "a key that was used is known" roger send bob two --as ann --key 'a:b:1' --workspace far --json
like "as that" "$out" '"duplicate":true'
exits 77 "beside an existing workspace" roger restore one.tar --to far
like "is refused" "$err" "there is a workspace in '$here/far' already"
exits 0 "with the right key" roger restore one.tar --to keyed --key "$key"
exits 77 "with another key" roger restore one.tar --to never --key "$(printf '%064d' 0)"
check "nothing is made" test ! -e never

# Changed, cut, put together.
size=$(stat -c %s one.tar)
# The last two pad a file, and the end.
for at in 10 600 3000 $((size / 2)) $((size - 3000)) $((size - 1026)) $((size - 1)); do
	cp one.tar bad.tar
	printf 'Z' | dd of=bad.tar bs=1 seek="$at" conv=notrunc 2>/dev/null
	cmp -s one.tar bad.tar && continue
	exits 65 "one byte changed, at $at" roger restore bad.tar --to bad
	check "nothing is made of it ($at)" test ! -e bad
done
cp one.tar bad.tar
printf 'Z' >>bad.tar
exits 65 "one byte more" roger restore bad.tar --to bad
mkdir kept
exits 65 "into a folder that was there" roger restore bad.tar --to kept
is "it stays, and stays empty" "$(ls -A kept; test -d kept && echo there)" there
for at in 0 100 512 5000 $((size / 2)) $((size - 1025)); do
	head -c "$at" one.tar >cut.tar
	exits 65 "cut off at $at" roger restore cut.tar --to cut
	check "nothing is made of it ($at)" test ! -e cut
done
exits 66 "no file" roger restore nothing.tar --to cut
mkdir -p roger-backup && printf '{}' >roger-backup/backup.json && tar -cf forged.tar --format=ustar roger-backup/backup.json
exits 65 "one that nobody signed" roger restore forged.tar --to cut
printf 'no archive at all' >text
exits 65 "one that is no archive" roger restore text --to cut

# Names that lead out are refused even where somebody signed them.
cat >sign.py <<'PY'
import json, subprocess, sys, tarfile, io, hashlib, os
# Takes a real backup apart; only roger's own key could sign another list, so a changed name fails.
tar = tarfile.open(sys.argv[1]); out = tarfile.open(sys.argv[2], "w", format=tarfile.PAX_FORMAT)
for member in tar:
    data = tar.extractfile(member).read()
    if member.name.endswith("backup.json"):
        data = data.replace(b"message-state.json", b"../../../state.json")
    member.name = member.name.replace("message-state.json", "../../../state.json"); member.size = len(data)
    out.addfile(member, io.BytesIO(data))
out.close()
PY
python3 sign.py one.tar names.tar
exits 65 "a name that leads out" roger restore names.tar --to cut

# Places that the configuration moved.
roger init -q moved && printf 'storage: {data_dir: logs, jsonl_file: mine.jsonl}\n' >moved/.roger/config.yaml && mkdir -p moved/logs
roger trust --accept "$(roger trust --show --json --workspace moved | json 'd["sha256"]')" --workspace moved -q >/dev/null 2>&1
roger send bob moved --as ann --workspace moved -q 2>/dev/null
exits 0 "backup of one that is elsewhere" roger backup moved.tar --workspace moved
exits 0 "is restored in the usual places" roger restore moved.tar --to usual
is "with its mail" "$(roger list --count --workspace usual 2>/dev/null)" 1
check "its settings are beside, for a person" test -f usual/.roger/config.yaml.backup -a ! -e usual/.roger/config.yaml

# Under load.
writers=
for i in 1 2 3; do
	(
		n=0
		while [ ! -e stop ] && [ $n -lt 400 ]; do
			n=$((n + 1))
			roger send bob "load $n" --as "w$i" --issue "load$((n / 20))$i" --key "w$i:n:$n" --new -q --workspace from 2>/dev/null
		done
	) &
	writers="$writers $!"
done
for n in 1 2 3 4; do
	exits 0 "under load: backup $n" roger backup "load$n.tar" --workspace from
	exits 0 "under load: restore $n" roger restore "load$n.tar" --to "load$n"
	exits 0 "verify $n" roger verify --workspace "load$n"
	run roger doctor --json --workspace "load$n"
	is "nothing is damaged $n" "$(printf '%s' "$out" | json 'd["damaged"]')" 0
	check "a prefix $n" sh -c "head -c \$(stat -c %s load$n/.roger/messages.jsonl) from/.roger/messages.jsonl | cmp - load$n/.roger/messages.jsonl"
done
# As a tool does that ships files: by the page's order, logs first and the journal last.
mkdir -p shipped && cp -a from/.roger shipped/ && rm -f shipped/.roger/messages.jsonl shipped/.roger/messages.control shipped/.roger/messages.checkpoint shipped/.roger/messages.db*
cp from/.roger/messages.jsonl shipped/.roger/
exits 0 "verify of files that were shipped in that order" roger verify --workspace shipped
run roger doctor --json --workspace shipped
is "nothing is damaged in them" "$(printf '%s' "$out" | json 'd["damaged"]')" 0
: >stop
# shellcheck disable=SC2086
wait $writers

# As another user, on another machine: nothing of this one's state.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	other=$(mktemp -d /tmp/roger-other.XXXXXX)
	cp "$ROGER" one.tar "$other" && chmod 755 "$other/roger" && chown -R 65534 "$other"
	exits 0 "as another user" setpriv --reuid=65534 --clear-groups env HOME="$other" XDG_STATE_HOME="$other/state" "$other/$(basename "$ROGER")" restore "$other/one.tar" --to "$other/there"
	is "who can read it" "$(setpriv --reuid=65534 --clear-groups env HOME="$other" XDG_STATE_HOME="$other/state" "$other/$(basename "$ROGER")" list --count --workspace "$other/there" 2>/dev/null)" "$(roger list --count --workspace keyed 2>/dev/null)"
	rm -rf "$other"
else
	result 0 "as another user # SKIP needs root and setpriv"
fi
done_testing
