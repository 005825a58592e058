/* A file and a datagram socket. What can fail: a full disk, a path that is gone, a receiver that is
 * down, full, or takes no long messages. */
#include "broker/sink/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json.h"
#include "writ/record.h"

#define SEND_SECONDS_MAX 5 /* a receiver that takes nothing for so long is down */
#define HOST_MAX 64
#define PRIORITY ((13 << 3) | 6) /* log audit, informational (RFC 5424, 6.2.1) */

static int open_file(struct target *target, struct err *err)
{
	target->fd =
		open(target->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return target->fd < 0 ? err_errno(err, "%s", target->path) : 0;
}

static int open_socket(struct target *target, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = SEND_SECONDS_MAX};

	if (strlen(target->path) >= sizeof(address.sun_path))
		return err_set(err, ERR_INVALID, "%s: longer than a socket's path may be",
			       target->path);
	memcpy(address.sun_path, target->path, strlen(target->path) + 1);
	if (gethostname(target->host, HOST_MAX) < 0 || target->host[0] == '\0')
		snprintf(target->host, sizeof(target->host), "-");
	target->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (target->fd < 0)
		return err_errno(err, "socket");
	setsockopt(target->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(target->fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	err_errno(err, "%s", target->path);
	target_close(target);
	return -1;
}

int target_open(struct target *target, struct err *err)
{
	if (target->fd >= 0)
		return 0;
	return target->kind == TARGET_FILE ? open_file(target, err) : open_socket(target, err);
}

void target_close(struct target *target)
{
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
}

static void set_text(const struct json *record, const char *key, const char *none, char *out,
		     size_t room)
{
	const char *text = json_get_str(record, key);

	snprintf(out, room, "%s", text == NULL ? none : text);
}

void syslog_message(const struct followed *record, const char *host, struct buf *out)
{
	CLEANUP(json_freep) struct json *json = NULL;
	char leaf[SHA256_HEX_LEN + 1];
	char time[40];
	char event[33]; /* MSGID: at most 32 */
	char prev[SHA256_HEX_LEN + 1];

	if (json_parse(record->line, record->len, record->len + 1, &json, NULL) < 0)
		json = json_object();
	set_text(json, REC_TIME, "-", time, sizeof(time));
	set_text(json, REC_EVENT, "-", event, sizeof(event));
	set_text(json, REC_PREV, "", prev, sizeof(prev));
	hex_write(record->leaf, SHA256_LEN, leaf);
	buf_addf(out, "<%d>1 %s %s writ - %s [audit@32473 seq=\"%llu\" leaf=\"%s\" prev=\"%s\"] ",
		 PRIORITY, time, host, event, (unsigned long long)record->seq, leaf, prev);
	buf_add(out, record->line, record->len);
}

static int send_message(struct target *target, const struct followed *record, struct err *err)
{
	CLEANUP(buf_clear) struct buf message = BUF_INIT;

	syslog_message(record, target->host, &message);
	if (send(target->fd, message.bytes, message.len, MSG_NOSIGNAL) == (ssize_t)message.len)
		return 0;
	if (errno == EMSGSIZE)
		return err_set(err, ERR_LIMIT, "%s takes no message of %zu bytes", target->path,
			       message.len);
	return err_errno(err, "%s", target->path);
}

/* A reader must never see two lines as one, whatever was cut off. */
static int end_torn_line(const struct target *target, struct err *err)
{
	struct stat stat;
	char last = '\n';
	int fd;

	if (fstat(target->fd, &stat) < 0)
		return err_errno(err, "%s", target->path);
	if (!S_ISREG(stat.st_mode) || stat.st_size == 0)
		return 0;
	fd = open(target->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || pread(fd, &last, 1, stat.st_size - 1) < 0) {
		err_errno(err, "%s", target->path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	close(fd);
	if (last != '\n' && write(target->fd, "\n", 1) != 1)
		return err_errno(err, "%s", target->path);
	return 0;
}

static int send_line(struct target *target, const struct followed *record, struct err *err)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	ssize_t done;

	buf_add(&line, record->line, record->len);
	buf_add_char(&line, '\n');
	done = write(target->fd, line.bytes, line.len);
	if (done == (ssize_t)line.len)
		return 0;
	if (done < 0)
		return err_errno(err, "%s", target->path);
	target_close(target); /* opened again, the torn line is ended */
	return err_set(err, ERR_IO, "%s took a part of a line", target->path);
}

int target_send(struct target *target, const struct followed *record, struct err *err)
{
	bool was_open = target->fd >= 0;

	if (target_open(target, err) < 0)
		return -1;
	if (target->kind == TARGET_SYSLOG)
		return send_message(target, record, err);
	if (!was_open && end_torn_line(target, err) < 0)
		return -1;
	return send_line(target, record, err);
}

int target_sync(struct target *target, struct err *err)
{
	if (target->kind != TARGET_FILE || target->fd < 0 || fdatasync(target->fd) == 0 ||
	    errno == EINVAL) /* a pipe */
		return 0;
	return err_errno(err, "%s: fdatasync", target->path);
}
