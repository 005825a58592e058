# run.sh kill|each|cut PROGRAMS: the fault tests of the audit log's writer, TAP. A few minutes' worth
# is left out of every run: FAULT_FULL=1 takes 1,000 kills, every single call, 500 power cuts.
set -eu
mode=$1 programs=$2
case $mode in
kill) some=40 all=1000 ;;
each) some=41 all=1 ;; # a stride
cut) some=20 all=500 ;;
esac
[ -z "${FAULT_FULL:-}" ] || some=$all
place=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)" writ-fault-XXXXXX)
trap 'rm -rf "$place"' EXIT
echo 1..1
if "$programs/tests/fault_drive" "$mode" "$programs" "$place" "$some"; then
	echo "ok 1 - $mode: no acknowledged record is lost, or the writer refused"
else
	echo "not ok 1 - $mode"
	exit 1
fi
