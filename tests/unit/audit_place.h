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
#include "broker/signer/signer.h"
#include "writ/exit_codes.h"

#define PLACE_ORIGIN "writ.local/test/0011223344556677"
#define PLACE_LOG "seg/00000000000000000000.jsonl"

struct place {
	char root[64];
	char dir[80];
	int root_fd;
	uv_loop_t loop;
	uv_timer_t answer; /* the signer answers later, from the loop */
	struct sign_key *key;
	struct vkey vkey;
	char *vkey_text;

	struct signer signer; /* the real one, asked from the loop */
	struct json *asked;   /* what it answers next */
	struct err refused;
	bool asked_for_epoch;
	struct audit_epoch epoch;
	uint64_t resumed; /* size of the head it went on from */
	void (*done)(void *data, const char *note, const struct err *err);
	void (*rolled)(void *data, const struct audit_epoch *epoch, const struct err *err);
	void *done_data;
	struct audit_limits limits;
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

static inline void place_read_epoch(struct place *place, const struct json *json)
{
	const struct json *next = json_get(json, "next");
	struct audit_epoch epoch = {.number = (uint64_t)json_get_int(json, "number", 0),
				    .vkey = mem_str(json_get_str(json, "vkey")),
				    .sealed = mem_str(json_get_str(json, "sealed")),
				    .next_vkey = mem_str(json_get_str(next, "vkey")),
				    .next_sealed = mem_str(json_get_str(next, "sealed"))};

	audit_epoch_clear(&place->epoch);
	place->epoch = epoch;
}

/* A head of other records, signed all the same. */
static inline char *place_lie(struct place *place, const char *note)
{
	struct checkpoint head;
	struct buf text = BUF_INIT;
	struct buf out = BUF_INIT;
	uint8_t signature[ED25519_SIGNATURE_LEN];

	if (checkpoint_parse(note, (size_t)(strstr(note, "\n\n") + 1 - note), &head, NULL) < 0)
		abort();
	head.root[0] ^= 1;
	checkpoint_write(&head, &text);
	sign_bytes(place->key, text.bytes, text.len, signature);
	buf_add(&out, text.bytes, text.len);
	buf_add_char(&out, '\n');
	note_line_write(&place->vkey, signature, &out);
	buf_clear(&text);
	return buf_take(&out);
}

static inline void place_answer(uv_timer_t *timer)
{
	struct place *place = timer->data;
	struct json *asked = TAKE(place->asked);
	bool refused = place->refused.kind != ERR_NONE;
	char *note;

	if (place->asked_for_epoch) {
		place->asked_for_epoch = false;
		if (!refused)
			place_read_epoch(place, asked);
		place->rolled(place->done_data, refused ? NULL : &place->epoch,
			      refused ? &place->refused : NULL);
	} else if (refused) {
		place->done(place->done_data, NULL, &place->refused);
	} else {
		note = place->lie ? place_lie(place, json_get_str(asked, "note"))
				  : mem_str(json_get_str(asked, "note"));
		place->done(place->done_data, note, NULL);
		mem_free(note);
	}
	json_free(asked);
}

/* The answer is made at once and told from the loop. params are taken. */
static inline void place_ask(struct place *place, const char *method, struct json *params)
{
	err_clear(&place->refused);
	if (signer_handle(&place->signer, method, params, &place->asked, &place->refused) < 0)
		place->asked = NULL;
	json_free(params);
	uv_timer_start(&place->answer, place_answer, 0, 0);
}

static inline void
place_sign_head(void *self, const uint8_t (*leaves)[SHA256_LEN], size_t count, bool publish,
		void (*done)(void *data, const char *note, const struct err *err), void *data)
{
	struct place *place = self;
	struct json *params = json_object();
	struct json *list = json_array();
	char hex[SHA256_HEX_LEN + 1];

	for (size_t i = 0; i < count; i++) {
		hex_write(leaves[i], SHA256_LEN, hex);
		json_push_str(list, hex);
	}
	json_set(params, "leaves", list);
	json_set_bool(params, "publish", publish);
	place->done = done;
	place->done_data = data;
	place_ask(place, "head.sign", params);
	place->heads_signed += count > 0;
	if (count > 0 && place->heads_signed == place->refuse)
		err_set(&place->refused, ERR_UNAVAILABLE, "the signer has gone");
}

static inline void
place_sign_tail(void *self, const struct json *tail,
		void (*done)(void *data, const char *note, const struct err *err), void *data)
{
	struct place *place = self;

	place->done = done;
	place->done_data = data;
	place_ask(place, "tail.sign", json_copy(tail));
}

static inline void
place_roll_epoch(void *self, uint64_t number,
		 void (*done)(void *data, const struct audit_epoch *epoch, const struct err *err),
		 void *data)
{
	struct place *place = self;
	struct json *params = json_object();

	json_set_int(params, "number", (int64_t)number);
	place->asked_for_epoch = true;
	place->rolled = done;
	place->done_data = data;
	place_ask(place, "epoch.roll", params);
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
	place->limits.publish_ms = 1;
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
	signer_clear(&place->signer);
	audit_epoch_clear(&place->epoch);
	json_free(place->asked);
	mem_free(place->vkey_text);
	mem_free(place);
}

static inline struct buf place_read(struct place *place, const char *name);

/* As after its start: it has its last head and its epoch from the folder. */
static inline int place_start_signer(struct place *place)
{
	static const uint8_t seed[ED25519_SEED_LEN] = {7};
	struct signer_keys keys = {.token = sign_key_from_seed(seed),
				   .log = sign_key_from_seed(seed),
				   .origin = PLACE_ORIGIN};
	struct buf head = place_read(place, AUDIT_CHECKPOINT);
	struct buf sealed = place_read(place, AUDIT_EPOCH);
	struct json *params = json_object();
	struct json *told = NULL;
	int result = 0;

	signer_clear(&place->signer);
	if (signer_init(&place->signer, &keys, head.len == 0 ? NULL : head.bytes, head.len,
			&place->err) < 0 ||
	    signer_take_epoch(&place->signer, sealed.len == 0 ? NULL : sealed.bytes, sealed.len,
			      &place->err) < 0)
		result = -1;
	else if (signer_handle(&place->signer, "keys", params, &told, &place->err) == 0)
		place_read_epoch(place, json_get(told, "epoch"));
	json_free(told);
	json_free(params);
	buf_clear(&head);
	buf_clear(&sealed);
	return result;
}

static inline int place_resume_signer(struct place *place)
{
	uint8_t peaks[AUDIT_PEAKS_MAX][SHA256_LEN];
	char hex[SHA256_HEX_LEN + 1];
	struct json *params = json_object();
	struct json *list = json_array();
	struct json *told = NULL;
	size_t count = audit_frontier(place->audit, place->signer.last.size, &place->epoch,
				      &place->resumed, peaks);
	int result;

	for (size_t i = 0; i < count; i++) {
		hex_write(peaks[i], SHA256_LEN, hex);
		json_push_str(list, hex);
	}
	json_set_int(params, "size", (int64_t)place->resumed);
	json_set(params, "peaks", list);
	result = signer_handle(&place->signer, "head.resume", params, &told, &place->err);
	json_free(params);
	json_free(told);
	return result;
}

/* The log's half of a start: the signer resumes from its frontier. */
static inline int place_open_again(struct place *place)
{
	struct audit_options options = {
		.dir = place->dir,
		.origin = PLACE_ORIGIN,
		.vkey = place->vkey_text,
		.signer = {place, place_sign_head, place_sign_tail, place_roll_epoch},
		.epoch = &place->epoch,
		.limits = place->limits,
	};

	if (audit_open(&place->loop, &options, &place->audit, &place->opened, &place->err) < 0)
		return -1;
	return place_resume_signer(place);
}

/* As after a start of both. What keeps a signer from starting keeps the log from it as well. */
static inline int place_open(struct place *place)
{
	if (place_start_signer(place) < 0)
		err_clear(&place->err);
	return place_open_again(place);
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
	uv_close((uv_handle_t *)&place->audit->publish_timer, NULL);
	uv_close((uv_handle_t *)&place->audit->full_timer, NULL);
	uv_close((uv_handle_t *)&place->audit->deadline, NULL);
	uv_timer_stop(&place->answer);
	uv_run(&place->loop, UV_RUN_DEFAULT);
	audit_free(place->audit);
	place->audit = NULL;
}

/* A file of the log's folder. The caller clears. */
static inline struct buf place_read(struct place *place, const char *name)
{
	struct buf bytes = BUF_INIT;
	char path[256];

	snprintf(path, sizeof(path), "audit/%.200s", name);
	IGNORE(file_read_at(place->root_fd, path, 64u << 20, &bytes, NULL) < 0, "empty says so");
	return bytes;
}

static inline void place_write(struct place *place, const char *name, const void *bytes, size_t len)
{
	char path[256];

	snprintf(path, sizeof(path), "audit/%.200s", name);
	assert_int_equal(file_replace_at(place->root_fd, path, 0600, bytes, len, false, NULL), 0);
}

static inline bool place_has(struct place *place, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "audit/%.200s", name);
	return faccessat(place->root_fd, path, F_OK, 0) == 0;
}

/* All records, whatever segments they lie in. The caller clears. */
static inline struct buf place_read_log(struct place *place)
{
	struct buf bytes = BUF_INIT;
	struct dirent **entries = NULL;
	char path[256];
	int count;

	snprintf(path, sizeof(path), "%s/seg", place->dir);
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		uint64_t first;

		snprintf(path, sizeof(path), "seg/%.32s", entries[i]->d_name);
		if (segment_read(entries[i]->d_name, AUDIT_RECORDS, &first)) {
			struct buf segment = place_read(place, path);

			buf_add(&bytes, buf_str(&segment), segment.len);
			buf_clear(&segment);
		}
		free(entries[i]);
	}
	free(entries);
	return bytes;
}

/* Verifies the folder as an auditor with the pinned key would. */
static inline int place_verify(struct place *place, struct audit_report *report)
{
	struct audit_verify_options options = {.keys = &place->vkey, .key_count = 1};
	struct audit_verify *verify = audit_verify_new(&options);
	struct buf head = place_read(place, "checkpoint");
	struct buf bytes = place_read_log(place);

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
