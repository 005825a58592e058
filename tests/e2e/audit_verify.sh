# Verifying: copies, parts, anchors, witnesses, and by other people's tools.
. tests/lib/tap.sh
tools=$WRIT_PLACE/tools
log=$WRIT_PLACE/log
mkdir "$log"
keys=$("$tools/forge_log" "$log" 700 150)
key=$(printf '%s\n' "$keys" | head -1) witness=$(printf '%s\n' "$keys" | tail -1)
verify() { run writ audit verify "$@" --key "$key"; }

verify "$log"
is "a log in segments verifies" "$code" 0
has "  it says how far" "$out" "700 records, 700 below the signed head"
run writ audit verify "$log" --key "$key" --json
json "  the same in JSON" '[.exit_code, .verdicts[0].verdict, .segments, .tiles.missing]' '[0,"SIGNED",5,0]'
verify "$log" --files
is "so do the files' own hashes" "$code" 0
(cd "$log" && sha256sum -c SHA256SUMS >/dev/null 2>&1) && same=0 || same=$?
is "and sha256sum says the same" "$same" 0
verify "$log" --chain --threads 1
is "chain and root alone, on one thread" "$code" 0
chmod -R a-w "$log"
verify "$log"
is "a copy that cannot be written to verifies" "$code" 0
chmod -R u+w "$log"

verify "$log" --range 310-320
is "a range verifies" "$code" 0
has "  the rest by its hashes" "$out" "attested by their hashes only"
run writ audit export "$log" --out "$WRIT_PLACE/part" --range 310-320
is "a part is exported" "$code" 0
is "  with the lines of its segment alone" "$(ls "$WRIT_PLACE/part/seg" | grep -c jsonl)" 1
verify "$WRIT_PLACE/part"
is "  which verifies by itself" "$code" 0
sed -i '5s/"t-1"/"t-2"/' "$WRIT_PLACE/part/seg/00000000000000000300.jsonl"
verify "$WRIT_PLACE/part"
is "  and not when it was changed" "$code" 21
run writ audit verify "$log"
is "without a key nothing is signed" "$code" 12

cp "$log/checkpoint" "$WRIT_PLACE/head.kept"
verify "$log" --checkpoint "$WRIT_PLACE/head.kept" --anchored
is "a kept head is an anchor" "$code" 0
has "  and is called one" "$out" "ANCHORED"
verify "$log" --anchored
is "an anchor that is asked for must be there" "$code" 11
verify "$log" --checkpoint "$WRIT_PLACE/head.kept" --anchored-within 1d
is "  and not be older than asked for" "$code" 11
printf 'log %s\nwitness w %s\nquorum w\n' "$key" "$witness" >"$WRIT_PLACE/policy"
run writ audit verify "$log" --policy "$WRIT_PLACE/policy"
is "a witness that is asked for must have cosigned" "$code" 11
run writ audit verify "$log" --policy "$WRIT_PLACE/policy" --checkpoint "$log.cosigned"
is "  and then the log is witnessed" "$code" 0
has "  by so many" "$out" "1 of 1 witnesses cosigned"
mkdir "$WRIT_PLACE/fork"
"$tools/forge_log" "$WRIT_PLACE/fork" 700 150 400 >/dev/null
verify "$WRIT_PLACE/fork" --checkpoint "$WRIT_PLACE/head.kept"
is "two histories are a fork" "$code" 22

for n in 0 255 256 699; do
	writ audit prove $n "$log" >"$WRIT_PLACE/$n.tlog-proof"
	cat "$log"/seg/*.jsonl | sed -n "$((n + 1))p" >"$WRIT_PLACE/line"
	run writ audit prove --check "$WRIT_PLACE/$n.tlog-proof" --record "$WRIT_PLACE/line" --key "$key"
	is "record $n is proven" "$code" 0
done
sed -i 's/"t-1"/"t-2"/' "$WRIT_PLACE/line"
run writ audit prove --check "$WRIT_PLACE/699.tlog-proof" --record "$WRIT_PLACE/line" --key "$key"
is "a changed record is not" "$code" 21
run writ audit prove --from 300 "$log"
is "the head continues an older one" "$(printf '%s' "$out" | head -1)" "old 300"

if command -v python3 >/dev/null 2>&1; then
	run python3 tests/by_hand/verify.py "$log"
	has "by hand: the script of docs/verify-by-hand.md" "$out" "700 records, 5 files: chain, roots and seals fit"
	sed -i '7s/"t-1"/"t-2"/' "$WRIT_PLACE/fork/seg/00000000000000000000.jsonl"
	run python3 tests/by_hand/verify.py "$WRIT_PLACE/fork"
	isnt "  it notices a change" "$code" 0
else
	skip "python3 is not here"
fi
hash=$(cat "$log/seg/00000000000000000000.jsonl" | { printf '\0'; head -n 1 | tr -d '\n'; } | sha256sum | cut -d' ' -f1)
is "by hand: sha256sum gives what record 1 holds of record 0" "$hash" \
	"$(sed -n 2p "$log/seg/00000000000000000000.jsonl" | jq -r ._prev)"

if command -v go >/dev/null 2>&1 && [ -d /usr/share/gocode/src/golang.org/x/mod ]; then
	mkdir -p "$HOME/go/src/check"
	cp tests/go/main.go "$HOME/go/src/check/"
	export GOPATH="$HOME/go:/usr/share/gocode" GO111MODULE=off GOCACHE="$HOME/gocache" GOFLAGS=-p=1
	run go build -o "$WRIT_PLACE/check" "$HOME/go/src/check/main.go"
	is "Go's sumdb builds" "$code" 0
	run "$WRIT_PLACE/check" "$log" "$key" "$WRIT_PLACE/0.tlog-proof" "$WRIT_PLACE/256.tlog-proof" "$WRIT_PLACE/699.tlog-proof"
	is "Go's sumdb reads checkpoint, tiles and proofs" "$code" 0
	has "  all records" "$out" "ok - 700 records, their tiles and root"
	has "  and proofs" "$out" "ok - proof of record 699"
	writ audit export "$log" --format tiles --out "$WRIT_PLACE/tiles" 2>/dev/null
	run "$WRIT_PLACE/check" "$WRIT_PLACE/tiles" "$key" "$log"
	has "Go's sumdb reads exported bundles" "$out" "ok - entry bundles"
else
	skip "go or golang-golang-x-mod-dev is not here"
fi
done_testing
