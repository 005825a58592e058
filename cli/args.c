/* Reading options from a table; see args.h. */
#include "cli/args.h"

#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "cli/cli.h"

#define OPTIONS_MAX 24

struct reader {
	struct arg_option options[OPTIONS_MAX];
	size_t count;
	const char *command;
};

static const struct arg_option *find(const struct reader *reader, const char *word, size_t len)
{
	for (size_t i = 0; i < reader->count; i++)
		if (strlen(reader->options[i].name) == len &&
		    strncmp(reader->options[i].name, word, len) == 0)
			return &reader->options[i];
	return NULL;
}

static int unknown_option(const struct reader *reader, const char *word)
{
	const char *names[OPTIONS_MAX];
	const char *near;

	for (size_t i = 0; i < reader->count; i++)
		names[i] = reader->options[i].name;
	near = nearest_word(word, names, reader->count);
	if (near != NULL)
		return cli_usage(reader->command, "no option %s; did you mean %s?", word, near);
	return cli_usage(reader->command, "no option %s", word);
}

/* Reads the option at argv[at]; *ret_used is how many words it took. */
static int read_option(const struct reader *reader, int argc, char **argv, int at, int *ret_used)
{
	const char *word = argv[at];
	const char *equals = strchr(word, '=');
	size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
	const struct arg_option *option = find(reader, word, len);

	*ret_used = 1;
	if (option == NULL)
		return unknown_option(reader, word);
	if (option->flag != NULL) {
		if (equals != NULL)
			return cli_usage(reader->command, "%s takes no value", option->name);
		*option->flag = true;
		return 0;
	}
	if (equals != NULL) {
		*option->value = equals + 1;
		return 0;
	}
	if (at + 1 >= argc)
		return cli_usage(reader->command, "%s needs a value", option->name);
	*option->value = argv[at + 1];
	*ret_used = 2;
	return 0;
}

static void add_common(struct reader *reader, struct args *args)
{
	reader->options[reader->count++] = (struct arg_option){"-C", NULL, &args->workspace};
	reader->options[reader->count++] = (struct arg_option){"--json", &args->json, NULL};
}

int args_read(int argc, char **argv, const struct arg_option *options, size_t option_count,
	      size_t words_max, struct args *ret_args)
{
	struct reader reader = {.count = 0, .command = argv[0]};
	bool only_words = false;
	int used;

	*ret_args = (struct args){0};
	for (size_t i = 0; i < option_count; i++)
		reader.options[reader.count++] = options[i];
	add_common(&reader, ret_args);
	ret_args->words = mem_array((size_t)argc, sizeof(*ret_args->words));
	for (int at = 1; at < argc; at += used) {
		used = 1;
		if (!only_words && strcmp(argv[at], "--") == 0) {
			only_words = true;
		} else if (!only_words && argv[at][0] == '-' && argv[at][1] != '\0') {
			if (read_option(&reader, argc, argv, at, &used) != 0)
				return EXIT_USAGE;
		} else if (ret_args->word_count == words_max) {
			return cli_usage(argv[0],
					 "too many words: \"%s\" (quote what belongs together)",
					 argv[at]);
		} else {
			ret_args->words[ret_args->word_count++] = argv[at];
		}
	}
	return 0;
}

void args_clear(struct args *args)
{
	mem_free(args->words);
	args->words = NULL;
}
