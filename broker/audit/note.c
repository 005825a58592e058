/*
 * Signed notes: verifier keys, the note's frame and its signature lines.
 *
 * Parsing comes before verifying, so that a caller can look at an unsigned head and say what it
 * claims. What can fail: any byte out of form; a known key's line that does not verify (the whole
 * note is then refused, whatever its other lines say).
 */
#include "broker/audit/note.h"

#include <string.h>

#include "base/utf8.h"

#define TIME_LEN 8
#define DASH NOTE_DASH
#define DASH_LEN (sizeof(DASH) - 1)
#define KEYID_HEX_LEN (2 * NOTE_KEYID_LEN)

/* White space of Unicode (White_Space=yes) in UTF-8; a name must hold none. */
static const char *const spaces[] = {
	" ",
	"\xC2\x85",
	"\xC2\xA0",
	"\xE1\x9A\x80",
	"\xE2\x80\x80",
	"\xE2\x80\x81",
	"\xE2\x80\x82",
	"\xE2\x80\x83",
	"\xE2\x80\x84",
	"\xE2\x80\x85",
	"\xE2\x80\x86",
	"\xE2\x80\x87",
	"\xE2\x80\x88",
	"\xE2\x80\x89",
	"\xE2\x80\x8A",
	"\xE2\x80\xA8",
	"\xE2\x80\xA9",
	"\xE2\x80\xAF",
	"\xE2\x81\x9F",
	"\xE3\x80\x80",
};

static bool is_name(const char *name, size_t len)
{
	if (len == 0 || len > NOTE_NAME_MAX || memchr(name, '+', len) != NULL)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < 0x20)
			return false;
	for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
		if (memmem(name, len, spaces[i], strlen(spaces[i])) != NULL)
			return false;
	return utf8_valid(name, len);
}

static void keyid_make(const struct vkey *key, uint8_t out[NOTE_KEYID_LEN])
{
	const uint8_t middle[] = {'\n', (uint8_t)key->type};
	uint8_t hash[SHA256_LEN];
	struct sha256 state;

	sha256_init(&state);
	sha256_add(&state, key->name, strlen(key->name));
	sha256_add(&state, middle, sizeof(middle));
	sha256_add(&state, key->public_key, ED25519_PUBLIC_LEN);
	sha256_end(&state, hash);
	memcpy(out, hash, NOTE_KEYID_LEN);
}

static int init(struct vkey *key, enum note_key_type type, const char *name,
		const uint8_t public_key[ED25519_PUBLIC_LEN], struct err *err)
{
	size_t len = strlen(name);

	if (!is_name(name, len))
		return err_set(err, ERR_INVALID,
			       "a key name has 1 to %u bytes of UTF-8 without white space or +",
			       NOTE_NAME_MAX);
	memset(key, 0, sizeof(*key));
	key->type = type;
	memcpy(key->name, name, len);
	memcpy(key->public_key, public_key, ED25519_PUBLIC_LEN);
	keyid_make(key, key->keyid);
	return 0;
}

int vkey_init(struct vkey *key, const char *name, const uint8_t public_key[ED25519_PUBLIC_LEN],
	      struct err *err)
{
	return init(key, NOTE_ED25519, name, public_key, err);
}

int vkey_init_cosigner(struct vkey *key, const char *name,
		       const uint8_t public_key[ED25519_PUBLIC_LEN], struct err *err)
{
	return init(key, NOTE_COSIGNATURE, name, public_key, err);
}

static int vkey_split(const char *text, size_t len, struct vkey *key, struct buf *bytes,
		      struct err *err)
{
	const char *plus = memchr(text, '+', len);
	size_t name_len = plus == NULL ? len : (size_t)(plus - text);
	const char *hex = text + name_len + 1;
	const char *code = hex + KEYID_HEX_LEN + 1;

	if (plus == NULL || len - name_len < KEYID_HEX_LEN + 3 || code[-1] != '+')
		return err_set(err, ERR_INVALID, "not of the form name+id+key");
	if (!is_name(text, name_len))
		return err_set(err, ERR_INVALID, "its name is empty, too long or has white space");
	if (hex_read(hex, KEYID_HEX_LEN, key->keyid, NOTE_KEYID_LEN, err) < 0)
		return err_wrap(err, "key id");
	if (base64_read(code, (size_t)(text + len - code), bytes, err) < 0)
		return err_wrap(err, "key");
	memcpy(key->name, text, name_len);
	return 0;
}

