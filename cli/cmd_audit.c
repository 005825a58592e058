/* writ audit: which subcommand. The subcommands are in audit_verify.c and audit_show.c. */
#include "cli/cmd_audit.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const char help[] =
	"usage: writ audit verify [DIR] [-C WORKSPACE] [--key FILE|VKEY] [--checkpoint FILE]...\n"
	"                         [--live] [--answer FILE] [--json]\n"
	"       writ audit show   [DIR] [-C WORKSPACE] [--task ID] [--json]\n"
	"\n"
	"verify reads the whole log and says which of these hold, trusting nothing beside it. Exit "
	"codes:\n"
	"   0  SIGNED         a head signed by the pinned key fits the log\n"
	"  10  UNSIGNED-TAIL  records follow the last signed head (0 with --live)\n"
	"  12  UNSIGNED       no key was pinned, or no head is signed by it\n"
	"  13  INCONCLUSIVE   an empty log, or an answer that could not be checked in full\n"
	"  20  TRUNCATED      fewer records than a head counts\n"
	"  21  TAMPERED       a record, the chain, a root, a signature or an answer does not fit\n"
	"  22  FORKED         two signed heads that no log can both have\n"
	"   2  wrong usage, 74 a file could not be read\n"
	"\n"
	"  DIR              folder of a log (state/audit or a copy of it), or the file itself\n"
	"  -C WORKSPACE     its log, unless DIR is given, and its audit.pub as the pinned key\n"
	"  --key            the pinned key instead: a file, or the key itself\n"
	"  --checkpoint     a further head to compare with, kept from earlier; may be repeated\n"
	"  --live           the service is running: records behind the head are no finding\n"
	"  --answer FILE    also check one answer, as `writ ask --json` printed it\n"
	"\n"
	"show lists the records, or those of one task; it does not verify.\n"
	"\n"
	"examples:\n"
	"  writ audit verify -C examples/sales\n"
	"  writ audit verify /mnt/copy/audit --key sales-audit.pub --checkpoint head.2026-09\n"
	"  writ ask --json \"Net sales by region last quarter\" > a.json; writ audit verify "
	"--answer a.json\n";

const struct command command_audit = {"audit", "verify the audit log and single answers", help,
				      cmd_audit};

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
	if (argc < 2)
		return cli_usage("audit", "verify or show?");
	if (cli_wants_help(argc, argv)) {
		fputs(help, stdout);
		return EXIT_FINE;
	}
	if (strcmp(argv[1], "verify") == 0)
		return cmd_audit_verify(argc - 1, argv + 1);
	if (strcmp(argv[1], "show") == 0)
		return cmd_audit_show(argc - 1, argv + 1);
	return cli_usage("audit", "no subcommand %s; there are verify and show", argv[1]);
}
