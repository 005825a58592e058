/* Text tables; see table.h. Widths are those of wcwidth() over decoded UTF-8. */
#include "cli/table.h"

#include <string.h>
#include <wchar.h>

#include "base/mem.h"

#define CELL_MAX 80 /* characters shown of one cell; the rest is "..." */

struct table {
	size_t columns;
	size_t rows; /* headings included */
	bool *right;
	char **cells;
};

/* The next character of UTF-8 text; broken bytes count as one character each. */
static size_t next_character(const char *text, wchar_t *ret_character)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t len = bytes[0] < 0x80	     ? 1
		     : (bytes[0] >> 5) == 6  ? 2
		     : (bytes[0] >> 4) == 14 ? 3
		     : (bytes[0] >> 3) == 30 ? 4
					     : 1;
	wchar_t character = len == 1 ? bytes[0] : bytes[0] & (0xFF >> (len + 1));

	for (size_t i = 1; i < len; i++) {
		if ((bytes[i] & 0xC0) != 0x80) {
			*ret_character = L'?';
			return 1;
		}
		character = (character << 6) | (bytes[i] & 0x3F);
	}
	*ret_character = character;
	return len;
}

/* East Asian wide and emoji blocks take two columns; combining marks none. Good enough for tables,
 * and the same whatever the locale. */
static size_t character_width(wchar_t c)
{
	if ((c >= 0x0300 && c <= 0x036F) || c == 0x200B || c == 0x200D ||
	    (c >= 0xFE00 && c <= 0xFE0F))
		return 0;
	if ((c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
	    (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
	    (c >= 0xFF00 && c <= 0xFF60) || (c >= 0x1F300 && c <= 0x1FAFF) || c >= 0x20000)
		return 2;
	return 1;
}

size_t text_width(const char *text)
{
	size_t width = 0;
	wchar_t character;

	while (*text != '\0') {
		text += next_character(text, &character);
		width += character_width(character);
	}
	return width;
}

/* Nothing that a value holds may move a terminal's cursor. */
static char *clean_cell(const char *text)
{
	char *cell = mem_alloc(strlen(text) + 4);
	size_t len = 0, characters = 0;
	wchar_t character;

	while (*text != '\0' && characters < CELL_MAX) {
		size_t size = next_character(text, &character);

		if (character < 0x20 || (character >= 0x7F && character < 0xA0)) {
			cell[len++] = ' ';
		} else {
			memcpy(cell + len, text, size);
			len += size;
		}
		text += size;
		characters++;
	}
	if (*text != '\0') {
		memcpy(cell + len, "...", 3);
		len += 3;
	}
	cell[len] = '\0';
	return cell;
}

struct table *table_new(const char *const *headings, size_t columns)
{
	struct table *table = mem_alloc(sizeof(*table));

	table->columns = columns;
	table->right = mem_array(columns, sizeof(*table->right));
	table_add(table, headings);
	return table;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->rows * table->columns; i++)
		mem_free(table->cells[i]);
	mem_free(table->cells);
	mem_free(table->right);
	mem_free(table);
}

void table_align_right(struct table *table, size_t column)
{
	table->right[column] = true;
}

void table_add(struct table *table, const char *const *cells)
{
	size_t at = table->rows * table->columns;

	table->cells = mem_grow(table->cells, (at + table->columns) * sizeof(*table->cells));
	for (size_t i = 0; i < table->columns; i++)
		table->cells[at + i] = clean_cell(cells[i] != NULL ? cells[i] : "-");
	table->rows++;
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t widest = 0;

	for (size_t row = 0; row < table->rows; row++) {
		size_t width = text_width(table->cells[row * table->columns + column]);

		if (width > widest)
			widest = width;
	}
	return widest;
}

static void print_cell(const struct table *table, size_t row, size_t column, size_t width,
		       FILE *out)
{
	const char *cell = table->cells[row * table->columns + column];
	int pad = (int)(width - text_width(cell));
	bool last = column + 1 == table->columns;

	if (table->right[column])
		fprintf(out, "%*s%s", pad, "", cell);
	else
		fprintf(out, "%s%*s", cell, last ? 0 : pad, "");
	fputs(last ? "\n" : "  ", out);
}

void table_print(const struct table *table, FILE *out)
{
	for (size_t row = 0; row < table->rows; row++)
		for (size_t column = 0; column < table->columns; column++)
			print_cell(table, row, column, column_width(table, column), out);
}
