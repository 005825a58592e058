/* A folder for one log, a signer in this process, and the loop, for tests of the writer. */
#ifndef TESTS_UNIT_AUDIT_PLACE_H
#define TESTS_UNIT_AUDIT_PLACE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sign.h"
#include "broker/audit/audit.h"
#include "broker/audit/tail.h"
#include "broker/audit/verify.h"
#include "broker/audit/writer_state.h"
#include "writ/exit_codes.h"

#define PLACE_ORIGIN "writ.local/test/0011223344556677"

struct place {
	char root[64];
	char dir[80];
	int root_fd;
	uv_loop_t loop;
	uv_timer_t answer; /* the signer answers later, from the loop */
	struct sign_key *key;
	struct vkey vkey;
	char *vkey_text;

	struct tree tree; /* the signer's own */
	struct checkpoint head;
	struct tail tail;
	bool asked_for_tail;
	void (*done)(void *data, const char *note, const struct err *err);
	void *done_data;
	int heads_signed;
	int refuse; /* this many-th head is refused; 0: none */
	bool lie;   /* signs a head of other records */

	struct audit *audit;
	struct audit_opened opened;
	struct err err;
	int answered, failed;
	struct err last_failure;
	bool closed;
	struct err close_err;
};

static inline char *place_sign(struct place *place, const struct buf *text)
{
	uint8_t signature[ED25519_SIGNATURE_LEN];
	struct buf out = BUF_INIT;

	sign_bytes(place->key, text->bytes, text->len, signature);
	buf_add(&out, text->bytes, text->len);
	buf_add_char(&out, '\n');
	note_line_write(&place->vkey, signature, &out);
	return buf_take(&out);
}

static inline void place_answer(uv_timer_t *timer)
{
	struct place *place = timer->data;
	struct buf text = BUF_INIT;
	struct err err;
	char *note;

	if (place->asked_for_tail) {
		place->asked_for_tail = false;
		tail_write(&place->tail, &text);
	} else {
		place->heads_signed++;
		if (place->heads_signed == place->refuse) {
			err_set(&err, ERR_UNAVAILABLE, "the signer has gone");
			place->done(place->done_data, NULL, &err);
			return;
		}
		if (place->lie)
			place->head.root[0] ^= 1;
		checkpoint_write(&place->head, &text);
	}
	note = place_sign(place, &text);
	place->done(place->done_data, note, NULL);
	mem_free(note);
	buf_clear(&text);
}

static inline void
place_sign_head(void *self, const uint8_t (*leaves)[SHA256_LEN], size_t count,
		void (*done)(void *data, const char *note, const struct err *err), void *data)
{
	struct place *place = self;

	for (size_t i = 0; i < count; i++)
		tree_add(&place->tree, leaves[i]);
	strcpy(place->head.origin, PLACE_ORIGIN);
	place->head.size = place->tree.size;
	tree_root(&place->tree, place->head.root);
	place->done = done;
	place->done_data = data;
	uv_timer_start(&place->answer, place_answer, 0, 0);
}

static inline void
place_sign_tail(void *self, const struct json *tail,
		void (*done)(void *data, const char *note, const struct err *err), void *data)
{
	struct place *place = self;

	place->tail = (struct tail){.bytes = (uint64_t)json_get_int(tail, "bytes", 0),
				    .tree = place->tree};
	strcpy(place->tail.origin, PLACE_ORIGIN);
	if (hex_read(json_get_str(tail, "last"), SHA256_HEX_LEN, place->tail.last, SHA256_LEN,
		     NULL) < 0 ||
	    (uint64_t)json_get_int(tail, "size", 0) != place->tree.size)
		abort();
	place->asked_for_tail = true;
	place->done = done;
	place->done_data = data;
	uv_timer_start(&place->answer, place_answer, 0, 0);
}

static inline struct place *place_new(const char *under)
{
	static const uint8_t seed[ED25519_SEED_LEN] = {7};
	struct place *place = mem_alloc(sizeof(*place));
	uint8_t public_key[ED25519_PUBLIC_LEN];
	struct buf text = BUF_INIT;

	snprintf(place->root, sizeof(place->root), "%s/writ-test-XXXXXX", under);
	if (mkdtemp(place->root) == NULL)
		abort();
	snprintf(place->dir, sizeof(place->dir), "%s/audit", place->root);
	place->root_fd = open(place->root, O_RDONLY | O_DIRECTORY);
	place->key = sign_key_from_seed(seed);
	sign_key_public(place->key, public_key);
	if (vkey_init(&place->vkey, PLACE_ORIGIN, public_key, NULL) < 0)
		abort();
	vkey_write(&place->vkey, &text);
	place->vkey_text = buf_take(&text);
	uv_loop_init(&place->loop);
	uv_timer_init(&place->loop, &place->answer);
	place->answer.data = place;
	return place;
}

