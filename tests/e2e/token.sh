# Tokens as anybody can check them: the real signer, the jose library.
. tests/lib/tap.sh
if [ ! -d "${WRIT_NODE:-/nowhere}" ]; then
	echo "1..0 # SKIP the npm packages are not installed"
	exit 0
fi
cp -R "$WRIT_NODE" "$WRIT_PLACE/tests/node/node_modules"
run node tests/node/signer-token.mjs "$WRIT_PLACE/token" tests/vectors/tokens
is "any JWT library verifies what the signer signs" "$code" 0
printf '%s\n' "$out" | sed 's/^/# /'
tap_show stderr "$err"
done_testing
