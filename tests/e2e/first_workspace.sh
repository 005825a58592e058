# docs/first-workspace.md, done as it says: each file is taken from the page.
. tests/lib/tap.sh
page=$WRIT_PLACE/docs/first-workspace.md
block() { # FILE: the fenced block whose first line names it
	awk -v want="$1" '/^```/ { inside = 0 }
		inside { print }
		/^(#|--) / && $2 == want && fenced { inside = 1 }
		{ fenced = /^```(sql|yaml)/ }' "$page" >"$1"
}
cd "$WRIT_PLACE" || exit 1
mkdir -p library/data library/scopes library/metrics
for file in data.sql writ.yaml scopes/library.yaml metrics/library.yaml; do
	block library/$file
	isnt "the page has $file" "$(wc -l <library/$file)" 0
done
tools/mkdb library/data.sql library/data/library.db
[ -z "$owner" ] || chown -R 65534:65534 library
run $owner writ policy check -C library
is "the scope file has no mistake" "$code" 0
run $owner writ metric check -C library
is "the metrics are true" "$code" 0
run $owner writ ask -C library "loans by branch in Q1 2025" --json
json "loans by branch" .rows '[["North",2],["South",1]]'
has "the date that counts is said" "$out" "loaned on 2025-01-01 to before 2025-04-01"
run $owner writ ask -C library "loans returned in April 2025" --json
json "by the other date" .rows '[[1]]'
has "  which is said" "$out" "returned on 2025-04-01"
run $owner writ ask -C library "which members have the most loans" --json
isnt "a name out of scope is not shown" "$(printf '%s' "$out" | jq -r .status)" completed
run $owner writ audit verify -C library
is "the log verifies" "$code" 0
done_testing
