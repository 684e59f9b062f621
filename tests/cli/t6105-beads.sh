#!/bin/sh
# runner: plain
# `bd mail` of beads hands its words to BEADS_MAIL_DELEGATE: with integrations/beads/mail they reach roger. bd itself is
# not here; it cuts the value at blanks and adds its own words, as this does.
. "$(dirname "$0")/lib.sh"

mkdir bin && ln -s "$ROGER" bin/roger
PATH=$here/bin:$PATH
BEADS_MAIL_DELEGATE=$source_dir/integrations/beads/mail
bd() { # mail WORDS...
	shift
	# shellcheck disable=SC2086 # cut at blanks
	env BD_ACTOR=worker $BEADS_MAIL_DELEGATE "$@"
}
roger init --quiet
roger send --as mayor --new worker 'please look' >/dev/null
exits 0 "send mayor/ -s Hi -m body" bd mail send mayor/ -s Hi -m 'the body of it'
like "has its subject as the first line" "$(roger inbox --as mayor)" "Hi.*
.*
.*the body of it"
like "is of who bd says it is" "$(roger list --jsonl --to mayor)" '"from":"worker"'
exits 0 "inbox" bd mail inbox
like "shows one's own mail" "$out" "please look"
exits 0 "read ID" bd mail read mayor#1
like "shows the message" "$out" "please look"
is "and it is read then" "$(roger inbox --as worker --json | tr -d ' ' | grep -o '"messages":\[\]')" '"messages":[]'
exits 0 "reply ID -m TEXT" bd mail reply mayor#1 -m 'I have looked'
like "goes to the sender" "$(roger inbox --as mayor)" "I have looked"
exits 0 "without words it is the inbox" env ROGER_AGENT=mayor "$BEADS_MAIL_DELEGATE"
exits 64 "an option that means nothing here is refused" bd mail send mayor/ --cc bob -m x
exits 64 "a mail without a text, too" bd mail send mayor/
exits 0 "ROGER_AGENT comes first" env BD_ACTOR=other ROGER_AGENT=mayor "$BEADS_MAIL_DELEGATE" ack worker#1
done_testing
