#!/bin/sh
# runner: timeout 300
# seal: what was sealed can be proved to stand; whoever rewrites it, chain and
# all, is found out with file and line; going on is allowed.
. "$(dirname "$0")/lib.sh"

tests=$source_dir/tests/cli
forge() {
	python3 "$tests/lib_forge.py" ".roger/$1" "$2" || note "forge $1 failed"
	rm -f .roger/messages.db* .roger/messages.control
}

roger init -q
for i in 1 2 3 4 5 6; do
	roger send --as ann bob "number $i" --key "app-$i:status-update:c1" -q
done
roger receive --as bob --limit 2 -q
roger archive --issue general -q
for run in over open; do
	roger dispatch $run --as ann --within 1h -q
done
roger complete over --result done -q
roger receive --as ann -q
roger runs forward over -q

# The seal.
exits 0 "a seal" roger seal
printf '%s\n' "$out" >printed.seal
is "is one JSON document" "$(json '[d["version"], sorted(d), d["workspace"]]' <printed.seal)" "[2, [\"entries\", \"made_at\", \"public_key\", \"signature\", \"version\", \"workspace\"], \"$PWD\"]"
is "with every journal and document" "$(json '[[e["kind"], e["file"]] for e in d["entries"] if e["kind"] == "document" or e["file"] == "messages.jsonl"]' <printed.seal)" '[["journal", "messages.jsonl"], ["document", "state/subagent-delivery-watchdog/open.json"], ["document", "state/subagent-delivery-watchdog/over.json"]]'
is "with bytes, lines, chain" "$(json '[d["entries"][0][k] for k in ("bytes", "lines", "chain")]' <printed.seal)" "[$(wc -c <.roger/messages.jsonl), $(wc -l <.roger/messages.jsonl), \"$(tail -n 1 .roger/messages.jsonl | json 'd["chain"]')\"]"
is "and digest" "$(json 'd["entries"][0]["sha256"]' <printed.seal)" "$(sha256sum <.roger/messages.jsonl | cut -d' ' -f1)"
is "the key is nobody else's" "$(stat -c '%a %s' .roger/seal.key .roger/seal.pub | tr '\n' ' ')" "600 65 600 65 "
is "its public half is in the seal" "$(json 'd["public_key"]' <printed.seal)" "$(cat .roger/seal.pub)"
is "the key itself is not" "$(grep -c "$(cat .roger/seal.key)" printed.seal)" 0
exits 0 "a second one" roger seal --out kept.seal
like "says with which key" "$out" "^sealed [0-9]+ files with key $(cat .roger/seal.pub)$"
is "that is the same" "$(json 'd["public_key"]' <kept.seal)" "$(cat .roger/seal.pub)"
exits 73 "a file that is there is left alone" roger seal --out kept.seal
is "a mode for one reader" "$(stat -c %a kept.seal)" 600

exits 0 "one that is told as JSON, too" roger seal --out told.seal --json
is "and so is any answer" "$(printf '%s' "$out" | json '[d["format"], d["public_key"]]')" "[1, \"$(cat .roger/seal.pub)\"]"
exits 0 "what was told" roger seal --json
printf '%s\n' "$out" >answer.seal
is "has its format" "$(json 'd["format"]' <answer.seal)" 1
exits 0 "and is a seal" roger verify --seal answer.seal
exits 0 "as is the file" roger verify --seal told.seal
rm told.seal answer.seal
exits 0 "nothing has changed" roger verify --seal kept.seal --json
is "and it says since when" "$(printf '%s' "$out" | json '[d["damaged"], d["findings"], d["sealed_by"], d["sealed_files"] > 4, "sealed_at" in d]')" "[0, [], \"$(cat .roger/seal.pub)\", true, true]"
exits 66 "a name that is empty is no file" roger verify --seal ""
exits 66 "nor is one of a key" roger verify --seal kept.seal --key ""
exits 66 "nor for a page" roger export general --html --seal "" --out page.html
exits 73 "nor to write it to" roger export general --html --out ""
exits 0 "from standard input" sh -c '"$ROGER" verify --seal - <kept.seal'
like "in words" "$out" "sealed at .* with key $(cat .roger/seal.pub): [0-9]+ files"

# Going on.
roger send --as ann bob "more" --key app-7:status-update:c1 -q
roger receive --as bob -q
exits 0 "what is appended is allowed" roger verify --seal kept.seal --json
roger runs extend open --by 5m -q
exits 0 "so is what happens to a run that is open" roger verify --seal kept.seal --json
is "which is told" "$(printf '%s' "$out" | json '[[f["file"], f["kind"]] for f in d["findings"]]')" '[["state/subagent-delivery-watchdog/open.json", "changed"]]'
roger seal --out now.seal -q
cp -rp .roger sound

