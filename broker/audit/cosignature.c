/* Writing and checking cosignatures. What can fail: a line of a known witness that does not verify,
 * which, as with any signed note, makes the whole note worthless. */
#include "broker/audit/cosignature.h"

#define TIME_LEN 8

void cosignature_message(uint64_t time, const char *text, size_t len, struct buf *out)
{
	buf_addf(out, "cosignature/v1\ntime %llu\n", (unsigned long long)time);
	buf_add(out, text, len);
}

void cosignature_line_write(const struct vkey *witness, uint64_t time,
			    const uint8_t signature[ED25519_SIGNATURE_LEN], struct buf *out)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	buf_add(&bytes, witness->keyid, NOTE_KEYID_LEN);
	for (int i = 0; i < TIME_LEN; i++)
		buf_add_char(&bytes, (char)(uint8_t)(time >> (56 - 8 * i)));
	buf_add(&bytes, signature, ED25519_SIGNATURE_LEN);
	buf_addf(out, NOTE_DASH "%s ", witness->name);
	base64_write(bytes.bytes, bytes.len, out);
	buf_add_char(out, '\n');
}

static bool line_verifies(const struct note *note, const struct note_line *line,
			  const struct vkey *witness)
{
	CLEANUP(buf_clear) struct buf message = BUF_INIT;

	if (!line->is_cosignature)
		return false;
	cosignature_message(line->time, note->text, note->text_len, &message);
	return ed25519_verify(line->signature, message.bytes, message.len, witness->public_key);
}

int cosignature_verify(const struct note *note, const struct vkey *witness, uint64_t *ret_time,
		       struct err *err)
{
	bool found = false;
	uint64_t time = 0;

	for (size_t i = 0; i < note->line_count; i++) {
		const struct note_line *line = &note->lines[i];

		if (!note_line_is_of(line, witness))
			continue;
		if (!line_verifies(note, line, witness))
			return err_set(err, ERR_INVALID, "the cosignature of %s does not fit",
				       witness->name);
		if (!found || line->time > time)
			time = line->time;
		found = true;
	}
	if (found)
		*ret_time = time;
	return found;
}