static int parse(const char *text, size_t len, enum note_key_type type, struct vkey *ret_key,
		 struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct vkey key = {.type = type};
	uint8_t keyid[NOTE_KEYID_LEN];

	if (vkey_split(text, len, &key, &bytes, err) < 0)
		return err_wrap(err, "verifier key");
	if (bytes.len == 0 || (uint8_t)bytes.bytes[0] != type)
		return err_set(err, ERR_INVALID,
			       type == NOTE_ED25519
				       ? "verifier key: its type is not 01 (Ed25519), that of a log"
				       : "verifier key: its type is not 04, that of a witness");
	if (bytes.len != 1 + ED25519_PUBLIC_LEN)
		return err_set(err, ERR_INVALID, "verifier key: %zu bytes, not %d", bytes.len - 1,
			       ED25519_PUBLIC_LEN);
	memcpy(key.public_key, bytes.bytes + 1, ED25519_PUBLIC_LEN);
	keyid_make(&key, keyid);
	if (memcmp(keyid, key.keyid, NOTE_KEYID_LEN) != 0)
		return err_set(err, ERR_INVALID,
			       "verifier key: its id does not fit its name and key");
	*ret_key = key;
	return 0;
}

int vkey_parse(const char *text, size_t len, struct vkey *ret_key, struct err *err)
{
	return parse(text, len, NOTE_ED25519, ret_key, err);
}

int vkey_parse_cosigner(const char *text, size_t len, struct vkey *ret_key, struct err *err)
{
	return parse(text, len, NOTE_COSIGNATURE, ret_key, err);
}

void vkey_write(const struct vkey *key, struct buf *out)
{
	uint8_t bytes[1 + ED25519_PUBLIC_LEN] = {(uint8_t)key->type};
	char hex[KEYID_HEX_LEN + 1];

	hex_write(key->keyid, NOTE_KEYID_LEN, hex);
	memcpy(bytes + 1, key->public_key, ED25519_PUBLIC_LEN);
	buf_addf(out, "%s+%s+", key->name, hex);
	base64_write(bytes, sizeof(bytes), out);
}

void vkey_fingerprint(const struct vkey *key, char out[SHA256_HEX_LEN + 1])
{
	sha256_hex(key->public_key, ED25519_PUBLIC_LEN, out);
}

void note_line_write(const struct vkey *key, const uint8_t signature[ED25519_SIGNATURE_LEN],
		     struct buf *out)
{
	uint8_t bytes[NOTE_KEYID_LEN + ED25519_SIGNATURE_LEN];

	memcpy(bytes, key->keyid, NOTE_KEYID_LEN);
	memcpy(bytes + NOTE_KEYID_LEN, signature, ED25519_SIGNATURE_LEN);
	buf_addf(out, DASH "%s ", key->name);
	base64_write(bytes, sizeof(bytes), out);
	buf_add_char(out, '\n');
}

static int line_parse(const char *bytes, size_t len, struct note_line *ret_line, struct err *err)
{
	CLEANUP(buf_clear) struct buf code = BUF_INIT;
	const char *name = bytes + DASH_LEN;
	const char *blank;

	if (len < DASH_LEN || memcmp(bytes, DASH, DASH_LEN) != 0)
		return err_set(err, ERR_INVALID, "it does not begin with a dash and a blank");
	blank = memchr(name, ' ', len - DASH_LEN);
	if (blank == NULL || !is_name(name, (size_t)(blank - name)))
		return err_set(err, ERR_INVALID, "it has no good name");
	if (base64_read(blank + 1, (size_t)(bytes + len - blank - 1), &code, err) < 0)
		return -1;
	if (code.len <= NOTE_KEYID_LEN)
		return err_set(err, ERR_INVALID, "it holds no signature");
	memset(ret_line, 0, sizeof(*ret_line));
	ret_line->name = name;
	ret_line->name_len = (size_t)(blank - name);
	memcpy(ret_line->keyid, code.bytes, NOTE_KEYID_LEN);
	ret_line->is_ed25519 = code.len == NOTE_KEYID_LEN + ED25519_SIGNATURE_LEN;
	ret_line->is_cosignature = code.len == NOTE_KEYID_LEN + TIME_LEN + ED25519_SIGNATURE_LEN;
	if (ret_line->is_ed25519 || ret_line->is_cosignature)
		memcpy(ret_line->signature, code.bytes + code.len - ED25519_SIGNATURE_LEN,
		       ED25519_SIGNATURE_LEN);
	for (size_t i = 0; ret_line->is_cosignature && i < TIME_LEN; i++)
		ret_line->time = ret_line->time << 8 | (uint8_t)code.bytes[NOTE_KEYID_LEN + i];
	return 0;
}

