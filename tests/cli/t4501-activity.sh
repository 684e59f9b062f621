#!/bin/sh
# The activity log by hand: log writes an entry or refuses it by member, activity
# finds it, import takes in what other tools wrote, and bad lines are told by number.
. "$(dirname "$0")/lib.sh"

roger init -q
printf 'activity:\n  own: false\n' >.roger/config.yaml
log=.roger/logs/activity.log.jsonl

exits 0 "an entry" roger log app-42 FILE_WRITE --details '{"path": "src/a.c"}' --message 'added it' --evidence 'PR 7'
like "is shown" "$out" '  FILE_WRITE  app-42  SUCCESS  added it; path src/a.c  evidence: PR 7$'
exits 0 "with its own time" roger log app-42 PLAN_UPDATE --status IN_PROGRESS --at 2025-10-05T16:40:07+02:00 --json
is "in UTC" "$(printf '%s' "$out" | json 'd["activities"][0]["at"]')" 2025-10-05T14:40:07.000Z
exits 0 "the seed's entry" sh -c '"$ROGER" log - -q <"$1"' sh "$source_dir/tests/spec/003-activity.json"
is "is in the log byte for byte" "$(sed -n '3s/,"chain":"[0-9a-f]*"}$/}/p' $log)" \
	"$(cat "$source_dir/tests/spec/003-activity.json")"
is "it stands there with a chain" "$(sed -n '3s/.*,"chain":"[0-9a-f]\{16\}"}$/yes/p' $log)" yes
is "every line is JSON" "$(python3 -c 'import json, sys; print(sum(1 for l in open(sys.argv[1]) if json.loads(l)))' $log)" 3

exits 64 "no type" roger log app-42
like "is named" "$err" "no type: name the kind"
exits 64 "no task" roger log --details '{}'
exits 65 "a type of another schema" roger log app-42 TASK_START
like "is answered with the list" "$err" "FILE_READ, FILE_WRITE"
exits 65 "details that are no object" roger log app-42 TOOL_EXEC --details '[]'
exits 65 "a status of another schema" roger log app-42 TOOL_EXEC --status RETRY
exits 65 "a time that is none" roger log app-42 TOOL_EXEC --at soon
exits 65 "nothing on standard input" sh -c '"$ROGER" log - </dev/null'
exits 65 "an entry without an outcome" sh -c 'echo "{\"timestamp\":\"2025-10-05T14:40:07Z\",\"task_id\":\"t\",\"action\":{\"type\":\"TOOL_EXEC\",\"details\":{}}}" | "$ROGER" log - --json'
is "names the member" "$(printf '%s' "$err" | json 'd["error"]["member"]')" outcome.status
more='{"timestamp":"2025-10-05T14:40:07Z","task_id":"more","action":{"type":"TOOL_EXEC","details":{},"tool":1},"outcome":{"status":"SUCCESS"}}'
exits 0 "a member of nobody is kept" roger log --entry "$more" -q
# Where it stands in the log is said, too.
words=$(printf '%s' "$more" | sed 's/timestamp/at/; s/task_id/task/; s/}$/,"line":4}/')
is "as it came, in roger's words" "$(roger log --task more --jsonl)" "$words"
printf '%s\n' "$words" >words.jsonl
like "which may come in again" "$(roger log --import words.jsonl --dry-run --json)" '"imported":1,'

exits 64 "a dry run of nothing" roger log app-42 TOOL_EXEC --dry-run

count() { roger log --jsonl "$@" 2>/dev/null | wc -l | tr -d ' '; }
is "all" "$(count)" 4
is "by task" "$(count --task app-42)" 2
is "by type" "$(count --type FILE_WRITE)" 2
is "by status" "$(count --status IN_PROGRESS)" 1
is "by citation" "$(count --evidence 'PR 7')" 1
is "since" "$(count --since 1h)" 1
is "until" "$(count --until 2025-10-06)" 3
is "limited" "$(count --limit 3)" 3
is "the newest" "$(roger log --newest --limit 1 --jsonl)" "$words"
exits 0 "a page" roger log --limit 2 --json
next=$(printf '%s' "$out" | json '[len(d["activities"]), d["more"], d["next"]][2]')
is "says where to go on" "$(roger log --after "$next" --jsonl | wc -l | tr -d ' ')" 2
exits 1 "nothing" roger log --task nobody
is "is said" "$out" "no entries"

# What another tool wrote: two objects on line 48 of a real log, a torn end, a byte order mark.
python3 - <<'END'
import json
def line(i, **more):
    return json.dumps(dict({"timestamp": "2025-11-01T00:00:%02d.123456+00:00" % i, "task_id": "other", "action":
        {"type": "TOOL_EXEC", "details": {"n": i}}, "outcome": {"status": "SUCCESS"}}, **more))
with open("other.jsonl", "w") as f:
    f.write("\ufeff" + line(0) + "\r\n\n" + line(1) + line(2) + "\n" + line(3, log_id="x") + "\n")
    f.write(line(4).replace("TOOL_EXEC", "INFO") + "\nnot JSON\n" + line(5)[:-9])
