# A program that is held up (stopped, or waiting for a disk) is not dead: nobody starts it again.
# Whoever asks is told, and when it goes on so does the service.
. tests/lib/tap.sh
question="How many orders are there?"
ws=$(fresh sales held)
serve "$ws"
started() { pgrep -P "$service" -f "^$WRIT_PLACE/bin/$1 " || true; }
run writ ask -C "$ws" "$question" --json
json "a question before all that" .status '"completed"'

# status is how an operator finds out: it must not be held up as well.
pid=$(started writ-orchestrator)
kill -STOP "$pid"
run timeout 60 writ status -C "$ws"
is "a held-up orchestrator: status ends" "$code" 3
has "  and says so" "$err" "held up"
kill -CONT "$pid"
wait_for 20 writ ask -C "$ws" "$question"
is "  and goes on when it does" $? 0

stop_service
is "it stops cleanly" "$service_code" 0
run writ audit verify -C "$ws"
is "and the log verifies" "$code" 0
done_testing
