/*
 * Runs a harness over kept inputs, as an ordinary test: `replay_NAME FOLDER`. Each file is tried
 * as it is, with every end cut off and with single bits turned, always in memory of exactly its
 * size so that a sanitizer sees a step outside. An empty or missing folder is a failure: a test
 * that tries nothing proves nothing.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

#define CUTS_MAX 4096u /* of larger files only the first so many lengths are tried */

static void try_bytes(const char *bytes, size_t len)
{
	CLEANUP(mem_freep) char *exact = len > 0 ? mem_copy(bytes, len) : mem_alloc(1);

	LLVMFuzzerTestOneInput((const uint8_t *)exact, len);
}

static void try_variants(struct buf *input)
{
	try_bytes(buf_str(input), input->len);
	for (size_t len = 0; len < input->len && len < CUTS_MAX; len++)
		try_bytes(buf_str(input), len);
	for (size_t at = 0; at < input->len && at < CUTS_MAX; at++)
		for (int bit = 0; bit < 8; bit++) {
			input->bytes[at] ^= (char)(1 << bit);
			try_bytes(input->bytes, input->len);
			input->bytes[at] ^= (char)(1 << bit);
		}
}

static void read_file(const char *path, struct buf *out)
{
	char chunk[4096];
	FILE *file = fopen(path, "rb");
	size_t got;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(out, chunk, got);
	fclose(file);
}

static void replay(const char *folder, const char *name, int number)
{
	CLEANUP(buf_clear) struct buf input = BUF_INIT;
	CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, name);

	read_file(path, &input);
	printf("# %s\n", name);
	fflush(stdout);
	try_variants(&input);
	printf("ok %d - %s\n", number, name);
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int count = argc == 2 ? scandir(argv[1], &entries, NULL, alphasort) : -1;
	int files = 0;

	if (count < 0) {
		fprintf(stderr, "usage: %s FOLDER-OF-INPUTS\n", argv[0]);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			replay(argv[1], entries[i]->d_name, ++files);
		free(entries[i]);
	}
	free(entries);
	printf("1..%d\n", files);
	return files > 0 ? 0 : 1;
}
