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
	while [ "$(writ status -C long --json | sed 's/.*"size"://; s/[^0-9].*//')" -lt 100000 ]; do
		tools/fill_log "$WRIT_PLACE/long" sales-query-01 1000 &
		tools/fill_log "$WRIT_PLACE/long" sales-query-01 1000 &
		tools/fill_log "$WRIT_PLACE/long" sales-query-01 1000
		wait $! || true
		sleep 0.2
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

awk -F '\t' 'BEGIN {print "["} {gsub(/"/, "\\\"", $5);
	printf "%s  {\"name\": \"%s\", \"value\": %s, \"unit\": \"%s\", \"target\": \"%s\", \"method\": \"%s\"}",
		(NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5} END {print "\n]"}' "$rows" >"$rows.json"
awk -F '\t' 'BEGIN {printf "%-40s %10s %-6s %-8s %s\n", "WHAT", "VALUE", "UNIT", "TARGET", "METHOD"}
	{printf "%-40s %10s %-6s %-8s %s\n", $1, $2, $3, $4, $5}' "$rows"
cp "$rows.json" "$WRIT_PLACE/bench.json"
