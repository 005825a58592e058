/* Text tables for people: columns as wide as their widest cell (by characters, not bytes), numbers
 * to the right. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table;

struct table *table_new(const char *const *headings, size_t columns);
void table_free(struct table *table);
void table_align_right(struct table *table, size_t column);
/* cells: one text per column, copied; NULL is shown as "-". Control characters become spaces. */
void table_add(struct table *table, const char *const *cells);
void table_print(const struct table *table, FILE *out);
size_t text_width(const char *text); /* columns on a terminal */

#endif
