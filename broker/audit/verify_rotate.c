/*
 * Following the log's key where it was changed: key.rotate names the new one. It is believed for
 * the heads it signed once a head that a trusted key signed, and that fits, covers that record:
 * what such a head covers was said by the holder of the trusted key. Nothing here can fail.
 */
#include <string.h>

#include "broker/audit/verify_state.h"
#include "writ/record.h"

void verify_note_rotation(struct audit_verify *verify, uint64_t seq, const char *entry, size_t len)
{
	CLEANUP(json_freep) struct json *record = NULL;
	struct verify_rotation rotation = {.seq = seq};
	const char *text;

	if (json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return;
	text = json_get_str(record, REC_VKEY);
	if (text == NULL || vkey_parse(text, strlen(text), &rotation.key, NULL) < 0)
		return;
	if (verify->rotation_count % 4 == 0)
		verify->rotations = mem_grow(verify->rotations,
					     (verify->rotation_count + 4) * sizeof(rotation));
	verify->rotations[verify->rotation_count++] = rotation;
}

static bool is_covered(const struct audit_verify *verify, uint64_t seq)
{
	for (size_t i = 0; i < verify->head_count; i++) {
		const struct verify_head *head = &verify->heads[i];

		if (head->is_signed && head->fit == HEAD_FITS && head->checkpoint.size > seq)
			return true;
	}
	return false;
}

/* A log's key is named after it; a rotated one too. */
static void trust(struct audit_verify *verify, const struct verify_rotation *rotation)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));

	for (size_t i = 0; i < verify->head_count; i++) {
		struct verify_head *head = &verify->heads[i];

		if (!head->readable || head->is_signed || head->is_forged ||
		    strcmp(rotation->key.name, head->checkpoint.origin) != 0 ||
		    note_parse(head->note, head->note_len, note, NULL) < 0)
			continue;
		head->is_signed = note_verify(note, &rotation->key, 1, NULL) == 0;
	}
}

void verify_follow_rotations(struct audit_verify *verify)
{
	for (size_t i = 0; i < verify->rotation_count; i++)
		if (is_covered(verify, verify->rotations[i].seq))
			trust(verify, &verify->rotations[i]);
}
