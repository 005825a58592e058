#!/bin/sh
# Documented commands and paths exist. Run from the root of the source: tests/docs.sh BIN
set -u
bin=$1
failed=0
count=0
note() { echo "not ok - $1"; failed=$((failed + 1)); }

for doc in README.md docs/*.md docs/decisions/*.md; do
	# Paths of the source that a text names in backquotes or links.
	for path in $(grep -oE '`[A-Za-z0-9_./<>*-]+`|\]\([A-Za-z0-9_./-]+\)' "$doc" | sed -E 's/^`|`$//g; s/^\]\(|\)$//g' |
		grep -E '^(\.\./)?((base|policy|broker|agents|orchestrator|cli|include|tests|docs|examples)/[A-Za-z0-9_./-]*|LICENSE|[0-9]{4}-[a-z-]+\.md)$' | sort -u); do
		case $path in *"<"* | *"*"*) continue ;; esac
		count=$((count + 1))
		case $path in *.db) continue ;; esac # made by the build
		[ -e "$path" ] || [ -e "$(dirname "$doc")/$path" ] || [ -e "$path.c" ] || note "$doc names $path, which does not exist"
	done
	# Commands: `writ VERB` must be in the table.
	for verb in $(grep -oE '(^|[` ])writ [a-z]+' "$doc" | sed -E 's/.*writ //' | sort -u); do
		case $verb in
		and | is | has | answers | to | or | will | starts | for | itself | alone | never | does | refuses | the | can | cannot | in | reads | with) continue ;;
		esac
		count=$((count + 1))
		"$bin/writ" "$verb" --help >/dev/null 2>&1 || note "$doc names writ $verb, which does not exist"
	done
	for target in $(grep -oE '(^|`)make [a-z-]+' "$doc" | sed -E 's/.*make //' | sort -u); do
		case $target in it | a | the | sure) continue ;; esac
		count=$((count + 1))
		grep -qE "^$target( [a-z-]+)*:" Makefile || grep -qE "^[a-z -]*\b$target\b.*:" Makefile || note "$doc names make $target, which does not exist"
	done
done
[ "$failed" = 0 ] && echo "ok - $count paths and commands of the documents exist"
[ "$failed" = 0 ]
