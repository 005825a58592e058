# Measures what users feel and writes bench.json: name, value, unit, target, method. Whole
# processes, wall time, medians; the range says how noisy the machine was. Run by `make bench`.
set -eu
rows=$(mktemp)
now_us() { echo $(($(date +%s%N) / 1000)); }

# median FILE: of one number a line
median() { sort -n "$1" | awk '{v[NR]=$1} END {print (NR%2) ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2}'; }

# row NAME VALUE UNIT TARGET METHOD
row() { printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" >>"$rows"; }

# time_runs N FILE CMD...: wall milliseconds of each run
time_runs() {
	n=$1 file=$2; shift 2
	: >"$file"
	while [ "$n" -gt 0 ]; do
		from=$(now_us)
		"$@" >/dev/null 2>&1
		awk -v us=$(($(now_us) - from)) 'BEGIN {print us / 1000}' >>"$file"
		n=$((n - 1))
	done
}
range() { sort -n "$1" | awk 'NR==1 {a=$1} END {print a " to " $1}'; }

question="Which regions had the highest net sales last quarter?"
times=$(mktemp)

time_runs 3 "$times" writ ask -C examples/sales "$question"
time_runs 20 "$times" writ ask -C examples/sales "$question"
row "ask, process starts included" "$(median "$times")" ms "<= 50" \
	"median of 20 runs of writ ask on examples/sales, no service, built-in planner; $(range "$times")"

if [ -x tools/bench_analysis ]; then
	set -- $(tools/bench_analysis 400 300)
	row "analysis of one query" "$1" ms "<= 1" \
		"median of 8 statements, 300 times each, 400 tables in the catalogue; the slowest statement's median is $2"
fi
if [ -x tools/metric_compile ]; then
	tools/metric_compile examples/sales sales >"$times"
	row "metric query to SQL" "$(awk '{print $1 / 1000}' "$times")" ms "<= 0.5" \
		"median of 101 batches of 20: one metric, one dimension, a period"
	row "metric query to SQL, two facts compared" "$(awk '{print $2 / 1000}' "$times")" ms "<= 0.5" \
		"as above: three metrics of two facts, two dimensions, two periods, filter, condition"
fi

# The log grows through calls as it does in use: about six records each.
if [ -x tools/fill_log ]; then
	cp -R examples/sales long
	rm -rf long/state long/run long/audit.pub
	writ serve -C long 2>/dev/null &
	service=$!
	until writ status -C long >/dev/null 2>&1; do sleep 0.05; done
	# One user may open 2,000 tasks at once and 50 a second then: BENCH_LONG=1 waits for the rest.
	while [ "$(writ status -C long --json | sed 's/.*"size"://; s/[^0-9].*//')" -lt 100000 ]; do
		if ! tools/fill_log "$WRIT_PLACE/long" sales-query-01 1000 2>/dev/null; then
			[ "${BENCH_LONG:-0}" = 1 ] || break
			sleep 20
		fi
	done
	records=$(writ status -C long --json | sed 's/.*"size"://; s/[^0-9].*//')
	kill -TERM $service
	wait $service || true
	time_runs 20 "$times" writ ask -C long "$question"
	row "ask with a long log" "$(median "$times")" ms "<= 50" \
		"as above with $records records in the log; $(range "$times")"
	time_runs 5 "$times" writ audit verify -C long
	row "audit verify of that log" "$(median "$times")" ms "" \
		"median of 5 runs; $(wc -c <long/state/audit/seg/00000000000000000000.jsonl) bytes, strict parsing, one core; $(range "$times")"
fi

# The log alone: its writer with the real signer, records of about 450 bytes. BENCH_RECORDS=10000000
# fills it as the target is meant; that takes minutes and gigabytes.
if [ -x tools/log_load ]; then
	signer=$WRIT_PLACE/bin/writ-signer
	records=${BENCH_RECORDS:-300000}
	disk=$(mkdir -p disk && tools/log_load disk - - 500 disk)
	set -- $(tools/log_load raw1 "$signer" 1 1500)
	row "durable append, alone" "$(awk -v v="$2" 'BEGIN {print v / 1000}')" ms "<= 0.35" \
		"median of 1500 records one after the other, signed head each; p99 $3 us; the disk's own write and fdatasync: $disk us"
	set -- $(tools/log_load raw64 "$signer" 64 "$records")
	row "durable append, 64 in flight" "$4" 1/s ">= 90000" \
		"$records records, median $2 us each; the disk's own write and fdatasync: $disk us"
	set -- $(tools/log_load raw64 "$signer" 1 200)
	row "opening that log" "$1" ms "<= 100" "after a clean stop, $records records"
	tools/log_load raw64 "$signer" 64 0 acked >/dev/null 2>&1 &
	load=$!
	sleep 1
	kill -9 $load
	wait $load 2>/dev/null || true
	set -- $(tools/log_load raw64 "$signer" 1 200)
	row "opening it after kill -9" "$1" ms "" "reads, checks and rewrites the open segment"
	rm -rf raw1 raw64 disk
fi
if [ -x tools/bench_broker ]; then
	set -- $(tools/bench_broker "$WRIT_PLACE/bin" 7600 2>/dev/null | grep '^[0-9]')
	row "broker, 64 calls in flight" "$1" 1/s ">= 20000" \
		"run_query with token, policy, durable audit on a connector that answers at once; broker $2 us of a processor for each, signer $3 us"
fi
if [ -x tools/swap_pause ]; then
	set -- $(tools/swap_pause "$WRIT_PLACE/bin" 10000 20 2>/dev/null | grep '^[0-9]')
	row "policy_swap_pause_ms" "$1" ms "<= 1" \
		"the longest request in each of 20 swaps of 10,000 rules, median, requests one after the other (median $2 ms); the same without a swap: $3 ms"
	row "policy swap, 10,000 rules" "$4" ms "" \
		"median of those, from the word to read the files to the first answer that goes by them"
fi

writ serve -C examples/sales 2>/dev/null &
service=$!
until writ status -C examples/sales >/dev/null 2>&1; do sleep 0.05; done
time_runs 50 "$times" writ ask -C examples/sales "$question"
row "ask through a running service" "$(median "$times")" ms "" \
	"median of 50 runs of writ ask with writ serve running; $(range "$times")"
# The proportional share (PSS) of confined processes can be read by root alone; what they hold for
# themselves is in /proc/PID/status for everyone.
private=0
for pid in $(pgrep -f "^$WRIT_PLACE/bin/writ"); do
	kib=$(awk '/^RssAnon:/ {print $2}' "/proc/$pid/status" 2>/dev/null || echo 0)
	private=$((private + ${kib:-0}))
done
row "service idle, private memory" "$(awk -v k=$private 'BEGIN {printf "%.1f", k/1024}')" MiB "" \
	"sum of RssAnon of all its processes after 50 questions"
kill -TERM $service
wait $service || true

. tests/bench/audit.sh
. tests/bench/policy.sh

awk -F '\t' 'BEGIN {print "["} {gsub(/"/, "\\\"", $5);
	printf "%s  {\"name\": \"%s\", \"value\": %s, \"unit\": \"%s\", \"target\": \"%s\", \"method\": \"%s\"}",
		(NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5} END {print "\n]"}' "$rows" >"$rows.json"
awk -F '\t' 'BEGIN {printf "%-40s %10s %-6s %-8s %s\n", "WHAT", "VALUE", "UNIT", "TARGET", "METHOD"}
	{printf "%-40s %10s %-6s %-8s %s\n", $1, $2, $3, $4, $5}' "$rows"
cp "$rows.json" "$WRIT_PLACE/bench.json"
