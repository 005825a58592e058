/* UTF-8 by RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at text (1 to 4), or 0 when none is well formed within len. */
size_t utf8_char_len(const char *text, size_t len);
/* How many bytes from text on are printable ASCII (0x20 to 0x7F) other than '"' and '\\': what a
 * JSON string holds as it is. */
size_t utf8_plain_len(const char *text, size_t len);
bool utf8_valid(const char *text, size_t len);
/* Writes the 1 to 4 bytes of a scalar value (not a surrogate) and returns how many. */
size_t utf8_encode(uint32_t scalar, char out[4]);

#endif
