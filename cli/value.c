/* Cells and sizes as text; see value.h. */
#include "cli/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Trailing zeros say nothing where there is no agreed number of places. */
static char *plain_real(double value)
{
	char *text = mem_format("%.6f", value);
	size_t len = strlen(text);

	while (len > 2 && text[len - 1] == '0' && text[len - 2] != '.')
		text[--len] = '\0';
	return text;
}

static bool is_counted_unit(const char *unit)
{
	return unit == NULL || strcmp(unit, "%") == 0 || strcmp(unit, "days") == 0;
}

char *value_text(const struct json *value, const char *unit)
{
	switch (json_type(value)) {
	case JSON_NULL:
		return mem_str("-");
	case JSON_BOOL:
		return mem_str(json_bool(value) ? "true" : "false");
	case JSON_INT:
		return mem_format("%lld", (long long)json_int(value));
	case JSON_REAL:
		if (!is_counted_unit(unit))
			return mem_format("%.2f", json_real(value));
		return plain_real(json_real(value));
	case JSON_STRING:
		return mem_str(json_str(value));
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	if (json_get_str(value, "base64") != NULL)
		return mem_format("(blob, %zu bytes)",
				  strlen(json_get_str(value, "base64")) / 4 * 3);
	return mem_str("?");
}

char *bytes_text(int64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double size = (double)bytes;
	size_t unit = 0;

	if (bytes < 1024)
		return mem_format("%lld B", (long long)bytes);
	for (size /= 1024; size >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
		size /= 1024;
	return mem_format("%.1f %s", size, units[unit]);
}
