/* Between the files of the formatter only: format_read.c makes blocks, format.c writes them. */
#ifndef POLICY_FORMAT_PARTS_H
#define POLICY_FORMAT_PARTS_H

#include <stdbool.h>

#include "policy/format.h"

struct format_line {
	size_t indent;
	char *text; /* without indent, comment and blanks behind; "" when there is only a comment */
	char *comment; /* from "#" on; NULL */
	size_t comment_column;
	char *raw; /* as it was */
};

struct format_block;

struct format_entry {
	size_t before_first; /* lines of comments and blanks in front */
	size_t before_end;
	bool dash;
	char *key;   /* NULL for an item */
	char *value; /* on the same line; NULL when a block follows */
	char *comment;
	size_t comment_column;
	size_t indent;	  /* it had */
	size_t raw_first; /* further lines of a value, kept as they are */
	size_t raw_end;
	struct format_block *block; /* owned */
};

struct format_block {
	struct format_entry *entries;
	size_t count;
	size_t tail_first; /* comments behind the last entry */
	size_t tail_end;
};

struct format_file {
	struct format_line *lines;
	size_t count;
	struct format_block *root;
};

MUST_CHECK int format_read(const char *name, const char *text, size_t len,
			   struct format_file *ret_file, struct err *err);
void format_file_clear(struct format_file *file);

#endif
