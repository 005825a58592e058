/* Reading paths and bundles. What can fail: any other form. */
#include "broker/audit/tile_path.h"

#include <stdio.h>
#include <string.h>

#define INDEX_MAX (UINT64_MAX / 1000 - 1)

static bool take(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* A decimal without leading zeros, at most max. */
static bool take_number(const char **at, unsigned int max, unsigned int *ret)
{
	unsigned int value = 0;
	const char *start = *at;

	while (**at >= '0' && **at <= '9' && value <= max)
		value = value * 10 + (unsigned int)(*(*at)++ - '0');
	if (*at == start || value > max || (*start == '0' && *at - start > 1))
		return false;
	*ret = value;
	return true;
}

static bool take_digits(const char **at, uint64_t *value)
{
	for (int i = 0; i < 3; i++, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*value = *value * 10 + (uint64_t)(**at - '0');
	}
	return true;
}

static bool take_index(const char **at, uint64_t *ret)
{
	uint64_t value = 0;
	bool first = true;

	while (take(at, "x")) {
		if (value > INDEX_MAX || !take_digits(at, &value) || !take(at, "/") ||
		    (first && value == 0)) /* x000/... is written without it */
			return false;
		first = false;
	}
	if (value > INDEX_MAX || !take_digits(at, &value))
		return false;
	*ret = value;
	return true;
}

int tile_path_parse(const char *path, struct tile_name *ret_name, struct err *err)
{
	struct tile_name name = {.width = TILE_WIDTH};
	const char *at = path;
	bool good = take(&at, "tile/");

	if (good && take(&at, "entries/"))
		name.entries = true;
	else
		good = good && take_number(&at, TILE_LEVELS_MAX - 1, &name.level) && take(&at, "/");
	good = good && take_index(&at, &name.index);
	if (good && take(&at, ".p/"))
		good = take_number(&at, TILE_WIDTH - 1, &name.width) && name.width > 0;
	if (!good || *at != '\0')
		return err_set(err, ERR_INVALID, "%.100s is no path of a tile", path);
	*ret_name = name;
	return 0;
}

void bundle_path(uint64_t index, unsigned int width, char out[AUDIT_NAME_MAX])
{
	char path[AUDIT_NAME_MAX];

	tile_path(0, index, width, path);
	snprintf(out, AUDIT_NAME_MAX, AUDIT_TILES "/entries%.51s", path + strlen(AUDIT_TILES "/0"));
}

int bundle_next(struct bundle_reader *reader, const char **ret_entry, size_t *ret_len,
		struct err *err)
{
	size_t len;

	if (reader->left == 0)
		return 0;
	if (reader->left < 2)
		return err_set(err, ERR_INVALID, "bundle: cut within a length");
	len = (size_t)(reader->at[0] << 8 | reader->at[1]);
	if (len > reader->left - 2)
		return err_set(err, ERR_INVALID, "bundle: an entry of %zu bytes is cut", len);
	*ret_entry = (const char *)reader->at + 2;
	*ret_len = len;
	reader->at += 2 + len;
	reader->left -= 2 + len;
	return 1;
}

void bundle_add(const char *entry, size_t len, struct buf *out)
{
	buf_add_char(out, (char)(uint8_t)(len >> 8));
	buf_add_char(out, (char)(uint8_t)len);
	buf_add(out, entry, len);
}
