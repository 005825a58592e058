/*
 * For tests/bench/audit.sh:
 *   audit_bench make DIR MIB SEGMENT-MIB   a log of records as large as ours, with a signed head
 * (and no seals); prints its key, the number of records and the id of a task in its middle
 *   audit_bench run COMMAND...             prints wall milliseconds and peak resident KiB
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sign.h"
#include "broker/audit/layout.h"
#include "broker/audit/note.h"
#include "broker/audit/record.h"
#include "broker/audit/tiles.h"

#define ORIGIN "writ.local/bench/0011223344556677"
#define TASK_RECORDS 12

struct maker {
	const char *dir;
	FILE *file;
	uint64_t in_segment, segment_bytes;
	uint64_t seq, bytes;
	uint8_t prev[SHA256_LEN];
	struct tiles tiles;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct json *fields_of(uint64_t seq)
{
	struct json *fields = json_object();
	CLEANUP(mem_freep)
	char *task = mem_format("t-%llu", (unsigned long long)(seq / TASK_RECORDS));

	json_set_str(fields, "ev", seq == 0 ? "log.open" : "tool.intent");
	if (seq == 0)
		json_set_str(fields, "og", ORIGIN);
	json_set_str(fields, "ag", "spiffe://corp.example/agent/sales-query-01");
	json_set_str(fields, "cl", "sales-query-01");
	json_set_str(fields, "dec", "allow");
	json_set_str(fields, "pol",
		     "10f62875842656fb0d3456dd83d91f53eba9ffc07567db5e440868fae4db3e27");
	json_set_str(fields, "rk", "none");
	json_set_str(fields, "ru", "read-sales");
	json_set_str(fields, "rw", "scopes/sales.yaml:20");
	json_set_str(fields, "su", "user:679199ee0888e44d");
	json_set_str(fields, "tl", "run_query");
	json_set_str(fields, "tx", task);
	json_set_str(fields, "src", "observed");
	json_set_int(fields, "ep", 1);
	return fields;
}

static void next_segment(struct maker *maker)
{
	char name[AUDIT_NAME_MAX];
	CLEANUP(mem_freep) char *path = NULL;

	if (maker->file != NULL && fclose(maker->file) != 0)
		die("close");
	segment_path(maker->seq, AUDIT_RECORDS, name);
	path = mem_format("%s/%s", maker->dir, name);
	maker->file = fopen(path, "w");
	if (maker->file == NULL)
		die(path);
	maker->in_segment = 0;
}

static void add_record(struct maker *maker)
{
	CLEANUP(json_freep) struct json *fields = fields_of(maker->seq);
	CLEANUP(json_freep) struct json *digests = json_array();
	CLEANUP(buf_clear) struct buf line = BUF_INIT;

	json_push_str(digests, "o_IgWchhGxxaQvhsx5PRaIMBa9duBcp68Lw93DYHptw");
	if (record_format(maker->seq, maker->prev, "2026-08-22T10:00:00.000001Z", fields, digests,
			  &line, NULL) < 0)
		abort();
	leaf_hash(line.bytes, line.len, maker->prev);
	tiles_add(&maker->tiles, maker->prev, NULL, NULL);
	buf_add_char(&line, '\n');
	if (fwrite(line.bytes, 1, line.len, maker->file) != line.len)
		die("write");
	maker->seq++;
	maker->bytes += line.len;
	maker->in_segment += line.len;
}

static void write_head(const struct maker *maker)
{
	static const uint8_t seed[ED25519_SEED_LEN] = {1};
	struct sign_key *key = sign_key_from_seed(seed);
	struct checkpoint checkpoint = {.origin = ORIGIN, .size = maker->seq};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(buf_clear) struct buf vkey_text = BUF_INIT;
	CLEANUP(mem_freep) char *path = mem_format("%s/checkpoint", maker->dir);
	uint8_t public_key[ED25519_PUBLIC_LEN], signature[ED25519_SIGNATURE_LEN];
	struct vkey vkey;
	struct tree tree;
	FILE *file;

	sign_key_public(key, public_key);
	tiles_tree(&maker->tiles, &tree);
	tree_root(&tree, checkpoint.root);
	checkpoint_write(&checkpoint, &text);
	sign_bytes(key, text.bytes, text.len, signature);
	if (vkey_init(&vkey, ORIGIN, public_key, NULL) < 0)
		abort();
	buf_add_char(&text, '\n');
	note_line_write(&vkey, signature, &text);
	file = fopen(path, "w");
	if (file == NULL || fwrite(text.bytes, 1, text.len, file) != text.len || fclose(file) != 0)
		die(path);
	vkey_write(&vkey, &vkey_text);
	printf("%s %llu t-%llu\n", buf_str(&vkey_text), (unsigned long long)maker->seq,
	       (unsigned long long)(maker->seq / TASK_RECORDS / 2));
	sign_key_free(key);
}

static int make(const char *dir, uint64_t bytes, uint64_t segment_bytes)
{
	struct maker *maker = mem_alloc(sizeof(*maker));
	CLEANUP(mem_freep) char *folder = mem_format("%s/" AUDIT_SEGMENTS, dir);

	maker->dir = dir;
	maker->segment_bytes = segment_bytes;
	tiles_init(&maker->tiles);
	mkdir(folder, 0700);
	next_segment(maker);
	while (maker->bytes < bytes) {
		if (maker->in_segment >= segment_bytes)
			next_segment(maker);
		add_record(maker);
	}
	if (fclose(maker->file) != 0)
		die("close");
	write_head(maker);
	mem_free(maker);
	return 0;
}

static int run(char **argv)
{
	int64_t from = clock_mono_us();
	struct rusage usage;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		die(argv[0]);
	printf("%.3f %ld\n", (double)(clock_mono_us() - from) / 1000, usage.ru_maxrss);
	return WIFEXITED(status) && WEXITSTATUS(status) < 20 ? 0 : 1;
}

int main(int argc, char **argv)
{
	crypto_init();
	if (argc == 5 && strcmp(argv[1], "make") == 0)
		return make(argv[2], strtoull(argv[3], NULL, 10) << 20,
			    strtoull(argv[4], NULL, 10) << 20);
	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return run(argv + 2);
	fprintf(stderr, "usage: audit_bench make DIR MIB SEGMENT-MIB | run COMMAND...\n");
	return 2;
}
