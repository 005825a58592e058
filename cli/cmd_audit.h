/* writ audit: its subcommands, for cmd_audit.c's table and for tests. */
#ifndef CLI_CMD_AUDIT_H
#define CLI_CMD_AUDIT_H

int cmd_audit(int argc, char **argv);	     /* argv[0] is "audit" */
int cmd_audit_verify(int argc, char **argv); /* argv[0] is "verify" */
int cmd_audit_show(int argc, char **argv);   /* argv[0] is "show" */
int cmd_audit_prove(int argc, char **argv);
int cmd_audit_export(int argc, char **argv);
int cmd_audit_report(int argc, char **argv);
int cmd_audit_redact(int argc, char **argv);
int cmd_audit_hold(int argc, char **argv);
int cmd_audit_anchor(int argc, char **argv);

/* The value of the option at argv[*at] ("--key X" or "--key=X"): 1 and *at moved, 0: another word,
 * -1: the value is missing. */
int audit_option(int argc, char **argv, int *at, const char *name, const char **ret_value);

#endif
