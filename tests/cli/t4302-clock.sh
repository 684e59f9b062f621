#!/bin/sh
# Clocks that were set: no wait is longer than what is asked for now, and nobody
# loses mail to a lease that no clock of today can have given.  What was written
# under another clock is made by lines with other instants, as any program may
# append them.
. "$(dirname "$0")/lib.sh"

roger init -q

# The last line of a message again, with members changed.
again() { # ID PYTHON
	python3 - "$1" "$2" <<'END' >line
import json, sys, time
day = 86400000
now = int(time.time() * 1000)
lines = [json.loads(line) for line in open(".roger/messages.jsonl")]
message = [line for line in lines if line.get("id") == sys.argv[1]][-1]
message.pop("chain", None)
exec(sys.argv[2])
print(json.dumps(message))
END
	cat line >>.roger/messages.jsonl
}

# All lines of an id, as if they had been written so.
set_clock() { # ID PYTHON
	python3 "$source_dir/tests/cli/lib_forge.py" .roger/messages.jsonl "
import time
day = 86400000
now = int(time.time() * 1000)
for message in [line for line in lines if line['id'] == '$1']:
    $2"
}

ids() {
	json '[m["id"] for m in d["messages"]]'
}

# ---------------------------------------------- a wait that somebody was killed in

# Who asks for an hour, and is killed when the message is there.
killed() { # KEY
	timeout 100 "$ROGER" send bob 'x' --as ann --key "$1" --confirm read --within 1h -q &
	_pid=$!
	roger wait --as bob --timeout 60s >/dev/null
	kill -9 $(pgrep -P $_pid) 2>/dev/null
	wait $_pid 2>/dev/null
	roger list --jsonl --limit 1 --newest | json 'd["id"]' | tr -d '"'
}

id=$(killed t:v:1)
exits 75 "the next one waits as long as it asks" timeout 30 "$ROGER" send bob 'x' --as ann --key t:v:1 --confirm read --within 200ms
like "the attempt goes on meanwhile" "$(roger trace "$id")" "."
roger receive --as bob -q

for clock in day year; do
	id=$(killed "t:$clock:1")
	set_clock "$id" "by = day * (1 if '$clock' == 'day' else 365); message['created_at'] += by; message['confirm_by'] += by"
	exits 75 "the clock was a $clock ahead: it waits as long as it asks" timeout 30 "$ROGER" send bob 'x' --as ann --key "t:$clock:1" --confirm read --within 200ms
	like "in a new attempt, since the first is over" "$err" "attempt 2 of 3"
	exits 75 "so is the next" timeout 30 "$ROGER" send bob 'x' --as ann --key "t:$clock:1" --confirm read --within 200ms
	like "which is the last" "$err" "in 3 attempts"
	roger receive --as bob -q
done

id=$(killed t:past:1)
set_clock "$id" "message['created_at'] = 1; message['confirm_by'] = 2"
exits 75 "the clock stood at 1970" timeout 30 "$ROGER" send bob 'x' --as ann --key t:past:1 --confirm read --within 200ms
roger receive --as bob -q

# ------------------------------------------- a sender that was killed while it waited

entries() { # KEY: outcome and settled of each line
	roger log sends --key "$1" --lines --json | json '[[a["outcome"], not a.get("pending", False)] for a in d["attempts"]]'
}
id=$(killed t:late:1)
is "its attempt is on record, and pending" "$(entries t:late:1)" '[["timeout", false]]'
like "for people, too" "$(roger log sends --key t:late:1)" "ann -> bob +pending +1/3"
set_clock "$id" "message['created_at'] -= 7200000; message['confirm_by'] = now - 3600000"
roger receive --as bob -q
# In the order of time: its deadline was an hour ago.
is "what is read after its time was a timeout" "$(entries t:late:1)" '[["timeout", true], ["timeout", false], ["delivered", true]]'
is "and is late, as the three before it" "$(roger report --json | json 'd["late"]')" 4
id=$(killed t:over:1)
set_clock "$id" "message['created_at'] -= 7200000; message['confirm_by'] = now - 3600000"
is "whoever looks after its time settles it, as of that" "$(entries t:over:1)" '[["timeout", true], ["timeout", false]]'
is "once" "$(entries t:over:1)" '[["timeout", true], ["timeout", false]]'
roger receive --as bob -q
for look in trace timeline; do
	id=$(killed t:$look:1)
	set_clock "$id" "message['created_at'] -= 7200000; message['confirm_by'] = now - 3600000"
	what=$id
	[ $look = trace ] || what=general
	like "$look settles it, too" "$(roger $look "$what")" "tim(ed out|eout) .*attempt 1 of 3.*key t:$look:1"
	roger receive --as bob -q
