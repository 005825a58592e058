/* Segments of the log: rolls, seals, key epochs, tiles, a crash at each step, a log of layout 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/audit/admin.h"
#include "broker/audit/proof.h"
#include "broker/audit/tile_files.h"
#include "tests/unit/audit_place.h"
#include "writ/record.h"

#define SEGMENTS_MAX 64

static struct audit_report report;
static struct err err;

static int setup(void **state)
{
	struct place *place = place_new(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");

	place->limits.segment_bytes = 2000;
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	place_free(*state);
	return 0;
}

static void open_ok(struct place *place)
{
	if (place_open(place) < 0)
		fail_msg("%s", place->err.text);
}

/* One batch each, so that every roll comes as early as it can. */
static void append_each(struct place *place, int count)
{
	for (int i = 0; i < count; i++) {
		place_append(place, "task-1");
		place_run(place);
	}
}

static size_t list_segments(struct place *place, uint64_t firsts[SEGMENTS_MAX])
{
	struct dirent **entries = NULL;
	char path[256];
	size_t found = 0;
	int count;

	snprintf(path, sizeof(path), "%s/seg", place->dir);
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (segment_read(entries[i]->d_name, AUDIT_RECORDS, &firsts[found]))
			found++;
		free(entries[i]);
	}
	free(entries);
	return found;
}

static struct buf read_segment(struct place *place, uint64_t first, const char *suffix)
{
	char path[AUDIT_NAME_MAX];

	segment_path(first, suffix, path);
	return place_read(place, path);
}

static struct json *line_at(const struct buf *bytes, bool last)
{
	const char *end = bytes->bytes + bytes->len - 1;
	const char *begin = last ? memrchr(bytes->bytes, '\n', bytes->len - 1) : NULL;
	struct json *record = NULL;

	begin = begin == NULL ? bytes->bytes : begin + 1;
	if (!last)
		end = strchr(begin, '\n');
	if (json_parse(begin, (size_t)(end - begin), 65536, &record, &err) < 0)
		fail_msg("%s", err.text);
	return record;
}

/* The seal counts exactly the records before next, with good lines of the log and of vkey. */
static void check_seal(struct place *place, uint64_t first, uint64_t next, const char *vkey)
{
	struct buf seal = read_segment(place, first, AUDIT_SEAL);
	struct vkey keys[2] = {place->vkey};
	struct checkpoint checkpoint;
	struct note note;

	if (vkey != NULL)
		assert_int_equal(vkey_parse(vkey, strlen(vkey), &keys[1], &err), 0);
	assert_int_equal(note_parse(buf_str(&seal), seal.len, &note, &err), 0);
	assert_int_equal(note_verify(&note, keys, vkey == NULL ? 1 : 2, &err), 0);
	assert_int_equal(note.line_count, vkey == NULL ? 1 : 2);
	for (size_t i = 0; i < note.line_count; i++)
		if (!note.lines[i].verified)
			fail_msg("seal of %llu, key %s: %s", (unsigned long long)first, vkey,
				 seal.bytes);
	assert_int_equal(checkpoint_parse(note.text, note.text_len, &checkpoint, &err), 0);
	assert_int_equal(checkpoint.size, next);
	buf_clear(&seal);
}

