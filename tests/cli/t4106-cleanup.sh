#!/bin/sh
# cleanup, archive and delete: what leaves, and why, is kept in the archive and
# never comes back; unread mail stays unless it is asked for by name.
. "$(dirname "$0")/lib.sh"

roger init -q
day=86400000
now=$(date +%s)000
# Messages of other days come from a journal that other programs wrote.
old() { # ID TO ISSUE RUN DAYS READ
	printf '{"id":"%s","issue_id":"%s","from_phase":"plan","to_phase":"%s","run_counter":%s,"message_type":"context","content":"%s","metadata":null,"read":%s,"created_at":%s,"read_at":%s}\n' \
		"$1" "$3" "$2" "$4" "$1" "$6" $((now - $5 * day)) "$([ "$6" = true ] && echo $((now - $5 * day + 1)) || echo null)" >>.roger/messages.jsonl
}
old ancient bob a 1 91 true
old ancient-unread bob a 1 91 false
old recent bob a 1 89 true
for i in $(seq 12); do
	old "many-$i" carol b 1 1 true
done
old run-1 dora c 1 1 true
old run-2 dora c 2 1 true
old run-1-unread dora c 1 1 false

exits 0 "the lines of others are messages" roger list --count
is "all of them" "$out" 18
exits 0 "a dry run" roger cleanup --dry-run --json
is "says what would go" "$(printf '%s' "$out" | json '[d[k] for k in ("archived", "by_age", "by_count", "by_pass", "kept_unread")]')" "[4, 1, 2, 1, 2]"
is "and moves nothing" "$(roger list --count)" 18
exits 0 "cleanup" roger cleanup
like "says what went" "$out" "archived +4"
is "these" "$(roger list --archived --jsonl | sed 's/.*"content":"\([^"]*\)".*/\1/' | sort | tr '\n' ' ')" "ancient many-1 many-2 run-1 "
is "the unread stayed" "$(roger list --count --unread)" 2
is "it is noted, an issue a line" "$(roger cleanup --history --json | json 'sorted([m["issue"], m["archived"], m["kept_unread"]] for m in d["history"])')" '[["a", 1, 1], ["b", 2, 0], ["c", 1, 1]]'
exits 0 "again" roger cleanup --json
is "finds nothing more" "$(printf '%s' "$out" | json 'd["archived"]')" 0
exits 0 "another age" roger cleanup --issue a --max-age-days 30 --json
is "takes what is older" "$(printf '%s' "$out" | json 'd["by_age"]')" 1
exits 65 "a negative number" roger cleanup --max-age-days -1
for i in 1 2 3; do
	old "off-$i" finn off "$i" 1 true
done
exits 0 "0 switches a rule off" roger cleanup --issue off --keep-passes 0 --keep-per-agent 0 --max-age-days 0 --json
is "so nothing goes" "$(printf '%s' "$out" | json 'd["archived"]')" 0
exits 0 "which without it does" roger cleanup --issue off --json
is "all but the last run" "$(printf '%s' "$out" | json 'd["by_pass"]')" 2

# More than leave in one commit; every third is for somebody who keeps all of it.
for i in $(seq 600); do
	old "long-$i" "$([ $((i % 3)) = 0 ] && echo gus || echo hal)" long 1 1 "$([ $((i % 3)) = 0 ] && echo false || echo true)"
done
exits 0 "an issue of several pieces" roger cleanup --issue long --keep-per-agent 10 --json
is "each message is judged once" "$(printf '%s' "$out" | json '[d[k] for k in ("archived", "by_count", "kept_unread")]')" "[390, 390, 190]"
is "what stays are the newest" "$(roger list --issue long --to hal --jsonl | sed 's/.*"content":"long-\([^"]*\)".*/\1/' | tr '\n' ' ')" "586 587 589 590 592 593 595 596 598 599 "
is "and the bytes before and after are noted" "$(roger cleanup --history --issue long --json | json '[[m["bytes_before"], m["bytes_after"]] for m in d["history"]]')" "[[4692, 1644]]"
is "which are those of the issue" "$(roger report stats --issue long --json | json '[d[k] for k in ("messages", "bytes", "agents")]')" "[210, 1644, 3]"

id=$(send_id --as plan bob "delete me" --issue d)
exits 77 "archive spares the unread" roger archive "$id"
exits 0 "a dry run of delete" roger archive --unread "$id" --dry-run
is "leaves it" "$(roger list --count --issue d)" 1
exits 0 "delete does not spare it" roger archive --unread "$id" --reason 'no longer true'
is "it is gone" "$(roger list --count --issue d)" 0
exits 1 "from the inbox" roger inbox --as bob --issue d
exits 66 "delete again: no such message" roger archive --unread "$id"
exits 0 "show still has it" roger show "$id" --json
is "with the reason" "$(printf '%s' "$out" | json 'd["messages"][0]["archive_reason"]')" "no longer true"
roger send -q --as plan bob x --issue e
roger send -q --as plan carol y --issue e
roger receive --as bob --issue e -q
exits 0 "archive an issue" roger archive --issue e
like "the unread is kept" "$out" "^kept unread +1$"
exits 0 "with --unread" roger archive --issue e --unread
is "it goes, too" "$(roger list --count --issue e)" 0
exits 0 "a dry run of delete" roger archive --unread --dry-run "$(roger list --jsonl --limit 1 | json 'd["id"]' | tr -d '"')"
like "says that it is one" "$out" "dry run"
exits 64 "neither ids nor an issue" roger archive
exits 64 "both" roger archive "$id" --issue e

before=$(roger list --jsonl | cksum)
gone=$(roger list --archived --jsonl | cksum)
exits 0 "rebuild" roger doctor rebuild
is "brings nothing back" "$(roger list --jsonl | cksum)" "$before"
is "and keeps the archive" "$(roger list --archived --jsonl | cksum)" "$gone"
exits 0 "verify" roger verify
done_testing
