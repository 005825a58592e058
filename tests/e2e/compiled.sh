# A start whose files, data and programs are as the last compile step left them does without the
# step; whatever changes is noticed, and a damaged note of it counts for nothing.
. tests/lib/tap.sh
question="How many orders are there?"
skipped() { # NAME WANT: asks, and says whether the step was left out
	run env WRIT_LOG=debug writ ask -C "$ws" "$question" --json
	case $err in
	*"nothing has changed since the last time"*) was=yes ;;
	*) was=no ;;
	esac
	is "$1" "$code $was" "$2"
}

ws=$(fresh sales compiled)
skipped "the first start compiles" "0 no"
skipped "the second knows what to look at, and compiles" "0 no"
skipped "the third need not" "0 yes"
json "  and answers right" '[.status,.rows[0][0]]' '["completed",9]'
is "the note is the owner's" "$(stat -c %a "$ws/state/config/compiled")" 600

policy=$(cat "$ws/state/config/policy/active")
sqlite3 "$ws/data/sales.db" "CREATE TABLE later (x)"
skipped "a new table is noticed" "0 no"
isnt "  and is part of the policy" "$(cat "$ws/state/config/policy/active")" "$policy"
skipped "  once" "0 yes"
sqlite3 "$ws/data/sales.db" "ALTER TABLE customers RENAME COLUMN region TO area"
run env WRIT_LOG=debug writ ask -C "$ws" "Net sales by region" --json
hasnt "a column that the question needs is gone: noticed" "$err" "nothing has changed"
json "  and nothing is answered from the old tables" '.status=="completed"' false
sqlite3 "$ws/data/sales.db" "ALTER TABLE customers RENAME COLUMN area TO region"
skipped "put right again" "0 no"
skipped "  it is known again" "0 yes"

sqlite3 "$ws/data/sales.db" "PRAGMA journal_mode=WAL" >/dev/null
skipped "another journal mode is noticed" "0 no"
skipped "  once, while no log of changes lies beside the data" "0 yes"
printf x >"$ws/data/sales.db-wal"
skipped "with one, nothing is taken for granted" "0 no"
skipped "  ever" "0 no"
rm -f "$ws/data/sales.db-wal" "$ws/data/sales.db-shm"
skipped "without it, all is as before" "0 yes"

for damage in "" garbage "$(printf '%064d' 0)"; do
	printf '%s\n' "$damage" >"$ws/state/config/compiled"
	skipped "a note of \"$damage\" is ignored" "0 no"
	skipped "  and was written anew" "0 yes"
done
rm "$ws/state/config/compiled"; ln -s ../service.json "$ws/state/config/compiled"
skipped "so is a link in its place" "0 no"

skipped "known once more" "0 yes"
echo "# a remark" >>"$ws/scopes/sales.yaml"
skipped "a changed scope file is noticed" "0 no"
skipped "known once more" "0 yes"
printf '{"owner_uid":0,"users":[]}\n' >"$ws/state/config/users.json"
skipped "a changed file of state/ is noticed" "0 no"
has "  and put right" "$(cat "$ws/state/config/users.json")" "\"owner_uid\":$(id -u)"
skipped "known once more" "0 yes"
chmod g+w "$ws/scopes/sales.yaml"
run writ ask -C "$ws" "$question"
is "a file that others may write is refused, known or not" "$code" 3
chmod g-w "$ws/scopes/sales.yaml"
printf 'limits: {}\n' >>"$ws/writ.yaml"
run writ ask -C "$ws" "$question"
is "so is a mistake" "$code" 3
has "  at its place" "$err" "writ.yaml:"
done_testing
