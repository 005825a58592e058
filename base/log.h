/* One line on stderr per event: "2026-... writ-broker: text". Only main-level files log. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

void log_open(const char *program); /* name is borrowed; WRIT_LOG=debug|info|error, default error */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What whoever started a service waits for, such as that it serves; shown at every level. */
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