again() {
	rm -rf .roger
	cp -rp sound .roger
}

# Found with kind, file and line, although the chain is whole.  Whether a file is missed without the seal depends on what the
# copy knows of it.
found() { # NAME KIND FILE LINE [DAMAGED]
	run roger verify --json
	like "$1: the chain says nothing" "$status" "^(${5:-0})$"
	exits 65 "$1: the seal does" roger verify --seal now.seal --json
	is "$1: with file and line" "$(printf '%s' "$out" | json '[[f["kind"], f["file"], f["line"]] for f in d["findings"] if f["kind"] == "'"$2"'"][0]')" "[\"$2\", \"$3\", $4]"
	exits 65 "$1: in words" roger verify --seal now.seal
	like "$1: named" "$out" "^$3"
	again
}

forge messages.jsonl 'lines[3]["content"] = "number 7"'
# Its later line still says what the first one said.
found "another word" altered messages.jsonl 4 65
forge messages.jsonl 'del lines[4]'
found "a line taken out" altered messages.jsonl 5
forge messages.jsonl 'lines.insert(2, dict(lines[2], id="msg-1-planted", seq=99))'
found "a line put in" altered messages.jsonl 3
forge messages.jsonl 'lines[1], lines[2] = lines[2], lines[1]'
found "two lines swapped" altered messages.jsonl 2
forge messages.jsonl 'del lines[-2:]'
found "cut at its end" truncated messages.jsonl "$(($(wc -l <sound/messages.jsonl) - 1))"
forge messages.jsonl 'del lines[-2:]; lines += [dict(lines[0], id="msg-%d" % n) for n in range(9)]'
found "cut, and written on" altered messages.jsonl "$(($(wc -l <sound/messages.jsonl) - 1))"
forge send-log/ann.jsonl 'lines[2]["attempt"] = 2'
found "another attempt" altered send-log/ann.jsonl 3
rm .roger/send-log/ann.jsonl .roger/messages.control
exits 65 "a log that is gone" roger verify --seal now.seal --json
is "is told" "$(printf '%s' "$out" | json '[[f["kind"], f["file"]] for f in d["findings"]]')" '[["missing", "send-log/ann.jsonl"]]'
again
runs=.roger/state/subagent-delivery-watchdog
sed -i 's/"taskId": ".*"/"taskId": "x"/; s/"notes": \[/"notes": [ /' $runs/over.json
found "the document of a run that was over" altered state/subagent-delivery-watchdog/over.json 1
sed -i 's/"ownerAgent": "[^"]*"/"ownerAgent": "eve"/' $runs/open.json
found "another owner of a run that is open" altered state/subagent-delivery-watchdog/open.json 1
sed -i 's/extended/shortened/' $runs/open.json
found "another note of it" altered state/subagent-delivery-watchdog/open.json 1
roger runs extend open --by 5m -q
exits 0 "one more note is allowed" roger verify --seal now.seal
again
rm $runs/open.json
found "a document that is gone" missing state/subagent-delivery-watchdog/open.json 1 "0|65"

# Lines that are proved by a seal, without the others: FORMAT.md, "Citing lines".
cat >proof.py <<'END'
import hashlib, json, re, sys
seal, reply = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
def root(cited, count):
    lines = dict(zip(map(int, cited["numbers"].split()), cited["lines"]))
    proof = iter(re.findall(".{64}", cited["proof"]))
    def node(first, count):
        if not any(first <= n < first + count for n in lines):
            return bytes.fromhex(next(proof))
        if count == 1:
            return hashlib.sha256(b"\0" + lines[first].encode()).digest()
        half = 1
        while half * 2 < count:
            half *= 2
        return hashlib.sha256(b"\1" + node(first, half) + node(first + half, count - half)).digest()
    found = node(1, count).hex()
    assert next(proof, None) is None
    return found
for cited in reply["cited"]:
    entry = next(e for e in seal["entries"] if e["file"] == cited["file"])
    print(cited["file"], cited["numbers"], root(cited, entry["lines"]) == entry["root"])
END
roger seal --out cite.seal -q
last=$(wc -l <.roger/messages.jsonl)
roger verify --seal cite.seal --cite messages.jsonl:3 --cite "messages.jsonl:$last" --cite messages.jsonl:3 \
	--cite "messages.jsonl:$((last + 1))" --cite send-log/ann.jsonl:1 --cite nosuch.jsonl:1 --json >cited.json
