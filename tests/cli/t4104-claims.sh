#!/bin/sh
# Several workers on one inbox: no message goes to two of them; ack settles it,
# nack gives it back, and so does a lease that ends.
. "$(dirname "$0")/lib.sh"

roger init -q
ids() { json '" ".join(m["id"] for m in d["messages"])'; }
one=$(send_id --as plan pool one)
two=$(send_id --as plan pool two)

is "w1 claims the first" "$(roger claim --as pool --worker w1 --json | ids)" "$one"
is "w2 the second" "$(roger claim --as pool --worker w2 --json | ids)" "$two"
exits 1 "then nothing is left" roger claim --as pool --worker w3
exits 1 "to receive neither" roger receive --as pool
exits 0 "inbox shows them" roger inbox --as pool
like "with their holder" "$out" "claimed by w1, lease ends 20"
like "prime says who may ack it" "$(roger prime --as pool)" "id $one, claimed by w1 until 20[^ ]*Z, and nobody else may ack it:"
exits 77 "w2 cannot ack what is w1's" roger ack --as pool --worker w2 "$one"
exits 77 "nor give it back" roger nack --as pool --worker w2 "$one"
exits 77 "nor somebody else of another name" roger ack --as other "$one"
exits 66 "nor what is not there" roger ack --as pool --worker w1 msg-1-x
exits 0 "w1 can" roger ack --as pool --worker w1 "$one"
exits 0 "and may say so twice" roger ack --as pool --worker w1 "$one"
exits 0 "w2 gives back" roger nack --as pool --worker w2 "$two"
is "w1 gets it" "$(roger claim --as pool --worker w1 --lease 100ms --json | ids)" "$two"
exits 0 "wait sees the lease end" roger wait --as pool --timeout 20s
is "and w2 gets it" "$(roger claim --as pool --worker w2 --json | ids)" "$two"
exits 77 "w1 is too late" roger ack --as pool --worker w1 "$two"
exits 0 "rebuild keeps the lease" roger doctor rebuild
exits 1 "so nobody gets it" roger claim --as pool --worker w3
exits 0 "w2 settles it" roger ack --as pool --worker w2 "$two"
exits 77 "and cannot give it back any more" roger nack --as pool --worker w2 "$two"
is "nothing is unread" "$(roger list --count --unread)" 0

third=$(send_id --as plan pool three)
fourth=$(send_id --as plan pool four)
roger claim --as pool --worker w1 --limit 1 -q
exits 77 "several at once" roger ack --as pool --worker w2 "$third" "$fourth"
is "change together or not" "$(roger list --count --unread)" 2
roger nack -q --as pool --worker w1 "$third"
exits 65 "a lease longer than 7 days" roger claim --as pool --lease 8d
exits 0 "a lease from nobody in particular" roger claim --as pool --limit 5 --json
is "is the agent's" "$(printf '%s' "$out" | json '[m["claimed_by"] for m in d["messages"]]')" '["pool", "pool"]'
exits 0 "who settles it by name" roger ack --as pool "$third" "$fourth"

# What left unread cannot be accepted.
roger send -q --as plan pool 'to be deleted'
fifth=$(roger claim --as pool --worker w1 --jsonl | json 'd["id"]' | tr -d '"')
roger archive --unread -q "$fifth"
exits 77 "deleted meanwhile" roger ack --as pool --worker w1 "$fifth"
like "it says so" "$err" "archived unread"
exits 77 "nor given back" roger nack --as pool --worker w1 "$fifth"
like "it says the same" "$err" "archived unread"
roger send -q --as plan pool 'to be heard'
for verb in receive claim; do
	run sh -c '"$ROGER" '$verb' --as pool >&-'
	is "$verb: without standard output" "$status" 74
	is "$verb: nothing is taken" "$(roger list --to pool --unread --jsonl | json 'd["claimed_by"] if "claimed_by" in d else None')" null
done
roger receive -q --as pool

# Many at once, some through receive.
python3 -c '
for i in range(60):
    print("{\"to\":[\"crowd\"],\"content\":\"%d\",\"issue\":\"c\"}" % i)' | roger send --as plan --batch -q
worker() {
	while :; do
		case $1 in
		r*) got=$(roger receive --as crowd --limit 2 --jsonl) || break ;;
		*) got=$(roger claim --as crowd --worker "$1" --limit 2 --jsonl) || break ;;
		esac
		printf '%s\n' "$got" | sed 's/.*"id":"\([^"]*\)".*/\1/'
	done >"taken.$1"
}
for who in w1 w2 w3 r1 r2; do
	worker $who &
done
wait
is "five workers take all of it" "$(cat taken.* | grep -c msg-)" 60
is "and none of it twice" "$(cat taken.* | sort | uniq -d)" ""
exits 0 "verify" roger verify

# A sender that was killed while it waited is told of its dead letter by a notice.
roger init -q killed
printf 'retries: {max_attempts: 1}\n' >killed/.roger/config.yaml
"$ROGER" --workspace killed send --as amy bob 'urgent' --key k:escalation:1 --confirm read --within 1s --new 2>/dev/null &
sender=$!
until [ "$(roger --workspace killed list --to bob --count 2>/dev/null)" = 1 ]; do :; done
kill -9 $sender
wait $sender 2>/dev/null
for _try in $(seq 100); do
	roger --workspace killed sweep -q
	roger --workspace killed wait --as amy --timeout 100ms >/dev/null 2>&1 && break
done
like "a notice tells of the dead letter" "$(roger --workspace killed inbox --as amy)" "amy#1 to bob is a dead letter: not read in time"
roger --workspace killed sweep -q
is "once" "$(roger --workspace killed list --from roger --count)" 1
exits 0 "verify" roger --workspace killed verify
done_testing