static int check_bytes(const char *bytes, size_t len, struct err *err)
{
	if (len > NOTE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "longer than %u bytes", NOTE_BYTES_MAX);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)bytes[i] < 0x20 && bytes[i] != '\n')
			return err_set(err, ERR_INVALID, "byte %zu is a control character", i + 1);
	if (!utf8_valid(bytes, len))
		return err_set(err, ERR_INVALID, "not UTF-8");
	if (len == 0 || bytes[len - 1] != '\n')
		return err_set(err, ERR_INVALID, "it does not end in a line feed");
	return 0;
}

/* Where the signature lines begin, behind the last empty line; NULL when there is none. */
static const char *find_lines(const char *bytes, size_t len)
{
	for (size_t at = len; at >= 2; at--)
		if (bytes[at - 1] == '\n' && bytes[at - 2] == '\n')
			return bytes + at;
	return NULL;
}

int note_parse(const char *bytes, size_t len, struct note *ret_note, struct err *err)
{
	const char *end = bytes + len;
	const char *line;

	if (check_bytes(bytes, len, err) < 0)
		return err_wrap(err, "signed note");
	line = find_lines(bytes, len);
	if (line == NULL || line == end)
		return err_set(err, ERR_INVALID, "signed note: no signature lines");
	ret_note->text = bytes;
	ret_note->text_len = (size_t)(line - bytes) - 1;
	ret_note->line_count = 0;
	while (line < end) {
		const char *feed = memchr(line, '\n', (size_t)(end - line));
		size_t index = ret_note->line_count;

		if (index == NOTE_LINES_MAX)
			return err_set(err, ERR_LIMIT, "signed note: over %u signature lines",
				       NOTE_LINES_MAX);
		if (line_parse(line, (size_t)(feed - line), &ret_note->lines[index], err) < 0)
			return err_wrap(err, "signed note: signature line %zu", index + 1);
		ret_note->line_count++;
		line = feed + 1;
	}
	return 0;
}

bool note_line_is_of(const struct note_line *line, const struct vkey *key)
{
	return strlen(key->name) == line->name_len &&
	       memcmp(key->name, line->name, line->name_len) == 0 &&
	       memcmp(key->keyid, line->keyid, NOTE_KEYID_LEN) == 0;
}

static int line_verify(const struct note *note, struct note_line *line, const struct vkey *keys,
		       size_t count, struct err *err)
{
	const struct vkey *known = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!note_line_is_of(line, &keys[i]))
			continue;
		if (known != NULL)
			return err_set(err, ERR_INVALID, "signed note: two keys are named %s",
				       keys[i].name);
		known = &keys[i];
	}
	if (known == NULL)
		return 0;
	if (!line->is_ed25519 ||
	    !ed25519_verify(line->signature, note->text, note->text_len, known->public_key))
		return err_set(err, ERR_INVALID, "signed note: the signature of %s does not fit",
			       known->name);
	line->verified = true;
	return 1;
}

int note_verify(struct note *note, const struct vkey *keys, size_t count, struct err *err)
{
	size_t verified = 0;

	for (size_t i = 0; i < note->line_count; i++) {
		int result = line_verify(note, &note->lines[i], keys, count, err);

		if (result < 0)
			return -1;
		verified += (size_t)result;
	}
	if (verified == 0)
		return err_set(err, ERR_NOT_FOUND, "signed note: no signature by a known key");
	return 0;
}
