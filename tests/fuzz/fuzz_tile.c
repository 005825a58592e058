/* Paths of tiles, which have one form only, and entry bundles. */
#include <stdlib.h>
#include <string.h>

#include "broker/audit/tile_path.h"
#include "tests/fuzz/fuzz.h"

static void try_path(const char *text)
{
	struct tile_name name;
	char path[AUDIT_NAME_MAX];

	if (tile_path_parse(text, &name, NULL) < 0)
		return;
	if (name.width == 0 || name.width > TILE_WIDTH || name.level >= TILE_LEVELS_MAX)
		abort();
	if (name.entries)
		bundle_path(name.index, name.width, path);
	else
		tile_path(name.level, name.index, name.width, path);
	if (strlen(text) < AUDIT_NAME_MAX && strcmp(path, text) != 0)
		abort();
}

static void try_bundle(const uint8_t *bytes, size_t len)
{
	struct bundle_reader reader = {bytes, len};
	CLEANUP(buf_clear) struct buf again = BUF_INIT;
	const char *entry = NULL;
	size_t entry_len = 0;
	int got;

	while ((got = bundle_next(&reader, &entry, &entry_len, NULL)) == 1)
		bundle_add(entry, entry_len, &again);
	if (got == 0 && (again.len != len || (len > 0 && memcmp(again.bytes, bytes, len) != 0)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	CLEANUP(mem_freep) char *text = mem_alloc(len + 1);

	if (len > 0)
		memcpy(text, bytes, len);
	try_path(text);
	try_bundle(bytes, len);
	return 0;
}
