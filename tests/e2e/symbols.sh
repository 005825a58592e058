# Each program links only what its row in docs/architecture.md allows.
. tests/lib/tap.sh
libraries() { ldd "$WRIT_PLACE/bin/$1" | awk '{print $1}' | sed 's/\.so.*//' | sort | tr '\n' ' '; }
never() { # PROGRAM WORD...
	program=$1; shift
	for word in "$@"; do hasnt "$program does not link $word" " $(libraries "$program")" "$word"; done
}
never writ-broker libyaml libcurl libmicrohttpd libpq libpg_query
never writ-signer libuv libyaml libcurl libsqlite3 libpg_query
never writ-sqlite libyaml libcurl libpg_query
never writ-sink libuv libyaml libcurl libsqlite3 libpg_query
never writ-orchestrator libyaml libcurl
never writ libcurl libpg_query
# Signing with a secret key is in the signer alone.
for program in writ writ-broker writ-sqlite writ-sink writ-orchestrator; do
	is "$program cannot sign" "$(nm -D "$WRIT_PLACE/bin/$program" | grep -c 'crypto_sign_\(detached\|seed_keypair\|ed25519_detached\)$')" 0
done
isnt "writ-signer can" "$(nm -D "$WRIT_PLACE/bin/writ-signer" | grep -c 'crypto_sign.*detached')" 0
is "the orchestrator has no exec" "$(nm -D "$WRIT_PLACE/bin/writ-orchestrator" | grep -c ' exec')" 0
done_testing
