# Tokens as anybody can check them.
. tests/lib/tap.sh
x=11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo
if [ ! -d "${WRIT_NODE:-/nowhere}" ] || [ ! -x "${WRIT_TESTS:-/nowhere}/sign_example" ]; then
	echo "1..0 # SKIP the npm packages are not installed"
	exit 0
fi
cp -R "$WRIT_NODE" "$WRIT_PLACE/tests/node/node_modules"
token=$("$WRIT_TESTS/sign_example")
run node tests/node/token.mjs "$token" $x https://broker.example/tools 1796083300
is "the jose library accepts our token" "$code" 0
json "its claims" '[.claims.client_id,.header.typ]' '["sales-query-01","at+jwt"]'
run node tests/node/token.mjs "$token" $x https://broker.example/tools 1796083500
isnt "not after its end" "$code" 0
run node tests/node/token.mjs "$token" $x https://elsewhere.example/tools 1796083300
isnt "not for another audience" "$code" 0
run node tests/node/token.mjs "$(printf %s "$token" | sed 's/.$/A/;s/AA$/AB/')" $x https://broker.example/tools 1796083300
isnt "not with another signature" "$code" 0
done_testing
