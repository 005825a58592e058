/* The login name of a uid, out of /etc/passwd opened before the sandbox closed it. */
#ifndef BROKER_PASSWD_H
#define BROKER_PASSWD_H

#include <stddef.h>
#include <stdint.h>

#define LOGIN_MAX 64

/* fd may be -1. Returns out, or NULL when the uid is not listed or its name is over LOGIN_MAX. */
const char *passwd_login(int fd, int64_t uid, char out[LOGIN_MAX + 1]);

#endif
