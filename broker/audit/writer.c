/*
 * The audit log as the broker uses it (audit.h): opening, appending, waiting, closing. The stages
 * behind it are in writer_steps.c. What can fail at open: the lock, the folder, a log that
 * contradicts its head (recover.c).
 */
#include "broker/audit/writer_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "writ/record.h"

#define LOG_ID_BYTES 16

static int take_lock(struct audit *audit, struct err *err)
{
	audit->lock_fd =
		openat(audit->dir_fd, "LOCK", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (audit->lock_fd < 0)
		return err_errno(err, "LOCK");
	if (flock(audit->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_errno(err, "LOCK: flock");
	return err_set(err, ERR_UNAVAILABLE,
		       "another service writes this log; stop it first, or use that one");
}

static int open_all(struct audit *audit, const struct audit_options *options,
		    struct recovered *recovered, struct err *err)
{
	struct vkey *key = &audit->vkey;

	if (vkey_parse(options->vkey, strlen(options->vkey), key, err) < 0)
		return -1;
	if (strcmp(key->name, options->origin) != 0)
		return err_set(err, ERR_INVALID, "the log's key is named %s, not %s", key->name,
			       options->origin);
	if (dir_open_private_at(AT_FDCWD, options->dir, true, &audit->dir_fd, err) < 0 ||
	    take_lock(audit, err) < 0 || recover(audit->dir_fd, key, recovered, err) < 0)
		return -1;
	return openings_open(options->dir, &audit->openings, err);
}

/* Everything of recovered passes to the audit. */
static void adopt(struct audit *audit, struct recovered *recovered)
{
	audit->file = recovered->file;
	recovered->file.fd = -1;
	audit->size = recovered->size;
	memcpy(audit->last_leaf, recovered->last_leaf, SHA256_LEN);
	audit->signed_tree = recovered->signed_tree;
	audit->unsigned_leaves = TAKE(recovered->leaves);
	audit->unsigned_count = recovered->leaf_count;
	audit->unsigned_room = recovered->leaf_count;
	audit->checkpoint = TAKE(recovered->checkpoint);
	audit->tail_is_stale = !recovered->from_tail;
}

static void append_log_open(struct audit *audit, const char *vkey)
{
	struct json *fields = json_object();
	uint8_t id[LOG_ID_BYTES];
	char id_hex[2 * LOG_ID_BYTES + 1];

	random_bytes(id, sizeof(id));
	hex_write(id, sizeof(id), id_hex);
	json_set_str(fields, REC_EVENT, EV_LOG_OPEN);
	json_set_str(fields, REC_SOURCE, "observed");
	json_set_str(fields, REC_ORIGIN, audit->origin);
	json_set_str(fields, REC_LOG_ID, id_hex);
	json_set_str(fields, REC_VKEY, vkey);
	audit_append(audit, fields, NULL, NULL);
}

static void append_recovered(struct audit *audit, const struct recovered *recovered)
{
	struct json *fields = json_object();
	CLEANUP(mem_freep)
	char *cause = mem_format("torn tail kept as %s, SHA-256 %s", recovered->torn_name,
				 recovered->torn_sha256);

	json_set_str(fields, REC_EVENT, EV_LOG_RECOVERED);
	json_set_str(fields, REC_SOURCE, "observed");
	json_set_int(fields, REC_COUNT, (int64_t)recovered->torn_bytes);
	json_set_str(fields, REC_CAUSE, cause);
	audit_append(audit, fields, NULL, NULL);
}

static void on_check(uv_check_t *check)
{
	struct audit *audit = check->data;

	uv_check_stop(&audit->check);
	uv_idle_stop(&audit->idle);
	audit_step(audit);
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* it only keeps the poll of this turn from waiting */
}

void audit_wake(struct audit *audit)
{
	if (audit->phase == CLOSE_HANDLES)
		return;
	uv_check_start(&audit->check, on_check);
	uv_idle_start(&audit->idle, on_idle);
}

static void begin(struct audit *audit, uv_loop_t *loop)
{
	audit->loop = loop;
	uv_check_init(loop, &audit->check);
	uv_idle_init(loop, &audit->idle);
	audit->check.data = audit;
	audit->idle.data = audit;
}

int audit_open(uv_loop_t *loop, const struct audit_options *options, struct audit **ret_audit,
	       struct audit_opened *ret_opened, struct err *err)
{
	struct audit *audit = mem_alloc(sizeof(*audit));
	struct recovered recovered = {.file = {.fd = -1}};

	audit->dir_fd = audit->lock_fd = audit->file.fd = -1;
	audit->origin = mem_str(options->origin);
	audit->signer = options->signer;
	if (open_all(audit, options, &recovered, err) < 0) {
		recovered_clear(&recovered);
		audit_free(audit);
		return err_wrap(err, "audit log %s", options->dir);
	}
	begin(audit, loop);
	adopt(audit, &recovered);
	*ret_opened = (struct audit_opened){.size = audit->size,
					    .created = audit->size == 0,
					    .from_tail = recovered.from_tail,
					    .recovered_bytes = recovered.torn_bytes,
					    .checkpoint = audit->checkpoint};
	if (ret_opened->created)
		append_log_open(audit, options->vkey);
	if (recovered.torn_bytes > 0)
		append_recovered(audit, &recovered);
	if (audit->unsigned_count > 0)
		audit_wake(audit);
	recovered_clear(&recovered);
	*ret_audit = audit;
	return 0;
}

void audit_free(struct audit *audit)
{
	log_file_close(&audit->file);
	openings_close(audit->openings);
	if (audit->dir_fd >= 0)
		close(audit->dir_fd);
	if (audit->lock_fd >= 0)
		close(audit->lock_fd); /* last: whoever gets the lock finds all of it closed */
	batch_clear(&audit->filling);
	batch_clear(&audit->writing);
	for (size_t i = 0; i < audit->waiter_count; i++)
		mem_free(audit->waiters[i].why);
	mem_free(audit->waiters);
	mem_free(audit->unsigned_leaves);
	mem_free(audit->signing_leaves);
	mem_free(audit->checkpoint);
	mem_free(audit->publishing);
	mem_free(audit->tail_note);
	mem_free(audit->origin);
	mem_free(audit);
}

size_t audit_frontier(const struct audit *audit, uint64_t *ret_size,
		      uint8_t (*ret_peaks)[SHA256_LEN])
{
	*ret_size = audit->signed_tree.size;
	memcpy(ret_peaks, audit->signed_tree.peaks, audit->signed_tree.count * SHA256_LEN);
	return audit->signed_tree.count;
}

static int append(struct audit *audit, const struct json *fields, const struct json *secrets,
		  struct json **ret_disclosures, struct err *err)
{
	uint8_t leaf[SHA256_LEN];

	if (audit->stopped)
		return err_set(err, audit->stop_why.kind, "%s", audit->stop_why.text);
	if (audit->phase > CLOSE_FLUSH)
		return err_set(err, ERR_UNAVAILABLE, "the audit log is closing");
	if (batch_add(&audit->filling, audit->size, audit->last_leaf, clock_now_us(), fields,
		      secrets, leaf, ret_disclosures, err) < 0)
		return -1;
	memcpy(audit->last_leaf, leaf, SHA256_LEN);
	audit->size++;
	return 0;
}

uint64_t audit_append(struct audit *audit, struct json *fields, struct json *secrets,
		      struct json **ret_disclosures)
{
	int result = append(audit, fields, secrets, ret_disclosures, &audit->refused);

	json_free(fields);
	json_free(secrets);
	if (result < 0)
		return UINT64_MAX;
	audit_wake(audit);
	return audit->size - 1;
}

void audit_when_durable(struct audit *audit, uint64_t seq, audit_done *done, void *data)
{
	struct waiter *waiter;

	if (audit->waiter_count == audit->waiter_room) {
		audit->waiter_room = audit->waiter_room == 0 ? 32 : audit->waiter_room * 2;
		audit->waiters =
			mem_grow(audit->waiters, audit->waiter_room * sizeof(*audit->waiters));
	}
	waiter = &audit->waiters[audit->waiter_count++];
	*waiter = (struct waiter){.seq = seq, .done = done, .data = data};
	if (seq == UINT64_MAX)
		waiter->why = mem_copy(&audit->refused, sizeof(audit->refused));
	audit_wake(audit);
}

const char *audit_checkpoint(const struct audit *audit)
{
	return audit->checkpoint;
}

uint64_t audit_size(const struct audit *audit)
{
	return audit->size;
}

bool audit_stopped(const struct audit *audit, struct err *ret_why)
{
	if (audit->stopped && ret_why != NULL)
		*ret_why = audit->stop_why;
	return audit->stopped;
}

void audit_close(struct audit *audit, audit_done *done, void *data)
{
	audit->on_closed = done;
	audit->closed_data = data;
	audit->phase = CLOSE_FLUSH;
	audit_wake(audit);
}