/* Everything docs/audit-format.md says of segments, of all there are. Returns their number. */
static size_t check_segments(struct place *place, bool first_has_key)
{
	uint64_t firsts[SEGMENTS_MAX];
	size_t count = list_segments(place, firsts);
	struct buf sums = place_read(place, AUDIT_SUMS);
	char *vkey = NULL;

	assert_int_equal(firsts[0], 0);
	for (size_t i = 0; i < count; i++) {
		struct buf bytes = read_segment(place, firsts[i], AUDIT_RECORDS);
		struct json *first = line_at(&bytes, false);
		struct json *last = line_at(&bytes, true);
		char sum[SHA256_HEX_LEN + 1];
		char line[256];

		assert_int_equal(json_get_int(first, "_seq", -1), firsts[i]);
		if (i == 0)
			vkey = mem_str(json_get_str(first, REC_EPOCH_KEY));
		else
			assert_string_equal(json_get_str(first, REC_EPOCH_KEY), vkey);
		assert_string_equal(json_get_str(first, REC_EVENT),
				    i == 0 ? EV_LOG_OPEN : EV_SEGMENT_OPEN);
		assert_int_equal(json_get_int(first, REC_KEY_EPOCH, 0), i);
		if (i + 1 < count) {
			struct buf next = read_segment(place, firsts[i + 1], AUDIT_RECORDS);
			struct json *open = line_at(&next, false);
			const struct json *named = json_get(open, REC_SEGMENT);

			assert_string_equal(json_get_str(last, REC_EVENT), EV_SEGMENT_CLOSE);
			assert_int_equal(json_get_int(last, REC_KEY_EPOCH, 0), i + 1);
			sha256_hex(bytes.bytes, bytes.len, sum);
			assert_string_equal(json_get_str(named, "sha256"), sum);
			assert_int_equal(json_get_int(named, "bytes", 0), bytes.len);
			assert_int_equal(json_get_int(named, "count", 0),
					 firsts[i + 1] - firsts[i]);
			snprintf(line, sizeof(line), "%s  seg/%s\n", sum,
				 json_get_str(named, "name"));
			assert_non_null(strstr(buf_str(&sums), line));
			check_seal(place, firsts[i], firsts[i + 1],
				   i == 0 && !first_has_key ? NULL : vkey);
			mem_free(vkey);
			vkey = mem_str(json_get_str(last, REC_EPOCH_KEY));
			json_free(open);
			buf_clear(&next);
		}
		json_free(first);
		json_free(last);
		buf_clear(&bytes);
	}
	mem_free(vkey);
	buf_clear(&sums);
	return count;
}

/* The tiles give the root of the published head. */
static void check_tiles(struct place *place)
{
	struct buf head = place_read(place, AUDIT_CHECKPOINT);
	struct tiles *tiles = mem_alloc(sizeof(*tiles));
	struct checkpoint checkpoint;
	uint8_t root[SHA256_LEN];
	struct tree tree;
	int dir_fd = open(place->dir, O_RDONLY | O_DIRECTORY);
	const char *end = strstr(buf_str(&head), "\n\n") + 1;

	assert_int_equal(
		checkpoint_parse(head.bytes, (size_t)(end - head.bytes), &checkpoint, &err), 0);
	if (tile_files_load(dir_fd, checkpoint.size, tiles, &err) < 0)
		fail_msg("%s", err.text);
	tiles_tree(tiles, &tree);
	tree_root(&tree, root);
	assert_memory_equal(root, checkpoint.root, SHA256_LEN);
	close(dir_fd);
	mem_free(tiles);
	buf_clear(&head);
}