static inline void place_free(struct place *place)
{
	char command[128];

	uv_close((uv_handle_t *)&place->answer, NULL);
	uv_run(&place->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&place->loop), 0);
	close(place->root_fd);
	snprintf(command, sizeof(command), "rm -rf %s", place->root);
	assert_int_equal(system(command), 0);
	sign_key_free(place->key);
	mem_free(place->vkey_text);
	mem_free(place);
}

/* As after a start of both: the signer resumes from the frontier of the log. */
static inline int place_open(struct place *place)
{
	struct audit_options options = {
		.dir = place->dir,
		.origin = PLACE_ORIGIN,
		.vkey = place->vkey_text,
		.signer = {place, place_sign_head, place_sign_tail},
	};
	uint8_t peaks[AUDIT_PEAKS_MAX][SHA256_LEN];
	uint64_t size;
	size_t count;

	err_clear(&place->err);
	if (audit_open(&place->loop, &options, &place->audit, &place->opened, &place->err) < 0)
		return -1;
	count = audit_frontier(place->audit, &size, peaks);
	return tree_restore(&place->tree, size, (const uint8_t(*)[SHA256_LEN])peaks, count,
			    &place->err);
}

static inline void place_on_durable(void *data, const struct err *err)
{
	struct place *place = data;

	if (err == NULL) {
		place->answered++;
	} else {
		place->failed++;
		place->last_failure = *err;
	}
}

static inline uint64_t place_append(struct place *place, const char *text)
{
	struct json *fields = json_object();
	uint64_t seq;

	json_set_str(fields, "ev", "tool.result");
	json_set_str(fields, "tx", text);
	seq = audit_append(place->audit, fields, NULL, NULL);
	audit_when_durable(place->audit, seq, place_on_durable, place);
	return seq;
}

static inline void place_run(struct place *place)
{
	uv_run(&place->loop, UV_RUN_DEFAULT);
}

static inline void place_on_closed(void *data, const struct err *err)
{
	struct place *place = data;

	place->closed = true;
	if (err != NULL)
		place->close_err = *err;
}

static inline void place_close(struct place *place)
{
	place->closed = false;
	err_clear(&place->close_err);
	audit_close(place->audit, place_on_closed, place);
	place_run(place);
	assert_true(place->closed);
	place->audit = NULL;
}

/* The process dies: what is on disk stays, nothing else happens. */
static inline void place_kill(struct place *place)
{
	uv_close((uv_handle_t *)&place->audit->check, NULL);
	uv_close((uv_handle_t *)&place->audit->idle, NULL);
	uv_timer_stop(&place->answer);
	uv_run(&place->loop, UV_RUN_DEFAULT);
	audit_free(place->audit);
	place->audit = NULL;
}

/* A file of the log's folder. The caller clears. */
static inline struct buf place_read(struct place *place, const char *name)
{
	struct buf bytes = BUF_INIT;
	char path[128];

	snprintf(path, sizeof(path), "audit/%s", name);
	IGNORE(file_read_at(place->root_fd, path, 64u << 20, &bytes, NULL) < 0, "empty says so");
	return bytes;
}

static inline void place_write(struct place *place, const char *name, const void *bytes, size_t len)
{
	char path[128];

	snprintf(path, sizeof(path), "audit/%s", name);
	assert_int_equal(file_replace_at(place->root_fd, path, 0600, bytes, len, false, NULL), 0);
}

static inline bool place_has(struct place *place, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "audit/%s", name);
	return faccessat(place->root_fd, path, F_OK, 0) == 0;
}

/* Verifies the folder as an auditor with the pinned key would. */
static inline int place_verify(struct place *place, struct audit_report *report)
{
	struct audit_verify_options options = {.keys = &place->vkey, .key_count = 1};
	struct audit_verify *verify = audit_verify_new(&options);
	struct buf head = place_read(place, "checkpoint");
	struct buf bytes = place_read(place, "log.jsonl");

	if (head.len > 0)
		assert_int_equal(
			audit_verify_head(verify, "checkpoint", head.bytes, head.len, NULL), 0);
	audit_verify_feed(verify, buf_str(&bytes), bytes.len);
	audit_verify_end(verify, report);
	audit_verify_free(verify);
	buf_clear(&head);
	buf_clear(&bytes);
	return report->exit_code;
}

#endif
