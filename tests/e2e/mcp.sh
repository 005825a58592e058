# An agent's tools for any MCP host: both official SDKs, and the protocol's edges by hand.
. tests/lib/tap.sh
ws=$(fresh sales mcp)
if [ -d "${WRIT_NODE:-/nowhere}" ]; then
	cp -R "$WRIT_NODE" "$WRIT_PLACE/tests/node/node_modules" 2>/dev/null || true
	for era in sdk client; do
		run node tests/node/mcp-client.mjs $era "$ws" sales-query-01
		is "the official SDK ($era) works" "$code" 0
		printf '%s\n' "$out" | sed 's/^/# /'
	done
else
	echo "# the npm packages are not installed: the SDK part is left out"
fi

# say LINE...: one session; the end of input waits until the last answer came
say() {
	{ printf '%s\n' "$@"; wait_for 5 test -s "$ws/said" || true; } |
		writ mcp -C "$ws" --agent sales-query-01 2>/dev/null | tee "$ws/said"
	rm -f "$ws/said"
}
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
out=$(say '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{'"$meta"'}}')
json "discover: versions" '.result.supportedVersions[0]' '"2026-07-28"'
json "  complete, private" '[.result.resultType,.result.cacheScope,.result.ttlMs]' '["complete","private",0]'
out=$(say '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{'"$meta"'}}')
json "modern list, string id" '[.id,(.result.tools|length)]' '["a",7]'
out=$(say '{"jsonrpc":"2.0","id":1,"method":"server/discover"}')
json "discover without _meta" .error.code -32602
out=$(say '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}')
json "a version nobody knows" '[.error.code,.error.data.requested,.error.data.supported]' '[-32022,"2099-01-01",["2026-07-28"]]'
out=$(say '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{'"$meta"'}}')
json "initialize is not modern" .error.code -32601
out=$(say '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
json "legacy needs initialize" .error.code -32600
out=$(say '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}' \
	'{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","id":2,"method":"ping"}' | tail -n 1)
json "ping" .result '{}'
out=$(say '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{}}}')
json "an old version gets our newest legacy one" .result.protocolVersion '"2025-11-25"'
out=$(say 'this is not json')
json "not JSON" '[.id,.error.code]' '[null,-32700]'
out=$(say '[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
json "no batches before 2025-03-26 is agreed" .error.code -32600
out=$(say '{"jsonrpc":"2.0","id":null,"method":"ping"}')
json "a null id" .error.code -32600
out=$(say '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope","arguments":{},'"$meta"'}}')
json "unknown tool" .error.code -32602
out=$(say '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_query","arguments":{"sql":"SELECT * FROM payroll"},'"$meta"'}}')
json "a refusal is a result with isError" '[.result.isError,.result.structuredContent.error]' '[true,"no such table: payroll"]'
run writ mcp -C "$ws" --agent nobody </dev/null
isnt "an unknown agent" "$code" 0
run writ audit verify -C "$ws"
is "the log verifies" "$code" 0
done_testing
