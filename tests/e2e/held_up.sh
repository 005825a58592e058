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

# A signer that ends over a head, behind heads that no checkpoint file shows yet.
pid=$(started writ-signer)
sleep 2 # until all is published
writ ask -C "$ws" "$question" >"$ws/out"
kill -STOP "$pid"
timeout 30 writ status -C "$ws" >"$ws/out" 2>&1 & # its session is a record, and waits for its head
asking=$!
sleep 1
kill -KILL "$pid"
wait $asking
is "a signer that ends over a head: whoever waits is answered" $? 0
run writ ask -C "$ws" "$question" --json
json "  and so is the next" .status '"completed"'
hasnt "  by the same service, with no word of a changed log" "$(cat "$ws.log")" "does not go on"
stop_service
is "it stops cleanly" "$service_code" 0
run writ audit verify -C "$ws"
is "and the log verifies" "$code" 0
done_testing
