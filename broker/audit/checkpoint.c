/*
 * The text of a checkpoint: origin, size, root, one line each and nothing else. What can fail: any
 * other form, extension lines included, since ours have none.
 */
#include "broker/audit/lines.h"
#include "broker/audit/note.h"

int checkpoint_parse(const char *text, size_t len, struct checkpoint *ret_checkpoint,
		     struct err *err)
{
	struct lines lines = {text, len};
	struct checkpoint checkpoint;

	if (lines_text(&lines, checkpoint.origin, sizeof(checkpoint.origin)) < 0)
		return err_set(err, ERR_INVALID, "checkpoint: line 1 is no origin");
	if (lines_number(&lines, &checkpoint.size) < 0)
		return err_set(err, ERR_INVALID, "checkpoint: line 2 is no size");
	if (lines_hash(&lines, checkpoint.root) < 0)
		return err_set(err, ERR_INVALID, "checkpoint: line 3 is no root of 32 bytes");
	if (lines.left != 0)
		return err_set(err, ERR_INVALID, "checkpoint: more than three lines");
	*ret_checkpoint = checkpoint;
	return 0;
}

void checkpoint_write(const struct checkpoint *checkpoint, struct buf *out)
{
	buf_addf(out, "%s\n%llu\n", checkpoint->origin, (unsigned long long)checkpoint->size);
	base64_write(checkpoint->root, SHA256_LEN, out);
	buf_add_char(out, '\n');
}
