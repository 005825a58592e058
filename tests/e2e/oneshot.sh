# Ten questions at once and no service: the first owns the workspace, the others join it. Four run at
# once for one user; the rest wait their turn.
. tests/lib/tap.sh
ws=$(fresh sales oneshot)
for n in 1 2 3 4 5 6 7 8 9 10; do
	(writ ask -C "$ws" "How many orders are there?" --json >"$ws/out.$n" 2>"$ws/err.$n"; echo $? >"$ws/code.$n") &
done
wait
good=0
for n in 1 2 3 4 5 6 7 8 9 10; do
	answer=$(jq -c '[.status,.rows[0][0]]' "$ws/out.$n" 2>/dev/null)
	case "$(cat "$ws/code.$n") $answer" in
	'0 ["completed",9]') good=$((good + 1)) ;;
	*) tap_show "ask $n" "$(cat "$ws/code.$n" "$ws/out.$n" "$ws/err.$n")" ;;
	esac
done
is "all ten are answered" "$good" 10
wait_for 10 sh -c "! pgrep -f '^$WRIT_PLACE/bin/writ-' >/dev/null"
is "no program stays behind" "$(pgrep -f "^$WRIT_PLACE/bin/writ" | wc -l)" 0
run writ audit verify -C "$ws"
is "one log, unbroken" "$code" 0
run writ ask -C "$ws" "How many orders are there?" --json
json "and the next one works" .status '"completed"'
done_testing
