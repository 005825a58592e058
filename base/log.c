/* Log lines on stderr, one write each, so that lines of several processes do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define LOG_LINE_MAX 2048

enum level { LEVEL_ERROR, LEVEL_INFO, LEVEL_DEBUG };

static const char *program_name = "writ";
static enum level level_shown = LEVEL_ERROR;

void log_open(const char *program)
{
	const char *wanted = getenv("WRIT_LOG");

	program_name = program;
	if (wanted != NULL && strcmp(wanted, "debug") == 0)
		level_shown = LEVEL_DEBUG;
	else if (wanted != NULL && strcmp(wanted, "info") == 0)
		level_shown = LEVEL_INFO;
}

static size_t write_prefix(char *line, size_t size)
{
	struct timespec now;
	struct tm utc;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	len = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
	return len + (size_t)snprintf(line + len, size - len, ".%03ldZ %s: ", now.tv_nsec / 1000000,
				      program_name);
}

__attribute__((format(printf, 2, 0))) static void log_line(enum level level, const char *format,
							   va_list args)
{
	char line[LOG_LINE_MAX];
	size_t len;
	int more;

	if (level > level_shown)
		return;
	len = write_prefix(line, sizeof(line));
	more = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	if (more > 0)
		len += (size_t)more < sizeof(line) - len - 1 ? (size_t)more
							     : sizeof(line) - len - 2;
	for (size_t i = 0; i < len; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[len++] = '\n';
	IGNORE(write(STDERR_FILENO, line, len) < 0, "there is no one left to tell");
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(LEVEL_ERROR, format, args);
	va_end(args);
}

void log_notice(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(LEVEL_ERROR, format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(LEVEL_INFO, format, args);
	va_end(args);
}

void log_debug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(LEVEL_DEBUG, format, args);
	va_end(args);
}
