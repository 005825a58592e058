# The auditor's side: verifying and searching a large log. Sourced by run.sh. WRIT_BENCH_FULL=1 takes
# the sizes of the targets (1 GiB, 10 million records) instead of smaller ones.
if [ -x tools/audit_bench ]; then
	verify_mib=192 show_mib=512
	[ -z "${WRIT_BENCH_FULL:-}" ] || { verify_mib=1024 show_mib=5000; }
	openssl_speed() { openssl speed -seconds 1 -bytes 16384 sha256 2>/dev/null | awk '/^sha256/ {sub(/k$/, "", $NF); print $NF * 1000 / 1048576}'; }
	cores=$(nproc)

	# speed NAME FACTOR METHOD OPTIONS...: of verify, beside openssl's in the same minute
	speed() {
		name=$1 factor=$2 method=$3
		shift 3
		: >"$times"; : >"$times.ssl"; : >"$times.rss"
		for i in 1 2 3 4 5; do
			openssl_speed >>"$times.ssl"
			set -- "$@"
			tools/audit_bench run writ audit verify big --key "$key" "$@" >"$times.one"
			awk -v m=$verify_mib '{print m / $1 * 1000}' "$times.one" >>"$times"
			awk '{print $2 / 1024}' "$times.one" >>"$times.rss"
		done
		row "$name" "$(median "$times" | awk '{printf "%.0f", $1}')" MiB/s \
			">= $(median "$times.ssl" | awk -v f="$factor" '{printf "%.0f", f * $1}')" \
			"$method; median of 5, $verify_mib MiB; openssl sha256 on one core in the same minute: $(median "$times.ssl" | awk '{printf "%.0f", $1}') MiB/s"
	}

	mkdir big
	set -- $(tools/audit_bench make big $verify_mib 100000)
	key=$1
	cat big/seg/*.jsonl >/dev/null
	speed "audit verify, chain and root" 0.85 "--chain, one thread" --chain --threads 1
	speed "audit verify, strict" "$(awk -v c="$cores" 'BEGIN {print 0.3 * c}')" "form of each line, $cores threads"
	row "audit verify, peak memory" "$(median "$times.rss" | awk '{printf "%.1f", $1}')" MiB "<= 32" "resident, of the runs above"
	rm -rf big

	mkdir many
	set -- $(tools/audit_bench make many $show_mib 64)
	records=$2 task=$3
	tools/audit_bench run writ audit show many --task "$task" >"$times.one"
	row "audit show --task, first time" "$(awk '{printf "%.0f", $1}' "$times.one")" ms "" "$records records: the index is made"
	: >"$times"
	for i in 1 2 3 4 5 6 7 8 9 10 11; do
		tools/audit_bench run writ audit show many --task "$task" | awk '{print $1}' >>"$times"
	done
	row "audit show --task" "$(median "$times" | awk '{printf "%.1f", $1}')" ms "<= 50" "$records records in segments of 64 MiB, process start included, median of 11; $(range "$times")"
	rm -rf many
fi
