#!/bin/sh
# Formatting and local rules. Each complaint says what to do.
set -u
failed=0
complain() { echo "$1"; failed=1; }

files=$(git ls-files '*.c' '*.h')
ours=$(git ls-files '*.c' '*.h' | grep -v '^tests/')
for word in 'strcpy' 'strcat' 'sprintf' 'gets' 'system' 'popen' 'mktemp' 'tmpnam' 'alloca'; do
	# shellcheck disable=SC2086 # a list of files on purpose
	found=$(grep -nE "(^|[^a-z_])$word\(" $ours)
	[ -z "$found" ] || complain "do not call $word():
$found"
done
# shellcheck disable=SC2086
found=$(grep -lE '#include [<"]cJSON|#include <cjson' $files | grep -v '^base/json')
[ -z "$found" ] || complain "cJSON has one door, base/json*.c: $found"
# shellcheck disable=SC2086
found=$(grep -l '#include <sodium' $files | grep -vE '^base/(crypto|sign|sha256)|^tests/')
[ -z "$found" ] || complain "libsodium has one door, base/crypto.c and base/sign.c: $found"
# shellcheck disable=SC2086
found=$(grep -l '#include <yaml' $files | grep -v '^base/yaml')
[ -z "$found" ] || complain "libyaml has one door, base/yaml*.c: $found"
# shellcheck disable=SC2086
found=$(grep -l '#include <pg_query' $files | grep -v '^agents/query/check/sql_parse')
[ -z "$found" ] || complain "libpg_query has one door, agents/query/check/sql_parse.c: $found"
# shellcheck disable=SC2086
found=$(grep -l '#include <seccomp' $files | grep -vE '^base/seccomp|^tests/')
[ -z "$found" ] || complain "libseccomp has one door, base/seccomp.c: $found"
for layer in 'base:policy|broker|agents|orchestrator|cli' 'policy:broker|agents|orchestrator|cli' \
	'broker:agents|orchestrator|cli' 'agents:orchestrator|cli|policy' 'orchestrator:cli|policy'; do
	# shellcheck disable=SC2086
	found=$(grep -nE "#include \"(${layer#*:})/" $(git ls-files "${layer%%:*}/*.[ch]"))
	[ -z "$found" ] || complain "${layer%%:*} must not reach up:
$found"
done
if command -v clang-format >/dev/null 2>&1 && [ "${1:-}" = format ]; then
	# shellcheck disable=SC2086
	clang-format --dry-run -Werror $files 2>&1 | grep -c 'warning\|error' | grep -qx 0 ||
		complain "run clang-format -i on the files you changed"
fi
[ "$failed" = 0 ] && echo "ok - local rules hold"
exit "$failed"