static void test_a_segment_is_closed_sealed_and_followed_by_another(void **state)
{
	struct place *place = *state;

	open_ok(place);
	append_each(place, 60);
	assert_int_equal(place->answered, 60);
	assert_true(check_segments(place, true) >= 4);
	check_tiles(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	check_segments(place, true);
	check_tiles(place);
	open_ok(place);
	assert_true(place->opened.from_tail);
	append_each(place, 20);
	assert_true(check_segments(place, true) >= 5);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_records_in_flight_cross_a_roll_and_are_all_answered(void **state)
{
	struct place *place = *state;

	open_ok(place);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 30; i++)
			place_append(place, "task-1");
		uv_run(&place->loop, UV_RUN_ONCE);
	}
	place_run(place);
	assert_int_equal(place->answered, 600);
	assert_int_equal(place->failed, 0);
	assert_true(check_segments(place, true) >= 2);
	place_close(place);
	check_tiles(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_an_old_segment_is_closed_by_its_age(void **state)
{
	struct place *place = *state;

	place->limits.segment_bytes = 0;
	place->limits.segment_seconds = 3600;
	open_ok(place);
	append_each(place, 3);
	assert_int_equal(check_segments(place, true), 1);
	place->audit->opened_mono_us -= 3600LL * 1000000;
	append_each(place, 3);
	assert_int_equal(check_segments(place, true), 2);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_after_a_kill_only_what_follows_the_newest_seal_is_read(void **state)
{
	struct place *place = *state;
	struct buf bytes;
	uint64_t firsts[SEGMENTS_MAX];
	size_t count;

	open_ok(place);
	append_each(place, 60);
	place_kill(place);
	/* Damage in a sealed segment is the verifier's to find; the start does not read it. */
	bytes = read_segment(place, 0, AUDIT_RECORDS);
	bytes.bytes[200] ^= 1;
	place_write(place, PLACE_LOG, bytes.bytes, bytes.len);
	open_ok(place);
	assert_false(place->opened.from_tail);
	append_each(place, 30);
	bytes.bytes[200] ^= 1;
	place_write(place, PLACE_LOG, bytes.bytes, bytes.len);
	buf_clear(&bytes);
	check_segments(place, true);
	place_kill(place);
	/* Without tiles nothing vouches for the beginning, so all of it is read, and retiled. */
	count = list_segments(place, firsts);
	assert_true(count > 4);
	{
		char command[256];

		snprintf(command, sizeof(command), "rm -rf %s/tile", place->dir);
		assert_int_equal(system(command), 0);
	}
	open_ok(place);
	append_each(place, 1);
	check_tiles(place);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

/* ---- a crash at each step of a roll ---- */

struct moment { /* the files as they were at one time */
	struct buf head, epoch, sums;
};

static struct moment take_moment(struct place *place)
{
	return (struct moment){place_read(place, AUDIT_CHECKPOINT), place_read(place, AUDIT_EPOCH),
			       place_read(place, AUDIT_SUMS)};
}

static void put_back(struct place *place, const char *name, const struct buf *bytes)
{
	char path[128];

	if (bytes->len > 0) {
		place_write(place, name, bytes->bytes, bytes->len);
		return;
	}
	snprintf(path, sizeof(path), "audit/%s", name);
	unlinkat(place->root_fd, path, 0);
}

static void moment_clear(struct moment *moment)
{
	buf_clear(&moment->head);
	buf_clear(&moment->epoch);
	buf_clear(&moment->sums);
}

enum step {
	BEFORE_SUMS,   /* the close record is durable, nothing else */
	BEFORE_SEAL,   /* the sums are written */
	BEFORE_HEAD,   /* the seal is written, the published head is older */
	BEFORE_EPOCH,  /* the head is published, the old seed still stored */
	BEFORE_RECORD, /* the next file is made, and empty */
	BEFORE_FILE,   /* all sealed, no next file */
	STEPS,
};

static void crash_at(struct place *place, enum step step, const struct moment *before,
		     uint64_t first, uint64_t next)
{
	char path[256];
	char name[AUDIT_NAME_MAX];

	segment_path(first, AUDIT_SEAL, name);
	snprintf(path, sizeof(path), "audit/%s", name);
	if (step <= BEFORE_SEAL)
		unlinkat(place->root_fd, path, 0);
	if (step <= BEFORE_SUMS)
		put_back(place, AUDIT_SUMS, &before->sums);
	if (step <= BEFORE_HEAD)
		put_back(place, AUDIT_CHECKPOINT, &before->head);
	if (step <= BEFORE_EPOCH)
		put_back(place, AUDIT_EPOCH, &before->epoch);
	segment_path(next, AUDIT_RECORDS, name);
	if (step == BEFORE_RECORD)
		place_write(place, name, "", 0);
	snprintf(path, sizeof(path), "audit/%s", name);
	if (step == BEFORE_FILE)
		unlinkat(place->root_fd, path, 0);
}

/* Appends until a roll has just happened; before is what the files were like before it. */
static void roll_once(struct place *place, struct moment *before, uint64_t *first, uint64_t *next)
{
	uint64_t firsts[SEGMENTS_MAX];
	size_t count;

	append_each(place, 1);
	count = list_segments(place, firsts);
	for (;;) {
		*before = take_moment(place);
		append_each(place, 1);
		if (list_segments(place, firsts) > count)
			break;
		moment_clear(before);
	}
	*first = firsts[count - 1];
	*next = firsts[count];
}

static void test_a_crash_at_each_step_of_a_roll_is_made_good(void **state)
{
	struct place *place = *state;

	for (int with_records = 0; with_records < 2; with_records++) {
		for (enum step step = BEFORE_SUMS; step < STEPS; step++) {
			struct moment before;
			uint64_t first;
			uint64_t next;
			uint64_t size;

			open_ok(place);
			roll_once(place, &before, &first, &next);
			place_kill(place);
			/* The next file may have records already, or be cut to none. */
			if (!with_records && step < BEFORE_RECORD) {
				char name[AUDIT_NAME_MAX];

				segment_path(next, AUDIT_RECORDS, name);
				place_write(place, name, "", 0);
			}
			if (!with_records && step == BEFORE_EPOCH) {
				/* The head cannot be newer than the records: it is the seal. */
				struct buf seal = read_segment(place, first, AUDIT_SEAL);

				place_write(place, AUDIT_CHECKPOINT, seal.bytes, seal.len);
				buf_clear(&seal);
			}
			if (step >= BEFORE_RECORD) {
				struct buf seal = read_segment(place, first, AUDIT_SEAL);

				place_write(place, AUDIT_CHECKPOINT, seal.bytes, seal.len);
				buf_clear(&seal);
			}
			crash_at(place, step, &before, first, next);
			moment_clear(&before);
			if (place_open(place) < 0)
				fail_msg("step %d: %s", (int)step, place->err.text);
			append_each(place, 2);
			assert_false(audit_stopped(place->audit, &err));
			size = audit_size(place->audit);
			place_close(place);
			if (place->close_err.kind != ERR_NONE)
				fail_msg("step %d: %s", (int)step, place->close_err.text);
			check_segments(place, true);
			check_tiles(place);
			assert_int_equal(place_verify(place, &report), EXIT_FINE);
			assert_int_equal(report.signed_size, size);
		}
	}
}

static void test_a_torn_first_line_of_a_segment_is_cut_and_the_segment_begun_anew(void **state)
{
	struct place *place = *state;
	char name[AUDIT_NAME_MAX];
	struct moment before;
	struct buf seal;
	uint64_t first;
	uint64_t next;

	open_ok(place);
	roll_once(place, &before, &first, &next);
	moment_clear(&before);
	place_kill(place);
	seal = read_segment(place, first, AUDIT_SEAL);
	place_write(place, AUDIT_CHECKPOINT, seal.bytes, seal.len);
	buf_clear(&seal);
	segment_path(next, AUDIT_RECORDS, name);
	place_write(place, name, "{\"_prev\":\"12", 12);
	open_ok(place);
	assert_int_equal(place->opened.recovered_bytes, 12);
	append_each(place, 1);
	place_close(place);
	check_segments(place, true);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	seal = read_segment(place, next, AUDIT_RECORDS);
	assert_non_null(strstr(buf_str(&seal), "\"ev\":\"log.recovered\""));
	buf_clear(&seal);
}

static void test_an_older_seed_is_rolled_forward_and_a_newer_one_refused(void **state)
{
	struct place *place = *state;
	struct buf old;
	struct buf head;
	struct buf newest;
	uint64_t firsts[SEGMENTS_MAX];

	open_ok(place);
	append_each(place, 5);
	old = place_read(place, AUDIT_EPOCH);
	append_each(place, 40);
	assert_true(list_segments(place, firsts) > 3);
	place_close(place);
	newest = place_read(place, AUDIT_EPOCH);
	place_write(place, AUDIT_EPOCH, old.bytes, old.len);
	open_ok(place);
	append_each(place, 20);
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	check_segments(place, true);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	/* An older head, and no later segments: the log was put back. */
	head = read_segment(place, 0, AUDIT_SEAL);
	place_write(place, AUDIT_CHECKPOINT, head.bytes, head.len);
	for (size_t i = 1; i < list_segments(place, firsts);) {
		char path[256];
		char name[AUDIT_NAME_MAX];

		segment_path(firsts[i], AUDIT_RECORDS, name);
		snprintf(path, sizeof(path), "audit/%s", name);
		assert_int_equal(unlinkat(place->root_fd, path, 0), 0);
	}
	assert_int_equal(place_open(place), -1);
	assert_int_equal(place->err.kind, ERR_INVALID);
	assert_non_null(strstr(place->err.text, "the log was put back to an older state"));
	buf_clear(&old);
	buf_clear(&head);
	buf_clear(&newest);
}

static void test_a_missing_segment_is_refused(void **state)
{
	struct place *place = *state;
	uint64_t firsts[SEGMENTS_MAX];
	char path[256];
	char name[AUDIT_NAME_MAX];
	size_t count;

	open_ok(place);
	append_each(place, 40);
	place_kill(place);
	count = list_segments(place, firsts);
	segment_path(firsts[count - 1], AUDIT_RECORDS, name);
	snprintf(path, sizeof(path), "audit/%s", name);
	assert_int_equal(unlinkat(place->root_fd, path, 0), 0);
	assert_int_equal(place_open(place), -1);
	assert_non_null(strstr(place->err.text, "(TRUNCATED)"));
}

static void test_a_log_of_one_file_becomes_the_first_segment(void **state)
{
	struct place *place = *state;
	struct buf old = BUF_INIT;
	struct buf kept;
	struct tree tree;
	uint8_t leaf[SHA256_LEN] = {0};
	char *note;
	struct buf text = BUF_INIT;
	struct checkpoint head = {.size = 3};
	uint8_t signature[ED25519_SIGNATURE_LEN];
	struct buf out = BUF_INIT;

	/* As layout 1 left it: three records, a head of the log's key alone. */
	tree_init(&tree);
	for (uint64_t i = 0; i < 3; i++) {
		struct json *fields = json_object();
		size_t before = old.len;

		json_set_str(fields, "ev", i == 0 ? EV_LOG_OPEN : "task.open");
		if (i == 0) {
			json_set_str(fields, REC_ORIGIN, PLACE_ORIGIN);
			json_set_str(fields, REC_VKEY, place->vkey_text);
		}
		assert_int_equal(record_format(i, leaf, "2026-08-22T10:00:01.000001Z", fields, NULL,
					       &old, &err),
				 0);
		leaf_hash(old.bytes + before, old.len - before, leaf);
		tree_add(&tree, leaf);
		buf_add_char(&old, '\n');
		json_free(fields);
	}
	strcpy(head.origin, PLACE_ORIGIN);
	tree_root(&tree, head.root);
	checkpoint_write(&head, &text);
	sign_bytes(place->key, text.bytes, text.len, signature);
	buf_add(&out, text.bytes, text.len);
	buf_add_char(&out, '\n');
	note_line_write(&place->vkey, signature, &out);
	note = buf_take(&out);
	assert_int_equal(mkdir(place->dir, 0700), 0);
	place_write(place, AUDIT_ONE_FILE, old.bytes, old.len);
	place_write(place, AUDIT_CHECKPOINT, note, strlen(note));

	open_ok(place);
	assert_true(place->opened.migrated);
	assert_int_equal(place->opened.size, 3);
	assert_false(place_has(place, AUDIT_ONE_FILE));
	append_each(place, 60);
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	assert_true(check_segments(place, false) > 3);
	check_tiles(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	kept = place_read(place, PLACE_LOG);
	assert_memory_equal(kept.bytes, old.bytes, old.len);
	open_ok(place);
	assert_false(place->opened.migrated);
	place_close(place);
	/* Both at once is nobody's doing but a hand's. */
	place_write(place, AUDIT_ONE_FILE, old.bytes, old.len);
	assert_int_equal(place_open(place), -1);
	assert_non_null(strstr(place->err.text, "log.jsonl lies beside seg"));
	buf_clear(&kept);
	buf_clear(&old);
	buf_clear(&text);
	mem_free(note);
}

static struct proof_hash hash_of(const uint8_t *bytes)
{
	return (struct proof_hash){bytes, SHA256_LEN};
}

/* The proof file of a record verifies against its own checkpoint. */
static void check_proof(struct place *place, uint64_t seq, const uint8_t leaf[SHA256_LEN])
{
	struct proof_hash hashes[PROOF_HASHES_MAX];
	struct checkpoint checkpoint;
	struct buf text = BUF_INIT;
	struct proof proof;
	const char *note;
	size_t note_len;
	uint64_t index;

	if (audit_proof(place->audit, seq, &text, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(proof_read(text.bytes, text.len, &proof, &index, &note, &note_len, &err),
			 0);
	assert_int_equal(index, seq);
	assert_int_equal(checkpoint_parse(note, (size_t)(strstr(note, "\n\n") + 1 - note),
					  &checkpoint, &err),
			 0);
	for (size_t i = 0; i < proof.count; i++)
		hashes[i] = hash_of(proof.hashes[i]);
	assert_int_equal(inclusion_verify(hash_of(leaf), seq, checkpoint.size, hashes, proof.count,
					  hash_of(checkpoint.root), &err),
			 0);
	buf_clear(&text);
}

static void test_every_record_has_a_proof(void **state)
{
	struct place *place = *state;
	struct buf bytes;
	struct buf ignored = BUF_INIT;
	uint64_t seq = 0;

	place->limits.segment_bytes = 0;
	open_ok(place);
	for (int i = 0; i < 9; i++) {
		for (int j = 0; j < 67; j++)
			place_append(place, "task-1");
		place_run(place);
	}
	bytes = place_read_log(place);
	for (const char *line = bytes.bytes; *line != '\0'; seq++) {
		size_t len = strcspn(line, "\n");
		uint8_t leaf[SHA256_LEN];

		leaf_hash(line, len, leaf);
		check_proof(place, seq, leaf);
		line += len + 1;
	}
	assert_int_equal(seq, 604);
	assert_int_equal(audit_proof(place->audit, seq, &ignored, &err), -1);
	assert_string_equal(err.text, "record 604 is not below the head of 604");
	buf_clear(&bytes);
	place_close(place);
}

/* ---- retention ---- */

struct asked {
	bool done;
	struct err err;
};
static struct asked asked;

static void on_asked(void *data, const struct err *why)
{
	(void)data;
	asked.done = true;
	if (why != NULL)
		asked.err = *why;
}

static int ask_log(struct place *place, audit_work *work, void *data)
{
	asked = (struct asked){0};
	audit_run(place->audit, work, on_asked, data);
	place_run(place);
	assert_true(asked.done);
	return asked.err.kind == ERR_NONE ? 0 : -1;
}

static bool find_old(struct place *place, struct audit_find_work *find)
{
	*find = (struct audit_find_work){.before_us = INT64_MAX};
	if (ask_log(place, audit_find_work, find) < 0)
		fail_msg("%s", asked.err.text);
	return find->drop.found;
}

static void drop(struct place *place, const struct audit_find_work *find)
{
	struct audit_drop copy = find->drop;

	if (ask_log(place, audit_drop_work, &copy) < 0)
		fail_msg("%s", asked.err.text);
}

static void test_old_segments_go_one_by_one_and_their_proofs_stay(void **state)
{
	struct place *place = *state;
	struct audit_find_work find;
	uint64_t firsts[SEGMENTS_MAX];
	struct buf bytes;
	struct buf last;
	uint8_t leaf[SHA256_LEN];
	char sum[SHA256_HEX_LEN + 1];
	size_t count;
	size_t gone = 0;

	open_ok(place);
	append_each(place, 60);
	count = list_segments(place, firsts);
	assert_true(count > 4);
	bytes = read_segment(place, 0, AUDIT_RECORDS);
	leaf_hash(bytes.bytes, strcspn(bytes.bytes, "\n"), leaf);
	sha256_hex(bytes.bytes, bytes.len, sum);
	assert_true(find_old(place, &find));
	assert_int_equal(find.drop.first, 0);
	assert_int_equal(find.drop.next, firsts[1]);
	assert_int_equal(find.drop.bytes, bytes.len);
	assert_string_equal(find.drop.sha256, sum);
	last = read_segment(place, 0, AUDIT_LAST);
	assert_memory_equal(last.bytes, bytes.bytes + bytes.len - last.len, last.len);
	assert_non_null(strstr(last.bytes, EV_SEGMENT_CLOSE));
	buf_clear(&last);
	/* Not one that is too young, nor one that is held. */
	find.before_us = 1;
	assert_int_equal(ask_log(place, audit_find_work, &find), 0);
	assert_false(find.drop.found);
	{
		struct audit_hold_work hold = {
			.name = "case", .reason = "r", .first = 2, .past = 3};

		assert_int_equal(ask_log(place, audit_hold_work, &hold), 0);
		assert_false(find_old(place, &find));
		hold.lift = true;
		assert_int_equal(ask_log(place, audit_hold_work, &hold), 0);
		assert_int_equal(ask_log(place, audit_hold_work, &hold), -1);
		assert_string_equal(asked.err.text, "no hold is called case");
	}
	for (; find_old(place, &find); gone++)
		drop(place, &find);
	assert_int_equal(gone, count - 1); /* the open one stays */
	assert_int_equal(list_segments(place, firsts), 1);
	last = place_read(place, AUDIT_SUMS);
	assert_int_equal(last.len, 0);
	buf_clear(&last);
	check_proof(place, 0, leaf);
	place_kill(place);
	open_ok(place);
	append_each(place, 20);
	check_proof(place, 0, leaf);
	check_tiles(place);
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	open_ok(place);
	assert_true(place->opened.from_tail);
	place_close(place);
	buf_clear(&bytes);
}

static void test_what_the_tiles_do_not_stand_for_is_not_dropped(void **state)
{
	struct place *place = *state;
	struct audit_find_work find = {.before_us = INT64_MAX};
	struct buf tile;
	struct dirent **entries = NULL;
	char path[300];
	int count;

	open_ok(place);
	append_each(place, 40);
	snprintf(path, sizeof(path), "%s/tile/0/000.p", place->dir);
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) { /* the same wrong hash in every partial tile */
		if (entries[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "tile/0/000.p/%.10s", entries[i]->d_name);
			tile = place_read(place, path);
			tile.bytes[3] ^= 1;
			place_write(place, path, tile.bytes, tile.len);
			buf_clear(&tile);
		}
		free(entries[i]);
	}
	free(entries);
	assert_int_equal(ask_log(place, audit_find_work, &find), -1);
	assert_string_equal(asked.err.text, "the tile of record 0 holds another hash");
	assert_true(place_has(place, PLACE_LOG));
	place_close(place);
}

static void test_a_new_signer_goes_on_from_the_published_head(void **state)
{
	struct place *place = *state;

	place->limits.segment_bytes = 0;
	place->limits.publish_ms = 100000; /* never by itself */
	open_ok(place);
	for (int round = 0; round < 5; round++) {
		int wanted = place->answered + 300;

		for (int i = 0; i < 300; i++)
			place_append(place, "task-1");
		while (place->answered < wanted)
			uv_run(&place->loop, UV_RUN_ONCE);
		if (round == 2) { /* published once in between */
			place->audit->publish_due = true;
			audit_wake(place->audit);
			while (place->audit->published.size < place->audit->signed_tree.size)
				uv_run(&place->loop, UV_RUN_ONCE);
		}
		assert_int_equal(place_start_signer(place), 0);
		assert_int_equal(place_resume_signer(place), 0);
		assert_int_equal(place->resumed, place->signer.last.size);
		assert_int_equal(place->audit->kept_count, 0);
	}
	assert_false(audit_stopped(place->audit, NULL));
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	check_tiles(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.signed_size, 1501);
}

static void test_what_the_last_signer_did_not_answer_is_asked_anew(void **state)
{
	struct place *place = *state;

	place->limits.segment_bytes = 0;
	place->limits.publish_ms = 100000;
	open_ok(place);
	for (int round = 0; round < 20; round++) {
		int wanted = place->answered + 50;

		for (int i = 0; i < 50; i++)
			place_append(place, "task-1");
		/* Some turns: now nothing is asked yet, now an answer is out. */
		for (int turn = 0; turn < round % 5; turn++) {
			uv_run(&place->loop, UV_RUN_NOWAIT);
			usleep(100);
		}
		if (round % 3 == 1)
			place->audit->publish_due = true;
		assert_int_equal(place_start_signer(place), 0);
		assert_int_equal(place_resume_signer(place), 0);
		assert_int_equal(place->resumed, place->signer.last.size);
		if (place->audit->sign_busy) { /* it was lost with the signer: it fails */
			struct err gone;

			uv_timer_stop(&place->answer);
			json_freep(&place->asked);
			place->asked = NULL;
			err_set(&gone, ERR_UNAVAILABLE, "another signer is there now");
			place->done(place->done_data, NULL, &gone);
		}
		while (place->answered < wanted && !audit_stopped(place->audit, &place->err))
			uv_run(&place->loop, UV_RUN_ONCE);
		if (audit_stopped(place->audit, &place->err))
			fail_msg("round %d: %s", round, place->err.text);
	}
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	check_tiles(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.signed_size, 1001);
}

static void test_a_replaced_folder_stops_the_log(void **state)
{
	struct place *place = *state;
	char moved[128];
	struct err why;

	open_ok(place);
	append_each(place, 1);
	snprintf(moved, sizeof(moved), "%s.moved", place->dir);
	assert_int_equal(rename(place->dir, moved), 0);
	assert_int_equal(mkdir(place->dir, 0700), 0);
	append_each(place, 1);
	assert_true(audit_stopped(place->audit, &why));
	assert_non_null(strstr(why.text, "was replaced by another folder while the log was open"));
	place_close(place);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_segment_is_closed_sealed_and_followed_by_another),
		CASE(test_records_in_flight_cross_a_roll_and_are_all_answered),
		CASE(test_an_old_segment_is_closed_by_its_age),
		CASE(test_after_a_kill_only_what_follows_the_newest_seal_is_read),
		CASE(test_a_crash_at_each_step_of_a_roll_is_made_good),
		CASE(test_a_torn_first_line_of_a_segment_is_cut_and_the_segment_begun_anew),
		CASE(test_an_older_seed_is_rolled_forward_and_a_newer_one_refused),
		CASE(test_a_missing_segment_is_refused),
		CASE(test_a_log_of_one_file_becomes_the_first_segment),
		CASE(test_every_record_has_a_proof),
		CASE(test_old_segments_go_one_by_one_and_their_proofs_stay),
		CASE(test_what_the_tiles_do_not_stand_for_is_not_dropped),
		CASE(test_a_new_signer_goes_on_from_the_published_head),
		CASE(test_what_the_last_signer_did_not_answer_is_asked_anew),
		CASE(test_a_replaced_folder_stops_the_log),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
