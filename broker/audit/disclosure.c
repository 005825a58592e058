/* Making, hashing and opening disclosures. What can fail: a string that is not base64url of an
 * array of salt, name and value. */
#include "broker/audit/disclosure.h"

#include <string.h>

void disclosure_make(const char *name, const struct json *value,
		     const uint8_t salt[DISCLOSURE_SALT_LEN], struct buf *out)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	buf_add_str(&text, "[\"");
	base64url_write(salt, DISCLOSURE_SALT_LEN, &text);
	buf_add_str(&text, "\",");
	json_write_string(name, strlen(name), &text);
	buf_add_char(&text, ',');
	json_write(value, &text);
	buf_add_char(&text, ']');
	base64url_write(text.bytes, text.len, out);
}

void disclosure_digest(const char *disclosure, size_t len, char out[DISCLOSURE_DIGEST_LEN + 1])
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	uint8_t hash[SHA256_LEN];

	sha256_once(disclosure, len, hash);
	base64url_write(hash, sizeof(hash), &text);
	memcpy(out, buf_str(&text), DISCLOSURE_DIGEST_LEN + 1);
}

int disclosure_open(const char *disclosure, size_t len, struct disclosure *ret, struct err *err)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(json_freep) struct json *array = NULL;
	size_t count;

	if (len > DISCLOSURE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "disclosure: over %u bytes", DISCLOSURE_BYTES_MAX);
	if (base64url_read(disclosure, len, &text, err) < 0 ||
	    json_parse(text.bytes, text.len, DISCLOSURE_BYTES_MAX, &array, err) < 0)
		return err_wrap(err, "disclosure");
	count = json_len(array);
	if (json_type(array) != JSON_ARRAY || (count != 2 && count != 3) ||
	    json_str(json_at(array, 0)) == NULL ||
	    (count == 3 && json_str(json_at(array, 1)) == NULL))
		return err_set(err, ERR_INVALID,
			       "disclosure: not an array of salt, name and value");
	ret->salt = json_str(json_at(array, 0));
	ret->name = count == 3 ? json_str(json_at(array, 1)) : NULL;
	ret->value = json_at(array, count - 1);
	ret->array = TAKE(array);
	return 0;
}

void disclosure_clear(struct disclosure *disclosure)
{
	json_freep(&disclosure->array);
	memset(disclosure, 0, sizeof(*disclosure));
}
