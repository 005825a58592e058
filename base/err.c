/* Filling and wrapping of error values; no allocation. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {
	[ERR_NONE] = "none",
	[ERR_INVALID] = "invalid",
	[ERR_DENIED] = "denied",
	[ERR_NOT_FOUND] = "not_found",
	[ERR_LIMIT] = "limit",
	[ERR_TIMEOUT] = "timeout",
	[ERR_CANCELED] = "canceled",
	[ERR_UNAVAILABLE] = "unavailable",
	[ERR_IO] = "io",
	[ERR_INTERNAL] = "internal",
};

const char *err_kind_name(enum err_kind kind)
{
	return (size_t)kind < ARRAY_LEN(kind_names) ? kind_names[kind] : "internal";
}

enum err_kind err_kind_from_name(const char *name)
{
	for (size_t i = 0; name != NULL && i < ARRAY_LEN(kind_names); i++)
		if (strcmp(name, kind_names[i]) == 0)
			return (enum err_kind)i;
	return ERR_INTERNAL;
}

/* A text that did not fit ends in "...", cut before a byte that would split a UTF-8 character. */
static void mark_cut(char text[ERR_TEXT_MAX])
{
	size_t at = ERR_TEXT_MAX - 4;

	while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
		at--;
	memcpy(text + at, "...", 4);
}

__attribute__((format(printf, 2, 0))) static void fill(struct err *err, const char *format,
						       va_list args)
{
	int len = vsnprintf(err->text, sizeof(err->text), format, args);

	if (len >= (int)sizeof(err->text))
		mark_cut(err->text);
}

void err_fill(struct err *err, enum err_kind kind, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return;
	err->kind = kind;
	err->code = NULL;
	va_start(args, format);
	fill(err, format, args);
	va_end(args);
}

void err_fill_errno(struct err *err, const char *format, ...)
{
	int number = errno;
	char what[ERR_TEXT_MAX];
	va_list args;

	if (err == NULL)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	err_fill(err, ERR_IO, "%s: %s", what, strerror(number));
}

void err_fill_wrap(struct err *err, const char *format, ...)
{
	char what[ERR_TEXT_MAX];
	char before[ERR_TEXT_MAX];
	const char *code;
	va_list args;

	if (err == NULL)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	memcpy(before, err->text, sizeof(before));
	code = err->kind == ERR_NONE ? NULL : err->code;
	err_fill(err, err->kind == ERR_NONE ? ERR_INTERNAL : err->kind, "%s: %s", what, before);
	err->code = code;
}

void err_give_code(struct err *err, const char *code)
{
	if (err != NULL)
		err->code = code;
}

void err_clear(struct err *err)
{
	err->kind = ERR_NONE;
	err->code = NULL;
	err->text[0] = '\0';
}
