#!/bin/sh
# runner: timeout 120
# doctor and verify while others send, read, purge and archive: what is under way
# is no breach, and a seal made in between holds afterwards.
. "$(dirname "$0")/lib.sh"

roger init -q
end=$(($(date +%s) + 6))

until_end() { # COMMAND, with $i
	i=0
	while [ "$(date +%s)" -lt $end ]; do
		i=$((i + 1))
		eval "$1" >/dev/null 2>&1
	done
}

until_end 'roger send --as ann bob "text $i" --issue "i$((i % 3))" --key "a:status-update:$i"' &
until_end 'roger send --as zoe bob,carol "text $i" -q; roger send --as zoe bob x --key "z:escalation:$((i / 4))" --confirm read --within 3ms' &
until_end 'roger receive --as bob --limit 3; roger claim --as carol --limit 2' &
until_end 'roger dispatch "r$i" --as ann --within 1s; roger complete "r$i" --result x; roger receive --as ann; roger runs forward "r$i"' &
until_end 'sleep 0.5; roger log cycle new --as ann; roger log purge; roger archive --issue i1; roger agents session new' &
looks=0
breaches=
while [ "$(date +%s)" -lt $end ]; do
	looks=$((looks + 1))
	roger doctor >doctor.out 2>&1 || breaches="$breaches $(grep -A 3 -E '^(damage|repairable)|roger:' doctor.out)"
	roger verify >verify.out 2>&1 || breaches="$breaches $(cat verify.out)"
	[ $looks = 2 ] && roger seal --out early.seal -q
done
wait
is "no breach" "$breaches" ""
check "looked at more than once" test $looks -gt 2
exits 0 "sound afterwards" roger doctor
exits 0 "what was sealed in between stands" roger verify --seal early.seal
done_testing
