#!/bin/sh
# Branch coverage of the pure code that decides: builds it with gcov in build-cov, runs its unit
# tests and prints, file by file, how many branches were taken. Exit 1 when one was not.
#
# usage: tests/coverage.sh [BUILD-FOLDER]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-cov}
files="decide.c condition.c condition_test.c condition_when.c condition_argument.c matcher.c constraint.c"
tests="decide decide_random trace conditions constraint"

mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc \
	-DCMAKE_C_FLAGS="--coverage -O0" >"$build/log" 2>&1 || { cat "$build/log"; exit 3; }
# shellcheck disable=SC2046 # the names are our own
ninja -C "$build" $(for t in $tests; do echo "test_$t"; done) >>"$build/log" 2>&1 || { tail -20 "$build/log"; exit 3; }
find "$build" -name '*.gcda' -delete
for t in $tests; do
	WRIT_SOURCE=$PWD "$build/tests/test_$t" >"$build/log" 2>&1 || { cat "$build/log"; exit 3; }
done

failed=0
for file in $files; do
	object=$(find "$build" -name "$file.gcda" -path '*policy*' | head -1)
	[ -n "$object" ] || { echo "$file: never ran"; failed=1; continue; }
	# -b tells of branches, -c counts them; lines of "branch N never executed" and "taken 0".
	report=$(gcov -b -c -t -o "$(dirname "$object")" "$object" 2>/dev/null |
		awk -v want="policy/$file" '/^ *-: *0:Source:/ {on = index($0, want) > 0} on')
	all=$(printf '%s\n' "$report" | grep -c '^branch' || true)
	missed=$(printf '%s\n' "$report" | grep -cE '^branch +[0-9]+ (taken 0( |$)|never executed)' || true)
	echo "$file: $((all - missed)) of $all branches"
	[ "$missed" = 0 ] && continue
	failed=1
	printf '%s\n' "$report" | awk '/^ *[0-9#=*-]+\*?: *[0-9]+:/ {line = $0}
		/^branch +[0-9]+ (taken 0( |$)|never executed)/ {print "   " $0 "  in " line}'
done
[ "$failed" = 0 ] && echo "every branch was taken"
exit "$failed"