done
exits 75 "a wait that ends" timeout 30 "$ROGER" send bob 'x' --as ann --key t:back:1 --confirm read --within 200ms
id=$(roger list --jsonl --limit 1 --newest | json 'd["id"]' | tr -d '"')
set_clock "$id" "message['created_at'] += day; message['confirm_by'] += day"
python3 "$source_dir/tests/cli/lib_forge.py" .roger/send-log/ann.jsonl "
import datetime as dt
for line in [line for line in lines if line['message_id'] == '$id']:
    at = dt.datetime.fromisoformat(line['timestamp'][:-1]) + dt.timedelta(days=1)
    line['timestamp'] = at.isoformat(timespec='milliseconds') + 'Z'"
like "whose end is on record is over, also if the clock went back since" "$(roger status)" "bob .*: 1 late, 1 unread"
roger receive --as bob -q
exits 0 "doctor" roger doctor -q

# ------------------------------------------------------------------------ leases

roger send eve 'to do' --as ann -q
id=$(roger claim --as eve --worker w1 --json | json 'd["messages"][0]["id"]' | tr -d '"')
exits 1 "it is claimed" roger claim --as eve --worker w2
again "$id" "message['claimed_until'] = now + 365 * day"
like "a lease of a year is told by status" "$(roger status)" "eve looked .* ago: 1 lease expired, 1 unread"
like "and by doctor" "$(roger doctor)" "lease of 'w1' on message '$id'.*claims.max_lease"
exits 0 "a wait sees the mail" timeout 30 "$ROGER" wait --as eve --timeout 20s
exits 0 "which is free" roger claim --as eve --worker w2 --json
is "as it was" "$(printf '%s' "$out" | ids)" "[\"$id\"]"
exits 0 "w2 may ack it" roger ack "$id" --as eve --worker w2
roger send eve 'by two clocks' --as ann -q
id=$(roger claim --as eve --worker w1 --json | json 'd["messages"][0]["id"]' | tr -d '"')
set_clock "$id" "message.update({name: message[name] + 3 * day for name in ('claimed_at', 'claimed_until') if name in message})"
exits 0 "what was claimed by a clock of later is received" roger receive --as eve
like "all of it" "$out" "by two clocks"
is "and acknowledged by nobody" "$(roger trace "$id" --json | json '[step["step"] for step in d["traces"][0]["steps"] if step["step"] in ("read", "acknowledged")]')" '["read"]'
printf 'claims: {max_attempts: 1}\n' >.roger/config.yaml
roger send eve 'this kills' --as ann -q
id=$(roger claim --as eve --worker w1 --json | json 'd["messages"][0]["id"]' | tr -d '"')
again "$id" "message['claimed_until'] = now + 365 * day"
like "a lease of a year that was the last one is found by status" "$(roger status)" "eve .*1 given up"
is "as a dead letter" "$(roger dead --json | json '[(one["message"], one["cause"]) for one in d["dead_letters"] if one["to"] == "eve"]')" "[[\"$id\", \"leases expired\"]]"
roger ack "$id" --as eve -q
: >.roger/config.yaml
exits 65 "no lease is longer than a day" roger claim --as eve --lease 25h
like "for which there is a setting" "$err" "at most 24h 0m .claims.max_lease."
printf 'claims: {max_lease: 2s}\n' >.roger/config.yaml
roger send eve 'more' --as ann -q
exits 65 "that holds" roger claim --as eve --lease 3s
exits 0 "and for claims that name none" roger claim --as eve --worker w1
exits 0 "whose lease ends" timeout 60 "$ROGER" wait --as eve --timeout 50s
printf 'claims: {max_lease: 8d}\n' >.roger/config.yaml
exits 78 "a week is the most" roger claim --as eve
# A time that is in no year of four digits here is printed as a number.
mkdir odd && cd odd && roger init -q
for created in 1000 253402300799999; do
	printf '{"id":"msg-1-%s","issue_id":"i","from_phase":"a","to_phase":"b","run_counter":1,"message_type":"data","content":"x","metadata":null,"read":false,"created_at":%s,"read_at":null}\n' $created $created >>.roger/messages.jsonl
done
is "the first hours of 1970" "$(TZ=WEST+5 "$ROGER" list --to b | awk 'NR == 1 { print $4 }')" -17999000
is "and the last of 9999" "$(TZ=EAST-5 "$ROGER" list --to b | awk 'NR == 2 { print $4 }')" 253402318799999
done_testing
