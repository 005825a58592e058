# TAP helpers for the stories of tests/e2e; sourced. Each assertion shows what it wanted and got.

tap_count=0
tap_failed=0

tap_result() { # ok? name
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
		tap_failed=$((tap_failed + 1))
	fi
}

tap_show() { printf '%s\n' "$2" | sed "s/^/#   $1: /"; }

# is NAME GOT WANT
is() {
	if [ "$2" = "$3" ]; then tap_result 0 "$1"; else
		tap_result 1 "$1"; tap_show got "$2"; tap_show want "$3"; fi
}

# isnt NAME GOT UNWANTED
isnt() {
	if [ "$2" != "$3" ]; then tap_result 0 "$1"; else
		tap_result 1 "$1"; tap_show "got the unwanted" "$2"; fi
}

# has NAME TEXT PART: TEXT contains PART
has() {
	case $2 in
	*"$3"*) tap_result 0 "$1" ;;
	*) tap_result 1 "$1"; tap_show got "$2"; tap_show "want in it" "$3" ;;
	esac
}

# hasnt NAME TEXT PART
hasnt() {
	case $2 in
	*"$3"*) tap_result 1 "$1"; tap_show got "$2"; tap_show "unwanted in it" "$3" ;;
	*) tap_result 0 "$1" ;;
	esac
}

# run CMD...: sets $out (stdout), $err (stderr), $code
run() {
	out=$("$@" 2>"$WRIT_PLACE/.stderr") && code=0 || code=$?
	err=$(cat "$WRIT_PLACE/.stderr")
}

# json NAME EXPRESSION WANT: jq over $out
json() { is "$1" "$(printf '%s' "$out" | jq -c "$2" 2>&1)" "$3"; }

# wait_for SECONDS CMD...: until it succeeds; fails after that long
wait_for() {
	wait_left=$(($1 * 20)); shift
	until "$@" >/dev/null 2>&1; do
		wait_left=$((wait_left - 1))
		[ "$wait_left" -gt 0 ] || return 1
		sleep 0.05
	done
}

# skip WHY: a test that cannot be made here
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP $1"
}

# Words before a command that must run as the owner of the workspaces: stories that keep root
# (WRIT_KEEP_ROOT) start everything with them; otherwise we are the owner.
owner=
[ "$(id -u)" != 0 ] || owner="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"

# fresh EXAMPLE NAME: a new workspace as a copy of an example, and prints its path
fresh() {
	cp -R "$WRIT_PLACE/examples/$1" "$WRIT_PLACE/$2"
	rm -rf "$WRIT_PLACE/$2/state" "$WRIT_PLACE/$2/run" "$WRIT_PLACE/$2/audit.pub"
	[ -z "$owner" ] || chown -R 65534:65534 "$WRIT_PLACE/$2"
	echo "$WRIT_PLACE/$2"
}

# serve WORKSPACE: starts the service in the background, sets $service; ends it at exit
serve() {
	$owner writ serve -C "$1" 2>"$1.log" &
	service=$!
	wait_for 10 $owner writ status -C "$1" || { echo "Bail out! no service: $(cat "$1.log")"; exit 1; }
}

stop_service() {
	kill -TERM "$service" 2>/dev/null || return 0
	wait "$service" 2>/dev/null && service_code=0 || service_code=$?
	service=
}

service=
done_testing() {
	[ -z "$service" ] || stop_service
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ] || exit 1
	exit 0
}
