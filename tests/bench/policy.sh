# Rows about deciding, sourced by run.sh: our evaluator, then other engines on the same rules.
if [ -x tools/policy_bench ]; then
	mkdir -m 700 rules
	tools/policy_bench "$WRIT_PLACE/rules" >>"$rows"
	if [ -d peers/node_modules ]; then
		node peers/peers.mjs "$WRIT_PLACE/rules" 10 100 1000 10000 >>"$rows"
	else
		echo "other policy engines are not measured: run make bench-peers first" >&2
	fi
fi
