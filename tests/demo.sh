# A walk through the main cases. Run by `make demo` in a folder of its own, as an unprivileged user.
set -u
bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
[ -t 1 ] || { bold=; dim=; plain=; }
step=0

say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; shift; [ $# = 0 ] || printf '%s\n' "$@"; }
title() { step=$((step + 1)); say "== $step. $1 =="; shift; [ $# = 0 ] || printf '%s\n' "$@"; }
show() { printf '\n%s$ %s%s\n' "$dim" "$*" "$plain"; "$@"; code=$?; [ $code = 0 ] || printf '%s(exit code %s)%s\n' "$dim" $code "$plain"; return 0; }

from=$(date +%s)
say "writ: answers with their proof." \
	"Every question below runs through five confined processes, signed authority that lives at most" \
	"300 seconds, and a log that is checked at the end. No key, no network, no model."

title "A question" \
	"Which metric, which dates, which filters, how missing values count: it is all said."
show writ ask -C examples/sales "Which regions had the highest net sales last quarter?"

title "Counting orders, not order lines" \
	"East has two orders with three lines. A count over the joined lines would say three."
show writ ask -C examples/sales "How many completed orders did each region have last quarter?"

title "A question that could mean several things" \
	"It is asked back, part by part; nothing is guessed."
show writ ask -C examples/sales "Who are our best customers?"

title "A question without a definition" \
	"No costs are recorded, so there is no profit, and no other number is put in its place."
show writ ask -C examples/sales "What was our profit last quarter?"

title "A request to change data" "Reading only."
show writ ask -C examples/sales "Delete the cancelled orders."

title "A join over three tables" "In a company with employees, projects and issues."
show writ ask -C examples/company "Which AI-team members have open issues on Project Phoenix?"

title "Two projects fit" "The AI department has two."
show writ ask -C examples/company "How many open issues are left on the AI project?"

title "A wrong column, repaired" \
	"There is no severity column. The database's own error comes back, the schema is read again."
show writ ask -C examples/company "Using the severity column, how many critical issues are open?"

title "The silent wrong number" \
	"This query runs, and its number is believable. It counts each order once per order line."
show writ call -C examples/widgets --agent widgets-query-01 run_query '{"sql":"SELECT SUM(o.amount_cents)/100.0 AS revenue FROM orders o JOIN order_items i ON i.order_id = o.order_id JOIN dim_sku s ON s.sku = i.sku WHERE s.category_name = '"'Widgets'"' AND o.order_date >= '"'2025-04-01'"' AND o.order_date < '"'2025-07-01'"'"}'
show writ ask -C examples/widgets "How much revenue came from Widgets last quarter?"

title "Denied" \
	"payroll exists, but no scope reaches it: to the agent it looks like a table that does not exist." \
	"The owner, who tries it here, sees the rule as well."
show writ call -C examples/sales --agent sales-query-01 run_query '{"sql":"SELECT * FROM payroll"}'
show writ call -C examples/sales --agent sales-query-01 run_query '{"sql":"DROP TABLE orders"}'

title "The log, verified" "First with the key pinned outside the log, then without it."
show writ audit verify -C examples/sales
show writ audit verify examples/sales/state/audit

title "A copy of the log, tampered with" "One word of one record is changed."
cp -R examples/sales/state/audit tampered
sed -i '0,/"dec":"deny"/s//"dec":"allow"/' tampered/seg/00000000000000000000.jsonl
show writ audit verify tampered --key examples/sales/audit.pub

say "That took $(($(date +%s) - from)) seconds. Go on with README.md, or ask something yourself:" \
	"  build/bin/writ ask -C examples/sales"
