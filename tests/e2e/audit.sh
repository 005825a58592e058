# The log: what verifies, and what does not.
. tests/lib/tap.sh
ws=$(fresh sales audit)
run writ ask -C "$ws" "Which regions had the highest net sales last quarter?" --json
printf '%s' "$out" >"$ws/answer.json"
run writ ask -C "$ws" "How many orders are there?" --json
log=$ws/state/audit/seg/00000000000000000000.jsonl

run writ audit verify -C "$ws"
is "the log verifies under the pinned key" "$code" 0
run writ audit verify "$ws/state/audit"
is "without a pinned key it is not called proven" "$code" 12
has "  and says what stays unproven" "$out$err" "key"
run writ audit verify -C "$ws" --answer "$ws/answer.json"
is "an answer is checked against the log" "$code" 0
for change in 's/420\.0/421.0/' 's/net sales last quarter?/net sales last year?/' 's/SELECT/SELECT /' 's/East 420.00/East 420.01/'; do
	sed "$change" "$ws/answer.json" >"$ws/changed.json"
	run writ audit verify -C "$ws" --answer "$ws/changed.json"
	isnt "an answer changed by $change is found" "$code" 0
done

# copy NAME: a copy of the log to tamper with
copy() { rm -rf "$ws/$1"; cp -R "$ws/state/audit" "$ws/$1"; }
verify() { run writ audit verify "$ws/$1" --key "$ws/audit.pub"; }
lines=$(wc -l <"$log")

copy same; verify same; is "an untouched copy verifies" "$code" 0
copy edit; sed -i '3s/"src":"observed"/"src":"reported"/' "$ws/edit/seg/00000000000000000000.jsonl"; verify edit
is "an edit is found" "$code" 21
copy cut; sed -i '$d' "$ws/cut/seg/00000000000000000000.jsonl"; verify cut
is "a cut is found" "$code" 20
copy del; sed -i '4d' "$ws/del/seg/00000000000000000000.jsonl"; verify del
is "a deletion is found" "$code" 21
copy dup; sed -i '4p' "$ws/dup/seg/00000000000000000000.jsonl"; verify dup
is "an insertion is found" "$code" 21
copy swap; sed -i -n '4{h;d};5{p;g};p' "$ws/swap/seg/00000000000000000000.jsonl"; verify swap
is "a swap is found" "$code" 21
copy half; truncate -s -20 "$ws/half/seg/00000000000000000000.jsonl"; verify half
is "a torn tail below the head is found" "$code" 20
copy empty; : >"$ws/empty/seg/00000000000000000000.jsonl"; verify empty
is "an emptied log is not intact" "$code" 20
copy head; sed -i 's/^— .*/— x+00000000+AAAA/' "$ws/head/checkpoint"; verify head
isnt "a head without our signature is not accepted" "$code" 0
hasnt "no question in clear" "$(cat "$log")" "regions"
hasnt "no SQL in clear" "$(cat "$log")" "SELECT"
# Leaves, not text: digits of 420 occur by chance in hashes, signatures, keys and times.
is "no value in clear" "$(jq -c '.. | scalars | select(tostring | test("^([A-Za-z ]*)?420([.]0*)?$"))' "$log")" ""
is "an owner's log is closed to others" "$(stat -c %a "$log" | cut -c2-)" 00
run writ audit verify "$ws/nowhere"
isnt "no log is not a good log" "$code" 0
done_testing
