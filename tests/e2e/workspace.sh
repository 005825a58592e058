# A workspace that others could change, or that is not what it seems, gets no service.
. tests/lib/tap.sh
question="How many orders are there?"
ws=$(fresh sales w1); chmod g+w "$ws"
run writ ask -C "$ws" "$question"
is "writable by the group: refused" "$code" 3
has "  with the folder and the command" "$err" "chmod"
ws=$(fresh sales w2); mkdir "$ws/else"; ln -s else "$ws/state"
run writ ask -C "$ws" "$question"
isnt "state/ is a link: refused" "$code" 0
ws=$(fresh sales w3); mkdir -m 755 "$ws/state"
run writ ask -C "$ws" "$question"
isnt "state/ open to others: refused" "$code" 0
ws=$(fresh sales w4); mkdir "$ws/else"; ln -s else "$ws/run"
run writ ask -C "$ws" "$question"
isnt "run/ is a link: refused" "$code" 0
ws=$(fresh sales w5); mkdir -p "$ws/w"; cp -R "$ws/." "$WRIT_PLACE/w5copy"; chmod o+w "$WRIT_PLACE/w5copy"
run writ ask -C "$WRIT_PLACE/w5copy" "$question"
isnt "writable by everyone: refused" "$code" 0
ws=$(fresh sales w6); echo "sourcs: {}" >>"$ws/writ.yaml"
run writ ask -C "$ws" "$question"
is "an unknown key in writ.yaml is refused" "$code" 3
has "  at file:line:column" "$err" "writ.yaml:"
has "  with the word that was meant" "$err" "sources"
ws=$(fresh sales w6b); echo "today: 2026-10-15" >>"$ws/writ.yaml"
run writ ask -C "$ws" "$question"
has "a writ.yaml that cannot be read is said" "$err" "duplicate key"
hasnt "  and metrics are not blamed for it" "$err" "metrics/"
ws=$(fresh sales w7); rm "$ws/data/sales.db"
run writ ask -C "$ws" "$question"
isnt "a missing database is refused" "$code" 0
has "  and named" "$err" "sales.db"
ws=$(fresh sales w8); writ ask -C "$ws" "$question" >/dev/null
is "state/ is closed" "$(stat -c %a "$ws/state")" 700
is "the keys are closed" "$(stat -c %a "$ws/state/signer/keys")" 600
is "the public key lies outside state/" "$(ls "$ws/audit.pub")" "$ws/audit.pub"
sed -i 's/^\([^#].*\)+[0-9a-f]\{8\}+/\1+00000000+/' "$ws/audit.pub"
run writ ask -C "$ws" "$question"
isnt "a replaced audit.pub is noticed" "$code" 0
has "  and said" "$err" "audit.pub names another key"
ws=$(fresh sales w9); mkdir "$ws/bin"; cp "$WRIT_PLACE"/bin/writ "$ws/bin/"
run "$ws/bin/writ" ask -C "$ws" "$question"
is "a missing program is no hang" "$code" 3
has "  and named" "$err" "is missing or cannot be run"
run writ ask -C "$WRIT_PLACE" "$question"
is "no workspace: wrong usage" "$code" 2
run writ ask -C "$WRIT_PLACE/nowhere" "$question"
is "no folder: wrong usage" "$code" 2
done_testing
