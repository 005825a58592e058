/*
 * forge_log DIR RECORDS PER-SEGMENT [SALT-FROM]: writes a log made by hand (tests/lib/forge.h) into
 * DIR, which must exist, for stories and for tools of others; prints the log's key, the witness's
 * key, and a cosigned head as DIR.cosigned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/forge.h"

static void print_key(const struct vkey *key)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	vkey_write(key, &text);
	puts(buf_str(&text));
}

int main(int argc, char **argv)
{
	struct forge *forge;
	char *head;
	CLEANUP(mem_freep) char *path = NULL;
	FILE *file;
	size_t count;

	if (argc < 4) {
		fprintf(stderr, "usage: forge_log DIR RECORDS PER-SEGMENT [SALT-FROM]\n");
		return 2;
	}
	crypto_init();
	forge = forge_new();
	count = strtoul(argv[2], NULL, 10);
	forge_records(forge, count, strtoul(argv[3], NULL, 10),
		      argc > 4 ? strtoul(argv[4], NULL, 10) : count, "t-other");
	forge_write(forge, argv[1]);
	print_key(&forge->log_vkey);
	print_key(&forge->witness_vkey);
	head = forge_head(forge, count, true, true);
	path = mem_format("%s.cosigned", argv[1]);
	file = fopen(path, "w");
	if (file == NULL || fputs(head, file) < 0 || fclose(file) != 0) {
		perror(path);
		return 1;
	}
	mem_free(head);
	forge_free(forge);
	return 0;
}
