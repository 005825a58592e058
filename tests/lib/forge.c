/* Making logs. Anything that fails here is a test that cannot run: it aborts. */
#include "tests/lib/forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "broker/audit/cosignature.h"
#include "broker/audit/layout.h"
#include "broker/audit/record.h"
#include "writ/record.h"

static void die(const char *what)
{
	perror(what);
	abort();
}

static struct sign_key *make_key(const char *seed_text)
{
	uint8_t seed[ED25519_SEED_LEN];

	sha256_once(seed_text, strlen(seed_text), seed);
	return sign_key_from_seed(seed);
}

static struct vkey make_vkey(const struct sign_key *key, const char *name, bool witness)
{
	uint8_t public_key[ED25519_PUBLIC_LEN];
	struct vkey vkey;

	sign_key_public(key, public_key);
	if ((witness ? vkey_init_cosigner(&vkey, name, public_key, NULL)
		     : vkey_init(&vkey, name, public_key, NULL)) < 0)
		abort();
	return vkey;
}

struct forge *forge_new(void)
{
	struct forge *forge = mem_alloc(sizeof(*forge));

	forge->log_key = make_key("forged log");
	forge->log_vkey = make_vkey(forge->log_key, FORGE_ORIGIN, false);
	forge->log_key2 = make_key("forged log, second key");
	forge->log_vkey2 = make_vkey(forge->log_key2, FORGE_ORIGIN, false);
	forge->witness_key = make_key("forged witness");
	forge->witness_vkey = make_vkey(forge->witness_key, FORGE_WITNESS, true);
	for (size_t i = 0; i <= FORGE_SEGMENTS_MAX; i++) {
		char name[EPOCH_NAME_MAX + 1];
		CLEANUP(mem_freep) char *seed = mem_format("forged epoch %zu", i);

		if (epoch_key_name(FORGE_ORIGIN, i, name, NULL) < 0)
			abort();
		forge->epoch_keys[i] = make_key(seed);
		forge->epoch_vkeys[i] = make_vkey(forge->epoch_keys[i], name, false);
	}
	return forge;
}

static void clear_records(struct forge *forge)
{
	for (size_t i = 0; i < forge->count; i++)
		mem_free(forge->entries[i]);
	mem_free(forge->entries);
	mem_free(forge->leaves);
	forge->count = 0;
	forge->segments = 0;
}

void forge_free(struct forge *forge)
{
	clear_records(forge);
	sign_key_free(forge->log_key);
	sign_key_free(forge->log_key2);
	sign_key_free(forge->witness_key);
	for (size_t i = 0; i <= FORGE_SEGMENTS_MAX; i++)
		sign_key_free(forge->epoch_keys[i]);
	mem_free(forge);
}

static void set_key(struct json *fields, const char *name, const struct vkey *key)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	vkey_write(key, &text);
	json_set_str(fields, name, buf_str(&text));
}

static void set_epoch(const struct forge *forge, struct json *fields, size_t epoch)
{
	set_key(fields, REC_EPOCH_KEY, &forge->epoch_vkeys[epoch]);
	json_set_int(fields, REC_KEY_EPOCH, (int64_t)epoch);
}

static void set_file(const struct forge *forge, struct json *fields, size_t segment)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct json *file = json_object();
	char hex[SHA256_HEX_LEN + 1];
	char path[AUDIT_NAME_MAX];

	forge_segment(forge, segment, &bytes);
	sha256_hex(buf_str(&bytes), bytes.len, hex);
	segment_path(forge->firsts[segment], AUDIT_RECORDS, path);
	json_set_int(file, "bytes", (int64_t)bytes.len);
	json_set_int(file, "count", (int64_t)(forge->count - forge->firsts[segment]));
	json_set_str(file, "name", segment_name(path));
	json_set_str(file, "sha256", hex);
	json_set(fields, REC_SEGMENT, file);
}

static struct json *fields_of(struct forge *forge, size_t count, size_t per_segment,
			      const char *task)
{
	size_t seq = forge->count;
	bool opens = per_segment > 0 && seq % per_segment == 0;
	bool closes = per_segment > 0 && seq % per_segment == per_segment - 1 && seq + 1 < count;
	struct json *fields = json_object();

	json_set_str(fields, REC_EVENT,
		     seq == 0 ? EV_LOG_OPEN
		     : opens  ? EV_SEGMENT_OPEN
		     : closes ? EV_SEGMENT_CLOSE
			      : EV_TOOL_RESULT);
	if (seq == 0) {
		json_set_str(fields, REC_ORIGIN, FORGE_ORIGIN);
		set_key(fields, REC_VKEY, &forge->log_vkey);
	} else {
		json_set_str(fields, REC_TASK, task);
	}
	if (seq > 0 && seq == forge->rotate_at) {
		json_set_str(fields, REC_EVENT, EV_KEY_ROTATE);
		set_key(fields, REC_VKEY, &forge->log_vkey2);
	}
	if (opens || seq == 0) {
		if (seq > 0)
			set_file(forge, fields, forge->segments - 1);
		forge->firsts[forge->segments] = seq;
		set_epoch(forge, fields, forge->segments++);
	} else if (closes) {
		set_epoch(forge, fields, forge->segments);
	}
	return fields;
}

void forge_records(struct forge *forge, size_t count, size_t per_segment, size_t salt_from,
		   const char *salt)
{
	uint8_t prev[SHA256_LEN] = {0};

	clear_records(forge);
	forge->entries = mem_array(count + 1, sizeof(*forge->entries));
	forge->leaves = mem_array(count + 1, SHA256_LEN);
	while (forge->count < count) {
		struct json *fields = fields_of(forge, count, per_segment,
						forge->count >= salt_from ? salt : "t-1");
		struct buf entry = BUF_INIT;

		if (record_format(forge->count, prev, "2026-08-22T10:00:00.000000Z", fields, NULL,
				  &entry, NULL) < 0)
			abort();
		json_free(fields);
		leaf_hash(entry.bytes, entry.len, prev);
		memcpy(forge->leaves[forge->count], prev, SHA256_LEN);
		forge->entries[forge->count++] = buf_take(&entry);
	}
}

