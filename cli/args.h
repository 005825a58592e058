/* Options of a command, as a table. Every command takes -C DIR and --json through it too. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

struct arg_option {
	const char *name;   /* "--all" */
	bool *flag;	    /* set when given; or NULL */
	const char **value; /* takes the next word (or --name=word); or NULL */
};

struct args {
	const char *workspace; /* -C DIR, or NULL */
	bool json;	       /* --json */
	const char **words;    /* positional, in order; borrowed from argv */
	size_t word_count;
};

/* 0, or EXIT_USAGE after a message that names the word and the nearest option. Words beyond
 * words_max are an error. "--" ends options. Free with args_clear(). */
int args_read(int argc, char **argv, const struct arg_option *options, size_t option_count,
	      size_t words_max, struct args *ret_args);
void args_clear(struct args *args);

#endif
