/* writ audit: which subcommand. Each is in a file of its own, cli/audit_<name>.c. */
#include "cli/cmd_audit.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "cli/commands.h"

static const char help[] =
	"usage: writ audit verify [DIR] [-C WORKSPACE] [--key FILE|VKEY]... [--checkpoint "
	"FILE]...\n"
	"                         [--policy FILE] [--anchored] [--anchored-within TIME]\n"
	"                         [--range N-M] [--files] [--chain] [--threads N] [--live]\n"
	"                         [--answer FILE] [--json]\n"
	"       writ audit show   [DIR] [-C WORKSPACE] [--task ID] [--user NAME] [--agent NAME]\n"
	"                         [--tool NAME] [--decision allow|deny|ask] [--event NAME]\n"
	"                         [--since TIME] [--until TIME] [--list] [--follow] [--json]\n"
	"                         [--service]\n"
	"       writ audit prove  N | --from SIZE|FILE | --check FILE --record FILE  [DIR] [-C "
	"...]\n"
	"       writ audit export [DIR] [-C WORKSPACE] [--format jsonl|csv|ocsf|rfc5424|tiles]\n"
	"                         [--out FOLDER [--range N-M] [--openings]] [filters as of show]\n"
	"       writ audit report [DIR] [-C WORKSPACE] [--since TIME] [--until TIME] [--out FILE]\n"
	"       writ audit redact N --name NAME --reason TEXT [-C WORKSPACE] [--json]\n"
	"       writ audit hold   NAME --reason TEXT --from N --to N | --lift [-C ...] [--json]\n"
	"       writ audit anchor --file PATH | --command WORDS [-C WORKSPACE] [--json]\n"
	"\n"
	"verify reads the whole log and says which of these hold, trusting nothing beside it. Exit "
	"codes:\n"
	"   0  SIGNED, ANCHORED, WITNESSED: the level asked for is reached\n"
	"  10  UNSIGNED-TAIL  records follow the last signed head (0 with --live)\n"
	"  11  POLICY         good, but the anchor is too old or witnesses are too few\n"
	"  12  UNSIGNED       no key was pinned, or no head is signed by it\n"
	"  13  INCONCLUSIVE   an empty log, or an answer that could not be checked in full\n"
	"  20  TRUNCATED      fewer records than a head counts\n"
	"  21  TAMPERED       a record, chain, root, seal, signature or answer does not fit\n"
	"  22  FORKED         two signed heads that no log can both have\n"
	"   2  wrong usage, 74 a file could not be read\n"
	"\n"
	"  DIR              folder of a log (state/audit, a copy, an export), or a file of lines\n"
	"  -C WORKSPACE     its log, unless DIR is given, and its audit.pub as the pinned key\n"
	"  --key            a pinned key instead: a file, or the key itself; may be repeated\n"
	"  --checkpoint     a further head to compare with, kept outside the log; may be repeated\n"
	"  --policy FILE    logs, witnesses and their quorum (C2SP tlog-policy)\n"
	"  --anchored       a kept head must fit; --anchored-within 24h: and be no older\n"
	"  --range N-M      read only these records; the others by their hashes (tiles)\n"
	"  --files          also hash each segment's file, as sha256sum would\n"
	"  --chain          chain and root only: faster, but not the form of each line\n"
	"  --live           the service is running: records behind the head are no finding\n"
	"  --answer FILE    also check one answer, as `writ ask --json` printed it\n"
	"\n"
	"show lists records, or tells the story of one task; it does not verify. prove prints a\n"
	"C2SP tlog-proof of record N, or (--from) that the head continues an older one. export\n"
	"writes a package that can be verified offline (--out), or lines for other tools. report\n"
	"writes an account of a period as one HTML file. redact erases what opens one committed\n"
	"value (question, sql, result, answer, user, ...) for good; hold keeps records from being\n"
	"dropped; anchor puts the newest head into a file (on another machine's disk, say) or\n"
	"gives it to a command on its stdin. These three, and show --service, go through the\n"
	"running service, which asks audit.auditors of writ.yaml and records each use. Theirs are "
	"exit codes 0, 1 (nothing\n"
	"found, or the log does not fit its head), 2 and 74; prove --check: 0, 12, 21.\n"
	"\n"
	"examples:\n"
	"  writ audit verify -C examples/sales\n"
	"  writ audit verify /mnt/copy/audit --key sales-audit.pub --checkpoint head.2026-09\n"
	"  writ ask --json \"Net sales by region last quarter\" > a.json; writ audit verify "
	"--answer a.json\n"
	"  writ audit show --decision deny --since 24h\n"
	"  writ audit show --task t-01a22fb8-c5a1-7164-bc73-99f2c62bce22\n"
	"  writ audit prove 17 > 17.tlog-proof\n"
	"  writ audit export --out evidence --range 4-18\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} subcommands[] = {{"verify", cmd_audit_verify}, {"show", cmd_audit_show},
		   {"prove", cmd_audit_prove},	 {"export", cmd_audit_export},
		   {"report", cmd_audit_report}, {"redact", cmd_audit_redact},
		   {"hold", cmd_audit_hold},	 {"anchor", cmd_audit_anchor}};

const struct command command_audit = {
	"audit", "verify, show, prove, export and report on the audit log", help, cmd_audit};

int audit_option(int argc, char **argv, int *at, const char *name, const char **ret_value)
{
	size_t len = strlen(name);
	const char *word = argv[*at];

	if (strncmp(word, name, len) != 0 || (word[len] != '\0' && word[len] != '='))
		return 0;
	if (word[len] == '=') {
		*ret_value = word + len + 1;
		return 1;
	}
	if (*at + 1 >= argc)
		return -1;
	*ret_value = argv[++*at];
	return 1;
}

int cmd_audit(int argc, char **argv)
{
	const char *names[ARRAY_LEN(subcommands)];
	const char *near;

	if (argc < 2)
		return cli_usage("audit",
				 "verify, show, prove, export, report, redact, hold or anchor?");
	if (cli_wants_help(argc, argv)) {
		fputs(help, stdout);
		return EXIT_FINE;
	}
	for (size_t i = 0; i < ARRAY_LEN(subcommands); i++) {
		if (strcmp(argv[1], subcommands[i].name) == 0)
			return subcommands[i].run(argc - 1, argv + 1);
		names[i] = subcommands[i].name;
	}
	near = nearest_word(argv[1], names, ARRAY_LEN(names));
	if (near != NULL)
		return cli_usage("audit", "no subcommand %s; did you mean %s?", argv[1], near);
	return cli_usage("audit", "no subcommand %s", argv[1]);
}
