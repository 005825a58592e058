/*
 * Members by name. Our own merge sort: the C library's asks the kernel how much memory there is,
 * which a confined process must not. Linear memory, n log n whatever the names.
 */
#include <string.h>

#include "base/json_node.h"

/*
 * RFC 8785, 3.2.3: by UTF-16 code unit. Bytes of UTF-8 give the same order but for one pair:
 * surrogates (four bytes, from 0xF0) come before U+E000 to U+FFFF (three, from 0xEE).
 */
static int name_compare(const char *a, const char *b)
{
	const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;

	while (*x == *y && *x != '\0') {
		x++;
		y++;
	}
	if (*x >= 0xF0 && (*y == 0xEE || *y == 0xEF))
		return -1;
	if (*y >= 0xF0 && (*x == 0xEE || *x == 0xEF))
		return 1;
	return *x - *y;
}

static void merge(const cJSON **from, const cJSON **to, size_t left, size_t middle, size_t right)
{
	size_t a = left, b = middle;

	for (size_t i = left; i < right; i++) {
		if (a < middle &&
		    (b == right || name_compare(from[a]->string, from[b]->string) <= 0))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

const cJSON **json_sorted(const cJSON *object, size_t *ret_count)
{
	size_t count = json_len(json_of_const(object)), i = 0;
	/* Room for two arrays; the result lies in front. */
	const cJSON **members = cJSON_malloc((2 * count + 1) * sizeof(*members));
	const cJSON **from = members, **to, **swap;

	if (members == NULL)
		return NULL;
	for (const cJSON *child = object->child; child != NULL; child = child->next)
		members[i++] = child;
	to = members + count;
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t left = 0; left < count; left += 2 * width)
			merge(from, to, left, at_most(left + width, count),
			      at_most(left + 2 * width, count));
		swap = from;
		from = to;
		to = swap;
	}
	if (from != members)
		memcpy((void *)members, (const void *)from, count * sizeof(*members));
	*ret_count = count;
	return members;
}