END
exits 65 "an import with bad lines" roger log --import other.jsonl
is "takes the others" "$out" "2 entries imported, 4 bad lines"
like "two objects on one line are told by its number" "$err" '^line 3: '
like "another type is told with the reason" "$err" '^line 5: action.type: expected FILE_READ'
like "so is the torn end" "$err" '^line 7: '
exits 65 "a dry run" roger log --import - --dry-run --json <other.jsonl
is "adds nothing" "$(printf '%s' "$out" | json '[d["imported"], d["bad"], [l["line"] for l in d["lines"]]]')" "[2, 4, [3, 5, 6, 7]]"
is "two are there" "$(count --task other)" 2
head -n 2 other.jsonl >good.jsonl
exits 0 "without bad lines" roger log --import good.jsonl --dry-run
exits 0 "an empty file" roger log --import /dev/null
is "is none" "$out" "0 entries imported, 0 bad lines"
exits 66 "a file that is not there" roger log --import none.jsonl
exits 64 "a file and an entry" roger log app-42 TOOL_EXEC --import good.jsonl
is "what is there stays" "$(count)" 6

# Others write into the log itself.
printf '{"a":1}\n%s\n{"torn' "$more" >>$log
exits 0 "a query" roger log --task more
is "finds what they wrote" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 2
like "and tells what is none, by number" "$err" 'activity.log.jsonl, line 7: timestamp: missing'
exits 0 "an entry behind a torn line" roger log after TOOL_EXEC -q
is "starts on a new line" "$(count --task after)" 1
exits 0 "the torn one" roger log --json
is "is told, too" "$(printf '%s' "$out" | json '[l["line"] for l in d["lines"]]')" "[7, 9]"

# One whose writer died before the newline.
printf '%s' "$more" | sed 's/"more"/"unended"/' >>$log
is "an unfinished line is no entry yet" "$(count --task unended)" 0
roger log after TOOL_EXEC -q
is "with a newline behind it, it is" "$(count --task unended)" 1

# Many at once: whole lines, none lost.
for who in 1 2 3 4; do
	(i=0; while [ $i -lt 25 ]; do roger log crowd TOOL_EXEC --details "{\"who\":$who,\"i\":$i}" -q || exit 1; i=$((i + 1)); done) &
done
wait
is "a hundred entries by four writers" "$(count --task crowd)" 100
is "and no two the same" "$(roger log --task crowd --jsonl | sort | uniq -d)" ""
exits 0 "without a task" roger log --limit 1 --newest --json
is "log shows the log" "$out" "$(roger log --limit 1 --newest --json)"
is "with its filters" "$(roger log --task app-42 --jsonl | wc -l)" "$(roger log --task app-42 --jsonl | wc -l)"
# An index that is deleted again and again is built again, or left.
python3 -c 'import os
while os.path.exists(".roger"):
    try: os.unlink(".roger/messages.db-index")
    except OSError: pass' &
deleter=$!
i=0
while [ $i -lt 100 ] && roger log away TOOL_EXEC -q 2>err && roger log --limit 3 >/dev/null 2>err; do i=$((i + 1)); done
kill $deleter
is "the log is read while its index is deleted" "$i" 100 || cat err
entries=$(roger log --jsonl | wc -l)
# A page goes on after a line: an index that is made anew gives out other positions.
roger init pages --quiet
cd pages
for i in 1 2 3 4; do roger --as lead send bob "$i" --new -q; done 2>/dev/null
next=$(roger log --limit 2 --json | json 'd["next"]')
is "where a page ends" "$next" 2
after=$(roger log --after 2 --jsonl)
before=$(roger log --newest --after 3 --jsonl)
is "is its line" "$(printf '%s\n' "$after" | python3 -c 'import json, sys; print(*(json.loads(line)["line"] for line in sys.stdin))')" "3 4"
is "backward, too" "$(printf '%s\n' "$before" | python3 -c 'import json, sys; print(*(json.loads(line)["line"] for line in sys.stdin))')" "2 1"
roger doctor rebuild --quiet
is "the next page after a rebuild" "$(roger log --after 2 --jsonl | head -n 2)" "$after"
is "and backward" "$(roger log --newest --after 3 --jsonl)" "$before"
is "none is beyond" "$(roger log --after 99 --jsonl)$(roger log --newest --after 1 --jsonl)" ""
cd ..
exits 64 "what only an entry has is of an entry" roger log --message 'what for?'
exits 0 "a task writes one" roger log app-77 TOOL_EXEC
is "and no other line did" "$(roger log --jsonl | wc -l)" $((entries + 1))
like "help has both" "$(roger help log)" "usage: roger log \[task\] \[type\].*
Without these, as .roger log activity.: "
exits 0 "log --help" roger log --help
is "is help of log" "$out" "$(roger help log)"
done_testing
