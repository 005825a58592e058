/* The short-lived compile step: scope files, writ.yaml and metrics into state/. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

/* Forks, compiles with no other duty in that process, prints every mistake to stderr.
 * Returns EXIT_FINE, EXIT_NEGATIVE (mistakes) or EXIT_USAGE (unreadable). */
int compile_in_child(const char *workspace);

#endif
