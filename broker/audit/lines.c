/* Three kinds of line: a text, a number, a hash. What can fail: any other form. */
#include "broker/audit/lines.h"

#include <string.h>

#define NUMBER_DIGITS_MAX 19 /* so that no sum overflows 64 bits */

static int take_line(struct lines *lines, const char **ret_line, size_t *ret_len)
{
	const char *feed = lines->left == 0 ? NULL : memchr(lines->at, '\n', lines->left);

	if (feed == NULL)
		return -1;
	*ret_line = lines->at;
	*ret_len = (size_t)(feed - lines->at);
	lines->left -= *ret_len + 1;
	lines->at = feed + 1;
	return 0;
}

int lines_text(struct lines *lines, char *out, size_t out_max)
{
	const char *line = NULL;
	size_t len = 0;

	if (take_line(lines, &line, &len) < 0 || len == 0 || len >= out_max)
		return -1;
	memcpy(out, line, len);
	out[len] = '\0';
	return 0;
}

int lines_number(struct lines *lines, uint64_t *ret)
{
	const char *line = NULL;
	size_t len = 0;
	uint64_t value = 0;

	if (take_line(lines, &line, &len) < 0 || len == 0 || len > NUMBER_DIGITS_MAX ||
	    (line[0] == '0' && len > 1))
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (line[i] < '0' || line[i] > '9')
			return -1;
		value = value * 10 + (uint64_t)(line[i] - '0');
	}
	*ret = value;
	return 0;
}

int lines_hash(struct lines *lines, uint8_t out[SHA256_LEN])
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *line = NULL;
	size_t len = 0;

	if (take_line(lines, &line, &len) < 0 || base64_read(line, len, &bytes, NULL) < 0 ||
	    bytes.len != SHA256_LEN)
		return -1;
	memcpy(out, bytes.bytes, SHA256_LEN);
	return 0;
}
