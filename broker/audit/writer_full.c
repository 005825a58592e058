/*
 * A full disk. The batch that did not fit was taken back from the file; the ballast is freed and it
 * is written once more. From then on only records that end things are taken, so that a revocation
 * works and is logged; everything else is denied with a clear word. Each second it is looked
 * whether there is room again, for the ballast and what waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/writer_state.h"
#include "writ/record.h"

#define ROOM_BYTES (4ull * BALLAST_BYTES)
#define SPACE_BYTES_MIN (128u << 10) /* with less, a failed write means a full disk */

bool writer_is_short_of_space(int dir_fd)
{
	struct statvfs stat;

	return fstatvfs(dir_fd, &stat) == 0 &&
	       (uint64_t)stat.f_bavail * stat.f_frsize < SPACE_BYTES_MIN;
}

bool writer_free_ballast(int dir_fd)
{
	return unlinkat(dir_fd, AUDIT_BALLAST, 0) == 0;
}

static bool has_ballast(int dir_fd)
{
	struct stat stat;

	return fstatat(dir_fd, AUDIT_BALLAST, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(stat.st_mode) && stat.st_size == (off_t)BALLAST_BYTES;
}

static bool has_room(int dir_fd)
{
	struct statvfs stat;

	return fstatvfs(dir_fd, &stat) == 0 &&
	       (uint64_t)stat.f_bavail * stat.f_frsize >= ROOM_BYTES;
}

/* Without room for it the log opens all the same: its first records may still fit. */
int writer_make_ballast(int dir_fd, struct err *err)
{
	CLEANUP(mem_freep) char *zeros = NULL;

	if (has_ballast(dir_fd) || !has_room(dir_fd))
		return 0;
	zeros = mem_alloc(BALLAST_BYTES);
	return file_replace_at(dir_fd, AUDIT_BALLAST, 0600, zeros, BALLAST_BYTES, true, err);
}

static void append_full(struct audit *audit, const char *status, int64_t refused)
{
	struct json *fields = json_object();

	json_set_str(fields, REC_EVENT, EV_LOG_FULL);
	json_set_str(fields, REC_STATUS, status);
	if (refused > 0)
		json_set_int(fields, REC_COUNT, refused);
	writer_append(audit, fields);
}

void writer_enter_full(struct audit *audit, const struct err *why)
{
	bool first = !audit->full;

	audit->full = true;
	err_set(&audit->full_why, ERR_UNAVAILABLE,
		"the disk of the audit log is full, and nothing is allowed that cannot be logged; "
		"free some space and it goes on by itself%s%s",
		why->kind == ERR_NONE ? "" : ". Last error: ",
		why->kind == ERR_NONE ? "" : why->text);
	if (first)
		append_full(audit, "full", 0);
	if (!uv_is_active((uv_handle_t *)&audit->full_timer))
		uv_timer_start(&audit->full_timer, writer_on_full_timer, FULL_RETRY_MS, 0);
}

struct look { /* one look whether there is room */
	struct audit *audit;
	bool found;
};

static int look_for_room(const struct audit_files *files, void *data, struct err *err)
{
	struct look *look = data;

	if (!has_room(files->dir_fd))
		return 0;
	if (writer_make_ballast(files->dir_fd, err) < 0)
		return -1;
	look->found = has_ballast(files->dir_fd);
	return 0;
}

static void leave_full(struct audit *audit)
{
	int64_t refused = audit->full_refused;

	audit->full = false;
	audit->full_refused = 0;
	append_full(audit, "ok", refused);
	writer_want_publish(audit);
}

static void on_looked(void *data, const struct err *err)
{
	struct look *look = data;
	struct audit *audit = look->audit;

	if (audit->stopped || audit->phase > CLOSE_FLUSH) {
		/* No matter. */
	} else if (err == NULL && look->found) {
		leave_full(audit);
	} else {
		uv_timer_start(&audit->full_timer, writer_on_full_timer, FULL_RETRY_MS, 0);
	}
	mem_free(look);
}

void writer_on_full_timer(uv_timer_t *timer)
{
	struct audit *audit = timer->data;
	struct look *look;

	if (audit->stopped || audit->phase > CLOSE_FLUSH)
		return;
	if (audit->held) {
		writer_write_again(audit);
		return;
	}
	look = mem_alloc(sizeof(*look));
	look->audit = audit;
	audit_run(audit, look_for_room, on_looked, look);
}