is "are proved by it" "$(python3 proof.py cite.seal cited.json | sort | tr '\n' ';')" "messages.jsonl 3 $last True;send-log/ann.jsonl 1 True;"
is "as they are" "$(json 'd["cited"][0]["lines"][0]' <cited.json)" "$(sed -n 3p .roger/messages.jsonl)"
sed 's/\\"content\\":\\"/&x/' cited.json >other.json
is "and others are not" "$(python3 proof.py cite.seal other.json | grep -c 'messages.jsonl.*False')" 1
json '{**d, "version": 1, "entries": [{k: v for k, v in e.items() if k != "root"} for e in d["entries"]]}' <cite.seal >rootless.seal
exits 65 "a root cannot be taken away" roger verify --seal rootless.seal

# Archives are sealed as journals are.
sed -i '1s/"read":true/"read":false/' .roger/messages_archive/*.jsonl
found "an archived message" altered messages_archive/general.jsonl 1
: >.roger/messages_archive/general.jsonl
found "an empty archive" truncated messages_archive/general.jsonl 1
rm .roger/messages_archive/general.jsonl
found "an archive that is gone" missing messages_archive/general.jsonl 1 "0|65"
roger archive --issue general -q
exits 0 "one more message in it is allowed" roger verify --seal now.seal
again

# A purge rewrites a log, and is told as what it is.
for i in 1 2 3; do roger log cycle new --as ann -q; done
like "purge drops lines" "$(roger log purge)" "^purged +8"
exits 0 "purged since" roger verify --seal now.seal --json
is "the seal says nothing of it" "$(printf '%s' "$out" | json '[[f["file"], f["kind"]] for f in d["findings"]]')" '[["send-log/ann.jsonl", "purged"], ["send-log/run.jsonl", "purged"]]'
again
forge send-log/ann.jsonl 'lines.clear()'
found "emptied before purge could do it" truncated send-log/ann.jsonl 1

# Many lines: the place is a range.
python3 -c '
for i in range(5000):
    print("{\"to\": [\"b%d\"], \"content\": \"%d\"}" % (i // 90, i))' >batch.jsonl
printf 'size_limits:\n  max_messages_per_issue: 10000\n' >.roger/config.yaml
roger send --as ann --batch -q <batch.jsonl
roger seal --out many.seal -q
is "marks stay few" "$(json '[e["every"] for e in d["entries"] if e["file"] == "messages.jsonl"][0]' <many.seal)" 4
exits 0 "a long journal is sound" roger verify --seal many.seal
forge messages.jsonl 'lines[4097]["content"] = "x"'
exits 65 "a change in it" roger verify --seal many.seal --json
is "is found among four lines" "$(printf '%s' "$out" | json '[[f["line"], f["what"]] for f in d["findings"] if f["kind"] == "altered"][0]')" '[4097, "not what was sealed: the first difference is in lines 4097 to 4100"]'
again

# Seals and keys of others.
python3 -c '
import json, sys
seal = json.load(open("now.seal"))
seal["entries"][0]["bytes"] -= 1
json.dump(seal, open("forged.seal", "w"))'
exits 65 "a seal that was changed" roger verify --seal forged.seal
like "proves nothing" "$err" "signature does not fit"
json 'json.dumps(d, indent=2)' <now.seal >pretty.seal
exits 0 "one that was laid out anew holds" roger verify --seal pretty.seal
echo '{"version":1}' >none.seal
exits 65 "what is no seal" roger verify --seal none.seal
exits 66 "one that is not there" roger verify --seal nowhere.seal
exits 64 "a key without a seal" roger verify --key .roger/seal.pub
exits 0 "with the right key" roger verify --seal now.seal --key .roger/seal.pub
printf '%064d\n' 7 >other.pub
exits 65 "with another key" roger verify --seal now.seal --key other.pub --json
is "it is told" "$(printf '%s' "$out" | json '[f["kind"] for f in d["findings"]]')" '["other_key"]'
mkdir elsewhere
roger init elsewhere -q
roger --workspace elsewhere seal --out other.seal -q
exits 65 "a seal of another workspace" roger verify --seal other.seal --json
is "is signed with another key" "$(printf '%s' "$out" | json 'd["findings"][0]["kind"]')" other_key
rm .roger/seal.pub
roger seal -q >/dev/null
is "a lost public key is made again" "$(cat .roger/seal.pub)" "$(cat sound/seal.pub)"
printf '%064d\n' 7 >.roger/seal.pub
exits 65 "one that does not fit is not used" roger seal
again
rm .roger/seal.key
exits 77 "without the key there is no seal" roger seal
again
echo garbage >.roger/seal.key
exits 65 "nor with what is no key" roger seal
done_testing
