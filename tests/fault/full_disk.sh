# full_disk.sh PROGRAMS: the writer on a disk of 2 MiB that runs full, and gets room again; TAP. Needs
# root, in a mount namespace of its own; skipped without.
set -u
programs=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	echo "1..0 # SKIP needs root and a mount namespace"
	exit 0
fi
if [ "${FULL_DISK_INSIDE:-}" = "" ]; then
	FULL_DISK_INSIDE=1 exec unshare -m sh "$0" "$programs"
fi
mount -t tmpfs -o size=2m,mode=700 none "$place"
load() { "$programs/tests/log_load" "$place/ws" "$programs/bin/writ-signer" "$@"; }
verify() { "$programs/bin/writ" audit verify "$place/ws/state/audit" --key "$place/ws/audit.pub" >"$1" 2>&1; }
bad=0
check() { # NUMBER CODE TEXT [FILE to show]
	if [ "$2" -eq 0 ]; then echo "ok $1 - $3"; else
		bad=1
		echo "not ok $1 - $3"
		[ -z "${4:-}" ] || sed 's/^/# /' "$4"
	fi
}
echo 1..4
load 1 5 >/dev/null
dd if=/dev/zero of="$place/filler" bs=1k count=900 2>/dev/null || true
load 16 100000 acked >"$place/../acked.$$" 2>"$place/../said.$$"
code=$?
acked=$(($(wc -c <"$place/../acked.$$") / 8 - 1))
[ $code -eq 74 ] && grep -q "disk of the audit log is full" "$place/../said.$$"
check 1 $? "a full disk is refused with a clear word" "$place/../said.$$"
rm -f "$place/filler"
have=$(cat "$place"/ws/state/audit/seg/*.jsonl | wc -l)
[ "$have" -ge "$acked" ] && [ "$acked" -gt 10 ]
check 2 $? "$acked records were acknowledged, $have are there"
load 4 20 >/dev/null
check 3 $? "with room again the next start goes on"
verify "$place/../verified.$$"
check 4 $? "and the log verifies" "$place/../verified.$$"
rm -f "$place/../acked.$$" "$place/../said.$$" "$place/../verified.$$"
umount "$place"
exit $bad