void forge_rotate(struct forge *forge, size_t count, size_t rotate_at)
{
	forge->rotate_at = rotate_at;
	forge_records(forge, count, 0, count, "");
}

static size_t segment_of(const struct forge *forge, size_t seq)
{
	size_t segment = forge->segments - 1;

	while (segment > 0 && forge->firsts[segment] > seq)
		segment--;
	return segment;
}

static void sign_line(const struct sign_key *key, const struct vkey *vkey, const char *text,
		      size_t len, struct buf *out)
{
	uint8_t signature[ED25519_SIGNATURE_LEN];

	sign_bytes(key, text, len, signature);
	note_line_write(vkey, signature, out);
}

static void cosign_line(const struct forge *forge, const char *text, size_t len, struct buf *out)
{
	CLEANUP(buf_clear) struct buf message = BUF_INIT;
	uint8_t signature[ED25519_SIGNATURE_LEN];
	const uint64_t time = 1787392800;

	cosignature_message(time, text, len, &message);
	sign_bytes(forge->witness_key, message.bytes, message.len, signature);
	cosignature_line_write(&forge->witness_vkey, time, signature, out);
}

char *forge_head(const struct forge *forge, size_t size, bool with_epoch, bool witnessed)
{
	struct checkpoint checkpoint = {.origin = FORGE_ORIGIN, .size = size};
	struct buf out = BUF_INIT;
	struct tree tree;
	size_t len;

	tree_init(&tree);
	for (size_t i = 0; i < size; i++)
		tree_add(&tree, forge->leaves[i]);
	tree_root(&tree, checkpoint.root);
	checkpoint_write(&checkpoint, &out);
	len = out.len;
	buf_add_char(&out, '\n');
	{
		CLEANUP(mem_freep) char *text = mem_strn(out.bytes, len);
		size_t epoch = size == 0 ? 0 : segment_of(forge, size - 1);

		sign_line(forge->second_key ? forge->log_key2 : forge->log_key,
			  forge->second_key ? &forge->log_vkey2 : &forge->log_vkey, text, len,
			  &out);
		if (with_epoch)
			sign_line(forge->epoch_keys[epoch], &forge->epoch_vkeys[epoch], text, len,
				  &out);
		if (witnessed)
			cosign_line(forge, text, len, &out);
	}
	return buf_take(&out);
}

void forge_segment(const struct forge *forge, size_t segment, struct buf *out)
{
	size_t end = segment + 1 < forge->segments ? forge->firsts[segment + 1] : forge->count;

	for (size_t i = forge->firsts[segment]; i < end; i++)
		buf_addf(out, "%s\n", forge->entries[i]);
}

void forge_write_file(const char *dir, const char *name, const void *bytes, size_t len)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/%s", dir, name);
	FILE *file;

	for (char *slash = strchr(path + strlen(dir) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	if (file == NULL || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
		die(path);
}

static void write_tile(void *data, unsigned int level, uint64_t index, const struct tile *tile)
{
	char path[AUDIT_NAME_MAX];

	tile_path(level, index, TILE_WIDTH, path);
	forge_write_file(data, path, tile, sizeof(*tile));
}

static void write_tiles(const struct forge *forge, const char *dir)
{
	CLEANUP(mem_freep) struct tiles *tiles = mem_alloc(sizeof(*tiles));
	CLEANUP(mem_freep) char *folder = mem_str(dir);
	char path[AUDIT_NAME_MAX];

	tiles_init(tiles);
	for (size_t i = 0; i < forge->count; i++)
		tiles_add(tiles, forge->leaves[i], write_tile, folder);
	for (unsigned int level = 0; level < TILE_LEVELS_MAX; level++) {
		unsigned int width = tiles_width(tiles->size, level);

		if (width == 0)
			continue;
		tile_path(level, tiles_hashes(tiles->size, level) / TILE_WIDTH, width, path);
		forge_write_file(dir, path, &tiles->open[level], (size_t)width * SHA256_LEN);
	}
}

void forge_write(const struct forge *forge, const char *dir)
{
	CLEANUP(mem_freep) char *head = forge_head(forge, forge->count, true, false);
	CLEANUP(buf_clear) struct buf sums = BUF_INIT;
	char path[AUDIT_NAME_MAX];

	for (size_t i = 0; i < forge->segments; i++) {
		CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
		CLEANUP(mem_freep) char *seal = NULL;
		char hex[SHA256_HEX_LEN + 1];

		forge_segment(forge, i, &bytes);
		segment_path(forge->firsts[i], AUDIT_RECORDS, path);
		forge_write_file(dir, path, buf_str(&bytes), bytes.len);
		if (i + 1 == forge->segments)
			break;
		sha256_hex(buf_str(&bytes), bytes.len, hex);
		buf_addf(&sums, "%s  %s\n", hex, path);
		seal = forge_head(forge, forge->firsts[i + 1], true, false);
		segment_path(forge->firsts[i], AUDIT_SEAL, path);
		forge_write_file(dir, path, seal, strlen(seal));
	}
	if (sums.len > 0)
		forge_write_file(dir, AUDIT_SUMS, sums.bytes, sums.len);
	forge_write_file(dir, AUDIT_CHECKPOINT, head, strlen(head));
	write_tiles(forge, dir);
}
