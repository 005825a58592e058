/* One column of one row. Nothing can fail: every value has a form. */
#include "broker/connectors/sqlite_value.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

/* RFC 4648, section 4. (base/crypto.h has the same but brings libsodium, which no connector has.)
 */
static void base64_add(const unsigned char *bytes, size_t len, struct buf *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		unsigned int group = (unsigned int)bytes[i] << 16;

		if (i + 1 < len)
			group |= (unsigned int)bytes[i + 1] << 8;
		if (i + 2 < len)
			group |= bytes[i + 2];
		buf_add_char(out, digits[group >> 18]);
		buf_add_char(out, digits[group >> 12 & 63]);
		buf_add_char(out, i + 1 < len ? digits[group >> 6 & 63] : '=');
		buf_add_char(out, i + 2 < len ? digits[group & 63] : '=');
	}
}

static struct json *blob_json(const void *bytes, size_t len, size_t max)
{
	struct json *json = json_object();
	struct buf text = BUF_INIT;

	base64_add(bytes, max && len > max ? max : len, &text);
	json_set_str(json, "base64", buf_str(&text));
	buf_clear(&text);
	return json;
}

static struct json *text_json(const char *text, size_t len, size_t max)
{
	struct buf cut = BUF_INIT;
	struct json *json;

	if (max == 0 || len <= max)
		return json_new_strn(text, len);
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--; /* not inside a character */
	buf_add(&cut, text, max);
	buf_add_str(&cut, "...");
	json = json_new_str(buf_str(&cut));
	buf_clear(&cut);
	return json;
}

struct json *value_json(sqlite3_stmt *row, int index, size_t text_max, const char **ret_type)
{
	const char *text;
	int64_t integer;
	double real;
	size_t len;

	switch (sqlite3_column_type(row, index)) {
	case SQLITE_INTEGER:
		integer = sqlite3_column_int64(row, index);
		*ret_type =
			integer > JSON_INT_MAX || integer < -JSON_INT_MAX ? "bigint" : "integer";
		return json_new_int(integer);
	case SQLITE_FLOAT:
		real = sqlite3_column_double(row, index);
		*ret_type = isinf(real) ? "text" : "real";
		return isinf(real) ? json_new_str(real > 0 ? "Infinity" : "-Infinity")
				   : json_new_real(real);
	case SQLITE_TEXT:
		text = (const char *)sqlite3_column_text(row, index);
		len = (size_t)sqlite3_column_bytes(row, index);
		if (text && utf8_valid(text, len) && !memchr(text, 0, len)) {
			*ret_type = "text";
			return text_json(text, len, text_max);
		}
		*ret_type = "blob";
		return blob_json(text ? text : "", text ? len : 0, text_max);
	case SQLITE_BLOB:
		*ret_type = "blob";
		len = (size_t)sqlite3_column_bytes(row, index);
		return blob_json(len ? sqlite3_column_blob(row, index) : "", len, text_max);
	default:
		*ret_type = "null";
		return json_new_null();
	}
}
