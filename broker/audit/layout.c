/* Names out of numbers and back. What can fail: an origin too long to carry an epoch. */
#include "broker/audit/layout.h"

#include <stdio.h>
#include <string.h>

void segment_path(uint64_t first, const char *suffix, char out[AUDIT_NAME_MAX])
{
	snprintf(out, AUDIT_NAME_MAX, AUDIT_SEGMENTS "/%0*llu%s", AUDIT_SEGMENT_DIGITS,
		 (unsigned long long)first, suffix);
}

const char *segment_name(const char *path)
{
	return path + sizeof(AUDIT_SEGMENTS);
}

bool segment_read(const char *name, const char *suffix, uint64_t *ret_first)
{
	uint64_t first = 0;

	for (size_t i = 0; i < AUDIT_SEGMENT_DIGITS; i++) {
		unsigned int digit = (unsigned int)(name[i] - '0');

		if (name[i] < '0' || name[i] > '9' || first > (UINT64_MAX - digit) / 10)
			return false;
		first = first * 10 + digit;
	}
	if (strcmp(name + AUDIT_SEGMENT_DIGITS, suffix) != 0)
		return false;
	*ret_first = first;
	return true;
}

void tile_path(unsigned int level, uint64_t index, unsigned int width, char out[AUDIT_NAME_MAX])
{
	unsigned int groups[TILE_LEVELS_MAX];
	size_t count = 0;
	size_t at;

	do {
		groups[count++] = (unsigned int)(index % 1000);
		index /= 1000;
	} while (index > 0 && count < TILE_LEVELS_MAX);
	at = (size_t)snprintf(out, AUDIT_NAME_MAX, AUDIT_TILES "/%u", level);
	while (count-- > 0)
		at += (size_t)snprintf(out + at, AUDIT_NAME_MAX - at, "/%s%03u",
				       count > 0 ? "x" : "", groups[count]);
	if (width < TILE_WIDTH)
		snprintf(out + at, AUDIT_NAME_MAX - at, ".p/%u", width);
}

int epoch_key_name(const char *origin, uint64_t epoch, char out[EPOCH_NAME_MAX + 1],
		   struct err *err)
{
	int len = snprintf(out, EPOCH_NAME_MAX + 1, "%s/e%llu", origin, (unsigned long long)epoch);

	if (len < 0 || (unsigned int)len > EPOCH_NAME_MAX)
		return err_set(err, ERR_LIMIT, "the origin is too long for the name of an epoch");
	return 0;
}
